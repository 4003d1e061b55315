/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/verify_names.h"
#include "base/path.h"
#include "fsfs/changes.h"
#include "repo/tree.h"
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

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct err *warn(struct check *check, unsigned warning, struct str text)
{
    const struct verify_notice notice = {
        .event = VERIFY_WARNING, .rev = check->tree.rev, .warning = warning, .text = text};
    return check->params->notify(check->params->arg, &notice);
}

/* Call for each of the N normalised NAMES that is there twice, once. */
static struct err *warn_of_doubles(struct check *check, struct str *names, size_t n,
                                   unsigned warning, struct str path)
{
    qsort(names, n, sizeof *names, by_text);
    for (size_t i = 1; i < n; i++) {
        if (!str_eq(names[i - 1], names[i]) || (i > 1 && str_eq(names[i - 2], names[i])))
            continue;
        struct str text;
        if (warning == WARNING_NAME)
            text = arena_printf(
                check->arena, "Duplicate representation of path '%.*s'",
                STR(normalized(path_join(path, names[i], check->arena), check->arena)));
        else
            text = arena_printf(
                check->arena,
                "Duplicate representation of path '%.*s' in svn:mergeinfo property of '%.*s'",
                STR(names[i]), STR(path));
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
    struct str *names = arena_array(check->arena, n, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = normalized(list[i].name, check->arena);
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

static struct err *mergeinfo_get(struct str *value, bool *found, struct check *check,
                                 const struct noderev *nr)
{
    const struct props *props;
    TRY(noderev_props(&props, check->tree.fs, nr, check->arena));
    const struct str *at = props_get(props, S("svn:mergeinfo"));
    *found = at != NULL;
    if (at)
        *value = *at;
    return NULL;
}

static struct err *mergeinfo_check(struct check *check, struct str path)
{
    struct node node;
    struct str value, old, line;
    bool found, had = false;
    size_t pos = 0, n = 0;
    TRY(tree_node(&node, &check->tree, path, check->arena));
    TRY(mergeinfo_get(&value, &found, check, node.noderev));
    if (found && node.noderev->has_pred) {
        const struct noderev *pred;
        TRY(noderev_get(&pred, check->tree.fs, &node.noderev->pred, check->arena));
        TRY(mergeinfo_get(&old, &had, check, pred));
    }
    if (!found || (had && str_eq(old, value)))
        return NULL;
    /* A last line without its end counts too. */
    value = arena_printf(check->arena, "%.*s\n", STR(value));
    struct str *paths = arena_array(check->arena, value.n, sizeof *paths);
    while (str_line(&line, value, &pos)) {
        const size_t colon = str_rfind(line, ':');
        if (colon != SIZE_MAX)
            paths[n++] = normalized(str_make(line.p, colon), check->arena);
    }
    return warn_of_doubles(check, paths, n, WARNING_MERGEINFO, str_skip(path, 1));
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
