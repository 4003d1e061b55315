/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/history/mergeinfo.h"
#include "base/num.h"
#include "base/path.h"
#include "base/vec.h"
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- lists of ranges ---- */

/* A list in the making. */
struct ranges {
    struct merge_range *list;
    size_t n, cap;
    struct arena *arena;
};

static void ranges_push(struct ranges *to, revnum start, revnum end, bool inheritable)
{
    *VEC_ADD_IN(to, to->arena) = (struct merge_range){start, end, inheritable};
}

/* Append a range that starts nowhere before the last one does; neighbours of one kind become one.
 */
static void ranges_extend(struct ranges *to, revnum start, revnum end, bool inheritable)
{
    struct merge_range *last = to->n ? &to->list[to->n - 1] : NULL;
    if (last && last->end >= start && last->inheritable == inheritable) {
        if (last->end < end)
            last->end = end;
    } else {
        ranges_push(to, start, end, inheritable);
    }
}

/* A place in a list while two lists are walked together. */
struct walk {
    const struct merge_range *range, *end;
};

static bool walk_covers(const struct walk *w, revnum at)
{
    return w->range < w->end && w->range->start <= at;
}

/* Where what W says about AT next changes. */
static revnum walk_change(const struct walk *w, revnum at)
{
    if (w->range == w->end)
        return INT64_MAX;
    return w->range->start <= at ? w->range->end : w->range->start;
}

static void walk_pass(struct walk *w, revnum at)
{
    if (w->range < w->end && w->range->end <= at)
        w->range++;
}

static struct walk walk_of(const struct merge_source *source)
{
    return (struct walk){source->ranges, source->ranges + source->n};
}

/* What is in A or in B; where both have it and one is inheritable, the result is. */
static struct merge_source ranges_union(const struct merge_source *a, const struct merge_source *b,
                                        struct arena *arena)
{
    struct ranges out = {.arena = arena};
    struct walk wa = walk_of(a), wb = walk_of(b);
    revnum at = INT64_MIN;
    while (wa.range < wa.end || wb.range < wb.end) {
        revnum in_a = walk_change(&wa, at), in_b = walk_change(&wb, at);
        revnum next = in_a < in_b ? in_a : in_b;
        bool have_a = walk_covers(&wa, at), have_b = walk_covers(&wb, at);
        if (have_a || have_b)
            ranges_extend(&out, at, next,
                          (have_a && wa.range->inheritable) || (have_b && wb.range->inheritable));
        at = next;
        walk_pass(&wa, at);
        walk_pass(&wb, at);
    }
    return (struct merge_source){a->path, out.list, out.n};
}

/* What is in A and not in B, inheritable or not. */
static struct merge_source ranges_without(const struct merge_source *a,
                                          const struct merge_source *b, struct arena *arena)
{
    struct ranges out = {.arena = arena};
    struct walk wb = walk_of(b);
    for (size_t i = 0; i < a->n; i++) {
        struct merge_range left = a->ranges[i];
        while (left.start < left.end) {
            while (wb.range < wb.end && wb.range->end <= left.start)
                wb.range++;
            revnum end = left.end;
            if (walk_covers(&wb, left.start)) {
                left.start = wb.range->end;
                continue;
            }
            if (wb.range < wb.end && wb.range->start < end)
                end = wb.range->start;
            ranges_push(&out, left.start, end, left.inheritable);
            left.start = end;
        }
    }
    return (struct merge_source){a->path, out.list, out.n};
}

/* ---- lists of sources ---- */

/* A new list with room for CAP sources. */
static struct mergeinfo sources_new(size_t cap, struct arena *arena)
{
    return (struct mergeinfo){arena_array(arena, cap ? cap : 1, sizeof(struct merge_source)), 0};
}

static void sources_add(struct mergeinfo *to, struct merge_source source)
{
    if (source.n)
        to->list[to->n++] = source;
}

void mergeinfo_diff(struct mergeinfo *added, struct mergeinfo *deleted, const struct mergeinfo *a,
                    const struct mergeinfo *b, struct arena *arena)
{
    *added = sources_new(b->n, arena);
    *deleted = sources_new(a->n, arena);
    size_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        int order = i == a->n ? 1 : j == b->n ? -1 : str_cmp(a->list[i].path, b->list[j].path);
        if (order < 0) {
            sources_add(deleted, a->list[i++]);
        } else if (order > 0) {
            sources_add(added, b->list[j++]);
        } else {
            sources_add(deleted, ranges_without(&a->list[i], &b->list[j], arena));
            sources_add(added, ranges_without(&b->list[j++], &a->list[i++], arena));
        }
    }
}

void mergeinfo_merge(struct mergeinfo *into, const struct mergeinfo *from, struct arena *arena)
{
    struct mergeinfo out = sources_new(into->n + from->n, arena);
    size_t i = 0, j = 0;
    while (i < into->n || j < from->n) {
        int order = i == into->n   ? 1
                    : j == from->n ? -1
                                   : str_cmp(into->list[i].path, from->list[j].path);
        if (order < 0)
            out.list[out.n++] = into->list[i++];
        else if (order > 0)
            out.list[out.n++] = from->list[j++];
        else
            out.list[out.n++] = ranges_union(&into->list[i++], &from->list[j++], arena);
    }
    *into = out;
}

bool mergeinfo_equal(const struct mergeinfo *a, const struct mergeinfo *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct merge_source *x = &a->list[i], *y = &b->list[i];
        if (x->n != y->n || !str_eq(x->path, y->path))
            return false;
        for (size_t k = 0; k < x->n; k++) {
            if (x->ranges[k].start != y->ranges[k].start || x->ranges[k].end != y->ranges[k].end ||
                x->ranges[k].inheritable != y->ranges[k].inheritable)
                return false;
        }
    }
    return true;
}

void mergeinfo_inherit(struct mergeinfo *out, const struct mergeinfo *mi, struct str below,
                       struct arena *arena)
{
    *out = sources_new(mi->n, arena);
    for (size_t i = 0; i < mi->n; i++) {
        const struct merge_source *source = &mi->list[i];
        struct ranges ranges = {.arena = arena};
        for (size_t k = 0; k < source->n; k++) {
            if (source->ranges[k].inheritable)
                ranges_extend(&ranges, source->ranges[k].start, source->ranges[k].end, true);
        }
        sources_add(out, (struct merge_source){path_join(source->path, below, arena), ranges.list,
                                               ranges.n});
    }
}

/* ---- text ---- */

static void range_format(struct buf *out, const struct merge_range *range)
{
    buf_u64(out, (uint64_t)range->start + 1);
    if (range->end != range->start + 1) {
        buf_char(out, '-');
        buf_u64(out, (uint64_t)range->end);
    }
    if (!range->inheritable)
        buf_char(out, '*');
}

void mergeinfo_format(struct buf *out, const struct mergeinfo *mi)
{
    for (size_t i = 0; i < mi->n; i++) {
        if (i)
            buf_char(out, '\n');
        buf_str(out, mi->list[i].path);
        buf_char(out, ':');
        for (size_t k = 0; k < mi->list[i].n; k++) {
            if (k)
                buf_char(out, ',');
            range_format(out, &mi->list[i].ranges[k]);
        }
    }
}

/* The text that is left to parse. */
struct scan {
    const char *p, *end;
};

static char scan_peek(const struct scan *scan)
{
    return scan->p < scan->end ? *scan->p : '\0';
}

static bool scan_at_line_end(const struct scan *scan)
{
    return scan->p == scan->end || *scan->p == '\n';
}

static struct err *revision_error(const char *what, const char *at, const struct scan *scan)
{
    return err_make(E_REVNUM_PARSE_FAILURE, "%s '%.*s'", what, (int)(scan->end - at), at);
}

/* A revision number that fits 31 bits, which is all that Subversion gives to one. */
static struct err *parse_revision(revnum *out, struct scan *scan)
{
    enum { LONGEST = 10 };
    const char *start = scan->p;
    uint64_t value = 0;
    for (; isdigit((unsigned char)scan_peek(scan)); scan->p++) {
        if (scan->p - start < LONGEST)
            value = 10 * value + (uint64_t)(*scan->p - '0');
    }
    if (scan->p == start)
        return revision_error(scan_peek(scan) == '-' ? "Negative revision number found parsing"
                                                     : "Invalid revision number found parsing",
                              start, scan);
    if (scan->p - start > LONGEST)
        return revision_error("Revision number longer than 10 digits", start, scan);
    if (value > INT32_MAX)
        return revision_error("Revision number too large", start, scan);
    *out = (revnum)value;
    return NULL;
}

static struct err *character_error(const struct scan *scan, const char *where)
{
    return err_make(E_MERGEINFO_PARSE_ERROR, "Invalid character '%c' found in %s", scan_peek(scan),
                    where);
}

/* N or N-M, with or without '*', up to the comma or the end of the line behind it. */
static struct err *parse_range(struct merge_range *out, struct scan *scan)
{
    revnum first, last;
    TRY(parse_revision(&first, scan));
    if (!scan_at_line_end(scan) && !strchr("-,*", scan_peek(scan)))
        return character_error(scan, "revision list");
    if (first == 0)
        return err_make(E_MERGEINFO_PARSE_ERROR, "Invalid revision number '0' found in range list");
    last = first;
    if (scan_peek(scan) == '-') {
        scan->p++;
        TRY(parse_revision(&last, scan));
        if (first > last)
            return err_make(E_MERGEINFO_PARSE_ERROR,
                            "Unable to parse reversed revision range '%lld-%lld'", (long long)first,
                            (long long)last);
        if (first == last)
            return err_make(E_MERGEINFO_PARSE_ERROR,
                            "Unable to parse revision range '%lld-%lld' with same start and end "
                            "revisions",
                            (long long)first, (long long)last);
    }
    *out = (struct merge_range){first - 1, last, true};
    if (scan_peek(scan) == '*') {
        out->inheritable = false;
        scan->p++;
    }
    if (!scan_at_line_end(scan) && scan_peek(scan) != ',')
        return character_error(scan, "range list");
    return NULL;
}

static int range_order(const void *a, const void *b)
{
    const struct merge_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return y->inheritable - x->inheritable;
}

static struct err *overlap_error(const struct merge_range *a, const struct merge_range *b)
{
    AUTO_BUF(first);
    AUTO_BUF(second);
    range_format(&first, a);
    range_format(&second, b);
    return err_make(E_MERGEINFO_PARSE_ERROR,
                    "Unable to parse overlapping revision ranges '%.*s' and '%.*s' with different "
                    "inheritance types",
                    (int)first.n, first.p, (int)second.n, second.p);
}

/* Sort the ranges as they were written and join those that touch. */
static struct err *ranges_settle(struct ranges *ranges)
{
    if (ranges->n)
        qsort(ranges->list, ranges->n, sizeof *ranges->list, range_order);
    struct ranges out = {ranges->list, 0, ranges->cap, ranges->arena};
    for (size_t i = 0; i < ranges->n; i++) {
        struct merge_range range = ranges->list[i];
        const struct merge_range *last = out.n ? &out.list[out.n - 1] : NULL;
        if (last && range.start < last->end && range.inheritable != last->inheritable)
            return overlap_error(last, &range);
        ranges_extend(&out, range.start, range.end, range.inheritable);
    }
    *ranges = out;
    return NULL;
}

static struct err *parse_ranges(struct ranges *ranges, struct scan *scan)
{
    while (!scan_at_line_end(scan) && isspace((unsigned char)*scan->p))
        scan->p++;
    bool more = !scan_at_line_end(scan);
    while (more) {
        if (scan_at_line_end(scan))
            return err_make(E_MERGEINFO_PARSE_ERROR,
                            "Range list parsing ended before hitting newline");
        struct merge_range range;
        TRY(parse_range(&range, scan));
        ranges_push(ranges, range.start, range.end, range.inheritable);
        more = scan_peek(scan) == ',';
        scan->p += more;
    }
    return ranges_settle(ranges);
}

/* PATH:RANGES, up to and with the line's end. */
static struct err *parse_line(struct merge_source *out, struct scan *scan, struct arena *arena)
{
    const char *eol = memchr(scan->p, '\n', (size_t)(scan->end - scan->p));
    struct str line = {scan->p, (size_t)((eol ? eol : scan->end) - scan->p)};
    size_t colon = str_rfind(line, ':');
    if (colon == SIZE_MAX)
        return err_make(E_MERGEINFO_PARSE_ERROR, "Pathname not terminated by ':'");
    out->path = path_canonicalize(str_make(line.p, colon), arena);
    scan->p += colon + 1;
    const char *start = scan->p;
    struct ranges ranges = {.arena = arena};
    struct err *err = parse_ranges(&ranges, scan);
    if (err && err->code == E_REVNUM_PARSE_FAILURE)
        return err_wrap(err, E_MERGEINFO_PARSE_ERROR, "Could not parse mergeinfo string '%.*s'",
                        (int)(scan->end - start), start);
    TRY(err);
    if (!ranges.n)
        return err_make(E_MERGEINFO_PARSE_ERROR,
                        "Mergeinfo for '%.*s' maps to an empty revision range", STR(out->path));
    out->ranges = ranges.list;
    out->n = ranges.n;
    scan->p += scan->p < scan->end;
    return NULL;
}

static int source_order(const void *a, const void *b)
{
    const struct merge_source *x = a, *y = b;
    return str_cmp(x->path, y->path);
}

/* Sort by path; paths that differ only in how they were written become one. */
static void sources_settle(struct mergeinfo *mi, struct arena *arena)
{
    if (mi->n)
        qsort(mi->list, mi->n, sizeof *mi->list, source_order);
    size_t n = 0;
    for (size_t i = 0; i < mi->n; i++) {
        if (n && str_eq(mi->list[n - 1].path, mi->list[i].path))
            mi->list[n - 1] = ranges_union(&mi->list[n - 1], &mi->list[i], arena);
        else
            mi->list[n++] = mi->list[i];
    }
    mi->n = n;
}

struct err *mergeinfo_parse(struct mergeinfo *out, struct str text, struct arena *arena)
{
    size_t cap = 16, end = str_find(text, '\0');
    *out = sources_new(cap, arena);
    struct scan scan = {text.p, text.p + (end == SIZE_MAX ? text.n : end)};
    while (scan.p < scan.end) {
        if (out->n == cap) {
            struct mergeinfo larger = sources_new(cap *= 2, arena);
            memcpy(larger.list, out->list, out->n * sizeof *out->list);
            out->list = larger.list;
        }
        TRY(parse_line(&out->list[out->n++], &scan, arena));
    }
    sources_settle(out, arena);
    return NULL;
}
