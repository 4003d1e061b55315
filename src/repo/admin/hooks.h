/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.h - the administrator's programs in hooks/ (docs/admin.md).
 *
 * Each function runs one hook if it is there: a regular file (or a link to one) that can be
 * executed, directly and without a shell, with an environment of only what conf/hooks-env says. A
 * start- or pre-hook that ends with another status than 0 refuses: E_REPOS_HOOK_FAILURE "Commit
 * blocked by pre-commit hook (exit code 3) with output:\n...". A missing hook allows, except for
 * pre-revprop-change: E_REPOS_DISABLED_FEATURE.
 *
 * A hook ends when it has exited and nobody has its standard error any more. Where there is a time
 * limit (struct hook_settings) it gets a process group of its own, and at the limit the whole group
 * is killed; what it left running when it exited by itself is waited for no longer, but lives on.
 */
#ifndef VARVE_REPO_ADMIN_HOOKS_H
#define VARVE_REPO_ADMIN_HOOKS_H

#include "repo/admin/repo.h"

/* True where HOOK ("pre-commit") is there: what must be prepared for it can be left out otherwise.
 */
bool hook_exists(const struct repo *repo, const char *hook);

struct err *hook_start_commit(const struct repo *repo, struct str user, bool client_mergeinfo,
                              struct str txn);
/* TOKENS: paths and tokens that the committer holds, for the hook's standard input. */
struct hook_lock_token {
    struct str path, token;
};
struct err *hook_pre_commit(const struct repo *repo, struct str txn,
                            const struct hook_lock_token *tokens, size_t n);
struct err *hook_post_commit(const struct repo *repo, revnum rev, struct str txn);
/* VALUE NULL: the property is removed. ACTION 'A', 'M' or 'D'. */
struct err *hook_pre_revprop_change(const struct repo *repo, revnum rev, struct str user,
                                    struct str name, char action, const struct str *value);
struct err *hook_post_revprop_change(const struct repo *repo, revnum rev, struct str user,
                                     struct str name, char action, const struct str *old_value);
/* *TOKEN: what the hook wants as the lock's token; n 0: nothing. */
struct err *hook_pre_lock(struct str *token, const struct repo *repo, struct str path,
                          struct str user, struct str comment, bool steal, struct arena *arena);
struct err *hook_post_lock(const struct repo *repo, const struct str *paths, size_t n,
                           struct str user);
struct err *hook_pre_unlock(const struct repo *repo, struct str path, struct str user,
                            struct str token, bool break_lock);
struct err *hook_post_unlock(const struct repo *repo, const struct str *paths, size_t n,
                             struct str user);

#endif
