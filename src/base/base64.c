/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

enum { LINE_LETTERS = 76 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buf *to, struct str bytes)
{
    size_t in_line = 0;
    for (size_t at = 0; at < bytes.n; at += 3) {
        size_t have = bytes.n - at < 3 ? bytes.n - at : 3;
        uint32_t group = 0;
        for (size_t i = 0; i < 3; i++)
            group = group << 8 | (i < have ? (unsigned char)bytes.p[at + i] : 0);
        for (size_t i = 0; i < 4; i++)
            buf_char(to, i <= have ? letters[group >> (18 - 6 * i) & 63] : '=');
        in_line += 4;
        if (in_line == LINE_LETTERS || at + 3 >= bytes.n) {
            buf_char(to, '\n');
            in_line = 0;
        }
    }
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

void base64_decode(struct buf *to, struct str text)
{
    uint32_t group = 0;
    int have = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '=') { /* 2 letters carry one byte, 3 carry two */
            group <<= 6 * (4 - have);
            for (int k = 0; k < have - 1; k++)
                buf_char(to, (char)(group >> (16 - 8 * k)));
            return;
        }
        int value = value_of(text.p[i]);
        if (value < 0)
            continue;
        group = group << 6 | (uint32_t)value;
        if (++have < 4)
            continue;
        for (int k = 0; k < 3; k++)
            buf_char(to, (char)(group >> (16 - 8 * k)));
        group = 0;
        have = 0;
    }
}
