/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/format/changes.h"
#include "base/num.h"
#include "base/vec.h"
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
    struct change few[INLINE];
    VEC(struct change) changes = {few, 0, INLINE};
    size_t pos = 0;
    struct err *err = NULL;
    while (pos < text.n && text.p[pos] != '\n') {
        TRY_GOTO(err, change_parse(VEC_ADD_FROM(&changes, few), text, &pos), done);
    }
    *used = pos + (pos < text.n); /* with the empty line */
    *out = changes_new(changes.list, changes.n);
done:
    VEC_FREE_FROM(&changes, few);
    return err;
}
