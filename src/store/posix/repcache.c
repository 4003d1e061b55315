/* SPDX-License-Identifier: Apache-2.0 */ #include "store/posix/repcache.h"

/* repcache.c - the rep-cache in memory: rows on their way to the file, and what is known of the
 * file. */
#include "base/map.h"
#include "base/vec.h"
#include "store/posix/repcache_db.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

    enum {
        LINGER_MS = 250, /* the writer waits so long for more commits to share its transaction */
        ROWS_NOW = 4096, /* ... unless so many rows are there */
        ROWS_WAITING_MAX = 1 << 18, /* whoever offers more waits for the writer */
        TRUST_MS = 1000,            /* how long the file is believed not to have changed */
        KNOWN_MAX = 1 << 21,        /* hashes; their set takes 32 MiB then */
        RETRY_MS = 60 * 1000,       /* a file that could not be used is tried again after so long */
        SCAN_AFTER = 256, /* absent rows that we asked the file for before we read all of it */
        SCAN_BYTES_EACH = 4096, /* ... and how much of the file each of them is worth */
    };

/* Rows, and where each is by its hash: its number + 1. */
struct batch {
    struct repcache_row *list;
    size_t n, cap;
    struct map *places; /* NULL while there are none */
};

/* Tells one state of the file from another; all zero: no file. */
struct file_stamp {
    int64_t changed_ns, size;
    uint64_t inode;
};

/* The first eight bytes of every hash that is in the file, as long as the file is as we know it. */
struct known {
    uint64_t *slots; /* 0: free */
    size_t n, cap;
    bool complete;
    struct file_stamp stamp;
    int64_t checked_ms; /* when the file was last seen to have it */
};

/* A time without the file, from an error on until the file is another or RETRY_MS are over. */
struct outage {
    bool is;
    struct file_stamp stamp;
    int64_t since_ms;
};

struct repcache {
    char *path;
    const struct store *store;

    pthread_mutex_t mutex; /* over all down to the blank line */
    pthread_cond_t wake, written;
    struct batch held, waiting, writing;
    struct known known;
    bool has_writer, stop, hurry, warned;
    struct outage writer_out;
    struct err *writer_err; /* the first since the last flush */
    pthread_t writer;

    pthread_mutex_t reader_mutex; /* over these */
    struct repcache_db *reader;
    struct outage reader_out;
    int64_t absent; /* rows asked for and not found since the file was last read whole */
};

/* ---- hashes ---- */

static uint64_t hash_of(const uint8_t sha1[SHA1_SIZE])
{
    uint64_t h;
    memcpy(&h, sha1, sizeof h);
    return h ? h : 1;
}

static struct str key_of(const uint8_t sha1[SHA1_SIZE])
{
    return str_make((const char *)sha1, SHA1_SIZE);
}

static const struct repcache_row *batch_find(const struct batch *b, const uint8_t sha1[SHA1_SIZE])
{
    const uintptr_t at = b->n ? (uintptr_t)map_get(b->places, key_of(sha1)) : 0;
    return at ? &b->list[at - 1] : NULL;
}

static void batch_add(struct batch *b, const struct repcache_row *row)
{
    if (batch_find(b, row->sha1))
        return; /* the first stays, as in the file */
    if (!b->places)
        b->places = map_new();
    *VEC_ADD(b) = *row;
    map_put(b->places, key_of(row->sha1), (void *)(uintptr_t)b->n);
}

static void batch_clear(struct batch *b)
{
    free(b->list);
    map_free(b->places, NULL);
    *b = (struct batch){0};
}

static bool known_insert(struct known *k, uint64_t hash)
{
    size_t slot = hash & (k->cap - 1);
    for (; k->slots[slot]; slot = (slot + 1) & (k->cap - 1))
        if (k->slots[slot] == hash)
            return false;
    k->slots[slot] = hash;
    return true;
}

static void known_forget(struct known *k)
{
    free(k->slots);
    *k = (struct known){.complete = false};
}

static void known_add(struct known *k, const uint8_t sha1[SHA1_SIZE])
{
    if (!k->complete)
        return;
    if (k->n == KNOWN_MAX) {
        known_forget(k);
        return;
    }
    if (2 * k->n >= k->cap) {
        struct known larger = *k;
        larger.n = 0;
        larger.cap = k->cap ? 2 * k->cap : 1024;
        larger.slots = mem_zalloc(larger.cap * sizeof *larger.slots);
        for (size_t i = 0; i < k->cap; i++)
            if (k->slots[i])
                larger.n += known_insert(&larger, k->slots[i]);
        free(k->slots);
        *k = larger;
    }
    k->n += known_insert(k, hash_of(sha1));
}

static bool known_has(const struct known *k, const uint8_t sha1[SHA1_SIZE])
{
    if (k->n == 0)
        return false;
    uint64_t hash = hash_of(sha1);
    size_t slot = hash & (k->cap - 1);
    for (; k->slots[slot]; slot = (slot + 1) & (k->cap - 1))
        if (k->slots[slot] == hash)
            return true;
    return false;
}

static struct file_stamp stamp_take(const struct repcache *rc)
{
    struct stat st;
    if (stat(rc->path, &st) != 0)
        return (struct file_stamp){0};
    return (struct file_stamp){.changed_ns =
                                   st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec,
                               .size = st.st_size,
                               .inode = st.st_ino};
}

static bool stamp_eq(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->changed_ns == b->changed_ns && a->size == b->size && a->inode == b->inode;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ERR is what the file was answered with. That it was busy tells nothing of it. */
static void outage_begin(struct outage *out, const struct repcache *rc, const struct err *err)
{
    if (err->code != E_SQLITE_BUSY)
        *out = (struct outage){true, stamp_take(rc), now_ms()};
}

static bool outage_lasts(struct outage *out, const struct repcache *rc)
{
    if (!out->is)
        return false;
    struct file_stamp stamp = stamp_take(rc);
    out->is = stamp_eq(&stamp, &out->stamp) && now_ms() - out->since_ms < RETRY_MS;
    return out->is;
}

/* Whether the set of hashes can be believed; one that cannot is dropped. While our own writer is at
 * work it is: the writer notices what others did before it. MUTEX is held. */
static bool known_is_current(struct repcache *rc)
{
    struct known *k = &rc->known;
    if (!k->complete || rc->writing.n)
        return k->complete;
    if (k->stamp.inode && now_ms() - k->checked_ms <= TRUST_MS)
        return true;
    struct file_stamp stamp = stamp_take(rc);
    if (!stamp_eq(&stamp, &k->stamp)) {
        known_forget(k);
        return false;
    }
    k->checked_ms = now_ms();
    return true;
}

/* ---- life ---- */

void repcache_init(struct posix *store)
{
    struct repcache *rc = mem_zalloc(sizeof *rc);
    AUTO_BUF(path);
    buf_printf(&path, "%s/rep-cache.db", store->base.path);
    buf_char(&path, '\0');
    rc->path = mem_strdup(path.p);
    rc->store = &store->base;
    pthread_mutex_init(&rc->mutex, NULL);
    pthread_mutex_init(&rc->reader_mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&rc->wake, &monotonic);
    pthread_cond_init(&rc->written, &monotonic);
    pthread_condattr_destroy(&monotonic);
    store->repcache = rc;
}

/* Say once that the file can't be used, until it can be again; all goes on without it. MUTEX is
 * held. */
static void warn(struct repcache *rc, const struct err *err)
{
    if (!rc->warned)
        err_warn(err);
    rc->warned = true;
}

static void warn_replaced(const struct repcache *rc)
{
    struct err *err = err_make(
        E_FS_GENERAL, "'%s' was removed or replaced; what it held is shared no more", rc->path);
    err_warn(err);
    err_free(err);
}

/* ---- the writer ---- */

static int row_cmp(const void *a, const void *b)
{
    return memcmp(((const struct repcache_row *)a)->sha1, ((const struct repcache_row *)b)->sha1,
                  SHA1_SIZE);
}

static struct err *write_once(struct repcache *rc, struct repcache_db **db, struct file_stamp known,
                              bool *foreign)
{
    bool made = true;
    *foreign = false;
    if (!*db) {
        struct file_stamp before = stamp_take(rc);
        TRY(repcache_db_open_or_make(db, &made, rc->path, rc->store->layout.rows_by_hash));
        /* Rows may be there that we do not know. */
        *foreign = !made && (!before.inode || !stamp_eq(&before, &known));
    }
    /* In the order of the table, so that each of its pages is touched once. */
    struct repcache_row *sorted = mem_alloc(rc->writing.n * sizeof *sorted);
    memcpy(sorted, rc->writing.list, rc->writing.n * sizeof *sorted);
    qsort(sorted, rc->writing.n, sizeof *sorted, row_cmp);
    bool changed = false;
    struct err *err = repcache_db_insert(*db, &changed, sorted, rc->writing.n);
    free(sorted);
    *foreign = *foreign || changed;
    return err;
}

static void db_drop(struct repcache_db **db)
{
    repcache_db_close(*db);
    *db = NULL;
}

/* Write what is in `writing`; called without the mutex: nobody else changes it, and finders only
 * read the index. What fails with a connection that is not new is tried with a new one: somebody
 * may have done something to the file. */
static struct err *write_rows(struct repcache *rc, struct repcache_db **db, struct file_stamp known,
                              bool *foreign)
{
    const bool replaced = *db && repcache_db_has_moved(*db);
    if (replaced)
        db_drop(db);
    const bool is_old = *db != NULL;
    struct err *err = write_once(rc, db, known, foreign);
    if (err && is_old && err->code != E_SQLITE_BUSY) {
        err_free(err);
        db_drop(db);
        err = write_once(rc, db, known, foreign);
        *foreign = true;
    }
    if (err)
        db_drop(db);
    else if (replaced)
        warn_replaced(rc);
    *foreign = *foreign || replaced;
    return err;
}

/* Wait for rows, then a little for more of them. False when it is time to end. MUTEX is held. */
static bool writer_wait(struct repcache *rc)
{
    while (rc->waiting.n == 0 && !rc->stop)
        pthread_cond_wait(&rc->wake, &rc->mutex);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LINGER_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (rc->waiting.n < ROWS_NOW && !rc->stop && !rc->hurry)
        if (pthread_cond_timedwait(&rc->wake, &rc->mutex, &until) != 0)
            break;
    return rc->waiting.n > 0;
}

static void *writer_run(void *arg)
{
    struct repcache *rc = arg;
    struct repcache_db *db = NULL;
    pthread_mutex_lock(&rc->mutex);
    while (writer_wait(rc)) {
        rc->writing = rc->waiting;
        rc->waiting = (struct batch){0};
        struct file_stamp known = rc->known.stamp;
        pthread_mutex_unlock(&rc->mutex);
        bool foreign;
        struct err *err = write_rows(rc, &db, known, &foreign);
        pthread_mutex_lock(&rc->mutex);
        if (foreign || err)
            known_forget(&rc->known);
        rc->known.stamp = stamp_take(rc);
        rc->known.checked_ms = now_ms();
        if (err) {
            outage_begin(&rc->writer_out, rc, err);
            warn(rc, err);
        } else {
            rc->warned = false;
        }
        if (err && !rc->writer_err)
            rc->writer_err = err;
        else
            err_free(err);
        batch_clear(&rc->writing);
        pthread_cond_broadcast(&rc->written);
    }
    pthread_mutex_unlock(&rc->mutex);
    repcache_db_close(db);
    return NULL;
}

/* True while offers can reach the file. MUTEX is held. */
static bool writer_ready(struct repcache *rc)
{
    if (outage_lasts(&rc->writer_out, rc))
        return false;
    if (rc->has_writer)
        return true;
    int errnum = pthread_create(&rc->writer, NULL, writer_run, rc);
    rc->has_writer = errnum == 0;
    if (errnum) {
        err_free(rc->writer_err);
        rc->writer_err = err_errno(errnum, "Can't start the writer of '%s'", rc->path);
        outage_begin(&rc->writer_out, rc, rc->writer_err);
        warn(rc, rc->writer_err);
    }
    return rc->has_writer;
}

void posix_repcache_offer(struct store *store, const struct repcache_row *rows, size_t n)
{
    struct repcache *rc = posix_of(store)->repcache;
    if (n == 0)
        return;
    pthread_mutex_lock(&rc->mutex);
    while (rc->waiting.n >= ROWS_WAITING_MAX && !rc->writer_out.is)
        pthread_cond_wait(&rc->written, &rc->mutex);
    if (writer_ready(rc)) {
        bool was_empty = rc->waiting.n == 0;
        for (size_t i = 0; i < n; i++) {
            batch_add(&rc->waiting, &rows[i]);
            known_add(&rc->known, rows[i].sha1);
        }
        if (was_empty || rc->waiting.n >= ROWS_NOW)
            pthread_cond_signal(&rc->wake);
    }
    pthread_mutex_unlock(&rc->mutex);
}

void posix_repcache_hold(struct store *store, const struct repcache_row *rows, size_t n)
{
    struct repcache *rc = posix_of(store)->repcache;
    pthread_mutex_lock(&rc->mutex);
    for (size_t i = 0; i < n; i++)
        batch_add(&rc->held, &rows[i]);
    pthread_mutex_unlock(&rc->mutex);
}

void posix_repcache_release(struct store *store)
{
    struct repcache *rc = posix_of(store)->repcache;
    pthread_mutex_lock(&rc->mutex);
    struct batch held = rc->held;
    rc->held = (struct batch){0};
    pthread_mutex_unlock(&rc->mutex);
    posix_repcache_offer(store, held.list, held.n);
    batch_clear(&held);
}

void posix_repcache_forget(struct store *store)
{
    struct repcache *rc = posix_of(store)->repcache;
    pthread_mutex_lock(&rc->mutex);
    batch_clear(&rc->held);
    pthread_mutex_unlock(&rc->mutex);
}

struct err *posix_repcache_flush(struct store *store)
{
    struct repcache *rc = posix_of(store)->repcache;
    pthread_mutex_lock(&rc->mutex);
    rc->hurry = true;
    pthread_cond_signal(&rc->wake);
    while (rc->waiting.n || rc->writing.n)
        pthread_cond_wait(&rc->written, &rc->mutex);
    rc->hurry = false;
    struct err *err = rc->writer_err;
    rc->writer_err = NULL;
    pthread_mutex_unlock(&rc->mutex);
    return err;
}

void repcache_close(struct posix *store)
{
    struct repcache *rc = store->repcache;
    pthread_mutex_lock(&rc->mutex);
    rc->stop = true;
    pthread_cond_signal(&rc->wake);
    pthread_mutex_unlock(&rc->mutex);
    if (rc->has_writer)
        pthread_join(rc->writer, NULL);
    err_free(rc->writer_err); /* has been told as a warning */
    batch_clear(&rc->held);
    repcache_db_close(rc->reader);
    known_forget(&rc->known);
    pthread_cond_destroy(&rc->wake);
    pthread_cond_destroy(&rc->written);
    pthread_mutex_destroy(&rc->mutex);
    pthread_mutex_destroy(&rc->reader_mutex);
    free(rc->path);
    free(rc);
}

/* ---- finding ---- */

enum answer { ANSWER_YES, ANSWER_NO, ANSWER_ASK };

static enum answer find_in_memory(struct repcache_row *out, struct repcache *rc,
                                  const uint8_t sha1[SHA1_SIZE])
{
    enum answer answer = ANSWER_ASK;
    pthread_mutex_lock(&rc->mutex);
    const struct repcache_row *row = batch_find(&rc->waiting, sha1);
    if (!row)
        row = batch_find(&rc->writing, sha1);
    if (!row)
        row = batch_find(&rc->held, sha1);
    if (row) {
        *out = *row;
        answer = ANSWER_YES;
    } else if (known_is_current(rc) && !known_has(&rc->known, sha1)) {
        answer = ANSWER_NO;
    }
    pthread_mutex_unlock(&rc->mutex);
    return answer;
}

/* There is no file: all is known that is in it. */
static void know_empty(struct repcache *rc)
{
    pthread_mutex_lock(&rc->mutex);
    if (!rc->has_writer && !rc->known.complete)
        rc->known = (struct known){.complete = true};
    pthread_mutex_unlock(&rc->mutex);
}

static struct err *known_add_row(void *arg, const struct repcache_row *row)
{
    known_add(arg, row->sha1);
    return NULL;
}

/* Read all hashes, so that absent ones need no more questions to the file: unless somebody writes
 * meanwhile, or there are too many. READER_MUTEX is held. */
static void know_all(struct repcache *rc)
{
    struct known all = {.complete = true, .stamp = stamp_take(rc), .checked_ms = now_ms()};
    struct err *err = repcache_db_each(rc->reader, known_add_row, &all);
    pthread_mutex_lock(&rc->mutex);
    struct file_stamp after = stamp_take(rc);
    if (!err && all.complete && !rc->known.complete && rc->writing.n == 0 &&
        stamp_eq(&after, &all.stamp)) {
        for (size_t i = 0; i < rc->waiting.n; i++)
            known_add(&all, rc->waiting.list[i].sha1);
        rc->known = all;
    } else {
        known_forget(&all);
    }
    pthread_mutex_unlock(&rc->mutex);
    err_free(err); /* who needs all rows will meet it */
}

static struct err *find_in_reader(struct repcache_row *out, bool *found, struct repcache *rc,
                                  const uint8_t sha1[SHA1_SIZE])
{
    TRY(repcache_db_find(out, found, rc->reader, sha1));
    if (*found || ++rc->absent < SCAN_AFTER)
        return NULL;
    struct file_stamp stamp = stamp_take(rc);
    if (rc->absent * SCAN_BYTES_EACH >= stamp.size) {
        rc->absent = 0;
        know_all(rc);
    }
    return NULL;
}

static void reader_drop(struct repcache *rc)
{
    repcache_db_close(rc->reader);
    rc->reader = NULL;
    rc->absent = 0;
}

/* With a new connection where there is none. */
static struct err *find_once(struct repcache_row *out, bool *found, struct repcache *rc,
                             const uint8_t sha1[SHA1_SIZE])
{
    if (!rc->reader)
        TRY(repcache_db_open(&rc->reader, rc->path));
    if (rc->reader)
        return find_in_reader(out, found, rc, sha1);
    know_empty(rc);
    return NULL;
}

/* READER_MUTEX is held. */
static struct err *find_in_file(struct repcache_row *out, bool *found, struct repcache *rc,
                                const uint8_t sha1[SHA1_SIZE])
{
    *found = false;
    if (outage_lasts(&rc->reader_out, rc))
        return NULL;
    if (rc->reader && repcache_db_has_moved(rc->reader))
        reader_drop(rc);
    const bool is_old = rc->reader != NULL;
    struct err *err = find_once(out, found, rc, sha1);
    if (err && is_old && err->code != E_SQLITE_BUSY) {
        err_free(err);
        reader_drop(rc);
        err = find_once(out, found, rc, sha1);
    }
    if (err) {
        *found = false;
        reader_drop(rc);
        outage_begin(&rc->reader_out, rc, err);
    }
    return err;
}

struct err *posix_repcache_find(struct repcache_row *out, bool *found, struct store *store,
                                const uint8_t sha1[SHA1_SIZE])
{
    struct repcache *rc = posix_of(store)->repcache;
    *found = false;
    enum answer answer = find_in_memory(out, rc, sha1);
    *found = answer == ANSWER_YES;
    if (answer != ANSWER_ASK)
        return NULL;
    pthread_mutex_lock(&rc->reader_mutex);
    struct err *err = find_in_file(out, found, rc, sha1);
    pthread_mutex_unlock(&rc->reader_mutex);
    if (err) {
        pthread_mutex_lock(&rc->mutex);
        warn(rc, err);
        pthread_mutex_unlock(&rc->mutex);
        err_free(err);
    }
    return NULL;
}

bool posix_repcache_exists(struct store *store)
{
    return store->layout.packs && access(posix_of(store)->repcache->path, F_OK) == 0;
}

struct err *posix_repcache_each(struct store *store,
                                struct err *(*fn)(void *arg, const struct repcache_row *row),
                                void *arg)
{
    struct err *err = posix_repcache_flush(store);
    err_free(err); /* what is in the file is what is asked for */
    struct repcache_db *db;
    TRY(repcache_db_open(&db, posix_of(store)->repcache->path));
    if (!db)
        return NULL;
    err = repcache_db_each(db, fn, arg);
    repcache_db_close(db);
    return err;
}
