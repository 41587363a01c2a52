#include "native_host.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "dataset/dataset.h"
#include "model/model.h"
#include "power/power.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_LIMIT ((size_t)64 << 20)

static int read_file(struct eco_ctx *ctx, const char *path, struct eco_str *out,
                     struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    int rc = eco_file_read(path, FILE_LIMIT, &b, err);
    if (rc == 0) {
        out->s = eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len);
        out->len = b.len;
        rc = out->s ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    eco_buf_done(&b);
    return rc;
}

void eco_host_init(struct eco_ctx *ctx, struct eco_arena *arena)
{
    memset(ctx, 0, sizeof(*ctx));
    ctx->arena = arena;
    ctx->host_gpu_name = eco_power_gpu_name(arena);
    ctx->visible_devices = getenv("CUDA_VISIBLE_DEVICES");
    if (ctx->host_gpu_name) {
        eco_dataset_detect_arch(ctx->host_gpu_name, strlen(ctx->host_gpu_name), &ctx->host_gpu);
    }
    ctx->open_model = eco_model_open;
    ctx->read_file = read_file;
    ctx->write_file = eco_file_write;
    ctx->now_unix_ms = eco_clock_unix_ms();
    ctx->timestamp = eco_clock_iso8601;
}

void eco_host_progress(const char *line)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K%s", line ? line : "");
        fflush(stderr);
    }
}
