/* SPDX-License-Identifier: Apache-2.0 */
/* revprops_int.h - what reading (revprops.c) and rewriting (revprops_pack.c) packed revision
 * properties share.
 *
 *   revprops/<shard>.pack/manifest     for each revision of the shard a line with the name of the
 * file that holds it; the first shard has none for revision 0, which is never packed
 *   revprops/<shard>.pack/<first>.<n>  a compressed section (delta/compress.h) of:
 *
 *     <first revision> LF  <count> LF  { <size> LF } x count  LF  the revisions' hash dumps, back
 * to back
 *
 * A file of which a revision changes is replaced under its name, or split: the parts get n + 1, the
 * manifest is replaced, the old file removed. So whoever finds a file of the manifest missing reads
 * the manifest again. */
#ifndef VARVE_FSFS_READ_REVPROPS_INT_H
#define VARVE_FSFS_READ_REVPROPS_INT_H

#include "fsfs/read/revprops.h"

/* The stamp of the place of REV's properties, as the view saw it first. */
struct err *revprop_view_stamp(struct version *out, struct revprop_view *view, revnum rev);
/* The properties of REV, read anew, one reference for the caller; the cache gets nothing. */
struct err *revprops_read(struct props **out, struct revprop_view *view, revnum rev);

/* The first revision that the manifest of SHARD lists. */
static inline revnum shard_first(const struct fsfs *fs, int64_t shard)
{
    return shard ? shard * fs->shard_size : 1;
}
static inline bool is_in_packed_shard(const struct fsfs *fs, revnum rev, revnum min_unpacked)
{
    return fs->format >= 6 && fs->shard_size > 0 && rev > 0 && rev < min_unpacked;
}

/* The manifest of SHARD: a name per revision. The bytes are read afresh. */
struct err *manifest_read(struct str **names, size_t *n, struct fsfs *fs, int64_t shard,
                          struct arena *arena);
/* The file NAME of SHARD; *FOUND false where it is gone. It must hold REV. */
struct err *pack_read(struct revprop_pack *out, bool *found, struct fsfs *fs, int64_t shard,
                      struct str name, revnum rev, struct arena *arena);
/* Write the properties (a hash dump) of REV, which is packed. The caller holds LEASE_WRITE. */
struct err *packed_write(struct fsfs *fs, revnum rev, struct str dump);

#endif
