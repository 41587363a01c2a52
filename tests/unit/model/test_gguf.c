/* Heads of .gguf files: counts, shapes, mixes, and what can lie. */
#include "eco_memory.h"
#include "model/model.h"
#include "writers.h"

enum { VOCAB = 320, H = 256, FF = 512, KV = 128, LAYERS = 4 };
enum { LAYER = 2 * H * H + 2 * H * KV + 3 * H * FF, NORMS = (2 * LAYERS + 1) * H };

static void add_metadata(struct gguf_writer *w, const char *arch)
{
    char key[96];
#define KEY(tail) (snprintf(key, sizeof key, "%s." tail, arch), key)
    gguf_string(w, "general.architecture", arch);
    gguf_string(w, "general.name", "tiny");
    gguf_u32(w, "general.file_type", 15);
    gguf_u32(w, KEY("context_length"), 4096);
    gguf_u32(w, KEY("embedding_length"), H);
    gguf_u32(w, KEY("block_count"), LAYERS);
    gguf_u32(w, KEY("feed_forward_length"), FF);
    gguf_u32(w, KEY("attention.head_count"), 4);
    gguf_u32(w, KEY("attention.head_count_kv"), 2);
#undef KEY
}

/* A Q4_K file: tables Q4_K and Q6_K, norms F32, all else Q4_K. */
static void add_tensors(struct gguf_writer *w, bool head)
{
    char n[64];
    GG2(w, "token_embd.weight", 12, 256, 144, H, VOCAB);
    for (int i = 0; i < LAYERS; i++) {
#define IN(tail) (snprintf(n, sizeof n, "blk.%d." tail, i), n)
        GG1(w, IN("attn_norm.weight"), 0, 1, 4, H);
        GG1(w, IN("ffn_norm.weight"), 0, 1, 4, H);
        GG2(w, IN("attn_q.weight"), 12, 256, 144, H, H);
        GG2(w, IN("attn_k.weight"), 12, 256, 144, H, KV);
        GG2(w, IN("attn_v.weight"), 12, 256, 144, H, KV);
        GG2(w, IN("attn_output.weight"), 12, 256, 144, H, H);
        GG2(w, IN("ffn_gate.weight"), 12, 256, 144, H, FF);
        GG2(w, IN("ffn_up.weight"), 12, 256, 144, H, FF);
        GG2(w, IN("ffn_down.weight"), 12, 256, 144, FF, H);
#undef IN
    }
    GG1(w, "output_norm.weight", 0, 1, 4, H);
    if (head) {
        GG2(w, "output.weight", 14, 256, 210, H, VOCAB);
    }
}

static int read_gguf(struct gguf_writer *w, struct eco_model *m, struct eco_model_info *info,
                     struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    uint64_t bytes;
    gguf_finish(w, &b, &bytes);
    int rc = eco_model_from_gguf("dir/tiny.gguf", NULL, (const unsigned char *)b.data, b.len, bytes,
                                 m, info, err);
    eco_buf_done(&b);
    return rc;
}

static void test_llama(void **state)
{
    (void)state;
    struct gguf_writer w = {0};
    struct eco_model m;
    struct eco_model_info info;
    struct eco_err err = {0};
    add_metadata(&w, "llama");
    gguf_strings(&w, "tokenizer.ggml.tokens", VOCAB);
    add_tensors(&w, true);
    if (read_gguf(&w, &m, &info, &err)) {
        fail_msg("%s", err.message);
    }
    assert_string_equal(m.name, "tiny.gguf");
    assert_string_equal(info.architecture, "llama");
    assert_string_equal(m.source, "gguf");
    assert_int_equal(m.params_total, 2 * VOCAB * H + LAYERS * LAYER + NORMS);
    assert_int_equal(m.params_active, VOCAB * H + LAYERS * LAYER + NORMS);
    assert_int_equal(m.params_norm, NORMS);
    assert_int_equal(m.file_bytes,
                     VOCAB * H / 256 * (144 + 210) + LAYERS * LAYER / 256 * 144 + NORMS * 4);
    assert_int_equal(info.class_bytes[ECO_TENSOR_LM_HEAD], VOCAB * H / 256 * 210);
    assert_int_equal(m.stored, ECO_PREC_GGUF_Q4_K_M);
    assert_int_equal(m.layers, LAYERS);
    assert_int_equal(m.hidden, H);
    assert_int_equal(m.n_heads, 4);
    assert_int_equal(m.n_kv_heads, 2);
    assert_int_equal(m.head_dim, 64);
    assert_int_equal(m.vocab, VOCAB);
    assert_int_equal(m.max_context, 4096);
    assert_int_equal(m.sliding_window, 0);
    assert_false(m.tied);
    assert_near(eco_memory_weight_bytes(&m, ECO_PREC_NONE), (double)m.file_bytes, 1e-6);
}

static void test_tied_windows_and_latent(void **state)
{
    (void)state;
    struct gguf_writer w = {0};
    struct eco_model m;
    const struct {
        const char *arch;
        int windowed;
    } cases[] = {{"gemma2", 2}, {"gpt-oss", 2}, {"gemma3", 4}, {"phi3", 4}, {"cohere2", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char key[64];
        add_metadata(&w, cases[i].arch);
        snprintf(key, sizeof key, "%s.attention.sliding_window", cases[i].arch);
        gguf_u32(&w, key, 128);
        add_tensors(&w, false);
        assert_int_equal(read_gguf(&w, &m, NULL, NULL), 0);
        assert_true(m.tied);
        assert_int_equal(m.params_active, m.params_total);
        assert_int_equal(m.sliding_window, 128);
        assert_int_equal(m.sliding_layers, cases[i].windowed);
    }
    add_metadata(&w, "deepseek2");
    gguf_u32(&w, "deepseek2.attention.kv_lora_rank", 512);
    gguf_u32(&w, "deepseek2.rope.dimension_count", 64);
    gguf_u32(&w, "deepseek2.expert_count", 8);
    gguf_u32(&w, "deepseek2.expert_used_count", 2);
    GG3(&w, "blk.0.ffn_up_exps.weight", 12, 256, 144, H, FF, 8);
    GG2(&w, "blk.0.ffn_up_shexp.weight", 12, 256, 144, H, FF);
    add_tensors(&w, true);
    assert_int_equal(read_gguf(&w, &m, NULL, NULL), 0);
    assert_int_equal(m.kv_lora_rank, 512);
    assert_int_equal(m.rope_head_dim, 64);
    assert_int_equal(m.experts, 8);
    uint64_t all = 2 * VOCAB * H + LAYERS * LAYER + NORMS + 9 * H * FF;
    assert_int_equal(m.params_total, all);
    assert_int_equal(m.params_active, all - VOCAB * H - 6 * H * FF);
}

static void test_numbers_by_layer_and_mixes(void **state)
{
    (void)state;
    struct gguf_writer w = {0};
    struct eco_model m;
    struct eco_model_info info;
    gguf_string(&w, "general.architecture", "openelm");
    gguf_u32(&w, "general.file_type", 11);
    gguf_u32(&w, "openelm.embedding_length", H);
    gguf_u32(&w, "openelm.block_count", LAYERS);
    gguf_i32s(&w, "openelm.attention.head_count", 4, (const int32_t[]){2, 4, 4, 4});
    add_tensors(&w, true);
    assert_int_equal(read_gguf(&w, &m, &info, NULL), 0);
    assert_int_equal(m.n_heads, 4);
    assert_int_equal(m.stored, ECO_PREC_GGUF_Q3_K_M);
    assert_non_null(strstr(info.note, "Q3_K_S"));
    /* without a file type the largest share of the matrices decides */
    gguf_string(&w, "general.architecture", "x");
    gguf_u32(&w, "x.embedding_length", H);
    gguf_u32(&w, "x.block_count", 1);
    gguf_u32(&w, "x.attention.head_count", 4);
    GG2(&w, "blk.0.a.weight", 8, 32, 34, H, FF);
    GG2(&w, "blk.0.b.weight", 30, 1, 2, H, 64);
    GG2(&w, "token_embd.weight", 1, 1, 2, H, VOCAB);
    assert_int_equal(read_gguf(&w, &m, &info, NULL), 0);
    assert_int_equal(m.stored, ECO_PREC_GGUF_Q8_0);
}

/* Fewer bytes than the header: asks for more, and gives the same in the end. */
static void test_asks_for_more(void **state)
{
    (void)state;
    struct gguf_writer w = {0};
    struct eco_buf b = ECO_BUF_INIT;
    uint64_t bytes;
    struct eco_model m, before;
    memset(&m, 0x5a, sizeof m);
    before = m;
    add_metadata(&w, "llama");
    gguf_strings(&w, "tokenizer.ggml.tokens", 20);
    add_tensors(&w, true);
    gguf_finish(&w, &b, &bytes);
    for (size_t n = 0; n < b.len; n++) {
        unsigned char *copy = malloc(n + 1);
        memcpy(copy, b.data, n);
        assert_int_equal(eco_model_from_gguf("x", NULL, copy, n, bytes, &m, NULL, NULL), 1);
        assert_int_equal(eco_model_from_gguf("x", NULL, copy, n, 0, &m, NULL, NULL), 1);
        struct eco_err err;
        assert_int_equal(eco_model_from_gguf("x", NULL, copy, n, n, &m, NULL, &err),
                         n == 0 ? 1 : ECO_E_CONTENT);
        free(copy);
    }
    assert_memory_equal(&m, &before, sizeof m);
    assert_int_equal(
        eco_model_from_gguf("x", NULL, (const unsigned char *)b.data, b.len, bytes, &m, NULL, NULL),
        0);
    /* a file that ends before its tensors do */
    struct eco_err err;
    assert_int_equal(eco_model_from_gguf("x", NULL, (const unsigned char *)b.data, b.len,
                                         bytes - 64, &m, NULL, &err),
                     ECO_E_CONTENT);
    assert_non_null(strstr(err.message, "beyond the end"));
    eco_buf_done(&b);
}

static void refuse(struct gguf_writer *w, const char *word)
{
    struct eco_model m;
    struct eco_err err = {0};
    int rc = read_gguf(w, &m, NULL, &err);
    if (rc != ECO_E_CONTENT || strstr(err.message, word) == NULL) {
        fail_msg("%d '%s', wanted '%s'", rc, err.message, word);
    }
    assert_string_equal(err.arg, "dir/tiny.gguf");
}

static void test_refusals(void **state)
{
    (void)state;
    struct gguf_writer w = {0};
    add_tensors(&w, true);
    refuse(&w, "lack general.architecture");
    add_metadata(&w, "llama");
    gguf_u32(&w, "llama.block_count", 4);
    add_tensors(&w, true);
    refuse(&w, "key is there twice");
    add_metadata(&w, "llama");
    add_tensors(&w, true);
    GG2(&w, "output.weight", 14, 256, 210, H, VOCAB);
    refuse(&w, "one name");
    add_metadata(&w, "llama");
    GG2(&w, "a.weight", 99, 256, 144, H, H);
    refuse(&w, "unknown type");
    add_metadata(&w, "llama");
    GG2(&w, "a.weight", 4, 256, 144, H, H);
    refuse(&w, "unknown type");
    add_metadata(&w, "llama");
    GG2(&w, "a.weight", 12, 1, 1, 100, 100);
    refuse(&w, "no whole blocks");
    add_metadata(&w, "llama");
    GG2(&w, "a.weight", 0, 1, 0, 1ull << 40, 1ull << 40);
    refuse(&w, "impossible dimensions");
    add_metadata(&w, "llama");
    GG2(&w, "a.weight", 0, 1, 0, 1ull << 40, 1ull << 10);
    refuse(&w, "beyond the end");
    add_metadata(&w, "llama");
    GG1(&w, "a.weight", 0, 1, 0, 64); /* the next one is told to start at the same byte */
    GG1(&w, "b.weight", 0, 1, 4, 64);
    refuse(&w, "overlap");
    add_metadata(&w, "llama");
    w.at = 8;
    GG1(&w, "a.weight", 0, 1, 4, 64);
    refuse(&w, "off the alignment");
    add_metadata(&w, "llama");
    gguf_u32(&w, "general.alignment", 48);
    add_tensors(&w, true);
    refuse(&w, "power of two");
    add_metadata(&w, "llama");
    gguf_u32(&w, "llama.expert_count", 4000000);
    add_tensors(&w, true);
    refuse(&w, "out of its range");
    add_metadata(&w, "llama");
    gguf_string(&w, "llama.expert_count", "4");
    add_tensors(&w, true);
    struct eco_model m;
    assert_int_equal(read_gguf(&w, &m, NULL, NULL), 0); /* a text is no number: passed over */
    add_metadata(&w, "llama");
    gguf_u32(&w, "split.count", 3);
    add_tensors(&w, true);
    refuse(&w, "split file");
    add_metadata(&w, "ll\xffma");
    refuse(&w, "is no name");
}

/* The fixed part of the header, one lie at a time. */
static void test_header_lies(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        int n;
        uint64_t v;
        const char *word;
    } lies[] = {
        {0, 4, 0x46554748, "no GGUF"},
        {4, 4, 1, "versions 2 and 3"},
        {4, 4, 4, "versions 2 and 3"},
        {4, 4, 0x03000000, "big-endian"},
        {8, 8, UINT64_MAX, "more than 262144"},
        {8, 8, 1ull << 63, "more than 262144"},
        {8, 8, 262144, "ends inside"},
        {16, 8, UINT64_MAX, "more than 262144"},
        {16, 8, 65536, ""},
        {24, 8, UINT64_MAX, "longer than 65535"},
        {24, 8, 1ull << 63, "longer than 65535"},
        {24, 8, 0, ""},
    };
    struct gguf_writer w = {0};
    struct eco_buf b = ECO_BUF_INIT;
    uint64_t bytes;
    struct eco_model m;
    add_metadata(&w, "llama");
    add_tensors(&w, true);
    gguf_finish(&w, &b, &bytes);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        unsigned char *copy = malloc(b.len);
        struct eco_err err = {0};
        memcpy(copy, b.data, b.len);
        for (int k = 0; k < lies[i].n; k++) {
            copy[lies[i].at + (size_t)k] = (unsigned char)(lies[i].v >> (8 * k));
        }
        int rc = eco_model_from_gguf("x", NULL, copy, b.len, b.len, &m, NULL, &err);
        if (rc != ECO_E_CONTENT || strstr(err.message, lies[i].word) == NULL) {
            fail_msg("lie %zu: %d '%s', wanted '%s'", i, rc, err.message, lies[i].word);
        }
        free(copy);
    }
    eco_buf_done(&b);
}

static void test_mutated(void **state)
{
    (void)state;
    struct gguf_writer w = {0};
    struct eco_buf b = ECO_BUF_INIT;
    uint64_t bytes, seed = 7;
    struct eco_model m;
    add_metadata(&w, "llama");
    gguf_strings(&w, "tokenizer.ggml.tokens", 8);
    gguf_i32s(&w, "llama.list", 3, (const int32_t[]){1, -2, 3});
    add_tensors(&w, true);
    gguf_finish(&w, &b, &bytes);
    unsigned char *copy = malloc(b.len);
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, b.data, b.len);
        for (int k = 0; k < 1 + i % 3; k++) {
            copy[next_random(&seed) % b.len] = (unsigned char)next_random(&seed);
        }
        int rc = eco_model_from_gguf("x", NULL, copy, b.len, bytes, &m, NULL, NULL);
        assert_true(rc <= 1);
        if (rc == 0) {
            assert_true(m.file_bytes <= bytes && m.params_total > 0 && m.n_kv_heads >= 1);
        }
    }
    free(copy);
    eco_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama),
        cmocka_unit_test(test_tied_windows_and_latent),
        cmocka_unit_test(test_numbers_by_layer_and_mixes),
        cmocka_unit_test(test_asks_for_more),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_header_lies),
        cmocka_unit_test(test_mutated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
