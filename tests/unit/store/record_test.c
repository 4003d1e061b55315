/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include <errno.h>
#include <utime.h>

static struct record_key key(enum record_kind kind, revnum rev, const char *name)
{
    return (struct record_key){kind, rev, str_of(name)};
}

static const char digest[] = "6666cd76f96956469e7be39d750cc7d9";

static void each_kind_has_its_place(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    const struct {
        struct record_key key;
        const char *path;
        unsigned mode; /* as stock tools make it */
    } kinds[] = {
        {key(RECORD_FORMAT, 0, ""), "format", 0444},
        {key(RECORD_FS_TYPE, 0, ""), "fs-type", 0644},
        {key(RECORD_UUID, 0, ""), "uuid", 0644},
        {key(RECORD_CONFIG, 0, ""), "fsfs.conf", 0644},
        {key(RECORD_MIN_UNPACKED, 0, ""), "min-unpacked-rev", 0644},
        {key(RECORD_REVPROPS, 7, ""), "revprops/2/7", 0444},
        {key(RECORD_REVPROP_MANIFEST, 1, ""), "revprops/1.pack/manifest", 0644},
        {key(RECORD_REVPROP_PACK, 1, "3.0"), "revprops/1.pack/3.0", 0644},
        {key(RECORD_LOCK, 0, digest), "locks/666/6666cd76f96956469e7be39d750cc7d9", 0444},
        {key(RECORD_TXN, 0, "0-1/node.0.0"), "transactions/0-1.txn/node.0.0", 0644},
        {key(RECORD_TXN_PROTOREV, 0, "0-1"), "txn-protorevs/0-1.rev", 0644},
        {key(RECORD_NODE_ORIGIN, 0, "0"), "node-origins/0", 0644},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        AUTO_BUF(got);
        bool found;
        struct str bytes = kinds[i].key.kind == RECORD_MIN_UNPACKED ? S("0\n") : S("some bytes");
        assert_ok(record_put(store, kinds[i].key, bytes));
        assert_str_eq(content(fix, kinds[i].path), bytes);
        assert_int_equal(mode_of(fix, kinds[i].path), kinds[i].mode);
        assert_ok(record_get(&got, &found, store, kinds[i].key));
        assert_true(found);
        assert_str_eq(buf_view(&got), bytes);
        assert_ok(record_delete(store, kinds[i].key));
        assert_false(is_there(fix, kinds[i].path));
        assert_ok(record_delete(store, kinds[i].key));
        assert_ok(record_get(&got, &found, store, kinds[i].key));
        assert_false(found);
    }
    assert_int_equal(mode_of(fix, "locks/666"), 02755);
    assert_int_equal(mode_of(fix, "revprops/2"), 02755);
    store_close(store);
}

static void old_formats_keep_the_proto_revision_with_its_transaction(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store_on(fix, (struct store_layout){.ids_in_current = true}, NULL);
    assert_ok(store_create(store));
    assert_ok(record_put(store, key(RECORD_TXN_PROTOREV, 0, "0-1"), S("x")));
    assert_true(is_there(fix, "transactions/0-1.txn/rev"));
    assert_ok(record_put(store, key(RECORD_REVPROPS, 7, ""), S("x")));
    assert_true(is_there(fix, "revprops/7"));
    store_close(store);
}

static void replacing_keeps_the_mode_and_leaves_nothing_beside(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    struct str *names;
    size_t count;
    assert_int_equal(chmod(at(fix, "revprops/0/1"), 0664), 0);
    assert_ok(record_put(store, key(RECORD_REVPROPS, 1, ""), S("new")));
    assert_int_equal(mode_of(fix, "revprops/0/1"), 0664);
    assert_str(content(fix, "revprops/0/1"), "new");
    assert_ok(record_put(store, key(RECORD_TXN, 0, "0-1/props"), S("a")));
    assert_ok(record_scan(&names, &count, store, RECORD_TXN, fix->arena));
    assert_int_equal(count, 1);
    assert_int_equal(unlink(at(fix, "transactions/0-1.txn/props")), 0);
    assert_int_equal(rmdir(at(fix, "transactions/0-1.txn")), 0);
    store_close(store);
}

static void names_that_lead_elsewhere_are_refused(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    const struct record_key bad[] = {
        key(RECORD_TXN, 0, "0-1"),
        key(RECORD_TXN, 0, "../x"),
        key(RECORD_TXN, 0, "0-1/a/b"),
        key(RECORD_TXN, 0, "0-1/"),
        key(RECORD_LOCK, 0, "6666"),
        key(RECORD_LOCK, 0, ""),
        key(RECORD_TXN_PROTOREV, 0, "a/b"),
        key(RECORD_REVPROP_PACK, 0, ".."),
        key(RECORD_LOCK, 0, "../../../../../../etc/passwd1234"),
        {RECORD_NODE_ORIGIN, 0, S("a\0b")},
    };
    AUTO_BUF(out);
    bool found;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_err(record_get(&out, &found, store, bad[i]), E_BAD_FILENAME, fix->db);
        assert_err(record_put(store, bad[i], S("x")), E_BAD_FILENAME, NULL);
        assert_err(record_delete(store, bad[i]), E_BAD_FILENAME, NULL);
    }
    assert_err(store_txn_remove(store, S("../revs")), E_FS_NO_SUCH_TRANSACTION, NULL);
    store_close(store);
}

static void records_are_listed_in_order(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    struct str *names;
    size_t count;
    assert_ok(record_scan(&names, &count, store, RECORD_LOCK, fix->arena));
    assert_int_equal(count, 0);
    assert_ok(record_put(store, key(RECORD_LOCK, 0, digest), S("x")));
    assert_ok(record_put(store, key(RECORD_LOCK, 0, "0111cd76f96956469e7be39d750cc7d9"), S("x")));
    assert_ok(record_put(store, key(RECORD_LOCK, 0, "6660cd76f96956469e7be39d750cc7d9"), S("x")));
    put_content(fix, "locks/666/varve-1-2.tmp", "left by a crash");
    assert_ok(record_scan(&names, &count, store, RECORD_LOCK, fix->arena));
    assert_int_equal(count, 3);
    assert_str(names[0], "0111cd76f96956469e7be39d750cc7d9");
    assert_str(names[1], "6660cd76f96956469e7be39d750cc7d9");
    assert_str(names[2], "6666cd76f96956469e7be39d750cc7d9");
    assert_ok(record_put(store, key(RECORD_TXN, 0, "5-2/props"), S("x")));
    assert_ok(record_put(store, key(RECORD_TXN, 0, "5-1/props"), S("x")));
    assert_ok(record_put(store, key(RECORD_TXN, 0, "5-1/changes"), S("x")));
    assert_ok(record_scan(&names, &count, store, RECORD_TXN, fix->arena));
    assert_int_equal(count, 2);
    assert_str(names[0], "5-1");
    assert_str(names[1], "5-2");
    assert_ok(record_put(store, key(RECORD_TXN_PROTOREV, 0, "5-1"), S("x")));
    assert_ok(record_scan(&names, &count, store, RECORD_TXN_PROTOREV, fix->arena));
    assert_int_equal(count, 1);
    assert_str(names[0], "5-1");
    assert_err(record_scan(&names, &count, store, RECORD_UUID, fix->arena), E_UNSUPPORTED_FEATURE,
               NULL);
    store_close(store);
}

static void a_transaction_goes_with_all_its_files(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    assert_ok(record_put(store, key(RECORD_TXN, 0, "5-1/props"), S("x")));
    assert_ok(record_put(store, key(RECORD_TXN, 0, "5-1/changes"), S("x")));
    assert_ok(record_put(store, key(RECORD_TXN_PROTOREV, 0, "5-1"), S("x")));
    put_content(fix, "txn-protorevs/5-1.rev-lock", "");
    assert_ok(store_txn_remove(store, S("5-1")));
    assert_false(is_there(fix, "transactions/5-1.txn"));
    assert_false(is_there(fix, "txn-protorevs/5-1.rev"));
    assert_false(is_there(fix, "txn-protorevs/5-1.rev-lock"));
    assert_ok(store_txn_remove(store, S("5-1")));
    store_close(store);
}

static void a_folder_in_the_place_of_a_record_is_an_error(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    AUTO_BUF(out);
    bool found;
    assert_int_equal(mkdir(at(fix, "uuid"), 0755), 0);
    assert_err(record_get(&out, &found, store, key(RECORD_UUID, 0, "")), EISDIR, "db/uuid'");
    store_close(store);
}

/* ---- ahead ---- */

static void asking_ahead_never_fails_and_leaves_no_file_open(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 4);
    const struct record_key pack = key(RECORD_REVPROP_MANIFEST, 1, "");
    const int before = dup(0);
    close(before);
    for (int turn = 0; turn < 2; turn++) { /* with nothing there, then with much */
        record_prefetch(store, pack, AHEAD_RECORD);
        record_prefetch(store, pack, AHEAD_FIND);
        record_prefetch(store, pack, AHEAD_PLACE);
        const int after = dup(0);
        close(after);
        assert_int_equal(after, before);
        for (int i = 0; i < 200; i++) { /* more than are open at a time */
            char name[16];
            snprintf(name, sizeof name, "%d.0", i);
            assert_ok(record_put(store, key(RECORD_REVPROP_PACK, 1, name), S("x")));
        }
        mkdir(at(fix, "revprops/1.pack/folder"), 0755);
        mkfifo(at(fix, "revprops/1.pack/fifo"), 0644);
    }
    store_close(store);
}

/* ---- stamps ---- */

static struct version stamp(struct store *store, revnum rev)
{
    struct version out;
    assert_ok(record_place_version(&out, store, key(RECORD_REVPROPS, rev, "")));
    return out;
}

static bool same(struct version x, struct version y)
{
    return version_equal(&x, &y);
}

static void age(struct fixture *fix, const char *name)
{
    struct utimbuf old = {1000000000, 1000000000};
    assert_int_equal(utime(at(fix, name), &old), 0);
}

static void a_stamp_changes_with_any_property_of_the_shard(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 4);
    age(fix, "revprops/0");
    age(fix, "revprops/1");
    struct version shard0 = stamp(store, 1), shard1 = stamp(store, 4);
    assert_true(shard0.settled && shard1.settled);
    assert_false(same(shard0, shard1));
    assert_ok(record_put(store, key(RECORD_REVPROPS, 2, ""), S("x")));
    struct version changed = stamp(store, 1);
    assert_int_not_equal(changed.parts[0], shard0.parts[0]);
    assert_false(changed.settled); /* another change in this instant might not show */
    assert_true(same(stamp(store, 4), shard1));
    store_close(store);
}

static void the_stamp_of_packed_properties_is_that_of_the_pack(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 4);
    age(fix, "revprops/0");
    struct version loose = stamp(store, 1);
    assert_int_equal(rename(at(fix, "revprops/0"), at(fix, "revprops/0.pack")), 0);
    put_content(fix, "min-unpacked-rev", "3\n");
    struct version packed = stamp(store, 1); /* found by looking again */
    assert_int_equal(packed.parts[1], loose.parts[1]);
    assert_int_not_equal(packed.parts[2], loose.parts[2]);
    assert_true(packed.settled);
    assert_false(
        stamp(store, 0).settled); /* revision 0 is never packed, and its folder is not there */
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(asking_ahead_never_fails_and_leaves_no_file_open),
        STORE_TEST(each_kind_has_its_place),
        STORE_TEST(old_formats_keep_the_proto_revision_with_its_transaction),
        STORE_TEST(replacing_keeps_the_mode_and_leaves_nothing_beside),
        STORE_TEST(names_that_lead_elsewhere_are_refused),
        STORE_TEST(records_are_listed_in_order),
        STORE_TEST(a_transaction_goes_with_all_its_files),
        STORE_TEST(a_folder_in_the_place_of_a_record_is_an_error),
        STORE_TEST(a_stamp_changes_with_any_property_of_the_shard),
        STORE_TEST(the_stamp_of_packed_properties_is_that_of_the_pack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
