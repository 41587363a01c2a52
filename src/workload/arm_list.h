/*
 * One value for all precisions, or one each: "http://a:8000" or "FP16=http://a:8000,NF4=http://b".
 * It is the second form when the text begins with a precision's name and '='. No state.
 * Errors: ECO_E_INVALID with `arg` for a list that cannot be read, ECO_E_MISSING for a precision
 * that a list leaves out, ECO_E_TOO_LARGE for a value that does not fit.
 */
#ifndef ECO_WORKLOAD_ARM_LIST_H
#define ECO_WORKLOAD_ARM_LIST_H

#include "eco_err.h"
#include "eco_types.h"

#include <stddef.h>

int eco_arm_list_check(const char *text, const char *arg, struct eco_err *err);
/** The value for `arm`, NUL-terminated. */
int eco_arm_list_get(const char *text, const char *arg, enum eco_precision arm, char *out,
                     size_t size, struct eco_err *err);

#endif
