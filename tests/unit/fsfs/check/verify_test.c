/* SPDX-License-Identifier: Apache-2.0 */
#include "../fresh.h"
#include "../stock.h"
#include "base/cache.h"
#include "fsfs/check/verify.h"
#include "fsfs/read/dir.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep.h"

enum { SHARD = 4, YOUNGEST = 9 };

static struct err *verify_bodies(struct fsfs *fs)
{
    revnum first, last = REV_NONE;
    for (revnum rev = 0; rev <= YOUNGEST; rev = last + 1)
        TRY(verify_body(&first, &last, fs, rev));
    return NULL;
}

static struct err *verify_all(struct fsfs *fs)
{
    AUTO_ARENA(arena);
    const struct verify_scope scope = {.start = 0};
    struct revprop_view *view = revprop_view_new(fs, arena);
    TRY(verify_bodies(fs));
    for (revnum rev = 0; rev <= YOUNGEST; rev++)
        TRY(verify_revision(fs, rev, &scope, view));
    return NULL;
}

static void history(struct stock *stock, int format, bool packed)
{
    stock_run(stock, "rm -rf r");
    stock_create(stock, "r", format, SHARD);
    stock_history(stock);
    if (packed)
        stock_run(stock, "svnadmin pack -q r");
    stock_run(stock, "chmod -R u+w r/db");
}

static const char *rev_name(struct stock *stock, revnum rev)
{
    return arena_printf(stock->arena, "r/db/revs/%lld/%lld", (long long)rev / SHARD, (long long)rev)
        .p;
}

static void an_undamaged_repository_is_well(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        history(stock, (int)format, false);
        struct fsfs *fs = fresh_open(stock, "r");
        assert_ok(verify_all(fs));
        if (format < 4)
            continue;
        stock_run(stock, "svnadmin pack -q r");
        fs = fresh_open(stock, "r");
        assert_ok(verify_all(fs));
    }
}

/* ---- single bytes ---- */

static void put_byte(struct stock *stock, const char *name, size_t offset, char byte)
{
    FILE *file = fopen(stock_path(stock, name), "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
    assert_int_equal(fputc((unsigned char)byte, file), (unsigned char)byte);
    assert_int_equal(fclose(file), 0);
}

/* Flip every STEPth byte of NAME from FROM to TO, each by itself; how many CHECK did not notice. */
static size_t unnoticed(struct stock *stock, const char *name, size_t from, size_t to, size_t step,
                        struct err *(*check)(struct fsfs *fs))
{
    const struct str bytes = stock_file(stock, name);
    size_t missed = 0;
    for (size_t at = from; at < to && at < bytes.n; at += step) {
        /* Not bit 5, which makes a small letter of a hexadecimal digit a capital. */
        put_byte(stock, name, at, (char)(bytes.p[at] ^ (1 << at % 5)));
        struct err *err = check(fresh_open(stock, "r"));
        if (!err)
            missed++;
        err_free(err);
        put_byte(stock, name, at, bytes.p[at]);
    }
    return missed;
}

static void every_byte_of_a_logical_body_has_a_checksum(void **state)
{
    struct stock *stock = *state;
    for (int format = 7; format <= 8; format++) {
        history(stock, format, false);
        for (revnum rev = 0; rev <= YOUNGEST; rev++)
            assert_int_equal(
                unnoticed(stock, rev_name(stock, rev), (size_t)rev, SIZE_MAX, 13, verify_bodies),
                0);
        stock_run(stock, "svnadmin pack -q r; chmod -R u+w r/db");
        assert_int_equal(unnoticed(stock, "r/db/revs/0.pack/pack", 1, SIZE_MAX, 19, verify_bodies),
                         0);
    }
}

static struct err *verify_twice(struct fsfs *fs)
{
    struct err *err = verify_all(fs);
    return err ? err : verify_all(fs);
}

/* Most of a physical revision has no checksum. A text has: the random bytes of file b are stored as
 * they are. */
static void every_byte_of_a_text_counts(void **state)
{
    struct stock *stock = *state;
    static const int formats[] = {1, 3, 4, 6};
    for (size_t i = 0; i < 4; i++) {
        history(stock, formats[i], false);
        const char *name = formats[i] < 3 ? "r/db/revs/2" : rev_name(stock, 2);
        const struct str body = stock_file(stock, name), text = stock_file(stock, "b");
        const char *stored = memmem(body.p, body.n, text.p, 1000);
        assert_non_null(stored);
        const size_t from = (size_t)(stored - body.p);
        assert_int_equal(unnoticed(stock, name, from, from + 1000, 37, verify_twice), 0);
    }
}

/* Whatever a byte becomes, verify ends with a verdict. */
static void no_byte_does_harm(void **state)
{
    struct stock *stock = *state;
    static const int formats[] = {1, 3, 4, 6};
    for (size_t i = 0; i < 4; i++) {
        history(stock, formats[i], formats[i] >= 4);
        const char *name = formats[i] >= 4  ? "r/db/revs/0.pack/pack"
                           : formats[i] < 3 ? "r/db/revs/3"
                                            : rev_name(stock, 3);
        const size_t size = stock_file(stock, name).n;
        const size_t missed = unnoticed(stock, name, 2, SIZE_MAX, 19, verify_all);
        assert_true(missed < size / 19 / 2);
    }
}

/* ---- what the bytes mean ---- */

struct edit {
    revnum rev;
    const char *from, *to;
    const char *complaint;
    int code; /* 0: E_FS_CORRUPT */
};

/* Format 6: nothing but the meaning shows that a byte is wrong. */
static void node_revisions_and_changes_must_make_sense(void **state)
{
    struct stock *stock = *state;
    static const struct edit edits[] = {
        {3, "\ncount: 3\n", "\ncount: 4\n", "Predecessor count mismatch"},
        {3, "minfo-cnt: 1\nminfo-here: y", "minfo-cnt: 2\nminfo-here: y",
         "Mergeinfo-count discrepancy"},
        {3, "cpath: /branch", "cpath: /brunch", "was made for path '/brunch'"},
        {3, "copyfrom: 2 /trunk", "copyfrom: 2 /trunc",
         "copy source '/trunc' of revision 2 is not there"},
        {3, "copyfrom: 2 /trunk", "copyfrom: 9 /trunk", "copy of the later revision 9"},
        {3, "id: 0.0.r3/", "id: 1.0.r3/", "has another node's id"},
        {3, "pred: 0.0.r2/", "pred: 0.0.r1/", "predecessor is r1 but should be r2"},
        {3, "\ntext: 3 ", "\ntest: 3 ", "has a representation that it has not"},
        {3, "ENDREP", "ENDREQ", "do not end with ENDREP"},
        {3, "add-dir false false /branch", "add-file false false /branch",
         "the changed paths say file", E_NODE_UNEXPECTED_KIND},
        {3, " /branch\n2 /trunk", " /brunch\n2 /trunk", "'/brunch' is not there in revision 3",
         E_FS_NOT_FOUND},
        {3, " /branch\n2 /trunk", " /branch\n2 /trunc", "'/trunc' is not there in revision 2",
         E_FS_NOT_FOUND},
        {9, "delete-dir false false /trunk", "delete-dir false false /branch",
         "is said to be deleted, but is still there"},
        {9, "delete-dir false false /trunk", "delete-dir false false /x/trunk",
         "'/x/trunk' is not there in revision 8", E_FS_NOT_FOUND},
    };
    history(stock, 6, false);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const char *name = rev_name(stock, edits[i].rev);
        const struct str good = stock_file(stock, name);
        const char *at = memmem(good.p, good.n, edits[i].from, strlen(edits[i].from));
        if (!at)
            fail_msg("revision %lld has no '%s'", (long long)edits[i].rev, edits[i].from);
        AUTO_BUF(bad);
        buf_add(&bad, good.p, (size_t)(at - good.p));
        buf_cstr(&bad, edits[i].to);
        const char *rest = at + strlen(edits[i].from);
        buf_add(&bad, rest, (size_t)(good.p + good.n - rest));
        stock_write(stock, name, buf_view(&bad));
        assert_err(verify_all(fresh_open(stock, "r")), edits[i].code ? edits[i].code : E_FS_CORRUPT,
                   edits[i].complaint);
        stock_write(stock, name, good);
    }
    struct fsfs *fs = fresh_open(stock, "r");
    assert_ok(verify_all(fs));
}

/* A digest is compared for each node-revision, also where another one shares the text. */
static void digests_of_shared_texts_are_all_compared(void **state)
{
    struct stock *stock = *state;
    history(stock, 6, false);
    /* In revision 5 branch/d/c gets the text of 'trunk/a file'. */
    const struct str good = stock_file(stock, rev_name(stock, 5));
    const char *line = memmem(good.p, good.n, "\ntext: 1 ", 9);
    assert_non_null(line);
    const char *md5 = line + 1;
    for (int words = 0; words < 5; words++)
        md5 = strchr(md5, ' ') + 1;
    put_byte(stock, rev_name(stock, 5), (size_t)(md5 - good.p), *md5 == '0' ? '1' : '0');
    assert_err(verify_all(fresh_open(stock, "r")), E_FS_CORRUPT, "Checksum mismatch");
    put_byte(stock, rev_name(stock, 5), (size_t)(md5 - good.p), *md5);
    const char *sha1 = strchr(md5, ' ') + 1;
    put_byte(stock, rev_name(stock, 5), (size_t)(sha1 - good.p), *sha1 == '0' ? '1' : '0');
    assert_err(verify_all(fresh_open(stock, "r")), E_FS_CORRUPT, "Checksum mismatch");
}

/* ---- scope ---- */

static struct err *verify_one(struct stock *stock, revnum rev, struct verify_scope scope)
{
    return verify_revision(fresh_open(stock, "r"), rev, &scope, NULL);
}

static void old_entries_are_looked_at_where_nobody_has(void **state)
{
    struct stock *stock = *state;
    history(stock, 6, false);
    const char *name = rev_name(stock, 1);
    const struct str good = stock_file(stock, name);
    const char *at = memmem(good.p, good.n, "cpath: /trunk/e", 15);
    assert_non_null(at);
    put_byte(stock, name, (size_t)(at - good.p) + 5, '!'); /* no field ends so */
    /* Revision 2 changes trunk and leaves trunk/e, which revision 1 made, alone. */
    assert_ok(verify_one(stock, 2, (struct verify_scope){.start = 0}));
    assert_err(verify_one(stock, 2, (struct verify_scope){.start = 2}), E_FS_CORRUPT, "'/trunk/e'");
    assert_err(verify_one(stock, 2, (struct verify_scope){.start = 0, .thorough = true}),
               E_FS_CORRUPT, "'/trunk/e'");
}

static void a_revision_must_be_where_min_unpacked_rev_says(void **state)
{
    struct stock *stock = *state;
    history(stock, 8, true);
    stock_write(stock, "r/db/min-unpacked-rev", S("12\n"));
    assert_err(verify_bodies(fresh_open(stock, "r")), E_FS_NO_SUCH_REVISION, "No such revision 8");
    stock_write(stock, "r/db/min-unpacked-rev", S("4\n"));
    assert_err(verify_bodies(fresh_open(stock, "r")), E_FS_NO_SUCH_REVISION, "No such revision 4");
}

/* ---- the rep-cache ---- */

static void rows_must_name_a_text_with_their_digest(void **state)
{
    struct stock *stock = *state;
    FOR_EACH_FORMAT(format)
    {
        if (format < 4)
            continue;
        history(stock, (int)format, false);
        AUTO_ARENA(arena);
        struct fsfs *fs = fresh_open(stock, "r");
        const struct noderev *root, *trunk, *file;
        const struct dir *dir;
        assert_ok(noderev_root(&root, fs, 1, arena));
        assert_ok(dir_get(&dir, fs, root, arena));
        assert_ok(noderev_get(&trunk, fs, &dir_find(dir, S("trunk"))->id, arena));
        assert_ok(dir_get(&dir, fs, trunk, arena));
        assert_ok(noderev_get(&file, fs, &dir_find(dir, S("g"))->id, arena));

        struct repcache_row row = {
            .rev = 1, .item = file->text.item, .size = file->text.size, .expanded = 1892};
        memcpy(row.sha1, file->text.sha1, SHA1_SIZE); /* of `seq 1 500` */
        assert_ok(verify_row(fs, &row, true));
        struct repcache_row bad = row;
        bad.item = file->id.item;
        assert_err(verify_row(fs, &bad, false), E_FS_CORRUPT, "No representation found");
        bad = row;
        bad.size--;
        assert_err(verify_row(fs, &bad, false), E_FS_CORRUPT, "ENDREP");
        bad = row;
        bad.expanded++;
        assert_err(verify_row(fs, &bad, true), E_FS_CORRUPT, "The text has 1892 bytes");
        bad = row;
        bad.sha1[0] ^= 1;
        assert_err(verify_row(fs, &bad, true), E_FS_CORRUPT, "Checksum mismatch");
        bad = row;
        bad.rev = YOUNGEST + 1;
        assert_err(verify_row(fs, &bad, false), E_FS_NO_SUCH_REVISION, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(an_undamaged_repository_is_well),
        STOCK_TEST(every_byte_of_a_logical_body_has_a_checksum),
        STOCK_TEST(every_byte_of_a_text_counts),
        STOCK_TEST(no_byte_does_harm),
        STOCK_TEST(node_revisions_and_changes_must_make_sense),
        STOCK_TEST(digests_of_shared_texts_are_all_compared),
        STOCK_TEST(old_entries_are_looked_at_where_nobody_has),
        STOCK_TEST(a_revision_must_be_where_min_unpacked_rev_says),
        STOCK_TEST(rows_must_name_a_text_with_their_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
