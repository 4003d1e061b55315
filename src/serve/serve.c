/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#include "base/file.h"
#include "base/str.h"
#include "repo/registry.h"
#include "serve/connections.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEFAULT_COMPRESSION = 5,
    DEFAULT_REQUEST_BYTES = 16 << 20,
    STOP_WAIT_MS = 60 * 1000, /* how long running commands may take to end after SIGTERM */
};

void serve_options_init(struct serve_options *options)
{
    *options = (struct serve_options){
        .root = "/",
        .compression = DEFAULT_COMPRESSION,
        .max_request_size = DEFAULT_REQUEST_BYTES,
    };
}

/* ---- one session on the descriptors that we were given ---- */

static struct err *serve_fds(int in_fd, int out_fd, const struct session_options *session)
{
    struct conn *conn = conn_new(in_fd, out_fd);
    struct err *err = session_serve(conn, session);
    conn_free(conn);
    return err;
}

static struct err *serve_tunnel(const struct serve_options *options,
                                struct session_options *session)
{
    session->tunnel_user = options->tunnel_user;
    if (!session->tunnel_user) {
        const struct passwd *user = getpwuid(getuid());
        if (!user)
            return err_make(E_RA_NOT_AUTHORIZED, "No name is known for user id %ld",
                            (long)getuid());
        session->tunnel_user = user->pw_name;
    }
    /* What a child process (a hook) prints must not get into the conversation. */
    int out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return err_errno(errno, "Can't set up standard output");
    struct err *err = serve_fds(STDIN_FILENO, out_fd, session);
    close(out_fd);
    return err;
}

/* ---- listening ---- */

static struct err *go_to_background(void)
{
    pid_t pid = fork();
    if (pid < 0)
        return err_errno(errno, "Can't start in the background");
    if (pid > 0)
        _exit(0);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (setsid() < 0 || chdir("/") != 0 || null < 0)
        return err_errno(errno, "Can't go to the background");
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    close(null);
    return NULL;
}

static struct err *write_pid_file(const char *path)
{
    char text[24];
    snprintf(text, sizeof text, "%ld\n", (long)getpid());
    unlink(path);
    return file_write_all(path, str_of(text), 0644);
}

/* Until SIGTERM or SIGINT. */
static struct err *accept_all(int listener, int signals, const struct session_options *session)
{
    for (;;) {
        struct pollfd fds[2] = {{.fd = listener, .events = POLLIN},
                                {.fd = signals, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return err_errno(errno, "Can't wait for connections");
        struct signalfd_siginfo info;
        if (fds[1].revents && read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
            if (info.ssi_signo != SIGHUP)
                return NULL;
            if (session->log)
                err_free(log_reopen(session->log)); /* it goes on in the old file then */
        }
        char peer[ADDRESS_TEXT_MAX];
        int client = fds[0].revents ? listener_accept(listener, peer) : -1;
        if (client >= 0)
            connections_start(client, peer, session);
        else if (fds[0].revents && (errno == EMFILE || errno == ENFILE))
            usleep(10 * 1000); /* until somebody leaves */
    }
}

static struct err *accept_one(int listener, struct session_options *session)
{
    char peer[ADDRESS_TEXT_MAX];
    int client;
    do
        client = listener_accept(listener, peer);
    while (client < 0 && errno == EINTR);
    if (client < 0)
        return err_errno(errno, "Can't accept a connection");
    session->peer = peer;
    struct err *err = serve_fds(client, client, session);
    close(client);
    return err;
}

static struct err *listen_with(int listener, const struct serve_options *options,
                               struct session_options *session)
{
    if (options->mode == SERVE_DAEMON && !options->foreground)
        TRY(go_to_background());
    if (options->pid_file)
        TRY(write_pid_file(options->pid_file));
    if (options->mode == SERVE_LISTEN_ONCE)
        return accept_one(listener, session);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) /* threads inherit it: signals come to us alone */
        return err_errno(errno, "Can't block signals");
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    if (signals < 0)
        return err_errno(errno, "Can't receive signals");
    struct err *err = accept_all(listener, signals, session);
    if (!connections_end(STOP_WAIT_MS))
        _exit(err !=
              NULL); /* what they still do is cut off as by a crash, which leaves nothing behind */
    close(signals);
    return err;
}

static struct err *serve_sockets(const struct serve_options *options,
                                 struct session_options *session)
{
    int listener, port = options->listen_port ? options->listen_port : SVN_PORT;
    TRY(listener_open(&listener, options->listen_host, port, options->prefer_ipv6));
    struct err *err = listen_with(listener, options, session);
    close(listener);
    return err;
}

static struct err *serve_with(const struct serve_options *options, struct session_options *session)
{
    switch (options->mode) {
    case SERVE_TUNNEL:
        return serve_tunnel(options, session);
    case SERVE_INETD:
        return serve_fds(STDIN_FILENO, STDIN_FILENO, session);
    default:
        return serve_sockets(options, session);
    }
}

struct err *serve_run(const struct serve_options *options)
{
    char root[PATH_MAX], config[PATH_MAX];
    struct stat info;
    if (!realpath(options->root, root) || stat(root, &info) != 0)
        return err_errno(errno, "Root path '%s' does not exist or is not a directory",
                         options->root);
    if (!S_ISDIR(info.st_mode))
        return err_make(E_ILLEGAL_TARGET, "Root path '%s' does not exist or is not a directory",
                        options->root);
    if (options->config_file && !realpath(options->config_file, config))
        return err_errno(errno, "Can't open file '%s'", options->config_file);
    struct session_options session = {
        .root = strcmp(root, "/") == 0 ? "" : root,
        .config_file = options->config_file ? config : NULL,
        .read_only = options->read_only,
        .virtual_host = options->virtual_host,
        .compression = options->compression,
        .max_request_size = options->max_request_size,
        .max_response_size = options->max_response_size,
        .peer = "-",
    };
    if (options->log_file)
        TRY(log_open(&session.log, options->log_file));
    struct err *err = serve_with(options, &session);
    registry_close_all();
    log_close(session.log);
    return err;
}
