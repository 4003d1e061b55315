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
    char address[ADDRESS_TEXT_MAX];
    const struct protocol *protocol;
    struct client client;
    struct client_state state;
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
    peers_leave(c->client.service->peers, c->address);
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
    struct conn *conn = conn_new(c->fd, c->fd, c->protocol->codes);
    err_free(c->protocol->serve(conn, &c->client)); /* it is in the log */
    conn_free(conn);
    leave(c);
    return NULL;
}

static void turn_away(int fd, const struct protocol *protocol, const struct client *client,
                      struct err *why)
{
    struct conn *conn = conn_new(fd, fd, protocol->codes);
    protocol->turn_away(conn, client, why);
    conn_free(conn);
}

void connections_start(int fd, const char address[ADDRESS_TEXT_MAX],
                       const struct protocol *protocol, const struct service *service)
{
    struct err *why = peers_enter(service->peers, address);
    if (why) {
        const struct client client = {.service = service, .address = address};
        turn_away(fd, protocol, &client, why);
        close(fd);
        return;
    }
    struct connection *c = mem_zalloc(sizeof *c);
    pthread_attr_t attributes;
    pthread_t thread;
    c->fd = fd;
    snprintf(c->address, sizeof c->address, "%s", address);
    c->protocol = protocol;
    c->state.stopping = &stopping;
    c->client = (struct client){.service = service, .address = c->address, .state = &c->state};
    enter(c);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int failed = pthread_create(&thread, &attributes, serve, c);
    if (failed) {
        turn_away(fd, protocol, &c->client, err_errno(failed, "The server has no thread for you"));
        leave(c);
    }
    pthread_attr_destroy(&attributes);
}

void connections_stop(void)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&stopping, true);
    for (struct connection *c = first; c; c = c->next) {
        enum client_phase waiting = CLIENT_WAITING;
        if (atomic_compare_exchange_strong(&c->state.phase, &waiting, CLIENT_ENDED))
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
