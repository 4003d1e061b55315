/* SPDX-License-Identifier: Apache-2.0 */
/* The delta search: for any two texts it must find what a plain, slow search by the rules of
 * search.c finds, and the delta must make the target.
 *
 * The input is a little program, so that short inputs make texts with blocks in common. It has two
 * halves, one writes the source, one the target:
 *   0-127      this byte
 *   128-191 b  b - 127 bytes of noise that depend on the next byte only
 *   192-223 b  the last b - 191 bytes again, as often as the next byte says
 *   224-255 b  (b - 223) * 16 bytes from the source's place (next byte) * 8 */
#include "delta/search.h"
#include "delta/svndiff.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 2500, BLOCK = 64 };

/* ---- texts ---- */

static void append_noise(struct buf *out, size_t n, uint64_t seed)
{
    while (n-- > 0) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        buf_char(out, (char)(seed >> 56));
    }
}

static void run_program(struct buf *out, struct str program, struct str source)
{
    for (size_t i = 0; i < program.n && out->n < TEXT_MAX; i++) {
        size_t b = (uint8_t)program.p[i];
        size_t next = i + 1 < program.n ? (uint8_t)program.p[i + 1] : 0;
        if (b < 128) {
            buf_char(out, (char)b);
            continue;
        }
        i++;
        if (b < 192) {
            append_noise(out, b - 127, next);
        } else if (b < 224) {
            size_t n = b - 191 < out->n ? b - 191 : out->n;
            for (size_t k = 0; k < n * next; k++)
                buf_char(out, out->p[out->n - n]);
        } else if (next * 8 < source.n) {
            size_t n = (b - 223) * 16, left = source.n - next * 8;
            buf_add(out, source.p + next * 8, n < left ? n : left);
        }
    }
    if (out->n > TEXT_MAX)
        out->n = TEXT_MAX;
}

/* ---- the plain search ---- */

struct plain {
    char kind[TEXT_MAX];
    size_t offset[TEXT_MAX], length[TEXT_MAX];
    int n;
};

static void put(struct plain *p, char kind, size_t offset, size_t length)
{
    if (length) {
        p->kind[p->n] = kind;
        p->offset[p->n] = offset;
        p->length[p->n++] = length;
    }
}

/* The first block of S that equals the 64 bytes at AT of T. */
static bool find(size_t *block, struct str s, struct str t, size_t at)
{
    for (*block = 0; *block + BLOCK <= s.n; *block += BLOCK)
        if (s.p[*block] == t.p[at] && memcmp(s.p + *block, t.p + at, BLOCK) == 0)
            return true;
    return false;
}

/* Extend the copy of step 3 that starts at *AT by taking back what was put, step 4. */
static void undo(struct plain *p, struct str s, struct str t, size_t *from, size_t *at)
{
    size_t most = 0;
    while (most < *from && most < *at && s.p[*from - most - 1] == t.p[*at - most - 1])
        most++;
    size_t left = most;
    while (p->n && p->length[p->n - 1] <= left)
        left -= p->length[--p->n];
    if (p->n && p->kind[p->n - 1] == 'n') {
        p->length[p->n - 1] -= left;
        left = 0;
    }
    *from -= most - left;
    *at -= most - left;
}

static void search_plainly(struct plain *p, struct str s, struct str t)
{
    size_t done = 0, block, end = 0;
    p->n = 0;
    while (done < s.n && done < t.n && s.p[done] == t.p[done])
        done++;
    if (done <= 4 && done < t.n)
        done = 0;
    put(p, 's', 0, done);
    for (size_t i = done; s.n >= BLOCK && i + BLOCK <= t.n;) {
        if (!find(&block, s, t, i)) {
            i++;
            continue;
        }
        size_t from = block, at = i, to = i;
        while (from > 0 && at > done && s.p[from - 1] == t.p[at - 1])
            from--, at--;
        while (to < t.n && block + to - i < s.n && s.p[block + to - i] == t.p[to])
            to++;
        put(p, 'n', 0, at - done);
        if (at == done)
            undo(p, s, t, &from, &at);
        put(p, 's', from, to - at);
        i = done = to;
    }
    while (end < t.n - done && end < s.n && s.p[s.n - end - 1] == t.p[t.n - end - 1])
        end++;
    if (end <= 4)
        end = 0;
    put(p, 'n', 0, t.n - done - end);
    put(p, 's', s.n - end, end);
}

static bool is_same(const struct plain *p, const struct delta_window *w)
{
    bool same = w->op_count == (size_t)p->n;
    for (int i = 0; same && i < p->n; i++)
        same = w->ops[i].kind == (p->kind[i] == 'n' ? DELTA_NEW : DELTA_SOURCE) &&
               w->ops[i].length == p->length[i] &&
               (p->kind[i] == 'n' || w->ops[i].offset == p->offset[i]);
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plain plain;
    AUTO_ARENA(arena);
    AUTO_BUF(source);
    AUTO_BUF(target);
    struct delta_window w;
    struct str program = str_make((const char *)data, size);
    run_program(&source, str_make(program.p, size / 2), S(""));
    run_program(&target, str_skip(program, size / 2), buf_view(&source));
    struct str s = buf_view(&source), t = buf_view(&target);
    delta_search(&w, 0, s, t, arena);
    search_plainly(&plain, s, t);
    char *text = arena_alloc(arena, t.n);
    delta_window_apply(text, &w, s);
    if (!is_same(&plain, &w) || !str_eq(str_make(text, t.n), t)) {
        fprintf(stderr, "the window for %zu -> %zu bytes is wrong\n", s.n, t.n);
        abort();
    }
    return 0;
}
