/* SPDX-License-Identifier: Apache-2.0 */
/* The entries are found first, youngest first, as (path, revision) pairs; texts are looked at one
 * pair at a time when they are pulled. */
#include "repo/history/file_revs.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"
#include "fsfs/read/changes_get.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/revprops.h"
#include "repo/history/history.h"
#include "repo/history/mergeinfo.h"
#include "repo/tree/text_delta.h"
#include <stdlib.h>

struct path_rev {
    struct str path;
    revnum rev;
    bool has_item; /* the node is known: this item of REV */
    uint64_t item;
    bool merged;
    size_t place;            /* in the order of finding */
    struct mergeinfo merges; /* what this revision merged into the path or took back */
};

struct path_revs {
    struct path_rev *list;
    size_t n, cap;
};

/* What is known about one entry's file; two of them take turns. */
struct side {
    struct arena *arena;
    struct arena_mark empty;
    struct str path;
    const struct noderev *node; /* NULL: nothing yet */
    const struct props *props;
};

struct file_revs {
    struct fsfs *fs;
    const struct principal *who;
    bool include_merged;
    struct arena *arena;
    struct revprop_view *view;
    struct map *seen;         /* "path:rev", where INCLUDE_MERGED */
    struct path_revs entries; /* in the order in which they are returned */
    size_t next;
    struct side sides[2], *now, *before;
    bool has_delta;
    struct text_delta *delta; /* of the present entry, once its first piece was asked for */
};

/* ---- finding ---- */

static void push(struct path_revs *to, struct path_rev entry, struct arena *arena)
{
    entry.place = to->n;
    *VEC_ADD_IN(to, arena) = entry;
}

/* True where PATH@REV was found already; else it is from now on. */
static bool seen_before(struct file_revs *c, struct str path, revnum rev)
{
    AUTO_BUF(key);
    buf_str(&key, path);
    buf_printf(&key, ":%lld", (long long)rev);
    return map_put(c->seen, buf_view(&key), c) != NULL;
}

static void copy_mergeinfo(struct mergeinfo *out, const struct mergeinfo *from, struct arena *arena)
{
    *out = (struct mergeinfo){arena_array(arena, from->n + 1, sizeof *out->list), from->n};
    for (size_t i = 0; i < from->n; i++) {
        const struct merge_source *source = &from->list[i];
        struct merge_range *ranges = arena_array(arena, source->n + 1, sizeof *ranges);
        if (source->n)
            memcpy(ranges, source->ranges, source->n * sizeof *ranges);
        out->list[i] = (struct merge_source){arena_str(arena, source->path), ranges, source->n};
    }
}

/* Could the mergeinfo of PATH have changed in REV, by what the changed paths say? */
static struct err *may_have_merged(bool *out, struct fsfs *fs, struct str path, revnum rev,
                                   struct arena *arena)
{
    const struct changes *changes;
    *out = false;
    TRY(changes_get(&changes, fs, rev, arena));
    for (size_t i = 0; i < changes->n && !*out; i++) {
        const struct change *change = &changes->list[i];
        struct str rest;
        *out = change->props_changed && change->mergeinfo_changed != TRI_FALSE &&
               path_skip_ancestor(&rest, change->path, path);
    }
    return NULL;
}

/* The difference of the mergeinfo of ENTRY's path, own or inherited, in its revision and the one
 * before. */
static struct err *find_merges(struct path_rev *entry, struct file_revs *c, struct arena *scratch)
{
    bool may, found;
    TRY(may_have_merged(&may, c->fs, entry->path, entry->rev, scratch));
    if (!may || entry->rev == 0)
        return NULL;
    struct tree tree;
    struct mergeinfo now, before, added, deleted;
    TRY(tree_of_rev(&tree, c->fs, entry->rev));
    TRY(mergeinfo_of_node(&now, &found, &tree, entry->path, MERGEINFO_INHERITED, scratch));
    TRY(tree_of_rev(&tree, c->fs, entry->rev - 1));
    struct err *err =
        mergeinfo_of_node(&before, &found, &tree, entry->path, MERGEINFO_INHERITED, scratch);
    if (err &&
        err->code == E_FS_NOT_FOUND) { /* new here: what it brings along was not merged now */
        err_free(err);
        return NULL;
    }
    TRY(err);
    mergeinfo_diff(&added, &deleted, &before, &now, scratch);
    mergeinfo_merge(&added, &deleted, scratch);
    copy_mergeinfo(&entry->merges, &added, c->arena);
    return NULL;
}

static struct err *not_a_file(struct str path, revnum rev)
{
    return err_make(E_FS_NOT_FILE, "'%.*s' is not a file in revision %lld", STR(path),
                    (long long)rev);
}

static struct err *is_file(bool *out, struct fsfs *fs, struct str path, revnum rev,
                           struct arena *arena)
{
    struct tree tree;
    struct node node;
    TRY(tree_of_rev(&tree, fs, rev));
    TRY(tree_find(&node, out, &tree, path, arena));
    *out = *out && node.noderev->kind == NODE_FILE;
    return NULL;
}

/* Add the history of PATH@END to TO, youngest first, down to the first revision that is not younger
 * than START (it is wanted too: the text that START begins with), or to where it meets what was
 * found before. */
static struct err *find_history(struct path_revs *to, struct file_revs *c, struct str path,
                                revnum start, revnum end, bool merged)
{
    AUTO_ARENA(scratch);
    bool file, more;
    TRY(is_file(&file, c->fs, path, end, scratch));
    if (!file)
        return not_a_file(path, end);
    struct history *history;
    TRY(history_open(&history, c->fs, path, end, true, scratch));
    for (;;) {
        struct path_rev entry = {.merged = merged};
        TRY(history_next(&more, &entry.path, &entry.rev, history));
        if (!more || (c->include_merged && seen_before(c, entry.path, entry.rev)) ||
            !principal_may(c->who, entry.path, ACCESS_READ, false))
            return NULL;
        const struct noderev *node = history_node(history);
        if ((entry.has_item = node != NULL))
            entry.item = node->id.item;
        entry.path = arena_str(c->arena, entry.path);
        struct arena_mark mark = arena_mark(scratch);
        if (c->include_merged)
            TRY(find_merges(&entry, c, scratch));
        arena_rewind(scratch, mark);
        push(to, entry, c->arena);
        if (entry.rev <= start)
            return NULL;
    }
}

/* Add the histories of what ENTRY merged. */
static struct err *find_merged(struct path_revs *to, struct file_revs *c,
                               const struct path_rev *entry, revnum start)
{
    AUTO_ARENA(scratch);
    for (size_t i = 0; i < entry->merges.n; i++) {
        const struct merge_source *source = &entry->merges.list[i];
        for (size_t k = 0; k < source->n; k++) {
            const struct merge_range *range = &source->ranges[k];
            bool file;
            if (range->end < start)
                continue;
            TRY(is_file(&file, c->fs, source->path, range->end, scratch));
            if (file)
                TRY(find_history(to, c, source->path, range->start, range->end, true));
        }
    }
    return NULL;
}

/* Of one revision what was found last comes first, as in a list that is read backwards. */
static int oldest_first(const void *a, const void *b)
{
    const struct path_rev *x = a, *y = b;
    if (x->rev != y->rev)
        return x->rev < y->rev ? -1 : 1;
    return (x->place < y->place) - (x->place > y->place);
}

static void reverse(struct path_revs *revs)
{
    for (size_t i = 0, k = revs->n; i + 1 < k; i++) {
        struct path_rev swap = revs->list[i];
        revs->list[i] = revs->list[--k];
        revs->list[k] = swap;
    }
}

/* Both lists, oldest first, as one; a revision of the main line comes before merged ones of the
 * same number. */
static void interleave(struct path_revs *out, const struct path_revs *line,
                       const struct path_revs *merged, struct arena *arena)
{
    size_t i = 0, k = 0;
    while (i < line->n || k < merged->n) {
        bool take_line =
            k == merged->n || (i < line->n && line->list[i].rev <= merged->list[k].rev);
        push(out, take_line ? line->list[i++] : merged->list[k++], arena);
    }
}

static struct err *find_all(struct file_revs *c, struct str path, revnum start, revnum end)
{
    struct path_revs line = {0}, merged = {0};
    TRY(find_history(&line, c, path, start, end, false));
    for (size_t i = 0; c->include_merged && i < line.n; i++)
        TRY(find_merged(&merged, c, &line.list[i], start));
    for (size_t i = 0; i < merged.n;
         i++) /* grows while it is walked: what was merged may have merged */
        TRY(find_merged(&merged, c, &(struct path_rev){.merges = merged.list[i].merges}, start));
    reverse(&line);
    if (merged.n)
        qsort(merged.list, merged.n, sizeof *merged.list, oldest_first);
    interleave(&c->entries, &line, &merged, c->arena);
    return NULL;
}

struct err *file_revs_open(struct file_revs **out, struct fsfs *fs, struct str path, revnum start,
                           revnum end, bool include_merged, const struct principal *who)
{
    if (start > end && include_merged)
        return err_make(E_UNSUPPORTED_FEATURE, "Trying to use an unsupported feature");
    struct arena *arena = arena_new();
    struct file_revs *c = ARENA_NEW(arena, struct file_revs);
    *c = (struct file_revs){
        .fs = fs, .who = who, .include_merged = include_merged, .arena = arena, .seen = map_new()};
    for (int i = 0; i < 2; i++) {
        c->sides[i].arena = arena_new();
        c->sides[i].empty = arena_mark(c->sides[i].arena);
    }
    c->now = &c->sides[0];
    c->before = &c->sides[1];
    c->view = revprop_view_new(fs, arena);
    struct err *err = start > end ? find_history(&c->entries, c, path, end, start, false)
                                  : find_all(c, path, start, end);
    if (err)
        file_revs_close(c);
    else
        *out = c;
    return err;
}

/* ---- entries ---- */

static struct err *side_load(struct side *side, struct fsfs *fs, const struct path_rev *entry)
{
    struct tree tree;
    struct node node;
    arena_rewind(side->arena, side->empty);
    side->path = entry->path;
    if (entry->has_item) {
        TRY(noderev_at(&side->node, fs, entry->rev, entry->item, side->arena));
    } else {
        TRY(tree_of_rev(&tree, fs, entry->rev));
        TRY(tree_node(&node, &tree, entry->path, side->arena));
        side->node = node.noderev;
    }
    return noderev_props(&side->props, fs, side->node, side->arena);
}

static void delta_stop(struct file_revs *c)
{
    text_delta_close(c->delta);
    c->delta = NULL;
    c->has_delta = false;
}

struct err *file_revs_next(bool *more, struct file_rev *out, struct file_revs *c)
{
    delta_stop(c);
    *more = c->next < c->entries.n;
    if (!*more)
        return NULL;
    const struct path_rev *entry = &c->entries.list[c->next++];
    struct side *before = c->now;
    c->now = c->before;
    c->before = before;
    TRY(side_load(c->now, c->fs, entry));
    *out = (struct file_rev){.path = c->now->path, .rev = entry->rev, .merged = entry->merged};
    TRY(revprops_get(&out->revprops, c->fs, entry->rev, c->view, c->now->arena));
    out->prop_changes = props_diff(&out->prop_change_count, before->node ? before->props : NULL,
                                   c->now->props, c->now->arena);
    /* Clients that blame with merges count on a delta, if an empty one, wherever the path changes.
     */
    out->has_delta = !before->node || (c->include_merged && !str_eq(before->path, c->now->path)) ||
                     !noderev_same_text(before->node, c->now->node);
    c->has_delta = out->has_delta;
    return NULL;
}

/* ---- deltas ---- */

static const struct rep *text_of(const struct noderev *node)
{
    return node && node->has_text ? &node->text : NULL;
}

struct err *file_revs_delta(struct str *piece, struct file_revs *c, int max_version, int level)
{
    *piece = (struct str){0};
    if (!c->has_delta)
        return NULL;
    if (!c->delta)
        TRY(text_delta_open(&c->delta, c->fs, text_of(c->before->node), text_of(c->now->node),
                            max_version, level));
    TRY(text_delta_next(piece, c->delta));
    if (piece->n == 0)
        delta_stop(c);
    return NULL;
}

void file_revs_close(struct file_revs *c)
{
    if (!c)
        return;
    delta_stop(c);
    map_free(c->seen, NULL);
    for (int i = 0; i < 2; i++)
        arena_free(c->sides[i].arena);
    arena_free(c->arena);
}
