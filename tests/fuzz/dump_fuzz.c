/* SPDX-License-Identifier: Apache-2.0 */
/* A dump stream, pulled to its end: every header, property and byte of text is there to be read,
 * and nothing where the record says that there is nothing. Bodies of every other record are left to
 * be skipped. */
#include "fsfs/format/props.h"
#include "repo/dump/dump.h"
#include "repo/dump/dump_parser.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static size_t touch(struct str s)
{
    volatile char sum = 0;
    for (size_t i = 0; i < s.n; i++)
        sum = (char)(sum ^ s.p[i]);
    return s.n;
}

static struct err *take_text(struct dump_parser *parser, size_t size)
{
    uint64_t length = 0;
    struct str piece;
    bool has_text;
    struct err *err = dump_parser_has_text(&has_text, parser);
    if (err)
        return err;
    do {
        err = dump_parser_text(&piece, parser);
        if (err)
            return err;
        length += touch(piece);
        must(length <= size, "more text than there is input");
    } while (piece.n);
    must(has_text || !length, "a text where there is none");
    return NULL;
}

static struct err *take_props(const struct dump_record *record, struct dump_parser *parser)
{
    for (;;) {
        struct prop prop;
        bool more;
        struct err *err = dump_parser_prop(&more, &prop, parser);
        if (err || !more)
            return err;
        must(record->has_props, "properties that are not there");
        touch(prop.name);
        touch(prop.value);
    }
}

static struct err *take_record(bool *more, struct dump_parser *parser, bool with_body, size_t size)
{
    struct dump_record record;
    struct err *err = dump_parser_next(more, &record, parser);
    if (err || !*more)
        return err;
    for (size_t i = 0; i < record.header_count; i++) {
        touch(record.headers[i].name);
        touch(record.headers[i].value);
    }
    if (with_body)
        err = take_props(&record, parser);
    return err || !with_body ? err : take_text(parser, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dump_parser *parser;
    struct err *err = dump_parser_open(&parser, reader_of_str(str_make((const char *)data, size)));
    if (!err) {
        bool more = true;
        for (size_t n = 0; !err && more; n++) {
            must(n <= size, "more records than bytes");
            err = take_record(&more, parser, n % 2 == 0, size);
        }
        dump_parser_close(parser);
    }
    err_free(err);
    return 0;
}
