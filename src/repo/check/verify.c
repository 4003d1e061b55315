/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/check/verify.h"
#include "base/buf.h"
#include "base/thread.h"
#include "base/vec.h"
#include "fsfs/check/verify.h"
#include "fsfs/txn/txn_verify.h"
#include "repo/check/verify_names.h"
#include <stdlib.h>

enum {
    CHUNK_REVISIONS = 32,
    /* How often svnadmin tells of its way through the rep-cache: rows, or changes from one file to
       another. */
    ROWS_A_LINE = 1000,
    FILES_A_LINE = 16,
};

struct bad {
    revnum rev;
    struct err *err;
};
struct bad_list {
    struct bad *list;
    size_t n, cap;
};

/* Revisions that one task checks. Tasks at work at the same time have neighbouring chunks: what one
 * has expanded is at hand for the others. */
struct chunk {
    struct task task;
    struct run *run;
    revnum first, last;
    bool pack;                       /* nothing but the pack that holds FIRST */
    bool bodies, dates, rows, trees; /* what is asked for */
    struct verify_scope scope;
    /* what was found */
    revnum body_first; /* of the body looked at last */
    struct err *body_err, *row_err;
    struct bad_list bad;
};

struct run {
    struct fsfs *fs;
    const struct verify_params *params;
    VEC(struct repcache_row) rows; /* those of START to END, in order */
    revnum youngest, unpacked_from;
    bool has_repcache;
    struct buf row_lines; /* revnums: where svnadmin tells of a row, in the table's order */
    revnum row_body;      /* the file of the row added last, by its first revision */
    size_t rows_since, files_since;
    bool row_behind; /* a row names a revision that does not exist: no need to go on */
    /* chunks at work: a ring */
    struct chunk *ring;
    size_t ring_size, ring_first, ring_n;
    revnum next;          /* what the next chunk begins with */
    revnum pack_asked_to; /* packs up to this revision have had their chunk */
    /* found so far */
    bool metadata_failed, thorough, trees_stopped;
    struct err *row_err;
    struct bad_list bad;
    size_t bad_told, bad_revisions;
};

/* ---- lists ---- */

static bool is_packed(const struct run *run, revnum rev)
{
    return rev < run->unpacked_from;
}

static revnum shard_last(const struct run *run, revnum rev)
{
    return (rev / run->fs->shard_size + 1) * run->fs->shard_size - 1;
}

static void bad_add(struct bad_list *bad, revnum rev, struct err *err)
{
    *VEC_ADD(bad) = (struct bad){rev, err};
}

static void bad_free(struct bad_list *bad)
{
    for (size_t i = 0; i < bad->n; i++)
        err_free(bad->list[i].err);
    free(bad->list);
    *bad = (struct bad_list){0};
}

/* Note whether a line belongs before a row of REV. */
static void row_line(struct run *run, revnum rev)
{
    if (run->rows_since > ROWS_A_LINE || run->files_since > FILES_A_LINE) {
        buf_add(&run->row_lines, &rev, sizeof rev);
        run->rows_since = run->files_since = 0;
        run->row_body = REV_NONE;
    }
    /* It keeps a pack open, and a file whose index it has read. */
    const bool packed = is_packed(run, rev);
    const revnum body = packed ? shard_last(run, rev) : rev;
    run->files_since += body != run->row_body || !(packed || run->fs->logical);
    run->rows_since++;
    run->row_body = body;
}

static struct err *row_add(void *arg, const struct repcache_row *row)
{
    struct run *run = arg;
    const struct verify_params *params = run->params;
    const bool behind = row->rev > run->youngest && params->end == run->youngest;
    if (!behind && (row->rev < params->start || row->rev > params->end))
        return NULL;
    row_line(run, row->rev);
    *VEC_ADD(&run->rows) = *row;
    return NULL;
}

static int by_place(const void *a, const void *b)
{
    const struct repcache_row *x = a, *y = b;
    if (x->rev != y->rev)
        return x->rev < y->rev ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static void rows_load(struct run *run)
{
    run->has_repcache = repcache_exists(run->fs->store);
    if (!run->has_repcache)
        return;
    run->row_err = repcache_each(run->fs->store, row_add, run);
    if (run->rows.n)
        qsort(run->rows.list, run->rows.n, sizeof *run->rows.list, by_place);
    const struct repcache_row *last = run->rows.n ? &run->rows.list[run->rows.n - 1] : NULL;
    run->row_behind = last && last->rev > run->youngest;
    if (!run->row_err && run->row_behind)
        run->row_err = verify_row(run->fs, last, false);
}

/* The first row of REV or later. */
static size_t row_find(const struct run *run, revnum rev)
{
    size_t low = 0, high = run->rows.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (run->rows.list[middle].rev < rev)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- a chunk ---- */

static void chunk_body(struct chunk *chunk, revnum rev, revnum *done_to)
{
    revnum last;
    if (!chunk->bodies || chunk->body_err || rev <= *done_to)
        return;
    chunk->body_err = verify_body(&chunk->body_first, &last, chunk->run->fs, rev);
    *done_to = last;
}

static void chunk_date(struct chunk *chunk, revnum rev, struct revprop_view *view)
{
    if (!chunk->dates || chunk->body_err)
        return;
    chunk->body_err = verify_date(chunk->run->fs, rev, view);
    chunk->body_first = rev;
}

/* Whether REV was looked at and is well. */
static bool chunk_tree(struct chunk *chunk, revnum rev, struct revprop_view *view)
{
    if (!chunk->trees || (chunk->bad.n && !chunk->run->params->keep_going))
        return false;
    struct err *err = verify_revision(chunk->run->fs, rev, &chunk->scope, view);
    if (!err)
        return true;
    bad_add(&chunk->bad, rev, err);
    chunk->scope.thorough = true;
    return false;
}

/* DEEP: the texts too, of a revision that is well: one that is not is no fault of the rep-cache. */
static void chunk_rows(struct chunk *chunk, revnum rev, bool deep)
{
    const struct run *run = chunk->run;
    if (!chunk->rows || chunk->row_err)
        return;
    for (size_t i = row_find(run, rev); i < run->rows.n && run->rows.list[i].rev == rev; i++) {
        chunk->row_err = verify_row(run->fs, &run->rows.list[i], deep);
        if (chunk->row_err)
            return;
    }
}

static struct err *chunk_run(void *arg)
{
    struct chunk *chunk = arg;
    AUTO_ARENA(arena);
    struct revprop_view *view = revprop_view_new(chunk->run->fs, arena);
    revnum done_to = REV_NONE;
    if (chunk->pack) {
        chunk_body(chunk, chunk->first, &done_to);
        return NULL;
    }
    for (revnum rev = chunk->first; rev <= chunk->last; rev++) {
        chunk_body(chunk, rev, &done_to);
        chunk_date(chunk, rev, view);
        const bool well = chunk_tree(chunk, rev, view);
        chunk_rows(chunk, rev, well);
    }
    return NULL;
}

/* ---- making chunks ---- */

/* The next chunk, or a pack's before the chunks of its revisions. False at the end. */
static bool chunk_make(struct chunk *out, struct run *run)
{
    const struct verify_params *params = run->params;
    if (run->next > params->end)
        return false;
    const bool indexes = run->fs->logical && !run->metadata_failed;
    *out = (struct chunk){
        .run = run,
        .first = run->next,
        .bodies = indexes,
        .dates = indexes,
        .rows = run->rows.n && !run->metadata_failed,
        .trees = !params->metadata_only && !run->trees_stopped,
        .scope = {.start = params->start, .thorough = run->thorough},
        .body_first = run->next,
    };
    out->task = (struct task){.run = chunk_run};
    out->last = run->next + CHUNK_REVISIONS - 1;
    if (out->last > params->end)
        out->last = params->end;
    if (is_packed(run, run->next)) {
        if (out->last > shard_last(run, run->next))
            out->last = shard_last(run, run->next);
        out->bodies = false;
        if (indexes && run->next > run->pack_asked_to) {
            out->pack = out->bodies = true;
            out->dates = false;
            run->pack_asked_to = shard_last(run, run->next);
            return true;
        }
    }
    run->next = out->last + 1;
    return true;
}

static void ring_fill(struct run *run)
{
    while (run->ring_n < run->ring_size) {
        struct chunk *chunk = &run->ring[(run->ring_first + run->ring_n) % run->ring_size];
        if (!chunk_make(chunk, run))
            return;
        chunk->task.arg = chunk;
        task_start(&chunk->task);
        run->ring_n++;
    }
}

static void chunk_free(struct chunk *chunk)
{
    err_free(chunk->body_err);
    err_free(chunk->row_err);
    bad_free(&chunk->bad);
}

static void ring_drop(struct run *run)
{
    for (; run->ring_n; run->ring_n--) {
        struct chunk *chunk = &run->ring[run->ring_first++ % run->ring_size];
        err_free(task_wait(&chunk->task));
        chunk_free(chunk);
    }
    free(run->ring);
}

/* ---- telling ---- */

static struct err *tell(const struct run *run, enum verify_event event, revnum rev,
                        const struct err *err)
{
    const struct verify_notice notice = {event, rev, err};
    return run->params->notify(run->params->arg, &notice);
}

static struct err *tell_row_lines(const struct run *run)
{
    const revnum *revs = (const revnum *)run->row_lines.p;
    for (size_t i = 0; i < run->row_lines.n / sizeof *revs; i++)
        TRY(tell(run, VERIFY_METADATA_REV, revs[i], NULL));
    return NULL;
}

/* The metadata is not well; ERR is ours. */
static struct err *tell_metadata_error(struct run *run, struct err *err)
{
    run->metadata_failed = true;
    run->bad_revisions++;
    struct err *refused = tell(run, VERIFY_REV_ERROR, REV_NONE, err);
    if (!run->params->keep_going)
        return err_join(err, refused);
    err_free(err);
    return refused;
}

/* What was found in REV, the next one to be told of; the caller's. */
static struct err *revision_result(struct run *run, revnum rev)
{
    struct bad *bad = run->bad_told < run->bad.n ? &run->bad.list[run->bad_told] : NULL;
    struct err *err = NULL;
    if (bad && bad->rev == rev) {
        run->bad_told++;
        err = bad->err;
        bad->err = NULL;
    } else if (run->params->check_normalization) {
        err = verify_names(run->fs, rev, run->params);
    }
    return err;
}

/* The results of revisions FIRST to LAST. */
static struct err *tell_revisions(struct run *run, revnum first, revnum last)
{
    for (revnum rev = first; rev <= last && !run->params->metadata_only; rev++) {
        struct err *err = revision_result(run, rev);
        if (!err) {
            TRY(tell(run, VERIFY_REV, rev, NULL));
            continue;
        }
        run->bad_revisions++;
        struct err *refused = tell(run, VERIFY_REV_ERROR, rev, err);
        if (!run->params->keep_going)
            return err_join(err, refused);
        err_free(err);
        TRY(refused);
    }
    return NULL;
}

/* ---- collecting ---- */

/* The indexes are told of where a shard or a pack begins. */
static struct err *collect_bodies(struct run *run, struct chunk *chunk)
{
    if (run->metadata_failed)
        return NULL;
    const revnum last = chunk->body_err || chunk->pack ? chunk->body_first : chunk->last;
    for (revnum rev = chunk->pack ? chunk->body_first : chunk->first; chunk->bodies && rev <= last;
         rev++)
        if (chunk->pack || rev % run->fs->shard_size == 0)
            TRY(tell(run, VERIFY_METADATA_REV, rev, NULL));
    struct err *err = chunk->body_err;
    chunk->body_err = NULL;
    return err ? tell_metadata_error(run, err) : NULL;
}

/* Where damage was found before, later revisions are looked at without trust in earlier ones:
 * whichever chunk was first. */
static void collect_trees(struct run *run, struct chunk *chunk)
{
    if (run->thorough && chunk->trees && !chunk->scope.thorough) {
        bad_free(&chunk->bad);
        chunk->bodies = chunk->dates = chunk->rows = false;
        chunk->scope.thorough = true;
        err_free(chunk_run(chunk));
    }
    for (size_t i = 0; i < chunk->bad.n; i++) {
        bad_add(&run->bad, chunk->bad.list[i].rev, chunk->bad.list[i].err);
        chunk->bad.list[i].err = NULL;
        run->thorough = true;
        run->trees_stopped = !run->params->keep_going;
    }
}

static struct err *collect(struct run *run, struct chunk *chunk)
{
    TRY(collect_bodies(run, chunk));
    if (chunk->pack)
        return NULL;
    if (!run->row_err) {
        run->row_err = chunk->row_err;
        chunk->row_err = NULL;
    }
    collect_trees(run, chunk);
    if (!run->fs->logical && !run->has_repcache)
        TRY(tell_revisions(run, chunk->first, chunk->last));
    return tell(run, VERIFY_PROGRESS, chunk->last, NULL);
}

static struct err *run_chunks(struct run *run)
{
    for (ring_fill(run); run->ring_n; ring_fill(run)) {
        struct chunk *chunk = &run->ring[run->ring_first];
        struct err *err = task_wait(&chunk->task);
        run->ring_first = (run->ring_first + 1) % run->ring_size;
        run->ring_n--;
        if (!err)
            err = collect(run, chunk);
        chunk_free(chunk);
        TRY(err);
    }
    return NULL;
}

static struct err *run_all(struct run *run)
{
    const bool has_metadata = run->fs->logical || run->has_repcache;
    TRY(run_chunks(run));
    if (run->has_repcache && !run->metadata_failed) {
        TRY(tell(run, VERIFY_METADATA_DONE, REV_NONE, NULL));
        struct err *err = run->row_err;
        run->row_err = NULL;
        if (!run->row_behind)
            TRY(tell_row_lines(run));
        if (err)
            TRY(tell_metadata_error(run, err));
    }
    return has_metadata ? tell_revisions(run, run->params->start, run->params->end) : NULL;
}

static struct err *range_check(struct run *run)
{
    const struct verify_params *params = run->params;
    TRY(fsfs_youngest(&run->youngest, run->fs));
    if (params->start > params->end)
        return err_make(E_REPOS_BAD_ARGS, "Start revision %lld is greater than end revision %lld",
                        (long long)params->start, (long long)params->end);
    if (params->end > run->youngest)
        return err_make(E_REPOS_BAD_ARGS,
                        "End revision %lld is invalid (youngest revision is %lld)",
                        (long long)params->end, (long long)run->youngest);
    return fsfs_min_unpacked(&run->unpacked_from, run->fs);
}

struct err *repo_verify(struct repo *repo, const struct verify_params *params,
                        size_t *bad_revisions)
{
    struct run run = {
        .fs = repo->fs,
        .params = params,
        .next = params->start,
        .pack_asked_to = REV_NONE,
        .row_body = REV_NONE,
    };
    *bad_revisions = 0;
    if (params->txn)
        return txn_verify(repo->fs, str_of(params->txn));
    TRY(range_check(&run));
    rows_load(&run);
    run.ring_size = 2 * (size_t)cpu_count() + 2;
    run.ring = mem_zalloc(run.ring_size * sizeof *run.ring);
    struct err *err = run_all(&run);
    ring_drop(&run);
    *bad_revisions = run.bad_revisions;
    err_free(run.row_err);
    bad_free(&run.bad);
    buf_free(&run.row_lines);
    free(run.rows.list);
    return err;
}
