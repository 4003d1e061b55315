/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/stream.h"
#include <errno.h>
#include <unistd.h>

static void a_reader_gives_all_bytes_and_then_the_end(void **state)
{
    struct reader *r = reader_of_str(S("abcdef"));
    char to[4];
    size_t got;
    assert_ok(reader_read(r, to, 4, &got));
    assert_str_eq(str_make(to, got), S("abcd"));
    assert_ok(reader_read(r, to, 4, &got));
    assert_str_eq(str_make(to, got), S("ef"));
    assert_ok(reader_read(r, to, 4, &got));
    assert_int_equal(got, 0);
    reader_close(r);
    reader_close(NULL);
}

static void a_blob_lives_as_long_as_its_reader(void **state)
{
    struct blob *blob = blob_copy(S("xyz"));
    struct reader *r = reader_of_blob(blob);
    shared_unref(blob);
    AUTO_BUF(out);
    assert_ok(reader_all(&out, r, 3));
    assert_str(buf_view(&out), "xyz");
    reader_close(r);
}

static void reading_fully_waits_for_the_pieces_of_a_pipe(void **state)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct reader *r = reader_of_fd(ends[0], true, "pipe");
    assert_int_equal(write(ends[1], "abc", 3), 3);
    char to[6];
    size_t got;
    assert_ok(reader_full(r, to, 2, &got));
    assert_int_equal(got, 2);
    assert_int_equal(write(ends[1], "de", 2), 2);
    close(ends[1]);
    assert_ok(reader_full(r, to, 6, &got));
    assert_str_eq(str_make(to, got), S("cde"));
    reader_close(r);
}

static void reading_all_stops_above_the_limit(void **state)
{
    struct reader *r = reader_of_str(S("abcdef"));
    AUTO_BUF(out);
    assert_err(reader_all(&out, r, 5), E_INCOMPLETE_DATA, "More than 5 bytes");
    reader_close(r);
}

static void a_read_error_names_the_file(void **state)
{
    struct reader *r = reader_of_fd(-1, false, "dump.txt");
    char to[1];
    size_t got;
    assert_err(reader_read(r, to, 1, &got), EBADF, "Can't read 'dump.txt': Bad file descriptor");
    reader_close(r);
}

/* All that comes out of the pipe's end FD. */
static void assert_piped(int fd, struct str want)
{
    struct reader *r = reader_of_fd(fd, true, "pipe");
    AUTO_BUF(out);
    assert_ok(reader_all(&out, r, 1 << 20));
    assert_str_eq(buf_view(&out), want);
    reader_close(r);
}

static void a_buffered_writer_writes_in_order(void **state)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct writer *w = writer_of_fd(ends[1], true, 8, "pipe");
    assert_ok(writer_write(w, S("abc")));
    assert_ok(writer_write(w, S("")));
    assert_ok(writer_printf(w, "%d", 12345));
    assert_ok(writer_write(w, S("0123456789")));
    assert_ok(writer_write(w, S("xyz")));
    assert_ok(writer_flush(w));
    writer_close(w);
    assert_piped(ends[0], S("abc123450123456789xyz"));
}

static void nothing_is_written_before_the_flush_while_it_fits(void **state)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct writer *w = writer_of_fd(ends[1], true, 100, "pipe");
    assert_ok(writer_write(w, S("lost")));
    writer_close(w);
    assert_piped(ends[0], S(""));
}

static void a_write_error_names_the_file(void **state)
{
    struct writer *w = writer_of_fd(-1, false, 0, "out.dump");
    assert_err(writer_write(w, S("x")), EBADF, "Can't write to 'out.dump'");
    writer_close(w);
}

static void a_long_text_is_printed_whole(void **state)
{
    AUTO_BUF(out);
    struct writer *w = writer_of_buf(&out);
    char text[2000];
    memset(text, 'z', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_ok(writer_printf(w, "%s", text));
    assert_ok(writer_flush(w));
    assert_str_eq(buf_view(&out), str_of(text));
    writer_close(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_gives_all_bytes_and_then_the_end),
        cmocka_unit_test(a_blob_lives_as_long_as_its_reader),
        cmocka_unit_test(reading_fully_waits_for_the_pieces_of_a_pipe),
        cmocka_unit_test(reading_all_stops_above_the_limit),
        cmocka_unit_test(a_read_error_names_the_file),
        cmocka_unit_test(a_buffered_writer_writes_in_order),
        cmocka_unit_test(nothing_is_written_before_the_flush_while_it_fits),
        cmocka_unit_test(a_write_error_names_the_file),
        cmocka_unit_test(a_long_text_is_printed_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
