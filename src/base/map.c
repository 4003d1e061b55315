/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; entries move back when one is removed, so that there are no
 * tombstones. Keys stand in an arena, made anew when most of it belongs to removed ones. */
#include "base/map.h"
#include "base/account.h"
#include "base/buf.h"
#include "base/hash.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

struct slot {
    uint64_t hash;
    struct str key;
    void *value; /* NULL: free */
};

struct map {
    struct slot *slots;
    size_t mask; /* number of slots - 1, a power of two - 1 */
    size_t count;
    struct arena *keys;
    bool in_arena;           /* all of it is in KEYS */
    size_t removed_bytes;    /* of keys that nobody refers to */
    struct account *account; /* of the slots; NULL: nobody counts */
};

enum { FIRST_SLOTS = 16, FIRST_SLOTS_IN_ARENA = 4 };

static void slots_new(struct map *map, size_t n)
{
    map->mask = n - 1;
    if (map->in_arena) {
        map->slots = arena_zalloc(map->keys, n * sizeof *map->slots);
        return;
    }
    map->slots = mem_zalloc(n * sizeof *map->slots);
    account_charge(map->account, n * sizeof *map->slots);
}

static void slots_free(struct map *map, struct slot *slots, size_t n)
{
    if (map->in_arena)
        return;
    account_credit(map->account, n * sizeof *slots);
    free(slots);
}

struct map *map_new(void)
{
    struct map *map = mem_alloc(sizeof *map);
    *map = (struct map){.keys = arena_new(), .account = account_current};
    slots_new(map, FIRST_SLOTS);
    return map;
}

struct map *map_new_in(struct arena *arena)
{
    struct map *map = arena_alloc(arena, sizeof *map);
    *map = (struct map){.keys = arena, .in_arena = true};
    slots_new(map, FIRST_SLOTS_IN_ARENA);
    return map;
}

void map_free(struct map *map, void (*free_value)(void *))
{
    if (!map)
        return;
    for (size_t i = 0; free_value && i <= map->mask; i++) {
        if (map->slots[i].value)
            free_value(map->slots[i].value);
    }
    arena_free(map->keys);
    slots_free(map, map->slots, map->mask + 1);
    free(map);
}

/* The slot that holds KEY, or the free one where it would go. */
static struct slot *slot_find(const struct map *map, struct str key, uint64_t hash)
{
    for (size_t i = hash & map->mask;; i = (i + 1) & map->mask) {
        struct slot *slot = &map->slots[i];
        if (!slot->value || (slot->hash == hash && str_eq(slot->key, key)))
            return slot;
    }
}

void *map_get(const struct map *map, struct str key)
{
    return slot_find(map, key, hash_bytes(key))->value;
}

static void slots_grow(struct map *map)
{
    struct slot *old = map->slots;
    size_t n = map->mask + 1;
    slots_new(map, 2 * n);
    for (size_t k = 0; k < n; k++) {
        if (!old[k].value)
            continue;
        size_t i = old[k].hash & map->mask;
        while (map->slots[i].value)
            i = (i + 1) & map->mask;
        map->slots[i] = old[k];
    }
    slots_free(map, old, n);
}

/* A new arena with the keys that are still in use. */
static void keys_compact(struct map *map)
{
    struct account *removers = account_enter(map->account);
    struct arena *keys = arena_new();
    account_enter(removers);
    for (size_t i = 0; i <= map->mask; i++) {
        if (map->slots[i].value)
            map->slots[i].key = arena_str(keys, map->slots[i].key);
    }
    arena_free(map->keys);
    map->keys = keys;
    map->removed_bytes = 0;
}

void *map_put(struct map *map, struct str key, void *value)
{
    assert(value);
    uint64_t hash = hash_bytes(key);
    struct slot *slot = slot_find(map, key, hash);
    if (slot->value) {
        void *before = slot->value;
        slot->value = value;
        return before;
    }
    if ((map->count + 1) * 4 > (map->mask + 1) * 3) {
        slots_grow(map);
        slot = slot_find(map, key, hash);
    }
    *slot = (struct slot){hash, arena_str(map->keys, key), value};
    map->count++;
    return NULL;
}

void *map_remove(struct map *map, struct str key)
{
    struct slot *slot = slot_find(map, key, hash_bytes(key));
    if (!slot->value)
        return NULL;
    void *value = slot->value;
    map->removed_bytes += slot->key.n + 16;
    size_t hole = (size_t)(slot - map->slots);
    for (size_t i = (hole + 1) & map->mask; map->slots[i].value; i = (i + 1) & map->mask) {
        /* Whoever's home is not behind the hole may fill it. */
        size_t home = map->slots[i].hash & map->mask;
        if (((i - home) & map->mask) >= ((i - hole) & map->mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].value = NULL;
    map->count--;
    if (!map->in_arena && map->removed_bytes > 65536 &&
        map->removed_bytes > arena_used(map->keys) / 2)
        keys_compact(map);
    return value;
}

size_t map_count(const struct map *map)
{
    return map->count;
}

bool map_next(const struct map *map, size_t *pos, struct str *key, void **value)
{
    for (; *pos <= map->mask; ++*pos) {
        const struct slot *slot = &map->slots[*pos];
        if (slot->value) {
            *key = slot->key;
            *value = slot->value;
            ++*pos;
            return true;
        }
    }
    return false;
}

static int cmp_keys(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str *map_sorted(const struct map *map, size_t *count, struct arena *arena)
{
    struct str *keys = arena_array(arena, map->count, sizeof *keys);
    size_t n = 0, pos = 0;
    void *value;
    struct str key;
    while (map_next(map, &pos, &key, &value))
        keys[n++] = key;
    qsort(keys, n, sizeof *keys, cmp_keys);
    *count = n;
    return keys;
}
