/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - the small words of the FSFS layer. */
#ifndef VARVE_FSFS_FORMAT_TYPES_H
#define VARVE_FSFS_FORMAT_TYPES_H

#include "base/str.h"
#include "store/store.h" /* revnum */

enum node_kind { NODE_NONE, NODE_FILE, NODE_DIR, NODE_UNKNOWN };
enum tristate { TRI_UNKNOWN, TRI_FALSE, TRI_TRUE };

struct str node_kind_word(enum node_kind kind);  /* "none", "file", "dir", "unknown" */
enum node_kind node_kind_parse(struct str word); /* NODE_UNKNOWN for any other word */

#endif
