/* SPDX-License-Identifier: Apache-2.0 */
#include "delta/compress.h"
#include "delta/svndiff.h"
#include <errno.h>
#include <libdeflate.h>
#include <lz4.h>
#include <pthread.h>
#include <stdlib.h>

/* Shorter sections are not worth a zlib header; LZ4 has none, there the result decides. */
enum { ZLIB_WORTHWHILE = 512 };

/* The most bytes that one byte can stand for: 258 for two bits, 255 for a length byte. What claims
 * more is damaged, and gets no memory. */
enum { ZLIB_EXPANDS_AT_MOST = 1032, LZ4_EXPANDS_AT_MOST = 255 };

enum { ZLIB_LEVELS = 9 };

/* libdeflate's level for each of zlib's, chosen so that sizes come out no larger than zlib's
 * on sources, prose, XML, binaries and logs (docs/formats/svndiff.md has the figures). */
static const int deflate_level[ZLIB_LEVELS + 1] = {0, 2, 2, 2, 4, 6, 7, 8, 8, 9};

/* ---- engines: large, slow to make, not to be shared: each thread keeps its own ---- */

struct engines {
    struct libdeflate_compressor *pack[ZLIB_LEVELS + 1];
    struct libdeflate_decompressor *unpack;
};

static _Thread_local struct engines *my_engines;
static pthread_key_t engines_key;
static pthread_once_t engines_once = PTHREAD_ONCE_INIT;

static void engines_free(void *arg)
{
    struct engines *e = arg;
    for (int i = 0; i <= ZLIB_LEVELS; i++)
        libdeflate_free_compressor(e->pack[i]);
    libdeflate_free_decompressor(e->unpack);
    free(e);
}

static void engines_key_make(void)
{
    if (pthread_key_create(&engines_key, engines_free) != 0)
        abort();
}

static struct engines *engines(void)
{
    if (!my_engines) {
        pthread_once(&engines_once, engines_key_make);
        my_engines = mem_zalloc(sizeof *my_engines);
        pthread_setspecific(engines_key, my_engines);
    }
    return my_engines;
}

/* NULL where memory is out. */
static struct libdeflate_compressor *packer(int level)
{
    struct libdeflate_compressor **slot = &engines()->pack[level];
    if (!*slot)
        *slot = libdeflate_alloc_compressor(deflate_level[level]);
    return *slot;
}

static struct libdeflate_decompressor *unpacker(void)
{
    struct libdeflate_decompressor **slot = &engines()->unpack;
    if (!*slot)
        *slot = libdeflate_alloc_decompressor();
    return *slot;
}

/* ---- packing ---- */

static void put_length(struct buf *out, size_t n)
{
    buf_reserve(out, SVNDIFF_INT_MAX);
    out->n += svndiff_int_put((uint8_t *)out->p + out->n, n);
}

void section_pack_zlib(struct buf *out, struct str plain, int level)
{
    put_length(out, plain.n);
    if (level > ZLIB_LEVELS)
        level = ZLIB_LEVELS;
    bool worthwhile = level > 0 && plain.n >= ZLIB_WORTHWHILE;
    struct libdeflate_compressor *c = worthwhile ? packer(level) : NULL;
    if (!c) { /* raw is always legal, so a lack of memory costs space only */
        buf_str(out, plain);
        return;
    }
    size_t bound = libdeflate_zlib_compress_bound(c, plain.n);
    buf_reserve(out, bound);
    size_t n = libdeflate_zlib_compress(c, plain.p, plain.n, out->p + out->n, bound);
    if (n > 0 && n < plain.n)
        out->n += n;
    else
        buf_str(out, plain);
}

void section_pack_lz4(struct buf *out, struct str plain)
{
    put_length(out, plain.n);
    if (plain.n == 0 || plain.n > LZ4_MAX_INPUT_SIZE) {
        buf_str(out, plain);
        return;
    }
    int bound = LZ4_compressBound((int)plain.n);
    buf_reserve(out, (size_t)bound);
    int n = LZ4_compress_default(plain.p, out->p + out->n, (int)plain.n, bound);
    if (n > 0 && (size_t)n < plain.n)
        out->n += (size_t)n;
    else
        buf_str(out, plain);
}

/* ---- unpacking ---- */

/* Take the original length off the front of *SECTION. */
static struct err *take_length(size_t *out, struct str *section, size_t limit)
{
    uint64_t n;
    if (!svndiff_int_take(&n, section))
        return err_make(E_SVNDIFF_INVALID_COMPRESSED_DATA,
                        "compressed section has no valid length");
    if (n > limit)
        return err_make(E_SVNDIFF_INVALID_COMPRESSED_DATA,
                        "compressed section expands to %llu bytes where at most %zu are allowed",
                        (unsigned long long)n, limit);
    *out = (size_t)n;
    return NULL;
}

static struct err *damaged(const char *method, size_t packed, size_t plain)
{
    return err_make(E_SVNDIFF_INVALID_COMPRESSED_DATA,
                    "%zu bytes of %s data do not expand to the %zu bytes they should", packed,
                    method, plain);
}

struct err *section_unpack_zlib(struct buf *out, struct str section, size_t limit)
{
    size_t n, got;
    TRY(take_length(&n, &section, limit));
    if (section.n == n) {
        buf_str(out, section);
        return NULL;
    }
    if (n / ZLIB_EXPANDS_AT_MOST > section.n)
        return damaged("zlib", section.n, n);
    struct libdeflate_decompressor *d = unpacker();
    if (!d)
        return err_errno(ENOMEM, "cannot make a zlib decompressor");
    buf_reserve(out, n);
    char none; /* libdeflate wants an address even for no bytes */
    char *to = n ? out->p + out->n : &none;
    if (libdeflate_zlib_decompress(d, section.p, section.n, to, n, &got) != LIBDEFLATE_SUCCESS ||
        got != n)
        return damaged("zlib", section.n, n);
    out->n += n;
    return NULL;
}

struct err *section_unpack_lz4(struct buf *out, struct str section, size_t limit)
{
    size_t n;
    TRY(take_length(&n, &section, limit));
    if (section.n == n) {
        buf_str(out, section);
        return NULL;
    }
    if (n > LZ4_MAX_INPUT_SIZE || n / LZ4_EXPANDS_AT_MOST > section.n || section.n > INT32_MAX)
        return damaged("LZ4", section.n, n);
    buf_reserve(out, n);
    char none; /* an empty section may have a compressed form, too */
    char *to = n ? out->p + out->n : &none;
    if (LZ4_decompress_safe(section.p, to, (int)section.n, (int)n) != (int)n)
        return damaged("LZ4", section.n, n);
    out->n += n;
    return NULL;
}
