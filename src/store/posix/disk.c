/* SPDX-License-Identifier: Apache-2.0 */
/* The system's own files; see disk.h. */
#include "store/posix/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int system_open(struct disk *self, const char *path, int flags, mode_t mode)
{
    return open(path, flags, mode);
}

static ssize_t system_pwrite(struct disk *self, int fd, const void *p, size_t n, off_t offset)
{
    return pwrite(fd, p, n, offset);
}

static int system_ftruncate(struct disk *self, int fd, off_t size)
{
    return ftruncate(fd, size);
}

static int system_fchmod(struct disk *self, int fd, mode_t mode)
{
    return fchmod(fd, mode);
}

static int system_fdatasync(struct disk *self, int fd)
{
    return fdatasync(fd);
}

/* A filesystem that cannot sync folders says EINVAL: it has nothing that a sync could do. */
static int system_sync_folder(struct disk *self, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = fsync(fd);
    int code = errno;
    close(fd);
    errno = code;
    return rc != 0 && code == EINVAL ? 0 : rc;
}

static int system_syncfs(struct disk *self, int fd)
{
    return syncfs(fd);
}

/* By way of /proc, since naming a bare descriptor takes a capability that a server should not have.
 */
static int system_link_fd(struct disk *self, int fd, const char *path)
{
    char name[32];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static int system_rename(struct disk *self, const char *from, const char *to)
{
    return rename(from, to);
}

static int system_unlink(struct disk *self, const char *path)
{
    return unlink(path);
}

static int system_mkdir(struct disk *self, const char *path, mode_t mode)
{
    return mkdir(path, mode);
}

static int system_rmdir(struct disk *self, const char *path)
{
    return rmdir(path);
}

static int system_close(struct disk *self, int fd)
{
    return close(fd);
}

static int system_open_existing(struct disk *self, const char *path, int flags)
{
    return open(path, flags);
}

static ssize_t system_preadv(struct disk *self, int fd, const struct iovec *to, int count,
                             off_t offset, int flags)
{
    return preadv2(fd, to, count, offset, flags);
}

static int system_fstat(struct disk *self, int fd, struct stat *st)
{
    return fstat(fd, st);
}

static int system_stat(struct disk *self, const char *path, struct stat *st)
{
    return stat(path, st);
}

static DIR *system_opendir(struct disk *self, const char *path)
{
    return opendir(path);
}

struct disk *disk_system(void)
{
    static struct disk disk = {
        .open = system_open,
        .pwrite = system_pwrite,
        .ftruncate = system_ftruncate,
        .fchmod = system_fchmod,
        .fdatasync = system_fdatasync,
        .sync_folder = system_sync_folder,
        .syncfs = system_syncfs,
        .link_fd = system_link_fd,
        .rename = system_rename,
        .unlink = system_unlink,
        .mkdir = system_mkdir,
        .rmdir = system_rmdir,
        .close = system_close,
        .open_existing = system_open_existing,
        .preadv = system_preadv,
        .fstat = system_fstat,
        .stat = system_stat,
        .opendir = system_opendir,
    };
    return &disk;
}
