/* SPDX-License-Identifier: Apache-2.0 */
/* auth_sasl.c - an authentication by SASL on the wire.
 *
 *   S  ( success ( ( mechanism... ) realm ) )
 *   C  ( mechanism [ token ] )
 *   S  ( step ( token ) )   C  token           as often as the mechanism wants
 *   S  ( success [ token ] )                   or ( failure ( text ) ), and the client may try
 * again
 *
 * Tokens travel in base64, except those of CRAM-MD5, which is older than SASL in this protocol. If
 * a security layer was agreed upon it begins behind the success, both ways. */
#include "base/base64.h"
#include "net/cyrus.h"
#include "svn/auth.h"
#include "svn/session_int.h"

/* Bytes of one answer: a Kerberos ticket has up to 64 KiB, and base64 makes a third more of it. */
enum { ANSWER_MAX = 128 << 10 };

struct exchange {
    struct session *s;
    struct cyrus *cyrus;
    bool need_user;
    bool raw; /* CRAM-MD5 */
};

static struct err *send_request(struct exchange *x)
{
    struct conn *conn = x->s->conn;
    struct str list;
    TRY(cyrus_mechanisms(&list, x->cyrus));
    TRY(wire_raw(conn, S("( success ( ( ")));
    TRY(wire_raw(conn, list));
    TRY(wire_raw(conn, S(" ) ")));
    TRY(wire_str(conn, x->s->config.realm));
    return wire_raw(conn, S(") ) "));
}

static struct err *send_token(struct exchange *x, struct str token)
{
    if (x->raw)
        return wire_str(x->s->conn, token);
    AUTO_BUF(text);
    base64_encode(&text, token);
    return wire_str(x->s->conn, buf_view(&text));
}

/* TEXT as the client sent it; p NULL stays so. */
static struct str decode_token(const struct exchange *x, struct str text)
{
    if (x->raw || !text.p)
        return text;
    AUTO_BUF(bytes);
    base64_decode(&bytes, text);
    return bytes.n ? arena_str(x->s->request, buf_view(&bytes)) : S("");
}

/* ( mechanism [ token ] ) */
static struct err *begin(struct cyrus_answer *out, struct exchange *x)
{
    struct wire_item item;
    struct session *s = x->s;
    conn_begin_request(s->conn, ANSWER_MAX);
    TRY(wire_read(&item, s->conn, s->request));
    struct wire_args args = wire_args_of(&item);
    struct str mechanism = wire_take_word(&args), token = wire_take_opt_str(&args);
    TRY(wire_args_check(&args));
    x->raw = str_eq(mechanism, S("CRAM-MD5"));
    cyrus_start(out, x->cyrus, arena_cstr(s->request, mechanism), decode_token(x, token));
    return NULL;
}

static struct err *step(struct cyrus_answer *out, struct exchange *x)
{
    struct wire_item item;
    struct session *s = x->s;
    TRY(wire_raw(s->conn, S("( step ( ")));
    TRY(send_token(x, out->token));
    TRY(wire_raw(s->conn, S(") ) ")));
    conn_begin_request(s->conn, ANSWER_MAX);
    TRY(wire_read(&item, s->conn, s->request));
    if (item.kind != WIRE_STRING)
        return err_make(E_RA_SVN_MALFORMED_DATA, "Malformed network data");
    cyrus_step(out, x->cyrus, decode_token(x, item.text));
    return NULL;
}

static struct err *tell_success(struct exchange *x, struct str token)
{
    TRY(wire_raw(x->s->conn, S("( success ( ")));
    if (token.p)
        TRY(send_token(x, token));
    return wire_raw(x->s->conn, S(") ) "));
}

/* Let the client in. A layer is there once for a connection: who authenticates again inside one
 * stays in it. */
static struct err *let_in(struct exchange *x, struct str token)
{
    struct session *s = x->s;
    struct conn_layer layer;
    struct str user = {0};
    if (x->need_user)
        TRY(cyrus_user(&user, x->cyrus, s->arena));
    TRY(tell_success(x, token));
    if (x->need_user)
        session_set_user(s, user);
    if (conn_is_secure(s->conn) || !cyrus_layer(&layer, x->cyrus))
        return NULL;
    x->cyrus = NULL; /* the connection's from now on */
    return conn_secure(s->conn, &layer);
}

static struct err *attempt(bool *ok, struct exchange *x)
{
    const struct session *s = x->s;
    struct cyrus_answer answer;
    TRY(begin(&answer, x));
    if (!peers_may_log_in(s->service->peers, s->client->address)) {
        *ok = false;
        return auth_too_many_from_there(x->s);
    }
    while (answer.state == CYRUS_CONTINUE)
        TRY(step(&answer, x));
    *ok = answer.state == CYRUS_DONE;
    if (*ok)
        return let_in(x, answer.token);
    peers_login_failed(s->service->peers, s->client->address);
    return auth_send_failure(x->s, str_of(answer.text));
}

static struct err *converse(struct exchange *x)
{
    unsigned attempts = x->s->service->limits.login_attempts;
    TRY(send_request(x));
    x->s->in_exchange = true;
    for (unsigned i = 0; !attempts || i < attempts; i++) {
        bool ok;
        TRY(attempt(&ok, x));
        if (ok) {
            x->s->in_exchange = false;
            return NULL;
        }
    }
    return auth_too_many_failures();
}

struct err *auth_sasl(struct session *s, bool need_user)
{
    const struct cyrus_options options = {
        .realm = arena_cstr(s->request, s->config.realm),
        .tunnel_user = s->client->tunnel_user,
        .anonymous = !need_user,
        .min_ssf = s->config.min_ssf,
        .max_ssf = s->config.max_ssf,
        .fd = s->client->tunnel_user ? -1 : conn_in_fd(s->conn),
        .layer_code = E_RA_SVN_IO_ERROR,
    };
    struct exchange x = {.s = s, .need_user = need_user};
    TRY(cyrus_open(&x.cyrus, &options));
    struct err *err = converse(&x);
    cyrus_close(x.cyrus);
    conn_begin_request(s->conn, s->service->limits.request_bytes);
    return err;
}
