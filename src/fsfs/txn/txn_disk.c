/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions in the layout on disk that other processes know: written for hooks,
 * read for svnlook -t and the like.
 *
 *   transactions/<txn>.txn/  props  changes  next-ids  node.<nid>.<cid>[.children|.props]  itemidx
 * index.l2p  index.p2l txn-protorevs/<txn>.rev */
#include "base/num.h"
#include "base/path.h"
#include "fsfs/read/item.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/txn/txn_int.h"
#include <stdlib.h>

struct disk_txn {
    struct txn *txn;
    struct store *store;
    struct arena *arena;
    struct buf text;           /* one file */
    struct unread_dir *unread; /* when reading */
};

/* A folder whose entries are not read yet. */
struct unread_dir {
    struct txn_node *dir;
    struct unread_dir *next;
};

static struct str file_name(struct disk_txn *d, struct str file)
{
    return arena_printf(d->arena, "%.*s/%.*s", STR(d->txn->name), STR(file));
}

/* "node.<nid>.<cid>" and SUFFIX; ids without their transaction. */
static struct str node_file(struct disk_txn *d, const struct noderev_id *id, const char *suffix)
{
    AUTO_BUF(name);
    buf_cstr(&name, "node.");
    id_part_format(&name, id->node);
    buf_char(&name, '.');
    id_part_format(&name, id->copy);
    buf_cstr(&name, suffix);
    return file_name(d, buf_view(&name));
}

/* ---- writing ---- */

/* Write d->text as the file called NAME, and empty it. */
static struct err *put(struct disk_txn *d, struct str name)
{
    struct err *err =
        record_put(d->store, (struct record_key){RECORD_TXN, REV_NONE, name}, buf_view(&d->text));
    buf_clear(&d->text);
    return err;
}

static struct err *put_revprops(struct disk_txn *d)
{
    struct txn *txn = d->txn;
    struct proplist props;
    proplist_init(&props, NULL, d->arena);
    for (size_t i = 0; i < txn->revprops.n; i++)
        proplist_set(&props, txn->revprops.list[i].name, &txn->revprops.list[i].value);
    hashdump_format(&d->text, props.list, props.n, S("END"));
    return put(d, file_name(d, S("props")));
}

static struct err *put_changes(struct disk_txn *d)
{
    size_t n;
    const struct change *list = txn_sorted_changes(&n, d->txn, d->arena);
    for (size_t i = 0; i < n; i++)
        change_format(&d->text, &list[i], d->txn->fs->format);
    return put(d, file_name(d, S("changes")));
}

static struct err *put_next_ids(struct disk_txn *d)
{
    char node[NUM_BASE36_MAX], copy[NUM_BASE36_MAX];
    int n = (int)num_to_base36(node, d->txn->next_node),
        c = (int)num_to_base36(copy, d->txn->next_copy);
    buf_printf(&d->text, "%.*s %.*s\n", n, node, c, copy);
    return put(d, file_name(d, S("next-ids")));
}

static struct err *put_children(struct disk_txn *d, const struct txn_node *dir)
{
    struct dirent_fs *list;
    size_t n;
    TRY(txn_node_entries(&list, &n, d->txn, dir, d->arena));
    dir_format(&d->text, list, n);
    return put(d, node_file(d, &dir->nr.id, ".children"));
}

static struct err *put_node(struct disk_txn *d, const struct txn_node *node)
{
    if (node->nr.kind == NODE_DIR && node->entries_changed)
        TRY(put_children(d, node));
    if (node->props_changed) {
        hashdump_format(&d->text, node->props.list, node->props.n, S("END"));
        TRY(put(d, node_file(d, &node->nr.id, ".props")));
    }
    noderev_format(&d->text, &node->nr, d->txn->fs->format);
    return put(d, node_file(d, &node->nr.id, ""));
}

static struct err *put_tree(struct disk_txn *d)
{
    struct txn_walk walk;
    const struct txn_node *node;
    txn_walk_begin(&walk, d->txn, d->arena);
    while ((node = txn_walk_next(&walk)))
        TRY(put_node(d, node));
    return NULL;
}

static void put_u64(struct buf *out, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        buf_char(out, (char)(n >> 8 * i));
}

/* Logical addressing: where the texts are, as the final indexes will be made of it. */
static struct err *put_indexes(struct disk_txn *d)
{
    const struct txn *txn = d->txn;
    if (!txn->fs->logical || txn->stored.n == 0)
        return NULL;
    for (size_t i = 0; i < txn->stored.n; i++) {
        put_u64(&d->text, txn->stored.list[i]->offset + 1);
        put_u64(&d->text, txn->stored.list[i]->rep.item);
    }
    TRY(put(d, file_name(d, S("index.l2p"))));
    for (size_t i = 0; i < txn->stored.n; i++) {
        const struct content *c = txn->stored.list[i];
        const uint64_t record[] = {c->offset,   c->length, ITEM_FILE_REP,
                                   c->checksum, 0,         c->rep.item};
        for (size_t k = 0; k < sizeof record / sizeof *record; k++)
            put_u64(&d->text, record[k]);
    }
    TRY(put(d, file_name(d, S("index.p2l"))));
    buf_u64(&d->text, txn->next_item);
    return put(d, file_name(d, S("itemidx")));
}

static struct err *put_all(struct disk_txn *d)
{
    TRY(txn_settle(d->txn));
    TRY(put_revprops(d));
    TRY(put_changes(d));
    TRY(put_next_ids(d));
    TRY(draft_show(d->txn->draft, d->txn->name));
    TRY(put_indexes(d));
    return put_tree(d);
}

struct err *txn_spill(struct txn *txn)
{
    AUTO_ARENA(arena);
    struct disk_txn d = {.txn = txn, .store = txn->fs->store, .arena = arena};
    txn->spilled = true;
    struct err *err = put_all(&d);
    buf_free(&d.text);
    return err_wrap(err, 0, "Can't write transaction '%.*s'", STR(txn->name));
}

/* ---- reading ---- */

/* The file NAME into d->text. */
static struct err *get(bool *found, struct disk_txn *d, struct str name)
{
    buf_clear(&d->text);
    return record_get(&d->text, found, d->store, (struct record_key){RECORD_TXN, REV_NONE, name});
}

static struct err *get_needed(struct disk_txn *d, struct str name)
{
    bool found;
    TRY(get(&found, d, name));
    return found ? NULL : err_make(E_FS_CORRUPT, "Transaction file '%.*s' is missing", STR(name));
}

static struct err *get_revprops(struct disk_txn *d)
{
    struct prop *list;
    size_t n, pos = 0;
    TRY(hashdump_parse(&list, &n, NULL, NULL, buf_view(&d->text), &pos, S("END"), d->arena));
    proplist_init(&d->txn->revprops, NULL, d->txn->arena);
    for (size_t i = 0; i < n; i++)
        proplist_set(&d->txn->revprops, list[i].name, &list[i].value);
    const struct str *client_date = proplist_get(&d->txn->revprops, S("svn:client-date"));
    if (client_date)
        d->txn->keep_date = str_eq(*client_date, S("1"));
    return NULL;
}

struct err *txn_unspill_changes(struct txn *txn)
{
    AUTO_ARENA(arena);
    struct disk_txn d = {.txn = txn, .store = txn->fs->store, .arena = arena};
    struct err *err = get_needed(&d, file_name(&d, S("props")));
    if (!err)
        err = get_revprops(&d);
    buf_free(&d.text);
    return err_wrap(err, 0, "Can't read transaction '%.*s'", STR(txn->name));
}

static bool takes_all_below(const struct change *change)
{
    return change->kind != NODE_FILE &&
           (change->action == CHANGE_DELETE || change->action == CHANGE_REPLACE);
}

/* Was CHANGE below what was taken away later? LAST has, by path, the last of those in its list. */
static bool is_gone(const struct map *last, const struct change *change)
{
    if (map_count(last) == 0)
        return false;
    for (struct str above = path_dirname(change->path); above.n > 1; above = path_dirname(above)) {
        const struct change *taken = map_get(last, above);
        if (taken && taken > change)
            return true;
    }
    return false;
}

/* The file has them as they came. */
static struct err *get_changes(struct disk_txn *d)
{
    struct changes *changes;
    size_t used;
    TRY(get_needed(d, file_name(d, S("changes"))));
    TRY(changes_parse(&changes, &used, buf_view(&d->text)));
    struct map *last = map_new_in(d->arena);
    for (size_t i = 0; i < changes->n; i++)
        if (takes_all_below(&changes->list[i]))
            map_put(last, changes->list[i].path, (void *)&changes->list[i]);
    for (size_t i = 0; i < changes->n; i++)
        if (!is_gone(last, &changes->list[i]))
            txn_record_change(d->txn, &changes->list[i]);
    shared_unref(changes);
    return NULL;
}

static struct err *get_next_ids(struct disk_txn *d)
{
    struct str line;
    size_t pos = 0;
    TRY(get_needed(d, file_name(d, S("next-ids"))));
    if (!str_line(&line, buf_view(&d->text), &pos) ||
        !num_base36(&d->txn->next_node, str_word(&line)) || !num_base36(&d->txn->next_copy, line))
        return err_make(E_FS_CORRUPT, "next-id file corrupt");
    return NULL;
}

static uint64_t get_u64(const char *p)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)(uint8_t)p[i] << 8 * i;
    return n;
}

static struct err *stored_text(struct disk_txn *d, uint64_t offset, uint64_t length, uint64_t item,
                               uint32_t checksum)
{
    struct txn *txn = d->txn;
    uint64_t end;
    if (!add_u64(&end, offset, length) || end > draft_size(txn->draft))
        return err_make(E_FS_CORRUPT,
                        "An item at offset %llu reaches behind the transaction's texts",
                        (unsigned long long)offset);
    struct content *content = ARENA_NEW(txn->arena, struct content);
    *content = (struct content){
        .draft = txn->draft, .offset = offset, .length = length, .checksum = checksum};
    content->rep = (struct rep){.rev = REV_NONE, .item = item, .uniq_txn.base = REV_NONE};
    txn_list_add(txn, &txn->stored, content);
    return NULL;
}

/* The texts that a logically addressed proto-revision holds. */
static struct err *get_indexes(struct disk_txn *d)
{
    enum { RECORD = 6 * 8 };
    bool found;
    if (!d->txn->fs->logical)
        return NULL;
    TRY(get(&found, d, file_name(d, S("index.p2l"))));
    struct str records = buf_view(&d->text);
    for (; records.n >= RECORD; records = str_skip(records, RECORD))
        TRY(stored_text(d, get_u64(records.p), get_u64(records.p + 8), get_u64(records.p + 40),
                        (uint32_t)get_u64(records.p + 24)));
    TRY(get(&found, d, file_name(d, S("itemidx"))));
    if (found && !num_u64(&d->txn->next_item, str_trim(buf_view(&d->text))))
        return err_make(E_FS_CORRUPT, "itemidx is not a number");
    return NULL;
}

static struct err *get_texts(struct disk_txn *d)
{
    bool found;
    buf_clear(&d->text);
    TRY(record_get(&d->text, &found, d->store,
                   (struct record_key){RECORD_TXN_PROTOREV, REV_NONE, d->txn->name}));
    TRY(draft_begin(&d->txn->draft, d->store, d->txn->name));
    TRY(draft_append(d->txn->draft, buf_view(&d->text)));
    return get_indexes(d);
}

/* The content that the text of FILE, in this transaction, refers to. */
static struct err *file_content(struct disk_txn *d, struct txn_node *file)
{
    struct txn *txn = d->txn;
    struct rep *rep = &file->nr.text;
    struct content *content = NULL;
    for (size_t i = 0; txn->fs->logical && i < txn->stored.n && !content; i++)
        if (txn->stored.list[i]->rep.item == rep->item)
            content = txn->stored.list[i];
    if (!content && !txn->fs->logical) {
        content = ARENA_NEW(txn->arena, struct content);
        *content = (struct content){.draft = txn->draft, .offset = rep->item};
    }
    if (!content || content->offset >= draft_size(txn->draft))
        return err_make(E_FS_CORRUPT, "The text of '%.*s' is not among the transaction's texts",
                        STR(file->nr.cpath));
    char head[128];
    uint64_t left = draft_size(txn->draft) - content->offset;
    size_t n = left < sizeof head ? (size_t)left : sizeof head;
    TRY(draft_reread(txn->draft, content->offset, head, n));
    struct rep_header header;
    TRY(rep_header_parse(&header, str_make(head, n)));
    if (!header.delta || rep->size > left - header.length)
        return err_make(E_FS_CORRUPT, "The text of '%.*s' is not whole", STR(file->nr.cpath));
    content->rep = *rep;
    content->rep.has_uniq = false;
    content->header = header.length;
    content->has_base = header.base_rev != REV_NONE;
    if (content->has_base) /* its expanded size and digest are not told: a reader goes by the stored
                              bytes */
        content->base = (struct rep){.rev = header.base_rev,
                                     .item = header.base_item,
                                     .size = header.base_size,
                                     .expanded = UINT64_MAX,
                                     .uniq_txn.base = REV_NONE};
    file->content = content;
    return NULL;
}

/* The text of FILE is in a revision: its predecessor's, or another that was found to be equal to
 * the new one. */
static struct err *file_shared(struct disk_txn *d, struct txn_node *file)
{
    struct rep *rep = &file->nr.text;
    if (file->from && file->from->has_text && rep_same(rep, &file->from->text))
        return NULL;
    file->content = ARENA_NEW(d->txn->arena, struct content);
    file->content->rep = *rep;
    file->content->rep.has_uniq = false;
    return NULL;
}

static struct err *get_props(struct disk_txn *d, struct txn_node *node)
{
    struct prop *list;
    size_t n, pos = 0;
    TRY(get_needed(d, node_file(d, &node->nr.id, ".props")));
    TRY(hashdump_parse(&list, &n, NULL, NULL, arena_str(d->txn->arena, buf_view(&d->text)), &pos,
                       S("END"), d->arena));
    proplist_init(&node->props, NULL, d->txn->arena);
    for (size_t i = 0; i < n; i++)
        proplist_set(&node->props, list[i].name, &list[i].value);
    node->props_changed = true;
    return NULL;
}

/* A folder's entries are left for later. */
static struct err *get_node(struct txn_node **out, struct disk_txn *d, const struct noderev_id *id)
{
    struct txn *txn = d->txn;
    struct noderev *nr;
    size_t used;
    TRY(get_needed(d, node_file(d, id, "")));
    TRY(noderev_parse(&nr, &used, buf_view(&d->text)));
    arena_keep(txn->arena, &nr->shared);
    if (!noderev_id_eq(&nr->id, id))
        return err_make(E_FS_CORRUPT, "Node file of '%.*s' holds another node", STR(nr->cpath));
    struct txn_node *node = txn_node_new(txn, NULL);
    noderev_take(&node->nr, nr);
    if (nr->has_pred)
        TRY(noderev_get(&node->from, txn->fs, &nr->pred, txn->arena));
    *out = node;
    if (nr->has_props && nr->props.rev == REV_NONE)
        TRY(get_props(d, node));
    if (!nr->has_text)
        return NULL;
    if (nr->kind == NODE_FILE)
        return nr->text.rev == REV_NONE ? file_content(d, node) : file_shared(d, node);
    if (nr->text.rev != REV_NONE)
        return NULL;
    node->entries_changed = true;
    struct unread_dir *unread = ARENA_NEW(d->arena, struct unread_dir);
    *unread = (struct unread_dir){node, d->unread};
    d->unread = unread;
    return NULL;
}

/* One name of a directory as the transaction has it, unless it is that of the directory beneath. */
static struct err *get_child(struct disk_txn *d, struct txn_node *dir,
                             const struct dirent_fs *entry)
{
    struct txn_child child = {.id = entry->id, .kind = entry->kind};
    if (entry->id.rev == REV_NONE) {
        TRY(get_node(&child.node, d, &entry->id));
        struct str name, parent = dir->nr.cpath, path = child.node->nr.cpath;
        if (!path_skip_ancestor(&name, parent, path) || !str_eq(name, entry->name))
            return err_make(E_FS_CORRUPT, "Entry '%.*s' of '%.*s' is the node of '%.*s'",
                            STR(entry->name), STR(parent), STR(path)); /* so there is no cycle */
    } else {
        const struct dirent_fs *beneath = dir->base ? dir_find(dir->base, entry->name) : NULL;
        if (beneath && noderev_id_eq(&beneath->id, &entry->id))
            return NULL;
    }
    return txn_dir_set(d->txn, dir, entry->name, &child);
}

/* `.children`: a full list, then additions and removals. */
static struct err *get_children(struct disk_txn *d, struct txn_node *dir)
{
    TRY(get_needed(d, node_file(d, &dir->nr.id, ".children")));
    struct prop *list;
    struct str *deleted;
    size_t n, deleted_n, pos = 0;
    struct proplist entries;
    struct str text = arena_str(d->arena, buf_view(&d->text));
    TRY(hashdump_parse(&list, &n, NULL, NULL, text, &pos, S("END"), d->arena));
    proplist_init(&entries, NULL, d->arena);
    for (size_t i = 0; i < n; i++)
        proplist_set(&entries, list[i].name, &list[i].value);
    while (pos < text.n) { /* record by record, since later ones win */
        size_t end = pos, lines = text.p[pos] == 'D' ? 2 : 4;
        struct str line;
        while (lines-- && str_line(&line, text, &end))
            continue;
        AUTO_BUF(one);
        buf_add(&one, text.p + pos, end - pos);
        buf_cstr(&one, "END\n");
        size_t at = 0;
        TRY(hashdump_parse(&list, &n, &deleted, &deleted_n, arena_str(d->arena, buf_view(&one)),
                           &at, S("END"), d->arena));
        for (size_t i = 0; i < n; i++)
            proplist_set(&entries, list[i].name, &list[i].value);
        for (size_t i = 0; i < deleted_n; i++)
            proplist_set(&entries, deleted[i], NULL);
        pos = end;
    }
    AUTO_BUF(dump);
    hashdump_format(&dump, entries.list, entries.n, S("END"));
    struct dir *now;
    TRY(dir_parse(&now, buf_view(&dump)));
    arena_keep(d->txn->arena, &now->shared);
    const struct dir *beneath;
    TRY(txn_dir_base(&beneath, d->txn, dir));
    for (size_t i = 0; i < now->n; i++)
        TRY(get_child(d, dir, &now->list[i]));
    for (size_t i = 0; beneath && i < beneath->n; i++)
        if (!dir_find(now, beneath->list[i].name))
            TRY(txn_dir_set(d->txn, dir, beneath->list[i].name,
                            &(struct txn_child){.kind = NODE_NONE}));
    return NULL;
}

static struct err *get_tree(struct disk_txn *d, const struct noderev_id *root)
{
    struct unread_dir *unread;
    TRY(get_node(&d->txn->root, d, root));
    while ((unread = d->unread)) {
        d->unread = unread->next;
        TRY(get_children(d, unread->dir));
    }
    return NULL;
}

static struct err *get_all(struct disk_txn *d)
{
    static const struct id_part zero = {0, 0};
    TRY(get_revprops(d));
    TRY(get_texts(d));
    struct noderev_id root = {.node = zero, .copy = zero, .rev = REV_NONE, .txn = d->txn->id};
    TRY(get_tree(d, &root));
    if (d->txn->root->nr.kind != NODE_DIR || !d->txn->root->nr.has_pred)
        return err_make(E_FS_CORRUPT, "The root of the transaction is not a directory's successor");
    d->txn->base = d->txn->root->nr.pred.rev;
    TRY(get_changes(d));
    return get_next_ids(d);
}

struct err *txn_load(struct txn **out, struct fsfs *fs, struct str name)
{
    struct txn_id id;
    bool found = false;
    TRY(txn_id_parse(&id, name));
    AUTO_ARENA(arena);
    struct txn *txn = txn_new(fs, id);
    struct disk_txn d = {.txn = txn, .store = fs->store, .arena = arena};
    txn->name = arena_str(txn->arena, name); /* formats 1 and 2 count in decimal */
    txn->loaded = txn->spilled = true;
    struct err *err = get(&found, &d, file_name(&d, S("props")));
    if (!err && !found)
        err = err_make(E_FS_NO_SUCH_TRANSACTION, "No such transaction '%.*s'", STR(name));
    else if (!err)
        err = err_wrap(get_all(&d), 0, "Can't read transaction '%.*s'", STR(name));
    buf_free(&d.text);
    if (err) {
        txn_abort(txn);
        return err;
    }
    *out = txn;
    return NULL;
}

/* ---- all of them ---- */

struct err *txn_list(struct str **names, size_t *n, struct fsfs *fs, struct arena *arena)
{
    return record_scan(names, n, fs->store, RECORD_TXN, arena);
}

struct err *txn_remove(struct fsfs *fs, struct str name)
{
    return store_txn_remove(fs->store, name);
}
