#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
/* From disk: what each kind of path gives, and paths that must not be followed or waited for. */
#include "dataset/dataset.h"
#include "model/model.h"
#include "writers.h"

static const char config_text[] =
    "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":1,"
    "\"num_attention_heads\":4,\"intermediate_size\":96,\"vocab_size\":100,"
    "\"max_position_embeddings\":512,\"torch_dtype\":\"float16\"}";

enum { TABLE = 100 * 64, LAYER = 4 * 64 * 64 + 3 * 64 * 96, NORMS = 3 * 64 };

static char root[64]; /* a folder of this run */

static const char *at(const char *name)
{
    static char path[4][256];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", root, name);
    return p;
}

static int setup(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof root, "%.40s/eco-XXXXXX", base ? base : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text), 0);
}

static void write_st(const char *path, int part)
{
    struct st_writer w = {0};
    struct eco_buf b = ECO_BUF_INIT;
    uint64_t bytes;
    if (part != 2) {
        ST2(&w, "model.embed_tokens.weight", "F16", 16, 100, 64);
        ST2(&w, "model.layers.0.self_attn.q_proj.weight", "F16", 16, 64, 64);
        ST2(&w, "model.layers.0.self_attn.k_proj.weight", "F16", 16, 64, 64);
        ST2(&w, "model.layers.0.self_attn.v_proj.weight", "F16", 16, 64, 64);
        ST2(&w, "model.layers.0.self_attn.o_proj.weight", "F16", 16, 64, 64);
    }
    if (part != 1) {
        ST2(&w, "model.layers.0.mlp.gate_proj.weight", "F16", 16, 96, 64);
        ST2(&w, "model.layers.0.mlp.up_proj.weight", "F16", 16, 96, 64);
        ST2(&w, "model.layers.0.mlp.down_proj.weight", "F16", 16, 64, 96);
        ST1(&w, "model.layers.0.input_layernorm.weight", "F16", 16, 64);
        ST1(&w, "model.layers.0.post_attention_layernorm.weight", "F16", 16, 64);
        ST1(&w, "model.norm.weight", "F16", 16, 64);
        ST2(&w, "lm_head.weight", "F16", 16, 100, 64);
    }
    st_finish(&w, &b, &bytes);
    write_file(path, b.data, b.len, bytes);
    eco_buf_done(&b);
}

static void check(const char *spec, const char *name, uint64_t files, const char *source)
{
    struct eco_model m;
    struct eco_model_info info;
    struct eco_err err = {0};
    if (eco_model_inspect(spec, &m, &info, &err)) {
        fail_msg("%s: %s", spec, err.message);
    }
    assert_int_equal(m.params_total, 2 * TABLE + LAYER + NORMS);
    assert_string_equal(m.name, name);
    assert_string_equal(m.source, source);
    assert_int_equal(info.files, files);
    assert_int_equal(m.stored, ECO_PREC_FP16);
}

static void refuse(const char *spec, int code, const char *word)
{
    struct eco_model m, before;
    struct eco_err err = {0};
    memset(&m, 0x3c, sizeof m);
    before = m;
    int rc = eco_model_open(spec, &m, &err);
    if (rc != code || strstr(err.message, word) == NULL) {
        fail_msg("%s: %d '%s', wanted %d '%s'", spec, rc, err.message, code, word);
    }
    assert_memory_equal(&m, &before, sizeof m);
}

static void test_folders(void **state)
{
    (void)state;
    assert_int_equal(mkdir(at("tiny"), 0700), 0);
    refuse(at("tiny"), ECO_E_NOT_FOUND, "config.json");
    write_text(at("tiny/config.json"), config_text);
    check(at("tiny"), "tiny", 1, "config.json");
    check(at("tiny/"), "tiny", 1, "config.json");
    check(at("tiny/config.json"), "tiny", 1, "config.json");
    write_st(at("tiny/model.safetensors"), 0);
    check(at("tiny"), "tiny", 1, "safetensors");
    check(at("tiny/model.safetensors"), "model.safetensors", 1, "safetensors");
    assert_int_equal(symlink("tiny", at("link")), 0);
    check(at("link"), "link", 1, "safetensors");
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(at("tiny")), 0);
    check(".", "tiny", 1, "safetensors");
    assert_int_equal(chdir(here), 0);
}

static const char *entry(const char *tensor, const char *shard)
{
    static char text[256];
    snprintf(text, sizeof text, "{\"weight_map\":{\"%s\":\"%s\"}}", tensor, shard);
    return text;
}

static void write_index(const char *first, const char *second, const char *more)
{
    static const char *const tensors[] = {
        "1model.embed_tokens.weight",
        "1model.layers.0.self_attn.q_proj.weight",
        "1model.layers.0.self_attn.k_proj.weight",
        "1model.layers.0.self_attn.v_proj.weight",
        "1model.layers.0.self_attn.o_proj.weight",
        "2model.layers.0.mlp.gate_proj.weight",
        "2model.layers.0.mlp.up_proj.weight",
        "2model.layers.0.mlp.down_proj.weight",
        "2model.layers.0.input_layernorm.weight",
        "2model.layers.0.post_attention_layernorm.weight",
        "2model.norm.weight",
        "2lm_head.weight",
    };
    struct eco_buf b = ECO_BUF_INIT;
    eco_buf_puts(&b, "{\"metadata\":{\"total_size\":1},\"weight_map\":{");
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        eco_buf_printf(&b, "%s\"%s\":\"%s\"", i ? "," : "", tensors[i] + 1,
                       tensors[i][0] == '1' ? first : second);
    }
    eco_buf_printf(&b, "%s}}", more);
    write_text(at("shards/model.safetensors.index.json"), b.data);
    eco_buf_done(&b);
}

static void test_shards(void **state)
{
    (void)state;
    const char *one = "model-00001-of-00002.safetensors", *two = "model-00002-of-00002.safetensors";
    assert_int_equal(mkdir(at("shards"), 0700), 0);
    write_text(at("shards/config.json"), config_text);
    write_index(one, two, "");
    refuse(at("shards"), ECO_E_NOT_FOUND, one);
    write_st(at("shards/model-00001-of-00002.safetensors"), 1);
    refuse(at("shards"), ECO_E_NOT_FOUND, two);
    write_st(at("shards/model-00002-of-00002.safetensors"), 2);
    check(at("shards"), "shards", 2, "safetensors");
    /* what the index does not list is not the model's */
    write_st(at("shards/model-00002-of-00002.safetensors"), 0);
    check(at("shards"), "shards", 2, "safetensors");
    write_index(one, two, ",\"model.gone.weight\":\"model-00002-of-00002.safetensors\"");
    refuse(at("shards"), ECO_E_CONTENT, "the shards have 12");
    write_text(at("shards/model.safetensors.index.json"), "{\"weight_map\":{}}");
    refuse(at("shards"), ECO_E_CONTENT, "weight_map");
    write_text(at("shards/model.safetensors.index.json"), "{\"weight_map\":{\"a\":");
    refuse(at("shards"), ECO_E_CONTENT, "not json");
    static const char *const names[] = {"../tiny/model.safetensors",
                                        "/etc/passwd",
                                        "..",
                                        "a/b.safetensors",
                                        "a.bin",
                                        ".safetensors",
                                        "a\\\\b.safetensors",
                                        "..\\u0000.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_text(at("shards/model.safetensors.index.json"), entry("a", names[i]));
        refuse(at("shards"), ECO_E_CONTENT, "in this folder");
    }
    write_text(at("shards/model.safetensors.index.json"), "{\"weight_map\":{\"a\":3}}");
    refuse(at("shards"), ECO_E_CONTENT, "in this folder");
}

static void test_gguf(void **state)
{
    (void)state;
    struct gguf_writer w = {0};
    struct eco_buf b = ECO_BUF_INIT;
    uint64_t bytes;
    struct eco_model m;
    gguf_string(&w, "general.architecture", "llama");
    gguf_strings(&w, "tokenizer.ggml.tokens", 100000); /* 2.4 MB: read in more than one go */
    gguf_u32(&w, "llama.block_count", 1);
    gguf_u32(&w, "llama.embedding_length", 64);
    gguf_u32(&w, "llama.attention.head_count", 4);
    GG2(&w, "token_embd.weight", 1, 1, 2, 64, 100000);
    gguf_finish(&w, &b, &bytes);
    write_file(at("big.gguf"), b.data, b.len, bytes);
    assert_int_equal(eco_model_open(at("big.gguf"), &m, NULL), 0);
    assert_int_equal(m.params_total, 6400000);
    assert_int_equal(m.vocab, 100000);
    assert_string_equal(m.name, "big.gguf");
    write_file(at("cut.gguf"), b.data, 2000000, 0);
    refuse(at("cut.gguf"), ECO_E_CONTENT, "byte");
    write_file(at("cut.gguf"), b.data, b.len, bytes - 1);
    refuse(at("cut.gguf"), ECO_E_CONTENT, "beyond the end");
    eco_buf_done(&b);
    write_text(at("not.gguf"), "{\"this\": \"is no gguf\"}");
    refuse(at("not.gguf"), ECO_E_CONTENT, "no GGUF");
    write_text(at("empty.gguf"), "");
    refuse(at("empty.gguf"), ECO_E_CONTENT, "empty");
    /* a header that goes on for ever: strings up to the limit, all of it a hole */
    write_file(at("hole.gguf"), "GGUF\3\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 24,
               (uint64_t)1 << 40);
    refuse(at("hole.gguf"), ECO_E_CONTENT, "empty");
}

/* Pipes, devices, folders in place of files: an answer at once. */
static void test_no_regular_files(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(at("pipe.gguf"), 0600), 0);
    assert_int_equal(mkfifo(at("pipe.safetensors"), 0600), 0);
    assert_int_equal(mkfifo(at("pipe.json"), 0600), 0);
    refuse(at("pipe.gguf"), ECO_E_INVALID, "no regular file");
    refuse(at("pipe.safetensors"), ECO_E_INVALID, "no regular file");
    refuse(at("pipe.json"), ECO_E_INVALID, "no regular file");
    assert_int_equal(symlink("/dev/zero", at("zero.gguf")), 0);
    refuse(at("zero.gguf"), ECO_E_INVALID, "no regular file");
    assert_int_equal(mkdir(at("folder.gguf"), 0700), 0);
    refuse(at("folder.gguf"), ECO_E_NOT_FOUND, "config.json");
    assert_int_equal(symlink("loop.gguf", at("loop.gguf")), 0);
    refuse(at("loop.gguf"), ECO_E_IO, "cannot read");
    refuse(at("none.gguf"), ECO_E_NOT_FOUND, "none.gguf");
    refuse(at("no/such/folder/config.json"), ECO_E_NOT_FOUND, "config.json");
    write_text(at("model.bin"), "PK");
    refuse(at("model.bin"), ECO_E_UNSUPPORTED, "no folder");
    write_text(at("empty.json"), "");
    refuse(at("empty.json"), ECO_E_CONTENT, "not json");
    write_text(at("short.safetensors"), "abc");
    refuse(at("short.safetensors"), ECO_E_CONTENT, "byte 3");
    write_file(at("huge.json"), "{", 1, ECO_MODEL_MAX_CONFIG + 1);
    refuse(at("huge.json"), ECO_E_TOO_LARGE, "at most");
    char longer[5000];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    refuse(longer, ECO_E_INVALID, "too long");
    refuse("", ECO_E_MISSING, "empty");
}

static void test_known_names(void **state)
{
    (void)state;
    struct eco_model m;
    struct eco_model_info info;
    const struct eco_model *k = eco_dataset_model(0);
    assert_int_equal(eco_model_inspect(k->name, &m, &info, NULL), 0);
    assert_int_equal(m.params_total, k->params_total);
    assert_int_equal(info.class_params[ECO_TENSOR_LINEAR], k->params_linear);
    assert_int_equal(eco_model_open("qwen2.5-7b", &m, NULL), 0);
    assert_int_equal(m.params_total, 7615616512);
    refuse("qwen2.5-7c", ECO_E_UNKNOWN_NAME, "qwen2.5-7b");
    refuse("no-such-model-at-all", ECO_E_UNKNOWN_NAME, "no-such-model-at-all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),     cmocka_unit_test(test_shards),
        cmocka_unit_test(test_gguf),        cmocka_unit_test(test_no_regular_files),
        cmocka_unit_test(test_known_names),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
