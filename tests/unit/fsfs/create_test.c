/* SPDX-License-Identifier: Apache-2.0 */
#include "stock.h"

static struct str db_of(struct stock *stock, const char *name)
{
    return arena_printf(stock->arena, "%s/%s/db", stock->root, name);
}

/* A filesystem in the outer folders of a stock repository. */
static void create(struct stock *stock, const char *name, const struct fsfs_create_options *options)
{
    assert_ok(fsfs_create(db_of(stock, name).p, options));
}

static const char *release_of(size_t format)
{
    static const char *const release[] = {
        [1] = "1.3", [2] = "1.4", [3] = "1.5", [4] = "1.6", [6] = "1.8", [7] = "1.9", [8] = "1.10"};
    return release[format];
}

/* All files with mode and, where it is not one of a kind, content. */
static struct str listing(struct stock *stock, const char *name)
{
    const char *script =
        arena_printf(
            stock->arena,
            "cd %s/db && find . -printf '%%M %%p ' -type f -exec sh -c 'case $1 in "
            "*/uuid) sed s/[0-9a-f]/x/g $1 ;; */revprops/*) sed 's/^20[-0-9T:.]*Z/date/' $1 ;; "
            "*/fsfs.conf) echo settings ;; *) cksum <$1 ;; esac' sh {} ';' -o -printf '\\n' | "
            "LC_ALL=C sort",
            name)
            .p;
    return stock_output(stock, script);
}

static void a_new_filesystem_has_stocks_files_modes_and_bytes(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        stock_run(stock, arena_printf(stock->arena,
                                      "rm -rf r ours; svnadmin create --compatible-version %s r; "
                                      "cp -a r ours; rm -rf ours/db",
                                      release_of(format))
                             .p);
        create(stock, "ours",
               &(struct fsfs_create_options){.format = (int)format, .shard_size = 1000});
        assert_str_eq(listing(stock, "ours"), listing(stock, "r"));
    }
}

static void stock_works_on_a_new_filesystem(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        stock_run(stock, "rm -rf r; svnadmin create r; rm -rf r/db");
        create(stock, "r", &(struct fsfs_create_options){.format = (int)format, .shard_size = 4});
        stock_history(stock);
        if (format >= 4)
            stock_run(stock, "svnadmin pack -q r");
        stock_run(stock, "svnadmin verify -q r");
        assert_str(stock_output(stock, "svnlook youngest r"), "9\n");
    }
}

static void linear_and_physical_layouts_can_be_chosen(void **state)
{
    struct stock *stock = *state;
    stock_run(stock, "svnadmin create r; rm -rf r/db");
    create(stock, "r", &(struct fsfs_create_options){.format = 8, .shard_size = 0});
    assert_str(stock_file(stock, "r/db/format"), "8\nlayout linear\naddressing physical\n");
    stock_history(stock);
    stock_run(stock, "svnadmin verify -q r; rm -rf r/db");
    create(stock, "r",
           &(struct fsfs_create_options){.format = 7, .shard_size = 5, .physical = true});
    assert_str(stock_file(stock, "r/db/format"), "7\nlayout sharded 5\naddressing physical\n");
    stock_history(stock);
    stock_run(stock, "svnadmin pack -q r; svnadmin verify -q r");
}

static void uuid_and_date_can_be_given(void **state)
{
    struct stock *stock = *state;
    stock_run(stock, "svnadmin create r; rm -rf r/db");
    create(stock, "r",
           &(struct fsfs_create_options){.format = 8,
                                         .shard_size = 1000,
                                         .uuid = "a3c8f4f0-0000-4000-8000-000000000000",
                                         .date = "2001-02-03T04:05:06.000007Z"});
    assert_str(stock_output(stock, "svnlook uuid r"), "a3c8f4f0-0000-4000-8000-000000000000\n");
    assert_str(stock_output(stock, "svn propget --revprop -r0 svn:date file://$PWD/r"),
               "2001-02-03T04:05:06.000007Z\n");
}

static void the_template_sets_nothing(void **state)
{
    struct stock *stock = *state;
    stock_run(stock, "svnadmin create r; mkdir ours");
    create(stock, "ours", &(struct fsfs_create_options){.format = 8, .shard_size = 1000});
    struct str conf = stock_file(stock, "ours/db/fsfs.conf"), line;
    struct fsfs_config ours, defaults;
    memset(&ours, 0, sizeof ours);
    memset(&defaults, 0, sizeof defaults);
    assert_ok(fsfs_config_parse(&ours, conf, 8, "conf"));
    assert_ok(fsfs_config_parse(&defaults, S(""), 8, "conf"));
    assert_memory_equal(&ours, &defaults, sizeof ours);
    for (size_t pos = 0; str_line(&line, conf, &pos);)
        assert_true(line.n == 0 || line.p[0] == '#' || line.p[0] == '[');
    /* The same sections and keys as stock's. */
    static const char keys[] = "sed -n 's/^# \\([a-z0-9-]*\\) = .*/\\1/p; /^\\[/p' %s/db/fsfs.conf "
                               "| grep -v -e -server -e remote-";
    struct str wanted = stock_output(stock, arena_printf(stock->arena, keys, "r").p);
    struct str got = stock_output(stock, arena_printf(stock->arena, keys, "ours").p);
    for (size_t pos = 0; str_line(&line, wanted, &pos);)
        assert_non_null(memmem(got.p, got.n, line.p, line.n));
}

static void what_cannot_be_made_is_refused(void **state)
{
    struct stock *stock = *state;
    const char *db = db_of(stock, "r").p;
    stock_run(stock, "mkdir r");
    assert_err(fsfs_create(db, &(struct fsfs_create_options){.format = 5}), E_FS_UNSUPPORTED_FORMAT,
               "'5'");
    assert_err(fsfs_create(db, &(struct fsfs_create_options){.format = 9}), E_FS_UNSUPPORTED_FORMAT,
               "'9'");
    assert_err(fsfs_create(db, &(struct fsfs_create_options){.format = 8, .uuid = "x"}), E_BAD_UUID,
               "'x'");
    stock_run(stock, "test ! -e r/db");
    create(stock, "r", &(struct fsfs_create_options){.format = 8, .shard_size = 1000});
    struct err *err =
        fsfs_create(db, &(struct fsfs_create_options){.format = 8, .shard_size = 1000});
    assert_non_null(err);
    err_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(a_new_filesystem_has_stocks_files_modes_and_bytes),
        STOCK_TEST(stock_works_on_a_new_filesystem),
        STOCK_TEST(linear_and_physical_layouts_can_be_chosen),
        STOCK_TEST(uuid_and_date_can_be_given),
        STOCK_TEST(the_template_sets_nothing),
        STOCK_TEST(what_cannot_be_made_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
