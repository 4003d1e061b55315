/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a folder for one test, and a small sharded store in it. */
#ifndef VARVE_TESTS_STORE_FIXTURE_H
#define VARVE_TESTS_STORE_FIXTURE_H

#include "../testing.h"
#include "base/arena.h"
#include "base/buf.h"
#include "store/posix/posix.h"
#include "store/store.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED_OK __attribute__((unused))

struct fixture {
    char root[64];
    char db[96];
    struct arena *arena;
};

/* Format 8 with three revisions to a shard. */
static UNUSED_OK const struct store_layout small_shards = {
    .shard_size = 3, .packs = true, .txn_current = true, .revprop_packs = true};

static int fixture_remove(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
    return remove(path);
}

static UNUSED_OK int fixture_setup(void **state)
{
    struct fixture *fix = mem_zalloc(sizeof(*fix));
    umask(022);
    strcpy(fix->root, "/tmp/varve-store-XXXXXX");
    if (!mkdtemp(fix->root))
        return -1;
    snprintf(fix->db, sizeof(fix->db), "%s/db", fix->root);
    fix->arena = arena_new();
    *state = fix;
    return 0;
}

static UNUSED_OK int fixture_teardown(void **state)
{
    struct fixture *fix = *state;
    arena_free(fix->arena);
    nftw(fix->root, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(fix);
    return 0;
}
#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* ---- the disk as others see it ---- */

static UNUSED_OK const char *at(struct fixture *fix, const char *name)
{
    return arena_printf(fix->arena, "%s/%s", fix->db, name).p;
}

/* The bytes of db/NAME; a test that asks for what is not there fails. */
static UNUSED_OK struct str content(struct fixture *fix, const char *name)
{
    FILE *f = fopen(at(fix, name), "rb");
    if (!f)
        fail_msg("no file %s", name);
    char *bytes = arena_alloc(fix->arena, 1 << 20);
    size_t n = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return str_make(bytes, n);
}

static UNUSED_OK void put_content(struct fixture *fix, const char *name, const char *text)
{
    FILE *f = fopen(at(fix, name), "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static UNUSED_OK bool is_there(struct fixture *fix, const char *name)
{
    return access(at(fix, name), F_OK) == 0;
}

static UNUSED_OK unsigned mode_of(struct fixture *fix, const char *name)
{
    struct stat st;
    if (stat(at(fix, name), &st) != 0)
        fail_msg("no file %s", name);
    return st.st_mode & 07777;
}

/* ---- stores ---- */

static UNUSED_OK struct store *open_store_on(struct fixture *fix, struct store_layout layout,
                                             struct disk *disk)
{
    struct store *store;
    assert_ok(posix_open(&store, fix->db, disk));
    store_set_layout(store, layout);
    return store;
}

static UNUSED_OK struct store *open_store(struct fixture *fix)
{
    return open_store_on(fix, small_shards, NULL);
}

static UNUSED_OK struct draft *draft_of(struct store *store, struct str bytes)
{
    struct draft *draft;
    assert_ok(draft_begin(&draft, store, S("0-0")));
    assert_ok(draft_append(draft, bytes));
    return draft;
}

/* What the tests put into revision REV. */
static UNUSED_OK struct str body_text(struct arena *arena, revnum rev)
{
    return arena_printf(arena, "the body of revision %lld", (long long)rev);
}

static UNUSED_OK struct str props_text(struct arena *arena, revnum rev)
{
    return arena_printf(arena, "the properties of revision %lld", (long long)rev);
}

/* Publish COUNT revisions from FIRST on, as one batch, under the write lease. */
static UNUSED_OK struct err *publish_range(struct store *store, revnum first, size_t count,
                                           struct err *(*how)(struct store *,
                                                              const struct publication *, size_t))
{
    AUTO_ARENA(arena);
    struct publication *batch = arena_array(arena, count, sizeof(*batch));
    for (size_t i = 0; i < count; i++) {
        revnum rev = first + (revnum)i;
        batch[i] = (struct publication){rev, draft_of(store, body_text(arena, rev)),
                                        props_text(arena, rev), 1, 1};
    }
    struct err *err = lease_take(store, LEASE_WRITE);
    if (!err) {
        err = how(store, batch, count);
        lease_drop(store, LEASE_WRITE);
    }
    for (size_t i = 0; i < count; i++)
        draft_drop(batch[i].draft);
    return err;
}

static UNUSED_OK struct err *publish_now(struct store *store, const struct publication *batch,
                                         size_t count)
{
    revnum durable, before = count > 0 ? batch[0].rev - 1 : REV_NONE;
    struct err *err = store_publish(&durable, store, batch, count);
    if (!err)
        assert_int_equal(durable, before + (revnum)count);
    return err;
}

static UNUSED_OK struct err *stage_now(struct store *store, const struct publication *batch,
                                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        TRY(store_stage(store, &batch[i]));
    return NULL;
}

static UNUSED_OK struct err *publish_one(struct store *store, revnum rev)
{
    return publish_range(store, rev, 1, publish_now);
}

/* A new store with revisions 0 to YOUNGEST. */
static UNUSED_OK struct store *new_store(struct fixture *fix, revnum youngest)
{
    struct store *store = open_store(fix);
    store_set_flush(store, false);
    assert_ok(store_create(store));
    assert_ok(record_put(store, (struct record_key){.kind = RECORD_MIN_UNPACKED}, S("0\n")));
    for (revnum rev = 0; rev <= youngest; rev++)
        assert_ok(publish_one(store, rev));
    store_set_flush(store, true);
    return store;
}

static UNUSED_OK revnum youngest_of(struct store *store)
{
    struct head head;
    assert_ok(store_head(&head, store));
    return head.youngest;
}

/* All bytes of the body that holds REV. */
static UNUSED_OK struct str body_content(struct store *store, revnum rev, struct arena *arena)
{
    struct body *body;
    assert_ok(store_body(&body, store, rev, arena));
    char *to = arena_alloc(arena, body->size + 1);
    assert_ok(body_read(body, &(struct span){0, body->size, to}, 1));
    return str_make(to, body->size);
}

/* Revision REV is whole: its body and its properties are what the tests put there. */
static UNUSED_OK void assert_whole(struct store *store, revnum rev)
{
    AUTO_ARENA(arena);
    AUTO_BUF(props);
    bool found;
    assert_str_eq(body_content(store, rev, arena), body_text(arena, rev));
    assert_ok(record_get(&props, &found, store,
                         (struct record_key){.kind = RECORD_REVPROPS, .rev = rev}));
    assert_true(found);
    assert_str_eq(buf_view(&props), props_text(arena, rev));
}

#endif
