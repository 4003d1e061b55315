/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - checking what is on disk, item by item.
 *
 * For a revision: every byte of its data is covered by an item whose checksum is right (indexes: footer digests, P2L against L2P, item checksums),
 * every representation expands to its size, MD5 and SHA-1, every node-revision parses and agrees with its parents and predecessors, changed paths agree with the tree, revision properties
 * parse. Finds every flipped byte that stock's `svnadmin verify` finds; names revision, item and path. */
#ifndef VARVE_FSFS_VERIFY_H
#define VARVE_FSFS_VERIFY_H

#include "fsfs/fs.h"

/* Per-body metadata: indexes (logical), manifest (physical packs). FIRST is a revision of the body. */
struct err *verify_body(struct fsfs *fs, revnum first);
/* The tree part of one revision: its own items and their meaning. */
struct err *verify_revision(struct fsfs *fs, revnum rev);
/* Head, counters, rep-cache rows against the repository. */
struct err *verify_global(struct fsfs *fs);

#endif
