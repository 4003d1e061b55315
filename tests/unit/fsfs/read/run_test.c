/* SPDX-License-Identifier: Apache-2.0 */
#include "../stock.h"
#include "fsfs/read/run.h"

enum {
    HEAD = 100,
    SHARD = 40,
    WHOLE = 79 /* the last revision in a whole run: 80 to 111 is none */
};

/* ---- helpers ---- */

/* Repository r of HEAD revisions; revision N adds the folder /dN and says "message N". */
static void make_history(struct stock *stock, int format)
{
    stock_create(stock, "r", format, SHARD);
    stock_messages(stock, HEAD);
}

/* Let all folders look as if changed on one day of the year 2001: what is read may be kept. */
static void age(struct stock *stock, int day)
{
    stock_run(stock,
              arena_printf(stock->arena,
                           "find r/db/revprops -type d -exec touch -d 2001-01-%02d {} ';'", day)
                  .p);
}

static struct run_reader *reader_of(struct stock *stock, struct fsfs *fs)
{
    return run_reader_new(fs, revprop_view_new(fs, stock->arena), stock->arena);
}

/* True where both lists of REV are in runs, and then they must be right. */
static bool is_served(struct stock *stock, struct run_reader *reader, revnum rev)
{
    const struct changes *changes = run_changes(reader, rev, stock->arena);
    const struct props *props = run_revprops(reader, rev, stock->arena);
    assert_int_equal(changes == NULL, props == NULL);
    if (!changes)
        return false;
    assert_int_equal(changes->n, 1);
    assert_str_eq(changes->list[0].path, arena_printf(stock->arena, "/d%lld", (long long)rev));
    assert_int_equal(changes->list[0].action, CHANGE_ADD);
    assert_int_equal(changes->list[0].copyfrom_path.n, 0);
    assert_str_eq(*props_get(props, S("svn:log")),
                  arena_printf(stock->arena, "message %lld", (long long)rev));
    return true;
}

/* How many revisions from FIRST to LAST, which may be less, are served. */
static int count_served(struct stock *stock, struct run_reader *reader, revnum first, revnum last)
{
    const int step = first <= last ? 1 : -1;
    int count = 0;
    for (revnum rev = first; rev != last + step; rev += step)
        count += is_served(stock, reader, rev);
    return count;
}

/* ---- tests ---- */

static void whole_histories_are_served_in_both_directions(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        make_history(stock, (int)format);
        for (int packed = 0; packed < (format < 4 ? 1 : 2); packed++) {
            if (packed)
                stock_run(stock, "svnadmin pack -q r");
            age(stock, 1);
            struct fsfs *fs = stock_open(stock, "r");
            const revnum whole = format < 3 ? 95 : WHOLE; /* without shards runs are all alike */
            assert_ok(fsfs_check_revision(fs, HEAD));
            for (int turn = 0; turn < 2; turn++) {
                cache_clear();
                struct run_reader *first = reader_of(stock, fs), *second = reader_of(stock, fs);
                run_prefetch_changes(first, 1, HEAD);
                run_prefetch_revprops(first, 1, HEAD);
                int served = turn ? count_served(stock, first, HEAD, 0)
                                  : count_served(stock, first, 0, HEAD);
                /* Half a run is asked for before the first one is made. */
                assert_in_range(served, whole - RUN_LENGTH / 2 - 1, whole);
                assert_int_equal(count_served(stock, second, 0, HEAD), whole);
            }
            fsfs_close(fs);
        }
        stock_run(stock, "rm -rf r");
    }
}

static void who_leaves_out_more_than_he_asks_for_gets_no_run(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8);
    age(stock, 1);
    struct fsfs *fs = stock_open(stock, "r");
    assert_ok(fsfs_check_revision(fs, HEAD));
    cache_clear();
    struct run_reader *reader = reader_of(stock, fs);
    for (int turn = 0; turn < 4; turn++)
        for (revnum rev = 1; rev <= HEAD; rev += 3)
            assert_false(is_served(stock, reader, rev));
    struct cache_stats stats;
    cache_stats(&stats);
    assert_int_equal(stats.objects, 0);
    fsfs_close(fs);
}

static void a_changed_property_is_never_served_as_it_was(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8);
    age(stock, 1);
    struct fsfs *fs = stock_open(stock, "r");
    assert_ok(fsfs_check_revision(fs, HEAD));
    assert_in_range(count_served(stock, reader_of(stock, fs), 0, WHOLE), 1, WHOLE);
    stock_run(stock, "printf changed >m; svnadmin setlog --bypass-hooks -r 20 r m");
    for (int day = 1; day <= 2; day++) { /* on the first the stamp is too young to be trusted */
        struct run_reader *reader = reader_of(stock, fs);
        if (day == 2)
            age(stock, day);
        int served = 0;
        for (revnum rev = 1; rev <= 20; rev++) {
            const struct props *props = run_revprops(reader, rev, stock->arena);
            served += props != NULL;
            if (props && rev == 20)
                assert_str_eq(*props_get(props, S("svn:log")), S("changed"));
        }
        assert_int_equal(served, day == 1 ? 0 : 20 - RUN_LENGTH / 2 + 1);
    }
    fsfs_close(fs);
}

static void what_cannot_be_read_or_is_large_is_left_to_its_reader(void **state)
{
    struct stock *stock = *state;
    static const int formats[] = {4, 8};
    for (size_t i = 0; i < 2; i++) {
        make_history(stock, formats[i]);
        stock_run(stock, "rm -rf r/db/revs/0/10 r/db/revprops/0/20; echo K 7 >r/db/revprops/0/20; "
                         "echo damaged >r/db/revs/0/10");
        age(stock, 1);
        struct fsfs *fs = stock_open(stock, "r");
        assert_ok(fsfs_check_revision(fs, HEAD));
        cache_clear();
        for (int turn = 0; turn < 2; turn++) {
            struct run_reader *reader = reader_of(stock, fs);
            for (revnum rev = 31; rev > 0; rev--) {
                const bool changes = run_changes(reader, rev, stock->arena);
                const bool props = run_revprops(reader, rev, stock->arena);
                if (turn) {
                    assert_int_equal(changes, rev != 10);
                    assert_int_equal(props, rev != 20);
                }
            }
        }
        fsfs_close(fs);
        stock_run(stock, "rm -rf r");
    }
}

static void a_large_list_is_in_no_run(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, RUN_LENGTH);
    stock_run(stock, "mkdir d && for i in $(seq 1 3000); do : >d/f$i; done; "
                     "for i in $(seq 1 30); do svn mkdir -q -m '' $U/r/d$i; done; "
                     "svn import -q -m '' d $U/r/d");
    struct fsfs *fs = stock_open(stock, "r");
    assert_ok(fsfs_check_revision(fs, RUN_LENGTH - 1));
    struct run_reader *reader = reader_of(stock, fs);
    for (revnum rev = 0; rev < RUN_LENGTH; rev++)
        run_changes(reader, rev, stock->arena);
    assert_non_null(run_changes(reader, RUN_LENGTH - 2, stock->arena));
    assert_null(run_changes(reader, RUN_LENGTH - 1, stock->arena)); /* over 3000 * 64 bytes */
    fsfs_close(fs);
}

static void a_list_lives_as_long_as_its_arena(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8);
    age(stock, 1);
    struct fsfs *fs = stock_open(stock, "r");
    assert_ok(fsfs_check_revision(fs, HEAD));
    AUTO_ARENA(of_reader);
    struct arena *arena = arena_new();
    struct run_reader *reader = run_reader_new(fs, revprop_view_new(fs, of_reader), of_reader);
    const struct changes *early = NULL;
    for (revnum rev = 0; rev <= WHOLE; rev++) {
        const struct changes *changes = run_changes(reader, rev, arena);
        if (rev == 30)
            early = changes;
    }
    /* Nor does it matter to it which arena others are asked for with. */
    struct arena *other = arena_new();
    const struct changes *late = run_changes(reader, WHOLE, arena);
    assert_non_null(run_changes(reader, 1, other));
    arena_free(other);
    cache_clear();
    assert_str_eq(early->list[0].path, S("/d30"));
    assert_str_eq(late->list[0].path, S("/d79"));
    arena_free(arena);
    fsfs_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(whole_histories_are_served_in_both_directions),
        STOCK_TEST(who_leaves_out_more_than_he_asks_for_gets_no_run),
        STOCK_TEST(a_changed_property_is_never_served_as_it_was),
        STOCK_TEST(what_cannot_be_read_or_is_large_is_left_to_its_reader),
        STOCK_TEST(a_large_list_is_in_no_run),
        STOCK_TEST(a_list_lives_as_long_as_its_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
