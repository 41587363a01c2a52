/*
 * What each number is: by the key before it ("batch 8"), by the unit behind it ("8k context"), by
 * its scale ("13B"). Every reading is an offer with a score; query_offer keeps the best.
 */
#include "query.h"

#include <math.h>
#include <string.h>

/* Scores: how plainly the text says it. */
enum { SAID = 100, BEHIND = 85, SCALE_ONLY = 60, BARE_K = 40, BARE_TOKENS = 30, CORRECTED = 20 };

#define KEY_REACH 6 /* items between a key and its number */

static const struct {
    double lo, hi;
    const char *unit;
} ranges[] = {
#define X(name, text, lo, hi, unit) {lo, hi, unit},
    ECO_QUERY_NUMBERS(X)
#undef X
};

static bool in_range(enum eco_query_number n, double v)
{
    return isfinite(v) && v >= ranges[n].lo && v <= ranges[n].hi;
}

/* The item with the word behind it, when that is what it counts. */
void eco_query_outside(struct query *q, size_t i, enum eco_query_number n)
{
    size_t k = q->out->n_missed;
    bool unit = i + 1 < q->n_items && q->item[i + 1].kind == ITEM_WORD && q->item[i + 1].used;

    if (i >= q->n_items || k == ECO_QUERY_MAX_MISSED)
        return;
    eco_query_miss(q, i, unit ? i + 1 : i, "outside");
    q->out->missed[k].what = eco_query_number_name(n);
    q->out->missed[k].unit = ranges[n].unit;
    q->out->missed[k].lo = ranges[n].lo;
    q->out->missed[k].hi = ranges[n].hi;
}

/* Of two figures for the same the plainer one counts; the other is listed, never dropped. */
static void miss_beaten(struct query *q, size_t i)
{
    if (i < q->n_items && q->item[i].kind == ITEM_NUM)
        eco_query_miss(q, i, i, "another figure says the same more plainly");
}

void eco_query_offer(struct query *q, size_t i, enum eco_query_number n, double v, int score)
{
    bool other = q->number_score[n] > 0 && q->number_item[n] != i && q->out->number[n] != v;

    if (!in_range(n, v)) {
        eco_query_outside(q, i, n);
        return;
    }
    if (score <= q->number_score[n]) {
        if (other)
            miss_beaten(q, i);
        return;
    }
    if (other)
        miss_beaten(q, q->number_item[n]);
    q->number_score[n] = score;
    q->number_item[n] = i;
    if (i < q->n_items)
        q->item[i].slot = (uint8_t)(n + 1);
    q->out->number[n] = v;
    q->out->have |= 1u << n;
}

void eco_query_miss(struct query *q, size_t item, size_t upto, const char *why)
{
    struct eco_query_missed *m = &q->out->missed[q->out->n_missed];

    if (q->out->n_missed == ECO_QUERY_MAX_MISSED)
        return;
    eco_query_item_text(q, item, upto, m->text);
    m->why = why;
    q->out->n_missed++;
}

static bool skippable(const struct query *q, size_t i)
{
    const struct query_item *it = &q->item[i];

    if (it->kind == ITEM_MARK)
        return strchr("-_=:~'\"(`*<>+@", q->text[q->token[it->first].at]) != NULL;
    return it->kind == ITEM_WORD &&
           (it->word->sense == SENSE_LINK || it->word->sense == SENSE_LIMIT ||
            it->word->sense == SENSE_FROM || it->word->sense == SENSE_SO ||
            (it->word->sense == SENSE_TO && (it->word->arg & 1) != 0) ||
            (it->word->sense == SENSE_COUNT && it->word->arg == 1) ||
            (it->word->sense == SENSE_CORRECT && it->word->arg == 1) || /* "should be" */
            it->word->sense == SENSE_TOKENS);
}

/* "-b 8", "--ctx 4096": a key with the dashes of an option takes what is behind it. */
static bool is_option(const struct query *q, size_t k)
{
    return k > 0 && k < q->n_items && eco_query_mark(q, k - 1, '-') && !q->item[k].space &&
           (q->item[k - 1].space ||
            (k > 1 && eco_query_mark(q, k - 2, '-') && q->item[k - 2].space));
}

static bool is_key(const struct query *q, size_t i)
{
    enum query_sense s;

    if (q->item[i].kind != ITEM_WORD || q->item[i].used)
        return false;
    s = (enum query_sense)q->item[i].word->sense;
    if (s == SENSE_CTX && q->item[i].word->arg == 2)
        return is_option(q, i); /* "-c 4096" */
    return s == SENSE_BATCH || s == SENSE_CTX || s == SENSE_PROMPT || s == SENSE_GEN ||
           s == SENSE_SIZE || s == SENSE_PUE || s == SENSE_GPU_KEY;
}

/* A key that a number behind it needs more than itself for. */
static bool is_weak(const struct query *q, size_t k, size_t number)
{
    int arg = q->item[k].word->arg;

    switch ((enum query_sense)q->item[k].word->sense) {
    case SENSE_BATCH:
        return arg == 1 || arg == 4;
    case SENSE_CTX:
        return arg == 2; /* 1: "长度" counts only before its number */
    case SENSE_GEN:
        return arg == 3 && !eco_query_sense(q, number + 1, SENSE_TOKENS) &&
               !eco_query_sense(q, number + 1, SENSE_CHARS);
    case SENSE_PROMPT:
        return arg == 1;
    default:
        return arg >= 1;
    }
}

/* A Chinese word that says nothing here: "批大小给8", "上下文缩到1024". */
static bool small_han(const struct query *q, size_t i)
{
    if (q->item[i].kind == ITEM_TEXT && eco_query_sense(q, i + 1, SENSE_FROM))
        return true; /* "batch went from 4 to 16" */
    return (q->item[i].kind == ITEM_TEXT || eco_query_sense(q, i, SENSE_NOISE)) &&
           q->token[q->item[i].first].kind == QUERY_CJK;
}

/* A number that no unit explains otherwise. */
static bool is_plain(const struct query *q, size_t i)
{
    const struct query_item *next = i + 1 < q->n_items ? &q->item[i + 1] : NULL;

    if (q->item[i].scale == 'b' || q->item[i].scale == 't' || q->item[i].scale == 'm')
        return false;
    if (next == NULL || next->kind != ITEM_WORD)
        return next == NULL || next->kind != ITEM_CARD;
    switch ((enum query_sense)next->word->sense) {
    case SENSE_TOKENS:
    case SENSE_CHARS:
    case SENSE_ITEM:
    case SENSE_LINK:
    case SENSE_LIMIT:
    case SENSE_NOISE:
    case SENSE_TO:
        return true;
    case SENSE_REQUESTS:
        return next->word->arg == 0;
    default:
        return false;
    }
}

/* The unused key before item i, or i itself when there is none; `*strong` with '=' or ':'. */
static size_t key_before(const struct query *q, size_t i, bool *strong)
{
    bool plain = is_plain(q, i);

    *strong = q->item[i].letters;
    for (size_t back = 1; back <= KEY_REACH && back <= i; back++) {
        size_t k = i - back;

        if (eco_query_mark(q, k, '=') || eco_query_mark(q, k, ':'))
            *strong = true;
        if (is_key(q, k))
            return is_weak(q, k, i) && !*strong && !is_option(q, k) ? i : k;
        if (!skippable(q, k) && !(plain && small_han(q, k)))
            return i;
    }
    return i;
}

/* The key behind item i ("4096 context", "32 batch"), past hyphens and "tokens". */
static size_t key_behind(const struct query *q, size_t i)
{
    for (size_t k = i + 1; k < q->n_items && k <= i + 3; k++) {
        enum query_sense s;

        if (is_key(q, k)) {
            if (is_option(q, k))
                return i;
            s = (enum query_sense)q->item[k].word->sense;
            return s == SENSE_BATCH || s == SENSE_CTX || s == SENSE_GEN || s == SENSE_PROMPT ? k
                                                                                             : i;
        }
        if (!eco_query_mark(q, k, '-') && !eco_query_sense(q, k, SENSE_TOKENS) &&
            !(eco_query_sense(q, k, SENSE_COUNT) && q->item[k].word->arg == 1) &&
            !eco_query_sense(q, k, SENSE_ITEM) &&
            !(eco_query_sense(q, k, SENSE_LINK) &&
              eco_query_token_is(q, q->item[k].first, "of"))) /* "100 tokens of output" */
            return i;
    }
    return i;
}

static double tokens_of(const struct query_item *n)
{
    double unit = n->scale == 'k' ? 1024.0 : n->scale == 'm' ? 1048576.0 : 1.0;
    return n->value * unit;
}

static double count_of(const struct query_item *n)
{
    return n->value * (n->scale == 'k' ? 1e3 : n->scale == 'm' ? 1e6 : n->scale == 'b' ? 1e9 : 1.0);
}

double eco_query_plain_value(const struct query_item *n)
{
    return n->scale == 't' ? n->value * 1e12 : count_of(n);
}

/* A size in billions from "13B", "350M", "1T", "130亿", "7e9", "7000000000", "7". */
static double billions(const struct query_item *n)
{
    double v = n->value;

    switch (n->scale) {
    case 'b':
        return v;
    case 'm':
        return v / 1e3;
    case 't':
        return v * 1e3;
    case 'k':
        return v / 1e6;
    default:
        return n->scale == 'y' || n->scale == 'w' || v >= 1e6 ? v / 1e9 : v;
    }
}

static void offer_size(struct query *q, size_t i, int score)
{
    double b = billions(&q->item[i]);

    q->item[i].used = true;
    if (q->item[i].negative || !(b > 0)) {
        eco_query_miss(q, i, i, "a model's size is above zero");
        return;
    }
    if (!in_range(ECO_QUERY_PARAMS_B, b)) {
        eco_query_outside(q, i, ECO_QUERY_PARAMS_B);
        return;
    }
    if (eco_query_refused(q, i)) {
        eco_query_miss(q, i, i, "refused here");
        return;
    }
    q->item[i].given_up |=
        i > 0 && eco_query_sense(q, i - 1, SENSE_LIMIT); /* "under 1B? say 0.6B" */
    for (size_t k = 0; k < q->n_sizes; k++) {
        if (fabs(q->size[k] - b) < 1e-9 * b) {
            q->size_given_up[k] &= q->item[i].given_up;
            return;
        }
    }
    if (q->n_sizes < QUERY_MAX_SIZES) {
        q->size[q->n_sizes] = b;
        q->size_given_up[q->n_sizes] = q->item[i].given_up;
        q->size_score[q->n_sizes++] = score;
    }
}

static void offer_count(struct query *q, size_t i, enum eco_query_number n, double v, int score)
{
    q->item[i].used = true;
    if (q->item[i].negative || v < 1 || v != floor(v))
        eco_query_miss(q, i, i, "not a whole number above zero");
    else
        eco_query_offer(q, i, n, v, score);
}

/* A key and its number. Characters become tokens: "输入8千字". */
static bool by_key(struct query *q, size_t i, size_t key, int score)
{
    const struct query_item *n = &q->item[i];
    enum query_sense s = (enum query_sense)q->item[key].word->sense;
    bool chars = eco_query_sense(q, i + 1, SENSE_CHARS);

    q->item[key].used = true;
    if (chars && (s == SENSE_CTX || s == SENSE_PROMPT || s == SENSE_GEN)) {
        double per = q->item[i + 1].word->arg == 2 ? 2.0 : 4.0;
        double v = count_of(n);
        enum eco_query_number slot = s == SENSE_GEN   ? ECO_QUERY_GEN_TOKENS
                                     : s == SENSE_CTX ? ECO_QUERY_CTX
                                                      : ECO_QUERY_PROMPT_TOKENS;
        q->item[i + 1].used = true;
        eco_query_convert(q, "characters", v, "tokens", ceil(v / per),
                          per == 2.0 ? "2 characters a token" : "4 characters a token");
        offer_count(q, i, slot, ceil(v / per), score);
    } else if (s == SENSE_BATCH) {
        offer_count(q, i, ECO_QUERY_BATCH, count_of(n), score);
    } else if (s == SENSE_CTX) {
        offer_count(q, i, ECO_QUERY_CTX, tokens_of(n), score);
    } else if (s == SENSE_PROMPT) {
        offer_count(q, i, ECO_QUERY_PROMPT_TOKENS, tokens_of(n), score);
        if (q->item[key].word->arg == 5) /* "输入长度8192": the context holds it */
            eco_query_offer(q, i, ECO_QUERY_CTX, tokens_of(n), BARE_TOKENS);
    } else if (s == SENSE_GEN) {
        offer_count(q, i, ECO_QUERY_GEN_TOKENS, tokens_of(n), score);
    } else if (s == SENSE_PUE) {
        q->item[i].used = true;
        eco_query_offer(q, i, ECO_QUERY_PUE, n->value, score);
    } else if (s == SENSE_SIZE) {
        offer_size(q, i, score);
    } else {
        return false;
    }
    return true;
}

/* "2x A100", "four 4090s", "两张 4090": how many cards. */
static bool card_count(struct query *q, size_t i)
{
    size_t k = i + 1;

    if (q->item[i].scale != 0)
        return false;
    k += eco_query_mark(q, k, '-') || eco_query_mark(q, k, '*') ? 1 : 0;
    k += eco_query_sense(q, k, SENSE_COUNT) || eco_query_sense(q, k, SENSE_ITEM) ? 1 : 0;
    k += eco_query_sense(q, k, SENSE_NOISE) ? 1 : 0;
    if (k >= q->n_items)
        return false;
    if (q->item[k].kind != ITEM_CARD &&
        !(eco_query_sense(q, k, SENSE_GPU_KEY) && q->item[i].value < 100))
        return false;
    q->item[i].used = true;
    if (q->item[i].value > 1) {
        eco_query_offer(q, i, ECO_QUERY_N_GPUS, q->item[i].value, SAID);
        eco_query_miss(q, i, k, "the answer is for one card");
    }
    return true;
}

static bool card_named(const struct query *q)
{
    for (size_t i = 0; i < q->n_items; i++) {
        if (q->item[i].kind == ITEM_CARD)
            return true;
    }
    return false;
}

/* "80 GB A100", "24 GB card": the memory of a card that is named, here or elsewhere. */
static bool card_memory(struct query *q, size_t i)
{
    size_t k = i + 2;

    if (!eco_query_sense(q, i + 1, SENSE_GB))
        return false;
    k += eco_query_mark(q, k, '-') ? 1 : 0;
    if (k < q->n_items && (q->item[k].kind == ITEM_CARD || eco_query_sense(q, k, SENSE_GPU_KEY))) {
        q->item[i].used = q->item[i + 1].used = true;
        if (!card_named(q))
            eco_query_miss(q, i, k, "many cards have this memory: name the card");
        return true;
    }
    return false;
}

static bool size_follows(const struct query *q, size_t i)
{
    size_t k = i + 1;
    k += eco_query_mark(q, k, '-') ? 1 : 0;
    k += eco_query_sense(q, k, SENSE_NOISE) ? 1 : 0;
    return eco_query_sense(q, k, SENSE_SIZE) && q->item[k].word->arg != 3;
}

static bool volume_follows(const struct query *q, size_t i)
{
    return eco_query_unit(q, i) > i || eco_query_sense(q, i + 1, SENSE_PERIOD) ||
           eco_query_sense(q, i + 1, SENSE_MONEY) ||
           (i > 0 && eco_query_sense(q, i - 1, SENSE_MONEY));
}

/* "vocab 152k", "node 3": a label's number. */
static bool labelled(const struct query *q, size_t i)
{
    while (i > 0 && (eco_query_mark(q, i - 1, ':') || eco_query_mark(q, i - 1, '=') ||
                     eco_query_sense(q, i - 1, SENSE_LINK)))
        i--;
    return i > 0 && eco_query_sense(q, i - 1, SENSE_FALSE_NUM);
}

/* "batch 8, make that 16": what the number before it was. */
static bool by_heritage(struct query *q, size_t i)
{
    const struct query_item *n = &q->item[i];
    uint8_t slot = n->instead > 0 ? q->item[n->instead - 1].slot : 0;
    enum eco_query_number what = slot > 0 ? (enum eco_query_number)(slot - 1) : ECO_QUERY_PARAMS_B;

    if (slot == 0 || eco_query_unit(q, i) > i || eco_query_sense(q, i + 1, SENSE_TPS) ||
        eco_query_sense(q, i + 1, SENSE_WATT) ||
        (what != ECO_QUERY_BATCH && what != ECO_QUERY_CTX && what != ECO_QUERY_PROMPT_TOKENS &&
         what != ECO_QUERY_GEN_TOKENS))
        return false;
    offer_count(q, i, what, what == ECO_QUERY_BATCH ? count_of(n) : tokens_of(n), SAID + CORRECTED);
    return true;
}

/* "13B", "350M", "130亿", "7e9 params". */
static bool by_scale(struct query *q, size_t i)
{
    const struct query_item *n = &q->item[i];
    bool big = n->scale == 'b' || n->scale == 't' || n->scale == 'y' || n->scale == 'm';

    if (size_follows(q, i) && (big || n->value >= 1e6 || n->scale == 'w')) {
        offer_size(q, i, SAID);
        return true;
    }
    if (big && !volume_follows(q, i)) {
        offer_size(q, i, n->scale == 'm' ? SCALE_ONLY - 10 : SCALE_ONLY);
        return true;
    }
    if (n->scale == 'k' && !volume_follows(q, i) && !labelled(q, i)) {
        offer_count(q, i, ECO_QUERY_CTX, tokens_of(n), BARE_K);
        return true;
    }
    return false;
}

static void read_number(struct query *q, size_t i)
{
    bool strong = false;
    int more = q->item[i].corrects ? CORRECTED : 0;
    size_t key;

    if (eco_query_width_unit(q, i) > i)
        return;
    if (eco_query_in_unit(q, i)) {
        q->item[i].used = true;
        return;
    }
    if (q->item[i].scale == 0 && eco_query_sense(q, i + 1, SENSE_OP) &&
        q->item[i + 1].word->arg / 16 == ECO_QUERY_COMPARE) {
        q->item[i].used = true; /* "all 5 precisions" */
        return;
    }
    if (eco_query_together(q, i)) {
        offer_count(q, i, ECO_QUERY_BATCH, count_of(&q->item[i]), SAID - 10 + more);
        return;
    }
    key = key_before(q, i, &strong);
    if (key < i && q->item[key].word->sense != SENSE_GPU_KEY) {
        bool mega = q->item[key].word->sense != SENSE_SIZE &&
                    (q->item[i].scale == 'b' || q->item[i].scale == 't');
        if (!mega && by_key(q, i, key, (strong ? SAID : SAID - 10) + more))
            return;
    }
    if (card_memory(q, i) || card_count(q, i))
        return;
    key = key_behind(q, i);
    if (key > i && q->item[i].scale != 'b' && q->item[i].scale != 't' &&
        by_key(q, i, key, BEHIND + more))
        return;
    if (!by_heritage(q, i))
        by_scale(q, i);
}

/* "single stream", "不批处理". */
static void read_words(struct query *q)
{
    for (size_t i = 0; i < q->n_items; i++) {
        struct query_item *it = &q->item[i];

        if (it->kind != ITEM_WORD || it->used)
            continue;
        if (it->word->sense == SENSE_ONE) {
            eco_query_offer(q, i, ECO_QUERY_BATCH, 1.0, BARE_TOKENS);
        } else if (it->word->sense == SENSE_ENGINE) {
            q->out->engine = (enum eco_engine)it->word->arg;
        } else if (it->word->sense == SENSE_FLAG) {
            q->out->production |= it->word->arg == 'p';
            q->out->eager |= it->word->arg == 'e';
            q->out->nightly |= it->word->arg == 'n';
            q->out->no_kv_cache |= it->word->arg == 'k';
        } else if (it->word->sense == SENSE_WHY) {
            q->out->explain = true;
        }
    }
}

void eco_query_read(struct query *q)
{
    for (size_t i = 0; i < q->n_items; i++) {
        if (q->item[i].kind == ITEM_NUM && !q->item[i].used)
            read_number(q, i);
    }
    read_words(q);
}
