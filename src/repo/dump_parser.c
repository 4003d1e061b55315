/* SPDX-License-Identifier: Apache-2.0 */
/* dump_parser.c - dump streams, pulled record by record (docs/formats/dump.md).
 *
 *   header line LF ... LF  [property block] [text] LF*
 *
 * Versions 1 to 3. A record's headers and properties are held in memory; its text is given out in
 * pieces. */
#include "base/num.h"
#include "fsfs/rep.h"
#include "repo/dump.h"
#include <stdlib.h>

enum {
    INPUT_BUFFER = 256 << 10,
    LINE_MAX_BYTES = 1 << 20, /* of a header line: a path may be long */
    HEADERS_MAX = 256,        /* of one record: there are about twenty different ones */
    MAGIC_MAX = 80,
    PROPS_STEP = 1 << 20, /* memory for properties follows their bytes in steps of this */
    VERSION_MAX = 3,
};

struct dump_parser {
    struct reader *in;
    char *buffer;
    size_t at, have;
    bool ended;           /* no more input */
    bool begun;           /* the version record has been given */
    struct arena *record; /* memory of the present record */
    struct arena_mark empty;
    struct buf line;
    uint64_t text_left, surplus;
    bool overfull; /* the parts of the present record are longer than it says itself to be */
    uint64_t version;
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

static struct err *ended_early(const char *where)
{
    return err_make(E_INCOMPLETE_DATA, "Premature end of content data in dumpstream%s", where);
}

/* The next line without its LF, valid until the next line; *MORE false at the end of input. */
static struct err *next_line(bool *more, struct str *line, struct dump_parser *p)
{
    buf_clear(&p->line);
    for (;;) {
        TRY(fill(p));
        if (p->ended && p->line.n)
            return ended_early(": inside a header");
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
            return ended_early(": inside a property block");
        size_t part = p->have - p->at < n ? p->have - p->at : (size_t)n;
        if (part > PROPS_STEP)
            part = PROPS_STEP;
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
            return ended_early("");
        size_t part = p->have - p->at < n ? p->have - p->at : (size_t)n;
        p->at += part;
        n -= part;
    }
    return NULL;
}

/* ---- headers ---- */

const struct str *dump_record_get(const struct dump_record *record, const char *name)
{
    for (size_t i = 0; i < record->header_count; i++)
        if (str_eq(record->headers[i].name, str_of(name)))
            return &record->headers[i].value;
    return NULL;
}

static struct err *split_header(struct dump_header *out, struct str line, struct arena *arena)
{
    size_t colon = str_find(line, ':');
    if (colon == SIZE_MAX || colon + 1 >= line.n || line.p[colon + 1] != ' ')
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Dump stream contains a malformed header (with no ':') at '%.*s'",
                        STR(str_make(line.p, line.n < 20 ? line.n : 20)));
    struct str kept = arena_str(arena, line);
    out->name = str_make(kept.p, colon);
    out->value = str_skip(kept, colon + 2);
    return NULL;
}

/* Skip empty lines, then read header lines up to the next empty one. */
static struct err *read_headers(bool *more, struct dump_record *record, struct dump_parser *p)
{
    struct dump_header *headers = arena_array(p->record, HEADERS_MAX, sizeof *headers);
    struct str line;
    size_t n = 0;
    do
        TRY(next_line(more, &line, p));
    while (*more && line.n == 0);
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

static struct err *get_length(uint64_t *out, bool *there, const struct dump_record *record,
                              const char *name)
{
    const struct str *value = dump_record_get(record, name);
    *there = value;
    *out = 0;
    if (value && (!num_u64(out, *value) || *out > INT64_MAX))
        return err_make(E_STREAM_MALFORMED_DATA, "Dump stream has a bad %s: '%.*s'", name,
                        STR(*value));
    return NULL;
}

/* ---- properties ---- */

static struct err *parse_props(struct dump_record *record, struct dump_parser *p,
                               const struct buf *block)
{
    struct prop *list;
    struct str *deleted, text = arena_str(p->record, buf_view(block));
    size_t n, deleted_n, pos = 0;
    struct err *err =
        hashdump_parse(&list, &n, &deleted, &deleted_n, text, &pos, S("PROPS-END"), p->record);
    if (err) {
        struct str why = arena_str(p->record, str_of(err->text));
        err_free(err);
        return err_make(E_STREAM_MALFORMED_DATA, "Dump stream has a malformed property block: %.*s",
                        STR(why));
    }
    struct prop *all = arena_array(p->record, n + deleted_n + 1, sizeof *all);
    if (n)
        memcpy(all, list, n * sizeof *all);
    for (size_t i = 0; i < deleted_n; i++)
        all[n + i] = (struct prop){deleted[i], {0}};
    record->has_props = true;
    record->props = all;
    record->prop_count = n + deleted_n;
    return NULL;
}

static struct err *read_sized_props(struct dump_record *record, struct dump_parser *p,
                                    uint64_t length)
{
    AUTO_BUF(block);
    if (length > PROPS_MAX)
        return err_make(E_STREAM_MALFORMED_DATA, "Dump stream has a property block of %llu bytes",
                        (unsigned long long)length);
    TRY(take_bytes(&block, p, length));
    return parse_props(record, p, &block);
}

/* Version 1 does not say how long the block is: it ends where PROPS-END stands. */
static struct err *read_unsized_props(uint64_t *used, struct dump_record *record,
                                      struct dump_parser *p)
{
    AUTO_BUF(block);
    for (;;) {
        struct str line;
        bool more;
        uint64_t length = 0;
        TRY(next_line(&more, &line, p));
        if (!more)
            return ended_early(": inside a property block");
        buf_str(&block, line);
        buf_char(&block, '\n');
        if (str_eq(line, S("PROPS-END")))
            break;
        if (line.n > 2 && !num_u64(&length, str_skip(line, 2)))
            return err_make(E_STREAM_MALFORMED_DATA,
                            "Dump stream has a malformed property block at '%.*s'", STR(line));
        if (length > PROPS_MAX || block.n > PROPS_MAX)
            return err_make(E_STREAM_MALFORMED_DATA,
                            "Dump stream has a property block that is too long");
        TRY(take_bytes(&block, p, length + 1));
    }
    *used = block.n;
    return parse_props(record, p, &block);
}

/* ---- records ---- */

static struct err *read_body(struct dump_record *record, struct dump_parser *p)
{
    uint64_t content, props, text;
    bool has_content, has_props, has_text;
    TRY(get_length(&content, &has_content, record, "Content-length"));
    TRY(get_length(&props, &has_props, record, "Prop-content-length"));
    TRY(get_length(&text, &has_text, record, "Text-content-length"));
    if (has_props)
        TRY(read_sized_props(record, p, props));
    if (has_content && !has_props && !has_text && p->version == 1) {
        TRY(read_unsized_props(&props, record, p));
        if (props > content)
            return err_make(E_STREAM_MALFORMED_DATA,
                            "Dump stream has properties longer than their record");
        text = content - props;
        has_text = record->kind == DUMP_NODE && text > 0;
    }
    p->overfull = has_content && content < props + text;
    p->surplus = has_content && !p->overfull ? content - props - text : 0;
    record->has_text = has_text;
    if (has_text)
        p->text_left = record->text_length = text;
    else
        p->surplus += text;
    return NULL;
}

static struct err *first_record(struct dump_record *record, struct dump_parser *p)
{
    struct dump_header *header = ARENA_NEW(p->record, struct dump_header);
    header->name = S("SVN-fs-dump-format-version");
    header->value = arena_printf(p->record, "%llu", (unsigned long long)p->version);
    *record = (struct dump_record){.kind = DUMP_VERSION, .headers = header, .header_count = 1};
    p->begun = true;
    return NULL;
}

struct err *dump_parser_next(bool *more, struct dump_record *record, struct dump_parser *p)
{
    TRY(skip_bytes(p, p->text_left + p->surplus));
    p->text_left = p->surplus = 0;
    if (p->overfull)
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Sum of subblock sizes larger than total block length");
    arena_rewind(p->record, p->empty);
    *record = (struct dump_record){0};
    *more = true;
    if (!p->begun)
        return first_record(record, p);
    TRY(read_headers(more, record, p));
    if (!*more)
        return NULL;
    if (dump_record_get(record, "Revision-number"))
        record->kind = DUMP_REVISION;
    else if (dump_record_get(record, "Node-path"))
        record->kind = DUMP_NODE;
    else if (dump_record_get(record, "UUID"))
        record->kind = DUMP_UUID;
    else if (dump_record_get(record, "SVN-fs-dump-format-version"))
        record->kind = DUMP_VERSION; /* streams may stand one after another */
    else
        return err_make(E_STREAM_MALFORMED_DATA, "Unrecognized record type in stream");
    return read_body(record, p);
}

struct err *dump_parser_text(struct str *piece, struct dump_parser *p)
{
    *piece = S("");
    if (!p->text_left)
        return NULL;
    TRY(fill(p));
    if (p->ended)
        return ended_early(": inside a text");
    size_t part = p->have - p->at < p->text_left ? p->have - p->at : (size_t)p->text_left;
    *piece = str_make(p->buffer + p->at, part);
    p->at += part;
    p->text_left -= part;
    return NULL;
}

static struct err *read_magic(struct dump_parser *p)
{
    struct str line, magic = S("SVN-fs-dump-format-version: ");
    bool more;
    TRY(next_line(&more, &line, p));
    if (!more)
        return err_make(E_INCOMPLETE_DATA, "Premature end of content data in dumpstream");
    if (line.n > MAGIC_MAX || !str_starts(line, magic) ||
        !num_u64(&p->version, str_skip(line, magic.n)))
        return err_make(E_STREAM_MALFORMED_DATA, "Malformed dumpfile header '%.*s'",
                        STR(str_make(line.p, line.n < MAGIC_MAX ? line.n : MAGIC_MAX)));
    if (p->version < 1 || p->version > VERSION_MAX)
        return err_make(E_STREAM_MALFORMED_DATA, "Unsupported dumpfile version: %llu",
                        (unsigned long long)p->version);
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
