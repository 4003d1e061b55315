/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/buf.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

struct log {
    pthread_mutex_t mutex; /* guards FD against a reopening */
    int fd;
    char *path; /* NULL: standard error */
};

static struct err *open_file(int *fd, const char *path)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return *fd < 0 ? err_errno(errno, "Can't open file '%s'", path) : NULL;
}

struct err *log_open(struct log **out, const char *path)
{
    int fd = STDERR_FILENO;
    if (path)
        TRY(open_file(&fd, path));
    struct log *log = mem_alloc(sizeof *log);
    *log = (struct log){.fd = fd, .path = path ? mem_strdup(path) : NULL};
    pthread_mutex_init(&log->mutex, NULL);
    *out = log;
    return NULL;
}

void log_line(struct log *log, struct str line)
{
    if (!log)
        return;
    struct iovec parts[] = {{(void *)line.p, line.n}, {"\n", 1}};
    pthread_mutex_lock(&log->mutex);
    /* Appending writes of one call do not mix with those of other processes. A log on a full disk
     * must not stop the server: what cannot be written is lost. */
    ssize_t n;
    do {
        n = writev(log->fd, parts, 2);
    } while (n < 0 && errno == EINTR);
    pthread_mutex_unlock(&log->mutex);
}

struct err *log_reopen(struct log *log)
{
    if (!log || !log->path)
        return NULL;
    int fd;
    TRY(open_file(&fd, log->path));
    pthread_mutex_lock(&log->mutex);
    int before = log->fd;
    log->fd = fd;
    pthread_mutex_unlock(&log->mutex);
    close(before);
    return NULL;
}

void log_close(struct log *log)
{
    if (!log)
        return;
    if (log->path)
        close(log->fd);
    pthread_mutex_destroy(&log->mutex);
    free(log->path);
    free(log);
}
