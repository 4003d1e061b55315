/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/err.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void an_error_has_a_code_and_a_formatted_text(void **state)
{
    struct err *err = err_make(E_FS_CORRUPT, "item %d of '%s'", 3, "r7");
    assert_int_equal(err->code, 160004);
    assert_string_equal(err->text, "item 3 of 'r7'");
    assert_null(err->cause);
    err_free(err);
}

static void an_errno_error_ends_with_the_systems_words(void **state)
{
    struct err *err = err_errno(ENOENT, "Can't open file '%s'", "/x");
    assert_int_equal(err->code, ENOENT);
    assert_string_equal(err->text, "Can't open file '/x': No such file or directory");
    err_free(err);
}

static void wrapping_success_gives_success(void **state)
{
    assert_null(err_wrap(NULL, E_FS_CORRUPT, "never"));
}

static void wrapping_with_code_0_keeps_the_code_of_the_cause(void **state)
{
    struct err *err = err_wrap(err_make(E_FS_NOT_FOUND, "inner"), 0, "outer");
    assert_int_equal(err->code, E_FS_NOT_FOUND);
    assert_string_equal(err->text, "outer");
    assert_string_equal(err->cause->text, "inner");
    err_free(err);
}

static void what_is_damaged_is_blamed_and_a_failing_machine_is_not(void **state)
{
    struct err *err = err_blame(err_make(E_MALFORMED_FILE, "inner"), E_FS_CORRUPT, "outer");
    assert_int_equal(err->code, E_FS_CORRUPT);
    assert_string_equal(err->text, "outer");
    assert_string_equal(err->cause->text, "inner");
    err_free(err);
    err = err_blame(err_errno(EMFILE, "inner"), E_FS_CORRUPT, "outer");
    assert_int_equal(err->code, EMFILE);
    assert_string_equal(err->text, "inner: Too many open files");
    assert_null(err->cause);
    err_free(err);
    assert_null(err_blame(NULL, E_FS_CORRUPT, "never"));
}

static void joining_appends_to_the_end_of_the_chain(void **state)
{
    struct err *first = err_wrap(err_make(1, "b"), 2, "a");
    struct err *all = err_join(first, err_make(3, "c"));
    assert_string_equal(all->cause->cause->text, "c");
    assert_true(err_has(all, 3));
    assert_false(err_has(all, 4));
    err_free(all);
    assert_null(err_join(NULL, NULL));
    struct err *only = err_join(NULL, err_make(5, "d"));
    assert_int_equal(only->code, 5);
    err_free(only);
}

static struct err *failing(int *steps)
{
    ++*steps;
    TRY(err_make(E_CANCELLED, "stop"));
    ++*steps;
    return NULL;
}

static void try_returns_at_the_first_error(void **state)
{
    int steps = 0;
    assert_err(failing(&steps), E_CANCELLED, "stop");
    assert_int_equal(steps, 1);
}

/* What PRINT writes to standard error. */
static char *captured(void (*print)(const struct err *, const char *), const struct err *err)
{
    static char text[512];
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    dup2(ends[1], STDERR_FILENO);
    print(err, "svnadmin");
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void tools_print_one_line_per_error_outermost_first(void **state)
{
    struct err *err = err_wrap(err_make(ENOENT, "%s", ""), E_FS_CORRUPT, "outer");
    assert_string_equal(captured(err_print, err),
                        "svnadmin: E160004: outer\nsvnadmin: E000002: No such file or directory\n");
    assert_string_equal(captured(err_print_warning, err),
                        "svnadmin: warning: W160004: outer\nsvnadmin: warning: W000002: No such "
                        "file or directory\n");
    err_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_has_a_code_and_a_formatted_text),
        cmocka_unit_test(an_errno_error_ends_with_the_systems_words),
        cmocka_unit_test(wrapping_success_gives_success),
        cmocka_unit_test(wrapping_with_code_0_keeps_the_code_of_the_cause),
        cmocka_unit_test(what_is_damaged_is_blamed_and_a_failing_machine_is_not),
        cmocka_unit_test(joining_appends_to_the_end_of_the_chain),
        cmocka_unit_test(try_returns_at_the_first_error),
        cmocka_unit_test(tools_print_one_line_per_error_outermost_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
