/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

#include "base/account.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    NESTING = 64,
    IN_BUFFER = 16 << 10,
    REST_MS = 200,
    OUT_BUFFER = 32 << 10,
    DIRECT_WRITE = 8 << 10, /* larger pieces are not copied into the buffer */
    ENCODE_STEP = 32 << 10, /* plain bytes that are encoded before what became of them is written */
};

struct conn {
    int in_fd, out_fd;
    const struct conn_codes *codes;
    struct buf in; /* IN_AT .. in.n is not consumed yet */
    size_t in_at;
    struct buf out;
    bool holding;
    size_t hold_from;        /* where in OUT the held bytes begin */
    struct conn_layer layer; /* self NULL: none. IN and OUT hold plain bytes */
    struct buf coded_in, coded_out;
    uint64_t request_limit, request_bytes;
    uint64_t response_limit, response_bytes;
    int failed;          /* errno of the first I/O error */
    bool ended;          /* no more input: the peer has ended it, or let us wait too long */
    int64_t deadline_ms; /* on the monotonic clock; 0: none */
    unsigned idle_s;     /* 0: any time */
    unsigned step_s;     /* how often to look whether others want the memory */
    unsigned nesting;
};

struct conn *conn_new(int in_fd, int out_fd, const struct conn_codes *codes)
{
    struct conn *conn = mem_zalloc(sizeof *conn);
    conn->in_fd = in_fd;
    conn->out_fd = out_fd;
    conn->codes = codes;
    conn->nesting = NESTING;
    buf_reserve(&conn->in, IN_BUFFER);
    buf_reserve(&conn->out, OUT_BUFFER);
    return conn;
}

void conn_free(struct conn *conn)
{
    if (!conn)
        return;
    buf_free(&conn->in);
    buf_free(&conn->out);
    buf_free(&conn->coded_in);
    buf_free(&conn->coded_out);
    if (conn->layer.self)
        conn->layer.free(conn->layer.self);
    free(conn);
}

int conn_in_fd(const struct conn *conn)
{
    return conn->in_fd;
}

bool conn_is_secure(const struct conn *conn)
{
    return conn->layer.self;
}

static struct err *closed_error(const struct conn *conn)
{
    return err_make(conn->codes->closed, "Network connection closed unexpectedly");
}

static struct err *failed_error(const struct conn *conn)
{
    return conn->failed == EPIPE ? closed_error(conn)
                                 : err_errno(conn->failed, "Can't talk to the peer");
}

static struct err *fail(struct conn *conn, int errnum)
{
    conn->failed = errnum == ECONNRESET ? EPIPE : errnum;
    return failed_error(conn);
}

/* ---- bounds ---- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void conn_set_idle_timeout(struct conn *conn, unsigned seconds)
{
    conn->idle_s = seconds;
    conn->step_s = seconds && seconds < CONN_PATIENCE_S ? seconds : CONN_PATIENCE_S;
    struct timeval wait = {.tv_sec = (time_t)conn->step_s};
    setsockopt(conn->in_fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(conn->out_fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
}

void conn_set_deadline(struct conn *conn, unsigned seconds)
{
    conn->deadline_ms = seconds ? now_ms() + (int64_t)seconds * 1000 : 0;
}

void conn_set_nesting(struct conn *conn, unsigned levels)
{
    conn->nesting = levels;
}

unsigned conn_nesting(const struct conn *conn)
{
    return conn->nesting;
}

/* A descriptor whose time is up. */
static bool is_late(int errnum)
{
    return errnum == EAGAIN || errnum == EWOULDBLOCK;
}

static struct err *late_error(struct conn *conn, const char *what, unsigned seconds)
{
    conn->ended = true;
    return err_make(conn->codes->io, "%s within %u seconds", what, seconds);
}

/* A step of a wait is over. *WAITED_S: since the peer last did something. */
static struct err *check_patience(struct conn *conn, unsigned *waited_s)
{
    *waited_s += conn->step_s;
    if (conn->idle_s && *waited_s >= conn->idle_s)
        return late_error(conn, "Nothing was heard from the client", conn->idle_s);
    if (!account_is_in_the_way(account_current))
        return NULL;
    conn->ended = true;
    return err_make(conn->codes->io,
                    "The client made no progress within %u seconds, and others "
                    "want the memory that its request takes",
                    conn->step_s);
}

static struct err *wait_until_deadline(struct conn *conn)
{
    if (!conn->deadline_ms)
        return NULL;
    struct pollfd poll_in = {.fd = conn->in_fd, .events = POLLIN};
    int64_t left;
    do {
        left = conn->deadline_ms - now_ms();
        if (left <= 0)
            left = 0;
        else if (left > INT_MAX)
            left = INT_MAX;
        if (poll(&poll_in, 1, (int)left) > 0)
            return NULL;
    } while (left > 0);
    conn->ended = true;
    return err_make(conn->codes->io, "The client did not log in in time");
}

/* jemalloc's, where the program is linked with it. */
extern int mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size)
    __attribute__((weak));

/* A peer that stays silent for a while: what this thread has at hand for its next allocations is
 * of more use to others. */
static void rest(const struct conn *conn)
{
    struct pollfd poll_in = {.fd = conn->in_fd, .events = POLLIN};
    if (mallctl && poll(&poll_in, 1, REST_MS) == 0)
        mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
}

/* Whatever comes first of N bytes. Waits. */
static struct err *receive(size_t *got, struct conn *conn, char *to, size_t n)
{
    ssize_t count;
    if (conn->ended)
        return closed_error(conn);
    TRY(wait_until_deadline(conn));
    unsigned waited_s = 0;
    while ((count = read(conn->in_fd, to, n)) < 0 && (errno == EINTR || is_late(errno)))
        if (errno != EINTR)
            TRY(check_patience(conn, &waited_s));
    if (count < 0)
        return fail(conn, errno);
    *got = (size_t)count;
    if (count > 0)
        return NULL;
    conn->ended = true;
    return closed_error(conn);
}

/* What the layer says of a damaged stream, once; after it the connection is as good as closed. */
static struct err *check_layer(struct conn *conn, struct err *err)
{
    if (err)
        conn->failed = EPIPE;
    return err;
}

/* One read that adds to TO. Waits. */
static struct err *read_more(struct conn *conn, struct buf *to)
{
    size_t got;
    TRY(account_check()); /* a bufferful at a time: items are small, and there are many */
    buf_reserve(to, IN_BUFFER);
    rest(conn);
    TRY(receive(&got, conn, to->p + to->n, IN_BUFFER));
    to->n += got;
    return NULL;
}

/* An empty buffer that once was needed larger: most never are again. */
static void shrink(struct buf *buf, size_t usual)
{
    if (buf->cap <= 2 * usual)
        return;
    buf_free(buf);
    buf_reserve(buf, usual);
}

/* One read into the input buffer. Waits; with a layer it may bring nothing yet. */
static struct err *fill(struct conn *conn)
{
    if (conn->in_at == conn->in.n) {
        conn->in_at = conn->in.n = 0;
        shrink(&conn->in, IN_BUFFER);
    }
    if (!conn->layer.self)
        return read_more(conn, &conn->in);
    buf_clear(&conn->coded_in);
    TRY(read_more(conn, &conn->coded_in));
    return check_layer(conn,
                       conn->layer.decode(&conn->in, conn->layer.self, buf_view(&conn->coded_in)));
}

void conn_linger(struct conn *conn)
{
    static const size_t piece = IN_BUFFER;
    struct err *err = conn_flush(conn);
    bool over = err || conn->failed || shutdown(conn->out_fd, SHUT_WR) != 0;
    int64_t until = now_ms() + CONN_LINGER_MS;
    err_free(err);
    conn->in_at = conn->in.n = 0;
    buf_reserve(&conn->in, piece);
    for (size_t taken = 0; !over && taken < CONN_LINGER_BYTES;) {
        struct pollfd poll_in = {.fd = conn->in_fd, .events = POLLIN};
        int64_t left = until - now_ms();
        if (left <= 0 || poll(&poll_in, 1, (int)left) <= 0)
            return;
        ssize_t got = recv(conn->in_fd, conn->in.p, piece, MSG_DONTWAIT);
        over = got <= 0;
        taken += over ? 0 : (size_t)got;
    }
}

/* ---- reading ---- */

static struct err *count_request(struct conn *conn, size_t n)
{
    conn->request_bytes += n;
    if (conn->request_limit && conn->request_bytes > conn->request_limit)
        return err_make(conn->codes->request_size,
                        "The client request size exceeds the configured limit");
    return NULL;
}

struct err *conn_peek(struct str *out, struct conn *conn)
{
    TRY(count_request(conn, 0)); /* of what was taken so far */
    while (conn->in_at == conn->in.n) {
        if (conn->failed)
            return failed_error(conn);
        TRY(conn_flush(conn));
        TRY(fill(conn));
    }
    *out = str_make(conn->in.p + conn->in_at, conn->in.n - conn->in_at);
    return NULL;
}

void conn_take(struct conn *conn, size_t n)
{
    conn->in_at += n;
    conn->request_bytes += n;
}

/* A long read goes from the descriptor to where it belongs, not through the buffer. */
static struct err *read_direct(struct conn *conn, char *to, size_t n)
{
    while (n) {
        size_t got;
        TRY(conn_flush(conn));
        TRY(receive(&got, conn, to, n));
        to += got;
        n -= got;
    }
    return NULL;
}

struct err *conn_read(struct conn *conn, void *to, size_t n)
{
    char *at = to;
    TRY(count_request(conn, n));
    while (n) {
        size_t held = conn->in.n - conn->in_at;
        if (held == 0 && n >= IN_BUFFER && !conn->failed && !conn->layer.self)
            return read_direct(conn, at, n);
        struct str have;
        TRY(conn_peek(&have, conn));
        size_t part = have.n < n ? have.n : n;
        memcpy(at, have.p, part);
        conn->in_at += part;
        at += part;
        n -= part;
    }
    return NULL;
}

bool conn_input_pending(struct conn *conn)
{
    if (conn->in_at < conn->in.n)
        return true;
    struct pollfd poll_in = {.fd = conn->in_fd, .events = POLLIN};
    return poll(&poll_in, 1, 0) > 0;
}

void conn_begin_request(struct conn *conn, uint64_t limit)
{
    conn->request_limit = limit;
    conn->request_bytes = 0;
}

void conn_begin_response(struct conn *conn, uint64_t limit)
{
    conn->response_limit = limit;
    conn->response_bytes = 0;
}

/* The same for output: nothing can be said any more. */
static struct err *pass_time(struct conn *conn, unsigned *waited_s)
{
    struct err *err = check_patience(conn, waited_s);
    if (!err)
        return NULL;
    err_free(err);
    return fail(conn, ETIMEDOUT);
}

/* Write two pieces, all of them. */
static struct err *write_pair(struct conn *conn, struct str first, struct str second)
{
    unsigned waited_s = 0;
    while (first.n || second.n) {
        struct iovec parts[2] = {{(void *)first.p, first.n}, {(void *)second.p, second.n}};
        ssize_t put = writev(conn->out_fd, parts, 2);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && is_late(errno)) {
            TRY(pass_time(conn, &waited_s));
            continue;
        }
        if (put < 0)
            return fail(conn, errno);
        waited_s = 0;
        size_t of_first = (size_t)put < first.n ? (size_t)put : first.n;
        first = str_skip(first, of_first);
        second = str_skip(second, (size_t)put - of_first);
    }
    return NULL;
}

static struct err *encode(struct conn *conn, struct str plain)
{
    while (plain.n) {
        struct str part = plain;
        if (part.n > conn->layer.plain_max)
            part.n = conn->layer.plain_max;
        TRY(check_layer(conn, conn->layer.encode(&conn->coded_out, conn->layer.self, part)));
        plain = str_skip(plain, part.n);
    }
    return NULL;
}

/* Encode and write, in steps: what is coded stays small, however much there is to write. */
static struct err *write_coded(struct conn *conn, struct str plain)
{
    while (plain.n) {
        struct str part = str_make(plain.p, plain.n < ENCODE_STEP ? plain.n : ENCODE_STEP);
        TRY(encode(conn, part));
        struct str coded = buf_view(&conn->coded_out);
        conn->coded_out.n = 0;
        TRY(write_pair(conn, coded, S("")));
        plain = str_skip(plain, part.n);
    }
    return NULL;
}

static struct err *send_out(struct conn *conn, struct str direct)
{
    struct str held = buf_view(&conn->out);
    conn->out.n = 0; /* also after an error: nothing is sent twice */
    if (conn->failed)
        return failed_error(conn);
    if (!conn->layer.self) {
        TRY(write_pair(conn, held, direct));
    } else {
        TRY(write_coded(conn, held));
        TRY(write_coded(conn, direct));
    }
    shrink(&conn->out, OUT_BUFFER);
    return NULL;
}

struct err *conn_secure(struct conn *conn, const struct conn_layer *layer)
{
    struct err *err = conn_flush(conn);
    if (err) {
        layer->free(layer->self);
        return err;
    }
    buf_clear(&conn->coded_in);
    buf_add(&conn->coded_in, conn->in.p + conn->in_at, conn->in.n - conn->in_at);
    conn->in_at = conn->in.n = 0;
    conn->layer = *layer;
    if (!conn->coded_in.n)
        return NULL;
    return check_layer(conn, layer->decode(&conn->in, layer->self, buf_view(&conn->coded_in)));
}

struct err *conn_write(struct conn *conn, const void *p, size_t n)
{
    conn->response_bytes += n;
    if (conn->response_limit && conn->response_bytes > conn->response_limit)
        return err_make(conn->codes->response_size,
                        "The server response size exceeds the configured limit");
    if (n >= DIRECT_WRITE || conn->out.n + n > OUT_BUFFER)
        TRY(account_check()); /* a bufferful at a time, as above */
    if (conn->holding) {
        buf_add(&conn->out, p, n);
        return NULL;
    }
    if (n >= DIRECT_WRITE)
        return send_out(conn, str_make(p, n));
    if (conn->out.n + n > OUT_BUFFER)
        TRY(send_out(conn, S("")));
    buf_add(&conn->out, p, n);
    return NULL;
}

void conn_hold(struct conn *conn)
{
    conn->holding = true;
    conn->hold_from = conn->out.n;
}

void conn_hold_release(struct conn *conn)
{
    conn->holding = false;
}

void conn_hold_discard(struct conn *conn)
{
    if (conn->holding)
        conn->out.n = conn->hold_from;
    conn->holding = false;
}

struct err *conn_flush(struct conn *conn)
{
    return conn->out.n ? send_out(conn, S("")) : NULL;
}

/* As much of READY as a descriptor that poll calls writable takes without waiting. */
static struct err *write_some(struct conn *conn, struct buf *ready)
{
    size_t part = ready->n < PIPE_BUF ? ready->n : PIPE_BUF;
    ssize_t put = write(conn->out_fd, ready->p, part);
    if (put < 0 && errno != EINTR)
        return fail(conn, errno);
    if (put > 0) {
        ready->n -= (size_t)put;
        memmove(ready->p, ready->p + put, ready->n);
    }
    return NULL;
}

struct err *conn_flush_holding(struct conn *conn)
{
    struct buf *ready = &conn->out;
    unsigned waited_s = 0;
    if (conn->layer.self && !conn->failed) {
        TRY(encode(conn, buf_view(&conn->out)));
        conn->out.n = 0;
        ready = &conn->coded_out;
    }
    while (ready->n && !conn->failed) {
        struct pollfd fds[2] = {{.fd = conn->out_fd, .events = POLLOUT},
                                {.fd = conn->in_fd, .events = POLLIN}};
        int count = poll(fds, 2, conn->step_s ? (int)conn->step_s * 1000 : -1);
        if (count < 0 && errno != EINTR)
            return fail(conn, errno);
        if (count == 0)
            TRY(pass_time(conn, &waited_s));
        else
            waited_s = 0;
        if (fds[0].revents) {
            TRY(write_some(conn, ready));
            continue;
        }
        if (fds[1].revents) {
            if (conn->in.n - conn->in_at > CONN_HELD_MAX)
                return fail(conn, EPIPE);
            TRY(fill(conn));
        }
    }
    return conn->failed ? failed_error(conn) : NULL;
}
