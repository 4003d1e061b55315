/* SPDX-License-Identifier: Apache-2.0 */
/* What a peer sends over svn://: read as commands until nothing more comes. Each is taken for an
 * editor command, and its parameters are taken apart in every shape that commands have; what comes
 * of it is written again where it can be. */
#include "base/account.h"
#include "svn/edit_wire.h"
#include "svn/session.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    INPUT_MAX = 64 << 10, /* what a socket takes without anybody reading */
    REQUEST_BYTES = 32 << 10,
    MEMORY = 4 << 20,
};

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Every byte of S is there to be read. */
static void touch(struct str s)
{
    volatile char sum = 0;
    for (size_t i = 0; i < s.n; i++)
        sum = (char)(sum ^ s.p[i]);
}

static void take_props_and_strs(const struct wire_item *params, struct arena *arena)
{
    struct wire_args as_props = wire_args_of(params), as_strs = wire_args_of(params);
    size_t n;
    struct prop *props = wire_take_props(&n, &as_props, arena);
    for (size_t i = 0; i < n && !as_props.malformed; i++) {
        touch(props[i].name);
        touch(props[i].value);
    }
    struct str *strs = wire_take_strs(&n, &as_strs, arena);
    for (size_t i = 0; i < n && !as_strs.malformed; i++)
        touch(strs[i]);
}

/* A letter for each thing to take: s string, r [revision], b bool, B [bool], n number, w word, W
 * [word], o [string], l list, L [list], v revision. */
static void take_shape(const struct wire_item *params, const char *shape)
{
    struct wire_args args = wire_args_of(params);
    for (; *shape; shape++) {
        switch (*shape) {
        case 's':
            touch(wire_take_str(&args));
            break;
        case 'r':
            wire_take_opt_rev(&args);
            break;
        case 'b':
            wire_take_bool(&args);
            break;
        case 'B':
            wire_take_bool_tail(&args, true);
            break;
        case 'n':
            wire_take_number(&args);
            break;
        case 'w':
            touch(wire_take_word(&args));
            break;
        case 'W':
            touch(wire_take_word_tail(&args));
            break;
        case 'o':
            touch(wire_take_opt_str(&args));
            break;
        case 'l':
            wire_take_list(&args);
            break;
        case 'L':
            wire_take_list_tail(&args);
            break;
        default:
            wire_take_rev(&args);
        }
        must(args.malformed || args.at <= args.n, "more was taken than there is");
    }
    struct err *err = wire_args_check(&args);
    must(!err == !args.malformed, "what is malformed is not told");
    err_free(err);
}

static void take_apart(const struct wire_item *params, struct arena *arena)
{
    static const char *const shapes[] = {
        "srbbB", "srbblB", "srwlL", "rsbWBB", "rsbsWBB", "sbrW", "rsbbsWBB", "LvvbbBwL",
        "svl",   "srrr",   "srrB",  "vso",    "vsol",    "sobr", "sob",      "obl",
        "bl",    "sL",     "vvb",   "vvvb",   "nls",     "sLBL", "wo",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        take_shape(params, shapes[i]);
    take_props_and_strs(params, arena);
}

static void decode(struct edit_decoder *decoder, struct conn *out, struct str command,
                   const struct wire_item *params, struct arena *arena)
{
    struct edit_event event;
    struct err *err = edit_decode(&event, decoder, command, params, arena);
    if (!err) {
        touch(event.path);
        touch(event.copy_path);
        touch(event.name);
        touch(event.value);
        touch(event.text);
        touch(event.md5);
        err = edit_encode(out, &event);
        must(!err, "a decoded event cannot be written");
    }
    err_free(err);
}

static void converse(int fd)
{
    struct account *account = account_new(&(struct account_terms){
        .limit = MEMORY, .code = E_RA_SVN_REQUEST_SIZE, .text = "too much"});
    struct account *outer = account_enter(account);
    struct arena *arena = arena_new();
    struct conn *conn = conn_new(fd, fd, &svn_conn_codes);
    struct edit_decoder decoder;
    struct err *err = NULL;
    edit_decoder_init(&decoder, S("svn://host/repos"));
    while (!err) {
        struct arena_mark mark = arena_mark(arena);
        struct str command;
        struct wire_item params;
        conn_begin_request(conn, REQUEST_BYTES);
        err = wire_read_command(&command, &params, conn, arena);
        if (!err) {
            conn_hold(conn);
            take_apart(&params, arena);
            decode(&decoder, conn, command, &params, arena);
            conn_hold_discard(conn);
        }
        arena_rewind(arena, mark);
    }
    err_free(err);
    edit_decoder_free(&decoder);
    conn_free(conn);
    arena_free(arena);
    account_enter(outer);
    account_close(account);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fds[2];
    if (size > INPUT_MAX)
        return 0;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "no socket pair");
    must(size == 0 || write(fds[1], data, size) == (ssize_t)size,
         "the socket does not take the input");
    must(shutdown(fds[1], SHUT_WR) == 0, "no end of input");
    converse(fds[0]);
    close(fds[0]);
    close(fds[1]);
    return 0;
}
