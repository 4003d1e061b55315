/* SPDX-License-Identifier: Apache-2.0 */
/* rep_int.h - what the readers of representations share.
 *
 *   rep.c         header lines, stored bytes, delta chains, whole texts
 *   rep_stream.c  texts as readers
 *   rep_wire.c    texts as ready svndiff */
#ifndef VARVE_FSFS_READ_REP_INT_H
#define VARVE_FSFS_READ_REP_INT_H

#include "fsfs/read/index_int.h"
#include "fsfs/read/rep.h"

enum { REP_HEADER_MAX = 80 }; /* bytes: "DELTA" and three numbers of 20 digits fit */

/* One representation as it is stored. */
struct stored {
    struct item_place data; /* from behind the header line to where SIZE says that the bytes end */
    struct rep_header header;
    struct str view; /* as many of the first data bytes as are at hand; with the arena */
};
/* SIZE: as the node-revision or the delta's header line has it. Errors: E_FS_CORRUPT. */
struct err *stored_find(struct stored *out, struct fsfs *fs, revnum rev, uint64_t item,
                        uint64_t size, struct arena *arena);
/* All data bytes as one view. */
struct err *stored_bytes(struct str *out, struct fsfs *fs, const struct stored *stored,
                         struct arena *arena);

/* A delta chain, from a representation down to what needs no further base. */
struct link {
    struct link *above; /* whose base this is; NULL at the top */
    revnum rev;
    uint64_t item, size;
    bool is_open; /* STORED is filled in: not so for the far end of very long chains, to bound what
                     they hold */
    struct stored stored;
};
struct chain {
    struct link *bottom;
    const struct blob *base; /* the text that the bottom's delta is against; NULL: none */
};
/* Ends at the first base whose text is cached. Errors: E_FS_CORRUPT, also where the chain is a
 * loop. */
struct err *chain_walk(struct chain *out, struct fsfs *fs, const struct rep *rep,
                       struct arena *arena);
struct err *link_open(struct stored *out, struct fsfs *fs, const struct link *link,
                      struct arena *arena);

/* ERR (NULL stays NULL) with the representation's name around it; E_FS_CORRUPT unless the system
 * failed. */
struct err *rep_failed(struct err *err, revnum rev, uint64_t item);
/* MD5 against what REP says; nothing where that is unknown. */
struct err *rep_check_md5(const struct rep *rep, const uint8_t md5[MD5_SIZE]);
bool rep_md5_is_known(const struct rep *rep);

/* A whole text of at most LIMIT bytes, cached only where it is at most TEXT_WHOLE_MAX long. */
struct err *rep_text_up_to(const struct blob **out, struct fsfs *fs, const struct rep *rep,
                           uint64_t limit, struct arena *arena);
/* The same; *FRESH where it was expanded now and REP's own MD5 compared: a text from the cache was
 * compared with that of the node-revision that asked first. */
struct err *rep_text_noting(const struct blob **out, bool *fresh, struct fsfs *fs,
                            const struct rep *rep, uint64_t limit, struct arena *arena);
/* The text as a reader through the chain, whatever its size. */
struct err *rep_stream(struct reader **out, struct fsfs *fs, const struct rep *rep);

#endif
