/* SPDX-License-Identifier: Apache-2.0 */
/* visibility.h - how much of a revision somebody may know, by what it changed. */
#ifndef VARVE_REPO_ACCESS_VISIBILITY_H
#define VARVE_REPO_ACCESS_VISIBILITY_H

#include "fsfs/read/revprops.h"
#include "repo/access/principal.h"

enum visibility {
    SEES_ALL,     /* every changed path and copy source may be read, or there is none */
    SEES_SOME,    /* some: the author and date may be known */
    SEES_NOTHING, /* none: that there is such a revision may be known */
};

/* What somebody with ACCESS sees of REV. */
struct err *revision_visibility(enum visibility *sees, struct fsfs *fs, revnum rev,
                                const struct principal *who, struct arena *arena);

/* What remains of the revision properties PROPS; NULL where nothing may be known. */
const struct props *visible_revprops(const struct props *props, enum visibility sees,
                                     struct arena *arena);

/* The revision properties of REV that somebody with ACCESS sees. */
struct err *revprops_get_visible(const struct props **out, struct fsfs *fs, revnum rev,
                                 const struct principal *who, struct arena *arena);

#endif
