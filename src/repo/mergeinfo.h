/* SPDX-License-Identifier: Apache-2.0 */
/* mergeinfo.h - the svn:mergeinfo grammar, arithmetic on it, and its lookup in a tree (formats.md 15, 5.3). */
#ifndef VARVE_REPO_MERGEINFO_H
#define VARVE_REPO_MERGEINFO_H

#include "repo/access.h"
#include "repo/tree.h"

struct merge_range {
    revnum start, end; /* (start, end]: start is one less than what is written */
    bool inheritable;
};
struct merge_source {
    struct str path; /* absolute */
    struct merge_range *ranges;
    size_t n;
};
struct mergeinfo {
    struct merge_source *list; /* sorted by path */
    size_t n;
};
struct err *mergeinfo_parse(struct mergeinfo *out, struct str text, struct arena *arena); /* E_MERGEINFO_PARSE_ERROR; pure */
void mergeinfo_format(struct buf *out, const struct mergeinfo *mi);
/* What B has and A has not / what A has and B has not. */
void mergeinfo_diff(struct mergeinfo *added, struct mergeinfo *deleted, const struct mergeinfo *a, const struct mergeinfo *b, struct arena *arena);
void mergeinfo_merge(struct mergeinfo *into, const struct mergeinfo *from, struct arena *arena);

enum mergeinfo_inherit { MERGEINFO_EXPLICIT, MERGEINFO_INHERITED, MERGEINFO_NEAREST_ANCESTOR };
struct path_mergeinfo {
    struct str path;  /* absolute: one that was asked for, or one below it */
    struct str value; /* the property's text (inherited ones with paths extended), canonical */
};
struct err *mergeinfo_get(struct path_mergeinfo **out, size_t *n, const struct tree *tree, const struct str *paths, size_t path_count,
                          enum mergeinfo_inherit inherit, bool descendants, const struct access *access, struct arena *arena);
/* The mergeinfo of one node, as a value to work with; *FOUND false where there is none. */
struct err *mergeinfo_of_node(struct mergeinfo *out, bool *found, const struct tree *tree, struct str path, enum mergeinfo_inherit inherit, struct arena *arena);

#endif
