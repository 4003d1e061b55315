/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/account.h"
#include "base/arena.h"
#include "base/shared.h"

/* Of AddressSanitizer's run-time, where there is one. */
__attribute__((weak)) int __asan_address_is_poisoned(const volatile void *address);

static void every_piece_is_aligned_and_its_own(void **state)
{
    AUTO_ARENA(a);
    unsigned char *pieces[500];
    for (int i = 0; i < 500; i++) {
        pieces[i] = arena_alloc(a, (size_t)i * 7);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], i, (size_t)i * 7);
    }
    for (int i = 0; i < 500; i++) {
        for (int k = 0; k < i * 7; k++)
            assert_int_equal(pieces[i][k], (unsigned char)i);
    }
}

static void zeroed_memory_is_zero_even_where_it_was_used_before(void **state)
{
    AUTO_ARENA(a);
    struct arena_mark mark = arena_mark(a);
    memset(arena_alloc(a, 2000), 0xff, 2000);
    arena_rewind(a, mark);
    char *p = arena_zalloc(a, 2000);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(p[i], 0);
}

static void rewinding_gives_the_bytes_back(void **state)
{
    AUTO_ARENA(a);
    char *kept = arena_alloc(a, 100), *last = NULL;
    size_t before = arena_used(a);
    struct arena_mark mark = arena_mark(a);
    for (int i = 0; i < 50; i++)
        last = arena_alloc(a, 10000);
    assert_true(arena_used(a) >= before + 500000);
    arena_rewind(a, mark);
    assert_int_equal(arena_used(a), before);
    if (__asan_address_is_poisoned) { /* it sees what reaches too far, and what comes too late */
        assert_false(__asan_address_is_poisoned(kept + 99));
        assert_true(__asan_address_is_poisoned(kept + 100));
        assert_true(__asan_address_is_poisoned(last));
    }
}

static void marks_nest(void **state)
{
    AUTO_ARENA(a);
    struct arena_mark outer = arena_mark(a);
    char *kept = arena_cstr(a, S("kept"));
    for (int i = 0; i < 100; i++) {
        struct arena_mark inner = arena_mark(a);
        memset(arena_alloc(a, 30000), 'x', 30000);
        arena_rewind(a, inner);
    }
    assert_string_equal(kept, "kept");
    arena_rewind(a, outer);
    assert_int_equal(arena_used(a), 0);
}

static int order[8], called;

static void note(void *arg)
{
    order[called++] = *(int *)arg;
}

static void functions_are_called_newest_first_and_only_behind_the_mark(void **state)
{
    static int one = 1, two = 2, three = 3;
    called = 0;
    struct arena *a = arena_new();
    arena_on_free(a, note, &one);
    struct arena_mark mark = arena_mark(a);
    arena_on_free(a, note, &two);
    arena_on_free(a, note, &three);
    arena_rewind(a, mark);
    assert_int_equal(called, 2);
    assert_int_equal(order[0], 3);
    assert_int_equal(order[1], 2);
    arena_free(a);
    assert_int_equal(called, 3);
    assert_int_equal(order[2], 1);
}

static void a_kept_object_lives_as_long_as_the_arena(void **state)
{
    struct arena *a = arena_new();
    struct blob *blob = blob_copy(S("x"));
    shared_ref(blob);
    assert_ptr_equal(arena_keep(a, &blob->shared), blob);
    assert_int_equal(atomic_load(&blob->shared.refs), 2);
    arena_free(a);
    assert_int_equal(atomic_load(&blob->shared.refs), 1);
    shared_unref(blob);
}

static void printed_text_may_be_longer_than_what_is_left(void **state)
{
    AUTO_ARENA(a);
    char longer[10000];
    memset(longer, 'y', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_str(arena_printf(a, "%d-%s", 7, "x"), "7-x");
    struct str s = arena_printf(a, "%s", longer);
    assert_str_eq(s, str_of(longer));
    assert_int_equal(s.p[s.n], 0);
}

static void copies_end_with_a_nul(void **state)
{
    AUTO_ARENA(a);
    struct str s = arena_str(a, S("a\0b"));
    assert_str(s, "a\0b");
    assert_int_equal(s.p[3], 0);
    assert_string_equal(arena_cstr(a, S("")), "");
}

static void the_check_fails_once_more_than_the_limit_is_used(void **state)
{
    struct account *account = account_new(&(struct account_terms){
        .limit = 40000, .code = E_RA_SVN_REQUEST_SIZE, .text = "request too large"});
    struct account *outer = account_enter(account);
    struct arena *a = arena_new();
    account_enter(outer);
    struct arena_mark mark = arena_mark(a);
    arena_alloc(a, 30000);
    assert_ok(arena_check(a, 5000));
    assert_err(arena_check(a, 10000), E_RA_SVN_REQUEST_SIZE, "request too large");
    arena_alloc(a, 10000);
    assert_err(arena_check(a, 0), E_RA_SVN_REQUEST_SIZE, "request too large");
    arena_rewind(a, mark);
    arena_trim(a);
    assert_ok(arena_check(a, 30000));
    account_close(account);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_is_aligned_and_its_own),
        cmocka_unit_test(zeroed_memory_is_zero_even_where_it_was_used_before),
        cmocka_unit_test(rewinding_gives_the_bytes_back),
        cmocka_unit_test(marks_nest),
        cmocka_unit_test(functions_are_called_newest_first_and_only_behind_the_mark),
        cmocka_unit_test(a_kept_object_lives_as_long_as_the_arena),
        cmocka_unit_test(printed_text_may_be_longer_than_what_is_left),
        cmocka_unit_test(copies_end_with_a_nul),
        cmocka_unit_test(the_check_fails_once_more_than_the_limit_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
