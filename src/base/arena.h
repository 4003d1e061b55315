/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory and references that are released together.
 *
 * An arena belongs to one request or one loop and to one thread at a time; its blocks are charged
 * to the account (account.h) that was the thread's when it was made. Besides bytes
 * it keeps references on shared immutable objects (shared.h): what a function returns "in
 * the arena" is valid until the arena is freed or rewound behind the mark, whatever the
 * cache does meanwhile.
 *
 *     struct arena *scratch = arena_new();
 *     for (...) {
 *         struct arena_mark mark = arena_mark(scratch);
 *         ... everything made in the round ...
 *         arena_rewind(scratch, mark);
 *     }
 *     arena_free(scratch); */
#ifndef VARVE_BASE_ARENA_H
#define VARVE_BASE_ARENA_H

#include "base/err.h"
#include "base/str.h"

struct arena;
struct shared;

struct arena_mark {
    void *chunk;
    size_t used;
    void *keeps;
    size_t total;
};

struct arena *arena_new(void);
void arena_free(struct arena *arena); /* NULL is fine; for AUTO: see arena_auto */

/* N uninitialised / zeroed bytes, aligned for any type. Never NULL. */
void *arena_alloc(struct arena *arena, size_t n) __attribute__((returns_nonnull, malloc));
void *arena_zalloc(struct arena *arena, size_t n) __attribute__((returns_nonnull, malloc));
/* An array of N elements; the product is checked (overflow aborts: callers bound N first). */
void *arena_array(struct arena *arena, size_t n, size_t element_size)
    __attribute__((returns_nonnull));
#define ARENA_NEW(arena, type) ((type *)arena_zalloc((arena), sizeof(type)))

/* Copies; the bytes get a NUL behind them that is not counted. */
struct str arena_str(struct arena *arena, struct str s);
char *arena_cstr(struct arena *arena, struct str s);
struct str arena_printf(struct arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Hand the caller's reference on OBJECT to the arena. Returns OBJECT. */
void *arena_keep(struct arena *arena, struct shared *object);
/* Call FN(ARG) when the arena is freed or rewound, newest first. */
void arena_on_free(struct arena *arena, void (*fn)(void *arg), void *arg);

struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

/* Would EXTRA bytes more be too much for the arena's account (account.h)? Loops over input of
 * unknown size ask once per element. */
struct err *arena_check(const struct arena *arena, size_t extra);
size_t arena_used(const struct arena *arena);
/* Give back what a rewind kept for the next round: a long pause begins. */
void arena_trim(struct arena *arena);

/* __attribute__((cleanup)) helper: AUTO_ARENA(a); declares and frees. */
static inline void arena_auto(struct arena **arena)
{
    arena_free(*arena);
}
#define AUTO_ARENA(name) __attribute__((cleanup(arena_auto))) struct arena *name = arena_new()

#endif
