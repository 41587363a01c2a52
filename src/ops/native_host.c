#include "native_host.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "dataset/dataset.h"
#include "model/model.h"
#include "power/power.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FILE_LIMIT ((size_t)64 << 20)

static int read_file(struct eco_ctx *ctx, const char *path, struct eco_str *out,
                     struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    int rc = eco_file_read(path, FILE_LIMIT, &b, err);
    if (rc == 0) {
        ctx->last_file =
            strcmp(path, "-") == 0 ? NULL : eco_arena_strdup(ctx->arena, path, strlen(path));
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

void eco_host_say(const char *line)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K%s\n", line);
    }
}

void eco_host_tell(const char *line)
{
    fprintf(stderr, "%s%s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", line);
}

#define BAR_CELLS 20
#define MIN_COLUMNS 40

static int columns(void)
{
    struct winsize w = {0};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= MIN_COLUMNS ? w.ws_col : 80;
}

/* Adds `text` unless the line would be full: the first things matter most. */
static void add(struct eco_buf *line, int *used, int width, const char *text)
{
    int n = (int)strlen(text);
    if (*used + n < width) {
        eco_buf_puts(line, text);
        *used += n;
    }
}

void eco_host_progress_bar(const struct eco_progress *p)
{
    struct eco_buf line = ECO_BUF_INIT;
    char text[96];
    int width = columns(), used = BAR_CELLS + 1;
    int full = p->all > 0 ? BAR_CELLS * p->done / p->all : 0;
    if (!isatty(STDERR_FILENO)) {
        return;
    }
    for (int i = 0; i < BAR_CELLS; i++) {
        eco_buf_puts(&line, i < full ? "\xe2\x96\x88" : "\xe2\x96\x91"); /* full, light block */
    }
    snprintf(text, sizeof(text), " %d/%d %s%s: %s", p->done + 1, p->all, p->where ? p->where : "",
             p->what ? p->what : "", p->phase ? p->phase : "");
    add(&line, &used, width, text);
    if (isfinite(p->watts)) {
        snprintf(text, sizeof(text), "  %.0f W", p->watts);
        add(&line, &used, width, text);
    }
    if (isfinite(p->tokens_per_s)) {
        snprintf(text, sizeof(text), "  %.0f tokens/s", p->tokens_per_s);
        add(&line, &used, width, text);
    }
    if (isfinite(p->left_s)) {
        snprintf(text, sizeof(text), p->left_s < 90 ? "  %.0f s left" : "  %.0f min left",
                 p->left_s < 90 ? p->left_s : ceil(p->left_s / 60));
        add(&line, &used, width, text);
    }
    eco_host_progress(eco_buf_str(&line));
    eco_buf_done(&line);
}

void eco_host_progress(const char *line)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K%s", line ? line : "");
        fflush(stderr);
    }
}
