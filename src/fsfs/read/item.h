/* SPDX-License-Identifier: Apache-2.0 */
/* item.h - from (revision, item) to bytes: manifests, L2P indexes, block reads.
 *
 * Physical addressing: an item is a byte offset from the start of the revision's own data. Logical:
 * an index that the L2P index of the revision file or pack translates. Reads go through 64 KiB
 * blocks in the process-wide cache; long reads bypass it. */
#ifndef VARVE_FSFS_READ_ITEM_H
#define VARVE_FSFS_READ_ITEM_H

#include "fsfs/fs.h"

enum {
    ITEM_UNUSED,
    ITEM_FILE_REP,
    ITEM_DIR_REP,
    ITEM_FILE_PROPS,
    ITEM_DIR_PROPS,
    ITEM_NODEREV,
    ITEM_CHANGES,
    ITEM_TYPES
};
enum { ITEM_INDEX_CHANGES = 1, ITEM_INDEX_ROOT = 2, ITEM_INDEX_FIRST_FREE = 3 };

/* Was the node-revision A written after B? The root of a revision is written last, though under
 * logical addressing its number says otherwise (under physical no node-revision has that number).
 */
static inline bool item_is_later(const struct noderev_id *a, const struct noderev_id *b)
{
    if (a->rev != b->rev)
        return a->rev > b->rev;
    return b->item != ITEM_INDEX_ROOT && (a->item == ITEM_INDEX_ROOT || a->item > b->item);
}

/* Where an item is. LIMIT is the offset behind which its bytes cannot reach (end of the revision's
 * data). */
struct item_place {
    struct body *body;
    uint64_t offset, limit;
};
struct err *item_find(struct item_place *out, struct fsfs *fs, revnum rev, uint64_t item,
                      struct arena *arena);
/* The places of the changed-path list and of the root node-revision of REV. */
struct err *item_find_changes(struct item_place *out, struct fsfs *fs, revnum rev,
                              struct arena *arena);
struct err *item_root_id(struct noderev_id *out, struct fsfs *fs, revnum rev, struct arena *arena);

/* The text that begins with the changed-path list of REV, in ALL bytes of a revision file that
 * holds nothing else; ARENA is for the way there. Pure. E_FS_CORRUPT, E_FS_INDEX_CORRUPTION. */
struct err *item_changes_within(struct str *out, struct str all, bool logical, revnum rev,
                                struct arena *arena);

/* A view of the bytes from PLACE on, at least MIN of them (E_FS_CORRUPT where the data end before),
 * usually more: as many as lie in the cached block. Valid with the arena. */
struct err *item_view(struct str *out, struct fsfs *fs, const struct item_place *place, size_t min,
                      struct arena *arena);
/* N bytes from PLACE + AT to TO, for long reads. */
struct err *item_read(void *to, size_t n, struct fsfs *fs, const struct item_place *place,
                      uint64_t at);
/* Ask for items ahead: sorted and merged, handed to the store in one batch. */
struct item_name {
    revnum rev;
    uint64_t item;
    uint64_t size; /* estimated bytes; 0 = unknown */
};
void items_prefetch(struct fsfs *fs, const struct item_name *items, size_t n);

/* Pure parsers. The manifest of a physical pack of N revisions and SIZE bytes: STARTS gets their N
 * offsets, and SIZE behind them. */
struct err *manifest_parse(uint64_t *starts, size_t n, struct str text, uint64_t size);
/* The last line of a physically addressed revision, of which TAIL is the end: the offsets of the
 * root node-revision and of the changed-path list; *LENGTH: its bytes with the LF. */
struct err *trailer_parse(uint64_t *root, uint64_t *changes, size_t *length, struct str tail);

#endif
