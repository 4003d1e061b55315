/* SPDX-License-Identifier: Apache-2.0 */
/* The log of "/" is all revisions one after the other. For other paths it is the union of the
 * paths' histories, walked together from the youngest. With merged revisions it is a tree: what a
 * revision merged is logged behind it in the same way, and each such level is a frame. */
#include "repo/history/log.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"
#include "fsfs/read/changes_get.h"
#include "fsfs/read/item.h"
#include "fsfs/read/prefetch.h"
#include "fsfs/read/run.h"
#include "repo/history/history.h"
#include "repo/history/history_locations.h"
#include "repo/history/log_int.h"
#include <stdlib.h>

enum {
    AHEAD_MIN = 64,   /* revisions that are asked for ahead at first: many logs are soon left */
    AHEAD_MAX = 1024, /* in the end, each time AHEAD_GROWTH times as many as before */
    AHEAD_GROWTH = 4,
    SEARCHES_UNREDUCED = 2000, /* merged ranges; see frame_push */
};

/* One path on its way back. */
struct trail {
    struct history *history;
    struct str path; /* where it is, or was last */
    revnum rev;
    bool done;
};

/* A revision of an ascending log, found while walking down. */
struct found {
    revnum rev;
    struct merged_range *ranges;
    size_t range_count;
};

/* The log of some paths over one range of revisions. */
struct frame {
    struct frame *parent;
    struct arena *arena;  /* what lives as long as the frame */
    struct arena *merges; /* what the revision returned last merged */
    struct arena_mark empty_merges;
    struct trail *trails;
    size_t trail_count;
    revnum start; /* the oldest wanted */
    revnum at;    /* where the walk goes on; REV_NONE: nowhere */
    revnum asked; /* revisions were asked for ahead down to here */
    int ahead;    /* how many at a time, see ask_ahead */
    bool subtractive;
    struct merged_range
        *ranges; /* still to be logged below the revision returned last, from the end */
    size_t ranges_left;
    bool group_open;
    struct found *found; /* ascending: the revisions, youngest first, returned from the end */
    size_t found_count;
    int64_t returned;
};

struct log_cursor {
    struct fsfs *fs;
    struct log_params params;
    struct arena *arena;
    struct arena *step; /* of the entry returned last */
    struct arena_mark empty_step;
    struct revprop_view *view;
    struct run_reader *runs;
    bool plain; /* everything, in sequence */
    revnum next;
    int64_t left;  /* revisions, where plain */
    int64_t asked; /* of them, what was asked for ahead */
    int ahead;     /* how many at a time, see ask_ahead */
    bool descending;
    struct frame *frame;        /* the innermost */
    int64_t depth;              /* groups that the receiver believes to be open */
    VEC(struct change) carried; /* changes of revisions that were left out since the last entry */
    struct mergeinfo own;       /* the paths' own history: what is in it is no merge */
    uint8_t *sent; /* from the first merge on: a bit for each revision up to YOUNGEST that was
                      returned as merged */
    revnum youngest;
    struct map *searched; /* path -> struct spans: what merged frames have been over */
    int64_t searches;
};

/* ---- entries ---- */

static struct err *unreadable_error(void)
{
    return err_make(E_AUTHZ_UNREADABLE, "Item is not readable");
}

/* The place where the deleted PATH was before REV, which a copy of its folder in REV may have
 * moved. */
static struct err *deleted_kind(enum node_kind *out, struct fsfs *fs, struct str path, revnum rev,
                                struct arena *arena)
{
    struct history *history;
    struct str folder;
    bool more;
    TRY(history_open(&history, fs, path_dirname(path), rev, true, arena));
    /* The first step is REV itself, where the folder lost an entry. */
    TRY(history_next(&more, &folder, &rev, history));
    if (more)
        TRY(history_next(&more, &folder, &rev, history));
    if (!more)
        return NULL;
    struct tree tree;
    struct node node;
    bool found;
    TRY(tree_of_rev(&tree, fs, rev));
    TRY(tree_find(&node, &found, &tree, path_join(folder, path_basename(path), arena), arena));
    *out = found ? node.noderev->kind : NODE_NONE;
    return NULL;
}

static struct err *change_kind(struct change *change, struct fsfs *fs, revnum rev,
                               struct arena *arena)
{
    if (change->action == CHANGE_DELETE)
        return deleted_kind(&change->kind, fs, change->path, rev, arena);
    struct tree tree;
    struct node node;
    bool found;
    TRY(tree_of_rev(&tree, fs, rev));
    TRY(tree_find(&node, &found, &tree, change->path, arena));
    change->kind = found ? node.noderev->kind : NODE_NONE;
    return NULL;
}

/* True where the list can be shown as it is. */
static bool changes_are_plain(const struct log_cursor *c, const struct changes *changes)
{
    if (c->params.who)
        return false;
    for (size_t i = 0; i < changes->n; i++) {
        if (changes->list[i].kind == NODE_UNKNOWN)
            return false;
    }
    return true;
}

/* The visible ones of CHANGES into ENTRY, with kinds. */
static struct err *filter_changes(struct log_entry *entry, enum visibility *sees,
                                  struct log_cursor *c, const struct changes *changes)
{
    const struct principal *who = c->params.who;
    struct change *list = arena_array(c->step, changes->n ? changes->n : 1, sizeof *list);
    size_t n = 0;
    bool hidden = false;
    for (size_t i = 0; i < changes->n; i++) {
        struct change change = changes->list[i];
        if (!principal_may(who, change.path, ACCESS_READ, false)) {
            hidden = true;
            continue;
        }
        if (change.copyfrom_rev != REV_NONE &&
            !principal_may(who, change.copyfrom_path, ACCESS_READ, false)) {
            hidden = true;
            change.copyfrom_rev = REV_NONE;
            change.copyfrom_path = (struct str){0};
        }
        if (change.kind == NODE_UNKNOWN && c->params.changed_paths)
            TRY(change_kind(&change, c->fs, entry->rev, c->step));
        list[n++] = change;
    }
    *sees = !hidden ? SEES_ALL : n ? SEES_SOME : SEES_NOTHING;
    entry->changes = list;
    entry->change_count = n;
    return NULL;
}

/* Is CHANGE of revision REV part of the logged paths' own history? */
static bool in_own_history(const struct log_cursor *c, const struct change *change, revnum rev)
{
    for (size_t i = 0; i < c->own.n; i++) {
        const struct merge_source *source = &c->own.list[i];
        struct str rest;
        if (!path_skip_ancestor(&rest, source->path, change->path))
            continue;
        for (size_t k = 0; k < source->n; k++) {
            if (rev > source->ranges[k].start && rev <= source->ranges[k].end)
                return true;
        }
    }
    return false;
}

/* A merged revision is worth showing if it changed anything outside of the paths' own history, and
 * was not shown before. */
static bool is_news(struct log_cursor *c, const struct log_entry *entry)
{
    bool news = c->own.n == 0;
    for (size_t i = 0; i < entry->change_count && !news; i++)
        news = !in_own_history(c, &entry->changes[i], entry->rev);
    if (!news)
        return false;
    uint8_t *byte = &c->sent[entry->rev / 8], bit = (uint8_t)(1 << entry->rev % 8);
    news = !(*byte & bit);
    *byte |= bit;
    return news;
}

static struct err *changes_of(const struct changes **out, const struct log_cursor *c, revnum rev,
                              struct arena *arena)
{
    *out = run_changes(c->runs, rev, arena);
    return *out ? NULL : changes_get(out, c->fs, rev, arena);
}

static struct err *entry_revprops(struct log_entry *entry, struct log_cursor *c,
                                  enum visibility sees)
{
    if (!c->params.want_revprops || sees == SEES_NOTHING)
        return NULL;
    entry->revprops = run_revprops(c->runs, entry->rev, c->step);
    if (!entry->revprops)
        TRY(revprops_get(&entry->revprops, c->fs, entry->rev, c->view, c->step));
    entry->revprops = visible_revprops(entry->revprops, sees, c->step);
    return NULL;
}

/* Subversion lists the changed paths of a revision that it leaves out with the next entry that it
 * sends. People and scripts compare the logs of two servers, so they go along here too; only not
 * with the end of a group, where nobody looks at them. What it searches again, and so leaves out
 * again, depends on the order of its hash tables too, so these lists are not always the same. */
static void carry_changes(struct log_cursor *c, const struct log_entry *entry)
{
    for (size_t i = 0; i < entry->change_count; i++)
        *VEC_ADD_IN(&c->carried, c->step) = entry->changes[i];
}

/* Give ENTRY, which is returned, what was carried along. */
static void deliver_changes(struct log_entry *entry, struct log_cursor *c)
{
    if (!c->carried.n)
        return;
    carry_changes(c, entry);
    entry->changes = c->carried.list;
    entry->change_count = c->carried.n;
    c->carried.n = 0;
}

/* Find out what REV changed, as far as the user may see it. MERGED: it is logged because it was
 * merged. */
static struct err *entry_changes(struct log_entry *entry, enum visibility *sees,
                                 struct log_cursor *c, bool merged)
{
    bool needed = c->params.who || c->params.changed_paths || (merged && c->own.n);
    if (entry->rev == 0 || !needed)
        return NULL;
    const struct changes *changes;
    TRY(changes_of(&changes, c, entry->rev, c->step));
    if (!changes_are_plain(c, changes))
        return filter_changes(entry, sees, c, changes);
    entry->changes = changes->list;
    entry->change_count = changes->n;
    return NULL;
}

/* Make ENTRY of revision REV; *SHOW false where it is not to be returned. */
static struct err *entry_make(bool *show, struct log_entry *entry, struct log_cursor *c, revnum rev,
                              bool merged)
{
    enum visibility sees = SEES_ALL;
    entry->rev = rev;
    TRY(entry_changes(entry, &sees, c, merged));
    *show = !merged || is_news(c, entry);
    if (!c->params.changed_paths)
        entry->change_count = 0;
    if (!*show) {
        carry_changes(c, entry);
        return NULL;
    }
    deliver_changes(entry, c);
    return entry_revprops(entry, c, sees);
}

/* ---- one frame ---- */

static struct err *trail_step(struct trail *trail, const struct log_cursor *c, revnum start)
{
    bool more;
    struct str path;
    TRY(history_next(&more, &path, &trail->rev, trail->history));
    trail->done = !more;
    if (!more)
        return NULL;
    trail->path = path;
    trail->done = trail->rev < start || !principal_may(c->params.who, path, ACCESS_READ, false);
    return NULL;
}

static struct err *trail_open(struct trail *trail, struct log_cursor *c, struct frame *f,
                              struct str path, revnum end)
{
    if (!principal_may(c->params.who, path, ACCESS_READ, false))
        return unreadable_error();
    *trail = (struct trail){.path = path};
    TRY(history_open(&trail->history, c->fs, path, end, !c->params.strict, f->arena));
    return trail_step(trail, c, f->start);
}

/* Open the trails of PATHS. In a merged frame, what the mergeinfo names may be long gone or never
 * have been: it is left out. */
static struct err *frame_open_trails(struct log_cursor *c, struct frame *f, const struct str *paths,
                                     size_t n, revnum end)
{
    TRY(fsfs_check_revision(c->fs, end));
    f->trails = arena_array(f->arena, n, sizeof *f->trails);
    for (size_t i = 0; i < n; i++) {
        struct trail trail;
        struct err *err = trail_open(&trail, c, f, paths[i], end);
        if (err && f->parent &&
            (err->code == E_FS_NOT_FOUND || err->code == E_FS_NOT_DIRECTORY ||
             err->code == E_FS_NO_SUCH_REVISION)) {
            err_free(err);
            continue;
        }
        TRY(err);
        f->trails[f->trail_count++] = trail;
    }
    f->at = end;
    f->asked = end + 1;
    f->ahead = AHEAD_MIN;
    return NULL;
}

/* A log that goes from REV to LAST reads every revision: hand what the first of them need to the
 * store. Returns how many. *AHEAD is how many it may be, and grows. No more than a shard at a time:
 * then its files are read once. */
static int64_t ask_ahead(const struct log_cursor *c, int *ahead, revnum rev, revnum last)
{
    const bool descending = last < rev;
    const int64_t left = (descending ? rev - last : last - rev) + 1, shard = c->fs->shard_size;
    int64_t count = left < *ahead ? left : *ahead;
    if (shard > 0) {
        const int64_t in_shard = descending ? rev % shard + 1 : shard - rev % shard;
        count = count < in_shard ? count : in_shard;
    }
    const revnum first = descending ? rev - count + 1 : rev;
    if (*ahead > AHEAD_MIN) /* the receiver did not leave after the first ones */
        packs_prefetch(c->fs, descending ? last : rev, descending ? rev : last);
    if (c->params.changed_paths || c->params.who)
        run_prefetch_changes(c->runs, first, (int)count);
    if (c->params.want_revprops)
        run_prefetch_revprops(c->runs, first, (int)count);
    if (count == *ahead && *ahead < AHEAD_MAX)
        *ahead *= AHEAD_GROWTH;
    return count;
}

static void frame_ask_ahead(const struct log_cursor *c, struct frame *f, revnum rev)
{
    const bool is_root = f->trail_count == 1 && f->trails[0].path.n == 1;
    if (is_root && rev >= f->start && rev < f->asked)
        f->asked = rev - ask_ahead(c, &f->ahead, rev, f->start) + 1;
}

/* The next revision in which one of the paths changed; REV_NONE at the end. The trails then stand
 * behind it. */
static struct err *frame_walk(revnum *out, const struct log_cursor *c, struct frame *f)
{
    for (bool changed = false; !changed && f->at != REV_NONE;) {
        frame_ask_ahead(c, f, f->at);
        *out = f->at;
        f->at = REV_NONE;
        for (size_t i = 0; i < f->trail_count; i++) {
            struct trail *trail = &f->trails[i];
            if (!trail->done && trail->rev >= *out) {
                changed = true;
                TRY(trail_step(trail, c, f->start));
            }
            if (!trail->done && trail->rev > f->at)
                f->at = trail->rev;
        }
        if (changed)
            return NULL;
    }
    *out = REV_NONE;
    return NULL;
}

/* What REV merged into the frame's paths, into ARENA. */
static struct err *frame_merges(struct merged_range **ranges, size_t *n, const struct log_cursor *c,
                                struct frame *f, revnum rev, struct arena *arena)
{
    *n = 0;
    if (!c->params.merged || rev == 0)
        return NULL;
    arena_rewind(f->merges, f->empty_merges);
    struct str *paths = arena_array(f->merges, f->trail_count, sizeof *paths);
    for (size_t i = 0; i < f->trail_count; i++)
        paths[i] = f->trails[i].path;
    const struct changes *changes;
    TRY(changes_of(&changes, c, rev, f->merges));
    return merges_of_revision(ranges, n, c->fs, changes, paths, f->trail_count, rev, f->merges,
                              arena);
}

static struct err *frame_next(revnum *rev, const struct log_cursor *c, struct frame *f)
{
    f->ranges_left = 0;
    if (f->found) {
        *rev = REV_NONE;
        if (f->found_count) {
            const struct found *found = &f->found[--f->found_count];
            *rev = found->rev;
            f->ranges = found->ranges;
            f->ranges_left = found->range_count;
        }
        return NULL;
    }
    TRY(frame_walk(rev, c, f));
    return *rev == REV_NONE ? NULL
                            : frame_merges(&f->ranges, &f->ranges_left, c, f, *rev, f->merges);
}

/* An ascending log walks down all the same, and remembers. */
static struct err *frame_collect(const struct log_cursor *c, struct frame *f)
{
    size_t cap = 64;
    struct found *list = arena_array(f->arena, cap, sizeof *list);
    for (;;) {
        struct found found = {0};
        TRY(frame_walk(&found.rev, c, f));
        if (found.rev == REV_NONE)
            break;
        TRY(frame_merges(&found.ranges, &found.range_count, c, f, found.rev, f->arena));
        if (f->found_count == cap) {
            struct found *larger = arena_array(f->arena, cap *= 2, sizeof *larger);
            memcpy(larger, list, f->found_count * sizeof *list);
            list = larger;
        }
        list[f->found_count++] = found;
    }
    f->found = list;
    return NULL;
}

static struct frame *frame_new(struct log_cursor *c, revnum start)
{
    struct arena *arena = arena_new();
    struct frame *f = ARENA_NEW(arena, struct frame);
    *f = (struct frame){.parent = c->frame, .arena = arena, .merges = arena_new(), .start = start};
    f->empty_merges = arena_mark(f->merges);
    c->frame = f;
    return f;
}

static void frame_pop(struct log_cursor *c)
{
    struct frame *f = c->frame;
    c->frame = f->parent;
    arena_free(f->merges);
    arena_free(f->arena);
}

/* ---- what merged frames have been over ---- */

/* Revisions [START, END) of one path, sorted, apart. */
struct spans {
    struct merge_range *list;
    size_t n, cap;
};

static void spans_add(struct spans *spans, revnum start, revnum end, struct arena *arena)
{
    size_t i = 0;
    while (i < spans->n && spans->list[i].end < start)
        i++;
    size_t k = i;
    for (; k < spans->n && spans->list[k].start <= end; k++) {
        if (spans->list[k].start < start)
            start = spans->list[k].start;
        if (spans->list[k].end > end)
            end = spans->list[k].end;
    }
    VEC_ADD_IN(spans, arena);
    memmove(&spans->list[i + 1], &spans->list[k], (spans->n - 1 - k) * sizeof *spans->list);
    spans->n -= k - i;
    spans->list[i] = (struct merge_range){start, end, true};
}

/* The span that holds all of [START, END), or, where PARTLY, reaches over one of its ends. */
static const struct merge_range *spans_cover(const struct spans *spans, revnum start, revnum end,
                                             bool partly)
{
    for (size_t i = 0; spans && i < spans->n; i++) {
        const struct merge_range *span = &spans->list[i];
        if (span->start <= start && span->end >= end)
            return span;
        if (partly && ((span->start <= start && span->end > start) ||
                       (span->start < end && span->end >= end)))
            return span;
    }
    return NULL;
}

/* Leave out of RANGE what was searched already. */
static void range_reduce(struct log_cursor *c, struct merged_range *range)
{
    revnum start = range->start, end = range->end + 1;
    for (size_t i = 0; i < range->path_count;) {
        const struct merge_range *span =
            spans_cover(map_get(c->searched, range->paths[i]), start, end, range->path_count == 1);
        if (span && span->start <= start && span->end >= end) {
            range->path_count--;
            memmove(&range->paths[i], &range->paths[i + 1],
                    (range->path_count - i) * sizeof *range->paths);
            continue;
        }
        if (span && span->start <= start)
            range->start = span->end - 1;
        else if (span)
            range->end = span->start;
        i++;
    }
}

static void range_remember(struct log_cursor *c, const struct merged_range *range)
{
    for (size_t i = 0; i < range->path_count; i++) {
        struct spans *spans = map_get(c->searched, range->paths[i]);
        if (!spans) {
            spans = ARENA_NEW(c->arena, struct spans);
            map_put(c->searched, range->paths[i], spans);
        }
        spans_add(spans, range->start, range->end + 1, c->arena);
    }
}

/* Begin the log of a merged range, one level below. */
static struct err *frame_push(struct log_cursor *c, struct merged_range range)
{
    if (range.end > c->youngest)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld", (long long)range.end);
    /* Subversion does not leave out what it searched already where the log ascends: it searches the
     * same merges again and again, a number of times that grows without bound with the number of
     * merges. What that changes in the answer is kept for histories that are searched soon. */
    if (c->descending || c->searches > SEARCHES_UNREDUCED)
        range_reduce(c, &range);
    range_remember(c, &range);
    c->searches++;
    if (range.path_count == 0)
        return NULL;
    struct frame *f = frame_new(c, range.start);
    f->subtractive = range.reverse;
    return frame_open_trails(c, f, range.paths, range.path_count, range.end);
}

/* From the first merge on: what is needed to show nothing twice. */
static struct err *begin_merges(struct log_cursor *c)
{
    if (c->sent)
        return NULL;
    TRY(fsfs_youngest(&c->youngest, c->fs));
    c->sent = arena_zalloc(c->arena, (size_t)c->youngest / 8 + 1);
    c->searched = map_new();
    return NULL;
}

/* ---- the cursor ---- */

/* The next revision of the innermost frame, or the end of that frame. *SHOW false where there is
 * nothing to return yet. */
static struct err *frame_entry(bool *show, struct log_entry *entry, struct log_cursor *c)
{
    struct frame *f = c->frame;
    revnum rev = REV_NONE;
    *show = false;
    bool enough = !f->parent && c->params.limit > 0 && f->returned == c->params.limit;
    if (!enough)
        TRY(frame_next(&rev, c, f));
    if (rev == REV_NONE) {
        frame_pop(c);
        return NULL;
    }
    f->returned++;
    f->group_open = f->ranges_left > 0;
    if (f->group_open)
        TRY(begin_merges(c));
    entry->has_children = f->group_open;
    entry->subtractive = f->subtractive;
    TRY(entry_make(show, entry, c, rev, f->parent != NULL));
    c->depth += *show && f->group_open;
    return NULL;
}

/* The end of a group; false where the receiver knows of no open one, as can be where the revision
 * that it belongs to was left out. */
static bool entry_end_group(struct log_entry *entry, struct log_cursor *c)
{
    if (c->depth == 0)
        return false;
    c->depth--;
    *entry = (struct log_entry){.rev = REV_NONE};
    c->carried.n = 0;
    return true;
}

static struct err *next_in_frames(bool *more, struct log_entry *entry, struct log_cursor *c)
{
    for (*more = false; c->frame && !*more;) {
        struct frame *f = c->frame;
        if (!f->group_open) {
            *entry = (struct log_entry){0};
            TRY(frame_entry(more, entry, c));
        } else if (f->ranges_left) {
            TRY(frame_push(c, f->ranges[--f->ranges_left]));
        } else {
            f->group_open = false;
            *more = entry_end_group(entry, c);
        }
    }
    return NULL;
}

static struct err *next_plain(bool *more, struct log_entry *entry, struct log_cursor *c)
{
    *more = c->left > 0;
    if (!*more)
        return NULL;
    revnum rev = c->next;
    int step = c->descending ? -1 : 1;
    if (c->asked == 0)
        c->asked = ask_ahead(c, &c->ahead, rev, rev + step * (c->left - 1));
    c->next += step;
    c->left--;
    c->asked--;
    return entry_make(more, entry, c, rev, false);
}

struct err *log_cursor_next(bool *more, struct log_entry *entry, struct log_cursor *c)
{
    arena_rewind(c->step, c->empty_step);
    c->carried.n = c->carried.cap = 0;
    *entry = (struct log_entry){0};
    return c->plain ? next_plain(more, entry, c) : next_in_frames(more, entry, c);
}

static struct err *open_plain(struct log_cursor *c)
{
    if (!principal_may(c->params.who, S("/"), ACCESS_READ, false))
        return unreadable_error();
    c->plain = true;
    c->ahead = AHEAD_MIN;
    c->next = c->params.start;
    c->left =
        (c->descending ? c->params.start - c->params.end : c->params.end - c->params.start) + 1;
    if (c->params.limit > 0 && c->left > c->params.limit)
        c->left = c->params.limit;
    return NULL;
}

/* The places where the logged paths themselves were between LOW and HIGH, as mergeinfo. */
static struct err *own_history(struct log_cursor *c, revnum low, revnum high)
{
    for (size_t i = 0; i < c->params.path_count; i++) {
        struct location_segment *segments;
        size_t n;
        TRY(history_segments(&segments, &n, c->fs, c->params.paths[i], high, high, low,
                             c->params.who, c->arena));
        for (size_t k = 0; k < n; k++) {
            if (!segments[k].path.p)
                continue;
            struct merge_range range = {segments[k].from > 0 ? segments[k].from - 1 : 0,
                                        segments[k].to, true};
            struct merge_range *kept = arena_alloc(c->arena, sizeof *kept);
            *kept = range;
            struct merge_source source = {segments[k].path, kept, 1};
            mergeinfo_merge(&c->own, &(struct mergeinfo){&source, 1}, c->arena);
        }
    }
    return NULL;
}

static struct err *open_paths(struct log_cursor *c)
{
    revnum low = c->descending ? c->params.end : c->params.start;
    revnum high = c->descending ? c->params.start : c->params.end;
    if (c->params.merged)
        TRY(own_history(c, low, high));
    struct frame *f = frame_new(c, low);
    TRY(frame_open_trails(c, f, c->params.paths, c->params.path_count, high));
    return c->descending ? NULL : frame_collect(c, f);
}

/* Copies of the paths, each once: every one costs a walk through its history. */
static const struct str *distinct(size_t *n, const struct log_params *params, struct arena *arena)
{
    struct str *paths = arena_array(arena, params->path_count + 1, sizeof *paths);
    struct map *seen = map_new_in(arena);
    *n = 0;
    for (size_t i = 0; i < params->path_count; i++)
        if (!map_put(seen, params->paths[i], seen))
            paths[(*n)++] = arena_str(arena, params->paths[i]);
    return paths;
}

struct err *log_cursor_open(struct log_cursor **out, struct fsfs *fs,
                            const struct log_params *params)
{
    TRY(fsfs_check_revision(fs, params->start));
    TRY(fsfs_check_revision(fs, params->end));
    struct arena *arena = arena_new();
    struct log_cursor *c = ARENA_NEW(arena, struct log_cursor);
    *c = (struct log_cursor){.fs = fs, .params = *params, .arena = arena, .step = arena_new()};
    c->empty_step = arena_mark(c->step);
    c->params.paths = distinct(&c->params.path_count, params, arena);
    c->view = revprop_view_new(fs, arena);
    c->runs = run_reader_new(fs, c->view, arena);
    c->descending = params->start >= params->end;
    bool everything = c->params.path_count == 0 ||
                      (c->params.path_count == 1 && str_eq(c->params.paths[0], S("/")));
    struct err *err = everything && !params->merged ? open_plain(c) : open_paths(c);
    if (err)
        log_cursor_close(c);
    else
        *out = c;
    return err;
}

void log_cursor_close(struct log_cursor *c)
{
    if (!c)
        return;
    while (c->frame)
        frame_pop(c);
    if (c->searched)
        map_free(c->searched, NULL);
    arena_free(c->step);
    arena_free(c->arena);
}
