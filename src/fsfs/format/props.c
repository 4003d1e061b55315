/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/format/props.h"
#include "base/num.h"
#include "base/vec.h"
#include <stdlib.h>

/* ---- the hash dump ---- */

enum { RECORDS_INLINE = 24 }; /* most lists are short: no allocation while parsing them */

/* What a dump holds, growing; value.p is NULL for a "D" record. */
struct records {
    struct prop *list;
    size_t n, cap;
    struct prop inline_list[RECORDS_INLINE];
    bool sorted; /* strictly by name so far */
};

static void records_init(struct records *r)
{
    r->list = r->inline_list;
    r->n = 0;
    r->cap = RECORDS_INLINE;
    r->sorted = true;
}

static void records_free(struct records *r)
{
    VEC_FREE_FROM(r, r->inline_list);
}

static void records_add(struct records *r, struct str name, struct str value)
{
    if (r->n && str_cmp(r->list[r->n - 1].name, name) >= 0)
        r->sorted = false;
    *VEC_ADD_FROM(r, r->inline_list) = (struct prop){name, value};
}

/* By name; of two with one name the earlier record first (names are views into one text). */
static int record_cmp(const void *a, const void *b)
{
    const struct prop *x = a, *y = b;
    int c = str_cmp(x->name, y->name);
    return c ? c : (x->name.p > y->name.p) - (x->name.p < y->name.p);
}

/* In name order, of each name the last record only. */
static void records_sort(struct records *r)
{
    if (r->sorted)
        return;
    qsort(r->list, r->n, sizeof *r->list, record_cmp);
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++)
        if (i + 1 == r->n || !str_eq(r->list[i].name, r->list[i + 1].name))
            r->list[kept++] = r->list[i];
    r->n = kept;
    r->sorted = true;
}

/* "K <n>" and the like: the N bytes and LF that follow. */
static bool datum_parse(struct str *out, struct str header, struct str text, size_t *pos)
{
    uint64_t n;
    if (header.n < 3 || header.p[1] != ' ' || !num_u64(&n, str_skip(header, 2)))
        return false;
    if (n >= text.n - *pos || text.p[*pos + n] != '\n')
        return false;
    *out = str_make(text.p + *pos, n);
    *pos += n + 1;
    return true;
}

static struct err *malformed(struct str text, size_t pos)
{
    return err_make(E_MALFORMED_FILE, "Serialized hash malformed at offset %zu of %zu", pos,
                    text.n);
}

static struct err *record_parse(struct records *r, struct str line, bool allow_deletes,
                                struct str text, size_t *pos)
{
    size_t start = *pos;
    struct str name, value;
    char kind = line.n ? line.p[0] : '\0';
    if (kind == 'D' && allow_deletes) {
        if (!datum_parse(&name, line, text, pos))
            return malformed(text, start);
        records_add(r, name, (struct str){NULL, 0});
        return NULL;
    }
    if (kind != 'K' || !datum_parse(&name, line, text, pos))
        return malformed(text, start);
    start = *pos;
    if (!str_line(&line, text, pos) || line.n == 0 || line.p[0] != 'V' ||
        !datum_parse(&value, line, text, pos))
        return malformed(text, start);
    records_add(r, name, value);
    return NULL;
}

static struct err *records_parse(struct records *r, struct str text, size_t *pos,
                                 struct str terminator, bool allow_deletes)
{
    struct str line;
    for (;;) {
        if (terminator.n == 0 && *pos == text.n)
            break;
        if (!str_line(&line, text, pos))
            return err_make(E_MALFORMED_FILE, "Serialized hash missing terminator");
        if (terminator.n && str_eq(line, terminator))
            break;
        TRY(record_parse(r, line, allow_deletes, text, pos));
    }
    records_sort(r);
    return NULL;
}

/* The records that set something to *LIST, the names of the others to *DELETED. */
static void records_split(struct prop **list, size_t *n, struct str **deleted, size_t *deleted_n,
                          const struct records *r, struct arena *arena)
{
    size_t gone = 0;
    for (size_t i = 0; i < r->n; i++)
        gone += r->list[i].value.p == NULL;
    *list = arena_array(arena, r->n - gone, sizeof **list);
    *n = 0;
    struct str *names = gone ? arena_array(arena, gone, sizeof *names) : NULL;
    size_t names_n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (r->list[i].value.p)
            (*list)[(*n)++] = r->list[i];
        else
            names[names_n++] = r->list[i].name;
    }
    if (deleted) {
        *deleted = names;
        *deleted_n = names_n;
    }
}

struct err *hashdump_parse(struct prop **list, size_t *n, struct str **deleted, size_t *deleted_n,
                           struct str text, size_t *pos, struct str terminator, struct arena *arena)
{
    struct records records;
    records_init(&records);
    struct err *err = records_parse(&records, text, pos, terminator, deleted != NULL);
    if (!err)
        records_split(list, n, deleted, deleted_n, &records, arena);
    records_free(&records);
    return err;
}

static void datum_format(struct buf *out, char kind, struct str bytes)
{
    buf_char(out, kind);
    buf_char(out, ' ');
    buf_u64(out, bytes.n);
    buf_char(out, '\n');
    buf_str(out, bytes);
    buf_char(out, '\n');
}

void hashdump_format(struct buf *out, const struct prop *list, size_t n, struct str terminator)
{
    for (size_t i = 0; i < n; i++) {
        datum_format(out, 'K', list[i].name);
        datum_format(out, 'V', list[i].value);
    }
    buf_str(out, terminator);
    if (terminator.n)
        buf_char(out, '\n');
}

/* ---- shared lists ---- */

static int name_cmp(const void *a, const void *b)
{
    return str_cmp(((const struct prop *)a)->name, ((const struct prop *)b)->name);
}

static struct str place(char **to, struct str s)
{
    struct str placed = {*to, s.n};
    if (s.n)
        memcpy(*to, s.p, s.n);
    *to += s.n;
    return placed;
}

/* One block:  [struct props][struct prop x n][names and values] */
struct props *props_new(const struct prop *list, size_t n)
{
    size_t bytes = sizeof(struct props) + n * sizeof *list;
    for (size_t i = 0; i < n; i++)
        bytes += list[i].name.n + list[i].value.n;
    struct props *made = mem_alloc(bytes);
    shared_init(&made->shared, bytes, shared_free_plain);
    made->n = n;
    made->list = (struct prop *)(made + 1);
    char *to = (char *)(made->list + n);
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        made->list[i] = (struct prop){place(&to, list[i].name), place(&to, list[i].value)};
        sorted = sorted && (i == 0 || str_cmp(list[i - 1].name, list[i].name) < 0);
    }
    if (!sorted)
        qsort(made->list, n, sizeof *made->list, name_cmp);
    return made;
}

struct props *props_place(void *to, const struct props *from)
{
    struct props *made = memcpy(to, from, from->shared.bytes);
    made->list = shared_place(to, from, from->list);
    for (size_t i = 0; i < made->n; i++) {
        made->list[i].name.p = shared_place(to, from, made->list[i].name.p);
        made->list[i].value.p = shared_place(to, from, made->list[i].value.p);
    }
    return made;
}

struct err *props_parse(struct props **out, struct str text)
{
    struct records records;
    size_t pos = 0;
    records_init(&records);
    struct err *err = records_parse(&records, text, &pos, S("END"), false);
    if (!err)
        *out = props_new(records.list, records.n);
    records_free(&records);
    return err;
}

/* Where NAME is, or would be, in the sorted LIST. */
static size_t position(bool *found, const struct prop *list, size_t n, struct str name)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = str_cmp(list[mid].name, name);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *found = false;
    return low;
}

const struct str *props_get(const struct props *props, struct str name)
{
    if (!props)
        return NULL;
    bool found;
    size_t at = position(&found, props->list, props->n, name);
    return found ? &props->list[at].value : NULL;
}

/* ---- mutable lists ---- */

void proplist_init(struct proplist *pl, const struct props *from, struct arena *arena)
{
    size_t n = from ? from->n : 0;
    *pl = (struct proplist){.n = n, .cap = n + 4, .arena = arena};
    pl->list = arena_array(arena, pl->cap, sizeof *pl->list);
    if (n)
        memcpy(pl->list, from->list, n * sizeof *pl->list);
}

static void proplist_insert(struct proplist *pl, size_t at, struct prop prop)
{
    VEC_ADD_IN(pl, pl->arena);
    memmove(pl->list + at + 1, pl->list + at, (pl->n - 1 - at) * sizeof *pl->list);
    pl->list[at] = prop;
}

void proplist_set(struct proplist *pl, struct str name, const struct str *value)
{
    bool found;
    size_t at = position(&found, pl->list, pl->n, name);
    if (!value) {
        if (found) {
            memmove(pl->list + at, pl->list + at + 1, (pl->n - at - 1) * sizeof *pl->list);
            pl->n--;
        }
        return;
    }
    struct str copy = arena_str(pl->arena, *value);
    if (found)
        pl->list[at].value = copy;
    else
        proplist_insert(pl, at, (struct prop){arena_str(pl->arena, name), copy});
}

const struct str *proplist_get(const struct proplist *pl, struct str name)
{
    bool found;
    size_t at = position(&found, pl->list, pl->n, name);
    return found ? &pl->list[at].value : NULL;
}

struct prop *props_diff(size_t *n, const struct props *a, const struct props *b,
                        struct arena *arena)
{
    size_t a_n = a ? a->n : 0, b_n = b ? b->n : 0, i = 0, j = 0;
    struct prop *diff = arena_array(arena, a_n + b_n, sizeof *diff);
    *n = 0;
    while (i < a_n || j < b_n) {
        int c = i == a_n ? 1 : j == b_n ? -1 : str_cmp(a->list[i].name, b->list[j].name);
        if (c < 0)
            diff[(*n)++] = (struct prop){a->list[i].name, {NULL, 0}};
        else if (c > 0 || !str_eq(a->list[i].value, b->list[j].value))
            diff[(*n)++] = b->list[j];
        i += c <= 0;
        j += c >= 0;
    }
    return diff;
}
