/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/str.h"

static void a_prefix_sorts_before_the_longer(void **state)
{
    assert_true(str_cmp(S("ab"), S("abc")) < 0);
    assert_true(str_cmp(S("abc"), S("ab")) > 0);
    assert_int_equal(str_cmp(S("ab"), S("ab")), 0);
    assert_true(str_cmp(S(""), S("a")) < 0);
}

static void order_is_by_unsigned_bytes(void **state)
{
    assert_true(str_cmp(S("\x7f"), S("\x80")) < 0);
}

static void lines_are_taken_in_turn_without_their_lf(void **state)
{
    struct str text = S("one\n\nthree\n"), line;
    size_t pos = 0;
    assert_true(str_line(&line, text, &pos));
    assert_str(line, "one");
    assert_true(str_line(&line, text, &pos));
    assert_str(line, "");
    assert_true(str_line(&line, text, &pos));
    assert_str(line, "three");
    assert_int_equal(pos, text.n);
    assert_false(str_line(&line, text, &pos));
}

static void a_line_without_lf_is_not_taken(void **state)
{
    struct str line;
    size_t pos = 0;
    assert_false(str_line(&line, S("open"), &pos));
    assert_int_equal(pos, 0);
    assert_false(str_line(&line, S(""), &pos));
}

static void a_word_ends_at_a_single_space(void **state)
{
    struct str s = S("a  b c");
    assert_str(str_word(&s), "a");
    assert_str(str_word(&s), "");
    assert_str(str_word(&s), "b");
    assert_str(s, "c");
    assert_str(str_word(&s), "c");
    assert_str(s, "");
    assert_str(str_word(&s), "");
}

static void trimming_takes_white_space_at_both_ends_only(void **state)
{
    assert_str(str_trim(S(" \t\r\n a b \n")), "a b");
    assert_str(str_trim(S(" \t")), "");
    assert_str(str_trim(S("")), "");
}

static void bytes_are_found_from_either_end(void **state)
{
    assert_int_equal(str_find(S("a/b/c"), '/'), 1);
    assert_int_equal(str_rfind(S("a/b/c"), '/'), 3);
    assert_int_equal(str_find(S("abc"), '/'), SIZE_MAX);
    assert_int_equal(str_rfind(S(""), '/'), SIZE_MAX);
}

static void skipping_more_than_there_is_leaves_nothing(void **state)
{
    assert_str(str_skip(S("abc"), 2), "c");
    assert_str(str_skip(S("abc"), 9), "");
}

static void a_nul_byte_is_a_byte(void **state)
{
    assert_false(str_eq(S("a\0b"), S("a\0c")));
    assert_true(str_starts(S("a\0b"), S("a\0")));
    assert_true(str_ends(S("a\0b"), S("\0b")));
    assert_false(str_ends(S("b"), S("\0b")));
}

static void controls_are_found_but_for_those_that_may_be(void **state)
{
    assert_int_equal(str_find_control(S("ab\0"), S("")), 2);
    assert_int_equal(str_find_control(S("a\x1f\x7f"), S("")), 1);
    assert_int_equal(str_find_control(S("a\x7f"), S("\t")), 1);
    assert_int_equal(str_find_control(S("a\t\n"), S("\t")), 2);
    assert_true(str_find_control(S(" ~\x80\xff"), S("")) == SIZE_MAX);
    assert_true(str_find_control(S(""), S("")) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_sorts_before_the_longer),
        cmocka_unit_test(order_is_by_unsigned_bytes),
        cmocka_unit_test(lines_are_taken_in_turn_without_their_lf),
        cmocka_unit_test(a_line_without_lf_is_not_taken),
        cmocka_unit_test(a_word_ends_at_a_single_space),
        cmocka_unit_test(trimming_takes_white_space_at_both_ends_only),
        cmocka_unit_test(bytes_are_found_from_either_end),
        cmocka_unit_test(skipping_more_than_there_is_leaves_nothing),
        cmocka_unit_test(a_nul_byte_is_a_byte),
        cmocka_unit_test(controls_are_found_but_for_those_that_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
