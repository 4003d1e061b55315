/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "store/posix/fault.h"

static char pattern(uint64_t i)
{
    return (char)(i * 31 + (i >> 8) * 7 + (i >> 16));
}

/* Append N bytes of the pattern in pieces of PIECE bytes. */
static void append_pattern(struct draft *draft, size_t n, size_t piece)
{
    uint64_t at = draft_size(draft);
    char *bytes = mem_alloc(piece);
    while (n > 0) {
        size_t part = n < piece ? n : piece;
        for (size_t i = 0; i < part; i++)
            bytes[i] = pattern(at + i);
        assert_ok(draft_append(draft, str_make(bytes, part)));
        at += part;
        n -= part;
    }
    free(bytes);
}

static void assert_pattern(struct draft *draft, uint64_t offset, size_t n)
{
    char *bytes = mem_alloc(n + 1);
    assert_ok(draft_reread(draft, offset, bytes, n));
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != pattern(offset + i))
            fail_msg("byte %llu is wrong", (unsigned long long)(offset + i));
    free(bytes);
}

static void a_small_draft_needs_no_file(void **state)
{
    struct fixture *fix = *state;
    struct fault_disk *fault = fault_disk_new();
    struct store *store = open_store_on(fix, small_shards, fault_disk_ops(fault));
    struct draft *draft = draft_of(store, S(""));
    append_pattern(draft, 1 << 20, 1000);
    assert_int_equal(draft_size(draft), 1 << 20);
    assert_pattern(draft, 0, 1 << 20);
    assert_int_equal(fault_disk_count(fault), 0);
    draft_drop(draft);
    store_close(store);
    fault_disk_free(fault);
}

static void a_large_draft_is_read_back_across_memory_and_file(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    struct draft *draft = draft_of(store, S(""));
    append_pattern(draft, 3000001, 4096);
    assert_int_equal(draft_size(draft), 3000001);
    draft_start_sync(draft);
    assert_pattern(draft, 0, 3000001);
    for (uint64_t at = 0; at < 3000001; at += 99991)
        assert_pattern(draft, at, 3000001 - at < 150000 ? 3000001 - at : 150000);
    append_pattern(draft, 5 << 20, 5 << 20); /* one append larger than memory may hold */
    assert_pattern(draft, 2900000, 200000);
    draft_drop(draft);
    store_close(store);
}

static void a_draft_is_cut_anywhere(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    struct draft *draft = draft_of(store, S(""));
    append_pattern(draft, 2500000, 100000);
    static const uint64_t cuts[] = {2500000, 2499999, 2000000, 1000, 0};
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        assert_ok(draft_truncate(draft, cuts[i]));
        assert_int_equal(draft_size(draft), cuts[i]);
        append_pattern(draft, 70000, 70000);
        assert_pattern(draft, cuts[i] > 1000 ? cuts[i] - 1000 : 0, 70000);
        assert_ok(draft_truncate(draft, cuts[i]));
    }
    assert_ok(draft_truncate(draft, 10)); /* longer than it is: nothing to cut */
    assert_int_equal(draft_size(draft), 0);
    draft_drop(draft);
    store_close(store);
}

static void reading_behind_the_end_is_refused(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store(fix);
    struct draft *draft = draft_of(store, S("0123456789"));
    char to[16];
    assert_ok(draft_reread(draft, 10, to, 0));
    assert_err(draft_reread(draft, 5, to, 6), E_FS_CORRUPT, "transaction '0-0'");
    assert_err(draft_reread(draft, UINT64_MAX, to, 2), E_FS_CORRUPT, NULL);
    draft_drop(draft);
    store_close(store);
}

static void a_draft_that_is_dropped_leaves_nothing(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    struct draft *draft = draft_of(store, S(""));
    append_pattern(draft, 2 << 20, 1 << 18);
    draft_drop(draft);
    draft_drop(NULL);
    assert_int_equal(rmdir(at(fix, "revs/0")), -1); /* revision 0 is in it */
    assert_int_equal(unlink(at(fix, "revs/0/0")), 0);
    assert_int_equal(rmdir(at(fix, "revs/0")), 0);
    assert_int_equal(rmdir(at(fix, "revs")), 0);
    store_close(store);
}

static void a_failing_disk_names_the_transaction(void **state)
{
    struct fixture *fix = *state;
    store_close(new_store(fix, 0));
    struct fault_disk *fault = fault_disk_new();
    struct store *store = open_store_on(fix, small_shards, fault_disk_ops(fault));
    struct draft *draft = draft_of(store, S(""));
    fault_disk_arm(fault, 1);
    append_pattern(draft, 1 << 20, 1 << 20);
    assert_err(draft_append(draft, S("x")), 5, "transaction '0-0'");
    draft_drop(draft);
    store_close(store);
    fault_disk_free(fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_small_draft_needs_no_file),
        STORE_TEST(a_large_draft_is_read_back_across_memory_and_file),
        STORE_TEST(a_draft_is_cut_anywhere),
        STORE_TEST(reading_behind_the_end_is_refused),
        STORE_TEST(a_draft_that_is_dropped_leaves_nothing),
        STORE_TEST(a_failing_disk_names_the_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
