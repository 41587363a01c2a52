/* What this machine offers to operations: its card, its files, its clock. */
#ifndef ECO_CLI_HOST_H
#define ECO_CLI_HOST_H

#include "ops/op.h"

void cli_host_init(struct eco_ctx *ctx, struct eco_arena *arena);

#endif
