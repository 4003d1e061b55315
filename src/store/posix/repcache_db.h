/* SPDX-License-Identifier: Apache-2.0 */
/* repcache_db.h - one connection to rep-cache.db, as repcache.c uses it.
 *
 *   rep_cache (hash TEXT PRIMARY KEY, revision, offset, size, expanded_size)
 *   user_version 1: with row numbers (formats 4 to 7); 2: WITHOUT ROWID (format 8: BY_HASH)
 *
 * A connection belongs to one thread at a time. It does not wait for the disk: what a crash takes
 * away is made again. */
#ifndef VARVE_STORE_POSIX_REPCACHE_DB_H
#define VARVE_STORE_POSIX_REPCACHE_DB_H

#include "store/posix/posix_int.h"

struct repcache_db;

/* Open for reading. *OUT is NULL where the file does not exist, or is still empty. */
struct err *repcache_db_open(struct repcache_db **out, const char *path);
/* Open for writing, and make file and table where they are missing. *MADE: they were. */
struct err *repcache_db_open_or_make(struct repcache_db **out, bool *made, const char *path,
                                     bool by_hash);
void repcache_db_close(struct repcache_db *db); /* NULL is fine */
/* Has the file been removed since, or another put in its place? */
bool repcache_db_has_moved(const struct repcache_db *db);

struct err *repcache_db_find(struct repcache_row *out, bool *found, struct repcache_db *db,
                             const uint8_t sha1[SHA1_SIZE]);
/* Insert ROWS that are not there, in one transaction. *FOREIGN: somebody else has written since
 * this connection last did. */
struct err *repcache_db_insert(struct repcache_db *db, bool *foreign,
                               const struct repcache_row *rows, size_t n);
struct err *repcache_db_each(struct repcache_db *db,
                             struct err *(*fn)(void *arg, const struct repcache_row *row),
                             void *arg);

#endif
