/* SPDX-License-Identifier: Apache-2.0 */
/* From drafts to revisions; see store.h.
 *
 *     write all files of the batch, unnamed ............. sync them        wait 1
 *     name them; write the next `current` beside the old  sync the folders
 *                                                          and that file    wait 2
 *     rename it over `current` .......................... sync db/         wait 3
 *
 * A file gets its name only after its content is safe, since `svnadmin recover` takes the highest
 * revision that it finds for the youngest. Nothing is visible before the rename; nothing is
 * acknowledged before wait 3. */
#include "store/posix_int.h"

#include "base/num.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the head ---- */

static void head_text(struct buf *out, const struct store *store, struct head head)
{
    char ids[2][NUM_BASE36_MAX];
    if (!store->layout.ids_in_current) {
        buf_printf(out, "%lld\n", (long long)head.youngest);
        return;
    }
    size_t node = num_to_base36(ids[0], head.next_node_id),
           copy = num_to_base36(ids[1], head.next_copy_id);
    buf_printf(out, "%lld %.*s %.*s\n", (long long)head.youngest, (int)node, ids[0], (int)copy,
               ids[1]);
}

/* The next revision's number must be FIRST. A store that was just created has no `current`; its
 * first is revision 0. */
static struct err *check_head(struct store *store, revnum first)
{
    struct head head;
    revnum youngest = REV_NONE;
    struct err *err = store_head(&head, store);
    if (!err)
        youngest = head.youngest;
    else if (first != 0 || !err_has(err, ENOENT))
        return err;
    err_free(err);
    if (first > REV_MAX)
        return err_make(E_FS_GENERAL, "Revision %lld is the last one that '%s' can hold",
                        (long long)REV_MAX, store->db);
    if (youngest + 1 == first)
        return NULL;
    return err_make(E_FS_TXN_OUT_OF_DATE, "Revision %lld can't follow revision %lld in '%s'",
                    (long long)first, (long long)youngest, store->db);
}

/* Wait 2 with the folders JOBS (room for one more behind them), then wait 3. *MOVED: the head is
 * the new one, also where wait 3 failed. Our own rename alone tells: what other threads have read
 * meanwhile may be older. */
static struct err *move_head(bool *moved, struct store *store, struct head head,
                             struct sync_job *jobs, size_t count)
{
    AUTO_BUF(text);
    char temp[PATH_SIZE];
    int fd;
    head_text(&text, store, head);
    TRY(file_put_prepare(&fd, temp, store, "current", buf_view(&text), 0));
    jobs[count++] = (struct sync_job){store, fd, name_printf("current")};
    struct err *err = sync_run(jobs, count);
    store->disk->close(store->disk, fd);
    if (err) {
        store->disk->unlink(store->disk, temp);
        return err;
    }
    TRY(file_put_rename(store, temp, "current"));
    *moved = true;
    store->known_head = head.youngest;
    return err_wrap(folder_sync(store, ""), 0,
                    "Revision %lld is in '%s', but may not survive a failure of power",
                    (long long)head.youngest, store->db);
}

/* ---- folders ---- */

struct folders {
    struct name *list;
    size_t count;
};

static void folders_add(struct folders *folders, struct name name)
{
    for (size_t i = 0; i < folders->count; i++)
        if (strcmp(folders->list[i].s, name.s) == 0)
            return;
    folders->list = mem_realloc(folders->list, (folders->count + 1) * sizeof(*folders->list));
    folders->list[folders->count++] = name;
}

/* FOLDER of TOP is there, and will be synced; with TOP where it may be new: also if it is the
 * left-over of a commit that did not come to its sync. */
static struct err *folder_need(struct folders *folders, struct store *store, struct name folder,
                               const char *top, bool first_of_shard)
{
    char path[PATH_SIZE];
    bool made = false;
    folders_add(folders, folder);
    if (strcmp(folder.s, top) == 0)
        return NULL;
    path_of(path, store, folder.s);
    if (access(path, F_OK) != 0)
        TRY(folder_make(&made, store, folder.s, top));
    if (made || first_of_shard)
        folders_add(folders, name_printf("%s", top));
    return NULL;
}

static struct err *folders_of_batch(struct folders *out, struct store *store,
                                    const struct publication *batch, size_t count)
{
    int64_t shard_size = store->layout.shard_size;
    for (size_t i = 0; i < count; i++) {
        revnum rev = batch[i].rev;
        bool first_of_shard = shard_size > 0 && rev % shard_size == 0;
        if (i > 0 && !first_of_shard)
            continue;
        TRY(folder_need(out, store, name_rev_folder(store, rev), "revs", first_of_shard));
        TRY(folder_need(out, store, name_revprops_folder(store, rev), "revprops", first_of_shard));
    }
    return NULL;
}

/* The jobs that sync FOLDERS, and room for EXTRA more. */
static struct sync_job *folder_jobs(struct store *store, const struct folders *folders,
                                    size_t extra)
{
    struct sync_job *jobs = mem_alloc((folders->count + extra) * sizeof(*jobs));
    for (size_t i = 0; i < folders->count; i++)
        jobs[i] = (struct sync_job){store, -1, folders->list[i]};
    return jobs;
}

/* ---- the files of a batch ---- */

struct pieces {
    struct piece *list; /* two for each revision */
    size_t count;
};

/* Where NAMED they get their names as they are written (drafts that are files: at the end). */
static struct err *write_batch(struct pieces *out, struct store *store,
                               const struct publication *batch, size_t count, bool named)
{
    mode_t mode = mode_for_rev(store, batch[0].rev);
    out->list = mem_zalloc(2 * count * sizeof(*out->list));
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct name name = name_rev(store, batch[i].rev);
        struct draft *draft = batch[i].draft;
        assert(batch[i].rev == batch[0].rev + (revnum)i);
        struct piece *piece = &out->list[out->count++];
        if (named && draft->fd < 0)
            TRY(piece_of_bytes_named(piece, store, name, buf_view(&draft->tail), mode));
        else
            TRY(piece_of_draft(piece, store, name, draft, mode));
        piece = &out->list[out->count++];
        name = name_revprops(store, batch[i].rev);
        TRY((named ? piece_of_bytes_named : piece_of_bytes)(piece, store, name, batch[i].revprops,
                                                            mode));
    }
    return NULL;
}

static struct err *name_batch(const struct pieces *pieces, struct store *store)
{
    for (size_t i = 0; i < pieces->count; i++)
        TRY(piece_name(&pieces->list[i], store));
    return NULL;
}

/* Wait 1. */
static struct err *sync_batch(const struct pieces *pieces, struct store *store, int filesystem)
{
    if (filesystem >= 0)
        return sync_filesystem(store, filesystem);
    struct sync_job jobs[SYNC_FILES_MAX];
    for (size_t i = 0; i < pieces->count; i++)
        jobs[i] = (struct sync_job){store, pieces->list[i].fd, pieces->list[i].name};
    return sync_run(jobs, pieces->count);
}

static struct err *publish_pieces(bool *moved, struct pieces *pieces, struct store *store,
                                  const struct publication *batch, size_t count, struct head head)
{
    struct folders folders = {0};
    struct sync_job *jobs = NULL;
    int filesystem = -1;
    bool flush = store_flushes(store);
    struct err *err;
    if (flush && 2 * count > SYNC_FILES_MAX)
        TRY(sync_filesystem_open(&filesystem, store));
    TRY_GOTO(err, folders_of_batch(&folders, store, batch, count), out);
    TRY_GOTO(err, write_batch(pieces, store, batch, count, !flush), out);
    if (flush)
        TRY_GOTO(err, sync_batch(pieces, store, filesystem), out);
    TRY_GOTO(err, name_batch(pieces, store), out);
    jobs = folder_jobs(store, &folders, 1);
    err = move_head(moved, store, head, jobs, folders.count);
out:
    free(jobs);
    free(folders.list);
    if (filesystem >= 0)
        close(filesystem);
    return err;
}

struct err *store_publish(struct store *store, const struct publication *batch, size_t count,
                          struct head next_ids)
{
    struct pieces pieces = {0};
    assert(count > 0 && store->staged.first == REV_NONE);
    TRY(check_head(store, batch[0].rev));
    bodies_forget(store, batch[0].rev);
    next_ids.youngest = batch[count - 1].rev;
    bool visible = false;
    struct err *err = publish_pieces(&visible, &pieces, store, batch, count, next_ids);
    /* Where only the last wait failed the revisions are visible: they stay. */
    pieces_end(pieces.list, pieces.count, store, visible);
    if (!visible)
        bodies_forget(store, batch[0].rev);
    free(pieces.list);
    return err;
}

/* ---- staging ---- */

void staged_close(struct store *store)
{
    struct staged *staged = &store->staged;
    if (staged->files <= SYNC_FILES_MAX)
        for (size_t i = 0; i < staged->files; i++)
            store->disk->close(store->disk, staged->fds[i]);
}

/* Keep a descriptor of PIECE for the sync, while there are few. */
static struct err *staged_add(struct store *store, const struct piece *piece)
{
    struct staged *staged = &store->staged;
    if (staged->files < SYNC_FILES_MAX) {
        int fd = dup(piece->fd);
        if (fd < 0)
            return err_errno(errno, "Can't keep file '%s' open", piece->name.s);
        staged->fds[staged->files] = fd;
    } else if (staged->files == SYNC_FILES_MAX) {
        staged_close(store);
    }
    staged->files++;
    return NULL;
}

static struct err *stage_pieces(struct pieces *pieces, struct store *store,
                                const struct publication *batch, size_t count)
{
    struct folders folders = {store->staged.folders, store->staged.folder_count};
    struct err *err = folders_of_batch(&folders, store, batch, count);
    store->staged.folders = folders.list;
    store->staged.folder_count = folders.count;
    TRY(err);
    TRY(write_batch(pieces, store, batch, count, true));
    TRY(name_batch(pieces, store));
    for (size_t i = 0; store_flushes(store) && i < pieces->count; i++)
        TRY(staged_add(store, &pieces->list[i]));
    return NULL;
}

struct err *store_stage(struct store *store, const struct publication *batch, size_t count)
{
    struct staged *staged = &store->staged;
    struct pieces pieces = {0};
    assert(count > 0 && (staged->first == REV_NONE || batch[0].rev == staged->last + 1));
    if (staged->first == REV_NONE)
        TRY(check_head(store, batch[0].rev));
    if (store->sync_fd < 0)
        TRY(sync_filesystem_open(&store->sync_fd, store));
    bodies_forget(store, batch[0].rev);
    struct err *err = stage_pieces(&pieces, store, batch, count);
    pieces_end(pieces.list, pieces.count, store, !err);
    free(pieces.list);
    TRY(err);
    if (staged->first == REV_NONE)
        staged->first = batch[0].rev;
    staged->last = batch[count - 1].rev;
    store->staged_last = staged->last;
    return NULL;
}

/* All is named already: waits 1 and 2 are one. */
static struct err *sync_staged(struct store *store, struct head head)
{
    struct staged *staged = &store->staged;
    struct folders folders = {staged->folders, staged->folder_count};
    struct sync_job *jobs = folder_jobs(store, &folders, SYNC_FILES_MAX + 1), last;
    size_t count = folders.count;
    struct err *err;
    if (staged->files > SYNC_FILES_MAX) {
        err = sync_filesystem(store, store->sync_fd);
        if (!err)
            err = move_head(&staged->visible, store, head, &last, 0);
    } else {
        for (size_t i = 0; i < staged->files; i++)
            jobs[count++] = (struct sync_job){store, staged->fds[i], name_printf("revs")};
        err = move_head(&staged->visible, store, head, jobs, count);
    }
    free(jobs);
    return err;
}

static void staged_end(struct store *store)
{
    struct staged *staged = &store->staged;
    staged_close(store);
    free(staged->folders);
    close(store->sync_fd);
    store->sync_fd = -1;
    store->staged_last = REV_NONE;
    *staged = (struct staged){.first = REV_NONE, .last = REV_NONE};
}

struct err *store_publish_staged(struct store *store, struct head head)
{
    struct staged *staged = &store->staged;
    if (staged->first == REV_NONE)
        return NULL;
    assert(head.youngest == staged->last);
    TRY(check_head(store, staged->first));
    TRY(sync_staged(store, head));
    staged_end(store);
    return NULL;
}

static void staged_unlink(struct store *store, struct name name)
{
    char path[PATH_SIZE];
    path_of(path, store, name.s);
    store->disk->unlink(store->disk, path);
}

void store_unstage(struct store *store)
{
    struct staged *staged = &store->staged;
    if (staged->first == REV_NONE)
        return;
    bodies_forget(store, staged->first);
    for (revnum rev = staged->last; rev >= staged->first && !staged->visible; rev--) {
        staged_unlink(store, name_rev(store, rev));
        staged_unlink(store, name_revprops(store, rev));
    }
    staged_end(store);
}
