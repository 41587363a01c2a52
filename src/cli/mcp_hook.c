#include "mcp_hook.h"

#include "mcp/mcp_stdio.h"
#include "ops/params.h"

#include <unistd.h>

int cli_mcp(struct eco_ctx *ctx, const void *args, struct eco_err *err)
{
    const struct eco_args_mcp *a = args;
    const struct eco_mcp_options o = {.host_gpu = ctx->host_gpu,
                                      .host_gpu_name = ctx->host_gpu_name,
                                      .measure_program = a->allow_measure ? "/proc/self/exe" : NULL,
                                      .measure_workload = a->workload,
                                      .measure_out = a->out};
    return eco_mcp_stdio(&o, STDIN_FILENO, STDOUT_FILENO, err);
}
