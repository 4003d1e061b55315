/* SPDX-License-Identifier: Apache-2.0 */
/* fs.h - an open repository filesystem.
 *
 * One `struct fsfs` serves all threads of the process. It is immutable after opening except for
 * what is guarded inside (the store, the commit queue). */
#ifndef VARVE_FSFS_FS_H
#define VARVE_FSFS_FS_H

#include "base/arena.h"
#include "base/cache.h"
#include "base/err.h"
#include "fsfs/format/id.h"
#include "fsfs/format/props.h"
#include "fsfs/limits.h"
#include "store/store.h"

enum { FSFS_FORMAT_MIN = 1, FSFS_FORMAT_MAX = 8, FSFS_DEFAULT_SHARD_SIZE = 1000 };

enum compression { COMPRESS_NONE, COMPRESS_LZ4, COMPRESS_ZLIB };

/* What fsfs.conf says, with the defaults of the format. */
struct fsfs_config {
    bool rep_sharing, dir_deltification, props_deltification;
    int64_t max_deltification_walk, max_linear_deltification;
    enum compression compression;
    int zlib_level;
    int64_t revprop_pack_size; /* bytes */
    bool compress_packed_revprops;
    int64_t block_size, l2p_page_size, p2l_page_size;
    bool pack_after_commit, verify_before_commit;
    bool allow_sha1_collisions; /* of two texts; else only one of them is taken */
};

struct commit_queue;
struct preview;

struct fsfs {
    struct store *store;
    int format;         /* 1-4, 6-8 */
    int64_t shard_size; /* 0: linear */
    bool logical;       /* addressing */
    struct fsfs_config config;
    struct fsfs_limits limits;
    char uuid[64];     /* as in the file, NUL-ended */
    char instance[64]; /* equal to uuid where the file has no second line */
    uint32_t cache_space;
    _Atomic(revnum) seen_youngest; /* as last read; goes back only where fsfs_head saw it */
    _Atomic(revnum) seen_unpacked; /* as last read: only grows */
    struct commit_queue *queue;    /* commit.h */
    struct preview *previews;      /* of a view: revisions in the making */
};

struct fsfs_options {
    bool no_flush;       /* commits do not wait until they are durable */
    struct store *store; /* where the filesystem is: its own from here on, whatever fsfs_open
                            returns; NULL: in the folder DB_PATH */
};

/* Open the filesystem in the folder DB_PATH. Errors: E_FS_UNSUPPORTED_FORMAT (5 and above 8),
 * E_BAD_VERSION_FILE_FORMAT, E_BAD_CONFIG_VALUE, errno. */
struct err *fsfs_open(struct fsfs **out, const char *db_path, const struct fsfs_options *options);
void fsfs_close(struct fsfs *fs); /* NULL is fine; waits for its background work */

struct fsfs_create_options {
    int format;         /* 1-4, 6-8 */
    int64_t shard_size; /* 0: linear; formats 3 and later; default 1000 */
    const char *uuid;   /* NULL: a new one */
    const char *date;   /* svn:date of revision 0 in long form; NULL: now */
    bool physical;      /* formats 7 and 8: physical addressing */
};
/* Make a new filesystem with revision 0 in DB_PATH, a new or empty folder (fs_create.c). */
struct err *fsfs_create(const char *db_path, const struct fsfs_create_options *options);
/* The same in STORE, which is empty. */
struct err *fsfs_create_in(struct store *store, const struct fsfs_create_options *options);

/* The body that holds revision REV, as store_body. */
struct err *fsfs_body(struct body **out, struct fsfs *fs, revnum rev, struct arena *arena);

/* Make VIEW a view of FS, for one thread, which makes revisions under LEASE_WRITE: those that it
 * adds (DRAFT, which must not change while the view is used) can be read in it as if they were
 * there. Nobody else sees them. All that it takes is in ARENA; it is not closed. */
void fsfs_view(struct fsfs *view, const struct fsfs *fs);
void fsfs_view_add(struct fsfs *view, revnum rev, struct draft *draft, struct arena *arena);

/* Afresh, as store_head. Where it is behind what was seen before, nothing that was read before is
 * believed any more. */
struct err *fsfs_head(struct head *out, struct fsfs *fs);
/* What was cached so far is found no more. */
void fsfs_renew_cache(struct fsfs *fs);
struct err *fsfs_youngest(revnum *out, struct fsfs *fs); /* afresh */
/* NULL: a new one; a new instance id too; E_BAD_UUID. While no other thread uses FS. */
struct err *fsfs_set_uuid(struct fsfs *fs, const char *uuid);
struct err *fsfs_min_unpacked(revnum *out, struct fsfs *fs);
/* E_FS_NO_SUCH_REVISION unless 0 <= REV <= youngest. Reads `current` only where REV was not seen
 * before. */
struct err *fsfs_check_revision(struct fsfs *fs, revnum rev);

/* The `format` record; parsing it is pure. */
struct fsfs_format {
    int format;
    int64_t shard_size;
    bool logical;
};
/* NAME is the file's, for messages. E_BAD_VERSION_FILE_FORMAT, E_FS_UNSUPPORTED_FORMAT. */
struct store_layout fsfs_store_layout(const struct fsfs_format *format);
struct err *fsfs_format_parse(struct fsfs_format *out, struct str text, const char *name);
/* The text of fsfs.conf (empty: all defaults); formats 1 to 3 have none. Pure. E_BAD_CONFIG_VALUE,
 * E_MALFORMED_FILE, E_INCORRECT_PARAMS. */
struct err *fsfs_config_parse(struct fsfs_config *out, struct str text, int format,
                              const char *name);

/* Kinds of cached objects of this layer (cache.h). */
enum fsfs_cache_kind {
    CACHE_NODEREV = 0x100, /* rev, item -> struct noderev */
    CACHE_DIR,             /* rev, item of the rep -> struct dir */
    CACHE_PROPS,           /* rev, item of the rep -> struct props */
    CACHE_TEXT,            /* rev, item of the rep -> struct blob */
    CACHE_CHANGES,         /* rev -> struct changes */
    CACHE_REVPROPS,        /* rev -> struct props with a stamp */
    CACHE_CHANGES_RUN,     /* first rev -> struct run (run.c) */
    CACHE_REVPROPS_RUN,    /* the same */
    CACHE_BLOCK,           /* body identity, block -> struct blob */
    CACHE_L2P,             /* body identity, page */
    CACHE_P2L,
    CACHE_MANIFEST,
    CACHE_BASE, /* rev, item of the rep -> struct blob: a text expanded as a delta base, its MD5 not
                   checked yet */
    CACHE_CHAIN,        /* rev, item of the rep -> length of its delta chain */
    CACHE_VERIFIED,     /* rev, item of the rep -> its size and digests, as verify found them */
    CACHE_WIRE = 0x200, /* rep -> ready svndiff */
    CACHE_REPO = 0x300, /* kinds of src/repo start here */
};
static inline struct cache_key fsfs_cache_key(const struct fsfs *fs, uint32_t kind, uint64_t a,
                                              uint64_t b)
{
    return (struct cache_key){fs->cache_space, kind, a, b};
}

/* UUID forms. */
void uuid_make(char out[37]);
bool uuid_is_valid(struct str s);

#endif
