/*
 * Numbers that hang on more than a key: what is done together is a batch ("12 requests in
 * parallel", "一次喂4条"), a width in bits is a precision ("4b quant"), and the number of "per 1k
 * tokens" belongs to a unit.
 */
#include "query.h"

#define LOOK_BACK 6

size_t eco_query_width_unit(const struct query *q, size_t i)
{
    const struct query_item *n = &q->item[i];
    size_t k = eco_query_mark(q, i + 1, '-') || eco_query_mark(q, i + 1, '_') ? i + 2 : i + 1;
    bool width = n->value == 4 || n->value == 8 || n->value == 16;

    if (n->kind != ITEM_NUM)
        return i;
    if (n->scale == 0 && eco_query_sense(q, k, SENSE_BITS))
        return k;
    if (n->scale != 'b' || !width)
        return i;
    if (eco_query_sense(q, k, SENSE_PREC_KEY) &&
        (q->item[k].word->arg == 1 || eco_query_token_is(q, q->item[k].first, "量")))
        return k;
    k = i > 0 && (eco_query_sense(q, i - 1, SENSE_TO) || eco_query_mark(q, i - 1, '=') ||
                  eco_query_mark(q, i - 1, ':'))
            ? i - 1
            : i;
    return k > 0 && k < i && eco_query_sense(q, k - 1, SENSE_PREC_KEY) &&
                   q->item[k - 1].word->arg >= 1
               ? i + 1
               : i; /* "quantized to 4b" */
}

bool eco_query_in_unit(const struct query *q, size_t i)
{
    size_t k = i + 1;
    bool per = i > 0 && ((q->item[i - 1].kind == ITEM_TEXT &&
                          (eco_query_token_is(q, q->item[i - 1].first, "per") ||
                           eco_query_token_is(q, q->item[i - 1].first, "每"))) ||
                         eco_query_mark(q, i - 1, '/'));

    k += eco_query_sense(q, k, SENSE_ITEM) ? 1 : 0;
    return per && q->item[i].value >= 1 && eco_query_sense(q, k, SENSE_TOKENS);
}

/* What a batch counts: requests, users, sequences, 条, 路. */
static bool is_counted(const struct query *q, size_t i)
{
    const struct query_word *w = i < q->n_items ? q->item[i].word : NULL;

    if (w == NULL || q->item[i].kind != ITEM_WORD)
        return false;
    return w->sense == SENSE_ITEM ||
           ((w->sense == SENSE_REQUESTS || w->sense == SENSE_USERS) && w->arg == 0) ||
           ((w->sense == SENSE_PROMPT || w->sense == SENSE_BATCH) && w->arg == 1);
}

static bool is_together(const struct query *q, size_t i)
{
    if (eco_query_sense(q, i, SENSE_BATCH))
        return q->item[i].word->arg == 4 || eco_query_token_is(q, q->item[i].first, "concurrent");
    if (i == 0) /* "一次", where 一 is a number */
        return false;
    return q->item[i - 1].kind == ITEM_NUM && q->item[i - 1].value == 1 &&
           (eco_query_token_is(q, q->item[i].first, "次") ||
            eco_query_token_is(q, q->item[i].first, "回"));
}

static bool ends_clause(const struct query *q, size_t i)
{
    return eco_query_mark(q, i, ';') || eco_query_mark(q, i, ',') || eco_query_mark(q, i, '.');
}

static bool together_before(const struct query *q, size_t i)
{
    for (size_t back = 1; back <= LOOK_BACK && back <= i; back++) {
        if (is_together(q, i - back))
            return true;
        if (ends_clause(q, i - back) || q->item[i - back].kind == ITEM_NUM ||
            eco_query_sense(q, i - back, SENSE_PERIOD))
            return false;
    }
    return false;
}

/* Behind the unit: "in parallel", "一起跑", "a batch", "side by side". */
static bool together_behind(const struct query *q, size_t unit)
{
    for (size_t k = unit + 1; k <= unit + 3 && k < q->n_items; k++) {
        bool a = q->item[k].kind == ITEM_TEXT && eco_query_token_is(q, q->item[k].first, "a");

        if (is_together(q, k) || (a && eco_query_sense(q, k + 1, SENSE_BATCH)))
            return true;
        if (eco_query_sense(q, k, SENSE_OP) && eco_query_token_is(q, q->item[k].first, "side"))
            return true;
        if (ends_clause(q, k) || q->item[k].kind == ITEM_NUM || eco_query_sense(q, k, SENSE_PERIOD))
            return false;
    }
    return false;
}

bool eco_query_together(const struct query *q, size_t i)
{
    size_t u = i + 1;

    if (q->item[i].scale != 0 && q->item[i].scale != 'k')
        return false;
    if (is_together(q, u) && is_counted(q, u + 1)) /* "64 parallel decodes" */
        return true;
    if (!is_counted(q, u) && is_counted(q, u + 1))
        u += q->item[u].kind == ITEM_TEXT ? 1 : 0;
    if (is_counted(q, u))
        u += is_counted(q, u + 1) ? 1 : 0; /* 个 人 */
    else if (u < q->n_items && !ends_clause(q, u))
        return false;
    else
        return together_before(q, i) && !ends_clause(q, i - 1); /* "一次跑16，" */
    return together_before(q, i) || together_behind(q, u);
}
