/* SPDX-License-Identifier: Apache-2.0 */
/* commit_edit.h - a client's edit events into a transaction, with the out-of-date checks that
 * clients rely on. */
#ifndef VARVE_REPO_EDIT_COMMIT_EDIT_H
#define VARVE_REPO_EDIT_COMMIT_EDIT_H

#include "fsfs/txn/commit.h"
#include "repo/access/principal.h"
#include "repo/admin/locking.h"
#include "repo/admin/repo.h"
#include "repo/edit/edit.h"

struct commit_params {
    struct str base_path;        /* absolute path of the session */
    const struct prop *revprops; /* svn:log and what else the client set */
    size_t revprop_count;
    const struct lock_request
        *locks; /* paths and tokens that the committer holds, as pre-commit hooks see them */
    const struct str *lock_tokens; /* the tokens alone */
    size_t lock_token_count;       /* of both */
    bool client_mergeinfo;         /* the client knows of mergeinfo: for the start-commit hook */
    const struct principal *who;   /* the author, and what may be changed */
    unsigned open_texts_limit;     /* texts that are sent at the same time; 0: no limit */
};
struct commit_edit;
/* Nothing happens before OPEN_ROOT: that begins the transaction and runs the start-commit hook. */
struct err *commit_edit_begin(struct commit_edit **out, struct repo *repo,
                              const struct commit_params *params);
/* Apply one event (not CLOSE_EDIT, ABORT_EDIT). After an error the only thing left is
 * commit_edit_abort. Errors: E_FS_TXN_OUT_OF_DATE "'/p' is out of date", E_FS_NOT_FOUND,
 * E_FS_ALREADY_EXISTS, E_RA_NOT_AUTHORIZED, E_CHECKSUM_MISMATCH, E_REPOS_BAD_ARGS at a limit, that
 * of the thread's account (account.h) where it has too much ... */
struct err *commit_edit_event(struct commit_edit *ce, const struct edit_event *event);
struct commit_result {
    revnum rev;
    struct str date, author;      /* as the post-commit hook left them; p NULL: none */
    struct str post_commit_error; /* n 0: none */
};
/* CLOSE_EDIT: commit. Frees CE whatever happens. */
struct err *commit_edit_close(struct commit_result *out, struct commit_edit *ce,
                              struct arena *arena);
void commit_edit_abort(struct commit_edit *ce);

#endif
