/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead.h - for who goes through revisions one by one: workers expand the texts of the next
 * ones meanwhile, so that they are in the cache when their turn comes.
 *
 * Errors are not reported here: whoever reads what was asked for meets them again. */
#ifndef VARVE_REPO_READ_AHEAD_H
#define VARVE_REPO_READ_AHEAD_H

#include "fsfs/fs.h"

struct read_ahead;
/* Revisions from FIRST to LAST. */
struct read_ahead *read_ahead_new(struct fsfs *fs, revnum first, revnum last);
/* REV is what is read now: keep the workers busy with those behind it. */
void read_ahead_at(struct read_ahead *ahead, revnum rev);
void read_ahead_free(struct read_ahead *ahead); /* waits for the workers */

#endif
