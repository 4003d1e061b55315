/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared.h"
#include "base/buf.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

void shared_init(struct shared *self, size_t bytes, void (*destroy)(struct shared *))
{
    atomic_init(&self->refs, 1);
    atomic_init(&self->pins, 0);
    self->destroy = destroy;
    self->bytes = bytes;
}

void *shared_ref(void *object)
{
    struct shared *self = object;
    atomic_fetch_add_explicit(&self->refs, 1, memory_order_relaxed);
    return object;
}

void shared_unref(void *object)
{
    struct shared *self = object;
    if (!self)
        return;
    unsigned before = atomic_fetch_sub_explicit(&self->refs, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before == 1)
        self->destroy(self);
}

void shared_free_plain(struct shared *self)
{
    free(self);
}

struct blob *blob_new(size_t n)
{
    size_t bytes;
    if (__builtin_add_overflow(n, sizeof(struct blob) + 1, &bytes))
        bytes = SIZE_MAX; /* more than there is: mem_alloc reports it */
    struct blob *blob = mem_alloc(bytes);
    shared_init(&blob->shared, bytes, shared_free_plain);
    blob->n = n;
    blob->bytes[n] = '\0';
    return blob;
}

struct blob *blob_copy(struct str s)
{
    struct blob *blob = blob_new(s.n);
    if (s.n)
        memcpy(blob->bytes, s.p, s.n);
    return blob;
}
