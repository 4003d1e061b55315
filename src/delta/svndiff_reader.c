/* SPDX-License-Identifier: Apache-2.0 */
#include "delta/svndiff.h"
#include "delta/svndiff_int.h"
#include <stdlib.h>

/* ---- documents in pieces ---- */

struct svndiff_decoder {
    struct buf pending; /* arrived and not yet given out, from byte `at` */
    size_t at;
    uint64_t taken; /* bytes of the document before that, for messages */
    int version;    /* -1 until the header is there */
    struct svndiff_progress progress;
    struct buf instructions, new_data;
    struct arena *arena;     /* of the window that is out */
    struct arena_mark start; /* the arena without it */
};

struct svndiff_decoder *svndiff_decoder_new(void)
{
    struct svndiff_decoder *d = mem_zalloc(sizeof *d);
    d->version = -1;
    d->arena = arena_new();
    d->start = arena_mark(d->arena);
    return d;
}

void svndiff_decoder_free(struct svndiff_decoder *d)
{
    if (!d)
        return;
    buf_free(&d->pending);
    buf_free(&d->instructions);
    buf_free(&d->new_data);
    arena_free(d->arena);
    free(d);
}

struct err *svndiff_decoder_add(struct svndiff_decoder *d, struct str bytes)
{
    size_t rest = d->pending.n - d->at;
    if (d->at && rest)
        memmove(d->pending.p, d->pending.p + d->at, rest);
    d->pending.n = rest;
    d->at = 0;
    buf_str(&d->pending, bytes);
    return NULL;
}

/* The frame of the next window, sections plain, in place of the one before. */
static struct err *decoder_frame(bool *more, struct frame *frame, struct svndiff_decoder *d)
{
    struct str rest = str_skip(buf_view(&d->pending), d->at);
    size_t start = rest.n;
    *more = false;
    if (d->version < 0) {
        if (rest.n < SVNDIFF_HEADER_SIZE)
            return NULL;
        TRY(svndiff_version(&d->version, rest));
        rest = str_skip(rest, SVNDIFF_HEADER_SIZE);
    }
    struct err *err = frame_take(more, frame, &rest, &d->progress);
    buf_clear(&d->instructions);
    buf_clear(&d->new_data);
    if (!err && *more)
        err = frame_open_instructions(frame, d->version, &d->instructions);
    if (!err && *more)
        err = frame_open_new_data(frame, d->version, &d->new_data);
    if (err)
        return err_wrap(err, 0, "svndiff window at byte %llu is damaged",
                        (unsigned long long)(d->taken + (start - rest.n)));
    d->at += start - rest.n;
    d->taken += start - rest.n;
    return NULL;
}

struct err *svndiff_decoder_next(bool *more, struct delta_window *window, struct svndiff_decoder *d)
{
    struct frame frame;
    uint64_t at = d->taken;
    TRY(decoder_frame(more, &frame, d));
    if (!*more)
        return NULL;
    arena_rewind(d->arena, d->start);
    return err_wrap(frame_list(window, &frame, d->arena), 0,
                    "svndiff window at byte %llu is damaged", (unsigned long long)at);
}

struct err *svndiff_decoder_end(struct svndiff_decoder *d)
{
    struct str rest = str_skip(buf_view(&d->pending), d->at);
    if (d->version < 0 && !str_starts(S("SVN"), rest))
        return err_make(E_SVNDIFF_INVALID_HEADER, "delta does not start with an svndiff header");
    if (d->version < 0 || rest.n)
        return err_make(E_SVNDIFF_UNEXPECTED_END, "svndiff ends inside the %s at byte %llu",
                        d->version < 0 ? "header" : "window", (unsigned long long)d->taken);
    return NULL;
}

/* ---- a reader of the text ---- */

enum { DOCUMENT_CHUNK = 32768 };

struct svndiff_reader {
    struct reader reader; /* first: what callers hold */
    struct reader *document, *source;
    struct svndiff_decoder *decoder;
    bool document_ended;
    struct buf chunk; /* for pieces of the document */

    struct buf view; /* bytes of the source from view_at on */
    uint64_t view_at;

    struct buf text; /* what the newest window made, given out up to text_at */
    size_t text_at;

    uint64_t made, expanded;
};

/* Read the source up to the view's start, keeping what two views share. */
static struct err *view_move(struct svndiff_reader *r, uint64_t to)
{
    uint64_t skip = to - r->view_at; /* views never slide back: frame_take saw to it */
    if (skip < r->view.n) {
        memmove(r->view.p, r->view.p + skip, r->view.n - skip);
        r->view.n -= (size_t)skip;
        r->view_at = to;
        return NULL;
    }
    r->view_at += r->view.n;
    skip -= r->view.n;
    buf_clear(&r->view);
    buf_reserve(&r->view, SVNDIFF_WINDOW_MAX);
    while (skip) {
        size_t got, want = skip < SVNDIFF_WINDOW_MAX ? (size_t)skip : SVNDIFF_WINDOW_MAX;
        TRY(reader_full(r->source, r->view.p, want, &got));
        if (got == 0)
            break;
        r->view_at += got;
        skip -= got;
    }
    return NULL;
}

static struct err *view_load(struct svndiff_reader *r, const struct frame *frame)
{
    if (frame->source_length == 0)
        return NULL;
    if (r->source) {
        TRY(view_move(r, frame->source_offset));
        if (r->view_at == frame->source_offset && r->view.n < frame->source_length) {
            size_t got, want = frame->source_length - r->view.n;
            TRY(reader_full(r->source, buf_grow(&r->view, want), want, &got));
            r->view.n -= want - got;
        }
    }
    if (r->view_at != frame->source_offset || r->view.n < frame->source_length)
        return err_make(E_SVNDIFF_CORRUPT_WINDOW,
                        "svndiff reads source bytes %llu-%llu, the source ends at %llu",
                        (unsigned long long)frame->source_offset,
                        (unsigned long long)frame->source_offset + frame->source_length,
                        (unsigned long long)(r->view_at + r->view.n));
    return NULL;
}

/* The next frame of the document, reading as much of it as that takes; *MORE false at its end. */
static struct err *next_frame(bool *more, struct frame *frame, struct svndiff_reader *r)
{
    for (;;) {
        TRY(decoder_frame(more, frame, r->decoder));
        if (*more)
            return NULL;
        if (r->document_ended)
            return svndiff_decoder_end(r->decoder);
        size_t got;
        TRY(reader_read(r->document, r->chunk.p, DOCUMENT_CHUNK, &got));
        r->document_ended = got == 0;
        TRY(svndiff_decoder_add(r->decoder, str_make(r->chunk.p, got)));
    }
}

/* Make the text of the next window; R->text stays empty at the end of the document. */
static struct err *next_text(struct svndiff_reader *r)
{
    struct frame frame;
    bool more;
    buf_clear(&r->text);
    r->text_at = 0;
    while (r->text.n == 0) {
        TRY(next_frame(&more, &frame, r));
        if (!more)
            break;
        if (r->expanded != UINT64_MAX && frame.target_length > r->expanded - r->made)
            return err_make(E_SVNDIFF_CORRUPT_WINDOW,
                            "svndiff makes more than the expected %llu bytes",
                            (unsigned long long)r->expanded);
        TRY(view_load(r, &frame));
        TRY(frame_run(r->text.p, &frame, str_make(r->view.p, r->view.n)));
        r->text.n = frame.target_length;
        r->made += frame.target_length;
    }
    if (r->text.n == 0 && r->expanded != UINT64_MAX && r->made != r->expanded)
        return err_make(E_SVNDIFF_CORRUPT_WINDOW,
                        "svndiff makes %llu bytes where %llu are expected",
                        (unsigned long long)r->made, (unsigned long long)r->expanded);
    return NULL;
}

static struct err *svndiff_reader_read(struct reader *self, void *to, size_t n, size_t *got)
{
    struct svndiff_reader *r = (struct svndiff_reader *)self;
    *got = 0;
    if (r->text_at == r->text.n)
        TRY(next_text(r));
    size_t left = r->text.n - r->text_at;
    if (n > left)
        n = left;
    if (n)
        memcpy(to, r->text.p + r->text_at, n);
    r->text_at += n;
    *got = n;
    return NULL;
}

static void svndiff_reader_close(struct reader *self)
{
    struct svndiff_reader *r = (struct svndiff_reader *)self;
    reader_close(r->document);
    reader_close(r->source);
    svndiff_decoder_free(r->decoder);
    buf_free(&r->chunk);
    buf_free(&r->view);
    buf_free(&r->text);
    free(r);
}

struct reader *svndiff_reader(struct reader *document, struct reader *source, uint64_t expanded)
{
    struct svndiff_reader *r = mem_zalloc(sizeof *r);
    r->reader = (struct reader){svndiff_reader_read, svndiff_reader_close};
    r->document = document;
    r->source = source;
    r->decoder = svndiff_decoder_new();
    r->expanded = expanded;
    buf_reserve(&r->chunk, DOCUMENT_CHUNK);
    buf_reserve(&r->text, SVNDIFF_WINDOW_MAX + FRAME_SLACK);
    return &r->reader;
}
