/* SPDX-License-Identifier: Apache-2.0 */
/* changes_get.h - the changed paths of a revision. */
#ifndef VARVE_FSFS_READ_CHANGES_GET_H
#define VARVE_FSFS_READ_CHANGES_GET_H

#include "fsfs/format/changes.h"
#include "fsfs/fs.h"

/* The changes of revision REV. Errors: E_FS_NO_SUCH_REVISION; E_FS_CORRUPT with the revision. */
struct err *changes_get(const struct changes **out, struct fsfs *fs, revnum rev,
                        struct arena *arena);
/* The same, read anew, one reference for the caller; nothing is kept in the cache but blocks of
 * packs and of large files. */
struct err *changes_read(struct changes **out, struct fsfs *fs, revnum rev);
/* Ask for the lists of COUNT revisions from FIRST on ahead. */
void changes_prefetch(struct fsfs *fs, revnum first, int count);

#endif
