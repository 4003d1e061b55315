/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/tree/tree.h"
#include "base/account.h"
#include "base/path.h"
#include "fsfs/read/noderev_get.h"

struct err *tree_of_rev(struct tree *out, struct fsfs *fs, revnum rev)
{
    TRY(fsfs_check_revision(fs, rev));
    *out = (struct tree){.fs = fs, .rev = rev};
    return NULL;
}

void tree_of_txn(struct tree *out, struct txn *txn)
{
    *out = (struct tree){.fs = txn_fs(txn), .rev = REV_NONE, .txn = txn};
}

static struct err *find_in_txn(struct node *out, bool *found, struct txn *txn, struct str path,
                               struct arena *arena)
{
    const struct txn_node *node;
    TRY(txn_find(&node, txn, path, arena));
    *found = node != NULL;
    if (node)
        *out = (struct node){
            .noderev = txn_node_noderev(node), .path = arena_str(arena, path), .txn_node = node};
    return NULL;
}

/* The entry NAME of the folder NODEREV, if it is one and has such an entry. */
static struct err *step_down(bool *found, struct noderev_id *id, const struct tree *tree,
                             const struct noderev *noderev, struct str name, struct arena *arena)
{
    const struct dir *dir;
    *found = false;
    if (noderev->kind != NODE_DIR)
        return NULL;
    TRY(dir_get(&dir, tree->fs, noderev, arena));
    const struct dirent_fs *entry = dir_find(dir, name);
    *found = entry != NULL;
    if (entry)
        *id = entry->id;
    return NULL;
}

struct err *tree_find(struct node *out, bool *found, const struct tree *tree, struct str path,
                      struct arena *arena)
{
    *found = false;
    TRY(account_check());
    if (tree->txn)
        return find_in_txn(out, found, tree->txn, path, arena);
    const struct arena_mark mark = arena_mark(arena);
    const struct noderev *noderev;
    TRY(noderev_root(&noderev, tree->fs, tree->rev, arena));
    struct str name, rest = str_skip(path, 1);
    while (path_next(&name, &rest)) {
        struct noderev_id id;
        TRY(step_down(found, &id, tree, noderev, name, arena));
        if (!*found)
            return NULL;
        arena_rewind(arena, mark); /* the way may be long: only its end is kept */
        TRY(noderev_get(&noderev, tree->fs, &id, arena));
    }
    *out = (struct node){.noderev = noderev, .path = arena_str(arena, path)};
    *found = true;
    return NULL;
}

/* The first N components of PATH. */
static struct str path_start(struct str path, size_t n)
{
    struct str name = str_make(path.p, 1), rest = str_skip(path, 1);
    while (n-- && path_next(&name, &rest)) {
    }
    return str_make(path.p, (size_t)(name.p + name.n - path.p));
}

/* The longest part of PATH, which is not there, that is there, and its kind; searched by halves. */
static struct err *find_last(struct str *last, enum node_kind *kind, const struct tree *tree,
                             struct str path, struct arena *arena)
{
    struct str name, rest = str_skip(path, 1);
    size_t there = 0, missing = 0; /* components */
    while (path_next(&name, &rest))
        missing++;
    *last = str_make(path.p, 1);
    *kind = NODE_DIR;
    while (missing - there > 1) {
        const size_t middle = there + (missing - there) / 2;
        const struct str start = path_start(path, middle);
        const struct arena_mark mark = arena_mark(arena);
        struct node node;
        bool found;
        TRY(tree_find(&node, &found, tree, start, arena));
        if (found) {
            there = middle;
            *last = start;
            *kind = node.noderev->kind;
        } else {
            missing = middle;
        }
        arena_rewind(arena, mark);
    }
    return NULL;
}

/* Where a parent of PATH, which is not there, is a file: says so. */
static struct err *check_parents(const struct tree *tree, struct str path, struct arena *arena)
{
    struct str parent;
    enum node_kind kind;
    TRY(find_last(&parent, &kind, tree, path, arena));
    if (kind != NODE_FILE)
        return NULL;
    struct err *cause = err_make(E_FS_NOT_DIRECTORY, "'%.*s' is not a directory in filesystem '%s'",
                                 STR(parent), tree->fs->uuid);
    if (tree->txn) {
        struct str name = txn_name(tree->txn);
        return err_wrap(cause, 0, "Failure opening '%.*s' in transaction '%.*s'", STR(parent),
                        STR(name));
    }
    return err_wrap(cause, 0, "Failure opening '%.*s' in revision %lld", STR(parent),
                    (long long)tree->rev);
}

struct err *tree_not_found(const struct tree *tree, struct str path)
{
    if (tree->txn) {
        struct str name = txn_name(tree->txn);
        return err_make(E_FS_NOT_FOUND, "File not found: transaction '%.*s', path '%.*s'",
                        STR(name), STR(path));
    }
    return err_make(E_FS_NOT_FOUND, "File not found: revision %lld, path '%.*s'",
                    (long long)tree->rev, STR(path));
}

struct err *tree_node(struct node *out, const struct tree *tree, struct str path,
                      struct arena *arena)
{
    bool found;
    TRY(tree_find(out, &found, tree, path, arena));
    if (found)
        return NULL;
    TRY(check_parents(tree, path, arena));
    return tree_not_found(tree, path);
}

struct err *tree_child(struct node *out, const struct tree *tree, const struct node *parent,
                       const struct dirent_fs *entry, struct arena *arena)
{
    return tree_entry(out, tree, path_join(parent->path, entry->name, arena), entry, arena);
}

struct err *tree_entry(struct node *out, const struct tree *tree, struct str path,
                       const struct dirent_fs *entry, struct arena *arena)
{
    if (tree->txn)
        return tree_node(out, tree, path, arena);
    *out = (struct node){.path = path};
    return noderev_get(&out->noderev, tree->fs, &entry->id, arena);
}

void tree_way_begin(struct tree_way *way, const struct tree *tree, struct str path,
                    struct arena *arena)
{
    *way = (struct tree_way){.tree = tree,
                             .path = path,
                             .rest = str_skip(path, 1),
                             .arena = arena,
                             .mark = arena_mark(arena)};
}

/* The node of a revision's tree that is entry NAME of the one given last. */
static struct err *way_down(struct node *out, struct tree_way *way, struct str name)
{
    struct noderev_id id;
    bool found;
    TRY(step_down(&found, &id, way->tree, way->at, name, way->arena));
    arena_rewind(way->arena, way->mark);
    if (!found)
        return tree_node(out, way->tree, way->path, way->arena); /* says what is missing */
    return noderev_get(&out->noderev, way->tree->fs, &id, way->arena);
}

struct err *tree_way_next(bool *more, struct node *out, struct tree_way *way)
{
    struct str name = str_make(way->path.p, 1);
    TRY(account_check());
    *more = !way->at || path_next(&name, &way->rest);
    if (!*more) {
        arena_rewind(way->arena, way->mark);
        return NULL;
    }
    const struct str here = str_make(way->path.p, (size_t)(name.p + name.n - way->path.p));
    *out = (struct node){.path = here};
    if (way->tree->txn || !way->at) {
        arena_rewind(way->arena, way->mark);
        TRY(tree_node(out, way->tree, here, way->arena));
    } else {
        TRY(way_down(out, way, name));
    }
    out->path = here;
    way->at = out->noderev;
    return NULL;
}

struct err *node_entries(const struct dirent_fs **list, size_t *n, const struct tree *tree,
                         const struct node *node, struct arena *arena)
{
    if (node->noderev->kind != NODE_DIR)
        return err_make(E_FS_NOT_DIRECTORY, "'%.*s' is not a directory in filesystem '%s'",
                        STR(node->path), tree->fs->uuid);
    if (tree->txn) {
        struct dirent_fs *entries;
        TRY(txn_node_entries(&entries, n, tree->txn, node->txn_node, arena));
        *list = entries;
        return NULL;
    }
    const struct dir *dir;
    TRY(dir_get(&dir, tree->fs, node->noderev, arena));
    *list = dir->list;
    *n = dir->n;
    return NULL;
}

struct err *node_props(const struct prop **list, size_t *n, const struct tree *tree,
                       const struct node *node, struct arena *arena)
{
    if (tree->txn)
        return txn_node_props(list, n, tree->txn, node->txn_node, arena);
    const struct props *props;
    TRY(noderev_props(&props, tree->fs, node->noderev, arena));
    *list = props ? props->list : NULL;
    *n = props ? props->n : 0;
    return NULL;
}

struct err *node_prop(struct str *value, bool *found, const struct tree *tree,
                      const struct node *node, struct str name, struct arena *arena)
{
    const struct prop *list;
    size_t n;
    TRY(node_props(&list, &n, tree, node, arena));
    *found = false;
    for (size_t i = 0; i < n && !*found; i++) {
        *found = str_eq(list[i].name, name);
        if (*found)
            *value = list[i].value;
    }
    return NULL;
}

struct err *node_text(struct reader **out, const struct tree *tree, const struct node *node)
{
    if (node->noderev->kind != NODE_FILE)
        return err_make(E_FS_NOT_FILE, "'%.*s' is not a file in filesystem '%s'", STR(node->path),
                        tree->fs->uuid);
    if (tree->txn)
        return txn_node_text(out, tree->txn, node->txn_node);
    if (node->noderev->has_text)
        return rep_open(out, tree->fs, &node->noderev->text);
    *out = reader_of_str(S(""));
    return NULL;
}

revnum node_created_rev(const struct node *node)
{
    return node->noderev->id.rev;
}
