/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"
#include "fixture.h"
#include <pthread.h>

static void *look_for_revision_2(void *arg)
{
    struct store *store = arg;
    AUTO_ARENA(arena);
    struct body *body;
    struct err *err = store_body(&body, store, 2, arena);
    bool hidden = err_has(err, E_FS_NO_SUCH_REVISION);
    err_free(err);
    return hidden ? arg : NULL;
}

static void a_lent_revision_is_there_for_the_lender_only(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    struct draft *draft = draft_of(store, S("in the making"));
    pthread_t other;
    void *hidden;
    struct body *body;
    char part[7] = "";
    store_lend(store, 2, draft);
    assert_str(body_content(store, 2, fix->arena), "in the making");
    assert_ok(store_body(&body, store, 2, fix->arena));
    body_prefetch(body, &(struct span){0, 6, NULL}, 1);
    assert_ok(body_read(body, &(struct span){7, 6, part}, 1));
    assert_string_equal(part, "making");
    assert_err(body_read(body, &(struct span){7, 7, part}, 1), E_FS_CORRUPT, NULL);
    assert_str(body_name(body, fix->arena), "revs/0/2");
    assert_int_equal(pthread_create(&other, NULL, look_for_revision_2, store), 0);
    pthread_join(other, &hidden);
    assert_ptr_equal(hidden, store);
    store_unlend(store);
    assert_ptr_equal(look_for_revision_2(store), store);
    assert_ok(publish_now(store, &(struct publication){2, draft, S("p")}, 1));
    draft_drop(draft);
    assert_str(body_content(store, 2, fix->arena), "in the making");
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_lent_revision_is_there_for_the_lender_only),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
