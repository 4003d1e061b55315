/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"
#include "fixture.h"
#include "store/posix/fault.h"

static struct err *put_pack(struct store *store, int64_t shard, struct str bytes,
                            struct str manifest)
{
    struct draft *draft = draft_of(store, bytes);
    struct err *err = store_put_pack(store, shard, draft, manifest);
    draft_drop(draft);
    return err;
}

static struct err *set_unpacked(struct store *store, struct str text)
{
    return record_put(store, (struct record_key){.kind = RECORD_MIN_UNPACKED}, text);
}

static void a_pack_takes_the_place_of_a_shard(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 7);
    assert_int_equal(chmod(at(fix, "revs/1"), 02775), 0);
    assert_ok(put_pack(store, 1, S("shard one"), S("0\n")));
    assert_str(content(fix, "revs/1.pack/pack"), "shard one");
    assert_str(content(fix, "revs/1.pack/manifest"), "0\n");
    assert_int_equal(mode_of(fix, "revs/1.pack"), 02775);
    assert_int_equal(mode_of(fix, "revs/1.pack/pack"), 0444);
    assert_int_equal(mode_of(fix, "revs/1.pack/manifest"), 0444);
    assert_whole(store, 4); /* not in its place yet */
    assert_err(store_drop_shard(store, 1, true), E_FS_GENERAL, "Shard 1");
    assert_ok(set_unpacked(store, S("6\n")));
    assert_str(body_content(store, 5, fix->arena), "shard one");
    assert_ok(store_drop_shard(store, 1, true));
    assert_false(is_there(fix, "revs/1"));
    assert_false(is_there(fix, "revprops/1"));
    assert_whole(store, 7);
    store_close(store);
}

static void a_logical_pack_has_no_manifest(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 3);
    assert_ok(put_pack(store, 0, S("shard zero"), S("")));
    assert_false(is_there(fix, "revs/0.pack/manifest"));
    store_close(store);
}

static void revision_0_keeps_its_properties(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 3);
    assert_ok(put_pack(store, 0, S("shard zero"), S("")));
    assert_ok(set_unpacked(store, S("3\n")));
    assert_ok(store_drop_shard(store, 0, false));
    assert_true(is_there(fix, "revprops/0/2"));
    assert_ok(store_drop_shard(store, 0, true)); /* once more after a crash */
    assert_false(is_there(fix, "revs/0"));
    assert_false(is_there(fix, "revprops/0/1"));
    assert_str(content(fix, "revprops/0/0"), "the properties of revision 0");
    store_close(store);
}

static void a_shard_is_packed_once(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 7);
    assert_ok(put_pack(store, 0, S("shard zero"), S("")));
    assert_ok(set_unpacked(store, S("3\n")));
    assert_err(put_pack(store, 0, S("other"), S("")), E_FS_GENERAL, "packed already");
    assert_str(content(fix, "revs/0.pack/pack"), "shard zero");
    store_close(store);
}

static void the_pack_of_a_crash_is_replaced(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 3);
    assert_int_equal(mkdir(at(fix, "revs/0.pack"), 0755), 0);
    put_content(fix, "revs/0.pack/pack", "half");
    put_content(fix, "revs/0.pack/index.l2p", "half");
    assert_ok(put_pack(store, 0, S("whole"), S("")));
    assert_str(content(fix, "revs/0.pack/pack"), "whole");
    assert_false(is_there(fix, "revs/0.pack/index.l2p"));
    store_close(store);
}

static struct err *pack_shard_0(struct store *store)
{
    TRY(put_pack(store, 0, S("shard zero"), S("0\n")));
    TRY(set_unpacked(store, S("3\n")));
    return store_drop_shard(store, 0, true);
}

/* Whatever is lost, each revision is in one place or the other. */
static void a_pack_cut_anywhere_loses_nothing(void **state)
{
    struct fixture *fix = *state;
    for (enum fault_loss loss = FAULT_KEEP_UNSYNCED; loss <= FAULT_LOSE_CONTENTS; loss++) {
        uint64_t k = 0;
        for (bool done = false; !done; k++) {
            nftw(fix->db, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
            store_close(new_store(fix, 4));
            struct fault_disk *fault = fault_disk_new();
            struct store *store = open_store_on(fix, small_shards, fault_disk_ops(fault));
            fault_disk_arm(fault, k);
            struct err *err = pack_shard_0(store);
            done = !err;
            err_free(err);
            store_close(store);
            assert_ok(fault_disk_crash(fault, loss));
            fault_disk_free(fault);

            store = open_store(fix);
            revnum unpacked;
            assert_ok(store_min_unpacked(&unpacked, store));
            assert_true(!done || unpacked == 3);
            if (unpacked == 3) {
                assert_str(body_content(store, 1, fix->arena), "shard zero");
                assert_str(content(fix, "revs/0.pack/manifest"), "0\n");
                assert_ok(store_drop_shard(store, 0, true));
            } else {
                for (revnum rev = 0; rev < 3; rev++)
                    assert_whole(store, rev);
                assert_ok(pack_shard_0(store));
                assert_str(body_content(store, 1, fix->arena), "shard zero");
            }
            assert_whole(store, 4);
            store_close(store);
        }
        assert_true(k > 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_pack_takes_the_place_of_a_shard),
        STORE_TEST(a_logical_pack_has_no_manifest),
        STORE_TEST(revision_0_keeps_its_properties),
        STORE_TEST(a_shard_is_packed_once),
        STORE_TEST(the_pack_of_a_crash_is_replaced),
        STORE_TEST(a_pack_cut_anywhere_loses_nothing),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
