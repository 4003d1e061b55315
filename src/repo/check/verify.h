/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - the repository-level check: what `varve verify` does, on all cores.
 *
 * Revisions are checked in chunks, each of which reads its revisions once, for their bytes and for
 * their meaning. Notices come in the order that readers of svnadmin's lines know: first all of the
 * metadata, then the revisions; so the results of the latter wait where there is metadata. */
#ifndef VARVE_REPO_CHECK_VERIFY_H
#define VARVE_REPO_CHECK_VERIFY_H

#include "repo/admin/repo.h"

enum verify_event {
    VERIFY_METADATA_REV,  /* the indexes of a shard or pack, which begins with REV; of the
                             rep-cache's rows: on the way */
    VERIFY_METADATA_DONE, /* the rep-cache */
    VERIFY_REV,           /* REV is well */
    VERIFY_REV_ERROR,     /* REV is not, for ERR; REV_NONE: the metadata */
    VERIFY_WARNING,       /* names that look alike, in REV */
    VERIFY_PROGRESS       /* everything up to REV has been read */
};
struct verify_notice {
    enum verify_event event;
    revnum rev;
    const struct err *err; /* VERIFY_REV_ERROR */
    unsigned warning;      /* VERIFY_WARNING: Subversion's number, and its words */
    struct str text;
};
struct verify_params {
    revnum start, end; /* resolved */
    bool keep_going, check_normalization, metadata_only;
    const char *txn; /* verify this transaction instead; NULL: revisions */
    /* Told in order, in the caller's thread. */
    struct err *(*notify)(void *arg, const struct verify_notice *notice);
    void *arg;
};
/* E_CL_REPOS_VERIFY_FAILED is the caller's; here the first error, or NULL with *BAD_REVISIONS > 0
 * where KEEP_GOING (the metadata counts as one). */
struct err *repo_verify(struct repo *repo, const struct verify_params *params,
                        size_t *bad_revisions);

#endif
