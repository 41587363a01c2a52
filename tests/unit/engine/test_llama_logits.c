/*
 * The engine against libllama: files that our writer makes of seeded weights, for every
 * architecture and type, loaded by both. Two implementations that share no code.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "eco_test.h"
#include "engine/engine.h"
#include "engine/quantize.h"
#include "llama_peer.h"
#include "reference.h"
#include "reference_folder.h"

#include <unistd.h>

#define TOKENS 24
#define GREEDY 24

static char folder[256], path[300];
static struct peer peer;

static const struct ref_config models[] = {
    {.type = "llama",
     .hidden = 128,
     .heads = 4,
     .kv_heads = 2,
     .head_dim = 32,
     .inter = 192,
     .vocab = 96,
     .layers = 3,
     .theta = 10000,
     .eps = 1e-5},
    {.type = "llama",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 4,
     .head_dim = 16,
     .inter = 128,
     .vocab = 64,
     .layers = 2,
     .theta = 500000,
     .eps = 1e-5,
     .llama3_factor = 8,
     .tied = 1},
    {.type = "llama",
     .hidden = 64,
     .heads = 2,
     .kv_heads = 1,
     .head_dim = 32,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 10000,
     .eps = 1e-5,
     .qkv_bias = 1,
     .out_bias = 1},
    {.type = "mistral",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 2,
     .head_dim = 16,
     .inter = 96,
     .vocab = 64,
     .layers = 3,
     .theta = 10000,
     .eps = 1e-5,
     .bf16 = 1},
    {.type = "qwen2",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 2,
     .head_dim = 16,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 1e6,
     .eps = 1e-6,
     .qkv_bias = 1,
     .tied = 1},
    {.type = "qwen3",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 2,
     .head_dim = 32,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 1e6,
     .eps = 1e-6,
     .qk_norm = 1,
     .tied = 1},
    {.type = "phi3",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 4,
     .head_dim = 16,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 10000,
     .eps = 1e-5,
     .fused = 1},
    {.type = "gemma2",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 2,
     .head_dim = 24,
     .inter = 96,
     .vocab = 64,
     .layers = 3,
     .theta = 10000,
     .eps = 1e-6,
     .gemma2 = 1,
     .tied = 1,
     .window = 6,
     .window_every = 2},
    {.type = "llama", /* yarn: bounds inside, cosine and sine multiplied */
     .hidden = 64,
     .heads = 2,
     .kv_heads = 1,
     .head_dim = 32,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 10000,
     .eps = 1e-5,
     .rope = "yarn",
     .rope_factor = 8,
     .rope_original = 64},
    {.type = "qwen2",
     .hidden = 64,
     .heads = 2,
     .kv_heads = 2,
     .head_dim = 32,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 1e6,
     .eps = 1e-6,
     .qkv_bias = 1,
     .rope = "yarn",
     .rope_factor = 16,
     .rope_original = 32,
     .rope_attention = 1.25},
    {.type = "phi3", /* longrope, 64 tokens being beyond 32: the long factors */
     .hidden = 64,
     .heads = 2,
     .kv_heads = 2,
     .head_dim = 32,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 10000,
     .eps = 1e-5,
     .fused = 1,
     .rope = "longrope",
     .rope_factor = 16,
     .rope_original = 32,
     .rope_long = 1},
    {.type = "phi3", /* and the short ones */
     .hidden = 64,
     .heads = 2,
     .kv_heads = 2,
     .head_dim = 32,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 10000,
     .eps = 1e-5,
     .fused = 1,
     .rope = "longrope",
     .rope_factor = 0.5,
     .rope_original = 1024},
    {.type = "llama", /* llama.cpp takes the lists for this architecture too */
     .hidden = 64,
     .heads = 2,
     .kv_heads = 2,
     .head_dim = 32,
     .inter = 96,
     .vocab = 64,
     .layers = 2,
     .theta = 10000,
     .eps = 1e-5,
     .rope = "longrope",
     .rope_factor = 16,
     .rope_original = 32,
     .rope_long = 1},
};

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof(folder), "%s/eco-llama-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/model.gguf", folder);
    return 0;
}

static int teardown(void **state)
{
    char name[600];
    const char *const names[] = {"config.json", "model.safetensors", "model.gguf"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static void *llama_context(void *model)
{
    void *context = peer.open(model, peer.context_defaults());
    assert_non_null(context);
    peer.set_threads(context, 1, 1); /* its threads spin: more than there are CPUs take minutes */
    return context;
}

/* Logits [n][vocab] of llama.cpp, one token at a time. */
static void llama_logits(void *context, const int *ids, int n, int vocab, float *out)
{
    for (int i = 0; i < n; i++) {
        int32_t id = ids[i];
        assert_int_equal(peer.decode(context, peer.batch(&id, 1)), 0);
        memcpy(out + i * vocab, peer.logits(context, -1), (size_t)vocab * sizeof(float));
    }
}

static int best(const float *x, int n, double *margin)
{
    int b = 0;
    for (int i = 1; i < n; i++) {
        b = x[i] > x[b] ? i : b;
    }
    *margin = 1e30;
    for (int i = 0; i < n; i++) {
        double d = (double)x[b] - (double)x[i];
        *margin = i != b && d < *margin ? d : *margin;
    }
    return b;
}

/* Relative RMS difference; and the same best token wherever llama's lead is clear. */
static double compare(const float *ours, const float *theirs, int vocab, int *clear, double *noise)
{
    double square = 0, scale = 0;
    for (int i = 0; i < TOKENS * vocab; i++) {
        double d = (double)ours[i] - (double)theirs[i];
        square += d * d;
        scale += (double)theirs[i] * (double)theirs[i];
    }
    double rms = sqrt(square / (TOKENS * vocab));
    *noise = 12 * rms;
    for (int t = 0; t < TOKENS; t++) {
        double margin, own;
        int want = best(theirs + t * vocab, vocab, &margin);
        if (margin > *noise) {
            assert_int_equal(best(ours + t * vocab, vocab, &own), want);
            (*clear)++;
        }
    }
    return sqrt(square / scale);
}

/* Greedy text of both from one prompt, as long as the lead is clear. */
static int same_greedy(struct eco_decoder *e, void *model, int vocab, double noise)
{
    float *logits = malloc((size_t)vocab * 4 * sizeof(float));
    int prompt[4] = {1, 5, 9, 2}, ours[GREEDY], same = 0;
    struct eco_err err = {0};
    void *context = llama_context(model);
    assert_int_equal(eco_engine_generate(e, prompt, 4, GREEDY, ours, NULL, NULL, &err), 0);
    llama_logits(context, prompt, 4, vocab, logits);
    for (const float *last = logits + 3 * vocab; same < GREEDY; same++, last = logits) {
        double margin;
        int want = best(last, vocab, &margin);
        if (margin < noise) {
            break;
        }
        assert_int_equal(ours[same], want);
        llama_logits(context, &want, 1, vocab, logits);
    }
    peer.close(context);
    free(logits);
    return same;
}

/* The file at `path`, of our writer or of llama's, in both. */
static void both(const struct ref_config *c, const char *what, double bound)
{
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    struct eco_engine_options o = {.model = path, .threads = 2, .context_tokens = 64};
    size_t n = (size_t)TOKENS * (size_t)c->vocab;
    float *ours = malloc(n * sizeof(float)), *theirs = malloc(n * sizeof(float));
    int ids[TOKENS], clear = 0;
    for (int i = 0; i < TOKENS; i++) {
        ids[i] = (i * 13 + 5) % c->vocab;
    }
    if (eco_engine_open(&o, &e, &err)) {
        fail_msg("%s %s: %s (%s)", c->type, what, err.message, err.arg);
    }
    void *model = peer.load(path, peer.model_defaults());
    assert_non_null(model);
    assert_int_equal(eco_engine_logits(e, ids, TOKENS, ours, &err), 0);
    void *context = llama_context(model);
    llama_logits(context, ids, TOKENS, c->vocab, theirs);
    double noise, off = compare(ours, theirs, c->vocab, &clear, &noise);
    int same = same_greedy(e, model, c->vocab, noise);
    peer.close(context);
    print_message("%-8s %-11s logits differ by %.2g (rms, relative); best token equal at %d of %d "
                  "clear places, greedy ids at %d\n",
                  c->type, what, off, clear, clear, same);
    assert_true(off < bound);
    assert_true(clear > 0);
    peer.free_model(model);
    eco_engine_close(e);
    free(ours);
    free(theirs);
}

static void write_ours(const struct ref_config *c, enum eco_precision p)
{
    struct eco_quantized q;
    struct eco_err err = {0};
    if (eco_engine_quantize(folder, path, p, 2, true, &q, &err)) {
        fail_msg("%s %s: %s (%s)", c->type, eco_precision_name(p), err.message, err.arg);
    }
}

/* The engine's FP32 logits of a file. */
static void exact_logits(const char *file, int vocab, float *out)
{
    struct eco_engine_options o = {
        .model = file, .precision = ECO_PREC_FP32, .threads = 1, .context_tokens = TOKENS};
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    int ids[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
        ids[i] = (i * 7 + 3) % vocab;
    }
    assert_int_equal(eco_engine_open(&o, &e, &err), 0);
    assert_int_equal(eco_engine_logits(e, ids, TOKENS, out, &err), 0);
    eco_engine_close(e);
}

/* llama's quantizer over our F32 file: we read it as llama does, and our own quantizer makes the
 * same codes: in FP32 both files give the same logits, bit for bit. */
static void theirs(const struct ref_config *c, enum eco_precision p, uint32_t file_type)
{
    char ours[320];
    size_t n = (size_t)TOKENS * (size_t)c->vocab;
    float *a = malloc(n * sizeof(float)), *b = malloc(n * sizeof(float));
    struct peer_box params = peer.quantize_defaults();
    params.words[0] = 1 | (uint64_t)file_type << 32; /* threads, type */
    ((unsigned char *)params.words)[19] = 1;         /* all tensors alike */
    snprintf(ours, sizeof(ours), "%s/ours.gguf", folder);
    write_ours(c, p);
    assert_int_equal(rename(path, ours), 0);
    exact_logits(ours, c->vocab, a);
    write_ours(c, ECO_PREC_FP32);
    snprintf(ours, sizeof(ours), "%s/theirs.gguf", folder);
    assert_int_equal(peer.quantize(path, ours, &params), 0);
    assert_int_equal(rename(ours, path), 0);
    exact_logits(path, c->vocab, b);
    both(c, p == ECO_PREC_GGUF_Q8_0 ? "their Q8_0" : "their Q4_0", 3e-2);
    assert_memory_equal(a, b, n * sizeof(float));
    snprintf(ours, sizeof(ours), "%s/ours.gguf", folder);
    unlink(ours);
    free(a);
    free(b);
}

static void test_logits(void **state)
{
    static const struct {
        enum eco_precision p;
        double bound;
    } types[] = {{ECO_PREC_FP32, 2e-3},
                 {ECO_PREC_FP16, 2e-3},
                 {ECO_PREC_BF16, 2e-2},
                 {ECO_PREC_GGUF_Q8_0, 3e-2},
                 {ECO_PREC_GGUF_Q4_0, 3e-2}};
    (void)state;
    if (!peer.load) {
        skip();
    }
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct ref_model m;
        ref_make(&m, &models[i], i + 100);
        ref_write_folder(&m, folder, 1);
        for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
            write_ours(&models[i], types[k].p);
            both(&models[i], eco_precision_name(types[k].p), types[k].bound);
        }
        theirs(&models[i], ECO_PREC_GGUF_Q8_0, 7);
        theirs(&models[i], ECO_PREC_GGUF_Q4_0, 2);
        ref_done(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_logits)};
    peer_open(&peer);
    return cmocka_run_group_tests(tests, setup, teardown);
}
