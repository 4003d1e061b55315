/* SPDX-License-Identifier: Apache-2.0 */
/* What writers left that were killed; see sweep.h.
 *
 * Revisions above the head: whoever writes places at most one there (publish.c), but older versions
 * placed more, and a power cut may. The numbers next to the head are looked at each time; the first
 * time in a process all that is in their folders, and in those of the shards behind them. Nothing
 * is ever removed that the head, read under the lease, covers; where it cannot be read nothing is.
 *
 * Temporary files, all in db/: "varve-<what>-<revision>.tmp" were written under the lease that we
 * have now; "varve-<process>-<number>.tmp" are locked by their maker as long as that lives. */
#include "store/posix/sweep.h"

#include "store/posix/body.h"
#include "store/posix/files.h"

#include "base/num.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static struct err *remove_file(struct posix *store, const char *path)
{
    if (store->disk->unlink(store->disk, path) == 0 || errno == ENOENT)
        return NULL;
    return err_errno(errno, "Can't remove '%s', which a writer that was killed left", path);
}

static bool exists(const struct posix *store, struct name name)
{
    char path[PATH_SIZE];
    path_of(path, store, name.s);
    return access(path, F_OK) == 0;
}

/* ---- revisions ---- */

static bool is_number(struct str entry)
{
    int64_t number;
    return num_i64(&number, entry) && number >= 0;
}

static int compare_descending(const void *a, const void *b)
{
    revnum x = *(const revnum *)a, y = *(const revnum *)b;
    return (x < y) - (x > y);
}

/* Files of FOLDER above HEAD, the highest first: a crash must not leave a gap, behind which nobody
 * would look. */
static struct err *sweep_folder(struct posix *store, struct name folder, revnum head)
{
    AUTO_ARENA(arena);
    struct str *entries;
    size_t count, n = 0;
    TRY(folder_list(&entries, &count, store, folder.s, is_number, arena));
    revnum *revs = arena_array(arena, count, sizeof(*revs));
    for (size_t i = 0; i < count; i++)
        if (num_i64(&revs[n], entries[i]) && revs[n] > head)
            n++;
    qsort(revs, n, sizeof(*revs), compare_descending);
    for (size_t i = 0; i < n; i++) {
        char path[PATH_SIZE];
        struct stat st;
        path_of(path, store, name_printf("%s/%lld", folder.s, (long long)revs[i]).s);
        if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
            TRY(remove_file(store, path));
    }
    return NULL;
}

/* The folder that holds the revision behind HEAD, and those of shards behind that one. */
static struct err *sweep_revisions(struct posix *store, revnum head)
{
    const int64_t shard_size = store->base.layout.shard_size;
    revnum rev = head + 1;
    if (shard_size == 0) {
        TRY(sweep_folder(store, name_rev_folder(store, rev), head));
        return sweep_folder(store, name_revprops_folder(store, rev), head);
    }
    while (exists(store, name_rev_folder(store, rev)) ||
           exists(store, name_revprops_folder(store, rev)))
        rev += shard_size;
    for (; rev > head; rev -= shard_size) {
        TRY(sweep_folder(store, name_rev_folder(store, rev), head));
        TRY(sweep_folder(store, name_revprops_folder(store, rev), head));
    }
    return NULL;
}

/* ---- temporary files ---- */

static bool is_temporary(struct str entry)
{
    return str_starts(entry, S("varve-")) && str_ends(entry, S(".tmp"));
}

static bool is_staged(struct str entry)
{
    return str_starts(entry, S("varve-revs-")) || str_starts(entry, S("varve-revprops-")) ||
           str_starts(entry, S("varve-current-"));
}

/* Where nobody holds its lock its owner is dead, or has not come to lock it: then it sees that it
 * is gone. */
static struct err *sweep_unlocked(struct posix *store, const char *path)
{
    struct err *err = NULL;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL; /* gone, or somebody else's */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        err = remove_file(store, path);
    close(fd);
    return err;
}

static struct err *sweep_temporaries(struct posix *store)
{
    AUTO_ARENA(arena);
    struct str *entries;
    size_t count;
    TRY(folder_list(&entries, &count, store, "", is_temporary, arena));
    for (size_t i = 0; i < count; i++) {
        char path[PATH_SIZE];
        path_of(path, store, name_printf("%.*s", STR(entries[i])).s);
        TRY(is_staged(entries[i]) ? remove_file(store, path) : sweep_unlocked(store, path));
    }
    return NULL;
}

struct err *sweep(struct posix *store)
{
    struct head head;
    struct err *err = store_head(&head, &store->base);
    if (err) { /* a new store, or one whose damage is for others to tell */
        err_free(err);
        return NULL;
    }
    TRY(sweep_temporaries(store));
    if (store->swept && !exists(store, name_rev(store, head.youngest + 1)) &&
        !exists(store, name_revprops(store, head.youngest + 1)))
        return NULL;
    bodies_forget(store, head.youngest + 1);
    TRY(sweep_revisions(store, head.youngest));
    store->swept = true;
    return NULL;
}
