/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - the server as a whole: how it listens, who is let in, how it stops.
 *
 * One thread per connection, blocking reads and writes. The process shares one cache; every
 * repository that is in use is opened once and shared by its connections. SIGTERM and SIGINT stop
 * accepting, let running commands end (a second one does not), and end; SIGHUP reopens the log.
 * Configuration needs no signal: it is read for each connection.
 *
 * Sockets that systemd hands over (supervisor.h) are served in the place of one of our own; the
 * process then stays in the foreground. */
#ifndef VARVE_SERVE_SERVE_H
#define VARVE_SERVE_SERVE_H

#include "net/client.h"

enum serve_mode {
    SERVE_NONE,
    SERVE_DAEMON,      /* -d: listen; to the background unless FOREGROUND */
    SERVE_INETD,       /* -i: one session on standard input (a socket) */
    SERVE_TUNNEL,      /* -t: one session on standard input and output for a known user */
    SERVE_LISTEN_ONCE, /* -X: one connection, then end */
};

struct serve_options {
    enum serve_mode mode;
    const struct protocol *protocol;
    const char *root; /* folder under which repositories are found; default "/" */
    bool read_only;
    const char *config_file; /* in the place of every repository's svnserve.conf */
    const char *listen_host; /* NULL: all addresses */
    int listen_port;         /* 0: the protocol's */
    bool prefer_ipv6;
    int compression; /* 0..9; default 5 */
    const char *log_file, *pid_file;
    const char *tunnel_user; /* SERVE_TUNNEL; NULL: the name of our uid */
    bool virtual_host, foreground;
    struct client_limits limits; /* for each client */
    struct peers_limits peers;   /* for all of them */
    size_t requests_memory;      /* what all requests may take together; 0: no limit */
    unsigned stop_timeout_s;     /* how long running commands may take to end when we stop */
};

void serve_options_init(struct serve_options *options); /* the defaults */
struct err *serve_run(const struct serve_options *options);

#endif
