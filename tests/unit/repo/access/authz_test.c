/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/access/authz.h"

#include "base/cache.h"
#include "base/shared.h"
#include "base/thread.h"
#include "repo/admin/authz_file.h"
#include "testing.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Expected values are what stock svnauthz 1.14.2 answers to the same questions. */

enum { R = ACCESS_READ, W = ACCESS_READ | ACCESS_WRITE };

static int rights(const char *rules, const char *repository, const char *user, const char *path,
                  bool recursive)
{
    AUTO_ARENA(arena);
    struct authz *authz;
    assert_ok(authz_parse(&authz, str_of(rules), NULL));
    const struct authz_view *view = authz_view(authz, str_of(repository), str_of(user), arena);
    int result = path ? authz_view_rights(view, str_of(path), recursive) : authz_view_any(view);
    shared_unref(authz);
    return result;
}

static void assert_invalid(const char *rules, int code, const char *text)
{
    struct authz *authz;
    assert_err(authz_parse(&authz, str_of(rules), NULL), code, text);
}

static void the_deepest_rule_that_names_the_user_decides(void **state)
{
    const char *rules = "[/]\nann = rw\nbob = r\n[/a]\nbob =\n[/a/b]\nbob = rw\n";
    assert_int_equal(rights(rules, "", "bob", "/x", false), R);
    assert_int_equal(rights(rules, "", "bob", "/a", false), 0);
    assert_int_equal(rights(rules, "", "bob", "/a/x", false), 0);
    assert_int_equal(rights(rules, "", "bob", "/a/b/c", false), W);
    assert_int_equal(rights(rules, "", "bob", "/ab", false), R);
    assert_int_equal(rights(rules, "", "ann", "/a/b", false), W);
    assert_int_equal(rights(rules, "", "eve", "/", false), 0);
    assert_int_equal(rights(rules, "", NULL, "/", false), 0);
}

static void entries_that_fit_are_united(void **state)
{
    assert_int_equal(rights("[/]\nbob =\n* = r\n", "", "bob", "/", false), R);
    assert_int_equal(rights("[/]\nbob = rw\nbob =\n", "", "bob", "/", false), W);
}

static void a_rule_for_the_repository_replaces_the_one_for_all(void **state)
{
    const char *rules = "[r:/]\nbob = r\n[/]\n* = rw\n";
    assert_int_equal(rights(rules, "r", "bob", "/", false), R);
    assert_int_equal(rights(rules, "r", "ann", "/", false), W);
    assert_int_equal(rights(rules, "s", "bob", "/", false), W);
}

static void of_several_patterns_the_last_in_the_file_counts(void **state)
{
    assert_int_equal(rights("[:glob:/a/*]\n* = rw\n[/a/b]\n* = r\n", "", "u", "/a/b", false), R);
    assert_int_equal(rights("[/a/b]\n* = r\n[:glob:/a/*]\n* = rw\n", "", "u", "/a/b", false), W);
    assert_int_equal(rights("[:glob:/**]\n* = rw\n[/a]\n* =\n", "", "u", "/a", false), 0);
    assert_int_equal(rights("[:glob:/**]\n* = rw\n[/a]\n* =\n", "", "u", "/a/x", false), W);
}

static void patterns_stand_for_names(void **state)
{
    static const struct {
        const char *section, *path;
        int rights;
    } cases[] = {
        {"[:glob:/a?b]", "/axb", R},
        {"[:glob:/a?b]", "/ab", 0},
        {"[:glob:/a*]", "/a", R},
        {"[:glob:/*a]", "/ba", R},
        {"[:glob:/a\\*b]", "/a*b", R},
        {"[:glob:/a\\*b]", "/axb", 0},
        {"[:glob:/a/**/b]", "/a/b", R},
        {"[:glob:/a/**/b]", "/a/x/y/b", R},
        {"[:glob:/a/**]", "/a", R},
        {"[:glob:/a**b]", "/a/b", 0},
        {"[:glob:/x\\]", "/x\\", R},
        {"[:glob:/*]", "/", R},
        {"[:glob:/**/b/**]", "/b/c/d", R},
        {"[:glob:/a*b*c]", "/axbbxc", R},
        {"[/a*]", "/ab", 0},
        {"[/a*]", "/a*", R},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char rules[64];
        snprintf(rules, sizeof rules, "%s\n* = r\n", cases[i].section);
        assert_int_equal(rights(rules, "", "u", cases[i].path, false), cases[i].rights);
    }
}

static void a_recursive_question_minds_what_is_below(void **state)
{
    const char *rules = "[/a]\n* = rw\n[/a/b/c]\n* =\n";
    assert_int_equal(rights(rules, "", "u", "/a", true), 0);
    assert_int_equal(rights(rules, "", "u", "/a/b", true), 0);
    assert_int_equal(rights(rules, "", "u", "/a/x", true), W);
    const char *covered = "[/a/b]\n* =\n[:glob:/a/**]\n* = rw\n";
    assert_int_equal(rights(covered, "", "u", "/a", true), W);
}

static void groups_hold_groups_and_aliases(void **state)
{
    const char *rules = "[aliases]\nboss = Ann\n[groups]\nall = @some, eve\nsome = &boss\n"
                        "[/]\n@all = r\n~@some = rw\n";
    assert_int_equal(rights(rules, "", "Ann", "/", false), R);
    assert_int_equal(rights(rules, "", "eve", "/", false), W);
    assert_int_equal(rights(rules, "", "bob", "/", false), W);
    assert_int_equal(rights(rules, "", NULL, "/", false), 0);
    assert_int_equal(rights(rules, "", "ann", "/", false), W); /* names mind their case */
}

static void the_nameless_have_entries_of_their_own(void **state)
{
    const char *rules = "[/]\n$anonymous = r\n$authenticated = rw\n[/a]\n~$anonymous =\n";
    assert_int_equal(rights(rules, "", NULL, "/", false), R);
    assert_int_equal(rights(rules, "", "bob", "/", false), W);
    assert_int_equal(rights(rules, "", "bob", "/a", false), 0);
    assert_int_equal(rights(rules, "", NULL, "/a", false), R);
}

static void the_most_somewhere_is_known(void **state)
{
    const char *rules = "[/a/b]\nbob = rw\n[s:/]\nann = r\n";
    assert_int_equal(rights(rules, "r", "bob", NULL, false), W);
    assert_int_equal(rights(rules, "r", "ann", NULL, false), 0);
    assert_int_equal(rights(rules, "s", "ann", NULL, false), R);
}

static void mistakes_are_told_as_stock_tells_them(void **state)
{
    assert_invalid("[/]\nbob = x\n", 220003,
                   "The access mode 'x' in access entry 'bob' of rule [/] is not valid");
    assert_invalid("[/]\nbob = w\n", 220003,
                   "Write-only access entry 'bob' of rule [/] is not valid");
    assert_invalid("[/a/]\n", 220003, "Non-canonical path '/a/' in authz rule [/a/]");
    assert_invalid("[trunk]\n", 220003, "Section is not valid in the authz file: [trunk]");
    assert_invalid("[/]\n[/]\n", 220003, "Section appears more than once in the authz file: [/]");
    assert_invalid("[/a]\n[:glob:/a]\n", 220003,
                   "Section [:glob:/a] describes the same rule as section [/a]");
    assert_invalid("[:glob:/**/*]\n[:glob:/*/**]\n", 220003,
                   "Section [:glob:/*/**] describes the same rule as section [:glob:/**/*]");
    assert_invalid("[groups]\na = @b\n", 220003, "Undefined group '@b'");
    assert_invalid("[groups]\na = b\na = c\n", 220003, "Can't override definition of group '@a'");
    assert_invalid("[/]\n@g = r\n", 220003, "Access entry refers to undefined group '@g'");
    assert_invalid("[/]\n&a = r\n", 220003, "Alias '&a' was never defined");
    assert_invalid("[/]\n~* = r\n", 220003, "Access entry '~*' will never match");
    assert_invalid("[/]\nbob\n", 200002, "line 1: Option must end with ':' or '='");
}

static void a_circle_of_groups_is_found_from_outside_too(void **state)
{
    assert_invalid("[groups]\na = @a\n", 220003, "Recursive definition of group '@a'");
    /* Stock 1.14.2 dies of this one. */
    assert_invalid("[groups]\nb = @c\nc = @b\nx = @b\n", 220003,
                   "Recursive definition of group '@b'");
    assert_int_equal(
        rights("[groups]\na = @b, @c\nb = @c\nc = u\n[/]\n@a = r\n", "", "u", "/", false), R);
}

static void empty_groups_are_warned_of(void **state)
{
    struct authz *authz;
    const struct str *texts;
    assert_ok(authz_parse(&authz, S("[groups]\ng = @h\nh =\n[/]\n@g = r\n"), NULL));
    assert_int_equal(authz_warnings(&texts, authz), 1);
    assert_str(texts[0], "Ignoring access entry for empty group '@g'");
    shared_unref(authz);
}

static void global_groups_exclude_others(void **state)
{
    struct authz *authz;
    struct str groups = S("[groups]\ng = bob\n"), more = S("[groups]\ng = bob\n[/]\n* = r\n");
    assert_ok(authz_parse(&authz, S("[/]\n@g = r\n"), &groups));
    shared_unref(authz);
    assert_err(authz_parse(&authz, S("[groups]\nh = u\n[/]\n@g = r\n"), &groups), 220003,
               "Authz file cannot contain any groups when global groups are being used.");
    assert_err(authz_parse(&authz, S("[/]\n@g = r\n"), &more), 220003,
               "Section is not valid in the global group file: [/]");
}

static void what_is_had_everywhere_needs_no_looking(void **state)
{
    AUTO_ARENA(arena);
    struct authz *authz;
    assert_ok(authz_parse(&authz, S("[/]\n* = r\nbob = rw\n[/a]\nann =\n[/b]\nbob = r\n"), NULL));
    assert_int_equal(authz_view_everywhere(authz_view(authz, S(""), S("bob"), arena)), R);
    assert_int_equal(authz_view_everywhere(authz_view(authz, S(""), S("ann"), arena)), 0);
    assert_int_equal(authz_view_everywhere(authz_view(authz, S(""), S("eve"), arena)), R);
    shared_unref(authz);
}

/* ---- files ---- */

static void write_text(const char *path, const char *text, time_t written)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    struct timespec times[2] = {{.tv_sec = written}, {.tv_sec = written}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int rights_in_file(struct authz **which, const char *path)
{
    AUTO_ARENA(arena);
    struct authz_place place = {.rules = path, .kind = "authz"};
    struct authz *authz;
    assert_ok(authz_load(&authz, &place, arena));
    *which = authz;
    return authz_view_rights(authz_view(authz, S(""), S("u"), arena), S("/"), false);
}

static void a_file_is_compiled_once_and_again_when_it_changes(void **state)
{
    char path[] = "/tmp/authz-test-XXXXXX";
    close(mkstemp(path));
    time_t now = time(NULL);
    struct authz *first, *second;
    write_text(path, "[/]\n* = r\n", now);
    assert_int_equal(rights_in_file(&first, path), R);
    assert_int_equal(rights_in_file(&second, path), R);
    assert_ptr_equal(first, second);
    /* The same size, and the same times as far as they tell. */
    write_text(path, "[/]\n* =  \n", now);
    assert_int_equal(rights_in_file(&second, path), 0);
    write_text(path, "[/]\n* = r\n", now);
    assert_int_equal(rights_in_file(&second, path), R);
    unlink(path);
    cache_clear();
}

static void what_is_no_file_is_an_error(void **state)
{
    AUTO_ARENA(arena);
    struct authz *authz;
    struct authz_place place = {.rules = "/tmp", .kind = "authz"};
    assert_err(authz_load(&authz, &place, arena), 200009, "'/tmp' is not a file");
    place.rules = "/nowhere/at/all";
    assert_err(authz_load(&authz, &place, arena), 200009, "'/nowhere/at/all' is not a file");
    place.rules = "http://host/path";
    assert_err(authz_load(&authz, &place, arena), 170000,
               "Local URL 'http://host/path' does not contain 'file://' prefix");
}

/* ---- many at once ---- */

enum { ASKERS = 8, ROUNDS = 200 };

static struct err *ask_often(void *arg)
{
    struct authz *authz = arg;
    for (int i = 0; i < ROUNDS; i++) {
        AUTO_ARENA(arena);
        char name[8];
        snprintf(name, sizeof name, "u%d", i % 5);
        const struct authz_view *view = authz_view(authz, S("r"), str_of(name), arena);
        if (authz_view_rights(view, S("/a/b"), false) != (i % 5 == 3 ? 0 : R))
            return err_make(E_ASSERTION_FAIL, "wrong answer for %s", name);
    }
    return NULL;
}

static void connections_share_rules_and_views(void **state)
{
    struct authz *authz;
    assert_ok(authz_parse(&authz, S("[/]\n* = r\n[:glob:/**/b]\n~u3 = r\nu3 =\n"), NULL));
    void *args[ASKERS];
    for (int i = 0; i < ASKERS; i++)
        args[i] = authz;
    assert_ok(tasks_run(ask_often, args, ASKERS));
    shared_unref(authz);
    cache_clear();
    tasks_shutdown();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_deepest_rule_that_names_the_user_decides),
        cmocka_unit_test(entries_that_fit_are_united),
        cmocka_unit_test(a_rule_for_the_repository_replaces_the_one_for_all),
        cmocka_unit_test(of_several_patterns_the_last_in_the_file_counts),
        cmocka_unit_test(patterns_stand_for_names),
        cmocka_unit_test(a_recursive_question_minds_what_is_below),
        cmocka_unit_test(groups_hold_groups_and_aliases),
        cmocka_unit_test(the_nameless_have_entries_of_their_own),
        cmocka_unit_test(the_most_somewhere_is_known),
        cmocka_unit_test(mistakes_are_told_as_stock_tells_them),
        cmocka_unit_test(a_circle_of_groups_is_found_from_outside_too),
        cmocka_unit_test(empty_groups_are_warned_of),
        cmocka_unit_test(global_groups_exclude_others),
        cmocka_unit_test(what_is_had_everywhere_needs_no_looking),
        cmocka_unit_test(a_file_is_compiled_once_and_again_when_it_changes),
        cmocka_unit_test(what_is_no_file_is_an_error),
        cmocka_unit_test(connections_share_rules_and_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
