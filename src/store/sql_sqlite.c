/* SQLite: one file, write-ahead log, every commit synced. */
#include "sql.h"

#include "base/clock.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define ROOM_BYTES ((size_t)1 << 20) /* below this a report and its log may not fit */

struct sqlite {
    struct store_sql base;
    sqlite3 *db;
    int busy_ms;
    char path[256];   /* for messages */
    char damage[100]; /* "", or what was found: from then on nothing is taken or read */
    bool is_file;     /* there was one at `path` when it was opened: this one */
    dev_t device;
    ino_t inode;
};

/* What went wrong, by kind: a damaged file is named, a full disk is no fault of the report. */
static int failed(struct sqlite *s, int code, struct eco_err *err)
{
    const char *what = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        snprintf(s->damage, sizeof(s->damage), "%.90s", what);
        return eco_err_set(err, ECO_E_CONTENT, "store", "the store '%.120s' is damaged: %.100s",
                           s->path, what);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return eco_err_set(err, ECO_E_DEVICE, "store",
                           "another process has held the store '%.120s' for %d ms", s->path,
                           s->busy_ms);
    case SQLITE_NOMEM:
        return eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return eco_err_set(err, ECO_E_PERMISSION, "store", "the store '%.120s': %.100s", s->path,
                           what);
    default:
        return eco_err_set(err, ECO_E_IO, "store", "the store '%.120s': %.100s", s->path, what);
    }
}

/* A file that was removed or replaced would take reports into nowhere: the open one has no name. */
static int still_there(const struct sqlite *s, struct eco_err *err)
{
    struct stat now;
    if (!s->is_file ||
        (stat(s->path, &now) == 0 && now.st_dev == s->device && now.st_ino == s->inode))
        return 0;
    return eco_err_set(err, ECO_E_IO, "store",
                       "the store '%.120s' was removed or replaced: restart the server", s->path);
}

static int bind(sqlite3_stmt *statement, int at, const struct store_value *v)
{
    switch (v->type) {
    case STORE_INT:
        return sqlite3_bind_int64(statement, at, v->i);
    case STORE_REAL:
        return sqlite3_bind_double(statement, at, v->d);
    case STORE_TEXT:
        return sqlite3_bind_text64(statement, at, v->s, v->len, SQLITE_STATIC, SQLITE_UTF8);
    case STORE_NULL:
        break;
    }
    return sqlite3_bind_null(statement, at);
}

static bool take(sqlite3_stmt *statement, struct eco_arena *arena, struct store_rows *rows)
{
    int columns = sqlite3_column_count(statement);
    struct store_value *row = eco_sql_row(rows, (size_t)columns, arena);
    for (int i = 0; row && i < columns; i++) {
        int type = sqlite3_column_type(statement, i);
        if (type == SQLITE_INTEGER) {
            row[i] = eco_sql_int(sqlite3_column_int64(statement, i));
        } else if (type == SQLITE_FLOAT) {
            row[i] = eco_sql_real(sqlite3_column_double(statement, i));
        } else if (type != SQLITE_NULL) {
            const char *s = (const char *)sqlite3_column_text(statement, i);
            size_t len = (size_t)sqlite3_column_bytes(statement, i);
            const char *copy = s ? eco_arena_strdup(arena, s, len) : NULL;
            if (!copy)
                return false;
            row[i] = eco_sql_bytes(copy, len);
        }
    }
    return row != NULL;
}

/* One attempt: SQLite's code, or SQLITE_NOMEM when the rows found no room. */
static int attempt(struct sqlite *s, const char *sql, const struct store_value *args, size_t n,
                   struct eco_arena *arena, struct store_rows *rows)
{
    sqlite3_stmt *statement = NULL;
    bool memory = true;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < n; i++)
        code = bind(statement, (int)i + 1, &args[i]);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW && memory) {
            if (rows)
                memory = take(statement, arena, rows);
        }
    }
    sqlite3_finalize(statement);
    return memory ? code : SQLITE_NOMEM;
}

/* SQLite says "busy" at once, without its own wait, where waiting could be a deadlock: two that
   open a new file and both change it to write-ahead logging. Outside of a transaction nothing is
   held, so the wait can go on here, for as long as the message says. */
static int run(struct store_sql *db, const char *sql, const struct store_value *args, size_t n,
               struct eco_arena *arena, struct store_rows *rows, struct eco_err *err)
{
    struct sqlite *s = (struct sqlite *)db;
    const int64_t deadline_ns = eco_clock_mono_ns() + (int64_t)s->busy_ms * 1000000;
    int code;
    if (still_there(s, err) != 0)
        return ECO_E_IO;
    if (s->damage[0] && strcmp(sql, "ROLLBACK") != 0)
        return eco_err_set(err, ECO_E_CONTENT, "store", "the store '%.120s' is damaged: %.100s",
                           s->path, s->damage);
    while ((code = attempt(s, sql, args, n, arena, rows)) == SQLITE_BUSY &&
           sqlite3_get_autocommit(s->db) && (!rows || rows->count == 0) &&
           eco_clock_mono_ns() < deadline_ns)
        sqlite3_sleep(1);
    return code == SQLITE_DONE || code == SQLITE_OK ? 0 : failed(s, code, err);
}

static int check(struct store_sql *db, bool quick, struct eco_err *err)
{
    struct sqlite *s = (struct sqlite *)db;
    struct eco_arena arena;
    struct store_rows rows = {0};
    eco_arena_init(&arena, 0);
    int rc = run(db, quick ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)", NULL, 0, &arena,
                 &rows, err);
    const char *said = rc == 0 && rows.count ? eco_sql_as_text(eco_sql_cell(&rows, 0, 0)) : "";
    if (rc == 0 && strcmp(said, "ok") != 0)
        rc = eco_err_set(err, ECO_E_CONTENT, "store", "the store '%.120s' is damaged: %.100s",
                         s->path, said);
    eco_arena_done(&arena);
    return rc;
}

/* The lock that a writer needs, and a disk that takes pages. */
static int ready(struct store_sql *db, struct eco_err *err)
{
    struct sqlite *s = (struct sqlite *)db;
    struct statvfs disk;
    int rc = still_there(s, err);
    if (rc == 0 && s->is_file && statvfs(s->path, &disk) == 0) {
        if (disk.f_flag & ST_RDONLY)
            return eco_err_set(err, ECO_E_PERMISSION, "store",
                               "the store '%.120s' is on a file system that is read-only", s->path);
        if (disk.f_bavail < ROOM_BYTES / disk.f_frsize)
            return eco_err_set(err, ECO_E_IO, "store", "the disk of the store '%.120s' is full",
                               s->path);
    }
    rc = rc ? rc : run(db, "SELECT count(*) FROM eco_schema", NULL, 0, NULL, NULL, err);
    rc = rc ? rc : run(db, "BEGIN IMMEDIATE", NULL, 0, NULL, NULL, err);
    return rc ? rc : run(db, "ROLLBACK", NULL, 0, NULL, NULL, err);
}

static void close_db(struct store_sql *db)
{
    struct sqlite *s = (struct sqlite *)db;
    sqlite3_close(s->db);
    free(s);
}

static const struct store_sql_class class = {"sqlite",
                                             "INTEGER PRIMARY KEY AUTOINCREMENT",
                                             "BEGIN IMMEDIATE",
                                             "",
                                             "PRAGMA wal_checkpoint(TRUNCATE)",
                                             run,
                                             check,
                                             ready,
                                             close_db};

int eco_sql_open_sqlite(const char *path, int busy_ms, struct store_sql **out, struct eco_err *err)
{
    static const char *const setup[] = {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
                                        "PRAGMA foreign_keys=ON", "PRAGMA trusted_schema=OFF",
                                        "PRAGMA secure_delete=ON"};
    struct sqlite *s = calloc(1, sizeof(*s));
    if (!s)
        return eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    s->base.class = &class;
    s->busy_ms = busy_ms;
    snprintf(s->path, sizeof(s->path), "%.250s", path);
    int rc = 0;
    int code = sqlite3_open_v2(
        path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
    if (code != SQLITE_OK)
        rc = failed(s, code, err);
    if (rc == 0)
        sqlite3_busy_timeout(s->db, busy_ms);
    struct stat file;
    s->is_file = rc == 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode);
    s->device = s->is_file ? file.st_dev : 0;
    s->inode = s->is_file ? file.st_ino : 0;
    for (size_t i = 0; rc == 0 && i < sizeof(setup) / sizeof(setup[0]); i++)
        rc = run(&s->base, setup[i], NULL, 0, NULL, NULL, err);
    if (rc != 0) {
        close_db(&s->base);
        return rc;
    }
    *out = &s->base;
    return 0;
}
