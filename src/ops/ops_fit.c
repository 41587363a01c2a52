/* Refit the published curves, print the default predictor's figures, judge both calibrations. */
#include "base/num.h"
#include "runs.h"

int eco_run_fit(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    (void)ctx, (void)args, (void)result;
    return eco_err_set(err, ECO_E_UNSUPPORTED, "", "fit is being built");
}
