/* SPDX-License-Identifier: Apache-2.0 */
#include "../mucc.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep.h"
#include "fsfs/read/revprops.h"
#include "fsfs/txn/txn_int.h"
#include "store/posix/fault.h"
#include "store/posix/posix.h"
#include "store/repcache.h"
#include <errno.h>
#include <pthread.h>

/* The same history twice: by svnmucc, whose order of edits the lines have, and by our transactions.
 */
static const char *const history[][2] = {
    {"mkdir trunk propset q v2 trunk mkdir trunk/d propset k v trunk/d put t1 trunk/f propset k v "
     "trunk/f put t1 trunk/g",
     "mkdir trunk\nps q v2 trunk\nmkdir trunk/d\nps k v trunk/d\ntouch trunk/f\nps k v "
     "trunk/f\nput t1 trunk/f\nput t1 trunk/g\n"},
    {"cp 1 trunk branch put t2 branch/g put t2 trunk/f",
     "cp 1 trunk branch\nput t2 branch/g\nput t2 trunk/f\n"},
    {"put t1 branch/f rm trunk/d", "put t1 branch/f\nrm trunk/d\n"},
    {"propset a b . propset a b branch/d", "ps a b .\nps a b branch/d\n"},
    {"mkdir e propset k v e put t1 e/x mkdir g propset k2 v g",
     "mkdir e\nps k v e\nput t1 e/x\nmkdir g\nps k2 v g\n"},
    {"propset svn:mergeinfo /trunk:1 branch propset svn:mergeinfo /t:1 branch/g",
     "ps svn:mergeinfo /trunk:1 branch\nps svn:mergeinfo /t:1 branch/g\n"},
    {"cp 6 branch e/copy put t3 e/copy/g", "cp 6 branch e/copy\nput t3 e/copy/g\n"},
    {"put empty e/copy/d/empty propset svn:mergeinfo /x:2 e/copy/d",
     "ps svn:mergeinfo /x:2 e/copy/d\nput empty e/copy/d/empty\n"},
    {"rm e/copy/g", "rm e/copy/g\n"},
    {"rm branch cp 8 branch branch put t4 branch/g",
     "rm branch\ncp 8 branch branch\nput t4 branch/g\n"},
    {"propdel svn:mergeinfo branch put t1 branch/d/n",
     "pd svn:mergeinfo branch\nput t1 branch/d/n\n"},
    {"put t2 trunk/f", "put t2 trunk/f\n"},
    {"put t3 trunk/f", "put t3 trunk/f\n"},
    {"put t4 trunk/f", "put t4 trunk/f\n"},
    {"put big trunk/f", "put big trunk/f\n"},
    {"put t2 e/copy/d/n", "put t2 e/copy/d/n\n"},
    {"put random trunk/f", "put random trunk/f\n"},
    {"rm e", "rm e\n"},
};
enum { HISTORY = sizeof history / sizeof *history };

static void make_texts(struct stock *stock)
{
    stock_run(stock,
              "seq 1 200 >t1; seq 1 210 >t2; seq 5 300 >t3; (seq 1 90; seq 7 400) >t4; : >empty;"
              " head -c 500000 /dev/urandom | od -An -tx2 -w40 >big; head -c 300000 /dev/urandom "
              ">random");
}

static void stock_commit(struct stock *stock, const char *edits)
{
    stock_run(stock, arena_printf(stock->arena, "svnmucc -u ann -m m -U $U/s %s >out", edits).p);
}

/* With neither zlib, whose streams differ from library to library, nor directory deltas, for which
 * stock searches, every byte is determined. */
static void make_plain(struct stock *stock)
{
    stock_run(stock,
              "for r in s v; do printf '[deltification]\\nenable-dir-deltification = false\\n"
              "compression = none\\n' >$r/db/fsfs.conf; done");
}

static void write_history(struct stock *stock, int format, bool plain)
{
    stock_run(stock, "rm -rf s v");
    stock_create(stock, "s", format, 7);
    stock_create(stock, "v", format, 7);
    if (plain && format >= 4)
        make_plain(stock);
    struct fsfs *fs = stock_open(stock, "v");
    for (size_t i = 0; i < HISTORY; i++) {
        stock_commit(stock, history[i][0]);
        assert_int_equal(mucc_commit(stock, fs, history[i][1]), i + 1);
    }
    assert_ok(repcache_flush(fs->store));
    fsfs_close(fs);
}

static const int determined[] = {1, 4, 6, 7, 8};

static void a_history_is_byte_for_byte_that_of_stock(void **state)
{
    struct stock *stock = *state;
    make_texts(stock);
    for (size_t i = 0; i < sizeof determined / sizeof *determined; i++) {
        write_history(stock, determined[i], true);
        stock_run(stock, "diff -rq s/db/revs v/db/revs && cmp s/db/current v/db/current && "
                         "svnadmin verify -q v");
    }
}

/* Each revision of random-history's edits, in NAME; where LOADED as a load does it. */
static void write_random(struct stock *stock, const char *name, bool loaded)
{
    struct fsfs *fs = stock_open(stock, name);
    struct str edits = stock_file(stock, "edits"), line;
    struct load_commits *load = NULL;
    revnum rev = 0, durable;
    if (loaded)
        assert_ok(load_commits_begin(&load, fs));
    for (size_t pos = 0, start = 0; str_line(&line, edits, &pos);) {
        if (line.n)
            continue;
        struct txn *txn;
        assert_ok(txn_begin(&txn, fs, rev));
        assert_ok(mucc_edit(stock, txn,
                            arena_cstr(stock->arena, str_make(edits.p + start, pos - 1 - start))));
        start = pos;
        if (!loaded)
            assert_ok(txn_commit(&rev, NULL, txn, &(struct commit_options){0}));
        else
            assert_ok(load_commits_add(&rev, load, txn));
        if (loaded && rev % 50 == 0)
            assert_ok(load_commits_flush(&durable, load));
    }
    if (loaded)
        assert_ok(load_commits_end(&durable, load));
    assert_ok(repcache_flush(fs->store));
    fsfs_close(fs);
}

static void a_random_history_is_byte_for_byte_that_of_a_stock_load(void **state)
{
    struct stock *stock = *state;
    for (size_t i = 0; i < sizeof determined / sizeof *determined; i++) {
        stock_run(stock, "rm -rf s v edits text*");
        stock_run(stock, arena_printf(stock->arena, "%s/tests/unit/fsfs/random-history %zu 250 .",
                                      getenv("VARVE_SOURCE"), i)
                             .p);
        stock_create(stock, "s", determined[i], 16);
        stock_create(stock, "v", determined[i], 16);
        if (determined[i] >= 4)
            make_plain(stock);
        stock_run(stock, "svnadmin load -q s <dump");
        write_random(stock, "v", i % 2);
        stock_run(stock, "diff -rq s/db/revs v/db/revs && cmp s/db/current v/db/current && "
                         "svnadmin verify -q v");
    }
}

static void what_is_not_determined_reads_the_same_and_is_no_larger(void **state)
{
    static const int others[] = {2, 3, 8};
    struct stock *stock = *state;
    make_texts(stock);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_history(stock, others[i], false);
        stock_run(stock, "svnadmin verify -q v");
        stock_run(stock, "for r in s v; do svnadmin dump -q $r | sed '/^UUID/d; "
                         "/^....-..-..T..:/d' >$r.dump; done;"
                         " cmp s.dump v.dump");
        stock_run(
            stock,
            "for r in s v; do for n in $(seq 0 18); do svnlook tree --show-ids -r $n $r; done |"
            " sed 's,/[0-9]*>,>,' >$r.tree; done; cmp s.tree v.tree");
        stock_run(stock, "test $(du -bs v/db/revs | cut -f 1) -le $(($(du -bs s/db/revs | cut -f "
                         "1) * 102 / 100))");
    }
}

/* ---- transactions that are behind ---- */

/* A: committed first. B: on the revision before it. CONFLICT: where stock says they do (asked with
 * svnmucc and a pre-commit hook that commits A while B's transaction is open); NULL: both go in. */
static const struct {
    const char *a, *b, *conflict;
} races[] = {
    {"put t2 d/f\n", "put t2 d/f\n", "/d/f"},
    {"ps a b d/f\n", "ps a b d/f\n", "/d/f"},
    {"put t2 d/f\n", "ps a b d/f\n", "/d/f"},
    {"put t2 d/f\n", "rm d/f\n", "/d/f"},
    {"rm d/f\n", "put t2 d/f\n", "/d/f"},
    {"rm d/f\n", "rm d/f\n", "/d/f"},
    {"put t2 d/n\n", "put t2 d/n\n", "/d/n"},
    {"mkdir d/n\n", "mkdir d/n\n", "/d/n"},
    {"put t2 d/f\n", "ps a b d\n", NULL},
    {"ps a b d\n", "put t2 d/f\n", "/d"},
    {"ps a b d\n", "ps c d d\n", "/d"},
    {"put t2 x/y\n", "ps a b d\n", NULL},
    {"put t2 d/f\n", "ps a b .\n", NULL},
    {"ps a b .\n", "put t2 d/f\n", "/"},
    {"put t2 d/e/g\n", "ps a b d\n", NULL},
    {"cp B d/f x/f\nrm d/f\n", "put t2 d/f\n", "/d/f"},
    {"put t2 d/f\n", "cp B d/f x/f\nrm d/f\n", "/d/f"},
    {"cp B d x/d\nrm d\n", "put t2 d/f\n", "/d"},
    {"put t2 d/f\n", "cp B d x/d\nrm d\n", "/d"},
    {"put t2 d/m\n", "put t2 d/n\n", NULL},
    {"rm d\nmkdir d\n", "put t2 d/f\n", "/d"},
    {"put t2 d/f\n", "rm d\nmkdir d\n", "/d"},
    {"put t2 d/f\n", "cp B d x/d2\n", NULL},
    {"rm d/e\n", "put t2 d/e/g\n", "/d/e"},
    {"put t2 d/e/g\n", "rm d/e\n", "/d/e"},
    {"ps svn:mergeinfo /a:1 d/f\n", "ps svn:mergeinfo /a:1 x\n", NULL},
    {"ps svn:mergeinfo /a:1 d/f\n", "put t2 d/e/g\n", NULL},
    {"put t2 d/f\n", "ps k v d/f\n", "/d/f"},
    {"rm x\n", "put t2 d/n\n", NULL},
    {"put t1 d/a\nput t1 d/z\nrm d/e\n", "put t2 d/f\n", NULL},
};

/* Each in a folder of its own, which stands for the root. */
static void run_race(struct stock *stock, struct fsfs *fs, size_t i)
{
    static const struct commit_options options;
    mucc_root = "";
    mucc_commit(stock, fs, arena_printf(stock->arena, "mkdir r%zu\n", i).p);
    mucc_root = arena_printf(stock->arena, "/r%zu", i).p;
    mucc_base = mucc_commit(stock, fs,
                            "mkdir d\nmkdir d/e\nput t1 d/e/g\nput t1 d/f\nps k v d/f\nmkdir x\n");
    struct txn *b = mucc_txn(stock, fs, races[i].b);
    mucc_commit(stock, fs, races[i].a);
    revnum rev = 0;
    struct err *err = txn_commit(&rev, NULL, b, &options);
    const char *conflict = races[i].conflict;
    if (conflict)
        assert_err(
            err, E_FS_CONFLICT,
            arena_printf(stock->arena, "Conflict at '%s%s'", mucc_root, conflict[1] ? conflict : "")
                .p);
    else
        assert_ok(err);
    assert_int_equal(rev, conflict ? 0 : mucc_base + 2);
    mucc_root = "";
}

static void what_conflicts_with_stock_conflicts_and_what_merges_merges(void **state)
{
    struct stock *stock = *state;
    make_texts(stock);
    FOR_EACH_FORMAT(format)
    {
        stock_run(stock, "rm -rf v");
        stock_create(stock, "v", (int)format, 1000);
        struct fsfs *fs = stock_open(stock, "v");
        for (size_t i = 0; i < sizeof races / sizeof *races; i++)
            run_race(stock, fs, i);
        fsfs_close(fs);
        stock_run(stock, "svnadmin verify -q v");
    }
}

static void a_merged_directory_has_the_changes_of_both(void **state)
{
    static const struct commit_options options;
    struct stock *stock = *state;
    make_texts(stock);
    stock_create(stock, "v", 8, 1000);
    struct fsfs *fs = stock_open(stock, "v");
    mucc_commit(stock, fs,
                "mkdir d\nput t1 d/b\nput t1 d/d\nput t1 d/f\nps svn:mergeinfo /x:1 d/f\n");
    struct txn *late = mucc_txn(stock, fs,
                                "put t2 d/b\nput t2 d/e\nps svn:mergeinfo /y:1 d/b\n"
                                "put t1 d/a\nrm d/a\n");
    mucc_commit(stock, fs, "put t3 d/a\nrm d/d\nrm d/f\n");
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, late, &options));
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v");
    assert_str_eq(
        stock_output(
            stock, "svnlook tree --full-paths v; svnlook changed v; svnlook cat v d/b | cmp - t2"),
        S("/\nd/\nd/a\nd/b\nd/e\nUU  d/b\nA   d/e\n"));
    assert_str_eq(stock_output(stock, "strings v/db/revs/0/3 | grep minfo"),
                  S("minfo-cnt: 1\nminfo-here: y\nminfo-cnt: 1\nminfo-cnt: 1\n"));
}

static void who_wants_no_merge_is_out_of_date(void **state)
{
    static const struct commit_options options = {.no_merge = true};
    struct stock *stock = *state;
    make_texts(stock);
    stock_create(stock, "v", 8, 1000);
    struct fsfs *fs = stock_open(stock, "v");
    struct txn *late = mucc_txn(stock, fs, "mkdir a\n");
    mucc_commit(stock, fs, "mkdir b\n");
    revnum rev;
    assert_err(txn_commit(&rev, NULL, late, &options), E_FS_TXN_OUT_OF_DATE, NULL);
    fsfs_close(fs);
}

/* ---- many at once ---- */

enum { COMMITTERS = 8, COMMITS_EACH = 12 };

struct committer {
    struct stock *stock;
    struct fsfs *fs;
    int number, failed;
};

static void *committer_run(void *arg)
{
    static const struct commit_options options;
    struct committer *c = arg;
    for (int i = 0; i < COMMITS_EACH; i++) {
        revnum youngest, rev;
        struct txn *txn = NULL;
        struct txn_text *text = NULL;
        AUTO_ARENA(arena);
        struct str path = arena_printf(arena, "/d/%d-%d", c->number, i);
        struct err *err = fsfs_youngest(&youngest, c->fs);
        if (!err)
            err = txn_begin(&txn, c->fs, youngest);
        if (!err)
            err = txn_make_file(txn, path);
        if (!err)
            err = txn_text_begin(&text, txn, path, NULL);
        if (!err)
            err = txn_text_write(text, path);
        if (!err)
            err = txn_text_end(text, NULL, NULL);
        if (!err)
            err = txn_commit(&rev, NULL, txn, &options);
        if (err)
            err_print(err, "committer");
        c->failed += err != NULL;
        err_free(err);
    }
    return NULL;
}

static void committers_and_stock_work_at_the_same_time(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "v", 8, 10);
    struct fsfs *fs = stock_open(stock, "v");
    mucc_commit(stock, fs, "mkdir d\n");
    struct committer committers[COMMITTERS];
    pthread_t threads[COMMITTERS];
    for (int i = 0; i < COMMITTERS; i++) {
        committers[i] = (struct committer){stock, fs, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, committer_run, &committers[i]), 0);
    }
    stock_run(
        stock,
        "for i in 1 2 3 4 5; do svnmucc -m m -u bob -U $U/v mkdir d/s$i >out || exit 1; done");
    for (int i = 0; i < COMMITTERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(committers[i].failed, 0);
    }
    revnum youngest;
    assert_ok(fsfs_youngest(&youngest, fs));
    assert_int_equal(youngest, 1 + COMMITTERS * COMMITS_EACH + 5);
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v");
    assert_str(stock_output(stock, "svnlook tree --full-paths v | wc -l"), "103\n");
}

struct gathered {
    pthread_t thread;
    struct txn *txn;
    const struct commit_options *options;
    struct err *err;
};

static void *gathered_run(void *arg)
{
    struct gathered *g = arg;
    revnum rev;
    g->err = txn_commit(&rev, NULL, g->txn, g->options);
    return NULL;
}

static void the_members_of_a_batch_stand_on_each_other(void **state)
{
    static const struct commit_options options;
    struct stock *stock = *state;
    make_texts(stock);
    stock_create(stock, "v", 8, 1000);
    struct fsfs *fs = stock_open(stock, "v");
    mucc_commit(stock, fs, "mkdir d\nput t1 d/f\nmkdir e\n");
    /* While the write lease is taken, commits gather. */
    enum { N = 6 };
    static const char *const edits[N] = {"put t2 d/a\n", "put t3 d/b\n", "put t2 d/f\n",
                                         "put t3 d/f\n", "rm e\n",       "mkdir e/x\n"};
    struct txn *txns[N];
    for (int i = 0; i < N; i++)
        txns[i] = mucc_txn(stock, fs, edits[i]);
    assert_ok(lease_take(fs->store, LEASE_WRITE));
    struct gathered gathered[N];
    for (int i = 0; i < N; i++) {
        gathered[i] = (struct gathered){.txn = txns[i], .options = &options};
        assert_int_equal(pthread_create(&gathered[i].thread, NULL, gathered_run, &gathered[i]), 0);
        usleep(50000);
    }
    lease_drop(fs->store, LEASE_WRITE);
    for (int i = 0; i < N; i++)
        pthread_join(gathered[i].thread, NULL);
    assert_ok(gathered[0].err);
    assert_ok(gathered[1].err);
    assert_ok(gathered[2].err);
    assert_err(gathered[3].err, E_FS_CONFLICT, "Conflict at '/d/f'");
    assert_ok(gathered[4].err);
    assert_err(gathered[5].err, E_FS_CONFLICT, "Conflict at '/e'");
    fsfs_close(fs);
    assert_str(stock_output(stock, "svnadmin verify -q v; svnlook youngest v; svnlook tree "
                                   "--full-paths v; svnlook cat v d/f | cmp - t2"),
               "5\n/\nd/\nd/a\nd/b\nd/f\n");
}

static void what_does_not_verify_is_not_committed(void **state)
{
    static const struct commit_options options;
    struct stock *stock = *state;
    make_texts(stock);
    stock_create(stock, "v", 8, 1000);
    stock_run(stock, "printf '[debug]\\nverify-before-commit = true\\n' >v/db/fsfs.conf");
    struct fsfs *fs = stock_open(stock, "v");
    mucc_commit(stock, fs, "mkdir d\nput t1 d/f\nps k v d\n");
    mucc_commit(stock, fs, "put t2 d/f\n");
    struct txn *txn = mucc_txn(stock, fs, "put t3 d/f\n");
    assert_ok(txn_settle(txn));
    txn->stored.list[0]->rep.md5[0] ^= 1; /* as a fault in memory would */
    revnum rev;
    assert_err(txn_commit(&rev, NULL, txn, &options), E_FS_CORRUPT, "/d/f");
    assert_int_equal(mucc_commit(stock, fs, "put t4 d/f\n"), 3);
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v && svnlook cat v d/f | cmp - t4");
}

static void what_does_not_verify_is_not_loaded(void **state)
{
    struct stock *stock = *state;
    make_texts(stock);
    stock_create(stock, "v", 8, 1000);
    stock_run(stock, "printf '[debug]\\nverify-before-commit = true\\n' >v/db/fsfs.conf");
    struct fsfs *fs = stock_open(stock, "v");
    struct load_commits *load;
    revnum rev = 0, durable;
    assert_ok(load_commits_begin(&load, fs));
    for (int i = 0; i < 3; i++) {
        struct txn *txn;
        assert_ok(txn_begin(&txn, fs, rev));
        assert_ok(mucc_edit(stock, txn, arena_printf(stock->arena, "put t%d f\n", i + 1).p));
        assert_ok(txn_settle(txn));
        if (i < 2) {
            assert_ok(load_commits_add(&rev, load, txn));
            continue;
        }
        txn->stored.list[0]->rep.md5[0] ^= 1; /* as a fault in memory would */
        assert_err(load_commits_add(&rev, load, txn), E_FS_CORRUPT, "/f");
    }
    assert_ok(load_commits_end(&durable, load));
    assert_int_equal(durable, 2);
    assert_int_equal(mucc_commit(stock, fs, "put t4 f\n"), 3);
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v && svnlook cat -r 2 v f | cmp - t2 && "
                     "svnlook cat v f | cmp - t4");
}

/* ---- limits ---- */

/* EDITS on the youngest revision are refused, with MESSAGE, and nothing is stored. */
static void assert_refused(struct stock *stock, struct fsfs *fs, const char *edits,
                           const char *message)
{
    static const struct commit_options options;
    struct head before, after;
    revnum rev;
    assert_ok(fsfs_head(&before, fs));
    assert_err(txn_commit(&rev, NULL, mucc_txn(stock, fs, edits), &options), E_REPOS_BAD_ARGS,
               message);
    assert_ok(fsfs_head(&after, fs));
    assert_int_equal(after.youngest, before.youngest);
}

/* A list with the property k takes 17 bytes more than its value, of three digits' length. */
static const char *ps_bytes(struct stock *stock, int n)
{
    return arena_printf(stock->arena, "ps k %0*d d\n", n - 17, 0).p;
}

static void a_property_list_is_refused_that_could_not_be_read(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "v", 8, 1000);
    struct fsfs *fs = stock_open(stock, "v");
    fs->limits.list = 300;
    mucc_commit(stock, fs, "mkdir d\n");
    assert_refused(stock, fs, ps_bytes(stock, 301),
                   "The property list of '/d' is larger than 300 bytes");
    assert_int_equal(mucc_commit(stock, fs, ps_bytes(stock, 300)), 2);

    char value[300];
    memset(value, 'x', sizeof value);
    struct str long_value = str_make(value, sizeof value);
    assert_err(revprop_set(fs, 2, S("k"), &long_value, NULL), E_REPOS_BAD_ARGS,
               "The property list of revision 2 is larger than 300 bytes");
    assert_err(revprops_replace(fs, 2, &(struct prop){S("k"), long_value}, 1), E_REPOS_BAD_ARGS,
               "revision 2");
    struct txn *txn = mucc_txn(stock, fs, "mkdir e\n");
    txn_set_revprop(txn, S("k"), &long_value);
    revnum rev;
    assert_err(txn_commit(&rev, NULL, txn, &(struct commit_options){0}), E_REPOS_BAD_ARGS,
               "is larger than 300 bytes");
    fsfs_close(fs);
    assert_str(stock_output(stock, "svnadmin verify -q v; svnlook youngest v; svnlook proplist "
                                   "--revprop v | sort"),
               "2\n  svn:author\n  svn:date\n  svn:log\n");
}

static void a_folder_is_refused_that_could_not_be_read(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "v", 8, 1000);
    struct fsfs *fs = stock_open(stock, "v");
    mucc_commit(stock, fs, "mkdir d\nmkdir d/a\nmkdir d/b\n");
    fs->limits.list = 200; /* an entry takes some 30 bytes and its name */
    const char *c = arena_printf(stock->arena, "mkdir d/%0*d\n", 50, 1).p;
    const char *d = arena_printf(stock->arena, "mkdir d/%0*d\n", 50, 2).p;
    assert_refused(stock, fs, arena_printf(stock->arena, "%s%s", c, d).p,
                   "The list of entries of '/d' is larger than 200 bytes");
    struct txn *behind = mucc_txn(stock, fs, c);
    mucc_commit(stock, fs, d);
    revnum rev;
    assert_err(txn_commit(&rev, NULL, behind, &(struct commit_options){0}), E_REPOS_BAD_ARGS,
               "The list of entries of '/d' is larger than 200 bytes"); /* merged */
    fs->limits.changes = 100;
    assert_refused(stock, fs, "mkdir e\nmkdir f\nmkdir g\n", "The list of the 3 changed paths");
    mucc_commit(stock, fs, "mkdir e\n");
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v");
}

static void a_path_is_refused_that_could_not_be_read(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "v", 8, 1000);
    struct fsfs *fs = stock_open(stock, "v");
    assert_refused(stock, fs, arena_printf(stock->arena, "mkdir %0*d\n", NODEREV_MAX, 0).p,
                   "The node-revision of '/000");
    mucc_commit(stock, fs, arena_printf(stock->arena, "mkdir %0*d\n", NODEREV_MAX - 200, 0).p);
    fsfs_close(fs);
    fs = stock_open(stock, "v");
    AUTO_ARENA(arena);
    struct noderevs {
        const struct noderev **list;
        size_t n;
    } made;
    assert_ok(noderevs_made(&made.list, &made.n, fs, 1, arena));
    assert_int_equal(made.n, 2);
    fsfs_close(fs);
}

/* ---- the rep-cache as an untrusted hint ---- */

/* Text t2 is on its way; the rep-cache has a row for it that is wrong. */
static void a_row_of_the_rep_cache_is_checked_before_it_is_believed(void **state)
{
    static const char *const rows[] = {
        "1,3,703,692",  /* another text, of another size */
        "1,3,703,732",  /* the size is a lie */
        "1,5,703,732",  /* no text there */
        "1,99,703,732", /* no item */
        "7,3,703,732",  /* no revision */
        "1,4,743,732",  /* right size, other bytes: as of two texts with one SHA-1 */
    };
    struct stock *stock = *state;
    make_texts(stock);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        stock_run(stock, "rm -rf v; tr 0-9 5-90-4 <t2 >u2");
        stock_create(stock, "v", 8, 1000);
        struct fsfs *fs = stock_open(stock, "v");
        mucc_commit(stock, fs, "put t1 f\nput u2 g\n");
        assert_ok(repcache_flush(fs->store));
        fsfs_close(fs);
        stock_run(
            stock,
            arena_printf(
                stock->arena,
                "python3 -c \"import sqlite3, hashlib; d = sqlite3.connect('v/db/rep-cache.db');"
                "d.execute('insert into rep_cache values (?,%s)', [hashlib.sha1(open('t2', "
                "'rb').read()).hexdigest()]);"
                "d.commit()\"",
                rows[i])
                .p);
        fs = stock_open(stock, "v");
        mucc_commit(stock, fs, "put t2 h\n");
        fsfs_close(fs);
        stock_run(stock, "svnlook cat v h | cmp - t2; svnlook cat v g | cmp - u2");
        assert_str(stock_output(stock, "strings v/db/revs/0/2 | grep -c '^text: 2 3 [0-9]* 732'"),
                   "1\n");
    }
}

static void after_a_load_that_failed_commits_go_on(void **state)
{
    struct stock *stock = *state;
    make_texts(stock);
    stock_create(stock, "v", 8, 1000);
    struct fault_disk *fault = fault_disk_new();
    struct fsfs *fs;
    struct fsfs_options options = {0};
    assert_ok(posix_open(&options.store, stock_path(stock, "v/db"), fault_disk_ops(fault)));
    assert_ok(fsfs_open(&fs, NULL, &options));
    struct load_commits *load;
    revnum rev = 0, durable;
    assert_ok(load_commits_begin(&load, fs));
    for (int i = 0; i < 3; i++) {
        struct txn *txn;
        assert_ok(txn_begin(&txn, fs, rev));
        assert_ok(mucc_edit(stock, txn, arena_printf(stock->arena, "put t1 lost%d\n", i).p));
        assert_ok(load_commits_add(&rev, load, txn));
    }
    fault_disk_arm(fault, 0);
    assert_err(load_commits_end(&durable, load), EIO, NULL);
    assert_int_equal(durable, 0);
    fault_disk_arm(fault, UINT64_MAX);
    assert_int_equal(mucc_commit(stock, fs, "put t1 kept\n"), 1);
    assert_int_equal(mucc_commit(stock, fs, "put t1 again\nput t2 kept\n"), 2);
    fsfs_close(fs);
    fault_disk_free(fault);
    assert_str(stock_output(stock, "svnadmin verify -q v; svnlook tree --full-paths v"),
               "/\nagain\nkept\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(a_history_is_byte_for_byte_that_of_stock),
        STOCK_TEST(a_random_history_is_byte_for_byte_that_of_a_stock_load),
        STOCK_TEST(what_is_not_determined_reads_the_same_and_is_no_larger),
        STOCK_TEST(what_conflicts_with_stock_conflicts_and_what_merges_merges),
        STOCK_TEST(a_merged_directory_has_the_changes_of_both),
        STOCK_TEST(who_wants_no_merge_is_out_of_date),
        STOCK_TEST(committers_and_stock_work_at_the_same_time),
        STOCK_TEST(the_members_of_a_batch_stand_on_each_other),
        STOCK_TEST(what_does_not_verify_is_not_committed),
        STOCK_TEST(what_does_not_verify_is_not_loaded),
        STOCK_TEST(a_property_list_is_refused_that_could_not_be_read),
        STOCK_TEST(a_folder_is_refused_that_could_not_be_read),
        STOCK_TEST(a_path_is_refused_that_could_not_be_read),
        STOCK_TEST(a_row_of_the_rep_cache_is_checked_before_it_is_believed),
        STOCK_TEST(after_a_load_that_failed_commits_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
