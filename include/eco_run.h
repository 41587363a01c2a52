/*
 * A run: everything one session measured, or, without a power source, derived from the data set.
 * Plain data, declared in core, filled by `experiment` (or by the fallback of `measure`), written
 * by `report`. The caller owns every array and string; they are borrowed for the length of a call.
 *
 * Absent is not zero: a double that is not known is NAN, an integer -1, a string NULL; the report
 * writes null, and where the schema asks for it the reason beside it. The init functions set every
 * field to "not known". Units are the last part of a name.
 */
#ifndef ECO_RUN_H
#define ECO_RUN_H

#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the sensor sits. Two boundaries are never added, subtracted or pooled. */
#define ECO_RUN_BOUNDARIES(X)                                                                      \
    X(NONE, "none")                                                                                \
    X(GPU_BOARD, "gpu-board")                                                                      \
    X(GPU_MODULE, "gpu-module")                                                                    \
    X(CPU_PACKAGE, "cpu-package")                                                                  \
    X(CPU_PACKAGE_DRAM, "cpu-package+dram")                                                        \
    X(SOC, "soc")                                                                                  \
    X(WALL, "wall")

enum eco_run_boundary {
#define X(name, text) ECO_RUN_BOUNDARY_##name,
    ECO_RUN_BOUNDARIES(X)
#undef X
        ECO_RUN_BOUNDARY_COUNT
};

/* How far a joule can be trusted; see docs/methodology.md. */
enum eco_run_level {
    ECO_RUN_LEVEL_L0 = 0, /* estimate, nothing was measured */
    ECO_RUN_LEVEL_L1,     /* one source, one trial */
    ECO_RUN_LEVEL_L2,     /* two agreeing sources, n >= 3, balanced order */
    ECO_RUN_LEVEL_L3      /* external meter */
};

/* One power source that was looked for: used, usable but not used, or not usable with a reason. */
struct eco_run_source {
    const char *name;   /* "nvml", "rapl" … */
    const char *device; /* "GPU 0: NVIDIA GeForce RTX 4090"; NULL */
    const char *status; /* "used", "available", "unavailable" */
    const char *reason; /* why it is not usable, and what to do; NULL when it is */
    const char *field;  /* instrument: "total energy counter", "power average 1 s"; NULL */
    const char *driver; /* driver or kernel version; NULL */
    enum eco_run_boundary boundary;
    double refresh_s, averaging_s; /* detected; NAN */
    double read_cost_s;            /* one read, median; NAN */
    double resolution_j;           /* one count of a counter; NAN */
};

/* One warm-up and window of one arm. n counts trials, never iterations. */
struct eco_run_trial {
    int block, position, arm; /* 0-based; position: 0 = first of its block */
    bool discarded;           /* the warm-up block, or a trial that was repeated */
    bool throttled, contaminated, idle_timeout;
    int iterations;                   /* generations inside the window; -1 */
    int64_t tokens;                   /* all generated tokens of the window; -1 */
    int64_t decode_tokens;            /* generated - 1 per sequence, times batch; -1 */
    int64_t samples, dropped_samples; /* of the power trace; -1 */
    double window_s;                  /* NAN: not known, as every double below */
    double energy_counter_j;          /* hardware counter, edges aligned or interpolated */
    double energy_integral_j;         /* sampled power, trapezoid, with shift and profile */
    double energy_v1_j;               /* protocol v1: default field, trapezoid, no correction */
    double power_mean_w, power_peak_w, idle_before_w;
    double temp_start_c, temp_end_c, clock_mean_mhz;
    double tokens_per_s, ttft_s, tpot_mean_s, tpot_p50_s, tpot_p99_s;
};

/* A named stretch of a trial or of the run, for the power chart and the phase table. */
struct eco_run_phase {
    const char *name;              /* "idle", "load", "warmup", "window", "prefill", "decode" */
    int arm, trial;                /* -1: of the whole run */
    double start_s, end_s;         /* since the start of the run */
    double energy_j, power_mean_w; /* NAN */
};

/* Mean and spread over the n trials of one arm. */
struct eco_run_stat {
    int n;                    /* trials; 0: none */
    double mean, sd, cv_frac; /* NAN; sd is NAN for n = 1 */
};

/* A change against the baseline arm: 100 (E_q - E_base) / E_base. */
struct eco_run_delta {
    double pct, lo95_pct, hi95_pct; /* NAN; no interval for n = 1 */
    int n;                          /* blocks */
    double df;                      /* degrees of freedom of the interval; NAN */
    const char *method;             /* "block-paired log ratio, order as a factor"; NULL */
    const char *verdict;            /* "saves", "costs", "cannot tell"; NULL */
    int trials_to_resolve;          /* -1 */
};

/* Perplexity of an arm, taken after the sampler stopped. */
struct eco_run_quality {
    bool present;      /* false: no quality block is written */
    const char *error; /* why it is unavailable; NULL when measured */
    double value, fp16_value, delta_pct, mean_nll;
    int64_t tokens_evaluated, windows, seq_len, corpus_bytes; /* -1 */
    const char *corpus_name, *corpus_sha256;                  /* NULL */
};

/* The prediction an arm's numbers come from (fallback), or are compared with (measured). */
struct eco_run_predicted {
    enum eco_basis basis; /* UNAVAILABLE: there is none */
    enum eco_confidence confidence;
    struct eco_band delta_pct; /* against the baseline; NAN inside: not known */
    double j_per_token;        /* of this arm; NAN */
    double j_per_token_lo95, j_per_token_hi95;
    double base_j_per_token;     /* of the FP16 baseline; NAN */
    double crossover_b;          /* NAN: none */
    const char *crossover_saves; /* side of it that saves: "above", "below"; NULL: none */
    double p_saves_frac;         /* 0..1; NAN */
    int n_rows, n_sessions;      /* measured rows and sessions it leans on; -1 */
    const char *calibration;     /* "ecocompute" or "published" */
    const char *reason;          /* one plain sentence; NULL */
};

/*
 * One step of a sweep: both arms again at another batch or power limit. What does not vary keeps
 * the value of the run. Names and verdicts are borrowed.
 */
struct eco_run_step {
    int batch;            /* sequences; -1: not known */
    double power_limit_w; /* as read back after setting; NAN: not changed */
    double j_per_token, base_j_per_token, tokens_per_s, power_mean_w; /* NAN */
    struct eco_run_delta delta;
    const char *reason; /* why values are not known ("does not fit into memory"); NULL */
};

/* What other sessions would show: one session alone cannot know how much sessions differ. */
struct eco_run_sessions {
    int n;                     /* sessions behind the results; 0: none */
    double between_sd_log;     /* spread between sessions, of the log ratio; NAN: not known */
    const char *basis;         /* where the spread is from: "data set", "measured"; NULL: nowhere */
    double lo95_pct, hi95_pct; /* the headline's change in another session; NAN */
    const char *reason;        /* why something is not known; NULL */
};

/* One precision of the run. */
struct eco_run_arm {
    enum eco_precision precision;
    const char *engine;   /* "transformers", "builtin" … as eco_engine_name; NULL */
    const char *weights;  /* "real", "synthetic"; NULL */
    const char *backend;  /* of the embedded engine: "ecocompute-cpu"; NULL */
    enum eco_basis basis; /* of results: MEASURED only with a power source */
    const char *reason;   /* why results are not measured or null; NULL when measured */
    enum eco_run_level level;
    /* results.*: protocol v1, comparable with the published data */
    double total_energy_j, j_per_token, base_j_per_token, power_mean_w, tokens_per_s;
    int64_t tokens, dropped_samples; /* -1 */
    struct eco_run_delta delta;
    /* ecocompute.*: the same window by the hardware counter, with corrections */
    double counter_j_per_token, base_counter_j_per_token, net_j_per_token, counter_gap_frac;
    double power_peak_w;
    double ttft_s, tpot_mean_s, tpot_p50_s, tpot_p99_s;
    struct eco_run_delta counter_delta;
    struct eco_run_stat energy_stat;  /* j per token over trials, protocol v1 */
    struct eco_run_stat counter_stat; /* the same by the counter */
    struct eco_run_sessions sessions;
    /* decode.*: (E[N tokens] - E[1 token]) / (N - 1) */
    double decode_j_per_token, prefill_j;
    const char *prefill_reason; /* why prefill_j is null; NULL */
    struct eco_run_delta decode_delta;
    struct eco_run_predicted predicted;
    struct eco_run_quality quality;
    const struct eco_run_step *sweep; /* in rising order of what varies; NULL: no sweep */
    size_t sweep_count;
    double batch_crossover; /* batch where the sign of the change flips, between two measured
                               ones; NAN: it does not */
};

struct eco_run_package {
    const char *name, *version;
};

struct eco_run_environment {
    const char *host;          /* "Linux-6.1-x86_64"; never a host name */
    const char *os, *cpu;      /* NULL */
    const char *driver, *cuda; /* NULL */
    const struct eco_run_package *packages;
    size_t package_count;
    double power_limit_w, clock_sm_mhz, clock_mem_mhz; /* NAN */
    int persistence, ecc;                              /* 0, 1, -1: not known */
};

struct eco_run_idle {
    double without_model_w, with_model_w;       /* NAN */
    double observer_power_w, observer_cpu_frac; /* what the sampler itself costs; NAN */
    const char *reason;                         /* why not measured; NULL */
};

/* One check of the preflight, in the order it ran. */
struct eco_run_check {
    const char *name;   /* "memory", "other processes", "sources" */
    const char *status; /* "ok", "warning", "refused", "skipped" */
    const char *detail; /* with numbers and units; NULL */
};

struct eco_run {
    const char *tool_version;                /* "0.1.0" */
    const char *timestamp_utc;               /* "2026-11-30T09:12:31.123Z"; the caller's clock */
    const char *scenario;                    /* "SingleStream" or "Offline" */
    const char *protocol;                    /* "v1" or "custom" */
    const char *const *protocol_differences; /* NULL when v1 */
    size_t protocol_difference_count;
    const char *const *warnings; /* NULL */
    size_t warning_count;
    bool partial;                   /* interrupted: what was measured so far */
    const char *measurement_source; /* "nvml total energy counter", or why nothing was measured */
    const char *method;             /* how the numbers were obtained, in words */
    const char *data_sha256;        /* digest of the data set; 64 hex digits; NULL */
    const char *data_version;       /* NULL */
    uint64_t seed;
    /* system under test */
    const char *gpu_name; /* as the driver or the user says; never NULL */
    /* derived joules of another device than the one that ran: whose they are; NULL: the same */
    const char *predicted_gpu_name;
    enum eco_arch predicted_arch;
    enum eco_arch arch;
    int accelerator_count;
    enum eco_run_boundary boundary;
    /* workload */
    struct eco_model model;
    int batch, context_tokens, prompt_tokens, generated_tokens; /* -1: not known */
    int iterations, warmup, blocks, sample_rate_hz;             /* -1; rate 0: none */
    const struct eco_run_arm *arms; /* the baseline is among them, or is_known by arms' base_* */
    size_t arm_count;
    int baseline_arm; /* index; -1: none */
    const struct eco_run_trial *trials;
    size_t trial_count;
    const struct eco_run_phase *phases;
    size_t phase_count;
    const struct eco_run_source *sources;
    size_t source_count;
    const struct eco_run_check *preflight;
    size_t preflight_count;
    struct eco_run_environment environment;
    struct eco_run_idle idle;
};

void eco_run_init(struct eco_run *run); /* everything "not known", batch 1 */
void eco_run_arm_init(struct eco_run_arm *arm);
void eco_run_step_init(struct eco_run_step *step);
void eco_run_trial_init(struct eco_run_trial *trial);
void eco_run_source_init(struct eco_run_source *source);
void eco_run_phase_init(struct eco_run_phase *phase);
/**
 * Fills the results of an arm that was not measured from `arm->predicted`: energies per token, the
 * change with its 95 % band, and a basis that is interpolated, extrapolated or unavailable, never
 * measured. `why` is what the report gives as the reason (borrowed). Totals stay not known.
 */
void eco_run_arm_fallback(struct eco_run_arm *arm, const char *why);
/* The energy that every output leads with, and the one beside it. */
struct eco_run_headline {
    bool counter; /* by the hardware counter, else protocol v1 (sampled power) */
    double j_per_token, base_j_per_token;
    double other_j_per_token; /* of the other instrument; NAN: there is none */
    const struct eco_run_delta *delta;
    const struct eco_run_stat *stat;
};
/**
 * The one rule, in any unit: the counter leads where it knows the energy, and the change wherever
 * samples know one. NAN: not known.
 */
bool eco_run_counter_leads(double counter_energy, double counter_pct, double sampled_pct);
struct eco_run_headline eco_run_headline(const struct eco_run_arm *arm);
/** The other instrument against the headline, %; NAN. */
double eco_run_cross_check_pct(double energy, double other);
const char *eco_run_boundary_name(enum eco_run_boundary b); /* "gpu-board"; "none" */
const char *eco_run_level_name(enum eco_run_level level);   /* "L0" … "L3" */

#ifdef __cplusplus
}
#endif
#endif
