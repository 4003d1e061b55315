/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - worker threads for what can run in parallel.
 *
 * One pool serves the process; it has one worker per core (at least two). Tasks are short (a text
 * to digest, a file to sync, a range of revisions to check) and wait for no task but one that was
 * queued before them. */
#ifndef VARVE_BASE_THREAD_H
#define VARVE_BASE_THREAD_H

#include "base/err.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct task {
    struct err *(*run)(void *arg);
    void *arg;
    struct err *err; /* the result, after task_wait */
    /* private to thread.c */
    struct task *next, *prev;
    int state;
};

/* Queue TASK, whose memory the caller keeps until task_wait has returned. */
void task_start(struct task *task);
/* Wait for it; run it here if no worker has begun. The caller owns the error. */
struct err *task_wait(struct task *task);
bool task_done(struct task *task); /* finished already (then task_wait does not block) */

/* Run FN(ARGS[i]) for all i, some here and some on workers; the first error wins, the others are
 * freed. */
struct err *tasks_run(struct err *(*run)(void *arg), void **args, size_t n);

unsigned cpu_count(void);
/* Bytes of memory the machine (or our cgroup) has. */
size_t memory_size(void);
/* Joins the workers; for a clean exit under the sanitizers. */
void tasks_shutdown(void);

#endif
