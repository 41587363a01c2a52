/* Which operation: cue words weigh, and so does what the question carries. */
#include "query.h"

#include <string.h>

#define CARRIES 3 /* weight of a figure that only one operation takes */

/* English cue words; the Chinese ones are in query_words_zh.c. */
static const struct query_word operations[] = {
    {"compare", SENSE_OP, OP(COMPARE, 5), NULL},
    {"comparing", SENSE_OP, OP(COMPARE, 5), NULL},
    {"comparison", SENSE_OP, OP(COMPARE, 5), NULL},
    {"side by side", SENSE_OP, OP(COMPARE, 4), NULL},
    {"rank", SENSE_OP, OP(COMPARE, 4), NULL},
    {"difference between", SENSE_OP, OP(COMPARE, 4), NULL},
    {"all precisions", SENSE_OP, OP(COMPARE, 5), NULL},
    {"best", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"greenest", SENSE_OP, OP(OPTIMIZE, 5), NULL},
    {"optimal", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"optimize", SENSE_OP, OP(OPTIMIZE, 5), NULL},
    {"optimise", SENSE_OP, OP(OPTIMIZE, 5), NULL},
    {"recommend", SENSE_OP, OP(OPTIMIZE, 5), NULL},
    {"recommended", SENSE_OP, OP(OPTIMIZE, 5), NULL},
    {"recommendation", SENSE_OP, OP(OPTIMIZE, 5), NULL},
    {"suggest", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"most efficient", SENSE_OP, OP(OPTIMIZE, 5), NULL},
    {"most energy efficient", SENSE_OP, OP(OPTIMIZE, 5), NULL},
    {"lowest energy", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"least energy", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"cheapest", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"fastest", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"lowest cost", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"lowest power", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"lowest latency", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"lowest carbon", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"lowest memory", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"least power", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"least memory", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"most economical", SENSE_OP, OP(OPTIMIZE, 3), NULL},
    {"which precision", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"what precision", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"which quantization", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"which config", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"which configuration", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"which gpu", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"which card", SENSE_OP, OP(OPTIMIZE, 4), NULL},
    {"config", SENSE_OP, OP(OPTIMIZE, 1), NULL},
    {"configuration", SENSE_OP, OP(OPTIMIZE, 1), NULL},
    {"deploy", SENSE_OP, OP(OPTIMIZE, 1), NULL},
    {"setup", SENSE_OP, OP(OPTIMIZE, 1), NULL},
    {"slow", SENSE_OP, OP(DIAGNOSE, 5), NULL},
    {"so slow", SENSE_OP, OP(DIAGNOSE, 6), NULL},
    {"slower than expected", SENSE_OP, OP(DIAGNOSE, 6), NULL},
    {"what's wrong", SENSE_OP, OP(DIAGNOSE, 6), NULL},
    {"what is wrong", SENSE_OP, OP(DIAGNOSE, 6), NULL},
    {"crazy high", SENSE_OP, OP(DIAGNOSE, 7), NULL},
    {"too high", SENSE_OP, OP(DIAGNOSE, 7), NULL},
    {"really high", SENSE_OP, OP(DIAGNOSE, 7), NULL},
    {"very high", SENSE_OP, OP(DIAGNOSE, 6), NULL},
    {"so high", SENSE_OP, OP(DIAGNOSE, 7), NULL},
    {"so much power", SENSE_OP, OP(DIAGNOSE, 7), NULL},
    {"so much energy", SENSE_OP, OP(DIAGNOSE, 7), NULL},
    {"diagnose", SENSE_OP, OP(DIAGNOSE, 7), NULL},
    {"troubleshoot", SENSE_OP, OP(DIAGNOSE, 7), NULL},
    {"unexpected", SENSE_OP, OP(DIAGNOSE, 4), NULL},
    {"cost", SENSE_OP, OP(COST, 5), NULL},
    {"costs", SENSE_OP, OP(COST, 4), NULL},
    {"energy cost", SENSE_NOISE, 0, NULL},
    {"price", SENSE_OP, OP(COST, 4), NULL},
    {"electricity", SENSE_OP, OP(COST, 2), NULL},
    {"power bill", SENSE_OP, OP(COST, 2), NULL},
    {"better", SENSE_OP, OP(ESTIMATE, 3), NULL},
    {"electricity bill", SENSE_OP, OP(COST, 5), NULL},
    {"bill", SENSE_OP, OP(COST, 4), NULL},
    {"how much will", SENSE_OP, OP(COST, 3), NULL},
    {"how much does", SENSE_OP, OP(COST, 3), NULL},
    {"how much money", SENSE_OP, OP(COST, 5), NULL},
    {"expensive", SENSE_OP, OP(COST, 3), NULL},
    {"carbon", SENSE_OP, OP(COST, 4), NULL},
    {"co2", SENSE_OP, OP(COST, 4), NULL},
    {"emissions", SENSE_OP, OP(COST, 4), NULL},
    {"footprint", SENSE_OP, OP(COST, 3), NULL},
    {"worth it", SENSE_OP, OP(ESTIMATE, 4), NULL},
    {"save energy", SENSE_OP, OP(ESTIMATE, 4), NULL},
    {"save power", SENSE_OP, OP(ESTIMATE, 4), NULL},
    {"saves energy", SENSE_OP, OP(ESTIMATE, 4), NULL},
    {"good idea", SENSE_OP, OP(ESTIMATE, 4), NULL},
    {"pay off", SENSE_OP, OP(ESTIMATE, 4), NULL},
    {"should i use", SENSE_OP, OP(ESTIMATE, 3), NULL},
    {"should i", SENSE_OP, OP(ESTIMATE, 2), NULL},
    {"energy delta", SENSE_OP, OP(ESTIMATE, 4), NULL},
    {"audit", SENSE_OP, OP(AUDIT, 6), NULL},
    {"py", SENSE_OP, OP(AUDIT, 1), NULL}, /* two of these: a file, and what to do with it */
    {"ipynb", SENSE_OP, OP(AUDIT, 1), NULL},
    {"dockerfile", SENSE_OP, OP(AUDIT, 1), NULL},
    {"code", SENSE_OP, OP(AUDIT, 1), NULL},
    {"code review", SENSE_OP, OP(AUDIT, 1), NULL}, /* what a model may be for */
    {"script", SENSE_OP, OP(AUDIT, 1), NULL},
    {"notebook", SENSE_OP, OP(AUDIT, 1), NULL},
    {"review", SENSE_OP, OP(AUDIT, 1), NULL},
    {"check", SENSE_OP, OP(AUDIT, 1), NULL},
    {"scan", SENSE_OP, OP(AUDIT, 1), NULL},
    {"inspect", SENSE_OP, OP(AUDIT, 1), NULL},
    {"wasteful", SENSE_OP, OP(AUDIT, 1), NULL},
    {"measure", SENSE_OP, OP(MEASURE, 6), NULL},
    {"benchmark", SENSE_OP, OP(MEASURE, 4), NULL},
    {"why", SENSE_WHY, 0, NULL},
    {"tell me why", SENSE_WHY, 0, NULL},
    {"explain", SENSE_WHY, 0, NULL},
    {"worse", SENSE_WHY, 1, NULL},
};

const struct query_word *eco_query_lexicon_intent(size_t *n)
{
    *n = sizeof operations / sizeof operations[0];
    return operations;
}

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
