/* SPDX-License-Identifier: Apache-2.0 */
/* dump_parser.c - dump streams, pulled record by record (docs/formats/dump.md).
 *
 *   header line LF ... LF  [property block] [text] LF*
 *
 * Versions 1 to 3. Headers and properties of a record are held in memory; its text is given out in
 * pieces.
 *
 * Old streams were written, converted and mended by many hands. What svnadmin makes of them is what
 * people rely on, so numbers are read and lengths believed as it does. */
#include "repo/dump/dump_parser.h"
#include "base/num.h"
#include "fsfs/read/rep.h"
#include "repo/dump/dump.h"
#include <stdlib.h>

enum {
    INPUT_BUFFER = 256 << 10,
    LINE_MAX_BYTES = 1 << 20, /* of a header line: a path may be long */
    HEADERS_MAX = 256,        /* of one record: there are about twenty different ones */
    MAGIC_MAX = 80,           /* of a line that is no magic, in the error */
    VERSION_MAX = 3,
};

#define VERSION_HEADER "SVN-fs-dump-format-version"

struct dump_parser {
    struct reader *in;
    char *buffer;
    size_t at, have;
    bool ended;           /* no more input */
    bool begun;           /* the version record has been given */
    struct arena *record; /* memory of the present record */
    struct arena_mark empty;
    struct buf line;
    int64_t version;
    /* the present record */
    enum part { PART_PROPS, PART_TEXT } part; /* what is next of it */
    bool has_props, has_text, is_sized;       /* is_sized: its parts have lengths of their own */
    bool can_have_text, always_has_text;      /* of one that is not sized */
    int64_t content, props, text;             /* as declared, 0 where not */
    bool has_content;
    uint64_t props_used, text_left;
};

/* ---- bytes and lines ---- */

static struct err *fill(struct dump_parser *p)
{
    if (p->at < p->have || p->ended)
        return NULL;
    p->at = 0;
    TRY(reader_read(p->in, p->buffer, INPUT_BUFFER, &p->have));
    p->ended = p->have == 0;
    return NULL;
}

static struct err *ended_early(void)
{
    return err_make(E_INCOMPLETE_DATA, "Premature end of content data in dumpstream");
}

/* The next line without its LF, valid until the next line; *MORE false at the end of input. */
static struct err *next_line(bool *more, struct str *line, struct dump_parser *p)
{
    buf_clear(&p->line);
    for (;;) {
        TRY(fill(p));
        if (p->ended && p->line.n)
            return ended_early();
        if (p->ended) {
            *more = false;
            return NULL;
        }
        const char *start = p->buffer + p->at, *lf = memchr(start, '\n', p->have - p->at);
        size_t n = lf ? (size_t)(lf - start) : p->have - p->at;
        if (p->line.n + n > LINE_MAX_BYTES)
            return err_make(E_STREAM_MALFORMED_DATA,
                            "Dump stream has a header line of more than %d bytes", LINE_MAX_BYTES);
        buf_add(&p->line, start, n);
        p->at += n + (lf != NULL);
        if (lf) {
            *more = true;
            *line = buf_view(&p->line);
            return NULL;
        }
    }
}

static struct err *take_bytes(struct buf *out, struct dump_parser *p, uint64_t n)
{
    while (n) {
        TRY(fill(p));
        if (p->ended)
            return ended_early();
        size_t part = p->have - p->at < n ? p->have - p->at : (size_t)n;
        buf_add(out, p->buffer + p->at, part);
        p->at += part;
        n -= part;
    }
    return NULL;
}

static struct err *skip_bytes(struct dump_parser *p, uint64_t n)
{
    while (n) {
        TRY(fill(p));
        if (p->ended)
            return ended_early();
        size_t part = p->have - p->at < n ? p->have - p->at : (size_t)n;
        p->at += part;
        n -= part;
    }
    return NULL;
}

/* ---- numbers ---- */

/* A number that stands alone: blanks and a sign may be in front. */
static struct err *strict_number(int64_t *out, struct str text)
{
    struct str digits = text;
    while (digits.n && char_is_space(digits.p[0]))
        digits = str_skip(digits, 1);
    if (digits.n > 1 && digits.p[0] == '+' && digits.p[1] != '-')
        digits = str_skip(digits, 1);
    if (!num_i64(out, digits))
        return err_make(E_INCORRECT_PARAMS, "Could not convert '%.*s' into a number", STR(text));
    return NULL;
}

/* ---- headers ---- */

/* Of several with one name the last counts. */
const struct str *dump_record_get(const struct dump_record *record, const char *name)
{
    for (size_t i = record->header_count; i; i--)
        if (str_eq(record->headers[i - 1].name, str_of(name)))
            return &record->headers[i - 1].value;
    return NULL;
}

/* S up to its first NUL. */
static struct str until_nul(struct str s)
{
    size_t nul = str_find(s, '\0');
    return nul == SIZE_MAX ? s : str_make(s.p, nul);
}

/* One byte stands between colon and value, by custom a blank. A NUL ends a value. */
static struct err *split_header(struct dump_header *out, struct str line, struct arena *arena)
{
    size_t colon = str_find(line, ':');
    bool is_named = colon != SIZE_MAX && str_find(str_make(line.p, colon), '\0') == SIZE_MAX;
    if (!is_named || colon + 2 > line.n)
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Dump stream contains a malformed header (with no %s) at '%.*s'",
                        is_named ? "value" : "':'",
                        STR(str_make(line.p, line.n < 20 ? line.n : 20)));
    struct str kept = arena_str(arena, line);
    out->name = str_make(kept.p, colon);
    out->value = until_nul(str_skip(kept, colon + 2));
    return NULL;
}

/* Skip what is between records: empty lines and those that begin with a blank. */
static struct err *skip_to_record(bool *more, struct str *line, struct dump_parser *p)
{
    do
        TRY(next_line(more, line, p));
    while (*more && (line->n == 0 || char_is_space(line->p[0])));
    return NULL;
}

static struct err *read_headers(bool *more, struct dump_record *record, struct dump_parser *p)
{
    struct dump_header *headers = arena_array(p->record, HEADERS_MAX, sizeof *headers);
    struct str line;
    size_t n = 0;
    TRY(skip_to_record(more, &line, p));
    while (*more && line.n) {
        if (n == HEADERS_MAX)
            return err_make(E_STREAM_MALFORMED_DATA,
                            "Dump stream has a record with more than %d headers", HEADERS_MAX);
        TRY(split_header(&headers[n++], line, p->record));
        bool again;
        TRY(next_line(&again, &line, p));
        if (!again)
            break;
    }
    record->headers = headers;
    record->header_count = n;
    *more = n > 0;
    return NULL;
}

static int64_t length_of(const struct str *value)
{
    return value ? num_leading(*value) : 0;
}

/* ---- properties ---- */

static struct err *malformed(void)
{
    return err_make(E_STREAM_MALFORMED_DATA, "Dumpstream data appears to be malformed");
}

/* A line of the property block; *MORE false where the block ends: at PROPS-END or where its
 * declared length does, whichever comes first. Many a length is off. */
static struct err *prop_line(bool *more, struct str *line, struct dump_parser *p)
{
    *more = p->props_used != (uint64_t)p->props;
    if (!*more)
        return NULL;
    struct err *err = next_line(more, line, p);
    if (err_has(err, E_INCOMPLETE_DATA)) {
        err_free(err);
        err = NULL;
        *more = false;
    }
    TRY(err);
    if (!*more)
        return err_make(E_STREAM_MALFORMED_DATA, "Incomplete or unterminated property block");
    p->props_used += line->n + 1;
    *more = !str_eq(until_nul(*line), S("PROPS-END"));
    return NULL;
}

/* The bytes that LINE ("K 7") counts, and the line feed behind them. */
static struct err *prop_bytes(struct str *out, struct str line, struct dump_parser *p)
{
    AUTO_BUF(bytes);
    int64_t length;
    TRY(strict_number(&length, until_nul(str_skip(line, 2))));
    if (length < 0)
        return err_make(E_INCORRECT_PARAMS, "Length '%lld' of a property is negative",
                        (long long)length);
    if (length > LIST_READ_MAX || p->props_used > LIST_READ_MAX)
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Dump stream has a property block of more than %d bytes", LIST_READ_MAX);
    TRY(take_bytes(&bytes, p, (uint64_t)length + 1));
    p->props_used += (uint64_t)length + 1;
    struct str text = buf_view(&bytes);
    if (text.p[--text.n] != '\n')
        return malformed();
    *out = arena_str(p->record, text);
    return NULL;
}

static struct err *read_prop(bool *more, struct prop *prop, struct dump_parser *p)
{
    struct str line;
    TRY(prop_line(more, &line, p));
    if (!*more)
        return NULL;
    *prop = (struct prop){0};
    bool removes = str_starts(line, S("D "));
    if (!removes && !str_starts(line, S("K ")))
        return malformed();
    TRY(prop_bytes(&prop->name, line, p));
    if (removes)
        return NULL;
    bool again;
    TRY(next_line(&again, &line, p));
    if (!again)
        return ended_early();
    p->props_used += line.n + 1;
    if (!str_starts(line, S("V ")))
        return malformed();
    return prop_bytes(&prop->value, line, p);
}

struct err *dump_parser_prop(bool *more, struct prop *prop, struct dump_parser *p)
{
    *more = false;
    if (p->part != PART_PROPS)
        return NULL;
    if (p->has_props)
        TRY(read_prop(more, prop, p));
    if (*more)
        return NULL;
    p->part = PART_TEXT;
    if (!p->is_sized) {
        p->text = (int64_t)((uint64_t)p->content - p->props_used);
        p->has_text = p->can_have_text && (p->always_has_text || p->text);
    }
    p->text_left = (uint64_t)p->text;
    return NULL;
}

static struct err *skip_props(struct dump_parser *p)
{
    struct prop unused;
    bool more = true;
    while (more)
        TRY(dump_parser_prop(&more, &unused, p));
    return NULL;
}

/* ---- records ---- */

/* Version 1 does not tell the lengths of the parts: what is behind the properties is text. */
static void begin_body(struct dump_record *record, struct dump_parser *p)
{
    const struct str *content = dump_record_get(record, "Content-length"),
                     *props = dump_record_get(record, "Prop-content-length"),
                     *text = dump_record_get(record, "Text-content-length"),
                     *kind = dump_record_get(record, "Node-kind");
    p->part = PART_PROPS;
    p->has_content = content;
    p->content = length_of(content);
    p->is_sized = p->version != 1 || !content || props || text;
    p->has_props = props || !p->is_sized;
    p->props = length_of(p->is_sized ? props : content);
    p->has_text = text;
    p->text = length_of(text);
    p->can_have_text = record->kind == DUMP_NODE;
    p->always_has_text = kind && str_eq(*kind, S("file"));
    p->props_used = p->text_left = 0;
    record->has_props = p->has_props;
}

/* Behind the parts may be more, up to Content-length. */
static struct err *end_body(struct dump_parser *p)
{
    TRY(skip_props(p));
    TRY(skip_bytes(p, p->text_left));
    p->text_left = 0;
    int64_t surplus;
    if (!p->has_content || !p->is_sized)
        return NULL;
    if (__builtin_sub_overflow(p->content, p->props, &surplus) ||
        __builtin_sub_overflow(surplus, p->text, &surplus) || surplus < 0)
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Sum of subblock sizes larger than total block length");
    p->has_content = false;
    return skip_bytes(p, (uint64_t)surplus);
}

static struct err *first_record(struct dump_record *record, struct dump_parser *p)
{
    struct dump_header *header = ARENA_NEW(p->record, struct dump_header);
    header->name = S(VERSION_HEADER);
    header->value = arena_printf(p->record, "%lld", (long long)p->version);
    *record = (struct dump_record){.kind = DUMP_VERSION, .headers = header, .header_count = 1};
    p->begun = true;
    return NULL;
}

struct err *dump_parser_next(bool *more, struct dump_record *record, struct dump_parser *p)
{
    TRY(end_body(p));
    arena_rewind(p->record, p->empty);
    *record = (struct dump_record){0};
    *more = true;
    if (!p->begun)
        return first_record(record, p);
    TRY(read_headers(more, record, p));
    if (!*more)
        return NULL;
    const struct str *version = dump_record_get(record, VERSION_HEADER);
    if (dump_record_get(record, "Revision-number"))
        record->kind = DUMP_REVISION;
    else if (dump_record_get(record, "Node-path"))
        record->kind = DUMP_NODE;
    else if (dump_record_get(record, "UUID"))
        record->kind = DUMP_UUID;
    else if (version)
        record->kind = DUMP_VERSION; /* streams may stand one after another */
    else
        return err_make(E_STREAM_MALFORMED_DATA, "Unrecognized record type in stream");
    if (record->kind == DUMP_VERSION)
        TRY(strict_number(&p->version, *version));
    begin_body(record, p);
    return NULL;
}

struct err *dump_parser_has_text(bool *out, struct dump_parser *p)
{
    TRY(skip_props(p));
    *out = p->has_text;
    return NULL;
}

struct err *dump_parser_text(struct str *piece, struct dump_parser *p)
{
    *piece = S("");
    TRY(skip_props(p));
    if (!p->has_text || !p->text_left)
        return NULL;
    TRY(fill(p));
    if (p->ended)
        return ended_early();
    size_t part = p->have - p->at < p->text_left ? p->have - p->at : (size_t)p->text_left;
    *piece = str_make(p->buffer + p->at, part);
    p->at += part;
    p->text_left -= part;
    return NULL;
}

static struct err *read_magic(struct dump_parser *p)
{
    struct str line, magic = S(VERSION_HEADER ":");
    bool more;
    TRY(next_line(&more, &line, p));
    if (!more)
        return ended_early();
    if (!str_starts(line, magic))
        return err_make(E_STREAM_MALFORMED_DATA, "Malformed dumpfile header '%.*s'",
                        STR(str_make(line.p, line.n < MAGIC_MAX ? line.n : MAGIC_MAX)));
    TRY(strict_number(&p->version, until_nul(str_skip(line, magic.n))));
    if (p->version > VERSION_MAX)
        return err_make(E_STREAM_MALFORMED_DATA, "Unsupported dumpfile version: %lld",
                        (long long)p->version);
    return NULL;
}

struct err *dump_parser_open(struct dump_parser **out, struct reader *in)
{
    struct dump_parser *p = mem_zalloc(sizeof *p);
    *p = (struct dump_parser){.in = in, .buffer = mem_alloc(INPUT_BUFFER), .record = arena_new()};
    p->empty = arena_mark(p->record);
    struct err *err = read_magic(p);
    if (err) {
        dump_parser_close(p);
        return err;
    }
    *out = p;
    return NULL;
}

void dump_parser_close(struct dump_parser *p)
{
    if (!p)
        return;
    reader_close(p->in);
    buf_free(&p->line);
    arena_free(p->record);
    free(p->buffer);
    free(p);
}
