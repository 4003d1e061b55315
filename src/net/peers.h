/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h - who is connected from where, how often they come, and how often they fail to log in.
 *
 * One table for the process, a row an address (of IPv6 the first 64 bits: what one customer gets).
 * A row lasts while somebody is connected from there or has used up a part of what an address may
 * do; PEERS_MAX bounds the table. All threads may use it at once. */
#ifndef VARVE_NET_PEERS_H
#define VARVE_NET_PEERS_H

#include "base/err.h"
#include <stdbool.h>

enum { PEERS_MAX = 1 << 16 };

/* 0: no limit. */
struct peers_limits {
    unsigned connections;             /* at the same time, in all */
    unsigned connections_per_address; /* at the same time, from one address */
    unsigned login_rate;              /* new connections from one address in a second */
    unsigned failed_logins;           /* from one address in a minute */
};
void peers_limits_init(struct peers_limits *limits); /* the defaults */

struct peers;
struct peers *peers_new(const struct peers_limits *limits);
void peers_free(struct peers *peers); /* NULL is fine */

/* Somebody comes from ADDRESS (numbers as text, or anything else for what has no address). An error
 * E_RA_CANNOT_CREATE_SESSION says which limit is met; else whoever came must leave again. */
struct err *peers_enter(struct peers *peers, const char *address);
void peers_leave(struct peers *peers, const char *address);

/* May ADDRESS try another password? Without a table everybody may. */
bool peers_may_log_in(struct peers *peers, const char *address);
void peers_login_failed(struct peers *peers, const char *address);

#endif
