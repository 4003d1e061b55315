/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/format/noderev.h"
#include "base/num.h"

/* ---- representations ---- */

/* A revision number, or "-1" for the transaction's own. */
static bool revnum_parse(revnum *out, struct str word)
{
    return num_i64(out, word) && *out >= REV_NONE;
}

/* "<txn-name>/_<base36>" */
static bool uniq_parse(struct rep *out, struct str word)
{
    size_t slash = str_find(word, '/');
    if (slash == SIZE_MAX)
        return false;
    struct err *err = txn_id_parse(&out->uniq_txn, str_make(word.p, slash));
    if (err) {
        err_free(err);
        return false;
    }
    struct str num = str_skip(word, slash + 1);
    if (num.n == 0 || num.p[0] != '_')
        return false;
    out->has_uniq = true;
    return num_base36(&out->uniq_num, str_skip(num, 1));
}

static bool rep_fields_parse(struct rep *out, struct str text)
{
    *out = (struct rep){.uniq_txn.base = REV_NONE};
    if (!revnum_parse(&out->rev, str_word(&text)))
        return false;
    if (out->rev == REV_NONE && text.n == 0)
        return true; /* a directory or property list that is being changed in its transaction */
    if (!num_u64(&out->item, str_word(&text)) || !num_u64(&out->size, str_word(&text)) ||
        !num_u64(&out->expanded, str_word(&text)) ||
        !num_unhex(out->md5, MD5_SIZE, str_word(&text)))
        return false;
    if (text.n == 0)
        return true;
    struct str sha1 = str_word(&text), uniq = str_word(&text);
    if (!str_eq(sha1, S("-"))) {
        if (!num_unhex(out->sha1, SHA1_SIZE, sha1))
            return false;
        out->has_sha1 = true;
    }
    return str_eq(uniq, S("-")) || uniq_parse(out, uniq);
}

struct err *rep_parse(struct rep *out, struct str text)
{
    if (!rep_fields_parse(out, text))
        return err_make(E_FS_CORRUPT, "malformed representation '%.*s'", STR(text));
    return NULL;
}

static void uniq_format(struct buf *out, const struct rep *rep)
{
    char digits[NUM_BASE36_MAX];
    txn_id_format(out, rep->uniq_txn);
    buf_cstr(out, "/_");
    buf_add(out, digits, num_to_base36(digits, rep->uniq_num));
}

void rep_format(struct buf *out, const struct rep *rep, int format, bool is_dir_text, bool is_props)
{
    if (rep->rev == REV_NONE) {
        buf_cstr(out, "-1");
        if (is_dir_text || is_props)
            return;
    } else {
        buf_u64(out, (uint64_t)rep->rev);
    }
    const uint64_t numbers[] = {rep->item, rep->size, rep->expanded};
    for (size_t i = 0; i < 3; i++) {
        buf_char(out, ' ');
        buf_u64(out, numbers[i]);
    }
    buf_char(out, ' ');
    buf_hex(out, rep->md5, MD5_SIZE);

    /* A directory's text has neither of both, but those that 1.6 wrote had, and keep them. */
    bool sha1 = rep->has_sha1 && !(is_props && format >= 8) && !(is_dir_text && !rep->has_uniq);
    if (format < 4 || (format < 8 && !(sha1 && rep->has_uniq)))
        return;
    buf_char(out, ' ');
    if (sha1)
        buf_hex(out, rep->sha1, SHA1_SIZE);
    else
        buf_char(out, '-');
    buf_char(out, ' ');
    if (rep->has_uniq)
        uniq_format(out, rep);
    else
        buf_char(out, '-');
}

bool rep_same(const struct rep *a, const struct rep *b)
{
    if (a->rev != b->rev || a->item != b->item || a->has_uniq != b->has_uniq)
        return false;
    return !a->has_uniq || (a->uniq_txn.base == b->uniq_txn.base &&
                            a->uniq_txn.num == b->uniq_txn.num && a->uniq_num == b->uniq_num);
}

bool rep_same_text(const struct rep *a, const struct rep *b)
{
    return a->expanded == b->expanded && memcmp(a->md5, b->md5, MD5_SIZE) == 0 &&
           !(a->has_sha1 && b->has_sha1 && memcmp(a->sha1, b->sha1, SHA1_SIZE) != 0);
}

void noderev_md5(uint8_t md5[MD5_SIZE], const struct noderev *noderev)
{
    if (noderev->has_text)
        memcpy(md5, noderev->text.md5, MD5_SIZE);
    else
        md5_of(md5, S(""));
}

struct str noderev_md5_hex(const struct noderev *noderev, struct arena *arena)
{
    uint8_t md5[MD5_SIZE];
    char *hex = arena_alloc(arena, 2 * MD5_SIZE);
    noderev_md5(md5, noderev);
    num_hex(hex, md5, MD5_SIZE);
    return str_make(hex, 2 * MD5_SIZE);
}

bool noderev_same_text(const struct noderev *a, const struct noderev *b)
{
    if (!a->has_text || !b->has_text)
        return (a->has_text ? a->text.expanded : 0) == (b->has_text ? b->text.expanded : 0);
    return rep_same(&a->text, &b->text) || rep_same_text(&a->text, &b->text);
}

bool noderev_shares_text(const struct noderev *a, const struct noderev *b)
{
    return a->has_text == b->has_text && (!a->has_text || rep_same(&a->text, &b->text));
}

bool noderev_shares_props(const struct noderev *a, const struct noderev *b)
{
    return a->has_props == b->has_props && (!a->has_props || rep_same(&a->props, &b->props));
}

bool noderev_goes_on(const struct noderev *noderev, revnum rev)
{
    return noderev->id.rev == rev && noderev->has_pred && !noderev->copyfrom_path.n &&
           id_part_eq(noderev->pred.copy, noderev->id.copy);
}

/* ---- node-revisions ---- */

enum field {
    FIELD_UNKNOWN,
    FIELD_ID,
    FIELD_TYPE,
    FIELD_PRED,
    FIELD_COUNT,
    FIELD_TEXT,
    FIELD_PROPS,
    FIELD_CPATH,
    FIELD_COPYFROM,
    FIELD_COPYROOT,
    FIELD_FRESH,
    FIELD_MINFO_CNT,
    FIELD_MINFO_HERE,
    FIELDS,
};

static const struct str field_names[FIELDS] = {
    [FIELD_UNKNOWN] = {"", 0},
    [FIELD_ID] = {"id", 2},
    [FIELD_TYPE] = {"type", 4},
    [FIELD_PRED] = {"pred", 4},
    [FIELD_COUNT] = {"count", 5},
    [FIELD_TEXT] = {"text", 4},
    [FIELD_PROPS] = {"props", 5},
    [FIELD_CPATH] = {"cpath", 5},
    [FIELD_COPYFROM] = {"copyfrom", 8},
    [FIELD_COPYROOT] = {"copyroot", 8},
    [FIELD_FRESH] = {"is-fresh-txn-root", 17},
    [FIELD_MINFO_CNT] = {"minfo-cnt", 9},
    [FIELD_MINFO_HERE] = {"minfo-here", 10},
};

/* Writers keep the order of the enum, so the search begins behind the field before: usually the
 * first or second hits. */
static enum field field_find(struct str name, enum field before)
{
    for (unsigned i = 1; i < FIELDS; i++) {
        enum field field = (enum field)((before + i - 1) % (FIELDS - 1) + 1);
        if (str_eq(name, field_names[field]))
            return field;
    }
    return FIELD_UNKNOWN;
}

/* "<rev> <path>" */
static bool rev_path_parse(revnum *rev, struct str *path, struct str value)
{
    if (!revnum_parse(rev, str_word(&value)))
        return false;
    *path = value;
    return value.n && value.p[0] == '/';
}

static bool count_parse(uint64_t *out, struct str value)
{
    return num_u64(out, value) && *out <= INT64_MAX;
}

/* Take the value of one field into NR, whose strings point into the text. */
static bool field_parse(struct noderev *nr, enum field field, struct str value, struct err **cause)
{
    switch (field) {
    case FIELD_ID:
        return !(*cause = noderev_id_parse(&nr->id, value));
    case FIELD_TYPE:
        nr->kind = node_kind_parse(value);
        return nr->kind == NODE_FILE || nr->kind == NODE_DIR;
    case FIELD_PRED:
        nr->has_pred = true;
        return !(*cause = noderev_id_parse(&nr->pred, value));
    case FIELD_COUNT:
        return count_parse(&nr->count, value);
    case FIELD_TEXT:
        nr->has_text = true;
        return !(*cause = rep_parse(&nr->text, value));
    case FIELD_PROPS:
        nr->has_props = true;
        return !(*cause = rep_parse(&nr->props, value));
    case FIELD_CPATH:
        nr->cpath = value;
        return value.n && value.p[0] == '/';
    case FIELD_COPYFROM:
        return rev_path_parse(&nr->copyfrom_rev, &nr->copyfrom_path, value);
    case FIELD_COPYROOT:
        return rev_path_parse(&nr->copyroot_rev, &nr->copyroot_path, value);
    case FIELD_FRESH:
        nr->fresh_txn_root = true;
        return true;
    case FIELD_MINFO_CNT: {
        uint64_t n;
        if (!count_parse(&n, value))
            return false;
        nr->minfo_cnt = (int64_t)n;
        return true;
    }
    case FIELD_MINFO_HERE:
        nr->minfo_here = true;
        return true;
    case FIELD_UNKNOWN:
    case FIELDS:
        break;
    }
    return true; /* a later version's */
}

/* All fields up to the empty line. SEEN: one bit per field that stood there. */
static struct err *fields_parse(struct noderev *nr, unsigned *seen, struct str text, size_t *pos)
{
    enum field field = FIELD_UNKNOWN;
    struct str line;
    for (;;) {
        if (!str_line(&line, text, pos))
            return err_make(E_FS_CORRUPT, "node-revision ends without an empty line");
        if (line.n == 0)
            return NULL;
        const char *colon = memchr(line.p, ':', line.n);
        size_t n = colon ? (size_t)(colon - line.p) : 0;
        if (!colon || n + 1 >= line.n || line.p[n + 1] != ' ')
            return err_make(E_FS_CORRUPT, "malformed line '%.*s' in node-revision", STR(line));
        enum field found = field_find(str_make(line.p, n), field);
        struct err *cause = NULL;
        if (!field_parse(nr, found, str_skip(line, n + 2), &cause)) {
            const char *text_fmt = "malformed line '%.*s' in node-revision";
            return cause ? err_wrap(cause, E_FS_CORRUPT, text_fmt, STR(line))
                         : err_make(E_FS_CORRUPT, text_fmt, STR(line));
        }
        *seen |= 1u << found;
        if (found != FIELD_UNKNOWN)
            field = found;
    }
}

static struct err *check_required(const struct noderev *nr, unsigned seen)
{
    static const enum field required[] = {FIELD_ID, FIELD_TYPE, FIELD_CPATH};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!(seen & 1u << required[i]))
            return err_make(E_FS_CORRUPT, "node-revision has no '%s' line",
                            field_names[required[i]].p);
    return NULL;
}

/* Copy S to *TO and move *TO behind it. */
static struct str place(char **to, struct str s)
{
    struct str placed = {*to, s.n};
    if (s.n)
        memcpy(*to, s.p, s.n);
    *to += s.n;
    return placed;
}

struct err *noderev_parse(struct noderev **out, size_t *used, struct str text)
{
    struct noderev nr = {.copyfrom_rev = REV_NONE, .copyroot_rev = REV_NONE};
    unsigned seen = 0;
    size_t pos = 0;
    TRY(fields_parse(&nr, &seen, text, &pos));
    TRY(check_required(&nr, seen));

    bool own_copyroot = !(seen & 1u << FIELD_COPYROOT) || str_eq(nr.copyroot_path, nr.cpath);
    size_t n = nr.cpath.n + nr.copyfrom_path.n + (own_copyroot ? 0 : nr.copyroot_path.n);
    struct noderev *made = mem_alloc(sizeof *made + n);
    *made = nr;
    char *to = (char *)(made + 1);
    made->cpath = place(&to, nr.cpath);
    made->copyfrom_path = place(&to, nr.copyfrom_path);
    made->copyroot_path = own_copyroot ? made->cpath : place(&to, nr.copyroot_path);
    if (!(seen & 1u << FIELD_COPYROOT))
        made->copyroot_rev = nr.id.rev;
    shared_init(&made->shared, sizeof *made + n, shared_free_plain);
    *out = made;
    *used = pos;
    return NULL;
}

static void line_begin(struct buf *out, enum field field)
{
    buf_str(out, field_names[field]);
    buf_add(out, ": ", 2);
}

static void id_line(struct buf *out, enum field field, const struct noderev_id *id)
{
    line_begin(out, field);
    noderev_id_format(out, id);
    buf_char(out, '\n');
}

static void number_line(struct buf *out, enum field field, uint64_t n)
{
    line_begin(out, field);
    buf_u64(out, n);
    buf_char(out, '\n');
}

static void str_line_add(struct buf *out, enum field field, struct str value)
{
    line_begin(out, field);
    buf_str(out, value);
    buf_char(out, '\n');
}

static void rev_path_line(struct buf *out, enum field field, revnum rev, struct str path)
{
    line_begin(out, field);
    if (rev == REV_NONE)
        buf_cstr(out, "-1");
    else
        buf_u64(out, (uint64_t)rev);
    buf_char(out, ' ');
    buf_str(out, path);
    buf_char(out, '\n');
}

void noderev_format(struct buf *out, const struct noderev *nr, int format)
{
    id_line(out, FIELD_ID, &nr->id);
    str_line_add(out, FIELD_TYPE, node_kind_word(nr->kind));
    if (nr->has_pred)
        id_line(out, FIELD_PRED, &nr->pred);
    number_line(out, FIELD_COUNT, nr->count);
    if (nr->has_text) {
        line_begin(out, FIELD_TEXT);
        rep_format(out, &nr->text, format, nr->kind == NODE_DIR, false);
        buf_char(out, '\n');
    }
    if (nr->has_props) {
        line_begin(out, FIELD_PROPS);
        rep_format(out, &nr->props, format, false, true);
        buf_char(out, '\n');
    }
    str_line_add(out, FIELD_CPATH, nr->cpath);
    if (nr->copyfrom_path.n)
        rev_path_line(out, FIELD_COPYFROM, nr->copyfrom_rev, nr->copyfrom_path);
    if (nr->copyroot_rev != nr->id.rev || !str_eq(nr->copyroot_path, nr->cpath))
        rev_path_line(out, FIELD_COPYROOT, nr->copyroot_rev, nr->copyroot_path);
    if (nr->fresh_txn_root)
        str_line_add(out, FIELD_FRESH, S("y"));
    if (format >= 3 && nr->minfo_cnt > 0)
        number_line(out, FIELD_MINFO_CNT, (uint64_t)nr->minfo_cnt);
    if (format >= 3 && nr->minfo_here)
        str_line_add(out, FIELD_MINFO_HERE, S("y"));
    buf_char(out, '\n');
}
