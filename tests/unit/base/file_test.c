/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/file.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[128];

static int set_up(void **state)
{
    strcpy(folder, "/tmp/varve-file-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a file", folder);
    return 0;
}

static int tear_down(void **state)
{
    unlink(path);
    return rmdir(folder);
}

static void what_was_written_is_read_back(void **state)
{
    AUTO_BUF(text);
    assert_ok(file_write_all(path, S("longer than the next"), 0640));
    assert_ok(file_write_all(path, S("a\0b\n"), 0600));
    assert_ok(file_read_all(&text, path, 4));
    assert_str(buf_view(&text), "a\0b\n");
    assert_int_equal(text.p[text.n], 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0137, 0);
}

static void a_missing_file_is_named(void **state)
{
    AUTO_BUF(text);
    assert_err(file_read_all(&text, "/nowhere/x", 10), ENOENT,
               "Can't open file '/nowhere/x': No such file or directory");
    assert_err(file_write_all("/nowhere/x", S(""), 0600), ENOENT, "Can't open file '/nowhere/x'");
}

static void a_file_above_the_limit_is_refused(void **state)
{
    AUTO_BUF(text);
    assert_ok(file_write_all(path, S("12345"), 0600));
    assert_err(file_read_all(&text, path, 4), E_INCOMPLETE_DATA, path);
}

static void a_directory_is_no_file(void **state)
{
    AUTO_BUF(text);
    assert_err(file_read_all(&text, folder, 10), EISDIR, folder);
    assert_false(file_exists(folder));
    assert_true(dir_exists(folder));
    assert_true(dir_is_empty(folder));
    assert_ok(file_write_all(path, S(""), 0600));
    assert_true(file_exists(path));
    assert_false(dir_exists(path));
    assert_false(dir_is_empty(folder));
    assert_false(dir_is_empty("/nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read_back, set_up, tear_down),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test_setup_teardown(a_file_above_the_limit_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_directory_is_no_file, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
