/* SPDX-License-Identifier: Apache-2.0 */
#include "svn/session.h"

#include "base/account.h"
#include "base/date.h"
#include "base/path.h"
#include "base/thread.h"
#include "repo/admin/registry.h"
#include "repo/tree/depth.h"
#include "svn/auth.h"
#include "svn/session_int.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Every command, with what it is called on the wire. */
static const struct {
    struct str word;
    command_fn *run;
} commands[] = {
    {S("reparent"), cmd_reparent},
    {S("get-latest-rev"), cmd_get_latest_rev},
    {S("get-dated-rev"), cmd_get_dated_rev},
    {S("change-rev-prop"), cmd_change_rev_prop},
    {S("change-rev-prop2"), cmd_change_rev_prop2},
    {S("rev-proplist"), cmd_rev_proplist},
    {S("rev-prop"), cmd_rev_prop},
    {S("commit"), cmd_commit},
    {S("get-file"), cmd_get_file},
    {S("get-dir"), cmd_get_dir},
    {S("check-path"), cmd_check_path},
    {S("stat"), cmd_stat},
    {S("get-mergeinfo"), cmd_get_mergeinfo},
    {S("update"), cmd_update},
    {S("switch"), cmd_switch},
    {S("status"), cmd_status},
    {S("diff"), cmd_diff},
    {S("log"), cmd_log},
    {S("get-locations"), cmd_get_locations},
    {S("get-location-segments"), cmd_get_location_segments},
    {S("get-file-revs"), cmd_get_file_revs},
    {S("lock"), cmd_lock},
    {S("lock-many"), cmd_lock_many},
    {S("unlock"), cmd_unlock},
    {S("unlock-many"), cmd_unlock_many},
    {S("get-lock"), cmd_get_lock},
    {S("get-locks"), cmd_get_locks},
    {S("replay"), cmd_replay},
    {S("replay-range"), cmd_replay_range},
    {S("get-deleted-rev"), cmd_get_deleted_rev},
    {S("get-iprops"), cmd_get_iprops},
    {S("list"), cmd_list},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const struct {
    struct str word;
    unsigned bit;
} capabilities[] = {
    {S("edit-pipeline"), CAP_EDIT_PIPELINE},
    {S("svndiff1"), CAP_SVNDIFF1},
    {S("accepts-svndiff2"), CAP_SVNDIFF2},
    {S("absent-entries"), CAP_ABSENT_ENTRIES},
    {S("depth"), CAP_DEPTH},
    {S("mergeinfo"), CAP_MERGEINFO},
    {S("log-revprops"), CAP_LOG_REVPROPS},
};

/* ---- helpers of the commands ---- */

/* NAME as the rules are to know it. */
static struct str authz_user(const struct session *s, struct str name)
{
    if (s->config.username_case == USERNAME_AS_IS || !name.p)
        return name;
    bool upper = s->config.username_case == USERNAME_UPPER;
    char *out = arena_cstr(s->arena, name);
    for (size_t i = 0; i < name.n; i++)
        out[i] = (char)(upper ? toupper((unsigned char)out[i]) : tolower((unsigned char)out[i]));
    return str_make(out, name.n);
}

static void log_denied(const struct principal *who, struct str path, int right, bool recursive)
{
    const struct session *s = (const void *)((const char *)who - offsetof(struct session, who));
    session_log_denied(s, path, right, recursive);
}

void session_set_user(struct session *s, struct str user)
{
    const struct server_config *config = &s->config;
    const struct authz_view *view = NULL;
    user = user.p ? arena_str(s->arena, user) : user;
    if (config->authz)
        view = authz_view(config->authz, s->authz_name, authz_user(s, user), s->arena);
    principal_set(&s->who, user, user.n ? config->auth_access : config->anon_access, view);
    s->who.denied = log_denied;
    s->reader = principal_to_read(&s->who);
}

bool is_fatal(const struct err *err)
{
    if (!err)
        return false;
    switch (err->code) {
    case E_RA_SVN_CONNECTION_CLOSED:
    case E_RA_SVN_IO_ERROR:
    case E_RA_SVN_MALFORMED_DATA:
    case E_RA_SVN_REQUEST_SIZE:
    case E_RA_SVN_RESPONSE_SIZE:
        return true;
    default:
        return false;
    }
}

struct err *session_path(struct str *out, const struct session *s, struct str relative)
{
    TRY(arena_check(s->request, s->path.n + relative.n)); /* a request may name many */
    struct str clean =
        path_canonicalize(relative, s->request); /* "/a", too, is below the session */
    *out = path_join(s->path, str_skip(clean, 1), s->request);
    return path_check_nul(*out);
}

struct err *session_url_path(struct str *out, const struct session *s, struct str url)
{
    struct str decoded, rest;
    if (!path_uri_decode(&decoded, url, s->request))
        return err_make(E_BAD_URL, "Bad escape in URL '%.*s'", STR(url));
    rest = str_skip(decoded, s->root_url_decoded.n);
    if (!str_starts(decoded, s->root_url_decoded) || (rest.n && rest.p[0] != '/'))
        return err_make(E_RA_ILLEGAL_URL, "'%.*s' is not the same repository as '%.*s'", STR(url),
                        STR(s->root_url));
    *out = rest.n ? path_canonicalize(rest, s->request) : S("/");
    return path_check_nul(*out);
}

struct err *session_rev(revnum *rev, const struct session *s)
{
    return *rev == REV_NONE ? fsfs_youngest(rev, s->fs) : NULL;
}

struct str log_path(const struct session *s, struct str path)
{
    return path_uri_encode(path, s->request);
}

struct str log_depth(const struct session *s, enum depth depth)
{
    if (depth == DEPTH_UNKNOWN)
        return S("");
    return arena_printf(s->request, " depth=%.*s", STR(depth_word(depth)));
}

struct str log_words(const struct session *s, const struct str *words, size_t n)
{
    AUTO_BUF(line);
    for (size_t i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(s->request);
        buf_printf(&line, " %.*s", STR(log_path(s, words[i])));
        arena_rewind(s->request, mark);
    }
    return arena_str(s->request, buf_view(&line));
}

static struct access_log who_is(const struct session *s)
{
    return (struct access_log){s->service->log, s->client->address, s->who.user, s->repo_name};
}

static struct access_log nobody(const struct client *client)
{
    return (struct access_log){.log = client->service->log, .address = client->address};
}

void session_log(const struct session *s, const char *fmt, ...)
{
    const struct access_log who = who_is(s);
    va_list args;
    va_start(args, fmt);
    access_log_v(&who, fmt, args);
    va_end(args);
}

void session_log_denied(const struct session *s, struct str path, int right, bool recursive)
{
    if (!s->service->log || !s->who.user.n)
        return;
    struct arena_mark mark = arena_mark(s->request); /* a long log may deny a million times */
    session_log(s, "Authorization Failed %s%s %.*s", recursive ? "recursive " : "",
                right == ACCESS_WRITE ? "write" : "read", STR(log_path(s, path)));
    arena_rewind(s->request, mark);
}

void session_log_err(const struct session *s, const struct err *err)
{
    const struct access_log who = who_is(s);
    access_log_err(&who, "ERR", err);
}

/* The server is to blame, or a question makes no sense. */
static bool is_fault(const struct err *err)
{
    for (; err; err = err->cause) {
        if (err_is_system(err))
            return true;
        switch (err->code) {
        case E_INCORRECT_PARAMS:
        case E_FS_CORRUPT:
        case E_FS_INDEX_CORRUPTION:
        case E_FS_CORRUPT_REVPROP_MANIFEST:
        case E_FS_CORRUPT_PROPLIST:
        case E_CORRUPT_PACKED_DATA:
            return true;
        default:
            break;
        }
    }
    return false;
}

/* What the filesystem does not have. */
static bool is_missing(const struct err *err)
{
    return err->code == E_FS_NO_SUCH_REVISION || err->code == E_FS_NOT_FOUND ||
           err->code == E_FS_ID_NOT_FOUND;
}

struct err *session_fault(const struct session *s, struct err *err)
{
    bool fault = is_fault(err);
    if (fault)
        session_log_err(s, err);
    struct err *replaced =
        s->fs && (fault || is_missing(err)) ? store_check_itself(s->fs->store) : NULL;
    if (!replaced || replaced->code != E_FS_GENERAL) {
        err_free(replaced);
        return err;
    }
    err_free(err);
    session_log_err(s, replaced);
    return replaced;
}

/* Tell of ERR (freed) in the place of an answer. */
static struct err *send_failure(struct session *s, struct err *err)
{
    conn_hold_discard(s->conn);
    err = session_fault(s, err);
    struct err *sent = wire_failure(s->conn, err);
    err_free(err);
    return sent;
}

struct err *finish_stream(struct session *s, struct err *err)
{
    if (is_fatal(err))
        return err;
    struct err *sent = wire_word(s->conn, S("done"));
    if (sent) {
        err_free(err);
        return sent;
    }
    return err ? send_failure(s, err) : wire_success_empty(s->conn);
}

/* ---- the beginning of a connection ---- */

static struct err *send_greeting(struct session *s)
{
    TRY(wire_raw(s->conn, S("( success ( 2 2 ( ) ( edit-pipeline ")));
    if (s->service->compression > 0)
        TRY(wire_raw(s->conn, S("svndiff1 accepts-svndiff2 ")));
    return wire_raw(s->conn, S("absent-entries commit-revprops depth log-revprops atomic-revprops "
                               "partial-replay inherited-props "
                               "ephemeral-txnprops file-revs-reverse list ) ) ) "));
}

/* ( version ( caps ) url ? agent [client] ) */
static struct err *read_greeting(struct str *url, struct str *agent, struct str *said,
                                 struct session *s)
{
    AUTO_BUF(words);
    struct wire_item answer;
    conn_begin_request(s->conn, s->service->limits.login_bytes);
    TRY(wire_read(&answer, s->conn, s->request));
    struct wire_args args = wire_args_of(&answer);
    uint64_t version = wire_take_number(&args);
    struct wire_args caps = wire_take_list(&args);
    *url = wire_take_str(&args);
    *agent = wire_args_end(&args) ? S("-") : wire_take_str(&args);
    while (!caps.malformed && !wire_args_end(&caps)) {
        struct str word = wire_take_word(&caps);
        buf_printf(&words, words.n ? " %.*s" : "%.*s", STR(word));
        for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
            if (str_eq(capabilities[i].word, word))
                s->caps |= capabilities[i].bit;
    }
    args.malformed |= caps.malformed;
    TRY(wire_args_check(&args));
    *said = arena_str(s->request, buf_view(&words));
    if (version != 2)
        return err_make(E_RA_SVN_BAD_VERSION,
                        "Unsupported ra_svn protocol version %llu (supported versions: [2])",
                        (unsigned long long)version);
    if (!(s->caps & CAP_EDIT_PIPELINE))
        return err_make(E_RA_SVN_BAD_VERSION, "Missing edit-pipeline capability");
    return NULL;
}

/* "svn://host:port" and the path behind it: canonical, still encoded. */
static bool split_url(struct str *base, struct str *path, const struct session *s, struct str url)
{
    size_t colon = str_find(url, ':');
    if (colon == SIZE_MAX || !str_starts(str_skip(url, colon), S("://")) ||
        !str_starts(url, S("svn")))
        return false;
    struct str host = str_skip(url, colon + 3);
    size_t slash = str_find(host, '/');
    struct str rest = slash == SIZE_MAX ? S("") : str_skip(host, slash);
    *base = str_make(url.p, url.n - rest.n);
    *path = path_canonicalize(rest, s->request);
    return true;
}

/* The host that BASE names, without user and port. */
static struct str host_of(struct str base)
{
    struct str name = str_skip(base, str_find(base, ':') + 3);
    size_t at = str_find(name, '@');
    if (at != SIZE_MAX)
        name = str_skip(name, at + 1);
    size_t port = str_rfind(name, ':');
    if (port != SIZE_MAX)
        name.n = port;
    return name;
}

static size_t count_slashes(struct str path)
{
    size_t n = 0;
    for (size_t i = 0; i < path.n; i++)
        n += path.p[i] == '/';
    return n;
}

/* Where ENCODED leads: the host is the first folder where that was asked for. An encoded slash
 * divides nothing and is in no name. */
static bool decode_path(struct str *path, const struct session *s, struct str base,
                        struct str encoded)
{
    struct str whole = encoded;
    if (s->service->virtual_host)
        whole = path_canonicalize(
            arena_printf(s->request, "/%.*s%.*s", STR(host_of(base)), STR(encoded)), s->request);
    return path_uri_decode(path, whole, s->request) && count_slashes(*path) == count_slashes(whole);
}

/* BASE and PATH in one, without the last COUNT components of the path. */
static struct str strip_components(struct str base, struct str path, size_t count,
                                   struct arena *arena)
{
    for (; count && path.n > 1; count--)
        path = path_dirname(path);
    return arena_printf(arena, "%.*s%.*s", STR(base), STR(path.n > 1 ? path : S("")));
}

static void log_authz_warnings(const struct session *s)
{
    const struct str *texts;
    if (!s->service->log || !s->config.authz)
        return;
    size_t n = authz_warnings(&texts, s->config.authz);
    for (size_t i = 0; i < n; i++)
        session_log(s, "WARN - 0 %d %.*s", E_AUTHZ_INVALID_CONFIG, STR(texts[i]));
}

static struct err *open_repo(struct session *s, struct str url)
{
    struct str base, encoded, path, inside;
    size_t depth;
    if (!split_url(&base, &encoded, s, url) || !decode_path(&path, s, base, encoded))
        return err_make(E_BAD_URL, "Non-svn URL passed to svn server: '%.*s'", STR(url));
    if (!path_is_canonical(path))
        return err_make(E_BAD_FILENAME, "Couldn't determine repository path");
    const char *folder = repo_find(&inside, &depth, s->service->root, path, s->request);
    if (!folder)
        return err_make(E_RA_SVN_REPOS_NOT_FOUND, "No repository found in '%.*s'", STR(url));
    TRY(registry_acquire(&s->shared_repo, folder));
    s->own_repo = *s->shared_repo;
    s->repo = &s->own_repo;
    s->fs = s->repo->fs;
    s->path = inside.n ? arena_str(s->arena, inside) : S("/");
    s->root_url = strip_components(base, encoded, depth, s->arena);
    if (!path_uri_decode(&s->root_url_decoded, s->root_url, s->arena))
        return err_make(E_BAD_URL, "Bad escape in URL '%.*s'", STR(url));
    struct str name = str_skip(path, 1);
    name.n -= inside.n > name.n ? name.n : inside.n;
    s->authz_name = arena_str(s->arena, name.n ? name : path_basename(str_of(folder)));
    s->repo_name = path_uri_encode(s->authz_name, s->arena);
    TRY(server_config_read(&s->config, s->repo, s->service->config_file, s->service->read_only,
                           s->arena));
    s->own_repo.hooks = s->config.hooks;
    session_set_user(s, (struct str){0});
    log_authz_warnings(s);
    return NULL;
}

static struct err *send_repo_info(struct session *s)
{
    TRY(wire_begin_success(s->conn));
    TRY(wire_str(s->conn, str_of(s->fs->uuid)));
    TRY(wire_str(s->conn, s->root_url));
    TRY(wire_open(s->conn));
    if (s->fs->format >= 3)
        TRY(wire_word(s->conn, S("mergeinfo")));
    TRY(wire_close(s->conn));
    return wire_end_success(s->conn);
}

/* Errors before the repository is at hand are told in the place of the auth request, and end the
 * connection. */
static struct err *begin(struct session *s)
{
    struct str url, agent, caps;
    TRY(send_greeting(s));
    TRY(read_greeting(&url, &agent, &caps, s));
    int compression = s->service->compression;
    s->svndiff_version = compression > 0 && s->caps & CAP_SVNDIFF2   ? 2
                         : compression > 0 && s->caps & CAP_SVNDIFF1 ? 1
                                                                     : 0;
    TRY(account_check());
    /* All sessions share the repository and its rules, and the administrator wrote them. */
    struct account *mine = account_enter(NULL);
    struct err *err = open_repo(s, url);
    account_enter(mine);
    if (err && (err->code == E_AUTHN_FAILED || err->code == E_AUTHZ_INVALID_CONFIG)) {
        /* where the damage is concerns the log, not the client */
        session_log_err(s, err);
        err_free(err->cause);
        err->cause = NULL;
    }
    if (!err)
        err = auth_handshake(s);
    if (err && !is_fatal(err)) {
        conn_hold_discard(s->conn);
        err_free(wire_failure(s->conn, err));
    }
    TRY(err);
    s->is_open = true;
    session_log(s, "open 2 cap=(%.*s) %.*s %.*s -", STR(caps), STR(log_path(s, s->path)),
                STR(log_path(s, agent)));
    return send_repo_info(s);
}

/* ---- the main loop ---- */

struct err *cmd_reparent(struct session *s, struct wire_args *args)
{
    struct str path, url = wire_take_str(args);
    TRY(wire_args_check(args));
    TRY(auth_trivial(s));
    TRY(session_url_path(&path, s, url));
    session_log(s, "reparent %.*s", STR(log_path(s, path)));
    buf_clear(&s->moved_to);
    buf_str(&s->moved_to, path);
    s->path = buf_view(&s->moved_to);
    return wire_success_empty(s->conn);
}

static struct err *run_command(struct session *s, struct str command,
                               const struct wire_item *params)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (str_eq(commands[i].word, command)) {
            struct wire_args args = wire_args_of(params);
            return commands[i].run(s, &args);
        }
    }
    return err_make(E_RA_SVN_UNKNOWN_CMD, "Unknown editor command '%.*s'", STR(command));
}

static struct err *stopped_error(void)
{
    return err_make(E_RA_SVN_IO_ERROR, "The server is being stopped");
}

/* One command and its answer. */
static struct err *take_command(struct session *s)
{
    struct str command;
    struct wire_item params;
    if (!client_begin_waiting(s->client))
        return stopped_error();
    conn_begin_request(s->conn, s->service->limits.request_bytes);
    conn_begin_response(s->conn, s->service->limits.response_bytes);
    s->is_idle = true;
    TRY(wire_read_command(&command, &params, s->conn, s->request));
    s->is_idle = false;
    if (!client_end_waiting(s->client))
        return stopped_error();
    struct err *err = run_command(s, command, &params);
    return err && !is_fatal(err) ? send_failure(s, err) : err;
}

static struct err *converse(struct session *s)
{
    TRY(begin(s));
    conn_set_deadline(s->conn, 0);
    account_set_terms(s->account, &(struct account_terms){
                                      .limit = s->service->limits.request_memory,
                                      .free = SESSION_MEMORY_FREE,
                                      .code = E_RA_SVN_REQUEST_SIZE,
                                      .text = "The client request takes more memory than "
                                              "--max-request-memory allows",
                                  });
    for (;;) {
        struct arena_mark mark = arena_mark(s->request);
        TRY(take_command(s));
        arena_rewind(s->request, mark);
        arena_trim(s->request);
    }
}

/* Errors of ours that end the connection, and that the client is told of. */
static bool is_limit(const struct err *err)
{
    return err->code == E_RA_SVN_REQUEST_SIZE || err->code == E_RA_SVN_RESPONSE_SIZE ||
           err->code == E_RA_SVN_IO_ERROR;
}

/* What is wrong with the conversation itself goes without the names of user and repository. */
static void log_end(const struct session *s, const struct err *err)
{
    const struct access_log who = nobody(s->client);
    bool is_protocol = err->code == E_RA_SVN_CONNECTION_CLOSED ||
                       err->code == E_RA_SVN_MALFORMED_DATA || err->code == E_RA_SVN_BAD_VERSION ||
                       err->code == E_RA_NOT_AUTHORIZED || err->code == E_AUTHN_FAILED;
    if (is_protocol)
        access_log_err(&who, "ERR", err);
    else
        session_log_err(s, err);
}

/* The last words, and the line in the log. The peer's leaving is the ordinary end of a session that
 * was open. */
static struct err *say_goodbye(struct session *s, struct err *err)
{
    account_enter(NULL); /* the last words need little, and must not fail for want of memory */
    conn_hold_discard(s->conn);
    conn_begin_response(s->conn, 0);
    if (err->code == E_RA_SVN_CONNECTION_CLOSED) {
        bool stopped = client_is_ended(s->client);
        if (stopped || (s->is_open && s->is_idle)) {
            err_free(err);
            err = stopped ? stopped_error() : NULL;
        }
    }
    if (err)
        log_end(s, err);
    if (err && is_limit(err))
        err_free(s->in_exchange ? auth_send_failure(s, str_of(err->text))
                                : wire_failure(s->conn, err));
    conn_linger(s->conn); /* ends at once where the peer is gone */
    return err;
}

/* Whoever has not logged in has a small share, and only that, and so is in nobody's way. */
static struct account *stranger_account(const struct client_limits *limits)
{
    size_t bytes = LOGIN_MEMORY_FACTOR * limits->login_bytes;
    if (bytes)
        bytes += LOGIN_MEMORY_LEAST;
    return account_new(&(struct account_terms){
        .limit = bytes,
        .free = bytes,
        .code = E_RA_SVN_REQUEST_SIZE,
        .text = "What the client says before it logs in takes more memory than --max-login-size "
                "allows",
    });
}

static struct err *serve(struct conn *conn, const struct client *client)
{
    const struct client_limits *limits = &client->service->limits;
    /* The client's names and what the administrator wrote: nothing that grows, so not charged. */
    struct session s = {.client = client,
                        .service = client->service,
                        .conn = conn,
                        .arena = arena_new(),
                        .account = stranger_account(limits)};
    struct account *outer = account_enter(s.account);
    s.request = arena_new();
    conn_set_idle_timeout(conn, limits->idle_timeout_s);
    conn_set_deadline(conn, limits->login_timeout_s);
    conn_set_nesting(conn, limits->nesting);
    struct err *err = say_goodbye(&s, converse(&s));
    if (s.shared_repo)
        registry_release(s.shared_repo);
    buf_free(&s.moved_to);
    arena_free(s.request);
    arena_free(s.arena);
    account_enter(outer);
    account_close(s.account);
    return err;
}

static void turn_away(struct conn *conn, const struct client *client, struct err *why)
{
    const struct access_log who = nobody(client);
    access_log_err(&who, "ERR", why);
    err_free(wire_failure(conn, why)); /* a new socket has room for a line */
    err_free(conn_flush(conn));
    err_free(why);
}

const struct conn_codes svn_conn_codes = {
    .closed = E_RA_SVN_CONNECTION_CLOSED,
    .io = E_RA_SVN_IO_ERROR,
    .request_size = E_RA_SVN_REQUEST_SIZE,
    .response_size = E_RA_SVN_RESPONSE_SIZE,
};

const struct protocol svn_protocol = {
    .name = "svn",
    .port = 3690,
    .codes = &svn_conn_codes,
    .serve = serve,
    .turn_away = turn_away,
};
