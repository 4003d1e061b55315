/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/admin/repo.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/num.h"
#include "base/path.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { OUTER_FORMAT_OLD = 3, OUTER_FORMAT = 5, FORMAT_FILE_MAX = 1024 };

static struct err *read_format(int *format, const char *path)
{
    AUTO_BUF(text);
    TRY(file_read_all(&text, path, FORMAT_FILE_MAX));
    size_t pos = 0;
    struct str line;
    int64_t number;
    if (str_find(buf_view(&text), '\n') == SIZE_MAX)
        return err_make(E_APR_EOF, "Can't read file '%s': End of file found", path);
    str_text_line(&line, buf_view(&text), &pos); /* CR LF is fine, as to Subversion */
    if (!num_i64(&number, line) || number < 0)
        return err_make(E_BAD_VERSION_FILE_FORMAT, "First line of '%s' contains non-digit", path);
    if (number != OUTER_FORMAT_OLD && number != OUTER_FORMAT)
        return err_make(E_REPOS_UNSUPPORTED_VERSION,
                        "Expected repository format '%d' or '%d'; found format '%lld'",
                        OUTER_FORMAT_OLD, OUTER_FORMAT, (long long)number);
    *format = (int)number;
    return NULL;
}

struct err *repo_open(struct repo **out, const char *path, const struct fsfs_options *options)
{
    AUTO_ARENA(arena);
    int format;
    struct fsfs *fs;
    struct err *err = read_format(&format, arena_printf(arena, "%s/format", path).p);
    if (err) {
        store_close(options ? options->store : NULL);
        return err;
    }
    TRY(fsfs_open(&fs, arena_printf(arena, "%s/db", path).p, options));
    struct repo *repo = mem_zalloc(sizeof *repo);
    *repo = (struct repo){.fs = fs, .format = format, .path = mem_strdup(path)};
    *out = repo;
    return NULL;
}

void repo_close(struct repo *repo)
{
    if (!repo)
        return;
    fsfs_close(repo->fs);
    free(repo->path);
    free(repo);
}

bool repo_is_at(const char *path)
{
    AUTO_ARENA(arena);
    struct stat format;
    return lstat(arena_printf(arena, "%s/format", path).p, &format) == 0 &&
           (S_ISREG(format.st_mode) || S_ISLNK(format.st_mode)) &&
           dir_exists(arena_printf(arena, "%s/db", path).p);
}

/* From the whole path upwards. */
const char *repo_find(struct str *inside, size_t *depth, const char *root, struct str path,
                      struct arena *arena)
{
    struct str rest = path;
    for (*depth = 0;; ++*depth) {
        struct arena_mark mark = arena_mark(arena);
        struct str folder = arena_printf(arena, "%s%.*s", root, STR(rest.n > 1 ? rest : S("")));
        if (repo_is_at(folder.p)) {
            *inside = str_skip(path, rest.n > 1 ? rest.n : 0);
            return folder.p;
        }
        if (rest.n <= 1)
            return NULL;
        arena_rewind(arena, mark);
        rest = path_dirname(rest);
    }
}

/* The releases that brought each format. */
static const struct {
    int minor, format;
} releases[] = {{10, 8}, {9, 7}, {8, 6}, {6, 4}, {5, 3}, {4, 2}, {1, 1}};
enum { NEWEST_MINOR = 14, NEWEST_PATCH = 2 };

const char *format_compatible_version(int format)
{
    static const char *const versions[] = {NULL, "1.1.0", "1.4.0", "1.5.0", "1.6.0",
                                           NULL, "1.8.0", "1.9.0", "1.10.0"};
    return versions[format];
}

/* The whole of WORD, as strtol reads it. */
static struct err *version_number(int64_t *out, struct str word)
{
    struct str digits = word;
    size_t n = 0;
    while (digits.n && char_is_space(digits.p[0]))
        digits = str_skip(digits, 1);
    if (digits.n && (digits.p[0] == '+' || digits.p[0] == '-'))
        digits = str_skip(digits, 1);
    while (n < digits.n && digits.p[n] >= '0' && digits.p[n] <= '9')
        n++;
    if (n == 0 || n < digits.n)
        return err_make(E_INCORRECT_PARAMS, "Could not convert '%.*s' into a number", STR(word));
    *out = num_leading(word);
    if (*out < INT32_MIN || *out > INT32_MAX)
        return err_make(E_INCORRECT_PARAMS, "Number '%.*s' is out of range '[%d, %d]'", STR(word),
                        INT32_MIN, INT32_MAX);
    return NULL;
}

/* Two or three words between dots; more dots than needed do no harm. */
static bool version_split(struct str word[3], size_t *n, struct str version)
{
    for (*n = 0; version.n;) {
        const size_t dot = str_find(version, '.');
        const struct str next = str_make(version.p, dot < version.n ? dot : version.n);
        version = str_skip(version, next.n + 1);
        if (next.n && *n == 3)
            return false;
        if (next.n)
            word[(*n)++] = next;
    }
    return *n >= 2;
}

/* MAJOR.MINOR[.PATCH[-TAG]]. *TAGGED: the tag is not empty. */
static struct err *parse_version(int64_t part[3], bool *tagged, const char *version)
{
    struct str word[3];
    size_t n;
    struct err *err = NULL;
    bool good = version_split(word, &n, str_of(version));
    const size_t dash = good && n == 3 ? str_find(word[2], '-') : SIZE_MAX;
    *tagged = dash != SIZE_MAX && dash + 1 < word[2].n;
    if (dash != SIZE_MAX)
        word[2].n = dash;
    memset(part, 0, 3 * sizeof *part);
    for (size_t i = 0; good && i < n; i++) {
        err = version_number(&part[i], word[i]);
        good = !err && part[i] >= 0;
    }
    if (good)
        return NULL;
    const char *text = "Failed to parse version number string '%s'";
    return err ? err_wrap(err, E_MALFORMED_VERSION_STRING, text, version)
               : err_make(E_MALFORMED_VERSION_STRING, text, version);
}

struct err *format_for_version(int *format, const char *version)
{
    int64_t part[3];
    bool tagged;
    TRY(parse_version(part, &tagged, version));
    /* 1.8.0-rc1 comes before 1.8.0. svnadmin does not look at the tags of what came after 1.8. */
    if (tagged && part[0] == 1 && part[1] > 0 && part[1] <= 8 && part[2] == 0)
        part[1]--;
    if (part[0] < 1)
        return err_make(E_UNSUPPORTED_FEATURE, "Cannot create pre-1.0-compatible repositories");
    if (part[0] == 1 && part[1] < 1)
        return err_make(E_CL_ARG_PARSING_ERROR,
                        "Repositories compatible with 1.0.x must use --fs-type=bdb");
    if (part[0] > 1 || part[1] > NEWEST_MINOR ||
        (part[1] == NEWEST_MINOR && part[2] > NEWEST_PATCH))
        return err_make(
            E_UNSUPPORTED_FEATURE,
            "Cannot guarantee compatibility beyond the current running version (1.%d.%d)",
            NEWEST_MINOR, NEWEST_PATCH);
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        if (part[1] >= releases[i].minor) {
            *format = releases[i].format;
            return NULL;
        }
    }
    return err_make(E_UNSUPPORTED_FEATURE, "No format is known for version '%s'", version);
}
