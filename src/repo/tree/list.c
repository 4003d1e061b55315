/* SPDX-License-Identifier: Apache-2.0 */
/* A directory's entry says kind and node-revision id; the id names the revision. Only sizes and
 * properties need the node-revision itself, so a plain listing reads nothing but the directories.
 */
#include "repo/tree/list.h"
#include "base/buf.h"
#include "base/path.h"
#include "fsfs/read/item.h"
#include "fsfs/read/noderev_get.h"
#include "repo/tree/list_int.h"

/* ---- entries ---- */

/* Where an emptied property list is all that is left of properties, there are none. */
static bool has_props(const struct noderev *noderev)
{
    enum { EMPTY_LIST = sizeof "END\n" - 1 };
    return noderev->has_props && noderev->props.expanded > EMPTY_LIST;
}

static struct err *add_commit(struct dirent_info *out, const struct tree *tree, int fields,
                              struct revprop_view *view, struct arena *arena)
{
    if (!(fields & (DIRENT_TIME | DIRENT_AUTHOR)) || out->created_rev == REV_NONE)
        return NULL;
    const struct props *props;
    TRY(revprops_get(&props, tree->fs, out->created_rev, view, arena));
    const struct str *date = fields & DIRENT_TIME ? props_get(props, S("svn:date")) : NULL;
    const struct str *author = fields & DIRENT_AUTHOR ? props_get(props, S("svn:author")) : NULL;
    if (date)
        out->date = *date;
    if (author)
        out->author = *author;
    return NULL;
}

static struct err *add_node(struct dirent_info *out, const struct tree *tree,
                            const struct node *node, struct arena *arena)
{
    out->size = node->noderev->kind == NODE_FILE ? noderev_size(node->noderev) : 0;
    out->has_props = has_props(node->noderev);
    if (!tree->txn)
        return NULL;
    /* A list that was changed in the transaction is not yet a representation. */
    const struct prop *list;
    size_t n;
    TRY(node_props(&list, &n, tree, node, arena));
    out->has_props = n > 0;
    return NULL;
}

struct err *dirent_info(struct dirent_info *out, const struct tree *tree, const struct node *node,
                        int fields, struct revprop_view *view, struct arena *arena)
{
    *out = (struct dirent_info){
        .path = node->path, .kind = node->noderev->kind, .created_rev = node_created_rev(node)};
    TRY(add_node(out, tree, node, arena));
    return add_commit(out, tree, fields, view, arena);
}

/* ---- the walk ---- */

/* A directory on the way down. */
struct level {
    struct level *parent;
    struct arena_mark mark; /* of c->levels, before it */
    size_t path_n;
    const struct dirent_fs *list;
    size_t n, next;
};

struct list_cursor {
    struct tree tree;
    enum depth depth;
    int fields;
    const struct principal *who;
    const char **patterns;
    size_t pattern_count;
    struct arena *arena;
    struct arena *step; /* of the entry returned last */
    struct arena_mark empty;
    struct revprop_view *view;
    struct node start;
    bool started;
    struct level *level; /* the deepest */
    struct arena *levels;
    struct buf path; /* of the entry looked at last: levels share its memory */
};

static bool needs_node(const struct list_cursor *c)
{
    return c->tree.txn || c->fields & (DIRENT_SIZE | DIRENT_HAS_PROPS);
}

/* The node-revisions that will be looked at, in one batch. */
static void level_prefetch(const struct list_cursor *c, const struct level *level)
{
    if (c->tree.txn || (!needs_node(c) && c->depth != DEPTH_INFINITY))
        return;
    AUTO_ARENA(scratch);
    struct item_name *items = arena_array(scratch, level->n ? level->n : 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < level->n; i++) {
        const struct dirent_fs *entry = &level->list[i];
        if (needs_node(c) || entry->kind == NODE_DIR)
            items[n++] = (struct item_name){entry->id.rev, entry->id.item, 0};
    }
    items_prefetch(c->tree.fs, items, n);
}

/* NODE's path is in c->path. */
static struct err *level_push(struct list_cursor *c, const struct node *node)
{
    struct arena_mark mark = arena_mark(c->levels);
    struct level *level = ARENA_NEW(c->levels, struct level);
    *level = (struct level){.parent = c->level, .mark = mark, .path_n = c->path.n};
    c->level = level;
    TRY(node_entries(&level->list, &level->n, &c->tree, node, c->levels));
    level_prefetch(c, level);
    return NULL;
}

static void level_pop(struct list_cursor *c)
{
    struct level *level = c->level;
    c->level = level->parent;
    arena_rewind(c->levels, level->mark);
}

static struct str entry_path(struct list_cursor *c, const struct dirent_fs *entry)
{
    c->path.n = c->level->path_n;
    if (c->path.n > 1)
        buf_char(&c->path, '/');
    buf_str(&c->path, entry->name);
    return buf_view(&c->path);
}

/* The entry as far as it is wanted. */
static struct err *entry_info(struct dirent_info *out, struct list_cursor *c,
                              const struct dirent_fs *entry, struct str path)
{
    if (needs_node(c)) {
        struct node node;
        TRY(tree_entry(&node, &c->tree, path, entry, c->step));
        return dirent_info(out, &c->tree, &node, c->fields, c->view, c->step);
    }
    *out = (struct dirent_info){.path = path, .kind = entry->kind, .created_rev = entry->id.rev};
    return add_commit(out, &c->tree, c->fields, c->view, c->step);
}

/* Look at one entry of the deepest directory; *SHOW false where it is not to be returned. */
static struct err *level_step(bool *show, struct dirent_info *out, struct list_cursor *c,
                              const struct dirent_fs *entry)
{
    bool is_dir = entry->kind == NODE_DIR;
    *show = false;
    if (is_dir && c->depth == DEPTH_FILES)
        return NULL;
    bool matches = name_matches(entry->name, c->patterns, c->pattern_count);
    if (!matches && !(is_dir && c->depth == DEPTH_INFINITY))
        return NULL;
    struct str path = entry_path(c, entry);
    if (!principal_may(c->who, path, ACCESS_READ, false))
        return NULL;
    *show = matches;
    if (matches)
        TRY(entry_info(out, c, entry, path));
    if (!is_dir || c->depth != DEPTH_INFINITY)
        return NULL;
    struct node node;
    TRY(tree_entry(&node, &c->tree, path, entry, c->step));
    return level_push(c, &node);
}

static struct err *first_step(bool *show, struct dirent_info *out, struct list_cursor *c)
{
    c->started = true;
    *show = name_matches(path_basename(c->start.path), c->patterns, c->pattern_count);
    if (*show)
        TRY(dirent_info(out, &c->tree, &c->start, c->fields, c->view, c->step));
    if (c->start.noderev->kind != NODE_DIR || c->depth == DEPTH_EMPTY)
        return NULL;
    buf_str(&c->path, c->start.path);
    return level_push(c, &c->start);
}

struct err *list_next(bool *more, struct dirent_info *out, struct list_cursor *c)
{
    arena_rewind(c->step, c->empty);
    *more = false;
    if (!c->started)
        TRY(first_step(more, out, c));
    while (!*more && c->level) {
        struct level *level = c->level;
        if (level->next == level->n)
            level_pop(c);
        else
            TRY(level_step(more, out, c, &level->list[level->next++]));
    }
    return NULL;
}

static struct err *list_start(struct list_cursor *c, struct str path)
{
    bool found;
    if (c->depth == DEPTH_UNKNOWN || c->depth == DEPTH_EXCLUDE)
        return err_make(E_REPOS_BAD_ARGS, "Invalid depth '%d' in svn_repos_list",
                        c->depth == DEPTH_UNKNOWN ? -2 : -1);
    if (!principal_may(c->who, path, ACCESS_READ, false))
        return err_make(E_AUTHZ_UNREADABLE, "Item is not readable");
    TRY(tree_find(&c->start, &found, &c->tree, path, c->arena));
    if (!found)
        return err_make(E_FS_NOT_FOUND, "Path '%.*s' not found", STR(path));
    return NULL;
}

struct err *list_open(struct list_cursor **out, const struct tree *tree, struct str path,
                      enum depth depth, const struct str *patterns, size_t pattern_count,
                      int fields, const struct principal *who)
{
    struct arena *arena = arena_new();
    struct list_cursor *c = ARENA_NEW(arena, struct list_cursor);
    *c = (struct list_cursor){.tree = *tree,
                              .depth = depth,
                              .fields = fields,
                              .who = who,
                              .arena = arena,
                              .step = arena_new(),
                              .levels = arena_new()};
    c->empty = arena_mark(c->step);
    c->view = revprop_view_new(tree->fs, arena);
    if (patterns)
        c->patterns = arena_array(arena, pattern_count + 1, sizeof *c->patterns);
    for (; c->pattern_count < pattern_count; c->pattern_count++)
        c->patterns[c->pattern_count] = arena_cstr(arena, patterns[c->pattern_count]);
    struct err *err = list_start(c, path);
    if (err)
        list_close(c);
    else
        *out = c;
    return err;
}

void list_close(struct list_cursor *c)
{
    if (!c)
        return;
    buf_free(&c->path);
    arena_free(c->levels);
    arena_free(c->step);
    arena_free(c->arena);
}

/* ---- inherited properties ---- */

struct err *inherited_props(struct inherited **out, size_t *n, const struct tree *tree,
                            struct str path, const struct principal *who, struct arena *arena)
{
    size_t depth = 1;
    for (size_t i = 1; i < path.n; i++)
        depth += path.p[i] == '/';
    *out = arena_array(arena, depth, sizeof **out);
    *n = 0;
    if (path.n == 1)
        return NULL; /* nothing is above the root */
    AUTO_ARENA(scratch);
    struct tree_way way;
    tree_way_begin(&way, tree, path_dirname(path), scratch);
    for (;;) {
        struct node node;
        bool more;
        TRY(tree_way_next(&more, &node, &way));
        if (!more)
            return NULL;
        if (!principal_may(who, node.path, ACCESS_READ, false))
            continue;
        struct inherited *item = &(*out)[*n];
        TRY(node_props(&item->list, &item->n, tree, &node, arena));
        if (item->n == 0)
            continue;
        item->path = arena_str(arena, node.path);
        ++*n;
    }
}
