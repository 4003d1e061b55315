/* SPDX-License-Identifier: Apache-2.0 */
/* Packed revision properties: their bytes, rewriting, making them. */
#include "base/num.h"
#include "delta/compress.h"
#include "fsfs/read/rep.h"
#include "fsfs/read/revprops_int.h"
#include <errno.h>

/* ---- parsing ---- */

static struct err *corrupt_pack(const char *what)
{
    return err_make(E_FS_CORRUPT, "Revprop pack file %s", what);
}

static bool number_line(uint64_t *out, struct str text, size_t *pos)
{
    struct str line;
    return str_line(&line, text, pos) && num_u64(out, line);
}

/* The hash dumps behind the table of sizes that begins at POS. */
static struct err *values_parse(struct revprop_pack *out, struct str text, size_t pos)
{
    size_t data = pos;
    struct str empty;
    uint64_t size;
    for (size_t i = 0; i < out->count; i++)
        if (!number_line(&size, text, &data))
            return corrupt_pack("has a malformed table of sizes");
    if (!str_line(&empty, text, &data) || empty.n)
        return corrupt_pack("has no empty line after its table of sizes");
    for (size_t i = 0; i < out->count; i++) {
        number_line(&size, text, &pos);
        if (size > text.n - data)
            return corrupt_pack("is shorter than its table of sizes says");
        out->values[i] = str_make(text.p + data, size);
        data += size;
    }
    if (data != text.n)
        return corrupt_pack("is longer than its table of sizes says");
    return NULL;
}

struct err *revprop_pack_parse(struct revprop_pack *out, struct str file, struct arena *arena)
{
    AUTO_BUF(plain);
    struct err *err = section_unpack_zlib(&plain, file, LIST_READ_MAX);
    if (err)
        return err_wrap(err, E_FS_CORRUPT, "Revprop pack file can't be decompressed");
    struct str text = arena_str(arena, buf_view(&plain));
    size_t pos = 0;
    uint64_t first, count;
    if (!number_line(&first, text, &pos) || first > INT64_MAX)
        return corrupt_pack("does not begin with a revision number");
    /* Each line of the table takes two bytes at least: that bounds the count before memory is
     * taken. */
    if (!number_line(&count, text, &pos) || count == 0 || count > (text.n - pos) / 2 ||
        count > INT64_MAX - first)
        return corrupt_pack("has an impossible number of revisions");
    out->first = (revnum)first;
    out->count = count;
    out->values = arena_array(arena, count, sizeof *out->values);
    return values_parse(out, text, pos);
}

/* "<first>.<n>" */
static bool pack_name_parse(revnum *first, uint64_t *n, struct str name)
{
    size_t dot = str_find(name, '.');
    uint64_t rev;
    if (dot == SIZE_MAX || !num_u64(&rev, str_make(name.p, dot)) || rev > INT64_MAX ||
        !num_u64(n, str_skip(name, dot + 1)))
        return false;
    *first = (revnum)rev;
    return true;
}

struct err *revprop_manifest_parse(struct str **names, size_t *n, struct str text,
                                   struct arena *arena)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    *names = arena_array(arena, lines, sizeof **names);
    *n = 0;
    size_t pos = 0;
    struct str line;
    while (str_line(&line, text, &pos)) {
        revnum first;
        uint64_t count;
        if (!pack_name_parse(&first, &count, line))
            return err_make(E_FS_CORRUPT_REVPROP_MANIFEST,
                            "Packed revprop manifest has a malformed line '%.*s'", STR(line));
        (*names)[(*n)++] = line;
    }
    if (pos != text.n)
        return err_make(E_FS_CORRUPT_REVPROP_MANIFEST,
                        "Packed revprop manifest not properly terminated");
    return NULL;
}

/* ---- reading ---- */

struct err *manifest_read(struct str **names, size_t *n, struct fsfs *fs, int64_t shard,
                          struct arena *arena)
{
    AUTO_BUF(bytes);
    bool found;
    struct record_key key = {.kind = RECORD_REVPROP_MANIFEST, .rev = shard};
    TRY(record_get(&bytes, &found, fs->store, key));
    if (!found)
        return err_errno(ENOENT, "Can't open file '%s/revprops/%lld.pack/manifest'",
                         store_path(fs->store), (long long)shard);
    struct err *err = revprop_manifest_parse(names, n, arena_str(arena, buf_view(&bytes)), arena);
    if (err)
        return err_blame(err, 0, "Packed revprop manifest of shard %lld is corrupt",
                         (long long)shard);
    size_t expected = (size_t)(fs->shard_size - (shard == 0));
    if (*n != expected)
        return err_make(E_FS_CORRUPT_REVPROP_MANIFEST,
                        "Packed revprop manifest of shard %lld lists %zu revisions, not %zu",
                        (long long)shard, *n, expected);
    return NULL;
}

struct err *pack_read(struct revprop_pack *out, bool *found, struct fsfs *fs, int64_t shard,
                      struct str name, revnum rev, struct arena *arena)
{
    AUTO_BUF(bytes);
    struct record_key key = {.kind = RECORD_REVPROP_PACK, .rev = shard, .name = name};
    TRY(record_get(&bytes, found, fs->store, key));
    if (!*found)
        return NULL;
    struct err *err = revprop_pack_parse(out, buf_view(&bytes), arena);
    if (!err && (rev < out->first || rev - out->first >= (revnum)out->count))
        err = err_make(E_FS_CORRUPT,
                       "Revprop pack for revision r%lld contains revprops for r%lld .. r%lld",
                       (long long)rev, (long long)out->first,
                       (long long)(out->first + (revnum)out->count - 1));
    return err_blame(err, E_FS_CORRUPT, "Revprop pack file for r%lld is corrupt", (long long)rev);
}

/* ---- writing ---- */

enum {
    NUMBER_ROOM = 21, /* what the rules count for a number: the longest with its LF */
    REVPROP_ZLIB_LEVEL = 5,
};

/* Write the file NAME holding revisions FIRST ... with these VALUES. */
static struct err *pack_write(struct fsfs *fs, int64_t shard, struct str name, revnum first,
                              const struct str *values, size_t n)
{
    AUTO_BUF(plain);
    AUTO_BUF(file);
    buf_printf(&plain, "%lld\n%zu\n", (long long)first, n);
    for (size_t i = 0; i < n; i++)
        buf_printf(&plain, "%zu\n", values[i].n);
    buf_char(&plain, '\n');
    for (size_t i = 0; i < n; i++)
        buf_str(&plain, values[i]);
    if (plain.n > LIST_READ_MAX)
        return err_make(E_REPOS_BAD_ARGS,
                        "The property list of revision %lld is larger than %d bytes when packed",
                        (long long)first, LIST_READ_MAX);
    section_pack_zlib(&file, buf_view(&plain),
                      fs->config.compress_packed_revprops ? REVPROP_ZLIB_LEVEL : 0);
    struct record_key key = {.kind = RECORD_REVPROP_PACK, .rev = shard, .name = name};
    return record_put(fs->store, key, buf_view(&file));
}

static struct err *manifest_write(struct fsfs *fs, int64_t shard, const struct str *names, size_t n)
{
    AUTO_BUF(text);
    for (size_t i = 0; i < n; i++) {
        buf_str(&text, names[i]);
        buf_char(&text, '\n');
    }
    struct record_key key = {.kind = RECORD_REVPROP_MANIFEST, .rev = shard};
    return record_put(fs->store, key, buf_view(&text));
}

/* How a file is split where one of its revisions has grown: LEFT revisions, MIDDLE (0 or 1), the
 * rest. */
struct split {
    size_t left, middle;
};

/* Let both ends grow so that they stay of equal size; where one is too large even so, the changed
 * revision stands alone. */
static struct split split_choose(const struct str *values, size_t n, size_t changed, size_t limit)
{
    size_t left = 0, right = n;
    size_t left_size = 2 * NUMBER_ROOM, right_size = 2 * NUMBER_ROOM;
    while (left < right) {
        if (left_size + values[left].n < right_size + values[right - 1].n)
            left_size += values[left++].n + NUMBER_ROOM;
        else
            right_size += values[--right].n + NUMBER_ROOM;
    }
    if (left_size > limit || right_size > limit)
        return (struct split){.left = changed, .middle = 1};
    return (struct split){.left = left, .middle = 0};
}

struct rewrite {
    struct fsfs *fs;
    int64_t shard;
    struct revprop_pack pack;
    struct str old_name;
    uint64_t tag;      /* of the new files */
    struct str *names; /* the manifest */
    struct arena *arena;
};

/* Make a file of COUNT revisions of the pack, from number FROM on, and enter it in the manifest. */
static struct err *split_part(struct rewrite *rw, size_t from, size_t count)
{
    if (count == 0)
        return NULL;
    revnum first = rw->pack.first + (revnum)from;
    struct str name =
        arena_printf(rw->arena, "%lld.%llu", (long long)first, (unsigned long long)rw->tag);
    TRY(pack_write(rw->fs, rw->shard, name, first, rw->pack.values + from, count));
    for (size_t i = 0; i < count; i++)
        rw->names[first - shard_first(rw->fs, rw->shard) + (revnum)i] = name;
    return NULL;
}

static struct err *split_write(struct rewrite *rw, size_t names_n, struct split split)
{
    size_t behind = split.left + split.middle;
    TRY(split_part(rw, 0, split.left));
    TRY(split_part(rw, split.left, split.middle));
    TRY(split_part(rw, behind, rw->pack.count - behind));
    TRY(manifest_write(rw->fs, rw->shard, rw->names, names_n));
    struct record_key old = {.kind = RECORD_REVPROP_PACK, .rev = rw->shard, .name = rw->old_name};
    return record_delete(rw->fs->store, old);
}

struct err *packed_write(struct fsfs *fs, revnum rev, struct str dump)
{
    AUTO_ARENA(scratch);
    struct rewrite rw = {.fs = fs, .shard = rev / fs->shard_size, .arena = scratch};
    size_t names_n;
    TRY(manifest_read(&rw.names, &names_n, fs, rw.shard, scratch));
    rw.old_name = rw.names[rev - shard_first(fs, rw.shard)];
    bool found;
    TRY(pack_read(&rw.pack, &found, fs, rw.shard, rw.old_name, rev, scratch));
    revnum end = rw.pack.first + (revnum)rw.pack.count - shard_first(fs, rw.shard);
    if (!found || rw.pack.first < shard_first(fs, rw.shard) || end > (revnum)names_n)
        return err_make(E_FS_PACKED_REVPROP_READ_FAILURE,
                        "Failed to read revprop pack file for r%lld", (long long)rev);

    size_t changed = (size_t)(rev - rw.pack.first);
    rw.pack.values[changed] = dump;
    uint64_t total = 2 * NUMBER_ROOM;
    for (size_t i = 0; i < rw.pack.count; i++)
        total += rw.pack.values[i].n + NUMBER_ROOM;
    uint64_t limit = (uint64_t)fs->config.revprop_pack_size;
    if (total < limit || rw.pack.count == 1)
        return pack_write(fs, rw.shard, rw.old_name, rw.pack.first, rw.pack.values, rw.pack.count);

    revnum first;
    pack_name_parse(&first, &rw.tag, rw.old_name);
    rw.tag++;
    return split_write(&rw, names_n, split_choose(rw.pack.values, rw.pack.count, changed, limit));
}

/* ---- packing a shard ---- */

struct packing {
    struct fsfs *fs;
    int64_t shard;
    struct str *names; /* the manifest so far */
    size_t names_n;
    struct str *values; /* of the file that is being filled */
    size_t values_n;
    uint64_t total;
    struct arena *arena; /* for the values */
    struct arena_mark mark;
};

static struct err *packing_close_file(struct packing *p)
{
    if (p->values_n == 0)
        return NULL;
    revnum end = shard_first(p->fs, p->shard) + (revnum)p->names_n;
    TRY(pack_write(p->fs, p->shard, p->names[p->names_n - 1], end - (revnum)p->values_n, p->values,
                   p->values_n));
    p->values_n = 0;
    p->total = 2 * NUMBER_ROOM;
    arena_rewind(p->arena, p->mark);
    return NULL;
}

static struct err *packing_add(struct packing *p, revnum rev, struct arena *names_arena)
{
    AUTO_BUF(bytes);
    bool found;
    struct record_key key = {.kind = RECORD_REVPROPS, .rev = rev};
    TRY(record_get(&bytes, &found, p->fs->store, key));
    if (!found)
        return err_make(E_FS_NO_SUCH_REVISION, "Revision properties of r%lld are missing",
                        (long long)rev);
    uint64_t limit = (uint64_t)(0.9 * (double)p->fs->config.revprop_pack_size);
    if (p->values_n && p->total + NUMBER_ROOM + bytes.n > limit)
        TRY(packing_close_file(p));
    p->names[p->names_n] = p->values_n ? p->names[p->names_n - 1]
                                       : arena_printf(names_arena, "%lld.0", (long long)rev);
    p->names_n++;
    p->values[p->values_n++] = arena_str(p->arena, buf_view(&bytes));
    p->total += NUMBER_ROOM + bytes.n;
    return NULL;
}

struct err *revprops_pack_shard(struct fsfs *fs, int64_t shard)
{
    AUTO_ARENA(names_arena);
    AUTO_ARENA(values_arena);
    revnum first = shard_first(fs, shard), end = (shard + 1) * fs->shard_size;
    size_t n = (size_t)(end - first);
    struct packing p = {.fs = fs, .shard = shard, .arena = values_arena, .total = 2 * NUMBER_ROOM};
    p.names = arena_array(names_arena, n, sizeof *p.names);
    p.values = arena_array(names_arena, n, sizeof *p.values);
    p.mark = arena_mark(values_arena);
    for (revnum rev = first; rev < end; rev++)
        TRY(packing_add(&p, rev, names_arena));
    TRY(packing_close_file(&p));
    return manifest_write(fs, shard, p.names, p.names_n);
}
