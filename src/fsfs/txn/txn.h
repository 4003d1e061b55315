/* SPDX-License-Identifier: Apache-2.0 */
/* txn.h - a transaction: the tree of a revision in the making.
 *
 * A transaction lives in memory: the nodes on the way to every change are copied up ("made
 * mutable"), everything else is the base revision's. File texts stream into a draft as they arrive,
 * deltified against their predecessor and compressed on the way, so memory stays bounded whatever
 * their size. txn_spill writes it out in FSFS's own transaction layout for the eyes of other
 * processes (hooks that run svnlook -t).
 *
 *     txn_begin -> txn_make_dir / txn_make_file / txn_copy / txn_delete / txn_set_prop / txn_text_*
 * -> txn_commit | txn_abort
 *
 * Paths are absolute and canonical. One thread at a time. Ids, copy-ids, copyroots, counts and
 * mergeinfo counters are those that stock tools give. */
#ifndef VARVE_FSFS_TXN_TXN_H
#define VARVE_FSFS_TXN_TXN_H

#include "base/stream.h"
#include "fsfs/format/changes.h"
#include "fsfs/format/noderev.h"
#include "fsfs/fs.h"
#include "fsfs/read/dir.h"
#include "fsfs/txn/locks.h"

struct txn;
struct txn_node; /* a node as the transaction has it: mutable or still the base's */

/* Begin on revision BASE. Its name is "<base>-<base36>". */
struct err *txn_begin(struct txn **out, struct fsfs *fs, revnum base);
void txn_abort(struct txn *txn); /* frees; NULL is fine */
revnum txn_base(const struct txn *txn);
struct str txn_name(const struct txn *txn);
struct fsfs *txn_fs(const struct txn *txn);

/* Revision properties to be. svn:date is stamped at commit unless KEEP_DATE. */
void txn_set_revprop(struct txn *txn, struct str name, const struct str *value); /* NULL removes */
const struct str *txn_revprop(const struct txn *txn, struct str name);
const struct proplist *txn_revprops(const struct txn *txn);
void txn_keep_date(struct txn *txn, bool keep);

/* ---- looking ---- */

/* The node at PATH; *OUT NULL where there is none. Valid until the transaction is next changed, in
 * ARENA. */
struct err *txn_find(const struct txn_node **out, struct txn *txn, struct str path,
                     struct arena *arena);
/* The same, but an error as below where there is none. */
struct err *txn_get(const struct txn_node **out, struct txn *txn, struct str path,
                    struct arena *arena);
enum node_kind txn_node_kind(const struct txn_node *node);
/* Changed or made in this transaction; the root, too, is not before something in it is. */
bool txn_node_is_mutable(const struct txn_node *node);
/* The node-revision as it would be written now (ids in transaction form where mutable; text and
 * props reps as far as known). */
const struct noderev *txn_node_noderev(const struct txn_node *node);
struct err *txn_node_props(const struct prop **list, size_t *n, struct txn *txn,
                           const struct txn_node *node, struct arena *arena);
struct err *txn_node_entries(struct dirent_fs **list, size_t *n, struct txn *txn,
                             const struct txn_node *node, struct arena *arena);
struct err *
txn_node_text(struct reader **out, struct txn *txn,
              const struct txn_node *node); /* also of new texts: reread from the draft */

/* ---- changing ----
 * Common errors: E_FS_NOT_FOUND "File not found: transaction 'T', path '/p'", E_FS_ALREADY_EXISTS
 * "File already exists: filesystem 'UUID', transaction 'T', path '/p'", E_FS_NOT_DIRECTORY,
 * E_FS_ROOT_DIR; E_FS_PATH_SYNTAX for a new path that is not UTF-8. */

struct err *txn_make_dir(struct txn *txn, struct str path);
struct err *txn_make_file(struct txn *txn, struct str path);
struct err *txn_delete(struct txn *txn, struct str path);
/* Copy FROM_PATH of revision FROM_REV (<= base) to PATH, with history; replaces what is at PATH as
 * part of the copy if it exists. */
struct err *txn_copy(struct txn *txn, struct str path, revnum from_rev, struct str from_path);
struct err *txn_set_prop(struct txn *txn, struct str path, struct str name,
                         const struct str *value); /* NULL removes; keeps minfo counters. A change,
                                                    * as by stock tools, also if there was none. */
/* Make PATH mutable and record "modified" without a difference (an open-file or touch that a client
 * sends still makes no change: not called then). */

/* A new text for the file PATH. Push fulltext; the delta base is chosen by base.h. BASE_MD5
 * (may be NULL) is checked against the present text: E_CHECKSUM_MISMATCH "Base checksum mismatch on
 * '/p'". One text at a time may be open per file, many per transaction: those that are small are
 * held in memory until closed, a large one streams into the draft, a second large one into a side
 * draft. */
struct txn_text;
struct err *txn_text_begin(struct txn_text **out, struct txn *txn, struct str path,
                           const uint8_t *base_md5);
struct err *txn_text_write(struct txn_text *text, struct str bytes);
/* RESULT_MD5, RESULT_SHA1 (may be NULL) are checked: E_CHECKSUM_MISMATCH "Checksum mismatch for
 * '/p'". Frees TEXT. */
struct err *txn_text_end(struct txn_text *text, const uint8_t *result_md5,
                         const uint8_t *result_sha1);
void txn_text_abandon(struct txn_text *text);
/* The same from an svndiff against the present text (wire, dump --deltas): feed the document's
 * bytes. */
struct err *txn_delta_begin(struct txn_text **out, struct txn *txn, struct str path,
                            const uint8_t *base_md5);
struct err *txn_delta_write(struct txn_text *text,
                            struct str svndiff_bytes); /* txn_text_end ends it too */
struct err *txn_delta_end(struct txn_text *text); /* no more bytes come: is the document whole? */

/* The changed paths, folded and sorted by path. */
struct err *txn_changes(struct changes **out, struct txn *txn); /* one reference */

/* ---- other processes' eyes ---- */
struct err *txn_spill(struct txn *txn); /* write transactions/<name>.txn and its proto-revision */
struct err *
txn_unspill_changes(struct txn *txn); /* read back revision properties that a hook changed there */
struct err *txn_list(struct str **names, size_t *n, struct fsfs *fs,
                     struct arena *arena); /* those on disk */
/* A transaction that is on disk (made by stock tools or spilled): for svnlook -t, verify -t, DAV.
 * E_FS_NO_SUCH_TRANSACTION, E_FS_MALFORMED_TXN_ID. */
struct err *txn_load(struct txn **out, struct fsfs *fs, struct str name);
struct err *txn_remove(struct fsfs *fs, struct str name); /* the files of one that is on disk */

#endif
