/* SPDX-License-Identifier: Apache-2.0 */
/* posix_int.h - the store that the files of this folder share; functions named as an operation of
 * store/ops.h are that operation.
 *
 * All that changes the disk, and all that reads files, goes through store->disk. */
#ifndef VARVE_STORE_POSIX_POSIX_INT_H
#define VARVE_STORE_POSIX_POSIX_INT_H

#include "store/ops.h"
#include "store/posix/posix.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    SYNC_FILES_MAX = 16, /* above that many files one syncfs is cheaper than a sync of each */
    DRAFT_MEMORY_MAX = 1 << 20, /* a draft this large moves from memory to a file */
};

/* Descriptors of published bodies; see body.c. */
struct body_cache;
/* The lock state that all stores of one repository in this process share; see lease.c. */
struct lease_home;

struct pending;

/* Revisions that store_stage has written and store_publish_staged has not made visible yet. */
struct staged {
    revnum first, last;   /* REV_NONE where there are none */
    mode_t mode;          /* of their files */
    mode_t head_mode;     /* of each `current` */
    struct pending *list; /* under temporary names; the descriptors of the first SYNC_FILES_MAX are
                           open while there are no more */
    size_t n, cap;
};

/* What is found at the path of a store, as stat(2) tells files apart. All zero where there is none
 * of them. */
enum { IDENTITY_FORMAT, IDENTITY_UUID, IDENTITY_CONFIG, IDENTITY_FILES };
struct identity {
    struct file_identity {
        dev_t dev;
        ino_t ino;
        struct timespec modified; /* which a chmod leaves as it is */
        struct timespec changed;  /* which nobody can set: a copy that was put back may have the old
                                     number and date */
    } files[IDENTITY_FILES];
};

struct posix {
    struct store base; /* first */
    struct disk *disk;
    struct identity identity;  /* as it was opened, or as we changed it since */
    struct repcache *repcache; /* its files are opened when they are asked for */
    atomic_bool flush;
    atomic_bool no_tmpfile;         /* the filesystem refused O_TMPFILE */
    _Atomic(revnum) known_head;     /* as some thread read it last, so it may go back; bodies up to
                                       it never change. No word on what a publication did */
    _Atomic(revnum) known_unpacked; /* as last read */
    _Atomic(revnum) staged_last;    /* staged.last, for readers in other threads */
    struct body_cache *bodies;
    pthread_mutex_t mutex;      /* over what follows, down to the blank line */
    struct lease_home *leases;  /* NULL until the first lease */
    uint64_t txn_next, txn_end; /* the numbers reserved and not handed out */
    uint64_t txn_block;         /* how many the next reservation takes */
    revnum txn_base;            /* formats 1 and 2: the base and number last handed out */

    struct staged staged; /* under LEASE_WRITE */
    revnum durable;       /* under LEASE_WRITE: the last revision that we made so */
    bool swept;           /* under LEASE_WRITE: the folders above the head were looked through */
    int sync_fd; /* db/, open since before the first unsynced write: syncfs reports errors since
                    then */
};
static inline struct posix *posix_of(const struct store *base)
{
    return (struct posix *)base;
}

/* What is at the store's path now is this store. */
struct err *store_identify(struct posix *store);

#endif
