/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of errors and canonical forms are what `svn propset svn:mergeinfo` of Subversion 1.14.2
 * says and stores. */
#include "../../testing.h"
#include "repo/history/mergeinfo.h"

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

static struct mergeinfo parse(const char *text)
{
    struct mergeinfo mi;
    assert_ok(mergeinfo_parse(&mi, str_of(text), arena));
    return mi;
}

static struct str formatted(const struct mergeinfo *mi)
{
    AUTO_BUF(text);
    mergeinfo_format(&text, mi);
    return arena_str(arena, buf_view(&text));
}

static void what_is_written_in_any_order_comes_out_in_one(void **state)
{
    static const char *const pairs[][2] = {
        {"/a:5", "/a:5"},
        {":5", "/:5"},
        {"/a: 5", "/a:5"},
        {"/a:1\na:3", "/a:1,3"},
        {"//a//b/:1", "/a/b:1"},
        {"/a:b:c:7", "/a:b:c:7"},
        {"a b:3", "/a b:3"},
        {"/x:1\n/b:2\n", "/b:2\n/x:1"},
        {"/a:3,3", "/a:3"},
        {"/a:1-5,3-7,9", "/a:1-7,9"},
        {"/a:9,1-2", "/a:1-2,9"},
        {"/a:1-2*,3", "/a:1-2*,3"},
        {"/a:5,6*", "/a:5,6*"},
        {"/a:010", "/a:10"},
        {"/a:2147483647", "/a:2147483647"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct mergeinfo mi = parse(pairs[i][0]);
        assert_str_eq(formatted(&mi), str_of(pairs[i][1]));
    }
}

static void bad_text_is_refused_in_the_words_that_clients_know(void **state)
{
    static const char *const pairs[][2] = {
        {"foo", "Pathname not terminated by ':'"},
        {"/a:1\n\n/b:2", "Pathname not terminated by ':'"},
        {"/a:", "Mergeinfo for '/a' maps to an empty revision range"},
        {"/a:0", "Invalid revision number '0' found in range list"},
        {"/a:5-3", "Unable to parse reversed revision range '5-3'"},
        {"/a:5-5", "Unable to parse revision range '5-5' with same start and end revisions"},
        {"/a:5x", "Invalid character 'x' found in revision list"},
        {"/a:5 ", "Invalid character ' ' found in revision list"},
        {"/a:5*x", "Invalid character 'x' found in range list"},
        {"/a:5-7x", "Invalid character 'x' found in range list"},
        {"/a:5**", "Invalid character '*' found in range list"},
        {"/a:10-", "Could not parse mergeinfo string '10-'"},
        {"/a:-5", "Negative revision number found parsing '-5'"},
        {"/a:x", "Invalid revision number found parsing 'x'"},
        {"/a:1--2", "Negative revision number found parsing '-2'"},
        {"/a:5,", "Range list parsing ended before hitting newline"},
        {"/a:99999999999", "Revision number longer than 10 digits '99999999999'"},
        {"/a:2147483648", "Revision number too large '2147483648'"},
        {"/a:5,3,7-9,8-12*", "Unable to parse overlapping revision ranges '7-9' and '8-12*' with "
                             "different inheritance types"},
        {"/a:1-5,3-7*", "Unable to parse overlapping revision ranges '1-5' and '3-7*' with "
                        "different inheritance types"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct mergeinfo mi;
        assert_err(mergeinfo_parse(&mi, str_of(pairs[i][0]), arena), E_MERGEINFO_PARSE_ERROR,
                   pairs[i][1]);
    }
}

static void a_difference_takes_no_notice_of_inheritability(void **state)
{
    struct mergeinfo a = parse("/a:1-10\n/gone:4\n/same:1-3*"),
                     b = parse("/a:3-5,9-12*\n/new:7\n/same:1-3");
    struct mergeinfo added, deleted;
    mergeinfo_diff(&added, &deleted, &a, &b, arena);
    assert_str(formatted(&added), "/a:11-12*\n/new:7");
    assert_str(formatted(&deleted), "/a:1-2,6-8\n/gone:4");
}

static void a_sum_is_inheritable_where_either_part_is(void **state)
{
    struct mergeinfo a = parse("/a:5-7*\n/b:1"), b = parse("/a:6,9\n/c:2");
    mergeinfo_merge(&a, &b, arena);
    assert_str(formatted(&a), "/a:5*,6,7*,9\n/b:1\n/c:2");
    struct mergeinfo c = parse("/b:2"), none = {0};
    mergeinfo_merge(&a, &c, arena);
    mergeinfo_merge(&a, &none, arena);
    assert_str(formatted(&a), "/a:5*,6,7*,9\n/b:1-2\n/c:2");
}

static void what_is_not_inheritable_is_not_inherited(void **state)
{
    struct mergeinfo mi = parse("/:4\n/a:1-2*,3\n/b:7*"), below;
    mergeinfo_inherit(&below, &mi, S("x/y"), arena);
    assert_str(formatted(&below), "/x/y:4\n/a/x/y:3");
}

static void equal_means_the_same_ranges_of_the_same_kind(void **state)
{
    struct mergeinfo a = parse("/a:1-2\n/b:3"), b = parse("/b:3\n/a:2,1"),
                     c = parse("/a:1-2*\n/b:3"), d = parse("/a:1-2");
    assert_true(mergeinfo_equal(&a, &b));
    assert_false(mergeinfo_equal(&a, &c));
    assert_false(mergeinfo_equal(&a, &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_in_any_order_comes_out_in_one),
        cmocka_unit_test(bad_text_is_refused_in_the_words_that_clients_know),
        cmocka_unit_test(a_difference_takes_no_notice_of_inheritability),
        cmocka_unit_test(a_sum_is_inheritable_where_either_part_is),
        cmocka_unit_test(what_is_not_inheritable_is_not_inherited),
        cmocka_unit_test(equal_means_the_same_ranges_of_the_same_kind),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
