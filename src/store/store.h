/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - where a repository's things live; knows nothing of what is inside the bytes.
 *
 * A store keeps: bodies (a revision's file or a shard's pack: immutable once published), the head
 * (youngest revision and its companions), records (small mutable things by kind and key), leases
 * (exclusive rights), and drafts (bodies in the making). posix.c keeps them in the FSFS directory
 * layout; every change it makes to the disk goes through the operations of disk.h, beneath which
 * fault.c cuts commits short for the tests.
 *
 * Threads: a store is shared by all threads of the process; bodies are reference-counted and
 * shared; a draft belongs to one thread at a time. A lease excludes other threads of this process
 * and other processes alike.
 *
 * Errors name the file. A missing body is E_FS_NO_SUCH_REVISION. */
#ifndef VARVE_STORE_STORE_H
#define VARVE_STORE_STORE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/shared.h"
#include <stdint.h>

typedef int64_t revnum;
#define REV_NONE ((revnum)-1)
/* The youngest that a repository can have: Subversion reads no larger number from `current`. What
 * is added to a number within it does not overflow. */
#define REV_MAX ((revnum)INT32_MAX)

struct disk;
struct store;
struct draft;

/* How the bodies are laid out; from the `format` record, which fsfs parses. */
struct store_layout {
    int64_t shard_size;  /* revisions per folder; 0 = linear */
    bool ids_in_current; /* formats 1 and 2: `current` holds two id counters too */
    bool packs;          /* format 4 and later: min-unpacked-rev counts */
    bool txn_current;    /* format 3 and later: names come from txn-current */
    bool revprop_packs;  /* format 6 and later */
};

/* Open the store of the repository filesystem in DB_PATH (the "db" folder). DISK is NULL for the
 * system's files. No files are touched. */
struct err *store_open(struct store **out, const char *db_path, struct disk *disk);
void store_close(struct store *store);
const char *store_path(const struct store *store);
void store_set_layout(struct store *store,
                      struct store_layout layout); /* once, before anything below */
/* Commits wait for the disk unless told otherwise (`load --no-flush-to-disk`). Default: flush. */
void store_set_flush(struct store *store, bool flush);

/* ---- the head ---- */

struct head {
    revnum youngest;
    uint64_t next_node_id, next_copy_id; /* formats 1 and 2 */
};
struct err *store_head(struct head *out, struct store *store); /* reads `current` afresh */
/* Is what is at its path still the store that was opened? E_FS_GENERAL where it is another one, or
 * none. One that was opened to be made is always itself. */
struct err *store_check_itself(const struct store *store);
/* Revisions that were final are no more: their files are opened anew. */
void store_forget(struct store *store);
struct err *store_min_unpacked(revnum *out,
                               struct store *store); /* reads afresh; 0 without packs */

/* ---- bodies ---- */

struct body {
    struct shared shared;
    struct store *store;
    revnum first_rev; /* of the shard where packed; else the revision */
    bool packed;
    uint64_t size; /* bytes */
    uint64_t
        identity; /* names this body in cache keys; a pack that replaces files gets another one */
    int fd;       /* private to the store */
    struct draft *draft; /* private to the store: where it is lent */
};

struct span {
    uint64_t offset;
    size_t n; /* bytes */
    char *to; /* where they go */
};

/* The body that holds revision REV: looks where it was last (packed or not), then in the other
 * place, so that a pack at work in another process is no error. The reference belongs to the arena.
 * REV may be above the head: a commit's own batch. */
struct err *store_body(struct body **out, struct store *store, revnum rev, struct arena *arena);
/* Read COUNT spans; a span that reaches behind the end is E_FS_CORRUPT with the file's name. */
struct err *body_read(struct body *body, const struct span *spans, size_t count);
/* Start reading spans ahead (their `to` is not used); returns at once; errors are left for the real
 * read. */
void body_prefetch(struct body *body, const struct span *spans, size_t count);
struct str body_name(const struct body *body,
                     struct arena *arena); /* "revs/0/5", "revs/0.pack/pack": for messages */
/* The records of a physical pack: the `manifest` file's bytes. */
struct err *body_manifest(struct buf *out, struct body *body);

/* ---- drafts ---- */

/* A new body: append-only, may be read back. In memory while it is small, then in an unnamed file
 * in the store's place (nothing is left by a crash). NAME is the transaction's, for messages. */
struct err *draft_begin(struct draft **out, struct store *store, struct str name);
struct err *draft_append(struct draft *draft, struct str bytes);
struct err *draft_reread(struct draft *draft, uint64_t offset, void *to, size_t n);
struct err *draft_truncate(struct draft *draft, uint64_t size);
uint64_t draft_size(const struct draft *draft);
/* Push what the draft holds towards the disk ahead of publish (large texts: so that publish need
 * not wait for all of it). */
void draft_start_sync(struct draft *draft);
/* Copy what the draft holds to where other processes look for the proto-revision of transaction
 * TXN. */
struct err *draft_show(struct draft *draft, struct str txn);
void draft_drop(struct draft *draft); /* NULL is fine; also after publish */

/* ---- publish ---- */

struct publication {
    revnum rev;
    struct draft *draft;
    struct str revprops;                 /* the bytes of the loose revision property file */
    uint64_t next_node_id, next_copy_id; /* formats 1 and 2: of the head that it makes */
};
/* Make revisions visible: BATCH holds consecutive revisions from head + 1 on. The caller holds
 * LEASE_WRITE. E_FS_TXN_OUT_OF_DATE where the head is another. In a store that has no head yet
 * revision 0 comes first.
 *
 * Durable on return, after three waits for the disk whatever the size of the batch: all files are
 * written and synced as one set; then each revision gets its names and becomes the head, in order,
 * so that never more than one stands above the head, but before the last one does, the folders are
 * synced; then db/ is. Others may see a revision before it is durable. *DURABLE is the last that
 * is: on an error those of the batch up to it are there for good, and the others are not, except
 * where a wait fails (the error says so): then they are visible, but may not survive a failure of
 * power. */
struct err *store_publish(revnum *durable, struct store *store, const struct publication *batch,
                          size_t count);
/* Let the calling thread read revision REV, which is in the making, from DRAFT as if it were
 * published: the members of a batch stand on each other. The caller holds LEASE_WRITE, keeps the
 * draft unchanged, and calls store_unlend, from the same thread, before it drops either. */
void store_lend(struct store *store, revnum rev, struct draft *draft);
void store_unlend(struct store *store);
/* For a load: write the files of the revision ONE under temporary names and without sync;
 * store_publish_staged does for all that was staged what store_publish does for a batch (*DURABLE
 * is left alone where nothing was). Bodies staged can be read at once by this process. The caller
 * holds LEASE_WRITE from the first store_stage to store_publish_staged, and publishes nothing else
 * meanwhile. Nothing is staged after it, whatever it returns. */
struct err *store_stage(struct store *store, const struct publication *one);
struct err *store_publish_staged(revnum *durable, struct store *store);

/* Put a pack (and manifest where MANIFEST.n > 0) in the place of shard SHARD's files; the caller
 * holds LEASE_PACK (LEASE_WRITE below format 7). Durable on return; min-unpacked-rev is the
 * caller's next step (record), then store_drop_shard. */
struct err *store_put_pack(struct store *store, int64_t shard, struct draft *pack,
                           struct str manifest);
struct err *store_drop_shard(struct store *store, int64_t shard, bool revprops_too);

/* ---- transaction names ---- */

/* Reserve COUNT numbers for transaction names ("<base>-<base36 number>"), unique for ever where
 * txn_current is set (durably reserved in blocks); else the first number that no folder has. */
struct err *store_txn_numbers(uint64_t *first, struct store *store, revnum base, uint64_t count);

/* ---- records ---- */

enum record_kind {
    RECORD_FORMAT,           /* db/format */
    RECORD_FS_TYPE,          /* db/fs-type */
    RECORD_UUID,             /* db/uuid */
    RECORD_CONFIG,           /* db/fsfs.conf */
    RECORD_MIN_UNPACKED,     /* db/min-unpacked-rev */
    RECORD_REVPROPS,         /* a revision's loose properties: rev */
    RECORD_REVPROP_MANIFEST, /* rev = shard number */
    RECORD_REVPROP_PACK,     /* rev = shard number, name = file in the pack folder */
    RECORD_LOCK,             /* name = 32 hex digits */
    RECORD_TXN,              /* name = "<txn>/<file>": the files of a transaction folder */
    RECORD_TXN_PROTOREV,     /* name = txn */
    RECORD_NODE_ORIGIN,      /* name */
};
enum { RECORD_SIZE_MAX = 1 << 30 }; /* bytes: a property list of 1 GiB is no property list */
struct record_key {
    enum record_kind kind;
    revnum rev;
    struct str name;
};
/* The record's bytes appended to OUT; *FOUND false where there is none. */
struct err *record_get(struct buf *out, bool *found, struct store *store, struct record_key key);
/* Start reading it ahead; returns at once; errors are left for the real read. */
void record_prefetch(struct store *store, struct record_key key);
/* All that are in the same folder, in the order in which they lie on the disk. */
void record_prefetch_folder(struct store *store, struct record_key key);
/* Find it and do not read it: what leads to its folder's files is at hand then. */
void record_find_ahead(struct store *store, struct record_key key);
/* Replace (or make) it atomically; durable on return unless the kind is a transaction's or a
 * lock's. E_REPOS_BAD_ARGS where it is larger than RECORD_SIZE_MAX, and could not be read again.
 * The caller holds the lease that serialises its kind. */
struct err *record_put(struct store *store, struct record_key key, struct str bytes);
struct err *record_delete(struct store *store, struct record_key key); /* absent is fine */
/* The names of all records of KIND (RECORD_TXN: the transactions; RECORD_LOCK: the digests),
 * sorted, in ARENA. */
struct err *record_scan(struct str **names, size_t *count, struct store *store,
                        enum record_kind kind, struct arena *arena);
/* A stamp that changes when any record of the place that holds KIND/REV changes (a shard's revision
 * properties): the folder's mtime and inode. Two equal stamps taken at different times prove that
 * nothing changed between, if `settled`: the stamp is so old at the time of the first reading that
 * a later change must have another one. */
struct record_stamp {
    uint64_t a, b, c;
    bool settled;
};
bool record_stamps_equal(const struct record_stamp *a, const struct record_stamp *b);
struct err *record_place_stamp(struct record_stamp *out, struct store *store,
                               struct record_key key);
struct err *txn_folder_remove(struct store *store,
                              struct str txn); /* transaction folder, proto-revision and its lock */

/* ---- leases ---- */

/* Lock order: LEASE_TXN_CURRENT, LEASE_PACK, LEASE_WRITE. Each is a mutex of this process plus
 * flock(2) plus fcntl(2) on the FSFS lock file. */
enum lease_kind { LEASE_TXN_CURRENT, LEASE_PACK, LEASE_WRITE, LEASE_KINDS };
/* E_FS_GENERAL where the repository was replaced since it was opened: what we know of the old one
 * must not be written into the new one. */
struct err *lease_take(struct store *store, enum lease_kind kind);
void lease_drop(struct store *store, enum lease_kind kind);

/* ---- making and removing ---- */

/* The folders and files of a new, empty store (all but bodies and records): E_errno where something
 * is there. */
struct err *store_create(struct store *store);

#endif
