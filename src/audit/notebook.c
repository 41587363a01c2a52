/* Notebooks: the code cells as one Python text, with a map from its lines to the file's. */
#include "base/json.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

struct cells {
    struct eco_buf text;
    uint32_t *map; /* line of the file for each row of text; owned */
    uint32_t rows, cap;
    bool failed;
};

static void new_row(struct cells *c, uint32_t line)
{
    if (c->rows == c->cap) {
        uint32_t cap = c->cap ? c->cap * 2 : 256;
        uint32_t *map = realloc(c->map, cap * sizeof(*map));
        if (!map) {
            c->failed = true;
            return;
        }
        c->map = map;
        c->cap = cap;
    }
    c->map[c->rows++] = line;
}

/* One string of "source": one line, or several. */
static void add_string(struct cells *c, const struct eco_json *v)
{
    size_t from = 0;
    for (size_t i = 0; i <= v->len; i++) {
        if (i < v->len && v->str[i] != '\n') {
            continue;
        }
        if (i == v->len && i == from && v->len) {
            break; /* the text ended with its newline */
        }
        new_row(c, (uint32_t)v->line);
        eco_buf_put(&c->text, v->str + from, i - from);
        eco_buf_putc(&c->text, '\n');
        from = i + 1;
    }
}

static bool starts(const struct eco_json *v, const char *what)
{
    return v && v->type == ECO_JSON_STRING && v->len >= strlen(what) &&
           memcmp(v->str, what, strlen(what)) == 0;
}

/* A cell of another language: its lines are commands. */
static bool shell_cell(struct eco_scan *s, const struct eco_json *source)
{
    const struct eco_json *first = source->type == ECO_JSON_ARRAY ? source->child : source;
    if (!starts(first, "%%bash") && !starts(first, "%%sh") && !starts(first, "%%shell")) {
        return starts(first, "%%html") || starts(first, "%%writefile") || starts(first, "%%js") ||
               starts(first, "%%javascript") || starts(first, "%%latex") || starts(first, "%%R");
    }
    for (const struct eco_json *v = first; v; v = source->type == ECO_JSON_ARRAY ? v->next : NULL) {
        if (v->type == ECO_JSON_STRING) {
            eco_scan_command(s, v->str, v->len, (uint32_t)v->line);
        }
    }
    return true;
}

static void add_cell(struct eco_scan *s, struct cells *c, const struct eco_json *cell)
{
    const struct eco_json *type = eco_json_get(cell, "cell_type");
    const struct eco_json *source = eco_json_get(cell, "source");
    source = source ? source : eco_json_get(cell, "input"); /* nbformat 3 */
    if (!starts(type, "code") || !source || shell_cell(s, source)) {
        return;
    }
    if (source->type == ECO_JSON_STRING) {
        add_string(c, source);
    }
    for (const struct eco_json *v = source->type == ECO_JSON_ARRAY ? source->child : NULL; v;
         v = v->next) {
        if (v->type == ECO_JSON_STRING) {
            add_string(c, v);
        }
    }
}

int eco_scan_notebook(struct eco_scan *s, struct eco_err *err)
{
    struct eco_json_doc doc;
    struct cells c = {.text = ECO_BUF_INIT};
    int rc = eco_json_parse(&doc, s->text, s->len, err);
    if (rc) {
        return rc;
    }
    const struct eco_json *list = eco_json_get(doc.root, "cells");
    list = list ? list : eco_json_at(doc.root, "/worksheets/0/cells");
    for (const struct eco_json *cell = list && list->type == ECO_JSON_ARRAY ? list->child : NULL;
         cell; cell = cell->next) {
        add_cell(s, &c, cell);
    }
    if (c.failed || !eco_buf_ok(&c.text)) {
        rc = eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    } else if (c.text.len) {
        s->line_map = c.map;
        s->rows = c.rows;
        rc = eco_scan_python(s, c.text.data, c.text.len, err);
        s->line_map = NULL;
    }
    eco_buf_done(&c.text);
    free(c.map);
    eco_json_done(&doc);
    return rc;
}
