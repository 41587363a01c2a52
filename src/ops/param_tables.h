/*
 * The parameter tables, from the same args/args_<operation>.def files as the structs of params.h.
 * Included by ops.c alone.
 */
#ifndef ECO_OPS_PARAM_TABLES_H
#define ECO_OPS_PARAM_TABLES_H

#include "params.h"

#define P(name, type, def, lo, hi, unit, choices, alias, flags, help)                              \
    {#name, ECO_T_##type, def, lo, hi, unit, choices, alias, flags, help, offsetof(ARGS, name)},
#define G(group, name, type, def, lo, hi, unit, choices, alias, flags, help)                       \
    {#name,                                                                                        \
     ECO_T_##type,                                                                                 \
     def,                                                                                          \
     lo,                                                                                           \
     hi,                                                                                           \
     unit,                                                                                         \
     choices,                                                                                      \
     alias,                                                                                        \
     flags,                                                                                        \
     help,                                                                                         \
     offsetof(ARGS, group.name)},
#define GROUP(group)

#define ARGS struct eco_args_estimate
static const struct eco_param params_estimate[] = {
#include "args/args_estimate.def"
};
#undef ARGS

#define ARGS struct eco_args_optimize
static const struct eco_param params_optimize[] = {
#include "args/args_optimize.def"
};
#undef ARGS

#define ARGS struct eco_args_compare
static const struct eco_param params_compare[] = {
#include "args/args_compare.def"
};
#undef ARGS

#define ARGS struct eco_args_diagnose
static const struct eco_param params_diagnose[] = {
#include "args/args_diagnose.def"
};
#undef ARGS

#define ARGS struct eco_args_cost
static const struct eco_param params_cost[] = {
#include "args/args_cost.def"
};
#undef ARGS

#define ARGS struct eco_args_fit
static const struct eco_param params_fit[] = {
#include "args/args_fit.def"
};
#undef ARGS

#define ARGS struct eco_args_data
static const struct eco_param params_data[] = {
#include "args/args_data.def"
};
#undef ARGS

#define ARGS struct eco_args_gpus
static const struct eco_param params_gpus[] = {
#include "args/args_gpus.def"
};
#undef ARGS

#define ARGS struct eco_args_models
static const struct eco_param params_models[] = {
#include "args/args_models.def"
};
#undef ARGS

#define ARGS struct eco_args_report
static const struct eco_param params_report[] = {
#include "args/args_report.def"
};
#undef ARGS

#define ARGS struct eco_args_measure
static const struct eco_param params_measure[] = {
#include "args/args_measure.def"
};
#undef ARGS

#define ARGS struct eco_args_doctor
static const struct eco_param params_doctor[] = {
#include "args/args_doctor.def"
};
#undef ARGS

#define ARGS struct eco_args_ask
static const struct eco_param params_ask[] = {
#include "args/args_ask.def"
};
#undef ARGS

#define ARGS struct eco_args_replay
static const struct eco_param params_replay[] = {
#include "args/args_replay.def"
};
#undef ARGS

#define ARGS struct eco_args_track
static const struct eco_param params_track[] = {
#include "args/args_track.def"
};
#undef ARGS

#define ARGS struct eco_args_engine
static const struct eco_param params_engine[] = {
#include "args/args_engine.def"
};
#undef ARGS

#define ARGS struct eco_args_architectures
static const struct eco_param params_architectures[] = {
#include "args/args_architectures.def"
};
#undef ARGS

#define ARGS struct eco_args_mcp
static const struct eco_param params_mcp[] = {
#include "args/args_mcp.def"
};
#undef ARGS

#define ARGS struct eco_args_serve
static const struct eco_param params_serve[] = {
#include "args/args_serve.def"
};
#undef ARGS

#define ARGS struct eco_args_version
static const struct eco_param params_version[] = {
#include "args/args_version.def"
};
#undef ARGS

#define ARGS struct eco_args_audit
static const struct eco_param params_audit[] = {
#include "args/args_audit.def"
};
#undef ARGS

#undef P
#undef G
#undef GROUP

#endif
