/* SPDX-License-Identifier: Apache-2.0 */
/* A load says "Committed revision N" only when N is there for good: whichever operation on the disk
 * fails, or is the last before the machine stops, and however the revisions come in batches, no
 * notice tells of a revision that who opens the repository then does not see. */
#include "../../testing.h"
#include "base/cache.h"
#include "base/thread.h"
#include "repo/check/verify.h"
#include "repo/dump/dump.h"
#include "repo/dump/load.h"
#include "store/posix/fault.h"
#include "store/posix/posix.h"
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

enum { REVISIONS = 7, SHARD_SIZE = 3 };

static char root[64];

static int remove_any(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
    return remove(path);
}

static int setup(void **state)
{
    strcpy(root,
           access("/dev/shm", W_OK) == 0 ? "/dev/shm/varve-load-XXXXXX" : "/tmp/varve-load-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    nftw(root, remove_any, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

/* Valid until the next call. */
static const char *at(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/repo/%s", root, name);
    return path;
}

static void make_repository(void)
{
    nftw(at(""), remove_any, 16, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(mkdir(at(""), 0700), 0);
    FILE *format = fopen(at("format"), "w");
    assert_non_null(format);
    fputs("5\n", format);
    fclose(format);
    assert_ok(fsfs_create(at("db"),
                          &(struct fsfs_create_options){.format = 8, .shard_size = SHARD_SIZE}));
}

static struct repo *open_repository(struct disk *disk)
{
    struct repo *repo;
    cache_clear();
    struct fsfs_options options = {0};
    assert_ok(posix_open(&options.store, at("db"), disk));
    assert_ok(repo_open(&repo, at(""), &options));
    return repo;
}

/* ---- the stream ---- */

static void add_text(struct buf *out, const char *headers, const char *text)
{
    buf_printf(out, "%s\nText-content-length: %zu\nContent-length: %zu\n\n%s\n\n", headers,
               strlen(text), strlen(text), text);
}

/* After each BATCH revisions comes a UUID, and what is loaded goes to the disk first. */
static void make_stream(struct buf *out, int batch)
{
    buf_cstr(out, "SVN-fs-dump-format-version: 2\n\n");
    for (int rev = 1; rev <= REVISIONS; rev++) {
        char headers[128];
        buf_printf(out,
                   "Revision-number: %d\nProp-content-length: 10\nContent-length: 10\n\n"
                   "PROPS-END\n\n",
                   rev);
        snprintf(headers, sizeof headers, "Node-path: file-%d\nNode-kind: file\nNode-action: add",
                 rev);
        add_text(out, headers, "a text");
        if (rev % batch == 0)
            buf_cstr(out, "UUID: 01234567-89ab-4cde-8fab-0123456789ab\n\n");
    }
}

/* ---- what was told ---- */

static revnum youngest_now(void)
{
    struct fsfs *fs;
    revnum youngest;
    assert_ok(fsfs_open(&fs, at("db"), NULL));
    assert_ok(fsfs_youngest(&youngest, fs));
    fsfs_close(fs);
    return youngest;
}

static struct err *hear(void *arg, const struct load_notice *notice)
{
    revnum *told = arg;
    if (notice->event != LOAD_COMMITTED)
        return NULL;
    assert_int_equal(notice->new_rev, *told + 1);
    *told = notice->new_rev;
    assert_true(youngest_now() >= *told);
    return NULL;
}

static struct err *no_notice(void *arg, const struct verify_notice *notice)
{
    return NULL;
}

/* All that was told of is there, and whole. */
static void check(revnum told)
{
    struct repo *repo = open_repository(NULL);
    revnum youngest;
    assert_ok(fsfs_youngest(&youngest, repo->fs));
    assert_true(youngest >= told);
    const struct verify_params params = {.end = youngest, .notify = no_notice};
    size_t bad;
    assert_ok(repo_verify(repo, &params, &bad));
    repo_close(repo);
}

/* ---- while the disk fails ---- */

/* What operation K is: the last one tried before the machine stops, or one that fails, with those
 * behind it or alone. */
enum fate { STOPS, FAILS_FOR_GOOD, FAILS_ONCE };

/* True where the load was done before operation K. */
static bool load_until(uint64_t k, enum fate fate, enum fault_loss loss, struct str stream)
{
    struct fault_disk *fault = fault_disk_new();
    revnum told = 0;
    const struct load_params params = {
        .uuid = LOAD_UUID_FORCE, .start = REV_NONE, .end = REV_NONE, .notify = hear, .arg = &told};
    make_repository();
    struct repo *repo = open_repository(fault_disk_ops(fault));
    if (fate == STOPS)
        fault_disk_arm(fault, k);
    else
        fault_disk_fail(fault, k, fate == FAILS_ONCE ? 1 : UINT64_MAX, ENOSPC);
    struct err *err = load_stream(repo, reader_of_str(stream), &params);
    const bool done = fate == STOPS ? fault_disk_count(fault) <= k : !fault_disk_has_failed(fault);
    fault_disk_fail(fault, 0, 0, 0);
    if (!err)
        assert_int_equal(told, REVISIONS);
    err_free(err);
    repo_close(repo);
    assert_ok(fault_disk_crash(fault, loss));
    fault_disk_free(fault);
    check(told);
    return done;
}

static void load_in_batches_of(int batch)
{
    AUTO_BUF(stream);
    make_stream(&stream, batch);
    for (enum fate fate = STOPS; fate <= FAILS_ONCE; fate++)
        for (enum fault_loss loss = FAULT_KEEP_UNSYNCED; loss <= FAULT_LOSE_UNSYNCED; loss++) {
            uint64_t k = 0;
            while (!load_until(k, fate, loss, buf_view(&stream)))
                k++;
            assert_in_range(k, 5 * REVISIONS, 1000);
        }
}

static void one_by_one(void **state)
{
    load_in_batches_of(1);
}

static void in_pairs(void **state)
{
    load_in_batches_of(2);
}

/* As many files as are synced one by one; and one more. */
static void in_the_largest_batches_of_few_files(void **state)
{
    load_in_batches_of(5);
}

static void in_the_smallest_batches_of_many_files(void **state)
{
    load_in_batches_of(6);
}

static void all_at_once(void **state)
{
    load_in_batches_of(REVISIONS + 1);
}

#define LOAD_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOAD_TEST(one_by_one),
        LOAD_TEST(in_pairs),
        LOAD_TEST(in_the_largest_batches_of_few_files),
        LOAD_TEST(in_the_smallest_batches_of_many_files),
        LOAD_TEST(all_at_once),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
