/*
 * The argument structs, one an operation, generated from args/args_<operation>.def; groups that
 * several operations share are structs of their own. param_tables.h makes the tables that
 * interfaces read from the same files.
 */
#ifndef ECO_OPS_PARAMS_H
#define ECO_OPS_PARAMS_H

#include "eco_limits.h"
#include "op.h"

#define G(group, name, type, ...) eco_ctype_##type name;
struct eco_args_target {
#include "args/params_target.def"
};
struct eco_args_load {
#include "args/params_load.def"
};
struct eco_args_money {
#include "args/params_money.def"
};
struct eco_args_risk {
#include "args/params_risk.def"
};
struct eco_args_voice {
#include "args/params_voice.def"
};
#undef G

#define G(group, name, type, ...)
#define GROUP(group) struct eco_args_##group group;
#define P(name, type, ...) eco_ctype_##type name;
struct eco_args_estimate {
    struct eco_args_head head;
#include "args/args_estimate.def"
};
struct eco_args_optimize {
    struct eco_args_head head;
#include "args/args_optimize.def"
};
struct eco_args_compare {
    struct eco_args_head head;
#include "args/args_compare.def"
};
struct eco_args_diagnose {
    struct eco_args_head head;
#include "args/args_diagnose.def"
};
struct eco_args_cost {
    struct eco_args_head head;
#include "args/args_cost.def"
};
struct eco_args_fit {
    struct eco_args_head head;
#include "args/args_fit.def"
};
struct eco_args_data {
    struct eco_args_head head;
#include "args/args_data.def"
};
struct eco_args_gpus {
    struct eco_args_head head;
#include "args/args_gpus.def"
};
struct eco_args_models {
    struct eco_args_head head;
#include "args/args_models.def"
};
struct eco_args_report {
    struct eco_args_head head;
#include "args/args_report.def"
};
struct eco_args_measure {
    struct eco_args_head head;
#include "args/args_measure.def"
};
struct eco_args_doctor {
    struct eco_args_head head;
#include "args/args_doctor.def"
};
struct eco_args_ask {
    struct eco_args_head head;
#include "args/args_ask.def"
};
struct eco_args_replay {
    struct eco_args_head head;
#include "args/args_replay.def"
};
struct eco_args_track {
    struct eco_args_head head;
#include "args/args_track.def"
};
struct eco_args_engine {
    struct eco_args_head head;
#include "args/args_engine.def"
};
struct eco_args_architectures {
    struct eco_args_head head;
#include "args/args_architectures.def"
};
struct eco_args_mcp {
    struct eco_args_head head;
#include "args/args_mcp.def"
};
struct eco_args_serve {
    struct eco_args_head head;
#include "args/args_serve.def"
};
struct eco_args_version {
    struct eco_args_head head;
#include "args/args_version.def"
};
struct eco_args_audit {
    struct eco_args_head head;
#include "args/args_audit.def"
};
#undef P
#undef G
#undef GROUP

#endif
