/* SPDX-License-Identifier: Apache-2.0 */
#include "store/repcache.h"
#include "store/ops.h"

struct err *repcache_find(struct repcache_row *out, bool *found, struct store *store,
                          const uint8_t sha1[SHA1_SIZE])
{
    return store->ops->repcache_find(out, found, store, sha1);
}

void repcache_offer(struct store *store, const struct repcache_row *rows, size_t n)
{
    store->ops->repcache_offer(store, rows, n);
}

void repcache_hold(struct store *store, const struct repcache_row *rows, size_t n)
{
    store->ops->repcache_hold(store, rows, n);
}

void repcache_release(struct store *store)
{
    store->ops->repcache_release(store);
}

void repcache_forget(struct store *store)
{
    store->ops->repcache_forget(store);
}

struct err *repcache_flush(struct store *store)
{
    return store->ops->repcache_flush(store);
}

bool repcache_exists(struct store *store)
{
    return store->ops->repcache_exists(store);
}

struct err *repcache_each(struct store *store,
                          struct err *(*fn)(void *arg, const struct repcache_row *row), void *arg)
{
    return store->ops->repcache_each(store, fn, arg);
}
