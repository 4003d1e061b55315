/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - the server as a whole: how it listens, who is let in, how it stops.
 *
 * One thread per connection, blocking reads and writes. The process shares one cache; every
 * repository that is in use is opened once and shared by its connections. SIGTERM and SIGINT stop
 * accepting, let running commits finish, and end; SIGHUP reopens the log. */
#ifndef VARVE_SERVE_SERVE_H
#define VARVE_SERVE_SERVE_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

enum serve_mode {
    SERVE_NONE,
    SERVE_DAEMON,      /* -d: listen; to the background unless FOREGROUND */
    SERVE_INETD,       /* -i: one session on standard input (a socket) */
    SERVE_TUNNEL,      /* -t: one session on standard input and output for a known user */
    SERVE_LISTEN_ONCE, /* -X: one connection, then end */
};

struct serve_options {
    enum serve_mode mode;
    const char *root; /* folder under which repositories are found; default "/" */
    bool read_only;
    const char *config_file; /* in the place of every repository's svnserve.conf */
    const char *listen_host; /* NULL: all addresses */
    int listen_port;         /* 0: 3690 */
    bool prefer_ipv6;
    int compression; /* 0..9; default 5 */
    const char *log_file, *pid_file;
    const char *tunnel_user; /* SERVE_TUNNEL; NULL: the name of our uid */
    bool virtual_host, foreground;
    size_t max_request_size;  /* bytes; 0: no limit; default 16 MiB */
    size_t max_response_size; /* bytes; 0: no limit */
};

void serve_options_init(struct serve_options *options); /* the defaults */
struct err *serve_run(const struct serve_options *options);

#endif
