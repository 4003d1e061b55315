/* SPDX-License-Identifier: Apache-2.0 */
/* authz.h - path-based authorisation: rule files compiled, and the questions that they answer.
 *
 * A rule file has sections [/path], [repository:/path], [:glob:/path] and
 * [:glob:repository:/path] of entries "who = rights", and [groups] and [aliases] to name people
 * (docs/admin.md). `struct authz` is a file as compiled; it never changes and all connections of
 * the process share it. What one user may do in one repository is a view: made once, cached, asked
 * by paths.
 *
 * How a path is decided. A rule matches a path where its pattern fits the whole of it. Of the rules
 * that name the user,
 *   - those that match the longest part of the path, from the root on, decide;
 *   - of them the last in the file counts;
 *   - the same path written for the repository and for all repositories is one rule, the
 *     repository's, at its own place in the file;
 *   - without any there is no access.
 * The entries of a rule that fit a user are united. A recursive question is answered from the least
 * right at and below each point of the rules' tree, worked out in advance: it may say no where
 * rules hide each other, as Subversion's does, but never yes where something below is closed -
 * except for "/", which Subversion's rules take as an entry of the root that has no name, so that
 * only patterns restrict it. Decisions are Subversion's to the letter. */
#ifndef VARVE_REPO_ACCESS_AUTHZ_H
#define VARVE_REPO_ACCESS_AUTHZ_H

#include "base/arena.h"
#include "repo/access/principal.h"

struct authz; /* a `struct shared` */
struct authz_view;

/* Compile TEXT, with the groups of GROUPS in the place of its own where that is not NULL. A pure
 * function of the texts. Errors: E_AUTHZ_INVALID_CONFIG; E_MALFORMED_FILE "line N: ..." */
struct err *authz_parse(struct authz **out, struct str text, const struct str *groups);

/* What is strange about the file, but no error: texts without end of line. */
size_t authz_warnings(const struct str **texts, const struct authz *authz);

/* What USER (p NULL: nobody in particular) may do in REPOSITORY; from the cache or made now, valid
 * as long as ARENA. */
const struct authz_view *authz_view(struct authz *authz, struct str repository, struct str user,
                                    struct arena *arena);

/* The rights that are had on every path. */
int authz_view_everywhere(const struct authz_view *view);
/* The rights (enum access_right) on PATH, RECURSIVE: on everything at and below it. */
int authz_view_rights(const struct authz_view *view, struct str path, bool recursive);
/* All rights that any rule for the repository gives to the user, wherever it is. */
int authz_view_any(const struct authz_view *view);

#endif
