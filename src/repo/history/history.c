/* SPDX-License-Identifier: Apache-2.0 */
/* A node's history follows predecessors, which is cheap, and looks at the tree again only behind a
 * copy: between two copies the chain of predecessors is the history, and the copy root says where
 * the last copy was. */
#include "repo/history/history.h"
#include "base/account.h"
#include "base/path.h"
#include "fsfs/read/noderev_get.h"

/* The node at a place, and the youngest copy root on the way to it: where it, or a folder above it,
 * was last copied. */
struct place {
    const struct noderev *node;
    revnum copy_rev;
    struct str copy_path;
};

static void place_enter(struct place *place, const struct noderev *node)
{
    place->node = node;
    if (node->copyroot_rev >= place->copy_rev) {
        place->copy_rev = node->copyroot_rev;
        place->copy_path = node->copyroot_path;
    }
}

static struct err *place_find(struct place *out, struct fsfs *fs, struct str path, revnum rev,
                              struct arena *arena)
{
    struct tree tree;
    struct node node;
    TRY(tree_of_rev(&tree, fs, rev));
    *out = (struct place){.copy_rev = REV_NONE};
    TRY(noderev_root(&node.noderev, fs, rev, arena));
    place_enter(out, node.noderev);
    struct str name, rest = str_skip(path, 1);
    while (path_next(&name, &rest)) {
        const struct dirent_fs *entry = NULL;
        if (out->node->kind == NODE_DIR) {
            const struct dir *dir;
            TRY(dir_get(&dir, fs, out->node, arena));
            entry = dir_find(dir, name);
        }
        if (!entry)
            return tree_node(&node, &tree, path, arena); /* says that it is not there */
        TRY(noderev_get(&node.noderev, fs, &entry->id, arena));
        place_enter(out, node.noderev);
    }
    return NULL;
}

/* ---- the walk back ---- */

struct history {
    struct fsfs *fs;
    bool cross_copies;
    bool reported; /* (path, rev) has been returned */
    bool done;
    struct buf path;
    revnum rev;
    const struct noderev *node; /* at (path, rev), a reference; NULL: look it up */
    revnum copy_rev;            /* the youngest copy root there, where NODE is known */
    struct buf copy_path;
    revnum from_rev; /* what was returned is the target of this copy, where the history goes on;
                        REV_NONE: it is not */
    struct buf from_path;
    struct arena *scratch; /* of one step */
};

static void history_free(void *arg)
{
    struct history *h = arg;
    shared_unref((void *)h->node);
    buf_free(&h->path);
    buf_free(&h->copy_path);
    buf_free(&h->from_path);
    arena_free(h->scratch);
}

static void buf_set(struct buf *buf, struct str s)
{
    buf_clear(buf);
    buf_str(buf, s);
}

static void history_set_node(struct history *h, const struct noderev *node)
{
    const struct noderev *before = h->node;
    h->node = node ? shared_ref((void *)node) : NULL;
    shared_unref((void *)before);
}

static bool history_is_root(const struct history *h)
{
    return h->path.n == 1;
}

static struct err *history_look(struct history *h)
{
    struct place place;
    TRY(place_find(&place, h->fs, buf_view(&h->path), h->rev, h->scratch));
    history_set_node(h, place.node);
    h->copy_rev = place.copy_rev;
    buf_set(&h->copy_path, place.copy_path);
    return NULL;
}

struct err *history_open(struct history **out, struct fsfs *fs, struct str path, revnum rev,
                         bool cross_copies, struct arena *arena)
{
    TRY(account_check());
    TRY(fsfs_check_revision(fs, rev));
    struct history *h = ARENA_NEW(arena, struct history);
    *h = (struct history){.fs = fs,
                          .cross_copies = cross_copies,
                          .rev = rev,
                          .from_rev = REV_NONE,
                          .scratch = arena_new()};
    arena_on_free(arena, history_free, h);
    buf_str(&h->path, path);
    *out = h;
    if (history_is_root(h))
        return NULL;
    struct err *err = history_look(h);
    if (!err || err->code != E_FS_NOT_DIRECTORY)
        return err;
    err_free(err);
    return tree_not_found(&(struct tree){.fs = fs, .rev = rev}, path);
}

/* Every revision has a new root. */
static void root_step(struct history *h)
{
    if (h->reported && h->rev-- == 0)
        h->done = true;
    h->reported = true;
}

/* The place is what a copy made, and nothing happened to it between COMMIT, its state before or at
 * the copy, and now: the history goes through the copy. False where the copy root says nothing
 * about this path. */
static struct err *copy_step(bool *taken, struct history *h)
{
    *taken = false;
    struct tree tree;
    struct node copy;
    TRY(tree_of_rev(&tree, h->fs, h->copy_rev));
    TRY(tree_node(&copy, &tree, buf_view(&h->copy_path), h->scratch));
    const struct noderev *made = copy.noderev;
    struct str below;
    if (made->copyfrom_rev == REV_NONE ||
        !path_skip_ancestor(&below, made->cpath, buf_view(&h->path)))
        return NULL;
    buf_set(&h->from_path, path_join(made->copyfrom_path, below, h->scratch));
    h->from_rev = made->copyfrom_rev;
    /* Where the node itself was changed in the copy's revision that was returned just now. */
    bool again = h->reported && h->rev == h->copy_rev;
    h->rev = h->copy_rev;
    h->reported = !again;
    *taken = true;
    return NULL;
}

/* One move; h->reported says whether it arrived at something to return. */
static struct err *history_step(struct history *h)
{
    if (h->from_rev != REV_NONE) {
        if (!h->cross_copies) {
            h->done = true;
            return NULL;
        }
        struct buf path = h->path;
        h->path = h->from_path;
        h->from_path = path;
        h->rev = h->from_rev;
        h->from_rev = REV_NONE;
        h->reported = false;
        history_set_node(h, NULL);
    }
    if (!h->node)
        TRY(history_look(h));
    const struct noderev *commit = h->node;
    if (h->rev == commit->id.rev) {
        if (!h->reported) {
            buf_set(&h->path, commit->cpath);
            h->reported = true;
            return NULL;
        }
        if (!commit->has_pred) {
            h->done = true;
            return NULL;
        }
        TRY(noderev_get(&commit, h->fs, &h->node->pred, h->scratch));
    }
    if (h->copy_rev > commit->id.rev) {
        bool taken;
        TRY(copy_step(&taken, h));
        if (taken)
            return NULL;
    }
    buf_set(&h->path, commit->cpath);
    h->rev = commit->id.rev;
    h->reported = true;
    /* With a copy root between that did not concern this path, what is known about copies here is
     * not known there. */
    history_set_node(h, h->copy_rev > commit->id.rev ? NULL : commit);
    return NULL;
}

struct err *history_next(bool *more, struct str *path, revnum *rev, struct history *h)
{
    struct arena_mark mark = arena_mark(h->scratch);
    struct err *err = NULL;
    if (!h->done && history_is_root(h) && h->from_rev == REV_NONE) {
        root_step(h);
    } else {
        do {
            if (!h->done)
                err = history_step(h);
        } while (!err && !h->done && !h->reported);
    }
    arena_rewind(h->scratch, mark);
    TRY(err);
    *more = !h->done;
    *path = buf_view(&h->path);
    *rev = h->rev;
    return NULL;
}

const struct noderev *history_node(const struct history *h)
{
    const bool is_it =
        h->node && h->node->id.rev == h->rev && str_eq(h->node->cpath, buf_view(&h->path));
    return is_it ? h->node : NULL;
}

/* ---- copies ---- */

/* The copy made PATH only if PATH came with it: a node that was made below the copy's target later,
 * or in the same commit, did not. */
static struct err *came_with_copy(bool *out, struct fsfs *fs, struct str path,
                                  const struct place *place, struct arena *arena)
{
    struct tree tree;
    struct node then;
    TRY(tree_of_rev(&tree, fs, place->copy_rev));
    TRY(tree_find(&then, out, &tree, path, arena));
    if (!*out)
        return NULL;
    const struct noderev *nr = then.noderev;
    *out = noderev_id_related(&nr->id, &place->node->id) &&
           (nr->id.rev != place->copy_rev || nr->has_pred);
    return NULL;
}

struct err *node_nearest_copy(bool *found, revnum *copy_rev, struct str *copy_path,
                              revnum *from_rev, struct str *from_path, struct fsfs *fs,
                              struct str path, revnum rev, struct arena *arena)
{
    struct place place;
    *found = false;
    TRY(place_find(&place, fs, path, rev, arena));
    if (place.copy_rev == 0)
        return NULL;
    bool came;
    TRY(came_with_copy(&came, fs, path, &place, arena));
    if (!came)
        return NULL;
    struct tree tree;
    struct node made;
    TRY(tree_of_rev(&tree, fs, place.copy_rev));
    TRY(tree_node(&made, &tree, place.copy_path, arena));
    *found = made.noderev->copyfrom_rev != REV_NONE;
    *copy_rev = place.copy_rev;
    *copy_path = place.copy_path;
    *from_rev = made.noderev->copyfrom_rev;
    *from_path = made.noderev->copyfrom_path;
    return NULL;
}

struct err *node_location_before(bool *found, revnum *appeared_rev, struct str *from_path,
                                 revnum *from_rev, struct fsfs *fs, struct str path, revnum rev,
                                 struct arena *arena)
{
    struct str copy_path, source, below;
    TRY(node_nearest_copy(found, appeared_rev, &copy_path, from_rev, &source, fs, path, rev,
                          arena));
    *found = *found && path_skip_ancestor(&below, copy_path, path);
    if (*found)
        *from_path = path_join(source, below, arena);
    return NULL;
}

struct err *nodes_related(bool *out, const struct node *a, const struct node *b)
{
    *out = noderev_id_related(&a->noderev->id, &b->noderev->id);
    return NULL;
}
