/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/edit/edit_queue.h"

#include "base/account.h"
#include "base/vec.h"

struct edit_queue_item {
    struct edit_event event;
    struct text_delta *delta; /* NULL: the event itself; else it comes in the place of the event, as
                                 chunks for its node */
};

static struct edit_queue_item *add(struct edit_queue *q)
{
    if (!q->list)
        q->account = account_current;
    return VEC_ADD_FOR(q, q->account);
}

void edit_queue_push(struct edit_queue *q, struct edit_event event)
{
    *add(q) = (struct edit_queue_item){event, NULL};
}

void edit_queue_push_text(struct edit_queue *q, uint64_t node, struct text_delta *delta)
{
    struct edit_event event = edit_event_make(EDIT_TEXT_CHUNK);
    event.node = node;
    *add(q) = (struct edit_queue_item){event, delta};
}

struct err *edit_queue_take(bool *given, struct edit_event *event, struct edit_queue *q)
{
    while (q->at < q->n) {
        struct edit_queue_item *item = &q->list[q->at];
        *event = item->event;
        *given = true;
        if (!item->delta) {
            q->at++;
            return NULL;
        }
        TRY(text_delta_next(&event->text, item->delta));
        if (event->text.n)
            return NULL;
        text_delta_close(item->delta);
        item->delta = NULL;
        q->at++;
    }
    q->n = q->at = 0;
    *given = false;
    return NULL;
}

void edit_queue_free(struct edit_queue *q)
{
    for (size_t i = q->at; i < q->n; i++)
        text_delta_close(q->list[i].delta);
    VEC_RELEASE(q, q->account);
}

struct str edit_empty_delta(int svndiff_version)
{
    static const struct str headers[] = {S("SVN\0"), S("SVN\1"), S("SVN\2")};
    return headers[svndiff_version];
}
