/* SPDX-License-Identifier: Apache-2.0 */
/* Names against patterns without regard to case and accents: clients send patterns folded, names
 * are folded here. Precomposed letters are those of Latin-1 and Latin Extended-A; decomposed ones
 * lose their combining marks whatever the letter; of Greek and Cyrillic the letters in daily use
 * are known. */
#include "base/buf.h"
#include "repo/tree/list_int.h"
#include <fnmatch.h>
#include <stdint.h>

enum {
    FIRST_LATIN = 0xC0,
    LAST_LATIN = 0x17F,
    FIRST_MARK = 0x300,
    LAST_MARK = 0x36F,
    SHARP_S = 0xDF
};

/* The base letters of U+00C0 to U+017F; a space: the character has none and only its case is
 * folded. */
static const char base_letters[] = "aaaaaa ceeeeiiii nooooo  uuuuy  "
                                   "aaaaaa ceeeeiiii nooooo  uuuuy y"
                                   "aaaaaaccccccccdd  eeeeeeeeeegggg"
                                   "gggghh  iiiiiiiii   jjkk llllll "
                                   "   nnnnnn   oooooo  rrrrrrssssss"
                                   "sstttt  uuuuuuuuuuuuwwyyyzzzzzzs";

/* Greek and Cyrillic letters with marks, and the final sigma; sorted. */
static const uint16_t plain_letters[][2] = {
    {0x386, 0x3B1}, {0x388, 0x3B5}, {0x389, 0x3B7}, {0x38A, 0x3B9}, {0x38C, 0x3BF}, {0x38E, 0x3C5},
    {0x38F, 0x3C9}, {0x390, 0x3B9}, {0x3AA, 0x3B9}, {0x3AB, 0x3C5}, {0x3AC, 0x3B1}, {0x3AD, 0x3B5},
    {0x3AE, 0x3B7}, {0x3AF, 0x3B9}, {0x3B0, 0x3C5}, {0x3C2, 0x3C3}, {0x3CA, 0x3B9}, {0x3CB, 0x3C5},
    {0x3CC, 0x3BF}, {0x3CD, 0x3C5}, {0x3CE, 0x3C9}, {0x400, 0x435}, {0x401, 0x435}, {0x403, 0x433},
    {0x407, 0x456}, {0x40C, 0x43A}, {0x40D, 0x438}, {0x40E, 0x443}, {0x419, 0x438}, {0x439, 0x438},
    {0x450, 0x435}, {0x451, 0x435}, {0x453, 0x433}, {0x457, 0x456}, {0x45C, 0x43A}, {0x45D, 0x438},
    {0x45E, 0x443},
};

/* The plain lower-case letter for one that the Latin table does not have. */
static uint32_t lower(uint32_t c)
{
    for (size_t i = 0; c >= 0x386 && i < sizeof plain_letters / sizeof *plain_letters; i++) {
        if (plain_letters[i][0] == c)
            return plain_letters[i][1];
    }
    bool is_latin_1 = c >= 0xC0 && c <= 0xDE && c != 0xD7;
    bool is_greek = c >= 0x391 && c <= 0x3A9, is_cyrillic = c >= 0x410 && c <= 0x42F;
    if (is_latin_1 || is_greek || is_cyrillic || (c >= 'A' && c <= 'Z'))
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40F)
        return c + 0x50;
    bool is_pair = c == 0x110 || c == 0x126 || c == 0x132 || c == 0x13F || c == 0x141 ||
                   c == 0x14A || c == 0x152 || c == 0x166;
    return c + is_pair;
}

/* Take one character of well-formed UTF-8 off NAME; of anything else one byte as it is. */
static uint32_t take(size_t *used, struct str name)
{
    const unsigned char *p = (const unsigned char *)name.p;
    *used = p[0] < 0xC2 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 1;
    if (*used > name.n)
        *used = 1;
    if (*used == 2)
        return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    return *used == 1
               ? p[0]
               : (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
}

static void name_fold(struct buf *out, struct str name)
{
    while (name.n) {
        size_t used;
        uint32_t c = take(&used, name);
        struct str raw = str_make(name.p, used);
        name = str_skip(name, used);
        char base =
            used == 2 && c >= FIRST_LATIN && c <= LAST_LATIN ? base_letters[c - FIRST_LATIN] : ' ';
        if (used == 2 && c >= FIRST_MARK && c <= LAST_MARK)
            continue;
        uint32_t folded = used <= 2 && (used == 2 || c < 0x80) ? lower(c) : c;
        if (base != ' ') {
            buf_char(out, base);
        } else if (c == SHARP_S) {
            buf_cstr(out, "ss");
        } else if (folded == c) {
            buf_str(out, raw);
        } else if (folded < 0x80) {
            buf_char(out, (char)folded);
        } else {
            buf_char(out, (char)(0xC0 | folded >> 6));
            buf_char(out, (char)(0x80 | (folded & 0x3F)));
        }
    }
}

bool name_matches(struct str name, const char *const *patterns, size_t n)
{
    if (!patterns)
        return true;
    AUTO_BUF(folded);
    name_fold(&folded, name);
    buf_char(&folded, '\0');
    for (size_t i = 0; i < n; i++) {
        if (fnmatch(patterns[i], folded.p, 0) == 0)
            return true;
    }
    return false;
}
