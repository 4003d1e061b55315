/* SPDX-License-Identifier: Apache-2.0 */
/* posix_int.h - the insides that the files of the FSFS directory store share.
 *
 *   posix.c    open and close, the head, names of transactions, a new store
 *   files.c    paths, whole-file reads and atomic replaces, folders
 *   record.c   records
 *   body.c     bodies and the cache of their descriptors
 *   draft.c    bodies in the making
 *   piece.c    files written, synced and named as one set
 *   publish.c  from drafts to revisions
 *   sweep.c    what killed writers left
 *   pack.c     from a draft to a pack
 *   lease.c    locks
 *
 * All that changes the disk, and all that reads files, goes through store->disk. */
#ifndef VARVE_STORE_POSIX_INT_H
#define VARVE_STORE_POSIX_INT_H

#include "store/disk.h"
#include "store/store.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    PATH_SIZE = 4096,    /* a path with its NUL; PATH_MAX of Linux */
    NAME_SIZE = 320,     /* the part of it below db/ */
    SYNC_FILES_MAX = 16, /* above that many files one syncfs is cheaper than a sync of each */
    DRAFT_MEMORY_MAX = 1 << 20, /* a draft this large moves from memory to a file */
};

/* The file or folder of something, relative to db/. */
struct name {
    char s[NAME_SIZE];
};

/* Descriptors of published bodies; see body.c. */
struct body_cache;
/* The lock state that all stores of one repository in this process share; see lease.c. */
struct lease_home;

struct piece;

/* Revisions that store_stage has written and store_publish_staged has not made visible yet. */
struct staged {
    revnum first, last; /* REV_NONE where there are none */
    mode_t mode;        /* of their files */
    mode_t head_mode;   /* of each `current` */
    struct piece *list; /* under temporary names; the descriptors of the first SYNC_FILES_MAX are
                           open while there are no more */
    size_t count, cap;
};

/* What is found at the path of a store: `format` and `uuid`, as stat(2) tells files apart (by
 * mtime: a chmod replaces nothing). All zero where there is none of them. */
struct identity {
    struct {
        dev_t dev;
        ino_t ino;
        struct timespec changed;
    } files[2];
};

struct store {
    char *db; /* without a slash at the end */
    struct disk *disk;
    struct identity identity; /* as it was opened, or as we changed it since */
    struct store_layout layout;
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
    struct lent *lent;    /* under LEASE_WRITE; see lend.c */
    _Atomic(pthread_t) lender;
    atomic_bool lends;
    int sync_fd; /* db/, open since before the first unsynced write: syncfs reports errors since
                    then */
};

/* ---- files.c ---- */

void path_of(char out[PATH_SIZE], const struct store *store, const char *name);
/* The folder of PATH. */
void path_folder(char out[PATH_SIZE], const char *path);

struct name name_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
struct name name_rev(const struct store *store, revnum rev);        /* revs/0/5, revs/5 */
struct name name_rev_folder(const struct store *store, revnum rev); /* revs/0, revs */
struct name name_revprops(const struct store *store, revnum rev);   /* revprops/0/5, revprops/5 */
struct name name_revprops_folder(const struct store *store, revnum rev);

/* open(2) for reading. Descriptors may run out where many arenas hold bodies: then those that the
 * cache holds are given up first. */
int file_open(const struct store *store, const char *path);
/* What FD, open at PATH, is; an error unless it is a file. */
struct err *file_stat(struct stat *out, const struct store *store, int fd, const char *path);
/* The whole of a file of a few digits, with as few system calls as can be. False where that fails
 * for any reason: file_get then tells which. */
enum { SMALL_FILE_SIZE = 128 };
bool file_get_small(char out[SMALL_FILE_SIZE], size_t *n, const struct store *store,
                    const char *name);
/* Append the whole file NAME; *FOUND false where there is none. */
struct err *file_get(struct buf *out, bool *found, const struct store *store, const char *name);

/* How a file is replaced. */
struct file_put {
    mode_t mode;  /* of a new file; 0: 0666 less the umask. An existing file keeps its mode */
    bool durable; /* synced with its folder, unless the store does not flush */
};
/* Replace NAME by BYTES in one step. The folder must exist: else ENOENT. */
struct err *file_put(struct store *store, const char *name, struct str bytes, struct file_put how);
/* The two halves of it, for who has other things to do in between: a temporary file, and the
 * rename, before FD is closed. */
struct err *file_put_prepare(int *fd, char temp[PATH_SIZE], struct store *store, const char *name,
                             struct str bytes, mode_t mode);
struct err *file_put_rename(struct store *store, const char *temp, const char *name);

/* A new file of a unique name in db/, open for reading and writing, and locked (flock) until it is
 * closed: who can lock one that he did not make knows that its owner is dead. */
struct err *temp_open(int *fd, char path[PATH_SIZE], struct store *store);
/* The temporary name, in db/, of a file that is written under LEASE_WRITE: WHAT ("revs") of
 * revision REV. Who has the lease and did not make it knows that its owner is dead. */
struct name name_staged(const char *what, revnum rev);
struct err *write_all(struct store *store, int fd, struct str bytes, uint64_t offset,
                      const char *path);
struct err *set_mode(struct store *store, int fd, mode_t mode, const char *path);

/* Make the folder NAME with the mode of folder LIKE (or, where that is missing, of db/); *MADE
 * false where it is there already. */
struct err *folder_make(bool *made, struct store *store, const char *name, const char *like);
/* Remove the folder NAME and the files in it except the one called KEEP (then the folder stays
 * too); absent is fine. */
struct err *folder_remove(struct store *store, const char *name, const char *keep);
struct err *folder_sync(struct store *store,
                        const char *name); /* nothing where the store does not flush */
static inline bool store_flushes(struct store *store)
{
    return atomic_load_explicit(&store->flush, memory_order_relaxed);
}
/* The entries of folder NAME for which KEEP_IF says true (all where NULL), sorted, without "." and
 * ".."; none where it is missing. */
struct err *folder_list(struct str **names, size_t *count, const struct store *store,
                        const char *name, bool (*keep_if)(struct str entry), struct arena *arena);

/* ---- posix.c ---- */

/* What is at the store's path now is this store. */
struct err *store_identify(struct store *store);

/* ---- body.c ---- */

struct body_cache *body_cache_new(void);
void body_cache_free(struct body_cache *cache);
/* Forget the descriptors of loose bodies from FROM on: their files are about to be replaced or
 * removed. */
void bodies_forget(struct store *store, revnum from);
void bodies_forget_all(const struct store *store);

/* ---- lend.c ---- */

/* The body of REV where the calling thread has lent it, a reference; or NULL. */
struct body *lent_find(struct store *store, revnum rev);
struct err *lent_read(const struct body *body, const struct span *spans, size_t count);

/* ---- draft.c ---- */

struct draft {
    struct store *store;
    char *name;       /* the transaction's */
    struct buf tail;  /* the bytes behind those in the file */
    uint64_t in_file; /* bytes in the file */
    int fd;           /* -1 while all is in memory */
    char *temp;       /* where the file has a name: the filesystem has no unnamed ones */
};
/* Write what a draft still holds in memory to its file (which it has). */
struct err *draft_flush(struct draft *draft);

/* ---- piece.c ---- */

/* Open a file without a name in FOLDER (absolute), or one with a temporary name in db/ where the
 * filesystem has none (*TEMP, else NULL). */
struct err *unnamed_open(int *fd, char **temp, struct store *store, const char *folder);

/* A file on its way to its name: written, then synced, then named, so that no crash shows a half
 * one. */
struct piece {
    struct name name;
    int fd;              /* -1: nothing here */
    char *temp;          /* its name till then, or NULL */
    struct draft *draft; /* whose descriptor FD is, or NULL */
    bool named;
};
struct err *piece_of_bytes(struct piece *out, struct store *store, struct name name,
                           struct str bytes, mode_t mode);
/* The same under the temporary name TEMP, of which there may be a left-over. */
struct err *piece_of_bytes_at(struct piece *out, struct store *store, struct name name,
                              struct name temp, struct str bytes, mode_t mode);
/* PIECE, which may be without a name, gets the temporary name TEMP. */
struct err *piece_park(struct piece *piece, struct store *store, struct name temp);
/* PIECE, whose descriptor is a draft's, gets one of its own. */
struct err *piece_own(struct piece *piece);
/* What is written stays: PIECE needs no descriptor any more. */
void piece_close(struct piece *piece, struct store *store);
struct err *piece_of_draft(struct piece *out, struct store *store, struct name name,
                           struct draft *draft, mode_t mode);
/* What is under the name already (a left-over) is replaced. */
struct err *piece_name(struct piece *piece, struct store *store);
/* Close the files, from the last to the first. Those that have not got their names are removed;
 * those that have, too, unless they are to stay. */
void pieces_end(struct piece *pieces, size_t count, struct store *store, bool stay);

/* One thing to sync: a file by its descriptor, or a folder. */
struct sync_job {
    struct store *store;
    int fd;           /* -1: the folder */
    struct name name; /* of either */
};
/* Sync them in parallel, which the disk merges; nothing where the store does not flush. */
struct err *sync_run(struct sync_job *jobs, size_t count);
/* Sync the whole filesystem; FD (a descriptor there) was opened before the first write that
 * matters, so that no error of it is missed. */
struct err *sync_filesystem(struct store *store, int fd);
struct err *sync_filesystem_open(int *fd, struct store *store);

/* The mode for the data of revision REV: that of the revision before it. */
mode_t mode_for_rev(const struct store *store, revnum rev);

/* ---- publish.c ---- */

/* Remove what is staged. */
void staged_end(struct store *store);

/* ---- sweep.c ---- */

/* Remove what writers that were killed left: revisions above the head, temporary files. The caller
 * has just taken LEASE_WRITE. */
struct err *sweep(struct store *store);

/* ---- lease.c ---- */

void leases_close(struct store *store);

#endif
