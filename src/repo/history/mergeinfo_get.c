/* SPDX-License-Identifier: Apache-2.0 */
/* The mergeinfo of places in a tree: own, inherited, and of what lies below. */
#include "base/account.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"
#include "fsfs/read/noderev_get.h"
#include "repo/history/mergeinfo.h"

enum { CACHE_MERGEINFO = CACHE_REPO + 1 }; /* rev, item of the property list -> struct parsed */

static const struct str prop_name = {"svn:mergeinfo", sizeof "svn:mergeinfo" - 1};

/* ---- parsed properties in the cache ---- */

/* A parsed property, one block: the struct, its sources, their ranges, their paths. */
struct parsed {
    struct shared shared;
    enum mergeinfo_state state;
    struct mergeinfo mi;
};

static struct parsed *parsed_new(enum mergeinfo_state state, const struct mergeinfo *mi)
{
    size_t range_count = 0, path_bytes = 0;
    for (size_t i = 0; i < mi->n; i++) {
        range_count += mi->list[i].n;
        path_bytes += mi->list[i].path.n;
    }
    size_t size = sizeof(struct parsed) + mi->n * sizeof(struct merge_source) +
                  range_count * sizeof(struct merge_range) + path_bytes;
    struct parsed *parsed = mem_alloc(size);
    shared_init(&parsed->shared, size, shared_free_plain);
    parsed->state = state;
    struct merge_source *sources = (struct merge_source *)(parsed + 1);
    struct merge_range *ranges = (struct merge_range *)(sources + mi->n);
    char *paths = (char *)(ranges + range_count);
    parsed->mi = (struct mergeinfo){sources, mi->n};
    for (size_t i = 0; i < mi->n; i++) {
        const struct merge_source *from = &mi->list[i];
        sources[i] = (struct merge_source){{paths, from->path.n}, ranges, from->n};
        if (from->n)
            memcpy(ranges, from->ranges, from->n * sizeof *ranges);
        paths = mempcpy(paths, from->path.p, from->path.n);
        ranges += from->n;
    }
    return parsed;
}

/* Parse VALUE; a text that is no mergeinfo is a result, not an error. */
static struct parsed *parse_value(const struct str *value)
{
    AUTO_ARENA(scratch);
    struct mergeinfo mi = {0};
    if (!value)
        return parsed_new(MERGEINFO_NONE, &mi);
    struct err *err = mergeinfo_parse(&mi, *value, scratch);
    if (!err)
        return parsed_new(MERGEINFO_GOOD, &mi);
    err_free(err);
    return parsed_new(MERGEINFO_BAD, &(struct mergeinfo){0});
}

static struct err *parsed_of_txn_node(const struct parsed **out, const struct tree *tree,
                                      const struct node *node, struct arena *arena)
{
    struct str value;
    bool found;
    TRY(node_prop(&value, &found, tree, node, prop_name, arena));
    *out = arena_keep(arena, &parse_value(found ? &value : NULL)->shared);
    return NULL;
}

struct err *mergeinfo_at_node(const struct mergeinfo **out, enum mergeinfo_state *state,
                              const struct tree *tree, const struct node *node, struct arena *arena)
{
    const struct parsed *parsed = NULL;
    if (tree->txn) {
        TRY(parsed_of_txn_node(&parsed, tree, node, arena));
    } else if (node->noderev->has_props) {
        const struct rep *rep = &node->noderev->props;
        struct cache_key key =
            fsfs_cache_key(tree->fs, CACHE_MERGEINFO, (uint64_t)rep->rev, rep->item);
        parsed = cache_get(key, arena);
        if (!parsed) {
            const struct props *props;
            TRY(noderev_props(&props, tree->fs, node->noderev, arena));
            struct parsed *fresh = parse_value(props_get(props, prop_name));
            cache_put(key, &fresh->shared);
            parsed = arena_keep(arena, &fresh->shared);
        }
    }
    *state = parsed ? parsed->state : MERGEINFO_NONE;
    *out = *state == MERGEINFO_GOOD ? &parsed->mi : NULL;
    return NULL;
}

/* ---- one node ---- */

static struct err *claim_error(const struct node *node, struct arena *arena)
{
    struct str id = noderev_id_str(&node->noderev->id, arena);
    return err_make(E_FS_CORRUPT,
                    "Node-revision '%.*s' of '%.*s' claims to have mergeinfo but doesn't", STR(id),
                    STR(node->path));
}

/* The last node on the way to PATH that may answer for it and has mergeinfo; *FOUND false where
 * there is none. */
static struct err *find_last(struct node *out, bool *found, const struct tree *tree,
                             struct str path, enum mergeinfo_inherit inherit, struct arena *arena)
{
    struct tree_way way;
    struct noderev_id id = {0};
    bool more;
    *found = false;
    tree_way_begin(&way, tree, path, arena);
    for (;;) {
        struct node node;
        TRY(tree_way_next(&more, &node, &way));
        if (!more)
            break;
        const bool is_self = node.path.n == path.n;
        if (inherit == (is_self ? MERGEINFO_NEAREST_ANCESTOR : MERGEINFO_EXPLICIT) ||
            !node.noderev->minfo_here)
            continue;
        *found = true;
        *out = node;
        id = node.noderev->id;
    }
    if (!*found)
        return NULL;
    out->path = arena_str(arena, out->path); /* what the way has put there is gone */
    if (tree->txn)
        return tree_node(out, tree, out->path, arena);
    return noderev_get(&out->noderev, tree->fs, &id, arena);
}

/* Before format 3 nodes do not say whether they have mergeinfo. */
static struct err *check_format(const struct fsfs *fs)
{
    enum { FIRST_FORMAT = 3 };
    if (fs->format >= FIRST_FORMAT)
        return NULL;
    return err_make(E_UNSUPPORTED_FEATURE,
                    "Querying mergeinfo requires version %d of the FSFS filesystem schema; "
                    "filesystem '%s' uses only version %d",
                    FIRST_FORMAT, store_path(fs->store), fs->format);
}

struct err *mergeinfo_origin(struct mergeinfo_origin *out, const struct tree *tree, struct str path,
                             enum mergeinfo_inherit inherit, struct arena *arena)
{
    bool found;
    *out = (struct mergeinfo_origin){0};
    TRY(check_format(tree->fs));
    TRY(find_last(&out->node, &found, tree, path, inherit, arena));
    if (!found)
        return NULL;
    struct str below;
    path_skip_ancestor(&below, out->node.path, path);
    out->below = arena_str(arena, below);
    return NULL;
}

struct err *mergeinfo_of_node(struct mergeinfo *out, bool *found, const struct tree *tree,
                              struct str path, enum mergeinfo_inherit inherit, struct arena *arena)
{
    struct mergeinfo_origin origin;
    *found = false;
    *out = (struct mergeinfo){0};
    TRY(mergeinfo_origin(&origin, tree, path, inherit, arena));
    if (!origin.node.noderev)
        return NULL;
    const struct mergeinfo *mi;
    enum mergeinfo_state state;
    TRY(mergeinfo_at_node(&mi, &state, tree, &origin.node, arena));
    if (state == MERGEINFO_NONE)
        return claim_error(&origin.node, arena);
    *found = state == MERGEINFO_GOOD;
    if (!*found)
        return NULL;
    if (origin.below.n)
        mergeinfo_inherit(out, mi, origin.below, arena);
    else
        *out = *mi;
    return NULL;
}

/* ---- catalogs ---- */

struct catalog {
    struct path_mergeinfo *list;
    size_t n, cap;
    const struct principal *who;
    struct arena *arena;
};

static void catalog_add(struct catalog *to, struct str path, const struct mergeinfo *mi)
{
    AUTO_BUF(text);
    mergeinfo_format(&text, mi);
    *VEC_ADD_IN(to, to->arena) =
        (struct path_mergeinfo){arena_str(to->arena, path), arena_str(to->arena, buf_view(&text))};
}

static bool has_some_below(const struct noderev *noderev)
{
    return noderev->kind == NODE_DIR && noderev->minfo_cnt > noderev->minfo_here;
}

/* A folder on the way down. The repository decides how deep it goes, so that the way is a list in
 * an arena, not a recursion on the thread's stack. */
struct open_dir {
    const struct dirent_fs *list;
    size_t n, next;
    size_t path_n;          /* of its path, with which those below it begin */
    struct arena_mark mark; /* before the folder */
    struct open_dir *up;
};

static struct err *open_dir(struct open_dir **top, const struct tree *tree, const struct node *node,
                            struct arena *arena)
{
    const struct arena_mark mark = arena_mark(arena);
    struct open_dir *dir = ARENA_NEW(arena, struct open_dir);
    *dir = (struct open_dir){.path_n = node->path.n, .mark = mark, .up = *top};
    *top = dir;
    return node_entries(&dir->list, &dir->n, tree, node, arena);
}

/* What NODE says itself. */
static struct err *add_node(struct catalog *to, const struct tree *tree, const struct node *node,
                            struct arena *scratch)
{
    if (!node->noderev->minfo_here || !principal_may(to->who, node->path, ACCESS_READ, false))
        return NULL;
    const struct mergeinfo *mi;
    enum mergeinfo_state state;
    TRY(mergeinfo_at_node(&mi, &state, tree, node, scratch));
    if (state == MERGEINFO_NONE)
        return claim_error(node, scratch);
    if (state == MERGEINFO_GOOD)
        catalog_add(to, node->path, mi);
    return NULL;
}

static struct err *add_below(struct catalog *to, const struct tree *tree, const struct node *root)
{
    AUTO_ARENA(dirs);
    AUTO_ARENA(scratch);
    AUTO_BUF(path); /* of the node looked at last */
    struct open_dir *top = NULL;
    buf_str(&path, root->path);
    TRY(open_dir(&top, tree, root, dirs));
    while (top) {
        if (top->next == top->n) {
            const struct open_dir *done = top;
            top = done->up;
            arena_rewind(dirs, done->mark);
            continue;
        }
        const struct dirent_fs *entry = &top->list[top->next++];
        path.n = top->path_n > 1 ? top->path_n : 0;
        buf_char(&path, '/');
        buf_str(&path, entry->name);
        const struct arena_mark mark = arena_mark(scratch);
        struct node child;
        TRY(account_check());
        TRY(tree_entry(&child, tree, buf_view(&path), entry, scratch));
        TRY(add_node(to, tree, &child, scratch));
        if (has_some_below(child.noderev))
            TRY(open_dir(&top, tree, &child, dirs));
        arena_rewind(scratch, mark);
    }
    return NULL;
}

static struct err *add_path(struct catalog *to, const struct tree *tree, struct str path,
                            enum mergeinfo_inherit inherit, bool descendants)
{
    AUTO_ARENA(scratch);
    struct mergeinfo mi;
    bool found;
    TRY(mergeinfo_of_node(&mi, &found, tree, path, inherit, scratch));
    if (found)
        catalog_add(to, path, &mi);
    if (!descendants)
        return NULL;
    struct node node;
    TRY(tree_node(&node, tree, path, scratch));
    return has_some_below(node.noderev) ? add_below(to, tree, &node) : NULL;
}

struct err *mergeinfo_get(struct path_mergeinfo **out, size_t *n, const struct tree *tree,
                          const struct str *paths, size_t path_count,
                          enum mergeinfo_inherit inherit, bool descendants,
                          const struct principal *who, struct arena *arena)
{
    struct catalog catalog = {.who = who, .arena = arena};
    struct map *asked = map_new_in(arena); /* clients keep a catalog by path: once is enough */
    for (size_t i = 0; i < path_count; i++) {
        if (map_put(asked, paths[i], asked))
            continue;
        if (principal_may(who, paths[i], ACCESS_READ, false))
            TRY(add_path(&catalog, tree, paths[i], inherit, descendants));
    }
    *out = catalog.list;
    *n = catalog.n;
    return NULL;
}
