/* SPDX-License-Identifier: Apache-2.0 */
/* svndiff_int.h - a window as it stands in a document, shared by the decoders of this folder.
 *
 * Three steps: frame_take finds a window's five numbers and two sections and checks what can be
 * checked without opening them; frame_open decompresses the sections; then either frame_run
 * executes the instructions in one pass, checking as it goes, or frame_list lists them. */
#ifndef VARVE_DELTA_SVNDIFF_INT_H
#define VARVE_DELTA_SVNDIFF_INT_H

#include "delta/svndiff.h"

enum {
    /* An instruction makes at least one byte of target and takes at most this many of its section.
     */
    OP_BYTES_MAX = 1 + 2 * SVNDIFF_INT_MAX,
    INSTRUCTIONS_MAX = SVNDIFF_WINDOW_MAX * OP_BYTES_MAX,
    FRAME_HEADER_MAX = 5 * SVNDIFF_INT_MAX,
    /* Room behind the target that lets frame_run copy short runs without counting bytes. */
    FRAME_SLACK = 16,
};

struct frame {
    uint64_t source_offset;
    uint32_t source_length, target_length;
    struct str instructions, new_data; /* as stored; plain after frame_open */
};

/* The window at the front of *FROM, which moves behind it. *WHOLE is false where FROM ends first
 * (and nothing moved). PROGRESS follows the source view from window to window. */
struct err *frame_take(bool *whole, struct frame *frame, struct str *from,
                       struct svndiff_progress *progress);

/* Make a section plain: appended to ROOM where it is compressed, where it stands otherwise. */
struct err *frame_open_instructions(struct frame *frame, int version, struct buf *room);
struct err *frame_open_new_data(struct frame *frame, int version, struct buf *room);

/* True where the (plain) instructions say no more than: all of the target is new data. */
bool frame_is_all_new(const struct frame *frame);

/* Execute the instructions of an opened frame. SOURCE is the source view; TARGET has room for
 * target_length + FRAME_SLACK bytes. E_SVNDIFF_INVALID_OPS. */
struct err *frame_run(char *target, const struct frame *frame, struct str source);

/* The checked instructions of an opened frame as a list in ARENA; new data stays where it is. */
struct err *frame_list(struct delta_window *out, const struct frame *frame, struct arena *arena);

#endif
