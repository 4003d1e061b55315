/* SPDX-License-Identifier: Apache-2.0 */
/* All of it is behind one mutex. Records are blobs in a map, under "KIND/REVISION/NAME"; bodies are
 * blobs in an array, and in a map by shard once they are packed. */
#include "store/memory/memory.h"

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "store/ops.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct memory_body {
    struct body body; /* first */
    struct blob *bytes;
};

struct memory_draft {
    struct draft base; /* first */
    struct buf bytes;
};

struct record {
    uint64_t version;
    struct blob *bytes;
};

struct packed {
    struct memory_body *body;
    struct blob *manifest;
};

struct memory {
    struct store base; /* first */
    pthread_mutex_t mutex;
    pthread_cond_t dropped; /* a lease was */
    bool held[LEASE_KINDS];
    bool is_made;
    struct head head;                 /* youngest REV_NONE: there is none yet */
    VEC(struct memory_body *) bodies; /* staged ones included; NULL where dropped */
    struct head staged;
    struct map *records; /* -> struct record */
    struct map *places;  /* "KIND/SHARD" -> uint64_t, the version of the last change there */
    struct map *packs;   /* shard -> struct packed */
    struct map *rows, *held_rows; /* SHA-1 -> struct repcache_row */
    uint64_t last_version, last_identity, next_txn;
};

static struct memory *memory_of(const struct store *base)
{
    return (struct memory *)base;
}

static struct memory *lock(const struct store *base)
{
    struct memory *store = memory_of(base);
    pthread_mutex_lock(&store->mutex);
    return store;
}

static void unlock(struct memory *store)
{
    pthread_mutex_unlock(&store->mutex);
}

/* ---- open and close ---- */

static void record_free(void *value)
{
    struct record *record = value;
    shared_unref(record->bytes);
    free(record);
}

static void packed_free(void *value)
{
    struct packed *packed = value;
    shared_unref(packed->body);
    shared_unref(packed->manifest);
    free(packed);
}

static void memory_dispose(struct store *base)
{
    struct memory *store = memory_of(base);
    for (size_t i = 0; i < store->bodies.n; i++)
        shared_unref(store->bodies.list[i]);
    free(store->bodies.list);
    map_free(store->records, record_free);
    map_free(store->places, free);
    map_free(store->packs, packed_free);
    map_free(store->rows, free);
    map_free(store->held_rows, free);
    pthread_cond_destroy(&store->dropped);
    pthread_mutex_destroy(&store->mutex);
    free(store->base.path);
    free(store);
}

static void memory_set_flush(struct store *base, bool flush)
{
}

static struct err *memory_look(enum store_look *out, const struct store *base)
{
    *out = STORE_SAME;
    return NULL;
}

static struct err *memory_create(struct store *base)
{
    struct memory *store = lock(base);
    const bool was_made = store->is_made;
    store->is_made = true;
    unlock(store);
    return was_made ? err_errno(EEXIST, "Can't create a store in '%s'", base->path) : NULL;
}

/* ---- records ---- */

/* The digits of REV, or of the shard it is in, where KEY's kind has a revision. */
static struct str place_name(char out[64], const struct memory *store, struct record_key key)
{
    const int64_t shard_size = store->base.layout.shard_size;
    int64_t place = key.rev;
    if (key.kind == RECORD_REVPROPS)
        place = shard_size ? key.rev / shard_size : 0;
    else if (key.kind != RECORD_REVPROP_MANIFEST && key.kind != RECORD_REVPROP_PACK)
        place = 0;
    const bool is_revprops = key.kind == RECORD_REVPROP_MANIFEST || key.kind == RECORD_REVPROP_PACK;
    const int kind = is_revprops ? RECORD_REVPROPS : (int)key.kind; /* one place for all three */
    return str_make(out, (size_t)snprintf(out, 64, "%d/%lld", kind, (long long)place));
}

static void record_name(struct buf *out, struct record_key key)
{
    const bool has_rev = key.kind == RECORD_REVPROPS || key.kind == RECORD_REVPROP_MANIFEST ||
                         key.kind == RECORD_REVPROP_PACK;
    buf_printf(out, "%d/%lld/%.*s", key.kind, has_rev ? (long long)key.rev : 0LL, STR(key.name));
}

static void touch_place(struct memory *store, struct record_key key)
{
    char room[64];
    const struct str name = place_name(room, store, key);
    uint64_t *version = map_get(store->places, name);
    if (!version) {
        version = mem_alloc(sizeof *version);
        map_put(store->places, name, version);
    }
    *version = ++store->last_version;
}

static void put(struct memory *store, struct record_key key, struct str bytes)
{
    AUTO_BUF(name);
    record_name(&name, key);
    touch_place(store, key);
    struct record *record = mem_alloc(sizeof *record), *before;
    *record = (struct record){store->last_version, blob_copy(bytes)};
    if ((before = map_put(store->records, buf_view(&name), record)))
        record_free(before);
}

static void delete (struct memory *store, struct record_key key)
{
    AUTO_BUF(name);
    record_name(&name, key);
    struct record *record = map_remove(store->records, buf_view(&name));
    if (!record)
        return;
    touch_place(store, key);
    record_free(record);
}

static const struct record *find(const struct memory *store, struct record_key key)
{
    AUTO_BUF(name);
    record_name(&name, key);
    return map_get(store->records, buf_view(&name));
}

static struct err *memory_record_get(struct buf *out, bool *found, struct store *base,
                                     struct record_key key)
{
    struct memory *store = lock(base);
    const struct record *record = find(store, key);
    *found = record;
    if (record)
        buf_str(out, blob_str(record->bytes));
    unlock(store);
    return NULL;
}

static void memory_record_prefetch(struct store *base, struct record_key key,
                                   enum record_ahead what)
{
}

static struct err *check_size(struct record_key key, struct str bytes)
{
    return bytes.n <= RECORD_SIZE_MAX
               ? NULL
               : err_make(E_REPOS_BAD_ARGS, "Record '%.*s' would be larger than %d bytes",
                          STR(key.name), RECORD_SIZE_MAX);
}

static struct err *memory_record_put(struct store *base, struct record_key key, struct str bytes)
{
    TRY(check_size(key, bytes));
    struct memory *store = lock(base);
    put(store, key, bytes);
    unlock(store);
    return NULL;
}

static struct err *memory_record_delete(struct store *base, struct record_key key)
{
    struct memory *store = lock(base);
    delete (store, key);
    unlock(store);
    return NULL;
}

static struct version version_of(uint64_t number)
{
    return (struct version){{number, 0, 0}, true};
}

static struct err *memory_record_version(struct version *out, struct store *base,
                                         struct record_key key)
{
    struct memory *store = lock(base);
    const struct record *record = find(store, key);
    *out = version_of(record ? record->version : 0);
    unlock(store);
    return NULL;
}

static struct err *memory_record_place_version(struct version *out, struct store *base,
                                               struct record_key key)
{
    char room[64];
    struct memory *store = lock(base);
    const uint64_t *version = map_get(store->places, place_name(room, store, key));
    *out = version_of(version ? *version : 0);
    unlock(store);
    return NULL;
}

static struct err *memory_record_cas(bool *done, struct store *base, struct record_key key,
                                     const struct version *was, struct str bytes)
{
    TRY(check_size(key, bytes));
    struct memory *store = lock(base);
    const struct record *record = find(store, key);
    *done = (record ? record->version : 0) == was->parts[0];
    if (*done)
        put(store, key, bytes);
    unlock(store);
    return NULL;
}

/* The names of records of KIND: of transactions the part before the slash, each once. */
static struct err *memory_record_scan(struct str **names, size_t *count, struct store *base,
                                      enum record_kind kind, struct arena *arena)
{
    AUTO_BUF(prefix);
    size_t all, n = 0;
    buf_printf(&prefix, "%d/0/", kind);
    struct memory *store = lock(base);
    struct str *sorted = map_sorted(store->records, &all, arena), *out;
    out = arena_array(arena, all, sizeof *out);
    for (size_t i = 0; i < all; i++) {
        struct str name;
        if (!str_starts(sorted[i], buf_view(&prefix)))
            continue;
        name = str_skip(sorted[i], prefix.n);
        if (kind == RECORD_TXN)
            name.n = str_find(name, '/') < name.n ? str_find(name, '/') : name.n;
        if (n == 0 || !str_eq(out[n - 1], name))
            out[n++] = arena_str(arena, name);
    }
    unlock(store);
    *names = out;
    *count = n;
    return NULL;
}

static struct err *memory_txn_remove(struct store *base, struct str txn)
{
    AUTO_ARENA(arena);
    AUTO_BUF(prefix);
    size_t count;
    buf_printf(&prefix, "%d/0/%.*s/", RECORD_TXN, STR(txn));
    struct memory *store = lock(base);
    const struct str *names = map_sorted(store->records, &count, arena);
    for (size_t i = 0; i < count; i++) {
        if (!str_starts(names[i], buf_view(&prefix)))
            continue;
        struct record *record = map_remove(store->records, names[i]);
        record_free(record);
    }
    delete (store, (struct record_key){RECORD_TXN_PROTOREV, REV_NONE, txn});
    unlock(store);
    return NULL;
}

static struct err *memory_txn_numbers(uint64_t *first, struct store *base, revnum rev,
                                      uint64_t count)
{
    struct memory *store = lock(base);
    *first = store->next_txn;
    store->next_txn += count;
    unlock(store);
    return NULL;
}

/* ---- the head ---- */

static struct err *memory_head(struct head *out, struct store *base)
{
    struct memory *store = lock(base);
    *out = store->head;
    unlock(store);
    return out->youngest == REV_NONE ? err_errno(ENOENT, "Can't open file '%s/current'", base->path)
                                     : NULL;
}

static void memory_forget(struct store *base)
{
}

static revnum min_unpacked(const struct memory *store)
{
    revnum rev = 0;
    const struct record *record =
        find(store, (struct record_key){.kind = RECORD_MIN_UNPACKED, .rev = REV_NONE});
    if (!record || !num_i64(&rev, str_trim(blob_str(record->bytes))))
        return 0;
    return rev;
}

static struct err *memory_min_unpacked(revnum *out, struct store *base)
{
    struct memory *store = lock(base);
    *out = min_unpacked(store);
    unlock(store);
    return NULL;
}

/* ---- bodies ---- */

static void body_destroy(struct shared *self)
{
    struct memory_body *body = (struct memory_body *)self;
    shared_unref(body->bytes);
    free(body);
}

static struct memory_body *body_new(struct memory *store, revnum first_rev, bool packed,
                                    struct str bytes)
{
    struct memory_body *body = mem_zalloc(sizeof *body);
    shared_init(&body->body.shared, sizeof *body, body_destroy);
    body->body.store = &store->base;
    body->body.first_rev = first_rev;
    body->body.packed = packed;
    body->body.size = bytes.n;
    body->body.identity = ++store->last_identity;
    body->bytes = blob_copy(bytes);
    return body;
}

static struct packed *pack_of(const struct memory *store, int64_t shard)
{
    char room[NUM_BASE36_MAX];
    return map_get(store->packs, str_make(room, num_to_base36(room, (uint64_t)shard)));
}

static struct memory_body *body_find(const struct memory *store, revnum rev)
{
    if (rev >= 0 && rev < min_unpacked(store)) {
        const struct packed *packed = pack_of(store, rev / store->base.layout.shard_size);
        if (packed)
            return packed->body;
    }
    return rev >= 0 && (size_t)rev < store->bodies.n ? store->bodies.list[rev] : NULL;
}

static struct err *memory_body(struct body **out, struct store *base, revnum rev,
                               struct arena *arena)
{
    struct memory *store = lock(base);
    struct memory_body *body = body_find(store, rev);
    if (body)
        arena_keep(arena, shared_ref(body));
    unlock(store);
    *out = body ? &body->body : NULL;
    return body ? NULL : err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld", (long long)rev);
}

static struct err *memory_body_read(struct body *body, const struct span *spans, size_t count)
{
    const struct blob *bytes = ((struct memory_body *)body)->bytes;
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        if (span->offset > body->size || span->n > body->size - span->offset)
            return err_make(E_FS_CORRUPT,
                            "%zu bytes at offset %llu are not in the %llu bytes of revision %lld",
                            span->n, (unsigned long long)span->offset,
                            (unsigned long long)body->size, (long long)body->first_rev);
        memcpy(span->to, bytes->bytes + span->offset, span->n);
    }
    return NULL;
}

static void memory_body_prefetch(struct body *body, const struct span *spans, size_t count)
{
}

static struct err *memory_body_manifest(struct buf *out, struct body *body)
{
    struct memory *store = lock(body->store);
    const struct packed *packed =
        body->packed ? pack_of(store, body->first_rev / body->store->layout.shard_size) : NULL;
    if (packed)
        buf_str(out, blob_str(packed->manifest));
    unlock(store);
    return packed ? NULL
                  : err_errno(ENOENT, "Revision %lld has no manifest", (long long)body->first_rev);
}

/* ---- drafts ---- */

static struct memory_draft *draft_of(struct draft *base)
{
    return (struct memory_draft *)base;
}

static struct err *memory_draft_begin(struct draft **out, struct store *base, struct str name)
{
    struct memory_draft *draft = mem_zalloc(sizeof *draft);
    draft->base.store = base;
    draft->base.name = mem_zalloc(name.n + 1);
    memcpy(draft->base.name, name.p, name.n);
    *out = &draft->base;
    return NULL;
}

static struct err *memory_draft_append(struct draft *base, struct str bytes)
{
    buf_str(&draft_of(base)->bytes, bytes);
    base->size += bytes.n;
    return NULL;
}

static struct err *memory_draft_reread(struct draft *base, uint64_t offset, void *to, size_t n)
{
    memcpy(to, draft_of(base)->bytes.p + offset, n);
    return NULL;
}

static struct err *memory_draft_truncate(struct draft *base, uint64_t size)
{
    draft_of(base)->bytes.n = size;
    base->size = size;
    return NULL;
}

static void memory_draft_start_sync(struct draft *base)
{
}

static struct err *memory_draft_show(struct draft *base, struct str txn)
{
    return memory_record_put(base->store, (struct record_key){RECORD_TXN_PROTOREV, REV_NONE, txn},
                             buf_view(&draft_of(base)->bytes));
}

static void memory_draft_drop(struct draft *base)
{
    struct memory_draft *draft = draft_of(base);
    buf_free(&draft->bytes);
    free(base->name);
    free(draft);
}

/* ---- publish ---- */

/* ONE becomes a body and a record, above the head still. */
static void place(struct memory *store, const struct publication *one)
{
    const struct str bytes = buf_view(&draft_of(one->draft)->bytes);
    *VEC_ADD(&store->bodies) = body_new(store, one->rev, false, bytes);
    put(store, (struct record_key){.kind = RECORD_REVPROPS, .rev = one->rev}, one->revprops);
    store->staged = (struct head){one->rev, one->next_node_id, one->next_copy_id};
}

static struct err *check_next(const struct memory *store, revnum rev)
{
    return (revnum)store->bodies.n == rev
               ? NULL
               : err_make(E_FS_TXN_OUT_OF_DATE, "Revision %lld can't follow revision %lld",
                          (long long)rev, (long long)store->bodies.n - 1);
}

static struct err *memory_stage(struct store *base, const struct publication *one)
{
    struct memory *store = lock(base);
    struct err *err = check_next(store, one->rev);
    if (!err)
        place(store, one);
    unlock(store);
    return err;
}

static struct err *memory_publish(revnum *durable, struct store *base,
                                  const struct publication *batch, size_t count)
{
    if (count)
        *durable = batch[0].rev - 1;
    for (size_t i = 0; i < count; i++)
        TRY(memory_stage(base, &batch[i]));
    struct memory *store = lock(base);
    if (store->staged.youngest > store->head.youngest) {
        store->head = store->staged;
        *durable = store->head.youngest;
    }
    unlock(store);
    return NULL;
}

/* ---- packs ---- */

static struct err *memory_put_pack(struct store *base, int64_t shard, struct draft *pack,
                                   struct str manifest)
{
    char room[NUM_BASE36_MAX];
    struct memory *store = lock(base);
    const revnum first = shard * base->layout.shard_size;
    const bool is_packed = first < min_unpacked(store);
    if (!is_packed) {
        struct packed *packed = mem_alloc(sizeof *packed), *before;
        *packed = (struct packed){body_new(store, first, true, buf_view(&draft_of(pack)->bytes)),
                                  blob_copy(manifest)};
        before =
            map_put(store->packs, str_make(room, num_to_base36(room, (uint64_t)shard)), packed);
        if (before)
            packed_free(before);
    }
    unlock(store);
    return is_packed ? err_make(E_FS_GENERAL, "Shard %lld of '%s' is packed already",
                                (long long)shard, base->path)
                     : NULL;
}

static struct err *memory_drop_shard(struct store *base, int64_t shard, bool revprops_too)
{
    struct memory *store = lock(base);
    const int64_t size = base->layout.shard_size;
    const bool is_packed = shard * size < min_unpacked(store);
    for (revnum rev = shard * size; is_packed && rev < (shard + 1) * size; rev++) {
        shared_unref(store->bodies.list[rev]);
        store->bodies.list[rev] = NULL;
        if (revprops_too && rev > 0) /* revision 0 keeps its own for ever */
            delete (store, (struct record_key){.kind = RECORD_REVPROPS, .rev = rev});
    }
    unlock(store);
    return is_packed ? NULL
                     : err_make(E_FS_GENERAL, "Shard %lld of '%s' is not packed", (long long)shard,
                                base->path);
}

/* ---- leases ---- */

static struct err *memory_lease_take(struct store *base, enum lease_kind kind)
{
    struct memory *store = lock(base);
    while (store->held[kind])
        pthread_cond_wait(&store->dropped, &store->mutex);
    store->held[kind] = true;
    unlock(store);
    return NULL;
}

static void memory_lease_drop(struct store *base, enum lease_kind kind)
{
    struct memory *store = lock(base);
    store->held[kind] = false;
    pthread_cond_broadcast(&store->dropped);
    unlock(store);
}

/* ---- rows ---- */

static struct str row_key(const uint8_t sha1[SHA1_SIZE])
{
    return str_make((const char *)sha1, SHA1_SIZE);
}

/* The first of a SHA-1 stays. */
static void rows_add(struct map *map, const struct repcache_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (map_get(map, row_key(rows[i].sha1)))
            continue;
        struct repcache_row *copy = mem_alloc(sizeof *copy);
        *copy = rows[i];
        map_put(map, row_key(rows[i].sha1), copy);
    }
}

static void held_clear(struct memory *store)
{
    map_free(store->held_rows, free);
    store->held_rows = map_new();
}

static struct err *memory_repcache_find(struct repcache_row *out, bool *found, struct store *base,
                                        const uint8_t sha1[SHA1_SIZE])
{
    struct memory *store = lock(base);
    const struct repcache_row *row = map_get(store->rows, row_key(sha1));
    if (!row)
        row = map_get(store->held_rows, row_key(sha1));
    *found = row;
    if (row)
        *out = *row;
    unlock(store);
    return NULL;
}

static void memory_repcache_offer(struct store *base, const struct repcache_row *rows, size_t n)
{
    struct memory *store = lock(base);
    rows_add(store->rows, rows, n);
    unlock(store);
}

static void memory_repcache_hold(struct store *base, const struct repcache_row *rows, size_t n)
{
    struct memory *store = lock(base);
    rows_add(store->held_rows, rows, n);
    unlock(store);
}

static void memory_repcache_release(struct store *base)
{
    struct memory *store = lock(base);
    struct str key;
    void *row;
    for (size_t pos = 0; map_next(store->held_rows, &pos, &key, &row);)
        rows_add(store->rows, row, 1);
    held_clear(store);
    unlock(store);
}

static void memory_repcache_forget(struct store *base)
{
    struct memory *store = lock(base);
    held_clear(store);
    unlock(store);
}

static struct err *memory_repcache_flush(struct store *base)
{
    return NULL;
}

static bool memory_repcache_exists(struct store *base)
{
    struct memory *store = lock(base);
    const bool exists = map_count(store->rows) > 0;
    unlock(store);
    return exists;
}

static struct err *
memory_repcache_each(struct store *base,
                     struct err *(*fn)(void *arg, const struct repcache_row *row), void *arg)
{
    AUTO_ARENA(arena);
    struct memory *store = lock(base);
    size_t n;
    const struct str *keys = map_sorted(store->rows, &n, arena);
    struct repcache_row *rows = arena_array(arena, n, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = *(const struct repcache_row *)map_get(store->rows, keys[i]);
    unlock(store);
    for (size_t i = 0; i < n; i++)
        TRY(fn(arg, &rows[i]));
    return NULL;
}

/* ---- the operations ---- */

static const struct store_ops memory_ops = {
    .dispose = memory_dispose,
    .set_flush = memory_set_flush,
    .look = memory_look,
    .create = memory_create,
    .head = memory_head,
    .forget = memory_forget,
    .min_unpacked = memory_min_unpacked,
    .body = memory_body,
    .body_read = memory_body_read,
    .body_prefetch = memory_body_prefetch,
    .body_manifest = memory_body_manifest,
    .draft_begin = memory_draft_begin,
    .draft_append = memory_draft_append,
    .draft_reread = memory_draft_reread,
    .draft_truncate = memory_draft_truncate,
    .draft_start_sync = memory_draft_start_sync,
    .draft_show = memory_draft_show,
    .draft_drop = memory_draft_drop,
    .publish = memory_publish,
    .stage = memory_stage,
    .put_pack = memory_put_pack,
    .drop_shard = memory_drop_shard,
    .txn_numbers = memory_txn_numbers,
    .record_get = memory_record_get,
    .record_prefetch = memory_record_prefetch,
    .record_put = memory_record_put,
    .record_delete = memory_record_delete,
    .record_scan = memory_record_scan,
    .record_version = memory_record_version,
    .record_place_version = memory_record_place_version,
    .record_cas = memory_record_cas,
    .txn_remove = memory_txn_remove,
    .lease_take = memory_lease_take,
    .lease_drop = memory_lease_drop,
    .repcache_find = memory_repcache_find,
    .repcache_offer = memory_repcache_offer,
    .repcache_hold = memory_repcache_hold,
    .repcache_release = memory_repcache_release,
    .repcache_forget = memory_repcache_forget,
    .repcache_flush = memory_repcache_flush,
    .repcache_exists = memory_repcache_exists,
    .repcache_each = memory_repcache_each,
};

struct store *memory_store_new(void)
{
    struct memory *store = mem_zalloc(sizeof *store);
    store->base.ops = &memory_ops;
    store->base.path = mem_strdup("memory");
    store->head.youngest = store->staged.youngest = REV_NONE;
    store->records = map_new();
    store->places = map_new();
    store->packs = map_new();
    store->rows = map_new();
    store->held_rows = map_new();
    pthread_mutex_init(&store->mutex, NULL);
    pthread_cond_init(&store->dropped, NULL);
    return &store->base;
}
