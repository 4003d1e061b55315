/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - where a node has been: predecessors, copies, locations, deletion. */
#ifndef VARVE_REPO_HISTORY_H
#define VARVE_REPO_HISTORY_H

#include "repo/principal.h"
#include "repo/tree.h"

/* The interesting revisions of a node, youngest first: each (path, rev) in which it was changed,
 * across copies where CROSS_COPIES. */
struct history;
struct err *history_open(struct history **out, struct fsfs *fs, struct str path, revnum rev,
                         bool cross_copies, struct arena *arena);
struct err *history_next(bool *more, struct str *path, revnum *rev,
                         struct history *history); /* PATH: valid until the next call */
/* The node at what was returned last, where the walk came by it; NULL: look in the tree. Valid
 * until the next call. */
const struct noderev *history_node(const struct history *history);

/* The copy nearest to PATH@REV that made it what it is (of itself or of a folder above): *FOUND,
 * where it was made (COPY_REV, COPY_PATH) and its source. */
struct err *node_nearest_copy(bool *found, revnum *copy_rev, struct str *copy_path,
                              revnum *from_rev, struct str *from_path, struct fsfs *fs,
                              struct str path, revnum rev, struct arena *arena);

/* The same for PATH itself: before it appeared here, in APPEARED_REV, it was FROM_PATH@FROM_REV. */
struct err *node_location_before(bool *found, revnum *appeared_rev, struct str *from_path,
                                 revnum *from_rev, struct fsfs *fs, struct str path, revnum rev,
                                 struct arena *arena);

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

/* How two nodes are related: same line of history? */
struct err *nodes_related(bool *out, const struct node *a, const struct node *b);

#endif
