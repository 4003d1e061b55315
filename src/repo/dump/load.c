/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - a dump stream becomes revisions.
 *
 * Revisions are made one after the other, each on the one before, and reach the disk in batches
 * (load_commits). What the user is told waits until it is true: notices queue up and are given out
 * once their revision is durable. */
#include "repo/dump/load.h"
#include "base/date.h"
#include "base/num.h"
#include "base/path.h"
#include "fsfs/read/revprops.h"
#include "fsfs/txn/commit.h"
#include "repo/admin/hooks.h"
#include "repo/dump/dump_parser.h"
#include "repo/dump/load_int.h"
#include <stdlib.h>

/* A batch goes to the disk when it has one of these. */
enum { BATCH_REVISIONS = 512, BATCH_BYTES = 64 << 20, BATCH_US = 1000 * 1000 };

struct queued_notice {
    struct load_notice notice;
    size_t path_at; /* where its path begins among all paths: that buffer moves while it grows */
};

struct loader {
    struct repo *repo;
    struct fsfs *fs;
    const struct load_params *params;
    struct dump_parser *parser;
    struct load_commits *commits;
    struct rev_map map;
    struct arena *arena; /* of a record */
    struct arena_mark empty;
    bool in_revision, skipping; /* between a revision record and the next; one that is not wanted */
    revnum stream_rev;
    struct proplist revprops; /* of the revision: checked and set when its nodes are there */
    struct arena *revision;   /* holds them */
    struct arena_mark revision_empty;
    struct txn *txn; /* none: revision 0, or one that is skipped */
    revnum youngest; /* as of the revisions made so far */
    /* the queue of notices */
    struct queued_notice *notices;
    size_t notice_count, notice_cap;
    struct buf notice_paths;
    /* the batch */
    int64_t batch_begun_us;
    size_t batch_revisions;
    uint64_t batch_bytes;
};

/* ---- notices ---- */

static void note(struct loader *l, enum load_event event, revnum new_rev, struct str path)
{
    if (!l->params->notify)
        return;
    if (l->notice_count == l->notice_cap) {
        l->notice_cap = l->notice_cap ? 2 * l->notice_cap : 1024;
        l->notices = mem_realloc(l->notices, l->notice_cap * sizeof *l->notices);
    }
    struct queued_notice *queued = &l->notices[l->notice_count++];
    *queued = (struct queued_notice){{event, l->stream_rev, new_rev, path}, l->notice_paths.n};
    buf_str(&l->notice_paths, path);
}

/* How many notices come before the first that speaks of a revision behind DURABLE, and of what led
 * to it. */
static size_t count_true(const struct loader *l, revnum durable)
{
    size_t n = 0;
    for (size_t i = 0; i < l->notice_count; i++) {
        const struct load_notice *notice = &l->notices[i].notice;
        if (notice->event == LOAD_COMMITTED && notice->new_rev <= durable)
            n = i + 1;
    }
    return n;
}

/* Give out the first COUNT notices; the others are dropped. */
static struct err *tell(struct loader *l, size_t count)
{
    struct err *err = NULL;
    for (size_t i = 0; i < count && !err; i++) {
        struct load_notice *notice = &l->notices[i].notice;
        struct str rest = str_skip(buf_view(&l->notice_paths), l->notices[i].path_at);
        notice->path = str_make(rest.p, notice->path.n);
        err = l->params->notify(l->params->arg, notice);
    }
    l->notice_count = 0;
    buf_clear(&l->notice_paths);
    return err;
}

/* ERR is what a flush said: after a failure only of what is durable all the same is told. */
static struct err *tell_flushed(struct loader *l, struct err *err, revnum durable)
{
    return err_join(err, tell(l, err ? count_true(l, durable) : l->notice_count));
}

/* Make durable what was made, then say so. */
static struct err *flush(struct loader *l)
{
    revnum durable = REV_NONE;
    l->batch_revisions = 0;
    l->batch_bytes = 0;
    return tell_flushed(l, l->commits ? load_commits_flush(&durable, l->commits) : NULL, durable);
}

/* The same, for what needs the write lease itself: the commits hold it. */
static struct err *let_go(struct loader *l)
{
    struct load_commits *commits = l->commits;
    revnum durable = REV_NONE;
    l->commits = NULL;
    return tell_flushed(l, commits ? load_commits_end(&durable, commits) : NULL, durable);
}

/* ---- the revision ---- */

static bool is_in_range(const struct loader *l, revnum rev)
{
    return l->params->start == REV_NONE || (rev >= l->params->start && rev <= l->params->end);
}

static struct err *run_pre_commit(struct loader *l)
{
    if (!l->params->use_pre_commit_hook || !hook_exists(l->repo, "pre-commit"))
        return NULL;
    TRY(txn_spill(l->txn));
    TRY(hook_pre_commit(l->repo, txn_name(l->txn), NULL, 0));
    return txn_unspill_changes(l->txn);
}

/* The hook wants to see the revision: it must be there for everybody. */
static struct err *run_post_commit(struct loader *l, revnum rev, struct str name)
{
    if (!l->params->use_post_commit_hook || !hook_exists(l->repo, "post-commit"))
        return NULL;
    TRY(flush(l));
    return err_wrap(hook_post_commit(l->repo, rev, name), E_REPOS_POST_COMMIT_HOOK_FAILED,
                    "Commit succeeded, but post-commit hook failed");
}

/* The properties of the revision as they may be stored. */
static struct err *check_revprops(struct loader *l)
{
    for (size_t i = 0; i < l->revprops.n; i++) {
        struct prop *prop = &l->revprops.list[i];
        TRY(load_prop_value(&prop->value, prop->name, l->params, l->revision));
    }
    return NULL;
}

/* Revision 0 is there already. Where nothing else is, the stream's properties are all it has. */
static struct err *end_revision_0(struct loader *l)
{
    if (l->youngest > 0)
        return NULL;
    if (l->params->ignore_dates)
        proplist_set(&l->revprops, S("svn:date"), NULL);
    TRY(check_revprops(l));
    TRY(let_go(l));
    return revprops_replace(l->fs, 0, l->revprops.list, l->revprops.n);
}

static struct err *end_revision(struct loader *l)
{
    struct txn *txn = l->txn;
    if (!l->in_revision)
        return NULL;
    l->in_revision = false;
    if (l->skipping)
        return NULL;
    if (!txn)
        return end_revision_0(l);
    TRY(check_revprops(l));
    for (size_t i = 0; i < l->revprops.n; i++) {
        TRY(txn_check_revprop(l->revprops.list[i].name));
        txn_set_revprop(txn, l->revprops.list[i].name, &l->revprops.list[i].value);
    }
    TRY(run_pre_commit(l));
    AUTO_ARENA(arena);
    struct str name = arena_str(arena, txn_name(txn));
    revnum rev;
    if (!l->commits)
        TRY(load_commits_begin(&l->commits, l->fs));
    l->txn = NULL;
    TRY(load_commits_add(&rev, l->commits, txn));
    l->youngest = rev;
    rev_map_add(&l->map, l->stream_rev, rev);
    note(l, LOAD_COMMITTED, rev, S(""));
    TRY(run_post_commit(l, rev, name));
    if (++l->batch_revisions == 1)
        l->batch_begun_us = date_now_us();
    if (l->batch_revisions >= BATCH_REVISIONS || l->batch_bytes >= BATCH_BYTES ||
        date_now_us() - l->batch_begun_us >= BATCH_US)
        return flush(l);
    return NULL;
}

static struct err *read_revprops(struct loader *l)
{
    for (;;) {
        struct prop prop;
        bool more;
        TRY(dump_parser_prop(&more, &prop, l->parser));
        if (!more)
            return NULL;
        if (!prop.value.p)
            return err_make(E_STREAM_MALFORMED_DATA, "Dumpstream data appears to be malformed");
        proplist_set(&l->revprops, prop.name, &prop.value);
    }
}

static struct err *begin_revision(struct loader *l, const struct dump_record *record)
{
    const struct str *number = dump_record_get(record, "Revision-number");
    TRY(end_revision(l));
    l->stream_rev = num_leading(*number);
    arena_rewind(l->revision, l->revision_empty);
    proplist_init(&l->revprops, NULL, l->revision);
    l->in_revision = true;
    l->skipping = !is_in_range(l, l->stream_rev);
    if (l->skipping) {
        note(l, LOAD_SKIPPED, REV_NONE, S(""));
        return NULL;
    }
    if (l->stream_rev < 0 || l->stream_rev > REV_MAX)
        return err_make(E_STREAM_MALFORMED_DATA, "Dump stream has a bad revision number '%.*s'",
                        STR(*number));
    if (l->stream_rev > 0) {
        if (l->map.oldest == REV_NONE)
            l->map.oldest = l->stream_rev;
        TRY(txn_begin(&l->txn, l->fs, l->youngest));
        txn_keep_date(l->txn, !l->params->ignore_dates);
        note(l, LOAD_TXN_STARTED, REV_NONE, S(""));
    }
    return read_revprops(l);
}

static struct err *load_uuid(struct loader *l, const struct dump_record *record)
{
    AUTO_ARENA(arena);
    bool wanted = l->params->uuid == LOAD_UUID_FORCE ||
                  (l->params->uuid == LOAD_UUID_DEFAULT && l->youngest == 0);
    if (!wanted)
        return NULL;
    TRY(let_go(l));
    return fsfs_set_uuid(l->fs, arena_cstr(arena, *dump_record_get(record, "UUID")));
}

/* ---- nodes ---- */

static struct str node_path(const struct loader *l, struct str relative)
{
    return path_canonicalize(
        arena_printf(l->arena, "/%.*s/%.*s", STR(l->params->parent_dir), STR(relative)), l->arena);
}

/* The MD5 digests that a node's record tells; NULL: it does not, or says that it is unknown.
 * Subversion's tools do not look at SHA-1 digests, and streams with wrong ones are about. */
struct node_digests {
    uint8_t bytes[3][MD5_SIZE];
    const uint8_t *text, *delta_base, *copy_source;
};

/* What is behind the digits of a digest does not count. */
static struct err *take_digest(const uint8_t **out, uint8_t md5[MD5_SIZE],
                               const struct dump_record *record, const char *name)
{
    const struct str *hex = dump_record_get(record, name);
    *out = NULL;
    if (!hex)
        return NULL;
    if (hex->n < 2 * MD5_SIZE || !num_unhex(md5, MD5_SIZE, str_make(hex->p, 2 * MD5_SIZE)))
        return err_make(E_BAD_CHECKSUM_PARSE, "Dump stream has a bad %s: '%.*s'", name, STR(*hex));
    *out = digest_is_unknown(md5, MD5_SIZE) ? NULL : md5;
    return NULL;
}

static struct err *take_digests(struct node_digests *out, const struct dump_record *record)
{
    TRY(take_digest(&out->text, out->bytes[0], record, "Text-content-md5"));
    TRY(take_digest(&out->delta_base, out->bytes[1], record, "Text-delta-base-md5"));
    return take_digest(&out->copy_source, out->bytes[2], record, "Text-copy-source-md5");
}

/* Is the file that was copied to PATH the one that was meant? */
static struct err *check_copy_source(struct loader *l, const struct node_digests *digests,
                                     struct str path)
{
    const struct txn_node *node;
    uint8_t md5[MD5_SIZE];
    if (!digests->copy_source)
        return NULL;
    TRY(txn_get(&node, l->txn, path, l->arena));
    const struct noderev *noderev = txn_node_noderev(node);
    if (noderev->kind != NODE_FILE)
        return err_make(E_FS_NOT_FILE, "Attempted to get checksum of a *non*-file node");
    noderev_md5(md5, noderev);
    if (memcmp(md5, digests->copy_source, MD5_SIZE) == 0)
        return NULL;
    return checksum_mismatch(digests->copy_source, md5, MD5_SIZE,
                             "Copy source checksum mismatch on copy to '%.*s'", STR(path));
}

/* NUMBER, of the stream, is NULL where a copy source has no revision. */
static struct err *copy_source_rev(revnum *out, const struct loader *l, const struct str *number)
{
    revnum old_rev = number ? num_leading(*number) : REV_NONE;
    if (old_rev > REV_MAX)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld", (long long)old_rev);
    *out = rev_map_find(&l->map, old_rev);
    if (*out == REV_NONE && old_rev >= 0)
        *out = old_rev - (l->stream_rev - (l->youngest + 1));
    if (*out < 0)
        return err_make(E_FS_NO_SUCH_REVISION,
                        "Relative source revision %lld is not available in current repository",
                        (long long)*out);
    if (*out > l->youngest)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld", (long long)*out);
    return NULL;
}

/* A node of no known kind is not added, and is missed if properties or a text follow. */
static struct err *add_node(struct loader *l, const struct dump_record *record,
                            const struct node_digests *digests, struct str path)
{
    const struct str *kind = dump_record_get(record, "Node-kind");
    const struct str *from_path = dump_record_get(record, "Node-copyfrom-path");
    TRY(path_check_new(str_skip(path, 1))); /* svnadmin names it so */
    if (from_path) {
        revnum rev;
        TRY(copy_source_rev(&rev, l, dump_record_get(record, "Node-copyfrom-rev")));
        TRY(txn_copy(l->txn, path, rev, node_path(l, *from_path)));
        TRY(check_copy_source(l, digests, path));
        note(l, LOAD_NODE_COPIED, REV_NONE, S(""));
        return NULL;
    }
    if (kind && str_eq(*kind, S("file")))
        return txn_make_file(l->txn, path);
    if (kind && str_eq(*kind, S("dir")))
        return txn_make_dir(l->txn, path);
    return NULL;
}

static struct err *do_action(struct loader *l, const struct dump_record *record,
                             const struct node_digests *digests, struct str path)
{
    const struct str *action = dump_record_get(record, "Node-action");
    if (!action)
        return err_make(E_STREAM_UNRECOGNIZED_DATA,
                        "Dump stream has no Node-action for node '%.*s'", STR(str_skip(path, 1)));
    if (str_eq(*action, S("add")))
        return add_node(l, record, digests, path);
    if (str_eq(*action, S("delete")))
        return txn_delete(l->txn, path);
    if (str_eq(*action, S("replace"))) {
        TRY(txn_delete(l->txn, path));
        return add_node(l, record, digests, path);
    }
    if (str_eq(*action, S("change")))
        return NULL; /* of nothing: no change */
    return err_make(E_STREAM_UNRECOGNIZED_DATA, "Unrecognized node-action on node '%.*s'",
                    STR(str_skip(path, 1)));
}

static struct err *set_prop(struct loader *l, struct str path, const struct prop *prop)
{
    struct str value = prop->value;
    if (!value.p)
        return txn_set_prop(l->txn, path, prop->name, NULL);
    if (str_eq(prop->name, S("svn:mergeinfo"))) {
        bool stripped;
        revnum offset = l->stream_rev - (l->youngest + 1);
        struct err *err =
            load_mergeinfo_value(&value, &stripped, &l->map, offset, l->params, l->arena);
        if (!err && stripped)
            note(l, LOAD_MERGEINFO_NORMALIZED, REV_NONE, S(""));
        if (err && l->params->bypass_prop_validation) {
            note(l, LOAD_MERGEINFO_INVALID, REV_NONE, S(""));
            err_free(err);
            value = prop->value;
        } else if (err) {
            return err_wrap(err, E_MERGEINFO_PARSE_ERROR, "Invalid svn:mergeinfo value");
        }
    }
    TRY(load_prop_value(&value, prop->name, l->params, l->arena));
    return txn_set_prop(l->txn, path, prop->name, &value);
}

/* A block that is no delta lists all properties: what there was goes. */
static struct err *drop_props(struct loader *l, struct str path)
{
    const struct txn_node *node;
    const struct prop *list;
    size_t n;
    TRY(txn_get(&node, l->txn, path, l->arena));
    TRY(txn_node_props(&list, &n, l->txn, node, l->arena));
    struct str *names = arena_array(l->arena, n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = arena_str(l->arena, list[i].name);
    for (size_t i = 0; i < n; i++)
        TRY(txn_set_prop(l->txn, path, names[i], NULL));
    return NULL;
}

static bool is_delta(const struct dump_record *record, const char *name)
{
    const struct str *value = dump_record_get(record, name);
    return value && str_eq(*value, S("true"));
}

static struct err *set_props(struct loader *l, const struct dump_record *record, struct str path)
{
    if (!record->has_props)
        return NULL;
    if (!is_delta(record, "Prop-delta"))
        TRY(drop_props(l, path));
    for (;;) {
        struct prop prop;
        bool more;
        TRY(dump_parser_prop(&more, &prop, l->parser));
        if (!more)
            return NULL;
        TRY(set_prop(l, path, &prop));
    }
}

static struct err *set_text(struct loader *l, const struct dump_record *record,
                            const struct node_digests *digests, struct str path)
{
    struct txn_text *text;
    bool delta = is_delta(record, "Text-delta"), has_text;
    TRY(dump_parser_has_text(&has_text, l->parser));
    if (!has_text)
        return NULL;
    TRY(delta ? txn_delta_begin(&text, l->txn, path, digests->delta_base)
              : txn_text_begin(&text, l->txn, path, NULL));
    for (;;) {
        struct str piece;
        struct err *err = dump_parser_text(&piece, l->parser);
        if (!err && !piece.n)
            return txn_text_end(text, digests->text, NULL);
        if (!err)
            err = delta ? txn_delta_write(text, piece) : txn_text_write(text, piece);
        l->batch_bytes += piece.n;
        if (err) {
            txn_text_abandon(text);
            return err;
        }
    }
}

static struct err *load_node(struct loader *l, const struct dump_record *record)
{
    if (!l->in_revision)
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Dump stream has a node before its first revision");
    if (l->stream_rev == 0)
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Malformed dumpstream: Revision 0 must not contain node records");
    struct node_digests digests;
    TRY(take_digests(&digests, record));
    if (l->skipping)
        return NULL;
    struct str relative = *dump_record_get(record, "Node-path"), path = node_path(l, relative);
    /* Control characters are let in: old repositories have such names. */
    if (!path_is_canonical(path))
        return err_make(E_FS_PATH_SYNTAX, "Dump stream has a bad path '%.*s'", STR(relative));
    note(l, LOAD_NODE_BEGIN, REV_NONE, str_skip(path, 1));
    TRY(do_action(l, record, &digests, path));
    TRY(set_props(l, record, path));
    TRY(set_text(l, record, &digests, path));
    note(l, LOAD_NODE_DONE, REV_NONE, S(""));
    return NULL;
}

/* ---- the stream ---- */

static struct err *load_record(struct loader *l, const struct dump_record *record)
{
    switch (record->kind) {
    case DUMP_VERSION:
        return NULL;
    case DUMP_UUID:
        return load_uuid(l, record);
    case DUMP_REVISION:
        return begin_revision(l, record);
    default:
        return load_node(l, record);
    }
}

static struct err *load_all(struct loader *l)
{
    for (;;) {
        struct dump_record record;
        bool more;
        arena_rewind(l->arena, l->empty);
        TRY(dump_parser_next(&more, &record, l->parser));
        if (!more)
            return end_revision(l);
        TRY(load_record(l, &record));
    }
}

static struct err *begin(struct loader *l, struct reader *in)
{
    struct err *err = fsfs_youngest(&l->youngest, l->fs);
    if (err) {
        reader_close(in);
        return err;
    }
    return dump_parser_open(&l->parser, in);
}

/* What is complete stays, and the user is told of it, also where the stream has an error. */
static struct err *end(struct loader *l, struct err *err)
{
    txn_abort(l->txn);
    err = err_join(err, let_go(l));
    dump_parser_close(l->parser);
    arena_free(l->revision);
    rev_map_free(&l->map);
    free(l->notices);
    buf_free(&l->notice_paths);
    return err;
}

struct err *load_stream(struct repo *repo, struct reader *in, const struct load_params *params)
{
    AUTO_ARENA(arena);
    struct loader l = {
        .repo = repo, .fs = repo->fs, .params = params, .arena = arena, .map.oldest = REV_NONE};
    l.revision = arena_new();
    l.empty = arena_mark(arena);
    l.revision_empty = arena_mark(l.revision);
    struct err *err = begin(&l, in);
    if (!err)
        err = load_all(&l);
    return end(&l, err);
}
