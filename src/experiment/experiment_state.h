/* Inside of an experiment, for the files of this folder: state, and the steps of a trial. */
#ifndef ECO_EXPERIMENT_STATE_H
#define ECO_EXPERIMENT_STATE_H

#include "experiment/experiment.h"
#include "experiment/journal.h"

#define ECO_EXP_MAX_TRIALS (2 * ECO_EXP_MAX_ARMS * (ECO_ORDER_MAX_BLOCKS + 1)) /* one repeat each */

/* What the sensors said once a second while a window ran. */
struct eco_exp_watch {
    int64_t next_ns;
    double clock_sum_mhz;
    int clocks;
    double temp_c;
    bool throttled;
};

/* The steady part of a window with several streams, metered by itself. */
struct eco_exp_steady {
    bool begun, ended;
    int rc; /* of the meter */
    double edges_s[2];
    struct eco_exp_energy energy;
};

struct eco_experiment {
    struct eco_exp_plan plan;
    struct eco_exp_ports ports;
    int order[ECO_EXP_MAX_ARMS * (ECO_ORDER_MAX_BLOCKS + 1)]; /* block 0 is the discarded one */
    bool balanced;
    struct eco_journal_idle idle[ECO_EXP_MAX_ARMS]; /* mean_w NAN: not known yet */
    double warm_temp_c;                             /* of the first trial that counts; NAN */
    struct eco_exp_trial *trials;                   /* in the order they ended */
    size_t trial_count, trial_room;
    bool repeated[ECO_EXP_MAX_ARMS * (ECO_ORDER_MAX_BLOCKS + 1)]; /* a throttled trial, once */
    bool partial, resumed;
    bool torn; /* the journal's last line was cut off */
    struct eco_exp_rest rest;
    bool rested, looked, estimated;
    struct eco_journal_quality quality[ECO_EXP_MAX_ARMS];
    int64_t start_ns; /* on the ports' clock: when the run was started, resumes taken out */
    struct eco_exp_watch watch;
    struct eco_exp_steady steady;
    /* of the arm that is loaded: kept for the report, copied */
    struct eco_workload_loaded loaded[ECO_EXP_MAX_ARMS];
    struct eco_arena strings; /* of loaded */
    const char *phase;
    int slot_shown;
    double tokens_per_s; /* of the last window; NAN */
};

int64_t eco_exp_now_ns(const struct eco_experiment *x);
void eco_exp_sleep(const struct eco_experiment *x, double seconds);
bool eco_exp_stop(const struct eco_experiment *x);
void eco_exp_show(struct eco_experiment *x, const char *phase, int slot);
double eco_exp_since_start_s(const struct eco_experiment *x);
/** First slot that is run: the discarded block is left out where nothing is metered. */
int eco_exp_first_slot(const struct eco_experiment *x);
int eco_exp_load(struct eco_experiment *x, struct eco_generator *w, int arm, struct eco_err *err);
/** experiment_window.c: the workload's hook for the edges of its steady state. */
void eco_exp_edge(void *experiment, bool end);
/** Warm-up, one-token window, window. *stopped: nothing is kept. */
int eco_exp_measure(struct eco_experiment *x, struct eco_generator *w, int slot,
                    struct eco_exp_trial *t, bool *stopped, struct eco_err *err);
/** The machine at rest, once; the journal keeps it. */
int eco_exp_rest(struct eco_experiment *x, struct eco_err *err);
/**
 * Waits until power is at the arm's idle and the temperature near that of the first trial; learns
 * both where they are not known. Fills the trial's idle_* and temp_start_c. Ends early on stop.
 */
int eco_exp_wait_idle(struct eco_experiment *x, int arm, int slot, struct eco_exp_trial *t,
                      struct eco_err *err);

#endif
