/* SPDX-License-Identifier: Apache-2.0 */
#include "../fresh.h"
#include "fsfs/read/index_int.h"
#include "fsfs/read/item.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep.h"

static void the_trailer_names_the_root_and_the_changes(void **state)
{
    uint64_t root, changes;
    size_t length;
    assert_ok(
        trailer_parse(&root, &changes, &length, S("cpath: /\n\n\n17 107\n"))); /* revision 0 */
    assert_int_equal(root, 17);
    assert_int_equal(changes, 107);
    assert_int_equal(length, 7);
    static const char *wrong[] = {
        "", "\n", "17 107\n", "x\n17 107", "x\n17\n", "x\n17 107 9\n", "x\n17 x\n", "x\n-1 7\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_err(trailer_parse(&root, &changes, &length, str_of(wrong[i])), E_FS_CORRUPT,
                   "does not end with");
}

static struct noderev_id at(revnum rev, uint64_t item)
{
    return (struct noderev_id){.rev = rev, .item = item};
}

static void the_root_is_written_last(void **state)
{
    const struct noderev_id root = at(5, ITEM_INDEX_ROOT), first = at(5, ITEM_INDEX_FIRST_FREE),
                            next = at(5, ITEM_INDEX_FIRST_FREE + 1), old = at(4, ITEM_INDEX_ROOT);
    assert_true(item_is_later(&next, &first) && !item_is_later(&first, &next));
    assert_true(item_is_later(&root, &next) && !item_is_later(&next, &root));
    assert_true(item_is_later(&first, &old) && !item_is_later(&old, &first));
    assert_true(item_is_later(&root, &old) && !item_is_later(&old, &root));
    assert_false(item_is_later(&root, &root) || item_is_later(&first, &first));
}

static void a_manifest_has_one_offset_for_each_revision(void **state)
{
    uint64_t starts[4];
    assert_ok(manifest_parse(starts, 3, S("0\n115\n2345\n"), 3000));
    assert_int_equal(starts[1], 115);
    assert_int_equal(starts[2], 2345);
    assert_int_equal(starts[3], 3000);
    static const char *wrong[] = {"",
                                  "0\n115\n",
                                  "0\n115\n2345",
                                  "0\n115\n2345\n2999\n",
                                  "1\n115\n2345\n",
                                  "0\n115\n115\n",
                                  "0\n115\n3000\n",
                                  "0\n115\nx\n",
                                  "0\n2345\n115\n",
                                  "0\n-1\n7\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_err(manifest_parse(starts, 3, str_of(wrong[i]), 3000), E_FS_CORRUPT, "Manifest");
}

/* Every span of a file of some blocks, through both ways of reading, is what the file holds. */
static void views_and_reads_give_the_bytes_of_the_file(void **state)
{
    struct stock *s = *state;
    enum { SIZE = 3 * ITEM_BLOCK + 1000 };
    char *bytes = arena_alloc(s->arena, SIZE), *got = arena_alloc(s->arena, SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    stock_run(s, "svnadmin create --compatible-version 1.8 r && echo 1 >r/db/current");
    stock_write(s, "r/db/revs/0/1", str_make(bytes, SIZE));
    struct fsfs *fs = fresh_open(s, "r");
    static const size_t offsets[] = {
        0, 1, ITEM_BLOCK - 1, ITEM_BLOCK, 2 * ITEM_BLOCK - 100, 3 * ITEM_BLOCK + 999, SIZE};
    static const size_t sizes[] = {
        0, 1, 2, 99, 100, 101, 5000, ITEM_BLOCK, ITEM_BLOCK + 1, 2 * ITEM_BLOCK};
    struct body *body;
    assert_ok(store_body(&body, fs->store, 1, s->arena));
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            const struct item_place place = {body, offsets[i], SIZE};
            const size_t n = sizes[j];
            struct str view;
            if (offsets[i] + n > SIZE) {
                assert_err(item_view(&view, fs, &place, n, s->arena), E_FS_CORRUPT, "revs/0/1");
                assert_err(item_read(got, n, fs, &place, 0), E_FS_CORRUPT, "revs/0/1");
                continue;
            }
            assert_ok(item_view(&view, fs, &place, n, s->arena));
            assert_true(view.n >= n && view.n <= SIZE - offsets[i]);
            assert_memory_equal(view.p ? view.p : "", bytes + offsets[i], view.n);
            assert_ok(item_read(got, n, fs, &place, 0));
            assert_memory_equal(got, bytes + offsets[i], n);
            const struct item_place before = {body, offsets[i] / 2, SIZE};
            assert_ok(item_read(got, n, fs, &before, offsets[i] - offsets[i] / 2));
            assert_memory_equal(got, bytes + offsets[i], n);
        }
    struct str view;
    const struct item_place limited = {body, 10, 30}, behind = {body, 10, SIZE + 1};
    assert_ok(item_view(&view, fs, &limited, 20, s->arena));
    assert_int_equal(view.n, 20);
    assert_err(item_view(&view, fs, &limited, 21, s->arena), E_FS_CORRUPT, "30");
    assert_err(item_read(got, 1, fs, &limited, 20), E_FS_CORRUPT, "30");
    assert_err(item_read(got, 1, fs, &limited, UINT64_MAX - 5), E_FS_CORRUPT, "30");
    assert_err(item_view(&view, fs, &behind, 1, s->arena), E_FS_CORRUPT, NULL);
}

/* A small revision is one read; its items, whatever they are, then need the disk no more. */
static void a_small_revision_is_read_at_once(void **state)
{
    struct stock *s = *state;
    stock_run(s, "svnadmin create r && echo >f && svnmucc -m 1 mkdir $U/r/d put f $U/r/f propset p "
                 "v $U/r/f >/dev/null");
    struct fsfs *fs = fresh_open(s, "r");
    struct item_place place;
    assert_ok(item_find_changes(&place, fs, 1, s->arena));
    struct cache_stats before, after;
    cache_stats(&before);
    assert_int_equal(before.objects, 1); /* the block */
    assert_ok(item_find(&place, fs, 1, 4, s->arena));
    cache_stats(&before);
    assert_int_equal(before.objects, 2); /* and a page of its index */
    for (uint64_t item = 1; item <= 6; item++)
        assert_ok(item_find(&place, fs, 1, item, s->arena));
    assert_err(item_find(&place, fs, 1, 100, s->arena), E_FS_INDEX_OVERFLOW,
               "Item index 100 too large in revision 1");
    assert_err(item_find(&place, fs, 2, 1, s->arena), E_FS_NO_SUCH_REVISION, "No such revision 2");
    cache_stats(&after);
    assert_int_equal(after.objects, 2);
    assert_int_equal(after.misses, before.misses);
}

/* The root and the changes of each revision of loose and packed shards, by both kinds of
 * addressing. */
static void roots_and_changes_are_found(void **state)
{
    struct stock *s = *state;
    static const int formats[] = {1, 3, 4, 6, 8};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const int format = formats[i];
        stock_create(s, "r", format, 3);
        stock_history(s);
        for (int packed = 0; packed <= (format >= 4); packed++) {
            if (packed)
                stock_run(s, "svnadmin pack -q r");
            struct fsfs *fs = fresh_open(s, "r");
            for (revnum rev = 0; rev <= 9; rev++) {
                struct item_place place;
                struct noderev_id id;
                const struct noderev *root;
                struct str view;
                assert_ok(item_root_id(&id, fs, rev, s->arena));
                assert_ok(noderev_get(&root, fs, &id, s->arena));
                assert_str(root->cpath, "/");
                assert_int_equal(root->count, rev);
                assert_ok(item_find_changes(&place, fs, rev, s->arena));
                assert_ok(item_view(&view, fs, &place, 1, s->arena));
                if (rev == 0)
                    assert_int_equal(view.p[0], '\n'); /* an empty list */
                else
                    assert_true(view.p[0] == '_' ||
                                (view.p[0] >= '0' && view.p[0] <= '9')); /* an id */
            }
        }
        stock_run(s, "rm -rf r");
    }
}

static void a_damaged_manifest_is_named(void **state)
{
    struct stock *s = *state;
    stock_create(s, "r", 4, 3);
    stock_history(s);
    stock_run(s, "svnadmin pack -q r && chmod u+w r/db/revs/1.pack/manifest && echo 7 "
                 ">r/db/revs/1.pack/manifest");
    struct fsfs *fs = fresh_open(s, "r");
    struct item_place place;
    assert_ok(item_find(&place, fs, 2, 0, s->arena));
    assert_err(item_find(&place, fs, 4, 0, s->arena), E_FS_CORRUPT,
               "Manifest of 'revs/1.pack/pack' is damaged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_trailer_names_the_root_and_the_changes),
        cmocka_unit_test(the_root_is_written_last),
        cmocka_unit_test(a_manifest_has_one_offset_for_each_revision),
        STOCK_TEST(views_and_reads_give_the_bytes_of_the_file),
        STOCK_TEST(a_small_revision_is_read_at_once),
        STOCK_TEST(roots_and_changes_are_found),
        STOCK_TEST(a_damaged_manifest_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
