/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/txn/locks.h"
#include "base/date.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/num.h"
#include "base/path.h"
#include "fsfs/format/props.h"
#include <stdlib.h>

enum { DIGEST_DIGITS = 2 * MD5_SIZE };

/* ---- one file ---- */

static bool is_digest(struct str s)
{
    uint8_t bytes[MD5_SIZE];
    return num_unhex(bytes, MD5_SIZE, s);
}

static bool children_parse(struct str **children, size_t *n, struct str value, struct arena *arena)
{
    *children = arena_array(arena, value.n / (DIGEST_DIGITS + 1), sizeof **children);
    *n = 0;
    size_t pos = 0;
    struct str line;
    while (str_line(&line, value, &pos)) {
        if (!is_digest(line))
            return false;
        (*children)[(*n)++] = line;
    }
    return pos == value.n;
}

static const struct str *find(const struct prop *list, size_t n, struct str key)
{
    return props_get(&(struct props){.n = n, .list = (struct prop *)list}, key);
}

static struct err *corrupt(struct str what)
{
    return err_make(E_FS_CORRUPT, "Corrupt lock file: no valid '%.*s'", STR(what));
}

/* A date that can be written again: the long form has four digits for the year. */
static bool date_take(int64_t *us, struct str date)
{
    const int64_t year_10000 = 253402300800000000;
    return date_parse(us, date) && *us >= 0 && *us < year_10000;
}

static struct err *lock_take(struct lock *lock, const struct prop *list, size_t n)
{
    const struct str *path = find(list, n, S("path")), *token = find(list, n, S("token")),
                     *owner = find(list, n, S("owner")), *comment = find(list, n, S("comment")),
                     *is_dav = find(list, n, S("is_dav_comment")),
                     *created = find(list, n, S("creation_date")),
                     *expires = find(list, n, S("expiration_date"));
    if (!path_is_absolute(*path))
        return corrupt(S("path"));
    if (!token)
        return corrupt(S("token"));
    if (!owner)
        return corrupt(S("owner"));
    if (!is_dav || is_dav->n != 1 || (is_dav->p[0] != '0' && is_dav->p[0] != '1'))
        return corrupt(S("is_dav_comment"));
    *lock = (struct lock){.path = *path, .token = *token, .owner = *owner};
    lock->is_dav_comment = is_dav->p[0] == '1';
    if (comment)
        lock->comment = *comment;
    if (!created || !date_take(&lock->created_us, *created))
        return corrupt(S("creation_date"));
    if (expires && !date_take(&lock->expires_us, *expires))
        return corrupt(S("expiration_date"));
    return NULL;
}

struct err *lock_parse(struct lock *lock, bool *has_lock, struct str **children, size_t *n,
                       struct str text, struct arena *arena)
{
    struct prop *list;
    size_t list_n, pos = 0;
    *children = NULL;
    *n = 0;
    TRY(hashdump_parse(&list, &list_n, NULL, NULL, text, &pos, S("END"), arena));
    const struct str *value = find(list, list_n, S("children"));
    if (value && !children_parse(children, n, *value, arena))
        return corrupt(S("children"));
    *has_lock = find(list, list_n, S("path")) != NULL;
    return *has_lock ? lock_take(lock, list, list_n) : NULL;
}

void lock_format(struct buf *out, const struct lock *lock, const struct str *children, size_t n)
{
    struct prop list[8];
    size_t list_n = 0;
    AUTO_BUF(digests);
    char created[DATE_LONG_SIZE + 1], expires[DATE_LONG_SIZE + 1];
    for (size_t i = 0; i < n; i++) {
        buf_str(&digests, children[i]);
        buf_char(&digests, '\n');
    }
    if (n)
        list[list_n++] = (struct prop){S("children"), buf_view(&digests)};
    if (lock) {
        if (lock->comment.p)
            list[list_n++] = (struct prop){S("comment"), lock->comment};
        date_format(created, lock->created_us);
        list[list_n++] = (struct prop){S("creation_date"), str_of(created)};
        if (lock->expires_us) {
            date_format(expires, lock->expires_us);
            list[list_n++] = (struct prop){S("expiration_date"), str_of(expires)};
        }
        list[list_n++] = (struct prop){S("is_dav_comment"), lock->is_dav_comment ? S("1") : S("0")};
        list[list_n++] = (struct prop){S("owner"), lock->owner};
        list[list_n++] = (struct prop){S("path"), lock->path};
        list[list_n++] = (struct prop){S("token"), lock->token};
    }
    hashdump_format(out, list, list_n, S("END"));
}

/* ---- reading ---- */

struct digest_name {
    char hex[DIGEST_DIGITS];
};

static struct digest_name digest_of(struct str path)
{
    uint8_t md5[MD5_SIZE];
    struct digest_name name;
    md5_of(md5, path);
    num_hex(name.hex, md5, MD5_SIZE);
    return name;
}

static struct record_key key_of(struct str digest)
{
    return (struct record_key){.kind = RECORD_LOCK, .name = digest};
}

/* What a lock file holds; a missing one holds nothing. */
struct lock_file {
    bool has_lock;
    struct lock lock;
    struct str *children;
    size_t children_n;
};

static struct err *file_read(struct lock_file *out, struct fsfs *fs, struct str digest,
                             struct arena *arena)
{
    AUTO_BUF(bytes);
    bool found;
    *out = (struct lock_file){0};
    TRY(record_get(&bytes, &found, fs->store, key_of(digest)));
    if (!found)
        return NULL;
    struct err *err = lock_parse(&out->lock, &out->has_lock, &out->children, &out->children_n,
                                 arena_str(arena, buf_view(&bytes)), arena);
    return err_blame(err, E_FS_CORRUPT, "Corrupt lock file '%.*s' in filesystem '%s'", STR(digest),
                     fs->uuid);
}

static bool is_expired(const struct lock *lock)
{
    return lock->expires_us && lock->expires_us < date_now_us();
}

struct err *lock_get(struct lock *out, bool *found, struct fsfs *fs, struct str path,
                     struct arena *arena)
{
    struct digest_name digest = digest_of(path);
    struct lock_file file;
    TRY(file_read(&file, fs, str_make(digest.hex, DIGEST_DIGITS), arena));
    *found = file.has_lock && !is_expired(&file.lock);
    if (*found)
        *out = file.lock;
    return NULL;
}

struct walk {
    struct fsfs *fs;
    struct str top;
    struct map *seen; /* digests read already: lists may name one file twice */
    struct buf found; /* of struct lock */
    struct arena *arena;
};

/* Read the files of DIGESTS and all they list. A list of lists is no deeper than paths are, but a
 * damaged one may be: hence no recursion. */
static struct err *walk_digests(struct walk *w, struct str first)
{
    AUTO_BUF(todo);
    buf_add(&todo, &first, sizeof first);
    while (todo.n) {
        struct str digest;
        struct lock_file file;
        struct str rest;
        todo.n -= sizeof digest;
        memcpy(&digest, todo.p + todo.n, sizeof digest);
        if (map_put(w->seen, digest, w))
            continue;
        TRY(arena_check(w->arena, 0));
        TRY(file_read(&file, w->fs, digest, w->arena));
        if (file.has_lock && !is_expired(&file.lock) &&
            path_skip_ancestor(&rest, w->top, file.lock.path))
            buf_add(&w->found, &file.lock, sizeof file.lock);
        if (file.children_n)
            buf_add(&todo, file.children, file.children_n * sizeof *file.children);
    }
    return NULL;
}

static int lock_cmp(const void *a, const void *b)
{
    return path_cmp(((const struct lock *)a)->path, ((const struct lock *)b)->path);
}

struct err *locks_below(struct lock **out, size_t *n, struct fsfs *fs, struct str path,
                        struct arena *arena)
{
    struct digest_name digest = digest_of(path);
    struct walk w = {.fs = fs, .top = path, .seen = map_new(), .arena = arena};
    struct err *err = walk_digests(&w, str_make(digest.hex, DIGEST_DIGITS));
    *n = w.found.n / sizeof(struct lock);
    *out = arena_array(arena, *n, sizeof(struct lock));
    if (*n)
        memcpy(*out, w.found.p, w.found.n);
    qsort(*out, *n, sizeof(struct lock), lock_cmp);
    map_free(w.seen, NULL);
    buf_free(&w.found);
    return err;
}

/* ---- checking ---- */

static struct err *lock_allows(const struct lock *lock, struct str user, const struct str *tokens,
                               size_t n)
{
    if (user.n == 0)
        return err_make(E_FS_NO_USER, "Cannot verify lock on path '%.*s'; no username available",
                        STR(lock->path));
    if (!str_eq(user, lock->owner))
        return err_make(E_FS_LOCK_OWNER_MISMATCH,
                        "User '%.*s' does not own lock on path '%.*s' (currently locked by '%.*s')",
                        STR(user), STR(lock->path), STR(lock->owner));
    for (size_t i = 0; i < n; i++)
        if (str_eq(tokens[i], lock->token))
            return NULL;
    return err_make(E_FS_BAD_LOCK_TOKEN,
                    "Cannot verify lock on path '%.*s'; no matching lock-token available",
                    STR(lock->path));
}

struct err *locks_allow(struct fsfs *fs, struct str path, bool recursive, struct str user,
                        const struct str *tokens, size_t n)
{
    AUTO_ARENA(scratch);
    struct lock *list = ARENA_NEW(scratch, struct lock);
    size_t list_n = 0;
    bool found;
    if (recursive) {
        TRY(locks_below(&list, &list_n, fs, path, scratch));
    } else {
        TRY(lock_get(list, &found, fs, path, scratch));
        list_n = found;
    }
    for (size_t i = 0; i < list_n; i++)
        TRY(lock_allows(&list[i], user, tokens, n));
    return NULL;
}

/* ---- writing ---- */

/* Replace the file of DIGEST by what FILE holds; one that holds nothing goes. */
static struct err *file_write(struct fsfs *fs, struct str digest, const struct lock_file *file)
{
    if (!file->has_lock && file->children_n == 0)
        return record_delete(fs->store, key_of(digest));
    AUTO_BUF(text);
    lock_format(&text, file->has_lock ? &file->lock : NULL, file->children, file->children_n);
    return record_put(fs->store, key_of(digest), buf_view(&text));
}

/* For each folder above some of PATHS the digests of those paths: folder -> struct buf of struct
 * str. */
static struct map *folders_above(const struct str *paths, size_t n, struct arena *arena)
{
    struct map *folders = map_new();
    for (size_t i = 0; i < n; i++) {
        struct digest_name digest = digest_of(paths[i]);
        struct str name = arena_str(arena, str_make(digest.hex, DIGEST_DIGITS));
        for (struct str folder = paths[i]; folder.n > 1;) {
            folder = path_dirname(folder);
            struct buf *below = map_get(folders, folder);
            if (!below) {
                below = mem_zalloc(sizeof *below);
                map_put(folders, folder, below);
            }
            buf_add(below, &name, sizeof name);
        }
    }
    return folders;
}

static void below_free(void *value)
{
    buf_free(value);
    free(value);
}

/* The children of FILE with (ADD) or without the digests BELOW. */
static void children_change(struct lock_file *file, const struct buf *below, bool add,
                            struct arena *arena)
{
    size_t below_n = below->n / sizeof(struct str), n = 0;
    const struct str *names = (const struct str *)below->p;
    struct str *children = arena_array(arena, file->children_n + below_n, sizeof *children);
    struct map *changed = map_new();
    for (size_t i = 0; i < below_n; i++)
        map_put(changed, names[i], file);
    for (size_t i = 0; i < file->children_n; i++)
        if (!map_get(changed, file->children[i]))
            children[n++] = file->children[i];
    for (size_t i = 0; add && i < below_n; i++)
        if (map_remove(changed, names[i]))
            children[n++] = names[i];
    map_free(changed, NULL);
    file->children = children;
    file->children_n = n;
}

static struct err *folders_change(struct fsfs *fs, const struct map *folders, bool add)
{
    size_t pos = 0;
    struct str folder;
    void *below;
    while (map_next(folders, &pos, &folder, &below)) {
        AUTO_ARENA(scratch);
        struct digest_name digest = digest_of(folder);
        struct str name = str_make(digest.hex, DIGEST_DIGITS);
        struct lock_file file;
        TRY(file_read(&file, fs, name, scratch));
        children_change(&file, below, add, scratch);
        TRY(file_write(fs, name, &file));
    }
    return NULL;
}

/* Replace (or with LOCK NULL remove) the lock record of PATH; a list that the file has stays. */
static struct err *lock_put(struct fsfs *fs, struct str path, const struct lock *lock)
{
    AUTO_ARENA(scratch);
    struct digest_name digest = digest_of(path);
    struct str name = str_make(digest.hex, DIGEST_DIGITS);
    struct lock_file file;
    TRY(file_read(&file, fs, name, scratch));
    file.has_lock = lock != NULL;
    if (lock)
        file.lock = *lock;
    return file_write(fs, name, &file);
}

/* The lists first, then the locks: a list that names a missing file does no harm, a lock in no list
 * would be overlooked. */
struct err *locks_write(struct fsfs *fs, const struct lock *list, size_t n)
{
    AUTO_ARENA(scratch);
    struct str *paths = arena_array(scratch, n, sizeof *paths);
    for (size_t i = 0; i < n; i++)
        paths[i] = list[i].path;
    struct map *folders = folders_above(paths, n, scratch);
    struct err *err = folders_change(fs, folders, true);
    map_free(folders, below_free);
    for (size_t i = 0; !err && i < n; i++)
        err = lock_put(fs, list[i].path, &list[i]);
    return err;
}

struct err *locks_remove(struct fsfs *fs, const struct str *paths, size_t n)
{
    AUTO_ARENA(scratch);
    for (size_t i = 0; i < n; i++)
        TRY(lock_put(fs, paths[i], NULL));
    struct map *folders = folders_above(paths, n, scratch);
    struct err *err = folders_change(fs, folders, false);
    map_free(folders, below_free);
    return err;
}

struct err *lock_write(struct fsfs *fs, const struct lock *lock)
{
    return locks_write(fs, lock, 1);
}

struct err *lock_remove(struct fsfs *fs, struct str path)
{
    return locks_remove(fs, &path, 1);
}
