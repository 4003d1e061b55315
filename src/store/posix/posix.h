/* SPDX-License-Identifier: Apache-2.0 */
/* posix.h - the store in the directory layout of FSFS; docs/formats/fsfs.md has the layout. Every
 * change it makes to the disk goes through the operations of disk.h, beneath which fault.c cuts
 * commits short for the tests.
 *
 * store_publish waits for the disk three times, whatever the size of the batch: all files are
 * written and synced as one set; then each revision gets its names and becomes the head, in order,
 * but before the last one does, the folders are synced; then db/ is.
 *
 * The rep-cache is rep-cache.db, written by a background thread. Where it is removed or replaced
 * under us, this is told once (err_warn) and a new one is made or the other one used. One that
 * cannot be used (junk; no descriptors, no room) is told of once, left as it is, and looked at
 * again when it has changed or a minute later. */
#ifndef VARVE_STORE_POSIX_POSIX_H
#define VARVE_STORE_POSIX_POSIX_H

#include "store/posix/disk.h"
#include "store/store.h"

/* Open the store of the repository filesystem in DB_PATH (the "db" folder). DISK is NULL for the
 * system's files. No files are touched but to see what is there. ENAMETOOLONG. */
struct err *posix_open(struct store **out, const char *db_path, struct disk *disk);

#endif
