/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a store, its head, the names of transactions, a new store; see store.h. */
#include "store/posix_int.h"

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

static struct err *identity_at(struct identity *out, const struct store *store)
{
    static const char *const names[] = {"format", "uuid"};
    *out = (struct identity){0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH_SIZE];
        struct stat st;
        path_of(path, store, names[i]);
        if (store->disk->stat(store->disk, path, &st) != 0) {
            if (errno != ENOENT && errno != ENOTDIR)
                return err_errno(errno, "Can't stat file '%s'", path);
            continue;
        }
        out->files[i].dev = st.st_dev;
        out->files[i].ino = st.st_ino;
        out->files[i].changed.tv_sec = st.st_mtim.tv_sec;
        out->files[i].changed.tv_nsec = st.st_mtim.tv_nsec;
    }
    return NULL;
}

struct err *store_identify(struct store *store)
{
    return identity_at(&store->identity, store);
}

struct err *store_check_itself(const struct store *store)
{
    static const struct identity none;
    struct identity now;
    TRY(identity_at(&now, store));
    if (memcmp(&store->identity, &none, sizeof none) == 0 ||
        memcmp(&store->identity, &now, sizeof now) == 0)
        return NULL;
    if (memcmp(&now, &none, sizeof none) == 0)
        return err_make(E_FS_GENERAL, "The repository that was opened is no longer there");
    return err_make(E_FS_GENERAL,
                    "Another repository is in the place of the one that was opened; open it again");
}

/* ---- open and close ---- */

struct err *store_open(struct store **out, const char *db_path, struct disk *disk)
{
    size_t n = strlen(db_path);
    while (n > 1 && db_path[n - 1] == '/')
        n--;
    if (n + NAME_SIZE + NAME_SIZE > PATH_SIZE)
        return err_errno(ENAMETOOLONG, "Can't open repository filesystem '%s'", db_path);
    struct store *store = mem_zalloc(sizeof(*store));
    store->db = mem_strdup(db_path);
    store->db[n] = '\0';
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
    struct err *err = store_identify(store);
    if (!err)
        *out = store;
    else
        store_close(store);
    return err;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    body_cache_free(store->bodies);
    leases_close(store);
    staged_end(store);
    pthread_mutex_destroy(&store->mutex);
    free(store->db);
    free(store);
}

const char *store_path(const struct store *store)
{
    return store->db;
}

void store_set_layout(struct store *store, struct store_layout layout)
{
    store->layout = layout;
}

void store_set_flush(struct store *store, bool flush)
{
    store->flush = flush;
}

/* ---- the head ---- */

/* The line of a small file that must be there. It may have come through a tool that ends lines with
 * CR LF; Subversion reads that. */
static struct err *get_line(struct str *line, struct buf *buf, const struct store *store,
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
            return err_errno(ENOENT, "Can't open file '%s/%s'", store->db, name);
    }
    if (!str_line(line, buf_view(buf), &pos))
        *line = buf_view(buf);
    else if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
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

struct err *store_head(struct head *out, struct store *store)
{
    AUTO_BUF(buf);
    struct str line;
    struct head head = {0};
    TRY(get_line(&line, &buf, store, "current"));
    if (!parse_head(&head, line, store->layout.ids_in_current))
        return corrupt("current");
    atomic_store_explicit(&store->known_head, head.youngest, memory_order_release);
    *out = head;
    return NULL;
}

struct err *store_min_unpacked(revnum *out, struct store *store)
{
    *out = 0;
    if (!store->layout.packs || store->layout.shard_size == 0)
        return NULL;
    AUTO_BUF(buf);
    struct str line;
    TRY(get_line(&line, &buf, store, "min-unpacked-rev"));
    if (line.n == buf.n)
        return err_make(E_APR_EOF, "Can't read file '%s/min-unpacked-rev': End of file found",
                        store->db);
    if (!num_i64(out, line) || *out < 0 || *out % store->layout.shard_size != 0)
        return corrupt("min-unpacked-rev");
    atomic_store_explicit(&store->known_unpacked, *out, memory_order_release);
    return NULL;
}

/* ---- transaction names ---- */

/* The counter was lost, with the end of the disk or by somebody's hand: *FIRST is behind the
 * numbers of all transactions that are there. Those that are not have no say any more: their
 * revisions have other bases. */
static struct err *recount(uint64_t *first, struct store *store)
{
    AUTO_ARENA(arena);
    struct str *names;
    size_t count;
    *first = 0;
    TRY(record_scan(&names, &count, store, RECORD_TXN, arena));
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
static struct err *reserve(uint64_t *first, struct store *store, uint64_t count)
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
static struct err *refill(struct store *store, uint64_t count)
{
    uint64_t left = store->txn_end - store->txn_next, first;
    uint64_t block = store->txn_block > 0 ? store->txn_block : 1;
    uint64_t want = count > block ? count : block;
    TRY(lease_take(store, LEASE_TXN_CURRENT));
    struct err *err = reserve(&first, store, want);
    lease_drop(store, LEASE_TXN_CURRENT);
    TRY(err);
    if (left == 0 || first != store->txn_end)
        store->txn_next = first;
    store->txn_end = first + want;
    store->txn_block =
        block * TXN_BLOCK_FACTOR < TXN_BLOCK_MAX ? block * TXN_BLOCK_FACTOR : TXN_BLOCK_MAX;
    return NULL;
}

static bool txn_folder_exists(const struct store *store, revnum base, uint64_t number)
{
    char digits[NUM_BASE36_MAX], path[PATH_SIZE];
    size_t n = num_to_base36(digits, number);
    path_of(path, store,
            name_printf("transactions/%lld-%.*s.txn", (long long)base, (int)n, digits).s);
    return access(path, F_OK) == 0;
}

/* Formats 1 and 2 have no counter: COUNT numbers in a row without a folder, behind what we gave
 * last. */
static struct err *find_free(uint64_t *first, struct store *store, revnum base, uint64_t count)
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
                    (long long)base, store->db);
}

struct err *store_txn_numbers(uint64_t *first, struct store *store, revnum base, uint64_t count)
{
    struct err *err = NULL;
    pthread_mutex_lock(&store->mutex);
    if (!store->layout.txn_current) {
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
static struct err *create_db(struct store *store)
{
    struct stat st;
    if (store->disk->mkdir(store->disk, store->db, 0777) != 0 && errno != EEXIST)
        return err_errno(errno, "Can't create folder '%s'", store->db);
    if (stat(store->db, &st) != 0)
        return err_errno(errno, "Can't stat folder '%s'", store->db);
    int fd = store->disk->open(store->disk, store->db, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return err_errno(errno, "Can't open folder '%s'", store->db);
    struct err *err = set_mode(store, fd, st.st_mode | S_ISGID, store->db);
    store->disk->close(store->disk, fd);
    return err;
}

static struct err *create_folder(struct store *store, const char *name)
{
    bool made;
    TRY(folder_make(&made, store, name, ""));
    return made ? NULL : err_errno(EEXIST, "Can't create folder '%s/%s'", store->db, name);
}

static struct err *create_file(struct store *store, const char *name, struct str content)
{
    return file_put(store, name, content, (struct file_put){.durable = true});
}

struct err *store_create(struct store *store)
{
    char parent[PATH_SIZE];
    TRY(create_db(store));
    TRY(create_folder(store, "revs"));
    TRY(create_folder(store, "revprops"));
    TRY(create_folder(store, "transactions"));
    TRY(create_file(store, "write-lock", S("")));
    if (store->layout.txn_current) {
        TRY(create_folder(store, "txn-protorevs"));
        TRY(create_file(store, "txn-current", S("0\n")));
        TRY(create_file(store, "txn-current-lock", S("")));
    }
    path_folder(parent, store->db);
    if (store_flushes(store) && *parent && store->disk->sync_folder(store->disk, parent) != 0)
        return err_errno(errno, "Can't flush folder '%s' to disk", parent);
    return NULL;
}
