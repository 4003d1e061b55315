/* SPDX-License-Identifier: Apache-2.0 */
/* encode.h - windows and whole texts as svndiff. */
#ifndef VARVE_DELTA_ENCODE_H
#define VARVE_DELTA_ENCODE_H

#include "base/stream.h"
#include "delta/svndiff.h"

struct svndiff_params {
    int version;    /* 0, 1, 2 */
    int zlib_level; /* for version 1: 0..9 */
};

/* Append the 4 header bytes / one window to OUT. */
void svndiff_put_header(struct buf *out, int version);
void svndiff_put_window(struct buf *out, const struct delta_window *window,
                        const struct svndiff_params *params);

/* An encoder that is pushed target text and pulls source text in step, window by window (source
 * view = the same 100 KiB range of the source, as Subversion does it), appending svndiff to OUT.
 * Bounded memory. SOURCE may be NULL; it is owned. */
struct delta_encoder;
struct delta_encoder *delta_encoder_new(struct reader *source, const struct svndiff_params *params);
struct err *delta_encoder_add(struct buf *out, struct delta_encoder *e, struct str target);
struct err *
delta_encoder_end(struct buf *out,
                  struct delta_encoder *e); /* last window; header even where the text is empty */
void delta_encoder_free(struct delta_encoder *e);

/* The whole document for texts in memory. */
void delta_encode(struct buf *out, struct str source, struct str target,
                  const struct svndiff_params *params);

#endif
