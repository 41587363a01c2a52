/* Tokens -> items: names of models and cards first, then the longer of numeral and phrase. */
#include "query.h"

#include <string.h>

const struct query_word *eco_query_longest(const struct query *q, size_t first, size_t *count)
{
    const struct query_word *best = NULL, *words;
    char head = eco_query_fold(q->text[q->token[first].at]);
    size_t n = 0;

    *count = 0;
    for (size_t part = 0; (words = eco_query_lexicon(part, &n)) != NULL; part++) {
        for (size_t i = 0; i < n; i++) {
            size_t got = words[i].text[0] == head ? eco_query_phrase(q, first, words[i].text) : 0;
            if (got > *count || (got == *count && got > 0 && best != NULL &&
                                 strlen(words[i].text) > strlen(best->text))) {
                best = &words[i];
                *count = got;
            }
        }
    }
    return best;
}

bool eco_query_sense(const struct query *q, size_t item, enum query_sense sense)
{
    return item < q->n_items && q->item[item].kind == ITEM_WORD &&
           q->item[item].word->sense == sense;
}

bool eco_query_mark(const struct query *q, size_t item, char c)
{
    return item < q->n_items && q->item[item].kind == ITEM_MARK &&
           q->text[q->token[q->item[item].first].at] == c;
}

/* A small word that may stand between "not" and what is refused: "not on the A100". */
static bool small_word(const struct query *q, size_t i)
{
    static const char *const words[] = {"on", "the", "a", "an", "my", "with", "for", "any", "of"};
    const struct query_item *it = &q->item[i];

    if (it->kind == ITEM_WORD)
        return it->word->sense == SENSE_LINK || it->word->sense == SENSE_IN ||
               it->word->sense == SENSE_NOISE || it->word->sense == SENSE_GPU_KEY;
    for (size_t k = 0; it->kind == ITEM_TEXT && k < sizeof words / sizeof words[0]; k++) {
        if (eco_query_token_is(q, it->first, words[k]))
            return true;
    }
    return false;
}

bool eco_query_refused(const struct query *q, size_t i)
{
    for (size_t back = 1; back <= 3 && back <= i; back++) {
        if (eco_query_sense(q, i - back, SENSE_NOT) ||
            (eco_query_sense(q, i - back, SENSE_THAN) && eco_query_rather(q, i - back)))
            return true;
        if (!small_word(q, i - back))
            return false;
    }
    return false;
}

/* Cuts at a whole UTF-8 sequence. */
static void copy_text(const char *from, size_t n, char out[ECO_QUERY_NAME])
{
    if (n >= ECO_QUERY_NAME) {
        n = ECO_QUERY_NAME - 1;
        while (n > 0 && ((unsigned char)from[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(out, from, n);
    out[n] = '\0';
}

void eco_query_item_text(const struct query *q, size_t item, size_t upto, char out[ECO_QUERY_NAME])
{
    const struct query_item *a = &q->item[item], *b = &q->item[upto];
    const struct query_token *last = &q->token[b->first + b->count - 1];
    size_t at = q->token[a->first].at, end = (size_t)last->at + last->len;

    copy_text(q->text + at, end - at, out);
}

/* "16 k context": the letter is a scale when what it counts follows. */
static bool unit_follows(const struct query *q, size_t i)
{
    size_t n = 0;
    const struct query_word *w = i < q->n_tokens ? eco_query_longest(q, i, &n) : NULL;

    return w != NULL &&
           (w->sense == SENSE_CTX || w->sense == SENSE_TOKENS || w->sense == SENSE_REQUESTS ||
            w->sense == SENSE_USERS || w->sense == SENSE_SIZE);
}

/* "ctx 4 k," */
static bool ends(const struct query *q, size_t i, char scale)
{
    return scale == 'k' &&
           (i >= q->n_tokens || eco_query_token_is(q, i, ",") || eco_query_token_is(q, i, ";"));
}

/* A sense of scale behind a numeral at token `i`: tokens used, or 0. */
static size_t scale_at(const struct query *q, size_t i, char *scale)
{
    size_t hyphen = i < q->n_tokens && eco_query_token_is(q, i, "-") && !q->token[i].space ? 1 : 0;
    size_t n = 0, at = i + hyphen;
    const struct query_word *w;
    bool glued, letter;

    if (eco_query_token_is(q, i, "个") && eco_query_token_is(q, i + 1, "b")) {
        *scale = 'b'; /* "70个B" */
        return 2;
    }
    if (at >= q->n_tokens || q->token[at].kind != QUERY_WORD)
        return 0;
    w = eco_query_longest(q, at, &n);
    letter = q->token[at].len == 1;
    if (letter) { /* "b" is a key of batch too: look for the scale itself */
        char c = eco_query_fold(q->text[q->token[at].at]);
        bool known = c == 'b' || c == 'k' || c == 'm' || c == 't';
        glued = !q->token[at].space && hyphen == 0;
        if (!known || n > 1 ||
            (!glued && c != 'b' && c != 't' && !unit_follows(q, at + 1) && !ends(q, at + 1, c)))
            return 0;
        if (at + 1 < q->n_tokens && !q->token[at + 1].space &&
            (q->token[at + 1].kind == QUERY_NUM || eco_query_token_is(q, at + 1, "=")))
            return 0;
        if (!glued && at + 1 < q->n_tokens && eco_query_token_is(q, at + 1, "="))
            return 0;
        *scale = c;
        return hyphen + 1;
    }
    if (w == NULL || w->sense != SENSE_SCALE ||
        (w->arg == 'y' && !eco_query_token_is(q, at + 1, "zi")))
        return 0;
    *scale = (char)w->arg;
    return hyphen + n;
}

static size_t add_number(struct query *q, size_t first, double value, char scale, size_t count)
{
    struct query_item *it = &q->item[q->n_items++];
    const struct query_token *t = &q->token[first];
    char more = 0;
    size_t extra = scale == 0 || scale == 'q' ? scale_at(q, first + count, &more) : 0;

    if (extra > 0)
        scale = more;
    value *= more == 'w' ? 1e4 : more == 'y' ? 1e8 : more == 'q' ? 1e3 : 1.0;
    *it = (struct query_item){.kind = ITEM_NUM,
                              .space = t->space,
                              .negative = t->negative,
                              .letters = eco_query_glued(q, first) &&
                                         q->token[first - 1].kind == QUERY_WORD,
                              .first = (uint16_t)first,
                              .count = (uint16_t)(count + extra),
                              .value = value,
                              .scale = scale};
    return count + extra;
}

static size_t add(struct query *q, enum query_item_kind kind, size_t first, size_t count)
{
    q->item[q->n_items++] = (struct query_item){.kind = (uint8_t)kind,
                                                .space = q->token[first].space,
                                                .first = (uint16_t)first,
                                                .count = (uint16_t)count};
    return count;
}

/* What nothing knows: a word with what is glued to it ("p99", "k8s"). */
static size_t add_unknown(struct query *q, size_t first)
{
    size_t count = 1;

    if (q->token[first].kind == QUERY_MARK)
        return add(q, ITEM_MARK, first, 1);
    while (q->token[first].kind == QUERY_WORD && eco_query_glued(q, first + count) &&
           q->token[first + count].kind != QUERY_CJK)
        count++;
    add(q, ITEM_TEXT, first, count);
    q->item[q->n_items - 1].letters = count > 1;
    return count;
}

static size_t add_model(struct query *q, size_t first)
{
    size_t count;

    if (q->n_models == QUERY_MAX_MODELS)
        return 0;
    count = eco_query_model(q, first, &q->model[q->n_models], &q->model_size[q->n_models]);
    if (count == 0)
        return 0;
    add(q, ITEM_MODEL, first, count);
    q->item[q->n_items - 1].index = (int)q->n_models++;
    return count;
}

static size_t add_card(struct query *q, size_t first)
{
    size_t count;

    if (q->n_cards == QUERY_MAX_CARDS)
        return 0;
    count = eco_query_card(q, first, &q->card[q->n_cards]);
    if (count == 0)
        return 0;
    add(q, ITEM_CARD, first, count);
    q->item[q->n_items - 1].index = (int)q->n_cards;
    q->card[q->n_cards++].item = q->n_items - 1;
    return count;
}

/* "昇腾910B3", "Xeon 8480+": the number of such a processor is no size. Tokens, or 0. */
static size_t device_number(const struct query *q, size_t first)
{
    size_t i = first;

    i += eco_query_token_is(q, i, "-") && !q->token[i].space ? 1 : 0;
    if (i >= q->n_tokens || q->token[i].kind == QUERY_CJK ||
        (!eco_query_glued(q, i) && i == first && q->token[i].kind != QUERY_NUM))
        return 0;
    if (q->token[i].kind == QUERY_NUM && q->token[i].space && q->token[i].value < 300.0)
        return 0;
    if (q->token[i].kind == QUERY_MARK)
        return 0;
    for (i++; eco_query_glued(q, i) && q->token[i].kind != QUERY_CJK;)
        i++;
    return i - first;
}

static size_t add_word(struct query *q, size_t first)
{
    double value = 0.0;
    char scale = 0;
    size_t phrase = 0, numeral = eco_query_numeral(q, first, &value, &scale);
    const struct query_word *w = eco_query_longest(q, first, &phrase);

    if (numeral > 0 && (phrase <= numeral || (w != NULL && w->sense == SENSE_NUMBER)))
        return add_number(q, first, value, scale, numeral);
    if (w == NULL)
        return add_unknown(q, first);
    if (w->sense == SENSE_DEVICE && w->arg == 1)
        phrase += device_number(q, first + phrase);
    add(q, ITEM_WORD, first, phrase);
    q->item[q->n_items - 1].word = w;
    return phrase;
}

void eco_query_itemise(struct query *q)
{
    q->n_items = q->n_cards = q->n_models = 0;
    for (size_t i = 0; i < q->n_tokens;) {
        size_t used = add_model(q, i);

        used = used > 0 ? used : add_card(q, i);
        i += used > 0 ? used : add_word(q, i);
    }
}
