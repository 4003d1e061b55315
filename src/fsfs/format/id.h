/* SPDX-License-Identifier: Apache-2.0 */
/* id.h - the ids of node-revisions and transactions (docs/formats/fsfs.md).
 *
 *   <node-id> "." <copy-id> "." ( "r" <rev> "/" <item> | "t" <txn> )
 *
 * node-id and copy-id: "0", "<base36>" (rev 0 or formats 1-2), "<base36>-<rev>", "_<base36>" (new
 * in a transaction). */
#ifndef VARVE_FSFS_FORMAT_ID_H
#define VARVE_FSFS_FORMAT_ID_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "fsfs/format/types.h"

/* "<num>-<rev>"; rev 0 stands without its suffix; rev REV_NONE is "_<num>". */
struct id_part {
    revnum rev;
    uint64_t num;
};
/* "<base>-<base36 num>" */
struct txn_id {
    revnum base; /* REV_NONE: no transaction */
    uint64_t num;
};
struct noderev_id {
    struct id_part node, copy;
    revnum rev;    /* REV_NONE: in a transaction, then TXN says in which */
    uint64_t item; /* byte offset (physical) or item index (logical) */
    struct txn_id txn;
};

struct err *noderev_id_parse(struct noderev_id *out,
                             struct str text); /* E_FS_MALFORMED_NODEREV_ID with the text */
void noderev_id_format(struct buf *out, const struct noderev_id *id);
struct str noderev_id_str(const struct noderev_id *id, struct arena *arena);
bool noderev_id_eq(const struct noderev_id *a, const struct noderev_id *b);
bool noderev_id_related(const struct noderev_id *a, const struct noderev_id *b);

bool id_part_parse(struct id_part *out, struct str text);
void id_part_format(struct buf *out, struct id_part part);
static inline bool id_part_eq(struct id_part a, struct id_part b)
{
    return a.rev == b.rev && a.num == b.num;
}

struct err *txn_id_parse(struct txn_id *out,
                         struct str text); /* E_FS_MALFORMED_TXN_ID "malformed txn id 'x'" */
void txn_id_format(struct buf *out, struct txn_id id);

#endif
