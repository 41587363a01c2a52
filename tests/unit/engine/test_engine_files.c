/* GGUF files of every tensor type, and files that lie. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "base/file.h"
#include "eco_test.h"
#include "engine/engine.h"
#include "reference.h"
#include "reference_gguf.h"

#include <unistd.h>

#define TOKENS 17

static char folder[256], path[300];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof(folder), "%s/eco-files-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/model.gguf", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_bytes(const unsigned char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static const struct ref_config llama = {.type = "llama",
                                        .hidden = 256,
                                        .heads = 4,
                                        .kv_heads = 2,
                                        .head_dim = 64,
                                        .inter = 512,
                                        .vocab = 90,
                                        .layers = 2,
                                        .theta = 10000,
                                        .eps = 1e-5};

static double logit_error(const struct ref_model *m, enum eco_precision p, enum eco_engine_isa isa)
{
    struct eco_engine_options o = {
        .model = path, .precision = p, .threads = 2, .context_tokens = 32, .isa = isa};
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    size_t n = (size_t)TOKENS * (size_t)m->c.vocab;
    float *got = malloc(n * sizeof(float));
    double *want = malloc(n * sizeof(double)), square = 0, scale = 0;
    int ids[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
        ids[i] = (i * 13 + 5) % m->c.vocab;
    }
    ref_logits(m, ids, TOKENS, want);
    if (eco_engine_open(&o, &e, &err)) {
        fail_msg("%s: %s (%s)", m->c.type, err.message, err.arg);
    }
    assert_int_equal(eco_engine_logits(e, ids, TOKENS, got, &err), 0);
    for (size_t i = 0; i < n; i++) {
        square += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        scale += want[i] * want[i];
    }
    eco_engine_close(e);
    free(got);
    free(want);
    return sqrt(square / scale);
}

static void make(struct ref_model *m, const struct ref_config *c, int type)
{
    struct gguf_out o = {0};
    ref_make(m, c, (uint64_t)type + 40);
    gguf_make(m, type, &o);
    write_bytes(o.data, o.len);
    free(o.data);
}

/* To FP32 the codes must decode exactly; as stored, only activations and the cache are rounded, and
 * with FP32 weights neither. */
static void test_types(void **state)
{
    static const struct {
        int type;
        double bound;
    } types[] = {{T_F32, 3e-6},  {T_F16, 1e-3},  {T_BF16, 1e-3}, {T_Q8_0, 3e-2},
                 {T_Q4_0, 2e-2}, {T_Q4_K, 1e-3}, {T_Q6_K, 1e-3}};
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct ref_model m;
        make(&m, &llama, types[i].type);
        double exact = logit_error(&m, ECO_PREC_FP32, ECO_ENGINE_ISA_AUTO);
        double stored = logit_error(&m, ECO_PREC_NONE, ECO_ENGINE_ISA_AUTO);
        double scalar = logit_error(&m, ECO_PREC_NONE, ECO_ENGINE_ISA_SCALAR);
        print_message("ggml type %2d: as FP32 %.2g, as stored %.2g, portable %.2g\n", types[i].type,
                      exact, stored, scalar);
        assert_true(exact < 3e-6);
        assert_true(stored < types[i].bound);
        assert_true(scalar < types[i].bound);
        ref_done(&m);
    }
}

static void test_architectures(void **state)
{
    static const struct ref_config others[] = {
        {.type = "qwen2",
         .hidden = 64,
         .heads = 4,
         .kv_heads = 2,
         .head_dim = 16,
         .inter = 96,
         .vocab = 60,
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
         .vocab = 60,
         .layers = 2,
         .theta = 1e6,
         .eps = 1e-6,
         .qk_norm = 1},
        {.type = "phi3",
         .hidden = 64,
         .heads = 4,
         .kv_heads = 4,
         .head_dim = 16,
         .inter = 96,
         .vocab = 60,
         .layers = 2,
         .theta = 1e4,
         .eps = 1e-5,
         .fused = 1,
         .window = 5},
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct ref_model m;
        make(&m, &others[i], T_F16);
        assert_true(logit_error(&m, ECO_PREC_FP32, ECO_ENGINE_ISA_AUTO) < 3e-6);
        ref_done(&m);
    }
}

/* Quantized from the file's F32: errors of the size that the formats have, not more. */
static void test_quantizing_a_file(void **state)
{
    static const struct {
        enum eco_precision p;
        double bound;
    } arms[] = {{ECO_PREC_FP16, 2e-3},     {ECO_PREC_BF16, 2e-2},      {ECO_PREC_NF4, 0.4},
                {ECO_PREC_NF4_DQ, 0.4},    {ECO_PREC_NF4_A8, 0.4},     {ECO_PREC_INT8_MIXED, 0.1},
                {ECO_PREC_INT8_PURE, 0.1}, {ECO_PREC_GGUF_Q8_0, 0.05}, {ECO_PREC_GGUF_Q4_0, 0.6}};
    struct ref_model m;
    (void)state;
    make(&m, &llama, T_F32);
    for (size_t i = 0; i < sizeof(arms) / sizeof(arms[0]); i++) {
        double fast = logit_error(&m, arms[i].p, ECO_ENGINE_ISA_AUTO);
        double plain = logit_error(&m, arms[i].p, ECO_ENGINE_ISA_SCALAR);
        print_message("%-10s rms error %.3g of the logits\n", eco_precision_name(arms[i].p), fast);
        assert_true(fast < arms[i].bound);
        assert_near(fast, plain, 0.02 * plain + 1e-4); /* the sets agree */
    }
    ref_done(&m);
}

/* A file cut anywhere, or with any byte of its head changed, opens or is refused; never more. */
static void test_hostile(void **state)
{
    struct ref_config small = llama;
    struct ref_model m;
    struct gguf_out o = {0};
    struct eco_err err;
    int opened = 0, refused = 0;
    (void)state;
    small.hidden = 32;
    small.heads = small.kv_heads = 2;
    small.head_dim = 16;
    small.inter = 32;
    small.layers = 1;
    small.vocab = 8;
    ref_make(&m, &small, 9);
    gguf_make(&m, T_Q8_0, &o);
    for (size_t i = 0; i < 1400; i++) {
        struct eco_engine_options opt = {
            .model = path, .threads = 1, .context_tokens = 8, .memory_bytes = 64 << 20};
        struct eco_decoder *e = NULL;
        unsigned char *copy = malloc(o.len);
        memcpy(copy, o.data, o.len);
        size_t len = i < 400 ? o.len * i / 400 : o.len;
        if (i >= 400) {
            copy[(i - 400) * 2 % o.len] ^= (unsigned char)(i % 3 == 0   ? 0xff
                                                           : i % 3 == 1 ? 0x80
                                                                        : 1);
        }
        write_bytes(copy, len);
        free(copy);
        memset(&err, 0, sizeof(err));
        if (eco_engine_open(&opt, &e, &err) == 0) {
            int ids[2] = {1, 2};
            float *logits =
                malloc(2 * (size_t)eco_engine_info(e)->model.vocab * sizeof(float) + (1 << 20));
            opened += eco_engine_logits(e, ids, 2, logits, &err) == 0;
            free(logits);
            eco_engine_close(e);
        } else {
            assert_true(err.message[0] != '\0');
            refused++;
        }
    }
    print_message("%d opened, %d refused\n", opened, refused);
    assert_true(refused >= 400);
    free(o.data);
    ref_done(&m);
}

static void test_weights_that_are_not_numbers(void **state)
{
    struct eco_engine_options o = {.model = path, .threads = 1, .context_tokens = 16};
    struct gguf_out file = {0};
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    struct ref_model m;
    int ids[2] = {1, 2};
    double ppl = 5.0;
    (void)state;
    ref_make(&m, &llama, 4);
    for (int i = 0; i < m.n; i++) {
        if (strcmp(m.t[i].name, "model.norm.weight") == 0) {
            m.t[i].v[3] = NAN;
        }
    }
    gguf_make(&m, T_F16, &file);
    write_bytes(file.data, file.len);
    assert_int_equal(eco_engine_open(&o, &e, &err), 0);
    assert_int_equal(eco_engine_generate(e, ids, 2, 3, NULL, NULL, NULL, &err), ECO_E_CONTENT);
    assert_non_null(strstr(err.message, "not finite"));
    err.message[0] = '\0';
    assert_int_equal(eco_engine_perplexity(e, ids, 2, 2, &ppl, NULL, &err), ECO_E_CONTENT);
    assert_non_null(strstr(err.message, "not finite"));
    assert_near(ppl, 5.0, 0.0); /* as it was */
    eco_engine_close(e);
    free(file.data);
    ref_done(&m);
}

/* The KV cache is FP16, but FP32 with FP32 weights, asked for or stored. */
static void test_cache_width(void **state)
{
    static const struct {
        int type;
        enum eco_precision p;
        unsigned bytes;
    } rows[] = {{T_F32, ECO_PREC_NONE, 4},
                {T_F32, ECO_PREC_FP32, 4},
                {T_F32, ECO_PREC_FP16, 2},
                {T_F16, ECO_PREC_NONE, 2},
                {T_F16, ECO_PREC_FP32, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct eco_engine_options o = {
            .model = path, .precision = rows[i].p, .threads = 1, .context_tokens = 32};
        struct eco_decoder *e = NULL;
        struct ref_model m;
        make(&m, &llama, rows[i].type);
        assert_int_equal(eco_engine_open(&o, &e, NULL), 0);
        assert_int_equal(eco_engine_info(e)->kv_bytes, /* layers, k and v, heads, dims */
                         2u * 2u * 2u * 64u * 32u * rows[i].bytes);
        eco_engine_close(e);
        ref_done(&m);
    }
}

static void test_refusals(void **state)
{
    struct eco_engine_options o = {.model = "synthetic:Llama-2-7b-hf",
                                   .precision = ECO_PREC_FP16,
                                   .memory_bytes = UINT64_C(4000000000)};
    struct eco_err err = {0};
    struct eco_decoder *e = NULL;
    uint64_t bytes = 0;
    (void)state;
    assert_int_equal(eco_engine_open(&o, &e, &err), ECO_E_NO_FIT);
    assert_non_null(strstr(err.message, "weights 13.48"));
    assert_non_null(strstr(err.message, "4.00 GB are free"));
    o.precision = ECO_PREC_NF4; /* 7B in NF4 stays within 6 GB */
    assert_int_equal(eco_engine_need(&o, &bytes, &err), 0);
    assert_true(bytes > 4000000000u && bytes < 6000000000u);
    o.model = "synthetic:Qwen2-0.5B";
    o.precision = ECO_PREC_GGUF_Q4_K_M;
    assert_int_equal(eco_engine_open(&o, &e, &err), ECO_E_UNSUPPORTED);
    o.precision = ECO_PREC_FP16;
    o.batch = 65;
    assert_int_equal(eco_engine_open(&o, &e, &err), ECO_E_RANGE);
}

/* What lies near a model, or is none, is refused with what to give in its place. */
static void test_what_is_no_model(void **state)
{
    static const struct {
        const char *name, *text, *message;
    } rows[] = {{"model.safetensors", "", "is one file of a model: give its folder, '"},
                {"config.json", "{}", "is one file of a model: give its folder, '"},
                {"config.json", "{}", NULL}, /* the folder */
                {"x.gguf", "GGML", "x.gguf"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char file[300];
        struct eco_engine_options o = {.model = rows[i].message ? file : folder};
        struct eco_decoder *e = NULL;
        struct eco_err err = {0};
        snprintf(file, sizeof(file), "%s/%s", folder, rows[i].name);
        assert_int_equal(eco_file_write(file, rows[i].text, strlen(rows[i].text), true, NULL), 0);
        assert_true(eco_engine_open(&o, &e, &err) < 0);
        unlink(file);
        if (!strstr(err.message, rows[i].message ? rows[i].message : "hidden_size")) {
            fail_msg("%s: %s", rows[i].name, err.message);
        }
    }
}

/* The byte behind a name in a file that has it. */
static unsigned char *behind(const struct gguf_out *file, const char *name)
{
    unsigned char *at = file->data;
    size_t n = strlen(name);
    while (memcmp(at, name, n) != 0) {
        at++;
    }
    return at + n;
}

/* A head of a type without kernels was taken for none, and the model for a tied one. */
static void test_types_that_cannot_be_read(void **state)
{
    struct eco_engine_options o = {.model = path, .threads = 1, .context_tokens = 8};
    struct gguf_out file = {0};
    struct eco_decoder *e = NULL;
    struct eco_err err = {0};
    struct ref_model m;
    const uint32_t q3_k = 11;
    (void)state;
    ref_make(&m, &llama, 5);
    gguf_make(&m, T_Q4_K, &file);
    memcpy(behind(&file, "output.weight") + 4 + 2 * 8, &q3_k, 4); /* and its 2 dimensions */
    write_bytes(file.data, file.len);
    assert_int_equal(eco_engine_open(&o, &e, &err), ECO_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'output.weight' is of type Q3_K"));
    free(file.data);
    ref_done(&m);
}

/* Of two layers one: the other may not be left out without a word. */
static void test_no_tensor_is_left_over(void **state)
{
    struct eco_engine_options o = {.model = path, .threads = 1, .context_tokens = 8};
    struct gguf_out file = {0};
    struct eco_decoder *e = NULL;
    struct eco_err err = {0};
    struct ref_model m;
    (void)state;
    ref_make(&m, &llama, 6);
    gguf_make(&m, T_Q4_0, &file);
    behind(&file, "llama.block_count")[4] = 1; /* and the value's type */
    write_bytes(file.data, file.len);
    assert_int_equal(eco_engine_open(&o, &e, &err), ECO_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'blk.1.attn_k.weight' has no place"));
    free(file.data);
    ref_done(&m);
}

/* Beyond the context of 512 that the file says. */
static void test_long_context_is_warned_of(void **state)
{
    struct eco_engine_options o = {.model = path, .threads = 1, .context_tokens = 512};
    struct eco_decoder *e = NULL;
    struct ref_model m;
    (void)state;
    make(&m, &llama, T_F16);
    for (int over = 0; over < 2; over++) {
        o.context_tokens += over;
        assert_int_equal(eco_engine_open(&o, &e, NULL), 0);
        assert_int_equal(strstr(eco_engine_info(e)->warning, "was made for 512") != NULL, over);
        eco_engine_close(e);
    }
    ref_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_architectures),
        cmocka_unit_test(test_quantizing_a_file),
        cmocka_unit_test(test_cache_width),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_weights_that_are_not_numbers),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_what_is_no_model),
        cmocka_unit_test(test_types_that_cannot_be_read),
        cmocka_unit_test(test_no_tensor_is_left_over),
        cmocka_unit_test(test_long_context_is_warned_of),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
