/*
 * CSV (RFC 4180): header row, quoted fields, CRLF or LF, UTF-8 with optional BOM. A pull reader
 * over a buffer: cells are slices, unquoted into the reader's own row memory. Every error names
 * file, line and column. A row with another number of cells than the header is an error.
 */
#ifndef ECO_BASE_CSV_H
#define ECO_BASE_CSV_H

#include "arena.h"
#include "eco_err.h"

#include <stddef.h>

#define ECO_CSV_MAX_COLUMNS 256
#define ECO_CSV_MAX_CELL (1u << 20)

struct eco_csv_cell {
    const char *s; /* NUL-terminated; valid until the next row */
    size_t len;
};

struct eco_csv {
    const char *name; /* for messages; borrowed */
    const char *text, *at, *end;
    long line; /* of the row read last */
    long next_line;
    size_t columns;
    struct eco_csv_cell header[ECO_CSV_MAX_COLUMNS]; /* valid until done */
    struct eco_csv_cell cell[ECO_CSV_MAX_COLUMNS];
    struct eco_arena head_arena, row_arena;
};

/** Reads the header of text[0..len) (borrowed until done). Duplicate or empty names are errors. */
int eco_csv_open(struct eco_csv *c, const char *name, const char *text, size_t len,
                 struct eco_err *err);
/** 1: a row is in c->cell; 0: the end; < 0: error. Blank lines are passed over. */
int eco_csv_next(struct eco_csv *c, struct eco_err *err);
int eco_csv_column(const struct eco_csv *c, const char *name); /* index or -1 */
/** A cell as a number: 1 set, 0 empty, < 0 ECO_E_CONTENT with line and the column's name. */
int eco_csv_num(const struct eco_csv *c, int column, double *out, struct eco_err *err);
void eco_csv_done(struct eco_csv *c);
/** Writes one cell, quoted when it must be. */
struct eco_buf;
void eco_csv_put(struct eco_buf *b, const char *s, size_t len);

#endif
