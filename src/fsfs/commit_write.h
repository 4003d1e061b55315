/* SPDX-License-Identifier: Apache-2.0 */
/* commit_write.h - the final form of a transaction: what is appended to its texts to make a
 * revision.
 *
 *   file texts (txn_text.c) | for each changed node, children first: directory text, property list,
 * node-revision | changed paths | trailer, or indexes and footer */
#ifndef VARVE_FSFS_COMMIT_WRITE_H
#define VARVE_FSFS_COMMIT_WRITE_H

#include "delta/svndiff.h"
#include "fsfs/index.h"
#include "fsfs/txn_int.h"
#include "store/repcache.h"

/* A new object that the next commit will read: for the cache once the revision can be read. */
struct fresh {
    uint32_t kind;
    uint64_t item;
    struct shared *object;
};

/* A new representation and what it is stored against. */
struct fresh_chain {
    struct rep rep, base;
    bool has_base;
};

struct written {
    struct account *account; /* of the transaction, for all of this */
    struct arena *arena;
    struct repcache_row *rows; /* new representations, to be offered */
    size_t row_count, row_cap;
    struct fresh *fresh;
    size_t fresh_count, fresh_cap;
    struct fresh_chain *chains;
    size_t chain_count, chain_cap;
};

/* Append to TXN's draft all that makes it revision REV; TXN is settled. HEAD's counters are used
 * and advanced in formats 1 and 2. */
struct err *commit_write(struct written *out, struct txn *txn, revnum rev, struct head *head);
/* Put the fresh objects in the cache. */
void written_to_cache(const struct written *written, struct fsfs *fs, revnum rev);
void written_free(struct written *written);

/* ---- commit_dir.c ---- */

/* The text of a directory, made of runs of the text that it had before and of what is new. */
struct dir_run {
    bool is_old;
    size_t at; /* in the old text where IS_OLD, else in the new one */
    size_t n;
};
struct dir_text {
    struct buf text;
    size_t old_n;         /* bytes of the old text */
    struct dir_run *runs; /* NULL where the old text was of no use */
    size_t run_count, run_cap;
    struct account *account; /* of the transaction, for the runs */
};
struct err *dir_text_make(struct dir_text *out, struct txn *txn, const struct txn_node *dir);
/* The svndiff of it against the old text, without a search. */
void dir_text_delta(struct buf *out, const struct dir_text *dt,
                    const struct svndiff_params *params);
void dir_text_free(struct dir_text *dt);

#endif
