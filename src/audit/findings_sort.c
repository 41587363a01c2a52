/* The order of findings: by place, the same whatever thread found them first. */
#include "audit.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const void *pa, const void *pb)
{
    const struct eco_audit_finding *a = pa, *b = pb;
    int c = strcmp(a->file, b->file);
    if (c == 0) {
        c = a->line != b->line ? (a->line < b->line ? -1 : 1) : 0;
    }
    if (c == 0) {
        c = a->column != b->column ? (a->column < b->column ? -1 : 1) : 0;
    }
    return c ? c : (int)a->rule - (int)b->rule;
}

static int by_file(const void *pa, const void *pb)
{
    const struct eco_audit_skip *a = pa, *b = pb;
    return strcmp(a->file, b->file);
}

void eco_audit_sort(struct eco_audit *a)
{
    if (a->n) {
        qsort(a->findings, a->n, sizeof(*a->findings), by_place);
    }
    if (a->n_skipped) {
        qsort(a->skipped, a->n_skipped, sizeof(*a->skipped), by_file);
    }
}
