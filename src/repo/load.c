/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - a dump stream becomes revisions.
 *
 * Revisions are made one after the other, each on the one before, and reach the disk in batches
 * (load_commits). What the user is told waits until it is true: notices queue up and are given out
 * once their revision is durable. */
#include "base/date.h"
#include "base/num.h"
#include "base/path.h"
#include "fsfs/commit.h"
#include "fsfs/revprops.h"
#include "repo/hooks.h"
#include "repo/load_int.h"
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
    struct txn *txn;
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

static struct err *end_revision(struct loader *l)
{
    struct txn *txn = l->txn;
    if (!l->in_revision)
        return NULL;
    l->in_revision = false;
    if (!txn)
        return NULL;
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

/* Revision 0 is there already: its properties are taken over if there is nothing else yet. */
static struct err *load_revision_0(struct loader *l, const struct dump_record *record)
{
    if (l->youngest > 0)
        return NULL;
    TRY(let_go(l));
    for (size_t i = 0; i < record->prop_count; i++) {
        struct str value = record->props[i].value;
        if (!value.p || (l->params->ignore_dates && str_eq(record->props[i].name, S("svn:date"))))
            continue;
        TRY(load_prop_value(&value, record->props[i].name, l->params, l->arena));
        TRY(revprop_set(l->fs, 0, record->props[i].name, &value, NULL));
    }
    return NULL;
}

static struct err *begin_txn(struct loader *l, const struct dump_record *record)
{
    TRY(txn_begin(&l->txn, l->fs, l->youngest));
    txn_keep_date(l->txn, !l->params->ignore_dates);
    note(l, LOAD_TXN_STARTED, REV_NONE, S(""));
    for (size_t i = 0; i < record->prop_count; i++) {
        struct str value = record->props[i].value;
        if (!value.p)
            continue;
        TRY(load_prop_value(&value, record->props[i].name, l->params, l->arena));
        txn_set_revprop(l->txn, record->props[i].name, &value);
    }
    return NULL;
}

static struct err *begin_revision(struct loader *l, const struct dump_record *record)
{
    const struct str *number = dump_record_get(record, "Revision-number");
    TRY(end_revision(l));
    if (!num_i64(&l->stream_rev, *number) || l->stream_rev < 0 || l->stream_rev > REV_MAX)
        return err_make(E_STREAM_MALFORMED_DATA, "Dump stream has a bad revision number '%.*s'",
                        STR(*number));
    l->in_revision = true;
    l->skipping = !is_in_range(l, l->stream_rev);
    if (l->skipping) {
        note(l, LOAD_SKIPPED, REV_NONE, S(""));
        return NULL;
    }
    if (l->stream_rev == 0)
        return load_revision_0(l, record);
    if (l->map.oldest == REV_NONE)
        l->map.oldest = l->stream_rev;
    return begin_txn(l, record);
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

/* Does header NAME, if it is there, agree with DIGEST? */
static struct err *check_digest(const struct dump_record *record, const char *name,
                                const uint8_t *digest, size_t n, struct str path)
{
    const struct str *hex = dump_record_get(record, name);
    uint8_t expected[SHA1_SIZE];
    if (!hex)
        return NULL;
    if (!num_unhex(expected, n, *hex))
        return err_make(E_BAD_CHECKSUM_PARSE, "Dump stream has a bad %s: '%.*s'", name, STR(*hex));
    if (memcmp(expected, digest, n) == 0)
        return NULL;
    return checksum_mismatch(expected, digest, n, "Copy source checksum mismatch on copy to '%.*s'",
                             STR(path));
}

static struct err *check_copy_source(struct loader *l, const struct dump_record *record,
                                     struct str path)
{
    const struct txn_node *node;
    if (!dump_record_get(record, "Text-copy-source-md5"))
        return NULL;
    TRY(txn_find(&node, l->txn, path));
    const struct noderev *noderev = node ? txn_node_noderev(node) : NULL;
    if (!noderev || !noderev->has_text)
        return NULL;
    TRY(check_digest(record, "Text-copy-source-md5", noderev->text.md5, MD5_SIZE, path));
    return noderev->text.has_sha1
               ? check_digest(record, "Text-copy-source-sha1", noderev->text.sha1, SHA1_SIZE, path)
               : NULL;
}

static struct err *copy_source_rev(revnum *out, const struct loader *l, struct str number)
{
    revnum old_rev;
    if (!num_i64(&old_rev, number) || old_rev < 0 || old_rev > REV_MAX)
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Dump stream has a bad copy source revision '%.*s'", STR(number));
    *out = rev_map_find(&l->map, old_rev);
    if (*out == REV_NONE)
        *out = old_rev - (l->stream_rev - (l->youngest + 1));
    if (*out < 0 || *out > l->youngest)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld", (long long)*out);
    return NULL;
}

static struct err *add_node(struct loader *l, const struct dump_record *record, struct str path)
{
    const struct str *kind = dump_record_get(record, "Node-kind");
    const struct str *from_rev = dump_record_get(record, "Node-copyfrom-rev"),
                     *from_path = dump_record_get(record, "Node-copyfrom-path");
    TRY(path_check_utf8(str_skip(path, 1))); /* svnadmin names it so */
    if (from_rev && from_path) {
        revnum rev;
        const struct txn_node *present;
        TRY(copy_source_rev(&rev, l, *from_rev));
        TRY(txn_find(&present, l->txn, path));
        if (present)
            return err_make(E_FS_ALREADY_EXISTS,
                            "File already exists: filesystem '%s', transaction '%.*s', path '%.*s'",
                            l->fs->uuid, STR(txn_name(l->txn)), STR(path));
        TRY(txn_copy(l->txn, path, rev, node_path(l, *from_path)));
        TRY(check_copy_source(l, record, path));
        note(l, LOAD_NODE_COPIED, REV_NONE, S(""));
        return NULL;
    }
    if (kind && str_eq(*kind, S("file")))
        return txn_make_file(l->txn, path);
    if (kind && str_eq(*kind, S("dir")))
        return txn_make_dir(l->txn, path);
    return err_make(E_STREAM_UNRECOGNIZED_DATA, "Unknown node-kind on node '%.*s'",
                    STR(str_skip(path, 1)));
}

static struct err *do_action(struct loader *l, const struct dump_record *record, struct str path)
{
    const struct str *action = dump_record_get(record, "Node-action");
    const struct txn_node *node;
    if (!action)
        return err_make(E_STREAM_MALFORMED_DATA, "Dump stream has no Node-action for node '%.*s'",
                        STR(str_skip(path, 1)));
    if (str_eq(*action, S("add")))
        return add_node(l, record, path);
    if (str_eq(*action, S("delete")))
        return txn_delete(l->txn, path);
    if (str_eq(*action, S("replace"))) {
        TRY(txn_delete(l->txn, path));
        return add_node(l, record, path);
    }
    if (!str_eq(*action, S("change")))
        return err_make(E_STREAM_UNRECOGNIZED_DATA, "Unrecognized node-action on node '%.*s'",
                        STR(str_skip(path, 1)));
    TRY(txn_find(&node, l->txn, path));
    if (!node)
        return err_make(E_FS_NOT_FOUND, "File not found: transaction '%.*s', path '%.*s'",
                        STR(txn_name(l->txn)), STR(path));
    return NULL;
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

static bool is_listed(const struct dump_record *record, struct str name)
{
    for (size_t i = 0; i < record->prop_count; i++)
        if (str_eq(record->props[i].name, name))
            return true;
    return false;
}

/* A block that is no delta lists all properties: what it does not list goes. */
static struct err *drop_unlisted(struct loader *l, const struct dump_record *record,
                                 struct str path)
{
    const struct txn_node *node;
    const struct prop *list;
    size_t n;
    TRY(txn_find(&node, l->txn, path));
    TRY(txn_node_props(&list, &n, l->txn, node, l->arena));
    for (size_t i = 0; i < n; i++)
        if (!is_listed(record, list[i].name))
            TRY(txn_set_prop(l->txn, path, arena_str(l->arena, list[i].name), NULL));
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
        TRY(drop_unlisted(l, record, path));
    for (size_t i = 0; i < record->prop_count; i++)
        TRY(set_prop(l, path, &record->props[i]));
    return NULL;
}

/* The digest that header NAME has: NULL in *OUT where it is not there. */
static struct err *take_digest(const uint8_t **out, uint8_t *digest, size_t n,
                               const struct dump_record *record, const char *name)
{
    const struct str *hex = dump_record_get(record, name);
    *out = NULL;
    if (!hex)
        return NULL;
    if (!num_unhex(digest, n, *hex))
        return err_make(E_BAD_CHECKSUM_PARSE, "Dump stream has a bad %s: '%.*s'", name, STR(*hex));
    *out = digest;
    return NULL;
}

static struct err *set_text(struct loader *l, const struct dump_record *record, struct str path)
{
    uint8_t base[MD5_SIZE], md5[MD5_SIZE], sha1[SHA1_SIZE];
    const uint8_t *base_md5, *result_md5, *result_sha1;
    struct txn_text *text;
    bool delta = is_delta(record, "Text-delta");
    if (!record->has_text)
        return NULL;
    TRY(take_digest(&base_md5, base, MD5_SIZE, record, "Text-delta-base-md5"));
    TRY(take_digest(&result_md5, md5, MD5_SIZE, record, "Text-content-md5"));
    TRY(take_digest(&result_sha1, sha1, SHA1_SIZE, record, "Text-content-sha1"));
    TRY(delta ? txn_delta_begin(&text, l->txn, path, base_md5)
              : txn_text_begin(&text, l->txn, path, NULL));
    for (;;) {
        struct str piece;
        struct err *err = dump_parser_text(&piece, l->parser);
        if (!err && !piece.n)
            return txn_text_end(text, result_md5, result_sha1);
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
    if (l->skipping)
        return NULL;
    if (!l->txn)
        return err_make(E_STREAM_MALFORMED_DATA,
                        "Malformed dumpstream: Revision 0 must not contain node records");
    struct str relative = *dump_record_get(record, "Node-path"), path = node_path(l, relative);
    const struct str *action = dump_record_get(record, "Node-action");
    /* Control characters are let in: old repositories have such names. */
    if (!path_is_canonical(path) || str_find(path, '\0') != SIZE_MAX)
        return err_make(E_FS_PATH_SYNTAX, "Dump stream has a bad path '%.*s'", STR(relative));
    note(l, LOAD_NODE_BEGIN, REV_NONE, str_skip(path, 1));
    TRY(do_action(l, record, path));
    if (!action || !str_eq(*action, S("delete"))) {
        TRY(set_props(l, record, path));
        TRY(set_text(l, record, path));
    }
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
    l.empty = arena_mark(arena);
    struct err *err = begin(&l, in);
    if (!err)
        err = load_all(&l);
    return end(&l, err);
}
