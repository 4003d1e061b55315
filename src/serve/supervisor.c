/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/supervisor.h"

#include "base/num.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool env_number(uint64_t *out, const char *name)
{
    const char *text = getenv(name);
    return text && num_u64(out, str_of(text));
}

static struct err *check_listening(int fd)
{
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0)
        return err_errno(errno, "Descriptor %d is not the socket that LISTEN_FDS announces", fd);
    return listens ? NULL : err_make(EINVAL, "The socket in descriptor %d does not listen", fd);
}

struct err *supervisor_sockets(int *count)
{
    uint64_t pid, n;
    *count = 0;
    bool is_ours =
        env_number(&pid, "LISTEN_PID") && pid == (uint64_t)getpid() && env_number(&n, "LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (!is_ours)
        return NULL;
    if (n > SUPERVISOR_SOCKETS_MAX)
        return err_make(EINVAL, "%llu sockets were handed over, at most %d can be served",
                        (unsigned long long)n, SUPERVISOR_SOCKETS_MAX);
    for (int fd = SUPERVISOR_FIRST_FD; fd < SUPERVISOR_FIRST_FD + (int)n; fd++) {
        TRY(check_listening(fd));
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
            return err_errno(errno, "Can't set up descriptor %d", fd);
    }
    *count = (int)n;
    return NULL;
}

void supervisor_notify(const char *state)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    size_t n = path ? strlen(path) : 0;
    if (n < 2 || n >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(to.sun_path, path, n);
    if (path[0] == '@') /* a name in the abstract space */
        to.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
}
