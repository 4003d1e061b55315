/* SPDX-License-Identifier: Apache-2.0 */
/* authz_file.h - where rule files are: on disk, or versioned in a repository; and each version of
 * one compiled once for the process. */
#ifndef VARVE_REPO_ADMIN_AUTHZ_FILE_H
#define VARVE_REPO_ADMIN_AUTHZ_FILE_H

#include "repo/access/authz.h"

struct authz_place {
    const char *rules;  /* a file's path, or file:///REPOSITORY/PATH: of the youngest revision */
    const char *groups; /* the same for global groups; NULL: the rule file has its own */
    const char *kind;   /* what a message calls the file: "config", "authz" */
};

/* The rules as they are now: compiled, or from the cache if the files are what they were then (by
 * device, number, size and times; by node-revision in a repository). Valid as long as ARENA.
 * Errors: E_ILLEGAL_TARGET "'F' is not a file"; E_RA_ILLEGAL_URL; those of authz_parse inside
 * "Error while parsing KIND file: 'F':". */
struct err *authz_load(struct authz **out, const struct authz_place *place, struct arena *arena);

/* The same of paths in the transaction TXN of the repository in FOLDER; not cached.
 * E_FS_NO_SUCH_TRANSACTION, E_FS_NOT_FILE. */
struct err *authz_load_txn(struct authz **out, const char *folder, struct str txn,
                           const struct authz_place *place, struct arena *arena);

/* The form in which NAME, as a configuration in FOLDER of the repository in REPOSITORY has it, is
 * given to authz_load: "^/path", a URL, a path that is absolute or relative to FOLDER. */
const char *authz_file_name(struct str name, struct str folder, struct str repository,
                            struct arena *arena);

#endif
