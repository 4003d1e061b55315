/* SPDX-License-Identifier: Apache-2.0 */
#include "../fresh.h"
#include "base/num.h"
#include "fsfs/read/index.h"
#include "fsfs/read/index_int.h"

/* The indexes and footer of revision 0 of a repository by Subversion 1.9, whose 107 bytes of data
 * are: a directory's text (17 bytes, item 3), the root node-revision (89 bytes, item 2), an empty
 * changed-path list (1 byte, item 1). */
static const char l2p_hex[] = "4c32502d494e4445580a"
                              "00804001010106"
                              "0400d601b10121";
static const char p2l_hex[] = "50324c2d494e4445580a"
                              "006b808040011f00"
                              "113400f5d68c8106"
                              "590900c8fcf68104"
                              "010d009d9ea9940f"
                              "95ff3f1b0000";
#define FOOTER                                                                                     \
    "107 4ee826c7290508829f5acb14d0e26d72 131 b1754ac6e481d792be0bcd2649b33b01"                    \
    "\x49"

static const struct p2l_entry revision_0[] = {
    {0, 17, ITEM_DIR_REP, 0, 3, 0x60232b75},
    {17, 89, ITEM_NODEREV, 0, 2, 0x403dbe48},
    {106, 1, ITEM_CHANGES, 0, 1, 0xf28a4f1d},
};

static struct str unhex(struct arena *arena, const char *hex)
{
    const size_t n = strlen(hex) / 2;
    char *bytes = arena_alloc(arena, n);
    assert_true(num_unhex(bytes, n, str_of(hex)));
    return str_make(bytes, n);
}

static void assert_entries(const struct p2l_entry *got, size_t got_n, const struct p2l_entry *want,
                           size_t n)
{
    assert_int_equal(got_n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(got[i].offset, want[i].offset);
        assert_int_equal(got[i].size, want[i].size);
        assert_int_equal(got[i].type, want[i].type);
        assert_int_equal(got[i].rev, want[i].rev);
        assert_int_equal(got[i].item, want[i].item);
        assert_int_equal(got[i].checksum, want[i].checksum);
    }
}

static void the_indexes_of_revision_0_are_read(void **state)
{
    struct stock *s = *state;
    const struct str l2p = unhex(s->arena, l2p_hex), p2l = unhex(s->arena, p2l_hex);
    const uint64_t offsets[] = {0, 106, 17, 0};
    uint64_t offset;
    for (uint64_t item = 1; item <= 3; item++) {
        assert_ok(l2p_parse(l2p, 0, item, &offset, s->arena));
        assert_int_equal(offset, offsets[item]);
    }
    struct p2l_entry *entries;
    size_t n;
    assert_ok(p2l_parse(&entries, &n, p2l, s->arena));
    assert_entries(entries, n, revision_0, 3);
}

static void the_footer_of_revision_0_is_read(void **state)
{
    struct index_footer f;
    assert_ok(index_footer_parse(&f, S(FOOTER), 253));
    assert_int_equal(f.l2p_offset, 107);
    assert_int_equal(f.p2l_offset, 131);
    assert_int_equal(f.footer_offset, 253 - 74);
    assert_int_equal(f.l2p_md5[0], 0x4e);
    assert_int_equal(f.p2l_md5[15], 0x01);
}

static void the_indexes_of_revision_0_are_written_to_the_byte(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(out);
    AUTO_BUF(want);
    buf_str(&want, unhex(s->arena, l2p_hex));
    buf_str(&want, unhex(s->arena, p2l_hex));
    buf_str(&want, S(FOOTER));
    assert_ok(index_append(&out, revision_0, 3, 0, 1, 107, 8192, 1 << 20, s->arena));
    assert_int_equal(want.n, 253 - 107);
    assert_true(str_eq(buf_view(&out), buf_view(&want)));
}

static void lookups_outside_the_index_say_what_is_missing(void **state)
{
    struct stock *s = *state;
    const struct str l2p = unhex(s->arena, l2p_hex);
    uint64_t offset;
    assert_err(l2p_parse(l2p, 0, 4, &offset, s->arena), E_FS_INDEX_OVERFLOW,
               "Item index 4 too large in revision 0");
    assert_err(l2p_parse(l2p, 0, UINT64_MAX, &offset, s->arena), E_FS_INDEX_OVERFLOW,
               "too large in revision 0");
    assert_err(l2p_parse(l2p, 1, 2, &offset, s->arena), E_FS_INDEX_REVISION,
               "Revision 1 not covered");
    assert_err(l2p_parse(l2p, -1, 2, &offset, s->arena), E_FS_INDEX_REVISION,
               "Revision -1 not covered");
    assert_err(l2p_parse(l2p, 0, 0, &offset, s->arena), E_FS_INDEX_CORRUPTION, "not in use");
}

static void an_index_cut_anywhere_is_an_error(void **state)
{
    struct stock *s = *state;
    const struct str l2p = unhex(s->arena, l2p_hex), p2l = unhex(s->arena, p2l_hex),
                     foot = S(FOOTER);
    for (size_t n = 0; n < l2p.n; n++) {
        uint64_t offset;
        assert_err(l2p_parse(str_make(l2p.p, n), 0, 3, &offset, s->arena), E_FS_INDEX_CORRUPTION,
                   "");
    }
    for (size_t n = 0; n < p2l.n; n++) {
        struct p2l_entry *entries;
        size_t count;
        assert_err(p2l_parse(&entries, &count, str_make(p2l.p, n), s->arena), E_FS_INDEX_CORRUPTION,
                   "");
    }
    for (size_t n = 0; n < foot.n; n++) {
        struct index_footer f;
        assert_err(index_footer_parse(&f, str_make(foot.p, n), 253), E_FS_INDEX_CORRUPTION, "");
    }
}

static void counts_that_no_index_can_hold_are_refused(void **state)
{
    struct stock *s = *state;
    uint64_t offset;
    struct p2l_entry *entries;
    size_t n;
    /* 2^63 - 1 revisions; as many pages; a page of 3 entries; a page of a size that is no power of
     * two */
    const char *l2p[] = {"4c32502d494e4445580a008040ffffffffffffffff7f0101060400d601b10121",
                         "4c32502d494e4445580a00804001ffffffffffffffff7f01060400d601b10121",
                         "4c32502d494e4445580a00804001010103040001"
                         "02",
                         "4c32502d494e4445580a00814001010106040"
                         "0d601b10121"};
    for (size_t i = 0; i < 4; i++)
        assert_err(l2p_parse(unhex(s->arena, l2p[i]), 0, 3, &offset, s->arena),
                   E_FS_INDEX_CORRUPTION, "");
    /* as many pages; data of 2^63 - 1 bytes in one page; an entry of type 7; an integer of eleven
     * bytes */
    const char *p2l[] = {"50324c2d494e4445580a006b0100",
                         "50324c2d494e4445580a00ffffffffffffffff7f8080400100",
                         "50324c2d494e4445580a00018080400500010e0000",
                         "50324c2d494e4445580a00ffffffffffffffffffff0180804001"};
    for (size_t i = 0; i < 4; i++)
        assert_err(p2l_parse(&entries, &n, unhex(s->arena, p2l[i]), s->arena),
                   E_FS_INDEX_CORRUPTION, "");
}

static void items_that_no_index_can_hold_are_not_written(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(out);
    struct p2l_entry e[2] = {{0, 10, ITEM_NODEREV, 5, 2, 1}, {10, 1, ITEM_CHANGES, 5, 1, 1}};
    assert_ok(index_append(&out, e, 2, 5, 1, 11, 8192, 1024, s->arena));
    assert_err(index_append(&out, e, 2, 6, 1, 11, 8192, 1024, s->arena), E_FS_INDEX_OVERFLOW,
               "revision 5");
    assert_err(index_append(&out, e, 2, 5, 1, 12, 8192, 1024, s->arena), E_FS_INDEX_CORRUPTION,
               "11 of 12");
    assert_err(index_append(&out, e, 2, 5, 1, 11, 8191, 1024, s->arena), E_BAD_CONFIG_VALUE,
               "8191");
    e[1].item = 2;
    assert_err(index_append(&out, e, 2, 5, 1, 11, 8192, 1024, s->arena), E_FS_INDEX_CORRUPTION,
               "item 2 twice");
    e[1].item = (uint64_t)1 << 60;
    assert_err(index_append(&out, e, 2, 5, 1, 11, 8192, 1024, s->arena), E_FS_INDEX_OVERFLOW,
               "too large");
    e[1] = (struct p2l_entry){9, 2, ITEM_CHANGES, 5, 1, 1};
    assert_err(index_append(&out, e, 2, 5, 1, 11, 8192, 1024, s->arena), E_FS_INDEX_CORRUPTION,
               "overlap");
}

/* ---- against what stock writes ---- */

/* The page sizes stand in the heads: <first-rev> <page-size>, and <first-rev> <data-size>
 * <page-size>. */
static uint64_t number_at(struct str index, int which)
{
    uint64_t n = 0;
    index = str_skip(index, strlen("L2P-INDEX\n"));
    for (int i = 0; i <= which; i++)
        assert_true(packed_take(&n, &index));
    return n;
}

/* Both indexes of the file NAME that holds REV, written again from what is read of them. Returns
 * how many entries there are. */
static size_t write_again(struct stock *s, struct fsfs *fs, const char *name, revnum rev,
                          int64_t revs)
{
    AUTO_BUF(out);
    struct body *body;
    struct p2l_entry *entries;
    size_t n;
    struct index_footer f;
    const struct str file = stock_file(s, name);
    assert_ok(store_body(&body, fs->store, rev, s->arena));
    assert_ok(index_footer_parse(&f, file, file.n));
    assert_ok(index_check_digests(fs, body, s->arena));
    assert_ok(p2l_entries(&entries, &n, fs, body, s->arena));
    const uint64_t l2p_page = number_at(str_skip(file, f.l2p_offset), 1);
    const uint64_t p2l_page = number_at(str_skip(file, f.p2l_offset), 2);
    assert_ok(index_append(&out, entries, n, rev, revs, f.l2p_offset, (int64_t)l2p_page,
                           (int64_t)p2l_page, s->arena));
    if (!str_eq(buf_view(&out), str_skip(file, f.l2p_offset)))
        fail_msg("%s is written otherwise", name);
    for (size_t i = 0; i < n; i++) {
        uint64_t offset;
        if (entries[i].type == ITEM_UNUSED)
            continue;
        assert_ok(l2p_lookup(&offset, fs, body, entries[i].rev, entries[i].item, s->arena));
        assert_int_equal(offset, entries[i].offset);
        assert_int_equal(fnv1a_32x4(str_make(file.p + offset, entries[i].size)),
                         entries[i].checksum);
    }
    return n;
}

/* 12 revisions in shards of 4. The third adds 700 files, the next a file of 300,000 bytes that do
 * not compress: with pages of 32 items and of 4 KiB that makes indexes of many pages, empty ones
 * among them. Packs get padding between their blocks. */
static const char history[] =
    "svnadmin create r\n"
    "sed -i 's/^layout sharded .*/layout sharded 4/' r/db/format\n"
    "export PAGES=%s\n"
    "[ $PAGES = default ] || printf '[io]\\nl2p-page-size = 32\\np2l-page-size = 4\\nblock-size = "
    "4\\n' >>r/db/fsfs.conf\n"
    "mkdir wc && for i in $(seq 700); do echo $i >wc/$i; done\n"
    "U=$U/r\n"
    "svnmucc -m 1 mkdir $U/a >/dev/null\n"
    "svnmucc -m 2 mkdir $U/a/b propset p v $U/a >/dev/null\n"
    "svn import -q -m 3 wc $U/many\n"
    "openssl enc -aes-128-ctr -K 0 -iv 0 -in /dev/zero 2>/dev/null | head -c 300000 >noise\n"
    "svnmucc -m 4 put noise $U/noise >/dev/null\n"
    "for i in 5 6 7 8 9 10 11; do svnmucc -m $i put wc/$i $U/many/1 >/dev/null; done\n";

static void indexes_come_out_as_stock_wrote_them(void **state)
{
    struct stock *s = *state;
    static const char *pages[] = {"default", "small"};
    for (size_t i = 0; i < 2; i++) {
        stock_run(s, arena_printf(s->arena, history, pages[i]).p);
        struct fsfs *fs = fresh_open(s, "r");
        size_t n = 0;
        for (revnum rev = 0; rev <= 11; rev++)
            n += write_again(
                s, fs, arena_printf(s->arena, "r/db/revs/%d/%d", (int)rev / 4, (int)rev).p, rev, 1);
        stock_run(s, "svnadmin pack -q r");
        fs = fresh_open(s, "r");
        size_t packed = 0;
        for (revnum rev = 0; rev <= 11; rev += 4)
            packed += write_again(
                s, fs, arena_printf(s->arena, "r/db/revs/%d.pack/pack", (int)rev / 4).p, rev, 4);
        assert_true(n > 1400);
        assert_true(packed >= n); /* the same items, and padding */
        stock_run(s, "rm -rf r wc");
    }
}

static void every_item_count_is_known(void **state)
{
    struct stock *s = *state;
    stock_run(s, arena_printf(s->arena, history, "small").p);
    stock_run(s, "svnadmin pack -q r");
    struct fsfs *fs = fresh_open(s, "r");
    struct body *body;
    uint64_t n;
    assert_ok(store_body(&body, fs->store, 3, s->arena));
    assert_ok(l2p_item_count(&n, fs, body, 3, s->arena));
    assert_int_equal(
        n, 3 + 700 + 700 +
               3); /* 0 to 2; texts; node-revisions; text of /many and of /, node of /many */
    assert_err(l2p_item_count(&n, fs, body, 4, s->arena), E_FS_INDEX_REVISION, "Revision 4");
}

static void a_flipped_byte_of_an_index_is_noticed(void **state)
{
    struct stock *s = *state;
    stock_run(s, "svnadmin create r && svnmucc -m 1 mkdir $U/r/a >/dev/null");
    const struct str file = stock_file(s, "r/db/revs/0/1");
    struct index_footer f;
    assert_ok(index_footer_parse(&f, file, file.n));
    for (uint64_t at = f.l2p_offset; at < file.n; at++) {
        char *bytes = arena_alloc(s->arena, file.n);
        memcpy(bytes, file.p, file.n);
        bytes[at] ^= 0x04;
        stock_write(s, "r/db/revs/0/1", str_make(bytes, file.n));
        struct fsfs *fs = fresh_open(s, "r");
        struct body *body;
        assert_ok(store_body(&body, fs->store, 1, s->arena));
        struct err *err = index_check_digests(fs, body, s->arena);
        if (!err)
            fail_msg("byte %d of %d", (int)at, (int)file.n);
        err_free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(the_indexes_of_revision_0_are_read),
        cmocka_unit_test(the_footer_of_revision_0_is_read),
        STOCK_TEST(the_indexes_of_revision_0_are_written_to_the_byte),
        STOCK_TEST(lookups_outside_the_index_say_what_is_missing),
        STOCK_TEST(an_index_cut_anywhere_is_an_error),
        STOCK_TEST(counts_that_no_index_can_hold_are_refused),
        STOCK_TEST(items_that_no_index_can_hold_are_not_written),
        STOCK_TEST(indexes_come_out_as_stock_wrote_them),
        STOCK_TEST(every_item_count_is_known),
        STOCK_TEST(a_flipped_byte_of_an_index_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
