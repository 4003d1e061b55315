/* SPDX-License-Identifier: Apache-2.0 */
#include "delta/encode.h"
#include "delta/svndiff.h"
#include "fsfs/read/rep_int.h"

/* The stored bytes as they are, where they are a document that needs no base, in a version that is
 * accepted; else *OUT is NULL. */
static struct err *wire_stored(struct blob **out, struct fsfs *fs, const struct rep *rep,
                               int max_version)
{
    AUTO_ARENA(scratch);
    struct stored stored;
    int version;
    *out = NULL;
    if (rep->size < SVNDIFF_HEADER_SIZE || rep->size > TEXT_WHOLE_MAX)
        return NULL;
    TRY(stored_find(&stored, fs, rep->rev, rep->item, rep->size, scratch));
    if (!stored.header.delta || stored.header.base_rev != REV_NONE)
        return NULL;
    struct str bytes;
    TRY(stored_bytes(&bytes, fs, &stored, scratch));
    TRY(svndiff_version(&version, bytes));
    if (version <= max_version)
        *out = blob_copy(bytes);
    return NULL;
}

static struct err *wire_encoded(struct blob **out, struct fsfs *fs, const struct rep *rep,
                                const struct svndiff_params *params)
{
    AUTO_ARENA(scratch);
    AUTO_BUF(document);
    const struct blob *text;
    TRY(rep_text(&text, fs, rep, scratch));
    delta_encode(&document, (struct str){0}, blob_str(text), params);
    *out = blob_copy(buf_view(&document));
    return NULL;
}

struct err *rep_wire(const struct blob **out, struct fsfs *fs, const struct rep *rep,
                     int max_version, int level, struct arena *arena)
{
    const int version = level == 0 ? 0 : max_version;
    const struct cache_key key =
        fsfs_cache_key(fs, (uint32_t)CACHE_WIRE + (uint32_t)version, (uint64_t)rep->rev, rep->item);
    if ((*out = cache_get(key, arena)))
        return NULL;
    if (rep->rev == REV_NONE)
        return err_make(E_FS_CORRUPT, "A representation of a transaction is not in a revision");
    struct blob *wire;
    TRY(rep_failed(wire_stored(&wire, fs, rep, version), rep->rev, rep->item));
    if (!wire && !rep_is_whole(rep))
        return NULL;
    if (!wire) {
        const struct svndiff_params params = {.version = version, .zlib_level = level};
        TRY(wire_encoded(&wire, fs, rep, &params));
    }
    cache_put(key, &wire->shared);
    *out = arena_keep(arena, &wire->shared);
    return NULL;
}
