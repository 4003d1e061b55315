/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - a repository as a dump stream, and a dump stream as revisions (docs/formats/dump.md). */
#ifndef VARVE_REPO_DUMP_H
#define VARVE_REPO_DUMP_H

#include "base/stream.h"
#include "repo/repo.h"

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

/* ---- parsing ---- */

struct dump_header {
    struct str name, value;
};
enum dump_record_kind { DUMP_VERSION, DUMP_UUID, DUMP_REVISION, DUMP_NODE };
struct dump_record {
    enum dump_record_kind kind;
    const struct dump_header *headers;
    size_t header_count;
    bool has_props;
};
struct dump_parser;
struct err *dump_parser_open(struct dump_parser **out,
                             struct reader *in); /* owns IN; reads and checks the version line */
/* The headers of the next record. */
struct err *dump_parser_next(bool *more, struct dump_record *record, struct dump_parser *p);
/* The parts of the present record, in this order; what nobody takes is skipped.
 * PROP: the next entry of its property block, kept until the next record; value.p NULL: a D entry.
 * *MORE false at its end. TEXT: the next piece of its text, n 0 at its end. */
struct err *dump_parser_prop(bool *more, struct prop *prop, struct dump_parser *p);
struct err *dump_parser_has_text(bool *out, struct dump_parser *p);
struct err *dump_parser_text(struct str *piece, struct dump_parser *p);
void dump_parser_close(struct dump_parser *p);
const struct str *dump_record_get(const struct dump_record *record,
                                  const char *name); /* a header's value or NULL */

/* ---- loading ---- */

enum load_uuid { LOAD_UUID_DEFAULT, LOAD_UUID_IGNORE, LOAD_UUID_FORCE };
enum load_event {
    LOAD_TXN_STARTED,
    LOAD_NODE_BEGIN,
    LOAD_NODE_COPIED,
    LOAD_NODE_DONE,
    LOAD_COMMITTED,
    LOAD_SKIPPED,
    LOAD_MERGEINFO_NORMALIZED,
    LOAD_MERGEINFO_INVALID,
    LOAD_PROPS_SET
};
struct load_notice {
    enum load_event event;
    revnum old_rev, new_rev;
    struct str path;
};
struct load_params {
    enum load_uuid uuid;
    revnum start, end;     /* REV_NONE: all */
    struct str parent_dir; /* relative; empty: none */
    bool ignore_dates, normalize_props, bypass_prop_validation, use_pre_commit_hook,
        use_post_commit_hook;
    /* LOAD_COMMITTED comes only once the revision is durable. */
    struct err *(*notify)(void *arg, const struct load_notice *notice);
    void *arg;
};
struct err *load_stream(struct repo *repo, struct reader *in,
                        const struct load_params *params); /* owns IN */

#endif
