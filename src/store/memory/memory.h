/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - a store that lives in memory, and only while it is open: for tests, and for
 * repositories that nobody needs tomorrow. It is complete: whatever fsfs does it can do on it. */
#ifndef VARVE_STORE_MEMORY_MEMORY_H
#define VARVE_STORE_MEMORY_MEMORY_H

#include "store/store.h"

/* A new, empty store: store_create comes next. */
struct store *memory_store_new(void);

#endif
