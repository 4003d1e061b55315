/* SPDX-License-Identifier: Apache-2.0 */
/* history_locations.h - where a path was in other revisions, and when it ended. */
#ifndef VARVE_REPO_HISTORY_HISTORY_LOCATIONS_H
#define VARVE_REPO_HISTORY_HISTORY_LOCATIONS_H

#include "repo/history/history.h"

/* The path that PATH@PEG had in each of REVS (n of them): out[i].p NULL where it did not exist.
 * Revisions in any order, also younger than PEG; what is asked for twice is answered once. */
struct err *history_locations(struct str *out, struct fsfs *fs, struct str path, revnum peg,
                              const revnum *revs, size_t n, const struct principal *who,
                              struct arena *arena);

/* The segments of PATH@PEG's life from START down to END: youngest first; PATH.p NULL for a gap. */
struct location_segment {
    revnum from, to; /* from <= to */
    struct str path; /* absolute */
};
struct err *history_segments(struct location_segment **out, size_t *n, struct fsfs *fs,
                             struct str path, revnum peg, revnum start, revnum end,
                             const struct principal *who, struct arena *arena);

/* The revision in (START, END] in which PATH@START was deleted or replaced by something unrelated;
 * REV_NONE where it was not. */
struct err *history_deleted_rev(revnum *out, struct fsfs *fs, struct str path, revnum start,
                                revnum end, struct arena *arena);

/* The youngest revision whose svn:date is not after US (microseconds); 0 where all are younger. */
struct err *history_dated_rev(revnum *out, struct fsfs *fs, int64_t us);

#endif
