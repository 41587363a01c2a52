/*
 * Any bytes as a question. Whatever comes: an answer, every number in its range, every list within
 * its limit, text that is UTF-8 and ends.
 */
#include "base/buf.h"
#include "ops/ask.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    double lo, hi;
} ranges[] = {
#define X(name, text, lo, hi, unit) {lo, hi},
    ECO_QUERY_NUMBERS(X)
#undef X
};

static void check_text(const char *s)
{
    const char *end = memchr(s, '\0', ECO_QUERY_NAME);
    if (end == NULL || !eco_str_is_utf8(s, (size_t)(end - s)))
        abort();
}

static void check(const struct eco_query *q)
{
    for (int n = 0; n < ECO_QUERY_NUMBER_COUNT; n++) {
        double v = q->number[n];
        if (eco_query_has(q, (enum eco_query_number)n) &&
            (!isfinite(v) || v < ranges[n].lo || v > ranges[n].hi))
            abort();
    }
    if (q->n_missed > ECO_QUERY_MAX_MISSED || q->n_conversions > ECO_QUERY_MAX_CONVERSIONS ||
        q->n_sizes > ECO_QUERY_MAX_LIST || q->n_gpus > ECO_QUERY_MAX_LIST ||
        q->n_precisions > ECO_QUERY_MAX_LIST || q->op >= ECO_QUERY_OP_COUNT)
        abort();
    for (size_t i = 0; i < q->n_missed; i++) {
        check_text(q->missed[i].text);
        if (q->missed[i].why == NULL)
            abort();
    }
    check_text(q->model);
    check_text(q->gpu);
    check_text(q->region);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eco_query q, again;
    struct eco_err err;
    void *work = malloc(eco_query_work_size());
    int rc = eco_query_parse((const char *)data, size, &eco_ask_names, work, &q, &err);

    if (rc != 0 && !(rc == ECO_E_TOO_LARGE && size > ECO_QUERY_MAX_BYTES))
        abort();
    if (rc == 0) {
        check(&q);
        if (eco_query_parse((const char *)data, size, &eco_ask_names, work, &again, &err) != 0 ||
            again.op != q.op || again.have != q.have || again.arch != q.arch)
            abort(); /* the same question, the same answer */
    }
    free(work);
    return 0;
}
