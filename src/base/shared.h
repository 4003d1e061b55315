/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - reference-counted immutable objects, and blobs, the plainest of them.
 *
 * A type that is to be shared starts with a `struct shared` and sets `destroy`. After it has
 * been handed to anybody else it never changes. Counting is atomic: any thread may hold one. */
#ifndef VARVE_BASE_SHARED_H
#define VARVE_BASE_SHARED_H

#include "base/str.h"
#include <stdatomic.h>

struct shared {
    atomic_uint refs;
    void (*destroy)(struct shared *self); /* frees SELF */
    size_t bytes;                         /* what it costs in memory, for the cache */
    atomic_uint pins;                     /* of the references those of accounts (account.h) */
};

/* One reference, for the caller. */
void shared_init(struct shared *self, size_t bytes, void (*destroy)(struct shared *));
void *shared_ref(void *object);              /* another reference; returns OBJECT */
void shared_unref(void *object);             /* give one back; NULL is fine */
void shared_free_plain(struct shared *self); /* a `destroy` for objects that are one malloc block */
/* Where PLACE, in the block that begins at FROM, is in the copy of that block at TO. */
static inline void *shared_place(void *to, const void *from, const void *place)
{
    return (char *)to + ((const char *)place - (const char *)from);
}

struct blob {
    struct shared shared;
    size_t n;
    char bytes[]; /* N bytes and a NUL that is not counted */
};

/* A blob to be filled in by the caller before it is shared. */
struct blob *blob_new(size_t n);
struct blob *blob_copy(struct str s);
static inline struct str blob_str(const struct blob *blob)
{
    return (struct str){blob->bytes, blob->n};
}

#endif
