/* SPDX-License-Identifier: Apache-2.0 */
/* rep.h - reading representations: texts and their delta chains (docs/formats/fsfs.md).
 *
 *   ("PLAIN" | "DELTA" [SP rev SP item SP base-size]) LF  data  "ENDREP" LF
 *
 * Texts up to TEXT_WHOLE_MAX come as blobs through the cache, each delta base too, so that walking
 * a history costs one delta a text. Larger ones stream: a stack of window decoders, one window and
 * one source view a level. */
#ifndef VARVE_FSFS_READ_REP_H
#define VARVE_FSFS_READ_REP_H

#include "base/stream.h"
#include "fsfs/format/noderev.h"
#include "fsfs/fs.h"

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
/* How long the delta chain of REP is, and over how many shards (for choosing delta bases). */
struct rep_chain {
    int length, shards;
};
struct err *rep_chain(struct rep_chain *out, struct fsfs *fs, const struct rep *rep,
                      struct arena *arena);

/* REP is new and stored against BASE (NULL: by itself): know its chain without reading it, where
 * that of BASE is known. */
void rep_chain_note(struct fsfs *fs, const struct rep *rep, const struct rep *base);

/* Ready svndiff of the text against the empty text, in a version that the receiver accepts
 * (MAX_VERSION 0, 1, 2; LEVEL 0 = no compression): the stored bytes where they are self-contained
 * and of that version, else made once; cached. NULL where the text is too large to be kept (stream
 * it). */
struct err *rep_wire(const struct blob **out, struct fsfs *fs, const struct rep *rep,
                     int max_version, int level, struct arena *arena);

#endif
