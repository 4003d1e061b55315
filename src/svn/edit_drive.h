/* SPDX-License-Identifier: Apache-2.0 */
/* edit_drive.h - send a whole edit to the client. */
#ifndef VARVE_SVN_EDIT_DRIVE_H
#define VARVE_SVN_EDIT_DRIVE_H

#include "repo/edit/edit.h"
#include "svn/session_int.h"

/* Pull SOURCE (owned) to its end and write its events. ANSWERED: an edit that ends with close-edit,
 * which the client answers, and then the success that ends the command. Replay's ends with
 * finish-replay, which nobody answers.
 *
 * An error of SOURCE is told as abort-edit, the client's answer to it, and the failure, which the
 * caller sends: it is returned. The client may refuse half-way: its failure ends the edit in the
 * same way. */
struct err *edit_drive(struct session *s, struct edit_source *source, bool answered);

/* The same where the edit could not even begin because of WHY, which is returned. */
struct err *edit_refuse(struct session *s, struct err *why);

#endif
