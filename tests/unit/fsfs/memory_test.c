/* SPDX-License-Identifier: Apache-2.0 */
/* Filesystems of every format on a store in memory: what is above the store needs no disk. */
#include "fsfs/check/verify.h"
#include "fsfs/read/rep.h"
#include "fsfs/txn/txn_verify.h"
#include "memory_fs.h"
#include <pthread.h>

static const int formats[] = {1, 2, 3, 4, 6, 7, 8};
enum { FORMATS = sizeof formats / sizeof *formats };

static void assert_sound(struct fsfs *fs)
{
    AUTO_ARENA(arena);
    revnum youngest, first, last;
    assert_ok(fsfs_youngest(&youngest, fs));
    struct revprop_view *view = revprop_view_new(fs, arena);
    for (revnum rev = 0; rev <= youngest; rev++) {
        assert_ok(verify_body(&first, &last, fs, rev));
        assert_ok(verify_revision(fs, rev, &(struct verify_scope){.start = 0}, view));
    }
}

static void each_revision_keeps_its_texts(void **state)
{
    for (int i = 0; i < FORMATS; i++) {
        AUTO_ARENA(arena);
        struct fsfs *fs = memory_fs(formats[i]);
        for (int rev = 1; rev <= 20; rev++) {
            struct txn *txn = begin(fs);
            if (rev == 1)
                assert_ok(txn_make_dir(txn, S("/trunk")));
            put(txn, "/trunk/file", arena_printf(arena, "the text of revision %d\n", rev).p);
            assert_int_equal(commit(txn), rev);
        }
        for (int rev = 1; rev <= 20; rev++)
            assert_str_eq(text_of(fs, rev, "/trunk/file", arena),
                          arena_printf(arena, "the text of revision %d\n", rev));
        assert_sound(fs);
        fsfs_close(fs);
    }
}

static void a_copy_has_what_its_source_had(void **state)
{
    for (int i = 0; i < FORMATS; i++) {
        AUTO_ARENA(arena);
        struct fsfs *fs = memory_fs(formats[i]);
        struct txn *txn = begin(fs);
        assert_ok(txn_make_dir(txn, S("/trunk")));
        put(txn, "/trunk/a", "old");
        commit(txn);
        txn = begin(fs);
        put(txn, "/trunk/a", "new");
        commit(txn);
        txn = begin(fs);
        assert_ok(txn_copy(txn, S("/branch"), 1, S("/trunk")));
        put(txn, "/branch/b", "more");
        assert_int_equal(commit(txn), 3);
        assert_str(text_of(fs, 3, "/branch/a", arena), "old");
        assert_str(text_of(fs, 3, "/branch/b", arena), "more");
        assert_str(text_of(fs, 3, "/trunk/a", arena), "new");
        assert_sound(fs);
        fsfs_close(fs);
    }
}

static void changes_of_one_file_conflict_and_those_of_two_do_not(void **state)
{
    AUTO_ARENA(arena);
    struct fsfs *fs = memory_fs(8);
    revnum rev;
    struct txn *one = begin(fs), *two = begin(fs);
    put(one, "/a", "one");
    put(two, "/b", "two");
    assert_int_equal(commit(one), 1);
    assert_int_equal(commit(two), 2); /* merged onto 1 */
    assert_str(text_of(fs, 2, "/a", arena), "one");
    one = begin(fs);
    two = begin(fs);
    put(one, "/a", "once more");
    put(two, "/a", "at the same time");
    assert_int_equal(commit(one), 3);
    assert_err(try_commit(&rev, two), E_FS_CONFLICT, "'/a'");
    assert_str(text_of(fs, 3, "/a", arena), "once more");
    fsfs_close(fs);
}

struct committer {
    struct fsfs *fs;
    char path[16];
    pthread_t thread;
};

static void *commit_often(void *arg)
{
    struct committer *c = arg;
    for (int i = 0; i < 20; i++) {
        struct txn *txn = begin(c->fs);
        put(txn, c->path, i % 2 ? "an odd text" : "an even text");
        commit(txn);
    }
    return NULL;
}

static void committers_at_the_same_time_form_batches(void **state)
{
    enum { COMMITTERS = 8 };
    AUTO_ARENA(arena);
    struct fsfs *fs = memory_fs(8);
    struct committer committers[COMMITTERS];
    revnum youngest;
    for (int i = 0; i < COMMITTERS; i++) {
        committers[i].fs = fs;
        snprintf(committers[i].path, sizeof committers[i].path, "/file-%d", i);
        assert_int_equal(pthread_create(&committers[i].thread, NULL, commit_often, &committers[i]),
                         0);
    }
    for (int i = 0; i < COMMITTERS; i++)
        pthread_join(committers[i].thread, NULL);
    assert_ok(fsfs_youngest(&youngest, fs));
    assert_int_equal(youngest, 20 * COMMITTERS);
    for (int i = 0; i < COMMITTERS; i++)
        assert_str(text_of(fs, youngest, committers[i].path, arena), "an odd text");
    assert_sound(fs);
    fsfs_close(fs);
}

static void a_member_of_a_batch_is_read_by_the_next_one_only(void **state)
{
    AUTO_ARENA(arena);
    struct fsfs *fs = memory_fs(8), view;
    struct body *body;
    struct draft *draft;
    assert_ok(draft_begin(&draft, fs->store, S("0-0")));
    assert_ok(draft_append(draft, S("bytes")));
    fsfs_view(&view, fs);
    fsfs_view_add(&view, 1, draft, arena);
    assert_ok(fsfs_body(&body, &view, 1, arena));
    assert_int_equal(body->size, 5);
    assert_ok(fsfs_body(&body, &view, 0, arena));
    assert_err(fsfs_body(&body, fs, 1, arena), E_FS_NO_SUCH_REVISION, NULL);
    draft_drop(draft);
    fsfs_close(fs);
}

static void a_load_makes_revisions_that_stand_on_each_other(void **state)
{
    for (int i = 0; i < FORMATS; i++) {
        AUTO_ARENA(arena);
        struct fsfs *fs = memory_fs(formats[i]);
        struct load_commits *load;
        revnum rev = 0, durable, youngest;
        assert_ok(load_commits_begin(&load, fs));
        for (int n = 1; n <= 10; n++) {
            struct txn *txn;
            assert_ok(txn_begin(&txn, fs, rev));
            put(txn, "/file", arena_printf(arena, "text %d", n).p);
            assert_ok(load_commits_add(&rev, load, txn));
            assert_int_equal(rev, n);
        }
        assert_ok(fsfs_youngest(&youngest, fs));
        assert_int_equal(youngest, 0);
        assert_ok(load_commits_end(&durable, load));
        assert_int_equal(durable, 10);
        assert_str(text_of(fs, 10, "/file", arena), "text 10");
        assert_str(text_of(fs, 9, "/file", arena), "text 9");
        assert_sound(fs);
        fsfs_close(fs);
    }
}

static void a_transaction_is_shown_to_others_and_read_back(void **state)
{
    for (int i = 0; i < FORMATS; i++) {
        AUTO_ARENA(arena);
        struct fsfs *fs = memory_fs(formats[i]);
        struct txn *txn = begin(fs), *other;
        struct str *names;
        size_t n;
        put(txn, "/file", "shown");
        assert_ok(txn_spill(txn));
        assert_ok(txn_list(&names, &n, fs, arena));
        assert_int_equal(n, 1);
        assert_str_eq(names[0], txn_name(txn));
        assert_ok(txn_verify(fs, txn_name(txn)));
        assert_ok(txn_load(&other, fs, txn_name(txn)));
        struct changes *changes;
        assert_ok(txn_changes(&changes, other));
        shared_unref(changes);
        txn_abort(other);
        commit(txn);
        assert_ok(txn_list(&names, &n, fs, arena));
        assert_int_equal(n, 0);
        assert_str(text_of(fs, 1, "/file", arena), "shown");
        fsfs_close(fs);
    }
}

static void equal_texts_are_stored_once(void **state)
{
    AUTO_ARENA(arena);
    struct fsfs *fs = memory_fs(8);
    char *text = arena_alloc(arena, 10001);
    memset(text, 'x', 10000);
    for (int i = 0; i < 10000; i += 7)
        text[i] = (char)('a' + i * 31 % 23);
    text[10000] = '\0';
    struct txn *txn = begin(fs);
    put(txn, "/a", text);
    commit(txn);
    txn = begin(fs);
    put(txn, "/b", text);
    commit(txn);
    struct body *first, *second;
    assert_ok(fsfs_body(&first, fs, 1, arena));
    assert_ok(fsfs_body(&second, fs, 2, arena));
    assert_true(second->size < first->size);
    assert_str_eq(text_of(fs, 2, "/b", arena), str_of(text));
    fsfs_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_revision_keeps_its_texts),
        cmocka_unit_test(a_copy_has_what_its_source_had),
        cmocka_unit_test(changes_of_one_file_conflict_and_those_of_two_do_not),
        cmocka_unit_test(committers_at_the_same_time_form_batches),
        cmocka_unit_test(a_member_of_a_batch_is_read_by_the_next_one_only),
        cmocka_unit_test(a_load_makes_revisions_that_stand_on_each_other),
        cmocka_unit_test(a_transaction_is_shown_to_others_and_read_back),
        cmocka_unit_test(equal_texts_are_stored_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
