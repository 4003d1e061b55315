/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/num.h"
#include "base/vec.h"
#include "svn/wire.h"

static struct err *malformed(void)
{
    return err_make(E_RA_SVN_MALFORMED_DATA, "Malformed network data");
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static struct err *take_byte(char *out, struct conn *conn)
{
    struct str have;
    TRY(conn_peek(&have, conn));
    *out = have.p[0];
    conn_take(conn, 1);
    return NULL;
}

/* The first byte that is not white space. */
static struct err *take_mark(char *out, struct conn *conn)
{
    do
        TRY(take_byte(out, conn));
    while (is_space(*out));
    return NULL;
}

static struct err *need_space(struct conn *conn)
{
    char c;
    TRY(take_byte(&c, conn));
    return is_space(c) ? NULL : malformed();
}

/* Memory follows the bytes: a length that is not followed by its bytes costs one step at most. */
static struct err *read_long_string(struct str *out, struct conn *conn, uint64_t n,
                                    struct arena *arena)
{
    AUTO_BUF(grown);
    while (grown.n < n) {
        uint64_t part = n - grown.n < WIRE_STRING_STEP ? n - grown.n : WIRE_STRING_STEP;
        TRY(arena_check(arena, 2 * grown.n)); /* the buffer grows by half, then a copy */
        TRY(conn_read(conn, buf_grow(&grown, (size_t)part), (size_t)part));
    }
    *out = arena_str(arena, buf_view(&grown));
    return NULL;
}

static struct err *read_string(struct str *out, struct conn *conn, uint64_t n, struct arena *arena)
{
    TRY(arena_check(arena, n < WIRE_STRING_STEP ? (size_t)n : 0));
    if (n > WIRE_STRING_STEP)
        return read_long_string(out, conn, n, arena);
    char *bytes = arena_alloc(arena, (size_t)n + 1);
    TRY(conn_read(conn, bytes, (size_t)n));
    bytes[n] = 0;
    *out = str_make(bytes, (size_t)n);
    return NULL;
}

static struct err *read_number_or_string(struct wire_item *out, char first, struct conn *conn,
                                         struct arena *arena)
{
    uint64_t n = (uint64_t)(first - '0');
    char c;
    for (;;) {
        TRY(take_byte(&c, conn));
        if (!is_digit(c))
            break;
        if (!mul_u64(&n, n, 10) || !add_u64(&n, n, (uint64_t)(c - '0')))
            return err_make(E_RA_SVN_MALFORMED_DATA, "Number is larger than maximum");
    }
    if (c == ':') {
        out->kind = WIRE_STRING;
        TRY(read_string(&out->text, conn, n, arena));
        return need_space(conn);
    }
    out->kind = WIRE_NUMBER;
    out->number = n;
    return is_space(c) ? NULL : malformed();
}

static struct err *read_word(struct wire_item *out, char first, struct conn *conn,
                             struct arena *arena)
{
    char word[WIRE_WORD_MAX], c = first;
    size_t n = 0;
    do {
        if (n == WIRE_WORD_MAX)
            return err_make(E_RA_SVN_MALFORMED_DATA, "Word is too long");
        word[n++] = c;
        TRY(take_byte(&c, conn));
    } while (is_letter(c) || is_digit(c) || c == '-');
    out->kind = WIRE_WORD;
    out->text = arena_str(arena, str_make(word, n));
    return is_space(c) ? NULL : malformed();
}

static struct err *read_item(struct wire_item *out, char first, struct conn *conn, unsigned depth,
                             struct arena *arena);

static struct err *read_list(struct wire_item *out, struct conn *conn, unsigned depth,
                             struct arena *arena)
{
    if (depth >= conn_nesting(conn))
        return malformed();
    VEC(struct wire_item) items = {0};
    for (;;) {
        char mark;
        TRY(take_mark(&mark, conn));
        if (mark == ')')
            break;
        if (items.n == items.cap)
            TRY(arena_check(arena, 2 * items.cap * sizeof *items.list));
        TRY(read_item(VEC_ADD_IN(&items, arena), mark, conn, depth + 1, arena));
    }
    out->kind = WIRE_LIST;
    out->list.items = items.list;
    out->list.n = items.n;
    return need_space(conn);
}

static struct err *read_item(struct wire_item *out, char first, struct conn *conn, unsigned depth,
                             struct arena *arena)
{
    if (is_digit(first))
        return read_number_or_string(out, first, conn, arena);
    if (is_letter(first))
        return read_word(out, first, conn, arena);
    if (first == '(')
        return read_list(out, conn, depth, arena);
    return malformed();
}

struct err *wire_read(struct wire_item *out, struct conn *conn, struct arena *arena)
{
    char mark;
    TRY(take_mark(&mark, conn));
    return read_item(out, mark, conn, 0, arena);
}

struct err *wire_read_command(struct str *command, struct wire_item *params, struct conn *conn,
                              struct arena *arena)
{
    struct wire_item tuple;
    TRY(wire_read(&tuple, conn, arena));
    if (tuple.kind != WIRE_LIST || tuple.list.n < 2 || tuple.list.items[0].kind != WIRE_WORD ||
        tuple.list.items[1].kind != WIRE_LIST)
        return malformed();
    *command = tuple.list.items[0].text;
    *params = tuple.list.items[1];
    return NULL;
}

/* ---- taking apart ---- */

struct wire_args wire_args_of(const struct wire_item *list)
{
    struct wire_args args = {0};
    if (list->kind == WIRE_LIST) {
        args.items = list->list.items;
        args.n = list->list.n;
    } else {
        args.malformed = true;
    }
    return args;
}

struct err *wire_args_check(const struct wire_args *args)
{
    return args->malformed ? malformed() : NULL;
}

bool wire_args_end(const struct wire_args *args)
{
    return args->at == args->n;
}

static const struct wire_item *take(struct wire_args *args, enum wire_kind kind)
{
    if (args->malformed || args->at == args->n || args->items[args->at].kind != kind) {
        args->malformed = true;
        return NULL;
    }
    return &args->items[args->at++];
}

uint64_t wire_take_number(struct wire_args *args)
{
    const struct wire_item *item = take(args, WIRE_NUMBER);
    return item ? item->number : 0;
}

struct str wire_take_str(struct wire_args *args)
{
    const struct wire_item *item = take(args, WIRE_STRING);
    return item ? item->text : S("");
}

struct str wire_take_word(struct wire_args *args)
{
    const struct wire_item *item = take(args, WIRE_WORD);
    return item ? item->text : S("");
}

bool wire_take_bool(struct wire_args *args)
{
    struct str word = wire_take_word(args);
    if (str_eq(word, S("true")))
        return true;
    if (!str_eq(word, S("false")))
        args->malformed = true;
    return false;
}

revnum wire_take_rev(struct wire_args *args)
{
    uint64_t n = wire_take_number(args);
    if (n > INT64_MAX)
        return REV_NONE; /* how peers of old spell "none" */
    return (revnum)n;
}

struct wire_args wire_take_list(struct wire_args *args)
{
    const struct wire_item *item = take(args, WIRE_LIST);
    if (item)
        return wire_args_of(item);
    return (struct wire_args){.malformed = true};
}

/* The trouble of an inner list is that of the tuple around it. */
static void join(struct wire_args *args, const struct wire_args *inner)
{
    args->malformed |= inner->malformed;
}

revnum wire_take_opt_rev(struct wire_args *args)
{
    struct wire_args inner = wire_take_list(args);
    revnum rev = wire_args_end(&inner) ? REV_NONE : wire_take_rev(&inner);
    join(args, &inner);
    return rev;
}

struct str wire_take_opt_str(struct wire_args *args)
{
    struct wire_args inner = wire_take_list(args);
    struct str s = wire_args_end(&inner) ? (struct str){0} : wire_take_str(&inner);
    join(args, &inner);
    return s;
}

bool wire_take_bool_tail(struct wire_args *args, bool fallback)
{
    return wire_args_end(args) ? fallback : wire_take_bool(args);
}

struct str wire_take_word_tail(struct wire_args *args)
{
    return wire_args_end(args) ? (struct str){0} : wire_take_word(args);
}

struct wire_args wire_take_list_tail(struct wire_args *args)
{
    return wire_args_end(args) ? (struct wire_args){0} : wire_take_list(args);
}

struct prop *wire_take_props(size_t *n, struct wire_args *args, struct arena *arena)
{
    struct wire_args list = wire_take_list_tail(args);
    struct prop *props = arena_array(arena, list.n + 1, sizeof *props);
    for (*n = 0; !wire_args_end(&list) && !list.malformed; ++*n) {
        struct wire_args pair = wire_take_list(&list);
        props[*n].name = wire_take_str(&pair);
        props[*n].value = wire_take_str(&pair);
        join(&list, &pair);
    }
    join(args, &list);
    return props;
}

struct str *wire_take_strs(size_t *n, struct wire_args *args, struct arena *arena)
{
    struct wire_args list = wire_take_list_tail(args);
    struct str *strs = arena_array(arena, list.n + 1, sizeof *strs);
    for (*n = 0; !wire_args_end(&list) && !list.malformed; ++*n)
        strs[*n] = wire_take_str(&list);
    join(args, &list);
    return strs;
}
