/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/admin/locking.h"

#include "base/date.h"
#include "base/path.h"
#include "repo/admin/hooks.h"
#include "repo/tree/tree.h"

#define TOKEN_SCHEME "opaquelocktoken:"

/* Who asks for what: the same for all paths of a call. */
struct lock_call {
    struct repo *repo;
    struct str user, comment;
    bool is_dav_comment, steal;
    int64_t expires_us;
    struct arena *arena;
};

static struct err *check_target(const struct lock_call *call, const struct lock_request *request,
                                revnum youngest)
{
    struct tree tree;
    struct node node;
    bool found;
    TRY(tree_of_rev(&tree, call->repo->fs, youngest));
    TRY(tree_find(&node, &found, &tree, request->path, call->arena));
    if (found && node.noderev->kind == NODE_DIR)
        return err_make(E_FS_NOT_FILE, "'%.*s' is not a file in filesystem '%s'",
                        STR(request->path), call->repo->fs->uuid);
    if (request->current_rev == REV_NONE) {
        if (!found)
            return err_make(E_FS_NOT_FOUND, "Path '%.*s' doesn't exist in HEAD revision",
                            STR(request->path));
        return NULL;
    }
    if (!found)
        return err_make(E_FS_OUT_OF_DATE, "Path '%.*s' doesn't exist in HEAD revision",
                        STR(request->path));
    TRY(fsfs_check_revision(call->repo->fs, request->current_rev));
    if (request->current_rev < node_created_rev(&node))
        return err_make(E_FS_OUT_OF_DATE, "Lock failed: newer version of '%.*s' exists",
                        STR(request->path));
    return NULL;
}

static struct err *check_present_lock(const struct lock_call *call,
                                      const struct lock_request *request)
{
    struct lock present;
    bool found;
    TRY(lock_get(&present, &found, call->repo->fs, request->path, call->arena));
    if (found && !call->steal)
        return err_make(E_FS_PATH_ALREADY_LOCKED,
                        "Path '%.*s' is already locked by user '%.*s' in filesystem '%s'",
                        STR(request->path), STR(present.owner), call->repo->fs->uuid);
    return NULL;
}

static struct err *check_token(struct str token)
{
    if (!str_starts(token, S(TOKEN_SCHEME)))
        return err_make(E_FS_BAD_LOCK_TOKEN,
                        "Lock token URI '%.*s' has bad scheme; expected 'opaquelocktoken'",
                        STR(token));
    for (size_t i = 0; i < token.n; i++)
        if ((unsigned char)token.p[i] < 0x20 || (unsigned char)token.p[i] > 0x7e)
            return err_make(E_FS_BAD_LOCK_TOKEN,
                            "Lock token '%.*s' is not ASCII or is a control character at byte %zu",
                            STR(token), i);
    return NULL;
}

/* What can be asked and run before the write lease is taken: hooks may be slow. */
static struct err *prepare(const struct lock_call *call, struct lock_request *request)
{
    struct str token = request->token;
    TRY(hook_pre_lock(&token, call->repo, request->path, call->user, call->comment, call->steal,
                      call->arena));
    if (token.n) {
        TRY(check_token(token));
    } else {
        char uuid[37];
        uuid_make(uuid);
        token = arena_printf(call->arena, TOKEN_SCHEME "%s", uuid);
    }
    request->lock = (struct lock){.path = request->path,
                                  .token = token,
                                  .owner = call->user,
                                  .comment = call->comment,
                                  .expires_us = call->expires_us,
                                  .is_dav_comment = call->is_dav_comment};
    return NULL;
}

static struct err *take_one(const struct lock_call *call, struct lock_request *request,
                            revnum youngest)
{
    TRY(check_target(call, request, youngest));
    TRY(check_present_lock(call, request));
    request->lock.created_us = date_now_us();
    return lock_write(call->repo->fs, &request->lock);
}

/* Do STEP for all requests under one lease. What is wrong with one is its own error; where the
 * machine fails there are no results from there on. */
static struct err *
under_lease(const struct lock_call *call, struct lock_request *requests, size_t n,
            struct err *(*step)(const struct lock_call *, struct lock_request *, revnum))
{
    struct store *store = call->repo->fs->store;
    revnum youngest;
    size_t done = 0;
    struct err *err = lease_take(store, LEASE_WRITE);
    if (!err) {
        err = fsfs_youngest(&youngest, call->repo->fs);
        for (; done < n && !err; done += !err) {
            struct lock_request *request = &requests[done];
            if (!request->err)
                request->err = step(call, request, youngest);
            if (request->err && err_is_system(request->err)) {
                err = request->err;
                request->err = NULL;
            }
        }
        lease_drop(store, LEASE_WRITE);
    }
    for (; done < n; done++)
        requests[done].lock = (struct lock){0};
    return err;
}

/* The paths that went well. */
static struct str *done_paths(size_t *count, const struct lock_request *requests, size_t n,
                              struct arena *arena)
{
    struct str *paths = arena_array(arena, n + 1, sizeof *paths);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (!requests[i].err)
            paths[(*count)++] = requests[i].path;
    return paths;
}

struct err *repo_lock(struct repo *repo, struct lock_request *requests, size_t n,
                      const struct principal *who, struct str comment, bool is_dav_comment,
                      bool steal, int64_t expires_us, struct arena *arena)
{
    const struct str user = principal_user(who);
    struct lock_call call = {repo, user, comment, is_dav_comment, steal, expires_us, arena};
    if (!n)
        return NULL;
    if (!user.n)
        return err_make(E_FS_NO_USER, "Cannot lock path without a username");
    if (str_find_control(comment, S("\t\n\r\x7f")) != SIZE_MAX ||
        !utf8_is_valid(comment)) /* clients put it into XML */
        return err_make(E_XML_UNESCAPABLE_DATA, "Lock comment contains illegal characters");
    for (size_t i = 0; i < n; i++)
        requests[i].err = prepare(&call, &requests[i]);
    TRY(under_lease(&call, requests, n, take_one));
    size_t done;
    struct str *paths = done_paths(&done, requests, n, arena);
    if (!done)
        return NULL;
    return err_wrap(hook_post_lock(repo, paths, done, user), E_REPOS_POST_LOCK_HOOK_FAILED,
                    "Locking succeeded, but post-lock hook failed");
}

static struct err *give_back_one(const struct lock_call *call, struct lock_request *request,
                                 revnum youngest)
{
    (void)youngest;
    struct lock present;
    bool found;
    struct fsfs *fs = call->repo->fs;
    TRY(lock_get(&present, &found, fs, request->path, call->arena));
    if (!found)
        return err_make(E_FS_NO_SUCH_LOCK, "No lock on path '%.*s' in filesystem '%s'",
                        STR(request->path), fs->uuid);
    if (!call->steal) {
        if (!request->token.p || !str_eq(request->token, present.token))
            return err_make(E_FS_NO_SUCH_LOCK, "No lock on path '%.*s' in filesystem '%s'",
                            STR(request->path), fs->uuid);
        if (!str_eq(call->user, present.owner))
            return err_make(
                E_FS_LOCK_OWNER_MISMATCH,
                "User '%.*s' is trying to use a lock owned by '%.*s' in filesystem '%s'",
                STR(call->user), STR(present.owner), fs->uuid);
    }
    request->lock = present;
    return lock_remove(fs, request->path);
}

static struct err *prepare_unlock(const struct lock_call *call, const struct lock_request *request)
{
    return hook_pre_unlock(call->repo, request->path, call->user,
                           request->token.p ? request->token : S(""), call->steal);
}

struct err *repo_unlock(struct repo *repo, struct lock_request *requests, size_t n,
                        const struct principal *who, bool break_lock, struct arena *arena)
{
    const struct str user = principal_user(who);
    struct lock_call call = {.repo = repo, .user = user, .steal = break_lock, .arena = arena};
    if (!n)
        return NULL;
    if (!user.n)
        return err_make(E_FS_NO_USER, "No username is currently associated with filesystem '%s'",
                        repo->fs->uuid);
    for (size_t i = 0; i < n; i++)
        requests[i].err = prepare_unlock(&call, &requests[i]);
    TRY(under_lease(&call, requests, n, give_back_one));
    size_t done;
    struct str *paths = done_paths(&done, requests, n, arena);
    if (!done)
        return NULL;
    return err_wrap(hook_post_unlock(repo, paths, done, user), E_REPOS_POST_UNLOCK_HOOK_FAILED,
                    "Unlock succeeded, but post-unlock hook failed");
}
