/* The embedded engine as a workload: the same steps, in this process. */
#include "base/clock.h"
#include "base/file.h"
#include "engine/cpus.h"
#include "engine/engine.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS 100000000
#define MAX_PATH 512

struct builtin {
    struct eco_generator base;
    struct eco_workload_hooks hooks;
    struct eco_decoder *decoder;
    int batch, prompt_tokens;
    int *prompt; /* [batch][prompt_tokens] */
    char isa[32];
    struct eco_run_package packages[2];
    int64_t next_tick_ns, step_ns; /* step_ns: when the last token came */
    double *intervals;
    size_t interval_count, interval_room;
};

static struct builtin *of(struct eco_generator *w)
{
    return (struct builtin *)w;
}

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

static void unload(struct builtin *b)
{
    eco_engine_close(b->decoder);
    b->decoder = NULL;
    free(b->prompt);
    b->prompt = NULL;
}

/* A path is read; a name nobody has files of here gets synthetic weights in its exact shape, as
 * does one that asks for them. */
static int model_text(const char *model, char out[MAX_PATH], struct eco_err *err)
{
    bool asked = strncmp(model, "synthetic:", strlen("synthetic:")) == 0;
    bool synthetic = !asked && !eco_file_exists(model);
    int n = snprintf(out, MAX_PATH, "%s%s", synthetic ? "synthetic:" : "", model);
    return n < MAX_PATH ? 0
                        : eco_err_set(err, ECO_E_INVALID, "model", "the model's path is too long");
}

static int builtin_load(struct eco_generator *base, const struct eco_workload_arm *arm,
                        struct eco_workload_loaded *out, struct eco_err *err)
{
    struct builtin *b = of(base);
    char model[MAX_PATH];
    struct eco_engine_options o = {.model = model,
                                   .precision = arm->precision,
                                   .batch = arm->batch,
                                   .context_tokens = arm->prompt_tokens + arm->gen_tokens,
                                   .seed = arm->seed};
    unload(b);
    int rc = model_text(arm->model, model, err);
    rc = rc ? rc : eco_engine_open(&o, &b->decoder, err);
    if (rc) {
        return rc;
    }
    const struct eco_engine_info *info = eco_engine_info(b->decoder);
    b->batch = arm->batch;
    b->prompt_tokens = arm->prompt_tokens;
    b->prompt = calloc((size_t)arm->batch * (size_t)arm->prompt_tokens, sizeof(*b->prompt));
    if (!b->prompt) {
        unload(b);
        return no_memory(err);
    }
    eco_engine_prompt(b->decoder, arm->seed, arm->prompt_tokens, b->prompt);
    snprintf(b->isa, sizeof(b->isa), "%s, %d threads", info->isa, info->threads);
    b->packages[0] = (struct eco_run_package){"engine", "ecocompute-cpu " ECO_VERSION};
    b->packages[1] = (struct eco_run_package){"kernels", b->isa};
    *out = (struct eco_workload_loaded){
        .engine = "builtin",
        .weights = info->synthetic ? "synthetic" : "real",
        .memory_bytes = (double)(info->weight_bytes + info->kv_bytes + info->scratch_bytes),
        .packages = b->packages,
        .package_count = 2,
        .backend = info->backend};
    return 0;
}

double eco_workload_builtin_free_bytes(void)
{
    uint64_t have = eco_engine_memory_free();
    return have ? (double)have : (double)NAN;
}

int eco_workload_builtin_need(const struct eco_workload_arm *arm, double *bytes,
                              struct eco_err *err)
{
    char model[MAX_PATH];
    uint64_t need = 0;
    struct eco_engine_options o = {.model = model,
                                   .precision = arm->precision,
                                   .batch = arm->batch,
                                   .context_tokens = arm->prompt_tokens + arm->gen_tokens,
                                   .seed = arm->seed};
    int rc = model_text(arm->model, model, err);
    rc = rc ? rc : eco_engine_need(&o, &need, err);
    *bytes = (double)need;
    return rc;
}

static int on_step(void *ctx, const int *ids, int batch, int index)
{
    struct builtin *b = ctx;
    int64_t t = eco_clock_mono_ns();
    (void)ids;
    (void)batch;
    if (index > 0 && b->interval_count < b->interval_room) {
        b->intervals[b->interval_count++] = (double)(t - b->step_ns) * 1e-9;
    }
    b->step_ns = t;
    if (t >= b->next_tick_ns && b->hooks.tick) {
        b->next_tick_ns = t + TICK_NS;
        b->hooks.tick(b->hooks.ctx);
    }
    return 0;
}

/* Room for every interval of a window, before it starts: nothing is allocated inside. */
static int make_room(struct builtin *b, const struct eco_workload_window *what, struct eco_err *err)
{
    size_t want = (size_t)what->iterations * (size_t)what->tokens;
    want = want > ECO_WORKER_MAX_INTERVALS ? ECO_WORKER_MAX_INTERVALS : want;
    if (want > b->interval_room) {
        double *more = realloc(b->intervals, want * sizeof(*more));
        if (!more) {
            return no_memory(err);
        }
        b->intervals = more;
        b->interval_room = want;
    }
    b->interval_count = 0;
    return 0;
}

static int builtin_window(struct eco_generator *base, const struct eco_workload_window *what,
                          struct eco_workload_result *out, struct eco_err *err)
{
    struct builtin *b = of(base);
    struct eco_engine_sink sink = {on_step, b};
    double ttft_s = 0;
    int done = 0;
    bool stopped = false;
    int rc = make_room(b, what, err);
    int64_t start_ns = eco_clock_mono_ns();
    while (rc == 0 && done < what->iterations && !stopped) {
        struct eco_engine_timing t;
        rc = eco_engine_generate(b->decoder, b->prompt, b->prompt_tokens, what->tokens, NULL, &sink,
                                 &t, err);
        if (rc == 0) {
            done++;
            ttft_s += t.ttft_s;
            stopped = b->hooks.stop && b->hooks.stop(b->hooks.ctx);
        }
    }
    if (rc) {
        return rc;
    }
    int64_t sequences = (int64_t)done * b->batch;
    *out = (struct eco_workload_result){.iterations = done,
                                        .tokens = sequences * what->tokens,
                                        .decode_tokens = sequences * (what->tokens - 1),
                                        .seconds = (double)(eco_clock_mono_ns() - start_ns) * 1e-9,
                                        .ttft_s = ttft_s / done,
                                        .stopped = done < what->iterations};
    eco_workload_intervals(b->intervals, b->interval_count, out);
    return 0;
}

static int builtin_unload(struct eco_generator *base, struct eco_err *err)
{
    (void)err;
    unload(of(base));
    return 0;
}

static int builtin_perplexity(struct eco_generator *base, const char *path, int seq_len,
                              struct eco_workload_quality *out, struct eco_err *err)
{
    (void)base;
    (void)path;
    (void)seq_len;
    (void)out;
    return eco_err_set(err, ECO_E_UNSUPPORTED, "workload",
                       "the builtin workload does not measure perplexity yet");
}

static void builtin_close(struct eco_generator *base)
{
    struct builtin *b = of(base);
    unload(b);
    free(b->intervals);
    free(b);
}

static const struct eco_generator_class builtin_class = {
    "builtin",          builtin_load,   builtin_window, builtin_window,
    builtin_perplexity, builtin_unload, builtin_close};

int eco_workload_open_builtin(const struct eco_workload_hooks *hooks, struct eco_generator **out,
                              struct eco_err *err)
{
    struct builtin *b = calloc(1, sizeof(*b));
    if (!b) {
        return no_memory(err);
    }
    b->base.class = &builtin_class;
    b->hooks = *hooks;
    *out = &b->base;
    return 0;
}
