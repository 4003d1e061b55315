/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_history.c - commands about where a node was and when. */
#include "repo/history/history.h"

#include "base/date.h"
#include "base/path.h"
#include "fsfs/read/revprops.h"
#include "repo/history/file_revs.h"
#include "repo/history/history_locations.h"
#include "svn/auth.h"
#include "svn/session_int.h"

struct err *cmd_get_latest_rev(struct session *s, struct wire_args *args)
{
    revnum rev;
    TRY(auth_trivial(s));
    session_log(s, "get-latest-rev");
    TRY(fsfs_youngest(&rev, s->fs));
    TRY(wire_begin_success(s->conn));
    TRY(wire_number(s->conn, (uint64_t)rev));
    return wire_end_success(s->conn);
}

struct err *cmd_get_dated_rev(struct session *s, struct wire_args *args)
{
    struct str date = wire_take_str(args);
    int64_t us;
    revnum rev;
    TRY(wire_args_check(args));
    TRY(auth_trivial(s));
    session_log(s, "get-dated-rev %.*s", STR(date));
    if (!date_parse(&us, date))
        return err_make(E_BAD_DATE, "Bogus date '%.*s'", STR(date));
    TRY(history_dated_rev(&rev, s->fs, us));
    TRY(wire_begin_success(s->conn));
    TRY(wire_number(s->conn, (uint64_t)rev));
    return wire_end_success(s->conn);
}

struct err *cmd_get_deleted_rev(struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    revnum peg = wire_take_rev(args), end = wire_take_rev(args), rev;
    TRY(wire_args_check(args));
    TRY(session_path(&path, s, relative));
    TRY(auth_trivial(s));
    session_log(s, "get-deleted-rev");
    if (peg == REV_NONE || end == REV_NONE)
        return err_make(E_FS_NO_SUCH_REVISION, "Invalid %s revision -1",
                        peg == REV_NONE ? "start" : "end");
    TRY(history_deleted_rev(&rev, s->fs, path, peg, end, s->request));
    if (rev == REV_NONE)
        return err_make(E_ENTRY_MISSING_REVISION,
                        "svn protocol command 'get-deleted-rev': path '%.*s' was not deleted in "
                        "r%lld-%lld; NOTE: newer clients handle this case and do not report it as "
                        "an error",
                        STR(path), (long long)peg, (long long)end);
    TRY(wire_begin_success(s->conn));
    TRY(wire_number(s->conn, (uint64_t)rev));
    return wire_end_success(s->conn);
}

static struct err *send_locations(struct session *s, const struct str *paths, const revnum *revs,
                                  size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!paths[i].p)
            continue;
        TRY(wire_open(s->conn));
        TRY(wire_number(s->conn, (uint64_t)revs[i]));
        TRY(wire_str(s->conn, paths[i]));
        TRY(wire_close(s->conn));
    }
    return NULL;
}

struct err *cmd_get_locations(struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    revnum peg = wire_take_rev(args);
    struct wire_args list = wire_take_list(args);
    revnum *revs = arena_array(s->request, list.n + 1, sizeof *revs);
    size_t n = 0;
    AUTO_BUF(shown);
    while (!list.malformed && !wire_args_end(&list)) {
        revs[n] = wire_take_rev(&list);
        buf_printf(&shown, n ? " %lld" : "%lld", (long long)revs[n]);
        n++;
    }
    args->malformed |= list.malformed;
    TRY(wire_args_check(args));
    TRY(session_path(&path, s, relative));
    TRY(auth_trivial(s));
    session_log(s, "get-locations %.*s@%lld (%.*s)", STR(log_path(s, path)), (long long)peg,
                STR(buf_view(&shown)));
    struct str *paths = arena_array(s->request, n + 1, sizeof *paths);
    struct err *err = history_locations(paths, s->fs, path, peg, revs, n, s->reader, s->request);
    if (!err)
        err = send_locations(s, paths, revs, n);
    return finish_stream(s, err);
}

static struct err *send_segments(struct session *s, const struct location_segment *list, size_t n)
{
    struct conn *conn = s->conn;
    for (size_t i = 0; i < n; i++) {
        TRY(wire_open(conn));
        TRY(wire_number(conn, (uint64_t)list[i].from));
        TRY(wire_number(conn, (uint64_t)list[i].to));
        TRY(wire_opt_str(conn, list[i].path.p ? str_skip(list[i].path, 1) : list[i].path));
        TRY(wire_close(conn));
    }
    return NULL;
}

static struct err *segment_range_error(const struct session *s, bool is_end)
{
    struct err *err = err_make(E_FS_NO_SUCH_REVISION,
                               "Get-location-segments %s revision must not be younger than %s "
                               "revision",
                               is_end ? "end" : "start", is_end ? "start" : "peg");
    session_log_err(s, err);
    return err;
}

struct err *cmd_get_location_segments(struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    revnum peg = wire_take_opt_rev(args), start = wire_take_opt_rev(args),
           end = wire_take_opt_rev(args);
    TRY(wire_args_check(args));
    TRY(session_path(&path, s, relative));
    TRY(auth_trivial(s));
    session_log(s, "get-location-segments %.*s@%lld r%lld:%lld", STR(log_path(s, path)),
                (long long)peg, (long long)start, (long long)end);
    struct err *err = session_rev(&peg, s);
    if (!err)
        err = session_rev(&start, s);
    if (end == REV_NONE)
        end = 0;
    if (!err && (end > start || start > peg))
        err = segment_range_error(s, end > start);
    struct location_segment *list;
    size_t n;
    if (!err)
        err = history_segments(&list, &n, s->fs, path, peg, start, end, s->reader, s->request);
    if (!err)
        err = send_segments(s, list, n);
    return finish_stream(s, err);
}

static struct err *send_file_rev(struct session *s, struct file_revs *cursor,
                                 const struct file_rev *entry)
{
    struct conn *conn = s->conn;
    TRY(wire_open(conn));
    TRY(wire_str(conn, entry->path));
    TRY(wire_number(conn, (uint64_t)entry->rev));
    TRY(wire_props(conn, entry->revprops ? entry->revprops->list : NULL,
                   entry->revprops ? entry->revprops->n : 0));
    TRY(wire_open(conn));
    for (size_t i = 0; i < entry->prop_change_count; i++) {
        TRY(wire_open(conn));
        TRY(wire_str(conn, entry->prop_changes[i].name));
        TRY(wire_opt_str(conn, entry->prop_changes[i].value));
        TRY(wire_close(conn));
    }
    TRY(wire_close(conn));
    TRY(wire_bool(conn, entry->merged));
    TRY(wire_close(conn));
    while (entry->has_delta) {
        struct str piece;
        TRY(file_revs_delta(&piece, cursor, s->svndiff_version, s->service->compression));
        if (!piece.n)
            break;
        TRY(wire_str(conn, piece));
    }
    return wire_str(conn, S(""));
}

static struct err *send_file_revs(struct session *s, struct file_revs *cursor)
{
    for (;;) {
        struct file_rev entry;
        bool more;
        TRY(file_revs_next(&more, &entry, cursor));
        if (!more)
            return NULL;
        TRY(send_file_rev(s, cursor, &entry));
    }
}

struct err *cmd_get_file_revs(struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    revnum start = wire_take_opt_rev(args), end = wire_take_opt_rev(args);
    bool merged = wire_take_bool_tail(args, false);
    TRY(wire_args_check(args));
    TRY(session_path(&path, s, relative));
    TRY(auth_trivial(s));
    struct err *err = session_rev(&start, s);
    if (!err)
        err = session_rev(&end, s);
    session_log(s, "get-file-revs %.*s r%lld:%lld%s", STR(log_path(s, path)), (long long)start,
                (long long)end, merged ? " include-merged-revisions" : "");
    struct file_revs *cursor;
    if (!err)
        err = file_revs_open(&cursor, s->fs, path, start, end, merged, s->reader);
    if (!err) {
        err = send_file_revs(s, cursor);
        file_revs_close(cursor);
    }
    return finish_stream(s, err);
}
