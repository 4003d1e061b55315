/* SPDX-License-Identifier: Apache-2.0 */
/* Where a node was in other revisions, when it went away, and which revision a date means. */
#include "repo/history/history_locations.h"
#include "base/date.h"
#include "base/path.h"
#include "base/vec.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/revprops.h"
#include "repo/history/history.h"
#include <stdlib.h>

static struct err *check_readable(const struct principal *who, struct str path)
{
    if (principal_may(who, path, ACCESS_READ, false))
        return NULL;
    return err_make(E_AUTHZ_UNREADABLE, "Unreadable path encountered; access denied");
}

/* ---- locations ---- */

struct wanted {
    revnum rev;
    size_t place; /* in the caller's array */
};

static int youngest_first(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    return (x->rev < y->rev) - (x->rev > y->rev);
}

/* Does the history of PATH@FUTURE go through PATH@PEG? */
static struct err *leads_to_peg(bool *out, struct fsfs *fs, struct str path, revnum peg,
                                revnum future)
{
    AUTO_ARENA(scratch);
    struct history *history;
    struct str at = {0};
    revnum rev = REV_NONE;
    bool more = true;
    TRY(history_open(&history, fs, path, future, true, scratch));
    do
        TRY(history_next(&more, &at, &rev, history));
    while (more && rev > peg);
    *out = more && str_eq(at, path);
    return NULL;
}

/* The walk through the copies that made a node; younger wanted revisions come before older ones. */
struct trace {
    struct fsfs *fs;
    struct wanted *next, *end;
    struct str path; /* where the node was in REV */
    revnum rev;
    struct str *out;
    struct arena *arena;
};

static void trace_answer(struct trace *t)
{
    t->out[t->next++->place] = t->path;
}

/* From copy to copy. *UNREADABLE: the trail leads to a place that the user may not see. */
static struct err *trace_copies(bool *unreadable, struct trace *t, const struct principal *who)
{
    *unreadable = false;
    while (t->next < t->end) {
        bool found;
        revnum appeared, from_rev;
        struct str from_path;
        TRY(node_location_before(&found, &appeared, &from_path, &from_rev, t->fs, t->path, t->rev,
                                 t->arena));
        if (!found)
            return NULL;
        while (t->next < t->end && t->next->rev >= appeared)
            trace_answer(t);
        while (t->next < t->end && t->next->rev > from_rev) /* it did not exist between */
            t->next++;
        t->path = from_path;
        t->rev = from_rev;
        *unreadable = !principal_may(who, t->path, ACCESS_READ, false);
        if (*unreadable)
            return NULL;
    }
    return NULL;
}

/* No copy is left: what remains is at the same path as long as the same node is there. */
static struct err *trace_origin(struct trace *t)
{
    struct tree tree;
    struct node last;
    if (t->next == t->end)
        return NULL;
    TRY(tree_of_rev(&tree, t->fs, t->rev));
    TRY(tree_node(&last, &tree, t->path, t->arena));
    while (t->next < t->end) {
        struct node node;
        bool same;
        TRY(tree_of_rev(&tree, t->fs, t->next->rev));
        TRY(tree_find(&node, &same, &tree, t->path, t->arena));
        if (same)
            TRY(nodes_related(&same, &last, &node));
        if (!same)
            return NULL;
        trace_answer(t);
    }
    return NULL;
}

struct err *history_locations(struct str *out, struct fsfs *fs, struct str path, revnum peg,
                              const revnum *revs, size_t n, const struct principal *who,
                              struct arena *arena)
{
    TRY(fsfs_check_revision(fs, peg));
    TRY(check_readable(who, path));
    struct wanted *wanted = arena_array(arena, n ? n : 1, sizeof *wanted);
    for (size_t i = 0; i < n; i++) {
        wanted[i] = (struct wanted){revs[i], i};
        out[i] = (struct str){0};
    }
    qsort(wanted, n, sizeof *wanted, youngest_first);
    size_t unique = 0;
    for (size_t i = 0; i < n; i++)
        if (!unique || wanted[i].rev != wanted[unique - 1].rev)
            wanted[unique++] = wanted[i];
    struct trace t = {fs, wanted, wanted + unique, arena_str(arena, path), peg, out, arena};
    for (bool leads = false; t.next < t.end && t.next->rev > peg; t.next++) {
        TRY(leads_to_peg(&leads, fs, path, peg, t.next->rev));
        if (leads) {
            t.rev = t.next->rev;
            break;
        }
    }
    bool unreadable;
    TRY(trace_copies(&unreadable, &t, who));
    return unreadable ? NULL : trace_origin(&t);
}

/* ---- segments ---- */

struct segments {
    struct location_segment *list;
    size_t n, cap;
    revnum start, end; /* what is wanted */
    struct arena *arena;
};

/* Add what of FROM..TO is wanted. */
static void segments_add(struct segments *to, revnum from, revnum until, struct str path)
{
    if (from > to->start || until < to->end)
        return;
    *VEC_ADD_IN(to, to->arena) = (struct location_segment){
        from < to->end ? to->end : from, until > to->start ? to->start : until, path};
}

/* The revision in which the node at PATH@REV was made first. Its id tells, except for ids of
 * formats 1 and 2. */
static struct err *origin_rev(revnum *out, struct fsfs *fs, struct str path, revnum rev,
                              struct arena *arena)
{
    struct tree tree;
    struct node node;
    TRY(tree_of_rev(&tree, fs, rev));
    TRY(tree_node(&node, &tree, path, arena));
    const struct noderev *nr = node.noderev;
    *out = nr->id.node.rev;
    if (*out > 0 || (*out == 0 && nr->id.node.num == 0))
        return NULL;
    while (nr->has_pred)
        TRY(noderev_get(&nr, fs, &nr->pred, arena));
    *out = nr->id.rev;
    return NULL;
}

static struct err *collect_segments(struct segments *segments, struct fsfs *fs, struct str path,
                                    revnum rev, const struct principal *who)
{
    while (rev >= segments->end) {
        bool found;
        revnum appeared, from_rev;
        struct str from_path;
        TRY(node_location_before(&found, &appeared, &from_path, &from_rev, fs, path, rev,
                                 segments->arena));
        if (!found) {
            TRY(origin_rev(&appeared, fs, path, rev, segments->arena));
            if (appeared < segments->end)
                appeared = segments->end;
        }
        if (!principal_may(who, path, ACCESS_READ, false))
            return NULL;
        segments_add(segments, appeared, rev, path);
        if (!found)
            return NULL;
        if (appeared - from_rev > 1)
            segments_add(segments, from_rev + 1, appeared - 1, (struct str){0});
        path = from_path;
        rev = from_rev;
    }
    return NULL;
}

struct err *history_segments(struct location_segment **out, size_t *n, struct fsfs *fs,
                             struct str path, revnum peg, revnum start, revnum end,
                             const struct principal *who, struct arena *arena)
{
    TRY(fsfs_check_revision(fs, peg));
    if (start > peg || end > start)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld",
                        (long long)(start > peg ? start : end));
    TRY(check_readable(who, path));
    struct segments segments = {.start = start, .end = end, .arena = arena};
    TRY(collect_segments(&segments, fs, arena_str(arena, path), peg, who));
    *out = segments.list;
    *n = segments.n;
    return NULL;
}

/* ---- deletion ---- */

/* Is what is at PATH@REV still the node FIRST of revision START, and not a later copy in its place?
 */
static struct err *still_there(bool *out, const struct node *first, revnum start, struct fsfs *fs,
                               struct str path, revnum rev)
{
    AUTO_ARENA(scratch);
    struct tree tree;
    struct node node;
    TRY(tree_of_rev(&tree, fs, rev));
    TRY(tree_find(&node, out, &tree, path, scratch));
    if (*out)
        TRY(nodes_related(out, first, &node));
    if (!*out)
        return NULL;
    bool copied;
    revnum copy_rev, from_rev;
    struct str copy_path, from_path;
    TRY(node_nearest_copy(&copied, &copy_rev, &copy_path, &from_rev, &from_path, fs, path, rev,
                          scratch));
    *out = !copied || copy_rev <= start;
    return NULL;
}

struct err *history_deleted_rev(revnum *out, struct fsfs *fs, struct str path, revnum start,
                                revnum end, struct arena *arena)
{
    *out = REV_NONE;
    if (start > end) {
        revnum swap = start;
        start = end;
        end = swap;
    }
    struct tree tree;
    struct node first;
    bool there;
    TRY(tree_of_rev(&tree, fs, start));
    TRY(tree_find(&first, &there, &tree, path, arena));
    if (!there)
        return NULL;
    TRY(still_there(&there, &first, start, fs, path, end));
    if (there)
        return NULL;
    /* It is there in LOW and gone, or another, in END. */
    revnum low = start;
    while (end - low > 1) {
        revnum middle = low + (end - low) / 2;
        TRY(still_there(&there, &first, start, fs, path, middle));
        if (there)
            low = middle;
        else
            end = middle;
    }
    *out = end;
    return NULL;
}

/* ---- dates ---- */

static struct err *rev_date(int64_t *us, struct fsfs *fs, revnum rev, struct revprop_view *view)
{
    AUTO_ARENA(scratch);
    const struct props *props;
    TRY(revprops_get(&props, fs, rev, view, scratch));
    const struct str *date = props_get(props, S("svn:date"));
    if (!date)
        return err_make(E_FS_GENERAL, "Failed to find time on revision %lld", (long long)rev);
    if (!date_parse(us, *date))
        return err_make(E_BAD_DATE, "Bogus date '%.*s' on revision %lld", STR(*date),
                        (long long)rev);
    return NULL;
}

/* A binary search, which takes dates to grow with revisions; where they do not (loaded histories)
 * it must still choose as every other server does, so both neighbours are looked at before a half
 * is dropped. */
struct err *history_dated_rev(revnum *out, struct fsfs *fs, int64_t us)
{
    AUTO_ARENA(arena);
    struct revprop_view *view = revprop_view_new(fs, arena);
    revnum low = 0, youngest;
    TRY(fsfs_youngest(&youngest, fs));
    revnum high = youngest;
    while (low <= high) {
        revnum middle = low + (high - low) / 2;
        int64_t date, beside;
        TRY(rev_date(&date, fs, middle, view));
        *out = middle;
        if (date == us || (date > us && middle == 0) || (date < us && middle == youngest))
            return NULL;
        bool younger = date > us;
        TRY(rev_date(&beside, fs, younger ? middle - 1 : middle + 1, view));
        if (younger) {
            *out = middle - 1;
            if (beside <= us)
                return NULL;
            high = middle - 1;
        } else {
            if (beside > us)
                return NULL;
            low = middle + 1;
        }
    }
    return NULL;
}
