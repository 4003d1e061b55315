/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - the server's side of one svn:// connection, from greeting to goodbye. */
#ifndef VARVE_SVN_SESSION_H
#define VARVE_SVN_SESSION_H

#include "base/log.h"
#include "svn/conn.h"
#include "svn/peers.h"
#include <stdatomic.h>
#include <stdbool.h>

/* What one client may take. 0 is "no limit" everywhere. The defaults are in session_limits_init;
 * docs/admin.md tells of the options. */
struct session_limits {
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
void session_limits_init(struct session_limits *limits);

/* A logged-in client's memory up to this is always there, however much others take. */
enum { SESSION_MEMORY_FREE = 256 << 10 };
/* Before that, memory for the first blocks, and for each byte that a client may say: what a
 * greeting becomes, item by item, and the copies of its URL. Tiny words, which become ten times
 * that, are no greeting. */
enum { LOGIN_MEMORY_LEAST = 16 << 10, LOGIN_MEMORY_FACTOR = 4 };

/* What a session and who may end it know of each other. A session that is WAITING for a command
 * loses nothing when it ends: who wants that sets the state to ENDED and shuts the input. All zero
 * to start with. */
enum session_phase { SESSION_WAITING, SESSION_BUSY, SESSION_ENDED };
struct session_state {
    _Atomic enum session_phase phase;
    const atomic_bool *stopping; /* true: end as soon as you wait. NULL is fine */
};

/* What the process decides for all sessions, and the listener for this one. */
struct session_options {
    const char *root;        /* folder under which repositories are found */
    const char *config_file; /* NULL: each repository's conf/svnserve.conf */
    bool read_only, virtual_host;
    int compression; /* 0..9 */
    struct session_limits limits;
    struct log *log;             /* NULL: none */
    const char *tunnel_user;     /* set: EXTERNAL is offered for this name */
    const char *peer;            /* the peer's address, or "-" */
    struct peers *peers;         /* NULL: nobody counts failed logins */
    struct session_state *state; /* NULL: nobody ends this session */
};

/* Hold the whole conversation on CONN. Returns when it is over: NULL where the peer left in good
 * order, else why it ended. */
struct err *session_serve(struct conn *conn, const struct session_options *options);
/* For err_warn_to: a line in the log of OPTIONS (a struct session_options), of no session. */
void session_log_warning(void *options, const struct err *err);

/* Tell a client that has just come why it cannot be served. Does not wait. */
void session_turn_away(int fd, const struct session_options *options, struct err *why);

#endif
