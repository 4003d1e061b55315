/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_commit.c - the commit command: the client drives an edit, which becomes a revision. */
#include "repo/edit/commit_edit.h"

#include "base/account.h"
#include "repo/admin/locking.h"
#include "svn/auth.h"
#include "svn/edit_wire.h"
#include "svn/session_int.h"

struct commit_call {
    struct commit_params params;
    struct lock_request *locks; /* what the client holds: path and token */
    size_t lock_count;
    bool keep_locks;
};

/* ? ( ( path token )... ) keep-locks ? ( ( name value )... ) */
static struct err *take_call(struct commit_call *call, struct session *s, struct wire_args *args)
{
    struct str message = wire_take_str(args);
    bool has_locks = !wire_args_end(args);
    struct wire_args list = wire_take_list_tail(args);
    *call = (struct commit_call){0};
    call->locks = arena_array(s->request, list.n + 1, sizeof *call->locks);
    struct str *tokens = arena_array(s->request, list.n + 1, sizeof *tokens);
    while (!list.malformed && !wire_args_end(&list)) {
        struct wire_args pair = wire_take_list(&list);
        struct lock_request *lock = &call->locks[call->lock_count];
        *lock = (struct lock_request){
            .path = wire_take_str(&pair), .token = wire_take_str(&pair), .current_rev = REV_NONE};
        tokens[call->lock_count++] = lock->token;
        list.malformed |= pair.malformed;
    }
    args->malformed |= list.malformed;
    call->keep_locks = has_locks ? wire_take_bool(args) : true;
    bool has_props = !wire_args_end(args);
    size_t n;
    struct prop *props = wire_take_props(&n, args, s->request);
    if (!has_props)
        props[n++] = (struct prop){S("svn:log"), message};
    TRY(wire_args_check(args));
    for (size_t i = 0; i < call->lock_count; i++)
        TRY(session_path(&call->locks[i].path, s, call->locks[i].path));
    call->params = (struct commit_params){
        .base_path = s->path,
        .revprops = props,
        .revprop_count = n,
        .locks = call->locks,
        .lock_tokens = tokens,
        .lock_token_count = call->lock_count,
        .client_mergeinfo = s->caps & CAP_MERGEINFO,
        .open_texts_limit = s->service->limits.open_texts,
    };
    return NULL;
}

/* What comes in with each step is the request's; what becomes of it is the commit's. */
static struct err *read_edit(struct str *command, struct wire_item *params, struct session *s)
{
    struct account *commits = account_enter(s->account);
    conn_begin_request(s->conn, s->service->limits.request_bytes);
    struct err *err = wire_read_command(command, params, s->conn, s->request);
    account_enter(commits);
    return err;
}

enum edit_end { GOES_ON, CLOSED, ABORTED };

/* Read one editor command and apply it. */
static struct err *take_edit(enum edit_end *end, struct session *s, struct edit_decoder *decoder,
                             struct commit_edit *ce)
{
    struct str command;
    struct wire_item params;
    struct edit_event event;
    TRY(read_edit(&command, &params, s));
    TRY(edit_decode(&event, decoder, command, &params, s->request));
    *end = event.kind == EDIT_CLOSE_EDIT   ? CLOSED
           : event.kind == EDIT_ABORT_EDIT ? ABORTED
                                           : GOES_ON;
    if (event.kind == EDIT_FINISH_REPLAY)
        return err_make(E_RA_SVN_MALFORMED_DATA, "Editor command out of place in a commit");
    return *end == GOES_ON ? commit_edit_event(ce, &event) : NULL;
}

static struct err *take_edits(enum edit_end *end, struct session *s, struct commit_edit *ce)
{
    struct edit_decoder decoder;
    struct err *err;
    edit_decoder_init(&decoder, s->root_url_decoded);
    do {
        struct arena_mark mark = arena_mark(s->request);
        err = take_edit(end, s, &decoder, ce);
        arena_rewind(s->request, mark);
    } while (!err && *end == GOES_ON);
    edit_decoder_free(&decoder);
    return err;
}

/* The client learns of the failure at once, and goes on until it notices; then it sends abort-edit,
 * or success, which svnserve takes for the same. What comes until then has no meaning any more. */
static struct err *refuse_edit(struct session *s, struct err *why)
{
    why = session_fault(s, why);
    struct err *err = wire_failure(s->conn, why);
    err_free(why);
    if (!err)
        err = conn_flush_holding(s->conn);
    bool aborted = false;
    s->is_idle = true; /* it may leave as well */
    while (!err && !aborted) {
        struct arena_mark mark = arena_mark(s->request);
        struct str command;
        struct wire_item params;
        conn_begin_request(s->conn, s->service->limits.request_bytes);
        err = wire_read_command(&command, &params, s->conn, s->request);
        aborted = !err && (str_eq(command, S("abort-edit")) || str_eq(command, S("success")));
        arena_rewind(s->request, mark);
    }
    return err;
}

/* The locks on what was committed end with the commit. Trouble with one of them is no trouble of
 * the commit. */
static void release_locks(struct session *s, const struct commit_call *call)
{
    if (call->keep_locks || !call->lock_count)
        return;
    err_free(repo_unlock(s->repo, call->locks, call->lock_count, &s->who, false, s->request));
    for (size_t i = 0; i < call->lock_count; i++)
        err_free(call->locks[i].err);
}

static struct err *send_result(struct session *s, const struct commit_result *result)
{
    const struct str nothing = {0};
    TRY(wire_success_empty(s->conn));
    TRY(auth_trivial(s));
    TRY(wire_open(s->conn));
    TRY(wire_number(s->conn, (uint64_t)result->rev));
    TRY(wire_opt_str(s->conn, result->date));
    TRY(wire_opt_str(s->conn, result->author));
    TRY(wire_opt_str(s->conn, result->post_commit_error.n ? result->post_commit_error : nothing));
    return wire_close(s->conn);
}

/* The edit, to its end: a revision, or REV_NONE where the client gave it up. */
static struct err *take_commit(struct commit_result *result, struct session *s,
                               const struct commit_params *params)
{
    struct commit_edit *ce;
    enum edit_end end = GOES_ON;
    *result = (struct commit_result){.rev = REV_NONE};
    TRY(commit_edit_begin(&ce, s->repo, params));
    struct err *err = wire_success_empty(s->conn);
    if (!err)
        err = take_edits(&end, s, ce);
    if (!err && end == CLOSED)
        return commit_edit_close(result, ce, s->request);
    commit_edit_abort(ce);
    return err;
}

/* What readers ask for does not keep others from writing: a commit has a limit of its own. */
static struct account *account_of_commit(const struct client_limits *limits)
{
    size_t bytes = limits->commit_memory;
    return account_new(&(struct account_terms){
        .limit = bytes,
        .free = bytes ? bytes : SIZE_MAX / 2,
        .code = E_REPOS_BAD_ARGS,
        .text = "The commit takes more memory than --max-commit-memory allows",
    });
}

struct err *cmd_commit(struct session *s, struct wire_args *args)
{
    struct commit_call call;
    struct commit_result result;
    TRY(take_call(&call, s, args));
    TRY(auth_require(s, ACCESS_LEVEL_WRITE, S(""), call.lock_count > 0));
    for (size_t i = 0; i < call.lock_count; i++)
        if (!principal_allows(&s->who, ACCESS_LEVEL_WRITE, call.locks[i].path, true))
            return err_make(E_RA_NOT_AUTHORIZED, "Authorization failed");
    call.params.who = &s->who;
    struct account *account = account_of_commit(&s->service->limits),
                   *outer = account_enter(account);
    struct err *err = take_commit(&result, s, &call.params);
    account_enter(outer);
    account_close(account);
    if (err)
        return is_fatal(err) ? err : refuse_edit(s, err);
    if (result.rev == REV_NONE)
        return wire_success_empty(s->conn);
    session_log(s, "commit r%lld", (long long)result.rev);
    release_locks(s, &call);
    return send_result(s, &result);
}
