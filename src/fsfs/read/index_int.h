/* SPDX-License-Identifier: Apache-2.0 */
/* index_int.h - what the readers of items share with the indexes. */
#ifndef VARVE_FSFS_READ_INDEX_INT_H
#define VARVE_FSFS_READ_INDEX_INT_H

#include "fsfs/read/index.h"

enum {
    ITEM_BLOCK = 64 * 1024
}; /* bytes of a cached block; a smaller body is one block, read at once */

/* Where item ITEM of REV is in its logically addressed BODY. Errors as l2p_lookup. */
struct err *l2p_place(struct item_place *out, struct fsfs *fs, struct body *body, revnum rev,
                      uint64_t item, struct arena *arena);
/* Whether a lookup would not wait for the disk. */
bool l2p_is_at_hand(struct fsfs *fs, const struct body *body, struct arena *arena);

/* An unsigned integer, 7 bits a byte, least significant first, off the front of *FROM. */
bool packed_take(uint64_t *out, struct str *from);

#endif
