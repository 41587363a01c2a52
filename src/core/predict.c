/* One answer: levels of the question, a small Gaussian in the bases, bands, anchors, crossings. */
#include "core/linalg.h"
#include "core/predict_fit.h"
#include "core/predict_scan.h"

#include <math.h>
#include <string.h>

/* Standard normal quantiles of the central 50, 80 and 95 %. */
static const double z50 = 0.67448975019608171, z80 = 1.2815515655446004, z95 = 1.959963984540054;

enum { REFERENCE_CONTEXT = 256 }; /* tokens; the measured pairs generate 128 to 512 */

enum eco_engine eco_predict_usual_engine(enum eco_precision precision)
{
    switch (eco_precision_family(precision)) {
    case ECO_FAM_BNB_INT8:
    case ECO_FAM_BNB_NF4:
    case ECO_FAM_FLOAT:
        return ECO_ENGINE_TRANSFORMERS;
    case ECO_FAM_GGUF:
        return ECO_ENGINE_LLAMACPP;
    case ECO_FAM_BUILTIN:
        return ECO_ENGINE_BUILTIN;
    case ECO_FAM_FP8:
    case ECO_FAM_W4:
    case ECO_FAM_W8:
    case ECO_FAM_FP4:
        return ECO_ENGINE_VLLM;
    default:
        return ECO_ENGINE_UNKNOWN;
    }
}

int eco_predict_pair(double e_quant_j_per_1k, double e_base_j_per_1k, bool net, double idle_w,
                     double quant_tokens_per_s, double base_tokens_per_s, double *y,
                     struct eco_err *err)
{
    if (net) {
        if (!(quant_tokens_per_s > 0.0) || !(base_tokens_per_s > 0.0) || !(idle_w >= 0.0))
            return eco_err_set(err, ECO_E_RANGE, "throughput",
                               "a net energy needs its throughput and idle power");
        e_quant_j_per_1k += 1000.0 * idle_w / quant_tokens_per_s;
        e_base_j_per_1k += 1000.0 * idle_w / base_tokens_per_s;
    }
    if (!(e_quant_j_per_1k > 0.0) || !(e_base_j_per_1k > 0.0) || !isfinite(e_quant_j_per_1k) ||
        !isfinite(e_base_j_per_1k))
        return eco_err_set(err, ECO_E_RANGE, "energy", "energies must be positive");
    *y = log(e_quant_j_per_1k / e_base_j_per_1k);
    return 0;
}

static int check_number(double v, double lo, double hi, const char *name, struct eco_err *err)
{
    if (!(v >= lo && v <= hi))
        return eco_err_set(err, ECO_E_RANGE, name, "'%s' must be %g to %g", name, lo, hi);
    return 0;
}

static int check_query(const struct eco_predict_query *q, struct eco_err *err)
{
    enum eco_precision_family base = eco_precision_family(q->baseline);
    int rc;

    if (q->precision <= ECO_PREC_NONE || q->precision >= ECO_PREC_COUNT)
        return eco_err_set(err, ECO_E_MISSING, "precision", "which precision?");
    if (q->params_total_b == 0.0)
        return eco_err_set(err, ECO_E_MISSING, "params_b", "which size?");
    if (q->baseline != ECO_PREC_NONE && (base != ECO_FAM_FLOAT || q->baseline == ECO_PREC_FP32))
        return eco_err_set(err, ECO_E_UNSUPPORTED, "baseline",
                           "the baseline must be FP16 or BF16, not '%s'",
                           eco_precision_name(q->baseline));
    rc = check_number(q->params_total_b, ECO_PREDICT_MIN_B, ECO_PREDICT_MAX_B, "params_b", err);
    if (rc == 0 && q->params_active_b != 0.0)
        rc = check_number(q->params_active_b, 1e-3, q->params_total_b, "active_b", err);
    if (rc == 0 && q->linear_b != 0.0)
        rc = check_number(q->linear_b, 1e-4, q->params_total_b, "linear_b", err);
    if (rc == 0)
        rc = check_number(q->layers, 0, 100000, "layers", err);
    if (rc == 0 && q->batch != 0.0)
        rc = check_number(q->batch, 1.0, ECO_PREDICT_MAX_BATCH, "batch", err);
    if (rc == 0)
        rc = check_number(q->context_tokens, 0.0, ECO_PREDICT_MAX_CONTEXT, "context", err);
    if (rc == 0)
        rc = check_number(q->kv_bytes_per_token, 0.0, 1e9, "kv_bytes_per_token", err);
    return rc;
}

static bool same_card(const struct eco_predict_query *q, const struct eco_predict_point *p)
{
    return q->gpu != NULL && q->gpu->name != NULL && strcmp(q->gpu->name, p->gpu) == 0;
}

static void find_levels(const struct eco_predictor *p, const struct eco_predict_query *q,
                        struct eco_predict_levels *l)
{
    double bandwidth = q->gpu != NULL ? q->gpu->mem_bw_gbps : NAN;

    *l = (struct eco_predict_levels){
        .precision = q->precision,
        .family = eco_precision_family(q->precision),
        .engine =
            q->engine != ECO_ENGINE_UNKNOWN ? q->engine : eco_predict_usual_engine(q->precision),
        .arch = q->gpu != NULL ? q->gpu->arch : q->arch,
        .card = -1,
        .model = -1,
        .session = -1,
        .baseline = -1,
        .x = eco_predict_effective_x(q->params_total_b, q->linear_b, q->layers),
        .batch = q->batch != 0.0 ? q->batch : 1.0,
        .ln_bandwidth = bandwidth > 0.0 ? log(bandwidth / 1000.0) : 0.0,
    };
    bool card = q->gpu != NULL, model = q->model_id != NULL;
    for (int i = 0; i < p->n_points && ((card && l->card < 0) || (model && l->model < 0)); i++) {
        if (l->card < 0 && p->card[i] == i && same_card(q, &p->points[i]))
            l->card = i;
        if (l->model < 0 && p->model[i] == i && q->model_id != NULL &&
            strcmp(q->model_id, p->points[i].model_id) == 0)
            l->model = i;
    }
}

static double quantile_pct(double mu, double sd, double z)
{
    return 100.0 * expm1(mu + z * sd);
}

static void set_band(double mu, double sd, struct eco_band *b)
{
    b->median = quantile_pct(mu, sd, 0.0);
    b->lo50 = quantile_pct(mu, sd, -z50);
    b->hi50 = quantile_pct(mu, sd, z50);
    b->lo80 = quantile_pct(mu, sd, -z80);
    b->hi80 = quantile_pct(mu, sd, z80);
    b->lo95 = quantile_pct(mu, sd, -z95);
    b->hi95 = quantile_pct(mu, sd, z95);
}

/*
 * Change of y by context: memory traffic is weights + batch * KV; measured pairs have about
 * REFERENCE_CONTEXT tokens. Ratio of the two traffics' growth, quantized over 16-bit.
 */
static double context_shift(const struct eco_predict_query *q, double params_b, double batch)
{
    double active = q->params_active_b > 0.0 ? q->params_active_b / q->params_total_b : 1.0;
    double weights = params_b * active * 1e9, kv = batch * q->kv_bytes_per_token;
    double quant = weights * eco_precision_bits(q->precision) / 8.0, base = weights * 2.0;

    if (q->context_tokens == 0.0 || q->kv_bytes_per_token == 0.0)
        return 0.0;
    return log((quant + kv * q->context_tokens) / (quant + kv * REFERENCE_CONTEXT)) -
           log((base + kv * q->context_tokens) / (base + kv * REFERENCE_CONTEXT));
}

static double noise_variance(const struct eco_predictor *p, enum eco_precision precision)
{
    return exp(p->theta[eco_predict_noise_group(precision)]);
}

static bool measured_here(const struct eco_predict_query *q, const struct eco_predict_levels *l,
                          const struct eco_predict_point *p)
{
    bool context = q->context_tokens == 0.0 || p->context_tokens == 0.0 ||
                   fabs(q->context_tokens - p->context_tokens) <= 1.0;

    return context && same_card(q, p) && p->precision == l->precision && p->engine == l->engine &&
           p->batch == l->batch && q->model_id != NULL && strcmp(q->model_id, p->model_id) == 0;
}

struct support {
    bool measured, inside; /* this very configuration; size within those measured */
    bool batched;          /* the precision has pairs on this engine, but none at batch 1 */
    double lo, hi, card_lo, card_hi;
};

/* Counts the pairs near the question and the range of their sizes. */
static struct support find_support(const struct eco_predictor *p, const struct eco_predict_query *q,
                                   const struct eco_predict_levels *l,
                                   struct eco_predict_answer *out)
{
    struct support s = {false, false, false, INFINITY, 0.0, INFINITY, 0.0};
    double nearest = INFINITY;
    int single = 0;

    for (int i = 0; i < p->n_points; i++) {
        const struct eco_predict_point *point = &p->points[i];
        double size = point->params_b;

        if (point->precision != l->precision || point->engine != l->engine || !point->fit)
            continue;
        out->n_precision++;
        single += point->batch == 1.0;
        if (point->arch == l->arch && l->arch != ECO_ARCH_UNKNOWN) {
            out->n_arch++;
            s.lo = fmin(s.lo, size);
            s.hi = fmax(s.hi, size);
        }
        if (l->card >= 0 && p->card[i] == l->card) {
            out->n_card++;
            s.card_lo = fmin(s.card_lo, size);
            s.card_hi = fmax(s.card_hi, size);
            nearest = fmin(nearest, fabs(log(size / q->params_total_b)));
            s.measured = s.measured || measured_here(q, l, point);
        }
    }
    if (out->n_card > 0) {
        out->have_distance = true;
        out->distance = nearest;
        s.lo = s.card_lo;
        s.hi = s.card_hi;
    }
    s.batched = out->n_precision > 0 && single == 0;
    /* A tenth beyond the measured sizes still counts as inside. */
    s.inside = q->params_total_b >= s.lo * 0.9 && q->params_total_b <= s.hi * 1.1 &&
               (out->n_card > 0 || (q->gpu == NULL && out->n_arch > 0));
    return s;
}

/* By width first: 0.08 in y is a 95 % band of about 30 points, 0.12 of 47, 0.30 of 120. */
static enum eco_confidence confidence(const struct eco_predict_answer *a)
{
    double narrow = a->basis == ECO_BASIS_MEASURED ? 0.12 : 0.08;
    bool own = a->basis == ECO_BASIS_MEASURED || a->basis == ECO_BASIS_INTERPOLATED;

    if (own && a->sd <= narrow)
        return ECO_CONF_HIGH;
    return a->sd <= 0.30 ? ECO_CONF_MEDIUM : ECO_CONF_LOW;
}

static void set_basis(const struct eco_predict_levels *l, const struct support *s, double shift,
                      struct eco_predict_answer *out)
{
    out->modelled = !s->measured && (l->batch > 1.0 || s->batched || shift != 0.0);
    if (s->measured)
        out->basis = ECO_BASIS_MEASURED;
    else if (out->modelled)
        out->basis = ECO_BASIS_MODELLED;
    else
        out->basis = s->inside ? ECO_BASIS_INTERPOLATED : ECO_BASIS_EXTRAPOLATED;
    out->confidence = confidence(out);
    if (out->delta_pct.hi95 < 0.0)
        out->recommendation = ECO_REC_QUANTIZE;
    else if (out->delta_pct.lo95 > 0.0)
        out->recommendation = ECO_REC_DO_NOT_QUANTIZE;
    else
        out->recommendation = ECO_REC_DEPENDS;
}

/* 16 bit against 16 bit: nothing changes, and nothing is estimated. */
static void set_baseline(const struct eco_predictor *p, struct eco_predict_answer *out)
{
    memset(out, 0, sizeof(*out));
    out->basis = ECO_BASIS_COMPUTED;
    out->confidence = ECO_CONF_HIGH;
    out->recommendation = ECO_REC_BASELINE;
    out->p_saves = 0.0;
    out->n_points = p->n_fit;
    out->n_sessions = p->n_sessions;
}

/* Location and scale at the question's size and batch, noise and a change by context inside. */
static void answer_at(const struct eco_predictor *p, const struct eco_predict_query *q,
                      const struct eco_predict_arm *arm, const double *bases, double shift,
                      double *mu, double *sd)
{
    double variance;

    eco_predict_scan_at(&arm->all, bases, mu, &variance);
    *mu += shift;
    /* The roofline says how traffic grows, not how energy does: half of the shift is in doubt. */
    *sd = sqrt(variance + noise_variance(p, q->precision) + 0.25 * shift * shift);
}

int eco_predict(const struct eco_predictor *p, const struct eco_predict_query *q,
                struct eco_predict_answer *out, struct eco_err *err)
{
    return eco_predict_parts(p, q, ECO_PREDICT_ALL, out, err);
}

int eco_predict_parts(const struct eco_predictor *p, const struct eco_predict_query *q,
                      unsigned parts, struct eco_predict_answer *out, struct eco_err *err)
{
    struct eco_predict_answer a = {0};
    struct eco_predict_levels l;
    struct eco_predict_arm arm;
    struct eco_predict_scan scan;
    struct support s;
    double shift, bases[ECO_PREDICT_BASES];
    int rc = check_query(q, err);

    if (rc != 0)
        return rc;
    if (q->precision == ECO_PREC_FP16 || q->precision == ECO_PREC_BF16) {
        set_baseline(p, out);
        return 0;
    }
    find_levels(p, q, &l);
    shift = context_shift(q, q->params_total_b, l.batch);
    eco_predict_arm_init(&arm, p, &l, q->known_session, parts & ECO_PREDICT_FLIP_BATCH);
    eco_predict_arm_bases(&l, bases);
    eco_predict_scan_init(&scan, &arm, p, &l, parts);
    answer_at(p, q, &arm, bases, shift, &a.mu, &a.sd);
    set_band(a.mu, a.sd, &a.delta_pct);
    a.p_saves = eco_linalg_normal_cdf(-a.mu / a.sd);
    s = find_support(p, q, &l, &a);
    set_basis(&l, &s, shift, &a);
    if (parts & ECO_PREDICT_ANCHORS)
        eco_predict_arm_anchors(&arm, p, bases, &a);
    if (parts & ECO_PREDICT_CROSSOVER)
        eco_predict_scan_size(&scan, l.x - log(q->params_total_b / 3.0), q->params_total_b, shift,
                              &a.crossover);
    if (parts & ECO_PREDICT_FLIP_BATCH)
        eco_predict_scan_batch(&scan, &a.flip_batch);
    a.n_points = p->n_fit;
    a.n_sessions = p->n_sessions;
    *out = a;
    return 0;
}

int eco_predict_curve(const struct eco_predictor *p, const struct eco_predict_query *q,
                      const double *params_b, int n, struct eco_band *out, struct eco_err *err)
{
    struct eco_predict_levels l;
    struct eco_predict_arm arm;
    struct eco_predict_scan scan;
    double offset;
    int rc = check_query(q, err);

    for (int i = 0; i < n && rc == 0; i++)
        rc = check_number(params_b[i], ECO_PREDICT_MIN_B, ECO_PREDICT_MAX_B, "params_b", err);
    if (rc != 0)
        return rc;
    if (q->precision == ECO_PREC_FP16 || q->precision == ECO_PREC_BF16) {
        memset(out, 0, (size_t)n * sizeof(*out));
        return 0;
    }
    find_levels(p, q, &l);
    offset = l.x - log(q->params_total_b / 3.0);
    eco_predict_arm_init(&arm, p, &l, q->known_session, false);
    eco_predict_scan_init(&scan, &arm, p, &l, ECO_PREDICT_CROSSOVER);
    for (int i = 0; i < n; i++) {
        double x[ECO_PX_COUNT], mu, variance, shift = context_shift(q, params_b[i], l.batch);

        eco_predict_size_bases(log(params_b[i] / 3.0) + offset, x);
        eco_predict_scan_at(&scan.curve, x, &mu, &variance);
        set_band(mu + shift,
                 sqrt(variance + noise_variance(p, q->precision) + 0.25 * shift * shift), &out[i]);
    }
    return 0;
}

int eco_predict_contexts_kept(const struct eco_predictor *p, const struct eco_predict_query *q,
                              struct eco_predict_kept *kept, const double *context_tokens, int n,
                              double *mu, double *sd, struct eco_err *err)
{
    struct eco_predict_query at = *q;
    double bases[ECO_PREDICT_BASES], m, s;
    int rc = check_query(q, err);
    bool base = q->precision == ECO_PREC_FP16 || q->precision == ECO_PREC_BF16;

    for (int i = 0; i < n && rc == 0; i++)
        rc = check_number(context_tokens[i], 0.0, ECO_PREDICT_MAX_CONTEXT, "context", err);
    if (rc != 0)
        return rc;
    if (!base) {
        if (!kept->have) {
            find_levels(p, q, &kept->levels);
            eco_predict_arm_init(&kept->arm, p, &kept->levels, q->known_session, true);
            kept->have = true;
        }
        kept->levels.batch = q->batch != 0.0 ? q->batch : 1.0;
        eco_predict_arm_bases(&kept->levels, bases);
    }
    for (int i = 0; i < n; i++) {
        at.context_tokens = context_tokens[i];
        m = s = 0.0;
        if (!base)
            answer_at(p, &at, &kept->arm, bases,
                      context_shift(&at, at.params_total_b, kept->levels.batch), &m, &s);
        mu[i] = m;
        if (sd != NULL)
            sd[i] = s;
    }
    return 0;
}

int eco_predict_contexts(const struct eco_predictor *p, const struct eco_predict_query *q,
                         const double *context_tokens, int n, double *mu, double *sd,
                         struct eco_err *err)
{
    struct eco_predict_kept kept;

    kept.have = false;
    return eco_predict_contexts_kept(p, q, &kept, context_tokens, n, mu, sd, err);
}
