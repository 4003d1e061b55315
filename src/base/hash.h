/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - hashing for tables in memory, never for anything on disk: the seed is drawn when the
 * process starts, so that nobody outside can choose names that all fall into one slot. */
#ifndef VARVE_BASE_HASH_H
#define VARVE_BASE_HASH_H

#include "base/str.h"
#include <stdint.h>

extern uint64_t hash_seed;

/* The two halves of a 128-bit product, folded. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(struct str s);

#endif
