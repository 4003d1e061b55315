/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/admin/prop_change.h"

#include "base/date.h"
#include "base/path.h"
#include "fsfs/read/revprops.h"
#include "repo/admin/hooks.h"

/* Names that clients keep for themselves. */
static bool is_regular(struct str name)
{
    return !str_starts(name, S("svn:wc:")) && !str_starts(name, S("svn:entry:"));
}

/* What every client can show and ask for again. */
static bool is_storable(struct str name)
{
    return name.n && str_find_control(name, S("")) == SIZE_MAX && utf8_is_valid(name);
}

struct err *prop_check(struct str name, const struct str *value)
{
    int64_t us;
    if (!value)
        return NULL; /* what is there may go, whatever it is */
    if (!is_storable(name))
        return err_make(E_REPOS_BAD_ARGS, "'%.*s' is not a valid property name", STR(name));
    if (!is_regular(name))
        return err_make(
            E_REPOS_BAD_ARGS,
            "Storage of non-regular property '%.*s' is disallowed through the repository "
            "interface, and could indicate a bug in your client",
            STR(name));
    if (!str_starts(name, S("svn:")))
        return NULL;
    if (!utf8_is_valid(*value))
        return err_make(E_BAD_PROPERTY_VALUE,
                        "Cannot accept '%.*s' property because it is not encoded in UTF-8",
                        STR(name));
    if (str_find(*value, '\r') != SIZE_MAX)
        return err_wrap(err_make(E_BAD_PROPERTY_VALUE_EOL,
                                 "Cannot accept non-LF line endings in '%.*s' property", STR(name)),
                        E_BAD_PROPERTY_VALUE, "Invalid property value");
    if (str_eq(name, S("svn:date")) && !date_parse(&us, *value))
        return err_wrap(err_make(E_BAD_DATE, "Bogus date"), E_BAD_PROPERTY_VALUE,
                        "Wrong or unexpected property value");
    return NULL;
}

struct err *repo_change_revprop(struct repo *repo, revnum rev, struct str user, struct str name,
                                const struct str *value, const struct str *const *expected)
{
    AUTO_ARENA(arena);
    const struct props *props;
    TRY(prop_check(name, value));
    TRY(fsfs_check_revision(repo->fs, rev));
    TRY(revprops_get(&props, repo->fs, rev, NULL, arena));
    const struct str *old = props_get(props, name);
    char action = !value ? 'D' : old ? 'M' : 'A';
    TRY(hook_pre_revprop_change(repo, rev, user, name, action, value));
    TRY(revprop_set(repo->fs, rev, name, value, expected));
    return hook_post_revprop_change(repo, rev, user, name, action, old);
}
