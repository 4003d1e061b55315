/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 512 };

static struct err *open_at(int *fd, const struct addrinfo *at, const char *host, int port)
{
    int on = 1;
    *fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (*fd < 0)
        return err_errno(errno, "Can't create server socket");
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(*fd, at->ai_addr, at->ai_addrlen) == 0 && listen(*fd, BACKLOG) == 0)
        return NULL;
    struct err *err =
        err_errno(errno, "Can't bind server socket to '%s' port %d", host ? host : "*", port);
    close(*fd);
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
    if (failed)
        return err_make(EADDRNOTAVAIL, "Can't get address info for '%s': %s", host ? host : "*",
                        gai_strerror(failed));
    struct err *err = open_at(fd, choose(list, prefer_ipv6 ? AF_INET6 : AF_INET), host, port);
    freeaddrinfo(list);
    return err;
}

int listener_accept(int fd, char peer[ADDRESS_TEXT_MAX])
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int on = 1;
    int client = accept4(fd, (struct sockaddr *)&address, &size, SOCK_CLOEXEC);
    if (client < 0)
        return -1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on,
               sizeof on); /* whole answers are written at once */
    setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (getnameinfo((struct sockaddr *)&address, size, peer, ADDRESS_TEXT_MAX, NULL, 0,
                    NI_NUMERICHOST) != 0)
        strcpy(peer, "-");
    return client;
}
