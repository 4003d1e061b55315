/* SPDX-License-Identifier: Apache-2.0 */
/* The changed paths of a transaction, folded as they happen. */
#include "fsfs/txn/txn_int.h"
#include <stdlib.h>

/* A folder that is gone, and what of it is forgotten. */
struct gone_dir {
    const struct txn_node *dir;
    size_t path_n, pos;
    struct gone_dir *up;
};

static void gone_enter(struct gone_dir **top, const struct txn_node *dir, size_t path_n,
                       struct arena *arena)
{
    if (!dir->over)
        return;
    struct gone_dir *gone = ARENA_NEW(arena, struct gone_dir);
    *gone = (struct gone_dir){.dir = dir, .path_n = path_n, .up = *top};
    *top = gone;
}

/* What happened below a path happened to names that its folder has of its own. */
void txn_forget_below(struct txn *txn, struct str path, const struct txn_node *node)
{
    if (!node || !node->over)
        return;
    struct gone_dir *top = NULL;
    AUTO_BUF(at);
    buf_str(&at, path);
    gone_enter(&top, node, at.n, txn->scratch);
    while (top) {
        struct str name;
        void *value;
        if (!map_next(top->dir->over, &top->pos, &name, &value)) {
            top = top->up;
            continue;
        }
        at.n = top->path_n;
        buf_char(&at, '/');
        buf_str(&at, name);
        map_remove(txn->changes, buf_view(&at));
        const struct txn_child *child = value;
        if (child->node)
            gone_enter(&top, child->node, at.n, txn->scratch);
    }
}

static struct change kept_change(struct txn *txn, const struct change *change)
{
    struct change kept = *change;
    kept.path = arena_str(txn->arena, change->path);
    kept.copyfrom_path =
        change->copyfrom_path.n ? arena_str(txn->arena, change->copyfrom_path) : S("");
    return kept;
}

static void fold_delete(struct txn *txn, struct change_record *record, const struct change *change)
{
    struct change *now = &record->change;
    if (now->action == CHANGE_ADD) {
        map_remove(txn->changes, change->path); /* it never was */
    } else if (record->replaced) {
        *now = record->deleted;
        record->replaced = false;
    } else {
        *now = kept_change(txn, change);
    }
}

static void fold(struct txn *txn, struct change_record *record, const struct change *change)
{
    struct change *now = &record->change;
    switch (change->action) {
    case CHANGE_RESET:
        map_remove(txn->changes, change->path);
        break;
    case CHANGE_DELETE:
        fold_delete(txn, record, change);
        break;
    case CHANGE_ADD:
    case CHANGE_REPLACE:
        if (now->action == CHANGE_DELETE) {
            record->deleted = *now;
            record->replaced = true;
        }
        *now = kept_change(txn, change);
        now->action = CHANGE_REPLACE;
        break;
    case CHANGE_MODIFY:
        now->text_changed |= change->text_changed;
        now->props_changed |= change->props_changed;
        if (change->mergeinfo_changed == TRI_TRUE)
            now->mergeinfo_changed = TRI_TRUE;
        break;
    }
}

void txn_record_change(struct txn *txn, const struct change *change)
{
    struct change_record *record = map_get(txn->changes, change->path);
    if (record) {
        fold(txn, record, change);
    } else if (change->action != CHANGE_RESET) {
        record = ARENA_NEW(txn->arena, struct change_record);
        record->change = kept_change(txn, change);
        map_put(txn->changes, change->path, record);
    }
}

struct change *txn_sorted_changes(size_t *n, const struct txn *txn, struct arena *arena)
{
    struct str *paths = map_sorted(txn->changes, n, arena);
    struct change *list = arena_array(arena, *n + 1, sizeof *list);
    for (size_t i = 0; i < *n; i++)
        list[i] = ((const struct change_record *)map_get(txn->changes, paths[i]))->change;
    return list;
}

struct err *txn_changes(struct changes **out, struct txn *txn)
{
    AUTO_ARENA(arena);
    size_t n;
    const struct change *list = txn_sorted_changes(&n, txn, arena);
    AUTO_BUF(text);
    for (size_t i = 0; i < n; i++)
        change_format(&text, &list[i], FSFS_FORMAT_MAX);
    size_t used;
    return changes_parse(out, &used, buf_view(&text));
}
