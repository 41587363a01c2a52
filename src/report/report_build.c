/* energy.json from a run: one function a block, in the order of report_rules.c. */
#include "report.h"

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOTICE                                                                                     \
    "Not a certified benchmark result. Energies are those of the named boundary only; board "      \
    "power "                                                                                       \
    "sensors carry an absolute error of about 5 % without an external meter."

/* A number, or null when it is not known. */
static void num(struct eco_json_writer *w, const char *key, double v)
{
    eco_jw_kv_num(w, key, v);
}

/* J to mJ. */
static void milli(struct eco_json_writer *w, const char *key, double v_j)
{
    eco_jw_kv_num(w, key, v_j * 1000);
}

static void count(struct eco_json_writer *w, const char *key, int64_t v)
{
    eco_jw_key(w, key);
    if (v < 0)
        eco_jw_null(w);
    else
        eco_jw_i64(w, v);
}

/* Published integers may not be null: an unknown one is left out. */
static void count_or_absent(struct eco_json_writer *w, const char *key, int64_t v)
{
    if (v >= 0)
        eco_jw_kv_i64(w, key, v);
}

static void text(struct eco_json_writer *w, const char *key, const char *s)
{
    eco_jw_kv_str(w, key, s);
}

static void text_or_absent(struct eco_json_writer *w, const char *key, const char *s)
{
    if (s)
        eco_jw_kv_str(w, key, s);
}

static void range(struct eco_json_writer *w, const char *key, double lo, double hi)
{
    eco_jw_key(w, key);
    if (isnan(lo) || isnan(hi)) {
        eco_jw_null(w);
        return;
    }
    eco_jw_array(w);
    eco_jw_num(w, lo);
    eco_jw_num(w, hi);
    eco_jw_array_end(w);
}

static void tristate(struct eco_json_writer *w, const char *key, int v)
{
    eco_jw_key(w, key);
    if (v < 0)
        eco_jw_null(w);
    else
        eco_jw_bool(w, v != 0);
}

static void strings(struct eco_json_writer *w, const char *key, const char *const *list, size_t n)
{
    eco_jw_key(w, key);
    eco_jw_array(w);
    for (size_t i = 0; i < n; i++)
        eco_jw_str(w, list[i]);
    eco_jw_array_end(w);
}

/* The published words; what they cannot say counts as extrapolated. */
static const char *published_basis(enum eco_basis basis)
{
    switch (basis) {
    case ECO_BASIS_UNAVAILABLE:
    case ECO_BASIS_MEASURED:
    case ECO_BASIS_INTERPOLATED:
        return eco_basis_name(basis);
    default:
        return eco_basis_name(ECO_BASIS_EXTRAPOLATED);
    }
}

static void put_head(struct eco_json_writer *w, const struct eco_run *run)
{
    text(w, "schema_version", ECO_REPORT_SCHEMA_VERSION);
    eco_jw_kv_i64(w, "report_version", ECO_REPORT_VERSION);
    text(w, "benchmark", "ecocompute-energy-methodology");
    eco_jw_kv_bool(w, "certified_benchmark_result", false);
    text(w, "scenario", run->scenario ? run->scenario : "SingleStream");
    text(w, "timestamp_utc", run->timestamp_utc);
    eco_jw_kv_bool(w, "partial", run->partial);
    eco_jw_key(w, "protocol");
    eco_jw_object(w);
    text(w, "name", run->protocol ? run->protocol : "v1");
    strings(w, "differences", run->protocol_differences, run->protocol_difference_count);
    eco_jw_object_end(w);
    eco_jw_key(w, "system_under_test");
    eco_jw_object(w);
    text(w, "gpu", run->gpu_name);
    text(w, "gpu_arch", eco_arch_name(run->arch));
    eco_jw_kv_i64(w, "accelerator_count", run->accelerator_count);
    text_or_absent(w, "host", run->environment.host);
    text(w, "boundary", eco_run_boundary_name(run->boundary));
    eco_jw_object_end(w);
}

static void put_workload(struct eco_json_writer *w, const struct eco_run *run,
                         const struct eco_run_arm *arm)
{
    const struct eco_model *m = &run->model;
    bool mixed = arm->precision == ECO_PREC_INT8_MIXED;
    eco_jw_key(w, "workload");
    eco_jw_object(w);
    text(w, "model_name", m->name);
    num(w, "params_b", m->params_b > 0 ? m->params_b : NAN);
    count(w, "params_total", m->params_total ? (int64_t)m->params_total : -1);
    count(w, "params_active", m->params_active ? (int64_t)m->params_active : -1);
    text(w, "shape_basis", eco_basis_name(m->shape_basis));
    text(w, "precision", mixed ? "INT8" : eco_precision_name(arm->precision));
    text(w, "precision_exact", eco_precision_name(arm->precision));
    text(w, "engine", arm->engine);
    text(w, "weights", arm->weights);
    text(w, "backend", arm->backend);
    eco_jw_kv_i64(w, "batch_size", run->batch);
    count_or_absent(w, "context_length", run->context_tokens);
    count(w, "prompt_tokens", run->prompt_tokens);
    count(w, "generated_tokens", run->generated_tokens);
    eco_jw_object_end(w);
}

static void put_measurement(struct eco_json_writer *w, const struct eco_run *run)
{
    char seed[24];
    eco_jw_key(w, "measurement");
    eco_jw_object(w);
    text(w, "method", run->method);
    eco_jw_kv_i64(w, "sample_rate_hz", run->sample_rate_hz);
    count_or_absent(w, "tokens_per_run", run->generated_tokens);
    count_or_absent(w, "iterations", run->iterations);
    count_or_absent(w, "warmup", run->warmup);
    count_or_absent(w, "blocks", run->blocks);
    if (run->trial_count) {
        /* As text: a 64-bit seed does not survive readers that hold numbers as doubles. */
        snprintf(seed, sizeof(seed), "%" PRIu64, run->seed);
        text(w, "seed", seed);
    }
    eco_jw_object_end(w);
    const struct eco_run_environment *e = &run->environment;
    eco_jw_key(w, "software");
    eco_jw_object(w);
    text(w, "ecocompute", run->tool_version);
    if (e->package_count) {
        eco_jw_key(w, "packages");
        eco_jw_object(w);
        for (size_t i = 0; i < e->package_count; i++)
            text(w, e->packages[i].name, e->packages[i].version);
        eco_jw_object_end(w);
    }
    text_or_absent(w, "torch_cuda", e->cuda);
    text_or_absent(w, "nvidia_driver", e->driver);
    eco_jw_object_end(w);
    text(w, "measurement_source", run->measurement_source);
}

static void put_delta(struct eco_json_writer *w, const struct eco_run_delta *d)
{
    num(w, "vs_fp16_energy_pct", d->pct);
    range(w, "vs_fp16_ci95_pct", d->lo95_pct, d->hi95_pct);
    count(w, "vs_fp16_n", d->n);
    text(w, "vs_fp16_method", d->method);
    text(w, "verdict", d->verdict);
    count(w, "trials_to_resolve", d->trials_to_resolve);
}

static void put_results(struct eco_json_writer *w, const struct eco_run_arm *arm)
{
    eco_jw_key(w, "results");
    eco_jw_object(w);
    num(w, "total_energy_joules", arm->total_energy_j);
    count(w, "tokens_generated", arm->tokens);
    milli(w, "energy_per_token_mj", arm->j_per_token);
    milli(w, "fp16_energy_per_token_mj", arm->base_j_per_token);
    put_delta(w, &arm->delta);
    num(w, "avg_power_watts", arm->power_mean_w);
    num(w, "throughput_tokens_per_s", arm->tokens_per_s);
    text(w, "basis", published_basis(arm->basis));
    text(w, "level", eco_run_level_name(arm->level));
    count(w, "dropped_samples", arm->dropped_samples);
    text_or_absent(w, "note", arm->reason); /* where readers of the published schema look */
    text(w, "reason", arm->reason);
    eco_jw_object_end(w);
}

/* Which block leads, and how far the other instrument is from it. */
static void put_headline(struct eco_json_writer *w, const struct eco_run_arm *arm)
{
    struct eco_run_headline h = eco_run_headline(arm);
    bool measured = arm->basis == ECO_BASIS_MEASURED;
    eco_jw_key(w, "headline");
    eco_jw_object(w);
    text(w, "block", h.counter ? "ecocompute" : "results");
    text(w, "instrument",
         h.counter  ? "hardware energy counter"
         : measured ? "sampled power, trapezoid"
                    : NULL);
    num(w, "cross_check_pct",
        measured ? eco_run_cross_check_pct(h.j_per_token, h.other_j_per_token) : (double)NAN);
    eco_jw_object_end(w);
}

/* This session's own range stands with each energy; another session's is apart. */
static void put_sessions(struct eco_json_writer *w, const struct eco_run_sessions *s)
{
    eco_jw_key(w, "sessions");
    eco_jw_object(w);
    eco_jw_kv_i64(w, "n", s->n);
    num(w, "between_sd_pct", 100 * expm1(s->between_sd_log));
    text(w, "basis", s->basis);
    range(w, "vs_fp16_ci95_pct", s->lo95_pct, s->hi95_pct);
    text(w, "reason",
         s->reason   ? s->reason
         : s->n == 1 ? "one session: unknown"
         : s->n == 0 ? "no session was measured here"
                     : NULL);
    eco_jw_object_end(w);
}

static void put_latency(struct eco_json_writer *w, double ttft_s, double mean_s, double p50_s,
                        double p99_s)
{
    num(w, "ttft_s", ttft_s);
    num(w, "tpot_mean_s", mean_s);
    num(w, "tpot_p50_s", p50_s);
    num(w, "tpot_p99_s", p99_s);
}

/* Measured only: neither block can be derived from the data set. */
static void put_counter_and_decode(struct eco_json_writer *w, const struct eco_run_arm *arm)
{
    bool counter = arm->basis == ECO_BASIS_MEASURED && !isnan(arm->counter_j_per_token);
    bool decode = arm->basis == ECO_BASIS_MEASURED && !isnan(arm->decode_j_per_token);
    const char *why = arm->reason ? arm->reason : "not measured in this run";
    eco_jw_key(w, "ecocompute");
    eco_jw_object(w);
    text(w, "basis", counter ? "measured" : "unavailable");
    text(w, "reason", counter ? NULL : why);
    if (counter) {
        milli(w, "energy_per_token_mj", arm->counter_j_per_token);
        milli(w, "fp16_energy_per_token_mj", arm->base_counter_j_per_token);
        milli(w, "net_energy_per_token_mj", arm->net_j_per_token);
        put_delta(w, &arm->counter_delta);
        num(w, "counter_gap_frac", arm->counter_gap_frac);
        num(w, "peak_power_watts", arm->power_peak_w);
        put_latency(w, arm->ttft_s, arm->tpot_mean_s, arm->tpot_p50_s, arm->tpot_p99_s);
    }
    eco_jw_object_end(w);
    eco_jw_key(w, "decode");
    eco_jw_object(w);
    text(w, "basis", decode ? "measured" : "unavailable");
    text(w, "reason", decode ? arm->prefill_reason : why);
    if (decode) {
        milli(w, "energy_per_token_mj", arm->decode_j_per_token);
        num(w, "prefill_energy_joules", arm->prefill_j);
        put_delta(w, &arm->decode_delta);
    }
    eco_jw_object_end(w);
}

static void put_prediction(struct eco_json_writer *w, const struct eco_run *run,
                           const struct eco_run_predicted *p)
{
    eco_jw_key(w, "prediction");
    if (p->basis == ECO_BASIS_UNAVAILABLE) {
        eco_jw_null(w);
        return;
    }
    eco_jw_object(w);
    text(w, "basis", eco_basis_name(p->basis));
    text(w, "confidence", eco_confidence_name(p->confidence));
    text(w, "calibration", p->calibration);
    if (run->predicted_gpu_name) {
        text(w, "gpu", run->predicted_gpu_name);
        text(w, "gpu_arch", eco_arch_name(run->predicted_arch));
    }
    num(w, "vs_fp16_energy_pct", p->delta_pct.median);
    range(w, "ci50_pct", p->delta_pct.lo50, p->delta_pct.hi50);
    range(w, "ci80_pct", p->delta_pct.lo80, p->delta_pct.hi80);
    range(w, "ci95_pct", p->delta_pct.lo95, p->delta_pct.hi95);
    milli(w, "energy_per_token_mj", p->j_per_token);
    range(w, "energy_ci95_mj", p->j_per_token_lo95 * 1000, p->j_per_token_hi95 * 1000);
    milli(w, "fp16_energy_per_token_mj", p->base_j_per_token);
    num(w, "crossover_b", p->crossover_b);
    text(w, "crossover_saves", p->crossover_saves);
    num(w, "p_saves_frac", p->p_saves_frac);
    count(w, "rows", p->n_rows);
    count(w, "sessions", p->n_sessions);
    text(w, "reason", p->reason);
    eco_jw_object_end(w);
}

static void put_stat(struct eco_json_writer *w, const struct eco_run_stat *s, double df)
{
    eco_jw_kv_i64(w, "n", s->n);
    milli(w, "mean_mj", s->mean);
    milli(w, "sd_mj", s->sd);
    num(w, "cv_frac", s->cv_frac);
    num(w, "df", df);
}

static void put_statistics(struct eco_json_writer *w, const struct eco_run_arm *arm)
{
    eco_jw_key(w, "statistics");
    eco_jw_object(w);
    put_stat(w, &arm->energy_stat, arm->delta.df);
    if (arm->counter_stat.n) {
        eco_jw_key(w, "counter");
        eco_jw_object(w);
        put_stat(w, &arm->counter_stat, arm->counter_delta.df);
        eco_jw_object_end(w);
    }
    eco_jw_object_end(w);
}

/* The same arms at other batches or power limits; absent where nothing was varied. */
static void put_sweep(struct eco_json_writer *w, const struct eco_run_arm *arm)
{
    if (!arm->sweep_count)
        return;
    eco_jw_key(w, "sweep");
    eco_jw_array(w);
    for (size_t i = 0; i < arm->sweep_count; i++) {
        const struct eco_run_step *s = &arm->sweep[i];
        eco_jw_object(w);
        count(w, "batch_size", s->batch);
        num(w, "power_limit_watts", s->power_limit_w);
        milli(w, "energy_per_token_mj", s->j_per_token);
        milli(w, "fp16_energy_per_token_mj", s->base_j_per_token);
        put_delta(w, &s->delta);
        num(w, "avg_power_watts", s->power_mean_w);
        num(w, "throughput_tokens_per_s", s->tokens_per_s);
        text(w, "reason", s->reason);
        eco_jw_object_end(w);
    }
    eco_jw_array_end(w);
    num(w, "batch_crossover", arm->batch_crossover);
}

static void put_trial(struct eco_json_writer *w, const struct eco_run_trial *t)
{
    eco_jw_object(w);
    eco_jw_kv_i64(w, "block", t->block);
    eco_jw_kv_i64(w, "position", t->position);
    eco_jw_kv_bool(w, "discarded", t->discarded);
    eco_jw_key(w, "flags");
    eco_jw_array(w);
    if (t->throttled)
        eco_jw_str(w, "throttled");
    if (t->contaminated)
        eco_jw_str(w, "contaminated");
    if (t->idle_timeout)
        eco_jw_str(w, "idle_timeout");
    eco_jw_array_end(w);
    num(w, "window_s", t->window_s);
    count(w, "iterations", t->iterations);
    count(w, "tokens", t->tokens);
    count(w, "decode_tokens", t->decode_tokens);
    num(w, "energy_joules", t->energy_v1_j);
    num(w, "energy_counter_joules", t->energy_counter_j);
    num(w, "energy_integral_joules", t->energy_integral_j);
    num(w, "avg_power_watts", t->power_mean_w);
    num(w, "peak_power_watts", t->power_peak_w);
    num(w, "idle_before_watts", t->idle_before_w);
    num(w, "temp_start_c", t->temp_start_c);
    num(w, "temp_end_c", t->temp_end_c);
    num(w, "clock_mean_mhz", t->clock_mean_mhz);
    num(w, "throughput_tokens_per_s", t->tokens_per_s);
    put_latency(w, t->ttft_s, t->tpot_mean_s, t->tpot_p50_s, t->tpot_p99_s);
    count(w, "samples", t->samples);
    count(w, "dropped_samples", t->dropped_samples);
    eco_jw_object_end(w);
}

static void put_trials_and_phases(struct eco_json_writer *w, const struct eco_run *run, size_t arm)
{
    eco_jw_key(w, "trials");
    eco_jw_array(w);
    for (size_t i = 0; i < run->trial_count; i++) {
        if (run->trials[i].arm == (int)arm)
            put_trial(w, &run->trials[i]);
    }
    eco_jw_array_end(w);
    eco_jw_key(w, "phases");
    eco_jw_array(w);
    for (size_t i = 0; i < run->phase_count; i++) {
        const struct eco_run_phase *p = &run->phases[i];
        if (p->arm >= 0 && p->arm != (int)arm)
            continue;
        eco_jw_object(w);
        text(w, "name", p->name);
        count(w, "trial", p->trial);
        num(w, "start_s", p->start_s);
        num(w, "end_s", p->end_s);
        num(w, "energy_joules", p->energy_j);
        num(w, "avg_power_watts", p->power_mean_w);
        eco_jw_object_end(w);
    }
    eco_jw_array_end(w);
}

static void put_sources(struct eco_json_writer *w, const struct eco_run *run)
{
    eco_jw_key(w, "energy_sources");
    eco_jw_array(w);
    for (size_t i = 0; i < run->source_count; i++) {
        const struct eco_run_source *s = &run->sources[i];
        eco_jw_object(w);
        text(w, "name", s->name);
        text(w, "status", s->status);
        text(w, "reason", s->reason);
        text(w, "device", s->device);
        text(w, "boundary", eco_run_boundary_name(s->boundary));
        text(w, "field", s->field);
        text(w, "driver", s->driver);
        num(w, "refresh_s", s->refresh_s);
        num(w, "averaging_s", s->averaging_s);
        num(w, "read_cost_s", s->read_cost_s);
        num(w, "resolution_joules", s->resolution_j);
        eco_jw_object_end(w);
    }
    eco_jw_array_end(w);
}

static void put_surroundings(struct eco_json_writer *w, const struct eco_run *run)
{
    eco_jw_key(w, "idle");
    eco_jw_object(w);
    num(w, "without_model_watts", run->idle.without_model_w);
    num(w, "with_model_watts", run->idle.with_model_w);
    num(w, "observer_watts", run->idle.observer_power_w);
    num(w, "observer_cpu_frac", run->idle.observer_cpu_frac);
    text(w, "reason", run->idle.reason);
    eco_jw_object_end(w);
    eco_jw_key(w, "preflight");
    eco_jw_array(w);
    for (size_t i = 0; i < run->preflight_count; i++) {
        eco_jw_object(w);
        text(w, "name", run->preflight[i].name);
        text(w, "status", run->preflight[i].status);
        text(w, "detail", run->preflight[i].detail);
        eco_jw_object_end(w);
    }
    eco_jw_array_end(w);
    const struct eco_run_environment *e = &run->environment;
    eco_jw_key(w, "environment");
    eco_jw_object(w);
    text(w, "os", e->os);
    text(w, "cpu", e->cpu);
    num(w, "power_limit_watts", e->power_limit_w);
    num(w, "clock_sm_mhz", e->clock_sm_mhz);
    num(w, "clock_mem_mhz", e->clock_mem_mhz);
    tristate(w, "persistence", e->persistence);
    tristate(w, "ecc", e->ecc);
    eco_jw_object_end(w);
}

static void put_quality(struct eco_json_writer *w, const struct eco_run_quality *q)
{
    if (!q->present)
        return;
    eco_jw_key(w, "quality");
    eco_jw_object(w);
    text(w, "metric", "perplexity");
    text(w, "basis", q->error ? "unavailable" : "measured");
    num(w, "value", q->value);
    num(w, "fp16_value", q->fp16_value);
    num(w, "delta_vs_fp16_pct", q->delta_pct);
    num(w, "mean_nll", q->mean_nll);
    count(w, "tokens_evaluated", q->tokens_evaluated);
    count(w, "windows", q->windows);
    count(w, "seq_len", q->seq_len);
    eco_jw_key(w, "corpus");
    if (q->corpus_name) {
        eco_jw_object(w);
        text(w, "name", q->corpus_name);
        count_or_absent(w, "bytes", q->corpus_bytes);
        text_or_absent(w, "sha256", q->corpus_sha256);
        eco_jw_object_end(w);
    } else {
        eco_jw_null(w);
    }
    text_or_absent(w, "error", q->error);
    eco_jw_object_end(w);
}

static void put_provenance(struct eco_json_writer *w, const struct eco_run *run)
{
    char tool[64];
    strings(w, "warnings", run->warnings, run->warning_count);
    snprintf(tool, sizeof(tool), "ecocompute %.40s", run->tool_version);
    eco_jw_key(w, "provenance");
    eco_jw_object(w);
    text(w, "tool", tool);
    text(w, "dataset_doi", ECO_REPORT_DATASET_DOI);
    text(w, "rtx4090_deep_dive_doi", ECO_REPORT_DEEP_DIVE_DOI);
    text(w, "data_version", run->data_version);
    text(w, "licence", "CC BY 4.0 (data)");
    eco_jw_object_end(w);
    text(w, "data_sha256", run->data_sha256);
    text(w, "notice", NOTICE);
}

/* What would make the report say something untrue, or invalid under the schema. */
static int refuse(const struct eco_run *run, size_t arm, struct eco_err *err)
{
    size_t own = 0;
    if (arm >= run->arm_count)
        return eco_err_set(err, ECO_E_INVALID, "arm", "the run has no arm %zu", arm);
    for (size_t i = 0; i < run->trial_count; i++)
        own += run->trials[i].arm == (int)arm && !run->trials[i].discarded;
    const struct eco_run_arm *a = &run->arms[arm];
    if (a->basis == ECO_BASIS_MEASURED && own == 0)
        return eco_err_set(err, ECO_E_INVALID, "basis",
                           "basis 'measured' without a trial: nothing was measured");
    if (a->basis == ECO_BASIS_MEASURED && run->boundary == ECO_RUN_BOUNDARY_NONE)
        return eco_err_set(err, ECO_E_INVALID, "boundary", "measured joules without a boundary");
    if (a->basis != ECO_BASIS_MEASURED && !a->reason)
        return eco_err_set(err, ECO_E_INVALID, "reason",
                           "an arm that was not measured must say why");
    if (a->precision == ECO_PREC_NONE)
        return eco_err_set(err, ECO_E_INVALID, "precision", "the arm has no precision");
    if (run->batch < 1 || run->accelerator_count < 1 || run->sample_rate_hz < 0)
        return eco_err_set(err, ECO_E_RANGE, "batch",
                           "batch and accelerators are at least 1, the sample rate at least 0");
    const char *const texts[] = {run->gpu_name, run->timestamp_utc, run->tool_version,
                                 run->measurement_source, run->method};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!texts[i])
            return eco_err_set(err, ECO_E_MISSING, NULL,
                               "a run needs gpu_name, timestamp_utc, tool_version, "
                               "measurement_source and method");
    }
    return 0;
}

int eco_report_build(const struct eco_run *run, size_t arm, struct eco_buf *out,
                     struct eco_err *err)
{
    struct eco_json_writer w;
    int rc = refuse(run, arm, err);
    if (rc != 0)
        return rc;
    size_t start = out->len;
    const struct eco_run_arm *a = &run->arms[arm];
    eco_jw_init(&w, out, 2);
    eco_jw_object(&w);
    put_head(&w, run);
    put_workload(&w, run, a);
    put_measurement(&w, run);
    put_results(&w, a);
    put_headline(&w, a);
    put_counter_and_decode(&w, a);
    put_sessions(&w, &a->sessions);
    put_prediction(&w, run, &a->predicted);
    put_statistics(&w, a);
    put_sweep(&w, a);
    put_trials_and_phases(&w, run, arm);
    put_sources(&w, run);
    put_surroundings(&w, run);
    put_quality(&w, &a->quality);
    put_provenance(&w, run);
    eco_jw_object_end(&w);
    eco_buf_putc(out, '\n');
    if (!eco_buf_ok(out)) {
        out->len = out->data ? start : 0;
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    }
    return 0;
}
