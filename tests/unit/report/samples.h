/* Runs to report on: one derived from the data set, one measured, one with nothing known. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "eco_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct sample {
    struct eco_run run;
    struct eco_run_arm arms[2];
    struct eco_run_trial trials[8];
    struct eco_run_phase phases[2];
    struct eco_run_source sources[2];
    struct eco_run_check checks[1];
    struct eco_run_package packages[2];
    const char *warnings[1];
    struct eco_run_step steps[3];
};

static inline void sample_base(struct sample *s, enum eco_precision precision)
{
    memset(s, 0, sizeof(*s));
    eco_run_init(&s->run);
    eco_run_arm_init(&s->arms[0]);
    eco_run_arm_init(&s->arms[1]);
    s->arms[0].precision = precision;
    s->arms[0].engine = "transformers";
    struct eco_run *r = &s->run;
    r->tool_version = "0.1.0";
    r->timestamp_utc = "2026-11-30T09:12:31.123Z";
    r->scenario = "SingleStream";
    r->protocol = "v1";
    r->measurement_source = "data set: no power source on this machine";
    r->method = "derived from published measurements, nothing was run";
    r->data_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    r->gpu_name = "NVIDIA GeForce RTX 4090";
    r->arch = ECO_ARCH_ADA;
    r->batch = 1;
    r->context_tokens = 2048;
    r->environment.host = "Linux-6.1-x86_64";
    r->idle.reason = "no power source";
    snprintf(r->model.name, sizeof(r->model.name), "Qwen/Qwen2-7B");
    r->model.params_b = 7;
    r->model.params_total = 7615616512u;
    r->model.shape_basis = ECO_BASIS_COMPUTED;
    r->arms = s->arms;
    r->arm_count = 1;
    eco_run_source_init(&s->sources[0]);
    s->sources[0].name = "nvml";
    s->sources[0].status = "unavailable";
    s->sources[0].reason = "libnvidia-ml.so.1 is not on this machine";
    r->sources = s->sources;
    r->source_count = 1;
}

static inline void sample_fallback(struct sample *s, enum eco_precision precision)
{
    sample_base(s, precision);
    struct eco_run_predicted *p = &s->arms[0].predicted;
    p->basis = ECO_BASIS_MEASURED;
    p->confidence = ECO_CONF_MEDIUM;
    p->delta_pct = (struct eco_band){-22.4, -28.1, -16.2, -33.0, -10.1, -40.7, 1.9};
    p->j_per_token = 4.32;
    p->j_per_token_lo95 = 3.1;
    p->j_per_token_hi95 = 6.2;
    p->base_j_per_token = 5.567;
    p->crossover_b = 4.6;
    p->crossover_saves = "above";
    p->p_saves_frac = 0.967;
    p->n_rows = 31;
    p->n_sessions = 9;
    p->calibration = "ecocompute";
    p->reason = "7B lies among the measured sizes of ada cards";
    eco_run_arm_fallback(&s->arms[0], "no power source was found, so nothing was measured here");
}

/* The first arm of sample_measured. */
static inline void sample_arm(struct eco_run_arm *a, const char *sha256)
{
    a->basis = ECO_BASIS_MEASURED;
    a->level = ECO_RUN_LEVEL_L1;
    a->weights = "real";
    a->total_energy_j = 2 * 421.0 * 22.9;
    a->tokens = 5120;
    a->j_per_token = 421.0 * 22.9 / 2560;
    a->base_j_per_token = 3.3826;
    a->power_mean_w = 421.0;
    a->tokens_per_s = 2560 / 22.9;
    a->dropped_samples = 0;
    a->delta.pct = 100 * (a->j_per_token / a->base_j_per_token - 1);
    a->delta.lo95_pct = 8.2;
    a->delta.hi95_pct = 14.6;
    a->delta.n = 2;
    a->delta.method = "block-paired log ratio, order as a factor";
    a->delta.verdict = "costs";
    a->counter_j_per_token = a->j_per_token * 1.01;
    a->base_counter_j_per_token = a->base_j_per_token * 1.02;
    a->counter_gap_frac = 0.01;
    a->counter_delta = a->delta;
    a->counter_delta.pct = 100 * (a->counter_j_per_token / a->base_counter_j_per_token - 1);
    a->decode_j_per_token = a->j_per_token * 0.99;
    a->prefill_reason = "the prefill window was shorter than 5 s";
    a->energy_stat = (struct eco_run_stat){2, a->j_per_token, 0.02, 0.0053};
    a->counter_stat = (struct eco_run_stat){2, a->counter_j_per_token, 0.031, 0.0082};
    a->backend = "ecocompute-cpu";
    a->sessions.n = 1;
    a->quality.present = true;
    a->quality.value = 11.4271;
    a->quality.fp16_value = 11.2903;
    a->quality.delta_pct = 1.212;
    a->quality.tokens_evaluated = 14976;
    a->quality.corpus_name = "eval_text.txt";
    a->quality.corpus_bytes = 60600;
    a->quality.corpus_sha256 = sha256;
}

static inline void sample_trials(struct sample *s)
{
    for (int i = 0; i < 4; i++) {
        struct eco_run_trial *t = &s->trials[i];
        eco_run_trial_init(t);
        t->block = i / 2;
        t->position = i % 2;
        t->arm = (i + i / 2) % 2;
        t->iterations = 10;
        t->tokens = 2560;
        t->decode_tokens = 2550;
        t->window_s = 22.9;
        t->energy_v1_j = 421.0 * 22.9;
        t->energy_counter_j = 421.0 * 22.9 * 1.01;
        t->power_mean_w = 421.0;
        t->tokens_per_s = 2560 / 22.9;
    }
}

/* Two blocks of two arms whose windows integrate 421 W over 22.9 s. */
static inline void sample_measured(struct sample *s, enum eco_precision precision)
{
    sample_base(s, precision);
    struct eco_run *r = &s->run;
    s->arms[1].precision = ECO_PREC_FP16;
    s->arms[1].basis = ECO_BASIS_MEASURED;
    r->arm_count = 2;
    r->baseline_arm = 1;
    r->boundary = ECO_RUN_BOUNDARY_GPU_BOARD;
    r->measurement_source = "nvml: power average 1 s, total energy counter";
    r->method = "on-device power sampling at 10 Hz and the hardware energy counter";
    r->sample_rate_hz = 10;
    r->iterations = 10;
    r->warmup = 2;
    r->blocks = 2;
    r->prompt_tokens = 9;
    r->generated_tokens = 256;
    r->seed = 18446744073709551615u;
    sample_trials(s);
    s->trials[1].throttled = true;
    r->trials = s->trials;
    r->trial_count = 4;
    eco_run_phase_init(&s->phases[0]);
    s->phases[0].name = "idle";
    s->phases[0].start_s = 0;
    s->phases[0].end_s = 5;
    r->phases = s->phases;
    r->phase_count = 1;
    s->sources[0].status = "used";
    s->sources[0].reason = NULL;
    s->sources[0].boundary = ECO_RUN_BOUNDARY_GPU_BOARD;
    s->checks[0] = (struct eco_run_check){"memory", "ok", "needs 5.1e9 of 25.2e9 bytes"};
    r->preflight = s->checks;
    r->preflight_count = 1;
    s->packages[0] = (struct eco_run_package){"torch", "2.13.0+cu121"};
    r->environment.packages = s->packages;
    r->environment.package_count = 1;
    r->environment.driver = "550.54.14";
    r->environment.persistence = 1;
    s->warnings[0] = "trial 1 was throttled; it counts, and is flagged";
    r->warnings = s->warnings;
    r->warning_count = 1;
    sample_arm(&s->arms[0], r->data_sha256);
}

/* The samples read 318 mJ of a window that the counter says was 337: the counter leads. */
static inline void sample_two_instruments(struct sample *s)
{
    sample_measured(s, ECO_PREC_NF4);
    struct eco_run_arm *a = &s->arms[0];
    a->j_per_token = 0.318;
    a->total_energy_j = 0.318 * (double)a->tokens;
    a->power_mean_w = 0.318 * a->tokens_per_s;
    a->base_j_per_token = 0.471;
    a->counter_j_per_token = 0.337;
    a->base_counter_j_per_token = 0.513;
    a->delta.pct = -32.48;
    a->delta.lo95_pct = -33.2;
    a->delta.hi95_pct = -31.8;
    a->delta.verdict = "saves";
    a->counter_delta = a->delta;
    a->counter_delta.pct = -34.31;
    a->counter_delta.lo95_pct = -35.3;
    a->counter_delta.hi95_pct = -33.4;
    a->energy_stat = (struct eco_run_stat){4, 0.318, 0.0041, 0.0129};
    a->counter_stat = (struct eco_run_stat){4, 0.337, 0.0027, 0.0080};
}

/* Times of a processor; the joules are the data set's, for a card. */
static inline void sample_times_only(struct sample *s)
{
    sample_fallback(s, ECO_PREC_NF4);
    s->run.predicted_gpu_name = s->run.gpu_name;
    s->run.predicted_arch = s->run.arch;
    s->run.gpu_name = "AMD EPYC 9355";
    s->run.arch = ECO_ARCH_UNKNOWN;
    s->arms[0].basis = ECO_BASIS_EXTRAPOLATED;
    s->arms[0].backend = "ecocompute-cpu";
    s->arms[0].tokens_per_s = 8.4;
}

/* Interrupted: some trials are there, the protocol is custom, the verdict is open. */
static inline void sample_partial(struct sample *s, enum eco_precision precision)
{
    static const char *const differences[] = {"tokens per iteration 64 instead of 256"};
    sample_measured(s, precision);
    s->run.partial = true;
    s->run.protocol = "custom";
    s->run.protocol_differences = differences;
    s->run.protocol_difference_count = 1;
    s->arms[0].delta.lo95_pct = s->arms[0].delta.hi95_pct = NAN;
    s->arms[0].delta.verdict = NULL;
    s->arms[0].counter_delta = s->arms[0].delta;
    s->arms[0].decode_j_per_token = NAN;
}

/* Measured at three batches; the change flips its sign between 8 and 32, and 64 did not fit. */
static inline void sample_sweep(struct sample *s, enum eco_precision precision)
{
    sample_measured(s, precision);
    static const int batches[] = {1, 8, 64};
    for (int i = 0; i < 3; i++) {
        eco_run_step_init(&s->steps[i]);
        s->steps[i].batch = batches[i];
    }
    for (int i = 0; i < 2; i++) {
        s->steps[i].j_per_token = 3.7 / (i + 1);
        s->steps[i].base_j_per_token = 3.3826 / (i + 1);
        s->steps[i].delta = s->arms[0].delta;
    }
    s->steps[1].power_limit_w = 250;
    s->steps[2].reason = "does not fit into memory";
    s->arms[0].sweep = s->steps;
    s->arms[0].sweep_count = 3;
    s->arms[0].batch_crossover = 17.5;
}

static inline void sample_nothing(struct sample *s, enum eco_precision precision)
{
    sample_base(s, precision);
    s->run.model.params_b = 0;
    eco_run_arm_fallback(&s->arms[0], "the data set has nothing for this card");
}

#endif
