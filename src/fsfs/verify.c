/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - a revision as a whole; its changed paths against its tree. */
#include "fsfs/verify.h"
#include "base/date.h"
#include "base/map.h"
#include "base/path.h"
#include "fsfs/item.h"
#include "fsfs/verify_int.h"

/* ---- changed paths ---- */

static struct err *deletion_check(struct fsfs *fs, struct str path, const struct noderev *nr,
                                  revnum rev, struct arena *arena)
{
    const struct noderev *parent;
    TRY(verify_lookup(&parent, fs, rev, path_dirname(path), arena));
    if (!parent)
        return err_make(E_FS_NOT_FOUND,
                        "It is said to be deleted from a directory that is not there");
    /* What was put in its place is another change's. */
    if (nr && nr->id.rev < rev)
        return err_make(E_FS_CORRUPT, "It is said to be deleted, but is still there");
    return NULL;
}

/* What is added was not there before: it is not the node that its path had, nor that one changed.
 */
static struct err *addition_check(struct fsfs *fs, struct str path, const struct noderev *nr,
                                  revnum rev, struct arena *arena)
{
    const struct noderev *before = NULL;
    if (rev > 0)
        TRY(verify_lookup(&before, fs, rev - 1, path, arena));
    if (before && (noderev_id_eq(&nr->id, &before->id) ||
                   (nr->has_pred && noderev_id_eq(&nr->pred, &before->id))))
        return err_make(E_FS_ALREADY_EXISTS, "It is said to be added, but was there before");
    return NULL;
}

static struct err *present_check(struct fsfs *fs, const struct change *change,
                                 const struct noderev *nr, revnum rev, struct arena *arena)
{
    if (!nr)
        return err_make(E_FS_NOT_FOUND, "It is said to be changed, but is not there");
    if (change->kind != NODE_UNKNOWN && change->kind != nr->kind)
        return err_make(E_NODE_UNEXPECTED_KIND, "It is a %.*s, but the changed paths say %.*s",
                        STR(node_kind_word(nr->kind)), STR(node_kind_word(change->kind)));
    if ((change->text_changed || change->props_changed) && nr->id.rev != rev)
        return err_make(E_FS_CORRUPT, "It is said to be changed, but is that of revision %lld",
                        (long long)nr->id.rev);
    if (!change->copyfrom_path.n)
        return change->action == CHANGE_ADD ? addition_check(fs, change->path, nr, rev, arena)
                                            : NULL;
    const struct noderev *source = NULL;
    if (change->copyfrom_rev < rev)
        TRY(verify_lookup(&source, fs, change->copyfrom_rev, change->copyfrom_path, arena));
    if (!source)
        return err_make(E_FS_CORRUPT, "Its copy source '%.*s' of revision %lld is not there",
                        STR(change->copyfrom_path), (long long)change->copyfrom_rev);
    return NULL;
}

static struct err *change_check(struct fsfs *fs, const struct change *change, revnum rev,
                                struct arena *arena)
{
    const struct noderev *nr;
    if (!path_is_canonical(change->path))
        return err_make(E_FS_PATH_SYNTAX, "Its path is malformed");
    if (!utf8_is_valid(change->path))
        return err_make(E_FS_PATH_SYNTAX, "Its path is not in UTF-8");
    TRY(verify_lookup(&nr, fs, rev, change->path, arena));
    if (change->action == CHANGE_DELETE)
        return deletion_check(fs, change->path, nr, rev, arena);
    if (change->action == CHANGE_RESET)
        return err_make(E_FS_CORRUPT, "Its change is said to be undone");
    return present_check(fs, change, nr, rev, arena);
}

/* No path is added twice. */
static struct err *doubles_check(const struct changes *changes, revnum rev)
{
    static char present;
    struct map *added = map_new();
    struct err *err = NULL;
    for (size_t i = 0; i < changes->n && !err; i++)
        if (changes->list[i].action == CHANGE_ADD &&
            map_put(added, changes->list[i].path, &present))
            err = err_make(E_FS_ALREADY_EXISTS, "Revision %lld adds '%.*s' twice", (long long)rev,
                           STR(changes->list[i].path));
    map_free(added, NULL);
    return err;
}

struct err *verify_changes(struct fsfs *fs, revnum rev, uint64_t new_nodes)
{
    AUTO_ARENA(arena);
    const struct changes *changes;
    TRY(changes_get(&changes, fs, rev, arena));
    if (changes->n == 0 && new_nodes)
        return err_make(E_FS_CORRUPT,
                        "The changed-path list of revision %lld is empty, but %llu nodes are new",
                        (long long)rev, (unsigned long long)new_nodes);
    const struct arena_mark mark = arena_mark(arena);
    for (size_t i = 0; i < changes->n + changes->undone; i++) {
        const struct change *change = &changes->list[i];
        struct err *err = change_check(fs, change, rev, arena);
        if (err)
            return err_blame(err, 0, "Revision %lld is damaged at '%.*s'", (long long)rev,
                             STR(change->path));
        arena_rewind(arena, mark);
    }
    return doubles_check(changes, rev);
}

/* ---- revisions ---- */

static struct err *revision_props(const struct props **out, struct fsfs *fs, revnum rev,
                                  struct revprop_view *view, struct arena *arena)
{
    struct err *err = revprops_get(out, fs, rev, view, arena);
    return err_wrap(err, err && err_is_system(err) ? 0 : E_FS_CORRUPT,
                    "Can't read the properties of revision %lld", (long long)rev);
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
    uint64_t new_nodes;
    TRY(verify_tree(&new_nodes, fs, rev, scope));
    TRY(verify_changes(fs, rev, new_nodes));
    return revision_props(&props, fs, rev, view, scratch);
}
