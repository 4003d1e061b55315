/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that stops at a chosen operation and then forgets what was not synced; see fault.h.
 *
 * Two journals say how to undo what no sync has made durable. For each file changed since its last
 * sync: its bytes and mode at that sync (of a new file: none). For each folder: its names made,
 * moved and removed since its last sync, kept in one list over all folders, which is undone from
 * the newest to the oldest. The model is the strict one: a file's sync does not save its name, a
 * folder's sync does not save the folder's own name.
 *
 * Syncs are only noted, never done: tests that cut a commit in a hundred places do not wait for a
 * real disk. */
#include "store/posix/fault.h"

#include "base/arena.h"
#include "base/buf.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file with changes that are not synced. */
struct dirty_file {
    dev_t dev;
    ino_t ino;
    int fd;            /* our own: the file may be renamed or unlinked meanwhile */
    struct buf synced; /* its bytes at the last sync */
    mode_t mode;
    struct dirty_file *next;
};

enum name_kind { NAME_MADE, NAME_REMOVED, NAME_MOVED, FOLDER_MADE, FOLDER_REMOVED };

/* A change of names that is not synced. */
struct name_change {
    enum name_kind kind;
    char *folder;  /* whose sync makes it durable */
    char *path;    /* MOVED: the new name */
    char *from;    /* MOVED */
    bool had_file; /* REMOVED, MOVED: a file was at PATH, with these durable bytes */
    struct buf bytes;
    mode_t mode;
    struct name_change *older;
};

struct fault_disk {
    struct disk ops; /* first */
    struct disk *system;
    pthread_mutex_t mutex;
    uint64_t count, limit;
    uint64_t all, fail_at, fail_times; /* readings are counted here too */
    int fail_code;
    struct dirty_file *files;
    struct name_change *newest;
};

static struct fault_disk *fault_of(struct disk *self)
{
    return (struct fault_disk *)self;
}

/* ---- files ---- */

/* A test's files are small; what can't be read back would make the test lie. */
static void snapshot(struct buf *out, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        abort();
    buf_clear(out);
    char *to = buf_grow(out, (size_t)st.st_size);
    for (off_t at = 0; at < st.st_size;) {
        ssize_t got = pread(fd, to + at, (size_t)(st.st_size - at), at);
        if (got <= 0)
            abort();
        at += got;
    }
}

static struct dirty_file *find_dirty(struct fault_disk *fault, const struct stat *st)
{
    struct dirty_file *file = fault->files;
    while (file && (file->dev != st->st_dev || file->ino != st->st_ino))
        file = file->next;
    return file;
}

/* FD is about to change. NEW: all of it is. */
static void file_dirty(struct fault_disk *fault, int fd, bool new)
{
    struct stat st;
    char path[32];
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || find_dirty(fault, &st))
        return;
    struct dirty_file *file = mem_zalloc(sizeof(*file));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    file->fd = open(path, O_RDWR | O_CLOEXEC);
    if (file->fd < 0)
        file->fd = dup(fd);
    if (file->fd < 0)
        abort();
    file->dev = st.st_dev;
    file->ino = st.st_ino;
    file->mode = st.st_mode & 07777;
    if (!new)
        snapshot(&file->synced, file->fd);
    file->next = fault->files;
    fault->files = file;
}

static void file_free(struct dirty_file *file)
{
    close(file->fd);
    buf_free(&file->synced);
    free(file);
}

static void file_clean(struct fault_disk *fault, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return;
    for (struct dirty_file **link = &fault->files; *link; link = &(*link)->next) {
        struct dirty_file *file = *link;
        if (file->dev == st.st_dev && file->ino == st.st_ino) {
            *link = file->next;
            file_free(file);
            return;
        }
    }
}

/* ---- names ---- */

static char *folder_of(const char *path)
{
    char *folder = mem_strdup(path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return folder;
}

static struct name_change *name_note(struct fault_disk *fault, enum name_kind kind,
                                     const char *path)
{
    struct name_change *change = mem_zalloc(sizeof(*change));
    change->kind = kind;
    change->path = mem_strdup(path);
    change->folder = folder_of(path);
    change->older = fault->newest;
    fault->newest = change;
    return change;
}

/* What a power cut would leave of the file at PATH, which is about to lose this name. */
static void remember_file(struct fault_disk *fault, struct name_change *change, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return;
    const struct dirty_file *dirty = find_dirty(fault, &st);
    change->had_file = true;
    change->mode = dirty ? dirty->mode : st.st_mode & 07777;
    if (dirty)
        buf_str(&change->bytes, buf_view(&dirty->synced));
    else
        snapshot(&change->bytes, fd);
    close(fd);
}

static void name_free(struct name_change *change)
{
    free(change->folder);
    free(change->path);
    free(change->from);
    buf_free(&change->bytes);
    free(change);
}

/* FOLDER is synced: its changes are for ever. So are those in a folder whose removal is. */
static void names_clean(struct fault_disk *fault, const char *folder)
{
    for (struct name_change **link = &fault->newest; *link;) {
        struct name_change *change = *link;
        if (strcmp(change->folder, folder) != 0) {
            link = &change->older;
            continue;
        }
        *link = change->older;
        if (change->kind == FOLDER_REMOVED) {
            names_clean(fault, change->path);
            link = &fault->newest; /* the list may be another now */
        }
        name_free(change);
    }
}

static void all_clean(struct fault_disk *fault)
{
    while (fault->files) {
        struct dirty_file *file = fault->files;
        fault->files = file->next;
        file_free(file);
    }
    while (fault->newest) {
        struct name_change *change = fault->newest;
        fault->newest = change->older;
        name_free(change);
    }
}

/* ---- operations ---- */

/* Count an operation of any kind; true, with errno set, where it is to fail. */
static bool fails_now(struct fault_disk *fault)
{
    uint64_t number = fault->all++;
    if (number < fault->fail_at || number - fault->fail_at >= fault->fail_times)
        return false;
    errno = fault->fail_code;
    return true;
}

static bool reading_fails(struct fault_disk *fault)
{
    pthread_mutex_lock(&fault->mutex);
    bool fails = fails_now(fault);
    pthread_mutex_unlock(&fault->mutex);
    return fails;
}

/* Count an operation that changes the disk; false where the machine has stopped, or this one fails.
 */
static bool step(struct fault_disk *fault)
{
    pthread_mutex_lock(&fault->mutex);
    bool fails = fails_now(fault);
    bool stopped = fault->count++ >= fault->limit;
    if (!fails && !stopped)
        return true; /* the mutex stays with the operation */
    pthread_mutex_unlock(&fault->mutex);
    if (stopped)
        errno = EIO;
    return false;
}

static int done(struct fault_disk *fault, int rc)
{
    int code = errno;
    pthread_mutex_unlock(&fault->mutex);
    errno = code;
    return rc;
}

static int fault_open(struct disk *self, const char *path, int flags, mode_t mode)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    bool unnamed = (flags & O_TMPFILE) == O_TMPFILE, made = false;
    if (!unnamed && (flags & O_CREAT))
        made = access(path, F_OK) != 0;
    int fd = fault->system->open(fault->system, path, flags & ~O_TRUNC, mode);
    if (fd < 0)
        return done(fault, fd);
    if (made)
        name_note(fault, NAME_MADE, path);
    if (made || unnamed)
        file_dirty(fault, fd, true);
    if (flags & O_TRUNC) {
        file_dirty(fault, fd, false);
        fault->system->ftruncate(fault->system, fd, 0);
    }
    return done(fault, fd);
}

static ssize_t fault_pwrite(struct disk *self, int fd, const void *p, size_t n, off_t offset)
{
    struct fault_disk *fault = fault_of(self);
    pthread_mutex_lock(&fault->mutex);
    if (fails_now(fault))
        return done(fault, -1);
    uint64_t number = fault->count++;
    ssize_t rc = -1;
    if (number <= fault->limit)
        file_dirty(fault, fd, false);
    if (number < fault->limit)
        rc = fault->system->pwrite(fault->system, fd, p, n, offset);
    else if (number == fault->limit)
        fault->system->pwrite(fault->system, fd, p, n / 2, offset);
    if (number >= fault->limit) {
        rc = -1;
        errno = EIO;
    }
    int code = errno;
    pthread_mutex_unlock(&fault->mutex);
    errno = code;
    return rc;
}

static int fault_ftruncate(struct disk *self, int fd, off_t size)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    file_dirty(fault, fd, false);
    return done(fault, fault->system->ftruncate(fault->system, fd, size));
}

static int fault_fchmod(struct disk *self, int fd, mode_t mode)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    file_dirty(fault, fd, false);
    return done(fault, fault->system->fchmod(fault->system, fd, mode));
}

static int fault_fdatasync(struct disk *self, int fd)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    file_clean(fault, fd);
    return done(fault, 0);
}

static int fault_sync_folder(struct disk *self, const char *path)
{
    struct fault_disk *fault = fault_of(self);
    struct stat st;
    if (!step(fault))
        return -1;
    int rc = stat(path, &st);
    if (rc == 0)
        names_clean(fault, path);
    return done(fault, rc);
}

static int fault_syncfs(struct disk *self, int fd)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    all_clean(fault);
    return done(fault, 0);
}

static int fault_link_fd(struct disk *self, int fd, const char *path)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    int rc = fault->system->link_fd(fault->system, fd, path);
    if (rc == 0)
        name_note(fault, NAME_MADE, path);
    return done(fault, rc);
}

static int fault_rename(struct disk *self, const char *from, const char *to)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    struct name_change *change = name_note(fault, NAME_MOVED, to);
    change->from = mem_strdup(from);
    remember_file(fault, change, to);
    int rc = fault->system->rename(fault->system, from, to);
    if (rc != 0) {
        fault->newest = change->older;
        name_free(change);
    }
    return done(fault, rc);
}

static int fault_unlink(struct disk *self, const char *path)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    struct name_change *change = name_note(fault, NAME_REMOVED, path);
    remember_file(fault, change, path);
    int rc = fault->system->unlink(fault->system, path);
    if (rc != 0) {
        fault->newest = change->older;
        name_free(change);
    }
    return done(fault, rc);
}

static int fault_mkdir(struct disk *self, const char *path, mode_t mode)
{
    struct fault_disk *fault = fault_of(self);
    if (!step(fault))
        return -1;
    int rc = fault->system->mkdir(fault->system, path, mode);
    if (rc == 0)
        name_note(fault, FOLDER_MADE, path);
    return done(fault, rc);
}

static int fault_rmdir(struct disk *self, const char *path)
{
    struct fault_disk *fault = fault_of(self);
    struct stat st;
    if (!step(fault))
        return -1;
    int rc = stat(path, &st);
    if (rc == 0)
        rc = fault->system->rmdir(fault->system, path);
    if (rc == 0)
        name_note(fault, FOLDER_REMOVED, path)->mode = st.st_mode & 07777;
    return done(fault, rc);
}

static int fault_open_existing(struct disk *self, const char *path, int flags)
{
    struct fault_disk *fault = fault_of(self);
    return reading_fails(fault) ? -1 : fault->system->open_existing(fault->system, path, flags);
}

static ssize_t fault_preadv(struct disk *self, int fd, const struct iovec *to, int count,
                            off_t offset, int flags)
{
    struct fault_disk *fault = fault_of(self);
    return reading_fails(fault)
               ? -1
               : fault->system->preadv(fault->system, fd, to, count, offset, flags);
}

static int fault_fstat(struct disk *self, int fd, struct stat *st)
{
    struct fault_disk *fault = fault_of(self);
    return reading_fails(fault) ? -1 : fault->system->fstat(fault->system, fd, st);
}

static int fault_stat(struct disk *self, const char *path, struct stat *st)
{
    struct fault_disk *fault = fault_of(self);
    return reading_fails(fault) ? -1 : fault->system->stat(fault->system, path, st);
}

static DIR *fault_opendir(struct disk *self, const char *path)
{
    struct fault_disk *fault = fault_of(self);
    return reading_fails(fault) ? NULL : fault->system->opendir(fault->system, path);
}

static int fault_close(struct disk *self, int fd)
{
    return close(fd);
}

/* ---- the crash ---- */

static int remove_any(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
    return remove(path);
}

/* The first error of the system calls of an undo, with the path. */
static struct err *must(int rc, const char *path)
{
    return rc < 0 ? err_errno(errno, "Can't undo the change of '%s'", path) : NULL;
}

static struct err *put_file(const char *path, struct str bytes, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    TRY(must(fd, path));
    bool whole = write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n && fchmod(fd, mode) == 0;
    close(fd);
    return must(whole ? 0 : -1, path);
}

static struct err *undo_file(struct dirty_file *file)
{
    struct str bytes = buf_view(&file->synced);
    TRY(must(ftruncate(file->fd, 0), "(a file not synced)"));
    TRY(must(pwrite(file->fd, bytes.p, bytes.n, 0) == (ssize_t)bytes.n ? 0 : -1,
             "(a file not synced)"));
    return must(fchmod(file->fd, file->mode), "(a file not synced)");
}

/* What is gone already went with a later change that no sync saved either, or with a synced move.
 */
static struct err *undo_name(const struct name_change *change)
{
    bool gone_is_fine = true;
    int rc = 0;
    switch (change->kind) {
    case NAME_MADE:
        rc = unlink(change->path);
        break;
    case NAME_MOVED:
        rc = rename(change->path, change->from);
        break;
    case NAME_REMOVED:
        break;
    case FOLDER_MADE:
        rc = nftw(change->path, remove_any, 16, FTW_DEPTH | FTW_PHYS);
        break;
    case FOLDER_REMOVED:
        gone_is_fine = false;
        rc = mkdir(change->path, 0700);
        if (rc == 0)
            rc = chmod(change->path, change->mode);
        break;
    }
    if (rc != 0 && !(gone_is_fine && errno == ENOENT))
        return must(-1, change->path);
    return change->had_file ? put_file(change->path, buf_view(&change->bytes), change->mode) : NULL;
}

struct err *fault_disk_crash(struct fault_disk *fault, enum fault_loss loss)
{
    struct err *err = NULL;
    if (loss != FAULT_KEEP_UNSYNCED)
        for (struct dirty_file *file = fault->files; file && !err; file = file->next)
            err = undo_file(file);
    if (loss == FAULT_LOSE_UNSYNCED)
        for (struct name_change *change = fault->newest; change && !err; change = change->older)
            err = undo_name(change);
    all_clean(fault);
    fault_disk_arm(fault, UINT64_MAX);
    return err;
}

/* ---- making ---- */

struct fault_disk *fault_disk_new(void)
{
    struct fault_disk *fault = mem_zalloc(sizeof(*fault));
    fault->ops = (struct disk){
        .open = fault_open,
        .pwrite = fault_pwrite,
        .ftruncate = fault_ftruncate,
        .fchmod = fault_fchmod,
        .fdatasync = fault_fdatasync,
        .sync_folder = fault_sync_folder,
        .syncfs = fault_syncfs,
        .link_fd = fault_link_fd,
        .rename = fault_rename,
        .unlink = fault_unlink,
        .mkdir = fault_mkdir,
        .rmdir = fault_rmdir,
        .close = fault_close,
        .open_existing = fault_open_existing,
        .preadv = fault_preadv,
        .fstat = fault_fstat,
        .stat = fault_stat,
        .opendir = fault_opendir,
    };
    fault->system = disk_system();
    fault->limit = UINT64_MAX;
    pthread_mutex_init(&fault->mutex, NULL);
    return fault;
}

struct disk *fault_disk_ops(struct fault_disk *fault)
{
    return &fault->ops;
}

void fault_disk_arm(struct fault_disk *fault, uint64_t k)
{
    pthread_mutex_lock(&fault->mutex);
    fault->count = 0;
    fault->limit = k;
    pthread_mutex_unlock(&fault->mutex);
}

void fault_disk_fail(struct fault_disk *fault, uint64_t k, uint64_t times, int code)
{
    pthread_mutex_lock(&fault->mutex);
    fault->all = 0;
    fault->fail_at = k;
    fault->fail_times = times;
    fault->fail_code = code;
    pthread_mutex_unlock(&fault->mutex);
}

bool fault_disk_has_failed(struct fault_disk *fault)
{
    pthread_mutex_lock(&fault->mutex);
    bool has = fault->all > fault->fail_at;
    pthread_mutex_unlock(&fault->mutex);
    return has;
}

uint64_t fault_disk_count(const struct fault_disk *fault)
{
    return fault->count;
}

void fault_disk_free(struct fault_disk *fault)
{
    if (!fault)
        return;
    all_clean(fault);
    pthread_mutex_destroy(&fault->mutex);
    free(fault);
}
