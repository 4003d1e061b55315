/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "base/base64.h"

/* The vectors of RFC 4648, section 10, with the line end that Subversion puts. */
static const struct {
    const char *bytes, *text;
} vectors[] = {
    {"", ""},
    {"f", "Zg==\n"},
    {"fo", "Zm8=\n"},
    {"foo", "Zm9v\n"},
    {"foob", "Zm9vYg==\n"},
    {"fooba", "Zm9vYmE=\n"},
    {"foobar", "Zm9vYmFy\n"},
};
enum { VECTOR_COUNT = sizeof vectors / sizeof *vectors };

static void known_texts_come_out(void **state)
{
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        AUTO_BUF(text);
        base64_encode(&text, str_of(vectors[i].bytes));
        assert_str_eq(buf_view(&text), str_of(vectors[i].text));
    }
}

static void known_texts_are_read_back(void **state)
{
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        AUTO_BUF(bytes);
        base64_decode(&bytes, str_of(vectors[i].text));
        assert_str_eq(buf_view(&bytes), str_of(vectors[i].bytes));
    }
}

static void a_line_has_76_letters(void **state)
{
    char bytes[58] = {0}; /* 57 bytes fill a line */
    AUTO_BUF(one);
    base64_encode(&one, str_make(bytes, 57));
    assert_int_equal(one.n, 77);
    assert_int_equal(str_find(buf_view(&one), '\n'), 76);
    AUTO_BUF(two);
    base64_encode(&two, str_make(bytes, 58));
    assert_int_equal(two.n, 77 + 5);
    assert_str(str_skip(buf_view(&two), 77), "AA==\n");
}

static void every_byte_survives(void **state)
{
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    for (size_t n = 0; n <= 256; n++) {
        AUTO_BUF(text);
        AUTO_BUF(back);
        base64_encode(&text, str_make(bytes, n));
        base64_decode(&back, buf_view(&text));
        assert_int_equal(back.n, n);
        assert_memory_equal(back.p ? back.p : "", bytes, n);
    }
}

static void reading_is_lenient(void **state)
{
    static const struct {
        const char *text, *bytes;
    } odd[] = {
        {"Zm 9v\r\nYm-Fy!", "foobar"}, /* other characters */
        {"Zm9v=YmFy", "foo"},          /* '=' ends it */
        {"Zm9vY", "foo"},              /* letters that make no group, and no '=' */
        {"Zm9vYm", "foo"},
        {"Zm9vYmE", "foo"},
        {"====", ""},
        {"Z=", ""}, /* one letter is not a byte */
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        AUTO_BUF(bytes);
        base64_decode(&bytes, str_of(odd[i].text));
        assert_str_eq(buf_view(&bytes), str_of(odd[i].bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_come_out),  cmocka_unit_test(known_texts_are_read_back),
        cmocka_unit_test(a_line_has_76_letters), cmocka_unit_test(every_byte_survives),
        cmocka_unit_test(reading_is_lenient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
