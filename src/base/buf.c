/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/account.h"
#include "base/num.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Where memory is out there is nobody to tell but the administrator. */
static _Noreturn void out_of_memory(size_t n)
{
    fprintf(stderr, "varve: out of memory (%zu bytes wanted)\n", n);
    abort();
}

void *mem_alloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        out_of_memory(n);
    return p;
}

void *mem_zalloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);
    if (!p)
        out_of_memory(n);
    return p;
}

void *mem_realloc(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p)
        out_of_memory(n);
    return p;
}

char *mem_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(mem_alloc(n), s, n);
}

char *buf_take(struct buf *buf)
{
    char *bytes = buf->p;
    account_credit(buf->account, buf->cap);
    *buf = (struct buf){0};
    return bytes;
}

void buf_free(struct buf *buf)
{
    free(buf_take(buf));
}

/* BUF grows to CAP bytes. */
static void charge(struct buf *buf, size_t cap)
{
    if (buf->account) {
        account_charge(buf->account, cap - buf->cap);
    } else if (cap >= BUF_CHARGED && account_current) {
        buf->account = account_current;
        account_charge(buf->account, cap);
    }
}

void buf_reserve(struct buf *buf, size_t extra)
{
    if (extra <= buf->cap - buf->n)
        return;
    size_t need;
    if (__builtin_add_overflow(buf->n, extra, &need))
        out_of_memory(extra);
    size_t cap = buf->cap ? buf->cap + buf->cap / 2 : 64;
    if (cap < need)
        cap = need;
    buf->p = mem_realloc(buf->p, cap);
    charge(buf, cap);
    buf->cap = cap;
}

char *buf_grow(struct buf *buf, size_t extra)
{
    buf_reserve(buf, extra ? extra : 1); /* an address even for no bytes */
    char *start = buf->p + buf->n;
    buf->n += extra;
    return start;
}

void buf_add(struct buf *buf, const void *p, size_t n)
{
    if (n)
        memcpy(buf_grow(buf, n), p, n);
}

void buf_str(struct buf *buf, struct str s)
{
    buf_add(buf, s.p, s.n);
}

void buf_cstr(struct buf *buf, const char *s)
{
    buf_add(buf, s, strlen(s));
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    size_t room = buf->cap - buf->n;
    int n = vsnprintf(room ? buf->p + buf->n : NULL, room, fmt, args);
    va_end(args);
    if (n > 0 && (size_t)n >= room) {
        buf_reserve(buf, (size_t)n + 1);
        vsnprintf(buf->p + buf->n, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    if (n > 0)
        buf->n += (size_t)n;
}

void buf_u64(struct buf *buf, uint64_t n)
{
    buf_reserve(buf, NUM_U64_MAX);
    buf->n += num_to_dec(buf->p + buf->n, n);
}

void buf_hex(struct buf *buf, const void *bytes, size_t n)
{
    size_t digits;
    if (__builtin_mul_overflow(n, 2, &digits))
        out_of_memory(n);
    num_hex(buf_grow(buf, digits), bytes, n);
}
