/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h - every operation by which a store changes the disk, and those by which it reads, in one
 * table, so that a test can cut between any two, or let any of them fail.
 *
 * disk_system() does them; fault.c wraps it, counts them, fails from the K-th on ("the machine
 * stopped here"), and then makes the disk look as it may look after a power cut: what was not
 * synced kept, or lost (contents of files not synced; names made, moved or removed in folders not
 * synced). Readings are no part of that count. Or it fails one operation, or all from it on,
 * readings included, with an error of choice: a machine that has no descriptors or no memory left.
 * What only looks where something is (access, the mode of an older file) or asks ahead is not in
 * the table. */
#ifndef VARVE_STORE_DISK_H
#define VARVE_STORE_DISK_H

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

/* ---- fault.c ---- */

enum fault_loss {
    FAULT_KEEP_UNSYNCED, /* all reached the disk: the process died, not the machine */
    FAULT_LOSE_UNSYNCED, /* contents and names as at their last sync */
    FAULT_LOSE_CONTENTS, /* names reached the disk, contents did not. Tried at each operation this
                            is every prefix of the changes of names that a filesystem which keeps
                            their order may leave: contents synced after the last of a prefix that
                            stayed only make it safer */
};
struct fault_disk;
struct fault_disk *fault_disk_new(void);
struct disk *fault_disk_ops(struct fault_disk *fault);
/* From operation number K (from 0) on everything fails with EIO; UINT64_MAX: never. Resets the
 * count. Closing does not count (and does happen); a write that is cut has written half. */
void fault_disk_arm(struct fault_disk *fault, uint64_t k);
/* From operation number K on, readings counted too, TIMES of them fail with CODE (an errno value)
 * and do nothing; then all is well again. TIMES 0: none. */
void fault_disk_fail(struct fault_disk *fault, uint64_t k, uint64_t times, int code);
/* Has one failed since? */
bool fault_disk_has_failed(struct fault_disk *fault);
uint64_t fault_disk_count(const struct fault_disk *fault); /* operations since armed */
/* Make the disk look as after the crash, and begin anew as after fault_disk_arm(UINT64_MAX). All
 * descriptors got from it are to be closed before or after, but not written to. */
struct err *fault_disk_crash(struct fault_disk *fault, enum fault_loss loss);
void fault_disk_free(struct fault_disk *fault);

#endif
