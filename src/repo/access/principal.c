/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/access/principal.h"

#include "repo/access/authz.h"

void principal_set(struct principal *out, struct str user, enum access_level level,
                   const struct authz_view *view)
{
    out->user = user;
    out->level = level;
    out->view = view;
    out->everywhere = view ? authz_view_everywhere(view) : ACCESS_READ | ACCESS_WRITE;
}

bool principal_may_ask(const struct principal *who, struct str path, int right, bool recursive)
{
    if ((authz_view_rights(who->view, path, recursive) & right) == right)
        return true;
    if (who->denied)
        who->denied(who, path, right, recursive);
    return false;
}

bool principal_allows(const struct principal *who, enum access_level level, struct str path,
                      bool need_user)
{
    if (who->level < level || (need_user && !who->user.n))
        return false;
    if (!who->view)
        return true;
    int rights = path.n ? authz_view_rights(who->view, path, false) : authz_view_any(who->view);
    return rights & (level == ACCESS_LEVEL_WRITE ? ACCESS_WRITE : ACCESS_READ);
}
