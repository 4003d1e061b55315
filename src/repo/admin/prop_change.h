/* SPDX-License-Identifier: Apache-2.0 */
/* prop_change.h - which properties may be stored, and changing a revision's with the rules of a
 * server. */
#ifndef VARVE_REPO_ADMIN_PROP_CHANGE_H
#define VARVE_REPO_ADMIN_PROP_CHANGE_H

#include "repo/admin/repo.h"

/* May a client store NAME = VALUE? Regular names only, in UTF-8, without control characters
 * (E_REPOS_BAD_ARGS); values of svn: properties are UTF-8 with LF (E_BAD_PROPERTY_VALUE,
 * E_BAD_PROPERTY_VALUE_EOL), svn:date is a date (E_BAD_PROPERTY_VALUE). Any name may be removed
 * (VALUE NULL). */
struct err *prop_check(struct str name, const struct str *value);

/* Change a revision property with the hooks around it. EXPECTED as in revprop_set. A failed
 * post-revprop-change hook is the error although the change stands. */
struct err *repo_change_revprop(struct repo *repo, revnum rev, struct str user, struct str name,
                                const struct str *value, const struct str *const *expected);

#endif
