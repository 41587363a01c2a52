/*
 * The result tables, from the same records/rec_<record>.def files as the structs of records.h.
 */
#include "records.h"

#define R(name, type, unit, help)                                                                  \
    {ECO_FIELD_NAME(name), ECO_F_##type, offsetof(REC, name), unit, help, NULL},
#define RX(name)
#define RS(name, sub, help)                                                                        \
    {ECO_FIELD_NAME(name), ECO_F_SPARSE, offsetof(REC, name), "", help, &eco_rec_##sub},
#define RA(name, help) {ECO_FIELD_NAME(name), ECO_F_ANY, offsetof(REC, name), "", help, NULL},
#define RO(name, sub, help)                                                                        \
    {ECO_FIELD_NAME(name), ECO_F_OBJ, offsetof(REC, name), "", help, &eco_rec_##sub},
#define RM(name, sub, help)                                                                        \
    {ECO_FIELD_NAME(name), ECO_F_MAYBE, offsetof(REC, name), "", help, &eco_rec_##sub},
#define RN(name, sub, help)                                                                        \
    {ECO_FIELD_NAME(name), ECO_F_EXTRA, offsetof(REC, name), "", help, &eco_rec_##sub},
#define RL(name, sub, help)                                                                        \
    {ECO_FIELD_NAME(name), ECO_F_LIST, offsetof(REC, name), "", help, &eco_rec_##sub},

#define REC struct eco_res_band
static const struct eco_field fields_band[] = {
#include "records/rec_band.def"
};
#undef REC
const struct eco_record eco_rec_band = {"Band", fields_band, ECO_COUNT(fields_band),
                                        sizeof(struct eco_res_band), NULL};

#define REC struct eco_res_input
static const struct eco_field fields_input[] = {
#include "records/rec_input.def"
};
#undef REC
const struct eco_record eco_rec_input = {"Input", fields_input, ECO_COUNT(fields_input),
                                         sizeof(struct eco_res_input), NULL};

#define REC struct eco_res_anchor
static const struct eco_field fields_anchor[] = {
#include "records/rec_anchor.def"
};
#undef REC
const struct eco_record eco_rec_anchor = {"Anchor", fields_anchor, ECO_COUNT(fields_anchor),
                                          sizeof(struct eco_res_anchor), NULL};

#define REC struct eco_res_energy
static const struct eco_field fields_energy[] = {
#include "records/rec_energy.def"
};
#undef REC
const struct eco_record eco_rec_energy = {"Energy", fields_energy, ECO_COUNT(fields_energy),
                                          sizeof(struct eco_res_energy), NULL};

#define REC struct eco_res_latency
static const struct eco_field fields_latency[] = {
#include "records/rec_latency.def"
};
#undef REC
const struct eco_record eco_rec_latency = {"Latency", fields_latency, ECO_COUNT(fields_latency),
                                           sizeof(struct eco_res_latency), NULL};

#define REC struct eco_res_memory
static const struct eco_field fields_memory[] = {
#include "records/rec_memory.def"
};
#undef REC
const struct eco_record eco_rec_memory = {"Memory", fields_memory, ECO_COUNT(fields_memory),
                                          sizeof(struct eco_res_memory), NULL};

#define REC struct eco_res_alert
static const struct eco_field fields_alert[] = {
#include "records/rec_alert.def"
};
#undef REC
const struct eco_record eco_rec_alert = {"Alert", fields_alert, ECO_COUNT(fields_alert),
                                         sizeof(struct eco_res_alert), NULL};

#define REC struct eco_res_amount
static const struct eco_field fields_amount[] = {
#include "records/rec_amount.def"
};
#undef REC
const struct eco_record eco_rec_amount = {"Amount", fields_amount, ECO_COUNT(fields_amount),
                                          sizeof(struct eco_res_amount), NULL};

#define REC struct eco_res_bill
static const struct eco_field fields_bill[] = {
#include "records/rec_bill.def"
};
#undef REC
const struct eco_record eco_rec_bill = {"Bill", fields_bill, ECO_COUNT(fields_bill),
                                        sizeof(struct eco_res_bill), NULL};

#define REC struct eco_res_provenance
static const struct eco_field fields_provenance[] = {
#include "records/rec_provenance.def"
};
#undef REC
const struct eco_record eco_rec_provenance = {"Provenance", fields_provenance,
                                              ECO_COUNT(fields_provenance),
                                              sizeof(struct eco_res_provenance), NULL};

#define REC struct eco_res_evidence
static const struct eco_field fields_evidence[] = {
#include "records/rec_evidence.def"
};
#undef REC
const struct eco_record eco_rec_evidence = {"Evidence", fields_evidence, ECO_COUNT(fields_evidence),
                                            sizeof(struct eco_res_evidence), NULL};

#define REC struct eco_res_transparency
static const struct eco_field fields_transparency[] = {
#include "records/rec_transparency.def"
};
#undef REC
const struct eco_record eco_rec_transparency = {"Transparency", fields_transparency,
                                                ECO_COUNT(fields_transparency),
                                                sizeof(struct eco_res_transparency), NULL};

#define REC struct eco_res_estimate
static const struct eco_field fields_estimate[] = {
#include "records/rec_estimate.def"
};
#undef REC
const struct eco_record eco_rec_estimate = {"Estimate", fields_estimate, ECO_COUNT(fields_estimate),
                                            sizeof(struct eco_res_estimate), NULL};

#define REC struct eco_res_versus
static const struct eco_field fields_versus[] = {
#include "records/rec_versus.def"
};
#undef REC
const struct eco_record eco_rec_versus = {"Versus", fields_versus, ECO_COUNT(fields_versus),
                                          sizeof(struct eco_res_versus), NULL};

#define REC struct eco_res_known
static const struct eco_field fields_known[] = {
#include "records/rec_known.def"
};
#undef REC
const struct eco_record eco_rec_known = {"Known", fields_known, ECO_COUNT(fields_known),
                                         sizeof(struct eco_res_known), NULL};

#define REC struct eco_res_config
static const struct eco_field fields_config[] = {
#include "records/rec_config.def"
};
#undef REC
const struct eco_record eco_rec_config = {"Configuration", fields_config, ECO_COUNT(fields_config),
                                          sizeof(struct eco_res_config), NULL};

#define REC struct eco_res_optimize_basis
static const struct eco_field fields_optimize_basis[] = {
#include "records/rec_optimize_basis.def"
};
#undef REC
const struct eco_record eco_rec_optimize_basis = {"OptimizeBasis", fields_optimize_basis,
                                                  ECO_COUNT(fields_optimize_basis),
                                                  sizeof(struct eco_res_optimize_basis), NULL};

#define REC struct eco_res_miss
static const struct eco_field fields_miss[] = {
#include "records/rec_miss.def"
};
#undef REC
const struct eco_record eco_rec_miss = {"BudgetMiss", fields_miss, ECO_COUNT(fields_miss),
                                        sizeof(struct eco_res_miss), NULL};

#define REC struct eco_res_left_out
static const struct eco_field fields_left_out[] = {
#include "records/rec_left_out.def"
};
#undef REC
const struct eco_record eco_rec_left_out = {"LeftOut", fields_left_out, ECO_COUNT(fields_left_out),
                                            sizeof(struct eco_res_left_out), NULL};

#define REC struct eco_res_optimize
static const struct eco_field fields_optimize[] = {
#include "records/rec_optimize.def"
};
#undef REC
const struct eco_record eco_rec_optimize = {"Optimize", fields_optimize, ECO_COUNT(fields_optimize),
                                            sizeof(struct eco_res_optimize), "alternatives"};

#define REC struct eco_res_compare_row
static const struct eco_field fields_compare_row[] = {
#include "records/rec_compare_row.def"
};
#undef REC
const struct eco_record eco_rec_compare_row = {"CompareRow", fields_compare_row,
                                               ECO_COUNT(fields_compare_row),
                                               sizeof(struct eco_res_compare_row), NULL};

#define REC struct eco_res_rival
static const struct eco_field fields_rival[] = {
#include "records/rec_rival.def"
};
#undef REC
const struct eco_record eco_rec_rival = {"Rival", fields_rival, ECO_COUNT(fields_rival),
                                         sizeof(struct eco_res_rival), NULL};

#define REC struct eco_res_compare
static const struct eco_field fields_compare[] = {
#include "records/rec_compare.def"
};
#undef REC
const struct eco_record eco_rec_compare = {"Compare", fields_compare, ECO_COUNT(fields_compare),
                                           sizeof(struct eco_res_compare), "rows"};

#define REC struct eco_res_pattern
static const struct eco_field fields_pattern[] = {
#include "records/rec_pattern.def"
};
#undef REC
const struct eco_record eco_rec_pattern = {"Pattern", fields_pattern, ECO_COUNT(fields_pattern),
                                           sizeof(struct eco_res_pattern), NULL};

#define REC struct eco_res_fix
static const struct eco_field fields_fix[] = {
#include "records/rec_fix.def"
};
#undef REC
const struct eco_record eco_rec_fix = {"Fix", fields_fix, ECO_COUNT(fields_fix),
                                       sizeof(struct eco_res_fix), NULL};

#define REC struct eco_res_improvement
static const struct eco_field fields_improvement[] = {
#include "records/rec_improvement.def"
};
#undef REC
const struct eco_record eco_rec_improvement = {"Improvement", fields_improvement,
                                               ECO_COUNT(fields_improvement),
                                               sizeof(struct eco_res_improvement), NULL};

#define REC struct eco_res_diagnose
static const struct eco_field fields_diagnose[] = {
#include "records/rec_diagnose.def"
};
#undef REC
const struct eco_record eco_rec_diagnose = {"Diagnose", fields_diagnose, ECO_COUNT(fields_diagnose),
                                            sizeof(struct eco_res_diagnose), "patterns"};

#define REC struct eco_res_cost_option
static const struct eco_field fields_cost_option[] = {
#include "records/rec_cost_option.def"
};
#undef REC
const struct eco_record eco_rec_cost_option = {"CostOption", fields_cost_option,
                                               ECO_COUNT(fields_cost_option),
                                               sizeof(struct eco_res_cost_option), NULL};

#define REC struct eco_res_cost
static const struct eco_field fields_cost[] = {
#include "records/rec_cost.def"
};
#undef REC
const struct eco_record eco_rec_cost = {"Cost", fields_cost, ECO_COUNT(fields_cost),
                                        sizeof(struct eco_res_cost), "options"};

#define REC struct eco_res_data_row
static const struct eco_field fields_data_row[] = {
#include "records/rec_data_row.def"
};
#undef REC
const struct eco_record eco_rec_data_row = {"DataRow", fields_data_row, ECO_COUNT(fields_data_row),
                                            sizeof(struct eco_res_data_row), NULL};

#define REC struct eco_res_finding
static const struct eco_field fields_finding[] = {
#include "records/rec_finding.def"
};
#undef REC
const struct eco_record eco_rec_finding = {"AuditFinding", fields_finding,
                                           ECO_COUNT(fields_finding),
                                           sizeof(struct eco_res_finding), NULL};

#define REC struct eco_res_data
static const struct eco_field fields_data[] = {
#include "records/rec_data.def"
};
#undef REC
const struct eco_record eco_rec_data = {"Data", fields_data, ECO_COUNT(fields_data),
                                        sizeof(struct eco_res_data), "rows"};

#define REC struct eco_res_gpu
static const struct eco_field fields_gpu[] = {
#include "records/rec_gpu.def"
};
#undef REC
const struct eco_record eco_rec_gpu = {"Gpu", fields_gpu, ECO_COUNT(fields_gpu),
                                       sizeof(struct eco_res_gpu), NULL};

#define REC struct eco_res_gpus
static const struct eco_field fields_gpus[] = {
#include "records/rec_gpus.def"
};
#undef REC
const struct eco_record eco_rec_gpus = {"Gpus", fields_gpus, ECO_COUNT(fields_gpus),
                                        sizeof(struct eco_res_gpus), "gpus"};

#define REC struct eco_res_model_row
static const struct eco_field fields_model_row[] = {
#include "records/rec_model_row.def"
};
#undef REC
const struct eco_record eco_rec_model_row = {"Model", fields_model_row, ECO_COUNT(fields_model_row),
                                             sizeof(struct eco_res_model_row), NULL};

#define REC struct eco_res_models
static const struct eco_field fields_models[] = {
#include "records/rec_models.def"
};
#undef REC
const struct eco_record eco_rec_models = {"Models", fields_models, ECO_COUNT(fields_models),
                                          sizeof(struct eco_res_models), "models"};

#define REC struct eco_res_issue
static const struct eco_field fields_issue[] = {
#include "records/rec_issue.def"
};
#undef REC
const struct eco_record eco_rec_issue = {"ReportIssue", fields_issue, ECO_COUNT(fields_issue),
                                         sizeof(struct eco_res_issue), NULL};

#define REC struct eco_res_point
static const struct eco_field fields_point[] = {
#include "records/rec_point.def"
};
#undef REC
const struct eco_record eco_rec_point = {"OverlayPoint", fields_point, ECO_COUNT(fields_point),
                                         sizeof(struct eco_res_point), NULL};

#define REC struct eco_res_report_row
static const struct eco_field fields_report_row[] = {
#include "records/rec_report_row.def"
};
#undef REC
const struct eco_record eco_rec_report_row = {"ReportDifference", fields_report_row,
                                              ECO_COUNT(fields_report_row),
                                              sizeof(struct eco_res_report_row), NULL};

#define REC struct eco_res_report_aspect
static const struct eco_field fields_report_aspect[] = {
#include "records/rec_report_aspect.def"
};
#undef REC
const struct eco_record eco_rec_report_aspect = {"ReportAspect", fields_report_aspect,
                                                 ECO_COUNT(fields_report_aspect),
                                                 sizeof(struct eco_res_report_aspect), NULL};

#define REC struct eco_res_import_row
static const struct eco_field fields_import_row[] = {
#include "records/rec_import_row.def"
};
#undef REC
const struct eco_record eco_rec_import_row = {"ImportRow", fields_import_row,
                                              ECO_COUNT(fields_import_row),
                                              sizeof(struct eco_res_import_row), NULL};

#define REC struct eco_res_report
static const struct eco_field fields_report[] = {
#include "records/rec_report.def"
};
#undef REC
const struct eco_record eco_rec_report = {"Report", fields_report, ECO_COUNT(fields_report),
                                          sizeof(struct eco_res_report), NULL};

#define REC struct eco_res_ask_params
static const struct eco_field fields_ask_params[] = {
#include "records/rec_ask_params.def"
};
#undef REC
const struct eco_record eco_rec_ask_params = {"AskParams", fields_ask_params,
                                              ECO_COUNT(fields_ask_params),
                                              sizeof(struct eco_res_ask_params), NULL};

#define REC struct eco_res_ask_size
static const struct eco_field fields_ask_size[] = {
#include "records/rec_ask_size.def"
};
#undef REC
const struct eco_record eco_rec_ask_size = {"AskSize", fields_ask_size, ECO_COUNT(fields_ask_size),
                                            sizeof(struct eco_res_ask_size), NULL};

#define REC struct eco_res_ask_card
static const struct eco_field fields_ask_card[] = {
#include "records/rec_ask_card.def"
};
#undef REC
const struct eco_record eco_rec_ask_card = {"AskCard", fields_ask_card, ECO_COUNT(fields_ask_card),
                                            sizeof(struct eco_res_ask_card), NULL};

#define REC struct eco_res_ask
static const struct eco_field fields_ask[] = {
#include "records/rec_ask.def"
};
#undef REC
const struct eco_record eco_rec_ask = {"Ask", fields_ask, ECO_COUNT(fields_ask),
                                       sizeof(struct eco_res_ask), NULL};

#define REC struct eco_res_measured
static const struct eco_field fields_measured[] = {
#include "records/rec_measured.def"
};
#undef REC
const struct eco_record eco_rec_measured = {"Measured", fields_measured, ECO_COUNT(fields_measured),
                                            sizeof(struct eco_res_measured), NULL};

#define REC struct eco_res_source
static const struct eco_field fields_source[] = {
#include "records/rec_source.def"
};
#undef REC
const struct eco_record eco_rec_source = {"PowerSource", fields_source, ECO_COUNT(fields_source),
                                          sizeof(struct eco_res_source), NULL};

#define REC struct eco_res_measure
static const struct eco_field fields_measure[] = {
#include "records/rec_measure.def"
};
#undef REC
const struct eco_record eco_rec_measure = {"Measure", fields_measure, ECO_COUNT(fields_measure),
                                           sizeof(struct eco_res_measure), NULL};

#define REC struct eco_res_probe
static const struct eco_field fields_probe[] = {
#include "records/rec_probe.def"
};
#undef REC
const struct eco_record eco_rec_probe = {"PowerProbe", fields_probe, ECO_COUNT(fields_probe),
                                         sizeof(struct eco_res_probe), NULL};

#define REC struct eco_res_replay_trial
static const struct eco_field fields_replay_trial[] = {
#include "records/rec_replay_trial.def"
};
#undef REC
const struct eco_record eco_rec_replay_trial = {"ReplayTrial", fields_replay_trial,
                                                ECO_COUNT(fields_replay_trial),
                                                sizeof(struct eco_res_replay_trial), NULL};

#define REC struct eco_res_replay
static const struct eco_field fields_replay[] = {
#include "records/rec_replay.def"
};
#undef REC
const struct eco_record eco_rec_replay = {"Replay", fields_replay, ECO_COUNT(fields_replay),
                                          sizeof(struct eco_res_replay), NULL};

#define REC struct eco_res_track_row
static const struct eco_field fields_track_row[] = {
#include "records/rec_track_row.def"
};
#undef REC
const struct eco_record eco_rec_track_row = {"TrackRow", fields_track_row,
                                             ECO_COUNT(fields_track_row),
                                             sizeof(struct eco_res_track_row), NULL};

#define REC struct eco_res_track
static const struct eco_field fields_track[] = {
#include "records/rec_track.def"
};
#undef REC
const struct eco_record eco_rec_track = {"Track", fields_track, ECO_COUNT(fields_track),
                                         sizeof(struct eco_res_track), "sources"};

#define REC struct eco_res_engine_arm
static const struct eco_field fields_engine_arm[] = {
#include "records/rec_engine_arm.def"
};
#undef REC
const struct eco_record eco_rec_engine_arm = {"EngineArm", fields_engine_arm,
                                              ECO_COUNT(fields_engine_arm),
                                              sizeof(struct eco_res_engine_arm), NULL};

#define REC struct eco_res_engine
static const struct eco_field fields_engine[] = {
#include "records/rec_engine.def"
};
#undef REC
const struct eco_record eco_rec_engine = {"Engine", fields_engine, ECO_COUNT(fields_engine),
                                          sizeof(struct eco_res_engine), "arms"};

#define REC struct eco_res_doctor
static const struct eco_field fields_doctor[] = {
#include "records/rec_doctor.def"
};
#undef REC
const struct eco_record eco_rec_doctor = {"Doctor", fields_doctor, ECO_COUNT(fields_doctor),
                                          sizeof(struct eco_res_doctor), "sources"};

#define REC struct eco_res_digest
static const struct eco_field fields_digest[] = {
#include "records/rec_digest.def"
};
#undef REC
const struct eco_record eco_rec_digest = {"DataFile", fields_digest, ECO_COUNT(fields_digest),
                                          sizeof(struct eco_res_digest), NULL};

#define REC struct eco_res_arch_class
static const struct eco_field fields_arch_class[] = {
#include "records/rec_arch_class.def"
};
#undef REC
const struct eco_record eco_rec_arch_class = {"ArchClass", fields_arch_class,
                                              ECO_COUNT(fields_arch_class),
                                              sizeof(struct eco_res_arch_class), NULL};

#define REC struct eco_res_arch_classes
static const struct eco_field fields_arch_classes[] = {
#include "records/rec_arch_classes.def"
};
#undef REC
const struct eco_record eco_rec_arch_classes = {"ArchClasses", fields_arch_classes,
                                                ECO_COUNT(fields_arch_classes),
                                                sizeof(struct eco_res_arch_classes), NULL};

#define REC struct eco_res_architecture
static const struct eco_field fields_architecture[] = {
#include "records/rec_architecture.def"
};
#undef REC
const struct eco_record eco_rec_architecture = {"Architecture", fields_architecture,
                                                ECO_COUNT(fields_architecture),
                                                sizeof(struct eco_res_architecture), NULL};

#define REC struct eco_res_architectures
static const struct eco_field fields_architectures[] = {
#include "records/rec_architectures.def"
};
#undef REC
const struct eco_record eco_rec_architectures = {"Architectures", fields_architectures,
                                                 ECO_COUNT(fields_architectures),
                                                 sizeof(struct eco_res_architectures), NULL};

#define REC struct eco_res_mcp
static const struct eco_field fields_mcp[] = {
#include "records/rec_mcp.def"
};
#undef REC
const struct eco_record eco_rec_mcp = {"Mcp", fields_mcp, ECO_COUNT(fields_mcp),
                                       sizeof(struct eco_res_mcp), NULL};

#define REC struct eco_res_serve
static const struct eco_field fields_serve[] = {
#include "records/rec_serve.def"
};
#undef REC
const struct eco_record eco_rec_serve = {"Serve", fields_serve, ECO_COUNT(fields_serve),
                                         sizeof(struct eco_res_serve), NULL};

#define REC struct eco_res_version
static const struct eco_field fields_version[] = {
#include "records/rec_version.def"
};
#undef REC
const struct eco_record eco_rec_version = {"Version", fields_version, ECO_COUNT(fields_version),
                                           sizeof(struct eco_res_version), NULL};

#define REC struct eco_res_stats
static const struct eco_field fields_stats[] = {
#include "records/rec_stats.def"
};
#undef REC
const struct eco_record eco_rec_stats = {"Accuracy", fields_stats, ECO_COUNT(fields_stats),
                                         sizeof(struct eco_res_stats), NULL};

#define REC struct eco_res_check_anchors
static const struct eco_field fields_check_anchors[] = {
#include "records/rec_check_anchors.def"
};
#undef REC
const struct eco_record eco_rec_check_anchors = {"AccuracyAnchors", fields_check_anchors,
                                                 ECO_COUNT(fields_check_anchors),
                                                 sizeof(struct eco_res_check_anchors), NULL};

#define REC struct eco_res_check_all
static const struct eco_field fields_check_all[] = {
#include "records/rec_check_all.def"
};
#undef REC
const struct eco_record eco_rec_check_all = {"AccuracyAll", fields_check_all,
                                             ECO_COUNT(fields_check_all),
                                             sizeof(struct eco_res_check_all), NULL};

#define REC struct eco_res_check_published
static const struct eco_field fields_check_published[] = {
#include "records/rec_check_published.def"
};
#undef REC
const struct eco_record eco_rec_check_published = {"AccuracyPublished", fields_check_published,
                                                   ECO_COUNT(fields_check_published),
                                                   sizeof(struct eco_res_check_published), NULL};

#define REC struct eco_res_sensitivity
static const struct eco_field fields_sensitivity[] = {
#include "records/rec_sensitivity.def"
};
#undef REC
const struct eco_record eco_rec_sensitivity = {"Sensitivity", fields_sensitivity,
                                               ECO_COUNT(fields_sensitivity),
                                               sizeof(struct eco_res_sensitivity), NULL};

#define REC struct eco_res_check_ecocompute
static const struct eco_field fields_check_ecocompute[] = {
#include "records/rec_check_ecocompute.def"
};
#undef REC
const struct eco_record eco_rec_check_ecocompute = {"AccuracyEcocompute", fields_check_ecocompute,
                                                    ECO_COUNT(fields_check_ecocompute),
                                                    sizeof(struct eco_res_check_ecocompute), NULL};

#define REC struct eco_res_curve
static const struct eco_field fields_curve[] = {
#include "records/rec_curve.def"
};
#undef REC
const struct eco_record eco_rec_curve = {"Curve", fields_curve, ECO_COUNT(fields_curve),
                                         sizeof(struct eco_res_curve), NULL};

#define REC struct eco_res_hyper
static const struct eco_field fields_hyper[] = {
#include "records/rec_hyper.def"
};
#undef REC
const struct eco_record eco_rec_hyper = {"Hyperparameter", fields_hyper, ECO_COUNT(fields_hyper),
                                         sizeof(struct eco_res_hyper), NULL};

#define REC struct eco_res_fit
static const struct eco_field fields_fit[] = {
#include "records/rec_fit.def"
};
#undef REC
const struct eco_record eco_rec_fit = {"Fit", fields_fit, ECO_COUNT(fields_fit),
                                       sizeof(struct eco_res_fit), "curves"};

#define REC struct eco_res_audit_finding
static const struct eco_field fields_audit_finding[] = {
#include "records/rec_audit_finding.def"
};
#undef REC
const struct eco_record eco_rec_audit_finding = {"CodeFinding", fields_audit_finding,
                                                 ECO_COUNT(fields_audit_finding),
                                                 sizeof(struct eco_res_audit_finding), NULL};

#define REC struct eco_res_audit_skip
static const struct eco_field fields_audit_skip[] = {
#include "records/rec_audit_skip.def"
};
#undef REC
const struct eco_record eco_rec_audit_skip = {"CodeSkip", fields_audit_skip,
                                              ECO_COUNT(fields_audit_skip),
                                              sizeof(struct eco_res_audit_skip), NULL};

#define REC struct eco_res_practice
static const struct eco_field fields_practice[] = {
#include "records/rec_practice.def"
};
#undef REC
const struct eco_record eco_rec_practice = {"Practice", fields_practice, ECO_COUNT(fields_practice),
                                            sizeof(struct eco_res_practice), NULL};

#define REC struct eco_res_audit
static const struct eco_field fields_audit[] = {
#include "records/rec_audit.def"
};
#undef REC
const struct eco_record eco_rec_audit = {"Audit", fields_audit, ECO_COUNT(fields_audit),
                                         sizeof(struct eco_res_audit), "findings"};
