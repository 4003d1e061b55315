/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"
#include "fixture.h"
#include <errno.h>
#include <sys/resource.h>

/* Do by hand what a pack of shard SHARD in another process does, up to STEP: 1 the pack is there, 2
 * min-unpacked-rev says so, 3 the loose files are gone. */
static void pack_elsewhere(struct fixture *fix, int shard, int step)
{
    const char *folder = arena_printf(fix->arena, "revs/%d.pack", shard).p;
    if (step == 1) {
        assert_int_equal(mkdir(at(fix, folder), 0755), 0);
        put_content(fix, arena_printf(fix->arena, "%s/pack", folder).p, "012345678");
        put_content(fix, arena_printf(fix->arena, "%s/manifest", folder).p, "0\n3\n6\n");
    } else if (step == 2) {
        put_content(fix, "min-unpacked-rev", arena_printf(fix->arena, "%d\n", 3 * shard + 3).p);
    } else {
        for (int i = 0; i < 3; i++)
            unlink(at(fix, arena_printf(fix->arena, "revs/%d/%d", shard, 3 * shard + i).p));
        assert_int_equal(rmdir(at(fix, arena_printf(fix->arena, "revs/%d", shard).p)), 0);
    }
}

static void a_body_is_found_read_and_named(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 4);
    struct body *body;
    assert_ok(store_body(&body, store, 4, fix->arena));
    assert_int_equal(body->first_rev, 4);
    assert_false(body->packed);
    assert_int_equal(body->size, strlen("the body of revision 4"));
    assert_str(body_name(body, fix->arena), "revs/1/4");
    assert_whole(store, 4);
    store_close(store);
}

static void spans_are_read_wherever_they_are(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    struct body *body;
    char a[4] = "", b[5] = "", c[9] = "", d[2] = "";
    assert_ok(store_body(&body, store, 0, fix->arena));
    /* "the body of revision 0": adjacent, empty, backward and single spans */
    const struct span spans[] = {{0, 3, a}, {3, 0, NULL}, {3, 4, b}, {12, 8, c}, {21, 1, d}};
    assert_ok(body_read(body, spans, 5));
    assert_string_equal(a, "the");
    assert_string_equal(b, " bod");
    assert_string_equal(c, "revision");
    assert_string_equal(d, "0");
    store_close(store);
}

static void many_adjacent_spans_are_read_whole(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    enum { N = 200 };
    char text[N], got[N];
    struct span spans[N];
    struct body *body;
    for (int i = 0; i < N; i++) {
        text[i] = (char)('a' + i % 26);
        spans[i] = (struct span){(uint64_t)i, 1, got + i};
    }
    struct draft *draft = draft_of(store, str_make(text, N));
    assert_ok(lease_take(store, LEASE_WRITE));
    assert_ok(publish_now(store, &(struct publication){1, draft, S("")}, 1));
    lease_drop(store, LEASE_WRITE);
    draft_drop(draft);
    assert_ok(store_body(&body, store, 1, fix->arena));
    body_prefetch(body, spans, N);
    assert_ok(body_read(body, spans, N));
    assert_memory_equal(got, text, N);
    store_close(store);
}

static void a_span_behind_the_end_is_corrupt(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    struct body *body;
    char to[64];
    assert_ok(store_body(&body, store, 0, fix->arena));
    assert_err(body_read(body, &(struct span){20, 3, to}, 1), E_FS_CORRUPT, "db/revs/0/0'");
    assert_err(body_read(body, &(struct span){UINT64_MAX, 2, to}, 1), E_FS_CORRUPT, "revs/0/0");
    body_prefetch(body, &(struct span){UINT64_MAX, 2, NULL}, 1); /* left for the real read */
    store_close(store);
}

static void a_file_that_was_cut_since_is_corrupt(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    struct body *body;
    char to[64];
    assert_ok(store_body(&body, store, 0, fix->arena));
    assert_int_equal(truncate(at(fix, "revs/0/0"), 10), 0);
    assert_err(body_read(body, &(struct span){0, 22, to}, 1), E_FS_CORRUPT, "ends too early");
    store_close(store);
}

static void a_revision_that_is_nowhere_is_named_with_both_places(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    struct body *body;
    assert_err(store_body(&body, store, 2, fix->arena), E_FS_NO_SUCH_REVISION,
               "'revs/0/2' nor 'revs/0.pack/pack'");
    assert_err(store_body(&body, store, -1, fix->arena), E_FS_NO_SUCH_REVISION, NULL);
    store_close(store);
}

static void the_same_body_is_the_same_object(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1);
    struct body *a, *b, *c;
    assert_ok(store_body(&a, store, 1, fix->arena));
    assert_ok(store_body(&b, store, 1, fix->arena));
    assert_ok(store_body(&c, store, 0, fix->arena));
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_int_not_equal(a->identity, c->identity);
    store_close(store);
}

static void a_body_keeps_its_identity_when_it_is_opened_again(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 1), *other = open_store(fix);
    struct body *a, *b;
    assert_ok(store_body(&a, store, 1, fix->arena));
    assert_ok(store_body(&b, other, 1, fix->arena));
    assert_int_equal(a->identity, b->identity);
    store_close(other);
    store_close(store);
}

/* At every step of a pack in another process, with the loose body known or not. */
static void a_pack_in_another_process_is_no_error(void **state)
{
    struct fixture *fix = *state;
    struct store *warm = new_store(fix, 4);
    struct body *body;
    uint64_t loose_identity;
    struct arena *arena = arena_new();
    assert_ok(store_body(&body, warm, 1, arena));
    loose_identity = body->identity;
    for (int step = 1; step <= 3; step++) {
        struct store *cold = open_store(fix);
        pack_elsewhere(fix, 0, step);
        assert_ok(store_body(&body, warm, 1, arena));
        assert_ok(store_body(&body, cold, 2, arena));
        assert_int_equal(body->packed, step == 3);
        arena_free(arena);
        arena = arena_new();
        store_close(cold);
    }
    assert_ok(store_body(&body, warm, 2, arena)); /* not known, gone from its place */
    assert_true(body->packed);
    assert_int_equal(body->first_rev, 0);
    assert_int_equal(body->size, 9);
    assert_str(body_name(body, arena), "revs/0.pack/pack");
    assert_int_not_equal(body->identity, loose_identity);
    AUTO_BUF(manifest);
    assert_ok(body_manifest(&manifest, body));
    assert_str(buf_view(&manifest), "0\n3\n6\n");
    struct body *same;
    assert_ok(store_body(&same, warm, 1, arena)); /* from here on in the pack, too */
    assert_ptr_equal(same, body);
    arena_free(arena);
    store_close(warm);
}

static void stale_knowledge_of_a_pack_is_no_error(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 4);
    revnum rev;
    put_content(fix, "min-unpacked-rev", "3\n");
    assert_ok(store_min_unpacked(&rev, store));
    put_content(fix, "min-unpacked-rev", "0\n"); /* a backup was put back */
    assert_whole(store, 1);
    store_close(store);
}

static void a_missing_manifest_is_named(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 4);
    struct body *body;
    AUTO_BUF(out);
    for (int step = 1; step <= 3; step++)
        pack_elsewhere(fix, 0, step);
    unlink(at(fix, "revs/0.pack/manifest"));
    assert_ok(store_body(&body, store, 0, fix->arena));
    assert_err(body_manifest(&out, body), ENOENT, "revs/0.pack/manifest");
    store_close(store);
}

/* A left-over of a crash may be replaced by whoever commits next. */
static void a_file_above_the_head_is_not_kept(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 0);
    put_content(fix, "revs/0/1", "left by a crash");
    assert_str(body_content(store, 1, fix->arena), "left by a crash");
    put_content(fix, "revs/0/new", "committed by another process");
    assert_int_equal(rename(at(fix, "revs/0/new"), at(fix, "revs/0/1")), 0);
    put_content(fix, "current", "1\n");
    assert_str(body_content(store, 1, fix->arena), "committed by another process");
    store_close(store);
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    for (int fd = 0; fd < 2000; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void descriptors_are_bounded(void **state)
{
    struct fixture *fix = *state;
    enum { REVS = 600, FILES = 1024 };
    struct rlimit old, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){FILES, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct store *store = new_store(fix, REVS);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    size_t before = open_descriptors();
    for (int round = 0; round < 2; round++)
        for (revnum rev = 0; rev <= REVS; rev++)
            assert_whole(store, rev);
    assert_true(open_descriptors() <= before + FILES / 4);
    store_close(store);
    assert_true(open_descriptors() <= before);
}

/* A process near its limit: the cache gives its descriptors back. */
static void running_out_of_descriptors_empties_the_cache(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 40);
    struct rlimit old, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){open_descriptors() + 12, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (revnum rev = 0; rev <= 40; rev++)
        assert_whole(store, rev);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    store_close(store);
}

static struct err *read_all(void *arg)
{
    struct store *store = arg;
    for (int round = 0; round < 20; round++)
        for (revnum rev = 0; rev < 60; rev++) {
            AUTO_ARENA(arena);
            struct body *body;
            char to[64];
            TRY(store_body(&body, store, rev, arena));
            TRY(body_read(body, &(struct span){0, body->size, to}, 1));
            if (!str_eq(str_make(to, body->size), body_text(arena, rev)))
                return err_make(E_FS_CORRUPT, "revision %d", (int)rev);
        }
    return NULL;
}

static void threads_share_bodies(void **state)
{
    struct fixture *fix = *state;
    struct store *store = new_store(fix, 60);
    void *args[] = {store, store, store, store};
    assert_ok(tasks_run(read_all, args, 4));
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_body_is_found_read_and_named),
        STORE_TEST(spans_are_read_wherever_they_are),
        STORE_TEST(many_adjacent_spans_are_read_whole),
        STORE_TEST(a_span_behind_the_end_is_corrupt),
        STORE_TEST(a_file_that_was_cut_since_is_corrupt),
        STORE_TEST(a_revision_that_is_nowhere_is_named_with_both_places),
        STORE_TEST(the_same_body_is_the_same_object),
        STORE_TEST(a_body_keeps_its_identity_when_it_is_opened_again),
        STORE_TEST(a_pack_in_another_process_is_no_error),
        STORE_TEST(stale_knowledge_of_a_pack_is_no_error),
        STORE_TEST(a_missing_manifest_is_named),
        STORE_TEST(a_file_above_the_head_is_not_kept),
        STORE_TEST(descriptors_are_bounded),
        STORE_TEST(running_out_of_descriptors_empties_the_cache),
        STORE_TEST(threads_share_bodies),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
