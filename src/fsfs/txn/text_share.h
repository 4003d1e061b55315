/* SPDX-License-Identifier: Apache-2.0 */
/* text_share.h - finding a stored text with the same bytes. */
#ifndef VARVE_FSFS_TXN_TEXT_SHARE_H
#define VARVE_FSFS_TXN_TEXT_SHARE_H

#include "fsfs/read/rep.h"

/* Is there a stored representation of TEXT, which is PATH's and has these digests? REP->rev, item,
 * size are set where so. Believes nothing unseen. share_collision where there is one of another
 * text with this SHA-1. */
struct err *share_find(struct rep *rep, bool *found, struct fsfs *fs, struct str path,
                       const uint8_t md5[MD5_SIZE], const uint8_t sha1[SHA1_SIZE], struct str text);
/* The same for a text that OPEN(ARG) reads. */
struct err *share_find_stream(struct rep *rep, bool *found, struct fsfs *fs, struct str path,
                              const uint8_t md5[MD5_SIZE], const uint8_t sha1[SHA1_SIZE],
                              uint64_t expanded,
                              struct err *(*open)(struct reader **out, void *arg), void *arg);
/* PATH's text and a stored one of REV (REV_NONE: of this transaction) have SHA1, but differ. We
 * could keep both; working copies, which know texts by their SHA-1, show one of them for both.
 * E_FS_AMBIGUOUS_CHECKSUM_REP, unless the configuration allows it. */
struct err *share_collision(const struct fsfs *fs, struct str path, const uint8_t sha1[SHA1_SIZE],
                            revnum rev);
/* Do both readers give the same bytes? Closes them. */
struct err *readers_equal(bool *out, struct reader *a, struct reader *b);

#endif
