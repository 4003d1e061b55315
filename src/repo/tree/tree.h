/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - a revision's tree, or a transaction's, and places in it.
 *
 * Paths are absolute. What is returned "in ARENA" lives as long as it. */
#ifndef VARVE_REPO_TREE_TREE_H
#define VARVE_REPO_TREE_TREE_H

#include "fsfs/read/dir.h"
#include "fsfs/read/rep.h"
#include "fsfs/txn/txn.h"

struct tree {
    struct fsfs *fs;
    revnum rev;      /* REV_NONE: TXN's */
    struct txn *txn; /* or NULL */
};
struct err *tree_of_rev(struct tree *out, struct fsfs *fs, revnum rev); /* E_FS_NO_SUCH_REVISION */
void tree_of_txn(struct tree *out, struct txn *txn);

struct node {
    const struct noderev *noderev;
    struct str path;                 /* as asked for, absolute */
    const struct txn_node *txn_node; /* in a transaction's tree */
};
/* The node at PATH; *FOUND false where there is none (also where a parent is a file). */
struct err *tree_find(struct node *out, bool *found, const struct tree *tree, struct str path,
                      struct arena *arena);
/* The same; where there is none E_FS_NOT_FOUND "File not found: revision N, path '/p'" (or
 * "transaction 'T'"), where a parent is a file E_FS_NOT_DIRECTORY "Failure opening '/parent' in
 * revision N". */
struct err *tree_node(struct node *out, const struct tree *tree, struct str path,
                      struct arena *arena);
/* That E_FS_NOT_FOUND. */
struct err *tree_not_found(const struct tree *tree, struct str path);
/* From an entry of PARENT. */
struct err *tree_child(struct node *out, const struct tree *tree, const struct node *parent,
                       const struct dirent_fs *entry, struct arena *arena);
/* The same where the entry's PATH is known: a view of it is the node's. */
struct err *tree_entry(struct node *out, const struct tree *tree, struct str path,
                       const struct dirent_fs *entry, struct arena *arena);

/* The nodes from the root down to PATH, a step each, however deep the tree. A node, whose path is a
 * view of PATH, and all that is put into ARENA meanwhile live until the next call. */
struct tree_way {
    const struct tree *tree;
    struct str path, rest; /* rest: not yet gone */
    struct arena *arena;
    struct arena_mark mark;   /* as it was */
    const struct noderev *at; /* of the node given last; NULL before the first */
};
void tree_way_begin(struct tree_way *way, const struct tree *tree, struct str path,
                    struct arena *arena);
/* *MORE false behind PATH's node. What is not there is an error, as for tree_node. */
struct err *tree_way_next(bool *more, struct node *out, struct tree_way *way);

struct err *node_entries(const struct dirent_fs **list, size_t *n, const struct tree *tree,
                         const struct node *node, struct arena *arena);
struct err *node_props(const struct prop **list, size_t *n, const struct tree *tree,
                       const struct node *node, struct arena *arena);
struct err *node_prop(struct str *value, bool *found, const struct tree *tree,
                      const struct node *node, struct str name, struct arena *arena);
struct err *node_text(struct reader **out, const struct tree *tree, const struct node *node);
/* The revision in which the node was last changed. */
revnum node_created_rev(const struct node *node);

#endif
