/* SPDX-License-Identifier: Apache-2.0 */
/* auth.h - who the client is, and whether that is enough. */
#ifndef VARVE_SVN_AUTH_H
#define VARVE_SVN_AUTH_H

#include "svn/session_int.h"

/* Ask the client who it is, at the start: LEVEL is what it needs at least. *DENIED where the peer
 * gave up or no mechanism is left. */
struct err *auth_handshake(struct session *s);
/* Before each command's answer: make sure that the user may do LEVEL on PATH (absolute; empty: on
 * any path), asking for a name where the anonymous may not. Sends the auth-request that the
 * protocol wants in any case. E_RA_NOT_AUTHORIZED where it is denied. */
struct err *auth_require(struct session *s, enum access_level level, struct str path,
                         bool need_user);
/* For commands that need no right beyond being connected: the empty auth-request. */
struct err *auth_trivial(struct session *s);

/* Tell a client that says who it is that it may not be. */
struct err *auth_send_failure(struct session *s, struct str text);
struct err *auth_too_many_from_there(struct session *s);
struct err *auth_too_many_failures(void);
/* The exchange where `use-sasl` is set (auth_sasl.c). Who it was is asked, and kept, only where
 * NEED_USER, as stock servers do. */
struct err *auth_sasl(struct session *s, bool need_user);

#endif
