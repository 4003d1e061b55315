/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/check/verify_names.h"
#include "base/path.h"
#include "fsfs/format/changes.h"
#include "fsfs/read/changes_get.h"
#include "fsfs/read/noderev_get.h"
#include "repo/history/mergeinfo.h"
#include <stdlib.h>
#include <utf8proc.h>

enum { WARNING_NAME = 3, WARNING_MERGEINFO = 4 };

struct check {
    const struct verify_params *params;
    struct tree tree;
    struct str *open; /* directories to be looked at when the walk leaves them, outermost first */
    size_t n;
    struct arena *arena;
};

/* ---- names ---- */

/* In normal form C; what is not UTF-8 stays as it is. */
static struct str normalized(struct str name, struct arena *arena)
{
    utf8proc_uint8_t *made = NULL;
    const utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)name.p, (utf8proc_ssize_t)name.n, &made,
                     UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (n < 0)
        return name;
    const struct str copy = arena_str(arena, str_make((const char *)made, (size_t)n));
    free(made);
    return copy;
}

/* A name as somebody wrote it. */
struct spelling {
    struct str normalized;
    bool fresh; /* it may have come with this revision */
};

static int by_normalized(const void *a, const void *b)
{
    return str_cmp(((const struct spelling *)a)->normalized,
                   ((const struct spelling *)b)->normalized);
}

static struct err *warn(struct check *check, unsigned warning, struct str text)
{
    const struct verify_notice notice = {
        .event = VERIFY_WARNING, .rev = check->tree.rev, .warning = warning, .text = text};
    return check->params->notify(check->params->arg, &notice);
}

/* Warn, once, of each name of which NAMES has several spellings, a fresh one among them. PATH is
 * where they stand. */
static struct err *warn_of_doubles(struct check *check, struct spelling *names, size_t n,
                                   unsigned warning, struct str path)
{
    struct arena *arena = check->arena;
    qsort(names, n, sizeof *names, by_normalized);
    for (size_t i = 0, end; i < n; i = end) {
        const struct str name = names[i].normalized;
        bool fresh = false;
        for (end = i; end < n && str_eq(names[end].normalized, name); end++)
            fresh |= names[end].fresh;
        if (end - i < 2 || !fresh)
            continue;
        struct str text;
        if (warning == WARNING_NAME)
            text = arena_printf(arena, "Duplicate representation of path '%.*s'",
                                STR(normalized(path_join(path, name, arena), arena)));
        else
            text = arena_printf(
                arena,
                "Duplicate representation of path '%.*s' in svn:mergeinfo property of '%.*s'",
                STR(name), STR(path));
        TRY(warn(check, warning, text));
    }
    return NULL;
}

/* ---- directories ---- */

static struct err *dir_check(struct check *check, struct str path)
{
    struct node node;
    const struct dirent_fs *list;
    size_t n;
    TRY(tree_node(&node, &check->tree, path, check->arena));
    TRY(node_entries(&list, &n, &check->tree, &node, check->arena));
    struct spelling *names = arena_array(check->arena, n, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = (struct spelling){normalized(list[i].name, check->arena), .fresh = true};
    return warn_of_doubles(check, names, n, WARNING_NAME, str_skip(path, 1));
}

/* Leave the open directories that PATH is not in. */
static struct err *leave(struct check *check, struct str path)
{
    struct str rest;
    while (check->n && !path_skip_ancestor(&rest, check->open[check->n - 1], path))
        TRY(dir_check(check, check->open[--check->n]));
    return NULL;
}

/* ---- mergeinfo ---- */

/* What NR has; nothing where it has none (FOUND). */
static struct err *mergeinfo_read(struct mergeinfo *out, bool *found, struct check *check,
                                  const struct noderev *nr)
{
    const struct props *props;
    TRY(noderev_props(&props, check->tree.fs, nr, check->arena));
    const struct str *value = props_get(props, S("svn:mergeinfo"));
    *out = (struct mergeinfo){0};
    *found = value != NULL;
    return value ? mergeinfo_parse(out, *value, check->arena) : NULL;
}

/* Paths of the mergeinfo at PATH, and those that its predecessor's names: one that is new must not
 * be another spelling of any of them. */
static struct err *mergeinfo_check(struct check *check, struct str path)
{
    struct node node;
    struct mergeinfo now, before = {0};
    bool found;
    TRY(tree_node(&node, &check->tree, path, check->arena));
    TRY(mergeinfo_read(&now, &found, check, node.noderev));
    if (found && node.noderev->has_pred) {
        const struct noderev *pred;
        TRY(noderev_get(&pred, check->tree.fs, &node.noderev->pred, check->arena));
        TRY(mergeinfo_read(&before, &found, check, pred));
    }
    struct spelling *names = arena_array(check->arena, now.n + before.n, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < before.n; i++)
        names[n++] = (struct spelling){normalized(before.list[i].path, check->arena), false};
    for (size_t i = 0, old = 0; i < now.n; i++) {
        const struct str source = now.list[i].path;
        while (old < before.n && str_cmp(before.list[old].path, source) < 0)
            old++;
        if (old == before.n || !str_eq(before.list[old].path, source))
            names[n++] = (struct spelling){normalized(source, check->arena), true};
    }
    return warn_of_doubles(check, names, n, WARNING_MERGEINFO, str_skip(path, 1));
}

/* ---- revisions ---- */

static int by_path(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return path_cmp(x->path, y->path);
}

static struct err *change_check(struct check *check, const struct change *change)
{
    TRY(leave(check, change->path));
    const struct str parent = path_dirname(change->path);
    if (change->action == CHANGE_ADD && change->path.n > 1 &&
        (check->n == 0 || !str_eq(check->open[check->n - 1], parent)))
        check->open[check->n++] = parent;
    return change->props_changed && change->action != CHANGE_DELETE
               ? mergeinfo_check(check, change->path)
               : NULL;
}

struct err *verify_names(struct fsfs *fs, revnum rev, const struct verify_params *params)
{
    AUTO_ARENA(arena);
    const struct changes *changes;
    struct check check = {.params = params, .arena = arena};
    TRY(tree_of_rev(&check.tree, fs, rev));
    TRY(changes_get(&changes, fs, rev, arena));
    struct change *list = arena_array(arena, changes->n, sizeof *list);
    if (changes->n)
        memcpy(list, changes->list, changes->n * sizeof *list);
    qsort(list, changes->n, sizeof *list, by_path);
    check.open = arena_array(arena, changes->n, sizeof *check.open);
    for (size_t i = 0; i < changes->n; i++)
        TRY(change_check(&check, &list[i]));
    while (check.n)
        TRY(dir_check(&check, check.open[--check.n]));
    return NULL;
}
