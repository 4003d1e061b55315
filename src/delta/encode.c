/* SPDX-License-Identifier: Apache-2.0 */
#include "delta/encode.h"
#include "delta/compress.h"
#include "delta/search.h"
#include "delta/svndiff.h"
#include "delta/svndiff_int.h"
#include <stdlib.h>

void svndiff_put_header(struct buf *out, int version)
{
    buf_str(out, S("SVN"));
    buf_char(out, (char)version);
}

static void put_int(struct buf *out, uint64_t n)
{
    buf_reserve(out, SVNDIFF_INT_MAX);
    out->n += svndiff_int_put((uint8_t *)out->p + out->n, n);
}

static void put_instructions(struct buf *out, const struct delta_window *window)
{
    for (size_t i = 0; i < window->op_count; i++) {
        const struct delta_op *op = &window->ops[i];
        buf_reserve(out, OP_BYTES_MAX);
        uint8_t *p = (uint8_t *)out->p + out->n, *start = p;
        bool is_short = op->length < 0x40;
        *p++ = (uint8_t)(op->kind << 6 | (is_short ? op->length : 0));
        if (!is_short)
            p += svndiff_int_put(p, op->length);
        if (op->kind != DELTA_NEW)
            p += svndiff_int_put(p, op->offset);
        out->n += (size_t)(p - start);
    }
}

static void put_section(struct buf *out, struct str plain, const struct svndiff_params *params)
{
    if (params->version == 0)
        buf_str(out, plain);
    else if (params->version == 1)
        section_pack_zlib(out, plain, params->zlib_level);
    else
        section_pack_lz4(out, plain);
}

void svndiff_put_window(struct buf *out, const struct delta_window *window,
                        const struct svndiff_params *params)
{
    AUTO_BUF(instructions);
    put_instructions(&instructions, window);

    /* The header tells the sections' lengths, so it is written last, into a gap that is then
     * closed. */
    size_t start = out->n, sections = start + FRAME_HEADER_MAX;
    buf_grow(out, FRAME_HEADER_MAX);
    put_section(out, buf_view(&instructions), params);
    size_t new_data = out->n;
    put_section(out, window->new_data, params);
    size_t end = out->n;

    out->n = start;
    put_int(out, window->source_offset);
    put_int(out, window->source_length);
    put_int(out, window->target_length);
    put_int(out, new_data - sections);
    put_int(out, end - new_data);
    memmove(out->p + out->n, out->p + sections, end - sections);
    out->n += end - sections;
}

/* ---- texts in pieces ---- */

struct delta_encoder {
    struct svndiff_params params;
    struct reader *source; /* NULL: none, or read to its end */
    uint64_t source_at;
    struct buf view, target; /* the range of both that is being filled */
    bool header_written;
    struct arena *arena;
};

struct delta_encoder *delta_encoder_new(struct reader *source, const struct svndiff_params *params)
{
    struct delta_encoder *e = mem_zalloc(sizeof *e);
    e->params = *params;
    e->source = source;
    e->arena = arena_new();
    return e;
}

void delta_encoder_free(struct delta_encoder *e)
{
    if (!e)
        return;
    reader_close(e->source);
    buf_free(&e->view);
    buf_free(&e->target);
    arena_free(e->arena);
    free(e);
}

/* The source's part of the next window. Views lie one behind the other; after the source's end they
 * are empty and start there. */
static struct err *view_read(struct delta_encoder *e)
{
    buf_clear(&e->view);
    if (!e->source)
        return NULL;
    size_t got;
    buf_reserve(&e->view, SVNDIFF_WINDOW_MAX);
    TRY(reader_full(e->source, e->view.p, SVNDIFF_WINDOW_MAX, &got));
    e->view.n = got;
    if (got < SVNDIFF_WINDOW_MAX) {
        reader_close(e->source);
        e->source = NULL;
    }
    return NULL;
}

static void put_header_once(struct buf *out, struct delta_encoder *e)
{
    if (!e->header_written)
        svndiff_put_header(out, e->params.version);
    e->header_written = true;
}

static struct err *encode_window(struct buf *out, struct delta_encoder *e, struct str target)
{
    put_header_once(out, e);
    TRY(view_read(e));
    struct arena_mark mark = arena_mark(e->arena);
    struct delta_window window;
    delta_search(&window, e->source_at, buf_view(&e->view), target, e->arena);
    svndiff_put_window(out, &window, &e->params);
    arena_rewind(e->arena, mark);
    e->source_at += e->view.n;
    return NULL;
}

struct err *delta_encoder_add(struct buf *out, struct delta_encoder *e, struct str target)
{
    while (target.n) {
        if (e->target.n == 0 && target.n >= SVNDIFF_WINDOW_MAX) {
            TRY(encode_window(out, e, str_make(target.p, SVNDIFF_WINDOW_MAX)));
            target = str_skip(target, SVNDIFF_WINDOW_MAX);
            continue;
        }
        size_t room = SVNDIFF_WINDOW_MAX - e->target.n;
        size_t n = target.n < room ? target.n : room;
        buf_add(&e->target, target.p, n);
        target = str_skip(target, n);
        if (e->target.n == SVNDIFF_WINDOW_MAX) {
            TRY(encode_window(out, e, buf_view(&e->target)));
            buf_clear(&e->target);
        }
    }
    return NULL;
}

struct err *delta_encoder_end(struct buf *out, struct delta_encoder *e)
{
    put_header_once(out, e);
    if (e->target.n)
        TRY(encode_window(out, e, buf_view(&e->target)));
    buf_clear(&e->target);
    return NULL;
}

/* ---- texts in memory ---- */

/* The next range of *REST that a window covers. */
static struct str take_range(struct str *rest)
{
    struct str range = *rest;
    if (range.n > SVNDIFF_WINDOW_MAX)
        range.n = SVNDIFF_WINDOW_MAX;
    *rest = str_skip(*rest, range.n);
    return range;
}

void delta_encode(struct buf *out, struct str source, struct str target,
                  const struct svndiff_params *params)
{
    AUTO_ARENA(arena);
    struct arena_mark mark = arena_mark(arena);
    svndiff_put_header(out, params->version);
    for (uint64_t at = 0; target.n;) {
        struct delta_window window;
        struct str view = take_range(&source);
        delta_search(&window, at, view, take_range(&target), arena);
        svndiff_put_window(out, &window, params);
        arena_rewind(arena, mark);
        at += view.n;
    }
}
