/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies: published files, immutable, read through descriptors that are kept open; see store.h.
 *
 * The cache holds one reference on each body it knows, under its key, and a list from newest use to
 * oldest. A look-up is a hash and a few pointers under a mutex, without a system call. A body that
 * leaves the cache is closed when the last arena has let go of it. Only what cannot change is kept:
 * revisions up to the head that we have read, packs, and revisions that this process staged. */
#include "store/posix/body.h"

#include "store/posix/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    CACHE_BODIES_MAX = 4096, /* descriptors */
    CACHE_SHARE = 4,         /* of the process's limit, where that is less */
    CACHE_BUCKETS = 512,
    READ_VECTORS = 64,       /* spans that follow each other are read by one call */
    PREFETCH_SPANS = 1024,   /* sorted at a time */
    PREFETCH_GAP = 64 << 10, /* a hole this small costs less than another request */
    ASK_MAX = 128 << 10,     /* of a longer request the kernel may drop the rest: its read-ahead */
    REGION = 8 << 20,        /* see region_waited */
    REGIONS_MAX = 1 << 16,
    REGION_WAIT_US = REGION / 100 / 2, /* half of what 8 MiB take at 100 bytes a microsecond */
};

struct entry {
    struct body body; /* first */
    int fd;
    uint64_t key;
    struct entry *next;          /* in the bucket */
    struct entry *newer, *older; /* by last use */
    _Atomic uint64_t last_end;   /* of the last read that had to wait */
    size_t regions;
    _Atomic uint32_t waited_us[]; /* for reads that begin in each region */
};

static int fd_of(const struct body *body)
{
    return ((const struct entry *)body)->fd;
}

static const struct posix *store_of(const struct body *body)
{
    return posix_of(body->store);
}

struct body_cache {
    pthread_mutex_t mutex;
    struct entry *buckets[CACHE_BUCKETS];
    struct entry *newest, *oldest;
    size_t count, max;
    uint64_t highest; /* no loose body has a higher key */
};

/* ---- the cache ---- */

static uint64_t key_of(revnum first_rev, bool packed)
{
    return (uint64_t)first_rev * 2 + packed;
}

static size_t bucket_of(uint64_t key)
{
    return (key * 0x9e3779b97f4a7c15u) >> 55; /* the top 9 bits: CACHE_BUCKETS */
}

struct body_cache *body_cache_new(void)
{
    struct body_cache *cache = mem_zalloc(sizeof(*cache));
    struct rlimit limit;
    pthread_mutex_init(&cache->mutex, NULL);
    cache->max = CACHE_BODIES_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / CACHE_SHARE < cache->max)
        cache->max = limit.rlim_cur / CACHE_SHARE;
    return cache;
}

static void list_unlink(struct body_cache *cache, struct entry *entry)
{
    *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
}

static void list_push(struct body_cache *cache, struct entry *entry)
{
    entry->newer = NULL;
    entry->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

static struct entry *table_find(struct body_cache *cache, uint64_t key)
{
    struct entry *entry = cache->buckets[bucket_of(key)];
    while (entry && entry->key != key)
        entry = entry->next;
    return entry;
}

/* Out of the cache; the reference that it held is the caller's. */
static struct entry *cache_take(struct body_cache *cache, struct entry *entry)
{
    struct entry **link = &cache->buckets[bucket_of(entry->key)];
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    list_unlink(cache, entry);
    cache->count--;
    return entry;
}

/* The body under KEY with a reference for the caller, or NULL. */
static struct body *cache_find(struct body_cache *cache, uint64_t key)
{
    pthread_mutex_lock(&cache->mutex);
    struct entry *entry = table_find(cache, key);
    if (entry) {
        if (entry != cache->newest) {
            list_unlink(cache, entry);
            list_push(cache, entry);
        }
        shared_ref(entry);
    }
    pthread_mutex_unlock(&cache->mutex);
    return entry ? &entry->body : NULL;
}

/* Let the cache hold ENTRY too. Where another thread was first, its body stays: both read the same
 * file. */
static void cache_add(struct body_cache *cache, struct entry *entry)
{
    struct entry *out = NULL;
    pthread_mutex_lock(&cache->mutex);
    if (cache->max > 0 && !table_find(cache, entry->key)) {
        if (cache->count >= cache->max)
            out = cache_take(cache, cache->oldest);
        entry->next = cache->buckets[bucket_of(entry->key)];
        cache->buckets[bucket_of(entry->key)] = shared_ref(entry);
        list_push(cache, entry);
        cache->count++;
        if (!entry->body.packed && entry->key > cache->highest)
            cache->highest = entry->key;
    }
    pthread_mutex_unlock(&cache->mutex);
    shared_unref(out);
}

/* Drop all bodies whose key is at least FROM and, where LOOSE_ONLY, which are no packs. */
static void cache_drop(struct body_cache *cache, uint64_t from, bool loose_only)
{
    pthread_mutex_lock(&cache->mutex);
    for (struct entry *entry = cache->newest, *older; entry; entry = older) {
        older = entry->older;
        if (entry->key >= from && !(loose_only && entry->body.packed))
            shared_unref(cache_take(cache, entry));
    }
    pthread_mutex_unlock(&cache->mutex);
}

void body_cache_free(struct body_cache *cache)
{
    cache_drop(cache, 0, false);
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

void bodies_forget_all(const struct posix *store)
{
    cache_drop(store->bodies, 0, false);
}

void posix_forget(struct store *base)
{
    struct posix *store = posix_of(base);
    bodies_forget_all(store);
}

void bodies_forget(struct posix *store, revnum from)
{
    uint64_t key = key_of(from, false);
    pthread_mutex_lock(&store->bodies->mutex);
    bool none = store->bodies->highest < key; /* so it is at every commit but after a failed one */
    pthread_mutex_unlock(&store->bodies->mutex);
    if (!none)
        cache_drop(store->bodies, key, true);
}

/* ---- find ---- */

static void body_destroy(struct shared *self)
{
    struct entry *entry = (struct entry *)self;
    close(entry->fd);
    free(entry);
}

/* A revision that is staged lies under a temporary name until the moment in which it is published:
 * who finds neither name looks for the first again. */
static int open_file(struct posix *store, revnum first_rev, bool packed, const char *path)
{
    char temp[PATH_SIZE];
    int fd = file_open(store, path);
    if (fd >= 0 || errno != ENOENT || packed ||
        first_rev > atomic_load_explicit(&store->staged_last, memory_order_acquire))
        return fd;
    path_of(temp, store, name_staged("revs", first_rev).s);
    fd = file_open(store, temp);
    return fd < 0 && errno == ENOENT ? file_open(store, path) : fd;
}

static struct name name_body(const struct posix *store, revnum first_rev, bool packed)
{
    if (packed)
        return name_printf("revs/%lld.pack/pack",
                           (long long)(first_rev / store->base.layout.shard_size));
    return name_rev(store, first_rev);
}

/* The same file gives the same number whenever it is opened, another file in its place another one:
 * the finaliser of splitmix64 over what tells them apart. */
static uint64_t identity_of(uint64_t key, const struct stat *st)
{
    uint64_t parts[] = {key, st->st_ino, (uint64_t)st->st_mtim.tv_sec,
                        (uint64_t)st->st_mtim.tv_nsec};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        h += parts[i] + 0x9e3779b97f4a7c15u;
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
        h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
        h ^= h >> 31;
    }
    return h;
}

/* *OUT is NULL where there is no such file. */
static struct err *body_open(struct entry **out, struct posix *store, revnum first_rev, bool packed)
{
    char path[PATH_SIZE];
    struct stat st;
    path_of(path, store, name_body(store, first_rev, packed).s);
    *out = NULL;
    int fd = open_file(store, first_rev, packed, path);
    if (fd < 0)
        return errno == ENOENT || errno == ESTALE ? NULL
                                                  : err_errno(errno, "Can't open file '%s'", path);
    struct err *err = file_stat(&st, store, fd, path);
    if (err) {
        close(fd);
        return err;
    }
    const uint64_t size = (uint64_t)st.st_size;
    const uint64_t regions = size / REGION < REGIONS_MAX ? size / REGION + 1 : REGIONS_MAX;
    struct entry *entry = mem_zalloc(sizeof(*entry) + regions * sizeof(entry->waited_us[0]));
    entry->regions = regions;
    shared_init(&entry->body.shared, sizeof(*entry), body_destroy);
    entry->key = key_of(first_rev, packed);
    entry->body.store = &store->base;
    entry->body.first_rev = first_rev;
    entry->body.packed = packed;
    entry->body.size = size;
    entry->body.identity = identity_of(entry->key, &st);
    entry->fd = fd;
    *out = entry;
    return NULL;
}

/* Can the file of REV not change any more? A head that we have not read yet is read now. */
static bool is_final(struct posix *store, revnum rev)
{
    struct head head;
    if (rev <= atomic_load_explicit(&store->known_head, memory_order_acquire) ||
        rev <= atomic_load_explicit(&store->staged_last, memory_order_acquire))
        return true;
    struct err *err = store_head(&head, &store->base);
    bool final = !err && rev <= head.youngest;
    err_free(err);
    return final;
}

/* Where REV is as far as we know: the key's two parts. */
static bool place_of(revnum *first_rev, const struct posix *store, revnum rev)
{
    bool packed = rev < atomic_load_explicit(&store->known_unpacked, memory_order_acquire);
    *first_rev = packed ? rev - rev % store->base.layout.shard_size : rev;
    return packed;
}

static struct err *no_such_revision(const struct posix *store, revnum rev)
{
    if (rev < 0 || store->base.layout.shard_size == 0)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld", (long long)rev);
    return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld: neither '%s' nor '%s' is there",
                    (long long)rev, name_body(store, rev, false).s, name_body(store, rev, true).s);
}

/* A pack makes its file, then moves min-unpacked-rev, then removes the loose files: who finds a
 * file missing finds the right place in min-unpacked-rev. Twice, since the answer may be old again
 * when we come there. */
struct err *posix_body(struct body **out, struct store *base, revnum rev, struct arena *arena)
{
    struct posix *store = posix_of(base);
    enum { TRIES = 3 };
    for (int tries = 0; rev >= 0 && tries < TRIES; tries++) {
        revnum first_rev, unpacked;
        struct entry *entry;
        bool packed = place_of(&first_rev, store, rev);
        *out = cache_find(store->bodies, key_of(first_rev, packed));
        if (*out) {
            arena_keep(arena, &(*out)->shared);
            return NULL;
        }
        TRY(body_open(&entry, store, first_rev, packed));
        if (entry) {
            arena_keep(arena, &entry->body.shared);
            if (packed || is_final(store, rev))
                cache_add(store->bodies, entry);
            *out = &entry->body;
            return NULL;
        }
        TRY(store_min_unpacked(&unpacked, base));
        revnum again_first;
        if (place_of(&again_first, store, rev) == packed && tries > 0)
            break;
    }
    return no_such_revision(store, rev);
}

/* ---- read ---- */

static struct err *read_failed(const struct body *body, int code)
{
    struct name name = name_body(store_of(body), body->first_rev, body->packed);
    if (code == 0)
        return err_make(E_FS_CORRUPT, "File '%s/%s' ends too early", store_path(body->store),
                        name.s);
    return err_errno(code, "Can't read file '%s/%s'", store_path(body->store), name.s);
}

static bool is_inside(const struct body *body, const struct span *span)
{
    return span->offset <= body->size && span->n <= body->size - span->offset;
}

static struct err *check_span(const struct body *body, const struct span *span)
{
    if (is_inside(body, span))
        return NULL;
    struct name name = name_body(store_of(body), body->first_rev, body->packed);
    return err_make(E_FS_CORRUPT, "%zu bytes at offset %llu are not in file '%s/%s' of %llu bytes",
                    span->n, (unsigned long long)span->offset, store_path(body->store), name.s,
                    (unsigned long long)body->size);
}

/* Fill all of VECTORS from OFFSET on. */
static struct err *read_vectors(const struct body *body, struct iovec *vectors, int count,
                                uint64_t offset)
{
    struct disk *disk = store_of(body)->disk;
    while (count > 0) {
        ssize_t got = disk->preadv(disk, fd_of(body), vectors, count, (off_t)offset, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 && vectors->iov_len > 0)
            return read_failed(body, got < 0 ? errno : 0);
        offset += (uint64_t)got;
        while (count > 0 && (size_t)got >= vectors->iov_len) {
            got -= (ssize_t)vectors->iov_len;
            vectors++;
            count--;
        }
        if (count > 0) {
            vectors->iov_base = (char *)vectors->iov_base + got;
            vectors->iov_len -= (size_t)got;
        }
    }
    return NULL;
}

/* Start reading from OFFSET to END. */
static void ask(const struct body *body, uint64_t offset, uint64_t end)
{
    for (uint64_t n; offset < end; offset += n) {
        n = end - offset < ASK_MAX ? end - offset : ASK_MAX;
        posix_fadvise(fd_of(body), (off_t)offset, (off_t)n, POSIX_FADV_WILLNEED);
    }
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Who waits for scattered reads as long as it would take to read everything has chosen the wrong
 * way; when half of that time is gone, the region is asked for whole. On a spinning disk that is
 * after five seeks or so; a disk without them never gets there. */
static void region_waited(struct entry *entry, uint64_t offset, uint64_t us)
{
    const uint64_t region = offset / REGION;
    if (region >= entry->regions)
        return;
    _Atomic uint32_t *const waited = &entry->waited_us[region];
    const uint32_t before = atomic_load_explicit(waited, memory_order_relaxed);
    if (before >= REGION_WAIT_US)
        return;
    const uint32_t after = us < REGION_WAIT_US ? before + (uint32_t)us : REGION_WAIT_US;
    atomic_store_explicit(waited, after, memory_order_relaxed); /* a lost wait does no harm */
    const uint64_t start = region * REGION, left = entry->body.size - start;
    if (after >= REGION_WAIT_US)
        ask(&entry->body, start, start + (left < REGION ? left : REGION));
}

/* Does a read at OFFSET go on where the last one ended, or nearly? */
static bool is_in_sequence(const struct entry *entry, uint64_t offset)
{
    const uint64_t last = atomic_load_explicit(&entry->last_end, memory_order_relaxed);
    return offset + PREFETCH_GAP >= last && offset <= last + PREFETCH_GAP;
}

/* What is in the page cache costs no wait, and one system call. */
static bool read_at_once(const struct body *body, const struct iovec *vectors, int count,
                         uint64_t offset, uint64_t end)
{
    struct disk *disk = store_of(body)->disk;
    const ssize_t got = disk->preadv(disk, fd_of(body), vectors, count, (off_t)offset, RWF_NOWAIT);
    return got >= 0 && (uint64_t)got == end - offset;
}

static struct err *read_timed(struct entry *entry, struct iovec *vectors, int count,
                              uint64_t offset, uint64_t end)
{
    if (read_at_once(&entry->body, vectors, count, offset, end))
        return NULL;
    const uint64_t began = now_us();
    TRY(read_vectors(&entry->body, vectors, count, offset));
    if (!is_in_sequence(entry, offset))
        region_waited(entry, offset, now_us() - began);
    atomic_store_explicit(&entry->last_end, end, memory_order_relaxed);
    return NULL;
}

struct err *posix_body_read(struct body *body, const struct span *spans, size_t count)
{
    for (size_t i = 0; i < count;) {
        struct iovec vectors[READ_VECTORS];
        uint64_t start = spans[i].offset, end = start;
        int n = 0;
        for (; i < count && n < READ_VECTORS && spans[i].offset == end; i++) {
            TRY(check_span(body, &spans[i]));
            if (spans[i].n > 0)
                vectors[n++] = (struct iovec){spans[i].to, spans[i].n};
            end += spans[i].n;
        }
        TRY(read_timed((struct entry *)body, vectors, n, start, end));
    }
    return NULL;
}

static int compare_offsets(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Ask for up to PREFETCH_SPANS spans, in the order of the disk, those close to each other in one.
 */
static void prefetch_some(const struct body *body, const struct span *spans, size_t count)
{
    struct span sorted[PREFETCH_SPANS];
    memcpy(sorted, spans, count * sizeof(*spans));
    qsort(sorted, count, sizeof(*sorted), compare_offsets);
    uint64_t start = 0, end = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_inside(body, &sorted[i]) || sorted[i].n == 0)
            continue;
        uint64_t span_end = sorted[i].offset + sorted[i].n;
        if (end > 0 && sorted[i].offset > end + PREFETCH_GAP) {
            ask(body, start, end);
            end = 0;
        }
        if (end == 0)
            start = sorted[i].offset;
        if (span_end > end)
            end = span_end;
    }
    if (end > 0)
        ask(body, start, end);
}

void posix_body_prefetch(struct body *body, const struct span *spans, size_t count)
{
    while (count > 0) {
        size_t n = count < PREFETCH_SPANS ? count : PREFETCH_SPANS;
        prefetch_some(body, spans, n);
        spans += n;
        count -= n;
    }
}

struct err *posix_body_manifest(struct buf *out, struct body *body)
{
    bool found = false;
    struct name name = name_printf("revs/%lld.pack/manifest",
                                   (long long)(body->first_rev / body->store->layout.shard_size));
    if (body->packed)
        TRY(file_get(out, &found, store_of(body), name.s));
    return found ? NULL
                 : err_errno(ENOENT, "Can't open file '%s/%s'", store_path(body->store), name.s);
}
