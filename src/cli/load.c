/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/dump/load.h"
#include "base/num.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "repo/dump/dump.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct load_call {
    const struct tool_call *call;
    struct progress progress;
    int64_t loaded;
};

static struct err *print_notice(void *arg, const struct load_notice *notice)
{
    struct load_call *load = arg;
    long long old_rev = notice->old_rev, new_rev = notice->new_rev;
    if (notice->event == LOAD_COMMITTED)
        progress_step(&load->progress, ++load->loaded);
    if (load->call->quiet || load->progress.shown)
        return NULL;
    switch (notice->event) {
    case LOAD_TXN_STARTED:
        printf("<<< Started new transaction, based on original revision %lld\n", old_rev);
        break;
    case LOAD_NODE_BEGIN:
        printf("     * editing path : %.*s ...", STR(notice->path));
        break;
    case LOAD_NODE_COPIED:
        printf("COPIED...");
        break;
    case LOAD_NODE_DONE:
        printf(" done.\n");
        break;
    case LOAD_COMMITTED:
        if (old_rev == new_rev)
            printf("\n------- Committed revision %lld >>>\n\n", new_rev);
        else
            printf("\n------- Committed new rev %lld (loaded from original rev %lld) >>>\n\n",
                   new_rev, old_rev);
        break;
    case LOAD_SKIPPED:
        printf("<<< Skipped original revision %lld\n", old_rev);
        break;
    case LOAD_MERGEINFO_NORMALIZED:
        printf(" removing '\\r' from svn:mergeinfo ...");
        break;
    case LOAD_MERGEINFO_INVALID:
        printf("WARNING 0x0005: Invalid svn:mergeinfo value; leaving unchanged\n");
        break;
    case LOAD_PROPS_SET:
        printf("Properties set on revision %lld.\n\n", new_rev);
        break;
    }
    return NULL;
}

static struct err *open_input(struct reader **out, const char *file)
{
    if (!file) {
        *out = reader_of_fd(STDIN_FILENO, false, "standard input");
        return NULL;
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(errno, "Can't open file '%s'", file);
    *out = reader_of_fd(fd, true, file);
    return NULL;
}

/* -r of load names revisions of the stream: numbers, no dates. */
static struct err *stream_range(revnum *start, revnum *end, const struct tool_call *call)
{
    *start = *end = REV_NONE;
    if (!call->revision)
        return NULL;
    struct str first = str_of(call->revision), last = first;
    size_t colon = str_find(first, ':');
    if (colon != SIZE_MAX) {
        last = str_skip(first, colon + 1);
        first.n = colon;
    }
    if (!num_i64(start, revision_word(first)) || !num_i64(end, revision_word(last)))
        return err_make(E_CL_ARG_PARSING_ERROR, "Revisions of a dump stream must be numbers: '%s'",
                        call->revision);
    if (*start > *end)
        return err_make(E_CL_ARG_PARSING_ERROR, "First revision cannot be higher than second");
    return NULL;
}

static struct err *load_from(struct reader *in, struct repo *repo, const struct tool_call *call,
                             struct load_params *params)
{
    struct load_call load = {.call = call};
    params->notify = print_notice;
    params->arg = &load;
    progress_start(&load.progress, !call->as_svnadmin && !call->quiet, "Loading", 0);
    struct err *err = load_stream(repo, in, params);
    progress_end(&load.progress);
    return err;
}

struct err *tool_load(const struct tool_call *call)
{
    const struct command_line *line = call->line;
    struct load_params params = {
        .uuid = command_line_has(line, OPT_FORCE_UUID)    ? LOAD_UUID_FORCE
                : command_line_has(line, OPT_IGNORE_UUID) ? LOAD_UUID_IGNORE
                                                          : LOAD_UUID_DEFAULT,
        .parent_dir = str_of(command_line_arg(line, OPT_PARENT_DIR, "")),
        .ignore_dates = command_line_has(line, OPT_IGNORE_DATES),
        .normalize_props = command_line_has(line, OPT_NORMALIZE_PROPS),
        .bypass_prop_validation = command_line_has(line, OPT_BYPASS_PROP_VALIDATION),
        .use_pre_commit_hook = command_line_has(line, OPT_PRE_COMMIT_HOOK),
        .use_post_commit_hook = command_line_has(line, OPT_POST_COMMIT_HOOK),
    };
    TRY(stream_range(&params.start, &params.end, call));
    struct fsfs_options options = {.no_flush = command_line_has(line, OPT_NO_FLUSH)};
    struct repo *repo;
    struct reader *in;
    TRY(tool_open(&repo, call, &options));
    struct err *err = open_input(&in, command_line_arg(line, OPT_FILE, NULL));
    if (!err)
        err = load_from(in, repo, call, &params);
    repo_close(repo);
    return err;
}
