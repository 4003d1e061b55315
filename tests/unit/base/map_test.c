/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/hash.h"
#include "base/map.h"
#include <stdlib.h>

static void *number(uintptr_t n)
{
    return (void *)n;
}

static struct str key_of(char space[32], int n)
{
    return str_make(space, (size_t)snprintf(space, 32, "key-%d-%d", n % 7, n));
}

static void what_was_put_is_found(void **state)
{
    struct map *map = map_new();
    assert_null(map_get(map, S("a")));
    assert_null(map_put(map, S("a"), number(1)));
    assert_null(map_put(map, S(""), number(2)));
    assert_null(map_put(map, S("a\0b"), number(3)));
    assert_ptr_equal(map_get(map, S("a")), number(1));
    assert_ptr_equal(map_get(map, S("")), number(2));
    assert_ptr_equal(map_get(map, S("a\0b")), number(3));
    assert_int_equal(map_count(map), 3);
    map_free(map, NULL);
}

static void putting_again_replaces_and_returns_the_old_value(void **state)
{
    struct map *map = map_new();
    map_put(map, S("k"), number(1));
    assert_ptr_equal(map_put(map, S("k"), number(2)), number(1));
    assert_ptr_equal(map_get(map, S("k")), number(2));
    assert_int_equal(map_count(map), 1);
    map_free(map, NULL);
}

static void keys_are_copied(void **state)
{
    struct map *map = map_new();
    char key[] = "abc";
    map_put(map, str_of(key), number(1));
    key[0] = 'x';
    assert_non_null(map_get(map, S("abc")));
    assert_null(map_get(map, S("xbc")));
    map_free(map, NULL);
}

/* Against a plain array: 40,000 random puts and removals of 3,000 keys. */
static void a_map_agrees_with_an_array_through_puts_and_removals(void **state)
{
    static uintptr_t model[3000];
    struct map *map = map_new();
    size_t count = 0;
    unsigned seed = 7;
    char space[32];
    for (int step = 0; step < 40000; step++) {
        seed = seed * 1103515245 + 12345;
        int n = (int)(seed >> 8) % 3000;
        struct str key = key_of(space, n);
        if (seed >> 30) {
            uintptr_t value = (uintptr_t)step + 1;
            assert_ptr_equal(map_put(map, key, number(value)), number(model[n]));
            count += !model[n];
            model[n] = value;
        } else {
            assert_ptr_equal(map_remove(map, key), number(model[n]));
            count -= model[n] != 0;
            model[n] = 0;
        }
        assert_int_equal(map_count(map), count);
    }
    for (int n = 0; n < 3000; n++)
        assert_ptr_equal(map_get(map, key_of(space, n)), number(model[n]));
    map_free(map, NULL);
}

static void keys_survive_when_many_others_were_removed(void **state)
{
    struct map *map = map_new();
    map_put(map, S("stays"), number(9));
    char space[32];
    for (int n = 0; n < 20000; n++) {
        map_put(map, key_of(space, n), number(1));
        map_remove(map, key_of(space, n));
    }
    assert_ptr_equal(map_get(map, S("stays")), number(9));
    assert_int_equal(map_count(map), 1);
    map_free(map, NULL);
}

static void a_cursor_sees_each_entry_once(void **state)
{
    struct map *map = map_new();
    bool seen[500] = {false};
    char space[32];
    for (int n = 0; n < 500; n++)
        map_put(map, key_of(space, n), &seen[n]);
    struct str key;
    void *value;
    int count = 0;
    for (size_t pos = 0; map_next(map, &pos, &key, &value); count++) {
        assert_false(*(bool *)value);
        *(bool *)value = true;
        assert_ptr_equal(map_get(map, key), value);
    }
    assert_int_equal(count, 500);
    map_free(map, NULL);
}

static void sorted_keys_come_in_byte_order(void **state)
{
    AUTO_ARENA(a);
    struct map *map = map_new();
    const char *names[] = {"b", "a", "\xc3\xa4", "ab", "", "B"};
    const char *sorted[] = {"", "B", "a", "ab", "b", "\xc3\xa4"};
    for (int i = 0; i < 6; i++)
        map_put(map, str_of(names[i]), number(1));
    size_t n;
    struct str *keys = map_sorted(map, &n, a);
    assert_int_equal(n, 6);
    for (int i = 0; i < 6; i++)
        assert_str_eq(keys[i], str_of(sorted[i]));
    map_free(map, NULL);
}

static void values_are_freed_with_the_map(void **state)
{
    struct map *map = map_new();
    map_put(map, S("a"), malloc(10));
    map_put(map, S("b"), malloc(10));
    free(map_remove(map, S("a")));
    map_free(map, free);
    map_free(NULL, NULL);
}

static void hashes_of_similar_keys_spread(void **state)
{
    enum { BUCKETS = 256, KEYS = 25600 };
    static unsigned buckets[BUCKETS], high[BUCKETS];
    char space[32];
    for (int n = 0; n < KEYS; n++) {
        uint64_t hash = hash_bytes(key_of(space, n));
        buckets[hash % BUCKETS]++;
        high[hash >> 56]++;
    }
    /* 100 expected with a deviation of 10: six deviations off is one chance in 10^8. */
    for (int i = 0; i < BUCKETS; i++) {
        assert_in_range(buckets[i], 40, 160);
        assert_in_range(high[i], 40, 160);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found),
        cmocka_unit_test(putting_again_replaces_and_returns_the_old_value),
        cmocka_unit_test(keys_are_copied),
        cmocka_unit_test(a_map_agrees_with_an_array_through_puts_and_removals),
        cmocka_unit_test(keys_survive_when_many_others_were_removed),
        cmocka_unit_test(a_cursor_sees_each_entry_once),
        cmocka_unit_test(sorted_keys_come_in_byte_order),
        cmocka_unit_test(values_are_freed_with_the_map),
        cmocka_unit_test(hashes_of_similar_keys_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
