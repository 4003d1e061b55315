/* SPDX-License-Identifier: Apache-2.0 */
/* edit_wire.h - edit events as the editor commands of the svn:// protocol, both ways
 * (docs/protocol/svn.md).
 *
 * One table says which fields each command has; encoder and decoder both follow it. */
#ifndef VARVE_SVN_EDIT_WIRE_H
#define VARVE_SVN_EDIT_WIRE_H

#include "base/map.h"
#include "repo/edit/edit.h"
#include "svn/wire.h"

/* Write EVENT as one command. Folders get tokens "d<number>", files "c<number>". */
struct err *edit_encode(struct conn *conn, const struct edit_event *event);

/* The peer's tokens, which are opaque, and the numbers that stand for them. */
struct edit_decoder {
    struct map *nodes; /* token to number and kind, as a pointer */
    uint64_t next;
    struct str root_url; /* decoded; what copy sources must begin with */
};
void edit_decoder_init(struct edit_decoder *decoder, struct str root_url);
void edit_decoder_free(struct edit_decoder *decoder);

/* The event that COMMAND with PARAMS means; views into PARAMS or ARENA. E_RA_SVN_UNKNOWN_CMD
 * "Unknown editor command 'x'"; E_RA_SVN_MALFORMED_DATA, also for tokens that nobody opened, or
 * opened as the other kind; E_FS_PATH_SYNTAX. */
struct err *edit_decode(struct edit_event *event, struct edit_decoder *decoder, struct str command,
                        const struct wire_item *params, struct arena *arena);

#endif
