/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/shared.h"
#include <pthread.h>

static int destroyed;

static void count_destroy(struct shared *self)
{
    destroyed++;
}

static void an_object_is_destroyed_with_its_last_reference(void **state)
{
    struct shared object;
    destroyed = 0;
    shared_init(&object, sizeof object, count_destroy);
    assert_ptr_equal(shared_ref(&object), &object);
    shared_unref(&object);
    assert_int_equal(destroyed, 0);
    shared_unref(&object);
    assert_int_equal(destroyed, 1);
    shared_unref(NULL);
}

static void *hammer(void *object)
{
    for (int i = 0; i < 20000; i++) {
        shared_ref(object);
        shared_unref(object);
    }
    shared_unref(object);
    return NULL;
}

static void threads_may_count_at_the_same_time(void **state)
{
    struct shared object;
    pthread_t threads[4];
    destroyed = 0;
    shared_init(&object, sizeof object, count_destroy);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, hammer, shared_ref(&object));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&object.refs), 1);
    assert_int_equal(destroyed, 0);
}

static void a_blob_holds_its_bytes_and_a_nul_behind(void **state)
{
    struct blob *blob = blob_copy(S("a\0b"));
    assert_str(blob_str(blob), "a\0b");
    assert_int_equal(blob->bytes[3], 0);
    assert_true(blob->shared.bytes >= 3);
    shared_unref(blob);
    blob = blob_copy(S(""));
    assert_str(blob_str(blob), "");
    shared_unref(blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_is_destroyed_with_its_last_reference),
        cmocka_unit_test(threads_may_count_at_the_same_time),
        cmocka_unit_test(a_blob_holds_its_bytes_and_a_nul_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
