/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - a dump stream as revisions. */
#ifndef VARVE_REPO_DUMP_LOAD_H
#define VARVE_REPO_DUMP_LOAD_H

#include "base/stream.h"
#include "repo/admin/repo.h"

enum load_uuid { LOAD_UUID_DEFAULT, LOAD_UUID_IGNORE, LOAD_UUID_FORCE };
enum load_event {
    LOAD_TXN_STARTED,
    LOAD_NODE_BEGIN,
    LOAD_NODE_COPIED,
    LOAD_NODE_DONE,
    LOAD_COMMITTED,
    LOAD_SKIPPED,
    LOAD_MERGEINFO_NORMALIZED,
    LOAD_MERGEINFO_INVALID,
    LOAD_PROPS_SET
};
struct load_notice {
    enum load_event event;
    revnum old_rev, new_rev;
    struct str path;
};
struct load_params {
    enum load_uuid uuid;
    revnum start, end;     /* REV_NONE: all */
    struct str parent_dir; /* relative; empty: none */
    bool ignore_dates, normalize_props, bypass_prop_validation, use_pre_commit_hook,
        use_post_commit_hook;
    /* LOAD_COMMITTED comes only once the revision is durable. */
    struct err *(*notify)(void *arg, const struct load_notice *notice);
    void *arg;
};
struct err *load_stream(struct repo *repo, struct reader *in,
                        const struct load_params *params); /* owns IN */

#endif
