/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_replay.c - revisions as edits, for mirrors. */
#include "repo/access/visibility.h"
#include "repo/edit/replay.h"
#include "svn/auth.h"
#include "svn/edit_drive.h"
#include "svn/session_int.h"

static struct err *replay_one(struct session *s, revnum rev, revnum low_water, bool send_deltas)
{
    struct replay_params params = {
        .base_path = s->path,
        .low_water = low_water,
        .send_deltas = send_deltas,
        .svndiff_version = s->svndiff_version,
        .compression_level = s->service->compression,
        .who = s->reader,
    };
    struct edit_source *source;
    session_log(s, "replay %.*s r%lld", STR(log_path(s, s->path)), (long long)rev);
    struct err *err = tree_of_rev(&params.tree, s->fs, rev);
    if (!err)
        err = replay_open(&source, &params);
    if (err)
        return edit_refuse(s, err);
    return edit_drive(s, source, false);
}

struct err *cmd_replay(struct session *s, struct wire_args *args)
{
    revnum rev = wire_take_rev(args), low_water = wire_take_rev(args);
    bool send_deltas = wire_take_bool(args);
    TRY(wire_args_check(args));
    TRY(auth_trivial(s));
    TRY(replay_one(s, rev, low_water, send_deltas));
    return wire_success_empty(s->conn);
}

static struct err *send_revprops(struct session *s, revnum rev)
{
    const struct props *props;
    TRY(fsfs_check_revision(s->fs, rev));
    TRY(revprops_get_visible(&props, s->fs, rev, s->reader, s->request));
    TRY(wire_raw(s->conn, S("( revprops ")));
    TRY(wire_props(s->conn, props ? props->list : NULL, props ? props->n : 0));
    return wire_close(s->conn);
}

struct err *cmd_replay_range(struct session *s, struct wire_args *args)
{
    revnum start = wire_take_rev(args), end = wire_take_rev(args), low_water = wire_take_rev(args);
    bool send_deltas = wire_take_bool(args);
    TRY(wire_args_check(args));
    TRY(auth_trivial(s));
    for (revnum rev = start; rev <= end; rev++) {
        struct arena_mark mark = arena_mark(s->request);
        TRY(send_revprops(s, rev));
        TRY(replay_one(s, rev, low_water, send_deltas));
        arena_rewind(s->request, mark);
    }
    return wire_success_empty(s->conn);
}
