/* SPDX-License-Identifier: Apache-2.0 */
#include "../fresh.h"
#include "fsfs/read/dir.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/prefetch.h"
#include "fsfs/read/rep.h"

static void assert_entry(const struct dirent_fs *entry, struct str name, enum node_kind kind,
                         struct str id)
{
    AUTO_ARENA(arena);
    assert_non_null(entry);
    assert_str_eq(entry->name, name);
    assert_int_equal(entry->kind, kind);
    assert_str_eq(noderev_id_str(&entry->id, arena), id);
}

static void a_listing_is_read_in_the_order_of_names(void **state)
{
    struct dir *dir;
    /* as written before 1.9: in no order */
    assert_ok(dir_parse(&dir, S("K 5\ntrunk\nV 16\ndir 0-1.0.r9/123\n"
                                "K 1\nb\nV 14\nfile 5.0.r9/17\n"
                                "K 7\na\nb  V \nV 18\nfile 4-2.1-3.r8/42\n"
                                "K 2\nab\nV 15\nfile _3.0.t7-1x\n"
                                "END\n")));
    assert_int_equal(dir->n, 4);
    assert_entry(&dir->list[0], S("a\nb  V "), NODE_FILE, S("4-2.1-3.r8/42"));
    assert_entry(&dir->list[1], S("ab"), NODE_FILE, S("_3.0.t7-1x"));
    assert_entry(&dir->list[2], S("b"), NODE_FILE, S("5.0.r9/17"));
    assert_entry(&dir->list[3], S("trunk"), NODE_DIR, S("0-1.0.r9/123"));
    for (size_t i = 0; i < dir->n; i++)
        assert_ptr_equal(dir_find(dir, dir->list[i].name), &dir->list[i]);
    assert_null(dir_find(dir, S("a")));
    assert_null(dir_find(dir, S("zz")));
    assert_null(dir_find(dir, S("")));
    shared_unref(dir);
}

static void an_empty_listing_has_no_entries(void **state)
{
    struct dir *dir;
    assert_ok(dir_parse(&dir, S("END\n")));
    assert_int_equal(dir->n, 0);
    assert_null(dir_find(dir, S("a")));
    shared_unref(dir);
}

static void a_listing_is_written_as_it_was_read(void **state)
{
    const struct str text =
        S("K 1\na\nV 14\nfile 5.0.r9/17\nK 3\nb c\nV 14\ndir 1-2.0.r3/4\nEND\n");
    struct dir *dir;
    AUTO_BUF(out);
    assert_ok(dir_parse(&dir, text));
    dir_format(&out, dir->list, dir->n);
    assert_str_eq(buf_view(&out), text);
    shared_unref(dir);
}

static void what_is_no_listing_is_corrupt(void **state)
{
    static const struct {
        const char *text, *what;
    } wrong[] = {
        {"", "malformed"},
        {"EN", "malformed"},
        {"END\nK", "malformed"},
        {"K 1\na\nEND\n", "malformed"},
        {"K 1\na\nV 14\nfile 5.0.r9/17\n", "malformed"},
        {"K 2\na\nV 14\nfile 5.0.r9/17\nEND\n", "malformed"},
        {"K 18446744073709551617\na\nV 14\nfile 5.0.r9/17\nEND\n", "malformed"},
        {"K -1\na\nV 14\nfile 5.0.r9/17\nEND\n", "malformed"},
        {"D 1\na\nEND\n", "malformed"},
        {"K 1\na\nV 13\nlink 5.0.r9/1\nEND\n", "'a'"},
        {"K 1\na\nV 6\nfile x\nEND\n", "'a'"},
        {"K 0\n\nV 14\nfile 5.0.r9/17\nEND\n", "impossible name"},
        {"K 1\n.\nV 14\nfile 5.0.r9/17\nEND\n", "impossible name"},
        {"K 2\n..\nV 14\nfile 5.0.r9/17\nEND\n", "impossible name"},
        {"K 3\na/b\nV 14\nfile 5.0.r9/17\nEND\n", "impossible name"},
        {"K 1\na\nV 14\nfile 5.0.r9/17\nK 1\na\nV 14\nfile 5.0.r9/17\nEND\n", "'a' twice"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dir *dir;
        assert_err(dir_parse(&dir, str_of(wrong[i].text)), E_FS_CORRUPT, wrong[i].what);
    }
}

static void a_directory_without_text_is_empty_and_a_file_is_none(void **state)
{
    struct stock *s = *state;
    stock_run(s,
              "svnadmin create r && echo >f && svnmucc -m 1 mkdir $U/r/d put f $U/r/f >/dev/null");
    struct fsfs *fs = fresh_open(s, "r");
    const struct noderev *root, *nr;
    const struct dir *dir, *below;
    assert_ok(noderev_root(&root, fs, 1, s->arena));
    assert_ok(dir_get(&dir, fs, root, s->arena));
    assert_int_equal(dir->n, 2);
    assert_ok(noderev_get(&nr, fs, &dir_find(dir, S("d"))->id, s->arena));
    assert_false(nr->has_text);
    assert_ok(dir_get(&below, fs, nr, s->arena));
    assert_int_equal(below->n, 0);
    assert_ok(noderev_get(&nr, fs, &dir_find(dir, S("f"))->id, s->arena));
    assert_err(dir_get(&below, fs, nr, s->arena), E_FS_NOT_DIRECTORY, "/f");
}

/* What was asked for ahead is what is read afterwards; asking for what is not there does no harm.
 */
static void asking_ahead_changes_nothing(void **state)
{
    struct stock *s = *state;
    stock_run(s, "svnadmin create r && mkdir d && for i in $(seq 300); do echo $i >d/$i; done && "
                 "svn import -q -m 1 d $U/r/d");
    struct fsfs *fs = fresh_open(s, "r");
    const struct noderev *nr;
    const struct dir *dir;
    const struct blob *text;
    assert_ok(noderev_root(&nr, fs, 1, s->arena));
    assert_ok(dir_get(&dir, fs, nr, s->arena));
    assert_ok(noderev_get(&nr, fs, &dir->list[0].id, s->arena));
    assert_ok(dir_get(&dir, fs, nr, s->arena));
    dir_prefetch(fs, dir);
    assert_ok(noderev_get(&nr, fs, &dir_find(dir, S("299"))->id, s->arena));
    assert_ok(rep_text(&text, fs, &nr->text, s->arena));
    assert_str(blob_str(text), "299\n");
    const struct noderev_id ids[] = {
        {.rev = 77, .item = 3}, {.rev = 1, .item = 99999}, {.rev = REV_NONE}};
    const struct rep reps[] = {
        {.rev = 77, .item = 3}, {.rev = 1, .item = UINT64_MAX}, {.rev = REV_NONE}};
    noderevs_prefetch(fs, ids, 3);
    reps_prefetch(fs, reps, 3);
    noderevs_prefetch(fs, ids, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listing_is_read_in_the_order_of_names),
        cmocka_unit_test(an_empty_listing_has_no_entries),
        cmocka_unit_test(a_listing_is_written_as_it_was_read),
        cmocka_unit_test(what_is_no_listing_is_corrupt),
        STOCK_TEST(a_directory_without_text_is_empty_and_a_file_is_none),
        STOCK_TEST(asking_ahead_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
