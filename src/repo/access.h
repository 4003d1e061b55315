/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - may this user see or change this path? Asked by every cursor that names paths; NULL
 * means: everything. */
#ifndef VARVE_REPO_ACCESS_H
#define VARVE_REPO_ACCESS_H

#include "base/err.h"
#include "base/str.h"

enum access_right { ACCESS_READ = 1, ACCESS_WRITE = 2 };

struct access {
    /* May RIGHT be had on PATH (absolute), where RECURSIVE on everything at and below it? */
    bool (*allowed)(const struct access *self, struct str path, int right, bool recursive);
    int everywhere; /* the rights that are had on every path */
};

static inline bool access_allowed(const struct access *access, struct str path, int right,
                                  bool recursive)
{
    return !access || (access->everywhere & right) == right ||
           access->allowed(access, path, right, recursive);
}

/* ACCESS for a cursor that only reads: NULL where nothing is hidden, which spares it much. */
static inline const struct access *access_to_read(const struct access *access)
{
    return access && access->everywhere & ACCESS_READ ? NULL : access;
}

#endif
