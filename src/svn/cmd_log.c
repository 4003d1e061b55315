/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_log.c - the log command: entries of the log cursor, straight to the wire. */
#include "repo/history/log.h"

#include "base/path.h"
#include "svn/auth.h"
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

/* Entries are put together in TEXT, of which what has come to PIECE bytes is written. */
enum { PIECE = 32 << 10 };

static struct err *write_text(struct conn *conn, struct buf *text)
{
    struct err *err = conn_write_str(conn, buf_view(text));
    buf_clear(text);
    return err;
}

static void add_change(struct buf *text, const struct change *change)
{
    static const struct str actions[] = {[CHANGE_ADD] = S("A "),
                                         [CHANGE_DELETE] = S("D "),
                                         [CHANGE_REPLACE] = S("R "),
                                         [CHANGE_MODIFY] = S("M ")};
    enum { ROOM = 3 * WIRE_ROOM + sizeof "( A ( ) ( 7:unknown false false ) ) " };
    buf_reserve(text, change->path.n + change->copyfrom_path.n + ROOM);
    char *at = text->p + text->n;
    at = wire_put(at, S("( "));
    at = wire_put_str(at, change->path);
    at = wire_put(at, actions[change->action]);
    at = wire_put(at, S("( "));
    if (change->copyfrom_rev != REV_NONE) {
        at = wire_put_str(at, change->copyfrom_path);
        at = wire_put_number(at, (uint64_t)change->copyfrom_rev);
    }
    at = wire_put(at, S(") ( "));
    at = wire_put_str(at, node_kind_word(change->kind));
    at = wire_put_bool(at, change->text_changed);
    at = wire_put_bool(at, change->props_changed);
    at = wire_put(at, S(") ) "));
    text->n = (size_t)(at - text->p);
}

static void add_number(struct buf *text, uint64_t n)
{
    buf_reserve(text, WIRE_ROOM);
    text->n = (size_t)(wire_put_number(text->p + text->n, n) - text->p);
}

/* A large string is sent from where it is. */
static struct err *add_str(struct conn *conn, struct buf *text, struct str s)
{
    if (s.n >= PIECE) {
        TRY(write_text(conn, text));
        return wire_str(conn, s);
    }
    buf_reserve(text, s.n + WIRE_ROOM);
    text->n = (size_t)(wire_put_str(text->p + text->n, s) - text->p);
    return NULL;
}

static void add_bool(struct buf *text, bool value)
{
    buf_reserve(text, WIRE_ROOM);
    text->n = (size_t)(wire_put_bool(text->p + text->n, value) - text->p);
}

static struct err *add_own_prop(struct conn *conn, struct buf *text, bool wanted,
                                const struct props *props, struct str name)
{
    const struct str *value = wanted && props ? props_get(props, name) : NULL;
    buf_cstr(text, "( ");
    if (value)
        TRY(add_str(conn, text, *value));
    buf_cstr(text, ") ");
    return NULL;
}

static struct err *add_other_props(struct conn *conn, struct buf *text, const struct wanted *w,
                                   const struct props *props)
{
    size_t count = 0;
    bool any = props && (w->all || w->other_count);
    for (size_t i = 0; any && i < props->n; i++)
        count += is_among_others(w, props->list[i].name);
    add_number(text, count);
    buf_cstr(text, "( ");
    for (size_t i = 0; count && i < props->n; i++) {
        if (is_among_others(w, props->list[i].name)) {
            buf_cstr(text, "( ");
            TRY(add_str(conn, text, props->list[i].name));
            TRY(add_str(conn, text, props->list[i].value));
            buf_cstr(text, ") ");
        }
    }
    buf_cstr(text, ") ");
    return NULL;
}

static struct err *send_entry(struct conn *conn, struct buf *text, const struct wanted *w,
                              const struct log_entry *entry)
{
    bool end_of_group = entry->rev == REV_NONE;
    buf_cstr(text, "( ( ");
    for (size_t i = 0; i < entry->change_count; i++) {
        add_change(text, &entry->changes[i]);
        if (text->n >= PIECE)
            TRY(write_text(conn, text));
    }
    buf_cstr(text, ") ");
    add_number(text, end_of_group ? 0 : (uint64_t)entry->rev);
    TRY(add_own_prop(conn, text, w->author, entry->revprops, S("svn:author")));
    TRY(add_own_prop(conn, text, w->date, entry->revprops, S("svn:date")));
    TRY(add_own_prop(conn, text, w->message, entry->revprops, S("svn:log")));
    add_bool(text, entry->has_children);
    add_bool(text, end_of_group);
    TRY(add_other_props(conn, text, w, entry->revprops));
    add_bool(text, entry->subtractive);
    buf_cstr(text, ") ");
    return text->n >= PIECE ? write_text(conn, text) : NULL;
}

static struct err *send_log(struct session *s, const struct log_params *params,
                            const struct wanted *w)
{
    struct log_cursor *cursor;
    AUTO_BUF(text);
    TRY(log_cursor_open(&cursor, s->fs, params));
    struct err *err;
    for (;;) {
        struct log_entry entry;
        bool more;
        err = log_cursor_next(&more, &entry, cursor);
        if (err || !more)
            break;
        err = send_entry(s->conn, &text, w, &entry);
        if (err)
            break;
    }
    log_cursor_close(cursor);
    struct err *unsent = write_text(s->conn, &text); /* entries before an error are sent */
    if (err)
        err_free(unsent);
    return err ? err : unsent;
}

static void log_request(struct session *s, const struct log_params *params, const struct wanted *w)
{
    if (!s->service->log)
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
    struct log_params params = {.who = s->reader};
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
