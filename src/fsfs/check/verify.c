/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - a revision as a whole. */
#include "fsfs/check/verify.h"
#include "base/date.h"
#include "fsfs/check/verify_int.h"

/* ---- revisions ---- */

static struct err *revision_props(const struct props **out, struct fsfs *fs, revnum rev,
                                  struct revprop_view *view, struct arena *arena)
{
    struct err *err = revprops_get(out, fs, rev, view, arena);
    if (err)
        return err_wrap(err, err_is_system(err) ? 0 : E_FS_CORRUPT,
                        "Can't read the properties of revision %lld", (long long)rev);
    /* They have no checksums, and a name with a NUL is what a disk makes that has lost bytes. */
    for (size_t i = 0; i < (*out)->n; i++)
        if (str_find((*out)->list[i].name, '\0') != SIZE_MAX)
            return err_make(E_FS_CORRUPT, "A property of revision %lld has a NUL in its name",
                            (long long)rev);
    return NULL;
}

struct err *verify_date(struct fsfs *fs, revnum rev, struct revprop_view *view)
{
    AUTO_ARENA(scratch);
    const struct props *props;
    int64_t us;
    TRY(revision_props(&props, fs, rev, view, scratch));
    const struct str *date = props_get(props, S("svn:date"));
    if (date && !date_parse(&us, *date))
        return err_make(E_BAD_DATE, "Bogus date '%.*s' of revision %lld", STR(*date),
                        (long long)rev);
    return NULL;
}

struct err *verify_revision(struct fsfs *fs, revnum rev, const struct verify_scope *scope,
                            struct revprop_view *view)
{
    AUTO_ARENA(scratch);
    const struct props *props;
    uint64_t changed;
    TRY(verify_tree(&changed, fs, rev, scope));
    TRY(verify_changes(fs, rev, changed));
    return revision_props(&props, fs, rev, view, scratch);
}
