/* SPDX-License-Identifier: Apache-2.0 */
/* Records: the small files of the FSFS directory layout; see store.h. */
#include "store/posix/record.h"

#include "store/posix/draft.h"
#include "store/posix/files.h"

#include "base/num.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    RECORD_NAME_MAX =
        200, /* of one component; leaves room for folders and suffix in a struct name */
    LOCK_DIGEST_SIZE = 32,
    LOCK_FOLDER_SIZE = 3,
};

/* ---- where they are ---- */

static bool is_component(struct str s)
{
    return s.n > 0 && s.n <= RECORD_NAME_MAX && str_find(s, '/') == SIZE_MAX &&
           str_find(s, '\0') == SIZE_MAX && !str_eq(s, S(".")) && !str_eq(s, S(".."));
}

static bool is_digest(struct str s)
{
    if (s.n != LOCK_DIGEST_SIZE)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!isxdigit((unsigned char)s.p[i]))
            return false;
    return true;
}

/* "<txn>/<file>" */
static bool split_txn(struct str *txn, struct str *file, struct str name)
{
    size_t slash = str_find(name, '/');
    if (slash == SIZE_MAX)
        return false;
    *txn = str_make(name.p, slash);
    *file = str_skip(name, slash + 1);
    return is_component(*txn) && is_component(*file);
}

static bool has_valid_name(struct record_key key)
{
    struct str txn, file;
    switch (key.kind) {
    case RECORD_REVPROP_PACK:
    case RECORD_TXN_PROTOREV:
    case RECORD_NODE_ORIGIN:
        return is_component(key.name);
    case RECORD_LOCK:
        return is_digest(key.name);
    case RECORD_TXN:
        return split_txn(&txn, &file, key.name);
    default:
        return true;
    }
}

static struct name name_protorev(const struct posix *store, struct str txn, const char *suffix)
{
    if (store->base.layout.txn_current)
        return name_printf("txn-protorevs/%.*s.rev%s", STR(txn), suffix);
    return name_printf("transactions/%.*s.txn/rev%s", STR(txn), suffix);
}

static struct name name_record(const struct posix *store, struct record_key key)
{
    struct str txn = key.name, file = key.name;
    switch (key.kind) {
    case RECORD_FORMAT:
        return name_printf("format");
    case RECORD_FS_TYPE:
        return name_printf("fs-type");
    case RECORD_UUID:
        return name_printf("uuid");
    case RECORD_CONFIG:
        return name_printf("fsfs.conf");
    case RECORD_MIN_UNPACKED:
        return name_printf("min-unpacked-rev");
    case RECORD_REVPROPS:
        return name_revprops(store, key.rev);
    case RECORD_REVPROP_MANIFEST:
        return name_printf("revprops/%lld.pack/manifest", (long long)key.rev);
    case RECORD_REVPROP_PACK:
        return name_printf("revprops/%lld.pack/%.*s", (long long)key.rev, STR(file));
    case RECORD_LOCK:
        return name_printf("locks/%.*s/%.*s", LOCK_FOLDER_SIZE, file.p, STR(file));
    case RECORD_TXN:
        split_txn(&txn, &file, key.name);
        return name_printf("transactions/%.*s.txn/%.*s", STR(txn), STR(file));
    case RECORD_TXN_PROTOREV:
        return name_protorev(store, txn, "");
    case RECORD_NODE_ORIGIN:
        return name_printf("node-origins/%.*s", STR(file));
    }
    __builtin_unreachable();
}

/* The file of KEY; a name that came from the disk or the wire may not lead elsewhere. */
static struct err *find(struct name *out, const struct posix *store, struct record_key key)
{
    if (!has_valid_name(key))
        return err_make(E_BAD_FILENAME, "'%.*s' can't be the name of a file in '%s'", STR(key.name),
                        store->base.path);
    *out = name_record(store, key);
    return NULL;
}

static bool is_durable(enum record_kind kind)
{
    return kind != RECORD_LOCK && kind != RECORD_TXN && kind != RECORD_TXN_PROTOREV &&
           kind != RECORD_NODE_ORIGIN;
}

/* ---- get ---- */

struct err *posix_record_get(struct buf *out, bool *found, struct store *base,
                             struct record_key key)
{
    struct posix *store = posix_of(base);
    struct name name;
    TRY(find(&name, store, key));
    return file_get(out, found, store, name.s);
}

/* ---- ahead ---- */

static int open_file(int folder, const char *path)
{
    return openat(folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static void prefetch_file(int fd)
{
    posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
    close(fd);
}

enum { FILES_OPEN = 64 }; /* of a folder, sorted at a time */

/* Where the filesystem does not tell the place of a file's first byte, it is 0: such files go by
 * their inodes' numbers, which are mostly given out in the order of the places. */
struct file_on_disk {
    uint64_t place;
    ino_t inode;
    int fd;
};

static int compare_places(const void *a, const void *b)
{
    const struct file_on_disk *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static uint64_t place_of_file(int fd)
{
    union {
        struct fiemap map;
        char room[sizeof(struct fiemap) + sizeof(struct fiemap_extent)];
    } u = {.map = {.fm_length = FIEMAP_MAX_OFFSET, .fm_extent_count = 1}};
    if (ioctl(fd, FS_IOC_FIEMAP, &u.map) != 0 || u.map.fm_mapped_extents == 0)
        return 0;
    return u.map.fm_extents[0].fe_physical;
}

static void prefetch_files(struct file_on_disk *files, size_t n)
{
    qsort(files, n, sizeof *files, compare_places);
    for (size_t i = 0; i < n; i++)
        prefetch_file(files[i].fd);
}

static void prefetch_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return;
    struct file_on_disk files[FILES_OPEN];
    size_t n = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const int fd = entry->d_name[0] == '.' ? -1 : open_file(dirfd(folder), entry->d_name);
        if (fd < 0)
            continue;
        files[n++] = (struct file_on_disk){place_of_file(fd), entry->d_ino, fd};
        if (n == FILES_OPEN) {
            prefetch_files(files, n);
            n = 0;
        }
    }
    prefetch_files(files, n);
    closedir(folder);
}

/* What is not there its reader will tell. */
void posix_record_prefetch(struct store *base, struct record_key key, enum record_ahead what)
{
    char path[PATH_SIZE];
    struct name name;
    struct stat st;
    struct err *err = find(&name, posix_of(base), key);
    if (err) {
        err_free(err);
        return;
    }
    path_of(path, posix_of(base), name.s);
    if (what == AHEAD_FIND) {
        (void)!stat(path, &st);
    } else if (what == AHEAD_PLACE) {
        *strrchr(path, '/') = '\0';
        prefetch_folder(path);
    } else {
        const int fd = open_file(AT_FDCWD, path);
        if (fd >= 0)
            prefetch_file(fd);
    }
}

/* ---- put ---- */

/* The mode of revision 0's file, which is that of all committed data; 0444 in a store that has none
 * yet. */
static mode_t mode_of_data(const struct posix *store)
{
    char path[PATH_SIZE];
    struct stat st;
    path_of(path, store, name_rev(store, 0).s);
    if (stat(path, &st) == 0)
        return st.st_mode & 07777;
    path_of(path, store, "revs/0.pack/pack");
    if (stat(path, &st) == 0)
        return st.st_mode & 07777;
    return 0444;
}

static mode_t mode_of_new(const struct posix *store, enum record_kind kind)
{
    switch (kind) {
    case RECORD_FORMAT:
        return 0444;
    case RECORD_REVPROPS:
    case RECORD_LOCK:
        return mode_of_data(store);
    default:
        return 0;
    }
}

/* Make the folder NAME below folder PARENT, in the likeness of LIKE. */
static struct err *make_below(struct posix *store, const char *parent, struct name name,
                              const char *like, bool durable)
{
    bool made;
    TRY(folder_make(&made, store, name.s, like));
    return made && durable ? folder_sync(store, parent) : NULL;
}

/* Make the folders that hold KEY. */
static struct err *make_folders(struct posix *store, struct record_key key)
{
    struct str txn, file;
    switch (key.kind) {
    case RECORD_REVPROPS:
        return make_below(store, "revprops", name_revprops_folder(store, key.rev), "revprops",
                          true);
    case RECORD_REVPROP_MANIFEST:
    case RECORD_REVPROP_PACK:
        return make_below(store, "revprops", name_printf("revprops/%lld.pack", (long long)key.rev),
                          name_printf("revprops/%lld", (long long)key.rev).s, true);
    case RECORD_LOCK:
        TRY(make_below(store, "", name_printf("locks"), "", false));
        return make_below(store, "locks", name_printf("locks/%.*s", LOCK_FOLDER_SIZE, key.name.p),
                          "", false);
    case RECORD_TXN:
        split_txn(&txn, &file, key.name);
        return make_below(store, "transactions", name_printf("transactions/%.*s.txn", STR(txn)),
                          "transactions", false);
    case RECORD_TXN_PROTOREV:
        if (store->base.layout.txn_current)
            return make_below(store, "", name_printf("txn-protorevs"), "", false);
        return make_below(store, "transactions",
                          name_printf("transactions/%.*s.txn", STR(key.name)), "transactions",
                          false);
    case RECORD_NODE_ORIGIN:
        return make_below(store, "", name_printf("node-origins"), "", false);
    default:
        return NULL;
    }
}

/* What a record says about the store itself is known from here on. */
static struct err *learn(struct posix *store, enum record_kind kind, struct str bytes)
{
    revnum rev;
    if (kind == RECORD_MIN_UNPACKED && num_i64(&rev, str_trim(bytes)) && rev >= 0)
        store->known_unpacked = rev;
    return kind == RECORD_FORMAT || kind == RECORD_UUID ? store_identify(store) : NULL;
}

struct err *posix_record_put(struct store *base, struct record_key key, struct str bytes)
{
    struct posix *store = posix_of(base);
    struct name name;
    struct file_put how = {.mode = mode_of_new(store, key.kind), .durable = is_durable(key.kind)};
    TRY(find(&name, store, key));
    if (bytes.n > RECORD_SIZE_MAX)
        return err_make(E_REPOS_BAD_ARGS, "File '%s' would be larger than %d bytes", name.s,
                        RECORD_SIZE_MAX);
    struct err *err = file_put(store, name.s, bytes, how);
    if (err_has(err, ENOENT)) {
        err_free(err);
        TRY(make_folders(store, key));
        err = file_put(store, name.s, bytes, how);
    }
    return err ? err : learn(store, key.kind, bytes);
}

static struct err *copy_draft(struct posix *store, int fd, struct posix_draft *draft,
                              const char *path)
{
    enum { PIECE = 256 << 10 };
    char *piece = mem_alloc(PIECE);
    struct err *err = NULL;
    for (uint64_t at = 0, size = draft->base.size; at < size && !err; at += PIECE) {
        size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        err = posix_draft_reread(&draft->base, at, piece, n);
        if (!err)
            err = write_all(store, fd, str_make(piece, n), at, path);
    }
    free(piece);
    return err;
}

struct err *posix_draft_show(struct draft *base, struct str txn)
{
    struct posix_draft *draft = draft_of(base);
    struct posix *store = draft->store;
    struct record_key key = {RECORD_TXN_PROTOREV, REV_NONE, txn};
    struct name name;
    char temp[PATH_SIZE];
    int fd;
    TRY(posix_record_put(&store->base, key, S(""))); /* makes the folders too */
    TRY(find(&name, store, key));
    TRY(file_put_prepare(&fd, temp, store, name.s, S(""), 0));
    struct err *err = copy_draft(store, fd, draft, temp);
    if (err)
        store->disk->unlink(store->disk, temp);
    else
        err = file_put_rename(store, temp, name.s);
    store->disk->close(store->disk, fd);
    return err;
}

struct err *posix_record_delete(struct store *base, struct record_key key)
{
    struct posix *store = posix_of(base);
    struct name name;
    char path[PATH_SIZE], folder[PATH_SIZE];
    TRY(find(&name, store, key));
    path_of(path, store, name.s);
    path_folder(folder, path);
    if (store->disk->unlink(store->disk, path) != 0)
        return errno == ENOENT ? NULL : err_errno(errno, "Can't remove file '%s'", path);
    if (is_durable(key.kind) && store_flushes(store) &&
        store->disk->sync_folder(store->disk, folder) != 0)
        return err_errno(errno, "Can't flush folder '%s' to disk", folder);
    return NULL;
}

struct err *posix_txn_remove(struct store *base, struct str txn)
{
    struct posix *store = posix_of(base);
    if (!is_component(txn))
        return err_make(E_FS_NO_SUCH_TRANSACTION, "No such transaction '%.*s'", STR(txn));
    TRY(folder_remove(store, name_printf("transactions/%.*s.txn", STR(txn)).s, NULL));
    if (!store->base.layout.txn_current)
        return NULL; /* the proto-revision was in the folder */
    static const char *const suffixes[] = {"", "-lock"};
    for (size_t i = 0; i < 2; i++) {
        char path[PATH_SIZE];
        path_of(path, store, name_protorev(store, txn, suffixes[i]).s);
        if (store->disk->unlink(store->disk, path) != 0 && errno != ENOENT)
            return err_errno(errno, "Can't remove file '%s'", path);
    }
    return NULL;
}

/* ---- scan ---- */

static bool ends_in_txn(struct str entry)
{
    return entry.n > 4 && str_ends(entry, S(".txn"));
}

static bool ends_in_rev(struct str entry)
{
    return entry.n > 4 && str_ends(entry, S(".rev"));
}

static bool is_lock_folder(struct str entry)
{
    return entry.n == LOCK_FOLDER_SIZE;
}

static bool is_no_temporary(struct str entry)
{
    return !str_ends(entry, S(".tmp"));
}

/* The names in FOLDER that KEEP_IF accepts, less a suffix of four bytes where they have one. */
static struct err *scan_folder(struct str **names, size_t *count, struct posix *store,
                               const char *folder, bool (*keep_if)(struct str), size_t suffix,
                               struct arena *arena)
{
    TRY(folder_list(names, count, store, folder, keep_if, arena));
    for (size_t i = 0; i < *count; i++)
        (*names)[i].n -= suffix;
    return NULL;
}

static struct err *scan_locks(struct str **names, size_t *count, struct posix *store,
                              struct arena *arena)
{
    struct str *folders, *digests;
    size_t folder_count, n;
    AUTO_BUF(all);
    TRY(folder_list(&folders, &folder_count, store, "locks", is_lock_folder, arena));
    for (size_t i = 0; i < folder_count; i++) {
        TRY(folder_list(&digests, &n, store, name_printf("locks/%.*s", STR(folders[i])).s,
                        is_digest, arena));
        if (n > 0)
            buf_add(&all, digests, n * sizeof(*digests));
    }
    *count = all.n / sizeof(struct str);
    *names = arena_array(arena, *count, sizeof(struct str));
    if (all.n > 0)
        memcpy(*names, all.p, all.n);
    return NULL;
}

struct err *posix_record_scan(struct str **names, size_t *count, struct store *base,
                              enum record_kind kind, struct arena *arena)
{
    struct posix *store = posix_of(base);
    switch (kind) {
    case RECORD_TXN:
        return scan_folder(names, count, store, "transactions", ends_in_txn, 4, arena);
    case RECORD_TXN_PROTOREV:
        return scan_folder(names, count, store, "txn-protorevs", ends_in_rev, 4, arena);
    case RECORD_LOCK:
        return scan_locks(names, count, store, arena);
    case RECORD_NODE_ORIGIN:
        return scan_folder(names, count, store, "node-origins", is_no_temporary, 0, arena);
    default:
        return err_make(E_UNSUPPORTED_FEATURE, "Records of kind %d can't be listed in '%s'",
                        (int)kind, store->base.path);
    }
}

/* ---- versions ---- */

/* The folder that holds KEY, and whether it is a pack's. */
static bool place_of(struct name *folder, struct posix *store, struct record_key key)
{
    int64_t shard_size = store->base.layout.shard_size;
    bool packed = key.kind == RECORD_REVPROPS && store->base.layout.revprop_packs &&
                  shard_size > 0 && key.rev > 0 && key.rev < store->known_unpacked;
    if (packed) {
        *folder = name_printf("revprops/%lld.pack", (long long)(key.rev / shard_size));
        return true;
    }
    *folder = name_record(store, key);
    char *slash = strrchr(folder->s, '/');
    if (slash)
        *slash = '\0';
    else
        folder->s[0] = '\0';
    return false;
}

/* A change within the clock's grain of another cannot be told from it; no clock of a filesystem is
 * coarser than FAT's. */
static bool is_settled(const struct timespec *changed)
{
    enum { GRAIN_SECONDS = 2 };
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - changed->tv_sec > GRAIN_SECONDS ||
           (now.tv_sec - changed->tv_sec == GRAIN_SECONDS && now.tv_nsec >= changed->tv_nsec);
}

static struct version version_of(const struct stat *st, uint64_t third)
{
    const uint64_t ns = (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
    return (struct version){{ns, st->st_ino, third}, is_settled(&st->st_mtim)};
}

struct err *posix_record_version(struct version *out, struct store *base, struct record_key key)
{
    struct posix *store = posix_of(base);
    struct name name;
    char path[PATH_SIZE];
    struct stat st;
    *out = (struct version){0};
    TRY(find(&name, store, key));
    path_of(path, store, name.s);
    if (store->disk->stat(store->disk, path, &st) == 0)
        *out = version_of(&st, (uint64_t)st.st_size);
    else if (errno != ENOENT)
        return err_errno(errno, "Can't stat file '%s'", path);
    return NULL;
}

/* The lease keeps others away in between. */
struct err *posix_record_cas(bool *done, struct store *base, struct record_key key,
                             const struct version *was, struct str bytes)
{
    struct version now;
    TRY(posix_record_version(&now, base, key));
    *done = version_equal(&now, was);
    return *done ? posix_record_put(base, key, bytes) : NULL;
}

struct err *posix_record_place_version(struct version *out, struct store *base,
                                       struct record_key key)
{
    struct posix *store = posix_of(base);
    struct name record, folder;
    char path[PATH_SIZE];
    struct stat st;
    *out = (struct version){0};
    TRY(find(&record, store, key));
    bool packed = place_of(&folder, store, key);
    path_of(path, store, folder.s);
    int rc = store->disk->stat(store->disk, path, &st);
    if (rc != 0 && errno == ENOENT) { /* packed meanwhile, or what we knew is old */
        revnum unpacked;
        TRY(store_min_unpacked(&unpacked, base));
        packed = place_of(&folder, store, key);
        path_of(path, store, folder.s);
        rc = store->disk->stat(store->disk, path, &st);
    }
    if (rc == 0)
        *out = version_of(&st, packed);
    else if (errno != ENOENT)
        return err_errno(errno, "Can't stat folder '%s'", path);
    return NULL;
}
