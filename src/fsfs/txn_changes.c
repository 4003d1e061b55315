/* SPDX-License-Identifier: Apache-2.0 */
/* The changed paths of a transaction, folded as they happen. */
#include "base/path.h"
#include "fsfs/txn_int.h"
#include <stdlib.h>

/* What happened below PATH happened to something that is gone. */
static void forget_below(struct txn *txn, struct str path)
{
    size_t n;
    struct arena_mark mark = arena_mark(txn->scratch);
    struct str *paths = map_sorted(txn->changes, &n, txn->scratch), rest;
    size_t below = 0;
    for (size_t i = 0; i < n; i++) {
        if (path_skip_ancestor(&rest, path, paths[i]) && rest.n)
            paths[below++] =
                arena_str(txn->scratch, paths[i]); /* removal moves the map's own keys */
    }
    for (size_t i = 0; i < below; i++)
        map_remove(txn->changes, paths[i]);
    arena_rewind(txn->scratch, mark);
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

void txn_record_change(struct txn *txn, const struct change *change, bool tree_below)
{
    struct change_record *record = map_get(txn->changes, change->path);
    if (record) {
        fold(txn, record, change);
    } else if (change->action != CHANGE_RESET) {
        record = ARENA_NEW(txn->arena, struct change_record);
        record->change = kept_change(txn, change);
        map_put(txn->changes, change->path, record);
    }
    if (tree_below && (change->action == CHANGE_DELETE || change->action == CHANGE_REPLACE))
        forget_below(txn, change->path);
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
