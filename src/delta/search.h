/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - the delta from one text to another. */
#ifndef VARVE_DELTA_SEARCH_H
#define VARVE_DELTA_SEARCH_H

#include "delta/svndiff.h"

/* The window that makes TARGET (at most SVNDIFF_WINDOW_MAX bytes) of SOURCE (the source view; may
 * be empty). The search finds what Subversion's finds, op for op, so that `dump --deltas` streams
 * and repository sizes are equal. Memory in ARENA, new data may point into TARGET. source_offset is
 * set to SOURCE_OFFSET. */
void delta_search(struct delta_window *out, uint64_t source_offset, struct str source,
                  struct str target, struct arena *arena);

#endif
