/* SPDX-License-Identifier: Apache-2.0 */
#include "base/resources.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

int mallctl(const char *name, void *old, size_t *old_size, void *value, size_t size)
    __attribute__((weak)); /* jemalloc's: not there where we are built without it */

void descriptors_occupy_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 &&
            open("/", O_PATH) != fd) /* the lowest number that is free */
            return;
}

void descriptors_raise(unsigned long count)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= count)
        return;
    files.rlim_cur = files.rlim_max < count ? files.rlim_max : count;
    setrlimit(RLIMIT_NOFILE, &files);
}

void memory_keep(void)
{
    ssize_t never = -1;
    if (!mallctl)
        return;
    mallctl("arenas.dirty_decay_ms", NULL, NULL, &never, sizeof never); /* of arenas to come */
    mallctl("arena.0.dirty_decay_ms", NULL, NULL, &never, sizeof never);
}

void memory_return_aside(void)
{
    bool on = true;
    size_t threads = 1; /* what is given back is little work */
    if (!mallctl)
        return;
    mallctl("max_background_threads", NULL, NULL, &threads, sizeof threads);
    mallctl("background_thread", NULL, NULL, &on, sizeof on);
}
