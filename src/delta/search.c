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
 * The same window follows from any way of finding equal blocks, so ours is built for speed: a
 * hash that rolls with one shift and one addition a byte, and a bitmap in the first-level cache
 * that answers nearly all lookups. */
#include "delta/svndiff.h"
#include <assert.h>
#include <pthread.h>

enum {
    BLOCK = 64, /* bytes; also the bits of the hash, which is how a byte leaves it: shifted out */
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

static uint64_t gear[256]; /* a number per byte value, as different as can be */
static pthread_once_t gear_once = PTHREAD_ONCE_INIT;

static void gear_make(void)
{
    uint64_t state = 0;
    for (int i = 0; i < 256; i++) { /* splitmix64 */
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        gear[i] = z ^ z >> 31;
    }
}

static inline uint64_t hash_roll(uint64_t hash, char in)
{
    return (hash << 1) + gear[(uint8_t)in];
}

static inline uint64_t hash_block(const char *p)
{
    uint64_t hash = 0;
    for (int i = 0; i < BLOCK; i++)
        hash = hash_roll(hash, p[i]);
    return hash;
}

/* The oldest bytes touch only the hash's top bits; where blocks are told apart they count fully. */
static inline uint64_t hash_finish(uint64_t hash, const char *block)
{
    return (hash ^ load64(block) * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
}

enum {
    BUCKET_BITS_MAX = 12,  /* at least two buckets for each of BLOCKS_MAX */
    FILTER_BITS_EXTRA = 4, /* bits of the filter for each bucket */
};
static_assert(BLOCKS_MAX * 2 <= 1 << BUCKET_BITS_MAX, "the index must stay sparse");

struct block_index {
    const char *source;
    int bucket_bits, filter_bits;
    uint64_t filter[(1 << (BUCKET_BITS_MAX + FILTER_BITS_EXTRA)) / 64]; /* by the hash's top bits */
    uint16_t bucket[1 << BUCKET_BITS_MAX]; /* by the finished hash: 1 + a block's number; 0: none */
    uint16_t next[BLOCKS_MAX];             /* of the same bucket, likewise */
    uint32_t tag[BLOCKS_MAX];              /* other bits of the finished hash */
};

static inline size_t bucket_of(const struct block_index *index, uint64_t finished)
{
    return (size_t)(finished >> (64 - index->bucket_bits));
}

static inline uint32_t tag_of(uint64_t finished)
{
    return (uint32_t)(finished >> 16);
}

/* False where no block has HASH. */
static inline bool may_match(const struct block_index *index, uint64_t hash)
{
    uint64_t bit = hash >> (64 - index->filter_bits);
    return index->filter[bit / 64] >> (bit % 64) & 1;
}

/* The number of the block that equals the BLOCK bytes at P, -1 if none does. */
static int block_find(const struct block_index *index, uint64_t hash, const char *p)
{
    uint64_t finished = hash_finish(hash, p);
    for (int i = index->bucket[bucket_of(index, finished)]; i > 0; i = index->next[i - 1])
        if (index->tag[i - 1] == tag_of(finished) &&
            memcmp(index->source + (size_t)(i - 1) * BLOCK, p, BLOCK) == 0)
            return i - 1;
    return -1;
}

static void index_make(struct block_index *index, struct str source)
{
    size_t blocks = source.n / BLOCK;
    int bits = 5;
    while ((size_t)1 << bits < blocks * 2)
        bits++;
    index->source = source.p;
    index->bucket_bits = bits;
    index->filter_bits = bits + FILTER_BITS_EXTRA;
    memset(index->bucket, 0, sizeof index->bucket[0] << index->bucket_bits);
    memset(index->filter, 0, ((size_t)1 << index->filter_bits) / 8);
    for (size_t i = 0; i < blocks; i++) {
        const char *p = source.p + i * BLOCK;
        uint64_t hash = hash_block(p);
        if (may_match(index, hash) && block_find(index, hash, p) >= 0)
            continue; /* the first of equal blocks is the one that counts */
        uint64_t bit = hash >> (64 - index->filter_bits);
        index->filter[bit / 64] |= (uint64_t)1 << (bit % 64);
        uint64_t finished = hash_finish(hash, p);
        uint16_t *bucket = &index->bucket[bucket_of(index, finished)];
        index->tag[i] = tag_of(finished);
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
    uint64_t hash = hash_block(p + at);
    int block = -1;
    for (;;) {
        while (!may_match(index, hash)) {
            if (at == last)
                return false;
            hash = hash_roll(hash, p[at + BLOCK]);
            at++;
        }
        block = block_find(index, hash, p + at);
        if (block >= 0)
            break;
        if (at == last)
            return false;
        hash = hash_roll(hash, p[at + BLOCK]);
        at++;
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
    pthread_once(&gear_once, gear_make);
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
