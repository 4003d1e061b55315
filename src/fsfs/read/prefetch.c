/* SPDX-License-Identifier: Apache-2.0 */
/* Errors are not reported here: whoever reads what is asked for meets them again. */
#include "fsfs/read/prefetch.h"
#include "fsfs/read/index_int.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep_int.h"

enum {
    NODEREV_BYTES = 1024, /* assumed of a node-revision */
    ROUNDS_MAX = 40,      /* of following delta bases: stock's chains are no longer */
    PACKS_MAX = 64,       /* found at a time: each is an open file */
};

void noderevs_prefetch(struct fsfs *fs, const struct noderev_id *ids, size_t n)
{
    AUTO_ARENA(scratch);
    struct item_name *names = arena_array(scratch, n, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct arena_mark mark = arena_mark(scratch);
        if (ids[i].rev != REV_NONE &&
            !cache_peek(fsfs_cache_key(fs, CACHE_NODEREV, (uint64_t)ids[i].rev, ids[i].item),
                        scratch))
            names[count++] = (struct item_name){ids[i].rev, ids[i].item, NODEREV_BYTES};
        arena_rewind(scratch, mark);
    }
    items_prefetch(fs, names, count);
}

/* What a text may be cached as. */
static bool is_cached(struct fsfs *fs, revnum rev, uint64_t item, struct arena *arena)
{
    static const enum fsfs_cache_kind kinds[] = {CACHE_TEXT, CACHE_BASE, CACHE_DIR, CACHE_PROPS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cache_peek(fsfs_cache_key(fs, kinds[i], (uint64_t)rev, item), arena))
            return true;
    return false;
}

/* Put the bases of NAMES in their place; returns how many there are. */
static size_t bases_of(struct fsfs *fs, struct item_name *names, size_t n)
{
    AUTO_ARENA(scratch);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct arena_mark mark = arena_mark(scratch);
        struct stored stored;
        struct err *err = stored_find(&stored, fs, names[i].rev, names[i].item, 0, scratch);
        const struct rep_header *header = &stored.header;
        if (!err && header->base_rev != REV_NONE &&
            !is_cached(fs, header->base_rev, header->base_item, scratch))
            names[count++] = (struct item_name){header->base_rev, header->base_item,
                                                header->base_size + REP_HEADER_MAX};
        err_free(err);
        arena_rewind(scratch, mark);
    }
    return count;
}

void reps_prefetch(struct fsfs *fs, const struct rep *reps, size_t n)
{
    AUTO_ARENA(scratch);
    struct item_name *names = arena_array(scratch, n, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct arena_mark mark = arena_mark(scratch);
        if (reps[i].rev != REV_NONE && !is_cached(fs, reps[i].rev, reps[i].item, scratch))
            names[count++] =
                (struct item_name){reps[i].rev, reps[i].item, reps[i].size + REP_HEADER_MAX};
        arena_rewind(scratch, mark);
    }
    for (int round = 0; count && round < ROUNDS_MAX; round++) {
        items_prefetch(fs, names, count);
        count = bases_of(fs, names, count);
    }
}

void dir_prefetch(struct fsfs *fs, const struct dir *dir)
{
    AUTO_ARENA(scratch);
    struct noderev_id *ids = arena_array(scratch, dir->n, sizeof *ids);
    struct rep *reps = arena_array(scratch, dir->n, 2 * sizeof *reps);
    size_t count = 0;
    for (size_t i = 0; i < dir->n; i++)
        ids[i] = dir->list[i].id;
    noderevs_prefetch(fs, ids, dir->n);
    for (size_t i = 0; i < dir->n; i++) {
        const struct arena_mark mark = arena_mark(scratch);
        const struct noderev *nr;
        struct err *err = noderev_get(&nr, fs, &ids[i], scratch);
        if (!err && nr->has_text)
            reps[count++] = nr->text;
        if (!err && nr->has_props)
            reps[count++] = nr->props;
        err_free(err);
        arena_rewind(scratch, mark);
    }
    reps_prefetch(fs, reps, count);
}

void packs_prefetch(struct fsfs *fs, revnum low, revnum high)
{
    AUTO_ARENA(scratch);
    revnum unpacked = 0;
    if (fs->shard_size == 0)
        return;
    struct err *err = fsfs_min_unpacked(&unpacked, fs);
    if (!err && high >= unpacked)
        high = unpacked - 1;
    /* Most readers come from above. */
    if (high / fs->shard_size - low / fs->shard_size >= PACKS_MAX)
        low = (high / fs->shard_size - PACKS_MAX + 1) * fs->shard_size;
    while (!err && low <= high) {
        struct body *body;
        err = fsfs_body(&body, fs, low, scratch);
        const int64_t shard = low / fs->shard_size;
        low = (shard + 1) * fs->shard_size;
        if (!err && !l2p_is_at_hand(fs, body, scratch))
            record_prefetch(fs->store, (struct record_key){RECORD_REVPROP_MANIFEST, shard, {0}},
                            AHEAD_FIND);
    }
    err_free(err); /* the reader will meet it */
}
