/*
 * What a text takes back: "7B... sorry, I meant 14B", "先前说的3B作废，现在用1.7B", "the 5090 is too
 * expensive, so 4090", "batch 8, make that 16", "I'd rather keep fp16 than int8". What is given up
 * loses to another of its kind and stays when there is no other.
 */
#include "query.h"

#include <string.h>

#define LOOK_AHEAD 6 /* items between "I mean" and what is meant */
#define LOOK_BACK 8
#define NEAR 2 /* items between an everyday word ("sorry") and what it corrects */

/* What takes back something said before. */
static const struct query_word withdrawals[] = {
    {"too expensive", SENSE_GONE, 0, NULL},
    {"too pricey", SENSE_GONE, 0, NULL},
    {"too dear", SENSE_GONE, 0, NULL},
    {"too costly", SENSE_GONE, 0, NULL},
    {"sold out", SENSE_GONE, 0, NULL},
    {"out of stock", SENSE_GONE, 0, NULL},
    {"out of budget", SENSE_GONE, 0, NULL},
    {"over budget", SENSE_GONE, 0, NULL},
    {"beyond budget", SENSE_GONE, 0, NULL},
    {"above budget", SENSE_GONE, 0, NULL},
    {"beyond my budget", SENSE_GONE, 0, NULL},
    {"over my budget", SENSE_GONE, 0, NULL},
    {"not available", SENSE_GONE, 0, NULL},
    {"unavailable", SENSE_GONE, 0, NULL},
    {"is gone", SENSE_GONE, 0, NULL},
    {"died", SENSE_GONE, 0, NULL},
    {"is dead", SENSE_GONE, 0, NULL},
    {"broke", SENSE_GONE, 0, NULL},
    {"broken", SENSE_GONE, 0, NULL},
    {"is off the table", SENSE_GONE, 0, NULL},
    {"off the table", SENSE_GONE, 0, NULL},
    {"is out", SENSE_GONE, 0, NULL},
    {"was rejected", SENSE_GONE, 0, NULL},
    {"got rejected", SENSE_GONE, 0, NULL},
    {"was cancelled", SENSE_GONE, 0, NULL},
    {"was canceled", SENSE_GONE, 0, NULL},
    {"no wait", SENSE_CORRECT, 0, NULL},
    {"wait no", SENSE_CORRECT, 0, NULL},
    {"wait", SENSE_CORRECT, 1, NULL},
    {"i meant", SENSE_CORRECT, 0, NULL},
    {"meant", SENSE_CORRECT, 0, NULL},
    {"i mean", SENSE_CORRECT, 0, NULL},
    {"we mean", SENSE_CORRECT, 0, NULL},
    {"make that", SENSE_CORRECT, 0, NULL},
    {"make it", SENSE_CORRECT, 0, NULL},
    {"correction", SENSE_CORRECT, 0, NULL},
    {"corrected", SENSE_CORRECT, 0, NULL},
    {"oops", SENSE_CORRECT, 1, NULL},
    {"whoops", SENSE_CORRECT, 1, NULL},
    {"scratch that", SENSE_CORRECT, 0, NULL},
    {"strike that", SENSE_CORRECT, 0, NULL},
    {"never mind", SENSE_CORRECT, 0, NULL},
    {"forget that", SENSE_CORRECT, 0, NULL},
    {"or rather", SENSE_CORRECT, 0, NULL},
    {"should read", SENSE_CORRECT, 0, NULL},
    {"should be", SENSE_CORRECT, 1, NULL},
    {"should have been", SENSE_CORRECT, 0, NULL},
    {"it's really", SENSE_CORRECT, 0, NULL},
    {"it is really", SENSE_CORRECT, 0, NULL},
    {"it's actually", SENSE_CORRECT, 0, NULL},
    {"it is actually", SENSE_CORRECT, 0, NULL},
    {"is actually", SENSE_CORRECT, 0, NULL},
    {"my bad", SENSE_CORRECT, 1, NULL},
    {"typo", SENSE_CORRECT, 1, NULL},
    {"sorry", SENSE_CORRECT, 1, NULL},
    {"edit", SENSE_CORRECT, 1, NULL},
    {"unobtainable", SENSE_GONE, 0, NULL},
    {"costs too much", SENSE_GONE, 0, NULL},
    {"cost too much", SENSE_GONE, 0, NULL},
    {"didn't arrive", SENSE_GONE, 0, NULL},
    {"did not arrive", SENSE_GONE, 0, NULL},
    {"never arrived", SENSE_GONE, 0, NULL},
    {"isn't available", SENSE_GONE, 0, NULL},
    {"is not available", SENSE_GONE, 0, NULL},
    {"won't arrive", SENSE_GONE, 0, NULL},
    {"is booked", SENSE_GONE, 0, NULL},
    {"is taken", SENSE_GONE, 0, NULL},
    {"too slow", SENSE_GONE, 3, NULL},
    {"too big", SENSE_GONE, 3, NULL},
    {"too large", SENSE_GONE, 3, NULL},
    {"too hot", SENSE_GONE, 3, NULL},
    {"doesn't fit", SENSE_GONE, 3, NULL},
    {"does not fit", SENSE_GONE, 3, NULL},
    {"won't fit", SENSE_GONE, 3, NULL},
    {"didn't fit", SENSE_GONE, 3, NULL},
    {"too hungry", SENSE_GONE, 3, NULL},
    {"too loud", SENSE_GONE, 3, NULL},
    {"out of memory", SENSE_GONE, 3, NULL},
    {"ooms", SENSE_GONE, 3, NULL},
    {"oom", SENSE_GONE, 3, NULL},
    {"now use", SENSE_CORRECT, 0, NULL},
    {"now uses", SENSE_CORRECT, 0, NULL},
    {"ignore", SENSE_NOT, 0, NULL},
    {"disregard", SENSE_NOT, 0, NULL},
    {"forget", SENSE_NOT, 0, NULL},
    {"forget about", SENSE_NOT, 0, NULL},
    {"message about", SENSE_NOT, 0, NULL},
    {"messages about", SENSE_NOT, 0, NULL},
    {"i said about", SENSE_NOT, 0, NULL},
    {"i wrote about", SENSE_NOT, 0, NULL},
    {"no,", SENSE_CORRECT, 0, NULL},
    {"no:", SENSE_CORRECT, 0, NULL},
    {"nope", SENSE_CORRECT, 0, NULL},
    {"nope,", SENSE_CORRECT, 0, NULL},
    {"nope.", SENSE_CORRECT, 0, NULL},
    {"nah", SENSE_CORRECT, 0, NULL},
    {"nah,", SENSE_CORRECT, 0, NULL},
    {"nah.", SENSE_CORRECT, 0, NULL},
    {"now on", SENSE_CORRECT, 0, NULL},
    {"now using", SENSE_CORRECT, 0, NULL},
    {"now running", SENSE_CORRECT, 0, NULL},
    {"now it's", SENSE_CORRECT, 0, NULL},
    {"now with", SENSE_CORRECT, 0, NULL},
    {"but now", SENSE_CORRECT, 0, NULL},
    {"now", SENSE_CORRECT, 1, NULL},
    {"but it is", SENSE_CORRECT, 0, NULL},
    {"but it's", SENSE_CORRECT, 0, NULL},
    {"ended up with", SENSE_CORRECT, 0, NULL},
    {"settled on", SENSE_CORRECT, 0, NULL},
    {"used to be", SENSE_FROM, 2, NULL},
    {"used to run", SENSE_FROM, 2, NULL},
    {"previously", SENSE_FROM, 2, NULL},
    {"originally", SENSE_FROM, 2, NULL},
    {"was", SENSE_FROM, 2, NULL},
    {"formerly", SENSE_FROM, 2, NULL},
    {"at first", SENSE_FROM, 2, NULL},
    {"replace", SENSE_FROM, 3, NULL},
    {"replaced", SENSE_FROM, 3, NULL},
    {"replacing", SENSE_FROM, 3, NULL},
    {"swap", SENSE_FROM, 3, NULL},
    {"swap space", SENSE_NOISE, 0, NULL},
    {"trade off", SENSE_NOISE, 0, NULL},
    {"trade offs", SENSE_NOISE, 0, NULL},
    {"swap file", SENSE_NOISE, 0, NULL},
    {"swapped", SENSE_FROM, 3, NULL},
    {"swapping", SENSE_FROM, 3, NULL},
    {"exchange", SENSE_FROM, 3, NULL},
    {"exchanged", SENSE_FROM, 3, NULL},
    {"trade", SENSE_FROM, 3, NULL},
    {"traded", SENSE_FROM, 3, NULL},
    {"gave up", SENSE_NOT, 1, NULL},
    {"gave up on", SENSE_NOT, 1, NULL},
    {"give up on", SENSE_NOT, 1, NULL},
    {"giving up on", SENSE_NOT, 1, NULL},
    {"dropped", SENSE_NOT, 1, NULL},
    {"ditched", SENSE_NOT, 1, NULL},
    {"abandoned", SENSE_NOT, 1, NULL},
    {"got rid of", SENSE_NOT, 1, NULL},
    {"change to", SENSE_TO, 2, NULL},
    {"changed to", SENSE_TO, 2, NULL},
    {"change that to", SENSE_TO, 2, NULL},
    {"change it to", SENSE_TO, 2, NULL},
    {"changing to", SENSE_TO, 2, NULL},
    {"switch to", SENSE_TO, 2, NULL},
    {"switched to", SENSE_TO, 2, NULL},
    {"switching to", SENSE_TO, 2, NULL},
    {"moving to", SENSE_TO, 2, NULL},
    {"move to", SENSE_TO, 2, NULL},
    {"moved to", SENSE_TO, 2, NULL},
    {"upgrade to", SENSE_TO, 2, NULL},
    {"upgraded to", SENSE_TO, 2, NULL},
    {"upgrading to", SENSE_TO, 2, NULL},
    {"back to", SENSE_TO, 2, NULL},
    {"in favour of", SENSE_TO, 2, NULL},
    {"in favor of", SENSE_TO, 2, NULL},
    {"instead", SENSE_INSTEAD, 0, NULL},
    {"so", SENSE_SO, 0, NULL},
    {"therefore", SENSE_SO, 0, NULL},
    {"hence", SENSE_SO, 0, NULL},
    {"then", SENSE_SO, 0, NULL},
    {"所以", SENSE_SO, 0, NULL},
    {"于是", SENSE_SO, 0, NULL},
    {"只能", SENSE_SO, 0, NULL},
    {"只好", SENSE_SO, 0, NULL},
    {"rather", SENSE_RATHER, 0, NULL},
    {"sooner", SENSE_RATHER, 0, NULL},
    {"than", SENSE_THAN, 0, NULL},
};

const struct query_word *eco_query_lexicon_withdraw(size_t *n)
{
    *n = sizeof withdrawals / sizeof withdrawals[0];
    return withdrawals;
}

enum value_kind { VALUE_NONE, VALUE_CARD, VALUE_SIZE, VALUE_PRECISION, VALUE_NUMBER };

static enum value_kind kind_of(const struct query *q, size_t i)
{
    const struct query_item *it = &q->item[i];

    if (it->kind == ITEM_CARD || eco_query_sense(q, i, SENSE_ARCH))
        return VALUE_CARD;
    if (eco_query_sense(q, i, SENSE_PREC))
        return VALUE_PRECISION;
    if (it->kind == ITEM_MODEL)
        return VALUE_SIZE;
    if (it->kind != ITEM_NUM)
        return VALUE_NONE;
    if (eco_query_width_unit(q, i) > i)
        return VALUE_PRECISION;
    return it->scale == 'b' || it->scale == 't' || it->scale == 'm' || it->scale == 'y'
               ? VALUE_SIZE
               : VALUE_NUMBER;
}

static bool is_break(const struct query *q, size_t i)
{
    const struct query_item *it = &q->item[i];
    return it->kind == ITEM_MARK && strchr(";,.?!()", q->text[q->token[it->first].at]) != NULL;
}

/* "so", "所以", "换" soon behind item k. */
static bool concludes(const struct query *q, size_t k)
{
    for (size_t i = k + 1; i < q->n_items && i <= k + 3; i++) {
        if (eco_query_sense(q, i, SENSE_SO) ||
            (eco_query_sense(q, i, SENSE_TO) && (q->item[i].word->arg & 2) != 0))
            return true;
    }
    return false;
}

/* "The 5090 is too expensive": the value before, in the same clause. */
static void give_up_before(struct query *q, size_t k)
{
    if (q->item[k].word->arg == 2 && k + 1 < q->n_items && kind_of(q, k + 1) != VALUE_NONE) {
        q->item[k + 1].given_up = true; /* "买不起5090" */
        return;
    }
    if (q->item[k].word->arg == 3 && !concludes(q, k))
        return; /* "int8 is too slow" alone asks why */
    for (size_t back = 1; back <= k && !is_break(q, k - back); back++) {
        enum value_kind v = kind_of(q, k - back);
        if (v != VALUE_NONE && v != VALUE_NUMBER) {
            q->item[k - back].given_up = true;
            return;
        }
    }
}

/* The value that follows item k: past marks and small words. n_items: none. */
static size_t value_behind(const struct query *q, size_t k)
{
    for (size_t i = k + 1; i < q->n_items && i <= k + LOOK_AHEAD; i++) {
        if (kind_of(q, i) != VALUE_NONE)
            return i;
        if (eco_query_sense(q, i, SENSE_NOT)) /* "sorry, not 7B but 8B": said there */
            break;
    }
    return q->n_items;
}

/* "sorry", "edit": a correction only where the right value comes at once. */
static bool everyday(const struct query *q, size_t k)
{
    return eco_query_sense(q, k, SENSE_CORRECT) && q->item[k].word->arg == 1;
}

/* What item `to` says replaces the same kind before item k. */
static void replace_before(struct query *q, size_t k, size_t to)
{
    enum value_kind kind = kind_of(q, to);

    if (kind == VALUE_NUMBER)
        q->item[to].corrects = true;
    for (size_t i = k; i-- > 0;) {
        if (kind_of(q, i) != kind)
            continue;
        if (kind == VALUE_NUMBER) { /* no key of its own: it is what the last number was */
            q->item[to].instead = (uint16_t)(i + 1);
            return;
        }
        q->item[i].given_up = true;
        if (everyday(q, k))
            return; /* "7B, 13B; sorry, 14B": the last one was wrong */
    }
}

/* "7B in int8, now 13B in nf4": all that the clause says, but bare numbers further on. */
static void replace_clause(struct query *q, size_t k, size_t to)
{
    replace_before(q, k, to);
    for (size_t i = to + 1; i < q->n_items && !is_break(q, i); i++) {
        enum value_kind v = kind_of(q, i);
        if (v != VALUE_NONE && v != VALUE_NUMBER && v != kind_of(q, to))
            replace_before(q, k, i);
    }
}

/* "used to be 7B": given up where another is named. "swap the A100 for an H100". */
static void from_alone(struct query *q, size_t k)
{
    size_t from = value_behind(q, k), to;

    if (from == q->n_items || from > k + (q->item[k].word->arg == 2 ? 2 : 4))
        return;
    to = value_behind(q, from);
    if (q->item[k].word->arg == 2 && kind_of(q, from) != VALUE_NUMBER)
        q->item[from].given_up = true;
    if (q->item[k].word->arg == 3 && to < q->n_items && kind_of(q, to) == kind_of(q, from))
        q->item[from].given_up = true;
}

/* "trained on 64 A100s", "16 A100s trained it": not the card it runs on. */
static void trained_on(struct query *q, size_t k)
{
    size_t card = value_behind(q, k);

    if (k > 0 && kind_of(q, k - 1) == VALUE_CARD)
        q->item[k - 1].given_up = true;
    if (card < q->n_items && kind_of(q, card) == VALUE_NUMBER)
        card = value_behind(q, card);
    for (size_t i = k + 1; i < card; i++) {
        if (is_break(q, i))
            return;
    }
    if (card < q->n_items && kind_of(q, card) == VALUE_CARD)
        q->item[card].given_up = true;
}

/* "A100 instead": it stands for those of its kind before it. */
static void instead(struct query *q, size_t k)
{
    if (k > 0 && kind_of(q, k - 1) != VALUE_NONE && kind_of(q, k - 1) != VALUE_NUMBER)
        replace_before(q, k - 1, k - 1);
}

/* "went from 4 to 16" is a change; "from 4 to 16" may be a range. */
static bool changed(const struct query *q, size_t k)
{
    static const char *const verbs[] = {"went",  "raised", "raise",  "increased", "increase",
                                        "cut",   "reduce", "bumped", "bump",      "reduced",
                                        "moved", "going",  "go",     "grew",      "changed"};
    for (size_t back = 1; back <= LOOK_BACK && back <= k; back++) {
        for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++) {
            if (eco_query_token_is(q, q->item[k - back].first, verbs[v]))
                return true;
        }
    }
    return false;
}

/* "moved from A100 to H100": FROM just before the one, TO just before the other. */
static void from_to(struct query *q, size_t k)
{
    size_t to = value_behind(q, k), from = q->n_items;
    enum value_kind kind = to < q->n_items ? kind_of(q, to) : VALUE_NONE;

    if (kind != VALUE_CARD && (kind != VALUE_NUMBER || to != k + 1 || !changed(q, k)))
        return;
    for (size_t back = 1; back <= LOOK_BACK && back <= k; back++) {
        if (kind_of(q, k - back) == kind)
            from = k - back;
        else if (from < q->n_items && eco_query_sense(q, k - back, SENSE_FROM) &&
                 kind == VALUE_NUMBER)
            replace_before(q, k, to);
        else if (from < q->n_items && eco_query_sense(q, k - back, SENSE_FROM))
            q->item[from].given_up = true;
        else if (is_break(q, k - back))
            return;
    }
}

bool eco_query_rather(const struct query *q, size_t k)
{
    bool value = false;

    for (size_t back = 1; back <= LOOK_BACK && back <= k; back++) {
        size_t i = k - back;

        if (is_break(q, i))
            return false;
        value |= kind_of(q, i) != VALUE_NONE;
        if (value && (eco_query_sense(q, i, SENSE_RATHER) ||
                      (eco_query_sense(q, i, SENSE_TO) &&
                       eco_query_token_is(q, q->item[i].first, "prefer"))))
            return true;
    }
    return false;
}

void eco_query_withdraw(struct query *q)
{
    for (size_t k = 0; k < q->n_items; k++) {
        bool correct = eco_query_sense(q, k, SENSE_CORRECT) ||
                       (eco_query_sense(q, k, SENSE_TO) && (q->item[k].word->arg & 2) != 0);
        size_t to;

        if (eco_query_sense(q, k, SENSE_GONE)) {
            give_up_before(q, k);
        } else if (eco_query_sense(q, k, SENSE_TRAINED)) {
            trained_on(q, k);
        } else if (eco_query_sense(q, k, SENSE_INSTEAD)) {
            instead(q, k);
        } else if (eco_query_sense(q, k, SENSE_FROM) && q->item[k].word->arg >= 2) {
            from_alone(q, k);
        } else if (correct) {
            to = value_behind(q, k);
            if (to < q->n_items && (!everyday(q, k) || to <= k + NEAR))
                replace_clause(q, k, to);
        }
        if (eco_query_sense(q, k, SENSE_TO))
            from_to(q, k);
    }
}
