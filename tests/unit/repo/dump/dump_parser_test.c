/* SPDX-License-Identifier: Apache-2.0 */
#include "../../testing.h"
#include "base/stream.h"
#include "fsfs/format/props.h"
#include "repo/dump/dump.h"
#include "repo/dump/dump_parser.h"

static struct dump_parser *open_text(struct str text)
{
    struct dump_parser *parser;
    assert_ok(dump_parser_open(&parser, reader_of_str(text)));
    return parser;
}

static struct dump_record next(struct dump_parser *parser)
{
    struct dump_record record;
    bool more;
    assert_ok(dump_parser_next(&more, &record, parser));
    assert_true(more);
    return record;
}

static void expect_end(struct dump_parser *parser)
{
    struct dump_record record;
    bool more;
    assert_ok(dump_parser_next(&more, &record, parser));
    assert_false(more);
    dump_parser_close(parser);
}

static void expect_prop(struct dump_parser *parser, const char *name, const char *value)
{
    struct prop prop;
    bool more;
    assert_ok(dump_parser_prop(&more, &prop, parser));
    assert_int_equal(more, name != NULL);
    if (!more)
        return;
    assert_str_eq(prop.name, str_of(name));
    assert_int_equal(prop.value.p == NULL, value == NULL);
    assert_str_eq(prop.value, str_of(value));
}

static void expect_text(struct dump_parser *parser, const char *wanted)
{
    AUTO_BUF(text);
    struct str piece;
    bool has_text;
    assert_ok(dump_parser_has_text(&has_text, parser));
    assert_int_equal(has_text, wanted != NULL);
    do {
        assert_ok(dump_parser_text(&piece, parser));
        buf_str(&text, piece);
    } while (piece.n);
    assert_str_eq(buf_view(&text), str_of(wanted));
}

static void expect_header(const struct dump_record *record, const char *name, const char *wanted)
{
    const struct str *value = dump_record_get(record, name);
    assert_non_null(value);
    assert_str_eq(*value, str_of(wanted));
}

#define V2 "SVN-fs-dump-format-version: 2\n\n"

static void records_come_with_headers_properties_and_text(void **state)
{
    struct dump_parser *parser =
        open_text(S(V2 "UUID: 4c9e5a3e-8a6f-4a57-9b0c-3f5f6c1f1b11\n\n"
                       "Revision-number: 1\nProp-content-length: 28\nContent-length: 28\n\nK "
                       "7\nsvn:log\nV 1\nx\nPROPS-END\n\n"
                       "Node-path: a: b\nNode-kind: file\nNode-action: add\nText-content-length: "
                       "6\nContent-length: 6\n\nhello\n\n\n"
                       "Node-path: c\nNode-action: delete\n\n\n"));
    struct dump_record record = next(parser);
    assert_int_equal(record.kind, DUMP_VERSION);
    expect_header(&record, "SVN-fs-dump-format-version", "2");
    record = next(parser);
    assert_int_equal(record.kind, DUMP_UUID);
    expect_header(&record, "UUID", "4c9e5a3e-8a6f-4a57-9b0c-3f5f6c1f1b11");
    record = next(parser);
    assert_int_equal(record.kind, DUMP_REVISION);
    assert_true(record.has_props);
    expect_prop(parser, "svn:log", "x");
    expect_prop(parser, NULL, NULL);
    record = next(parser);
    assert_int_equal(record.kind, DUMP_NODE);
    expect_header(&record, "Node-path", "a: b");
    assert_false(record.has_props);
    expect_text(parser, "hello\n");
    record = next(parser);
    expect_header(&record, "Node-action", "delete");
    expect_text(parser, NULL);
    expect_end(parser);
}

static void a_text_that_nobody_takes_is_skipped(void **state)
{
    struct dump_parser *parser =
        open_text(S(V2 "Node-path: a\nText-content-length: 6\n\nhello\n\nNode-path: "
                       "b\nText-content-length: 0\nContent-length: 0\n\n\n"));
    next(parser);
    next(parser);
    struct dump_record record = next(parser);
    expect_header(&record, "Node-path", "b");
    expect_text(parser, ""); /* empty, but a text */
    expect_end(parser);
}

static void deleted_properties_have_no_value(void **state)
{
    struct dump_parser *parser =
        open_text(S("SVN-fs-dump-format-version: 3\n\nNode-path: a\nProp-delta: "
                    "true\nProp-content-length: 27\n\nD 1\np\nK 1\nq\nV 0\n\nPROPS-END\n\n"));
    next(parser);
    next(parser);
    expect_prop(parser, "p", NULL);
    expect_prop(parser, "q", "");
    expect_prop(parser, NULL, NULL);
    expect_end(parser);
}

/* Version 1 says how long both are together. */
static void version_1_finds_the_text_behind_the_properties(void **state)
{
    struct dump_parser *parser = open_text(
        S("SVN-fs-dump-format-version: 1\n\n"
          "Revision-number: 1\nContent-length: 34\n\nK 7\nsvn:log\nV 1\nx\nPROPS-END\nextra\n\n"
          "Node-path: a\nContent-length: 16\n\nPROPS-END\nhello\n\n\n"));
    next(parser);
    struct dump_record record = next(parser);
    assert_int_equal(record.kind, DUMP_REVISION);
    expect_prop(parser, "svn:log", "x");
    expect_text(parser, NULL); /* revisions have none: what is left is skipped, once */
    record = next(parser);
    expect_header(&record, "Node-path", "a");
    expect_text(parser, "hello\n");
    expect_end(parser);
}

static void what_a_record_says_to_have_more_is_skipped(void **state)
{
    struct dump_parser *parser = open_text(S(
        V2
        "Node-path: a\nText-content-length: 2\nContent-length: 9\n\nhi1234567\nNode-path: b\n\n"));
    next(parser);
    next(parser);
    expect_text(parser, "hi");
    struct dump_record record = next(parser);
    expect_header(&record, "Node-path", "b");
    expect_end(parser);
}

#define LOG_X "K 7\nsvn:log\nV 1\nx\n"

/* Edited streams and converters' are a few bytes off. */
static void a_property_block_ends_at_its_end_whatever_its_length(void **state)
{
    static const char *const heads[] = {
        "Prop-content-length: 20\nContent-length: 20\n", /* 28 would be right */
        "Prop-content-length: 27\nContent-length: 27\n", /* without the last line feed */
        "Prop-content-length: 40\nContent-length: 40\n",
        "Prop-content-length: -1\nContent-length: -1\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        AUTO_BUF(stream);
        buf_printf(&stream, V2 "Revision-number: 1\n%s\n" LOG_X "PROPS-END\n\nNode-path: a\n\n",
                   heads[i]);
        struct dump_parser *parser = open_text(buf_view(&stream));
        next(parser);
        next(parser);
        expect_prop(parser, "svn:log", "x");
        expect_prop(parser, NULL, NULL);
        struct dump_record record = next(parser);
        expect_header(&record, "Node-path", "a");
        expect_end(parser);
    }
}

static void a_property_block_that_is_used_up_needs_no_end(void **state)
{
    struct dump_parser *parser = open_text(
        S(V2 "Node-path: a\nProp-content-length: 18\nText-content-length: 2\n\n" LOG_X "hi\n"
             "Node-path: b\nProp-content-length: 0\n\n"));
    next(parser);
    next(parser);
    expect_prop(parser, "svn:log", "x");
    expect_prop(parser, NULL, NULL);
    expect_text(parser, "hi");
    next(parser);
    expect_prop(parser, NULL, NULL);
    expect_end(parser);
}

static void headers_are_read_as_they_were_written_by_hand(void **state)
{
    struct dump_parser *parser = open_text(
        S("SVN-fs-dump-format-version:2\n  # remark\n\t\n\f\nNode-path:\ta \r\nNode-path: "
          "b\0c\nText-content-length:  +3\t\n\nabc\n \n"));
    next(parser);
    struct dump_record record = next(parser);
    expect_header(&record, "Node-path", "b"); /* the last one */
    assert_str_eq(record.headers[0].value, S("a \r"));
    expect_text(parser, "abc");
    expect_end(parser);
}

static struct err *read_all(struct str text)
{
    struct dump_parser *parser;
    TRY(dump_parser_open(&parser, reader_of_str(text)));
    struct dump_record record;
    struct err *err;
    bool more;
    do
        err = dump_parser_next(&more, &record, parser);
    while (!err && more);
    dump_parser_close(parser);
    return err;
}

static void what_is_no_dump_stream_is_refused(void **state)
{
    assert_err(read_all(S("")), E_INCOMPLETE_DATA, "Premature end of content data in dumpstream");
    assert_err(read_all(S("GET / HTTP/1.0\n\n")), E_STREAM_MALFORMED_DATA,
               "Malformed dumpfile header");
    assert_err(read_all(S("SVN-fs-dump-format-version: 4\n\n")), E_STREAM_MALFORMED_DATA,
               "Unsupported dumpfile version: 4");
    assert_err(read_all(S("SVN-fs-dump-format-version: two\n\n")), E_INCORRECT_PARAMS,
               "Could not convert ' two' into a number");
    assert_err(read_all(S(V2 "Node-path a\n\n")), E_STREAM_MALFORMED_DATA,
               "malformed header (with no ':') at 'Node-path a'");
    assert_err(read_all(S(V2 "Node-path:\n\n")), E_STREAM_MALFORMED_DATA,
               "malformed header (with no value) at 'Node-path:'");
    assert_err(read_all(S(V2 "Node-path: a\nProp-content-length: 9\n\nX 1\na\nV 0\n\n")),
               E_STREAM_MALFORMED_DATA, "appears to be malformed");
    assert_err(read_all(S(V2 "Node-path: a\nProp-content-length: 9\n\nK 1x\na\nV 0\n\n")),
               E_INCORRECT_PARAMS, "Could not convert '1x' into a number");
    assert_err(read_all(S(V2 "Node-path: a\nProp-content-length: 9\n\nK 2\na\nV 0\n\n")),
               E_STREAM_MALFORMED_DATA, "appears to be malformed");
    assert_err(read_all(S(V2 "Author: x\n\n")), E_STREAM_MALFORMED_DATA,
               "Unrecognized record type in stream");
}

static void a_stream_that_ends_early_is_incomplete(void **state)
{
    assert_err(read_all(S(V2 "Revision-num")), E_INCOMPLETE_DATA, NULL);
    assert_err(read_all(S(V2 "Revision-number: 1\nProp-content-length: 26\n\nK 7\nsvn:")),
               E_INCOMPLETE_DATA, NULL);
    assert_err(read_all(S(V2 "Node-path: a\nText-content-length: 6\n\nhel")), E_INCOMPLETE_DATA,
               NULL);
}

static void lengths_that_cannot_be_are_refused(void **state)
{
    assert_err(read_all(S(V2 "Node-path: a\nText-content-length: -1\n\nx")), E_INCOMPLETE_DATA,
               NULL);
    assert_err(read_all(S(V2 "Node-path: a\nContent-length: 9223372036854775808\n\nx")),
               E_INCOMPLETE_DATA, NULL);
    assert_err(read_all(S(V2 "Node-path: a\nText-content-length: 9223372036854775807\n\nx")),
               E_INCOMPLETE_DATA, NULL);
    assert_err(
        read_all(S(V2 "Revision-number: 1\nProp-content-length: 9\n\nK 9223372036854775807\n")),
        E_STREAM_MALFORMED_DATA, "property block");
    assert_err(
        read_all(S(V2 "Node-path: a\nText-content-length: 6\nContent-length: 5\n\nhello\n\n")),
        E_STREAM_MALFORMED_DATA, "Sum of subblock sizes larger than total block length");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_with_headers_properties_and_text),
        cmocka_unit_test(a_text_that_nobody_takes_is_skipped),
        cmocka_unit_test(deleted_properties_have_no_value),
        cmocka_unit_test(version_1_finds_the_text_behind_the_properties),
        cmocka_unit_test(what_a_record_says_to_have_more_is_skipped),
        cmocka_unit_test(a_property_block_ends_at_its_end_whatever_its_length),
        cmocka_unit_test(a_property_block_that_is_used_up_needs_no_end),
        cmocka_unit_test(headers_are_read_as_they_were_written_by_hand),
        cmocka_unit_test(what_is_no_dump_stream_is_refused),
        cmocka_unit_test(a_stream_that_ends_early_is_incomplete),
        cmocka_unit_test(lengths_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
