/* SPDX-License-Identifier: Apache-2.0 */
/* connections.h - the clients at work: a thread each, and an orderly end for all. */
#ifndef VARVE_SERVE_CONNECTIONS_H
#define VARVE_SERVE_CONNECTIONS_H

#include "net/client.h"
#include "serve/listener.h"

/* Serve the client on FD (owned), who came from ADDRESS, by PROTOCOL in a thread of its own, or
 * tell it why not. SERVICE, whose `peers` decides, must outlive it. */
void connections_start(int fd, const char address[ADDRESS_TEXT_MAX],
                       const struct protocol *protocol, const struct service *service);
/* Let nobody ask for more: what waits for a request ends at once, what runs (a commit that is
 * coming in, too) when its command is over. */
void connections_stop(void);
/* Wait for all to be gone, at most WAIT_MS. False where some are still at work. */
bool connections_wait(int wait_ms);

#endif
