/* SPDX-License-Identifier: Apache-2.0 */
/* num.h - numbers from text and back, and arithmetic that notices overflow. */
#ifndef VARVE_BASE_NUM_H
#define VARVE_BASE_NUM_H

#include "base/err.h"
#include "base/str.h"
#include <stdint.h>

/* The whole of S as an unsigned number without sign or space: false where it is not one or does not
 * fit. */
bool num_u64(uint64_t *out, struct str s);
bool num_i64(int64_t *out, struct str s); /* also a leading '-' */
/* The number that S begins with, as atoll reads it: white space, a sign, digits. 0 where it has no
 * digits there; the nearest that fits where it is too large. */
int64_t num_leading(struct str s);
bool num_base36(uint64_t *out, struct str s); /* 0-9a-z */
enum { NUM_BASE36_MAX = 13 };
/* N as base36 at TO (room for NUM_BASE36_MAX bytes); bytes written. No NUL. */
size_t num_to_base36(char *to, uint64_t n);
enum { NUM_U64_MAX = 20 };
size_t num_to_dec(char *to, uint64_t n);

/* Lower- or upper-case hex of exactly 2*N digits to N bytes. */
bool num_unhex(void *out, size_t n, struct str hex);
void num_hex(char *to, const void *bytes, size_t n); /* 2*N digits, lower case, no NUL */

static inline bool add_u64(uint64_t *out, uint64_t a, uint64_t b)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool mul_u64(uint64_t *out, uint64_t a, uint64_t b)
{
    return !__builtin_mul_overflow(a, b, out);
}

#endif
