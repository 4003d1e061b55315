/* SPDX-License-Identifier: Apache-2.0 */
/* The mergeinfo of places in a tree: own, inherited, and of what lies below. */
#include "base/map.h"
#include "base/path.h"
#include "repo/mergeinfo.h"

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

/* The nodes from the root down to PATH; the last is PATH's. */
static struct err *chain_find(struct node **out, size_t *n, const struct tree *tree,
                              struct str path, struct arena *arena)
{
    size_t cap = 1;
    for (size_t i = 0; i < path.n; i++)
        cap += path.p[i] == '/';
    TRY(arena_check(arena, cap * sizeof(struct node)));
    struct node *chain = arena_array(arena, cap, sizeof *chain);
    *n = 0;
    TRY(tree_node(&chain[(*n)++], tree, S("/"), arena));
    struct str name, rest = str_skip(path, 1);
    while (path_next(&name, &rest)) {
        struct str here = str_make(path.p, (size_t)(name.p + name.n - path.p));
        const struct node *parent = &chain[*n - 1];
        const struct dirent_fs *entry = NULL;
        if (!tree->txn && parent->noderev->kind == NODE_DIR) {
            const struct dir *dir;
            TRY(dir_get(&dir, tree->fs, parent->noderev, arena));
            entry = dir_find(dir, name);
        }
        if (entry)
            TRY(tree_child(&chain[(*n)++], tree, parent, entry, arena));
        else
            TRY(tree_node(&chain[(*n)++], tree, tree->txn ? here : path, arena));
    }
    *out = chain;
    return NULL;
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
    struct node *chain;
    size_t n;
    *out = (struct mergeinfo_origin){0};
    TRY(check_format(tree->fs));
    TRY(chain_find(&chain, &n, tree, path, arena));
    if (inherit == MERGEINFO_NEAREST_ANCESTOR)
        n--;
    while (n && !chain[n - 1].noderev->minfo_here) {
        if (inherit == MERGEINFO_EXPLICIT)
            return NULL;
        n--;
    }
    if (!n)
        return NULL;
    out->node = chain[n - 1];
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
    const struct access *access;
    struct arena *arena;
};

static void catalog_add(struct catalog *to, struct str path, const struct mergeinfo *mi)
{
    if (to->n == to->cap) {
        to->cap = to->cap ? 2 * to->cap : 16;
        struct path_mergeinfo *list = arena_array(to->arena, to->cap, sizeof *list);
        if (to->n)
            memcpy(list, to->list, to->n * sizeof *list);
        to->list = list;
    }
    AUTO_BUF(text);
    mergeinfo_format(&text, mi);
    to->list[to->n++] =
        (struct path_mergeinfo){arena_str(to->arena, path), arena_str(to->arena, buf_view(&text))};
}

static bool has_some_below(const struct noderev *noderev)
{
    return noderev->kind == NODE_DIR && noderev->minfo_cnt > noderev->minfo_here;
}

/* A folder on the way down. The repository decides how deep it goes, so that the way is a list in
 * an arena, not a recursion on the thread's stack. */
struct open_dir {
    struct node node;
    const struct dirent_fs *list;
    size_t n, next;
    struct arena_mark mark; /* before the folder */
    struct open_dir *up;
};

/* What NODE says itself. */
static struct err *add_node(struct catalog *to, const struct tree *tree, const struct node *node,
                            struct arena *scratch)
{
    if (!node->noderev->minfo_here || !access_allowed(to->access, node->path, ACCESS_READ, false))
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
    AUTO_ARENA(scratch);
    struct open_dir bottom = {.node = *root}, *top = &bottom;
    TRY(node_entries(&bottom.list, &bottom.n, tree, root, scratch));
    while (top) {
        if (top->next == top->n) {
            struct open_dir *up = top->up;
            if (up)
                arena_rewind(scratch, top->mark);
            top = up;
            continue;
        }
        struct arena_mark mark = arena_mark(scratch);
        struct open_dir *child = ARENA_NEW(scratch, struct open_dir);
        *child = (struct open_dir){.mark = mark, .up = top};
        TRY(tree_child(&child->node, tree, &top->node, &top->list[top->next++], scratch));
        TRY(add_node(to, tree, &child->node, scratch));
        if (has_some_below(child->node.noderev)) {
            TRY(node_entries(&child->list, &child->n, tree, &child->node, scratch));
            top = child;
        } else {
            arena_rewind(scratch, mark);
        }
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
                          const struct access *access, struct arena *arena)
{
    struct catalog catalog = {.access = access, .arena = arena};
    struct map *asked = map_new_in(arena); /* clients keep a catalog by path: once is enough */
    for (size_t i = 0; i < path_count; i++) {
        if (map_put(asked, paths[i], asked))
            continue;
        if (access_allowed(access, paths[i], ACCESS_READ, false))
            TRY(add_path(&catalog, tree, paths[i], inherit, descendants));
    }
    *out = catalog.list;
    *n = catalog.n;
    return NULL;
}
