/* SPDX-License-Identifier: Apache-2.0 */
/* posix_int.h - the insides that the files of the FSFS directory store share; functions named as an
 * operation of store/ops.h are that operation.
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
 *   repcache.c rows of rep-cache.db on their way, and what is known of it
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

/* ---- files.c ---- */

void path_of(char out[PATH_SIZE], const struct posix *store, const char *name);
/* The folder of PATH. */
void path_folder(char out[PATH_SIZE], const char *path);

struct name name_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
struct name name_rev(const struct posix *store, revnum rev);        /* revs/0/5, revs/5 */
struct name name_rev_folder(const struct posix *store, revnum rev); /* revs/0, revs */
struct name name_revprops(const struct posix *store, revnum rev);   /* revprops/0/5, revprops/5 */
struct name name_revprops_folder(const struct posix *store, revnum rev);

/* open(2) for reading. Descriptors may run out where many arenas hold bodies: then those that the
 * cache holds are given up first. */
int file_open(const struct posix *store, const char *path);
/* What FD, open at PATH, is; an error unless it is a file. */
struct err *file_stat(struct stat *out, const struct posix *store, int fd, const char *path);
/* The whole of a file of a few digits, with as few system calls as can be. False where that fails
 * for any reason: file_get then tells which. */
enum { SMALL_FILE_SIZE = 128 };
bool file_get_small(char out[SMALL_FILE_SIZE], size_t *n, const struct posix *store,
                    const char *name);
/* Append the whole file NAME; *FOUND false where there is none. */
struct err *file_get(struct buf *out, bool *found, const struct posix *store, const char *name);

/* How a file is replaced. */
struct file_put {
    mode_t mode;  /* of a new file; 0: 0666 less the umask. An existing file keeps its mode */
    bool durable; /* synced with its folder, unless the store does not flush */
};
/* Replace NAME by BYTES in one step. The folder must exist: else ENOENT. */
struct err *file_put(struct posix *store, const char *name, struct str bytes, struct file_put how);
/* The two halves of it, for who has other things to do in between: a temporary file, and the
 * rename, before FD is closed. */
struct err *file_put_prepare(int *fd, char temp[PATH_SIZE], struct posix *store, const char *name,
                             struct str bytes, mode_t mode);
struct err *file_put_rename(struct posix *store, const char *temp, const char *name);

/* A new file of a unique name in db/, open for reading and writing, and locked (flock) until it is
 * closed: whoever can lock one made by another knows that its owner is dead. */
struct err *temp_open(int *fd, char path[PATH_SIZE], struct posix *store);
/* The temporary name, in db/, of a file that is written under LEASE_WRITE: WHAT ("revs") of
 * revision REV. Who has the lease and did not make it knows that its owner is dead. */
struct name name_staged(const char *what, revnum rev);
struct err *write_all(struct posix *store, int fd, struct str bytes, uint64_t offset,
                      const char *path);
struct err *set_mode(struct posix *store, int fd, mode_t mode, const char *path);

/* Make the folder NAME with the mode of folder LIKE (or, where that is missing, of db/); *MADE
 * false where it is there already. */
struct err *folder_make(bool *made, struct posix *store, const char *name, const char *like);
/* Remove the folder NAME and the files in it except the one called KEEP (then the folder stays
 * too); absent is fine. */
struct err *folder_remove(struct posix *store, const char *name, const char *keep);
struct err *folder_sync(struct posix *store,
                        const char *name); /* nothing where the store does not flush */
static inline bool store_flushes(struct posix *store)
{
    return atomic_load_explicit(&store->flush, memory_order_relaxed);
}
/* The entries of folder NAME for which KEEP_IF says true (all where NULL), sorted, without "." and
 * ".."; none where it is missing. */
struct err *folder_list(struct str **names, size_t *count, const struct posix *store,
                        const char *name, bool (*keep_if)(struct str entry), struct arena *arena);

/* ---- posix.c ---- */

/* What is at the store's path now is this store. */
struct err *store_identify(struct posix *store);

/* ---- body.c ---- */

void posix_forget(struct store *base);
struct err *posix_body(struct body **out, struct store *base, revnum rev, struct arena *arena);
struct err *posix_body_read(struct body *body, const struct span *spans, size_t count);
void posix_body_prefetch(struct body *body, const struct span *spans, size_t count);
struct err *posix_body_manifest(struct buf *out, struct body *body);

struct body_cache *body_cache_new(void);
void body_cache_free(struct body_cache *cache);
/* Forget the descriptors of loose bodies from FROM on: their files are about to be replaced or
 * removed. */
void bodies_forget(struct posix *store, revnum from);
void bodies_forget_all(const struct posix *store);

/* ---- draft.c ---- */

struct err *posix_draft_begin(struct draft **out, struct store *base, struct str name);
struct err *posix_draft_append(struct draft *base, struct str bytes);
struct err *posix_draft_reread(struct draft *base, uint64_t offset, void *to, size_t n);
struct err *posix_draft_truncate(struct draft *base, uint64_t size);
void posix_draft_start_sync(struct draft *base);
void posix_draft_drop(struct draft *base);

struct posix_draft {
    struct draft base; /* first */
    struct posix *store;
    struct buf tail;  /* the bytes behind those in the file */
    uint64_t in_file; /* bytes in the file */
    int fd;           /* -1 while all is in memory */
    char *temp;       /* where the file has a name: the filesystem has no unnamed ones */
};
static inline struct posix_draft *draft_of(struct draft *base)
{
    return (struct posix_draft *)base;
}
/* Write what a draft still holds in memory to its file (which it has). */
struct err *draft_flush(struct posix_draft *draft);

/* ---- piece.c ---- */

/* Open a file without a name in FOLDER (absolute), or one with a temporary name in db/ where the
 * filesystem has none (*TEMP, else NULL). */
struct err *unnamed_open(int *fd, char **temp, struct posix *store, const char *folder);

/* A file on its way to its name: written, then synced, then named, so that no crash shows a half
 * one. */
struct piece {
    struct name name;
    int fd;                    /* -1: nothing here */
    char *temp;                /* its name till then, or NULL */
    struct posix_draft *draft; /* whose descriptor FD is, or NULL */
    bool named;
};
struct err *piece_of_bytes(struct piece *out, struct posix *store, struct name name,
                           struct str bytes, mode_t mode);
/* The same under the temporary name TEMP, of which there may be a left-over. */
struct err *piece_of_bytes_at(struct piece *out, struct posix *store, struct name name,
                              struct name temp, struct str bytes, mode_t mode);
/* PIECE, which may be without a name, gets the temporary name TEMP. */
struct err *piece_park(struct piece *piece, struct posix *store, struct name temp);
/* PIECE, whose descriptor is a draft's, gets one of its own. */
struct err *piece_own(struct piece *piece);
/* What is written stays: PIECE needs no descriptor any more. */
void piece_close(struct piece *piece, struct posix *store);
struct err *piece_of_draft(struct piece *out, struct posix *store, struct name name,
                           struct posix_draft *draft, mode_t mode);
/* What is under the name already (a left-over) is replaced. */
struct err *piece_name(struct piece *piece, struct posix *store);
/* Close the files, from the last to the first. Those that have not got their names are removed;
 * those that have, too, unless they are to stay. */
void pieces_end(struct piece *pieces, size_t count, struct posix *store, bool stay);

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

/* ---- publish.c ---- */

struct err *posix_publish(revnum *durable, struct store *base, const struct publication *batch,
                          size_t count);
struct err *posix_stage(struct store *base, const struct publication *one);

/* Remove what is staged. */
void staged_end(struct posix *store);

/* ---- pack.c ---- */

struct err *posix_put_pack(struct store *base, int64_t shard, struct draft *pack,
                           struct str manifest);
struct err *posix_drop_shard(struct store *base, int64_t shard, bool revprops_too);

/* ---- record.c ---- */

struct err *posix_record_get(struct buf *out, bool *found, struct store *base,
                             struct record_key key);
void posix_record_prefetch(struct store *base, struct record_key key, enum record_ahead what);
struct err *posix_record_put(struct store *base, struct record_key key, struct str bytes);
struct err *posix_record_delete(struct store *base, struct record_key key);
struct err *posix_record_scan(struct str **names, size_t *count, struct store *base,
                              enum record_kind kind, struct arena *arena);
struct err *posix_record_version(struct version *out, struct store *base, struct record_key key);
struct err *posix_record_place_version(struct version *out, struct store *base,
                                       struct record_key key);
struct err *posix_record_cas(bool *done, struct store *base, struct record_key key,
                             const struct version *was, struct str bytes);
struct err *posix_txn_remove(struct store *base, struct str txn);
struct err *posix_draft_show(struct draft *base, struct str txn);

/* ---- sweep.c ---- */

/* Remove what writers that were killed left: revisions above the head, temporary files. The caller
 * has just taken LEASE_WRITE. */
struct err *sweep(struct posix *store);

/* ---- lease.c ---- */

struct err *posix_lease_take(struct store *base, enum lease_kind kind);
void posix_lease_drop(struct store *base, enum lease_kind kind);
void leases_close(struct posix *store);

/* ---- repcache.c ---- */

void repcache_init(struct posix *store); /* touches no file */
void repcache_close(struct posix *store);
struct err *posix_repcache_find(struct repcache_row *out, bool *found, struct store *base,
                                const uint8_t sha1[SHA1_SIZE]);
void posix_repcache_offer(struct store *base, const struct repcache_row *rows, size_t n);
void posix_repcache_hold(struct store *base, const struct repcache_row *rows, size_t n);
void posix_repcache_release(struct store *base);
void posix_repcache_forget(struct store *base);
struct err *posix_repcache_flush(struct store *base);
bool posix_repcache_exists(struct store *base);
struct err *posix_repcache_each(struct store *base,
                                struct err *(*fn)(void *arg, const struct repcache_row *row),
                                void *arg);

#endif
