/* SPDX-License-Identifier: Apache-2.0 */
/* brought_along.h - what a copy brought along, for who cannot be told that it is a copy.
 *
 * A cursor over what is below a folder now and was below the copy's source: the source's entries,
 * as they are now, and so on in each folder that the caller enters. Changes of them are dealt with
 * by that; what is new among them comes as a change of its own. With the folder itself as source
 * and no changes it is a walk through a tree.
 *
 * The repository decides how deep the tree is: the way down is a list, not a recursion on the
 * thread's stack, and its folders share the memory of one path. */
#ifndef VARVE_REPO_EDIT_BROUGHT_ALONG_H
#define VARVE_REPO_EDIT_BROUGHT_ALONG_H

#include "base/map.h"
#include "repo/tree/tree.h"

struct brought_along;
struct brought_params {
    struct tree tree;    /* what is now */
    struct map *changes; /* path to struct change, those not dealt with yet; NULL: none */
    bool walk_order;     /* of walk_order.h; else by name */
};
/* FOLDER, of the tree, has what SOURCE, a folder of a revision, brought along. */
struct err *brought_along_open(struct brought_along **out, const struct brought_params *params,
                               const struct node *folder, const struct noderev *source);

/* What comes next and is still there: *NODE in ARENA, its path valid until the next call. LEFT: a
 * folder that was entered is at its end, and nothing else is said. */
struct err *brought_along_next(bool *more, bool *left, struct node *node,
                               struct brought_along *walk, struct arena *arena);
/* The node that was given last is a folder, and what is in it comes next, then that it is LEFT. */
struct err *brought_along_enter(struct brought_along *walk, const struct node *folder);
void brought_along_close(struct brought_along *walk); /* NULL is fine */

#endif
