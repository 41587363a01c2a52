/* The best candidate of each kind: the card, the model and its size, the place. */
#include "query.h"

#include <math.h>
#include <string.h>

#define CARD_FLOOR 30 /* below it a number is a label, not a card */
#define CARD_GAP 20   /* a card this much less plain than the best is dropped */
#define SAME_SIZE 0.15

/* "4090元", "2080年", "4090名员工", "3090 dollars", "3090 users" beside another card; a "$" may
 * belong to what follows. */
static bool is_amount(const struct query *q, size_t i)
{
    return i < q->n_items &&
           (eco_query_token_is(q, q->item[i].first, "年") ||
            eco_query_token_is(q, q->item[i].first, "名") ||
            (q->n_cards > 1 && eco_query_sense(q, i, SENSE_USERS)) ||
            (eco_query_sense(q, i, SENSE_MONEY) && q->token[q->item[i].first].kind != QUERY_MARK));
}

/* How plainly a bare number ("4090") is a card, from what stands before and behind it. */
static void weigh_bare(struct query *q, struct query_card_at *c)
{
    size_t i = c->item;
    const struct query_item *before = i > 0 ? &q->item[i - 1] : NULL;
    bool unit_behind =
        eco_query_sense(q, i + 1, SENSE_TOKENS) || eco_query_sense(q, i + 1, SENSE_TPS) ||
        eco_query_sense(q, i + 1, SENSE_WATT) || eco_query_sense(q, i + 1, SENSE_MS) ||
        eco_query_sense(q, i + 1, SENSE_REQUESTS) || eco_query_sense(q, i + 1, SENSE_OTHER_UNIT) ||
        is_amount(q, i + 1);
    size_t label = i;

    while (label > 0 && (eco_query_mark(q, label - 1, ':') || eco_query_mark(q, label - 1, '-') ||
                         eco_query_mark(q, label - 1, '.') ||
                         (label < i && q->item[label - 1].kind == ITEM_NUM)))
        label--;
    if (unit_behind || (label > 0 && eco_query_sense(q, label - 1, SENSE_FALSE_NUM)) ||
        (before != NULL && eco_query_sense(q, i - 1, SENSE_MONEY))) {
        c->score = 10;
    } else if (before != NULL && before->kind == ITEM_TEXT && before->first > 0) {
        const struct query_token *t = &q->token[before->first];
        bool capitals = t->len >= 2 && q->text[t->at] >= 'A' && q->text[t->at] <= 'Z' &&
                        q->text[t->at + 1] >= 'A' && q->text[t->at + 1] <= 'Z';
        c->score = capitals ? 40 : c->score;
    }
}

/* "16 ampere max, a T4": a current, where a card is named besides. */
static bool amperes(const struct query *q, size_t i)
{
    bool current, card = false;

    if (i == 0 || i >= q->n_items)
        return false;
    current = eco_query_token_is(q, q->item[i].first, "ampere") &&
              q->item[i - 1].kind == ITEM_NUM && q->item[i - 1].scale == 0;
    for (size_t k = 0; k < q->n_cards; k++)
        card |= q->card[k].card.name[0] != '\0' && q->card[k].card.arch != ECO_ARCH_AMPERE;
    return current && card;
}

/* "room B200", "invoice A100-22" */
static bool is_place(const struct query *q, size_t i)
{
    return i > 0 && eco_query_sense(q, i - 1, SENSE_FALSE_NUM) && q->item[i - 1].word->arg == 1;
}

/* Cards given up lose to those that are left. */
static void drop_given_up(struct query *q)
{
    bool left = false;

    for (size_t i = 0; i < q->n_cards; i++)
        left |= q->card[i].score >= CARD_FLOOR && !q->item[q->card[i].item].given_up;
    for (size_t i = 0; left && i < q->n_cards; i++) {
        if (q->item[q->card[i].item].given_up) {
            q->card[i].score = 0;
            q->card[i].negated = true;
        }
    }
}

static void weigh_cards(struct query *q, int *best)
{
    *best = 0;
    for (size_t i = 0; i < q->n_cards; i++) {
        struct query_card_at *c = &q->card[i];

        if (c->score == 70)
            weigh_bare(q, c);
        c->negated = eco_query_refused(q, c->item);
        if (c->negated)
            c->score = 0;
        if (amperes(q, c->item) || (q->n_cards > 1 && is_place(q, c->item)))
            c->score = 5;
    }
    drop_given_up(q);
    for (size_t i = 0; i < q->n_cards; i++)
        *best = q->card[i].score > *best ? q->card[i].score : *best;
}

static void add_card(struct eco_query *o, const char *name)
{
    for (size_t i = 0; i < o->n_gpus; i++) {
        if (strcmp(o->gpus[i], name) == 0)
            return;
    }
    if (o->n_gpus < ECO_QUERY_MAX_LIST)
        memcpy(o->gpus[o->n_gpus++], name, ECO_QUERY_NAME);
}

/* A class beside a card of that class says nothing new; two classes are no class. */
static void choose_card(struct query *q)
{
    struct eco_query *o = q->out;
    enum eco_arch arch = ECO_ARCH_UNKNOWN;
    bool several = false;
    int best;

    weigh_cards(q, &best);
    for (size_t i = 0; i < q->n_cards; i++) {
        struct query_card_at *c = &q->card[i];

        if (c->score < CARD_FLOOR || c->score < best - CARD_GAP - 10) {
            eco_query_miss(q, c->item, c->item,
                           c->negated ? "refused here" : "not taken for a card here");
            continue;
        }
        several |=
            arch != ECO_ARCH_UNKNOWN && c->card.arch != ECO_ARCH_UNKNOWN && arch != c->card.arch;
        arch = c->card.arch != ECO_ARCH_UNKNOWN ? c->card.arch : arch;
        if (c->card.name[0] != '\0')
            add_card(o, c->card.name);
    }
    o->arch = several ? ECO_ARCH_UNKNOWN : arch;
    if (o->n_gpus == 1 && !several)
        memcpy(o->gpu, o->gpus[0], sizeof o->gpu);
    if (o->n_gpus < 2)
        o->n_gpus = 0;
}

/* Chinese class names and processors without a class. */
static void choose_words(struct query *q)
{
    for (size_t i = 0; i < q->n_items; i++) {
        if (eco_query_sense(q, i, SENSE_ARCH) && q->n_cards < QUERY_MAX_CARDS) {
            struct query_card_at *c = &q->card[q->n_cards++];
            memset(c, 0, sizeof *c);
            c->card.arch = (enum eco_arch)q->item[i].word->arg;
            c->item = i;
            c->score = 85;
        } else if (eco_query_sense(q, i, SENSE_DEVICE) && q->out->gpu[0] == '\0') {
            eco_query_miss(q, i, i, "no data for this processor");
        }
    }
}

static void add_size(struct query *q, double b)
{
    struct eco_query *o = q->out;

    for (size_t i = 0; i < o->n_sizes; i++) {
        if (fabs(log(o->sizes[i] / b)) < SAME_SIZE)
            return;
    }
    if (o->n_sizes < ECO_QUERY_MAX_LIST)
        o->sizes[o->n_sizes++] = b;
}

static size_t item_of_model(const struct query *q, size_t m)
{
    for (size_t i = 0; i < q->n_items; i++) {
        if (q->item[i].kind == ITEM_MODEL && q->item[i].index == (int)m)
            return i;
    }
    return 0;
}

/* A size or a model that is not given up. */
static bool size_left(const struct query *q)
{
    for (size_t i = 0; i < q->n_sizes; i++) {
        if (!q->size_given_up[i])
            return true;
    }
    for (size_t m = 0; m < q->n_models; m++) {
        size_t at = item_of_model(q, m);
        if (!q->item[at].given_up && !eco_query_refused(q, at))
            return true;
    }
    return false;
}

static void choose_models(struct query *q)
{
    struct eco_query *o = q->out;
    size_t known = 0;

    for (size_t m = 0; m < q->n_models; m++) {
        const struct eco_query_model *model = &q->model[m];
        double said = q->model_size[m];
        size_t at = item_of_model(q, m);

        if (eco_query_refused(q, at) || (q->item[at].given_up && size_left(q))) {
            eco_query_miss(q, at, at, "refused here");
        } else if (model->name[0] != '\0') {
            add_size(q, model->moe || said == 0.0 ? model->params_b : said);
            known += strcmp(o->model, model->name) != 0;
            memcpy(o->model, model->name, sizeof o->model);
        } else if (said > 0.0) {
            add_size(q, said);
            eco_query_miss(q, at, at, "not in the model table: its size is used");
        }
    }
    if (known > 1)
        o->model[0] = '\0';
}

/* A family without a size matters only when no size is said at all. */
static void miss_families(struct query *q)
{
    bool sized = eco_query_has(q->out, ECO_QUERY_PARAMS_B) || q->out->n_sizes > 0;

    for (size_t m = 0; m < q->n_models && !sized; m++) {
        size_t i = item_of_model(q, m);
        eco_query_miss(q, i, i, "which of this family? say the size");
    }
}

static void miss_sizes_given_up(struct query *q)
{
    for (size_t i = 0; i < q->n_items; i++) {
        const struct query_item *it = &q->item[i];
        if (it->given_up && it->used && it->kind == ITEM_NUM && it->scale != 0 && it->scale != 'k')
            eco_query_miss(q, i, i, "refused here");
    }
}

/* Scores of sizes: an explicit "params" beats a mere "M". */
static void choose_sizes(struct query *q)
{
    struct eco_query *o = q->out;
    bool left = size_left(q);
    int best = 0;

    if (left)
        miss_sizes_given_up(q);
    for (size_t i = 0; i < q->n_sizes; i++) {
        if (left && q->size_given_up[i])
            q->size_score[i] = -1000;
        best = q->size_score[i] > best ? q->size_score[i] : best;
    }
    for (size_t i = 0; i < q->n_sizes; i++) {
        if (q->size_score[i] >= best - 45)
            add_size(q, q->size[i]);
    }
    if (o->n_sizes == 1)
        eco_query_offer(q, q->n_items, ECO_QUERY_PARAMS_B, o->sizes[0], 100);
    else if (o->n_sizes > 1)
        o->model[0] = '\0';
    if (o->n_sizes < 2)
        o->n_sizes = 0;
}

static bool region_at(struct query *q, size_t i, size_t n)
{
    const struct query_token *a = &q->token[q->item[i].first];
    const struct query_item *l = &q->item[i + n - 1];
    const struct query_token *b = &q->token[l->first + l->count - 1];

    return q->names->region(q->names->self, q->text + a->at, (size_t)b->at + b->len - a->at,
                            q->out->region);
}

/* A whole name, "(Ireland)", "German prices" aside: a code or a short word may be anything. */
static bool is_long_name(const struct query *q, size_t i, size_t n)
{
    const struct query_token *a = &q->token[q->item[i].first];
    const struct query_item *l = &q->item[i + n - 1];
    const struct query_token *b = &q->token[l->first + l->count - 1];

    return (size_t)b->at + b->len - a->at >= (a->kind == QUERY_CJK ? 6 : 5);
}

/* "in Germany", "region: FR", "在德国": the longest name behind such a word; else any long name. */
static void choose_region(struct query *q, bool anywhere)
{
    for (size_t i = 0; i + 1 < q->n_items + anywhere && q->out->region[0] == '\0'; i++) {
        size_t k = anywhere ? i : i + 1;

        if (!anywhere && !eco_query_sense(q, i, SENSE_IN))
            continue;
        k += eco_query_mark(q, k, '=') || eco_query_mark(q, k, ':') ||
             eco_query_sense(q, k, SENSE_LINK);
        k += k < q->n_items && q->item[k].kind == ITEM_TEXT &&
             eco_query_token_is(q, q->item[k].first, "the");
        for (size_t n = 3; n >= 1; n--) {
            size_t want = n;
            if (k + want <= q->n_items && q->item[k].kind == ITEM_TEXT &&
                (!anywhere || is_long_name(q, k, want)) && region_at(q, k, want)) {
                for (size_t u = 0; u < want; u++)
                    q->item[k + u].used = true;
                break;
            }
        }
    }
}

static bool has_digits(const struct query *q, const struct query_item *it)
{
    for (size_t i = it->first; i < (size_t)it->first + it->count; i++) {
        if (q->token[i].kind == QUERY_NUM)
            return true;
    }
    return false;
}

/* "no bitsandbytes": which method then, nobody said. */
static bool is_left_out(const struct query *q, size_t i)
{
    size_t first = q->item[i].first;

    return i > 0 && eco_query_sense(q, i - 1, SENSE_NOT) &&
           (eco_query_token_is(q, first, "bitsandbytes") || eco_query_token_is(q, first, "bnb"));
}

/* "1e400": a numeral that no number holds; "1.5.2" is a version. */
static bool beyond_numbers(const struct query *q, const struct query_item *it)
{
    const struct query_token *t = &q->token[it->first];
    size_t points = 0;

    for (size_t i = 0; i < t->len; i++)
        points += q->text[t->at + i] == '.';
    return it->kind == ITEM_TEXT && t->kind == QUERY_VERSION && points < 2;
}

/* Figures that nothing took, with the word behind them. */
static void miss_rest(struct query *q)
{
    for (size_t i = 0; i < q->n_items; i++) {
        const struct query_item *it = &q->item[i];
        bool after = i + 1 < q->n_items &&
                     (q->item[i + 1].kind == ITEM_TEXT || q->item[i + 1].kind == ITEM_WORD);
        bool one = it->kind == ITEM_NUM && q->token[it->first].kind != QUERY_NUM && it->value <= 2;

        if (it->kind == ITEM_NUM && !it->used && eco_query_sense(q, i + 1, SENSE_MS))
            eco_query_miss(q, i, i + 1, "a time of what? a limit is said as ms per token");
        else if (it->kind == ITEM_NUM && !it->used && !one)
            eco_query_miss(q, i, after ? i + 1 : i, "a figure without a meaning here");
        else if (beyond_numbers(q, it))
            eco_query_miss(q, i, after ? i + 1 : i, "a number out of range");
        else if (it->kind == ITEM_TEXT && is_left_out(q, i))
            eco_query_miss(q, i, i, "to be left out: say which method you want (GPTQ, AWQ, GGUF)");
        else if (it->kind == ITEM_TEXT && it->letters && !it->used && has_digits(q, it))
            eco_query_miss(q, i, i, "not a name that is known");
    }
}

void eco_query_choose(struct query *q)
{
    choose_words(q);
    choose_card(q);
    choose_models(q);
    choose_sizes(q);
    miss_families(q);
    choose_region(q, false);
    choose_region(q, true);
    miss_rest(q);
}
