/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"
#include "svn/wire.h"

struct err *wire_open(struct conn *conn)
{
    return conn_write(conn, "( ", 2);
}

struct err *wire_close(struct conn *conn)
{
    return conn_write(conn, ") ", 2);
}

struct err *wire_number(struct conn *conn, uint64_t n)
{
    char text[NUM_U64_MAX + 1];
    size_t length = num_to_dec(text, n);
    text[length++] = ' ';
    return conn_write(conn, text, length);
}

enum { SMALL_STRING = 256 };

struct err *wire_str(struct conn *conn, struct str s)
{
    char text[NUM_U64_MAX + 2 + SMALL_STRING];
    size_t length = num_to_dec(text, s.n);
    text[length++] = ':';
    if (s.n <= SMALL_STRING) { /* one write for the many small ones */
        if (s.n)
            memcpy(text + length, s.p, s.n);
        length += s.n;
        text[length++] = ' ';
        return conn_write(conn, text, length);
    }
    TRY(conn_write(conn, text, length));
    TRY(conn_write_str(conn, s));
    return conn_write(conn, " ", 1);
}

struct err *wire_word(struct conn *conn, struct str word)
{
    TRY(conn_write_str(conn, word));
    return conn_write(conn, " ", 1);
}

struct err *wire_bool(struct conn *conn, bool value)
{
    return wire_word(conn, value ? S("true") : S("false"));
}

struct err *wire_opt_str(struct conn *conn, struct str s)
{
    if (!s.p)
        return conn_write(conn, "( ) ", 4);
    TRY(wire_open(conn));
    TRY(wire_str(conn, s));
    return wire_close(conn);
}

struct err *wire_opt_rev(struct conn *conn, revnum rev)
{
    if (rev == REV_NONE)
        return conn_write(conn, "( ) ", 4);
    TRY(wire_open(conn));
    TRY(wire_number(conn, (uint64_t)rev));
    return wire_close(conn);
}

struct err *wire_props(struct conn *conn, const struct prop *list, size_t n)
{
    TRY(wire_open(conn));
    for (size_t i = 0; i < n; i++) {
        TRY(wire_open(conn));
        TRY(wire_str(conn, list[i].name));
        TRY(wire_str(conn, list[i].value));
        TRY(wire_close(conn));
    }
    return wire_close(conn);
}

struct err *wire_raw(struct conn *conn, struct str ready)
{
    return conn_write_str(conn, ready);
}

struct err *wire_begin_success(struct conn *conn)
{
    conn_hold(conn);
    return wire_raw(conn, S("( success ( "));
}

struct err *wire_end_success(struct conn *conn)
{
    TRY(wire_raw(conn, S(") ) ")));
    conn_hold_release(conn);
    return NULL;
}

struct err *wire_success_empty(struct conn *conn)
{
    return wire_raw(conn, S("( success ( ) ) "));
}

struct err *wire_failure(struct conn *conn, const struct err *err)
{
    TRY(wire_raw(conn, S("( failure ( ")));
    for (; err; err = err->cause) {
        TRY(wire_open(conn));
        TRY(wire_number(conn, (uint64_t)err->code));
        TRY(wire_str(conn, str_of(err->text)));
        TRY(wire_raw(conn, S("0: 0 ) ")));
    }
    return wire_raw(conn, S(") ) "));
}
