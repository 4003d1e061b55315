/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h - bodies in the making. */
#ifndef VARVE_STORE_POSIX_DRAFT_H
#define VARVE_STORE_POSIX_DRAFT_H

#include "store/posix/posix_int.h"

struct err *posix_draft_begin(struct draft **out, struct store *base, struct str name);
struct err *posix_draft_append(struct draft *base, struct str bytes);
struct err *posix_draft_reread(struct draft *base, uint64_t offset, void *to, size_t n);
struct err *posix_draft_truncate(struct draft *base, uint64_t size);
void posix_draft_start_sync(struct draft *base);
void posix_draft_drop(struct draft *base);

struct posix_draft {
    struct draft base; /* first */
    struct posix *store;
    struct buf tail;  /* the bytes behind those in the file */
    uint64_t in_file; /* bytes in the file */
    int fd;           /* -1 while all is in memory */
    char *temp;       /* where the file has a name: the filesystem has no unnamed ones */
};
static inline struct posix_draft *draft_of(struct draft *base)
{
    return (struct posix_draft *)base;
}
/* Write what a draft still holds in memory to its file (which it has). */
struct err *draft_flush(struct posix_draft *draft);

#endif
