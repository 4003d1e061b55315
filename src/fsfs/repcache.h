/* SPDX-License-Identifier: Apache-2.0 */
/* repcache.h - rep-cache.db: which representation holds a text with a given SHA-1.
 *
 * The table is an accelerator that may be stale, foreign or damaged: whoever uses a row checks the
 * representation's existence, size and bytes first. Rows are written after the commit by a
 * background thread, many commits in one SQLite transaction, and are found by this process from the
 * moment they are offered.
 *
 * Where the file is removed or replaced under us, this is told once (err_warn) and a new one is
 * made or the other one used. One that cannot be used (junk; no descriptors, no room) is told of
 * once, left as it is, and looked at again when it has changed or a minute later. */
#ifndef VARVE_FSFS_REPCACHE_H
#define VARVE_FSFS_REPCACHE_H

#include "fsfs/noderev.h"

struct fsfs;

struct repcache_row {
    uint8_t sha1[SHA1_SIZE];
    revnum rev;
    uint64_t item, size, expanded;
};
/* Called by fsfs_open; touches no file. */
void repcache_init(struct fsfs *fs);
/* The row for SHA1; *FOUND false where there is none. A database that cannot be opened or read is
 * as good as empty (a warning to the log, once). */
struct err *repcache_find(struct repcache_row *out, bool *found, struct fsfs *fs,
                          const uint8_t sha1[SHA1_SIZE]);
/* Offer rows of a commit that is visible now. */
void repcache_offer(struct fsfs *fs, const struct repcache_row *rows, size_t n);
/* For revisions that are staged but not visible yet (a load): rows that this process finds at once
 * and that go nowhere until repcache_release offers them all, after the head has moved; or
 * repcache_forget drops them. */
void repcache_hold(struct fsfs *fs, const struct repcache_row *rows, size_t n);
void repcache_release(struct fsfs *fs);
void repcache_forget(struct fsfs *fs);
/* Wait until everything offered is in the file; the first error of the writer since the last call.
 */
struct err *repcache_flush(struct fsfs *fs);
/* Whether there is a database file. */
bool repcache_exists(const struct fsfs *fs);
/* Call FN for each row (verify, build-repcache); stops at its first error. Missing database: no
 * rows. */
struct err *repcache_each(struct fsfs *fs,
                          struct err *(*fn)(void *arg, const struct repcache_row *row), void *arg);
void repcache_close(struct fsfs *fs);

#endif
