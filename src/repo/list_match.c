/* SPDX-License-Identifier: Apache-2.0 */
/* Names against patterns without regard to case and accents: clients send patterns folded, names
 * are folded here. Precomposed letters are those of Latin-1 and Latin Extended-A; decomposed ones
 * lose their combining marks whatever the letter; Greek and Cyrillic fold to lower case. */
#include "base/buf.h"
#include "repo/list_int.h"
#include <fnmatch.h>
#include <stdint.h>

enum { FIRST_LATIN = 0xC0, LAST_LATIN = 0x17F, FIRST_MARK = 0x300, LAST_MARK = 0x36F };

/* The base letters of U+00C0 to U+017F; a space: the character has none and only its case is
 * folded. */
static const char base_letters[] = "aaaaaa ceeeeiiii nooooo  uuuuy  "
                                   "aaaaaa ceeeeiiii nooooo  uuuuy y"
                                   "aaaaaaccccccccdd  eeeeeeeeeegggg"
                                   "gggghh  iiiiiiiii   jjkk llllll "
                                   "   nnnnnn   oooooo  rrrrrrssssss"
                                   "sstttt  uuuuuuuuuuuuwwyyyzzzzzzs";

/* Lower case of the letters that have no base letter in the table. */
static uint32_t lower(uint32_t c)
{
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
