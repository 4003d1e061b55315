/* SPDX-License-Identifier: Apache-2.0 */
/* conn.h - a connection's bytes, both ways: buffered, counted, limited.
 *
 * What is written collects in a buffer that goes out when it is full or when the reader is about to
 * wait for the peer: a conversation of pipelined requests costs one system call a direction. Large
 * pieces (cached wire texts) are written from where they are, without a copy.
 *
 * Errors: E_RA_SVN_CONNECTION_CLOSED at the end of input, E_RA_SVN_IO_ERROR, E_RA_SVN_REQUEST_SIZE,
 * E_RA_SVN_RESPONSE_SIZE. After an I/O error every later call fails the same way. One thread at a
 * time. */
#ifndef VARVE_SVN_CONN_H
#define VARVE_SVN_CONN_H

#include "base/buf.h"
#include "base/err.h"
#include <stdint.h>

struct conn;

/* IN_FD and OUT_FD (may be the same) stay the caller's. */
struct conn *conn_new(int in_fd, int out_fd);
void conn_free(struct conn *conn);

/* Where the peer's bytes come from: to ask for addresses. */
int conn_in_fd(const struct conn *conn);

/* A security layer, as an authentication may leave one: what bytes become on their way to the peer
 * (CODED), and back. One piece of plain bytes need not be one piece of coded ones. */
struct conn_layer {
    void *self;
    struct err *(*encode)(struct buf *coded, void *self, struct str plain);
    struct err *(*decode)(struct buf *plain, void *self, struct str coded);
    void (*free)(void *self);
    size_t plain_max; /* bytes that encode takes at once */
};
/* Send what was written; all bytes after that go through LAYER, which the connection frees. Input
 * that is at hand already came after the peer's last plain byte: it is coded too, so that nobody
 * can slip plain bytes in before the layer begins. An error of the layer is the end of the
 * connection. */
struct err *conn_secure(struct conn *conn, const struct conn_layer *layer);
bool conn_is_secure(const struct conn *conn);

/* ---- reading ---- */

/* The bytes at hand (at least one, at most what is buffered); waits where there are none, after
 * sending what was written. */
struct err *conn_peek(struct str *out, struct conn *conn);
void conn_take(struct conn *conn, size_t n);                  /* consume N of the peeked bytes */
struct err *conn_read(struct conn *conn, void *to, size_t n); /* exactly N */
/* True where input is at hand, or comes at once: the peer is not waiting for us. */
bool conn_input_pending(struct conn *conn);
/* Bytes that one request may take; counted from the last call. 0: no limit. */
void conn_begin_request(struct conn *conn, uint64_t limit);

/* ---- writing ---- */

struct err *conn_write(struct conn *conn, const void *p, size_t n);
static inline struct err *conn_write_str(struct conn *conn, struct str s);
struct err *conn_flush(struct conn *conn);
/* Flush although the peer may be busy sending and not reading: takes in what it sends meanwhile (up
 * to CONN_HELD_MAX bytes), so that two full pipes do not wait for each other for ever. */
struct err *conn_flush_holding(struct conn *conn);
void conn_begin_response(struct conn *conn, uint64_t limit); /* 0: no limit */

/* From here on written bytes are held back, however many, until they are let go or taken back: an
 * answer that turns into an error half-way leaves nothing on the wire. Do not read meanwhile. */
void conn_hold(struct conn *conn);
void conn_hold_release(struct conn *conn);
void conn_hold_discard(struct conn *conn); /* fine where nothing is held */

enum { CONN_HELD_MAX = 16 << 20 };

static inline struct err *conn_write_str(struct conn *conn, struct str s)
{
    return conn_write(conn, s.p, s.n);
}

#endif
