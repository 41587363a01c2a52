/*
 * The public API of ecocompute's pure core: predict, optimize, price and judge the energy of
 * quantized LLM inference. Nothing here allocates, prints, reads files or keeps state; tables and
 * memory are the caller's, every function may run on any thread.
 *
 * Life of a question: a struct eco_gpu and a struct eco_model (eco_types.h) -> eco_predict, the
 * change of energy per token against 16 bit (eco_predict.h) -> eco_energy_absolute and _quantized,
 * joules; eco_latency_predict, seconds (eco_physics.h) -> eco_memory_estimate, bytes
 * (eco_memory.h) -> eco_alerts_check, known traps (eco_alerts.h) -> eco_cost_compute, kWh, money
 * and CO2 (eco_cost.h). eco_optimize.h searches configurations;
 * eco_published.h is the published calibration, to check against; eco_run.h is a measured run.
 *
 * Errors: 0 or a negative enum eco_code, detail in the caller's struct eco_err (eco_err.h); results
 * are untouched on failure. Units are the last part of a name.
 */
#ifndef ECOCOMPUTE_H
#define ECOCOMPUTE_H

#include "eco_err.h"
#include "eco_types.h"

#include "eco_alerts.h"
#include "eco_capability.h"
#include "eco_cost.h"
#include "eco_memory.h"
#include "eco_optimize.h"
#include "eco_physics.h"
#include "eco_predict.h"
#include "eco_published.h"
#include "eco_run.h"

#endif
