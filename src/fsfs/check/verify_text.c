/* SPDX-License-Identifier: Apache-2.0 */
/* verify_text.c - representations: what they expand to, and what the rep-cache says of them. */
#include "fsfs/check/verify_int.h"
#include "fsfs/read/item.h"
#include "fsfs/read/rep_int.h"
#include <stdlib.h>

enum { CHUNK = 64 * 1024 }; /* bytes of a long text digested at a time */

/* What a representation has been found to hold. Many node-revisions may share it, each with digests
 * of its own to be compared. */
struct found {
    struct shared shared;
    uint64_t size, expanded;
    uint8_t md5[MD5_SIZE], sha1[SHA1_SIZE];
    bool has_sha1;
};

/* ---- what stands around the bytes ---- */

/* "ENDREP" behind the stored bytes shows that their number is right. */
static struct err *end_check(struct fsfs *fs, const struct item_place *data, uint64_t limit,
                             struct arena *arena)
{
    const struct str mark = S("ENDREP\n");
    const struct item_place end = {data->body, data->limit, limit};
    struct str text;
    TRY(item_view(&text, fs, &end, mark.n, arena));
    if (!str_starts(text, mark))
        return err_make(E_FS_CORRUPT, "Its bytes do not end with ENDREP");
    return NULL;
}

/* The representation REV, ITEM, whose stored bytes are said to be SIZE. */
static struct err *frame_check(struct rep_header *header, struct fsfs *fs, revnum rev,
                               uint64_t item, uint64_t size, struct arena *arena)
{
    struct item_place place;
    struct stored stored;
    TRY(stored_find(&stored, fs, rev, item, size, arena));
    *header = stored.header;
    TRY(item_find(&place, fs, rev, item, arena));
    return rep_failed(end_check(fs, &stored.data, place.limit, arena), rev, item);
}

/* Where items have checksums no more is needed than that the header line says the right size of the
 * base. */
static struct err *frames_check(struct fsfs *fs, const struct rep *rep, struct arena *arena)
{
    struct rep_header header, base;
    TRY(frame_check(&header, fs, rep->rev, rep->item, rep->size, arena));
    if (!header.delta || header.base_rev == REV_NONE)
        return NULL;
    struct err *err =
        frame_check(&base, fs, header.base_rev, header.base_item, header.base_size, arena);
    return rep_failed(err, rep->rev, rep->item);
}

/* ---- texts ---- */

static struct err *whole_digest(struct found *found, struct fsfs *fs, const struct rep *rep,
                                struct arena *arena)
{
    const struct blob *text;
    bool fresh;
    TRY(rep_text_noting(&text, &fresh, fs, rep, TEXT_WHOLE_MAX, arena));
    found->expanded = text->n;
    if (found->has_sha1)
        sha1_of(found->sha1, blob_str(text));
    if (fresh && rep_md5_is_known(rep))
        memcpy(found->md5, rep->md5, MD5_SIZE);
    else
        md5_of(found->md5, blob_str(text));
    return NULL;
}

static struct err *long_digest(struct found *found, struct fsfs *fs, const struct rep *rep)
{
    struct reader *reader;
    TRY(rep_open(&reader, fs, rep)); /* compares the MD5 at the end */
    char *chunk = mem_alloc(CHUNK);
    struct digest *digest =
        digest_new((found->has_sha1 ? DIGEST_SHA1 : 0) | (rep_md5_is_known(rep) ? 0 : DIGEST_MD5));
    struct err *err = NULL;
    for (size_t got = 1; !err && got; found->expanded += got) {
        got = 0;
        err = reader_read(reader, chunk, CHUNK, &got);
        digest_add(digest, str_make(chunk, got));
    }
    if (rep_md5_is_known(rep))
        memcpy(found->md5, rep->md5, MD5_SIZE);
    else
        digest_md5(digest, found->md5);
    if (found->has_sha1)
        digest_sha1(digest, found->sha1);
    digest_free(digest);
    free(chunk);
    reader_close(reader);
    return err;
}

static struct err *found_make(struct found **out, struct fsfs *fs, const struct rep *rep,
                              struct arena *arena)
{
    if (!fs->logical)
        TRY(frames_check(fs, rep, arena));
    struct found *found = mem_zalloc(sizeof *found);
    shared_init(&found->shared, sizeof *found, shared_free_plain);
    found->size = rep->size;
    found->has_sha1 = rep->has_sha1;
    struct err *err =
        rep_is_whole(rep) ? whole_digest(found, fs, rep, arena) : long_digest(found, fs, rep);
    if (err) {
        shared_unref(found);
        return err;
    }
    cache_put(fsfs_cache_key(fs, CACHE_VERIFIED, (uint64_t)rep->rev, rep->item), &found->shared);
    *out = arena_keep(arena, &found->shared);
    return NULL;
}

static struct err *compare(const struct found *found, const struct rep *rep)
{
    static const uint8_t unknown[SHA1_SIZE];
    if (found->size != rep->size)
        return err_make(E_FS_CORRUPT, "It has %llu stored bytes where %llu are expected",
                        (unsigned long long)found->size, (unsigned long long)rep->size);
    if (found->expanded != rep->expanded && rep->expanded)
        return err_make(E_FS_CORRUPT, "The text has %llu bytes where %llu are expected",
                        (unsigned long long)found->expanded, (unsigned long long)rep->expanded);
    TRY(rep_check_md5(rep, found->md5));
    if (rep->has_sha1 && memcmp(rep->sha1, unknown, SHA1_SIZE) != 0 &&
        memcmp(rep->sha1, found->sha1, SHA1_SIZE) != 0)
        return checksum_mismatch(rep->sha1, found->sha1, SHA1_SIZE,
                                 "Checksum mismatch while reading representation");
    return NULL;
}

struct err *verify_rep(struct fsfs *fs, const struct rep *rep, revnum rev)
{
    AUTO_ARENA(scratch);
    if (rep->rev == REV_NONE || rep->rev > rev)
        return err_make(E_FS_CORRUPT, "Its representation is said to be in revision %lld",
                        (long long)rep->rev);
    const struct cache_key key = fsfs_cache_key(fs, CACHE_VERIFIED, (uint64_t)rep->rev, rep->item);
    struct found *found = cache_get(key, scratch);
    if (!found || (rep->has_sha1 && !found->has_sha1))
        TRY(found_make(&found, fs, rep, scratch));
    return rep_failed(compare(found, rep), rep->rev, rep->item);
}

/* ---- rows of the rep-cache ---- */

struct err *verify_row(struct fsfs *fs, const struct repcache_row *row, bool deep)
{
    AUTO_ARENA(scratch);
    struct item_place place;
    struct rep_header header;
    TRY(fsfs_check_revision(fs, row->rev));
    TRY(item_find(&place, fs, row->rev, row->item, scratch));
    struct err *err = frame_check(&header, fs, row->rev, row->item, row->size, scratch);
    if (err)
        return err_blame(err, E_FS_CORRUPT,
                         "No representation found at offset %llu for item %llu in revision %lld, "
                         "which the rep-cache names",
                         (unsigned long long)place.offset, (unsigned long long)row->item,
                         (long long)row->rev);
    if (!deep)
        return NULL;
    struct rep rep = {.rev = row->rev,
                      .item = row->item,
                      .size = row->size,
                      .expanded = row->expanded,
                      .has_sha1 = true,
                      .uniq_txn.base = REV_NONE};
    memcpy(rep.sha1, row->sha1, SHA1_SIZE);
    return err_blame(verify_rep(fs, &rep, row->rev), 0,
                     "The rep-cache names revision %lld, item %llu wrongly", (long long)row->rev,
                     (unsigned long long)row->item);
}
