/* SPDX-License-Identifier: Apache-2.0 */
#include "../fresh.h"
#include "base/digest.h"
#include "base/num.h"
#include "delta/encode.h"
#include "delta/svndiff.h"
#include "fsfs/read/dir.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/rep.h"
#include "fsfs/read/rep_int.h"

/* ---- revisions made by hand: physical addressing, nothing but representations ---- */

static void make_repository(struct stock *s)
{
    stock_run(s, "svnadmin create --compatible-version 1.8 r && sed -i 's/sharded 1000/sharded 2/' "
                 "r/db/format");
}

static void put_revision(struct stock *s, int rev, struct str bytes)
{
    if (rev % 2 == 0)
        stock_run(s, arena_printf(s->arena, "mkdir -p r/db/revs/%d", rev / 2).p);
    stock_write(s, arena_printf(s->arena, "r/db/revs/%d/%d", rev / 2, rev).p, bytes);
    stock_write(s, "r/db/current", arena_printf(s->arena, "%d\n", rev));
}

/* Append a representation whose data are BODY; what a node-revision would say of it, for TEXT. */
static struct rep rep_add(struct buf *file, int rev, struct str header, struct str body,
                          struct str text)
{
    struct rep rep = {.rev = rev, .item = file->n, .size = body.n, .expanded = text.n};
    md5_of(rep.md5, text);
    buf_str(file, header);
    buf_str(file, body);
    buf_cstr(file, "ENDREP\n");
    return rep;
}

static struct rep plain_add(struct buf *file, int rev, struct str text)
{
    return rep_add(file, rev, S("PLAIN\n"), text, text);
}

/* BASE may be NULL. */
static struct rep delta_add(struct buf *file, int rev, const struct rep *base, struct str base_text,
                            struct str text, int version)
{
    AUTO_BUF(document);
    AUTO_BUF(header);
    const struct svndiff_params params = {.version = version, .zlib_level = 5};
    delta_encode(&document, base_text, text, &params);
    buf_cstr(&header, "DELTA");
    if (base)
        buf_printf(&header, " %d %llu %llu", (int)base->rev, (unsigned long long)base->item,
                   (unsigned long long)base->size);
    buf_char(&header, '\n');
    return rep_add(file, rev, buf_view(&header), buf_view(&document), text);
}

static void assert_text(struct fsfs *fs, const struct rep *rep, struct str want)
{
    AUTO_ARENA(arena);
    AUTO_BUF(streamed);
    struct reader *reader;
    if (rep_is_whole(rep)) {
        const struct blob *text;
        assert_ok(rep_text(&text, fs, rep, arena));
        assert_true(str_eq(blob_str(text), want));
    }
    cache_clear();
    assert_ok(rep_stream(&reader, fs, rep));
    assert_ok(reader_all(&streamed, reader, 1 << 30));
    reader_close(reader);
    assert_true(str_eq(buf_view(&streamed), want));
}

/* Neither way of reading gives a text. */
static void assert_no_text(struct fsfs *fs, const struct rep *rep, int code, const char *text)
{
    AUTO_ARENA(arena);
    AUTO_BUF(streamed);
    const struct blob *blob;
    struct reader *reader = NULL;
    assert_err(rep_text(&blob, fs, rep, arena), code, text);
    assert_err(rep_text(&blob, fs, rep, arena), code, text); /* nothing wrong was cached */
    struct err *err = rep_stream(&reader, fs, rep);
    if (!err)
        err = reader_all(&streamed, reader, 1 << 30);
    reader_close(reader);
    assert_err(err, code, NULL);
}

static void header_lines_are_read(void **state)
{
    struct rep_header h;
    assert_ok(rep_header_parse(&h, S("PLAIN\nabc")));
    assert_false(h.delta);
    assert_int_equal(h.length, 6);
    assert_ok(rep_header_parse(&h, S("DELTA\nSVN")));
    assert_true(h.delta);
    assert_int_equal(h.base_rev, REV_NONE);
    assert_ok(rep_header_parse(&h, S("DELTA 12 345 6789\nSVN")));
    assert_int_equal(h.base_rev, 12);
    assert_int_equal(h.base_item, 345);
    assert_int_equal(h.base_size, 6789);
    assert_int_equal(h.length, 18);
    static const char *wrong[] = {"",
                                  "PLAIN",
                                  "PLAIN \n",
                                  "DELTA 1\n",
                                  "DELTA 1 2\n",
                                  "DELTA 1 2 3 4\n",
                                  "DELTA -1 2 3\n",
                                  "DELTA 1 2 x\n",
                                  "delta\n",
                                  "DELTA  1 2 3\n",
                                  "id: 0.0.r0/2\n",
                                  "ENDREP\n",
                                  "DELTA 1 2 99999999999999999999\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_err(rep_header_parse(&h, str_of(wrong[i])), E_FS_CORRUPT,
                   "Malformed representation header");
}

static void texts_come_plain_as_deltas_and_as_deltas_of_deltas(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(one);
    AUTO_BUF(two);
    const struct str a = S("one two three four five six seven"),
                     b = S("one two three, four five six seven");
    const struct str c = S("zero one two three, four five six");
    make_repository(s);
    const struct rep plain = plain_add(&one, 1, a);
    const struct rep alone = delta_add(&one, 1, NULL, S(""), c, 1);
    const struct rep empty = delta_add(&one, 1, NULL, S(""), S(""), 0);
    const struct rep second = delta_add(&two, 2, &plain, a, b, 0);
    const struct rep third = delta_add(&two, 2, &second, b, c, 2);
    put_revision(s, 1, buf_view(&one));
    put_revision(s, 2, buf_view(&two));
    struct fsfs *fs = fresh_open(s, "r");
    assert_text(fs, &plain, a);
    assert_text(fs, &alone, c);
    assert_text(fs, &empty, S(""));
    assert_text(fs, &second, b);
    assert_text(fs, &third, c);
}

static void an_expanded_size_of_0_means_that_of_the_plain_text(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(file);
    make_repository(s);
    struct rep rep = plain_add(&file, 1, S("as 1.0 wrote it"));
    const size_t node = file.n;
    buf_printf(&file, "id: 0.0.r1/%zu\ntype: file\ncount: 0\ntext: 1 0 15 0 ", node);
    buf_hex(&file, rep.md5, MD5_SIZE);
    buf_cstr(&file, "\ncpath: /f\n\n\n");
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    const struct noderev *nr;
    const struct blob *text;
    assert_ok(noderev_at(&nr, fs, 1, node, s->arena));
    assert_int_equal(noderev_size(nr), 15);
    rep.expanded = 0;
    assert_ok(rep_text(&text, fs, &rep, s->arena));
    assert_str(blob_str(text), "as 1.0 wrote it");
}

static void a_wrong_md5_is_a_checksum_mismatch(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(file);
    make_repository(s);
    struct rep rep = plain_add(&file, 1, S("hello\n"));
    struct rep over = delta_add(&file, 1, &rep, S("hello\n"), S("hello, hello\n"), 0);
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    rep.md5[0] ^= 1;
    over.md5[15] ^= 1;
    assert_no_text(fs, &over, E_CHECKSUM_MISMATCH,
                   "Checksum mismatch while reading representation:");
    assert_no_text(fs, &rep, E_CHECKSUM_MISMATCH,
                   "   expected:  b0946ac92492d2347c6235b4d2611184\n"
                   "     actual:  b1946ac92492d2347c6235b4d2611184");
    memset(rep.md5, 0, MD5_SIZE); /* unknown */
    assert_text(fs, &rep, S("hello\n"));
}

static void sizes_that_lie_are_corruption(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(file);
    make_repository(s);
    const struct str text = S("hello hello hello hello hello\n");
    const struct rep plain = plain_add(&file, 1, text);
    const struct rep delta = delta_add(&file, 1, NULL, S(""), text, 0);
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    const struct rep *reps[] = {&plain, &delta};
    for (size_t i = 0; i < 2; i++) {
        struct rep lie = *reps[i];
        lie.expanded++;
        assert_no_text(fs, &lie, E_FS_CORRUPT, "Can't read the representation of revision 1, item");
        lie.expanded -= 2;
        assert_no_text(fs, &lie, E_FS_CORRUPT, "where 29 are expected");
        lie = *reps[i];
        lie.size--;
        assert_no_text(fs, &lie, E_FS_CORRUPT, NULL);
        lie.size = file.n - lie.item;
        assert_no_text(fs, &lie, E_FS_CORRUPT, "reach behind the data");
        lie.size = UINT64_MAX;
        assert_no_text(fs, &lie, E_FS_CORRUPT, "reach behind the data");
        lie = *reps[i];
        lie.item = file.n;
        assert_no_text(fs, &lie, E_FS_CORRUPT, "no item at offset");
        lie.item = 3;
        assert_no_text(fs, &lie, E_FS_CORRUPT, "Malformed representation header");
    }
}

static void impossible_bases_are_corruption(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(file);
    make_repository(s);
    const struct str doc = S("SVN\0\0\0\0\0\0");
    const struct rep self = rep_add(&file, 1, S("DELTA 1 0 9\n"), doc, S("x"));
    const struct rep later = rep_add(&file, 1, S("DELTA 2 0 9\n"), doc, S("x"));
    const struct rep nowhere = rep_add(&file, 1, S("DELTA 1 999 9\n"), doc, S("x"));
    const size_t first = file.n,
                 second = first + strlen("DELTA 1 000 9\n") + doc.n + strlen("ENDREP\n");
    AUTO_BUF(header);
    buf_printf(&header, "DELTA 1 %03zu 9\n", second);
    const struct rep loop = rep_add(&file, 1, buf_view(&header), doc, S("x"));
    buf_clear(&header);
    buf_printf(&header, "DELTA 1 %03zu 9\n", first);
    rep_add(&file, 1, buf_view(&header), doc, S("x"));
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    struct rep_chain chain;
    assert_no_text(fs, &self, E_FS_CORRUPT, "its own delta base");
    assert_no_text(fs, &later, E_FS_CORRUPT, "later revision 2");
    assert_no_text(fs, &nowhere, E_FS_CORRUPT, "revision 1, item 999");
    assert_no_text(fs, &loop, E_FS_CORRUPT, "is a loop");
    assert_err(rep_chain(&chain, fs, &loop, s->arena), E_FS_CORRUPT, "is a loop");
}

static void a_chain_may_be_of_any_length(void **state)
{
    struct stock *s = *state;
    enum { N = 1500 };
    AUTO_BUF(file);
    AUTO_BUF(text);
    AUTO_BUF(before);
    make_repository(s);
    struct rep rep = {0};
    for (int i = 0; i < N; i++) {
        buf_clear(&before);
        buf_str(&before, buf_view(&text));
        buf_printf(&text, "line %d\n", i);
        rep = delta_add(&file, 1, i ? &rep : NULL, buf_view(&before), buf_view(&text), 0);
    }
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    struct rep_chain chain;
    assert_ok(rep_chain(&chain, fs, &rep, s->arena));
    assert_int_equal(chain.length, N);
    assert_int_equal(chain.shards, 1);
    assert_text(fs, &rep, buf_view(&text));
}

static void a_chain_is_measured_over_its_shards(void **state)
{
    struct stock *s = *state;
    make_repository(s);
    struct rep reps[7], *base = NULL;
    for (int rev = 1; rev < 7; rev++) { /* shards of two: 0 1 | 2 3 | 4 5 | 6 */
        AUTO_BUF(file);
        reps[rev] = delta_add(&file, rev, base, S("the same text"), S("the same text"), 0);
        base = &reps[rev == 4 ? 2 : rev]; /* 5 is upon 2 */
        put_revision(s, rev, buf_view(&file));
    }
    struct fsfs *fs = fresh_open(s, "r");
    static const int lengths[] = {0, 1, 2, 3, 4, 3, 4}, shards[] = {0, 1, 2, 2, 3, 3, 4};
    static const int orders[][6] = {{1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1}};
    for (size_t i = 0; i < 2; i++, cache_clear()) {
        for (size_t j = 0; j < 6; j++) {
            struct rep_chain chain;
            const int rev = orders[i][j];
            assert_ok(rep_chain(&chain, fs, &reps[rev], s->arena));
            assert_int_equal(chain.length, lengths[rev]);
            assert_int_equal(chain.shards, shards[rev]);
        }
    }
}

/* ---- large texts ---- */

static char *noise(struct arena *arena, size_t n)
{
    char *p = arena_alloc(arena, n);
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        p[i] = (char)(x >> 24);
    }
    return p;
}

static void large_texts_stream_through_long_chains(void **state)
{
    struct stock *s = *state;
    enum { SIZE = TEXT_WHOLE_MAX + 100000, N = 50 };
    AUTO_BUF(file);
    make_repository(s);
    char *text = noise(s->arena, SIZE);
    char *before = arena_alloc(s->arena, SIZE);
    struct rep rep = {0};
    for (int i = 0; i < N; i++) {
        rep = delta_add(&file, 1, i ? &rep : NULL, i ? str_make(before, SIZE) : S(""),
                        str_make(text, SIZE), 2);
        if (i == N - 1)
            break;
        memcpy(before, text, SIZE);
        for (int j = 0; j < 20; j++)
            text[(size_t)(i * 20 + j) * 7919 % SIZE] ^= 0x55;
    }
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    assert_false(rep_is_whole(&rep));
    assert_text(fs, &rep, str_make(text, SIZE));
    const struct blob *blob;
    assert_err(rep_text(&blob, fs, &rep, s->arena), E_FS_GENERAL, "too large");
    assert_ok(rep_wire(&blob, fs, &rep, 2, 5, s->arena));
    assert_null(blob);
    rep.md5[0] ^= 1;
    AUTO_BUF(streamed);
    struct reader *reader;
    assert_ok(rep_open(&reader, fs, &rep));
    assert_err(reader_all(&streamed, reader, 1 << 30), E_CHECKSUM_MISMATCH,
               "Checksum mismatch while reading");
    reader_close(reader);
}

static void a_small_text_may_be_a_delta_to_a_large_one(void **state)
{
    struct stock *s = *state;
    enum { SIZE = TEXT_WHOLE_MAX + 1000 };
    AUTO_BUF(file);
    make_repository(s);
    const char *text = noise(s->arena, SIZE);
    const struct rep large = plain_add(&file, 1, str_make(text, SIZE));
    const struct rep packed = delta_add(&file, 1, NULL, S(""), str_make(text, SIZE), 1);
    const struct rep first =
        delta_add(&file, 1, &large, str_make(text, SIZE), str_make(text + 500, 9000), 0);
    const struct rep second =
        delta_add(&file, 1, &packed, str_make(text, SIZE), str_make(text + 500, 9000), 0);
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    assert_text(fs, &large, str_make(text, SIZE));
    assert_text(fs, &first, str_make(text + 500, 9000));
    assert_text(fs, &second, str_make(text + 500, 9000));
}

/* ---- wire forms ---- */

static int version_of(const struct blob *wire)
{
    int version;
    assert_ok(svndiff_version(&version, blob_str(wire)));
    return version;
}

static void wire_forms_are_the_stored_bytes_where_the_receiver_takes_them(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(file);
    make_repository(s);
    const struct str text = {noise(s->arena, 5000), 5000};
    struct rep reps[3];
    for (int version = 0; version <= 2; version++)
        reps[version] = delta_add(&file, 1, NULL, S(""), text, version);
    const struct rep plain = plain_add(&file, 1, text);
    const struct rep over = delta_add(&file, 1, &plain, text, text, 2);
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    for (int stored = 0; stored <= 2; stored++)
        for (int accepted = 0; accepted <= 2; accepted++) {
            const struct blob *wire;
            AUTO_BUF(back);
            assert_ok(rep_wire(&wire, fs, &reps[stored], accepted, 5, s->arena));
            const int header = (int)strlen("DELTA\n");
            const struct str bytes = {file.p + reps[stored].item + header, reps[stored].size};
            assert_int_equal(str_eq(blob_str(wire), bytes), stored <= accepted);
            assert_true(version_of(wire) <= accepted);
            assert_ok(svndiff_apply(&back, blob_str(wire), S(""), text.n));
            assert_true(str_eq(buf_view(&back), text));
        }
    const struct rep *others[] = {&plain, &over};
    for (size_t i = 0; i < 2; i++)
        for (int accepted = 0; accepted <= 2; accepted++) {
            const struct blob *wire, *again;
            AUTO_BUF(back);
            assert_ok(rep_wire(&wire, fs, others[i], accepted, 5, s->arena));
            assert_int_equal(version_of(wire), accepted);
            assert_ok(svndiff_apply(&back, blob_str(wire), S(""), text.n));
            assert_true(str_eq(buf_view(&back), text));
            assert_ok(rep_wire(&again, fs, others[i], accepted, 5, s->arena));
            assert_ptr_equal(again, wire);
        }
    const struct blob *wire;
    assert_ok(rep_wire(&wire, fs, &reps[2], 2, 0, s->arena));
    assert_int_equal(version_of(wire), 0); /* no compression is asked for */
}

/* ---- node-revisions ---- */

static void a_node_revision_must_be_the_one_that_was_asked_for(void **state)
{
    struct stock *s = *state;
    AUTO_BUF(file);
    make_repository(s);
    buf_cstr(&file, "id: 0.0.r1/5\ntype: dir\ncount: 0\ncpath: /\n\n\n0 42\n");
    put_revision(s, 1, buf_view(&file));
    struct fsfs *fs = fresh_open(s, "r");
    const struct noderev *nr;
    assert_err(noderev_at(&nr, fs, 1, 0, s->arena), E_FS_CORRUPT, "calls itself '0.0.r1/5'");
    assert_err(noderev_root(&nr, fs, 1, s->arena), E_FS_CORRUPT, "revision 1, item 0");
    assert_err(noderev_at(&nr, fs, 1, 7, s->arena), E_FS_CORRUPT, "revision 1, item 7");
    assert_err(noderev_at(&nr, fs, 9, 0, s->arena), E_FS_ID_NOT_FOUND, "revision 9, item 0");
    assert_err(noderev_root(&nr, fs, 9, s->arena), E_FS_NO_SUCH_REVISION, "No such revision 9");
    assert_err(noderev_root(&nr, fs, -1, s->arena), E_FS_NO_SUCH_REVISION, "No such revision -1");
}

/* ---- damage ---- */

static struct err *read_file_a(struct buf *out, struct fsfs *fs)
{
    AUTO_ARENA(arena);
    const struct noderev *nr;
    const struct dir *dir;
    const struct props *props;
    const struct blob *text;
    TRY(noderev_root(&nr, fs, 2, arena));
    TRY(dir_get(&dir, fs, nr, arena));
    const struct dirent_fs *entry = dir_find(dir, S("a"));
    if (!entry)
        return err_make(E_FS_NOT_FOUND, "no file");
    TRY(noderev_get(&nr, fs, &entry->id, arena));
    TRY(noderev_props(&props, fs, nr, arena));
    if (nr->has_text) {
        TRY(rep_text(&text, fs, &nr->text, arena));
        buf_str(out, blob_str(text));
    }
    const struct str *value = props_get(props, S("p"));
    if (value)
        buf_str(out, *value);
    return NULL;
}

static const char two_revisions[] =
    "for i in $(seq 60); do echo line $i; done >a; (cat a; echo more) >b\n"
    "svnmucc -m 1 put a $U/a propset p value $U/a >/dev/null\n"
    "svnmucc -m 2 put b $U/a propset p 'another value' $U/a >/dev/null\n";

/* Whatever byte of revision 2 is wrong: there is an error, or the text and the property are what
 * they were, or are missing where the bytes say so; never others. */
static void damage_never_passes_for_another_text(void **state)
{
    struct stock *s = *state;
    static const char *versions[] = {"1.1", "1.8", "1.10"};
    for (size_t v = 0; v < 3; v++) {
        stock_run(s, arena_printf(s->arena,
                                  "rm -rf r\nsvnadmin create --compatible-version %s r\nU=$U/r\n%s",
                                  versions[v], two_revisions)
                         .p);
        const char *name = v == 0 ? "r/db/revs/2" : "r/db/revs/0/2";
        const struct str file = stock_file(s, name);
        char *bytes = arena_alloc(s->arena, file.n);
        AUTO_BUF(want);
        assert_ok(read_file_a(&want, fresh_open(s, "r")));
        assert_int_equal(want.n, 60 * 8 - 9 + 5 + 13);
        for (size_t at = 0; at < 2 * file.n; at++) {
            AUTO_BUF(got);
            memcpy(bytes, file.p, file.n);
            if (at < file.n)
                bytes[at] ^= 1;
            stock_write(s, name, str_make(bytes, at < file.n ? file.n : at - file.n));
            struct err *err = read_file_a(&got, fresh_open(s, "r"));
            const bool kept = str_starts(buf_view(&want), buf_view(&got)) ||
                              str_ends(buf_view(&want), buf_view(&got));
            if (!err &&
                (!kept || (got.n != want.n && got.n != 13 && got.n != want.n - 13 && got.n != 0)))
                fail_msg("format of %s, change %d: %d bytes", versions[v], (int)at, (int)got.n);
            err_free(err);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_lines_are_read),
        STOCK_TEST(texts_come_plain_as_deltas_and_as_deltas_of_deltas),
        STOCK_TEST(an_expanded_size_of_0_means_that_of_the_plain_text),
        STOCK_TEST(a_wrong_md5_is_a_checksum_mismatch),
        STOCK_TEST(sizes_that_lie_are_corruption),
        STOCK_TEST(impossible_bases_are_corruption),
        STOCK_TEST(a_chain_may_be_of_any_length),
        STOCK_TEST(a_chain_is_measured_over_its_shards),
        STOCK_TEST(large_texts_stream_through_long_chains),
        STOCK_TEST(a_small_text_may_be_a_delta_to_a_large_one),
        STOCK_TEST(wire_forms_are_the_stored_bytes_where_the_receiver_takes_them),
        STOCK_TEST(a_node_revision_must_be_the_one_that_was_asked_for),
        STOCK_TEST(damage_never_passes_for_another_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
