/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/txn/commit.h"
#include "base/account.h"
#include "base/path.h"
#include "fsfs/check/verify_int.h"
#include "fsfs/txn/commit_write.h"
#include "fsfs/txn/locks.h"
#include "fsfs/txn/txn_merge.h"
#include <pthread.h>
#include <stdlib.h>

enum { BATCH_MAX = 64 }; /* transactions; more would make the first ones wait long for the last */

/* One committer and its transaction. */
struct member {
    struct member *next;
    struct txn *txn;
    const struct commit_options *options;
    bool done;
    struct err *err;
    revnum rev;
    char date[DATE_LONG_SIZE + 1];
    struct buf revprops;
    struct written written;
};

struct commit_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a batch is done, or nobody leads */
    struct member *first, **last;
    bool led; /* somebody is at work on a batch */
};

/* ---- one transaction ---- */

/* Properties that speak about the transaction, not about the revision. */
static const struct str txn_only_props[] = {
    {"svn:check-locks", 15},
    {"svn:check-ood", 13},
    {"svn:client-date", 15},
};

struct err *txn_check_revprop(struct str name)
{
    for (size_t i = 0; i < sizeof txn_only_props / sizeof *txn_only_props; i++)
        if (str_eq(name, txn_only_props[i]))
            return err_make(E_INCORRECT_PARAMS,
                            "Attempt to modify internal transaction property '%.*s'", STR(name));
    return NULL;
}

static struct err *make_revprops(struct buf *out, char date[DATE_LONG_SIZE + 1], struct txn *txn)
{
    struct proplist *props = &txn->revprops;
    for (size_t i = 0; i < sizeof txn_only_props / sizeof *txn_only_props; i++)
        proplist_set(props, txn_only_props[i], NULL);
    if (!txn->keep_date) {
        char now[DATE_LONG_SIZE + 1];
        date_format(now, date_now_us());
        struct str value = {now, DATE_LONG_SIZE};
        proplist_set(props, S("svn:date"), &value);
    }
    const struct str *stored = proplist_get(props, S("svn:date"));
    size_t n = stored && stored->n <= DATE_LONG_SIZE ? stored->n : 0;
    memcpy(date, stored ? stored->p : "", n);
    date[n] = '\0';
    hashdump_format(out, props->list, props->n, S("END"));
    return limit_check("The revision property list", txn->name, out->n, txn->fs->limits.list);
}

/* May the committer change every path? What a deletion or addition covers is asked once. */
static struct err *check_locks(const struct txn *txn, const struct commit_options *options)
{
    AUTO_ARENA(arena);
    size_t n;
    const struct change *list = txn_sorted_changes(&n, txn, arena);
    struct str covered = {0}, rest;
    for (size_t i = 0; i < n; i++) {
        if (covered.n && path_skip_ancestor(&rest, covered, list[i].path))
            continue;
        bool recursive = list[i].action != CHANGE_MODIFY;
        TRY(locks_allow(txn->fs, list[i].path, recursive, options->user, options->tokens,
                        options->token_count));
        if (recursive)
            covered = list[i].path;
    }
    return NULL;
}

static struct err *bring_up_to_date(struct txn *txn, revnum youngest,
                                    const struct commit_options *options)
{
    if (txn->base == youngest)
        return NULL;
    if (txn->base > youngest) /* an older copy was put back */
        return err_make(E_FS_TXN_OUT_OF_DATE,
                        "Transaction '%.*s' is based on revision %lld, which is no more",
                        STR(txn->name), (long long)txn->base);
    if (options->no_merge)
        return err_make(E_FS_TXN_OUT_OF_DATE,
                        "Transaction '%.*s' is based on revision %lld, not on %lld", STR(txn->name),
                        (long long)txn->base, (long long)youngest);
    return txn_merge(txn, youngest);
}

static struct err *prepare(struct member *m, struct head *head)
{
    struct txn *txn = m->txn;
    struct head after = *head;
    TRY(bring_up_to_date(txn, head->youngest, m->options));
    if (m->options->check_locks)
        TRY(check_locks(txn, m->options));
    TRY(make_revprops(&m->revprops, m->date, txn));
    m->rev = head->youngest + 1;
    TRY(commit_write(&m->written, txn, m->rev, &after));
    *head = after;
    return NULL;
}

/* Make M the revision after HEAD, in its draft; FS has what it stands on. HEAD moves only where all
 * went well. Whoever leads the batch, the memory is M's. */
static struct err *member_prepare(struct member *m, struct head *head, struct fsfs *fs)
{
    struct fsfs *own = m->txn->fs;
    struct account *leaders = account_enter(m->txn->account);
    m->txn->fs = fs;
    struct err *err = prepare(m, head);
    m->txn->fs = own;
    account_enter(leaders);
    return err;
}

/* M, which has made HEAD. */
static struct publication publication_of(const struct member *m, struct head head)
{
    return (struct publication){m->rev, m->txn->draft, buf_view(&m->revprops), head.next_node_id,
                                head.next_copy_id};
}

/* ---- a batch ---- */

struct batch {
    struct publication list[BATCH_MAX];
    size_t n;
    struct fsfs view; /* with those of the batch that are made */
    struct arena *arena;
};

/* Where the configuration wants it: the new revision as its bytes have it, before anything of it is
 * cached. */
static struct err *verify_before(struct fsfs *fs, revnum rev)
{
    static const struct verify_scope what_is_new;
    uint64_t changed;
    if (!fs->config.verify_before_commit)
        return NULL;
    TRY(verify_tree(&changed, fs, rev, &what_is_new));
    return verify_changes(fs, rev, changed);
}

/* Those behind the member (and verification) can read it from here on. What fails here fails the
 * whole batch: the next ones stand on it. */
static struct err *member_join(struct batch *batch, struct member *m, struct head head)
{
    struct fsfs *view = &batch->view;
    batch->list[batch->n++] = publication_of(m, head);
    fsfs_view_add(view, m->rev, m->txn->draft, batch->arena);
    TRY(verify_before(view, m->rev));
    written_to_cache(&m->written, view, m->rev);
    return NULL;
}

static struct err *batch_prepare(struct batch *batch, struct member *members, struct fsfs *fs)
{
    struct head head;
    TRY(fsfs_head(&head, fs));
    fsfs_view(&batch->view, fs);
    for (struct member *m = members; m; m = m->next) {
        if (!(m->err = member_prepare(m, &head, &batch->view)))
            TRY(member_join(batch, m, head));
    }
    return NULL;
}

/* All of the batch, under the lease. An error is that of all those behind *DURABLE who have none of
 * their own. */
static struct err *batch_commit(revnum *durable, struct member *members, struct fsfs *fs)
{
    AUTO_ARENA(arena);
    struct batch batch = {.arena = arena};
    TRY(lease_take(fs->store, LEASE_WRITE));
    struct err *err = batch_prepare(&batch, members, fs);
    if (!err && batch.n)
        err = store_publish(durable, fs->store, batch.list, batch.n);
    if (err)
        fsfs_renew_cache(fs); /* nothing of what did not come to be may be found */
    lease_drop(fs->store, LEASE_WRITE);
    return err;
}

static struct err *err_copy(const struct err *err)
{
    if (!err)
        return NULL;
    struct err *cause = err_copy(err->cause);
    return cause ? err_wrap(cause, err->code, "%s", err->text)
                 : err_make(err->code, "%s", err->text);
}

static void batch_lead(struct member *members, struct fsfs *fs)
{
    revnum durable = REV_NONE;
    struct err *err = batch_commit(&durable, members, fs);
    for (struct member *m = members; m; m = m->next) {
        if (!m->err && m->rev > durable)
            m->err = err_copy(err);
        if (!m->err)
            repcache_offer(fs->store, m->written.rows, m->written.row_count);
    }
    err_free(err);
}

/* ---- the queue ---- */

static struct commit_queue *queue_of(struct fsfs *fs)
{
    struct commit_queue *queue = __atomic_load_n(&fs->queue, __ATOMIC_ACQUIRE), *made;
    if (queue)
        return queue;
    made = mem_zalloc(sizeof *made);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    made->last = &made->first;
    if (__atomic_compare_exchange_n(&fs->queue, &queue, made, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return made;
    commit_queue_free(made); /* another thread was first */
    return queue;
}

void commit_queue_free(struct commit_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_destroy(&queue->mutex);
    pthread_cond_destroy(&queue->changed);
    free(queue);
}

/* Take up to BATCH_MAX members off the queue. */
static struct member *queue_take(struct commit_queue *queue)
{
    struct member *members = queue->first, **end = &queue->first;
    for (size_t n = 0; *end && n < BATCH_MAX; n++)
        end = &(*end)->next;
    queue->first = *end;
    if (!*end)
        queue->last = &queue->first;
    *end = NULL;
    return members;
}

/* Wait until M is committed; lead batches while nobody else does. */
static void queue_run(struct commit_queue *queue, struct member *m, struct fsfs *fs)
{
    pthread_mutex_lock(&queue->mutex);
    *queue->last = m;
    queue->last = &m->next;
    while (!m->done) {
        if (queue->led) {
            pthread_cond_wait(&queue->changed, &queue->mutex);
            continue;
        }
        queue->led = true;
        struct member *members = queue_take(queue);
        pthread_mutex_unlock(&queue->mutex);
        batch_lead(members, fs);
        pthread_mutex_lock(&queue->mutex);
        queue->led = false;
        for (struct member *next; members; members = next) {
            next = members->next; /* its thread may go as soon as the mutex is free */
            members->done = true;
        }
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
}

struct err *txn_commit(revnum *rev, char date[DATE_LONG_SIZE + 1], struct txn *txn,
                       const struct commit_options *options)
{
    struct fsfs *fs = txn->fs;
    struct member m = {.txn = txn, .options = options};
    m.err = txn_settle(txn);
    if (!m.err)
        queue_run(queue_of(fs), &m, fs);
    if (!m.err) {
        *rev = m.rev;
        txn->loaded = false; /* what there is of it on disk goes with it */
        if (date)
            memcpy(date, m.date, sizeof m.date);
    }
    buf_free(&m.revprops);
    written_free(&m.written);
    txn_abort(txn);
    return m.err;
}

/* ---- loads ---- */

struct load_commits {
    struct fsfs *fs;
    struct head head; /* the last revision staged */
    revnum durable;
};

struct err *load_commits_begin(struct load_commits **out, struct fsfs *fs)
{
    struct head head;
    TRY(lease_take(fs->store, LEASE_WRITE));
    struct err *err = fsfs_head(&head, fs);
    if (err) {
        lease_drop(fs->store, LEASE_WRITE);
        return err;
    }
    struct load_commits *lc = mem_zalloc(sizeof *lc);
    *lc = (struct load_commits){.fs = fs, .head = head, .durable = head.youngest};
    *out = lc;
    return NULL;
}

/* What is staged gets published: what does not verify is refused before. */
static struct err *verify_before_stage(struct fsfs *fs, const struct member *m)
{
    AUTO_ARENA(arena);
    struct fsfs view;
    if (!fs->config.verify_before_commit)
        return NULL;
    fsfs_view(&view, fs);
    fsfs_view_add(&view, m->rev, m->txn->draft, arena);
    struct err *err = verify_before(&view, m->rev);
    if (err)
        fsfs_renew_cache(fs);
    return err;
}

static struct err *load_add(struct member *m, struct load_commits *lc)
{
    struct fsfs *fs = lc->fs;
    struct head head = lc->head;
    TRY(txn_settle(m->txn));
    TRY(member_prepare(m, &head, fs));
    TRY(verify_before_stage(fs, m));
    struct publication publication = publication_of(m, head);
    TRY(store_stage(fs->store, &publication));
    lc->head = head;
    written_to_cache(&m->written, fs, m->rev);
    repcache_hold(fs->store, m->written.rows, m->written.row_count);
    return NULL;
}

struct err *load_commits_add(revnum *rev, struct load_commits *lc, struct txn *txn)
{
    static const struct commit_options plain;
    struct member m = {.txn = txn, .options = &plain};
    struct err *err = load_add(&m, lc);
    if (!err)
        *rev = m.rev;
    buf_free(&m.revprops);
    written_free(&m.written);
    txn_abort(txn);
    return err;
}

struct err *load_commits_flush(revnum *durable, struct load_commits *lc)
{
    struct fsfs *fs = lc->fs;
    struct err *err = store_publish_staged(&lc->durable, fs->store);
    *durable = lc->durable;
    if (!err) {
        repcache_release(fs->store);
        return NULL;
    }
    repcache_forget(fs->store);
    fsfs_renew_cache(fs); /* nothing of what did not come to be may be found */
    return err;
}

struct err *load_commits_end(revnum *durable, struct load_commits *lc)
{
    struct err *err = load_commits_flush(durable, lc);
    lease_drop(lc->fs->store, LEASE_WRITE);
    free(lc);
    return err;
}
