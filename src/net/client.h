/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - what the server, its listeners and its protocols know of each other.
 *
 * A protocol is a row of functions. The server (src/serve) accepts connections and gives each to
 * its listener's protocol, in a thread of its own; it knows no other name of it. */
#ifndef VARVE_NET_CLIENT_H
#define VARVE_NET_CLIENT_H

#include "net/access_log.h"
#include "net/conn.h"
#include "net/peers.h"
#include <stdatomic.h>
#include <stdbool.h>

/* What one client may take. 0 is "no limit" everywhere. The defaults are in client_limits_init;
 * docs/admin.md tells of the options. */
struct client_limits {
    uint64_t request_bytes;  /* one request on the wire; each step of an edit is one */
    uint64_t response_bytes; /* its answer */
    uint64_t login_bytes;    /* all that a client may say until it is known who it is */
    size_t request_memory;   /* bytes that a session and its request take in memory */
    size_t commit_memory;    /* bytes that one commit takes besides */
    unsigned open_texts;     /* texts that one commit sends at the same time */
    unsigned nesting;        /* lists within lists */
    unsigned login_attempts; /* wrong answers to one question who it is */
    unsigned login_timeout_s, idle_timeout_s;
};
void client_limits_init(struct client_limits *limits);

/* What the process decides for all clients. */
struct service {
    const char *root;        /* folder under which repositories are found */
    const char *config_file; /* NULL: each repository's conf/svnserve.conf */
    bool read_only, virtual_host;
    int compression; /* 0..9 */
    struct client_limits limits;
    struct log *log;     /* NULL: none */
    struct peers *peers; /* NULL: nobody counts failed logins */
};

/* What a client's thread and who may end it know of each other. A client that is WAITING for a
 * request loses nothing when it ends: who wants that sets the phase to ENDED and shuts the input.
 * All zero to start with. */
enum client_phase { CLIENT_WAITING, CLIENT_BUSY, CLIENT_ENDED };
struct client_state {
    _Atomic enum client_phase phase;
    const atomic_bool *stopping; /* true: end as soon as you wait. NULL is fine */
};

/* One client, as its listener knows it. */
struct client {
    const struct service *service;
    const char *address;        /* the peer's, or "-" */
    const char *tunnel_user;    /* set: who started us is this user, and may say so */
    struct client_state *state; /* NULL: nobody ends it */
};

/* The thread begins, or ends, to wait for a request. False where it is to end. */
bool client_begin_waiting(const struct client *client);
bool client_end_waiting(const struct client *client);
/* Has it been ended? */
bool client_is_ended(const struct client *client);

struct protocol {
    const char *name; /* of its URLs: "svn" */
    int port;         /* where nobody says otherwise */
    const struct conn_codes *codes;
    /* Hold the whole conversation on CONN. Returns when it is over: NULL where the peer left in
     * good order, else why it ended, which has been logged. */
    struct err *(*serve)(struct conn *conn, const struct client *client);
    /* Tell a client that has just come why it cannot be served (WHY is freed). Does not wait. */
    void (*turn_away)(struct conn *conn, const struct client *client, struct err *why);
};

#endif
