/* SPDX-License-Identifier: Apache-2.0 */
/* Makes random edit histories and compares the deltas that Subversion stores and dumps for them
 * with ours.
 *
 *   svndiff-tool history SEED REVISIONS         a dump stream for `svnadmin load`
 *   svndiff-tool check SEED REVISIONS           stdin: `svnadmin dump --deltas` of it; each delta
 * must be ours svndiff-tool reps SEED REVISION VERSION     stdin: the (physically addressed, or
 * uncompressed-index) revision file; each file's representation must be ours
 *
 * A history is a pure function of its seed. The last two print "ok" lines' counts and exit with 0
 * only where everything agreed. */
#include "base/num.h"
#include "delta/encode.h"
#include "delta/svndiff.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILES = 8, TEXT_MAX = 450000 };

/* ---- histories ---- */

struct rng {
    uint64_t state;
};

static uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static size_t rng_below(struct rng *r, size_t n)
{
    return n ? (size_t)(rng_next(r) % n) : 0;
}

/* Small numbers often, large ones sometimes. */
static size_t rng_size(struct rng *r, size_t most)
{
    return rng_below(r, 1 + rng_below(r, 1 + rng_below(r, most)));
}

/* Append N bytes of one kind: noise, few letters, lines of words, one repeated block, one byte. */
static void fill(struct buf *text, struct rng *r, size_t n)
{
    static const char *const words[] = {"if ", "return ", "struct ", "x",     " = ",  ";\n",
                                        "{\n", "}\n",     "    ",    "for (", "int ", "size_t ",
                                        "0",   "++",      "/* ",     " */\n"};
    size_t end = text->n + n;
    char block[200];
    size_t block_n = 1 + rng_below(r, sizeof block);
    size_t kind = rng_below(r, 5);
    for (size_t i = 0; i < block_n; i++)
        block[i] = (char)rng_next(r);
    while (text->n < end) {
        if (kind == 0)
            buf_char(text, (char)rng_next(r));
        else if (kind == 1)
            buf_char(text, (char)('a' + rng_below(r, 2)));
        else if (kind == 2)
            buf_cstr(text, words[rng_below(r, 16)]);
        else if (kind == 3)
            buf_add(text, block, block_n);
        else
            buf_char(text, block[0]);
    }
    text->n = end;
}

/* The range [FROM, TO) of TEXT. */
static struct str part(const struct buf *text, size_t from, size_t to)
{
    return str_make(str_skip(buf_view(text), from).p, to - from);
}

/* Replace the range [FROM, TO) of TEXT by BYTES. */
static void splice(struct buf *text, size_t from, size_t to, struct str bytes)
{
    struct buf result = {0};
    buf_str(&result, part(text, 0, from));
    buf_str(&result, bytes);
    buf_str(&result, part(text, to, text->n));
    buf_free(text);
    *text = result;
}

static void edit(struct buf *text, struct rng *r)
{
    AUTO_BUF(piece);
    size_t from = rng_below(r, text->n + 1);
    size_t n = rng_size(r, text->n - from + 1);
    size_t to = from + n, elsewhere = rng_below(r, text->n + 1);
    switch (rng_below(r, 12)) {
    case 0: /* insert something new */
    case 1:
        fill(&piece, r, rng_size(r, 5000));
        splice(text, from, from, buf_view(&piece));
        break;
    case 2: /* delete */
        splice(text, from, to, S(""));
        break;
    case 3: /* replace */
        fill(&piece, r, n);
        splice(text, from, to, buf_view(&piece));
        break;
    case 4: /* repeat a part elsewhere */
    case 5:
        buf_str(&piece, part(text, from, to));
        splice(text, elsewhere, elsewhere, buf_view(&piece));
        break;
    case 6: /* move a part */
        buf_str(&piece, part(text, from, to));
        splice(text, from, to, S(""));
        elsewhere = rng_below(r, text->n + 1);
        splice(text, elsewhere, elsewhere, buf_view(&piece));
        break;
    case 7: /* change a byte here and there */
        for (size_t at = from; at < text->n; at += 1 + rng_below(r, 300))
            text->p[at] = (char)rng_next(r);
        break;
    case 8: /* shift everything */
        fill(&piece, r, 1 + rng_below(r, 9));
        splice(text, 0, rng_below(r, 2) && text->n ? 1 : 0, buf_view(&piece));
        break;
    case 9: /* grow */
        fill(&piece, r, rng_size(r, rng_below(r, 6) ? 9000 : 250000));
        buf_str(text, buf_view(&piece));
        break;
    case 10: /* cut off */
        text->n = rng_below(r, 3) ? text->n - rng_size(r, text->n + 1) : from;
        break;
    case 11: /* begin anew, or with nothing */
        if (rng_below(r, 3) == 0)
            buf_clear(text);
        if (rng_below(r, 8) == 0)
            fill(text, r, rng_size(r, 300000));
        break;
    }
    if (text->n > TEXT_MAX)
        text->n = TEXT_MAX;
}

/* Make of file FILE's text in the revision before the one it has in REVISION. */
static void advance(struct buf *text, uint64_t seed, int file, int revision)
{
    struct rng r = {seed << 32 ^ (uint64_t)file << 20 ^ (uint64_t)revision};
    rng_next(&r);
    if (revision == 1)
        fill(text, &r, rng_size(&r, rng_below(&r, 4) ? 20000 : 400000));
    size_t edits = revision == 1 ? 0 : rng_below(&r, 5);
    for (size_t i = 0; i < edits; i++)
        edit(text, &r);
}

struct history {
    uint64_t seed;
    int revision;
    struct buf before[FILES], now[FILES];
};

static void history_next(struct history *h)
{
    h->revision++;
    for (int i = 0; i < FILES; i++) {
        buf_clear(&h->before[i]);
        buf_str(&h->before[i], buf_view(&h->now[i]));
        advance(&h->now[i], h->seed, i, h->revision);
    }
}

static void history_free(struct history *h)
{
    for (int i = 0; i < FILES; i++) {
        buf_free(&h->before[i]);
        buf_free(&h->now[i]);
    }
}

static bool is_changed(const struct history *h, int file)
{
    return h->revision == 1 || !str_eq(buf_view(&h->before[file]), buf_view(&h->now[file]));
}

static int write_history(uint64_t seed, int revisions)
{
    struct history h = {.seed = seed};
    printf("SVN-fs-dump-format-version: 2\n\n");
    while (h.revision < revisions) {
        history_next(&h);
        printf("Revision-number: %d\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n",
               h.revision);
        for (int i = 0; i < FILES; i++) {
            if (!is_changed(&h, i))
                continue;
            printf("Node-path: f%d\nNode-kind: file\nNode-action: %s\n"
                   "Text-content-length: %zu\nContent-length: %zu\n\n",
                   i, h.revision == 1 ? "add" : "change", h.now[i].n, h.now[i].n);
            fwrite(h.now[i].p, 1, h.now[i].n, stdout);
            printf("\n\n");
        }
    }
    history_free(&h);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* ---- comparing dump streams ---- */

struct record {
    int revision, file;
    bool has_text;
    size_t props, text, content;
};

static void read_input(struct buf *out)
{
    ssize_t n;
    do {
        buf_reserve(out, 1 << 20);
        n = read(0, out->p + out->n, 1 << 20);
        out->n += n > 0 ? (size_t)n : 0;
    } while (n > 0);
}

static bool field(uint64_t *out, struct str line, struct str name)
{
    return str_starts(line, name) && num_u64(out, str_skip(line, name.n));
}

/* The headers of the next record; false at the end. */
static bool record_read(struct record *rec, struct str dump, size_t *pos)
{
    struct str line;
    bool any = false;
    *rec = (struct record){.revision = -1, .file = -1};
    while (str_line(&line, dump, pos)) {
        uint64_t n;
        if (line.n == 0 && any)
            return true;
        any |= line.n > 0;
        if (field(&n, line, S("Revision-number: ")))
            rec->revision = (int)n;
        else if (field(&n, line, S("Node-path: f")))
            rec->file = (int)n;
        else if (field(&n, line, S("Prop-content-length: ")))
            rec->props = (size_t)n;
        else if (field(&n, line, S("Text-content-length: ")))
            rec->text = (size_t)n, rec->has_text = true;
        else if (field(&n, line, S("Content-length: ")))
            rec->content = (size_t)n;
    }
    return false;
}

/* Both directions: our document must be Subversion's, and both readers must make the text of it. */
static bool compare(const struct history *h, int file, struct str document)
{
    struct str before = buf_view(&h->before[file]), now = buf_view(&h->now[file]);
    AUTO_BUF(ours);
    AUTO_BUF(text);
    delta_encode(&ours, before, now, &(struct svndiff_params){0});
    if (!str_eq(buf_view(&ours), document)) {
        size_t at = 0;
        while (at < ours.n && at < document.n && ours.p[at] == document.p[at])
            at++;
        printf("# r%d f%d: %zu -> %zu bytes: documents of %zu (ours) and %zu bytes differ at %zu\n",
               h->revision, file, before.n, now.n, ours.n, document.n, at);
        return false;
    }
    struct err *err = svndiff_apply(&text, document, before, now.n);
    struct reader *reader =
        svndiff_reader(reader_of_str(document), before.n ? reader_of_str(before) : NULL, now.n);
    AUTO_BUF(again);
    err = err_join(err, reader_all(&again, reader, TEXT_MAX));
    reader_close(reader);
    if (err)
        err_print(err, "svndiff-tool");
    bool same = !err && str_eq(buf_view(&text), now) && str_eq(buf_view(&again), now);
    err_free(err);
    return same;
}

static int check_dump(uint64_t seed, int revisions)
{
    AUTO_BUF(input);
    read_input(&input);
    struct str dump = buf_view(&input);
    struct history h = {.seed = seed};
    struct record rec;
    size_t pos = 0, good = 0, bad = 0, expected = 0;
    while (record_read(&rec, dump, &pos)) {
        while (rec.revision > h.revision && h.revision < revisions) {
            history_next(&h);
            for (int i = 0; i < FILES; i++)
                expected += is_changed(&h, i);
        }
        if (rec.file >= 0 && rec.file < FILES && rec.has_text &&
            rec.props + rec.text <= dump.n - pos) {
            if (compare(&h, rec.file, str_make(dump.p + pos + rec.props, rec.text)))
                good++;
            else
                bad++;
        }
        pos += rec.content < dump.n - pos ? rec.content : dump.n - pos;
    }
    history_free(&h);
    printf("%zu of %zu deltas agree\n", good, expected);
    return bad == 0 && good == expected ? 0 : 1;
}

/* ---- comparing revision files ---- */

/* Take the svndiff document at *POS, whose version becomes 0 in PLAIN; false if there is none. */
static bool document_take(struct buf *plain, struct str file, size_t *pos)
{
    AUTO_ARENA(arena);
    struct str document = str_skip(file, *pos);
    struct svndiff_progress progress = {0};
    size_t at = SVNDIFF_HEADER_SIZE;
    int version;
    struct err *err = svndiff_version(&version, document);
    svndiff_put_header(plain, 0);
    while (!err && !str_starts(str_skip(document, at), S("ENDREP\n"))) {
        struct delta_window window;
        err = svndiff_window(&window, document, &at, version, &progress, arena);
        if (!err)
            svndiff_put_window(plain, &window, &(struct svndiff_params){0});
    }
    bool ok = !err;
    err_free(err);
    *pos += at;
    return ok;
}

/* Which file's change PLAIN is. A base under 64 bytes is not used as one. */
static int file_of(const struct history *h, struct str plain)
{
    for (int i = 0; i < FILES; i++) {
        AUTO_BUF(ours);
        struct str base = buf_view(&h->before[i]);
        delta_encode(&ours, base.n < 64 ? S("") : base, buf_view(&h->now[i]),
                     &(struct svndiff_params){0});
        if (is_changed(h, i) && str_eq(buf_view(&ours), plain))
            return i;
    }
    return -1;
}

static int check_reps(uint64_t seed, int revision, int version)
{
    AUTO_BUF(input);
    read_input(&input);
    struct str file = buf_view(&input);
    struct history h = {.seed = seed};
    struct svndiff_params params = {version, 5};
    bool found[FILES] = {0};
    size_t theirs = 0, ours = 0, differ = 0, missing = 0;
    while (h.revision < revision)
        history_next(&h);
    for (size_t pos = 0; pos < file.n; pos++) {
        struct str line;
        size_t start = pos;
        if (!str_starts(str_skip(file, pos), S("DELTA")) || !str_line(&line, file, &start))
            continue;
        size_t end = start;
        AUTO_BUF(plain);
        AUTO_BUF(again);
        if (!document_take(&plain, file, &end))
            continue;
        int i = file_of(&h, buf_view(&plain));
        if (i < 0)
            continue; /* a directory's */
        struct str base = buf_view(&h.before[i]);
        delta_encode(&again, base.n < 64 ? S("") : base, buf_view(&h.now[i]), &params);
        differ += !str_eq(buf_view(&again), str_make(file.p + start, end - start));
        theirs += end - start;
        ours += again.n;
        found[i] = true;
        pos = end;
    }
    for (int i = 0; i < FILES; i++)
        missing += is_changed(&h, i) && h.now[i].n >= 64 && !found[i];
    history_free(&h);
    printf("%zu missing, %zu differ, %zu bytes, ours %zu\n", missing, differ, theirs, ours);
    return missing == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    uint64_t n[3] = {0};
    for (int i = 2; i < argc && i < 5; i++)
        if (!num_u64(&n[i - 2], str_of(argv[i])))
            argc = 0;
    if (argc == 4 && str_eq(str_of(argv[1]), S("history")))
        return write_history(n[0], (int)n[1]);
    if (argc == 4 && str_eq(str_of(argv[1]), S("check")))
        return check_dump(n[0], (int)n[1]);
    if (argc == 5 && str_eq(str_of(argv[1]), S("reps")))
        return check_reps(n[0], (int)n[1], (int)n[2]);
    fprintf(stderr,
            "usage: svndiff-tool history|check SEED REVISIONS | reps SEED REVISION VERSION\n");
    return 2;
}
