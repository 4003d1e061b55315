/* SPDX-License-Identifier: Apache-2.0 */
/* The revisions of a dump are made side by side, by all cores, and go out in order: a revision
 * whose turn has not come yet holds back what it has, up to a bound, and then waits. */
#include "repo/dump/dump.h"
#include "base/thread.h"
#include "repo/dump/dump_revision.h"
#include <pthread.h>
#include <stdlib.h>

enum {
    PARTS_PER_CPU = 4, /* enough that a worker always has one, few enough that the cache keeps what
                          neighbours share */
    PARTS_MAX = 64,
    HELD_MAX = 1 << 20, /* bytes */
};

/* A revision at work. */
struct part {
    struct writer writer; /* what its records are written to */
    struct run *run;
    struct task task;
    bool started;
    struct dump_revision revision;
    struct buf held;
};

struct run {
    struct writer *out;
    const struct dump_params *params;
    struct part *parts; /* a ring: revision R's is at R modulo PART_COUNT */
    revnum part_count, next;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t turned;
    _Atomic revnum turn; /* the revision that goes out; its part alone uses OUT */
    bool stopped;
    bool warned_copy, warned_mergeinfo;
};

/* ---- a part's output ---- */

static bool has_turn(const struct part *part)
{
    return part->run->turn == part->revision.rev;
}

static struct err *wait_for_turn(const struct part *part)
{
    struct run *run = part->run;
    pthread_mutex_lock(&run->mutex);
    while (!has_turn(part) && !run->stopped)
        pthread_cond_wait(&run->turned, &run->mutex);
    bool stopped = run->stopped;
    pthread_mutex_unlock(&run->mutex);
    return stopped ? err_make(E_CANCELLED, "The dump has stopped") : NULL;
}

static struct err *release(struct part *part)
{
    struct err *err = part->held.n ? writer_write(part->run->out, buf_view(&part->held)) : NULL;
    buf_clear(&part->held);
    return err;
}

static struct err *part_write(struct writer *self, const void *from, size_t n)
{
    struct part *part = (struct part *)self;
    if (!has_turn(part)) {
        if (part->held.n + n <= HELD_MAX) {
            buf_add(&part->held, from, n);
            return NULL;
        }
        TRY(wait_for_turn(part));
    }
    TRY(release(part));
    return writer_write(part->run->out, str_make(from, n));
}

/* ---- parts ---- */

static struct err *part_make(void *arg)
{
    struct part *part = arg;
    return dump_revision_write(&part->revision);
}

static void part_start(struct run *run, struct fsfs *fs, revnum rev)
{
    struct part *part = &run->parts[rev % run->part_count];
    buf_clear(&part->revision.warnings);
    part->run = run;
    part->writer.write = part_write;
    part->revision = (struct dump_revision){.fs = fs,
                                            .params = run->params,
                                            .out = &part->writer,
                                            .rev = rev,
                                            .warnings = part->revision.warnings};
    part->task = (struct task){.run = part_make, .arg = part};
    part->started = true;
    task_start(&part->task);
}

static struct err *tell(struct run *run, const struct part *part)
{
    const struct dump_params *params = run->params;
    run->warned_copy |= part->revision.warned_copy;
    run->warned_mergeinfo |= part->revision.warned_mergeinfo;
    if (!params->progress)
        return NULL;
    struct str line, warnings = buf_view(&part->revision.warnings);
    for (size_t pos = 0; str_line(&line, warnings, &pos);)
        TRY(params->progress(params->arg, part->revision.rev, line));
    return NULL;
}

/* Let the part's records go out, waiting for it to end. */
static struct err *part_take(struct run *run, struct part *part)
{
    pthread_mutex_lock(&run->mutex);
    run->turn = part->revision.rev;
    pthread_cond_broadcast(&run->turned);
    pthread_mutex_unlock(&run->mutex);
    struct err *err = task_wait(&part->task);
    part->started = false;
    err = err_join(err, release(part)); /* what there is before an error is of use */
    return err_join(err, tell(run, part));
}

static struct err *take_parts(struct run *run, struct fsfs *fs)
{
    const struct dump_params *params = run->params;
    for (revnum rev = params->start; rev <= params->end; rev++) {
        for (; run->next <= params->end && run->next < rev + run->part_count; run->next++)
            part_start(run, fs, run->next);
        TRY(part_take(run, &run->parts[rev % run->part_count]));
        if (params->progress)
            TRY(params->progress(params->arg, rev, S("")));
    }
    return NULL;
}

static void run_end(struct run *run)
{
    pthread_mutex_lock(&run->mutex);
    run->stopped = true;
    pthread_cond_broadcast(&run->turned);
    pthread_mutex_unlock(&run->mutex);
    for (revnum i = 0; i < run->part_count; i++) {
        struct part *part = &run->parts[i];
        if (part->started)
            err_free(task_wait(&part->task));
        buf_free(&part->held);
        buf_free(&part->revision.warnings);
    }
    free(run->parts);
    pthread_mutex_destroy(&run->mutex);
    pthread_cond_destroy(&run->turned);
}

/* ---- the stream ---- */

static struct err *tell_all(const struct run *run)
{
    const struct dump_params *params = run->params;
    if (!params->progress)
        return NULL;
    if (run->warned_copy)
        TRY(params->progress(params->arg, params->end,
                             S("0x0000: The range of revisions dumped contained references to copy "
                               "sources outside that range.")));
    if (run->warned_mergeinfo)
        TRY(params->progress(params->arg, params->end,
                             S("0x0001: The range of revisions dumped contained mergeinfo which "
                               "reference revisions outside that range.")));
    return NULL;
}

struct err *dump_write(struct writer *out, struct repo *repo, const struct dump_params *params)
{
    TRY(writer_printf(out, "SVN-fs-dump-format-version: %d\n\nUUID: %s\n\n", params->deltas ? 3 : 2,
                      repo->fs->uuid));
    struct run run = {.out = out,
                      .params = params,
                      .part_count = PARTS_PER_CPU * cpu_count(),
                      .next = params->start,
                      .turn = REV_NONE};
    if (run.part_count > PARTS_MAX)
        run.part_count = PARTS_MAX;
    run.parts = mem_zalloc((size_t)run.part_count * sizeof *run.parts);
    pthread_mutex_init(&run.mutex, NULL);
    pthread_cond_init(&run.turned, NULL);
    struct err *err = take_parts(&run, repo->fs);
    run_end(&run);
    return err ? err : tell_all(&run);
}
