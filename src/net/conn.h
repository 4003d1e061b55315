/* SPDX-License-Identifier: Apache-2.0 */
/* conn.h - a connection's bytes, both ways: buffered, counted, limited.
 *
 * What is written collects in a buffer that goes out when it is full or when the reader is about to
 * wait for the peer: a conversation of pipelined requests costs one system call a direction. Large
 * pieces (cached wire texts) are written from where they are, without a copy.
 *
 * Errors: those of conn_codes, those of the thread's account (account.h) where it has too much,
 * errno values. After an error of the descriptor every later call fails the same way; after the end
 * of input, or a wait for it that was too long, one can still write. One thread at a time. */
#ifndef VARVE_NET_CONN_H
#define VARVE_NET_CONN_H

#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

struct conn;

/* The protocol's words for what may go wrong. */
struct conn_codes {
    int closed;                      /* the end of input */
    int io;                          /* the peer lets us wait too long; a security layer failed */
    int request_size, response_size; /* a limit is met */
};

/* IN_FD and OUT_FD (may be the same) stay the caller's. */
struct conn *conn_new(int in_fd, int out_fd, const struct conn_codes *codes);
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
/* ---- bounds ---- */

/* The longest wait for the peer to send or take something, in seconds; 0: for ever. Pipes know no
 * such bound. Where others want the memory that the thread's account holds, it is CONN_PATIENCE_S.
 */
void conn_set_idle_timeout(struct conn *conn, unsigned seconds);
/* All input must have come this many seconds from now; 0: no such bound any more. */
void conn_set_deadline(struct conn *conn, unsigned seconds);

/* Lists within lists that the reader of items puts up with; 64 where nobody says otherwise. */
void conn_set_nesting(struct conn *conn, unsigned levels);
unsigned conn_nesting(const struct conn *conn);

/* The end that comes from our side: send what was written and that no more comes, then take in and
 * forget what the peer is still sending, for a while. Without that its system would throw away our
 * last words together with the connection. */
void conn_linger(struct conn *conn);

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

enum {
    CONN_HELD_MAX = 16 << 20,
    CONN_PATIENCE_S = 5,
    CONN_LINGER_MS = 5 * 1000,     /* how long, ... */
    CONN_LINGER_BYTES = 128 << 20, /* ... and how much a peer may go on to send after the end */
};

static inline struct err *conn_write_str(struct conn *conn, struct str s)
{
    return conn_write(conn, s.p, s.n);
}

#endif
