/* SPDX-License-Identifier: Apache-2.0 */
/* dump_parser.h - the records of a dump stream (docs/formats/dump.md). */
#ifndef VARVE_REPO_DUMP_DUMP_PARSER_H
#define VARVE_REPO_DUMP_DUMP_PARSER_H

#include "base/stream.h"
#include "fsfs/format/props.h"

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

#endif
