/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include <errno.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/wait.h>

static const char *const lock_files[] = {"txn-current-lock", "pack-lock", "write-lock"};

static bool flock_is_free(struct fixture *fix, const char *name)
{
    int fd = open(at(fix, name), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    bool is_free = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return is_free;
}

/* A classic record lock never conflicts with one of the own process: ask from another. */
static bool fcntl_is_free(struct fixture *fix, const char *name)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(at(fix, name), O_RDWR | O_CLOEXEC);
        _exit(fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 1;
}

static void each_lease_holds_both_kinds_of_lock(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    for (enum lease_kind kind = LEASE_TXN_CURRENT; kind < LEASE_KINDS; kind++) {
        for (int round = 0; round < 2; round++) {
            assert_ok(lease_take(store, kind));
            assert_false(flock_is_free(fix, lock_files[kind]));
            assert_false(fcntl_is_free(fix, lock_files[kind]));
            lease_drop(store, kind);
            assert_true(flock_is_free(fix, lock_files[kind]));
            assert_true(fcntl_is_free(fix, lock_files[kind]));
        }
    }
    store_close(store);
}

static void a_missing_lock_file_is_made(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    assert_false(is_there(fix, "pack-lock"));
    assert_ok(lease_take(store, LEASE_PACK));
    assert_int_equal(mode_of(fix, "pack-lock"), 0644);
    lease_drop(store, LEASE_PACK);
    store_close(store);
}

static void a_record_lock_outlives_other_descriptors_of_the_file(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    assert_ok(lease_take(store, LEASE_WRITE));
    assert_false(flock_is_free(fix, "write-lock")); /* opens and closes the file */
    assert_false(fcntl_is_free(fix, "write-lock"));
    lease_drop(store, LEASE_WRITE);
    store_close(store);
}

static void a_lease_without_a_repository_names_it(void **state)
{
    struct fixture *fix = *state;
    struct store *store = open_store(fix);
    assert_err(lease_take(store, LEASE_WRITE), ENOENT, fix->db);
    assert_ok(store_create(store));
    assert_ok(lease_take(store, LEASE_WRITE)); /* the failure holds nothing */
    lease_drop(store, LEASE_WRITE);
    store_close(store);
}

/* ---- contention: everybody adds to one counter file without care of his own ---- */

enum { ROUNDS = 50 };

static void count_up(struct fixture *fix, struct store *store)
{
    for (int i = 0; i < ROUNDS; i++) {
        char text[32] = "";
        assert_ok(lease_take(store, LEASE_WRITE));
        int fd = open(at(fix, "counter"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        assert_true(fd >= 0 && pread(fd, text, sizeof(text) - 1, 0) >= 0);
        if (i % 8 == 0)
            usleep(300);
        int n = snprintf(text, sizeof(text), "%d", atoi(text) + 1);
        assert_int_equal(pwrite(fd, text, (size_t)n, 0), n);
        close(fd);
        lease_drop(store, LEASE_WRITE);
    }
}

static void processes_exclude_each_other(void **state)
{
    struct fixture *fix = *state;
    store_close(new_store(fix, 0));
    enum { CHILDREN = 3 };
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct store *store = open_store(fix);
            count_up(fix, store);
            store_close(store);
            _exit(0);
        }
    }
    struct store *store = open_store(fix);
    count_up(fix, store);
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(atoi(arena_cstr(fix->arena, content(fix, "counter"))),
                     ROUNDS * (CHILDREN + 1));
    store_close(store);
}

struct counting {
    struct fixture *fix;
    struct store *store;
    pthread_t thread;
};

static void *count_in_thread(void *arg)
{
    struct counting *c = arg;
    struct fixture own = *c->fix; /* an arena belongs to one thread */
    own.arena = arena_new();
    count_up(&own, c->store);
    arena_free(own.arena);
    return NULL;
}

/* Two threads on one store, two on another of the same repository. */
static void threads_and_stores_exclude_each_other(void **state)
{
    struct fixture *fix = *state;
    struct store *stores[] = {new_store(fix, 0), open_store(fix)};
    struct counting counting[4];
    for (int i = 0; i < 4; i++) {
        counting[i] = (struct counting){.fix = fix, .store = stores[i % 2]};
        assert_int_equal(pthread_create(&counting[i].thread, NULL, count_in_thread, &counting[i]),
                         0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(counting[i].thread, NULL);
    assert_int_equal(atoi(arena_cstr(fix->arena, content(fix, "counter"))), ROUNDS * 4);
    store_close(stores[0]);
    store_close(stores[1]);
}

static void the_death_of_the_holder_frees_the_lease(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    int pipe_fds[2], status;
    char byte;
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        struct store *own = open_store(fix);
        assert_ok(lease_take(own, LEASE_WRITE));
        _exit(write(pipe_fds[1], "x", 1) != 1);
    }
    assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
    assert_ok(lease_take(store, LEASE_WRITE));
    assert_int_equal(waitpid(child, &status, 0), child);
    lease_drop(store, LEASE_WRITE);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(each_lease_holds_both_kinds_of_lock),
        STORE_TEST(a_missing_lock_file_is_made),
        STORE_TEST(a_record_lock_outlives_other_descriptors_of_the_file),
        STORE_TEST(a_lease_without_a_repository_names_it),
        STORE_TEST(processes_exclude_each_other),
        STORE_TEST(threads_and_stores_exclude_each_other),
        STORE_TEST(the_death_of_the_holder_frees_the_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
