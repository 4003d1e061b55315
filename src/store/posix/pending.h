/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h - files written, synced and named as one set. */
#ifndef VARVE_STORE_POSIX_PENDING_H
#define VARVE_STORE_POSIX_PENDING_H

#include "store/posix/draft.h"
#include "store/posix/files.h"

/* Open a file without a name in FOLDER (absolute), or one with a temporary name in db/ where the
 * filesystem has none (*TEMP, else NULL). */
struct err *unnamed_open(int *fd, char **temp, struct posix *store, const char *folder);

/* A file on its way to its name: written, then synced, then named, so that no crash shows a half
 * one. */
struct pending {
    struct name name;
    int fd;                    /* -1: nothing here */
    char *temp;                /* its name till then, or NULL */
    struct posix_draft *draft; /* whose descriptor FD is, or NULL */
    bool named;
};
struct err *pending_of_bytes(struct pending *out, struct posix *store, struct name name,
                             struct str bytes, mode_t mode);
/* The same under the temporary name TEMP, of which there may be a left-over. */
struct err *pending_of_bytes_at(struct pending *out, struct posix *store, struct name name,
                                struct name temp, struct str bytes, mode_t mode);
/* FILE, which may be without a name, gets the temporary name TEMP. */
struct err *pending_park(struct pending *file, struct posix *store, struct name temp);
/* FILE, whose descriptor is a draft's, gets one of its own. */
struct err *pending_own(struct pending *file);
/* What is written stays: FILE needs no descriptor any more. */
void pending_close(struct pending *file, struct posix *store);
struct err *pending_of_draft(struct pending *out, struct posix *store, struct name name,
                             struct posix_draft *draft, mode_t mode);
/* What is under the name already (a left-over) is replaced. */
struct err *pending_name(struct pending *file, struct posix *store);
/* Close the files, from the last to the first. Those that have not got their names are removed;
 * those that have, too, unless they are to stay. */
void pendings_end(struct pending *files, size_t count, struct posix *store, bool stay);

/* One thing to sync: a file by its descriptor, or a folder. */
struct sync_job {
    struct posix *store;
    int fd;           /* -1: the folder */
    struct name name; /* of either */
};
/* Sync them in parallel, which the disk merges; nothing where the store does not flush. */
struct err *sync_run(struct sync_job *jobs, size_t count);
/* Sync the whole filesystem; FD (a descriptor there) was opened before the first write that
 * matters, so that no error of it is missed. */
struct err *sync_filesystem(struct posix *store, int fd);
struct err *sync_filesystem_open(int *fd, struct posix *store);

/* The mode for the data of revision REV: that of the revision before it. */
mode_t mode_for_rev(const struct posix *store, revnum rev);

#endif
