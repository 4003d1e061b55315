/* SPDX-License-Identifier: Apache-2.0 */
#include "../mucc.h"
#include "base/account.h"
#include "base/cache.h"
#include "base/digest.h"
#include "delta/encode.h"
#include "delta/svndiff.h"
#include "fsfs/read/rep.h"
#include "fsfs/txn/commit_write.h"
#include "fsfs/txn/dir_text.h"

static const struct commit_options plain;

static struct fsfs *make_repository(struct stock *stock)
{
    stock_run(stock, "seq 1 200 >t1; seq 1 210 >t2; seq 5 300 >t3; : >empty");
    stock_create(stock, "v", 8, 1000);
    struct fsfs *fs = stock_open(stock, "v");
    mucc_commit(stock, fs, "mkdir d\nmkdir d/e\nput t1 d/f\nps k v d\nput t3 d/e/g\n");
    return fs;
}

static struct txn *begin(struct fsfs *fs)
{
    revnum youngest;
    struct txn *txn;
    assert_ok(fsfs_youngest(&youngest, fs));
    assert_ok(txn_begin(&txn, fs, youngest));
    return txn;
}

/* The changed paths as lines of a revision file of format 8, without the ids. */
static struct str changes_of(struct stock *stock, struct txn *txn)
{
    struct changes *changes;
    AUTO_BUF(lines);
    assert_ok(txn_changes(&changes, txn));
    for (size_t i = 0; i < changes->n; i++) {
        AUTO_BUF(line);
        change_format(&line, &changes->list[i], 8);
        struct str rest = buf_view(&line);
        str_word(&rest);
        buf_str(&lines, rest);
    }
    shared_unref(changes);
    return arena_str(stock->arena, buf_view(&lines));
}

static void text_is(struct stock *stock, struct txn *txn, const char *path, const char *file)
{
    const struct txn_node *node;
    struct reader *reader;
    AUTO_BUF(text);
    assert_ok(txn_find(&node, txn, str_of(path), stock->arena));
    assert_non_null(node);
    assert_ok(txn_node_text(&reader, txn, node));
    assert_ok(reader_all(&text, reader, 1u << 30));
    reader_close(reader);
    if (!str_eq(buf_view(&text), stock_file(stock, file)))
        fail_msg("%s is not %s: %zu bytes", path, file, text.n);
}

/* ---- errors ---- */

static void errors_name_path_and_transaction(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct txn *txn = begin(fs);
    const char *in =
        arena_printf(stock->arena, "transaction '%.*s', path '/no'", STR(txn_name(txn))).p;
    struct txn_text *text;
    assert_err(txn_delete(txn, S("/no")), E_FS_NOT_FOUND, in);
    assert_err(txn_make_dir(txn, S("/no/d")), E_FS_NOT_FOUND, "path '/no/d'");
    assert_err(txn_make_dir(txn, S("/d")), E_FS_ALREADY_EXISTS, "path '/d'");
    assert_err(txn_make_file(txn, S("/d/f/x")), E_FS_NOT_DIRECTORY, "'/d/f'");
    assert_err(txn_delete(txn, S("/")), E_FS_ROOT_DIR, NULL);
    assert_err(txn_copy(txn, S("/d/x"), 1, S("/no")), E_FS_NOT_FOUND, "revision 1, path '/no'");
    assert_err(txn_copy(txn, S("/d/x"), 9, S("/d")), E_FS_NO_SUCH_REVISION, "No such revision 9");
    assert_err(txn_text_begin(&text, txn, S("/d"), NULL), E_FS_NOT_FILE,
               "Attempted to get textual contents of a *non*-file node");
    assert_err(txn_set_prop(txn, S("/no"), S("a"), NULL), E_FS_NOT_FOUND, in);
    assert_str(changes_of(stock, txn), "");
    txn_abort(txn);
    fsfs_close(fs);
}

static void a_wrong_base_or_result_checksum_is_told(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct txn *txn = begin(fs);
    struct txn_text *text;
    uint8_t wrong[MD5_SIZE] = {1}, right[MD5_SIZE];
    md5_of(right, stock_file(stock, "t1"));
    assert_err(txn_text_begin(&text, txn, S("/d/f"), wrong), E_CHECKSUM_MISMATCH,
               "Base checksum mismatch on '/d/f'");
    assert_ok(txn_text_begin(&text, txn, S("/d/f"), right));
    assert_ok(txn_text_write(text, S("new")));
    assert_err(txn_text_end(text, wrong, NULL), E_CHECKSUM_MISMATCH,
               "Checksum mismatch for '/d/f'");
    revnum rev;
    assert_err(txn_commit(&rev, NULL, txn, &plain), E_FS_GENERAL, NULL);
    fsfs_close(fs);
}

/* ---- changed paths ---- */

static void changes_fold(void **state)
{
    static const struct {
        const char *edits, *changes;
    } cases[] = {
        {"mkdir n\nps a b n\n", "add-dir false true false /n\n\n"},
        {"mkdir n\nrm n\n", ""},
        {"mkdir n\nput t1 n/f\nrm n\n", ""},
        {"put t2 d/f\nps a b d/f\n", "modify-file true true false /d/f\n\n"},
        {"put t2 d/f\nrm d/f\n", "delete-file false false false /d/f\n\n"},
        {"put t2 d/f\nput t1 d/e/n\nrm d\n", "delete-dir false false false /d\n\n"},
        {"rm d/f\nput t2 d/f\n", "replace-file true false false /d/f\n\n"},
        {"rm d/f\nput t2 d/f\nrm d/f\n", "delete-file false false false /d/f\n\n"},
        {"put t1 d/e/n\nput t2 d-e\nrm d/e\nmkdir d/e\n",
         "add-file true false false /d-e\n\nreplace-dir false false false /d/e\n\n"},
        {"cp 1 d x\nput t2 x/f\n",
         "add-dir false false false /x\n1 /d\nmodify-file true false false /x/f\n\n"},
        {"cp 1 d/f d/e\n", "replace-file false false false /d/e\n1 /d/f\n"},
        {"ps svn:mergeinfo /a:1 d\n", "modify-dir false true true /d\n\n"},
        {"pd nothing d/f\n", "modify-file false true false /d/f\n\n"},
    };
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct txn *txn = begin(fs);
        assert_ok(mucc_edit(stock, txn, cases[i].edits));
        assert_str_eq(changes_of(stock, txn), str_of(cases[i].changes));
        txn_abort(txn);
    }
    fsfs_close(fs);
}

/* The file on disk has them as they came: here a change in a folder that was then replaced. */
static void changes_on_disk_fold(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct txn *txn = mucc_txn(stock, fs, "rm d\nmkdir d\nmkdir d/n\n"), *loaded;
    assert_ok(txn_spill(txn));
    stock_run(stock,
              arena_printf(stock->arena,
                           "cd v/db/transactions/%.*s.txn; (echo \"$(head -n 1 changes | cut -d "
                           "' ' -f 1) modify-file true false false /d/f\"; echo; cat changes)"
                           " >new; mv new changes",
                           STR(txn_name(txn)))
                  .p);
    assert_ok(txn_load(&loaded, fs, txn_name(txn)));
    assert_str(changes_of(stock, loaded),
               "replace-dir false false false /d\n\nadd-dir false false false /d/n\n\n");
    txn_abort(loaded);
    txn_abort(txn);
    fsfs_close(fs);
}

/* ---- looking ---- */

enum { LEVELS = 300 };

/* What was asked of the cache by now: a step through the tree asks two or three times. */
static uint64_t asked(void)
{
    struct cache_stats stats;
    cache_stats(&stats);
    return stats.hits + stats.misses;
}

/* The first N of LEVELS folders in each other. */
static struct str level(struct str path, size_t n)
{
    return str_make(path.p, 2 * n);
}

static void a_deep_tree_is_walked_once(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    AUTO_BUF(way);
    for (size_t i = 0; i < LEVELS; i++)
        buf_cstr(&way, "/x");
    const struct str path = buf_view(&way);
    struct txn *txn = begin(fs);
    uint64_t before = asked();
    for (size_t i = 1; i <= LEVELS; i++)
        assert_ok(txn_make_dir(txn, level(path, i)));
    assert_in_range(asked() - before, 0, LEVELS);
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, txn, &plain));

    txn = begin(fs);
    before = asked();
    const struct txn_node *node;
    for (size_t i = 1; i <= LEVELS; i++) {
        assert_ok(txn_get(&node, txn, level(path, i), stock->arena));
        assert_false(txn_node_is_mutable(node));
    }
    for (size_t i = 1; i <= LEVELS; i++)
        assert_ok(txn_set_prop(txn, level(path, i), S("p"), &S("v")));
    assert_in_range(asked() - before, LEVELS, 16 * LEVELS);
    assert_ok(txn_commit(&rev, NULL, txn, &plain));
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v");
}

static void a_transaction_shows_what_it_changed_and_what_lies_beneath(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct txn *txn = begin(fs);
    assert_ok(mucc_edit(stock, txn, "put t2 d/a\nrm d/e\nput t3 d/z\nps x y d/z\n"));
    const struct txn_node *d, *node;
    struct dirent_fs *list;
    const struct prop *props;
    size_t n;
    AUTO_ARENA(arena);
    assert_ok(txn_find(&d, txn, S("/d"), arena));
    assert_true(txn_node_is_mutable(d));
    assert_ok(txn_node_entries(&list, &n, txn, d, arena));
    assert_int_equal(n, 3);
    assert_str(list[0].name, "a");
    assert_str(list[1].name, "f");
    assert_str(list[2].name, "z");
    assert_ok(txn_node_props(&props, &n, txn, d, arena));
    assert_int_equal(n, 1);
    assert_str(props[0].value, "v");
    assert_ok(txn_find(&node, txn, S("/d/e/g"), arena));
    assert_null(node);
    assert_ok(txn_find(&node, txn, S("/d/f"), arena));
    assert_false(txn_node_is_mutable(node));
    text_is(stock, txn, "/d/f", "t1");
    text_is(stock, txn, "/d/a", "t2");
    text_is(stock, txn, "/d/z", "t3");
    txn_abort(txn);
    fsfs_close(fs);
}

/* ---- texts ---- */

static void a_delta_is_applied_to_the_present_text(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    stock_run(stock, "seq 1 900000 >large; (echo first; seq 1 3 900000; seq 5 899999) >larger");
    struct txn *txn = begin(fs);
    assert_ok(mucc_edit(stock, txn, "put large d/l\n"));
    static const char *const steps[][3] = {{"/d/f", "t1", "t2"},
                                           {"/d/f", "t2", "empty"},
                                           {"/d/f", "empty", "t3"},
                                           {"/d/l", "large", "larger"},
                                           {"/d/l", "larger", "t1"}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        AUTO_BUF(document);
        struct svndiff_params params = {2, 0};
        uint8_t before[MD5_SIZE], after[MD5_SIZE];
        struct str source = stock_file(stock, steps[i][1]), target = stock_file(stock, steps[i][2]);
        delta_encode(&document, source, target, &params);
        md5_of(before, source);
        md5_of(after, target);
        struct txn_text *text;
        assert_ok(txn_delta_begin(&text, txn, str_of(steps[i][0]), before));
        for (struct str rest = buf_view(&document); rest.n; rest = str_skip(rest, 10007))
            assert_ok(txn_delta_write(text, str_make(rest.p, rest.n < 10007 ? rest.n : 10007)));
        assert_ok(txn_text_end(text, after, NULL));
        text_is(stock, txn, steps[i][0], steps[i][2]);
    }
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, txn, &plain));
    fsfs_close(fs);
    stock_run(
        stock,
        "svnadmin verify -q v && svnlook cat v d/f | cmp - t3 && svnlook cat v d/l | cmp - t1");
}

static void texts_may_arrive_interleaved(void **state)
{
    static const char *const names[] = {"la", "t1", "lb", "t2", "lc", "empty"};
    enum { COUNT = sizeof names / sizeof *names, PIECE = 100000 };
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    stock_run(
        stock,
        "head -c 9000000 /dev/urandom >la; seq 1 1500000 >lb; head -c 5000001 /dev/urandom >lc");
    struct txn *txn = begin(fs);
    struct txn_text *texts[COUNT];
    struct str rest[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        struct str path = arena_printf(stock->arena, "/%s", names[i]);
        assert_ok(txn_make_file(txn, path));
        assert_ok(txn_text_begin(&texts[i], txn, path, NULL));
        rest[i] = stock_file(stock, names[i]);
    }
    for (size_t open = COUNT; open;) {
        for (size_t i = 0; i < COUNT; i++) {
            if (!texts[i])
                continue;
            size_t n = rest[i].n < PIECE ? rest[i].n : PIECE;
            assert_ok(txn_text_write(texts[i], str_make(rest[i].p, n)));
            rest[i] = str_skip(rest[i], n);
            if (rest[i].n)
                continue;
            assert_ok(txn_text_end(texts[i], NULL, NULL));
            texts[i] = NULL;
            open--;
        }
    }
    text_is(stock, txn, "/lb", "lb");
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, txn, &plain));
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v; for f in la t1 lb t2 lc empty; do svnlook cat v $f | "
                     "cmp - $f || exit 1; done");
}

static uint64_t stored_bytes(struct stock *stock)
{
    struct stat st;
    assert_int_equal(stat(stock_path(stock, "v/db/revs/0/2"), &st), 0);
    return (uint64_t)st.st_size;
}

static void an_equal_text_is_stored_once(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    stock_run(stock, "head -c 6000000 /dev/urandom >l; head -c 100000 /dev/urandom >s");
    mucc_commit(stock, fs,
                "put l d/l1\nput s d/s1\nput l d/l2\nput s d/s2\nput l d/l3\nput t1 d/t\n");
    assert_in_range(stored_bytes(stock), 6100000, 6110000);
    fsfs_close(fs);
    stock_run(
        stock,
        "svnadmin verify -q v; for i in l1 l2 l3; do svnlook cat v d/$i | cmp - l || exit 1; done");
}

static void an_abandoned_text_leaves_nothing(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    stock_run(stock, "head -c 6000000 /dev/urandom >l");
    struct txn *txn = begin(fs);
    struct txn_text *text;
    assert_ok(txn_make_file(txn, S("/x")));
    assert_ok(txn_text_begin(&text, txn, S("/x"), NULL));
    assert_ok(txn_text_write(text, stock_file(stock, "l")));
    txn_text_abandon(text);
    assert_ok(mucc_edit(stock, txn, "put t2 y\n"));
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, txn, &plain));
    assert_in_range(stored_bytes(stock), 500, 5000);
    fsfs_close(fs);
    stock_run(stock, "svnadmin verify -q v");
}

/* ---- other processes ---- */

static void stock_sees_a_spilled_transaction(void **state)
{
    struct stock *stock = *state;
    stock_run(stock, "seq 1 200 >t1; seq 1 210 >t2; seq 5 300 >t3");
    FOR_EACH_FORMAT(format)
    {
        stock_run(stock, "rm -rf v");
        stock_create(stock, "v", (int)format, 1000);
        struct fsfs *fs = stock_open(stock, "v");
        mucc_commit(stock, fs, "mkdir d\nmkdir d/e\nput t1 d/f\nps k v d\nput t3 d/e/g\n");
        struct txn *txn = mucc_txn(
            stock, fs, "put t2 d/f\nput t3 n\nrm d/e/g\nps p q n\ncp 1 d c\nput t1 c/e/g\n");
        assert_ok(txn_spill(txn));
        struct str seen =
            stock_output(stock, arena_printf(stock->arena,
                                             "T=%.*s; svnlook tree --full-paths -t $T v; svnlook "
                                             "changed --copy-info -t $T v; svnlook log -t $T v;"
                                             " svnlook cat -t $T v d/f | cmp - t2; svnlook cat -t "
                                             "$T v c/e/g | cmp - t1; svnlook pg -t $T v p n",
                                             STR(txn_name(txn)))
                                    .p);
        assert_str_eq(seen,
                      S("/\nc/\nc/e/\nc/e/g\nc/f\nd/\nd/e/\nd/f\nn\n"
                        "A + c/\n    (from d/:r1)\nU   c/e/g\nD   d/e/g\nU   d/f\nA   n\nm\nq"));
        txn_abort(txn);
        assert_str(stock_output(stock, "svnadmin lstxns v; ls v/db/transactions; test ! -e "
                                       "v/db/txn-protorevs || ls v/db/txn-protorevs"),
                   "");
        fsfs_close(fs);
    }
}

static void a_hook_may_change_properties_of_a_spilled_transaction(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct txn *txn = mucc_txn(stock, fs, "put t2 d/f\n");
    assert_ok(txn_spill(txn));
    stock_run(stock, arena_printf(stock->arena,
                                  "echo -n changed >log; svnadmin setrevprop -t %.*s v svn:log log",
                                  STR(txn_name(txn)))
                         .p);
    assert_ok(txn_unspill_changes(txn));
    assert_str_eq(*txn_revprop(txn, S("svn:log")), S("changed"));
    assert_str_eq(*txn_revprop(txn, S("svn:author")), S("ann"));
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, txn, &plain));
    fsfs_close(fs);
    assert_str(stock_output(stock, "svnadmin verify -q v; svnlook log v; svnadmin lstxns v"),
               "changed\n");
}

/* What a stock commit has made when its pre-commit hook runs. */
static void a_transaction_of_stock_is_read_and_committed(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        stock_run(stock, "rm -rf v kept; seq 1 200 >t1; seq 1 210 >t2; seq 5 300 >t3");
        stock_create(stock, "v", (int)format, 1000);
        struct fsfs *fs = stock_open(stock, "v");
        mucc_commit(stock, fs, "mkdir d\nmkdir d/e\nput t1 d/f\nps k v d\nput t3 d/e/g\n");
        stock_status(stock, NULL,
                     "printf '#!/bin/sh\\ncp -r $1/db $1/../kept\\nexit 1\\n' >v/hooks/pre-commit; "
                     "chmod +x v/hooks/pre-commit;"
                     "svnmucc -u ann -m late -U $U/v put t2 d/f put t3 n rm d/e/g propset p q n "
                     "propset k w d cp 1 d c put t1 c/e/g"
                     " >out 2>&1; cp -r kept/transactions kept/txn-protorevs v/db/ 2>out; rm "
                     "v/hooks/pre-commit");
        AUTO_ARENA(arena);
        struct str *names;
        size_t n;
        assert_ok(txn_list(&names, &n, fs, arena));
        assert_int_equal(n, 1);
        struct txn *txn;
        assert_ok(txn_load(&txn, fs, names[0]));
        assert_str_eq(*txn_revprop(txn, S("svn:log")), S("late"));
        text_is(stock, txn, "/d/f", "t2");
        text_is(stock, txn, "/c/e/g", "t1");
        revnum rev;
        assert_ok(txn_commit(&rev, NULL, txn, &plain));
        assert_int_equal(rev, 2);
        fsfs_close(fs);
        assert_str(stock_output(stock, "svnadmin verify -q v; svnadmin lstxns v; svnlook tree "
                                       "--full-paths v; svnlook changed v;"
                                       " svnlook cat v n | cmp - t3; svnlook pg v k d"),
                   "/\nc/\nc/e/\nc/e/g\nc/f\nd/\nd/e/\nd/f\nn\nA   c/\nU   c/e/g\n_U  d/\nD   "
                   "d/e/g\nU   d/f\nA   n\nw");
    }
}

static void a_transaction_that_is_no_tree_is_corrupt(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct txn *txn = mucc_txn(stock, fs, "ps k v d\n"), *loaded;
    assert_ok(txn_spill(txn));
    struct str name = txn_name(txn);
    stock_run(stock, arena_printf(stock->arena, /* the root's entry "d" is the root */
                                  "sed -i -e '/^d$/{n;s/.*/V %zu/;n;s/.*/dir 0.0.t%.*s/}' "
                                  "v/db/transactions/%.*s.txn/node.0.0.children",
                                  strlen("dir 0.0.t") + name.n, STR(name), STR(name))
                         .p);
    assert_err(txn_load(&loaded, fs, name), E_FS_CORRUPT, "Entry 'd' of '/' is the node of '/'");
    txn_abort(txn);
    fsfs_close(fs);
}

static void a_transaction_that_is_not_there_is_named(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct txn *txn;
    assert_err(txn_load(&txn, fs, S("1-9")), E_FS_NO_SUCH_TRANSACTION, "No such transaction '1-9'");
    assert_err(txn_load(&txn, fs, S("../x")), E_FS_MALFORMED_TXN_ID, "malformed txn id '../x'");
    fsfs_close(fs);
}

/* ---- memory ---- */

enum { ACCOUNT_LIMIT = 1 << 30 };

static struct account *account_of_test(void)
{
    return account_new(
        &(struct account_terms){.limit = ACCOUNT_LIMIT, .code = E_REPOS_BAD_ARGS, .text = "mine"});
}

/* What is charged to ACCOUNT, to the byte. */
static size_t charged(const struct account *account)
{
    size_t may = 0;
    for (size_t step = ACCOUNT_LIMIT; step; step /= 2) {
        struct err *err = account_check_more(account, may + step);
        if (!err)
            may += step;
        err_free(err);
    }
    return ACCOUNT_LIMIT - may;
}

static void put_text(struct txn *txn, struct str path, struct str bytes)
{
    struct txn_text *text;
    assert_ok(txn_text_begin(&text, txn, path, NULL));
    assert_ok(txn_text_write(text, bytes));
    assert_ok(txn_text_end(text, NULL, NULL));
}

static void the_list_of_texts_is_charged(void **state)
{
    enum { FULL = 16384 }; /* texts, after which the list gets twice as large */
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct account *account = account_of_test(), *outer = account_enter(account);
    struct txn *txn = begin(fs);
    assert_ok(txn_make_file(txn, S("/x")));
    for (uint32_t i = 0; i < FULL; i++)
        put_text(txn, S("/x"), str_make((const char *)&i, sizeof i));
    size_t before = charged(account);
    assert_int_equal(txn->stored.cap, FULL);
    put_text(txn, S("/x"), S("one more"));
    assert_true(charged(account) - before >= FULL * sizeof *txn->stored.list);
    txn_abort(txn);
    assert_int_equal(charged(account), 0);
    account_enter(outer);
    account_close(account);
    fsfs_close(fs);
}

static void the_runs_of_a_folder_are_charged(void **state)
{
    enum { ENTRIES = 4096 };
    struct stock *stock = *state;
    struct fsfs *fs = make_repository(stock);
    struct txn *txn = begin(fs);
    for (int i = 0; i < ENTRIES; i++)
        assert_ok(txn_make_dir(txn, arena_printf(stock->arena, "/n%d", i)));
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, txn, &plain));

    struct account *account = account_of_test(), *outer = account_enter(account);
    txn = begin(fs);
    for (int i = 0; i < ENTRIES; i += 2)
        assert_ok(txn_set_prop(txn, arena_printf(stock->arena, "/n%d", i), S("p"), &S("v")));
    size_t before = charged(account);
    struct dir_text dt;
    assert_ok(dir_text_make(&dt, txn, txn->root));
    assert_true(dt.run_count >= ENTRIES); /* an old one and a new one at each change */
    assert_int_equal(charged(account) - before, dt.text.cap + dt.run_cap * sizeof *dt.runs);
    dir_text_free(&dt);
    assert_int_equal(charged(account), before);
    txn_abort(txn);
    assert_int_equal(charged(account), 0);
    account_enter(outer);
    account_close(account);
    fsfs_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(errors_name_path_and_transaction),
        STOCK_TEST(a_wrong_base_or_result_checksum_is_told),
        STOCK_TEST(changes_fold),
        STOCK_TEST(changes_on_disk_fold),
        STOCK_TEST(a_deep_tree_is_walked_once),
        STOCK_TEST(a_transaction_shows_what_it_changed_and_what_lies_beneath),
        STOCK_TEST(a_delta_is_applied_to_the_present_text),
        STOCK_TEST(texts_may_arrive_interleaved),
        STOCK_TEST(an_equal_text_is_stored_once),
        STOCK_TEST(an_abandoned_text_leaves_nothing),
        STOCK_TEST(stock_sees_a_spilled_transaction),
        STOCK_TEST(a_hook_may_change_properties_of_a_spilled_transaction),
        STOCK_TEST(a_transaction_of_stock_is_read_and_committed),
        STOCK_TEST(a_transaction_that_is_no_tree_is_corrupt),
        STOCK_TEST(a_transaction_that_is_not_there_is_named),
        STOCK_TEST(the_list_of_texts_is_charged),
        STOCK_TEST(the_runs_of_a_folder_are_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
