/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - from what a working copy has to what it should have: the cursor behind checkout,
 * update, switch, status, diff, export.
 *
 * The client reports its state (mixed revisions, switched parts, depths, locks); the cursor
 * compares that with the target tree and yields edit events. It prefetches folder by folder, reads
 * through the cache and yields ready-made wire texts by reference. */
#ifndef VARVE_REPO_EDIT_REPORT_H
#define VARVE_REPO_EDIT_REPORT_H

#include "repo/access/principal.h"
#include "repo/edit/edit.h"
#include "repo/tree/list.h"

struct report_params {
    struct str anchor;      /* absolute path of the session */
    struct str target;      /* entry of ANCHOR that is updated; empty: ANCHOR itself */
    revnum rev;             /* of the target tree */
    struct str switch_path; /* absolute: what to make of it; p NULL: the same path */
    enum depth depth;       /* DEPTH_UNKNOWN: as reported */
    bool text_deltas;       /* false: status, empty deltas */
    bool ignore_ancestry;
    bool send_copyfrom;
    bool is_switch_or_diff; /* switch_path was given */
    int svndiff_version;    /* most that the client accepts: 0, 1, 2 */
    int compression_level;  /* 0: none */
    const struct principal *who;
};

struct report; /* collects what the client says, in memory that the thread's account is charged for
                */
struct report *report_new(struct fsfs *fs, const struct report_params *params);
/* Paths are relative to the target (to the anchor where there is no target); the first one is "".
 */
struct err *report_set_path(struct report *r, struct str path, revnum rev, bool start_empty,
                            struct str lock_token, enum depth depth);
struct err *report_delete_path(struct report *r, struct str path);
/* LINK_PATH: absolute, where this part is switched to. */
struct err *report_link_path(struct report *r, struct str path, struct str link_path, revnum rev,
                             bool start_empty, struct str lock_token, enum depth depth);
void report_free(struct report *r);

/* Start the edit; the cursor owns the report. No such revision and no entry for the root
 * (E_REPOS_BAD_REVISION_REPORT) are told here; what is wrong with the root itself
 * (E_FS_PATH_SYNTAX, E_AUTHZ_ROOT_UNREADABLE) is an error of the edit. */
struct err *report_finish(struct edit_source **out, struct report *r);

#endif
