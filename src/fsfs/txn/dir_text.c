/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a changed directory. Most of it is the text that it had before: that is copied in
 * runs, and the same runs are the delta, with no search. A folder of ten thousand entries costs one
 * pass over its bytes. */
#include "fsfs/txn/dir_text.h"
#include "base/account.h"
#include "base/num.h"
#include "fsfs/txn/commit_write.h"

/* ---- entries in text form ---- */

/* One "K <n> LF key LF V <n> LF value LF" at *POS; false where there is none. */
static bool number_line(size_t *n, struct str text, size_t *pos, char letter)
{
    struct str line;
    uint64_t number;
    if (!str_line(&line, text, pos) || line.n < 3 || line.p[0] != letter || line.p[1] != ' ' ||
        !num_u64(&number, str_skip(line, 2)) || number >= text.n - *pos)
        return false;
    *n = (size_t)number;
    return text.p[*pos + *n] == '\n';
}

static bool entry_take(struct str *name, struct str text, size_t *pos)
{
    size_t at = *pos, n;
    if (!number_line(&n, text, &at, 'K'))
        return false;
    *name = str_make(text.p + at, n);
    at += n + 1;
    if (!number_line(&n, text, &at, 'V'))
        return false;
    *pos = at + n + 1;
    return true;
}

static void entry_append(struct buf *out, struct str name, const struct txn_child *child)
{
    struct dirent_fs entry = {name, child->node ? child->node->nr.id : child->id, child->kind};
    AUTO_BUF(whole);
    dir_format(&whole, &entry, 1);
    buf_add(out, whole.p, whole.n - (sizeof "END\n" - 1));
}

/* ---- runs ---- */

static void run_add(struct dir_text *dt, bool is_old, size_t at, size_t n)
{
    if (n == 0)
        return;
    struct dir_run *last = dt->run_count ? &dt->runs[dt->run_count - 1] : NULL;
    if (last && last->is_old == is_old && last->at + last->n == at) {
        last->n += n;
        return;
    }
    if (dt->run_count == dt->run_cap)
        dt->runs = account_grow(dt->account, dt->runs, &dt->run_cap, sizeof *dt->runs);
    dt->runs[dt->run_count++] = (struct dir_run){is_old, at, n};
}

static void keep(struct dir_text *dt, struct str old, size_t at, size_t n)
{
    run_add(dt, true, at, n);
    buf_add(&dt->text, old.p + at, n);
}

/* Put CHILD in the place of the old bytes AT .. AT + N (none where it is new). What both share at
 * either end stays a copy. */
static void put(struct dir_text *dt, struct str old, size_t at, size_t n, struct str name,
                const struct txn_child *child)
{
    if (child->kind == NODE_NONE)
        return;
    size_t start = dt->text.n;
    entry_append(&dt->text, name, child);
    size_t length = dt->text.n - start, shorter = length < n ? length : n, front = 0, back = 0;
    while (front < shorter && dt->text.p[start + front] == old.p[at + front])
        front++;
    while (back < shorter - front && dt->text.p[dt->text.n - 1 - back] == old.p[at + n - 1 - back])
        back++;
    run_add(dt, true, at, front);
    run_add(dt, false, start + front, length - front - back);
    run_add(dt, true, at + n - back, back);
}

/* False where OLD is not a sorted dump: then nothing of it can be used. */
static bool merge_runs(struct dir_text *dt, struct str old, const struct txn_node *dir,
                       const struct str *names, size_t count)
{
    size_t pos = 0, next = 0;
    struct str before = {0}, name;
    for (;;) {
        size_t start = pos;
        bool more = entry_take(&name, old, &pos);
        if (more && start && str_cmp(before, name) >= 0)
            return false;
        for (; next < count && (!more || str_cmp(names[next], name) < 0); next++)
            put(dt, old, start, 0, names[next], map_get(dir->over, names[next]));
        if (!more)
            break;
        if (next < count && str_eq(names[next], name)) {
            put(dt, old, start, pos - start, name, map_get(dir->over, name));
            next++;
        } else {
            keep(dt, old, start, pos - start);
        }
        before = name;
    }
    if (!str_eq(str_skip(old, pos), S("END\n")))
        return false;
    keep(dt, old, pos, old.n - pos);
    return true;
}

static void runs_free(struct dir_text *dt)
{
    account_release(dt->account, dt->runs, dt->run_cap, sizeof *dt->runs);
    dt->runs = NULL;
    dt->run_count = dt->run_cap = 0;
}

static struct err *make_afresh(struct dir_text *dt, struct txn *txn, const struct txn_node *dir,
                               struct arena *arena)
{
    struct dirent_fs *list;
    size_t n;
    TRY(txn_node_entries(&list, &n, txn, dir, arena));
    runs_free(dt);
    buf_clear(&dt->text);
    dir_format(&dt->text, list, n);
    return NULL;
}

struct err *dir_text_make(struct dir_text *out, struct txn *txn, const struct txn_node *dir)
{
    AUTO_ARENA(arena);
    *out = (struct dir_text){.account = txn->account};
    const struct noderev *from = dir->from;
    if (!from || !from->has_text || from->text.rev == REV_NONE || !rep_is_whole(&from->text))
        return make_afresh(out, txn, dir, arena);
    const struct blob *old;
    TRY(rep_text(&old, txn->fs, &from->text, arena));
    size_t count;
    const struct str *names = txn_dir_over(&count, dir, arena);
    buf_reserve(&out->text, old->n + 128 * count);
    out->old_n = old->n;
    return merge_runs(out, blob_str(old), dir, names, count) ? NULL
                                                             : make_afresh(out, txn, dir, arena);
}

void dir_text_free(struct dir_text *dt)
{
    buf_free(&dt->text);
    runs_free(dt);
    *dt = (struct dir_text){0};
}

/* ---- the delta ---- */

/* Subversion's reader of representations combines the windows of a delta chain by their numbers:
 * the view of window K must be window K of the old text. A run that has moved from one window to
 * another is new data therefore. */
struct window {
    struct delta_window window;
    struct buf ops, new_data;
};

static void window_op(struct window *w, enum delta_op_kind kind, size_t offset, size_t n)
{
    struct delta_op *last = w->ops.n ? (struct delta_op *)(w->ops.p + w->ops.n) - 1 : NULL;
    if (n == 0)
        return;
    if (last && last->kind == kind && last->offset + last->length == offset) {
        last->length += (uint32_t)n;
        return;
    }
    struct delta_op op = {kind, (uint32_t)offset, (uint32_t)n};
    buf_add(&w->ops, &op, sizeof op);
}

static void window_new(struct window *w, struct str bytes)
{
    window_op(w, DELTA_NEW, w->new_data.n, bytes.n);
    buf_str(&w->new_data, bytes);
}

/* Add N bytes, which are those at FROM of the old text and at TO of the new one. */
static void window_old(struct window *w, const struct dir_text *dt, uint64_t from, size_t to,
                       size_t n)
{
    uint64_t start = w->window.source_offset, end = start + w->window.source_length;
    uint64_t first = from < start ? start : from, last = from + n > end ? end : from + n;
    if (first >= last) {
        window_new(w, str_make(dt->text.p + to, n));
        return;
    }
    window_new(w, str_make(dt->text.p + to, first - from));
    window_op(w, DELTA_SOURCE, (size_t)(first - start), (size_t)(last - first));
    window_new(w, str_make(dt->text.p + to + (last - from), (size_t)(from + n - last)));
}

void dir_text_delta(struct buf *out, const struct dir_text *dt, const struct svndiff_params *params)
{
    struct window w = {0};
    svndiff_put_header(out, params->version);
    size_t run = 0, at = 0, text_n = dt->text.n;
    for (size_t start = 0; start < text_n; start += SVNDIFF_WINDOW_MAX) {
        size_t end = text_n - start < SVNDIFF_WINDOW_MAX ? text_n : start + SVNDIFF_WINDOW_MAX;
        size_t source = start < dt->old_n ? start : dt->old_n, view = dt->old_n - source;
        w.window = (struct delta_window){
            .source_offset = source,
            .source_length = (uint32_t)(view < SVNDIFF_WINDOW_MAX ? view : SVNDIFF_WINDOW_MAX),
            .target_length = (uint32_t)(end - start),
        };
        buf_clear(&w.ops);
        buf_clear(&w.new_data);
        for (size_t to = start; to < end;) {
            const struct dir_run *r = &dt->runs[run];
            size_t n = r->n - at < end - to ? r->n - at : end - to;
            if (r->is_old)
                window_old(&w, dt, r->at + at, to, n);
            else
                window_new(&w, str_make(dt->text.p + to, n));
            to += n;
            at += n;
            if (at == r->n) {
                run++;
                at = 0;
            }
        }
        w.window.ops = (struct delta_op *)w.ops.p;
        w.window.op_count = w.ops.n / sizeof *w.window.ops;
        w.window.new_data = buf_view(&w.new_data);
        svndiff_put_window(out, &w.window, params);
    }
    buf_free(&w.ops);
    buf_free(&w.new_data);
}
