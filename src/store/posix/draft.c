/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts: bodies in the making; see store.h.
 *
 *   +----------- in the file -----------+---- tail, in memory ----+
 *   0                                in_file                     size
 *
 * Small drafts are all tail and never have a file of their own before they are published. */
#include "store/posix/draft.h"

#include "store/posix/files.h"
#include "store/posix/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct err *posix_draft_begin(struct draft **out, struct store *base, struct str name)
{
    struct posix_draft *draft = mem_zalloc(sizeof(*draft));
    draft->base.store = base;
    draft->store = posix_of(base);
    draft->base.name = mem_alloc(name.n + 1);
    memcpy(draft->base.name, name.p ? name.p : "", name.n);
    draft->base.name[name.n] = '\0';
    draft->fd = -1;
    *out = &draft->base;
    return NULL;
}

void posix_draft_drop(struct draft *base)
{
    struct posix_draft *draft = draft_of(base);
    struct disk *disk = draft->store->disk;
    if (draft->fd >= 0)
        disk->close(disk, draft->fd);
    if (draft->temp)
        disk->unlink(disk, draft->temp);
    free(draft->temp);
    free(draft->base.name);
    buf_free(&draft->tail);
    free(draft);
}

static struct err *in_draft(const struct posix_draft *draft, struct err *err)
{
    return err_wrap(err, 0, "Can't write the data of transaction '%s'", draft->base.name);
}

struct err *draft_flush(struct posix_draft *draft)
{
    TRY(write_all(draft->store, draft->fd, buf_view(&draft->tail), draft->in_file,
                  draft->temp ? draft->temp : "revs"));
    draft->in_file += draft->tail.n;
    buf_clear(&draft->tail);
    return NULL;
}

/* From memory to a file beside the revisions, from where it can be named. */
static struct err *spill(struct posix_draft *draft)
{
    char folder[PATH_SIZE];
    path_of(folder, draft->store, "revs");
    if (draft->fd < 0)
        TRY(unnamed_open(&draft->fd, &draft->temp, draft->store, folder));
    return draft_flush(draft);
}

struct err *posix_draft_append(struct draft *base, struct str bytes)
{
    struct posix_draft *draft = draft_of(base);
    const bool is_full = draft->tail.n + bytes.n > DRAFT_MEMORY_MAX;
    const bool is_large = is_full && bytes.n >= DRAFT_MEMORY_MAX; /* no use of copying it */
    struct err *err = is_full ? spill(draft) : NULL;
    if (!err && is_large)
        err = write_all(draft->store, draft->fd, bytes, draft->in_file,
                        draft->temp ? draft->temp : "revs");
    if (err)
        return in_draft(draft, err);
    if (is_large)
        draft->in_file += bytes.n;
    else
        buf_str(&draft->tail, bytes);
    base->size += bytes.n;
    return NULL;
}

static struct err *reread_file(struct posix_draft *draft, uint64_t offset, char *to, size_t n)
{
    struct disk *disk = draft->store->disk;
    while (n > 0) {
        ssize_t got = disk->preadv(disk, draft->fd, &(struct iovec){to, n}, 1, (off_t)offset, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(errno, "Can't read the data of transaction '%s'", draft->base.name);
        if (got == 0)
            return err_make(E_FS_CORRUPT, "The data of transaction '%s' end too early",
                            draft->base.name);
        to += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return NULL;
}

struct err *posix_draft_reread(struct draft *base, uint64_t offset, void *to, size_t n)
{
    struct posix_draft *draft = draft_of(base);
    char *p = to;
    if (offset < draft->in_file) {
        uint64_t left = draft->in_file - offset;
        size_t part = n < left ? n : (size_t)left;
        TRY(reread_file(draft, offset, p, part));
        p += part;
        offset += part;
        n -= part;
    }
    if (n > 0)
        memcpy(p, draft->tail.p + (offset - draft->in_file), n);
    return NULL;
}

struct err *posix_draft_truncate(struct draft *base, uint64_t size)
{
    struct posix_draft *draft = draft_of(base);
    struct disk *disk = draft->store->disk;
    if (size >= draft->in_file) {
        draft->tail.n = (size_t)(size - draft->in_file);
    } else {
        if (disk->ftruncate(disk, draft->fd, (off_t)size) != 0)
            return err_errno(errno, "Can't cut the data of transaction '%s'", draft->base.name);
        draft->in_file = size;
        buf_clear(&draft->tail);
    }
    base->size = size;
    return NULL;
}

/* A hint only: what does not start here is waited for in publish. */
void posix_draft_start_sync(struct draft *base)
{
    struct posix_draft *draft = draft_of(base);
    if (draft->fd >= 0 && store_flushes(draft->store))
        sync_file_range(draft->fd, 0, (off_t)draft->in_file, SYNC_FILE_RANGE_WRITE);
}
