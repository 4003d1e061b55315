/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - the command line of `varve serve` and svnserve. */
#include "serve/serve.h"
#include "base/cache.h"
#include "base/num.h"
#include "cli/tool.h"
#include "svn/session.h"
#include <stddef.h>
#include <stdio.h>

enum serve_option {
    SERVE_OPT_CONFIG_FILE = OPT_LONG_ONLY,
    SERVE_OPT_PORT,
    SERVE_OPT_HOST,
    SERVE_OPT_CACHE_TXDELTAS,
    SERVE_OPT_CACHE_FULLTEXTS,
    SERVE_OPT_CACHE_REVPROPS,
    SERVE_OPT_CACHE_NODEPROPS,
    SERVE_OPT_CLIENT_SPEED,
    SERVE_OPT_BLOCK_READ,
    SERVE_OPT_MIN_THREADS,
    SERVE_OPT_MAX_THREADS,
    SERVE_OPT_MAX_REQUEST,
    SERVE_OPT_MAX_RESPONSE,
    SERVE_OPT_FOREGROUND,
    SERVE_OPT_SINGLE_THREAD,
    SERVE_OPT_LOG_FILE,
    SERVE_OPT_PID_FILE,
    SERVE_OPT_TUNNEL_USER,
    SERVE_OPT_VIRTUAL_HOST,
    SERVE_OPT_VERSION,
    SERVE_OPT_CONNECTIONS,
    SERVE_OPT_PER_ADDRESS,
    SERVE_OPT_LOGIN_RATE,
    SERVE_OPT_FAILED_LOGINS,
    SERVE_OPT_LOGIN_ATTEMPTS,
    SERVE_OPT_LOGIN_SIZE,
    SERVE_OPT_LOGIN_TIMEOUT,
    SERVE_OPT_IDLE_TIMEOUT,
    SERVE_OPT_STOP_TIMEOUT,
    SERVE_OPT_NESTING,
    SERVE_OPT_REQUEST_MEMORY,
    SERVE_OPT_REQUESTS_MEMORY,
    SERVE_OPT_COMMIT_MEMORY,
    SERVE_OPT_OPEN_TEXTS,
};

static const struct opt_spec serve_table[] = {
    {'d', "daemon", 'd', false, "listen for connections, in the background"},
    {'i', "inetd", 'i', false, "one session on standard input, which inetd connected"},
    {'t', "tunnel", 't', false, "one session on standard input and output (svn+ssh)"},
    {'X', "listen-once", 'X', false, "one connection in the foreground, then end"},
    {'r', "root", 'r', true, "the folder whose repositories are served; default /"},
    {'R', "read-only", 'R', false, "nobody may write, whatever the configuration says"},
    {SERVE_OPT_CONFIG_FILE, "config-file", 0, true,
     "read ARG in the place of each repository's\nconf/svnserve.conf"},
    {SERVE_OPT_PORT, "listen-port", 0, true, "the port; default 3690"},
    {SERVE_OPT_HOST, "listen-host", 0, true, "the name or address to listen on; default: all"},
    {'6', "prefer-ipv6", '6', false, "take the IPv6 address of --listen-host where it has both"},
    {'c', "compression", 'c', true,
     "how hard texts are compressed on the wire: 0 (not at\nall) to 9; default 5"},
    {'M', "memory-cache-size", 'M', true,
     "let the cache grow to ARG MB; by default it fits itself\nto the machine"},
    {SERVE_OPT_CACHE_TXDELTAS, "cache-txdeltas", 0, true, "accepted; the cache decides by itself"},
    {SERVE_OPT_CACHE_FULLTEXTS, "cache-fulltexts", 0, true,
     "accepted; the cache decides by itself"},
    {SERVE_OPT_CACHE_REVPROPS, "cache-revprops", 0, true,
     "accepted; they are cached and checked in any case"},
    {SERVE_OPT_CACHE_NODEPROPS, "cache-nodeprops", 0, true,
     "accepted; the cache decides by itself"},
    {SERVE_OPT_CLIENT_SPEED, "client-speed", 0, true, "accepted; needs no tuning"},
    {SERVE_OPT_BLOCK_READ, "block-read", 0, true, "accepted; blocks are read in any case"},
    {'T', "threads", 'T', false, "accepted; there is a thread for each connection"},
    {SERVE_OPT_MIN_THREADS, "min-threads", 0, true, "accepted; threads start as needed"},
    {SERVE_OPT_MAX_THREADS, "max-threads", 0, true, "accepted; threads start as needed"},
    {SERVE_OPT_MAX_REQUEST, "max-request-size", 0, true,
     "the largest request in MB; 0: any; default 16"},
    {SERVE_OPT_MAX_RESPONSE, "max-response-size", 0, true,
     "the largest answer in MB; default 0: any"},
    {SERVE_OPT_CONNECTIONS, "max-connections", 0, true,
     "connections at the same time; 0: any; default 2000\n[mode: daemon]"},
    {SERVE_OPT_PER_ADDRESS, "max-connections-per-address", 0, true,
     "of them from one address; 0: any; default 1000\n[mode: daemon]"},
    {SERVE_OPT_LOGIN_RATE, "max-login-rate", 0, true,
     "new connections from one address in a second;\n0: any; default 1000 [mode: daemon]"},
    {SERVE_OPT_FAILED_LOGINS, "max-failed-logins", 0, true,
     "wrong passwords from one address in a minute;\n0: any; default 60 [mode: daemon]"},
    {SERVE_OPT_LOGIN_ATTEMPTS, "max-login-attempts", 0, true,
     "answers to one question who the client is;\n0: any; default 32"},
    {SERVE_OPT_LOGIN_SIZE, "max-login-size", 0, true,
     "what a client may send until it has logged in, in kB;\n0: any; default 64"},
    {SERVE_OPT_LOGIN_TIMEOUT, "login-timeout", 0, true,
     "seconds that this may take; 0: any; default 120"},
    {SERVE_OPT_IDLE_TIMEOUT, "idle-timeout", 0, true,
     "seconds that a client may neither send nor take\nanything; 0: any; default 3600"},
    {SERVE_OPT_STOP_TIMEOUT, "stop-timeout", 0, true,
     "seconds that running commands may take to end after\nSIGTERM; default 60 [mode: daemon]"},
    {SERVE_OPT_NESTING, "max-nesting", 0, true,
     "lists within lists in a request; 1 to 1000; default 64"},
    {SERVE_OPT_REQUEST_MEMORY, "max-request-memory", 0, true,
     "memory for one client and its request in MB; 0: any;\ndefault 256"},
    {SERVE_OPT_REQUESTS_MEMORY, "max-requests-memory", 0, true,
     "memory for all requests in MB; 0: any; default 1024"},
    {SERVE_OPT_COMMIT_MEMORY, "max-commit-memory", 0, true,
     "memory for one commit in MB; 0: any; default a quarter of\nthe machine's, at most 4096"},
    {SERVE_OPT_OPEN_TEXTS, "max-open-texts", 0, true,
     "files whose texts one commit sends at the same time;\n0: any; default 64"},
    {SERVE_OPT_FOREGROUND, "foreground", 0, false, "with -d: stay in the foreground"},
    {SERVE_OPT_SINGLE_THREAD, "single-thread", 0, false,
     "accepted; connections never wait for each other"},
    {SERVE_OPT_LOG_FILE, "log-file", 0, true, "append a line for each request to file ARG"},
    {SERVE_OPT_PID_FILE, "pid-file", 0, true, "write our process id to file ARG"},
    {SERVE_OPT_TUNNEL_USER, "tunnel-user", 0, true,
     "with -t: the user's name; default: that of our uid"},
    {SERVE_OPT_VIRTUAL_HOST, "virtual-host", 0, false,
     "look below the folder named as the host in the URL"},
    {'h', "help", 'h', false, "show this help"},
    {SERVE_OPT_VERSION, "version", 0, false, "show the program's version"},
    {'q', "quiet", 'q', false, "with --version: the number only"},
    {0},
};

static int print_help(const char *prog)
{
    printf("usage: %s [-d | -i | -t | -X] [options]\nServes Subversion repositories over "
           "svn://.\n\nValid options:\n",
           prog);
    for (const struct opt_spec *spec = serve_table; spec->id; spec++)
        opt_print_help(spec);
    printf("\n");
    return 0;
}

/* ---- arguments ---- */

/* A number from MIN to MAX; the errors are svnserve's. */
static struct err *take_number(int64_t *out, const char *arg, int64_t min, int64_t max)
{
    if (num_i64(out, str_of(arg)) && *out >= min && *out <= max)
        return NULL;
    size_t digits = strspn(arg + (*arg == '-'), "0123456789");
    if (digits == 0 || arg[digits + (*arg == '-')] != 0)
        return err_make(E_INCORRECT_PARAMS, "Could not convert '%s' into a number", arg);
    return err_make(E_INCORRECT_PARAMS, "Number '%s' is out of range '[%lld, %lld]'", arg,
                    (long long)min, (long long)max);
}

static struct err *take_port(int *port, const char *arg)
{
    int64_t n = 0;
    TRY(err_wrap(take_number(&n, arg, 0, 65535), E_CL_ARG_PARSING_ERROR, "Invalid port '%s'", arg));
    *port = (int)n;
    return NULL;
}

/* As with svnserve every number is a level: the nearest there is. */
static struct err *take_compression(int *level, const char *arg)
{
    int64_t n;
    TRY(take_number(&n, arg, INT32_MIN, INT32_MAX));
    *level = n < 0 ? 0 : n > 9 ? 9 : (int)n;
    return NULL;
}

enum { MEGABYTES_MAX = INT32_MAX };

/* -M 0 means "fit yourself", as with svnserve. */
static struct err *take_cache_size(const char *arg)
{
    int64_t mb;
    TRY(take_number(&mb, arg, 0, MEGABYTES_MAX));
    if (mb)
        cache_set_limit((size_t)mb * SHOWN_BYTES_IN_MB);
    return NULL;
}

/* ---- the limits ---- */

enum { LIMIT_KB = 1 << 10, LIMIT_MB = 1 << 20, SECONDS_MAX = 1000000 };
#define LIMIT(member)                                                                              \
    offsetof(struct serve_options, member), sizeof((struct serve_options){0}.member)

static const struct limit {
    int id;
    size_t offset, size; /* of the member of serve_options */
    int64_t unit, min, max;
    const char *what;
} limits[] = {
    {SERVE_OPT_MAX_REQUEST, LIMIT(limits.request_bytes), LIMIT_MB, 0, MEGABYTES_MAX,
     "request size"},
    {SERVE_OPT_MAX_RESPONSE, LIMIT(limits.response_bytes), LIMIT_MB, 0, MEGABYTES_MAX,
     "response size"},
    {SERVE_OPT_CONNECTIONS, LIMIT(peers.connections), 1, 0, INT32_MAX, "number of connections"},
    {SERVE_OPT_PER_ADDRESS, LIMIT(peers.connections_per_address), 1, 0, INT32_MAX,
     "number of connections"},
    {SERVE_OPT_LOGIN_RATE, LIMIT(peers.login_rate), 1, 0, INT32_MAX, "rate of logins"},
    {SERVE_OPT_FAILED_LOGINS, LIMIT(peers.failed_logins), 1, 0, INT32_MAX, "number of logins"},
    {SERVE_OPT_LOGIN_ATTEMPTS, LIMIT(limits.login_attempts), 1, 0, INT32_MAX, "number of attempts"},
    {SERVE_OPT_LOGIN_SIZE, LIMIT(limits.login_bytes), LIMIT_KB, 0, INT32_MAX, "login size"},
    {SERVE_OPT_LOGIN_TIMEOUT, LIMIT(limits.login_timeout_s), 1, 0, SECONDS_MAX, "timeout"},
    {SERVE_OPT_IDLE_TIMEOUT, LIMIT(limits.idle_timeout_s), 1, 0, SECONDS_MAX, "timeout"},
    {SERVE_OPT_STOP_TIMEOUT, LIMIT(stop_timeout_s), 1, 0, SECONDS_MAX, "timeout"},
    {SERVE_OPT_NESTING, LIMIT(limits.nesting), 1, 1, 1000, "nesting"},
    {SERVE_OPT_REQUEST_MEMORY, LIMIT(limits.request_memory), LIMIT_MB, 0, MEGABYTES_MAX,
     "amount of memory"},
    {SERVE_OPT_REQUESTS_MEMORY, LIMIT(requests_memory), LIMIT_MB, 0, MEGABYTES_MAX,
     "amount of memory"},
    {SERVE_OPT_COMMIT_MEMORY, LIMIT(limits.commit_memory), LIMIT_MB, 0, MEGABYTES_MAX,
     "amount of memory"},
    {SERVE_OPT_OPEN_TEXTS, LIMIT(limits.open_texts), 1, 0, INT32_MAX, "number of texts"},
};
enum { LIMIT_COUNT = sizeof limits / sizeof *limits };

/* Set the limit that VALUE is about, if it is about one. */
static struct err *take_limit(struct serve_options *o, const struct opt_value *value)
{
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        const struct limit *limit = &limits[i];
        int64_t n = 0;
        if (limit->id != value->id)
            continue;
        TRY(err_wrap(take_number(&n, value->arg, limit->min, limit->max), E_CL_ARG_PARSING_ERROR,
                     "Invalid %s '%s'", limit->what, value->arg));
        uint64_t wide = (uint64_t)(n * limit->unit);
        unsigned narrow = (unsigned)wide;
        const void *from = limit->size == sizeof narrow ? (const void *)&narrow : &wide;
        memcpy((char *)o + limit->offset, from, limit->size);
    }
    return NULL;
}

static struct err *take_option(struct serve_options *o, int *modes, const struct opt_value *value)
{
    const char *arg = value->arg;
    switch (value->id) {
    case 'd':
    case 'i':
    case 't':
    case 'X':
        o->mode = value->id == 'd'   ? SERVE_DAEMON
                  : value->id == 'i' ? SERVE_INETD
                  : value->id == 't' ? SERVE_TUNNEL
                                     : SERVE_LISTEN_ONCE;
        (*modes)++;
        break;
    case 'r':
        o->root = arg;
        break;
    case 'R':
        o->read_only = true;
        break;
    case '6':
        o->prefer_ipv6 = true;
        break;
    case 'c':
        return take_compression(&o->compression, arg);
    case 'M':
        return take_cache_size(arg);
    case SERVE_OPT_CONFIG_FILE:
        o->config_file = arg;
        break;
    case SERVE_OPT_PORT:
        return take_port(&o->listen_port, arg);
    case SERVE_OPT_HOST:
        o->listen_host = arg;
        break;
    case SERVE_OPT_FOREGROUND:
        o->foreground = true;
        break;
    case SERVE_OPT_LOG_FILE:
        o->log_file = arg;
        break;
    case SERVE_OPT_PID_FILE:
        o->pid_file = arg;
        break;
    case SERVE_OPT_TUNNEL_USER:
        o->tunnel_user = arg;
        break;
    case SERVE_OPT_VIRTUAL_HOST:
        o->virtual_host = true;
        break;
    default: /* or one that is accepted and needs nothing */
        return take_limit(o, value);
    }
    return NULL;
}

static struct err *take_options(struct serve_options *o, int *modes,
                                const struct command_line *line)
{
    for (size_t i = 0; i < line->value_count; i++)
        TRY(take_option(o, modes, &line->values[i]));
    return NULL;
}

static int fail(struct err *err, const char *prog)
{
    if (!err)
        return 0;
    err_print(err, prog);
    err_free(err);
    return 1;
}

static int usage(const char *hint, const char *text)
{
    fprintf(stderr, "%sType '%s' for usage.\n", text, hint);
    return 1;
}

static int print_version(const char *prog, bool as_svnserve, bool quiet)
{
    const char *version = as_svnserve ? SUBVERSION_VERSION : VARVE_VERSION;
    if (quiet) {
        printf("%s\n", version);
        return 0;
    }
    printf("%s, version %s%s\n\n", prog, version, as_svnserve ? " (varve " VARVE_VERSION ")" : "");
    printf("Cyrus SASL authentication is available.\n\n");
    return 0;
}

static int serve_line(const char *prog, const char *hint, const struct command_line *line)
{
    bool as_svnserve = strcmp(prog, "svnserve") == 0;
    if (command_line_has(line, 'h'))
        return print_help(prog);
    if (command_line_has(line, SERVE_OPT_VERSION))
        return print_version(prog, as_svnserve, command_line_has(line, 'q'));
    struct serve_options options;
    int modes = 0;
    serve_options_init(&options);
    options.protocol = &svn_protocol;
    struct err *err = take_options(&options, &modes, line);
    if (err)
        return fail(err, prog);
    if (line->operand_count)
        return usage(hint, "");
    if (modes != 1)
        return usage(hint, "You must specify exactly one of -d, -i, -t or -X.\n");
    if (command_line_has(line, 'T') && command_line_has(line, SERVE_OPT_SINGLE_THREAD))
        return usage(hint, "You may only specify one of -T or --single-thread\n");
    if (options.tunnel_user && options.mode != SERVE_TUNNEL)
        return fail(
            err_make(E_CL_ARG_PARSING_ERROR, "Option --tunnel-user is only valid in tunnel mode"),
            prog);
    return fail(serve_run(&options), prog);
}

int serve_main(const char *prog, int argc, char **argv)
{
    char hint[64];
    snprintf(hint, sizeof hint, "%s --help", prog);
    struct command_line line;
    int status = 1;
    if (command_line_parse(&line, prog, hint, serve_table, argc, argv))
        status = serve_line(prog, hint, &line);
    command_line_free(&line);
    return status;
}
