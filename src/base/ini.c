/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ini.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

enum {
    FILE_MAX = 64 << 20,        /* bytes of a file; authz files of large sites have a few MiB */
    EXPANDED_MAX = 64 << 10,    /* bytes of a value with all its %(names)s replaced */
    ALL_EXPANDED_MAX = 4 << 20, /* of all such values together */
    EXPAND_DEPTH_MAX = 32,      /* names within names */
};

#define DEFAULTS S("DEFAULT") /* the section whose options all others have, too */

static bool take_line(struct ini_reader *r, struct str *line)
{
    const bool taken = str_text_line(line, r->text, &r->pos);
    r->line += taken;
    return taken;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct err *syntax_error(const struct ini_reader *r, const char *what)
{
    return err_make(E_MALFORMED_FILE, "line %u: %s", r->line, what);
}

/* VALUE and the lines that continue it, each trimmed and joined by one space. */
static struct str take_value(struct ini_reader *r, struct str first)
{
    struct str value = str_trim(first), line;
    AUTO_BUF(joined);
    for (;;) {
        size_t pos = r->pos;
        unsigned number = r->line;
        if (!take_line(r, &line) || line.n == 0 || !is_blank(line.p[0]) || !str_trim(line).n) {
            r->pos = pos;
            r->line = number;
            break;
        }
        if (joined.n == 0)
            buf_str(&joined, value);
        if (joined.n)
            buf_char(&joined, ' ');
        buf_str(&joined, str_trim(line));
    }
    return joined.n ? arena_str(r->arena, buf_view(&joined)) : value;
}

void ini_reader_init(struct ini_reader *reader, struct str text, struct arena *arena)
{
    if (str_starts(text, S("\xef\xbb\xbf")))
        text = str_skip(text, 3);
    *reader = (struct ini_reader){.text = text, .arena = arena};
}

/* Line numbers leave headers out, as administrators know it from Subversion's messages. */
static struct err *take_header(struct ini_item *item, struct ini_reader *r, struct str line)
{
    size_t end = str_find(line, ']');
    if (end == SIZE_MAX)
        return syntax_error(r, "Section header must end with ']'");
    *item = (struct ini_item){INI_SECTION, str_make(line.p + 1, end - 1), {0}, r->line--};
    r->in_section = true;
    return NULL;
}

static struct err *take_option(struct ini_item *item, struct ini_reader *r, struct str line)
{
    if (is_blank(line.p[0]))
        return syntax_error(r, str_trim(line).p[0] == '['
                                   ? "Section header must start in the first column"
                               : r->in_section ? "Option expected"
                                               : "Section header expected");
    if (!r->in_section)
        return syntax_error(r, "Section header expected");
    size_t equals = str_find(line, '='), colon = str_find(line, ':');
    size_t end = equals < colon ? equals : colon;
    if (end == SIZE_MAX)
        return syntax_error(r, "Option must end with ':' or '='");
    *item = (struct ini_item){INI_OPTION, str_trim(str_make(line.p, end)), {0}, r->line};
    item->value = take_value(r, str_skip(line, end + 1));
    return NULL;
}

struct err *ini_next(struct ini_item *item, struct ini_reader *reader)
{
    struct str line;
    while (take_line(reader, &line)) {
        if (str_trim(line).n == 0 || line.p[0] == '#')
            continue;
        return line.p[0] == '[' ? take_header(item, reader, line) : take_option(item, reader, line);
    }
    *item = (struct ini_item){.kind = INI_END};
    return NULL;
}

/* A section while the file is read. */
struct growing {
    struct str name;
    unsigned line;
    VEC(struct ini_option) options;
    struct map *keys; /* key to index + 1 */
};

/* While a file is read: sections and options by name. */
struct parser {
    int flags;
    struct arena *arena;
    VEC(struct growing) sections;
    struct map *names; /* section name to index + 1 */
};

/* The form of NAME under which it is looked up. */
static struct str folded(const struct parser *p, struct str name)
{
    if (p->flags & INI_CASE_SENSITIVE)
        return name;
    char *lower = arena_cstr(p->arena, name);
    for (size_t i = 0; i < name.n; i++) {
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] += 'a' - 'A';
    }
    return str_make(lower, name.n);
}

static bool name_eq(const struct ini *ini, struct str a, struct str b)
{
    if (ini->flags & INI_CASE_SENSITIVE)
        return str_eq(a, b);
    return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

static struct growing *section_enter(struct parser *p, struct str name, unsigned line)
{
    struct str key = folded(p, name);
    uintptr_t at = (uintptr_t)map_get(p->names, key);
    if (at)
        return &p->sections.list[at - 1];
    struct growing *section = VEC_ADD(&p->sections);
    *section = (struct growing){.name = name, .line = line, .keys = map_new()};
    map_put(p->names, key, (void *)(uintptr_t)p->sections.n);
    return section;
}

static void option_set(struct parser *p, struct growing *g, struct ini_option option)
{
    struct str key = folded(p, option.key);
    uintptr_t at = (uintptr_t)map_get(g->keys, key);
    if (at) {
        g->options.list[at - 1].value = option.value;
        g->options.list[at - 1].line = option.line;
        return;
    }
    *VEC_ADD(&g->options) = option;
    map_put(g->keys, key, (void *)(uintptr_t)g->options.n);
}

static struct err *read_items(struct parser *p, struct str text)
{
    struct ini_reader reader;
    struct ini_item item;
    struct growing *current = NULL;
    ini_reader_init(&reader, text, p->arena);
    for (;;) {
        TRY(ini_next(&item, &reader));
        if (item.kind == INI_END)
            return NULL;
        if (item.kind == INI_SECTION)
            current = section_enter(p, item.name, item.line);
        else
            option_set(p, current, (struct ini_option){item.name, item.value, item.line});
    }
}

/* Find the %(NAME)s that begins at or behind *AT; false where there is none. */
static bool find_reference(struct str s, size_t *at, struct str *name)
{
    for (size_t i = *at; i + 3 < s.n; i++) {
        if (s.p[i] != '%' || s.p[i + 1] != '(')
            continue;
        size_t close = str_find(str_skip(s, i), ')');
        if (close == SIZE_MAX || i + close + 1 == s.n)
            return false;
        if (s.p[i + close + 1] == 's') {
            *at = i;
            *name = str_make(s.p + i + 2, close - 2);
            return true;
        }
        i += close; /* what begins before this parenthesis ends with it, too */
    }
    return false;
}

static const struct ini_option *option_find(const struct ini *ini,
                                            const struct ini_section *section, struct str key)
{
    for (size_t i = section ? section->count : 0; i > 0; i--) {
        if (name_eq(ini, section->options[i - 1].key, key))
            return &section->options[i - 1];
    }
    return NULL;
}

/* One value under expansion: INI's options are still as written. */
struct expansion {
    const struct ini *ini;
    const struct ini_section *section, *defaults;
    const struct ini_option *open[EXPAND_DEPTH_MAX]; /* whose values are being expanded */
    unsigned depth;
    struct buf out;
};

/* Append VALUE, which belongs to OPTION. A name that is being expanded already stands for nothing;
 * one that does not exist stays as it is. */
static struct err *expand(struct expansion *x, const struct ini_option *option, struct str value)
{
    for (unsigned i = 0; i < x->depth; i++) {
        if (x->open[i] == option)
            return NULL;
    }
    if (x->depth == EXPAND_DEPTH_MAX)
        return err_make(E_MALFORMED_FILE, "line %u: Value refers to values too deeply",
                        option->line);
    x->open[x->depth++] = option;
    size_t done = 0, at = 0;
    struct str name;
    while (find_reference(value, &at, &name)) {
        size_t behind = at + name.n + 4;
        const struct ini_option *other = option_find(x->ini, x->section, name);
        if (!other)
            other = option_find(x->ini, x->defaults, name);
        if (other) {
            buf_add(&x->out, value.p + done, at - done);
            TRY(expand(x, other, other->value));
            done = behind;
        }
        at = behind;
    }
    buf_add(&x->out, value.p + done, value.n - done);
    x->depth--;
    if (x->out.n > EXPANDED_MAX)
        return err_make(E_MALFORMED_FILE, "line %u: Value is too long", option->line);
    return NULL;
}

/* Values refer to others as written, so that new values are set aside until all are made. */
static struct err *expand_all(struct ini *ini, struct arena *arena)
{
    struct expansion x = {.ini = ini, .defaults = ini_section(ini, DEFAULTS)};
    struct changed {
        struct ini_option *option;
        struct str value;
        struct changed *next;
    } *list = NULL;
    struct err *err = NULL;
    size_t total = 0;
    for (size_t i = 0; !err && i < ini->count; i++) {
        x.section = &ini->sections[i];
        for (size_t k = 0; !err && k < x.section->count; k++) {
            struct ini_option *option = &ini->sections[i].options[k];
            size_t at = 0;
            struct str name;
            if (!find_reference(option->value, &at, &name))
                continue;
            buf_clear(&x.out);
            x.depth = 0;
            err = expand(&x, option, option->value);
            total += x.out.n;
            if (!err && total > ALL_EXPANDED_MAX)
                err = err_make(E_MALFORMED_FILE, "line %u: Values are too long", option->line);
            struct changed *changed = ARENA_NEW(arena, struct changed);
            *changed = (struct changed){option, arena_str(arena, buf_view(&x.out)), list};
            list = changed;
        }
    }
    buf_free(&x.out);
    for (; !err && list; list = list->next)
        list->option->value = list->value;
    return err;
}

static void parser_free(struct parser *p)
{
    for (size_t i = 0; i < p->sections.n; i++) {
        map_free(p->sections.list[i].keys, NULL);
        free(p->sections.list[i].options.list);
    }
    free(p->sections.list);
    map_free(p->names, NULL);
}

/* What has been read, as the caller gets it. */
static void finish(struct ini *out, const struct parser *p)
{
    *out = (struct ini){.count = p->sections.n, .flags = p->flags};
    out->sections = arena_array(p->arena, out->count, sizeof *out->sections);
    for (size_t i = 0; i < out->count; i++) {
        const struct growing *read = &p->sections.list[i];
        const size_t n = read->options.n;
        struct ini_option *options = arena_array(p->arena, n, sizeof *options);
        if (n)
            memcpy(options, read->options.list, n * sizeof *options);
        out->sections[i] = (struct ini_section){read->name, options, n, read->line};
    }
}

struct err *ini_parse(struct ini *out, struct str text, const char *name, int flags,
                      struct arena *arena)
{
    struct parser p = {.flags = flags, .arena = arena};
    p.names = map_new();
    struct err *err = read_items(&p, arena_str(arena, text));
    if (!err) {
        finish(out, &p);
        if (!(flags & INI_NO_EXPANSION))
            err = expand_all(out, arena);
    }
    parser_free(&p);
    return name ? err_wrap(err, 0, "Error while parsing config file: %s:", name) : err;
}

struct err *ini_read(struct ini *out, const char *path, bool may_be_missing, int flags,
                     struct arena *arena)
{
    AUTO_BUF(text);
    struct err *err = file_read_all(&text, path, FILE_MAX);
    if (err && may_be_missing && (err->code == ENOENT || err->code == ENOTDIR)) {
        err_free(err);
        err = NULL;
    }
    TRY(err);
    return ini_parse(out, buf_view(&text), path, flags, arena);
}

const struct ini_section *ini_section(const struct ini *ini, struct str name)
{
    for (size_t i = 0; i < ini->count; i++) {
        if (name_eq(ini, ini->sections[i].name, name))
            return &ini->sections[i];
    }
    return NULL;
}

/* The option that counts for KEY in the section of that NAME, or NULL. */
static const struct ini_option *option_get(const struct ini *ini, struct str name, struct str key)
{
    const struct ini_section *section = ini_section(ini, name);
    const struct ini_option *option = option_find(ini, section, key);
    if (!option && section && section->count) /* an empty one is as none */
        option = option_find(ini, ini_section(ini, DEFAULTS), key);
    return option;
}

struct str ini_get(const struct ini *ini, struct str section, struct str key, struct str fallback)
{
    const struct ini_option *option = option_get(ini, section, key);
    return option ? option->value : fallback;
}

struct err *ini_get_bool(bool *out, const struct ini *ini, struct str section, struct str key,
                         bool fallback)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true},   {"yes", true}, {"on", true},   {"1", true},
                 {"false", false}, {"no", false}, {"off", false}, {"0", false}};
    const struct ini_option *option = option_get(ini, section, key);
    *out = fallback;
    if (!option)
        return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct str word = str_of(words[i].word);
        if (option->value.n == word.n && strncasecmp(option->value.p, word.p, word.n) == 0) {
            *out = words[i].value;
            return NULL;
        }
    }
    return err_make(E_BAD_CONFIG_VALUE,
                    "Config error: invalid boolean value '%.*s' for '[%.*s] %.*s'",
                    STR(option->value), STR(section), STR(key));
}

struct err *ini_get_i64(int64_t *out, const struct ini *ini, struct str section, struct str key,
                        int64_t fallback)
{
    const struct ini_option *option = option_get(ini, section, key);
    *out = fallback;
    if (option && !num_i64(out, option->value))
        return err_make(E_INCORRECT_PARAMS,
                        "Could not convert '%.*s' into a number for '[%.*s] %.*s'",
                        STR(option->value), STR(section), STR(key));
    return NULL;
}
