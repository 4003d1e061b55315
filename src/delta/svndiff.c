/* SPDX-License-Identifier: Apache-2.0 */
#include "delta/svndiff.h"
#include "base/num.h"
#include "delta/compress.h"
#include "delta/svndiff_int.h"

/* ---- integers ---- */

size_t svndiff_int_put(uint8_t *to, uint64_t n)
{
    size_t bytes = 1;
    for (uint64_t rest = n >> 7; rest; rest >>= 7)
        bytes++;
    for (size_t i = bytes; i-- > 0; n >>= 7)
        to[i] = (uint8_t)((n & 0x7f) | (i + 1 < bytes ? 0x80 : 0));
    return bytes;
}

bool svndiff_int_take(uint64_t *out, struct str *from)
{
    uint64_t n = 0;
    size_t most = from->n < SVNDIFF_INT_MAX ? from->n : SVNDIFF_INT_MAX;
    for (size_t i = 0; i < most; i++) {
        uint8_t c = (uint8_t)from->p[i];
        if (n >> (64 - 7))
            return false;
        n = n << 7 | (c & 0x7f);
        if (!(c & 0x80)) {
            *out = n;
            *from = str_skip(*from, i + 1);
            return true;
        }
    }
    return false;
}

/* ---- a window's frame ---- */

struct err *svndiff_version(int *version, struct str document)
{
    if (document.n < SVNDIFF_HEADER_SIZE || memcmp(document.p, "SVN", 3) != 0)
        return err_make(E_SVNDIFF_INVALID_HEADER, "delta does not start with an svndiff header");
    uint8_t v = (uint8_t)document.p[3];
    if (v > 2)
        return err_make(E_SVNDIFF_INVALID_HEADER, "svndiff version %u is not known", v);
    *version = v;
    return NULL;
}

static struct err *view_check(const struct frame *frame, struct svndiff_progress *progress)
{
    if (frame->source_length == 0)
        return NULL;
    uint64_t end;
    if (!add_u64(&end, frame->source_offset, frame->source_length))
        return err_make(E_SVNDIFF_CORRUPT_WINDOW, "source view at %llu ends nowhere",
                        (unsigned long long)frame->source_offset);
    if (frame->source_offset < progress->source_offset || end < progress->source_end)
        return err_make(E_SVNDIFF_BACKWARD_VIEW,
                        "source view %llu-%llu lies before the one of the window before, %llu-%llu",
                        (unsigned long long)frame->source_offset, (unsigned long long)end,
                        (unsigned long long)progress->source_offset,
                        (unsigned long long)progress->source_end);
    *progress = (struct svndiff_progress){frame->source_offset, end};
    return NULL;
}

struct err *frame_take(bool *whole, struct frame *frame, struct str *from,
                       struct svndiff_progress *progress)
{
    uint64_t n[5]; /* source offset, source, target, instructions, new data */
    static const uint64_t most[5] = {UINT64_MAX, SVNDIFF_WINDOW_MAX, SVNDIFF_WINDOW_MAX,
                                     INSTRUCTIONS_MAX, SVNDIFF_WINDOW_MAX + SVNDIFF_INT_MAX};
    static const char *const what[5] = {"source offset", "source view", "target view",
                                        "instruction section", "new data section"};
    struct str rest = *from;
    *whole = false;
    for (int i = 0; i < 5; i++) {
        if (!svndiff_int_take(&n[i], &rest)) {
            if (rest.n < SVNDIFF_INT_MAX)
                return NULL;
            return err_make(E_SVNDIFF_CORRUPT_WINDOW, "window's %s is not a number", what[i]);
        }
        if (n[i] > most[i])
            return err_make(E_SVNDIFF_CORRUPT_WINDOW,
                            "window's %s of %llu bytes is longer than %llu", what[i],
                            (unsigned long long)n[i], (unsigned long long)most[i]);
    }
    if (rest.n < n[3] + n[4])
        return NULL;
    frame->source_offset = n[0];
    frame->source_length = (uint32_t)n[1];
    frame->target_length = (uint32_t)n[2];
    frame->instructions = str_make(rest.p, (size_t)n[3]);
    frame->new_data = str_make(rest.p + n[3], (size_t)n[4]);
    TRY(view_check(frame, progress));
    *from = str_skip(rest, (size_t)(n[3] + n[4]));
    *whole = true;
    return NULL;
}

/* Make *SECTION plain: in ROOM (appended) where it is compressed. Raw sections stay where they are.
 */
static struct err *section_open(struct str *section, int version, struct buf *room, size_t limit)
{
    if (version == 0)
        return NULL;
    uint64_t plain;
    struct str rest = *section;
    if (svndiff_int_take(&plain, &rest) && plain == rest.n && plain <= limit) {
        *section = rest;
        return NULL;
    }
    size_t start = room->n;
    TRY(version == 1 ? section_unpack_zlib(room, *section, limit)
                     : section_unpack_lz4(room, *section, limit));
    *section = str_make(room->p + start, room->n - start);
    return NULL;
}

struct err *frame_open_instructions(struct frame *frame, int version, struct buf *room)
{
    return section_open(&frame->instructions, version, room,
                        (size_t)frame->target_length * OP_BYTES_MAX);
}

struct err *frame_open_new_data(struct frame *frame, int version, struct buf *room)
{
    return section_open(&frame->new_data, version, room, frame->target_length);
}

/* ---- instructions ---- */

/* An integer below 2^32; most take one to three bytes. */
static inline bool take_u32(uint32_t *out, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;
    uint64_t n = 0;
    while (p < end && p - *at < SVNDIFF_INT_MAX) {
        n = n << 7 | (*p & 0x7f);
        if (!(*p++ & 0x80)) {
            *at = p;
            *out = (uint32_t)n;
            return n <= UINT32_MAX;
        }
        if (n > UINT32_MAX)
            return false;
    }
    return false;
}

static inline bool take_op(struct delta_op *op, const uint8_t **at, const uint8_t *end)
{
    uint8_t c = *(*at)++;
    op->kind = (enum delta_op_kind)(c >> 6);
    op->length = c & 0x3f;
    op->offset = 0;
    if (op->length == 0 && !take_u32(&op->length, at, end))
        return false;
    if (op->kind == DELTA_SOURCE || op->kind == DELTA_TARGET)
        return take_u32(&op->offset, at, end);
    return op->kind == DELTA_NEW;
}

bool frame_is_all_new(const struct frame *frame)
{
    const uint8_t *at = (const uint8_t *)frame->instructions.p, *end = at + frame->instructions.n;
    struct delta_op op;
    return at < end && take_op(&op, &at, end) && at == end && op.kind == DELTA_NEW &&
           op.length > 0 && op.length == frame->target_length;
}

/* What an instruction may refer to at a place in its window. */
struct op_limits {
    uint32_t source_length;
    uint32_t target_at, target_left;
    size_t new_left;
};

static inline bool op_fits(const struct delta_op *op, const struct op_limits *l)
{
    if (op->length == 0 || op->length > l->target_left)
        return false;
    switch (op->kind) {
    case DELTA_SOURCE:
        return op->length <= l->source_length && op->offset <= l->source_length - op->length;
    case DELTA_TARGET:
        return op->offset < l->target_at;
    case DELTA_NEW:
        return op->length <= l->new_left;
    }
    return false;
}

static struct err *bad_op(uint32_t target_at)
{
    return err_make(E_SVNDIFF_INVALID_OPS,
                    "instruction for byte %u of the target view is cut short or out of bounds",
                    target_at);
}

static struct err *bad_end(uint32_t target_left, size_t new_left)
{
    if (target_left)
        return err_make(E_SVNDIFF_INVALID_OPS,
                        "instructions leave %u bytes of the target view open", target_left);
    return err_make(E_SVNDIFF_INVALID_OPS, "instructions leave %zu bytes of new data unused",
                    new_left);
}

/* ---- copying ---- */

/* LENGTH bytes to TO of which the first lie DISTANCE bytes before it: where the two overlap, the
 * bytes between repeat. Each round copies all that is there already, so that a run doubles. */
static void copy_repeat(char *to, size_t distance, size_t length)
{
    const char *from = to - distance;
    if (distance == 1) {
        memset(to, *from, length);
        return;
    }
    while (length > distance) {
        memcpy(to, from, distance);
        to += distance;
        length -= distance;
        distance *= 2;
    }
    memcpy(to, from, length);
}

/* LENGTH bytes where FRAME_SLACK bytes may be written, and FROM_LEFT read. */
static inline void copy_short(char *to, const char *from, size_t length, size_t from_left)
{
    if (length <= FRAME_SLACK && from_left >= FRAME_SLACK)
        memcpy(to, from, FRAME_SLACK);
    else
        memcpy(to, from, length);
}

struct err *frame_run(char *target, const struct frame *frame, struct str source)
{
    const uint8_t *at = (const uint8_t *)frame->instructions.p, *end = at + frame->instructions.n;
    const char *new_data = frame->new_data.p;
    struct op_limits l = {frame->source_length, 0, frame->target_length, frame->new_data.n};
    while (at < end) {
        struct delta_op op;
        if (!take_op(&op, &at, end) || !op_fits(&op, &l))
            return bad_op(l.target_at);
        char *to = target + l.target_at;
        switch (op.kind) {
        case DELTA_SOURCE:
            copy_short(to, source.p + op.offset, op.length, source.n - op.offset);
            break;
        case DELTA_TARGET:
            copy_repeat(to, l.target_at - op.offset, op.length);
            break;
        case DELTA_NEW:
            copy_short(to, new_data, op.length, l.new_left);
            new_data += op.length;
            l.new_left -= op.length;
            break;
        }
        l.target_at += op.length;
        l.target_left -= op.length;
    }
    return l.target_left || l.new_left ? bad_end(l.target_left, l.new_left) : NULL;
}

void delta_window_apply(char *target, const struct delta_window *window, struct str source)
{
    const char *new_data = window->new_data.p;
    char *to = target;
    for (const struct delta_op *op = window->ops, *end = op + window->op_count; op < end; op++) {
        if (op->kind == DELTA_SOURCE)
            memcpy(to, source.p + op->offset, op->length);
        else if (op->kind == DELTA_NEW)
            memcpy(to, new_data + op->offset, op->length);
        else
            copy_repeat(to, (size_t)(to - (target + op->offset)), op->length);
        to += op->length;
    }
}

/* ---- one window with its list of instructions ---- */

/* Check the instructions of an opened frame against its views and count them; fill OPS unless NULL.
 */
static struct err *ops_list(size_t *count, struct delta_op *ops, const struct frame *frame)
{
    const uint8_t *at = (const uint8_t *)frame->instructions.p, *end = at + frame->instructions.n;
    struct op_limits l = {frame->source_length, 0, frame->target_length, frame->new_data.n};
    size_t n = 0;
    while (at < end) {
        struct delta_op op;
        if (!take_op(&op, &at, end) || !op_fits(&op, &l))
            return bad_op(l.target_at);
        if (op.kind == DELTA_NEW) {
            op.offset = (uint32_t)(frame->new_data.n - l.new_left);
            l.new_left -= op.length;
        }
        l.target_at += op.length;
        l.target_left -= op.length;
        if (ops)
            ops[n] = op;
        n++;
    }
    *count = n;
    return l.target_left || l.new_left ? bad_end(l.target_left, l.new_left) : NULL;
}

struct err *frame_list(struct delta_window *out, const struct frame *frame, struct arena *arena)
{
    size_t n;
    TRY(ops_list(&n, NULL, frame));
    *out = (struct delta_window){.source_offset = frame->source_offset,
                                 .source_length = frame->source_length,
                                 .target_length = frame->target_length,
                                 .ops = arena_array(arena, n, sizeof(struct delta_op)),
                                 .new_data = frame->new_data};
    return ops_list(&out->op_count, out->ops, frame);
}

struct err *svndiff_window(struct delta_window *out, struct str document, size_t *pos, int version,
                           struct svndiff_progress *progress, struct arena *arena)
{
    AUTO_BUF(instructions);
    AUTO_BUF(new_data);
    struct frame frame;
    bool whole;
    struct str rest = str_skip(document, *pos);
    TRY(frame_take(&whole, &frame, &rest, progress));
    if (!whole)
        return err_make(E_SVNDIFF_UNEXPECTED_END, "svndiff ends inside the window at byte %zu",
                        *pos);
    TRY(frame_open_instructions(&frame, version, &instructions));
    TRY(frame_open_new_data(&frame, version, &new_data));
    if (new_data.n)
        frame.new_data = arena_str(arena, buf_view(&new_data));
    TRY(frame_list(out, &frame, arena));
    *pos = document.n - rest.n;
    return NULL;
}

/* ---- whole documents ---- */

/* How long the text of the windows in REST is and how far they read the source: before a byte of it
 * is allocated. Costs a look at each window's first bytes. */
static struct err *document_measure(uint64_t *length, struct str rest, uint64_t source_length)
{
    struct svndiff_progress progress = {0};
    uint64_t total = 0;
    size_t start = rest.n;
    while (rest.n) {
        struct frame frame;
        bool whole;
        size_t at = SVNDIFF_HEADER_SIZE + start - rest.n;
        TRY(frame_take(&whole, &frame, &rest, &progress));
        if (!whole)
            return err_make(E_SVNDIFF_UNEXPECTED_END, "svndiff ends inside the window at byte %zu",
                            at);
        if (progress.source_end > source_length)
            return err_make(E_SVNDIFF_CORRUPT_WINDOW,
                            "svndiff window at byte %zu reads to byte %llu of a source of %llu", at,
                            (unsigned long long)progress.source_end,
                            (unsigned long long)source_length);
        total += frame.target_length; /* < 2^17 for each 5 bytes: cannot overflow */
    }
    *length = total;
    return NULL;
}

struct err *svndiff_target_size(uint64_t *out, struct str document)
{
    int version;
    TRY(svndiff_version(&version, document));
    return document_measure(out, str_skip(document, SVNDIFF_HEADER_SIZE), UINT64_MAX);
}

/* Append what FRAME makes of its view of SOURCE. OUT has the room, slack included. */
static struct err *frame_append(struct buf *out, struct frame *frame, int version,
                                struct str source, struct buf *instructions, struct buf *new_data)
{
    buf_clear(instructions);
    TRY(frame_open_instructions(frame, version, instructions));
    if (frame_is_all_new(frame)) {
        size_t start = out->n;
        TRY(frame_open_new_data(frame, version, out));
        if (frame->new_data.n < frame->target_length)
            return bad_op(0);
        if (frame->new_data.n > frame->target_length)
            return bad_end(0, frame->new_data.n - frame->target_length);
        if (out->n == start)
            buf_str(out, frame->new_data);
        return NULL;
    }
    buf_clear(new_data);
    TRY(frame_open_new_data(frame, version, new_data));
    struct str view = {NULL, 0};
    if (frame->source_length)
        view = str_make(source.p + frame->source_offset, frame->source_length);
    TRY(frame_run(out->p + out->n, frame, view));
    out->n += frame->target_length;
    return NULL;
}

struct err *svndiff_apply(struct buf *out, struct str document, struct str source,
                          uint64_t expanded)
{
    AUTO_BUF(instructions);
    AUTO_BUF(new_data);
    int version;
    uint64_t length;
    TRY(svndiff_version(&version, document));
    struct str rest = str_skip(document, SVNDIFF_HEADER_SIZE);
    TRY(document_measure(&length, rest, source.n));
    if (length != expanded)
        return err_make(E_SVNDIFF_CORRUPT_WINDOW,
                        "svndiff makes %llu bytes where %llu are expected",
                        (unsigned long long)length, (unsigned long long)expanded);
    size_t start = out->n;
    buf_reserve(out, (size_t)length + FRAME_SLACK);
    struct svndiff_progress progress = {0};
    while (rest.n) {
        struct frame frame;
        bool whole;
        size_t at = document.n - rest.n;
        struct err *err = frame_take(&whole, &frame, &rest, &progress);
        if (!err)
            err = frame_append(out, &frame, version, source, &instructions, &new_data);
        if (err) {
            out->n = start;
            return err_wrap(err, 0, "svndiff window at byte %zu is damaged", at);
        }
    }
    return NULL;
}
