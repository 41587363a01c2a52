/*
 * What the files of the published calibration share (published.c, published_fit.c,
 * published_optimize.c). Pure, no state.
 */
#ifndef ECO_CORE_PUBLISHED_H
#define ECO_CORE_PUBLISHED_H

#include "eco_published.h"

/** v rounded to `places` (0..4) as JavaScript's toFixed: half away from zero on the exact value of
 * the double. eco_num_round without the detour through text; never -0. */
double eco_published_places(double v, int places);
/** ECO_E_RANGE for a value outside ECO_PUBLISHED_PARAMS. */
int eco_published_check(double params_b, double batch, double ctx, struct eco_err *err);

#endif
