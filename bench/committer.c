/* SPDX-License-Identifier: Apache-2.0 */
/* committer - clients of svn:// that commit and do nothing else, so that the server's time is what
 * is measured.
 *
 * usage: committer HOST PORT REPOSITORY NAME CLIENTS COUNT [SIZE]
 *
 * Each of CLIENTS connections adds a file NAME-I; then `ready` is printed and a line is waited for;
 * then each commits COUNT new texts of SIZE bytes (2,000) to its file, one after the other. */

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_MAX = 65536, /* a list that the server sends */
    TEXT_MAX = 1 << 20,
    HEAD_MAX = 1024, /* of an edit or a diff, beside the text */
};

struct client {
    pthread_t thread;
    char name[256];
    int socket;
    long rev;
    char in[ANSWER_MAX]; /* what was received and not yet taken */
    size_t in_size;
};

static struct {
    const char *host, *port, *repository;
    int count;
    size_t size;
} the = {.size = 2000};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "committer: %s: %s\n", what, why);
    exit(1);
}

/* ---- the connection ---- */

static void client_send(struct client *client, const char *bytes, size_t n)
{
    while (n) {
        const ssize_t sent = send(client->socket, bytes, n, MSG_NOSIGNAL);
        if (sent < 0)
            fail("can't send", strerror(errno));
        bytes += sent;
        n -= (size_t)sent;
    }
}

/* How long the list is that BYTES begin with; 0 if its end is not there yet. */
static size_t list_size(const char *bytes, size_t n)
{
    size_t number = 0, depth = 0;
    for (size_t i = 0; i < n; i++) {
        const char c = bytes[i];
        if (c == ':') {
            i += number; /* a string's bytes are not looked at */
        } else if (c == '(') {
            depth++;
        } else if (c == ')' && --depth == 0) {
            return i + 1;
        }
        number = c >= '0' && c <= '9' ? number * 10 + (size_t)(c - '0') : 0;
    }
    return 0;
}

/* Take the next list, ended with a NUL, into ANSWER. */
static void client_take(struct client *client, char answer[ANSWER_MAX])
{
    size_t size;
    while ((size = list_size(client->in, client->in_size)) == 0) {
        const size_t room = sizeof client->in - 1 - client->in_size;
        const ssize_t n = recv(client->socket, client->in + client->in_size, room, 0);
        if (n <= 0)
            fail("can't receive", n < 0 ? strerror(errno) : "the server has closed the connection");
        client->in_size += (size_t)n;
    }
    memcpy(answer, client->in, size);
    answer[size] = '\0';
    client->in_size -= size;
    memmove(client->in, client->in + size, client->in_size);
}

static void take_success(struct client *client, char answer[ANSWER_MAX])
{
    client_take(client, answer);
    answer += strspn(answer, " ");
    if (strncmp(answer, "( success ", 10) != 0)
        fail("the server refuses", answer);
}

/* The server's request for authentication: none is wanted, or ANONYMOUS will do. */
static void authenticate(struct client *client)
{
    char answer[ANSWER_MAX];
    take_success(client, answer);
    if (strstr(answer, "success ( ( )"))
        return;
    if (!strstr(answer, "ANONYMOUS"))
        fail("the server wants a password", answer);
    client_send(client, "( ANONYMOUS ( 0: ) ) ", 21);
    take_success(client, answer);
}

static void client_connect(struct client *client)
{
    struct addrinfo *address;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(the.host, the.port, &hints, &address) != 0)
        fail("no such address", the.host);
    client->socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->socket < 0 || connect(client->socket, address->ai_addr, address->ai_addrlen) != 0)
        fail("can't connect", strerror(errno));
    freeaddrinfo(address);
    const int on = 1;
    setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);

    char answer[ANSWER_MAX], greeting[HEAD_MAX];
    const size_t url_size =
        strlen("svn://:/") + strlen(the.host) + strlen(the.port) + strlen(the.repository);
    const int n = snprintf(greeting, sizeof greeting,
                           "( 2 ( edit-pipeline svndiff1 accepts-svndiff2 absent-entries depth "
                           "log-revprops ) %zu:svn://%s:%s/%s 9:committer ( ) ) ",
                           url_size, the.host, the.port, the.repository);
    if (n >= HEAD_MAX)
        fail("the name is too long", the.repository);
    take_success(client, answer);
    client_send(client, greeting, (size_t)n);
    authenticate(client);
    take_success(client, answer);
}

/* ---- commits ---- */

static char *put_number(char *p, size_t n)
{
    char bytes[10];
    size_t count = 0;
    do
        bytes[count++] = (char)(n & 127);
    while (n >>= 7);
    while (count--)
        *p++ = (char)(bytes[count] | (count ? 128 : 0));
    return p;
}

/* The N-th text: of the same lines, of which one in nine is another. */
static void text_make(char *text, const struct client *client, int n)
{
    char line[sizeof client->name + 40];
    for (size_t at = 0, i = 0; at < the.size; i++) {
        size_t length = (size_t)snprintf(line, sizeof line, "%s %d line %zu\n", client->name,
                                         (int)(i % 9) == n % 9 ? n : 0, i);
        if (length > the.size - at)
            length = the.size - at;
        memcpy(text + at, line, length);
        at += length;
    }
}

/* Put the svndiff, version 0, that makes the N-th text of nothing: one window of new data. */
static char *put_diff(char *p, const struct client *client, int n)
{
    char instruction[12] = {(char)0x80};
    const size_t instruction_size = (size_t)(put_number(instruction + 1, the.size) - instruction);
    memcpy(p, "SVN", 4);
    p = put_number(put_number(put_number(p + 4, 0), 0), the.size);
    p = put_number(put_number(p, instruction_size), the.size);
    memcpy(p, instruction, instruction_size);
    p += instruction_size;
    text_make(p, client, n);
    return p + the.size;
}

/* The edit that commits the N-th text, whole; returns its size. */
static size_t edit_make(char *edit, char *diff, const struct client *client, int n)
{
    const size_t name_size = strlen(client->name),
                 diff_size = (size_t)(put_diff(diff, client, n) - diff);
    char *p = edit + sprintf(edit, "( open-root ( ( ) 2:d0 ) ) ");
    if (n == 0)
        p += sprintf(p, "( add-file ( %zu:%s 2:d0 2:c1 ( ) ) ) ", name_size, client->name);
    else
        p += sprintf(p, "( open-file ( %zu:%s 2:d0 2:c1 ( %ld ) ) ) ", name_size, client->name,
                     client->rev);
    p += sprintf(p,
                 "( close-dir ( 2:d0 ) ) ( apply-textdelta ( 2:c1 ( ) ) ) "
                 "( textdelta-chunk ( 2:c1 %zu:",
                 diff_size);
    memcpy(p, diff, diff_size);
    p += diff_size;
    p += sprintf(p,
                 " ) ) ( textdelta-end ( 2:c1 ) ) ( close-file ( 2:c1 ( ) ) ) ( close-edit ( ) ) ");
    return (size_t)(p - edit);
}

static void client_commit(struct client *client, int n)
{
    char answer[ANSWER_MAX], *diff = malloc(the.size + HEAD_MAX),
                             *edit = malloc(the.size + HEAD_MAX);
    if (!diff || !edit)
        fail("can't commit", "out of memory");
    const size_t edit_size = edit_make(edit, diff, client, n);
    static const char command[] = "( commit ( 4:edit ( ) false ( ( 7:svn:log 4:edit ) ) ) ) ";
    client_send(client, command, sizeof command - 1);
    authenticate(client);
    take_success(client, answer);
    client_send(client, edit, edit_size);
    take_success(client, answer);
    authenticate(client);
    client_take(client, answer);
    if (sscanf(answer, " ( %ld", &client->rev) != 1)
        fail("no revision", answer);
    free(diff);
    free(edit);
}

static void *client_run(void *arg)
{
    for (int n = 1; n <= the.count; n++)
        client_commit(arg, n);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 7 || argc > 8) {
        fputs("usage: committer HOST PORT REPOSITORY NAME CLIENTS COUNT [SIZE]\n", stderr);
        return 2;
    }
    the.host = argv[1], the.port = argv[2], the.repository = argv[3];
    const int clients = atoi(argv[5]);
    the.count = atoi(argv[6]);
    if (argc == 8)
        the.size = strtoul(argv[7], NULL, 10);
    if (clients < 1 || the.count < 1 || the.size < 1 || the.size > TEXT_MAX)
        fail("can't do so many", argv[5]);
    struct client *list = calloc((size_t)clients, sizeof *list);
    if (!list)
        fail("can't begin", "out of memory");
    for (int i = 0; i < clients; i++) {
        snprintf(list[i].name, sizeof list[i].name, "%.200s-%d", argv[4], i);
        client_connect(&list[i]);
        client_commit(&list[i], 0);
    }
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF)
        return 1;
    for (int i = 0; i < clients; i++)
        if (pthread_create(&list[i].thread, NULL, client_run, &list[i]) != 0)
            fail("can't begin", "no more threads");
    for (int i = 0; i < clients; i++)
        pthread_join(list[i].thread, NULL);
    free(list);
    return 0;
}
