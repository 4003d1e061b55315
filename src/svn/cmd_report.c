/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - update, switch, status, diff: the client's report in, the edit out. */
#include "repo/edit/report.h"

#include "base/path.h"
#include "repo/tree/depth.h"
#include "svn/auth.h"
#include "svn/edit_drive.h"
#include "svn/session_int.h"

/* *PATH in its canonical form. */
static struct err *relative_path(struct str *path, const struct session *s)
{
    *path = str_skip(path_canonicalize(*path, s->request), 1);
    return path_check_nul(*path);
}

/* One report command into REPORT. *ENDED: finish-report (1) or abort-report (2). */
static struct err *take_report_command(int *ended, struct report *report, struct session *s,
                                       struct str command, struct wire_args *args)
{
    *ended = 0;
    if (str_eq(command, S("finish-report")) || str_eq(command, S("abort-report"))) {
        *ended = command.p[0] == 'f' ? 1 : 2;
        return NULL;
    }
    bool is_link = str_eq(command, S("link-path"));
    if (!is_link && !str_eq(command, S("set-path")) && !str_eq(command, S("delete-path")))
        return err_make(E_RA_SVN_UNKNOWN_CMD, "Unknown editor command '%.*s'", STR(command));
    struct str path = wire_take_str(args);
    TRY(relative_path(&path, s));
    if (command.p[0] == 'd') {
        TRY(wire_args_check(args));
        return report_delete_path(report, path);
    }
    struct str url = is_link ? wire_take_str(args) : S("");
    revnum rev = wire_take_rev(args);
    bool start_empty = wire_take_bool(args);
    struct str token = {0}, word;
    if (!wire_args_end(args))
        token = wire_take_opt_str(args);
    word = wire_take_word_tail(args);
    TRY(wire_args_check(args));
    enum depth depth = word.p ? depth_parse(word) : DEPTH_INFINITY;
    if (!is_link)
        return report_set_path(report, path, rev, start_empty, token, depth);
    struct str link_path;
    TRY(session_url_path(&link_path, s, url));
    return report_link_path(report, path, link_path, rev, start_empty, token, depth);
}

/* What the access log wants to know of a report: whether it is a checkout, where a diff begins. */
struct report_shape {
    size_t entries;
    bool from_empty;
    revnum from_rev;
};

static void note_shape(struct report_shape *shape, struct str command,
                       const struct wire_item *params)
{
    struct wire_args args = wire_args_of(params);
    if (!str_eq(command, S("set-path")))
        return;
    wire_take_str(&args);
    revnum rev = wire_take_rev(&args);
    bool start_empty = wire_take_bool(&args);
    if (shape->entries++ == 0) {
        shape->from_empty = start_empty;
        shape->from_rev = rev;
    }
}

/* Read the report to its end. An error in it is held back until then, for the client does not
 * listen before; *HELD receives it. */
static struct err *read_report(bool *aborted, struct err **held, struct report_shape *shape,
                               struct report *report, struct session *s)
{
    *held = NULL;
    *shape = (struct report_shape){.from_rev = REV_NONE};
    for (;;) {
        struct arena_mark mark = arena_mark(s->request);
        struct str command;
        struct wire_item params;
        int ended = 0;
        conn_begin_request(s->conn, s->service->limits.request_bytes);
        struct err *err = wire_read_command(&command, &params, s->conn, s->request);
        if (!err) {
            struct wire_args args = wire_args_of(&params);
            note_shape(shape, command, &params);
            err = take_report_command(&ended, report, s, command, &args);
        }
        arena_rewind(s->request, mark);
        if (err && err->code == E_RA_SVN_UNKNOWN_CMD) { /* answered at once; the report goes on */
            struct err *sent = wire_failure(s->conn, err);
            err_free(err);
            err = sent;
        }
        if (is_fatal(err)) {
            err_free(*held);
            return err;
        }
        if (*held)
            err_free(err); /* the first one counts */
        else
            *held = err;
        if (ended) {
            *aborted = ended == 2;
            return NULL;
        }
    }
}

/* The shared second half: report in, edit out. */
static struct err *serve_report(struct report_shape *shape, struct session *s,
                                const struct report_params *params)
{
    if (params->depth == DEPTH_EXCLUDE)
        return err_make(E_REPOS_BAD_ARGS, "Request depth 'exclude' not supported");
    struct report *report = report_new(s->fs, params);
    struct err *held;
    bool aborted = false;
    struct err *err = read_report(&aborted, &held, shape, report, s);
    if (err) {
        report_free(report);
        return err;
    }
    if (aborted) {
        report_free(report);
        return held ? held : wire_success_empty(s->conn);
    }
    err = auth_trivial(s);
    if (err || held) {
        report_free(report);
        if (err)
            err_free(held);
        return err ? err : held;
    }
    struct edit_source *source;
    TRY(report_finish(&source, report));
    return edit_drive(s, source, true);
}

/* Old clients say only whether to recurse; if not, they mean SHALLOW. */
static enum depth take_depth(struct wire_args *args, bool recurse, enum depth shallow)
{
    struct str word = wire_take_word_tail(args);
    return word.p ? depth_parse(word) : recurse ? DEPTH_INFINITY : shallow;
}

static struct err *take_target(struct str *target, const struct session *s)
{
    TRY(relative_path(target, s));
    if (str_find(*target, '/') != SIZE_MAX)
        return err_make(E_FS_NOT_SINGLE_PATH_COMPONENT,
                        "Target '%.*s' is not one entry of a directory", STR(*target));
    return NULL;
}

static void fill_params(struct report_params *params, const struct session *s)
{
    params->anchor = s->path;
    params->svndiff_version = s->svndiff_version;
    params->compression_level = s->service->compression;
    params->who = s->reader;
}

struct err *cmd_update(struct session *s, struct wire_args *args)
{
    struct report_params params = {.text_deltas = true};
    params.rev = wire_take_opt_rev(args);
    params.target = wire_take_str(args);
    bool recurse = wire_take_bool(args);
    bool has_depth = !wire_args_end(args);
    params.depth = take_depth(args, recurse, DEPTH_FILES);
    params.send_copyfrom = has_depth && wire_take_bool(args);
    params.ignore_ancestry = wire_take_bool_tail(args, false);
    TRY(wire_args_check(args));
    TRY(take_target(&params.target, s));
    struct str path = path_join(s->path, params.target, s->request);
    TRY(auth_require(s, ACCESS_LEVEL_READ, path, false));
    TRY(session_rev(&params.rev, s));
    fill_params(&params, s);
    struct report_shape shape;
    TRY(serve_report(&shape, s, &params));
    if (shape.entries == 1 && shape.from_empty)
        session_log(s, "checkout-or-export %.*s r%lld%.*s", STR(log_path(s, path)),
                    (long long)params.rev, STR(log_depth(s, params.depth)));
    else
        session_log(s, "update %.*s r%lld%.*s%s", STR(log_path(s, path)), (long long)params.rev,
                    STR(log_depth(s, params.depth)),
                    params.send_copyfrom ? " send-copyfrom-args" : "");
    return NULL;
}

struct err *cmd_switch(struct session *s, struct wire_args *args)
{
    struct report_params params = {.text_deltas = true, .is_switch_or_diff = true};
    params.rev = wire_take_opt_rev(args);
    params.target = wire_take_str(args);
    bool recurse = wire_take_bool(args);
    struct str url = wire_take_str(args);
    params.depth = take_depth(args, recurse, DEPTH_FILES);
    bool has_both = !wire_args_end(args);
    params.send_copyfrom = has_both && wire_take_bool(args);
    params.ignore_ancestry = has_both ? wire_take_bool(args) : true;
    TRY(wire_args_check(args));
    TRY(take_target(&params.target, s));
    TRY(auth_trivial(s));
    TRY(session_rev(&params.rev, s));
    TRY(session_url_path(&params.switch_path, s, url));
    fill_params(&params, s);
    struct str path = path_join(s->path, params.target, s->request);
    session_log(s, "switch %.*s %.*s@%lld%.*s", STR(log_path(s, path)),
                STR(log_path(s, params.switch_path)), (long long)params.rev,
                STR(log_depth(s, params.depth)));
    struct report_shape shape;
    return serve_report(&shape, s, &params);
}

struct err *cmd_status(struct session *s, struct wire_args *args)
{
    struct report_params params = {.text_deltas = false};
    params.target = wire_take_str(args);
    bool recurse = wire_take_bool(args);
    params.rev = wire_args_end(args) ? REV_NONE : wire_take_opt_rev(args);
    params.depth = take_depth(args, recurse, DEPTH_EMPTY);
    TRY(wire_args_check(args));
    TRY(take_target(&params.target, s));
    TRY(auth_trivial(s));
    TRY(session_rev(&params.rev, s));
    fill_params(&params, s);
    struct str path = path_join(s->path, params.target, s->request);
    session_log(s, "status %.*s r%lld%.*s", STR(log_path(s, path)), (long long)params.rev,
                STR(params.depth == DEPTH_INFINITY ? S("") : log_depth(s, params.depth)));
    struct report_shape shape;
    return serve_report(&shape, s, &params);
}

struct err *cmd_diff(struct session *s, struct wire_args *args)
{
    struct report_params params = {.is_switch_or_diff = true};
    params.rev = wire_take_opt_rev(args);
    params.target = wire_take_str(args);
    bool recurse = wire_take_bool(args);
    params.ignore_ancestry = wire_take_bool(args);
    struct str url = wire_take_str(args);
    params.text_deltas = wire_take_bool_tail(args, true);
    params.depth = take_depth(args, recurse, DEPTH_FILES);
    TRY(wire_args_check(args));
    TRY(take_target(&params.target, s));
    TRY(auth_trivial(s));
    TRY(session_rev(&params.rev, s));
    TRY(session_url_path(&params.switch_path, s, url));
    fill_params(&params, s);
    struct str path = path_join(s->path, params.target, s->request);
    struct report_shape shape;
    TRY(serve_report(&shape, s, &params));
    struct str from = log_path(s, path), to = log_path(s, params.switch_path);
    const char *ancestry = params.ignore_ancestry ? " ignore-ancestry" : "";
    struct str depth = log_depth(s, params.depth);
    if (str_eq(from, to))
        session_log(s, "diff %.*s r%lld:%lld%.*s%s", STR(from), (long long)shape.from_rev,
                    (long long)params.rev, STR(depth), ancestry);
    else
        session_log(s, "diff %.*s@%lld %.*s@%lld%.*s%s", STR(from), (long long)shape.from_rev,
                    STR(to), (long long)params.rev, STR(depth), ancestry);
    return NULL;
}
