/* SPDX-License-Identifier: Apache-2.0 */
/* access_log.h - the lines that say who does what, in the same form whatever the protocol:
 *
 *     <pid> <date> <address> <user> <repository> <what>
 *
 * All of a line is escaped, so that nobody can write two. */
#ifndef VARVE_NET_ACCESS_LOG_H
#define VARVE_NET_ACCESS_LOG_H

#include "base/log.h"
#include "base/str.h"
#include <stdarg.h>

/* Of whom a line speaks; an empty USER or REPOSITORY is "-". */
struct access_log {
    struct log *log; /* NULL: nothing is logged */
    const char *address;
    struct str user, repository;
};

void access_log(const struct access_log *who, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void access_log_v(const struct access_log *who, const char *fmt, va_list args);
/* A line for each error of the chain ERR: "ERR - 0 <code> <text>", then "ERR- - ...". KIND is "ERR"
 * or "WARN". */
void access_log_err(const struct access_log *who, const char *kind, const struct err *err);

#endif
