/* SPDX-License-Identifier: Apache-2.0 */
#include "svn/session.h"

#include "base/date.h"
#include "base/path.h"
#include "repo/registry.h"
#include "svn/session_int.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    REQUEST_MEMORY = 256 << 20, /* the most that one request's items may take in memory */
    GREETING_MAX = 64 << 10,    /* bytes that a peer may send before it has said who it is */
};

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
    struct str clean = path_canonicalize(relative, s->request);
    *out = relative.n && relative.p[0] == '/' ? clean
                                              : path_join(s->path, str_skip(clean, 1), s->request);
    if (!path_is_canonical(*out))
        return err_make(E_FS_PATH_SYNTAX, "Path '%.*s' is not canonical", STR(relative));
    return path_check_bytes(*out);
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
    return path_is_canonical(*out)
               ? NULL
               : err_make(E_FS_PATH_SYNTAX, "Path '%.*s' is not canonical", STR(rest));
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
    if (depth == DEPTH_INFINITY || depth == DEPTH_UNKNOWN)
        return S("");
    return arena_printf(s->request, " depth=%.*s", STR(depth_word(depth)));
}

/* "<pid> <date> <peer> <user> <repository> " */
static void begin_line(struct buf *line, const struct session *s)
{
    char date[DATE_LONG_SIZE + 1];
    date_format(date, date_now_us());
    buf_printf(line, "%ld %s %s %.*s %.*s ", (long)getpid(), date, s->options->peer,
               STR(s->user.n ? s->user : S("-")), STR(s->repo_name.n ? s->repo_name : S("-")));
}

/* Control bytes would break the line. */
static void add_escaped(struct buf *line, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\n')
            buf_cstr(line, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(line, "\\x%02x", c);
        else
            buf_char(line, *text);
    }
}

void session_log(const struct session *s, const char *fmt, ...)
{
    if (!s->options->log)
        return;
    AUTO_BUF(line);
    begin_line(&line, s);
    va_list args;
    va_start(args, fmt);
    char *text;
    if (vasprintf(&text, fmt, args) >= 0) {
        add_escaped(&line, text);
        free(text);
    }
    va_end(args);
    log_line(s->options->log, buf_view(&line));
}

void session_log_err(const struct session *s, const struct err *err)
{
    for (; s->options->log && err; err = err->cause) {
        AUTO_BUF(line);
        begin_line(&line, s);
        buf_printf(&line, "ERR - 0 %d ", err->code);
        add_escaped(&line, err->text);
        log_line(s->options->log, buf_view(&line));
    }
}

/* Tell of ERR (freed) in the place of an answer. */
static struct err *send_failure(struct session *s, struct err *err)
{
    conn_hold_discard(s->conn);
    session_log_err(s, err);
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
    if (s->options->compression > 0)
        TRY(wire_raw(s->conn, S("svndiff1 accepts-svndiff2 ")));
    return wire_raw(s->conn, S("absent-entries commit-revprops depth log-revprops atomic-revprops "
                               "partial-replay inherited-props "
                               "ephemeral-txnprops file-revs-reverse list ) ) ) "));
}

/* ( version ( caps ) url ? agent [client] ) */
static struct err *read_greeting(struct str *url, struct str *agent, struct session *s)
{
    struct wire_item answer;
    conn_begin_request(s->conn, GREETING_MAX);
    TRY(wire_read(&answer, s->conn, s->request));
    struct wire_args args = wire_args_of(&answer);
    uint64_t version = wire_take_number(&args);
    struct wire_args caps = wire_take_list(&args);
    *url = wire_take_str(&args);
    *agent = wire_args_end(&args) ? S("-") : wire_take_str(&args);
    while (!caps.malformed && !wire_args_end(&caps)) {
        struct str word = wire_take_word(&caps);
        for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
            if (str_eq(capabilities[i].word, word))
                s->caps |= capabilities[i].bit;
    }
    args.malformed |= caps.malformed;
    TRY(wire_args_check(&args));
    if (version != 2)
        return err_make(E_RA_SVN_CONNECTION_CLOSED,
                        "The client speaks protocol version %llu, not 2",
                        (unsigned long long)version);
    if (!(s->caps & CAP_EDIT_PIPELINE))
        return err_make(E_RA_SVN_CONNECTION_CLOSED, "The client does not know edit pipelining");
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
    if (s->options->virtual_host)
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

/* Walk from the whole path upwards to the folder that is a repository. */
static const char *find_repo(struct str *inside, size_t *depth, const struct session *s,
                             struct str path)
{
    struct str rest = path;
    for (*depth = 0;; ++*depth) {
        struct str folder =
            arena_printf(s->request, "%s%.*s", s->options->root, STR(rest.n > 1 ? rest : S("")));
        if (repo_is_at(folder.p)) {
            *inside = str_skip(path, rest.n > 1 ? rest.n : 0);
            return folder.p;
        }
        if (rest.n <= 1)
            return NULL;
        rest = path_dirname(rest);
    }
}

static struct err *open_repo(struct session *s, struct str url)
{
    struct str base, encoded, path, inside;
    size_t depth;
    if (!split_url(&base, &encoded, s, url) || !decode_path(&path, s, base, encoded))
        return err_make(E_BAD_URL, "Non-svn URL passed to svn server: '%.*s'", STR(url));
    if (!path_is_canonical(path))
        return err_make(E_BAD_FILENAME, "Couldn't determine repository path");
    const char *folder = find_repo(&inside, &depth, s, path);
    if (!folder)
        return err_make(E_RA_SVN_REPOS_NOT_FOUND, "No repository found in '%.*s'", STR(url));
    TRY(registry_acquire(&s->repo, folder));
    s->fs = s->repo->fs;
    s->path = inside.n ? arena_str(s->arena, inside) : S("/");
    s->root_url = strip_components(base, encoded, depth, s->arena);
    if (!path_uri_decode(&s->root_url_decoded, s->root_url, s->arena))
        return err_make(E_BAD_URL, "Bad escape in URL '%.*s'", STR(url));
    struct str name = str_skip(path, 1);
    name.n -= inside.n > name.n ? name.n : inside.n;
    s->repo_name = path_uri_encode(name.n ? name : path_basename(str_of(folder)), s->arena);
    return server_config_read(&s->config, s->repo, s->options->config_file, s->options->read_only,
                              s->arena);
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

static void log_opened(struct session *s, struct str agent)
{
    AUTO_BUF(caps);
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        if (s->caps & capabilities[i].bit)
            buf_printf(&caps, caps.n ? " %.*s" : "%.*s", STR(capabilities[i].word));
    session_log(s, "open 2 cap=(%.*s) %.*s %.*s -", STR(buf_view(&caps)), STR(log_path(s, s->path)),
                STR(log_path(s, agent)));
}

/* Errors before the repository is at hand are told in the place of the auth request, and end the
 * connection. */
static struct err *begin(struct session *s)
{
    struct str url, agent;
    TRY(send_greeting(s));
    TRY(read_greeting(&url, &agent, s));
    int compression = s->options->compression;
    s->svndiff_version = compression > 0 && s->caps & CAP_SVNDIFF2   ? 2
                         : compression > 0 && s->caps & CAP_SVNDIFF1 ? 1
                                                                     : 0;
    struct err *err = open_repo(s, url);
    if (err &&
        err->code == E_AUTHN_FAILED) { /* where the damage is concerns the log, not the client */
        session_log_err(s, err->cause);
        err_free(err->cause);
        err->cause = NULL;
    }
    if (!err)
        err = auth_handshake(s);
    if (err && !is_fatal(err)) {
        TRY(send_failure(s, err));
        TRY(conn_flush(s->conn));
        return err_make(E_RA_SVN_CONNECTION_CLOSED, "The connection was refused");
    }
    TRY(err);
    log_opened(s, agent);
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
    s->path = arena_str(s->arena, path);
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

/* One command and its answer. */
static struct err *take_command(struct session *s)
{
    struct str command;
    struct wire_item params;
    conn_begin_request(s->conn, s->options->max_request_size);
    conn_begin_response(s->conn, s->options->max_response_size);
    struct err *err = wire_read_command(&command, &params, s->conn, s->request);
    if (!err)
        err = run_command(s, command, &params);
    if (err && (!is_fatal(err) || err->code == E_RA_SVN_REQUEST_SIZE ||
                err->code == E_RA_SVN_RESPONSE_SIZE)) {
        bool last = is_fatal(err);
        conn_begin_response(s->conn, 0);
        err = send_failure(s, err);
        if (!err && last)
            err = err_make(E_RA_SVN_CONNECTION_CLOSED, "A limit was exceeded");
    }
    return err;
}

static struct err *converse(struct session *s)
{
    TRY(begin(s));
    for (;;) {
        struct arena_mark mark = arena_mark(s->request);
        TRY(take_command(s));
        arena_rewind(s->request, mark);
    }
}

/* The peer's leaving is the ordinary end. */
static struct err *end_of(struct session *s, struct err *err)
{
    if (err && err->code == E_RA_SVN_CONNECTION_CLOSED) {
        err_free(err);
        return NULL;
    }
    session_log_err(s, err);
    return err;
}

struct err *session_serve(struct conn *conn, const struct session_options *options)
{
    AUTO_ARENA(arena);
    AUTO_ARENA(request);
    arena_limit(request, REQUEST_MEMORY, E_RA_SVN_REQUEST_SIZE,
                "The client request takes too much memory");
    struct session s = {.options = options, .conn = conn, .arena = arena, .request = request};
    struct err *err = end_of(&s, converse(&s));
    conn_hold_discard(conn);
    struct err *flushed = conn_flush(conn);
    err_free(flushed); /* who is gone needs no goodbye */
    if (s.repo)
        registry_release(s.repo);
    return err;
}
