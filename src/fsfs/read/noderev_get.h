/* SPDX-License-Identifier: Apache-2.0 */
/* noderev_get.h - node-revisions and their property lists. */
#ifndef VARVE_FSFS_READ_NODEREV_GET_H
#define VARVE_FSFS_READ_NODEREV_GET_H

#include "fsfs/format/noderev.h"
#include "fsfs/format/props.h"
#include "fsfs/fs.h"

/* The node-revision ID names (in a revision). Kept in ARENA. E_FS_ID_NOT_FOUND, E_FS_CORRUPT with
 * revision and item. */
struct err *noderev_get(const struct noderev **out, struct fsfs *fs, const struct noderev_id *id,
                        struct arena *arena);
struct err *noderev_at(const struct noderev **out, struct fsfs *fs, revnum rev, uint64_t item,
                       struct arena *arena);
/* The node-revisions that REV made, in no order, where its index tells them (logical addressing;
 * else none): who goes through a revision's changes finds them by their created paths without
 * reading the folders above. What cannot be read is left out: who looks for it in the tree meets
 * the error. */
struct err *noderevs_made(const struct noderev ***out, size_t *n, struct fsfs *fs, revnum rev,
                          struct arena *arena);
/* Where the cache has the root of a revision, under physical addressing besides its own place: it
 * saves reading the trailer. */
enum { NODEREV_ROOT_KEY = -1 };
struct err *noderev_root(const struct noderev **out, struct fsfs *fs, revnum rev,
                         struct arena *arena); /* E_FS_NO_SUCH_REVISION */

/* A property list; NULL where the node has none. */
struct err *noderev_props(const struct props **out, struct fsfs *fs, const struct noderev *noderev,
                          struct arena *arena);
/* The file's size. */
static inline uint64_t noderev_size(const struct noderev *nr)
{
    return nr->has_text ? nr->text.expanded : 0;
}

#endif
