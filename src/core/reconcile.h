/*
 * The parts of eco_physics_reconcile that whole columns of candidates use too, without structs.
 * Pure, no errors.
 */
#ifndef ECO_CORE_RECONCILE_H
#define ECO_CORE_RECONCILE_H

#include "eco_physics.h"

/** Most power that `n_gpus` boards hold, W; INFINITY where the limit is not known. */
double eco_reconcile_limit_w(const struct eco_gpu *gpu, int n_gpus);

/**
 * Shares of `excess_ln` = ln(implied power / limit): how far ln E falls and ln step time rises, by
 * their log variances. False: no excess, outputs untouched.
 */
bool eco_reconcile_split(double excess_ln, double sd_energy, double sd_time, double *energy_ln,
                         double *time_ln);

#endif
