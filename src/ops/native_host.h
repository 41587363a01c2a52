/* What this machine offers to operations: its card, its files, its clock. */
#ifndef ECO_OPS_NATIVE_HOST_H
#define ECO_OPS_NATIVE_HOST_H

#include "op.h"

void eco_host_init(struct eco_ctx *ctx, struct eco_arena *arena);

#endif
