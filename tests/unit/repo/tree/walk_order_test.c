/* SPDX-License-Identifier: Apache-2.0 */
/* The orders below are those in which svnadmin 1.14.2 dumps folders that hold these names. */
#include "../../testing.h"
#include "repo/tree/walk_order.h"
#include <stdlib.h>

static const char *const few[] = {
    "a", "aa", "b", "main.c", "README", "branches", "lib", "tags", "src", "trunk", "z", "Makefile",
};

static const char *const as_full_as_the_first_table_gets[] = {
    "n02", "n11", "n03", "n12", "n04", "n13", "n05", "n14",
    "n06", "n07", "n08", "n09", "n00", "n01", "n10",
};

static const char *const one_more[] = {
    "n00", "n10", "n01", "n11", "n02", "n12", "n03", "n13",
    "n04", "n14", "n05", "n15", "n06", "n07", "n08", "n09",
};

static const char *const many[] = {
    "file-33.txt", "file-32.txt", "file-23.txt", "file-12.txt", "file-13.txt", "file-22.txt",
    "file-37.txt", "file-36.txt", "file-27.txt", "file-26.txt", "file-16.txt", "file-17.txt",
    "file-3.txt",  "file-0.txt",  "file-1.txt",  "file-2.txt",  "file-4.txt",  "file-5.txt",
    "file-6.txt",  "file-7.txt",  "file-8.txt",  "file-9.txt",  "file-31.txt", "file-30.txt",
    "file-10.txt", "file-11.txt", "file-20.txt", "file-21.txt", "file-35.txt", "file-34.txt",
    "file-25.txt", "file-24.txt", "file-14.txt", "file-15.txt", "file-29.txt", "file-28.txt",
    "file-18.txt", "file-19.txt", "file-38.txt", "file-39.txt",
};

static const char *const beyond_ascii[] = {
    "日本", "a b", "~x", "+", "é", "é2", "café", "x.y", "ü",
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct dirent_fs *)a)->name.p, ((const struct dirent_fs *)b)->name.p);
}

static void check(const char *const *wanted, size_t n)
{
    AUTO_ARENA(arena);
    struct dirent_fs *list = arena_zalloc(arena, n * sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i].name = str_of(wanted[i]);
    qsort(list, n, sizeof *list, by_name);
    const struct dirent_fs **order = walk_order(list, n, arena);
    for (size_t i = 0; i < n; i++)
        assert_str_eq(order[i]->name, str_of(wanted[i]));
}
#define CHECK(names) check(names, sizeof names / sizeof *names)

static void a_few_names_come_in_the_order_of_their_hashes(void **state)
{
    CHECK(few);
    CHECK(beyond_ascii);
}

static void the_table_grows_with_the_sixteenth_name(void **state)
{
    CHECK(as_full_as_the_first_table_gets);
    CHECK(one_more);
}

static void chains_turn_around_when_the_table_grows(void **state)
{
    CHECK(many);
}

static void an_empty_folder_has_an_order(void **state)
{
    AUTO_ARENA(arena);
    assert_non_null(walk_order(NULL, 0, arena));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_names_come_in_the_order_of_their_hashes),
        cmocka_unit_test(the_table_grows_with_the_sixteenth_name),
        cmocka_unit_test(chains_turn_around_when_the_table_grows),
        cmocka_unit_test(an_empty_folder_has_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
