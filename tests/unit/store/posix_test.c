/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include <errno.h>

static void a_new_store_has_the_folders_and_files_of_fsfs(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store(fix);
    assert_ok(store_create(store));
    assert_int_equal(mode_of(fix, ""), 02755);
    assert_int_equal(mode_of(fix, "revs"), 02755);
    assert_int_equal(mode_of(fix, "revprops"), 02755);
    assert_int_equal(mode_of(fix, "transactions"), 02755);
    assert_int_equal(mode_of(fix, "txn-protorevs"), 02755);
    assert_int_equal(mode_of(fix, "write-lock"), 0644);
    assert_str(content(fix, "txn-current"), "0\n");
    assert_str(content(fix, "txn-current-lock"), "");
    assert_false(is_there(fix, "current"));
    store_close(store);
}

static void an_old_format_has_no_transaction_counter(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store_on(fix, (struct store_layout){.ids_in_current = true}, NULL);
    assert_ok(store_create(store));
    assert_false(is_there(fix, "txn-current"));
    assert_false(is_there(fix, "txn-protorevs"));
    store_close(store);
}

static void a_store_is_not_made_twice(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store(fix);
    assert_ok(store_create(store));
    assert_err(store_create(store), EEXIST, "db/revs'");
    store_close(store);
}

static void slashes_behind_the_path_do_not_matter(void **state)
{
    struct fixture *fix = *state;
    struct store *store;
    assert_ok(posix_open(&store, at(fix, "//"), NULL));
    assert_string_equal(store_path(store), fix->db);
    store_close(store);
}

static void a_path_too_long_for_the_system_is_refused(void **state)
{
    struct store *store;
    char path[5000];
    memset(path, 'x', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_err(posix_open(&store, path, NULL), ENAMETOOLONG, NULL);
}

static void the_head_is_read_afresh(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    assert_int_equal(youngest_of(store), 0);
    put_content(fix, "current", "41\n");
    assert_int_equal(youngest_of(store), 41);
    put_content(fix, "current", "42 3 1\n"); /* an upgraded repository keeps the ids for a while */
    assert_int_equal(youngest_of(store), 42);
    store_close(store);
}

static void old_formats_keep_two_ids_with_the_head(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store_on(fix, (struct store_layout){.ids_in_current = true}, NULL);
    struct head head;
    assert_ok(store_create(store));
    put_content(fix, "current", "7 1z 10\n");
    assert_ok(store_head(&head, store));
    assert_int_equal(head.youngest, 7);
    assert_int_equal(head.next_node_id, 71);
    assert_int_equal(head.next_copy_id, 36);
    store_close(store);
}

static void a_head_that_is_no_number_is_corrupt(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    static const char *const bad[] = {"",
                                      "\n",
                                      "foo\n",
                                      "-1\n",
                                      "2147483648\n",
                                      "9223372036854775807\n",
                                      "99999999999999999999\n",
                                      "1x\n"};
    struct head head;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        put_content(fix, "current", bad[i]);
        assert_err(store_head(&head, store), E_FS_CORRUPT, "'current'");
    }
    unlink(at(fix, "current"));
    assert_err(store_head(&head, store), ENOENT, "db/current");
    store_close(store);
}

static void the_first_unpacked_revision_starts_a_shard(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    revnum rev;
    put_content(fix, "min-unpacked-rev", "6\n");
    assert_ok(store_min_unpacked(&rev, store));
    assert_int_equal(rev, 6);
    put_content(fix, "min-unpacked-rev", "7\n");
    assert_err(store_min_unpacked(&rev, store), E_FS_CORRUPT, "min-unpacked-rev");
    store_close(store);
}

/* ---- transaction names ---- */

static uint64_t one_number(struct store *store)
{
    uint64_t n;
    assert_ok(store_txn_numbers(&n, store, 5, 1));
    return n;
}

/* Stock: a commit on "1\n" is called 1-1 and leaves "2\n". */
static void the_counter_holds_the_next_number(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    put_content(fix, "txn-current", "z\n");
    assert_int_equal(one_number(store), 35);
    assert_str(content(fix, "txn-current"), "10\n");
    store_close(store);
}

static void reservations_grow_and_numbers_stay_in_a_row(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    for (uint64_t i = 0; i < 1 + 8 + 64 + 512; i++)
        assert_int_equal(one_number(store), i);
    assert_str(content(fix, "txn-current"), "g9\n"); /* 585 = 16*36 + 9 */
    store_close(store);
}

static void another_store_never_gets_the_same_numbers(void **state)
{
    struct fixture *fix = *state;
    struct store *a = new_store(fix, 0), *b = open_store(fix);
    bool seen[100] = {0};
    for (int i = 0; i < 20; i++) {
        uint64_t n = one_number(i % 3 ? a : b);
        assert_true(n < 100 && !seen[n]);
        seen[n] = true;
    }
    store_close(a);
    store_close(b);
}

static void a_count_is_reserved_at_once(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    uint64_t n;
    assert_ok(store_txn_numbers(&n, store, 5, 40));
    assert_int_equal(n, 0);
    assert_int_equal(one_number(store), 40);
    store_close(store);
}

/* As after the end of a disk, or an editor's mistake: svnadmin counts from 0 again then. */
static void a_counter_that_was_lost_begins_behind_the_transactions_there(void **state)
{
    struct fixture *fix = *state;
    static const char *const lost[] = {"", "\n", "NO\n", "\001junk\n"};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        struct store *store = i ? open_store(fix) : new_store(fix, 0);
        put_content(fix, "txn-current", lost[i]);
        assert_int_equal(one_number(store), i ? 36 : 0);
        assert_str_eq(content(fix, "txn-current"), i ? S("11\n") : S("1\n"));
        mkdir(at(fix, "transactions/5-z.txn"), 0700);
        mkdir(at(fix, "transactions/7-1.txn"), 0700);
        store_close(store);
    }
}

static void a_counter_that_would_overflow_is_corrupt(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    uint64_t n;
    put_content(fix, "txn-current", "3w5e11264sgsf\n"); /* 2^64 - 1 */
    assert_err(store_txn_numbers(&n, store, 5, 1), E_FS_CORRUPT, "txn-current");
    store_close(store);
}

static void without_a_counter_the_first_free_folder_counts(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store_on(fix, (struct store_layout){.ids_in_current = true}, NULL);
    assert_ok(store_create(store));
    assert_int_equal(mkdir(at(fix, "transactions/5-1.txn"), 0755), 0);
    assert_int_equal(mkdir(at(fix, "transactions/5-3.txn"), 0755), 0);
    assert_int_equal(one_number(store), 2);
    assert_int_equal(one_number(store), 4); /* 2 may be in use without a folder */
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_new_store_has_the_folders_and_files_of_fsfs),
        STORE_TEST(an_old_format_has_no_transaction_counter),
        STORE_TEST(a_store_is_not_made_twice),
        STORE_TEST(slashes_behind_the_path_do_not_matter),
        STORE_TEST(a_path_too_long_for_the_system_is_refused),
        STORE_TEST(the_head_is_read_afresh),
        STORE_TEST(old_formats_keep_two_ids_with_the_head),
        STORE_TEST(a_head_that_is_no_number_is_corrupt),
        STORE_TEST(the_first_unpacked_revision_starts_a_shard),
        STORE_TEST(the_counter_holds_the_next_number),
        STORE_TEST(reservations_grow_and_numbers_stay_in_a_row),
        STORE_TEST(another_store_never_gets_the_same_numbers),
        STORE_TEST(a_count_is_reserved_at_once),
        STORE_TEST(a_counter_that_was_lost_begins_behind_the_transactions_there),
        STORE_TEST(a_counter_that_would_overflow_is_corrupt),
        STORE_TEST(without_a_counter_the_first_free_folder_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
