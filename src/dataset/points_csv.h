/*
 * The predictor's pairs and variances as CSV (data/fitted/predictor_points.csv and
 * predictor_theta.csv, or a user's own).
 * Strings and arrays live in the caller's arena. Errors name file, line and column.
 */
#ifndef ECO_DATASET_POINTS_CSV_H
#define ECO_DATASET_POINTS_CSV_H

#include "base/arena.h"
#include "core/predict_fit.h"

/**
 * Reads pairs: the columns of data/fitted/predictor_points.csv; columns may be left out but for
 * id, gpu, precision, params_b and y or delta_pct. Defaults: baseline_id = id + "/baseline",
 * model_id = id, session "own", source "", the usual engine, grade B, batch 1, fit yes.
 * @errors ECO_E_CONTENT with line and column; ECO_E_RANGE over ECO_PREDICT_MAX_POINTS.
 */
int eco_points_read(const char *name, const char *text, size_t len, struct eco_arena *arena,
                    struct eco_predict_point **out, int *n, struct eco_err *err);

/** Reads log variances by group name; every group must be there once. */
int eco_points_read_theta(const char *name, const char *text, size_t len,
                          double theta[ECO_PG_COUNT], struct eco_err *err);

#endif
