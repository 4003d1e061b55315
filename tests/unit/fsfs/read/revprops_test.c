/* SPDX-License-Identifier: Apache-2.0 */
#include "../stock.h"
#include "fsfs/read/revprops_int.h"

/* ---- helpers ---- */

/* Repository r: shards of four revisions, nine revisions, each with a log message of SIZE bytes. */
static void make_history(struct stock *stock, int format, int size)
{
    stock_create(stock, "r", format, 4);
    stock_run(
        stock,
        arena_printf(stock->arena,
                     "for i in 1 2 3 4 5 6 7 8 9; do "
                     "svn mkdir -q -m \"$i$(head -c %d /dev/zero | tr '\\0' x)\" $U/r/d$i; done",
                     size)
            .p);
}

/* A property list as the file of a loose revision holds it. */
static struct str dump_of(struct stock *stock, const struct props *props)
{
    AUTO_BUF(out);
    hashdump_format(&out, props->list, props->n, S("END"));
    return arena_str(stock->arena, buf_view(&out));
}

static struct str get_dump(struct stock *stock, struct fsfs *fs, revnum rev,
                           struct revprop_view *view)
{
    const struct props *props;
    assert_ok(revprops_get(&props, fs, rev, view, stock->arena));
    return dump_of(stock, props);
}

static struct str value_of(struct stock *stock, struct fsfs *fs, revnum rev, const char *name,
                           struct revprop_view *view)
{
    const struct props *props;
    assert_ok(revprops_get(&props, fs, rev, view, stock->arena));
    const struct str *value = props_get(props, str_of(name));
    return value ? *value : S("(none)");
}

static struct str stock_value(struct stock *stock, int rev, const char *name)
{
    return stock_output(
        stock, arena_printf(stock->arena, "svnlook propget --revprop -r %d r %s", rev, name).p);
}

/* Let all folders look as if changed long ago: what is read under such a stamp may be kept. */
static void age(struct stock *stock)
{
    stock_run(stock, "find r/db/revprops -type d -exec touch -d 2001-01-01 {} ';'");
}

/* ---- reading ---- */

static void properties_are_read_loose_and_packed_in_every_format(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        make_history(stock, (int)format, 10);
        struct str dumps[10];
        for (int rev = 0; rev <= 9; rev++)
            dumps[rev] = stock_file(
                stock, arena_printf(stock->arena,
                                    format < 3 ? "r/db/revprops/%d" : "r/db/revprops/%2$d/%1$d",
                                    rev, rev / 4)
                           .p);
        struct fsfs *fs = stock_open(stock, "r");
        for (int rev = 0; rev <= 9; rev++)
            assert_str_eq(get_dump(stock, fs, rev, NULL), dumps[rev]);
        if (format >= 4)
            stock_run(stock, "svnadmin pack -q r");
        for (int rev = 0; rev <= 9; rev++) /* the open filesystem knows nothing of the pack */
            assert_str_eq(get_dump(stock, fs, rev, NULL), dumps[rev]);
        fsfs_close(fs);
        fs = stock_open(stock, "r");
        struct revprop_view *view = revprop_view_new(fs, stock->arena);
        for (int rev = 9; rev >= 0; rev--)
            assert_str_eq(get_dump(stock, fs, rev, view), dumps[rev]);
        fsfs_close(fs);
        stock_run(stock, "rm -rf r");
    }
}

static void a_compressed_pack_is_read(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8, 2000);
    stock_run(stock, "printf '[packed-revprops]\\ncompress-packed-revprops = true\\n' "
                     ">r/db/fsfs.conf; svnadmin pack -q r");
    assert_true(stock_file(stock, "r/db/revprops/1.pack/4.0").n < 1000);
    struct fsfs *fs = stock_open(stock, "r");
    struct str log = value_of(stock, fs, 5, "svn:log", NULL);
    assert_int_equal(log.n, 2001);
    assert_int_equal(log.p[0], '5');
    fsfs_close(fs);
}

static void a_revision_that_is_not_there_has_no_properties(void **state)
{
    struct stock *stock = *state;
    const struct props *props;
    make_history(stock, 8, 10);
    struct fsfs *fs = stock_open(stock, "r");
    assert_err(revprops_get(&props, fs, 10, NULL, stock->arena), E_FS_NO_SUCH_REVISION,
               "No such revision 10");
    assert_err(revprops_get(&props, fs, -1, NULL, stock->arena), E_FS_NO_SUCH_REVISION, NULL);
    stock_run(stock, "rm -f r/db/revprops/2/9");
    assert_err(revprops_get(&props, fs, 9, NULL, stock->arena), E_FS_NO_SUCH_REVISION,
               "No such packed revision 9");
    fsfs_close(fs);
}

static void damage_is_told_with_the_revision(void **state)
{
    struct stock *stock = *state;
    const struct props *props;
    make_history(stock, 8, 10);
    stock_run(stock, "svnadmin pack -q r; chmod -R u+w r/db/revprops");
    stock_write(stock, "r/db/revprops/2/8", S("garbage\n"));
    struct fsfs *fs = stock_open(stock, "r");
    assert_err(revprops_get(&props, fs, 8, NULL, stock->arena), E_MALFORMED_FILE,
               "Failed to parse revprops for r8.");
    static const struct {
        const char *manifest, *pack;
        int code;
        const char *text;
    } cases[] = {
        {"4.0\n4.0\n4.0\n4.0\n", "", E_FS_CORRUPT, "Revprop pack file for r5 is corrupt"},
        {"4.0\n4.0\n4.0\n4.0\n",
         "\x11"
         "4\n4\n1\n1\n1\n1\n\nabcd",
         E_FS_CORRUPT, "Failed to parse revprops for r5."},
        {"4.0\n4.0\n4.0\n4.0\n",
         "\x11"
         "4\n4\n1\n1\n1\n2\n\nabcd",
         E_FS_CORRUPT, "shorter"},
        {"4.0\n4.0\n4.0\n4.0\n",
         "\x11"
         "4\n4\n1\n1\n1\n0\n\nabcd",
         E_FS_CORRUPT, "longer"},
        {"4.0\n4.0\n4.0\n4.0\n",
         "\x11"
         "4\n9\n1\n1\n1\n1\n\nabcd",
         E_FS_CORRUPT, "r5 is corrupt"},
        {"4.0\n4.0\n4.0\n4.0\n",
         "\x11"
         "8\n4\n1\n1\n1\n1\n\nabcd",
         E_FS_CORRUPT, "contains revprops for r8 .. r11"},
        {"4.0\n4.0\n4.0\n", "", E_FS_CORRUPT_REVPROP_MANIFEST, "lists 3 revisions, not 4"},
        {"4.0\n4.0\n4.0\n4.0", "", E_FS_CORRUPT_REVPROP_MANIFEST, "not properly terminated"},
        {"4.0\n../4.0\n4.0\n4.0\n", "", E_FS_CORRUPT_REVPROP_MANIFEST, "../4.0"},
        {"4.1\n4.1\n4.1\n4.1\n", "", E_FS_PACKED_REVPROP_READ_FAILURE,
         "Failed to read revprop pack file for r5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stock_write(stock, "r/db/revprops/1.pack/manifest", str_of(cases[i].manifest));
        stock_write(stock, "r/db/revprops/1.pack/4.0", str_of(cases[i].pack));
        assert_err(revprops_get(&props, fs, 5, NULL, stock->arena), cases[i].code, cases[i].text);
    }
    fsfs_close(fs);
}

static void a_change_by_another_process_is_seen_by_the_next_view(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8, 10);
    stock_run(stock, "svnadmin pack -q r");
    static const int revs[] = {0, 2, 6, 9}; /* never packed, packed, packed, loose */
    for (size_t i = 0; i < 4; i++) {
        int rev = revs[i];
        age(stock);
        struct fsfs *fs = stock_open(stock, "r");
        value_of(stock, fs, rev, "k", NULL); /* now in the cache */
        stock_run(
            stock,
            arena_printf(stock->arena, "printf one >v; svnadmin setrevprop r -r %d k v", rev).p);
        assert_str(value_of(stock, fs, rev, "k", NULL), "one");
        /* At once, within the grain of the clock. */
        stock_run(
            stock,
            arena_printf(stock->arena, "printf two >v; svnadmin setrevprop r -r %d k v", rev).p);
        assert_str(value_of(stock, fs, rev, "k", NULL), "two");
        assert_str(value_of(stock, fs, rev, "k", revprop_view_new(fs, stock->arena)), "two");
        fsfs_close(fs);
    }
}

/* A pack that is killed, or may not remove files, leaves what it has packed beside the pack. */
static void loose_files_of_a_packed_shard_do_not_count(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8, 10);
    age(stock);
    struct fsfs *before = stock_open(stock, "r");
    assert_int_equal(value_of(stock, before, 6, "svn:log", NULL).p[0], '6');
    stock_run(stock, "cp -a r/db/revprops/1 left; svnadmin pack -q r; mv left r/db/revprops/1; "
                     "printf changed >m; svnadmin setlog --bypass-hooks -r 6 r m");
    age(stock);
    struct fsfs *after = stock_open(stock, "r");
    assert_str(stock_value(stock, 6, "svn:log"), "changed");
    assert_str(value_of(stock, before, 6, "svn:log", NULL), "changed");
    assert_str(value_of(stock, after, 6, "svn:log", NULL), "changed");
    struct revprop_view *view = revprop_view_new(after, stock->arena);
    struct props *props;
    assert_ok(revprops_read(&props, view, 6));
    assert_str(*props_get(props, S("svn:log")), "changed");
    shared_unref(props);
    fsfs_close(before);
    fsfs_close(after);
}

static void a_split_pack_is_followed_within_a_view(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8, 10);
    stock_run(stock, "svnadmin pack -q r");
    struct fsfs *fs = stock_open(stock, "r");
    struct revprop_view *view = revprop_view_new(fs, stock->arena);
    assert_int_equal(value_of(stock, fs, 1, "svn:log", view).p[0],
                     '1'); /* reads the manifest of shard 0 */
    assert_int_equal(value_of(stock, fs, 4, "svn:log", view).p[0], '4'); /* and that of shard 1 */
    stock_run(stock, "head -c 20000 /dev/zero | tr '\\0' y >v; svnadmin setrevprop r -r 6 k v; "
                     "svnadmin setrevprop r -r 1 k v");
    assert_int_equal(value_of(stock, fs, 7, "svn:log", view).p[0], '7');
    assert_int_equal(value_of(stock, fs, 2, "svn:log", view).p[0], '2');
    assert_int_equal(value_of(stock, fs, 6, "k", NULL).n, 20000);
    fsfs_close(fs);
}

/* A view remembers the stamps of 64 shards. What it read of one whose stamp had to make room must
 * not outlive a change as if it were read after it. */
static void a_view_of_many_shards_keeps_nothing_old(void **state)
{
    enum { SHARD = 2, FIRST = 10, SAME_SLOT = FIRST + 64 * SHARD };
    struct stock *stock = *state;
    stock_create(stock, "r", 8, SHARD);
    stock_messages(stock, SAME_SLOT + SHARD);
    stock_run(stock, "svnadmin pack -q r");
    age(stock);
    struct fsfs *fs = stock_open(stock, "r");
    struct revprop_view *view = revprop_view_new(fs, stock->arena);
    assert_str(value_of(stock, fs, FIRST, "svn:log", view), "message 10");
    stock_run(stock, "printf changed >m; svnadmin setlog --bypass-hooks -r 10 r m; "
                     "find r/db/revprops -type d -exec touch -d 2002-02-02 {} ';'");
    cache_clear();
    struct version stamp; /* only that, so that the view still has the pack that it read */
    assert_ok(revprop_view_stamp(&stamp, view, SAME_SLOT));
    value_of(stock, fs, FIRST, "svn:log", view); /* either */
    assert_str(value_of(stock, fs, FIRST, "svn:log", NULL), "changed");
    fsfs_close(fs);
}

/* A hot log asks the system nothing for the revisions of a shard that it has seen: not even with
 * all their files gone. */
static void hot_properties_need_no_files(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8, 10);
    stock_run(stock, "svnadmin pack -q r");
    age(stock);
    struct fsfs *fs = stock_open(stock, "r");
    struct revprop_view *view = revprop_view_new(fs, stock->arena);
    for (int rev = 0; rev <= 9; rev++)
        value_of(stock, fs, rev, "svn:log", view);
    stock_run(stock, "find r/db/revprops -type f -delete");
    age(stock);
    for (int rev = 1; rev <= 9; rev++)
        assert_int_equal(value_of(stock, fs, rev, "svn:log", view).p[0], '0' + rev);
    fsfs_close(fs);
}

/* ---- setting ---- */

static void a_property_that_was_set_is_read_by_stock(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        make_history(stock, (int)format, 10);
        if (format >= 4)
            stock_run(stock, "svnadmin pack -q r");
        struct fsfs *fs = stock_open(stock, "r");
        for (int rev = 0; rev <= 9; rev++) {
            assert_ok(revprop_set(fs, rev, S("k"), &S("a\nvalue"), NULL));
            assert_str(stock_value(stock, rev, "k"), "a\nvalue");
            assert_str(value_of(stock, fs, rev, "k", NULL), "a\nvalue");
            struct str date = value_of(stock, fs, rev, "svn:date", NULL);
            assert_str_eq(stock_value(stock, rev, "svn:date"), date);
            assert_ok(revprop_set(fs, rev, S("k"), NULL, NULL));
            assert_str(value_of(stock, fs, rev, "k", NULL), "(none)");
        }
        const struct prop list[] = {{S("svn:log"), S("all new")}};
        assert_ok(revprops_replace(fs, 5, list, 1));
        assert_str(stock_output(stock, "svnlook proplist --revprop -r 5 r"), "  svn:log\n");
        stock_run(stock, "svnadmin verify -q r");
        fsfs_close(fs);
        stock_run(stock, "rm -rf r");
    }
}

static void a_property_is_only_set_where_it_is_as_expected(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8, 10);
    struct fsfs *fs = stock_open(stock, "r");
    const struct str *none = NULL, *one = &S("1"), *two = &S("2");
    const char *words = "revprop 'k' has unexpected value in filesystem";
    assert_err(revprop_set(fs, 3, S("k"), two, &one), E_FS_PROP_BASEVALUE_MISMATCH, words);
    assert_ok(revprop_set(fs, 3, S("k"), one, &none));
    assert_err(revprop_set(fs, 3, S("k"), two, &none), E_FS_PROP_BASEVALUE_MISMATCH, words);
    assert_err(revprop_set(fs, 3, S("k"), one, &two), E_FS_PROP_BASEVALUE_MISMATCH, words);
    assert_ok(revprop_set(fs, 3, S("k"), two, &one));
    assert_str(stock_value(stock, 3, "k"), "2");
    assert_err(revprop_set(fs, 10, S("k"), one, NULL), E_FS_NO_SUCH_REVISION, "10");
    fsfs_close(fs);
}

/* The same changes by both: the packs must be the same, file by file and byte by byte. */
static void packs_are_rewritten_and_split_as_by_stock(void **state)
{
    struct stock *stock = *state;
    static const struct {
        int rev, size;
    } changes[] = {{2, 100},  {2, 30000}, {2, 40000}, {5, 4000}, {6, 3500}, {4, 3000},
                   {7, 3900}, {7, 4200},  {4, 9000},  {6, 10},   {1, 0},    {7, 16384}};
    make_history(stock, 8, 3000);
    stock_run(stock, "svnadmin pack -q r; cp -a r theirs");
    struct fsfs *fs = stock_open(stock, "r");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct str value = {arena_zalloc(stock->arena, (size_t)changes[i].size),
                            (size_t)changes[i].size};
        memset((char *)value.p, 'z', value.n);
        assert_ok(revprop_set(fs, changes[i].rev, S("k"), &value, NULL));
        stock_write(stock, "v", value);
        stock_run(
            stock,
            arena_printf(stock->arena, "svnadmin setrevprop theirs -r %d k v", changes[i].rev).p);
        stock_run(stock, "diff -r r/db/revprops theirs/db/revprops");
    }
    fsfs_close(fs);
}

/* ---- packing ---- */

/* Pack shard SHARD of repository NAME as far as properties go. */
static void pack_shard(struct stock *stock, const char *name, int64_t shard)
{
    struct fsfs *fs = stock_open(stock, name);
    assert_ok(lease_take(fs->store, LEASE_WRITE));
    assert_ok(revprops_pack_shard(fs, shard));
    lease_drop(fs->store, LEASE_WRITE);
    fsfs_close(fs);
}

static void packed_properties_are_the_bytes_that_stock_makes(void **state)
{
    struct stock *stock = *state;
    static const int sizes[] = {10, 3500, 7100,
                                20000}; /* one, two and four files to a shard of four */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_history(stock, i % 2 ? 8 : 6, sizes[i]);
        stock_run(stock, "rm -rf ours; cp -a r ours; svnadmin pack -q r");
        pack_shard(stock, "ours", 0);
        pack_shard(stock, "ours", 1);
        stock_run(stock, "diff -r r/db/revprops/0.pack ours/db/revprops/0.pack && "
                         "diff -r r/db/revprops/1.pack ours/db/revprops/1.pack && rm -rf r");
    }
}

static void a_compressed_pack_is_read_by_stock(void **state)
{
    struct stock *stock = *state;
    make_history(stock, 8, 2000);
    stock_run(stock, "printf '[packed-revprops]\\ncompress-packed-revprops = true\\n' "
                     ">r/db/fsfs.conf; cp -a r ours; svnadmin pack -q r");
    pack_shard(stock, "ours", 0);
    pack_shard(stock, "ours", 1);
    stock_run(stock, "cmp r/db/revprops/1.pack/manifest ours/db/revprops/1.pack/manifest; "
                     "cp -r ours/db/revprops/*.pack r/db/revprops/; svnadmin verify -q r");
    assert_true(stock_file(stock, "r/db/revprops/1.pack/4.0").n < 1000);
    assert_int_equal(stock_value(stock, 6, "svn:log").p[0], '6');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(properties_are_read_loose_and_packed_in_every_format),
        STOCK_TEST(a_compressed_pack_is_read),
        STOCK_TEST(a_revision_that_is_not_there_has_no_properties),
        STOCK_TEST(damage_is_told_with_the_revision),
        STOCK_TEST(a_change_by_another_process_is_seen_by_the_next_view),
        STOCK_TEST(loose_files_of_a_packed_shard_do_not_count),
        STOCK_TEST(a_split_pack_is_followed_within_a_view),
        STOCK_TEST(a_view_of_many_shards_keeps_nothing_old),
        STOCK_TEST(hot_properties_need_no_files),
        STOCK_TEST(a_property_that_was_set_is_read_by_stock),
        STOCK_TEST(a_property_is_only_set_where_it_is_as_expected),
        STOCK_TEST(packs_are_rewritten_and_split_as_by_stock),
        STOCK_TEST(packed_properties_are_the_bytes_that_stock_makes),
        STOCK_TEST(a_compressed_pack_is_read_by_stock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
