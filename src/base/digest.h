/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - MD5, SHA-1 (OpenSSL's, with the CPU's instructions), and FSFS's item checksum. */
#ifndef VARVE_BASE_DIGEST_H
#define VARVE_BASE_DIGEST_H

#include "base/err.h"
#include "base/str.h"
#include <stdint.h>

enum { MD5_SIZE = 16, SHA1_SIZE = 20 };

/* Running digest of either or both kinds. */
struct digest;
enum { DIGEST_MD5 = 1, DIGEST_SHA1 = 2 };
struct digest *digest_new(int kinds);
void digest_reset(struct digest *d);
void digest_add(struct digest *d, struct str bytes);
void digest_md5(struct digest *d, uint8_t out[MD5_SIZE]);   /* ends the MD5 half */
void digest_sha1(struct digest *d, uint8_t out[SHA1_SIZE]); /* ends the SHA-1 half */
void digest_free(struct digest *d);

void md5_of(uint8_t out[MD5_SIZE], struct str bytes);
void sha1_of(uint8_t out[SHA1_SIZE], struct str bytes);
/* All zero: whoever wrote it did not know it, and it agrees with every text. */
bool digest_is_unknown(const uint8_t *digest, size_t n);
void hmac_md5(uint8_t out[MD5_SIZE], struct str key, struct str message);

/* Plain FNV-1a, 32 bit; and the four-lane form that FSFS 7's P2L index holds, incrementally
 * (four streams over bytes i mod 4, the tail added at the end). */
uint32_t fnv1a_32(struct str bytes);
uint32_t fnv1a_32x4(struct str bytes);
struct fnv1a_32x4 {
    uint32_t lane[4];
    char tail[4];
    unsigned n;
};
void fnv1a_32x4_init(struct fnv1a_32x4 *f);
void fnv1a_32x4_add(struct fnv1a_32x4 *f, struct str bytes);
uint32_t fnv1a_32x4_end(const struct fnv1a_32x4 *f);

/* "Checksum mismatch WHAT:" with the two right-aligned lines `expected:` and `actual:` that clients
 * and scripts know; code E_CHECKSUM_MISMATCH. N is MD5_SIZE or SHA1_SIZE. */
struct err *checksum_mismatch(const void *expected, const void *actual, size_t n, const char *fmt,
                              ...) __attribute__((format(printf, 4, 5)));

#endif
