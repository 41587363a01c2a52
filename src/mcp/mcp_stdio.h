/*
 * MCP over standard input and output: one JSON-RPC message a line each way. Tool calls run on a
 * thread of their own, one after the other, so that ping and cancellations are answered meanwhile.
 * Returns when the input ends (0) or when nobody reads the output any more.
 */
#ifndef ECO_MCP_MCP_STDIO_H
#define ECO_MCP_MCP_STDIO_H

#include "mcp.h"

/** Serves until the end of input; replies that are due are written first. */
int eco_mcp_stdio(const struct eco_mcp_options *o, int in_fd, int out_fd, struct eco_err *err);

#endif
