/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/changes.h"
#include "base/num.h"
#include "fsfs/index_int.h"
#include <stdlib.h>

/* ---- one entry ---- */

static const struct str action_words[] = {
    [CHANGE_ADD] = {"add", 3},         [CHANGE_DELETE] = {"delete", 6},
    [CHANGE_REPLACE] = {"replace", 7}, [CHANGE_MODIFY] = {"modify", 6},
    [CHANGE_RESET] = {"reset", 5},
};

/* "add", "modify-file" */
static bool action_parse(struct change *out, struct str word)
{
    size_t dash = str_find(word, '-');
    struct str action = str_make(word.p, dash == SIZE_MAX ? word.n : dash);
    out->kind = NODE_UNKNOWN;
    if (dash != SIZE_MAX) {
        out->kind = node_kind_parse(str_skip(word, dash + 1));
        if (out->kind != NODE_FILE && out->kind != NODE_DIR)
            return false;
    }
    for (size_t i = 0; i < sizeof action_words / sizeof *action_words; i++) {
        if (str_eq(action, action_words[i])) {
            out->action = (enum change_action)i;
            return true;
        }
    }
    return false;
}

static bool flag_parse(bool *out, struct str word)
{
    *out = str_eq(word, S("true"));
    return *out || str_eq(word, S("false"));
}

/* The mergeinfo flag stands before the path, which begins with '/', or not at all. */
static bool mergeinfo_take(enum tristate *out, struct str *line)
{
    *out = TRI_UNKNOWN;
    if (line->n && line->p[0] == '/')
        return true;
    bool flag;
    if (!flag_parse(&flag, str_word(line)))
        return false;
    *out = flag ? TRI_TRUE : TRI_FALSE;
    return true;
}

/* As Subversion reads it: no empty component and no ".", which would make two paths of one. */
static bool path_is_sound(struct str path)
{
    if (path.n == 0 || path.p[0] != '/')
        return false;
    for (size_t at = 1; path.n > 1 && at <= path.n;) {
        struct str name = str_skip(path, at);
        const size_t slash = str_find(name, '/');
        if (slash != SIZE_MAX)
            name.n = slash;
        if (name.n == 0 || str_eq(name, S(".")))
            return false;
        at += name.n + 1;
    }
    return true;
}

static bool entry_parse(struct change *out, struct str line, struct err **cause)
{
    struct str id = str_word(&line);
    if (!action_parse(out, str_word(&line)))
        return false;
    out->id = (struct noderev_id){.rev = REV_NONE, .txn.base = REV_NONE};
    /* A transaction's "reset" has its own name in the place of an id. */
    if (out->action != CHANGE_RESET || !str_eq(id, S("reset"))) {
        *cause = noderev_id_parse(&out->id, id);
        if (*cause)
            return false;
    }
    if (!flag_parse(&out->text_changed, str_word(&line)) ||
        !flag_parse(&out->props_changed, str_word(&line)) ||
        !mergeinfo_take(&out->mergeinfo_changed, &line))
        return false;
    out->path = line;
    return path_is_sound(line);
}

static bool copyfrom_parse(struct change *out, struct str line)
{
    out->copyfrom_rev = REV_NONE;
    out->copyfrom_path = (struct str){NULL, 0};
    if (line.n == 0)
        return true;
    uint64_t rev;
    if (!num_u64(&rev, str_word(&line)) || rev > (uint64_t)REV_MAX || !path_is_sound(line))
        return false;
    out->copyfrom_rev = (revnum)rev;
    out->copyfrom_path = line;
    return true;
}

struct err *change_parse(struct change *out, struct str text, size_t *pos)
{
    struct str line, copyfrom;
    if (!str_line(&line, text, pos) || !str_line(&copyfrom, text, pos))
        return err_make(E_FS_CORRUPT, "changed-path list ends inside an entry");
    struct err *cause = NULL;
    if (!entry_parse(out, line, &cause))
        return cause
                   ? err_wrap(cause, E_FS_CORRUPT, "malformed changed-path line '%.*s'", STR(line))
                   : err_make(E_FS_CORRUPT, "malformed changed-path line '%.*s'", STR(line));
    if (!copyfrom_parse(out, copyfrom))
        return err_make(E_FS_CORRUPT, "malformed copy source '%.*s' of changed path '%.*s'",
                        STR(copyfrom), STR(out->path));
    return NULL;
}

void change_format(struct buf *out, const struct change *change, int format)
{
    if (change->action == CHANGE_RESET)
        buf_cstr(out, "reset");
    else
        noderev_id_format(out, &change->id);
    buf_char(out, ' ');
    buf_str(out, action_words[change->action]);
    if (format >= 4 && (change->kind == NODE_FILE || change->kind == NODE_DIR)) {
        buf_char(out, '-');
        buf_str(out, node_kind_word(change->kind));
    }
    buf_cstr(out, change->text_changed ? " true" : " false");
    buf_cstr(out, change->props_changed ? " true" : " false");
    if (format >= 7)
        buf_cstr(out, change->mergeinfo_changed == TRI_TRUE ? " true" : " false");
    buf_char(out, ' ');
    buf_str(out, change->path);
    buf_char(out, '\n');
    if (change->copyfrom_path.n) {
        buf_u64(out, (uint64_t)change->copyfrom_rev);
        buf_char(out, ' ');
        buf_str(out, change->copyfrom_path);
    }
    buf_char(out, '\n');
}

/* ---- whole lists ---- */

static struct str place(char **to, struct str s)
{
    struct str placed = {*to, s.n};
    if (s.n)
        memcpy(*to, s.p, s.n);
    *to += s.n;
    return placed;
}

/* One block:  [struct changes][struct change x n][paths] */
static struct changes *changes_new(const struct change *list, size_t n)
{
    size_t bytes = sizeof(struct changes) + n * sizeof *list;
    for (size_t i = 0; i < n; i++)
        bytes += list[i].path.n + list[i].copyfrom_path.n;
    struct changes *made = mem_alloc(bytes);
    shared_init(&made->shared, bytes, shared_free_plain);
    made->n = 0;
    made->list = (struct change *)(made + 1);
    for (size_t i = 0; i < n; i++)
        if (list[i].action != CHANGE_RESET)
            made->list[made->n++] = list[i];
    made->undone = n - made->n;
    for (size_t i = 0, next = made->n; next < n; i++)
        if (list[i].action == CHANGE_RESET)
            made->list[next++] = list[i];
    char *to = (char *)(made->list + n);
    for (size_t i = 0; i < n; i++) {
        made->list[i].path = place(&to, made->list[i].path);
        made->list[i].copyfrom_path = place(&to, made->list[i].copyfrom_path);
    }
    return made;
}

struct changes *changes_place(void *to, const struct changes *from)
{
    struct changes *made = memcpy(to, from, from->shared.bytes);
    made->list = shared_place(to, from, from->list);
    for (size_t i = 0; i < made->n + made->undone; i++) {
        struct change *change = &made->list[i];
        change->path.p = shared_place(to, from, change->path.p);
        change->copyfrom_path.p = shared_place(to, from, change->copyfrom_path.p);
    }
    return made;
}

struct err *changes_parse(struct changes **out, size_t *used, struct str text)
{
    enum { INLINE = 16 };
    struct change few[INLINE], *list = few;
    size_t n = 0, cap = INLINE, pos = 0;
    struct err *err = NULL;
    while (pos < text.n && text.p[pos] != '\n') {
        if (n == cap) {
            struct change *larger = mem_realloc(list == few ? NULL : list, 2 * cap * sizeof *list);
            if (list == few)
                memcpy(larger, few, sizeof few);
            list = larger;
            cap *= 2;
        }
        TRY_GOTO(err, change_parse(&list[n], text, &pos), done);
        n++;
    }
    *used = pos + (pos < text.n); /* with the empty line */
    *out = changes_new(list, n);
done:
    if (list != few)
        free(list);
    return err;
}

/* ---- lists of revisions ---- */

/* True where the empty line that ends the list is in TEXT. */
static bool list_is_whole(struct str text)
{
    size_t pos = 0;
    struct str line;
    while (str_line(&line, text, &pos)) {
        if (line.n == 0)
            return true;
        if (!str_line(&line, text, &pos))
            break;
    }
    return false;
}

enum {
    LIST_FIRST_READ = 16 * 1024,
};

/* The list at PLACE does not end in the block that was seen: read it in growing pieces. */
static struct err *read_long(struct changes **out, struct fsfs *fs, const struct item_place *place)
{
    AUTO_BUF(text);
    uint64_t left = place->limit - place->offset;
    uint64_t want = 4 * LIST_FIRST_READ;
    for (;;) {
        if (want > left)
            want = left;
        if (want > CHANGES_MAX)
            return err_make(E_FS_CORRUPT, "changed-path list does not end within %d bytes",
                            CHANGES_MAX);
        size_t have = text.n;
        TRY(item_read(buf_grow(&text, want - have), want - have, fs, place, have));
        if (list_is_whole(buf_view(&text)))
            break;
        if (want == left)
            return err_make(E_FS_CORRUPT, "changed-path list does not end");
        want *= 4;
    }
    size_t used;
    return changes_parse(out, &used, buf_view(&text));
}

static struct err *read_list(struct changes **out, struct fsfs *fs, revnum rev)
{
    AUTO_ARENA(scratch);
    struct item_place place;
    TRY(item_find_changes(&place, fs, rev, scratch));
    struct str text;
    TRY(item_view(&text, fs, &place, 1, scratch));
    if (!list_is_whole(text))
        return read_long(out, fs, &place);
    size_t used;
    return changes_parse(out, &used, text);
}

struct err *changes_read(struct changes **out, struct fsfs *fs, revnum rev)
{
    AUTO_ARENA(scratch);
    struct body *body;
    TRY(fsfs_body(&body, fs, rev, scratch));
    if (body->packed || body->size > ITEM_BLOCK)
        return read_list(out, fs, rev);
    char *bytes = arena_alloc(scratch, body->size);
    struct str text;
    size_t used;
    TRY(body_read(body, &(struct span){0, body->size, bytes}, 1));
    TRY(item_changes_within(&text, str_make(bytes, body->size), fs->logical, rev, scratch));
    if (!list_is_whole(text))
        return err_make(E_FS_CORRUPT, "changed-path list does not end");
    return changes_parse(out, &used, text);
}

struct err *changes_get(const struct changes **out, struct fsfs *fs, revnum rev,
                        struct arena *arena)
{
    struct cache_key key = fsfs_cache_key(fs, CACHE_CHANGES, (uint64_t)rev, 0);
    struct changes *changes = cache_get(key, arena);
    if (!changes) {
        struct err *err = read_list(&changes, fs, rev);
        if (err && err->code == E_FS_CORRUPT)
            return err_blame(err, E_FS_CORRUPT, "Corrupt changed paths of revision %lld",
                             (long long)rev);
        TRY(err);
        cache_put(key, &changes->shared);
        arena_keep(arena, &changes->shared);
    }
    *out = changes;
    return NULL;
}

/* The end of a physically addressed revision file: the list and the trailer that says where it
 * begins. */
static void prefetch_tail(struct fsfs *fs, revnum rev, struct arena *arena)
{
    struct body *body;
    struct err *err = fsfs_body(&body, fs, rev, arena);
    if (err || body->packed) { /* the reader will tell; packs are read on by the kernel */
        err_free(err);
        return;
    }
    size_t n = body->size < LIST_FIRST_READ ? (size_t)body->size : LIST_FIRST_READ;
    body_prefetch(body, &(struct span){.offset = body->size - n, .n = n}, 1);
}

/* Read the indexes of the packs that ITEMS, which ascend, are in: what is asked for ahead must be
 * found first. False where there are none. */
static bool find_packed(struct fsfs *fs, const struct item_name *items, size_t n)
{
    AUTO_ARENA(scratch);
    revnum next = 0; /* the first one behind the last pack */
    for (size_t i = 0; i < n; i++) {
        struct item_place place;
        if (items[i].rev < next)
            continue;
        struct err *err = fsfs_body(&place.body, fs, items[i].rev, scratch);
        if (err || !place.body->packed) {
            err_free(err);
            break;
        }
        next = place.body->first_rev + fs->shard_size;
        err_free(item_find_changes(&place, fs, items[i].rev, scratch));
    }
    return next > 0;
}

void changes_prefetch(struct fsfs *fs, revnum first, int count)
{
    AUTO_ARENA(scratch);
    struct item_name *items = arena_array(scratch, (size_t)count, sizeof *items);
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        revnum rev = first + i;
        struct arena_mark mark = arena_mark(scratch);
        bool cached =
            rev < 0 || cache_peek(fsfs_cache_key(fs, CACHE_CHANGES, (uint64_t)rev, 0), scratch);
        if (!cached && fs->logical)
            items[n++] = (struct item_name){rev, ITEM_INDEX_CHANGES, 0};
        else if (!cached)
            prefetch_tail(fs, rev, scratch);
        arena_rewind(scratch, mark);
    }
    if (n == 0)
        return;
    items_prefetch(fs, items, n);
    if (find_packed(fs, items, n))
        items_prefetch(fs, items, n);
}
