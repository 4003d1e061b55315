/* SPDX-License-Identifier: Apache-2.0 */
/* A pack in the place of a shard's files; see store.h. */
#include "store/posix/pack.h"

#include "store/posix/draft.h"
#include "store/posix/files.h"
#include "store/posix/pending.h"

#include <errno.h>

/* Is shard SHARD packed already, according to min-unpacked-rev? */
static struct err *is_packed(bool *out, struct posix *store, int64_t shard)
{
    revnum unpacked;
    TRY(store_min_unpacked(&unpacked, &store->base));
    *out = shard < unpacked / store->base.layout.shard_size;
    return NULL;
}

static struct err *put_files(struct pending files[2], size_t *count, struct posix *store,
                             const char *folder, struct posix_draft *pack, struct str manifest,
                             mode_t mode)
{
    struct sync_job jobs[2];
    *count = 1;
    TRY(pending_of_draft(&files[0], store, name_printf("%s/pack", folder), pack, mode));
    if (manifest.n > 0) {
        *count = 2;
        TRY(pending_of_bytes(&files[1], store, name_printf("%s/manifest", folder), manifest, mode));
    }
    for (size_t i = 0; i < *count; i++)
        jobs[i] = (struct sync_job){store, files[i].fd, files[i].name};
    TRY(sync_run(jobs, *count));
    for (size_t i = 0; i < *count; i++)
        TRY(pending_name(&files[i], store));
    jobs[0] = (struct sync_job){store, -1, name_printf("%s", folder)};
    jobs[1] = (struct sync_job){store, -1, name_printf("revs")};
    return sync_run(jobs, 2);
}

struct err *posix_put_pack(struct store *base, int64_t shard, struct draft *pack,
                           struct str manifest)
{
    struct posix *store = posix_of(base);
    struct name folder = name_printf("revs/%lld.pack", (long long)shard);
    struct pending files[2] = {{.fd = -1}, {.fd = -1}};
    size_t count = 0;
    bool made, packed;
    TRY(is_packed(&packed, store, shard));
    if (packed)
        return err_make(E_FS_GENERAL, "Shard %lld of '%s' is packed already", (long long)shard,
                        store->base.path);
    TRY(folder_remove(store, folder.s,
                      NULL)); /* of a pack that was interrupted; no reader looks there */
    TRY(folder_make(&made, store, folder.s, name_printf("revs/%lld", (long long)shard).s));
    mode_t mode =
        mode_for_rev(store, (revnum)shard * store->base.layout.shard_size + 1) & ~(mode_t)0222;
    struct err *err = put_files(files, &count, store, folder.s, draft_of(pack), manifest, mode);
    pendings_end(files, count, store, !err);
    if (err)
        err = err_join(err, folder_remove(store, folder.s, NULL));
    return err;
}

struct err *posix_drop_shard(struct store *base, int64_t shard, bool revprops_too)
{
    struct posix *store = posix_of(base);
    bool packed;
    TRY(is_packed(&packed, store, shard));
    if (!packed)
        return err_make(E_FS_GENERAL, "Shard %lld of '%s' is not packed", (long long)shard,
                        store->base.path);
    TRY(folder_remove(store, name_printf("revs/%lld", (long long)shard).s, NULL));
    if (!revprops_too)
        return NULL;
    /* Revision 0 keeps its own file for ever. */
    return folder_remove(store, name_printf("revprops/%lld", (long long)shard).s,
                         shard == 0 ? "0" : NULL);
}
