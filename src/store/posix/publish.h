/* SPDX-License-Identifier: Apache-2.0 */
/* publish.h - from drafts to revisions. */
#ifndef VARVE_STORE_POSIX_PUBLISH_H
#define VARVE_STORE_POSIX_PUBLISH_H

#include "store/posix/posix_int.h"

struct err *posix_publish(revnum *durable, struct store *base, const struct publication *batch,
                          size_t count);
struct err *posix_stage(struct store *base, const struct publication *one);

/* Remove what is staged. */
void staged_end(struct posix *store);

#endif
