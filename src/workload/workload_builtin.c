/* The embedded engine as a workload: the same steps, in this process. */
#include "base/clock.h"
#include "base/file.h"
#include "engine/cpus.h"
#include "engine/engine.h"
#include "engine/tok.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS 100000000
#define MAX_PATH 512
#define MAX_CORPUS ((size_t)256 << 20)

struct builtin {
    struct eco_generator base;
    struct eco_workload_hooks hooks;
    struct eco_decoder *decoder;
    char model[MAX_PATH];
    struct eco_engine_options options; /* of what is loaded; its model is the one above */
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
    unload(b);
    b->options = (struct eco_engine_options){.model = b->model,
                                             .precision = arm->precision,
                                             .batch = arm->batch,
                                             .context_tokens = arm->prompt_tokens + arm->gen_tokens,
                                             .seed = arm->seed};
    int rc = model_text(arm->model, b->model, err);
    rc = rc ? rc : eco_engine_open(&b->options, &b->decoder, err);
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
    struct eco_cpu_use before, after;
    int rc = make_room(b, what, err);
    eco_engine_cpu_use(&before);
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
    int64_t end_ns = eco_clock_mono_ns(), sequences = (int64_t)done * b->batch;
    eco_engine_cpu_use(&after);
    int cpus = eco_engine_info(b->decoder)->cpus;
    *out = (struct eco_workload_result){.iterations = done,
                                        .tokens = sequences * what->tokens,
                                        .decode_tokens = sequences * (what->tokens - 1),
                                        .seconds = (double)(end_ns - start_ns) * 1e-9,
                                        .ttft_s = ttft_s / done,
                                        .others_cpu_frac =
                                            eco_engine_others_frac(&before, &after, cpus),
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

/* ---- perplexity ------------------------------------------------------------------------------ */

/* The text as this model's token ids. */
static int corpus_ids(const struct builtin *b, const char *path, struct eco_ids *ids,
                      struct eco_err *err)
{
    struct eco_tokenizer *tok = NULL;
    struct eco_buf text = ECO_BUF_INIT;
    int rc = eco_tokenizer_open(b->model, &tok, err);
    rc = rc ? rc : eco_file_read(path, MAX_CORPUS, &text, err);
    rc = rc ? rc
            : eco_tokenizer_encode(tok, eco_buf_str(&text), text.len, ECO_TOK_WITH_ENDS, ids, err);
    eco_buf_done(&text);
    eco_tokenizer_free(tok);
    if (rc == 0 && ids->n < 2) {
        rc = eco_err_set(err, ECO_E_CONTENT, "corpus", "the text has fewer than two tokens");
    }
    return rc;
}

/* A run's context is prompt and answer; a window of text may need more, and one sequence only. */
static int make_context(struct builtin *b, int *window, struct eco_err *err)
{
    int most = eco_engine_info(b->decoder)->model.max_context;
    *window = most >= 2 && most < *window ? most : *window;
    if (b->options.context_tokens >= *window) {
        return 0;
    }
    b->options.context_tokens = *window;
    b->options.batch = 1;
    unload(b);
    return eco_engine_open(&b->options, &b->decoder, err);
}

/* Window by window, so that Ctrl-C need not wait for the whole text. */
static int score(struct builtin *b, const struct eco_ids *ids, int window,
                 struct eco_workload_quality *out, struct eco_err *err)
{
    double nll = 0;
    int rc = 0;
    *out = (struct eco_workload_quality){.seq_len = window};
    for (size_t at = 0; rc == 0 && at + 2 <= ids->n; at += (size_t)window) {
        size_t left = ids->n - at, n = left < (size_t)window ? left : (size_t)window;
        int64_t counted = 0;
        double ppl = 0;
        if (b->hooks.stop && b->hooks.stop(b->hooks.ctx)) {
            return eco_err_set(err, ECO_E_INTERRUPTED, "", "interrupted while judging quality");
        }
        rc =
            eco_engine_perplexity(b->decoder, ids->v + at, (int64_t)n, window, &ppl, &counted, err);
        nll += log(ppl) * (double)counted;
        out->tokens += counted;
        out->windows++;
        if (b->hooks.tick) {
            b->hooks.tick(b->hooks.ctx);
        }
    }
    out->mean_nll = nll / (double)out->tokens;
    return rc;
}

static int builtin_perplexity(struct eco_generator *base, const char *path, int seq_len,
                              struct eco_workload_quality *out, struct eco_err *err)
{
    struct builtin *b = of(base);
    struct eco_ids ids = {0};
    int window = seq_len;
    if (eco_engine_info(b->decoder)->synthetic) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "corpus",
                           "synthetic weights have no tokenizer and no language, so a text has no "
                           "perplexity");
    }
    int rc = corpus_ids(b, path, &ids, err);
    rc = rc ? rc : make_context(b, &window, err);
    rc = rc ? rc : score(b, &ids, window, out, err);
    eco_ids_done(&ids);
    if (rc && rc != ECO_E_INTERRUPTED && err) { /* this arm's alone: the engine goes on */
        rc = err->code = ECO_E_UNSUPPORTED;
    }
    return rc;
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
