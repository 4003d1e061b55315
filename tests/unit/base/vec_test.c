/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/vec.h"

enum { COUNT = 1000 };

#define FILL(vec, add)                                                                             \
    for (size_t i = 0; i < COUNT; i++)                                                             \
    *(add) = i * i
#define ASSERT_FILLED(vec)                                                                         \
    assert_int_equal((vec)->n, COUNT);                                                             \
    for (size_t i = 0; i < COUNT; i++)                                                             \
    assert_int_equal((vec)->list[i], i *i)

static void elements_stay_while_the_array_grows(void **state)
{
    VEC(size_t) vec = {0};
    FILL(&vec, VEC_ADD(&vec));
    ASSERT_FILLED(&vec);
    assert_true(vec.cap >= COUNT && vec.cap < 4 * COUNT);
    free(vec.list);
}

static void in_an_arena_too(void **state)
{
    AUTO_ARENA(arena);
    VEC(size_t) vec = {0};
    FILL(&vec, VEC_ADD_IN(&vec, arena));
    ASSERT_FILLED(&vec);
    assert_true(arena_used(arena) >= vec.cap * sizeof *vec.list);
}

static void an_account_pays_for_all_of_it_and_gets_it_back(void **state)
{
    struct account *account = account_new(
        &(struct account_terms){.limit = 1 << 20, .code = E_INCORRECT_PARAMS, .text = "full"});
    VEC(size_t) vec = {0};
    FILL(&vec, VEC_ADD_FOR(&vec, account));
    ASSERT_FILLED(&vec);
    const size_t taken = vec.cap * sizeof *vec.list;
    assert_ok(account_check_more(account, (1 << 20) - taken));
    assert_err(account_check_more(account, (1 << 20) - taken + 1), E_INCORRECT_PARAMS, "full");
    VEC_RELEASE(&vec, account);
    assert_ok(account_check_more(account, 1 << 20));
    account_close(account);
}

static void the_first_elements_may_lie_inside(void **state)
{
    size_t inside[4];
    struct {
        size_t *list;
        size_t n, cap;
    } vec = {inside, 0, 4};
    for (size_t i = 0; i < 4; i++)
        *VEC_ADD_FROM(&vec, inside) = i * i;
    assert_ptr_equal(vec.list, inside);
    for (size_t i = 4; i < COUNT; i++)
        *VEC_ADD_FROM(&vec, inside) = i * i;
    assert_ptr_not_equal(vec.list, inside);
    ASSERT_FILLED(&vec);
    VEC_FREE_FROM(&vec, inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stay_while_the_array_grows),
        cmocka_unit_test(in_an_arena_too),
        cmocka_unit_test(an_account_pays_for_all_of_it_and_gets_it_back),
        cmocka_unit_test(the_first_elements_may_lie_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
