/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/read_ahead.h"

#include "base/buf.h"
#include "base/thread.h"
#include "fsfs/changes.h"
#include "repo/tree.h"
#include <stdlib.h>

/* Revisions ahead: enough that a worker always has one, few enough that the cache keeps them. */
enum { AHEAD = 16 };

struct job {
    struct task task;
    struct read_ahead *ahead;
    revnum rev;
    bool started;
};

struct read_ahead {
    struct fsfs *fs;
    revnum next, last;      /* NEXT: the first that no worker has been given */
    _Atomic revnum at;      /* what is being read: a worker that comes late has nothing to do */
    struct job jobs[AHEAD]; /* a revision's is at its number modulo AHEAD */
};

/* Expand the text of one changed file. */
static struct err *warm_change(struct fsfs *fs, const struct tree *tree,
                               const struct change *change, struct arena *arena)
{
    struct node node;
    bool found;
    const struct blob *text;
    if (change->action == CHANGE_DELETE || change->kind == NODE_DIR || !change->text_changed)
        return NULL;
    TRY(tree_find(&node, &found, tree, change->path, arena));
    if (!found || !node.noderev->has_text || node.noderev->kind != NODE_FILE ||
        !rep_is_whole(&node.noderev->text))
        return NULL;
    return rep_text(&text, fs, &node.noderev->text, arena);
}

static struct err *warm_revision(void *arg)
{
    const struct job *job = arg;
    struct fsfs *fs = job->ahead->fs;
    if (job->rev <= job->ahead->at)
        return NULL;
    AUTO_ARENA(arena);
    const struct changes *changes;
    struct tree tree;
    TRY(tree_of_rev(&tree, fs, job->rev));
    TRY(changes_get(&changes, fs, job->rev, arena));
    for (size_t i = 0; i < changes->n; i++) {
        struct arena_mark mark = arena_mark(arena);
        TRY(warm_change(fs, &tree, &changes->list[i], arena));
        arena_rewind(arena, mark);
    }
    return NULL;
}

struct read_ahead *read_ahead_new(struct fsfs *fs, revnum first, revnum last)
{
    struct read_ahead *ahead = mem_zalloc(sizeof *ahead);
    ahead->fs = fs;
    ahead->next = first + 1;
    ahead->last = last;
    ahead->at = first;
    return ahead;
}

static void finish(struct job *job)
{
    if (job->started)
        err_free(task_wait(&job->task));
    job->started = false;
}

void read_ahead_at(struct read_ahead *ahead, revnum rev)
{
    ahead->at = rev;
    for (; ahead->next <= ahead->last && ahead->next < rev + AHEAD; ahead->next++) {
        struct job *job = &ahead->jobs[ahead->next % AHEAD];
        finish(job);
        *job = (struct job){.task = {.run = warm_revision, .arg = job},
                            .ahead = ahead,
                            .rev = ahead->next,
                            .started = true};
        task_start(&job->task);
    }
}

void read_ahead_free(struct read_ahead *ahead)
{
    if (!ahead)
        return;
    ahead->at = ahead->last;
    for (int i = 0; i < AHEAD; i++)
        finish(&ahead->jobs[i]);
    free(ahead);
}
