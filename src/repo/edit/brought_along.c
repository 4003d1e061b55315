/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/edit/brought_along.h"

#include "base/buf.h"
#include "fsfs/format/changes.h"
#include "fsfs/read/noderev_get.h"
#include "repo/tree/walk_order.h"
#include <stdlib.h>

struct open_dir {
    const struct dir *source;
    const struct dirent_fs **order; /* the source's entries; NULL: by name */
    size_t next;
    const struct dir *now; /* NULL: a transaction is asked by path */
    size_t path_n;
    struct arena_mark mark; /* before the folder */
    struct open_dir *up;
};

struct brought_along {
    struct brought_params params;
    struct arena *arena;
    struct buf path;               /* of what was given last */
    const struct dirent_fs *entry; /* the same in the source */
    const struct change *change;   /* of it; NULL: none */
    struct open_dir *top;
};

/* Come to FOLDER, whose path is in walk->path. SOURCE NULL: nothing was brought along into it. */
static struct err *enter(struct brought_along *walk, const struct node *folder,
                         const struct noderev *source)
{
    static const struct dir empty;
    const struct brought_params *params = &walk->params;
    struct arena_mark mark = arena_mark(walk->arena);
    struct open_dir *open = ARENA_NEW(walk->arena, struct open_dir);
    *open =
        (struct open_dir){.source = &empty, .path_n = walk->path.n, .mark = mark, .up = walk->top};
    if (source)
        TRY(dir_get(&open->source, params->tree.fs, source, walk->arena));
    if (params->walk_order)
        open->order = walk_order(open->source->list, open->source->n, walk->arena);
    if (!params->tree.txn)
        TRY(dir_get(&open->now, params->tree.fs, folder->noderev, walk->arena));
    walk->top = open;
    return NULL;
}

static void leave(struct brought_along *walk)
{
    const struct open_dir *open = walk->top;
    walk->top = open->up;
    arena_rewind(walk->arena, open->mark);
}

struct err *brought_along_open(struct brought_along **out, const struct brought_params *params,
                               const struct node *folder, const struct noderev *source)
{
    struct brought_along *walk = mem_zalloc(sizeof *walk);
    *walk = (struct brought_along){.params = *params, .arena = arena_new()};
    buf_str(&walk->path, folder->path);
    struct err *err = enter(walk, folder, source);
    if (err)
        brought_along_close(walk);
    else
        *out = walk;
    return err;
}

/* What the entry is now. */
static struct err *find_now(struct node *out, bool *found, struct brought_along *walk,
                            struct arena *arena)
{
    const struct tree *tree = &walk->params.tree;
    struct str path = buf_view(&walk->path);
    if (tree->txn)
        return tree_find(out, found, tree, path, arena);
    const struct dirent_fs *now = dir_find(walk->top->now, walk->entry->name);
    *found = now != NULL;
    *out = (struct node){.path = path};
    return now ? noderev_get(&out->noderev, tree->fs, &now->id, arena) : NULL;
}

/* Go on to the next entry of the topmost folder. */
static void next_entry(struct brought_along *walk)
{
    struct open_dir *top = walk->top;
    walk->entry = top->order ? top->order[top->next] : &top->source->list[top->next];
    top->next++;
    walk->path.n = top->path_n;
    if (top->path_n > 1)
        buf_char(&walk->path, '/');
    buf_str(&walk->path, walk->entry->name);
    struct map *changes = walk->params.changes;
    walk->change = changes ? map_remove(changes, buf_view(&walk->path)) : NULL;
}

struct err *brought_along_next(bool *more, bool *left, struct node *node,
                               struct brought_along *walk, struct arena *arena)
{
    *left = false;
    *more = true;
    for (bool found = false; !found;) {
        const struct open_dir *top = walk->top;
        if (top->next == top->source->n) {
            *more = *left = top->up != NULL;
            if (*left)
                leave(walk);
            return NULL;
        }
        next_entry(walk);
        if (!walk->change || walk->change->action != CHANGE_DELETE)
            TRY(find_now(node, &found, walk, arena));
    }
    return NULL;
}

struct err *brought_along_enter(struct brought_along *walk, const struct node *folder)
{
    AUTO_ARENA(arena);
    struct fsfs *fs = walk->params.tree.fs;
    const struct change *change = walk->change;
    struct tree tree;
    struct node source = {0};
    if (change && change->action == CHANGE_REPLACE && change->copyfrom_rev != REV_NONE) {
        TRY(tree_of_rev(&tree, fs, change->copyfrom_rev));
        TRY(tree_node(&source, &tree, change->copyfrom_path, arena));
    } else {
        TRY(noderev_get(&source.noderev, fs, &walk->entry->id, arena));
    }
    return enter(walk, folder, source.noderev->kind == NODE_DIR ? source.noderev : NULL);
}

void brought_along_close(struct brought_along *walk)
{
    if (!walk)
        return;
    buf_free(&walk->path);
    arena_free(walk->arena);
    free(walk);
}
