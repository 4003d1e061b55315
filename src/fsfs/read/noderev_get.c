/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/index.h"
#include "fsfs/read/item.h"
#include "fsfs/read/rep_int.h"

enum {
    NODEREV_VIEW = 512, /* bytes that most fit into */
};

/* ---- node-revisions ---- */

/* Parse the record at PLACE. A view of it that lacks its end has no empty line, which is an error:
 * then try a longer one. */
static struct err *record_parse(struct noderev **out, struct fsfs *fs,
                                const struct item_place *place, struct arena *arena)
{
    const uint64_t left = place->limit - place->offset;
    for (uint64_t n = NODEREV_VIEW;; n *= 8) {
        struct str text;
        size_t used;
        TRY(item_view(&text, fs, place, n < left ? n : left, arena));
        struct err *err = noderev_parse(out, &used, text);
        if (!err || text.n == left || n >= NODEREV_READ_MAX)
            return err;
        err_free(err);
    }
}

/* Early writers left the expanded size 0 where it equals the stored size, which only PLAIN says. */
static struct err *expanded_fix(struct rep *rep, struct fsfs *fs, struct arena *arena)
{
    struct stored stored;
    TRY(stored_find(&stored, fs, rep->rev, rep->item, rep->size, arena));
    if (!stored.header.delta)
        rep->expanded = rep->size;
    return NULL;
}

static bool expanded_is_doubtful(const struct rep *rep)
{
    return rep->expanded == 0 && rep->rev != REV_NONE && rep->size != 0;
}

static struct err *noderev_read(struct noderev **out, struct fsfs *fs, revnum rev, uint64_t item)
{
    AUTO_ARENA(scratch);
    struct item_place place;
    struct noderev *nr;
    TRY(item_find(&place, fs, rev, item, scratch));
    TRY(record_parse(&nr, fs, &place, scratch));
    struct err *err = NULL;
    if (nr->id.rev != rev || nr->id.item != item)
        err = err_make(E_FS_CORRUPT, "The node-revision calls itself '%.*s'",
                       STR(noderev_id_str(&nr->id, scratch)));
    if (!err && nr->has_text && expanded_is_doubtful(&nr->text))
        err = expanded_fix(&nr->text, fs, scratch);
    if (!err && nr->has_props && expanded_is_doubtful(&nr->props))
        err = expanded_fix(&nr->props, fs, scratch);
    if (err) {
        shared_unref(nr);
        return err;
    }
    *out = nr;
    return NULL;
}

static struct err *noderev_failed(struct err *err, struct fsfs *fs, revnum rev, uint64_t item)
{
    if (err->code == E_FS_NO_SUCH_REVISION)
        return err_wrap(
            err, E_FS_ID_NOT_FOUND,
            "Reference to non-existent node of revision %lld, item %llu in filesystem '%s'",
            (long long)rev, (unsigned long long)item, fs->uuid);
    /* Whatever is wrong inside, to who asked the filesystem is corrupt; what the system says stays.
     */
    return err_wrap(err, err_is_system(err) ? 0 : E_FS_CORRUPT,
                    "Can't read the node-revision of revision %lld, item %llu", (long long)rev,
                    (unsigned long long)item);
}

struct err *noderev_at(const struct noderev **out, struct fsfs *fs, revnum rev, uint64_t item,
                       struct arena *arena)
{
    const struct cache_key key = fsfs_cache_key(fs, CACHE_NODEREV, (uint64_t)rev, item);
    if ((*out = cache_get(key, arena)))
        return NULL;
    struct noderev *nr;
    struct err *err = noderev_read(&nr, fs, rev, item);
    if (err)
        return noderev_failed(err, fs, rev, item);
    cache_put(key, &nr->shared);
    *out = arena_keep(arena, &nr->shared);
    return NULL;
}

struct err *noderev_get(const struct noderev **out, struct fsfs *fs, const struct noderev_id *id,
                        struct arena *arena)
{
    if (id->rev == REV_NONE)
        return err_make(E_FS_ID_NOT_FOUND, "Node '%.*s' is in no revision",
                        STR(noderev_id_str(id, arena)));
    return noderev_at(out, fs, id->rev, id->item, arena);
}

struct err *noderev_root(const struct noderev **out, struct fsfs *fs, revnum rev,
                         struct arena *arena)
{
    struct noderev_id id;
    if (rev < 0)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld", (long long)rev);
    const uint64_t place = fs->logical ? ITEM_INDEX_ROOT : (uint64_t)NODEREV_ROOT_KEY;
    const struct cache_key key = fsfs_cache_key(fs, CACHE_NODEREV, (uint64_t)rev, place);
    if ((*out = cache_get(key, arena)) && (*out)->kind == NODE_DIR)
        return NULL;
    AUTO_ARENA(scratch);
    struct body *body;
    TRY(fsfs_body(&body, fs, rev, scratch)); /* here a missing revision is just that */
    TRY(item_root_id(&id, fs, rev, scratch));
    TRY(noderev_at(out, fs, rev, id.item, arena));
    if ((*out)->kind != NODE_DIR)
        return err_make(E_FS_CORRUPT, "The root of revision %lld is no directory", (long long)rev);
    if (!fs->logical)
        cache_put(key, (struct shared *)&(*out)->shared);
    return NULL;
}

/* The index does not tell of which kind an item is, but no other item begins as these do. */
static bool is_noderev(struct fsfs *fs, revnum rev, uint64_t item, struct arena *arena)
{
    const struct str begin = S("id: ");
    struct item_place place;
    struct str text;
    struct err *err = item_find(&place, fs, rev, item, arena);
    if (!err)
        err = item_view(&text, fs, &place, begin.n, arena);
    const bool is = !err && str_starts(text, begin);
    err_free(err); /* a slot without an item is no fault */
    return is;
}

struct err *noderevs_made(const struct noderev ***out, size_t *n, struct fsfs *fs, revnum rev,
                          struct arena *arena)
{
    *out = NULL;
    *n = 0;
    if (!fs->logical)
        return NULL;
    AUTO_ARENA(scratch);
    struct body *body;
    uint64_t items;
    TRY(fsfs_body(&body, fs, rev, scratch));
    TRY(l2p_item_count(&items, fs, body, rev, scratch));
    if (items > body->size) /* each takes a byte */
        return err_make(E_FS_INDEX_CORRUPTION, "Revision %lld is said to have %llu items",
                        (long long)rev, (unsigned long long)items);
    AUTO_BUF(found);
    for (uint64_t item = ITEM_INDEX_ROOT; item < items; item++) {
        const struct noderev *nr;
        if (!is_noderev(fs, rev, item, scratch))
            continue;
        struct err *err = noderev_at(&nr, fs, rev, item, arena);
        err_free(err);
        if (!err)
            buf_add(&found, &nr, sizeof nr);
    }
    *n = found.n / sizeof **out;
    *out = arena_array(arena, *n + 1, sizeof **out);
    if (found.n)
        memcpy(*out, found.p, found.n);
    return NULL;
}

/* ---- property lists ---- */

static struct err *props_read(struct props **out, struct fsfs *fs, const struct rep *rep)
{
    AUTO_ARENA(scratch);
    const struct blob *text;
    TRY(rep_text_up_to(&text, fs, rep, LIST_READ_MAX, scratch));
    return props_parse(out, blob_str(text));
}

struct err *noderev_props(const struct props **out, struct fsfs *fs, const struct noderev *nr,
                          struct arena *arena)
{
    *out = NULL;
    if (!nr->has_props)
        return NULL;
    const struct cache_key key =
        fsfs_cache_key(fs, CACHE_PROPS, (uint64_t)nr->props.rev, nr->props.item);
    if ((*out = cache_get(key, arena)))
        return NULL;
    struct props *props;
    struct err *err = props_read(&props, fs, &nr->props);
    if (err)
        return err_blame(err, err->code == E_MALFORMED_FILE ? E_FS_CORRUPT_PROPLIST : 0,
                         "malformed property list for node-revision '%.*s'",
                         STR(noderev_id_str(&nr->id, arena)));
    cache_put(key, &props->shared);
    *out = arena_keep(arena, &props->shared);
    return NULL;
}
