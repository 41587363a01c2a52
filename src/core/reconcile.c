/*
 * One answer from two models. Energy and time are fitted apart, from different rows; their product
 * is power, and no board holds more than its limit. Where the medians claim more, both move.
 */
#include "core/reconcile.h"

#include <math.h>

#define J_PER_ROW 1000.0           /* the data are J per 1 000 tokens */
#define WIDEN 0.5                  /* share of a median's shift that is added to its sd */
#define ROUNDING_LN (64 * 2.3e-16) /* a second call finds nothing to do */

double eco_reconcile_limit_w(const struct eco_gpu *gpu, int n_gpus)
{
    return gpu->tdp_w > 0 ? gpu->tdp_w * (n_gpus > 1 ? n_gpus : 1) : INFINITY;
}

bool eco_reconcile_split(double excess_ln, double sd_energy, double sd_time, double *energy_ln,
                         double *time_ln)
{
    double ve = sd_energy * sd_energy, vt = sd_time * sd_time;

    if (!(excess_ln > ROUNDING_LN) || !isfinite(excess_ln)) {
        return false;
    }
    /* Without any spread neither is the more certain one. */
    *energy_ln = ve + vt > 0 ? excess_ln * ve / (ve + vt) : excess_ln / 2;
    *time_ln = excess_ln - *energy_ln;
    return true;
}

static void move_time(struct eco_latency *l, double slower_ln)
{
    double sd = hypot(l->sd_ln_step, WIDEN * slower_ln);
    double fastest = l->tokens_per_s.hi95, shortest = l->tpot_s.lo95;
    double request_s = l->request_s.median;
    double later_s = request_s + l->decode_s * expm1(slower_ln);
    double request_ln = log(later_s / request_s);

    eco_physics_band(log(l->tpot_s.median) + slower_ln, sd, &l->tpot_s);
    eco_physics_band(log(l->tokens_per_s.median) - slower_ln, sd, &l->tokens_per_s);
    eco_physics_band(log(later_s), hypot(l->sd_ln_step, WIDEN * request_ln), &l->request_s);
    /* The old ends lie within the datasheet's roofline; the new ones must too. */
    double *low[] = {&l->tpot_s.lo50, &l->tpot_s.lo80, &l->tpot_s.lo95};
    double *high[] = {&l->tokens_per_s.hi50, &l->tokens_per_s.hi80, &l->tokens_per_s.hi95};
    for (size_t i = 0; i < sizeof low / sizeof *low; i++) {
        *low[i] = fmax(*low[i], shortest);
        *high[i] = fmin(*high[i], fastest);
    }
    l->request_tokens_per_s *= request_s / later_s;
    l->decode_s *= exp(slower_ln);
    l->sd_ln_step = sd;
}

int eco_physics_reconcile(const struct eco_gpu *gpu, int n_gpus, struct eco_energy *energy,
                          struct eco_latency *latency, double *shift_ln)
{
    double energy_ln, time_ln;

    if (shift_ln != NULL) {
        *shift_ln = 0;
    }
    if (gpu == NULL || energy == NULL || latency == NULL) {
        return ECO_E_MISSING;
    }
    double watts = energy->j_per_1k.median / J_PER_ROW * latency->tokens_per_s.median;
    double excess_ln = log(watts / eco_reconcile_limit_w(gpu, n_gpus));
    if (!eco_reconcile_split(excess_ln, energy->sd_ln, latency->sd_ln_step, &energy_ln, &time_ln)) {
        return 0;
    }
    energy->mu_ln = log(energy->j_per_1k.median) - energy_ln;
    energy->sd_ln = hypot(energy->sd_ln, WIDEN * energy_ln);
    eco_physics_band(energy->mu_ln, energy->sd_ln, &energy->j_per_1k);
    move_time(latency, time_ln);
    if (shift_ln != NULL) {
        *shift_ln = excess_ln;
    }
    return 1;
}
