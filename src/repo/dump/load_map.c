/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/vec.h"
#include "repo/dump/load_int.h"
#include <stdlib.h>

/* Forget what is between the revision added last and OLD_REV. */
static void forget_gap(struct rev_map *map, revnum old_rev)
{
    size_t to = map->n, from;
    while (to && map->list[to - 1].old_rev >= old_rev)
        to--;
    for (from = to; from && map->list[from - 1].old_rev > map->last;)
        from--;
    memmove(map->list + from, map->list + to, (map->n - to) * sizeof *map->list);
    map->n -= to - from;
}

void rev_map_add(struct rev_map *map, revnum old_rev, revnum new_rev)
{
    if (map->n && old_rev > map->last)
        forget_gap(map, old_rev);
    map->last = old_rev;
    size_t at = map->n;
    while (at && map->list[at - 1].old_rev > old_rev) /* streams are in order, nearly always */
        at--;
    if (at && map->list[at - 1].old_rev == old_rev) {
        map->list[at - 1].new_rev = new_rev;
        return;
    }
    VEC_ADD(map);
    memmove(map->list + at + 1, map->list + at, (map->n - 1 - at) * sizeof *map->list);
    map->list[at] = (struct rev_pair){old_rev, new_rev};
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
    if (low == map->n)
        return REV_NONE;
    if (map->list[low].old_rev == old_rev)
        return map->list[low].new_rev;
    return low ? map->list[low - 1].old_rev : REV_NONE;
}

void rev_map_free(struct rev_map *map)
{
    free(map->list);
    *map = (struct rev_map){0};
}
