/* SPDX-License-Identifier: Apache-2.0 */
/* commit_write.h - the final form of a transaction: what is appended to its texts to make a
 * revision.
 *
 *   file texts (txn_text.c) | for each changed node, children first: directory text, property list,
 * node-revision | changed paths | trailer, or indexes and footer */
#ifndef VARVE_FSFS_TXN_COMMIT_WRITE_H
#define VARVE_FSFS_TXN_COMMIT_WRITE_H

#include "fsfs/read/index.h"
#include "fsfs/txn/txn_int.h"
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

#endif
