/* SPDX-License-Identifier: Apache-2.0 */
/* txn_int.h - the insides of a transaction, shared by txn*.c, txn_merge.c, dir_text.c and
 * commit*.c.
 *
 * The tree under construction hangs on txn->root. A directory holds only what differs from the
 * committed directory that it came from: `over` has one child for each name that was set or
 * removed, `base` the committed entries beneath. A directory of ten thousand entries with one
 * change thus costs one child until it is written.
 *
 * File texts are `struct content`. One that is on its way through digests and delta is pending
 * (txn->jobs, in order of arrival) until it has been collected: then it is an item of a draft, or
 * found to be stored already. */
#ifndef VARVE_FSFS_TXN_TXN_INT_H
#define VARVE_FSFS_TXN_TXN_INT_H

#include "base/map.h"
#include "base/num.h"
#include "fsfs/read/index.h"
#include "fsfs/read/rep.h"
#include "fsfs/txn/txn.h"

struct text_job;

/* A file text that arrived in this transaction. Several nodes may share one. */
struct content {
    struct rep rep; /* without uniquifier. rev REV_NONE: stored in DRAFT; else in that revision */
    bool has_base;
    struct rep base;     /* what the stored delta is against */
    struct draft *draft; /* NULL where stored in a revision */
    uint64_t offset;     /* of the item in DRAFT: header line, data, ENDREP */
    uint64_t length;
    size_t header;        /* bytes of the header line */
    uint32_t checksum;    /* FNV of the item, for P2L */
    struct text_job *job; /* pending; collect first */
    struct blob
        *text; /* kept for the cache, since the next change will be against it; may be NULL */
};

/* Grows by account_grow, in the transaction's name. */
struct content_list {
    struct content **list;
    size_t n, cap;
};

struct txn_node {
    struct noderev
        nr; /* in txn->arena's memory; never shared. Immutable nodes: a view on the committed one */
    bool is_mutable;
    const struct noderev
        *from; /* the committed node-revision it was cloned or copied from; NULL where new */
    /* directories */
    bool entries_changed;   /* its text is its own */
    const struct dir *base; /* entries under OVER; NULL until asked for */
    struct map *over;       /* name -> struct txn_child; in txn->arena */
    /* property lists */
    bool props_changed;
    struct proplist props; /* where changed */
    /* files */
    struct content *content; /* NULL: the text is that of FROM */
};

struct txn_child {
    struct txn_node *node; /* mutable; else NULL and ID and KIND tell */
    struct noderev_id id;
    enum node_kind kind; /* NODE_NONE: removed */
};

/* One changed path, folded as it happens. */
struct change_record {
    struct change change;
    struct change deleted; /* what a replacement deleted, for its own deletion later */
    bool replaced;
};

/* A place on the way from the root to a path. */
struct txn_step {
    size_t name_at, path_n;   /* its last component and its path, in the way's */
    struct txn_node *node;    /* mutable; or NULL */
    const struct noderev *nr; /* as it is now; NULL: there is nothing */
    struct arena_mark before;
};

/* The way that was walked last. Edits go depth first: the next one shares most of it, and only what
 * it does not share is walked. So a commit costs no more than the paths that it names, however deep
 * they are. */
struct txn_way {
    struct buf path;
    struct txn_step *steps;
    size_t n;     /* steps that PATH has, the root's included */
    size_t known; /* of them, from the root down, those that exist: what is kept */
    size_t cap;
    struct arena
        *arena; /* of the committed node-revisions, one behind the other as the steps are */
};

struct txn {
    struct fsfs *fs;
    struct account *account; /* of who began it; NULL: nobody counts */
    struct arena *arena;     /* the tree */
    struct arena *scratch;   /* one operation */
    struct txn_way way;
    struct arena_mark scratch_start;
    revnum base;
    struct txn_id id;
    struct str name;
    struct proplist revprops;
    bool keep_date;

    struct txn_node *root;
    uint64_t next_node, next_copy; /* temporary ids; uniquifiers come from next_node */

    struct map *changes; /* path -> struct change_record */

    struct draft *draft;        /* the revision's body to be; NULL until something is put there */
    uint64_t next_item;         /* logical addressing */
    struct content_list stored; /* in DRAFT, by offset */
    struct txn_text *owner;     /* the large text that streams into DRAFT now */
    struct content_list aside;  /* in other drafts until the end */
    struct draft *side;         /* small texts that end while OWNER streams */
    struct map *by_sha1;        /* sha1 -> struct content */
    struct text_job *jobs, **jobs_end;
    size_t jobs_bytes;      /* held by pending jobs */
    size_t kept_bytes;      /* texts kept for the cache */
    struct txn_text *texts; /* open ones */
    bool broken;            /* a text failed: there is nothing to commit */
    bool spilled;           /* its folder on disk is ours */
    bool loaded;            /* it came from a folder, which stays unless it is committed */
};

/* A transaction without a tree: txn_begin and txn_load give it one. */
struct txn *txn_new(struct fsfs *fs, struct txn_id id);

/* ---- txn_tree.c ---- */

static inline struct txn_step *way_last(const struct txn_way *way)
{
    return &way->steps[way->n - 1];
}
static inline struct str step_path(const struct txn_way *way, const struct txn_step *step)
{
    return str_make(way->path.p, step->path_n);
}
static inline struct str step_name(const struct txn_way *way, const struct txn_step *step)
{
    return str_make(way->path.p + step->name_at, step->path_n - step->name_at);
}
/* Walk to PATH; *OUT is txn->way. LAST_OPTIONAL: its last component may be missing. Errors of
 * txn.h. */
struct err *way_open(struct txn_way **out, struct txn *txn, struct str path, bool last_optional);
struct err *way_try(struct txn_way **out, bool *found, struct txn *txn, struct str path);
/* Only the first N steps are still right. */
void way_cut(struct txn_way *way, size_t n);
void way_free(struct txn *txn);
/* Make the first N steps mutable. */
struct err *way_make_mutable(struct txn *txn, struct txn_way *way, size_t n);
/* Add N to the mergeinfo counters of the first COUNT steps, which are mutable. */
struct err *way_add_mergeinfo(struct txn_way *way, size_t count, int64_t n);

struct err *txn_dir_base(const struct dir **out, struct txn *txn, struct txn_node *dir);
/* Put CHILD at NAME (copied); draws the directory's uniquifier where it is the first change. */
struct err *txn_dir_set(struct txn *txn, struct txn_node *dir, struct str name,
                        const struct txn_child *child);
struct err *txn_dir_find(struct txn_child *out, bool *found, struct txn *txn, struct txn_node *dir,
                         struct str name);
/* The names that OVER holds, sorted. */
struct str *txn_dir_over(size_t *n, const struct txn_node *dir, struct arena *arena);

/* The transaction's own nodes, children before the folder that has them, the root last. Clients
 * decide how deep the tree is, so that the way to the root is a list, not a recursion on the
 * thread's stack. */
struct txn_walk {
    struct arena *arena;
    struct txn_walk_dir *top;
};
void txn_walk_begin(struct txn_walk *walk, const struct txn *txn, struct arena *arena);
struct txn_node *txn_walk_next(struct txn_walk *walk); /* NULL at the end */

/* All of FROM but its references, which other threads count. */
static inline void noderev_take(struct noderev *to, const struct noderev *from)
{
    size_t head = offsetof(struct noderev, id);
    memset(to, 0, head);
    memcpy((char *)to + head, (const char *)from + head, sizeof *to - head);
}
struct txn_node *txn_node_new(struct txn *txn, const struct noderev *from);
struct id_part txn_take_node_id(struct txn *txn);
struct id_part txn_take_copy_id(struct txn *txn);
void txn_take_uniquifier(struct txn *txn, struct rep *rep); /* formats 4 and later */
static inline bool fsfs_has_mergeinfo(const struct fsfs *fs)
{
    return fs->format >= 3;
}
/* The node at PATH of revision REV; *OUT NULL where there is none. */
struct err *revision_find(const struct noderev **out, struct fsfs *fs, revnum rev, struct str path,
                          struct arena *arena);

/* ---- txn_changes.c ---- */

void txn_record_change(struct txn *txn, const struct change *change);
/* The node at PATH is gone, which was NODE: so is what happened below it. */
void txn_forget_below(struct txn *txn, struct str path, const struct txn_node *node);
struct change *txn_sorted_changes(size_t *n, const struct txn *txn, struct arena *arena);

/* ---- txn_text.c ---- */

/* CONTENT behind the others of LIST, which is TXN's. */
void txn_list_add(struct txn *txn, struct content_list *list, struct content *content);
/* Wait for NODE's text to be stored; for all texts. */
struct err *txn_collect_node(struct txn *txn, const struct txn_node *node);
struct err *txn_collect(struct txn *txn);
/* All texts into txn->draft, which exists afterwards. */
struct err *txn_settle(struct txn *txn);
/* The text of CONTENT, reread. */
struct err *content_open(struct reader **out, struct txn *txn, const struct content *content);
/* The node's text rep as it stands, uniquifier kept. */
void txn_text_fill(struct txn_node *node);
void txn_texts_free(struct txn *txn);

#endif
