/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a transaction: ways through it, and making places on them mutable. */
#include "base/path.h"
#include "fsfs/txn_int.h"
#include <assert.h>

/* ---- temporary ids ---- */

struct id_part txn_take_node_id(struct txn *txn)
{
    return (struct id_part){REV_NONE, txn->next_node++};
}

struct id_part txn_take_copy_id(struct txn *txn)
{
    return (struct id_part){REV_NONE, txn->next_copy++};
}

void txn_take_uniquifier(struct txn *txn, struct rep *rep)
{
    if (txn->fs->format < 4)
        return;
    rep->has_uniq = true;
    rep->uniq_txn = txn->id;
    rep->uniq_num = txn->next_node++;
}

/* ---- nodes and directories ---- */

struct txn_node *txn_node_new(struct txn *txn, const struct noderev *from)
{
    struct txn_node *node = ARENA_NEW(txn->arena, struct txn_node);
    node->is_mutable = true;
    node->from = from;
    if (from)
        noderev_take(&node->nr, from);
    else
        node->nr = (struct noderev){.copyfrom_rev = REV_NONE};
    return node;
}

struct err *txn_dir_base(const struct dir **out, struct txn *txn, struct txn_node *dir)
{
    if (!dir->base && dir->from)
        TRY(dir_get(&dir->base, txn->fs, dir->from, txn->arena));
    *out = dir->base;
    return NULL;
}

static struct map *over_map(struct txn *txn, struct txn_node *dir)
{
    if (!dir->over)
        dir->over = map_new_in(txn->arena);
    return dir->over;
}

struct err *txn_dir_set(struct txn *txn, struct txn_node *dir, struct str name,
                        const struct txn_child *child)
{
    assert(dir->is_mutable && dir->nr.kind == NODE_DIR);
    if (!dir->entries_changed) {
        dir->entries_changed = true;
        dir->nr.has_text = true;
        dir->nr.text = (struct rep){.rev = REV_NONE, .uniq_txn.base = REV_NONE};
        txn_take_uniquifier(txn, &dir->nr.text);
    }
    struct txn_child *kept = map_get(over_map(txn, dir), name);
    if (!kept) {
        kept = ARENA_NEW(txn->arena, struct txn_child);
        map_put(dir->over, name, kept);
    }
    *kept = *child;
    return NULL;
}

struct err *txn_dir_find(struct txn_child *out, bool *found, struct txn *txn, struct txn_node *dir,
                         struct str name)
{
    const struct txn_child *child = dir->over ? map_get(dir->over, name) : NULL;
    if (child) {
        *out = *child;
        *found = child->kind != NODE_NONE;
        return NULL;
    }
    const struct dir *base;
    TRY(txn_dir_base(&base, txn, dir));
    const struct dirent_fs *entry = base ? dir_find(base, name) : NULL;
    *found = entry != NULL;
    if (entry)
        *out = (struct txn_child){NULL, entry->id, entry->kind};
    return NULL;
}

struct str *txn_dir_over(size_t *n, const struct txn_node *dir, struct arena *arena)
{
    *n = 0;
    return dir->over ? map_sorted(dir->over, n, arena) : NULL;
}

/* ---- all of them ---- */

/* A folder whose children are given out. */
struct txn_walk_dir {
    struct txn_node *dir;
    const struct str *names;
    size_t n, next;
    struct txn_walk_dir *up;
};

static void dir_enter(struct txn_walk *walk, struct txn_node *dir)
{
    struct txn_walk_dir *open = ARENA_NEW(walk->arena, struct txn_walk_dir);
    *open = (struct txn_walk_dir){.dir = dir, .up = walk->top};
    open->names = txn_dir_over(&open->n, dir, walk->arena);
    walk->top = open;
}

void txn_walk_begin(struct txn_walk *walk, const struct txn *txn, struct arena *arena)
{
    *walk = (struct txn_walk){.arena = arena};
    dir_enter(walk, txn->root);
}

struct txn_node *txn_walk_next(struct txn_walk *walk)
{
    struct txn_walk_dir *open;
    while ((open = walk->top) && open->next < open->n) {
        const struct txn_child *child = map_get(open->dir->over, open->names[open->next++]);
        if (!child->node || child->kind == NODE_NONE)
            continue;
        if (child->node->nr.kind != NODE_DIR)
            return child->node;
        dir_enter(walk, child->node);
    }
    if (!open)
        return NULL;
    walk->top = open->up;
    return open->dir;
}

/* ---- revisions ---- */

struct err *noderev_descend(const struct noderev **noderev, struct fsfs *fs, struct str below,
                            struct arena *arena)
{
    const struct arena_mark mark = arena_mark(arena);
    const struct noderev *nr = *noderev;
    struct str name;
    *noderev = NULL;
    while (path_next(&name, &below)) {
        const struct dir *dir;
        if (nr->kind != NODE_DIR)
            return NULL;
        TRY(dir_get(&dir, fs, nr, arena));
        const struct dirent_fs *entry = dir_find(dir, name);
        if (!entry)
            return NULL;
        const struct noderev_id id = entry->id;
        arena_rewind(arena, mark); /* only the end is kept */
        TRY(noderev_get(&nr, fs, &id, arena));
    }
    *noderev = nr;
    return NULL;
}

struct err *revision_find(const struct noderev **out, struct fsfs *fs, revnum rev, struct str path,
                          struct arena *arena)
{
    TRY(noderev_root(out, fs, rev, arena));
    return noderev_descend(out, fs, str_skip(path, 1), arena);
}

/* ---- ways ---- */

static size_t component_count(struct str path)
{
    if (path.n <= 1)
        return 0;
    size_t n = 0;
    for (size_t i = 0; i < path.n; i++)
        n += path.p[i] == '/';
    return n;
}

/* The child NAME of the directory at PARENT; CHILD->nr is NULL where there is none. */
static struct err *step_down(struct txn_step *child, struct txn *txn, const struct txn_step *parent,
                             struct arena *arena)
{
    struct txn_child found_child;
    bool found;
    if (parent->node) {
        TRY(txn_dir_find(&found_child, &found, txn, parent->node, child->name));
    } else {
        const struct dir *dir;
        TRY(dir_get(&dir, txn->fs, parent->nr, arena));
        const struct dirent_fs *entry = dir_find(dir, child->name);
        found = entry != NULL;
        if (found)
            found_child = (struct txn_child){NULL, entry->id, entry->kind};
    }
    if (!found)
        return NULL;
    child->node = found_child.node;
    if (child->node)
        child->nr = &child->node->nr;
    else
        TRY(noderev_get(&child->nr, txn->fs, &found_child.id, arena));
    child->copy_was = child->nr->id.copy;
    return NULL;
}

/* Walk as far as PATH leads: WAY->n counts the components of PATH and the root; *REACHED those that
 * exist. */
static struct err *walk(struct txn_way *out, size_t *reached, struct txn *txn, struct str path,
                        struct arena *arena)
{
    size_t n = component_count(path) + 1;
    TRY(arena_check(arena, n * sizeof(struct txn_step)));
    struct txn_step *steps = arena_array(arena, n, sizeof *steps);
    memset(steps, 0, n * sizeof *steps);
    steps[0] = (struct txn_step){S(""), S("/"), txn->root, &txn->root->nr, txn->root->nr.id.copy};
    struct str rest = str_skip(path, 1);
    size_t i = 1;
    for (; i < n; i++) {
        path_next(&steps[i].name, &rest);
        steps[i].path = str_make(path.p, (size_t)(steps[i].name.p + steps[i].name.n - path.p));
        if (steps[i - 1].nr->kind != NODE_DIR)
            break;
        TRY(step_down(&steps[i], txn, &steps[i - 1], arena));
        if (!steps[i].nr)
            break;
    }
    *reached = i;
    *out = (struct txn_way){steps, n};
    return NULL;
}

struct err *way_open(struct txn_way *out, struct txn *txn, struct str path, bool last_optional,
                     struct arena *arena)
{
    size_t reached;
    TRY(walk(out, &reached, txn, path, arena));
    if (reached == out->n)
        return NULL;
    const struct txn_step *before = &out->steps[reached - 1];
    if (before->nr->kind != NODE_DIR) {
        struct err *cause =
            err_make(E_FS_NOT_DIRECTORY, "'%.*s' is not a directory in filesystem '%s'",
                     STR(before->path), txn->fs->uuid);
        return err_wrap(cause, 0, "Failure opening '%.*s' in transaction '%.*s'", STR(before->path),
                        STR(txn->name));
    }
    if (last_optional && reached == out->n - 1)
        return NULL;
    return err_make(E_FS_NOT_FOUND, "File not found: transaction '%.*s', path '%.*s'",
                    STR(txn->name), STR(path));
}

struct err *way_try(struct txn_way *out, bool *found, struct txn *txn, struct str path,
                    struct arena *arena)
{
    size_t reached;
    TRY(walk(out, &reached, txn, path, arena));
    *found = reached == out->n;
    return NULL;
}

/* ---- making mutable ---- */

static bool same_copyroot(const struct noderev *a, const struct noderev *b)
{
    return a->copyroot_rev == b->copyroot_rev && str_eq(a->copyroot_path, b->copyroot_path);
}

/* Is the node that NR's copyroot names a form of NR itself? */
static struct err *is_own_copyroot(bool *out, struct txn *txn, const struct noderev *nr,
                                   struct arena *arena)
{
    *out = false;
    if (nr->copyroot_path.n == 1)
        return NULL; /* the root, which is no node's earlier form but its own */
    if (nr->copyroot_rev == nr->id.rev && str_eq(nr->copyroot_path, nr->cpath)) {
        *out = true;
        return NULL;
    }
    const struct noderev *root;
    TRY(revision_find(&root, txn->fs, nr->copyroot_rev, nr->copyroot_path, arena));
    if (!root)
        return err_make(E_FS_CORRUPT,
                        "The copy root '%.*s' of '%.*s' does not exist in revision %lld",
                        STR(nr->copyroot_path), STR(nr->cpath), (long long)nr->copyroot_rev);
    *out = noderev_id_related(&root->id, &nr->id);
    return NULL;
}

/* The copy-id that the mutable form of CHILD takes. */
static struct err *copy_id_for(struct id_part *out, struct txn *txn, const struct txn_step *parent,
                               const struct txn_step *child, bool own_copyroot)
{
    struct id_part copy = child->nr->id.copy;
    bool is_zero = copy.rev == 0 && copy.num == 0;
    *out = parent->node->nr.id.copy;
    if (is_zero || id_part_eq(copy, parent->copy_was) || !own_copyroot)
        return NULL;
    if (str_eq(child->nr->cpath, child->path))
        *out = copy; /* on its own branch, reached by its own name */
    else
        *out =
            txn_take_copy_id(txn); /* a branch point inside a copied tree becomes one of its own */
    return NULL;
}

/* PATH is the child's, and lives as long as the transaction. */
static struct err *make_step_mutable(struct txn *txn, struct txn_step *parent,
                                     struct txn_step *child, struct str path)
{
    /* The committed node-revision outlives the operation: it stays the source of entries and
     * properties. */
    const struct noderev *from;
    TRY(noderev_get(&from, txn->fs, &child->nr->id, txn->arena));
    bool own_copyroot = false;
    bool plainly_below =
        id_part_eq(from->id.copy, parent->copy_was) && same_copyroot(from, &parent->node->nr);
    if (!plainly_below)
        TRY(is_own_copyroot(&own_copyroot, txn, from, txn->scratch));
    struct id_part copy;
    TRY(copy_id_for(&copy, txn, parent, child, own_copyroot));

    struct txn_node *node = txn_node_new(txn, from);
    struct noderev *nr = &node->nr;
    if (!own_copyroot && !same_copyroot(from, &parent->node->nr)) {
        nr->copyroot_rev = parent->node->nr.copyroot_rev;
        nr->copyroot_path = parent->node->nr.copyroot_path;
    }
    nr->copyfrom_rev = REV_NONE;
    nr->copyfrom_path = S("");
    nr->has_pred = true;
    nr->pred = from->id;
    nr->count++;
    nr->cpath = path;
    nr->id = (struct noderev_id){from->id.node, copy, REV_NONE, 0, txn->id};
    TRY(txn_dir_set(txn, parent->node, child->name, &(struct txn_child){node, nr->id, nr->kind}));
    child->node = node;
    child->nr = nr;
    return NULL;
}

struct err *way_make_mutable(struct txn *txn, struct txn_way *way, size_t n)
{
    struct str path = {0}; /* one for all: the way may be long */
    for (size_t i = 1; i < n; i++) {
        struct txn_step *step = &way->steps[i];
        if (step->node)
            continue;
        if (!path.p)
            path = arena_str(txn->arena, way->steps[n - 1].path);
        TRY(make_step_mutable(txn, step - 1, step, str_make(path.p, step->path.n)));
    }
    return NULL;
}

struct err *way_add_mergeinfo(struct txn_way *way, size_t count, int64_t n)
{
    for (size_t i = 0; i < count; i++) {
        struct noderev *nr = &way->steps[i].node->nr;
        if (nr->minfo_cnt + n < 0)
            return err_make(E_FS_CORRUPT,
                            "Can't increment mergeinfo count on '%.*s' to negative value %lld",
                            STR(way->steps[i].path), (long long)(nr->minfo_cnt + n));
        nr->minfo_cnt += n;
    }
    return NULL;
}
