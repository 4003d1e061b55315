/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - byte sources that are pulled, byte sinks that are pushed. */
#ifndef VARVE_BASE_STREAM_H
#define VARVE_BASE_STREAM_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/shared.h"
#include <stdint.h>

struct reader {
    /* Put up to N (> 0) bytes at TO; *GOT is 0 only at the end. */
    struct err *(*read)(struct reader *self, void *to, size_t n, size_t *got);
    void (*close)(struct reader *self); /* frees SELF */
};
struct err *reader_read(struct reader *r, void *to, size_t n, size_t *got);
struct err *reader_full(struct reader *r, void *to, size_t n,
                        size_t *got);             /* N bytes unless the end comes first */
void reader_close(struct reader *r);              /* NULL is fine */
struct reader *reader_of_str(struct str s);       /* S must outlive it */
struct reader *reader_of_blob(struct blob *blob); /* takes its own reference */
struct reader *reader_of_fd(int fd, bool close_fd, const char *name);
/* All that is left, at most LIMIT bytes (more: E_INCOMPLETE_DATA). */
struct err *reader_all(struct buf *out, struct reader *r, size_t limit);

struct writer {
    struct err *(*write)(struct writer *self, const void *from, size_t n);
    struct err *(*flush)(struct writer *self); /* NULL where there is nothing to flush */
    void (*close)(struct writer *self);        /* frees SELF; does not flush */
};
struct err *writer_write(struct writer *w, struct str s);
struct err *writer_printf(struct writer *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct err *writer_flush(struct writer *w);
void writer_close(struct writer *w); /* NULL is fine */
/* Buffered: what fits waits for writer_flush. */
struct writer *writer_of_fd(int fd, bool close_fd, size_t buffer_bytes, const char *name);
struct writer *writer_of_buf(struct buf *buf);

#endif
