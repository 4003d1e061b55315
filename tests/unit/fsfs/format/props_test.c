/* SPDX-License-Identifier: Apache-2.0 */
#include "../../testing.h"
#include "fsfs/format/props.h"

static struct props *parse(const char *text)
{
    struct props *props;
    assert_ok(props_parse(&props, str_of(text)));
    return props;
}

static void a_dump_is_read_and_written_the_same(void **state)
{
    static const char text[] =
        "K 10\nsvn:author\nV 4\nroot\nK 7\nsvn:log\nV 12\na\nmultiline\n\nEND\n";
    struct props *props = parse(text);
    assert_int_equal(props->n, 2);
    assert_str(*props_get(props, S("svn:author")), "root");
    assert_str(*props_get(props, S("svn:log")), "a\nmultiline\n");
    assert_null(props_get(props, S("svn:date")));
    AUTO_BUF(again);
    hashdump_format(&again, props->list, props->n, S("END"));
    assert_str_eq(buf_view(&again), str_of(text));
    shared_unref(props);
}

static void values_may_hold_any_byte(void **state)
{
    struct str text = S("K 1\na\nV 8\n\0END\nK 1\nEND\n");
    struct props *props;
    assert_ok(props_parse(&props, text));
    assert_str(*props_get(props, S("a")), "\0END\nK 1");
    shared_unref(props);
}

static void an_empty_value_is_a_value(void **state)
{
    struct props *props = parse("K 1\na\nV 0\n\nEND\n");
    const struct str *value = props_get(props, S("a"));
    assert_non_null(value);
    assert_int_equal(value->n, 0);
    shared_unref(props);
}

static void records_of_old_writers_come_in_any_order(void **state)
{
    struct props *props = parse("K 1\nb\nV 1\n1\nK 1\na\nV 1\n2\nK 2\naa\nV 1\n3\nEND\n");
    assert_int_equal(props->n, 3);
    assert_str(props->list[0].name, "a");
    assert_str(props->list[1].name, "aa");
    assert_str(props->list[2].name, "b");
    shared_unref(props);
}

static void the_last_of_several_records_counts(void **state)
{
    struct props *props = parse("K 1\nb\nV 1\n1\nK 1\na\nV 1\n2\nK 1\nb\nV 1\n3\nEND\n");
    assert_int_equal(props->n, 2);
    assert_str(*props_get(props, S("b")), "3");
    shared_unref(props);
}

static void a_long_list_is_found_by_name(void **state)
{
    AUTO_BUF(text);
    for (int i = 999; i >= 0; i--)
        buf_printf(&text, "K 4\nn%03d\nV 3\n%03d\n", i, i);
    buf_cstr(&text, "END\n");
    struct props *props;
    assert_ok(props_parse(&props, buf_view(&text)));
    assert_int_equal(props->n, 1000);
    for (int i = 0; i < 1000; i++) {
        char name[5];
        snprintf(name, sizeof name, "n%03d", i);
        assert_str_eq(*props_get(props, str_of(name)), str_of(name + 1));
    }
    shared_unref(props);
}

static void damaged_dumps_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "END",
        "K 1\na\nV 1\nb\n",
        "K 1\na\nEND\n",
        "K 2\na\nV 1\nb\nEND\n",
        "K 1\nab\nV 1\nb\nEND\n",
        "K 1\na\nV 2\nb\nEND\n",
        "K 1\na\nV 99\nb\nEND\n",
        "K 18446744073709551616\na\nV 1\nb\nEND\n",
        "K 18446744073709551615\na\nV 1\nb\nEND\n",
        "K -1\na\nV 1\nb\nEND\n",
        "K a\na\nV 1\nb\nEND\n",
        "K  1\na\nV 1\nb\nEND\n",
        "X 1\na\nV 1\nb\nEND\n",
        "D 1\na\nEND\n",
        "\nEND\n",
        "PROPS-END\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct props *props;
        assert_err(props_parse(&props, str_of(wrong[i])), E_MALFORMED_FILE, "Serialized hash");
    }
}

static void a_dump_streams_block_tells_sets_from_deletions(void **state)
{
    AUTO_ARENA(arena);
    struct str text = S("rest K 1\nb\nV 1\n1\nD 1\na\nD 1\nc\nPROPS-END\nbehind"), *deleted;
    struct prop *list;
    size_t n, deleted_n, pos = 5;
    assert_ok(hashdump_parse(&list, &n, &deleted, &deleted_n, text, &pos, S("PROPS-END"), arena));
    assert_int_equal(n, 1);
    assert_str(list[0].name, "b");
    assert_int_equal(deleted_n, 2);
    assert_str(deleted[0], "a");
    assert_str(deleted[1], "c");
    assert_str(str_skip(text, pos), "behind");
}

static void increments_apply_in_their_order_up_to_the_end(void **state)
{
    AUTO_ARENA(arena);
    struct str text = S("K 1\nb\nV 1\n1\nD 1\nb\nD 1\na\nK 1\na\nV 1\n2\n"), *deleted;
    struct prop *list;
    size_t n, deleted_n, pos = 0;
    assert_ok(hashdump_parse(&list, &n, &deleted, &deleted_n, text, &pos, S(""), arena));
    assert_int_equal(n, 1);
    assert_str(list[0].name, "a");
    assert_str(list[0].value, "2");
    assert_int_equal(deleted_n, 1);
    assert_str(deleted[0], "b");
}

static void a_list_is_changed_in_place(void **state)
{
    AUTO_ARENA(arena);
    struct props *from = parse("K 1\nb\nV 1\n1\nEND\n");
    struct proplist list;
    proplist_init(&list, from, arena);
    static const char *const names[] = {"z", "a", "m", "c", "y", "x", "w"};
    for (size_t i = 0; i < 7; i++)
        proplist_set(&list, str_of(names[i]), &S("new"));
    proplist_set(&list, S("b"), &S("2"));
    proplist_set(&list, S("m"), NULL);
    proplist_set(&list, S("absent"), NULL);
    assert_int_equal(list.n, 7);
    for (size_t i = 1; i < list.n; i++)
        assert_true(str_cmp(list.list[i - 1].name, list.list[i].name) < 0);
    assert_str(*proplist_get(&list, S("b")), "2");
    assert_null(proplist_get(&list, S("m")));
    assert_str(*props_get(from, S("b")), "1");
    shared_unref(from);
}

static void a_difference_names_what_was_set_and_removed(void **state)
{
    AUTO_ARENA(arena);
    struct props *a = parse("K 1\na\nV 1\n1\nK 1\nb\nV 1\n1\nK 1\nc\nV 1\n1\nEND\n"),
                 *b = parse("K 1\nb\nV 1\n2\nK 1\nc\nV 1\n1\nK 1\nd\nV 0\n\nEND\n");
    size_t n;
    struct prop *diff = props_diff(&n, a, b, arena);
    assert_int_equal(n, 3);
    assert_str(diff[0].name, "a");
    assert_null(diff[0].value.p);
    assert_str(diff[1].name, "b");
    assert_str(diff[1].value, "2");
    assert_str(diff[2].name, "d");
    assert_non_null(diff[2].value.p);
    diff = props_diff(&n, NULL, a, arena);
    assert_int_equal(n, 3);
    props_diff(&n, a, a, arena);
    assert_int_equal(n, 0);
    shared_unref(a);
    shared_unref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_is_read_and_written_the_same),
        cmocka_unit_test(values_may_hold_any_byte),
        cmocka_unit_test(an_empty_value_is_a_value),
        cmocka_unit_test(records_of_old_writers_come_in_any_order),
        cmocka_unit_test(the_last_of_several_records_counts),
        cmocka_unit_test(a_long_list_is_found_by_name),
        cmocka_unit_test(damaged_dumps_are_refused),
        cmocka_unit_test(a_dump_streams_block_tells_sets_from_deletions),
        cmocka_unit_test(increments_apply_in_their_order_up_to_the_end),
        cmocka_unit_test(a_list_is_changed_in_place),
        cmocka_unit_test(a_difference_names_what_was_set_and_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
