/* SPDX-License-Identifier: Apache-2.0 */
#include "../stock.h"
#include "fsfs/format/changes.h"
#include "fsfs/read/changes_get.h"

static struct change parse(const char *text)
{
    struct change change;
    size_t pos = 0;
    assert_ok(change_parse(&change, str_of(text), &pos));
    assert_int_equal(pos, strlen(text));
    return change;
}

static void a_changed_path_may_hold_spaces(void **state)
{
    struct change change = parse("_2._0.t2-2 add-file true false false /a b/ c\n1 /x y\n");
    assert_str(change.path, "/a b/ c");
    assert_int_equal(change.action, CHANGE_ADD);
    assert_int_equal(change.kind, NODE_FILE);
    assert_true(change.text_changed);
    assert_false(change.props_changed);
    assert_int_equal(change.mergeinfo_changed, TRI_FALSE);
    assert_int_equal(change.copyfrom_rev, 1);
    assert_str(change.copyfrom_path, "/x y");
    assert_int_equal(change.id.txn.base, 2);
}

static void what_old_formats_leave_out_is_unknown(void **state)
{
    struct change change = parse("1.0.r4/17 modify false true /true\n\n");
    assert_int_equal(change.kind, NODE_UNKNOWN);
    assert_int_equal(change.mergeinfo_changed, TRI_UNKNOWN);
    assert_str(change.path, "/true");
    assert_int_equal(change.copyfrom_rev, REV_NONE);
    assert_int_equal(change.copyfrom_path.n, 0);
}

static void a_reset_in_a_transaction_has_no_id(void **state)
{
    struct change change = parse("reset reset-file false false false /a\n\n");
    assert_int_equal(change.action, CHANGE_RESET);
}

static void what_a_revision_says_was_reset_is_set_aside(void **state)
{
    struct changes *changes;
    size_t used;
    assert_ok(changes_parse(&changes, &used,
                            S("1.0.r4/17 add-dir false false false /a\n\n"
                              "2.0.r4/18 reset-file true false false /b\n3 /x\n"
                              "3.0.r4/19 modify-file true false false /c\n\n\n")));
    assert_int_equal(changes->n, 2);
    assert_str(changes->list[0].path, "/a");
    assert_str(changes->list[1].path, "/c");
    assert_int_equal(changes->undone, 1);
    assert_str(changes->list[2].path, "/b");
    assert_str(changes->list[2].copyfrom_path, "/x");
    shared_unref(changes);
}

static void damaged_entries_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "1.0.r4/17 modify false true /a\n",
        "1.0.r4/17 modify false true /a",
        "1.0.r4 modify false true /a\n\n",
        "reset modify false true /a\n\n",
        "1.0.r4/17 moved false true /a\n\n",
        "1.0.r4/17 modify-link false true /a\n\n",
        "1.0.r4/17 modify- false true /a\n\n",
        "1.0.r4/17 modify maybe true /a\n\n",
        "1.0.r4/17 modify false true maybe /a\n\n",
        "1.0.r4/17 modify false true a\n\n",
        "1.0.r4/17 modify false true\n\n",
        "1.0.r4/17 modify false true /a\nx /b\n",
        "1.0.r4/17 modify false true /a\n-1 /b\n",
        "1.0.r4/17 modify false true /a\n1 b\n",
        "1.0.r4/17 modify false true /a\n1\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct change change;
        size_t pos = 0;
        assert_err(change_parse(&change, str_of(wrong[i]), &pos), E_FS_CORRUPT, NULL);
    }
}

static void a_list_ends_with_an_empty_line_or_the_text(void **state)
{
    struct str entry = S("1.0.r4/17 modify false true /a\n\n"),
               text = S("1.0.r4/17 modify false true /a\n\n\n17 107\n");
    struct changes *changes;
    size_t used;
    assert_ok(changes_parse(&changes, &used, text));
    assert_int_equal(changes->n, 1);
    assert_str(str_skip(text, used), "17 107\n");
    shared_unref(changes);
    assert_ok(changes_parse(&changes, &used, entry));
    assert_int_equal(changes->n, 1);
    assert_int_equal(used, entry.n);
    shared_unref(changes);
    assert_ok(changes_parse(&changes, &used, S("\n")));
    assert_int_equal(changes->n, 0);
    assert_int_equal(used, 1);
    shared_unref(changes);
}

static void each_format_writes_what_it_knows(void **state)
{
    struct change change = parse("_2._0.t2-2 add-file true false true /a\n1 /x\n");
    AUTO_BUF(out);
    change_format(&out, &change, 3);
    change_format(&out, &change, 6);
    change_format(&out, &change, 7);
    assert_str(buf_view(&out), "_2._0.t2-2 add true false /a\n1 /x\n"
                               "_2._0.t2-2 add-file true false /a\n1 /x\n"
                               "_2._0.t2-2 add-file true false true /a\n1 /x\n");
}

/* ---- lists of whole revisions ---- */

/* As `svnlook changed --copy-info` would say it, without the kinds' slashes. */
static struct str as_svnlook(struct stock *stock, struct fsfs *fs, revnum rev)
{
    AUTO_BUF(out);
    const struct changes *changes;
    assert_ok(changes_get(&changes, fs, rev, stock->arena));
    for (size_t i = 0; i < changes->n; i++) {
        const struct change *c = &changes->list[i];
        bool modify = c->action == CHANGE_MODIFY;
        char text = modify ? (c->text_changed ? 'U' : '_') : c->action == CHANGE_DELETE ? 'D' : 'A';
        if (c->action == CHANGE_REPLACE)
            buf_printf(&out, "D   %.*s\n", STR(str_skip(c->path, 1)));
        buf_printf(&out, "%c%c%c %.*s\n", text, modify && c->props_changed ? 'U' : ' ',
                   c->copyfrom_path.n ? '+' : ' ', STR(str_skip(c->path, 1)));
    }
    return arena_str(stock->arena, buf_view(&out));
}

static void lists_say_what_svnlook_says(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        stock_create(stock, "r", (int)format, 4);
        stock_history(stock);
        for (int packed = 0; packed < (format < 4 ? 1 : 2); packed++) {
            if (packed)
                stock_run(stock, "svnadmin pack -q r");
            struct fsfs *fs = stock_open(stock, "r");
            changes_prefetch(fs, 0, 10);
            for (int rev = 1; rev <= 9; rev++) {
                const char *script =
                    arena_printf(stock->arena,
                                 "svnlook changed --copy-info -r %d r | sed '/(from/d; s,/$,,'",
                                 rev)
                        .p;
                assert_str_eq(as_svnlook(stock, fs, rev), stock_output(stock, script));
            }
            fsfs_close(fs);
        }
        stock_run(stock, "rm -rf r");
    }
}

static void a_list_larger_than_a_block_is_read_whole(void **state)
{
    struct stock *stock = *state;
    stock_run(stock,
              "mkdir d && cd d && for i in $(seq 1 3000); do : >a-name-of-some-length-$i; done");
    static const int formats[] = {4, 8};
    for (size_t i = 0; i < 2; i++) {
        const struct changes *changes;
        stock_create(stock, "r", formats[i], 1000);
        stock_run(stock, "svn import -q -m '' d $U/r");
        struct fsfs *fs = stock_open(stock, "r");
        assert_ok(changes_get(&changes, fs, 1, stock->arena));
        assert_int_equal(changes->n, 3000);
        fsfs_close(fs);
        stock_run(stock, "rm -rf r");
    }
}

static void a_revision_that_is_not_there_has_no_list(void **state)
{
    struct stock *stock = *state;
    const struct changes *changes;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    assert_ok(changes_get(&changes, fs, 0, stock->arena));
    assert_int_equal(changes->n, 0);
    assert_err(changes_get(&changes, fs, 1, stock->arena), E_FS_NO_SUCH_REVISION, "1");
    fsfs_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_path_may_hold_spaces),
        cmocka_unit_test(what_old_formats_leave_out_is_unknown),
        cmocka_unit_test(a_reset_in_a_transaction_has_no_id),
        cmocka_unit_test(what_a_revision_says_was_reset_is_set_aside),
        cmocka_unit_test(damaged_entries_are_refused),
        cmocka_unit_test(a_list_ends_with_an_empty_line_or_the_text),
        cmocka_unit_test(each_format_writes_what_it_knows),
        STOCK_TEST(lists_say_what_svnlook_says),
        STOCK_TEST(a_list_larger_than_a_block_is_read_whole),
        STOCK_TEST(a_revision_that_is_not_there_has_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
