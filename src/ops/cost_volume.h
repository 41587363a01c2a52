/* A volume of work in other units as requests a month. */
#ifndef ECO_OPS_COST_VOLUME_H
#define ECO_OPS_COST_VOLUME_H

#include "steps.h"

/**
 * *requests: a month, of what the parameters give; 0: nothing but `requests` itself. The steps are
 * told in out->conversions. `request_s` is the time of one request, NAN when not known.
 * ECO_E_INVALID: several volumes; ECO_E_UNSUPPORTED: hours without a speed.
 */
int eco_cost_volume(struct eco_question *q, const struct eco_args_cost *a, double request_s,
                    double *requests, struct eco_res_cost *out, struct eco_err *err);

#endif
