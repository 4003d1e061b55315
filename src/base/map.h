/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - the hash map: byte strings to pointers. Keys are copied into the map.
 * Iteration order is unspecified; map_sorted gives byte order where output must be stable. */
#ifndef VARVE_BASE_MAP_H
#define VARVE_BASE_MAP_H

#include "base/arena.h"

struct map;

struct map *map_new(void);
/* A map that lives in ARENA, keys included, and goes with it (never map_free): for the many that
 * stay small. What it outgrows, and keys that are removed, stay there. */
struct map *map_new_in(struct arena *arena);
void map_free(struct map *map, void (*free_value)(void *)); /* free_value may be NULL */
void *map_get(const struct map *map, struct str key);       /* NULL where absent */
/* VALUE is not NULL; returns the value that it replaces, or NULL. */
void *map_put(struct map *map, struct str key, void *value);
/* Returns the value removed, or NULL. */
void *map_remove(struct map *map, struct str key);
size_t map_count(const struct map *map);

/* Cursor: size_t pos = 0; while (map_next(map, &pos, &key, &value)) ... ; no changes meanwhile. */
bool map_next(const struct map *map, size_t *pos, struct str *key, void **value);

/* All keys in byte order, in ARENA; they point into the map. */
struct str *map_sorted(const struct map *map, size_t *count, struct arena *arena);

#endif
