/* SPDX-License-Identifier: Apache-2.0 */
/* rep.h - reading representations: node-revisions, texts, property lists (docs/formats/fsfs.md).
 *
 *   ("PLAIN" | "DELTA" [SP rev SP item SP base-size]) LF  data  "ENDREP" LF
 *
 * Texts up to TEXT_WHOLE_MAX come as blobs through the cache, each delta base too, so that walking
 * a history costs one delta a text. Larger ones stream: a stack of window decoders, one window and
 * one source view a level. */
#ifndef VARVE_FSFS_REP_H
#define VARVE_FSFS_REP_H

#include "base/stream.h"
#include "fsfs/fs.h"
#include "fsfs/noderev.h"

enum {
    TEXT_WHOLE_MAX = 4 << 20, /* bytes: what may be expanded in memory as one piece */
};

/* The header line. */
struct rep_header {
    bool delta;
    revnum base_rev; /* REV_NONE: PLAIN, or against the empty text */
    uint64_t base_item, base_size;
    size_t length; /* of the line with its LF */
};
struct err *rep_header_parse(struct rep_header *out, struct str text); /* pure */

/* The node-revision ID names (in a revision). Kept in ARENA. E_FS_ID_NOT_FOUND, E_FS_CORRUPT with
 * revision and item. */
struct err *noderev_get(const struct noderev **out, struct fsfs *fs, const struct noderev_id *id,
                        struct arena *arena);
struct err *noderev_at(const struct noderev **out, struct fsfs *fs, revnum rev, uint64_t item,
                       struct arena *arena);
/* The node-revisions that REV made, in no order, where its index tells them (logical addressing;
 * else none): who goes through a revision's changes finds them by their created paths without
 * reading the folders above. What cannot be read is left out: who looks for it in the tree meets
 * the error. */
struct err *noderevs_made(const struct noderev ***out, size_t *n, struct fsfs *fs, revnum rev,
                          struct arena *arena);
/* Where the cache has the root of a revision, under physical addressing besides its own place: it
 * saves reading the trailer. */
enum { NODEREV_ROOT_KEY = -1 };
struct err *noderev_root(const struct noderev **out, struct fsfs *fs, revnum rev,
                         struct arena *arena); /* E_FS_NO_SUCH_REVISION */

/* The whole text; at most TEXT_WHOLE_MAX (else E_FS_GENERAL: ask rep_is_whole first). Its MD5 is
 * verified when it is first expanded. */
bool rep_is_whole(const struct rep *rep);
struct err *rep_text(const struct blob **out, struct fsfs *fs, const struct rep *rep,
                     struct arena *arena);
/* The text as a reader, of any size; MD5 verified at the end ("Checksum mismatch while reading
 * representation"). ARENA is not kept. */
struct err *rep_open(struct reader **out, struct fsfs *fs, const struct rep *rep);
/* The stored bytes (between header and ENDREP) with their header: for pass-through and for verify.
 */
struct err *rep_open_stored(struct reader **out, struct rep_header *header, struct fsfs *fs,
                            const struct rep *rep);
/* A property list; NULL where the node has none. */
struct err *noderev_props(const struct props **out, struct fsfs *fs, const struct noderev *noderev,
                          struct arena *arena);
/* The file's size. */
static inline uint64_t noderev_size(const struct noderev *nr)
{
    return nr->has_text ? nr->text.expanded : 0;
}

/* How long the delta chain of REP is, and over how many shards (for choosing delta bases). */
struct rep_chain {
    int length, shards;
};
struct err *rep_chain(struct rep_chain *out, struct fsfs *fs, const struct rep *rep,
                      struct arena *arena);

/* REP is new and stored against BASE (NULL: by itself): know its chain without reading it, where
 * that of BASE is known. */
void rep_chain_note(struct fsfs *fs, const struct rep *rep, const struct rep *base);

/* Ask the disk ahead, for a reader that wants all of these soon (a cold export): node-revisions;
 * representations and, round by round, the delta bases that their header lines name. Returns when
 * all is asked for; what is cached is left out. */
void noderevs_prefetch(struct fsfs *fs, const struct noderev_id *ids, size_t n);
void reps_prefetch(struct fsfs *fs, const struct rep *reps, size_t n);

/* Ready svndiff of the text against the empty text, in a version that the receiver accepts
 * (MAX_VERSION 0, 1, 2; LEVEL 0 = no compression): the stored bytes where they are self-contained
 * and of that version, else made once; cached. NULL where the text is too large to be kept (stream
 * it). */
struct err *rep_wire(const struct blob **out, struct fsfs *fs, const struct rep *rep,
                     int max_version, int level, struct arena *arena);

#endif
