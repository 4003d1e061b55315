/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_revprop.c - revision properties, read and changed. */
#include "repo/access/visibility.h"
#include "repo/admin/prop_change.h"
#include "svn/auth.h"
#include "svn/session_int.h"

static struct err *read_props(const struct props **props, struct session *s, revnum rev)
{
    TRY(fsfs_check_revision(s->fs, rev));
    return revprops_get_visible(props, s->fs, rev, s->reader, s->request);
}

struct err *cmd_rev_proplist(struct session *s, struct wire_args *args)
{
    revnum rev = wire_take_rev(args);
    const struct props *props;
    TRY(wire_args_check(args));
    TRY(auth_trivial(s));
    session_log(s, "rev-proplist r%lld", (long long)rev);
    TRY(read_props(&props, s, rev));
    TRY(wire_begin_success(s->conn));
    TRY(wire_props(s->conn, props ? props->list : NULL, props ? props->n : 0));
    return wire_end_success(s->conn);
}

struct err *cmd_rev_prop(struct session *s, struct wire_args *args)
{
    revnum rev = wire_take_rev(args);
    struct str name = wire_take_str(args);
    const struct props *props;
    TRY(wire_args_check(args));
    TRY(auth_trivial(s));
    session_log(s, "rev-prop r%lld %.*s", (long long)rev, STR(log_path(s, name)));
    TRY(read_props(&props, s, rev));
    const struct str *value = props ? props_get(props, name) : NULL;
    TRY(wire_begin_success(s->conn));
    TRY(wire_opt_str(s->conn, value ? *value : (struct str){0}));
    return wire_end_success(s->conn);
}

/* What the user may not see whole, they may not change. */
static struct err *check_visible(struct session *s, revnum rev)
{
    enum visibility sees;
    TRY(fsfs_check_revision(s->fs, rev));
    TRY(revision_visibility(&sees, s->fs, rev, s->reader, s->request));
    if (sees == SEES_ALL)
        return NULL;
    return err_make(E_AUTHZ_UNREADABLE,
                    "Write denied:  not authorized to read all of revision %lld", (long long)rev);
}

static struct err *change(struct session *s, revnum rev, struct str name, struct str value,
                          const struct str *const *expected)
{
    TRY(auth_require(s, ACCESS_LEVEL_WRITE, S(""), false));
    session_log(s, "change-rev-prop r%lld %.*s", (long long)rev, STR(log_path(s, name)));
    if (s->who.view) /* without rules what is wrong with the property is told first */
        TRY(check_visible(s, rev));
    TRY(repo_change_revprop(s->repo, rev, s->who.user, name, value.p ? &value : NULL, expected));
    return wire_success_empty(s->conn);
}

struct err *cmd_change_rev_prop(struct session *s, struct wire_args *args)
{
    revnum rev = wire_take_rev(args);
    struct str name = wire_take_str(args);
    struct str value = wire_args_end(args) ? (struct str){0} : wire_take_str(args);
    TRY(wire_args_check(args));
    return change(s, rev, name, value, NULL);
}

/* Like the former, but only if the value is what the client believes it is. */
struct err *cmd_change_rev_prop2(struct session *s, struct wire_args *args)
{
    revnum rev = wire_take_rev(args);
    struct str name = wire_take_str(args), value = wire_take_opt_str(args);
    struct wire_args belief = wire_take_list(args);
    bool dont_care = wire_take_bool(&belief);
    struct str previous = wire_args_end(&belief) ? (struct str){0} : wire_take_str(&belief);
    args->malformed |= belief.malformed;
    TRY(wire_args_check(args));
    if (dont_care && previous.p)
        return err_make(
            E_INCORRECT_PARAMS,
            "'previous-value' and 'dont-care' cannot both be set in 'change-rev-prop2' request");
    const struct str *expected = previous.p ? &previous : NULL;
    return change(s, rev, name, value, dont_care ? NULL : &expected);
}
