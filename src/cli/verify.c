/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/check/verify.h"
#include "base/buf.h"
#include "base/vec.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include <stdio.h>
#include <stdlib.h>

/* What --keep-going lists at the end. */
struct bad_revision {
    revnum rev;
    struct str text; /* "E160004: ..." lines */
};

struct verify_call {
    const struct tool_call *call;
    struct progress progress;
    revnum start;
    VEC(struct bad_revision) bad;
    struct arena *arena;
};

static void remember(struct verify_call *verify, revnum rev, const struct err *err)
{
    for (; err; err = err->cause) {
        struct str text = arena_printf(verify->arena, "E%06d: %s", err->code, err->text);
        *VEC_ADD(&verify->bad) = (struct bad_revision){rev, text};
    }
}

static struct err *print_notice(void *arg, const struct verify_notice *notice)
{
    struct verify_call *verify = arg;
    long long rev = notice->rev;
    bool lines = !verify->call->quiet && !verify->progress.shown;
    switch (notice->event) {
    case VERIFY_METADATA_REV:
        if (lines)
            printf("* Verifying metadata at revision %lld ...\n", rev);
        break;
    case VERIFY_METADATA_DONE:
        if (lines)
            printf("* Verifying repository metadata ...\n");
        break;
    case VERIFY_REV:
        if (lines)
            printf("* Verified revision %lld.\n", rev);
        break;
    case VERIFY_REV_ERROR:
        fflush(stdout);
        if (notice->rev == REV_NONE)
            fprintf(stderr, "* Error verifying repository metadata.\n");
        else
            fprintf(stderr, "* Error verifying revision %lld.\n", rev);
        if (command_line_has(verify->call->line, OPT_KEEP_GOING)) {
            err_print(notice->err, verify->call->prog);
            if (notice->rev != REV_NONE)
                remember(verify, notice->rev, notice->err);
        }
        break;
    case VERIFY_WARNING:
        printf("WARNING 0x%04x: %.*s\n", notice->warning, STR(notice->text));
        break;
    case VERIFY_PROGRESS:
        progress_step(&verify->progress, notice->rev - verify->start + 1);
        break;
    }
    return NULL;
}

static void print_summary(const struct verify_call *verify)
{
    printf("\n-----Summary of corrupt revisions-----\n");
    for (size_t i = 0; i < verify->bad.n; i++) {
        char rev[24];
        snprintf(rev, sizeof rev, "r%lld", (long long)verify->bad.list[i].rev);
        printf("%6s: %.*s\n", rev, STR(verify->bad.list[i].text));
    }
}

static struct err *verify_repo(struct repo *repo, const struct tool_call *call,
                               struct verify_call *verify)
{
    struct verify_params params = {
        .keep_going = command_line_has(call->line, OPT_KEEP_GOING),
        .check_normalization =
            !call->quiet && command_line_has(call->line, OPT_CHECK_NORMALIZATION),
        .metadata_only = command_line_has(call->line, OPT_METADATA_ONLY),
        .txn = command_line_arg(call->line, OPT_TRANSACTION, NULL),
        .notify = print_notice,
        .arg = verify,
    };
    if (params.txn && call->revision)
        return err_make(E_CL_ARG_PARSING_ERROR,
                        "--revision (-r) and --transaction (-t) are mutually exclusive");
    TRY(tool_range(&params.start, &params.end, call, repo->fs));
    if (params.start == REV_NONE) {
        params.start = 0;
        TRY(fsfs_youngest(&params.end, repo->fs));
    }
    if (params.start > params.end)
        return err_make(E_REPOS_BAD_ARGS, "Start revision %lld is greater than end revision %lld",
                        (long long)params.start, (long long)params.end);
    verify->start = params.start;
    progress_start(&verify->progress, !call->as_svnadmin && !call->quiet, "Verifying",
                   params.end - params.start + 1);
    size_t bad_revisions = 0;
    struct err *err = repo_verify(repo, &params, &bad_revisions);
    progress_end(&verify->progress);
    if (err || !bad_revisions)
        return err;
    print_summary(verify);
    return err_make(E_CL_REPOS_VERIFY_FAILED, "Failed to verify repository '%s'", call->repo_path);
}

struct err *tool_verify(const struct tool_call *call)
{
    AUTO_ARENA(arena);
    struct verify_call verify = {.call = call, .arena = arena};
    struct repo *repo;
    TRY(tool_open(&repo, call, NULL));
    struct err *err = verify_repo(repo, call, &verify);
    repo_close(repo);
    free(verify.bad.list);
    return err;
}
