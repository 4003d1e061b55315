/* SPDX-License-Identifier: Apache-2.0 */
/* S3-FIFO (Yang et al., SOSP 2023), per shard: new objects enter a small queue; what is asked for
 * while it is there moves to the main queue, the rest leaves and only its fingerprint stays behind.
 * Who comes back while the fingerprint is known enters the main queue at once. A scan thus passes
 * through a tenth of the memory. Bytes of files have a smaller queue in the small one's place,
 * which is never longer than its share.
 *
 *           put ──> [ small, 10 % ] ──asked for──> [ main, 90 % ] ──not asked for──> out
 *                        │ not asked for             ^ └──asked for: once more round
 *                        v                           │
 *                    out; ghost ──put again──────────┘ */
#include "base/cache.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/thread.h"
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>

enum {
    SHARDS = 16,
    FIRST_BUCKETS = 256,
    LARGEST_SHARE = 4,  /* an object may be a quarter of a shard */
    ASKED_MAX = 3,      /* counting further would keep yesterday's favourites too long */
    GHOST_BYTES = 1024, /* one fingerprint for so many bytes of limit */
};

struct entry {
    struct cache_key key;
    uint64_t hash;
    struct shared *object;
    struct entry *chain;         /* in its bucket; afterwards in the list of the evicted */
    struct entry *newer, *older; /* in its queue */
    size_t bytes;
    uint8_t asked;
    enum place { BYTES, SMALL, MAIN, PLACES } place;
};

struct queue {
    struct entry *newest, *oldest;
    size_t bytes;
};

struct shard {
    alignas(64) pthread_mutex_t mutex;
    struct entry **buckets;
    size_t bucket_count, count;
    struct queue queues[PLACES];
    uint32_t *ghost; /* fingerprints; a slot is taken over by whoever hashes to it */
    size_t ghost_count;
    size_t limit;
    uint64_t hits, misses, puts, evictions;
};

static struct shard shards[SHARDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void shard_limit(struct shard *shard, size_t limit)
{
    size_t ghosts = 64;
    while (ghosts < limit / GHOST_BYTES)
        ghosts *= 2;
    if (ghosts != shard->ghost_count) {
        free(shard->ghost);
        shard->ghost = mem_zalloc(ghosts * sizeof *shard->ghost);
        shard->ghost_count = ghosts;
    }
    shard->limit = limit;
}

static void init(void)
{
    size_t limit = memory_size() / 8;
    if (limit > (size_t)512 << 20)
        limit = (size_t)512 << 20;
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&shards[i].mutex, NULL);
        shards[i].buckets = mem_zalloc(FIRST_BUCKETS * sizeof *shards[i].buckets);
        shards[i].bucket_count = FIRST_BUCKETS;
        shard_limit(&shards[i], limit / SHARDS);
    }
}

uint32_t cache_space(struct str name)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct map *spaces; /* lives as long as the process: numbers are never used twice */
    pthread_mutex_lock(&mutex);
    if (!spaces)
        spaces = map_new();
    uintptr_t number = (uintptr_t)map_get(spaces, name);
    if (number == 0) {
        number = map_count(spaces) + 1;
        map_put(spaces, name, (void *)number);
    }
    pthread_mutex_unlock(&mutex);
    return (uint32_t)number;
}

static uint64_t key_hash(struct cache_key key)
{
    uint64_t h =
        hash_mix(key.a ^ hash_seed, ((uint64_t)key.space << 32 | key.kind) ^ 0x9e3779b97f4a7c15);
    return hash_mix(h ^ key.b, hash_seed ^ 0xd1b54a32d192ed03);
}

static bool key_eq(struct cache_key x, struct cache_key y)
{
    return x.a == y.a && x.b == y.b && x.space == y.space && x.kind == y.kind;
}

static struct shard *shard_lock(uint64_t hash)
{
    pthread_once(&once, init);
    struct shard *shard = &shards[hash >> 60];
    pthread_mutex_lock(&shard->mutex);
    return shard;
}

/* Where the pointer to KEY's entry is, or the end of its chain. */
static struct entry **entry_find(struct shard *shard, struct cache_key key, uint64_t hash)
{
    struct entry **at = &shard->buckets[hash & (shard->bucket_count - 1)];
    while (*at && ((*at)->hash != hash || !key_eq((*at)->key, key)))
        at = &(*at)->chain;
    return at;
}

static void queue_push(struct queue *queue, struct entry *entry)
{
    entry->newer = NULL;
    entry->older = queue->newest;
    *(queue->newest ? &queue->newest->newer : &queue->oldest) = entry;
    queue->newest = entry;
    queue->bytes += entry->bytes;
}

static void queue_remove(struct queue *queue, struct entry *entry)
{
    *(entry->newer ? &entry->newer->older : &queue->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &queue->oldest) = entry->newer;
    queue->bytes -= entry->bytes;
}

/* Take the entry at *AT out of the shard and put it on the list GONE. */
static void entry_remove(struct shard *shard, struct entry **at, struct entry **gone)
{
    struct entry *entry = *at;
    *at = entry->chain;
    queue_remove(&shard->queues[entry->place], entry);
    shard->count--;
    entry->chain = *gone;
    *gone = entry;
}

static uint32_t *ghost_slot(struct shard *shard, uint64_t hash)
{
    return &shard->ghost[hash & (shard->ghost_count - 1)];
}

/* Never 0, which is an empty slot. */
static uint32_t ghost_print(uint64_t hash)
{
    return (uint32_t)(hash >> 28) | 1;
}

/* Longer than its share of the shard's bytes; the main queue takes what is left. */
static bool is_full(const struct shard *shard, enum place place)
{
    static const size_t shares[PLACES] = {[BYTES] = 16, [SMALL] = 10, [MAIN] = 1};
    return shard->queues[place].bytes > shard->limit / shares[place];
}

/* Whose oldest goes where there is no room. */
static enum place place_to_shorten(const struct shard *shard)
{
    if (is_full(shard, BYTES))
        return BYTES;
    if (is_full(shard, SMALL))
        return SMALL;
    return shard->queues[MAIN].oldest ? MAIN : shard->queues[SMALL].oldest ? SMALL : BYTES;
}

/* Let the oldest of one queue go, or give it another round. Once may be chance where an object is
 * new; who comes by bytes of a file asks for them a few times in a row. */
static void evict_from(struct shard *shard, enum place place, struct entry **gone)
{
    static const uint8_t asked_enough[PLACES] = {[BYTES] = 3, [SMALL] = 2, [MAIN] = 1};
    struct entry *entry = shard->queues[place].oldest;
    if (entry->asked >= asked_enough[place]) {
        queue_remove(&shard->queues[place], entry);
        entry->asked = place == MAIN ? entry->asked - 1 : 0;
        entry->place = MAIN;
        queue_push(&shard->queues[MAIN], entry);
        return;
    }
    if (place != MAIN)
        *ghost_slot(shard, entry->hash) = ghost_print(entry->hash);
    entry_remove(shard, entry_find(shard, entry->key, entry->hash), gone);
    shard->evictions++;
}

static size_t bytes_used(const struct shard *shard)
{
    size_t bytes = 0;
    for (int place = 0; place < PLACES; place++)
        bytes += shard->queues[place].bytes;
    return bytes;
}

static void make_room(struct shard *shard, size_t bytes, struct entry **gone)
{
    while (is_full(shard, BYTES))
        evict_from(shard, BYTES, gone);
    while (shard->count && bytes_used(shard) + bytes > shard->limit)
        evict_from(shard, place_to_shorten(shard), gone);
}

static void buckets_grow(struct shard *shard)
{
    size_t n = shard->bucket_count * 2;
    struct entry **buckets = mem_zalloc(n * sizeof *buckets);
    for (size_t i = 0; i < shard->bucket_count; i++) {
        for (struct entry *entry = shard->buckets[i], *next; entry; entry = next) {
            next = entry->chain;
            entry->chain = buckets[entry->hash & (n - 1)];
            buckets[entry->hash & (n - 1)] = entry;
        }
    }
    free(shard->buckets);
    shard->buckets = buckets;
    shard->bucket_count = n;
}

/* Outside the lock: what an object holds may take long to free. */
static void gone_free(struct entry *gone)
{
    while (gone) {
        struct entry *next = gone->chain;
        shared_unref(gone->object);
        free(gone);
        gone = next;
    }
}

static void *get(struct cache_key key, struct arena *arena, bool counts)
{
    uint64_t hash = key_hash(key);
    struct shard *shard = shard_lock(hash);
    struct entry *entry = *entry_find(shard, key, hash);
    struct shared *object = NULL;
    if (entry) {
        object = shared_ref(entry->object);
        entry->asked += counts && entry->asked < ASKED_MAX;
        shard->hits += counts;
    } else {
        shard->misses += counts;
    }
    pthread_mutex_unlock(&shard->mutex);
    return object ? arena_keep(arena, object) : NULL;
}

void *cache_get(struct cache_key key, struct arena *arena)
{
    return get(key, arena, true);
}

void *cache_peek(struct cache_key key, struct arena *arena)
{
    return get(key, arena, false);
}

static void put(struct cache_key key, struct shared *object, enum place place)
{
    uint64_t hash = key_hash(key);
    struct entry *entry = mem_alloc(sizeof *entry), *gone = NULL;
    *entry = (struct entry){
        .key = key, .hash = hash, .bytes = object->bytes + sizeof *entry, .place = place};
    struct shard *shard = shard_lock(hash);
    struct entry **at = entry_find(shard, key, hash);
    if (*at) {
        entry->asked = (*at)->asked;
        entry->place = (*at)->place;
        entry_remove(shard, at, &gone);
    }
    if (entry->bytes <= shard->limit / LARGEST_SHARE) {
        make_room(shard, entry->bytes, &gone);
        entry->object = shared_ref(object);
        if (*ghost_slot(shard, hash) == ghost_print(hash))
            entry->place = MAIN;
        queue_push(&shard->queues[entry->place], entry);
        if (++shard->count > shard->bucket_count)
            buckets_grow(shard);
        struct entry **bucket = &shard->buckets[hash & (shard->bucket_count - 1)];
        entry->chain = *bucket;
        *bucket = entry;
        shard->puts++;
        entry = NULL;
    }
    pthread_mutex_unlock(&shard->mutex);
    free(entry);
    gone_free(gone);
}

void cache_put(struct cache_key key, struct shared *object)
{
    put(key, object, SMALL);
}

void cache_put_bytes(struct cache_key key, struct shared *object)
{
    put(key, object, BYTES);
}

void cache_remove(struct cache_key key)
{
    uint64_t hash = key_hash(key);
    struct entry *gone = NULL;
    struct shard *shard = shard_lock(hash);
    struct entry **at = entry_find(shard, key, hash);
    if (*at)
        entry_remove(shard, at, &gone);
    pthread_mutex_unlock(&shard->mutex);
    gone_free(gone);
}

void cache_set_limit(size_t bytes)
{
    pthread_once(&once, init);
    for (int i = 0; i < SHARDS; i++) {
        struct entry *gone = NULL;
        pthread_mutex_lock(&shards[i].mutex);
        shard_limit(&shards[i], bytes / SHARDS);
        make_room(&shards[i], 0, &gone);
        pthread_mutex_unlock(&shards[i].mutex);
        gone_free(gone);
    }
}

size_t cache_limit(void)
{
    pthread_once(&once, init);
    size_t limit = 0;
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_lock(&shards[i].mutex);
        limit += shards[i].limit;
        pthread_mutex_unlock(&shards[i].mutex);
    }
    return limit;
}

void cache_stats(struct cache_stats *out)
{
    pthread_once(&once, init);
    *out = (struct cache_stats){0};
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &shards[i];
        pthread_mutex_lock(&shard->mutex);
        out->hits += shard->hits;
        out->misses += shard->misses;
        out->puts += shard->puts;
        out->evictions += shard->evictions;
        out->bytes += bytes_used(shard);
        out->objects += shard->count;
        pthread_mutex_unlock(&shard->mutex);
    }
}

void cache_clear(void)
{
    pthread_once(&once, init);
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &shards[i];
        struct entry *gone = NULL;
        pthread_mutex_lock(&shard->mutex);
        for (size_t k = 0; k < shard->bucket_count; k++) {
            while (shard->buckets[k])
                entry_remove(shard, &shard->buckets[k], &gone);
        }
        memset(shard->ghost, 0, shard->ghost_count * sizeof *shard->ghost);
        pthread_mutex_unlock(&shard->mutex);
        gone_free(gone);
    }
}
