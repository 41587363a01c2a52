/* Which precision is asked about: named, refused ("not int8"), left behind ("from fp16 to nf4"). */
#include "query.h"

#include <string.h>

#define ROLE_REACH 5

/* The role that the words before item i give it, up to the precision before. */
static enum query_role role_of(const struct query *q, size_t i)
{
    for (size_t back = 1; back <= ROLE_REACH && back <= i; back++) {
        const struct query_item *it = &q->item[i - back];

        if (it->kind == ITEM_CARD && eco_query_refused(q, i - back))
            return ROLE_PLAIN; /* "rather than the 4090 for 7B nf4" */
        if (it->kind == ITEM_MARK && strchr(";,.?!:&", q->text[q->token[it->first].at]) != NULL)
            return ROLE_PLAIN;
        if (it->kind != ITEM_WORD)
            continue;
        switch ((enum query_sense)it->word->sense) {
        case SENSE_NOT:
            return ROLE_NOT;
        case SENSE_FROM:
            return ROLE_FROM;
        case SENSE_THAN:
            if (eco_query_rather(q, i - back))
                return ROLE_NOT;
            break;
        case SENSE_TO: /* "rather not use nf4", "prefer int8 to nf4" */
            if (eco_query_token_is(q, it->first, "to") && eco_query_rather(q, i - back))
                return ROLE_NOT;
            return i > back && eco_query_sense(q, i - back - 1, SENSE_NOT) ? ROLE_NOT : ROLE_TO;
        case SENSE_PREC:
        case SENSE_BITS:
        case SENSE_GONE:
        case SENSE_SO:
        case SENSE_CORRECT:
        case SENSE_WHETHER:
        case SENSE_VERSUS:
            return ROLE_PLAIN;
        default:
            break;
        }
    }
    return ROLE_PLAIN;
}

/* The word that refuses the precision at item i; its arg: 2 "avoid", 0 "not", 1 "instead of". */
static int refusal(const struct query *q, size_t i)
{
    for (size_t back = 1; back <= i; back++) {
        if (eco_query_sense(q, i - back, SENSE_NOT))
            return q->item[i - back].word->arg;
    }
    return 0;
}

static bool joins(const struct query *q, size_t i)
{
    const struct query_item *it = &q->item[i];

    if (it->kind == ITEM_TEXT)
        return eco_query_token_is(q, it->first, "and") || eco_query_token_is(q, it->first, "nor");
    return eco_query_sense(q, i, SENSE_VERSUS) || eco_query_mark(q, i, '/') ||
           eco_query_mark(q, i, '&');
}

/* "int8, fp8 and nf4": does the list that item i is in end with a joining word? */
static bool list_joined(const struct query *q, size_t i)
{
    for (; i < q->n_items; i++) {
        if (joins(q, i))
            return i + 1 < q->n_items && eco_query_sense(q, i + 1, SENSE_PREC);
        if (!eco_query_mark(q, i, ',') && !eco_query_sense(q, i, SENSE_PREC))
            return false;
    }
    return false;
}

/*
 * "avoid int8 and fp8", "not int8, fp8 or nf4", "不要int8、fp8": the refusal reaches over a list.
 * A comma alone is not enough behind "not int8, nf4" or "instead of int8, nf4".
 */
static enum query_role carried(const struct query *q, size_t i, enum query_role role)
{
    const struct query_precision_at *last;
    int kind;

    if (role != ROLE_PLAIN || q->n_precisions == 0)
        return role;
    last = &q->precision[q->n_precisions - 1];
    if (last->role != ROLE_NOT || i - last->item < 2 || i - last->item > 3)
        return role;
    if (joins(q, i - 1))
        return ROLE_NOT;
    kind = refusal(q, last->item);
    return eco_query_mark(q, i - 1, ',') && (kind == 2 || (kind == 0 && list_joined(q, i)))
               ? ROLE_NOT
               : role;
}

static void add(struct query *q, size_t item, enum query_format_id id)
{
    if (q->n_precisions == QUERY_MAX_PRECISIONS)
        return;
    q->precision[q->n_precisions] = (struct query_precision_at){
        .format = &eco_query_formats[id], .item = item, .role = carried(q, item, role_of(q, item))};
    if (q->item[item].given_up && q->precision[q->n_precisions].role != ROLE_NOT)
        q->precision[q->n_precisions].role = ROLE_FROM;
    q->n_precisions++;
}

/* "4-bit", "eight bits": by the number. */
static bool add_bits(struct query *q, size_t i, size_t unit)
{
    double bits = q->item[i].value;

    q->item[i].used = true;
    if (unit < q->n_items && q->item[unit].kind == ITEM_WORD)
        q->item[unit].used = true;
    if (bits == 4)
        add(q, i, FORMAT_BIT4);
    else if (bits == 8)
        add(q, i, FORMAT_BIT8);
    else if (bits == 16)
        add(q, i, FORMAT_BIT16);
    else if (bits == 32)
        add(q, i, FORMAT_BIT32);
    else
        eco_query_miss(q, i, unit, "no precision of this width has data; name a format (q5_k_m)");
    return true;
}

/* "skip quantization", "without any quantization": 16 bit is wanted. */
static void add_plain(struct query *q, size_t i)
{
    size_t n = q->n_precisions;

    add(q, i, FORMAT_PLAIN);
    if (q->n_precisions > n)
        q->precision[n].role = ROLE_PLAIN;
}

/* "Q3 2025" */
static bool is_quarter(const struct query *q, size_t i)
{
    const struct query_token *t = &q->token[q->item[i].first];
    const struct query_item *next = i + 1 < q->n_items ? &q->item[i + 1] : NULL;

    return eco_query_fold(q->text[t->at]) == 'q' && q->item[i].count == 2 && next != NULL &&
           next->kind == ITEM_NUM && next->scale == 0 && next->value >= 2015 && next->value < 2050;
}

static void collect(struct query *q)
{
    q->n_precisions = 0;
    for (size_t i = 0; i < q->n_items; i++) {
        struct query_item *it = &q->item[i];
        size_t unit = eco_query_width_unit(q, i);

        if (unit > i && !it->used)
            add_bits(q, i, unit);
        else if (eco_query_sense(q, i, SENSE_PREC) && !is_quarter(q, i))
            add(q, i, (enum query_format_id)it->word->arg);
        else if (eco_query_sense(q, i, SENSE_PREC_KEY) && it->word->arg == 1 &&
                 eco_query_refused(q, i))
            add_plain(q, i);
    }
}

static void drop(struct query *q, size_t i)
{
    memmove(&q->precision[i], &q->precision[i + 1],
            (q->n_precisions - i - 1) * sizeof q->precision[0]);
    q->n_precisions--;
}

static bool has_role(const struct query *q, enum query_role role)
{
    for (size_t i = 0; i < q->n_precisions; i++) {
        if (q->precision[i].role == role)
            return true;
    }
    return false;
}

static void drop_roles(struct query *q, enum query_role role)
{
    for (size_t i = q->n_precisions; i-- > 0;) {
        if (q->precision[i].role == role)
            drop(q, i);
    }
}

static bool has_format(const struct query *q, enum query_format_id id)
{
    for (size_t i = 0; i < q->n_precisions; i++) {
        if (q->precision[i].format == &eco_query_formats[id])
            return true;
    }
    return false;
}

static void replace(struct query *q, enum query_format_id from, enum query_format_id to)
{
    for (size_t i = 0; i < q->n_precisions; i++) {
        if (q->precision[i].format == &eco_query_formats[from])
            q->precision[i].format = &eco_query_formats[to];
    }
}

/* "GPTQ 8-bit", "gguf 4bit": two words for one format. */
static void join_words(struct query *q)
{
    if (has_format(q, FORMAT_BIT8) || has_format(q, FORMAT_INT8))
        replace(q, FORMAT_GPTQ, FORMAT_GPTQ8);
    if (has_format(q, FORMAT_GGUF) && has_format(q, FORMAT_BIT4))
        replace(q, FORMAT_GGUF, FORMAT_Q4_K_M);
    if (has_format(q, FORMAT_GGUF) && has_format(q, FORMAT_BIT8))
        replace(q, FORMAT_GGUF, FORMAT_Q8_0);
    if (has_format(q, FORMAT_NF4_DQ))
        replace(q, FORMAT_NF4, FORMAT_NF4_DQ);
    if (has_format(q, FORMAT_INT8_PURE))
        replace(q, FORMAT_INT8, FORMAT_INT8_PURE);
}

/* "int8 or fp8": two that are weighed against each other, or an integer beside a float. */
static bool stand_apart(const struct query *q, size_t a, size_t b)
{
    const struct query_precision_at *x = &q->precision[a], *y = &q->precision[b];
    bool whole =
        x->format == &eco_query_formats[FORMAT_INT8] && y->format == &eco_query_formats[FORMAT_FP8];
    size_t from = x->item < y->item ? x->item : y->item, to = x->item < y->item ? y->item : x->item;

    for (size_t i = from; i < to && !whole; i++)
        whole = eco_query_sense(q, i, SENSE_VERSUS);
    return whole;
}

/* A vague name goes when an exact one of the same width stands beside it; doubles go. */
static void drop_vague(struct query *q)
{
    for (size_t i = q->n_precisions; i-- > 0;) {
        const struct query_format *f = q->precision[i].format;
        bool gone = f == &eco_query_formats[FORMAT_GGUF] && q->n_precisions > 1;

        for (size_t k = 0; k < q->n_precisions && !gone; k++) {
            const struct query_format *g = q->precision[k].format;
            bool same_width = g->bits == f->bits && k != i;
            bool better = f->vague && !g->vague && same_width && !stand_apart(q, i, k);
            bool same = same_width && g->exact == f->exact && k < i;
            bool bare =
                same_width && f->vague && g->vague && f < &eco_query_formats[FORMAT_NF4] && g > f;
            gone = better || same || bare;
        }
        if (gone)
            drop(q, i);
    }
}

static bool is_float(const struct query_format *f)
{
    return f->bits >= 16;
}

static void drop_baselines(struct query *q)
{
    bool quantized = false;

    for (size_t i = 0; i < q->n_precisions; i++)
        quantized |= !is_float(q->precision[i].format);
    for (size_t i = q->n_precisions; quantized && i-- > 0;) {
        if (is_float(q->precision[i].format))
            drop(q, i);
    }
}

static void list_all(struct query *q)
{
    struct eco_query *o = q->out;

    for (size_t i = 0; q->n_precisions > 1 && i < q->n_precisions; i++) {
        enum eco_precision p = q->precision[i].format->exact;
        bool seen = p == ECO_PREC_NONE || o->n_precisions == ECO_QUERY_MAX_LIST;

        for (size_t k = 0; k < o->n_precisions; k++)
            seen |= o->precisions[k] == p;
        if (!seen)
            o->precisions[o->n_precisions++] = p;
    }
}

/* What is counted behind a number: "precisions", "precision methods", "种精度", "种量化方法". */
static bool counts_precisions(const struct query *q, size_t i)
{
    static const char *const between[] = {"种", "个", "different", "various", "kinds", "of", "的"};
    size_t k = i + 1;

    for (size_t w = 0; w < sizeof between / sizeof between[0] && k < q->n_items;) {
        bool small = eco_query_token_is(q, q->item[k].first, between[w]);
        k += small ? 1 : 0;
        w = small ? 0 : w + 1;
    }
    if (k >= q->n_items || q->item[k].kind != ITEM_WORD)
        return false;
    return eco_query_token_is(q, q->item[k].first, "precisions") ||
           (eco_query_sense(q, k, SENSE_PREC_KEY) && q->item[k].word->arg < 2);
}

/* "Compare all 5 precisions": the five that the skill names. Another count says not which. */
static void list_counted(struct query *q)
{
    static const enum eco_precision five[] = {ECO_PREC_FP16, ECO_PREC_FP8, ECO_PREC_NF4,
                                              ECO_PREC_INT8_MIXED, ECO_PREC_INT8_PURE};
    const size_t n = sizeof five / sizeof five[0];
    struct eco_query *o = q->out;

    for (size_t i = 0; i < q->n_items && !o->counted; i++) {
        struct query_item *it = &q->item[i];
        o->counted = it->kind == ITEM_NUM && it->scale == 0 && it->slot == 0 && !it->negative &&
                     it->value == (double)n && counts_precisions(q, i);
        it->used |= o->counted;
    }
    if (o->counted) {
        memcpy(o->precisions, five, sizeof five);
        o->n_precisions = n;
    }
}

static void keep_one(struct query *q)
{
    struct eco_query *o = q->out;
    const struct query_format *f = q->n_precisions > 0 ? q->precision[0].format : NULL;
    bool one_class = f != NULL, one = f != NULL;

    for (size_t i = 1; i < q->n_precisions; i++) {
        const struct query_format *g = q->precision[i].format;
        one &= g == f;
        one_class &= g->class_name == f->class_name;
    }
    if (one_class)
        o->precision = f->class_name;
    if (one)
        o->precision_exact = f->exact;
}

/* What is refused while nothing is chosen: the answer shows all, so the refusal is said. */
static void miss_refused(struct query *q)
{
    for (size_t i = 0; i < q->n_precisions; i++) {
        if (q->precision[i].role != ROLE_NOT)
            return;
    }
    for (size_t i = 0; i < q->n_precisions; i++)
        eco_query_miss(q, q->precision[i].item, q->precision[i].item,
                       "to be left out: the answer may still show it among the others");
}

/* "from 16 bit" is understood; what was taken back is said. */
static void drop_from(struct query *q)
{
    for (size_t i = 0; i < q->n_precisions; i++) {
        size_t at = q->precision[i].item;
        if (q->precision[i].role == ROLE_FROM && q->item[at].given_up)
            eco_query_miss(q, at, at, "refused here");
    }
    drop_roles(q, ROLE_FROM);
}

void eco_query_precisions(struct query *q)
{
    collect(q);
    if (q->n_precisions == 0)
        list_counted(q);
    for (size_t i = 0; i < q->n_precisions; i++) {
        if (q->precision[i].role != ROLE_NOT &&
            q->precision[i].format == &eco_query_formats[FORMAT_FP4])
            eco_query_miss(q, q->precision[i].item, q->precision[i].item,
                           "no data for this format; nvfp4, mxfp4 and nf4 are others");
    }
    miss_refused(q);
    drop_roles(q, ROLE_NOT);
    if (has_role(q, ROLE_TO) || (has_role(q, ROLE_FROM) && has_role(q, ROLE_PLAIN)))
        drop_from(q);
    join_words(q);
    drop_vague(q);
    list_all(q);
    drop_baselines(q);
    keep_one(q);
    if (q->n_precisions == 1 && q->precision[0].format == &eco_query_formats[FORMAT_INT4])
        eco_query_miss(q, q->precision[0].item, q->precision[0].item,
                       "taken as W4A16; nf4, gptq, awq and q4_k_m are others");
    if (q->n_precisions == 1 && q->precision[0].format == &eco_query_formats[FORMAT_GGUF])
        eco_query_miss(q, q->precision[0].item, q->precision[0].item, "which one: q4_k_m, q8_0 …?");
}
