/* SPDX-License-Identifier: Apache-2.0 */
/* revprops.c - reading revision properties through the cache, and setting them. */
#include "fsfs/read/revprops_int.h"
#include "fsfs/read/run.h"
#include <stdlib.h>

/* ---- what a view has made sure of ---- */

enum {
    VIEW_SHARDS = 64,   /* shards whose stamps a view remembers; direct-mapped */
    READ_ATTEMPTS = 10, /* how often a packed or rewritten place is looked at again */
    SET_ATTEMPTS = 10,  /* ... and a change is tried again */
};

struct revprop_view {
    struct fsfs *fs;
    bool asked_unpacked; /* min-unpacked-rev was read for this view */
    struct {
        bool known;
        int64_t shard; /* -1: the place of revision 0, which never moves */
        struct version stamp;
    } seen[VIEW_SHARDS];
    /* The pack read last, for a cache that keeps nothing. */
    bool has_names, has_pack;
    int64_t names_shard;
    struct str *names;
    size_t names_n;
    struct revprop_pack pack;
    revnum pack_from, pack_end; /* the revisions of it that the manifest looks for there */
    struct arena *names_arena, *pack_arena;
};

static void view_free(void *arg)
{
    struct revprop_view *view = arg;
    arena_free(view->names_arena);
    arena_free(view->pack_arena);
}

struct revprop_view *revprop_view_new(struct fsfs *fs, struct arena *arena)
{
    struct revprop_view *view = ARENA_NEW(arena, struct revprop_view);
    view->fs = fs;
    arena_on_free(arena, view_free, view);
    return view;
}

static int64_t shard_of(const struct fsfs *fs, revnum rev)
{
    return rev == 0 ? -1 : fs->shard_size ? rev / fs->shard_size : 0;
}

static void view_forget(struct revprop_view *view)
{
    view->has_names = view->has_pack = false;
}

/* A pack that was interrupted leaves loose files of what it has packed, and who sets properties
 * then sets them in the pack: so a loose file of a whole shard counts only if min-unpacked-rev says
 * so. Once a view, not once a process: other processes pack. */
static struct err *view_ask_unpacked(struct revprop_view *view, revnum rev)
{
    struct fsfs *fs = view->fs;
    if (view->asked_unpacked || fs->format < 6 || fs->shard_size == 0 || rev == 0 ||
        is_in_packed_shard(fs, rev, fs->seen_unpacked) ||
        rev / fs->shard_size >= (fs->seen_youngest + 1) / fs->shard_size)
        return NULL;
    revnum unpacked;
    TRY(fsfs_min_unpacked(&unpacked, fs));
    view->asked_unpacked = true;
    return NULL;
}

struct err *revprop_view_stamp(struct version *out, struct revprop_view *view, revnum rev)
{
    int64_t shard = shard_of(view->fs, rev);
    size_t slot = (size_t)(shard + 1) % VIEW_SHARDS;
    if (!view->seen[slot].known || view->seen[slot].shard != shard) {
        struct record_key key = {.kind = RECORD_REVPROPS, .rev = rev};
        if (view->seen[slot].known) /* SHARD's last stamp, too, may have been put out of its slot:
                                       what was read under that must not be kept under this one */
            view_forget(view);
        TRY(view_ask_unpacked(view, rev));
        TRY(record_place_version(&view->seen[slot].stamp, view->fs->store, key));
        view->seen[slot].known = true;
        view->seen[slot].shard = shard;
    }
    *out = view->seen[slot].stamp;
    return NULL;
}

/* ---- the cached form ---- */

struct stamped {
    struct shared shared;
    struct version stamp;
    struct props *props;
};

static void stamped_free(struct shared *self)
{
    struct stamped *entry = (struct stamped *)self;
    shared_unref(entry->props);
    free(entry);
}

static struct cache_key key_of(const struct fsfs *fs, revnum rev)
{
    return fsfs_cache_key(fs, CACHE_REVPROPS, (uint64_t)rev, 0);
}

/* Takes the reference PROPS. Only what was read under a settled stamp can be recognised as
 * unchanged later. */
static struct stamped *stamped_put(struct fsfs *fs, revnum rev, struct props *props,
                                   struct version stamp)
{
    struct stamped *entry = mem_alloc(sizeof *entry);
    shared_init(&entry->shared, sizeof *entry + props->shared.bytes, stamped_free);
    entry->stamp = stamp;
    entry->props = props;
    if (stamp.settled)
        cache_put(key_of(fs, rev), &entry->shared);
    return entry;
}

/* ---- reading ---- */

static struct err *dump_parse(struct props **out, struct str dump, revnum rev)
{
    struct err *err = props_parse(out, dump);
    return err_wrap(err, 0, "Failed to parse revprops for r%lld.", (long long)rev);
}

static struct err *read_loose(struct props **out, bool *found, struct fsfs *fs, revnum rev)
{
    AUTO_BUF(bytes);
    struct record_key key = {.kind = RECORD_REVPROPS, .rev = rev};
    TRY(record_get(&bytes, found, fs->store, key));
    return *found ? dump_parse(out, buf_view(&bytes), rev) : NULL;
}

static struct err *view_names(struct revprop_view *view, int64_t shard)
{
    if (view->has_names && view->names_shard == shard)
        return NULL;
    arena_free(view->names_arena);
    view->names_arena = arena_new();
    view->has_names = false;
    TRY(manifest_read(&view->names, &view->names_n, view->fs, shard, view->names_arena));
    view->has_names = true;
    view->names_shard = shard;
    return NULL;
}

static bool view_has_pack_of(const struct revprop_view *view, revnum rev)
{
    return view->has_pack && rev >= view->pack_from && rev < view->pack_end;
}

/* The revisions around REV for which the manifest names the file NAME too. Of others that are in it
 * nothing is taken: whether a revision can be read does not depend on which was read before. */
static void view_pack_span(struct revprop_view *view, revnum rev, struct str name)
{
    const revnum first = shard_first(view->fs, view->names_shard);
    const revnum names_end = first + (revnum)view->names_n;
    const revnum end = view->pack.first + (revnum)view->pack.count;
    revnum *from = &view->pack_from, *to = &view->pack_end;
    for (*from = rev; *from > first && *from > view->pack.first; --*from)
        if (!str_eq(view->names[*from - 1 - first], name))
            break;
    for (*to = rev + 1; *to < names_end && *to < end; ++*to)
        if (!str_eq(view->names[*to - first], name))
            break;
}

/* Everything in a pack that was read for one revision is soon asked for: offer it all to the cache.
 */
static void pack_offer(struct revprop_view *view, struct version stamp)
{
    if (!stamp.settled)
        return;
    for (revnum rev = view->pack_from; rev < view->pack_end; rev++) {
        struct props *props;
        struct err *err = props_parse(&props, view->pack.values[rev - view->pack.first]);
        if (err) /* its reader will meet it */
            err_free(err);
        else
            shared_unref(stamped_put(view->fs, rev, props, stamp));
    }
}

/* Have the pack that holds REV in the view; *FOUND false where the file was replaced meanwhile. */
static struct err *view_pack(bool *found, struct revprop_view *view, revnum rev,
                             struct version stamp)
{
    int64_t shard = rev / view->fs->shard_size;
    TRY(view_names(view, shard));
    struct str name = view->names[rev - shard_first(view->fs, shard)];
    arena_free(view->pack_arena);
    view->pack_arena = arena_new();
    view->has_pack = false;
    TRY(pack_read(&view->pack, found, view->fs, shard, name, rev, view->pack_arena));
    view->has_pack = *found;
    if (*found) {
        view_pack_span(view, rev, name);
        pack_offer(view, stamp);
    }
    return NULL;
}

static struct err *read_packed(struct props **out, bool *found, struct revprop_view *view,
                               revnum rev, struct version stamp)
{
    *found = view_has_pack_of(view, rev);
    if (!*found)
        TRY(view_pack(found, view, rev, stamp));
    if (!*found) {
        view_forget(view);
        return NULL;
    }
    struct err *err = dump_parse(out, view->pack.values[rev - view->pack.first], rev);
    return err_blame(err, E_FS_CORRUPT, "Revprop pack file for r%lld is corrupt", (long long)rev);
}

/* Where the revision is may change while we look: a pack takes its place, a rewrite splits the
 * pack. */
static struct err *read_props(struct props **out, struct revprop_view *view, revnum rev,
                              struct version stamp)
{
    struct fsfs *fs = view->fs;
    bool packed = is_in_packed_shard(fs, rev, fs->seen_unpacked), found;
    for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        if (packed)
            TRY(read_packed(out, &found, view, rev, stamp));
        else
            TRY(read_loose(out, &found, fs, rev));
        if (found)
            return NULL;
        revnum min_unpacked;
        TRY(fsfs_min_unpacked(&min_unpacked, fs));
        bool packed_now = is_in_packed_shard(fs, rev, min_unpacked);
        if (!packed && !packed_now)
            return err_make(E_FS_NO_SUCH_REVISION, "No such packed revision %lld", (long long)rev);
        packed = packed_now;
    }
    return err_make(E_FS_PACKED_REVPROP_READ_FAILURE, "Failed to read revprop pack file for r%lld",
                    (long long)rev);
}

struct err *revprops_read(struct props **out, struct revprop_view *view, revnum rev)
{
    TRY(view_ask_unpacked(view, rev));
    return read_props(out, view, rev, (struct version){.settled = false});
}

struct err *revprops_get(const struct props **out, struct fsfs *fs, revnum rev,
                         struct revprop_view *view, struct arena *arena)
{
    TRY(fsfs_check_revision(fs, rev));
    if (!view)
        view = revprop_view_new(fs, arena);
    struct version stamp;
    TRY(revprop_view_stamp(&stamp, view, rev));
    struct stamped *entry = cache_get(key_of(fs, rev), arena);
    if (!entry || !version_equal(&entry->stamp, &stamp)) {
        struct props *props;
        TRY(read_props(&props, view, rev, stamp));
        entry = stamped_put(fs, rev, props, stamp);
        arena_keep(arena, &entry->shared);
    }
    *out = entry->props;
    return NULL;
}

static bool is_at_hand(struct fsfs *fs, revnum rev)
{
    AUTO_ARENA(scratch);
    return cache_peek(key_of(fs, rev), scratch);
}

/* The file of REV in its packed shard, unless it is the one that was asked for last (LAST). */
static void prefetch_packed(struct revprop_view *view, revnum rev, struct str *last)
{
    struct fsfs *fs = view->fs;
    const int64_t shard = rev / fs->shard_size;
    if (!view->has_names || view->names_shard != shard)
        *last = (struct str){0}; /* it is the view's */
    struct err *err = view_names(view, shard);
    if (err) { /* the reader will meet it */
        err_free(err);
        return;
    }
    const struct str name = view->names[rev - shard_first(fs, shard)];
    if (str_eq(name, *last))
        return;
    *last = name;
    if (!is_at_hand(fs, rev))
        record_prefetch(fs->store, (struct record_key){RECORD_REVPROP_PACK, shard, name},
                        AHEAD_RECORD);
}

/* Of a packed shard of which most is wanted, from REV to before END, all is asked for; then *NEXT
 * is the revision behind it. */
static bool prefetch_shard(revnum *next, struct fsfs *fs, revnum rev, revnum end, revnum unpacked)
{
    if (!is_in_packed_shard(fs, rev, unpacked))
        return false;
    const int64_t shard = rev / fs->shard_size;
    const revnum shard_end = (shard + 1) * fs->shard_size;
    if ((shard_end < end ? shard_end : end) - rev <= fs->shard_size / 2)
        return false;
    record_prefetch(fs->store, (struct record_key){RECORD_REVPROP_MANIFEST, shard, {0}},
                    AHEAD_PLACE);
    *next = shard_end;
    return true;
}

/* In ascending order, which is that of the disk: a pack writes its files one after the other. */
void revprops_prefetch(struct revprop_view *view, revnum first, int count)
{
    struct fsfs *fs = view->fs;
    struct str last = {0};
    revnum unpacked;
    struct err *err = fsfs_min_unpacked(&unpacked, fs);
    if (err) { /* the reader will meet it */
        err_free(err);
        return;
    }
    const revnum end = first + count;
    for (revnum rev = first < 0 ? 0 : first, next; rev < end; rev = next) {
        next = rev + 1;
        if (prefetch_shard(&next, fs, rev, end, unpacked))
            continue;
        if (is_in_packed_shard(fs, rev, unpacked))
            prefetch_packed(view, rev, &last);
        else if (!is_at_hand(fs, rev))
            record_prefetch(fs->store, (struct record_key){.kind = RECORD_REVPROPS, .rev = rev},
                            AHEAD_RECORD);
    }
}

/* ---- setting ---- */

/* Where they are still as they were when they had the version WAS (NULL: in any case); *DONE says
 * so. The caller holds LEASE_WRITE. */
static struct err *write_props(bool *done, struct fsfs *fs, revnum rev, const struct version *was,
                               const struct prop *list, size_t n)
{
    const struct record_key key = {.kind = RECORD_REVPROPS, .rev = rev};
    AUTO_BUF(dump);
    hashdump_format(&dump, list, n, S("END"));
    if (dump.n > fs->limits.list)
        return err_make(E_REPOS_BAD_ARGS,
                        "The property list of revision %lld is larger than %zu bytes",
                        (long long)rev, fs->limits.list);
    revnum min_unpacked;
    TRY(fsfs_min_unpacked(&min_unpacked, fs));
    struct err *err;
    *done = true;
    if (is_in_packed_shard(fs, rev, min_unpacked))
        err = packed_write(fs, rev, buf_view(&dump));
    else if (was)
        err = record_cas(done, fs->store, key, was, buf_view(&dump));
    else
        err = record_put(fs->store, key, buf_view(&dump));
    cache_remove(key_of(fs, rev));
    run_forget_revprops(fs, rev);
    return err;
}

static bool is_expected(const struct str *now, const struct str *expected)
{
    return now && expected ? str_eq(*now, *expected) : now == expected;
}

/* *DONE is false where somebody else, who heeds no lease, was faster. */
static struct err *set_once(bool *done, struct fsfs *fs, revnum rev, struct str name,
                            const struct str *value, const struct str *const *expected)
{
    AUTO_ARENA(scratch);
    struct version was;
    struct props *props;
    TRY(record_version(&was, fs->store, (struct record_key){.kind = RECORD_REVPROPS, .rev = rev}));
    /* Read, not taken from the cache: the lease is held, what is there now is what counts. */
    struct revprop_view *view = revprop_view_new(fs, scratch);
    TRY(revprops_read(&props, view, rev));
    arena_keep(scratch, &props->shared);
    if (expected && !is_expected(props_get(props, name), *expected))
        return err_make(E_FS_PROP_BASEVALUE_MISMATCH,
                        "revprop '%.*s' has unexpected value in filesystem", STR(name));
    struct proplist list;
    proplist_init(&list, props, scratch);
    proplist_set(&list, name, value);
    return write_props(done, fs, rev, &was, list.list, list.n);
}

static struct err *set_one(struct fsfs *fs, revnum rev, struct str name, const struct str *value,
                           const struct str *const *expected)
{
    TRY(fsfs_check_revision(fs, rev));
    for (int attempt = 0; attempt < SET_ATTEMPTS; attempt++) {
        bool done;
        TRY(set_once(&done, fs, rev, name, value, expected));
        if (done)
            return NULL;
    }
    return err_make(E_FS_GENERAL, "The properties of revision %lld change all the time",
                    (long long)rev);
}

struct err *revprop_set(struct fsfs *fs, revnum rev, struct str name, const struct str *value,
                        const struct str *const *expected)
{
    TRY(lease_take(fs->store, LEASE_WRITE));
    struct err *err = set_one(fs, rev, name, value, expected);
    lease_drop(fs->store, LEASE_WRITE);
    return err;
}

struct err *revprops_replace(struct fsfs *fs, revnum rev, const struct prop *list, size_t n)
{
    bool done;
    TRY(lease_take(fs->store, LEASE_WRITE));
    struct err *err = fsfs_check_revision(fs, rev);
    if (!err)
        err = write_props(&done, fs, rev, NULL, list, n);
    lease_drop(fs->store, LEASE_WRITE);
    return err;
}
