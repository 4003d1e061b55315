/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_lock.c - path locks: taken, given back, looked at. */
#include "base/date.h"
#include "base/map.h"
#include "base/path.h"
#include "repo/admin/locking.h"
#include "repo/tree/depth.h"
#include "svn/auth.h"
#include "svn/session_int.h"

/* path token owner [comment] created [expires] */
static struct err *send_lock_fields(struct conn *conn, const struct lock *lock)
{
    char created[DATE_LONG_SIZE + 1], expires[DATE_LONG_SIZE + 1];
    date_format(created, lock->created_us);
    TRY(wire_str(conn, lock->path));
    TRY(wire_str(conn, lock->token));
    TRY(wire_str(conn, lock->owner));
    TRY(wire_opt_str(conn, lock->comment));
    TRY(wire_str(conn, str_make(created, DATE_LONG_SIZE)));
    if (lock->expires_us)
        date_format(expires, lock->expires_us);
    return wire_opt_str(conn,
                        lock->expires_us ? str_make(expires, DATE_LONG_SIZE) : (struct str){0});
}

/* The same in parentheses of its own. */
static struct err *send_lock(struct conn *conn, const struct lock *lock)
{
    TRY(wire_open(conn));
    TRY(send_lock_fields(conn, lock));
    return wire_close(conn);
}

static void log_locks(struct session *s, const char *command, const struct lock_request *requests,
                      size_t n, const char *flag)
{
    AUTO_BUF(paths);
    for (size_t i = 0; i < n; i++)
        buf_printf(&paths, i ? " %.*s" : "%.*s", STR(log_path(s, requests[i].path)));
    session_log(s, "%s (%.*s)%s", command, STR(buf_view(&paths)), flag);
}

/* The single forms: the path's own error is the command's. */
static struct err *single_error(struct err *err, struct lock_request *request)
{
    if (!err)
        return request->err;
    err_free(request->err);
    return err;
}

struct err *cmd_lock(struct session *s, struct wire_args *args)
{
    struct lock_request request = {0};
    struct str relative = wire_take_str(args), comment = wire_take_opt_str(args);
    bool steal = wire_take_bool(args);
    request.current_rev = wire_take_opt_rev(args);
    TRY(wire_args_check(args));
    TRY(session_path(&request.path, s, relative));
    TRY(auth_require(s, ACCESS_LEVEL_WRITE, request.path, true));
    log_locks(s, "lock", &request, 1, steal ? " steal" : "");
    struct err *err =
        repo_lock(s->repo, &request, 1, &s->who, comment, false, steal, 0, s->request);
    TRY(single_error(err, &request));
    TRY(wire_begin_success(s->conn));
    TRY(send_lock(s->conn, &request.lock));
    return wire_end_success(s->conn);
}

struct err *cmd_unlock(struct session *s, struct wire_args *args)
{
    struct lock_request request = {.current_rev = REV_NONE};
    struct str relative = wire_take_str(args);
    request.token = wire_take_opt_str(args);
    bool break_lock = wire_take_bool(args);
    TRY(wire_args_check(args));
    TRY(session_path(&request.path, s, relative));
    TRY(auth_require(s, ACCESS_LEVEL_WRITE, request.path, !break_lock));
    log_locks(s, "unlock", &request, 1, break_lock ? " break" : "");
    struct err *err = repo_unlock(s->repo, &request, 1, &s->who, break_lock, s->request);
    TRY(single_error(err, &request));
    return wire_success_empty(s->conn);
}

/* What lock-many and unlock-many are asked for: each path once, since one that is named twice is
 * one question, of which the last form counts. */
struct many {
    struct lock_request *requests;
    size_t n;
    size_t *asked; /* the client's list, each item an index of REQUESTS */
    size_t asked_count;
};

/* ( ( path [rev] )... ) or ( ( path [token] )... ) */
static struct err *take_requests(struct lock_request **out, size_t *n, struct session *s,
                                 struct wire_args *args, bool with_rev)
{
    struct wire_args list = wire_take_list(args);
    struct lock_request *requests = arena_array(s->request, list.n + 1, sizeof *requests);
    for (*n = 0; !list.malformed && !wire_args_end(&list); ++*n) {
        struct wire_args pair = wire_take_list(&list);
        struct lock_request *request = &requests[*n];
        *request = (struct lock_request){.path = wire_take_str(&pair), .current_rev = REV_NONE};
        if (with_rev)
            request->current_rev = wire_take_opt_rev(&pair);
        else
            request->token = wire_take_opt_str(&pair);
        list.malformed |= pair.malformed;
    }
    args->malformed |= list.malformed;
    TRY(wire_args_check(args));
    for (size_t i = 0; i < *n; i++)
        TRY(session_path(&requests[i].path, s, requests[i].path));
    *out = requests;
    return NULL;
}

static struct err *take_many(struct many *many, struct session *s, struct wire_args *args,
                             bool with_rev)
{
    struct lock_request *all;
    *many = (struct many){0};
    TRY(take_requests(&all, &many->asked_count, s, args, with_rev));
    struct map *places = map_new();
    many->requests = all; /* in place: what is kept is never behind what is read */
    many->asked = arena_array(s->request, many->asked_count + 1, sizeof *many->asked);
    for (size_t i = 0; i < many->asked_count; i++) {
        const struct lock_request *known = map_get(places, all[i].path);
        size_t place = known ? (size_t)(known - all) : many->n++;
        all[place] = all[i];
        many->asked[i] = place;
        map_put(places, all[i].path, &all[place]);
    }
    map_free(places, NULL);
    return NULL;
}

/* PATH as the client calls it. */
static struct str relative_path(const struct session *s, struct str path)
{
    struct str rest;
    return path_skip_ancestor(&rest, s->path, path) ? rest : path;
}

/* Put those requests first whose paths the user may write to, and refuse the others; how many are
 * left. */
static size_t refuse_unwritable(struct many *many, struct session *s, bool need_user)
{
    struct lock_request *all = many->requests;
    size_t left = 0, refused = many->n;
    size_t *moved_to = arena_array(s->request, many->n + 1, sizeof *moved_to);
    many->requests = arena_array(s->request, many->n + 1, sizeof *many->requests);
    for (size_t i = 0; i < many->n; i++) {
        bool allowed = principal_allows(&s->who, ACCESS_LEVEL_WRITE, all[i].path, need_user);
        size_t at = allowed ? left++ : --refused;
        many->requests[at] = all[i];
        moved_to[i] = at;
        if (allowed)
            continue;
        session_log_denied(s, all[i].path, ACCESS_WRITE, false);
        many->requests[at].err = err_make(E_RA_NOT_AUTHORIZED, "Authorization failed");
    }
    for (size_t i = 0; i < many->asked_count; i++)
        many->asked[i] = moved_to[many->asked[i]];
    return left;
}

static struct err *send_result(struct session *s, struct lock_request *request, bool locked)
{
    if (!request->err && !request->lock.token.p)
        request->err = err_make(E_FS_LOCK_OPERATION_FAILED, "No result for '%.*s'.",
                                STR(relative_path(s, request->path)));
    if (request->err)
        return wire_failure(s->conn, request->err);
    TRY(wire_begin_success(s->conn));
    if (locked)
        TRY(send_lock_fields(s->conn,
                             &request->lock)); /* the answer's own parentheses are theirs */
    else
        TRY(wire_str(s->conn, relative_path(s, request->path)));
    return wire_end_success(s->conn);
}

/* Tell what became of each request, in the client's order. */
static struct err *finish_many(struct session *s, struct err *err, struct many *many, bool locked)
{
    struct err *sent = NULL;
    for (size_t i = 0; i < many->asked_count && !sent; i++)
        sent = send_result(s, &many->requests[many->asked[i]], locked);
    for (size_t i = 0; i < many->n; i++)
        err_free(many->requests[i].err);
    if (sent) {
        err_free(err);
        return sent;
    }
    return finish_stream(s, err);
}

struct err *cmd_lock_many(struct session *s, struct wire_args *args)
{
    struct str comment = wire_take_opt_str(args);
    bool steal = wire_take_bool(args);
    struct many many;
    TRY(take_many(&many, s, args, true));
    TRY(auth_require(s, ACCESS_LEVEL_WRITE, S(""), true));
    log_locks(s, "lock", many.requests, many.n, steal ? " steal" : "");
    size_t left = refuse_unwritable(&many, s, true);
    struct err *err =
        repo_lock(s->repo, many.requests, left, &s->who, comment, false, steal, 0, s->request);
    return finish_many(s, err, &many, true);
}

struct err *cmd_unlock_many(struct session *s, struct wire_args *args)
{
    bool break_lock = wire_take_bool(args);
    struct many many;
    TRY(take_many(&many, s, args, false));
    TRY(auth_require(s, ACCESS_LEVEL_WRITE, S(""), !break_lock));
    log_locks(s, "unlock", many.requests, many.n, break_lock ? " break" : "");
    size_t left = refuse_unwritable(&many, s, !break_lock);
    struct err *err = repo_unlock(s->repo, many.requests, left, &s->who, break_lock, s->request);
    return finish_many(s, err, &many, false);
}

struct err *cmd_get_lock(struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    struct lock lock;
    bool found;
    TRY(wire_args_check(args));
    TRY(session_path(&path, s, relative));
    TRY(auth_require(s, ACCESS_LEVEL_READ, path, false));
    session_log(s, "get-lock %.*s", STR(log_path(s, path)));
    TRY(lock_get(&lock, &found, s->fs, path, s->request));
    TRY(wire_begin_success(s->conn));
    TRY(wire_open(s->conn));
    if (found)
        TRY(send_lock(s->conn, &lock));
    TRY(wire_close(s->conn));
    return wire_end_success(s->conn);
}

/* Is LOCK within DEPTH of PATH? */
static bool within(const struct lock *lock, struct str path, enum depth depth)
{
    struct str rest;
    if (depth == DEPTH_INFINITY)
        return true;
    if (!path_skip_ancestor(&rest, path, lock->path))
        return false;
    return rest.n == 0 || (depth != DEPTH_EMPTY && str_find(rest, '/') == SIZE_MAX);
}

struct err *cmd_get_locks(struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    struct str word = S("infinity");
    if (!wire_args_end(args)) {
        struct wire_args list = wire_take_list(args);
        word = wire_args_end(&list) ? word : wire_take_word(&list);
        args->malformed |= list.malformed;
    }
    struct lock *locks;
    size_t n;
    TRY(wire_args_check(args));
    enum depth depth = depth_parse(word);
    if (depth == DEPTH_UNKNOWN || depth == DEPTH_EXCLUDE)
        return err_make(E_INCORRECT_PARAMS, "Invalid 'depth' specified in get-locks request");
    TRY(session_path(&path, s, relative));
    TRY(auth_trivial(s));
    session_log(s, "get-locks %.*s", STR(log_path(s, path)));
    TRY(locks_below(&locks, &n, s->fs, path, s->request));
    TRY(wire_begin_success(s->conn));
    TRY(wire_open(s->conn));
    for (size_t i = 0; i < n; i++)
        if (within(&locks[i], path, depth) &&
            principal_may(s->reader, locks[i].path, ACCESS_READ, false))
            TRY(send_lock(s->conn, &locks[i]));
    TRY(wire_close(s->conn));
    return wire_end_success(s->conn);
}
