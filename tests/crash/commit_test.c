/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever writes to a repository is cut at each of its operations on the disk, once for each kind
 * of loss. What is left must be what stock tools dump of the repository before, or of one where
 * nothing was cut. Then it is committed to again, by us and by stock tools, and stock tools verify
 * it. */
#include "../unit/testing.h"
#include "base/cache.h"
#include "base/thread.h"
#include "fsfs/fs.h"
#include "fsfs/read/revprops.h"
#include "fsfs/txn/commit.h"
#include "fsfs/txn/txn.h"
#include "store/posix/fault.h"
#include "store/posix/posix.h"
#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SHARD_SIZE = 3, LARGE = 3 << 19 };

static char root[64]; /* $R: the repositories `old`, `new` and `cut`, their dumps, and the log of
                         the last command */

static int run(const char *command)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    pid_t child;
    int status;
    assert_int_equal(posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}
#define STOCK(command)                                                                             \
    assert_int_equal(run("{ " command "; } >$R/log 2>&1 || { cat $R/log >&2; false; }"), 0)

static int remove_any(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
    return remove(path);
}

/* In memory where that can be had: the syncs of the stock tools are no part of the test. */
static int setup(void **state)
{
    strcpy(root, access("/dev/shm", W_OK) == 0 ? "/dev/shm/varve-crash-XXXXXX"
                                               : "/tmp/varve-crash-XXXXXX");
    return mkdtemp(root) && setenv("R", root, 1) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    nftw(root, remove_any, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

/* ---- what is done to a repository ---- */

static struct fsfs *open_repository(const char *name, struct disk *disk)
{
    char path[128];
    struct fsfs *fs;
    snprintf(path, sizeof(path), "%s/%s/db", root, name);
    cache_clear(); /* the same repository is rolled back again and again */
    struct fsfs_options options = {0};
    assert_ok(posix_open(&options.store, path, disk));
    assert_ok(fsfs_open(&fs, path, &options));
    return fs;
}

static struct err *write_text(struct txn *txn, struct str path, struct str text)
{
    struct txn_text *to;
    TRY(txn_text_begin(&to, txn, path, NULL));
    struct err *err = txn_text_write(to, text);
    if (err) {
        txn_text_abandon(to);
        return err;
    }
    return txn_text_end(to, NULL, NULL);
}

/* A transaction whose revision is the same whenever it is made. */
static struct err *begin(struct txn **out, struct fsfs *fs, const char *log)
{
    revnum youngest;
    struct str message = str_of(log), date = S("2020-02-02T02:02:02.000000Z");
    TRY(fsfs_youngest(&youngest, fs));
    TRY(txn_begin(out, fs, youngest));
    txn_set_revprop(*out, S("svn:log"), &message);
    txn_set_revprop(*out, S("svn:date"), &date);
    txn_keep_date(*out, true);
    return NULL;
}

static struct err *fill_first(struct txn *txn)
{
    TRY(txn_make_dir(txn, S("/trunk")));
    TRY(txn_make_dir(txn, S("/trunk/dir")));
    TRY(txn_make_file(txn, S("/trunk/file")));
    TRY(write_text(txn, S("/trunk/file"), S("the first text\n")));
    TRY(txn_make_file(txn, S("/trunk/gone")));
    return write_text(txn, S("/trunk/gone"), S("soon to be gone\n"));
}

static struct err *fill_next(struct txn *txn)
{
    struct str value = S("value");
    TRY(write_text(txn, S("/trunk/file"), S("the first text\nand another line\n")));
    TRY(txn_set_prop(txn, S("/trunk/dir"), S("name"), &value));
    TRY(txn_delete(txn, S("/trunk/gone")));
    return txn_copy(txn, S("/copy"), 1, S("/trunk"));
}

static struct err *fill_after(struct txn *txn)
{
    TRY(txn_make_file(txn, S("/after-file")));
    return write_text(txn, S("/after-file"), S("the first text\n"));
}

static char *large_text(void)
{
    char *text = mem_alloc(LARGE);
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < LARGE; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        text[i] = (char)x;
    }
    return text;
}

static struct err *fill_large(struct txn *txn)
{
    char *text = large_text();
    struct err *err = txn_make_file(txn, S("/large"));
    if (!err)
        err = write_text(txn, S("/large"), str_make(text, LARGE));
    free(text);
    return err;
}

static struct err *commit(struct fsfs *fs, struct err *(*fill)(struct txn *), const char *log)
{
    struct txn *txn;
    revnum rev;
    TRY(begin(&txn, fs, log));
    struct err *err = fill(txn);
    if (err) {
        txn_abort(txn);
        return err;
    }
    return txn_commit(&rev, NULL, txn, &(struct commit_options){0});
}

static struct err *commit_next(struct fsfs *fs)
{
    return commit(fs, fill_next, "next");
}

static struct err *commit_large(struct fsfs *fs)
{
    return commit(fs, fill_large, "large");
}

static struct err *change_revprop(struct fsfs *fs)
{
    struct str value = S("another message");
    return revprop_set(fs, 1, S("svn:log"), &value, NULL);
}

static struct err *load_some(struct load_commits *load, struct fsfs *fs)
{
    for (int i = 0; i < 5; i++) {
        char path[16];
        struct txn *txn;
        revnum rev;
        snprintf(path, sizeof(path), "/loaded-%d", i);
        TRY(txn_begin(&txn, fs, fs->seen_youngest));
        txn_keep_date(txn, true);
        struct err *err = txn_make_dir(txn, str_of(path));
        if (err) {
            txn_abort(txn);
            return err;
        }
        TRY(load_commits_add(&rev, load, txn));
    }
    return NULL;
}

static struct err *load_revisions(struct fsfs *fs)
{
    struct load_commits *load;
    revnum youngest, durable;
    TRY(fsfs_youngest(&youngest, fs));
    TRY(load_commits_begin(&load, fs));
    struct err *err = load_some(load, fs);
    return err_join(err, load_commits_end(&durable, load));
}

static struct err *spill_and_abort(struct fsfs *fs)
{
    struct txn *txn;
    TRY(begin(&txn, fs, "spilled"));
    struct err *err = fill_next(txn);
    if (!err)
        err = txn_spill(txn);
    txn_abort(txn);
    return err;
}

/* ---- cutting it ---- */

struct scenario {
    struct err *(*act)(struct fsfs *fs);
    int format;
    revnum youngest; /* before; SHARD_SIZE revisions to a shard */
};

/* The repository `old`; and `new` where the scenario ran to its end. */
static void prepare(const struct scenario *s)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/old/db", root);
    STOCK("rm -rf $R/* && svnadmin create $R/old && rm -r $R/old/db");
    assert_ok(fsfs_create(
        path, &(struct fsfs_create_options){.format = s->format, .shard_size = SHARD_SIZE}));
    struct fsfs *fs = open_repository("old", NULL);
    assert_ok(commit(fs, fill_first, "first"));
    for (revnum rev = 2; rev <= s->youngest; rev++)
        STOCK("svn mkdir -q -m stock file://$R/old/`mktemp -u d-XXXXXX`");
    fsfs_close(fs);
    STOCK("cp -a $R/old $R/new && svnadmin dump -q $R/old >$R/old.dump");
    fs = open_repository("new", NULL);
    assert_ok(s->act(fs));
    fsfs_close(fs);
    STOCK("svnadmin verify -q $R/new && svnadmin dump -q $R/new >$R/new.dump");
}

/* True where the scenario was done before operation K. */
static bool cut_at(const struct scenario *s, uint64_t k, enum fault_loss loss)
{
    struct fault_disk *fault = fault_disk_new();
    STOCK("rm -rf $R/cut && cp -a $R/old $R/cut");
    struct fsfs *fs = open_repository("cut", fault_disk_ops(fault));
    fault_disk_arm(fault, k);
    struct err *err = s->act(fs);
    bool done = !err;
    err_free(err);
    fsfs_close(fs);
    assert_ok(fault_disk_crash(fault, loss));
    fault_disk_free(fault);
    return done;
}

/* Not done: the old repository, or the new one up to a revision of its last batch, whole; after
 * that at most one revision file,. */
static void check(uint64_t k, bool done, enum fault_loss loss)
{
    STOCK("svnadmin dump -q $R/cut >$R/cut.dump");
    if (done)
        STOCK("cmp $R/cut.dump $R/new.dump");
    else
        STOCK("cmp $R/cut.dump $R/old.dump || cmp $R/cut.dump $R/new.dump || "
              "svnadmin dump -q -r 0:`svnlook youngest $R/cut` $R/new | cmp $R/cut.dump -");
    if (loss != FAULT_LOSE_UNSYNCED) /* names go in their order */
        STOCK("head=`svnlook youngest $R/cut` && find $R/cut/db/revs -type f -name '[0-9]*' | "
              "sed 's,.*/,,' | awk -v head=$head '$0 > head + 0 { n++ } END { exit n > 1 }'");
    struct fsfs *fs = open_repository("cut", NULL);
    assert_ok(commit(fs, fill_after, "after the crash"));
    fsfs_close(fs);
    if (k % 4 == 0 || done) /* they take their time */
        STOCK("svn mkdir -q -m stock file://$R/cut/after && svnadmin verify -q $R/cut");
    STOCK("head=`svnlook youngest $R/cut` && ! find $R/cut/db -name '*.tmp' | grep . && "
          "svnadmin recover $R/cut && test `svnlook youngest $R/cut` = $head");
}

static void cut_everywhere(struct scenario s)
{
    prepare(&s);
    for (enum fault_loss loss = FAULT_KEEP_UNSYNCED; loss <= FAULT_LOSE_CONTENTS; loss++) {
        uint64_t k = 0;
        for (bool done = false; !done; k++) {
            done = cut_at(&s, k, loss);
            check(k, done, loss);
        }
        assert_true(k > 4);
    }
}

#define CUT(name, ...)                                                                             \
    static void name(void **state)                                                                 \
    {                                                                                              \
        if (run("command -v svnadmin svn >/dev/null") != 0)                                        \
            skip();                                                                                \
        cut_everywhere((struct scenario){__VA_ARGS__});                                            \
    }

CUT(a_commit, commit_next, 8, 1)
CUT(a_commit_that_opens_a_shard, commit_next, 8, 2)
CUT(a_commit_to_an_old_format, commit_next, 2, 1)
CUT(a_commit_of_physical_addressing, commit_next, 6, 2)
CUT(a_large_commit, commit_large, 8, 1)
CUT(a_change_of_a_revision_property, change_revprop, 8, 1)
CUT(a_load, load_revisions, 8, 1)
CUT(a_transaction_shown_to_others, spill_and_abort, 8, 1)

#define CRASH_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CRASH_TEST(a_commit),
        CRASH_TEST(a_commit_that_opens_a_shard),
        CRASH_TEST(a_commit_to_an_old_format),
        CRASH_TEST(a_commit_of_physical_addressing),
        CRASH_TEST(a_large_commit),
        CRASH_TEST(a_change_of_a_revision_property),
        CRASH_TEST(a_load),
        CRASH_TEST(a_transaction_shown_to_others),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
