/*
 * Diagnosis of an observed run: every cause in the table says what throughput and power it would
 * give, with a spread; Bayes' rule weighs them. Throughput and power are used, not throughput and
 * energy, since energy is their quotient and would count throughput twice.
 */
#include "core/latency.h"
#include "core/reconcile.h"
#include "eco_memory.h"

#include <math.h>
#include <string.h>

#define J_PER_ROW 1000.0        /* the data are J per 1 000 tokens */
#define SD_POWER_LN 0.35        /* board power of one configuration between sessions and cards */
#define SD_UNKNOWN_SPEED_LN 2.0 /* the open alternative: anything within a factor of 50 */
#define SD_UNKNOWN_POWER_LN 1.0
#define LINK_BYTES_PER_S 20e9 /* PCIe 4.0 x16 as transfers see it */
#define OFFLOAD_GUESS_LN 2.3  /* a factor of ten where the missing bytes are not known */
#define THROTTLE_SPEED_LN (-0.45)
#define THROTTLE_POWER_LN (-0.45)
#define THROTTLE_SD_J 0.05
#define NAMED_AT 0.4
#define WITHIN_95 1.96
#define SETTLED_AT 0.8 /* below it one figure alone has not settled the cause */
#define BATCH_FIX 8
/* Bounds with room for a datasheet's rounding, a raised power limit, and a meter's own error. */
#define OVER_ROOFLINE 1.05
#define OVER_LIMIT 1.10
#define MAX_DISAGREEMENT 3.0 /* between three figures of one run: phases, not meters, differ so */
#define UNDER_IDLE 0.5

struct expect {
    bool have_speed, have_power;
    double ln_tps, sd_tps, ln_w, sd_w, prior;
    double sd_more;           /* what a cause adds to the spread of speed and energy */
    struct eco_energy energy; /* valid with have_power, before a cause slows the run */
};

struct context {
    const struct eco_diagnose_input *in;
    const struct eco_physics *ph;
    struct eco_workload work;
    struct expect cause[ECO_CAUSE_COUNT];
    double obs_tps, obs_w;
    double obs_j; /* energy alone was given; else NAN */
};

const char *eco_cause_name(enum eco_cause c)
{
    static const char *const names[] = {"as-expected", "int8-mixed", "nf4",      "fp8-eager",
                                        "batch-1",     "offload",    "no-cache", "throttled",
                                        "unknown",     "impossible"};
    return (unsigned)c < ECO_CAUSE_COUNT ? names[c] : "unknown";
}

static const char *const impossible_names[] = {"", "above-roofline", "above-power-limit",
                                               "below-idle"};
static const char *const impossible_texts[] = {
    "",
    "faster than the card can read the weights or multiply as described: check the figure, the "
    "precision, the batch and the number of cards (drafted tokens count as well)",
    "more power than the cards' limit: check the unit, the number of cards, and that the figure is "
    "of the boards alone",
    "far less power than idle cards draw: check the unit, and that the figure is not net of idle",
};

const char *eco_impossible_name(enum eco_impossible i)
{
    return (unsigned)i < 4u ? impossible_names[i] : "";
}

const char *eco_impossible_text(enum eco_impossible i)
{
    return (unsigned)i < 4u ? impossible_texts[i] : "";
}

const char *eco_verify_text(const char *id)
{
    static const char *const texts[][2] = {
        {"remeasure", "change one thing, warm up, and measure again in the same session"},
        {"check-throughput", "count generated tokens per second over a minute of steady decoding"},
        {"check-power", "read the board power during decoding, without loading and idle time"},
        {"report-the-run", "report the run with versions, command and figures: the data lack it"},
        {"check-figures", "check units and meters: one of the figures breaks a physical bound"},
        {"check-configuration",
         "check what really runs: precision, batch, number of cards, drafted tokens"},
    };
    for (size_t i = 0; id != NULL && i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(texts[i][0], id) == 0) {
            return texts[i][1];
        }
    }
    return id;
}

const char *eco_cause_text(enum eco_cause c)
{
    static const char *const texts[] = {
        "the run is what this configuration gives",
        "default LLM.int8() splits every linear layer and waits for the host",
        "4-bit weights are unpacked for every token, which costs more than the bytes it saves",
        "FP8 runs without compiled kernels and converts weights for every token",
        "sequences are decoded one at a time, so each token pays for all weights",
        "part of the model lies outside the card's memory and crosses the bus",
        "no KV cache is kept, so the whole context is computed for every token",
        "clocks or power are capped below what this card does elsewhere",
        "no cause in the table explains the run: measure it",
        "the figures cannot all be true of this card and configuration",
    };
    return (unsigned)c < ECO_CAUSE_COUNT ? texts[c] : texts[ECO_CAUSE_UNKNOWN];
}

static const struct eco_diagnose_delta *delta_of(const struct eco_diagnose_input *in,
                                                 enum eco_precision p)
{
    for (size_t i = 0; i < in->n_deltas; i++) {
        if (in->deltas[i].precision == p) {
            return &in->deltas[i];
        }
    }
    return NULL;
}

/* Energy of a precision and batch; false where no estimate was given. */
static bool energy_of(const struct context *c, enum eco_precision p, int batch,
                      struct eco_energy *out)
{
    struct eco_workload w = c->work;
    struct eco_energy e;
    const struct eco_diagnose_delta *d = delta_of(c->in, p);
    bool base = p == ECO_PREC_FP16 || p == ECO_PREC_BF16;
    w.batch = batch;
    if ((!base && d == NULL) ||
        eco_energy_absolute(c->ph, c->in->model, c->in->gpu, &w, &e, NULL) != 0) {
        return false;
    }
    if (base || d == NULL) {
        *out = e;
        return true;
    }
    return eco_energy_quantized(&e, d->mu_ln, d->sd_ln, out, NULL) == 0;
}

static int expect_of(const struct context *c, enum eco_precision p, int batch, struct expect *out,
                     struct eco_err *err)
{
    struct eco_workload w = c->work;
    struct eco_latency l;
    struct expect e = {0};
    w.precision = p;
    w.batch = batch;
    int rc = eco_latency_predict(c->ph, c->in->model, c->in->gpu, &w, &l, err);
    if (rc != 0) {
        return rc;
    }
    e.have_speed = true;
    e.have_power = energy_of(c, p, batch, &e.energy);
    if (e.have_power) {
        (void)eco_physics_reconcile(c->in->gpu, w.n_gpus, &e.energy, &l, NULL);
    }
    e.ln_tps = log(l.tokens_per_s.median);
    e.sd_tps = l.sd_ln_step;
    if (e.have_power) {
        e.ln_w = e.energy.mu_ln + e.ln_tps - log(J_PER_ROW);
        e.sd_w = SD_POWER_LN;
    }
    *out = e;
    return 0;
}

static struct expect slower(struct expect base, double ln_factor, double ln_power, double sd)
{
    base.ln_tps -= ln_factor;
    base.ln_w += ln_power;
    base.sd_tps = hypot(base.sd_tps, sd);
    base.sd_w = hypot(base.sd_w, sd / 2);
    base.sd_more = hypot(base.sd_more, sd);
    return base;
}

/* What the configuration as given stands for: a trap by name, or simply as expected. */
static enum eco_cause own_cause(const struct context *c)
{
    const struct eco_diagnose_input *in = c->in;
    const struct eco_diagnose_delta *d = delta_of(in, c->work.precision);
    if (in->kv_cache_off) {
        return ECO_CAUSE_NO_CACHE;
    }
    if (c->work.precision == ECO_PREC_INT8_MIXED) {
        return ECO_CAUSE_INT8_MIXED;
    }
    if (c->work.precision == ECO_PREC_FP8 &&
        (in->eager || c->work.engine == ECO_ENGINE_TRANSFORMERS)) {
        return ECO_CAUSE_FP8_EAGER;
    }
    if (eco_precision_family(c->work.precision) == ECO_FAM_BNB_NF4 && d != NULL && d->mu_ln > 0) {
        return ECO_CAUSE_NF4;
    }
    if (in->production && c->work.batch == 1) {
        return ECO_CAUSE_BATCH1;
    }
    return ECO_CAUSE_AS_EXPECTED;
}

/* The model's figures moved to what was measured of the configuration: host and stack are its. */
static void anchor(const struct context *c, const struct expect *model, struct expect *e)
{
    const struct eco_diagnose_measured *m = &c->in->measured;
    double ln_j = e->energy.mu_ln;
    if (!m->have) {
        return;
    }
    if (isfinite(m->tokens_per_s)) {
        e->ln_tps += log(m->tokens_per_s) - model->ln_tps;
        e->sd_tps = m->sd_ln;
    }
    if (e->have_power && isfinite(m->j_per_1k)) {
        ln_j += log(m->j_per_1k) - model->energy.mu_ln;
        e->energy.mu_ln = ln_j;
        e->energy.sd_ln = m->sd_ln;
        eco_physics_band(ln_j, m->sd_ln, &e->energy.j_per_1k);
    }
    e->ln_w = e->have_power ? ln_j + e->ln_tps - log(J_PER_ROW) : e->ln_w;
}

static int hidden_expect(const struct context *c, const struct expect *model, enum eco_precision p,
                         int batch, struct expect *out, struct eco_err *err)
{
    int rc = expect_of(c, p, batch, out, err);
    if (rc == 0) {
        anchor(c, model, out);
    }
    return rc;
}

/* Causes that the user did not name but that look like the configuration from outside. */
static int add_hidden(struct context *c, const struct expect *model, const struct expect *base,
                      struct eco_err *err)
{
    const struct eco_diagnose_input *in = c->in;
    enum eco_precision p = c->work.precision;
    struct expect e = {0};
    int rc = 0;
    if (eco_precision_family(p) == ECO_FAM_BNB_INT8 && p != ECO_PREC_INT8_MIXED) {
        rc = hidden_expect(c, model, ECO_PREC_INT8_MIXED, c->work.batch, &e, err);
        c->cause[ECO_CAUSE_INT8_MIXED] = e;
        c->cause[ECO_CAUSE_INT8_MIXED].prior = 0.2;
    }
    if (rc == 0 && c->work.batch > 1) {
        rc = hidden_expect(c, model, p, 1, &e, err);
        c->cause[ECO_CAUSE_BATCH1] = e;
        c->cause[ECO_CAUSE_BATCH1].prior = 0.12;
    }
    double factor, missing = in->need_gb * 1e9 - eco_memory_limit_bytes(in->gpu, 1);
    bool too_large = missing > 0;
    double ln_f = OFFLOAD_GUESS_LN;
    if (too_large && eco_latency_factor_offload(c->ph, in->model, in->gpu, &c->work, missing,
                                                LINK_BYTES_PER_S, &factor, NULL) == 0) {
        ln_f = log(factor);
    }
    c->cause[ECO_CAUSE_OFFLOAD] = slower(*base, ln_f, -0.5, 0.7);
    c->cause[ECO_CAUSE_OFFLOAD].prior = too_large ? 0.5 : 0.04;
    if (!in->kv_cache_off && rc == 0) {
        rc = eco_latency_factor_no_cache(c->ph, in->model, in->gpu, &c->work, &factor, err);
        c->cause[ECO_CAUSE_NO_CACHE] = slower(*base, rc == 0 ? log(factor) : 0, 0.3, 0.4);
        c->cause[ECO_CAUSE_NO_CACHE].prior = rc == 0 && factor > 1.2 ? 0.04 : 0;
    }
    return rc;
}

static int build(struct context *c, struct expect *base, struct eco_err *err)
{
    int rc = expect_of(c, c->work.precision, c->work.batch, base, err);
    if (rc != 0) {
        return rc;
    }
    const struct expect model = *base;
    anchor(c, &model, base);
    struct expect plain = *base;
    if (c->in->kv_cache_off) {
        double factor;
        rc = eco_latency_factor_no_cache(c->ph, c->in->model, c->in->gpu, &c->work, &factor, err);
        if (rc != 0) {
            return rc;
        }
        *base = slower(plain, log(factor), 0.3, 0.4);
    }
    rc = add_hidden(c, &model, &plain, err);
    c->cause[ECO_CAUSE_THROTTLED] = slower(*base, -THROTTLE_SPEED_LN, THROTTLE_POWER_LN, 0.25);
    c->cause[ECO_CAUSE_THROTTLED].prior = 0.06;
    c->cause[ECO_CAUSE_THROTTLED].sd_more = THROTTLE_SD_J; /* power and speed fall together */
    c->cause[ECO_CAUSE_UNKNOWN] = *base;
    c->cause[ECO_CAUSE_UNKNOWN].sd_tps = SD_UNKNOWN_SPEED_LN;
    c->cause[ECO_CAUSE_UNKNOWN].sd_w = SD_UNKNOWN_POWER_LN;
    c->cause[ECO_CAUSE_UNKNOWN].sd_more = SD_UNKNOWN_SPEED_LN;
    c->cause[ECO_CAUSE_UNKNOWN].prior = 0.1;
    enum eco_cause own = own_cause(c);
    c->cause[own] = *base;
    c->cause[own].prior = 0.5;
    return rc;
}

static double log_normal_density(double x, double mu, double sd)
{
    double z = (x - mu) / sd;
    return -0.5 * z * z - log(sd);
}

/* ln likelihood of what was observed; a cause without a power estimate is given the base's. */
static double log_likelihood(const struct context *c, const struct expect *e,
                             const struct expect *base)
{
    double sum = 0;
    if (isfinite(c->obs_j) && (e->have_power || base->have_power)) {
        const struct expect *p = e->have_power ? e : base;
        sum += log_normal_density(log(c->obs_j), p->ln_w - p->ln_tps + log(J_PER_ROW),
                                  hypot(p->energy.sd_ln, p->sd_more));
    }
    if (isfinite(c->obs_tps)) {
        sum += log_normal_density(log(c->obs_tps), e->ln_tps, e->sd_tps);
    }
    if (isfinite(c->obs_w) && (e->have_power || base->have_power)) {
        const struct expect *p = e->have_power ? e : base;
        sum += log_normal_density(log(c->obs_w), p->ln_w, p->sd_w);
    }
    return sum;
}

static bool near(double seen, double mu, double sd)
{
    return !isfinite(seen) || fabs(log(seen) - mu) <= WITHIN_95 * sd;
}

/* What was seen lies within 95 % of the runs under this cause; no cause is named otherwise. */
static bool agrees(const struct context *c, const struct expect *e, const struct expect *base)
{
    const struct expect *p = e->have_power ? e : base;
    bool power = e->have_power || base->have_power;
    return near(c->obs_tps, e->ln_tps, e->sd_tps) && (!power || near(c->obs_w, p->ln_w, p->sd_w)) &&
           (!power || near(c->obs_j, p->ln_w - p->ln_tps + log(J_PER_ROW),
                           hypot(p->energy.sd_ln, p->sd_more)));
}

/* The two most probable causes, and the figure that sets them apart best. */
static void choose_observation(const struct context *c, struct eco_diagnose *d)
{
    bool one = isfinite(c->obs_j) || isfinite(c->obs_tps) != isfinite(c->obs_w);
    const struct eco_diagnose_pattern *two[2] = {NULL, NULL};
    size_t n = 0;
    for (size_t i = 0; i < d->n_patterns && n < 2; i++) {
        if (d->pattern[i].cause != ECO_CAUSE_UNKNOWN) {
            two[n++] = &d->pattern[i];
        }
    }
    if (!one || n < 2 ||
        (d->cause != ECO_CAUSE_UNKNOWN && d->pattern[0].probability_frac >= SETTLED_AT)) {
        return;
    }
    const struct expect *a = &c->cause[two[0]->cause], *b = &c->cause[two[1]->cause];
    double speed = fabs(a->ln_tps - b->ln_tps) / hypot(a->sd_tps, b->sd_tps);
    double power = fabs(a->ln_w - b->ln_w) / hypot(a->sd_w, b->sd_w);
    bool by_speed = !isfinite(c->obs_tps) && (isfinite(c->obs_w) || speed >= power);
    if (!by_speed && !(a->have_power && b->have_power)) {
        return;
    }
    d->decide = (struct eco_diagnose_decide){
        .what = by_speed ? ECO_OBSERVE_SPEED : ECO_OBSERVE_POWER,
        .cause = {two[0]->cause, two[1]->cause},
        .value = {exp(by_speed ? a->ln_tps : a->ln_w), exp(by_speed ? b->ln_tps : b->ln_w)}};
}

static void weigh(const struct context *c, const struct expect *base, struct eco_diagnose *d)
{
    double ln[ECO_CAUSE_COUNT], top = -INFINITY, total = 0;
    for (int i = 0; i < ECO_CAUSE_COUNT; i++) {
        const struct expect *e = &c->cause[i];
        bool out = i == ECO_CAUSE_AS_EXPECTED && (d->speed_outside || d->energy_outside);
        ln[i] = e->prior > 0 && !out ? log(e->prior) + log_likelihood(c, e, base) : -INFINITY;
        top = fmax(top, ln[i]);
    }
    for (int i = 0; i < ECO_CAUSE_COUNT; i++) {
        total += exp(ln[i] - top);
    }
    for (int i = 0; i < ECO_CAUSE_COUNT; i++) {
        if (!isfinite(ln[i])) {
            continue;
        }
        const struct expect *e = &c->cause[i];
        struct eco_diagnose_pattern p = {.cause = (enum eco_cause)i,
                                         .probability_frac = exp(ln[i] - top) / total,
                                         .expect_tokens_per_s = exp(e->ln_tps),
                                         .expect_j_per_1k = NAN};
        if (i == ECO_CAUSE_UNKNOWN) {
            p.expect_tokens_per_s = NAN; /* anything: that is what makes it the open one */
        } else if (e->have_power) {
            p.expect_j_per_1k = J_PER_ROW * exp(e->ln_w - e->ln_tps);
        }
        size_t at = d->n_patterns++;
        for (; at > 0 && d->pattern[at - 1].probability_frac < p.probability_frac; at--) {
            d->pattern[at] = d->pattern[at - 1];
        }
        d->pattern[at] = p;
    }
    double best = d->pattern[0].probability_frac;
    enum eco_cause first = d->pattern[0].cause;
    bool named = best >= NAMED_AT && agrees(c, &c->cause[first], base);
    d->cause = named ? first : ECO_CAUSE_UNKNOWN;
    d->confidence = best >= 0.8 ? ECO_CONF_HIGH : best >= 0.5 ? ECO_CONF_MEDIUM : ECO_CONF_LOW;
    if (d->cause == ECO_CAUSE_UNKNOWN) {
        d->confidence = ECO_CONF_LOW; /* that nothing fits is no finding */
    }
    choose_observation(c, d);
}

static void add_fix(struct eco_diagnose *d, const char *id, const char *text, const char *code,
                    double energy_pct, double speed_pct)
{
    if (d->n_fixes < ECO_DIAGNOSE_FIXES_MAX) {
        d->fix[d->n_fixes++] = (struct eco_diagnose_fix){id, text, code, energy_pct, speed_pct};
    }
}

/* Percent change from (p0, b0) to (p1, b1); NAN where an estimate is missing. */
static void change(const struct context *c, enum eco_precision p0, int b0, enum eco_precision p1,
                   int b1, double *energy_pct, double *speed_pct)
{
    struct expect from, to;
    *energy_pct = *speed_pct = NAN;
    if (expect_of(c, p0, b0, &from, NULL) != 0 || expect_of(c, p1, b1, &to, NULL) != 0) {
        return;
    }
    *speed_pct = 100 * expm1(to.ln_tps - from.ln_tps);
    if (from.have_power && to.have_power) {
        *energy_pct = 100 * expm1((to.ln_w - to.ln_tps) - (from.ln_w - from.ln_tps));
    }
}

static void fix_precision(const struct context *c, struct eco_diagnose *d,
                          enum eco_precision actual)
{
    double e, s;
    int b = c->work.batch;
    bool too_large = eco_memory_room(c->in->gpu, 1, c->in->need_fp16_gb * 1e9) > 1;
    if (!too_large) {
        change(c, actual, b, ECO_PREC_FP16, b, &e, &s);
        add_fix(d, "use-16-bit", "run 16 bit if it fits the card",
                "from_pretrained(name, torch_dtype=torch.bfloat16)", e, s);
    }
    if (actual == ECO_PREC_INT8_MIXED) {
        change(c, actual, b, ECO_PREC_INT8_PURE, b, &e, &s);
        add_fix(d, "threshold-0", "where memory forces 8 bit, switch the outlier split off",
                "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)", e, s);
    }
    if (actual == ECO_PREC_FP8) {
        add_fix(d, "engine-with-kernels", "run FP8 in an engine that has kernels for it",
                "vllm serve MODEL --quantization fp8", NAN, NAN);
    }
}

static void fix_batch(const struct context *c, struct eco_diagnose *d)
{
    double e, s;
    change(c, c->work.precision, 1, c->work.precision, BATCH_FIX, &e, &s);
    add_fix(d, "batch-8", "decode eight sequences together", "vllm serve MODEL --max-num-seqs 8", e,
            s);
}

static void fixes(const struct context *c, struct eco_diagnose *d)
{
    double factor = NAN;
    switch (d->cause) {
    case ECO_CAUSE_INT8_MIXED:
        fix_precision(c, d, ECO_PREC_INT8_MIXED);
        break;
    case ECO_CAUSE_NF4:
    case ECO_CAUSE_FP8_EAGER:
        fix_precision(c, d, c->work.precision);
        break;
    case ECO_CAUSE_OFFLOAD:
        add_fix(d, "fit-the-card",
                "take whatever fits whole: fewer bits where those fit, a shorter context or more "
                "memory",
                "ecocompute optimize MODEL GPU", NAN, NAN);
        break;
    case ECO_CAUSE_NO_CACHE:
        if (eco_latency_factor_no_cache(c->ph, c->in->model, c->in->gpu, &c->work, &factor, NULL) ==
            0) {
            add_fix(d, "use-cache", "keep the KV cache", "generate(..., use_cache=True)",
                    100 * (1 / factor - 1), 100 * (factor - 1));
        }
        break;
    case ECO_CAUSE_THROTTLED:
        add_fix(d, "lift-the-cap", "look at clocks, temperature and the power limit",
                "nvidia-smi -q -d PERFORMANCE,POWER,CLOCK", NAN, NAN);
        break;
    default:
        break;
    }
    if (c->work.batch == 1 || d->cause == ECO_CAUSE_BATCH1) {
        fix_batch(c, d);
    }
}

static void steps(struct eco_diagnose *d)
{
    if (d->cause == ECO_CAUSE_IMPOSSIBLE) {
        d->verify[d->n_verify++] = "check-figures";
        d->verify[d->n_verify++] = "check-configuration";
        return;
    }
    d->verify[d->n_verify++] = "remeasure";
    d->verify[d->n_verify++] = "check-throughput";
    d->verify[d->n_verify++] = "check-power";
    if (d->cause == ECO_CAUSE_UNKNOWN) {
        d->verify[d->n_verify++] = "report-the-run";
    }
}

static bool given(double v)
{
    return !isnan(v);
}

static int observe(const struct eco_diagnose_input *in, struct eco_diagnose *d, struct eco_err *err)
{
    const double v[] = {in->tokens_per_s, in->power_w, in->j_per_1k};
    const char *const name[] = {"tokens_per_s", "power_w", "j_per_1k"};
    int n = 0;
    for (int i = 0; i < 3; i++) {
        if (!given(v[i])) {
            continue;
        }
        n++;
        if (!(v[i] > 0) || !(v[i] < 1e12)) {
            return eco_err_set(err, ECO_E_RANGE, name[i], "'%s' must be a number over 0", name[i]);
        }
    }
    if (n == 0) {
        return eco_err_set(err, ECO_E_MISSING, "tokens_per_s",
                           "give at least one of throughput, power and energy");
    }
    d->tokens_per_s = v[0];
    d->power_w = v[1];
    d->j_per_1k = v[2];
    d->inconsistency_pct = NAN;
    if (n == 3) {
        double ratio = J_PER_ROW * v[1] / v[0] / v[2];
        if (ratio > MAX_DISAGREEMENT || ratio < 1 / MAX_DISAGREEMENT) {
            return eco_err_set(err, ECO_E_INVALID, "j_per_1k",
                               "%g W at %g tokens per s is %.6g J per 1k tokens, not %g: leave out "
                               "the figure that is wrong",
                               v[1], v[0], J_PER_ROW * v[1] / v[0], v[2]);
        }
        d->inconsistency_pct = 100 * (ratio - 1);
    } else if (given(v[0]) && given(v[1])) {
        d->j_per_1k = J_PER_ROW * v[1] / v[0];
    } else if (given(v[0]) && given(v[2])) {
        d->power_w = v[2] * v[0] / J_PER_ROW;
    } else if (given(v[1]) && given(v[2])) {
        d->tokens_per_s = J_PER_ROW * v[1] / v[2];
    }
    return 0;
}

static void deviations(const struct expect *base, struct eco_diagnose *d)
{
    d->speed_dev_pct = d->energy_dev_pct = NAN;
    eco_physics_band(base->ln_tps, base->sd_tps, &d->expect_tokens_per_s);
    if (given(d->tokens_per_s)) {
        d->speed_dev_pct = 100 * (d->tokens_per_s / d->expect_tokens_per_s.median - 1);
        d->speed_outside = d->tokens_per_s < d->expect_tokens_per_s.lo95 ||
                           d->tokens_per_s > d->expect_tokens_per_s.hi95;
    }
    d->expect_j_per_1k = (struct eco_band){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!base->have_power) {
        return;
    }
    d->expect_j_per_1k = base->energy.j_per_1k;
    if (given(d->j_per_1k)) {
        d->energy_dev_pct = 100 * (d->j_per_1k / d->expect_j_per_1k.median - 1);
        d->energy_outside =
            d->j_per_1k < d->expect_j_per_1k.lo95 || d->j_per_1k > d->expect_j_per_1k.hi95;
    }
}

/* The first bound that the figures break. */
static int find_impossible(const struct context *c, struct eco_diagnose *d, struct eco_err *err)
{
    const struct eco_gpu *gpu = c->in->gpu;
    struct eco_roofline roof;
    double limit_w = eco_reconcile_limit_w(gpu, c->work.n_gpus);
    int rc = eco_roofline_floor(c->in->model, gpu, &c->work, &roof, err);
    if (rc != 0) {
        return rc;
    }
    double idle_w = gpu->idle_w > 0 ? gpu->idle_w * c->work.n_gpus : 0;
    double idle_j_per_1k = J_PER_ROW * idle_w / roof.tokens_per_s_max;
    d->impossible_bound = NAN;
    if (d->tokens_per_s > OVER_ROOFLINE * roof.tokens_per_s_max) {
        d->impossible = ECO_IMPOSSIBLE_ROOFLINE;
        d->impossible_bound = roof.tokens_per_s_max;
    } else if (d->power_w > OVER_LIMIT * limit_w) {
        d->impossible = ECO_IMPOSSIBLE_POWER;
        d->impossible_bound = limit_w;
    } else if (d->power_w < UNDER_IDLE * idle_w) {
        d->impossible = ECO_IMPOSSIBLE_IDLE;
        d->impossible_bound = idle_w;
    } else if (d->j_per_1k < UNDER_IDLE * idle_j_per_1k) {
        d->impossible = ECO_IMPOSSIBLE_IDLE;
        d->impossible_bound = idle_j_per_1k;
    }
    return 0;
}

/* No probability of a cause means anything for figures that cannot be true. */
static void say_impossible(const struct expect *base, struct eco_diagnose *d)
{
    d->cause = ECO_CAUSE_IMPOSSIBLE;
    d->confidence = ECO_CONF_HIGH;
    d->n_patterns = 1;
    d->pattern[0] = (struct eco_diagnose_pattern){
        .cause = ECO_CAUSE_IMPOSSIBLE,
        .probability_frac = 1,
        .expect_tokens_per_s = exp(base->ln_tps),
        .expect_j_per_1k = base->have_power ? base->energy.j_per_1k.median : NAN};
}

int eco_diagnose_run(const struct eco_diagnose_input *in, struct eco_diagnose *out,
                     struct eco_err *err)
{
    struct eco_diagnose d;
    struct context c;
    struct expect base;
    memset(&d, 0, sizeof d);
    memset(&c, 0, sizeof c);
    if (in == NULL || in->model == NULL || in->gpu == NULL || in->work == NULL) {
        return eco_err_set(err, ECO_E_MISSING, "model", "model, card and workload are needed");
    }
    c.in = in;
    c.ph = in->physics != NULL ? in->physics : eco_physics_default();
    int rc = observe(in, &d, err);
    if (rc == 0) {
        rc = eco_latency_normalize(in->model, in->work, &c.work, err);
    }
    if (rc == 0) {
        rc = build(&c, &base, err);
    }
    if (rc == 0) {
        rc = find_impossible(&c, &d, err);
    }
    if (rc != 0) {
        return rc;
    }
    c.obs_tps = d.tokens_per_s;
    c.obs_w = d.power_w;
    c.obs_j = !given(c.obs_tps) && !given(c.obs_w) ? d.j_per_1k : NAN;
    deviations(&base, &d);
    if (d.impossible != ECO_IMPOSSIBLE_NONE) {
        say_impossible(&base, &d);
    } else {
        weigh(&c, &base, &d);
        fixes(&c, &d);
    }
    steps(&d);
    *out = d;
    return 0;
}
