/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"
#include "fixture.h"
#include "store/posix/fault.h"
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>

/* ---- what a publication leaves ---- */

static void a_revision_has_the_modes_and_folders_of_stock_tools(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    assert_int_equal(chmod(at(fix, "revs"), 02775), 0);
    assert_int_equal(chmod(at(fix, "revprops"), 02770), 0);
    for (revnum rev = 1; rev <= 3; rev++)
        assert_ok(publish_one(store, rev));
    assert_str(content(fix, "current"), "3\n");
    assert_str(content(fix, "revs/1/3"), "the body of revision 3");
    assert_str(content(fix, "revprops/1/3"), "the properties of revision 3");
    assert_int_equal(mode_of(fix, "revs/1/3"), 0444);
    assert_int_equal(mode_of(fix, "revprops/1/3"), 0444);
    assert_int_equal(mode_of(fix, "current"), 0644);
    assert_int_equal(mode_of(fix, "revs/1"), 02775);
    assert_int_equal(mode_of(fix, "revprops/1"), 02770);
    store_close(store);
}

static void a_revision_takes_the_mode_of_the_one_before(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    assert_int_equal(chmod(at(fix, "revs/0/1"), 0440), 0);
    assert_int_equal(chmod(at(fix, "current"), 0664), 0);
    assert_ok(publish_one(store, 2));
    assert_int_equal(mode_of(fix, "revs/0/2"), 0440);
    assert_int_equal(mode_of(fix, "revprops/0/2"), 0440);
    assert_int_equal(mode_of(fix, "current"), 0664);
    store_close(store);
}

static void old_formats_write_the_ids_in_base_36(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store_on(fix, (struct store_layout){.ids_in_current = true}, NULL);
    assert_ok(store_create(store));
    assert_ok(publish_one(store, 0));
    assert_str(content(fix, "current"), "0 1 1\n");
    struct draft *draft = draft_of(store, S("x"));
    struct publication one = {1, draft, S("y"), 71, 36};
    assert_ok(publish_now(store, &one, 1));
    draft_drop(draft);
    assert_str(content(fix, "current"), "1 1z 10\n");
    assert_str(content(fix, "revs/1"), "x");
    assert_str(content(fix, "revprops/1"), "y");
    store_close(store);
}

static void only_the_next_revision_can_be_published(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    assert_err(publish_one(store, 3), E_FS_TXN_OUT_OF_DATE, "Revision 3");
    assert_err(publish_one(store, 1), E_FS_TXN_OUT_OF_DATE, "revision 1");
    assert_err(publish_one(store, 0), E_FS_TXN_OUT_OF_DATE, NULL);
    assert_whole(store, 1);
    assert_int_equal(youngest_of(store), 1);
    store_close(store);
}

struct onlooker {
    struct store *store;
    atomic_bool stop;
};

static void *look_at_the_head(void *arg)
{
    struct onlooker *onlooker = arg;
    while (!atomic_load(&onlooker->stop)) {
        struct head head;
        err_free(store_head(&head, onlooker->store));
    }
    return NULL;
}

/* What a reader last read of the head may be older than what the publication made of it: that is no
 * reason to take the publication's files for left-overs. */
static void who_reads_the_head_does_no_harm_to_who_moves_it(void **state)
{
    enum { REVS = 2000, ONLOOKERS = 4 };
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    struct onlooker onlooker = {.store = store};
    pthread_t threads[ONLOOKERS];
    store_set_flush(store, false);
    for (int i = 0; i < ONLOOKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_at_the_head, &onlooker), 0);
    for (revnum rev = 1; rev <= REVS; rev++)
        assert_ok(publish_one(store, rev));
    atomic_store(&onlooker.stop, true);
    for (int i = 0; i < ONLOOKERS; i++)
        pthread_join(threads[i], NULL);
    for (revnum rev = 1; rev <= REVS; rev++)
        assert_whole(store, rev);
    store_close(store);
}

static void a_left_over_above_the_head_is_replaced(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    put_content(fix, "revs/0/2", "left by a crash");
    put_content(fix, "revprops/0/2", "left by a crash");
    assert_ok(publish_one(store, 2));
    assert_whole(store, 2);
    store_close(store);
}

static char *large_text(size_t n)
{
    char *text = mem_alloc(n);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(i % 251);
    return text;
}

static void a_draft_that_became_a_file_is_published_whole(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    enum { N = 3 << 20 };
    char *text = large_text(N);
    struct draft *draft = draft_of(store, S(""));
    for (size_t i = 0; i < N; i += N / 6)
        assert_ok(draft_append(draft, str_make(text + i, N / 6)));
    struct publication one = {1, draft, S("p")};
    assert_ok(publish_now(store, &one, 1));
    draft_drop(draft);
    assert_str_eq(body_content(store, 1, fix->arena), str_make(text, N));
    assert_int_equal(mode_of(fix, "revs/0/1"), 0444);
    free(text);
    store_close(store);
}

static void a_batch_of_any_size_is_published_at_once(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    assert_ok(publish_range(store, 1, 5, publish_now));
    assert_ok(publish_range(store, 6, 60, publish_now));
    assert_int_equal(youngest_of(store), 65);
    for (revnum rev = 0; rev <= 65; rev++)
        assert_whole(store, rev);
    store_close(store);
}

static void without_flush_nothing_waits(void **state)
{
    struct fixture *fix = *state;
    store_close(new_store(fix, 1));
    struct fault_disk *fault = fault_disk_new();
    struct store *store = open_store_on(fix, small_shards, fault_disk_ops(fault));
    store_set_flush(store, false);
    assert_ok(publish_one(store, 2));
    assert_whole(store, 2);
    assert_ok(fault_disk_crash(fault, FAULT_LOSE_UNSYNCED));
    assert_str(content(fix, "current"), "1\n");
    assert_false(is_there(fix, "revs/0/2"));
    store_close(store);
    fault_disk_free(fault);
}

/* ---- crashes ---- */

/* Make DISK that of a filesystem without unnamed files, as some network filesystems are. */
static int (*open_before)(struct disk *self, const char *path, int flags, mode_t mode);

static int refusing_open(struct disk *self, const char *path, int flags, mode_t mode)
{
    if ((flags & O_TMPFILE) != O_TMPFILE)
        return open_before(self, path, flags, mode);
    errno = EOPNOTSUPP;
    return -1;
}

static void refuse_unnamed(struct disk *disk)
{
    open_before = disk->open;
    disk->open = refusing_open;
}

struct crash_case {
    size_t batch; /* revisions in it */
    bool unnamed_refused;
    struct err *(*how)(struct store *, const struct publication *, size_t);
};

static struct err *stage_and_publish(struct store *store, const struct publication *batch,
                                     size_t count)
{
    revnum durable;
    TRY(stage_now(store, batch, count));
    return store_publish_staged(&durable, store);
}

/* Stop the publication of the case's batch on top of revision 1 at operation K; true where it was
 * done before that. */
static bool publish_cut_at(struct fixture *fix, const struct crash_case *how, uint64_t k,
                           enum fault_loss loss)
{
    struct fault_disk *fault = fault_disk_new();
    if (how->unnamed_refused)
        refuse_unnamed(fault_disk_ops(fault));
    struct store *store = open_store_on(fix, small_shards, fault_disk_ops(fault));
    fault_disk_arm(fault, k);
    struct err *err = publish_range(store, 2, how->batch, how->how);
    bool done = !err;
    err_free(err);
    store_close(store);
    assert_ok(fault_disk_crash(fault, loss));
    fault_disk_free(fault);
    return done;
}

/* After the crash: either the old head, or the whole batch; and the next commit works. */
static void assert_old_or_new(struct fixture *fix, const struct crash_case *how, bool done)
{
    struct store *store = open_store(fix);
    store_set_flush(store, false);
    revnum youngest = youngest_of(store), last = 1 + (revnum)how->batch;
    assert_true(youngest == last || (youngest >= 1 && youngest < last && !done));
    for (revnum rev = 0; rev <= youngest; rev++)
        assert_whole(store, rev);
    assert_ok(publish_one(store, youngest + 1));
    assert_whole(store, youngest + 1);
    store_close(store);
}

static void start_over(struct fixture *fix)
{
    nftw(fix->db, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
    store_close(new_store(fix, 1));
}

/* The first cut that comes too late ends it. */
static void cut_everywhere(struct fixture *fix, struct crash_case how)
{
    for (enum fault_loss loss = FAULT_KEEP_UNSYNCED; loss <= FAULT_LOSE_CONTENTS; loss++) {
        uint64_t k = 0;
        for (bool done = false; !done; k++) {
            start_over(fix);
            done = publish_cut_at(fix, &how, k, loss);
            assert_old_or_new(fix, &how, done);
        }
        assert_true(k > 10);
    }
}

static void a_commit_cut_anywhere_is_whole_or_not_there(void **state)
{
    cut_everywhere(*state, (struct crash_case){1, false, publish_now});
}

static void a_commit_through_temporary_files_cut_anywhere_is_whole_or_not_there(void **state)
{
    cut_everywhere(*state, (struct crash_case){3, true, publish_now});
}

static void a_batch_over_two_shards_cut_anywhere_is_whole_or_not_there(void **state)
{
    cut_everywhere(*state, (struct crash_case){3, false, publish_now});
}

static void a_batch_synced_with_its_filesystem_cut_anywhere_is_whole_or_not_there(void **state)
{
    cut_everywhere(*state, (struct crash_case){9, false, publish_now});
}

static void a_staged_batch_cut_anywhere_is_whole_or_not_there(void **state)
{
    cut_everywhere(*state, (struct crash_case){3, false, stage_and_publish});
    cut_everywhere(*state, (struct crash_case){10, false, stage_and_publish});
}

/* The crash of one commit does not spoil the durability of the next, whose folders it left
 * unsynced. */
static void a_commit_after_a_crash_is_durable(void **state)
{
    struct fixture *fix = *state;
    const struct crash_case how = {3, false, publish_now};
    uint64_t k = 0;
    for (bool done = false; !done; k++) {
        start_over(fix);
        struct fault_disk *fault = fault_disk_new();
        struct store *store = open_store_on(fix, small_shards, fault_disk_ops(fault));
        fault_disk_arm(fault, k);
        struct err *err = publish_range(store, 2, how.batch, how.how);
        done = !err;
        err_free(err);
        fault_disk_arm(fault, UINT64_MAX); /* the disk had an error, and works again */
        revnum next = youngest_of(store) + 1;
        assert_ok(publish_range(store, next, 3, publish_now));
        store_close(store);
        assert_ok(fault_disk_crash(fault, FAULT_LOSE_UNSYNCED));
        fault_disk_free(fault);
        store = open_store(fix);
        assert_int_equal(youngest_of(store), next + 2);
        for (revnum rev = 0; rev <= next + 2; rev++)
            assert_whole(store, rev);
        store_close(store);
    }
}

static size_t temporaries_in(struct fixture *fix, const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(at(fix, folder));
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += str_ends(str_of(entry->d_name), S(".tmp"));
    closedir(dir);
    return n;
}

static void nothing_is_left_by_an_error_of_the_disk(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    /* a folder in the place of the revision's properties: naming fails half-way */
    assert_int_equal(mkdir(at(fix, "revprops/0/2"), 0755), 0);
    struct err *err = publish_one(store, 2);
    assert_non_null(err);
    err_free(err);
    assert_int_equal(youngest_of(store), 1);
    assert_false(is_there(fix, "revs/0/2"));
    assert_int_equal(temporaries_in(fix, "revs/0") + temporaries_in(fix, "revprops/0") +
                         temporaries_in(fix, ""),
                     0);
    assert_int_equal(rmdir(at(fix, "revprops/0/2")), 0);
    assert_ok(publish_one(store, 2));
    assert_whole(store, 2);
    store_close(store);
}

/* ---- without unnamed files ---- */

static void a_filesystem_without_unnamed_files_gets_temporary_ones(void **state)
{
    struct fixture *fix = *state;
    store_close(new_store(fix, 1));
    struct disk disk = *disk_system();
    refuse_unnamed(&disk);
    struct store *store = open_store_on(fix, small_shards, &disk);
    struct draft *large = draft_of(store, S(""));
    char *text = large_text(2 << 20);
    assert_ok(draft_append(large, str_make(text, 2 << 20)));
    assert_int_equal(temporaries_in(fix, ""), 1);
    struct draft *dropped = draft_of(store, S(""));
    assert_ok(draft_append(dropped, str_make(text, 2 << 20)));
    draft_drop(dropped);
    assert_int_equal(temporaries_in(fix, ""), 1);
    put_content(fix, "revs/0/2", "left by a crash");
    assert_ok(publish_now(store, &(struct publication){2, large, S("p")}, 1));
    draft_drop(large);
    assert_str_eq(body_content(store, 2, fix->arena), str_make(text, 2 << 20));
    assert_int_equal(mode_of(fix, "revs/0/2"), 0444);
    assert_ok(publish_one(store, 3));
    assert_whole(store, 3);
    assert_int_equal(temporaries_in(fix, "revs") + temporaries_in(fix, "revs/0") +
                         temporaries_in(fix, "revs/1") + temporaries_in(fix, "revprops/0") +
                         temporaries_in(fix, "revprops/1"),
                     0);
    free(text);
    store_close(store);
}

/* ---- what killed writers left ---- */

static void who_takes_the_lease_removes_what_is_above_the_head(void **state)
{
    static const char *const above[] = {"revs/0/2",     "revs/1/3",         "revs/1/5",
                                        "revs/2/6",     "revprops/0/2",     "revprops/1/4",
                                        "revprops/2/8", "varve-revs-7.tmp", "varve-7f000001-3.tmp"};
    static const char *const others[] = {"revs/0/0",     "revs/0/1", "revprops/0/1",
                                         "revs/1/notes", "mine.tmp", "varve-notes"};
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    assert_int_equal(mkdir(at(fix, "revs/1"), 0755), 0);
    assert_int_equal(mkdir(at(fix, "revs/2"), 0755), 0);
    assert_int_equal(mkdir(at(fix, "revprops/1"), 0755), 0);
    assert_int_equal(mkdir(at(fix, "revprops/2"), 0755), 0);
    for (size_t i = 0; i < sizeof(above) / sizeof(*above); i++)
        put_content(fix, above[i], "left by a crash");
    for (size_t i = 3; i < sizeof(others) / sizeof(*others); i++)
        put_content(fix, others[i], "somebody's");
    store_close(store);
    store = open_store(fix);
    assert_ok(lease_take(store, LEASE_WRITE));
    lease_drop(store, LEASE_WRITE);
    for (size_t i = 0; i < sizeof(above) / sizeof(*above); i++)
        assert_false(is_there(fix, above[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_true(is_there(fix, others[i]));
    put_content(fix, "revs/0/2", "left by another crash");
    put_content(fix, "revs/1/3", "left by another crash");
    assert_ok(lease_take(store, LEASE_WRITE));
    lease_drop(store, LEASE_WRITE);
    assert_false(is_there(fix, "revs/0/2") || is_there(fix, "revs/1/3"));
    assert_ok(publish_range(store, 2, 3, publish_now));
    store_close(store);
}

static void the_file_of_a_writer_who_lives_stays(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1), *other = open_store(fix);
    struct disk disk = *disk_system();
    refuse_unnamed(&disk);
    store_close(other);
    other = open_store_on(fix, small_shards, &disk);
    struct draft *draft = draft_of(other, S(""));
    char *text = large_text(2 << 20);
    assert_ok(draft_append(draft, str_make(text, 2 << 20)));
    assert_ok(publish_one(store, 2));
    assert_int_equal(temporaries_in(fix, ""), 1);
    assert_ok(publish_now(other, &(struct publication){3, draft, S("p")}, 1));
    draft_drop(draft);
    assert_str_eq(body_content(other, 3, fix->arena), str_make(text, 2 << 20));
    free(text);
    store_close(other);
    store_close(store);
}

static void without_a_head_that_can_be_read_nothing_is_removed(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    put_content(fix, "current", "junk\n");
    assert_ok(lease_take(store, LEASE_WRITE));
    lease_drop(store, LEASE_WRITE);
    assert_true(is_there(fix, "revs/0/1"));
    store_close(store);
}

/* ---- staging ---- */

static struct err *stage_look_and_publish(struct store *store, const struct publication *batch,
                                          size_t count)
{
    AUTO_ARENA(arena);
    revnum durable = REV_NONE, last = batch[count - 1].rev;
    for (size_t i = 0; i < count; i++) {
        TRY(store_stage(store, &batch[i]));
        assert_str_eq(body_content(store, batch[i].rev, arena), body_text(arena, batch[i].rev));
        assert_int_equal(youngest_of(store), batch[0].rev - 1);
    }
    TRY(store_publish_staged(&durable, store));
    assert_int_equal(durable, last);
    TRY(store_publish_staged(&durable, store)); /* nothing staged: nothing to do */
    assert_int_equal(durable, last);
    return NULL;
}

static void staged_revisions_can_be_read_and_are_not_visible(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    assert_ok(publish_range(store, 2, 29, stage_look_and_publish));
    assert_int_equal(youngest_of(store), 30);
    for (revnum rev = 0; rev <= 30; rev++)
        assert_whole(store, rev);
    assert_ok(publish_one(store, 31));
    store_close(store);
}

static void staging_replaces_left_overs(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    put_content(fix, "revs/0/2", "left by a crash");
    put_content(fix, "revprops/0/2", "left by a crash");
    assert_str(body_content(store, 2, fix->arena), "left by a crash");
    assert_ok(publish_range(store, 2, 1, stage_look_and_publish));
    assert_whole(store, 2);
    assert_int_equal(mode_of(fix, "revs/0/2"), 0444);
    store_close(store);
}

static void staging_is_for_the_next_revision_only(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    assert_err(publish_range(store, 3, 1, stage_now), E_FS_TXN_OUT_OF_DATE, NULL);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_revision_has_the_modes_and_folders_of_stock_tools),
        STORE_TEST(a_revision_takes_the_mode_of_the_one_before),
        STORE_TEST(old_formats_write_the_ids_in_base_36),
        STORE_TEST(only_the_next_revision_can_be_published),
        STORE_TEST(who_reads_the_head_does_no_harm_to_who_moves_it),
        STORE_TEST(a_left_over_above_the_head_is_replaced),
        STORE_TEST(a_draft_that_became_a_file_is_published_whole),
        STORE_TEST(a_batch_of_any_size_is_published_at_once),
        STORE_TEST(without_flush_nothing_waits),
        STORE_TEST(a_commit_cut_anywhere_is_whole_or_not_there),
        STORE_TEST(a_commit_through_temporary_files_cut_anywhere_is_whole_or_not_there),
        STORE_TEST(a_batch_over_two_shards_cut_anywhere_is_whole_or_not_there),
        STORE_TEST(a_batch_synced_with_its_filesystem_cut_anywhere_is_whole_or_not_there),
        STORE_TEST(a_staged_batch_cut_anywhere_is_whole_or_not_there),
        STORE_TEST(a_commit_after_a_crash_is_durable),
        STORE_TEST(nothing_is_left_by_an_error_of_the_disk),
        STORE_TEST(a_filesystem_without_unnamed_files_gets_temporary_ones),
        STORE_TEST(who_takes_the_lease_removes_what_is_above_the_head),
        STORE_TEST(the_file_of_a_writer_who_lives_stays),
        STORE_TEST(without_a_head_that_can_be_read_nothing_is_removed),
        STORE_TEST(staged_revisions_can_be_read_and_are_not_visible),
        STORE_TEST(staging_replaces_left_overs),
        STORE_TEST(staging_is_for_the_next_revision_only),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
