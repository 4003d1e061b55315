/* SPDX-License-Identifier: Apache-2.0 */
/* lease.h - locks. */
#ifndef VARVE_STORE_POSIX_LEASE_H
#define VARVE_STORE_POSIX_LEASE_H

#include "store/posix/posix_int.h"

struct err *posix_lease_take(struct store *base, enum lease_kind kind);
void posix_lease_drop(struct store *base, enum lease_kind kind);
void leases_close(struct posix *store);

#endif
