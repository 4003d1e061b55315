/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a transaction: ways through it, and making places on them mutable. */
#include "base/account.h"
#include "base/path.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/txn/txn_int.h"
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

struct err *revision_find(const struct noderev **out, struct fsfs *fs, revnum rev, struct str path,
                          struct arena *arena)
{
    const struct noderev *nr;
    struct str rest = str_skip(path, 1), name;
    const struct arena_mark mark = arena_mark(arena);
    *out = NULL;
    TRY(noderev_root(&nr, fs, rev, arena));
    while (path_next(&name, &rest)) {
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
    *out = nr;
    return NULL;
}

/* ---- ways ---- */

void way_cut(struct txn_way *way, size_t n)
{
    if (n >= way->known)
        return;
    arena_rewind(way->arena, way->steps[n].before);
    way->known = n;
}

void way_free(struct txn *txn)
{
    struct txn_way *way = &txn->way;
    account_release(txn->account, way->steps, way->cap, sizeof *way->steps);
    buf_free(&way->path);
    arena_free(way->arena);
}

/* Room for one step more than is known. */
static struct txn_step *way_grow(struct txn *txn, struct txn_way *way)
{
    if (way->known == way->cap)
        way->steps = account_grow(txn->account, way->steps, &way->cap, sizeof *way->steps);
    return &way->steps[way->known];
}

static size_t common_length(struct str a, struct str b)
{
    enum { BLOCK = 64 };
    const size_t n = a.n < b.n ? a.n : b.n;
    size_t i = 0;
    while (n - i >= BLOCK && memcmp(a.p + i, b.p + i, BLOCK) == 0)
        i += BLOCK;
    while (i < n && a.p[i] == b.p[i])
        i++;
    return i;
}

/* Keep what WAY shares with the one to PATH. */
static void way_turn(struct txn_way *way, struct str path)
{
    const size_t common = common_length(buf_view(&way->path), path);
    size_t keep = way->known;
    for (; keep > 1; keep--) {
        const size_t n = way->steps[keep - 1].path_n;
        if (n < common || (n == common && (n == path.n || path.p[n] == '/')))
            break;
    }
    way_cut(way, keep);
    way->path.n = common;
    buf_str(&way->path, str_skip(path, common));
}

static void root_step(struct txn *txn, struct txn_way *way)
{
    if (way->known == 0) {
        *way_grow(txn, way) = (struct txn_step){.before = arena_mark(way->arena)};
        way->known = 1;
    }
    way->steps[0].name_at = way->steps[0].path_n = 1;
    way->steps[0].node = txn->root;
    way->steps[0].nr = &txn->root->nr;
}

/* How many components PATH has behind STEP, which is on the way to it. */
static size_t components_left(struct str path, const struct txn_step *step)
{
    struct str rest = str_skip(path, step->path_n), name;
    size_t n = 0;
    if (step->path_n > 1 && rest.n)
        rest = str_skip(rest, 1);
    while (path_next(&name, &rest))
        n++;
    return n;
}

/* The step behind the last one that is known. */
static struct txn_step *next_step(struct txn *txn, struct txn_way *way)
{
    struct txn_step *step = way_grow(txn, way);
    const struct str path = buf_view(&way->path);
    const size_t above = step[-1].path_n, at = above + (above > 1);
    const size_t slash = str_find(str_skip(path, at), '/');
    *step = (struct txn_step){.name_at = at,
                              .path_n = slash == SIZE_MAX ? path.n : at + slash,
                              .before = arena_mark(way->arena)};
    return step;
}

/* The entry NAME of a committed folder. */
static struct err *committed_find(struct txn_child *out, bool *found, struct fsfs *fs,
                                  const struct noderev *nr, struct str name, struct arena *arena)
{
    const struct arena_mark mark = arena_mark(arena);
    const struct dir *dir;
    TRY(dir_get(&dir, fs, nr, arena));
    const struct dirent_fs *entry = dir_find(dir, name);
    *found = entry != NULL;
    if (entry)
        *out = (struct txn_child){NULL, entry->id, entry->kind};
    arena_rewind(arena, mark); /* what is kept of the way holds no folders */
    return NULL;
}

/* Fill in STEP, which stays without a node-revision where there is none. */
static struct err *step_down(struct txn_step *step, struct txn *txn, struct txn_way *way)
{
    const struct txn_step *parent = step - 1;
    const struct str name = step_name(way, step);
    struct txn_child child;
    bool found;
    if (parent->nr->kind != NODE_DIR)
        return NULL;
    if (parent->node)
        TRY(txn_dir_find(&child, &found, txn, parent->node, name));
    else
        TRY(committed_find(&child, &found, txn->fs, parent->nr, name, way->arena));
    if (!found)
        return NULL;
    step->node = child.node;
    if (child.node)
        step->nr = &child.node->nr;
    else
        TRY(noderev_get(&step->nr, txn->fs, &child.id, way->arena));
    return NULL;
}

/* Walk as far as PATH leads. */
static struct err *walk(struct txn *txn, struct str path)
{
    struct txn_way *way = &txn->way;
    way_turn(way, path);
    root_step(txn, way);
    way->n = way->known + components_left(path, &way->steps[way->known - 1]);
    while (way->known < way->n) {
        struct txn_step *step = next_step(txn, way);
        TRY(account_check());
        TRY(step_down(step, txn, way));
        if (!step->nr)
            break;
        way->known++;
    }
    return NULL;
}

struct err *way_open(struct txn_way **out, struct txn *txn, struct str path, bool last_optional)
{
    struct txn_way *way = *out = &txn->way;
    TRY(walk(txn, path));
    if (way->known == way->n)
        return NULL;
    const struct txn_step *end = &way->steps[way->known - 1];
    if (end->nr->kind != NODE_DIR) {
        const struct str end_path = step_path(way, end);
        struct err *cause =
            err_make(E_FS_NOT_DIRECTORY, "'%.*s' is not a directory in filesystem '%s'",
                     STR(end_path), txn->fs->uuid);
        return err_wrap(cause, 0, "Failure opening '%.*s' in transaction '%.*s'", STR(end_path),
                        STR(txn->name));
    }
    if (last_optional && way->known == way->n - 1)
        return NULL;
    return err_make(E_FS_NOT_FOUND, "File not found: transaction '%.*s', path '%.*s'",
                    STR(txn->name), STR(path));
}

struct err *way_try(struct txn_way **out, bool *found, struct txn *txn, struct str path)
{
    *out = &txn->way;
    TRY(walk(txn, path));
    *found = txn->way.known == txn->way.n;
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

/* The copy-id that the mutable form of the node NR at PATH takes; PARENT_WAS is that of the folder
 * above before it was made mutable, PARENT what it is now. */
static struct id_part copy_id_for(struct txn *txn, struct id_part parent, struct id_part parent_was,
                                  const struct noderev *nr, struct str path, bool own_copyroot)
{
    struct id_part copy = nr->id.copy;
    bool is_zero = copy.rev == 0 && copy.num == 0;
    if (is_zero || id_part_eq(copy, parent_was) || !own_copyroot)
        return parent;
    /* On its own branch, reached by its own name; else a branch point inside a copied tree becomes
     * one of its own. */
    return str_eq(nr->cpath, path) ? copy : txn_take_copy_id(txn);
}

/* STEP is behind one that is mutable, whose copy-id was PARENT_WAS before. PATH lives as long as
 * the transaction. */
static struct err *make_step_mutable(struct txn *txn, struct txn_step *step,
                                     struct id_part parent_was, struct str name, struct str path)
{
    struct txn_node *parent = step[-1].node;
    /* The committed node-revision outlives the operation: it stays the source of entries and
     * properties. */
    const struct noderev *from;
    TRY(noderev_get(&from, txn->fs, &step->nr->id, txn->arena));
    bool own_copyroot = false;
    bool plainly_below = id_part_eq(from->id.copy, parent_was) && same_copyroot(from, &parent->nr);
    if (!plainly_below)
        TRY(is_own_copyroot(&own_copyroot, txn, from, txn->scratch));
    struct id_part copy =
        copy_id_for(txn, parent->nr.id.copy, parent_was, from, path, own_copyroot);

    struct txn_node *node = txn_node_new(txn, from);
    struct noderev *nr = &node->nr;
    if (!own_copyroot && !same_copyroot(from, &parent->nr)) {
        nr->copyroot_rev = parent->nr.copyroot_rev;
        nr->copyroot_path = parent->nr.copyroot_path;
    }
    nr->copyfrom_rev = REV_NONE;
    nr->copyfrom_path = S("");
    nr->has_pred = true;
    nr->pred = from->id;
    nr->count++;
    nr->cpath = path;
    nr->id = (struct noderev_id){from->id.node, copy, REV_NONE, 0, txn->id};
    TRY(txn_dir_set(txn, parent, name, &(struct txn_child){node, nr->id, nr->kind}));
    step->node = node;
    step->nr = nr;
    return NULL;
}

struct err *way_make_mutable(struct txn *txn, struct txn_way *way, size_t n)
{
    size_t first = n; /* what is above a mutable node is, too */
    while (first > 1 && !way->steps[first - 1].node)
        first--;
    if (first == n)
        return NULL;
    /* One for all: the way may be long. */
    const char *path = arena_str(txn->arena, step_path(way, &way->steps[n - 1])).p;
    struct id_part parent_was = way->steps[first - 1].nr->id.copy;
    for (size_t i = first; i < n; i++) {
        struct txn_step *step = &way->steps[i];
        const struct id_part was = step->nr->id.copy;
        TRY(make_step_mutable(txn, step, parent_was, step_name(way, step),
                              str_make(path, step->path_n)));
        parent_was = was;
    }
    return NULL;
}

struct err *way_add_mergeinfo(struct txn_way *way, size_t count, int64_t n)
{
    for (size_t i = 0; n && i < count; i++) {
        struct noderev *nr = &way->steps[i].node->nr;
        if (nr->minfo_cnt + n < 0)
            return err_make(E_FS_CORRUPT,
                            "Can't increment mergeinfo count on '%.*s' to negative value %lld",
                            STR(step_path(way, &way->steps[i])), (long long)(nr->minfo_cnt + n));
        nr->minfo_cnt += n;
    }
    return NULL;
}
