/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/thread.h"
#include <semaphore.h>
#include <stdatomic.h>

static struct err *add_one(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
    return NULL;
}

static struct err *give_error(void *arg)
{
    return err_make(E_FS_CORRUPT, "argument %d", *(int *)arg);
}

static void a_task_has_run_when_the_wait_returns(void **state)
{
    atomic_int n = 0;
    struct task tasks[100];
    for (int i = 0; i < 100; i++) {
        tasks[i] = (struct task){.run = add_one, .arg = &n};
        task_start(&tasks[i]);
    }
    for (int i = 99; i >= 0; i--) {
        assert_ok(task_wait(&tasks[i]));
        assert_true(task_done(&tasks[i]));
    }
    assert_int_equal(n, 100);
}

static void the_error_of_a_task_comes_from_the_wait(void **state)
{
    int five = 5;
    struct task task = {.run = give_error, .arg = &five};
    task_start(&task);
    assert_err(task_wait(&task), E_FS_CORRUPT, "argument 5");
}

static void a_batch_runs_every_argument_once(void **state)
{
    static atomic_int counts[1000];
    void *args[1000];
    for (int i = 0; i < 1000; i++)
        args[i] = &counts[i];
    assert_ok(tasks_run(add_one, args, 1000));
    for (int i = 0; i < 1000; i++)
        assert_int_equal(counts[i], 1);
    assert_ok(tasks_run(add_one, args, 0));
    assert_ok(tasks_run(add_one, args, 1));
    assert_int_equal(counts[0], 2);
}

static struct err *fail_at_odd(void *arg)
{
    return *(int *)arg % 2 ? give_error(arg) : NULL;
}

static void the_error_of_the_first_argument_wins(void **state)
{
    int numbers[200];
    void *args[200];
    for (int i = 0; i < 200; i++) {
        numbers[i] = i + 10;
        args[i] = &numbers[i];
    }
    assert_err(tasks_run(fail_at_odd, args, 200), E_FS_CORRUPT, "argument 11");
}

static sem_t meeting[2];

/* Each says that it is here and waits for the other: they must run at the same moment. */
static struct err *meet(void *arg)
{
    int me = *(int *)arg;
    sem_post(&meeting[me]);
    sem_wait(&meeting[!me]);
    return NULL;
}

static void at_least_two_tasks_run_at_the_same_time(void **state)
{
    int first = 0, second = 1;
    sem_init(&meeting[0], 0, 0);
    sem_init(&meeting[1], 0, 0);
    struct task a = {.run = meet, .arg = &first}, b = {.run = meet, .arg = &second};
    task_start(&a);
    task_start(&b);
    assert_ok(task_wait(&a));
    assert_ok(task_wait(&b));
}

static struct err *inner_batch(void *arg)
{
    void *args[8];
    for (int i = 0; i < 8; i++)
        args[i] = arg;
    return tasks_run(add_one, args, 8);
}

static void a_batch_within_a_batch_ends(void **state)
{
    atomic_int n = 0;
    void *args[20];
    for (int i = 0; i < 20; i++)
        args[i] = &n;
    assert_ok(tasks_run(inner_batch, args, 20));
    assert_int_equal(n, 160);
}

static void the_pool_starts_again_after_a_shutdown(void **state)
{
    atomic_int n = 0;
    tasks_shutdown();
    struct task task = {.run = add_one, .arg = &n};
    task_start(&task);
    assert_ok(task_wait(&task));
    assert_int_equal(n, 1);
    tasks_shutdown();
    tasks_shutdown();
}

static void the_machine_has_a_processor_and_memory(void **state)
{
    assert_true(cpu_count() >= 1);
    assert_true(memory_size() >= 64 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_has_run_when_the_wait_returns),
        cmocka_unit_test(the_error_of_a_task_comes_from_the_wait),
        cmocka_unit_test(a_batch_runs_every_argument_once),
        cmocka_unit_test(the_error_of_the_first_argument_wins),
        cmocka_unit_test(at_least_two_tasks_run_at_the_same_time),
        cmocka_unit_test(a_batch_within_a_batch_ends),
        cmocka_unit_test(the_pool_starts_again_after_a_shutdown),
        cmocka_unit_test(the_machine_has_a_processor_and_memory),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
