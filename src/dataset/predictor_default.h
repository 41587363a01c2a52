/*
 * The shipped predictor: the committed pairs and variances of data/fitted/predictor_*.csv, turned
 * into const tables at build time by tools/predictorgen. Read-only, any thread. With
 * ECO_PREDICTOR_AT_START (the page: half a megabyte less to load) only pairs and variances are
 * there, and src/wasm builds the tables before the first question.
 */
#ifndef ECO_DATASET_PREDICTOR_DEFAULT_H
#define ECO_DATASET_PREDICTOR_DEFAULT_H

#include "eco_predict.h"

#ifdef ECO_PREDICTOR_AT_START
extern struct eco_predictor eco_predictor_default;
#else
extern const struct eco_predictor eco_predictor_default;
#endif

#endif
