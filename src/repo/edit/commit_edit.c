/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/edit/commit_edit.h"

#include "base/account.h"
#include "base/num.h"
#include "base/path.h"
#include "fsfs/read/revprops.h"
#include "fsfs/txn/locks.h"
#include "repo/admin/hooks.h"
#include "repo/admin/prop_change.h"
#include "repo/history/mergeinfo.h"
#include "repo/tree/tree.h"
#include <stdlib.h>

/* A file or folder that the client has opened. */
struct edit_node {
    struct str path; /* absolute; owned */
    revnum base_rev; /* what the client has; REV_NONE: it is new in this edit */
    bool was_copied; /* it, or a folder above, was copied in this edit: what is below is the copy's
                      */
    struct txn_text *text;
};

struct commit_edit {
    struct repo *repo;
    struct commit_params params; /* views of the caller, who outlives us */
    struct txn *txn;
    char *txn_name;
    bool has_root;
    struct edit_node **nodes; /* by number */
    size_t node_cap;
    struct account *account; /* of the open nodes and their table; NULL: nobody counts */
    unsigned open_texts;
    struct arena *scratch;
};

/* ---- the table of open nodes ---- */

static struct edit_node *node_at(const struct commit_edit *ce, uint64_t number)
{
    return number < ce->node_cap ? ce->nodes[number] : NULL;
}

static struct err *need_node(struct edit_node **out, const struct commit_edit *ce, uint64_t number)
{
    *out = node_at(ce, number);
    return *out ? NULL
                : err_make(E_FS_INCORRECT_EDITOR_COMPLETION, "Edit of a node that is not open");
}

static struct err *add_node(struct commit_edit *ce, uint64_t number, struct str path,
                            revnum base_rev, bool was_copied)
{
    if (number >= ce->node_cap) {
        size_t cap = ce->node_cap ? ce->node_cap : 64;
        while (cap <= number)
            cap *= 2;
        account_charge(ce->account, (cap - ce->node_cap) * sizeof *ce->nodes);
        ce->nodes = mem_realloc(ce->nodes, cap * sizeof *ce->nodes);
        memset(ce->nodes + ce->node_cap, 0, (cap - ce->node_cap) * sizeof *ce->nodes);
        ce->node_cap = cap;
    }
    struct edit_node *node = mem_zalloc(sizeof *node + path.n);
    account_charge(ce->account, sizeof *node + path.n);
    memcpy(node + 1, path.p, path.n);
    *node = (struct edit_node){.path = str_make((char *)(node + 1), path.n),
                               .base_rev = base_rev,
                               .was_copied = was_copied};
    ce->nodes[number] = node;
    return NULL;
}

static void close_node(struct commit_edit *ce, uint64_t number)
{
    struct edit_node *node = node_at(ce, number);
    if (!node)
        return;
    if (node->text) {
        txn_text_abandon(node->text);
        ce->open_texts--;
    }
    account_credit(ce->account, sizeof *node + node->path.n);
    free(node);
    ce->nodes[number] = NULL;
}

/* ---- checks ---- */

static struct err *out_of_date(struct str path, enum node_kind kind)
{
    const char *what = kind == NODE_DIR ? "Directory " : kind == NODE_FILE ? "File " : "";
    return err_make(E_FS_TXN_OUT_OF_DATE, "%s'%.*s' is out of date", what, STR(path));
}

static struct err *need_right(const struct commit_edit *ce, struct str path, int right,
                              bool recursive)
{
    if (principal_may(ce->params.who, path, right, recursive))
        return NULL;
    return err_make(right == ACCESS_WRITE ? E_AUTHZ_UNWRITABLE : E_AUTHZ_UNREADABLE,
                    "Access denied");
}

/* To add, delete or replace an entry is to change the folder that holds it, too. */
static struct err *need_entry(const struct commit_edit *ce, struct str path, bool recursive)
{
    TRY(need_right(ce, path, ACCESS_WRITE, recursive));
    return need_right(ce, path_dirname(path), ACCESS_WRITE, false);
}

/* The kind of node at PATH in the transaction, and the revision in which it was last changed
 * (REV_NONE: in this transaction). */
static struct err *look(enum node_kind *kind, revnum *created, struct commit_edit *ce,
                        struct str path)
{
    const struct txn_node *node;
    TRY(txn_find(&node, ce->txn, path, ce->scratch));
    *kind = node ? txn_node_kind(node) : NODE_NONE;
    *created = REV_NONE;
    if (node && !txn_node_is_mutable(node)) /* every revision changes the root */
        *created = path.n == 1 ? txn_base(ce->txn) : txn_node_noderev(node)->id.rev;
    return NULL;
}

/* Nobody has what is still to come. */
static struct err *check_base(const struct commit_edit *ce, revnum base_rev)
{
    return base_rev == REV_NONE ? NULL : fsfs_check_revision(ce->repo->fs, base_rev);
}

/* A client that says which revision it has must have the one that the transaction is made from. */
static struct err *check_current(struct commit_edit *ce, struct str path, revnum base_rev)
{
    enum node_kind kind;
    revnum created;
    TRY(check_base(ce, base_rev));
    TRY(look(&kind, &created, ce, path));
    if (base_rev != REV_NONE && created != REV_NONE && base_rev < created)
        return out_of_date(path, kind);
    return NULL;
}

/* Locks are looked at when the commit is made; here, too, so that who may not is told before the
 * texts are sent and hooks run. */
static struct err *need_lock(const struct commit_edit *ce, struct str path, bool recursive)
{
    return locks_allow(ce->repo->fs, path, recursive, principal_user(ce->params.who),
                       ce->params.lock_tokens, ce->params.lock_token_count);
}

/* ---- events ---- */

static struct str full_path(const struct commit_edit *ce, struct str relative)
{
    return path_join(ce->params.base_path, relative, ce->scratch);
}

static struct err *on_delete(struct commit_edit *ce, const struct edit_event *event)
{
    struct str path = full_path(ce, event->path);
    enum node_kind kind;
    revnum created;
    TRY(look(&kind, &created, ce, path));
    TRY(need_entry(ce, path, kind == NODE_DIR));
    if (kind == NODE_NONE)
        return out_of_date(path, kind);
    TRY(check_current(ce, path, event->rev));
    if (path.n > 1) /* the root cannot go, whatever is locked */
        TRY(need_lock(ce, path, true));
    return txn_delete(ce->txn, path);
}

/* Everything that is copied must be there and readable; a folder is one whatever the client adds it
 * as. A PATH that it cannot be copied to is told before what is not there. */
static struct err *need_source(struct commit_edit *ce, const struct edit_event *event,
                               struct str path)
{
    struct tree tree;
    struct node source;
    bool found;
    TRY(tree_of_rev(&tree, ce->repo->fs, event->copy_rev));
    TRY(tree_find(&source, &found, &tree, event->copy_path, ce->scratch));
    bool is_dir = found && source.noderev->kind == NODE_DIR;
    TRY(need_right(ce, event->copy_path, ACCESS_READ, is_dir || event->kind == EDIT_ADD_DIR));
    TRY(path_check_new(path));
    return found ? NULL : tree_node(&source, &tree, event->copy_path, ce->scratch);
}

static struct err *add_copy(struct commit_edit *ce, const struct edit_event *event, struct str path,
                            const struct edit_node *parent)
{
    enum node_kind kind;
    revnum created;
    TRY(look(&kind, &created, ce, path));
    if (kind != NODE_NONE && !parent->was_copied)
        return out_of_date(path, kind);
    if (event->copy_url.p)
        return err_make(E_FS_GENERAL, "Source url '%.*s' is from different repository",
                        STR(event->copy_url));
    TRY(fsfs_check_revision(ce->repo->fs, event->copy_rev));
    TRY(need_source(ce, event, path));
    TRY(need_lock(ce, path, true));
    return txn_copy(ce->txn, path, event->copy_rev, event->copy_path);
}

static struct err *on_add(struct commit_edit *ce, const struct edit_event *event)
{
    struct str path = full_path(ce, event->path);
    struct edit_node *parent;
    bool is_dir = event->kind == EDIT_ADD_DIR, copied = event->copy_path.p;
    TRY(need_node(&parent, ce, event->parent));
    TRY(path_check_controls(event->path));
    if (copied && event->copy_rev == REV_NONE)
        return err_make(E_FS_GENERAL, "Got source path but no source revision for '%.*s'",
                        STR(path));
    TRY(need_entry(ce, path, copied && is_dir));
    if (copied) {
        TRY(add_copy(ce, event, path, parent));
    } else if (is_dir) {
        TRY(need_lock(ce, path, true));
        TRY(txn_make_dir(ce->txn, path));
    } else {
        TRY(txn_make_file(ce->txn, path));
        TRY(need_lock(ce, path, false));
    }
    return add_node(ce, event->node, path, REV_NONE, copied || parent->was_copied);
}

/* Why PATH is not in the transaction. */
static struct err *missing(struct commit_edit *ce, struct str path)
{
    struct tree tree;
    struct node node;
    tree_of_txn(&tree, ce->txn);
    return tree_node(&node, &tree, path, ce->scratch);
}

static struct err *on_open(struct commit_edit *ce, const struct edit_event *event)
{
    struct str path = full_path(ce, event->path);
    struct edit_node *parent;
    enum node_kind kind;
    revnum created;
    TRY(need_node(&parent, ce, event->parent));
    TRY(look(&kind, &created, ce, path));
    if (event->kind == EDIT_OPEN_DIR) {
        if (kind == NODE_NONE)
            return err_make(E_FS_NOT_DIRECTORY, "Path '%.*s' not present", STR(event->path));
    } else {
        TRY(need_right(ce, path, ACCESS_READ, false));
        if (kind == NODE_NONE)
            return missing(ce, path);
        TRY(check_base(ce, event->rev));
        if (created != REV_NONE && event->rev != REV_NONE && event->rev < created)
            return out_of_date(path, NODE_FILE);
    }
    return add_node(ce, event->node, path, event->rev, parent->was_copied);
}

static struct err *set_revprops(struct commit_edit *ce)
{
    const struct commit_params *params = &ce->params;
    char now[DATE_LONG_SIZE + 1];
    date_format(now, date_now_us());
    struct str date = str_of(now); /* for hooks; the commit's own is set by then */
    txn_set_revprop(ce->txn, S("svn:date"), &date);
    for (size_t i = 0; i < params->revprop_count; i++) {
        const struct prop *prop = &params->revprops[i];
        if (str_eq(prop->name, S("svn:author"))) /* that is not the client's to say */
            continue;
        TRY(prop_check(prop->name, &prop->value));
        TRY(txn_check_revprop(prop->name));
        txn_set_revprop(ce->txn, prop->name, &prop->value);
    }
    const struct str author = principal_user(params->who);
    txn_set_revprop(ce->txn, S("svn:author"), author.n ? &author : NULL);
    return NULL;
}

static struct err *run_start_commit(struct commit_edit *ce)
{
    if (!hook_exists(ce->repo, "start-commit"))
        return NULL;
    TRY(txn_spill(ce->txn));
    TRY(hook_start_commit(ce->repo, principal_user(ce->params.who), ce->params.client_mergeinfo,
                          str_of(ce->txn_name)));
    return txn_unspill_changes(ce->txn);
}

static struct err *begin_txn(struct commit_edit *ce, revnum youngest)
{
    TRY(txn_begin(&ce->txn, ce->repo->fs, youngest));
    struct str name = txn_name(ce->txn);
    ce->txn_name = mem_zalloc(name.n + 1);
    memcpy(ce->txn_name, name.p, name.n);
    TRY(set_revprops(ce));
    return run_start_commit(ce);
}

static struct err *on_open_root(struct commit_edit *ce, const struct edit_event *event)
{
    revnum youngest;
    TRY(fsfs_youngest(&youngest, ce->repo->fs));
    if (event->rev > youngest)
        return err_make(E_FS_NO_SUCH_REVISION, "No such revision %lld (HEAD is %lld)",
                        (long long)event->rev, (long long)youngest);
    if (!ce->has_root) /* who opens it twice goes on with the same transaction */
        TRY(begin_txn(ce, youngest));
    /* Whether the base path is there is not asked: the first change below it names what is missing,
     * and that is what clients know as out of date. */
    ce->has_root = true;
    return add_node(ce, event->node, ce->params.base_path, event->rev, false);
}

/* What no client could parse stands in the way of every merge. */
static struct err *check_mergeinfo(struct commit_edit *ce, const struct edit_event *event,
                                   struct str path)
{
    struct mergeinfo parsed;
    if (!event->value.p || !str_eq(event->name, S("svn:mergeinfo")))
        return NULL;
    if (str_find(event->value, '\0') != SIZE_MAX)
        return err_make(E_MERGEINFO_PARSE_ERROR,
                        "Commit rejected because mergeinfo on '%.*s' contains unexpected string "
                        "terminator",
                        STR(path));
    return err_wrap(mergeinfo_parse(&parsed, event->value, ce->scratch), E_MERGEINFO_PARSE_ERROR,
                    "Commit rejected because mergeinfo on '%.*s' is syntactically invalid",
                    STR(path));
}

static struct err *on_prop(struct commit_edit *ce, const struct edit_event *event)
{
    struct edit_node *node;
    const struct str *value = event->value.p ? &event->value : NULL;
    TRY(need_node(&node, ce, event->node));
    TRY(need_right(ce, node->path, ACCESS_WRITE, false));
    if (event->kind == EDIT_DIR_PROP) { /* a file's was looked at when it was opened */
        const struct txn_node *there;
        TRY(check_current(ce, node->path, node->base_rev));
        if (node->base_rev != REV_NONE)
            TRY(txn_get(&there, ce->txn, node->path, ce->scratch));
    }
    TRY(check_mergeinfo(ce, event, node->path));
    TRY(prop_check(event->name, value));
    TRY(need_lock(ce, node->path, false));
    return txn_set_prop(ce->txn, node->path, event->name, value);
}

/* The digest that EVENT has, at MD5; *OUT is NULL where it has none or says that it is unknown. */
static struct err *event_md5(const uint8_t **out, uint8_t md5[MD5_SIZE],
                             const struct edit_event *event)
{
    *out = NULL;
    if (!event->md5.p)
        return NULL;
    if (!num_unhex(md5, MD5_SIZE, event->md5))
        return err_make(E_BAD_CHECKSUM_PARSE, "'%.*s' is no MD5 checksum", STR(event->md5));
    *out = digest_is_unknown(md5, MD5_SIZE) ? NULL : md5;
    return NULL;
}

static struct err *on_text_begin(struct commit_edit *ce, const struct edit_event *event)
{
    struct edit_node *node;
    uint8_t bytes[MD5_SIZE];
    const uint8_t *md5;
    TRY(need_node(&node, ce, event->node));
    TRY(need_right(ce, node->path, ACCESS_WRITE, false));
    TRY(event_md5(&md5, bytes, event));
    if (node->text)
        return err_make(E_FS_INCORRECT_EDITOR_COMPLETION, "'%.*s' is sent a second text",
                        STR(node->path));
    if (ce->params.open_texts_limit && ce->open_texts == ce->params.open_texts_limit)
        return err_make(E_REPOS_BAD_ARGS, "The commit has too many texts open at '%.*s'",
                        STR(node->path));
    TRY(need_lock(ce, node->path, false));
    TRY(txn_delta_begin(&node->text, ce->txn, node->path, md5));
    ce->open_texts++;
    return NULL;
}

static struct err *on_text_chunk(struct commit_edit *ce, const struct edit_event *event)
{
    struct edit_node *node;
    TRY(need_node(&node, ce, event->node));
    if (!node->text)
        return err_make(E_FS_INCORRECT_EDITOR_COMPLETION, "'%.*s' is sent text out of turn",
                        STR(node->path));
    return txn_delta_write(node->text, event->text);
}

/* The text is complete; close-file says what it must be. */
static struct err *on_text_end(struct commit_edit *ce, const struct edit_event *event)
{
    struct edit_node *node;
    TRY(need_node(&node, ce, event->node));
    if (!node->text)
        return err_make(E_FS_INCORRECT_EDITOR_COMPLETION, "'%.*s' ends a text that it has not",
                        STR(node->path));
    return txn_delta_end(node->text);
}

/* The client says what the file must be now, whether it sent a text or not. */
static struct err *check_unsent_text(struct commit_edit *ce, struct str path,
                                     const uint8_t md5[MD5_SIZE])
{
    const struct txn_node *node;
    uint8_t actual[MD5_SIZE];
    TRY(txn_find(&node, ce->txn, path, ce->scratch));
    if (!node)
        return out_of_date(path, NODE_FILE);
    noderev_md5(actual, txn_node_noderev(node));
    if (memcmp(actual, md5, MD5_SIZE) == 0)
        return NULL;
    return checksum_mismatch(md5, actual, MD5_SIZE,
                             "Checksum mismatch for resulting fulltext\n(%.*s)", STR(path));
}

static struct err *on_close_file(struct commit_edit *ce, const struct edit_event *event)
{
    struct edit_node *node;
    uint8_t bytes[MD5_SIZE];
    const uint8_t *md5;
    struct err *err = NULL;
    TRY(need_node(&node, ce, event->node));
    TRY(event_md5(&md5, bytes, event));
    if (node->text) {
        struct txn_text *text = node->text;
        node->text = NULL;
        ce->open_texts--;
        err = txn_text_end(text, md5, NULL);
    } else if (md5) {
        err = check_unsent_text(ce, node->path, md5);
    }
    close_node(ce, event->node);
    return err;
}

static struct err *dispatch(struct commit_edit *ce, const struct edit_event *event)
{
    switch (event->kind) {
    case EDIT_OPEN_ROOT:
        return on_open_root(ce, event);
    case EDIT_DELETE:
        return on_delete(ce, event);
    case EDIT_ADD_DIR:
    case EDIT_ADD_FILE:
        return on_add(ce, event);
    case EDIT_OPEN_DIR:
    case EDIT_OPEN_FILE:
        return on_open(ce, event);
    case EDIT_DIR_PROP:
    case EDIT_FILE_PROP:
        return on_prop(ce, event);
    case EDIT_TEXT_BEGIN:
        return on_text_begin(ce, event);
    case EDIT_TEXT_CHUNK:
        return on_text_chunk(ce, event);
    case EDIT_CLOSE_FILE:
        return on_close_file(ce, event);
    case EDIT_CLOSE_DIR:
        close_node(ce, event->node);
        return NULL;
    case EDIT_TEXT_END:
        return on_text_end(ce, event);
    case EDIT_TARGET_REV: /* mirrors pass it on; which revision it becomes is not theirs to say */
    case EDIT_ABSENT_DIR: /* and what they could not see is not to be changed */
    case EDIT_ABSENT_FILE:
        return NULL;
    default:
        return err_make(E_INCORRECT_PARAMS, "Event %d is out of place in a commit", event->kind);
    }
}

struct err *commit_edit_event(struct commit_edit *ce, const struct edit_event *event)
{
    struct arena_mark mark = arena_mark(ce->scratch);
    struct err *err = dispatch(ce, event);
    arena_rewind(ce->scratch, mark);
    return err ? err : account_check();
}

/* ---- beginning and end ---- */

struct err *commit_edit_begin(struct commit_edit **out, struct repo *repo,
                              const struct commit_params *params)
{
    struct commit_edit *ce = mem_zalloc(sizeof *ce);
    *ce = (struct commit_edit){
        .repo = repo, .params = *params, .account = account_current, .scratch = arena_new()};
    *out = ce;
    return NULL;
}

static void edit_free(struct commit_edit *ce)
{
    for (size_t i = 0; i < ce->node_cap; i++)
        close_node(ce, i);
    account_credit(ce->account, ce->node_cap * sizeof *ce->nodes);
    free(ce->nodes);
    free(ce->txn_name);
    arena_free(ce->scratch);
    free(ce);
}

void commit_edit_abort(struct commit_edit *ce)
{
    struct txn *txn = ce->txn;
    edit_free(ce); /* its texts belong to the transaction */
    txn_abort(txn);
}

static struct err *run_pre_commit(struct commit_edit *ce, struct arena *arena)
{
    if (!hook_exists(ce->repo, "pre-commit"))
        return NULL;
    size_t n = ce->params.lock_token_count;
    struct hook_lock_token *tokens = arena_array(arena, n + 1, sizeof *tokens);
    for (size_t i = 0; i < n; i++) {
        struct str path = ce->params.locks[i].path, rest;
        tokens[i].path = path_skip_ancestor(&rest, ce->params.base_path, path) ? rest : path;
        tokens[i].token = ce->params.locks[i].token;
    }
    TRY(txn_spill(ce->txn));
    TRY(hook_pre_commit(ce->repo, str_of(ce->txn_name), tokens, n));
    return txn_unspill_changes(ce->txn);
}

/* Properties that live only as long as the transaction. */
static void strip_ephemeral(struct commit_edit *ce, struct arena *arena)
{
    const struct proplist *list = txn_revprops(ce->txn);
    struct str *names = arena_array(arena, list->n + 1, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (str_starts(list->list[i].name, S("svn:txn-")))
            names[n++] = arena_str(arena, list->list[i].name);
    for (size_t i = 0; i < n; i++)
        txn_set_revprop(ce->txn, names[i], NULL);
}

/* An edit that never began changes nothing; a text that was begun and not ended makes no file. */
static struct err *check_complete(const struct commit_edit *ce)
{
    if (!ce->has_root)
        return err_make(E_REPOS_BAD_ARGS, "No valid transaction supplied to close_edit");
    for (size_t i = 0; i < ce->node_cap; i++)
        if (ce->nodes[i] && ce->nodes[i]->text)
            return err_make(E_FS_INCORRECT_EDITOR_COMPLETION, "The text of '%.*s' has no end",
                            STR(ce->nodes[i]->path));
    return NULL;
}

static struct str copied(const struct str *value, struct arena *arena)
{
    if (!value)
        return (struct str){0};
    return value->n ? arena_str(arena, *value) : S("");
}

static struct err *commit_now(struct commit_result *out, struct commit_edit *ce,
                              struct arena *arena)
{
    struct commit_options options = {.check_locks = true,
                                     .user = principal_user(ce->params.who),
                                     .tokens = ce->params.lock_tokens,
                                     .token_count = ce->params.lock_token_count};
    TRY(check_complete(ce));
    TRY(run_pre_commit(ce, arena));
    strip_ephemeral(ce, arena);
    out->author = copied(txn_revprop(ce->txn, S("svn:author")), arena);
    struct txn *txn = ce->txn;
    ce->txn = NULL;
    char date[DATE_LONG_SIZE + 1];
    TRY(txn_commit(&out->rev, date, txn, &options));
    out->date = arena_str(arena, str_of(date));
    return NULL;
}

/* Run the post-commit hook, which may give the revision another date or author. The commit has
 * succeeded whatever happens here. */
static void run_post_commit(struct commit_result *out, const struct commit_edit *ce,
                            struct arena *arena)
{
    if (!hook_exists(ce->repo, "post-commit"))
        return;
    struct err *err = hook_post_commit(ce->repo, out->rev, str_of(ce->txn_name));
    if (err)
        out->post_commit_error = arena_str(arena, str_of(err->text));
    err_free(err);
    const struct props *props;
    err = revprops_get(&props, ce->repo->fs, out->rev, NULL, arena);
    if (!err) {
        out->date = copied(props_get(props, S("svn:date")), arena);
        out->author = copied(props_get(props, S("svn:author")), arena);
    }
    err_free(err);
}

struct err *commit_edit_close(struct commit_result *out, struct commit_edit *ce,
                              struct arena *arena)
{
    *out = (struct commit_result){.rev = REV_NONE};
    struct err *err = commit_now(out, ce, arena);
    if (err) {
        commit_edit_abort(ce); /* what is left of it */
        return err;
    }
    run_post_commit(out, ce, arena);
    edit_free(ce);
    return NULL;
}
