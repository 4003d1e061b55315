/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/path.h"

static void canonical_paths_have_no_empty_or_dotted_component(void **state)
{
    const char *good[] = {"/", "/a", "/a/b c", "/...", "/.a/..b", "/a\\b"};
    const char *bad[] = {"", "a", "//", "/a/", "/a//b", "/.", "/..", "/a/./b", "/a/..", "//a"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(path_is_canonical(str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(path_is_canonical(str_of(bad[i])));
}

static void relative_paths_have_no_leading_slash(void **state)
{
    assert_true(path_is_relative(S("")));
    assert_true(path_is_relative(S("a/b")));
    assert_false(path_is_relative(S("/a")));
    assert_false(path_is_relative(S("a/")));
    assert_false(path_is_relative(S("a/../b")));
}

static void what_people_write_becomes_canonical(void **state)
{
    AUTO_ARENA(a);
    assert_str(path_canonicalize(S(""), a), "/");
    assert_str(path_canonicalize(S("/"), a), "/");
    assert_str(path_canonicalize(S("trunk/"), a), "/trunk");
    assert_str(path_canonicalize(S("//a"), a), "/a");
    assert_str(path_canonicalize(S("/a/./b"), a), "/a/b");
    assert_str(path_canonicalize(S("./a//b/."), a), "/a/b");
}

static void a_parent_reference_stays_and_is_not_canonical(void **state)
{
    AUTO_ARENA(a);
    struct str path = path_canonicalize(S("/a/../b"), a);
    assert_str(path, "/a/../b");
    assert_false(path_is_canonical(path));
}

static void joining_knows_the_roots(void **state)
{
    AUTO_ARENA(a);
    assert_str(path_join(S("/"), S("a"), a), "/a");
    assert_str(path_join(S("/a"), S("b/c"), a), "/a/b/c");
    assert_str(path_join(S("/a"), S(""), a), "/a");
    assert_str(path_join(S(""), S("a"), a), "a");
    assert_str(path_join(S("a"), S("b"), a), "a/b");
    assert_str(path_join(S("/"), S(""), a), "/");
}

static void a_path_splits_into_directory_and_name(void **state)
{
    assert_str(path_dirname(S("/a/b")), "/a");
    assert_str(path_dirname(S("/a")), "/");
    assert_str(path_dirname(S("/")), "/");
    assert_str(path_dirname(S("a/b")), "a");
    assert_str(path_dirname(S("a")), "");
    assert_str(path_basename(S("/a/b")), "b");
    assert_str(path_basename(S("a")), "a");
    assert_str(path_basename(S("/")), "");
    assert_str(path_basename(S("")), "");
}

static void an_ancestor_ends_at_a_component(void **state)
{
    struct str rest;
    assert_true(path_skip_ancestor(&rest, S("/a"), S("/a/b/c")));
    assert_str(rest, "b/c");
    assert_true(path_skip_ancestor(&rest, S("/a"), S("/a")));
    assert_str(rest, "");
    assert_true(path_skip_ancestor(&rest, S("/"), S("/a/b")));
    assert_str(rest, "a/b");
    assert_true(path_skip_ancestor(&rest, S("/"), S("/")));
    assert_str(rest, "");
    assert_true(path_skip_ancestor(&rest, S(""), S("a/b")));
    assert_str(rest, "a/b");
    assert_true(path_skip_ancestor(&rest, S("a"), S("a/b")));
    assert_str(rest, "b");
    assert_false(path_skip_ancestor(&rest, S("/a"), S("/ab")));
    assert_false(path_skip_ancestor(&rest, S("/a/b"), S("/a")));
    assert_false(path_skip_ancestor(&rest, S(""), S("/a")));
}

static void components_are_taken_in_turn(void **state)
{
    struct str rest = S("a/b/c"), name;
    assert_true(path_next(&name, &rest));
    assert_str(name, "a");
    assert_true(path_next(&name, &rest));
    assert_str(name, "b");
    assert_true(path_next(&name, &rest));
    assert_str(name, "c");
    assert_false(path_next(&name, &rest));
}

static void a_directory_sorts_directly_before_its_children(void **state)
{
    const char *order[] = {"/", "/a", "/a/b", "/a/b/c", "/a/b c", "/a\x01", "/a-b", "/a.b", "/ab"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            int c = path_cmp(str_of(order[i]), str_of(order[k]));
            assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
        }
    }
}

/* The URL that svn 1.14.2 prints for a directory of this name. */
static void urls_leave_the_same_bytes_alone_as_svn_does(void **state)
{
    AUTO_ARENA(a);
    struct str name = S("!\"#$%&'()*+,-.0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                        "abcdefghijklmnopqrstuvwxyz{|}~");
    struct str url = S("!%22%23$%25&'()*+,-.0123456789:%3B%3C=%3E%3F@ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                       "%5B%5C%5D%5E_%60abcdefghijklmnopqrstuvwxyz%7B%7C%7D~");
    assert_str_eq(path_uri_encode(name, a), url);
    struct str back;
    assert_true(path_uri_decode(&back, url, a));
    assert_str_eq(back, name);
    assert_str(path_uri_encode(S("/a b/\xc3\xa4"), a), "/a%20b/%C3%A4");
}

static void bad_escapes_are_refused(void **state)
{
    AUTO_ARENA(a);
    struct str out;
    assert_true(path_uri_decode(&out, S("%c3%A4+"), a));
    assert_str(out, "\xc3\xa4+");
    const char *bad[] = {"%", "%4", "a%", "%zz", "%00", "a%0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(path_uri_decode(&out, str_of(bad[i]), a));
}

/* The texts of svnmucc 1.14.2. */
static void control_bytes_are_named_in_the_error(void **state)
{
    assert_err(path_check_controls(S("a\001b")), E_FS_PATH_SYNTAX,
               "Invalid control character '0x01' in path 'a\\001b'");
    assert_err(path_check_controls(S("a\177b")), E_FS_PATH_SYNTAX,
               "Invalid control character '0x7f' in path 'a\\177b'");
    assert_ok(path_check_controls(S("/a b/\xc3\xa4")));
}

/* Unicode 15, table 3-7. */
static void only_well_formed_utf8_is_valid(void **state)
{
    const char *good[] = {"",
                          "plain text of more than eight bytes",
                          "\x7f",
                          "\xc2\x80",
                          "\xdf\xbf",
                          "\xe0\xa0\x80",
                          "\xed\x9f\xbf",
                          "\xee\x80\x80",
                          "\xef\xbf\xbf",
                          "\xf0\x90\x80\x80",
                          "\xf4\x8f\xbf\xbf",
                          "12345678\xc3\xa4"};
    const char *bad[] = {"\x80",         "\xc0\x80",     "\xc1\xbf",         "\xc2",
                         "\xc2\x41",     "\xe0\x9f\xbf", "\xed\xa0\x80",     "\xef\xbf",
                         "\xef\xbf\x41", "\xf5\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                         "\xff",         "12345678\xc3", "1234567\xe4z"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(utf8_is_valid(str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(utf8_is_valid(str_of(bad[i])));
    assert_ok(path_check_new(S("/\xc3\xa4")));
    assert_err(path_check_new(S("/\xe6x")), E_FS_PATH_SYNTAX, "Path '/\xe6x' is not in UTF-8");
    assert_ok(path_check_new(S("/..a/b../...")));
    assert_err(path_check_new(S("/a/../b")), E_FS_PATH_SYNTAX, "contains '.' or '..' element");
    assert_err(path_check_new(S("..")), E_FS_PATH_SYNTAX, "contains '.' or '..' element");
    assert_ok(path_check_nul(S("/a/../b\001")));
    assert_err(path_check_nul((struct str){"/a\0b", 4}), E_FS_PATH_SYNTAX, "Path '/a' has a NUL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_paths_have_no_empty_or_dotted_component),
        cmocka_unit_test(relative_paths_have_no_leading_slash),
        cmocka_unit_test(what_people_write_becomes_canonical),
        cmocka_unit_test(a_parent_reference_stays_and_is_not_canonical),
        cmocka_unit_test(joining_knows_the_roots),
        cmocka_unit_test(a_path_splits_into_directory_and_name),
        cmocka_unit_test(an_ancestor_ends_at_a_component),
        cmocka_unit_test(components_are_taken_in_turn),
        cmocka_unit_test(a_directory_sorts_directly_before_its_children),
        cmocka_unit_test(urls_leave_the_same_bytes_alone_as_svn_does),
        cmocka_unit_test(bad_escapes_are_refused),
        cmocka_unit_test(control_bytes_are_named_in_the_error),
        cmocka_unit_test(only_well_formed_utf8_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
