/*
 * Absolute board energy per token. At batch 1, 16 bit: a hierarchical regression of
 * ln(J per 1 000 tokens) on weight bytes, bandwidth, engine kind, layers, architecture and card
 * (posterior in data/fitted/physics_energy.csv), asked for a new session of any card. Batch
 * through E(b) = a + c/b, context through KV traffic, both bounded below by the compute roofline.
 */
#include "core/latency.h"
#include "eco_memory.h"

#include <math.h>
#include <string.h>

#define TERA 1e12
#define REFERENCE_CONTEXT 148.0 /* mean context of the batch-1 rows: 20 + 256/2 */
#define CARD_PREFIX "card:"
#define ARCH_PREFIX "arch:"
#define SD_CONTEXT 0.10           /* of ln context factor per factor of two; not fitted */
#define TRAIN_LN_WEIGHT_LO (-2.4) /* ln(weight bytes / 10 GB) of the rows: 0.9 to 28 GB */
#define TRAIN_LN_WEIGHT_HI 1.1
#define SD_MIXTURE 0.30 /* every row of the fit is dense; scatter of the mixtures of vLLM 0.11 */
#define SD_PER_LN_OUTSIDE 0.15 /* extra sd of ln energy per e-fold outside the sizes seen */

struct terms {
    double x[ECO_ENERGY_DIM_MAX];
    bool card, arch;
};

/* "A100" stands for every A100, "RTX 4090" not for the RTX 4090D: equal up to a space. */
static bool names_card(const char *term, const char *gpu)
{
    size_t n = strlen(term);
    return strncmp(term, gpu, n) == 0 && (gpu[n] == '\0' || gpu[n] == ' ');
}

static double feature(const char *term, double ln_weight, double ln_bw, double eager,
                      double ln_layers)
{
    if (strcmp(term, "intercept") == 0) {
        return 1;
    }
    if (strcmp(term, "ln_weight_10gb") == 0) {
        return ln_weight;
    }
    if (strcmp(term, "ln_bandwidth_tbps") == 0) {
        return ln_bw;
    }
    if (strcmp(term, "eager") == 0) {
        return eager;
    }
    if (strcmp(term, "ln_layers_32") == 0) {
        return ln_layers;
    }
    if (strcmp(term, "softplus_ln_weight") == 0) {
        return log1p(exp(ln_weight));
    }
    return 0;
}

static void fill_terms(const struct eco_energy_fit *fit, const struct eco_model *model,
                       const struct eco_gpu *gpu, bool eager, double ln_weight, struct terms *t)
{
    double ln_bw = log(gpu->mem_bw_gbps * 1e9 / TERA);
    double ln_layers = log(model->layers / 32.0);
    const char *arch = eco_arch_name(gpu->arch);
    t->card = t->arch = false;
    for (int i = 0; i < fit->dim; i++) {
        const char *name = fit->term[i];
        if (strncmp(name, CARD_PREFIX, strlen(CARD_PREFIX)) == 0) {
            bool mine = names_card(name + strlen(CARD_PREFIX), gpu->name);
            t->x[i] = mine ? 1 : 0;
            t->card = t->card || mine;
        } else if (strncmp(name, ARCH_PREFIX, strlen(ARCH_PREFIX)) == 0) {
            bool mine = strcmp(name + strlen(ARCH_PREFIX), arch) == 0;
            t->x[i] = mine ? 1 : 0;
            t->arch = t->arch || mine;
        } else {
            t->x[i] = feature(name, ln_weight, ln_bw, eager ? 1 : 0, ln_layers);
        }
    }
}

/* Mean and variance of ln J/1k at batch 1 for a new session. */
static void posterior(const struct eco_energy_fit *fit, const struct terms *t, double ln_weight,
                      double *mu, double *var)
{
    double m = 0, v = 0;
    int used[ECO_ENERGY_DIM_MAX], n = 0; /* most terms are other cards and classes: 0 */
    for (int i = 0; i < fit->dim; i++) {
        if (t->x[i] != 0) {
            used[n++] = i;
        }
    }
    for (int a = 0; a < n; a++) {
        int i = used[a];
        m += t->x[i] * fit->mean[i];
        for (int b = 0; b < n; b++) {
            v += t->x[i] * t->x[used[b]] * fit->cov[i * fit->dim + used[b]];
        }
    }
    v += fit->var_session + fit->var_model + fit->var_noise;
    v += t->card ? 0 : fit->var_card;
    v += t->arch ? 0 : fit->var_arch;
    double out = fmax(0, fmax(TRAIN_LN_WEIGHT_LO - ln_weight, ln_weight - TRAIN_LN_WEIGHT_HI));
    v += SD_PER_LN_OUTSIDE * SD_PER_LN_OUTSIDE * out * out;
    *mu = m;
    *var = v;
}

/* Traffic of one sequence here against the batch-1 rows' own context; ln, and its variance. */
static void context_shift(const struct eco_model *model, const struct eco_traffic *one,
                          double *ln_factor, double *var)
{
    double weight = one->weight_bytes;
    double ref = weight + eco_memory_kv_bytes(model, REFERENCE_CONTEXT);
    *ln_factor = log((weight + one->kv_bytes) / ref);
    double doublings = *ln_factor / log(2);
    *var = SD_CONTEXT * SD_CONTEXT * doublings * doublings;
}

static int check(const struct eco_physics *ph, const struct eco_gpu *gpu, struct eco_err *err)
{
    const struct eco_energy_fit *f = ph->energy;
    if (f == NULL || f->dim < 1 || f->dim > ECO_ENERGY_DIM_MAX) {
        return eco_err_set(err, ECO_E_INTERNAL, "energy", "the energy fit has no terms");
    }
    if (gpu == NULL || gpu->name == NULL || !(gpu->mem_bw_gbps > 0)) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "gpu", "memory bandwidth of '%s' is not known",
                           gpu == NULL || gpu->name == NULL ? "?" : gpu->name);
    }
    return 0;
}

/*
 * J per 1 000 prompt tokens: prefill time at the power of a saturated board, which is batch-1
 * power times the rise that the batch sweeps saw. Not validated against measured prefill energy.
 */
static double prefill_j_per_1k(const struct eco_latency *l, const struct eco_workload *w,
                               double power1_w, double rise)
{
    double tokens = l->batch_resident * w->prompt_tokens;
    return tokens > 0 ? 1000 * power1_w * rise * l->ttft_s.median / tokens : 0;
}

static enum eco_basis basis_of(const struct eco_energy_alone *a, const struct eco_workload *w)
{
    if (w->batch > 1 || w->n_gpus > 1) {
        return ECO_BASIS_MODELLED;
    }
    bool inside = a->ln_weight >= TRAIN_LN_WEIGHT_LO && a->ln_weight <= TRAIN_LN_WEIGHT_HI;
    return a->card && inside ? ECO_BASIS_INTERPOLATED : ECO_BASIS_EXTRAPOLATED;
}

/* The workload as the 16-bit law takes it. */
static int prepare(const struct eco_physics *ph, const struct eco_model *model,
                   const struct eco_gpu *gpu, const struct eco_workload *work,
                   struct eco_workload *w, struct eco_err *err)
{
    int rc = check(ph, gpu, err);
    if (rc == 0) {
        rc = eco_latency_normalize(model, work, w, err);
    }
    if (rc == 0) {
        w->precision = ECO_PREC_FP16;
    }
    return rc;
}

int eco_energy_alone(const struct eco_physics *ph, const struct eco_model *model,
                     const struct eco_gpu *gpu, const struct eco_workload *work,
                     struct eco_energy_alone *out, struct eco_err *err)
{
    struct eco_workload one;
    struct eco_traffic t1;
    struct eco_energy_alone a;
    struct terms terms;
    ph = ph != NULL ? ph : eco_physics_default();
    int rc = prepare(ph, model, gpu, work, &one, err);
    one.batch = 1;
    if (rc != 0 || (rc = eco_latency_traffic(model, &one, &t1, err)) != 0 ||
        (rc = eco_latency_point(ph, model, gpu, &one, false, &a.latency, err)) != 0) {
        return rc;
    }
    double mu, ctx_ln;
    a.ln_weight = log(t1.weight_bytes / 1e10);
    fill_terms(ph->energy, model, gpu, one.engine == ECO_ENGINE_TRANSFORMERS, a.ln_weight, &terms);
    posterior(ph->energy, &terms, a.ln_weight, &mu, &a.var);
    context_shift(model, &t1, &ctx_ln, &a.context_var);
    a.mu_ln = mu + ctx_ln;
    a.power_w = exp(a.mu_ln) / 1000 / a.latency.tpot_s.median;
    a.context_factor = exp(ctx_ln);
    a.card = terms.card;
    a.arch = terms.arch;
    *out = a;
    return 0;
}

int eco_energy_absolute(const struct eco_physics *ph, const struct eco_model *model,
                        const struct eco_gpu *gpu, const struct eco_workload *work,
                        struct eco_energy *out, struct eco_err *err)
{
    struct eco_energy_alone alone;
    int rc = eco_energy_alone(ph, model, gpu, work, &alone, err);
    return rc ? rc : eco_energy_batched(ph, model, gpu, work, &alone, true, out, err);
}

int eco_energy_batched(const struct eco_physics *ph, const struct eco_model *model,
                       const struct eco_gpu *gpu, const struct eco_workload *work,
                       const struct eco_energy_alone *alone, bool bands, struct eco_energy *out,
                       struct eco_err *err)
{
    struct eco_workload w;
    struct eco_latency now = alone->latency;
    struct eco_batch_answer law;
    struct eco_roofline roof;
    struct eco_energy e = {0};
    ph = ph != NULL ? ph : eco_physics_default();
    int rc = prepare(ph, model, gpu, work, &w, err);
    if (rc == 0 && w.batch > 1) {
        rc = eco_latency_point(ph, model, gpu, &w, false, &now, err);
    }
    if (rc != 0 || (rc = eco_batch_factor_for(ph, model, gpu, &w, &law, err)) != 0 ||
        (rc = eco_roofline_floor(model, gpu, &w, &roof, err)) != 0) {
        return rc;
    }
    double mu = alone->mu_ln + log(law.ratio), var = alone->var;
    /* A board never draws less than at batch 1, and no token takes less than the roofline. */
    double floor_ln = log(1000 * alone->power_w * roof.floor_s / w.batch);
    e.at_floor = w.batch > 1 && mu < floor_ln;
    e.mu_ln = e.at_floor ? floor_ln : mu;
    var += model->experts > 1 ? SD_MIXTURE * SD_MIXTURE : 0;
    e.sd_ln = sqrt(var + alone->context_var + law.sd_ln * law.sd_ln);
    if (bands) {
        eco_physics_band(e.mu_ln, e.sd_ln, &e.j_per_1k);
    } else {
        eco_latency_point_band(e.mu_ln, &e.j_per_1k);
    }
    e.prefill_j_per_1k = prefill_j_per_1k(&now, &w, alone->power_w, law.power_rise);
    e.batch_ratio = law.ratio;
    e.context_factor = alone->context_factor;
    e.card_known = alone->card;
    e.arch_known = alone->arch;
    e.basis = basis_of(alone, &w);
    e.n_rows = ph->energy->n_rows;
    e.n_sessions = ph->energy->n_sessions;
    *out = e;
    return 0;
}

int eco_energy_quantized(const struct eco_energy *fp16, double delta_mu_ln, double delta_sd_ln,
                         struct eco_energy *out, struct eco_err *err)
{
    if (fp16 == NULL || !isfinite(delta_mu_ln) || !(delta_sd_ln >= 0) || !isfinite(delta_sd_ln)) {
        return eco_err_set(err, ECO_E_RANGE, "delta",
                           "the change of energy needs a finite ln ratio and a spread >= 0");
    }
    struct eco_energy e = *fp16;
    e.mu_ln = fp16->mu_ln + delta_mu_ln;
    e.sd_ln = hypot(fp16->sd_ln, delta_sd_ln);
    eco_physics_band(e.mu_ln, e.sd_ln, &e.j_per_1k);
    *out = e;
    return 0;
}

int eco_energy_request(const struct eco_energy *energy, const struct eco_workload *work,
                       struct eco_band *request_j, struct eco_err *err)
{
    if (energy == NULL || work == NULL || work->gen_tokens < 1 || work->prompt_tokens < 0) {
        return eco_err_set(err, ECO_E_RANGE, "gen_tokens",
                           "a request generates at least 1 token and has a prompt of >= 0");
    }
    double decode_j = energy->j_per_1k.median * work->gen_tokens / 1000;
    double prefill_j = energy->prefill_j_per_1k * work->prompt_tokens / 1000;
    eco_physics_band(log(decode_j + prefill_j), energy->sd_ln, request_j);
    return 0;
}
