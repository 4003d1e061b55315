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
#include "base/path.h"
#include "fsfs/commit.h"
#include "fsfs/txn_int.h"

struct merge {
    struct txn *txn;
    struct arena *arena;
};

static struct err *conflict(struct str dir, struct str name, struct arena *arena)
{
    struct str path = name.n ? path_join(dir, name, arena) : dir;
    return err_make(E_FS_CONFLICT, "Conflict at '%.*s'", STR(path));
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

static struct err *merge_dir(int64_t *counted, struct merge *m, struct txn_node *target,
                             const struct noderev *source, const struct noderev *ancestor,
                             struct str path);

/* Both sides changed the entry: directories may be merged. */
static struct err *merge_both(int64_t *counted, struct merge *m, const struct txn_child *t,
                              const struct dirent_fs *s, const struct dirent_fs *a, struct str dir)
{
    struct fsfs *fs = m->txn->fs;
    bool directories = a->kind == NODE_DIR && s->kind == NODE_DIR && t->kind == NODE_DIR;
    const struct noderev_id *tid = t->node ? &t->node->nr.id : &t->id;
    if (!directories || !t->node || !id_part_eq(s->id.node, a->id.node) ||
        !id_part_eq(s->id.copy, a->id.copy) || !id_part_eq(tid->node, a->id.node) ||
        !id_part_eq(tid->copy, a->id.copy))
        return conflict(dir, a->name, m->arena);
    const struct noderev *source, *ancestor;
    TRY(noderev_get(&source, fs, &s->id, m->txn->arena));
    TRY(noderev_get(&ancestor, fs, &a->id, m->arena));
    return merge_dir(counted, m, t->node, source, ancestor, path_join(dir, a->name, m->arena));
}

/* One name that source (S) and ancestor (A) do not have alike; either may be NULL. */
static struct err *merge_entry(int64_t *counted, struct merge *m, struct txn_node *target,
                               const struct dirent_fs *s, const struct dirent_fs *a, struct str dir)
{
    struct str name = s ? s->name : a->name;
    struct txn_child t;
    bool has_target;
    TRY(txn_dir_find(&t, &has_target, m->txn, target, name));
    if (!a)
        return has_target ? conflict(dir, name, m->arena) : count_of(counted, m, s);
    bool untouched = has_target && !t.node && noderev_id_eq(&t.id, &a->id);
    if (!untouched)
        return has_target && s ? merge_both(counted, m, &t, s, a, dir)
                               : conflict(dir, name, m->arena);
    int64_t before;
    TRY(count_of(&before, m, a));
    TRY(count_of(counted, m, s));
    *counted -= before;
    struct txn_child *over = target->over ? map_get(target->over, name) : NULL;
    if (over) /* taken away and put back: it follows the source like its neighbours */
        *over =
            s ? (struct txn_child){NULL, s->id, s->kind} : (struct txn_child){.kind = NODE_NONE};
    return NULL;
}

static struct err *merge_entries(int64_t *counted, struct merge *m, struct txn_node *target,
                                 const struct dir *source, const struct dir *ancestor,
                                 struct str path)
{
    size_t i = 0, j = 0;
    while (i < source->n || j < ancestor->n) {
        const struct dirent_fs *s = i < source->n ? &source->list[i] : NULL;
        const struct dirent_fs *a = j < ancestor->n ? &ancestor->list[j] : NULL;
        int c = !s ? 1 : !a ? -1 : str_cmp(s->name, a->name);
        i += c <= 0;
        j += c >= 0;
        if (c == 0 && noderev_id_eq(&s->id, &a->id))
            continue;
        int64_t n = 0;
        TRY(merge_entry(&n, m, target, c <= 0 ? s : NULL, c >= 0 ? a : NULL, path));
        *counted += n;
    }
    return NULL;
}

static struct err *merge_dir(int64_t *counted, struct merge *m, struct txn_node *target,
                             const struct noderev *source, const struct noderev *ancestor,
                             struct str path)
{
    struct txn *txn = m->txn;
    *counted = 0;
    if (noderev_id_eq(&source->id, &ancestor->id))
        return NULL;
    if (!same_props(source, ancestor))
        return conflict(path, S(""), m->arena);
    const struct dir *theirs, *before;
    TRY(dir_get(&theirs, txn->fs, source, txn->arena));
    TRY(dir_get(&before, txn->fs, ancestor, m->arena));
    TRY(merge_entries(counted, m, target, theirs, before, path));

    struct noderev *nr = &target->nr;
    nr->has_pred = true;
    nr->pred = source->id;
    nr->count = source->count + 1;
    nr->minfo_cnt += *counted;
    if (!target->entries_changed) {
        nr->has_text = source->has_text;
        nr->text = source->text;
    }
    target->from = source;
    target->base = theirs;
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
    struct merge m = {txn, arena};
    int64_t counted;
    arena_rewind(txn->looks, txn->looks_start);
    TRY(merge_dir(&counted, &m, txn->root, source, ancestor, S("/")));
    txn->base = youngest;
    return NULL;
}
