/* SPDX-License-Identifier: Apache-2.0 */
#include "../mucc.h"
#include "../stock.h"
#include "store/repcache.h"
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

/* A row with a hash that follows from I. */
static struct repcache_row row_of(uint64_t i)
{
    struct repcache_row row = {
        .rev = (revnum)(i % 10), .item = i + 3, .size = i + 10, .expanded = i + 20};
    sha1_of(row.sha1, str_make((const char *)&i, sizeof i));
    return row;
}

static void offer(struct fsfs *fs, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        struct repcache_row row = row_of(i);
        repcache_offer(fs->store, &row, 1);
    }
}

static bool has(struct fsfs *fs, uint64_t i)
{
    struct repcache_row wanted = row_of(i), got;
    bool found;
    assert_ok(repcache_find(&got, &found, fs->store, wanted.sha1));
    if (found) {
        assert_int_equal(got.rev, wanted.rev);
        assert_int_equal(got.item, wanted.item);
        assert_int_equal(got.size, wanted.size);
        assert_int_equal(got.expanded, wanted.expanded);
        assert_memory_equal(got.sha1, wanted.sha1, SHA1_SIZE);
    }
    return found;
}

/* Ask SQLite itself about FILE. */
static struct str ask(struct stock *stock, const char *file, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(stock_path(stock, file), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    AUTO_BUF(out);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++)
            buf_printf(&out, "%s%s", i ? "|" : "", (const char *)sqlite3_column_text(stmt, i));
        buf_char(&out, '\n');
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return arena_str(stock->arena, buf_view(&out));
}

#define DB "r/db/rep-cache.db"

static void rows_are_found_from_the_moment_they_are_offered(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    assert_false(has(fs, 1));
    offer(fs, 0, 100);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(has(fs, i));
    assert_false(has(fs, 100));
    fsfs_close(fs);
}

static void rows_are_in_the_file_after_a_flush_or_a_close(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r"), *other = stock_open(stock, "r");
    assert_false(has(other, 5));
    offer(fs, 0, 10);
    assert_ok(repcache_flush(fs->store));
    assert_str(ask(stock, DB, "SELECT count(*) FROM rep_cache"), "10\n");
    assert_true(has(fs, 5));
    assert_true(has(other, 5));
    offer(fs, 10, 5000);
    fsfs_close(fs);
    assert_str(ask(stock, DB, "SELECT count(*) FROM rep_cache"), "5000\n");
    for (uint64_t i = 0; i < 5000; i += 7)
        assert_true(has(other, i));
    fsfs_close(other);
}

static void a_new_table_has_stocks_schema(void **state)
{
    struct stock *stock = *state;
    static const int formats[] = {4, 6, 7, 8};
    for (size_t i = 0; i < 4; i++) {
        stock_create(stock, "r", formats[i], 1000);
        struct fsfs *fs = stock_open(stock, "r");
        offer(fs, 0, 1);
        fsfs_close(fs);
        stock_create(stock, "theirs", formats[i], 1000);
        stock_run(stock, "echo x >f; svn import -q -m '' f $U/theirs/f");
        static const char
            columns[] = "SELECT name, type, \"notnull\", pk FROM pragma_table_info('rep_cache')",
            without_rowid[] =
                "SELECT sql LIKE '%WITHOUT ROWID' FROM sqlite_master WHERE type = 'table'",
            version[] = "PRAGMA user_version";
        assert_str_eq(ask(stock, DB, columns), ask(stock, "theirs/db/rep-cache.db", columns));
        assert_str_eq(ask(stock, DB, without_rowid),
                      ask(stock, "theirs/db/rep-cache.db", without_rowid));
        assert_str_eq(ask(stock, DB, version), ask(stock, "theirs/db/rep-cache.db", version));
        stock_run(stock, "rm -rf r theirs");
    }
}

static void the_file_has_the_mode_of_current(void **state)
{
    struct stock *stock = *state;
    struct stat st;
    stock_create(stock, "r", 8, 1000);
    stock_run(stock, "chmod 0660 r/db/current");
    struct fsfs *fs = stock_open(stock, "r");
    offer(fs, 0, 1);
    fsfs_close(fs);
    assert_int_equal(stat(stock_path(stock, DB), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
}

/* Stock tools look for the table, and then make it if it is not there: both in two steps. */

struct looker {
    const char *path;
    atomic_bool stop;
    int seen, without_table;
};

static void *look_for_table(void *arg)
{
    struct looker *looker = arg;
    while (!looker->stop) {
        sqlite3 *db = NULL;
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_open_v2(looker->path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
            sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL) == SQLITE_OK &&
            sqlite3_step(stmt) == SQLITE_ROW) {
            looker->seen++;
            looker->without_table += sqlite3_column_int(stmt, 0) == 0;
        }
        sqlite3_finalize(stmt);
        sqlite3_close(db);
    }
    return NULL;
}

static void the_table_is_there_as_soon_as_the_file(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct looker looker = {.path = stock_path(stock, DB)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, look_for_table, &looker), 0);
    for (int i = 0; i < 20; i++) {
        unlink(looker.path);
        struct fsfs *fs = stock_open(stock, "r");
        offer(fs, 0, 1);
        fsfs_close(fs);
        usleep(5 * 1000);
    }
    looker.stop = true;
    pthread_join(thread, NULL);
    assert_true(looker.seen > 0);
    assert_int_equal(looker.without_table, 0);
}

/* Fails where somebody was faster. */
static void *make_table_late(void *path)
{
    sqlite3 *db;
    usleep(200 * 1000);
    int rc = sqlite3_open(path, &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db,
                          "CREATE TABLE rep_cache (hash TEXT NOT NULL PRIMARY KEY, "
                          "revision INTEGER NOT NULL, offset INTEGER NOT NULL, "
                          "size INTEGER NOT NULL, expanded_size INTEGER NOT NULL) "
                          "WITHOUT ROWID; PRAGMA user_version = 2",
                          NULL, NULL, NULL);
    sqlite3_close(db);
    return rc == SQLITE_OK ? path : NULL;
}

static void who_has_made_the_file_may_make_the_table(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    stock_write(stock, DB, S(""));
    pthread_t thread;
    void *made = NULL;
    assert_int_equal(
        pthread_create(&thread, NULL, make_table_late, (void *)(uintptr_t)stock_path(stock, DB)),
        0);
    struct fsfs *fs = stock_open(stock, "r");
    offer(fs, 0, 10);
    assert_ok(repcache_flush(fs->store));
    fsfs_close(fs);
    pthread_join(thread, &made);
    assert_non_null(made);
    assert_str(ask(stock, DB, "SELECT count(*) FROM rep_cache"), "10\n");
}

static void stocks_rows_are_found(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    uint8_t sha1[SHA1_SIZE];
    struct repcache_row row;
    bool found;
    sha1_of(sha1, S("hello\n"));
    assert_ok(repcache_find(&row, &found, fs->store, sha1));
    assert_false(found); /* there is no file yet */
    stock_run(stock, "echo hello >f; svn import -q -m '' f $U/r/f");
    fsfs_close(fs);
    fs = stock_open(stock, "r");
    assert_ok(repcache_find(&row, &found, fs->store, sha1));
    assert_true(found);
    assert_int_equal(row.rev, 1);
    assert_int_equal(row.item, 3);
    assert_int_equal(row.size, 18);
    assert_int_equal(row.expanded, 6);
    fsfs_close(fs);
}

/* What was not there a moment ago is believed to be absent for a while only, and not at all once we
 * see that others write. */
static void rows_that_others_add_are_found_in_the_end(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    assert_false(has(fs, 0));
    offer(fs, 0, 10);
    assert_ok(repcache_flush(fs->store));
    struct fsfs *other = stock_open(stock, "r");
    offer(other, 10, 20);
    fsfs_close(other);
    offer(fs, 20, 21); /* this batch meets the foreign rows */
    assert_ok(repcache_flush(fs->store));
    for (uint64_t i = 0; i < 21; i++)
        assert_true(has(fs, i));
    assert_false(has(fs, 21));
    fsfs_close(fs);
}

/* After many absent rows the whole file is read; then it need not be asked, until it changes. */
static void a_file_that_was_read_whole_is_watched(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *other = stock_open(stock, "r");
    offer(other, 0, 500);
    assert_ok(repcache_flush(other->store));
    struct fsfs *fs = stock_open(stock, "r");
    for (uint64_t i = 1000; i < 2000; i++)
        assert_false(has(fs, i));
    for (uint64_t i = 0; i < 500; i++)
        assert_true(has(fs, i));
    offer(fs, 1000, 1100); /* our own rows do not end it */
    assert_ok(repcache_flush(fs->store));
    assert_true(has(fs, 1050));
    assert_false(has(fs, 1100));
    offer(other, 2000, 2001);
    fsfs_close(other);
    usleep(1100 * 1000); /* as long as an answer may be old */
    assert_true(has(fs, 2000));
    assert_true(has(fs, 1050));
    fsfs_close(fs);
}

static void a_row_that_is_there_stays(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    struct repcache_row later = row_of(1);
    later.rev = 77;
    offer(fs, 1, 2);
    repcache_offer(fs->store, &later, 1);
    assert_true(has(fs, 1));
    assert_ok(repcache_flush(fs->store));
    repcache_offer(fs->store, &later, 1);
    fsfs_close(fs);
    assert_str(ask(stock, DB, "SELECT revision, offset FROM rep_cache"), "1|4\n");
}

struct sum {
    size_t rows;
    uint64_t items;
};

static struct err *add_row(void *arg, const struct repcache_row *row)
{
    struct sum *sum = arg;
    sum->rows++;
    sum->items += row->item;
    return sum->rows == 500 ? err_make(E_CANCELLED, "enough") : NULL;
}

static void all_rows_are_visited_until_an_error(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    struct sum sum = {0};
    assert_ok(repcache_each(fs->store, add_row, &sum));
    assert_int_equal(sum.rows, 0);
    offer(fs, 0, 100);
    assert_ok(repcache_each(fs->store, add_row, &sum));
    assert_int_equal(sum.rows, 100);
    assert_int_equal(sum.items, 99 * 100 / 2 + 3 * 100);
    offer(fs, 100, 1000);
    sum = (struct sum){0};
    assert_err(repcache_each(fs->store, add_row, &sum), E_CANCELLED, "enough");
    assert_int_equal(sum.rows, 500);
    fsfs_close(fs);
}

static void a_damaged_database_is_as_good_as_empty(void **state)
{
    struct stock *stock = *state;
    struct sum sum = {0};
    stock_create(stock, "r", 8, 1000);
    stock_write(stock, DB, S("this is no database, however long one looks at it\n"));
    struct fsfs *fs = stock_open(stock, "r");
    assert_false(has(fs, 1));
    assert_false(has(fs, 1));
    offer(fs, 0, 10);
    assert_err(repcache_flush(fs->store), E_SQLITE_ERROR, "sqlite[S26]");
    offer(fs, 10, 20);
    assert_ok(repcache_flush(fs->store));
    assert_err(repcache_each(fs->store, add_row, &sum), E_SQLITE_ERROR, "rep-cache.db");
    fsfs_close(fs);
}

/* ---- what others do to the file meanwhile ---- */

static int warnings;

static void count_warning(void *arg, const struct err *err)
{
    warnings++;
}

static struct fsfs *open_with_rows(struct stock *stock)
{
    warnings = 0;
    err_warn_to(count_warning, NULL);
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    offer(fs, 0, 10);
    assert_ok(repcache_flush(fs->store));
    assert_true(has(fs, 0)); /* by a connection of its own */
    return fs;
}

/* Everything works, with a file that holds nothing of before. */
static void assert_begun_anew(struct stock *stock, struct fsfs *fs)
{
    assert_false(has(fs, 0));
    offer(fs, 20, 30);
    assert_ok(repcache_flush(fs->store));
    assert_true(has(fs, 20));
    assert_str(ask(stock, DB, "SELECT count(*) FROM rep_cache"), "10\n");
    fsfs_close(fs);
    fs = stock_open(stock, "r");
    assert_true(has(fs, 29));
    assert_false(has(fs, 9));
    fsfs_close(fs);
    err_warn_to(NULL, NULL);
}

static void a_file_that_was_removed_is_made_anew(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = open_with_rows(stock);
    stock_run(stock, "rm " DB);
    assert_begun_anew(stock, fs);
    assert_int_equal(warnings, 1);
}

static void a_file_that_was_emptied_is_made_anew(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = open_with_rows(stock);
    stock_run(stock, "truncate -s 0 " DB);
    assert_begun_anew(stock, fs);
}

static void a_file_that_was_replaced_is_used(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = open_with_rows(stock);
    stock_run(stock, "cp " DB " other");
    ask(stock, "other", "DELETE FROM rep_cache WHERE expanded_size > 20");
    stock_run(stock, "mv other " DB);
    assert_true(has(fs, 0));
    assert_false(has(fs, 1));
    offer(fs, 20, 30);
    assert_ok(repcache_flush(fs->store));
    assert_str(ask(stock, DB, "SELECT count(*) FROM rep_cache"), "11\n");
    assert_int_equal(warnings, 1);
    fsfs_close(fs);
    err_warn_to(NULL, NULL);
}

static void junk_is_left_alone_and_told_of_once_until_it_is_gone(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs = open_with_rows(stock);
    stock_write(stock, DB, S("this is no database, however long one looks at it\n"));
    for (uint64_t i = 0; i < 5; i++) {
        assert_false(has(fs, 100 + i));
        offer(fs, 10 + i, 11 + i);
        err_free(repcache_flush(fs->store));
    }
    assert_str(stock_file(stock, DB), "this is no database, however long one looks at it\n");
    assert_int_equal(warnings, 1);
    stock_run(stock, "rm " DB);
    assert_begun_anew(stock, fs);
}

/* ---- a machine that fails ---- */

static int failing_errnum;

static int failing_open(const char *path, int flags, int mode)
{
    errno = failing_errnum;
    return -1;
}

static ssize_t failing_pread(int fd, void *p, size_t n, off_t offset)
{
    errno = failing_errnum;
    return -1;
}

static ssize_t failing_read(int fd, void *p, size_t n)
{
    return failing_pread(fd, p, n, 0);
}

static ssize_t failing_pwrite(int fd, const void *p, size_t n, off_t offset)
{
    errno = failing_errnum;
    return -1;
}

static ssize_t failing_write(int fd, const void *p, size_t n)
{
    return failing_pwrite(fd, p, n, 0);
}

/* SQLite's system calls that open, read or write: it is built with one of several. */
static const struct {
    char kind;
    const char *name;
    sqlite3_syscall_ptr call;
} sqlite_calls[] = {
    {'o', "open", (sqlite3_syscall_ptr)failing_open},
    {'r', "read", (sqlite3_syscall_ptr)failing_read},
    {'r', "pread", (sqlite3_syscall_ptr)failing_pread},
    {'r', "pread64", (sqlite3_syscall_ptr)failing_pread},
    {'w', "write", (sqlite3_syscall_ptr)failing_write},
    {'w', "pwrite", (sqlite3_syscall_ptr)failing_pwrite},
    {'w', "pwrite64", (sqlite3_syscall_ptr)failing_pwrite},
};

static void break_sqlite(char kind, bool broken)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    for (size_t i = 0; i < sizeof sqlite_calls / sizeof *sqlite_calls; i++)
        if (sqlite_calls[i].kind == kind)
            vfs->xSetSystemCall(vfs, sqlite_calls[i].name, broken ? sqlite_calls[i].call : NULL);
}

/* While SQLite's system calls of KIND fail. CODE: SQLite's. */
static void fail_sqlite(struct stock *stock, char kind, int errnum, const char *code)
{
    struct fsfs *fs = open_with_rows(stock);
    fsfs_close(fs);
    fs = stock_open(stock, "r");
    failing_errnum = errnum;
    break_sqlite(kind, true);
    has(fs, 0);
    offer(fs, 10, 20);
    assert_true(has(fs, 10));
    struct err *err = repcache_flush(fs->store);
    break_sqlite(kind, false);
    assert_non_null(err);
    for (const struct err *e = err; e; e = e->cause)
        assert_null(strstr(e->text, "malformed"));
    assert_err(err, E_SQLITE_ERROR, code);
    assert_int_equal(warnings, 1);
    stock_run(stock, "touch " DB); /* it is looked at again */
    assert_true(has(fs, 0));
    offer(fs, 20, 30);
    assert_ok(repcache_flush(fs->store));
    assert_str(ask(stock, DB, "SELECT count(*) FROM rep_cache"), "20\n");
    fsfs_close(fs);
    err_warn_to(NULL, NULL);
    stock_run(stock, "rm -rf r");
}

static void a_failure_of_the_machine_is_no_damage_and_no_end(void **state)
{
    struct stock *stock = *state;
    fail_sqlite(stock, 'o', EMFILE, "sqlite[S14]");
    fail_sqlite(stock, 'o', ENOMEM, "sqlite[S14]");
    fail_sqlite(stock, 'o', EACCES, "sqlite[S14]");
    fail_sqlite(stock, 'r', EIO, "sqlite[S10]");
    fail_sqlite(stock, 'w', ENOSPC, "sqlite[S13]");
    fail_sqlite(stock, 'w', EIO, "sqlite[S10]");
}

static void a_schema_of_the_future_is_left_alone(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    offer(fs, 0, 1);
    fsfs_close(fs);
    ask(stock, DB, "PRAGMA user_version = 3");
    fs = stock_open(stock, "r");
    assert_false(has(fs, 0));
    offer(fs, 1, 2);
    assert_err(repcache_flush(fs->store), E_SQLITE_UNSUPPORTED_SCHEMA, "Schema format 3");
    fsfs_close(fs);
    assert_str(ask(stock, DB, "SELECT count(*) FROM rep_cache"), "1\n");
}

static void rows_that_cannot_be_are_not_found(void **state)
{
    struct stock *stock = *state;
    struct sum sum = {0};
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    offer(fs, 0, 2);
    fsfs_close(fs);
    ask(stock, DB, "UPDATE rep_cache SET size = -1");
    fs = stock_open(stock, "r");
    assert_false(has(fs, 0));
    assert_err(repcache_each(fs->store, add_row, &sum), E_FS_CORRUPT, "Malformed row");
    fsfs_close(fs);
}

static void nothing_is_kept_where_sharing_is_off(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    stock_write(stock, "r/db/fsfs.conf", S("[rep-sharing]\nenable-rep-sharing = false\n"));
    stock_write(stock, "text", S("nobody is to know where this is\n"));
    struct fsfs *fs = stock_open(stock, "r");
    struct txn *txn;
    revnum rev;
    assert_ok(txn_begin(&txn, fs, 0));
    assert_ok(mucc_edit(stock, txn, "put text file\n"));
    assert_ok(txn_commit(&rev, NULL, txn, &(struct commit_options){0}));
    fsfs_close(fs);
    assert_int_equal(access(stock_path(stock, DB), F_OK), -1);
}

static void *offer_thread(void *arg)
{
    struct fsfs *fs = arg;
    for (uint64_t i = 0; i < 20000; i++) {
        struct repcache_row row = row_of(i);
        repcache_offer(fs->store, &row, 1);
        if (!has(fs, i))
            return fs;
    }
    return NULL;
}

static void many_threads_share_one_cache(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    pthread_t threads[4];
    has(fs, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, offer_thread, fs), 0);
    for (int i = 0; i < 4; i++) {
        void *missing;
        pthread_join(threads[i], &missing);
        assert_null(missing);
    }
    fsfs_close(fs);
    assert_str(ask(stock, DB, "SELECT count(*) FROM rep_cache"), "20000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(rows_are_found_from_the_moment_they_are_offered),
        STOCK_TEST(rows_are_in_the_file_after_a_flush_or_a_close),
        STOCK_TEST(a_new_table_has_stocks_schema),
        STOCK_TEST(the_file_has_the_mode_of_current),
        STOCK_TEST(the_table_is_there_as_soon_as_the_file),
        STOCK_TEST(who_has_made_the_file_may_make_the_table),
        STOCK_TEST(stocks_rows_are_found),
        STOCK_TEST(rows_that_others_add_are_found_in_the_end),
        STOCK_TEST(a_file_that_was_read_whole_is_watched),
        STOCK_TEST(a_row_that_is_there_stays),
        STOCK_TEST(all_rows_are_visited_until_an_error),
        STOCK_TEST(a_damaged_database_is_as_good_as_empty),
        STOCK_TEST(a_file_that_was_removed_is_made_anew),
        STOCK_TEST(a_file_that_was_emptied_is_made_anew),
        STOCK_TEST(a_file_that_was_replaced_is_used),
        STOCK_TEST(junk_is_left_alone_and_told_of_once_until_it_is_gone),
        STOCK_TEST(a_failure_of_the_machine_is_no_damage_and_no_end),
        STOCK_TEST(a_schema_of_the_future_is_left_alone),
        STOCK_TEST(rows_that_cannot_be_are_not_found),
        STOCK_TEST(nothing_is_kept_where_sharing_is_off),
        STOCK_TEST(many_threads_share_one_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
