/* SPDX-License-Identifier: Apache-2.0 */
/* All texts, properties and directories of the sample history, as stock loaded it into several
 * formats, against what its dump stream says: the trees of all revisions as lines, in the form of
 * `tree-listing`. */
#include "../fresh.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/num.h"
#include "fsfs/read/dir.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep.h"
#include "fsfs/read/rep_int.h"

/* Digests are made once for each representation, or the same megabytes would be read for every
 * revision. */
struct walk {
    FILE *to;
    struct fsfs *fs;
    struct map *digests; /* name of a representation -> 32 digits */
    struct arena *names;
    revnum rev;
    struct map *made; /* created path -> node-revision, of those that REV made */
    size_t met;       /* how many of them the tree has */
};

static void hex_md5(char out[2 * MD5_SIZE], struct str bytes)
{
    uint8_t md5[MD5_SIZE];
    md5_of(md5, bytes);
    num_hex(out, md5, MD5_SIZE);
}

static struct str rep_name(struct walk *w, char what, const struct rep *rep)
{
    return arena_printf(w->names, "%c%lld/%llu", what, (long long)rep->rev,
                        (unsigned long long)rep->item);
}

/* The text three ways: as a whole, through the reader, and through the decoders whatever its size.
 */
static struct err *text_read(struct buf *out, struct fsfs *fs, const struct noderev *nr)
{
    AUTO_ARENA(scratch);
    AUTO_BUF(again);
    struct reader *reader;
    const struct blob *whole;
    TRY(rep_stream(&reader, fs, &nr->text));
    struct err *err = reader_all(out, reader, 1 << 30);
    reader_close(reader);
    if (err)
        return err;
    TRY(rep_open(&reader, fs, &nr->text));
    err = reader_all(&again, reader, 1 << 30);
    reader_close(reader);
    if (!err && !str_eq(buf_view(out), buf_view(&again)))
        err = err_make(E_ASSERTION_FAIL, "two readers, two texts");
    if (err || !rep_is_whole(&nr->text))
        return err;
    TRY(rep_text(&whole, fs, &nr->text, scratch));
    if (!str_eq(buf_view(out), blob_str(whole)))
        return err_make(E_ASSERTION_FAIL, "two ways of reading, two texts");
    return NULL;
}

static struct err *text_digest(const char **out, struct walk *w, const struct noderev *nr)
{
    const struct str name = nr->has_text ? rep_name(w, 't', &nr->text) : S("none");
    if ((*out = map_get(w->digests, name)))
        return NULL;
    AUTO_BUF(text);
    if (nr->has_text)
        TRY(text_read(&text, w->fs, nr));
    if (text.n != noderev_size(nr))
        return err_make(E_ASSERTION_FAIL, "%zu bytes, not %llu", text.n,
                        (unsigned long long)noderev_size(nr));
    char *digits = arena_alloc(w->names, 2 * MD5_SIZE);
    hex_md5(digits, buf_view(&text));
    map_put(w->digests, name, digits);
    *out = digits;
    return NULL;
}

static struct err *props_digest(const char **out, struct walk *w, const struct noderev *nr,
                                struct arena *arena)
{
    const struct str name = nr->has_props ? rep_name(w, 'p', &nr->props) : S("empty");
    if ((*out = map_get(w->digests, name)))
        return NULL;
    AUTO_BUF(dump);
    const struct props *props;
    TRY(noderev_props(&props, w->fs, nr, arena));
    hashdump_format(&dump, props ? props->list : NULL, props ? props->n : 0, S("END"));
    char *digits = arena_alloc(w->names, 2 * MD5_SIZE);
    hex_md5(digits, buf_view(&dump));
    map_put(w->digests, name, digits);
    *out = digits;
    return NULL;
}

static struct err *walk(struct walk *w, const struct noderev *nr, struct str path,
                        struct arena *arena)
{
    const char *text = NULL, *props;
    const struct str cpath = path.n ? path : S("/");
    if (w->fs->logical && nr->id.rev == w->rev) {
        w->met++;
        const struct noderev *made = map_get(w->made, cpath);
        if (!made || made->id.item != nr->id.item)
            return err_make(E_ASSERTION_FAIL, "'%.*s' is not among what was made", STR(cpath));
    }
    if (nr->kind == NODE_FILE)
        TRY(text_digest(&text, w, nr));
    TRY(props_digest(&props, w, nr, arena));
    fprintf(w->to, "%lld %.*s %s %.*s %.*s\n", (long long)w->rev, path.n ? (int)path.n : 1,
            path.n ? path.p : "/", nr->kind == NODE_DIR ? "dir" : "file", text ? 32 : 1,
            text ? text : "-", 32, props);
    if (nr->kind == NODE_FILE)
        return NULL;
    const struct dir *dir;
    TRY(dir_get(&dir, w->fs, nr, arena));
    for (size_t i = 0; i < dir->n; i++) {
        const struct arena_mark mark = arena_mark(arena);
        const struct noderev *child;
        TRY(noderev_get(&child, w->fs, &dir->list[i].id, arena));
        if (child->kind != dir->list[i].kind || dir_find(dir, dir->list[i].name) != &dir->list[i])
            return err_make(E_ASSERTION_FAIL, "entry and node disagree");
        TRY(walk(w, child, arena_printf(arena, "%.*s/%.*s", STR(path), STR(dir->list[i].name)),
                 arena));
        arena_rewind(arena, mark);
    }
    return NULL;
}

static struct err *walk_revision(struct walk *w, struct arena *arena)
{
    const struct noderev *root, **made;
    size_t n;
    TRY(noderev_root(&root, w->fs, w->rev, arena));
    TRY(noderevs_made(&made, &n, w->fs, w->rev, arena));
    w->made = map_new();
    w->met = 0;
    for (size_t i = 0; i < n; i++)
        map_put(w->made, made[i]->cpath, (void *)made[i]);
    struct err *err = walk(w, root, (struct str){0}, arena);
    map_free(w->made, NULL);
    if (!err && w->met != n)
        err = err_make(E_ASSERTION_FAIL, "%zu node-revisions, of which %zu are in the tree", n,
                       w->met);
    return err;
}

static struct err *listing_write(FILE *to, struct fsfs *fs)
{
    AUTO_ARENA(arena);
    AUTO_ARENA(names);
    struct walk w = {.to = to, .fs = fs, .digests = map_new(), .names = names};
    revnum youngest;
    struct err *err = fsfs_youngest(&youngest, fs);
    for (w.rev = 0; !err && w.rev <= youngest; w.rev++) {
        const struct arena_mark mark = arena_mark(arena);
        err = walk_revision(&w, arena);
        arena_rewind(arena, mark);
    }
    map_free(w.digests, NULL);
    return err;
}

/* ---- the tests ---- */

static struct str wanted(struct stock *s)
{
    stock_run(s, "test -f dump || {\n\"$VARVE_SOURCE/tests/interop/helpers/sample-history\" "
                 "--small >dump &&\n"
                 "\"$VARVE_SOURCE/tests/unit/fsfs/tree-listing\" <dump >wanted; }");
    return stock_file(s, "wanted");
}

static void assert_trees(struct stock *s, const char *name)
{
    const struct str want = wanted(s);
    FILE *file = fopen(stock_path(s, "got"), "w");
    assert_non_null(file);
    assert_ok(listing_write(file, fresh_open(s, name)));
    assert_int_equal(fclose(file), 0);
    if (!str_eq(stock_file(s, "got"), want)) {
        stock_status(s, NULL, "diff wanted got | head -n 20; false");
        fail_msg("the trees of %s are others", name);
    }
}

static void format_1_linear_with_old_ids(void **state)
{
    struct stock *s = *state;
    wanted(s);
    stock_create(s, "r", 1, 8);
    stock_run(s, "svnadmin load -q --no-flush-to-disk r <dump");
    assert_trees(s, "r");
}

static void format_6_packed_and_upgraded_on_its_way(void **state)
{
    struct stock *s = *state;
    wanted(s);
    stock_create(s, "r", 6, 8);
    stock_run(s,
              "svnadmin load -q --no-flush-to-disk -r 0:60 r <dump && svnadmin pack -q r &&\n"
              "svnadmin upgrade r >out && svnadmin load -q --no-flush-to-disk -r 61:9999 r <dump");
    assert_trees(s, "r");
}

static void format_8_loose_and_packed(void **state)
{
    struct stock *s = *state;
    wanted(s);
    stock_create(s, "r", 8, 8);
    stock_run(s, "svnadmin load -q --no-flush-to-disk r <dump");
    assert_trees(s, "r");
    stock_run(s, "svnadmin pack -q r");
    assert_trees(s, "r");
    const size_t limit = cache_limit();
    cache_set_limit(1 << 20); /* nearly everything has to be made again and again */
    assert_trees(s, "r");
    cache_set_limit(limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOCK_TEST(format_1_linear_with_old_ids),
        STOCK_TEST(format_6_packed_and_upgraded_on_its_way),
        STOCK_TEST(format_8_loose_and_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
