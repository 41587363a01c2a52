/*
 * The decode engine: GEMV of each precision against this machine's read bandwidth, and tokens per
 * second of a model in each precision. Order A B B A over five blocks, medians; the yardstick is
 * measured between the kernels in the same run. A kernel's own instruction bound is what it does on
 * rows that lie in the cache, in CPU time of one thread, which other programs disturb little, times
 * the threads. The bar is 0.85 of the lower of the two.
 * `bench_engine [WHAT [NAME]]`: WHAT is all, cache, gemv, quantize or model; NAME a format of gemv
 * (NF4; about a second then), else the model (TinyLlama's shape).
 */
#define _XOPEN_SOURCE 700
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/engine_backend.h"
#include "engine/kernels.h"
#include "engine/packed.h"
#include "engine/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROWS 16384 /* the weights of every precision lie far outside the caches */
#define COLS 8192
#define FEW 16
#define TOKENS 64
#define BLOCKS 5
#define MODEL_RUNS 3

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), compare);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

struct stream {
    const float *data;
    float *sums; /* a thread's own, so that the reads are not left out */
};

/* Plain reading: sums of 4096 floats, 16 of them at once. */
static void read_items(const void *ctx, int begin, int end, int thread)
{
    const struct stream *s = ctx;
    float sum[16] = {0};
    for (size_t i = (size_t)begin * 4096; i < (size_t)end * 4096; i += 16) {
        for (int k = 0; k < 16; k++) {
            sum[k] += s->data[i + (size_t)k];
        }
    }
    for (int k = 0; k < 16; k++) {
        s->sums[16 * thread] += sum[k];
    }
}

static double stream_gbps(struct eco_pool *pool, const float *data, size_t bytes)
{
    float sums[16 * ECO_ENGINE_MAX_THREADS] = {0};
    struct stream s = {data, sums};
    int items = (int)(bytes / sizeof(float) / 4096);
    int64_t start = eco_clock_mono_ns();
    eco_engine_pool_run(pool, &(struct eco_job){read_items, &s, items, 64});
    return (double)bytes / (double)(eco_clock_mono_ns() - start);
}

struct fixture {
    struct eco_pool *pool, *single;
    struct eco_backend_ctx *device, *one;
    float *stream, *x, *y, *row;
    unsigned char *codes, *blocks;
    float *scale;
    int threads;
};

static double gemv_gbps(struct fixture *f, const struct eco_matrix *m)
{
    int64_t start = eco_clock_mono_ns();
    eco_engine_backend_cpu.matmul(f->device, &(struct eco_product){m, NULL, f->y}, 1, f->x, 1);
    double ns = (double)(eco_clock_mono_ns() - start);
    return (double)(m->code_bytes + m->constant_bytes) / ns;
}

#define CACHE_ROWS 64 /* of COLS: they stay in the second-level cache */

/* Billions of products of a weight by a token, for each second of CPU time of one thread. */
static double own_bound(struct fixture *f, struct eco_matrix m, int tokens)
{
    double best = 0.0;
    int repeat = tokens > 8 ? 2 : 16 / tokens;
    m.rows = CACHE_ROWS;
    for (int i = 0; i < 20; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        for (int k = 0; k < repeat; k++) {
            eco_engine_backend_cpu.matmul(f->one, &(struct eco_product){&m, NULL, f->y}, 1, f->x,
                                          tokens);
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
        double rate = (double)repeat * CACHE_ROWS * COLS * tokens / ns;
        best = rate > best ? rate : best;
    }
    return best;
}

/* The same sixteen rows again and again, packed where the loader packs. */
static void fill(struct fixture *f, struct eco_matrix *m)
{
    struct eco_matrix few = *m;
    few.data = f->blocks;
    m->packed = eco_engine_can_pack(m->format, ROWS);
    eco_engine_quantize_rows(&few, 0, FEW, f->row);
    for (int r = 0; r < ROWS; r += FEW) {
        if (m->packed) {
            eco_engine_pack_rows(m, r, r + FEW, f->blocks);
        } else {
            eco_engine_quantize_rows(m, r, r + FEW, f->row);
        }
    }
}

static void bench_format(struct fixture *f, enum eco_format format, bool mixed)
{
    struct eco_matrix m = {.format = format,
                           .rows = ROWS,
                           .cols = COLS,
                           .data = f->codes,
                           .scale = f->scale,
                           .mixed = mixed};
    double a[2 * BLOCKS], b[2 * BLOCKS], ratio[BLOCKS];
    eco_engine_matrix_bytes(format, ROWS, COLS, &m.code_bytes, &m.constant_bytes);
    fill(f, &m);
    gemv_gbps(f, &m);
    for (int i = 0; i < BLOCKS; i++) {
        size_t bytes = (size_t)ROWS * COLS * 2;
        a[2 * i] = stream_gbps(f->pool, f->stream, bytes);
        b[2 * i] = gemv_gbps(f, &m);
        b[2 * i + 1] = gemv_gbps(f, &m);
        a[2 * i + 1] = stream_gbps(f->pool, f->stream, bytes);
        ratio[i] = (b[2 * i] + b[2 * i + 1]) / (a[2 * i] + a[2 * i + 1]);
    }
    double g = median(b, 2 * BLOCKS), s = median(a, 2 * BLOCKS);
    double gweights = (double)ROWS * COLS / (double)(m.code_bytes + m.constant_bytes) * g;
    qsort(ratio, BLOCKS, sizeof(*ratio), compare);
    double bytes = (double)(m.code_bytes + m.constant_bytes);
    double own = own_bound(f, m, 1) * bytes / ((double)ROWS * COLS) * f->threads;
    double read = ratio[BLOCKS / 2], bound = g / own;
    printf("gemv %-6s%s %6.1f GB/s, %5.1f Gweights/s; reading %5.1f GB/s: ratio %.2f (%.2f to "
           "%.2f); own instruction bound %5.1f GB/s: ratio %.2f; of the lower %.2f\n",
           eco_engine_format_name(format), mixed ? "+out" : "    ", g, gweights, s, read, ratio[0],
           ratio[BLOCKS - 1], own, bound, read > bound ? read : bound);
    fflush(stdout);
}

static void bench_cache(struct fixture *f)
{
    static const int tokens[] = {1, 2, 4, 8, 16, 32, 64};
    printf("products a nanosecond of CPU time, one thread, %d x %d in the cache, %s; tokens:",
           CACHE_ROWS, COLS, eco_engine_isa_name(eco_engine_backend_cpu.isa(f->one)));
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        printf("%8d", tokens[i]);
    }
    for (int i = 0; i < ECO_FORMAT_COUNT + 1; i++) {
        bool mixed = i == ECO_FORMAT_COUNT;
        enum eco_format format = mixed ? ECO_FORMAT_I8 : (enum eco_format)i;
        struct eco_matrix m = {.format = format,
                               .rows = ROWS,
                               .cols = COLS,
                               .data = f->codes,
                               .scale = f->scale,
                               .mixed = mixed};
        if (format == ECO_FORMAT_NF4_DQ) {
            continue;
        }
        if (format < ECO_FORMAT_Q4_K) {
            fill(f, &m);
        }
        printf("\n%-6s%s", eco_engine_format_name(format), mixed ? "+out" : "    ");
        for (size_t k = 0; k < sizeof(tokens) / sizeof(tokens[0]); k++) {
            printf("%8.1f", own_bound(f, m, tokens[k]));
            fflush(stdout);
        }
    }
    printf("\n");
}

static int bench_gemv(enum eco_engine_isa isa, int threads, bool cache_only, const char *only)
{
    struct fixture f = {.threads = threads};
    struct eco_shape s = {.hidden = COLS, .intermediate = COLS, .heads = 1, .head_dim = 2};
    size_t cells = (size_t)ROWS * COLS;
    s.rope.dims = 2;
    s.rope.theta = 10000;
    f.stream = aligned_alloc(64, cells * 2);
    f.codes = aligned_alloc(64, cells * 4);
    f.scale = malloc(cells / 64 * sizeof(float));
    f.x = aligned_alloc(64, (size_t)TOKENS * COLS * sizeof(float));
    f.y = malloc((size_t)TOKENS * ROWS * sizeof(float));
    f.row = malloc((size_t)FEW * COLS * sizeof(float));
    f.blocks = malloc((size_t)FEW * COLS * 4);
    if (!f.stream || !f.codes || !f.scale || !f.x || !f.y || !f.row || !f.blocks ||
        eco_engine_pool_new(threads, false, &f.pool, NULL) ||
        eco_engine_pool_new(1, false, &f.single, NULL) ||
        eco_engine_backend_cpu.open(&f.device, &s, isa, f.pool, TOKENS, 8, NULL) ||
        eco_engine_backend_cpu.open(&f.one, &s, isa, f.single, TOKENS, 8, NULL)) {
        return 1;
    }
    memset(f.stream, 0, cells * 2);
    for (int i = 0; i < TOKENS * COLS; i++) {
        float v = (float)((i * 7919L) % 1999) / 1000.0f - 1.0f;
        f.row[i % (FEW * COLS)] = v;
        f.x[i] = v + (i % 1024 == 512 ? 7.0f : 0.0f);
    }
    if (cache_only) {
        bench_cache(&f);
    } else {
        printf("gemv %d x %d, %s, %d threads\n", ROWS, COLS,
               eco_engine_isa_name(eco_engine_backend_cpu.isa(f.device)), threads);
        for (int i = 0; i < ECO_FORMAT_Q4_K; i++) {
            bool asked = !only || strcmp(only, eco_engine_format_name((enum eco_format)i)) == 0;
            if (i != ECO_FORMAT_NF4_DQ && asked) {
                bench_format(&f, (enum eco_format)i, false);
            }
        }
        if (!only) {
            bench_format(&f, ECO_FORMAT_I8, true);
        }
    }
    eco_engine_backend_cpu.close(f.device);
    eco_engine_backend_cpu.close(f.one);
    eco_engine_pool_free(f.pool);
    eco_engine_pool_free(f.single);
    free(f.stream);
    free(f.codes);
    free(f.scale);
    free(f.x);
    free(f.y);
    free(f.row);
    free(f.blocks);
    return 0;
}

static double cpu_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of CPU time of one thread for a gigabyte of FP16 weights, from memory to codes. */
static int bench_quantize(void)
{
    static const enum eco_format to[] = {ECO_FORMAT_F16, ECO_FORMAT_NF4, ECO_FORMAT_I8,
                                         ECO_FORMAT_Q8_0, ECO_FORMAT_Q4_0};
    enum { N = 1 << 25, WIDE = 2048 };
    uint16_t *half = malloc((size_t)N * 2);
    unsigned char *codes = malloc((size_t)N * 2);
    float *scale = malloc((size_t)N / 64 * sizeof(float)), row[16 * WIDE];
    if (!half || !codes || !scale) {
        return 1;
    }
    memset(codes, 1, (size_t)N * 2); /* pages are there before the clock runs */
    for (int i = 0; i < N; i++) {    /* normal halves of either sign */
        half[i] = (uint16_t)(0x2000u + ((unsigned)i * 2654435761u >> 19 & 0x8fffu));
    }
    for (size_t k = 0; k < sizeof(to) / sizeof(to[0]); k++) {
        struct eco_matrix from = {
            .format = ECO_FORMAT_F16, .rows = N / WIDE, .cols = WIDE, .data = half};
        struct eco_matrix m = from;
        m.format = to[k];
        m.data = codes;
        m.scale = scale;
        double start = cpu_s(CLOCK_THREAD_CPUTIME_ID);
        for (int r = 0; r < m.rows; r += 16) {
            for (int i = 0; i < 16; i++) {
                eco_engine_dequant(&from, r + i, 0, WIDE, row + i * WIDE);
            }
            eco_engine_quantize_rows(&m, r, r + 16, row);
        }
        double s = cpu_s(CLOCK_THREAD_CPUTIME_ID) - start;
        printf("quantize FP16 to %-5s %.2f s of CPU time a GB of FP16 on one core\n",
               eco_engine_format_name(to[k]), s / ((double)N * 2e-9));
    }
    free(half);
    free(codes);
    free(scale);
    return 0;
}

static int bench_model(const char *model, enum eco_precision p, int batch)
{
    struct eco_engine_options o = {
        .model = model, .precision = p, .batch = batch, .context_tokens = 256, .seed = 1};
    struct eco_decoder *e = NULL;
    struct eco_err err = {0};
    struct eco_engine_timing t;
    double tps[MODEL_RUNS], pre[MODEL_RUNS];
    int prompt[64 * 64];
    double cpu = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
    if (eco_engine_open(&o, &e, &err)) {
        printf("%s: %s\n", eco_precision_name(p), err.message);
        return 1;
    }
    cpu = cpu_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    eco_engine_prompt(e, 1, 64, prompt);
    for (int i = 0; i < MODEL_RUNS; i++) {
        if (eco_engine_generate(e, prompt, 64, 16, NULL, NULL, &t, &err)) {
            printf("%s\n", err.message);
        }
        tps[i] = t.decode_tokens_per_s;
        pre[i] = t.prefill_tokens_per_s;
    }
    const struct eco_engine_info *i = eco_engine_info(e);
    double m = median(tps, MODEL_RUNS);
    printf("%-24s %-10s batch %2d: %7.2f tok/s (%.2f..%.2f), %5.1f GB/s of weights; prefill %6.1f "
           "tok/s; load %.1f s (%.1f s of CPU time)\n",
           model, eco_precision_name(p), batch, m, tps[0], tps[MODEL_RUNS - 1],
           m / batch * (double)i->read_bytes_per_token * 1e-9, median(pre, MODEL_RUNS), i->load_s,
           cpu);
    fflush(stdout);
    eco_engine_close(e);
    return 0;
}

int main(int argc, char **argv)
{
    static const enum eco_precision all[] = {
        ECO_PREC_FP16,      ECO_PREC_NF4,       ECO_PREC_NF4_A8,   ECO_PREC_INT8_MIXED,
        ECO_PREC_INT8_PURE, ECO_PREC_GGUF_Q8_0, ECO_PREC_GGUF_Q4_0};
    const char *what = argc > 1 ? argv[1] : "all";
    const char *model = argc > 2 ? argv[2] : "synthetic:TinyLlama-1.1B-Chat-v1.0";
    const char *only = argc > 2 && strcmp(what, "gemv") == 0 ? argv[2] : NULL;
    int threads = eco_engine_cpus(), rc = 0;
    bool everything = strcmp(what, "all") == 0;
    if (everything || strcmp(what, "cache") == 0) {
        rc = bench_gemv(ECO_ENGINE_ISA_AUTO, threads, true, NULL);
        rc = rc ? rc : bench_gemv(ECO_ENGINE_ISA_AVX2, threads, true, NULL);
    }
    if (everything || strcmp(what, "gemv") == 0) {
        rc = rc ? rc : bench_gemv(ECO_ENGINE_ISA_AUTO, threads, false, only);
        rc = rc ? rc : bench_gemv(ECO_ENGINE_ISA_AVX2, threads, false, only);
    }
    if (rc == 0 && (everything || strcmp(what, "quantize") == 0)) {
        rc = bench_quantize();
    }
    if (!everything && strcmp(what, "model") != 0) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < sizeof(all) / sizeof(all[0]); i++) {
        rc = bench_model(model, all[i], 1);
        rc = rc ? rc : bench_model(model, all[i], 8);
    }
    return rc;
}
