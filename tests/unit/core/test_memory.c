/*
 * The memory model against hand formulas, and against the sizes of files that people publish:
 * weights of known checkpoints in GB as their download pages print them.
 */
#include "eco_memory.h"
#include "eco_test.h"

static struct eco_model llama2_7b(void)
{
    struct eco_model m = {.name = "llama-2-7b", .params_b = 7};
    m.params_embedding = m.params_lm_head = 32000u * 4096u;
    m.params_norm = 65u * 4096u;
    m.params_linear = 32ull * (4ull * 4096 * 4096 + 3ull * 4096 * 11008);
    m.params_total = m.params_embedding * 2 + m.params_norm + m.params_linear;
    m.params_active = m.params_total - m.params_embedding;
    m.layers = 32;
    m.hidden = 4096;
    m.n_heads = m.n_kv_heads = 32;
    m.head_dim = 128;
    m.intermediate = 11008;
    m.vocab = 32000;
    m.shape_basis = ECO_BASIS_COMPUTED;
    return m;
}

static struct eco_model mistral_7b(void)
{
    struct eco_model m = llama2_7b();
    m.n_kv_heads = 8;
    m.intermediate = 14336;
    m.params_linear = 32ull * (2ull * 4096 * 4096 + 2ull * 4096 * 1024 + 3ull * 4096 * 14336);
    m.params_total = m.params_embedding * 2 + m.params_norm + m.params_linear;
    m.params_active = m.params_total - m.params_embedding;
    return m;
}

static struct eco_model qwen_05b(void)
{
    struct eco_model m = {.name = "qwen2.5-0.5b", .params_b = 0.5, .tied = true};
    m.layers = 24;
    m.hidden = 896;
    m.n_heads = 14;
    m.n_kv_heads = 2;
    m.head_dim = 64;
    m.intermediate = 4864;
    m.vocab = 151936;
    m.params_embedding = 151936u * 896u;
    m.params_norm = 49u * 896u + 24u * (896u + 128u + 128u);
    m.params_linear = 24ull * (2ull * 896 * 896 + 2ull * 896 * 128 + 3ull * 896 * 4864);
    m.params_total = m.params_embedding + m.params_norm + m.params_linear;
    m.params_active = m.params_total;
    m.shape_basis = ECO_BASIS_COMPUTED;
    return m;
}

/* 24 layers, 32 experts of which 4, packed experts: figures of an open 20B mixture of experts. */
static struct eco_model gpt_oss_20b(void)
{
    struct eco_model m = {.name = "gpt-oss-20b", .params_b = 20, .stored = ECO_PREC_MXFP4};
    m.layers = 24;
    m.hidden = m.intermediate = 2880;
    m.n_heads = 64;
    m.n_kv_heads = 8;
    m.head_dim = 64;
    m.vocab = 201088;
    m.experts = 32;
    m.experts_per_token = 4;
    m.sliding_window = 128;
    m.sliding_layers = 12;
    m.params_embedding = m.params_lm_head = 201088ull * 2880;
    m.params_norm = 6970944;
    m.params_total = 20914757184ull;
    m.params_active = 3614113344ull;
    m.params_linear = m.params_total - 2 * m.params_embedding - m.params_norm;
    m.shape_basis = ECO_BASIS_COMPUTED;
    return m;
}

static void test_tables_stay_16_bit(void **state)
{
    (void)state;
    struct eco_model m = llama2_7b();
    struct eco_memory_query q = {.model = &m, .precision = ECO_PREC_NF4};
    struct eco_memory r;
    assert_int_equal(eco_memory_estimate(&q, &r, NULL), 0);
    double linear = 6476005376.0;
    assert_near(r.embedding_bytes, 2.0 * 131072000, 0);
    assert_near(r.lm_head_bytes, 2.0 * 131072000, 0);
    assert_near(r.norm_bytes, 2.0 * 266240, 0);
    assert_near(r.linear_bytes, linear / 2, 0);
    assert_near(r.constants_bytes, linear / 16, 0);
    assert_near(r.weights_bytes, 4.0 * 131072000 + 2.0 * 266240 + linear * 4.5 / 8, 1e-3);
    assert_near(r.weights_fp16_bytes, 2.0 * 6738415616.0, 0);
    assert_near(r.read_bytes_per_token, r.weights_bytes - r.embedding_bytes, 1e-3);
    assert_int_equal(r.basis, ECO_BASIS_COMPUTED);
    q.precision = ECO_PREC_NF4_DQ;
    assert_int_equal(eco_memory_estimate(&q, &r, NULL), 0);
    assert_near(8 * (r.linear_bytes + r.constants_bytes) / linear, 4.126953125, 1e-12);
    q.precision = ECO_PREC_INT8_MIXED;
    assert_int_equal(eco_memory_estimate(&q, &r, NULL), 0);
    assert_near_rel(r.constants_bytes, linear / 4096 * 4, 1e-12);
}

static void test_tied_table_counts_once_and_is_read(void **state)
{
    (void)state;
    struct eco_model m = qwen_05b();
    assert_near(eco_memory_weight_bytes(&m, ECO_PREC_BF16), 2.0 * 494032768, 0);
    assert_near(eco_memory_read_bytes(&m, ECO_PREC_BF16, 1), 2.0 * 494032768, 0);
    /* leaving the tables at 16 bits is most of a small model in 4 bits */
    double nf4 = eco_memory_weight_bytes(&m, ECO_PREC_NF4);
    assert_near(nf4, 2.0 * (136134656 + 71552) + 357826560 * 4.5 / 8, 1e-3);
    assert_true(nf4 > 1.6 * 494032768 * 4.5 / 8);
}

static void test_kv_cache(void **state)
{
    (void)state;
    struct eco_model m = llama2_7b();
    assert_near(eco_memory_kv_bytes(&m, 4096), 2.0 * 1024 * 1024 * 1024, 0); /* 2 GiB */
    m = mistral_7b();
    assert_near(eco_memory_kv_bytes(&m, 8192), 1024.0 * 1024 * 1024, 0); /* grouped: 128 KiB */
    m.sliding_window = 4096;                                             /* on every layer */
    assert_near(eco_memory_kv_bytes(&m, 8192), 512.0 * 1024 * 1024, 0);
    assert_near(eco_memory_kv_bytes(&m, 4000), 4000.0 * 131072, 0);
    m = gpt_oss_20b();
    assert_near(eco_memory_kv_bytes(&m, 1000), 2048.0 * (12 * 1000 + 12 * 128), 0);
    struct eco_model v3 = {.layers = 61, .n_kv_heads = 128, .head_dim = 192};
    v3.kv_lora_rank = 512;
    v3.rope_head_dim = 64;
    assert_near(eco_memory_kv_bytes(&v3, 1), 70272, 0);
    assert_near(eco_memory_kv_bytes(&v3, 0), 0, 0);
    assert_near(eco_memory_kv_bytes(NULL, 10), 0, 0);
    assert_near(eco_memory_weight_bytes(NULL, ECO_PREC_FP16), 0, 0);
    assert_near(eco_memory_read_bytes(NULL, ECO_PREC_FP16, 1), 0, 0);
}

static void test_experts(void **state)
{
    (void)state;
    struct eco_model m = gpt_oss_20b();
    double expert = 24.0 * 32 * 3 * 2880 * 2880;
    double dense = 20914757184.0 - expert;
    /* the published files hold 13.76 GB */
    double w = eco_memory_weight_bytes(&m, ECO_PREC_NONE);
    assert_near_rel(w, expert * 4.25 / 8 + dense * 2, 1e-9);
    assert_near(w / 1e9, 13.76, 0.01);
    double embedding = 2 * 201088.0 * 2880;
    double one = eco_memory_read_bytes(&m, ECO_PREC_MXFP4, 1);
    assert_near_rel(one, expert / 8 * 4.25 / 8 + dense * 2 - embedding, 1e-9);
    /* two tokens share few experts, a thousand use them all */
    double two = eco_memory_read_bytes(&m, ECO_PREC_MXFP4, 2);
    double distinct = 32 * (1 - (28.0 / 32) * (28.0 / 32));
    assert_near_rel(two - one, expert * (distinct - 4) / 32 * 4.25 / 8, 1e-9);
    double many = eco_memory_read_bytes(&m, ECO_PREC_MXFP4, 1000);
    assert_near_rel(many, w - embedding, 1e-6);
}

/* What is in a model but not read for text (a vision tower) stays resident. */
static void test_parts_not_read(void **state)
{
    (void)state;
    struct eco_model m = {.params_total = 4300079472, .params_active = 3880263168};
    m.params_embedding = 671252480;
    m.params_norm = 368128;
    m.params_linear = 3628458864;
    m.vocab = 262208;
    m.hidden = 2560;
    m.tied = true;
    assert_near(eco_memory_weight_bytes(&m, ECO_PREC_BF16), 2.0 * 4300079472, 0);
    assert_near(eco_memory_read_bytes(&m, ECO_PREC_BF16, 1), 2.0 * 3880263168, 0);
}

static struct eco_model llama3_8b(void)
{
    struct eco_model m = mistral_7b();
    m.vocab = 128256;
    m.params_embedding = m.params_lm_head = 128256ull * 4096;
    m.params_total = m.params_embedding * 2 + m.params_norm + m.params_linear;
    m.params_active = m.params_total - m.params_embedding;
    return m;
}

static struct eco_model llama3_70b(void)
{
    struct eco_model m = llama3_8b();
    m.layers = 80;
    m.hidden = 8192;
    m.n_heads = 64;
    m.n_kv_heads = 8;
    m.intermediate = 28672;
    m.params_embedding = m.params_lm_head = 128256ull * 8192;
    m.params_norm = 161u * 8192u;
    m.params_total = 70553706496ull;
    m.params_linear = m.params_total - 2 * m.params_embedding - m.params_norm;
    return m;
}

static struct eco_model mixtral(void)
{
    struct eco_model m = mistral_7b();
    m.experts = 8;
    m.experts_per_token = 2;
    m.params_linear = 46440382464ull;
    m.params_total = 46702792704ull;
    m.params_active = 12748853248ull;
    return m;
}

static int check_files(const struct eco_model *m, const enum eco_precision *p, const double *gb,
                       double tolerance)
{
    int wrong = 0;
    for (; *gb > 0; gb++, p++) {
        double got = eco_memory_weight_bytes(m, *p) / 1e9;
        if (fabs(got - *gb) > tolerance) {
            print_error("%s %s: %.4f GB, the file has %.2f\n", m->name, eco_precision_name(*p), got,
                        *gb);
            wrong++;
        }
    }
    return wrong;
}

/* Sizes of published files in GB (1e9 bytes), two decimals; headers are < 10 MB. */
static void test_gguf_files(void **state)
{
    (void)state;
    static const enum eco_precision all[] = {
        ECO_PREC_GGUF_Q8_0,   ECO_PREC_GGUF_Q6_K,   ECO_PREC_GGUF_Q5_K_M, ECO_PREC_GGUF_Q4_K_M,
        ECO_PREC_GGUF_Q3_K_M, ECO_PREC_GGUF_Q4_K_S, ECO_PREC_GGUF_Q3_K_L, ECO_PREC_GGUF_Q5_K_S,
        ECO_PREC_GGUF_Q6_K_L, ECO_PREC_GGUF_Q5_K_L, ECO_PREC_GGUF_Q4_K_L, ECO_PREC_GGUF_IQ4_XS,
        ECO_PREC_GGUF_IQ3_XS, ECO_PREC_GGUF_Q2_K_L, ECO_PREC_GGUF_Q2_K,   ECO_PREC_GGUF_IQ2_M,
    };
    static const enum eco_precision old[] = {ECO_PREC_GGUF_Q5_0, ECO_PREC_GGUF_Q4_0};
    struct eco_model m = llama2_7b();
    int wrong = check_files(
        &m, all, (const double[]){7.16, 5.53, 4.78, 4.08, 3.30, 3.86, 3.60, 4.65, 0}, 0.01);
    wrong += check_files(&m, old, (const double[]){4.65, 3.83, 0}, 0.01);
    m = mistral_7b();
    wrong += check_files(&m, all, (const double[]){7.70, 5.94, 5.13, 4.37, 3.52, 4.14, 0}, 0.01);
    m = llama3_8b();
    wrong += check_files(&m, all,
                         (const double[]){8.54, 6.60, 5.73, 4.92, 4.02, 4.69, 4.32, 5.60, 6.85,
                                          6.06, 5.31, 4.45, 3.52, 3.69, 3.18, 2.95, 0},
                         0.0151);
    m = llama3_70b();
    wrong += check_files(
        &m, all + 1, (const double[]){57.88, 49.94, 42.52, 34.26, 40.34, 37.14, 48.65, 0}, 0.01);
    m = qwen_05b(); /* rows of 896: 256-blocks do not fit */
    wrong += check_files(
        &m, all, (const double[]){0.531, 0.506, 0.420, 0.398, 0.355, 0.385, 0.369, 0.413, 0},
        0.008);
    wrong += check_files(&m, all + 11, (const double[]){0.349, 0.338, 0}, 0.008);
    wrong += check_files(&m, all + 14, (const double[]){0.339, 0}, 0.008);
    m = mixtral(); /* one decimal */
    wrong += check_files(&m, all, (const double[]){49.6, 38.4, 33.3, 28.5, 22.6, 0}, 0.1);
    assert_int_equal(wrong, 0);
}

static void test_every_precision_is_ordered(void **state)
{
    (void)state;
    struct eco_model m = llama2_7b();
    double fp16 = eco_memory_weight_bytes(&m, ECO_PREC_FP16);
    for (int p = 1; p < ECO_PREC_COUNT; p++) {
        double w = eco_memory_weight_bytes(&m, (enum eco_precision)p);
        double linear = 6476005376.0 * eco_precision_bits((enum eco_precision)p) / 8;
        assert_true(w > 0.8 * linear);
        if (p != ECO_PREC_FP32)
            assert_true(w <= fp16);
        assert_true(eco_memory_read_bytes(&m, (enum eco_precision)p, 1) < w);
    }
}

static void test_files_say_what_they_hold(void **state)
{
    (void)state;
    struct eco_model m = llama2_7b();
    m.stored = ECO_PREC_GPTQ_INT4;
    m.file_bytes = 3896726528u;
    assert_near(eco_memory_weight_bytes(&m, ECO_PREC_NONE), 3896726528.0, 1e-3);
    assert_near(eco_memory_weight_bytes(&m, ECO_PREC_GPTQ_INT4), 3896726528.0, 1e-3);
    assert_near(eco_memory_weight_bytes(&m, ECO_PREC_FP16), 2.0 * 6738415616.0, 0);
}

static void test_total_and_batch(void **state)
{
    (void)state;
    struct eco_model m = mistral_7b();
    struct eco_memory_query q = {
        .model = &m, .precision = ECO_PREC_FP16, .batch = 4, .context_tokens = 2048};
    struct eco_memory r;
    assert_int_equal(eco_memory_estimate(&q, &r, NULL), 0);
    assert_near(r.kv_bytes_per_sequence, 2048 * 131072.0, 0);
    assert_near(r.kv_bytes, 4 * 2048 * 131072.0, 0);
    assert_near(r.total_bytes, r.weights_bytes + r.kv_bytes + r.activation_bytes + r.overhead_bytes,
                1);
    assert_near(r.overhead_bytes, ECO_MEMORY_CONTEXT_BYTES, 0);
    assert_true(r.activation_bytes > 0 && r.activation_bytes < 2e9);
    q.engine = ECO_ENGINE_VLLM; /* prefill in chunks of 8192 tokens: the same here */
    struct eco_memory half;
    assert_int_equal(eco_memory_estimate(&q, &half, NULL), 0);
    assert_near(half.activation_bytes, r.activation_bytes, 0);
    q.kv_bits = 8;
    assert_int_equal(eco_memory_estimate(&q, &half, NULL), 0);
    assert_near(half.kv_bytes, r.kv_bytes / 2, 0);
    q.engine = ECO_ENGINE_LLAMACPP;
    assert_int_equal(eco_memory_estimate(&q, &half, NULL), 0);
    assert_true(half.activation_bytes < r.activation_bytes);
}

static void test_refusals(void **state)
{
    (void)state;
    struct eco_model m = mistral_7b(), empty = {.name = "empty"};
    struct eco_memory r = {.total_bytes = 42};
    struct eco_err err;
    struct eco_memory_query q = {.precision = ECO_PREC_FP16};
    assert_int_equal(eco_memory_estimate(&q, &r, &err), ECO_E_MISSING);
    q.model = &m;
    const double bad_batch[] = {0.5, -1, 65537, NAN, INFINITY};
    for (int i = 0; i < 5; i++) {
        q.batch = bad_batch[i];
        assert_int_equal(eco_memory_estimate(&q, &r, &err), ECO_E_RANGE);
    }
    q.batch = 1;
    q.context_tokens = NAN;
    assert_int_equal(eco_memory_estimate(&q, &r, &err), ECO_E_RANGE);
    q.context_tokens = 10;
    q.kv_bits = 65;
    assert_int_equal(eco_memory_estimate(&q, &r, &err), ECO_E_RANGE);
    q.kv_bits = 0;
    q.precision = ECO_PREC_COUNT;
    assert_int_equal(eco_memory_estimate(&q, &r, &err), ECO_E_UNKNOWN_NAME);
    q.precision = ECO_PREC_FP16;
    q.model = &empty;
    assert_int_equal(eco_memory_estimate(&q, &r, &err), ECO_E_INVALID);
    empty.params_b = 7;
    assert_int_equal(eco_memory_estimate(&q, &r, &err), ECO_E_INVALID);
    assert_near(r.total_bytes, 42, 0);
    q.context_tokens = 0; /* weights alone need no shape */
    assert_int_equal(eco_memory_estimate(&q, &r, &err), 0);
    assert_near(r.weights_bytes, 14e9, 0);
    /* no shape: a mix has its base type; rows of no block size stay at 16 bits */
    assert_near(eco_memory_weight_bytes(&empty, ECO_PREC_GGUF_Q8_0), 7e9 * 8.5 / 8, 1);
    m.hidden = m.intermediate = 100;
    m.head_dim = 25;
    m.n_heads = m.n_kv_heads = 4;
    assert_near_rel(eco_memory_weight_bytes(&m, ECO_PREC_GGUF_Q4_K_M),
                    2.0 * (double)m.params_total + 2.0 * (double)m.params_norm, 1e-12);
}

/* Nine tenths of a card's memory, in bytes: 24 GB are sold, 25.77e9 bytes are there. */
static void test_fitting(void **state)
{
    (void)state;
    struct eco_gpu g = {.name = "card", .vram_gb = 24};
    assert_true(fabs(eco_memory_limit_bytes(&g, 1) - 0.9 * 24 * 1024.0 * 1024 * 1024) < 1);
    assert_true(eco_memory_room(&g, 1, 23.19e9) <= 1 && eco_memory_room(&g, 1, 23.20e9) > 1);
    assert_true(eco_memory_room(&g, 2, 46.38e9) <= 1 && eco_memory_room(&g, 2, 46.39e9) > 1);
    g.vram_gb = NAN;
    assert_false(eco_memory_room(&g, 1, 1e12) > 1); /* not known: not refused */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_stay_16_bit),
        cmocka_unit_test(test_tied_table_counts_once_and_is_read),
        cmocka_unit_test(test_kv_cache),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_parts_not_read),
        cmocka_unit_test(test_gguf_files),
        cmocka_unit_test(test_every_precision_is_ordered),
        cmocka_unit_test(test_files_say_what_they_hold),
        cmocka_unit_test(test_total_and_batch),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_fitting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
