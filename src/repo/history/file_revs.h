/* SPDX-License-Identifier: Apache-2.0 */
/* file_revs.h - the revisions of one file with their texts as deltas: blame. */
#ifndef VARVE_REPO_HISTORY_FILE_REVS_H
#define VARVE_REPO_HISTORY_FILE_REVS_H

#include "repo/access/principal.h"
#include "repo/tree/tree.h"

struct file_rev {
    struct str path; /* absolute */
    revnum rev;
    const struct props *revprops;
    const struct prop *prop_changes; /* against the entry before; value.p NULL: removed */
    size_t prop_change_count;
    bool merged;    /* came through a merge */
    bool has_delta; /* the text differs from the entry's before (the first: from the empty text) */
};
struct file_revs;
/* START > END gives youngest first. E_FS_NOT_FILE "'/p' is not a file in revision N". */
struct err *file_revs_open(struct file_revs **out, struct fsfs *fs, struct str path, revnum start,
                           revnum end, bool include_merged, const struct principal *who);
struct err *file_revs_next(bool *more, struct file_rev *entry, struct file_revs *cursor);
/* The svndiff of the current entry, in pieces, in a version up to MAX_VERSION; *N 0 at the end. */
struct err *file_revs_delta(struct str *piece, struct file_revs *cursor, int max_version,
                            int level);
void file_revs_close(struct file_revs *cursor);

#endif
