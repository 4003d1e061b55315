/* SPDX-License-Identifier: Apache-2.0 */
/* connections.h - the clients at work: a thread each, and an orderly end for all. */
#ifndef VARVE_SERVE_CONNECTIONS_H
#define VARVE_SERVE_CONNECTIONS_H

#include "serve/listener.h"
#include "svn/session.h"

/* Serve the client on FD (owned) in a thread of its own. OPTIONS must outlive it; its `peer` is
 * taken from PEER. */
void connections_start(int fd, const char peer[ADDRESS_TEXT_MAX],
                       const struct session_options *options);
/* Let nobody send more: what runs comes to its end, what waits for a request ends at once. Then
 * wait for all, at most WAIT_MS. False where some are still at work. */
bool connections_end(int wait_ms);

#endif
