/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/read/changes_get.h"
#include "base/num.h"
#include "fsfs/read/index_int.h"
#include <stdlib.h>

/* True where the empty line that ends the list is in TEXT. */
static bool list_is_whole(struct str text)
{
    size_t pos = 0;
    struct str line;
    while (str_line(&line, text, &pos)) {
        if (line.n == 0)
            return true;
        if (!str_line(&line, text, &pos))
            break;
    }
    return false;
}

enum {
    LIST_FIRST_READ = 16 * 1024,
};

/* The list at PLACE does not end in the block that was seen: read it in growing pieces. */
static struct err *read_long(struct changes **out, struct fsfs *fs, const struct item_place *place)
{
    AUTO_BUF(text);
    uint64_t left = place->limit - place->offset;
    uint64_t want = 4 * LIST_FIRST_READ;
    for (;;) {
        if (want > left)
            want = left;
        if (want > CHANGES_MAX)
            return err_make(E_FS_CORRUPT, "changed-path list does not end within %d bytes",
                            CHANGES_MAX);
        size_t have = text.n;
        TRY(item_read(buf_grow(&text, want - have), want - have, fs, place, have));
        if (list_is_whole(buf_view(&text)))
            break;
        if (want == left)
            return err_make(E_FS_CORRUPT, "changed-path list does not end");
        want *= 4;
    }
    size_t used;
    return changes_parse(out, &used, buf_view(&text));
}

static struct err *read_list(struct changes **out, struct fsfs *fs, revnum rev)
{
    AUTO_ARENA(scratch);
    struct item_place place;
    TRY(item_find_changes(&place, fs, rev, scratch));
    struct str text;
    TRY(item_view(&text, fs, &place, 1, scratch));
    if (!list_is_whole(text))
        return read_long(out, fs, &place);
    size_t used;
    return changes_parse(out, &used, text);
}

struct err *changes_read(struct changes **out, struct fsfs *fs, revnum rev)
{
    AUTO_ARENA(scratch);
    struct body *body;
    TRY(fsfs_body(&body, fs, rev, scratch));
    if (body->packed || body->size > ITEM_BLOCK)
        return read_list(out, fs, rev);
    char *bytes = arena_alloc(scratch, body->size);
    struct str text;
    size_t used;
    TRY(body_read(body, &(struct span){0, body->size, bytes}, 1));
    TRY(item_changes_within(&text, str_make(bytes, body->size), fs->logical, rev, scratch));
    if (!list_is_whole(text))
        return err_make(E_FS_CORRUPT, "changed-path list does not end");
    return changes_parse(out, &used, text);
}

struct err *changes_get(const struct changes **out, struct fsfs *fs, revnum rev,
                        struct arena *arena)
{
    struct cache_key key = fsfs_cache_key(fs, CACHE_CHANGES, (uint64_t)rev, 0);
    struct changes *changes = cache_get(key, arena);
    if (!changes) {
        struct err *err = read_list(&changes, fs, rev);
        if (err && err->code == E_FS_CORRUPT)
            return err_blame(err, E_FS_CORRUPT, "Corrupt changed paths of revision %lld",
                             (long long)rev);
        TRY(err);
        cache_put(key, &changes->shared);
        arena_keep(arena, &changes->shared);
    }
    *out = changes;
    return NULL;
}

/* The end of a physically addressed revision file: the list and the trailer that says where it
 * begins. */
static void prefetch_tail(struct fsfs *fs, revnum rev, struct arena *arena)
{
    struct body *body;
    struct err *err = fsfs_body(&body, fs, rev, arena);
    if (err || body->packed) { /* the reader will tell; packs are read on by the kernel */
        err_free(err);
        return;
    }
    size_t n = body->size < LIST_FIRST_READ ? (size_t)body->size : LIST_FIRST_READ;
    body_prefetch(body, &(struct span){.offset = body->size - n, .n = n}, 1);
}

/* Read the indexes of the packs that ITEMS, which ascend, are in: what is asked for ahead must be
 * found first. False where there are none. */
static bool find_packed(struct fsfs *fs, const struct item_name *items, size_t n)
{
    AUTO_ARENA(scratch);
    revnum next = 0; /* the first one behind the last pack */
    for (size_t i = 0; i < n; i++) {
        struct item_place place;
        if (items[i].rev < next)
            continue;
        struct err *err = fsfs_body(&place.body, fs, items[i].rev, scratch);
        if (err || !place.body->packed) {
            err_free(err);
            break;
        }
        next = place.body->first_rev + fs->shard_size;
        err_free(item_find_changes(&place, fs, items[i].rev, scratch));
    }
    return next > 0;
}

void changes_prefetch(struct fsfs *fs, revnum first, int count)
{
    AUTO_ARENA(scratch);
    struct item_name *items = arena_array(scratch, (size_t)count, sizeof *items);
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        revnum rev = first + i;
        struct arena_mark mark = arena_mark(scratch);
        bool cached =
            rev < 0 || cache_peek(fsfs_cache_key(fs, CACHE_CHANGES, (uint64_t)rev, 0), scratch);
        if (!cached && fs->logical)
            items[n++] = (struct item_name){rev, ITEM_INDEX_CHANGES, 0};
        else if (!cached)
            prefetch_tail(fs, rev, scratch);
        arena_rewind(scratch, mark);
    }
    if (n == 0)
        return;
    items_prefetch(fs, items, n);
    if (find_packed(fs, items, n))
        items_prefetch(fs, items, n);
}
