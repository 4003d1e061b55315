/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, whole files and folders of the FSFS directory layout; see files.h. */
#include "store/posix/files.h"

#include "store/posix/body.h"

#include "base/num.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    ESTALE_RETRIES = 10,     /* NFS: a file was replaced while we opened it */
    TEMP_NAME_TRIES = 10000, /* left-over temporary files of a process with our number */
};

/* ---- paths ---- */

/* store_open has seen to it that PATH_SIZE is enough for every struct name behind db/. */
void path_of(char out[PATH_SIZE], const struct posix *store, const char *name)
{
    snprintf(out, PATH_SIZE, "%s%s%s", store->base.path, *name ? "/" : "", name);
}

void path_folder(char out[PATH_SIZE], const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    memcpy(out, path, n);
    out[n] = '\0';
}

struct name name_printf(const char *fmt, ...)
{
    struct name name;
    va_list args;
    va_start(args, fmt);
    vsnprintf(name.s, sizeof(name.s), fmt, args);
    va_end(args);
    return name;
}

static struct name name_numbered(const struct posix *store, const char *top, revnum rev)
{
    int64_t shard_size = store->base.layout.shard_size;
    if (shard_size == 0)
        return name_printf("%s/%lld", top, (long long)rev);
    return name_printf("%s/%lld/%lld", top, (long long)(rev / shard_size), (long long)rev);
}

static struct name name_shard(const struct posix *store, const char *top, revnum rev)
{
    int64_t shard_size = store->base.layout.shard_size;
    if (shard_size == 0)
        return name_printf("%s", top);
    return name_printf("%s/%lld", top, (long long)(rev / shard_size));
}

struct name name_staged(const char *what, revnum rev)
{
    return name_printf("varve-%s-%lld.tmp", what, (long long)rev);
}

struct name name_rev(const struct posix *store, revnum rev)
{
    return name_numbered(store, "revs", rev);
}

struct name name_rev_folder(const struct posix *store, revnum rev)
{
    return name_shard(store, "revs", rev);
}

struct name name_revprops(const struct posix *store, revnum rev)
{
    return name_numbered(store, "revprops", rev);
}

struct name name_revprops_folder(const struct posix *store, revnum rev)
{
    return name_shard(store, "revprops", rev);
}

/* ---- reading ---- */

/* A FIFO in the place of a file must not let us wait for somebody who writes to it; for a file's
 * lease, which is another process's, we do wait. */
static int open_at_once(struct disk *disk, const char *path)
{
    int fd = disk->open_existing(disk, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == EWOULDBLOCK)
        fd = disk->open_existing(disk, path, O_RDONLY | O_CLOEXEC);
    return fd;
}

int file_open(const struct posix *store, const char *path)
{
    int fd = open_at_once(store->disk, path);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        bodies_forget_all(store);
        fd = open_at_once(store->disk, path);
    }
    return fd;
}

struct err *file_stat(struct stat *out, const struct posix *store, int fd, const char *path)
{
    if (store->disk->fstat(store->disk, fd, out) != 0)
        return err_errno(errno, "Can't stat file '%s'", path);
    if (S_ISDIR(out->st_mode))
        return err_errno(EISDIR, "Can't read file '%s'", path);
    return S_ISREG(out->st_mode) ? NULL : err_make(E_FS_CORRUPT, "'%s' is not a file", path);
}

static ssize_t read_at(struct disk *disk, int fd, char *to, size_t n, uint64_t offset)
{
    return disk->preadv(disk, fd, &(struct iovec){to, n}, 1, (off_t)offset, 0);
}

static struct err *read_to_end(struct buf *out, struct disk *disk, int fd, size_t size_hint,
                               const char *path)
{
    size_t start = out->n;
    buf_reserve(out, size_hint + 1);
    for (;;) {
        if (out->cap - out->n < 512)
            buf_reserve(out, out->cap);
        ssize_t got = read_at(disk, fd, out->p + out->n, out->cap - out->n, out->n - start);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(errno, "Can't read file '%s'", path);
        if (got == 0)
            return NULL;
        out->n += (size_t)got;
        if (out->n - start > RECORD_SIZE_MAX)
            return err_make(E_FS_CORRUPT, "File '%s' is larger than any such file can be", path);
    }
}

static struct err *get_once(struct buf *out, bool *found, bool *stale, const struct posix *store,
                            const char *path)
{
    int fd = file_open(store, path);
    *found = fd >= 0;
    *stale = fd < 0 && errno == ESTALE;
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? NULL
                                                   : err_errno(errno, "Can't open file '%s'", path);
    struct stat st;
    struct err *err = file_stat(&st, store, fd, path);
    if (!err && st.st_size > RECORD_SIZE_MAX)
        err = err_make(E_FS_CORRUPT, "File '%s' is larger than any such file can be", path);
    else if (!err)
        err = read_to_end(out, store->disk, fd, (size_t)st.st_size, path);
    *stale = err_has(err, ESTALE);
    close(fd);
    return err;
}

bool file_get_small(char out[SMALL_FILE_SIZE], size_t *n, const struct posix *store,
                    const char *name)
{
    char path[PATH_SIZE];
    path_of(path, store, name);
    int fd = file_open(store, path);
    if (fd < 0)
        return false;
    ssize_t got = read_at(store->disk, fd, out, SMALL_FILE_SIZE, 0);
    close(fd);
    *n = got > 0 ? (size_t)got : 0;
    return got > 0 && got < SMALL_FILE_SIZE;
}

struct err *file_get(struct buf *out, bool *found, const struct posix *store, const char *name)
{
    char path[PATH_SIZE];
    path_of(path, store, name);
    size_t start = out->n;
    for (int tries = 0;; tries++) {
        bool stale;
        struct err *err = get_once(out, found, &stale, store, path);
        if (!err || !stale || tries == ESTALE_RETRIES)
            return err;
        err_free(err);
        out->n = start;
    }
}

/* ---- writing ---- */

/* Lock the new file at PATH for as long as it is open. False where the next writer took it for that
 * of a dead owner before we had the lock. A filesystem without locks has nobody who tries. */
static bool temp_lock(int fd)
{
    struct stat st;
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return true;
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

struct err *temp_open(int *fd, char path[PATH_SIZE], struct posix *store)
{
    static atomic_uint counter;
    for (int tries = 0; tries < TEMP_NAME_TRIES; tries++) {
        unsigned n = atomic_fetch_add(&counter, 1);
        path_of(path, store, name_printf("varve-%x-%x.tmp", (unsigned)getpid(), n).s);
        *fd = store->disk->open(store->disk, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0 && temp_lock(*fd))
            return NULL;
        if (*fd < 0 && errno != EEXIST)
            return err_errno(errno, "Can't create temporary file '%s'", path);
        if (*fd >= 0)
            store->disk->close(store->disk, *fd);
    }
    return err_make(E_IO_UNIQUE_NAMES_EXHAUSTED, "Can't find a free name for a file in '%s'",
                    store->base.path);
}

struct err *write_all(struct posix *store, int fd, struct str bytes, uint64_t offset,
                      const char *path)
{
    while (bytes.n > 0) {
        ssize_t done = store->disk->pwrite(store->disk, fd, bytes.p, bytes.n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return err_errno(errno, "Can't write to file '%s'", path);
        bytes = str_skip(bytes, (size_t)done);
        offset += (size_t)done;
    }
    return NULL;
}

struct err *set_mode(struct posix *store, int fd, mode_t mode, const char *path)
{
    if (store->disk->fchmod(store->disk, fd, mode & 07777) != 0)
        return err_errno(errno, "Can't set permissions on '%s'", path);
    return NULL;
}

static void temp_drop(struct posix *store, int fd, const char *temp)
{
    store->disk->close(store->disk, fd);
    store->disk->unlink(store->disk, temp);
}

struct err *file_put_prepare(int *fd, char temp[PATH_SIZE], struct posix *store, const char *name,
                             struct str bytes, mode_t mode)
{
    char path[PATH_SIZE];
    path_of(path, store, name);
    struct stat st;
    if (stat(path, &st) == 0)
        mode = st.st_mode & 07777;
    TRY(temp_open(fd, temp, store));
    struct err *err = write_all(store, *fd, bytes, 0, temp);
    if (!err && mode && (fstat(*fd, &st) != 0 || (st.st_mode & 07777) != mode))
        err = set_mode(store, *fd, mode, temp);
    if (err)
        temp_drop(store, *fd, temp);
    return err;
}

struct err *file_put_rename(struct posix *store, const char *temp, const char *name)
{
    char path[PATH_SIZE];
    path_of(path, store, name);
    if (store->disk->rename(store->disk, temp, path) == 0)
        return NULL;
    int code = errno;
    store->disk->unlink(store->disk, temp);
    return err_errno(code, "Can't move '%s' to '%s'", temp, path);
}

struct err *file_put(struct posix *store, const char *name, struct str bytes, struct file_put how)
{
    char temp[PATH_SIZE], path[PATH_SIZE], folder[PATH_SIZE];
    int fd;
    bool sync = how.durable && store_flushes(store);
    TRY(file_put_prepare(&fd, temp, store, name, bytes, how.mode));
    if (sync && store->disk->fdatasync(store->disk, fd) != 0) {
        int code = errno;
        temp_drop(store, fd, temp);
        return err_errno(code, "Can't flush file '%s' to disk", temp);
    }
    struct err *err = file_put_rename(store, temp, name);
    store->disk->close(store->disk, fd);
    TRY(err);
    path_of(path, store, name);
    path_folder(folder, path);
    if (sync && store->disk->sync_folder(store->disk, folder) != 0)
        return err_errno(errno, "Can't flush folder '%s' to disk", folder);
    return NULL;
}

/* ---- folders ---- */

static mode_t mode_like(const struct posix *store, const char *like)
{
    char path[PATH_SIZE];
    struct stat st;
    path_of(path, store, like);
    if (stat(path, &st) != 0 && stat(store->base.path, &st) != 0)
        return 0755;
    return st.st_mode & 07777;
}

/* mkdir gives what the umask leaves; the folder it copies may have been opened wider (a group's
 * set-gid folder). */
static struct err *folder_set_mode(struct posix *store, const char *path, mode_t mode)
{
    struct stat st;
    if (stat(path, &st) == 0 && (st.st_mode & 07777) == mode)
        return NULL;
    int fd = store->disk->open(store->disk, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return err_errno(errno, "Can't open folder '%s'", path);
    struct err *err = set_mode(store, fd, mode, path);
    store->disk->close(store->disk, fd);
    return err;
}

struct err *folder_make(bool *made, struct posix *store, const char *name, const char *like)
{
    char path[PATH_SIZE];
    path_of(path, store, name);
    mode_t mode = mode_like(store, like);
    *made = false;
    if (store->disk->mkdir(store->disk, path, mode & 0777) != 0)
        return errno == EEXIST ? NULL : err_errno(errno, "Can't create folder '%s'", path);
    *made = true;
    return folder_set_mode(store, path, mode);
}

struct err *folder_remove(struct posix *store, const char *name, const char *keep)
{
    char path[PATH_SIZE], file[PATH_SIZE];
    path_of(path, store, name);
    AUTO_ARENA(arena);
    struct str *entries;
    size_t count;
    TRY(folder_list(&entries, &count, store, name, NULL, arena));
    for (size_t i = 0; i < count; i++) {
        if (keep && str_eq(entries[i], str_of(keep)))
            continue;
        if (snprintf(file, PATH_SIZE, "%s/%.*s", path, STR(entries[i])) >= PATH_SIZE)
            return err_errno(ENAMETOOLONG, "Can't remove '%.*s' in '%s'", STR(entries[i]), path);
        if (store->disk->unlink(store->disk, file) != 0 && errno != ENOENT)
            return err_errno(errno, "Can't remove file '%s'", file);
    }
    if (!keep && store->disk->rmdir(store->disk, path) != 0 && errno != ENOENT)
        return err_errno(errno, "Can't remove folder '%s'", path);
    return NULL;
}

struct err *folder_sync(struct posix *store, const char *name)
{
    char path[PATH_SIZE];
    path_of(path, store, name);
    if (store_flushes(store) && store->disk->sync_folder(store->disk, path) != 0)
        return err_errno(errno, "Can't flush folder '%s' to disk", path);
    return NULL;
}

static int compare_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct err *folder_list(struct str **names, size_t *count, const struct posix *store,
                        const char *name, bool (*keep_if)(struct str entry), struct arena *arena)
{
    char path[PATH_SIZE];
    path_of(path, store, name);
    *names = NULL;
    *count = 0;
    DIR *dir = store->disk->opendir(store->disk, path);
    if (!dir)
        return errno == ENOENT ? NULL : err_errno(errno, "Can't open folder '%s'", path);
    AUTO_BUF(list);
    const struct dirent *entry;
    while (errno = 0, (entry = readdir(dir)) != NULL) {
        struct str s = str_of(entry->d_name);
        if (str_eq(s, S(".")) || str_eq(s, S("..")) || (keep_if && !keep_if(s)))
            continue;
        s = arena_str(arena, s);
        buf_add(&list, &s, sizeof(s));
    }
    int code = errno;
    closedir(dir);
    if (code != 0)
        return err_errno(code, "Can't read folder '%s'", path);
    *count = list.n / sizeof(struct str);
    *names = arena_array(arena, *count, sizeof(struct str));
    if (*count > 0)
        memcpy(*names, list.p, list.n);
    qsort(*names, *count, sizeof(struct str), compare_str);
    return NULL;
}
