/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/access/visibility.h"

#include "fsfs/format/changes.h"
#include "fsfs/read/changes_get.h"

struct err *revision_visibility(enum visibility *sees, struct fsfs *fs, revnum rev,
                                const struct principal *who, struct arena *arena)
{
    const struct changes *changes;
    bool shown = false, hidden = false;
    *sees = SEES_ALL;
    if (!who || rev == 0)
        return NULL;
    TRY(changes_get(&changes, fs, rev, arena));
    for (size_t i = 0; i < changes->n && !(shown && hidden); i++) {
        const struct change *change = &changes->list[i];
        if (!principal_may(who, change->path, ACCESS_READ, false)) {
            hidden = true;
            continue;
        }
        shown = true;
        hidden |= change->copyfrom_rev != REV_NONE &&
                  !principal_may(who, change->copyfrom_path, ACCESS_READ, false);
    }
    if (hidden)
        *sees = shown ? SEES_SOME : SEES_NOTHING;
    return NULL;
}

const struct props *visible_revprops(const struct props *props, enum visibility sees,
                                     struct arena *arena)
{
    static const struct str open_names[] = {{"svn:author", 10}, {"svn:date", 8}};
    if (sees == SEES_ALL || !props)
        return props;
    struct prop list[2];
    size_t n = 0;
    for (size_t i = 0; sees == SEES_SOME && i < 2; i++) {
        const struct str *value = props_get(props, open_names[i]);
        if (value)
            list[n++] = (struct prop){open_names[i], *value};
    }
    return sees == SEES_NOTHING ? NULL : arena_keep(arena, &props_new(list, n)->shared);
}

struct err *revprops_get_visible(const struct props **out, struct fsfs *fs, revnum rev,
                                 const struct principal *who, struct arena *arena)
{
    enum visibility sees;
    TRY(revision_visibility(&sees, fs, rev, who, arena));
    TRY(revprops_get(out, fs, rev, NULL, arena));
    *out = visible_revprops(*out, sees, arena);
    return NULL;
}
