/* SPDX-License-Identifier: Apache-2.0 */
/* compress.h - one compressed section: zlib format through libdeflate, LZ4 blocks through liblz4.
 *
 *   [original length, svndiff integer][zlib stream | LZ4 block | the bytes themselves]
 *
 * Raw bytes stand where the rest of the section is exactly as long as the original. The form is
 * shared by svndiff 1 and 2 and by packed revision properties (docs/formats/svndiff.md). */
#ifndef VARVE_DELTA_COMPRESS_H
#define VARVE_DELTA_COMPRESS_H

#include "base/buf.h"
#include "base/err.h"

/* Append the section for PLAIN to OUT. Levels: zlib 1..9; 0 stores raw. */
void section_pack_zlib(struct buf *out, struct str plain, int level);
void section_pack_lz4(struct buf *out, struct str plain);
/* Append what SECTION expands to; more than LIMIT bytes or damaged:
 * E_SVNDIFF_INVALID_COMPRESSED_DATA. */
struct err *section_unpack_zlib(struct buf *out, struct str section, size_t limit);
struct err *section_unpack_lz4(struct buf *out, struct str section, size_t limit);

#endif
