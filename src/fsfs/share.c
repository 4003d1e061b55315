/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a stored representation of the same text. A row of the rep-cache is a hint: it counts
 * only after the representation that it names has been found where it says, of the size it says,
 * and with the very bytes. */
#include "fsfs/item.h"
#include "fsfs/repcache.h"
#include "fsfs/txn_int.h"
#include <stdlib.h>

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
    enum { PIECE = 64 * 1024 };
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

/* The row for SHA1 as a rep to be tried. */
static struct err *candidate(struct rep *out, bool *found, struct fsfs *fs,
                             const uint8_t md5[MD5_SIZE], const uint8_t sha1[SHA1_SIZE],
                             uint64_t expanded)
{
    struct repcache_row row;
    TRY(repcache_find(&row, found, fs, sha1));
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

struct err *share_find(struct rep *rep, bool *found, struct fsfs *fs, const uint8_t md5[MD5_SIZE],
                       const uint8_t sha1[SHA1_SIZE], struct str text)
{
    *found = false;
    if (!fs->config.rep_sharing)
        return NULL;
    TRY(candidate(rep, found, fs, md5, sha1, text.n));
    if (!*found)
        return NULL;
    AUTO_ARENA(arena);
    struct err *err = equals_str(found, fs, rep, text, arena);
    if (err) {
        *found = false; /* stale, foreign or damaged: as good as no row */
        err_free(err);
    }
    return NULL;
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

struct err *share_find_stream(struct rep *rep, bool *found, struct fsfs *fs,
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
    if (err) {
        *found = false;
        err_free(err);
    }
    return NULL;
}
