/* SPDX-License-Identifier: Apache-2.0 */
/* A connection with a security layer. The layer here is a simple one:
 *
 *   | length (1 byte, 1 to 100) | that many bytes, each XOR 0x55 |
 *
 * A length that it does not allow is its error. */
#include "../testing.h"
#include "net/conn.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct conn_codes codes = {
    .closed = E_RA_SVN_CONNECTION_CLOSED,
    .io = E_RA_SVN_IO_ERROR,
    .request_size = E_RA_SVN_REQUEST_SIZE,
    .response_size = E_RA_SVN_RESPONSE_SIZE,
};

enum { PIECE_MAX = 100, MASK = 0x55 };

struct mask {
    struct buf partial; /* of a piece that has not come whole */
    size_t longest;     /* encode was asked for at once */
    bool *freed;
};

static struct err *mask_encode(struct buf *coded, void *self, struct str plain)
{
    struct mask *mask = self;
    mask->longest = plain.n > mask->longest ? plain.n : mask->longest;
    if (plain.n > PIECE_MAX)
        return err_make(EINVAL, "too long to encode");
    buf_char(coded, (char)plain.n);
    for (size_t i = 0; i < plain.n; i++)
        buf_char(coded, (char)(plain.p[i] ^ MASK));
    return NULL;
}

static struct err *mask_decode(struct buf *plain, void *self, struct str coded)
{
    struct mask *mask = self;
    buf_str(&mask->partial, coded);
    size_t at = 0;
    while (at < mask->partial.n) {
        size_t n = (unsigned char)mask->partial.p[at];
        if (n == 0 || n > PIECE_MAX)
            return err_make(E_RA_SVN_IO_ERROR, "bad length");
        if (mask->partial.n - at - 1 < n)
            break;
        for (size_t i = 0; i < n; i++)
            buf_char(plain, (char)(mask->partial.p[at + 1 + i] ^ MASK));
        at += 1 + n;
    }
    memmove(mask->partial.p, mask->partial.p + at, mask->partial.n - at);
    mask->partial.n -= at;
    return NULL;
}

static void mask_free(void *self)
{
    struct mask *mask = self;
    if (mask->freed)
        *mask->freed = true;
    buf_free(&mask->partial);
    free(mask);
}

static struct mask *mask_new(struct conn_layer *layer)
{
    struct mask *mask = mem_zalloc(sizeof *mask);
    *layer = (struct conn_layer){
        .self = mask, .encode = mask_encode, .decode = mask_decode, .free = mask_free};
    layer->plain_max = PIECE_MAX;
    return mask;
}

/* A connection over FDS[0] that is not secure yet; its peer has FDS[1]. */
static struct conn *make_conn(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    return conn_new(fds[0], fds[0], &codes);
}

static void end(struct conn *conn, int fds[2])
{
    conn_free(conn);
    close(fds[0]);
    close(fds[1]);
}

static void put(int fd, struct str bytes)
{
    assert_int_equal(write(fd, bytes.p, bytes.n), bytes.n);
}

/* What the other end of the layer makes of CODED. */
static void decode(struct buf *plain, struct str coded)
{
    struct conn_layer layer;
    struct mask *mask = mask_new(&layer);
    assert_ok(mask_decode(plain, mask, coded));
    assert_int_equal(mask->partial.n, 0);
    mask_free(mask);
}

static void what_is_written_before_stays_plain(void **state)
{
    int fds[2];
    char space[64];
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    mask_new(&layer);
    assert_false(conn_is_secure(conn));
    assert_ok(conn_write_str(conn, S("welcome ")));
    assert_ok(conn_secure(conn, &layer));
    assert_true(conn_is_secure(conn));
    assert_ok(conn_write_str(conn, S("AB")));
    assert_ok(conn_flush(conn));
    ssize_t got = read(fds[1], space, sizeof space);
    assert_str(str_make(space, (size_t)got), "welcome \x02\x14\x17");
    end(conn, fds);
}

static void input_at_hand_is_coded_already(void **state)
{
    int fds[2];
    char space[2];
    struct str have;
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    mask_new(&layer);
    put(fds[1], S("token \x02\x14\x17"));
    assert_ok(conn_peek(&have, conn));
    assert_int_equal(have.n, 9);
    conn_take(conn, 6);
    assert_ok(conn_secure(conn, &layer));
    assert_ok(conn_read(conn, space, 2));
    assert_str(str_make(space, 2), "AB");
    end(conn, fds);
}

static void plain_bytes_that_were_slipped_in_are_an_error(void **state)
{
    int fds[2];
    struct str have;
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    mask_new(&layer);
    put(fds[1], S("token \xff( command ( ) ) "));
    assert_ok(conn_peek(&have, conn));
    conn_take(conn, 6);
    assert_err(conn_secure(conn, &layer), E_RA_SVN_IO_ERROR, "bad length");
    assert_err(conn_peek(&have, conn), E_RA_SVN_CONNECTION_CLOSED, NULL);
    assert_ok(conn_write_str(conn, S("x")));
    assert_err(conn_flush(conn), E_RA_SVN_CONNECTION_CLOSED, NULL);
    end(conn, fds);
}

static void a_piece_may_come_in_parts(void **state)
{
    int fds[2];
    char space[2];
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    mask_new(&layer);
    assert_ok(conn_secure(conn, &layer));
    pid_t child = fork();
    if (child == 0) {
        put(fds[1], S("\x02"));
        usleep(20 * 1000);
        put(fds[1], S("\x14"));
        usleep(20 * 1000);
        put(fds[1], S("\x17"));
        _exit(0);
    }
    assert_ok(conn_read(conn, space, 2));
    assert_str(str_make(space, 2), "AB");
    assert_int_equal(waitpid(child, NULL, 0), child);
    end(conn, fds);
}

static void a_damaged_piece_ends_the_connection(void **state)
{
    int fds[2];
    char space[2];
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    mask_new(&layer);
    assert_ok(conn_secure(conn, &layer));
    put(fds[1], S("\x02\x14\x17\xff\x02\x14\x17"));
    assert_err(conn_read(conn, space, 1), E_RA_SVN_IO_ERROR, "bad length");
    assert_ok(conn_write_str(conn, S("x")));
    assert_err(conn_flush(conn), E_RA_SVN_CONNECTION_CLOSED, NULL);
    end(conn, fds);
}

static void all_that_is_written_is_coded_in_pieces(void **state)
{
    int fds[2];
    enum { LARGE = 70000, SMALL = 1000 };
    static char text[LARGE];
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    struct mask *mask = mask_new(&layer);
    for (size_t i = 0; i < LARGE; i++)
        text[i] = (char)(i * 7);
    assert_ok(conn_secure(conn, &layer));
    pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        AUTO_BUF(coded);
        AUTO_BUF(plain);
        char space[4096];
        ssize_t got;
        while ((got = read(fds[1], space, sizeof space)) > 0)
            buf_add(&coded, space, (size_t)got);
        decode(&plain, buf_view(&coded));
        bool right = plain.n == SMALL + LARGE && memcmp(plain.p, text, SMALL) == 0 &&
                     memcmp(plain.p + SMALL, text, LARGE) == 0;
        _exit(right ? 0 : 1);
    }
    assert_ok(conn_write(conn, text, SMALL));
    assert_ok(conn_write(conn, text, LARGE)); /* past the buffer */
    assert_ok(conn_flush(conn));
    assert_int_equal(mask->longest, PIECE_MAX);
    end(conn, fds);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void the_layer_ends_with_the_connection(void **state)
{
    int fds[2];
    bool freed = false;
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    mask_new(&layer)->freed = &freed;
    assert_ok(conn_secure(conn, &layer));
    assert_false(freed);
    end(conn, fds);
    assert_true(freed);
}

static void a_layer_that_cannot_begin_ends_at_once(void **state)
{
    int fds[2];
    bool freed = false;
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    mask_new(&layer)->freed = &freed;
    assert_ok(conn_write_str(conn, S("welcome ")));
    shutdown(fds[0], SHUT_WR);
    assert_err(conn_secure(conn, &layer), E_RA_SVN_CONNECTION_CLOSED, NULL);
    assert_true(freed);
    assert_false(conn_is_secure(conn));
    end(conn, fds);
}

struct peer {
    int fd;
    struct buf coded; /* what it sends before it reads */
    struct buf got;
};

static void *send_then_read(void *arg)
{
    struct peer *peer = arg;
    char space[4096];
    ssize_t got;
    for (size_t at = 0; at < peer->coded.n;) {
        ssize_t sent = write(peer->fd, peer->coded.p + at, peer->coded.n - at);
        if (sent <= 0)
            return NULL;
        at += (size_t)sent;
    }
    while ((got = read(peer->fd, space, sizeof space)) > 0)
        buf_add(&peer->got, space, (size_t)got);
    return NULL;
}

static void full_sockets_do_not_wait_for_each_other(void **state)
{
    int fds[2], small = 4096;
    enum { TEXT = 30 << 10, INPUT = 1 << 20 };
    static char text[TEXT], input[INPUT];
    pthread_t thread;
    struct conn_layer layer;
    struct conn *conn = make_conn(fds);
    struct peer peer = {.fd = fds[1]};
    setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    struct mask *mask = mask_new(&layer);
    for (size_t at = 0; at < INPUT; at += 64)
        assert_ok(mask_encode(&peer.coded, mask, str_make(input + at, 64)));
    assert_ok(conn_secure(conn, &layer));
    for (size_t at = 0; at < TEXT; at += 1 << 10)
        assert_ok(conn_write(conn, text + at, 1 << 10));
    assert_int_equal(pthread_create(&thread, NULL, send_then_read, &peer), 0);
    alarm(60);
    assert_ok(conn_flush_holding(conn));
    for (size_t left = INPUT; left; left -= TEXT < left ? TEXT : left)
        assert_ok(conn_read(conn, text, TEXT < left ? TEXT : left));
    shutdown(fds[0], SHUT_WR);
    pthread_join(thread, NULL);
    alarm(0);
    AUTO_BUF(plain);
    decode(&plain, buf_view(&peer.got));
    assert_int_equal(plain.n, TEXT);
    buf_free(&peer.coded);
    buf_free(&peer.got);
    end(conn, fds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_before_stays_plain),
        cmocka_unit_test(input_at_hand_is_coded_already),
        cmocka_unit_test(plain_bytes_that_were_slipped_in_are_an_error),
        cmocka_unit_test(a_piece_may_come_in_parts),
        cmocka_unit_test(a_damaged_piece_ends_the_connection),
        cmocka_unit_test(all_that_is_written_is_coded_in_pieces),
        cmocka_unit_test(the_layer_ends_with_the_connection),
        cmocka_unit_test(a_layer_that_cannot_begin_ends_at_once),
        cmocka_unit_test(full_sockets_do_not_wait_for_each_other),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
