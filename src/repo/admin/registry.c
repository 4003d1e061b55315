/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/admin/registry.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    struct entry *next;
    struct repo *repo;
    unsigned users;
    bool stale; /* something else is at its path now, or its settings are others */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;

static bool is_current(const struct entry *entry)
{
    enum store_look seen;
    struct err *err = store_look(&seen, entry->repo->fs->store);
    const bool current = !err && seen == STORE_SAME;
    err_free(err); /* whoever opens it anew will meet it */
    return current;
}

static struct entry *find_current(const char *path)
{
    for (struct entry *entry = entries; entry; entry = entry->next) {
        if (entry->stale || strcmp(entry->repo->path, path) != 0)
            continue;
        if (is_current(entry))
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
    struct entry *entry = find_current(path);
    sweep(false);
    if (!entry) {
        struct repo *repo;
        TRY(repo_open(&repo, path, NULL));
        entry = mem_zalloc(sizeof *entry);
        entry->repo = repo;
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
