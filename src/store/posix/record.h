/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - records. */
#ifndef VARVE_STORE_POSIX_RECORD_H
#define VARVE_STORE_POSIX_RECORD_H

#include "store/posix/posix_int.h"

struct err *posix_record_get(struct buf *out, bool *found, struct store *base,
                             struct record_key key);
void posix_record_prefetch(struct store *base, struct record_key key, enum record_ahead what);
struct err *posix_record_put(struct store *base, struct record_key key, struct str bytes);
struct err *posix_record_delete(struct store *base, struct record_key key);
struct err *posix_record_scan(struct str **names, size_t *count, struct store *base,
                              enum record_kind kind, struct arena *arena);
struct err *posix_record_version(struct version *out, struct store *base, struct record_key key);
struct err *posix_record_place_version(struct version *out, struct store *base,
                                       struct record_key key);
struct err *posix_record_cas(bool *done, struct store *base, struct record_key key,
                             const struct version *was, struct str bytes);
struct err *posix_txn_remove(struct store *base, struct str txn);
struct err *posix_draft_show(struct draft *base, struct str txn);

#endif
