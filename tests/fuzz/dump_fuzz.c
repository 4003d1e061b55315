/* SPDX-License-Identifier: Apache-2.0 */
/* A dump stream, pulled to its end: every header, property and byte of text is there to be read,
 * and a text is as long as its record says. Texts of every other record are left to be skipped. */
#include "fsfs/props.h"
#include "repo/dump.h"
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

static struct err *take_text(const struct dump_record *record, struct dump_parser *parser,
                             size_t size)
{
    uint64_t length = 0;
    struct str piece;
    do {
        struct err *err = dump_parser_text(&piece, parser);
        if (err)
            return err;
        length += touch(piece);
        must(length <= size, "more text than there is input");
    } while (piece.n);
    must(length == (record->has_text ? record->text_length : 0),
         "a text is not as long as its record says");
    return NULL;
}

static struct err *take_record(bool *more, struct dump_parser *parser, bool with_text, size_t size)
{
    struct dump_record record;
    struct err *err = dump_parser_next(more, &record, parser);
    if (err || !*more)
        return err;
    for (size_t i = 0; i < record.header_count; i++) {
        touch(record.headers[i].name);
        touch(record.headers[i].value);
    }
    must(record.has_props || !record.prop_count, "properties that are not there");
    for (size_t i = 0; i < record.prop_count; i++) {
        touch(record.props[i].name);
        touch(record.props[i].value);
    }
    return with_text ? take_text(&record, parser, size) : NULL;
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
