/* SPDX-License-Identifier: Apache-2.0 */
#include "net/peers.h"

#include "base/buf.h"
#include "base/map.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { BURST_SECONDS = 4 }; /* of logins that come at once, and then none */

/* A bucket that fills with time, and from which each event takes one. */
struct bucket {
    double left;
    double at_s; /* when LEFT was right */
};

struct row {
    unsigned connections;
    struct bucket logins, failures;
};

struct peers {
    struct peers_limits limits;
    pthread_mutex_t mutex; /* guards what follows */
    unsigned connections;
    struct map *rows;
};

void peers_limits_init(struct peers_limits *limits)
{
    *limits = (struct peers_limits){
        .connections = 2000,
        .connections_per_address = 1000,
        .login_rate = 1000,
        .failed_logins = 60,
    };
}

struct peers *peers_new(const struct peers_limits *limits)
{
    struct peers *peers = mem_zalloc(sizeof *peers);
    peers->limits = *limits;
    peers->rows = map_new();
    pthread_mutex_init(&peers->mutex, NULL);
    return peers;
}

void peers_free(struct peers *peers)
{
    if (!peers)
        return;
    map_free(peers->rows, free);
    pthread_mutex_destroy(&peers->mutex);
    free(peers);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- buckets ---- */

static double login_room(const struct peers *peers)
{
    return (double)peers->limits.login_rate * BURST_SECONDS;
}

static double failure_room(const struct peers *peers)
{
    return (double)peers->limits.failed_logins;
}

static void fill(struct bucket *bucket, double per_second, double room)
{
    double now = now_s();
    bucket->left += (now - bucket->at_s) * per_second;
    bucket->at_s = now;
    if (bucket->left > room)
        bucket->left = room;
}

static void fill_both(struct row *row, const struct peers *peers)
{
    fill(&row->logins, peers->limits.login_rate, login_room(peers));
    fill(&row->failures, peers->limits.failed_logins / 60.0, failure_room(peers));
}

/* ---- rows ---- */

/* What stands for ADDRESS: itself, or the first half of an IPv6 address. */
static struct str key_of(char key[INET6_ADDRSTRLEN], const char *address)
{
    struct in6_addr bits;
    if (inet_pton(AF_INET6, address, &bits) != 1)
        return str_of(address);
    memset(bits.s6_addr + 8, 0, 8);
    inet_ntop(AF_INET6, &bits, key, INET6_ADDRSTRLEN);
    return str_of(key);
}

static bool is_forgettable(struct row *row, const struct peers *peers)
{
    fill_both(row, peers);
    return !row->connections && row->logins.left >= login_room(peers) &&
           row->failures.left >= failure_room(peers);
}

/* Forget the rows that say no more than a missing one. */
static void sweep(struct peers *peers)
{
    struct map *kept = map_new();
    struct str key;
    void *row;
    for (size_t pos = 0; map_next(peers->rows, &pos, &key, &row);) {
        if (is_forgettable(row, peers))
            free(row);
        else
            map_put(kept, key, row);
    }
    map_free(peers->rows, NULL);
    peers->rows = kept;
}

/* The row of ADDRESS, filled up; NULL where the table has no room. */
static struct row *row_of(struct peers *peers, const char *address)
{
    char text[INET6_ADDRSTRLEN];
    struct str key = key_of(text, address);
    struct row *row = map_get(peers->rows, key);
    if (!row) {
        if (map_count(peers->rows) >= PEERS_MAX)
            sweep(peers);
        if (map_count(peers->rows) >= PEERS_MAX)
            return NULL;
        row = mem_zalloc(sizeof *row);
        row->logins.left = login_room(peers);
        row->failures.left = failure_room(peers);
        row->logins.at_s = row->failures.at_s = now_s();
        map_put(peers->rows, key, row);
    }
    fill_both(row, peers);
    return row;
}

/* ---- coming and going ---- */

static struct err *enter_locked(struct peers *peers, const char *address)
{
    const struct peers_limits *limits = &peers->limits;
    if (limits->connections && peers->connections >= limits->connections)
        return err_make(E_RA_CANNOT_CREATE_SESSION,
                        "The server has %u connections and takes no more; try again later",
                        peers->connections);
    struct row *row = row_of(peers, address);
    if (!row)
        return err_make(E_RA_CANNOT_CREATE_SESSION,
                        "The server knows of too many addresses; try again later");
    if (limits->connections_per_address && row->connections >= limits->connections_per_address)
        return err_make(E_RA_CANNOT_CREATE_SESSION,
                        "The server has %u connections from %s and takes no more; try again later",
                        row->connections, address);
    if (limits->login_rate && row->logins.left < 1)
        return err_make(E_RA_CANNOT_CREATE_SESSION,
                        "More than %u connections in a second came from %s; try again later",
                        limits->login_rate, address);
    if (limits->login_rate)
        row->logins.left -= 1;
    row->connections++;
    peers->connections++;
    return NULL;
}

struct err *peers_enter(struct peers *peers, const char *address)
{
    pthread_mutex_lock(&peers->mutex);
    struct err *err = enter_locked(peers, address);
    pthread_mutex_unlock(&peers->mutex);
    return err;
}

void peers_leave(struct peers *peers, const char *address)
{
    char text[INET6_ADDRSTRLEN];
    pthread_mutex_lock(&peers->mutex);
    struct row *row = map_get(peers->rows, key_of(text, address));
    row->connections--; /* it is there until the last one leaves */
    peers->connections--;
    pthread_mutex_unlock(&peers->mutex);
}

bool peers_may_log_in(struct peers *peers, const char *address)
{
    if (!peers || !peers->limits.failed_logins)
        return true;
    pthread_mutex_lock(&peers->mutex);
    const struct row *row = row_of(peers, address);
    bool may = row && row->failures.left >= 1;
    pthread_mutex_unlock(&peers->mutex);
    return may;
}

void peers_login_failed(struct peers *peers, const char *address)
{
    if (!peers || !peers->limits.failed_logins)
        return;
    pthread_mutex_lock(&peers->mutex);
    struct row *row = row_of(peers, address);
    if (row)
        row->failures.left -= 1;
    pthread_mutex_unlock(&peers->mutex);
}
