/* SPDX-License-Identifier: Apache-2.0 */
#include "net/cyrus.h"

#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <sasl/sasl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CODED_MAX = 16 << 10, /* bytes of one coded piece; the library refuses longer ones */
    HOST_MAX = 256,
    ADDRESS_MAX = NI_MAXHOST + NI_MAXSERV + 2,
};

struct cyrus {
    sasl_conn_t *sasl;
    const char *tunnel_user; /* the caller's */
    int layer_code;
};

/* ---- the library ---- */

static void *mutex_new(void)
{
    pthread_mutex_t *mutex = mem_alloc(sizeof *mutex);
    pthread_mutex_init(mutex, NULL);
    return mutex;
}

static int mutex_lock(void *mutex)
{
    return pthread_mutex_lock(mutex) == 0 ? SASL_OK : SASL_FAIL;
}

static int mutex_unlock(void *mutex)
{
    return pthread_mutex_unlock(mutex) == 0 ? SASL_OK : SASL_FAIL;
}

static void mutex_free(void *mutex)
{
    pthread_mutex_destroy(mutex);
    free(mutex);
}

/* NAME as NAME@REALM, whichever mechanism it comes from. */
static int canon_user(sasl_conn_t *sasl, void *context, const char *name, unsigned name_n,
                      unsigned flags, const char *realm, char *out, unsigned out_max,
                      unsigned *out_n)
{
    struct str want = str_of(realm), given = str_make(name, name_n);
    size_t at = str_find(given, '@');
    if (at != SIZE_MAX) {
        if (!str_eq(str_skip(given, at + 1), want))
            return SASL_BADPROT;
        given.n = at;
    }
    size_t n = given.n + 1 + want.n;
    if (n >= out_max)
        return SASL_BADPROT;
    memmove(out, given.p, given.n); /* OUT may be where NAME is */
    out[given.n] = '@';
    memcpy(out + given.n + 1, want.p, want.n + 1);
    *out_n = (unsigned)n;
    return SASL_OK;
}

static int init_result;

static void init_once(void)
{
    static const sasl_callback_t callbacks[] = {
        {SASL_CB_CANON_USER, (int (*)(void))(void (*)(void))canon_user, NULL},
        {SASL_CB_LIST_END, NULL, NULL},
    };
    sasl_set_mutex(mutex_new, mutex_lock, mutex_unlock, mutex_free);
    init_result = sasl_server_init(callbacks, "svn");
}

static struct err *init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_once);
    if (init_result == SASL_OK)
        return NULL;
    return err_make(E_RA_NOT_AUTHORIZED, "Could not initialize the SASL library: %s",
                    sasl_errstring(init_result, NULL, NULL));
}

/* ---- a conversation ---- */

/* "address;port", as the library wants it; NULL where FD is no socket of that kind. */
static const char *address_text(char *text, int fd, int (*ask)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_storage address;
    socklen_t n = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (fd < 0 || ask(fd, (struct sockaddr *)&address, &n) != 0 ||
        (address.ss_family != AF_INET && address.ss_family != AF_INET6) ||
        getnameinfo((struct sockaddr *)&address, n, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return NULL;
    snprintf(text, ADDRESS_MAX, "%s;%s", host, port);
    return text;
}

static int set_properties(sasl_conn_t *sasl, const struct cyrus_options *options)
{
    const sasl_security_properties_t security = {
        .min_ssf = options->min_ssf,
        .max_ssf = options->max_ssf,
        .maxbufsize = CODED_MAX,
        .security_flags = options->anonymous ? 0 : SASL_SEC_NOANONYMOUS,
    };
    int result = sasl_setprop(sasl, SASL_SEC_PROPS, &security);
    if (result == SASL_OK && options->tunnel_user)
        result = sasl_setprop(sasl, SASL_AUTH_EXTERNAL, options->tunnel_user);
    return result;
}

static struct err *context_error(int result)
{
    return err_make(E_RA_NOT_AUTHORIZED, "Could not create SASL context: %s",
                    sasl_errstring(result, NULL, NULL));
}

struct err *cyrus_open(struct cyrus **out, const struct cyrus_options *options)
{
    char host[HOST_MAX] = "", local[ADDRESS_MAX], remote[ADDRESS_MAX];
    TRY(init());
    if (gethostname(host, sizeof host - 1) != 0 || !host[0])
        snprintf(host, sizeof host, "localhost");
    sasl_conn_t *sasl;
    int result = sasl_server_new(
        "svn", host, options->realm, address_text(local, options->fd, getsockname),
        address_text(remote, options->fd, getpeername), NULL, SASL_SUCCESS_DATA, &sasl);
    if (result != SASL_OK)
        return context_error(result);
    result = set_properties(sasl, options);
    if (result != SASL_OK) {
        sasl_dispose(&sasl);
        return context_error(result);
    }
    *out = mem_zalloc(sizeof **out);
    (*out)->sasl = sasl;
    (*out)->tunnel_user = options->tunnel_user;
    (*out)->layer_code = options->layer_code;
    return NULL;
}

void cyrus_close(struct cyrus *cyrus)
{
    if (!cyrus)
        return;
    sasl_dispose(&cyrus->sasl);
    free(cyrus);
}

struct err *cyrus_mechanisms(struct str *out, struct cyrus *cyrus)
{
    const char *list;
    unsigned n;
    int count;
    if (sasl_listmech(cyrus->sasl, NULL, NULL, " ", NULL, &list, &n, &count) != SASL_OK || !count)
        return err_make(E_RA_NOT_AUTHORIZED, "Could not obtain the list of SASL mechanisms");
    *out = str_make(list, n);
    return NULL;
}

static void judge(struct cyrus_answer *out, struct cyrus *cyrus, int result, const char *token,
                  unsigned n)
{
    *out = (struct cyrus_answer){.token = {token, token ? n : 0}};
    if (result == SASL_OK || result == SASL_CONTINUE) {
        out->state = result == SASL_OK ? CYRUS_DONE : CYRUS_CONTINUE;
        return;
    }
    out->state = CYRUS_REFUSED;
    out->text = sasl_errdetail(cyrus->sasl);
    if (!out->text)
        out->text = sasl_errstring(result, NULL, NULL);
}

void cyrus_start(struct cyrus_answer *out, struct cyrus *cyrus, const char *mechanism,
                 struct str token)
{
    const char *answer = NULL;
    unsigned n = 0;
    /* Clients that have nothing to add to what the tunnel says leave it to us to say it. */
    if (!token.p && strcmp(mechanism, "EXTERNAL") == 0)
        token = str_of(cyrus->tunnel_user);
    int result = sasl_server_start(cyrus->sasl, mechanism, token.p, (unsigned)token.n, &answer, &n);
    judge(out, cyrus, result, answer, n);
}

void cyrus_step(struct cyrus_answer *out, struct cyrus *cyrus, struct str token)
{
    const char *answer = NULL;
    unsigned n = 0;
    int result =
        sasl_server_step(cyrus->sasl, token.p ? token.p : "", (unsigned)token.n, &answer, &n);
    judge(out, cyrus, result, answer, n);
}

struct err *cyrus_user(struct str *out, struct cyrus *cyrus, struct arena *arena)
{
    const void *name = NULL;
    if (sasl_getprop(cyrus->sasl, SASL_USERNAME, &name) == SASL_OK && name) {
        struct str user = str_of(name);
        size_t at = str_find(user, '@');
        if (at != SIZE_MAX)
            user.n = at;
        if (user.n) {
            *out = arena_str(arena, user);
            return NULL;
        }
    }
    return err_make(E_RA_NOT_AUTHORIZED, "Couldn't obtain the authenticated username");
}

/* ---- the security layer ---- */

static struct err *layer_error(struct cyrus *cyrus, int result)
{
    const char *detail = sasl_errdetail(cyrus->sasl);
    return err_make(cyrus->layer_code, "SASL security layer: %s",
                    detail ? detail : sasl_errstring(result, NULL, NULL));
}

static struct err *layer_encode(struct buf *coded, void *self, struct str plain)
{
    struct cyrus *cyrus = self;
    const char *out = NULL;
    unsigned n = 0;
    int result = sasl_encode(cyrus->sasl, plain.p, (unsigned)plain.n, &out, &n);
    if (result != SASL_OK)
        return layer_error(cyrus, result);
    buf_add(coded, out, n);
    return NULL;
}

static struct err *layer_decode(struct buf *plain, void *self, struct str coded)
{
    struct cyrus *cyrus = self;
    const char *out = NULL;
    unsigned n = 0;
    int result = sasl_decode(cyrus->sasl, coded.p, (unsigned)coded.n, &out, &n);
    if (result != SASL_OK)
        return layer_error(cyrus, result);
    if (n)
        buf_add(plain, out, n);
    return NULL;
}

static void layer_free(void *self)
{
    cyrus_close(self);
}

bool cyrus_layer(struct conn_layer *out, struct cyrus *cyrus)
{
    const void *ssf = NULL, *plain_max = NULL;
    if (sasl_getprop(cyrus->sasl, SASL_SSF, &ssf) != SASL_OK || *(const sasl_ssf_t *)ssf == 0)
        return false;
    *out = (struct conn_layer){.self = cyrus,
                               .encode = layer_encode,
                               .decode = layer_decode,
                               .free = layer_free,
                               .plain_max = CODED_MAX};
    /* What the peer takes; 0 says that it does not matter. */
    if (sasl_getprop(cyrus->sasl, SASL_MAXOUTBUF, &plain_max) == SASL_OK) {
        unsigned max = *(const unsigned *)plain_max;
        if (max && max < out->plain_max)
            out->plain_max = max;
    }
    return true;
}
