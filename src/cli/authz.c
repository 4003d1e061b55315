/* SPDX-License-Identifier: Apache-2.0 */
/* authz.c - the command line of `varve authz`, svnauthz and svnauthz-validate: rule files, checked
 * and asked. */
#include "base/cache.h"
#include "base/path.h"
#include "cli/tool.h"
#include "repo/admin/authz_file.h"
#include "repo/admin/registry.h"
#include <stdio.h>

enum authz_option {
    AUTHZ_OPT_USERNAME = OPT_LONG_ONLY,
    AUTHZ_OPT_PATH,
    AUTHZ_OPT_REPOSITORY,
    AUTHZ_OPT_IS,
    AUTHZ_OPT_GROUPS_FILE,
    AUTHZ_OPT_VERSION,
};

/* What scripts learn from the exit status. */
enum status { STATUS_OK, STATUS_INVALID, STATUS_TROUBLE, STATUS_OTHER_RIGHTS };

static const struct opt_spec authz_table[] = {
    {'t', "transaction", 't', true, "the file as it is in transaction ARG"},
    {AUTHZ_OPT_USERNAME, "username", 0, true, "the user; nobody in particular where not given"},
    {AUTHZ_OPT_PATH, "path", 0, true,
     "the path in the repository; the most that the user has\n"
     "anywhere where not given"},
    {AUTHZ_OPT_REPOSITORY, "repository", 0, true, "the name that rules have for the repository"},
    {AUTHZ_OPT_IS, "is", 0, true,
     "print nothing; exit with 0 if the rights are ARG (rw, r\nor no), with 3 if not"},
    {AUTHZ_OPT_GROUPS_FILE, "groups-file", 0, true, "take the groups from file ARG"},
    {'R', "recursive", 'R', false, "the rights on everything at and below the path"},
    {'h', "help", 'h', false, "show this help"},
    {'h', "help", '?', false, "show this help"},
    {AUTHZ_OPT_VERSION, "version", 0, false, "show the program's version"},
    {0},
};

struct call {
    const char *prog;
    const struct command_line *line;
    struct arena *arena;
};

enum { COMMAND_OPTIONS_MAX = 8 };

struct command {
    const char *name;
    enum status (*run)(const struct call *call);
    const char *about;
    int options[COMMAND_OPTIONS_MAX];
};

static enum status run_validate(const struct call *call);
static enum status run_accessof(const struct call *call);

static const struct command commands[] = {
    {"validate",
     run_validate,
     "Check a rule file. FILE is a path on disk or a URL file:///REPOSITORY/PATH; with -t\n"
     "it is the path of a file in a transaction of the repository in REPOS_PATH.\n\n"
     "Exit status: 0 the file is in order, 1 it has mistakes, 2 it cannot be read.",
     {'t'}},
    {"accessof",
     run_accessof,
     "Print what the rules in FILE give to a user: rw, r or no.\n\n"
     "Exit status: 0, 1 the file has mistakes, 2 it cannot be read, 3 --is does not hold.",
     {'t', AUTHZ_OPT_USERNAME, AUTHZ_OPT_PATH, AUTHZ_OPT_REPOSITORY, AUTHZ_OPT_IS,
      AUTHZ_OPT_GROUPS_FILE, 'R'}},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* ---- help ---- */

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void print_overview(const char *prog)
{
    printf("general usage: %s SUBCOMMAND FILE [ARGS & OPTIONS ...]\n", prog);
    printf("               svnauthz-validate FILE\n\nRules of path-based authorization, checked "
           "and asked.\n");
    printf("Type '%s help <subcommand>' for help on a specific subcommand.\n", prog);
    printf("Type '%s --version' to see the program version.\n\nAvailable subcommands:\n", prog);
    printf("   help (?, h)\n   validate\n   accessof\n\n");
}

static void print_command_help(const char *prog, const struct command *command)
{
    printf("%s: usage: %s %s FILE\n       %s %s -t TXN REPOS_PATH PATH\n\n%s\n\nValid options:\n",
           command->name, prog, command->name, prog, command->name, command->about);
    for (int i = 0; i < COMMAND_OPTIONS_MAX && command->options[i]; i++)
        opt_print_help(opt_find(authz_table, command->options[i]));
    putchar('\n');
}

static enum status print_help(const char *prog, const char **names, size_t count)
{
    if (count == 0)
        print_overview(prog);
    for (size_t i = 0; i < count; i++) {
        const struct command *command = find_command(names[i]);
        if (command)
            print_command_help(prog, command);
        else if (strcmp(names[i], "help") == 0)
            printf("help (?, h): usage: %s help [SUBCOMMAND...]\n\nShow what the program, or a "
                   "subcommand of it, does.\n",
                   prog);
        else
            fprintf(stderr, "\"%s\": unknown command.\n\n", names[i]);
    }
    return STATUS_OK;
}

/* ---- rule files ---- */

static enum status fail(const struct call *call, struct err *err, enum status status)
{
    err_print(err, call->prog);
    err_free(err);
    return status;
}

static enum status fail_usage(const struct call *call, struct err *err)
{
    return fail(call, err_wrap(err, 0, "Try '%s help' for more info", call->prog), STATUS_TROUBLE);
}

/* NAME as it is given to authz_load: without what changes nothing ("./", "//", a last "/"). */
static struct err *clean_name(const char **out, struct str name, struct arena *arena)
{
    if (str_starts(name, S("^/")))
        return err_make(E_CL_ARG_PARSING_ERROR,
                        "'%.*s' is a repository relative URL when it should be a local path or "
                        "file:// URL",
                        STR(name));
    *out = name.p;
    if (strstr(name.p, "://"))
        return NULL;
    bool relative = !name.n || name.p[0] != '/';
    struct str clean = path_canonicalize(relative ? path_join(S("/"), name, arena) : name, arena);
    *out = arena_cstr(arena, str_skip(clean, relative));
    return NULL;
}

static struct err *open_rules(struct authz **out, const struct call *call)
{
    const struct command_line *line = call->line;
    const char *txn = command_line_arg(line, 't', NULL);
    const char *groups = command_line_arg(line, AUTHZ_OPT_GROUPS_FILE, NULL);
    struct authz_place place = {.kind = "authz"};
    if (groups)
        TRY(clean_name(&place.groups, str_of(groups), call->arena));
    TRY(clean_name(&place.rules, str_of(line->operands[txn ? 1 : 0]), call->arena));
    if (!txn)
        return authz_load(out, &place, call->arena);
    const char *folder;
    TRY(clean_name(&folder, str_of(line->operands[0]), call->arena));
    return authz_load_txn(out, folder, str_of(txn), &place, call->arena);
}

/* NULL, and the status in *STATUS, where there are no rules to ask. */
static struct authz *load_rules(enum status *status, const struct call *call)
{
    struct authz *authz = NULL;
    bool has_txn = command_line_has(call->line, 't');
    *status = STATUS_TROUBLE;
    if (call->line->operand_count != (has_txn ? 2 : 1)) {
        fail(call,
             err_make(E_CL_ARG_PARSING_ERROR, has_txn
                                                  ? "Repository and authz file arguments required"
                                                  : "Authz file argument required"),
             STATUS_TROUBLE);
        return NULL;
    }
    struct err *err = open_rules(&authz, call);
    if (err) {
        bool mistake = err->code == E_AUTHZ_INVALID_CONFIG || err->code == E_MALFORMED_FILE;
        *status = fail(call, err, mistake ? STATUS_INVALID : STATUS_TROUBLE);
        return NULL;
    }
    const struct str *texts;
    size_t n = authz_warnings(&texts, authz);
    for (size_t i = 0; i < n; i++) {
        struct err *warning = err_make(E_AUTHZ_INVALID_CONFIG, "%.*s", STR(texts[i]));
        err_print_warning(warning, call->prog);
        err_free(warning);
    }
    *status = STATUS_OK;
    return authz;
}

static enum status run_validate(const struct call *call)
{
    enum status status;
    load_rules(&status, call);
    return status;
}

/* ---- accessof ---- */

static const char *rights_word(int rights)
{
    return rights & ACCESS_WRITE ? "rw" : rights & ACCESS_READ ? "r" : "no";
}

static enum status compare_rights(const struct call *call, const char *where, const char *has,
                                  const char *wanted)
{
    if (strcmp(has, wanted) == 0)
        return STATUS_OK;
    int code = E_AUTHZ_PARTIALLY_READABLE;
    const char *not = "not no access";
    if (strcmp(wanted, "rw") == 0) {
        code = E_AUTHZ_UNWRITABLE;
        not = "not writable";
    } else if (strcmp(wanted, "r") == 0) {
        code = E_AUTHZ_UNREADABLE;
        not = "not read only";
    }
    return fail(call, err_make(code, "%s is '%s', %s", where, has, not ), STATUS_OTHER_RIGHTS);
}

static enum status run_accessof(const struct call *call)
{
    const struct command_line *line = call->line;
    const char *path = command_line_arg(line, AUTHZ_OPT_PATH, NULL);
    const char *is = command_line_arg(line, AUTHZ_OPT_IS, NULL);
    bool recursive = command_line_has(line, 'R');
    if (recursive && !path)
        return fail_usage(call,
                          err_make(E_CL_ARG_PARSING_ERROR, "--recursive not valid without --path"));
    if (is && strcmp(is, "rw") != 0 && strcmp(is, "r") != 0 && strcmp(is, "no") != 0)
        return fail_usage(
            call, err_make(E_CL_ARG_PARSING_ERROR, "'%s' is not a valid argument for --is", is));
    enum status status;
    struct authz *authz = load_rules(&status, call);
    if (!authz)
        return status;
    struct str where = S("Repository");
    if (path)
        where = path_canonicalize(path_join(S("/"), str_of(path), call->arena), call->arena);
    const struct authz_view *view =
        authz_view(authz, str_of(command_line_arg(line, AUTHZ_OPT_REPOSITORY, "")),
                   str_of(command_line_arg(line, AUTHZ_OPT_USERNAME, NULL)), call->arena);
    int rights = path ? authz_view_rights(view, where, recursive) : authz_view_any(view);
    if (is)
        return compare_rights(call, arena_cstr(call->arena, where), rights_word(rights), is);
    puts(rights_word(rights));
    return STATUS_OK;
}

/* ---- the command line ---- */

static enum status run_command(struct call *call, const struct command *command)
{
    if (!command_line_check(call->line, command->name, command->options, COMMAND_OPTIONS_MAX))
        return STATUS_TROUBLE;
    call->arena = arena_new();
    enum status status = command->run(call);
    arena_free(call->arena);
    return status;
}

static bool is_help_word(const char *name)
{
    return strcmp(name, "help") == 0 || strcmp(name, "?") == 0 || strcmp(name, "h") == 0;
}

static enum status run(struct call *call, struct command_line *line, bool as_stock)
{
    if (command_line_has(line, AUTHZ_OPT_VERSION))
        return (enum status)tool_print_version(line, call->prog, as_stock);
    if (command_line_has(line, 'h'))
        return print_help(call->prog, line->operands, line->operand_count);
    if (line->operand_count == 0) {
        fprintf(stderr, "subcommand argument required\nType '%s help' for usage.\n", call->prog);
        return STATUS_TROUBLE;
    }
    const char *name = line->operands[0];
    line->operands++;
    line->operand_count--;
    const struct command *command = find_command(name);
    enum status status = STATUS_TROUBLE;
    if (is_help_word(name))
        status = print_help(call->prog, line->operands, line->operand_count);
    else if (command)
        status = run_command(call, command);
    else
        fprintf(stderr, "Unknown subcommand: '%s'\nType '%s help' for usage.\n", name, call->prog);
    line->operands--;
    line->operand_count++;
    return status;
}

int authz_main(const char *prog, bool as_stock, int argc, char **argv)
{
    char hint[64];
    snprintf(hint, sizeof hint, "%s help", prog);
    struct command_line line;
    enum status status = STATUS_TROUBLE;
    if (command_line_parse(&line, prog, hint, authz_table, argc, argv)) {
        struct call call = {.prog = prog, .line = &line};
        status = run(&call, &line, as_stock);
    }
    command_line_free(&line);
    registry_close_all();
    return status;
}

/* No options, and every word is a file's name. */
int authz_validate_main(int argc, char **argv)
{
    AUTO_ARENA(arena);
    struct command_line line = {.operands = (const char **)argv, .operand_count = (size_t)argc};
    struct call call = {.prog = "svnauthz", .line = &line, .arena = arena};
    if (argc == 0)
        return print_help(call.prog, NULL, 0);
    enum status status = run_validate(&call);
    registry_close_all();
    return status;
}
