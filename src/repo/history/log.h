/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - the log of paths over a range of revisions, as a cursor. */
#ifndef VARVE_REPO_HISTORY_LOG_H
#define VARVE_REPO_HISTORY_LOG_H

#include "fsfs/format/changes.h"
#include "fsfs/read/revprops.h"
#include "repo/access/principal.h"

struct log_params {
    const struct str *paths; /* absolute; one "/" for everything */
    size_t path_count;
    revnum start, end;  /* resolved; start > end: youngest first */
    int64_t limit;      /* 0: none */
    bool changed_paths; /* want them */
    bool strict;        /* do not follow copies */
    bool merged;        /* include revisions merged in (log -g) */
    bool want_revprops; /* false: revision numbers only */
    const struct principal *who;
};

/* One changed path as the log shows it: unlike struct change, the action of the whole node, text
 * and property flags checked. */
struct log_entry {
    revnum rev; /* REV_NONE: the end of a group of merged revisions (then nothing else is set) */
    const struct change
        *changes; /* visible ones, in the order of the revision file; after those of revisions left
                   * out since the last entry (which is what Subversion sends) */
    size_t change_count;
    const struct props *revprops; /* what the user may see; NULL where none */
    bool has_children;            /* merged revisions follow */
    bool subtractive;             /* a reverse merge */
};

struct log_cursor;
/* E_FS_NOT_FOUND where a path does not exist in the range's youngest revision. */
struct err *log_cursor_open(struct log_cursor **out, struct fsfs *fs,
                            const struct log_params *params);
struct err *log_cursor_next(bool *more, struct log_entry *entry,
                            struct log_cursor *cursor); /* valid until the next call */
void log_cursor_close(struct log_cursor *cursor);

#endif
