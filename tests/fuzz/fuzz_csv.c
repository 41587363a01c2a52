/* Any bytes: refused with a line and a column, or read, written and read again as the same. */
#include "base/buf.h"
#include "base/csv.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition)
{
    if (!condition) {
        abort();
    }
}

static void put_row(struct eco_buf *out, const struct eco_csv_cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check(cells[i].s[cells[i].len] == '\0' && eco_str_is_utf8(cells[i].s, cells[i].len));
        eco_buf_puts(out, i > 0 ? "," : "");
        if (n == 1 && cells[i].len == 0) {
            eco_buf_puts(out, "\"\""); /* or it would be a blank line */
        }
        eco_csv_put(out, cells[i].s, cells[i].len);
    }
    eco_buf_puts(out, "\n");
}

/* Reads a file and writes it again; the code of its end. */
static int copy(const char *text, size_t len, struct eco_buf *out, struct eco_err *err)
{
    static struct eco_csv c;
    int code = eco_csv_open(&c, "fuzz", text, len, err);
    double v = 0;

    if (code < 0) {
        return code;
    }
    eco_buf_puts(out, "\n"); /* a first name may start with what would be a byte order mark */
    put_row(out, c.header, c.columns);
    for (size_t i = 0; i < c.columns; i++) {
        check(eco_csv_column(&c, c.header[i].s) == (int)i);
    }
    while ((code = eco_csv_next(&c, err)) == 1) {
        put_row(out, c.cell, c.columns);
        for (size_t i = 0; i < c.columns; i++) {
            int got = eco_csv_num(&c, (int)i, &v, NULL);
            check(got < 1 || isfinite(v));
        }
    }
    eco_csv_done(&c);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_buf first = ECO_BUF_INIT, second = ECO_BUF_INIT;
    struct eco_err e = {0};
    int code = copy((const char *)data, size, &first, &e);

    if (code < 0) {
        check(code == ECO_E_CONTENT || code == ECO_E_TOO_LARGE);
        check(e.code == code && e.line >= 1 && e.line <= (long)size + 1 && e.column >= 1);
        check(eco_str_is_utf8(e.message, strlen(e.message)));
    } else {
        check(copy(first.data, first.len, &second, &e) == 0);
        check(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    }
    eco_buf_done(&first);
    eco_buf_done(&second);
    return 0;
}
