/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values: RFC 1321 A.5, RFC 3174 7.3, RFC 2195 2 and RFC 2202 2, the FNV reference
 * vectors, and the checksums in the P2L index of a revision 0 that svnadmin made. */
#include "../testing.h"
#include "base/buf.h"
#include "base/digest.h"

static void assert_hex_at(const uint8_t *bytes, size_t n, const char *want, int line)
{
    AUTO_BUF(hex);
    buf_hex(&hex, bytes, n);
    assert_str_at(buf_view(&hex), str_of(want), "digest", __FILE__, line);
}
#define assert_hex(bytes, n, want) assert_hex_at(bytes, n, want, __LINE__)

static void md5_and_sha1_of_known_texts(void **state)
{
    uint8_t md5[MD5_SIZE], sha1[SHA1_SIZE];
    md5_of(md5, S(""));
    assert_hex(md5, MD5_SIZE, "d41d8cd98f00b204e9800998ecf8427e");
    md5_of(md5, S("message digest"));
    assert_hex(md5, MD5_SIZE, "f96b697d7cb7938d525a2f31aaf161d0");
    sha1_of(sha1, S("abc"));
    assert_hex(sha1, SHA1_SIZE, "a9993e364706816aba3e25717850c26c9cd0d89d");
}

static void a_running_digest_of_both_kinds_takes_pieces_of_any_size(void **state)
{
    char million[1000];
    memset(million, 'a', sizeof million);
    struct digest *d = digest_new(DIGEST_MD5 | DIGEST_SHA1);
    for (int i = 0; i < 1000; i++) {
        digest_add(d, str_make(million, 400));
        digest_add(d, S(""));
        digest_add(d, str_make(million, 600));
    }
    uint8_t md5[MD5_SIZE], sha1[SHA1_SIZE];
    digest_md5(d, md5);
    digest_sha1(d, sha1);
    assert_hex(md5, MD5_SIZE, "7707d6ae4e027c70eea2a935c2296f21");
    assert_hex(sha1, SHA1_SIZE, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    digest_reset(d);
    digest_add(d, S("abc"));
    digest_sha1(d, sha1);
    assert_hex(sha1, SHA1_SIZE, "a9993e364706816aba3e25717850c26c9cd0d89d");
    digest_free(d);
}

static void one_long_piece_equals_many_short_ones(void **state)
{
    static char text[1000000];
    memset(text, 'a', sizeof text);
    struct digest *d = digest_new(DIGEST_SHA1);
    digest_add(d, str_make(text, sizeof text));
    uint8_t sha1[SHA1_SIZE];
    digest_sha1(d, sha1);
    assert_hex(sha1, SHA1_SIZE, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    digest_free(d);
}

static void hmac_md5_answers_a_cram_challenge(void **state)
{
    uint8_t mac[MD5_SIZE];
    hmac_md5(mac, S("tanstaaftanstaaf"), S("<1896.697170952@postoffice.reston.mci.net>"));
    assert_hex(mac, MD5_SIZE, "b913a602c7eda7a495b4e6e7334d3890");
}

static void hmac_md5_hashes_a_key_longer_than_a_block(void **state)
{
    char key[80];
    memset(key, 0xaa, sizeof key);
    uint8_t mac[MD5_SIZE];
    hmac_md5(mac, str_make(key, sizeof key),
             S("Test Using Larger Than Block-Size Key - Hash Key First"));
    assert_hex(mac, MD5_SIZE, "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd");
}

static void fnv1a_of_known_texts(void **state)
{
    assert_int_equal(fnv1a_32(S("")), 0x811c9dc5);
    assert_int_equal(fnv1a_32(S("a")), 0xe40c292c);
    assert_int_equal(fnv1a_32(S("foobar")), 0xbf9cf968);
}

static void item_checksums_are_those_of_a_real_revision_0(void **state)
{
    struct str noderev = S("id: 0.0.r0/2\ntype: dir\ncount: 0\n"
                           "text: 0 3 4 4 2d2977d1c96f487abe4a1e202dd03b4e\ncpath: /\n\n");
    assert_int_equal(noderev.n, 89);
    assert_int_equal(fnv1a_32x4(S("PLAIN\nEND\nENDREP\n")), 0x60232b75);
    assert_int_equal(fnv1a_32x4(noderev), 0x403dbe48);
    assert_int_equal(fnv1a_32x4(S("\n")), 0xf28a4f1d);
}

static void item_checksums_do_not_depend_on_the_pieces(void **state)
{
    struct str text = S("id: 0.0.r0/2\ntype: dir\ncount: 0\n"
                        "text: 0 3 4 4 2d2977d1c96f487abe4a1e202dd03b4e\ncpath: /\n\n");
    for (size_t step = 1; step < 12; step++) {
        struct fnv1a_32x4 f;
        fnv1a_32x4_init(&f);
        for (size_t i = 0; i < text.n; i += step)
            fnv1a_32x4_add(&f, str_make(text.p + i, text.n - i < step ? text.n - i : step));
        assert_int_equal(fnv1a_32x4_end(&f), 0x403dbe48);
    }
}

static void a_mismatch_shows_both_digests_right_aligned(void **state)
{
    uint8_t expected[MD5_SIZE], actual[MD5_SIZE];
    memset(expected, 0x11, MD5_SIZE);
    memset(actual, 0xab, MD5_SIZE);
    struct err *err =
        checksum_mismatch(expected, actual, MD5_SIZE, "Checksum mismatch for '%s'", "/f");
    assert_int_equal(err->code, 200014);
    assert_string_equal(err->text, "Checksum mismatch for '/f':\n"
                                   "   expected:  11111111111111111111111111111111\n"
                                   "     actual:  abababababababababababababababab\n");
    err_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md5_and_sha1_of_known_texts),
        cmocka_unit_test(a_running_digest_of_both_kinds_takes_pieces_of_any_size),
        cmocka_unit_test(one_long_piece_equals_many_short_ones),
        cmocka_unit_test(hmac_md5_answers_a_cram_challenge),
        cmocka_unit_test(hmac_md5_hashes_a_key_longer_than_a_block),
        cmocka_unit_test(fnv1a_of_known_texts),
        cmocka_unit_test(item_checksums_are_those_of_a_real_revision_0),
        cmocka_unit_test(item_checksums_do_not_depend_on_the_pieces),
        cmocka_unit_test(a_mismatch_shows_both_digests_right_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
