/* SPDX-License-Identifier: Apache-2.0 */
/* authz_int.h - rules between the parser (authz_parse.c) and the views (authz.c). */
#ifndef VARVE_REPO_ACCESS_AUTHZ_INT_H
#define VARVE_REPO_ACCESS_AUTHZ_INT_H

#include "base/map.h"
#include "base/shared.h"
#include "repo/access/authz.h"
#include <stdint.h>

enum segment_kind {
    SEGMENT_NAME,   /* exactly this */
    SEGMENT_ANY,    /* "*" */
    SEGMENT_DEEP,   /* "**": any number of names, none included */
    SEGMENT_PREFIX, /* "text*" */
    SEGMENT_SUFFIX, /* "*text" */
    SEGMENT_GLOB,   /* anything else with '*' and '?'; the text is as written */
};
struct segment {
    enum segment_kind kind;
    struct str text;
};

enum who {
    WHO_ALL,
    WHO_ANONYMOUS,
    WHO_AUTHENTICATED,
    WHO_USER,
    WHO_GROUP,
    WHO_EMPTY_GROUP, /* gives nobody anything, inverted or not */
};
struct entry {
    enum who who;
    bool inverted; /* of users and groups: everybody else who has a name */
    int rights;
    uint32_t id; /* of the user or group */
};

struct rule {
    struct str repository; /* n 0: all */
    struct segment *segments;
    size_t segment_count;
    struct entry *entries;
    size_t entry_count;
};

/* "X is in group G" as a list, from X's side; 0 ends it. */
struct membership {
    uint32_t group, next;
};

struct authz {
    struct shared shared;
    struct arena *arena;
    struct rule *rules; /* in the order of the file */
    size_t rule_count;
    struct map *users;                    /* every name in the file to its id + 1 */
    uint32_t *user_groups, *group_groups; /* id to the first membership */
    struct membership *memberships;       /* from 1 on */
    size_t group_count;
    struct str *warnings;
    size_t warning_count;
    uint64_t id; /* of this one in the process: tells cached views apart */
};

/* Kinds of cached objects in the space AUTHZ_SPACE. */
#define AUTHZ_SPACE S("authz")
enum { CACHE_AUTHZ_FILE = 1, CACHE_AUTHZ_VIEW };

/* Does the whole of NAME fit PATTERN ('*', '?', '\' before a character for itself)? */
bool glob_fits(struct str pattern, struct str name);

#endif
