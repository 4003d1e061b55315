/* SPDX-License-Identifier: Apache-2.0 */ #include "store/posix/repcache_db.h"

#include "base/file.h"
#include "base/num.h"
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

    enum {
        BUSY_TIMEOUT_MS = 10000, /* as long as stock tools wait for each other */
        GRACE_MS = 1000,         /* for others to make the table of a file they have created */
        HASH_DIGITS = 2 * SHA1_SIZE,
    };

struct repcache_db {
    sqlite3 *db;
    sqlite3_stmt *find, *insert;
    int64_t data_version; /* changes when another connection has written */
    char *path;
};

/* ---- SQLite's errors and statements ---- */

static struct err *sqlite_error(const struct repcache_db *db, int rc)
{
    int code = (rc & 0xff) == SQLITE_BUSY       ? E_SQLITE_BUSY
               : (rc & 0xff) == SQLITE_READONLY ? E_SQLITE_READONLY
                                                : E_SQLITE_ERROR;
    const char *words = db->db ? sqlite3_errmsg(db->db) : sqlite3_errstr(rc);
    const int errnum = db->db ? sqlite3_system_errno(db->db) : 0;
    const int kind = rc & 0xff;
    if (errnum && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR || kind == SQLITE_FULL))
        return err_wrap(err_errno(errnum, "Can't use file '%s'", db->path), code,
                        "sqlite[S%d]: %s: '%s'", kind, words, db->path);
    return err_make(code, "sqlite[S%d]: %s: '%s'", kind, words, db->path);
}

static struct err *check(const struct repcache_db *db, int rc)
{
    return rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE ? NULL : sqlite_error(db, rc);
}

static struct err *run(struct repcache_db *db, const char *sql)
{
    return check(db, sqlite3_exec(db->db, sql, NULL, NULL, NULL));
}

static struct err *prepare(sqlite3_stmt **out, struct repcache_db *db, const char *sql)
{
    return *out ? NULL
                : check(db,
                        sqlite3_prepare_v3(db->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL));
}

/* The one number that SQL gives. */
static struct err *query_number(int64_t *out, struct repcache_db *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    TRY(prepare(&stmt, db, sql));
    int rc = sqlite3_step(stmt);
    *out = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    struct err *err = check(db, rc);
    sqlite3_finalize(stmt);
    return err;
}

/* ---- opening ---- */

void repcache_db_close(struct repcache_db *db)
{
    if (!db)
        return;
    sqlite3_finalize(db->find);
    sqlite3_finalize(db->insert);
    sqlite3_close(db->db);
    free(db->path);
    free(db);
}

bool repcache_db_has_moved(const struct repcache_db *db)
{
    int moved = 0;
    sqlite3_file_control(db->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved;
}

/* Nobody shares a connection, so SQLite need not lock it. */
static struct err *open_connection(struct repcache_db **out, const char *path, int flags)
{
    struct repcache_db *db = mem_zalloc(sizeof *db);
    db->path = mem_strdup(path);
    int rc =
        sqlite3_open_v2(path, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | flags, NULL);
    struct err *err = check(db, rc);
    if (!err) {
        sqlite3_extended_result_codes(db->db, 1);
        sqlite3_busy_timeout(db->db, BUSY_TIMEOUT_MS);
        err = run(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=TRUNCATE;");
    }
    if (err) {
        repcache_db_close(db);
        return err;
    }
    *out = db;
    return NULL;
}

/* *VERSION 0: there is no table yet. */
static struct err *schema_version(int64_t *version, struct repcache_db *db)
{
    TRY(query_number(version, db, "PRAGMA user_version"));
    if (*version < 0 || *version > 2)
        return err_make(E_SQLITE_UNSUPPORTED_SCHEMA, "Schema format %lld not recognized: '%s'",
                        (long long)*version, db->path);
    return NULL;
}

struct err *repcache_db_open(struct repcache_db **out, const char *path)
{
    struct stat st;
    *out = NULL;
    if (stat(path, &st) != 0 || st.st_size == 0)
        return NULL;
    struct repcache_db *db;
    int64_t version = 0;
    TRY(open_connection(&db, path, 0));
    struct err *err = schema_version(&version, db);
    if (err || version == 0) {
        repcache_db_close(db);
        return err;
    }
    *out = db;
    return NULL;
}

static struct err *make_table(struct repcache_db *db, bool by_hash)
{
    return run(db, by_hash ? "CREATE TABLE rep_cache (hash TEXT NOT NULL PRIMARY KEY, "
                             "revision INTEGER NOT NULL, offset INTEGER NOT NULL, "
                             "size INTEGER NOT NULL, expanded_size INTEGER NOT NULL) "
                             "WITHOUT ROWID; PRAGMA user_version = 2"
                           : "CREATE TABLE rep_cache (hash TEXT NOT NULL PRIMARY KEY, "
                             "revision INTEGER NOT NULL, offset INTEGER NOT NULL, "
                             "size INTEGER NOT NULL, expanded_size INTEGER NOT NULL); "
                             "PRAGMA user_version = 1");
}

/* The bytes of a file with an empty table; freed with sqlite3_free. */
static struct err *make_image(unsigned char **image, sqlite3_int64 *size, bool by_hash)
{
    struct repcache_db *db;
    TRY(open_connection(&db, ":memory:", 0));
    struct err *err = make_table(db, by_hash);
    if (!err) {
        *image = sqlite3_serialize(db->db, "main", size, 0);
        if (!*image)
            err = err_errno(ENOMEM, "Can't make an empty rep-cache");
    }
    repcache_db_close(db);
    return err;
}

/* Put a whole file with an empty table at PATH if nothing is there; false if that was not possible.
 * Stock tools look whether there is a table, and make it in a second step, which fails if another
 * has made it in between: it must be there as soon as the file is. Who may write to the repository
 * may write to the file: its mode is that of `current` beside it. */
static bool make_file(const char *path, bool by_hash)
{
    AUTO_BUF(folder);
    AUTO_BUF(current);
    AUTO_BUF(unnamed);
    struct str parent = {path, str_rfind(str_of(path), '/')};
    buf_printf(&folder, "%.*s%c", (int)parent.n, parent.p, '\0');
    buf_printf(&current, "%s/current%c", folder.p, '\0');
    int fd = open(folder.p, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    buf_printf(&unnamed, "/proc/self/fd/%d%c", fd, '\0');
    struct stat st;
    unsigned char *image = NULL;
    sqlite3_int64 size = 0;
    struct err *err = make_image(&image, &size, by_hash);
    if (!err)
        err = file_write_all(unnamed.p, (struct str){(char *)image, (size_t)size}, 0666);
    bool made = !err && stat(current.p, &st) == 0 && fchmod(fd, st.st_mode & 0777) == 0 &&
                linkat(AT_FDCWD, unnamed.p, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
    err_free(err);
    sqlite3_free(image);
    close(fd);
    return made;
}

/* Whoever has created a file without a table is about to make the table: wait a moment for that.
 * Then make it, looking again under the write lock. */
static struct err *make_table_in_place(struct repcache_db *db, bool *made, bool by_hash)
{
    int64_t version = 0;
    for (int waited = 0; waited < GRACE_MS && version == 0; waited += 20) {
        usleep(20 * 1000);
        TRY(schema_version(&version, db));
    }
    if (version != 0)
        return NULL;
    TRY(run(db, "BEGIN IMMEDIATE"));
    struct err *err = schema_version(&version, db);
    if (!err && version == 0) {
        err = make_table(db, by_hash);
        *made = true;
    }
    if (!err)
        return run(db, "COMMIT");
    return err_join(err, run(db, "ROLLBACK"));
}

struct err *repcache_db_open_or_make(struct repcache_db **out, bool *made, const char *path,
                                     bool by_hash)
{
    struct repcache_db *db;
    int64_t version;
    *made = !file_exists(path) && make_file(path, by_hash);
    TRY(open_connection(&db, path, SQLITE_OPEN_CREATE));
    struct err *err = schema_version(&version, db);
    if (!err && version == 0)
        err = make_table_in_place(db, made, by_hash);
    if (!err)
        err = query_number(&db->data_version, db, "PRAGMA data_version");
    if (err) {
        repcache_db_close(db);
        return err;
    }
    *out = db;
    return NULL;
}

/* ---- rows ---- */

/* False where the row can't be one: somebody's mistake or a damaged file. Columns: hash, revision,
 * offset, size, expanded_size. */
static bool row_take(struct repcache_row *out, sqlite3_stmt *stmt)
{
    int64_t numbers[4];
    for (int i = 0; i < 4; i++) {
        numbers[i] = sqlite3_column_int64(stmt, i + 1);
        if (numbers[i] < 0)
            return false;
    }
    out->rev = numbers[0];
    out->item = (uint64_t)numbers[1];
    out->size = (uint64_t)numbers[2];
    out->expanded = (uint64_t)numbers[3];
    const char *hash = (const char *)sqlite3_column_text(stmt, 0);
    return hash && num_unhex(out->sha1, SHA1_SIZE, str_of(hash));
}

struct err *repcache_db_find(struct repcache_row *out, bool *found, struct repcache_db *db,
                             const uint8_t sha1[SHA1_SIZE])
{
    char hash[HASH_DIGITS];
    num_hex(hash, sha1, SHA1_SIZE);
    TRY(prepare(
        &db->find, db,
        "SELECT hash, revision, offset, size, expanded_size FROM rep_cache WHERE hash = ?1"));
    sqlite3_bind_text(db->find, 1, hash, sizeof hash, SQLITE_STATIC);
    int rc = sqlite3_step(db->find);
    *found = rc == SQLITE_ROW && row_take(out, db->find);
    struct err *err = check(db, rc);
    sqlite3_reset(db->find); /* lets go of the file's lock */
    return err;
}

static struct err *insert_row(struct repcache_db *db, const struct repcache_row *row)
{
    char hash[HASH_DIGITS];
    num_hex(hash, row->sha1, SHA1_SIZE);
    sqlite3_bind_text(db->insert, 1, hash, sizeof hash, SQLITE_STATIC);
    sqlite3_bind_int64(db->insert, 2, row->rev);
    sqlite3_bind_int64(db->insert, 3, (int64_t)row->item);
    sqlite3_bind_int64(db->insert, 4, (int64_t)row->size);
    sqlite3_bind_int64(db->insert, 5, (int64_t)row->expanded);
    struct err *err = check(db, sqlite3_step(db->insert));
    sqlite3_reset(db->insert);
    return err;
}

static struct err *insert_rows(struct repcache_db *db, bool *foreign,
                               const struct repcache_row *rows, size_t n)
{
    int64_t data_version;
    TRY(query_number(&data_version, db, "PRAGMA data_version"));
    *foreign = data_version != db->data_version;
    db->data_version = data_version;
    for (size_t i = 0; i < n; i++)
        TRY(insert_row(db, &rows[i]));
    return run(db, "COMMIT");
}

struct err *repcache_db_insert(struct repcache_db *db, bool *foreign,
                               const struct repcache_row *rows, size_t n)
{
    TRY(prepare(&db->insert, db,
                "INSERT OR IGNORE INTO rep_cache (hash, revision, offset, size, expanded_size) "
                "VALUES (?1, ?2, ?3, ?4, ?5)"));
    TRY(run(db, "BEGIN IMMEDIATE"));
    struct err *err = insert_rows(db, foreign, rows, n);
    if (err && !sqlite3_get_autocommit(db->db))
        err = err_join(err, run(db, "ROLLBACK"));
    return err;
}

struct err *repcache_db_each(struct repcache_db *db,
                             struct err *(*fn)(void *arg, const struct repcache_row *row),
                             void *arg)
{
    sqlite3_stmt *stmt = NULL;
    struct err *err =
        prepare(&stmt, db, "SELECT hash, revision, offset, size, expanded_size FROM rep_cache");
    int rc = SQLITE_DONE;
    while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct repcache_row row;
        err = row_take(&row, stmt) ? fn(arg, &row)
                                   : err_make(E_FS_CORRUPT, "Malformed row '%s' in '%s'",
                                              (const char *)sqlite3_column_text(stmt, 0), db->path);
    }
    if (!err)
        err = check(db, rc);
    sqlite3_finalize(stmt);
    return err;
}
