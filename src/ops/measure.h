/*
 * Inside of `measure` with a workload: what was opened for the run, and the steps of it. One
 * struct eco_measure is one condition (a batch, a power limit); a sweep goes through several.
 * Everything opened is closed at the end; strings live in the request's arena.
 */
#ifndef ECO_OPS_MEASURE_H
#define ECO_OPS_MEASURE_H

#include "experiment/experiment.h"
#include "experiment/meter_port.h"
#include "fallback.h"
#include "power/power.h"

#define ECO_MEASURE_MAX_CHECKS 16
#define ECO_MEASURE_MAX_CONDITIONS (ECO_EXP_MAX_SWEEP * ECO_EXP_MAX_SWEEP)

struct eco_guard;

/* What all conditions share. */
struct eco_measure_all {
    struct eco_ctx *ctx;
    const struct eco_args_measure *args; /* as given, or as the resumed run was given them */
    struct eco_res_measure *out;
    const char *root;
    struct eco_exp_plan plan; /* of the first condition, with the sweep in it */
    struct eco_power_set *set;
    struct eco_power_source *sources[ECO_METER_MAX_SOURCES];
    size_t source_count;
    const char *why_none;        /* why there is no source; NULL: there is */
    const char *visible;         /* for the worker: CUDA_VISIBLE_DEVICES; NULL: as it is */
    const char *card_note;       /* which of several cards was taken; NULL */
    struct eco_run_source *rows; /* of all sources, for the report */
    size_t row_count;
    const struct eco_sensor *profile;
    struct eco_guard *guard; /* puts limits and clocks back; NULL: none is changed */
    double limit_before_w[ECO_METER_MAX_SOURCES];
    bool noted;                       /* the guard knows what was there before */
    struct eco_res_measured *answers; /* rows of the result */
    size_t answer_count;
    struct eco_run_step *steps[ECO_EXP_MAX_ARMS];
    size_t step_count; /* of each arm */
    const char **files;
    size_t file_count;
};

struct eco_measure {
    struct eco_measure_all *all;
    struct eco_ctx *ctx;
    struct eco_exp_plan plan;
    struct eco_fallback *known;  /* target, and what the data set says */
    struct eco_run_arm *derived; /* of each arm: what the data set says */
    const char *dir, *journal, *trace, *log;
    struct eco_meter_port *port; /* NULL: nothing to meter with */
    struct eco_experiment *experiment;
    struct eco_generator *workload;
    struct eco_run_check checks[ECO_MEASURE_MAX_CHECKS];
    size_t check_count;
    bool contaminated, resumed, overwrite;
    bool trace_torn;              /* said once */
    struct eco_power_state state; /* before anything was loaded */
    struct eco_run run;
};

/* ---- measure_plan.c: what is asked for ------------------------------------------------------- */

int eco_measure_plan(struct eco_measure_all *all, struct eco_err *err);
/** The plan of the run that is resumed; `a` gets what it was asked with. */
int eco_measure_resumed_plan(struct eco_measure_all *all, struct eco_args_measure *a,
                             struct eco_err *err);
/** Blocks of a new plan, once it is known whether anything can be metered. */
void eco_measure_blocks(struct eco_measure_all *all);
size_t eco_measure_conditions(const struct eco_exp_plan *p);
/** The plan and the folder of condition i; the first is the root's own. */
int eco_measure_condition(struct eco_measure_all *all, size_t i, struct eco_measure *m,
                          struct eco_err *err);
/** At least how long one condition takes, in seconds; loading and waiting for rest come on top. */
double eco_measure_least_s(const struct eco_exp_plan *p, double min_window_s);

/* ---- measure_power.c: what is measured with -------------------------------------------------- */

int eco_measure_open_sources(struct eco_measure_all *all, struct eco_err *err);
/** "GPU 0: NVIDIA GeForce RTX 4090" -> the card's own name. */
const char *eco_measure_device(const struct eco_power_source *s);
int eco_measure_preflight(struct eco_measure *m, struct eco_err *err);
/** Power limit and clock of the plan, read back; the guard puts them back whatever happens. */
int eco_measure_set(struct eco_measure *m, struct eco_err *err);
/** Puts limits and clocks back; a warning where that fails. */
void eco_measure_restore(struct eco_measure_all *all);

/* ---- measure_report.c: the run as the experiment and the machine tell it --------------------- */

int eco_measure_fill(struct eco_measure *m, struct eco_err *err);
/** Writes energy*.json, chart.svg, crossover.svg, summary.md, and remembers them. */
int eco_measure_write(struct eco_measure *m, struct eco_err *err);
/** The reports alone, over those of a moment ago. */
int eco_measure_rewrite(struct eco_measure *m, struct eco_err *err);

/* ---- measure_answer.c: what is said ---------------------------------------------------------- */

/** What another session would show, into the arms; in fill. */
void eco_measure_sessions(struct eco_measure *m, struct eco_run_arm *arms);
/** Rows of the result and steps of the sweep; after fill. */
int eco_measure_rows(struct eco_measure *m, struct eco_err *err);
/** A condition that could not be measured. */
int eco_measure_no_row(struct eco_measure *m, const char *why, struct eco_err *err);
/** The sweep, into the arms of the first condition's run. */
int eco_measure_sweep(struct eco_measure *m, struct eco_err *err);
/** Verdict and notes of the result, from the first condition. */
void eco_measure_answer(struct eco_measure *m);

#endif
