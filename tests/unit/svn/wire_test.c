/* SPDX-License-Identifier: Apache-2.0 */
/* Items read from a pipe: what the protocol allows, and what it does not. */
#include "../testing.h"
#include "base/account.h"
#include "svn/session.h"
#include "svn/wire.h"
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

static struct arena *arena;

static int setup(void **state)
{
    arena = arena_new();
    return 0;
}

static int teardown(void **state)
{
    arena_free(arena);
    return 0;
}

/* A connection on which TEXT comes, and then the end. */
static struct conn *conn_of(struct str text)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], text.p, text.n), text.n);
    close(fds[1]);
    return conn_new(fds[0], fds[0], &svn_conn_codes);
}

static struct err *read_str(struct wire_item *item, struct str text)
{
    struct conn *conn = conn_of(text);
    struct err *err = wire_read(item, conn, arena);
    conn_free(conn);
    return err;
}

static struct err *read_text(struct wire_item *item, const char *text)
{
    return read_str(item, str_of(text));
}

static struct wire_args args_of(const char *text)
{
    struct wire_item *item = ARENA_NEW(arena, struct wire_item);
    assert_ok(read_text(item, text));
    return wire_args_of(item);
}

static void items_are_numbers_strings_words_and_lists(void **state)
{
    struct wire_item item;
    assert_ok(read_text(&item, "\n ( 12 3:a b word-7 ( ) )\n"));
    assert_int_equal(item.kind, WIRE_LIST);
    assert_int_equal(item.list.n, 4);
    assert_int_equal(item.list.items[0].number, 12);
    assert_str(item.list.items[1].text, "a b");
    assert_str(item.list.items[2].text, "word-7");
    assert_int_equal(item.list.items[3].kind, WIRE_LIST);
    assert_int_equal(item.list.items[3].list.n, 0);
}

static void a_string_holds_any_bytes(void **state)
{
    struct wire_item item;
    assert_ok(read_str(&item, S("5:\0(\n): ")));
    assert_str(item.text, "\0(\n):");
}

static void the_largest_number_fits(void **state)
{
    struct wire_item item;
    assert_ok(read_text(&item, "18446744073709551615 "));
    assert_true(item.number == UINT64_MAX);
}

static void a_number_too_large_is_malformed(void **state)
{
    struct wire_item item;
    assert_err(read_text(&item, "18446744073709551616 "), E_RA_SVN_MALFORMED_DATA,
               "Number is larger than maximum");
    assert_err(read_text(&item, "99999999999999999999999 "), E_RA_SVN_MALFORMED_DATA, NULL);
    assert_err(read_text(&item, "18446744073709551616:x "), E_RA_SVN_MALFORMED_DATA, NULL);
}

static void a_word_has_31_letters_at_most(void **state)
{
    struct wire_item item;
    assert_ok(read_text(&item, "abcdefghijklmnopqrstuvwxyz01234 "));
    assert_int_equal(item.text.n, 31);
    assert_err(read_text(&item, "abcdefghijklmnopqrstuvwxyz012345 "), E_RA_SVN_MALFORMED_DATA,
               NULL);
}

static struct err *read_nested(int depth)
{
    AUTO_BUF(text);
    struct wire_item item;
    for (int i = 0; i < depth; i++)
        buf_cstr(&text, "( ");
    for (int i = 0; i < depth; i++)
        buf_cstr(&text, ") ");
    return read_str(&item, buf_view(&text));
}

static void lists_nest_64_deep_at_most(void **state)
{
    assert_ok(read_nested(64));
    assert_err(read_nested(65), E_RA_SVN_MALFORMED_DATA, NULL);
    assert_err(read_nested(5000), E_RA_SVN_MALFORMED_DATA, NULL);
}

static void every_item_ends_with_white_space(void **state)
{
    static const char *const bad[] = {"1)",  "3:abcd ", "word) ", "( )x", "( 1) ", "1x ",
                                      "-1 ", "+ ",      ") ",     "w_d ", "1.5 "};
    struct wire_item item;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_err(read_text(&item, bad[i]), E_RA_SVN_MALFORMED_DATA, NULL);
}

static void input_that_ends_within_an_item_is_a_closed_connection(void **state)
{
    static const char *const cut[] = {"",    "1", "3:", "3:ab", "3:abc",
                                      "wor", "(", "( ", "( 1 ", "( )"};
    struct wire_item item;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        assert_err(read_text(&item, cut[i]), E_RA_SVN_CONNECTION_CLOSED, NULL);
}

/* With a limit of 64 MiB more than what was there, an allocation of the announced length would not
 * be survived. */
static void a_string_whose_bytes_never_come_takes_no_memory(void **state)
{
    struct wire_item item;
    size_t before = mallinfo2().hblkhd + mallinfo2().arena;
    assert_err(read_text(&item, "4000000000:abc"), E_RA_SVN_CONNECTION_CLOSED, NULL);
    assert_err(read_text(&item, "18446744073709551615:abc"), E_RA_SVN_CONNECTION_CLOSED, NULL);
    assert_true(mallinfo2().hblkhd + mallinfo2().arena < before + (8 << 20));
    assert_true(arena_used(arena) < 4 << 20);
}

static void a_request_is_as_long_as_the_limit_allows(void **state)
{
    static const char *const requests[] = {"( 16:0123456789abcdef ) ", "( 1 2 3 4 5 6 7 8 9 10 ) ",
                                           "                        w ",
                                           "( a b c d e f g h i j ) "};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct str text = str_of(requests[i]);
        struct wire_item item;
        struct conn *conn = conn_of(text);
        conn_begin_request(conn, text.n);
        assert_ok(wire_read(&item, conn, arena));
        conn_free(conn);
        conn = conn_of(text);
        conn_begin_request(conn, 16);
        assert_err(wire_read(&item, conn, arena), E_RA_SVN_REQUEST_SIZE, NULL);
        conn_free(conn);
    }
}

static void items_take_no_more_memory_than_the_account_allows(void **state)
{
    struct account *account = account_new(&(struct account_terms){
        .limit = 64 << 10, .code = E_RA_SVN_REQUEST_SIZE, .text = "too much"});
    struct account *outer = account_enter(account);
    struct arena *small = arena_new();
    account_enter(outer);
    AUTO_BUF(text);
    struct wire_item item;
    buf_cstr(&text, "( ");
    for (int i = 0; i < 20000; i++)
        buf_cstr(&text, "1 ");
    buf_cstr(&text, ") ");
    struct conn *conn = conn_of(buf_view(&text));
    assert_err(wire_read(&item, conn, small), E_RA_SVN_REQUEST_SIZE, "too much");
    conn_free(conn);
    arena_free(small);
    account_close(account);
}

static void a_command_is_a_word_and_a_list(void **state)
{
    static const char *const bad[] = {"( get-latest-rev ) ",
                                      "( 1 ( ) ) ",
                                      "( 3:abc ( ) ) ",
                                      "( word word ) ",
                                      "( ) ",
                                      "word ",
                                      "7 ",
                                      "( ( ) word ) "};
    struct str command;
    struct wire_item params;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct conn *conn = conn_of(str_of(bad[i]));
        assert_err(wire_read_command(&command, &params, conn, arena), E_RA_SVN_MALFORMED_DATA,
                   NULL);
        conn_free(conn);
    }
    struct conn *conn = conn_of(S("( stat ( 1:a ( ) ) from-the-future ( 7 ) ) "));
    assert_ok(wire_read_command(&command, &params, conn, arena));
    assert_str(command, "stat");
    assert_int_equal(params.list.n, 2);
    conn_free(conn);
}

static void what_is_taken_in_turn_is_what_was_sent(void **state)
{
    struct wire_args args = args_of("( 5 1:a w true ( 7 ) ( ) ( 1:b ) ( ) false 9 ) ");
    assert_int_equal(wire_take_number(&args), 5);
    assert_str(wire_take_str(&args), "a");
    assert_str(wire_take_word(&args), "w");
    assert_true(wire_take_bool(&args));
    assert_int_equal(wire_take_opt_rev(&args), 7);
    assert_int_equal(wire_take_opt_rev(&args), REV_NONE);
    assert_str(wire_take_opt_str(&args), "b");
    assert_null(wire_take_opt_str(&args).p);
    assert_false(wire_take_bool_tail(&args, true));
    assert_int_equal(wire_take_rev(&args), 9);
    assert_true(wire_args_end(&args));
    assert_true(wire_take_bool_tail(&args, true));
    assert_null(wire_take_word_tail(&args).p);
    assert_int_equal(wire_take_list_tail(&args).n, 0);
    assert_ok(wire_args_check(&args));
}

static void an_item_of_another_kind_spoils_all_that_follow(void **state)
{
    struct wire_args args = args_of("( 1 2 3:abc ) ");
    assert_int_equal(wire_take_number(&args), 1);
    assert_int_equal(wire_take_str(&args).n, 0);
    assert_int_equal(wire_take_number(&args), 0);
    assert_err(wire_args_check(&args), E_RA_SVN_MALFORMED_DATA, "Malformed network data");
}

static void trouble_within_a_list_is_trouble_of_the_tuple(void **state)
{
    struct wire_args rev = args_of("( ( word ) ) "), text = args_of("( ( 5 ) ) "),
                     none = args_of("( ) "), word = args_of("( maybe ) ");
    wire_take_opt_rev(&rev);
    wire_take_opt_str(&text);
    wire_take_opt_str(&none);
    wire_take_bool(&word);
    assert_err(wire_args_check(&rev), E_RA_SVN_MALFORMED_DATA, NULL);
    assert_err(wire_args_check(&text), E_RA_SVN_MALFORMED_DATA, NULL);
    assert_err(wire_args_check(&none), E_RA_SVN_MALFORMED_DATA, NULL);
    assert_err(wire_args_check(&word), E_RA_SVN_MALFORMED_DATA, NULL);
}

static void properties_are_pairs_of_strings(void **state)
{
    struct wire_args args = args_of("( ( ( 1:a 1:x ) ( 1:b 0: ) ) ) "),
                     half = args_of("( ( ( 1:a ) ) ) "), flat = args_of("( ( 1:a 1:x ) ) ");
    size_t n;
    struct prop *props = wire_take_props(&n, &args, arena);
    assert_ok(wire_args_check(&args));
    assert_int_equal(n, 2);
    assert_str(props[0].value, "x");
    assert_str(props[1].name, "b");
    wire_take_props(&n, &half, arena);
    assert_err(wire_args_check(&half), E_RA_SVN_MALFORMED_DATA, NULL);
    wire_take_props(&n, &flat, arena);
    assert_err(wire_args_check(&flat), E_RA_SVN_MALFORMED_DATA, NULL);
}

static void a_revision_that_no_signed_number_holds_is_none(void **state)
{
    struct wire_args args = args_of("( 18446744073709551615 9223372036854775807 ) ");
    assert_int_equal(wire_take_rev(&args), REV_NONE);
    assert_true(wire_take_rev(&args) == INT64_MAX);
}

static void what_is_written_is_read_the_same(void **state)
{
    int fds[2];
    struct wire_item item;
    char large[1000];
    memset(large, ')', sizeof large);
    assert_int_equal(pipe(fds), 0);
    struct conn *to = conn_new(fds[1], fds[1], &svn_conn_codes),
                *from = conn_new(fds[0], fds[0], &svn_conn_codes);
    assert_ok(wire_open(to));
    assert_ok(wire_number(to, UINT64_MAX));
    assert_ok(wire_str(to, S("")));
    assert_ok(wire_str(to, str_make(large, sizeof large)));
    assert_ok(wire_bool(to, true));
    assert_ok(wire_opt_str(to, (struct str){0}));
    assert_ok(wire_opt_rev(to, 3));
    assert_ok(wire_close(to));
    assert_ok(conn_flush(to));
    assert_ok(wire_read(&item, from, arena));
    struct wire_args args = wire_args_of(&item);
    assert_true(wire_take_number(&args) == UINT64_MAX);
    assert_int_equal(wire_take_str(&args).n, 0);
    assert_str_eq(wire_take_str(&args), str_make(large, sizeof large));
    assert_true(wire_take_bool(&args));
    assert_null(wire_take_opt_str(&args).p);
    assert_int_equal(wire_take_opt_rev(&args), 3);
    assert_ok(wire_args_check(&args));
    conn_free(to);
    conn_free(from);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_numbers_strings_words_and_lists),
        cmocka_unit_test(a_string_holds_any_bytes),
        cmocka_unit_test(the_largest_number_fits),
        cmocka_unit_test(a_number_too_large_is_malformed),
        cmocka_unit_test(a_word_has_31_letters_at_most),
        cmocka_unit_test(lists_nest_64_deep_at_most),
        cmocka_unit_test(every_item_ends_with_white_space),
        cmocka_unit_test(input_that_ends_within_an_item_is_a_closed_connection),
        cmocka_unit_test(a_string_whose_bytes_never_come_takes_no_memory),
        cmocka_unit_test(a_request_is_as_long_as_the_limit_allows),
        cmocka_unit_test(items_take_no_more_memory_than_the_account_allows),
        cmocka_unit_test(a_command_is_a_word_and_a_list),
        cmocka_unit_test(what_is_taken_in_turn_is_what_was_sent),
        cmocka_unit_test(an_item_of_another_kind_spoils_all_that_follow),
        cmocka_unit_test(trouble_within_a_list_is_trouble_of_the_tuple),
        cmocka_unit_test(properties_are_pairs_of_strings),
        cmocka_unit_test(a_revision_that_no_signed_number_holds_is_none),
        cmocka_unit_test(what_is_written_is_read_the_same),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
