/* SPDX-License-Identifier: Apache-2.0 */
/* mergeinfo.h - the svn:mergeinfo grammar, arithmetic on it, and its lookup in a tree. */
#ifndef VARVE_REPO_HISTORY_MERGEINFO_H
#define VARVE_REPO_HISTORY_MERGEINFO_H

#include "repo/access/principal.h"
#include "repo/tree/tree.h"

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
/* Parse TEXT, up to a NUL if it has one. E_MERGEINFO_PARSE_ERROR; pure. */
struct err *mergeinfo_parse(struct mergeinfo *out, struct str text, struct arena *arena);
void mergeinfo_format(struct buf *out, const struct mergeinfo *mi);
/* What B has and A has not / what A has and B has not; inheritable or not makes no difference.
 * Ranges may be shared with A and B. */
void mergeinfo_diff(struct mergeinfo *added, struct mergeinfo *deleted, const struct mergeinfo *a,
                    const struct mergeinfo *b, struct arena *arena);
void mergeinfo_merge(struct mergeinfo *into, const struct mergeinfo *from, struct arena *arena);
bool mergeinfo_equal(const struct mergeinfo *a, const struct mergeinfo *b);
/* What a node gets that lies BELOW (a relative path) the one that has MI: inheritable ranges only,
 * BELOW behind every path. */
void mergeinfo_inherit(struct mergeinfo *out, const struct mergeinfo *mi, struct str below,
                       struct arena *arena);

enum mergeinfo_inherit { MERGEINFO_EXPLICIT, MERGEINFO_INHERITED, MERGEINFO_NEAREST_ANCESTOR };
struct path_mergeinfo {
    struct str path;  /* absolute: one that was asked for, or one below it */
    struct str value; /* the property's text (inherited ones with paths extended), canonical */
};
/* For each of PATHS in turn its own, then what is below it. A path may appear twice (asked for, and
 * below another); clients believe the last. */
struct err *mergeinfo_get(struct path_mergeinfo **out, size_t *n, const struct tree *tree,
                          const struct str *paths, size_t path_count,
                          enum mergeinfo_inherit inherit, bool descendants,
                          const struct principal *who, struct arena *arena);
/* The mergeinfo of one node, as a value to work with; *FOUND false where there is none, or none
 * that can be parsed: what cannot be read counts as absent, since a bad property somewhere must not
 * make a log or a merge impossible. E_FS_NOT_FOUND where there is no node. */
struct err *mergeinfo_of_node(struct mergeinfo *out, bool *found, const struct tree *tree,
                              struct str path, enum mergeinfo_inherit inherit, struct arena *arena);

/* Where PATH takes its mergeinfo from: itself or the nearest folder above that has some; NODEREV is
 * NULL where there is none. Two places whose origins are the same node-revision need not be
 * compared further. E_FS_NOT_FOUND. */
struct mergeinfo_origin {
    struct node node;
    struct str below; /* PATH relative to it */
};
struct err *mergeinfo_origin(struct mergeinfo_origin *out, const struct tree *tree, struct str path,
                             enum mergeinfo_inherit inherit, struct arena *arena);
/* What stands at NODE itself: parsed once a property list and shared through the cache. *STATE:
 * there is none, it cannot be parsed, or *OUT is it. */
enum mergeinfo_state { MERGEINFO_NONE, MERGEINFO_BAD, MERGEINFO_GOOD };
struct err *mergeinfo_at_node(const struct mergeinfo **out, enum mergeinfo_state *state,
                              const struct tree *tree, const struct node *node,
                              struct arena *arena);

#endif
