/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - how large the parts of a repository may be.
 *
 * What is read is held to a limit before memory is taken for it. So what is written is, too, before
 * anything is stored: nothing may be acknowledged that could not be read again. Reading has room
 * above writing where other tools have no limit of their own.
 *
 *   part                                               written            read
 *   property list, of a node or of a revision          LIST_MAX           LIST_READ_MAX
 *   list of a folder's entries                         LIST_MAX           LIST_READ_MAX
 *   file of packed revision properties, expanded       REVPROP_PACK_MAX   LIST_READ_MAX
 *   node-revision: three paths and some short lines    NODEREV_MAX        NODEREV_READ_MAX
 *   changed paths of a revision                        CHANGES_MAX        CHANGES_MAX
 *   any small file (locks, manifests, properties)      RECORD_SIZE_MAX    the same; store.h
 *
 * File texts have none: they stream. */
#ifndef VARVE_FSFS_LIMITS_H
#define VARVE_FSFS_LIMITS_H

#include "store/store.h"

enum { /* bytes */
       LIST_MAX = 256 << 20,
       LIST_READ_MAX = 1 << 30,
       REVPROP_PACK_MAX = 2 * LIST_MAX, /* more revisions than one: below it; one alone: LIST_MAX */
       NODEREV_MAX = 1 << 20,
       NODEREV_READ_MAX = 64 << 20, /* svnserve takes paths of 16 MiB */
       CHANGES_MAX = 1 << 30,       /* a commit of ten million paths */
};

/* What a filesystem holds new parts to: these numbers, lower ones in tests. */
struct fsfs_limits {
    size_t list, noderev, changes;
};

/* May WHAT of PATH be written with N bytes? E_REPOS_BAD_ARGS. */
static inline struct err *limit_check(const char *what, struct str path, uint64_t n, size_t limit)
{
    return n <= limit ? NULL
                      : err_make(E_REPOS_BAD_ARGS, "%s of '%.*s' is larger than %zu bytes", what,
                                 STR(path), limit);
}

#endif
