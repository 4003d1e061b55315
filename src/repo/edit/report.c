/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/edit/report_int.h"

#include "base/path.h"
#include "repo/tree/depth.h"

/* A copy that lives as long as the report. */
static struct str keep(const struct report *r, struct str s)
{
    return s.p ? arena_str(r->arena, s) : s;
}

struct report *report_new(struct fsfs *fs, const struct report_params *params)
{
    struct arena *arena = arena_new();
    struct report *r = ARENA_NEW(arena, struct report);
    *r = (struct report){.fs = fs,
                         .params = *params,
                         .arena = arena,
                         .root = {.rev = REV_NONE},
                         .base_rev = REV_NONE};
    r->params.anchor = keep(r, params->anchor);
    r->params.target = keep(r, params->target);
    r->params.switch_path = keep(r, params->switch_path);
    return r;
}

static struct report_place *child_place(struct report *r, struct report_place *place,
                                        struct str name)
{
    if (!place->children)
        place->children = map_new_in(r->arena);
    struct report_place *child = map_get(place->children, name);
    if (!child) {
        child = ARENA_NEW(r->arena, struct report_place);
        child->rev = REV_NONE;
        map_put(place->children, name, child);
    }
    return child;
}

static struct err *add(struct report *r, struct str path, struct report_place said)
{
    struct str name, rest = path;
    struct report_place *place = &r->root;
    if (!r->root.reported)
        r->base_rev = said.rev;
    while (path_next(&name, &rest)) {
        TRY(arena_check(r->arena, 0));
        place = child_place(r, place, name);
    }
    if (place == &r->root && place->reported)
        r->root_again = true;
    if (r->root_again && place == &r->root && said.rev == REV_NONE)
        said.depth =
            place->depth; /* a target that is missing is wanted to the depth that was said before */
    struct map *children = place->children;
    *place = said;
    place->children = children;
    place->reported = true;
    place->link_path = keep(r, said.link_path);
    place->lock_token = keep(r, said.lock_token);
    return NULL;
}

static struct err *check_said(struct report *r, struct str path, enum depth depth)
{
    if (!r->root.reported && path.n)
        return err_make(E_REPOS_BAD_REVISION_REPORT,
                        "Invalid report for top level of working copy");
    if (depth == DEPTH_UNKNOWN)
        return err_make(E_REPOS_BAD_ARGS, "Unsupported report depth '%.*s'",
                        STR(depth_word(depth)));
    return NULL;
}

struct err *report_set_path(struct report *r, struct str path, revnum rev, bool start_empty,
                            struct str lock_token, enum depth depth)
{
    TRY(check_said(r, path, depth));
    return add(
        r, path,
        (struct report_place){
            .rev = rev, .start_empty = start_empty, .depth = depth, .lock_token = lock_token});
}

struct err *report_link_path(struct report *r, struct str path, struct str link_path, revnum rev,
                             bool start_empty, struct str lock_token, enum depth depth)
{
    TRY(check_said(r, path, depth));
    if (depth == DEPTH_EXCLUDE)
        return err_make(E_REPOS_BAD_ARGS, "Depth 'exclude' not supported for link");
    return add(r, path,
               (struct report_place){.rev = rev,
                                     .start_empty = start_empty,
                                     .depth = depth,
                                     .lock_token = lock_token,
                                     .link_path = link_path});
}

struct err *report_delete_path(struct report *r, struct str path)
{
    TRY(check_said(r, path, DEPTH_INFINITY));
    return add(r, path, (struct report_place){.rev = REV_NONE, .depth = DEPTH_INFINITY});
}

void report_free(struct report *r)
{
    if (r)
        arena_free(r->arena);
}
