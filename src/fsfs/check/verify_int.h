/* SPDX-License-Identifier: Apache-2.0 */
/* verify_int.h - what the parts of verify share. */
#ifndef VARVE_FSFS_CHECK_VERIFY_INT_H
#define VARVE_FSFS_CHECK_VERIFY_INT_H

#include "fsfs/check/verify.h"
#include "fsfs/format/changes.h"

/* REP, of a node-revision of revision REV: that it expands to its size and digests (verify_text.c).
 */
struct err *verify_rep(struct fsfs *fs, const struct rep *rep, revnum rev);
/* All node-revisions that are new in REV, from its root down (verify_tree.c). *CHANGED: how many,
 * the root aside, are new for more than what is below them. */
struct err *verify_tree(uint64_t *changed, struct fsfs *fs, revnum rev,
                        const struct verify_scope *scope);
/* The changed paths of REV against its tree (verify_changes.c). */
struct err *verify_changes(struct fsfs *fs, revnum rev, uint64_t changed);

/* The node at PATH of REV; *OUT NULL where there is none. */
struct err *verify_lookup(const struct noderev **out, struct fsfs *fs, revnum rev, struct str path,
                          struct arena *arena);

/* ERR with where it was found around it; what the system says keeps its code. */
struct err *verify_failed_at(struct err *err, revnum rev, struct str path);

#endif
