/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a store, its head, the names of transactions, a new store; see store.h. */
#include "store/posix/body.h"
#include "store/posix/draft.h"
#include "store/posix/files.h"
#include "store/posix/lease.h"
#include "store/posix/pack.h"
#include "store/posix/posix_int.h"
#include "store/posix/publish.h"
#include "store/posix/record.h"
#include "store/posix/repcache.h"

#include "base/num.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    TXN_BLOCK_FACTOR =
        8, /* reservations grow 1, 8, 64, 512, 1024: a tool that commits once wastes nothing */
    TXN_BLOCK_MAX = 1024,
    TXN_FOLDER_NUMBER_MAX = 99999, /* formats 1 and 2 look no further for a free folder */
};

/* ---- what is at a path ---- */

static struct err *file_identity(struct file_identity *out, const struct posix *store,
                                 const char *name)
{
    char path[PATH_SIZE];
    struct stat st;
    path_of(path, store, name);
    if (store->disk->stat(store->disk, path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR ? NULL
                                                   : err_errno(errno, "Can't stat file '%s'", path);
    out->dev = st.st_dev;
    out->ino = st.st_ino;
    out->modified = st.st_mtim;
    out->changed = st.st_ctim;
    return NULL;
}

static struct err *identity_at(struct identity *out, const struct posix *store)
{
    *out = (struct identity){0};
    TRY(file_identity(&out->files[IDENTITY_FORMAT], store, "format"));
    TRY(file_identity(&out->files[IDENTITY_UUID], store, "uuid"));
    return file_identity(&out->files[IDENTITY_CONFIG], store, "fsfs.conf");
}

struct err *store_identify(struct posix *store)
{
    return identity_at(&store->identity, store);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same_file(const struct file_identity *a, const struct file_identity *b)
{
    return a->dev == b->dev && a->ino == b->ino && same_time(&a->modified, &b->modified);
}

static bool is_absent(const struct identity *identity)
{
    return identity->files[IDENTITY_FORMAT].ino == 0 && identity->files[IDENTITY_UUID].ino == 0;
}

static struct err *posix_look(enum store_look *out, const struct store *base)
{
    const struct posix *store = posix_of(base);
    const struct identity *then = &store->identity;
    struct identity now;
    TRY(identity_at(&now, store));
    *out = STORE_SAME;
    if (is_absent(then))
        return NULL;
    if (is_absent(&now)) {
        *out = STORE_GONE;
        return NULL;
    }
    for (int i = 0; i < IDENTITY_FILES; i++) {
        const struct file_identity *a = &then->files[i], *b = &now.files[i];
        if (i != IDENTITY_CONFIG && !same_file(a, b))
            *out = STORE_REPLACED;
        else if (*out == STORE_SAME && (!same_file(a, b) || !same_time(&a->changed, &b->changed)))
            *out = STORE_TOUCHED;
    }
    return NULL;
}

/* ---- open and close ---- */

static const struct store_ops posix_ops;

struct err *posix_open(struct store **out, const char *db_path, struct disk *disk)
{
    size_t n = strlen(db_path);
    while (n > 1 && db_path[n - 1] == '/')
        n--;
    if (n + NAME_SIZE + NAME_SIZE > PATH_SIZE)
        return err_errno(ENAMETOOLONG, "Can't open repository filesystem '%s'", db_path);
    struct posix *store = mem_zalloc(sizeof(*store));
    store->base.ops = &posix_ops;
    store->base.path = mem_strdup(db_path);
    store->base.path[n] = '\0';
    store->disk = disk ? disk : disk_system();
    store->flush = true;
    store->no_tmpfile = access("/proc/self/fd", X_OK) != 0; /* without it they cannot be named */
    store->known_head = REV_NONE;
    store->staged_last = REV_NONE;
    store->staged.first = store->staged.last = REV_NONE;
    store->txn_base = REV_NONE;
    store->sync_fd = -1;
    store->durable = REV_NONE;
    store->bodies = body_cache_new();
    pthread_mutex_init(&store->mutex, NULL);
    repcache_init(store);
    struct err *err = store_identify(store);
    if (!err)
        *out = &store->base;
    else
        store_close(&store->base);
    return err;
}

static void posix_dispose(struct store *base)
{
    struct posix *store = posix_of(base);
    repcache_close(store);
    body_cache_free(store->bodies);
    leases_close(store);
    staged_end(store);
    pthread_mutex_destroy(&store->mutex);
    free(store->base.path);
    free(store);
}

static void posix_set_flush(struct store *base, bool flush)
{
    posix_of(base)->flush = flush;
}

/* ---- the head ---- */

/* The line of a small file that must be there. It may have come through a tool that ends lines with
 * CR LF; Subversion reads that. */
static struct err *get_line(struct str *line, struct buf *buf, const struct posix *store,
                            const char *name)
{
    bool found;
    size_t pos = 0, n;
    if (file_get_small(buf_grow(buf, SMALL_FILE_SIZE), &n, store, name)) {
        buf->n = n;
    } else {
        buf_clear(buf);
        TRY(file_get(buf, &found, store, name));
        if (!found)
            return err_errno(ENOENT, "Can't open file '%s/%s'", store->base.path, name);
    }
    if (!str_text_line(line, buf_view(buf), &pos))
        *line = buf_view(buf); /* nothing */
    return NULL;
}

static struct err *corrupt(const char *name)
{
    return err_make(E_FS_CORRUPT, "Corrupt '%s' file", name);
}

/* "<youngest>", or in formats 1 and 2 "<youngest> <next node id> <next copy id>". Upgraded
 * repositories may have the ids still. */
static bool parse_head(struct head *out, struct str line, bool ids)
{
    if (!num_i64(&out->youngest, str_word(&line)) || out->youngest < 0 || out->youngest > REV_MAX)
        return false;
    return !ids || (num_base36(&out->next_node_id, str_word(&line)) &&
                    num_base36(&out->next_copy_id, line));
}

static struct err *posix_head(struct head *out, struct store *base)
{
    struct posix *store = posix_of(base);
    AUTO_BUF(buf);
    struct str line;
    struct head head = {0};
    TRY(get_line(&line, &buf, store, "current"));
    if (!parse_head(&head, line, store->base.layout.ids_in_current))
        return corrupt("current");
    atomic_store_explicit(&store->known_head, head.youngest, memory_order_release);
    *out = head;
    return NULL;
}

static struct err *posix_min_unpacked(revnum *out, struct store *base)
{
    struct posix *store = posix_of(base);
    *out = 0;
    if (!store->base.layout.packs || store->base.layout.shard_size == 0)
        return NULL;
    AUTO_BUF(buf);
    struct str line;
    TRY(get_line(&line, &buf, store, "min-unpacked-rev"));
    if (line.n == buf.n)
        return err_make(E_APR_EOF, "Can't read file '%s/min-unpacked-rev': End of file found",
                        store->base.path);
    if (!num_i64(out, line) || *out < 0 || *out % store->base.layout.shard_size != 0)
        return corrupt("min-unpacked-rev");
    atomic_store_explicit(&store->known_unpacked, *out, memory_order_release);
    return NULL;
}

/* ---- transaction names ---- */

/* The counter was lost, with the end of the disk or by somebody's hand: *FIRST is behind the
 * numbers of all transactions that are there. Those that are not have no say any more: their
 * revisions have other bases. */
static struct err *recount(uint64_t *first, struct posix *store)
{
    AUTO_ARENA(arena);
    struct str *names;
    size_t count;
    *first = 0;
    TRY(record_scan(&names, &count, &store->base, RECORD_TXN, arena));
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        size_t dash = str_find(names[i], '-');
        if (dash != SIZE_MAX && num_base36(&number, str_skip(names[i], dash + 1)) &&
            number >= *first && number < UINT64_MAX)
            *first = number + 1;
    }
    return NULL;
}

/* Move the counter in `txn-current` COUNT numbers on; *FIRST is what it was. The caller holds
 * LEASE_TXN_CURRENT. */
static struct err *reserve(uint64_t *first, struct posix *store, uint64_t count)
{
    AUTO_BUF(buf);
    struct str line;
    uint64_t next;
    char text[NUM_BASE36_MAX + 1];
    TRY(get_line(&line, &buf, store, "txn-current"));
    if (!num_base36(first, line))
        TRY(recount(first, store));
    if (!add_u64(&next, *first, count))
        return corrupt("txn-current");
    size_t n = num_to_base36(text, next);
    text[n++] = '\n';
    return file_put(store, "txn-current", str_make(text, n), (struct file_put){.durable = true});
}

/* Get COUNT more numbers at least; what is left of the last block stays useful where nobody came
 * between. */
static struct err *refill(struct posix *store, uint64_t count)
{
    uint64_t left = store->txn_end - store->txn_next, first;
    uint64_t block = store->txn_block > 0 ? store->txn_block : 1;
    uint64_t want = count > block ? count : block;
    TRY(lease_take(&store->base, LEASE_TXN_CURRENT));
    struct err *err = reserve(&first, store, want);
    lease_drop(&store->base, LEASE_TXN_CURRENT);
    TRY(err);
    if (left == 0 || first != store->txn_end)
        store->txn_next = first;
    store->txn_end = first + want;
    store->txn_block =
        block * TXN_BLOCK_FACTOR < TXN_BLOCK_MAX ? block * TXN_BLOCK_FACTOR : TXN_BLOCK_MAX;
    return NULL;
}

static bool txn_folder_exists(const struct posix *store, revnum base, uint64_t number)
{
    char digits[NUM_BASE36_MAX], path[PATH_SIZE];
    size_t n = num_to_base36(digits, number);
    path_of(path, store,
            name_printf("transactions/%lld-%.*s.txn", (long long)base, (int)n, digits).s);
    return access(path, F_OK) == 0;
}

/* Formats 1 and 2 have no counter: COUNT numbers in a row without a folder, behind what we gave
 * last. */
static struct err *find_free(uint64_t *first, struct posix *store, revnum base, uint64_t count)
{
    uint64_t start = store->txn_base == base ? store->txn_next : 1, run = 0;
    for (uint64_t n = start; n <= TXN_FOLDER_NUMBER_MAX; n++) {
        run = txn_folder_exists(store, base, n) ? 0 : run + 1;
        if (run == count) {
            store->txn_base = base;
            store->txn_next = n + 1;
            *first = n + 1 - count;
            return NULL;
        }
    }
    return err_make(E_IO_UNIQUE_NAMES_EXHAUSTED,
                    "Can't find a free name for a transaction on revision %lld in '%s'",
                    (long long)base, store->base.path);
}

static struct err *posix_txn_numbers(uint64_t *first, struct store *self, revnum base,
                                     uint64_t count)
{
    struct posix *store = posix_of(self);
    struct err *err = NULL;
    pthread_mutex_lock(&store->mutex);
    if (!store->base.layout.txn_current) {
        err = find_free(first, store, base, count);
    } else {
        if (store->txn_end - store->txn_next < count)
            err = refill(store, count);
        if (!err) {
            *first = store->txn_next;
            store->txn_next += count;
        }
    }
    pthread_mutex_unlock(&store->mutex);
    return err;
}

/* ---- a new store ---- */

/* The group of db/ owns what is made in it: the set-gid bit, as stock repositories have it. */
static struct err *create_db(struct posix *store)
{
    struct stat st;
    if (store->disk->mkdir(store->disk, store->base.path, 0777) != 0 && errno != EEXIST)
        return err_errno(errno, "Can't create folder '%s'", store->base.path);
    if (stat(store->base.path, &st) != 0)
        return err_errno(errno, "Can't stat folder '%s'", store->base.path);
    int fd =
        store->disk->open(store->disk, store->base.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return err_errno(errno, "Can't open folder '%s'", store->base.path);
    struct err *err = set_mode(store, fd, st.st_mode | S_ISGID, store->base.path);
    store->disk->close(store->disk, fd);
    return err;
}

static struct err *create_folder(struct posix *store, const char *name)
{
    bool made;
    TRY(folder_make(&made, store, name, ""));
    return made ? NULL : err_errno(EEXIST, "Can't create folder '%s/%s'", store->base.path, name);
}

static struct err *create_file(struct posix *store, const char *name, struct str content)
{
    return file_put(store, name, content, (struct file_put){.durable = true});
}

static struct err *posix_create(struct store *base)
{
    struct posix *store = posix_of(base);
    char parent[PATH_SIZE];
    TRY(create_db(store));
    TRY(create_folder(store, "revs"));
    TRY(create_folder(store, "revprops"));
    TRY(create_folder(store, "transactions"));
    TRY(create_file(store, "write-lock", S("")));
    if (store->base.layout.txn_current) {
        TRY(create_folder(store, "txn-protorevs"));
        TRY(create_file(store, "txn-current", S("0\n")));
        TRY(create_file(store, "txn-current-lock", S("")));
    }
    path_folder(parent, store->base.path);
    if (store_flushes(store) && *parent && store->disk->sync_folder(store->disk, parent) != 0)
        return err_errno(errno, "Can't flush folder '%s' to disk", parent);
    return NULL;
}

/* ---- the operations ---- */

static const struct store_ops posix_ops = {
    .dispose = posix_dispose,
    .set_flush = posix_set_flush,
    .look = posix_look,
    .create = posix_create,
    .head = posix_head,
    .forget = posix_forget,
    .min_unpacked = posix_min_unpacked,
    .body = posix_body,
    .body_read = posix_body_read,
    .body_prefetch = posix_body_prefetch,
    .body_manifest = posix_body_manifest,
    .draft_begin = posix_draft_begin,
    .draft_append = posix_draft_append,
    .draft_reread = posix_draft_reread,
    .draft_truncate = posix_draft_truncate,
    .draft_start_sync = posix_draft_start_sync,
    .draft_show = posix_draft_show,
    .draft_drop = posix_draft_drop,
    .publish = posix_publish,
    .stage = posix_stage,
    .put_pack = posix_put_pack,
    .drop_shard = posix_drop_shard,
    .txn_numbers = posix_txn_numbers,
    .record_get = posix_record_get,
    .record_prefetch = posix_record_prefetch,
    .record_put = posix_record_put,
    .record_delete = posix_record_delete,
    .record_scan = posix_record_scan,
    .record_version = posix_record_version,
    .record_place_version = posix_record_place_version,
    .record_cas = posix_record_cas,
    .txn_remove = posix_txn_remove,
    .lease_take = posix_lease_take,
    .lease_drop = posix_lease_drop,
    .repcache_find = posix_repcache_find,
    .repcache_offer = posix_repcache_offer,
    .repcache_hold = posix_repcache_hold,
    .repcache_release = posix_repcache_release,
    .repcache_forget = posix_repcache_forget,
    .repcache_flush = posix_repcache_flush,
    .repcache_exists = posix_repcache_exists,
    .repcache_each = posix_repcache_each,
};
