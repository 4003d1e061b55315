/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"

bool num_u64(uint64_t *out, struct str s)
{
    if (s.n == 0)
        return false;
    uint64_t n = 0;
    /* Nineteen digits always fit; only longer numbers need the checks. */
    size_t easy = s.n < NUM_U64_MAX ? s.n : NUM_U64_MAX - 1;
    size_t i = 0;
    for (; i < easy; i++) {
        unsigned digit = (unsigned char)s.p[i] - '0';
        if (digit > 9)
            return false;
        n = n * 10 + digit;
    }
    for (; i < s.n; i++) {
        unsigned digit = (unsigned char)s.p[i] - '0';
        if (digit > 9 || !mul_u64(&n, n, 10) || !add_u64(&n, n, digit))
            return false;
    }
    *out = n;
    return true;
}

bool num_i64(int64_t *out, struct str s)
{
    bool negative = s.n && s.p[0] == '-';
    uint64_t n;
    if (!num_u64(&n, negative ? str_skip(s, 1) : s))
        return false;
    if (n > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

int64_t num_leading(struct str s)
{
    while (s.n && char_is_space(s.p[0]))
        s = str_skip(s, 1);
    bool negative = s.n && s.p[0] == '-';
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_skip(s, 1);
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    uint64_t limit = (uint64_t)INT64_MAX + negative, size = 0;
    if (n && (!num_u64(&size, str_make(s.p, n)) || size > limit))
        size = limit;
    return negative ? (int64_t)(0 - size) : (int64_t)size;
}

bool num_base36(uint64_t *out, struct str s)
{
    if (s.n == 0)
        return false;
    uint64_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'z')
            digit = (unsigned)(c - 'a' + 10);
        else
            return false;
        if (!mul_u64(&n, n, 36) || !add_u64(&n, n, digit))
            return false;
    }
    *out = n;
    return true;
}

size_t num_to_base36(char *to, uint64_t n)
{
    char digits[NUM_BASE36_MAX];
    size_t start = NUM_BASE36_MAX;
    do {
        digits[--start] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
        n /= 36;
    } while (n);
    memcpy(to, digits + start, NUM_BASE36_MAX - start);
    return NUM_BASE36_MAX - start;
}

size_t num_to_dec(char *to, uint64_t n)
{
    char digits[NUM_U64_MAX];
    size_t start = NUM_U64_MAX;
    do {
        digits[--start] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    memcpy(to, digits + start, NUM_U64_MAX - start);
    return NUM_U64_MAX - start;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool num_unhex(void *out, size_t n, struct str hex)
{
    if (hex.n / 2 != n || hex.n % 2)
        return false;
    unsigned char *to = out;
    for (size_t i = 0; i < n; i++) {
        int high = hex_digit(hex.p[2 * i]), low = hex_digit(hex.p[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

void num_hex(char *to, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = "0123456789abcdef"[from[i] >> 4];
        to[2 * i + 1] = "0123456789abcdef"[from[i] & 15];
    }
}
