/* SPDX-License-Identifier: Apache-2.0 */
/* What is a mistake, and its wording, was asked of svnserve and svnauthz 1.14.2. */
#include "../testing.h"
#include "base/buf.h"
#include "base/ini.h"
#include <errno.h>

static struct str value_of(const char *text, const char *section, const char *key, int flags,
                           struct arena *a)
{
    struct ini ini;
    assert_ok(ini_parse(&ini, str_of(text), "f", flags, a));
    return ini_get(&ini, str_of(section), str_of(key), S("(none)"));
}

static void options_stand_with_equals_or_colon(void **state)
{
    AUTO_ARENA(a);
    assert_str(value_of("[s]\na = 1\n", "s", "a", 0, a), "1");
    assert_str(value_of("[s]\na: 1\n", "s", "a", 0, a), "1");
    assert_str(value_of("[s]\na\t=\t1 = 2 : 3\t\n", "s", "a", 0, a), "1 = 2 : 3");
    assert_str(value_of("[s]\na : x=y\n", "s", "a", 0, a), "x=y");
    assert_str(value_of("[s]\na =\n", "s", "a", 0, a), "");
    assert_str(value_of("[s]\n= v\n", "s", "", 0, a), "v");
}

static void the_last_line_needs_no_end_and_lines_may_end_with_cr_lf(void **state)
{
    AUTO_ARENA(a);
    assert_str(value_of("[s]\na = 1", "s", "a", 0, a), "1");
    assert_str(value_of("[s]\r\na = 1\r\n", "s", "a", 0, a), "1");
    assert_str(value_of("\xef\xbb\xbf[s]\na=1\n", "s", "a", 0, a), "1");
}

static void comments_begin_in_the_first_column_with_a_hash_only(void **state)
{
    AUTO_ARENA(a);
    assert_str(value_of("#[x]\n[s]\n# a = 1\na = 2 # not a comment\n", "s", "a", 0, a),
               "2 # not a comment");
    assert_str(value_of("[s]\n;a = 1\n", "s", ";a", 0, a), "1");
}

static void text_behind_a_section_header_is_ignored(void **state)
{
    AUTO_ARENA(a);
    assert_str(value_of("[s] junk\na=1\n", "s", "a", 0, a), "1");
    assert_str(value_of("[ s ]\na=1\n", " s ", "a", 0, a), "1");
}

static void indented_lines_continue_a_value_with_one_space(void **state)
{
    AUTO_ARENA(a);
    assert_str(value_of("[s]\na = one\n  two  \n\tthree\nb=2\n", "s", "a", 0, a), "one two three");
    assert_str(value_of("[s]\na =\n r\n", "s", "a", 0, a), "r");
}

static void blank_lines_and_comments_end_a_value(void **state)
{
    AUTO_ARENA(a);
    struct ini ini;
    assert_err(ini_parse(&ini, S("[s]\na =r\n\n w\n"), "f", 0, a), 200002, "Option expected");
    assert_err(ini_parse(&ini, S("[s]\na =r\n \n w\n"), "f", 0, a), 200002, "Option expected");
    assert_err(ini_parse(&ini, S("[s]\na =r\n#c\n w\n"), "f", 0, a), 200002, "Option expected");
}

static void names_compare_without_case_unless_told(void **state)
{
    AUTO_ARENA(a);
    assert_str(value_of("[Sec]\nKey = v\n", "sEC", "kEY", 0, a), "v");
    assert_str(value_of("[Sec]\nKey = v\n", "Sec", "key", INI_CASE_SENSITIVE, a), "(none)");
    assert_str(value_of("[Sec]\nKey = v\n", "sec", "Key", INI_CASE_SENSITIVE, a), "(none)");
    assert_str(value_of("[Sec]\nKey = v\n", "Sec", "Key", INI_CASE_SENSITIVE, a), "v");
}

/* As svnserve answers to such files: a section that is not there, or is empty, has no defaults. */
static void what_a_section_leaves_out_is_taken_from_the_defaults(void **state)
{
    AUTO_ARENA(a);
    const char *text = "[default]\na = 1\nb = 2\n[s]\nb = 3\n[u]\n";
    assert_str(value_of(text, "s", "a", 0, a), "1");
    assert_str(value_of(text, "s", "b", 0, a), "3");
    assert_str(value_of(text, "DEFAULT", "b", 0, a), "2");
    assert_str(value_of(text, "t", "a", 0, a), "(none)");
    assert_str(value_of(text, "u", "a", 0, a), "(none)");
    assert_str(value_of("[default]\na = 1\n[s]\nb = 2\n", "s", "a", INI_CASE_SENSITIVE, a),
               "(none)");
}

static void sections_unite_and_later_values_win_in_place(void **state)
{
    AUTO_ARENA(a);
    struct ini ini;
    assert_ok(ini_parse(&ini, S("[s]\na=1\nb=2\n[t]\nx=0\n[S]\nA=3\nc=4\n"), "f", 0, a));
    assert_int_equal(ini.count, 2);
    assert_str(ini.sections[0].name, "s");
    assert_int_equal(ini.sections[0].line, 1);
    assert_int_equal(ini.sections[0].count, 3);
    assert_str(ini.sections[0].options[0].key, "a");
    assert_str(ini.sections[0].options[0].value, "3");
    assert_int_equal(ini.sections[0].options[0].line, 4);
    assert_str(ini.sections[0].options[2].key, "c");
    assert_str(ini.sections[1].name, "t");
}

static void mistakes_are_named_with_their_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a=b\n", "line 1: Section header expected"},
        {"[s\n", "line 1: Section header must end with ']'"},
        {"[s]\na=1\n[x\n", "line 2: Section header must end with ']'"},
        {"[s]\nu\n", "line 1: Option must end with ':' or '='"},
        {"[s]\n  u = r\n", "line 1: Option expected"},
        {" u = r\n", "line 1: Section header expected"},
        {" [s]\nu=r\n", "line 1: Section header must start in the first column"},
    };
    AUTO_ARENA(a);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ini ini;
        struct err *err = ini_parse(&ini, str_of(cases[i].text), "/c/f.conf", 0, a);
        assert_non_null(err);
        assert_int_equal(err->code, E_MALFORMED_FILE);
        assert_string_equal(err->text, "Error while parsing config file: /c/f.conf:");
        assert_string_equal(err->cause->text, cases[i].message);
        err_free(err);
        err = ini_parse(&ini, str_of(cases[i].text), NULL, 0, a);
        assert_string_equal(err->text, cases[i].message);
        err_free(err);
    }
}

static void references_are_replaced_from_the_section_or_the_default(void **state)
{
    AUTO_ARENA(a);
    const char *text = "[s]\na = <%(b)s,%(d)s,%(B)s>\nb = 2%(c)s\nc = 3\n[DEFAULT]\nc = 4\nd = 5\n";
    assert_str(value_of(text, "s", "a", 0, a), "<23,5,23>");
    assert_str(value_of(text, "s", "a", INI_NO_EXPANSION, a), "<%(b)s,%(d)s,%(B)s>");
}

static void unknown_references_stay_and_circles_end(void **state)
{
    AUTO_ARENA(a);
    assert_str(value_of("[s]\na = x%(no)sy %(b\nb=1\n", "s", "a", 0, a), "x%(no)sy %(b");
    assert_str(value_of("[s]\na = 50%% %(b)d\nb=1\n", "s", "a", 0, a), "50%% %(b)d");
    assert_str(value_of("[s]\na = 1%(b)s\nb = 2%(a)s\n", "s", "a", 0, a), "12");
    assert_str(value_of("[s]\na = %(a)s\n", "s", "a", 0, a), "");
}

static void a_value_that_doubles_forty_times_is_refused(void **state)
{
    AUTO_ARENA(a);
    AUTO_BUF(text);
    buf_cstr(&text, "[s]\nv0 = ten bytes.\n");
    for (int i = 1; i <= 40; i++)
        buf_printf(&text, "v%d = %%(v%d)s%%(v%d)s\n", i, i - 1, i - 1);
    struct ini ini;
    assert_err(ini_parse(&ini, buf_view(&text), "f", 0, a), E_MALFORMED_FILE, "Value");
}

static void booleans_have_eight_words(void **state)
{
    AUTO_ARENA(a);
    struct ini ini;
    assert_ok(ini_parse(&ini, S("[s]\na=Yes\nb=OFF\nc=1\nd=maybe\n"), "f", 0, a));
    bool value;
    assert_ok(ini_get_bool(&value, &ini, S("s"), S("a"), false));
    assert_true(value);
    assert_ok(ini_get_bool(&value, &ini, S("s"), S("b"), true));
    assert_false(value);
    assert_ok(ini_get_bool(&value, &ini, S("s"), S("c"), false));
    assert_true(value);
    assert_ok(ini_get_bool(&value, &ini, S("s"), S("absent"), true));
    assert_true(value);
    assert_err(ini_get_bool(&value, &ini, S("s"), S("d"), true), E_BAD_CONFIG_VALUE,
               "Config error: invalid boolean value 'maybe' for '[s] d'");
}

static void numbers_must_be_numbers(void **state)
{
    AUTO_ARENA(a);
    struct ini ini;
    assert_ok(ini_parse(&ini, S("[s]\na = -12\nb = x\n"), "f", 0, a));
    int64_t value;
    assert_ok(ini_get_i64(&value, &ini, S("s"), S("a"), 0));
    assert_int_equal(value, -12);
    assert_ok(ini_get_i64(&value, &ini, S("t"), S("a"), 7));
    assert_int_equal(value, 7);
    assert_err(ini_get_i64(&value, &ini, S("s"), S("b"), 0), E_INCORRECT_PARAMS,
               "Could not convert 'x' into a number");
}

static void a_missing_file_may_count_as_an_empty_one(void **state)
{
    AUTO_ARENA(a);
    struct ini ini;
    assert_ok(ini_read(&ini, "/nowhere/passwd", true, 0, a));
    assert_int_equal(ini.count, 0);
    assert_null(ini_section(&ini, S("users")));
    assert_err(ini_read(&ini, "/nowhere/passwd", false, 0, a), ENOENT, "/nowhere/passwd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_stand_with_equals_or_colon),
        cmocka_unit_test(the_last_line_needs_no_end_and_lines_may_end_with_cr_lf),
        cmocka_unit_test(comments_begin_in_the_first_column_with_a_hash_only),
        cmocka_unit_test(text_behind_a_section_header_is_ignored),
        cmocka_unit_test(indented_lines_continue_a_value_with_one_space),
        cmocka_unit_test(blank_lines_and_comments_end_a_value),
        cmocka_unit_test(names_compare_without_case_unless_told),
        cmocka_unit_test(what_a_section_leaves_out_is_taken_from_the_defaults),
        cmocka_unit_test(sections_unite_and_later_values_win_in_place),
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(references_are_replaced_from_the_section_or_the_default),
        cmocka_unit_test(unknown_references_stay_and_circles_end),
        cmocka_unit_test(a_value_that_doubles_forty_times_is_refused),
        cmocka_unit_test(booleans_have_eight_words),
        cmocka_unit_test(numbers_must_be_numbers),
        cmocka_unit_test(a_missing_file_may_count_as_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
