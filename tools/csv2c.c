/*
 * csv2c OUT_DIR DATA_DIR FILE...: the CSVs of data/ -> C tables. A host program of the build.
 *
 * data/columns.def says which tables and columns there are; a file that does not match it, a cell
 * that is not what its column says, a repeated key or a reference to nothing stops the build with
 * "file:line:column: message". Number text is copied as it stands; text is quoted. Written are
 * eco_data.h, one eco_data_<table>.c each, eco_data_text.c (the string pool) and
 * eco_data_digests.c (SHA-256 of every file). Output depends on the inputs alone.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/num.h"
#include "csv2c_words.h"
#include "eco_types.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 256
#define MAX_FILE_BYTES (32u << 20)
#define MAX_ROWS 60000u
#define MAX_COLUMNS 64
#define EXTRA "extra." /* fields of a second array */
#define ROWS_TABLE 0   /* the first of columns.def: the measured rows */

enum type {
    KEY,
    TEXT,
    NUM,
    INT,
    COUNT,
    BOOL,
    ARCH,
    PRECISION,
    ENGINE,
    GRADE,
    BOUNDARY,
    BASIS,
    CLASS,
    ROW
};
enum style { POOL, DIRECT };
enum required { YES, NO, D };

struct table {
    const char *name, *files, *ctype, *title;
    enum style style;
};
struct column {
    const char *table, *name, *field, *type_name, *unit, *meaning;
    enum type type;
    enum required required;
};

static const struct table tables[] = {
#define ECO_TABLE(table, files, style, ctype, title) {#table, files, #ctype, title, style},
#include "columns.def"
};
static const struct column columns[] = {
#define ECO_COLUMN(table, column, type, field, unit, required, meaning)                            \
    {#table, #column, #field, #type, unit, meaning, type, required},
#include "columns.def"
};
static const struct {
    const char *table, *members;
} fills[] = {
#define ECO_FILL(table, members) {#table, members},
#include "columns.def"
};
enum { TABLES = sizeof tables / sizeof tables[0], COLUMNS = sizeof columns / sizeof columns[0] };

/* One data file: its place in the tables, its bytes. */
struct source {
    const char *path; /* relative to the data folder */
    int table, part;  /* part: entry of the table's file list */
    struct eco_buf bytes;
    char sha256[65];
    size_t rows;
};

/* A key seen, for duplicates and references; sorted once, searched after. */
struct key {
    const char *text, *path;
    size_t index;
    long line;
};

struct work {
    struct source sources[MAX_FILES];
    size_t n_sources;
    const char *out_dir, *data_dir;
    struct eco_arena arena;
    struct key *row_keys; /* ids of table rows, sorted */
    size_t n_row_keys;
    struct key *pool; /* strings of the pool, sorted by text; index = offset */
    size_t n_pool, cap_pool;
    struct eco_buf pool_text;
    size_t pool_bytes;
};

static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

static void *need(void *p)
{
    if (p == NULL)
        die("csv2c: out of memory");
    return p;
}

static int key_order(const void *a, const void *b)
{
    return strcmp(((const struct key *)a)->text, ((const struct key *)b)->text);
}

/* A file belongs to the table whose list names it or its folder; `part`: its place in the list. */
static bool place(struct source *s)
{
    for (int t = 0; t < TABLES; t++) {
        const char *at = tables[t].files;
        for (int part = 0; *at != '\0'; part++) {
            size_t n = strcspn(at, " ");
            if (strncmp(s->path, at, n) == 0 && (s->path[n] == '/' || s->path[n] == '\0')) {
                s->table = t;
                s->part = part;
                return true;
            }
            at += n;
            at += strspn(at, " ");
        }
    }
    return false;
}

static int source_order(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    if (x->table != y->table)
        return x->table < y->table ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void read_sources(struct work *w, char **paths, size_t n)
{
    struct eco_err err = {0};

    if (n > MAX_FILES)
        die("csv2c: more than %d files", MAX_FILES);
    for (size_t i = 0; i < n; i++) {
        struct source *s = &w->sources[w->n_sources++];
        char *path = eco_arena_printf(&w->arena, "%s/%s", w->data_dir, paths[i]);

        s->path = paths[i];
        s->table = -1;
        if (!place(s) && strcmp(paths[i], "columns.def") != 0)
            die("%s:1:1: no table of columns.def is made of this file", paths[i]);
        if (eco_file_read(need(path), MAX_FILE_BYTES, &s->bytes, &err) != 0)
            die("%s:1:1: %s", paths[i], err.message);
        eco_sha256_hex(s->bytes.data, s->bytes.len, s->sha256);
    }
    qsort(w->sources, w->n_sources, sizeof w->sources[0], source_order);
}

/* Columns of table t, in file order. */
static size_t table_columns(int t, const struct column *out[MAX_COLUMNS])
{
    size_t n = 0;

    for (int c = 0; c < COLUMNS; c++) {
        if (strcmp(columns[c].table, tables[t].name) == 0) {
            if (n == MAX_COLUMNS)
                die("csv2c: table %s has more than %d columns", tables[t].name, MAX_COLUMNS);
            out[n++] = &columns[c];
        }
    }
    return n;
}

static void open_csv(struct eco_csv *csv, const struct source *s, const struct column *const *cols,
                     size_t n)
{
    struct eco_err err = {0};

    if (eco_csv_open(csv, s->path, s->bytes.data, s->bytes.len, &err) != 0)
        die("%s:%ld:%ld: %s", s->path, err.line, err.column, err.message);
    if (csv->columns != n)
        die("%s:1:1: %zu columns, columns.def has %zu", s->path, csv->columns, n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(csv->header[i].s, cols[i]->name) != 0)
            die("%s:1:%zu: column '%s', columns.def has '%s'", s->path, i + 1, csv->header[i].s,
                cols[i]->name);
    }
}

static bool next_row(struct eco_csv *csv, const struct source *s)
{
    struct eco_err err = {0};
    int got = eco_csv_next(csv, &err);

    if (got < 0)
        die("%s:%ld:%ld: %s", s->path, err.line, err.column, err.message);
    return got == 1;
}

/* Collects a key column over all files of a table, sorted; a repeat is an error. */
static struct key *collect_keys(struct work *w, int t, size_t col, size_t *count)
{
    const struct column *cols[MAX_COLUMNS];
    size_t n = table_columns(t, cols), rows = 0;
    struct key *keys = need(eco_arena_array(&w->arena, MAX_ROWS, sizeof *keys));

    for (size_t i = 0; i < w->n_sources; i++) {
        struct source *s = &w->sources[i];
        struct eco_csv csv;

        if (s->table != t)
            continue;
        open_csv(&csv, s, cols, n);
        while (next_row(&csv, s)) {
            if (rows == MAX_ROWS)
                die("%s:%ld:1: more than %u rows in table %s", s->path, csv.line, MAX_ROWS,
                    tables[t].name);
            keys[rows].text = need(eco_arena_strdup(&w->arena, csv.cell[col].s, csv.cell[col].len));
            keys[rows].path = s->path;
            keys[rows].line = csv.line;
            keys[rows].index = rows;
            rows++;
        }
        eco_csv_done(&csv);
    }
    qsort(keys, rows, sizeof *keys, key_order);
    for (size_t i = 1; i < rows; i++) {
        if (strcmp(keys[i - 1].text, keys[i].text) == 0)
            die("%s:%ld:%zu: '%s' is at %s:%ld too", keys[i].path, keys[i].line, col + 1,
                keys[i].text, keys[i - 1].path, keys[i - 1].line);
    }
    *count = rows;
    return keys;
}

static void put_quoted(struct eco_buf *out, const char *s, size_t len)
{
    eco_buf_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char ch = (unsigned char)s[i];
        if (ch == '"' || ch == '\\')
            eco_buf_printf(out, "\\%c", ch);
        else if (ch < 0x20 || ch >= 0x7f || ch == '?') /* '?': no trigraphs */
            eco_buf_printf(out, "\\%03o", ch);
        else
            eco_buf_putc(out, (char)ch);
    }
    eco_buf_putc(out, '"');
}

/* Offset of a string in the pool; the same text is stored once. */
static size_t pool_offset(struct work *w, const char *s, size_t len)
{
    size_t lo = 0, hi = w->n_pool;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(w->pool[mid].text, s);
        if (c == 0)
            return w->pool[mid].index;
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (w->n_pool == w->cap_pool) {
        w->cap_pool = w->cap_pool == 0 ? 1024 : 2 * w->cap_pool;
        w->pool = need(realloc(w->pool, w->cap_pool * sizeof *w->pool));
    }
    memmove(&w->pool[lo + 1], &w->pool[lo], (w->n_pool - lo) * sizeof *w->pool);
    w->pool[lo] = (struct key){need(eco_arena_strdup(&w->arena, s, len)), "", w->pool_bytes, 0};
    w->n_pool++;
    eco_buf_puts(&w->pool_text, "    ");
    put_quoted(&w->pool_text, s, len);
    eco_buf_puts(&w->pool_text, " \"\\0\"\n");
    w->pool_bytes += len + 1;
    return w->pool[lo].index;
}

static const struct word *words_of(enum type type)
{
    switch (type) {
    case ARCH:
        return arch_words;
    case PRECISION:
        return precision_words;
    case ENGINE:
        return engine_words;
    case GRADE:
        return grade_words;
    case BOUNDARY:
        return boundary_words;
    case BASIS:
        return basis_words;
    case CLASS:
        return class_words;
    case BOOL:
        return bool_words;
    default:
        return NULL;
    }
}

struct spot { /* where a cell is, for messages */
    const struct source *source;
    const struct column *column;
    long line;
    size_t cell;
};

static void bad_cell(const struct spot *at, const char *what, const char *text)
{
    die("%s:%ld:%zu: column '%s': %s '%.80s'", at->source->path, at->line, at->cell + 1,
        at->column->name, what, text);
}

static void put_word(struct eco_buf *out, const struct spot *at, const char *text)
{
    const struct word *words = words_of(at->column->type);

    if (*text == '\0') {
        eco_buf_puts(out, at->column->type == BOOL ? "false" : "0");
        return;
    }
    for (; words->text != NULL; words++) {
        if (strcmp(words->text, text) == 0) {
            eco_buf_puts(out, words->constant);
            return;
        }
    }
    bad_cell(at, "no such word", text);
}

static void put_number(struct eco_buf *out, const struct spot *at, const char *text, size_t len)
{
    double v;
    int64_t whole;

    if (len == 0) {
        eco_buf_puts(out, at->column->type == NUM ? "NAN" : "0");
        return;
    }
    if (at->column->type == NUM) {
        if (eco_num_parse(text, len, &v) != 0)
            bad_cell(at, "not a number", text);
        eco_buf_put(out, text, len);
        return;
    }
    if (eco_num_parse_i64(text, len, &whole) != 0 || whole < 0)
        bad_cell(at, "not a whole number", text);
    if (at->column->type == INT && whole > INT32_MAX)
        bad_cell(at, "too large", text);
    eco_buf_put(out, text, len);
    if (at->column->type == COUNT)
        eco_buf_puts(out, "u");
}

static void put_row_ref(struct work *w, struct eco_buf *out, const struct spot *at,
                        const char *text)
{
    struct key want = {text, "", 0, 0};
    const struct key *found;

    if (*text == '\0') {
        eco_buf_puts(out, "ECO_DATA_NO_ROW");
        return;
    }
    found = bsearch(&want, w->row_keys, w->n_row_keys, sizeof want, key_order);
    if (found == NULL)
        bad_cell(at, "no row has the id", text);
    else
        eco_buf_printf(out, "%zu", found->index);
}

static void put_cell(struct work *w, struct eco_buf *out, enum style style, const struct spot *at,
                     const struct eco_csv_cell *cell)
{
    switch (at->column->type) {
    case KEY:
    case TEXT:
        if (memchr(cell->s, '\0', cell->len) != NULL || !eco_str_is_utf8(cell->s, cell->len))
            bad_cell(at, "not UTF-8 text", cell->s);
        if (style == POOL)
            eco_buf_printf(out, "%zu", pool_offset(w, cell->s, cell->len));
        else
            put_quoted(out, cell->s, cell->len);
        break;
    case NUM:
    case INT:
    case COUNT:
        put_number(out, at, cell->s, cell->len);
        break;
    case ROW:
        put_row_ref(w, out, at, cell->s);
        break;
    default:
        put_word(out, at, cell->s);
    }
}

/* One row into `out`, its `extra.` members into `more`. */
static void put_row(struct work *w, struct eco_buf *out, struct eco_buf *more,
                    const struct source *s, const struct eco_csv *csv,
                    const struct column *const *cols, size_t n)
{
    enum style style = tables[s->table].style;
    bool grade_d = false;

    for (size_t i = 0; i < n; i++)
        grade_d = grade_d || (cols[i]->type == GRADE && strcmp(csv->cell[i].s, "D") == 0);
    eco_buf_puts(out, "    {");
    eco_buf_puts(more, "    {");
    if (style == POOL)
        eco_buf_printf(out, ".part = %d, ", s->part);
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        if (strcmp(fills[i].table, tables[s->table].name) == 0)
            eco_buf_puts(out, fills[i].members);
    }
    for (size_t i = 0; i < n; i++) {
        struct spot at = {s, cols[i], csv->line, i};
        const char *field = cols[i]->field;
        struct eco_buf scrap = ECO_BUF_INIT, *to = out;
        bool keep = strcmp(field, "none") != 0;

        if (csv->cell[i].len == 0 &&
            (cols[i]->required == YES || (cols[i]->required == D && grade_d)))
            bad_cell(&at, "must not be empty", "");
        if (strncmp(field, EXTRA, strlen(EXTRA)) == 0) {
            to = more;
            field += strlen(EXTRA);
        }
        if (keep)
            eco_buf_printf(to, ".%s = ", field);
        put_cell(w, keep ? to : &scrap, keep ? style : DIRECT, &at, &csv->cell[i]);
        if (keep)
            eco_buf_puts(to, ", ");
        eco_buf_done(&scrap);
    }
    eco_buf_puts(out, "},\n");
    eco_buf_puts(more, "},\n");
}

/* A file that would not change is left alone, so that the build compiles only what did. */
static void write_file(struct work *w, const char *name, const struct eco_buf *b)
{
    struct eco_err err = {0};
    struct eco_buf old = ECO_BUF_INIT;
    char *path = need(eco_arena_printf(&w->arena, "%s/%s", w->out_dir, name));
    bool same;

    if (!eco_buf_ok(b))
        die("csv2c: out of memory");
    same = eco_file_exists(path) && eco_file_read(path, 2 * MAX_FILE_BYTES, &old, NULL) == 0 &&
           old.len == b->len && memcmp(old.data, b->data, b->len) == 0;
    eco_buf_done(&old);
    if (!same && eco_file_write(path, b->data, b->len, true, &err) != 0)
        die("csv2c: %s: %s", path, err.message);
}

static void put_card(struct eco_buf *out)
{
    eco_buf_puts(out, "/* Written by tools/csv2c from data/; do not edit. */\n"
                      "#include \"eco_data.h\"\n\n#include <math.h>\n\n");
}

/* The order of a table's first key column, for binary search by it. */
static void put_order(struct eco_buf *out, const char *table, const struct key *keys, size_t n)
{
    eco_buf_printf(out, "const uint16_t eco_data_%s_order[] = {", table);
    for (size_t i = 0; i < n; i++)
        eco_buf_printf(out, "%s%zu,", i % 16 == 0 ? "\n    " : " ", keys[i].index);
    eco_buf_puts(out, "\n};\n");
}

static bool has_extra(int t)
{
    for (int c = 0; c < COLUMNS; c++) {
        if (strcmp(columns[c].table, tables[t].name) == 0 &&
            strncmp(columns[c].field, EXTRA, strlen(EXTRA)) == 0)
            return true;
    }
    return false;
}

/* Which precision a row has; the words of precision_words are in the order of the enum. */
static int precision_of(const struct eco_csv *csv, const struct column *const *cols, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; cols[i]->type == PRECISION && precision_words[k].text != NULL; k++) {
            if (strcmp(precision_words[k].text, csv->cell[i].s) == 0)
                return k + 1;
        }
    }
    return ECO_PREC_NONE;
}

/* The rows of each precision, in their order: most questions are about one precision. */
static void put_by_precision(struct work *w, int t, struct eco_buf *out)
{
    const struct column *cols[MAX_COLUMNS];
    size_t n = table_columns(t, cols), rows = 0, first[ECO_PREC_COUNT + 1] = {0}, at = 0;
    unsigned char *precision = need(eco_arena_array(&w->arena, MAX_ROWS, sizeof *precision));

    for (size_t i = 0; i < w->n_sources; i++) {
        struct eco_csv csv;

        if (w->sources[i].table != t)
            continue;
        open_csv(&csv, &w->sources[i], cols, n);
        while (next_row(&csv, &w->sources[i]))
            precision[rows++] = (unsigned char)precision_of(&csv, cols, n);
        eco_csv_done(&csv);
    }
    eco_buf_printf(out, "const uint16_t eco_data_%s_by_precision[] = {", tables[t].name);
    for (int p = 0; p < ECO_PREC_COUNT; p++) {
        first[p] = at;
        for (size_t i = 0; i < rows; i++) {
            if (precision[i] == p)
                eco_buf_printf(out, "%s%zu,", at++ % 16 == 0 ? "\n    " : " ", i);
        }
    }
    first[ECO_PREC_COUNT] = at;
    eco_buf_printf(out, "\n};\nconst uint16_t eco_data_%s_precision_at[ECO_PREC_COUNT + 1] = {",
                   tables[t].name);
    for (int p = 0; p <= ECO_PREC_COUNT; p++)
        eco_buf_printf(out, "%s%zu,", p % 16 == 0 ? "\n    " : " ", first[p]);
    eco_buf_puts(out, "\n};\n");
}

/* ln of a model's dimensions, for shapes by size: %a is the double itself. */
static void put_model_logs(struct work *w, int t, struct eco_buf *out)
{
    static const char *const of[] = {"params_total", "layers",   "hidden", "intermediate",
                                     "n_kv_heads",   "head_dim", "vocab"};
    enum { N = sizeof of / sizeof of[0], KV = 4 };
    const struct column *cols[MAX_COLUMNS];
    size_t n = table_columns(t, cols);

    eco_buf_puts(out, "const struct eco_model_logs eco_data_models_logs[] = {\n");
    for (size_t i = 0; i < w->n_sources; i++) {
        struct eco_csv csv;

        if (w->sources[i].table != t)
            continue;
        open_csv(&csv, &w->sources[i], cols, n);
        while (next_row(&csv, &w->sources[i])) {
            double v[N] = {0};
            for (size_t c = 0; c < n * N; c++) {
                if (strcmp(cols[c / N]->name, of[c % N]) == 0)
                    v[c % N] = strtod(csv.cell[c / N].s, NULL);
            }
            v[0] /= 1e9;
            v[KV] *= v[KV + 1];
            for (size_t k = 0; k < N; k++) {
                if (k != KV + 1)
                    eco_buf_printf(out, "%s%a", k == 0 ? "    {" : ", ", v[k] > 0 ? log(v[k]) : 0);
            }
            eco_buf_puts(out, "},\n");
        }
        eco_csv_done(&csv);
    }
    eco_buf_puts(out, "};\n");
}

/* All rows of table t into the two arrays' bodies. */
static size_t put_rows(struct work *w, int t, struct eco_buf *out, struct eco_buf *more)
{
    const struct column *cols[MAX_COLUMNS];
    size_t n = table_columns(t, cols), rows = 0;

    for (size_t i = 0; i < w->n_sources; i++) {
        struct source *s = &w->sources[i];
        struct eco_csv csv;

        if (s->table != t)
            continue;
        open_csv(&csv, s, cols, n);
        while (next_row(&csv, s)) {
            put_row(w, out, more, s, &csv, cols, n);
            s->rows++;
        }
        rows += s->rows;
        eco_csv_done(&csv);
    }
    if (rows == 0)
        die("csv2c: table %s has no rows", tables[t].name);
    return rows;
}

static size_t write_table(struct work *w, int t)
{
    const struct column *cols[MAX_COLUMNS];
    size_t n = table_columns(t, cols), rows, count = 0;
    struct eco_buf out = ECO_BUF_INIT, more = ECO_BUF_INIT;
    bool first = true;

    put_card(&out);
    eco_buf_printf(&out, "const struct %s eco_data_%s[] = {\n", tables[t].ctype, tables[t].name);
    rows = put_rows(w, t, &out, &more);
    eco_buf_puts(&out, "};\n");
    if (has_extra(t)) {
        eco_buf_printf(&out, "const struct eco_%s_extra eco_data_%s_extra[] = {\n", tables[t].name,
                       tables[t].name);
        eco_buf_put(&out, more.data, more.len);
        eco_buf_puts(&out, "};\n");
    }
    for (size_t i = 0; i < n; i++) {
        if (cols[i]->type == KEY) {
            struct key *keys = collect_keys(w, t, i, &count);
            if (first && tables[t].style == POOL)
                put_order(&out, tables[t].name, keys, count);
            first = false;
        }
    }
    if (t == ROWS_TABLE)
        put_by_precision(w, t, &out);
    if (strcmp(tables[t].name, "models") == 0)
        put_model_logs(w, t, &out);
    write_file(w, eco_arena_printf(&w->arena, "eco_data_%s.c", tables[t].name), &out);
    eco_buf_done(&out);
    eco_buf_done(&more);
    return rows;
}

static void write_text(struct work *w)
{
    struct eco_buf out = ECO_BUF_INIT;

    put_card(&out);
    eco_buf_puts(&out, "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
                       "const char eco_data_text[] =\n");
    eco_buf_put(&out, w->pool_text.data, w->pool_text.len);
    eco_buf_puts(&out, "    ;\n");
    write_file(w, "eco_data_text.c", &out);
    eco_buf_done(&out);
}

/* The list itself, for those who show it. */
static void write_columns(struct work *w)
{
    struct eco_buf out = ECO_BUF_INIT;

    put_card(&out);
    eco_buf_puts(&out, "const struct eco_column eco_data_columns[] = {\n");
    for (int c = 0; c < COLUMNS; c++) {
        const struct column *col = &columns[c];

        eco_buf_printf(&out, "    {\"%s\", \"%s\", \"%s\", \"%s\", ", col->table, col->name,
                       col->type_name, col->unit);
        put_quoted(&out, col->meaning, strlen(col->meaning));
        eco_buf_printf(&out, ", '%c'},\n", "YND"[col->required]);
    }
    eco_buf_puts(&out, "};\n");
    write_file(w, "eco_data_columns.c", &out);
    eco_buf_done(&out);
}

static int path_order(const void *a, const void *b)
{
    return strcmp(((const struct source *)a)->path, ((const struct source *)b)->path);
}

static void write_digests(struct work *w)
{
    struct eco_buf out = ECO_BUF_INIT, all = ECO_BUF_INIT;
    char hex[65];

    qsort(w->sources, w->n_sources, sizeof w->sources[0], path_order);
    put_card(&out);
    eco_buf_puts(&out, "const struct eco_digest eco_data_digests[] = {\n");
    for (size_t i = 0; i < w->n_sources; i++) {
        const struct source *s = &w->sources[i];

        eco_buf_printf(&out, "    {\"data/%s\", \"%s\", %zu, %zu},\n", s->path, s->sha256, s->rows,
                       s->bytes.len);
        eco_buf_printf(&all, "%s  data/%s\n", s->sha256, s->path);
    }
    eco_sha256_hex(all.data, all.len, hex);
    eco_buf_printf(&out, "};\nconst char eco_data_digest_all[] = \"%s\";\n", hex);
    write_file(w, "eco_data_digests.c", &out);
    eco_buf_done(&out);
    eco_buf_done(&all);
}

static void write_header(struct work *w, const size_t rows[TABLES])
{
    struct eco_buf out = ECO_BUF_INIT;

    eco_buf_puts(&out, "/* Written by tools/csv2c from data/; do not edit. */\n"
                       "#ifndef ECO_DATA_H\n#define ECO_DATA_H\n"
                       "#include \"dataset/dataset_tables.h\"\n\n"
                       "extern const char eco_data_text[], eco_data_digest_all[];\n");
    eco_buf_printf(&out,
                   "extern const struct eco_digest eco_data_digests[];\n"
                   "#define ECO_DATA_DIGESTS %zuu\n"
                   "extern const struct eco_column eco_data_columns[];\n"
                   "#define ECO_DATA_COLUMNS %du\n",
                   w->n_sources, (int)COLUMNS);
    for (int t = 0; t < TABLES; t++) {
        const struct column *cols[MAX_COLUMNS];

        table_columns(t, cols);
        eco_buf_printf(&out,
                       "\n/* %s */\nextern const struct %s eco_data_%s[];\n"
                       "#define eco_data_%s_count %zuu\n",
                       tables[t].title, tables[t].ctype, tables[t].name, tables[t].name, rows[t]);
        if (tables[t].style == POOL && cols[0]->type == KEY)
            eco_buf_printf(&out, "extern const uint16_t eco_data_%s_order[];\n", tables[t].name);
        if (t == ROWS_TABLE)
            eco_buf_printf(&out,
                           "extern const uint16_t eco_data_%s_by_precision[];\n"
                           "extern const uint16_t eco_data_%s_precision_at[];\n",
                           tables[t].name, tables[t].name);
        if (strcmp(tables[t].name, "models") == 0)
            eco_buf_puts(&out, "extern const struct eco_model_logs eco_data_models_logs[];\n");
        if (has_extra(t))
            eco_buf_printf(&out, "extern const struct eco_%s_extra eco_data_%s_extra[];\n",
                           tables[t].name, tables[t].name);
    }
    eco_buf_puts(&out, "\n#endif\n");
    write_file(w, "eco_data.h", &out);
    eco_buf_done(&out);
}

int main(int argc, char **argv)
{
    static struct work w; /* large; lives once, until exit */
    size_t rows[TABLES];
    struct eco_err err = {0};

    if (argc < 4)
        die("usage: csv2c OUT_DIR DATA_DIR FILE...");
    w.out_dir = argv[1];
    w.data_dir = argv[2];
    eco_arena_init(&w.arena, 0);
    if (eco_file_mkdirs(w.out_dir, &err) != 0)
        die("csv2c: %s: %s", w.out_dir, err.message);
    read_sources(&w, argv + 3, (size_t)(argc - 3));
    w.row_keys = collect_keys(&w, ROWS_TABLE, 0, &w.n_row_keys); /* column 0 is its id */
    pool_offset(&w, "", 0);
    for (int t = 0; t < TABLES; t++)
        rows[t] = write_table(&w, t);
    write_text(&w);
    write_columns(&w);
    write_header(&w, rows);
    write_digests(&w);
    for (size_t i = 0; i < w.n_sources; i++)
        eco_buf_done(&w.sources[i].bytes);
    eco_buf_done(&w.pool_text);
    free(w.pool);
    eco_arena_done(&w.arena);
    return 0;
}
