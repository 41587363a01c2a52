/*
 * Tokens per second against llama.cpp (libllama of the npm package @node-llama-cpp/linux-x64), on
 * the same GGUF file, the same prompt, the same number of threads: prompt, decode of one sequence,
 * decode of many. Order A B B A over five blocks; a block's ratio is theirs over ours, the median
 * of ratios is printed with its range. Wall time suffers when other programs run; CPU time of the
 * process, with one thread each, does not, and is printed too.
 * `bench_llama [MODEL [THREADS [BATCH [PRECISION]]]]`; files are made in TMPDIR and removed.
 */
#define _GNU_SOURCE /* dlopen's RTLD flags, mkdtemp */
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/gguf_write.h"
#include "engine/open_model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 5
#define PROMPT 64
#define SHORT_PROMPT 8 /* of each of many sequences: there it is decode that is measured */
#define STEPS 16
#define MAX_BATCH 32
#define LIBRARIES ECO_SOURCE_DIR "/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"

/* ---- the peer, as far as it is called -------------------------------------------------------- */

/* Parameters are passed by value; only their first fields are ours to set, the rest is as the
 * library fills it. Larger than any version's, which a callee does not notice. */
struct peer_params {
    uint32_t first[128]; /* of a context: context, batch, micro-batch, sequences */
};

struct peer_batch {
    int32_t n_tokens;
    int32_t *token;
    float *embd;
    int32_t *pos;
    int32_t *n_seq_id;
    int32_t **seq_id;
    int8_t *logits;
};

struct peer {
    void (*load_all)(const char *folder);
    void (*log_set)(void (*log)(int level, const char *text, void *ctx), void *ctx);
    void (*init)(void);
    struct peer_params (*model_defaults)(void);
    struct peer_params (*context_defaults)(void);
    void *(*model_load)(const char *path, struct peer_params p);
    void *(*context_new)(void *model, struct peer_params p);
    void (*set_threads)(void *context, int32_t n, int32_t n_batch);
    int32_t (*decode)(void *context, struct peer_batch b);
    float *(*logits)(void *context, int32_t i);
    void *(*memory)(void *context);
    void (*memory_clear)(void *memory, bool data);
    void (*context_free)(void *context);
    void (*model_free)(void *model);
    void *model, *context;
};

static void quiet(int level, const char *text, void *ctx)
{
    (void)ctx;
    if (level >= 4 && strcmp(text, ".") != 0) { /* errors; 5 continues a line */
        fputs(text, stderr);
    }
}

static bool peer_load(struct peer *p)
{
    void *base = dlopen(LIBRARIES "/libggml-base.so", RTLD_NOW | RTLD_GLOBAL);
    void *ggml = base ? dlopen(LIBRARIES "/libggml.v0.4.0.so", RTLD_NOW | RTLD_GLOBAL) : NULL;
    void *lib = ggml ? dlopen(LIBRARIES "/libllama.v0.4.0.so", RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!lib) {
        fprintf(stderr, "no peer: %s\n", dlerror());
        return false;
    }
    const struct {
        void *to; /* a function pointer of struct peer */
        const char *name;
    } rows[] = {{&p->load_all, "ggml_backend_load_all_from_path"},
                {&p->log_set, "llama_log_set"},
                {&p->init, "llama_backend_init"},
                {&p->model_defaults, "llama_model_default_params"},
                {&p->context_defaults, "llama_context_default_params"},
                {&p->model_load, "llama_model_load_from_file"},
                {&p->context_new, "llama_init_from_model"},
                {&p->set_threads, "llama_set_n_threads"},
                {&p->decode, "llama_decode"},
                {&p->logits, "llama_get_logits_ith"},
                {&p->memory, "llama_get_memory"},
                {&p->memory_clear, "llama_memory_clear"},
                {&p->context_free, "llama_free"},
                {&p->model_free, "llama_model_free"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *at = dlsym(strcmp(rows[i].name, "ggml_backend_load_all_from_path") == 0 ? ggml : lib,
                         rows[i].name);
        if (!at) {
            fprintf(stderr, "no peer: %s is not there\n", rows[i].name);
            return false;
        }
        memcpy(rows[i].to, &at, sizeof(at));
    }
    p->log_set(quiet, NULL);
    p->load_all(LIBRARIES);
    p->init();
    return true;
}

static bool peer_open(struct peer *p, const char *file, int threads, int batch)
{
    struct peer_params c = p->context_defaults();
    if (c.first[0] != 512 || c.first[2] != 512 || c.first[3] != 1) {
        fprintf(stderr, "no peer: its context parameters are not laid out as in v0.4.0\n");
        return false;
    }
    c.first[0] = (uint32_t)(batch * (PROMPT + STEPS + 16));
    c.first[3] = (uint32_t)batch;
    p->model = p->model_load(file, p->model_defaults());
    p->context = p->model ? p->context_new(p->model, c) : NULL;
    if (!p->context) {
        fprintf(stderr, "no peer: it cannot load %s\n", file);
        return false;
    }
    p->set_threads(p->context, threads, threads);
    return true;
}

static void peer_close(struct peer *p)
{
    if (p->context) {
        p->context_free(p->context);
    }
    if (p->model) {
        p->model_free(p->model);
    }
    p->context = p->model = NULL;
}

/* ---- one run of each ------------------------------------------------------------------------- */

struct times {
    double prompt_s, decode_s, prompt_cpu_s, decode_cpu_s;
    int last; /* token, so that both do what greedy decoding does */
};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double wall_s(void)
{
    return (double)eco_clock_mono_ns() * 1e-9;
}

static int argmax(const float *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++) {
        best = x[i] > x[best] ? i : best;
    }
    return best;
}

static bool peer_pass(struct peer *p, const int *ids, const int *seq, const int *pos, int n,
                      bool all, int vocab, int *next)
{
    int32_t token[PROMPT * MAX_BATCH], at[PROMPT * MAX_BATCH], one[PROMPT * MAX_BATCH];
    int32_t which[PROMPT * MAX_BATCH], *ptr[PROMPT * MAX_BATCH];
    int8_t want[PROMPT * MAX_BATCH];
    for (int i = 0; i < n; i++) {
        token[i] = ids[i];
        at[i] = pos[i];
        one[i] = 1;
        which[i] = seq[i];
        ptr[i] = &which[i];
        want[i] = all || i == n - 1;
    }
    struct peer_batch b = {n, token, NULL, at, one, ptr, want};
    if (p->decode(p->context, b) != 0) {
        return false;
    }
    for (int i = all ? 0 : n - 1; i < n; i++) {
        *next++ = argmax(p->logits(p->context, i), vocab);
    }
    return true;
}

static bool peer_run(struct peer *p, const int *prompt, int n_prompt, int batch, int vocab,
                     struct times *out)
{
    int seq[PROMPT], pos[PROMPT], next[MAX_BATCH];
    p->memory_clear(p->memory(p->context), true);
    double wall = wall_s(), cpu = cpu_s();
    for (int b = 0; b < batch; b++) {
        for (int i = 0; i < n_prompt; i++) {
            seq[i] = b;
            pos[i] = i;
        }
        if (!peer_pass(p, prompt + b * n_prompt, seq, pos, n_prompt, false, vocab, &next[b])) {
            return false;
        }
    }
    out->prompt_s = wall_s() - wall;
    out->prompt_cpu_s = cpu_s() - cpu;
    wall = wall_s();
    cpu = cpu_s();
    for (int k = 0; k < STEPS; k++) {
        for (int b = 0; b < batch; b++) {
            seq[b] = b;
            pos[b] = n_prompt + k;
        }
        if (!peer_pass(p, next, seq, pos, batch, true, vocab, next)) {
            return false;
        }
    }
    out->decode_s = wall_s() - wall;
    out->decode_cpu_s = cpu_s() - cpu;
    out->last = next[0];
    return true;
}

struct marks {
    double wall, cpu; /* when the prompt's token came */
    int last;
};

static int on_step(void *ctx, const int *ids, int batch, int index)
{
    struct marks *m = ctx;
    (void)batch;
    if (index == 0) {
        m->wall = wall_s();
        m->cpu = cpu_s();
    }
    m->last = ids[0];
    return 0;
}

static bool our_run(struct eco_decoder *e, const int *prompt, int n_prompt, struct times *out)
{
    struct marks m = {0};
    struct eco_err err = {0};
    double wall = wall_s(), cpu = cpu_s();
    if (eco_engine_generate(e, prompt, n_prompt, STEPS + 1, NULL,
                            &(struct eco_engine_sink){on_step, &m}, NULL, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return false;
    }
    out->prompt_s = m.wall - wall;
    out->prompt_cpu_s = m.cpu - cpu;
    out->decode_s = wall_s() - m.wall;
    out->decode_cpu_s = cpu_s() - m.cpu;
    out->last = m.last;
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

struct writing {
    struct eco_gguf_writer w;
    const struct eco_opened *m;
    enum eco_format format;
};

static const char *const tensor_names[ECO_ROLE_COUNT] = {
    [ECO_ROLE_EMBED] = "token_embd.weight",
    [ECO_ROLE_HEAD] = "output.weight",
    [ECO_ROLE_OUT_NORM] = "output_norm.weight",
    [ECO_ROLE_Q] = "attn_q.weight",
    [ECO_ROLE_K] = "attn_k.weight",
    [ECO_ROLE_V] = "attn_v.weight",
    [ECO_ROLE_O] = "attn_output.weight",
    [ECO_ROLE_GATE] = "ffn_gate.weight",
    [ECO_ROLE_UP] = "ffn_up.weight",
    [ECO_ROLE_DOWN] = "ffn_down.weight",
    [ECO_ROLE_ATTN_NORM] = "attn_norm.weight",
    [ECO_ROLE_FFN_NORM] = "ffn_norm.weight",
};

static int one_tensor(struct writing *f, const struct eco_slot *t, bool data, struct eco_err *err)
{
    bool vector = t->role >= ECO_ROLE_MATRICES;
    struct eco_matrix m = {
        .format = vector ? ECO_FORMAT_F32 : f->format, .rows = t->rows, .cols = t->cols};
    uint64_t bytes = 0, none = 0;
    char name[64];
    eco_engine_matrix_bytes(m.format, t->rows, t->cols, &bytes, &none);
    if (!data) {
        if (t->layer < 0) {
            snprintf(name, sizeof(name), "%s", tensor_names[t->role]);
        } else {
            snprintf(name, sizeof(name), "blk.%d.%s", t->layer, tensor_names[t->role]);
        }
        eco_gguf_put_tensor(&f->w, name, m.format, vector ? 0 : (uint64_t)t->rows,
                            (uint64_t)t->cols, bytes);
        return 0;
    }
    float *x = malloc((size_t)t->rows * (size_t)t->cols * sizeof(float));
    void *codes = malloc((size_t)bytes);
    int rc = -1;
    if (x && codes) {
        m.data = codes;
        f->m->source.rows(f->m->source.ctx, t, 0, t->rows, x);
        eco_engine_quantize_rows(&m, 0, t->rows, x);
        rc = eco_gguf_data(&f->w, codes, (size_t)bytes, err);
        rc = rc ? rc : eco_gguf_pad(&f->w, err);
    }
    free(x);
    free(codes);
    return rc;
}

static int all_tensors(struct writing *f, bool data, struct eco_err *err)
{
    int rc = 0;
    for (int layer = -1; layer < f->m->shape.layers && rc == 0; layer++) {
        for (int r = 0; r < ECO_ROLE_COUNT && rc == 0; r++) {
            struct eco_slot t = eco_engine_slot(&f->m->shape, (enum eco_role)r, layer);
            bool outside = r == ECO_ROLE_EMBED || r == ECO_ROLE_HEAD || r == ECO_ROLE_OUT_NORM;
            if (tensor_names[r] && t.rows > 0 && outside == (layer < 0)) {
                rc = one_tensor(f, &t, data, err);
            }
        }
    }
    return rc;
}

static int write_file(const char *model, enum eco_precision p, const char *path,
                      struct eco_err *err)
{
    struct eco_opened m = {0};
    int rc = eco_engine_open_model(model, 1, true, &m, err);
    if (rc) {
        return rc;
    }
    struct writing f = {.m = &m, .format = eco_engine_format_of(p, ECO_ROLE_Q, ECO_FORMAT_F16)};
    const struct eco_shape *s = &m.shape;
    const struct {
        const char *key;
        int v;
    } keys[] = {{"llama.block_count", s->layers},
                {"llama.context_length", s->max_context},
                {"llama.embedding_length", s->hidden},
                {"llama.feed_forward_length", s->intermediate},
                {"llama.attention.head_count", s->heads},
                {"llama.attention.head_count_kv", s->kv_heads},
                {"llama.rope.dimension_count", s->rope.dims},
                {"llama.vocab_size", s->vocab}};
    eco_gguf_writer_init(&f.w);
    eco_gguf_put_text(&f.w, "general.architecture", "llama", 5);
    eco_gguf_put_text(&f.w, "tokenizer.ggml.model", "none", 4);
    eco_gguf_put_f32(&f.w, "llama.attention.layer_norm_rms_epsilon", s->norm_eps);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        eco_gguf_put_u32(&f.w, keys[i].key, (uint32_t)keys[i].v);
    }
    rc = all_tensors(&f, false, err);
    rc = rc ? rc : eco_gguf_create(&f.w, path, true, err);
    rc = rc ? rc : all_tensors(&f, true, err);
    uint64_t file_bytes = 0;
    rc = rc ? rc : eco_gguf_commit(&f.w, &file_bytes, err);
    eco_gguf_writer_done(&f.w);
    eco_engine_opened_done(&m);
    return rc;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void say(const char *what, double ratio[BLOCKS])
{
    qsort(ratio, BLOCKS, sizeof(*ratio), compare);
    printf("; %s %.2f (%.2f..%.2f)", what, ratio[BLOCKS / 2], ratio[0], ratio[BLOCKS - 1]);
}

static int bench(struct peer *peer, const char *file, const char *name, int threads, int batch)
{
    struct eco_engine_options o = {
        .model = file, .batch = batch, .threads = threads, .context_tokens = PROMPT + STEPS + 1};
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    static int prompt[PROMPT * MAX_BATCH];
    double r[4][BLOCKS];
    struct times a[2], b[2];
    if (!peer_open(peer, file, threads, batch) || eco_engine_open(&o, &e, &err)) {
        fprintf(stderr, "%s\n", err.message);
        peer_close(peer);
        return 1;
    }
    int vocab = eco_engine_info(e)->model.vocab, n_prompt = batch > 1 ? SHORT_PROMPT : PROMPT;
    eco_engine_prompt(e, 1, n_prompt, prompt);
    bool ok = our_run(e, prompt, n_prompt, &a[0]) &&
              peer_run(peer, prompt, n_prompt, batch, vocab, &b[0]);
    bool same = a[0].last == b[0].last;
    for (int i = 0; i < BLOCKS && ok; i++) {
        ok = our_run(e, prompt, n_prompt, &a[0]) &&
             peer_run(peer, prompt, n_prompt, batch, vocab, &b[0]) &&
             peer_run(peer, prompt, n_prompt, batch, vocab, &b[1]) &&
             our_run(e, prompt, n_prompt, &a[1]);
        r[0][i] = (b[0].prompt_s + b[1].prompt_s) / (a[0].prompt_s + a[1].prompt_s);
        r[1][i] = (b[0].decode_s + b[1].decode_s) / (a[0].decode_s + a[1].decode_s);
        r[2][i] = (b[0].prompt_cpu_s + b[1].prompt_cpu_s) / (a[0].prompt_cpu_s + a[1].prompt_cpu_s);
        r[3][i] = (b[0].decode_cpu_s + b[1].decode_cpu_s) / (a[0].decode_cpu_s + a[1].decode_cpu_s);
    }
    if (ok) {
        printf("%-5s %s threads %d batch %2d: decode %.2f tok/s", name, eco_engine_info(e)->isa,
               threads, batch, batch * STEPS / a[1].decode_s);
        say("decode x", r[1]);
        say("CPU time x", r[3]);
        printf("; prompt %.1f tok/s", batch * n_prompt / a[1].prompt_s);
        say("prompt x", r[0]);
        say("CPU time x", r[2]);
        printf("; last token %s\n", same ? "equal" : "other");
        fflush(stdout);
    }
    eco_engine_close(e);
    peer_close(peer);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        enum eco_precision p;
    } rows[] = {{"F16", ECO_PREC_FP16}, {"Q8_0", ECO_PREC_GGUF_Q8_0}, {"Q4_0", ECO_PREC_GGUF_Q4_0}};
    const char *model = argc > 1 ? argv[1] : "synthetic:TinyLlama-1.1B-Chat-v1.0";
    int threads = argc > 2 ? atoi(argv[2]) : eco_engine_cpus(), only = argc > 3 ? atoi(argv[3]) : 0;
    const char *tmp = getenv("TMPDIR");
    char folder[256], file[300];
    struct peer peer = {0};
    struct eco_err err = {0};
    int rc = 0;
    snprintf(folder, sizeof(folder), "%s/eco-bench-XXXXXX", tmp ? tmp : P_tmpdir);
    if (!peer_load(&peer) || !mkdtemp(folder)) {
        printf("llama.cpp is not here: skipped (npm ci)\n");
        return 0;
    }
    printf("against llama.cpp, %s, prompt %d, %d steps; x > 1: ours is faster\n", model, PROMPT,
           STEPS);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && rc == 0; i++) {
        if (argc > 4 && strcmp(argv[4], rows[i].name) != 0) {
            continue;
        }
        snprintf(file, sizeof(file), "%s/model-%s.gguf", folder, rows[i].name);
        rc = write_file(model, rows[i].p, file, &err);
        if (rc) {
            fprintf(stderr, "%s\n", err.message);
        }
        for (int batch = 1; batch <= MAX_BATCH && rc == 0; batch *= batch < 8 ? 8 : 4) {
            if (only == 0 || only == batch) {
                rc = bench(&peer, file, rows[i].name, threads, batch);
            }
        }
        unlink(file);
    }
    rmdir(folder);
    return rc ? 1 : 0;
}
