/* Numerals: 16,384 · 1.5万 · 七十亿 · 一点五 · thirty-two · half a billion. */
#include "query.h"

#include <string.h>

static const struct {
    const char *text;
    double value;
    bool unit;
} han[] = {
    {"零", 0, false},  {"〇", 0, false},  {"一", 1, false}, {"二", 2, false},  {"两", 2, false},
    {"三", 3, false},  {"四", 4, false},  {"五", 5, false}, {"六", 6, false},  {"七", 7, false},
    {"八", 8, false},  {"九", 9, false},  {"十", 10, true}, {"百", 100, true}, {"千", 1000, true},
    {"万", 1e4, true}, {"亿", 1e8, true},
};

static int han_at(const struct query *q, size_t i)
{
    if (i >= q->n_tokens || q->token[i].kind != QUERY_CJK)
        return -1;
    for (size_t k = 0; k < sizeof han / sizeof han[0]; k++) {
        if (eco_query_token_is(q, i, han[k].text))
            return (int)k;
    }
    return -1;
}

/* The sum of a Chinese numeral while it is read: 一百三十亿 = (1·100 + 3·10) · 1e8. */
struct han_sum {
    double total, section, digit;
    bool have_digit;
    char scale;
};

static void add_unit(struct han_sum *s, double unit)
{
    if (unit >= 1e4) { /* 万, 亿 multiply all that stands before them, 万亿 each other */
        double before = s->section + (s->have_digit ? s->digit : 0.0);
        bool bare = before == 0.0 && s->total == 0.0;

        if (before == 0.0 && s->total > 0.0)
            s->total *= unit;
        else if (unit > 1e4)
            s->total = (s->total + (bare ? 1.0 : before)) * unit;
        else
            s->total += (bare ? 1.0 : before) * unit;
        s->section = 0.0;
        s->scale = unit > 1e4 || s->scale == 'y' ? 'y' : 'w';
    } else {
        s->section += (s->have_digit ? s->digit : 1.0) * unit;
        if (unit >= 1000 && s->scale == 0)
            s->scale = 'q';
    }
    s->digit = 0.0;
    s->have_digit = false;
}

/* "3亿5千万": digits go on behind a unit when a unit stands behind them. */
static bool goes_on(const struct query *q, size_t i, const struct han_sum *s)
{
    int k = han_at(q, i + 1);

    return i < q->n_tokens && q->token[i].kind == QUERY_NUM && !q->token[i].space &&
           !s->have_digit && s->total > 0.0 && k >= 0 && han[k].unit;
}

/* "点五" behind a digit. */
static size_t han_fraction(const struct query *q, size_t i, struct han_sum *s)
{
    double place = 0.1;
    size_t n = 0;
    int k = han_at(q, i + 1);

    if (!s->have_digit || !eco_query_token_is(q, i, "点") || k < 0 || han[k].unit)
        return 0;
    for (n = 1; (k = han_at(q, i + n)) >= 0 && !han[k].unit; n++) {
        s->digit += han[k].value * place;
        place /= 10.0;
    }
    return n;
}

static size_t han_numeral(const struct query *q, size_t first, double *value, char *scale)
{
    struct han_sum s = {0};
    size_t i = first;
    double last_unit = 0.0;
    bool bare = false;

    if (q->token[first].kind == QUERY_NUM) {
        s.digit = q->token[first].value;
        s.have_digit = true;
        i++;
    }
    for (int k; i < q->n_tokens;) {
        size_t fraction = han_fraction(q, i, &s);

        i += fraction;
        if (i > first && goes_on(q, i, &s)) {
            s.digit = q->token[i++].value;
            s.have_digit = true;
        }
        k = han_at(q, i);
        if (k < 0 || (han[k].unit == false && s.have_digit && q->token[first].kind == QUERY_NUM))
            break;
        if (han[k].unit)
            add_unit(&s, han[k].value);
        else
            s.digit = s.have_digit ? s.digit * 10.0 + han[k].value : han[k].value;
        s.have_digit = s.have_digit || !han[k].unit;
        last_unit = han[k].unit ? han[k].value : last_unit;
        bare = !han[k].unit && i > first && han_at(q, i - 1) >= 0 && han[han_at(q, i - 1)].unit;
        i++;
    }
    if (bare && last_unit >= 100.0 && s.digit < 10.0)
        s.digit *= last_unit / 10.0; /* 一万六 is 16 000, 一百五 150 */
    *value = s.total + s.section + (s.have_digit ? s.digit : 0.0);
    *scale = s.scale;
    return i - first;
}

/* The value of a number word, or -1; `*count` its tokens. */
static double word_value(const struct query *q, size_t i, size_t *count)
{
    const struct query_word *w = eco_query_longest(q, i, count);
    return w != NULL && w->sense == SENSE_NUMBER ? (double)w->arg : -1.0;
}

/* "point seven" behind a number. */
static size_t english_fraction(const struct query *q, size_t i, double *value)
{
    double place = 0.1, v;
    size_t n = 0, at = i + 1;

    if (!eco_query_token_is(q, i, "point"))
        return 0;
    for (; at < q->n_tokens && (v = word_value(q, at, &n)) >= 0.0 && v < 10.0; at += n) {
        *value += v * place;
        place /= 10.0;
    }
    return at > i + 1 ? at - i : 0;
}

/* "a hundred and five": the "and" between. */
static size_t and_between(const struct query *q, size_t i, double total)
{
    size_t n = 0;
    double v = total >= 100.0 && eco_query_token_is(q, i, "and") && i + 1 < q->n_tokens
                   ? word_value(q, i + 1, &n)
                   : -1.0;
    return v > 0.0 && v < 100.0 ? 1 : 0;
}

/* "thirty-two", "two hundred": tens, ones, hundreds. */
static size_t english(const struct query *q, size_t first, double *value)
{
    double total = 0.0;
    size_t i = first, n = 0;

    for (double v; i < q->n_tokens && (v = word_value(q, i, &n)) >= 0.0; i += n) {
        if (v == 100.0 && i > first)
            total *= 100.0;
        else if (i == first || (total >= 20.0 && total < 100.0 && v < 10.0) || total >= 100.0)
            total += v;
        else
            break;
        if (i + n < q->n_tokens && eco_query_token_is(q, i + n, "-") && i + n + 1 < q->n_tokens &&
            word_value(q, i + n + 1, &(size_t){0}) >= 0.0)
            n++;
        n += and_between(q, i + n, total);
    }
    *value = total;
    return i - first + (i > first ? english_fraction(q, i, value) : 0);
}

/* "half a million": the tokens before the scale, or 0. */
static size_t half(const struct query *q, size_t first)
{
    size_t i = first + 1, n = 0;
    const struct query_word *w;

    if (!eco_query_token_is(q, first, "half"))
        return 0;
    i += eco_query_token_is(q, i, "a") ? 1 : 0;
    w = i < q->n_tokens && q->token[i].len > 1 ? eco_query_longest(q, i, &n) : NULL;
    return w != NULL && w->sense == SENSE_SCALE ? i - first : 0;
}

size_t eco_query_numeral(const struct query *q, size_t first, double *value, char *scale)
{
    const struct query_token *t = &q->token[first];
    size_t n = half(q, first);

    *scale = 0;
    if (n > 0) {
        *value = 0.5;
        return n;
    }
    if (t->kind == QUERY_NUM || t->kind == QUERY_CJK)
        return han_at(q, first) >= 0 || t->kind == QUERY_NUM ? han_numeral(q, first, value, scale)
                                                             : 0;
    n = t->kind == QUERY_WORD ? english(q, first, value) : 0;
    if (n > 0 && eco_query_token_is(q, first + n, "and") &&
        eco_query_token_is(q, first + n + 1, "a") && half(q, first + n + 2) > 0) {
        *value += 0.5; /* "one and a half billion" */
        n += 3;
    }
    return n;
}
