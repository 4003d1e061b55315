/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - a file that several threads append whole lines to, and that can be reopened (log
 * rotation). */
#ifndef VARVE_BASE_LOG_H
#define VARVE_BASE_LOG_H

#include "base/err.h"
#include "base/str.h"

struct log;
struct err *log_open(struct log **out, const char *path); /* NULL path: standard error */
void log_line(struct log *log, struct str line); /* LINE and a LF, in one write; NULL log is fine */
struct err *log_reopen(struct log *log);
void log_close(struct log *log);

#endif
