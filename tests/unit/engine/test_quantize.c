/* Writing GGUF files: what comes back, what is kept, what is refused; and drawing tokens. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "base/file.h"
#include "eco_test.h"
#include "engine/engine.h"
#include "engine/quantize.h"
#include "engine/sample.h"
#include "reference.h"
#include "reference_folder.h"

#include <unistd.h>

#define TOKENS 12

static char folder[256], first[300], second[300];

static const struct ref_config config = {.type = "qwen2",
                                         .hidden = 64,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .head_dim = 16,
                                         .inter = 96,
                                         .vocab = 64,
                                         .layers = 2,
                                         .theta = 1e6,
                                         .eps = 1e-6,
                                         .qkv_bias = 1};

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    struct ref_model m;
    (void)state;
    snprintf(folder, sizeof(folder), "%s/eco-quantize-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(first, sizeof(first), "%s/first.gguf", folder);
    snprintf(second, sizeof(second), "%s/second.gguf", folder);
    ref_make(&m, &config, 11);
    ref_write_folder(&m, folder, 1);
    ref_done(&m);
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"config.json", "model.safetensors", "first.gguf",
                                        "second.gguf"};
    char name[600];
    (void)state;
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder); /* fails when a temporary file was left */
}

static void quantize(const char *from, const char *to, enum eco_precision p)
{
    struct eco_quantized q;
    struct eco_err err = {0};
    if (eco_engine_quantize(from, to, p, 2, true, &q, &err)) {
        fail_msg("%s: %s", eco_precision_name(p), err.message);
    }
    assert_int_equal(q.tensors, 2 * 12 + 3);
}

static void refuse(const char *from, const char *to, enum eco_precision p, bool force, int code,
                   const char *word)
{
    struct eco_quantized q;
    struct eco_err err = {0};
    int rc = eco_engine_quantize(from, to, p, 1, force, &q, &err);
    if (rc != code || !strstr(err.message, word)) {
        fail_msg("%s: %d '%s'", from, rc, err.message);
    }
}

static void logits(const char *model, enum eco_precision p, float *out)
{
    struct eco_engine_options o = {
        .model = model, .precision = p, .threads = 1, .context_tokens = TOKENS};
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    int ids[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
        ids[i] = (i * 11 + 2) % config.vocab;
    }
    assert_int_equal(eco_engine_open(&o, &e, &err), 0);
    assert_int_equal(eco_engine_logits(e, ids, TOKENS, out, &err), 0);
    eco_engine_close(e);
}

/* A file in a precision is what the engine makes of the folder in that precision. */
static void test_same_as_loading(void **state)
{
    static const enum eco_precision all[] = {ECO_PREC_FP32, ECO_PREC_FP16, ECO_PREC_BF16,
                                             ECO_PREC_GGUF_Q8_0, ECO_PREC_GGUF_Q4_0};
    float a[TOKENS * 64], b[TOKENS * 64];
    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        quantize(folder, first, all[i]);
        logits(folder, all[i], a);
        logits(first, all[i], b);
        assert_memory_equal(a, b, sizeof(a));
    }
}

/* From F32, a GGUF gives the same file as the folder does, but for its name. */
static void test_from_gguf(void **state)
{
    float a[TOKENS * 64], b[TOKENS * 64];
    struct eco_buf x = ECO_BUF_INIT, y = ECO_BUF_INIT;
    (void)state;
    quantize(folder, first, ECO_PREC_FP32);
    quantize(first, second, ECO_PREC_GGUF_Q8_0);
    logits(folder, ECO_PREC_GGUF_Q8_0, a);
    logits(second, ECO_PREC_NONE, b);
    assert_memory_equal(a, b, sizeof(a));
    quantize(folder, first, ECO_PREC_GGUF_Q8_0);
    assert_int_equal(eco_file_read(first, 1 << 24, &x, NULL), 0);
    assert_int_equal(eco_file_read(second, 1 << 24, &y, NULL), 0);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.data, y.data, x.len);
    eco_buf_done(&x);
    eco_buf_done(&y);
}

static void test_refusals(void **state)
{
    struct eco_buf b = ECO_BUF_INIT;
    const float nan_bits = NAN;
    (void)state;
    quantize(folder, first, ECO_PREC_FP32);
    refuse(folder, first, ECO_PREC_FP32, false, ECO_E_EXISTS, "already there");
    refuse(folder, second, ECO_PREC_NF4, true, ECO_E_UNSUPPORTED, "write Q4_0");
    refuse(folder, second, ECO_PREC_INT8_MIXED, true, ECO_E_UNSUPPORTED, "write Q8_0");
    refuse(folder, "/proc/x.bin", ECO_PREC_FP16, true, ECO_E_INVALID, "must end with .gguf");
    refuse("/nowhere", second, ECO_PREC_FP16, true, ECO_E_NOT_FOUND, "/nowhere");
    refuse(folder, "/nowhere/x.gguf", ECO_PREC_FP16, true, ECO_E_NOT_FOUND, "/nowhere/");
    refuse(folder, "/proc/x.gguf", ECO_PREC_FP16, true, ECO_E_IO, "room");
    /* a NaN in the last tensor, a file cut in the middle: nothing is left behind */
    assert_int_equal(eco_file_read(first, 1 << 24, &b, NULL), 0);
    unlink(second);
    memcpy(b.data + b.len - 64, &nan_bits, sizeof(nan_bits));
    assert_int_equal(eco_file_write(first, b.data, b.len, true, NULL), 0);
    refuse(first, second, ECO_PREC_GGUF_Q8_0, true, ECO_E_CONTENT, "not finite");
    assert_int_equal(eco_file_write(first, b.data, b.len / 2, true, NULL), 0);
    refuse(first, second, ECO_PREC_GGUF_Q8_0, true, ECO_E_CONTENT, "cut short");
    assert_false(eco_file_exists(second));
    eco_buf_done(&b);
}

/* Draws follow the probabilities; top-k and top-p cut where they say; a seed repeats. */
static void test_drawing(void **state)
{
    enum { DRAWS = 40000 };
    const float logit[5] = {1.0f, 3.0f, 2.0f, -1.0f, 2.5f}; /* best first: 1, 4, 2, 0, 3 */
    static const struct {
        struct eco_sampling how;
        int kept;
    } cases[] = {{{1.0, 1.0, 0, 7}, 5}, {{0.5, 1.0, 0, 7}, 5}, {{1.0, 1.0, 2, 7}, 2},
                 {{1.0, 0.6, 0, 7}, 2}, {{1.0, 0.1, 0, 7}, 1}, {{1.0, 0.9, 4, 7}, 3}};
    static const int order[5] = {1, 4, 2, 0, 3};
    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct eco_sampler s, again;
        int count[5] = {0};
        double p[5], sum = 0;
        assert_int_equal(eco_engine_sampler_init(&s, &cases[c].how, 5, NULL), 0);
        assert_int_equal(eco_engine_sampler_init(&again, &cases[c].how, 5, NULL), 0);
        for (int i = 0; i < DRAWS; i++) {
            int id = eco_engine_sampler_pick(&s, 0, logit, 5);
            assert_int_equal(id, eco_engine_sampler_pick(&again, 0, logit, 5));
            count[id]++;
        }
        for (int i = 0; i < cases[c].kept; i++) {
            p[i] = exp((double)logit[order[i]] / cases[c].how.temperature);
            sum += p[i];
        }
        for (int i = 0; i < 5; i++) {
            double want = i < cases[c].kept ? p[i] / sum : 0.0;
            double sigma = sqrt(want * (1 - want) / DRAWS);
            assert_near((double)count[order[i]] / DRAWS, want, 5 * sigma);
        }
        eco_engine_sampler_done(&s);
        eco_engine_sampler_done(&again);
    }
    struct eco_sampler s;
    assert_int_equal(eco_engine_sampler_init(&s, NULL, 5, NULL), 0);
    assert_int_equal(eco_engine_sampler_pick(&s, 0, logit, 5), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_loading), cmocka_unit_test(test_from_gguf),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_drawing)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
