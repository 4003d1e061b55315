/* SPDX-License-Identifier: Apache-2.0 */
/* locks.h - path locks, kept in files that stock tools share. */
#ifndef VARVE_FSFS_TXN_LOCKS_H
#define VARVE_FSFS_TXN_LOCKS_H

#include "fsfs/fs.h"

struct lock {
    struct str path, token, owner;
    struct str comment; /* comment.p NULL: none, which is not the empty one */
    int64_t created_us;
    int64_t expires_us; /* 0: never */
    bool is_dav_comment;
};

/* The lock on PATH; *FOUND false where there is none or it has expired. */
struct err *lock_get(struct lock *out, bool *found, struct fsfs *fs, struct str path,
                     struct arena *arena);
/* All locks at and below PATH, sorted by path. */
struct err *locks_below(struct lock **out, size_t *n, struct fsfs *fs, struct str path,
                        struct arena *arena);
/* May USER, holding TOKENS (lock tokens), change PATH (RECURSIVE: and all below)?
 * E_FS_LOCK_OWNER_MISMATCH, E_FS_BAD_LOCK_TOKEN, E_FS_NO_USER with the texts of stock tools. Called
 * under LEASE_WRITE by commits. */
struct err *locks_allow(struct fsfs *fs, struct str path, bool recursive, struct str user,
                        const struct str *tokens, size_t n);

/* Record LOCK (checked by the caller against what is there) / remove the lock on PATH. The caller
 * holds LEASE_WRITE. */
struct err *lock_write(struct fsfs *fs, const struct lock *lock);
struct err *lock_remove(struct fsfs *fs, struct str path);
/* Many at once: the list that each folder above them keeps is rewritten once. */
struct err *locks_write(struct fsfs *fs, const struct lock *list, size_t n);
struct err *locks_remove(struct fsfs *fs, const struct str *paths, size_t n);

/* Pure: one lock file. CHILDREN receives the digests it lists. *HAS_LOCK: it holds a lock record
 * itself. */
struct err *lock_parse(struct lock *lock, bool *has_lock, struct str **children, size_t *n,
                       struct str text, struct arena *arena);
/* LOCK NULL: a list only. */
void lock_format(struct buf *out, const struct lock *lock, const struct str *children, size_t n);

#endif
