/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include <stdint.h>

size_t str_find(struct str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_rfind(struct str s, char c)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;
    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_find_control(struct str s, struct str allowed)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if ((c < 0x20 || c == 0x7f) && str_find(allowed, s.p[i]) == SIZE_MAX)
            return i;
    }
    return SIZE_MAX;
}

bool str_line(struct str *line, struct str text, size_t *pos)
{
    if (*pos >= text.n)
        return false;
    const char *start = text.p + *pos;
    const char *lf = memchr(start, '\n', text.n - *pos);
    if (!lf)
        return false;
    *line = str_make(start, (size_t)(lf - start));
    *pos += line->n + 1;
    return true;
}

bool str_text_line(struct str *line, struct str text, size_t *pos)
{
    if (*pos >= text.n)
        return false;
    if (!str_line(line, text, pos)) {
        *line = str_skip(text, *pos);
        *pos = text.n;
    }
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

struct str str_word(struct str *s)
{
    size_t space = str_find(*s, ' ');
    if (space == SIZE_MAX) {
        struct str all = *s;
        *s = str_skip(all, all.n);
        return all;
    }
    struct str word = {s->p, space};
    *s = str_skip(*s, space + 1);
    return word;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_skip(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}
