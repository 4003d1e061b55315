/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the process-wide cache of immutable objects.
 *
 * Keys are what never changes its meaning: (space, kind, a, b). A space is one opened repository's
 * identity (cache_space); kinds are numbered by the layer that puts (fsfs, repo, svn). The cache is
 * sharded by hash, each shard under its own mutex which is held for a few loads and stores only; it
 * is scan-resistant: what is asked for only once leaves first. Memory stays below a limit that is
 * set from the machine's size unless told. */
#ifndef VARVE_BASE_CACHE_H
#define VARVE_BASE_CACHE_H

#include "base/arena.h"
#include "base/shared.h"
#include <stdint.h>

struct cache_key {
    uint32_t space; /* from cache_space */
    uint32_t kind;
    uint64_t a, b;
};

/* The number of the space called NAME (a repository's instance id and path): equal names get equal
 * numbers. */
uint32_t cache_space(struct str name);

/* The object, with the reference handed to ARENA; NULL where the cache has none. */
void *cache_get(struct cache_key key, struct arena *arena);
/* The same, but it does not count as asked for: to see what is at hand. */
void *cache_peek(struct cache_key key, struct arena *arena);
/* Offer OBJECT; the cache takes its own reference or declines (too large, admission). The caller's
 * stays the caller's. */
void cache_put(struct cache_key key, struct shared *object);
/* The same for bytes of a file, which are soon read again: unless they are asked for more than
 * twice they stay for a while only, however much room there is. */
void cache_put_bytes(struct cache_key key, struct shared *object);
void cache_remove(struct cache_key key);

/* The option -M; by default an eighth of the machine's memory, at most 512 MiB. */
void cache_set_limit(size_t bytes);
size_t cache_limit(void);

struct cache_stats {
    uint64_t hits, misses, puts, evictions;
    size_t bytes, objects;
};
void cache_stats(struct cache_stats *out);
void cache_clear(void); /* everything out; for tests and for leak checks at exit */

#endif
