/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - the server's side of one svn:// connection, from greeting to goodbye. */
#ifndef VARVE_SVN_SESSION_H
#define VARVE_SVN_SESSION_H

#include "net/client.h"

extern const struct protocol svn_protocol;
extern const struct conn_codes svn_conn_codes;

/* A logged-in client's memory up to this is always there, however much others take. */
enum { SESSION_MEMORY_FREE = 256 << 10 };
/* Before that, memory for the first blocks, and for each byte that a client may say: what a
 * greeting becomes, item by item, and the copies of its URL. Tiny words, which become ten times
 * that, are no greeting. */
enum { LOGIN_MEMORY_LEAST = 16 << 10, LOGIN_MEMORY_FACTOR = 4 };

#endif
