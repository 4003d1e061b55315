/* SPDX-License-Identifier: Apache-2.0 */
/* dir.h - a directory's entries: sorted by name in byte order, immutable, cached. */
#ifndef VARVE_FSFS_READ_DIR_H
#define VARVE_FSFS_READ_DIR_H

#include "fsfs/format/noderev.h"
#include "fsfs/fs.h"

struct dirent_fs {
    struct str name;
    struct noderev_id id;
    enum node_kind kind;
};
struct dir {
    struct shared shared;
    size_t n;
    struct dirent_fs *list;
    size_t newest; /* the entry that was written last; 0 where there is none */
};

/* Pure: the hash dump TEXT of a directory. E_FS_CORRUPT. One reference. */
struct err *dir_parse(struct dir **out, struct str text);
void dir_format(struct buf *out, const struct dirent_fs *list, size_t n);
/* The entries of a directory node-revision; an empty dir where it has no text. E_FS_CORRUPT also
 * where one of them was not written before the directory, as all writers do: so no directory is
 * inside of itself, and whoever goes down a tree comes to an end. */
struct err *dir_get(const struct dir **out, struct fsfs *fs, const struct noderev *noderev,
                    struct arena *arena);
const struct dirent_fs *dir_find(const struct dir *dir, struct str name); /* NULL where absent */

#endif
