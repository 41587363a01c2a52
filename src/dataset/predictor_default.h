/*
 * The shipped predictor: the committed pairs and variances of data/fitted/predictor_*.csv, turned
 * into const tables at build time by tools/predictorgen. Read-only, any thread.
 */
#ifndef ECO_DATASET_PREDICTOR_DEFAULT_H
#define ECO_DATASET_PREDICTOR_DEFAULT_H

#include "eco_predict.h"

extern const struct eco_predictor eco_predictor_default;

#endif
