#include "compare.h"

#include "base/json.h"
#include "report.h"
#include "report_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Standard error of a board sensor's gain without an external meter (docs/power.md). Two cards
 * have two gains; whether it was one card, a report does not say. */
#define SENSOR_SD 0.05
#define NOT_STATED "not stated"

/* ---- Student's t ---------------------------------------------------------------------------- */

/* Continued fraction of the incomplete beta function, Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), h;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    h = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return h;
}

/* P(T > t) for t > 0. */
static double upper_tail(double t, double df)
{
    double x = df / (df + t * t), a = df / 2, b = 0.5;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return 0.5 * front * beta_fraction(a, b, x) / a;
    return 0.5 * (1 - front * beta_fraction(b, a, 1 - x) / b);
}

double eco_compare_t975(double df)
{
    double lo = 1.9, hi = 1e6;
    if (!(df < 1e7))
        return 1.959963984540054;
    if (!(df >= 0.3)) /* below it the quantile leaves every use */
        return (double)INFINITY;
    while (hi - lo > 1e-12 * hi) {
        double mid = (lo + hi) / 2;
        if (upper_tail(mid, df) > 0.025)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}

/* ---- reading -------------------------------------------------------------------------------- */

static const char *text_at(const struct eco_json *root, const char *pointer)
{
    const struct eco_json *v = eco_json_at(root, pointer);
    return v && v->type == ECO_JSON_STRING && v->len ? v->str : NULL;
}

/* A value in words; control characters never reach a terminal. */
static void words(const struct eco_json *v, char out[ECO_COMPARE_TEXT])
{
    if (!v || v->type == ECO_JSON_NULL)
        snprintf(out, ECO_COMPARE_TEXT, NOT_STATED);
    else if (v->type == ECO_JSON_STRING || v->type == ECO_JSON_NUMBER)
        snprintf(out, ECO_COMPARE_TEXT, "%.150s", v->str);
    else if (v->type == ECO_JSON_TRUE || v->type == ECO_JSON_FALSE)
        snprintf(out, ECO_COMPARE_TEXT, "%s", v->type == ECO_JSON_TRUE ? "yes" : "no");
    else
        snprintf(out, ECO_COMPARE_TEXT, "%u entries", v->count);
    for (char *c = out; *c; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c;
}

static bool same_value(const struct eco_json *a, const struct eco_json *b)
{
    if (!a || !b || a->type != b->type || a->count != b->count)
        return false;
    if (a->type == ECO_JSON_NUMBER)
        return a->num == b->num;
    if (a->type == ECO_JSON_STRING)
        return a->len == b->len && memcmp(a->str, b->str, a->len) == 0;
    const struct eco_json *x = a->child, *y = b->child;
    for (; x && y; x = x->next, y = y->next) {
        bool keys = !x->key || (y->key && strcmp(x->key, y->key) == 0);
        if (!keys || !same_value(x, y))
            return false;
    }
    return true;
}

/* ---- what is around the numbers -------------------------------------------------------------- */

struct pair {
    const struct eco_json *a, *b;
    struct eco_report_headline of_a, of_b; /* of the same instrument */
    struct eco_comparison *out;
};

/* One instrument for both: the counter where both have it, else what all have, the samples. */
static void same_instrument(struct pair *p)
{
    p->of_a = eco_report_headline_of(p->a);
    p->of_b = eco_report_headline_of(p->b);
    if (p->of_a.counter != p->of_b.counter) {
        p->of_a = eco_report_sampled_of(p->a);
        p->of_b = eco_report_sampled_of(p->b);
    }
}

static struct eco_compare_aspect *aspect(const struct pair *p, const char *name,
                                         const char *pointer)
{
    struct eco_compare_aspect *s = &p->out->aspects[p->out->aspect_count++];
    const struct eco_json *a = eco_json_at(p->a, pointer), *b = eco_json_at(p->b, pointer);
    bool stated = a && a->type != ECO_JSON_NULL;
    *s = (struct eco_compare_aspect){.name = name, .same = stated && same_value(a, b)};
    words(a, s->a);
    words(b, s->b);
    return s;
}

/* Precision by its exact name where a file has one: INT8 is two formats. */
static void precision(const struct pair *p)
{
    struct eco_compare_aspect *s = aspect(p, "precision", "/workload/precision");
    const char *a = text_at(p->a, "/workload/precision_exact");
    const char *b = text_at(p->b, "/workload/precision_exact");
    if (a)
        words(eco_json_at(p->a, "/workload/precision_exact"), s->a);
    if (b)
        words(eco_json_at(p->b, "/workload/precision_exact"), s->b);
    s->same = strcmp(s->a, s->b) == 0 && strcmp(s->a, NOT_STATED) != 0;
}

/* Two custom protocols are the same only if they differ from v1 in the same ways. */
static void protocol(const struct pair *p)
{
    struct eco_compare_aspect *s = aspect(p, "protocol", "/protocol/name");
    s->same = s->same && same_value(eco_json_at(p->a, "/protocol/differences"),
                                    eco_json_at(p->b, "/protocol/differences"));
    if (!s->same && strcmp(s->a, s->b) == 0)
        snprintf(s->b, sizeof(s->b), "%.40s, other differences from v1", s->a);
}

static bool measured(const struct eco_json *root)
{
    const char *basis = text_at(root, "/results/basis");
    return basis && strcmp(basis, "measured") == 0;
}

static const char *instrument_of(const struct eco_json *root)
{
    return !measured(root)                        ? "none, nothing was measured"
           : eco_report_headline_of(root).counter ? "hardware energy counter"
                                                  : "sampled power";
}

/* A report led by the counter beside one that has none is read by its samples. */
static void instrument(const struct pair *p)
{
    struct eco_compare_aspect *s = &p->out->aspects[p->out->aspect_count++];
    const char *a = instrument_of(p->a), *b = instrument_of(p->b);
    *s = (struct eco_compare_aspect){.name = "instrument", .same = strcmp(a, b) == 0};
    snprintf(s->a, sizeof(s->a), "%s", a);
    snprintf(s->b, sizeof(s->b), "%s", b);
}

static void surroundings(const struct pair *p)
{
    struct eco_compare_aspect *s = aspect(p, "boundary", "/system_under_test/boundary");
    s->blocks = !s->same;
    aspect(p, "basis", "/results/basis");
    precision(p);
    aspect(p, "model", "/workload/model_name");
    aspect(p, "size", "/workload/params_b");
    aspect(p, "card", "/system_under_test/gpu");
    aspect(p, "cards", "/system_under_test/accelerator_count");
    protocol(p);
    aspect(p, "batch", "/workload/batch_size");
    aspect(p, "tokens", "/workload/generated_tokens");
    aspect(p, "prompt", "/workload/prompt_tokens");
    if (p->of_a.own && p->of_b.own)
        instrument(p);
    aspect(p, "engine", "/workload/engine");
    aspect(p, "backend", "/workload/backend");
    aspect(p, "weights", "/workload/weights");
    aspect(p, "ecocompute", "/software/ecocompute");
    aspect(p, "packages", "/software/packages");
    aspect(p, "driver", "/software/nvidia_driver");
    aspect(p, "power limit", "/environment/power_limit_watts");
    aspect(p, "interrupted", "/partial");
}

/* ---- differences ----------------------------------------------------------------------------- */

static struct eco_compare_row *row(const struct pair *p, const char *quantity, const char *unit,
                                   double a, double b)
{
    struct eco_compare_row *r = &p->out->rows[p->out->row_count++];
    *r = (struct eco_compare_row){.quantity = quantity,
                                  .unit = unit,
                                  .a = a,
                                  .b = b,
                                  .diff = (double)NAN,
                                  .lo95 = (double)NAN,
                                  .hi95 = (double)NAN,
                                  .verdict = "no interval"};
    if (isnan(r->a) || isnan(r->b)) {
        r->reason = "a file does not have it";
        r->verdict = "not known";
    }
    return r;
}

static void judge(struct eco_compare_row *r)
{
    if (isnan(r->lo95))
        return;
    r->verdict = r->lo95 > 0 ? "higher" : r->hi95 < 0 ? "lower" : "cannot tell";
}

/* Two variances with their degrees of freedom added up (Welch 1947, Satterthwaite 1946). */
static double half_width(double var_a, double df_a, double var_b, double df_b, double more)
{
    double sum = var_a + var_b + more;
    double df = sum * sum / (var_a * var_a / df_a + var_b * var_b / df_b);
    return eco_compare_t975(df) * sqrt(sum);
}

/* Energy per token: on the log scale, with the sensors' gains unless a meter was outside. */
static void energy(const struct pair *p)
{
    const char *key = "energy_per_token_mj";
    struct eco_compare_row *r = row(p, "energy per token", "mJ", eco_report_value(p->of_a.own, key),
                                    eco_report_value(p->of_b.own, key));
    double n_a = eco_report_value(p->of_a.stat, "n"), n_b = eco_report_value(p->of_b.stat, "n");
    double cv_a = eco_report_value(p->of_a.stat, "cv_frac");
    double cv_b = eco_report_value(p->of_b.stat, "cv_frac");
    const char *level_a = text_at(p->a, "/results/level"),
               *level_b = text_at(p->b, "/results/level");
    if (!(r->a > 0 && r->b > 0))
        return;
    double log_ratio = log(r->b / r->a);
    r->diff = 100 * expm1(log_ratio);
    if (!(n_a >= 2 && n_b >= 2 && cv_a > 0 && cv_b > 0)) {
        r->reason = "an interval takes two trials in each file";
        return;
    }
    bool meter_a = level_a && strcmp(level_a, "L3") == 0;
    bool meter_b = level_b && strcmp(level_b, "L3") == 0;
    double gains = SENSOR_SD * SENSOR_SD * ((meter_a ? 0 : 1) + (meter_b ? 0 : 1));
    double h = half_width(cv_a * cv_a / n_a, n_a - 1, cv_b * cv_b / n_b, n_b - 1, gains);
    r->lo95 = 100 * expm1(log_ratio - h);
    r->hi95 = 100 * expm1(log_ratio + h);
    r->reason =
        gains > 0 ? "the range holds 5 % for each sensor's gain, which no meter checked" : NULL;
    judge(r);
}

/* Half width of a report's own interval, in points; NAN: it has none. */
static double own_half(const struct eco_json *v)
{
    if (!v || v->type != ECO_JSON_ARRAY || v->count != 2 || v->child->type != ECO_JSON_NUMBER ||
        v->child->next->type != ECO_JSON_NUMBER)
        return (double)NAN;
    return (v->child->next->num - v->child->num) / 2;
}

/* The change against the baseline: the gain of one card's sensor cancels in it. */
static void change(const struct pair *p, const char *quantity, const struct eco_json *a,
                   const struct eco_json *b)
{
    const char *key = "vs_fp16_energy_pct", *ci = "vs_fp16_ci95_pct";
    struct eco_compare_row *r =
        row(p, quantity, "%", eco_report_value(a, key), eco_report_value(b, key));
    double h_a = own_half(eco_json_get(a, ci)), h_b = own_half(eco_json_get(b, ci));
    double df_a = eco_report_value(p->of_a.stat, "df"), df_b = eco_report_value(p->of_b.stat, "df");
    r->points = true;
    if (isnan(r->a) || isnan(r->b))
        return;
    r->diff = r->b - r->a;
    if (!measured(p->a) || !measured(p->b)) {
        r->reason = "a derived value shares its data with the other: no interval of the difference";
        return;
    }
    if (!(h_a > 0 && h_b > 0)) {
        r->reason = "an interval takes an interval in each file";
        return;
    }
    df_a = df_a > 0 ? df_a : (double)INFINITY;
    df_b = df_b > 0 ? df_b : (double)INFINITY;
    double se_a = h_a / eco_compare_t975(df_a), se_b = h_b / eco_compare_t975(df_b);
    double h = half_width(se_a * se_a, df_a, se_b * se_b, df_b, 0);
    r->lo95 = r->diff - h;
    r->hi95 = r->diff + h;
    judge(r);
}

static void plain(const struct pair *p, const char *quantity, const char *unit, double a, double b,
                  const char *why)
{
    struct eco_compare_row *r = row(p, quantity, unit, a, b);
    if (r->a > 0 && r->b > 0) {
        r->diff = 100 * (r->b / r->a - 1);
        r->reason = why;
    }
}

static void from_results(const struct pair *p, const char *quantity, const char *unit,
                         const char *key, const char *why)
{
    plain(p, quantity, unit, eco_report_value(eco_json_get(p->a, "results"), key),
          eco_report_value(eco_json_get(p->b, "results"), key), why);
}

static void differences(const struct pair *p)
{
    const char *elsewhere = "its spread stands in the baseline's own report";
    const char *none = "a report has no spread for it", *base = "fp16_energy_per_token_mj";
    energy(p);
    plain(p, "16-bit baseline", "mJ", eco_report_value(p->of_a.own, base),
          eco_report_value(p->of_b.own, base), elsewhere);
    change(p, "change against 16 bit", p->of_a.own, p->of_b.own);
    if (p->of_a.counter) {
        from_results(p, "energy, sampled", "mJ", "energy_per_token_mj",
                     "a cross-check of the counter, by sampled power (protocol v1)");
        change(p, "change, sampled", eco_json_get(p->a, "results"), eco_json_get(p->b, "results"));
    }
    change(p, "change, decoding alone", eco_json_get(p->a, "decode"), eco_json_get(p->b, "decode"));
    from_results(p, "mean power", "W", "avg_power_watts", none);
    from_results(p, "throughput", "tokens/s", "throughput_tokens_per_s", none);
}

/* ---- two sessions of one set-up -------------------------------------------------------------- */

static bool agree(const struct eco_comparison *c, const char *name)
{
    for (size_t i = 0; i < c->aspect_count; i++) {
        if (strcmp(c->aspects[i].name, name) == 0)
            return strcmp(c->aspects[i].a, c->aspects[i].b) == 0 && !c->aspects[i].blocks;
    }
    return true;
}

/*
 * The spread of two log ratios, one degree of freedom, and where a third session would lie: mean
 * and a new value each vary by it.
 */
static void sessions(const struct pair *p)
{
    static const char *const needed[] = {"precision", "model", "card",   "cards",
                                         "protocol",  "batch", "tokens", "engine"};
    struct eco_compare_sessions *s = &p->out->sessions;
    const char *at_a = text_at(p->a, "/timestamp_utc"), *at_b = text_at(p->b, "/timestamp_utc");
    double a = log1p(eco_report_value(p->of_a.own, "vs_fp16_energy_pct") / 100);
    double b = log1p(eco_report_value(p->of_b.own, "vs_fp16_energy_pct") / 100);
    const double none = (double)NAN;
    *s = (struct eco_compare_sessions){0, none, none, none, none, NULL};
    s->reason = !measured(p->a) || !measured(p->b) ? "both must be measured"
                : !isfinite(a) || !isfinite(b)     ? "both must have a change against 16 bit"
                : !at_a || !at_b || strcmp(at_a, at_b) == 0 ? "they are of one session"
                                                            : NULL;
    for (size_t i = 0; !s->reason && i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (!agree(p->out, needed[i]))
            s->reason = "they are of different set-ups";
    }
    if (s->reason)
        return;
    double mean = (a + b) / 2, sd = fabs(a - b) / sqrt(2);
    double half = eco_compare_t975(1) * sd * sqrt(1 + 0.5);
    s->n = 2;
    s->sd_pct = 100 * expm1(sd);
    s->mean_pct = 100 * expm1(mean);
    s->lo95 = 100 * expm1(mean - half);
    s->hi95 = 100 * expm1(mean + half);
}

static void say(struct eco_comparison *out)
{
    const struct eco_compare_row *e = &out->rows[0], *c = &out->rows[2];
    const struct eco_compare_row *r = isnan(c->diff) ? e : c;
    size_t differ = 0;
    for (size_t i = 0; i < out->aspect_count; i++)
        differ += !out->aspects[i].same && strcmp(out->aspects[i].a, out->aspects[i].b) != 0;
    if (isnan(r->diff)) {
        snprintf(out->verdict, sizeof(out->verdict),
                 "nothing to compare: no quantity is known in both files");
        return;
    }
    const char *what = isnan(r->lo95)                           ? "no interval, so no verdict"
                       : strcmp(r->verdict, "cannot tell") == 0 ? "no difference can be told"
                       : r->diff > 0                            ? "the second is higher"
                                                                : "the second is lower";
    snprintf(out->verdict, sizeof(out->verdict),
             "%s: %s (%+.3g %s); %zu thing%s around it differ%s", r->quantity, what, r->diff,
             r->points ? "points" : "%", differ, differ == 1 ? "" : "s", differ == 1 ? "s" : "");
}

static int open_one(const char *text, size_t len, const char *name, struct eco_json_doc *doc,
                    struct eco_err *err)
{
    struct eco_err why = {0};
    if (len > ECO_REPORT_MAX_BYTES)
        return eco_err_set(err, ECO_E_TOO_LARGE, name, "a report of %zu bytes is over the limit",
                           len);
    int rc = eco_json_parse(doc, text, len, &why);
    if (rc != 0)
        return eco_err_set_at(err, rc, name, why.line, why.column, "report %s: %.200s", name,
                              why.message);
    const struct eco_json *results = eco_json_get(doc->root, "results");
    if (results && results->type == ECO_JSON_OBJECT)
        return 0;
    eco_json_done(doc);
    return eco_err_set(err, ECO_E_CONTENT, name, "report %s has no 'results': it is no energy.json",
                       name);
}

int eco_report_compare(const char *a, size_t a_len, const char *b, size_t b_len,
                       struct eco_comparison *out, struct eco_err *err)
{
    struct eco_json_doc first, second;
    int rc = open_one(a, a_len, "a", &first, err);
    if (rc != 0)
        return rc;
    rc = open_one(b, b_len, "b", &second, err);
    if (rc != 0) {
        eco_json_done(&first);
        return rc;
    }
    *out = (struct eco_comparison){.comparable = true};
    struct pair p = {.a = first.root, .b = second.root, .out = out};
    same_instrument(&p);
    surroundings(&p);
    const struct eco_compare_aspect *boundary = &out->aspects[0];
    if (boundary->blocks) {
        out->comparable = false;
        snprintf(
            out->verdict, sizeof(out->verdict),
            "not compared: the boundaries are %.60s and %.60s, and joules of two boundaries are "
            "never subtracted",
            boundary->a, boundary->b);
    } else {
        differences(&p);
        sessions(&p);
        say(out);
    }
    eco_json_done(&first);
    eco_json_done(&second);
    return 0;
}
