/* SPDX-License-Identifier: Apache-2.0 */
/* str.h - a view of bytes: pointer and length, not owned, not NUL-ended, any byte allowed. */
#ifndef VARVE_BASE_STR_H
#define VARVE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *p; /* may be NULL only where n is 0 */
    size_t n;      /* bytes */
};

/* A string literal as a view. */
#define S(literal) ((struct str){"" literal, sizeof(literal) - 1})
/* The two arguments of a "%.*s". */
#define STR(s) (int)(s).n, (s).p

static inline struct str str_make(const char *p, size_t n)
{
    return (struct str){p, n};
}

static inline struct str str_of(const char *cstr) /* NULL gives the empty view */
{
    return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Byte order, a prefix before the longer: <0, 0, >0. The order of names in directories. */
static inline int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* S without its first (at most) N bytes. */
static inline struct str str_skip(struct str s, size_t n)
{
    if (n > s.n)
        n = s.n;
    return (struct str){n ? s.p + n : s.p, s.n - n}; /* no arithmetic on NULL */
}

/* Where byte C is first / last found, or SIZE_MAX. */
size_t str_find(struct str s, char c);
size_t str_rfind(struct str s, char c);
/* Where a control character (below 0x20, or 0x7f) that is none of ALLOWED is first found, or
 * SIZE_MAX. */
size_t str_find_control(struct str s, struct str allowed);

/* Take the line of TEXT that starts at *POS (without its LF) and move *POS behind the LF.
 * False at the end of TEXT or where the rest has no LF. */
bool str_line(struct str *line, struct str text, size_t *pos);
/* The same for files that people edit: a CR before the LF goes too, and the last line needs no LF.
 */
bool str_text_line(struct str *line, struct str text, size_t *pos);

/* Take the bytes before the next single space off the front of *S, and that space; all of *S if it
 * has none. */
struct str str_word(struct str *s);

/* As C's isspace, without a locale. */
static inline bool char_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* S without white space (SP, TAB, CR, LF) at both ends. */
struct str str_trim(struct str s);

#endif
