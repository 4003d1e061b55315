/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"
#include "repo/admin/prop_change.h"
#include "repo/dump/load.h"
#include "repo/dump/load_int.h"
#include "repo/history/mergeinfo.h"
#include <stdlib.h>

/* Line ends as svn: properties have them: CR LF and CR become LF. */
static struct str normalize_eol(struct str value, struct arena *arena)
{
    char *to = arena_alloc(arena, value.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] != '\r')
            to[n++] = value.p[i];
        else if (i + 1 == value.n || value.p[i + 1] != '\n')
            to[n++] = '\n';
    }
    return str_make(to, n);
}

struct err *load_prop_value(struct str *value, struct str name, const struct load_params *params,
                            struct arena *arena)
{
    if (params->normalize_props && str_starts(name, S("svn:")) &&
        str_find(*value, '\r') != SIZE_MAX)
        *value = normalize_eol(*value, arena);
    if (params->bypass_prop_validation && str_find(name, '\0') == SIZE_MAX)
        return NULL;
    struct err *err = prop_check(name, value);
    if (!err_has(err, E_BAD_PROPERTY_VALUE))
        return err;
    if (err_has(err, E_BAD_PROPERTY_VALUE_EOL))
        return err_wrap(err, E_BAD_PROPERTY_VALUE,
                        "A property with invalid line ending found in dumpstream; consider using "
                        "--normalize-props while loading.");
    return err_wrap(err, E_BAD_PROPERTY_VALUE,
                    "Invalid property value found in dumpstream; consider repairing the source or "
                    "using --bypass-prop-validation while loading.");
}

/* The part of FROM whose revisions are in (AFTER, UPTO]. */
static struct mergeinfo clip(const struct mergeinfo *from, revnum after, revnum upto,
                             struct arena *arena)
{
    struct mergeinfo out = {.list = arena_array(arena, from->n + 1, sizeof *out.list)};
    for (size_t i = 0; i < from->n; i++) {
        const struct merge_source *source = &from->list[i];
        struct merge_source part = {source->path,
                                    arena_array(arena, source->n + 1, sizeof *part.ranges), 0};
        for (size_t r = 0; r < source->n; r++) {
            struct merge_range range = source->ranges[r];
            range.start = range.start < after ? after : range.start;
            range.end = range.end > upto ? upto : range.end;
            if (range.start < range.end)
                part.ranges[part.n++] = range;
        }
        if (part.n)
            out.list[out.n++] = part;
    }
    return out;
}

/* A range of the stream as one of the repository. Its start is exclusive: the revision before the
 * stream's oldest has no mapping of its own. */
static void map_range(struct merge_range *range, const struct rev_map *map)
{
    revnum start = rev_map_find(map, range->start);
    if (start == REV_NONE && range->start == map->oldest - 1) {
        revnum oldest = rev_map_find(map, map->oldest);
        start = oldest == REV_NONE ? REV_NONE : oldest - 1;
    }
    if (start == REV_NONE)
        return;
    range->start = start;
    revnum end = rev_map_find(map, range->end);
    if (end != REV_NONE)
        range->end = end;
}

static int by_start(const void *a, const void *b)
{
    const struct merge_range *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* Put the ranges of SOURCE in order, and those that touch together. A range that gaps have turned
 * round is lost in one that begins before it. */
static void join_ranges(struct merge_source *source)
{
    size_t n = 0;
    qsort(source->ranges, source->n, sizeof *source->ranges, by_start);
    for (size_t r = 0; r < source->n; r++) {
        struct merge_range range = source->ranges[r], *last = n ? &source->ranges[n - 1] : NULL;
        if (last && range.start <= last->end && range.inheritable == last->inheritable)
            last->end = range.end > last->end ? range.end : last->end;
        else if (range.start != range.end)
            source->ranges[n++] = range;
    }
    source->n = n;
}

/* MI in order again, without sources that have no ranges left. */
static void tidy(struct mergeinfo *mi)
{
    size_t n = 0;
    for (size_t i = 0; i < mi->n; i++) {
        join_ranges(&mi->list[i]);
        if (mi->list[i].n)
            mi->list[n++] = mi->list[i];
    }
    mi->n = n;
}

/* What names revisions before the stream is moved by OFFSET, what names others goes by MAP. */
static void renumber(struct mergeinfo *mi, const struct rev_map *map, revnum offset,
                     struct arena *arena)
{
    struct mergeinfo older = clip(mi, 0, map->oldest - 1, arena);
    struct mergeinfo mapped = clip(mi, map->oldest - 1, INT64_MAX, arena);
    for (size_t i = 0; i < mapped.n; i++)
        for (size_t r = 0; r < mapped.list[i].n; r++)
            map_range(&mapped.list[i].ranges[r], map);
    for (size_t i = 0; i < older.n; i++)
        for (size_t r = 0; r < older.list[i].n; r++) {
            struct merge_range *range = &older.list[i].ranges[r];
            bool has_place =
                range->start > offset; /* else even a part of it goes, as by svnadmin */
            range->start = has_place ? range->start - offset : 0;
            range->end = has_place ? range->end - offset : 0;
            range->inheritable = true;
        }
    tidy(&mapped);
    tidy(&older);
    mergeinfo_merge(&mapped, &older, arena);
    *mi = mapped;
}

static void add_parent_dir(struct mergeinfo *mi, struct str parent_dir, struct arena *arena)
{
    struct str parent = path_canonicalize(arena_printf(arena, "/%.*s", STR(parent_dir)), arena);
    for (size_t i = 0; i < mi->n; i++)
        mi->list[i].path = path_join(parent, str_skip(mi->list[i].path, 1), arena);
}

struct err *load_mergeinfo_value(struct str *value, bool *stripped, const struct rev_map *map,
                                 revnum offset, const struct load_params *params,
                                 struct arena *arena)
{
    struct mergeinfo mi;
    struct str text = *value;
    *stripped = str_find(text, '\r') != SIZE_MAX;
    if (*stripped)
        text = normalize_eol(text, arena);
    TRY(mergeinfo_parse(&mi, text, arena));
    if (params->parent_dir.n)
        add_parent_dir(&mi, params->parent_dir, arena);
    renumber(&mi, map, offset, arena);
    AUTO_BUF(out);
    mergeinfo_format(&out, &mi);
    /* Not all that a stream makes of them is mergeinfo: they may overlap, or end before they begin.
     */
    TRY(mergeinfo_parse(&mi, arena_str(arena, buf_view(&out)), arena));
    buf_clear(&out);
    mergeinfo_format(&out, &mi);
    *value = arena_str(arena, buf_view(&out));
    return NULL;
}
