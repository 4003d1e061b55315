/* SPDX-License-Identifier: Apache-2.0 */
/* memory_fs.h - filesystems in memory, and the shortest words for changing and reading them. */
#ifndef VARVE_TESTS_FSFS_MEMORY_FS_H
#define VARVE_TESTS_FSFS_MEMORY_FS_H

#include "../testing.h"
#include "fsfs/txn/commit.h"
#include "store/memory/memory.h"

#define MAY_BE_UNUSED __attribute__((unused))

/* A new filesystem of FORMAT with revision 0. */
static MAY_BE_UNUSED struct fsfs *memory_fs(int format)
{
    struct fsfs *fs;
    struct fsfs_options options = {.store = memory_store_new()};
    assert_ok(fsfs_create_in(
        options.store, &(struct fsfs_create_options){.format = format,
                                                     .shard_size = 4,
                                                     .uuid = "65390229-12b7-0310-b90b-f21a5aa7ec8e",
                                                     .date = "2001-02-03T04:05:06.000000Z"}));
    assert_ok(fsfs_open(&fs, NULL, &options));
    return fs;
}

static MAY_BE_UNUSED struct txn *begin(struct fsfs *fs)
{
    struct txn *txn;
    revnum youngest;
    assert_ok(fsfs_youngest(&youngest, fs));
    assert_ok(txn_begin(&txn, fs, youngest));
    return txn;
}

static MAY_BE_UNUSED struct err *try_commit(revnum *rev, struct txn *txn)
{
    return txn_commit(rev, NULL, txn, &(struct commit_options){0});
}

static MAY_BE_UNUSED revnum commit(struct txn *txn)
{
    revnum rev;
    assert_ok(try_commit(&rev, txn));
    return rev;
}

/* The file PATH, which may be new, gets TEXT. */
static MAY_BE_UNUSED void put(struct txn *txn, const char *path, const char *text)
{
    AUTO_ARENA(arena);
    const struct txn_node *node;
    struct txn_text *to;
    assert_ok(txn_find(&node, txn, str_of(path), arena));
    if (!node)
        assert_ok(txn_make_file(txn, str_of(path)));
    assert_ok(txn_text_begin(&to, txn, str_of(path), NULL));
    assert_ok(txn_text_write(to, str_of(text)));
    assert_ok(txn_text_end(to, NULL, NULL));
}

/* What the file PATH has in revision REV. */
static MAY_BE_UNUSED struct str text_of(struct fsfs *fs, revnum rev, const char *path,
                                        struct arena *arena)
{
    AUTO_ARENA(scratch);
    AUTO_BUF(bytes);
    struct txn *txn;
    struct reader *reader;
    const struct txn_node *node;
    char piece[512];
    size_t n;
    assert_ok(txn_begin(&txn, fs, rev));
    assert_ok(txn_get(&node, txn, str_of(path), scratch));
    assert_ok(txn_node_text(&reader, txn, node));
    do {
        assert_ok(reader_read(reader, piece, sizeof piece, &n));
        buf_add(&bytes, piece, n);
    } while (n);
    reader_close(reader);
    txn_abort(txn);
    return arena_str(arena, buf_view(&bytes));
}

#endif
