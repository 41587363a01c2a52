/* The question parser's front: text in, operation and parameters out. */
#include "query.h"

#include <string.h>

size_t eco_query_work_size(void)
{
    return sizeof(struct query);
}

const char *eco_query_op_name(enum eco_query_op op)
{
    static const char *const names[] = {
#define X(name, text) text,
        ECO_QUERY_OPS(X)
#undef X
    };
    return (unsigned)op < ECO_QUERY_OP_COUNT ? names[op] : "none";
}

const char *eco_query_number_name(enum eco_query_number n)
{
    static const char *const names[] = {
#define X(name, text, lo, hi, unit) text,
        ECO_QUERY_NUMBERS(X)
#undef X
    };
    return (unsigned)n < ECO_QUERY_NUMBER_COUNT ? names[n] : "";
}

bool eco_query_has(const struct eco_query *q, enum eco_query_number n)
{
    return (q->have & 1u << n) != 0;
}

int eco_query_parse(const char *text, size_t len, const struct eco_query_names *names, void *work,
                    struct eco_query *out, struct eco_err *err)
{
    struct query *q = work;

    if (names == NULL || names->card == NULL || names->model == NULL || names->region == NULL)
        return eco_err_set(err, ECO_E_INVALID, "names", "the question parser needs look-ups");
    if (len > ECO_QUERY_MAX_BYTES)
        return eco_err_set(err, ECO_E_TOO_LARGE, "q", "a question is at most %d bytes",
                           ECO_QUERY_MAX_BYTES);
    memset(q, 0, sizeof *q);
    memset(out, 0, sizeof *out);
    q->names = names;
    q->out = out;
    eco_query_normalise(q, text, len);
    eco_query_mend(q);
    eco_query_tokenise(q);
    eco_query_itemise(q);
    eco_query_withdraw(q);
    eco_query_read(q);
    eco_query_volume(q);
    eco_query_precisions(q);
    eco_query_choose(q);
    eco_query_intent(q);
    return 0;
}
