/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include "base/buf.h"

#include <string.h>

enum {
    FIRST = 16,
    FIRST_IN_ARENA = 4
}; /* elements to begin with: those in arenas often stay few */

static size_t larger(size_t *cap, size_t first, size_t size)
{
    *cap = *cap ? 2 * *cap : first;
    return *cap * size;
}

void *vec_grow(void *array, size_t *cap, size_t size)
{
    return mem_realloc(array, larger(cap, FIRST, size));
}

void *vec_grow_in(struct arena *arena, const void *array, size_t *cap, size_t size)
{
    const size_t used = *cap * size;
    void *grown = arena_alloc(arena, larger(cap, FIRST_IN_ARENA, size));
    return used ? memcpy(grown, array, used) : grown;
}

void *vec_grow_from(const void *inside, void *array, size_t *cap, size_t size)
{
    const size_t used = *cap * size, wanted = larger(cap, FIRST, size);
    return array == inside ? memcpy(mem_alloc(wanted), inside, used) : mem_realloc(array, wanted);
}
