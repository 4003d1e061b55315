/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "delta/encode.h"
#include "delta/search.h"
#include "delta/svndiff.h"

/* ---- integers ---- */

static void integers_have_seven_bits_a_byte_highest_first(void **state)
{
    static const struct {
        uint64_t n;
        struct str bytes;
    } cases[] = {
        {0, {"\0", 1}},
        {1, {"\x01", 1}},
        {127, {"\x7f", 1}},
        {128, {"\x81\0", 2}},
        {130, {"\x81\x02", 2}},
        {1100, {"\x88\x4c", 2}},
        {16383, {"\xff\x7f", 2}},
        {16384, {"\x81\x80\0", 3}},
        {UINT64_MAX, {"\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t to[SVNDIFF_INT_MAX];
        uint64_t n;
        struct str from = cases[i].bytes;
        assert_int_equal(svndiff_int_put(to, cases[i].n), from.n);
        assert_memory_equal(to, from.p, from.n);
        assert_true(svndiff_int_take(&n, &from));
        assert_int_equal(n, cases[i].n);
        assert_int_equal(from.n, 0);
        for (size_t cut = 0; cut < cases[i].bytes.n; cut++) {
            from = str_make(cases[i].bytes.p, cut);
            assert_false(svndiff_int_take(&n, &from));
            assert_int_equal(from.n, cut);
        }
    }
}

static void integers_of_more_than_64_bits_are_refused(void **state)
{
    uint64_t n;
    struct str bits65 = S("\x82\x80\x80\x80\x80\x80\x80\x80\x80\0");
    struct str eleven_bytes = S("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0");
    assert_false(svndiff_int_take(&n, &bits65));
    assert_false(svndiff_int_take(&n, &eleven_bytes));
}

/* ---- documents ---- */

/* 1092 bytes in which no 64 repeat, and the same with " changed" after byte 491: the texts of the
 * example in docs/formats/svndiff.md. */
static struct str example_base(struct buf *room)
{
    for (uint32_t i = 0; room->n < 1092; i++)
        buf_printf(room, "%u ", i * 2654435761u);
    room->n = 1092;
    return buf_view(room);
}

static struct str example_target(struct buf *room)
{
    AUTO_BUF(base);
    struct str b = example_base(&base);
    buf_str(room, str_make(b.p, 491));
    buf_str(room, S(" changed"));
    buf_str(room, str_skip(b, 491));
    return buf_view(room);
}

#define EXAMPLE_V0                                                                                 \
    "SVN\0"                                                                                        \
    "\0\x88\x44\x88\x4c\x0a\x08"                                                                   \
    "\0\x83\x6b\0\x88\0\x84\x59\x83\x6b"                                                           \
    " changed"
#define EXAMPLE_V2                                                                                 \
    "SVN\2"                                                                                        \
    "\0\x88\x44\x88\x4c\x0b\x09"                                                                   \
    "\x0a\0\x83\x6b\0\x88\0\x84\x59\x83\x6b"                                                       \
    "\x08 changed"

static void an_insertion_is_written_as_subversion_does(void **state)
{
    AUTO_BUF(base);
    AUTO_BUF(target);
    AUTO_BUF(out);
    struct str b = example_base(&base), t = example_target(&target);
    delta_encode(&out, b, t, &(struct svndiff_params){.version = 0});
    assert_str_eq(buf_view(&out), S(EXAMPLE_V0));
    buf_clear(&out);
    delta_encode(&out, b, t, &(struct svndiff_params){.version = 2});
    assert_str_eq(buf_view(&out), S(EXAMPLE_V2));
}

static void a_text_without_base_is_one_piece_of_new_data(void **state)
{
    AUTO_BUF(out);
    delta_encode(&out, S(""), S("hello"), &(struct svndiff_params){.version = 0});
    assert_str_eq(buf_view(&out), S("SVN\0"
                                    "\0\0\x05\x01\x05"
                                    "\x85"
                                    "hello"));
}

static void an_empty_text_is_a_header(void **state)
{
    AUTO_BUF(out);
    AUTO_BUF(text);
    delta_encode(&out, S("base"), S(""), &(struct svndiff_params){.version = 1});
    assert_str_eq(buf_view(&out), S("SVN\1"));
    assert_ok(svndiff_apply(&text, buf_view(&out), S("base"), 0));
    assert_int_equal(text.n, 0);
}

/* Behind the end of the source the view is empty and starts there. */
static void windows_behind_the_end_of_the_source_have_no_view(void **state)
{
    AUTO_BUF(target);
    AUTO_BUF(out);
    memset(buf_grow(&target, SVNDIFF_WINDOW_MAX + 3), 'x', SVNDIFF_WINDOW_MAX + 3);
    delta_encode(&out, str_make(target.p, 3), buf_view(&target), &(struct svndiff_params){0});
    assert_true(str_ends(buf_view(&out), S("\x03\0\x03\x01\x03\x83xxx")));
}

/* ---- reading: each way must find the same ---- */

static struct reader *reader_of(struct str s)
{
    return reader_of_str(s);
}

static struct err *apply_by_reader(struct buf *out, struct str document, struct str source,
                                   uint64_t expanded)
{
    struct reader *r = svndiff_reader(reader_of(document), reader_of(source), expanded);
    struct err *err = reader_all(out, r, SIZE_MAX / 2);
    reader_close(r);
    return err;
}

/* Windows from documents that come in pieces of STEP bytes. */
static struct err *apply_by_decoder(struct buf *out, struct str document, struct str source,
                                    size_t step)
{
    struct svndiff_decoder *d = svndiff_decoder_new();
    struct err *err = NULL;
    while (!err && document.n) {
        size_t n = document.n < step ? document.n : step;
        bool more = true;
        err = svndiff_decoder_add(d, str_make(document.p, n));
        document = str_skip(document, n);
        while (!err && more) {
            struct delta_window w;
            err = svndiff_decoder_next(&more, &w, d);
            if (!err && more)
                delta_window_apply(buf_grow(out, w.target_length), &w,
                                   str_make(source.p + w.source_offset, w.source_length));
        }
    }
    if (!err)
        err = svndiff_decoder_end(d);
    svndiff_decoder_free(d);
    return err;
}

static void assert_makes(struct str document, struct str source, struct str text)
{
    AUTO_BUF(a);
    AUTO_BUF(b);
    AUTO_BUF(c);
    AUTO_BUF(d);
    buf_str(&a, S("before"));
    assert_ok(svndiff_apply(&a, document, source, text.n));
    assert_str_eq(str_skip(buf_view(&a), 6), text);
    assert_ok(apply_by_reader(&b, document, source, text.n));
    assert_str_eq(buf_view(&b), text);
    assert_ok(apply_by_decoder(&c, document, source, 1));
    assert_str_eq(buf_view(&c), text);
    assert_ok(apply_by_decoder(&d, document, source, 40000));
    assert_str_eq(buf_view(&d), text);
}

static void subversions_documents_expand(void **state)
{
    AUTO_BUF(base);
    AUTO_BUF(target);
    struct str b = example_base(&base), t = example_target(&target);
    assert_makes(S(EXAMPLE_V0), b, t);
    assert_makes(S(EXAMPLE_V2), b, t);
    assert_makes(S("SVN\0"), b, S(""));
}

static void a_copy_from_the_target_may_overlap_itself(void **state)
{
    /* "ab", then 9 bytes from target offset 0; then 4 of "b" by itself */
    assert_makes(S("SVN\0"
                   "\0\0\x0b\x03\x02"
                   "\x82\x49\0"
                   "ab"),
                 S(""), S("abababababa"));
    assert_makes(S("SVN\0"
                   "\0\0\x06\x03\x02"
                   "\x82\x44\x01"
                   "ab"),
                 S(""), S("abbbbb"));
}

static void lengths_may_stand_in_longer_form(void **state)
{
    /* a length of 2 behind the instruction byte, with a leading zero group */
    assert_makes(S("SVN\0"
                   "\0\0\x02\x03\x02"
                   "\x80\x80\x02"
                   "ab"),
                 S(""), S("ab"));
}

static void an_empty_window_is_legal(void **state)
{
    assert_makes(S("SVN\0"
                   "\0\0\0\0\0"
                   "\0\0\x01\x01\x01\x81x"),
                 S(""), S("x"));
}

static void source_views_may_overlap_and_skip(void **state)
{
    /* views 0-4, 2-6, 8-9 of "0123456789", each copied whole */
    assert_makes(S("SVN\0"
                   "\0\x04\x04\x02\0\x04\0"
                   "\x02\x04\x04\x02\0\x04\0"
                   "\x08\x01\x01\x02\0\x01\0"),
                 S("0123456789"), S("012323458"));
}

static void a_window_without_source_does_not_move_the_view(void **state)
{
    /* view 2-4, no view (at 0), view 2-4 again */
    assert_makes(S("SVN\0"
                   "\x02\x02\x02\x02\0\x02\0"
                   "\0\0\x01\x01\x01\x81x"
                   "\x02\x02\x02\x02\0\x02\0"),
                 S("0123"), S("23x23"));
}

/* A pseudo-random text with some order in it. */
static void noise(struct buf *out, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        buf_char(out, (char)(seed >> 33 & (seed >> 61 ? 0xff : 3)));
    }
}

static void long_texts_of_all_versions_come_back(void **state)
{
    AUTO_BUF(source);
    AUTO_BUF(target);
    noise(&source, 350000, 1);
    buf_add(&target, source.p + 1000, 150000);
    noise(&target, 70000, 2);
    buf_add(&target, source.p, 100000);
    for (int version = 0; version <= 2; version++) {
        AUTO_BUF(document);
        AUTO_BUF(in_pieces);
        struct svndiff_params params = {version, 5};
        delta_encode(&document, buf_view(&source), buf_view(&target), &params);
        assert_makes(buf_view(&document), buf_view(&source), buf_view(&target));

        struct delta_encoder *e = delta_encoder_new(reader_of(buf_view(&source)), &params);
        for (struct str rest = buf_view(&target); rest.n;) {
            size_t n = rest.n < 7001 ? rest.n : 7001;
            assert_ok(delta_encoder_add(&in_pieces, e, str_make(rest.p, n)));
            rest = str_skip(rest, n);
        }
        assert_ok(delta_encoder_end(&in_pieces, e));
        delta_encoder_free(e);
        assert_str_eq(buf_view(&in_pieces), buf_view(&document));
    }
}

static void an_encoder_that_gets_nothing_writes_a_header(void **state)
{
    AUTO_BUF(out);
    struct delta_encoder *e = delta_encoder_new(NULL, &(struct svndiff_params){.version = 2});
    assert_ok(delta_encoder_add(&out, e, S("")));
    assert_ok(delta_encoder_end(&out, e));
    delta_encoder_free(e);
    assert_str_eq(buf_view(&out), S("SVN\2"));
}

/* ---- refusing ---- */

static void assert_refused(struct str document, struct str source, uint64_t expanded, int code)
{
    AUTO_BUF(a);
    AUTO_BUF(b);
    AUTO_BUF(c);
    buf_str(&a, S("before"));
    assert_err(svndiff_apply(&a, document, source, expanded), code, NULL);
    assert_str_eq(buf_view(&a), S("before"));
    assert_err(apply_by_reader(&b, document, source, expanded), code, NULL);
    assert_err(apply_by_decoder(&c, document, source, 1), code, NULL);
}

static void wrong_headers_are_refused(void **state)
{
    assert_refused(S("SVN\3"), S(""), 0, E_SVNDIFF_INVALID_HEADER);
    assert_refused(S("GIT\0"), S(""), 0, E_SVNDIFF_INVALID_HEADER);
    AUTO_BUF(out);
    assert_err(svndiff_apply(&out, S("SVN"), S(""), 0), E_SVNDIFF_INVALID_HEADER, NULL);
    assert_err(apply_by_decoder(&out, S("SVN"), S(""), 1), E_SVNDIFF_UNEXPECTED_END, NULL);
}

static void documents_cut_short_are_refused(void **state)
{
    AUTO_BUF(base);
    struct str b = example_base(&base), document = S(EXAMPLE_V2);
    for (size_t n = 5; n < document.n; n++)
        assert_refused(str_make(document.p, n), b, 1100, E_SVNDIFF_UNEXPECTED_END);
}

static void views_and_sections_beyond_the_limits_are_refused(void **state)
{
    /* 102401 is 86 a0 01 */
    assert_refused(S("SVN\0"
                     "\0\x86\xa0\x01\x01\x01\x01\x81x"),
                   S(""), 1, E_SVNDIFF_CORRUPT_WINDOW);
    assert_refused(S("SVN\0"
                     "\0\0\x86\xa0\x01\x01\x01\x81x"),
                   S(""), 1, E_SVNDIFF_CORRUPT_WINDOW);
    assert_refused(S("SVN\0"
                     "\0\0\x01\xff\xff\xff\x7f\x01\x81x"),
                   S(""), 1, E_SVNDIFF_CORRUPT_WINDOW);
    assert_refused(S("SVN\0"
                     "\0\0\x01\x01\x86\xa0\x0b\x81x"),
                   S(""), 1, E_SVNDIFF_CORRUPT_WINDOW);
    assert_refused(S("SVN\0"
                     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\x01\x01\x01\x81x"),
                   S(""), 1, E_SVNDIFF_CORRUPT_WINDOW);
    /* a view that ends behind 2^64 */
    assert_refused(S("SVN\0"
                     "\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x02\x01\x01\x01\x81x"),
                   S(""), 1, E_SVNDIFF_CORRUPT_WINDOW);
}

static void views_that_slide_back_are_refused(void **state)
{
    struct str source = S("0123456789");
    assert_refused(S("SVN\0"
                     "\x02\x02\x02\x02\0\x02\0"
                     "\x01\x03\x02\x02\0\x02\0"),
                   source, 4, E_SVNDIFF_BACKWARD_VIEW);
    assert_refused(S("SVN\0"
                     "\x02\x04\x02\x02\0\x02\0"
                     "\x03\x02\x02\x02\0\x02\0"),
                   source, 4, E_SVNDIFF_BACKWARD_VIEW);
}

static void views_outside_the_source_are_refused(void **state)
{
    AUTO_BUF(a);
    AUTO_BUF(b);
    struct str document = S("SVN\0"
                            "\x08\x03\x03\x02\0\x03\0");
    assert_err(svndiff_apply(&a, document, S("0123456789"), 3), E_SVNDIFF_CORRUPT_WINDOW, NULL);
    assert_err(apply_by_reader(&b, document, S("0123456789"), 3), E_SVNDIFF_CORRUPT_WINDOW, NULL);
    assert_err(apply_by_reader(&b, document, S("0123"), 3), E_SVNDIFF_CORRUPT_WINDOW, NULL);
}

static void bad_instructions_are_refused(void **state)
{
    static const struct str documents[] = {
        {"SVN\0\0\0\x01\x01\x01\xc1x", 11},         /* a kind that does not exist */
        {"SVN\0\0\0\x01\x01\x01\x80x", 11},         /* a length that does not come */
        {"SVN\0\0\0\x01\x02\x01\x80\0x", 12},       /* a length of nothing */
        {"SVN\0\0\0\x01\x01\x02\x82xy", 12},        /* more than the target view */
        {"SVN\0\0\0\x02\x01\x01\x81x", 11},         /* less than it */
        {"SVN\0\0\0\x01\x01\x02\x81xy", 12},        /* new data left */
        {"SVN\0\0\0\x02\x01\x01\x82x", 11},         /* not enough new data */
        {"SVN\0\0\x02\x02\x02\0\x02\x01", 11},      /* behind the source view's end */
        {"SVN\0\0\x02\x03\x02\0\x03\0", 11},        /* longer than it */
        {"SVN\0\0\0\x02\x03\x01\x81\x41\x01x", 13}, /* target bytes not made yet */
        {"SVN\0\0\0\x02\x03\x01\x81\x41\x80x", 13}, /* an offset that does not end */
    };
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        uint64_t expanded = (uint8_t)documents[i].p[6];
        struct str document = documents[i];
        assert_refused(document, S("0123"), expanded, E_SVNDIFF_INVALID_OPS);
    }
}

static void new_data_of_length_0_is_refused_in_an_empty_window_too(void **state)
{
    assert_refused(S("SVN\0"
                     "\0\0\0\x02\0\x80\0"),
                   S(""), 0, E_SVNDIFF_INVALID_OPS);
}

static void damaged_sections_are_refused(void **state)
{
    /* instructions, then new data, that expand to more than a window of one byte can need */
    assert_refused(S("SVN\2"
                     "\0\0\x01\x02\x02\x16\x81\x01x"),
                   S(""), 1, E_SVNDIFF_INVALID_COMPRESSED_DATA);
    assert_refused(S("SVN\1"
                     "\0\0\x01\x02\x02\x01\x81\x02x"),
                   S(""), 1, E_SVNDIFF_INVALID_COMPRESSED_DATA);
}

static void texts_of_another_length_than_expected_are_refused(void **state)
{
    AUTO_BUF(a);
    struct str document = S("SVN\0"
                            "\0\0\x05\x01\x05"
                            "\x85"
                            "hello");
    assert_err(svndiff_apply(&a, document, S(""), 4), E_SVNDIFF_CORRUPT_WINDOW, NULL);
    assert_err(svndiff_apply(&a, document, S(""), UINT64_MAX), E_SVNDIFF_CORRUPT_WINDOW, NULL);
    assert_err(apply_by_reader(&a, document, S(""), 4), E_SVNDIFF_CORRUPT_WINDOW, NULL);
    assert_err(apply_by_reader(&a, document, S(""), 6), E_SVNDIFF_CORRUPT_WINDOW, NULL);
    buf_clear(&a);
    assert_ok(apply_by_reader(&a, document, S(""), UINT64_MAX));
    assert_str_eq(buf_view(&a), S("hello"));
}

/* ---- the search, rule by rule (docs/formats/svndiff.md) ---- */

/* The instructions as text: "s OFFSET LENGTH", "n LENGTH". */
static void assert_search(struct str source, struct str target, const char *expected)
{
    AUTO_ARENA(arena);
    AUTO_BUF(ops);
    struct delta_window w;
    delta_search(&w, 0, source, target, arena);
    for (size_t i = 0; i < w.op_count; i++)
        if (w.ops[i].kind == DELTA_NEW)
            buf_printf(&ops, "n%u ", w.ops[i].length);
        else
            buf_printf(&ops, "s%u+%u ", w.ops[i].offset, w.ops[i].length);
    assert_str_eq(buf_view(&ops), str_of(expected));
}

static void an_equal_start_of_five_bytes_is_copied(void **state)
{
    assert_search(S("abcdefgh"), S("abcdeXYZ"), "s0+5 n3 ");
    assert_search(S("abcdefgh"), S("abcdWXYZ"), "n8 ");
    assert_search(S("abcdefgh"), S("abc"), "s0+3 ");
}

static void an_equal_end_of_five_bytes_is_copied(void **state)
{
    assert_search(S("abcdefgh"), S("WXYdefgh"), "n3 s3+5 ");
    assert_search(S("abcdefgh"), S("WXYZefgh"), "n8 ");
    assert_search(S("abcdefghijkl"), S("abcdefXhijkl"), "s0+6 n1 s7+5 ");
}

static void an_equal_end_may_lie_in_the_equal_start(void **state)
{
    assert_search(S("abcdefabcdef"), S("abcdefabcdefabcdef"), "s0+12 s6+6 ");
    assert_search(S("aaaaaaaaaa"), S("aaaaaaaaaaaaaaaaa"), "s0+10 s3+7 ");
}

static void the_first_of_equal_blocks_is_found(void **state)
{
    AUTO_BUF(source);
    AUTO_BUF(target);
    noise(&source, 64, 7);
    noise(&source, 64, 8);
    noise(&source, 64, 7);
    buf_cstr(&target, "new");
    buf_add(&target, source.p + 128, 64);
    buf_cstr(&target, "end");
    assert_search(buf_view(&source), buf_view(&target), "n3 s0+64 n3 ");
}

static void a_short_last_block_is_not_looked_for(void **state)
{
    AUTO_BUF(source);
    AUTO_BUF(target);
    noise(&source, 64 + 63, 7);
    buf_cstr(&target, "new");
    buf_add(&target, source.p + 64, 63);
    buf_cstr(&target, "end");
    assert_search(buf_view(&source), buf_view(&target), "n69 ");
}

static void a_match_grows_both_ways(void **state)
{
    AUTO_BUF(source);
    AUTO_BUF(target);
    noise(&source, 300, 7);
    buf_cstr(&target, "new");
    buf_add(&target, source.p + 10, 250);
    buf_cstr(&target, "end");
    assert_search(buf_view(&source), buf_view(&target), "n3 s10+250 n3 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_have_seven_bits_a_byte_highest_first),
        cmocka_unit_test(integers_of_more_than_64_bits_are_refused),
        cmocka_unit_test(an_insertion_is_written_as_subversion_does),
        cmocka_unit_test(a_text_without_base_is_one_piece_of_new_data),
        cmocka_unit_test(an_empty_text_is_a_header),
        cmocka_unit_test(windows_behind_the_end_of_the_source_have_no_view),
        cmocka_unit_test(subversions_documents_expand),
        cmocka_unit_test(a_copy_from_the_target_may_overlap_itself),
        cmocka_unit_test(lengths_may_stand_in_longer_form),
        cmocka_unit_test(an_empty_window_is_legal),
        cmocka_unit_test(source_views_may_overlap_and_skip),
        cmocka_unit_test(a_window_without_source_does_not_move_the_view),
        cmocka_unit_test(long_texts_of_all_versions_come_back),
        cmocka_unit_test(an_encoder_that_gets_nothing_writes_a_header),
        cmocka_unit_test(wrong_headers_are_refused),
        cmocka_unit_test(documents_cut_short_are_refused),
        cmocka_unit_test(views_and_sections_beyond_the_limits_are_refused),
        cmocka_unit_test(views_that_slide_back_are_refused),
        cmocka_unit_test(views_outside_the_source_are_refused),
        cmocka_unit_test(bad_instructions_are_refused),
        cmocka_unit_test(new_data_of_length_0_is_refused_in_an_empty_window_too),
        cmocka_unit_test(damaged_sections_are_refused),
        cmocka_unit_test(texts_of_another_length_than_expected_are_refused),
        cmocka_unit_test(an_equal_start_of_five_bytes_is_copied),
        cmocka_unit_test(an_equal_end_of_five_bytes_is_copied),
        cmocka_unit_test(an_equal_end_may_lie_in_the_equal_start),
        cmocka_unit_test(the_first_of_equal_blocks_is_found),
        cmocka_unit_test(a_short_last_block_is_not_looked_for),
        cmocka_unit_test(a_match_grows_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
