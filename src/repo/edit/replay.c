/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - the changed paths of a revision, in tree order, as an edit against the revision
 * before.
 *
 * A step handles one changed path: it closes the folders that it leaves, opens those on the way,
 * and queues what happened to the node. A copy that the receiver cannot make (its source is hidden,
 * outside of the base path, or older than the low-water mark) comes as additions of everything that
 * it brought along. */
#include "repo/edit/replay.h"

#include "base/map.h"
#include "base/path.h"
#include "fsfs/format/changes.h"
#include "fsfs/read/changes_get.h"
#include "repo/edit/brought_along.h"
#include "repo/edit/edit_queue.h"
#include <stdlib.h>

/* A folder on the way to the present path. */
struct open_dir {
    struct open_dir *up;
    struct str path; /* of a change, or a part of it; not needed below what a copy brought along */
    uint64_t number;
    struct str copy_path; /* the copy that brought what is below; p NULL: none */
    revnum copy_rev;
    size_t copy_at; /* length of the path that was copied to */
};

struct replay {
    struct edit_source source;
    struct replay_params params;
    struct fsfs *fs;
    struct arena *arena, *step;
    struct arena_mark step_empty;
    const struct change **changes; /* in tree order */
    size_t change_count, next;
    struct map *pending; /* path to struct change: those not dealt with yet */
    struct open_dir *top;
    struct brought_along *walk; /* through what a copy to the topmost folder brought; or NULL */
    bool opened;                /* the root is, or was */
    uint64_t numbers;
    struct edit_queue queue;
    bool done; /* finish-replay is queued */
};

static struct edit_event make_for(enum edit_kind kind, uint64_t node)
{
    struct edit_event event = edit_event_make(kind);
    event.node = node;
    return event;
}

/* Whatever the base path, an edit begins at the repository's root: a mirror of a folder has it in
 * the same place. */
static struct str relative(struct str path)
{
    return str_skip(path, 1);
}

/* ---- folders ---- */

static struct open_dir *open_dir(struct replay *r, struct str path, uint64_t number)
{
    struct open_dir *dir = ARENA_NEW(r->arena, struct open_dir);
    *dir = (struct open_dir){.up = r->top, .path = path, .number = number};
    if (r->top) {
        dir->copy_path = r->top->copy_path;
        dir->copy_rev = r->top->copy_rev;
        dir->copy_at = r->top->copy_at;
    }
    r->top = dir;
    return dir;
}

/* The same for a folder that is new, from CHANGE's copy source where COPIED. */
static void open_added(struct replay *r, const struct change *change, uint64_t number, bool copied)
{
    struct open_dir *dir = open_dir(r, change->path, number);
    dir->copy_path = copied ? change->copyfrom_path : (struct str){0};
    dir->copy_rev = change->copyfrom_rev;
    dir->copy_at = change->path.n;
}

/* Where PATH, in the topmost folder, which a copy brought, was in the copy's source. */
static struct str copied_from(const struct replay *r, struct str path)
{
    return path_join(r->top->copy_path, str_skip(path, r->top->copy_at + 1), r->step);
}

static void close_dir(struct replay *r)
{
    edit_queue_push(&r->queue, make_for(EDIT_CLOSE_DIR, r->top->number));
    r->top = r->top->up;
}

static void open_root(struct replay *r)
{
    if (r->opened)
        return;
    r->opened = true;
    edit_queue_push(&r->queue, make_for(EDIT_OPEN_ROOT, r->numbers));
    open_dir(r, S("/"), r->numbers++);
}

/* Leave and open folders so that PATH's parent is the topmost one. */
static void go_to_parent(struct replay *r, struct str path)
{
    struct str parent = path_dirname(path), rest, name;
    open_root(r);
    while (r->top->up && !(path_skip_ancestor(&rest, r->top->path, parent)))
        close_dir(r);
    if (!path_skip_ancestor(&rest, r->top->path, parent))
        return;
    while (path_next(&name, &rest)) {
        struct str below = str_make(path.p, (size_t)(name.p + name.n - path.p));
        struct edit_event event = make_for(EDIT_OPEN_DIR, r->numbers++);
        event.parent = r->top->number;
        event.path = relative(below);
        edit_queue_push(&r->queue, event);
        open_dir(r, below, event.node);
    }
}

/* ---- nodes ---- */

/* What the node is compared with: where a copy took it from, or the revision before. */
static struct err *find_base(struct node *out, bool *found, struct tree *tree, struct replay *r,
                             struct str path)
{
    const struct open_dir *dir = r->top;
    struct str base_path = path;
    revnum rev = r->params.tree.txn ? txn_base(r->params.tree.txn) : r->params.tree.rev - 1;
    if (dir->copy_path.p) {
        base_path = copied_from(r, path);
        rev = dir->copy_rev;
    }
    TRY(tree_of_rev(tree, r->fs, rev));
    return tree_find(out, found, tree, base_path, r->step);
}

static struct err *push_props(struct replay *r, bool is_dir, uint64_t number,
                              const struct node *node, const struct tree *base_tree,
                              const struct node *base)
{
    const struct prop *now, *before = NULL;
    size_t now_n, before_n = 0, n;
    TRY(node_props(&now, &now_n, &r->params.tree, node, r->step));
    if (base)
        TRY(node_props(&before, &before_n, base_tree, base, r->step));
    struct props a = {.n = before_n, .list = (struct prop *)before},
                 b = {.n = now_n, .list = (struct prop *)now};
    struct prop *changes = props_diff(&n, &a, &b, r->step);
    for (size_t i = 0; i < n; i++) {
        struct edit_event event = make_for(is_dir ? EDIT_DIR_PROP : EDIT_FILE_PROP, number);
        event.name = changes[i].name;
        event.value = changes[i].value;
        edit_queue_push(&r->queue, event);
    }
    return NULL;
}

/* The properties of a changed node; without deltas only that they changed. */
static struct err *push_changed_props(struct replay *r, bool is_dir, uint64_t number,
                                      const struct node *node, const struct tree *base_tree,
                                      const struct node *base)
{
    if (r->params.send_deltas)
        return push_props(r, is_dir, number, node, base_tree, base);
    struct edit_event event = make_for(is_dir ? EDIT_DIR_PROP : EDIT_FILE_PROP, number);
    event.name = S("");
    edit_queue_push(&r->queue, event);
    return NULL;
}

static const struct rep *text_rep(const struct node *node)
{
    return node && node->noderev->has_text ? &node->noderev->text : NULL;
}

static struct err *open_delta(struct text_delta **out, struct replay *r, const struct node *node,
                              const struct tree *base_tree, const struct node *base)
{
    const struct replay_params *params = &r->params;
    if (!params->tree.txn)
        return text_delta_open(out, r->fs, text_rep(base), text_rep(node), params->svndiff_version,
                               params->compression_level);
    struct reader *from = NULL, *to;
    if (base)
        TRY(node_text(&from, base_tree, base));
    struct err *err = node_text(&to, &params->tree, node);
    if (err) {
        reader_close(from);
        return err;
    }
    *out = text_delta_of_readers(from, to, params->svndiff_version, params->compression_level);
    return NULL;
}

static struct err *push_text(struct replay *r, uint64_t number, const struct node *node,
                             const struct tree *base_tree, const struct node *base, bool send_delta)
{
    struct edit_event event = make_for(EDIT_TEXT_BEGIN, number);
    if (base && send_delta)
        event.md5 = noderev_md5_hex(base->noderev, r->step);
    edit_queue_push(&r->queue, event);
    if (send_delta) {
        struct text_delta *delta;
        TRY(open_delta(&delta, r, node, base_tree, base));
        edit_queue_push_text(&r->queue, number, delta);
    } else {
        event = make_for(EDIT_TEXT_CHUNK, number);
        event.text = edit_empty_delta(r->params.compression_level ? r->params.svndiff_version : 0);
        edit_queue_push(&r->queue, event);
    }
    edit_queue_push(&r->queue, make_for(EDIT_TEXT_END, number));
    return NULL;
}

static void push_close_file(struct replay *r, uint64_t number, const struct node *node)
{
    struct edit_event event = make_for(EDIT_CLOSE_FILE, number);
    event.md5 = noderev_md5_hex(node->noderev, r->step);
    edit_queue_push(&r->queue, event);
}

static uint64_t push_open(struct replay *r, bool is_dir, bool add, struct str path,
                          struct str copy_path, revnum copy_rev)
{
    enum edit_kind kind =
        is_dir ? (add ? EDIT_ADD_DIR : EDIT_OPEN_DIR) : (add ? EDIT_ADD_FILE : EDIT_OPEN_FILE);
    struct edit_event event = make_for(kind, r->numbers++);
    event.parent = r->top->number;
    event.path = relative(path);
    event.copy_path = copy_path;
    event.copy_rev = copy_rev;
    edit_queue_push(&r->queue, event);
    return event.node;
}

/* ---- copies that come as additions: always with their properties and texts ---- */

static bool may_read(const struct replay *r, struct str path)
{
    return principal_may(r->params.who, path, ACCESS_READ, false);
}

static struct err *push_whole_file(struct replay *r, struct str path, const struct node *node)
{
    uint64_t number = push_open(r, false, true, path, (struct str){0}, REV_NONE);
    TRY(push_props(r, false, number, node, NULL, NULL));
    TRY(push_text(r, number, node, NULL, NULL, true));
    push_close_file(r, number, node);
    return NULL;
}

/* One node of what a copy to the topmost folder brought along, or the end of a folder of them. */
static struct err *push_brought_along(bool *more, struct replay *r)
{
    struct node node;
    bool left;
    TRY(brought_along_next(more, &left, &node, r->walk, r->step));
    if (*more && left)
        close_dir(r);
    if (!*more || left || !may_read(r, node.path))
        return NULL;
    if (node.noderev->kind == NODE_FILE)
        return push_whole_file(r, node.path, &node);
    uint64_t number = push_open(r, true, true, node.path, (struct str){0}, REV_NONE);
    TRY(push_props(r, true, number, &node, NULL, NULL));
    open_dir(r, S(""), number);
    return brought_along_enter(r->walk, &node);
}

/* Subversion says the properties of the folder that was copied to before and after what the copy
 * brought along; mirrors of two servers are compared. */
static struct err *push_copied_props(struct replay *r)
{
    struct node node;
    TRY(tree_node(&node, &r->params.tree, r->top->path, r->step));
    return push_changed_props(r, true, r->top->number, &node, NULL, NULL);
}

/* ---- changes ---- */

static bool can_be_copied(const struct replay *r, const struct change *change)
{
    struct str rest;
    return change->copyfrom_rev != REV_NONE && change->copyfrom_rev >= r->params.low_water &&
           may_read(r, change->copyfrom_path) &&
           path_skip_ancestor(&rest, r->params.base_path, change->copyfrom_path);
}

static struct err *push_added(struct replay *r, const struct change *change,
                              const struct node *node)
{
    bool is_dir = node->noderev->kind == NODE_DIR, copied = can_be_copied(r, change),
         has_source = change->copyfrom_rev != REV_NONE;
    struct tree source_tree;
    struct node source;
    if (has_source) {
        TRY(tree_of_rev(&source_tree, r->fs, change->copyfrom_rev));
        TRY(tree_node(&source, &source_tree, change->copyfrom_path, r->step));
    }
    struct str copy_path = copied ? change->copyfrom_path : (struct str){0};
    uint64_t number = push_open(r, is_dir, true, change->path, copy_path,
                                copied ? change->copyfrom_rev : REV_NONE);
    if (is_dir)
        open_added(r, change, number, copied);
    if (is_dir && has_source && !copied) {
        const struct brought_params params = {.tree = r->params.tree, .changes = r->pending};
        TRY(brought_along_open(&r->walk, &params, node, source.noderev));
        return push_props(r, true, number, node, NULL, NULL);
    }
    if (change->props_changed || (!copied && (has_source || r->params.send_deltas)))
        TRY(push_changed_props(r, is_dir, number, node, copied ? &source_tree : NULL,
                               copied ? &source : NULL));
    if (is_dir)
        return NULL;
    if (!copied || change->text_changed)
        TRY(push_text(r, number, node, copied ? &source_tree : NULL, copied ? &source : NULL,
                      r->params.send_deltas));
    push_close_file(r, number, node);
    return NULL;
}

static struct err *push_modified(struct replay *r, const struct change *change,
                                 const struct node *node)
{
    bool is_dir = node->noderev->kind == NODE_DIR, found, at_root = change->path.n == 1;
    struct tree base_tree;
    struct node base;
    if (is_dir && !change->props_changed && !at_root)
        return NULL;
    TRY(find_base(&base, &found, &base_tree, r, change->path));
    uint64_t number = at_root
                          ? r->top->number
                          : push_open(r, is_dir, false, change->path, (struct str){0}, REV_NONE);
    if (is_dir && !at_root)
        open_dir(r, change->path, number);
    if (change->props_changed)
        TRY(push_changed_props(r, is_dir, number, node, &base_tree, found ? &base : NULL));
    if (is_dir)
        return NULL;
    if (change->text_changed)
        TRY(push_text(r, number, node, &base_tree, found ? &base : NULL, r->params.send_deltas));
    push_close_file(r, number, node);
    return NULL;
}

/* What a copy did not bring, since its source is hidden, the receiver does not have. */
static bool is_there(const struct replay *r, struct str path)
{
    const struct open_dir *dir = r->top;
    return !dir->copy_path.p || may_read(r, copied_from(r, path));
}

static void push_delete(struct replay *r, struct str path)
{
    struct edit_event event = edit_event_make(EDIT_DELETE);
    event.parent = r->top->number;
    event.path = relative(path);
    edit_queue_push(&r->queue, event);
}

static struct err *push_change(struct replay *r, const struct change *change)
{
    struct node node;
    if (change->path.n == 1)
        open_root(r);
    else
        go_to_parent(r, change->path);
    if ((change->action == CHANGE_DELETE || change->action == CHANGE_REPLACE) &&
        is_there(r, change->path))
        push_delete(r, change->path);
    if (change->action == CHANGE_DELETE)
        return NULL;
    TRY(tree_node(&node, &r->params.tree, change->path, r->step));
    return change->action == CHANGE_MODIFY ? push_modified(r, change, &node)
                                           : push_added(r, change, &node);
}

/* ---- the cursor ---- */

static struct err *step(struct replay *r)
{
    if (r->walk) {
        bool more;
        TRY(push_brought_along(&more, r));
        if (more)
            return NULL;
        brought_along_close(r->walk);
        r->walk = NULL;
        return push_copied_props(r);
    }
    if (r->next < r->change_count) {
        struct str path = r->changes[r->next++]->path;
        const struct change *change = map_remove(r->pending, path);
        if (change)
            return push_change(r, change);
        go_to_parent(r, path); /* svnserve says that, too, of what a copy has brought along */
        return NULL;
    }
    while (r->top)
        close_dir(r);
    edit_queue_push(&r->queue, edit_event_make(EDIT_FINISH_REPLAY));
    r->done = true;
    return NULL;
}

static struct err *replay_next(bool *more, struct edit_event *event, struct edit_source *source)
{
    struct replay *r = (struct replay *)source;
    for (;;) {
        TRY(edit_queue_take(more, event, &r->queue));
        if (*more || r->done)
            return NULL;
        arena_rewind(r->step, r->step_empty);
        TRY(step(r));
    }
}

static void replay_close(struct edit_source *source)
{
    struct replay *r = (struct replay *)source;
    edit_queue_free(&r->queue);
    brought_along_close(r->walk);
    map_free(r->pending, NULL);
    arena_free(r->step);
    arena_free(r->arena);
    free(r);
}

static int by_tree_order(const void *a, const void *b)
{
    const struct change *const *x = a, *const *y = b;
    return path_cmp((*x)->path, (*y)->path);
}

/* What happens at and below the base path matters, and what happens to the folders above it. */
static bool concerns_base(const struct replay *r, struct str path)
{
    struct str rest;
    return path_skip_ancestor(&rest, r->params.base_path, path) ||
           path_skip_ancestor(&rest, path, r->params.base_path);
}

/* The changes that matter and may be seen. */
static struct err *find_changes(struct replay *r)
{
    const struct changes *all;
    if (r->params.tree.txn) {
        struct changes *own;
        TRY(txn_changes(&own, r->params.tree.txn));
        all = arena_keep(r->arena, &own->shared);
    } else {
        TRY(changes_get(&all, r->fs, r->params.tree.rev, r->arena));
    }
    r->changes = arena_array(r->arena, all->n + 1, sizeof *r->changes);
    for (size_t i = 0; i < all->n; i++) {
        const struct change *change = &all->list[i];
        if (!concerns_base(r, change->path) || !may_read(r, change->path))
            continue;
        r->changes[r->change_count++] = change;
        map_put(r->pending, change->path, (void *)change);
    }
    qsort(r->changes, r->change_count, sizeof *r->changes, by_tree_order);
    return NULL;
}

struct err *replay_open(struct edit_source **out, const struct replay_params *params)
{
    struct replay *r = mem_zalloc(sizeof *r);
    *r = (struct replay){
        .source = {replay_next, replay_close}, .params = *params, .fs = params->tree.fs};
    r->arena = arena_new();
    r->step = arena_new();
    r->step_empty = arena_mark(r->step);
    r->pending = map_new();
    r->params.base_path = arena_str(r->arena, params->base_path);
    struct err *err = find_changes(r);
    if (err) {
        replay_close(&r->source);
        return err;
    }
    if (!params->tree.txn) {
        struct edit_event event = edit_event_make(EDIT_TARGET_REV);
        event.rev = params->tree.rev;
        edit_queue_push(&r->queue, event);
    }
    *out = &r->source;
    return NULL;
}
