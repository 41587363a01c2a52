/*
 * The experiment: arms in balanced order, each trial with its own idle wait, warm-up and window,
 * kept in a journal as it ends. Reads power through a port (meter_port.c is the real one), so that
 * tests run it on simulated time.
 *
 * Life cycle: new -> (resume) -> run -> summary -> free. One thread. Errors: what the workload or
 * the meter says; finished trials stay in the journal and in memory, and summary still works.
 */
#ifndef ECO_EXPERIMENT_H
#define ECO_EXPERIMENT_H

#include "base/arena.h"
#include "eco_err.h"
#include "eco_run.h"
#include "experiment/order.h"
#include "workload/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_EXP_MAX_ARMS ECO_ORDER_MAX_ARMS
#define ECO_EXP_MIN_WINDOW_S 5.0
#define ECO_EXP_IDLE_S 5.0         /* how long power must have been at its idle */
#define ECO_EXP_IDLE_LIMIT_S 120.0 /* then the trial goes on and says so */
#define ECO_EXP_IDLE_TEMP_C 3.0
#define ECO_EXP_MAX_SWEEP 16
#define ECO_EXP_SEQ_LEN 512 /* of the perplexity's windows */

/* Other batches and power limits to go through, each a run of its own in a folder of its own. */
struct eco_exp_sweep {
    int batch[ECO_EXP_MAX_SWEEP], batch_count; /* rising; 0: only the plan's own */
    double limit_w[ECO_EXP_MAX_SWEEP];         /* rising */
    int limit_count;
};

/** What was asked for; a journal keeps it whole. Strings are borrowed. */
struct eco_exp_plan {
    const char *model;                     /* as the user named it; given to the workload */
    const char *workload;                  /* "worker:CMD", "builtin" */
    const char *gpu;                       /* as named or detected; for --resume */
    const char *source, *device, *profile; /* as asked for; NULL */
    const char *source_sha256; /* from a journal, where `source` is cut: of the whole; NULL */
    const char *corpus;        /* text for perplexity; NULL: none */
    enum eco_precision arms[ECO_EXP_MAX_ARMS]; /* arms[0] is the baseline */
    int arm_count;
    int blocks, iterations, warmup, tokens, prompt_tokens, batch;
    uint64_t seed;
    bool quick, null_run;
    bool decode;      /* measures a window of one-token generations too */
    bool unmetered;   /* no power source: times alone are measured, no block is discarded */
    double limit_w;   /* power limit that was set for this run; 0: as it was found */
    double clock_mhz; /* clock that was locked; 0: as it was found */
    struct eco_exp_sweep sweep; /* of the first run of a sweep; the others have none */
    int64_t started_unix_ms;
};

/* The energy of one window; NAN: not known. */
struct eco_exp_energy {
    double window_s, counter_j, integral_j, v1_j, mean_w, peak_w;
    double gap_frac, resolution_frac; /* resolution: of counter_j, or what a trapezoid misses */
    int64_t samples, dropped;
    bool too_short, withhold;
    char reason[160]; /* why something is NAN; "" */
};

/* The device now; NAN: not known. */
struct eco_exp_now {
    double mean_w, sd_w; /* of the last seconds asked for */
    double temp_c, clock_mhz;
    bool throttled;
};

/* The machine at rest, before anything is loaded; NAN: not known. */
struct eco_exp_rest {
    double idle_w;     /* without the model */
    double observer_w; /* with the sampler on, less with it off: what looking costs */
    char reason[160];  /* why one is not known; "" */
};

/* What the loop needs of a power source. Every function may be called between any two others. */
struct eco_exp_meter {
    int (*begin)(void *self, struct eco_err *err);
    int (*end)(void *self, struct eco_exp_energy *out, struct eco_err *err);
    void (*now)(void *self, double seconds, struct eco_exp_now *out);
    double min_window_s; /* of this sensor; >= ECO_EXP_MIN_WINDOW_S */
    void *self;
    /*
     * A sensor that sees a part of the time only: a window is this many parts, each from a random
     * phase of phase_s on, pauses left out, and end_part gives the sum at the last one. 0: whole.
     */
    int starts;
    double phase_s;
    int (*begin_part)(void *self, struct eco_err *err);
    int (*end_part)(void *self, bool last, struct eco_exp_energy *out, struct eco_err *err);
    /* NULL: not known. About `seconds` twice; ends early where `stop` says so. */
    void (*rest)(void *self, double seconds, bool (*stop)(void *), void *stop_self,
                 struct eco_exp_rest *out);
    /*
     * Looks at the sensor from before a load comes on (look) to its end (seen): its refresh and
     * averaging. seen gives the shortest window that follows. NULL: the table is believed.
     */
    void (*look)(void *self);
    double (*seen)(void *self);
};

/** A meter that knows nothing, for plans that are unmetered. */
struct eco_exp_meter eco_experiment_no_meter(void);

struct eco_exp_clock {
    int64_t (*now_ns)(void *self);
    void (*sleep_ns)(void *self, int64_t ns);
    void *self;
};

/* For the line on a terminal. */
struct eco_exp_progress {
    const char *phase; /* "load", "idle", "warm-up", "prefill", "window" */
    const char *arm;
    int trial, trials;                      /* 1-based, discarded block included */
    double watts_now, tokens_per_s, left_s; /* NAN: not known */
};

/* Everything from outside. NULL functions: the real clock, never stop, no progress. */
struct eco_exp_ports {
    struct eco_exp_meter meter;
    struct eco_exp_clock clock;
    bool (*stop)(void *self);
    void (*progress)(void *self, const struct eco_exp_progress *p);
    void (*trial_done)(void *self); /* after each trial: keep the trace */
    /* Once, after the first warm-up: about how long all that is left takes. */
    void (*estimate)(void *self, double left_s);
    void *self;          /* of the four above */
    const char *journal; /* path of run.jsonl; NULL: none */
};

/* A trial and what the report's struct has no place for. */
struct eco_exp_trial {
    struct eco_run_trial run; /* block 0 is the discarded warm-up block */
    double prefill_j;         /* energy of one one-token generation; NAN */
    double gap_frac, resolution_frac;
    double others_cpu_frac; /* as in eco_workload_result; NAN: of a journal that has none */
    bool withhold;
    int starts; /* random starts that its window was made of; 1: a whole one */
    double start_s, window_start_s, window_end_s, end_s; /* since the run was started */
};

struct eco_experiment;

int eco_experiment_new(const struct eco_exp_plan *plan, const struct eco_exp_ports *ports,
                       struct eco_experiment **out, struct eco_err *err);
void eco_experiment_free(struct eco_experiment *x); /* accepts NULL */
/** For the workload: looks at sensors and passes on the wish to stop. */
struct eco_workload_hooks eco_experiment_hooks(struct eco_experiment *x);

/**
 * What a journal keeps of a source: a command may hold a password, a path a user's name. "nvml" as
 * it is; "exec:", "csv:meter.csv". True where something is left out; then `digest` is of the whole.
 */
bool eco_experiment_source_kept(const char *source, char kept[64], char digest[65]);
/** Reads the plan that a journal was started with. Strings are put into `arena`. */
int eco_experiment_read_plan(const char *journal, struct eco_arena *arena, struct eco_exp_plan *out,
                             struct eco_err *err);
/** True for a journal whose first line never got to the disk: no run is in it. */
bool eco_experiment_nothing_in(const char *journal);
/** Takes over the finished trials of ports.journal and cuts off a torn last line. */
int eco_experiment_resume(struct eco_experiment *x, struct eco_err *err);
bool eco_experiment_torn(const struct eco_experiment *x); /* it did cut one off */
/**
 * Runs what is left. 0: all trials are there, or the user stopped (eco_experiment_partial).
 * On an error finished trials are kept, and partial is true.
 */
int eco_experiment_run(struct eco_experiment *x, struct eco_generator *w, struct eco_err *err);
/**
 * Perplexity of each arm on the plan's corpus, after the last window; what was done before is taken
 * from the journal. A workload's failure is the arm's reason and no error. When the user stops it
 * the run is partial.
 */
int eco_experiment_quality(struct eco_experiment *x, struct eco_generator *w, struct eco_err *err);
/** Zero of all times of this run, on the monotonic clock. */
int64_t eco_experiment_start_ns(const struct eco_experiment *x);
bool eco_experiment_partial(const struct eco_experiment *x);
size_t eco_experiment_trials(const struct eco_experiment *x, const struct eco_exp_trial **out);
/** Trials in all, the discarded block included. */
size_t eco_experiment_planned(const struct eco_experiment *x);

/**
 * Fills what the experiment knows of a run: arms, trials, phases, statistics, protocol, warnings.
 * Everything lives in `arena`; the rest of `run` (card, model, sources, environment) is the
 * caller's.
 */
int eco_experiment_summary(const struct eco_experiment *x, struct eco_arena *arena,
                           struct eco_run *run, struct eco_err *err);

/* ---- preflight ------------------------------------------------------------------------------ */

/* What the checks look at; NAN and -1: not known. */
struct eco_exp_machine {
    double memory_free_bytes, memory_total_bytes;
    int64_t other_processes;
    const char *process_list; /* "pid 123 (4.1 GB), …"; NULL */
    bool shared;
    const char *source_name;
    /* What an arm needs where the workload can say so exactly; NULL: from the model's shape. */
    int (*need_bytes)(void *self, enum eco_precision p, double *bytes, struct eco_err *err);
    void *self;
};

/**
 * Memory of every arm from the real shape plus 5 %, other processes, sharing. What does not fit is
 * refused with the bytes and with what would fit: a precision of this model, the largest model of
 * its family, a size. Returns the number of checks (<= cap) in `out`; ECO_E_DEVICE through `err`
 * and a negative count when one refuses and `force` is false. `*contaminated`: a refusal was
 * overruled.
 */
int eco_experiment_preflight(const struct eco_exp_plan *plan, const struct eco_model *model,
                             const struct eco_exp_machine *m, bool force, struct eco_arena *arena,
                             struct eco_run_check *out, size_t cap, bool *contaminated,
                             struct eco_err *err);

#endif
