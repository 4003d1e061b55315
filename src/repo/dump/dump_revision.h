/* SPDX-License-Identifier: Apache-2.0 */
/* dump_revision.h - one revision in a dump stream: its record and those of its nodes. */
#ifndef VARVE_REPO_DUMP_DUMP_REVISION_H
#define VARVE_REPO_DUMP_DUMP_REVISION_H

#include "base/stream.h"
#include "repo/dump/dump.h"

struct dump_revision {
    struct fsfs *fs;
    const struct dump_params *params;
    struct writer *out;
    revnum rev;
    /* what came out besides the records */
    struct buf warnings; /* a line each, as dump_params.progress is told; the caller's to free */
    bool warned_copy, warned_mergeinfo;
};
/* Revisions may be written side by side, by several threads. */
struct err *dump_revision_write(struct dump_revision *revision);

#endif
