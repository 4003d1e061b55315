/* SPDX-License-Identifier: Apache-2.0 */
/* verify_changes.c - a revision's changed paths against its tree, and against what was before.
 *
 * What was before at a path that is changed: what the revision before has there; below a copy that
 * the revision makes, what the copy's source has. Where a path is listed more than once, readers go
 * by the last entry. */
#include "base/map.h"
#include "base/path.h"
#include "fsfs/dir.h"
#include "fsfs/rep.h"
#include "fsfs/verify_int.h"

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

/* What is at the place that place_before gave. A copy of a later revision, where nothing can be
 * looked for, is told of by itself. */
static struct err *find_before(const struct noderev **out, struct check *check, revnum rev,
                               struct str place, struct arena *arena)
{
    *out = NULL;
    return rev >= 0 && rev < check->rev ? find(out, check, &check->before, rev, place, arena)
                                        : NULL;
}

/* ---- one change ---- */

/* What is changed, deleted or replaced was there before. */
static struct err *existed_check(struct check *check, struct str path, const char *what,
                                 struct arena *arena)
{
    const struct noderev *before;
    revnum rev;
    struct str place;
    (void)place_before(&rev, &place, check, path, arena);
    TRY(find_before(&before, check, rev, place, arena));
    if (before || rev >= check->rev)
        return NULL;
    return not_there(check, rev < 0 ? 0 : rev, place, what, arena);
}

static struct err *deletion_check(struct check *check, struct str path, const struct noderev *nr,
                                  struct arena *arena)
{
    TRY(existed_check(check, path, "It is said to be deleted", arena));
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
    if (place_before(&rev, &place, check, path, arena))
        TRY(find_before(&before, check, rev, place, arena));
    return before ? err_make(E_FS_ALREADY_EXISTS, "It is said to be added, but was there before")
                  : NULL;
}

static struct err *source_check(struct check *check, const struct change *change,
                                struct arena *arena)
{
    const struct noderev *source = NULL;
    if (change->copyfrom_rev >= check->rev)
        return err_make(E_FS_CORRUPT, "It is said to be a copy of the later revision %lld",
                        (long long)change->copyfrom_rev);
    TRY(verify_lookup(&source, check->fs, change->copyfrom_rev, change->copyfrom_path, arena));
    return source ? NULL
                  : not_there(check, change->copyfrom_rev, change->copyfrom_path,
                              "It is said to be a copy", arena);
}

static struct err *present_check(struct check *check, const struct change *change,
                                 const struct noderev *nr, struct arena *arena)
{
    if (!nr)
        return not_there(check, check->rev, change->path, "It is said to be changed", arena);
    if (change->kind != NODE_UNKNOWN && change->kind != nr->kind)
        return err_make(E_NODE_UNEXPECTED_KIND, "It is a %.*s, but the changed paths say %.*s",
                        STR(node_kind_word(nr->kind)), STR(node_kind_word(change->kind)));
    if ((change->text_changed || change->props_changed) && nr->id.rev != check->rev)
        return err_make(E_FS_CORRUPT, "It is said to be changed, but is that of revision %lld",
                        (long long)nr->id.rev);
    /* A folder whose properties stay is listed for what is below. */
    if (change->action == CHANGE_MODIFY)
        return noderev_goes_on(nr, check->rev) || (nr->kind == NODE_DIR && !change->props_changed)
                   ? NULL
                   : existed_check(check, change->path, "It is said to be changed", arena);
    if (change->action == CHANGE_REPLACE)
        TRY(existed_check(check, change->path, "It is said to be replaced", arena));
    if (change->copyfrom_path.n)
        return source_check(check, change, arena);
    return change->action == CHANGE_ADD ? addition_check(check, change->path, arena) : NULL;
}

static struct err *change_check(struct check *check, const struct change *change,
                                struct arena *arena)
{
    const struct noderev *nr;
    const struct change *last = map_get(check->last, change->path);
    if (!path_is_canonical(change->path))
        return err_make(E_FS_PATH_SYNTAX, "Its path is malformed");
    if (!utf8_is_valid(change->path))
        return err_make(E_FS_PATH_SYNTAX, "Its path is not in UTF-8");
    if (change->action == CHANGE_RESET)
        return err_make(E_FS_CORRUPT, "Its change is said to be undone");
    if (last != change)
        return last && last->action == CHANGE_ADD && change->action != CHANGE_DELETE
                   ? err_make(E_FS_ALREADY_EXISTS, "It is said to be changed, and added again")
                   : NULL;
    TRY(find(&nr, check, &check->now, check->rev, change->path, arena));
    return change->action == CHANGE_DELETE ? deletion_check(check, change->path, nr, arena)
                                           : present_check(check, change, nr, arena);
}

/* ---- all ---- */

static void note_changes(struct check *check, const struct changes *changes)
{
    for (size_t i = 0; i < changes->n; i++) {
        struct change *change = &changes->list[i];
        map_put(check->last, change->path, change);
        check->makes_dirs |= change->kind != NODE_FILE &&
                             (change->action == CHANGE_ADD || change->action == CHANGE_REPLACE);
    }
}

static struct err *changes_check(struct check *check, const struct changes *changes)
{
    AUTO_ARENA(arena);
    const struct arena_mark mark = arena_mark(arena);
    note_changes(check, changes);
    for (size_t i = 0; i < changes->n + changes->undone; i++) {
        const struct change *change = &changes->list[i];
        struct err *err = change_check(check, change, arena);
        if (err)
            return err_blame(err, 0, "Revision %lld is damaged at '%.*s'", (long long)check->rev,
                             STR(change->path));
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
