/* SPDX-License-Identifier: Apache-2.0 */
/* A new repository: the folders and files around the filesystem, then the filesystem. */
#include "base/file.h"
#include "base/path.h"
#include "repo/admin/repo.h"
#include "repo/admin/templates.h"
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first format of the filesystem for which the outer format is 5. */
enum { FIRST_WITH_OUTER_5 = 2 };

/* PATH made absolute, for looking at the folders above; PATH itself need not exist. */
static struct str absolute(const char *path, struct arena *arena)
{
    char cwd[PATH_MAX];
    if (path[0] == '/' || !getcwd(cwd, sizeof cwd))
        return path_canonicalize(str_of(path), arena);
    return path_canonicalize(arena_printf(arena, "%s/%s", cwd, path), arena);
}

static struct err *check_place(const char *path, struct arena *arena)
{
    struct str full = absolute(path, arena), above = full;
    if (repo_is_at(path))
        return err_make(E_REPOS_BAD_ARGS, "'%.*s' is an existing repository", STR(full));
    while (above.n > 1) {
        above = path_dirname(above);
        if (repo_is_at(arena_cstr(arena, above)))
            return err_make(E_REPOS_BAD_ARGS,
                            "'%.*s' is a subdirectory of an existing repository rooted at '%.*s'",
                            STR(full), STR(above));
    }
    return NULL;
}

static struct err *make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return err_errno(errno, "Can't create directory '%s'", path);
    return NULL;
}

static struct err *make_top(const char *path)
{
    struct err *err = NULL;
    if (file_exists(path) && !dir_exists(path))
        err = err_errno(ENOTDIR, "Can't check directory '%s'", path);
    else if (dir_exists(path) && !dir_is_empty(path))
        err = err_make(E_DIR_NOT_EMPTY, "'%s' exists and is non-empty", path);
    if (!err)
        err = make_folder(path);
    return err_wrap(err, 0, "Could not create top-level directory");
}

static struct err *write_templates(const char *path, struct arena *arena)
{
    for (const struct template_file *file = repo_templates; file->path; file++) {
        const char *full = arena_printf(arena, "%s/%s", path, file->path).p;
        TRY(file_write_all(full, str_of(file->text), file->mode));
    }
    return NULL;
}

static struct err *make_repository(const char *path, const struct repo_create_options *options,
                                   struct arena *arena)
{
    bool old = options->fs.format < FIRST_WITH_OUTER_5;
    TRY(make_top(path));
    static const char *const folders[] = {"conf", "hooks", "locks", "db"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        TRY(make_folder(arena_printf(arena, "%s/%s", path, folders[i]).p));
    if (old)
        TRY(make_folder(arena_printf(arena, "%s/dav", path).p));
    TRY(write_templates(path, arena));
    TRY(fsfs_create(arena_printf(arena, "%s/db", path).p, &options->fs));
    /* Last: what has no format file is no repository. */
    const char *format = arena_printf(arena, "%s/format", path).p;
    TRY(file_write_all(format, old ? S("3\n") : S("5\n"), 0444));
    return NULL;
}

struct err *repo_create(const char *path, const struct repo_create_options *options)
{
    AUTO_ARENA(arena);
    TRY(check_place(path, arena));
    return err_wrap(make_repository(path, options, arena), 0, "Repository creation failed");
}
