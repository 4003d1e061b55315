/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h - from a draft to a pack. */
#ifndef VARVE_STORE_POSIX_PACK_H
#define VARVE_STORE_POSIX_PACK_H

#include "store/posix/posix_int.h"

struct err *posix_put_pack(struct store *base, int64_t shard, struct draft *pack,
                           struct str manifest);
struct err *posix_drop_shard(struct store *base, int64_t shard, bool revprops_too);

#endif
