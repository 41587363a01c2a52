/* The forward pass against the float64 reference, for every architecture variant. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "eco_test.h"
#include "engine/engine.h"
#include "reference.h"
#include "reference_folder.h"

#include <unistd.h>

#define TOKENS 23

static char folder[256];

static const struct ref_config variants[] = {
    {.type = "llama",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 2,
     .head_dim = 16,
     .inter = 96,
     .vocab = 97,
     .layers = 3,
     .theta = 10000,
     .eps = 1e-5},
    {.type = "llama",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 4,
     .head_dim = 16,
     .inter = 128,
     .vocab = 50,
     .layers = 2,
     .theta = 500000,
     .eps = 1e-5,
     .llama3_factor = 8,
     .f16 = 1},
    {.type = "llama",
     .hidden = 48,
     .heads = 3,
     .kv_heads = 1,
     .head_dim = 16,
     .inter = 80,
     .vocab = 33,
     .layers = 2,
     .theta = 10000,
     .eps = 1e-6,
     .qkv_bias = 1,
     .out_bias = 1},
    {.type = "mistral",
     .hidden = 64,
     .heads = 8,
     .kv_heads = 2,
     .head_dim = 8,
     .inter = 96,
     .vocab = 61,
     .layers = 3,
     .theta = 10000,
     .eps = 1e-5,
     .window = 5,
     .bf16 = 1},
    {.type = "qwen2",
     .hidden = 56,
     .heads = 7,
     .kv_heads = 1,
     .head_dim = 8,
     .inter = 72,
     .vocab = 65,
     .layers = 2,
     .theta = 1000000,
     .eps = 1e-6,
     .qkv_bias = 1,
     .tied = 1},
    {.type = "qwen3",
     .hidden = 64,
     .heads = 4,
     .kv_heads = 2,
     .head_dim = 32,
     .inter = 96,
     .vocab = 70,
     .layers = 2,
     .theta = 1000000,
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
     .fused = 1,
     .window = 7},
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
};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof(folder), "%s/eco-engine-XXXXXX", base ? base : P_tmpdir);
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    static const char *const names[] = {"config.json", "model.safetensors", "part-1.safetensors",
                                        "part-2.safetensors", "model.safetensors.index.json"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void make_ids(const struct ref_config *c, int *ids, int n)
{
    for (int i = 0; i < n; i++) {
        ids[i] = (i * 31 + 7) % c->vocab;
    }
}

/* Largest difference of logits over the largest logit. */
static double logit_error(const struct ref_model *m, const struct eco_engine_options *o)
{
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    size_t n = (size_t)TOKENS * (size_t)m->c.vocab;
    float *got = malloc(n * sizeof(float));
    double *want = malloc(n * sizeof(double)), worst = 0, scale = 0;
    int ids[TOKENS];
    make_ids(&m->c, ids, TOKENS);
    ref_logits(m, ids, TOKENS, want);
    int rc = eco_engine_open(o, &e, &err);
    if (rc) {
        fail_msg("%s: %s (%s)", m->c.type, err.message, err.arg);
    }
    assert_int_equal(eco_engine_logits(e, ids, TOKENS, got, &err), 0);
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]);
        worst = d > worst || d != d ? d : worst;
        scale = fabs(want[i]) > scale ? fabs(want[i]) : scale;
    }
    eco_engine_close(e);
    free(got);
    free(want);
    return worst / scale;
}

static void test_every_variant_agrees_with_float64(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        struct ref_model m;
        ref_make(&m, &variants[i], 11 + i);
        assert_int_equal(ref_write_folder(&m, folder, 1), 0);
        struct eco_engine_options o = {.model = folder,
                                       .precision = ECO_PREC_FP32,
                                       .context_tokens = 64,
                                       .threads = 2,
                                       .isa = ECO_ENGINE_ISA_SCALAR};
        double error = logit_error(&m, &o);
        print_message("%-8s FP32 scalar: %.2g of the largest logit\n", m.c.type, error);
        assert_true(error < 3e-6);
        ref_done(&m);
    }
}

static void test_shards_are_one_model(void **state)
{
    struct ref_model m;
    char path[512];
    (void)state;
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    unlink(path);
    ref_make(&m, &variants[0], 5);
    assert_int_equal(ref_write_folder(&m, folder, 2), 0);
    struct eco_engine_options o = {.model = folder, .precision = ECO_PREC_FP32, .threads = 1};
    assert_true(logit_error(&m, &o) < 3e-6);
    ref_done(&m);
}

/* A type that cannot be read is said to be one: the tensor is there. */
static void test_an_integer_tensor_is_named(void **state)
{
    struct ref_model m;
    struct eco_engine_options o = {.model = folder, .threads = 1};
    struct eco_decoder *e = NULL;
    struct eco_err err = {0};
    char path[512], head[4096];
    static const char dtype[] = "\"dtype\":\"F32\"";
    (void)state;
    ref_make(&m, &variants[0], 5);
    assert_int_equal(ref_write_folder(&m, folder, 1), 0);
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    size_t n = fread(head, 1, sizeof(head), f), at = 0;
    while (at + sizeof(dtype) < n && memcmp(head + at, dtype, sizeof(dtype) - 1) != 0) {
        at++;
    }
    assert_int_equal(fseek(f, (long)at + 9, SEEK_SET), 0); /* to the F */
    assert_int_equal(fputc('I', f), 'I');
    assert_int_equal(fclose(f), 0);
    assert_int_equal(eco_engine_open(&o, &e, &err), ECO_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "is of type I32"));
    unlink(path);
    ref_done(&m);
}

/* exp(mean nll) over windows, from the reference's logits. */
static double ref_perplexity(const struct ref_model *m, const int *ids, int n, int window)
{
    double nll = 0;
    int count = 0;
    double *logits = malloc((size_t)window * (size_t)m->c.vocab * sizeof(double));
    for (int at = 0; n - at >= 2; at += window) {
        int len = n - at < window ? n - at : window;
        ref_logits(m, ids + at, len, logits);
        for (int t = 0; t + 1 < len; t++, count++) {
            const double *row = logits + t * m->c.vocab;
            double sum = 0;
            for (int i = 0; i < m->c.vocab; i++) {
                sum += exp(row[i]);
            }
            nll += log(sum) - row[ids[at + t + 1]];
        }
    }
    free(logits);
    return exp(nll / count);
}

static void test_perplexity_and_greedy_ids(void **state)
{
    int ids[50], out[12], step[12];
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        struct ref_model m;
        struct eco_err err = {0};
        struct eco_decoder *e = NULL;
        double ppl = 0;
        int64_t counted = 0;
        ref_make(&m, &variants[i], 77 + i);
        make_ids(&m.c, ids, 50);
        assert_int_equal(ref_write_folder(&m, folder, 1), 0);
        struct eco_engine_options o = {.model = folder, .precision = ECO_PREC_FP32, .threads = 2};
        assert_int_equal(eco_engine_open(&o, &e, &err), 0);
        assert_int_equal(eco_engine_perplexity(e, ids, 50, 16, &ppl, &counted, &err), 0);
        assert_near_rel(ppl, ref_perplexity(&m, ids, 50, 16), 1e-4);
        assert_int_equal(counted, 3 * 15 + 1);
        assert_int_equal(eco_engine_perplexity(e, ids, 1, 16, &ppl, NULL, &err), ECO_E_RANGE);
        assert_non_null(strstr(err.message, "a text of 1 token:"));
        /* greedy: the reference starts again for every token */
        assert_int_equal(eco_engine_generate(e, ids, 9, 12, out, NULL, NULL, &err), 0);
        double *logits = malloc(21 * (size_t)m.c.vocab * sizeof(double));
        int run[21];
        memcpy(run, ids, 9 * sizeof(int));
        for (int k = 0; k < 12; k++) {
            ref_logits(&m, run, 9 + k, logits);
            const double *row = logits + (8 + k) * m.c.vocab;
            step[k] = 0;
            for (int j = 1; j < m.c.vocab; j++) {
                step[k] = row[j] > row[step[k]] ? j : step[k];
            }
            run[9 + k < 21 ? 9 + k : 20] = step[k];
        }
        assert_memory_equal(out, step, sizeof(out));
        free(logits);
        eco_engine_close(e);
        ref_done(&m);
    }
}

static void test_batch_equals_one_by_one(void **state)
{
    struct ref_model m;
    struct eco_err err = {0};
    struct eco_decoder *one = NULL, *many = NULL;
    int prompt[5 * 7], together[5 * 10], alone[10];
    (void)state;
    ref_make(&m, &variants[0], 3);
    make_ids(&m.c, prompt, 5 * 7);
    assert_int_equal(ref_write_folder(&m, folder, 1), 0);
    struct eco_engine_options o = {.model = folder, .precision = ECO_PREC_FP32, .threads = 2};
    assert_int_equal(eco_engine_open(&o, &one, &err), 0);
    o.batch = 5;
    assert_int_equal(eco_engine_open(&o, &many, &err), 0);
    assert_int_equal(eco_engine_generate(many, prompt, 7, 10, together, NULL, NULL, &err), 0);
    for (int b = 0; b < 5; b++) {
        assert_int_equal(eco_engine_generate(one, prompt + 7 * b, 7, 10, alone, NULL, NULL, &err),
                         0);
        assert_memory_equal(alone, together + 10 * b, sizeof(alone));
    }
    eco_engine_close(one);
    eco_engine_close(many);
    ref_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_variant_agrees_with_float64),
        cmocka_unit_test(test_an_integer_tensor_is_named),
        cmocka_unit_test(test_shards_are_one_model),
        cmocka_unit_test(test_perplexity_and_greedy_ids),
        cmocka_unit_test(test_batch_equals_one_by_one),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
