/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - what a kind of store implements; each operation is the function of store.h or repcache.h
 * whose name it has, and does what that one's comment says. Only implementations include this. */
#ifndef VARVE_STORE_OPS_H
#define VARVE_STORE_OPS_H

#include "store/repcache.h"
#include "store/store.h"

struct store_ops {
    void (*dispose)(struct store *store); /* store_close; not NULL */
    void (*set_flush)(struct store *store, bool flush);
    struct err *(*look)(enum store_look *out, const struct store *store);
    struct err *(*create)(struct store *store);

    struct err *(*head)(struct head *out, struct store *store);
    void (*forget)(struct store *store);
    struct err *(*min_unpacked)(revnum *out, struct store *store);

    struct err *(*body)(struct body **out, struct store *store, revnum rev, struct arena *arena);
    struct err *(*body_read)(struct body *body, const struct span *spans, size_t count);
    void (*body_prefetch)(struct body *body, const struct span *spans, size_t count);
    struct err *(*body_manifest)(struct buf *out, struct body *body);

    struct err *(*draft_begin)(struct draft **out, struct store *store, struct str name);
    struct err *(*draft_append)(struct draft *draft, struct str bytes);
    struct err *(*draft_reread)(struct draft *draft, uint64_t offset, void *to, size_t n);
    struct err *(*draft_truncate)(struct draft *draft, uint64_t size);
    void (*draft_start_sync)(struct draft *draft);
    struct err *(*draft_show)(struct draft *draft, struct str txn);
    void (*draft_drop)(struct draft *draft); /* not NULL */

    /* COUNT 0: as store_publish_staged. */
    struct err *(*publish)(revnum *durable, struct store *store, const struct publication *batch,
                           size_t count);
    struct err *(*stage)(struct store *store, const struct publication *one);
    struct err *(*put_pack)(struct store *store, int64_t shard, struct draft *pack,
                            struct str manifest);
    struct err *(*drop_shard)(struct store *store, int64_t shard, bool revprops_too);
    struct err *(*txn_numbers)(uint64_t *first, struct store *store, revnum base, uint64_t count);

    struct err *(*record_get)(struct buf *out, bool *found, struct store *store,
                              struct record_key key);
    void (*record_prefetch)(struct store *store, struct record_key key, enum record_ahead what);
    struct err *(*record_put)(struct store *store, struct record_key key, struct str bytes);
    struct err *(*record_delete)(struct store *store, struct record_key key);
    struct err *(*record_scan)(struct str **names, size_t *count, struct store *store,
                               enum record_kind kind, struct arena *arena);
    struct err *(*record_version)(struct version *out, struct store *store, struct record_key key);
    struct err *(*record_place_version)(struct version *out, struct store *store,
                                        struct record_key key);
    struct err *(*record_cas)(bool *done, struct store *store, struct record_key key,
                              const struct version *was, struct str bytes);
    struct err *(*txn_remove)(struct store *store, struct str txn);

    struct err *(*lease_take)(struct store *store, enum lease_kind kind);
    void (*lease_drop)(struct store *store, enum lease_kind kind);

    struct err *(*repcache_find)(struct repcache_row *out, bool *found, struct store *store,
                                 const uint8_t sha1[SHA1_SIZE]);
    void (*repcache_offer)(struct store *store, const struct repcache_row *rows, size_t n);
    void (*repcache_hold)(struct store *store, const struct repcache_row *rows, size_t n);
    void (*repcache_release)(struct store *store);
    void (*repcache_forget)(struct store *store);
    struct err *(*repcache_flush)(struct store *store);
    bool (*repcache_exists)(struct store *store);
    struct err *(*repcache_each)(struct store *store,
                                 struct err *(*fn)(void *arg, const struct repcache_row *row),
                                 void *arg);
};

#endif
