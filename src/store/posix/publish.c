/* SPDX-License-Identifier: Apache-2.0 */
/* From drafts to revisions; see store.h.
 *
 *     write all files of the batch, and each `current` ....... sync them        wait 1
 *     for each revision, in order: name its properties
 *     and its file; of the last one ........................... sync the folders wait 2
 *         rename its `current` over the one before
 *     after the last one ...................................... sync db/         wait 3
 *
 * `svnadmin recover` takes the highest revision that it finds for the youngest, and a commit by
 * other tools the first free number, whatever is above it. So a file gets its name only after its
 * content is safe, and never more than one revision stands above `current`. Nothing is acknowledged
 * before wait 3.
 *
 * A process that is killed leaves the revisions that it has placed, whole, at most one above the
 * head, and temporary files; the next writer removes both (sweep.c). So does a power cut where the
 * filesystem makes changes of names durable in their order (ext4, xfs, tmpfs by having nothing):
 * what is left is a state that there was. Where it does not, a cut before wait 2 may leave a
 * `current` of a batch of several revisions without their files, or, between waits 2 and 3, the
 * files of the whole batch above the old `current`: the price of three waits for the batch. A batch
 * of one, which is what a commit is unless others come at the same time, has no such moment. */
#include "store/posix/publish.h"

#include "base/vec.h"
#include "store/posix/body.h"
#include "store/posix/draft.h"
#include "store/posix/files.h"
#include "store/posix/pending.h"

#include "base/num.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the head ---- */

static void head_text(struct buf *out, const struct posix *store, struct head head)
{
    char ids[2][NUM_BASE36_MAX];
    if (!store->base.layout.ids_in_current) {
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
static struct err *check_head(struct posix *store, revnum first)
{
    struct head head;
    revnum youngest = REV_NONE;
    struct err *err = store_head(&head, &store->base);
    if (!err)
        youngest = head.youngest;
    else if (first != 0 || !err_has(err, ENOENT))
        return err;
    err_free(err);
    if (first > REV_MAX)
        return err_make(E_FS_GENERAL, "Revision %lld is the last one that a repository can hold",
                        (long long)REV_MAX);
    if (youngest + 1 == first)
        return NULL;
    return err_make(E_FS_TXN_OUT_OF_DATE, "Revision %lld can't follow revision %lld",
                    (long long)first, (long long)youngest);
}

/* ---- folders ---- */

enum { IN_DOUBT_MAX = 512 }; /* revisions; no batch is larger */

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
static struct err *folder_need(struct folders *folders, struct posix *store, struct name folder,
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

/* Who made the last revisions may have been killed, or failed, before syncing their folders: with
 * the next head they must be there, too. */
static void folders_in_doubt(struct folders *folders, struct posix *store, revnum first)
{
    revnum rev = first > IN_DOUBT_MAX ? first - IN_DOUBT_MAX : 0;
    folders_add(folders, name_printf("revs"));
    folders_add(folders, name_printf("revprops"));
    for (; rev < first && store->base.layout.shard_size > 0; rev += store->base.layout.shard_size) {
        struct name names[] = {name_rev_folder(store, rev), name_revprops_folder(store, rev)};
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
            char path[PATH_SIZE];
            path_of(path, store, names[i].s);
            if (access(path, F_OK) == 0) /* else packed */
                folders_add(folders, names[i]);
        }
    }
}

static struct err *folders_of_batch(struct folders *out, struct posix *store, revnum first,
                                    size_t count)
{
    int64_t shard_size = store->base.layout.shard_size;
    if (store->durable != first - 1)
        folders_in_doubt(out, store, first);
    for (size_t i = 0; i < count; i++) {
        revnum rev = first + (revnum)i;
        bool first_of_shard = shard_size > 0 && rev % shard_size == 0;
        if (i > 0 && !first_of_shard)
            continue;
        TRY(folder_need(out, store, name_rev_folder(store, rev), "revs", first_of_shard));
        TRY(folder_need(out, store, name_revprops_folder(store, rev), "revprops", first_of_shard));
    }
    return NULL;
}

static struct err *folders_sync(struct posix *store, const struct folders *folders)
{
    struct sync_job *jobs = mem_alloc(folders->count * sizeof(*jobs));
    for (size_t i = 0; i < folders->count; i++)
        jobs[i] = (struct sync_job){store, -1, folders->list[i]};
    struct err *err = sync_run(jobs, folders->count);
    free(jobs);
    return err;
}

/* ---- the files of a batch ---- */

/* Of each revision, in the order in which they get their names. `current` replaces what is there,
 * which only a file with a name can. */
enum { PENDING_REVPROPS, PENDING_REV, PENDING_HEAD, PENDINGS };

struct pendings {
    struct pending *list;
    size_t count;
};

static mode_t mode_of_head(const struct posix *store)
{
    char path[PATH_SIZE];
    struct stat st;
    path_of(path, store, "current");
    if (stat(path, &st) == 0)
        return st.st_mode & 07777;
    path_of(path, store, "write-lock"); /* made as `current` will be */
    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0644;
}

static struct err *write_head(struct pending *out, struct posix *store,
                              const struct publication *one, mode_t mode)
{
    AUTO_BUF(text);
    head_text(&text, store, (struct head){one->rev, one->next_node_id, one->next_copy_id});
    return pending_of_bytes_at(out, store, name_printf("current"), name_staged("current", one->rev),
                               buf_view(&text), mode);
}

static struct err *write_batch(struct pendings *out, struct posix *store,
                               const struct publication *batch, size_t count)
{
    mode_t mode = mode_for_rev(store, batch[0].rev), head_mode = mode_of_head(store);
    out->list = mem_zalloc(PENDINGS * count * sizeof(*out->list));
    for (size_t i = 0; i < count; i++) {
        struct pending *files = &out->list[PENDINGS * i];
        assert(batch[i].rev == batch[0].rev + (revnum)i);
        out->count++;
        TRY(pending_of_bytes(&files[PENDING_REVPROPS], store, name_revprops(store, batch[i].rev),
                             batch[i].revprops, mode));
        out->count++;
        TRY(pending_of_draft(&files[PENDING_REV], store, name_rev(store, batch[i].rev),
                             draft_of(batch[i].draft), mode));
        out->count++;
        TRY(write_head(&files[PENDING_HEAD], store, &batch[i], head_mode));
    }
    return NULL;
}

/* Wait 1. FILESYSTEM is a descriptor there where the files are too many to be synced one by one. */
static struct err *sync_batch(const struct pendings *files, struct posix *store, int filesystem)
{
    if (files->count > SYNC_FILES_MAX)
        return sync_filesystem(store, filesystem);
    struct sync_job jobs[SYNC_FILES_MAX];
    for (size_t i = 0; i < files->count; i++)
        jobs[i] = (struct sync_job){store, files->list[i].fd, files->list[i].name};
    return sync_run(jobs, files->count);
}

/* ---- moving the head ---- */

/* Give revision REV its names, and make it the head; wait for FOLDERS (NULL: no wait) in between,
 * and say in *UNSAFE whether that failed. On an error nothing of REV is left. */
static struct err *place_one(bool *unsafe, struct pending files[PENDINGS], struct posix *store,
                             revnum rev, const struct folders *folders)
{
    struct err *err;
    TRY_GOTO(err, pending_name(&files[PENDING_REVPROPS], store), out);
    TRY_GOTO(err, pending_name(&files[PENDING_REV], store), out);
    if (folders && (err = folders_sync(store, folders))) {
        *unsafe = true;
        goto out;
    }
    TRY_GOTO(err, pending_name(&files[PENDING_HEAD], store), out);
    store->known_head = rev;
out:
    pendings_end(files, PENDINGS, store, !err);
    return err;
}

/* A wait failed, for the reason ERR (NULL: none did). What failed to be written once is not asked
 * for again: the second answer could be that all is well. */
static struct err *not_durable(struct err *err, revnum head)
{
    return err_wrap(err, 0, "Revision %lld is there, but may not survive a failure of power",
                    (long long)head);
}

/* Wait 3; and wait 2 where placing stopped before it (FOLDERS). *DURABLE is HEAD then. */
static struct err *make_durable(revnum *durable, struct posix *store, revnum head,
                                const struct folders *folders)
{
    struct err *err = folders ? folders_sync(store, folders) : NULL;
    if (!err)
        err = folder_sync(store, "");
    if (err)
        return not_durable(err, head);
    *durable = store->durable = head;
    return NULL;
}

/* The revisions from FIRST on, whose contents are safe. What was placed before a failure is made
 * durable as well as can be: others may have seen it. */
static struct err *place_batch(revnum *durable, struct pendings *files, struct posix *store,
                               revnum first, const struct folders *folders)
{
    size_t count = files->count / PENDINGS, done = 0;
    bool unsafe = false;
    struct err *err = NULL;
    while (done < count && !err) {
        err = place_one(&unsafe, &files->list[PENDINGS * done], store, first + (revnum)done,
                        done + 1 == count ? folders : NULL);
        done += !err;
    }
    for (size_t i = done + !!err; i < count; i++)
        pendings_end(&files->list[PENDINGS * i], PENDINGS, store, false);
    files->count = 0;
    if (done == 0)
        return err;
    revnum head = first + (revnum)done - 1;
    if (unsafe)
        return not_durable(err, head);
    return err_join(err, make_durable(durable, store, head, done < count ? folders : NULL));
}

static struct err *publish_files(revnum *durable, struct pendings *files, struct posix *store,
                                 const struct publication *batch, size_t count)
{
    struct folders folders = {0};
    int filesystem = -1;
    struct err *err;
    if (PENDINGS * count > SYNC_FILES_MAX)
        TRY(sync_filesystem_open(&filesystem, store));
    TRY_GOTO(err, folders_of_batch(&folders, store, batch[0].rev, count), out);
    TRY_GOTO(err, write_batch(files, store, batch, count), out);
    TRY_GOTO(err, sync_batch(files, store, filesystem), out);
    err = place_batch(durable, files, store, batch[0].rev, &folders);
out:
    free(folders.list);
    if (filesystem >= 0)
        close(filesystem);
    return err;
}

/* ---- staging ---- */

void staged_end(struct posix *store)
{
    struct staged *staged = &store->staged;
    pendings_end(staged->list, staged->n, store, false);
    free(staged->list);
    if (store->sync_fd >= 0)
        close(store->sync_fd);
    store->sync_fd = -1;
    store->staged_last = REV_NONE;
    *staged = (struct staged){.first = REV_NONE, .last = REV_NONE};
}

static struct err *staged_begin(struct posix *store, revnum first)
{
    TRY(check_head(store, first));
    TRY(sync_filesystem_open(&store->sync_fd, store));
    store->staged.first = first;
    store->staged.last = first - 1;
    store->staged.mode = mode_for_rev(store, first);
    store->staged.head_mode = mode_of_head(store);
    return NULL;
}

static struct err *stage_files(struct pending files[PENDINGS], struct posix *store,
                               const struct publication *one)
{
    revnum rev = one->rev;
    mode_t mode = store->staged.mode;
    struct name temp = name_staged("revs", rev);
    struct pending *body = &files[PENDING_REV];
    TRY(pending_of_bytes_at(&files[PENDING_REVPROPS], store, name_revprops(store, rev),
                            name_staged("revprops", rev), one->revprops, mode));
    struct posix_draft *draft = draft_of(one->draft);
    if (draft->fd < 0) {
        TRY(pending_of_bytes_at(body, store, name_rev(store, rev), temp, buf_view(&draft->tail),
                                mode));
    } else {
        TRY(pending_of_draft(body, store, name_rev(store, rev), draft, mode));
        TRY(pending_park(body, store, temp));
        TRY(pending_own(body));
    }
    return write_head(&files[PENDING_HEAD], store, one, store->staged.head_mode);
}

/* Descriptors are kept for the sync while there are few. */
static void staged_add(struct posix *store, const struct pending files[PENDINGS])
{
    struct staged *staged = &store->staged;
    const size_t first_open = staged->n > SYNC_FILES_MAX ? staged->n : 0;
    for (size_t i = 0; i < PENDINGS; i++)
        *VEC_ADD(staged) = files[i];
    for (size_t i = first_open; staged->n > SYNC_FILES_MAX && i < staged->n; i++)
        pending_close(&staged->list[i], store);
}

struct err *posix_stage(struct store *base, const struct publication *one)
{
    struct posix *store = posix_of(base);
    struct staged *staged = &store->staged;
    struct pending files[PENDINGS] = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
    assert(staged->first == REV_NONE || one->rev == staged->last + 1);
    if (staged->first == REV_NONE)
        TRY(staged_begin(store, one->rev));
    bodies_forget(store, one->rev);
    struct err *err = stage_files(files, store, one);
    if (err) {
        pendings_end(files, PENDINGS, store, false);
        return err;
    }
    staged_add(store, files);
    store->staged_last = staged->last = one->rev;
    return NULL;
}

static struct err *publish_staged(revnum *durable, struct posix *store)
{
    struct staged *staged = &store->staged;
    struct pendings files = {staged->list, staged->n};
    struct folders folders = {0};
    revnum first = staged->first;
    struct err *err;
    if (files.count == 0)
        return NULL;
    TRY_GOTO(err, check_head(store, first), out);
    TRY_GOTO(err, folders_of_batch(&folders, store, first, files.count / PENDINGS), out);
    TRY_GOTO(err, sync_batch(&files, store, store->sync_fd), out);
    staged->n = 0;
    err = place_batch(durable, &files, store, first, &folders);
out:
    free(folders.list);
    staged_end(store);
    if (err)
        bodies_forget(store, first);
    return err;
}

struct err *posix_publish(revnum *durable, struct store *base, const struct publication *batch,
                          size_t count)
{
    struct posix *store = posix_of(base);
    struct pendings files = {0};
    if (count == 0)
        return publish_staged(durable, store);
    assert(store->staged.first == REV_NONE);
    *durable = batch[0].rev - 1;
    TRY(check_head(store, batch[0].rev));
    bodies_forget(store, batch[0].rev);
    struct err *err = publish_files(durable, &files, store, batch, count);
    pendings_end(files.list, files.count, store, false);
    if (err)
        bodies_forget(store, batch[0].rev);
    free(files.list);
    return err;
}
