/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a line on the terminal that shows how far a long operation is: done, rate, time
 * left. */
#ifndef VARVE_CLI_PROGRESS_H
#define VARVE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown;       /* standard error is a terminal and the caller wants it */
    const char *what; /* "Loading" */
    int64_t total;    /* 0: unknown */
    int64_t done;
    int64_t started_us, drawn_us;
};

/* A bar is shown only where standard error is a terminal and WANTED. */
void progress_start(struct progress *p, bool wanted, const char *what, int64_t total);
void progress_step(struct progress *p, int64_t done); /* draws at most ten times a second */
void progress_end(struct progress *p);                /* draws the last state and ends the line */

#endif
