/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - the L2P and P2L indexes of logically addressed bodies (docs/formats/fsfs.md).
 *
 *   body = items, L2P index, P2L index, footer text, one byte: length of the footer text */
#ifndef VARVE_FSFS_READ_INDEX_H
#define VARVE_FSFS_READ_INDEX_H

#include "base/digest.h"
#include "fsfs/read/item.h"

struct index_footer {
    uint64_t l2p_offset, p2l_offset, footer_offset;
    uint8_t l2p_md5[MD5_SIZE], p2l_md5[MD5_SIZE];
};
/* Pure: TAIL is the end of a body (at most 256 bytes) of BODY_SIZE bytes. E_FS_CORRUPT /
 * E_FS_INDEX_CORRUPTION. */
struct err *index_footer_parse(struct index_footer *out, struct str tail, uint64_t body_size);

/* The offset of item ITEM of revision REV in its body. E_FS_INDEX_OVERFLOW "Item index N too large
 * in revision R", E_FS_INDEX_REVISION, E_FS_INDEX_CORRUPTION. */
struct err *l2p_lookup(uint64_t *offset, struct fsfs *fs, struct body *body, revnum rev,
                       uint64_t item, struct arena *arena);
/* How many item slots REV has. */
struct err *l2p_item_count(uint64_t *count, struct fsfs *fs, struct body *body, revnum rev,
                           struct arena *arena);

struct p2l_entry {
    uint64_t offset, size;
    int type;
    revnum rev;
    uint64_t item;
    uint32_t checksum; /* FNV-1a 32x4 of the item's bytes */
};
/* The entries of the whole body, in offset order, in ARENA (for verify, pack, dump-index). */
struct err *p2l_entries(struct p2l_entry **out, size_t *n, struct fsfs *fs, struct body *body,
                        struct arena *arena);
struct l2p_entry {
    revnum rev;
    uint64_t item, offset;
};
/* The used slots of the body's L2P index, by revision and item, in ARENA. E_FS_INDEX_CORRUPTION
 * also where it is another body's. */
struct err *l2p_entries(struct l2p_entry **out, size_t *n, struct fsfs *fs, struct body *body,
                        struct arena *arena);
/* The bytes of both indexes against the footer's MD5s. */
struct err *index_check_digests(struct fsfs *fs, struct body *body, struct arena *arena);

/* Pure parsers of whole index sections in memory, for fuzzing and for bodies read whole. */
struct err *l2p_parse(struct str index, revnum rev, uint64_t item, uint64_t *offset,
                      struct arena *arena);
struct err *p2l_parse(struct p2l_entry **out, size_t *n, struct str index, struct arena *arena);

/* ---- writing ---- */
/* Append L2P index, P2L index, footer and its length byte for items ENTRIES (offset order, without
 * filler) of revisions FIRST_REV .. FIRST_REV+REV_COUNT-1, whose data are DATA_SIZE bytes. */
struct err *index_append(struct buf *out, const struct p2l_entry *entries, size_t n,
                         revnum first_rev, int64_t rev_count, uint64_t data_size,
                         int64_t l2p_page_size, int64_t p2l_page_size, struct arena *arena);

#endif
