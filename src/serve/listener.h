/* SPDX-License-Identifier: Apache-2.0 */
/* listener.h - the socket that waits for clients. */
#ifndef VARVE_SERVE_LISTENER_H
#define VARVE_SERVE_LISTENER_H

#include "base/err.h"
#include <stdbool.h>

enum { ADDRESS_TEXT_MAX = 64 };

/* Listen on HOST (NULL: all addresses) and PORT. IPv4 is taken where a name has both kinds, unless
 * PREFER_IPV6. */
struct err *listener_open(int *fd, const char *host, int port, bool prefer_ipv6);
/* Accept one client, without waiting: its descriptor, and its address as text. -1 where there was
 * none after all. */
int listener_accept(int fd, char peer[ADDRESS_TEXT_MAX]);
/* Who is at the other end of the socket FD; "-" where that is no address. */
void listener_peer(char peer[ADDRESS_TEXT_MAX], int fd);

#endif
