/* SPDX-License-Identifier: Apache-2.0 */
/* authz_parse.c - rule files, read and compiled.
 *
 * The file is read once, in its order, and every mistake is reported where Subversion would: what
 * is wrong with a line at that line, what a name refers to at the end. */
#include "base/buf.h"
#include "base/ini.h"
#include "base/vec.h"
#include "repo/access/authz_int.h"
#include <stdlib.h>

struct raw_entry {
    struct str who; /* as written, '~' included */
    int rights;
};

struct raw_rule {
    struct rule rule;
    struct str header;
    struct str key; /* repository and path in normal form */
    VEC(struct raw_entry) entries;
};

struct raw_group {
    struct str name, members;
    size_t user_count, group_count; /* found in it */
    bool empty, open, done;
};

struct parser {
    struct authz *authz;
    struct arena *arena; /* of AUTHZ */
    bool global;         /* this is the file of global groups */
    bool has_global;     /* there was one, the rule file has none of its own */
    enum { IN_ALIASES, IN_GROUPS, IN_RULE } where;
    struct map *headers, *keys; /* headers seen; headers by normal form */
    struct map *aliases;        /* name to a struct str in the arena */
    struct map *group_ids;      /* name to index + 1 */
    VEC(struct raw_rule) rules;
    VEC(struct raw_group) groups;
    VEC(struct membership) memberships;
    VEC(uint32_t) user_groups; /* by user */
    VEC(struct str) warnings;
};

#define INVALID(...) err_make(E_AUTHZ_INVALID_CONFIG, __VA_ARGS__)

/* ---- paths of rules ---- */

/* TEXT without the backslashes that protect characters; a last one protects nothing. */
static struct str unescape(struct str text, struct arena *arena)
{
    char *out = arena_alloc(arena, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\' && i + 1 < text.n)
            i++;
        out[n++] = text.p[i];
    }
    return str_make(out, n);
}

static struct segment classify(struct str text, struct arena *arena)
{
    size_t wild = 0, star = SIZE_MAX;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\')
            i++;
        else if (text.p[i] == '*' || text.p[i] == '?') {
            wild++;
            star = text.p[i] == '*' ? i : SIZE_MAX;
        }
    }
    if (str_eq(text, S("*")))
        return (struct segment){SEGMENT_ANY, S("")};
    if (str_eq(text, S("**")))
        return (struct segment){SEGMENT_DEEP, S("")};
    if (wild == 0)
        return (struct segment){SEGMENT_NAME, unescape(text, arena)};
    if (wild == 1 && star == 0)
        return (struct segment){SEGMENT_SUFFIX, unescape(str_skip(text, 1), arena)};
    if (wild == 1 && star == text.n - 1)
        return (struct segment){SEGMENT_PREFIX, unescape(str_make(text.p, star), arena)};
    return (struct segment){SEGMENT_GLOB, text};
}

static const char *wrong_segment(struct str text)
{
    if (text.n == 0)
        return "Found empty name in authz rule path";
    if (str_eq(text, S(".")))
        return "Found '.' in authz rule path";
    return str_eq(text, S("..")) ? "Found '..' in authz rule path" : NULL;
}

static bool is_open(enum segment_kind kind)
{
    return kind == SEGMENT_ANY || kind == SEGMENT_DEEP;
}

/* Of neighbours "*" and "**" in any order the normal form is all "*", then one "**". */
static void normalize(struct rule *rule)
{
    size_t out = 0;
    for (size_t i = 0; i < rule->segment_count;) {
        bool deep = false;
        for (; i < rule->segment_count && is_open(rule->segments[i].kind); i++) {
            if (rule->segments[i].kind == SEGMENT_ANY)
                rule->segments[out++] = rule->segments[i];
            else
                deep = true;
        }
        if (deep)
            rule->segments[out++] = (struct segment){SEGMENT_DEEP, S("")};
        if (i < rule->segment_count)
            rule->segments[out++] = rule->segments[i++];
    }
    rule->segment_count = out;
}

/* Subversion takes every path that begins with two slashes as the root's; so do we. */
static struct err *parse_path(struct rule *rule, struct parser *p, struct str path, bool glob,
                              struct str header)
{
    if (path.n == 1 || path.p[1] == '/')
        return NULL;
    size_t count = 0;
    for (size_t i = 0; i < path.n; i++)
        count += path.p[i] == '/';
    rule->segments = arena_array(p->arena, count, sizeof *rule->segments);
    for (struct str rest = str_skip(path, 1);;) {
        size_t slash = str_find(rest, '/');
        struct str text = str_make(rest.p, slash == SIZE_MAX ? rest.n : slash);
        const char *wrong = wrong_segment(text);
        if (wrong)
            return err_wrap(INVALID("%s", wrong), 0,
                            "Non-canonical path '%.*s' in authz rule [%.*s]", STR(path),
                            STR(header));
        rule->segments[rule->segment_count++] =
            glob ? classify(text, p->arena) : (struct segment){SEGMENT_NAME, text};
        if (slash == SIZE_MAX)
            break;
        rest = str_skip(rest, slash + 1);
    }
    normalize(rule);
    return NULL;
}

static struct err *not_a_section(const struct parser *p, struct str header)
{
    return INVALID("Section is not valid in the %s file: [%.*s]",
                   p->global ? "global group" : "authz", STR(header));
}

/* [/path], [repository:/path], [:glob:/path], [:glob:repository:/path] */
static struct err *parse_header(struct rule *rule, struct parser *p, struct str header)
{
    struct str rest = header;
    bool glob = rest.n && rest.p[0] == ':';
    if (glob) {
        size_t colon = str_find(str_skip(rest, 1), ':');
        if (colon == SIZE_MAX)
            return INVALID("Empty repository name in authz rule [%.*s]", STR(header));
        struct str token = str_make(rest.p + 1, colon);
        if (!str_eq(token, S("glob")))
            return INVALID("Invalid type token '%.*s' in authz rule [%.*s]", STR(token),
                           STR(header));
        rest = str_skip(rest, colon + 2);
    }
    if (!rest.n)
        return not_a_section(p, header);
    if (rest.p[0] != '/') {
        size_t colon = str_find(rest, ':');
        if (colon == SIZE_MAX)
            return not_a_section(p, header);
        if (colon == 0)
            return INVALID("Empty repository name in authz rule [%.*s]", STR(header));
        rule->repository = str_make(rest.p, colon);
        rest = str_skip(rest, colon + 1);
        if (!rest.n || rest.p[0] != '/')
            return not_a_section(p, header);
    }
    return parse_path(rule, p, rest, glob, header);
}

/* What two headers have in common if they mean the same rule. Names hold no NUL: the file's lines
 * end there for Subversion, and for us they are no paths. */
static struct str rule_key(const struct rule *rule, struct arena *arena)
{
    AUTO_BUF(key);
    for (size_t i = 0; i < rule->segment_count; i++) {
        buf_char(&key, '/');
        buf_char(&key, (char)('0' + rule->segments[i].kind));
        buf_str(&key, rule->segments[i].text);
    }
    buf_char(&key, 0);
    buf_str(&key, rule->repository);
    return arena_str(arena, buf_view(&key));
}

static struct err *open_rule(struct parser *p, struct str header)
{
    struct raw_rule raw = {.header = header};
    TRY(parse_header(&raw.rule, p, header));
    raw.key = rule_key(&raw.rule, p->arena);
    const struct str *same = map_get(p->keys, raw.key);
    if (same)
        return INVALID("Section [%.*s] describes the same rule as section [%.*s]", STR(header),
                       STR(*same));
    struct str *kept = ARENA_NEW(p->arena, struct str);
    *kept = header;
    map_put(p->keys, raw.key, kept);
    *VEC_ADD(&p->rules) = raw;
    p->where = IN_RULE;
    return NULL;
}

static struct err *open_section(struct parser *p, struct str header)
{
    if (map_put(p->headers, header, p))
        return INVALID("Section appears more than once in the %s file: [%.*s]",
                       p->global ? "global groups" : "authz", STR(header));
    if (str_eq(header, S("groups"))) {
        p->where = IN_GROUPS;
        return NULL;
    }
    if (p->global)
        return not_a_section(p, header);
    if (str_eq(header, S("aliases"))) {
        p->where = IN_ALIASES;
        return NULL;
    }
    return open_rule(p, header);
}

/* ---- what stands in a section ---- */

/* Names must not look like an entry of another kind; the empty one does so to Subversion. */
static struct err *check_name(const char *what, struct str name)
{
    if (name.n == 0)
        return INVALID("%s name '' may not begin with '", what);
    if (memchr("@&~*$", name.p[0], 5))
        return INVALID("%s name '%.*s' may not begin with '%c'", what, STR(name), name.p[0]);
    return NULL;
}

static uint32_t user_id(struct parser *p, struct str name)
{
    uintptr_t id = (uintptr_t)map_get(p->authz->users, name);
    if (!id) {
        *VEC_ADD(&p->user_groups) = 0;
        id = p->user_groups.n;
        map_put(p->authz->users, name, (void *)id);
    }
    return (uint32_t)id - 1;
}

static struct err *take_alias(struct parser *p, struct str name, struct str value)
{
    TRY(check_name("Alias", name));
    struct str *user = ARENA_NEW(p->arena, struct str);
    *user = value;
    if (map_put(p->aliases, name, user))
        return INVALID("Can't override definition of alias '&%.*s'", STR(name));
    user_id(p, value);
    return NULL;
}

static struct err *take_group(struct parser *p, struct str name, struct str members)
{
    if (p->has_global && !p->global)
        return INVALID("Authz file cannot contain any groups when global groups are being used.");
    TRY(check_name(p->global ? "Global group" : "Group", name));
    struct raw_group group = {.name = name, .members = members};
    *VEC_ADD(&p->groups) = group;
    if (map_put(p->group_ids, name, (void *)(uintptr_t)p->groups.n))
        return INVALID("Can't override definition of %sgroup '@%.*s'", p->global ? "global " : "",
                       STR(name));
    return NULL;
}

static struct err *check_who(struct str who)
{
    bool inverted = who.n && who.p[0] == '~';
    struct str name = str_skip(who, inverted);
    if (!name.n)
        return NULL;
    switch (name.p[0]) {
    case '~':
        return INVALID("Access entry '%.*s' has more than one inversion; double negatives are not "
                       "permitted",
                       STR(who));
    case '*':
        if (name.n > 1)
            return INVALID("Access entry '%.*s' is not valid; it must be a single '*'", STR(who));
        return inverted ? INVALID("Access entry '~*' will never match") : NULL;
    case '$':
        if (!str_eq(name, S("$anonymous")) && !str_eq(name, S("$authenticated")))
            return INVALID("Access entry token '%.*s' is not valid; should be '$anonymous' or "
                           "'$authenticated'",
                           STR(who));
        return NULL;
    default:
        return NULL;
    }
}

static struct err *parse_rights(int *rights, struct str value, struct str who, struct str header)
{
    *rights = 0;
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];
        if (c == 'r')
            *rights |= ACCESS_READ;
        else if (c == 'w')
            *rights |= ACCESS_WRITE;
        else if (c != ' ' && (c < '\t' || c > '\r'))
            return INVALID("The access mode '%c' in access entry '%.*s' of rule [%.*s] is not "
                           "valid",
                           c, STR(who), STR(header));
    }
    if (*rights == ACCESS_WRITE)
        return INVALID("Write-only access entry '%.*s' of rule [%.*s] is not valid", STR(who),
                       STR(header));
    return NULL;
}

static struct err *take_entry(struct parser *p, struct str who, struct str value)
{
    struct raw_rule *raw = &p->rules.list[p->rules.n - 1];
    struct raw_entry entry = {.who = who};
    TRY(check_who(who));
    TRY(parse_rights(&entry.rights, value, who, raw->header));
    *VEC_ADD(&raw->entries) = entry;
    return NULL;
}

static struct err *read_file(struct parser *p, struct str text)
{
    struct ini_reader reader;
    struct ini_item item;
    ini_reader_init(&reader, arena_str(p->arena, text), p->arena);
    for (;;) {
        TRY(ini_next(&item, &reader));
        if (item.kind == INI_END)
            return NULL;
        if (item.kind == INI_SECTION)
            TRY(open_section(p, item.name));
        else if (p->where == IN_ALIASES)
            TRY(take_alias(p, item.name, item.value));
        else if (p->where == IN_GROUPS)
            TRY(take_group(p, item.name, item.value));
        else
            TRY(take_entry(p, item.name, item.value));
    }
}

/* ---- groups ---- */

/* The group NAME's index + 1; 0: none. */
static uintptr_t group_at(const struct parser *p, struct str name)
{
    return (uintptr_t)map_get(p->group_ids, name);
}

static struct err *find_alias(struct str *user, const struct parser *p, struct str name)
{
    const struct str *found = map_get(p->aliases, name);
    if (!found)
        return INVALID("Alias '&%.*s' was never defined", STR(name));
    *user = *found;
    return NULL;
}

static void join(struct parser *p, uint32_t *list, size_t group)
{
    struct membership membership = {(uint32_t)group, *list};
    *VEC_ADD(&p->memberships) = membership;
    *list = (uint32_t)p->memberships.n - 1;
}

/* The next member of a list, trimmed and not empty. */
static bool next_member(struct str *member, struct str *list)
{
    while (list->n) {
        size_t comma = str_find(*list, ',');
        *member = str_trim(str_make(list->p, comma == SIZE_MAX ? list->n : comma));
        *list = comma == SIZE_MAX ? S("") : str_skip(*list, comma + 1);
        if (member->n)
            return true;
    }
    return false;
}

static struct err *take_users(struct parser *p, size_t index)
{
    struct raw_group *group = &p->groups.list[index];
    struct str member, list = group->members;
    while (next_member(&member, &list)) {
        if (member.p[0] == '@')
            continue;
        if (member.p[0] == '&')
            TRY(find_alias(&member, p, str_skip(member, 1)));
        uint32_t id = user_id(p, member);
        join(p, &p->user_groups.list[id], index);
        group->user_count++;
    }
    return NULL;
}

static struct err *take_subgroups(struct parser *p, size_t index)
{
    struct raw_group *group = &p->groups.list[index];
    struct str member, list = group->members;
    while (next_member(&member, &list)) {
        if (member.p[0] != '@')
            continue;
        uintptr_t at = group_at(p, str_skip(member, 1));
        if (!at)
            return INVALID("Undefined group '%.*s'", STR(member));
        join(p, &p->authz->group_groups[at - 1], index);
        group->group_count++;
    }
    return NULL;
}

/* Take away, again and again, groups that are in no other group that is left: what then remains are
 * circles and what is in them. `user_count` goes up to those around: a group is empty that has
 * no users by any way. COUNT and STACK have room for each group. */
static struct err *check_circles(struct parser *p, size_t *stack)
{
    size_t depth = 0, left = p->groups.n;
    for (size_t i = 0; i < p->groups.n; i++)
        if (p->groups.list[i].group_count == 0)
            stack[depth++] = i;
    for (; depth; left--) {
        size_t inner = stack[--depth];
        p->groups.list[inner].done = true;
        p->groups.list[inner].empty = p->groups.list[inner].user_count == 0;
        for (uint32_t at = p->authz->group_groups[inner]; at; at = p->memberships.list[at].next) {
            struct raw_group *outer = &p->groups.list[p->memberships.list[at].group];
            outer->user_count += !p->groups.list[inner].empty;
            if (--outer->group_count == 0)
                stack[depth++] = p->memberships.list[at].group;
        }
    }
    for (size_t i = 0; left && i < p->groups.n; i++)
        if (!p->groups.list[i].done)
            return INVALID("Recursive definition of group '@%.*s'", STR(p->groups.list[i].name));
    return NULL;
}

static struct err *resolve_groups(struct parser *p)
{
    struct authz *authz = p->authz;
    authz->group_count = p->groups.n;
    authz->group_groups =
        memset(arena_array(p->arena, p->groups.n + 1, sizeof *authz->group_groups), 0,
               (p->groups.n + 1) * sizeof *authz->group_groups);
    struct membership none = {0};
    *VEC_ADD(&p->memberships) = none;
    for (size_t i = 0; i < p->groups.n; i++)
        TRY(take_users(p, i));
    for (size_t i = 0; i < p->groups.n; i++)
        TRY(take_subgroups(p, i));
    size_t *stack = mem_alloc((p->groups.n + 1) * sizeof *stack);
    struct err *err = check_circles(p, stack);
    free(stack);
    return err;
}

/* ---- entries, compiled ---- */

static int cmp_raw_entries(const void *a, const void *b)
{
    struct str x = ((const struct raw_entry *)a)->who, y = ((const struct raw_entry *)b)->who;
    bool inverted_x = x.n && x.p[0] == '~', inverted_y = y.n && y.p[0] == '~';
    return inverted_x != inverted_y ? inverted_y - inverted_x : str_cmp(x, y);
}

static void warn_empty(struct parser *p, struct str name)
{
    struct str text =
        arena_printf(p->arena, "Ignoring access entry for empty group '%.*s'", STR(name));
    *VEC_ADD(&p->warnings) = text;
}

static struct err *compile_entry(struct entry *out, struct parser *p, const struct raw_entry *raw)
{
    bool inverted = raw->who.n && raw->who.p[0] == '~';
    struct str name = str_skip(raw->who, inverted);
    *out = (struct entry){.inverted = inverted, .rights = raw->rights};
    if (name.n && name.p[0] == '*') {
        out->who = WHO_ALL;
        return NULL;
    }
    if (name.n && name.p[0] == '$') {
        bool anonymous = str_eq(name, S("$anonymous")) != inverted;
        out->who = anonymous ? WHO_ANONYMOUS : WHO_AUTHENTICATED;
        return NULL;
    }
    if (name.n && name.p[0] == '&')
        TRY(find_alias(&name, p, str_skip(name, 1)));
    if (!name.n || name.p[0] != '@') {
        out->who = WHO_USER;
        out->id = user_id(p, name);
        return NULL;
    }
    uintptr_t at = group_at(p, str_skip(name, 1));
    if (!at)
        return INVALID("Access entry refers to undefined group '%.*s'", STR(name));
    out->who = WHO_GROUP;
    out->id = (uint32_t)at - 1;
    if (p->groups.list[at - 1].empty) {
        out->who = WHO_EMPTY_GROUP;
        warn_empty(p, name);
    }
    return NULL;
}

static struct err *compile_rule(struct rule *out, struct parser *p, struct raw_rule *raw)
{
    *out = raw->rule;
    out->entries = arena_array(p->arena, raw->entries.n, sizeof *out->entries);
    if (raw->entries.n)
        qsort(raw->entries.list, raw->entries.n, sizeof *raw->entries.list, cmp_raw_entries);
    for (; out->entry_count < raw->entries.n; out->entry_count++)
        TRY(compile_entry(&out->entries[out->entry_count], p,
                          &raw->entries.list[out->entry_count]));
    return NULL;
}

/* Aliases are looked for before any group is, in a rule's entries. */
static struct err *check_aliases(const struct parser *p, const struct raw_rule *raw)
{
    for (size_t i = 0; i < raw->entries.n; i++) {
        struct str who = raw->entries.list[i].who, user;
        who = str_skip(who, who.n && who.p[0] == '~');
        if (who.n && who.p[0] == '&')
            TRY(find_alias(&user, p, str_skip(who, 1)));
    }
    return NULL;
}

struct place {
    struct str key;
    size_t index;
};

static int cmp_places(const void *a, const void *b)
{
    return str_cmp(((const struct place *)a)->key, ((const struct place *)b)->key);
}

/* Rules are compiled by path, so that of several mistakes the one is told that Subversion finds
 * first; they stand in the file's order. */
static struct err *compile_rules(struct parser *p)
{
    struct authz *authz = p->authz;
    authz->rule_count = p->rules.n;
    authz->rules = arena_array(p->arena, p->rules.n, sizeof *authz->rules);
    struct place *places = mem_alloc((p->rules.n + 1) * sizeof *places);
    for (size_t i = 0; i < p->rules.n; i++)
        places[i] = (struct place){p->rules.list[i].key, i};
    qsort(places, p->rules.n, sizeof *places, cmp_places);
    struct err *err = NULL;
    for (size_t i = 0; !err && i < p->rules.n; i++) {
        size_t index = places[i].index;
        err = check_aliases(p, &p->rules.list[index]);
        if (!err)
            err = compile_rule(&authz->rules[index], p, &p->rules.list[index]);
    }
    free(places);
    return err;
}

/* ---- the whole ---- */

static void authz_destroy(struct shared *shared)
{
    struct authz *authz = (void *)shared;
    map_free(authz->users, NULL);
    arena_free(authz->arena);
    free(authz);
}

static struct authz *authz_new(void)
{
    static atomic_uint_fast64_t last_id;
    struct authz *authz = mem_zalloc(sizeof *authz);
    authz->arena = arena_new();
    authz->users = map_new();
    authz->id = atomic_fetch_add(&last_id, 1) + 1;
    shared_init(&authz->shared, sizeof *authz, authz_destroy);
    return authz;
}

static void *keep(struct arena *arena, const void *array, size_t count, size_t size)
{
    void *copy = arena_array(arena, count + 1, size);
    if (count)
        memcpy(copy, array, count * size);
    return copy;
}

static void parser_free(struct parser *p)
{
    for (size_t i = 0; i < p->rules.n; i++)
        free(p->rules.list[i].entries.list);
    map_free(p->headers, NULL);
    map_free(p->keys, NULL);
    map_free(p->aliases, NULL);
    map_free(p->group_ids, NULL);
    free(p->rules.list);
    free(p->groups.list);
    free(p->memberships.list);
    free(p->user_groups.list);
    free(p->warnings.list);
}

static struct err *parse_all(struct parser *p, struct str text, const struct str *groups)
{
    p->has_global = groups;
    TRY(read_file(p, text));
    if (groups) {
        p->global = true;
        map_free(p->headers, NULL);
        p->headers = map_new();
        TRY(read_file(p, *groups));
    }
    TRY(resolve_groups(p));
    TRY(compile_rules(p));
    struct authz *authz = p->authz;
    authz->memberships =
        keep(p->arena, p->memberships.list, p->memberships.n, sizeof *p->memberships.list);
    authz->user_groups =
        keep(p->arena, p->user_groups.list, p->user_groups.n, sizeof *p->user_groups.list);
    authz->warnings = keep(p->arena, p->warnings.list, p->warnings.n, sizeof *p->warnings.list);
    authz->warning_count = p->warnings.n;
    authz->shared.bytes += arena_used(p->arena);
    return NULL;
}

struct err *authz_parse(struct authz **out, struct str text, const struct str *groups)
{
    struct parser p = {.authz = authz_new()};
    p.arena = p.authz->arena;
    p.headers = map_new();
    p.keys = map_new();
    p.aliases = map_new();
    p.group_ids = map_new();
    struct err *err = parse_all(&p, text, groups);
    parser_free(&p);
    if (err)
        shared_unref(p.authz);
    else
        *out = p.authz;
    return err;
}
