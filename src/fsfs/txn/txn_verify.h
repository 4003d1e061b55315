/* SPDX-License-Identifier: Apache-2.0 */
/* txn_verify.h - checking a transaction that is not committed yet. */
#ifndef VARVE_FSFS_TXN_TXN_VERIFY_H
#define VARVE_FSFS_TXN_TXN_VERIFY_H

#include "fsfs/fs.h"

/* The nodes that the transaction NAME, which is on disk, has changed. E_FS_NO_SUCH_TRANSACTION. */
struct err *txn_verify(struct fsfs *fs, struct str name);

#endif
