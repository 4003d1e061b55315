/* SPDX-License-Identifier: Apache-2.0 */
#include "delta/svndiff.h"
#include "fsfs/read/rep_int.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    CHUNK = 64 * 1024,   /* bytes of stored data read at a time */
    AHEAD = 1024 * 1024, /* bytes asked for ahead of them */
    STACK_MAX = 40, /* decoders upon each other, some 400 KB each; stock's chains are shorter */
};

/* ---- stored bytes ---- */

struct stored_reader {
    struct reader reader; /* first */
    struct fsfs *fs;
    struct item_place place; /* holds a reference on its body */
    uint64_t at, asked;      /* from its start: bytes read; bytes asked for ahead */
    size_t chunk_n, chunk_at;
    char chunk[CHUNK];
};

static void ask_ahead(struct stored_reader *r)
{
    const uint64_t size = r->place.limit - r->place.offset;
    if (r->at < r->asked || size - r->at <= CHUNK)
        return;
    const struct span span = {r->place.offset + r->at, size - r->at < AHEAD ? size - r->at : AHEAD,
                              NULL};
    body_prefetch(r->place.body, &span, 1);
    r->asked = r->at + span.n;
}

static struct err *stored_reader_take(struct stored_reader *r, void *to, size_t n)
{
    ask_ahead(r);
    TRY(item_read(to, n, r->fs, &r->place, r->at));
    r->at += n;
    return NULL;
}

static struct err *stored_reader_read(struct reader *self, void *to, size_t n, size_t *got)
{
    struct stored_reader *r = (struct stored_reader *)self;
    const uint64_t left = r->place.limit - r->place.offset - r->at;
    *got = 0;
    if (r->chunk_at == r->chunk_n && n >= CHUNK) { /* long reads need no copy */
        *got = n < left ? n : left;
        return *got ? stored_reader_take(r, to, *got) : NULL;
    }
    if (r->chunk_at == r->chunk_n) {
        const size_t fill = left < CHUNK ? left : CHUNK;
        if (fill == 0)
            return NULL;
        TRY(stored_reader_take(r, r->chunk, fill));
        r->chunk_n = fill;
        r->chunk_at = 0;
    }
    *got = n < r->chunk_n - r->chunk_at ? n : r->chunk_n - r->chunk_at;
    memcpy(to, r->chunk + r->chunk_at, *got);
    r->chunk_at += *got;
    return NULL;
}

static void stored_reader_close(struct reader *self)
{
    struct stored_reader *r = (struct stored_reader *)self;
    shared_unref(r->place.body);
    free(r);
}

static struct reader *stored_reader(struct fsfs *fs, const struct stored *stored)
{
    struct stored_reader *r = mem_alloc(sizeof *r);
    r->reader = (struct reader){stored_reader_read, stored_reader_close};
    r->fs = fs;
    r->place = stored->data;
    shared_ref(r->place.body);
    r->at = r->asked = 0;
    r->chunk_n = r->chunk_at = 0;
    return &r->reader;
}

struct err *rep_open_stored(struct reader **out, struct rep_header *header, struct fsfs *fs,
                            const struct rep *rep)
{
    AUTO_ARENA(scratch);
    struct stored stored;
    TRY(stored_find(&stored, fs, rep->rev, rep->item, rep->size, scratch));
    *header = stored.header;
    *out = stored_reader(fs, &stored);
    return NULL;
}

/* ---- checking ---- */

/* Passes a text on and checks it: the last bytes are not given out before the whole is known to be
 * right. */
struct check_reader {
    struct reader reader; /* first */
    struct reader *text;
    struct rep rep;
    struct digest *digest;
    uint64_t left;
};

static struct err *check_end(struct check_reader *r)
{
    uint8_t md5[MD5_SIZE];
    char more;
    size_t got;
    TRY(reader_read(r->text, &more, 1, &got));
    if (got)
        return err_make(E_FS_CORRUPT, "The text goes on behind its %llu bytes",
                        (unsigned long long)r->rep.expanded);
    digest_md5(r->digest, md5);
    return rep_check_md5(&r->rep, md5);
}

static struct err *check_some(struct check_reader *r, void *to, size_t n, size_t *got)
{
    if (r->left == 0)
        return NULL;
    TRY(reader_read(r->text, to, n < r->left ? n : r->left, got));
    if (*got == 0)
        return err_make(E_FS_CORRUPT, "The text ends %llu bytes too early",
                        (unsigned long long)r->left);
    digest_add(r->digest, str_make(to, *got));
    r->left -= *got;
    return r->left ? NULL : check_end(r);
}

static struct err *check_reader_read(struct reader *self, void *to, size_t n, size_t *got)
{
    struct check_reader *r = (struct check_reader *)self;
    *got = 0;
    return rep_failed(check_some(r, to, n, got), r->rep.rev, r->rep.item);
}

static void check_reader_close(struct reader *self)
{
    struct check_reader *r = (struct check_reader *)self;
    reader_close(r->text);
    digest_free(r->digest);
    free(r);
}

static struct reader *check_reader(struct reader *text, const struct rep *rep)
{
    struct check_reader *r = mem_alloc(sizeof *r);
    *r = (struct check_reader){
        .reader = {check_reader_read, check_reader_close},
        .text = text,
        .rep = *rep,
        .digest = digest_new(DIGEST_MD5),
        .left = rep->expanded,
    };
    return &r->reader;
}

/* ---- the stack ---- */

static struct err *copy_to_file(int fd, struct reader *from)
{
    char *chunk = mem_alloc(CHUNK);
    struct err *err = NULL;
    size_t got = 1;
    while (!err && got) {
        err = reader_read(from, chunk, CHUNK, &got);
        for (size_t done = 0; !err && done < got;) {
            const ssize_t n = write(fd, chunk + done, got - done);
            if (n > 0)
                done += (size_t)n;
            else if (errno != EINTR)
                err = err_errno(errno, "Can't write a temporary file for a long delta chain");
        }
    }
    free(chunk);
    if (!err && lseek(fd, 0, SEEK_SET) != 0)
        err = err_errno(errno, "Can't rewind a temporary file for a long delta chain");
    return err;
}

/* Put the text of *READER into a nameless file: the decoders beneath it are then done with. */
static struct err *spool(struct reader **reader)
{
    FILE *file = tmpfile();
    const int fd = file ? dup(fileno(file)) : -1;
    const int code = errno;
    if (file)
        fclose(file);
    if (fd < 0)
        return err_errno(code, "Can't make a temporary file for a long delta chain");
    struct err *err = copy_to_file(fd, *reader);
    if (err) {
        close(fd);
        return err;
    }
    reader_close(*reader);
    *reader = reader_of_fd(fd, true, "temporary file");
    return NULL;
}

/* Put LINK's text upon *READER, that of its base. */
static struct err *stack_add(struct reader **reader, struct fsfs *fs, const struct link *link,
                             uint64_t expanded)
{
    AUTO_ARENA(scratch);
    struct stored stored;
    TRY(link_open(&stored, fs, link, scratch));
    struct reader *bytes = stored_reader(fs, &stored);
    *reader = stored.header.delta ? svndiff_reader(bytes, *reader, expanded) : bytes;
    return NULL;
}

static struct err *stack_build(struct reader **reader, struct fsfs *fs, const struct chain *chain,
                               uint64_t expanded)
{
    size_t depth = 0;
    for (const struct link *link = chain->bottom; link; link = link->above) {
        struct err *err = stack_add(reader, fs, link, link->above ? UINT64_MAX : expanded);
        if (!err && ++depth % STACK_MAX == 0 && link->above)
            err = spool(reader);
        if (err)
            return rep_failed(err, link->rev, link->item);
    }
    return NULL;
}

struct err *rep_stream(struct reader **out, struct fsfs *fs, const struct rep *rep)
{
    AUTO_ARENA(scratch);
    struct chain chain;
    TRY(chain_walk(&chain, fs, rep, scratch));
    struct reader *reader = chain.base ? reader_of_blob((struct blob *)chain.base) : NULL;
    struct err *err = stack_build(&reader, fs, &chain, rep->expanded);
    if (err) {
        reader_close(reader);
        return err;
    }
    *out = check_reader(reader, rep);
    return NULL;
}

struct err *rep_open(struct reader **out, struct fsfs *fs, const struct rep *rep)
{
    if (!rep_is_whole(rep))
        return rep_stream(out, fs, rep);
    AUTO_ARENA(scratch);
    const struct blob *text;
    TRY(rep_text(&text, fs, rep, scratch));
    *out = reader_of_blob((struct blob *)text);
    return NULL;
}
