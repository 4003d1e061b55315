/* SPDX-License-Identifier: Apache-2.0 */
/* A whole revision file: everything that can be read of it is read.
 *
 *   [format: '6' physical, '8' logical addressing] [bytes of revision 1] */
#include "base/cache.h"
#include "base/file.h"
#include "fsfs/format/changes.h"
#include "fsfs/read/changes_get.h"
#include "fsfs/read/dir.h"
#include "fsfs/read/index.h"
#include "fsfs/read/noderev_get.h"
#include "fsfs/read/prefetch.h"
#include "fsfs/read/rep.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEPTH_MAX = 4, CHILDREN_MAX = 20, TEXT_LIMIT = 16 << 20 };

static char folder[64];

static void clean_up(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", folder);
}

static bool is_ok(struct err *err)
{
    err_free(err);
    return !err;
}

static void must(struct err *err)
{
    if (!err)
        return;
    err_print(err, "revision_fuzz");
    abort();
}

/* Two empty filesystems in memory, for all runs. */
static void set_up(void)
{
    strcpy(folder,
           access("/dev/shm", W_OK) == 0 ? "/dev/shm/varve-fuzz-XXXXXX" : "/tmp/varve-fuzz-XXXXXX");
    if (!mkdtemp(folder))
        abort();
    atexit(clean_up);
    for (int format = 6; format <= 8; format += 2) {
        char path[96];
        const struct fsfs_create_options options = {.format = format, .shard_size = 1000};
        snprintf(path, sizeof path, "%s/%d", folder, format);
        must(fsfs_create(path, &options));
        strcat(path, "/current");
        must(file_write_all(path, S("1\n"), 0644));
    }
}

static void read_text(struct fsfs *fs, const struct rep *rep, struct arena *arena)
{
    AUTO_BUF(text);
    const struct blob *blob;
    struct reader *reader;
    struct rep_chain chain;
    struct rep_header header;
    is_ok(rep_chain(&chain, fs, rep, arena));
    if (is_ok(rep_open(&reader, fs, rep))) {
        is_ok(reader_all(&text, reader, TEXT_LIMIT));
        reader_close(reader);
    }
    buf_clear(&text);
    if (is_ok(rep_open_stored(&reader, &header, fs, rep))) {
        is_ok(reader_all(&text, reader, TEXT_LIMIT));
        reader_close(reader);
    }
    for (int version = 0; version <= 2; version++)
        is_ok(rep_wire(&blob, fs, rep, version, 1, arena));
}

static void read_node(struct fsfs *fs, const struct noderev *nr, int depth, struct arena *arena)
{
    const struct props *props;
    const struct dir *dir;
    is_ok(noderev_props(&props, fs, nr, arena));
    if (nr->has_text)
        read_text(fs, &nr->text, arena);
    if (nr->kind != NODE_DIR || depth == DEPTH_MAX || !is_ok(dir_get(&dir, fs, nr, arena)))
        return;
    dir_prefetch(fs, dir);
    for (size_t i = 0; i < dir->n && i < CHILDREN_MAX; i++) {
        const struct noderev *child;
        if (is_ok(noderev_get(&child, fs, &dir->list[i].id, arena)))
            read_node(fs, child, depth + 1, arena);
    }
}

/* Both ways to a revision's changed paths must come to the same. */
static void read_changes(struct fsfs *fs, struct arena *arena)
{
    const struct changes *kept;
    struct changes *read;
    const bool is_kept = is_ok(changes_get(&kept, fs, 1, arena));
    const bool is_read = is_ok(changes_read(&read, fs, 1));
    if (is_kept != is_read || (is_read && kept->n != read->n))
        abort();
    if (is_read)
        shared_unref(read);
}

static void read_all(struct fsfs *fs)
{
    AUTO_ARENA(arena);
    const struct noderev *root;
    struct body *body;
    struct p2l_entry *entries;
    size_t n;
    read_changes(fs, arena);
    if (is_ok(noderev_root(&root, fs, 1, arena)))
        read_node(fs, root, 0, arena);
    if (!fs->logical)
        return;
    must(store_body(&body, fs->store, 1, arena));
    is_ok(index_check_digests(fs, body, arena));
    if (!is_ok(p2l_entries(&entries, &n, fs, body, arena)))
        return;
    for (size_t i = 0; i < n && i < CHILDREN_MAX; i++) {
        uint64_t offset;
        is_ok(l2p_lookup(&offset, fs, body, entries[i].rev, entries[i].item, arena));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0])
        set_up();
    char db[80], path[96];
    struct fsfs *fs;
    snprintf(db, sizeof db, "%s/%d", folder, size && data[0] == '6' ? 6 : 8);
    snprintf(path, sizeof path, "%s/revs/0/1", db);
    must(file_write_all(path, str_skip(str_make((const char *)data, size), 1), 0644));
    cache_clear();
    must(fsfs_open(&fs, db, NULL));
    read_all(fs);
    fsfs_close(fs);
    return 0;
}
