/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - what one revision changed, as an edit of the whole tree. */
#ifndef VARVE_REPO_EDIT_REPLAY_H
#define VARVE_REPO_EDIT_REPLAY_H

#include "repo/access/principal.h"
#include "repo/edit/edit.h"
#include "repo/tree/tree.h"

struct replay_params {
    struct tree tree;     /* of the revision, or of a transaction */
    struct str base_path; /* only what concerns it: at, below, or a folder above; absolute. Copies
                             from outside come as plain adds */
    revnum low_water;     /* copies from older revisions come as plain adds of their whole content;
                             REV_NONE: none do */
    bool send_deltas;     /* false: empty svndiff documents where a text changed, and one property
                             without name and value where properties did */
    int svndiff_version, compression_level;
    const struct principal *who;
};
struct err *replay_open(struct edit_source **out, const struct replay_params *params);

#endif
