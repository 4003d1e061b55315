/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ADDRESS_ERROR = 670000, /* where Subversion's programs put getaddrinfo's errors */
    BACKLOG = 512,
    KEEP_IDLE_S = 300,
    KEEP_INTERVAL_S = 30,
    KEEP_COUNT = 6,
};

static struct err *open_at(int *fd, const struct addrinfo *at, const char *host, int port)
{
    int on = 1;
    *fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (*fd < 0)
        return err_errno(errno, "Can't create server socket");
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(*fd, at->ai_addr, at->ai_addrlen) == 0 && listen(*fd, BACKLOG) == 0)
        return NULL;
    int errnum = errno;
    close(*fd);
    struct err *where = err_make(errnum, "It was to be '%s' port %d", host ? host : "*", port);
    struct err *err = err_errno(errnum, "Can't bind server socket");
    err->cause = where;
    return err;
}

static const struct addrinfo *choose(const struct addrinfo *list, int family)
{
    for (const struct addrinfo *at = list; at; at = at->ai_next)
        if (at->ai_family == family)
            return at;
    return list;
}

struct err *listener_open(int *fd, const char *host, int port, bool prefer_ipv6)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *list;
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    int failed = getaddrinfo(host, service, &hints, &list);
    const int code = ADDRESS_ERROR - failed; /* getaddrinfo's are negative */
    if (failed)
        return err_wrap(err_make(code, "The name is '%s'", host ? host : "*"), code,
                        "Can't get address info: %s", gai_strerror(failed));
    struct err *err = open_at(fd, choose(list, prefer_ipv6 ? AF_INET6 : AF_INET), host, port);
    freeaddrinfo(list);
    return err;
}

/* An IPv4 client of a socket for both kinds is shown as what it is. */
static void show_address(char peer[ADDRESS_TEXT_MAX], const struct sockaddr_storage *address)
{
    const char *shown = NULL;
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        shown = inet_ntop(AF_INET, &in->sin_addr, peer, ADDRESS_TEXT_MAX);
    } else if (address->ss_family == AF_INET6) {
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
        shown = IN6_IS_ADDR_V4MAPPED(in6)
                    ? inet_ntop(AF_INET, in6->s6_addr + 12, peer, ADDRESS_TEXT_MAX)
                    : inet_ntop(AF_INET6, in6, peer, ADDRESS_TEXT_MAX);
    }
    if (!shown)
        strcpy(peer, "-");
}

/* A peer that is gone without a word is noticed after KEEP_IDLE_S + KEEP_COUNT * KEEP_INTERVAL_S.
 */
static void set_up(int client)
{
    const int on = 1, idle = KEEP_IDLE_S, interval = KEEP_INTERVAL_S, count = KEEP_COUNT;
    /* Whole answers are written at once: nothing is gained by waiting for more. */
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(client, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(client, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(client, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

int listener_accept(int fd, char peer[ADDRESS_TEXT_MAX])
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    int client = accept4(fd, (struct sockaddr *)&address, &size, SOCK_CLOEXEC);
    if (client < 0)
        return -1;
    set_up(client);
    show_address(peer, &address);
    return client;
}

void listener_peer(char peer[ADDRESS_TEXT_MAX], int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &size) != 0)
        address.ss_family = AF_UNSPEC;
    show_address(peer, &address);
}
