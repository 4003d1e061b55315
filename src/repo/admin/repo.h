/* SPDX-License-Identifier: Apache-2.0 */
/* repo.h - a repository: the filesystem, and around it configuration, hooks and the outer format
 * file. */
#ifndef VARVE_REPO_ADMIN_REPO_H
#define VARVE_REPO_ADMIN_REPO_H

#include "fsfs/fs.h"

/* How hooks are run; all zero is the ordinary way. */
struct hook_settings {
    const char *env_file;  /* of their environment; NULL: conf/hooks-env */
    unsigned time_limit_s; /* a hook that takes longer is killed; 0: never */
};

/* A session has a copy of its own, with the settings of its configuration. */
struct repo {
    struct fsfs *fs;
    int format; /* of the outer `format` file: 3 or 5 */
    char *path; /* of the repository's folder, as given, without trailing slash */
    struct hook_settings hooks;
};

/* Open the repository in PATH: outer format 3 or 5, fs-type fsfs. Errors as svnadmin's: E000002
 * "Can't open file 'P/format': ...", E_REPOS_UNSUPPORTED_VERSION "Expected repository format '3' or
 * '5'; found format '99'". */
struct err *repo_open(struct repo **out, const char *path, const struct fsfs_options *options);
void repo_close(struct repo *repo); /* NULL is fine */

/* True where PATH looks like a repository (its `format` and `db/`, as Subversion looks). No error:
 * an unreadable place is none. */
bool repo_is_at(const char *path);
/* The repository that PATH (absolute) leads to, or into, below the folder ROOT: its folder. *INSIDE
 * is what is left of PATH, *DEPTH its components. NULL where there is none. */
const char *repo_find(struct str *inside, size_t *depth, const char *root, struct str path,
                      struct arena *arena);

struct repo_create_options {
    struct fsfs_create_options fs;
};
/* Make a repository in PATH, which is absent or an empty folder: conf/, hooks/, locks/, db/,
 * README.txt, format. Errors: E_DIR_NOT_EMPTY "'X' exists and is non-empty", E_REPOS_BAD_ARGS "'X'
 * is a subdirectory of an existing repository rooted at 'Y'". */
struct err *repo_create(const char *path, const struct repo_create_options *options);

/* Which releases' servers can use a filesystem of FORMAT: "1.10.0". */
const char *format_compatible_version(int format);
/* The format for a --compatible-version MAJOR.MINOR[.PATCH[-TAG]]. Errors, as svnadmin's:
 * E_MALFORMED_VERSION_STRING, E_UNSUPPORTED_FEATURE */
struct err *format_for_version(int *format, const char *version);

#endif
