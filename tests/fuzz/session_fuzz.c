/* SPDX-License-Identifier: Apache-2.0 */
/* A client's whole side of a conversation, from its greeting to its leaving, in a small repository
 * that it may also write. However it goes, the session ends and leaves no transaction behind.
 *
 * The corpus are conversations of stock clients (record-session makes them) and bad ones. */
#include "base/buf.h"
#include "base/cache.h"
#include "base/file.h"
#include "repo/admin/registry.h"
#include "svn/session.h"
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    INPUT_MAX = 256 << 10,
    SESSIONS_PER_REPOSITORY = 500, /* then a new one: what inputs did to it must not pile up */
    CACHE_BYTES = 4 << 20,
    PATH_BYTES = 512,
};

/* What record-session puts into its repository, in the same revisions. */
static const char seed[] =
    "( 2 ( edit-pipeline svndiff1 ) 11:svn+x://h/r 4:seed ) ( EXTERNAL ( 0: ) ) "
    "( commit ( 1:m ( ) false ) ) ( open-root ( ( ) 1:r ) ) ( add-dir ( 5:trunk 1:r 1:t ( ) ) ) "
    "( add-file ( 12:trunk/README 1:t 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) "
    "( textdelta-chunk ( 1:f 16:SVN\000\000\000\006\001\006\206hello\012 ) ) ( close-file ( 1:f ( "
    ") ) ) "
    "( change-dir-prop ( 1:t 10:svn:ignore ( 4:*.o\n ) ) ) "
    "( close-dir ( 1:t ) ) ( add-dir ( 8:branches 1:r 1:b ( ) ) ) ( close-dir ( 1:b ) ) "
    "( close-dir ( 1:r ) ) ( close-edit ( ) ) ";

static char root[PATH_BYTES], repo_path[PATH_BYTES + 8];

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void must_succeed(struct err *err)
{
    if (err)
        err_print(err, "session_fuzz");
    must(!err, "no repository to fuzz");
}

static int descriptor_of(const void *bytes, size_t n)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0,
         "no room for the input");
    return fd;
}

static void hold_session(const void *bytes, size_t n)
{
    struct service service = {.root = root, .compression = 5};
    client_limits_init(&service.limits);
    service.limits.request_bytes = INPUT_MAX;
    service.limits.request_memory = 16 << 20;
    service.limits.login_timeout_s = 0;
    const struct client client = {.service = &service, .address = "-", .tunnel_user = "alice"};
    int in_fd = descriptor_of(bytes, n), out_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct conn *conn = conn_new(in_fd, out_fd, &svn_conn_codes);
    err_free(svn_protocol.serve(conn, &client));
    conn_free(conn);
    close(out_fd);
    close(in_fd);
}

/* ---- the repository ---- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    return remove(path);
}

static void remove_repository(void)
{
    registry_close_all();
    cache_clear();
    nftw(repo_path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_all(void)
{
    remove_repository();
    rmdir(root);
}

static void put_file(const char *name, const char *text, unsigned mode)
{
    AUTO_BUF(path);
    buf_printf(&path, "%s/%s", repo_path, name);
    buf_char(&path, 0);
    must_succeed(file_write_all(path.p, str_of(text), mode));
}

static void make_repository(void)
{
    const struct repo_create_options options = {
        .fs = {.format = 8, .shard_size = 4, .uuid = "11111111-2222-4333-8444-555555555555"}};
    must_succeed(repo_create(repo_path, &options));
    put_file("conf/svnserve.conf", "[general]\nanon-access = write\npassword-db = passwd\n", 0644);
    put_file("conf/passwd", "[users]\nalice = secret\n", 0644);
    put_file("hooks/pre-revprop-change", "#!/bin/true\n", 0755);
    hold_session(seed, sizeof seed - 1);
}

static void begin(void)
{
    const char *place = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/varve-fuzz.XXXXXX", place ? place : "/dev/shm");
    must(mkdtemp(root), "no temporary folder");
    snprintf(repo_path, sizeof repo_path, "%s/r", root);
    cache_set_limit(CACHE_BYTES);
    make_repository();
    atexit(remove_all);
}

static void must_be_empty(const char *folder)
{
    AUTO_BUF(path);
    buf_printf(&path, "%s/db/%s", repo_path, folder);
    buf_char(&path, 0);
    DIR *dir = opendir(path.p);
    must(dir, "the repository is damaged");
    for (const struct dirent *entry; (entry = readdir(dir));)
        must(entry->d_name[0] == '.', "a transaction was left behind");
    closedir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned sessions;
    if (size > INPUT_MAX)
        return 0;
    if (!root[0]) {
        begin();
    } else if (++sessions % SESSIONS_PER_REPOSITORY == 0) {
        remove_repository();
        make_repository();
    }
    hold_session(data, size);
    must_be_empty("transactions");
    must_be_empty("txn-protorevs");
    return 0;
}
