/* SPDX-License-Identifier: Apache-2.0 */
/* prefetch.h - asking the disk ahead for what will be read soon. */
#ifndef VARVE_FSFS_READ_PREFETCH_H
#define VARVE_FSFS_READ_PREFETCH_H

#include "fsfs/read/dir.h"
#include "fsfs/read/rep.h"

/* Ask the disk ahead, for a reader that wants all of these soon (a cold export): node-revisions;
 * representations and, round by round, the delta bases that their header lines name. Returns when
 * all is asked for; what is cached is left out. */
void noderevs_prefetch(struct fsfs *fs, const struct noderev_id *ids, size_t n);
void reps_prefetch(struct fsfs *fs, const struct rep *reps, size_t n);

/* Ask the disk ahead for all that an export of DIR's children reads: their node-revisions, then
 * their texts and properties with all delta bases. */
void dir_prefetch(struct fsfs *fs, const struct dir *dir);
/* Find the files of the packed shards between LOW and HIGH, for a reader that will come through all
 * of them: what leads to them lies close together, and coming back to it for each shard costs a
 * seek or two each time. */
void packs_prefetch(struct fsfs *fs, revnum low, revnum high);

#endif
