/* SPDX-License-Identifier: Apache-2.0 */
/* svndiff.h - the delta format of Subversion, versions 0 (plain), 1 (zlib) and 2 (LZ4).
 *
 *   document: 'S' 'V' 'N' version { window }*
 *   window:   source-view-offset source-view-length target-view-length
 *             instruction-section-length new-data-section-length  instructions  new-data
 *
 * A window makes up to SVNDIFF_WINDOW_MAX bytes of target of a view on the source and new data. A
 * decoder checks everything before it believes it: views, lengths, offsets, that source views never
 * slide back. docs/formats/svndiff.md has the bytes. */
#ifndef VARVE_DELTA_SVNDIFF_H
#define VARVE_DELTA_SVNDIFF_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/stream.h"
#include <stdint.h>

enum {
    SVNDIFF_WINDOW_MAX =
        102400, /* bytes of a view; what every Subversion writes and the most it accepts */
    SVNDIFF_HEADER_SIZE = 4,
    SVNDIFF_INT_MAX = 10, /* bytes of an integer */
};

/* Variable-length integers: 7 bits a byte, most significant first. */
size_t svndiff_int_put(uint8_t *to, uint64_t n); /* bytes written, at most SVNDIFF_INT_MAX */
bool svndiff_int_take(uint64_t *out,
                      struct str *from); /* false where FROM ends first or it does not fit */

enum delta_op_kind { DELTA_SOURCE, DELTA_TARGET, DELTA_NEW };
struct delta_op {
    enum delta_op_kind kind;
    uint32_t offset; /* into the source view, the target view, the new data */
    uint32_t length; /* > 0 */
};

/* One window, decoded: ops checked against the views. */
struct delta_window {
    uint64_t source_offset;
    uint32_t source_length, target_length;
    struct delta_op *ops;
    size_t op_count;
    struct str new_data;
};

/* ---- decoding ---- */

/* A push decoder for documents that arrive in pieces (wire, dump streams): give it bytes, take
 * windows. */
struct svndiff_decoder;
struct svndiff_decoder *svndiff_decoder_new(void);
void svndiff_decoder_free(struct svndiff_decoder *d);
/* Add BYTES (copied as far as needed). */
struct err *svndiff_decoder_add(struct svndiff_decoder *d, struct str bytes);
/* The next whole window, valid until the next call on D; *MORE false where more bytes are needed
 * first. */
struct err *svndiff_decoder_next(bool *more, struct delta_window *window,
                                 struct svndiff_decoder *d);
/* The document is over: E_SVNDIFF_UNEXPECTED_END where it ends inside a header or window. An
 * entirely empty one is legal. */
struct err *svndiff_decoder_end(struct svndiff_decoder *d);

/* Parse the window that starts at *POS of DOCUMENT (after the 4 header bytes) and move *POS behind
 * it. For documents that are whole in memory; VERSION from svndiff_version. Memory in ARENA, or
 * pointing into DOCUMENT. MIN_SOURCE is the end and start rule's state: pass a zeroed struct for
 * the first window. */
struct svndiff_progress {
    uint64_t source_offset, source_end;
};
struct err *svndiff_window(struct delta_window *out, struct str document, size_t *pos, int version,
                           struct svndiff_progress *progress, struct arena *arena);
/* The version that the 4 header bytes name; E_SVNDIFF_INVALID_HEADER. */
struct err *svndiff_version(int *version, struct str document);

/* Expand WINDOW: SOURCE is the view itself (source_length bytes); writes target_length bytes at
 * TARGET. Cannot fail: the window was checked. */
void delta_window_apply(char *target, const struct delta_window *window, struct str source);

/* Expand a whole document in memory: SOURCE is the whole base text, the result is appended to OUT
 * and must be exactly EXPANDED bytes long (E_SVNDIFF_CORRUPT_WINDOW). The fast path of reading
 * representations: no op array is built. A window of 9 bytes may make 100 KiB: EXPANDED is a size
 * that the caller is ready to hold, larger texts go through svndiff_reader. */
struct err *svndiff_apply(struct buf *out, struct str document, struct str source,
                          uint64_t expanded);

/* How long the text is that DOCUMENT makes, from a look at each window's head. Errors: the document
 * ends inside a window, or its views are impossible. */
struct err *svndiff_target_size(uint64_t *out, struct str document);

/* A reader of the text that DOCUMENT (a reader of svndiff bytes) makes of SOURCE (a reader of the
 * base text, NULL = empty), in bounded memory: one window and one source view. Owns both readers.
 * EXPANDED as above; UINT64_MAX = do not check. */
struct reader *svndiff_reader(struct reader *document, struct reader *source, uint64_t expanded);

#endif
