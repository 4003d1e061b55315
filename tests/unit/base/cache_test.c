/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/cache.h"
#include <pthread.h>

static const size_t MIB = 1 << 20;

static struct cache_key key_of(uint64_t n)
{
    return (struct cache_key){.space = 1, .kind = 2, .a = n};
}

static void put_text(struct cache_key key, struct str text)
{
    struct blob *blob = blob_copy(text);
    cache_put(key, &blob->shared);
    shared_unref(blob);
}

static void put_bytes(uint64_t n, size_t size)
{
    struct blob *blob = blob_new(size);
    memset(blob->bytes, (int)n, size);
    cache_put(key_of(n), &blob->shared);
    shared_unref(blob);
}

/* N as bytes of a file. */
static void put_block(uint64_t n, size_t size)
{
    struct blob *blob = blob_new(size);
    cache_put_bytes(key_of(n), &blob->shared);
    shared_unref(blob);
}

static bool has(uint64_t n)
{
    AUTO_ARENA(a);
    return cache_get(key_of(n), a) != NULL;
}

static int set_up(void **state)
{
    cache_clear();
    cache_set_limit(16 * MIB);
    return 0;
}

static void every_part_of_a_key_counts(void **state)
{
    AUTO_ARENA(a);
    struct cache_key keys[] = {
        {1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}};
    const char *texts[] = {"a", "b", "c", "d", "e"};
    for (int i = 0; i < 5; i++)
        put_text(keys[i], str_of(texts[i]));
    for (int i = 0; i < 5; i++)
        assert_str_eq(blob_str(cache_get(keys[i], a)), str_of(texts[i]));
    assert_null(cache_get((struct cache_key){2, 2, 2, 2}, a));
}

static void an_object_outlives_its_eviction_while_an_arena_holds_it(void **state)
{
    struct arena *a = arena_new();
    put_text(key_of(1), S("kept"));
    struct blob *blob = cache_get(key_of(1), a);
    cache_clear();
    assert_false(has(1));
    assert_str(blob_str(blob), "kept");
    arena_free(a);
}

static void a_second_put_takes_the_place_of_the_first(void **state)
{
    AUTO_ARENA(a);
    struct cache_stats stats;
    put_text(key_of(1), S("old"));
    put_text(key_of(1), S("new"));
    assert_str(blob_str(cache_get(key_of(1), a)), "new");
    cache_stats(&stats);
    assert_int_equal(stats.objects, 1);
}

static void a_removed_object_is_gone(void **state)
{
    put_text(key_of(1), S("x"));
    cache_remove(key_of(1));
    cache_remove(key_of(2));
    assert_false(has(1));
}

static void the_limit_is_never_passed(void **state)
{
    struct cache_stats stats;
    for (uint64_t n = 0; n < 5000; n++) {
        (n % 5 ? put_bytes : put_block)(n, 1000 + n % 7 * 3000);
        if (n % 3 == 0)
            has(n / 2);
        cache_stats(&stats);
        assert_true(stats.bytes <= 16 * MIB);
    }
    assert_true(stats.bytes > 12 * MIB); /* and the room is used */
    cache_set_limit(2 * MIB);
    cache_stats(&stats);
    assert_true(stats.bytes <= 2 * MIB);
    assert_int_equal(cache_limit(), 2 * MIB);
}

static void what_is_too_large_is_declined(void **state)
{
    put_bytes(1, 16 * MIB);
    assert_false(has(1));
    cache_set_limit(0);
    put_bytes(2, 10);
    assert_false(has(2));
}

static void what_is_asked_for_survives_a_scan(void **state)
{
    enum { HOT = 100, SCAN = 20000, SIZE = 4000 };
    for (uint64_t n = 0; n < HOT; n++) {
        put_bytes(n, SIZE);
        has(n);
        has(n);
    }
    for (uint64_t n = HOT; n < HOT + SCAN; n++) { /* 80 MB through a cache of 16 */
        put_bytes(n, SIZE);
        has(n);
    }
    int left = 0;
    for (uint64_t n = 0; n < HOT; n++)
        left += has(n);
    assert_int_equal(left, HOT);
}

/* Asked for once a round only, it leaves the small queue; put again soon, it must then outlast any
 * scan. */
static void who_comes_back_soon_stays(void **state)
{
    enum { SIZE = 4000, ROUND = 1000 };
    uint64_t next = 1000;
    put_bytes(1, SIZE);
    for (int i = 0; i < ROUND; i++) /* 4 MB pass through small queues of 1.6 MB */
        put_bytes(next++, SIZE);
    for (int i = 0; i < 20; i++) {
        if (has(1))
            continue;
        put_bytes(1, SIZE);
        for (int k = 0; k < ROUND / 4; k++)
            put_bytes(next++, SIZE);
    }
    assert_true(has(1));
}

static void bytes_of_files_stay_only_where_they_are_asked_for_again_and_again(void **state)
{
    enum { BLOCKS = 400, SIZE = 10000, OFTEN = 10 };
    struct cache_stats stats;
    put_bytes(BLOCKS, SIZE);                /* no such bytes, and not asked for */
    for (uint64_t n = 0; n < BLOCKS; n++) { /* 4 MB, which there would be room for */
        put_block(n, SIZE);
        has(n);
        has(n);
        if (n < OFTEN)
            has(n);
    }
    cache_stats(&stats);
    assert_in_range(stats.bytes, MIB / 2, 16 * MIB / 16 + (OFTEN + 1 + 16) * (SIZE + 200));
    for (uint64_t n = 0; n < OFTEN; n++)
        assert_true(has(n));
    assert_true(has(BLOCKS));
    assert_true(has(BLOCKS - 1));
    assert_false(has(OFTEN));
}

static void names_have_one_number_each(void **state)
{
    uint32_t a = cache_space(S("uuid-1 /srv/a")), b = cache_space(S("uuid-1 /srv/b"));
    assert_int_not_equal(a, b);
    assert_int_equal(cache_space(S("uuid-1 /srv/a")), a);
    assert_int_not_equal(a, 0);
}

static void hits_and_misses_are_counted(void **state)
{
    struct cache_stats before, after;
    cache_stats(&before);
    put_bytes(1, 10);
    has(1);
    has(1);
    has(2);
    cache_stats(&after);
    assert_int_equal(after.hits - before.hits, 2);
    assert_int_equal(after.misses - before.misses, 1);
    assert_int_equal(after.puts - before.puts, 1);
}

static void *worker(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245 + 12345;
        uint64_t n = seed >> 8 & 1023;
        AUTO_ARENA(a);
        struct blob *blob = cache_get(key_of(n), a);
        if (!blob)
            put_bytes(n, 100 + n * 20);
        else if (blob->n != 100 + n * 20 || (unsigned char)blob->bytes[0] != (unsigned char)n)
            return "a wrong object";
        if (i % 1000 == 0)
            cache_remove(key_of(n));
    }
    return NULL;
}

static void threads_get_whole_objects(void **state)
{
    cache_set_limit(4 * MIB);
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < 4; i++) {
        void *complaint;
        pthread_join(threads[i], &complaint);
        assert_null(complaint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_part_of_a_key_counts, set_up),
        cmocka_unit_test_setup(an_object_outlives_its_eviction_while_an_arena_holds_it, set_up),
        cmocka_unit_test_setup(a_second_put_takes_the_place_of_the_first, set_up),
        cmocka_unit_test_setup(a_removed_object_is_gone, set_up),
        cmocka_unit_test_setup(the_limit_is_never_passed, set_up),
        cmocka_unit_test_setup(what_is_too_large_is_declined, set_up),
        cmocka_unit_test_setup(what_is_asked_for_survives_a_scan, set_up),
        cmocka_unit_test_setup(who_comes_back_soon_stays, set_up),
        cmocka_unit_test_setup(bytes_of_files_stay_only_where_they_are_asked_for_again_and_again,
                               set_up),
        cmocka_unit_test_setup(names_have_one_number_each, set_up),
        cmocka_unit_test_setup(hits_and_misses_are_counted, set_up),
        cmocka_unit_test_setup(threads_get_whole_objects, set_up),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cache_clear();
    return failed;
}
