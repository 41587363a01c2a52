/*
 * The result structs, generated from records/rec_<record>.def; records.c makes the tables that the
 * JSON writer, the CSV writer and the schemas read from the same files. Order: parts first.
 */
#ifndef ECO_OPS_RECORDS_H
#define ECO_OPS_RECORDS_H

#include "op.h"

#define R(name, type, unit, help) eco_rtype_##type name;
#define RO(name, sub, help) struct eco_res_##sub name;
#define RM(name, sub, help) const struct eco_res_##sub *name;
#define RL(name, sub, help) struct eco_list name;
#define RX(name) const void *name;                     /* for views only: no row in the table */
#define RS(name, sub, help) struct eco_res_##sub name; /* absent members are left out */
#define RA(name, help) struct eco_any name;            /* another operation's result */
#define RN(name, sub, help) const struct eco_res_##sub *name; /* NULL: left out */

struct eco_res_band {
#include "records/rec_band.def"
};
struct eco_res_input {
#include "records/rec_input.def"
};
struct eco_res_anchor {
#include "records/rec_anchor.def"
};
struct eco_res_energy {
#include "records/rec_energy.def"
};
struct eco_res_latency {
#include "records/rec_latency.def"
};
struct eco_res_memory {
#include "records/rec_memory.def"
};
struct eco_res_alert {
#include "records/rec_alert.def"
};
struct eco_res_amount {
#include "records/rec_amount.def"
};
struct eco_res_bill {
#include "records/rec_bill.def"
};
struct eco_res_provenance {
#include "records/rec_provenance.def"
};
struct eco_res_evidence {
#include "records/rec_evidence.def"
};
struct eco_res_transparency {
#include "records/rec_transparency.def"
};
struct eco_res_estimate {
#include "records/rec_estimate.def"
};
struct eco_res_versus {
#include "records/rec_versus.def"
};
struct eco_res_known {
#include "records/rec_known.def"
};
struct eco_res_config {
#include "records/rec_config.def"
};
struct eco_res_optimize_basis {
#include "records/rec_optimize_basis.def"
};
struct eco_res_left_out {
#include "records/rec_left_out.def"
};
struct eco_res_miss {
#include "records/rec_miss.def"
};
struct eco_res_optimize {
#include "records/rec_optimize.def"
};
struct eco_res_compare_row {
#include "records/rec_compare_row.def"
};
struct eco_res_rival {
#include "records/rec_rival.def"
};
struct eco_res_compare {
#include "records/rec_compare.def"
};
struct eco_res_pattern {
#include "records/rec_pattern.def"
};
struct eco_res_fix {
#include "records/rec_fix.def"
};
struct eco_res_improvement {
#include "records/rec_improvement.def"
};
struct eco_res_diagnose {
#include "records/rec_diagnose.def"
};
struct eco_res_cost_option {
#include "records/rec_cost_option.def"
};
struct eco_res_cost {
#include "records/rec_cost.def"
};
struct eco_res_data_row {
#include "records/rec_data_row.def"
};
struct eco_res_finding {
#include "records/rec_finding.def"
};
struct eco_res_data {
#include "records/rec_data.def"
};
struct eco_res_gpu {
#include "records/rec_gpu.def"
};
struct eco_res_gpus {
#include "records/rec_gpus.def"
};
struct eco_res_model_row {
#include "records/rec_model_row.def"
};
struct eco_res_models {
#include "records/rec_models.def"
};
struct eco_res_issue {
#include "records/rec_issue.def"
};
struct eco_res_point {
#include "records/rec_point.def"
};
struct eco_res_report_row {
#include "records/rec_report_row.def"
};
struct eco_res_report_aspect {
#include "records/rec_report_aspect.def"
};
struct eco_res_import_row {
#include "records/rec_import_row.def"
};
struct eco_res_report {
#include "records/rec_report.def"
};
struct eco_res_ask_params {
#include "records/rec_ask_params.def"
};
struct eco_res_ask_size {
#include "records/rec_ask_size.def"
};
struct eco_res_ask_card {
#include "records/rec_ask_card.def"
};
struct eco_res_ask {
#include "records/rec_ask.def"
};
struct eco_res_measured {
#include "records/rec_measured.def"
};
struct eco_res_source {
#include "records/rec_source.def"
};
struct eco_res_measure {
#include "records/rec_measure.def"
};
struct eco_res_probe {
#include "records/rec_probe.def"
};
struct eco_res_replay_trial {
#include "records/rec_replay_trial.def"
};
struct eco_res_replay {
#include "records/rec_replay.def"
};
struct eco_res_track_row {
#include "records/rec_track_row.def"
};
struct eco_res_track {
#include "records/rec_track.def"
};
struct eco_res_engine_arm {
#include "records/rec_engine_arm.def"
};
struct eco_res_engine {
#include "records/rec_engine.def"
};
struct eco_res_doctor {
#include "records/rec_doctor.def"
};
struct eco_res_digest {
#include "records/rec_digest.def"
};
#include "records/structs_services.def"
struct eco_res_version {
#include "records/rec_version.def"
};
struct eco_res_stats {
#include "records/rec_stats.def"
};
struct eco_res_check_anchors {
#include "records/rec_check_anchors.def"
};
struct eco_res_check_all {
#include "records/rec_check_all.def"
};
struct eco_res_check_published {
#include "records/rec_check_published.def"
};
struct eco_res_sensitivity {
#include "records/rec_sensitivity.def"
};
struct eco_res_check_ecocompute {
#include "records/rec_check_ecocompute.def"
};
struct eco_res_curve {
#include "records/rec_curve.def"
};
struct eco_res_hyper {
#include "records/rec_hyper.def"
};
struct eco_res_fit {
#include "records/rec_fit.def"
};

struct eco_res_audit_finding {
#include "records/rec_audit_finding.def"
};
struct eco_res_audit_skip {
#include "records/rec_audit_skip.def"
};
struct eco_res_practice {
#include "records/rec_practice.def"
};
struct eco_res_audit {
#include "records/rec_audit.def"
};

#undef R
#undef RO
#undef RM
#undef RL
#undef RX
#undef RS
#undef RA
#undef RN

extern const struct eco_record eco_rec_band, eco_rec_input, eco_rec_anchor, eco_rec_energy;
extern const struct eco_record eco_rec_latency, eco_rec_memory, eco_rec_alert, eco_rec_amount;
extern const struct eco_record eco_rec_bill, eco_rec_provenance, eco_rec_evidence;
extern const struct eco_record eco_rec_transparency, eco_rec_estimate, eco_rec_versus;
extern const struct eco_record eco_rec_config, eco_rec_optimize_basis, eco_rec_left_out;
extern const struct eco_record eco_rec_miss, eco_rec_known;
extern const struct eco_record eco_rec_optimize, eco_rec_compare_row, eco_rec_rival;
extern const struct eco_record eco_rec_compare, eco_rec_pattern, eco_rec_fix, eco_rec_improvement;
extern const struct eco_record eco_rec_diagnose, eco_rec_cost_option, eco_rec_cost;
extern const struct eco_record eco_rec_data_row, eco_rec_finding, eco_rec_data, eco_rec_gpu;
extern const struct eco_record eco_rec_gpus, eco_rec_model_row, eco_rec_models;
extern const struct eco_record eco_rec_issue;
extern const struct eco_record eco_rec_point;
extern const struct eco_record eco_rec_report_row;
extern const struct eco_record eco_rec_report_aspect;
extern const struct eco_record eco_rec_import_row;
extern const struct eco_record eco_rec_report;
extern const struct eco_record eco_rec_ask_params;
extern const struct eco_record eco_rec_ask_size;
extern const struct eco_record eco_rec_ask_card;
extern const struct eco_record eco_rec_ask;
extern const struct eco_record eco_rec_measured;
extern const struct eco_record eco_rec_source;
extern const struct eco_record eco_rec_measure;
extern const struct eco_record eco_rec_probe;
extern const struct eco_record eco_rec_replay_trial;
extern const struct eco_record eco_rec_replay;
extern const struct eco_record eco_rec_track_row;
extern const struct eco_record eco_rec_track;
extern const struct eco_record eco_rec_doctor;
extern const struct eco_record eco_rec_engine_arm, eco_rec_engine;
extern const struct eco_record eco_rec_digest;
extern const struct eco_record eco_rec_version;
extern const struct eco_record eco_rec_stats;
extern const struct eco_record eco_rec_check_anchors;
extern const struct eco_record eco_rec_check_all;
extern const struct eco_record eco_rec_check_published;
extern const struct eco_record eco_rec_sensitivity;
extern const struct eco_record eco_rec_check_ecocompute;
extern const struct eco_record eco_rec_curve;
extern const struct eco_record eco_rec_hyper;
extern const struct eco_record eco_rec_fit;
extern const struct eco_record eco_rec_audit_finding;
extern const struct eco_record eco_rec_audit_skip;
extern const struct eco_record eco_rec_practice;
extern const struct eco_record eco_rec_audit;

#endif
