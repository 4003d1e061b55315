/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tool.h"
#include <stdio.h>

static const char *yes_no(bool yes)
{
    return yes ? "yes" : "no";
}

static struct err *print_info(struct repo *repo, const char *path)
{
    const struct fsfs *fs = repo->fs;
    revnum youngest, min_unpacked;
    TRY(fsfs_youngest(&youngest, repo->fs));
    TRY(fsfs_min_unpacked(&min_unpacked, repo->fs));
    printf("Path: %s\nUUID: %s\nRevisions: %lld\n", path, fs->uuid, (long long)youngest);
    printf("Repository Format: %d\n", repo->format);
    printf("Compatible With Version: %s\n", format_compatible_version(fs->format));
    if (fs->format >= 3)
        printf("Repository Capability: mergeinfo\n");
    printf("Filesystem Type: fsfs\nFilesystem Format: %d\n", fs->format);
    printf("FSFS Sharded: %s\n", yes_no(fs->shard_size > 0));
    if (fs->shard_size > 0) {
        printf("FSFS Shard Size: %lld\n", (long long)fs->shard_size);
        printf("FSFS Shards Packed: %lld/%lld\n", (long long)(min_unpacked / fs->shard_size),
               (long long)((youngest + 1) / fs->shard_size));
    }
    printf("FSFS Logical Addressing: %s\nConfiguration File: %s/db/fsfs.conf\n\n",
           yes_no(fs->logical), path);
    return NULL;
}

struct err *tool_info(const struct tool_call *call)
{
    struct repo *repo;
    TRY(tool_open(&repo, call, NULL));
    struct err *err = print_info(repo, call->repo_path);
    repo_close(repo);
    return err;
}

struct err *tool_youngest(const struct tool_call *call)
{
    struct repo *repo;
    revnum youngest;
    TRY(tool_open(&repo, call, NULL));
    struct err *err = fsfs_youngest(&youngest, repo->fs);
    if (!err)
        printf("%lld%s", (long long)youngest,
               command_line_has(call->line, OPT_NO_NEWLINE) ? "" : "\n");
    repo_close(repo);
    return err;
}

struct err *tool_uuid(const struct tool_call *call)
{
    struct repo *repo;
    TRY(tool_open(&repo, call, NULL));
    printf("%s\n", repo->fs->uuid);
    repo_close(repo);
    return NULL;
}

struct err *tool_setuuid(const struct tool_call *call)
{
    const struct command_line *line = call->line;
    struct repo *repo;
    TRY(tool_open(&repo, call, NULL));
    struct err *err = fsfs_set_uuid(repo->fs, line->operand_count > 1 ? line->operands[1] : NULL);
    repo_close(repo);
    return err;
}
