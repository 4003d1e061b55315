/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/read/run.h"
#include "fsfs/read/changes_get.h"
#include "fsfs/read/revprops_int.h"
#include <stdalign.h>
#include <stdlib.h>

/* One block:  [struct run][the lists, each aligned, the youngest first: as most logs go] */
struct run {
    struct shared shared;
    revnum first;
    struct version stamp;          /* of properties: what they were read under */
    const void *lists[RUN_LENGTH]; /* NULL: not in it */
};

enum { CHANGES, REVPROPS, KINDS };
static const uint32_t cache_kinds[KINDS] = {CACHE_CHANGES_RUN, CACHE_REVPROPS_RUN};

struct run_reader {
    struct fsfs *fs;
    struct revprop_view *view;
    struct {
        struct run *run; /* used last, a reference; NULL at first */
        revnum last;     /* asked for */
        revnum missing;  /* the run that begins here is not at hand; REV_NONE: none such is known */
        int64_t score;   /* see asks_often */
        revnum asked_from, asked_to; /* what the disk was asked for last; empty at first */
    } of[KINDS];
};

static void reader_free(void *arg)
{
    struct run_reader *reader = arg;
    for (int kind = 0; kind < KINDS; kind++)
        shared_unref(reader->of[kind].run);
}

struct run_reader *run_reader_new(struct fsfs *fs, struct revprop_view *view, struct arena *arena)
{
    struct run_reader *reader = ARENA_NEW(arena, struct run_reader);
    *reader = (struct run_reader){.fs = fs, .view = view};
    for (int kind = 0; kind < KINDS; kind++)
        reader->of[kind].missing = REV_NONE;
    arena_on_free(arena, reader_free, reader);
    return reader;
}

/* ---- where runs begin and end ---- */

/* The first revision of the run that REV belongs to; *END is the one behind its last. */
static revnum run_bounds(revnum *end, const struct fsfs *fs, revnum rev)
{
    const revnum shard = fs->shard_size ? rev / fs->shard_size * fs->shard_size : 0;
    const revnum first = shard + (rev - shard) / RUN_LENGTH * RUN_LENGTH;
    *end = first + RUN_LENGTH;
    if (fs->shard_size && *end > shard + fs->shard_size)
        *end = shard + fs->shard_size;
    return first;
}

/* ---- making one ---- */

/* Ask the disk for what is to be read singly, unless that was asked for just now. */
static void prefetch_singles(struct run_reader *reader, int kind, revnum first, revnum end)
{
    if (first >= end || (first >= reader->of[kind].asked_from && end <= reader->of[kind].asked_to))
        return;
    reader->of[kind].asked_from = first;
    reader->of[kind].asked_to = end;
    if (kind == CHANGES)
        changes_prefetch(reader->fs, first, (int)(end - first));
    else
        revprops_prefetch(reader->view, first, (int)(end - first));
}

static size_t aligned(size_t bytes)
{
    return (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

static struct err *read_single(struct shared **out, struct run_reader *reader, int kind, revnum rev)
{
    if (kind == CHANGES) {
        struct changes *changes;
        TRY(changes_read(&changes, reader->fs, rev));
        *out = &changes->shared;
    } else {
        struct props *props;
        TRY(revprops_read(&props, reader->view, rev));
        *out = &props->shared;
    }
    return NULL;
}

static struct run *run_of(struct shared *const *singles, size_t n, int kind)
{
    size_t bytes = aligned(sizeof(struct run));
    for (size_t i = 0; i < n; i++)
        bytes += singles[i] ? aligned(singles[i]->bytes) : 0;
    struct run *run = mem_alloc(bytes);
    *run = (struct run){0};
    shared_init(&run->shared, bytes, shared_free_plain);
    char *to = (char *)run + aligned(sizeof *run);
    for (size_t i = n; i-- > 0;) {
        if (!singles[i])
            continue;
        run->lists[i] = kind == CHANGES ? (void *)changes_place(to, (struct changes *)singles[i])
                                        : (void *)props_place(to, (struct props *)singles[i]);
        to += aligned(singles[i]->bytes);
    }
    return run;
}

static struct run *run_make(struct run_reader *reader, int kind, revnum first, revnum end)
{
    struct shared *singles[RUN_LENGTH] = {0};
    prefetch_singles(reader, kind, first, end);
    for (revnum rev = first ? first : 1; rev < end; rev++) {
        struct shared *single;
        struct err *err = read_single(&single, reader, kind, rev);
        if (err) /* who asks for it will meet it */
            err_free(err);
        else if (single->bytes > RUN_BYTES)
            shared_unref(single);
        else
            singles[rev - first] = single;
    }
    struct run *run = run_of(singles, (size_t)(end - first), kind);
    run->first = first;
    for (int i = 0; i < RUN_LENGTH; i++)
        shared_unref(singles[i]);
    return run;
}

/* ---- finding one ---- */

static struct cache_key key_of(const struct fsfs *fs, int kind, revnum first)
{
    return fsfs_cache_key(fs, cache_kinds[kind], (uint64_t)first, 0);
}

void run_forget_revprops(const struct fsfs *fs, revnum rev)
{
    revnum end;
    cache_remove(key_of(fs, REVPROPS, run_bounds(&end, fs, rev)));
}

/* The run that is at hand, where it is up to date under STAMP. */
static struct run *current(struct run *run, const struct version *stamp)
{
    return run && version_equal(&run->stamp, stamp) ? run : NULL;
}

/* What properties from FIRST to END must be stamped with; false where that cannot be told or would
 * not tell them from later ones. Changed paths never change: their stamp is always the same. */
static bool stamp_of(struct version *out, const struct run_reader *reader, int kind, revnum first)
{
    *out = (struct version){.settled = true};
    if (kind == CHANGES)
        return true;
    struct err *err = revprop_view_stamp(out, reader->view, first ? first : 1);
    if (!err)
        return out->settled;
    err_free(err);
    return false;
}

/* A revision that is asked for scores 1, each that is left out on the way to it takes 1 away: where
 * there are more of those than of the others, a run would be read for little. */
static bool asks_often(struct run_reader *reader, int kind, revnum rev)
{
    const int64_t before = reader->of[kind].score, step = rev - reader->of[kind].last;
    int64_t score = before + 2 - (step < 0 ? -step : step);
    score = step == 0 ? before : score < 0 ? 0 : score > RUN_LENGTH ? RUN_LENGTH : score;
    reader->of[kind].score = score;
    reader->of[kind].last = rev;
    return score >= RUN_LENGTH / 2;
}

/* Have the reader hold the run from FIRST to END; false where there is none. */
static bool run_load(struct run_reader *reader, int kind, revnum first, revnum end, bool make)
{
    /* Made before anything is read: should the head go back meanwhile (fsfs_head), what was read
     * until then is put where nobody looks. */
    const struct cache_key key = key_of(reader->fs, kind, first);
    AUTO_ARENA(scratch);
    struct version stamp;
    if (!make && reader->of[kind].missing == first)
        return false;
    reader->of[kind].missing = first;
    if (reader->fs->seen_youngest < end - 1 || !stamp_of(&stamp, reader, kind, first))
        return false;
    struct run *run = current(cache_get(key, scratch), &stamp);
    if (run) {
        shared_ref(run);
    } else if (make) {
        run = run_make(reader, kind, first, end);
        run->stamp = stamp;
        cache_put(key, &run->shared);
    }
    if (!run)
        return false;
    shared_unref(reader->of[kind].run);
    reader->of[kind].run = run;
    reader->of[kind].missing = REV_NONE;
    return true;
}

static const void *run_list(struct run_reader *reader, int kind, revnum rev, struct arena *arena)
{
    revnum end, first = run_bounds(&end, reader->fs, rev);
    const bool make = asks_often(reader, kind, rev);
    struct run **run = &reader->of[kind].run;
    if (!(*run && (*run)->first == first) && !run_load(reader, kind, first, end, make))
        return NULL;
    const void *list = (*run)->lists[rev - first];
    if (list)
        arena_keep(arena, shared_ref(*run));
    return list;
}

const struct changes *run_changes(struct run_reader *reader, revnum rev, struct arena *arena)
{
    return run_list(reader, CHANGES, rev, arena);
}

const struct props *run_revprops(struct run_reader *reader, revnum rev, struct arena *arena)
{
    return run_list(reader, REVPROPS, rev, arena);
}

/* ---- asking ahead ---- */

static bool is_at_hand(const struct run_reader *reader, int kind, revnum first)
{
    AUTO_ARENA(scratch);
    struct version stamp;
    return stamp_of(&stamp, reader, kind, first) &&
           current(cache_peek(key_of(reader->fs, kind, first), scratch), &stamp);
}

/* What is missing is asked for in pieces as large as there are, in ascending order: that of the
 * disk. */
static void prefetch(struct run_reader *reader, int kind, revnum first, int count)
{
    const revnum last = first + count;
    revnum missing = first; /* from here to where we are nothing is at hand */
    for (revnum rev = first, end; rev < last; rev = end) {
        const revnum start = run_bounds(&end, reader->fs, rev);
        if (is_at_hand(reader, kind, start)) {
            prefetch_singles(reader, kind, missing, rev);
            missing = end < last ? end : last;
        }
    }
    prefetch_singles(reader, kind, missing, last);
}

void run_prefetch_changes(struct run_reader *reader, revnum first, int count)
{
    prefetch(reader, CHANGES, first, count);
}

void run_prefetch_revprops(struct run_reader *reader, revnum first, int count)
{
    prefetch(reader, REVPROPS, first, count);
}
