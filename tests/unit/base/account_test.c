/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/account.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include <pthread.h>
#include <stdlib.h>

enum { KB = 1 << 10, MB = 1 << 20, CODE = E_RA_SVN_REQUEST_SIZE };

static struct account *account_of(size_t limit, size_t free_share)
{
    return account_new(
        &(struct account_terms){.limit = limit, .free = free_share, .code = CODE, .text = "mine"});
}

static void the_check_fails_above_the_limit_and_no_longer_below_it(void **state)
{
    struct account *a = account_of(100 * KB, 0);
    account_charge(a, 100 * KB);
    assert_ok(account_check_more(a, 0));
    assert_err(account_check_more(a, 1), CODE, "mine");
    assert_err(account_check_more(a, SIZE_MAX), CODE, "mine");
    account_charge(a, 1);
    assert_err(account_check_more(a, 0), CODE, "mine");
    account_credit(a, 2);
    assert_ok(account_check_more(a, 0));
    account_credit(a, 100 * KB - 1);
    account_close(a);
}

static void all_share_a_total_but_each_has_a_free_share(void **state)
{
    struct account *a = account_of(0, 64 * KB), *b = account_of(0, 64 * KB);
    account_set_total(MB, "all");
    account_charge(a, MB);
    assert_ok(account_check_more(a, 0));
    account_charge(b, 64 * KB);
    assert_ok(account_check_more(b, 0));
    assert_err(account_check_more(b, 128 * KB), CODE, "all");
    account_charge(b, 128 * KB);
    assert_err(account_check_more(b, 0), CODE, "all");
    assert_ok(account_check_more(a, 0)); /* who was there first goes on */
    account_credit(b, 192 * KB);
    assert_ok(account_check_more(b, 0));
    account_credit(a, MB);
    account_close(a);
    account_charge(b, MB);
    assert_ok(account_check_more(b, 0));
    account_credit(b, MB);
    account_close(b);
    assert_int_equal(account_total(), 0);
    account_set_total(0, NULL);
}

static void terms_may_change_while_it_is_in_use(void **state)
{
    struct account *a = account_of(MB, MB);
    account_charge(a, 512 * KB);
    assert_int_equal(account_total(), 0);
    account_set_terms(a, &(struct account_terms){
                             .limit = 256 * KB, .free = 64 * KB, .code = CODE, .text = "new"});
    assert_int_equal(account_total(), 448 * KB);
    assert_err(account_check_more(a, 0), CODE, "new");
    account_credit(a, 512 * KB);
    assert_int_equal(account_total(), 0);
    account_close(a);
}

/* What is charged by the things that allocate is what they give back, and counts until they do. */
static void arenas_buffers_and_maps_charge_the_account_that_was_current(void **state)
{
    struct account *a = account_of(MB, 0), *outer = account_enter(a);
    struct arena *arena = arena_new();
    struct map *map = map_new();
    struct buf buf = {0};
    account_enter(outer);
    arena_alloc(arena, 300 * KB);
    assert_ok(account_check_more(a, 700 * KB));
    assert_err(account_check_more(a, 720 * KB), CODE, NULL);
    account_enter(a);
    buf_reserve(&buf, 300 * KB);
    account_enter(outer);
    buf_reserve(&buf, 400 * KB); /* grows by what it lacks */
    assert_err(account_check_more(a, 350 * KB), CODE, NULL);
    assert_ok(account_check_more(a, 250 * KB));
    for (unsigned i = 0; i < 10000; i++)
        map_put(map, str_make((char *)&i, sizeof i), a);
    assert_err(account_check_more(a, 0), CODE, NULL); /* 16,384 slots of 32 bytes or more */
    map_free(map, NULL);
    assert_ok(account_check_more(a, 250 * KB));
    account_close(a); /* it lives until the last of them is gone */
    assert_true(account_total() >= 700 * KB);
    buf_free(&buf);
    arena_free(arena);
    assert_int_equal(account_total(), 0);
}

static void bytes_that_a_buffer_hands_on_are_charged_to_nobody(void **state)
{
    struct account *a = account_of(MB, 0), *outer = account_enter(a);
    struct buf buf = {0};
    buf_reserve(&buf, 300 * KB);
    account_enter(outer);
    assert_err(account_check_more(a, 900 * KB), CODE, NULL);
    char *bytes = buf_take(&buf);
    assert_null(buf.p);
    assert_ok(account_check_more(a, MB));
    account_close(a);
    free(bytes);
    assert_int_equal(account_total(), 0);
}

/* The cache may have let go of it long ago. */
static void an_object_counts_once_however_many_hold_it(void **state)
{
    struct account *a = account_of(0, 64 * KB), *b = account_of(0, 64 * KB);
    account_set_total(MB, "all");
    struct blob *first = blob_new(700 * KB), *second = blob_new(700 * KB);
    account_pin(a, &first->shared);
    account_pin(b, &first->shared);
    account_pin(b, &first->shared);
    assert_int_equal(account_total(), first->shared.bytes);
    assert_ok(account_check_more(a, 0));
    assert_ok(account_check_more(b, 0));
    account_unpin(a, &first->shared);
    account_unpin(b, &first->shared);
    assert_int_equal(account_total(), first->shared.bytes);
    account_pin(a, &second->shared);
    assert_err(account_check_more(a, 0), CODE, "all");
    assert_ok(account_check_more(b, 0)); /* who was there first goes on */
    account_unpin(a, &second->shared);
    assert_ok(account_check_more(a, 0));
    account_unpin(b, &first->shared);
    account_close(a);
    account_close(b);
    assert_int_equal(account_total(), 0);
    account_set_total(0, NULL);
    shared_unref(first);
    shared_unref(second);
}

struct holding {
    struct account *account;
    struct blob *blob;
};

static void *hold(void *arg)
{
    const struct holding *holding = arg;
    account_pin(holding->account, &holding->blob->shared);
    return NULL;
}

static void *let_go(void *arg)
{
    const struct holding *holding = arg;
    account_unpin(holding->account, &holding->blob->shared);
    return NULL;
}

static void in_a_thread(void *(*fn)(void *arg), struct holding *holding)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fn, holding), 0);
    pthread_join(thread, NULL);
}

/* Threads say what they hold in steps. */
static void objects_that_another_thread_lets_go_of_make_no_total_of_less_than_nothing(void **state)
{
    struct account *a = account_of(0, 0), *b = account_of(0, 0);
    account_set_total(MB, "all");
    struct holding holdings[2] = {{a, blob_new(60 * KB)}, {a, blob_new(60 * KB)}};
    for (int i = 0; i < 2; i++)
        in_a_thread(hold, &holdings[i]);
    for (int i = 0; i < 2; i++)
        let_go(&holdings[i]);
    assert_int_equal(account_total(), 0);
    account_charge(b, 8 * KB);
    assert_ok(account_check_more(b, 0));
    assert_ok(account_check_more(b, 64 * KB));
    assert_false(account_is_in_the_way(b));
    account_credit(b, 8 * KB);
    for (int i = 0; i < 2; i++) {
        hold(&holdings[i]);
        in_a_thread(let_go, &holdings[i]);
        shared_unref(holdings[i].blob);
    }
    account_close(a);
    account_close(b);
    account_set_total(0, NULL);
}

static void what_an_arena_keeps_is_held_until_it_is_rewound(void **state)
{
    struct account *a = account_of(MB, 0), *outer = account_enter(a);
    struct arena *arena = arena_new();
    account_enter(outer);
    size_t before = account_total();
    struct arena_mark mark = arena_mark(arena);
    struct blob *large = arena_keep(arena, &blob_new(300 * KB)->shared);
    assert_int_equal(account_total(), before + large->shared.bytes);
    for (unsigned i = 0; i < 10000; i++) /* small ones are charged as the arena's own bytes are */
        arena_keep(arena, &blob_new(100)->shared);
    assert_err(account_check_more(a, 0), CODE, NULL);
    arena_rewind(arena, mark);
    assert_ok(account_check_more(a, 700 * KB));
    arena_keep(arena, &blob_new(300 * KB)->shared);
    for (unsigned i = 0; i < 1000; i++)
        arena_keep(arena, &blob_new(100)->shared);
    arena_free(arena);
    account_close(a);
    assert_int_equal(account_total(), 0);
}

static void without_an_account_nothing_is_counted(void **state)
{
    struct arena *arena = arena_new();
    arena_alloc(arena, 10 * MB);
    assert_ok(account_check());
    assert_int_equal(account_total(), 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_fails_above_the_limit_and_no_longer_below_it),
        cmocka_unit_test(all_share_a_total_but_each_has_a_free_share),
        cmocka_unit_test(terms_may_change_while_it_is_in_use),
        cmocka_unit_test(arenas_buffers_and_maps_charge_the_account_that_was_current),
        cmocka_unit_test(bytes_that_a_buffer_hands_on_are_charged_to_nobody),
        cmocka_unit_test(an_object_counts_once_however_many_hold_it),
        cmocka_unit_test(objects_that_another_thread_lets_go_of_make_no_total_of_less_than_nothing),
        cmocka_unit_test(what_an_arena_keeps_is_held_until_it_is_rewound),
        cmocka_unit_test(without_an_account_nothing_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
