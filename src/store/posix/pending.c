/* SPDX-License-Identifier: Apache-2.0 */
/* Files written, synced and named as one set; see pending.h. */
#include "store/posix/pending.h"

#include "store/posix/draft.h"
#include "store/posix/files.h"

#include "base/thread.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- unnamed files ---- */

struct err *unnamed_open(int *fd, char **temp, struct posix *store, const char *folder)
{
    char path[PATH_SIZE];
    *temp = NULL;
    if (!atomic_load_explicit(&store->no_tmpfile, memory_order_relaxed)) {
        *fd = store->disk->open(store->disk, folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return NULL;
        if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
            return err_errno(errno, "Can't create a file in '%s'", folder);
        store->no_tmpfile = true;
    }
    TRY(temp_open(fd, path, store));
    *temp = mem_strdup(path);
    return NULL;
}

static struct err *unnamed_link(struct posix *store, int fd, const char *temp, const char *path)
{
    struct disk *disk = store->disk;
    if (temp) {
        if (disk->rename(disk, temp, path) != 0)
            return err_errno(errno, "Can't move '%s' to '%s'", temp, path);
        return NULL;
    }
    int rc = disk->link_fd(disk, fd, path);
    if (rc != 0 && errno == EEXIST) {
        if (disk->unlink(disk, path) != 0)
            return err_errno(errno, "Can't remove file '%s'", path);
        rc = disk->link_fd(disk, fd, path);
    }
    return rc == 0 ? NULL : err_errno(errno, "Can't create file '%s'", path);
}

/* ---- files ---- */

static struct err *fill(struct pending *file, struct posix *store, struct str bytes, mode_t mode)
{
    char path[PATH_SIZE];
    path_of(path, store, file->name.s);
    TRY(write_all(store, file->fd, bytes, 0, path));
    return set_mode(store, file->fd, mode, path);
}

struct err *pending_of_bytes(struct pending *out, struct posix *store, struct name name,
                             struct str bytes, mode_t mode)
{
    char path[PATH_SIZE], folder[PATH_SIZE];
    *out = (struct pending){.name = name, .fd = -1};
    path_of(path, store, name.s);
    path_folder(folder, path);
    TRY(unnamed_open(&out->fd, &out->temp, store, folder));
    return fill(out, store, bytes, mode);
}

struct err *pending_of_bytes_at(struct pending *out, struct posix *store, struct name name,
                                struct name temp, struct str bytes, mode_t mode)
{
    enum { FLAGS = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC };
    char path[PATH_SIZE];
    *out = (struct pending){.name = name};
    path_of(path, store, temp.s);
    out->fd = store->disk->open(store->disk, path, FLAGS, 0666);
    if (out->fd < 0 && errno == EEXIST) {
        if (store->disk->unlink(store->disk, path) != 0)
            return err_errno(errno, "Can't remove file '%s'", path);
        out->fd = store->disk->open(store->disk, path, FLAGS, 0666);
    }
    if (out->fd < 0)
        return err_errno(errno, "Can't create file '%s'", path);
    out->temp = mem_strdup(path);
    return fill(out, store, bytes, mode);
}

struct err *pending_of_draft(struct pending *out, struct posix *store, struct name name,
                             struct posix_draft *draft, mode_t mode)
{
    if (draft->fd < 0)
        return pending_of_bytes(out, store, name, buf_view(&draft->tail), mode);
    *out = (struct pending){.name = name, .fd = draft->fd, .temp = draft->temp, .draft = draft};
    draft->temp = NULL;
    TRY(draft_flush(draft));
    return set_mode(store, draft->fd, mode, name.s);
}

struct err *pending_park(struct pending *file, struct posix *store, struct name temp)
{
    char path[PATH_SIZE];
    path_of(path, store, temp.s);
    TRY(unnamed_link(store, file->fd, file->temp, path));
    free(file->temp);
    file->temp = mem_strdup(path);
    return NULL;
}

struct err *pending_own(struct pending *file)
{
    int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return err_errno(errno, "Can't keep file '%s' open", file->name.s);
    file->fd = fd;
    file->draft = NULL;
    return NULL;
}

void pending_close(struct pending *file, struct posix *store)
{
    if (file->fd >= 0 && !file->draft)
        store->disk->close(store->disk, file->fd);
    file->fd = -1;
    file->draft = NULL;
}

struct err *pending_name(struct pending *file, struct posix *store)
{
    char path[PATH_SIZE];
    if (file->named)
        return NULL;
    path_of(path, store, file->name.s);
    TRY(unnamed_link(store, file->fd, file->temp, path));
    file->named = true;
    return NULL;
}

void pendings_end(struct pending *files, size_t count, struct posix *store, bool stay)
{
    while (count > 0) {
        struct pending *file = &files[--count];
        char path[PATH_SIZE];
        path_of(path, store, file->name.s);
        pending_close(file, store);
        if (!stay && file->named)
            store->disk->unlink(store->disk, path);
        else if (file->temp && !file->named)
            store->disk->unlink(store->disk, file->temp);
        free(file->temp);
        file->temp = NULL;
    }
}

/* ---- sync ---- */

static struct err *sync_one(void *arg)
{
    struct sync_job *job = arg;
    struct disk *disk = job->store->disk;
    char path[PATH_SIZE];
    path_of(path, job->store, job->name.s);
    if (job->fd >= 0 ? disk->fdatasync(disk, job->fd) : disk->sync_folder(disk, path))
        return err_errno(errno, "Can't flush '%s' to disk", path);
    return NULL;
}

/* All of them start to be written before the first is waited for: the journal then commits once for
 * many. */
struct err *sync_run(struct sync_job *jobs, size_t count)
{
    if (count == 0 || !store_flushes(jobs->store))
        return NULL;
    if (count == 1)
        return sync_one(jobs);
    void **args = mem_alloc(count * sizeof(*args));
    for (size_t i = 0; i < count; i++) {
        args[i] = &jobs[i];
        if (jobs[i].fd >= 0)
            sync_file_range(jobs[i].fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    }
    struct err *err = tasks_run(sync_one, args, count);
    free(args);
    return err;
}

struct err *sync_filesystem_open(int *fd, struct posix *store)
{
    *fd = open(store->base.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? NULL : err_errno(errno, "Can't open folder '%s'", store->base.path);
}

struct err *sync_filesystem(struct posix *store, int fd)
{
    if (store_flushes(store) && store->disk->syncfs(store->disk, fd) != 0)
        return err_errno(errno, "Can't flush the filesystem of '%s' to disk", store->base.path);
    return NULL;
}

mode_t mode_for_rev(const struct posix *store, revnum rev)
{
    int64_t shard_size = store->base.layout.shard_size;
    char path[PATH_SIZE];
    struct stat st;
    for (int i = 0; i < 2; i++) {
        revnum like = i == 0 && rev > 0 ? rev - 1 : 0;
        path_of(path, store, name_rev(store, like).s);
        if (stat(path, &st) == 0)
            return st.st_mode & 07777;
        if (shard_size == 0)
            continue;
        path_of(path, store, name_printf("revs/%lld.pack/pack", (long long)(like / shard_size)).s);
        if (stat(path, &st) == 0)
            return st.st_mode & 07777;
    }
    return 0444;
}
