#include "fallback.h"

#include "base/num.h"
#include "dataset/dataset.h"
#include "runs.h"

#include <math.h>
#include <string.h>

static const char *why_not_measured(struct eco_ctx *ctx, const struct eco_run_source *s, size_t n)
{
    if (n == 0) {
        return "data set (no power source was looked for)";
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(s[i].status, "unavailable") != 0) {
            return eco_step_fmt(ctx,
                                "data set (%s is readable, but nothing was asked to generate "
                                "tokens: --workload)",
                                s[i].name);
        }
    }
    return eco_step_fmt(ctx, "data set (no usable power source: %s%s%s)", s[0].name,
                        s[0].reason ? ", " : "", s[0].reason ? s[0].reason : "");
}

/* Two decimals of a percentage say all that a band of tens of points can bear. */
static struct eco_band rounded(const struct eco_band *b)
{
    return (struct eco_band){eco_num_round(b->median, 2), eco_num_round(b->lo50, 2),
                             eco_num_round(b->hi50, 2),   eco_num_round(b->lo80, 2),
                             eco_num_round(b->hi80, 2),   eco_num_round(b->lo95, 2),
                             eco_num_round(b->hi95, 2)};
}

static void fill_predicted(struct eco_fallback *f, struct eco_run_predicted *p, bool baseline)
{
    const struct eco_answer *a = &f->answer;
    const struct eco_predict_answer *c = &a->change;
    p->basis = c->basis;
    p->confidence = c->confidence;
    p->calibration = "ecocompute";
    p->n_rows = c->n_points;
    p->n_sessions = c->n_sessions;
    p->reason = f->estimate.reason;
    if (c->basis == ECO_BASIS_UNAVAILABLE) {
        return;
    }
    if (!baseline) {
        p->delta_pct = rounded(&c->delta_pct);
        p->p_saves_frac = eco_step_round(c->p_saves, 4);
        p->crossover_b = c->crossover.have ? eco_step_round(c->crossover.median, 4) : (double)NAN;
        p->crossover_saves =
            c->crossover.have ? eco_step_saving_side(c->crossover.saves_above) : NULL;
    }
    if (a->have_energy) {
        const struct eco_energy *e = baseline ? &a->fp16 : &a->energy;
        p->j_per_token = eco_step_round(e->j_per_1k.median / 1e3, 5);
        p->j_per_token_lo95 = eco_step_round(e->j_per_1k.lo95 / 1e3, 5);
        p->j_per_token_hi95 = eco_step_round(e->j_per_1k.hi95 / 1e3, 5);
        p->base_j_per_token = eco_step_round(a->fp16.j_per_1k.median / 1e3, 5);
    }
}

static void fill_arm(struct eco_fallback *f, struct eco_run_arm *arm, bool baseline)
{
    const struct eco_answer *a = &f->answer;
    eco_run_arm_init(arm);
    arm->precision = baseline ? ECO_PREC_FP16 : a->precision;
    arm->engine = eco_engine_name(a->engine);
    fill_predicted(f, &arm->predicted, baseline);
    eco_run_arm_fallback(arm, f->run.measurement_source);
}

static void fill_run(struct eco_fallback *f, const struct eco_run_source *s, size_t n)
{
    struct eco_question *q = &f->question;
    struct eco_run *run = &f->run;
    char *stamp = eco_arena_alloc(q->ctx->arena, 32);
    eco_run_init(run);
    if (stamp && q->ctx->timestamp) {
        q->ctx->timestamp(q->ctx->now_unix_ms, stamp);
    }
    run->tool_version = ECO_VERSION;
    run->timestamp_utc = stamp && stamp[0] ? stamp : "1970-01-01T00:00:00.000Z";
    run->scenario = "SingleStream";
    run->protocol = "v1";
    run->measurement_source = why_not_measured(q->ctx, s, n);
    run->method = "predicted from published measurements (no on-device measurement)";
    run->data_sha256 = eco_dataset_digest_all();
    run->data_version = ECO_VERSION;
    run->gpu_name = q->gpu_name ? q->gpu_name : eco_step_where(q);
    run->arch = q->arch;
    run->accelerator_count = 1;
    run->boundary = ECO_RUN_BOUNDARY_GPU_BOARD;
    run->model = q->model;
    run->batch = (int)q->batch;
    run->context_tokens = q->prompt_tokens + q->gen_tokens;
    run->prompt_tokens = q->prompt_tokens;
    run->generated_tokens = q->gen_tokens;
    run->sample_rate_hz = 0;
    run->sources = s;
    run->source_count = n;
    run->arms = f->arms;
    run->arm_count = 2;
    run->baseline_arm = 0;
}

/* The data set says nothing of this: `why`. */
static void nothing_known(struct eco_fallback *f, const char *why)
{
    memset(&f->estimate, 0, sizeof(f->estimate));
    memset(&f->answer, 0, sizeof(f->answer));
    f->answer.precision = f->question.precision;
    f->answer.engine = f->question.engine;
    f->answer.change.basis = ECO_BASIS_UNAVAILABLE;
    const char *text = eco_step_fmt(f->question.ctx, "none, since %s", why);
    f->estimate.verdict = f->estimate.reason = text ? text : "none";
}

static int answer(struct eco_fallback *f, bool beside, struct eco_err *err)
{
    struct eco_question *q = &f->question;
    struct eco_err why = {.message = ""};
    int rc = eco_step_estimate(q, &f->estimate, &why);
    rc = rc ? rc : eco_step_answer(q, q->precision, &f->answer, &why);
    if (rc && beside && why.code == ECO_E_RANGE) {
        nothing_known(f, why.message);
        return 0;
    }
    if (rc && err) {
        *err = why;
    }
    return rc;
}

static void fill(struct eco_fallback *f, const struct eco_run_source *sources, size_t n)
{
    fill_run(f, sources, n);
    fill_arm(f, &f->arms[0], true);
    fill_arm(f, &f->arms[1], false);
}

int eco_fallback_prepare(struct eco_ctx *ctx, const struct eco_args_target *target,
                         const char *precision, double batch, enum eco_fallback_use use,
                         const struct eco_run_source *sources, size_t n_sources,
                         struct eco_fallback *out, struct eco_err *err)
{
    struct eco_question *q = &out->question;
    memset(&out->estimate, 0, sizeof(out->estimate));
    int rc = eco_step_target(ctx, target, q, err);
    rc = rc ? rc : eco_step_precision(precision, ECO_PREC_NF4, "precision", &q->precision, err);
    if (rc == 0 && (q->precision == ECO_PREC_FP16 || q->precision == ECO_PREC_BF16)) {
        rc =
            eco_err_set(err, ECO_E_INVALID, "precision",
                        "'precision' must be a quantized one: 16 bit is the baseline and is always "
                        "there");
    }
    if (rc) {
        return rc;
    }
    q->batch = batch;
    q->context_tokens = q->prompt_tokens + q->gen_tokens;
    rc = answer(out, use == ECO_FALLBACK_BESIDE, err);
    if (rc == 0) {
        fill(out, sources, n_sources);
    }
    return rc;
}
