/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/read/item.h"
#include "base/num.h"
#include "fsfs/read/index_int.h"
#include <stdlib.h>

enum {
    DIRECT_MIN = 64 * 1024, /* bytes: a read this long gains nothing by the block cache */
    VIEW_COPY_MIN =
        4096, /* what a view over a block's end copies at least, where there is so much */
    PREFETCH_BODIES = 64,  /* held at a time: each is an open file */
    PREFETCH_ITEMS = 4096, /* sorted at a time */
    TRAILER_MAX = 64,      /* bytes: two numbers of 20 digits, a space and two line ends fit */
};

/* ---- blocks ---- */

static struct err *block_get(const struct blob **out, struct fsfs *fs, struct body *body,
                             uint64_t number, struct arena *arena)
{
    const struct cache_key key = fsfs_cache_key(fs, CACHE_BLOCK, body->identity, number);
    if ((*out = cache_get(key, arena)))
        return NULL;
    const uint64_t start = number * ITEM_BLOCK;
    const size_t n = body->size - start < ITEM_BLOCK ? body->size - start : ITEM_BLOCK;
    struct blob *block = blob_new(n);
    const struct span span = {start, n, block->bytes};
    struct err *err = body_read(body, &span, 1);
    if (err) {
        shared_unref(block);
        return err;
    }
    cache_put_bytes(key, &block->shared);
    *out = arena_keep(arena, &block->shared);
    return NULL;
}

static struct err *ends_early(const struct item_place *place, uint64_t at, uint64_t n)
{
    AUTO_ARENA(scratch);
    return err_make(E_FS_CORRUPT, "'%.*s' has no %llu bytes at offset %llu: the data end at %llu",
                    STR(body_name(place->body, scratch)), (unsigned long long)n,
                    (unsigned long long)place->offset + at, (unsigned long long)place->limit);
}

struct err *item_view(struct str *out, struct fsfs *fs, const struct item_place *place, size_t min,
                      struct arena *arena)
{
    if (place->offset > place->limit || place->limit > place->body->size ||
        place->limit - place->offset < min)
        return ends_early(place, 0, min);
    *out = (struct str){0};
    const uint64_t left = place->limit - place->offset;
    if (left == 0)
        return NULL;
    const struct blob *block;
    TRY(block_get(&block, fs, place->body, place->offset / ITEM_BLOCK, arena));
    const size_t at = place->offset % ITEM_BLOCK;
    size_t n = block->n - at < left ? block->n - at : left;
    if (n >= min) {
        *out = str_make(block->bytes + at, n);
        return NULL;
    }
    n = min > VIEW_COPY_MIN ? min : left < VIEW_COPY_MIN ? left : VIEW_COPY_MIN;
    char *copy = arena_alloc(arena, n);
    *out = str_make(copy, n);
    return item_read(copy, n, fs, place, 0);
}

struct err *item_read(void *to, size_t n, struct fsfs *fs, const struct item_place *place,
                      uint64_t at)
{
    uint64_t offset;
    if (!add_u64(&offset, place->offset, at) || offset > place->limit ||
        place->limit - offset < n || place->limit > place->body->size)
        return ends_early(place, at, n);
    if (n >= DIRECT_MIN && place->body->size > ITEM_BLOCK) {
        const struct span span = {offset, n, to};
        return body_read(place->body, &span, 1);
    }
    AUTO_ARENA(scratch);
    for (char *next = to; n;) {
        const struct blob *block;
        TRY(block_get(&block, fs, place->body, offset / ITEM_BLOCK, scratch));
        const size_t from = offset % ITEM_BLOCK;
        const size_t part = block->n - from < n ? block->n - from : n;
        memcpy(next, block->bytes + from, part);
        next += part;
        offset += part;
        n -= part;
    }
    return NULL;
}

/* ---- physical packs: the manifest ---- */

/* Where each revision of a pack starts, and behind the last where it ends. */
struct manifest {
    struct shared shared;
    uint64_t n; /* revisions */
    uint64_t starts[];
};

struct err *manifest_parse(uint64_t *starts, size_t n, struct str text, uint64_t size)
{
    size_t pos = 0;
    struct str line;
    for (size_t i = 0; i < n; i++) {
        if (!str_line(&line, text, &pos) || !num_u64(&starts[i], line))
            return err_make(E_FS_CORRUPT, "Manifest has no offset for revision %zu of its shard",
                            i);
        if (starts[i] >= size || (i ? starts[i] <= starts[i - 1] : starts[i] != 0))
            return err_make(E_FS_CORRUPT,
                            "Manifest offset %llu of revision %zu of its shard is not in order",
                            (unsigned long long)starts[i], i);
    }
    if (pos != text.n)
        return err_make(E_FS_CORRUPT, "Manifest goes on behind the last revision of its shard");
    starts[n] = size;
    return NULL;
}

static struct err *manifest_get(const struct manifest **out, struct fsfs *fs, struct body *body,
                                struct arena *arena)
{
    const struct cache_key key = fsfs_cache_key(fs, CACHE_MANIFEST, body->identity, 0);
    if ((*out = cache_get(key, arena)))
        return NULL;
    AUTO_BUF(text);
    TRY(body_manifest(&text, body));
    const uint64_t n = (uint64_t)fs->shard_size;
    struct err *err = NULL;
    struct manifest *manifest = NULL;
    if (n > text.n / 2) { /* a line has a digit and its end: this bounds what is allocated */
        err = err_make(E_FS_CORRUPT, "Manifest has fewer lines than revisions");
    } else {
        const size_t bytes = sizeof *manifest + (n + 1) * sizeof(uint64_t);
        manifest = mem_alloc(bytes);
        shared_init(&manifest->shared, bytes, shared_free_plain);
        manifest->n = n;
        err = manifest_parse(manifest->starts, n, buf_view(&text), body->size);
    }
    if (err) {
        shared_unref(manifest);
        return err_blame(err, 0, "Manifest of '%.*s' is damaged", STR(body_name(body, arena)));
    }
    cache_put(key, &manifest->shared);
    *out = arena_keep(arena, &manifest->shared);
    return NULL;
}

/* ---- finding ---- */

/* The bytes of REV as a whole, under physical addressing. */
static struct err *revision_find(struct item_place *out, struct fsfs *fs, struct body *body,
                                 revnum rev, struct arena *arena)
{
    *out = (struct item_place){body, 0, body->size};
    if (!body->packed)
        return NULL;
    const struct manifest *manifest;
    TRY(manifest_get(&manifest, fs, body, arena));
    const uint64_t index = (uint64_t)(rev - body->first_rev);
    out->offset = manifest->starts[index];
    out->limit = manifest->starts[index + 1];
    return NULL;
}

struct err *item_find(struct item_place *out, struct fsfs *fs, revnum rev, uint64_t item,
                      struct arena *arena)
{
    struct body *body;
    TRY(fsfs_body(&body, fs, rev, arena));
    if (fs->logical)
        return l2p_place(out, fs, body, rev, item, arena);
    TRY(revision_find(out, fs, body, rev, arena));
    if (item >= out->limit - out->offset)
        return err_make(E_FS_CORRUPT, "Revision %lld has no item at offset %llu: it has %llu bytes",
                        (long long)rev, (unsigned long long)item,
                        (unsigned long long)(out->limit - out->offset));
    out->offset += item;
    return NULL;
}

/* The line at the end of a physically addressed revision: "<root node-revision> <changed paths>".
 */
struct trailer {
    uint64_t root, changes; /* offsets in the revision */
    uint64_t length;        /* bytes of the line, its LF included */
};

struct err *trailer_parse(uint64_t *root, uint64_t *changes, size_t *length, struct str tail)
{
    if (tail.n == 0 || tail.p[tail.n - 1] != '\n')
        return err_make(E_FS_CORRUPT, "does not end with a line end");
    struct str line = {tail.p, tail.n - 1};
    const size_t before = str_rfind(line, '\n');
    if (before == SIZE_MAX)
        return err_make(E_FS_CORRUPT, "does not end with a line of two offsets");
    line = str_skip(line, before + 1);
    *length = line.n + 1;
    if (!num_u64(root, str_word(&line)) || !num_u64(changes, line))
        return err_make(E_FS_CORRUPT, "does not end with a line of two offsets");
    return NULL;
}

/* The trailer of a revision of SIZE bytes, of which TAIL is the end. */
static struct err *trailer_check(struct trailer *out, struct str tail, uint64_t size)
{
    size_t length;
    TRY(trailer_parse(&out->root, &out->changes, &length, tail));
    if (out->root >= size - length || out->changes >= size - length)
        return err_make(E_FS_CORRUPT, "ends with offsets that lie behind its data");
    out->length = length;
    return NULL;
}

/* The trailer of REV, whose bytes are REVISION. */
static struct err *trailer_get(struct trailer *out, struct fsfs *fs, revnum rev,
                               const struct item_place *revision, struct arena *arena)
{
    const uint64_t size = revision->limit - revision->offset;
    const size_t n = size < TRAILER_MAX ? size : TRAILER_MAX;
    const struct item_place end = {revision->body, revision->limit - n, revision->limit};
    struct str tail;
    TRY(item_view(&tail, fs, &end, n, arena));
    return err_blame(trailer_check(out, tail, size), 0, "Revision file (r%lld) is corrupt",
                     (long long)rev);
}

struct err *item_find_changes(struct item_place *out, struct fsfs *fs, revnum rev,
                              struct arena *arena)
{
    struct body *body;
    TRY(fsfs_body(&body, fs, rev, arena));
    if (fs->logical)
        return l2p_place(out, fs, body, rev, ITEM_INDEX_CHANGES, arena);
    struct trailer trailer;
    TRY(revision_find(out, fs, body, rev, arena));
    TRY(trailer_get(&trailer, fs, rev, out, arena));
    out->offset += trailer.changes;
    out->limit -= trailer.length;
    return NULL;
}

struct err *item_changes_within(struct str *out, struct str all, bool logical, revnum rev,
                                struct arena *arena)
{
    uint64_t start, end;
    if (logical) {
        struct index_footer footer;
        TRY(index_footer_parse(&footer, all, all.n));
        end = footer.l2p_offset;
        TRY(l2p_parse(str_make(all.p + end, (size_t)(footer.p2l_offset - end)), rev,
                      ITEM_INDEX_CHANGES, &start, arena));
    } else {
        struct trailer trailer;
        const size_t n = all.n < TRAILER_MAX ? all.n : TRAILER_MAX;
        TRY(trailer_check(&trailer, str_skip(all, all.n - n), all.n));
        start = trailer.changes;
        end = all.n - trailer.length;
    }
    if (start >= end)
        return err_make(E_FS_CORRUPT, "changed-path list lies behind the data");
    *out = str_make(all.p + start, (size_t)(end - start));
    return NULL;
}

struct err *item_root_id(struct noderev_id *out, struct fsfs *fs, revnum rev, struct arena *arena)
{
    *out = (struct noderev_id){.rev = rev, .item = ITEM_INDEX_ROOT, .txn.base = REV_NONE};
    if (fs->logical)
        return NULL;
    struct body *body;
    struct item_place revision;
    struct trailer trailer;
    TRY(fsfs_body(&body, fs, rev, arena));
    TRY(revision_find(&revision, fs, body, rev, arena));
    TRY(trailer_get(&trailer, fs, rev, &revision, arena));
    out->item = trailer.root;
    return NULL;
}

/* ---- asking ahead ---- */

struct want {
    struct body *body;
    uint64_t from, to; /* blocks */
};

static int want_order(const void *a, const void *b)
{
    const struct want *x = a, *y = b;
    if (x->body != y->body)
        return (uintptr_t)x->body < (uintptr_t)y->body ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* The blocks of one item. False where it is not known without waiting, or not at all. */
static bool want_of(struct want *out, struct fsfs *fs, const struct item_name *name,
                    struct arena *arena)
{
    struct item_place place;
    struct err *err = fsfs_body(&place.body, fs, name->rev, arena);
    if (err) {
        err_free(err); /* who reads it will see */
        return false;
    }
    out->body = place.body;
    if (place.body->size <= ITEM_BLOCK) {
        out->from = 0;
        out->to = 1;
        return true;
    }
    if (fs->logical && !l2p_is_at_hand(fs, place.body, arena)) {
        /* The index stands at the end: ask for that much of it that tells where it begins. */
        out->to = (place.body->size - 1) / ITEM_BLOCK + 1;
        out->from = out->to - 1;
        return true;
    }
    err = item_find(&place, fs, name->rev, name->item, arena);
    if (err) {
        err_free(err);
        return false;
    }
    const uint64_t left = place.limit - place.offset;
    const uint64_t n = name->size && name->size < left ? name->size : name->size ? left : 1;
    out->from = place.offset / ITEM_BLOCK;
    out->to = (place.offset + n - 1) / ITEM_BLOCK + 1;
    return true;
}

static bool block_is_at_hand(struct fsfs *fs, const struct want *want, struct arena *arena)
{
    return want->to - want->from == 1 &&
           cache_peek(fsfs_cache_key(fs, CACHE_BLOCK, want->body->identity, want->from), arena);
}

/* Hand the wants, which are sorted and lie in the same bodies side by side, to the store. */
static void wants_prefetch(const struct want *wants, size_t count, struct span *spans)
{
    for (size_t i = 0; i < count;) {
        struct body *body = wants[i].body;
        size_t merged = 0;
        uint64_t end = 0; /* blocks before this one are asked for */
        for (; i < count && wants[i].body == body; i++) {
            const uint64_t from = wants[i].from > end ? wants[i].from : end;
            if (wants[i].to <= from)
                continue;
            end = wants[i].to;
            const uint64_t stop = end * ITEM_BLOCK < body->size ? end * ITEM_BLOCK : body->size;
            const size_t bytes = stop - from * ITEM_BLOCK;
            if (merged && spans[merged - 1].offset + spans[merged - 1].n == from * ITEM_BLOCK)
                spans[merged - 1].n += bytes;
            else
                spans[merged++] = (struct span){.offset = from * ITEM_BLOCK, .n = bytes};
        }
        body_prefetch(body, spans, merged);
    }
}

/* Ask for the first of NAMES, as many as are in PREFETCH_BODIES bodies; returns how many that are.
 */
static size_t some_prefetch(struct fsfs *fs, const struct item_name *names, size_t n)
{
    AUTO_ARENA(scratch);
    const size_t most = n < PREFETCH_ITEMS ? n : PREFETCH_ITEMS;
    struct want *wants = arena_array(scratch, most, sizeof *wants);
    struct span *spans = arena_array(scratch, most, sizeof *spans);
    const struct body *last = NULL;
    size_t bodies = 0, count = 0, i;
    for (i = 0; i < most && bodies < PREFETCH_BODIES; i++) {
        if (!want_of(&wants[count], fs, &names[i], scratch) ||
            block_is_at_hand(fs, &wants[count], scratch))
            continue;
        bodies += wants[count].body != last;
        last = wants[count++].body;
    }
    qsort(wants, count, sizeof *wants, want_order);
    wants_prefetch(wants, count, spans);
    return i;
}

static int name_order(const void *a, const void *b)
{
    const struct item_name *x = a, *y = b;
    if (x->rev != y->rev)
        return x->rev < y->rev ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

void items_prefetch(struct fsfs *fs, const struct item_name *items, size_t n)
{
    AUTO_ARENA(scratch);
    struct item_name *sorted = arena_array(scratch, n, sizeof *sorted);
    if (n)
        memcpy(sorted, items, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, name_order);
    for (size_t done = 0; done < n;)
        done += some_prefetch(fs, sorted + done, n - done);
}
