/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - the repository-level check: what `varve verify` does, on all cores. */
#ifndef VARVE_REPO_VERIFY_H
#define VARVE_REPO_VERIFY_H

#include "repo/repo.h"

enum verify_event { VERIFY_METADATA_REV, VERIFY_METADATA_DONE, VERIFY_REV, VERIFY_REV_ERROR };
struct verify_notice {
    enum verify_event event;
    revnum rev;
    const struct err *err; /* VERIFY_REV_ERROR */
};
struct verify_params {
    revnum start, end; /* resolved */
    bool keep_going, check_normalization, metadata_only;
    const char *txn;   /* verify this transaction instead; NULL: revisions */
    /* Told in revision order. */
    struct err *(*notify)(void *arg, const struct verify_notice *notice);
    void *arg;
};
/* E_CL_REPOS_VERIFY_FAILED is the caller's; here the first error, or NULL with *BAD_REVISIONS > 0 where KEEP_GOING. */
struct err *repo_verify(struct repo *repo, const struct verify_params *params, size_t *bad_revisions);

#endif
