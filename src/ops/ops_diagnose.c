/*
 * Why is this run slow or hungry? What was seen against what is expected, the known patterns
 * weighed, the measured rows of the most probable one, and what its first fix should bring.
 */
#include "base/num.h"
#include "runs.h"
#include "texts.h"

#include <math.h>
#include <string.h>

static const enum eco_precision suspects[] = {ECO_PREC_INT8_MIXED, ECO_PREC_INT8_PURE, ECO_PREC_NF4,
                                              ECO_PREC_FP8};

static int diagnose_deltas(struct eco_question *q, struct eco_diagnose_delta *out, size_t *n,
                           struct eco_err *err)
{
    *n = 0;
    for (size_t i = 0; i < ECO_COUNT(suspects) + 1; i++) {
        enum eco_precision p = i < ECO_COUNT(suspects) ? suspects[i] : q->precision;
        bool seen = false;
        for (size_t k = 0; k < *n; k++) {
            seen |= out[k].precision == p;
        }
        struct eco_answer a;
        int rc = seen ? 0 : eco_step_answer(q, p, &a, err);
        if (rc) {
            return rc;
        }
        if (!seen) {
            out[(*n)++] = (struct eco_diagnose_delta){p, a.change.mu, a.change.sd};
        }
    }
    return 0;
}

/* What to do to see that a fix helped, with the figures to look for. */
static const char *verify_text(struct eco_question *q, const char *id, const struct eco_diagnose *d,
                               const struct eco_res_diagnose *out)
{
    struct eco_ctx *ctx = q->ctx;
    const struct eco_res_improvement *m = out->improvement;
    double speed =
        m && m->tokens_per_s_then.have ? m->tokens_per_s_then.v : out->expect_tokens_per_s.v;
    double j = m && m->j_per_1k_then.have ? m->j_per_1k_then.v : out->expect_j_per_1k.v;
    if (strcmp(id, "check-throughput") == 0 && isfinite(d->tokens_per_s)) {
        return eco_step_fmt(ctx, TX(ctx, verify_speed), eco_step_num(ctx, speed, 3),
                            eco_step_num(ctx, d->tokens_per_s, 3));
    }
    if (strcmp(id, "check-throughput") == 0) {
        return eco_step_fmt(ctx, TX(ctx, verify_speed_alone), eco_step_num(ctx, speed, 3));
    }
    if (strcmp(id, "check-power") == 0 && j > 0) {
        return eco_step_fmt(ctx, TX(ctx, verify_energy), eco_step_num(ctx, j, 3));
    }
    return eco_word(ctx->lang, eco_verify_text(id));
}

/* Steps of the table, then the power to look for where it is known. */
static void fill_verify(struct eco_question *q, const struct eco_diagnose *d,
                        struct eco_res_diagnose *out)
{
    struct eco_ctx *ctx = q->ctx;
    const char **v = eco_arena_array(ctx->arena, d->n_verify + 2, sizeof(*v));
    const struct eco_res_improvement *m = out->improvement;
    size_t n = 0;
    for (size_t i = 0; v && i < d->n_verify; i++) {
        v[n++] = verify_text(q, d->verify[i], d, out);
    }
    if (v && m && m->power_w_then.have && out->power_w.have) {
        v[n++] = eco_step_fmt(ctx, TX(ctx, verify_power), eco_step_num(ctx, m->power_w_then.v, 3),
                              eco_step_num(ctx, out->power_w.v, 3));
    }
    out->verify = (struct eco_strs){v, n};
}

static void fill_diagnose(struct eco_question *q, const struct eco_diagnose *d,
                          struct eco_res_diagnose *out)
{
    struct eco_res_pattern *patterns =
        eco_arena_array(q->ctx->arena, d->n_patterns + 1, sizeof(*patterns));
    struct eco_res_fix *fixes = eco_arena_array(q->ctx->arena, d->n_fixes + 1, sizeof(*fixes));
    enum eco_lang lang = q->ctx->lang;
    if (!patterns || !fixes) {
        return;
    }
    for (size_t i = 0; i < d->n_patterns; i++) {
        const struct eco_diagnose_pattern *p = &d->pattern[i];
        patterns[i] = (struct eco_res_pattern){
            .cause = eco_cause_name(p->cause),
            .probability = eco_num_round(p->probability_frac, 3),
            .expect_tokens_per_s = eco_some(eco_step_round(p->expect_tokens_per_s, 3)),
            .expect_j_per_1k = eco_some(eco_step_round(p->expect_j_per_1k, 4)),
            .text = eco_word(lang, eco_cause_text(p->cause))};
    }
    for (size_t i = 0; i < d->n_fixes; i++) {
        fixes[i] =
            (struct eco_res_fix){.id = d->fix[i].id,
                                 .text = eco_word(lang, d->fix[i].text),
                                 .code = d->fix[i].code,
                                 .energy_pct = eco_some(eco_step_round(d->fix[i].energy_pct, 3)),
                                 .speed_pct = eco_some(eco_step_round(d->fix[i].speed_pct, 3))};
    }
    out->patterns = (struct eco_list){patterns, d->n_patterns};
    out->fixes = (struct eco_list){fixes, d->n_fixes};
}

static void fill_observed(struct eco_ctx *ctx, const struct eco_diagnose *d,
                          struct eco_res_diagnose *out)
{
    const struct eco_band *s = &d->expect_tokens_per_s, *e = &d->expect_j_per_1k;
    out->tokens_per_s = eco_some(d->tokens_per_s);
    out->power_w = eco_some(eco_step_round(d->power_w, 4));
    out->j_per_1k = eco_some(eco_step_round(d->j_per_1k, 4));
    out->inconsistency_pct = eco_some(eco_step_round(d->inconsistency_pct, 2));
    out->expect_tokens_per_s = eco_some(eco_step_round(s->median, 3));
    out->expect_tokens_per_s_ci =
        eco_span_of(eco_step_round(s->lo95, 3), eco_step_round(s->hi95, 3));
    out->expect_j_per_1k = eco_some(eco_step_round(e->median, 4));
    out->expect_j_per_1k_ci = eco_span_of(eco_step_round(e->lo95, 3), eco_step_round(e->hi95, 3));
    out->speed_dev_pct = eco_some(eco_step_round(d->speed_dev_pct, 3));
    out->energy_dev_pct = eco_some(eco_step_round(d->energy_dev_pct, 3));
    out->pattern = eco_cause_name(d->cause);
    out->confidence = eco_confidence_name(d->confidence);
    out->root_cause =
        eco_word(ctx->lang, d->cause == ECO_CAUSE_IMPOSSIBLE ? eco_impossible_text(d->impossible)
                                                             : eco_cause_text(d->cause));
    for (size_t i = 0; i < d->n_patterns; i++) {
        if (d->pattern[i].cause == d->cause) {
            out->likelihood = eco_some(eco_num_round(d->pattern[i].probability_frac, 3));
        }
    }
    double watts = e->median * s->median / 1000.0;
    out->expect_power_w = eco_some(eco_step_round(watts, 3));
    out->power_dev_pct = eco_some(eco_step_round(100.0 * (d->power_w / watts - 1.0), 3));
}

static int diagnose_input(const struct eco_args_diagnose *a, struct eco_question *q,
                          struct eco_workload *work, struct eco_diagnose_input *in,
                          struct eco_err *err)
{
    if (!(a->throughput > 0) && !(a->power_w > 0) && !(a->energy_j_per_1k > 0)) {
        return eco_err_set(err, ECO_E_MISSING, "throughput",
                           "say what you see: 'throughput' (tokens per s), 'power_w' or "
                           "'energy_j_per_1k'");
    }
    *work = (struct eco_workload){.precision = q->precision,
                                  .engine = q->engine,
                                  .batch = (int)q->batch,
                                  .prompt_tokens = q->prompt_tokens,
                                  .gen_tokens = q->gen_tokens};
    *in = (struct eco_diagnose_input){
        .model = &q->model,
        .gpu = q->gpu ? q->gpu : &q->class_gpu,
        .work = work,
        .tokens_per_s = a->throughput > 0 ? a->throughput : (double)NAN,
        .power_w = a->power_w > 0 ? a->power_w : (double)NAN,
        .j_per_1k = a->energy_j_per_1k > 0 ? a->energy_j_per_1k : (double)NAN,
        .eager = a->risk.eager,
        .kv_cache_off = a->risk.no_kv_cache,
        .production = a->risk.production,
        .unverified_build = a->risk.nightly};
    return 0;
}

/* Where this very configuration was measured, that is the expectation. */
static void expect_measured(const struct eco_question *q, const struct eco_answer *a,
                            struct eco_diagnose_input *in, struct eco_res_diagnose *out)
{
    struct eco_measured m;
    out->expect_basis = "modelled";
    if ((q->risk && q->risk->no_kv_cache) || !eco_step_measured(q, a->precision, a->engine, &m)) {
        return;
    }
    in->measured = (struct eco_diagnose_measured){true, m.tokens_per_s, m.j_per_1k, m.sd_ln};
    out->expect_basis = "measured";
    out->expect_n = eco_some(m.trials);
    out->expect_sessions = eco_some(m.sessions);
}

/* One figure that fits two causes: which second one would tell them apart, and how. */
static const char *decide(struct eco_question *q, const struct eco_diagnose *d)
{
    struct eco_ctx *ctx = q->ctx;
    const struct eco_diagnose_decide *c = &d->decide;
    if (c->what == ECO_OBSERVE_NOTHING) {
        return NULL;
    }
    return eco_step_fmt(
        ctx, c->what == ECO_OBSERVE_SPEED ? TX(ctx, decide_speed) : TX(ctx, decide_power),
        eco_step_num(ctx, c->value[0], 3), eco_word(ctx->lang, eco_cause_name(c->cause[0])),
        eco_step_num(ctx, c->value[1], 3), eco_word(ctx->lang, eco_cause_name(c->cause[1])));
}

/* What is named, or the two that it may be, and what would settle it. */
static const char *diagnose_verdict(struct eco_question *q, const struct eco_diagnose *d,
                                    const struct eco_res_diagnose *out)
{
    struct eco_ctx *ctx = q->ctx;
    if (d->cause != ECO_CAUSE_UNKNOWN) {
        const char *said =
            eco_step_fmt(ctx, TX(ctx, diagnose_verdict), eco_word(ctx->lang, out->pattern),
                         eco_step_num(ctx, 100.0 * out->likelihood.v, 2), out->root_cause);
        return out->decide ? eco_step_fmt(ctx, TX(ctx, verdict_and), said, out->decide) : said;
    }
    const struct eco_diagnose_pattern *first = NULL;
    for (size_t i = 0; i < d->n_patterns && !first; i++) {
        first = d->pattern[i].cause != ECO_CAUSE_UNKNOWN ? &d->pattern[i] : NULL;
    }
    const char *seen =
        out->energy_dev_pct.have  ? eco_step_fmt(ctx, TX(ctx, open_energy), out->energy_dev_pct.v)
        : out->speed_dev_pct.have ? eco_step_fmt(ctx, TX(ctx, open_speed), out->speed_dev_pct.v)
                                  : TX(ctx, open_power);
    const char *near =
        first
            ? eco_step_fmt(ctx, TX(ctx, open_near),
                           eco_word(ctx->lang, eco_cause_name(first->cause)),
                           eco_step_num(ctx, 100.0 * eco_num_round(first->probability_frac, 3), 2))
            : "";
    const char *said = eco_step_fmt(ctx, TX(ctx, open_verdict), seen, near);
    return out->decide ? eco_step_fmt(ctx, TX(ctx, verdict_and), said, out->decide) : said;
}

/* ---- evidence, money, what the fix brings -------------------------------------------------- */

static enum eco_precision precision_of(const struct eco_question *q, enum eco_cause c)
{
    return c == ECO_CAUSE_INT8_MIXED  ? ECO_PREC_INT8_MIXED
           : c == ECO_CAUSE_FP8_EAGER ? ECO_PREC_FP8
                                      : q->precision;
}

#define SECONDARY_FROM 0.05

static struct eco_strs secondary(struct eco_question *q, const struct eco_diagnose *d,
                                 const struct eco_answer *a)
{
    struct eco_ctx *ctx = q->ctx;
    const char **v = eco_arena_array(ctx->arena, d->n_patterns + 2, sizeof(*v));
    size_t n = 0;
    for (size_t i = 0; v && i < d->n_patterns; i++) {
        const struct eco_diagnose_pattern *p = &d->pattern[i];
        if (p->cause != d->cause && p->cause != ECO_CAUSE_UNKNOWN &&
            p->probability_frac >= SECONDARY_FROM) {
            double percent = 100.0 * eco_num_round(p->probability_frac, 3);
            v[n++] = eco_step_fmt(
                ctx, TX(ctx, secondary_pattern), eco_word(ctx->lang, eco_cause_name(p->cause)),
                eco_step_num(ctx, percent, 2), eco_word(ctx->lang, eco_cause_text(p->cause)));
        }
    }
    if (v && a->have_latency) {
        v[n++] = eco_step_fmt(ctx, TX(ctx, secondary_bound), q->batch,
                              eco_word(ctx->lang, eco_bound_name(a->latency.bound)));
    }
    return (struct eco_strs){v, n};
}

/* The bill with this many joules per 1000 tokens, whatever the estimate says. */
static int bill_at(struct eco_question *q, const struct eco_answer *a, double j_per_1k,
                   struct eco_res_bill *out, struct eco_err *err)
{
    struct eco_answer seen = *a;
    struct eco_band flat = {j_per_1k, j_per_1k, j_per_1k, j_per_1k, j_per_1k, j_per_1k, j_per_1k};
    seen.energy.j_per_1k = flat;
    return eco_step_bill(q, &seen, NULL, out, err);
}

static struct eco_opt changed(double expected, struct eco_opt pct)
{
    bool have = isfinite(expected) && expected > 0 && pct.have;
    return have ? eco_some(eco_step_round(expected * (1.0 + pct.v / 100.0), 3))
                : (struct eco_opt){0};
}

static struct eco_opt percent_between(struct eco_opt now, struct eco_opt then)
{
    bool have = now.have && then.have && now.v > 0;
    return have ? eco_some(eco_step_round(100.0 * (then.v / now.v - 1.0), 3)) : (struct eco_opt){0};
}

/* What the estimator expects once the first fix is in, against what is seen now. */
static void compare_with_fixed(const struct eco_question *q, const struct eco_res_diagnose *out,
                               struct eco_res_improvement *m)
{
    const struct eco_res_fix *fix = out->fixes.items;
    const struct eco_res_pattern *p = out->patterns.items;
    for (size_t i = 0; i < out->patterns.n; i++) {
        if (strcmp(p[i].cause, out->pattern) == 0) {
            m->tokens_per_s_then = changed(p[i].expect_tokens_per_s.v, fix->speed_pct);
            m->j_per_1k_then = changed(p[i].expect_j_per_1k.v, fix->energy_pct);
        }
    }
    m->speed_pct = percent_between(m->tokens_per_s_now, m->tokens_per_s_then);
    m->energy_pct = percent_between(m->j_per_1k_now, m->j_per_1k_then);
    double watts = m->tokens_per_s_then.v * m->j_per_1k_then.v / 1000.0;
    if (watts > 0 && q->gpu && watts <= q->gpu->tdp_w) {
        m->power_w_then = eco_some(eco_step_round(watts, 3));
    }
}

static int fill_improvement(struct eco_question *q, const struct eco_answer *a,
                            struct eco_res_diagnose *out, struct eco_err *err)
{
    const struct eco_res_fix *fix = out->fixes.items;
    struct eco_res_improvement *m = eco_arena_alloc(q->ctx->arena, sizeof(*m));
    if (!m) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    if (out->fixes.n == 0 || !(fix->energy_pct.have || fix->speed_pct.have)) {
        return 0;
    }
    *m = (struct eco_res_improvement){
        .fix = fix->id,
        .tokens_per_s_now = out->tokens_per_s.have ? out->tokens_per_s : out->expect_tokens_per_s,
        .j_per_1k_now = out->j_per_1k.have ? out->j_per_1k : out->expect_j_per_1k,
        .confidence = out->confidence,
        .cases = (int64_t)out->evidence.n};
    compare_with_fixed(q, out, m);
    out->improvement = m;
    if (!out->cost || !m->j_per_1k_then.have || !out->cost->month.usd.have) {
        return 0;
    }
    struct eco_res_bill then;
    int rc = bill_at(q, a, m->j_per_1k_then.v, &then, err);
    if (rc == 0) {
        m->saving_usd = eco_some(eco_step_round(out->cost->month.usd.v - then.month.usd.v, 3));
        m->saving_year_usd = eco_some(eco_step_round(out->cost->year.usd.v - then.year.usd.v, 3));
    }
    return rc;
}

static const char *mood_of(struct eco_question *q, const struct eco_answer *a,
                           const struct eco_diagnose *d, const struct eco_res_diagnose *out)
{
    bool trap = d->cause == ECO_CAUSE_INT8_MIXED || d->cause == ECO_CAUSE_NF4 ||
                d->cause == ECO_CAUSE_FP8_EAGER || d->cause == ECO_CAUSE_OFFLOAD ||
                d->cause == ECO_CAUSE_NO_CACHE;
    bool lost = d->cause == ECO_CAUSE_UNKNOWN || d->cause == ECO_CAUSE_IMPOSSIBLE;
    double now = out->j_per_1k.have ? out->j_per_1k.v : out->expect_j_per_1k.v;
    double excess = a->have_energy ? 100.0 * (now / a->fp16.j_per_1k.median - 1.0) : (double)NAN;
    return eco_step_mood(q, lost ? ECO_BASIS_UNAVAILABLE : a->change.basis, trap, eco_some(excess),
                         eco_step_own_data(q, a));
}

static int explain(struct eco_question *q, const struct eco_answer *a, const struct eco_diagnose *d,
                   struct eco_res_diagnose *out, struct eco_err *err)
{
    enum eco_precision p = precision_of(q, d->cause);
    struct eco_ctx *ctx = q->ctx;
    int rc = 0;
    out->evidence = eco_step_evidence(q, p);
    out->secondary = secondary(q, d, a);
    if (a->have_energy && d->cause != ECO_CAUSE_IMPOSSIBLE) {
        struct eco_res_bill *bill = eco_arena_alloc(ctx->arena, sizeof(*bill));
        double now = out->j_per_1k.have          ? out->j_per_1k.v
                     : out->expect_j_per_1k.have ? out->expect_j_per_1k.v
                                                 : a->energy.j_per_1k.median;
        rc = bill ? bill_at(q, a, now, bill, err)
                  : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        out->cost = bill;
        eco_step_price_alerts(&out->alerts, rc ? (struct eco_opt){0} : bill->month.usd);
        rc = rc ? rc : fill_improvement(q, a, out, err);
    }
    fill_verify(q, d, out);
    out->mood = mood_of(q, a, d, out);
    out->decide = decide(q, d);
    out->verdict = diagnose_verdict(q, d, out);
    eco_step_transparency(q, p, a->change.basis, &out->transparency);
    return rc;
}

int eco_run_diagnose(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_diagnose *a = args;
    struct eco_res_diagnose *out = result;
    struct eco_question q;
    struct eco_workload work;
    struct eco_diagnose_input in;
    struct eco_diagnose_delta deltas[ECO_COUNT(suspects) + 1];
    struct eco_diagnose d;
    struct eco_answer answer;
    bool trap;
    eco_voice_set(ctx, &a->voice);
    int rc = eco_step_target(ctx, &a->target, &q, err);
    rc = rc ? rc : eco_step_need_card(&q, err);
    if (rc == 0) {
        rc = eco_step_load(&a->load, &q, err);
    }
    if (rc == 0) {
        rc = eco_step_precision(a->precision, ECO_PREC_FP16, "precision", &q.precision, err);
    }
    if (rc == 0) {
        eco_step_assume(&q, "diagnose", a, ECO_ASSUMED_ALL);
        eco_step_circumstances(&q, &a->risk, &a->money);
        rc = diagnose_input(a, &q, &work, &in, err);
    }
    if (rc == 0) {
        rc = diagnose_deltas(&q, deltas, &in.n_deltas, err);
    }
    if (rc == 0) {
        rc = eco_step_answer(&q, q.precision, &answer, err);
    }
    if (rc == 0) {
        in.deltas = deltas;
        expect_measured(&q, &answer, &in, out);
        in.need_gb = answer.memory.total_bytes / 1e9;
        in.need_fp16_gb =
            in.need_gb + (answer.memory.weights_fp16_bytes - answer.memory.weights_bytes) / 1e9;
        rc = eco_diagnose_run(&in, &d, err);
    }
    if (rc == 0) {
        rc = eco_step_alerts(&q, &answer, &out->alerts, &trap, err);
    }
    if (rc) {
        return rc;
    }
    fill_observed(ctx, &d, out);
    fill_diagnose(&q, &d, out);
    rc = explain(&q, &answer, &d, out, err);
    eco_step_note_fit(&q);
    eco_step_fill_input(&q, &out->input);
    eco_step_provenance(&q, (int)eco_step_data_points(), (int)eco_step_data_sessions(), &out->data);
    out->notes = eco_step_notes(&q);
    return rc;
}
