/* SPDX-License-Identifier: Apache-2.0 */
/* dump_node.h - one node record of a dump stream. */
#ifndef VARVE_REPO_DUMP_DUMP_NODE_H
#define VARVE_REPO_DUMP_DUMP_NODE_H

#include "base/stream.h"
#include "fsfs/format/changes.h"
#include "repo/tree/tree.h"

struct dump_target {
    struct writer *out;
    struct fsfs *fs;
    bool deltas;
};

struct dump_node {
    struct str path; /* absolute */
    enum change_action action;
    const struct noderev *now;    /* NULL: deleted */
    const struct noderev *before; /* what it is compared with: the copy's source, or what was there
                                     a revision before; NULL: nothing */
    bool is_copy;
    struct str copy_path;
    revnum copy_rev;
};

/* Write the record: headers, properties and text as far as they differ from BEFORE. *WITH_PROPS: it
 * has properties. */
struct err *dump_node_write(bool *with_props, const struct dump_target *target,
                            const struct dump_node *node, struct arena *arena);

/* "Name-content-length"s and the properties of a revision record. */
struct err *dump_revprops_write(struct writer *out, revnum rev, const struct prop *list, size_t n);

#endif
