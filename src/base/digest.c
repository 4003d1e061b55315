/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's direct interface to MD5 and SHA-1: the contexts are plain structs, so that a digest of
 * a hundred bytes costs its rounds and nothing else. (The EVP interface looks algorithms up and
 * allocates.) */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/digest.h"
#include "base/buf.h"
#include "base/num.h"
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct digest {
    int kinds;
    MD5_CTX md5;
    SHA_CTX sha1;
};

struct digest *digest_new(int kinds)
{
    struct digest *d = mem_alloc(sizeof *d);
    d->kinds = kinds;
    digest_reset(d);
    return d;
}

void digest_reset(struct digest *d)
{
    MD5_Init(&d->md5);
    SHA1_Init(&d->sha1);
}

void digest_add(struct digest *d, struct str bytes)
{
    /* In pieces that stay in the first-level cache between the two. */
    while (bytes.n) {
        struct str piece = {bytes.p, bytes.n < 16384 ? bytes.n : 16384};
        if (d->kinds & DIGEST_MD5)
            MD5_Update(&d->md5, piece.p, piece.n);
        if (d->kinds & DIGEST_SHA1)
            SHA1_Update(&d->sha1, piece.p, piece.n);
        bytes = str_skip(bytes, piece.n);
    }
}

void digest_md5(struct digest *d, uint8_t out[MD5_SIZE])
{
    MD5_Final(out, &d->md5);
}

void digest_sha1(struct digest *d, uint8_t out[SHA1_SIZE])
{
    SHA1_Final(out, &d->sha1);
}

void digest_free(struct digest *d)
{
    free(d);
}

void md5_of(uint8_t out[MD5_SIZE], struct str bytes)
{
    MD5_CTX ctx;
    MD5_Init(&ctx);
    MD5_Update(&ctx, bytes.p, bytes.n);
    MD5_Final(out, &ctx);
}

void sha1_of(uint8_t out[SHA1_SIZE], struct str bytes)
{
    SHA_CTX ctx;
    SHA1_Init(&ctx);
    SHA1_Update(&ctx, bytes.p, bytes.n);
    SHA1_Final(out, &ctx);
}

bool digest_is_unknown(const uint8_t *digest, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (digest[i])
            return false;
    return true;
}

/* RFC 2104. */
void hmac_md5(uint8_t out[MD5_SIZE], struct str key, struct str message)
{
    uint8_t inner[MD5_CBLOCK] = {0}, outer[MD5_CBLOCK];
    if (key.n > MD5_CBLOCK)
        md5_of(inner, key);
    else if (key.n)
        memcpy(inner, key.p, key.n);
    for (size_t i = 0; i < MD5_CBLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    MD5_CTX ctx;
    MD5_Init(&ctx);
    MD5_Update(&ctx, inner, sizeof inner);
    MD5_Update(&ctx, message.p, message.n);
    MD5_Final(out, &ctx);
    MD5_Init(&ctx);
    MD5_Update(&ctx, outer, sizeof outer);
    MD5_Update(&ctx, out, MD5_SIZE);
    MD5_Final(out, &ctx);
}

enum { FNV_LANES = 4 };
static const uint32_t fnv_basis = 0x811c9dc5, fnv_prime = 0x01000193;

uint32_t fnv1a_32(struct str bytes)
{
    uint32_t h = fnv_basis;
    for (size_t i = 0; i < bytes.n; i++)
        h = (h ^ (uint8_t)bytes.p[i]) * fnv_prime;
    return h;
}

uint32_t fnv1a_32x4(struct str bytes)
{
    struct fnv1a_32x4 f;
    fnv1a_32x4_init(&f);
    fnv1a_32x4_add(&f, bytes);
    return fnv1a_32x4_end(&f);
}

void fnv1a_32x4_init(struct fnv1a_32x4 *f)
{
    *f = (struct fnv1a_32x4){.lane = {fnv_basis, fnv_basis, fnv_basis, fnv_basis}};
}

void fnv1a_32x4_add(struct fnv1a_32x4 *f, struct str bytes)
{
    while (f->n && bytes.n) {
        f->tail[f->n++ % FNV_LANES] = bytes.p[0];
        bytes = str_skip(bytes, 1);
        if (f->n == FNV_LANES) {
            for (int i = 0; i < FNV_LANES; i++)
                f->lane[i] = (f->lane[i] ^ (uint8_t)f->tail[i]) * fnv_prime;
            f->n = 0;
        }
    }
    /* Four independent chains of multiplications, in registers. */
    uint32_t a = f->lane[0], b = f->lane[1], c = f->lane[2], d = f->lane[3];
    const uint8_t *p = (const uint8_t *)bytes.p;
    size_t whole = bytes.n - bytes.n % FNV_LANES;
    for (size_t i = 0; i < whole; i += FNV_LANES) {
        a = (a ^ p[i]) * fnv_prime;
        b = (b ^ p[i + 1]) * fnv_prime;
        c = (c ^ p[i + 2]) * fnv_prime;
        d = (d ^ p[i + 3]) * fnv_prime;
    }
    f->lane[0] = a, f->lane[1] = b, f->lane[2] = c, f->lane[3] = d;
    for (size_t i = whole; i < bytes.n; i++)
        f->tail[f->n++] = bytes.p[i];
}

uint32_t fnv1a_32x4_end(const struct fnv1a_32x4 *f)
{
    char bytes[5 * FNV_LANES];
    size_t n = 0;
    for (int i = 0; i < FNV_LANES; i++) {
        for (int shift = 24; shift >= 0; shift -= 8)
            bytes[n++] = (char)(f->lane[i] >> shift);
    }
    memcpy(bytes + n, f->tail, f->n);
    return fnv1a_32(str_make(bytes, n + f->n));
}

struct err *checksum_mismatch(const void *expected, const void *actual, size_t n, const char *fmt,
                              ...)
{
    char *what;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&what, fmt, args) < 0)
        what = mem_strdup(fmt);
    va_end(args);
    AUTO_BUF(text);
    buf_printf(&text, "%s:\n   expected:  ", what);
    free(what);
    buf_hex(&text, expected, n);
    buf_cstr(&text, "\n     actual:  ");
    buf_hex(&text, actual, n);
    return err_make(E_CHECKSUM_MISMATCH, "%.*s\n", STR(text));
}
