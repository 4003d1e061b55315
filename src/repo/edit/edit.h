/* SPDX-License-Identifier: Apache-2.0 */
/* edit.h - the one vocabulary of change: a tree edit is a stream of events.
 *
 * The update cursor and replay produce it, clients produce it, commits consume it; svn:// and later
 * DAV encode and decode it. Events come depth first: what is opened is closed, but a file's text
 * may come after its folder was closed (clients send texts last).
 *
 *   TARGET_REV? OPEN_ROOT { DELETE | ADD_DIR | OPEN_DIR | ADD_FILE | OPEN_FILE | *_PROP | TEXT_* |
 * ABSENT_* | CLOSE_* }* CLOSE_EDIT
 *
 * Views in an event are valid until the next event is asked for. */
#ifndef VARVE_REPO_EDIT_EDIT_H
#define VARVE_REPO_EDIT_EDIT_H

#include "base/err.h"
#include "fsfs/format/types.h"
#include <stdint.h>

enum edit_kind {
    EDIT_TARGET_REV,
    EDIT_OPEN_ROOT,
    EDIT_DELETE,
    EDIT_ADD_DIR,
    EDIT_OPEN_DIR,
    EDIT_DIR_PROP,
    EDIT_CLOSE_DIR,
    EDIT_ABSENT_DIR,
    EDIT_ADD_FILE,
    EDIT_OPEN_FILE,
    EDIT_FILE_PROP,
    EDIT_TEXT_BEGIN, /* apply-textdelta */
    EDIT_TEXT_CHUNK, /* bytes of one svndiff document, split anywhere */
    EDIT_TEXT_END,
    EDIT_CLOSE_FILE,
    EDIT_ABSENT_FILE,
    EDIT_CLOSE_EDIT,
    EDIT_ABORT_EDIT,
    EDIT_FINISH_REPLAY,
    EDIT_KINDS,
};

struct edit_event {
    enum edit_kind kind;
    uint64_t node, parent; /* who: numbers given by the producer to files and folders it opens; the
                              wire turns them into tokens */
    struct str path;       /* relative to the edit's root, all components; "" is the root */
    revnum rev;            /* target, base or deleted revision; REV_NONE where not said */
    struct str copy_path;  /* ADD_*: p NULL where not copied. Absolute in the repository, decoded */
    struct str copy_url;   /* p NULL, or what is said instead and is not in the repository */
    revnum copy_rev;
    struct str name;  /* property name */
    struct str value; /* property value; p NULL: removed */
    struct str text;  /* TEXT_CHUNK: svndiff bytes */
    struct str
        md5; /* hex: TEXT_BEGIN: of the base; CLOSE_FILE: of the result; p NULL where not said */
};

/* A producer that is pulled. */
struct edit_source {
    struct err *(*next)(bool *more, struct edit_event *event, struct edit_source *self);
    void (*close)(struct edit_source *self);
};

#endif
