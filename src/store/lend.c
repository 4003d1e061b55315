/* SPDX-License-Identifier: Apache-2.0 */
/* Revisions of a batch that is in the making, read before they are published; see store.h.
 *
 * Only the thread that lends sees them: to all others a revision above the head does not exist, and
 * no body outlives its draft. */
#include "store/posix_int.h"

#include <stdlib.h>

struct lent {
    struct lent *next;
    struct body *body;
};

/* Not a number that a file's identity gives, but for an accident of 1 in 2^64. */
static uint64_t identity_next(void)
{
    static atomic_ullong count;
    return 0xd1b54a32d192ed03u * (atomic_fetch_add(&count, 1) + 1);
}

void store_lend(struct store *store, revnum rev, struct draft *draft)
{
    struct body *body = mem_zalloc(sizeof *body);
    shared_init(&body->shared, sizeof *body, shared_free_plain);
    body->store = store;
    body->first_rev = rev;
    body->size = draft_size(draft);
    body->identity = identity_next();
    body->fd = -1;
    body->draft = draft;
    struct lent *lent = mem_alloc(sizeof *lent);
    *lent = (struct lent){store->lent, body};
    store->lent = lent;
    atomic_store_explicit(&store->lender, pthread_self(), memory_order_relaxed);
    atomic_store_explicit(&store->lends, true, memory_order_release);
}

void store_unlend(struct store *store)
{
    atomic_store_explicit(&store->lends, false, memory_order_release);
    while (store->lent) {
        struct lent *lent = store->lent;
        store->lent = lent->next;
        shared_unref(lent->body);
        free(lent);
    }
}

struct body *lent_find(struct store *store, revnum rev)
{
    if (!atomic_load_explicit(&store->lends, memory_order_acquire) ||
        !pthread_equal(atomic_load_explicit(&store->lender, memory_order_relaxed), pthread_self()))
        return NULL;
    for (const struct lent *lent = store->lent; lent; lent = lent->next)
        if (lent->body->first_rev == rev)
            return shared_ref(lent->body);
    return NULL;
}

struct err *lent_read(const struct body *body, const struct span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        TRY(draft_reread(body->draft, spans[i].offset, spans[i].to, spans[i].n));
    return NULL;
}
