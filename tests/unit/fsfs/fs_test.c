/* SPDX-License-Identifier: Apache-2.0 */
#include "stock.h"
#include <errno.h>

/* ---- opening, as stock tools do it ---- */

/* Open r/db; the outermost error as svnlook prints it, or what it prints of the youngest revision.
 */
static struct str our_answer(struct stock *stock)
{
    struct fsfs *fs;
    revnum youngest;
    struct err *err = fsfs_open(&fs, "r/db", NULL);
    if (!err) {
        err = fsfs_youngest(&youngest, fs);
        if (!err)
            err = fsfs_min_unpacked(&youngest, fs);
        fsfs_close(fs);
    }
    AUTO_BUF(out);
    for (struct err *e = err; e; e = e->cause)
        buf_printf(&out, "svnlook: E%06d: %s\n", e->code, e->text);
    if (!err)
        buf_cstr(&out, "fine\n");
    err_free(err);
    return arena_str(stock->arena, buf_view(&out));
}

static void assert_same_answer(struct stock *stock, const char *name, const char *content)
{
    stock_run(stock, "rm -rf r; cp -a whole r");
    AUTO_BUF(path);
    buf_printf(&path, "r/db/%s", name);
    buf_char(&path, '\0');
    if (content)
        stock_write(stock, path.p, str_of(content));
    else
        assert_int_equal(unlink(path.p), 0);
    struct str wanted = stock_output(stock, "svnlook youngest r >out 2>&1 && echo fine || cat out"),
               got = our_answer(stock);
    if (!str_eq(got, wanted))
        print_error("%s holds '%s':\n", name, content ? content : "nothing");
    assert_str_eq(got, wanted);
}

static void assert_same_answers(struct stock *stock, const char *name, const char *const *contents,
                                size_t n)
{
    assert_int_equal(chdir(stock->root), 0); /* messages name the path as given */
    for (size_t i = 0; i < n; i++)
        assert_same_answer(stock, name, contents[i]);
}
#define SAME_ANSWERS(name, ...)                                                                    \
    assert_same_answers(stock, name, (const char *const[]){__VA_ARGS__},                           \
                        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void a_format_file_is_judged_as_by_stock(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "whole", 8, 1000);
    SAME_ANSWERS(
        "format", "5\n", "9\n", "0\n", "99\n", "x\n", "8x\n", "\n", "", "-1\n", "8\nlayout foo\n",
        "7\naddressing logical\n", "8\nlayout sharded x\naddressing logical\n",
        "8\nlayout sharded 0\naddressing logical\n", "8\nlayout sharded -5\n",
        "8\nlayout sharded 1000\naddressing foo\n", "2\nlayout sharded 1000\n",
        "6\nlayout sharded 1000\naddressing physical\n", "8\nlayout linear\naddressing logical\n",
        "8\nlayout sharded 1000\nlayout linear\n", "8\nfoo\n", "8\nlayout linear\n\n", "8",
        "8\nlayout sharded 1000\n", "8\nlayout sharded 99999999999999999999\n");
}

static void a_uuid_file_is_judged_as_by_stock(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "whole", 8, 1000);
#define UUID "a3c8f4f0-0000-4000-8000-000000000000"
    SAME_ANSWERS("uuid", "", "x\n", UUID, UUID "\n\n", UUID "\n" UUID "\n", UUID "0\n" UUID "\n",
                 UUID "\n" UUID "0\n", UUID "0123456789012345678901234567890123456789\n", NULL);
}

static void a_min_unpacked_rev_file_without_line_end_is_refused_as_by_stock(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "whole", 6, 1000);
    SAME_ANSWERS("min-unpacked-rev", "0\n", "0", "");
}

static void an_fs_type_file_is_judged_as_by_stock(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "whole", 8, 1000);
    SAME_ANSWERS("fs-type", "foo\n", "\n", "fsfs \n", "");
}

static void other_kinds_of_filesystem_are_refused_by_name(void **state)
{
    struct stock *stock = *state;
    struct fsfs *fs;
    stock_create(stock, "r", 8, 1000);
    stock_write(stock, "r/db/fs-type", S("bdb\n"));
    assert_err(fsfs_open(&fs, stock_path(stock, "r/db"), NULL), E_FS_UNKNOWN_FS_TYPE, "'bdb'");
    assert_err(fsfs_open(&fs, stock_path(stock, "nothing"), NULL), ENOENT, "nothing/fs-type");
}

static void settings_are_judged_as_by_stock(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "whole", 8, 1000);
    SAME_ANSWERS(
        "fsfs.conf", NULL, "", "[rep-sharing]\nenable-rep-sharing = foo\n",
        "[deltification]\ncompression = foo\n", "[deltification]\ncompression = zlib-0\n",
        "[deltification]\ncompression = zlib-10\n", "[deltification]\ncompression = zlib-\n",
        "[deltification]\ncompression = LZ4\n", "[deltification]\ncompression = \n",
        "[deltification]\ncompression-level = 12\n", "[deltification]\ncompression-level = x\n",
        "[deltification]\ncompression-level = 3\ncompression = zlib\n",
        "[deltification]\nmax-linear-deltification = x\n",
        "[deltification]\nmax-deltification-walk = -1\n",
        "[packed-revprops]\nrevprop-pack-size = -3\n",
        "[packed-revprops]\nrevprop-pack-size = 99999999999999999\n", "[io]\nblock-size = 0\n",
        "[io]\nblock-size = 3\n", "[io]\nblock-size = 4\n", "[io]\nblock-size = 99999999999\n",
        "[io]\nblock-size = \n", "[io]\nblock-size = 64k\n", "[io]\nl2p-page-size = 0\n",
        "[io]\nl2p-page-size = 3\n", "[io]\np2l-page-size = 3\n", "[caches]\nfail-stop = x\n",
        "[debug]\npack-after-commit = x\n", "[debug]\nverify-before-commit = x\n",
        "[memcached-servers]\na = 127.0.0.1:1\n");
}

static void lz4_needs_format_8_as_with_stock(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "whole", 7, 1000);
    SAME_ANSWERS("fsfs.conf", "[deltification]\ncompression = lz4\n",
                 "[deltification]\ncompression = zlib\n");
}

static void a_file_that_does_not_name_the_youngest_is_refused(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    revnum rev;
    stock_write(stock, "r/db/current", S("x\n"));
    assert_err(fsfs_youngest(&rev, fs), E_FS_CORRUPT, "current");
    stock_write(stock, "r/db/min-unpacked-rev", S("x\n"));
    assert_err(fsfs_min_unpacked(&rev, fs), E_FS_CORRUPT, "min-unpacked-rev");
    fsfs_close(fs);
}

/* ---- what is read ---- */

static void every_format_is_opened_with_its_layout(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        stock_create(stock, "r", (int)format, 7);
        struct fsfs *fs = stock_open(stock, "r");
        assert_int_equal(fs->format, format);
        assert_int_equal(fs->shard_size, format < 3 ? 0 : 7);
        assert_int_equal(fs->logical, format >= 7);
        assert_str_eq(str_of(fs->uuid), str_trim(stock_output(stock, "svnlook uuid r")));
        assert_int_equal(strcmp(fs->uuid, fs->instance) == 0, format < 7);
        fsfs_close(fs);
        stock_run(stock, "rm -rf r");
    }
}

static void defaults_are_those_of_the_format(void **state)
{
    struct fsfs_config old, f4, f7, f8;
    assert_ok(fsfs_config_parse(&old, S("[rep-sharing]\nenable-rep-sharing = true\n"), 3, "conf"));
    assert_true(!old.rep_sharing && !old.dir_deltification && !old.props_deltification);
    assert_int_equal(old.compression, COMPRESS_ZLIB);
    assert_ok(fsfs_config_parse(&old, S(""), 1, "conf"));
    assert_int_equal(old.compression, COMPRESS_NONE);
    assert_ok(fsfs_config_parse(&f4, S(""), 4, "conf"));
    assert_true(f4.rep_sharing && f4.dir_deltification && f4.props_deltification);
    assert_int_equal(f4.max_deltification_walk, 1023);
    assert_int_equal(f4.max_linear_deltification, 16);
    assert_int_equal(f4.zlib_level, 5);
    assert_ok(fsfs_config_parse(&f7, S(""), 7, "conf"));
    assert_int_equal(f7.compression, COMPRESS_ZLIB);
    assert_int_equal(f7.revprop_pack_size, 16384);
    assert_int_equal(f7.block_size, 65536);
    assert_int_equal(f7.l2p_page_size, 8192);
    assert_int_equal(f7.p2l_page_size, 1 << 20);
    assert_ok(fsfs_config_parse(&f8, S(""), 8, "conf"));
    assert_int_equal(f8.compression, COMPRESS_LZ4);
    assert_false(f8.pack_after_commit || f8.verify_before_commit || f8.allow_sha1_collisions);
}

static void settings_are_taken(void **state)
{
    struct fsfs_config c;
    assert_ok(fsfs_config_parse(
        &c,
        S("[rep-sharing]\nenable-rep-sharing = no\n"
          "[deltification]\nenable-dir-deltification = off\nenable-props-deltification = 0\n"
          "max-deltification-walk = 10\nmax-linear-deltification = 3\ncompression = zlib-9\n"
          "[packed-revprops]\ncompress-packed-revprops = yes\n"
          "[io]\nblock-size = 4\nl2p-page-size = 16\np2l-page-size = 2\n"
          "[debug]\npack-after-commit = on\nverify-before-commit = 1\n"
          "[varve]\nallow-sha1-collisions = true\n"),
        8, "conf"));
    assert_false(c.rep_sharing || c.dir_deltification || c.props_deltification);
    assert_int_equal(c.max_deltification_walk, 10);
    assert_int_equal(c.max_linear_deltification, 3);
    assert_int_equal(c.compression, COMPRESS_ZLIB);
    assert_int_equal(c.zlib_level, 9);
    assert_true(c.compress_packed_revprops);
    assert_int_equal(c.revprop_pack_size, 65536);
    assert_int_equal(c.block_size, 4096);
    assert_int_equal(c.l2p_page_size, 16);
    assert_int_equal(c.p2l_page_size, 2048);
    assert_true(c.pack_after_commit && c.verify_before_commit && c.allow_sha1_collisions);
    assert_ok(fsfs_config_parse(&c, S("[deltification]\ncompression-level = 0\n"), 8, "conf"));
    assert_int_equal(c.compression, COMPRESS_ZLIB);
    assert_int_equal(c.zlib_level, 0);
}

static void a_new_revision_is_noticed(void **state)
{
    struct stock *stock = *state;
    stock_create(stock, "r", 8, 1000);
    struct fsfs *fs = stock_open(stock, "r");
    assert_ok(fsfs_check_revision(fs, 0));
    assert_err(fsfs_check_revision(fs, 1), E_FS_NO_SUCH_REVISION, "No such revision 1");
    assert_err(fsfs_check_revision(fs, -1), E_FS_NO_SUCH_REVISION, "Invalid revision number '-1'");
    stock_run(stock, "svn mkdir -q -m '' $U/r/a");
    assert_ok(fsfs_check_revision(fs, 1));
    fsfs_close(fs);
}

static void a_uuid_that_was_set_is_read_by_stock(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        stock_create(stock, "r", (int)format, 1000);
        struct fsfs *fs = stock_open(stock, "r");
        assert_ok(fsfs_set_uuid(fs, UUID));
        assert_str(stock_output(stock, "svnlook uuid r"), UUID "\n");
        assert_string_equal(fs->uuid, UUID);
        assert_ok(fsfs_set_uuid(fs, NULL));
        assert_str_eq(str_trim(stock_output(stock, "svnlook uuid r")), str_of(fs->uuid));
        assert_true(uuid_is_valid(str_of(fs->uuid)));
        assert_int_equal(stock_file(stock, "r/db/uuid").n, format < 7 ? 37 : 74);
        assert_err(fsfs_set_uuid(fs, "foo"), E_BAD_UUID, "Malformed UUID 'foo'");
        fsfs_close(fs);
        stock_run(stock, "rm -rf r");
    }
}

static void made_uuids_are_random_and_valid(void **state)
{
    char a[37], b[37];
    uuid_make(a);
    uuid_make(b);
    assert_true(uuid_is_valid(str_of(a)));
    assert_string_not_equal(a, b);
    assert_int_equal(a[14], '4');
    assert_non_null(strchr("89ab", a[19]));
    assert_false(uuid_is_valid(S("a3c8f4f0-0000-4000-8000-00000000000g")));
    assert_false(uuid_is_valid(S("a3c8f4f0-0000-4000-8000-0000000000000")));
    assert_false(uuid_is_valid(S("a3c8f4f00000-4000-8000-00000000000000")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(a_format_file_is_judged_as_by_stock),
        STOCK_TEST(a_uuid_file_is_judged_as_by_stock),
        STOCK_TEST(a_min_unpacked_rev_file_without_line_end_is_refused_as_by_stock),
        STOCK_TEST(an_fs_type_file_is_judged_as_by_stock),
        STOCK_TEST(other_kinds_of_filesystem_are_refused_by_name),
        STOCK_TEST(settings_are_judged_as_by_stock),
        STOCK_TEST(lz4_needs_format_8_as_with_stock),
        STOCK_TEST(a_file_that_does_not_name_the_youngest_is_refused),
        STOCK_TEST(every_format_is_opened_with_its_layout),
        cmocka_unit_test(defaults_are_those_of_the_format),
        cmocka_unit_test(settings_are_taken),
        STOCK_TEST(a_new_revision_is_noticed),
        STOCK_TEST(a_uuid_that_was_set_is_read_by_stock),
        cmocka_unit_test(made_uuids_are_random_and_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
