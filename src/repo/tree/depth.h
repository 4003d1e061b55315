/* SPDX-License-Identifier: Apache-2.0 */
/* depth.h - how far down an operation goes. */
#ifndef VARVE_REPO_TREE_DEPTH_H
#define VARVE_REPO_TREE_DEPTH_H

#include "base/str.h"

enum depth {
    DEPTH_UNKNOWN,
    DEPTH_EXCLUDE,
    DEPTH_EMPTY,
    DEPTH_FILES,
    DEPTH_IMMEDIATES,
    DEPTH_INFINITY
};
enum depth depth_parse(struct str word); /* DEPTH_UNKNOWN for words that are none */
struct str depth_word(enum depth depth);

#endif
