/* SPDX-License-Identifier: Apache-2.0 */
/* svndiff documents: the three decoders must agree on every one of them, and what they accept must
 * survive being encoded again in each version.
 *
 *   [n: 1 byte][n bytes of source; or, for n = 255, none: the source is BIG_SOURCE bytes of
 * 'a'..'p'] [document] */
#include "delta/encode.h"
#include "delta/svndiff.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BIG_SOURCE = 150000, TEXT_LIMIT = 16 << 20 };

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static bool is_ok(struct err *err)
{
    bool ok = !err;
    err_free(err);
    return ok;
}

/* Through the list of instructions; also encodes each window again into AGAIN[version]. */
static struct err *by_decoder(struct buf *text, struct buf again[3], struct str document,
                              struct str source, size_t step)
{
    struct svndiff_decoder *d = svndiff_decoder_new();
    struct err *err = NULL;
    while (!err && document.n) {
        bool more = true;
        size_t n = document.n < step ? document.n : step;
        err = svndiff_decoder_add(d, str_make(document.p, n));
        document = str_skip(document, n);
        while (!err && more) {
            struct delta_window w;
            err = svndiff_decoder_next(&more, &w, d);
            if (err || !more)
                break;
            if (w.source_length &&
                (w.source_offset > source.n || w.source_length > source.n - w.source_offset)) {
                err = err_make(E_SVNDIFF_CORRUPT_WINDOW, "view outside the source");
                break;
            }
            size_t view_at = w.source_length ? (size_t)w.source_offset : 0;
            delta_window_apply(buf_grow(text, w.target_length), &w,
                               str_make(source.p + view_at, w.source_length));
            for (int version = 0; again && version <= 2; version++)
                svndiff_put_window(&again[version], &w, &(struct svndiff_params){version, 1});
        }
        if (text->n > TEXT_LIMIT)
            break;
    }
    if (!err)
        err = svndiff_decoder_end(d);
    svndiff_decoder_free(d);
    return err;
}

static struct err *by_reader(struct buf *text, struct str document, struct str source,
                             uint64_t expanded)
{
    struct reader *r = svndiff_reader(reader_of_str(document), reader_of_str(source), expanded);
    struct err *err = reader_all(text, r, 2 * TEXT_LIMIT);
    reader_close(r);
    return err;
}

static struct str source_take(struct str *input)
{
    static char big[BIG_SOURCE];
    if (!big[0])
        for (size_t i = 0; i < BIG_SOURCE; i++)
            big[i] = (char)('a' + (i * i / 7) % 16);
    size_t n = input->n ? (uint8_t)input->p[0] : 0;
    *input = str_skip(*input, 1);
    if (n == 255)
        return str_make(big, BIG_SOURCE);
    struct str source = str_make(input->p, n < input->n ? n : input->n);
    *input = str_skip(*input, n);
    return source;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str document = str_make((const char *)data, size);
    struct str source = source_take(&document);
    AUTO_BUF(text);
    AUTO_BUF(in_pieces);
    AUTO_BUF(read);
    AUTO_BUF(applied);
    struct buf again[3] = {{0}, {0}, {0}};
    for (int version = 0; version <= 2; version++)
        svndiff_put_header(&again[version], version);
    bool ok = is_ok(by_decoder(&text, again, document, source, SIZE_MAX));
    if (text.n <= TEXT_LIMIT) {
        must(is_ok(by_decoder(&in_pieces, NULL, document, source, 7)) == ok, "pieces differ");
        must(is_ok(by_reader(&read, document, source, ok ? text.n : UINT64_MAX)) == ok,
             "the reader differs");
        if (document.n >= SVNDIFF_HEADER_SIZE)
            must(is_ok(svndiff_apply(&applied, document, source, text.n)) == ok, "apply differs");
        if (ok) {
            must(str_eq(buf_view(&in_pieces), buf_view(&text)), "pieces make another text");
            must(str_eq(buf_view(&read), buf_view(&text)), "the reader makes another text");
            must(str_eq(buf_view(&applied), buf_view(&text)), "apply makes another text");
        }
    }
    for (int version = 0; version <= 2; version++) {
        buf_clear(&applied);
        if (ok && text.n <= TEXT_LIMIT)
            must(is_ok(svndiff_apply(&applied, buf_view(&again[version]), source, text.n)) &&
                     str_eq(buf_view(&applied), buf_view(&text)),
                 "encoded again it is another text");
        buf_free(&again[version]);
    }
    return 0;
}
