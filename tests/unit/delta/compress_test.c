/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "delta/compress.h"
#include "delta/svndiff.h"
#include <pthread.h>

typedef struct err *unpack_fn(struct buf *out, struct str section, size_t limit);

static void assert_damaged(unpack_fn *unpack, struct str section, size_t limit)
{
    AUTO_BUF(out);
    assert_err(unpack(&out, section, limit), E_SVNDIFF_INVALID_COMPRESSED_DATA, NULL);
    assert_int_equal(out.n, 0);
}

static void assert_expands(unpack_fn *unpack, struct str section, struct str plain)
{
    AUTO_BUF(out);
    buf_str(&out, S("before"));
    assert_ok(unpack(&out, section, plain.n));
    assert_int_equal(out.n, 6 + plain.n);
    assert_memory_equal(out.p, "before", 6);
    assert_memory_equal(out.p + 6, plain.p, plain.n);
}

/* 600 bytes that compress well. */
static struct str prose(struct buf *room)
{
    while (room->n < 600)
        buf_str(room, S("The same line again and again.\n"));
    return str_make(room->p, 600);
}

static void bytes_that_do_not_shrink_stay_raw(void **state)
{
    AUTO_BUF(out);
    section_pack_lz4(&out, S(" changed")); /* the example of docs/formats/svndiff.md */
    assert_int_equal(out.n, 9);
    assert_memory_equal(out.p, "\x08 changed", 9);
    buf_clear(&out);
    section_pack_zlib(&out, S(" changed"), 5);
    assert_int_equal(out.n, 9);
    assert_memory_equal(out.p, "\x08 changed", 9);
}

static void zlib_leaves_less_than_512_bytes_raw(void **state)
{
    AUTO_BUF(text);
    AUTO_BUF(out);
    struct str plain = prose(&text);
    section_pack_zlib(&out, str_make(plain.p, 511), 9);
    assert_int_equal(out.n, 2 + 511);
    buf_clear(&out);
    section_pack_zlib(&out, str_make(plain.p, 512), 9);
    assert_in_range(out.n, 10, 100);
    assert_memory_equal(out.p, "\x84\x00\x78", 3);
}

static void level_0_stores(void **state)
{
    AUTO_BUF(text);
    AUTO_BUF(out);
    struct str plain = prose(&text);
    section_pack_zlib(&out, plain, 0);
    assert_int_equal(out.n, 2 + plain.n);
    assert_memory_equal(out.p + 2, plain.p, plain.n);
}

static void what_was_packed_expands_to_the_same(void **state)
{
    AUTO_BUF(text);
    struct str plain = prose(&text);
    for (int level = 0; level <= 9; level++) {
        AUTO_BUF(out);
        section_pack_zlib(&out, plain, level);
        assert_expands(section_unpack_zlib, buf_view(&out), plain);
    }
    AUTO_BUF(out);
    section_pack_lz4(&out, plain);
    assert_in_range(out.n, 10, 100);
    assert_expands(section_unpack_lz4, buf_view(&out), plain);
}

static void nothing_is_one_byte(void **state)
{
    AUTO_BUF(out);
    section_pack_zlib(&out, S(""), 5);
    section_pack_lz4(&out, S(""));
    assert_int_equal(out.n, 2);
    assert_memory_equal(out.p, "\0\0", 2);
    assert_expands(section_unpack_zlib, S("\0"), S(""));
    assert_expands(section_unpack_lz4, S("\0"), S(""));
    /* what the libraries make of no bytes: an LZ4 block of one token, a zlib stream of 8 bytes */
    assert_expands(section_unpack_lz4, S("\0\0"), S(""));
    assert_expands(section_unpack_zlib, S("\0\x78\x9c\x03\0\0\0\0\x01"), S(""));
}

/* Written by zlib's compress2(..., 5): 12 bytes of "a". */
static void a_zlib_stream_of_zlib_expands(void **state)
{
    assert_expands(section_unpack_zlib, S("\x0c\x78\x5e\x4b\x4c\x44\x00\x00\x1d\x9a\x04\x8d"),
                   S("aaaaaaaaaaaa"));
}

/* An LZ4 block by its definition: token (1 literal, match of 4+10), "a", distance 1; token (5
 * literals). */
static void an_lz4_block_by_the_book_expands(void **state)
{
    assert_expands(section_unpack_lz4,
                   S("\x14\x1a"
                     "a\x01\x00\x50"
                     "aaaaa"),
                   S("aaaaaaaaaaaaaaaaaaaa"));
}

static void more_than_the_limit_is_refused(void **state)
{
    assert_damaged(section_unpack_zlib, S("\x05hello"), 4);
    assert_damaged(section_unpack_lz4, S("\x05hello"), 4);
    /* 2^63 - 1 bytes, it says */
    assert_damaged(section_unpack_zlib, S("\xff\xff\xff\xff\xff\xff\xff\xff\x7fhello"), 102400);
    assert_damaged(section_unpack_lz4, S("\xff\xff\xff\xff\xff\xff\xff\xff\x7fhello"), 102400);
}

static void damage_is_found(void **state)
{
    AUTO_BUF(text);
    struct str plain = prose(&text);
    unpack_fn *const unpack[] = {section_unpack_zlib, section_unpack_lz4};
    for (int i = 0; i < 2; i++) {
        assert_damaged(unpack[i], S(""), 1000);
        assert_damaged(unpack[i], S("\x84"), 1000);
        assert_damaged(unpack[i], S("\x05hell"), 1000);
        assert_damaged(unpack[i], S("\x05hello!"), 1000);
        AUTO_BUF(out);
        if (i == 0)
            section_pack_zlib(&out, plain, 5);
        else
            section_pack_lz4(&out, plain);
        for (size_t n = 0; n < out.n; n++)
            assert_damaged(unpack[i], str_make(out.p, n), 1000);
        out.p[1]++; /* a length that is one too much */
        assert_damaged(unpack[i], buf_view(&out), 1000);
        out.p[1] -= 2;
        assert_damaged(unpack[i], buf_view(&out), 1000);
    }
}

static void *pack_in_a_thread(void *arg)
{
    AUTO_BUF(text);
    AUTO_BUF(out);
    struct str plain = prose(&text);
    section_pack_zlib(&out, plain, 5);
    buf_clear(&text);
    struct err *err = section_unpack_zlib(&text, buf_view(&out), 600);
    bool ok = !err && text.n == 600;
    err_free(err);
    return ok ? arg : NULL;
}

/* The sanitizers' leak check sees that a thread's engines end with it. */
static void threads_have_engines_of_their_own(void **state)
{
    pthread_t thread[4];
    void *result;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, pack_in_a_thread, thread), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], &result), 0);
        assert_ptr_equal(result, thread);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_do_not_shrink_stay_raw),
        cmocka_unit_test(zlib_leaves_less_than_512_bytes_raw),
        cmocka_unit_test(level_0_stores),
        cmocka_unit_test(what_was_packed_expands_to_the_same),
        cmocka_unit_test(nothing_is_one_byte),
        cmocka_unit_test(a_zlib_stream_of_zlib_expands),
        cmocka_unit_test(an_lz4_block_by_the_book_expands),
        cmocka_unit_test(more_than_the_limit_is_refused),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(threads_have_engines_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
