/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/tree.h"
#include "base/account.h"
#include "base/path.h"

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
    TRY(txn_find(&node, txn, path));
    *found = node != NULL;
    if (node)
        *out = (struct node){
            .noderev = txn_node_noderev(node), .path = arena_str(arena, path), .txn_node = node};
    return NULL;
}

struct err *tree_find(struct node *out, bool *found, const struct tree *tree, struct str path,
                      struct arena *arena)
{
    *found = false;
    TRY(account_check());
    if (tree->txn)
        return find_in_txn(out, found, tree->txn, path, arena);
    const struct noderev *noderev;
    TRY(noderev_root(&noderev, tree->fs, tree->rev, arena));
    struct str name, rest = str_skip(path, 1);
    while (path_next(&name, &rest)) {
        if (noderev->kind != NODE_DIR)
            return NULL;
        const struct dir *dir;
        TRY(dir_get(&dir, tree->fs, noderev, arena));
        const struct dirent_fs *entry = dir_find(dir, name);
        if (!entry)
            return NULL;
        TRY(noderev_get(&noderev, tree->fs, &entry->id, arena));
    }
    *out = (struct node){.noderev = noderev, .path = arena_str(arena, path)};
    *found = true;
    return NULL;
}

/* Where a parent of PATH is a file: says so. */
static struct err *check_parents(const struct tree *tree, struct str path, struct arena *arena)
{
    for (size_t end = 1; end < path.n; end++) {
        if (path.p[end] != '/')
            continue;
        struct str parent = str_make(path.p, end);
        struct node node;
        bool found;
        TRY(tree_find(&node, &found, tree, parent, arena));
        if (!found)
            return NULL;
        if (node.noderev->kind == NODE_FILE) {
            struct err *cause =
                err_make(E_FS_NOT_DIRECTORY, "'%.*s' is not a directory in filesystem '%s'",
                         STR(parent), tree->fs->uuid);
            if (tree->txn) {
                struct str name = txn_name(tree->txn);
                return err_wrap(cause, 0, "Failure opening '%.*s' in transaction '%.*s'",
                                STR(parent), STR(name));
            }
            return err_wrap(cause, 0, "Failure opening '%.*s' in revision %lld", STR(parent),
                            (long long)tree->rev);
        }
    }
    return NULL;
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
    struct str path = path_join(parent->path, entry->name, arena);
    if (tree->txn)
        return tree_node(out, tree, path, arena);
    *out = (struct node){.path = path};
    return noderev_get(&out->noderev, tree->fs, &entry->id, arena);
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
