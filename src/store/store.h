/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - where a repository's things live; knows nothing of what is inside the bytes.
 *
 * A store keeps: bodies (a revision or a shard's pack: immutable once published), the head
 * (youngest revision and its companions), records (small mutable things by kind and key), rows of
 * the rep-cache (repcache.h), leases (exclusive rights), and drafts (bodies in the making).
 *
 * It is an interface: each function below is one indirect call into the operations (ops.h) of the
 * kind of store that was opened. There are posix/, the directory layout of FSFS, and memory/, which
 * lives as long as its process.
 *
 * Threads: a store is shared by all threads of the process; bodies are reference-counted and
 * shared; a draft belongs to one thread at a time. A lease excludes other threads of this process
 * and, where others can reach the store, other processes.
 *
 * Errors name the thing. A missing body is E_FS_NO_SUCH_REVISION. */
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

/* How things are laid out; from the `format` record, which fsfs parses. */
struct store_layout {
    int64_t shard_size;  /* revisions per shard; 0 = linear */
    bool ids_in_current; /* formats 1 and 2: the head holds two id counters too */
    bool packs;          /* format 4 and later: the first unpacked revision counts */
    bool txn_current;    /* format 3 and later: names of transactions come from a counter */
    bool revprop_packs;  /* format 6 and later */
    bool rows_by_hash;   /* format 8: the rep-cache's rows have no numbers */
};

struct store_ops;
/* What every kind of store begins with. */
struct store {
    const struct store_ops *ops;
    char *path; /* of the "db" folder, or what stands for it, without a slash at the end: for
                   messages */
    struct store_layout layout;
};

/* Open: store/posix/posix.h, store/memory/memory.h. */
void store_close(struct store *store); /* NULL is fine */
static inline const char *store_path(const struct store *store)
{
    return store->path;
}
/* Once, before anything below. */
static inline void store_set_layout(struct store *store, struct store_layout layout)
{
    store->layout = layout;
}
/* Commits wait until they are durable unless told otherwise (`load --no-flush-to-disk`). */
void store_set_flush(struct store *store, bool flush);

/* Is the store still the one that was opened? One that was opened to be made is always the same. */
enum store_look {
    STORE_SAME,
    STORE_TOUCHED,  /* it is, but its format, UUID or settings have been touched: whoever
                       begins anew opens it anew */
    STORE_REPLACED, /* another one is in its place */
    STORE_GONE,     /* nothing is */
};
struct err *store_look(enum store_look *out, const struct store *store);
/* E_FS_GENERAL where it is another one, or none. */
struct err *store_check_itself(const struct store *store);

/* ---- the head ---- */

struct head {
    revnum youngest;
    uint64_t next_node_id, next_copy_id; /* formats 1 and 2 */
};
struct err *store_head(struct head *out, struct store *store); /* afresh */
/* Revisions that were final are no more: their bodies are looked for anew. */
void store_forget(struct store *store);
/* Afresh; 0 without packs. */
struct err *store_min_unpacked(revnum *out, struct store *store);

/* ---- bodies ---- */

struct body {
    struct shared shared;
    struct store *store;
    revnum first_rev; /* of the shard where packed; else the revision */
    bool packed;
    uint64_t size; /* bytes */
    /* Names this body in cache keys; a pack that replaces revisions gets another one. */
    uint64_t identity;
    struct draft *draft; /* whose bytes it has, for draft_body; else NULL */
};

struct span {
    uint64_t offset;
    size_t n; /* bytes */
    char *to; /* where they go */
};

/* The body that holds revision REV: looks where it was last (packed or not), then in the other
 * place, so that a pack at work in another process is no error. The reference belongs to the arena.
 * REV may be above the head: one that this store has staged. */
struct err *store_body(struct body **out, struct store *store, revnum rev, struct arena *arena);
/* Read COUNT spans; a span that reaches past the end is E_FS_CORRUPT with the body's name. */
struct err *body_read(struct body *body, const struct span *spans, size_t count);
/* Start reading spans ahead (their `to` is not used); returns at once; errors are left for the real
 * read. */
void body_prefetch(struct body *body, const struct span *spans, size_t count);
/* "revs/0/5", "revs/0.pack/pack": for messages. */
struct str body_name(const struct body *body, struct arena *arena);
/* The manifest of a physical pack. */
struct err *body_manifest(struct buf *out, struct body *body);

/* ---- drafts ---- */

struct draft {
    struct store *store;
    char *name;    /* the transaction's, for messages */
    uint64_t size; /* bytes */
};
/* A new body: append-only, may be read back. Nothing is left of it by a crash. */
struct err *draft_begin(struct draft **out, struct store *store, struct str name);
struct err *draft_append(struct draft *draft, struct str bytes);
struct err *draft_reread(struct draft *draft, uint64_t offset, void *to, size_t n);
struct err *draft_truncate(struct draft *draft, uint64_t size);
static inline uint64_t draft_size(const struct draft *draft)
{
    return draft->size;
}
/* Push what the draft holds towards safety ahead of publish, which then waits for less of it. */
void draft_start_sync(struct draft *draft);
/* Copy what the draft holds to where other processes look for the proto-revision of transaction
 * TXN. */
struct err *draft_show(struct draft *draft, struct str txn);
/* What the draft holds as the body of REV, which it will be: for those that are to stand on it. The
 * reference belongs to the arena, which must be gone, like all others, before the draft changes. */
struct body *draft_body(struct draft *draft, revnum rev, struct arena *arena);
void draft_drop(struct draft *draft); /* NULL is fine; also after publish */

/* ---- publish ---- */

struct publication {
    revnum rev;
    struct draft *draft;
    struct str revprops;                 /* the bytes of the revision property record */
    uint64_t next_node_id, next_copy_id; /* formats 1 and 2: of the head that it makes */
};
/* Make revisions visible: BATCH holds consecutive revisions from head + 1 on. The caller holds
 * LEASE_WRITE. E_FS_TXN_OUT_OF_DATE where the head is another. In a store that has no head yet
 * revision 0 comes first.
 *
 * Durable on return; never does more than one revision stand above the head. Others may see a
 * revision before it is durable. *DURABLE is the last that is: on an error those of the batch up to
 * it are there for good, and the others are not, except where a wait fails (the error says so):
 * then they are visible, but may not survive a failure of power. */
struct err *store_publish(revnum *durable, struct store *store, const struct publication *batch,
                          size_t count);
/* For a load: put the revision ONE aside; store_publish_staged does for all that was staged what
 * store_publish does for a batch (*DURABLE is left alone where nothing was). Bodies staged can be
 * read at once by this process. The caller holds LEASE_WRITE from the first store_stage to
 * store_publish_staged, and publishes nothing else meanwhile. Nothing is staged after it, whatever
 * it returns. */
struct err *store_stage(struct store *store, const struct publication *one);
struct err *store_publish_staged(revnum *durable, struct store *store);

/* Put a pack (and manifest where MANIFEST.n > 0) in the place of shard SHARD's bodies; the caller
 * holds LEASE_PACK (LEASE_WRITE below format 7). Durable on return; RECORD_MIN_UNPACKED is the
 * caller's next step, then store_drop_shard. */
struct err *store_put_pack(struct store *store, int64_t shard, struct draft *pack,
                           struct str manifest);
struct err *store_drop_shard(struct store *store, int64_t shard, bool revprops_too);

/* ---- transaction names ---- */

/* Reserve COUNT numbers for transaction names ("<base>-<base36 number>"), unique for ever where the
 * layout has txn_current (durably reserved in blocks); else the first number that no transaction
 * has. */
struct err *store_txn_numbers(uint64_t *first, struct store *store, revnum base, uint64_t count);

/* ---- records ---- */

enum record_kind {
    RECORD_FORMAT,           /* of the filesystem */
    RECORD_FS_TYPE,          /* "fsfs" */
    RECORD_UUID,             /* and the instance's */
    RECORD_CONFIG,           /* fsfs.conf */
    RECORD_MIN_UNPACKED,     /* the first revision that is in no pack */
    RECORD_REVPROPS,         /* a revision's properties, not packed: rev */
    RECORD_REVPROP_MANIFEST, /* rev = shard number */
    RECORD_REVPROP_PACK,     /* rev = shard number, name = of the pack in it */
    RECORD_LOCK,             /* name = 32 hex digits */
    RECORD_TXN,              /* name = "<txn>/<part>": the parts of a transaction */
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
/* What is soon asked for; returns at once; errors are left for the real read. */
enum record_ahead {
    AHEAD_RECORD, /* read it */
    AHEAD_PLACE,  /* read all that are in the same place, in the order in which they lie there */
    AHEAD_FIND,   /* do not read it: what leads to its place is at hand then */
};
void record_prefetch(struct store *store, struct record_key key, enum record_ahead what);
/* Replace (or make) it atomically; durable on return unless the kind is a transaction's or a
 * lock's. E_REPOS_BAD_ARGS where it is larger than RECORD_SIZE_MAX, and could not be read again.
 * The caller holds the lease that serialises its kind. */
struct err *record_put(struct store *store, struct record_key key, struct str bytes);
struct err *record_delete(struct store *store, struct record_key key); /* absent is fine */
/* The names of all records of KIND (RECORD_TXN: the transactions; RECORD_LOCK: the digests),
 * sorted, in ARENA. */
struct err *record_scan(struct str **names, size_t *count, struct store *store,
                        enum record_kind kind, struct arena *arena);
/* All parts of a transaction, its proto-revision and what guards that. */
struct err *store_txn_remove(struct store *store, struct str txn);

/* A token that is another one after a change. Two equal ones taken at different times prove that
 * nothing changed between, if `settled`: the first was so old when it was taken that a later change
 * must give another one. */
struct version {
    uint64_t parts[3]; /* all 0: there is nothing */
    bool settled;
};
bool version_equal(const struct version *a, const struct version *b);
/* Of the record. */
struct err *record_version(struct version *out, struct store *store, struct record_key key);
/* Of the place that holds KEY: changes when any record in it does (RECORD_REVPROPS: its shard's).
 */
struct err *record_place_version(struct version *out, struct store *store, struct record_key key);
/* record_put where the record is still as it was when it had the version WAS; *DONE says so. */
struct err *record_cas(bool *done, struct store *store, struct record_key key,
                       const struct version *was, struct str bytes);

/* ---- leases ---- */

/* Lock order: LEASE_TXN_CURRENT, LEASE_PACK, LEASE_WRITE. */
enum lease_kind { LEASE_TXN_CURRENT, LEASE_PACK, LEASE_WRITE, LEASE_KINDS };
/* E_FS_GENERAL where the repository was replaced since it was opened: what we know of the old one
 * must not be written into the new one. */
struct err *lease_take(struct store *store, enum lease_kind kind);
void lease_drop(struct store *store, enum lease_kind kind);

/* ---- making ---- */

/* A new, empty store (without bodies and records): EEXIST where something is there. */
struct err *store_create(struct store *store);

#endif
