/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/dump/dump.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { OUTPUT_BUFFER = 256 << 10 };

struct dump_call {
    const struct tool_call *call;
    struct progress progress;
    revnum start;
};

static struct err *dumped(void *arg, revnum rev, struct str warning)
{
    struct dump_call *dump = arg;
    if (dump->call->quiet)
        return NULL;
    if (warning.n)
        fprintf(stderr, "WARNING %.*s\n", STR(warning));
    else if (!dump->progress.shown)
        fprintf(stderr, "* Dumped revision %lld.\n", (long long)rev);
    if (!warning.n)
        progress_step(&dump->progress, rev - dump->start + 1);
    return NULL;
}

static struct err *open_output(struct writer **out, const char *file)
{
    if (!file) {
        *out = writer_of_fd(STDOUT_FILENO, false, OUTPUT_BUFFER, "standard output");
        return NULL;
    }
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_errno(errno, "Can't open file '%s'", file);
    *out = writer_of_fd(fd, true, OUTPUT_BUFFER, file);
    return NULL;
}

/* The paths that the option ID names, as views. */
static const struct str *paths_of(size_t *n, const struct command_line *line, int id,
                                  struct arena *arena)
{
    const char **args = arena_array(arena, line->value_count + 1, sizeof *args);
    *n = command_line_args(line, id, args);
    struct str *paths = arena_array(arena, *n + 1, sizeof *paths);
    for (size_t i = 0; i < *n; i++)
        paths[i] = str_of(args[i]);
    return paths;
}

static struct err *dump_to(struct writer *out, struct repo *repo, const struct tool_call *call)
{
    AUTO_ARENA(arena);
    struct dump_call dump = {.call = call};
    struct dump_params params = {
        .incremental = command_line_has(call->line, OPT_INCREMENTAL),
        .deltas = command_line_has(call->line, OPT_DELTAS),
        .pattern = command_line_has(call->line, OPT_PATTERN),
        .progress = dumped,
        .arg = &dump,
    };
    TRY(tool_range(&params.start, &params.end, call, repo->fs));
    if (params.start > params.end)
        return err_make(E_CL_ARG_PARSING_ERROR, "First revision cannot be higher than second");
    if (params.start == REV_NONE) {
        params.start = 0;
        TRY(fsfs_youngest(&params.end, repo->fs));
    }
    params.include = paths_of(&params.include_count, call->line, OPT_INCLUDE, arena);
    params.exclude = paths_of(&params.exclude_count, call->line, OPT_EXCLUDE, arena);
    if (params.include_count && params.exclude_count)
        return err_make(E_CL_ARG_PARSING_ERROR,
                        "'--exclude' and '--include' options cannot be used simultaneously");
    dump.start = params.start;
    progress_start(&dump.progress, !call->as_svnadmin && !call->quiet, "Dumping",
                   params.end - params.start + 1);
    struct err *err = dump_write(out, repo, &params);
    progress_end(&dump.progress);
    return err_join(err,
                    writer_flush(out)); /* what is complete is of use also where an error follows */
}

struct err *tool_dump(const struct tool_call *call)
{
    struct repo *repo;
    struct writer *out;
    TRY(tool_open(&repo, call, NULL));
    struct err *err = open_output(&out, command_line_arg(call->line, OPT_FILE, NULL));
    if (!err) {
        err = dump_to(out, repo, call);
        writer_close(out);
    }
    repo_close(repo);
    return err;
}
