/* Names and "not known" values of a run (eco_run.h). */
#include "eco_run.h"

#include <math.h>

static const char *const boundary_names[] = {
#define X(name, text) [ECO_RUN_BOUNDARY_##name] = text,
    ECO_RUN_BOUNDARIES(X)
#undef X
};

const char *eco_run_boundary_name(enum eco_run_boundary b)
{
    if ((unsigned)b >= ECO_RUN_BOUNDARY_COUNT)
        return boundary_names[ECO_RUN_BOUNDARY_NONE];
    return boundary_names[b];
}

const char *eco_run_level_name(enum eco_run_level level)
{
    static const char *const names[] = {"L0", "L1", "L2", "L3"};
    if ((unsigned)level >= sizeof(names) / sizeof(names[0]))
        return names[0];
    return names[level];
}

static const struct eco_run_delta no_delta = {
    .pct = NAN, .lo95_pct = NAN, .hi95_pct = NAN, .df = NAN, .trials_to_resolve = -1};

void eco_run_arm_init(struct eco_run_arm *arm)
{
    *arm = (struct eco_run_arm){
        .total_energy_j = NAN,
        .j_per_token = NAN,
        .base_j_per_token = NAN,
        .power_mean_w = NAN,
        .tokens_per_s = NAN,
        .tokens = -1,
        .dropped_samples = -1,
        .delta = no_delta,
        .counter_j_per_token = NAN,
        .base_counter_j_per_token = NAN,
        .net_j_per_token = NAN,
        .counter_gap_frac = NAN,
        .power_peak_w = NAN,
        .ttft_s = NAN,
        .tpot_mean_s = NAN,
        .tpot_p50_s = NAN,
        .tpot_p99_s = NAN,
        .counter_delta = no_delta,
        .energy_stat = {.mean = NAN, .sd = NAN, .cv_frac = NAN},
        .counter_stat = {.mean = NAN, .sd = NAN, .cv_frac = NAN},
        .sessions = {.between_sd_log = NAN, .lo95_pct = NAN, .hi95_pct = NAN},
        .decode_j_per_token = NAN,
        .prefill_j = NAN,
        .decode_delta = no_delta,
        .batch_crossover = NAN,
        .predicted = {.delta_pct = {NAN, NAN, NAN, NAN, NAN, NAN, NAN},
                      .j_per_token = NAN,
                      .j_per_token_lo95 = NAN,
                      .j_per_token_hi95 = NAN,
                      .base_j_per_token = NAN,
                      .crossover_b = NAN,
                      .p_saves_frac = NAN,
                      .n_rows = -1,
                      .n_sessions = -1},
        .quality = {.value = NAN,
                    .fp16_value = NAN,
                    .delta_pct = NAN,
                    .mean_nll = NAN,
                    .tokens_evaluated = -1,
                    .windows = -1,
                    .seq_len = -1,
                    .corpus_bytes = -1},
    };
}

void eco_run_step_init(struct eco_run_step *step)
{
    *step = (struct eco_run_step){.batch = -1,
                                  .power_limit_w = NAN,
                                  .j_per_token = NAN,
                                  .base_j_per_token = NAN,
                                  .tokens_per_s = NAN,
                                  .power_mean_w = NAN,
                                  .delta = no_delta};
}

void eco_run_trial_init(struct eco_run_trial *trial)
{
    *trial = (struct eco_run_trial){
        .iterations = -1,
        .tokens = -1,
        .decode_tokens = -1,
        .samples = -1,
        .dropped_samples = -1,
        .window_s = NAN,
        .energy_counter_j = NAN,
        .energy_integral_j = NAN,
        .energy_v1_j = NAN,
        .power_mean_w = NAN,
        .power_peak_w = NAN,
        .idle_before_w = NAN,
        .temp_start_c = NAN,
        .temp_end_c = NAN,
        .clock_mean_mhz = NAN,
        .tokens_per_s = NAN,
        .ttft_s = NAN,
        .tpot_mean_s = NAN,
        .tpot_p50_s = NAN,
        .tpot_p99_s = NAN,
    };
}

void eco_run_source_init(struct eco_run_source *source)
{
    *source = (struct eco_run_source){
        .refresh_s = NAN, .averaging_s = NAN, .read_cost_s = NAN, .resolution_j = NAN};
}

void eco_run_phase_init(struct eco_run_phase *phase)
{
    *phase = (struct eco_run_phase){
        .arm = -1, .trial = -1, .start_s = NAN, .end_s = NAN, .energy_j = NAN, .power_mean_w = NAN};
}

void eco_run_init(struct eco_run *run)
{
    *run = (struct eco_run){
        .gpu_name = "unknown",
        .accelerator_count = 1,
        .batch = 1,
        .context_tokens = -1,
        .prompt_tokens = -1,
        .generated_tokens = -1,
        .iterations = -1,
        .warmup = -1,
        .blocks = -1,
        .baseline_arm = -1,
        .environment = {.power_limit_w = NAN,
                        .clock_sm_mhz = NAN,
                        .clock_mem_mhz = NAN,
                        .persistence = -1,
                        .ecc = -1},
        .idle = {.without_model_w = NAN,
                 .with_model_w = NAN,
                 .observer_power_w = NAN,
                 .observer_cpu_frac = NAN},
    };
}

bool eco_run_counter_leads(double counter_energy, double counter_pct, double sampled_pct)
{
    return counter_energy > 0 && (!isnan(counter_pct) || isnan(sampled_pct));
}

struct eco_run_headline eco_run_headline(const struct eco_run_arm *arm)
{
    bool counter =
        arm->basis == ECO_BASIS_MEASURED &&
        eco_run_counter_leads(arm->counter_j_per_token, arm->counter_delta.pct, arm->delta.pct);
    return (struct eco_run_headline){
        .counter = counter,
        .j_per_token = counter ? arm->counter_j_per_token : arm->j_per_token,
        .base_j_per_token = counter ? arm->base_counter_j_per_token : arm->base_j_per_token,
        .other_j_per_token = counter ? arm->j_per_token : arm->counter_j_per_token,
        .delta = counter ? &arm->counter_delta : &arm->delta,
        .stat = counter ? &arm->counter_stat : &arm->energy_stat};
}

double eco_run_cross_check_pct(double energy, double other)
{
    return energy > 0 ? 100 * (other / energy - 1) : (double)NAN;
}

/* What the data set says about another session is at best an interpolation to this one. */
static enum eco_basis derived_basis(enum eco_basis predicted)
{
    switch (predicted) {
    case ECO_BASIS_UNAVAILABLE:
        return ECO_BASIS_UNAVAILABLE;
    case ECO_BASIS_MEASURED:
    case ECO_BASIS_INTERPOLATED:
        return ECO_BASIS_INTERPOLATED;
    default:
        return ECO_BASIS_EXTRAPOLATED;
    }
}

static const char *verdict_of(double lo_pct, double hi_pct)
{
    if (isnan(lo_pct) || isnan(hi_pct))
        return NULL;
    if (hi_pct < 0)
        return "saves";
    return lo_pct > 0 ? "costs" : "cannot tell";
}

void eco_run_arm_fallback(struct eco_run_arm *arm, const char *why)
{
    const struct eco_run_predicted *p = &arm->predicted;
    arm->basis = derived_basis(p->basis);
    arm->level = ECO_RUN_LEVEL_L0;
    arm->reason = why;
    if (arm->basis == ECO_BASIS_UNAVAILABLE)
        return;
    arm->j_per_token = p->j_per_token;
    arm->base_j_per_token = p->base_j_per_token;
    arm->delta = no_delta;
    arm->delta.pct = p->delta_pct.median;
    arm->delta.lo95_pct = p->delta_pct.lo95;
    arm->delta.hi95_pct = p->delta_pct.hi95;
    arm->delta.method = "95 % band of the prediction for a new session";
    arm->delta.verdict = verdict_of(p->delta_pct.lo95, p->delta_pct.hi95);
}
