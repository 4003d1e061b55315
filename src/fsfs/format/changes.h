/* SPDX-License-Identifier: Apache-2.0 */
/* changes.h - the paths that a revision changed, as its revision file lists them.
 *
 *   +---------------------------- one entry ----------------------------+
 *   | id SP action[-kind] SP text? SP props? [SP mergeinfo?] SP path LF |
 *   | [copyfrom-rev SP copyfrom-path] LF                                |
 *   +--------------------------------------------------------------------+
 *
 * Format 4 added the kind, format 7 the mergeinfo flag. A list is read whole (its revision was made
 * in one commit, whose memory it fits), cached and shared; order is that of the file, which is by
 * path. */
#ifndef VARVE_FSFS_FORMAT_CHANGES_H
#define VARVE_FSFS_FORMAT_CHANGES_H

#include "fsfs/format/noderev.h"

enum change_action { CHANGE_ADD, CHANGE_DELETE, CHANGE_REPLACE, CHANGE_MODIFY, CHANGE_RESET };

struct change {
    struct str path;      /* absolute, in the repository */
    struct noderev_id id; /* as it was in the transaction; of the deleted node */
    enum change_action action;
    enum node_kind kind; /* NODE_UNKNOWN where the format does not say */
    bool text_changed, props_changed;
    enum tristate mergeinfo_changed;
    struct str copyfrom_path; /* empty where not copied */
    revnum copyfrom_rev;      /* REV_NONE where not copied */
};
struct changes {
    struct shared shared;
    size_t n;
    struct change *list; /* in file order; no CHANGE_RESET */
    size_t undone; /* of those so many more, behind the N: no program writes them into a revision,
                      and Subversion lists them nowhere; verify tells of them */
};

/* Parse one entry of TEXT at *POS. Pure. E_FS_CORRUPT. */
struct err *change_parse(struct change *out, struct str text, size_t *pos);
/* A whole list up to its empty line (or the end of TEXT); one reference; bytes copied. *USED: bytes
 * consumed. */
struct err *changes_parse(struct changes **out, size_t *used, struct str text);
/* A copy of FROM in the FROM->shared.bytes bytes at TO, which is aligned for it: no shared object
 * of its own, but a part of one. */
struct changes *changes_place(void *to, const struct changes *from);
/* FORMAT decides about kind and mergeinfo flag. */
void change_format(struct buf *out, const struct change *change, int format);

#endif
