/* SPDX-License-Identifier: Apache-2.0 */
/* From the functions of store.h to the operations of the store at hand; and what is
 * the same for every kind of store. */
#include "store/ops.h"

#include <stdatomic.h>

/* ---- the store ---- */

void store_close(struct store *store)
{
    if (store)
        store->ops->dispose(store);
}

void store_set_flush(struct store *store, bool flush)
{
    store->ops->set_flush(store, flush);
}

struct err *store_look(enum store_look *out, const struct store *store)
{
    return store->ops->look(out, store);
}

struct err *store_check_itself(const struct store *store)
{
    enum store_look seen;
    TRY(store->ops->look(&seen, store));
    if (seen == STORE_GONE)
        return err_make(E_FS_GENERAL, "The repository that was opened is no longer there");
    if (seen == STORE_REPLACED)
        return err_make(
            E_FS_GENERAL,
            "Another repository is in the place of the one that was opened; open it again");
    return NULL;
}

struct err *store_create(struct store *store)
{
    return store->ops->create(store);
}

struct err *store_head(struct head *out, struct store *store)
{
    return store->ops->head(out, store);
}

void store_forget(struct store *store)
{
    store->ops->forget(store);
}

struct err *store_min_unpacked(revnum *out, struct store *store)
{
    return store->ops->min_unpacked(out, store);
}

/* ---- bodies ---- */

struct err *store_body(struct body **out, struct store *store, revnum rev, struct arena *arena)
{
    return store->ops->body(out, store, rev, arena);
}

struct err *body_read(struct body *body, const struct span *spans, size_t count)
{
    if (!body->draft)
        return body->store->ops->body_read(body, spans, count);
    for (size_t i = 0; i < count; i++)
        TRY(draft_reread(body->draft, spans[i].offset, spans[i].to, spans[i].n));
    return NULL;
}

void body_prefetch(struct body *body, const struct span *spans, size_t count)
{
    if (!body->draft)
        body->store->ops->body_prefetch(body, spans, count);
}

struct str body_name(const struct body *body, struct arena *arena)
{
    const int64_t shard_size = body->store->layout.shard_size;
    const long long rev = body->first_rev;
    if (shard_size == 0)
        return arena_printf(arena, "revs/%lld", rev);
    return body->packed ? arena_printf(arena, "revs/%lld.pack/pack", rev / (long long)shard_size)
                        : arena_printf(arena, "revs/%lld/%lld", rev / (long long)shard_size, rev);
}

struct err *body_manifest(struct buf *out, struct body *body)
{
    return body->store->ops->body_manifest(out, body);
}

/* ---- drafts ---- */

struct err *draft_begin(struct draft **out, struct store *store, struct str name)
{
    return store->ops->draft_begin(out, store, name);
}

struct err *draft_append(struct draft *draft, struct str bytes)
{
    return draft->store->ops->draft_append(draft, bytes);
}

struct err *draft_reread(struct draft *draft, uint64_t offset, void *to, size_t n)
{
    if (offset > draft->size || n > draft->size - offset)
        return err_make(E_FS_CORRUPT,
                        "%zu bytes at offset %llu are not in the %llu bytes of transaction '%s'", n,
                        (unsigned long long)offset, (unsigned long long)draft->size, draft->name);
    return draft->store->ops->draft_reread(draft, offset, to, n);
}

struct err *draft_truncate(struct draft *draft, uint64_t size)
{
    return size < draft->size ? draft->store->ops->draft_truncate(draft, size) : NULL;
}

void draft_start_sync(struct draft *draft)
{
    draft->store->ops->draft_start_sync(draft);
}

struct err *draft_show(struct draft *draft, struct str txn)
{
    return draft->store->ops->draft_show(draft, txn);
}

/* Not a number that the identity of something published gives, but for an accident of 1 in 2^64. */
static uint64_t identity_next(void)
{
    static atomic_ullong count;
    return 0xd1b54a32d192ed03u * (atomic_fetch_add(&count, 1) + 1);
}

struct body *draft_body(struct draft *draft, revnum rev, struct arena *arena)
{
    struct body *body = mem_zalloc(sizeof *body);
    shared_init(&body->shared, sizeof *body, shared_free_plain);
    body->store = draft->store;
    body->first_rev = rev;
    body->size = draft->size;
    body->identity = identity_next();
    body->draft = draft;
    arena_keep(arena, &body->shared);
    return body;
}

void draft_drop(struct draft *draft)
{
    if (draft)
        draft->store->ops->draft_drop(draft);
}

/* ---- publish ---- */

struct err *store_publish(revnum *durable, struct store *store, const struct publication *batch,
                          size_t count)
{
    return store->ops->publish(durable, store, batch, count);
}

struct err *store_stage(struct store *store, const struct publication *one)
{
    return store->ops->stage(store, one);
}

struct err *store_publish_staged(revnum *durable, struct store *store)
{
    return store->ops->publish(durable, store, NULL, 0);
}

struct err *store_put_pack(struct store *store, int64_t shard, struct draft *pack,
                           struct str manifest)
{
    return store->ops->put_pack(store, shard, pack, manifest);
}

struct err *store_drop_shard(struct store *store, int64_t shard, bool revprops_too)
{
    return store->ops->drop_shard(store, shard, revprops_too);
}

struct err *store_txn_numbers(uint64_t *first, struct store *store, revnum base, uint64_t count)
{
    return store->ops->txn_numbers(first, store, base, count);
}

/* ---- records ---- */

struct err *record_get(struct buf *out, bool *found, struct store *store, struct record_key key)
{
    return store->ops->record_get(out, found, store, key);
}

void record_prefetch(struct store *store, struct record_key key, enum record_ahead what)
{
    store->ops->record_prefetch(store, key, what);
}

struct err *record_put(struct store *store, struct record_key key, struct str bytes)
{
    return store->ops->record_put(store, key, bytes);
}

struct err *record_delete(struct store *store, struct record_key key)
{
    return store->ops->record_delete(store, key);
}

struct err *record_scan(struct str **names, size_t *count, struct store *store,
                        enum record_kind kind, struct arena *arena)
{
    return store->ops->record_scan(names, count, store, kind, arena);
}

bool version_equal(const struct version *a, const struct version *b)
{
    return memcmp(a->parts, b->parts, sizeof a->parts) == 0;
}

struct err *record_version(struct version *out, struct store *store, struct record_key key)
{
    return store->ops->record_version(out, store, key);
}

struct err *record_place_version(struct version *out, struct store *store, struct record_key key)
{
    return store->ops->record_place_version(out, store, key);
}

struct err *record_cas(bool *done, struct store *store, struct record_key key,
                       const struct version *was, struct str bytes)
{
    return store->ops->record_cas(done, store, key, was, bytes);
}

struct err *store_txn_remove(struct store *store, struct str txn)
{
    return store->ops->txn_remove(store, txn);
}

/* ---- leases ---- */

struct err *lease_take(struct store *store, enum lease_kind kind)
{
    return store->ops->lease_take(store, kind);
}

void lease_drop(struct store *store, enum lease_kind kind)
{
    store->ops->lease_drop(store, kind);
}
