/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - paths inside a repository, and the URI encoding of paths.
 *
 * An absolute path ("fspath") starts with '/', has no empty, "." or ".." component and no
 * trailing slash except for "/" itself. A relative path has no leading slash; "" is its root. */
#ifndef VARVE_BASE_PATH_H
#define VARVE_BASE_PATH_H

#include "base/arena.h"

bool path_is_absolute(struct str path);  /* begins with '/' */
bool path_is_canonical(struct str path); /* an absolute path as defined above */
bool path_is_relative(struct str path);  /* a relative path as defined above */

/* Make an absolute canonical path of what a person or an old client may write ("trunk/", "//a",
 * "/a/./b"). A ".." stays as it is, so that the path is not canonical; looked up, it is a name
 * like others, which no tree has. */
struct str path_canonicalize(struct str path, struct arena *arena);

/* PARENT is absolute or relative; "" and "/" are fine. */
struct str path_join(struct str parent, struct str relative, struct arena *arena);
struct str path_dirname(struct str path);  /* of "/a" is "/"; of "a" is ""; of "/" is "/" */
struct str path_basename(struct str path); /* of "/" and "" is "" */

/* PATH relative to ANCESTOR ("" where equal) in *REST; false where it is not at or below it. */
bool path_skip_ancestor(struct str *rest, struct str ancestor, struct str path);

/* Take the first component off *REST (a relative path); false at the end. */
bool path_next(struct str *component, struct str *rest);

/* Order for trees: a directory directly before its children ("/a", "/a/b", "/a-b"). */
int path_cmp(struct str a, struct str b);

/* As svn clients expect in URLs. */
struct str path_uri_encode(struct str path, struct arena *arena);
/* False on a bad %-escape or an encoded NUL. */
bool path_uri_decode(struct str *out, struct str uri, struct arena *arena);

/* What is wrong with a path that was made canonical (E_FS_PATH_SYNTAX). Old repositories have names
 * with controls, and such as are not UTF-8, so both may be asked for. */
struct err *path_check_nul(struct str path);      /* names nothing: stock's tools cut it there */
struct err *path_check_controls(struct str path); /* clients may not make such, loads may */
struct err *path_check_new(struct str path);      /* nobody may make it: not UTF-8, or has ".." */
bool utf8_is_valid(struct str s);

#endif
