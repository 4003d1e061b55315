/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_log.c - the log command: entries of the log cursor, straight to the wire. */
#include "repo/log.h"

#include "base/path.h"
#include "svn/session_int.h"

/* Which revision properties the client wants. Author, date and message have places of their own in
 * an entry. */
struct wanted {
    bool all, author, date, message;
    struct str *others;
    size_t other_count;
    struct str said; /* for the access log */
};

static void want(struct wanted *w, struct str name)
{
    if (str_eq(name, S("svn:author")))
        w->author = true;
    else if (str_eq(name, S("svn:date")))
        w->date = true;
    else if (str_eq(name, S("svn:log")))
        w->message = true;
    else
        w->others[w->other_count++] = name;
}

/* ? merged all-revprops | revprops ( name... ); old clients say nothing and want the three. */
static struct err *take_wanted(struct wanted *w, bool *merged, struct session *s,
                               struct wire_args *args)
{
    bool said = !wire_args_end(args);
    *merged = said && wire_take_bool(args);
    struct str word = said ? wire_take_word(args) : (struct str){0};
    args->malformed |= said && wire_args_end(args);
    size_t n;
    struct str *names = wire_take_strs(&n, args, s->request);
    *w = (struct wanted){0};
    if (!said || args->malformed || str_eq(word, S("all-revprops"))) {
        w->all = said;
        w->author = w->date = w->message = true;
        w->said = w->all ? S(" revprops=all") : S(" revprops=(svn:author svn:date svn:log)");
        return NULL;
    }
    if (!str_eq(word, S("revprops")))
        return err_make(E_RA_SVN_MALFORMED_DATA, "Unknown revprop word '%.*s' in log command",
                        STR(word));
    w->others = arena_array(s->request, n + 1, sizeof *w->others);
    for (size_t i = 0; i < n; i++)
        want(w, names[i]);
    if (n)
        w->said =
            arena_printf(s->request, " revprops=(%.*s)", STR(str_skip(log_words(s, names, n), 1)));
    return NULL;
}

static bool is_among_others(const struct wanted *w, struct str name)
{
    if (str_eq(name, S("svn:author")) || str_eq(name, S("svn:date")) || str_eq(name, S("svn:log")))
        return false;
    if (w->all)
        return true;
    for (size_t i = 0; i < w->other_count; i++)
        if (str_eq(w->others[i], name))
            return true;
    return false;
}

static struct err *send_change(struct conn *conn, const struct change *change)
{
    static const struct str actions[] = {[CHANGE_ADD] = S("A "),
                                         [CHANGE_DELETE] = S("D "),
                                         [CHANGE_REPLACE] = S("R "),
                                         [CHANGE_MODIFY] = S("M ")};
    TRY(wire_open(conn));
    TRY(wire_str(conn, change->path));
    TRY(wire_raw(conn, actions[change->action]));
    TRY(wire_open(conn));
    if (change->copyfrom_rev != REV_NONE) {
        TRY(wire_str(conn, change->copyfrom_path));
        TRY(wire_number(conn, (uint64_t)change->copyfrom_rev));
    }
    TRY(wire_raw(conn, S(") ( ")));
    TRY(wire_str(conn, node_kind_word(change->kind)));
    TRY(wire_bool(conn, change->text_changed));
    TRY(wire_bool(conn, change->props_changed));
    return wire_raw(conn, S(") ) "));
}

static struct err *send_own_prop(struct conn *conn, bool wanted, const struct props *props,
                                 struct str name)
{
    const struct str *value = wanted && props ? props_get(props, name) : NULL;
    return wire_opt_str(conn, value ? *value : (struct str){0});
}

static struct err *send_other_props(struct conn *conn, const struct wanted *w,
                                    const struct props *props)
{
    size_t count = 0;
    bool any = props && (w->all || w->other_count);
    for (size_t i = 0; any && i < props->n; i++)
        count += is_among_others(w, props->list[i].name);
    TRY(wire_number(conn, count));
    TRY(wire_open(conn));
    for (size_t i = 0; count && i < props->n; i++) {
        if (is_among_others(w, props->list[i].name)) {
            TRY(wire_open(conn));
            TRY(wire_str(conn, props->list[i].name));
            TRY(wire_str(conn, props->list[i].value));
            TRY(wire_close(conn));
        }
    }
    return wire_close(conn);
}

static struct err *send_entry(struct conn *conn, const struct wanted *w,
                              const struct log_entry *entry)
{
    bool end_of_group = entry->rev == REV_NONE;
    TRY(wire_raw(conn, S("( ( ")));
    for (size_t i = 0; i < entry->change_count; i++)
        TRY(send_change(conn, &entry->changes[i]));
    TRY(wire_close(conn));
    TRY(wire_number(conn, end_of_group ? 0 : (uint64_t)entry->rev));
    TRY(send_own_prop(conn, w->author, entry->revprops, S("svn:author")));
    TRY(send_own_prop(conn, w->date, entry->revprops, S("svn:date")));
    TRY(send_own_prop(conn, w->message, entry->revprops, S("svn:log")));
    TRY(wire_bool(conn, entry->has_children));
    TRY(wire_bool(conn, end_of_group));
    TRY(send_other_props(conn, w, entry->revprops));
    TRY(wire_bool(conn, entry->subtractive));
    return wire_close(conn);
}

static struct err *send_log(struct session *s, const struct log_params *params,
                            const struct wanted *w)
{
    struct log_cursor *cursor;
    TRY(log_cursor_open(&cursor, s->fs, params));
    struct err *err;
    for (;;) {
        struct log_entry entry;
        bool more;
        err = log_cursor_next(&more, &entry, cursor);
        if (err || !more)
            break;
        err = send_entry(s->conn, w, &entry);
        if (err)
            break;
    }
    log_cursor_close(cursor);
    return err;
}

static void log_request(struct session *s, const struct log_params *params, const struct wanted *w)
{
    if (!s->options->log)
        return;
    AUTO_BUF(line);
    buf_cstr(&line, "log (");
    buf_str(&line,
            str_skip(log_words(s, params->paths, params->path_count), params->path_count != 0));
    buf_printf(&line, ") r%lld:%lld", (long long)params->start, (long long)params->end);
    if (params->limit)
        buf_printf(&line, " limit=%lld", (long long)params->limit);
    buf_cstr(&line, params->changed_paths ? " discover-changed-paths" : "");
    buf_cstr(&line, params->strict ? " strict" : "");
    buf_cstr(&line, params->merged ? " include-merged-revisions" : "");
    buf_str(&line, w->said);
    session_log(s, "%.*s", STR(buf_view(&line)));
}

struct err *cmd_log(struct session *s, struct wire_args *args)
{
    struct log_params params = {.access = s->read_access};
    struct wanted wanted;
    struct str *paths = wire_take_strs(&params.path_count, args, s->request);
    params.start = wire_take_opt_rev(args);
    params.end = wire_take_opt_rev(args);
    params.changed_paths = wire_take_bool(args);
    params.strict = wire_take_bool(args);
    params.limit = wire_args_end(args) ? 0 : (int64_t)wire_take_number(args);
    TRY(take_wanted(&wanted, &params.merged, s, args));
    TRY(wire_args_check(args));
    if (params.limit < 0)
        params.limit = 0;
    for (size_t i = 0; i < params.path_count; i++)
        TRY(session_path(&paths[i], s, paths[i]));
    params.paths = paths;
    params.want_revprops =
        wanted.all || wanted.author || wanted.date || wanted.message || wanted.other_count;
    TRY(auth_trivial(s));
    log_request(s, &params, &wanted);
    struct err *err = session_rev(&params.start, s);
    if (!err)
        err = session_rev(&params.end, s);
    if (!err)
        err = send_log(s, &params, &wanted);
    return finish_stream(s, err);
}
