/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/opt.h"

#include "base/buf.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct parse {
    struct command_line *line;
    int argc, at;
    char **argv;
};

static bool complain(const struct command_line *line, const char *hint, const char *fmt,
                     const char *what)
{
    fprintf(stderr, "%s: ", line->prog);
    fprintf(stderr, fmt, what);
    fprintf(stderr, "\nType '%s' for usage.\n", hint);
    return false;
}

static const struct opt_spec *find_name(const struct opt_spec *specs, struct str name)
{
    for (; specs->id; specs++)
        if (str_eq(str_of(specs->name), name))
            return specs;
    return NULL;
}

static const struct opt_spec *find_letter(const struct opt_spec *specs, char letter)
{
    for (; specs->id; specs++)
        if (specs->letter && specs->letter == letter)
            return specs;
    return NULL;
}

const struct opt_spec *opt_find(const struct opt_spec *specs, int id)
{
    for (; specs->id; specs++)
        if (specs->id == id)
            return specs;
    return NULL;
}

static void add_value(struct command_line *line, int id, const char *arg)
{
    line->values[line->value_count++] = (struct opt_value){id, arg};
}

static bool parse_long(struct parse *p, const char *hint)
{
    const char *word = p->argv[p->at++];
    struct str name = str_of(word + 2);
    size_t eq = str_find(name, '=');
    const char *arg = NULL;
    if (eq != SIZE_MAX) {
        arg = name.p + eq + 1;
        name.n = eq;
    }
    const struct opt_spec *spec = find_name(p->line->specs, name);
    if (!spec)
        return complain(p->line, hint, "invalid option: %s", word);
    if (!spec->has_arg && arg)
        return complain(p->line, hint, "erroneous argument: %s", word);
    if (spec->has_arg && !arg) {
        if (p->at == p->argc)
            return complain(p->line, hint, "missing argument: %s", word);
        arg = p->argv[p->at++];
    }
    add_value(p->line, spec->id, arg);
    return true;
}

static bool parse_letters(struct parse *p, const char *hint)
{
    const char *letters = p->argv[p->at++] + 1;
    for (; *letters; letters++) {
        char what[2] = {*letters, 0};
        const struct opt_spec *spec = find_letter(p->line->specs, *letters);
        if (!spec)
            return complain(p->line, hint, "invalid option character: %s", what);
        if (!spec->has_arg) {
            add_value(p->line, spec->id, NULL);
            continue;
        }
        const char *arg = letters + 1;
        if (!*arg) {
            if (p->at == p->argc)
                return complain(p->line, hint, "missing argument: %s", what);
            arg = p->argv[p->at++];
        }
        add_value(p->line, spec->id, arg);
        return true;
    }
    return true;
}

/* One word may be several one-letter options: that bounds the number of values. */
static size_t count_letters(int argc, char **argv)
{
    size_t n = 0;
    for (int i = 0; i < argc; i++)
        n += strlen(argv[i]) + 1;
    return n;
}

bool command_line_parse(struct command_line *out, const char *prog, const char *hint,
                        const struct opt_spec *specs, int argc, char **argv)
{
    *out = (struct command_line){.prog = prog, .specs = specs};
    out->values = mem_alloc(count_letters(argc, argv) * sizeof *out->values + 1);
    out->operands = mem_alloc((size_t)argc * sizeof *out->operands + 1);
    struct parse p = {out, argc, 0, argv};
    bool options_end = false;
    while (p.at < argc) {
        const char *word = argv[p.at];
        if (options_end || word[0] != '-' || word[1] == 0) {
            out->operands[out->operand_count++] = word;
            p.at++;
        } else if (strcmp(word, "--") == 0) {
            options_end = true;
            p.at++;
        } else if (!(word[1] == '-' ? parse_long(&p, hint) : parse_letters(&p, hint))) {
            return false;
        }
    }
    return true;
}

void command_line_free(struct command_line *line)
{
    free(line->values);
    free(line->operands);
}

bool command_line_has(const struct command_line *line, int id)
{
    for (size_t i = 0; i < line->value_count; i++)
        if (line->values[i].id == id)
            return true;
    return false;
}

const char *command_line_arg(const struct command_line *line, int id, const char *fallback)
{
    const char *arg = fallback;
    for (size_t i = 0; i < line->value_count; i++)
        if (line->values[i].id == id)
            arg = line->values[i].arg;
    return arg;
}

size_t command_line_args(const struct command_line *line, int id, const char **args)
{
    size_t n = 0;
    for (size_t i = 0; i < line->value_count; i++)
        if (line->values[i].id == id)
            args[n++] = line->values[i].arg;
    return n;
}

void opt_print_name(const struct opt_spec *spec, char *to, size_t size)
{
    if (spec->letter)
        snprintf(to, size, "-%c [--%s]%s", spec->letter, spec->name, spec->has_arg ? " ARG" : "");
    else
        snprintf(to, size, "--%s%s", spec->name, spec->has_arg ? " ARG" : "");
}

enum { HELP_COLUMN = 24 };

void opt_print_help(const struct opt_spec *spec)
{
    char name[80];
    opt_print_name(spec, name, sizeof name);
    printf("  %-*s : ", HELP_COLUMN, name);
    for (const char *c = spec->help; *c; c++) {
        putchar(*c);
        if (*c == '\n')
            printf("%*s", HELP_COLUMN + 5, "");
    }
    putchar('\n');
}

static bool is_among(const int *ids, int max, int id)
{
    for (int i = 0; i < max && ids[i]; i++)
        if (ids[i] == id)
            return true;
    return false;
}

bool command_line_check(const struct command_line *line, const char *subcommand, const int *allowed,
                        int max)
{
    for (size_t i = 0; i < line->value_count; i++) {
        const int id = line->values[i].id;
        if (is_among(allowed, max, id))
            continue;
        char name[80];
        opt_print_name(opt_find(line->specs, id), name, sizeof name);
        fprintf(stderr,
                "Subcommand '%s' doesn't accept option '%s'\nType '%s help %s' for usage.\n",
                subcommand, name, line->prog, subcommand);
        return false;
    }
    return true;
}
