/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/txn/commit_write.h"
#include "base/account.h"
#include "delta/encode.h"
#include "fsfs/format/changes.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/txn/delta_base.h"
#include "fsfs/txn/dir_text.h"
#include "fsfs/txn/text_share.h"
#include <stdlib.h>

enum {
    FRESH_TEXT_MAX = 1 << 20
}; /* bytes: a larger directory is read again when it is changed again */

struct write {
    struct txn *txn;
    struct fsfs *fs;
    revnum rev;
    struct head *head;
    struct written *result;
    struct arena *arena;
    struct buf out; /* what goes behind the texts, in one piece */
    uint64_t start; /* where it goes */
    struct p2l_entry *items;
    size_t item_count, item_cap;
    struct map *props; /* sha1 -> struct stored_props: lists written in this commit */
};

struct stored_props {
    struct rep rep;
    struct str text;
};

/* ---- items ---- */

static void item_add(struct write *w, const struct p2l_entry *entry)
{
    if (w->item_count == w->item_cap)
        w->items = account_grow(w->txn->account, w->items, &w->item_cap, sizeof *w->items);
    w->items[w->item_count++] = *entry;
}

/* The number of the item that begins at AT of the buffer. */
static uint64_t item_number(struct write *w, size_t at)
{
    return w->fs->logical ? w->txn->next_item++ : w->start + at;
}

/* Everything from AT on is one item. */
static void item_end(struct write *w, size_t at, int type, uint64_t item)
{
    if (!w->fs->logical)
        return;
    struct str bytes = str_skip(buf_view(&w->out), at);
    item_add(w, &(struct p2l_entry){w->start + at, bytes.n, type, w->rev, item, fnv1a_32x4(bytes)});
}

static void fresh_add(struct write *w, uint32_t kind, uint64_t item, struct shared *object)
{
    struct written *out = w->result;
    if (out->fresh_count == out->fresh_cap)
        out->fresh = account_grow(out->account, out->fresh, &out->fresh_cap, sizeof *out->fresh);
    account_charge(out->account, object->bytes);
    out->fresh[out->fresh_count++] = (struct fresh){kind, item, object};
}

static void chain_add(struct write *w, const struct rep *rep, const struct rep *base)
{
    struct written *out = w->result;
    if (out->chain_count == out->chain_cap)
        out->chains = account_grow(out->account, out->chains, &out->chain_cap, sizeof *out->chains);
    struct fresh_chain *chain = &out->chains[out->chain_count++];
    *chain = (struct fresh_chain){.rep = *rep, .has_base = base != NULL};
    if (base)
        chain->base = *base;
}

/* REP is new in this revision. */
static void row_add(struct write *w, const struct rep *rep)
{
    struct written *out = w->result;
    if (!w->fs->config.rep_sharing || rep->rev != w->rev)
        return;
    if (out->row_count == out->row_cap)
        out->rows = account_grow(out->account, out->rows, &out->row_cap, sizeof *out->rows);
    struct repcache_row *row = &out->rows[out->row_count++];
    *row = (struct repcache_row){
        .rev = rep->rev, .item = rep->item, .size = rep->size, .expanded = rep->expanded};
    memcpy(row->sha1, rep->sha1, SHA1_SIZE);
}

/* ---- directories ---- */

/* The item of a directory's text at the end of the buffer; REP gets its sizes. */
static struct err *dir_item(struct write *w, struct rep *rep, struct rep *base, bool *has_base,
                            const struct txn_node *dir, const struct dir_text *dt)
{
    struct fsfs *fs = w->fs;
    struct str text = buf_view(&dt->text);
    *has_base = false;
    if (!fs->config.dir_deltification) {
        rep_item_plain(&w->out, rep, text);
        return NULL;
    }
    size_t header;
    TRY(base_choose(base, has_base, fs, &dir->nr, false, w->rev - 1, w->arena));
    if (!*has_base || !dt->runs || !rep_same(base, &dir->from->text))
        return rep_item_delta(&w->out, rep, &header, fs, *has_base ? base : NULL, text);
    struct svndiff_params params = base_svndiff(fs);
    rep_header_append(&w->out, base);
    size_t start = w->out.n;
    dir_text_delta(&w->out, dt, &params);
    rep->size = w->out.n - start;
    rep->expanded = text.n;
    buf_cstr(&w->out, "ENDREP\n");
    return NULL;
}

static void fresh_dir(struct write *w, uint64_t item, struct str text)
{
    struct dir *dir;
    if (text.n > FRESH_TEXT_MAX)
        return;
    struct err *err = dir_parse(&dir, text);
    if (err) { /* a reader will tell */
        err_free(err);
        return;
    }
    fresh_add(w, CACHE_DIR, item, &dir->shared);
    fresh_add(w, CACHE_TEXT, item, &blob_copy(text)->shared);
}

static struct err *write_dir_text(struct write *w, struct txn_node *dir)
{
    struct dir_text dt;
    struct rep rep = {.rev = w->rev, .uniq_txn.base = REV_NONE}, base;
    bool has_base;
    size_t at = w->out.n;
    struct err *err = dir_text_make(&dt, w->txn, dir);
    if (!err)
        err = limit_check("The list of entries", dir->nr.cpath, dt.text.n, w->fs->limits.list);
    if (!err)
        err = dir_item(w, &rep, &base, &has_base, dir, &dt);
    if (!err) {
        md5_of(rep.md5, buf_view(&dt.text));
        rep.item = item_number(w, at);
        item_end(w, at, ITEM_DIR_REP, rep.item);
        dir->nr.text = rep;
        chain_add(w, &rep, has_base ? &base : NULL);
        fresh_dir(w, rep.item, buf_view(&dt.text));
    }
    dir_text_free(&dt);
    return err;
}

/* ---- property lists ---- */

/* A list with the same bytes, of this commit or any before. */
static struct err *props_share(struct rep *rep, bool *found, struct write *w, struct str path,
                               const struct rep *fresh, struct str text)
{
    const struct stored_props *twin =
        map_get(w->props, str_make((const char *)fresh->sha1, SHA1_SIZE));
    if (twin && str_eq(twin->text, text)) {
        *rep = twin->rep;
        *found = true;
        return NULL;
    }
    if (twin)
        TRY(share_collision(w->fs, path, fresh->sha1, REV_NONE));
    return share_find(rep, found, w->fs, path, fresh->md5, fresh->sha1, text);
}

static void props_remember(struct write *w, const struct rep *rep, struct str text)
{
    struct stored_props *stored = ARENA_NEW(w->arena, struct stored_props);
    *stored = (struct stored_props){*rep, arena_str(w->arena, text)};
    map_put(w->props, str_make((const char *)rep->sha1, SHA1_SIZE), stored);
    row_add(w, rep);
}

static struct err *props_item(struct write *w, struct rep *rep, const struct noderev *nr,
                              struct str text)
{
    struct fsfs *fs = w->fs;
    if (!fs->config.props_deltification) {
        rep_item_plain(&w->out, rep, text);
        return NULL;
    }
    struct rep base;
    bool has_base;
    size_t header;
    TRY(base_choose(&base, &has_base, fs, nr, true, w->rev - 1, w->arena));
    return rep_item_delta(&w->out, rep, &header, fs, has_base ? &base : NULL, text);
}

static struct err *write_props(struct write *w, struct txn_node *node)
{
    struct noderev *nr = &node->nr;
    AUTO_BUF(text);
    hashdump_format(&text, node->props.list, node->props.n, S("END"));
    TRY(limit_check("The property list", nr->cpath, text.n, w->fs->limits.list));
    struct rep rep = {.rev = w->rev,
                      .expanded = text.n,
                      .has_sha1 = true,
                      .uniq_txn.base = REV_NONE},
               stored;
    md5_of(rep.md5, buf_view(&text));
    sha1_of(rep.sha1, buf_view(&text));
    bool shared = false;
    if (w->fs->config.rep_sharing)
        TRY(props_share(&stored, &shared, w, nr->cpath, &rep, buf_view(&text)));
    if (shared) {
        rep = stored;
        rep.has_uniq = false;
    } else {
        size_t at = w->out.n;
        int type = nr->kind == NODE_DIR ? ITEM_DIR_PROPS : ITEM_FILE_PROPS;
        TRY(props_item(w, &rep, nr, buf_view(&text)));
        rep.item = item_number(w, at);
        item_end(w, at, type, rep.item);
        props_remember(w, &rep, buf_view(&text));
    }
    txn_take_uniquifier(w->txn, &rep);
    nr->props = rep;
    return NULL;
}

/* ---- node-revisions ---- */

/* A temporary id part becomes permanent. */
static struct id_part id_final(const struct write *w, struct id_part part, uint64_t counter)
{
    if (part.rev != REV_NONE)
        return part;
    if (w->fs->format < 3)
        return (struct id_part){0, part.num + counter};
    return (struct id_part){w->rev, part.num};
}

static void file_text_final(struct write *w, struct txn_node *file)
{
    if (!file->content)
        return;
    txn_text_fill(file);
    if (file->content->draft) {
        file->nr.text.rev = w->rev;
        row_add(w, &file->nr.text);
        chain_add(w, &file->nr.text, file->content->has_base ? &file->content->base : NULL);
        if (file->content->text)
            fresh_add(w, CACHE_TEXT, file->nr.text.item, shared_ref(file->content->text));
    }
}

static struct err *noderev_item(struct write *w, struct noderev *nr, bool is_root)
{
    size_t at = w->out.n;
    uint64_t item = is_root && w->fs->logical ? ITEM_INDEX_ROOT : item_number(w, at);
    nr->id = (struct noderev_id){
        .node = id_final(w, nr->id.node, w->head->next_node_id),
        .copy = id_final(w, nr->id.copy, w->head->next_copy_id),
        .rev = w->rev,
        .item = item,
        .txn.base = REV_NONE,
    };
    if (nr->copyroot_rev == REV_NONE)
        nr->copyroot_rev = w->rev;
    nr->fresh_txn_root = false;
    noderev_format(&w->out, nr, w->fs->format);
    TRY(limit_check("The node-revision", nr->cpath, w->out.n - at, w->fs->limits.noderev));
    item_end(w, at, ITEM_NODEREV, item);

    struct noderev *fresh;
    size_t used;
    TRY(noderev_parse(&fresh, &used, str_skip(buf_view(&w->out), at)));
    fresh_add(w, CACHE_NODEREV, item, &fresh->shared);
    if (is_root && !w->fs->logical)
        fresh_add(w, CACHE_NODEREV, (uint64_t)NODEREV_ROOT_KEY, shared_ref(fresh));
    return NULL;
}

static struct err *write_node(struct write *w, struct txn_node *node, bool is_root)
{
    if (node->nr.kind != NODE_DIR)
        file_text_final(w, node);
    else if (node->entries_changed)
        TRY(write_dir_text(w, node));
    if (node->props_changed)
        TRY(write_props(w, node));
    return noderev_item(w, &node->nr, is_root);
}

/* Children before the folders that name them. */
static struct err *write_tree(struct write *w)
{
    struct txn_walk walk;
    struct txn_node *node;
    txn_walk_begin(&walk, w->txn, w->arena);
    while ((node = txn_walk_next(&walk))) {
        TRY(account_check());
        TRY(write_node(w, node, node == w->txn->root));
    }
    return NULL;
}

/* ---- the whole ---- */

/* The file texts are in the draft already. */
static void items_of_texts(struct write *w)
{
    for (size_t i = 0; w->fs->logical && i < w->txn->stored.n; i++) {
        const struct content *c = w->txn->stored.list[i];
        item_add(w, &(struct p2l_entry){c->offset, c->length, ITEM_FILE_REP, w->rev, c->rep.item,
                                        c->checksum});
    }
}

static struct err *write_changes(uint64_t *offset, struct write *w)
{
    size_t at = w->out.n, n;
    const struct change *list = txn_sorted_changes(&n, w->txn, w->arena);
    for (size_t i = 0; i < n; i++) {
        change_format(&w->out, &list[i], w->fs->format);
        if (w->out.n - at >= w->fs->limits.changes)
            return err_make(E_REPOS_BAD_ARGS,
                            "The list of the %zu changed paths is larger than %zu bytes", n,
                            w->fs->limits.changes);
    }
    buf_char(&w->out, '\n');
    item_end(w, at, ITEM_CHANGES, ITEM_INDEX_CHANGES);
    *offset = w->start + at;
    return NULL;
}

static struct err *write_end(struct write *w, uint64_t changes_offset)
{
    if (!w->fs->logical) {
        buf_printf(&w->out, "%llu %llu\n", (unsigned long long)w->txn->root->nr.id.item,
                   (unsigned long long)changes_offset);
        return NULL;
    }
    return index_append(&w->out, w->items, w->item_count, w->rev, 1, w->start + w->out.n,
                        w->fs->config.l2p_page_size, w->fs->config.p2l_page_size, w->arena);
}

static struct err *write_all(struct write *w)
{
    struct txn *txn = w->txn;
    items_of_texts(w);
    TRY(write_tree(w));
    if (txn->root->nr.count != (uint64_t)w->rev)
        return err_make(E_FS_CORRUPT,
                        "Root node-revision of revision %lld counts %llu predecessors",
                        (long long)w->rev, (unsigned long long)txn->root->nr.count);
    uint64_t changes;
    TRY(write_changes(&changes, w));
    TRY(write_end(w, changes));
    return draft_append(txn->draft, buf_view(&w->out));
}

struct err *commit_write(struct written *out, struct txn *txn, revnum rev, struct head *head)
{
    *out = (struct written){.account = txn->account, .arena = arena_new()};
    struct write w = {
        .txn = txn,
        .fs = txn->fs,
        .rev = rev,
        .head = head,
        .result = out,
        .arena = out->arena,
        .start = draft_size(txn->draft),
        .props = map_new(),
    };
    struct err *err = write_all(&w);
    map_free(w.props, NULL);
    buf_free(&w.out);
    account_release(txn->account, w.items, w.item_cap, sizeof *w.items);
    head->youngest = rev;
    if (txn->fs->format < 3) {
        head->next_node_id += txn->next_node;
        head->next_copy_id += txn->next_copy;
    }
    return err_wrap(err, 0, "Can't write revision %lld of transaction '%.*s'", (long long)rev,
                    STR(txn->name));
}

void written_to_cache(const struct written *written, struct fsfs *fs, revnum rev)
{
    for (size_t i = 0; i < written->fresh_count; i++) {
        const struct fresh *fresh = &written->fresh[i];
        cache_put(fsfs_cache_key(fs, fresh->kind, (uint64_t)rev, fresh->item), fresh->object);
    }
    for (size_t i = 0; i < written->chain_count; i++) {
        const struct fresh_chain *chain = &written->chains[i];
        rep_chain_note(fs, &chain->rep, chain->has_base ? &chain->base : NULL);
    }
}

void written_free(struct written *written)
{
    struct account *account = written->account;
    for (size_t i = 0; i < written->fresh_count; i++) {
        account_credit(account, written->fresh[i].object->bytes);
        shared_unref(written->fresh[i].object);
    }
    account_release(account, written->fresh, written->fresh_cap, sizeof *written->fresh);
    account_release(account, written->chains, written->chain_cap, sizeof *written->chains);
    account_release(account, written->rows, written->row_cap, sizeof *written->rows);
    arena_free(written->arena);
    *written = (struct written){0};
}
