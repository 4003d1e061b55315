/* SPDX-License-Identifier: Apache-2.0 */
/* report_int.h - what the client said, as a tree; shared by report.c, which collects it, and
 * report_edit.c, which compares it with the target. */
#ifndef VARVE_REPO_EDIT_REPORT_INT_H
#define VARVE_REPO_EDIT_REPORT_INT_H

#include "base/map.h"
#include "repo/edit/report.h"

/* One place of the working copy. A place that was not reported itself lies on the way to one that
 * was. */
struct report_place {
    struct map *children; /* name to struct report_place; NULL where there are none */
    bool reported;
    revnum rev; /* REV_NONE: the client has nothing here */
    bool start_empty;
    enum depth depth;
    struct str link_path;  /* p NULL: not switched */
    struct str lock_token; /* p NULL: none */
};

struct report {
    struct fsfs *fs;
    struct report_params params;
    struct arena *arena;
    struct report_place root;
    revnum base_rev; /* of the first thing said: what the receiver has open; a target that is
                        missing or switched is said again */
    bool root_again; /* more than one line was about the top level */
};

#endif
