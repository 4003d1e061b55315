/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/read/dir.h"
#include "base/num.h"
#include "fsfs/read/item.h"
#include "fsfs/read/rep_int.h"
#include <stdlib.h>

static struct err *corrupt(const char *what, size_t at)
{
    return err_make(E_FS_CORRUPT, "Directory listing %s at byte %zu", what, at);
}

/* Take "<letter> <n>\n<n bytes>\n" at *POS. */
static bool piece_take(struct str *out, char letter, struct str text, size_t *pos)
{
    const char *p = text.p + *pos, *end = text.p + text.n;
    if (end - p < 4 || p[0] != letter || p[1] != ' ')
        return false;
    size_t n = 0;
    for (p += 2; p < end && *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (size_t)(*p - '0');
        if (n > text.n)
            return false;
    }
    if (p == end || *p++ != '\n' || (size_t)(end - p) <= n || p[n] != '\n')
        return false;
    *out = str_make(p, n);
    *pos = (size_t)(p + n + 1 - text.p);
    return true;
}

static bool is_end(struct str text, size_t pos)
{
    const struct str rest = str_skip(text, pos);
    return str_eq(rest, S("END\n")) || str_eq(rest, S("END"));
}

struct piece_pair {
    struct str name, value;
};

/* The names and values of TEXT as an array of struct piece_pair, and how long the names are in all.
 */
static struct err *split(struct buf *pairs, size_t *name_bytes, struct str text)
{
    size_t pos = 0;
    *name_bytes = 0;
    while (!is_end(text, pos)) {
        struct piece_pair pair;
        if (!piece_take(&pair.name, 'K', text, &pos) || !piece_take(&pair.value, 'V', text, &pos))
            return corrupt("is malformed", pos);
        *name_bytes += pair.name.n;
        buf_add(pairs, &pair, sizeof pair);
    }
    return NULL;
}

static bool name_is_possible(struct str name)
{
    return name.n && !str_eq(name, S(".")) && !str_eq(name, S("..")) &&
           !memchr(name.p, '/', name.n) && !memchr(name.p, '\0', name.n);
}

static struct err *value_parse(struct dirent_fs *out, struct str value)
{
    const struct str word = str_word(&value);
    if (str_eq(word, S("file")))
        out->kind = NODE_FILE;
    else if (str_eq(word, S("dir")))
        out->kind = NODE_DIR;
    else
        return err_make(E_FS_CORRUPT, "It is neither 'file' nor 'dir'");
    return noderev_id_parse(&out->id, value);
}

/* Fill the list of DIR; names are copied to NAMES. *SORTED tells whether they came in order. */
static struct err *fill(struct dir *dir, char *names, bool *sorted, const struct piece_pair *pairs)
{
    *sorted = true;
    for (size_t i = 0; i < dir->n; i++) {
        struct dirent_fs *entry = &dir->list[i];
        const struct str name = pairs[i].name;
        if (!name_is_possible(name))
            return err_make(E_FS_CORRUPT, "Directory listing holds the impossible name '%.*s'",
                            STR(name));
        struct err *err = value_parse(entry, pairs[i].value);
        if (err)
            return err_wrap(err, E_FS_CORRUPT, "Directory entry '%.*s' is malformed", STR(name));
        memcpy(names, name.p, name.n);
        entry->name = str_make(names, name.n);
        names += name.n;
        if (i && str_cmp(entry[-1].name, entry->name) >= 0)
            *sorted = false;
    }
    return NULL;
}

static void newest_find(struct dir *dir)
{
    dir->newest = 0;
    for (size_t i = 1; i < dir->n; i++)
        if (item_is_later(&dir->list[i].id, &dir->list[dir->newest].id))
            dir->newest = i;
}

static int by_name(const void *a, const void *b)
{
    const struct dirent_fs *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

/* Writers before 1.9 left the order to chance. */
static struct err *sort(struct dir *dir)
{
    qsort(dir->list, dir->n, sizeof *dir->list, by_name);
    for (size_t i = 1; i < dir->n; i++)
        if (str_eq(dir->list[i - 1].name, dir->list[i].name))
            return err_make(E_FS_CORRUPT, "Directory listing has entry '%.*s' twice",
                            STR(dir->list[i].name));
    return NULL;
}

struct err *dir_parse(struct dir **out, struct str text)
{
    AUTO_BUF(pairs);
    size_t name_bytes;
    bool sorted;
    TRY(split(&pairs, &name_bytes, text));
    const size_t count = pairs.n / sizeof(struct piece_pair);
    /* An entry takes more than ten bytes of TEXT, so this cannot overflow. */
    const size_t bytes = sizeof(struct dir) + count * sizeof(struct dirent_fs) + name_bytes;
    struct dir *dir = mem_alloc(bytes);
    shared_init(&dir->shared, bytes, shared_free_plain);
    dir->n = count;
    dir->list = (struct dirent_fs *)(dir + 1);
    struct err *err =
        fill(dir, (char *)(dir->list + count), &sorted, (const struct piece_pair *)pairs.p);
    if (!err && !sorted)
        err = sort(dir);
    if (err) {
        shared_unref(dir);
        return err;
    }
    newest_find(dir);
    *out = dir;
    return NULL;
}

void dir_format(struct buf *out, const struct dirent_fs *list, size_t n)
{
    AUTO_BUF(value);
    for (size_t i = 0; i < n; i++) {
        buf_clear(&value);
        buf_str(&value, list[i].kind == NODE_DIR ? S("dir ") : S("file "));
        noderev_id_format(&value, &list[i].id);
        buf_str(out, S("K "));
        buf_u64(out, list[i].name.n);
        buf_char(out, '\n');
        buf_str(out, list[i].name);
        buf_str(out, S("\nV "));
        buf_u64(out, value.n);
        buf_char(out, '\n');
        buf_str(out, buf_view(&value));
        buf_char(out, '\n');
    }
    buf_str(out, S("END\n"));
}

const struct dirent_fs *dir_find(const struct dir *dir, struct str name)
{
    size_t low = 0, high = dir->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = str_cmp(dir->list[middle].name, name);
        if (order == 0)
            return &dir->list[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- of a node ---- */

static struct err *dir_read(struct dir **out, struct fsfs *fs, const struct rep *rep)
{
    AUTO_ARENA(scratch);
    const struct blob *text;
    TRY(rep_text_up_to(&text, fs, rep, LIST_READ_MAX, scratch));
    return dir_parse(out, blob_str(text));
}

static struct err *order_check(const struct dir *dir, const struct noderev *nr, struct arena *arena)
{
    if (dir->n == 0 || item_is_later(&nr->id, &dir->list[dir->newest].id))
        return NULL;
    const struct dirent_fs *entry = &dir->list[dir->newest];
    return err_make(E_FS_CORRUPT,
                    "Directory '%.*s' holds '%.*s', which was not written before it: '%.*s'",
                    STR(noderev_id_str(&nr->id, arena)), STR(entry->name),
                    STR(noderev_id_str(&entry->id, arena)));
}

struct err *dir_get(const struct dir **out, struct fsfs *fs, const struct noderev *nr,
                    struct arena *arena)
{
    static const struct dir empty = {.shared = {.refs = 1, .bytes = sizeof empty}};
    if (nr->kind != NODE_DIR)
        return err_make(E_FS_NOT_DIRECTORY, "'%.*s' is not a directory", STR(nr->cpath));
    if (!nr->has_text) {
        *out = &empty;
        return NULL;
    }
    const struct cache_key key =
        fsfs_cache_key(fs, CACHE_DIR, (uint64_t)nr->text.rev, nr->text.item);
    if ((*out = cache_get(key, arena)))
        return order_check(*out, nr, arena);
    struct dir *dir;
    struct err *err = dir_read(&dir, fs, &nr->text);
    if (err)
        return err_blame(err, 0, "Directory representation corrupt in '%.*s'",
                         STR(noderev_id_str(&nr->id, arena)));
    cache_put(key, &dir->shared);
    *out = arena_keep(arena, &dir->shared);
    return order_check(dir, nr, arena);
}
