/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#include "base/account.h"
#include "base/file.h"
#include "base/resources.h"
#include "base/str.h"
#include "repo/admin/registry.h"
#include "serve/connections.h"
#include "serve/supervisor.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEFAULT_COMPRESSION = 5,
    STOP_TIMEOUT_S = 60,
    SPARE_DESCRIPTORS = 256, /* for repositories' files, beside the clients' sockets */
};

void serve_options_init(struct serve_options *options)
{
    *options = (struct serve_options){
        .root = "/",
        .compression = DEFAULT_COMPRESSION,
        .requests_memory = (size_t)1 << 30,
        .stop_timeout_s = STOP_TIMEOUT_S,
    };
    client_limits_init(&options->limits);
    peers_limits_init(&options->peers);
}

/* ---- one session on the descriptors that we were given ---- */

static struct err *serve_fds(int in_fd, int out_fd, const struct protocol *protocol,
                             const struct client *client)
{
    struct conn *conn = conn_new(in_fd, out_fd, protocol->codes);
    struct err *err = protocol->serve(conn, client);
    conn_free(conn);
    return err;
}

static struct err *serve_standard(const struct protocol *protocol, const struct client *client)
{
    /* What a child process (a hook) prints must not get into the conversation. */
    int out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return err_errno(errno, "Can't set up standard output");
    struct err *err = serve_fds(STDIN_FILENO, out_fd, protocol, client);
    close(out_fd);
    return err;
}

static struct err *serve_tunnel(const struct serve_options *options, const struct service *service)
{
    struct client client = {
        .service = service, .address = "-", .tunnel_user = options->tunnel_user};
    if (!client.tunnel_user) {
        const struct passwd *user = getpwuid(getuid());
        if (!user)
            return err_make(E_RA_NOT_AUTHORIZED, "No name is known for user id %ld",
                            (long)getuid());
        client.tunnel_user = user->pw_name;
    }
    return serve_standard(options->protocol, &client);
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

/* The sockets that clients come to. */
struct listeners {
    int count;
    bool are_ours; /* no supervisor's: a later process cannot go on with them */
    struct pollfd fds[SUPERVISOR_SOCKETS_MAX];
};

static struct err *open_listeners(struct listeners *l, const struct serve_options *options)
{
    int fd, port = options->listen_port ? options->listen_port : options->protocol->port;
    TRY(supervisor_sockets(&l->count));
    for (int i = 0; i < l->count; i++)
        l->fds[i] = (struct pollfd){.fd = SUPERVISOR_FIRST_FD + i, .events = POLLIN};
    if (l->count)
        return NULL;
    TRY(listener_open(&fd, options->listen_host, port, options->prefer_ipv6));
    *l = (struct listeners){.count = 1, .are_ours = true};
    l->fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    return NULL;
}

static void close_listeners(struct listeners *l)
{
    for (int i = 0; i < l->count; i++)
        close(l->fds[i].fd);
    l->count = 0;
}

static void accept_from(const struct pollfd *listener, const struct protocol *protocol,
                        const struct service *service)
{
    char address[ADDRESS_TEXT_MAX];
    int fd = listener->revents ? listener_accept(listener->fd, address) : -1;
    if (fd >= 0)
        connections_start(fd, address, protocol, service);
    else if (listener->revents && (errno == EMFILE || errno == ENFILE))
        usleep(10 * 1000); /* until somebody leaves */
}

/* The next signal, 0 where there is none. */
static int take_signal(int signals)
{
    struct signalfd_siginfo info;
    struct pollfd fd = {.fd = signals, .events = POLLIN};
    if (poll(&fd, 1, 0) <= 0 || read(signals, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    return (int)info.ssi_signo;
}

/* Until SIGTERM or SIGINT. */
static struct err *accept_all(const struct listeners *l, int signals,
                              const struct protocol *protocol, const struct service *service)
{
    struct pollfd fds[SUPERVISOR_SOCKETS_MAX + 1];
    memcpy(fds, l->fds, sizeof l->fds);
    fds[l->count] = (struct pollfd){.fd = signals, .events = POLLIN};
    for (;;) {
        if (poll(fds, (nfds_t)l->count + 1, -1) < 0 && errno != EINTR)
            return err_errno(errno, "Can't wait for connections");
        int signal = take_signal(signals);
        if (signal == SIGHUP) {
            supervisor_notify("RELOADING=1");
            err_free(log_reopen(service->log)); /* it goes on in the old file then */
            supervisor_notify("READY=1");
        } else if (signal) {
            return NULL;
        }
        for (int i = 0; i < l->count; i++)
            accept_from(&fds[i], protocol, service);
    }
}

/* False where somebody has to be cut off: time is up, or a second signal says so. */
static bool stop_all(int signals, unsigned timeout_s)
{
    enum { STEP_MS = 50 };
    connections_stop();
    for (int64_t left_ms = (int64_t)timeout_s * 1000; left_ms > 0; left_ms -= STEP_MS) {
        int signal = take_signal(signals);
        if (connections_wait(STEP_MS))
            return true;
        if (signal && signal != SIGHUP)
            return false;
    }
    return connections_wait(0);
}

static struct err *accept_one(struct listeners *l, const struct protocol *protocol,
                              const struct service *service)
{
    char address[ADDRESS_TEXT_MAX];
    int fd = -1;
    while (fd < 0) {
        if (poll(l->fds, (nfds_t)l->count, -1) < 0 && errno != EINTR)
            return err_errno(errno, "Can't wait for a connection");
        for (int i = 0; i < l->count && fd < 0; i++)
            if (l->fds[i].revents)
                fd = listener_accept(l->fds[i].fd, address);
    }
    close_listeners(l);
    const struct client client = {.service = service, .address = address};
    struct err *err = serve_fds(fd, fd, protocol, &client);
    close(fd);
    return err;
}

static struct err *receive_signals(int *signals)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) /* threads inherit it: signals come to us alone */
        return err_errno(errno, "Can't block signals");
    *signals = signalfd(-1, &set, SFD_CLOEXEC);
    return *signals < 0 ? err_errno(errno, "Can't receive signals") : NULL;
}

static struct err *listen_with(struct listeners *l, const struct serve_options *options,
                               struct service *service)
{
    int signals;
    if (options->mode == SERVE_DAEMON && !options->foreground && l->are_ours)
        TRY(go_to_background());
    if (options->pid_file)
        TRY(write_pid_file(options->pid_file));
    if (options->mode == SERVE_LISTEN_ONCE)
        return accept_one(l, options->protocol, service);
    TRY(receive_signals(&signals));
    /* Each client has a descriptor, and its repositories some. */
    const unsigned connections = options->peers.connections;
    descriptors_raise(connections ? connections + SPARE_DESCRIPTORS : RLIM_INFINITY);
    memory_return_aside();
    service->peers = peers_new(&options->peers);
    supervisor_notify("READY=1");
    struct err *err = accept_all(l, signals, options->protocol, service);
    supervisor_notify("STOPPING=1");
    close_listeners(l);
    if (!stop_all(signals, options->stop_timeout_s))
        _exit(err != NULL); /* as by a crash, which leaves nothing behind */
    peers_free(service->peers);
    service->peers = NULL;
    close(signals);
    return err;
}

static struct err *serve_sockets(const struct serve_options *options, struct service *service)
{
    struct listeners listeners = {0};
    TRY(open_listeners(&listeners, options));
    for (int i = 0; i < listeners.count; i++)
        fcntl(listeners.fds[i].fd, F_SETFL, O_NONBLOCK);
    struct err *err = listen_with(&listeners, options, service);
    close_listeners(&listeners);
    return err;
}

static struct err *serve_inetd(const struct protocol *protocol, const struct service *service)
{
    char address[ADDRESS_TEXT_MAX];
    struct stat in;
    listener_peer(address, STDIN_FILENO);
    const struct client client = {.service = service, .address = address};
    if (fstat(STDIN_FILENO, &in) == 0 && !S_ISSOCK(in.st_mode)) /* two pipes */
        return serve_standard(protocol, &client);
    return serve_fds(STDIN_FILENO, STDIN_FILENO, protocol, &client);
}

static struct err *serve_with(const struct serve_options *options, struct service *service)
{
    switch (options->mode) {
    case SERVE_TUNNEL:
        return serve_tunnel(options, service);
    case SERVE_INETD:
        return serve_inetd(options->protocol, service);
    default:
        return serve_sockets(options, service);
    }
}

/* PATH from here, wherever we go: links in it are followed when it is opened, not now, so that
 * they can be turned while we run. */
static char *absolute(const char *path, struct arena *arena)
{
    char here[PATH_MAX];
    if (!path || path[0] == '/' || !getcwd(here, sizeof here))
        return path ? arena_cstr(arena, str_of(path)) : NULL;
    return arena_cstr(arena, arena_printf(arena, "%s/%s", here, path));
}

static struct err *check_root(const char *root)
{
    struct stat info;
    if (stat(root, &info) != 0 || !S_ISDIR(info.st_mode))
        return err_make(E_ILLEGAL_TARGET, "Root path '%s' does not exist or is not a directory",
                        root);
    return NULL;
}

/* Before anybody comes who is told of it each time. */
static struct err *check_config_file(const char *path)
{
    if (path && access(path, R_OK) != 0)
        return err_errno(errno, "Can't open file '%s'", path);
    return NULL;
}

/* For err_warn_to: what concerns no client. */
static void log_warning(void *arg, const struct err *err)
{
    const struct service *service = arg;
    access_log_err(&(struct access_log){.log = service->log, .address = "-"}, "WARN", err);
}

struct err *serve_run(const struct serve_options *options)
{
    AUTO_ARENA(arena);
    struct serve_options own = *options; /* with paths that outlast a change of directory */
    struct str root = str_of(absolute(options->root, arena));
    TRY(check_root(options->root));
    TRY(check_config_file(options->config_file));
    while (root.n && root.p[root.n - 1] == '/')
        root.n--;
    own.pid_file = absolute(options->pid_file, arena);
    struct service service = {
        .root = arena_cstr(arena, root),
        .config_file = absolute(options->config_file, arena),
        .read_only = options->read_only,
        .virtual_host = options->virtual_host,
        .compression = options->compression,
        .limits = options->limits,
    };
    account_set_total(options->requests_memory,
                      "The requests that the server has at hand take more memory than "
                      "--max-requests-memory allows; try again later");
    if (options->log_file)
        TRY(log_open(&service.log, absolute(options->log_file, arena)));
    if (service.log)
        err_warn_to(log_warning, &service);
    struct err *err = serve_with(&own, &service);
    registry_close_all();
    err_warn_to(NULL, NULL);
    log_close(service.log);
    return err;
}
