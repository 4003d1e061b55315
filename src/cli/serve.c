/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - the command line of `varve serve` and svnserve. */
#include "serve/serve.h"
#include "base/cache.h"
#include "base/num.h"
#include "cli/tool.h"
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

static struct err *take_number(int64_t *out, const char *arg, int64_t min, int64_t max,
                               const char *what)
{
    if (!num_i64(out, str_of(arg)) || *out < min || *out > max)
        return err_make(E_CL_ARG_PARSING_ERROR,
                        "Invalid %s '%s': a number from %lld to %lld is needed", what, arg,
                        (long long)min, (long long)max);
    return NULL;
}

/* A size in MB. */
static struct err *take_megabytes(size_t *bytes, const char *arg, const char *what)
{
    int64_t mb;
    TRY(take_number(&mb, arg, 0, (int64_t)(SIZE_MAX >> 21), what));
    *bytes = (size_t)mb * SHOWN_BYTES_IN_MB;
    return NULL;
}

/* Cache sizes below this are for tests only; -M 0 means "fit yourself", as with svnserve. */
static struct err *take_cache_size(const char *arg)
{
    size_t bytes;
    TRY(take_megabytes(&bytes, arg, "cache size"));
    if (bytes)
        cache_set_limit(bytes);
    return NULL;
}

static struct err *take_option(struct serve_options *o, int *modes, const struct opt_value *value)
{
    int64_t n;
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
        TRY(take_number(&n, arg, 0, 9, "compression level"));
        o->compression = (int)n;
        break;
    case 'M':
        return take_cache_size(arg);
    case SERVE_OPT_CONFIG_FILE:
        o->config_file = arg;
        break;
    case SERVE_OPT_PORT:
        TRY(take_number(&n, arg, 1, 65535, "port"));
        o->listen_port = (int)n;
        break;
    case SERVE_OPT_HOST:
        o->listen_host = arg;
        break;
    case SERVE_OPT_MAX_REQUEST:
        return take_megabytes(&o->max_request_size, arg, "request size");
    case SERVE_OPT_MAX_RESPONSE:
        return take_megabytes(&o->max_response_size, arg, "response size");
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
    default: /* the ones that are accepted and need nothing */
        break;
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
    fprintf(stderr, "%s\nType '%s' for usage.\n", text, hint);
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
    struct err *err = take_options(&options, &modes, line);
    if (err)
        return fail(err, prog);
    if (line->operand_count)
        return usage(hint, "Arguments that are no options are not understood.");
    if (modes != 1)
        return usage(hint, "You must specify exactly one of -d, -i, -t or -X.");
    if (options.tunnel_user && options.mode != SERVE_TUNNEL)
        return usage(hint, "Option --tunnel-user is only valid in tunnel mode.");
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
