/* SPDX-License-Identifier: Apache-2.0 */
/* The FSFS lock files; see store.h.
 *
 * Who else may hold them: Debian's Subversion takes flock(2), other builds fcntl(2) record locks on
 * the whole file, and on local filesystems the two do not see each other. So we take both, flock
 * first, always in that order; since the others take one each, nobody can wait in a circle.
 *
 * Of the record locks we take the kind that belongs to the open file (F_OFD_SETLKW): it conflicts
 * with the classic kind all the same, but does not vanish when some other descriptor of the file is
 * closed in this process. Over NFS and SMB flock is itself a record lock on the server, which the
 * others see; there it is taken alone.
 *
 * Neither kind keeps threads of one process apart, nor two stores of one repository: a flag per
 * repository does. */
#include "store/posix/lease.h"

#include "store/posix/files.h"
#include "store/posix/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What all stores of one db/ share. */
struct lease_home {
    dev_t dev;
    ino_t ino;
    unsigned users;
    struct lease_home *next;
    pthread_mutex_t mutex;
    pthread_cond_t dropped;
    bool held[LEASE_KINDS];
    int fd[LEASE_KINDS]; /* of the lock file, while held */
};

static pthread_mutex_t homes_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct lease_home *homes;

static const char *const lock_files[LEASE_KINDS] = {
    [LEASE_TXN_CURRENT] = "txn-current-lock",
    [LEASE_PACK] = "pack-lock",
    [LEASE_WRITE] = "write-lock",
};

/* ---- the process ---- */

static struct lease_home *home_of(dev_t dev, ino_t ino)
{
    pthread_mutex_lock(&homes_mutex);
    struct lease_home *home = homes;
    while (home && (home->dev != dev || home->ino != ino))
        home = home->next;
    if (!home) {
        home = mem_zalloc(sizeof(*home));
        home->dev = dev;
        home->ino = ino;
        home->next = homes;
        pthread_mutex_init(&home->mutex, NULL);
        pthread_cond_init(&home->dropped, NULL);
        homes = home;
    }
    home->users++;
    pthread_mutex_unlock(&homes_mutex);
    return home;
}

static void home_leave(struct lease_home *home)
{
    pthread_mutex_lock(&homes_mutex);
    if (--home->users == 0) {
        struct lease_home **link = &homes;
        while (*link != home)
            link = &(*link)->next;
        *link = home->next;
        pthread_cond_destroy(&home->dropped);
        pthread_mutex_destroy(&home->mutex);
        free(home);
    }
    pthread_mutex_unlock(&homes_mutex);
}

static struct err *home_open(struct lease_home **out, struct posix *store)
{
    /* Not the store's mutex: whoever reserves transaction names holds that while it takes a lease.
     */
    static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
    struct err *err = NULL;
    pthread_mutex_lock(&opening);
    if (!store->leases) {
        struct stat st;
        if (store->disk->stat(store->disk, store->base.path, &st) == 0)
            store->leases = home_of(st.st_dev, st.st_ino);
        else
            err = err_errno(errno, "Can't stat folder '%s'", store->base.path);
    }
    *out = store->leases;
    pthread_mutex_unlock(&opening);
    return err;
}

void leases_close(struct posix *store)
{
    if (store->leases)
        home_leave(store->leases);
    store->leases = NULL;
}

/* ---- the files ---- */

static bool is_refusal(int code)
{
    return code == ENOLCK || code == ENOTSUP || code == EOPNOTSUPP || code == ENOSYS ||
           code == EINVAL;
}

static bool maps_flock_to_record_locks(int fd)
{
    enum { SMB1 = 0x517b, SMB2 = 0xfe534d42 & 0x7fffffff, CIFS = 0xff534d42 & 0x7fffffff };
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return false;
    long type = (long)fs.f_type & 0x7fffffff;
    return type == NFS_SUPER_MAGIC || type == SMB1 || type == SMB2 || type == CIFS;
}

static int lock_flock(int fd)
{
    int rc;
    while ((rc = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
        ;
    return rc;
}

static int lock_record(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc;
    while ((rc = fcntl(fd, F_OFD_SETLKW, &whole)) != 0 && errno == EINTR)
        ;
    return rc;
}

/* Both locks, or the one that the filesystem knows. */
static struct err *lock_file(int fd, const char *path)
{
    bool have_flock = lock_flock(fd) == 0;
    if (!have_flock && !is_refusal(errno))
        return err_errno(errno, "Can't get exclusive lock on file '%s'", path);
    if (have_flock && maps_flock_to_record_locks(fd))
        return NULL;
    if (lock_record(fd) == 0 || (have_flock && is_refusal(errno)))
        return NULL;
    return err_errno(errno, "Can't get exclusive lock on file '%s'", path);
}

/* Open for writing, which record locks ask for; made where missing (`pack-lock` is not there in a
 * new repository). */
static struct err *take_file(int *out, struct posix *store, enum lease_kind kind)
{
    char path[PATH_SIZE];
    path_of(path, store, lock_files[kind]);
    int fd = store->disk->open_existing(store->disk, path, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        fd = store->disk->open(store->disk, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_errno(errno, "Can't open file '%s'", path);
    struct err *err = lock_file(fd, path);
    if (err)
        close(fd);
    else
        *out = fd;
    return err;
}

/* ---- take and drop ---- */

static void home_release(struct lease_home *home, enum lease_kind kind)
{
    pthread_mutex_lock(&home->mutex);
    home->held[kind] = false;
    pthread_cond_broadcast(&home->dropped);
    pthread_mutex_unlock(&home->mutex);
}

struct err *posix_lease_take(struct store *base, enum lease_kind kind)
{
    struct posix *store = posix_of(base);
    struct lease_home *home;
    TRY(home_open(&home, store));
    pthread_mutex_lock(&home->mutex);
    while (home->held[kind])
        pthread_cond_wait(&home->dropped, &home->mutex);
    home->held[kind] = true;
    pthread_mutex_unlock(&home->mutex);
    struct err *err = take_file(&home->fd[kind], store, kind);
    if (err) {
        home_release(home, kind);
        return err;
    }
    err = store_check_itself(base);
    if (!err && kind == LEASE_WRITE)
        err = sweep(store);
    if (err)
        posix_lease_drop(base, kind);
    return err;
}

/* Unlocked before it is closed: a hook that is being started may have a copy of the descriptor
 * still. */
void posix_lease_drop(struct store *base, enum lease_kind kind)
{
    struct posix *store = posix_of(base);
    struct lease_home *home = store->leases;
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(home->fd[kind], F_OFD_SETLK, &whole);
    flock(home->fd[kind], LOCK_UN);
    close(home->fd[kind]);
    home_release(home, kind);
}
