/* The run functions of the operations: pure ones compute from the tables, native ones use files
 * and devices. ops.c puts them into its rows. */
#ifndef ECO_OPS_RUNS_H
#define ECO_OPS_RUNS_H

#include "steps.h"

#define ECO_RUN(name)                                                                              \
    int eco_##name(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)

/* ops_pure.c, ops_tables.c */
ECO_RUN(run_estimate);
ECO_RUN(run_compare);
ECO_RUN(run_diagnose);
ECO_RUN(run_cost);
ECO_RUN(run_data);
ECO_RUN(run_gpus);
ECO_RUN(run_models);
ECO_RUN(run_version);
bool eco_data_says_no(const void *result); /* `data audit` found an error */
/* ops_optimize.c */
/** The exit status of a result: 4 does not fit, 1 the answer is no, 0. */
int eco_op_status(const struct eco_op *op, const void *result);
#define ECO_ROOM_NAME "GB of the card" /* the budget that a card itself is */
bool eco_estimate_no_fit(const void *result);
bool eco_compare_no_fit(const void *result);
bool eco_cost_no_fit(const void *result);
bool eco_optimize_no_fit(const void *result);
bool eco_ask_no_fit(const void *result);
bool eco_optimize_says_no(const void *result); /* nothing keeps the budgets */
ECO_RUN(run_optimize);
/* ops_services.c */
ECO_RUN(run_mcp);
/* ops_architectures.c */
ECO_RUN(run_architectures);
/** ops_asked.c: runs `verb` with its parameter `q` read into the other parameters. */
int eco_run_asked(struct eco_ctx *ctx, const char *verb, const void *args, void *result,
                  struct eco_err *err);
ECO_RUN(run_serve);
int eco_check_serve(const void *args, struct eco_err *err);
bool eco_serve_says_no(const void *result); /* the helper program is not there */
/* ops_fit.c */
ECO_RUN(run_fit);
/* ops_ask.c */
ECO_RUN(run_ask);
bool eco_ask_says_no(const void *result);
/* ops_report.c */
ECO_RUN(run_report);
bool eco_report_says_no(const void *result); /* compare: two boundaries */
bool eco_replay_says_no(const void *result); /* a folder: a number differs */
/* ops_audit.c */
ECO_RUN(run_audit);
bool eco_audit_says_no(const void *result); /* a finding reaches fail_on */
/* ops_native.c */
ECO_RUN(run_measure);
/* ops_power.c */
ECO_RUN(run_doctor);
/* ops_engine.c */
ECO_RUN(run_engine);
ECO_RUN(run_replay);
/* ops_track.c */
ECO_RUN(run_track);
bool eco_track_says_no(const void *result); /* the command failed */

/** steps_published.c: the published calibration's answer in the result of estimate. */
int eco_step_published(struct eco_ctx *ctx, const struct eco_args_estimate *a,
                       struct eco_res_estimate *out, struct eco_err *err);
/** The whole default answer: shared by estimate, measure and report. */
int eco_step_estimate(struct eco_question *q, struct eco_res_estimate *out, struct eco_err *err);

/** ops_measure.c: `measure` with a workload; without a power source times alone are measured. */
int eco_measure_here(struct eco_ctx *ctx, const struct eco_args_measure *args,
                     struct eco_res_measure *out, struct eco_err *err);
/** measure_plan.c: what generates tokens: as asked for, "builtin" for weights that are here or
 * made up, or NULL. */
const char *eco_measure_workload(const struct eco_args_measure *a);

#endif
