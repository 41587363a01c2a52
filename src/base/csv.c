#include "base/csv.h"

#include "base/buf.h"
#include "base/num.h"

#include <stdbool.h>
#include <string.h>

/* The position inside one record while it is split into cells. */
struct cursor {
    const char *at, *end;
    char *out; /* unquoted text goes here: never longer than the record and one NUL */
    long line;
};

static int fail(const struct eco_csv *c, long line, size_t cell, struct eco_err *err,
                const char *what)
{
    return eco_err_set_at(err, ECO_E_CONTENT, c->name, line, (long)cell + 1,
                          "'%s' line %ld column %zu: %s", c->name, line, cell + 1, what);
}

/* A quoted cell, cur->at after its opening quote: the place after its closing one. */
static int take_quoted(struct eco_csv *c, struct cursor *cur, size_t cell, struct eco_err *err)
{
    long open_line = cur->line;

    for (;; cur->at++) {
        if (cur->at == cur->end) {
            return fail(c, open_line, cell, err, "the quote that opens here is never closed");
        }
        if (*cur->at == '"') {
            if (cur->at + 1 == cur->end || cur->at[1] != '"') {
                break;
            }
            cur->at++;
        }
        cur->line += *cur->at == '\n';
        *cur->out++ = *cur->at;
    }
    cur->at++;
    if (cur->at < cur->end && *cur->at != ',' && *cur->at != '\n' && *cur->at != '\r') {
        return fail(c, cur->line, cell, err, "text after a closing quote");
    }
    return 0;
}

static int take_plain(struct eco_csv *c, struct cursor *cur, size_t cell, struct eco_err *err)
{
    while (cur->at < cur->end && *cur->at != ',' && *cur->at != '\n' && *cur->at != '\r') {
        if (*cur->at == '"') {
            return fail(c, cur->line, cell, err, "a quote inside a cell that is not quoted");
        }
        *cur->out++ = *cur->at++;
    }
    return 0;
}

static int take_cell(struct eco_csv *c, struct cursor *cur, size_t cell, struct eco_csv_cell *out,
                     struct eco_err *err)
{
    const char *first = cur->out;
    int code;

    if (cur->at < cur->end && *cur->at == '"') {
        cur->at++;
        code = take_quoted(c, cur, cell, err);
    } else {
        code = take_plain(c, cur, cell, err);
    }
    if (code < 0) {
        return code;
    }
    out->s = first;
    out->len = (size_t)(cur->out - first);
    *cur->out++ = '\0';
    if (out->len > ECO_CSV_MAX_CELL) {
        return eco_err_set_at(err, ECO_E_TOO_LARGE, c->name, cur->line, (long)cell + 1,
                              "'%s' line %ld column %zu: a cell of %zu bytes; at most %u", c->name,
                              cur->line, cell + 1, out->len, ECO_CSV_MAX_CELL);
    }
    if (memchr(first, '\0', out->len) != NULL) {
        return fail(c, cur->line, cell, err, "a NUL byte");
    }
    if (!eco_str_is_utf8(first, out->len)) {
        return fail(c, cur->line, cell, err, "the text is not UTF-8");
    }
    return 0;
}

/* The end of the record at `at`: where its line ends outside quotes. */
static const char *record_end(const char *at, const char *end)
{
    bool quoted = false;

    for (; at < end && (quoted || *at != '\n'); at++) {
        quoted ^= *at == '"';
    }
    return at;
}

/* Splits the record at c->at into `cells`; c->at goes to the next one. */
static int take_record(struct eco_csv *c, struct eco_arena *arena, struct eco_csv_cell *cells,
                       size_t *count, struct eco_err *err)
{
    struct cursor cur = {.at = c->at, .line = c->next_line};
    size_t n = 0;

    cur.end = record_end(c->at, c->end);
    cur.out = eco_arena_alloc(arena, (size_t)(cur.end - cur.at) + 2);
    if (cur.out == NULL) {
        return eco_err_set(err, ECO_E_NO_MEMORY, c->name, "out of memory reading '%s'", c->name);
    }
    c->line = c->next_line;
    for (;;) {
        if (n == ECO_CSV_MAX_COLUMNS) {
            return eco_err_set_at(err, ECO_E_TOO_LARGE, c->name, cur.line, (long)n + 1,
                                  "'%s' line %ld: more than %d columns", c->name, cur.line,
                                  ECO_CSV_MAX_COLUMNS);
        }
        int code = take_cell(c, &cur, n, &cells[n], err);
        if (code < 0) {
            return code;
        }
        n++;
        if (cur.at == cur.end || *cur.at != ',') {
            break;
        }
        cur.at++;
    }
    if (cur.at < cur.end && *cur.at == '\r') {
        cur.at++;
        if (cur.at < cur.end || cur.at == c->end) {
            return fail(c, cur.line, n - 1, err, "a carriage return without a line feed");
        }
    }
    c->next_line = cur.line + 1;
    c->at = cur.at < c->end ? cur.at + 1 : c->end;
    *count = n;
    return 0;
}

static void skip_blank_lines(struct eco_csv *c)
{
    while (c->at < c->end) {
        const char *p = c->at + (*c->at == '\r');
        if (p == c->end || *p != '\n') {
            return;
        }
        c->at = p + 1;
        c->next_line++;
    }
}

static int check_header(struct eco_csv *c, struct eco_err *err)
{
    for (size_t i = 0; i < c->columns; i++) {
        if (c->header[i].len == 0) {
            return fail(c, c->line, i, err, "a column without a name");
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(c->header[k].s, c->header[i].s) == 0) {
                return eco_err_set_at(err, ECO_E_CONTENT, c->header[i].s, c->line, (long)i + 1,
                                      "'%s' line %ld column %zu: the name '%s' is there twice",
                                      c->name, c->line, i + 1, c->header[i].s);
            }
        }
    }
    return 0;
}

int eco_csv_open(struct eco_csv *c, const char *name, const char *text, size_t len,
                 struct eco_err *err)
{
    int code;

    memset(c, 0, sizeof *c);
    c->name = name;
    c->text = c->at = text;
    c->end = text + len;
    c->next_line = 1;
    eco_arena_init(&c->head_arena, 0);
    eco_arena_init(&c->row_arena, 0);
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        c->at += 3;
    }
    skip_blank_lines(c);
    if (c->at == c->end) {
        return fail(c, c->next_line, 0, err, "there is no header row");
    }
    code = take_record(c, &c->head_arena, c->header, &c->columns, err);
    if (code == 0) {
        code = check_header(c, err);
    }
    if (code < 0) {
        eco_csv_done(c);
    }
    return code;
}

int eco_csv_next(struct eco_csv *c, struct eco_err *err)
{
    size_t n = 0;
    int code;

    skip_blank_lines(c);
    if (c->at == c->end) {
        return 0;
    }
    eco_arena_reset(&c->row_arena);
    code = take_record(c, &c->row_arena, c->cell, &n, err);
    if (code < 0) {
        return code;
    }
    if (n != c->columns) {
        return eco_err_set_at(err, ECO_E_CONTENT, c->name, c->line, (long)n,
                              "'%s' line %ld: %zu cells, the header has %zu", c->name, c->line, n,
                              c->columns);
    }
    return 1;
}

int eco_csv_column(const struct eco_csv *c, const char *name)
{
    for (size_t i = 0; i < c->columns; i++) {
        if (strcmp(c->header[i].s, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int eco_csv_num(const struct eco_csv *c, int column, double *out, struct eco_err *err)
{
    if (column < 0 || (size_t)column >= c->columns || c->cell[column].len == 0) {
        return 0;
    }
    const struct eco_csv_cell *cell = &c->cell[column];
    const char *title = c->header[column].s;
    int code = eco_num_parse_lenient(cell->s, cell->len, out);
    if (code < 0) {
        return eco_err_set_at(err, ECO_E_CONTENT, title, c->line, (long)column + 1,
                              "'%s' line %ld column '%s': '%.40s' is %s", c->name, c->line, title,
                              cell->s, code == ECO_E_RANGE ? "too large" : "not a number");
    }
    return 1;
}

void eco_csv_done(struct eco_csv *c)
{
    if (c != NULL) {
        eco_arena_done(&c->head_arena);
        eco_arena_done(&c->row_arena);
        c->columns = 0;
        c->at = c->end;
    }
}

void eco_csv_put(struct eco_buf *b, const char *s, size_t len)
{
    bool quote = len > 0 && (s[0] == ' ' || s[len - 1] == ' ');

    for (size_t i = 0; i < len && !quote; i++) {
        quote = s[i] == '"' || s[i] == ',' || s[i] == '\n' || s[i] == '\r';
    }
    if (!quote) {
        eco_buf_put(b, s, len);
        return;
    }
    eco_buf_putc(b, '"');
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '"') {
            eco_buf_putc(b, '"');
        }
        eco_buf_putc(b, s[i]);
    }
    eco_buf_putc(b, '"');
}
