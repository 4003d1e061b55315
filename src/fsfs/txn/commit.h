/* SPDX-License-Identifier: Apache-2.0 */
/* commit.h - from a transaction to a revision.
 *
 * Committers of one process that come at the same moment form a batch: one of them takes the write
 * lease, and for each transaction in turn merges it onto what is youngest by then (the batch's
 * earlier members included), checks locks, numbers it, writes its final node-revisions; then the
 * whole batch is published with one set of syncs, and all are told. A member that fails (conflict,
 * lock) leaves the batch; the others go on. After the head has moved, new representations are
 * offered to the rep-cache. */
#ifndef VARVE_FSFS_TXN_COMMIT_H
#define VARVE_FSFS_TXN_COMMIT_H

#include "base/date.h"
#include "fsfs/txn/txn.h"

struct commit_options {
    bool check_locks; /* against USER and TOKENS */
    struct str user;
    const struct str *tokens;
    size_t token_count;
    bool no_merge; /* E_FS_TXN_OUT_OF_DATE instead of merging onto a newer youngest */
};
/* Commit TXN, which is freed whatever happens. *REV is the new revision. E_FS_CONFLICT "Conflict at
 * '/p'"; lock errors of locks_allow. *DATE (may be NULL) receives svn:date as stored. */
struct err *txn_commit(revnum *rev, char date[DATE_LONG_SIZE + 1], struct txn *txn,
                       const struct commit_options *options);

/* E_INCORRECT_PARAMS where NAME is one in which transactions of Subversion keep notes. */
struct err *txn_check_revprop(struct str name);

/* The queue of fs->queue; fsfs_close calls it. NULL is fine. */
void commit_queue_free(struct commit_queue *queue);

/* For a load: commit many revisions quickly, one after the other, each visible to this process at
 * once (as a base of the next) and to everybody and durable after load_commits_flush. *DURABLE is
 * the last revision that is, also where it fails; then only load_commits_end may follow. The write
 * lease is held between flushes. */
struct load_commits;
struct err *load_commits_begin(struct load_commits **out, struct fsfs *fs);
struct err *load_commits_add(revnum *rev, struct load_commits *lc,
                             struct txn *txn); /* TXN is freed */
struct err *load_commits_flush(revnum *durable, struct load_commits *lc);
/* Flushes; frees whatever happens. */
struct err *load_commits_end(revnum *durable, struct load_commits *lc);

#endif
