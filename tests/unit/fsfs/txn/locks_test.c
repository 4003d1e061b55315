/* SPDX-License-Identifier: Apache-2.0 */
#include "../stock.h"
#include "base/date.h"
#include "base/digest.h"
#include "fsfs/txn/locks.h"

/* Repository r with files /f, /a/g and "/a/b c/h". */
static void make_files(struct stock *stock)
{
    stock_create(stock, "r", 8, 1000);
    stock_run(stock, "echo x >x; svnmucc -m '' -U $U/r mkdir a mkdir 'a/b c' put x f put x a/g put "
                     "x 'a/b c/h' >out");
}

static struct lock lock_of(const char *path)
{
    return (struct lock){.path = str_of(path),
                         .token = S("opaquelocktoken:1-2-3"),
                         .owner = S("bob"),
                         .comment = S("why\nnot"),
                         .created_us = 1700000000123456};
}

static void write_lock(struct fsfs *fs, const struct lock *lock)
{
    assert_ok(lease_take(fs->store, LEASE_WRITE));
    assert_ok(lock_write(fs, lock));
    lease_drop(fs->store, LEASE_WRITE);
}

static void remove_lock(struct fsfs *fs, const char *path)
{
    assert_ok(lease_take(fs->store, LEASE_WRITE));
    assert_ok(lock_remove(fs, str_of(path)));
    lease_drop(fs->store, LEASE_WRITE);
}

static void locks_of_stock_are_read(void **state)
{
    struct stock *stock = *state;
    make_files(stock);
    stock_run(
        stock,
        "svn lock -q --username ann -m 'a\nb' $U/r/f; svn lock -q --username ann $U/r/a/b%20c/h");
    struct fsfs *fs = stock_open(stock, "r");
    struct lock lock;
    bool found;
    assert_ok(lock_get(&lock, &found, fs, S("/f"), stock->arena));
    assert_true(found);
    assert_str(lock.path, "/f");
    assert_str(lock.owner, "ann");
    assert_str(lock.comment, "a\nb");
    assert_true(str_starts(lock.token, S("opaquelocktoken:")));
    assert_false(lock.is_dav_comment);
    assert_int_equal(lock.expires_us, 0);
    assert_true(lock.created_us > date_now_us() - 60000000 && lock.created_us <= date_now_us());
    assert_ok(lock_get(&lock, &found, fs, S("/a/g"), stock->arena));
    assert_false(found);
    struct lock *list;
    size_t n;
    assert_ok(locks_below(&list, &n, fs, S("/"), stock->arena));
    assert_int_equal(n, 2);
    assert_str(list[0].path, "/a/b c/h");
    assert_null(list[0].comment.p);
    assert_str(list[1].path, "/f");
    assert_ok(locks_below(&list, &n, fs, S("/a"), stock->arena));
    assert_int_equal(n, 1);
    assert_ok(locks_below(&list, &n, fs, S("/f"), stock->arena));
    assert_int_equal(n, 1);
    assert_ok(locks_below(&list, &n, fs, S("/a/b"), stock->arena));
    assert_int_equal(n, 0);
    fsfs_close(fs);
}

/* The files that stock makes of the same locks, but for tokens and dates. */
static struct str lock_files(struct stock *stock, const char *name)
{
    return stock_output(stock, arena_printf(stock->arena,
                                            "cd %s/db/locks && find . -printf '%%M %%p ' -type f "
                                            "-exec sh -c 'grep -v -e ^20.*Z$ $1 | "
                                            "sort | cksum' sh {} ';' -o -printf '\\n' | sort",
                                            name)
                                   .p);
}

static void files_are_those_that_stock_makes(void **state)
{
    struct stock *stock = *state;
    make_files(stock);
    stock_run(stock, "cp -a r theirs; printf 'why\\nnot' >c\n"
                     "for p in f a/g 'a/b c/h'; do svnadmin lock -q theirs \"/$p\" bob c "
                     "opaquelocktoken:1-2-3; done");
    struct fsfs *fs = stock_open(stock, "r");
    const struct lock locks[] = {lock_of("/a/b c/h"), lock_of("/f"), lock_of("/a/g")};
    write_lock(fs, &locks[0]);
    assert_ok(lease_take(fs->store, LEASE_WRITE));
    assert_ok(locks_write(fs, locks + 1, 2));
    lease_drop(fs->store, LEASE_WRITE);
    assert_str_eq(lock_files(stock, "r"), lock_files(stock, "theirs"));
    stock_run(stock, "svnadmin unlock -q theirs /a/g bob opaquelocktoken:1-2-3");
    remove_lock(fs, "/a/g");
    stock_run(stock, "find r/db/locks theirs/db/locks -type d -empty -delete");
    assert_str_eq(lock_files(stock, "r"), lock_files(stock, "theirs"));
    fsfs_close(fs);
}

static void stock_sees_our_locks_and_we_see_its_unlocks(void **state)
{
    struct stock *stock = *state;
    make_files(stock);
    struct fsfs *fs = stock_open(stock, "r");
    struct lock lock = lock_of("/a/g");
    bool found;
    write_lock(fs, &lock);
    assert_str(stock_output(stock, "svnadmin lslocks r"),
               "Path: /a/g\nUUID Token: opaquelocktoken:1-2-3\nOwner: bob\n"
               "Created: 2023-11-14 22:13:20 +0000 (Tue, 14 Nov 2023)\n"
               "Expires: \nComment (2 lines):\nwhy\nnot\n\n");
    assert_int_not_equal(
        stock_status(stock, &(struct str){0}, "svn rm -q --username ann -m '' $U/r/a"), 0);
    stock_run(stock, "svnadmin rmlocks -q r /a/g");
    assert_ok(lock_get(&lock, &found, fs, S("/a/g"), stock->arena));
    assert_false(found);
    fsfs_close(fs);
}

static void removing_the_last_lock_leaves_no_record(void **state)
{
    struct stock *stock = *state;
    make_files(stock);
    struct fsfs *fs = stock_open(stock, "r");
    struct lock a = lock_of("/a/g"), b = lock_of("/a/b c/h");
    write_lock(fs, &a);
    write_lock(fs, &b);
    write_lock(fs, &b); /* again: lists must not grow */
    remove_lock(fs, "/a/g");
    assert_str(stock_output(stock, "find r/db/locks -type f | wc -l"),
               "4\n"); /* /, /a, "/a/b c", the lock */
    remove_lock(fs, "/a/b c/h");
    remove_lock(fs, "/f"); /* was not locked */
    assert_str(stock_output(stock, "find r/db/locks -type f | wc -l"), "0\n");
    fsfs_close(fs);
}

static void an_expired_lock_is_none(void **state)
{
    struct stock *stock = *state;
    make_files(stock);
    struct fsfs *fs = stock_open(stock, "r");
    struct lock lock = lock_of("/f"), *list;
    bool found;
    size_t n;
    lock.expires_us = date_now_us() + 3600000000;
    write_lock(fs, &lock);
    assert_ok(lock_get(&lock, &found, fs, S("/f"), stock->arena));
    assert_true(found);
    lock.expires_us = date_now_us() - 1000000;
    write_lock(fs, &lock);
    assert_ok(lock_get(&lock, &found, fs, S("/f"), stock->arena));
    assert_false(found);
    assert_ok(locks_below(&list, &n, fs, S("/"), stock->arena));
    assert_int_equal(n, 0);
    assert_ok(locks_allow(fs, S("/f"), false, S("eve"), NULL, 0));
    fsfs_close(fs);
}

static void a_locked_path_is_for_its_owner_with_the_token(void **state)
{
    struct stock *stock = *state;
    make_files(stock);
    struct fsfs *fs = stock_open(stock, "r");
    struct lock lock = lock_of("/a/b c/h");
    const struct str tokens[] = {S("opaquelocktoken:other"), S("opaquelocktoken:1-2-3")};
    write_lock(fs, &lock);
    assert_ok(locks_allow(fs, S("/a/b c/h"), false, S("bob"), tokens, 2));
    assert_err(locks_allow(fs, S("/a/b c/h"), false, S("bob"), tokens, 1), E_FS_BAD_LOCK_TOKEN,
               "Cannot verify lock on path '/a/b c/h'; no matching lock-token available");
    assert_err(locks_allow(fs, S("/a/b c/h"), false, S("eve"), tokens, 2), E_FS_LOCK_OWNER_MISMATCH,
               "User 'eve' does not own lock on path '/a/b c/h' (currently locked by 'bob')");
    assert_err(locks_allow(fs, S("/a/b c/h"), false, S(""), tokens, 2), E_FS_NO_USER,
               "Cannot verify lock on path '/a/b c/h'; no username available");
    assert_ok(locks_allow(fs, S("/a"), false, S("eve"), NULL, 0));
    assert_err(locks_allow(fs, S("/a"), true, S("eve"), NULL, 0), E_FS_LOCK_OWNER_MISMATCH,
               "/a/b c/h");
    assert_err(locks_allow(fs, S("/"), true, S("eve"), NULL, 0), E_FS_LOCK_OWNER_MISMATCH,
               "/a/b c/h");
    assert_ok(locks_allow(fs, S("/a/g"), true, S("eve"), NULL, 0));
    fsfs_close(fs);
}

static void nested_and_circular_lists_are_walked_once(void **state)
{
    struct stock *stock = *state;
    make_files(stock);
    struct fsfs *fs = stock_open(stock, "r");
    struct lock lock = lock_of("/a/g"), *list;
    size_t n;
    write_lock(fs, &lock);
    /* "/" lists only "/a", as some older version would, and "/a" lists "/" back. */
    char digests[2][2 * MD5_SIZE];
    const struct str paths[] = {S("/a"), S("/a/g")};
    for (int i = 0; i < 2; i++) {
        uint8_t md5[MD5_SIZE];
        md5_of(md5, paths[i]);
        num_hex(digests[i], md5, MD5_SIZE);
    }
    struct str of_a = {digests[0], 32}, of_g = {digests[1], 32},
               root = S("6666cd76f96956469e7be39d750cc7d9");
    AUTO_BUF(text);
    lock_format(&text, NULL, &of_a, 1);
    assert_ok(record_put(fs->store, (struct record_key){.kind = RECORD_LOCK, .name = root},
                         buf_view(&text)));
    buf_clear(&text);
    lock_format(&text, NULL, (const struct str[]){root, of_g, of_g}, 3);
    assert_ok(record_put(fs->store, (struct record_key){.kind = RECORD_LOCK, .name = of_a},
                         buf_view(&text)));
    assert_ok(locks_below(&list, &n, fs, S("/"), stock->arena));
    assert_int_equal(n, 1);
    assert_str(list[0].path, "/a/g");
    fsfs_close(fs);
}

static void damaged_lock_files_are_refused(void **state)
{
    AUTO_ARENA(arena);
    struct lock lock;
    bool has_lock;
    struct str *children;
    size_t n;
#define FIELD(name, n, value, m) "K " #n "\n" name "\nV " #m "\n" value "\n"
#define DATE                     FIELD("creation_date", 13, "2026-11-30T18:35:32.045250Z", 27)
#define DAV                      FIELD("is_dav_comment", 14, "0", 1)
#define OWNER                    FIELD("owner", 5, "bob", 3)
#define PATH                     FIELD("path", 4, "/f", 2)
#define TOKEN                    FIELD("token", 5, "t", 1)
    assert_ok(
        lock_parse(&lock, &has_lock, &children, &n, S(DATE DAV OWNER PATH TOKEN "END\n"), arena));
    assert_true(has_lock);
    assert_ok(lock_parse(&lock, &has_lock, &children, &n, S("END\n"), arena));
    assert_false(has_lock);
    static const char *const wrong[] = {
        DAV OWNER PATH TOKEN "END\n",
        DATE OWNER PATH TOKEN "END\n",
        DATE DAV PATH TOKEN "END\n",
        DATE DAV OWNER PATH "END\n",
        DATE DAV OWNER FIELD("path", 4, "f", 1) TOKEN "END\n",
        DATE FIELD("is_dav_comment", 14, "2", 1) OWNER PATH TOKEN "END\n",
        FIELD("creation_date", 13, "now", 3) DAV OWNER PATH TOKEN "END\n",
        FIELD("creation_date", 13, "20612-11-30T18:35:32.04525Z", 27) DAV OWNER PATH TOKEN "END\n",
        DATE DAV FIELD("expiration_date", 15, "x", 1) OWNER PATH TOKEN "END\n",
        FIELD("children", 8, "6666cd76f96956469e7be39d750cc7d9", 32) "END\n",
        FIELD("children", 8, "6666cd76f96956469e7be39d750cc7d\n", 32) "END\n",
        FIELD("children", 8, "../../../../../../../../../etc/x\n", 33) "END\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_err(lock_parse(&lock, &has_lock, &children, &n, str_of(wrong[i]), arena),
                   E_FS_CORRUPT, "Corrupt lock file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(locks_of_stock_are_read),
        STOCK_TEST(files_are_those_that_stock_makes),
        STOCK_TEST(stock_sees_our_locks_and_we_see_its_unlocks),
        STOCK_TEST(removing_the_last_lock_leaves_no_record),
        STOCK_TEST(an_expired_lock_is_none),
        STOCK_TEST(a_locked_path_is_for_its_owner_with_the_token),
        STOCK_TEST(nested_and_circular_lists_are_walked_once),
        cmocka_unit_test(damaged_lock_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
