/* SPDX-License-Identifier: Apache-2.0 */
/* cyrus.h - authentication by Cyrus SASL, the server's side, away from the wire.
 *
 * The library is told that it serves "svn": administrators configure mechanisms and where names and
 * passwords are in svn.conf, in the library's own folders (SASL_CONF_PATH adds one). It is
 * initialised at the first use.
 *
 * A name belongs to the realm that it was authenticated in: the library is always asked for
 * NAME@REALM, so that a database may hold several realms, and a name that claims another realm is
 * refused. */
#ifndef VARVE_NET_CYRUS_H
#define VARVE_NET_CYRUS_H

#include "base/arena.h"
#include "net/conn.h"
#include <stdbool.h>

struct cyrus;

struct cyrus_options {
    const char *realm;
    const char *tunnel_user;   /* EXTERNAL proves this name; NULL: it is not to be had */
    bool anonymous;            /* mechanisms that name nobody will do */
    unsigned min_ssf, max_ssf; /* strength of the security layer: 0 none, 1 integrity, else bits */
    int fd;                    /* a socket of which the library may know the addresses; or -1 */
    int layer_code;            /* the error where the security layer fails */
};

/* E_RA_NOT_AUTHORIZED where the library cannot be had. */
struct err *cyrus_open(struct cyrus **out, const struct cyrus_options *options);
void cyrus_close(struct cyrus *cyrus); /* NULL is fine */

/* The mechanisms that may be tried, with a space between: E_RA_NOT_AUTHORIZED where there is none.
 */
struct err *cyrus_mechanisms(struct str *out, struct cyrus *cyrus);

enum cyrus_state {
    CYRUS_CONTINUE, /* send TOKEN, pass what comes back to cyrus_step */
    CYRUS_DONE,     /* send TOKEN, where it is not NULL, with the good news */
    CYRUS_REFUSED,  /* tell TEXT; another try may begin */
};
struct cyrus_answer {
    enum cyrus_state state;
    struct str token; /* p NULL: none; valid until the next call */
    const char *text;
};
/* Begin with MECHANISM; TOKEN's p is NULL where the client sent none. */
void cyrus_start(struct cyrus_answer *out, struct cyrus *cyrus, const char *mechanism,
                 struct str token);
void cyrus_step(struct cyrus_answer *out, struct cyrus *cyrus, struct str token);

/* ---- after CYRUS_DONE ---- */

/* The name, without its realm, in ARENA; E_RA_NOT_AUTHORIZED where there is none. */
struct err *cyrus_user(struct str *out, struct cyrus *cyrus, struct arena *arena);
/* True where a security layer was agreed upon; it owns CYRUS then. */
bool cyrus_layer(struct conn_layer *out, struct cyrus *cyrus);

#endif
