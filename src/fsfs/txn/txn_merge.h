/* SPDX-License-Identifier: Apache-2.0 */
/* txn_merge.h - a transaction brought onto a newer revision. */
#ifndef VARVE_FSFS_TXN_TXN_MERGE_H
#define VARVE_FSFS_TXN_TXN_MERGE_H

#include "fsfs/txn/txn.h"

/* Bring TXN onto revision YOUNGEST: three-way merge per directory entry.
 * E_FS_CONFLICT. */
struct err *txn_merge(struct txn *txn, revnum youngest);

#endif
