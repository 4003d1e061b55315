/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning, looking at and changing a transaction. */
#include "base/account.h"
#include "base/path.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/txn/txn_int.h"
#include <stdlib.h>

/* ---- life ---- */

struct txn *txn_new(struct fsfs *fs, struct txn_id id)
{
    struct txn *txn = mem_zalloc(sizeof *txn);
    txn->fs = fs;
    txn->account = account_current;
    txn->arena = arena_new();
    txn->scratch = arena_new();
    txn->way.arena = arena_new();
    txn->scratch_start = arena_mark(txn->scratch);
    txn->base = id.base;
    txn->id = id;
    AUTO_BUF(name);
    txn_id_format(&name, id);
    txn->name = arena_str(txn->arena, buf_view(&name));
    proplist_init(&txn->revprops, NULL, txn->arena);
    txn->changes = map_new();
    txn->by_sha1 = map_new();
    txn->next_item = ITEM_INDEX_FIRST_FREE;
    txn->jobs_end = &txn->jobs;
    return txn;
}

/* The root is mutable from the beginning. */
static struct err *root_begin(struct txn *txn)
{
    const struct noderev *from;
    TRY(noderev_root(&from, txn->fs, txn->base, txn->arena));
    struct txn_node *root = txn_node_new(txn, from);
    struct noderev *nr = &root->nr;
    nr->has_pred = true;
    nr->pred = from->id;
    nr->count++;
    nr->fresh_txn_root = true;
    nr->copyfrom_rev = REV_NONE;
    nr->copyfrom_path = S("");
    nr->id = (struct noderev_id){from->id.node, from->id.copy, REV_NONE, 0, txn->id};
    txn->root = root;
    return NULL;
}

struct err *txn_begin(struct txn **out, struct fsfs *fs, revnum base)
{
    struct txn_id id = {base, 0};
    TRY(store_txn_numbers(&id.num, fs->store, base, 1));
    struct txn *txn = txn_new(fs, id);
    struct err *err = root_begin(txn);
    if (err) {
        txn_abort(txn);
        return err;
    }
    *out = txn;
    return NULL;
}

void txn_abort(struct txn *txn)
{
    if (!txn)
        return;
    txn_texts_free(txn);
    if (txn->spilled && !txn->loaded)
        err_free(txn_remove(txn->fs, txn->name));
    map_free(txn->changes, NULL);
    map_free(txn->by_sha1, NULL);
    way_free(txn);
    arena_free(txn->scratch);
    arena_free(txn->arena);
    free(txn);
}

revnum txn_base(const struct txn *txn)
{
    return txn->base;
}

struct str txn_name(const struct txn *txn)
{
    return txn->name;
}

struct fsfs *txn_fs(const struct txn *txn)
{
    return txn->fs;
}

void txn_set_revprop(struct txn *txn, struct str name, const struct str *value)
{
    proplist_set(&txn->revprops, name, value);
}

const struct str *txn_revprop(const struct txn *txn, struct str name)
{
    return proplist_get(&txn->revprops, name);
}

const struct proplist *txn_revprops(const struct txn *txn)
{
    return &txn->revprops;
}

void txn_keep_date(struct txn *txn, bool keep)
{
    txn->keep_date = keep;
}

/* ---- looking ---- */

static struct err *look(const struct txn_node **out, struct txn *txn, const struct txn_step *step,
                        struct arena *arena)
{
    if (step->node) {
        *out = step->node;
        return txn_collect_node(txn, step->node);
    }
    struct txn_node *view = ARENA_NEW(arena, struct txn_node);
    TRY(noderev_get(&view->from, txn->fs, &step->nr->id, arena)); /* the way's may go before */
    noderev_take(&view->nr, view->from);
    *out = view;
    return NULL;
}

struct err *txn_find(const struct txn_node **out, struct txn *txn, struct str path,
                     struct arena *arena)
{
    struct txn_way *way;
    bool found;
    *out = NULL;
    TRY(way_try(&way, &found, txn, path));
    return found ? look(out, txn, way_last(way), arena) : NULL;
}

struct err *txn_get(const struct txn_node **out, struct txn *txn, struct str path,
                    struct arena *arena)
{
    struct txn_way *way;
    TRY(way_open(&way, txn, path, false));
    return look(out, txn, way_last(way), arena);
}

enum node_kind txn_node_kind(const struct txn_node *node)
{
    return node->nr.kind;
}

bool txn_node_is_mutable(const struct txn_node *node)
{
    bool is_fresh = node->nr.fresh_txn_root && !node->entries_changed && !node->props_changed;
    return node->is_mutable && !is_fresh;
}

const struct noderev *txn_node_noderev(const struct txn_node *node)
{
    return &node->nr;
}

struct err *txn_node_props(const struct prop **list, size_t *n, struct txn *txn,
                           const struct txn_node *node, struct arena *arena)
{
    if (node->props_changed) {
        *list = node->props.list;
        *n = node->props.n;
        return NULL;
    }
    const struct props *props = NULL;
    if (node->from)
        TRY(noderev_props(&props, txn->fs, node->from, arena));
    *list = props ? props->list : NULL;
    *n = props ? props->n : 0;
    return NULL;
}

/* Merge the committed entries with those that lie over them. */
static size_t entries_merge(struct dirent_fs *to, const struct dir *base,
                            const struct txn_node *dir, const struct str *names, size_t name_count)
{
    size_t n = 0, b = 0, o = 0, base_n = base ? base->n : 0;
    while (b < base_n || o < name_count) {
        int c = b == base_n ? 1 : o == name_count ? -1 : str_cmp(base->list[b].name, names[o]);
        if (c < 0) {
            to[n++] = base->list[b++];
            continue;
        }
        b += c == 0;
        const struct txn_child *child = map_get(dir->over, names[o]);
        if (child->kind != NODE_NONE)
            to[n++] = (struct dirent_fs){names[o], child->node ? child->node->nr.id : child->id,
                                         child->kind};
        o++;
    }
    return n;
}

struct err *txn_node_entries(struct dirent_fs **list, size_t *n, struct txn *txn,
                             const struct txn_node *node, struct arena *arena)
{
    if (node->nr.kind != NODE_DIR)
        return err_make(E_FS_NOT_DIRECTORY, "Can't get entries of non-directory '%.*s'",
                        STR(node->nr.cpath));
    const struct dir *base = node->base;
    if (!base && node->from)
        TRY(dir_get(&base, txn->fs, node->from, arena));
    size_t name_count;
    struct str *names = txn_dir_over(&name_count, node, arena);
    *list = arena_array(arena, (base ? base->n : 0) + name_count + 1, sizeof **list);
    *n = entries_merge(*list, base, node, names, name_count);
    return NULL;
}

struct err *txn_node_text(struct reader **out, struct txn *txn, const struct txn_node *node)
{
    if (node->nr.kind != NODE_FILE)
        return err_make(E_FS_NOT_FILE, "Can't get textual contents of a *non*-file node '%.*s'",
                        STR(node->nr.cpath));
    if (node->content) {
        TRY(txn_collect_node(txn, node));
        return content_open(out, txn, node->content);
    }
    if (node->from && node->from->has_text)
        return rep_open(out, txn->fs, &node->from->text);
    *out = reader_of_str(S(""));
    return NULL;
}

/* ---- changing ---- */

/* The child of the way's end becomes CHILD: of the way only what is above it is still right. */
static struct err *set_last(struct txn *txn, struct txn_way *way, const struct txn_child *child)
{
    const struct txn_step *last = way_last(way);
    TRY(txn_dir_set(txn, last[-1].node, step_name(way, last), child));
    way_cut(way, way->n - 1);
    return NULL;
}

static struct err *check_not_there(struct txn *txn, const struct txn_way *way, struct str path)
{
    if (!way_last(way)->nr)
        return NULL;
    return err_make(E_FS_ALREADY_EXISTS,
                    "File already exists: filesystem '%s', transaction '%.*s', path '%.*s'",
                    txn->fs->uuid, STR(txn->name), STR(path));
}

static struct err *make_node(struct txn *txn, struct str path, enum node_kind kind)
{
    arena_rewind(txn->scratch, txn->scratch_start);
    TRY(path_check_new(path));
    struct txn_way *way;
    TRY(way_open(&way, txn, path, true));
    TRY(check_not_there(txn, way, path));
    TRY(way_make_mutable(txn, way, way->n - 1));
    const struct noderev *above = way->steps[way->n - 2].nr;

    struct txn_node *node = txn_node_new(txn, NULL);
    node->nr.kind = kind;
    node->nr.id = (struct noderev_id){txn_take_node_id(txn), above->id.copy, REV_NONE, 0, txn->id};
    node->nr.cpath = arena_str(txn->arena, path);
    node->nr.copyroot_rev = above->copyroot_rev;
    node->nr.copyroot_path = above->copyroot_path;
    TRY(set_last(txn, way, &(struct txn_child){node, node->nr.id, kind}));
    struct change change = {
        .path = path,
        .id = node->nr.id,
        .action = CHANGE_ADD,
        .kind = kind,
        .text_changed = kind == NODE_FILE, /* a new file's text is new even before it comes */
        .mergeinfo_changed = TRI_FALSE,
        .copyfrom_rev = REV_NONE,
    };
    txn_record_change(txn, &change);
    return NULL;
}

struct err *txn_make_dir(struct txn *txn, struct str path)
{
    return make_node(txn, path, NODE_DIR);
}

struct err *txn_make_file(struct txn *txn, struct str path)
{
    return make_node(txn, path, NODE_FILE);
}

struct err *txn_delete(struct txn *txn, struct str path)
{
    arena_rewind(txn->scratch, txn->scratch_start);
    struct txn_way *way;
    TRY(way_open(&way, txn, path, false));
    if (way->n == 1)
        return err_make(E_FS_ROOT_DIR, "The root directory cannot be deleted");
    const struct txn_step *last = way_last(way);
    struct change change = {
        .path = path,
        .id = last->nr->id,
        .action = CHANGE_DELETE,
        .kind = last->nr->kind,
        .mergeinfo_changed = TRI_FALSE,
        .copyfrom_rev = REV_NONE,
    };
    const struct txn_node *gone = last->node;
    int64_t mergeinfo = last->nr->minfo_cnt;
    TRY(way_make_mutable(txn, way, way->n - 1));
    TRY(set_last(txn, way, &(struct txn_child){.kind = NODE_NONE}));
    if (fsfs_has_mergeinfo(txn->fs))
        TRY(way_add_mergeinfo(way, way->n - 1, -mergeinfo));
    txn_record_change(txn, &change);
    txn_forget_below(txn, path, gone);
    return NULL;
}

/* The node that a copy of FROM to PATH makes. */
static struct txn_node *copy_node(struct txn *txn, const struct noderev *from, struct str path,
                                  revnum from_rev, struct str from_path)
{
    struct txn_node *node = txn_node_new(txn, from);
    struct noderev *nr = &node->nr;
    nr->id = (struct noderev_id){from->id.node, txn_take_copy_id(txn), REV_NONE, 0, txn->id};
    nr->has_pred = true;
    nr->pred = from->id;
    nr->count++;
    nr->cpath = nr->copyroot_path = arena_str(txn->arena, path);
    nr->copyroot_rev = REV_NONE;
    nr->copyfrom_rev = from_rev;
    nr->copyfrom_path = arena_str(txn->arena, from_path);
    return node;
}

struct err *txn_copy(struct txn *txn, struct str path, revnum from_rev, struct str from_path)
{
    arena_rewind(txn->scratch, txn->scratch_start);
    TRY(path_check_new(path));
    const struct noderev *from;
    TRY(revision_find(&from, txn->fs, from_rev, from_path, txn->arena));
    if (!from)
        return err_make(E_FS_NOT_FOUND, "File not found: revision %lld, path '%.*s'",
                        (long long)from_rev, STR(from_path));
    struct txn_way *way;
    TRY(way_open(&way, txn, path, true));
    if (way->n == 1)
        return err_make(E_FS_ROOT_DIR, "The root directory cannot be replaced");
    const struct txn_step *last = way_last(way);
    if (last->nr && noderev_id_eq(&last->nr->id, &from->id))
        return NULL; /* it is there already */
    bool replaces = last->nr != NULL;
    const struct txn_node *gone = last->node;
    int64_t mergeinfo = from->minfo_cnt - (replaces ? last->nr->minfo_cnt : 0);

    TRY(way_make_mutable(txn, way, way->n - 1));
    struct txn_node *node = copy_node(txn, from, path, from_rev, from_path);
    TRY(set_last(txn, way, &(struct txn_child){node, node->nr.id, from->kind}));
    if (fsfs_has_mergeinfo(txn->fs))
        TRY(way_add_mergeinfo(way, way->n - 1, mergeinfo));
    struct change change = {
        .path = path,
        .id = node->nr.id,
        .action = replaces ? CHANGE_REPLACE : CHANGE_ADD,
        .kind = from->kind,
        .mergeinfo_changed = TRI_FALSE,
        .copyfrom_path = from_path,
        .copyfrom_rev = from_rev,
    };
    txn_record_change(txn, &change);
    txn_forget_below(txn, path, gone);
    return NULL;
}

/* ---- properties ---- */

/* Give NODE a list of its own. */
static struct err *props_load(struct txn *txn, struct txn_node *node)
{
    if (node->props_changed)
        return NULL;
    const struct props *props = NULL;
    if (node->from)
        TRY(noderev_props(&props, txn->fs, node->from, txn->arena));
    proplist_init(&node->props, props, txn->arena);
    return NULL;
}

/* The node's own svn:mergeinfo comes or goes: tell all above. */
static struct err *mergeinfo_changes(struct txn *txn, struct txn_way *way, const struct str *value)
{
    struct noderev *nr = &way_last(way)->node->nr;
    if (nr->minfo_here == (value != NULL))
        return NULL;
    TRY(way_add_mergeinfo(way, way->n, value ? 1 : -1));
    nr->minfo_here = value != NULL;
    return NULL;
}

struct err *txn_set_prop(struct txn *txn, struct str path, struct str name, const struct str *value)
{
    arena_rewind(txn->scratch, txn->scratch_start);
    struct txn_way *way;
    TRY(way_open(&way, txn, path, false));
    TRY(way_make_mutable(txn, way, way->n));
    struct txn_node *node = way_last(way)->node;
    TRY(props_load(txn, node));
    bool mergeinfo = fsfs_has_mergeinfo(txn->fs) && str_eq(name, S("svn:mergeinfo"));
    if (mergeinfo)
        TRY(mergeinfo_changes(txn, way, value));
    proplist_set(&node->props, name, value);
    if (!node->props_changed) {
        node->props_changed = true;
        node->nr.has_props = true;
        node->nr.props = (struct rep){.rev = REV_NONE, .uniq_txn.base = REV_NONE};
        txn_take_uniquifier(txn, &node->nr.props);
    }
    struct change change = {
        .path = path,
        .id = node->nr.id,
        .action = CHANGE_MODIFY,
        .kind = node->nr.kind,
        .props_changed = true,
        .mergeinfo_changed = mergeinfo ? TRI_TRUE : TRI_FALSE,
        .copyfrom_rev = REV_NONE,
    };
    txn_record_change(txn, &change);
    return NULL;
}
