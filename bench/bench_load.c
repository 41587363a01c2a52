/*
 * Opening and holding a model: a Hugging Face folder of FP16 weights in a model's shape, written
 * here as real bytes, opened by mmap as stored (warm: the bar is 1 s) and quantized while it loads;
 * then the peak of resident memory in each precision, each in a process of its own, against its
 * bound: weights + KV cache + 5 % + 64 MB. `bench_load [MODEL]`; files in TMPDIR are removed.
 */
#define _GNU_SOURCE /* wait4, mkdtemp */
#include "base/clock.h"
#include "dataset/dataset.h"
#include "engine/engine.h"
#include "engine/file_tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS 5
#define CHUNK (1u << 20)

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static void write_config(const struct eco_shape *s, FILE *f)
{
    fprintf(f,
            "{\"model_type\": \"llama\", \"hidden_size\": %d, \"num_hidden_layers\": %d,"
            " \"num_attention_heads\": %d, \"num_key_value_heads\": %d, \"head_dim\": %d,"
            " \"intermediate_size\": %d, \"vocab_size\": %d, \"max_position_embeddings\": %d,"
            " \"rms_norm_eps\": 1e-5, \"rope_theta\": 10000.0, \"tie_word_embeddings\": %s,"
            " \"torch_dtype\": \"float16\"}\n",
            s->hidden, s->layers, s->heads, s->kv_heads, s->head_dim, s->intermediate, s->vocab,
            s->max_context, s->tied ? "true" : "false");
}

/* One entry of the safetensors head; returns the bytes of the tensor. */
static uint64_t put_entry(FILE *f, const struct eco_slot *t, uint64_t at)
{
    const char *pattern = eco_engine_hf_names.role[t->role];
    uint64_t bytes = (uint64_t)t->rows * (uint64_t)t->cols * 2, end = at + bytes;
    const char *layer = strstr(pattern, "%d");
    fprintf(f, "%s\"", at > 0 ? ", " : "");
    if (layer) {
        fprintf(f, "%.*s%d%s", (int)(layer - pattern), pattern, t->layer, layer + 2);
    } else {
        fputs(pattern, f);
    }
    if (t->role < ECO_ROLE_MATRICES) {
        fprintf(f, "\": {\"dtype\": \"F16\", \"shape\": [%d, %d], ", t->rows, t->cols);
    } else {
        fprintf(f, "\": {\"dtype\": \"F16\", \"shape\": [%d], ", t->cols);
    }
    fprintf(f, "\"data_offsets\": [%llu, %llu]}", (unsigned long long)at, (unsigned long long)end);
    return bytes;
}

static uint64_t put_entries(FILE *f, const struct eco_shape *s)
{
    uint64_t at = 0;
    for (int layer = -1; layer < s->layers; layer++) {
        for (int r = 0; r < ECO_ROLE_COUNT; r++) {
            bool outside = r == ECO_ROLE_EMBED || r == ECO_ROLE_HEAD || r == ECO_ROLE_OUT_NORM;
            struct eco_slot t = eco_engine_slot(s, (enum eco_role)r, layer);
            at += t.rows > 0 && outside == (layer < 0) ? put_entry(f, &t, at) : 0;
        }
    }
    return at;
}

/* Halves of about 1/64, the same megabyte again and again: what is in them does not matter. */
static bool write_weights(const struct eco_shape *s, FILE *f)
{
    static uint16_t chunk[CHUNK / 2];
    char *head = NULL;
    size_t len = 0;
    FILE *h = open_memstream(&head, &len);
    if (!h) {
        return false;
    }
    fputs("{", h);
    uint64_t bytes = put_entries(h, s), n = 0;
    fputs("}", h);
    fclose(h);
    n = len;
    for (size_t i = 0; i < CHUNK / 2; i++) {
        chunk[i] = (uint16_t)(0x2000u + ((unsigned)i * 2654435761u >> 19 & 0x8fffu));
    }
    bool ok = fwrite(&n, sizeof(n), 1, f) == 1 && fwrite(head, 1, len, f) == len;
    for (uint64_t at = 0; ok && at < bytes; at += CHUNK) {
        size_t part = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
        ok = fwrite(chunk, 1, part, f) == part;
    }
    free(head);
    return ok;
}

static bool write_folder(const struct eco_shape *s, const char *folder)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/config.json", folder);
    FILE *f = fopen(path, "w");
    if (!f) {
        return false;
    }
    write_config(s, f);
    bool ok = fclose(f) == 0;
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    f = ok ? fopen(path, "wb") : NULL;
    ok = f && write_weights(s, f);
    return f && fclose(f) == 0 && ok;
}

static void remove_folder(const char *folder)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/config.json", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    unlink(path);
    rmdir(folder);
}

/* ---- what is measured ------------------------------------------------------------------------ */

static int bench_open(const char *folder, enum eco_precision p)
{
    double s[RUNS];
    struct eco_engine_info info = {0};
    int runs = p == ECO_PREC_NONE ? RUNS : 1;
    for (int i = 0; i < runs; i++) {
        struct eco_engine_options o = {.model = folder, .precision = p, .context_tokens = 256};
        struct eco_decoder *e = NULL;
        struct eco_err err = {0};
        if (eco_engine_open(&o, &e, &err)) {
            printf("%s: %s\n", folder, err.message);
            return 1;
        }
        info = *eco_engine_info(e);
        s[i] = info.load_s;
        eco_engine_close(e);
    }
    qsort(s, (size_t)runs, sizeof(*s), compare);
    printf("open %-10s %6.3f s (%.3f to %.3f, n %d), %.2f GB mapped, %d threads\n",
           p == ECO_PREC_NONE ? "as stored" : eco_precision_name(p), s[runs / 2], s[0], s[runs - 1],
           runs, (double)info.mapped_bytes * 1e-9, info.threads);
    fflush(stdout);
    return 0;
}

/* In the child: what it holds, to the parent. */
static void hold(const char *model, enum eco_precision p, int to)
{
    struct eco_engine_options o = {
        .model = model, .precision = p, .batch = 2, .context_tokens = 512};
    struct eco_decoder *e = NULL;
    struct eco_err err = {0};
    int prompt[2 * 64];
    uint64_t bytes = 0;
    if (eco_engine_open(&o, &e, &err) == 0) {
        eco_engine_prompt(e, 1, 64, prompt);
        eco_engine_generate(e, prompt, 64, 8, NULL, NULL, NULL, &err);
        bytes = eco_engine_info(e)->weight_bytes + eco_engine_info(e)->kv_bytes;
    }
    _exit(write(to, &bytes, sizeof(bytes)) != sizeof(bytes));
}

static int bench_peak(const char *model, enum eco_precision p)
{
    int ends[2], status = 0;
    uint64_t bytes = 0;
    struct rusage use;
    if (pipe(ends)) {
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        hold(model, p, ends[1]);
    }
    close(ends[1]);
    bool ok = child > 0 && read(ends[0], &bytes, sizeof(bytes)) == sizeof(bytes) && bytes > 0;
    close(ends[0]);
    ok = child > 0 && wait4(child, &status, 0, &use) == child && status == 0 && ok;
    double peak = ok ? (double)use.ru_maxrss * 1024.0 : 0.0;
    double bound = (double)bytes * 1.05 + 64.0 * 1024 * 1024;
    printf("peak %-10s %7.3f GB resident; weights and KV cache %.3f GB, bound %.3f GB: %s\n",
           eco_precision_name(p), peak * 1e-9, (double)bytes * 1e-9, bound * 1e-9,
           !ok             ? "could not be run"
           : peak <= bound ? "within"
                           : "OVER");
    fflush(stdout);
    return !ok || peak > bound;
}

int main(int argc, char **argv)
{
    static const enum eco_precision all[] = {
        ECO_PREC_FP32,      ECO_PREC_FP16,     ECO_PREC_BF16,       ECO_PREC_NF4,
        ECO_PREC_NF4_DQ,    ECO_PREC_NF4_A8,   ECO_PREC_INT8_MIXED, ECO_PREC_INT8_PURE,
        ECO_PREC_GGUF_Q8_0, ECO_PREC_GGUF_Q4_0};
    const char *name = argc > 1 ? argv[1] : "TinyLlama-1.1B-Chat-v1.0", *base = getenv("TMPDIR");
    const struct eco_model *m = NULL;
    char folder[300], model[200];
    struct eco_shape s;
    struct eco_err err = {0};
    int rc = 0;
    snprintf(model, sizeof(model), "synthetic:%s", name);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) { /* first: this process is small */
        rc |= bench_peak(model, all[i]);
    }
    snprintf(folder, sizeof(folder), "%s/eco-load-XXXXXX", base ? base : P_tmpdir);
    if (eco_dataset_find_model(name, strlen(name), &m, &err) ||
        eco_engine_shape_from_model(m, &s, &err) || !mkdtemp(folder)) {
        printf("'%s': %s\n", name, err.message);
        return 1;
    }
    if (write_folder(&s, folder)) {
        rc |= bench_open(folder, ECO_PREC_NONE);
        rc |= bench_open(folder, ECO_PREC_NF4);
    } else {
        printf("%s cannot be written\n", folder);
        rc = 1;
    }
    remove_folder(folder);
    return rc;
}
