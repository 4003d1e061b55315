/* SPDX-License-Identifier: Apache-2.0 */
/* repcache.h - the store's rep-cache: which representation holds a text with a given SHA-1.
 *
 * It is an accelerator that may be stale, foreign or damaged: whoever uses a row checks the
 * representation's existence, size and bytes first. Rows are written after the commit, many commits
 * at once, and are found by this process from the moment they are offered. */
#ifndef VARVE_STORE_REPCACHE_H
#define VARVE_STORE_REPCACHE_H

#include "base/digest.h"
#include "store/store.h"

struct repcache_row {
    uint8_t sha1[SHA1_SIZE];
    revnum rev;
    uint64_t item, size, expanded;
};
/* The row for SHA1; *FOUND false where there is none. A rep-cache that cannot be read is as good as
 * empty (a warning to the log, once). */
struct err *repcache_find(struct repcache_row *out, bool *found, struct store *store,
                          const uint8_t sha1[SHA1_SIZE]);
/* Offer rows of a commit that is visible now. */
void repcache_offer(struct store *store, const struct repcache_row *rows, size_t n);
/* For revisions that are staged but not visible yet (a load): rows that this process finds at once
 * and that go nowhere until repcache_release offers them all, after the head has moved; or
 * repcache_forget drops them. */
void repcache_hold(struct store *store, const struct repcache_row *rows, size_t n);
void repcache_release(struct store *store);
void repcache_forget(struct store *store);
/* Wait until everything offered is kept; the first error of keeping it since the last call. */
struct err *repcache_flush(struct store *store);
/* Whether there is one. */
bool repcache_exists(struct store *store);
/* Call FN for each row (verify, build-repcache); stops at its first error. */
struct err *repcache_each(struct store *store,
                          struct err *(*fn)(void *arg, const struct repcache_row *row), void *arg);

#endif
