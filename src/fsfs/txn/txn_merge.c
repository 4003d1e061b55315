/* SPDX-License-Identifier: Apache-2.0 */
/* Bringing a transaction onto a newer revision.
 *
 * Three trees: the transaction's base ("ancestor"), the newer revision ("source"), the transaction
 * itself ("target"). Where source and ancestor have the same node-revision nothing happened; where
 * only they differ the source's is taken; where the transaction changed the same entry, both must
 * have changed the same directory, which is then merged in turn. Whatever else is a conflict.
 *
 * Since the target keeps its changes apart from the directory beneath (txn_int.h), taking all of
 * the source's is to lay them over the source's directory instead of the ancestor's. */
#include "fsfs/txn/txn_merge.h"
#include "base/path.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/txn/commit.h"
#include "fsfs/txn/txn_int.h"

/* A folder that both sides changed, and how far it is merged. Clients decide how deep it goes, so
 * that the way to the root is a list, not a recursion on the thread's stack. */
struct open_dir {
    struct txn_node *target;
    const struct noderev *source;
    const struct dir *theirs, *before; /* of source and ancestor */
    size_t i, j;                       /* the next of each */
    int64_t counted;                   /* mergeinfo that the source has more than the ancestor */
    struct open_dir *up;
};

struct merge {
    struct txn *txn;
    struct arena *arena;
    struct open_dir *top;
};

static struct err *conflict(struct str path)
{
    return err_make(E_FS_CONFLICT, "Conflict at '%.*s'", STR(path));
}

static struct err *conflict_in(const struct merge *m, struct str name)
{
    return conflict(path_join(m->top->target->nr.cpath, name, m->arena));
}

static bool same_props(const struct noderev *a, const struct noderev *b)
{
    if (!a->has_props || !b->has_props)
        return a->has_props == b->has_props;
    return rep_same(&a->props, &b->props) || rep_same_text(&a->props, &b->props);
}

/* The mergeinfo count of an entry's node; none where there is no entry. */
static struct err *count_of(int64_t *out, struct merge *m, const struct dirent_fs *entry)
{
    const struct noderev *nr;
    *out = 0;
    if (!entry || !fsfs_has_mergeinfo(m->txn->fs))
        return NULL;
    TRY(noderev_get(&nr, m->txn->fs, &entry->id, m->arena));
    *out = nr->minfo_cnt;
    return NULL;
}

static struct err *dir_enter(struct merge *m, struct txn_node *target, const struct noderev *source,
                             const struct noderev *ancestor)
{
    if (!same_props(source, ancestor))
        return conflict(target->nr.cpath);
    struct open_dir *open = ARENA_NEW(m->arena, struct open_dir);
    *open = (struct open_dir){.target = target, .source = source, .up = m->top};
    TRY(dir_get(&open->theirs, m->txn->fs, source, m->txn->arena));
    TRY(dir_get(&open->before, m->txn->fs, ancestor, m->arena));
    m->top = open;
    return NULL;
}

/* All entries of the topmost folder are merged. */
static void dir_leave(struct merge *m)
{
    struct open_dir *open = m->top;
    struct txn_node *target = open->target;
    const struct noderev *source = open->source;
    struct noderev *nr = &target->nr;
    nr->has_pred = true;
    nr->pred = source->id;
    nr->count = source->count + 1;
    nr->minfo_cnt += open->counted;
    if (!target->entries_changed) {
        nr->has_text = source->has_text;
        nr->text = source->text;
    }
    target->from = source;
    target->base = open->theirs;
    m->top = open->up;
    if (m->top)
        m->top->counted += open->counted;
}

/* Both sides changed the entry: directories may be merged. */
static struct err *merge_both(struct merge *m, const struct txn_child *t, const struct dirent_fs *s,
                              const struct dirent_fs *a)
{
    struct fsfs *fs = m->txn->fs;
    bool directories = a->kind == NODE_DIR && s->kind == NODE_DIR && t->kind == NODE_DIR;
    const struct noderev_id *tid = t->node ? &t->node->nr.id : &t->id;
    if (!directories || !t->node || !id_part_eq(s->id.node, a->id.node) ||
        !id_part_eq(s->id.copy, a->id.copy) || !id_part_eq(tid->node, a->id.node) ||
        !id_part_eq(tid->copy, a->id.copy))
        return conflict_in(m, a->name);
    const struct noderev *source, *ancestor;
    TRY(noderev_get(&source, fs, &s->id, m->txn->arena));
    TRY(noderev_get(&ancestor, fs, &a->id, m->arena));
    return dir_enter(m, t->node, source, ancestor);
}

/* One name that source (S) and ancestor (A) do not have alike; either may be NULL. */
static struct err *merge_entry(struct merge *m, const struct dirent_fs *s,
                               const struct dirent_fs *a)
{
    struct open_dir *open = m->top;
    struct txn_node *target = open->target;
    struct str name = s ? s->name : a->name;
    struct txn_child t;
    bool has_target;
    int64_t before = 0, now;
    TRY(txn_dir_find(&t, &has_target, m->txn, target, name));
    bool untouched = a ? has_target && !t.node && noderev_id_eq(&t.id, &a->id) : !has_target;
    if (!untouched)
        return s && a && has_target ? merge_both(m, &t, s, a) : conflict_in(m, name);
    TRY(count_of(&before, m, a));
    TRY(count_of(&now, m, s));
    open->counted += now - before;
    struct txn_child *over = target->over ? map_get(target->over, name) : NULL;
    if (over) /* taken away and put back, or made and taken away: as in the source */
        *over =
            s ? (struct txn_child){NULL, s->id, s->kind} : (struct txn_child){.kind = NODE_NONE};
    return NULL;
}

/* The next name of the topmost folder; false at the end. */
static bool next_name(const struct dirent_fs **s, const struct dirent_fs **a, struct open_dir *open)
{
    const struct dir *theirs = open->theirs, *before = open->before;
    *s = open->i < theirs->n ? &theirs->list[open->i] : NULL;
    *a = open->j < before->n ? &before->list[open->j] : NULL;
    if (!*s && !*a)
        return false;
    int c = !*s ? 1 : !*a ? -1 : str_cmp((*s)->name, (*a)->name);
    open->i += c <= 0;
    open->j += c >= 0;
    if (c > 0)
        *s = NULL;
    else if (c < 0)
        *a = NULL;
    return true;
}

static struct err *merge_open(struct merge *m)
{
    const struct dirent_fs *s, *a;
    while (m->top) {
        if (!next_name(&s, &a, m->top))
            dir_leave(m);
        else if (!s || !a || !noderev_id_eq(&s->id, &a->id))
            TRY(merge_entry(m, s, a));
    }
    return NULL;
}

struct err *txn_merge(struct txn *txn, revnum youngest)
{
    if (youngest == txn->base)
        return NULL;
    AUTO_ARENA(arena);
    const struct noderev *source, *ancestor;
    TRY(noderev_root(&source, txn->fs, youngest, txn->arena));
    TRY(noderev_root(&ancestor, txn->fs, txn->base, arena));
    struct merge m = {txn, arena, NULL};
    way_cut(&txn->way, 0);
    if (!noderev_id_eq(&source->id, &ancestor->id))
        TRY(dir_enter(&m, txn->root, source, ancestor));
    TRY(merge_open(&m));
    txn->base = youngest;
    return NULL;
}
