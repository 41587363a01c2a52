/* Good practices that the audited code already follows. */
#ifndef ECO_OPS_AUDIT_GOOD_H
#define ECO_OPS_AUDIT_GOOD_H

#include "params.h"
#include "records.h"

/**
 * eco_res_practice rows of the given text, of the files named and of those with findings (64 at
 * most): each practice once a file, never on a line with a finding. Marks, not a parse: a practice
 * is seen, not proven.
 */
struct eco_list eco_audit_good(struct eco_ctx *ctx, const struct eco_args_audit *args,
                               const struct eco_list *findings);

#endif
