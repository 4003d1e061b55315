/* SPDX-License-Identifier: Apache-2.0 */
/* repcache.h - rows of rep-cache.db on their way, and what is known of it. */
#ifndef VARVE_STORE_POSIX_REPCACHE_H
#define VARVE_STORE_POSIX_REPCACHE_H

#include "store/posix/posix_int.h"

void repcache_init(struct posix *store); /* touches no file */
void repcache_close(struct posix *store);
struct err *posix_repcache_find(struct repcache_row *out, bool *found, struct store *base,
                                const uint8_t sha1[SHA1_SIZE]);
void posix_repcache_offer(struct store *base, const struct repcache_row *rows, size_t n);
void posix_repcache_hold(struct store *base, const struct repcache_row *rows, size_t n);
void posix_repcache_release(struct store *base);
void posix_repcache_forget(struct store *base);
struct err *posix_repcache_flush(struct store *base);
bool posix_repcache_exists(struct store *base);
struct err *posix_repcache_each(struct store *base,
                                struct err *(*fn)(void *arg, const struct repcache_row *row),
                                void *arg);

#endif
