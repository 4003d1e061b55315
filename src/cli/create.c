/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tool.h"

static struct err *choose_format(int *format, const struct command_line *line)
{
    static const struct {
        int option;
        const char *version;
    } older[] = {{OPT_PRE_1_4, "1.3"}, {OPT_PRE_1_5, "1.4"}, {OPT_PRE_1_6, "1.5"}};
    const char *version = NULL;
    for (size_t i = 0; i < sizeof older / sizeof *older && !version; i++)
        if (command_line_has(line, older[i].option))
            version = older[i].version;
    version = command_line_arg(line, OPT_COMPATIBLE_VERSION, version);
    if (version)
        return format_for_version(format, version);
    *format = FSFS_FORMAT_MAX;
    return NULL;
}

struct err *tool_create(const struct tool_call *call)
{
    const char *type = command_line_arg(call->line, OPT_FS_TYPE, "fsfs");
    if (strcmp(type, "bdb") == 0 || strcmp(type, "fsx") == 0)
        return err_make(E_FS_UNKNOWN_FS_TYPE,
                        "varve makes repositories of FS type 'fsfs' only, not '%s'", type);
    if (strcmp(type, "fsfs") != 0)
        return err_make(E_FS_UNKNOWN_FS_TYPE, "Unknown FS type '%s'", type);
    struct repo_create_options options = {0};
    TRY(choose_format(&options.fs.format, call->line));
    options.fs.shard_size = options.fs.format >= 3 ? FSFS_DEFAULT_SHARD_SIZE : 0;
    return repo_create(call->repo_path, &options);
}
