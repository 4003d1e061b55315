/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/account.h"
#include "base/buf.h"
#include "base/shared.h"
#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ALIGN = 16,
    FIRST_CHUNK = 4 * 1024,     /* one page: most requests are small */
    LARGEST_CHUNK = 256 * 1024, /* growth stops here, so that at most this much lies idle */
    PIN_FROM = 1024,        /* bytes of an object from which on the account hears of it by itself */
    SMALL_STEP = 16 * 1024, /* it hears of smaller ones, which are many, after so many bytes */
};

/* Under AddressSanitizer each allocation is a chunk of its own, of exactly its size: the sanitizer
 * sees what reaches past its end, and what uses it after a rewind. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define APART 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define APART 1
#endif
#ifndef APART
#define APART 0
#endif

/* The bytes of a chunk follow its header:  [struct chunk, padded][used ......|free ....] */
struct chunk {
    struct chunk *before;
    size_t cap;  /* bytes behind the header */
    size_t used; /* filled in when the arena moves on to the next chunk */
};

enum { HEADER = (sizeof(struct chunk) + ALIGN - 1) / ALIGN * ALIGN };

/* What the account hears of a chunk beside its bytes. Under the sanitizer small allocations would
 * otherwise cost it several times what they cost elsewhere. */
enum { OVERHEAD = APART ? 0 : HEADER };

/* What must be called or released at the end; lives in the arena itself, newest first. */
struct keep {
    struct keep *older;
    void (*fn)(void *arg); /* NULL: ARG is a shared object */
    void *arg;
};

struct arena {
    char *next; /* the first free byte */
    char *end;  /* behind the last byte of the chunk */
    struct chunk *chunk;
    struct keep *keeps;
    size_t before; /* bytes used in the chunks before this one */
    struct chunk *
        spare; /* the largest chunk that a rewind gave back: loops do not go to malloc each round */
    struct account *account; /* NULL: nobody counts */
    ptrdiff_t small_left;    /* bytes of small objects that may be kept before more is charged */
    size_t small_charged;
    alignas(ALIGN) struct chunk first;
};

static char *chunk_bytes(struct chunk *chunk)
{
    return (char *)chunk + HEADER;
}

static void chunk_enter(struct arena *arena, struct chunk *chunk, size_t used)
{
    arena->chunk = chunk;
    arena->next = chunk_bytes(chunk) + used;
    arena->end = chunk_bytes(chunk) + chunk->cap;
}

struct arena *arena_new(void)
{
    struct arena *arena = mem_alloc(FIRST_CHUNK);
    *arena = (struct arena){.account = account_current, .small_left = SMALL_STEP};
    account_charge(arena->account, FIRST_CHUNK);
    size_t start = offsetof(struct arena, first) + HEADER;
    arena->first.cap = APART ? 0 : FIRST_CHUNK - start;
    chunk_enter(arena, &arena->first, 0);
    return arena;
}

static size_t used_here(const struct arena *arena)
{
    return (size_t)(arena->next - chunk_bytes(arena->chunk));
}

static void small_charge(struct arena *arena)
{
    account_charge(arena->account, SMALL_STEP);
    arena->small_charged += SMALL_STEP;
    arena->small_left += SMALL_STEP;
}

static void small_credit(struct arena *arena)
{
    account_credit(arena->account, SMALL_STEP);
    arena->small_charged -= SMALL_STEP;
    arena->small_left -= SMALL_STEP;
}

static inline void pin(struct arena *arena, struct shared *object)
{
    size_t bytes = object->bytes;
    if (!arena->account)
        return;
    if (bytes >= PIN_FROM)
        account_pin(arena->account, object);
    else if ((arena->small_left -= (ptrdiff_t)bytes) < 0)
        small_charge(arena);
}

static inline void unpin(struct arena *arena, struct shared *object)
{
    size_t bytes = object->bytes;
    if (!arena->account)
        return;
    if (bytes >= PIN_FROM)
        account_unpin(arena->account, object);
    else if ((arena->small_left += (ptrdiff_t)bytes) > 2 * SMALL_STEP)
        small_credit(arena);
}

static void keeps_release(struct arena *arena, struct keep *until)
{
    while (arena->keeps != until) {
        struct keep *keep = arena->keeps;
        arena->keeps = keep->older;
        if (!keep->fn) { /* an object */
            unpin(arena, keep->arg);
            shared_unref(keep->arg);
        } else {
            keep->fn(keep->arg);
        }
    }
}

static void chunk_free(struct arena *arena, struct chunk *chunk)
{
    if (!chunk)
        return;
    account_credit(arena->account, OVERHEAD + chunk->cap);
    free(chunk);
}

/* Leave the newest chunk, which is not the first. */
static void chunk_drop(struct arena *arena)
{
    struct chunk *chunk = arena->chunk;
    arena->chunk = chunk->before;
    arena->before -= arena->chunk->used;
    if (!APART && chunk->cap <= LARGEST_CHUNK &&
        (!arena->spare || arena->spare->cap < chunk->cap)) {
        chunk_free(arena, arena->spare);
        arena->spare = chunk;
    } else {
        chunk_free(arena, chunk);
    }
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    keeps_release(arena, NULL);
    while (arena->chunk != &arena->first)
        chunk_drop(arena);
    chunk_free(arena, arena->spare);
    account_credit(arena->account, FIRST_CHUNK + arena->small_charged);
    free(arena);
}

/* Room for N bytes (a multiple of ALIGN, unless APART) where the current chunk has none. */
static void *alloc_slowly(struct arena *arena, size_t n)
{
    arena->chunk->used = used_here(arena);
    struct chunk *chunk = arena->spare;
    if (chunk && chunk->cap >= n) {
        arena->spare = NULL;
    } else {
        size_t cap = APART ? n : arena->chunk->cap * 2;
        if (cap > LARGEST_CHUNK)
            cap = LARGEST_CHUNK;
        if (cap < n)
            cap = n;
        chunk = mem_alloc(HEADER + cap);
        chunk->cap = cap;
        account_charge(arena->account, OVERHEAD + cap);
    }
    arena->before += arena->chunk->used;
    chunk->before = arena->chunk;
    chunk_enter(arena, chunk, n);
    return chunk_bytes(chunk);
}

void *arena_alloc(struct arena *arena, size_t n)
{
    if (n > SIZE_MAX / 2) { /* never from input: callers bound sizes first */
        fprintf(stderr, "varve: allocation of %zu bytes\n", n);
        abort();
    }
    if (!APART)
        n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (n > (size_t)(arena->end - arena->next))
        return alloc_slowly(arena, n);
    void *p = arena->next;
    arena->next += n;
    return p;
}

void *arena_zalloc(struct arena *arena, size_t n)
{
    return memset(arena_alloc(arena, n), 0, n);
}

void *arena_array(struct arena *arena, size_t n, size_t element_size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, element_size, &bytes))
        bytes = SIZE_MAX; /* arena_alloc aborts */
    return arena_alloc(arena, bytes);
}

char *arena_cstr(struct arena *arena, struct str s)
{
    char *p = arena_alloc(arena, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

struct str arena_str(struct arena *arena, struct str s)
{
    return str_make(arena_cstr(arena, s), s.n);
}

struct str arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    /* Mostly the text fits into what is left of the chunk, and is written only once. */
    size_t room = (size_t)(arena->end - arena->next);
    int n = vsnprintf(room ? arena->next : NULL, room, fmt, args);
    va_end(args);
    size_t length = n > 0 ? (size_t)n : 0;
    char *p = arena_alloc(arena, length + 1);
    if (length >= room)
        vsnprintf(p, length + 1, fmt, again);
    va_end(again);
    p[length] = '\0';
    return str_make(p, length);
}

void arena_on_free(struct arena *arena, void (*fn)(void *arg), void *arg)
{
    struct keep *keep = arena_alloc(arena, sizeof *keep);
    *keep = (struct keep){arena->keeps, fn, arg};
    arena->keeps = keep;
}

void *arena_keep(struct arena *arena, struct shared *object)
{
    pin(arena, object);
    arena_on_free(arena, NULL, object);
    return object;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){
        .chunk = arena->chunk,
        .used = used_here(arena),
        .keeps = arena->keeps,
        .total = arena->before,
    };
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    keeps_release(arena, mark.keeps);
    while (arena->chunk != mark.chunk) {
        assert(arena->chunk != &arena->first);
        chunk_drop(arena);
    }
    assert(arena->before == mark.total);
    chunk_enter(arena, mark.chunk, mark.used);
}

size_t arena_used(const struct arena *arena)
{
    return arena->before + used_here(arena);
}

struct err *arena_check(const struct arena *arena, size_t extra)
{
    return account_check_more(arena->account, extra);
}

void arena_trim(struct arena *arena)
{
    chunk_free(arena, arena->spare);
    arena->spare = NULL;
}
