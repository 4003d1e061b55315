/* SPDX-License-Identifier: Apache-2.0 */
/* text_delta.h - the svndiff document that turns one text into another, the cheapest way to get it.
 *
 * Against the empty text: the ready wire form from the cache. Against the very text that the
 * repository's own delta has as its base: the stored bytes, if the receiver knows their version.
 * Else it is made, window by window. Pulled in pieces. */
#ifndef VARVE_REPO_TREE_TEXT_DELTA_H
#define VARVE_REPO_TREE_TEXT_DELTA_H

#include "fsfs/read/rep.h"

struct text_delta;
/* FROM and TO may be NULL: the empty text. MAX_VERSION is the most that the receiver knows; LEVEL 0
 * means version 0. */
struct err *text_delta_open(struct text_delta **out, struct fsfs *fs, const struct rep *from,
                            const struct rep *to, int max_version, int level);
/* The same for texts that are no representations of revisions: always made. Owns both readers; FROM
 * may be NULL. */
struct text_delta *text_delta_of_readers(struct reader *from, struct reader *to, int max_version,
                                         int level);
/* The next piece, valid until the next call; n 0 at the end. */
struct err *text_delta_next(struct str *piece, struct text_delta *delta);
void text_delta_close(struct text_delta *delta); /* NULL is fine */

#endif
