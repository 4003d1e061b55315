/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/dump/dump_node.h"

#include "delta/encode.h"
#include "delta/svndiff.h"
#include "fsfs/read/noderev_get.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 256 << 10 };

/* The text of a record: at hand, or in a file where it is too large for that. */
struct text {
    bool wanted;
    uint64_t length;
    struct buf delta;
    int spool; /* a file without a name that holds the delta; -1: none */
};

struct record {
    const struct dump_target *target;
    const struct dump_node *node;
    bool with_props;
    struct buf props;
    bool is_prop_delta;
    struct text text;
};

static struct err *put_digest(struct writer *out, const char *name, const uint8_t *digest, size_t n)
{
    AUTO_BUF(line);
    buf_printf(&line, "%s: ", name);
    buf_hex(&line, digest, n);
    buf_char(&line, '\n');
    return writer_write(out, buf_view(&line));
}

/* The checksums of a text, as far as they are known: old formats know no SHA-1, and of a file that
 * never got a text, not even an empty one, there are none. */
static struct err *put_digests(struct writer *out, const char *md5_name, const char *sha1_name,
                               const struct noderev *noderev)
{
    if (!noderev->has_text)
        return NULL;
    TRY(put_digest(out, md5_name, noderev->text.md5, MD5_SIZE));
    return noderev->text.has_sha1 ? put_digest(out, sha1_name, noderev->text.sha1, SHA1_SIZE)
                                  : NULL;
}

/* ---- what differs ---- */

/* A property block that says what has changed, removals last. */
static struct err *format_prop_delta(struct buf *out, const struct dump_target *target,
                                     const struct dump_node *node, struct arena *arena)
{
    const struct props *before, *now;
    size_t n;
    TRY(noderev_props(&before, target->fs, node->before, arena));
    TRY(noderev_props(&now, target->fs, node->now, arena));
    struct prop *changes = props_diff(&n, before, now, arena);
    struct prop *set = arena_array(arena, n + 1, sizeof *set);
    size_t set_n = 0;
    for (size_t i = 0; i < n; i++)
        if (changes[i].value.p)
            set[set_n++] = changes[i];
    hashdump_format(out, set, set_n, S(""));
    for (size_t i = 0; i < n; i++)
        if (!changes[i].value.p)
            buf_printf(out, "D %zu\n%.*s\n", changes[i].name.n, STR(changes[i].name));
    buf_cstr(out, "PROPS-END\n");
    return NULL;
}

static struct err *format_props(struct record *r, struct arena *arena)
{
    const struct props *props;
    r->is_prop_delta = r->target->deltas && r->node->before;
    if (r->is_prop_delta)
        return format_prop_delta(&r->props, r->target, r->node, arena);
    TRY(noderev_props(&props, r->target->fs, r->node->now, arena));
    hashdump_format(&r->props, props ? props->list : NULL, props ? props->n : 0, S("PROPS-END"));
    return NULL;
}

/* ---- texts ---- */

static struct err *open_text(struct reader **out, struct fsfs *fs, const struct noderev *noderev)
{
    if (noderev && noderev->has_text)
        return rep_open(out, fs, &noderev->text);
    *out = reader_of_str(S(""));
    return NULL;
}

static struct err *spool_write(int fd, struct buf *bytes)
{
    struct str rest = buf_view(bytes);
    while (rest.n) {
        ssize_t put = write(fd, rest.p, rest.n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_errno(errno, "Can't write a temporary file");
        rest = str_skip(rest, (size_t)put);
    }
    buf_clear(bytes);
    return NULL;
}

static struct err *spool_open(int *fd)
{
    const char *folder = getenv("TMPDIR");
    *fd = open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return *fd < 0
               ? err_errno(errno, "Can't make a temporary file in '%s'", folder ? folder : "/tmp")
               : NULL;
}

static struct err *encode(struct text *text, struct delta_encoder *encoder, struct reader *now,
                          char *space)
{
    for (;;) {
        size_t got;
        TRY(reader_read(now, space, PIECE, &got));
        if (!got)
            break;
        TRY(delta_encoder_add(&text->delta, encoder, str_make(space, got)));
        if (text->delta.n > TEXT_WHOLE_MAX && text->spool < 0)
            TRY(spool_open(&text->spool));
        if (text->spool >= 0) {
            text->length += text->delta.n;
            TRY(spool_write(text->spool, &text->delta));
        }
    }
    TRY(delta_encoder_end(&text->delta, encoder));
    text->length += text->delta.n;
    return text->spool >= 0 ? spool_write(text->spool, &text->delta) : NULL;
}

/* The record says how long the delta is before it comes: it must be made first. */
static struct err *make_delta(struct record *r, struct arena *arena)
{
    struct reader *before, *now;
    struct fsfs *fs = r->target->fs;
    TRY(open_text(&before, fs, r->node->before));
    struct err *err = open_text(&now, fs, r->node->now);
    if (err) {
        reader_close(before);
        return err;
    }
    struct delta_encoder *encoder = delta_encoder_new(before, &(struct svndiff_params){0});
    err = encode(&r->text, encoder, now, arena_alloc(arena, PIECE));
    delta_encoder_free(encoder);
    reader_close(now);
    return err;
}

/* Everything that READER has; closes it. */
static struct err *copy_all(struct writer *out, struct reader *reader, struct arena *arena)
{
    char *space = arena_alloc(arena, PIECE);
    struct err *err;
    size_t got;
    do {
        err = reader_read(reader, space, PIECE, &got);
        if (!err && got)
            err = writer_write(out, str_make(space, got));
    } while (!err && got);
    reader_close(reader);
    return err;
}

static struct err *copy_fulltext(struct writer *out, struct fsfs *fs, const struct noderev *noderev,
                                 struct arena *arena)
{
    struct reader *reader;
    if (!noderev->has_text)
        return NULL;
    if (rep_is_whole(&noderev->text)) {
        const struct blob *blob;
        TRY(rep_text(&blob, fs, &noderev->text, arena));
        return writer_write(out, blob_str(blob));
    }
    TRY(rep_open(&reader, fs, &noderev->text));
    return copy_all(out, reader, arena);
}

static struct err *copy_spool(struct writer *out, int fd, struct arena *arena)
{
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_errno(errno, "Can't read back a temporary file");
    return copy_all(out, reader_of_fd(fd, false, "temporary file"), arena);
}

static struct err *put_text(struct record *r, struct arena *arena)
{
    if (!r->target->deltas)
        return copy_fulltext(r->target->out, r->target->fs, r->node->now, arena);
    if (r->text.spool >= 0)
        return copy_spool(r->target->out, r->text.spool, arena);
    return writer_write(r->target->out, buf_view(&r->text.delta));
}

/* ---- the record ---- */

static struct err *put_name(struct writer *out, const struct dump_node *node, bool with_kind)
{
    TRY(writer_printf(out, "Node-path: %.*s\n", STR(str_skip(node->path, 1))));
    if (with_kind && node->now)
        TRY(writer_printf(out, "Node-kind: %.*s\n", STR(node_kind_word(node->now->kind))));
    return NULL;
}

static struct err *put_action(struct writer *out, const struct dump_node *node)
{
    static const char *const words[] = {[CHANGE_ADD] = "add",
                                        [CHANGE_DELETE] = "delete",
                                        [CHANGE_REPLACE] = "replace",
                                        [CHANGE_MODIFY] = "change"};
    if (node->action == CHANGE_REPLACE &&
        node->is_copy) { /* two records: the format has no replacement with history */
        TRY(put_name(out, node, false));
        TRY(writer_write(out, S("Node-action: delete\n\n")));
    }
    TRY(put_name(out, node, true));
    TRY(writer_printf(out, "Node-action: %s\n", node->is_copy ? "add" : words[node->action]));
    if (!node->is_copy)
        return NULL;
    TRY(writer_printf(out, "Node-copyfrom-rev: %lld\n", (long long)node->copy_rev));
    TRY(writer_printf(out, "Node-copyfrom-path: %.*s\n", STR(str_skip(node->copy_path, 1))));
    if (node->now->kind == NODE_FILE)
        TRY(put_digests(out, "Text-copy-source-md5", "Text-copy-source-sha1", node->before));
    return NULL;
}

/* Which of properties and text the record has. What is new has both. */
static void decide(struct record *r)
{
    const struct dump_node *node = r->node;
    bool is_file = node->now->kind == NODE_FILE;
    r->with_props = true;
    r->text.wanted = is_file;
    if (!node->before)
        return;
    r->text.wanted = is_file && !noderev_shares_text(node->before, node->now);
    r->with_props = !noderev_shares_props(node->before, node->now);
}

static struct err *put_content_headers(struct record *r, struct arena *arena)
{
    struct writer *out = r->target->out;
    const struct dump_node *node = r->node;
    if (r->with_props)
        TRY(format_props(r, arena));
    if (r->is_prop_delta)
        TRY(writer_write(out, S("Prop-delta: true\n")));
    if (r->text.wanted && r->target->deltas) {
        TRY(make_delta(r, arena));
        TRY(writer_write(out, S("Text-delta: true\n")));
        if (node->before)
            TRY(put_digests(out, "Text-delta-base-md5", "Text-delta-base-sha1", node->before));
    } else if (r->text.wanted) {
        r->text.length = noderev_size(node->now);
    }
    if (r->text.wanted)
        TRY(put_digests(out, "Text-content-md5", "Text-content-sha1", node->now));
    if (r->with_props)
        TRY(writer_printf(out, "Prop-content-length: %zu\n", r->props.n));
    if (r->text.wanted)
        TRY(writer_printf(out, "Text-content-length: %llu\n", (unsigned long long)r->text.length));
    return writer_printf(out, "Content-length: %llu\n\n",
                         (unsigned long long)(r->props.n + r->text.length));
}

static struct err *put_record(struct record *r, struct arena *arena)
{
    struct writer *out = r->target->out;
    TRY(put_action(out, r->node));
    if (r->node->action == CHANGE_DELETE)
        return writer_write(out, S("\n\n"));
    decide(r);
    if (!r->with_props && !r->text.wanted)
        return writer_write(out, S("\n\n"));
    TRY(put_content_headers(r, arena));
    TRY(writer_write(out, buf_view(&r->props)));
    if (r->text.wanted)
        TRY(put_text(r, arena));
    return writer_write(out, S("\n\n"));
}

struct err *dump_node_write(bool *with_props, const struct dump_target *target,
                            const struct dump_node *node, struct arena *arena)
{
    struct record record = {.target = target, .node = node, .text = {.spool = -1}};
    struct err *err = put_record(&record, arena);
    *with_props = record.with_props;
    buf_free(&record.props);
    buf_free(&record.text.delta);
    if (record.text.spool >= 0)
        close(record.text.spool);
    return err;
}

struct err *dump_revprops_write(struct writer *out, revnum rev, const struct prop *list, size_t n)
{
    AUTO_BUF(props);
    hashdump_format(&props, list, n, S("PROPS-END"));
    TRY(writer_printf(out,
                      "Revision-number: %lld\nProp-content-length: %zu\nContent-length: %zu\n\n",
                      (long long)rev, props.n, props.n));
    TRY(writer_write(out, buf_view(&props)));
    return writer_write(out, S("\n"));
}
