/* SPDX-License-Identifier: Apache-2.0 */
/* verify_changes.c - a revision's changed paths against its tree, and against what was before.
 *
 * What was before at a path that is changed: what the revision before has there; below a copy that
 * the revision makes, what the copy's source has. Where a path is listed more than once, readers go
 * by the last entry. */
#include "base/map.h"
#include "base/path.h"
#include "fsfs/check/verify_int.h"
#include "fsfs/read/changes_get.h"
#include "fsfs/read/dir.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep.h"
#include <stdlib.h>

/* The folder that was looked in last: neighbours in the list mostly share it. */
struct last_dir {
    struct arena *arena; /* holds the rest */
    revnum rev;
    struct str path;
    const struct dir *dir; /* NULL: there is no such folder */
};

struct check {
    struct fsfs *fs;
    revnum rev;
    struct map *last; /* path to the last struct change of it */
    bool makes_dirs;  /* a folder is added or replaced in this revision */
    struct last_dir now, before;
};

/* ---- looking up ---- */

static struct err *dir_open(struct last_dir *last, struct fsfs *fs, revnum rev, struct str path)
{
    if (last->path.p && last->rev == rev && str_eq(last->path, path))
        return NULL;
    arena_free(last->arena);
    *last = (struct last_dir){.arena = arena_new(), .rev = rev};
    const struct noderev *nr;
    TRY(verify_lookup(&nr, fs, rev, path, last->arena));
    if (nr && nr->kind == NODE_DIR)
        TRY(dir_get(&last->dir, fs, nr, last->arena));
    last->path = arena_str(last->arena, path);
    return NULL;
}

static struct err *find(const struct noderev **out, struct check *check, struct last_dir *last,
                        revnum rev, struct str path, struct arena *arena)
{
    *out = NULL;
    if (path.n == 1)
        return verify_lookup(out, check->fs, rev, path, arena);
    TRY(dir_open(last, check->fs, rev, path_dirname(path)));
    const struct dirent_fs *entry = last->dir ? dir_find(last->dir, path_basename(path)) : NULL;
    return entry ? noderev_get(out, check->fs, &entry->id, arena) : NULL;
}

/* Nothing is at PATH of REV: the error for WHAT is said of it. */
static struct err *not_there(struct check *check, revnum rev, struct str path, const char *what,
                             struct arena *arena)
{
    for (struct str parent = path; parent.n > 1;) {
        const struct noderev *nr;
        parent = path_dirname(parent);
        TRY(verify_lookup(&nr, check->fs, rev, parent, arena));
        if (nr && nr->kind != NODE_DIR)
            return err_make(E_FS_NOT_DIRECTORY, "%s, but '%.*s' of revision %lld is a file", what,
                            STR(parent), (long long)rev);
    }
    return err_make(E_FS_NOT_FOUND, "%s, but '%.*s' is not there in revision %lld", what, STR(path),
                    (long long)rev);
}

/* Where that which was at PATH before is looked for. False where it is within a new folder. */
static bool place_before(revnum *rev, struct str *place, const struct check *check, struct str path,
                         struct arena *arena)
{
    *rev = check->rev - 1;
    *place = path;
    if (!check->makes_dirs)
        return true;
    for (struct str parent = path; parent.n > 1;) {
        parent = path_dirname(parent);
        const struct change *change = map_get(check->last, parent);
        if (!change || (change->action != CHANGE_ADD && change->action != CHANGE_REPLACE))
            continue;
        if (!change->copyfrom_path.n)
            return false;
        *rev = change->copyfrom_rev;
        *place = path_join(change->copyfrom_path, str_skip(path, parent.n == 1 ? 1 : parent.n + 1),
                           arena);
        break;
    }
    return true;
}

/* ---- one change ---- */

static struct err *kind_check(const struct noderev *nr, enum node_kind said, const char *which)
{
    if (said == NODE_UNKNOWN || said == nr->kind)
        return NULL;
    return err_make(E_NODE_UNEXPECTED_KIND, "%s a %.*s, but the changed paths say %.*s", which,
                    STR(node_kind_word(nr->kind)), STR(node_kind_word(said)));
}

/* What is changed, deleted or replaced was there before; what is changed was of the same KIND. */
static struct err *existed_check(struct check *check, struct str path, enum node_kind kind,
                                 const char *what, struct arena *arena)
{
    const struct noderev *before = NULL;
    revnum rev;
    struct str place;
    if (!place_before(&rev, &place, check, path, arena))
        return err_make(E_FS_NOT_FOUND, "%s, but is in a new folder", what);
    if (rev >= 0)
        TRY(find(&before, check, &check->before, rev, place, arena));
    return before ? kind_check(before, kind, "It was")
                  : not_there(check, rev < 0 ? 0 : rev, place, what, arena);
}

static struct err *deletion_check(struct check *check, struct str path, const struct noderev *nr,
                                  struct arena *arena)
{
    static const char what[] = "It is said to be deleted";
    TRY(existed_check(check, path, NODE_UNKNOWN, what, arena));
    if (!nr && !check->now.dir)
        return not_there(check, check->rev, path_dirname(path), what, arena);
    /* What was put in its place is another change's. */
    if (nr && nr->id.rev < check->rev)
        return err_make(E_FS_CORRUPT, "It is said to be deleted, but is still there");
    return NULL;
}

/* What is added was not there before: what takes the place of another is a replacement. */
static struct err *addition_check(struct check *check, struct str path, struct arena *arena)
{
    const struct noderev *before = NULL;
    revnum rev;
    struct str place;
    if (place_before(&rev, &place, check, path, arena) && rev >= 0)
        TRY(find(&before, check, &check->before, rev, place, arena));
    return before ? err_make(E_FS_ALREADY_EXISTS, "It is said to be added, but was there before")
                  : NULL;
}

static struct err *source_check(struct check *check, const struct change *change,
                                struct arena *arena)
{
    const struct noderev *source;
    const revnum rev = change->copyfrom_rev;
    TRY(fsfs_check_revision(check->fs, rev));
    TRY(verify_lookup(&source, check->fs, rev, change->copyfrom_path, arena));
    if (!source)
        return not_there(check, rev, change->copyfrom_path, "It is said to be a copy", arena);
    TRY(kind_check(source, change->kind, "Its copy source is"));
    return rev < check->rev
               ? NULL
               : err_make(E_FS_CORRUPT, "It is said to be a copy of the later revision %lld",
                          (long long)rev);
}

/* A folder whose properties stay is listed for what is below it. And a node that goes on has a
 * predecessor of its kind: where no copy is above it, that was there. */
static struct err *modification_check(struct check *check, const struct change *change,
                                      const struct noderev *nr, struct arena *arena)
{
    const struct str path = change->path;
    revnum rev;
    struct str place;
    if (nr->copyfrom_path.n && nr->id.rev == check->rev)
        return err_make(E_FS_NOT_FOUND, "It is said to be changed, but has come with a copy");
    if (nr->kind == NODE_DIR && !change->props_changed)
        return NULL;
    if (noderev_goes_on(nr, check->rev) && place_before(&rev, &place, check, path, arena) &&
        rev == check->rev - 1)
        return NULL;
    return existed_check(check, path, change->kind, "It is said to be changed", arena);
}

/* NR is what is there now. TWICE: the list has the path more than once. */
static struct err *present_check(struct check *check, const struct change *change,
                                 const struct noderev *nr, bool twice, struct arena *arena)
{
    const struct str path = change->path;
    if (change->action == CHANGE_ADD)
        TRY(addition_check(check, path, arena));
    else if (change->action == CHANGE_REPLACE)
        TRY(existed_check(check, path, NODE_UNKNOWN, "It is said to be replaced", arena));
    if (!nr)
        return not_there(check, check->rev, path, "It is said to be changed", arena);
    if (change->action == CHANGE_MODIFY)
        TRY(modification_check(check, change, nr, arena));
    else if (change->copyfrom_path.n)
        TRY(source_check(check, change, arena));
    if (twice && change->action == CHANGE_ADD)
        return err_make(E_FS_ALREADY_EXISTS, "It is said to be changed, and added again");
    TRY(kind_check(nr, change->kind, "It is"));
    return (change->text_changed || change->props_changed) && nr->id.rev != check->rev
               ? err_make(E_FS_CORRUPT, "It is said to be changed, but is that of revision %lld",
                          (long long)nr->id.rev)
               : NULL;
}

/* CHANGE is the last of those that have its path, which are COUNT. */
static struct err *change_check(struct check *check, const struct change *change, size_t count,
                                struct arena *arena)
{
    const struct noderev *nr;
    if (!path_is_canonical(change->path))
        return err_make(E_FS_PATH_SYNTAX, "Its path is malformed");
    if (!utf8_is_valid(change->path))
        return err_make(E_FS_PATH_SYNTAX, "Its path is not in UTF-8");
    if (change->action == CHANGE_RESET)
        return err_make(E_FS_CORRUPT, "Its change is said to be undone");
    TRY(find(&nr, check, &check->now, check->rev, change->path, arena));
    return change->action == CHANGE_DELETE ? deletion_check(check, change->path, nr, arena)
                                           : present_check(check, change, nr, count > 1, arena);
}

/* ---- all ---- */

/* By path, and as in the list. What is undone counts as last. */
static int by_path(const void *a, const void *b)
{
    const struct change *const *x = a, *const *y = b;
    const int order = path_cmp((*x)->path, (*y)->path);
    return order ? order : (*x > *y) - (*x < *y);
}

static void note_changes(struct check *check, const struct change **list,
                         const struct changes *changes)
{
    const size_t n = changes->n + changes->undone;
    bool in_order = true;
    for (size_t i = 0; i < n; i++) {
        struct change *change = &changes->list[i];
        list[i] = change;
        in_order &= i == 0 || by_path(&list[i - 1], &list[i]) < 0;
        if (change->action == CHANGE_RESET)
            continue;
        map_put(check->last, change->path, change);
        check->makes_dirs |= change->kind != NODE_FILE &&
                             (change->action == CHANGE_ADD || change->action == CHANGE_REPLACE);
    }
    if (!in_order)
        qsort(list, n, sizeof *list, by_path);
}

/* In the order of paths, as a stream of them comes. */
static struct err *changes_check(struct check *check, const struct changes *changes)
{
    AUTO_ARENA(arena);
    const size_t n = changes->n + changes->undone;
    const struct change **list = arena_array(arena, n, sizeof *list);
    note_changes(check, list, changes);
    const struct arena_mark mark = arena_mark(arena);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && str_eq(list[end]->path, list[i]->path);)
            end++;
        struct err *err = change_check(check, list[end - 1], end - i, arena);
        if (err)
            return err_blame(err, 0, "Revision %lld is damaged at '%.*s'", (long long)check->rev,
                             STR(list[i]->path));
        arena_rewind(arena, mark);
    }
    return NULL;
}

struct err *verify_changes(struct fsfs *fs, revnum rev, uint64_t changed)
{
    AUTO_ARENA(arena);
    const struct changes *changes;
    TRY(changes_get(&changes, fs, rev, arena));
    if (changes->n == 0 && changed)
        return err_make(
            E_FS_CORRUPT,
            "The changed-path list of revision %lld is empty, but %llu nodes have changed",
            (long long)rev, (unsigned long long)changed);
    struct check check = {.fs = fs, .rev = rev, .last = map_new()};
    struct err *err = changes_check(&check, changes);
    map_free(check.last, NULL);
    arena_free(check.now.arena);
    arena_free(check.before.arena);
    return err;
}
