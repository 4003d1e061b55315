/* SPDX-License-Identifier: Apache-2.0 */
#include "../stock.h"
#include "fsfs/format/changes.h"
#include "fsfs/format/noderev.h"

#define MD5_HEX  "8addb638000000000000000000003fed"
#define SHA1_HEX "7ff13b7b00000000000000000000000000008625"

/* Parse TEXT, which must be one record; the reference is the arena's. */
static const struct noderev *parse(struct arena *arena, const char *text)
{
    struct noderev *nr;
    size_t used;
    assert_ok(noderev_parse(&nr, &used, str_of(text)));
    assert_int_equal(used, strlen(text));
    return arena_keep(arena, &nr->shared);
}

static void every_field_is_read(void **state)
{
    AUTO_ARENA(arena);
    const struct noderev *nr =
        parse(arena, "id: 3-2.1-4.r4/5\ntype: file\npred: 3-2.0.r3/9\ncount: 7\n"
                     "text: 4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_4\n"
                     "props: 4 6 51 39 " MD5_HEX " - 3-3/_5\n"
                     "cpath: /a b/c\ncopyfrom: 2 /x y\ncopyroot: 4 /a b\n"
                     "minfo-cnt: 3\nminfo-here: y\n\n");
    assert_int_equal(nr->id.item, 5);
    assert_int_equal(nr->kind, NODE_FILE);
    assert_true(nr->has_pred);
    assert_int_equal(nr->pred.item, 9);
    assert_int_equal(nr->count, 7);
    assert_int_equal(nr->text.rev, 4);
    assert_int_equal(nr->text.item, 3);
    assert_int_equal(nr->text.size, 31);
    assert_int_equal(nr->text.expanded, 1108);
    assert_true(nr->text.has_sha1 && nr->text.has_uniq);
    assert_int_equal(nr->text.md5[0], 0x8a);
    assert_int_equal(nr->text.sha1[19], 0x25);
    assert_int_equal(nr->text.uniq_num, 4);
    assert_true(!nr->props.has_sha1 && nr->props.has_uniq);
    assert_str(nr->cpath, "/a b/c");
    assert_int_equal(nr->copyfrom_rev, 2);
    assert_str(nr->copyfrom_path, "/x y");
    assert_int_equal(nr->copyroot_rev, 4);
    assert_str(nr->copyroot_path, "/a b");
    assert_int_equal(nr->minfo_cnt, 3);
    assert_true(nr->minfo_here);
    assert_false(nr->fresh_txn_root);
}

static void fields_that_are_absent_have_their_defaults(void **state)
{
    AUTO_ARENA(arena);
    const struct noderev *nr = parse(arena, "id: 3-2.0.r4/5\ntype: dir\ncpath: /a\n\n");
    assert_false(nr->has_pred || nr->has_text || nr->has_props || nr->minfo_here);
    assert_int_equal(nr->count, 0);
    assert_int_equal(nr->copyfrom_rev, REV_NONE);
    assert_int_equal(nr->copyfrom_path.n, 0);
    assert_int_equal(nr->copyroot_rev, 4);
    assert_str(nr->copyroot_path, "/a");
}

static void lines_of_later_versions_are_skipped(void **state)
{
    AUTO_ARENA(arena);
    const struct noderev *nr =
        parse(arena, "future: x: y\nid: 3-2.0.r4/5\nmore: \ntype: dir\ncpath: /a\n\n");
    assert_str(nr->cpath, "/a");
}

static void fields_may_come_in_any_order(void **state)
{
    AUTO_ARENA(arena);
    const struct noderev *nr =
        parse(arena, "minfo-cnt: 1\ncpath: /a\ncount: 3\ntype: dir\nid: 0.0.r4/5\n\n");
    assert_int_equal(nr->minfo_cnt, 1);
    assert_int_equal(nr->count, 3);
}

static void a_transactions_node_has_reps_without_a_place(void **state)
{
    AUTO_ARENA(arena);
    const char *text =
        "id: 0.0.t5-5\ntype: dir\npred: 0.0.r5/2\ncount: 6\ntext: -1\nprops: -1\ncpath: /\n"
        "copyroot: 0 /\nis-fresh-txn-root: y\n\n";
    const struct noderev *nr = parse(arena, text);
    assert_int_equal(nr->text.rev, REV_NONE);
    assert_true(nr->fresh_txn_root);
    AUTO_BUF(again);
    noderev_format(&again, nr, 8);
    assert_str_eq(buf_view(&again), str_of(text));
}

static void a_copy_root_in_the_transaction_itself_is_written_as_minus_one(void **state)
{
    AUTO_ARENA(arena);
    const char *text = "id: _1._1.t5-5\ntype: file\ncount: 0\n"
                       "text: -1 3 648 1604 " MD5_HEX " " SHA1_HEX " 5-5/_3\n"
                       "cpath: /b/f\ncopyroot: -1 /b\n\n";
    const struct noderev *nr = parse(arena, text);
    assert_int_equal(nr->copyroot_rev, REV_NONE);
    assert_int_equal(nr->text.rev, REV_NONE);
    assert_int_equal(nr->text.size, 648);
    AUTO_BUF(again);
    noderev_format(&again, nr, 8);
    assert_str_eq(buf_view(&again), str_of(text));
}

static void damaged_records_are_refused(void **state)
{
#define HEAD "id: 3-2.0.r4/5\ntype: file\ncpath: /a\n"
    static const char *const wrong[] = {
        "",
        "\n",
        "id: 3-2.0.r4/5\ntype: file\n\n",
        "type: file\ncpath: /a\n\n",
        "id: 3-2.0.r4/5\ncpath: /a\n\n",
        HEAD,
        HEAD "count: 1",
        HEAD "count\n\n",
        HEAD "count:1\n\n",
        HEAD "count: -1\n\n",
        HEAD "count: 9223372036854775808\n\n",
        HEAD "type: symlink\n\n",
        HEAD "cpath: a\n\n",
        HEAD "pred: 3\n\n",
        HEAD "copyfrom: 3\n\n",
        HEAD "copyfrom: x /a\n\n",
        HEAD "copyroot: -2 /a\n\n",
        HEAD "minfo-cnt: x\n\n",
        HEAD "text: \n\n",
        HEAD "text: 1 2 3 4\n\n",
        HEAD "text: 1 2 3 4 " MD5_HEX "0\n\n",
        HEAD "text: 1 2 3 4 " MD5_HEX " " SHA1_HEX " x\n\n",
        HEAD "text: 1 2 3 4 " MD5_HEX " " SHA1_HEX " 3-3/4\n\n",
        HEAD "text: -2 2 3 4 " MD5_HEX "\n\n",
        HEAD "props: 1 2 3 18446744073709551616 " MD5_HEX "\n\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct noderev *nr;
        size_t used;
        assert_err(noderev_parse(&nr, &used, str_of(wrong[i])), E_FS_CORRUPT, NULL);
    }
}

static struct str rep_as(struct arena *arena, const char *text, int format, bool is_dir,
                         bool is_props)
{
    struct rep rep;
    AUTO_BUF(out);
    assert_ok(rep_parse(&rep, str_of(text)));
    rep_format(&out, &rep, format, is_dir, is_props);
    return arena_str(arena, buf_view(&out));
}

static void each_format_writes_the_fields_of_a_rep_that_it_knows(void **state)
{
    AUTO_ARENA(arena);
    const char *full = "4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_4";
    assert_str(rep_as(arena, full, 3, false, false), "4 3 31 1108 " MD5_HEX);
    assert_str(rep_as(arena, full, 4, false, false), "4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_4");
    assert_str(rep_as(arena, full, 7, false, true), "4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_4");
    assert_str(rep_as(arena, full, 8, false, false), "4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_4");
    assert_str(rep_as(arena, full, 8, false, true), "4 3 31 1108 " MD5_HEX " - 3-3/_4");
    const char *plain = "4 3 31 1108 " MD5_HEX;
    assert_str(rep_as(arena, plain, 7, true, false), "4 3 31 1108 " MD5_HEX);
    assert_str(rep_as(arena, plain, 8, true, false), "4 3 31 1108 " MD5_HEX " - -");
}

static void a_directory_rep_of_release_1_6_keeps_its_sha1(void **state)
{
    AUTO_ARENA(arena);
    const char *old = "4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_4";
    assert_str(rep_as(arena, old, 4, true, false), "4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_4");
    struct rep fresh;
    AUTO_BUF(out);
    assert_ok(rep_parse(&fresh, str_of("4 3 31 1108 " MD5_HEX " " SHA1_HEX " -")));
    rep_format(&out, &fresh, 8, true, false);
    assert_str(buf_view(&out), "4 3 31 1108 " MD5_HEX " - -");
}

static void reps_with_other_uniquifiers_are_not_the_same(void **state)
{
    struct rep a, b;
    assert_ok(rep_parse(&a, S("4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_4")));
    assert_ok(rep_parse(&b, S("4 3 31 1108 " MD5_HEX " " SHA1_HEX " 3-3/_5")));
    assert_true(rep_same(&a, &a));
    assert_false(rep_same(&a, &b));
    assert_true(rep_same_text(&a, &b));
    b.expanded++;
    assert_false(rep_same_text(&a, &b));
}

/* ---- records that stock tools wrote ---- */

static struct str file_of_revision(struct stock *stock, int format, int rev)
{
    return stock_file(
        stock, arena_printf(stock->arena, format < 3 ? "r/db/revs/%d" : "r/db/revs/0/%d", rev).p);
}

/* Where the next node-revision of a revision file begins, or SIZE_MAX. */
static size_t find_record(struct str text, size_t from)
{
    if (from == 0 && str_starts(text, S("id: ")))
        return 0;
    const char *at = memmem(text.p + from, text.n - from, "\nid: ", 5);
    return at ? (size_t)(at - text.p) + 1 : SIZE_MAX;
}

/* Check the records of one file; where the last of them ends. */
static size_t check_records(struct str text, int format, size_t *records)
{
    size_t end = 0;
    for (size_t at = find_record(text, 0); at != SIZE_MAX; at = find_record(text, end - 1)) {
        struct noderev *nr;
        size_t used;
        AUTO_BUF(again);
        assert_ok(noderev_parse(&nr, &used, str_skip(text, at)));
        noderev_format(&again, nr, format);
        assert_str_eq(buf_view(&again), str_make(text.p + at, used));
        shared_unref(nr);
        end = at + used;
        ++*records;
    }
    return end;
}

/* The changed paths follow the last node-revision, the root's. */
static void check_changes(struct str text, int format, size_t *entries)
{
    struct changes *changes;
    size_t used;
    AUTO_BUF(again);
    assert_ok(changes_parse(&changes, &used, text));
    for (size_t i = 0; i < changes->n; i++)
        change_format(&again, &changes->list[i], format);
    buf_char(&again, '\n');
    assert_str_eq(buf_view(&again), str_make(text.p, used));
    *entries += changes->n;
    shared_unref(changes);
}

static void what_stock_wrote_is_written_the_same_in_every_format(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        size_t records = 0, entries = 0;
        stock_create(stock, "r", (int)format, 1000);
        stock_history(stock);
        for (int rev = 0; rev <= 9; rev++) {
            struct str text = file_of_revision(stock, (int)format, rev);
            /* Revision 0 is the same bytes in formats 7 and 8. */
            int written_as = rev == 0 && format == 8 ? 7 : (int)format;
            size_t end = check_records(text, written_as, &records);
            check_changes(str_skip(text, end), written_as, &entries);
        }
        assert_int_equal(records, 39);
        assert_int_equal(entries, 22);
        stock_run(stock, "rm -rf r");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(fields_that_are_absent_have_their_defaults),
        cmocka_unit_test(lines_of_later_versions_are_skipped),
        cmocka_unit_test(fields_may_come_in_any_order),
        cmocka_unit_test(a_transactions_node_has_reps_without_a_place),
        cmocka_unit_test(a_copy_root_in_the_transaction_itself_is_written_as_minus_one),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(each_format_writes_the_fields_of_a_rep_that_it_knows),
        cmocka_unit_test(a_directory_rep_of_release_1_6_keeps_its_sha1),
        cmocka_unit_test(reps_with_other_uniquifiers_are_not_the_same),
        STOCK_TEST(what_stock_wrote_is_written_the_same_in_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
