/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64], moved[80];

static int set_up(void **state)
{
    strcpy(path, "/tmp/varve-log-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    snprintf(moved, sizeof moved, "%s.1", path);
    return close(fd);
}

static int tear_down(void **state)
{
    unlink(moved);
    return unlink(path);
}

static void assert_content(const char *file, struct str want)
{
    AUTO_BUF(text);
    assert_ok(file_read_all(&text, file, 1 << 20));
    assert_str_eq(buf_view(&text), want);
}

static void lines_are_appended_to_what_is_there(void **state)
{
    assert_ok(file_write_all(path, S("before\n"), 0600));
    struct log *log;
    assert_ok(log_open(&log, path));
    log_line(log, S("one"));
    log_line(log, S(""));
    log_close(log);
    log_line(NULL, S("nobody hears"));
    log_close(NULL);
    assert_content(path, S("before\none\n\n"));
}

static void reopening_follows_a_rotation(void **state)
{
    struct log *log;
    assert_ok(log_open(&log, path));
    log_line(log, S("one"));
    assert_int_equal(rename(path, moved), 0);
    log_line(log, S("two"));
    assert_ok(log_reopen(log));
    log_line(log, S("three"));
    log_close(log);
    assert_content(moved, S("one\ntwo\n"));
    assert_content(path, S("three\n"));
}

static void a_log_that_cannot_be_opened_is_named(void **state)
{
    struct log *log;
    assert_err(log_open(&log, "/nowhere/log"), ENOENT, "'/nowhere/log'");
}

static void *write_lines(void *log)
{
    for (int i = 0; i < 500; i++)
        log_line(log, S("a line of thirty bytes, exactly"));
    return NULL;
}

static void lines_of_several_threads_stay_whole(void **state)
{
    struct log *log;
    assert_ok(log_open(&log, path));
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, write_lines, log);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    log_close(log);
    AUTO_BUF(text);
    assert_ok(file_read_all(&text, path, 1 << 20));
    struct str line;
    size_t pos = 0, count = 0;
    for (; str_line(&line, buf_view(&text), &pos); count++)
        assert_str(line, "a line of thirty bytes, exactly");
    assert_int_equal(count, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_appended_to_what_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reopening_follows_a_rotation, set_up, tear_down),
        cmocka_unit_test(a_log_that_cannot_be_opened_is_named),
        cmocka_unit_test_setup_teardown(lines_of_several_threads_stay_whole, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
