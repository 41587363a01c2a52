/* Which operation: cue words weigh, and so does what the question carries. */
#include "query.h"

#include <string.h>

#define CARRIES 3 /* weight of a figure that only one operation takes */

static bool has(const struct query *q, enum eco_query_number n)
{
    return eco_query_has(q->out, n);
}

static void cue_words(const struct query *q, int weight[ECO_QUERY_OP_COUNT])
{
    for (size_t i = 0; i < q->n_items; i++) {
        if (eco_query_sense(q, i, SENSE_OP))
            weight[q->item[i].word->arg / 16] += q->item[i].word->arg % 16;
        else if (eco_query_sense(q, i, SENSE_GONE) &&
                 eco_query_token_is(q, q->item[i].first, "太") &&
                 eco_query_token_is(q, q->item[i].first + 1, "慢"))
            weight[ECO_QUERY_DIAGNOSE] += 6;
        else if (eco_query_sense(q, i, SENSE_VERSUS) && q->item[i].word->arg == 0)
            weight[ECO_QUERY_COMPARE] += q->out->n_precisions > 1 ? 2 : 0;
    }
}

static void carried(const struct query *q, int weight[ECO_QUERY_OP_COUNT])
{
    const struct eco_query *o = q->out;

    if (has(q, ECO_QUERY_REQUESTS) || has(q, ECO_QUERY_TOKENS) || has(q, ECO_QUERY_HOURS_PER_DAY))
        weight[ECO_QUERY_COST] += CARRIES;
    if (has(q, ECO_QUERY_THROUGHPUT) || has(q, ECO_QUERY_ENERGY))
        weight[ECO_QUERY_DIAGNOSE] += CARRIES + 1;
    if (has(q, ECO_QUERY_POWER_W))
        weight[ECO_QUERY_DIAGNOSE] += 1;
    if (o->explain && weight[ECO_QUERY_DIAGNOSE] > 0)
        weight[ECO_QUERY_DIAGNOSE] += 1;
    if (o->n_precisions > 1)
        weight[ECO_QUERY_COMPARE] += CARRIES;
    if (o->n_gpus > 1 || has(q, ECO_QUERY_MAX_LATENCY_MS) || has(q, ECO_QUERY_MAX_VRAM_GB))
        weight[ECO_QUERY_OPTIMIZE] += CARRIES;
    if (o->precision != NULL && weight[ECO_QUERY_ESTIMATE] > 0)
        weight[ECO_QUERY_ESTIMATE] += 1;
}

/* Without a cue: an effect for a named precision, else the precisions side by side. */
static enum eco_query_op default_op(const struct query *q)
{
    const struct eco_query *o = q->out;
    bool target = o->model[0] || has(q, ECO_QUERY_PARAMS_B) || o->gpu[0] || o->arch != 0;
    bool precision = o->precision != NULL || o->precision_exact != ECO_PREC_NONE;

    if (precision)
        return ECO_QUERY_ESTIMATE;
    if (target)
        return ECO_QUERY_COMPARE;
    return o->have != 0 || o->n_sizes > 0 ? ECO_QUERY_COMPARE : ECO_QUERY_NONE;
}

void eco_query_intent(struct query *q)
{
    int weight[ECO_QUERY_OP_COUNT] = {0};
    enum eco_query_op best = ECO_QUERY_NONE;

    cue_words(q, weight);
    carried(q, weight);
    for (int op = ECO_QUERY_NONE + 1; op < ECO_QUERY_OP_COUNT; op++) {
        if (weight[op] > weight[best])
            best = (enum eco_query_op)op;
    }
    /* an effect of no precision is no question: the precisions side by side answer it */
    if (best == ECO_QUERY_ESTIMATE && q->out->precision == NULL &&
        q->out->precision_exact == ECO_PREC_NONE)
        weight[best] = 0;
    q->out->op = weight[best] >= 2 ? best : default_op(q);
}
