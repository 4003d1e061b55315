/* SPDX-License-Identifier: Apache-2.0 */
/* locking.h - taking and giving back path locks, with their rules and hooks. */
#ifndef VARVE_REPO_ADMIN_LOCKING_H
#define VARVE_REPO_ADMIN_LOCKING_H

#include "fsfs/txn/locks.h"
#include "repo/access/principal.h"
#include "repo/admin/repo.h"

struct lock_request {
    struct str path;    /* absolute */
    revnum current_rev; /* what the client has; REV_NONE: not checked */
    struct str token;   /* for unlock: the token held; p NULL: none */
    /* results, in the arena of the call */
    struct lock lock;
    struct err *err; /* this path's own error: the caller's to free */
};

/* Lock each path for the user of WHO. One set of locks files is written under one lease. Errors of
 * single paths: E_FS_PATH_ALREADY_LOCKED, E_FS_OUT_OF_DATE, E_FS_NOT_FOUND, E_FS_NOT_FILE, hook
 * failures. The function's own error means that the machine failed (nothing was done for those that
 * have neither lock nor error), or that the post-lock hook did (E_REPOS_POST_LOCK_HOOK_FAILED). */
struct err *repo_lock(struct repo *repo, struct lock_request *requests, size_t n,
                      const struct principal *who, struct str comment, bool is_dav_comment,
                      bool steal, int64_t expires_us, struct arena *arena);
/* Unlock: E_FS_NO_SUCH_LOCK, also for a token that is missing or another's;
 * E_FS_LOCK_OWNER_MISMATCH; E_FS_NO_USER for all, also to break a lock. */
struct err *repo_unlock(struct repo *repo, struct lock_request *requests, size_t n,
                        const struct principal *who, bool break_lock, struct arena *arena);

#endif
