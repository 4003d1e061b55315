/* SPDX-License-Identifier: Apache-2.0 */
/* What one revision merged. Most revisions change no mergeinfo, and their changed paths say so; for
 * the others the node-revisions that carry the mergeinfo are compared before any text is parsed. */
#include "base/path.h"
#include "fsfs/format/changes.h"
#include "repo/history/history.h"
#include "repo/history/log_int.h"
#include <stdlib.h>

static const struct str prop_name = {"svn:mergeinfo", sizeof "svn:mergeinfo" - 1};

/* The mergeinfo that one changed path gained and lost. */
struct delta {
    struct str path;
    struct mergeinfo added, deleted;
};

struct merges {
    struct fsfs *fs;
    revnum rev;
    struct tree tree; /* of REV */
    bool any_copy;    /* something was added in it */
    struct delta *deltas;
    size_t delta_count;
    bool bad;                        /* a property of REV or before cannot be parsed */
    struct mergeinfo added, deleted; /* the sum for the paths in question */
    struct arena *arena;
};

/* ---- changes on the changed paths themselves ---- */

static bool may_change_mergeinfo(const struct change *change)
{
    return change->props_changed && change->mergeinfo_changed != TRI_FALSE &&
           change->action != CHANGE_DELETE && change->action != CHANGE_RESET;
}

/* Where PATH was before REV: the source of a copy in REV, or the same path. */
static struct err *place_before(struct str *path, revnum *rev, const struct merges *m,
                                struct str at)
{
    bool found;
    revnum appeared;
    TRY(node_location_before(&found, &appeared, path, rev, m->fs, at, m->rev, m->arena));
    if (!found || appeared != m->rev) {
        *path = at;
        *rev = m->rev - 1;
    }
    return NULL;
}

/* The place that CHANGE started from; *REV is REV_NONE for something new. */
static struct err *change_base(struct str *path, revnum *rev, const struct merges *m,
                               const struct change *change)
{
    *path = change->copyfrom_path;
    *rev = change->copyfrom_rev;
    if (change->action != CHANGE_MODIFY)
        return NULL;
    if (m->any_copy)
        return place_before(path, rev, m, change->path);
    *path = change->path;
    *rev = m->rev - 1;
    return NULL;
}

/* The mergeinfo of NODE itself or, where it has none, what it inherits. */
static struct err *effective(struct mergeinfo *out, struct merges *m, const struct tree *tree,
                             const struct node *node, bool own)
{
    if (!own) {
        bool found;
        return mergeinfo_of_node(out, &found, tree, node->path, MERGEINFO_INHERITED, m->arena);
    }
    const struct mergeinfo *mi;
    enum mergeinfo_state state;
    TRY(mergeinfo_at_node(&mi, &state, tree, node, m->arena));
    if (state == MERGEINFO_BAD)
        m->bad = true;
    *out = state == MERGEINFO_GOOD ? *mi : (struct mergeinfo){0};
    return NULL;
}

static struct err *compare_change(struct merges *m, const struct change *change)
{
    struct str base_path, value, value_before;
    revnum base_rev;
    struct tree base_tree = {0};
    struct node node, base = {0};
    bool own, own_before = false;
    TRY(change_base(&base_path, &base_rev, m, change));
    if (base_rev != REV_NONE) {
        TRY(tree_of_rev(&base_tree, m->fs, base_rev));
        TRY(tree_node(&base, &base_tree, base_path, m->arena));
        TRY(node_prop(&value_before, &own_before, &base_tree, &base, prop_name, m->arena));
    }
    TRY(tree_node(&node, &m->tree, change->path, m->arena));
    TRY(node_prop(&value, &own, &m->tree, &node, prop_name, m->arena));
    if (own == own_before && (!own || str_eq(value, value_before)))
        return NULL;
    struct mergeinfo now, before = {0};
    TRY(effective(&now, m, &m->tree, &node, own));
    if (base.noderev)
        TRY(effective(&before, m, &base_tree, &base, own_before));
    struct delta *delta = &m->deltas[m->delta_count++];
    delta->path = change->path;
    mergeinfo_diff(&delta->added, &delta->deleted, &before, &now, m->arena);
    return NULL;
}

static struct err *compare_changes(struct merges *m, const struct changes *changes)
{
    size_t candidates = 0;
    for (size_t i = 0; i < changes->n; i++) {
        const struct change *change = &changes->list[i];
        candidates += may_change_mergeinfo(change);
        m->any_copy |= change->action == CHANGE_ADD || change->action == CHANGE_REPLACE;
    }
    if (!candidates)
        return NULL;
    m->deltas = arena_array(m->arena, candidates, sizeof *m->deltas);
    for (size_t i = 0; i < changes->n && !m->bad; i++) {
        if (may_change_mergeinfo(&changes->list[i]))
            TRY(compare_change(m, &changes->list[i]));
    }
    return NULL;
}

/* ---- changes of what a path inherits ---- */

static void add_difference(struct merges *m, const struct mergeinfo *added,
                           const struct mergeinfo *deleted)
{
    mergeinfo_merge(&m->added, added, m->arena);
    mergeinfo_merge(&m->deleted, deleted, m->arena);
}

/* True where both take the same property of the same folder: whatever it says, nothing was merged.
 */
static bool same_origin(const struct mergeinfo_origin *a, const struct mergeinfo_origin *b)
{
    const struct noderev *x = a->node.noderev, *y = b->node.noderev;
    if (!x || !y)
        return x == y;
    return str_eq(a->below, b->below) && x->has_props && y->has_props &&
           rep_same(&x->props, &y->props);
}

/* What the folders above PATH say, unadjusted: a copy changes what a path inherits though nobody
 * merged anything, which shows in this being equal. */
static struct err *nothing_merged_above(bool *out, const struct merges *m,
                                        const struct tree *tree_before, struct str path_before,
                                        struct str path)
{
    struct mergeinfo_origin origin, origin_before;
    const struct mergeinfo *mi = NULL, *before = NULL;
    enum mergeinfo_state state;
    TRY(mergeinfo_origin(&origin_before, tree_before, path_before, MERGEINFO_NEAREST_ANCESTOR,
                         m->arena));
    TRY(mergeinfo_origin(&origin, &m->tree, path, MERGEINFO_NEAREST_ANCESTOR, m->arena));
    if (origin_before.node.noderev)
        TRY(mergeinfo_at_node(&before, &state, tree_before, &origin_before.node, m->arena));
    if (origin.node.noderev)
        TRY(mergeinfo_at_node(&mi, &state, &m->tree, &origin.node, m->arena));
    *out = !before || (mi && mergeinfo_equal(mi, before));
    return NULL;
}

static struct err *compare_inherited(struct merges *m, struct str path)
{
    struct str path_before;
    revnum rev_before;
    struct tree tree_before;
    struct mergeinfo_origin origin, origin_before;
    TRY(place_before(&path_before, &rev_before, m, path));
    TRY(tree_of_rev(&tree_before, m->fs, rev_before));
    TRY(mergeinfo_origin(&origin_before, &tree_before, path_before, MERGEINFO_INHERITED, m->arena));
    TRY(mergeinfo_origin(&origin, &m->tree, path, MERGEINFO_INHERITED, m->arena));
    if (same_origin(&origin, &origin_before))
        return NULL;
    bool nothing, found;
    TRY(nothing_merged_above(&nothing, m, &tree_before, path_before, path));
    if (nothing)
        return NULL;
    struct mergeinfo now, before, added, deleted;
    TRY(mergeinfo_of_node(&before, &found, &tree_before, path_before, MERGEINFO_INHERITED,
                          m->arena));
    TRY(mergeinfo_of_node(&now, &found, &m->tree, path, MERGEINFO_INHERITED, m->arena));
    mergeinfo_diff(&added, &deleted, &before, &now, m->arena);
    add_difference(m, &added, &deleted);
    return NULL;
}

static bool has_delta(const struct merges *m, struct str path)
{
    for (size_t i = 0; i < m->delta_count; i++) {
        if (str_eq(m->deltas[i].path, path))
            return true;
    }
    return false;
}

static bool is_absence(const struct err *err)
{
    return err->code == E_FS_NOT_FOUND || err->code == E_FS_NOT_DIRECTORY;
}

static struct err *compare_paths(struct merges *m, const struct str *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (has_delta(m, paths[i]))
            continue;
        struct err *err = compare_inherited(m, paths[i]);
        if (err && is_absence(err)) { /* not there yet, or no more: nothing was merged into it */
            err_free(err);
            continue;
        }
        TRY(err);
    }
    return NULL;
}

static void add_deltas_below(struct merges *m, const struct str *paths, size_t n)
{
    for (size_t i = 0; i < m->delta_count; i++) {
        struct str rest;
        size_t k = 0;
        while (k < n && !path_skip_ancestor(&rest, paths[k], m->deltas[i].path))
            k++;
        if (k < n)
            add_difference(m, &m->deltas[i].added, &m->deltas[i].deleted);
    }
}

/* ---- from paths with ranges to ranges with paths ---- */

static int rev_order(const void *a, const void *b)
{
    revnum x = *(const revnum *)a, y = *(const revnum *)b;
    return (x > y) - (x < y);
}

/* All the places where a range of MI starts or ends, each once. */
static revnum *range_borders(size_t *n, const struct mergeinfo *mi, struct arena *arena)
{
    size_t count = 0;
    for (size_t i = 0; i < mi->n; i++)
        count += 2 * mi->list[i].n;
    revnum *borders = arena_array(arena, count ? count : 1, sizeof *borders);
    count = 0;
    for (size_t i = 0; i < mi->n; i++) {
        for (size_t k = 0; k < mi->list[i].n; k++) {
            borders[count++] = mi->list[i].ranges[k].start;
            borders[count++] = mi->list[i].ranges[k].end;
        }
    }
    qsort(borders, count, sizeof *borders, rev_order);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        if (*n == 0 || borders[*n - 1] != borders[i])
            borders[(*n)++] = borders[i];
    }
    return borders;
}

/* Which of NAMES (of MI's sources) have (START, START + 1] merged; AT are their places in the lists
 * of ranges, which only move on. */
static size_t paths_at(struct str *paths, const struct str *names, const struct mergeinfo *mi,
                       size_t *at, revnum start)
{
    size_t n = 0;
    for (size_t i = 0; i < mi->n; i++) {
        const struct merge_source *source = &mi->list[i];
        while (at[i] < source->n && source->ranges[at[i]].end <= start)
            at[i]++;
        if (at[i] < source->n && source->ranges[at[i]].start <= start)
            paths[n++] = names[i];
    }
    return n;
}

struct range_list {
    struct merged_range *list;
    size_t n;
};

static void split_ranges(struct range_list *to, const revnum *borders, size_t border_count,
                         const struct mergeinfo *mi, bool reverse, struct arena *scratch,
                         struct arena *arena)
{
    size_t *at = arena_zalloc(scratch, (mi->n + 1) * sizeof *at);
    struct str *names = arena_array(scratch, mi->n + 1, sizeof *names);
    struct str *paths = arena_array(scratch, mi->n + 1, sizeof *paths);
    for (size_t i = 0; i < mi->n; i++)
        names[i] = arena_str(arena, mi->list[i].path);
    for (size_t b = 0; b + 1 < border_count; b++) {
        size_t n = paths_at(paths, names, mi, at, borders[b]);
        if (!n)
            continue;
        struct str *kept = arena_array(arena, n, sizeof *kept);
        memcpy(kept, paths, n * sizeof *kept);
        to->list[to->n++] = (struct merged_range){borders[b] + 1, borders[b + 1], kept, n, reverse};
    }
}

static int range_order(const void *a, const void *b)
{
    const struct merged_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->reverse - y->reverse;
}

struct err *merges_of_revision(struct merged_range **out, size_t *n, struct fsfs *fs,
                               const struct changes *changes, const struct str *paths,
                               size_t path_count, revnum rev, struct arena *scratch,
                               struct arena *arena)
{
    *n = 0;
    if (path_count == 0)
        return NULL;
    struct merges m = {.fs = fs, .rev = rev, .arena = scratch};
    TRY(tree_of_rev(&m.tree, fs, rev));
    TRY(compare_changes(&m, changes));
    if (m.bad || !m.delta_count)
        return NULL;
    TRY(compare_paths(&m, paths, path_count));
    add_deltas_below(&m, paths, path_count);
    size_t added_borders, deleted_borders;
    const revnum *added = range_borders(&added_borders, &m.added, scratch);
    const revnum *deleted = range_borders(&deleted_borders, &m.deleted, scratch);
    struct range_list ranges = {
        arena_array(arena, added_borders + deleted_borders + 1, sizeof *ranges.list), 0};
    split_ranges(&ranges, added, added_borders, &m.added, false, scratch, arena);
    split_ranges(&ranges, deleted, deleted_borders, &m.deleted, true, scratch, arena);
    qsort(ranges.list, ranges.n, sizeof *ranges.list, range_order);
    *out = ranges.list;
    *n = ranges.n;
    return NULL;
}
