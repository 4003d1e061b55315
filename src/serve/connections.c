/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connections.h"

#include "base/buf.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 512 << 10 }; /* scripts/check-recursion holds ours to half of it */

struct connection {
    struct connection *next, *prev;
    int fd;
    char peer[ADDRESS_TEXT_MAX];
    struct session_options options;
    struct session_state state;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_gone = PTHREAD_COND_INITIALIZER;
static struct connection *first;
static atomic_bool stopping;

static void enter(struct connection *c)
{
    pthread_mutex_lock(&mutex);
    c->next = first;
    if (first)
        first->prev = c;
    first = c;
    pthread_mutex_unlock(&mutex);
}

static void leave(struct connection *c)
{
    peers_leave(c->options.peers, c->peer);
    pthread_mutex_lock(&mutex);
    if (c->prev)
        c->prev->next = c->next;
    else
        first = c->next;
    if (c->next)
        c->next->prev = c->prev;
    close(c->fd); /* under the mutex: connections_stop must not shut down a descriptor that is
                     somebody else's by then */
    if (!first)
        pthread_cond_broadcast(&all_gone);
    pthread_mutex_unlock(&mutex);
    free(c);
}

static void *serve(void *arg)
{
    struct connection *c = arg;
    struct conn *conn = conn_new(c->fd, c->fd);
    err_free(session_serve(conn, &c->options)); /* it is in the log */
    conn_free(conn);
    leave(c);
    return NULL;
}

void connections_start(int fd, const char peer[ADDRESS_TEXT_MAX],
                       const struct session_options *options)
{
    struct session_options its = *options;
    its.peer = peer;
    struct err *why = peers_enter(options->peers, peer);
    if (why) {
        session_turn_away(fd, &its, why);
        close(fd);
        return;
    }
    struct connection *c = mem_zalloc(sizeof *c);
    pthread_attr_t attributes;
    pthread_t thread;
    c->fd = fd;
    c->options = its;
    snprintf(c->peer, sizeof c->peer, "%s", peer);
    c->options.peer = c->peer;
    c->state.stopping = &stopping;
    c->options.state = &c->state;
    enter(c);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int failed = pthread_create(&thread, &attributes, serve, c);
    if (failed) {
        session_turn_away(fd, &c->options, err_errno(failed, "The server has no thread for you"));
        leave(c);
    }
    pthread_attr_destroy(&attributes);
}

void connections_stop(void)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&stopping, true);
    for (struct connection *c = first; c; c = c->next) {
        enum session_phase waiting = SESSION_WAITING;
        if (atomic_compare_exchange_strong(&c->state.phase, &waiting, SESSION_ENDED))
            shutdown(c->fd, SHUT_RD);
    }
    pthread_mutex_unlock(&mutex);
}

bool connections_wait(int wait_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&mutex);
    int waited = 0;
    while (first && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&all_gone, &mutex, &until);
    bool gone = !first;
    pthread_mutex_unlock(&mutex);
    return gone;
}
