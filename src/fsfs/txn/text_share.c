/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a stored representation of the same text. A row of the rep-cache is a hint: it counts
 * only after the representation that it names has been found where it says, of the size it says,
 * and with the very bytes. One with other bytes is a wrong row, or else a collision of SHA-1. */
#include "fsfs/txn/text_share.h"
#include "base/num.h"
#include "fsfs/read/item.h"
#include "fsfs/read/rep_int.h"
#include "store/repcache.h"
#include <stdio.h>
#include <stdlib.h>

enum { PIECE = 64 * 1024 }; /* bytes of a text that are looked at at once */

/* Is there a representation at REP's place that ends after REP->size bytes? Errors mean no. */
static struct err *place_holds(bool *out, struct fsfs *fs, const struct rep *rep,
                               struct arena *arena)
{
    static const char end[] = "ENDREP\n";
    enum { END = sizeof end - 1, HEADER_MIN = sizeof "PLAIN\n" - 1 };
    *out = false;
    struct item_place place;
    TRY(item_find(&place, fs, rep->rev, rep->item, arena));
    struct str view;
    TRY(item_view(&view, fs, &place, HEADER_MIN, arena));
    struct rep_header header;
    TRY(rep_header_parse(&header, view));
    uint64_t at;
    char tail[END];
    if (!add_u64(&at, header.length, rep->size) || at > place.limit - place.offset)
        return NULL;
    TRY(item_read(tail, END, fs, &place, at));
    *out = memcmp(tail, end, END) == 0;
    return NULL;
}

struct err *readers_equal(bool *out, struct reader *a, struct reader *b)
{
    char *pa = mem_alloc(2 * PIECE), *pb = pa + PIECE;
    size_t na = PIECE, nb;
    struct err *err = NULL;
    *out = true;
    while (*out && na == PIECE) {
        TRY_GOTO(err, reader_full(a, pa, PIECE, &na), done);
        TRY_GOTO(err, reader_full(b, pb, PIECE, &nb), done);
        *out = na == nb && memcmp(pa, pb, na) == 0;
    }
done:
    free(pa);
    reader_close(a);
    reader_close(b);
    return err;
}

/* ---- collisions ---- */

struct err *share_collision(const struct fsfs *fs, struct str path, const uint8_t sha1[SHA1_SIZE],
                            revnum rev)
{
    char hex[2 * SHA1_SIZE], where[48] = "this transaction";
    if (fs->config.allow_sha1_collisions)
        return NULL;
    num_hex(hex, sha1, SHA1_SIZE);
    if (rev != REV_NONE)
        snprintf(where, sizeof where, "revision %lld", (long long)rev);
    return err_make(E_FS_AMBIGUOUS_CHECKSUM_REP,
                    "SHA1 of '%.*s' and of a representation in %s matches (%.*s) but contents "
                    "differ",
                    STR(path), where, (int)sizeof hex, hex);
}

static struct err *digests_of_stored(uint8_t md5[MD5_SIZE], uint8_t sha1[SHA1_SIZE],
                                     struct fsfs *fs, const struct rep *rep)
{
    struct reader *reader;
    TRY(rep_stream(&reader, fs, rep));
    char *piece = mem_alloc(PIECE);
    struct digest *digest = digest_new(DIGEST_MD5 | DIGEST_SHA1);
    struct err *err = NULL;
    for (size_t got = 1; !err && got;) {
        got = 0;
        err = reader_read(reader, piece, PIECE, &got);
        digest_add(digest, str_make(piece, got));
    }
    digest_md5(digest, md5);
    digest_sha1(digest, sha1);
    digest_free(digest);
    free(piece);
    reader_close(reader);
    return err;
}

/* REP, which has the digests of PATH's text, has been found not to hold it: does it hold another
 * one with this SHA-1? */
static struct err *check_collision(struct fsfs *fs, const struct rep *rep, struct str path)
{
    struct rep stored = *rep;
    uint8_t md5[MD5_SIZE], sha1[SHA1_SIZE];
    memset(stored.md5, 0, MD5_SIZE); /* unknown */
    struct err *err = digests_of_stored(md5, sha1, fs, &stored);
    if (!err && memcmp(sha1, rep->sha1, SHA1_SIZE) == 0 && memcmp(md5, rep->md5, MD5_SIZE) != 0)
        return share_collision(fs, path, sha1, rep->rev);
    err_free(err); /* stale, foreign or damaged: as good as no row */
    return NULL;
}

/* ---- rows ---- */

/* The row for SHA1 as a rep to be tried. */
static struct err *candidate(struct rep *out, bool *found, struct fsfs *fs,
                             const uint8_t md5[MD5_SIZE], const uint8_t sha1[SHA1_SIZE],
                             uint64_t expanded)
{
    struct repcache_row row;
    TRY(repcache_find(&row, found, fs->store, sha1));
    if (!*found)
        return NULL;
    *found = row.expanded == expanded;
    *out = (struct rep){.rev = row.rev,
                        .item = row.item,
                        .size = row.size,
                        .expanded = expanded,
                        .has_sha1 = true,
                        .uniq_txn.base = REV_NONE};
    memcpy(out->md5, md5, MD5_SIZE);
    memcpy(out->sha1, sha1, SHA1_SIZE);
    return NULL;
}

static struct err *equals_str(bool *out, struct fsfs *fs, const struct rep *rep, struct str text,
                              struct arena *arena)
{
    TRY(place_holds(out, fs, rep, arena));
    if (!*out)
        return NULL;
    if (rep_is_whole(rep)) {
        const struct blob *blob;
        TRY(rep_text(&blob, fs, rep, arena));
        *out = str_eq(blob_str(blob), text);
        return NULL;
    }
    struct reader *stored;
    TRY(rep_open(&stored, fs, rep));
    return readers_equal(out, stored, reader_of_str(text));
}

/* What came of comparing REP, the row's, with PATH's text. */
static struct err *settle(bool *found, struct err *err, struct fsfs *fs, const struct rep *rep,
                          struct str path)
{
    *found = *found && !err;
    err_free(err);
    return *found ? NULL : check_collision(fs, rep, path);
}

struct err *share_find(struct rep *rep, bool *found, struct fsfs *fs, struct str path,
                       const uint8_t md5[MD5_SIZE], const uint8_t sha1[SHA1_SIZE], struct str text)
{
    *found = false;
    if (!fs->config.rep_sharing)
        return NULL;
    TRY(candidate(rep, found, fs, md5, sha1, text.n));
    if (!*found)
        return NULL;
    AUTO_ARENA(arena);
    struct err *err = equals_str(found, fs, rep, text, arena);
    return settle(found, err, fs, rep, path);
}

static struct err *equals_stream(bool *out, struct fsfs *fs, const struct rep *rep,
                                 struct err *(*open)(struct reader **out, void *arg), void *arg)
{
    AUTO_ARENA(arena);
    TRY(place_holds(out, fs, rep, arena));
    if (!*out)
        return NULL;
    struct reader *stored, *text;
    TRY(rep_open(&stored, fs, rep));
    struct err *err = open(&text, arg);
    if (err) {
        reader_close(stored);
        return err;
    }
    return readers_equal(out, stored, text);
}

struct err *share_find_stream(struct rep *rep, bool *found, struct fsfs *fs, struct str path,
                              const uint8_t md5[MD5_SIZE], const uint8_t sha1[SHA1_SIZE],
                              uint64_t expanded,
                              struct err *(*open)(struct reader **out, void *arg), void *arg)
{
    *found = false;
    if (!fs->config.rep_sharing)
        return NULL;
    TRY(candidate(rep, found, fs, md5, sha1, expanded));
    if (!*found)
        return NULL;
    struct err *err = equals_stream(found, fs, rep, open, arg);
    return settle(found, err, fs, rep, path);
}
