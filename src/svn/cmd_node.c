/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_node.c - commands about one node of one revision, and what lies below it. */
#include "base/buf.h"
#include "base/num.h"
#include "base/path.h"
#include "repo/history/mergeinfo.h"
#include "repo/tree/depth.h"
#include "svn/auth.h"
#include "svn/session_int.h"

enum { FILE_PIECE = 64 << 10 };

/* The properties of a node as get-file and get-dir give them: the entry's own facts first. */
static struct err *send_node_props(struct session *s, const struct tree *tree,
                                   const struct node *node)
{
    struct conn *conn = s->conn;
    struct dirent_info info;
    const struct prop *list;
    size_t n;
    TRY(dirent_info(&info, tree, node, DIRENT_CREATED_REV | DIRENT_TIME | DIRENT_AUTHOR, NULL,
                    s->request));
    TRY(node_props(&list, &n, tree, node, s->request));
    struct prop *all = arena_array(s->request, n + 4, sizeof *all);
    size_t count = 0;
    all[count++] = (struct prop){S("svn:entry:committed-rev"),
                                 arena_printf(s->request, "%lld", (long long)info.created_rev)};
    if (info.date.p)
        all[count++] = (struct prop){S("svn:entry:committed-date"), info.date};
    if (info.author.p)
        all[count++] = (struct prop){S("svn:entry:last-author"), info.author};
    all[count++] = (struct prop){S("svn:entry:uuid"), str_of(s->fs->uuid)};
    if (n)
        memcpy(all + count, list, n * sizeof *list);
    return wire_props(conn, all, count + n);
}

static struct err *send_iprops(struct session *s, const struct tree *tree, struct str path)
{
    struct inherited *list;
    size_t n;
    TRY(inherited_props(&list, &n, tree, path, s->reader, s->request));
    TRY(wire_open(s->conn));
    for (size_t i = 0; i < n; i++) {
        TRY(wire_open(s->conn));
        TRY(wire_str(s->conn, str_skip(list[i].path, 1)));
        TRY(wire_props(s->conn, list[i].list, list[i].n));
        TRY(wire_close(s->conn));
    }
    return wire_close(s->conn);
}

static struct err *send_text(struct session *s, const struct tree *tree, const struct node *node)
{
    struct reader *reader;
    struct err *err = node_text(&reader, tree, node);
    if (!err) {
        char *piece = arena_alloc(s->request, FILE_PIECE);
        size_t got = 0;
        do {
            err = reader_full(reader, piece, FILE_PIECE, &got);
            if (!err && got)
                err = wire_str(s->conn, str_make(piece, got));
        } while (!err && got == FILE_PIECE);
        reader_close(reader);
    }
    if (is_fatal(err))
        return err;
    TRY(wire_str(s->conn, S("")));
    if (err) {
        err = session_fault(s, err);
        struct err *sent = wire_failure(s->conn, err);
        err_free(err);
        return sent;
    }
    return wire_success_empty(s->conn);
}

/* ( field... ), or no such list: all. */
static int take_dirent_fields(struct wire_args *args)
{
    static const struct {
        struct str word;
        int field;
    } words[] = {{S("kind"), DIRENT_KIND},           {S("size"), DIRENT_SIZE},
                 {S("has-props"), DIRENT_HAS_PROPS}, {S("created-rev"), DIRENT_CREATED_REV},
                 {S("time"), DIRENT_TIME},           {S("last-author"), DIRENT_AUTHOR}};
    if (wire_args_end(args))
        return DIRENT_ALL;
    struct wire_args list = wire_take_list(args);
    int fields = 0;
    while (!list.malformed && !wire_args_end(&list)) {
        struct str word = wire_take_word(&list);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (str_eq(words[i].word, word))
                fields |= words[i].field;
    }
    args->malformed |= list.malformed;
    return fields;
}

/* What get-file and get-dir are asked for. */
struct get {
    struct str path;
    revnum rev;
    bool want_props, want_content, want_iprops;
    int fields; /* of a folder's entries */
    struct tree tree;
    struct node node;
};

/* The start that both share: parameters, right, revision, log and tree. */
static struct err *take_get(struct get *get, const char *command, bool has_fields,
                            struct session *s, struct wire_args *args)
{
    const int of_revision = DIRENT_CREATED_REV | DIRENT_TIME | DIRENT_AUTHOR;
    struct str relative = wire_take_str(args);
    get->rev = wire_take_opt_rev(args);
    get->want_props = wire_take_bool(args);
    get->want_content = wire_take_bool(args);
    get->fields = has_fields ? take_dirent_fields(args) : 0;
    if (get->fields & of_revision) /* one of them brings the others */
        get->fields |= of_revision;
    get->want_iprops = wire_take_bool_tail(args, false);
    TRY(wire_args_check(args));
    TRY(session_path(&get->path, s, relative));
    TRY(auth_require(s, ACCESS_LEVEL_READ, get->path, false));
    TRY(session_rev(&get->rev, s));
    session_log(s, "%s %.*s r%lld%s%s", command, STR(log_path(s, get->path)), (long long)get->rev,
                get->want_content ? " text" : "", get->want_props ? " props" : "");
    return tree_of_rev(&get->tree, s->fs, get->rev);
}

static struct err *send_get_props(struct session *s, const struct get *get)
{
    return get->want_props ? send_node_props(s, &get->tree, &get->node)
                           : wire_raw(s->conn, S("( ) "));
}

struct err *cmd_get_file(struct session *s, struct wire_args *args)
{
    struct get get;
    TRY(take_get(&get, "get-file", false, s, args));
    TRY(tree_node(&get.node, &get.tree, get.path, s->request));
    if (get.node.noderev->kind != NODE_FILE)
        return err_make(E_FS_NOT_FILE, "Attempted to get checksum of a *non*-file node");
    TRY(wire_begin_success(s->conn));
    TRY(wire_opt_str(s->conn, noderev_md5_hex(get.node.noderev, s->request)));
    TRY(wire_number(s->conn, (uint64_t)get.rev));
    TRY(send_get_props(s, &get));
    if (get.want_iprops)
        TRY(send_iprops(s, &get.tree, get.path));
    TRY(wire_end_success(s->conn));
    return get.want_content ? send_text(s, &get.tree, &get.node) : NULL;
}

/* The date of an entry. Clients take one for granted: where the revision has none, it is the epoch.
 */
static struct err *send_date(struct conn *conn, struct str date)
{
    return wire_opt_str(conn, date.p ? date : S("1970-01-01T00:00:00.000000Z"));
}

/* get-dir's form of an entry: what was not asked for has a neutral value. */
static struct err *send_dirent(struct session *s, struct str name, const struct dirent_info *info,
                               int fields)
{
    struct conn *conn = s->conn;
    TRY(wire_open(conn));
    TRY(wire_str(conn, name));
    TRY(wire_word(conn, node_kind_word(fields & DIRENT_KIND ? info->kind : NODE_NONE)));
    TRY(wire_number(conn, fields & DIRENT_SIZE ? info->size : 0));
    TRY(wire_bool(conn, fields & DIRENT_HAS_PROPS && info->has_props));
    TRY(wire_number(conn, fields & DIRENT_CREATED_REV ? (uint64_t)info->created_rev : 0));
    TRY(send_date(conn, fields & DIRENT_TIME ? info->date : (struct str){0}));
    TRY(wire_opt_str(conn, fields & DIRENT_AUTHOR ? info->author : (struct str){0}));
    return wire_close(conn);
}

static struct err *send_entries(struct session *s, const struct tree *tree, const struct node *dir,
                                int fields)
{
    const struct dirent_fs *list;
    size_t n;
    struct revprop_view *view = revprop_view_new(s->fs, s->request);
    TRY(node_entries(&list, &n, tree, dir, s->request));
    for (size_t i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(s->request);
        struct node child;
        struct dirent_info info = {0};
        TRY(tree_child(&child, tree, dir, &list[i], s->request));
        if (principal_may(s->reader, child.path, ACCESS_READ, false)) {
            TRY(dirent_info(&info, tree, &child, fields, view, s->request));
            TRY(send_dirent(s, list[i].name, &info, fields));
        }
        arena_rewind(s->request, mark);
    }
    return NULL;
}

struct err *cmd_get_dir(struct session *s, struct wire_args *args)
{
    struct get get;
    TRY(take_get(&get, "get-dir", true, s, args));
    if (get.want_props || get.want_content) /* nothing else is asked of the node itself */
        TRY(tree_node(&get.node, &get.tree, get.path, s->request));
    if (get.want_content && get.node.noderev->kind != NODE_DIR)
        return err_make(E_FS_NOT_DIRECTORY, "Can't get entries of non-directory");
    TRY(wire_begin_success(s->conn));
    TRY(wire_number(s->conn, (uint64_t)get.rev));
    TRY(send_get_props(s, &get));
    TRY(wire_open(s->conn));
    if (get.want_content)
        TRY(send_entries(s, &get.tree, &get.node, get.fields));
    TRY(wire_close(s->conn));
    if (get.want_iprops)
        TRY(send_iprops(s, &get.tree, get.path));
    return wire_end_success(s->conn);
}

/* The start that check-path and stat share: the node, where there is one. */
static struct err *take_node(struct tree *tree, struct node *node, bool *found, const char *command,
                             struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    revnum rev = wire_take_opt_rev(args);
    TRY(wire_args_check(args));
    TRY(session_path(&path, s, relative));
    TRY(auth_require(s, ACCESS_LEVEL_READ, path, false));
    TRY(session_rev(&rev, s));
    session_log(s, "%s %.*s@%lld", command, STR(log_path(s, path)), (long long)rev);
    TRY(tree_of_rev(tree, s->fs, rev));
    return tree_find(node, found, tree, path, s->request);
}

struct err *cmd_check_path(struct session *s, struct wire_args *args)
{
    struct tree tree;
    struct node node;
    bool found;
    TRY(take_node(&tree, &node, &found, "check-path", s, args));
    TRY(wire_begin_success(s->conn));
    TRY(wire_word(s->conn, node_kind_word(found ? node.noderev->kind : NODE_NONE)));
    return wire_end_success(s->conn);
}

struct err *cmd_stat(struct session *s, struct wire_args *args)
{
    struct tree tree;
    struct node node;
    bool found;
    TRY(take_node(&tree, &node, &found, "stat", s, args));
    struct dirent_info info;
    if (found)
        TRY(dirent_info(&info, &tree, &node, DIRENT_ALL, NULL, s->request));
    TRY(wire_begin_success(s->conn));
    TRY(wire_open(s->conn));
    if (found) {
        TRY(wire_open(s->conn));
        TRY(wire_word(s->conn, node_kind_word(info.kind)));
        TRY(wire_number(s->conn, info.kind == NODE_FILE ? info.size : UINT64_MAX));
        TRY(wire_bool(s->conn, info.has_props));
        TRY(wire_number(s->conn, (uint64_t)info.created_rev));
        TRY(send_date(s->conn, info.date));
        TRY(wire_opt_str(s->conn, info.author));
        TRY(wire_close(s->conn));
    }
    TRY(wire_close(s->conn));
    return wire_end_success(s->conn);
}

/* list's form of an entry: what was not asked for is an empty list. */
static struct err *send_listed(struct session *s, const struct dirent_info *info, int fields)
{
    struct conn *conn = s->conn;
    const struct str nothing = {0};
    TRY(wire_open(conn));
    TRY(wire_str(conn, info->path));
    TRY(wire_word(conn, node_kind_word(fields & DIRENT_KIND ? info->kind : NODE_UNKNOWN)));
    if (!(fields & ~DIRENT_KIND))
        return wire_close(conn); /* what is all empty may be left out */
    TRY(wire_open(conn));
    if (fields & DIRENT_SIZE)
        TRY(wire_number(conn, info->kind == NODE_FILE ? info->size : UINT64_MAX));
    TRY(wire_raw(conn, S(") ( ")));
    if (fields & DIRENT_HAS_PROPS)
        TRY(wire_bool(conn, info->has_props));
    TRY(wire_close(conn));
    TRY(wire_opt_rev(conn, fields & DIRENT_CREATED_REV ? info->created_rev : REV_NONE));
    TRY(fields & DIRENT_TIME ? send_date(conn, info->date) : wire_opt_str(conn, nothing));
    TRY(wire_opt_str(conn, fields & DIRENT_AUTHOR ? info->author : nothing));
    return wire_close(conn);
}

static struct err *send_list(struct session *s, struct list_cursor *cursor, int fields)
{
    for (;;) {
        struct dirent_info info;
        bool more;
        TRY(list_next(&more, &info, cursor));
        if (!more)
            return NULL;
        TRY(send_listed(s, &info, fields));
    }
}

/* As they are: nothing is encoded in them. */
static struct str shown_patterns(const struct session *s, const struct str *patterns, size_t n)
{
    AUTO_BUF(line);
    for (size_t i = 0; i < n; i++)
        buf_printf(&line, " %.*s", STR(patterns[i]));
    return arena_str(s->request, buf_view(&line));
}

struct err *cmd_list(struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    revnum rev = wire_take_opt_rev(args);
    struct str word = wire_take_word(args);
    int fields = take_dirent_fields(args);
    size_t pattern_count;
    bool any = wire_args_end(args);
    struct str *patterns = wire_take_strs(&pattern_count, args, s->request);
    TRY(wire_args_check(args));
    enum depth depth = depth_parse(word);
    TRY(session_path(&path, s, relative));
    TRY(auth_require(s, ACCESS_LEVEL_READ, path, false));
    TRY(session_rev(&rev, s));
    session_log(s, "list %.*s r%lld depth=%.*s%.*s", STR(log_path(s, path)), (long long)rev,
                STR(depth_word(depth)),
                STR(any ? S(" <ANY>") : shown_patterns(s, patterns, pattern_count)));
    struct tree tree;
    struct list_cursor *cursor;
    TRY(tree_of_rev(&tree, s->fs, rev));
    if (depth == DEPTH_UNKNOWN || depth == DEPTH_EXCLUDE)
        return finish_stream(
            s, err_make(E_REPOS_BAD_ARGS, "Invalid depth '%.*s' in list", STR(depth_word(depth))));
    struct err *err = list_open(&cursor, &tree, path, depth, any ? NULL : patterns, pattern_count,
                                fields, s->reader);
    if (!err) {
        err = send_list(s, cursor, fields);
        list_close(cursor);
    }
    return finish_stream(s, err);
}

struct err *cmd_get_iprops(struct session *s, struct wire_args *args)
{
    struct str path, relative = wire_take_str(args);
    revnum rev = wire_take_opt_rev(args);
    TRY(wire_args_check(args));
    TRY(session_path(&path, s, relative));
    TRY(auth_require(s, ACCESS_LEVEL_READ, path, false));
    session_log(s, "get-inherited-props %.*s r%lld", STR(log_path(s, path)), (long long)rev);
    struct tree tree;
    struct node node;
    bool found;
    TRY(tree_of_rev(&tree, s->fs, rev));
    TRY(tree_find(&node, &found, &tree, path, s->request));
    if (!found)
        return err_make(E_FS_NOT_FOUND, "'%.*s' path not found", STR(path));
    TRY(wire_begin_success(s->conn));
    TRY(send_iprops(s, &tree, path));
    return wire_end_success(s->conn);
}

static enum mergeinfo_inherit inherit_of(struct str word)
{
    if (str_eq(word, S("inherited")))
        return MERGEINFO_INHERITED;
    return str_eq(word, S("nearest-ancestor")) ? MERGEINFO_NEAREST_ANCESTOR : MERGEINFO_EXPLICIT;
}

struct err *cmd_get_mergeinfo(struct session *s, struct wire_args *args)
{
    size_t n, found;
    struct str *paths = wire_take_strs(&n, args, s->request);
    revnum rev = wire_take_opt_rev(args);
    struct str word = wire_take_word(args);
    bool descendants = wire_take_bool(args);
    TRY(wire_args_check(args));
    enum mergeinfo_inherit inherit = inherit_of(word);
    for (size_t i = 0; i < n; i++)
        TRY(session_path(&paths[i], s, paths[i]));
    TRY(auth_trivial(s));
    TRY(session_rev(&rev, s));
    session_log(s, "get-mergeinfo (%.*s) %.*s%s", STR(str_skip(log_words(s, paths, n), n != 0)),
                STR(word), descendants ? " include-descendants" : "");
    struct tree tree;
    struct path_mergeinfo *list;
    TRY(tree_of_rev(&tree, s->fs, rev));
    TRY(mergeinfo_get(&list, &found, &tree, paths, n, inherit, descendants, s->reader, s->request));
    TRY(wire_begin_success(s->conn));
    TRY(wire_open(s->conn));
    for (size_t i = 0; i < found; i++) {
        struct str rest;
        /* The client knows paths below its session without a slash, and others by their whole path.
         */
        if (!path_skip_ancestor(&rest, s->path, list[i].path))
            rest = list[i].path;
        TRY(wire_open(s->conn));
        TRY(wire_str(s->conn, rest));
        TRY(wire_str(s->conn, list[i].value));
        TRY(wire_close(s->conn));
    }
    TRY(wire_close(s->conn));
    return wire_end_success(s->conn);
}
