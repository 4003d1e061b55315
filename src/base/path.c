/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"
#include "base/buf.h"
#include "base/num.h"
#include <stdint.h>

/* Neither empty nor "." nor "..", and a C string. */
static bool component_is_plain(struct str name)
{
    return name.n && !str_eq(name, S(".")) && !str_eq(name, S("..")) &&
           str_find(name, '\0') == SIZE_MAX;
}

bool path_is_absolute(struct str path)
{
    return path.n && path.p[0] == '/';
}

bool path_is_relative(struct str path)
{
    if (path.n == 0)
        return true;
    struct str rest = path;
    for (;;) {
        size_t slash = str_find(rest, '/');
        if (!component_is_plain(slash == SIZE_MAX ? rest : str_make(rest.p, slash)))
            return false;
        if (slash == SIZE_MAX)
            return true;
        rest = str_skip(rest, slash + 1);
    }
}

bool path_is_canonical(struct str path)
{
    return path_is_absolute(path) && path_is_relative(str_skip(path, 1));
}

struct str path_canonicalize(struct str path, struct arena *arena)
{
    char *p = arena_alloc(arena, path.n + 2);
    size_t n = 0;
    struct str rest = path, name;
    while (rest.n) {
        size_t slash = str_find(rest, '/');
        name = slash == SIZE_MAX ? rest : str_make(rest.p, slash);
        rest = str_skip(rest, slash == SIZE_MAX ? rest.n : slash + 1);
        if (name.n == 0 || str_eq(name, S(".")))
            continue;
        p[n++] = '/';
        memcpy(p + n, name.p, name.n);
        n += name.n;
    }
    if (n == 0)
        p[n++] = '/';
    p[n] = '\0';
    return str_make(p, n);
}

struct str path_join(struct str parent, struct str relative, struct arena *arena)
{
    if (relative.n == 0)
        return arena_str(arena, parent);
    if (parent.n == 0)
        return arena_str(arena, relative);
    bool slash = parent.p[parent.n - 1] != '/';
    char *p = arena_alloc(arena, parent.n + relative.n + 2), *to = p;
    to = mempcpy(to, parent.p, parent.n);
    if (slash)
        *to++ = '/';
    to = mempcpy(to, relative.p, relative.n);
    *to = '\0';
    return str_make(p, (size_t)(to - p));
}

struct str path_dirname(struct str path)
{
    size_t slash = str_rfind(path, '/');
    if (slash == SIZE_MAX)
        return S("");
    return str_make(path.p, slash ? slash : 1);
}

struct str path_basename(struct str path)
{
    size_t slash = str_rfind(path, '/');
    return slash == SIZE_MAX ? path : str_skip(path, slash + 1);
}

bool path_skip_ancestor(struct str *rest, struct str ancestor, struct str path)
{
    if (!str_starts(path, ancestor))
        return false;
    struct str below = str_skip(path, ancestor.n);
    bool is_root = ancestor.n == 0 || str_eq(ancestor, S("/"));
    if (is_root || below.n == 0) {
        if (ancestor.n == 0 && path_is_absolute(path))
            return false; /* a relative path is no ancestor of an absolute one */
        *rest = below;
        return true;
    }
    if (below.p[0] != '/')
        return false;
    *rest = str_skip(below, 1);
    return true;
}

bool path_next(struct str *component, struct str *rest)
{
    if (rest->n == 0)
        return false;
    size_t slash = str_find(*rest, '/');
    *component = slash == SIZE_MAX ? *rest : str_make(rest->p, slash);
    *rest = str_skip(*rest, slash == SIZE_MAX ? rest->n : slash + 1);
    return true;
}

int path_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n, i = 0;
    while (i < n && a.p[i] == b.p[i])
        i++;
    if (i == n)
        return (a.n > b.n) - (a.n < b.n);
    /* A slash ends the name, so it comes before any byte of a longer one. */
    int byte_a = a.p[i] == '/' ? 0 : (unsigned char)a.p[i];
    int byte_b = b.p[i] == '/' ? 0 : (unsigned char)b.p[i];
    return byte_a - byte_b;
}

/* Bytes that stand for themselves in the path of a URL as svn clients write it. */
static bool uri_is_plain(unsigned char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
        return true;
    return c && strchr("!$&'()*+,-./:=@_~", c);
}

struct str path_uri_encode(struct str path, struct arena *arena)
{
    size_t escapes = 0;
    for (size_t i = 0; i < path.n; i++)
        escapes += !uri_is_plain((unsigned char)path.p[i]);
    char *p = arena_alloc(arena, path.n + 2 * escapes + 1), *to = p;
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.p[i];
        if (uri_is_plain(c)) {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = "0123456789ABCDEF"[c >> 4];
            *to++ = "0123456789ABCDEF"[c & 15];
        }
    }
    *to = '\0';
    return str_make(p, (size_t)(to - p));
}

bool path_uri_decode(struct str *out, struct str uri, struct arena *arena)
{
    char *p = arena_alloc(arena, uri.n + 1), *to = p;
    for (size_t i = 0; i < uri.n; i++) {
        char c = uri.p[i];
        if (c == '%') {
            if (uri.n - i < 3 || !num_unhex(&c, 1, str_make(uri.p + i + 1, 2)) || c == '\0')
                return false;
            i += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    *out = str_make(p, (size_t)(to - p));
    return true;
}

struct err *path_check_controls(struct str path)
{
    size_t first = str_find_control(path, S("")), at = first;
    if (first == SIZE_MAX)
        return NULL;
    AUTO_BUF(shown);
    struct str rest = path;
    for (; at != SIZE_MAX; at = str_find_control(rest, S(""))) {
        buf_str(&shown, str_make(rest.p, at));
        buf_printf(&shown, "\\%03o", (unsigned char)rest.p[at]);
        rest = str_skip(rest, at + 1);
    }
    buf_str(&shown, rest);
    return err_make(E_FS_PATH_SYNTAX, "Invalid control character '0x%02x' in path '%.*s'",
                    (unsigned char)path.p[first], STR(shown));
}

/* The length of the well-formed sequence at P, where N bytes are left; 0 where there is none. */
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
    unsigned char low = 0x80, high = 0xbf; /* what the second byte may be */
    size_t length;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        length = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        length = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        length = 4;
    else
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0; /* shorter forms exist below */
    else if (p[0] == 0xed)
        high = 0x9f; /* surrogates above */
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f; /* behind U+10FFFF */
    if (n < length || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    }
    return length;
}

bool utf8_is_valid(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t i = 0;
    while (i < s.n) {
        uint64_t word;
        while (s.n - i >= sizeof word) {
            memcpy(&word, p + i, sizeof word);
            if (word & 0x8080808080808080u)
                break;
            i += sizeof word;
        }
        if (i == s.n)
            break;
        size_t length = utf8_sequence(p + i, s.n - i);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

struct err *path_check_nul(struct str path)
{
    size_t at = str_find(path, '\0');
    return at == SIZE_MAX ? NULL
                          : err_make(E_FS_PATH_SYNTAX, "Path '%.*s' has a NUL behind that",
                                     STR(str_make(path.p, at)));
}

struct err *path_check_new(struct str path)
{
    struct str name, rest = path;
    if (!utf8_is_valid(path))
        return err_make(E_FS_PATH_SYNTAX, "Path '%.*s' is not in UTF-8", STR(path));
    while (path_next(&name, &rest)) {
        if (str_eq(name, S("..")))
            return err_make(E_FS_PATH_SYNTAX, "Path '%.*s' contains '.' or '..' element",
                            STR(path));
    }
    return NULL;
}
