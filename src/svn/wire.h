/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - the items of the svn:// protocol: numbers, strings, words, lists (docs/protocol/svn.md).
 *
 *   number "12 "   string "3:abc "   word "success "   list "( item item ) "
 *
 * Reading builds one tuple in an arena, bounded by what the arena's account may have and by the
 * connection's limits of request size and nesting; strings of hostile length take memory only as
 * their bytes arrive. Writing goes straight into the connection, or into memory where an answer has
 * very many small items. */
#ifndef VARVE_SVN_WIRE_H
#define VARVE_SVN_WIRE_H

#include "base/arena.h"
#include "base/num.h"
#include "fsfs/format/props.h"
#include "fsfs/format/types.h"
#include "net/conn.h"

enum {
    WIRE_WORD_MAX = 31,
    WIRE_STRING_STEP = 1 << 20, /* a string's memory grows in steps of this, as its bytes arrive */
};

enum wire_kind { WIRE_NUMBER, WIRE_STRING, WIRE_WORD, WIRE_LIST };
struct wire_item {
    enum wire_kind kind;
    union {
        uint64_t number;
        struct str text; /* strings and words */
        struct {
            const struct wire_item *items;
            size_t n;
        } list;
    };
};

/* The next item, whole. E_RA_SVN_MALFORMED_DATA; the connection is of no use after it. */
struct err *wire_read(struct wire_item *out, struct conn *conn, struct arena *arena);
/* The next item must be a list that starts with a word and a list: ( command ( params ) ). Leading
 * garbage is not skipped. */
struct err *wire_read_command(struct str *command, struct wire_item *params, struct conn *conn,
                              struct arena *arena);

/* ---- taking a tuple apart ----
 *
 * Take what is expected in turn; the first thing that is not there or of another kind marks the
 * args as malformed, and everything taken after is empty. wire_args_check tells at the end. Items
 * behind the last one taken are ignored: newer peers send more. */
struct wire_args {
    const struct wire_item *items;
    size_t n, at;
    bool malformed;
};
struct wire_args wire_args_of(const struct wire_item *list);
struct err *wire_args_check(
    const struct wire_args *args); /* E_RA_SVN_MALFORMED_DATA "Malformed network data" */
bool wire_args_end(const struct wire_args *args); /* the (old) peer sent no more */

uint64_t wire_take_number(struct wire_args *args);
struct str wire_take_str(struct wire_args *args);
struct str wire_take_word(struct wire_args *args);
bool wire_take_bool(struct wire_args *args);
revnum wire_take_rev(struct wire_args *args);
struct wire_args wire_take_list(struct wire_args *args);
/* A list that is empty or holds one thing: REV_NONE / p NULL where empty. */
revnum wire_take_opt_rev(struct wire_args *args);
struct str wire_take_opt_str(struct wire_args *args);
/* The same where the tuple may end before: FALLBACK then. */
bool wire_take_bool_tail(struct wire_args *args, bool fallback);
struct str wire_take_word_tail(struct wire_args *args);       /* p NULL at the end */
struct wire_args wire_take_list_tail(struct wire_args *args); /* empty at the end */
/* ( ( name value )... ) */
struct prop *wire_take_props(size_t *n, struct wire_args *args, struct arena *arena);
/* ( string... ) */
struct str *wire_take_strs(size_t *n, struct wire_args *args, struct arena *arena);

/* ---- writing ---- */

struct err *wire_open(struct conn *conn);  /* "( " */
struct err *wire_close(struct conn *conn); /* ") " */
struct err *wire_number(struct conn *conn, uint64_t n);
struct err *wire_str(struct conn *conn, struct str s);
struct err *wire_word(struct conn *conn, struct str word);
struct err *wire_bool(struct conn *conn, bool value);
struct err *wire_opt_str(struct conn *conn, struct str s); /* "( ) " where s.p is NULL */
struct err *wire_opt_rev(struct conn *conn, revnum rev);   /* "( ) " for REV_NONE */
struct err *wire_props(struct conn *conn, const struct prop *list,
                       size_t n); /* ( ( name value )... ); values not NULL */
struct err *wire_raw(struct conn *conn, struct str ready); /* bytes that are items already */

/* ---- writing into memory ----
 *
 * For large pieces of small items: a write for each costs more than the item. TO has room for the
 * item; they return its end. */
enum { WIRE_ROOM = NUM_U64_MAX + 2 }; /* of a number or bool, or of a string besides its bytes */
static inline char *wire_put(char *to, struct str ready)
{
    if (ready.n)
        memcpy(to, ready.p, ready.n);
    return to + ready.n;
}
static inline char *wire_put_number(char *to, uint64_t n)
{
    to += num_to_dec(to, n);
    *to++ = ' ';
    return to;
}
static inline char *wire_put_str(char *to, struct str s)
{
    to += num_to_dec(to, s.n);
    *to++ = ':';
    to = wire_put(to, s);
    *to++ = ' ';
    return to;
}
static inline char *wire_put_bool(char *to, bool value)
{
    return value ? wire_put(to, S("true ")) : wire_put(to, S("false "));
}

/* "( success ( " ... ") ) ". What is written between is held back (conn_hold) until the end. */
struct err *wire_begin_success(struct conn *conn);
struct err *wire_end_success(struct conn *conn);
/* "( failure ( ( code message file line )... ) ) ", outermost first; file "" and line 0. */
struct err *wire_failure(struct conn *conn, const struct err *err);
/* The answer to an editor or command that has nothing to say. */
struct err *wire_success_empty(struct conn *conn);

#endif
