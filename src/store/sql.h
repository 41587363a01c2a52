/*
 * What the store needs of a database: statements with values, rows of values. The statements are
 * the same for both: parameters are $1, $2 … in the order they first appear (SQLite numbers names
 * by that order), types are TEXT, BIGINT and DOUBLE PRECISION. One thread at a time.
 */
#ifndef ECO_STORE_SQL_H
#define ECO_STORE_SQL_H

#include "base/arena.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_type { STORE_NULL = 0, STORE_INT, STORE_REAL, STORE_TEXT };

struct store_value {
    enum store_type type;
    int64_t i;
    double d;
    const char *s; /* NUL-terminated */
    size_t len;
};

/* Cells of a result, row by row, in the arena. */
struct store_rows {
    struct store_value *cells;
    size_t count, columns, room;
};

struct store_sql;

struct store_sql_class {
    const char *name;   /* "sqlite" */
    const char *serial; /* the type of a column that numbers its rows */
    const char *begin;  /* of a transaction that writes */
    const char *lock;   /* so that one process migrates at a time; inside a transaction; "" */
    const char *forget; /* after a withdrawal: the bytes leave the files too; "": not ours to do */
    /** `rows` NULL: the result is not wanted. */
    int (*run)(struct store_sql *db, const char *sql, const struct store_value *args, size_t n,
               struct eco_arena *arena, struct store_rows *rows, struct eco_err *err);
    int (*check)(struct store_sql *db, bool quick, struct eco_err *err); /* is every page whole? */
    int (*ready)(struct store_sql *db, struct eco_err *err); /* could something be written now? */
    void (*close)(struct store_sql *db);
};

struct store_sql {
    const struct store_sql_class *class;
};

int eco_sql_open_sqlite(const char *path, int busy_ms, struct store_sql **out, struct eco_err *err);
int eco_sql_open_postgres(const char *url, int busy_ms, struct store_sql **out,
                          struct eco_err *err);

struct store_value eco_sql_null(void);
struct store_value eco_sql_int(int64_t v);
struct store_value eco_sql_real(double v);      /* NAN becomes NULL */
struct store_value eco_sql_text(const char *s); /* NULL becomes NULL */
struct store_value eco_sql_bytes(const char *s, size_t len);

/** A new row of `columns` NULLs, or NULL: out of memory. */
struct store_value *eco_sql_row(struct store_rows *rows, size_t columns, struct eco_arena *arena);
const struct store_value *eco_sql_cell(const struct store_rows *rows, size_t row, size_t column);
int64_t eco_sql_as_int(const struct store_value *v, int64_t absent);
double eco_sql_as_real(const struct store_value *v);      /* NAN */
const char *eco_sql_as_text(const struct store_value *v); /* "" */

#endif
