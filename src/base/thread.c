/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/num.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKERS_MAX = 256 };
enum task_state { TASK_QUEUED = 1, TASK_RUNNING, TASK_DONE };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* a task was queued, or the pool ends */
static pthread_cond_t done =
    PTHREAD_COND_INITIALIZER;        /* a task that somebody may wait for has ended */
static struct task *oldest, *newest; /* the queue */
static pthread_t workers[WORKERS_MAX];
static unsigned worker_count, idle_count, waiting_count;
static bool ending;

static void queue_remove(struct task *task)
{
    *(task->prev ? &task->prev->next : &oldest) = task->next;
    *(task->next ? &task->next->prev : &newest) = task->prev;
}

/* Run TASK, which is off the queue. The mutex is held on entry and return, free meanwhile. */
static void task_run(struct task *task)
{
    __atomic_store_n(&task->state, TASK_RUNNING,
                     __ATOMIC_RELAXED); /* task_done looks without the mutex */
    pthread_mutex_unlock(&mutex);
    struct err *err = task->run(task->arg);
    pthread_mutex_lock(&mutex);
    task->err = err;
    __atomic_store_n(&task->state, TASK_DONE, __ATOMIC_RELEASE); /* from here on TASK may vanish */
    if (waiting_count)
        pthread_cond_broadcast(&done);
}

static void *worker_main(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!oldest && !ending) {
            idle_count++;
            pthread_cond_wait(&work, &mutex);
            idle_count--;
        }
        if (!oldest)
            break;
        struct task *task = oldest;
        queue_remove(task);
        task_run(task);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* With the mutex held. A worker that cannot be had is no harm: who waits for a task runs it. */
static void workers_start(void)
{
    unsigned want = cpu_count();
    if (want < 2)
        want = 2;
    while (worker_count < want && worker_count < WORKERS_MAX) {
        if (pthread_create(&workers[worker_count], NULL, worker_main, NULL) != 0)
            return;
        worker_count++;
    }
}

void task_start(struct task *task)
{
    pthread_mutex_lock(&mutex);
    if (worker_count == 0)
        workers_start();
    task->err = NULL;
    task->state = TASK_QUEUED;
    task->next = NULL;
    task->prev = newest;
    *(newest ? &newest->next : &oldest) = task;
    newest = task;
    if (idle_count)
        pthread_cond_signal(&work);
    pthread_mutex_unlock(&mutex);
}

struct err *task_wait(struct task *task)
{
    pthread_mutex_lock(&mutex);
    if (task->state == TASK_QUEUED) {
        queue_remove(task);
        task_run(task);
    }
    while (task->state != TASK_DONE) {
        waiting_count++;
        pthread_cond_wait(&done, &mutex);
        waiting_count--;
    }
    pthread_mutex_unlock(&mutex);
    return task->err;
}

bool task_done(struct task *task)
{
    return __atomic_load_n(&task->state, __ATOMIC_ACQUIRE) == TASK_DONE;
}

/* The arguments of one tasks_run: each of its tasks takes the next one until none is left. */
struct batch {
    struct err *(*run)(void *arg);
    void **args;
    size_t n;
    atomic_size_t next;
    pthread_mutex_t mutex;
    struct err *err; /* of the earliest argument that failed */
    size_t err_at;
};

static struct err *batch_run(void *arg)
{
    struct batch *batch = arg;
    size_t i;
    while ((i = atomic_fetch_add(&batch->next, 1)) < batch->n) {
        struct err *err = batch->run(batch->args[i]);
        if (!err)
            continue;
        pthread_mutex_lock(&batch->mutex);
        if (!batch->err || i < batch->err_at) {
            struct err *later = batch->err;
            batch->err = err;
            batch->err_at = i;
            err = later;
        }
        pthread_mutex_unlock(&batch->mutex);
        err_free(err);
    }
    return NULL;
}

struct err *tasks_run(struct err *(*run)(void *arg), void **args, size_t n)
{
    struct batch batch = {.run = run, .args = args, .n = n, .mutex = PTHREAD_MUTEX_INITIALIZER};
    struct task tasks[WORKERS_MAX];
    size_t helpers = cpu_count();
    if (helpers > WORKERS_MAX)
        helpers = WORKERS_MAX;
    if (helpers >= n)
        helpers = n ? n - 1 : 0; /* one is for this thread */
    for (size_t i = 0; i < helpers; i++) {
        tasks[i] = (struct task){.run = batch_run, .arg = &batch};
        task_start(&tasks[i]);
    }
    struct err *err = batch_run(&batch);
    for (size_t i = 0; i < helpers; i++)
        err = err_join(err, task_wait(&tasks[i]));
    pthread_mutex_destroy(&batch.mutex);
    return err_join(batch.err, err);
}

void tasks_shutdown(void)
{
    pthread_mutex_lock(&mutex);
    unsigned count = worker_count;
    ending = true;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&mutex);
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i], NULL);
    pthread_mutex_lock(&mutex);
    worker_count = 0;
    ending = false;
    pthread_mutex_unlock(&mutex);
}

unsigned cpu_count(void)
{
    static atomic_uint known;
    unsigned n = atomic_load_explicit(&known, memory_order_relaxed);
    if (n == 0) {
        cpu_set_t cpus;
        n = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
        if (n == 0)
            n = 1;
        atomic_store_explicit(&known, n, memory_order_relaxed);
    }
    return n;
}

/* The number in a control group's file, or LIMIT where there is none ("max") or it is larger. */
static size_t cgroup_limit(const char *path, size_t limit)
{
    AUTO_BUF(text);
    struct err *err = file_read_all(&text, path, 4096);
    uint64_t n;
    if (err)
        err_free(err);
    else if (num_u64(&n, str_trim(buf_view(&text))) && n < limit)
        limit = (size_t)n;
    return limit;
}

size_t memory_size(void)
{
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    bytes = cgroup_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes", bytes);
    AUTO_BUF(groups);
    struct err *err = file_read_all(&groups, "/proc/self/cgroup", 65536);
    err_free(err);
    struct str line, text = err ? S("") : buf_view(&groups);
    for (size_t pos = 0; str_line(&line, text, &pos);) {
        if (!str_starts(line, S("0::/")))
            continue;
        char path[4200];
        snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/memory.max", STR(str_skip(line, 3)));
        bytes = cgroup_limit(path, bytes);
    }
    return bytes;
}
