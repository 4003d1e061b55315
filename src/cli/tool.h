/* SPDX-License-Identifier: Apache-2.0 */
/* tool.h - the tools of the program: one function and one row of the table in main.c each.
 *
 * A tool returns an error, which main prints as "PROG: E160004: text" before it exits with 1.
 * Errors about the command line (E_CL_ARG_PARSING_ERROR) are printed below a line that points to
 * the help, as svnadmin does. */
#ifndef VARVE_CLI_TOOL_H
#define VARVE_CLI_TOOL_H

#include "cli/opt.h"
#include "repo/admin/repo.h"

enum tool_option {
    OPT_NONE,
    OPT_REVISION = 'r',
    OPT_TRANSACTION = 't',
    OPT_FILE = 'F',
    OPT_QUIET = 'q',
    OPT_MEMORY = 'M',
    OPT_HELP = 'h',
    OPT_LONG_ONLY = 256,
    OPT_VERSION,
    OPT_VERBOSE,
    OPT_INCREMENTAL,
    OPT_DELTAS,
    OPT_INCLUDE,
    OPT_EXCLUDE,
    OPT_PATTERN,
    OPT_IGNORE_UUID,
    OPT_FORCE_UUID,
    OPT_IGNORE_DATES,
    OPT_PRE_COMMIT_HOOK,
    OPT_POST_COMMIT_HOOK,
    OPT_PARENT_DIR,
    OPT_NORMALIZE_PROPS,
    OPT_BYPASS_PROP_VALIDATION,
    OPT_NO_FLUSH,
    OPT_KEEP_GOING,
    OPT_CHECK_NORMALIZATION,
    OPT_METADATA_ONLY,
    OPT_FS_TYPE,
    OPT_COMPATIBLE_VERSION,
    OPT_PRE_1_4,
    OPT_PRE_1_5,
    OPT_PRE_1_6,
    OPT_CONFIG_DIR,
    OPT_BDB_TXN_NOSYNC,
    OPT_BDB_LOG_KEEP,
    OPT_NO_NEWLINE,
};

enum { TOOL_OPTIONS_MAX = 20 };

struct tool_call {
    const char *prog; /* "varve" or "svnadmin" */
    const struct command_line *line;
    const char *repo_path; /* the first operand, canonical; NULL where there is none */
    bool as_svnadmin;      /* stock's lines even on a terminal */
    bool quiet;
    /* -r, as given; resolve with tool_range */
    const char *revision;
};

struct tool {
    const char *name;
    const char *aliases[2];
    struct err *(*run)(const struct tool_call *call);
    bool varve_only;  /* not a subcommand of svnadmin */
    int operands_max; /* the repository included */
    const char *usage, *about;
    int options[TOOL_OPTIONS_MAX];
};

/* Under a stock tool's name we report the release whose behaviour we have; scripts read that
 * number. */
#define SUBVERSION_VERSION "1.14.2"

struct err *tool_create(const struct tool_call *call);
struct err *tool_dump(const struct tool_call *call);
struct err *tool_load(const struct tool_call *call);
struct err *tool_verify(const struct tool_call *call);
struct err *tool_info(const struct tool_call *call);
struct err *tool_youngest(const struct tool_call *call);
struct err *tool_uuid(const struct tool_call *call);
struct err *tool_setuuid(const struct tool_call *call);

/* `varve serve` and svnserve: their own command line, from ARGV without the program's name. Returns
 * the exit status. */
int serve_main(const char *prog, int argc, char **argv);

/* `varve authz` and svnauthz, the same way; svnauthz-validate, whose words are all files' names. */
int authz_main(const char *prog, bool as_stock, int argc, char **argv);
int authz_validate_main(int argc, char **argv);

/* ---- helpers of the tools ---- */

/* What --version shows; returns the exit status. */
int tool_print_version(const struct command_line *line, const char *prog, bool as_stock);

enum { SHOWN_BYTES_IN_MB = 1 << 20 };

/* -r as a range of revisions: START and END are REV_NONE where not given (END alone: the same as
 * START). N, HEAD in any case, {DATE}, N:M. */
struct err *tool_range(revnum *start, revnum *end, const struct tool_call *call, struct fsfs *fs);
/* One end of a range without the letters r that may stand before it. */
struct str revision_word(struct str end);
/* The syntax of -r alone, before any repository is opened. */
struct err *revision_arg_check(const char *arg);
/* -M: sets the cache's limit. */
struct err *tool_set_memory(const struct command_line *line);
struct err *tool_open(struct repo **out, const struct tool_call *call,
                      const struct fsfs_options *options);

#endif
