/* SPDX-License-Identifier: Apache-2.0 */
#include "../../testing.h"
#include "fsfs/format/id.h"

static void assert_comes_back(const char *text)
{
    struct noderev_id id;
    AUTO_BUF(again);
    assert_ok(noderev_id_parse(&id, str_of(text)));
    noderev_id_format(&again, &id);
    assert_str_eq(buf_view(&again), str_of(text));
}

static void ids_of_all_formats_come_back_as_they_were(void **state)
{
    static const char *const ids[] = {"0.0.r0/17",     "0.0.r5/2",      "3-2.0.r4/5",
                                      "a.b.r12/1234",  "_1z.4-1.t9-z0", "_0._1.t1-1",
                                      "zz-9.y-8.r7/6", "0.0.t5-5",      "1.0.r2/99999999999"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        assert_comes_back(ids[i]);
}

static void the_parts_of_an_id_are_told_apart(void **state)
{
    struct noderev_id id;
    assert_ok(noderev_id_parse(&id, S("a-2._1.r4/5")));
    assert_int_equal(id.node.num, 10);
    assert_int_equal(id.node.rev, 2);
    assert_int_equal(id.copy.num, 1);
    assert_int_equal(id.copy.rev, REV_NONE);
    assert_int_equal(id.rev, 4);
    assert_int_equal(id.item, 5);
    assert_ok(noderev_id_parse(&id, S("_0.0.t12-1a")));
    assert_int_equal(id.rev, REV_NONE);
    assert_int_equal(id.txn.base, 12);
    assert_int_equal(id.txn.num, 36 + 10);
}

static void what_is_no_id_is_refused_with_its_text(void **state)
{
    static const char *const wrong[] = {
        "",
        "0",
        "0.0",
        "0.0.",
        "0.0.r",
        "0.0.r1",
        "0.0.r1/",
        "0.0.x1/2",
        "0.0.r-1/2",
        "0.0.r1/2x",
        "0.0.t1",
        "0.0.t-1",
        "0.0.t1-",
        ".0.r1/2",
        "0..r1/2",
        "A.0.r1/2",
        "0-.0.r1/2",
        "_.0.r1/2",
        "0.0.r1/2/3",
        "_1z.4._0.t9-0",
        "0.0.r9223372036854775808/1",
        "0.0.r1/18446744073709551616",
        "0.0. r1/2",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct noderev_id id;
        assert_err(noderev_id_parse(&id, str_of(wrong[i])), E_FS_MALFORMED_NODEREV_ID, wrong[i]);
    }
}

static void parse_two(struct noderev_id *a, const char *text_a, struct noderev_id *b,
                      const char *text_b)
{
    assert_ok(noderev_id_parse(a, str_of(text_a)));
    assert_ok(noderev_id_parse(b, str_of(text_b)));
}

static void ids_are_related_by_their_node_id(void **state)
{
    struct noderev_id a, b;
    parse_two(&a, "3-2.0.r4/5", &b, "3-2.1-9.r9/7");
    assert_true(noderev_id_related(&a, &b));
    assert_false(noderev_id_eq(&a, &b));
    parse_two(&a, "3-2.0.r4/5", &b, "3-4.0.r4/5");
    assert_false(noderev_id_related(&a, &b));
}

static void new_nodes_of_two_transactions_are_not_related(void **state)
{
    struct noderev_id a, b;
    parse_two(&a, "_1.0.t4-5", &b, "_1.0.t4-6");
    assert_false(noderev_id_related(&a, &b));
    parse_two(&a, "_1.0.t4-5", &b, "_1._2.t4-5");
    assert_true(noderev_id_related(&a, &b));
    parse_two(&a, "1-1.0.t4-5", &b, "1-1.0.t4-6");
    assert_true(noderev_id_related(&a, &b));
}

static void a_transaction_id_comes_back_or_is_refused(void **state)
{
    struct txn_id id;
    AUTO_BUF(again);
    assert_ok(txn_id_parse(&id, S("123-3z")));
    txn_id_format(&again, id);
    assert_str(buf_view(&again), "123-3z");
    assert_err(txn_id_parse(&id, S("x")), E_FS_MALFORMED_TXN_ID, "malformed txn id 'x'");
    assert_err(txn_id_parse(&id, S("-1-1")), E_FS_MALFORMED_TXN_ID, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_all_formats_come_back_as_they_were),
        cmocka_unit_test(the_parts_of_an_id_are_told_apart),
        cmocka_unit_test(what_is_no_id_is_refused_with_its_text),
        cmocka_unit_test(ids_are_related_by_their_node_id),
        cmocka_unit_test(new_nodes_of_two_transactions_are_not_related),
        cmocka_unit_test(a_transaction_id_comes_back_or_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
