/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/txn/delta_base.h"
#include "delta/encode.h"
#include "fsfs/read/noderev_get.h"

enum {
    BASE_TEXT_MIN = 64, /* bytes: a shorter base saves less than the reference to it costs */
    SHARD_COST = 128,   /* each shard that a chain touches beyond the first doubles the size that is
                           worth it */
};

static int64_t shard_of(const struct fsfs *fs, revnum rev)
{
    return fs->shard_size ? rev / fs->shard_size : rev;
}

/* How many shards the way back over WALK predecessors of NR touches, the one being written
 * included. */
static struct err *shards_spanned(int *out, struct fsfs *fs, const struct noderev *nr,
                                  uint64_t walk, revnum youngest, struct arena *arena)
{
    int64_t last = shard_of(fs, youngest);
    *out = walk ? 1 : 0;
    for (; walk && nr->has_pred && nr->count; walk--) {
        TRY(noderev_get(&nr, fs, &nr->pred, arena));
        int64_t shard = shard_of(fs, nr->id.rev);
        if (shard != last)
            ++*out;
        last = shard;
    }
    return NULL;
}

/* Chains may be longer than node histories promise, since shared representations have chains of
 * their own. */
static struct err *chain_is_good(bool *out, struct fsfs *fs, const struct rep *rep,
                                 struct arena *arena)
{
    struct rep_chain chain;
    TRY(rep_chain(&chain, fs, rep, arena));
    *out = chain.length < 2 * fs->config.max_linear_deltification + 2;
    if (*out && chain.shards > 1)
        *out = chain.shards < 40 && ((uint64_t)SHARD_COST << chain.shards) < rep->expanded;
    return NULL;
}

static struct err *choose(struct rep *out, bool *found, struct fsfs *fs, const struct noderev *nr,
                          bool is_props, revnum youngest, struct arena *arena)
{
    uint64_t target = nr->count & (nr->count - 1), walk = nr->count - target;
    if (walk > (uint64_t)fs->config.max_deltification_walk)
        return NULL;
    if (walk < (uint64_t)fs->config.max_linear_deltification) {
        int shards;
        TRY(shards_spanned(&shards, fs, nr, walk, youngest, arena));
        if (shards < 2 || (1ull << (shards - 1)) <= walk)
            target = nr->count - 1;
    }
    const struct noderev *base = nr;
    for (uint64_t back = nr->count - target; back; back--) {
        if (!base->has_pred)
            return err_make(E_FS_CORRUPT,
                            "Node-revision of '%.*s' has fewer predecessors than it counts",
                            STR(base->cpath));
        TRY(noderev_get(&base, fs, &base->pred, arena));
    }
    if (is_props ? !base->has_props : !base->has_text)
        return NULL;
    *out = is_props ? base->props : base->text;
    if (out->expanded >= BASE_TEXT_MIN)
        TRY(chain_is_good(found, fs, out, arena));
    return NULL;
}

struct err *base_choose(struct rep *out, bool *found, struct fsfs *fs, const struct noderev *nr,
                        bool is_props, revnum youngest, struct arena *arena)
{
    *found = false;
    if (nr->count == 0 || !nr->has_pred)
        return NULL;
    struct arena_mark mark = arena_mark(arena);
    struct err *err = choose(out, found, fs, nr, is_props, youngest, arena);
    arena_rewind(arena, mark);
    return err;
}

struct svndiff_params base_svndiff(const struct fsfs *fs)
{
    struct svndiff_params params = {0};
    if (fs->format >= 8 && fs->config.compression == COMPRESS_LZ4)
        params.version = 2;
    else if (fs->format >= 2 && fs->config.compression != COMPRESS_NONE)
        params = (struct svndiff_params){1, fs->config.zlib_level};
    return params;
}

size_t rep_header_append(struct buf *out, const struct rep *base)
{
    size_t start = out->n;
    buf_cstr(out, "DELTA");
    if (base) {
        const uint64_t numbers[] = {(uint64_t)base->rev, base->item, base->size};
        for (size_t i = 0; i < 3; i++) {
            buf_char(out, ' ');
            buf_u64(out, numbers[i]);
        }
    }
    buf_char(out, '\n');
    return out->n - start;
}

/* BASE is too large for memory: its text streams beside TEXT. */
static struct err *delta_stream(struct buf *out, struct fsfs *fs, const struct rep *base,
                                struct str text, const struct svndiff_params *params)
{
    struct reader *source;
    TRY(rep_open(&source, fs, base));
    struct delta_encoder *e = delta_encoder_new(source, params);
    struct err *err = delta_encoder_add(out, e, text);
    if (!err)
        err = delta_encoder_end(out, e);
    delta_encoder_free(e);
    return err;
}

struct err *rep_item_delta(struct buf *out, struct rep *rep, size_t *header, struct fsfs *fs,
                           const struct rep *base, struct str text)
{
    struct svndiff_params params = base_svndiff(fs);
    *header = rep_header_append(out, base);
    size_t start = out->n;
    if (!base) {
        delta_encode(out, S(""), text, &params);
    } else if (rep_is_whole(base)) {
        AUTO_ARENA(arena);
        const struct blob *blob;
        TRY(rep_text(&blob, fs, base, arena));
        delta_encode(out, blob_str(blob), text, &params);
    } else {
        TRY(delta_stream(out, fs, base, text, &params));
    }
    rep->size = out->n - start;
    rep->expanded = text.n;
    buf_cstr(out, "ENDREP\n");
    return NULL;
}

void rep_item_plain(struct buf *out, struct rep *rep, struct str text)
{
    buf_cstr(out, "PLAIN\n");
    buf_str(out, text);
    buf_cstr(out, "ENDREP\n");
    rep->size = rep->expanded = text.n;
}
