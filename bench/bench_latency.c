/*
 * How far the latency model is from other people's measurements: reads
 * data/validation/external_throughput.csv (or the file given), predicts every row whose card,
 * model and engine are known, and prints the median absolute percentage error and the share
 * inside the 95 % band by engine, by source and overall. Rows of sources that the constants were
 * fitted on are counted apart ("seen"); the others are held out.
 */
#include "base/csv.h"
#include "base/file.h"
#include "dataset/dataset.h"
#include "eco_physics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 8192
#define GROUPS_MAX 64
#define DEFAULT_PROMPT 200 /* real prompts of unknown length: chat and code */

enum column {
    GPU,
    DEVICES,
    MODEL,
    PRECISION,
    ENGINE,
    BATCH,
    BATCH_MEAN,
    PROMPT,
    GEN,
    METRIC,
    FLAG,
    RATE,
    TTFT,
    TPOT,
    DATASET,
    COLUMNS
};
static const char *const names[COLUMNS] = {
    "gpu",   "n_devices",        "model",         "precision",  "engine",
    "batch", "batch_mean",       "prompt_tokens", "gen_tokens", "metric",
    "flag",  "throughput_tok_s", "ttft_ms",       "tpot_ms",    "dataset"};

/* Sources behind data/fitted/physics_engine.csv. */
static const char *const seen[] = {"mlenergy-v3", "llm-consumer-gpu-benchmark",
                                   "llm-energy-benchmark"};

struct result {
    char engine[24], dataset[40];
    bool seen, nvidia, single, inside;
    double ln_ratio; /* ln(measured / predicted), time or rate turned to time */
};

struct table {
    struct result row[ROWS_MAX];
    size_t n;
    int no_engine, no_model, no_gpu, no_batch, refused;
};

static double number(const struct eco_csv *c, int column)
{
    double v;
    return eco_csv_num(c, column, &v, NULL) == 1 ? v : NAN;
}

static bool is_seen(const char *dataset)
{
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        if (strcmp(seen[i], dataset) == 0) {
            return true;
        }
    }
    return false;
}

/* Measured against predicted, as a time in seconds each: whatever the row gives most directly. */
static bool compare(const struct eco_csv *c, const int *col, const struct eco_latency *l,
                    const struct eco_workload *w, struct result *r)
{
    const char *metric = c->cell[col[METRIC]].s;
    double rate = number(c, col[RATE]), ttft = number(c, col[TTFT]), tpot = number(c, col[TPOT]);
    double measured, predicted, sd = l->sd_ln_step;
    if (strncmp(metric, "ttft", 4) == 0) {
        measured = ttft / 1e3;
        predicted = l->ttft_s.median;
        sd = hypot(sd, 0.3);
    } else if (isfinite(tpot) && l->batch_resident >= w->batch &&
               strcmp(metric, "end-to-end") != 0 && strcmp(metric, "wall-time") != 0) {
        measured = tpot / 1e3;
        predicted = l->tpot_s.median;
    } else {
        double per = strcmp(metric, "per-device") == 0 ? w->n_gpus : 1;
        measured = 1 / (rate * per);
        predicted = 1 / l->request_tokens_per_s;
    }
    if (!(measured > 0) || !isfinite(measured) || !(predicted > 0)) {
        return false;
    }
    r->ln_ratio = log(measured / predicted);
    r->inside = fabs(r->ln_ratio) <= 1.96 * sd;
    return true;
}

/* The Argonne A100 is not named further; its plateaus are those of the 40 GB card. */
static int find_gpu(const char *name, const char *dataset, const struct eco_gpu **gpu)
{
    if (strcmp(name, "A100") == 0 && strncmp(dataset, "anl", 3) == 0) {
        name = "A100 SXM 40GB";
    }
    return eco_dataset_find_gpu(name, strlen(name), gpu, NULL);
}

static void judge(const struct eco_csv *c, const int *col, struct table *t)
{
    const struct eco_gpu *gpu;
    const struct eco_model *model;
    struct eco_latency l;
    struct result r;
    const struct eco_csv_cell *cell = c->cell;
    double b = number(c, col[BATCH_MEAN]), p = number(c, col[PROMPT]), g = number(c, col[GEN]);
    enum eco_engine e = eco_engine_parse(cell[col[ENGINE]].s, cell[col[ENGINE]].len);
    b = isfinite(b) ? b : number(c, col[BATCH]);
    if (e == ECO_ENGINE_UNKNOWN) {
        t->no_engine++;
    } else if (!(b >= 1)) {
        t->no_batch++;
    } else if (eco_dataset_find_model(cell[col[MODEL]].s, cell[col[MODEL]].len, &model, NULL) !=
               0) {
        t->no_model++;
    } else if (find_gpu(cell[col[GPU]].s, cell[col[DATASET]].s, &gpu) != 0) {
        t->no_gpu++;
    } else {
        struct eco_workload w = {
            .precision = eco_precision_parse(cell[col[PRECISION]].s, cell[col[PRECISION]].len),
            .engine = e,
            .batch = (int)lround(b),
            .prompt_tokens = (int)lround(isfinite(p) ? p : DEFAULT_PROMPT),
            .gen_tokens = (int)lround(fmax(1, isfinite(g) ? g : 256)),
            .n_gpus = (int)number(c, col[DEVICES])};
        if (w.precision == ECO_PREC_NONE) {
            w.precision = ECO_PREC_BF16; /* "BF16/FP16": the checkpoint's own 16 bit */
        }
        memset(&r, 0, sizeof r);
        snprintf(r.engine, sizeof r.engine, "%s", eco_engine_name(e));
        snprintf(r.dataset, sizeof r.dataset, "%s", cell[col[DATASET]].s);
        r.seen = is_seen(r.dataset);
        r.nvidia = strcmp(eco_arch_vendor(gpu->arch), "nvidia") == 0;
        r.single = w.n_gpus == 1;
        if (t->n < ROWS_MAX && eco_latency_predict(NULL, model, gpu, &w, &l, NULL) == 0 &&
            compare(c, col, &l, &w, &r)) {
            t->row[t->n++] = r;
        } else {
            t->refused++;
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *what, const struct table *t,
                  bool (*use)(const struct result *, const char *), const char *key)
{
    static double ape[ROWS_MAX], ratio[ROWS_MAX];
    size_t n = 0, inside = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!use(&t->row[i], key)) {
            continue;
        }
        ape[n] = 100 * fabs(exp(-t->row[i].ln_ratio) - 1); /* of the prediction against measured */
        ratio[n] = exp(-t->row[i].ln_ratio);
        inside += t->row[i].inside;
        n++;
    }
    if (n == 0) {
        return;
    }
    qsort(ape, n, sizeof ape[0], by_value);
    qsort(ratio, n, sizeof ratio[0], by_value);
    printf("%-36s %5zu rows  MdAPE %5.1f %%  median predicted/measured time %.2f  inside 95 %%: "
           "%.0f %%\n",
           what, n, ape[n / 2], ratio[n / 2], 100.0 * (double)inside / (double)n);
}

static bool any(const struct result *r, const char *key)
{
    (void)r;
    (void)key;
    return true;
}

static bool of_engine(const struct result *r, const char *key)
{
    return strcmp(r->engine, key) == 0;
}

static bool of_dataset(const struct result *r, const char *key)
{
    return strcmp(r->dataset, key) == 0;
}

static bool in_fit(const struct result *r, const char *key)
{
    (void)key;
    return r->seen;
}

static bool held_out(const struct result *r, const char *key)
{
    (void)key;
    return !r->seen;
}

static bool held_out_nvidia(const struct result *r, const char *key)
{
    (void)key;
    return !r->seen && r->nvidia;
}

static bool held_out_single(const struct result *r, const char *key)
{
    (void)key;
    return !r->seen && r->nvidia && r->single;
}

static bool held_out_other(const struct result *r, const char *key)
{
    (void)key;
    return !r->seen && !r->nvidia;
}

/* vLLM 0.5.4 took three times the host time of 0.11; llama.cpp was fitted on slow memory only. */
static bool held_out_current(const struct result *r, const char *key)
{
    (void)key;
    return !r->seen && r->nvidia && strcmp(r->dataset, "mlenergy-v2") != 0 &&
           strcmp(r->engine, "llama.cpp") != 0;
}

/* "engine" on NVIDIA cards, held out. */
static bool of_engine_nvidia(const struct result *r, const char *key)
{
    return held_out_nvidia(r, "") && strcmp(r->engine, key) == 0;
}

static bool first_of(const struct table *t, size_t i, bool engine)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(engine ? t->row[j].engine : t->row[j].dataset,
                   engine ? t->row[i].engine : t->row[i].dataset) == 0) {
            return false;
        }
    }
    return true;
}

static void report(const struct table *t)
{
    print("all", t, any, "");
    print("sources behind the constants", t, in_fit, "");
    print("held out", t, held_out, "");
    print("held out, NVIDIA", t, held_out_nvidia, "");
    print("held out, NVIDIA, one card", t, held_out_single, "");
    print("  without vLLM 0.5.4 and llama.cpp", t, held_out_current, "");
    print("held out, other vendors", t, held_out_other, "");
    puts("by engine, all cards:");
    for (size_t i = 0; i < t->n; i++) {
        if (first_of(t, i, true)) {
            print(t->row[i].engine, t, of_engine, t->row[i].engine);
        }
    }
    puts("held out, NVIDIA, by engine:");
    for (size_t i = 0; i < t->n; i++) {
        if (first_of(t, i, true)) {
            print(t->row[i].engine, t, of_engine_nvidia, t->row[i].engine);
        }
    }
    puts("by source:");
    for (size_t i = 0; i < t->n; i++) {
        if (first_of(t, i, false)) {
            print(t->row[i].dataset, t, of_dataset, t->row[i].dataset);
        }
    }
    printf("left out: %d no engine, %d no batch, %d unknown model, %d unknown card, %d other\n",
           t->no_engine, t->no_batch, t->no_model, t->no_gpu, t->refused);
}

int main(int argc, char **argv)
{
    static struct eco_csv csv;
    static struct table table;
    struct eco_err err;
    struct eco_buf text = {0};
    const char *path =
        argc > 1 ? argv[1] : ECO_SOURCE_DIR "/data/validation/external_throughput.csv";
    int col[COLUMNS], rc = eco_file_read(path, 1u << 24, &text, &err);
    if (rc != 0 || (rc = eco_csv_open(&csv, path, text.data, text.len, &err)) != 0) {
        fprintf(stderr, "bench_latency: %s\n", err.message);
        return 1;
    }
    for (int i = 0; i < COLUMNS; i++) {
        col[i] = eco_csv_column(&csv, names[i]);
        if (col[i] < 0) {
            fprintf(stderr, "bench_latency: no column '%s' in %s\n", names[i], path);
            return 1;
        }
    }
    while (eco_csv_next(&csv, &err) == 1) {
        judge(&csv, col, &table);
    }
    report(&table);
    eco_csv_done(&csv);
    eco_buf_done(&text);
    return 0;
}
