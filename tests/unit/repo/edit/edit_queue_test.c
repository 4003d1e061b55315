/* SPDX-License-Identifier: Apache-2.0 */
#include "../../testing.h"
#include "base/stream.h"
#include "repo/edit/edit_queue.h"
#include <errno.h>
#include <stdlib.h>

static struct edit_event closing(uint64_t node)
{
    struct edit_event event = edit_event_make(EDIT_CLOSE_FILE);
    event.node = node;
    return event;
}

static struct text_delta *delta_of(struct str text)
{
    return text_delta_of_readers(NULL, reader_of_str(text), 0, 0);
}

static void events_come_out_in_the_order_they_went_in(void **state)
{
    struct edit_queue q = {0};
    struct edit_event event;
    bool given;
    for (int round = 0; round < 2; round++) { /* an emptied queue starts again */
        for (uint64_t i = 0; i < 100; i++)
            edit_queue_push(&q, closing(i));
        for (uint64_t i = 0; i < 100; i++) {
            assert_ok(edit_queue_take(&given, &event, &q));
            assert_true(given);
            assert_int_equal(event.node, i);
        }
        assert_ok(edit_queue_take(&given, &event, &q));
        assert_false(given);
    }
    edit_queue_free(&q);
}

/* Windows of svndiff version 0 with new data only: header, then for each window five lengths, a
 * copy instruction and the bytes. */
static void a_text_comes_as_chunks_for_its_node(void **state)
{
    struct edit_queue q = {0};
    struct edit_event event;
    AUTO_BUF(document);
    bool given;
    edit_queue_push_text(&q, 7, delta_of(S("hello\n")));
    edit_queue_push(&q, closing(7));
    for (;;) {
        assert_ok(edit_queue_take(&given, &event, &q));
        assert_true(given);
        assert_int_equal(event.node, 7);
        if (event.kind != EDIT_TEXT_CHUNK)
            break;
        assert_true(event.text.n > 0);
        buf_str(&document, event.text);
    }
    assert_int_equal(event.kind, EDIT_CLOSE_FILE);
    assert_str(buf_view(&document), "SVN\0\0\0\6\1\6\x86hello\n");
    edit_queue_free(&q);
}

static struct err *fail_to_read(struct reader *self, void *to, size_t n, size_t *got)
{
    return err_errno(EIO, "Can't read the text");
}

static void close_reader(struct reader *self)
{
    free(self);
}

static void a_text_that_cannot_be_read_is_an_error(void **state)
{
    struct edit_queue q = {0};
    struct edit_event event;
    bool given;
    struct reader *reader = mem_zalloc(sizeof *reader);
    *reader = (struct reader){fail_to_read, close_reader};
    edit_queue_push_text(&q, 1, text_delta_of_readers(NULL, reader, 0, 0));
    assert_err(edit_queue_take(&given, &event, &q), EIO, "Can't read the text");
    edit_queue_free(&q);
}

/* The leak checker sees what a free leaves behind. */
static void what_was_not_taken_is_freed_with_the_queue(void **state)
{
    struct edit_queue q = {0};
    struct edit_event event;
    bool given;
    edit_queue_push(&q, closing(1));
    edit_queue_push_text(&q, 1, delta_of(S("one")));
    edit_queue_push_text(&q, 2, delta_of(S("two")));
    assert_ok(edit_queue_take(&given, &event, &q));
    assert_int_equal(event.kind, EDIT_CLOSE_FILE);
    edit_queue_free(&q);
}

static void the_delta_that_changes_nothing_is_a_header(void **state)
{
    assert_str(edit_empty_delta(0), "SVN\0");
    assert_str(edit_empty_delta(1), "SVN\1");
    assert_str(edit_empty_delta(2), "SVN\2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_out_in_the_order_they_went_in),
        cmocka_unit_test(a_text_comes_as_chunks_for_its_node),
        cmocka_unit_test(a_text_that_cannot_be_read_is_an_error),
        cmocka_unit_test(what_was_not_taken_is_freed_with_the_queue),
        cmocka_unit_test(the_delta_that_changes_nothing_is_a_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
