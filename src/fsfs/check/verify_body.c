/* SPDX-License-Identifier: Apache-2.0 */
/* verify_body.c - a revision file or a pack as bytes: are they those that were written? */
#include "fsfs/check/verify_int.h"
#include "fsfs/read/index.h"
#include <string.h>

/* ---- reading in order ---- */

/* A view that moves through a body, one cached block after the other. */
struct window {
    struct fsfs *fs;
    struct body *body;
    uint64_t offset; /* of VIEW in the body */
    struct str view;
    struct arena *arena; /* holds the block */
};

/* As much as is at hand from offset AT on. */
static struct err *window_at(struct str *out, struct window *w, uint64_t at)
{
    if (at < w->offset || at - w->offset >= w->view.n) {
        const struct item_place place = {w->body, at, w->body->size};
        struct arena *fresh = arena_new();
        struct err *err = item_view(&w->view, w->fs, &place, 1, fresh);
        arena_free(w->arena);
        w->arena = fresh;
        w->offset = at;
        if (err) {
            w->view = (struct str){0};
            return err;
        }
    }
    *out = str_skip(w->view, (size_t)(at - w->offset));
    return NULL;
}

/* ---- item checksums ---- */

static bool is_zero(struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        if (bytes.p[i])
            return false;
    return true;
}

static const char *type_word(int type)
{
    static const char *const words[ITEM_TYPES] = {
        [ITEM_UNUSED] = "padding",
        [ITEM_FILE_REP] = "a file's text",
        [ITEM_DIR_REP] = "a directory's entries",
        [ITEM_FILE_PROPS] = "a file's properties",
        [ITEM_DIR_PROPS] = "a directory's properties",
        [ITEM_NODEREV] = "a node-revision",
        [ITEM_CHANGES] = "the changed paths",
    };
    return words[type];
}

static struct err *item_damaged(const struct body *body, const struct p2l_entry *entry)
{
    AUTO_ARENA(scratch);
    struct err *cause =
        err_make(E_FS_CORRUPT, "Revision %lld, item %llu (%s) is damaged", (long long)entry->rev,
                 (unsigned long long)entry->item, type_word(entry->type));
    return err_wrap(cause, E_FS_CORRUPT,
                    "Checksum mismatch in item at offset %llu of length %llu bytes in file %s/%.*s",
                    (unsigned long long)entry->offset, (unsigned long long)entry->size,
                    store_path(body->store), STR(body_name(body, scratch)));
}

static struct err *item_check(struct window *w, const struct p2l_entry *entry)
{
    struct fnv1a_32x4 sum;
    struct str bytes;
    bool good = true;
    fnv1a_32x4_init(&sum);
    for (uint64_t done = 0; done < entry->size; done += bytes.n) {
        TRY(window_at(&bytes, w, entry->offset + done));
        if (bytes.n > entry->size - done)
            bytes.n = (size_t)(entry->size - done);
        if (entry->type == ITEM_UNUSED)
            good = good && is_zero(bytes);
        else if (bytes.n == entry->size)
            good = fnv1a_32x4(bytes) == entry->checksum;
        else
            fnv1a_32x4_add(&sum, bytes);
        if (entry->type != ITEM_UNUSED && done && done + bytes.n == entry->size)
            good = fnv1a_32x4_end(&sum) == entry->checksum;
    }
    return good ? NULL : item_damaged(w->body, entry);
}

static struct err *items_check(struct fsfs *fs, struct body *body, const struct p2l_entry *entries,
                               size_t n)
{
    struct window w = {.fs = fs, .body = body};
    struct err *err = NULL;
    for (size_t i = 0; i < n && !err; i++)
        err = item_check(&w, &entries[i]);
    arena_free(w.arena);
    return err;
}

/* ---- one index against the other ---- */

static const struct p2l_entry *entry_at(const struct p2l_entry *entries, size_t n, uint64_t offset)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (entries[middle].offset == offset)
            return &entries[middle];
        if (entries[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Each used slot has the item that the other index puts there, and there are no more of these: so
 * both say the same. */
static struct err *indexes_compare(struct body *body, const struct p2l_entry *p2l, size_t p2l_n,
                                   const struct l2p_entry *l2p, size_t l2p_n, struct arena *arena)
{
    size_t used = 0;
    for (size_t i = 0; i < p2l_n; i++)
        used += p2l[i].type != ITEM_UNUSED;
    for (size_t i = 0; i < l2p_n; i++) {
        const struct p2l_entry *entry = entry_at(p2l, p2l_n, l2p[i].offset);
        if (!entry || entry->type == ITEM_UNUSED || entry->rev != l2p[i].rev ||
            entry->item != l2p[i].item)
            return err_make(E_FS_INDEX_INCONSISTENT,
                            "L2P index of '%.*s' puts item %llu of revision %lld at offset %llu, "
                            "where the P2L index has it not",
                            STR(body_name(body, arena)), (unsigned long long)l2p[i].item,
                            (long long)l2p[i].rev, (unsigned long long)l2p[i].offset);
    }
    if (used != l2p_n)
        return err_make(E_FS_INDEX_INCONSISTENT,
                        "P2L index of '%.*s' has %zu items, its L2P index %zu",
                        STR(body_name(body, arena)), used, l2p_n);
    return NULL;
}

static struct err *logical_check(struct fsfs *fs, struct body *body)
{
    AUTO_ARENA(scratch);
    struct p2l_entry *p2l;
    struct l2p_entry *l2p;
    size_t p2l_n, l2p_n;
    TRY(index_check_digests(fs, body, scratch));
    TRY(p2l_entries(&p2l, &p2l_n, fs, body, scratch));
    TRY(l2p_entries(&l2p, &l2p_n, fs, body, scratch));
    TRY(indexes_compare(body, p2l, p2l_n, l2p, l2p_n, scratch));
    return items_check(fs, body, p2l, p2l_n);
}

/* ---- bodies ---- */

struct err *verify_body(revnum *first, revnum *last, struct fsfs *fs, revnum rev)
{
    AUTO_ARENA(scratch);
    struct body *body;
    *first = *last = rev;
    TRY(fsfs_body(&body, fs, rev, scratch));
    if (body->packed) {
        *first = body->first_rev;
        *last = body->first_rev + fs->shard_size - 1;
    }
    return fs->logical ? logical_check(fs, body) : NULL;
}
