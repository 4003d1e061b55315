/* SPDX-License-Identifier: Apache-2.0 */
/* The changed nodes of a transaction that is not committed yet: counters and kinds.
 * Their bytes have no digests to be compared before the commit makes them. */
#include "fsfs/txn/txn_verify.h"
#include "base/path.h"
#include "fsfs/check/verify_int.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep.h"
#include "fsfs/txn/txn.h"
#include <inttypes.h>

/* Directories still to be looked at. */
struct pending {
    struct pending *next;
    struct str path;
};

static struct err *node_check(const struct noderev *nr, struct fsfs *fs, struct arena *arena)
{
    const struct noderev *pred;
    if (nr->has_pred) {
        TRY(noderev_get(&pred, fs, &nr->pred, arena));
        if (pred->count + 1 != nr->count)
            return err_make(E_FS_CORRUPT,
                            "Predecessor count mismatch: it has %" PRIu64
                            ", but '%.*s' has %" PRIu64,
                            nr->count, STR(noderev_id_str(&pred->id, arena)), pred->count);
    }
    if (nr->kind == NODE_FILE && nr->minfo_cnt != nr->minfo_here)
        return err_make(
            E_FS_CORRUPT,
            "File node has inconsistent mergeinfo: has_mergeinfo=%d, mergeinfo_count=%" PRId64,
            nr->minfo_here, nr->minfo_cnt);
    return NULL;
}

/* Check the directory at PATH and its files; its changed directories go to *PENDING. */
static struct err *dir_check(struct pending **pending, struct txn *txn, struct str path,
                             struct arena *arena)
{
    const struct txn_node *dir, *child;
    struct dirent_fs *list;
    size_t n;
    TRY(txn_find(&dir, txn, path, arena));
    const struct noderev *nr = txn_node_noderev(dir);
    TRY(node_check(nr, txn_fs(txn), arena));
    TRY(txn_node_entries(&list, &n, txn, dir, arena));
    int64_t minfo = nr->minfo_here;
    for (size_t i = 0; i < n; i++) {
        const struct str child_path = path_join(path, list[i].name, arena);
        TRY(txn_find(&child, txn, child_path, arena));
        if (!child || txn_node_kind(child) != list[i].kind)
            return err_make(E_FS_CORRUPT, "Entry '%.*s' is not what its directory says",
                            STR(list[i].name));
        minfo += txn_node_noderev(child)->minfo_cnt;
        if (!txn_node_is_mutable(child))
            continue;
        if (list[i].kind == NODE_FILE) {
            TRY(node_check(txn_node_noderev(child), txn_fs(txn), arena));
        } else {
            struct pending *added = ARENA_NEW(arena, struct pending);
            *added = (struct pending){*pending, child_path};
            *pending = added;
        }
    }
    if (minfo != nr->minfo_cnt)
        return err_make(E_FS_CORRUPT,
                        "Mergeinfo-count discrepancy: expected %" PRId64 " but counted %" PRId64,
                        nr->minfo_cnt, minfo);
    return NULL;
}

static struct err *nodes_check(struct txn *txn)
{
    AUTO_ARENA(arena);
    struct pending root = {.path = S("/")}, *pending = &root;
    while (pending) {
        const struct str path = pending->path;
        pending = pending->next;
        struct err *err = dir_check(&pending, txn, path, arena);
        if (err)
            return err_blame(err, E_FS_CORRUPT, "Transaction '%.*s' is damaged at '%.*s'",
                             STR(txn_name(txn)), STR(path));
    }
    return NULL;
}

struct err *txn_verify(struct fsfs *fs, struct str name)
{
    struct txn *txn;
    TRY(txn_load(&txn, fs, name));
    struct err *err = nodes_check(txn);
    txn_abort(txn);
    return err;
}
