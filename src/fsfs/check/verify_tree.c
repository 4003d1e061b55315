/* SPDX-License-Identifier: Apache-2.0 */
/* verify_tree.c - the node-revisions that are new in a revision, from its root down.
 *
 * The walk keeps a stack of the directories on the way to where it is. A directory is compared with
 * its predecessor's entries side by side; only what differs is looked at. Its count of nodes with
 * mergeinfo follows from its predecessor's and the differences. */
#include "base/vec.h"
#include "fsfs/check/verify_int.h"
#include "fsfs/read/dir.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep.h"
#include <inttypes.h>
#include <stdlib.h>

struct frame {
    struct arena_mark mark; /* the arena before this frame took from it */
    const struct noderev *nr;
    struct str path;
    const struct dir *now,
        *before; /* BEFORE: the predecessor's entries; NULL where they prove nothing */
    size_t at, before_at;
    int64_t minfo; /* nodes with mergeinfo below, as far as counted */
};

struct walk {
    struct fsfs *fs;
    revnum rev;
    const struct verify_scope *scope;
    VEC(struct frame) frames;
    uint64_t changed;    /* nodes below the root that the changed paths must name */
    struct arena *arena; /* used as the frames' stack */
};

/* ---- paths and errors ---- */

struct err *verify_failed_at(struct err *err, revnum rev, struct str path)
{
    return err_blame(err, E_FS_CORRUPT, "Revision %lld is damaged at '%.*s'", (long long)rev,
                     STR(path));
}

struct err *verify_lookup(const struct noderev **out, struct fsfs *fs, revnum rev, struct str path,
                          struct arena *arena)
{
    TRY(noderev_root(out, fs, rev, arena));
    for (size_t at = 1; at < path.n;) {
        struct str rest = str_skip(path, at), name = rest;
        const size_t slash = str_find(rest, '/');
        if (slash != SIZE_MAX)
            name.n = slash;
        const struct dir *dir;
        const struct dirent_fs *entry = NULL;
        if ((*out)->kind == NODE_DIR) {
            TRY(dir_get(&dir, fs, *out, arena));
            entry = dir_find(dir, name);
        }
        if (!entry) {
            *out = NULL;
            return NULL;
        }
        TRY(noderev_get(out, fs, &entry->id, arena));
        at += name.n + 1;
    }
    return NULL;
}

static struct str join(struct str parent, struct str name, struct arena *arena)
{
    if (parent.n == 1)
        parent.n = 0;
    char *p = arena_alloc(arena, parent.n + 1 + name.n);
    memcpy(p, parent.p, parent.n);
    p[parent.n] = '/';
    memcpy(p + parent.n + 1, name.p, name.n);
    return str_make(p, parent.n + 1 + name.n);
}

/* ---- one node-revision ---- */

static struct err *pred_check(const struct noderev **out, struct walk *w, const struct noderev *nr)
{
    *out = NULL;
    if (!nr->has_pred)
        return nr->count == 0
                   ? NULL
                   : err_make(E_FS_CORRUPT, "It counts %" PRIu64 " predecessors but names none",
                              nr->count);
    TRY(noderev_get(out, w->fs, &nr->pred, w->arena));
    const struct noderev *pred = *out;
    if (!noderev_id_eq(&pred->id, &nr->pred) || !noderev_id_related(&pred->id, &nr->id) ||
        pred->id.rev >= nr->id.rev)
        return err_make(E_FS_CORRUPT, "Its predecessor '%.*s' is another node",
                        STR(noderev_id_str(&nr->pred, w->arena)));
    if (pred->kind != nr->kind)
        return err_make(E_FS_CORRUPT, "It is a %.*s, its predecessor a %.*s",
                        STR(node_kind_word(nr->kind)), STR(node_kind_word(pred->kind)));
    if (pred->count + 1 != nr->count)
        return err_make(E_FS_CORRUPT,
                        "Predecessor count mismatch: it has %" PRIu64 ", but '%.*s' has %" PRIu64,
                        nr->count, STR(noderev_id_str(&pred->id, w->arena)), pred->count);
    return NULL;
}

static struct err *source_check(struct walk *w, revnum rev, struct str path, enum node_kind kind,
                                const char *what)
{
    const struct noderev *found = NULL;
    if (rev >= 0 && rev <= w->rev)
        TRY(verify_lookup(&found, w->fs, rev, path, w->arena));
    if (!found || (kind != NODE_UNKNOWN && found->kind != kind))
        return err_make(E_FS_CORRUPT, "Its %s '%.*s' of revision %lld is not there", what,
                        STR(path), (long long)rev);
    return NULL;
}

static bool copyroot_same(const struct noderev *a, const struct noderev *b)
{
    return b && a->copyroot_rev == b->copyroot_rev && str_eq(a->copyroot_path, b->copyroot_path);
}

static struct err *copy_check(struct walk *w, const struct noderev *nr, const struct noderev *pred,
                              const struct noderev *parent)
{
    if (nr->copyfrom_path.n && nr->copyfrom_rev >= nr->id.rev)
        return err_make(E_FS_CORRUPT, "It is a copy of the later revision %lld",
                        (long long)nr->copyfrom_rev);
    if (nr->copyfrom_path.n)
        TRY(source_check(w, nr->copyfrom_rev, nr->copyfrom_path, nr->kind, "copy source"));
    const bool own = nr->copyroot_rev == nr->id.rev && str_eq(nr->copyroot_path, nr->cpath);
    if (own || copyroot_same(nr, pred) || copyroot_same(nr, parent))
        return NULL;
    return source_check(w, nr->copyroot_rev, nr->copyroot_path, NODE_UNKNOWN, "copy root");
}

static bool rep_equal(const struct rep *a, const struct rep *b)
{
    return rep_same(a, b) && a->size == b->size && rep_same_text(a, b);
}

/* A representation that the predecessor has too was looked at with that. None ever goes away: what
 * is emptied has one of the empty text. */
static struct err *reps_check(struct walk *w, const struct noderev *nr, const struct noderev *pred)
{
    if (pred && ((pred->has_text && !nr->has_text) || (pred->has_props && !nr->has_props)))
        return err_make(E_FS_CORRUPT, "Its predecessor '%.*s' has a representation that it has not",
                        STR(noderev_id_str(&pred->id, w->arena)));
    if (nr->has_text && !(pred && pred->has_text && rep_equal(&nr->text, &pred->text)))
        TRY(verify_rep(w->fs, &nr->text, nr->id.rev));
    if (nr->has_props && !(pred && pred->has_props && rep_equal(&nr->props, &pred->props))) {
        const struct props *props;
        TRY(verify_rep(w->fs, &nr->props, nr->id.rev));
        TRY(noderev_props(&props, w->fs, nr, w->arena));
    }
    return NULL;
}

static struct err *node_check(const struct noderev **pred, struct walk *w, const struct noderev *nr,
                              struct str path, const struct noderev *parent)
{
    if (!str_eq(nr->cpath, path))
        return err_make(E_FS_CORRUPT, "Its node-revision '%.*s' was made for path '%.*s'",
                        STR(noderev_id_str(&nr->id, w->arena)), STR(nr->cpath));
    if (nr->id.node.rev > w->rev || nr->id.copy.rev > w->rev || nr->id.node.rev < 0 ||
        nr->id.copy.rev < 0)
        return err_make(E_FS_CORRUPT, "Its id '%.*s' is of a later revision",
                        STR(noderev_id_str(&nr->id, w->arena)));
    TRY(pred_check(pred, w, nr));
    TRY(copy_check(w, nr, *pred, parent));
    TRY(reps_check(w, nr, *pred));
    if (nr->kind == NODE_FILE && nr->minfo_cnt != nr->minfo_here)
        return err_make(
            E_FS_CORRUPT,
            "File node has inconsistent mergeinfo: has_mergeinfo=%d, mergeinfo_count=%" PRId64,
            nr->minfo_here, nr->minfo_cnt);
    return NULL;
}

static struct err *root_check(struct walk *w, const struct noderev *root)
{
    if (root->id.node.num || root->id.node.rev)
        return err_make(E_FS_CORRUPT, "Root node '%.*s' has another node's id",
                        STR(noderev_id_str(&root->id, w->arena)));
    if (root->has_pred != (w->rev > 0))
        return err_make(E_FS_CORRUPT, "r%lld's root node has %s predecessor", (long long)w->rev,
                        root->has_pred ? "a" : "no");
    if (root->has_pred && root->pred.rev != w->rev - 1)
        return err_make(E_FS_CORRUPT,
                        "r%lld's root node's predecessor is r%lld but should be r%lld",
                        (long long)w->rev, (long long)root->pred.rev, (long long)w->rev - 1);
    return NULL;
}

/* ---- directories ---- */

static struct err *frame_push(struct walk *w, struct arena_mark mark, const struct noderev *nr,
                              const struct noderev *pred, struct str path)
{
    struct frame *f = VEC_ADD(&w->frames);
    *f = (struct frame){.mark = mark, .nr = nr, .path = path};
    TRY(dir_get(&f->now, w->fs, nr, w->arena));
    if (pred && !w->scope->thorough && pred->id.rev >= w->scope->start) {
        TRY(dir_get(&f->before, w->fs, pred, w->arena));
        f->minfo = pred->minfo_cnt - pred->minfo_here;
        if (f->now == f->before) /* the very object: nothing differs */
            f->at = f->before_at = f->now->n;
    }
    return NULL;
}

/* Entry ENTRY of the predecessor is no more. */
static struct err *count_out(struct walk *w, struct frame *f, const struct dirent_fs *entry)
{
    const struct noderev *old;
    const struct arena_mark mark = arena_mark(w->arena);
    TRY(noderev_get(&old, w->fs, &entry->id, w->arena));
    f->minfo -= old->minfo_cnt;
    arena_rewind(w->arena, mark);
    return NULL;
}

/* Pass what BEFORE has up to NAME (an empty one: all). *SAME: both have ENTRY. */
static struct err *before_pass(bool *same, struct walk *w, struct frame *f,
                               const struct dirent_fs *entry)
{
    *same = false;
    while (f->before && f->before_at < f->before->n) {
        const struct dirent_fs *old = &f->before->list[f->before_at];
        const int order = entry ? str_cmp(old->name, entry->name) : -1;
        if (order > 0)
            break;
        f->before_at++;
        *same = order == 0 && old->kind == entry->kind && noderev_id_eq(&old->id, &entry->id);
        if (!*same)
            TRY(count_out(w, f, old));
        if (order == 0)
            break;
    }
    return NULL;
}

static struct err *entry_check(const struct noderev **child, struct walk *w,
                               const struct dirent_fs *entry)
{
    TRY(noderev_get(child, w->fs, &entry->id, w->arena));
    if ((*child)->kind != entry->kind)
        return err_make(E_FS_CORRUPT, "It is a %.*s, but its directory says %.*s",
                        STR(node_kind_word((*child)->kind)), STR(node_kind_word(entry->kind)));
    if (!noderev_id_eq(&(*child)->id, &entry->id))
        return err_make(E_FS_CORRUPT, "Its directory calls it '%.*s'",
                        STR(noderev_id_str(&entry->id, w->arena)));
    if (entry->id.rev > w->rev)
        return err_make(E_FS_CORRUPT, "It is of the later revision %lld", (long long)entry->id.rev);
    const struct dir *dir;
    if (w->scope->thorough && entry->kind == NODE_DIR)
        TRY(dir_get(&dir, w->fs, *child, w->arena));
    return NULL;
}

/* Whether NR is new only for what is below it: no changed path is there if that was added and
 * deleted again in one revision. */
static bool is_only_passed(const struct noderev *nr, const struct noderev *pred)
{
    return nr->kind == NODE_DIR && pred && !nr->copyfrom_path.n && noderev_shares_props(nr, pred);
}

/* Look at entry ENTRY of the frame on top, which its predecessor has not. */
static struct err *child_check(struct walk *w, const struct dirent_fs *entry)
{
    struct frame *f = &w->frames.list[w->frames.n - 1];
    const struct arena_mark mark = arena_mark(w->arena);
    const struct noderev *child, *pred;
    const struct str path = join(f->path, entry->name, w->arena);
    struct err *err = entry_check(&child, w, entry);
    if (!err) {
        f->minfo += child->minfo_cnt;
        if (child->id.rev != w->rev) {
            arena_rewind(w->arena, mark);
            return NULL;
        }
        err = node_check(&pred, w, child, path, f->nr);
    }
    if (!err)
        w->changed += !is_only_passed(child, pred);
    if (!err && child->kind == NODE_DIR) {
        err = frame_push(w, mark, child, pred, path);
        return verify_failed_at(err, w->rev, path);
    }
    err = verify_failed_at(err, w->rev, path);
    arena_rewind(w->arena, mark);
    return err;
}

static struct err *frame_pop(struct walk *w)
{
    struct frame *f = &w->frames.list[w->frames.n - 1];
    const struct noderev *nr = f->nr;
    bool same;
    TRY(before_pass(&same, w, f, NULL));
    if (f->minfo != nr->minfo_cnt - nr->minfo_here)
        return err_make(E_FS_CORRUPT,
                        "Mergeinfo-count discrepancy: expected %" PRId64 " but counted %" PRId64,
                        nr->minfo_cnt, f->minfo + nr->minfo_here);
    w->frames.n--;
    arena_rewind(w->arena, f->mark);
    return NULL;
}

static struct err *walk_step(struct walk *w)
{
    struct frame *f = &w->frames.list[w->frames.n - 1];
    if (f->at == f->now->n)
        return verify_failed_at(frame_pop(w), w->rev, f->path);
    const struct dirent_fs *entry = &f->now->list[f->at++];
    bool same;
    TRY(before_pass(&same, w, f, entry));
    return same ? NULL : child_check(w, entry);
}

static struct err *walk_begin(struct walk *w)
{
    const struct noderev *root, *pred;
    const struct arena_mark mark = arena_mark(w->arena);
    const struct str path = S("/");
    TRY(noderev_root(&root, w->fs, w->rev, w->arena));
    struct err *err = root_check(w, root);
    if (!err)
        err = node_check(&pred, w, root, path, NULL);
    if (!err)
        err = frame_push(w, mark, root, pred, path);
    return verify_failed_at(err, w->rev, path);
}

struct err *verify_tree(uint64_t *changed, struct fsfs *fs, revnum rev,
                        const struct verify_scope *scope)
{
    AUTO_ARENA(arena);
    struct walk w = {.fs = fs, .rev = rev, .scope = scope, .arena = arena};
    struct err *err = walk_begin(&w);
    while (!err && w.frames.n)
        err = walk_step(&w);
    free(w.frames.list);
    *changed = w.changed;
    return err;
}
