/* SPDX-License-Identifier: Apache-2.0 */
/* authz.c - what a user may do: the rules that concern that user, as a tree of path segments.
 *
 * A path is looked up one name at a time, with the set of points that the names so far may have
 * led to: one by its very name, others by patterns. A point knows the rights of its own rule and
 * the least ones at and below it. */
#include "base/buf.h"
#include "base/cache.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/vec.h"
#include "repo/access/authz_int.h"
#include <stdlib.h>

enum {
    ALL_RIGHTS = ACCESS_READ | ACCESS_WRITE,
    SET_INLINE = 32,     /* points that a lookup holds without asking for memory */
    NOBODY = UINT32_MAX, /* a user whom no rule names */
};

/* A place in the tree. The root is point 0, so that 0 as an index means: none. */
struct point {
    struct segment segment;
    uint32_t parent;
    uint32_t any, deep, patterns; /* children: "*", "**", the first of those with a text */
    uint32_t next;                /* the next one of the parent's patterns */
    uint32_t order;               /* of its rule in the file, from 1 on; 0: no rule */
    bool own;                     /* the rule was for this repository alone */
    int rights, least;
};

struct authz_view {
    struct shared shared;
    int everywhere;
    struct point *points;
    uint32_t count;
    uint32_t *table; /* open addressing: points with a name, by parent and name */
    uint32_t table_mask;
    int any;
    struct authz *authz; /* a reference */
    struct str key;      /* of whom and where it is */
};

/* ---- the tree of names ---- */

/* HASH is of NAME alone: one for all points from which a name is looked up. */
static uint32_t *name_slot(const struct authz_view *view, uint32_t parent, struct str name,
                           uint64_t hash)
{
    uint32_t at = (uint32_t)hash_mix(hash ^ parent, hash_seed | 1) & view->table_mask;
    for (;; at = (at + 1) & view->table_mask) {
        uint32_t index = view->table[at];
        const struct point *point = &view->points[index];
        if (!index || (point->parent == parent && str_eq(point->segment.text, name)))
            return &view->table[at];
    }
}

static uint32_t add_point(struct authz_view *view, uint32_t parent, struct segment segment)
{
    view->points[view->count] = (struct point){.segment = segment, .parent = parent};
    return view->count++;
}

static uint32_t pattern_child(struct authz_view *view, uint32_t parent, struct segment segment)
{
    uint32_t at = view->points[parent].patterns;
    for (; at; at = view->points[at].next) {
        const struct segment *other = &view->points[at].segment;
        if (other->kind == segment.kind && str_eq(other->text, segment.text))
            return at;
    }
    at = add_point(view, parent, segment);
    view->points[at].next = view->points[parent].patterns;
    view->points[parent].patterns = at;
    return at;
}

static uint32_t enter_child(struct authz_view *view, uint32_t parent, struct segment segment)
{
    if (segment.kind == SEGMENT_NAME) {
        uint32_t *slot = name_slot(view, parent, segment.text, hash_bytes(segment.text));
        if (!*slot)
            *slot = add_point(view, parent, segment);
        return *slot;
    }
    if (segment.kind != SEGMENT_ANY && segment.kind != SEGMENT_DEEP)
        return pattern_child(view, parent, segment);
    bool deep = segment.kind == SEGMENT_DEEP;
    uint32_t child = deep ? view->points[parent].deep : view->points[parent].any;
    if (!child) {
        child = add_point(view, parent, segment);
        if (deep)
            view->points[parent].deep = child;
        else
            view->points[parent].any = child;
    }
    return child;
}

static void add_rule(struct authz_view *view, const struct rule *rule, int rights, uint32_t order)
{
    uint32_t at = 0;
    for (size_t i = 0; i < rule->segment_count; i++)
        at = enter_child(view, at, rule->segments[i]);
    struct point *point = &view->points[at];
    bool own = rule->repository.n > 0;
    view->any |= rights;
    if (point->order && point->own && !own)
        return;
    point->order = order;
    point->own = own;
    point->rights = rights;
}

/* A rule "X/" "**" that comes later than those of X and below replaces them. Parents stand before
 * children in the array, so that one walk forward hands such rules down. */
static void spread_deep_rules(struct authz_view *view)
{
    struct point *points = view->points;
    uint32_t *ruler =
        mem_zalloc(view->count * sizeof *ruler); /* whose rule is over this and below */
    for (uint32_t i = 0; i < view->count; i++) {
        struct point *point = &points[i];
        uint32_t above = i ? ruler[point->parent] : 0, deep = point->deep;
        if (deep && points[deep].order && (!above || points[deep].order > points[above].order))
            above = deep;
        if (above && point->order && point->order < points[above].order) {
            point->order = points[above].order;
            point->rights = points[above].rights;
        }
        ruler[i] = above;
    }
    free(ruler);
}

static void sum_up(struct authz_view *view)
{
    for (uint32_t i = 0; i < view->count; i++)
        view->points[i].least = view->points[i].order ? view->points[i].rights : ALL_RIGHTS;
    for (uint32_t i = view->count; --i > 0;)
        view->points[view->points[i].parent].least &= view->points[i].least;
}

/* ---- looking up ---- */

struct set {
    uint32_t *list;
    size_t n, cap;
    uint32_t inside[SET_INLINE];
};

static void set_init(struct set *set)
{
    set->n = 0;
    set->cap = SET_INLINE;
    set->list = set->inside;
}

static void set_free(struct set *set)
{
    VEC_FREE_FROM(set, set->inside);
}

static void set_add(struct set *set, uint32_t point)
{
    *VEC_ADD_FROM(set, set->inside) = point;
}

static bool set_has(const struct set *set, uint32_t point)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->list[i] == point)
            return true;
    return false;
}

/* What the points that a part of a path leads to say of it. */
struct verdict {
    uint32_t order;
    int rights, least;
};

static void step_to(struct set *set, struct verdict *verdict, const struct authz_view *view,
                    uint32_t at)
{
    for (; at; at = view->points[at].deep) { /* "**" may stand for nothing */
        const struct point *point = &view->points[at];
        bool deep = point->segment.kind == SEGMENT_DEEP;
        if (deep && set_has(set, at)) /* from its parent and from itself: the only two ways */
            return;
        set_add(set, at);
        verdict->least &= point->least;
        if (point->order > verdict->order) {
            verdict->order = point->order;
            verdict->rights = point->rights;
        }
        if (deep)
            return; /* there is no "**" behind a "**" */
    }
}

static bool segment_fits(const struct segment *segment, struct str name)
{
    switch (segment->kind) {
    case SEGMENT_PREFIX:
        return str_starts(name, segment->text);
    case SEGMENT_SUFFIX:
        return str_ends(name, segment->text);
    default:
        return glob_fits(segment->text, name);
    }
}

static void step_from(struct set *set, struct verdict *verdict, const struct authz_view *view,
                      uint32_t at, struct str name, uint64_t hash)
{
    const struct point *point = &view->points[at];
    step_to(set, verdict, view, *name_slot(view, at, name, hash));
    step_to(set, verdict, view, point->any);
    for (uint32_t i = point->patterns; i; i = view->points[i].next)
        if (segment_fits(&view->points[i].segment, name))
            step_to(set, verdict, view, i);
    if (point->segment.kind == SEGMENT_DEEP)
        step_to(set, verdict, view, at);
}

/* The next name of PATH from *POS on. "/" has one that is empty. */
static bool next_name(struct str *name, struct str path, size_t *pos)
{
    if (*pos >= path.n)
        return false;
    size_t start = ++*pos; /* behind the slash */
    while (*pos < path.n && path.p[*pos] != '/')
        ++*pos;
    *name = str_make(path.p + start, *pos - start);
    return true;
}

static struct verdict look_up(const struct authz_view *view, struct str path)
{
    struct set sets[2], *from = &sets[0], *to = &sets[1];
    struct verdict now = {0, view->points[0].order ? view->points[0].rights : 0, 0};
    now.least = now.rights;
    set_init(from);
    set_init(to);
    set_add(from, 0);
    if (view->points[0].deep)
        set_add(from, view->points[0].deep);
    struct str name;
    for (size_t pos = 0; from->n && next_name(&name, path, &pos);) {
        struct verdict next = {.least = ALL_RIGHTS};
        uint64_t hash = hash_bytes(name);
        to->n = 0;
        for (size_t i = 0; i < from->n; i++)
            step_from(to, &next, view, from->list[i], name, hash);
        if (!next.order) {
            next.rights = now.rights;
            next.least &= now.rights;
        }
        now = next;
        struct set *swap = from;
        from = to;
        to = swap;
    }
    set_free(from);
    set_free(to);
    return now;
}

int authz_view_rights(const struct authz_view *view, struct str path, bool recursive)
{
    struct verdict verdict = look_up(view, path);
    return recursive ? verdict.least : verdict.rights;
}

int authz_view_everywhere(const struct authz_view *view)
{
    return view->everywhere;
}

int authz_view_any(const struct authz_view *view)
{
    return view->any;
}

/* ---- making a view ---- */

/* Mark all groups that USER is in, by way of other groups included. */
static void mark_groups(bool *in, const struct authz *authz, uint32_t user)
{
    uint32_t *stack = mem_alloc((authz->group_count + 1) * sizeof *stack), depth = 0;
    uint32_t at = authz->user_groups[user];
    for (;;) {
        for (; at; at = authz->memberships[at].next) {
            uint32_t group = authz->memberships[at].group;
            if (!in[group]) {
                in[group] = true;
                stack[depth++] = group;
            }
        }
        if (!depth)
            break;
        at = authz->group_groups[stack[--depth]];
    }
    free(stack);
}

struct person {
    bool has_name;
    uint32_t id; /* NOBODY where no rule knows the name */
    bool *groups;
};

static bool entry_fits(const struct entry *entry, const struct person *person)
{
    switch (entry->who) {
    case WHO_ALL:
        return true;
    case WHO_ANONYMOUS:
        return !person->has_name;
    case WHO_AUTHENTICATED:
        return person->has_name;
    case WHO_USER:
        return person->has_name && (person->id == entry->id) != entry->inverted;
    case WHO_GROUP:
        return person->has_name && person->groups[entry->id] != entry->inverted;
    case WHO_EMPTY_GROUP:
        return false;
    }
    return false;
}

/* False where RULE does not speak of PERSON. */
static bool rule_rights(int *rights, const struct rule *rule, const struct person *person)
{
    bool any = false;
    *rights = 0;
    for (size_t i = 0; i < rule->entry_count; i++) {
        if (entry_fits(&rule->entries[i], person)) {
            any = true;
            *rights |= rule->entries[i].rights;
        }
    }
    return any;
}

/* What a file says of "all but an empty group" it does not mean, but Subversion counts it where it
 * is asked for the most that somebody has whose name stands nowhere in the file. */
static int unmeant_rights(const struct rule *rule, const struct person *person)
{
    int rights = 0;
    for (size_t i = 0; person->has_name && person->id == NOBODY && i < rule->entry_count; i++)
        if (rule->entries[i].who == WHO_EMPTY_GROUP && rule->entries[i].inverted)
            rights |= rule->entries[i].rights;
    return rights;
}

static bool rule_concerns(const struct rule *rule, struct str repository)
{
    return rule->repository.n == 0 || str_eq(rule->repository, repository);
}

static void view_destroy(struct shared *shared)
{
    struct authz_view *view = (void *)shared;
    shared_unref(view->authz);
    free((void *)view->key.p);
    free(view->points);
    free(view->table);
    free(view);
}

static void make_room(struct authz_view *view, size_t segments)
{
    size_t slots = 16;
    while (slots < 2 * segments + 2)
        slots *= 2;
    view->points = mem_alloc((segments + 1) * sizeof *view->points);
    view->table = mem_zalloc(slots * sizeof *view->table);
    view->table_mask = (uint32_t)slots - 1;
    add_point(view, 0, (struct segment){SEGMENT_NAME, S("")});
}

/* The rights that PERSON has everywhere, whatever the path. */
static int everywhere(const struct authz_view *view)
{
    const struct point *root = &view->points[0];
    bool all_ruled = root->order || (root->deep && view->points[root->deep].order);
    return all_ruled ? root->least : 0;
}

static void fill_view(struct authz_view *view, const struct authz *authz, struct str repository,
                      const struct person *person)
{
    size_t segments = 0;
    int *rights = mem_alloc((authz->rule_count + 1) * sizeof *rights);
    bool *used = mem_zalloc(authz->rule_count + 1);
    for (size_t i = 0; i < authz->rule_count; i++) {
        const struct rule *rule = &authz->rules[i];
        if (!rule_concerns(rule, repository))
            continue;
        view->any |= unmeant_rights(rule, person);
        used[i] = rule_rights(&rights[i], rule, person);
        if (used[i])
            segments += rule->segment_count;
    }
    make_room(view, segments);
    for (size_t i = 0; i < authz->rule_count; i++)
        if (used[i])
            add_rule(view, &authz->rules[i], rights[i], (uint32_t)i + 1);
    free(rights);
    free(used);
    spread_deep_rules(view);
    sum_up(view);
    view->everywhere = everywhere(view);
}

static struct authz_view *view_new(struct authz *authz, struct str repository, struct str user)
{
    struct authz_view *view = mem_zalloc(sizeof *view);
    view->authz = shared_ref(authz);
    struct person person = {.has_name = user.p, .id = NOBODY};
    person.groups = mem_zalloc(authz->group_count + 1);
    uintptr_t id = user.p ? (uintptr_t)map_get(authz->users, user) : 0;
    if (id) {
        person.id = (uint32_t)id - 1;
        mark_groups(person.groups, authz, person.id);
    }
    fill_view(view, authz, repository, &person);
    free(person.groups);
    size_t bytes = view->count * sizeof *view->points + view->table_mask * sizeof *view->table;
    shared_init(&view->shared, sizeof *view + bytes, view_destroy);
    return view;
}

const struct authz_view *authz_view(struct authz *authz, struct str repository, struct str user,
                                    struct arena *arena)
{
    AUTO_BUF(name);
    buf_str(&name, repository);
    buf_add(&name, user.p ? "\0u" : "\0a", 2);
    buf_str(&name, user);
    struct cache_key key = {cache_space(AUTHZ_SPACE), CACHE_AUTHZ_VIEW, authz->id,
                            hash_bytes(buf_view(&name))};
    struct authz_view *view = cache_get(key, arena);
    if (view && str_eq(view->key, buf_view(&name)))
        return view;
    view = view_new(authz, repository, user);
    view->key = buf_view(&name);
    name = (struct buf){0};
    cache_put(key, &view->shared);
    return arena_keep(arena, &view->shared);
}

size_t authz_warnings(const struct str **texts, const struct authz *authz)
{
    *texts = authz->warnings;
    return authz->warning_count;
}

bool glob_fits(struct str pattern, struct str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, retry = 0;
    while (n < name.n || p < pattern.n) {
        char c = p < pattern.n ? pattern.p[p] : 0;
        if (p < pattern.n && c == '*') {
            star = ++p;
            retry = n;
            continue;
        }
        bool escaped = c == '\\' && p + 1 < pattern.n;
        if (p < pattern.n && n < name.n &&
            (escaped ? pattern.p[p + 1] == name.p[n] : c == '?' || c == name.p[n])) {
            p += escaped ? 2 : 1;
            n++;
            continue;
        }
        if (star == SIZE_MAX || retry == name.n)
            return false;
        p = star;
        n = ++retry;
    }
    return true;
}
