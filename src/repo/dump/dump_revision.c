/* SPDX-License-Identifier: Apache-2.0 */
/* Which records a revision has, and in which order: that of Subversion's own dumps, byte for byte.
 *
 * A revision's changed paths are visited in tree order. Additions and changes are written as they
 * come; what was deleted in a folder comes when the folder's other changes are done.
 *
 * Where a damaged list calls a file a folder, or a folder a file, the records say what is there:
 * Subversion writes a folder and loses the text, or gives up. */
#include "repo/dump/dump_revision.h"
#include "base/map.h"
#include "base/path.h"
#include "fsfs/read/changes_get.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/revprops.h"
#include "repo/access/visibility.h"
#include "repo/dump/dump_node.h"
#include "repo/edit/brought_along.h"
#include "repo/history/mergeinfo.h"
#include <fnmatch.h>
#include <stdlib.h>

/* A folder on the way to the present path. */
struct open_dir {
    struct open_dir *up;
    struct str path; /* of a change, or a part of it */
    /* The copy that brought what is below; p NULL: none, and entries are compared with the revision
     * before, at the same path. */
    struct str copy_path;
    revnum copy_rev;
    size_t copy_at;      /* length of the path that was copied to */
    struct map *deleted; /* absolute paths; NULL: none */
};

struct dumper {
    struct dump_target target;
    struct dump_revision *revision;
    const struct dump_params *params;
    struct fsfs *fs;
    revnum rev;
    struct open_dir *top;
    struct map *changes;           /* path to struct change: those not dealt with yet */
    struct map *made;              /* created path to the struct noderev of this revision */
    struct arena *arena, *scratch; /* of the revision, of a record */
};

/* ---- what is wanted ---- */

static bool matches(const struct dump_params *params, const struct str *list, size_t n,
                    struct str path, struct arena *arena)
{
    struct str rest;
    for (size_t i = 0; i < n; i++) {
        struct str wanted = list[i];
        if (params->pattern) {
            if (fnmatch(arena_cstr(arena, wanted), arena_cstr(arena, path), 0) == 0)
                return true;
        } else if (path_skip_ancestor(&rest, path_canonicalize(wanted, arena), path)) {
            return true;
        }
    }
    return false;
}

static bool is_filtered(const struct dump_params *params)
{
    return params->include_count || params->exclude_count;
}

static bool is_wanted(const struct dumper *d, struct str path)
{
    if (d->params->include_count)
        return matches(d->params, d->params->include, d->params->include_count, path, d->scratch);
    return !matches(d->params, d->params->exclude, d->params->exclude_count, path, d->scratch);
}

/* ---- nodes ---- */

static struct err *find_at(const struct noderev **out, struct dumper *d, revnum rev,
                           struct str path)
{
    struct tree tree;
    struct node node;
    bool found;
    *out = NULL;
    TRY(tree_of_rev(&tree, d->fs, rev));
    TRY(tree_find(&node, &found, &tree, path, d->scratch));
    if (found)
        *out = node.noderev;
    return NULL;
}

/* The same; E_FS_NOT_FOUND or E_FS_NOT_DIRECTORY where there is nothing. */
static struct err *get_at(const struct noderev **out, struct dumper *d, revnum rev, struct str path)
{
    struct tree tree;
    struct node node;
    TRY(tree_of_rev(&tree, d->fs, rev));
    TRY(tree_node(&node, &tree, path, d->scratch));
    *out = node.noderev;
    return NULL;
}

/* What is at PATH in the revision. */
static struct err *get_now(const struct noderev **out, struct dumper *d, struct str path)
{
    *out = map_get(d->made, path);
    return *out ? NULL : get_at(out, d, d->rev, path);
}

static struct err *note_made(struct dumper *d)
{
    const struct noderev **list;
    size_t n;
    TRY(noderevs_made(&list, &n, d->fs, d->rev, d->arena));
    for (size_t i = 0; i < n; i++)
        map_put(d->made, list[i]->cpath, (void *)list[i]);
    return NULL;
}

static void warn_about_copy(struct dumper *d, revnum copy_rev)
{
    if (copy_rev >= d->params->start)
        return;
    d->revision->warned_copy = true;
    buf_printf(&d->revision->warnings,
               "0x0000: Referencing data in revision %lld, which is older than "
               "the oldest dumped revision (r%lld).  "
               "Loading this dump into an empty repository will fail.\n",
               (long long)copy_rev, (long long)d->params->start);
}

/* Mergeinfo that names revisions which the stream does not have will mean others where it is
 * loaded. */
static struct err *warn_about_mergeinfo(struct dumper *d, const struct noderev *noderev)
{
    const struct props *props;
    struct mergeinfo mi;
    TRY(noderev_props(&props, d->fs, noderev, d->scratch));
    const struct str *value = props ? props_get(props, S("svn:mergeinfo")) : NULL;
    if (!value)
        return NULL;
    struct err *unparsable = mergeinfo_parse(&mi, *value, d->scratch);
    if (unparsable) { /* clients of old stored such: it is dumped as it is */
        err_free(unparsable);
        return NULL;
    }
    bool old = false;
    for (size_t i = 0; i < mi.n; i++)
        for (size_t r = 0; r < mi.list[i].n; r++)
            old |= mi.list[i].ranges[r].start + 1 < d->params->start;
    if (!old)
        return NULL;
    d->revision->warned_mergeinfo = true;
    buf_printf(
        &d->revision->warnings,
        "0x0001: Mergeinfo referencing revision(s) prior to the oldest dumped revision (r%lld). "
        "Loading this dump may result in invalid mergeinfo.\n",
        (long long)d->params->start);
    return NULL;
}

static struct err *put_node(struct dumper *d, const struct dump_node *node)
{
    bool with_props;
    if (node->is_copy)
        warn_about_copy(d, node->copy_rev);
    TRY(dump_node_write(&with_props, &d->target, node, d->scratch));
    return with_props && d->params->start > 1 ? warn_about_mergeinfo(d, node->now) : NULL;
}

/* ---- folders on the way ---- */

static struct open_dir *open_below(struct dumper *d, struct str path)
{
    struct open_dir *dir = ARENA_NEW(d->arena, struct open_dir);
    *dir = (struct open_dir){.up = d->top, .path = path};
    if (d->top) {
        dir->copy_path = d->top->copy_path;
        dir->copy_rev = d->top->copy_rev;
        dir->copy_at = d->top->copy_at;
    }
    d->top = dir;
    return dir;
}

/* The same for a folder that is new, from CHANGE's copy source where COPIED. */
static void open_added(struct dumper *d, const struct change *change, bool copied)
{
    struct open_dir *dir = open_below(d, change->path);
    dir->copy_path = copied ? change->copyfrom_path : (struct str){0};
    dir->copy_rev = change->copyfrom_rev;
    dir->copy_at = change->path.n;
}

/* Where PATH, in the topmost folder, which a copy brought, was in the copy's source. */
static struct str copied_from(const struct dumper *d, struct str path)
{
    return path_join(d->top->copy_path, str_skip(path, d->top->copy_at + 1), d->scratch);
}

static struct err *close_dir(struct dumper *d)
{
    struct open_dir *dir = d->top;
    d->top = dir->up;
    if (!dir->deleted)
        return NULL;
    size_t n;
    struct str *paths = map_sorted(dir->deleted, &n, d->arena);
    struct err *err = NULL;
    for (size_t i = 0; i < n && !err; i++)
        err = put_node(d, &(struct dump_node){.path = paths[i], .action = CHANGE_DELETE});
    map_free(dir->deleted, NULL);
    return err;
}

static struct err *close_to(struct dumper *d, struct str path)
{
    struct str rest;
    while (d->top && !path_skip_ancestor(&rest, d->top->path, path))
        TRY(close_dir(d));
    return NULL;
}

/* Open the folders between the topmost one and PATH's parent. */
static struct err *open_parents(struct dumper *d, struct str path)
{
    struct str parent = path_dirname(path), rest, name;
    TRY(close_to(d, path));
    while (d->top && d->top->path.n > parent.n) /* the path itself was opened as a folder before */
        TRY(close_dir(d));
    if (!d->top)
        open_below(d, S("/"));
    if (!path_skip_ancestor(&rest, d->top->path, parent))
        return NULL;
    while (path_next(&name, &rest))
        open_below(d, str_make(path.p, (size_t)(name.p + name.n - path.p)));
    return NULL;
}

/* True where something at PATH was deleted in this folder in this revision: what comes now replaces
 * it. */
static bool take_deleted(struct dumper *d, struct str path)
{
    return d->top->deleted && map_remove(d->top->deleted, path);
}

/* What a copy did not bring, since its source is hidden, is not deleted from it. */
static void add_deleted(struct dumper *d, struct str path)
{
    static char present;
    struct open_dir *dir = d->top;
    if (dir->copy_path.p && !is_wanted(d, copied_from(d, path)))
        return;
    if (!dir->deleted)
        dir->deleted = map_new();
    map_put(dir->deleted, path, &present);
}

/* ---- whole trees ---- */

/* What is below PATH and came from SOURCE, as additions. */
static struct err *put_walk(struct dumper *d, struct brought_along *walk)
{
    for (;;) {
        struct arena_mark mark = arena_mark(d->scratch);
        struct node node;
        bool more, left;
        TRY(brought_along_next(&more, &left, &node, walk, d->scratch));
        if (!more)
            return NULL;
        if (!left && is_wanted(d, node.path)) {
            TRY(put_node(d, &(struct dump_node){
                                .path = node.path, .action = CHANGE_ADD, .now = node.noderev}));
            if (node.noderev->kind == NODE_DIR)
                TRY(brought_along_enter(walk, &node));
        }
        arena_rewind(d->scratch, mark);
    }
}

/* What a copy to PATH, whose source is not to be seen, brought along; with CHANGES NULL and NOW
 * itself as SOURCE everything that is there. */
static struct err *put_brought_along(struct dumper *d, struct str path, const struct noderev *now,
                                     const struct noderev *source, struct map *changes)
{
    const struct node folder = {.noderev = now, .path = path};
    const struct brought_params params = {
        .tree = {.fs = d->fs, .rev = d->rev}, .changes = changes, .walk_order = true};
    struct brought_along *walk;
    TRY(brought_along_open(&walk, &params, &folder, source));
    struct err *err = put_walk(d, walk);
    brought_along_close(walk);
    return err;
}

/* The first revision of a dump that is not incremental: everything that is there. */
static struct err *put_whole_revision(struct dumper *d)
{
    const struct noderev *root, *before;
    if (!is_wanted(d, S("/")))
        return err_make(E_AUTHZ_ROOT_UNREADABLE, "Unable to open root of edit");
    TRY(noderev_root(&root, d->fs, d->rev, d->scratch));
    TRY(find_at(&before, d, d->rev - 1, S("/")));
    if (root->has_props)
        TRY(put_node(d,
                     &(struct dump_node){
                         .path = S("/"), .action = CHANGE_MODIFY, .now = root, .before = before}));
    return put_brought_along(d, S("/"), root, root, NULL);
}

/* ---- changes ---- */

static struct err *put_added(struct dumper *d, const struct change *change,
                             const struct noderev *now)
{
    struct dump_node node = {.path = change->path, .action = CHANGE_ADD, .now = now};
    bool has_source = change->copyfrom_rev != REV_NONE,
         hidden = has_source && !is_wanted(d, change->copyfrom_path);
    if (change->path.n == 1)
        return err_make(E_FS_ALREADY_EXISTS, "Root directory already exists.");
    bool replaces = take_deleted(d, change->path);
    if (replaces)
        node.action = CHANGE_REPLACE;
    const struct noderev *source = NULL;
    if (has_source)
        TRY(get_at(&source, d, change->copyfrom_rev, change->copyfrom_path));
    if (has_source && !hidden) {
        node.is_copy = true;
        node.copy_path = change->copyfrom_path;
        node.copy_rev = change->copyfrom_rev;
        node.before = source;
    }
    TRY(put_node(d, &node));
    if (now->kind != NODE_DIR)
        return NULL;
    open_added(d, change, node.is_copy);
    return hidden && source->kind == NODE_DIR
               ? put_brought_along(d, change->path, now, source, d->changes)
               : NULL;
}

static struct err *put_modified(struct dumper *d, const struct change *change,
                                const struct noderev *now)
{
    struct dump_node node = {.path = change->path, .action = CHANGE_MODIFY, .now = now};
    if (now->kind == NODE_DIR && !change->props_changed)
        return NULL;
    if (noderev_goes_on(now, d->rev) && !is_filtered(d->params)) {
        TRY(noderev_get(&node.before, d->fs, &now->pred, d->scratch));
        return put_node(d, &node);
    }
    /* A filter may hide the copy that brought it: then there is nothing to compare with, and the
     * stream cannot say what the node was. */
    bool copied = d->top && d->top->copy_path.p;
    struct str cmp_path = copied ? copied_from(d, change->path) : change->path;
    TRY(get_at(&node.before, d, copied ? d->top->copy_rev : d->rev - 1, cmp_path));
    return put_node(d, &node);
}

static struct err *put_change(struct dumper *d, const struct change *change)
{
    const struct noderev *now = NULL;
    TRY(open_parents(d, change->path));
    if (change->action == CHANGE_DELETE || change->action == CHANGE_REPLACE)
        add_deleted(d, change->path);
    if (change->action == CHANGE_DELETE ||
        (change->action == CHANGE_MODIFY && change->kind == NODE_DIR && !change->props_changed &&
         !change->text_changed))
        return NULL;
    TRY(get_now(&now, d, change->path));
    return change->action == CHANGE_MODIFY ? put_modified(d, change, now)
                                           : put_added(d, change, now);
}

static int by_tree_order(const void *a, const void *b)
{
    const struct change *const *x = a, *const *y = b;
    const int order = path_cmp((*x)->path, (*y)->path);
    return order ? order : (*x > *y) - (*x < *y);
}

/* The changes that may be seen, in tree order. */
static struct err *wanted_changes(const struct change ***out, size_t *n, size_t *hidden,
                                  struct dumper *d)
{
    const struct changes *all;
    TRY(changes_get(&all, d->fs, d->rev, d->arena));
    const struct change **list = arena_array(d->arena, all->n + 1, sizeof *list);
    *n = *hidden = 0;
    for (size_t i = 0; i < all->n; i++) {
        bool source_hidden =
            all->list[i].copyfrom_rev != REV_NONE && !is_wanted(d, all->list[i].copyfrom_path);
        if (is_wanted(d, all->list[i].path))
            list[(*n)++] = &all->list[i];
        else
            ++*hidden;
        *hidden += source_hidden;
    }
    qsort(list, *n, sizeof *list, by_tree_order);
    *out = list;
    return NULL;
}

/* ---- revisions ---- */

/* A revision's properties, as far as they may be seen: all where nothing is hidden, author and date
 * where some is, none where all is. */
static struct err *put_revision_record(struct dumper *d, size_t visible, size_t hidden)
{
    const struct props *props;
    enum visibility sees = hidden == 0 ? SEES_ALL : visible ? SEES_SOME : SEES_NOTHING;
    TRY(revprops_get(&props, d->fs, d->rev, NULL, d->arena));
    props = visible_revprops(props, sees, d->arena);
    return dump_revprops_write(d->target.out, d->rev, props ? props->list : NULL,
                               props ? props->n : 0);
}

static void free_map(void *map)
{
    map_free(map, NULL);
}

static struct err *put_revision(struct dumper *d, bool whole)
{
    const struct change **changes;
    size_t n = 0, hidden = 0;
    /* What is dumped whole does not depend on the list: it may be damaged. */
    if (!whole || is_filtered(d->params))
        TRY(wanted_changes(&changes, &n, &hidden, d));
    TRY(put_revision_record(d, n, is_filtered(d->params) ? hidden : 0));
    if (whole)
        return put_whole_revision(d);
    d->changes = map_new();
    arena_on_free(d->arena, free_map, d->changes);
    TRY(note_made(d));
    for (size_t i = 0; i < n; i++)
        map_put(d->changes, changes[i]->path, (void *)changes[i]);
    for (size_t i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(d->scratch);
        /* A damaged list may have a path twice: the last entry tells what is written, each time. */
        const struct change *change = map_get(d->changes, changes[i]->path);
        if (change)
            TRY(put_change(d, change));
        arena_rewind(d->scratch, mark);
    }
    while (d->top)
        TRY(close_dir(d));
    return NULL;
}

static void forget_open_dirs(struct dumper *d)
{
    for (; d->top; d->top = d->top->up)
        map_free(d->top->deleted, NULL);
}

struct err *dump_revision_write(struct dump_revision *revision)
{
    AUTO_ARENA(arena);
    AUTO_ARENA(scratch);
    const struct dump_params *params = revision->params;
    bool whole = revision->rev == params->start && revision->rev > 0 && !params->incremental;
    struct dumper d = {
        .target = {revision->out, revision->fs, .deltas = params->deltas && !whole},
        .revision = revision,
        .params = params,
        .fs = revision->fs,
        .rev = revision->rev,
        .arena = arena,
        .scratch = scratch,
    };
    d.made = map_new();
    struct err *err = put_revision(&d, whole);
    map_free(d.made, NULL);
    forget_open_dirs(&d);
    return err;
}
