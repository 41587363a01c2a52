/* SQLite: one file, write-ahead log, every commit synced. */
#include "sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sqlite {
    struct store_sql base;
    sqlite3 *db;
    int busy_ms;
    char path[256]; /* for messages */
};

/* What went wrong, by kind: a damaged file is named, a full disk is no fault of the report. */
static int failed(const struct sqlite *s, int code, struct eco_err *err)
{
    const char *what = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
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

static int run(struct store_sql *db, const char *sql, const struct store_value *args, size_t n,
               struct eco_arena *arena, struct store_rows *rows, struct eco_err *err)
{
    struct sqlite *s = (struct sqlite *)db;
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
    int rc = 0;
    if (!memory)
        rc = eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    else if (code != SQLITE_DONE && code != SQLITE_OK)
        rc = failed(s, code, err);
    sqlite3_finalize(statement);
    return rc;
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

static void close_db(struct store_sql *db)
{
    struct sqlite *s = (struct sqlite *)db;
    sqlite3_close(s->db);
    free(s);
}

static const struct store_sql_class class = {
    "sqlite", "INTEGER PRIMARY KEY AUTOINCREMENT", "BEGIN IMMEDIATE", "", run, check, close_db};

int eco_sql_open_sqlite(const char *path, int busy_ms, struct store_sql **out, struct eco_err *err)
{
    static const char *const setup[] = {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
                                        "PRAGMA foreign_keys=ON", "PRAGMA trusted_schema=OFF"};
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
    for (size_t i = 0; rc == 0 && i < sizeof(setup) / sizeof(setup[0]); i++)
        rc = run(&s->base, setup[i], NULL, 0, NULL, NULL, err);
    if (rc != 0) {
        close_db(&s->base);
        return rc;
    }
    *out = &s->base;
    return 0;
}
