/* What this machine offers to operations: its card, its files, its clock. */
#ifndef ECO_OPS_NATIVE_HOST_H
#define ECO_OPS_NATIVE_HOST_H

#include "op.h"

void eco_host_init(struct eco_ctx *ctx, struct eco_arena *arena);
/** One line that rewrites itself on standard error, when that is a terminal; NULL clears it. */
void eco_host_progress(const char *line);

#endif
