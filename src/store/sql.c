#include "sql.h"

#include <math.h>
#include <string.h>

struct store_value eco_sql_null(void)
{
    return (struct store_value){.type = STORE_NULL};
}

struct store_value eco_sql_int(int64_t v)
{
    return (struct store_value){.type = STORE_INT, .i = v};
}

struct store_value eco_sql_real(double v)
{
    return isnan(v) ? eco_sql_null() : (struct store_value){.type = STORE_REAL, .d = v};
}

struct store_value eco_sql_text(const char *s)
{
    return s ? eco_sql_bytes(s, strlen(s)) : eco_sql_null();
}

struct store_value eco_sql_bytes(const char *s, size_t len)
{
    return (struct store_value){.type = STORE_TEXT, .s = s, .len = len};
}

struct store_value *eco_sql_row(struct store_rows *rows, size_t columns, struct eco_arena *arena)
{
    if (rows->count == rows->room) {
        size_t room = rows->room ? 2 * rows->room : 8;
        struct store_value *more = eco_arena_array(arena, room * columns, sizeof(*more));
        if (!more)
            return NULL;
        if (rows->count)
            memcpy(more, rows->cells, rows->count * columns * sizeof(*more));
        rows->cells = more;
        rows->room = room;
    }
    rows->columns = columns;
    struct store_value *row = rows->cells + rows->count++ * columns;
    for (size_t i = 0; i < columns; i++)
        row[i] = eco_sql_null();
    return row;
}

const struct store_value *eco_sql_cell(const struct store_rows *rows, size_t row, size_t column)
{
    return &rows->cells[row * rows->columns + column];
}

int64_t eco_sql_as_int(const struct store_value *v, int64_t absent)
{
    return v->type == STORE_INT ? v->i : v->type == STORE_REAL ? (int64_t)v->d : absent;
}

double eco_sql_as_real(const struct store_value *v)
{
    return v->type == STORE_REAL ? v->d : v->type == STORE_INT ? (double)v->i : (double)NAN;
}

const char *eco_sql_as_text(const struct store_value *v)
{
    return v->type == STORE_TEXT ? v->s : "";
}
