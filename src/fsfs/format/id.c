/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/format/id.h"
#include "base/num.h"

/* The bytes of *S before the first C, which goes too; false where S has no C. */
static bool take_until(struct str *head, struct str *s, char c)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->p[i] == c) {
            *head = str_make(s->p, i);
            *s = str_skip(*s, i + 1);
            return true;
        }
    }
    return false;
}

/* A revision number: digits that fit, no sign. */
static bool revnum_parse(revnum *out, struct str s)
{
    uint64_t n;
    if (!num_u64(&n, s) || n > INT64_MAX)
        return false;
    *out = (revnum)n;
    return true;
}

bool id_part_parse(struct id_part *out, struct str text)
{
    if (text.n && text.p[0] == '_') {
        out->rev = REV_NONE;
        return num_base36(&out->num, str_skip(text, 1));
    }
    struct str num;
    if (!take_until(&num, &text, '-')) {
        out->rev = 0;
        return num_base36(&out->num, text);
    }
    return num_base36(&out->num, num) && revnum_parse(&out->rev, text);
}

static void base36_format(struct buf *out, uint64_t num)
{
    char digits[NUM_BASE36_MAX];
    buf_add(out, digits, num_to_base36(digits, num));
}

void id_part_format(struct buf *out, struct id_part part)
{
    if (part.rev == REV_NONE)
        buf_char(out, '_');
    base36_format(out, part.num);
    if (part.rev > 0) {
        buf_char(out, '-');
        buf_u64(out, (uint64_t)part.rev);
    }
}

static bool txn_id_take(struct txn_id *out, struct str text)
{
    struct str base;
    return take_until(&base, &text, '-') && revnum_parse(&out->base, base) &&
           num_base36(&out->num, text);
}

struct err *txn_id_parse(struct txn_id *out, struct str text)
{
    if (!txn_id_take(out, text))
        return err_make(E_FS_MALFORMED_TXN_ID, "malformed txn id '%.*s'", STR(text));
    return NULL;
}

void txn_id_format(struct buf *out, struct txn_id id)
{
    buf_u64(out, (uint64_t)id.base);
    buf_char(out, '-');
    base36_format(out, id.num);
}

static bool noderev_id_take(struct noderev_id *out, struct str text)
{
    struct str node, copy, rev;
    if (!take_until(&node, &text, '.') || !take_until(&copy, &text, '.') || text.n == 0)
        return false;
    if (!id_part_parse(&out->node, node) || !id_part_parse(&out->copy, copy))
        return false;
    char where = text.p[0];
    text = str_skip(text, 1);
    if (where == 'r') {
        out->txn = (struct txn_id){.base = REV_NONE};
        return take_until(&rev, &text, '/') && revnum_parse(&out->rev, rev) &&
               num_u64(&out->item, text);
    }
    out->rev = REV_NONE;
    out->item = 0;
    return where == 't' && txn_id_take(&out->txn, text);
}

struct err *noderev_id_parse(struct noderev_id *out, struct str text)
{
    if (!noderev_id_take(out, text))
        return err_make(E_FS_MALFORMED_NODEREV_ID, "Malformed node revision ID string '%.*s'",
                        STR(text));
    return NULL;
}

void noderev_id_format(struct buf *out, const struct noderev_id *id)
{
    id_part_format(out, id->node);
    buf_char(out, '.');
    id_part_format(out, id->copy);
    buf_char(out, '.');
    if (id->rev == REV_NONE) {
        buf_char(out, 't');
        txn_id_format(out, id->txn);
    } else {
        buf_char(out, 'r');
        buf_u64(out, (uint64_t)id->rev);
        buf_char(out, '/');
        buf_u64(out, id->item);
    }
}

struct str noderev_id_str(const struct noderev_id *id, struct arena *arena)
{
    AUTO_BUF(text);
    noderev_id_format(&text, id);
    return arena_str(arena, buf_view(&text));
}

static bool txn_id_eq(struct txn_id a, struct txn_id b)
{
    return a.base == b.base && a.num == b.num;
}

bool noderev_id_eq(const struct noderev_id *a, const struct noderev_id *b)
{
    return id_part_eq(a->node, b->node) && id_part_eq(a->copy, b->copy) && a->rev == b->rev &&
           (a->rev == REV_NONE ? txn_id_eq(a->txn, b->txn) : a->item == b->item);
}

bool noderev_id_related(const struct noderev_id *a, const struct noderev_id *b)
{
    if (!id_part_eq(a->node, b->node))
        return false;
    /* "_5" is another node in each transaction. */
    return a->node.rev != REV_NONE || txn_id_eq(a->txn, b->txn);
}
