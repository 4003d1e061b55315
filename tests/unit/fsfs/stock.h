/* SPDX-License-Identifier: Apache-2.0 */
/* stock.h - a folder for one test, in which stock tools make repositories. */
#ifndef VARVE_TESTS_FSFS_STOCK_H
#define VARVE_TESTS_FSFS_STOCK_H

#include "../testing.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/num.h"
#include "fsfs/fs.h"
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAY_BE_UNUSED __attribute__((unused))

struct stock {
    char root[64];
    struct arena *arena;
};

static MAY_BE_UNUSED const int stock_formats[] = {1, 2, 3, 4, 6, 7, 8};
#define FOR_EACH_FORMAT(name)                                                                      \
    for (size_t name##_i = 0, name = 1;                                                            \
         name##_i < 7 && (name = (size_t)stock_formats[name##_i], true); name##_i++)

static int stock_remove(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
    if (flag == FTW_D || flag == FTW_DP)
        chmod(path, 0700);
    return remove(path);
}

static MAY_BE_UNUSED int stock_setup(void **state)
{
    struct stock *stock = mem_zalloc(sizeof *stock);
    umask(022);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("SVN_EDITOR");
    strcpy(stock->root, "/tmp/varve-fsfs-XXXXXX");
    if (!mkdtemp(stock->root))
        return -1;
    stock->arena = arena_new();
    *state = stock;
    return 0;
}

static MAY_BE_UNUSED int stock_teardown(void **state)
{
    struct stock *stock = *state;
    if (chdir("/") != 0)
        return -1;
    arena_free(stock->arena);
    nftw(stock->root, stock_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(stock);
    return 0;
}
#define STOCK_TEST(name) cmocka_unit_test_setup_teardown(name, stock_setup, stock_teardown)

/* Run SCRIPT in the test's folder, with $U as the URL of the folder; its status. *OUTPUT (may be
 * NULL): what it printed. */
static MAY_BE_UNUSED int stock_status(struct stock *stock, struct str *output, const char *script)
{
    AUTO_BUF(command);
    buf_printf(&command, "cd %s && U=file://$PWD && { %s\n} 2>&1", stock->root, script);
    buf_char(&command, '\0');
    FILE *pipe = popen(command.p, "r");
    assert_non_null(pipe);
    AUTO_BUF(bytes);
    size_t got;
    do {
        got = fread(buf_grow(&bytes, 4096), 1, 4096, pipe);
        bytes.n -= 4096 - got;
    } while (got > 0);
    int status = pclose(pipe);
    if (output)
        *output = arena_str(stock->arena, buf_view(&bytes));
    else if (status)
        print_error("%.*s", STR(buf_view(&bytes)));
    return status;
}

/* The same; a script that fails fails the test. */
static MAY_BE_UNUSED void stock_run(struct stock *stock, const char *script)
{
    if (stock_status(stock, NULL, script) != 0)
        fail_msg("failed: %s", script);
}

static MAY_BE_UNUSED struct str stock_output(struct stock *stock, const char *script)
{
    struct str output;
    if (stock_status(stock, &output, script) != 0)
        fail_msg("failed: %s: %.*s", script, STR(output));
    return output;
}

static MAY_BE_UNUSED const char *stock_path(struct stock *stock, const char *name)
{
    return arena_printf(stock->arena, "%s/%s", stock->root, name).p;
}

static MAY_BE_UNUSED struct str stock_file(struct stock *stock, const char *name)
{
    AUTO_BUF(bytes);
    assert_ok(file_read_all(&bytes, stock_path(stock, name), 1 << 28));
    return arena_str(stock->arena, buf_view(&bytes));
}

static MAY_BE_UNUSED void stock_write(struct stock *stock, const char *name, struct str content)
{
    unlink(stock_path(stock, name)); /* may be read-only */
    assert_ok(file_write_all(stock_path(stock, name), content, 0644));
}

/* An empty repository NAME of FORMAT with SHARD revisions to a shard. */
static MAY_BE_UNUSED void stock_create(struct stock *stock, const char *name, int format, int shard)
{
    static const char *const release[] = {
        [1] = "1.3", [2] = "1.4", [3] = "1.5", [4] = "1.6", [6] = "1.8", [7] = "1.9", [8] = "1.10"};
    AUTO_BUF(script);
    buf_printf(&script,
               "svnadmin create --compatible-version %s %s && chmod u+w %s/db/format &&"
               " sed -i 's/sharded 1000/sharded %d/' %s/db/format",
               release[format], name, name, shard, name);
    buf_char(&script, '\0');
    stock_run(stock, script.p);
}

/* Nine revisions in repository r with every field that a node-revision and a changed path can have.
 */
static MAY_BE_UNUSED void stock_history(struct stock *stock)
{
    stock_run(stock,
              "echo one >f; seq 1 500 >g; : >e; head -c 3000 /dev/urandom >b\n"
              "m() { svnmucc -m \"$N\" -u ann \"$@\" >out || exit 1; N=$((N + 1)); }; N=1; cd .\n"
              "m -U $U/r mkdir trunk put f 'trunk/a file' put g trunk/g put e trunk/e\n"
              "m -U $U/r mkdir trunk/d put b trunk/d/b propset p 'a value' trunk/g propset q v .\n"
              "m -U $U/r propset svn:mergeinfo /x:1 trunk cp 2 trunk branch\n"
              "echo two >>g; m -U $U/r put g branch/g rm 'branch/a file'\n"
              "m -U $U/r rm branch/g put f branch/g put f branch/d/c\n"
              "m -U $U/r propdel p trunk/g propset p \"$(seq 1 300)\" branch/d\n"
              "m -U $U/r cp 4 branch/d branch/d/deep mv trunk/g trunk/moved\n"
              "m -U $U/r put g branch/d/deep/b propset svn:mergeinfo /y:2 branch/d/deep\n"
              "m -U $U/r rm trunk\n");
}

/* COUNT revisions in repository r, quickly made: N adds the folder /dN and says "message N". */
static MAY_BE_UNUSED void stock_messages(struct stock *stock, int count)
{
    AUTO_BUF(dump);
    buf_cstr(&dump, "SVN-fs-dump-format-version: 2\n\n");
    for (int i = 1; i <= count; i++) {
        AUTO_BUF(props);
        const struct str message = arena_printf(stock->arena, "message %d", i);
        buf_printf(&props, "K 7\nsvn:log\nV %zu\n%s\nPROPS-END\n", message.n, message.p);
        buf_printf(&dump,
                   "Revision-number: %d\nProp-content-length: %zu\nContent-length: %zu\n\n%.*s\n"
                   "Node-path: d%d\nNode-kind: dir\nNode-action: add\n\n\n",
                   i, props.n, props.n, STR(buf_view(&props)), i);
    }
    stock_write(stock, "dump", buf_view(&dump));
    stock_run(stock, "svnadmin load -q r <dump");
}

static MAY_BE_UNUSED struct fsfs *stock_open(struct stock *stock, const char *name)
{
    struct fsfs *fs;
    assert_ok(fsfs_open(&fs, arena_printf(stock->arena, "%s/%s/db", stock->root, name).p, NULL));
    return fs;
}

#endif
