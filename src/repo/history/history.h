/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - where a node has been: predecessors, copies, locations, deletion. */
#ifndef VARVE_REPO_HISTORY_HISTORY_H
#define VARVE_REPO_HISTORY_HISTORY_H

#include "repo/access/principal.h"
#include "repo/tree/tree.h"

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

/* How two nodes are related: same line of history? */
struct err *nodes_related(bool *out, const struct node *a, const struct node *b);

#endif
