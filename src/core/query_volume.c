/* Volumes, money, what was observed: numbers that a unit behind (or before) them explains. */
#include "query.h"

#include <math.h>
#include <string.h>

#define REQUESTS_PER_USER 5.0 /* a day */
#define TOKENS_PER_GB 250e6   /* English text: 4 bytes a token */
#define TOKENS_PER_WORD (4.0 / 3.0)
#define REACH 5 /* items between a volume and its period */

void eco_query_convert(struct query *q, const char *from_unit, double from, const char *to_unit,
                       double to, const char *rule)
{
    if (q->out->n_conversions < ECO_QUERY_MAX_CONVERSIONS)
        q->out->conversions[q->out->n_conversions++] =
            (struct eco_query_conversion){from_unit, to_unit, rule, from, to};
}

static double per_month(char period)
{
    switch (period) {
    case 's':
        return 86400.0 * ECO_QUERY_DAYS_PER_MONTH;
    case 'n':
        return 1440.0 * ECO_QUERY_DAYS_PER_MONTH;
    case 'h':
        return 24.0 * ECO_QUERY_DAYS_PER_MONTH;
    case 'd':
        return ECO_QUERY_DAYS_PER_MONTH;
    case 'w':
        return ECO_QUERY_DAYS_PER_MONTH / 7.0;
    case 'y':
        return 1.0 / 12.0;
    default:
        return 1.0;
    }
}

/* What the number at item i counts, past a period or one unknown word; i when nothing does. */
size_t eco_query_unit(const struct query *q, size_t i)
{
    static const enum query_sense units[] = {SENSE_REQUESTS, SENSE_USERS, SENSE_TOKENS,
                                             SENSE_CHARS,    SENSE_WORDS, SENSE_GB};
    for (size_t k = i + 1; k <= i + 2; k++) {
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
            if (eco_query_sense(q, k, units[u]))
                return k;
        }
        if (k >= q->n_items || (!eco_query_sense(q, k, SENSE_PERIOD) &&
                                !eco_query_sense(q, k, SENSE_ITEM) && q->item[k].kind != ITEM_TEXT))
            break;
    }
    return i;
}

static bool is_second(const struct query *q, size_t i)
{
    return eco_query_sense(q, i, SENSE_PERIOD) && q->item[i].word->arg == 's';
}

/* The unused period nearest to item i, behind first ("每秒1000" aside); 0: none. */
static char period_near(struct query *q, size_t i, size_t unit)
{
    if (i > 0 && is_second(q, i - 1) && !q->item[i - 1].used) {
        q->item[i - 1].used = true;
        return 's';
    }
    for (size_t k = i + 1; k < q->n_items && k <= unit + REACH; k++) {
        if (eco_query_sense(q, k, SENSE_PERIOD)) {
            q->item[k].used = true;
            return (char)q->item[k].word->arg;
        }
        if (q->item[k].kind == ITEM_NUM || eco_query_mark(q, k, ';') || eco_query_mark(q, k, '&'))
            break;
    }
    for (size_t back = 1; back <= i && back <= REACH; back++) {
        if (eco_query_sense(q, i - back, SENSE_PERIOD) && !q->item[i - back].used) {
            q->item[i - back].used = true;
            return (char)q->item[i - back].word->arg;
        }
        if (q->item[i - back].kind == ITEM_NUM || eco_query_mark(q, i - back, ';') ||
            eco_query_mark(q, i - back, '&'))
            break;
    }
    return 0;
}

/* "requests a day", for the conversion that is shown. */
static const char *rate_name(char period, bool of_tokens)
{
    static const struct {
        char period;
        const char *requests, *tokens;
    } names[] = {{'s', "requests a second", "tokens a second"},
                 {'n', "requests a minute", "tokens a minute"},
                 {'h', "requests an hour", "tokens an hour"},
                 {'d', "requests a day", "tokens a day"},
                 {'w', "requests a week", "tokens a week"},
                 {'y', "requests a year", "tokens a year"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].period == period)
            return of_tokens ? names[i].tokens : names[i].requests;
    }
    return of_tokens ? "tokens" : "requests";
}

static void requests(struct query *q, size_t i, size_t u, double v)
{
    char period = (char)q->item[u].word->arg;

    period = period != 0 ? period : period_near(q, i, u);
    if (period != 0 && period != 'm')
        eco_query_convert(q, rate_name(period, false), v, "requests a month", v * per_month(period),
                          "a month has 30 days");
    eco_query_offer(q, i, ECO_QUERY_REQUESTS, v * per_month(period), period != 0 ? 90 : 70);
}

/* "3 requests each", "3 queries per user", "每人 3 次": is the number at item i, with its unit at
 * u, of one user? */
static bool of_one_user(const struct query *q, size_t i, size_t u)
{
    size_t before = i > 1 && eco_query_sense(q, i - 1, SENSE_PERIOD) ? i - 2 : i - 1;

    return eco_query_sense(q, u + 1, SENSE_EACH) ||
           (i > 0 && eco_query_sense(q, before, SENSE_EACH));
}

static bool requests_each(struct query *q, double *each)
{
    for (size_t k = 0; k < q->n_items; k++) {
        size_t u = q->item[k].kind == ITEM_NUM ? eco_query_unit(q, k) : k;

        if (u > k && eco_query_sense(q, u, SENSE_REQUESTS) && of_one_user(q, k, u)) {
            *each = eco_query_plain_value(&q->item[k]);
            q->item[k].used = q->item[u].used = true;
            return true;
        }
    }
    return false;
}

static void users(struct query *q, size_t i, size_t u, double v)
{
    char period = (char)q->item[u].word->arg;
    double each = REQUESTS_PER_USER;
    bool said = requests_each(q, &each);
    double a_month;

    period = period != 0 ? period : period_near(q, i, u);
    a_month = v * each * per_month(period != 0 ? period : 'd');
    if (said)
        eco_query_convert(q, "requests a user", each, "requests a month", a_month,
                          period == 'm' ? "times the users of a month"
                                        : "times the users of a day, 30 days a month");
    else
        eco_query_convert(q, period == 'm' ? "users a month" : "users a day", v, "requests a month",
                          a_month, "5 requests a user, 30 days a month");
    eco_query_offer(q, i, ECO_QUERY_REQUESTS, a_month, 80);
}

/* Requests of one user say nothing alone; with users they are already used. */
static bool requests_of_one(struct query *q, size_t i, size_t u)
{
    for (size_t k = 0; k < q->n_items; k++) {
        if (eco_query_sense(q, k, SENSE_USERS))
            return true; /* read with them */
    }
    eco_query_miss(q, i, u + 1 < q->n_items ? u + 1 : u, "of one user: say how many users");
    return true;
}

static bool trained_before(const struct query *q, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (eco_query_sense(q, k, SENSE_TRAINED))
            return true;
    }
    return false;
}

static void total_tokens(struct query *q, size_t i, size_t u, double v, const char *unit,
                         double tokens, const char *rule)
{
    char period = period_near(q, i, u);
    double a_month = tokens * per_month(period);

    if (unit != NULL)
        eco_query_convert(q, unit, v, "tokens", tokens, rule);
    if (period != 0 && period != 'm')
        eco_query_convert(q, rate_name(period, true), tokens, "tokens a month", a_month,
                          "a month has 30 days");
    eco_query_offer(q, i, ECO_QUERY_TOKENS, a_month, 80);
}

/* "每秒9.5个token", "20 token 每秒": what a run does, unless a bill is asked for. */
static bool observed_rate(const struct query *q, size_t i, size_t u)
{
    if (!is_second(q, u + 1) && !(i > 0 && is_second(q, i - 1)) &&
        !(i > 1 && is_second(q, i - 2) && q->item[i - 1].kind != ITEM_MARK))
        return false;
    for (size_t k = 0; k < q->n_items; k++) {
        if (eco_query_sense(q, k, SENSE_OP) && q->item[k].word->arg / 16 == ECO_QUERY_COST)
            return false;
    }
    return true;
}

/* "每千token耗9000焦耳" */
static bool per_1k_near(const struct query *q, size_t i, size_t u)
{
    for (size_t back = 1; back <= 4 && back <= i; back++) {
        if (eco_query_sense(q, i - back, SENSE_PER_1K))
            return true;
    }
    return eco_query_sense(q, u + 1, SENSE_PER_1K);
}

static void tokens(struct query *q, size_t i, size_t u, double v)
{
    const struct query_item *n = &q->item[i];
    bool rate = eco_query_sense(q, u + 1, SENSE_PERIOD);

    if (trained_before(q, i))
        return;
    if (observed_rate(q, i, u))
        eco_query_offer(q, i, ECO_QUERY_THROUGHPUT, v, 90);
    else if (n->scale == 0 && !rate && v <= 1e6 && v >= 16 && v == floor(v))
        eco_query_offer(q, i, ECO_QUERY_CTX, v, 30);
    else if (n->scale == 'k' && !rate)
        eco_query_offer(q, i, ECO_QUERY_CTX, n->value * 1024.0, 30);
    else
        total_tokens(q, i, u, v, NULL, v, NULL);
}

static bool text_volume(struct query *q, size_t i, size_t u, double v)
{
    int unit = q->item[u].word->arg;
    double gb = unit == 2 ? v / 1e3 : unit == 3 ? v * 1e3 : v;

    if (!eco_query_sense(q, u + 1, SENSE_TEXT))
        return false;
    q->item[u + 1].used = true;
    total_tokens(q, i, u, gb, "GB of text", gb * TOKENS_PER_GB,
                 "250 million tokens a GB (English)");
    return true;
}

static bool limit_before(const struct query *q, size_t i)
{
    return (i > 0 && eco_query_sense(q, i - 1, SENSE_LIMIT)) ||
           (i > 1 && eco_query_sense(q, i - 2, SENSE_LIMIT));
}

static bool gigabytes(struct query *q, size_t i, size_t u, double v)
{
    if (text_volume(q, i, u, v))
        return true;
    if (limit_before(q, i) && q->item[u].word->arg < 2) {
        eco_query_offer(q, i, ECO_QUERY_MAX_VRAM_GB, v, 80);
        return true;
    }
    return false;
}

/* "8 hours a day" */
static bool hours(struct query *q, size_t i, size_t u, double v)
{
    char period = period_near(q, i, u);

    if (period != 'd')
        return false;
    eco_query_offer(q, i, ECO_QUERY_HOURS_PER_DAY, v, 90);
    return true;
}

static bool cap_before(const struct query *q, size_t i)
{
    for (size_t back = 1; back <= 3 && back <= i; back++) {
        if (eco_query_sense(q, i - back, SENSE_CAP) || eco_query_sense(q, i - back, SENSE_LIMIT))
            return true;
    }
    return eco_query_sense(q, i + 2, SENSE_CAP);
}

static bool observed(struct query *q, size_t i, size_t u, double v)
{
    enum query_sense s = (enum query_sense)q->item[u].word->sense;

    if (s == SENSE_TPS)
        eco_query_offer(q, i, ECO_QUERY_THROUGHPUT, v, 90);
    else if (s == SENSE_J1K || (s == SENSE_JOULES && per_1k_near(q, i, u)))
        eco_query_offer(q, i, ECO_QUERY_ENERGY, v, 90);
    else if (s == SENSE_CARBON)
        eco_query_offer(q, i, ECO_QUERY_CARBON, v, 90);
    else if (s == SENSE_MS && q->item[u].word->arg == 1)
        eco_query_offer(q, i, ECO_QUERY_MAX_LATENCY_MS, v, 90);
    else if (s == SENSE_WATT && !cap_before(q, i))
        eco_query_offer(q, i, ECO_QUERY_POWER_W, v, 90);
    else
        return false;
    return true;
}

/* "$0.12/kWh", "18 cents per kWh", "$1.10/hr"; other currencies are not converted. */
static bool money(struct query *q, size_t i)
{
    size_t k = i + 1;
    double v = q->item[i].value;
    int unit = i > 0 && eco_query_sense(q, i - 1, SENSE_MONEY) ? q->item[i - 1].word->arg : 0;

    if (eco_query_sense(q, k, SENSE_MONEY))
        unit = q->item[k++].word->arg;
    if (unit == 0 && !eco_query_sense(q, k, SENSE_KWH))
        return false;
    if (unit == 'x') {
        q->item[i].used = true;
        eco_query_miss(q, i, k < q->n_items && k > i + 1 ? k - 1 : i,
                       "prices are taken in US dollars");
        return true;
    }
    v = unit == 'c' ? v / 100.0 : v;
    if (eco_query_sense(q, k, SENSE_KWH))
        eco_query_offer(q, i, ECO_QUERY_PRICE, v, 90);
    else if (eco_query_sense(q, k, SENSE_PERIOD) && q->item[k].word->arg == 'h')
        eco_query_offer(q, i, ECO_QUERY_GPU_USD_PER_HOUR, v, 90);
    else
        return false;
    q->item[i].used = q->item[k].used = true;
    return true;
}

static bool by_unit(struct query *q, size_t i, size_t u)
{
    double v = eco_query_plain_value(&q->item[i]);
    bool zh = q->item[u].word->arg == 2;

    switch ((enum query_sense)q->item[u].word->sense) {
    case SENSE_REQUESTS:
        if (of_one_user(q, i, u))
            return requests_of_one(q, i, u);
        requests(q, i, u, v);
        return true;
    case SENSE_USERS:
        users(q, i, u, v);
        return true;
    case SENSE_TOKENS:
        tokens(q, i, u, v);
        return true;
    case SENSE_CHARS:
        total_tokens(q, i, u, v, "characters", v / (zh ? 2.0 : 4.0),
                     zh ? "2 characters a token" : "4 characters a token");
        return true;
    case SENSE_WORDS:
        total_tokens(q, i, u, v, "words", v * TOKENS_PER_WORD, "4 tokens for 3 words");
        return true;
    case SENSE_GB:
        return gigabytes(q, i, u, v);
    case SENSE_HOURS:
        return hours(q, i, u, v);
    default:
        return observed(q, i, u, v);
    }
}

void eco_query_volume(struct query *q)
{
    for (size_t i = 0; i < q->n_items; i++) {
        struct query_item *it = &q->item[i];
        size_t u;

        if (it->kind != ITEM_NUM || it->used || it->negative || money(q, i))
            continue;
        u = eco_query_unit(q, i);
        u = u > i ? u : i + 1;
        if (u < q->n_items && q->item[u].kind == ITEM_WORD && by_unit(q, i, u)) {
            it->used = true;
            q->item[u].used = true;
        }
    }
}
