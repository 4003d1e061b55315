/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/read/rep.h"
#include "base/account.h"
#include "base/num.h"
#include "delta/svndiff.h"
#include "fsfs/read/rep_int.h"
#include <stdlib.h>

enum {
    CHAIN_OPEN_MAX = 64, /* links of a chain that stay open while it is walked */
    BASE_CACHE_MAX =
        64 * 1024, /* bytes: a base further down than the first is kept up to this size */
    STORED_WHOLE_MAX =
        TEXT_WHOLE_MAX + 64 * 1024, /* bytes: what is stored of a whole text; svndiff adds little */
    BLOB_SLACK = 64,                /* bytes behind a text that is expanded, for copies in steps */
    SHARD_ASSUMED = 1, /* revisions: what Subversion counts as a shard where the layout has none */
};

/* ---- the header line ---- */

static bool delta_base_parse(struct rep_header *out, struct str words)
{
    int64_t rev;
    if (!num_i64(&rev, str_word(&words)) || rev < 0)
        return false;
    out->base_rev = rev;
    return num_u64(&out->base_item, str_word(&words)) && num_u64(&out->base_size, words);
}

struct err *rep_header_parse(struct rep_header *out, struct str text)
{
    size_t pos = 0;
    struct str line;
    *out = (struct rep_header){.base_rev = REV_NONE};
    if (str_line(&line, str_make(text.p, text.n < REP_HEADER_MAX ? text.n : REP_HEADER_MAX),
                 &pos)) {
        out->length = pos;
        if (str_eq(line, S("PLAIN")))
            return NULL;
        out->delta = true;
        if (str_eq(line, S("DELTA")))
            return NULL;
        if (str_starts(line, S("DELTA ")) && delta_base_parse(out, str_skip(line, 6)))
            return NULL;
    }
    return err_make(E_FS_CORRUPT, "Malformed representation header");
}

/* ---- errors ---- */

struct err *rep_failed(struct err *err, revnum rev, uint64_t item)
{
    if (!err)
        return NULL;
    return err_wrap(err, err_is_system(err) ? 0 : E_FS_CORRUPT,
                    "Can't read the representation of revision %lld, item %llu", (long long)rev,
                    (unsigned long long)item);
}

bool rep_md5_is_known(const struct rep *rep)
{
    static const uint8_t unknown[MD5_SIZE];
    return memcmp(rep->md5, unknown, MD5_SIZE) != 0;
}

struct err *rep_check_md5(const struct rep *rep, const uint8_t md5[MD5_SIZE])
{
    if (!rep_md5_is_known(rep) || memcmp(rep->md5, md5, MD5_SIZE) == 0)
        return NULL;
    return checksum_mismatch(rep->md5, md5, MD5_SIZE,
                             "Checksum mismatch while reading representation");
}

static struct err *length_mismatch(uint64_t expected, uint64_t actual)
{
    return err_make(E_FS_CORRUPT, "The text has %llu bytes where %llu are expected",
                    (unsigned long long)actual, (unsigned long long)expected);
}

/* ---- stored bytes ---- */

static struct err *base_check(const struct rep_header *header, revnum rev, uint64_t item)
{
    if (header->base_rev > rev)
        return err_make(E_FS_CORRUPT, "Its delta base is in the later revision %lld",
                        (long long)header->base_rev);
    if (header->base_rev == rev && header->base_item == item)
        return err_make(E_FS_CORRUPT, "It is its own delta base");
    return NULL;
}

static struct err *stored_parse(struct stored *out, struct fsfs *fs, revnum rev, uint64_t item,
                                uint64_t size, struct arena *arena)
{
    struct str text;
    TRY(item_find(&out->data, fs, rev, item, arena));
    const uint64_t left = out->data.limit - out->data.offset;
    TRY(item_view(&text, fs, &out->data, left < REP_HEADER_MAX ? left : REP_HEADER_MAX, arena));
    TRY(rep_header_parse(&out->header, text));
    TRY(base_check(&out->header, rev, item));
    if (size > left - out->header.length)
        return err_make(E_FS_CORRUPT, "Its %llu bytes reach behind the data",
                        (unsigned long long)size);
    out->data.offset += out->header.length;
    out->data.limit = out->data.offset + size;
    out->view = str_skip(text, out->header.length);
    if (out->view.n > size)
        out->view.n = size;
    return NULL;
}

struct err *stored_find(struct stored *out, struct fsfs *fs, revnum rev, uint64_t item,
                        uint64_t size, struct arena *arena)
{
    return rep_failed(stored_parse(out, fs, rev, item, size, arena), rev, item);
}

struct err *stored_bytes(struct str *out, struct fsfs *fs, const struct stored *stored,
                         struct arena *arena)
{
    const size_t n = stored->data.limit - stored->data.offset;
    *out = stored->view;
    if (stored->view.n == n)
        return NULL;
    char *copy = arena_alloc(arena, n);
    *out = str_make(copy, n);
    if (stored->view.n)
        memcpy(copy, stored->view.p, stored->view.n);
    return item_read(copy + stored->view.n, n - stored->view.n, fs, &stored->data, stored->view.n);
}

/* ---- chains ---- */

/* Brent's way to notice a loop: remember one link, a later one each time the way has doubled. */
struct loop_guard {
    revnum rev;
    uint64_t item;
    uint64_t steps, turn;
};

static bool loop_guard_meets(struct loop_guard *guard, revnum rev, uint64_t item)
{
    if (guard->steps && guard->rev == rev && guard->item == item)
        return true;
    if (guard->steps++ == guard->turn) {
        guard->turn = guard->turn * 2 + 1;
        guard->rev = rev;
        guard->item = item;
    }
    return false;
}

static struct err *loop_error(void)
{
    return err_make(E_FS_CORRUPT, "Its chain of delta bases is a loop");
}

static bool has_base(const struct rep_header *header)
{
    return header->delta && header->base_rev != REV_NONE;
}

/* A text that is cached, whether its MD5 has been checked or not. */
static const struct blob *text_cached(struct fsfs *fs, revnum rev, uint64_t item,
                                      struct arena *arena)
{
    const struct blob *text = cache_get(fsfs_cache_key(fs, CACHE_TEXT, (uint64_t)rev, item), arena);
    return text ? text : cache_get(fsfs_cache_key(fs, CACHE_BASE, (uint64_t)rev, item), arena);
}

struct err *link_open(struct stored *out, struct fsfs *fs, const struct link *link,
                      struct arena *arena)
{
    if (!link->is_open)
        return stored_find(out, fs, link->rev, link->item, link->size, arena);
    *out = link->stored;
    return NULL;
}

static struct link *link_new(struct link *above, revnum rev, uint64_t item, uint64_t size,
                             struct arena *arena)
{
    struct link *link = arena_alloc(arena, sizeof *link);
    *link = (struct link){.above = above, .rev = rev, .item = item, .size = size};
    return link;
}

struct err *chain_walk(struct chain *out, struct fsfs *fs, const struct rep *rep,
                       struct arena *arena)
{
    struct loop_guard guard = {0};
    *out = (struct chain){.bottom = link_new(NULL, rep->rev, rep->item, rep->size, arena)};
    for (size_t n = 0;; n++) {
        struct link *link = out->bottom;
        const struct arena_mark mark = arena_mark(arena);
        link->is_open = n < CHAIN_OPEN_MAX;
        TRY(stored_find(&link->stored, fs, link->rev, link->item, link->size, arena));
        if (!link->is_open)
            arena_rewind(arena, mark);
        const struct rep_header *header = &link->stored.header;
        if (!has_base(header))
            return NULL;
        out->base = text_cached(fs, header->base_rev, header->base_item, arena);
        if (out->base)
            return NULL;
        if (loop_guard_meets(&guard, header->base_rev, header->base_item))
            return rep_failed(loop_error(), link->rev, link->item);
        out->bottom = link_new(link, header->base_rev, header->base_item, header->base_size, arena);
    }
}

/* ---- the length of a chain ---- */

struct chain_note {
    struct shared shared;
    struct rep_chain chain;
};

static void chain_remember(struct fsfs *fs, const struct rep *rep, const struct rep_chain *chain)
{
    struct chain_note *note = mem_alloc(sizeof *note);
    shared_init(&note->shared, sizeof *note, shared_free_plain);
    note->chain = *chain;
    cache_put(fsfs_cache_key(fs, CACHE_CHAIN, (uint64_t)rep->rev, rep->item), &note->shared);
    shared_unref(note);
}

struct err *rep_chain(struct rep_chain *out, struct fsfs *fs, const struct rep *rep,
                      struct arena *arena)
{
    AUTO_ARENA(scratch);
    struct loop_guard guard = {0};
    const int64_t shard = fs->shard_size ? fs->shard_size : SHARD_ASSUMED;
    revnum rev = rep->rev;
    uint64_t item = rep->item, size = rep->size;
    *out = (struct rep_chain){.length = 0, .shards = 1};
    for (;;) {
        const struct arena_mark mark = arena_mark(scratch);
        const struct chain_note *note =
            cache_get(fsfs_cache_key(fs, CACHE_CHAIN, (uint64_t)rev, item), scratch);
        if (note) {
            out->length += note->chain.length;
            out->shards += note->chain.shards - 1;
            break;
        }
        struct stored stored;
        TRY(stored_find(&stored, fs, rev, item, size, scratch));
        out->length++;
        const struct rep_header *header = &stored.header;
        if (!has_base(header) || header->base_rev == 0)
            break; /* revision 0 has nothing but an empty directory, which stock does not count
                      either */
        if (loop_guard_meets(&guard, header->base_rev, header->base_item))
            return rep_failed(loop_error(), rev, item);
        out->shards += header->base_rev / shard != rev / shard;
        rev = header->base_rev;
        item = header->base_item;
        size = header->base_size;
        arena_rewind(scratch, mark);
    }
    chain_remember(fs, rep, out);
    return NULL;
}

void rep_chain_note(struct fsfs *fs, const struct rep *rep, const struct rep *base)
{
    AUTO_ARENA(scratch);
    struct rep_chain chain = {.length = 1, .shards = 1};
    const int64_t shard = fs->shard_size ? fs->shard_size : SHARD_ASSUMED;
    if (base && base->rev != 0) {
        const struct chain_note *note =
            cache_get(fsfs_cache_key(fs, CACHE_CHAIN, (uint64_t)base->rev, base->item), scratch);
        if (!note)
            return;
        chain.length += note->chain.length;
        chain.shards = note->chain.shards + (base->rev / shard != rep->rev / shard);
    }
    chain_remember(fs, rep, &chain);
}

/* ---- whole texts ---- */

bool rep_is_whole(const struct rep *rep)
{
    return (rep->expanded ? rep->expanded : rep->size) <= TEXT_WHOLE_MAX;
}

/* Apply DOCUMENT to SOURCE; the result is built behind the room for a blob's head, so that it need
 * not be copied. */
static struct err *blob_apply(struct blob **out, struct str document, struct str source, uint64_t n)
{
    struct buf buf = {0};
    buf_reserve(&buf, offsetof(struct blob, bytes) + n + BLOB_SLACK);
    buf_grow(&buf, offsetof(struct blob, bytes));
    struct err *err = svndiff_apply(&buf, document, source, n);
    if (err) {
        buf_free(&buf);
        return err;
    }
    buf_char(&buf, '\0');
    const size_t bytes = buf.cap;
    struct blob *blob = (struct blob *)buf_take(&buf);
    shared_init(&blob->shared, bytes, shared_free_plain);
    blob->n = n;
    *out = blob;
    return NULL;
}

/* The text of LINK; *OUT NULL where it is too large to be had as a whole. */
static struct err *link_expand(struct blob **out, struct fsfs *fs, const struct link *link,
                               const struct blob *base, struct arena *arena)
{
    *out = NULL;
    if (link->size > STORED_WHOLE_MAX)
        return NULL;
    struct stored stored;
    struct str bytes;
    uint64_t n;
    TRY(link_open(&stored, fs, link, arena));
    TRY(stored_bytes(&bytes, fs, &stored, arena));
    if (!stored.header.delta) {
        *out = blob_copy(bytes);
        return NULL;
    }
    TRY(svndiff_target_size(&n, bytes));
    if (n > TEXT_WHOLE_MAX)
        return NULL;
    return blob_apply(out, bytes, base ? blob_str(base) : (struct str){0}, n);
}

/* Worth keeping: the direct base, which a walk through history asks for next; those further down
 * where they are small. */
static void base_remember(struct fsfs *fs, const struct link *link, struct blob *text)
{
    if (text->n <= BASE_CACHE_MAX || !link->above->above)
        cache_put(fsfs_cache_key(fs, CACHE_BASE, (uint64_t)link->rev, link->item), &text->shared);
}

/* The text at the top of CHAIN, one reference; *OUT NULL where it or one of its bases is too large.
 */
static struct err *chain_expand(struct blob **out, struct fsfs *fs, const struct chain *chain,
                                struct arena *scratch)
{
    struct blob *base = chain->base ? shared_ref((void *)chain->base) : NULL;
    for (const struct link *link = chain->bottom; link; link = link->above) {
        const struct arena_mark mark = arena_mark(scratch);
        struct blob *text;
        struct err *err = link_expand(&text, fs, link, base, scratch);
        shared_unref(base);
        if (err)
            return rep_failed(err, link->rev, link->item);
        base = text;
        if (!text)
            break;
        if (link->above)
            base_remember(fs, link, text);
        arena_rewind(scratch, mark);
    }
    *out = base;
    return NULL;
}

static struct err *text_check(const struct blob *text, const struct rep *rep)
{
    /* 0 for a text that is not empty: so early writers left it. Its MD5 tells. */
    if (text->n != rep->expanded && rep->expanded)
        return length_mismatch(rep->expanded, text->n);
    uint8_t md5[MD5_SIZE];
    md5_of(md5, blob_str(text));
    return rep_check_md5(rep, md5);
}

/* Read a text through the streaming readers, which check it. */
static struct err *text_from_stream(struct blob **out, struct fsfs *fs, const struct rep *rep)
{
    struct reader *reader;
    if (!rep->expanded)
        return rep_failed(length_mismatch(0, rep->size), rep->rev, rep->item);
    struct blob *text = blob_new(rep->expanded);
    size_t got = 0;
    struct err *err = rep_stream(&reader, fs, rep);
    if (!err) {
        err = reader_full(reader, text->bytes, text->n, &got);
        reader_close(reader);
    }
    if (!err && got != text->n)
        err = rep_failed(length_mismatch(text->n, got), rep->rev, rep->item);
    if (err)
        shared_unref(text);
    else
        *out = text;
    return err;
}

static struct err *text_make(struct blob **out, struct fsfs *fs, const struct rep *rep)
{
    AUTO_ARENA(scratch);
    const struct blob *known =
        cache_get(fsfs_cache_key(fs, CACHE_BASE, (uint64_t)rep->rev, rep->item), scratch);
    if (known) {
        *out = shared_ref((void *)known);
    } else {
        struct chain chain;
        TRY(chain_walk(&chain, fs, rep, scratch));
        TRY(chain_expand(out, fs, &chain, scratch));
    }
    if (!*out)
        return text_from_stream(out, fs, rep);
    struct err *err = rep_failed(text_check(*out, rep), rep->rev, rep->item);
    if (err)
        shared_unref(*out);
    return err;
}

/* While it is made, and nobody can hold it yet, it is the thread's account that answers for it. */
static struct err *text_make_charged(struct blob **out, struct fsfs *fs, const struct rep *rep)
{
    struct account *account = account_current;
    account_charge(account, rep->expanded);
    struct err *err = account_check();
    if (!err)
        err = rep_is_whole(rep) ? text_make(out, fs, rep) : text_from_stream(out, fs, rep);
    account_credit(account, rep->expanded);
    return err;
}

struct err *rep_text_noting(const struct blob **out, bool *fresh, struct fsfs *fs,
                            const struct rep *rep, uint64_t limit, struct arena *arena)
{
    *fresh = false;
    if (rep->rev == REV_NONE)
        return err_make(E_FS_CORRUPT, "A representation of a transaction is not in a revision");
    const struct cache_key key = fsfs_cache_key(fs, CACHE_TEXT, (uint64_t)rep->rev, rep->item);
    if ((*out = cache_get(key, arena)) && ((*out)->n == rep->expanded || !rep->expanded))
        return NULL;
    if (rep->expanded > limit)
        return err_make(
            E_FS_GENERAL,
            "The text of revision %lld, item %llu is too large to be read at once (%llu bytes)",
            (long long)rep->rev, (unsigned long long)rep->item, (unsigned long long)rep->expanded);
    *fresh = true;
    struct blob *text = NULL;
    TRY(text_make_charged(&text, fs, rep));
    if (rep_is_whole(rep)) {
        cache_put(key, &text->shared);
        cache_remove(fsfs_cache_key(fs, CACHE_BASE, (uint64_t)rep->rev, rep->item));
    }
    *out = arena_keep(arena, &text->shared);
    return NULL;
}

struct err *rep_text_up_to(const struct blob **out, struct fsfs *fs, const struct rep *rep,
                           uint64_t limit, struct arena *arena)
{
    bool fresh;
    return rep_text_noting(out, &fresh, fs, rep, limit, arena);
}

struct err *rep_text(const struct blob **out, struct fsfs *fs, const struct rep *rep,
                     struct arena *arena)
{
    return rep_text_up_to(out, fs, rep, TEXT_WHOLE_MAX, arena);
}
