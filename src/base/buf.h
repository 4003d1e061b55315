/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - a growing byte buffer on the heap. Zero-initialise to start: struct buf b = {0};
 *
 * Once it has BUF_CHARGED bytes it is charged to the account (account.h) that is the thread's
 * then. */
#ifndef VARVE_BASE_BUF_H
#define VARVE_BASE_BUF_H

#include "base/str.h"
#include <stdint.h>

struct buf {
    char *p;
    size_t n;                /* bytes in use */
    size_t cap;              /* bytes allocated */
    struct account *account; /* who answers for them; NULL: nobody */
};
enum { BUF_CHARGED = 4096 }; /* smaller ones are soon gone, or few */

void buf_free(struct buf *buf);
/* The bytes, for the caller to free: they are charged to nobody any more. BUF is empty then. */
char *buf_take(struct buf *buf);
/* Room for EXTRA more bytes. */
void buf_reserve(struct buf *buf, size_t extra);
/* EXTRA uninitialised bytes appended; where they start. */
char *buf_grow(struct buf *buf, size_t extra);
void buf_add(struct buf *buf, const void *p, size_t n);
void buf_str(struct buf *buf, struct str s);
void buf_cstr(struct buf *buf, const char *s);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_u64(struct buf *buf, uint64_t n);                  /* decimal */
void buf_hex(struct buf *buf, const void *bytes, size_t n); /* lower case */
static inline void buf_char(struct buf *buf, char c)
{
    if (buf->n == buf->cap)
        buf_reserve(buf, 1);
    buf->p[buf->n++] = c;
}
static inline void buf_clear(struct buf *buf)
{
    buf->n = 0;
}
static inline struct str buf_view(const struct buf *buf)
{
    return (struct str){buf->p, buf->n};
}
#define AUTO_BUF(name) __attribute__((cleanup(buf_free))) struct buf name = {0}

/* malloc and friends that abort with a message where memory is out. */
void *mem_alloc(size_t n) __attribute__((returns_nonnull, malloc));
void *mem_zalloc(size_t n) __attribute__((returns_nonnull, malloc));
void *mem_realloc(void *p, size_t n) __attribute__((returns_nonnull));
char *mem_strdup(const char *s) __attribute__((returns_nonnull));

#endif
