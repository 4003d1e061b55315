/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor.h - what systemd, or whoever speaks its protocols, does for us: sockets that are open
 * before we start, and word of how we are. Both go by the environment; without it nothing happens.
 */
#ifndef VARVE_SERVE_SUPERVISOR_H
#define VARVE_SERVE_SUPERVISOR_H

#include "base/err.h"

enum { SUPERVISOR_FIRST_FD = 3, SUPERVISOR_SOCKETS_MAX = 16 };

/* How many listening sockets were handed to this process ($LISTEN_PID, $LISTEN_FDS): descriptors
 * from SUPERVISOR_FIRST_FD on, which no child inherits. 0: none. Children find the variables gone.
 */
struct err *supervisor_sockets(int *count);

/* "READY=1", "STOPPING=1" ...: to $NOTIFY_SOCKET where there is one. It is a courtesy: no error. */
void supervisor_notify(const char *state);

#endif
