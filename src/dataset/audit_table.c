/* `data audit`: the driver; see audit_table.h. */
#include "dataset/audit_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *asks;
} checks[] = {
#define X(name, text, asks) {text, asks},
    ECO_TABLE_CHECKS(X)
#undef X
};

const char *eco_table_check_name(enum eco_table_check c)
{
    return (size_t)c < ECO_TABLE_CHECK_COUNT ? checks[c].name : "unknown";
}

const char *eco_table_check_question(enum eco_table_check c)
{
    return (size_t)c < ECO_TABLE_CHECK_COUNT ? checks[c].asks : "";
}

const char *eco_table_severity_name(enum eco_table_severity s)
{
    return s == ECO_TABLE_ERROR ? "error" : s == ECO_TABLE_WARNING ? "warning" : "info";
}

static struct eco_table_finding *add(struct audit *a)
{
    struct eco_table_audit *out = a->out;
    size_t n = out->count;

    if (n == ECO_TABLE_MAX_FINDINGS) {
        out->truncated = true;
        return NULL;
    }
    if ((n & (n - 1)) == 0) { /* room doubles at powers of two */
        struct eco_table_finding *more =
            eco_arena_array(a->arena, n == 0 ? 1 : 2 * n, sizeof *more);
        if (more == NULL) {
            a->out_of_memory = true;
            return NULL;
        }
        if (n > 0)
            memcpy(more, out->findings, n * sizeof *more);
        out->findings = more;
    }
    return &out->findings[out->count++];
}

void eco_table_note(struct audit *a, enum eco_table_check check, enum eco_table_severity severity,
                    const struct audit_row *r, double stated, double expected, const char *message)
{
    struct eco_table_finding *f = add(a);

    if (message == NULL)
        a->out_of_memory = true;
    if (f == NULL)
        return;
    *f = (struct eco_table_finding){
        .check = check,
        .severity = severity,
        .row = r == NULL ? 0 : r->row,
        .line = r == NULL ? 0 : r->line,
        .id = r == NULL ? "" : r->id,
        .message = message == NULL ? "" : message,
        .stated = stated,
        .expected = expected,
        .dev_pct = expected != 0.0 ? 100.0 * (stated / expected - 1.0) : NAN,
    };
    a->out->errors += severity == ECO_TABLE_ERROR;
    a->out->warnings += severity == ECO_TABLE_WARNING;
    a->out->infos += severity == ECO_TABLE_INFO;
}

/* By row, the table's own last; errors before warnings; then as the checks are listed. */
static int order(const void *x, const void *y)
{
    const struct eco_table_finding *a = x, *b = y;

    if (a->row != b->row)
        return a->row - 1 < b->row - 1 ? -1 : 1; /* row 0 wraps to the end */
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    if (a->check != b->check)
        return a->check < b->check ? -1 : 1;
    return strcmp(a->message, b->message);
}

int eco_dataset_audit_table(const char *name, const char *text, size_t len, struct eco_arena *arena,
                            struct eco_table_audit *out, struct eco_err *err)
{
    struct eco_table_audit result = {0};
    struct audit a = {.arena = arena, .out = &result};
    int rc = eco_table_read(&a, name, text, len, err);

    if (rc != 0)
        return rc;
    for (size_t i = 0; i < a.n; i++)
        eco_table_check_row(&a, &a.rows[i]);
    eco_table_check_patterns(&a);
    if (a.out_of_memory)
        return eco_err_set(err, ECO_E_NO_MEMORY, name, "out of memory");
    result.rows = a.n;
    if (result.count > 0)
        qsort(result.findings, result.count, sizeof *result.findings, order);
    for (size_t i = 0, last = 0; i < result.count; i++) {
        const struct eco_table_finding *f = &result.findings[i];

        if (f->severity == ECO_TABLE_ERROR && f->row != 0 && f->row != last) {
            result.rows_with_error++;
            last = f->row;
        }
    }
    *out = result;
    return 0;
}
