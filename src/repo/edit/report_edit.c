/* SPDX-License-Identifier: Apache-2.0 */
/* report_edit.c - the cursor over the differences between what was reported and the target tree.
 *
 * The comparison walks both trees at once. A folder at work is a frame on a stack; a step handles
 * one entry of the topmost frame and queues its events; when the queue is empty the next step is
 * taken. */
#include "base/path.h"
#include "fsfs/read/dir.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/prefetch.h"
#include "fsfs/read/revprops.h"
#include "fsfs/txn/locks.h"
#include "repo/edit/edit_queue.h"
#include "repo/edit/report_int.h"
#include "repo/history/history.h"
#include "repo/history/history_locations.h"
#include "repo/tree/depth.h"
#include "repo/tree/walk_order.h"
#include <stdlib.h>

/* A node in a tree of the comparison, as its parent's entry names it. */
struct entry {
    bool there;
    enum node_kind kind;
    struct noderev_id id;
};

/* Where a frame's path is in the text of all frames' paths. A path that leads on from that of the
 * frame below begins where that does, so that a deep tree takes one path, not one for each level.
 * What is switched begins anew behind it. */
struct stretch {
    bool there;
    size_t start, n;
};

/* One place on both sides. */
struct pair {
    struct str edit_path;      /* relative to the anchor */
    revnum s_rev;              /* of the source */
    struct str s_path, t_path; /* absolute; s_path.p NULL: no source */
    struct entry s, t;
    const struct report_place *place; /* what was reported of it or below it; NULL: nothing */
    enum depth wc_depth, requested;
};

enum stage { STAGE_REPORTED, STAGE_DELETED, STAGE_TARGET, STAGE_CLOSE };

/* A folder being compared. */
struct frame {
    struct frame *up;
    struct arena_mark mark; /* of the stack arena, before this frame */
    uint64_t number;        /* as the receiver knows it */
    struct pair at;         /* without the paths: those are */
    struct stretch edit_path, s_path, t_path;
    const struct dir *s_dir, *t_dir;  /* NULL: no entries */
    bool *s_done, *t_done;            /* entries that are dealt with */
    const struct dirent_fs **s_order; /* of deletions; NULL until there is one */
    const struct str *names;          /* of reported places, sorted */
    size_t name_count, next;          /* next: in the list of the stage */
    enum stage stage;
};

struct report_edit {
    struct edit_source source;
    struct report *report;
    const struct report_params *params;
    struct fsfs *fs;
    struct arena *stack, *step; /* of the frames, of a step's events */
    struct arena_mark step_empty;
    struct buf edit_paths, s_paths, t_paths; /* of the frames */
    struct revprop_view *view;
    struct frame *top;
    struct edit_queue queue;
    uint64_t numbers; /* given out so far */
    bool started;
    bool closing; /* the root is closed; close-edit comes last */
};

static void push(struct report_edit *r, struct edit_event event)
{
    edit_queue_push(&r->queue, event);
}

static void push_prop(struct report_edit *r, bool is_dir, uint64_t node, struct str name,
                      struct str value)
{
    struct edit_event event = edit_event_make(is_dir ? EDIT_DIR_PROP : EDIT_FILE_PROP);
    event.node = node;
    event.name = name;
    event.value = value;
    push(r, event);
}

/* ---- the frames' paths ---- */

/* A view, until another frame is entered; p NULL where there is none. */
static struct str path_view(const struct buf *paths, struct stretch path)
{
    if (!path.there || path.n == 0)
        return path.there ? S("") : (struct str){0};
    return str_make(paths->p + path.start, path.n);
}

/* PATH is that of a frame which comes upon the one with the path UP. */
static struct stretch path_enter(struct buf *paths, struct stretch up, struct str path)
{
    struct str rest;
    if (!path.p)
        return (struct stretch){0};
    if (!up.there || !path_skip_ancestor(&rest, path_view(paths, up), path))
        up = (struct stretch){.start = paths->n};
    buf_add(paths, path.p + up.n, path.n - up.n);
    return (struct stretch){true, up.start, path.n};
}

static void path_leave(struct buf *paths, struct stretch gone, struct stretch up)
{
    if (gone.there)
        paths->n = up.there ? up.start + up.n : gone.start;
}

static const struct frame no_frame;

static void paths_enter(struct report_edit *r, struct frame *f, const struct pair *at)
{
    const struct frame *up = f->up ? f->up : &no_frame;
    f->edit_path = path_enter(&r->edit_paths, up->edit_path, at->edit_path);
    f->t_path = path_enter(&r->t_paths, up->t_path, at->t_path);
    /* Also where the client starts empty: what it reports below is looked up there. */
    f->s_path = path_enter(&r->s_paths, up->s_path, at->s_path);
    f->at.edit_path = f->at.t_path = f->at.s_path = (struct str){0};
}

static void paths_leave(struct report_edit *r, const struct frame *f)
{
    const struct frame *up = f->up ? f->up : &no_frame;
    path_leave(&r->edit_paths, f->edit_path, up->edit_path);
    path_leave(&r->t_paths, f->t_path, up->t_path);
    path_leave(&r->s_paths, f->s_path, up->s_path);
}

/* ---- depths ---- */

static enum depth below(enum depth depth)
{
    return depth == DEPTH_IMMEDIATES ? DEPTH_EMPTY : depth;
}

/* Is an entry of KIND new to the working copy because it becomes deeper than it was? */
static bool is_deepened(enum depth wc_depth, enum depth requested, enum node_kind kind)
{
    if (requested == DEPTH_UNKNOWN || requested <= wc_depth || wc_depth == DEPTH_IMMEDIATES)
        return false;
    if (kind == NODE_FILE && wc_depth == DEPTH_FILES)
        return false;
    return !(kind == NODE_DIR && wc_depth == DEPTH_EMPTY && requested == DEPTH_FILES);
}

/* ---- looking at trees ---- */

static struct entry entry_of(const struct dirent_fs *found)
{
    return found ? (struct entry){true, found->kind, found->id} : (struct entry){0};
}

static struct err *lookup(struct entry *out, struct report_edit *r, revnum rev, struct str path)
{
    struct tree tree;
    struct node node;
    bool found;
    *out = (struct entry){0};
    TRY(tree_of_rev(&tree, r->fs, rev));
    TRY(tree_find(&node, &found, &tree, path, r->step));
    if (found)
        *out = (struct entry){true, node.noderev->kind, node.noderev->id};
    return NULL;
}

static struct err *noderev_of(const struct noderev **out, struct report_edit *r,
                              const struct entry *entry)
{
    *out = NULL;
    return entry->there ? noderev_get(out, r->fs, &entry->id, r->step) : NULL;
}

/* ---- properties ---- */

static struct err *push_entry_props(struct report_edit *r, bool is_dir, uint64_t node,
                                    const struct noderev *noderev, bool has_source)
{
    revnum rev = noderev->id.rev;
    const struct props *revprops;
    struct str nothing = {0};
    TRY(revprops_get(&revprops, r->fs, rev, r->view, r->step));
    const struct str *date = props_get(revprops, S("svn:date")),
                     *author = props_get(revprops, S("svn:author"));
    push_prop(r, is_dir, node, S("svn:entry:committed-rev"),
              arena_printf(r->step, "%lld", (long long)rev));
    if (date || has_source)
        push_prop(r, is_dir, node, S("svn:entry:committed-date"), date ? *date : nothing);
    if (author || has_source)
        push_prop(r, is_dir, node, S("svn:entry:last-author"), author ? *author : nothing);
    push_prop(r, is_dir, node, S("svn:entry:uuid"), str_of(r->fs->uuid));
    return NULL;
}

/* A token that the working copy holds and the repository does not know any more. */
static struct err *push_defunct_lock(struct report_edit *r, uint64_t node, const struct pair *at)
{
    struct lock lock;
    bool found;
    if (!at->place || !at->place->lock_token.p)
        return NULL;
    TRY(lock_get(&lock, &found, r->fs, at->t_path, r->step));
    if (!found || !str_eq(lock.token, at->place->lock_token))
        push_prop(r, false, node, S("svn:entry:lock-token"), (struct str){0});
    return NULL;
}

static struct err *push_props(struct report_edit *r, bool is_dir, uint64_t node,
                              const struct pair *at, const struct noderev *s,
                              const struct noderev *t)
{
    const struct props *s_props = NULL, *t_props;
    TRY(push_entry_props(r, is_dir, node, t, s));
    if (!is_dir)
        TRY(push_defunct_lock(r, node, at));
    if (s && noderev_shares_props(s, t))
        return NULL;
    if (s)
        TRY(noderev_props(&s_props, r->fs, s, r->step));
    TRY(noderev_props(&t_props, r->fs, t, r->step));
    size_t n;
    struct prop *changes = props_diff(&n, s_props, t_props, r->step);
    for (size_t i = 0; i < n; i++)
        push_prop(r, is_dir, node, changes[i].name, changes[i].value);
    return NULL;
}

/* ---- files ---- */

static struct err *push_text(struct report_edit *r, uint64_t node, const struct noderev *s,
                             const struct noderev *t)
{
    const struct report_params *params = r->params;
    struct edit_event event = edit_event_make(EDIT_TEXT_BEGIN);
    event.node = node;
    if (s)
        event.md5 = noderev_md5_hex(s, r->step);
    push(r, event);
    if (params->text_deltas) {
        struct text_delta *delta;
        TRY(text_delta_open(&delta, r->fs, s && s->has_text ? &s->text : NULL,
                            t->has_text ? &t->text : NULL, params->svndiff_version,
                            params->compression_level));
        edit_queue_push_text(&r->queue, node, delta);
    } else {
        event = edit_event_make(EDIT_TEXT_CHUNK);
        event.node = node;
        event.text = edit_empty_delta(params->compression_level ? params->svndiff_version : 0);
        push(r, event);
    }
    event = edit_event_make(EDIT_TEXT_END);
    event.node = node;
    push(r, event);
    return NULL;
}

static struct err *push_file(struct report_edit *r, const struct pair *at, const struct noderev *s,
                             uint64_t node)
{
    const struct noderev *t;
    TRY(noderev_of(&t, r, &at->t));
    TRY(push_props(r, false, node, at, s, t));
    if (!s || !noderev_same_text(s, t))
        TRY(push_text(r, node, s, t));
    struct edit_event event = edit_event_make(EDIT_CLOSE_FILE);
    event.node = node;
    event.md5 = noderev_md5_hex(t, r->step);
    push(r, event);
    return NULL;
}

/* Where a new file was copied from, if the client wants to know and the copy is of the file itself.
 */
static struct err *find_copyfrom(struct edit_event *event, struct report_edit *r,
                                 const struct pair *at, const struct noderev **source)
{
    bool found;
    revnum copy_rev, from_rev;
    struct str copy_path, from_path;
    *source = NULL;
    if (!r->params->send_copyfrom)
        return NULL;
    TRY(node_nearest_copy(&found, &copy_rev, &copy_path, &from_rev, &from_path, r->fs, at->t_path,
                          r->params->rev, r->step));
    if (!found || !str_eq(copy_path, at->t_path) ||
        !principal_may(r->params->who, from_path, ACCESS_READ, false))
        return NULL;
    struct entry entry;
    TRY(lookup(&entry, r, from_rev, from_path));
    TRY(noderev_of(source, r, &entry));
    event->copy_path = from_path;
    event->copy_rev = from_rev;
    return NULL;
}

/* ---- folders ---- */

static struct err *read_dir(const struct dir **out, struct report_edit *r,
                            const struct noderev *noderev)
{
    *out = NULL;
    return noderev && noderev->kind == NODE_DIR ? dir_get(out, r->fs, noderev, r->stack) : NULL;
}

static const struct str *sorted_names(size_t *n, const struct report_place *place,
                                      struct arena *arena)
{
    *n = 0;
    return place && place->children ? map_sorted(place->children, n, arena) : NULL;
}

/* Make a folder the topmost frame. S is its source as far as it counts: NULL where the client
 * starts empty. */
static struct err *enter(struct report_edit *r, const struct pair *at, uint64_t number,
                         const struct noderev *s)
{
    const struct noderev *t;
    struct arena_mark mark = arena_mark(r->stack);
    struct frame *f = ARENA_NEW(r->stack, struct frame);
    *f = (struct frame){.up = r->top, .mark = mark, .number = number, .at = *at};
    paths_enter(r, f, at);
    r->top = f;
    TRY(noderev_of(&t, r, &at->t));
    TRY(push_props(r, true, number, at, s, t));
    if (at->requested == DEPTH_EMPTY || at->requested == DEPTH_EXCLUDE) {
        f->stage = STAGE_CLOSE;
        return NULL;
    }
    TRY(read_dir(&f->s_dir, r, s));
    TRY(read_dir(&f->t_dir, r, t));
    if (!s && f->t_dir && at->requested != DEPTH_FILES) /* all of it will be read */
        dir_prefetch(r->fs, f->t_dir);
    f->s_done = arena_zalloc(r->stack, f->s_dir ? f->s_dir->n + 1 : 1);
    f->t_done = arena_zalloc(r->stack, f->t_dir ? f->t_dir->n + 1 : 1);
    f->names = sorted_names(&f->name_count, at->place, r->stack);
    return NULL;
}

static void leave(struct report_edit *r)
{
    struct frame *f = r->top;
    struct edit_event event = edit_event_make(EDIT_CLOSE_DIR);
    event.node = f->number;
    push(r, event);
    paths_leave(r, f);
    r->top = f->up;
    if (!r->top)
        r->closing = true;
    arena_rewind(r->stack, f->mark);
}

/* ---- one entry ---- */

/* Delete EDIT_PATH, telling in which revision after S_REV what was at T_PATH went. Where it is
 * REPLACED although it never went (the client had something else there, as after a switch), that is
 * said to have been just before the target's revision. */
static struct err *push_delete(struct report_edit *r, uint64_t parent, struct str edit_path,
                               revnum s_rev, struct str t_path, bool replaced)
{
    struct edit_event event = edit_event_make(EDIT_DELETE);
    event.parent = parent;
    event.path = edit_path;
    TRY(history_deleted_rev(&event.rev, r->fs, t_path, s_rev, r->params->rev, r->step));
    if (event.rev == REV_NONE && replaced)
        event.rev = r->params->rev - 1;
    push(r, event);
    return NULL;
}

static bool has_reports_below(const struct report_place *place)
{
    return place && place->children;
}

/* Are both sides the same node? A file that was copied and not changed counts as the one that it
 * was copied from, whose changed revision the client keeps. */
static struct err *is_same_node(bool *out, struct report_edit *r, const struct pair *at)
{
    const struct noderev *s, *t;
    *out = noderev_id_eq(&at->s.id, &at->t.id);
    if (*out || at->t.kind != NODE_FILE || r->params->ignore_ancestry ||
        !noderev_id_related(&at->s.id, &at->t.id))
        return NULL;
    TRY(noderev_of(&s, r, &at->s));
    TRY(noderev_of(&t, r, &at->t));
    *out = noderev_shares_text(s, t) && noderev_shares_props(s, t);
    return NULL;
}

/* Nothing to tell of a pair whose both sides are the same node, unless the client said something
 * that must be answered. */
static struct err *is_settled(bool *out, struct report_edit *r, const struct pair *at)
{
    const struct report_place *place = at->place && at->place->reported ? at->place : NULL;
    bool same;
    *out = false;
    TRY(is_same_node(&same, r, at));
    if (!same || has_reports_below(at->place))
        return NULL;
    if (at->requested > at->wc_depth && at->t.kind != NODE_FILE)
        return NULL;
    if (place && place->start_empty)
        return NULL;
    *out = !place || !place->lock_token.p;
    if (!*out) { /* the client holds a lock: settled if it is still there */
        struct lock lock;
        bool found;
        TRY(lock_get(&lock, &found, r->fs, at->t_path, r->step));
        *out = found && str_eq(lock.token, place->lock_token);
    }
    return NULL;
}

/* What was reported of the place itself takes the place of what its parent's tree says. */
static struct err *apply_report(struct report_edit *r, struct pair *at)
{
    const struct report_place *place = at->place;
    if (!place || !place->reported)
        return NULL;
    if (place->link_path.p && !r->params->is_switch_or_diff) {
        at->t_path = place->link_path;
        TRY(lookup(&at->t, r, r->params->rev, at->t_path));
    }
    if (place->rev == REV_NONE) {
        at->s_path = (struct str){0};
        at->s = (struct entry){0};
    } else if (at->s_path.p) {
        if (place->link_path.p)
            at->s_path = place->link_path;
        at->s_rev = place->rev;
        TRY(lookup(&at->s, r, at->s_rev, at->s_path));
    }
    return NULL;
}

static struct err *update_file(struct report_edit *r, const struct pair *at, uint64_t parent,
                               const struct noderev *s)
{
    struct edit_event event = edit_event_make(s ? EDIT_OPEN_FILE : EDIT_ADD_FILE);
    const struct noderev *base = s;
    event.node = r->numbers++;
    event.parent = parent;
    event.path = at->edit_path;
    if (s)
        event.rev = at->s_rev;
    else
        TRY(find_copyfrom(&event, r, at, &base));
    push(r, event);
    return push_file(r, at, base, event.node);
}

static struct err *update_dir(struct report_edit *r, const struct pair *at, uint64_t parent,
                              const struct noderev *s)
{
    struct edit_event event = edit_event_make(s ? EDIT_OPEN_DIR : EDIT_ADD_DIR);
    bool start_empty = at->place && at->place->reported && at->place->start_empty;
    event.node = r->numbers++;
    event.parent = parent;
    event.path = at->edit_path;
    if (s)
        event.rev = at->s_rev;
    push(r, event);
    return enter(r, at, event.node, start_empty ? NULL : s);
}

static struct err *update_entry(struct report_edit *r, struct pair *at, uint64_t parent)
{
    TRY(apply_report(r, at));
    if (at->s_path.p && !at->s.there)
        return err_make(E_FS_NOT_FOUND, "Working copy path '%.*s' does not exist in repository",
                        STR(at->edit_path));
    bool related = false;
    if (at->s.there && at->t.there && at->s.kind == at->t.kind) {
        bool settled;
        TRY(is_settled(&settled, r, at));
        if (settled)
            return NULL;
        related = r->params->ignore_ancestry || noderev_id_related(&at->s.id, &at->t.id);
    }
    if (at->s.there && !related) {
        TRY(push_delete(r, parent, at->edit_path, at->s_rev, at->t_path, at->t.there));
        at->s_path = (struct str){0};
        at->s = (struct entry){0};
    }
    if (!at->t.there)
        return NULL;
    if (!principal_may(r->params->who, at->t_path, ACCESS_READ, false)) {
        struct edit_event event =
            edit_event_make(at->t.kind == NODE_DIR ? EDIT_ABSENT_DIR : EDIT_ABSENT_FILE);
        event.parent = parent;
        event.path = at->edit_path;
        push(r, event);
        return NULL;
    }
    const struct noderev *s;
    TRY(noderev_of(&s, r, &at->s));
    return at->t.kind == NODE_DIR ? update_dir(r, at, parent, s) : update_file(r, at, parent, s);
}

/* ---- steps through a folder ---- */

static struct pair child_pair(struct report_edit *r, const struct frame *f, struct str name,
                              const struct dirent_fs *s, const struct dirent_fs *t)
{
    const struct str s_path = path_view(&r->s_paths, f->s_path);
    struct pair at = {
        .edit_path = path_join(path_view(&r->edit_paths, f->edit_path), name, r->step),
        .s_rev = f->at.s_rev,
        .t_path = path_join(path_view(&r->t_paths, f->t_path), name, r->step),
        .s = entry_of(s),
        .t = entry_of(t),
        .wc_depth = below(f->at.wc_depth),
        .requested = below(f->at.requested),
    };
    if (s_path.p)
        at.s_path = path_join(s_path, name, r->step);
    return at;
}

static const struct dirent_fs *find(const struct dir *dir, const bool *done, struct str name)
{
    const struct dirent_fs *entry = dir ? dir_find(dir, name) : NULL;
    return entry && !done[entry - dir->list] ? entry : NULL;
}

/* A place of which the client said something, or below which it did. */
static struct err *step_reported(struct report_edit *r, struct frame *f)
{
    struct str name = f->names[f->next++];
    const struct report_place *place = map_get(f->at.place->children, name);
    const struct dirent_fs *s = find(f->s_dir, f->s_done, name),
                           *t = find(f->t_dir, f->t_done, name);
    bool excluded = place->reported && place->depth == DEPTH_EXCLUDE;
    if (place->reported && place->rev == REV_NONE &&
        !excluded) { /* the client has nothing there: the target alone decides, in its turn */
        if (s)
            f->s_done[s - f->s_dir->list] = true;
        return NULL;
    }
    bool dirs_unwanted = f->at.requested == DEPTH_FILES &&
                         ((t && t->kind == NODE_DIR) || (s && s->kind == NODE_DIR));
    if (t)
        f->t_done[t - f->t_dir->list] = true;
    if (s && (!excluded || t))
        f->s_done[s - f->s_dir->list] = true;
    if (excluded || dirs_unwanted)
        return NULL;
    struct pair at = child_pair(r, f, name, s, t);
    at.place = place;
    if (place->reported)
        at.wc_depth = place->depth;
    return update_entry(r, &at, f->number);
}

/* An entry of KIND that the client has not, nor wants. */
static bool is_beyond_depth(const struct frame *f, enum node_kind kind)
{
    if (f->at.requested == DEPTH_FILES && kind == NODE_DIR)
        return true;
    if (f->at.wc_depth < DEPTH_FILES && kind == NODE_FILE)
        return true;
    return kind == NODE_DIR && f->at.wc_depth < DEPTH_IMMEDIATES;
}

/* A source entry that the target may not have. Deletions go in svnserve's order: what a client has
 * done when one of them ends its merge with an error depends on it. */
static struct err *step_deleted(struct report_edit *r, struct frame *f)
{
    const struct dirent_fs *s = f->s_order ? f->s_order[f->next] : &f->s_dir->list[f->next];
    f->next++;
    if (f->s_done[s - f->s_dir->list] || find(f->t_dir, f->t_done, s->name) ||
        is_beyond_depth(f, s->kind))
        return NULL;
    if (!f->s_order) {
        f->s_order = walk_order(f->s_dir->list, f->s_dir->n, r->stack);
        f->next = 0;
        return NULL;
    }
    const struct pair at = child_pair(r, f, s->name, s, NULL);
    return push_delete(r, f->number, at.edit_path, at.s_rev, at.t_path, false);
}

/* A target entry, new or changed or neither. */
static struct err *step_target(struct report_edit *r, struct frame *f)
{
    size_t i = f->next++;
    const struct dirent_fs *t = &f->t_dir->list[i], *s = NULL;
    if (f->t_done[i])
        return NULL;
    if (!is_deepened(f->at.wc_depth, f->at.requested, t->kind)) {
        if (is_beyond_depth(f, t->kind))
            return NULL;
        s = find(f->s_dir, f->s_done, t->name);
    }
    if (s && noderev_id_eq(&s->id, &t->id) &&
        below(f->at.requested) <=
            below(f->at.wc_depth)) /* the common case, before any path is made */
        return NULL;
    struct pair at = child_pair(r, f, t->name, s, t);
    if (!s)
        at.s_path = (struct str){0};
    return update_entry(r, &at, f->number);
}

static struct err *step_frame(struct report_edit *r, struct frame *f)
{
    size_t s_count = f->s_dir ? f->s_dir->n : 0, t_count = f->t_dir ? f->t_dir->n : 0;
    size_t counts[] = {f->name_count, s_count, t_count, 0};
    if (f->stage == STAGE_CLOSE) {
        leave(r);
        return NULL;
    }
    if (f->next == counts[f->stage]) {
        f->stage++;
        f->next = 0;
        return NULL;
    }
    if (f->stage == STAGE_REPORTED)
        return step_reported(r, f);
    return f->stage == STAGE_DELETED ? step_deleted(r, f) : step_target(r, f);
}

/* ---- the cursor ---- */

static struct err *start(struct report_edit *r);

static struct err *edit_next(bool *more, struct edit_event *event, struct edit_source *source)
{
    struct report_edit *r = (struct report_edit *)source;
    if (!r->started) {
        r->started = true;
        TRY(start(r));
    }
    for (;;) {
        TRY(edit_queue_take(more, event, &r->queue));
        if (*more)
            return NULL;
        arena_rewind(r->step, r->step_empty);
        if (r->top) {
            TRY(step_frame(r, r->top));
        } else if (r->closing) {
            r->closing = false;
            push(r, edit_event_make(EDIT_CLOSE_EDIT));
        } else {
            return NULL;
        }
    }
}

static void edit_close(struct edit_source *source)
{
    struct report_edit *r = (struct report_edit *)source;
    edit_queue_free(&r->queue);
    arena_free(r->step);
    arena_free(r->stack);
    buf_free(&r->edit_paths);
    buf_free(&r->s_paths);
    buf_free(&r->t_paths);
    report_free(r->report);
    free(r);
}

/* Target and source of the edit's root, or of the one entry that it is about. */
static struct err *first_pair(struct pair *at, struct report_edit *r)
{
    const struct report_params *params = r->params;
    const struct report_place *root = &r->report->root;
    struct str s_path = path_join(params->anchor, params->target, r->stack);
    *at = (struct pair){
        .edit_path = params->target,
        .s_rev = r->report->base_rev,
        .s_path = s_path,
        .t_path = params->switch_path.p ? params->switch_path : s_path,
        .place = root,
        .wc_depth = root->depth,
        .requested = params->depth,
    };
    TRY(lookup(&at->s, r, at->s_rev, at->s_path));
    TRY(lookup(&at->t, r, params->rev, at->t_path));
    /* Also the folder that holds the target: else what is sent would tell what it holds. */
    struct str t_anchor = params->target.n ? path_dirname(at->t_path) : at->t_path;
    if (!principal_may(params->who, t_anchor, ACCESS_READ, false))
        return err_make(E_AUTHZ_ROOT_UNREADABLE, "Not authorized to open root of edit operation");
    if (params->target.n)
        return NULL;
    if (!at->t.there)
        return err_make(E_FS_PATH_SYNTAX, "Target path '%.*s' does not exist", STR(at->t_path));
    if (!at->s.there || at->s.kind != NODE_DIR || at->t.kind != NODE_DIR)
        return err_make(E_FS_PATH_SYNTAX, "Cannot replace a directory from within");
    return NULL;
}

/* The anchor's folder is opened but not compared: only its entry TARGET is. */
static struct err *start_at_target(struct report_edit *r, struct pair *at, uint64_t root)
{
    struct arena_mark mark = arena_mark(r->stack);
    struct frame *f = ARENA_NEW(r->stack, struct frame);
    *f = (struct frame){.mark = mark, .number = root, .stage = STAGE_CLOSE};
    r->top = f;
    if (!at->s.there && !at->place->link_path.p) /* a switched one is looked up where it is */
        at->s_path = (struct str){0};
    return update_entry(r, at, root);
}

static struct err *start(struct report_edit *r)
{
    struct pair at;
    TRY(first_pair(&at, r));
    struct edit_event event = edit_event_make(EDIT_TARGET_REV);
    event.rev = r->params->rev;
    push(r, event);
    event = edit_event_make(EDIT_OPEN_ROOT);
    event.node = r->numbers++;
    event.rev = at.s_rev;
    push(r, event);
    if (r->params->target.n)
        return start_at_target(r, &at, event.node);
    const struct noderev *s;
    TRY(noderev_of(&s, r, &at.s));
    return enter(r, &at, event.node, at.place->start_empty ? NULL : s);
}

struct err *report_finish(struct edit_source **out, struct report *report)
{
    struct report_edit *r = mem_zalloc(sizeof *r);
    *r = (struct report_edit){.source = {edit_next, edit_close},
                              .report = report,
                              .params = &report->params,
                              .fs = report->fs};
    r->stack = arena_new();
    r->step = arena_new();
    r->step_empty = arena_mark(r->step);
    r->view = revprop_view_new(r->fs, r->stack);
    struct err *err = NULL;
    if (!report->root.reported || report->base_rev == REV_NONE)
        err = err_make(E_REPOS_BAD_REVISION_REPORT, "Invalid report for top level of working copy");
    else if (report->root_again && !r->params->target.n)
        err = err_make(E_REPOS_BAD_REVISION_REPORT, "Two top-level reports with no target");
    if (!err)
        err = fsfs_check_revision(r->fs, r->params->rev);
    if (err) {
        edit_close(&r->source);
        return err;
    }
    *out = &r->source;
    return NULL;
}
