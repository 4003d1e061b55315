/* SPDX-License-Identifier: Apache-2.0 */
/* Matches as `svn list --search` of Subversion 1.14.2 finds them. */
#include "../../testing.h"
#include "repo/tree/depth.h"
#include "repo/tree/list.h"
#include "repo/tree/list_int.h"

static bool matches(const char *name, const char *pattern)
{
    return name_matches(str_of(name), &pattern, 1);
}

static void depths_have_the_words_of_the_protocol(void **state)
{
    assert_int_equal(depth_parse(S("immediates")), DEPTH_IMMEDIATES);
    assert_str(depth_word(DEPTH_INFINITY), "infinity");
    assert_str(depth_word(DEPTH_UNKNOWN), "unknown");
    assert_int_equal(depth_parse(S("Files")), DEPTH_UNKNOWN);
}

static void names_match_without_regard_to_case_and_accents(void **state)
{
    assert_true(matches("README.TXT", "*.txt"));
    assert_true(matches("\xc3\x89t\xc3\xa9", "ete")); /* Été */
    assert_true(matches("e\xcc\x81te", "ete"));       /* e, combining acute, te */
    assert_true(
        matches("\xc5\x81\xc3\xb3\xc5\xba", "\xc5\x82oz")); /* Łóź: the stroke is no accent */
    assert_true(matches("\xce\x91\xce\xa9", "\xce\xb1\xcf\x89")); /* ΑΩ */
    assert_true(matches("\xd0\x96\xd0\x81", "\xd0\xb6*"));        /* ЖЁ */
    assert_true(matches("\xd0\x96\xd0\x81", "\xd0\xb6\xd0\xb5")); /* ЖЁ is же */
    assert_true(matches("\xcf\x83\xcf\x82", "\xcf\x83\xcf\x83")); /* σς is σσ */
    assert_true(matches("\xc3\x9f", "ss"));                       /* ß */
    assert_false(matches("\xc3\xa6", "ae"));                      /* æ */
    assert_false(matches("readme", "read"));
    assert_true(matches("\xff\xfe", "\xff?")); /* no UTF-8 at all */
}

static void a_pattern_is_taken_as_it_is(void **state)
{
    assert_false(matches("a", "A"));
    assert_true(matches("a*b", "a\\*b"));
    assert_true(matches("abc", "[a-c]b[!d]"));
}

static void no_patterns_match_all_and_an_empty_list_nothing(void **state)
{
    const char *none[1] = {NULL};
    assert_true(name_matches(S("a"), NULL, 0));
    assert_false(name_matches(S("a"), none, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depths_have_the_words_of_the_protocol),
        cmocka_unit_test(names_match_without_regard_to_case_and_accents),
        cmocka_unit_test(a_pattern_is_taken_as_it_is),
        cmocka_unit_test(no_patterns_match_all_and_an_empty_list_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
