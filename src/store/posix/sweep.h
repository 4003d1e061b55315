/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - what killed writers left. */
#ifndef VARVE_STORE_POSIX_SWEEP_H
#define VARVE_STORE_POSIX_SWEEP_H

#include "store/posix/posix_int.h"

/* Remove what writers that were killed left: revisions above the head, temporary files. The caller
 * has just taken LEASE_WRITE. */
struct err *sweep(struct posix *store);

#endif
