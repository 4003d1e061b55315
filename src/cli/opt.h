/* SPDX-License-Identifier: Apache-2.0 */
/* opt.h - command lines: one table of options makes the parser and the help.
 *
 * Options and operands mix freely; "--" ends the options; --name=ARG, --name ARG, -nARG, -n ARG.
 * The messages for a wrong command line are the ones that users of svnadmin and svnserve know. */
#ifndef VARVE_CLI_OPT_H
#define VARVE_CLI_OPT_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct opt_spec {
    int id;           /* > 0; options with one letter use that letter */
    const char *name; /* without dashes */
    char letter;      /* 0: none */
    bool has_arg;
    const char *help; /* lines separated by LF */
};

struct opt_value {
    int id;
    const char *arg; /* NULL where the option takes none */
};

struct command_line {
    const char *prog;             /* "svnadmin", "varve": stands in messages */
    const struct opt_spec *specs; /* ended by id 0 */
    struct opt_value *values;     /* in the order given */
    size_t value_count;
    const char **operands;
    size_t operand_count;
};

/* Split ARGV (without the program's name). On a wrong option: prints to standard error what is
 * wrong and "Type 'HINT' for usage.", and returns false. */
bool command_line_parse(struct command_line *out, const char *prog, const char *hint,
                        const struct opt_spec *specs, int argc, char **argv);
void command_line_free(struct command_line *line);
bool command_line_has(const struct command_line *line, int id);
const char *command_line_arg(const struct command_line *line, int id,
                             const char *fallback); /* of the last one given */
/* All arguments of a repeated option: fills ARGS (room for value_count); how many. */
size_t command_line_args(const struct command_line *line, int id, const char **args);
/* Is every option that was given among ALLOWED (MAX ids, fewer where a 0 ends them)? Where one is
 * not, prints to standard error that SUBCOMMAND doesn't accept it. */
bool command_line_check(const struct command_line *line, const char *subcommand, const int *allowed,
                        int max);

const struct opt_spec *opt_find(const struct opt_spec *specs, int id);
/* "  -r [--revision] ARG      : help", wrapped as the tools do. */
void opt_print_help(const struct opt_spec *spec);
/* "-q [--quiet]" */
void opt_print_name(const struct opt_spec *spec, char *to, size_t size);

#endif
