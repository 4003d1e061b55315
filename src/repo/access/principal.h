/* SPDX-License-Identifier: Apache-2.0 */
/* principal.h - who asks: a user, what the settings allow at all, what the rules allow where. Every
 * cursor and every commit takes one; NULL is whoever may do everything, as for tools that work on a
 * repository directly. */
#ifndef VARVE_REPO_ACCESS_PRINCIPAL_H
#define VARVE_REPO_ACCESS_PRINCIPAL_H

#include "base/str.h"

struct authz_view;

enum access_right { ACCESS_READ = 1, ACCESS_WRITE = 2 };
enum access_level { ACCESS_LEVEL_NONE, ACCESS_LEVEL_READ, ACCESS_LEVEL_WRITE };

struct principal {
    struct str user;               /* n 0: nobody in particular */
    enum access_level level;       /* what the settings allow */
    const struct authz_view *view; /* what the rules allow; NULL: there are none */
    int everywhere;                /* the rights that are had on every path */
    /* Told what the rules deny; NULL: nobody is. */
    void (*denied)(const struct principal *self, struct str path, int right, bool recursive);
};

/* USER with LEVEL and the rights of VIEW (NULL: no rules). */
void principal_set(struct principal *out, struct str user, enum access_level level,
                   const struct authz_view *view);

/* May RIGHT be had on PATH (absolute), where RECURSIVE on everything at and below it? Settings are
 * not asked: they are for a whole command (principal_allows). */
bool principal_may_ask(const struct principal *who, struct str path, int right, bool recursive);
static inline bool principal_may(const struct principal *who, struct str path, int right,
                                 bool recursive)
{
    return !who || (who->everywhere & right) == right ||
           principal_may_ask(who, path, right, recursive);
}

/* WHO for a cursor that only reads: NULL where nothing is hidden, which spares it much. */
static inline const struct principal *principal_to_read(const struct principal *who)
{
    return who && who->everywhere & ACCESS_READ ? NULL : who;
}

/* The user for locks, hooks and revision properties. */
static inline struct str principal_user(const struct principal *who)
{
    return who ? who->user : (struct str){0};
}

/* Do settings and rules allow LEVEL on PATH (empty: on any path), where NEED_USER to somebody with
 * a name only? */
bool principal_allows(const struct principal *who, enum access_level level, struct str path,
                      bool need_user);

#endif
