/* SPDX-License-Identifier: Apache-2.0 */
/* revprops.h - revision properties, loose and packed.
 *
 * Lists are cached with the stamp of their folder: a reader pays one stat a shard and request, not
 * one open a revision. */
#ifndef VARVE_FSFS_READ_REVPROPS_H
#define VARVE_FSFS_READ_REVPROPS_H

#include "fsfs/fs.h"

/* What one request has already made sure of: a view that is at least as new as its start. */
struct revprop_view;
struct revprop_view *revprop_view_new(struct fsfs *fs, struct arena *arena);

/* The properties of REV. VIEW may be NULL (look afresh). E_FS_NO_SUCH_REVISION,
 * E_FS_PACKED_REVPROP_READ_FAILURE, E_FS_CORRUPT_REVPROP_MANIFEST, E_FS_CORRUPT. */
struct err *revprops_get(const struct props **out, struct fsfs *fs, revnum rev,
                         struct revprop_view *view, struct arena *arena);

/* Ask for the properties of COUNT revisions from FIRST on ahead. */
void revprops_prefetch(struct revprop_view *view, revnum first, int count);

/* Set (or remove, VALUE NULL) one. EXPECTED: NULL = whatever it is now; else *EXPECTED must be the
 * value now, a NULL *EXPECTED means absent: E_FS_PROP_BASEVALUE_MISMATCH "revprop 'X' has
 * unexpected value in filesystem". Takes the write lease. */
struct err *revprop_set(struct fsfs *fs, revnum rev, struct str name, const struct str *value,
                        const struct str *const *expected);
/* All at once (load-revprops, setlog). */
struct err *revprops_replace(struct fsfs *fs, revnum rev, const struct prop *list, size_t n);

/* Pure parsers. */
struct revprop_pack {
    revnum first;
    size_t count;
    struct str *values; /* the hash dumps, in order */
};
struct err *revprop_pack_parse(struct revprop_pack *out, struct str file, struct arena *arena);
struct err *revprop_manifest_parse(struct str **names, size_t *n, struct str text,
                                   struct arena *arena);
/* The revision properties of a complete shard, packed: files and manifest through the store. For
 * pack. */
struct err *revprops_pack_shard(struct fsfs *fs, int64_t shard);

#endif
