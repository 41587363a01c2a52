/*
 * Inside of `measure` with a workload: what was opened for the run, and the steps of it. Everything
 * opened is closed by eco_measure_done; strings live in the request's arena.
 */
#ifndef ECO_OPS_MEASURE_H
#define ECO_OPS_MEASURE_H

#include "experiment/experiment.h"
#include "experiment/meter_port.h"
#include "fallback.h"
#include "power/power.h"

#define ECO_MEASURE_MAX_CHECKS 16

struct eco_measure {
    struct eco_ctx *ctx;
    const struct eco_args_measure *args; /* as given, or as the resumed run was given them */
    struct eco_res_measure *out;
    struct eco_exp_plan plan;
    struct eco_fallback *known; /* target, and what the data set says */
    const char *dir, *journal, *trace, *log;
    struct eco_power_set *set;
    struct eco_power_source *sources[ECO_METER_MAX_SOURCES];
    size_t source_count;
    struct eco_run_source *rows; /* of all sources, for the report */
    size_t row_count;
    struct eco_meter_port *port;
    struct eco_experiment *experiment;
    struct eco_generator *workload;
    struct eco_run_check checks[ECO_MEASURE_MAX_CHECKS];
    size_t check_count;
    bool contaminated, resumed;
    struct eco_power_state state; /* before anything was loaded */
    struct eco_run run;
};

/** "GPU 0: NVIDIA GeForce RTX 4090" -> the card's own name. */
const char *eco_measure_device(const struct eco_power_source *s);
/** measure_report.c: the run as the experiment and the machine tell it. */
int eco_measure_fill(struct eco_measure *m, struct eco_err *err);
/** Writes energy*.json, chart.svg, crossover.svg, summary.md, and lists them in the result. */
int eco_measure_write(struct eco_measure *m, struct eco_err *err);
/** Verdict, table and notes of the result. */
void eco_measure_answer(struct eco_measure *m);

#endif
