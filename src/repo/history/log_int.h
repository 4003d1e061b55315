/* SPDX-License-Identifier: Apache-2.0 */
/* log_int.h - what revisions merged: shared by log.c and log_merged.c. */
#ifndef VARVE_REPO_HISTORY_LOG_INT_H
#define VARVE_REPO_HISTORY_LOG_INT_H

#include "fsfs/format/changes.h"
#include "repo/access/visibility.h"
#include "repo/history/mergeinfo.h"

/* Revisions START..END (both included) of the same set of paths that one revision merged, or took
 * back where REVERSE. */
struct merged_range {
    revnum start, end;
    struct str *paths;
    size_t path_count;
    bool reverse;
};

/* What revision REV, of which CHANGES is the list, merged into PATHS (where they are in it) or what
 * is below them, as the change of svn:mergeinfo, own and inherited; oldest range first. Mergeinfo
 * that cannot be parsed merges nothing. SCRATCH holds what is needed on the way, ARENA the result.
 */
struct err *merges_of_revision(struct merged_range **out, size_t *n, struct fsfs *fs,
                               const struct changes *changes, const struct str *paths,
                               size_t path_count, revnum rev, struct arena *scratch,
                               struct arena *arena);

#endif
