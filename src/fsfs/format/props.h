/* SPDX-License-Identifier: Apache-2.0 */
/* props.h - property lists, and the hash dump that stores them.
 *
 *   { "K " keylen LF key LF "V " vallen LF value LF }* "END" LF
 *
 * A list is sorted by name in byte order; names are unique. */
#ifndef VARVE_FSFS_FORMAT_PROPS_H
#define VARVE_FSFS_FORMAT_PROPS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/shared.h"

struct prop {
    struct str name, value;
};
struct props {
    struct shared shared;
    size_t n;
    struct prop *list; /* sorted by name */
};

/* One hash dump from *POS on, ended by TERMINATOR ("END", "PROPS-END"); *POS moves behind it. Pure.
 * Views point into TEXT; the array is in ARENA, sorted. DELETED (may be NULL: then a "D" record is
 * an error) receives the names of D records, sorted. Of several records for one name the last
 * counts. An empty TERMINATOR: up to the end of TEXT (the increments of a transaction's .children).
 * Errors: E_MALFORMED_FILE. */
struct err *hashdump_parse(struct prop **list, size_t *n, struct str **deleted, size_t *deleted_n,
                           struct str text, size_t *pos, struct str terminator,
                           struct arena *arena);
void hashdump_format(struct buf *out, const struct prop *list, size_t n, struct str terminator);

/* A shared list of the dump TEXT (copied). */
struct err *props_parse(struct props **out, struct str text);
struct props *props_new(const struct prop *list, size_t n); /* copies; sorts */
/* A copy of FROM in the FROM->shared.bytes bytes at TO, which is aligned for it: no shared object
 * of its own, but a part of one. */
struct props *props_place(void *to, const struct props *from);
const struct str *props_get(const struct props *props,
                            struct str name); /* NULL where absent; PROPS may be NULL */

/* A mutable list in an arena: for those who build or change one. */
struct proplist {
    struct prop *list; /* sorted */
    size_t n, cap;
    struct arena *arena;
};
void proplist_init(struct proplist *pl, const struct props *from,
                   struct arena *arena); /* FROM may be NULL; views into it stay views */
void proplist_set(struct proplist *pl, struct str name,
                  const struct str *value); /* copies; NULL removes */
const struct str *proplist_get(const struct proplist *pl, struct str name);

/* The difference A -> B: entries in name order, value.p == NULL for a removed one. */
struct prop *props_diff(size_t *n, const struct props *a, const struct props *b,
                        struct arena *arena);

#endif
