/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/repcache.h"
#include "mucc.h"

/* The same history twice: by svnmucc, whose order of edits the lines have, and by our transactions. */
static const char *const history[][2] = {
    {"mkdir trunk propset q v2 trunk mkdir trunk/d propset k v trunk/d put t1 trunk/f propset k v trunk/f put t1 trunk/g",
     "mkdir trunk\nps q v2 trunk\nmkdir trunk/d\nps k v trunk/d\ntouch trunk/f\nps k v trunk/f\nput t1 trunk/f\nput t1 trunk/g\n"},
    {"cp 1 trunk branch put t2 branch/g put t2 trunk/f",
     "cp 1 trunk branch\nput t2 branch/g\nput t2 trunk/f\n"},
    {"put t1 branch/f rm trunk/d", "put t1 branch/f\nrm trunk/d\n"},
    {"propset a b . propset a b branch/d", "ps a b .\nps a b branch/d\n"},
    {"mkdir e propset k v e put t1 e/x mkdir g propset k2 v g",
     "mkdir e\nps k v e\nput t1 e/x\nmkdir g\nps k2 v g\n"},
    {"propset svn:mergeinfo /trunk:1 branch propset svn:mergeinfo /t:1 branch/g",
     "ps svn:mergeinfo /trunk:1 branch\nps svn:mergeinfo /t:1 branch/g\n"},
    {"cp 6 branch e/copy put t3 e/copy/g", "cp 6 branch e/copy\nput t3 e/copy/g\n"},
    {"put empty e/copy/d/empty propset svn:mergeinfo /x:2 e/copy/d", "ps svn:mergeinfo /x:2 e/copy/d\nput empty e/copy/d/empty\n"},
    {"rm e/copy/g", "rm e/copy/g\n"},
    {"rm branch cp 8 branch branch put t4 branch/g", "rm branch\ncp 8 branch branch\nput t4 branch/g\n"},
    {"propdel svn:mergeinfo branch put t1 branch/d/n", "pd svn:mergeinfo branch\nput t1 branch/d/n\n"},
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
    stock_run(stock, "seq 1 200 >t1; seq 1 210 >t2; seq 5 300 >t3; (seq 1 90; seq 7 400) >t4; : >empty;"
                     " head -c 500000 /dev/urandom | od -An -tx2 -w40 >big; head -c 300000 /dev/urandom >random");
}

static void stock_commit(struct stock *stock, const char *edits)
{
    stock_run(stock, arena_printf(stock->arena, "svnmucc -u ann -m m -U $U/s %s >out", edits).p);
}

/* With neither zlib, whose streams differ from library to library, nor directory deltas, for which stock searches, every byte is determined. */
static void make_plain(struct stock *stock)
{
    stock_run(stock, "for r in s v; do printf '[deltification]\\nenable-dir-deltification = false\\n"
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
    assert_ok(repcache_flush(fs));
    fsfs_close(fs);
}

static void a_history_is_byte_for_byte_that_of_stock(void **state)
{
    static const int determined[] = {1, 4, 6, 7, 8};
    struct stock *stock = *state;
    make_texts(stock);
    for (size_t i = 0; i < sizeof determined / sizeof *determined; i++) {
        write_history(stock, determined[i], true);
        stock_run(stock, "diff -rq s/db/revs v/db/revs && cmp s/db/current v/db/current");
    }
}

static void stock_reads_what_is_committed_in_every_format(void **state)
{
    struct stock *stock = *state;
    make_texts(stock);
    FOR_EACH_FORMAT(format)
    {
        write_history(stock, (int)format, false);
        stock_run(stock, "svnadmin verify -q v");
        stock_run(stock, "for r in s v; do svnadmin dump -q $r | sed '/^UUID/d; /^....-..-..T..:/d' >$r.dump; done;"
                         " cmp s.dump v.dump");
        stock_run(stock, "for r in s v; do for n in $(seq 0 18); do svnlook tree --show-ids -r $n $r; done |"
                         " sed 's,/[0-9]*>,>,' >$r.tree; done; cmp s.tree v.tree");
        stock_run(stock, "test $(du -bs v/db/revs | cut -f 1) -le $(($(du -bs s/db/revs | cut -f 1) * 102 / 100))");
    }
}

/* ---- transactions that are behind ---- */

/* A: committed first. B: on the revision before it. CONFLICT: where stock says they do (asked with svnmucc and a pre-commit hook that commits A while
 * B's transaction is open); NULL: both go in. */
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
    {"cp 1 d/f x/f\nrm d/f\n", "put t2 d/f\n", "/d/f"},
    {"put t2 d/f\n", "cp 1 d/f x/f\nrm d/f\n", "/d/f"},
    {"cp 1 d x/d\nrm d\n", "put t2 d/f\n", "/d"},
    {"put t2 d/f\n", "cp 1 d x/d\nrm d\n", "/d"},
    {"put t2 d/m\n", "put t2 d/n\n", NULL},
    {"rm d\nmkdir d\n", "put t2 d/f\n", "/d"},
    {"put t2 d/f\n", "rm d\nmkdir d\n", "/d"},
    {"put t2 d/f\n", "cp 1 d x/d2\n", NULL},
    {"rm d/e\n", "put t2 d/e/g\n", "/d/e"},
    {"put t2 d/e/g\n", "rm d/e\n", "/d/e"},
    {"ps svn:mergeinfo /a:1 d/f\n", "ps svn:mergeinfo /a:1 x\n", NULL},
    {"ps svn:mergeinfo /a:1 d/f\n", "put t2 d/e/g\n", NULL},
    {"put t2 d/f\n", "ps k v d/f\n", "/d/f"},
    {"rm x\n", "put t2 d/n\n", NULL},
    {"put t1 d/a\nput t1 d/z\nrm d/e\n", "put t2 d/f\n", NULL},
};

static void what_conflicts_with_stock_conflicts_and_what_merges_merges(void **state)
{
    static const struct commit_options options;
    struct stock *stock = *state;
    make_texts(stock);
    FOR_EACH_FORMAT(format)
    {
        if (format != 1 && format != 8)
            continue;
        for (size_t i = 0; i < sizeof races / sizeof *races; i++) {
            stock_run(stock, "rm -rf v");
            stock_create(stock, "v", (int)format, 1000);
            struct fsfs *fs = stock_open(stock, "v");
            mucc_commit(stock, fs, "mkdir d\nmkdir d/e\nput t1 d/e/g\nput t1 d/f\nps k v d/f\nmkdir x\n");
            struct txn *b = mucc_txn(stock, fs, races[i].b);
            mucc_commit(stock, fs, races[i].a);
            revnum rev = 0;
            struct err *err = txn_commit(&rev, NULL, b, &options);
            if (races[i].conflict)
                assert_err(err, E_FS_CONFLICT, arena_printf(stock->arena, "Conflict at '%s'", races[i].conflict).p);
            else
                assert_ok(err);
            assert_int_equal(rev, races[i].conflict ? 0 : 3);
            fsfs_close(fs);
            stock_run(stock, "svnadmin verify -q v");
        }
    }
}

static void a_merged_directory_has_the_changes_of_both(void **state)
{
    static const struct commit_options options;
    struct stock *stock = *state;
    make_texts(stock);
    stock_create(stock, "v", 8, 1000);
    struct fsfs *fs = stock_open(stock, "v");
    mucc_commit(stock, fs, "mkdir d\nput t1 d/b\nput t1 d/d\nput t1 d/f\nps svn:mergeinfo /x:1 d/f\n");
    struct txn *late = mucc_txn(stock, fs, "put t2 d/b\nput t2 d/e\nps svn:mergeinfo /y:1 d/b\n");
    mucc_commit(stock, fs, "put t3 d/a\nrm d/d\nrm d/f\n");
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, late, &options));
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v");
    assert_str_eq(stock_output(stock, "svnlook tree --full-paths v; svnlook changed v; svnlook cat v d/b | cmp - t2"),
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(a_history_is_byte_for_byte_that_of_stock),
        STOCK_TEST(stock_reads_what_is_committed_in_every_format),
        STOCK_TEST(what_conflicts_with_stock_conflicts_and_what_merges_merges),
        STOCK_TEST(a_merged_directory_has_the_changes_of_both),
        STOCK_TEST(who_wants_no_merge_is_out_of_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
