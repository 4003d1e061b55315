/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - which earlier text a new one is stored against, and the bytes of the stored item.
 *
 * The choice is Subversion's skip-delta rule, so that chains stay as short as its
 * own and repositories as small. */
#ifndef VARVE_FSFS_TXN_DELTA_BASE_H
#define VARVE_FSFS_TXN_DELTA_BASE_H

#include "delta/encode.h"
#include "delta/svndiff.h"
#include "fsfs/read/rep.h"

/* The base for the new text (IS_PROPS: property list) of NR, of which only `pred` and `count`
 * matter. *FOUND false: store it by itself. YOUNGEST is the revision that the new one will follow.
 */
struct err *base_choose(struct rep *out, bool *found, struct fsfs *fs, const struct noderev *nr,
                        bool is_props, revnum youngest, struct arena *arena);

/* The svndiff version and level that the configuration asks for. */
struct svndiff_params base_svndiff(const struct fsfs *fs);

/* Append the header line of a delta; BASE may be NULL. The bytes added. */
size_t rep_header_append(struct buf *out, const struct rep *base);
/* Append the whole item of TEXT as a delta against BASE (may be NULL). REP->size and ->expanded are
 * set; *HEADER: bytes of the header line. */
struct err *rep_item_delta(struct buf *out, struct rep *rep, size_t *header, struct fsfs *fs,
                           const struct rep *base, struct str text);
/* The same, PLAIN. */
void rep_item_plain(struct buf *out, struct rep *rep, struct str text);

#endif
