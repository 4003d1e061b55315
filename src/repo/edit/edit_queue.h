/* SPDX-License-Identifier: Apache-2.0 */
/* edit_queue.h - events that a producer has ready, texts among them, given out one at a time.
 *
 * A producer works in steps and queues what a step yields. A text is queued as its delta and comes
 * out piece by piece; it is the only thing that may be large. */
#ifndef VARVE_REPO_EDIT_EDIT_QUEUE_H
#define VARVE_REPO_EDIT_EDIT_QUEUE_H

#include "repo/edit/edit.h"
#include "repo/tree/text_delta.h"

struct edit_queue {
    struct edit_queue_item *list;
    struct account *account; /* of ITEMS */
    size_t n, at, cap;
};

void edit_queue_push(struct edit_queue *q, struct edit_event event);
/* The chunks of DELTA (owned) as the text of NODE. */
void edit_queue_push_text(struct edit_queue *q, uint64_t node, struct text_delta *delta);
/* The next event; *GIVEN false where the queue is empty. */
struct err *edit_queue_take(bool *given, struct edit_event *event, struct edit_queue *q);
void edit_queue_free(struct edit_queue *q);

/* An event of KIND that says nothing yet. */
static inline struct edit_event edit_event_make(enum edit_kind kind)
{
    return (struct edit_event){.kind = kind, .rev = REV_NONE, .copy_rev = REV_NONE};
}

/* An svndiff document that changes nothing, as it stands for "this text has changed": the header
 * alone. */
struct str edit_empty_delta(int svndiff_version);

#endif
