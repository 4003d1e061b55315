/* SPDX-License-Identifier: Apache-2.0 */
/* What a window looks like is settled by what Subversion makes of the same two texts:
 *
 *   1. an equal start of more than 4 bytes (or the whole target) is copied;
 *   2. where fewer than 64 bytes are left, or the source view is shorter, only step 5 follows;
 *   3. the source view is cut into blocks of 64 bytes; a short last one does not count. The rest
 *      of the target is walked byte by byte until the next 64 bytes equal a block (the first one,
 *      if several are equal). That match grows forward as far as it goes, then backward over
 *      target bytes that no copy covers yet; it becomes a copy, the bytes before it new data;
 *   4. a match with no new data before it may have been found too late: as far as its two texts
 *      are equal backward, instructions are taken back (whole ones; new data also in part);
 *   5. of what remains, an equal end of more than 4 bytes is copied, the rest is new data.
 *
 * The same window follows from any way of finding equal blocks, so ours is built for speed: for
 * each place in the target a bitmap in the first-level cache is asked about 16 of the 64 bytes,
 * the first and the last eight, and answers nearly always that no block has them. There is no
 * rolling checksum: nothing depends on the place before, and a block costs 8 loads to index. */
#include "delta/search.h"
#include "delta/svndiff.h"
#include <assert.h>

enum {
    BLOCK = 64,
    BLOCKS_MAX = SVNDIFF_WINDOW_MAX / BLOCK,
    WORTHWHILE = 4, /* an equal start or end must be longer */
};

/* ---- equal runs ---- */

static inline uint64_t load64(const char *p)
{
    uint64_t n;
    memcpy(&n, p, sizeof n);
    return n;
}

/* Of two different words: how many bytes are equal before the first / behind the last difference.
 */
static inline size_t equal_first(uint64_t a, uint64_t b)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(a ^ b) / 8;
#else
    return (size_t)__builtin_clzll(a ^ b) / 8;
#endif
}

static inline size_t equal_last(uint64_t a, uint64_t b)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_clzll(a ^ b) / 8;
#else
    return (size_t)__builtin_ctzll(a ^ b) / 8;
#endif
}

/* How many bytes from A and B on are equal, at most MOST. */
static size_t equal_forward(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    for (; n + 8 <= most; n += 8) {
        uint64_t x = load64(a + n), y = load64(b + n);
        if (x != y)
            return n + equal_first(x, y);
    }
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* How many bytes before A and B are equal, at most MOST. */
static size_t equal_backward(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    for (; n + 8 <= most; n += 8) {
        uint64_t x = load64(a - n - 8), y = load64(b - n - 8);
        if (x != y)
            return n + equal_last(x, y);
    }
    while (n < most && a[-1 - (ptrdiff_t)n] == b[-1 - (ptrdiff_t)n])
        n++;
    return n;
}

/* ---- the index of the source's blocks ---- */

/* A product of two words in which every bit of both counts. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The number of all of a block: tells blocks apart. */
static inline uint64_t block_hash(const char *p)
{
    return mix(load64(p) ^ 0xa0761d6478bd642f, load64(p + 8) ^ 0xe7037ed1a0b428db) ^
           mix(load64(p + 16) ^ 0x8ebc6af09c88c6e3, load64(p + 24) ^ 0x589965cc75374cc3) ^
           mix(load64(p + 32) ^ 0x1d8e4e27c47d124f, load64(p + 40) ^ 0xeb44accab455d165) ^
           mix(load64(p + 48) ^ 0xd6e8feb86659fd93, load64(p + 56) ^ 0x9e3779b97f4a7c15);
}

enum {
    BUCKET_BITS_MAX = 12, /* at least two buckets for each of BLOCKS_MAX */
    FILTER_BITS = 17,     /* a constant, for the sake of the innermost loop */
};
static_assert(BLOCKS_MAX * 2 <= 1 << BUCKET_BITS_MAX, "the index must stay sparse");

/* The bit of the filter for the 64 bytes at P. */
static inline uint64_t filter_bit(const char *p)
{
    uint64_t first = load64(p), last = load64(p + BLOCK - 8);
    return (first ^ (last >> 21 | last << 43)) * 0x9e3779b97f4a7c15 >> (64 - FILTER_BITS);
}

struct block_index {
    const char *source;
    int bucket_bits;
    uint64_t filter[(1 << FILTER_BITS) / 64];
    uint16_t bucket[1 << BUCKET_BITS_MAX]; /* by hash: 1 + the number of a block; 0: none */
    uint16_t next[BLOCKS_MAX];             /* of the same bucket, likewise */
    uint32_t tag[BLOCKS_MAX];              /* other bits of the block's hash */
};

static inline size_t bucket_of(const struct block_index *index, uint64_t hash)
{
    return (size_t)(hash >> (64 - index->bucket_bits));
}

/* False where no block can equal the 64 bytes at P. */
static inline bool may_match(const struct block_index *index, const char *p)
{
    uint64_t bit = filter_bit(p);
    return index->filter[bit / 64] >> (bit % 64) & 1;
}

/* The number of the block that equals the 64 bytes at P, whose hash is HASH; -1 if none does. */
static int block_find(const struct block_index *index, uint64_t hash, const char *p)
{
    for (int i = index->bucket[bucket_of(index, hash)]; i > 0; i = index->next[i - 1])
        if (index->tag[i - 1] == (uint32_t)hash &&
            memcmp(index->source + (size_t)(i - 1) * BLOCK, p, BLOCK) == 0)
            return i - 1;
    return -1;
}

static void index_make(struct block_index *index, struct str source)
{
    size_t blocks = source.n / BLOCK;
    int bits = 4;
    while ((size_t)1 << bits < blocks * 2)
        bits++;
    index->source = source.p;
    index->bucket_bits = bits;
    memset(index->bucket, 0, sizeof index->bucket[0] << bits);
    memset(index->filter, 0, sizeof index->filter);
    for (size_t i = 0; i < blocks; i++) {
        const char *p = source.p + i * BLOCK;
        uint64_t hash = block_hash(p), bit = filter_bit(p);
        if (block_find(index, hash, p) >= 0)
            continue; /* the first of equal blocks is the one that counts */
        index->filter[bit / 64] |= (uint64_t)1 << (bit % 64);
        uint16_t *bucket = &index->bucket[bucket_of(index, hash)];
        index->tag[i] = (uint32_t)hash;
        index->next[i] = *bucket;
        *bucket = (uint16_t)(i + 1);
    }
}

/* ---- the list of instructions ---- */

/* While it grows, the offset of new data is its place in the target. */
struct op_list {
    struct delta_op *ops;
    size_t n;
};

/* A copy never continues the one before it: that one went as far as the texts are equal. */
static void add_copy(struct op_list *list, size_t offset, size_t length)
{
    list->ops[list->n++] = (struct delta_op){DELTA_SOURCE, (uint32_t)offset, (uint32_t)length};
}

static void add_new(struct op_list *list, size_t target_at, size_t length)
{
    list->ops[list->n++] = (struct delta_op){DELTA_NEW, (uint32_t)target_at, (uint32_t)length};
}

/* Step 4: take back instructions that make the last bytes of target, at most MOST; how many they
 * make. */
static size_t take_back(struct op_list *list, size_t most)
{
    size_t taken = 0;
    while (list->n) {
        struct delta_op *last = &list->ops[list->n - 1];
        if (last->length > most - taken) {
            if (last->kind == DELTA_NEW) {
                last->length -= (uint32_t)(most - taken);
                taken = most;
            }
            break;
        }
        taken += last->length;
        list->n--;
    }
    return taken;
}

/* Step 5, for the target from START on. */
static void add_end(struct op_list *list, struct str source, struct str target, size_t start)
{
    size_t left = target.n - start;
    size_t most = left < source.n ? left : source.n;
    size_t equal = most ? equal_backward(source.p + source.n, target.p + target.n, most) : 0;
    if (equal <= WORTHWHILE)
        equal = 0;
    if (left > equal)
        add_new(list, start, left - equal);
    if (equal)
        add_copy(list, source.n - equal, equal);
}

/* ---- the walk ---- */

struct match {
    size_t source_at, target_at, length;
};

/* The next match behind COVERED, the end of the last copy; false if there is none. */
static bool match_find(struct match *m, const struct block_index *index, struct str source,
                       struct str target, size_t covered)
{
    const char *p = target.p;
    size_t at = covered, last = target.n - BLOCK;
    int block = -1;
    while (block < 0) {
        while (at <= last && !may_match(index, p + at))
            at++;
        if (at > last)
            return false;
        block = block_find(index, block_hash(p + at), p + at);
        at += block < 0;
    }
    size_t from = (size_t)block * BLOCK;
    size_t source_left = source.n - from - BLOCK, target_left = target.n - at - BLOCK;
    size_t ahead = equal_forward(source.p + from + BLOCK, p + at + BLOCK,
                                 source_left < target_left ? source_left : target_left);
    size_t open = at - covered;
    size_t back = equal_backward(source.p + from, p + at, from < open ? from : open);
    *m = (struct match){from - back, at - back, back + BLOCK + ahead};
    return true;
}

/* Steps 3 and 4 from target byte START on, which is where the copy of step 1 ends; returns where
 * the last copy ends. */
static size_t add_matches(struct op_list *list, struct str source, struct str target, size_t start)
{
    struct block_index index;
    struct match m;
    size_t covered = start;
    index_make(&index, source);
    while (target.n - covered >= BLOCK && match_find(&m, &index, source, target, covered)) {
        if (m.target_at > covered) {
            add_new(list, covered, m.target_at - covered);
        } else {
            size_t most = m.source_at < m.target_at ? m.source_at : m.target_at;
            size_t back = take_back(
                list, equal_backward(source.p + m.source_at, target.p + m.target_at, most));
            m.source_at -= back;
            m.target_at -= back;
            m.length += back;
        }
        add_copy(list, m.source_at, m.length);
        covered = m.target_at + m.length;
    }
    return covered;
}

/* Turn places in the target into places in the new data, which is gathered in ARENA if it has
 * several parts. */
static struct str gather_new(struct op_list *list, struct str target, struct arena *arena)
{
    size_t parts = 0, total = 0, first = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->ops[i].kind == DELTA_NEW) {
            if (parts++ == 0)
                first = list->ops[i].offset;
            total += list->ops[i].length;
        }
    if (parts == 0)
        return (struct str){NULL, 0};
    bool copy = parts > 1;
    char *room = copy ? arena_alloc(arena, total) : NULL;
    size_t at = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct delta_op *op = &list->ops[i];
        if (op->kind != DELTA_NEW)
            continue;
        if (copy)
            memcpy(room + at, target.p + op->offset, op->length);
        op->offset = (uint32_t)at;
        at += op->length;
    }
    return copy ? str_make(room, total) : str_make(target.p + first, total);
}

void delta_search(struct delta_window *out, uint64_t source_offset, struct str source,
                  struct str target, struct arena *arena)
{
    assert(source.n <= SVNDIFF_WINDOW_MAX && target.n <= SVNDIFF_WINDOW_MAX);
    /* Each copy of step 3 makes BLOCK bytes of target or more; one instruction of new data may
     * precede it. */
    struct op_list list = {arena_array(arena, target.n / BLOCK * 2 + 3, sizeof(struct delta_op)),
                           0};
    size_t shorter = source.n < target.n ? source.n : target.n;
    size_t done = equal_forward(source.p, target.p, shorter);
    if (done && (done > WORTHWHILE || done == target.n))
        add_copy(&list, 0, done);
    else
        done = 0;
    if (target.n - done >= BLOCK && source.n >= BLOCK)
        done = add_matches(&list, source, target, done);
    if (done < target.n)
        add_end(&list, source, target, done);
    *out = (struct delta_window){.source_offset = source_offset,
                                 .source_length = (uint32_t)source.n,
                                 .target_length = (uint32_t)target.n,
                                 .new_data = gather_new(&list, target, arena),
                                 .ops = list.ops,
                                 .op_count = list.n};
}
