/* SPDX-License-Identifier: Apache-2.0 */
/* list_int.h - between list.c and list_match.c. */
#ifndef VARVE_REPO_TREE_LIST_INT_H
#define VARVE_REPO_TREE_LIST_INT_H

#include "base/str.h"

/* Does NAME, folded, match one of the N glob PATTERNS? NULL: everything does. */
bool name_matches(struct str name, const char *const *patterns, size_t n);

#endif
