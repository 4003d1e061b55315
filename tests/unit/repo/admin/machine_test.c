/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that fails: each operation on the disk in turn, readings included, with each error of
 * the system, once or from then on. What a person does then either comes to its right end or fails
 * with the system's error; nothing is called damaged, missing or another, since nothing is. */
#include "../../testing.h"
#include "base/cache.h"
#include "base/digest.h"
#include "base/thread.h"
#include "fsfs/txn/commit.h"
#include "fsfs/txn/locks.h"
#include "repo/check/verify.h"
#include "repo/dump/dump.h"
#include "repo/edit/report.h"
#include "repo/history/log.h"
#include "repo/tree/depth.h"
#include "store/posix/fault.h"
#include "store/posix/posix.h"
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

static char root[64]; /* $R: the repository `repo` */

static int run(const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "{ %s; } >$R/log 2>&1 || { cat $R/log >&2; false; }", command);
    return system(line);
}
#define STOCK(command) assert_int_equal(run(command), 0)

static int remove_any(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
    return remove(path);
}

static int setup(void **state)
{
    strcpy(root, access("/dev/shm", W_OK) == 0 ? "/dev/shm/varve-machine-XXXXXX"
                                               : "/tmp/varve-machine-XXXXXX");
    return mkdtemp(root) && setenv("R", root, 1) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    nftw(root, remove_any, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

/* Eight revisions, three to a shard, six of them packed: folders, texts in chains, properties, a
 * copy, a lock. */
static void make_repository(int format)
{
    char path[128];
    snprintf(path, sizeof path, "%s/repo/db", root);
    STOCK("svnadmin create $R/repo && rm -r $R/repo/db");
    assert_ok(fsfs_create(path, &(struct fsfs_create_options){.format = format, .shard_size = 3}));
    STOCK(
        "svn co -q file://$R/repo $R/wc && cd $R/wc && mkdir -p a/b c && "
        "for i in 1 2 3 4 5 6; do seq $i 40 >>a/b/text; date >c/$i; "
        "svn add -q --force . && svn ps -q name $i a/b/text && svn ps -q dir $i a && "
        "svn ci -q -m message-$i && svn up -q; done && svn cp -q a copy && svn ci -q -m copied && "
        "svn lock -q a/b/text && svn rm -q c/1 && svn ci -q -m last && svn lock -q c/2");
    STOCK("test `svnlook youngest $R/repo` = 8");
    if (format >= 4)
        STOCK("svnadmin pack -q $R/repo");
}

/* ---- what is done ---- */

/* What an answer was, so that a short one is seen. */
struct answer {
    struct digest *digest;
    uint8_t md5[MD5_SIZE];
};

static void answer_add(struct answer *answer, struct str s)
{
    if (s.p)
        digest_add(answer->digest, s);
    digest_add(answer->digest, S("\n"));
}

static struct err *check_out(struct answer *answer, struct repo *repo)
{
    const struct report_params params = {.anchor = S("/"),
                                         .rev = 8,
                                         .depth = DEPTH_INFINITY,
                                         .text_deltas = true,
                                         .send_copyfrom = true};
    struct report *report = report_new(repo->fs, &params);
    struct edit_source *edit;
    struct err *err = report_set_path(report, S(""), 0, true, (struct str){0}, DEPTH_INFINITY);
    if (err) {
        report_free(report);
        return err;
    }
    TRY(report_finish(&edit, report));
    for (bool more = true; more && !err;) {
        struct edit_event event = {0};
        err = edit->next(&more, &event, edit);
        answer_add(answer, event.path);
        answer_add(answer, event.name);
        answer_add(answer, event.value);
        answer_add(answer, event.text);
    }
    edit->close(edit);
    return err;
}

static struct err *read_log(struct answer *answer, struct repo *repo)
{
    const struct str all = S("/");
    const struct log_params params = {.paths = &all,
                                      .path_count = 1,
                                      .start = 8,
                                      .end = 0,
                                      .changed_paths = true,
                                      .want_revprops = true};
    struct log_cursor *cursor;
    struct err *err;
    struct log_entry entry;
    bool more;
    TRY(log_cursor_open(&cursor, repo->fs, &params));
    while (!(err = log_cursor_next(&more, &entry, cursor)) && more) {
        for (size_t i = 0; i < entry.change_count; i++)
            answer_add(answer, entry.changes[i].path);
        const struct str *message = props_get(entry.revprops, S("svn:log"));
        answer_add(answer, message ? *message : S("none"));
    }
    log_cursor_close(cursor);
    return err;
}

static struct err *no_progress(void *arg, revnum rev, struct str warning)
{
    return NULL;
}

static struct err *dump(struct answer *answer, struct repo *repo)
{
    const struct dump_params params = {.end = 8, .progress = no_progress};
    AUTO_BUF(stream);
    struct writer *out = writer_of_buf(&stream);
    struct err *err = dump_write(out, repo, &params);
    writer_close(out);
    answer_add(answer, buf_view(&stream));
    return err;
}

static struct err *no_notice(void *arg, const struct verify_notice *notice)
{
    return NULL;
}

static struct err *verify(struct answer *answer, struct repo *repo)
{
    const struct verify_params params = {.end = 8, .notify = no_notice};
    size_t bad;
    return repo_verify(repo, &params, &bad);
}

static struct err *list_locks(struct answer *answer, struct repo *repo)
{
    AUTO_ARENA(arena);
    struct lock *list;
    size_t n;
    TRY(locks_below(&list, &n, repo->fs, S("/"), arena));
    for (size_t i = 0; i < n; i++)
        answer_add(answer, list[i].path);
    return NULL;
}

static struct err *set_message(struct answer *answer, struct repo *repo)
{
    const struct str loose = S("loose"), packed = S("packed");
    TRY(revprop_set(repo->fs, 7, S("svn:log"), &loose, NULL));
    return revprop_set(repo->fs, 2, S("svn:log"), &packed, NULL);
}

static struct err *write_text(struct txn *txn)
{
    struct txn_text *to;
    const struct str value = S("another");
    TRY(txn_set_prop(txn, S("/a"), S("dir"), &value));
    TRY(txn_text_begin(&to, txn, S("/a/b/text"), NULL));
    struct err *err = txn_text_write(to, S("a text that is there already\n"));
    if (!err)
        return txn_text_end(to, NULL, NULL);
    txn_text_abandon(to);
    return err;
}

static struct err *commit(struct answer *answer, struct repo *repo)
{
    static const struct commit_options options = {.check_locks = true};
    struct txn *txn;
    revnum youngest, rev;
    TRY(fsfs_youngest(&youngest, repo->fs));
    TRY(txn_begin(&txn, repo->fs, youngest));
    struct err *err = write_text(txn);
    if (!err)
        err = txn_spill(txn); /* as for a hook */
    if (!err)
        return txn_commit(&rev, NULL, txn, &options);
    txn_abort(txn);
    return err;
}

/* ---- while the machine fails ---- */

struct action {
    const char *name;
    struct err *(*act)(struct answer *answer, struct repo *repo);
};

static struct err *act_once(struct answer *answer, const struct action *action, struct disk *disk)
{
    char path[128], db[160];
    struct repo *repo;
    snprintf(path, sizeof path, "%s/repo", root);
    snprintf(db, sizeof db, "%s/repo/db", root);
    answer->digest = digest_new(DIGEST_MD5);
    cache_clear();
    struct fsfs_options options = {0};
    struct err *err = posix_open(&options.store, db, disk);
    if (!err)
        err = repo_open(&repo, path, &options);
    if (!err) {
        err = action->act(answer, repo);
        repo_close(repo);
    }
    digest_md5(answer->digest, answer->md5);
    digest_free(answer->digest);
    return err;
}

static bool blames_repository(const struct err *err)
{
    static const char *const words[] = {"orrupt",   "amaged",  "alformed", "No such",
                                        "existent", "Another", "not found"};
    for (; err; err = err->cause)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strstr(err->text, words[i]))
                return true;
    return false;
}

static void check_failure(struct err *err, const struct action *action, int code, uint64_t k)
{
    if (!err_has(err, code) || blames_repository(err)) {
        print_error("%s, operation %llu fails with %d:\n", action->name, (unsigned long long)k,
                    code);
        for (const struct err *e = err; e; e = e->cause)
            print_error("  E%06d: %s\n", e->code, e->text);
        fail();
    }
    err_free(err);
}

static void fail_everywhere(const struct action *action, uint64_t times, int code)
{
    struct answer whole, answer;
    struct fault_disk *fault = fault_disk_new();
    assert_ok(act_once(&whole, action, fault_disk_ops(fault)));
    uint64_t failures = 0, k = 0;
    for (bool met = true; met; k++) {
        fault_disk_fail(fault, k, times, code);
        struct err *err = act_once(&answer, action, fault_disk_ops(fault));
        met = fault_disk_has_failed(fault);
        fault_disk_fail(fault, 0, 0, 0);
        failures += err != NULL;
        if (err)
            check_failure(err, action, code, k);
        else
            assert_memory_equal(answer.md5, whole.md5, MD5_SIZE);
    }
    assert_in_range(failures, k / 4, k);
    fault_disk_free(fault);
}

static void everything_fails(int format)
{
    static const int codes[] = {EMFILE, ENFILE, ENOMEM, EIO, ENOSPC, EACCES};
    static const struct action actions[] = {
        {"checkout", check_out}, {"log", read_log},        {"dump", dump},     {"verify", verify},
        {"locks", list_locks},   {"propset", set_message}, {"commit", commit},
    };
    if (system("command -v svnadmin svn >/dev/null") != 0)
        skip();
    make_repository(format);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        for (size_t j = 0; j < sizeof codes / sizeof *codes; j++) {
            fail_everywhere(&actions[i], 1, codes[j]);
            if (codes[j] == EMFILE)
                fail_everywhere(&actions[i], UINT64_MAX, codes[j]);
        }
    STOCK("svnadmin verify -q $R/repo");
}

static void a_failing_machine_is_no_damage(void **state)
{
    everything_fails(8);
}

static void nor_is_it_with_physical_addressing(void **state)
{
    everything_fails(6);
}

#define MACHINE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MACHINE_TEST(a_failing_machine_is_no_damage),
        MACHINE_TEST(nor_is_it_with_physical_addressing),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
