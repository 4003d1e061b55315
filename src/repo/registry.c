/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/registry.h"

#include "base/buf.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The files that decide how a repository is opened; a missing one is all zero. */
static const char *const seen_names[] = {"format", "uuid", "fsfs.conf"};
enum { SEEN_COUNT = sizeof seen_names / sizeof *seen_names };

struct entry {
    struct entry *next;
    struct repo *repo;
    unsigned users;
    bool stale;                   /* something else is at its path now */
    struct stat seen[SEEN_COUNT]; /* what was at its path when it was opened */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;

/* By the time that nobody can set: a copy that was put back may have the old number and date. */
static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void look(struct stat seen[SEEN_COUNT], const char *path)
{
    AUTO_ARENA(arena);
    for (int i = 0; i < SEEN_COUNT; i++)
        if (stat(arena_printf(arena, "%s/db/%s", path, seen_names[i]).p, &seen[i]) != 0)
            seen[i] = (struct stat){0};
}

static bool same_files(const struct stat a[SEEN_COUNT], const struct stat b[SEEN_COUNT])
{
    for (int i = 0; i < SEEN_COUNT; i++)
        if (!same_file(&a[i], &b[i]))
            return false;
    return true;
}

static struct entry *find_current(const char *path, const struct stat seen[SEEN_COUNT])
{
    for (struct entry *entry = entries; entry; entry = entry->next) {
        if (entry->stale || strcmp(entry->repo->path, path) != 0)
            continue;
        if (same_files(entry->seen, seen))
            return entry;
        entry->stale = true;
    }
    return NULL;
}

/* Close and forget what is stale (ALL: everything) and unused. */
static void sweep(bool all)
{
    for (struct entry **at = &entries; *at;) {
        struct entry *entry = *at;
        if (entry->users || !(entry->stale || all)) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        repo_close(entry->repo);
        free(entry);
    }
}

static struct err *acquire_locked(struct repo **out, const char *path)
{
    struct stat seen[SEEN_COUNT];
    look(seen, path);
    struct entry *entry = find_current(path, seen);
    sweep(false);
    if (!entry) {
        struct repo *repo;
        TRY(repo_open(&repo, path, NULL));
        entry = mem_zalloc(sizeof *entry);
        entry->repo = repo;
        memcpy(entry->seen, seen, sizeof seen);
        entry->next = entries;
        entries = entry;
    }
    entry->users++;
    *out = entry->repo;
    return NULL;
}

struct err *registry_acquire(struct repo **out, const char *path)
{
    pthread_mutex_lock(&mutex);
    struct err *err = acquire_locked(out, path);
    pthread_mutex_unlock(&mutex);
    return err;
}

void registry_release(struct repo *repo)
{
    pthread_mutex_lock(&mutex);
    for (struct entry *entry = entries; entry; entry = entry->next)
        if (entry->repo == repo)
            entry->users--;
    sweep(false);
    pthread_mutex_unlock(&mutex);
}

void registry_close_all(void)
{
    pthread_mutex_lock(&mutex);
    sweep(true);
    pthread_mutex_unlock(&mutex);
}
