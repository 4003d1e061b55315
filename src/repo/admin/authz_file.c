/* SPDX-License-Identifier: Apache-2.0 */
/* authz_file.c - see authz_file.h.
 *
 * A file that was written less than two seconds before it was read may be written again without a
 * difference in its times. Until it is older than that it is read each time, and compiled anew
 * where its digest says so. */
#include "repo/admin/authz_file.h"

#include "base/cache.h"
#include "base/date.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/shared.h"
#include "repo/access/authz_int.h"
#include "repo/admin/registry.h"
#include "repo/tree/tree.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    FILE_MAX = 64 << 20, /* bytes of a file; those of large sites have a few MiB */
    SETTLED_AFTER_S = 2, /* coarser than the clock of any filesystem */
    STAMP_WORDS = 8,     /* device, number, size, two times; of a representation: its place */
};

/* What tells a version of a file from another. */
struct stamp {
    uint64_t words[STAMP_WORDS];
    uint8_t sha1[SHA1_SIZE]; /* of the text */
    bool settled;            /* equal words are enough */
};

/* A compiled file in the cache. */
struct cached {
    struct shared shared;
    char *rules, *groups;
    struct stamp stamps[2];
    struct authz *authz;
};

/* One of the files as it is now. */
struct source {
    const char *name; /* NULL: there is none */
    bool is_url;
    struct repo *repo; /* of a URL */
    struct tree tree;
    struct node node;
    struct stamp stamp;
    struct buf text; /* once it was read */
};

static struct err *not_a_file(const char *name)
{
    return err_make(E_ILLEGAL_TARGET, "'%s' is not a file", name);
}

/* ---- in a repository ---- */

/* The longest part of PATH that is a repository's folder, and what follows. */
static bool find_repository(struct str *folder, struct str *inside, struct str path,
                            struct arena *arena)
{
    for (*folder = path; folder->n > 1; *folder = path_dirname(*folder)) {
        if (repo_is_at(arena_cstr(arena, *folder))) {
            *inside = str_skip(path, folder->n);
            return inside->n > 0;
        }
    }
    return false;
}

/* Where nothing is found there is no file; a repository that cannot be read is another matter. */
static struct err *find_node(struct source *source, struct str inside, struct arena *arena)
{
    revnum youngest;
    bool found;
    TRY(fsfs_youngest(&youngest, source->repo->fs));
    TRY(tree_of_rev(&source->tree, source->repo->fs, youngest));
    TRY(tree_find(&source->node, &found, &source->tree, inside, arena));
    if (!found || source->node.noderev->kind != NODE_FILE)
        return not_a_file(source->name);
    const struct rep *rep = &source->node.noderev->text;
    source->stamp.words[0] = hash_bytes(str_of(source->repo->fs->uuid));
    source->stamp.words[1] = (uint64_t)rep->rev;
    source->stamp.words[2] = rep->item;
    source->stamp.words[3] = rep->size;
    memcpy(&source->stamp.words[4], rep->md5, MD5_SIZE);
    source->stamp.settled = true;
    return NULL;
}

static struct err *open_url(struct source *source, struct arena *arena)
{
    struct str url = str_of(source->name), path, folder, inside;
    if (!str_starts(url, S("file://")))
        return err_make(E_RA_ILLEGAL_URL, "Local URL '%s' does not contain 'file://' prefix",
                        source->name);
    url = str_skip(url, 7);
    if (str_starts(url, S("localhost/")))
        url = str_skip(url, 9);
    if (!path_uri_decode(&path, path_canonicalize(url, arena), arena) || !path_is_canonical(path) ||
        !find_repository(&folder, &inside, path, arena))
        return not_a_file(source->name);
    TRY(registry_acquire(&source->repo, arena_cstr(arena, folder)));
    return find_node(source, inside, arena);
}

static struct err *read_node(struct buf *text, const struct tree *tree, const struct node *node)
{
    struct reader *reader;
    TRY(node_text(&reader, tree, node));
    struct err *err = reader_all(text, reader, FILE_MAX);
    reader_close(reader);
    return err;
}

/* ---- on disk ---- */

static struct err *stat_file(struct source *source)
{
    struct stat st;
    if (stat(source->name, &st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return not_a_file(source->name);
        return err_errno(errno, "Can't check path '%s'", source->name);
    }
    if (!S_ISREG(st.st_mode))
        return not_a_file(source->name);
    uint64_t *words = source->stamp.words;
    words[0] = st.st_dev;
    words[1] = st.st_ino;
    words[2] = (uint64_t)st.st_size;
    words[3] = (uint64_t)st.st_mtim.tv_sec;
    words[4] = (uint64_t)st.st_mtim.tv_nsec;
    words[5] = (uint64_t)st.st_ctim.tv_sec;
    words[6] = (uint64_t)st.st_ctim.tv_nsec;
    int64_t now_s = date_now_us() / 1000000;
    source->stamp.settled =
        st.st_mtim.tv_sec + SETTLED_AFTER_S < now_s && st.st_ctim.tv_sec + SETTLED_AFTER_S < now_s;
    return NULL;
}

/* ---- either ---- */

static struct err *source_open(struct source *source, const char *name, struct arena *arena)
{
    *source = (struct source){.name = name, .is_url = name && strstr(name, "://")};
    if (!name)
        return NULL;
    return source->is_url ? open_url(source, arena) : stat_file(source);
}

static struct err *source_read(struct source *source)
{
    if (!source->name)
        return NULL;
    buf_clear(&source->text);
    TRY(source->is_url ? read_node(&source->text, &source->tree, &source->node)
                       : file_read_all(&source->text, source->name, FILE_MAX));
    sha1_of(source->stamp.sha1, buf_view(&source->text));
    return NULL;
}

static void source_close(struct source *source)
{
    registry_release(source->repo);
    buf_free(&source->text);
}

/* ---- the cache ---- */

static void cached_destroy(struct shared *shared)
{
    struct cached *cached = (void *)shared;
    shared_unref(cached->authz);
    free(cached->rules);
    free(cached->groups);
    free(cached);
}

static struct cache_key key_of(const struct authz_place *place)
{
    return (struct cache_key){cache_space(AUTHZ_SPACE), CACHE_AUTHZ_FILE,
                              hash_bytes(str_of(place->rules)), hash_bytes(str_of(place->groups))};
}

static void keep_compiled(const struct authz_place *place, const struct source *sources,
                          struct authz *authz)
{
    struct cached *cached = mem_zalloc(sizeof *cached);
    cached->rules = mem_strdup(place->rules);
    cached->groups = place->groups ? mem_strdup(place->groups) : NULL;
    cached->authz = shared_ref(authz);
    for (int i = 0; i < 2; i++)
        cached->stamps[i] = sources[i].stamp;
    shared_init(&cached->shared, sizeof *cached + authz->shared.bytes, cached_destroy);
    cache_put(key_of(place), &cached->shared);
    shared_unref(cached);
}

static bool is_for(const struct cached *cached, const struct authz_place *place)
{
    return strcmp(cached->rules, place->rules) == 0 &&
           str_eq(str_of(cached->groups), str_of(place->groups));
}

/* Are the files what they were when CACHED was made? Reads them only where that must be. */
static struct err *is_current(bool *same, const struct cached *cached, struct source *sources)
{
    *same = true;
    for (int i = 0; *same && i < 2; i++) {
        const struct stamp *then = &cached->stamps[i], *now = &sources[i].stamp;
        bool equal = memcmp(then->words, now->words, sizeof now->words) == 0;
        if (!sources[i].name || (equal && then->settled))
            continue;
        TRY(source_read(&sources[i]));
        *same = memcmp(then->sha1, now->sha1, SHA1_SIZE) == 0;
    }
    return NULL;
}

static struct err *compile(struct authz **out, const struct authz_place *place,
                           const struct source *sources)
{
    struct str groups = buf_view(&sources[1].text);
    struct err *err =
        authz_parse(out, buf_view(&sources[0].text), sources[1].name ? &groups : NULL);
    return err_wrap(err, 0, "Error while parsing %s file: '%s':", place->kind, place->rules);
}

static struct err *load_sources(struct authz **out, const struct authz_place *place,
                                struct source *sources, struct arena *arena)
{
    const struct cached *cached = cache_get(key_of(place), arena);
    bool same = false;
    if (cached && is_for(cached, place))
        TRY(is_current(&same, cached, sources));
    if (same) {
        *out = cached->authz;
        bool settles = false;
        for (int i = 0; i < 2; i++)
            settles |= sources[i].name && sources[i].stamp.settled && !cached->stamps[i].settled;
        if (!settles)
            return NULL;
        shared_ref(*out); /* from now on the times are enough */
    } else {
        TRY(source_read(&sources[0]));
        TRY(source_read(&sources[1]));
        TRY(compile(out, place, sources));
    }
    keep_compiled(place, sources, *out);
    arena_keep(arena, &(*out)->shared);
    return NULL;
}

struct err *authz_load(struct authz **out, const struct authz_place *place, struct arena *arena)
{
    struct source sources[2] = {0};
    struct err *err = source_open(&sources[0], place->rules, arena);
    if (!err)
        err = source_open(&sources[1], place->groups, arena);
    if (!err)
        err = load_sources(out, place, sources, arena);
    source_close(&sources[0]);
    source_close(&sources[1]);
    return err;
}

static struct err *read_from_txn(struct buf *text, const struct tree *tree, const char *name,
                                 struct arena *arena)
{
    struct node node;
    bool found;
    struct str path = path_canonicalize(path_join(S("/"), str_of(name), arena), arena);
    TRY(tree_find(&node, &found, tree, path, arena));
    if (!found || node.noderev->kind != NODE_FILE)
        return err_make(E_FS_NOT_FILE, "Path '%.*s' is not a file", STR(path));
    return read_node(text, tree, &node);
}

static struct err *load_from_txn(struct authz **out, struct txn *txn,
                                 const struct authz_place *place, struct arena *arena)
{
    AUTO_BUF(rules);
    AUTO_BUF(groups);
    struct tree tree;
    tree_of_txn(&tree, txn);
    TRY(read_from_txn(&rules, &tree, place->rules, arena));
    if (place->groups)
        TRY(read_from_txn(&groups, &tree, place->groups, arena));
    struct str global = buf_view(&groups);
    struct err *err = authz_parse(out, buf_view(&rules), place->groups ? &global : NULL);
    TRY(err_wrap(err, 0, "Error parsing authz file: '%s':", place->rules));
    arena_keep(arena, &(*out)->shared);
    return NULL;
}

struct err *authz_load_txn(struct authz **out, const char *folder, struct str txn_name,
                           const struct authz_place *place, struct arena *arena)
{
    struct repo *repo;
    struct txn *txn;
    TRY(registry_acquire(&repo, folder));
    struct err *err = txn_load(&txn, repo->fs, txn_name);
    if (!err) {
        err = load_from_txn(out, txn, place, arena);
        txn_abort(txn); /* in memory: its files stay */
    }
    registry_release(repo);
    return err;
}

const char *authz_file_name(struct str name, struct str folder, struct str repository,
                            struct arena *arena)
{
    if (str_starts(name, S("^/")))
        return arena_printf(arena, "file://%.*s%.*s", STR(path_uri_encode(repository, arena)),
                            STR(str_skip(name, 1)))
            .p;
    if ((name.n && name.p[0] == '/') || strstr(arena_cstr(arena, name), "://"))
        return arena_cstr(arena, name);
    return arena_cstr(arena, path_join(folder, name, arena));
}
