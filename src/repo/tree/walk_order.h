/* SPDX-License-Identifier: Apache-2.0 */
/* walk_order.h - the order in which Subversion's tools walk the entries of a directory where no
 * order is needed.
 *
 * It is that of their hash table: buckets by a hash of the name that is based on times-33, a table
 * that doubles as it fills, chains that turn around when it does. Streams that must be equal to
 * theirs byte for byte (dump), and edits of which an error of the receiver may let a part through,
 * follow it. */
#ifndef VARVE_REPO_TREE_WALK_ORDER_H
#define VARVE_REPO_TREE_WALK_ORDER_H

#include "fsfs/read/dir.h"

/* Pointers to the entries of LIST (N of them, sorted by name, which is how they get into the table)
 * in walking order, in ARENA. */
const struct dirent_fs **walk_order(const struct dirent_fs *list, size_t n, struct arena *arena);

#endif
