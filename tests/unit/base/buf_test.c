/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/buf.h"

static void a_buffer_keeps_what_was_added_in_order(void **state)
{
    AUTO_BUF(b);
    buf_cstr(&b, "ab");
    buf_char(&b, 'c');
    buf_str(&b, S("de"));
    buf_add(&b, NULL, 0);
    buf_u64(&b, UINT64_MAX);
    buf_hex(&b, "\x00\xaf", 2);
    assert_str(buf_view(&b), "abcde1844674407370955161500af");
}

static void printing_works_across_a_growth(void **state)
{
    AUTO_BUF(b);
    char want[3000] = "";
    for (int i = 0; i < 200; i++) {
        buf_printf(&b, "%d,", i);
        sprintf(want + strlen(want), "%d,", i);
    }
    assert_str_eq(buf_view(&b), str_of(want));
}

static void printing_nothing_leaves_the_buffer_as_it_is(void **state)
{
    AUTO_BUF(b);
    buf_printf(&b, "%s", "");
    assert_int_equal(b.n, 0);
}

static void growing_appends_room_and_says_where(void **state)
{
    AUTO_BUF(b);
    buf_cstr(&b, "x");
    memcpy(buf_grow(&b, 1000), "yz", 2);
    assert_int_equal(b.n, 1001);
    assert_memory_equal(b.p, "xyz", 3);
}

static void clearing_keeps_the_memory(void **state)
{
    AUTO_BUF(b);
    buf_reserve(&b, 5000);
    char *p = b.p;
    buf_cstr(&b, "abc");
    buf_clear(&b);
    assert_int_equal(b.n, 0);
    buf_reserve(&b, 5000);
    assert_ptr_equal(b.p, p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_keeps_what_was_added_in_order),
        cmocka_unit_test(printing_works_across_a_growth),
        cmocka_unit_test(printing_nothing_leaves_the_buffer_as_it_is),
        cmocka_unit_test(growing_appends_room_and_says_where),
        cmocka_unit_test(clearing_keeps_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
