/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - the server's side of one svn:// connection, from greeting to goodbye. */
#ifndef VARVE_SVN_SESSION_H
#define VARVE_SVN_SESSION_H

#include "base/log.h"
#include "svn/conn.h"
#include <stdbool.h>

/* What the process decides for all sessions, and the listener for this one. */
struct session_options {
    const char *root;        /* folder under which repositories are found */
    const char *config_file; /* NULL: each repository's conf/svnserve.conf */
    bool read_only, virtual_host;
    int compression;                              /* 0..9 */
    uint64_t max_request_size, max_response_size; /* bytes; 0: no limit */
    struct log *log;                              /* NULL: none */
    const char *tunnel_user;                      /* set: EXTERNAL is offered for this name */
    const char *peer;                             /* the peer's address, or "-" */
};

/* Hold the whole conversation on CONN. Returns when it is over: NULL where the peer left in good
 * order, else why it ended. */
struct err *session_serve(struct conn *conn, const struct session_options *options);

#endif
