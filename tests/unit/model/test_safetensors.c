/* Headers of safetensors: counts by class, packed weights, and everything that can lie. */
#include "eco_memory.h"
#include "model/model.h"
#include "writers.h"

static const char llama_config[] =
    "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":2,"
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"intermediate_size\":96,"
    "\"vocab_size\":100,\"max_position_embeddings\":512,\"torch_dtype\":\"bfloat16\","
    "\"tie_word_embeddings\":false}";

/* What two such layers and their tables have, by hand. */
enum { TABLE = 100 * 64, LAYER = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 96, NORMS = 5 * 64 };

static void add_llama(struct st_writer *w, bool head, const char *dtype, int bits)
{
    char n[96];
    ST2(w, "model.embed_tokens.weight", dtype, bits, 100, 64);
    for (int i = 0; i < 2; i++) {
#define IN(tail) (snprintf(n, sizeof n, "model.layers.%d." tail, i), n)
        ST1(w, IN("input_layernorm.weight"), dtype, bits, 64);
        ST1(w, IN("post_attention_layernorm.weight"), dtype, bits, 64);
        ST2(w, IN("self_attn.q_proj.weight"), dtype, bits, 64, 64);
        ST2(w, IN("self_attn.k_proj.weight"), dtype, bits, 32, 64);
        ST2(w, IN("self_attn.v_proj.weight"), dtype, bits, 32, 64);
        ST2(w, IN("self_attn.o_proj.weight"), dtype, bits, 64, 64);
        ST2(w, IN("mlp.gate_proj.weight"), dtype, bits, 96, 64);
        ST2(w, IN("mlp.up_proj.weight"), dtype, bits, 96, 64);
        ST2(w, IN("mlp.down_proj.weight"), dtype, bits, 64, 96);
#undef IN
    }
    ST1(w, "model.norm.weight", dtype, bits, 64);
    if (head) {
        ST2(w, "lm_head.weight", dtype, bits, 100, 64);
    }
}

static int read_st(struct st_writer *w, const char *config, struct eco_model *m,
                   struct eco_model_info *info, struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    uint64_t bytes;
    st_finish(w, &b, &bytes);
    int rc = eco_model_from_safetensors("x.safetensors", NULL, (const unsigned char *)b.data, b.len,
                                        bytes, config, config ? strlen(config) : 0, m, info, err);
    eco_buf_done(&b);
    return rc;
}

static void test_llama(void **state)
{
    (void)state;
    struct st_writer w = {0};
    struct eco_model m;
    struct eco_model_info info;
    struct eco_err err;
    add_llama(&w, true, "BF16", 16);
    assert_int_equal(read_st(&w, llama_config, &m, &info, &err), 0);
    assert_int_equal(m.params_total, 2 * TABLE + 2 * LAYER + NORMS);
    assert_int_equal(m.params_active, TABLE + 2 * LAYER + NORMS);
    assert_int_equal(m.params_embedding, TABLE);
    assert_int_equal(m.params_lm_head, TABLE);
    assert_int_equal(m.params_norm, NORMS);
    assert_int_equal(m.params_linear, 2 * LAYER);
    assert_int_equal(m.file_bytes, 2 * m.params_total);
    assert_int_equal(info.class_bytes[ECO_TENSOR_LM_HEAD], 2 * TABLE);
    assert_int_equal(info.tensors, 21);
    assert_int_equal(m.stored, ECO_PREC_BF16);
    assert_int_equal(m.shape_basis, ECO_BASIS_COMPUTED);
    assert_string_equal(info.note, "");
    assert_string_equal(info.architecture, "llama");
    assert_string_equal(m.name, "x.safetensors");
    assert_near(eco_memory_weight_bytes(&m, ECO_PREC_NONE), (double)m.file_bytes, 0);
}

/* A tied model whose file holds the table twice; one whose file lacks the head. */
static void test_tied(void **state)
{
    (void)state;
    char tied[512];
    struct st_writer w = {0};
    struct eco_model m;
    struct eco_model_info info;
    snprintf(tied, sizeof tied, "%.*s\"tie_word_embeddings\":true}",
             (int)(strlen(llama_config) - strlen("\"tie_word_embeddings\":false}")), llama_config);
    add_llama(&w, true, "F16", 16);
    assert_int_equal(read_st(&w, tied, &m, &info, NULL), 0);
    assert_true(m.tied);
    assert_int_equal(m.params_total, TABLE + 2 * LAYER + NORMS);
    assert_int_equal(m.params_active, m.params_total);
    assert_int_equal(m.file_bytes, 2 * m.params_total);
    assert_int_equal(info.class_bytes[ECO_TENSOR_BUFFER], 2 * TABLE);
    assert_int_equal(m.stored, ECO_PREC_FP16);
    add_llama(&w, false, "F32", 32);
    assert_int_equal(read_st(&w, llama_config, &m, &info, NULL), 0);
    assert_true(m.tied);
    assert_int_equal(m.stored, ECO_PREC_FP32);
    assert_non_null(strstr(info.note, "no output table"));
}

static void test_without_config(void **state)
{
    (void)state;
    struct st_writer w = {0};
    struct eco_model m;
    struct eco_model_info info;
    struct eco_err err;
    ST2(&w, "lm_head.weight", "BF16", 16, 20000, 64);
    add_llama(&w, false, "BF16", 16);
    assert_int_equal(read_st(&w, NULL, &m, &info, &err), 0);
    assert_int_equal(m.params_total, 20000 * 64 + TABLE + 2 * LAYER + NORMS);
    assert_int_equal(m.shape_basis, ECO_BASIS_INTERPOLATED);
    assert_int_equal(m.layers, 2);
    assert_int_equal(m.hidden, 64);
    assert_int_equal(m.n_heads * m.head_dim, 64);
    assert_non_null(strstr(info.note, "no config.json"));
}

/* One matrix of 128 x 256 in each packing must count as 32768 parameters. */
static void count_packed(const char *quantization, const char *add, uint64_t bytes,
                         enum eco_precision stored, struct st_writer *w)
{
    char config[1024];
    struct eco_model m;
    struct eco_model_info info;
    struct eco_err err = {0};
    snprintf(config, sizeof config, "%.*s,%s}", (int)strlen(llama_config) - 1, llama_config,
             quantization);
    ST2(w, "model.embed_tokens.weight", "F16", 16, 100, 64);
    ST2(w, "lm_head.weight", "F16", 16, 100, 64);
    if (read_st(w, config, &m, &info, &err)) {
        fail_msg("%s: %s", add, err.message);
    }
    assert_int_equal(m.params_linear, 128 * 256);
    assert_int_equal(m.params_total, 128 * 256 + 2 * TABLE);
    assert_int_equal(m.file_bytes, bytes + 4 * TABLE);
    assert_int_equal(m.stored, stored);
}

static void test_packings(void **state)
{
    (void)state;
    struct st_writer w = {0};
#define L "model.layers.0.self_attn.q_proj."
    ST2(&w, L "qweight", "I32", 32, 256 / 8, 128);
    ST2(&w, L "qzeros", "I32", 32, 2, 128 / 8);
    ST2(&w, L "scales", "F16", 16, 2, 128);
    ST1(&w, L "g_idx", "I32", 32, 256);
    count_packed("\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4}", "gptq",
                 128 * 256 / 2 + 128 + 512 + 1024, ECO_PREC_GPTQ_INT4, &w);
    ST2(&w, L "qweight", "I32", 32, 256 / 4, 128);
    ST2(&w, L "scales", "F16", 16, 2, 128);
    count_packed("\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":8}", "gptq8",
                 128 * 256 + 512, ECO_PREC_GPTQ_INT8, &w);
    ST2(&w, L "qweight", "I32", 32, 256, 128 / 8);
    ST2(&w, L "scales", "F16", 16, 2, 128);
    count_packed("\"quantization_config\":{\"quant_method\":\"awq\",\"bits\":4}", "awq",
                 128 * 256 / 2 + 512, ECO_PREC_AWQ_INT4, &w);
    ST2(&w, L "weight", "U8", 8, 128 * 256 / 2, 1);
    ST1(&w, L "weight.absmax", "F32", 32, 512);
    ST1(&w, L "weight.quant_map", "F32", 32, 16);
    ST1(&w, L "weight.quant_state.bitsandbytes__nf4", "U8", 8, 80);
    count_packed("\"quantization_config\":{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,"
                 "\"bnb_4bit_quant_type\":\"nf4\"}",
                 "nf4", 128 * 256 / 2 + 2048 + 64 + 80, ECO_PREC_NF4, &w);
    ST2(&w, L "weight", "I8", 8, 128, 256);
    ST1(&w, L "SCB", "F32", 32, 128);
    count_packed(
        "\"quantization_config\":{\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true}", "int8",
        128 * 256 + 512, ECO_PREC_INT8_MIXED, &w);
    ST2(&w, L "weight", "F8_E4M3", 8, 128, 256);
    ST2(&w, L "weight_scale_inv", "F32", 32, 1, 2);
    count_packed("\"quantization_config\":{\"quant_method\":\"fp8\"}", "fp8", 128 * 256 + 8,
                 ECO_PREC_FP8, &w);
    ST2(&w, L "weight_packed", "I32", 32, 128, 256 / 8);
    ST2(&w, L "weight_scale", "BF16", 16, 128, 2);
    ST1(&w, L "weight_shape", "I64", 64, 2);
    count_packed(
        "\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"config_groups\":"
        "{\"group_0\":{\"weights\":{\"num_bits\":4,\"type\":\"int\"},"
        "\"input_activations\":null}}}",
        "w4a16", 128 * 256 / 2 + 512 + 16, ECO_PREC_W4A16, &w);
    ST2(&w, L "weight_packed", "U8", 8, 128, 256 / 2);
    ST2(&w, L "weight_scale", "F8_E4M3", 8, 128, 16);
    count_packed("\"quantization_config\":{\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\"}",
                 "nvfp4", 128 * 256 / 2 + 128 * 16, ECO_PREC_NVFP4, &w);
    ST4(&w, "model.layers.0.mlp.experts.gate_up_proj_blocks", "U8", 8, 4, 64, 8, 8);
    st_add(&w, "model.layers.0.mlp.experts.gate_up_proj_scales", "U8", 8, 3,
           (const uint64_t[]){4, 64, 8});
    count_packed("\"quantization_config\":{\"quant_method\":\"mxfp4\"}", "mxfp4",
                 128 * 256 / 2 + 2048, ECO_PREC_MXFP4, &w);
#undef L
}

/* Masks and inverse frequencies are no parameters; towers are not read for text. */
static void test_what_does_not_count(void **state)
{
    (void)state;
    struct st_writer w = {0};
    struct eco_model m;
    struct eco_model_info info;
    ST4(&w, "h.0.attn.bias", "F32", 32, 1, 1, 32, 32);
    ST1(&w, "model.layers.0.self_attn.rotary_emb.inv_freq", "F32", 32, 8);
    ST2(&w, "vision_tower.blocks.0.weight", "BF16", 16, 50, 10);
    ST2(&w, "model.layers.2.eh_proj.weight", "BF16", 16, 64, 64); /* beyond the config's layers */
    add_llama(&w, true, "BF16", 16);
    assert_int_equal(read_st(&w, llama_config, &m, &info, NULL), 0);
    assert_int_equal(m.params_total, 2 * TABLE + 2 * LAYER + NORMS + 500 + 4096);
    assert_int_equal(m.params_active, TABLE + 2 * LAYER + NORMS);
    assert_int_equal(info.class_params[ECO_TENSOR_OTHER], 4596);
    assert_int_equal(info.class_bytes[ECO_TENSOR_BUFFER], 4096 + 32);
    assert_int_equal(m.file_bytes, 2 * m.params_total);
}

static void test_tensors_and_config_disagree(void **state)
{
    (void)state;
    struct st_writer w = {0};
    struct eco_model m;
    struct eco_model_info info;
    ST2(&w, "model.layers.0.self_attn.extra.weight", "BF16", 16, 3, 5);
    add_llama(&w, true, "BF16", 16);
    assert_int_equal(read_st(&w, llama_config, &m, &info, NULL), 0);
    assert_int_equal(m.params_total, 2 * TABLE + 2 * LAYER + NORMS + 15);
    assert_non_null(strstr(info.note, "the tensors count"));
}

/* An architecture that nobody knows: the tensors count, generic keys give the shape. */
static void test_unknown_architecture(void **state)
{
    (void)state;
    char config[1024];
    struct st_writer w = {0};
    struct eco_model m;
    struct eco_err err;
    snprintf(config, sizeof config, "{\"model_type\":\"novel_net\"%s", strchr(llama_config, ','));
    add_llama(&w, true, "BF16", 16);
    assert_int_equal(read_st(&w, config, &m, NULL, NULL), 0);
    assert_int_equal(m.params_total, 2 * TABLE + 2 * LAYER + NORMS);
    assert_int_equal(m.n_kv_heads, 2);
    assert_int_equal(eco_model_from_config("c", NULL, config, strlen(config), &m, NULL, &err),
                     ECO_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'novel_net'"));
    assert_non_null(strstr(err.message, "--params-b"));
}

/* --- what must be refused ----------------------------------------------------------------- */

static int read_raw(const char *json, uint64_t data, struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_model m;
    struct eco_err mine = {0};
    st_raw(&b, json);
    int rc = eco_model_from_safetensors("dir/x.safetensors", NULL, (const unsigned char *)b.data,
                                        b.len, b.len + data, NULL, 0, &m, NULL, &mine);
    eco_buf_done(&b);
    *err = mine;
    return rc;
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *json, *word;
        uint64_t data;
    } cases[] = {
        {"[]", "must be an object", 0},
        {"{\"a\":3}", "must be an object", 0},
        {"{\"__metadata__\":3}", "must be an object", 0},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}", "not json", 8},
        {"{\"a\":{\"dtype\":\"F17\",\"shape\":[4],\"data_offsets\":[0,8]}}", "unknown dtype", 8},
        {"{\"a\":{\"shape\":[4],\"data_offsets\":[0,8]}}", "unknown dtype", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[-4],\"data_offsets\":[0,8]}}", "shape", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4.5],\"data_offsets\":[0,8]}}", "shape", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[9223372036854775807,9223372036854775807],"
         "\"data_offsets\":[0,8]}}",
         "shape", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[9223372036854775808],\"data_offsets\":[0,8]}}",
         "shape", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[1,1,1,1,1,1,1,1,4],\"data_offsets\":[0,8]}}",
         "shape", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[8,0]}}", "data_offsets", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0]}}", "data_offsets", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,9223372036854775807]}}",
         "beyond", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,6]}}", "contradict", 6},
        {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", "contradict", 1},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]},"
         "\"b\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[4,12]}}",
         "overlap", 12},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]},"
         "\"b\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[10,18]}}",
         "hole", 18},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}}", "end before", 9},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]},"
         "\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[8,16]}}",
         "twice", 16},
        {"{\"\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}}", "no name", 8},
        {"{\"a\\u0000b\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}}", "no name", 8},
        {"{\"a\xff\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}}", "not json", 8},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[NaN],\"data_offsets\":[0,8]}}", "not json", 8},
        {"{}", "no parameters", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct eco_err err;
        int rc = read_raw(cases[i].json, cases[i].data, &err);
        if (rc != ECO_E_CONTENT || strstr(err.message, cases[i].word) == NULL) {
            fail_msg("case %zu: %d '%s', wanted '%s'", i, rc, err.message, cases[i].word);
        }
        assert_string_equal(err.arg, "dir/x.safetensors");
    }
}

static void test_bombs(void **state)
{
    (void)state;
    struct eco_buf b = ECO_BUF_INIT;
    struct eco_err err;
    eco_buf_puts(&b, "{\"a\":");
    for (int i = 0; i < 100000; i++) {
        eco_buf_putc(&b, '[');
    }
    assert_int_equal(read_raw(eco_buf_str(&b), 0, &err), ECO_E_TOO_LARGE);
    eco_buf_clear(&b);
    eco_buf_puts(&b, "{\"a\":[0");
    for (int i = 0; i < 5000000; i++) { /* 10 MB of text that would be a huge tree */
        eco_buf_puts(&b, ",0");
    }
    eco_buf_puts(&b, "]}");
    assert_int_equal(read_raw(eco_buf_str(&b), 0, &err), ECO_E_TOO_LARGE);
    eco_buf_done(&b);
}

static void test_length_lies(void **state)
{
    (void)state;
    struct eco_model m;
    struct eco_err err;
    const uint64_t lengths[] = {0, 1, 3, 1000, UINT64_MAX, 1ull << 63, 1ull << 40, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct eco_buf b = ECO_BUF_INIT;
        put_little(&b, lengths[i], 8);
        eco_buf_puts(&b, "{}");
        int rc = eco_model_from_safetensors("x", NULL, (const unsigned char *)b.data, b.len, b.len,
                                            NULL, 0, &m, NULL, &err);
        assert_int_equal(rc, ECO_E_CONTENT);
        /* size not known: over the limit, or cut off */
        rc = eco_model_from_safetensors("x", NULL, (const unsigned char *)b.data, b.len, 0, NULL, 0,
                                        &m, NULL, &err);
        assert_true(rc == ECO_E_CONTENT || rc == ECO_E_TOO_LARGE);
        eco_buf_done(&b);
    }
}

/* Every prefix fails cleanly; random bytes changed never crash nor pass with other totals. */
static void test_cut_and_mutated(void **state)
{
    (void)state;
    struct st_writer w = {0};
    struct eco_buf b = ECO_BUF_INIT;
    uint64_t bytes, seed = 1;
    struct eco_model m;
    add_llama(&w, true, "BF16", 16);
    st_finish(&w, &b, &bytes);
    unsigned char *copy = malloc(b.len);
    for (size_t n = 0; n < b.len; n++) {
        memcpy(copy, b.data, n);
        assert_true(eco_model_from_safetensors("x", NULL, copy, n, bytes, llama_config,
                                               strlen(llama_config), &m, NULL, NULL) < 0);
        assert_true(eco_model_from_safetensors("x", NULL, copy, n, n, NULL, 0, &m, NULL, NULL) < 0);
    }
    for (int i = 0; i < 3000; i++) {
        memcpy(copy, b.data, b.len);
        for (int k = 0; k < 1 + i % 4; k++) {
            copy[next_random(&seed) % b.len] = (unsigned char)next_random(&seed);
        }
        int rc = eco_model_from_safetensors("x", NULL, copy, b.len, bytes, llama_config,
                                            strlen(llama_config), &m, NULL, NULL);
        assert_true(rc <= 0);
        if (rc == 0) { /* names may change; bytes of the file may not */
            assert_true(m.file_bytes <= bytes);
        }
    }
    free(copy);
    eco_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama),
        cmocka_unit_test(test_tied),
        cmocka_unit_test(test_without_config),
        cmocka_unit_test(test_packings),
        cmocka_unit_test(test_what_does_not_count),
        cmocka_unit_test(test_tensors_and_config_disagree),
        cmocka_unit_test(test_unknown_architecture),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_length_lies),
        cmocka_unit_test(test_cut_and_mutated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
