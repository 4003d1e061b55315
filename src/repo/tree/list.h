/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - directory listings: entries with what `svn ls -v` shows, and walks with patterns. */
#ifndef VARVE_REPO_TREE_LIST_H
#define VARVE_REPO_TREE_LIST_H

#include "fsfs/read/revprops.h"
#include "repo/access/principal.h"
#include "repo/tree/depth.h"
#include "repo/tree/tree.h"

enum {
    DIRENT_KIND = 1,
    DIRENT_SIZE = 2,
    DIRENT_HAS_PROPS = 4,
    DIRENT_CREATED_REV = 8,
    DIRENT_TIME = 16,
    DIRENT_AUTHOR = 32,
    DIRENT_ALL = 63
};
struct dirent_info {
    struct str path; /* absolute */
    enum node_kind kind;
    uint64_t size; /* files; 0 for folders */
    bool has_props;
    revnum created_rev;
    struct str date, author; /* p NULL where the revision has none */
};
struct err *dirent_info(struct dirent_info *out, const struct tree *tree, const struct node *node,
                        int fields, struct revprop_view *view, struct arena *arena);

/* Walk from PATH to DEPTH in tree order (PATH itself first), only what matches one of PATTERNS
 * (globs without regard to case and accents, themselves folded by the client, against the last
 * component; PATTERNS NULL: everything does, COUNT 0 otherwise: nothing does). */
struct list_cursor;
struct err *list_open(struct list_cursor **out, const struct tree *tree, struct str path,
                      enum depth depth, const struct str *patterns, size_t pattern_count,
                      int fields, const struct principal *who);
struct err *list_next(bool *more, struct dirent_info *entry, struct list_cursor *cursor);
void list_close(struct list_cursor *cursor);

/* The properties that PATH inherits: of its parents, root first, only folders that have some and
 * may be read. E_FS_NOT_FOUND where one of them is not there. */
struct inherited {
    struct str path; /* absolute */
    const struct prop *list;
    size_t n;
};
struct err *inherited_props(struct inherited **out, size_t *n, const struct tree *tree,
                            struct str path, const struct principal *who, struct arena *arena);

#endif
