/* SPDX-License-Identifier: Apache-2.0 */
/* The store on repositories of the stock tools, and the stock tools on what the store made. */
#include "base/thread.h"
#include "fixture.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

/* Run a stock tool; its output is only of interest where it fails. */
static int run(struct fixture *fix, const char *command)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    pid_t child;
    int status;
    assert_int_equal(setenv("R", fix->root, 1), 0);
    assert_int_equal(posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}
#define STOCK(command)                                                                             \
    assert_int_equal(                                                                              \
        run(fix, "{ " command                                                                      \
                 "; } >$R.log 2>&1 && rm $R.log || { cat $R.log >&2; rm $R.log; false; }"),        \
        0)

#define NEED_STOCK_TOOLS()                                                                         \
    if (run(fix, "command -v svnadmin svn >/dev/null") != 0)                                       \
    skip()

/* A repository in $R with four revisions to a shard; its db is the fixture's. */
#define STOCK_CREATE                                                                               \
    "{ svnadmin create $R && chmod u+w $R/db/format && "                                           \
    "sed -i 's/sharded 1000/sharded 4/' $R/db/format; }"

static const struct store_layout four_to_a_shard = {
    .shard_size = 4, .packs = true, .txn_current = true, .revprop_packs = true};

#define MKDIRS(from, to)                                                                           \
    "for i in `seq " #from " " #to "`; do svn mkdir -q -m x file://$R/d$i || false; done"

static void a_stock_repository_is_read(void **state)
{
    struct fixture *fix = *state;
    NEED_STOCK_TOOLS();
    STOCK(STOCK_CREATE);
    STOCK(MKDIRS(1, 9));
    struct store *store = open_store_on(fix, four_to_a_shard, NULL);
    assert_int_equal(youngest_of(store), 9);
    for (revnum rev = 0; rev <= 9; rev++) {
        const char *name = arena_printf(fix->arena, "revs/%d/%d", (int)rev / 4, (int)rev).p;
        assert_str_eq(body_content(store, rev, fix->arena), content(fix, name));
    }
    store_close(store);
}

static void commits_and_packs_of_stock_tools_are_noticed(void **state)
{
    struct fixture *fix = *state;
    NEED_STOCK_TOOLS();
    STOCK(STOCK_CREATE);
    STOCK(MKDIRS(1, 5));
    struct store *store = open_store_on(fix, four_to_a_shard, NULL);
    struct body *body;
    assert_ok(store_body(&body, store, 1, fix->arena));
    STOCK("svnadmin pack $R");
    assert_ok(store_body(&body, store, 2, fix->arena));
    assert_true(body->packed);
    assert_str_eq(body_content(store, 3, fix->arena), content(fix, "revs/0.pack/pack"));
    assert_int_equal(youngest_of(store), 5);
    STOCK(MKDIRS(6, 8));
    assert_int_equal(youngest_of(store), 8);
    assert_str_eq(body_content(store, 8, fix->arena), content(fix, "revs/2/8"));
    store_close(store);
}

static void transaction_numbers_are_shared_with_stock_tools(void **state)
{
    struct fixture *fix = *state;
    NEED_STOCK_TOOLS();
    STOCK(STOCK_CREATE);
    struct store *store = open_store_on(fix, four_to_a_shard, NULL);
    uint64_t first, second, third;
    assert_ok(store_txn_numbers(&first, store, 0, 1));
    STOCK(MKDIRS(1, 1)); /* takes the next one */
    assert_ok(store_txn_numbers(&second, store, 1, 1));
    STOCK("grep -aq 't0-1 add-dir' $R/db/revs/0/1");
    assert_int_equal(first, 0);
    assert_int_equal(second, 2);
    STOCK(MKDIRS(2, 2)); /* behind our block of eight: 2 to 9 */
    STOCK("grep -aq 't1-a add-dir' $R/db/revs/0/2");
    assert_ok(store_txn_numbers(&third, store, 1, 7));
    assert_int_equal(third, 3);
    store_close(store);
}

static void a_stock_commit_waits_for_our_lease(void **state)
{
    struct fixture *fix = *state;
    NEED_STOCK_TOOLS();
    STOCK(STOCK_CREATE);
    struct store *store = open_store_on(fix, four_to_a_shard, NULL);
    assert_ok(lease_take(store, LEASE_WRITE));
    STOCK("(svn mkdir -q -m x file://$R/d1; echo done >$R/done) & sleep 0.5");
    assert_int_equal(youngest_of(store), 0);
    assert_false(is_there(fix, "../done"));
    lease_drop(store, LEASE_WRITE);
    STOCK("for i in `seq 100`; do test -e $R/done && break; sleep 0.1; done; test -e $R/done");
    assert_int_equal(youngest_of(store), 1);
    store_close(store);
}

/* ---- the other direction: every file of a stock repository through the store into a new one ----
 */

static void copy_record(struct store *to, struct store *from, enum record_kind kind, revnum rev)
{
    AUTO_BUF(bytes);
    bool found;
    assert_ok(record_get(&bytes, &found, from, (struct record_key){.kind = kind, .rev = rev}));
    if (found)
        assert_ok(record_put(to, (struct record_key){.kind = kind, .rev = rev}, buf_view(&bytes)));
}

static struct err *copy_revision(struct store *to, struct store *from, revnum rev, bool stage)
{
    AUTO_ARENA(arena);
    AUTO_BUF(props);
    bool found;
    struct draft *draft = draft_of(to, body_content(from, rev, arena));
    TRY(record_get(&props, &found, from, (struct record_key){.kind = RECORD_REVPROPS, .rev = rev}));
    struct publication one = {rev, draft, buf_view(&props)};
    struct err *err = stage ? store_stage(to, &one) : publish_now(to, &one, 1);
    draft_drop(draft);
    return err;
}

/* $R.copy: all but the revisions. */
static struct store *begin_copy(struct fixture *fix, struct store *from)
{
    struct fixture copy = *fix;
    STOCK("svnadmin create $R.copy && rm -r $R.copy/db");
    snprintf(copy.db, sizeof(copy.db), "%s.copy/db", fix->root);
    struct store *to = open_store_on(&copy, four_to_a_shard, NULL);
    assert_ok(store_create(to));
    for (enum record_kind kind = RECORD_FORMAT; kind <= RECORD_MIN_UNPACKED; kind++)
        copy_record(to, from, kind, 0);
    return to;
}

static void stock_tools_accept_what_the_store_made(void **state)
{
    struct fixture *fix = *state;
    NEED_STOCK_TOOLS();
    STOCK(STOCK_CREATE);
    STOCK(MKDIRS(1, 21));
    struct store *from = open_store_on(fix, four_to_a_shard, NULL);
    struct store *to = begin_copy(fix, from);
    for (revnum rev = 0; rev <= 4; rev++)
        assert_ok(copy_revision(to, from, rev, false));
    STOCK("svnadmin verify $R.copy");
    for (revnum rev = 5; rev <= 21; rev++)
        assert_ok(copy_revision(to, from, rev, true));
    revnum durable;
    assert_ok(store_publish_staged(&durable, to));
    STOCK("svnadmin verify $R.copy");
    STOCK("svnadmin dump -q $R >$R/a && svnadmin dump -q $R.copy >$R/b && cmp $R/a $R/b");
    STOCK("svn mkdir -q -m x file://$R.copy/d22 && svnadmin pack -q $R.copy && svnadmin verify "
          "$R.copy");
    STOCK("svnadmin hotcopy -q $R.copy $R.hot && svnadmin verify $R.hot");
    STOCK("rm -rf $R.copy $R.hot");
    store_close(from);
    store_close(to);
}

static void a_fresh_copy_has_the_names_and_modes_of_stock(void **state)
{
    struct fixture *fix = *state;
    NEED_STOCK_TOOLS();
    STOCK(STOCK_CREATE);
    STOCK(MKDIRS(1, 5));
    struct store *from = open_store_on(fix, four_to_a_shard, NULL);
    struct store *to = begin_copy(fix, from);
    for (revnum rev = 0; rev <= 5; rev++)
        assert_ok(copy_revision(to, from, rev, rev > 2));
    revnum durable;
    assert_ok(store_publish_staged(&durable, to));
    STOCK("list() { cd $1/db && find . -printf '%m %P\\n' | grep -v rep-cache | sort; };"
          "chmod 444 $R/db/format; (list $R) >$R/a; (list $R.copy) >$R/b; diff $R/a $R/b");
    STOCK("rm -rf $R.copy $R.hot");
    store_close(from);
    store_close(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_stock_repository_is_read),
        STORE_TEST(commits_and_packs_of_stock_tools_are_noticed),
        STORE_TEST(transaction_numbers_are_shared_with_stock_tools),
        STORE_TEST(a_stock_commit_waits_for_our_lease),
        STORE_TEST(stock_tools_accept_what_the_store_made),
        STORE_TEST(a_fresh_copy_has_the_names_and_modes_of_stock),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tasks_shutdown();
    return failed;
}
