/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - bodies and the cache of their descriptors. */
#ifndef VARVE_STORE_POSIX_BODY_H
#define VARVE_STORE_POSIX_BODY_H

#include "store/posix/posix_int.h"

void posix_forget(struct store *base);
struct err *posix_body(struct body **out, struct store *base, revnum rev, struct arena *arena);
struct err *posix_body_read(struct body *body, const struct span *spans, size_t count);
void posix_body_prefetch(struct body *body, const struct span *spans, size_t count);
struct err *posix_body_manifest(struct buf *out, struct body *body);

struct body_cache *body_cache_new(void);
void body_cache_free(struct body_cache *cache);
/* Forget the descriptors of loose bodies from FROM on: their files are about to be replaced or
 * removed. */
void bodies_forget(struct posix *store, revnum from);
void bodies_forget_all(const struct posix *store);

#endif
