/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - checking what is on disk, piece by piece, so that the pieces can be shared out to all
 * cores.
 *
 *   verify_body       the bytes of a revision file or a pack: index digests, P2L against L2P, item
 *                     checksums
 *   verify_revision   what the bytes mean: revision properties, changed paths, and every
 *                     node-revision that is new in the revision, with its representations
 *   verify_row        a row of the rep-cache
 *
 * Every node-revision is new in one revision, so a run over all revisions looks at each once: a
 * directory's entries that stand in its predecessor too have been seen with that. Each
 * representation is expanded once; its digests are remembered for the others that share it.
 *
 * Errors are E_FS_CORRUPT chains that name file, revision, item and path as far as they are known.
 * Changed paths that contradict the tree: E_FS_ALREADY_EXISTS for what is said to be added but was
 * there, E_FS_NOT_FOUND for what is not there, E_NODE_UNEXPECTED_KIND, E_FS_PATH_SYNTAX.
 */
#ifndef VARVE_FSFS_CHECK_VERIFY_H
#define VARVE_FSFS_CHECK_VERIFY_H

#include "fsfs/read/revprops.h"
#include "store/repcache.h"

/* Check the body that holds REV, all of it; *LAST is its last revision, *FIRST its first. Under
 * physical addressing the bytes have no checksums of their own: only that it is in its place. */
struct err *verify_body(revnum *first, revnum *last, struct fsfs *fs, revnum rev);

/* The date of REV, as Subversion checks it together with indexes: E_BAD_DATE. */
struct err *verify_date(struct fsfs *fs, revnum rev, struct revprop_view *view);

struct verify_scope {
    revnum start;  /* where the run begins: what older revisions hold is not known to be good */
    bool thorough; /* take nothing for good because an earlier revision has it too: after damage was
                      found */
};
/* VIEW is the task's own. */
struct err *verify_revision(struct fsfs *fs, revnum rev, const struct verify_scope *scope,
                            struct revprop_view *view);

/* Representation and text that ROW names; DEEP: also that the text has the row's SHA-1. Errors:
 * E_FS_CORRUPT, E_FS_INDEX_*, E_FS_NO_SUCH_REVISION for a row that points behind the youngest
 * revision. */
struct err *verify_row(struct fsfs *fs, const struct repcache_row *row, bool deep);

#endif
