/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "repo/load_int.h"
#include <stdlib.h>

void rev_map_add(struct rev_map *map, revnum old_rev, revnum new_rev)
{
    if (map->n == map->cap) {
        map->cap = map->cap ? 2 * map->cap : 1024;
        map->list = mem_realloc(map->list, map->cap * sizeof *map->list);
    }
    size_t at = map->n;
    while (at && map->list[at - 1].old_rev > old_rev) /* streams are in order, nearly always */
        at--;
    memmove(map->list + at + 1, map->list + at, (map->n - at) * sizeof *map->list);
    map->list[at] = (struct rev_pair){old_rev, new_rev};
    map->n++;
}

revnum rev_map_find(const struct rev_map *map, revnum old_rev)
{
    size_t low = 0, high = map->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->list[middle].old_rev < old_rev)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->n && map->list[low].old_rev == old_rev ? map->list[low].new_rev : REV_NONE;
}

void rev_map_free(struct rev_map *map)
{
    free(map->list);
    *map = (struct rev_map){0};
}
