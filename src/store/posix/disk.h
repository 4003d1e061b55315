/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h - every operation by which a store changes the disk, and those by which it reads, in one
 * table, so that a test can cut between any two, or let any of them fail.
 *
 * disk_system() does them; fault.h wraps it, counts them, fails from the K-th on ("the machine
 * stopped here"), and then makes the disk look as it may look after a power cut: what was not
 * synced kept, or lost (contents of files not synced; names made, moved or removed in folders not
 * synced). Readings are no part of that count. Or it fails one operation, or all from it on,
 * readings included, with an error of choice: a machine that has no descriptors or no memory left.
 * What only looks where something is (access, the mode of an older file) or asks ahead is not in
 * the table. */
#ifndef VARVE_STORE_POSIX_DISK_H
#define VARVE_STORE_POSIX_DISK_H

#include "base/err.h"
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

struct disk {
    /* All return 0 (or a descriptor) or -1 with errno, as the system calls they are named for. */
    int (*open)(struct disk *self, const char *path, int flags,
                mode_t mode); /* for writing; O_TMPFILE allowed */
    ssize_t (*pwrite)(struct disk *self, int fd, const void *p, size_t n, off_t offset);
    int (*ftruncate)(struct disk *self, int fd, off_t size);
    int (*fchmod)(struct disk *self, int fd, mode_t mode);
    int (*fdatasync)(struct disk *self, int fd);
    int (*sync_folder)(struct disk *self, const char *path);
    int (*syncfs)(struct disk *self, int fd); /* everything on the filesystem of FD */
    int (*link_fd)(struct disk *self, int fd, const char *path); /* name an O_TMPFILE file */
    int (*rename)(struct disk *self, const char *from, const char *to);
    int (*unlink)(struct disk *self, const char *path);
    int (*mkdir)(struct disk *self, const char *path, mode_t mode);
    int (*rmdir)(struct disk *self, const char *path);
    int (*close)(struct disk *self, int fd);

    int (*open_existing)(struct disk *self, const char *path, int flags);
    ssize_t (*preadv)(struct disk *self, int fd, const struct iovec *to, int count, off_t offset,
                      int flags); /* preadv2(2) */
    int (*fstat)(struct disk *self, int fd, struct stat *st);
    int (*stat)(struct disk *self, const char *path, struct stat *st);
    DIR *(*opendir)(struct disk *self, const char *path);
};

struct disk *disk_system(void);

#endif
