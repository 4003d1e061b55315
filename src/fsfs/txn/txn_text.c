/* SPDX-License-Identifier: Apache-2.0 */
/* File texts on their way into a transaction.
 *
 *   bytes --> held in memory --(end)--> job: digests, sharing, delta --> collected, in order -->
 * draft
 *         \-> more than HELD_MAX: stream: digests and delta as they come -------------------->
 * draft
 *
 * Jobs of some size run on worker threads while the next text arrives; small ones at once. One text
 * may stream into the revision's draft at a time (txn->owner); what ends meanwhile goes to drafts
 * aside and is moved behind it. */
#include "base/account.h"
#include "base/thread.h"
#include "delta/encode.h"
#include "fsfs/txn/delta_base.h"
#include "fsfs/txn/text_share.h"
#include "fsfs/txn/txn_int.h"
#include <stdlib.h>

enum {
    HELD_MAX = TEXT_WHOLE_MAX,  /* bytes of one text that is kept whole */
    JOB_INLINE_MAX = 64 * 1024, /* bytes: little more work than waking a thread */
    JOBS_BYTES_MAX = 64 << 20,  /* bytes of texts that wait for their jobs */
    STREAM_PIECE = 256 * 1024,  /* bytes of a large text that are worked on at once */
    KEPT_MAX = 2 << 20,         /* bytes of all texts that a transaction keeps for the cache */
};

struct text_job {
    struct task task;
    bool started;
    struct text_job *next;
    struct txn *txn;
    struct txn_node *node;
    struct content *content;
    struct noderev seed; /* what the choice of the base needs to know of the node */
    struct str path;
    struct buf text;
    bool has_md5, has_sha1; /* what the result must be */
    uint8_t md5[MD5_SIZE], sha1[SHA1_SIZE];
    bool shared;
    struct buf item;
};

/* A large text. */
struct text_stream {
    struct draft *draft;
    bool draft_is_own; /* moved into the revision's draft in the end */
    uint64_t start;
    struct delta_encoder *encoder;
    struct digest *digest;
    struct fnv1a_32x4 checksum;
    struct content *content;
    struct buf piece, out;
};

struct txn_text {
    struct txn_text *next, **link; /* in txn->texts */
    struct txn *txn;
    struct txn_node *node;
    struct str path;
    struct buf held;
    uint64_t expanded;
    struct text_stream *stream;
    /* where it comes as a delta */
    struct svndiff_decoder *decoder;
    struct reader *source; /* the present text */
    size_t source_bytes;   /* that it holds, charged */
    uint64_t source_at;    /* what SOURCE gives next */
    struct buf view;       /* the last bytes that SOURCE gave: those before source_at */
    struct buf target;
};

/* ---- stored texts, reread ---- */

struct draft_reader {
    struct reader reader;
    struct draft *draft;
    uint64_t at, end;
};

static struct err *draft_reader_read(struct reader *self, void *to, size_t n, size_t *got)
{
    struct draft_reader *r = (struct draft_reader *)self;
    *got = n < r->end - r->at ? n : (size_t)(r->end - r->at);
    if (*got)
        TRY(draft_reread(r->draft, r->at, to, *got));
    r->at += *got;
    return NULL;
}

static void draft_reader_close(struct reader *self)
{
    free(self);
}

struct err *content_open(struct reader **out, struct txn *txn, const struct content *content)
{
    if (!content->draft)
        return rep_open(out, txn->fs, &content->rep);
    struct reader *source = NULL;
    if (content->has_base)
        TRY(rep_open(&source, txn->fs, &content->base));
    struct draft_reader *r = mem_alloc(sizeof *r);
    uint64_t start = content->offset + content->header;
    *r = (struct draft_reader){
        {draft_reader_read, draft_reader_close}, content->draft, start, start + content->rep.size};
    *out = svndiff_reader(&r->reader, source, content->rep.expanded);
    return NULL;
}

void txn_text_fill(struct txn_node *node)
{
    struct rep *text = &node->nr.text;
    struct rep filled = node->content->rep;
    filled.has_uniq = text->has_uniq;
    filled.uniq_txn = text->uniq_txn;
    filled.uniq_num = text->uniq_num;
    *text = filled;
}

/* ---- places ---- */

void txn_list_add(struct txn *txn, struct content_list *list, struct content *content)
{
    if (list->n == list->cap)
        list->list = account_grow(txn->account, list->list, &list->cap, sizeof *list->list);
    list->list[list->n++] = content;
}

static void list_free(struct txn *txn, struct content_list *list)
{
    account_release(txn->account, list->list, list->cap, sizeof *list->list);
}

static struct err *main_draft(struct txn *txn)
{
    return txn->draft ? NULL : draft_begin(&txn->draft, txn->fs->store, txn->name);
}

/* CONTENT lies in the revision's draft now, behind all others: number it. */
static void stored_add(struct txn *txn, struct content *content)
{
    content->rep.item = txn->fs->logical ? txn->next_item++ : content->offset;
    txn_list_add(txn, &txn->stored, content);
}

/* Put the finished item of CONTENT where there is room for it now. */
static struct err *place_item(struct txn *txn, struct content *content, struct str item)
{
    TRY(main_draft(txn));
    if (txn->owner && !txn->side)
        TRY(draft_begin(&txn->side, txn->fs->store, txn->name));
    struct draft *draft = txn->owner ? txn->side : txn->draft;
    content->draft = draft;
    content->offset = draft_size(draft);
    content->length = item.n;
    content->checksum = fnv1a_32x4(item);
    TRY(draft_append(draft, item));
    if (txn->owner)
        txn_list_add(txn, &txn->aside, content);
    else
        stored_add(txn, content);
    return NULL;
}

/* Move an item from aside into the revision's draft. */
static struct err *bring_in(struct txn *txn, struct content *content)
{
    char *piece = mem_alloc(STREAM_PIECE);
    uint64_t to = draft_size(txn->draft);
    struct err *err = NULL;
    for (uint64_t at = 0; at < content->length && !err;) {
        uint64_t left = content->length - at;
        size_t n = left < STREAM_PIECE ? (size_t)left : STREAM_PIECE;
        err = draft_reread(content->draft, content->offset + at, piece, n);
        if (!err)
            err = draft_append(txn->draft, str_make(piece, n));
        at += n;
    }
    free(piece);
    TRY(err);
    if (content->draft != txn->side)
        draft_drop(content->draft);
    content->draft = txn->draft;
    content->offset = to;
    stored_add(txn, content);
    return NULL;
}

struct err *txn_settle(struct txn *txn)
{
    while (txn->texts)
        txn_text_abandon(txn->texts);
    TRY(txn_collect(txn));
    TRY(main_draft(txn));
    for (size_t i = 0; i < txn->aside.n; i++) {
        struct err *err = bring_in(txn, txn->aside.list[i]);
        if (err) { /* keep what is left, to be freed */
            memmove(txn->aside.list, txn->aside.list + i,
                    (txn->aside.n - i) * sizeof *txn->aside.list);
            txn->aside.n -= i;
            return err;
        }
    }
    txn->aside.n = 0;
    draft_drop(txn->side);
    txn->side = NULL;
    return NULL;
}

/* ---- jobs ---- */

static struct err *check_result(struct text_job *job, const struct rep *rep)
{
    if (job->has_md5 && memcmp(job->md5, rep->md5, MD5_SIZE) != 0)
        return checksum_mismatch(job->md5, rep->md5, MD5_SIZE, "Checksum mismatch for '%.*s'",
                                 STR(job->path));
    if (job->has_sha1 && memcmp(job->sha1, rep->sha1, SHA1_SIZE) != 0)
        return checksum_mismatch(job->sha1, rep->sha1, SHA1_SIZE, "Checksum mismatch for '%.*s'",
                                 STR(job->path));
    return NULL;
}

static struct err *job_work(struct text_job *job)
{
    struct fsfs *fs = job->txn->fs;
    struct content *content = job->content;
    struct str text = buf_view(&job->text);
    struct rep rep = {
        .rev = REV_NONE, .expanded = text.n, .has_sha1 = true, .uniq_txn.base = REV_NONE};
    md5_of(rep.md5, text);
    sha1_of(rep.sha1, text);
    TRY(check_result(job, &rep));
    struct rep stored;
    TRY(share_find(&stored, &job->shared, fs, job->path, rep.md5, rep.sha1, text));
    if (job->shared) {
        content->rep = stored;
        return NULL;
    }
    AUTO_ARENA(arena);
    TRY(base_choose(&content->base, &content->has_base, fs, &job->seed, false, job->txn->base,
                    arena));
    TRY(rep_item_delta(&job->item, &rep, &content->header, fs,
                       content->has_base ? &content->base : NULL, text));
    content->rep = rep;
    return NULL;
}

/* The part that needs no order: any thread. */
static struct err *job_run(void *arg)
{
    struct text_job *job = arg;
    struct account *before = account_enter(job->txn->account);
    struct err *err = job_work(job);
    account_enter(before);
    return err;
}

static void job_free(struct text_job *job)
{
    buf_free(&job->text);
    buf_free(&job->item);
    account_credit(job->txn->account, sizeof *job);
    free(job);
}

/* Is OTHER, of this transaction and with the SHA-1 of CONTENT, the same text? Then *OUT is it, else
 * NULL or an error. OURS reads CONTENT, which is PATH's, and is closed. */
static struct err *twin_check(struct content **out, struct txn *txn, struct content *other,
                              const struct content *content, struct str path, struct reader *ours)
{
    bool equal = rep_same_text(&other->rep, &content->rep);
    struct reader *theirs;
    struct err *err = equal ? content_open(&theirs, txn, other) : NULL;
    if (!equal || err)
        reader_close(ours);
    else
        err = readers_equal(&equal, theirs, ours);
    *out = equal ? other : NULL;
    return err || equal ? err : share_collision(txn->fs, path, content->rep.sha1, REV_NONE);
}

static struct content *remembered(const struct txn *txn, const struct content *content)
{
    return map_get(txn->by_sha1, str_make((const char *)content->rep.sha1, SHA1_SIZE));
}

static void remember(struct txn *txn, struct content *content)
{
    if (txn->fs->config.rep_sharing)
        map_put(txn->by_sha1, str_make((const char *)content->rep.sha1, SHA1_SIZE), content);
}

/* NODE's text is CONTENT, unless yet another one came since EXPECTED was its. */
static void node_set_content(struct txn_node *node, const struct content *expected,
                             struct content *content)
{
    if (node->content != expected)
        return;
    node->content = content;
    txn_text_fill(node);
}

/* While the transaction is small: a commit of many files is not followed by changes to all of them.
 */
static void keep_for_cache(struct txn *txn, struct content *content, struct str text)
{
    if (txn->kept_bytes + text.n > KEPT_MAX)
        return;
    txn->kept_bytes += text.n;
    content->text = arena_keep(txn->arena, &blob_copy(text)->shared);
}

static struct err *job_store(struct text_job *job)
{
    struct txn *txn = job->txn;
    struct content *content = job->content, *twin = NULL;
    struct content *other = job->shared ? NULL : remembered(txn, content);
    if (other)
        TRY(twin_check(&twin, txn, other, content, job->path, reader_of_str(buf_view(&job->text))));
    if (!twin && !job->shared) {
        TRY(place_item(txn, content, buf_view(&job->item)));
        remember(txn, content);
        keep_for_cache(txn, content, buf_view(&job->text));
    }
    node_set_content(job->node, content, twin ? twin : content);
    return NULL;
}

/* Take the oldest job to its end. */
static struct err *collect_first(struct txn *txn)
{
    struct text_job *job = txn->jobs;
    struct err *err = job->started ? task_wait(&job->task) : job_run(job);
    txn->jobs = job->next;
    if (!txn->jobs)
        txn->jobs_end = &txn->jobs;
    txn->jobs_bytes -= job->text.n;
    if (!err)
        err = job_store(job);
    txn->broken |= err != NULL;
    job->content->job = NULL;
    job_free(job);
    return err;
}

/* Those at the head of the queue that need not be waited for, and more where too much is held. */
static struct err *collect_ready(struct txn *txn)
{
    while (txn->jobs &&
           (txn->jobs_bytes > JOBS_BYTES_MAX || !txn->jobs->started || task_done(&txn->jobs->task)))
        TRY(collect_first(txn));
    return NULL;
}

struct err *txn_collect(struct txn *txn)
{
    while (txn->jobs)
        TRY(collect_first(txn));
    if (txn->broken) /* whoever was told of it before should not have gone on */
        return err_make(E_FS_GENERAL, "A text of transaction '%.*s' could not be stored",
                        STR(txn->name));
    return NULL;
}

struct err *txn_collect_node(struct txn *txn, const struct txn_node *node)
{
    while (node->content && node->content->job)
        TRY(collect_first(txn));
    return NULL;
}

/* ---- beginning ---- */

/* Is the present text of NODE what the sender thinks? Where there is none, anything is right. */
static struct err *check_base(struct txn *txn, const struct txn_step *step, struct str path,
                              const uint8_t *base_md5)
{
    uint8_t now[MD5_SIZE];
    if (!base_md5 || !step->nr->has_text)
        return NULL;
    if (step->node)
        TRY(txn_collect_node(txn, step->node));
    noderev_md5(now, step->nr);
    if (memcmp(now, base_md5, MD5_SIZE) == 0 || digest_is_unknown(now, MD5_SIZE))
        return NULL;
    return checksum_mismatch(base_md5, now, MD5_SIZE, "Base checksum mismatch on '%.*s'",
                             STR(path));
}

static void record_text_change(struct txn *txn, struct str path, const struct txn_node *node)
{
    struct change change = {
        .path = path,
        .id = node->nr.id,
        .action = CHANGE_MODIFY,
        .kind = NODE_FILE,
        .text_changed = true,
        .mergeinfo_changed = TRI_FALSE,
        .copyfrom_rev = REV_NONE,
    };
    txn_record_change(txn, &change);
}

struct err *txn_text_begin(struct txn_text **out, struct txn *txn, struct str path,
                           const uint8_t *base_md5)
{
    arena_rewind(txn->scratch, txn->scratch_start);
    struct txn_way *way;
    TRY(way_open(&way, txn, path, false));
    const struct txn_step *last = way_last(way);
    if (last->nr->kind != NODE_FILE)
        return err_make(E_FS_NOT_FILE, "Attempted to get textual contents of a *non*-file node");
    TRY(check_base(txn, last, path, base_md5));
    TRY(way_make_mutable(txn, way, way->n));
    struct txn_node *node = last->node;
    record_text_change(txn, path, node);
    struct txn_text *text = mem_zalloc(sizeof *text);
    text->txn = txn;
    text->node = node;
    text->path = arena_str(txn->arena, path);
    text->next = txn->texts;
    text->link = &txn->texts;
    if (text->next)
        text->next->link = &text->next;
    txn->texts = text;
    *out = text;
    return NULL;
}

/* ---- large texts ---- */

static struct err *stream_draft(struct text_stream *stream, struct txn_text *text)
{
    struct txn *txn = text->txn;
    if (txn->owner) {
        stream->draft_is_own = true;
        return draft_begin(&stream->draft, txn->fs->store, txn->name);
    }
    TRY(main_draft(txn));
    stream->draft = txn->draft;
    txn->owner = text;
    return NULL;
}

static struct err *stream_begin(struct txn_text *text)
{
    struct txn *txn = text->txn;
    struct fsfs *fs = txn->fs;
    TRY(txn_collect(txn)); /* keep the order of arrival */
    struct text_stream *stream = text->stream = mem_zalloc(sizeof *stream);
    struct content *content = stream->content = ARENA_NEW(txn->arena, struct content);
    TRY(stream_draft(stream, text));
    stream->start = draft_size(stream->draft);
    stream->digest = digest_new(DIGEST_MD5 | DIGEST_SHA1);
    fnv1a_32x4_init(&stream->checksum);
    AUTO_ARENA(arena);
    TRY(base_choose(&content->base, &content->has_base, fs, &text->node->nr, false, txn->base,
                    arena));
    struct reader *source = NULL;
    if (content->has_base)
        TRY(rep_open(&source, fs, &content->base));
    struct svndiff_params params = base_svndiff(fs);
    stream->encoder = delta_encoder_new(source, &params);
    content->header = rep_header_append(&stream->out, content->has_base ? &content->base : NULL);
    return NULL;
}

static struct err *stream_flush(struct text_stream *stream)
{
    struct str out = buf_view(&stream->out);
    fnv1a_32x4_add(&stream->checksum, out);
    TRY(draft_append(stream->draft, out));
    buf_clear(&stream->out);
    return NULL;
}

struct digest_work {
    struct digest *digest;
    struct str bytes;
};

static struct err *digest_run(void *arg)
{
    struct digest_work *work = arg;
    digest_add(work->digest, work->bytes);
    return NULL;
}

/* Digest the piece on another core while it is searched and compressed here. */
static struct err *stream_piece(struct text_stream *stream, struct str bytes)
{
    struct digest_work work = {stream->digest, bytes};
    struct task task = {.run = digest_run, .arg = &work};
    task_start(&task);
    struct err *err = delta_encoder_add(&stream->out, stream->encoder, bytes);
    if (!err)
        err = stream_flush(stream);
    return err_join(err, task_wait(&task));
}

static struct err *stream_add(struct text_stream *stream, struct str bytes)
{
    while (bytes.n) {
        if (stream->piece.n == 0 && bytes.n >= STREAM_PIECE) {
            TRY(stream_piece(stream, str_make(bytes.p, STREAM_PIECE)));
            bytes = str_skip(bytes, STREAM_PIECE);
            continue;
        }
        size_t room = STREAM_PIECE - stream->piece.n, n = bytes.n < room ? bytes.n : room;
        buf_add(&stream->piece, bytes.p, n);
        bytes = str_skip(bytes, n);
        if (stream->piece.n == STREAM_PIECE) {
            TRY(stream_piece(stream, buf_view(&stream->piece)));
            buf_clear(&stream->piece);
        }
    }
    return NULL;
}

static void stream_free(struct txn_text *text)
{
    struct text_stream *stream = text->stream;
    if (!stream)
        return;
    delta_encoder_free(stream->encoder);
    digest_free(stream->digest);
    buf_free(&stream->piece);
    buf_free(&stream->out);
    if (text->txn->owner == text)
        text->txn->owner = NULL;
    free(stream);
    text->stream = NULL;
}

/* What the stream put into its draft is not wanted. */
static struct err *stream_undo(struct txn_text *text)
{
    struct text_stream *stream = text->stream;
    if (!stream->draft)
        return NULL;
    if (!stream->draft_is_own)
        return draft_truncate(stream->draft, stream->start);
    draft_drop(stream->draft);
    stream->draft = NULL;
    return NULL;
}

struct stream_text {
    struct txn *txn;
    const struct content *content;
};

static struct err *stream_reopen(struct reader **out, void *arg)
{
    const struct stream_text *which = arg;
    return content_open(out, which->txn, which->content);
}

/* Where the text of a stream that has ended is stored already. */
static struct err *stream_share(struct content **twin, struct rep *stored, bool *shared,
                                const struct txn_text *text)
{
    struct txn *txn = text->txn;
    const struct content *content = text->stream->content;
    struct stream_text which = {txn, content};
    *twin = NULL;
    *shared = false;
    struct content *other = remembered(txn, content);
    if (other) {
        struct reader *ours;
        TRY(content_open(&ours, txn, content));
        TRY(twin_check(twin, txn, other, content, text->path, ours));
        if (*twin)
            return NULL;
    }
    return share_find_stream(stored, shared, txn->fs, text->path, content->rep.md5,
                             content->rep.sha1, content->rep.expanded, stream_reopen, &which);
}

/* The stream is whole: settle where its text lies. */
static struct err *stream_store(struct txn_text *text)
{
    struct txn *txn = text->txn;
    struct text_stream *stream = text->stream;
    struct content *content = stream->content, *twin;
    struct rep stored;
    bool shared;
    TRY(stream_share(&twin, &stored, &shared, text));
    if (twin || shared) {
        TRY(stream_undo(text));
        if (shared) {
            content->rep = stored;
            content->draft = NULL;
        }
        node_set_content(text->node, text->node->content, twin ? twin : content);
        return NULL;
    }
    if (stream->draft_is_own)
        txn_list_add(txn, &txn->aside, content);
    else
        stored_add(txn, content);
    draft_start_sync(stream->draft);
    remember(txn, content);
    node_set_content(text->node, text->node->content, content);
    return NULL;
}

static struct err *stream_end(struct txn_text *text, struct text_job *expected)
{
    struct text_stream *stream = text->stream;
    struct content *content = stream->content;
    TRY(stream_piece(stream, buf_view(&stream->piece)));
    TRY(delta_encoder_end(&stream->out, stream->encoder));
    TRY(stream_flush(stream));
    struct rep rep = {
        .rev = REV_NONE, .expanded = text->expanded, .has_sha1 = true, .uniq_txn.base = REV_NONE};
    rep.size = draft_size(stream->draft) - stream->start - content->header;
    digest_md5(stream->digest, rep.md5);
    digest_sha1(stream->digest, rep.sha1);
    TRY(check_result(expected, &rep));
    buf_cstr(&stream->out, "ENDREP\n");
    TRY(stream_flush(stream));
    content->rep = rep;
    content->draft = stream->draft;
    content->offset = stream->start;
    content->length = draft_size(stream->draft) - stream->start;
    content->checksum = fnv1a_32x4_end(&stream->checksum);
    return stream_store(text);
}

/* ---- writing and ending ---- */

struct err *txn_text_write(struct txn_text *text, struct str bytes)
{
    text->expanded += bytes.n;
    if (!text->stream && text->held.n + bytes.n > HELD_MAX) {
        TRY(stream_begin(text));
        TRY(stream_add(text->stream, buf_view(&text->held)));
        buf_free(&text->held);
    }
    if (text->stream)
        return stream_add(text->stream, bytes);
    buf_str(&text->held, bytes);
    return NULL;
}

/* Hand the text that TEXT holds over to a job. */
static struct err *job_begin(struct txn_text *text, const struct text_job *expected)
{
    struct txn *txn = text->txn;
    struct text_job *job = mem_alloc(sizeof *job);
    account_charge(txn->account, sizeof *job);
    *job = *expected;
    job->txn = txn;
    job->node = text->node;
    job->seed = text->node->nr;
    job->text = text->held;
    text->held = (struct buf){0};
    job->content = text->node->content = ARENA_NEW(txn->arena, struct content);
    job->content->job = job;
    *txn->jobs_end = job;
    txn->jobs_end = &job->next;
    txn->jobs_bytes += job->text.n;
    if (job->text.n > JOB_INLINE_MAX) {
        job->started = true;
        job->task = (struct task){.run = job_run, .arg = job};
        task_start(&job->task);
    }
    return collect_ready(txn);
}

static void text_free(struct txn_text *text)
{
    *text->link = text->next;
    if (text->next)
        text->next->link = text->link;
    stream_free(text);
    buf_free(&text->held);
    buf_free(&text->view);
    buf_free(&text->target);
    svndiff_decoder_free(text->decoder);
    reader_close(text->source);
    account_credit(text->txn->account, text->source_bytes);
    free(text);
}

static struct err *text_finish(struct txn_text *text, const uint8_t *md5, const uint8_t *sha1)
{
    if (text->decoder)
        TRY(svndiff_decoder_end(text->decoder));
    struct text_job expected = {
        .path = text->path, .has_md5 = md5 != NULL, .has_sha1 = sha1 != NULL};
    if (md5)
        memcpy(expected.md5, md5, MD5_SIZE);
    if (sha1)
        memcpy(expected.sha1, sha1, SHA1_SIZE);
    struct noderev *nr = &text->node->nr;
    nr->has_text = true;
    nr->text = (struct rep){.rev = REV_NONE, .uniq_txn.base = REV_NONE};
    txn_take_uniquifier(text->txn, &nr->text);
    return text->stream ? stream_end(text, &expected) : job_begin(text, &expected);
}

struct err *txn_text_end(struct txn_text *text, const uint8_t *result_md5,
                         const uint8_t *result_sha1)
{
    struct err *err = text_finish(text, result_md5, result_sha1);
    text->txn->broken |= err != NULL;
    if (err && text->stream && !text->stream->content->draft)
        err = err_join(err, stream_undo(text));
    text_free(text);
    return err;
}

void txn_text_abandon(struct txn_text *text)
{
    if (text->stream)
        err_free(stream_undo(text));
    text_free(text);
}

/* Whatever is under way or aside when the transaction ends. */
void txn_texts_free(struct txn *txn)
{
    while (txn->texts)
        txn_text_abandon(txn->texts);
    while (txn->jobs) {
        struct text_job *job = txn->jobs;
        if (job->started)
            err_free(task_wait(&job->task));
        txn->jobs = job->next;
        job_free(job);
    }
    for (size_t i = 0; i < txn->aside.n; i++)
        if (txn->aside.list[i]->draft != txn->side)
            draft_drop(txn->aside.list[i]->draft);
    draft_drop(txn->side);
    draft_drop(txn->draft);
    list_free(txn, &txn->aside);
    list_free(txn, &txn->stored);
}

/* ---- texts that come as deltas ---- */

struct err *txn_delta_begin(struct txn_text **out, struct txn *txn, struct str path,
                            const uint8_t *base_md5)
{
    struct txn_text *text;
    TRY(txn_text_begin(&text, txn, path, base_md5));
    struct err *err = txn_node_text(&text->source, txn, text->node);
    if (err) {
        txn_text_abandon(text);
        return err;
    }
    if (text->node->nr.has_text && rep_is_whole(&text->node->nr.text))
        text->source_bytes = text->node->nr.text.expanded;
    account_charge(txn->account, text->source_bytes);
    text->decoder = svndiff_decoder_new();
    *out = text;
    return NULL;
}

/* The source view of N bytes from OFFSET. Views never slide back; what lies before this one is
 * dropped. */
static struct err *view_take(struct str *out, struct txn_text *text, uint64_t offset, size_t n)
{
    uint64_t start = text->source_at - text->view.n;
    size_t drop = offset < text->source_at ? (size_t)(offset - start) : text->view.n;
    if (drop < text->view.n)
        memmove(text->view.p, text->view.p + drop, text->view.n - drop);
    text->view.n -= drop;
    size_t got;
    while (text->source_at < offset) {
        uint64_t gap = offset - text->source_at;
        size_t step = gap < STREAM_PIECE ? (size_t)gap : STREAM_PIECE;
        buf_reserve(&text->view, step);
        TRY(reader_full(text->source, text->view.p, step, &got));
        if (got < step)
            return err_make(E_INCOMPLETE_DATA,
                            "Delta for '%.*s' reads behind the end of its source", STR(text->path));
        text->source_at += got;
    }
    if (text->view.n < n) {
        size_t more = n - text->view.n;
        TRY(reader_full(text->source, buf_grow(&text->view, more), more, &got));
        text->view.n -= more - got;
        text->source_at += got;
        if (got < more)
            return err_make(E_INCOMPLETE_DATA,
                            "Delta for '%.*s' reads behind the end of its source", STR(text->path));
    }
    *out = str_make(text->view.p, n);
    return NULL;
}

struct err *txn_delta_end(struct txn_text *text)
{
    return svndiff_decoder_end(text->decoder);
}

struct err *txn_delta_write(struct txn_text *text, struct str svndiff_bytes)
{
    TRY(svndiff_decoder_add(text->decoder, svndiff_bytes));
    for (;;) {
        struct delta_window window;
        bool more;
        TRY(svndiff_decoder_next(&more, &window, text->decoder));
        if (!more)
            return NULL;
        struct str view = {0};
        if (window.source_length)
            TRY(view_take(&view, text, window.source_offset, window.source_length));
        buf_clear(&text->target);
        delta_window_apply(buf_grow(&text->target, window.target_length), &window, view);
        TRY(txn_text_write(text, buf_view(&text->target)));
    }
}
