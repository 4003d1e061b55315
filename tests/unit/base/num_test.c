/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/num.h"

static void the_largest_numbers_fit_and_the_next_do_not(void **state)
{
    uint64_t u;
    int64_t i;
    assert_true(num_u64(&u, S("18446744073709551615")));
    assert_true(u == UINT64_MAX);
    assert_false(num_u64(&u, S("18446744073709551616")));
    assert_false(num_u64(&u, S("99999999999999999999")));
    assert_true(num_i64(&i, S("9223372036854775807")));
    assert_true(i == INT64_MAX);
    assert_false(num_i64(&i, S("9223372036854775808")));
    assert_true(num_i64(&i, S("-9223372036854775808")));
    assert_true(i == INT64_MIN);
    assert_false(num_i64(&i, S("-9223372036854775809")));
}

static void only_digits_make_a_number(void **state)
{
    const char *bad[] = {"", "-", " 1", "1 ", "+1", "0x1", "1a", "-1"};
    uint64_t u;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(num_u64(&u, str_of(bad[i])));
    int64_t i;
    assert_false(num_i64(&i, S("--1")));
    assert_true(num_u64(&u, S("000000000000000000000000012")));
    assert_int_equal(u, 12);
}

static void the_number_in_front_is_read_as_by_atoll(void **state)
{
    static const struct {
        const char *text;
        int64_t n;
    } cases[] = {{"12", 12},
                 {" \t\v+12 ", 12},
                 {"12x", 12},
                 {"0x12", 0},
                 {"-3 4", -3},
                 {"", 0},
                 {"x", 0},
                 {"-", 0},
                 {"+-1", 0},
                 {"9223372036854775807", INT64_MAX},
                 {"9223372036854775808", INT64_MAX},
                 {"99999999999999999999999", INT64_MAX},
                 {"-9223372036854775808", INT64_MIN},
                 {"-99999999999999999999999", INT64_MIN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(num_leading(str_of(cases[i].text)) == cases[i].n);
}

static void base36_goes_both_ways(void **state)
{
    static const struct {
        uint64_t n;
        const char *text;
    } cases[] = {{0, "0"}, {35, "z"}, {36, "10"}, {46655, "zzz"}, {UINT64_MAX, "3w5e11264sgsf"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[NUM_BASE36_MAX];
        size_t n = num_to_base36(to, cases[i].n);
        assert_str_eq(str_make(to, n), str_of(cases[i].text));
        uint64_t back;
        assert_true(num_base36(&back, str_of(cases[i].text)));
        assert_true(back == cases[i].n);
    }
    uint64_t u;
    assert_false(num_base36(&u, S("3w5e11264sgsg")));
    assert_false(num_base36(&u, S("A")));
    assert_false(num_base36(&u, S("")));
}

static void decimal_is_written_without_padding(void **state)
{
    char to[NUM_U64_MAX];
    assert_str_eq(str_make(to, num_to_dec(to, 0)), S("0"));
    assert_str_eq(str_make(to, num_to_dec(to, UINT64_MAX)), S("18446744073709551615"));
}

static void hex_needs_exactly_two_digits_a_byte(void **state)
{
    unsigned char bytes[2];
    assert_true(num_unhex(bytes, 2, S("0aF9")));
    assert_memory_equal(bytes, "\x0a\xf9", 2);
    assert_false(num_unhex(bytes, 2, S("0aF")));
    assert_false(num_unhex(bytes, 2, S("0aF90")));
    assert_false(num_unhex(bytes, 2, S("0aFg")));
    char text[4];
    num_hex(text, bytes, 2);
    assert_str_eq(str_make(text, 4), S("0af9"));
}

static void arithmetic_notices_overflow(void **state)
{
    uint64_t u;
    assert_true(add_u64(&u, UINT64_MAX - 1, 1));
    assert_false(add_u64(&u, UINT64_MAX, 1));
    assert_true(mul_u64(&u, UINT64_MAX / 2, 2));
    assert_false(mul_u64(&u, UINT64_MAX / 2 + 1, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_numbers_fit_and_the_next_do_not),
        cmocka_unit_test(only_digits_make_a_number),
        cmocka_unit_test(the_number_in_front_is_read_as_by_atoll),
        cmocka_unit_test(base36_goes_both_ways),
        cmocka_unit_test(decimal_is_written_without_padding),
        cmocka_unit_test(hex_needs_exactly_two_digits_a_byte),
        cmocka_unit_test(arithmetic_notices_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
