/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"
#include "base/account.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct err *reader_read(struct reader *r, void *to, size_t n, size_t *got)
{
    return r->read(r, to, n, got);
}

struct err *reader_full(struct reader *r, void *to, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        size_t more;
        TRY(r->read(r, (char *)to + *got, n - *got, &more));
        if (more == 0)
            break;
        *got += more;
    }
    return NULL;
}

void reader_close(struct reader *r)
{
    if (r)
        r->close(r);
}

struct err *reader_all(struct buf *out, struct reader *r, size_t limit)
{
    size_t start = out->n, step = 4096;
    for (;;) {
        buf_reserve(out, step);
        size_t got;
        TRY(r->read(r, out->p + out->n, step, &got));
        if (got == 0)
            return NULL;
        out->n += got;
        if (out->n - start > limit)
            return err_make(E_INCOMPLETE_DATA, "More than %zu bytes of input", limit);
        if (step < 256 * 1024)
            step *= 2;
    }
}

/* A view of bytes, perhaps with the blob that holds them. */
struct str_reader {
    struct reader reader;
    struct str left;
    struct blob *blob;
    struct account *account; /* which holds it */
};

static struct err *str_read(struct reader *self, void *to, size_t n, size_t *got)
{
    struct str_reader *r = (struct str_reader *)self;
    *got = n < r->left.n ? n : r->left.n;
    if (*got)
        memcpy(to, r->left.p, *got);
    r->left = str_skip(r->left, *got);
    return NULL;
}

static void str_reader_close(struct reader *self)
{
    struct str_reader *r = (struct str_reader *)self;
    if (r->blob)
        account_unpin(r->account, &r->blob->shared);
    shared_unref(r->blob);
    free(r);
}

struct reader *reader_of_str(struct str s)
{
    struct str_reader *r = mem_alloc(sizeof *r);
    *r = (struct str_reader){{str_read, str_reader_close}, s, NULL, NULL};
    return &r->reader;
}

struct reader *reader_of_blob(struct blob *blob)
{
    struct str_reader *r = mem_alloc(sizeof *r);
    *r = (struct str_reader){
        {str_read, str_reader_close}, blob_str(blob), shared_ref(blob), account_current};
    account_pin(r->account, &blob->shared);
    return &r->reader;
}

struct fd_reader {
    struct reader reader;
    int fd;
    bool close_fd;
    char *name;
};

static struct err *fd_read(struct reader *self, void *to, size_t n, size_t *got)
{
    struct fd_reader *r = (struct fd_reader *)self;
    ssize_t did;
    do {
        did = read(r->fd, to, n);
    } while (did < 0 && errno == EINTR);
    *got = did < 0 ? 0 : (size_t)did;
    return did < 0 ? err_errno(errno, "Can't read '%s'", r->name) : NULL;
}

static void fd_reader_close(struct reader *self)
{
    struct fd_reader *r = (struct fd_reader *)self;
    if (r->close_fd)
        close(r->fd);
    free(r->name);
    free(r);
}

struct reader *reader_of_fd(int fd, bool close_fd, const char *name)
{
    struct fd_reader *r = mem_alloc(sizeof *r);
    *r = (struct fd_reader){{fd_read, fd_reader_close}, fd, close_fd, mem_strdup(name)};
    return &r->reader;
}

struct err *writer_write(struct writer *w, struct str s)
{
    return s.n ? w->write(w, s.p, s.n) : NULL;
}

struct err *writer_printf(struct writer *w, const char *fmt, ...)
{
    char space[512], *text = space;
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(space, sizeof space, fmt, args);
    va_end(args);
    size_t length = n > 0 ? (size_t)n : 0;
    if (length >= sizeof space) {
        text = mem_alloc(length + 1);
        vsnprintf(text, length + 1, fmt, again);
    }
    va_end(again);
    struct err *err = writer_write(w, str_make(text, length));
    if (text != space)
        free(text);
    return err;
}

struct err *writer_flush(struct writer *w)
{
    return w->flush ? w->flush(w) : NULL;
}

void writer_close(struct writer *w)
{
    if (w)
        w->close(w);
}

struct fd_writer {
    struct writer writer;
    int fd;
    bool close_fd;
    char *name;
    size_t used, cap;
    char bytes[];
};

static struct err *write_out(struct fd_writer *w, const char *p, size_t n)
{
    while (n) {
        ssize_t did = write(w->fd, p, n);
        if (did < 0 && errno == EINTR)
            continue;
        if (did < 0)
            return err_errno(errno, "Can't write to '%s'", w->name);
        p += did;
        n -= (size_t)did;
    }
    return NULL;
}

static struct err *fd_flush(struct writer *self)
{
    struct fd_writer *w = (struct fd_writer *)self;
    size_t n = w->used;
    w->used = 0; /* not tried again after an error: part of it may have been written */
    return write_out(w, w->bytes, n);
}

static struct err *fd_write(struct writer *self, const void *from, size_t n)
{
    struct fd_writer *w = (struct fd_writer *)self;
    if (n > w->cap - w->used) {
        TRY(fd_flush(self));
        if (n >= w->cap)
            return write_out(w, from, n);
    }
    memcpy(w->bytes + w->used, from, n);
    w->used += n;
    return NULL;
}

static void fd_writer_close(struct writer *self)
{
    struct fd_writer *w = (struct fd_writer *)self;
    if (w->close_fd)
        close(w->fd);
    free(w->name);
    free(w);
}

struct writer *writer_of_fd(int fd, bool close_fd, size_t buffer_bytes, const char *name)
{
    struct fd_writer *w = mem_alloc(sizeof *w + buffer_bytes);
    *w = (struct fd_writer){
        .writer = {fd_write, fd_flush, fd_writer_close},
        .fd = fd,
        .close_fd = close_fd,
        .name = mem_strdup(name),
        .cap = buffer_bytes,
    };
    return &w->writer;
}

struct buf_writer {
    struct writer writer;
    struct buf *buf;
};

static struct err *buf_write(struct writer *self, const void *from, size_t n)
{
    buf_add(((struct buf_writer *)self)->buf, from, n);
    return NULL;
}

static void buf_writer_close(struct writer *self)
{
    free(self);
}

struct writer *writer_of_buf(struct buf *buf)
{
    struct buf_writer *w = mem_alloc(sizeof *w);
    *w = (struct buf_writer){{buf_write, NULL, buf_writer_close}, buf};
    return &w->writer;
}
