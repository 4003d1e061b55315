/* SPDX-License-Identifier: Apache-2.0 */
/* What every kind of store does; each test runs on each kind. */
#include "base/thread.h"
#include "fixture.h"
#include "store/memory/memory.h"
#include "store/repcache.h"
#include <errno.h>
#include <pthread.h>

static struct record_key key(enum record_kind kind, revnum rev, const char *name)
{
    return (struct record_key){kind, rev, str_of(name)};
}

/* A new store of three revisions to a shard, with revisions 0 to YOUNGEST. */
static struct store *fill(struct store *store, revnum youngest)
{
    store_set_layout(store, small_shards);
    store_set_flush(store, false);
    assert_ok(store_create(store));
    assert_ok(record_put(store, key(RECORD_MIN_UNPACKED, REV_NONE, ""), S("0\n")));
    for (revnum rev = 0; rev <= youngest; rev++)
        assert_ok(publish_one(store, rev));
    return store;
}

static void a_batch_becomes_visible_in_order(struct store *store, struct arena *arena)
{
    fill(store, 0);
    assert_ok(publish_range(store, 1, 4, publish_now));
    assert_int_equal(youngest_of(store), 4);
    for (revnum rev = 0; rev <= 4; rev++)
        assert_whole(store, rev);
    struct err *err = publish_range(store, 6, 1, publish_now);
    assert_err(err, E_FS_TXN_OUT_OF_DATE, "Revision 6 can't follow revision 4");
    assert_int_equal(youngest_of(store), 4);
}

static void a_store_without_revisions_has_no_head(struct store *store, struct arena *arena)
{
    struct head head;
    fill(store, REV_NONE);
    assert_err(store_head(&head, store), ENOENT, "current");
}

static void what_is_staged_is_read_here_and_is_no_head_yet(struct store *store, struct arena *arena)
{
    revnum durable = 0;
    fill(store, 0);
    assert_ok(lease_take(store, LEASE_WRITE));
    for (revnum rev = 1; rev <= 3; rev++) {
        struct draft *draft = draft_of(store, body_text(arena, rev));
        assert_ok(
            store_stage(store, &(struct publication){rev, draft, props_text(arena, rev), 1, 1}));
        draft_drop(draft);
    }
    assert_int_equal(youngest_of(store), 0);
    assert_str_eq(body_content(store, 3, arena), body_text(arena, 3));
    assert_ok(store_publish_staged(&durable, store));
    lease_drop(store, LEASE_WRITE);
    assert_int_equal(durable, 3);
    assert_int_equal(youngest_of(store), 3);
    assert_whole(store, 2);
}

static void reading_past_the_end_of_a_body_is_an_error(struct store *store, struct arena *arena)
{
    char to[8];
    struct body *body;
    fill(store, 1);
    assert_ok(store_body(&body, store, 1, arena));
    assert_err(body_read(body, &(struct span){body->size - 3, 4, to}, 1), E_FS_CORRUPT, NULL);
    assert_err(body_read(body, &(struct span){UINT64_MAX, 4, to}, 1), E_FS_CORRUPT, NULL);
    assert_ok(body_read(body, &(struct span){body->size - 3, 3, to}, 1));
    assert_err(store_body(&body, store, 2, arena), E_FS_NO_SUCH_REVISION, "No such revision 2");
    assert_err(store_body(&body, store, -1, arena), E_FS_NO_SUCH_REVISION, NULL);
}

static void a_draft_is_read_back_and_cut(struct store *store, struct arena *arena)
{
    char to[8] = "";
    fill(store, 0);
    struct draft *draft = draft_of(store, S("first,second"));
    assert_int_equal(draft_size(draft), 12);
    assert_ok(draft_reread(draft, 6, to, 6));
    assert_string_equal(to, "second");
    assert_err(draft_reread(draft, 7, to, 6), E_FS_CORRUPT, "transaction '0-0'");
    assert_ok(draft_truncate(draft, 20)); /* no longer than it is */
    assert_int_equal(draft_size(draft), 12);
    assert_ok(draft_truncate(draft, 5));
    assert_ok(draft_append(draft, S("!")));
    memset(to, 0, sizeof to);
    assert_ok(draft_reread(draft, 0, to, 6));
    assert_string_equal(to, "first!");
    draft_drop(draft);
}

static void a_draft_is_a_body_for_whoever_has_it_and_for_nobody_else(struct store *store,
                                                                     struct arena *arena)
{
    char to[7] = "";
    struct body *body;
    fill(store, 1);
    struct draft *draft = draft_of(store, S("in the making"));
    struct body *preview = draft_body(draft, 2, arena);
    assert_str(body_name(preview, arena), "revs/0/2");
    body_prefetch(preview, &(struct span){0, 6, NULL}, 1);
    assert_ok(body_read(preview, &(struct span){7, 6, to}, 1));
    assert_string_equal(to, "making");
    assert_err(body_read(preview, &(struct span){7, 7, to}, 1), E_FS_CORRUPT, NULL);
    assert_err(store_body(&body, store, 2, arena), E_FS_NO_SUCH_REVISION, NULL);
    assert_ok(publish_now(store, &(struct publication){2, draft, S("p"), 1, 1}, 1));
    assert_str(body_content(store, 2, arena), "in the making");
    draft_drop(draft);
}

static void a_record_is_replaced_and_removed(struct store *store, struct arena *arena)
{
    static const char digest[] = "0123456789abcdef0123456789abcdef";
    AUTO_BUF(bytes);
    bool found;
    fill(store, 0);
    assert_ok(record_get(&bytes, &found, store, key(RECORD_LOCK, REV_NONE, digest)));
    assert_false(found);
    assert_ok(record_put(store, key(RECORD_LOCK, REV_NONE, digest), S("one")));
    assert_ok(record_put(store, key(RECORD_LOCK, REV_NONE, digest), S("two")));
    assert_ok(record_get(&bytes, &found, store, key(RECORD_LOCK, REV_NONE, digest)));
    assert_true(found);
    assert_str(buf_view(&bytes), "two");
    assert_ok(record_delete(store, key(RECORD_LOCK, REV_NONE, digest)));
    assert_ok(record_delete(store, key(RECORD_LOCK, REV_NONE, digest)));
    assert_ok(record_get(&bytes, &found, store, key(RECORD_LOCK, REV_NONE, digest)));
    assert_false(found);
}

static void transactions_are_listed_and_removed_whole(struct store *store, struct arena *arena)
{
    struct str *names;
    size_t count;
    bool found;
    AUTO_BUF(bytes);
    fill(store, 0);
    assert_ok(record_put(store, key(RECORD_TXN, REV_NONE, "0-b/props"), S("x")));
    assert_ok(record_put(store, key(RECORD_TXN, REV_NONE, "0-a/props"), S("x")));
    assert_ok(record_put(store, key(RECORD_TXN, REV_NONE, "0-a/changes"), S("x")));
    struct draft *draft = draft_of(store, S("proto"));
    assert_ok(draft_show(draft, S("0-a")));
    draft_drop(draft);
    assert_ok(record_get(&bytes, &found, store, key(RECORD_TXN_PROTOREV, REV_NONE, "0-a")));
    assert_str(buf_view(&bytes), "proto");
    assert_ok(record_scan(&names, &count, store, RECORD_TXN, arena));
    assert_int_equal(count, 2);
    assert_str(names[0], "0-a");
    assert_str(names[1], "0-b");
    assert_ok(store_txn_remove(store, S("0-a")));
    assert_ok(record_scan(&names, &count, store, RECORD_TXN, arena));
    assert_int_equal(count, 1);
    assert_str(names[0], "0-b");
    assert_ok(record_get(&bytes, &found, store, key(RECORD_TXN_PROTOREV, REV_NONE, "0-a")));
    assert_false(found);
}

static void numbers_of_transactions_are_given_once(struct store *store, struct arena *arena)
{
    uint64_t a, b, c;
    fill(store, 0);
    assert_ok(store_txn_numbers(&a, store, 0, 1));
    assert_ok(store_txn_numbers(&b, store, 0, 5));
    assert_ok(store_txn_numbers(&c, store, 0, 1));
    assert_true(b > a && c >= b + 5);
}

static void a_record_is_set_only_if_it_is_as_it_was(struct store *store, struct arena *arena)
{
    const struct record_key props = key(RECORD_REVPROPS, 1, "");
    struct version was, none;
    bool done;
    AUTO_BUF(bytes);
    fill(store, 1);
    assert_ok(record_version(&was, store, props));
    assert_ok(record_cas(&done, store, props, &was, S("the first change of it")));
    assert_true(done);
    assert_ok(record_cas(&done, store, props, &was, S("another one, which comes too late")));
    assert_false(done);
    bool found;
    assert_ok(record_get(&bytes, &found, store, props));
    assert_str(buf_view(&bytes), "the first change of it");
    assert_ok(record_version(&none, store, key(RECORD_CONFIG, REV_NONE, "")));
    assert_ok(record_cas(&done, store, key(RECORD_CONFIG, REV_NONE, ""), &none, S("made")));
    assert_true(done);
    assert_ok(record_cas(&done, store, key(RECORD_CONFIG, REV_NONE, ""), &none, S("made again")));
    assert_false(done);
}

static void a_shard_has_another_version_after_a_change_in_it(struct store *store,
                                                             struct arena *arena)
{
    struct version shard0, shard1, now;
    fill(store, 4);
    assert_ok(record_place_version(&shard0, store, key(RECORD_REVPROPS, 1, "")));
    assert_ok(record_place_version(&shard1, store, key(RECORD_REVPROPS, 4, "")));
    assert_ok(record_put(store, key(RECORD_REVPROPS, 2, ""), S("x")));
    assert_ok(record_place_version(&now, store, key(RECORD_REVPROPS, 1, "")));
    assert_false(version_equal(&now, &shard0));
    assert_ok(record_place_version(&now, store, key(RECORD_REVPROPS, 3, "")));
    assert_true(version_equal(&now, &shard1));
}

static void a_pack_takes_the_place_of_a_shard(struct store *store, struct arena *arena)
{
    struct body *before, *after;
    AUTO_BUF(manifest);
    AUTO_BUF(props);
    bool found;
    fill(store, 4);
    assert_ok(store_body(&before, store, 1, arena));
    struct draft *draft = draft_of(store, S("three revisions in one"));
    assert_ok(store_put_pack(store, 0, draft, S("0\n5\n9\n")));
    draft_drop(draft);
    assert_err(store_drop_shard(store, 0, true), E_FS_GENERAL, "is not packed");
    assert_ok(record_put(store, key(RECORD_MIN_UNPACKED, REV_NONE, ""), S("3\n")));
    assert_ok(store_drop_shard(store, 0, true));
    assert_ok(store_body(&after, store, 1, arena));
    assert_true(after->packed && after->first_rev == 0);
    assert_int_not_equal(after->identity, before->identity);
    assert_str(body_name(after, arena), "revs/0.pack/pack");
    assert_str(body_content(store, 2, arena), "three revisions in one");
    assert_ok(body_manifest(&manifest, after));
    assert_str(buf_view(&manifest), "0\n5\n9\n");
    assert_whole(store, 3);
    assert_ok(record_get(&props, &found, store, key(RECORD_REVPROPS, 0, "")));
    assert_true(found);
    assert_ok(record_get(&props, &found, store, key(RECORD_REVPROPS, 1, "")));
    assert_false(found);
}

struct contender {
    struct store *store;
    atomic_bool has_it;
};

static void *contend(void *arg)
{
    struct contender *c = arg;
    assert_ok(lease_take(c->store, LEASE_WRITE));
    atomic_store(&c->has_it, true);
    lease_drop(c->store, LEASE_WRITE);
    return NULL;
}

static void a_lease_is_one_threads_at_a_time(struct store *store, struct arena *arena)
{
    fill(store, 0);
    struct contender contender = {.store = store};
    pthread_t thread;
    assert_ok(lease_take(store, LEASE_WRITE));
    assert_ok(lease_take(store, LEASE_TXN_CURRENT)); /* another one is free */
    lease_drop(store, LEASE_TXN_CURRENT);
    assert_int_equal(pthread_create(&thread, NULL, contend, &contender), 0);
    usleep(50 * 1000);
    assert_false(atomic_load(&contender.has_it));
    lease_drop(store, LEASE_WRITE);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&contender.has_it));
}

static struct repcache_row row_of(uint8_t hash, revnum rev)
{
    return (struct repcache_row){.sha1 = {hash}, .rev = rev, .item = 3, .size = 4, .expanded = 5};
}

static revnum rev_of_row(struct store *store, uint8_t hash)
{
    struct repcache_row row;
    bool found;
    assert_ok(repcache_find(&row, &found, store, row_of(hash, 0).sha1));
    return found ? row.rev : REV_NONE;
}

static struct err *count_row(void *arg, const struct repcache_row *row)
{
    ++*(size_t *)arg;
    return NULL;
}

static void rows_are_found_at_once_and_the_first_stays(struct store *store, struct arena *arena)
{
    size_t count = 0;
    fill(store, 0);
    const struct repcache_row rows[] = {row_of(1, 1), row_of(2, 1)}, again = row_of(1, 7);
    assert_int_equal(rev_of_row(store, 1), REV_NONE);
    repcache_offer(store, rows, 2);
    repcache_offer(store, &again, 1);
    assert_int_equal(rev_of_row(store, 1), 1);
    assert_int_equal(rev_of_row(store, 2), 1);
    assert_ok(repcache_flush(store));
    assert_true(repcache_exists(store));
    assert_ok(repcache_each(store, count_row, &count));
    assert_int_equal(count, 2);
}

static void rows_that_are_held_go_nowhere_until_they_are_released(struct store *store,
                                                                  struct arena *arena)
{
    size_t count = 0;
    fill(store, 0);
    const struct repcache_row lost = row_of(1, 1), kept = row_of(2, 2);
    repcache_hold(store, &lost, 1);
    assert_int_equal(rev_of_row(store, 1), 1);
    repcache_forget(store);
    assert_int_equal(rev_of_row(store, 1), REV_NONE);
    repcache_hold(store, &kept, 1);
    repcache_release(store);
    assert_ok(repcache_each(store, count_row, &count));
    assert_int_equal(count, 1);
    assert_int_equal(rev_of_row(store, 2), 2);
}

/* ---- on each kind ---- */

typedef void test_of_a_store(struct store *, struct arena *);

static void on_posix(void **state, test_of_a_store *test)
{
    struct fixture *fix = *state;
    struct store *store;
    assert_ok(posix_open(&store, fix->db, NULL));
    test(store, fix->arena);
    store_close(store);
}

static void on_memory(test_of_a_store *test)
{
    AUTO_ARENA(arena);
    struct store *store = memory_store_new();
    test(store, arena);
    store_close(store);
}

#define TESTS(DO)                                                                                  \
    DO(a_batch_becomes_visible_in_order)                                                           \
    DO(a_store_without_revisions_has_no_head)                                                      \
    DO(what_is_staged_is_read_here_and_is_no_head_yet)                                             \
    DO(reading_past_the_end_of_a_body_is_an_error)                                                 \
    DO(a_draft_is_read_back_and_cut)                                                               \
    DO(a_draft_is_a_body_for_whoever_has_it_and_for_nobody_else)                                   \
    DO(a_record_is_replaced_and_removed)                                                           \
    DO(transactions_are_listed_and_removed_whole)                                                  \
    DO(numbers_of_transactions_are_given_once)                                                     \
    DO(a_record_is_set_only_if_it_is_as_it_was)                                                    \
    DO(a_shard_has_another_version_after_a_change_in_it)                                           \
    DO(a_pack_takes_the_place_of_a_shard)                                                          \
    DO(a_lease_is_one_threads_at_a_time)                                                           \
    DO(rows_are_found_at_once_and_the_first_stays)                                                 \
    DO(rows_that_are_held_go_nowhere_until_they_are_released)

#define ON_EACH(name)                                                                              \
    static void posix_##name(void **state)                                                         \
    {                                                                                              \
        on_posix(state, name);                                                                     \
    }                                                                                              \
    static void memory_##name(void **state)                                                        \
    {                                                                                              \
        on_memory(name);                                                                           \
    }
TESTS(ON_EACH)

int main(void)
{
#define RUN(name) STORE_TEST(posix_##name), cmocka_unit_test(memory_##name),
    const struct CMUnitTest tests[] = {TESTS(RUN)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
