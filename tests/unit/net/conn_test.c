/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "net/conn.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct conn_codes codes = {
    .closed = E_RA_SVN_CONNECTION_CLOSED,
    .io = E_RA_SVN_IO_ERROR,
    .request_size = E_RA_SVN_REQUEST_SIZE,
    .response_size = E_RA_SVN_RESPONSE_SIZE,
};

static void make_pair(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static struct str have(int fd, char *space, size_t size)
{
    ssize_t got = recv(fd, space, size, MSG_DONTWAIT);
    return str_make(space, got > 0 ? (size_t)got : 0);
}

static void what_is_written_waits_for_a_flush(void **state)
{
    int fds[2];
    char space[64];
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    assert_ok(conn_write_str(conn, S("one ")));
    assert_ok(conn_write_str(conn, S("two ")));
    assert_int_equal(have(fds[1], space, sizeof space).n, 0);
    assert_ok(conn_flush(conn));
    assert_str(have(fds[1], space, sizeof space), "one two ");
    conn_free(conn);
    close(fds[0]);
    close(fds[1]);
}

static void who_waits_for_the_peer_sends_first(void **state)
{
    int fds[2];
    char space[64], byte;
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    assert_ok(conn_write_str(conn, S("question ")));
    assert_int_equal(write(fds[1], "!", 1), 1);
    assert_ok(conn_read(conn, &byte, 1));
    assert_str(have(fds[1], space, sizeof space), "question ");
    conn_free(conn);
    close(fds[0]);
    close(fds[1]);
}

static void an_answer_that_is_taken_back_leaves_nothing(void **state)
{
    int fds[2];
    char space[256 << 10];
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    assert_ok(conn_write_str(conn, S("before ")));
    conn_hold(conn);
    memset(space, 'x', sizeof space);
    assert_ok(conn_write(conn, space, sizeof space)); /* far more than the buffer */
    conn_hold_discard(conn);
    assert_ok(conn_write_str(conn, S("after ")));
    assert_ok(conn_flush(conn));
    assert_str(have(fds[1], space, sizeof space), "before after ");
    conn_hold_discard(conn); /* nothing is held: nothing happens */
    conn_hold(conn);
    assert_ok(conn_write_str(conn, S("kept ")));
    conn_hold_release(conn);
    conn_hold_discard(conn);
    assert_ok(conn_flush(conn));
    assert_str(have(fds[1], space, sizeof space), "kept ");
    conn_free(conn);
    close(fds[0]);
    close(fds[1]);
}

static void after_an_error_every_call_fails(void **state)
{
    int fds[2];
    char byte;
    struct str peeked;
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    close(fds[1]);
    assert_err(conn_peek(&peeked, conn), E_RA_SVN_CONNECTION_CLOSED,
               "Network connection closed unexpectedly");
    assert_err(conn_read(conn, &byte, 1), E_RA_SVN_CONNECTION_CLOSED, NULL);
    assert_ok(conn_write_str(conn, S("x"))); /* into the buffer */
    assert_err(conn_flush(conn), E_RA_SVN_CONNECTION_CLOSED, NULL);
    assert_ok(conn_write_str(conn, S("x")));
    assert_err(conn_flush_holding(conn), E_RA_SVN_CONNECTION_CLOSED, NULL);
    conn_free(conn);
    close(fds[0]);
}

static void writing_to_who_is_gone_is_an_error(void **state)
{
    int fds[2];
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    close(fds[1]);
    assert_ok(conn_write_str(conn, S("x")));
    assert_err(conn_flush(conn), E_RA_SVN_CONNECTION_CLOSED, NULL);
    conn_free(conn);
    close(fds[0]);
}

static void a_response_has_a_limit_too(void **state)
{
    int fds[2];
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    conn_begin_response(conn, 10);
    assert_ok(conn_write_str(conn, S("0123456789")));
    assert_err(conn_write_str(conn, S("x")), E_RA_SVN_RESPONSE_SIZE, NULL);
    conn_begin_response(conn, 10);
    assert_ok(conn_write_str(conn, S("again")));
    conn_free(conn);
    close(fds[0]);
    close(fds[1]);
}

/* Fill what FD takes without anybody reading. */
static size_t stuff(int fd)
{
    static const char bytes[4096];
    size_t total = 0;
    ssize_t put;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while ((put = write(fd, bytes, sizeof bytes)) > 0)
        total += (size_t)put;
    while (write(fd, bytes, 1) > 0)
        total++;
    fcntl(fd, F_SETFL, 0);
    return total;
}

struct peer {
    int to, from;
    size_t first, want; /* bytes to write before any is read; bytes to read then */
    size_t got;
};

static void *be_busy(void *arg)
{
    struct peer *peer = arg;
    char space[4096];
    for (size_t left = peer->first; left;) {
        size_t part = left < sizeof space ? left : sizeof space;
        ssize_t put = write(peer->to, space, part);
        if (put <= 0)
            break;
        left -= (size_t)put;
    }
    while (peer->got < peer->want) {
        ssize_t got = read(peer->from, space, sizeof space);
        if (got <= 0)
            break;
        peer->got += (size_t)got;
    }
    return NULL;
}

/* The peer sends a megabyte before it reads; both ways are full when we begin. */
static void two_full_ways_do_not_wait_for_each_other(int in[2], int out[2])
{
    static char text[30 << 10]; /* much more than a pipe that is writable has to take */
    pthread_t thread;
    size_t before = stuff(out[1]);
    struct peer peer = {
        .to = in[1], .from = out[0], .first = 1 << 20, .want = before + sizeof text};
    struct conn *conn = conn_new(in[0], out[1], &codes);
    for (size_t done = 0; done < sizeof text; done += 1 << 10)
        assert_ok(conn_write(conn, text, 1 << 10));
    assert_int_equal(pthread_create(&thread, NULL, be_busy, &peer), 0);
    alarm(60);
    assert_ok(conn_flush_holding(conn));
    /* What was taken in meanwhile is still to be read, every byte. */
    size_t left = peer.first;
    while (left) {
        size_t part = left < sizeof text ? left : sizeof text;
        assert_ok(conn_read(conn, text, part));
        left -= part;
    }
    pthread_join(thread, NULL);
    alarm(0);
    assert_int_equal(peer.got, peer.want);
    conn_free(conn);
}

static void full_pipes_do_not_wait_for_each_other(void **state)
{
    int in[2], out[2];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    two_full_ways_do_not_wait_for_each_other(in, out);
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(out[i]);
    }
}

static void full_sockets_do_not_wait_for_each_other(void **state)
{
    int fds[2];
    make_pair(fds);
    int in[2] = {fds[0], fds[1]}, out[2] = {fds[1], fds[0]};
    two_full_ways_do_not_wait_for_each_other(in, out);
    close(fds[0]);
    close(fds[1]);
}

/* A pipe that is writable may take 4096 bytes and not one more: a longer piece must not wait there
 * while the peer does. */
static void a_way_with_little_room_is_not_overfilled(void **state)
{
    int in[2], out[2];
    static char text[20 << 10], space[64 << 10];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    size_t before = stuff(out[1]);
    assert_int_equal(read(out[0], space, 4096), 4096); /* room for one page */
    struct peer peer = {
        .to = in[1], .from = out[0], .first = 1 << 20, .want = before - 4096 + sizeof text};
    struct conn *conn = conn_new(in[0], out[1], &codes);
    for (size_t done = 0; done < sizeof text; done += 1 << 10)
        assert_ok(conn_write(conn, text, 1 << 10));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, be_busy, &peer), 0);
    alarm(60);
    assert_ok(conn_flush_holding(conn));
    pthread_join(thread, NULL);
    alarm(0);
    assert_int_equal(peer.got, peer.want);
    conn_free(conn);
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(out[i]);
    }
}

/* A peer that sends for ever and never reads is given up. */
static void *send_for_ever(void *arg)
{
    static const char bytes[64 << 10];
    while (write(*(int *)arg, bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

static void a_peer_that_only_sends_is_given_up(void **state)
{
    int fds[2];
    pthread_t thread;
    make_pair(fds);
    stuff(fds[0]);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    assert_ok(conn_write_str(conn, S("failure")));
    assert_int_equal(pthread_create(&thread, NULL, send_for_ever, &fds[1]), 0);
    alarm(60);
    assert_err(conn_flush_holding(conn), E_RA_SVN_CONNECTION_CLOSED, NULL);
    alarm(0);
    conn_free(conn);
    close(fds[0]);
    pthread_join(thread, NULL);
    close(fds[1]);
}

static void a_deadline_ends_the_input_and_one_can_still_write(void **state)
{
    int fds[2];
    char space[64], byte;
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    conn_set_deadline(conn, 1);
    assert_err(conn_read(conn, &byte, 1), E_RA_SVN_IO_ERROR, NULL);
    assert_err(conn_read(conn, &byte, 1), E_RA_SVN_CONNECTION_CLOSED, NULL);
    assert_ok(conn_write_str(conn, S("why ")));
    assert_ok(conn_flush(conn));
    assert_str(have(fds[1], space, sizeof space), "why ");
    conn_free(conn);
    close(fds[0]);
    close(fds[1]);
}

static void a_silent_peer_is_waited_for_so_long(void **state)
{
    int fds[2];
    char byte;
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    conn_set_idle_timeout(conn, 1);
    assert_err(conn_read(conn, &byte, 1), E_RA_SVN_IO_ERROR,
               "Nothing was heard from the client within 1 seconds");
    conn_free(conn);
    close(fds[0]);
    close(fds[1]);
}

static void *send_for_a_while(void *arg)
{
    static const char piece[1 << 16];
    const int *fd = arg;
    for (int i = 0; i < 100; i++)
        if (send(*fd, piece, sizeof piece, 0) < 0)
            return (void *)1;
    shutdown(*fd, SHUT_WR);
    return NULL;
}

static void last_words_reach_a_peer_that_is_still_sending(void **state)
{
    int fds[2];
    char space[64];
    void *failed;
    pthread_t thread;
    make_pair(fds);
    struct conn *conn = conn_new(fds[0], fds[0], &codes);
    assert_int_equal(pthread_create(&thread, NULL, send_for_a_while, &fds[1]), 0);
    assert_ok(conn_write_str(conn, S("bye ")));
    conn_linger(conn);
    conn_free(conn);
    close(fds[0]);
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_str(have(fds[1], space, sizeof space), "bye ");
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_waits_for_a_flush),
        cmocka_unit_test(who_waits_for_the_peer_sends_first),
        cmocka_unit_test(an_answer_that_is_taken_back_leaves_nothing),
        cmocka_unit_test(after_an_error_every_call_fails),
        cmocka_unit_test(writing_to_who_is_gone_is_an_error),
        cmocka_unit_test(a_response_has_a_limit_too),
        cmocka_unit_test(full_pipes_do_not_wait_for_each_other),
        cmocka_unit_test(full_sockets_do_not_wait_for_each_other),
        cmocka_unit_test(a_way_with_little_room_is_not_overfilled),
        cmocka_unit_test(a_peer_that_only_sends_is_given_up),
        cmocka_unit_test(a_deadline_ends_the_input_and_one_can_still_write),
        cmocka_unit_test(a_silent_peer_is_waited_for_so_long),
        cmocka_unit_test(last_words_reach_a_peer_that_is_still_sending),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
