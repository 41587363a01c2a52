/* `ecocompute mcp`: the session over standard input and output. */
#ifndef ECO_CLI_MCP_HOOK_H
#define ECO_CLI_MCP_HOOK_H

#include "ops/op.h"

int cli_mcp(struct eco_ctx *ctx, const void *args, struct eco_err *err);

#endif
