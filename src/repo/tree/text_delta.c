/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/tree/text_delta.h"

#include "delta/encode.h"
#include "delta/svndiff.h"
#include <stdlib.h>

enum { PIECE = 64 << 10 };

struct text_delta {
    struct arena *arena;
    const struct blob *wire; /* given as it is */
    struct reader *stored;   /* copied */
    struct reader *text;     /* encoded */
    struct delta_encoder *encoder;
    struct buf piece;
    char *space;
};

/* Is the stored form of TO a delta against FROM that the receiver understands? Then its reader, its
 * first bytes already in PIECE. */
static struct err *try_stored(bool *taken, struct text_delta *d, struct fsfs *fs,
                              const struct rep *from, const struct rep *to, int version)
{
    struct rep_header header;
    size_t got = 0;
    int stored = INT32_MAX;
    *taken = false;
    TRY(rep_open_stored(&d->stored, &header, fs, to));
    if (header.delta && header.base_rev == from->rev && header.base_item == from->item) {
        TRY(reader_full(d->stored, buf_grow(&d->piece, SVNDIFF_HEADER_SIZE), SVNDIFF_HEADER_SIZE,
                        &got));
        TRY(svndiff_version(&stored, str_make(d->piece.p, got)));
    }
    *taken = stored <= version;
    if (!*taken) {
        reader_close(d->stored);
        d->stored = NULL;
        buf_clear(&d->piece);
    }
    return NULL;
}

static void begin_encoding(struct text_delta *d, struct reader *from, struct reader *to,
                           int version, int level)
{
    d->text = to;
    d->encoder = delta_encoder_new(from, &(struct svndiff_params){version, level});
}

static struct err *open_texts(struct text_delta *d, struct fsfs *fs, const struct rep *from,
                              const struct rep *to, int version, int level)
{
    struct reader *source = NULL, *target = NULL;
    if (from)
        TRY(rep_open(&source, fs, from));
    struct err *err = NULL;
    if (to)
        err = rep_open(&target, fs, to);
    else
        target = reader_of_str(S(""));
    if (err) {
        reader_close(source);
        return err;
    }
    begin_encoding(d, source, target, version, level);
    return NULL;
}

static struct err *choose(struct text_delta *d, struct fsfs *fs, const struct rep *from,
                          const struct rep *to, int max_version, int level)
{
    int version = level == 0 ? 0 : max_version;
    if (!from && to) {
        TRY(rep_wire(&d->wire, fs, to, max_version, level, d->arena));
        if (d->wire)
            return NULL;
    }
    if (from && to) {
        bool taken;
        TRY(try_stored(&taken, d, fs, from, to, version));
        if (taken)
            return NULL;
    }
    return open_texts(d, fs, from, to, version, level);
}

static struct text_delta *new_delta(void)
{
    struct text_delta *d = mem_zalloc(sizeof *d);
    d->arena = arena_new();
    d->space = arena_alloc(d->arena, PIECE);
    return d;
}

struct err *text_delta_open(struct text_delta **out, struct fsfs *fs, const struct rep *from,
                            const struct rep *to, int max_version, int level)
{
    struct text_delta *d = new_delta();
    struct err *err = choose(d, fs, from, to, max_version, level);
    if (err) {
        text_delta_close(d);
        return err;
    }
    *out = d;
    return NULL;
}

struct text_delta *text_delta_of_readers(struct reader *from, struct reader *to, int max_version,
                                         int level)
{
    struct text_delta *d = new_delta();
    begin_encoding(d, from, to, level == 0 ? 0 : max_version, level);
    return d;
}

static struct err *encode_some(struct text_delta *d)
{
    buf_clear(&d->piece);
    while (d->piece.n == 0 && d->encoder) {
        size_t got;
        TRY(reader_read(d->text, d->space, PIECE, &got));
        if (got) {
            TRY(delta_encoder_add(&d->piece, d->encoder, str_make(d->space, got)));
            continue;
        }
        TRY(delta_encoder_end(&d->piece, d->encoder));
        delta_encoder_free(d->encoder);
        d->encoder = NULL;
    }
    return NULL;
}

struct err *text_delta_next(struct str *piece, struct text_delta *d)
{
    size_t got;
    if (d->wire) {
        *piece = blob_str(d->wire);
        d->wire = NULL;
        return NULL;
    }
    if (d->stored && d->piece.n) { /* the header that try_stored has looked at */
        *piece = arena_str(d->arena, buf_view(&d->piece));
        buf_clear(&d->piece);
        return NULL;
    }
    if (d->stored) {
        TRY(reader_read(d->stored, d->space, PIECE, &got));
        *piece = str_make(d->space, got);
        return NULL;
    }
    TRY(encode_some(d));
    *piece = buf_view(&d->piece);
    return NULL;
}

void text_delta_close(struct text_delta *d)
{
    if (!d)
        return;
    reader_close(d->stored);
    reader_close(d->text);
    delta_encoder_free(d->encoder);
    buf_free(&d->piece);
    arena_free(d->arena);
    free(d);
}
