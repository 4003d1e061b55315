/* SPDX-License-Identifier: Apache-2.0 */
/* Answers questions about a repository with the cursors of src/repo, in the words of the svn://
 * protocol, so that they can be compared with a server's answers: cursors DB-FOLDER < questions.
 * One question a line, its words separated by tabs; one answer a line. See compare_cursors.py. */
#include "base/date.h"
#include "base/num.h"
#include "delta/svndiff.h"
#include "repo/access/authz.h"
#include "repo/history/file_revs.h"
#include "repo/history/history.h"
#include "repo/history/history_locations.h"
#include "repo/history/log.h"
#include "repo/history/mergeinfo.h"
#include "repo/tree/depth.h"
#include "repo/tree/list.h"
#include <stdio.h>
#include <stdlib.h>

enum { WORDS_MAX = 64 };

struct question {
    struct str word[WORDS_MAX];
    size_t n;
};

static struct fsfs *fs;
static struct str denied[8]; /* what nobody may read, with all below */
static size_t denied_count;
static struct arena *who_arena; /* of the view */

static const struct principal *reader(void)
{
    static struct principal who;
    static struct authz *authz;
    AUTO_BUF(rules);
    if (!denied_count)
        return NULL;
    shared_unref(authz);
    buf_cstr(&rules, "[/]\n* = r\n");
    for (size_t i = 0; i < denied_count; i++)
        buf_printf(&rules, "[%.*s]\n* =\n", STR(denied[i]));
    struct err *err = authz_parse(&authz, buf_view(&rules), NULL);
    if (err) {
        fprintf(stderr, "cursors: %s\n", err->text);
        exit(2);
    }
    who_arena = who_arena ? who_arena : arena_new();
    principal_set(&who, S(""), ACCESS_LEVEL_READ,
                  authz_view(authz, S(""), (struct str){0}, who_arena));
    return principal_to_read(&who);
}

static revnum number(const struct question *q, size_t i)
{
    int64_t n = 0;
    if (i >= q->n || !num_i64(&n, q->word[i])) {
        fprintf(stderr, "cursors: word %zu of '%.*s' is no number\n", i, STR(q->word[0]));
        exit(2);
    }
    return n;
}

static bool has_flag(const struct question *q, size_t i, char flag)
{
    return str_find(q->word[i], flag) != SIZE_MAX;
}

static void put_str(struct buf *out, struct str s)
{
    buf_printf(out, "%zu:", s.n);
    buf_str(out, s);
    buf_char(out, ' ');
}

static void put_optional(struct buf *out, struct str s)
{
    buf_cstr(out, "( ");
    if (s.p)
        put_str(out, s);
    buf_cstr(out, ") ");
}

static void put_props(struct buf *out, const struct prop *list, size_t n)
{
    buf_cstr(out, "( ");
    for (size_t i = 0; i < n; i++) {
        buf_cstr(out, "( ");
        put_str(out, list[i].name);
        put_str(out, list[i].value);
        buf_cstr(out, ") ");
    }
    buf_cstr(out, ") ");
}

static const char *truth(bool b)
{
    return b ? "true" : "false";
}

/* ---- log ---- */

static void put_change(struct buf *out, const struct change *change)
{
    buf_cstr(out, "( ");
    put_str(out, change->path);
    buf_printf(out, "%c ( ", "ADRM"[change->action]);
    if (change->copyfrom_rev != REV_NONE) {
        put_str(out, change->copyfrom_path);
        buf_printf(out, "%lld ", (long long)change->copyfrom_rev);
    }
    buf_cstr(out, ") ( ");
    put_str(out, node_kind_word(change->kind));
    buf_printf(out, "%s %s ) ) ", truth(change->text_changed), truth(change->props_changed));
}

static void put_revprop(struct buf *out, const struct props *props, struct str name)
{
    const struct str *value = props_get(props, name);
    put_optional(out, value ? *value : (struct str){0});
}

static struct err *answer_log(struct buf *out, const struct question *q, struct arena *arena)
{
    struct log_params params = {
        .start = number(q, 1),
        .end = number(q, 2),
        .limit = number(q, 3),
        .changed_paths = has_flag(q, 4, 'c'),
        .strict = has_flag(q, 4, 's'),
        .merged = has_flag(q, 4, 'm'),
        .want_revprops = true,
        .paths = &q->word[5],
        .path_count = q->n - 5,
        .who = reader(),
    };
    struct log_cursor *cursor;
    struct log_entry entry;
    bool more;
    TRY(log_cursor_open(&cursor, fs, &params));
    struct err *err;
    while (!(err = log_cursor_next(&more, &entry, cursor)) && more) {
        buf_cstr(out, "( ( ");
        for (size_t i = 0; i < entry.change_count; i++)
            put_change(out, &entry.changes[i]);
        buf_printf(out, ") %lld ", entry.rev == REV_NONE ? 0LL : (long long)entry.rev);
        put_revprop(out, entry.revprops, S("svn:author"));
        put_revprop(out, entry.revprops, S("svn:date"));
        put_revprop(out, entry.revprops, S("svn:log"));
        buf_printf(out, "%s %s 0 ( ) %s ) ", truth(entry.has_children),
                   truth(entry.rev == REV_NONE), truth(entry.subtractive));
    }
    log_cursor_close(cursor);
    return err;
}

/* ---- places ---- */

static struct err *answer_locations(struct buf *out, const struct question *q, struct arena *arena)
{
    revnum revs[WORDS_MAX];
    struct str paths[WORDS_MAX];
    size_t n = q->n - 3;
    for (size_t i = 0; i < n; i++)
        revs[i] = number(q, 3 + i);
    TRY(history_locations(paths, fs, q->word[1], number(q, 2), revs, n, reader(), arena));
    for (size_t i = 0; i < n; i++) {
        if (!paths[i].p)
            continue;
        buf_printf(out, "( %lld ", (long long)revs[i]);
        put_str(out, paths[i]);
        buf_cstr(out, ") ");
    }
    return NULL;
}

static struct err *answer_segments(struct buf *out, const struct question *q, struct arena *arena)
{
    struct location_segment *list;
    size_t n;
    TRY(history_segments(&list, &n, fs, q->word[1], number(q, 2), number(q, 3), number(q, 4),
                         reader(), arena));
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "( %lld %lld ", (long long)list[i].from, (long long)list[i].to);
        put_optional(out, list[i].path.p ? str_skip(list[i].path, 1) : list[i].path);
        buf_cstr(out, ") ");
    }
    return NULL;
}

static struct err *answer_deleted(struct buf *out, const struct question *q, struct arena *arena)
{
    revnum rev;
    TRY(history_deleted_rev(&rev, fs, q->word[1], number(q, 2), number(q, 3), arena));
    buf_printf(out, "( %lld ) ", (long long)rev);
    return NULL;
}

static struct err *answer_dated(struct buf *out, const struct question *q, struct arena *arena)
{
    int64_t us = 0;
    revnum rev;
    date_parse(&us, q->word[1]);
    TRY(history_dated_rev(&rev, fs, us));
    buf_printf(out, "( %lld ) ", (long long)rev);
    return NULL;
}

/* ---- mergeinfo, listings, inherited properties ---- */

static struct err *answer_mergeinfo(struct buf *out, const struct question *q, struct arena *arena)
{
    struct tree tree;
    struct path_mergeinfo *list;
    size_t n;
    enum mergeinfo_inherit inherit = has_flag(q, 2, 'e')   ? MERGEINFO_EXPLICIT
                                     : has_flag(q, 2, 'n') ? MERGEINFO_NEAREST_ANCESTOR
                                                           : MERGEINFO_INHERITED;
    TRY(tree_of_rev(&tree, fs, number(q, 1)));
    TRY(mergeinfo_get(&list, &n, &tree, &q->word[3], q->n - 3, inherit, has_flag(q, 2, 'd'),
                      reader(), arena));
    for (size_t i = 0; i < n; i++) {
        buf_cstr(out, "( ");
        put_str(out, list[i].path);
        put_str(out, list[i].value);
        buf_cstr(out, ") ");
    }
    return NULL;
}

static struct err *answer_list(struct buf *out, const struct question *q, struct arena *arena)
{
    struct tree tree;
    struct list_cursor *cursor;
    struct dirent_info entry;
    enum depth depth = depth_parse(q->word[3]);
    bool more;
    TRY(tree_of_rev(&tree, fs, number(q, 2)));
    TRY(list_open(&cursor, &tree, q->word[1], depth, q->n > 4 ? &q->word[4] : NULL, q->n - 4,
                  DIRENT_ALL, reader()));
    struct err *err;
    while (!(err = list_next(&more, &entry, cursor)) && more) {
        buf_cstr(out, "( ");
        put_str(out, entry.path);
        unsigned long long size = entry.kind == NODE_DIR ? UINT64_MAX : entry.size;
        buf_printf(out, "%s ( %llu ) ( %s ) ( %lld ) ", entry.kind == NODE_DIR ? "dir" : "file",
                   size, truth(entry.has_props), (long long)entry.created_rev);
        put_optional(out, entry.date);
        put_optional(out, entry.author);
        buf_cstr(out, ") ");
    }
    list_close(cursor);
    return err;
}

static struct err *answer_iprops(struct buf *out, const struct question *q, struct arena *arena)
{
    struct tree tree;
    struct node node;
    bool found;
    struct inherited *list;
    size_t n;
    TRY(tree_of_rev(&tree, fs, number(q, 2)));
    TRY(tree_find(&node, &found, &tree, q->word[1], arena));
    if (!found)
        return err_make(E_FS_NOT_FOUND, "'%.*s' path not found", STR(q->word[1]));
    TRY(inherited_props(&list, &n, &tree, q->word[1], reader(), arena));
    for (size_t i = 0; i < n; i++) {
        buf_cstr(out, "( ");
        put_str(out, str_skip(list[i].path, 1));
        put_props(out, list[i].list, list[i].n);
        buf_cstr(out, ") ");
    }
    return NULL;
}

/* ---- blame ---- */

/* Apply the entry's delta to TEXT, and compare the result with the file. */
static struct err *check_text(struct buf *text, struct file_revs *cursor,
                              const struct file_rev *entry, struct arena *arena)
{
    AUTO_BUF(delta);
    AUTO_BUF(real);
    AUTO_BUF(result);
    struct str piece;
    do {
        TRY(file_revs_delta(&piece, cursor, 1, 5));
        buf_str(&delta, piece);
    } while (piece.n);
    struct tree tree;
    struct node node;
    struct reader *reader;
    TRY(tree_of_rev(&tree, fs, entry->rev));
    TRY(tree_node(&node, &tree, entry->path, arena));
    TRY(node_text(&reader, &tree, &node));
    struct err *err = reader_all(&real, reader, 1 << 26);
    reader_close(reader);
    TRY(err);
    if (entry->has_delta) {
        TRY(svndiff_apply(&result, buf_view(&delta), buf_view(text), real.n));
        buf_clear(text);
        buf_str(text, buf_view(&result));
    }
    if (!str_eq(buf_view(text), buf_view(&real)))
        return err_make(E_CHECKSUM_MISMATCH, "the deltas up to '%.*s'@%lld make another text",
                        STR(entry->path), (long long)entry->rev);
    return NULL;
}

static struct err *answer_file_revs(struct buf *out, const struct question *q, struct arena *arena)
{
    struct file_revs *cursor;
    struct file_rev entry;
    bool more;
    AUTO_BUF(text);
    TRY(file_revs_open(&cursor, fs, q->word[1], number(q, 2), number(q, 3), has_flag(q, 4, 'm'),
                       reader()));
    struct err *err;
    while (!(err = file_revs_next(&more, &entry, cursor)) && more) {
        buf_cstr(out, "( ");
        put_str(out, entry.path);
        buf_printf(out, "%lld ", (long long)entry.rev);
        put_props(out, entry.revprops->list, entry.revprops->n);
        buf_cstr(out, "( ");
        for (size_t i = 0; i < entry.prop_change_count; i++) {
            buf_cstr(out, "( ");
            put_str(out, entry.prop_changes[i].name);
            put_optional(out, entry.prop_changes[i].value);
            buf_cstr(out, ") ");
        }
        buf_printf(out, ") %s ) %s ", truth(entry.merged), truth(entry.has_delta));
        if ((err = check_text(&text, cursor, &entry, arena)))
            break;
    }
    file_revs_close(cursor);
    return err;
}

/* ---- questions ---- */

static const struct {
    struct str name;
    size_t words;
    struct err *(*answer)(struct buf *out, const struct question *q, struct arena *arena);
} questions[] = {
    {{"log", 3}, 5, answer_log},
    {{"locations", 9}, 3, answer_locations},
    {{"segments", 8}, 5, answer_segments},
    {{"deleted", 7}, 4, answer_deleted},
    {{"dated", 5}, 2, answer_dated},
    {{"mergeinfo", 9}, 3, answer_mergeinfo},
    {{"list", 4}, 4, answer_list},
    {{"iprops", 6}, 3, answer_iprops},
    {{"filerevs", 8}, 5, answer_file_revs},
};

static void put_failure(struct buf *out, const struct err *err)
{
    buf_cstr(out, "( failure ");
    for (; err; err = err->cause) {
        buf_printf(out, "( %d ", err->code);
        put_str(out, str_of(err->text));
        buf_cstr(out, ") ");
    }
    buf_cstr(out, ") ");
}

static void answer(struct buf *out, const struct question *q)
{
    if (str_eq(q->word[0], S("deny"))) {
        for (denied_count = 0; denied_count + 1 < q->n; denied_count++)
            denied[denied_count] =
                str_of(strndup(q->word[denied_count + 1].p, q->word[denied_count + 1].n));
        return;
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (!str_eq(q->word[0], questions[i].name) || q->n < questions[i].words)
            continue;
        AUTO_ARENA(arena);
        struct err *err = questions[i].answer(out, q, arena);
        if (err)
            put_failure(out, err);
        err_free(err);
        return;
    }
    fprintf(stderr, "cursors: what is '%.*s'?\n", STR(q->word[0]));
    exit(2);
}

int main(int argc, char **argv)
{
    struct err *err = argc == 2 ? fsfs_open(&fs, argv[1], &(struct fsfs_options){0})
                                : err_make(E_INCORRECT_PARAMS, "usage: cursors DB-FOLDER");
    if (err) {
        err_print(err, argv[0]);
        return 2;
    }
    char *line = NULL;
    size_t cap = 0;
    ssize_t length;
    while ((length = getline(&line, &cap, stdin)) > 0) {
        struct question q = {0};
        line[--length] = '\0';
        for (char *word = line, *end; word && q.n < WORDS_MAX; word = end) {
            end = strchr(word, '\t');
            if (end)
                *end++ = '\0';
            q.word[q.n++] = str_of(word);
        }
        AUTO_BUF(out);
        answer(&out, &q);
        printf("%zu\n", out.n);
        if (out.n)
            fwrite(out.p, 1, out.n, stdout);
        fflush(stdout);
    }
    free(line);
    fsfs_close(fs);
    return 0;
}
