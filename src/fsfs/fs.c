/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/fs.h"
#include "base/num.h"
#include "fsfs/txn/commit.h"
#include "store/posix/posix.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>

/* ---- UUIDs ---- */

void uuid_make(char out[37])
{
    uint8_t random[16];
    size_t got = 0;
    while (got < sizeof random) {
        ssize_t n = getrandom(random + got, sizeof random - got, 0);
        if (n > 0)
            got += (size_t)n;
    }
    random[6] = (random[6] & 0x0f) | 0x40; /* version 4: random */
    random[8] = (random[8] & 0x3f) | 0x80; /* variant of RFC 4122 */
    static const size_t group_bytes[] = {4, 2, 2, 2, 6};
    const uint8_t *from = random;
    char *to = out;
    for (size_t i = 0; i < 5; i++) {
        if (i)
            *to++ = '-';
        num_hex(to, from, group_bytes[i]);
        to += 2 * group_bytes[i];
        from += group_bytes[i];
    }
    *to = '\0';
}

bool uuid_is_valid(struct str s)
{
    if (s.n != 36)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        char c = s.p[i];
        bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (is_dash ? c != '-' : !is_hex)
            return false;
    }
    return true;
}

/* ---- opening ---- */

static struct err *record_read(struct buf *out, struct store *store, enum record_kind kind,
                               const char *name)
{
    bool found;
    TRY(record_get(out, &found, store, (struct record_key){.kind = kind, .rev = REV_NONE}));
    if (!found)
        return err_errno(ENOENT, "Can't open file '%s/%s'", store_path(store), name);
    return NULL;
}

static struct err *ends_early(struct store *store, const char *name)
{
    return err_make(E_APR_EOF, "Can't read file '%s/%s': End of file found", store_path(store),
                    name);
}

static struct err *check_fs_type(struct store *store)
{
    AUTO_BUF(text);
    TRY(record_read(&text, store, RECORD_FS_TYPE, "fs-type"));
    struct str type;
    size_t pos = 0;
    if (!str_line(&type, buf_view(&text), &pos))
        return ends_early(store, "fs-type");
    if (str_eq(type, S("fsfs")))
        return NULL;
    if (str_eq(type, S("bdb")) || str_eq(type, S("fsx")))
        return err_make(E_FS_UNKNOWN_FS_TYPE, "Failed to load module for FS type '%.*s'",
                        STR(type));
    return err_make(E_FS_UNKNOWN_FS_TYPE, "Unknown FS type '%.*s'", STR(type));
}

struct store_layout fsfs_store_layout(const struct fsfs_format *format)
{
    return (struct store_layout){
        .shard_size = format->shard_size,
        .ids_in_current = format->format < 3,
        .packs = format->format >= 4,
        .txn_current = format->format >= 3,
        .revprop_packs = format->format >= 6,
        .rows_by_hash = format->format >= 8,
    };
}

static struct err *read_format(struct fsfs *fs)
{
    AUTO_BUF(text);
    AUTO_ARENA(scratch);
    bool found;
    TRY(record_get(&text, &found, fs->store, (struct record_key){.kind = RECORD_FORMAT}));
    struct fsfs_format format = {.format = 1}; /* the first release wrote no file */
    const char *name = arena_printf(scratch, "%s/format", store_path(fs->store)).p;
    if (found)
        TRY(fsfs_format_parse(&format, buf_view(&text), name));
    store_set_layout(fs->store, fsfs_store_layout(&format));
    fs->format = format.format;
    fs->shard_size = format.shard_size;
    fs->logical = format.logical;
    return NULL;
}

enum { UUID_LENGTH = 36 };

/* Whatever a line holds that is not too long is somebody's UUID. */
static struct err *uuid_line(char out[64], size_t *pos, struct str text, struct store *store)
{
    struct str line;
    if (!str_line(&line, text, pos))
        return ends_early(store, "uuid");
    if (line.n > UUID_LENGTH)
        return err_make(E_MALFORMED_FILE, "Can't read length line in file '%s/uuid'",
                        store_path(store));
    memcpy(out, line.p, line.n);
    out[line.n] = '\0';
    return NULL;
}

static struct err *read_uuid(struct fsfs *fs)
{
    AUTO_BUF(text);
    TRY(record_read(&text, fs->store, RECORD_UUID, "uuid"));
    size_t pos = 0;
    TRY(uuid_line(fs->uuid, &pos, buf_view(&text), fs->store));
    if (fs->format >= 7)
        return uuid_line(fs->instance, &pos, buf_view(&text), fs->store);
    memcpy(fs->instance, fs->uuid, sizeof fs->instance);
    return NULL;
}

static struct err *read_config(struct fsfs *fs)
{
    AUTO_BUF(text);
    AUTO_ARENA(scratch);
    bool found = false;
    if (fs->format >= 4) /* a missing file: all defaults */
        TRY(record_get(&text, &found, fs->store, (struct record_key){.kind = RECORD_CONFIG}));
    const char *name = arena_printf(scratch, "%s/fsfs.conf", store_path(fs->store)).p;
    return fsfs_config_parse(&fs->config, buf_view(&text), fs->format, name);
}

static struct err *read_settings(struct fsfs *fs)
{
    TRY(check_fs_type(fs->store));
    TRY(read_format(fs));
    TRY(read_uuid(fs));
    return read_config(fs);
}

/* Nothing is shared between two openings: the same UUID at the same path may be an older copy that
 * was put back. */
void fsfs_renew_cache(struct fsfs *fs)
{
    static atomic_uint count;
    AUTO_BUF(name);
    buf_printf(&name, "%s %s %u", fs->instance, store_path(fs->store), atomic_fetch_add(&count, 1));
    __atomic_store_n(&fs->cache_space, cache_space(buf_view(&name)), __ATOMIC_RELAXED);
}

struct err *fsfs_open(struct fsfs **out, const char *db_path, const struct fsfs_options *options)
{
    struct fsfs *fs = mem_zalloc(sizeof *fs);
    fs->seen_youngest = REV_NONE;
    fs->limits = (struct fsfs_limits){LIST_MAX, NODEREV_MAX, CHANGES_MAX};
    fs->store = options ? options->store : NULL;
    struct err *err = fs->store ? NULL : posix_open(&fs->store, db_path, NULL);
    if (!err)
        err = read_settings(fs);
    if (err) {
        fsfs_close(fs);
        return err;
    }
    if (options && options->no_flush)
        store_set_flush(fs->store, false);
    fsfs_renew_cache(fs);
    *out = fs;
    return NULL;
}

void fsfs_close(struct fsfs *fs)
{
    if (!fs)
        return;
    commit_queue_free(fs->queue);
    store_close(fs->store);
    free(fs);
}

/* ---- bodies, and those that are in the making ---- */

struct preview {
    struct preview *next;
    struct body *body;
};

void fsfs_view(struct fsfs *view, const struct fsfs *fs)
{
    *view = (struct fsfs){
        .store = fs->store,
        .format = fs->format,
        .shard_size = fs->shard_size,
        .logical = fs->logical,
        .config = fs->config,
        .limits = fs->limits,
        .cache_space = __atomic_load_n(&fs->cache_space, __ATOMIC_RELAXED),
        .seen_youngest = fs->seen_youngest,
        .seen_unpacked = fs->seen_unpacked,
    };
    memcpy(view->uuid, fs->uuid, sizeof view->uuid);
    memcpy(view->instance, fs->instance, sizeof view->instance);
}

void fsfs_view_add(struct fsfs *view, revnum rev, struct draft *draft, struct arena *arena)
{
    struct preview *preview = ARENA_NEW(arena, struct preview);
    *preview = (struct preview){view->previews, draft_body(draft, rev, arena)};
    view->previews = preview;
}

struct err *fsfs_body(struct body **out, struct fsfs *fs, revnum rev, struct arena *arena)
{
    for (const struct preview *preview = fs->previews; preview; preview = preview->next) {
        if (preview->body->first_rev == rev) {
            *out = shared_ref(preview->body);
            arena_keep(arena, &(*out)->shared);
            return NULL;
        }
    }
    return store_body(out, fs->store, rev, arena);
}

/* ---- the head and the like ---- */

/* A head that is behind one that was seen before: an older copy was put back in place, and other
 * revisions will follow. */
struct err *fsfs_head(struct head *out, struct fsfs *fs)
{
    revnum seen = fs->seen_youngest;
    TRY(store_head(out, fs->store));
    if (out->youngest < seen) {
        store_forget(fs->store);
        fsfs_renew_cache(fs);
        fs->seen_youngest = out->youngest;
    } else if (out->youngest > fs->seen_youngest) {
        fs->seen_youngest = out->youngest;
    }
    return NULL;
}

struct err *fsfs_youngest(revnum *out, struct fsfs *fs)
{
    struct head head;
    TRY(fsfs_head(&head, fs));
    *out = head.youngest;
    return NULL;
}

struct err *fsfs_min_unpacked(revnum *out, struct fsfs *fs)
{
    TRY(store_min_unpacked(out, fs->store));
    fs->seen_unpacked = *out;
    return NULL;
}

struct err *fsfs_check_revision(struct fsfs *fs, revnum rev)
{
    if (rev < 0)
        return err_make(E_FS_NO_SUCH_REVISION, "Invalid revision number '%lld'", (long long)rev);
    revnum youngest = fs->seen_youngest;
    if (rev > youngest)
        TRY(fsfs_youngest(&youngest, fs));
    if (rev > youngest)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld", (long long)rev);
    return NULL;
}

struct err *fsfs_set_uuid(struct fsfs *fs, const char *uuid)
{
    char made[37], instance[37];
    uuid_make(instance);
    if (!uuid) {
        uuid_make(made);
        uuid = made;
    } else if (!uuid_is_valid(str_of(uuid))) {
        return err_make(E_BAD_UUID, "Malformed UUID '%s'", uuid);
    }
    AUTO_BUF(text);
    buf_printf(&text, "%s\n", uuid);
    if (fs->format >= 7)
        buf_printf(&text, "%s\n", instance);
    TRY(lease_take(fs->store, LEASE_WRITE));
    struct err *err =
        record_put(fs->store, (struct record_key){.kind = RECORD_UUID}, buf_view(&text));
    lease_drop(fs->store, LEASE_WRITE);
    TRY(err);
    memcpy(fs->uuid, uuid, 37);
    memcpy(fs->instance, fs->format >= 7 ? instance : uuid, 37);
    return NULL;
}
