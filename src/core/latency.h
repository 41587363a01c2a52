/*
 * Inside core: how roofline, latency, batch law and energy share one reading of a workload.
 * Caller owns everything; no state. Errors as in eco_physics.h.
 */
#ifndef ECO_CORE_LATENCY_H
#define ECO_CORE_LATENCY_H

#include "eco_physics.h"

extern const struct eco_energy_fit eco_energy_default_fit;

/** The workload with defaults filled in (engine, 1 GPU), or ECO_E_RANGE / ECO_E_INVALID. */
int eco_latency_normalize(const struct eco_model *model, const struct eco_workload *in,
                          struct eco_workload *out, struct eco_err *err);

/** eco_roofline_traffic of a workload that is normalized. */
int eco_latency_traffic(const struct eco_model *model, const struct eco_workload *w,
                        struct eco_traffic *out, struct eco_err *err);
/** eco_roofline_floor of a traffic that is known. */
int eco_latency_floor(const struct eco_gpu *gpu, const struct eco_workload *work,
                      const struct eco_traffic *t, struct eco_roofline *out, struct eco_err *err);
/** eco_latency_predict; without `bands` the medians alone, what is beside them is NaN. */
int eco_latency_point(const struct eco_physics *ph, const struct eco_model *model,
                      const struct eco_gpu *gpu, const struct eco_workload *work, bool bands,
                      struct eco_latency *out, struct eco_err *err);

/** A band of which the median alone is known: the quantiles are NaN. */
void eco_latency_point_band(double mu_ln, struct eco_band *out);

/** Best matching row: engine, then precision over family over any; never NULL. */
const struct eco_engine_row *eco_latency_row(const struct eco_physics *ph, enum eco_engine engine,
                                             enum eco_precision precision, double rows);
/** The same for the batch law; never NULL. */
const struct eco_batch_row *eco_batch_row_for(const struct eco_physics *ph, enum eco_engine engine,
                                              enum eco_precision precision);

/** Sequences whose cache fits beside the weights, at most the batch; all where not known. */
double eco_latency_resident(const struct eco_model *model, const struct eco_gpu *gpu,
                            const struct eco_workload *w);

/** What eco_energy_absolute says of a workload's single sequence: the same for every batch. */
struct eco_energy_alone {
    struct eco_latency latency;
    double mu_ln, var, context_var, context_factor; /* mu with the context, var without it */
    double ln_weight;                               /* of weight bytes / 10 GB */
    double power_w;
    bool card, arch; /* has data of its own */
};
int eco_energy_alone(const struct eco_physics *ph, const struct eco_model *model,
                     const struct eco_gpu *gpu, const struct eco_workload *work,
                     struct eco_energy_alone *out, struct eco_err *err);
/** eco_energy_absolute of `work`, whose single sequence is `alone`; `bands` as above. */
int eco_energy_batched(const struct eco_physics *ph, const struct eco_model *model,
                       const struct eco_gpu *gpu, const struct eco_workload *work,
                       const struct eco_energy_alone *alone, bool bands, struct eco_energy *out,
                       struct eco_err *err);

/** sd of ln step time that eco_latency_predict claims for a normalized workload, all resident. */
double eco_latency_sd(const struct eco_physics *ph, const struct eco_gpu *gpu,
                      const struct eco_workload *w);

/** Time of one decode step in its parts, seconds; compute_s is 0 where the peak is not known. */
struct eco_step {
    double memory_s, compute_s, launch_s, per_seq_s, total_s;
    enum eco_bound bound;
};
int eco_latency_step(const struct eco_physics *ph, const struct eco_model *model,
                     const struct eco_gpu *gpu, const struct eco_workload *work,
                     struct eco_step *out, struct eco_err *err);

#endif
