/* SPDX-License-Identifier: Apache-2.0 */
/* auth.c - who is there, and with what rights: ANONYMOUS, EXTERNAL, CRAM-MD5; what else there is
 * comes with SASL (auth_sasl.c). */
#include "svn/auth.h"
#include "base/date.h"
#include "base/digest.h"
#include "base/num.h"
#include "svn/session_int.h"
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <unistd.h>

enum mechanism { MECH_ANONYMOUS = 1, MECH_EXTERNAL = 2, MECH_CRAM_MD5 = 4 };

/* What can be offered to a client that needs LEVEL. */
static unsigned offered(const struct session *s, enum access_level level, bool need_user)
{
    unsigned mechanisms = 0;
    if (!need_user && s->config.anon_access >= level)
        mechanisms |= MECH_ANONYMOUS;
    if (s->config.auth_access >= level) {
        if (s->client->tunnel_user)
            mechanisms |= MECH_EXTERNAL;
        if (s->config.has_passwords)
            mechanisms |= MECH_CRAM_MD5;
    }
    return mechanisms;
}

static struct err *send_request(struct session *s, unsigned mechanisms)
{
    struct conn *conn = s->conn;
    TRY(wire_raw(conn, S("( success ( ( ")));
    if (mechanisms & MECH_ANONYMOUS)
        TRY(wire_word(conn, S("ANONYMOUS")));
    if (mechanisms & MECH_EXTERNAL)
        TRY(wire_word(conn, S("EXTERNAL")));
    if (mechanisms & MECH_CRAM_MD5)
        TRY(wire_word(conn, S("CRAM-MD5")));
    TRY(wire_close(conn));
    TRY(wire_str(conn, s->config.realm));
    return wire_raw(conn, S(") ) "));
}

struct err *auth_too_many_from_there(struct session *s)
{
    return auth_send_failure(
        s, S("Too many attempts to log in failed from your address; try again later"));
}

struct err *auth_send_failure(struct session *s, struct str text)
{
    TRY(wire_raw(s->conn, S("( failure ( ")));
    TRY(wire_str(s->conn, text));
    return wire_raw(s->conn, S(") ) "));
}

struct err *auth_too_many_failures(void)
{
    return err_make(E_RA_SVN_IO_ERROR, "Too many failed attempts to authenticate");
}

/* A challenge that nobody has seen before: <nonce.microseconds@host>. */
static struct str make_challenge(struct arena *arena)
{
    uint64_t nonce;
    char host[256] = "";
    if (RAND_bytes((unsigned char *)&nonce, sizeof nonce) != 1 ||
        gethostname(host, sizeof host - 1) != 0)
        return (struct str){0};
    return arena_printf(arena, "<%llu.%lld@%s>", (unsigned long long)nonce,
                        (long long)date_now_us(), host);
}

/* "user 32hex": the user may have spaces. NULL, or what is wrong. */
static const char *check_response(struct str *user, const struct session *s, struct str challenge,
                                  struct str response)
{
    uint8_t given[MD5_SIZE], right[MD5_SIZE];
    size_t space = str_rfind(response, ' ');
    if (space == SIZE_MAX || !num_unhex(given, MD5_SIZE, str_skip(response, space + 1)))
        return "Malformed client response in authentication";
    *user = str_make(response.p, space);
    struct str password = server_config_password(&s->config, *user);
    if (!password.p)
        return "Username not found";
    hmac_md5(right, password, challenge);
    return CRYPTO_memcmp(given, right, MD5_SIZE) == 0 ? NULL : "Password incorrect";
}

static struct err *cram_md5(bool *ok, struct session *s)
{
    struct str challenge = make_challenge(s->request), user;
    struct wire_item response;
    if (!challenge.p)
        return auth_send_failure(s, S("Internal server error in authentication"));
    TRY(wire_raw(s->conn, S("( step ( ")));
    TRY(wire_str(s->conn, challenge));
    TRY(wire_raw(s->conn, S(") ) ")));
    TRY(wire_read(&response, s->conn, s->request));
    if (response.kind != WIRE_STRING)
        return err_make(E_RA_SVN_MALFORMED_DATA, "Malformed network data");
    if (!peers_may_log_in(s->service->peers, s->client->address))
        return auth_too_many_from_there(s);
    const char *wrong = check_response(&user, s, challenge, response.text);
    if (wrong) {
        peers_login_failed(s->service->peers, s->client->address);
        return auth_send_failure(s, str_of(wrong));
    }
    session_set_user(s, user);
    *ok = true;
    return wire_success_empty(s->conn);
}

static struct err *external(bool *ok, struct session *s, struct str token)
{
    struct str user = str_of(s->client->tunnel_user);
    if (token.n && !str_eq(token, user))
        return auth_send_failure(s, S("Requested username does not match"));
    session_set_user(s, user);
    *ok = true;
    return wire_success_empty(s->conn);
}

/* One answer of the client to the request: ( mech [token] ). */
static struct err *take_answer(bool *ok, struct session *s, unsigned mechanisms)
{
    struct wire_item answer;
    TRY(wire_read(&answer, s->conn, s->request));
    struct wire_args args = wire_args_of(&answer);
    struct str mech = wire_take_word_tail(&args), token = {0};
    if (!wire_args_end(&args))
        token = wire_take_opt_str(&args);
    TRY(wire_args_check(&args));
    if (str_eq(mech, S("ANONYMOUS")) && mechanisms & MECH_ANONYMOUS) {
        *ok = true; /* the token is a courtesy that proves nothing */
        return wire_success_empty(s->conn);
    }
    if (str_eq(mech, S("EXTERNAL")) && mechanisms & MECH_EXTERNAL)
        return external(ok, s, token);
    if (str_eq(mech, S("CRAM-MD5")) && mechanisms & MECH_CRAM_MD5)
        return cram_md5(ok, s);
    return auth_send_failure(s, S("Must authenticate with listed mechanism"));
}

/* After a failure the client may try again, on the same request. */
static struct err *exchange(struct session *s, unsigned mechanisms)
{
    unsigned attempts = s->service->limits.login_attempts;
    TRY(send_request(s, mechanisms));
    s->in_exchange = true;
    for (unsigned attempt = 0; !attempts || attempt < attempts; attempt++) {
        bool ok = false;
        TRY(take_answer(&ok, s, mechanisms));
        if (ok) {
            s->in_exchange = false;
            return NULL;
        }
    }
    return auth_too_many_failures();
}

/* Ask who is there, for LEVEL. *ASKED: false where nobody could be let in. */
static struct err *ask(bool *asked, struct session *s, enum access_level level, bool need_user)
{
    if (s->config.use_sasl) {
        bool anonymous = !need_user && s->config.anon_access >= level;
        *asked = anonymous || s->config.auth_access >= level;
        return *asked ? auth_sasl(s, !anonymous) : NULL;
    }
    unsigned mechanisms = offered(s, level, need_user);
    *asked = mechanisms != 0;
    return *asked ? exchange(s, mechanisms) : NULL;
}

struct err *auth_trivial(struct session *s)
{
    return wire_raw(s->conn, S("( success ( ( ) 0: ) ) "));
}

struct err *auth_handshake(struct session *s)
{
    bool asked;
    TRY(ask(&asked, s, ACCESS_LEVEL_READ, false));
    if (asked)
        return NULL;
    struct err *err = err_make(E_RA_NOT_AUTHORIZED, "No access allowed to this repository");
    session_log_err(s, err);
    return err;
}

struct err *auth_require(struct session *s, enum access_level level, struct str path,
                         bool need_user)
{
    if (principal_allows(&s->who, level, path, need_user))
        return auth_trivial(s);
    bool asked = false;
    if (!s->who.user.n)
        TRY(ask(&asked, s, level, true));
    if (asked && principal_allows(&s->who, level, path, need_user))
        return NULL;
    session_log_denied(s, path, level == ACCESS_LEVEL_WRITE ? ACCESS_WRITE : ACCESS_READ, false);
    return err_make(E_RA_NOT_AUTHORIZED, "Authorization failed");
}
