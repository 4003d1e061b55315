/* SPDX-License-Identifier: Apache-2.0 */
/* noderev.h - one node-revision: a file or directory as it is since one revision
 * (docs/formats/fsfs.md).
 *
 *   id: 3-2.0.r4/5 LF  type: file LF  [pred: id LF]  count: n LF  [text: rep LF]  [props: rep LF]
 *   cpath: /a LF  [copyfrom: rev path LF]  [copyroot: rev path LF]  [minfo-cnt: n LF]  [minfo-here:
 * y LF]  LF
 *
 * A representation says where the bytes of a text, a directory or a property list are and what they
 * expand to:
 *
 *   <rev> <item> <size> <expanded-size> <md5> [<sha1>|- <uniquifier>|-] */
#ifndef VARVE_FSFS_FORMAT_NODEREV_H
#define VARVE_FSFS_FORMAT_NODEREV_H

#include "base/digest.h"
#include "base/shared.h"
#include "fsfs/format/id.h"

struct rep {
    revnum rev; /* REV_NONE: in the transaction, not yet in a revision */
    uint64_t item;
    uint64_t size;                          /* stored bytes between the header line and ENDREP */
    uint64_t expanded;                      /* bytes of the full text */
    uint8_t md5[MD5_SIZE], sha1[SHA1_SIZE]; /* all zero: unknown */
    bool has_sha1, has_uniq;
    struct txn_id uniq_txn;
    uint64_t uniq_num;
};

struct noderev {
    struct shared shared;
    struct noderev_id id;
    enum node_kind kind;
    bool has_pred, has_text, has_props;
    bool minfo_here; /* has svn:mergeinfo itself */
    bool fresh_txn_root;
    struct noderev_id pred;
    uint64_t count; /* predecessors */
    struct rep text, props;
    struct str cpath;    /* created-path */
    revnum copyfrom_rev; /* REV_NONE: not a copy */
    struct str copyfrom_path;
    revnum copyroot_rev; /* always filled in: its own revision and path where the file says none */
    struct str copyroot_path;
    int64_t minfo_cnt; /* nodes with svn:mergeinfo at or below */
};

/* Parse a whole record (up to and with the empty line). A pure function of its bytes. The result is
 * one malloc block with one reference (shared_unref). *USED: bytes of TEXT consumed. Errors:
 * E_FS_CORRUPT with what is wrong; callers add where. */
struct err *noderev_parse(struct noderev **out, size_t *used, struct str text);
/* FORMAT (1-8) decides fields and the rep's form. copyroot is left out where it equals the node's
 * own (REV, cpath). */
void noderev_format(struct buf *out, const struct noderev *noderev, int format);

enum { REP_STR_MAX = 5 * 21 + 32 + 40 + 64 };
struct err *rep_parse(struct rep *out, struct str text);
/* IS_PROPS and IS_DIR decide which of sha1 and uniquifier stand. */
void rep_format(struct buf *out, const struct rep *rep, int format, bool is_dir_text,
                bool is_props);
/* Same stored bytes and uniquifier: what "contents changed?" means. */
bool rep_same(const struct rep *a, const struct rep *b);
/* The MD5 of a file's text; a file that was never given one has the empty text. */
void noderev_md5(uint8_t md5[MD5_SIZE], const struct noderev *noderev);
struct str noderev_md5_hex(const struct noderev *noderev, struct arena *arena);
/* Have two files the same text, as far as checksums tell? */
bool noderev_same_text(const struct noderev *a, const struct noderev *b);
/* Is it the same text, are they the same properties, as stored? What was written again is not, even
 * if it says the same. */
bool noderev_shares_text(const struct noderev *a, const struct noderev *b);
bool noderev_shares_props(const struct noderev *a, const struct noderev *b);
/* Was it changed in REV where its predecessor was? Both are of the same copy, then. */
bool noderev_goes_on(const struct noderev *noderev, revnum rev);
/* The same fulltext as far as checksums tell: by expanded size and md5 (and sha1 where both have
 * it). */
bool rep_same_text(const struct rep *a, const struct rep *b);

#endif
