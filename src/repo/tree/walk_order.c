/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/tree/walk_order.h"

#include <stdint.h>

enum { FIRST_BUCKETS = 16 };

struct table {
    size_t *first;    /* by bucket: index + 1 of the chain's first entry; 0: none */
    size_t *next;     /* by entry, likewise */
    uint32_t *hashes; /* by entry */
    size_t buckets;
    struct arena *arena;
};

/* Four bytes at a time as a little-endian number, whose upper bits are mixed in lower down; then
 * the rest byte by byte. */
static uint32_t hash_of(struct str name)
{
    uint32_t hash = 0;
    for (; name.n >= 4; name = str_skip(name, 4)) {
        const unsigned char *p = (const unsigned char *)name.p;
        uint32_t chunk = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        hash = hash * (33 * 33 * 33 * 33) + chunk + (chunk >> 17);
    }
    for (size_t i = 0; i < name.n; i++)
        hash = hash * 33 + (unsigned char)name.p[i];
    return hash;
}

/* New entries go to the end of their chain. */
static void insert(struct table *t, size_t entry)
{
    size_t *link = &t->first[t->hashes[entry] & (t->buckets - 1)];
    while (*link)
        link = &t->next[*link - 1];
    *link = entry + 1;
    t->next[entry] = 0;
}

/* On growing, entries are taken in walking order and each put before its new chain. */
static void grow(struct table *t)
{
    size_t *old = t->first, old_buckets = t->buckets;
    t->buckets *= 2;
    t->first = arena_zalloc(t->arena, t->buckets * sizeof *t->first);
    for (size_t b = 0; b < old_buckets; b++) {
        for (size_t at = old[b], after; at; at = after) {
            after = t->next[at - 1];
            size_t *chain = &t->first[t->hashes[at - 1] & (t->buckets - 1)];
            t->next[at - 1] = *chain;
            *chain = at;
        }
    }
}

const struct dirent_fs **walk_order(const struct dirent_fs *list, size_t n, struct arena *arena)
{
    struct table t = {.buckets = FIRST_BUCKETS, .arena = arena};
    const struct dirent_fs **order = arena_array(arena, n + 1, sizeof *order);
    t.first = arena_zalloc(arena, t.buckets * sizeof *t.first);
    t.next = arena_array(arena, n + 1, sizeof *t.next);
    t.hashes = arena_array(arena, n + 1, sizeof *t.hashes);
    for (size_t i = 0; i < n; i++) {
        t.hashes[i] = hash_of(list[i].name);
        insert(&t, i);
        if (i + 1 > t.buckets - 1)
            grow(&t);
    }
    size_t count = 0;
    for (size_t b = 0; b < t.buckets; b++)
        for (size_t at = t.first[b]; at; at = t.next[at - 1])
            order[count++] = &list[at - 1];
    return order;
}
