/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - which program are we, which tool is wanted: tables, and what follows from them. */
#include "base/buf.h"
#include "base/resources.h"
#include "base/thread.h"
#include "cli/tool.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* What jemalloc, where we are built with it, reads at the start: memory in large pages. Most of
 * what is allocated is the cache, which only grows until it is full; with small pages taking them
 * costs more than filling them. What a thread keeps of freed memory for itself is bounded to small
 * objects: a thread waits for each idle client. */
extern const char *malloc_conf;
const char *malloc_conf = "thp:always,metadata_thp:always,tcache_max:4096";

enum { TOOL_FILES = 1 << 14 }; /* descriptors, of which the store keeps a share open */

static const struct opt_spec option_table[] = {
    {OPT_TRANSACTION, "transaction", 't', true, "the transaction called ARG"},
    {OPT_REVISION, "revision", 'r', true, "revision ARG: N, HEAD, {DATE}, or a range X:Y"},
    {OPT_QUIET, "quiet", 'q', false, "no progress, only errors"},
    {OPT_INCREMENTAL, "incremental", 0, false, "the first revision as a change set too"},
    {OPT_DELTAS, "deltas", 0, false, "write texts as deltas"},
    {OPT_FILE, "file", 'F', true, "use file ARG in the place of standard input or output"},
    {OPT_INCLUDE, "include", 0, true, "only nodes at or below path ARG (may be repeated)"},
    {OPT_EXCLUDE, "exclude", 0, true, "no nodes at or below path ARG (may be repeated)"},
    {OPT_PATTERN, "pattern", 0, false,
     "paths of --include and --exclude are glob patterns;\n'*' and '?' match '/' too"},
    {OPT_IGNORE_UUID, "ignore-uuid", 0, false, "leave the repository's UUID as it is"},
    {OPT_FORCE_UUID, "force-uuid", 0, false, "take the stream's UUID in any case"},
    {OPT_IGNORE_DATES, "ignore-dates", 0, false, "date revisions by the time of loading"},
    {OPT_PRE_COMMIT_HOOK, "use-pre-commit-hook", 0, false,
     "run the pre-commit hook for each revision"},
    {OPT_POST_COMMIT_HOOK, "use-post-commit-hook", 0, false,
     "run the post-commit hook for each revision"},
    {OPT_PARENT_DIR, "parent-dir", 0, true, "load below folder ARG of the repository"},
    {OPT_NORMALIZE_PROPS, "normalize-props", 0, false, "mend line ends in svn: properties"},
    {OPT_BYPASS_PROP_VALIDATION, "bypass-prop-validation", 0, false,
     "take properties as they come, valid or not"},
    {OPT_NO_FLUSH, "no-flush-to-disk", 0, false,
     "do not wait for the disk (a power cut may cost the\nrepository)"},
    {OPT_KEEP_GOING, "keep-going", 0, false, "go on after a damaged revision"},
    {OPT_CHECK_NORMALIZATION, "check-normalization", 0, false,
     "report names in one folder, or in mergeinfo, that differ\nonly in how their characters are "
     "composed"},
    {OPT_METADATA_ONLY, "metadata-only", 0, false, "check indexes and checksums of items only"},
    {OPT_FS_TYPE, "fs-type", 0, true, "the kind of filesystem: fsfs"},
    {OPT_COMPATIBLE_VERSION, "compatible-version", 0, true,
     "a format that Subversion ARG (\"1.8\") can use;\ndefault: the newest"},
    {OPT_PRE_1_4, "pre-1.4-compatible", 0, false, "as --compatible-version 1.3"},
    {OPT_PRE_1_5, "pre-1.5-compatible", 0, false, "as --compatible-version 1.4"},
    {OPT_PRE_1_6, "pre-1.6-compatible", 0, false, "as --compatible-version 1.5"},
    {OPT_CONFIG_DIR, "config-dir", 0, true, "accepted; creating needs no user configuration"},
    {OPT_BDB_TXN_NOSYNC, "bdb-txn-nosync", 0, false, "accepted; concerns Berkeley DB only"},
    {OPT_BDB_LOG_KEEP, "bdb-log-keep", 0, false, "accepted; concerns Berkeley DB only"},
    {OPT_NO_NEWLINE, "no-newline", 0, false, "no line end after the number"},
    {OPT_MEMORY, "memory-cache-size", 'M', true,
     "let the cache grow to ARG MB; by default it fits itself\nto the machine"},
    {OPT_HELP, "help", 'h', false, "show this help"},
    {OPT_HELP, "help", '?', false, "show this help"},
    {OPT_VERSION, "version", 0, false, "show the program's version"},
    {OPT_VERBOSE, "verbose", 'v', false, "with --version: more about the system"},
    {0},
};

static struct err *tool_help(const struct tool_call *call);

static const struct tool tools[] = {
    {"create",
     {0},
     tool_create,
     false,
     1,
     "REPOS_PATH",
     "Make a new, empty repository in REPOS_PATH, an absent or empty folder.",
     {OPT_COMPATIBLE_VERSION, OPT_FS_TYPE, OPT_PRE_1_4, OPT_PRE_1_5, OPT_PRE_1_6, OPT_CONFIG_DIR,
      OPT_BDB_TXN_NOSYNC, OPT_BDB_LOG_KEEP}},
    {"dump",
     {0},
     tool_dump,
     false,
     1,
     "REPOS_PATH [-r LOWER[:UPPER]] [--incremental] [--deltas]",
     "Write revisions as a dump stream to standard output, progress to standard error.\n"
     "Without --incremental the first revision is written as a whole tree.",
     {OPT_REVISION, OPT_INCREMENTAL, OPT_DELTAS, OPT_QUIET, OPT_MEMORY, OPT_FILE, OPT_EXCLUDE,
      OPT_INCLUDE, OPT_PATTERN}},
    {"help",
     {"?", "h"},
     tool_help,
     false,
     99,
     "[SUBCOMMAND...]",
     "Show what the program, or a subcommand of it, does.",
     {0}},
    {"info",
     {0},
     tool_info,
     false,
     1,
     "REPOS_PATH",
     "Show what kind of repository is in REPOS_PATH.",
     {0}},
    {"load",
     {0},
     tool_load,
     false,
     1,
     "REPOS_PATH",
     "Read a dump stream from standard input and add its revisions. An empty repository\n"
     "takes the stream's UUID.",
     {OPT_QUIET, OPT_REVISION, OPT_IGNORE_UUID, OPT_FORCE_UUID, OPT_IGNORE_DATES,
      OPT_PRE_COMMIT_HOOK, OPT_POST_COMMIT_HOOK, OPT_PARENT_DIR, OPT_NORMALIZE_PROPS,
      OPT_BYPASS_PROP_VALIDATION, OPT_MEMORY, OPT_NO_FLUSH, OPT_FILE}},
    {"setuuid",
     {0},
     tool_setuuid,
     false,
     2,
     "REPOS_PATH [NEW_UUID]",
     "Give the repository the UUID NEW_UUID, or a fresh one.",
     {0}},
    {"uuid", {0}, tool_uuid, true, 1, "REPOS_PATH", "Print the repository's UUID.", {0}},
    {"verify",
     {0},
     tool_verify,
     false,
     1,
     "REPOS_PATH",
     "Read everything that the repository holds and check it.",
     {OPT_TRANSACTION, OPT_REVISION, OPT_QUIET, OPT_KEEP_GOING, OPT_MEMORY, OPT_CHECK_NORMALIZATION,
      OPT_METADATA_ONLY}},
    {"youngest",
     {0},
     tool_youngest,
     true,
     1,
     "REPOS_PATH",
     "Print the number of the youngest revision.",
     {OPT_NO_NEWLINE}},
};
enum { TOOL_COUNT = sizeof tools / sizeof *tools };

static bool is_offered(const struct tool *tool, bool as_svnadmin)
{
    return !(tool->varve_only && as_svnadmin);
}

static const struct tool *find_tool(const char *name, bool as_svnadmin)
{
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        const struct tool *tool = &tools[i];
        bool named = strcmp(tool->name, name) == 0;
        for (int a = 0; a < 2 && !named; a++)
            named = tool->aliases[a] && strcmp(tool->aliases[a], name) == 0;
        if (named && is_offered(tool, as_svnadmin))
            return tool;
    }
    return NULL;
}

static void print_aliases(const struct tool *tool)
{
    if (!tool->aliases[0])
        return;
    printf(" (%s", tool->aliases[0]);
    for (int a = 1; a < 2 && tool->aliases[a]; a++)
        printf(", %s", tool->aliases[a]);
    printf(")");
}

static void print_overview(const char *prog, bool as_svnadmin)
{
    printf("general usage: %s SUBCOMMAND REPOS_PATH  [ARGS & OPTIONS ...]\n", prog);
    printf("Tool for Subversion repositories%s.\n",
           as_svnadmin ? ", by varve" : ": makes, loads, dumps, checks and serves them");
    printf("Type '%s help <subcommand>' for help on a specific subcommand.\n", prog);
    printf("Type '%s --version' to see the program version.\n\nAvailable subcommands:\n", prog);
    if (!as_svnadmin)
        printf("   authz\n");
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (!is_offered(&tools[i], as_svnadmin))
            continue;
        printf("   %s", tools[i].name);
        print_aliases(&tools[i]);
        putchar('\n');
        if (!as_svnadmin && strcmp(tools[i].name, "load") == 0)
            printf("   serve\n");
    }
    putchar('\n');
}

static void print_tool_help(const char *prog, const struct tool *tool)
{
    printf("%s", tool->name);
    print_aliases(tool);
    printf(": usage: %s %s %s\n\n%s\n", prog, tool->name, tool->usage, tool->about);
    if (tool->options[0])
        printf("\nValid options:\n");
    for (int i = 0; i < TOOL_OPTIONS_MAX && tool->options[i]; i++)
        opt_print_help(opt_find(option_table, tool->options[i]));
    putchar('\n');
}

static struct err *tool_help(const struct tool_call *call)
{
    const struct command_line *line = call->line;
    if (line->operand_count == 0)
        print_overview(call->prog, call->as_svnadmin);
    for (size_t i = 0; i < line->operand_count; i++) {
        const struct tool *tool = find_tool(line->operands[i], call->as_svnadmin);
        if (tool)
            print_tool_help(call->prog, tool);
        else if (!call->as_svnadmin && strcmp(line->operands[i], "serve") == 0)
            serve_main("varve serve", 1, (char *[]){"--help", NULL});
        else if (!call->as_svnadmin && strcmp(line->operands[i], "authz") == 0)
            authz_main("varve authz", false, 1, (char *[]){"--help", NULL});
        else
            fprintf(stderr, "\"%s\": unknown command.\n\n", line->operands[i]);
    }
    return NULL;
}

int tool_print_version(const struct command_line *line, const char *prog, bool as_stock)
{
    const char *version = as_stock ? SUBVERSION_VERSION : VARVE_VERSION;
    if (command_line_has(line, OPT_QUIET)) {
        printf("%s\n", version);
        return 0;
    }
    printf("%s, version %s%s\n\n", prog, version, as_stock ? " (varve " VARVE_VERSION ")" : "");
    printf("varve reads and writes Subversion repositories. Apache License, version 2.0.\n\n");
    printf("The following repository back-end (FS) modules are available:\n\n");
    printf("* fs_fs : Module for working with a plain file (FSFS) repository.\n\n");
    return 0;
}

/* The errors of a wrong command line stand below a pointer to the help. */
static int report(struct err *err, const char *prog)
{
    if (!err)
        return 0;
    if (err->code == E_CL_ARG_PARSING_ERROR || err->code == E_CL_INSUFFICIENT_ARGS)
        err = err_wrap(err, 0, "Try '%s help' for more info", prog);
    err_print(err, prog);
    err_free(err);
    return 1;
}

/* Values that are wrong whatever the tool does: found before the tool is looked at. */
static struct err *check_values(const struct command_line *line)
{
    bool seen = false;
    for (size_t i = 0; i < line->value_count; i++) {
        if (line->values[i].id != OPT_REVISION)
            continue;
        if (seen)
            return err_make(E_CL_ARG_PARSING_ERROR, "Multiple revision arguments encountered; try "
                                                    "'-r N:M' instead of '-r N -r M'");
        TRY(revision_arg_check(line->values[i].arg));
        seen = true;
    }
    return tool_set_memory(line);
}

static int fail_plain(struct err *err, const char *prog)
{
    err_print(err, prog);
    err_free(err);
    return 1;
}

static int run_tool(const struct tool *tool, struct tool_call *call, struct command_line *line)
{
    bool is_help = tool->run == tool_help;
    if (!is_help && line->operand_count == 0)
        return fail_plain(err_make(E_CL_ARG_PARSING_ERROR, "Repository argument required"),
                          call->prog);
    if (!command_line_check(line, tool->name, tool->options, TOOL_OPTIONS_MAX))
        return 1;
    if (line->operand_count > (size_t)tool->operands_max)
        return report(err_make(E_CL_ARG_PARSING_ERROR, "Too many arguments"), call->prog);
    AUTO_ARENA(arena);
    if (!is_help) {
        struct str path = str_of(line->operands[0]);
        while (path.n > 1 && path.p[path.n - 1] == '/')
            path.n--;
        call->repo_path = arena_cstr(arena, path);
    }
    call->revision = command_line_arg(line, OPT_REVISION, NULL);
    call->quiet = command_line_has(line, OPT_QUIET);
    /* A tool goes once through the whole repository, comes back to files again and again, and ends.
     */
    descriptors_raise(TOOL_FILES);
    memory_keep();
    return report(tool->run(call), call->prog);
}

static int admin_main(const char *prog, bool as_svnadmin, int argc, char **argv)
{
    char hint[64];
    snprintf(hint, sizeof hint, "%s help", prog);
    struct command_line line;
    int status = 1;
    struct err *err;
    if (!command_line_parse(&line, prog, hint, option_table, argc, argv))
        goto out;
    if ((err = check_values(&line))) {
        status = fail_plain(err, prog);
        goto out;
    }
    bool help = command_line_has(&line, OPT_HELP);
    if (command_line_has(&line, OPT_VERSION)) {
        status = tool_print_version(&line, prog, as_svnadmin);
        goto out;
    }
    struct tool_call call = {.prog = prog, .line = &line, .as_svnadmin = as_svnadmin};
    if (help) {
        status = report(tool_help(&call), prog);
        goto out;
    }
    if (line.operand_count == 0) {
        fprintf(stderr, "Type '%s help' for usage.\n", prog);
        goto out;
    }
    const char *name = line.operands[0];
    const struct tool *tool = find_tool(name, as_svnadmin);
    if (!tool) {
        fprintf(stderr, "Unknown subcommand: '%s'\nType '%s help' for usage.\n", name, prog);
        goto out;
    }
    line.operands++;
    line.operand_count--;
    status = run_tool(tool, &call, &line);
    line.operands--;
out:
    command_line_free(&line);
    return status;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *prog = slash ? slash + 1 : argv[0];
    signal(SIGPIPE,
           SIG_IGN); /* a closed pipe or connection is an error value, not the end of the process */
    signal(SIGXFSZ, SIG_IGN);
    descriptors_occupy_standard();
    int status;
    if (strcmp(prog, "svnserve") == 0)
        status = serve_main(prog, argc - 1, argv + 1);
    else if (strncmp(prog, "svnauthz-validate", strlen("svnauthz-validate")) == 0)
        status = authz_validate_main(argc - 1, argv + 1);
    else if (strcmp(prog, "svnauthz") == 0)
        status = authz_main(prog, true, argc - 1, argv + 1);
    else if (strcmp(prog, "svnadmin") == 0)
        status = admin_main(prog, true, argc - 1, argv + 1);
    else if (argc > 1 && strcmp(argv[1], "serve") == 0)
        status = serve_main("varve serve", argc - 2, argv + 2);
    else if (argc > 1 && strcmp(argv[1], "authz") == 0)
        status = authz_main("varve authz", false, argc - 2, argv + 2);
    else
        status = admin_main("varve", false, argc - 1, argv + 1);
    if (fflush(stdout) != 0 && status == 0)
        status = fail_plain(err_errno(errno, "Can't write to standard output"), prog);
    tasks_shutdown();
    return status;
}
