/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - a repository as a dump stream (docs/formats/dump.md). */
#ifndef VARVE_REPO_DUMP_DUMP_H
#define VARVE_REPO_DUMP_DUMP_H

#include "base/stream.h"
#include "repo/admin/repo.h"

struct dump_params {
    revnum start, end; /* resolved: 0 <= start <= end <= youngest */
    bool incremental, deltas;
    const struct str *include, *exclude; /* path prefixes (or patterns); none: everything */
    size_t include_count, exclude_count;
    bool pattern; /* the above are glob patterns */
    /* Told after each revision; an error stops the dump. WARNING: number and text of a warning
     * ("0x0001: Mergeinfo referencing ..."), or n 0. */
    struct err *(*progress)(void *arg, revnum rev, struct str warning);
    void *arg;
};
struct err *dump_write(struct writer *out, struct repo *repo, const struct dump_params *params);

#endif
