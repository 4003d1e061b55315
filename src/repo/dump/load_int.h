/* SPDX-License-Identifier: Apache-2.0 */
/* load_int.h - what the parts of a load share. */
#ifndef VARVE_REPO_DUMP_LOAD_INT_H
#define VARVE_REPO_DUMP_LOAD_INT_H

#include "repo/dump/dump.h"
#include "repo/dump/load.h"

/* ---- load_map.c: which revision of the stream became which of the repository ---- */

struct rev_map {
    struct rev_pair {
        revnum old_rev, new_rev;
    } * list; /* old_rev ascending */
    size_t n, cap;
    revnum last;   /* added */
    revnum oldest; /* of the stream; REV_NONE: none yet */
};
/* Later pairs replace earlier ones; so do the gaps between them (streams may be joined). */
void rev_map_add(struct rev_map *map, revnum old_rev, revnum new_rev);
/* REV_NONE: not between the first and the last that were loaded. For a revision between two of them
 * that the stream has not, since it was filtered: what svnadmin says, which is the stream's own
 * number of the one before. */
revnum rev_map_find(const struct rev_map *map, revnum old_rev);
void rev_map_free(struct rev_map *map);

/* ---- load_props.c: properties as they may be stored ---- */

/* VALUE of property NAME, checked and mended as PARAMS says: E_BAD_PROPERTY_VALUE chains that name
 * the options to use. */
struct err *load_prop_value(struct str *value, struct str name, const struct load_params *params,
                            struct arena *arena);
/* An svn:mergeinfo VALUE with its paths below the parent dir and its revisions those of the
 * repository. OFFSET: revision of the stream less the repository's. *STRIPPED: it had CRs. */
struct err *load_mergeinfo_value(struct str *value, bool *stripped, const struct rev_map *map,
                                 revnum offset, const struct load_params *params,
                                 struct arena *arena);

#endif
