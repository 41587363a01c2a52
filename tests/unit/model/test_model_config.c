/*
 * Counting from config.json: every known model's exact figures, hand formulas for the families
 * that the data set lacks, quantized configs, and what must be refused.
 */
#include "dataset/dataset.h"
#include "eco_test.h"
#include "model/model.h"

/* Texts are written with ' for ", to be readable. */
static int read_config(const char *text, struct eco_model *m, struct eco_model_info *info,
                       struct eco_err *err)
{
    char json[4096];
    size_t n = strlen(text);
    assert_true(n < sizeof json);
    for (size_t i = 0; i <= n; i++) {
        json[i] = text[i] == '\'' ? '"' : text[i];
    }
    return eco_model_from_config("config.json", "test", json, n, m, info, err);
}

/** Compares one line "name config" of known_configs.txt with the data set; fields that differ. */
static int compare_line(const char *name, const char *json)
{
    const struct eco_model *k = NULL;
    struct eco_model m;
    struct eco_err err = {0};
    int wrong = 0;
    if (eco_dataset_find_model(name, strlen(name), &k, &err) ||
        eco_model_from_config("config.json", name, json, strlen(json), &m, NULL, &err)) {
        print_error("%s: %s\n", name, err.message);
        return 1;
    }
#define SAME(field)                                                                                \
    if ((uint64_t)m.field != (uint64_t)k->field) {                                                 \
        print_error("%s: %s %llu, wanted %llu\n", name, #field, (unsigned long long)m.field,       \
                    (unsigned long long)k->field);                                                 \
        wrong++;                                                                                   \
    }
    SAME(params_total)
    SAME(params_active)
    SAME(params_embedding)
    SAME(params_lm_head)
    SAME(params_norm)
    SAME(params_linear)
    SAME(layers)
    SAME(hidden)
    SAME(n_heads)
    SAME(n_kv_heads)
    SAME(head_dim)
    SAME(intermediate)
    SAME(vocab)
    SAME(sliding_window)
    SAME(sliding_layers)
    SAME(kv_lora_rank)
    SAME(rope_head_dim)
    SAME(experts)
    SAME(experts_per_token)
    SAME(tied)
    SAME(shape_basis)
    if (k->stored != ECO_PREC_NONE) {
        SAME(stored)
    }
#undef SAME
    return wrong;
}

static void test_known_models_exactly(void **state)
{
    (void)state;
    FILE *f = fopen(ECO_TEST_DIR "/unit/model/known_configs.txt", "r");
    char line[4096];
    int n = 0, wrong = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *json = strchr(line, ' ');
        assert_non_null(json);
        if (line[0] == '#') {
            continue;
        }
        *json++ = '\0';
        wrong += compare_line(line, json);
        n++;
    }
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_true(n >= 80);
    /* a model of the data set without a line here would go unchecked */
    assert_int_equal(n, eco_dataset_model_count());
}

/*
 * Families that the data set lacks, against the totals that their published checkpoints have
 * (each also checked by hand: tables + layers * (matrices + vectors) + the last norm).
 */
static const struct {
    const char *text;
    uint64_t total;
} other_families[] = {
    {"{'model_type':'bloom','n_embed':1024,'n_layer':24,'num_attention_heads':16,"
     "'vocab_size':250880}",
     559214592},
    {"{'model_type':'opt','hidden_size':1024,'num_hidden_layers':24,'num_attention_heads':16,"
     "'ffn_dim':4096,'word_embed_proj_dim':512,'max_position_embeddings':2048,"
     "'do_layer_norm_before':false,'vocab_size':50272}",
     331196416},
    {"{'model_type':'gpt_neo','hidden_size':768,'num_layers':12,'num_heads':12,"
     "'intermediate_size':null,'max_position_embeddings':2048,'vocab_size':50257}",
     125198592},
    {"{'model_type':'mpt','d_model':4096,'n_layers':32,'n_heads':32,'expansion_ratio':4,"
     "'no_bias':true,'max_seq_len':2048,'vocab_size':50432}",
     6649286656},
    {"{'model_type':'falcon','hidden_size':8192,'num_hidden_layers':60,"
     "'num_attention_heads':128,'num_kv_heads':8,'new_decoder_architecture':true,"
     "'multi_query':true,'parallel_attn':true,'bias':false,'vocab_size':65024}",
     41303293952},
    {"{'model_type':'olmo','hidden_size':2048,'num_hidden_layers':16,"
     "'num_attention_heads':16,'num_key_value_heads':16,'intermediate_size':8192,"
     "'tie_word_embeddings':true,'vocab_size':50304}",
     1176764416},
    {"{'model_type':'olmo2','hidden_size':4096,'num_hidden_layers':32,"
     "'num_attention_heads':32,'num_key_value_heads':32,'intermediate_size':11008,"
     "'tie_word_embeddings':false,'vocab_size':100352}",
     7298617344},
    {"{'model_type':'olmoe','hidden_size':2048,'num_hidden_layers':16,"
     "'num_attention_heads':16,'num_key_value_heads':16,'intermediate_size':1024,"
     "'num_experts':64,'num_experts_per_tok':8,'tie_word_embeddings':false,"
     "'vocab_size':50304}",
     6919161856},
    {"{'model_type':'cohere','hidden_size':8192,'num_hidden_layers':40,"
     "'num_attention_heads':64,'num_key_value_heads':64,'intermediate_size':22528,"
     "'use_qk_norm':false,'vocab_size':256000}",
     34980831232},
    {"{'model_type':'qwen2_moe','hidden_size':2048,'num_hidden_layers':24,"
     "'num_attention_heads':16,'num_key_value_heads':16,'intermediate_size':5632,"
     "'moe_intermediate_size':1408,'shared_expert_intermediate_size':5632,'num_experts':60,"
     "'num_experts_per_tok':4,'tie_word_embeddings':false,'vocab_size':151936}",
     14315784192},
    {"{'model_type':'deepseek','hidden_size':2048,'num_hidden_layers':28,"
     "'num_attention_heads':16,'num_key_value_heads':16,'intermediate_size':10944,"
     "'moe_intermediate_size':1408,'n_routed_experts':64,'n_shared_experts':2,"
     "'num_experts_per_tok':6,'first_k_dense_replace':1,'moe_layer_freq':1,"
     "'tie_word_embeddings':false,'vocab_size':102400}",
     16375728128},
    {"{'model_type':'granite','hidden_size':2048,'num_hidden_layers':40,"
     "'num_attention_heads':32,'num_key_value_heads':8,'intermediate_size':8192,"
     "'attention_bias':false,'tie_word_embeddings':true,'vocab_size':49155}",
     2533531648},
    {"{'model_type':'glm','hidden_size':4096,'num_hidden_layers':40,"
     "'num_attention_heads':32,'num_key_value_heads':2,'head_dim':128,"
     "'intermediate_size':13696,'attention_bias':true,'tie_word_embeddings':false,"
     "'vocab_size':151552}",
     9399951360},
    {"{'model_type':'gpt_bigcode','n_embd':2048,'n_layer':24,'n_head':16,'n_inner':8192,"
     "'multi_query':true,'n_positions':8192,'vocab_size':49152}",
     1137207296},
    {"{'model_type':'internlm2','hidden_size':4096,'num_hidden_layers':32,"
     "'num_attention_heads':32,'num_key_value_heads':8,'intermediate_size':14336,"
     "'bias':false,'tie_word_embeddings':false,'vocab_size':92544}",
     7737708544},
    {"{'model_type':'baichuan','hidden_size':4096,'num_hidden_layers':32,"
     "'num_attention_heads':32,'intermediate_size':11008,'tie_word_embeddings':false,"
     "'vocab_size':125696}",
     7505973248},
    {"{'model_type':'seed_oss','hidden_size':5120,'num_hidden_layers':64,"
     "'num_attention_heads':80,'num_key_value_heads':8,'head_dim':128,"
     "'intermediate_size':27648,'attention_bias':true,'attention_out_bias':false,"
     "'tie_word_embeddings':false,'vocab_size':155136}",
     36151104512},
    {"{'model_type':'phi','hidden_size':2048,'num_hidden_layers':24,"
     "'num_attention_heads':32,'intermediate_size':8192,'tie_word_embeddings':false,"
     "'qk_layernorm':false,'vocab_size':51200}",
     1418270720},
    {"{'model_type':'starcoder2','hidden_size':3072,'num_hidden_layers':30,"
     "'num_attention_heads':24,'num_key_value_heads':2,'intermediate_size':12288,"
     "'use_bias':true,'vocab_size':49152}",
     3030371328},
};

static void test_other_families(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof other_families / sizeof other_families[0]; i++) {
        struct eco_model m;
        struct eco_err err = {0};
        if (read_config(other_families[i].text, &m, NULL, &err)) {
            fail_msg("%.40s: %s", other_families[i].text, err.message);
        }
        if (m.params_total != other_families[i].total) {
            fail_msg("%.40s: %llu, wanted %llu", other_families[i].text,
                     (unsigned long long)m.params_total,
                     (unsigned long long)other_families[i].total);
        }
    }
}

/* Terms by hand for what no published total checks: h 64, 2 layers, 4 heads of 16, ff 96, v 100. */
static uint64_t total_of(const char *more)
{
    char text[1024];
    struct eco_model m;
    struct eco_err err = {0};
    snprintf(text, sizeof text,
             "{'hidden_size':64,'num_hidden_layers':2,'num_attention_heads':4,"
             "'num_key_value_heads':2,'intermediate_size':96,'vocab_size':100,%s}",
             more);
    if (read_config(text, &m, NULL, &err)) {
        fail_msg("%s: %s", more, err.message);
    }
    return m.params_total;
}

static void test_switches(void **state)
{
    (void)state;
    const uint64_t attn = 2 * 64 * 64 + 2 * 64 * 32, mlp = 3 * 64 * 96, table = 100 * 64;
    const uint64_t plain = 2 * table + 2 * (attn + mlp + 2 * 64) + 64;
    assert_int_equal(total_of("'model_type':'llama'"), plain);
    assert_int_equal(total_of("'model_type':'Yi'"), plain);
    assert_int_equal(total_of("'architectures':['LlamaForCausalLM']"), plain);
    assert_int_equal(total_of("'model_type':'llama','attention_bias':true"),
                     plain + 2 * (64 + 64 + 64));
    assert_int_equal(total_of("'model_type':'llama','mlp_bias':true"), plain + 2 * (2 * 96 + 64));
    assert_int_equal(total_of("'model_type':'qwen2'"), plain + 2 * (64 + 64));
    assert_int_equal(total_of("'model_type':'qwen3'"), plain + 2 * 2 * 16);
    assert_int_equal(total_of("'model_type':'olmo3'"), plain + 2 * (64 + 32));
    assert_int_equal(total_of("'model_type':'glm4'"), plain + 2 * 2 * 64);
    assert_int_equal(total_of("'model_type':'nemotron'"),
                     plain - 2 * 64 * 96 + 5 * 64); /* two matrices, norms with bias */
    assert_int_equal(total_of("'model_type':'stablelm'"), plain + 5 * 64);
    assert_int_equal(total_of("'model_type':'stablelm','use_qkv_bias':true,"
                              "'use_parallel_residual':true"),
                     plain + 3 * 64 - 2 * 64 + 2 * 128);
    assert_int_equal(total_of("'model_type':'gpt_neox'"),
                     plain - 2 * 64 * 96 + 5 * 64 + 2 * (128 + 64 + 96 + 64));
    assert_int_equal(total_of("'model_type':'gpt_neox','attention_bias':false"),
                     plain - 2 * 64 * 96 + 5 * 64 + 2 * (96 + 64));
    assert_int_equal(total_of("'model_type':'cohere2'"), plain - table - 2 * 64);
    assert_int_equal(total_of("'model_type':'cohere','use_qk_norm':true"),
                     plain - table - 2 * 64 + 2 * (64 + 32));
    /* 4 experts of 32 beside one dense layer, a shared one, routers, correction terms */
    assert_int_equal(total_of("'model_type':'glm4_moe','n_routed_experts':4,"
                              "'num_experts_per_tok':2,'n_shared_experts':1,'use_qk_norm':true,"
                              "'moe_intermediate_size':32,'first_k_dense_replace':1"),
                     plain + 2 * 32 - mlp + 5 * 3 * 64 * 32 + 4 * 64 + 4);
    assert_int_equal(total_of("'model_type':'qwen3_moe','num_experts':4,'num_experts_per_tok':2,"
                              "'moe_intermediate_size':32,'mlp_only_layers':[0]"),
                     plain + 2 * 32 - mlp + 4 * 3 * 64 * 32 + 4 * 64);
}

static int window_of(const char *more, int *window)
{
    char text[1024];
    struct eco_model m;
    struct eco_err err = {0};
    snprintf(text, sizeof text,
             "{'hidden_size':64,'num_hidden_layers':7,'num_attention_heads':4,"
             "'num_key_value_heads':2,'intermediate_size':96,'vocab_size':100,%s}",
             more);
    if (read_config(text, &m, NULL, &err)) {
        fail_msg("%s: %s", more, err.message);
    }
    *window = m.sliding_window;
    return m.sliding_layers;
}

static void test_windows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int window, layers;
    } cases[] = {
        {"'model_type':'llama','sliding_window':64", 0, 0},
        {"'model_type':'mistral'", 4096, 7}, /* the class's own, when it is left out */
        {"'model_type':'mistral','sliding_window':null", 0, 0},
        {"'model_type':'mistral','sliding_window':64", 64, 7},
        {"'model_type':'qwen2','sliding_window':64,'use_sliding_window':false", 0, 0},
        {"'model_type':'qwen2','sliding_window':64,'use_sliding_window':true,"
         "'max_window_layers':5",
         64, 2},
        {"'model_type':'gemma2','sliding_window':64", 64, 4},
        {"'model_type':'gemma3_text','sliding_window':64", 64, 6},
        {"'model_type':'gemma3_text','sliding_window':64,'sliding_window_pattern':3", 64, 5},
        {"'model_type':'llama','sliding_window':64,'layer_types':['sliding_attention',"
         "'full_attention','sliding_attention','full_attention','full_attention',"
         "'full_attention','full_attention']",
         64, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int window, layers = window_of(cases[i].text, &window);
        if (window != cases[i].window || layers != cases[i].layers) {
            fail_msg("%s: %d on %d layers", cases[i].text, window, layers);
        }
    }
}

static void test_stored(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum eco_precision p;
    } cases[] = {
        {"'torch_dtype':'bfloat16'", ECO_PREC_BF16},
        {"'dtype':'float16'", ECO_PREC_FP16},
        {"'torch_dtype':'float32'", ECO_PREC_FP32},
        {"'torch_dtype':'int3'", ECO_PREC_NONE},
        {"'quantization_config':{'quant_method':'bitsandbytes','load_in_4bit':true}", ECO_PREC_NF4},
        {"'quantization_config':{'load_in_4bit':true,'bnb_4bit_use_double_quant':true}",
         ECO_PREC_NF4_DQ},
        {"'quantization_config':{'quant_method':'bitsandbytes','load_in_8bit':true}",
         ECO_PREC_INT8_MIXED},
        {"'quantization_config':{'quant_method':'bitsandbytes','load_in_8bit':true,"
         "'llm_int8_threshold':0.0}",
         ECO_PREC_INT8_PURE},
        {"'quantization_config':{'quant_method':'gptq','bits':4}", ECO_PREC_GPTQ_INT4},
        {"'quantization_config':{'quant_method':'gptq','bits':8}", ECO_PREC_GPTQ_INT8},
        {"'quantization_config':{'quant_method':'gptq','bits':3}", ECO_PREC_NONE},
        {"'quantization_config':{'quant_method':'awq','bits':4}", ECO_PREC_AWQ_INT4},
        {"'quantization_config':{'quant_method':'fp8'}", ECO_PREC_FP8},
        {"'quantization_config':{'quant_method':'mxfp4'}", ECO_PREC_MXFP4},
        {"'quantization_config':{'quant_method':'modelopt','quant_algo':'FP8'}", ECO_PREC_FP8},
        {"'quantization_config':{'quant_method':'modelopt','quant_algo':'NVFP4'}", ECO_PREC_NVFP4},
        {"'quantization_config':{'quant_method':'compressed-tensors','config_groups':{'g':"
         "{'weights':{'num_bits':8,'type':'int'},'input_activations':{'num_bits':8}}}}",
         ECO_PREC_W8A8},
        {"'quantization_config':{'quant_method':'compressed-tensors','config_groups':{'g':"
         "{'weights':{'num_bits':8,'type':'int'}}}}",
         ECO_PREC_W8A16},
        {"'quantization_config':{'quant_method':'compressed-tensors','config_groups':{'g':"
         "{'weights':{'num_bits':4,'type':'int'}}}}",
         ECO_PREC_W4A16},
        {"'quantization_config':{'quant_method':'hqq'},'torch_dtype':'float16'", ECO_PREC_NONE},
        {"'quantization_config':7,'torch_dtype':'float16'", ECO_PREC_FP16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        struct eco_model m;
        snprintf(text, sizeof text,
                 "{'model_type':'llama','hidden_size':64,'num_hidden_layers':2,"
                 "'num_attention_heads':4,'intermediate_size':96,'vocab_size':100,%s}",
                 cases[i].text);
        assert_int_equal(read_config(text, &m, NULL, NULL), 0);
        if (m.stored != cases[i].p) {
            fail_msg("%s: %s", cases[i].text, eco_precision_name(m.stored));
        }
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
        int code;
        long line;
    } cases[] = {
        {"", "not json", ECO_E_CONTENT, 1},
        {"{", "not json", ECO_E_CONTENT, 1},
        {"[]", "object", ECO_E_CONTENT, 1},
        {"{}", "'hidden_size'", ECO_E_CONTENT, 0},
        {"{'model_type':'llama'}", "'hidden_size'", ECO_E_CONTENT, 0},
        {"{'model_type':'llama',\n'hidden_size':-1}", "whole number from 1", ECO_E_CONTENT, 2},
        {"{'model_type':'llama',\n'hidden_size':0}", "whole number", ECO_E_CONTENT, 2},
        {"{'model_type':'llama',\n'hidden_size':'4096'}", "whole number", ECO_E_CONTENT, 2},
        {"{'model_type':'llama',\n'hidden_size':4096.5}", "whole number", ECO_E_CONTENT, 2},
        {"{'model_type':'llama',\n\n'hidden_size':1e30}", "whole number", ECO_E_CONTENT, 3},
        {"{'model_type':'llama',\n'hidden_size':9223372036854775808}", "whole", ECO_E_CONTENT, 2},
        {"{'model_type':'llama',\n'hidden_size':NaN}", "not json", ECO_E_CONTENT, 2},
        {"{'model_type':'llama',\n'hidden_size':[64]}", "whole number", ECO_E_CONTENT, 2},
        {"{'hidden_size':64,\n'hidden_size':64}", "twice", ECO_E_CONTENT, 2},
        {"{'model_type':'llama','tie_word_embeddings':1}", "true or false", ECO_E_CONTENT, 1},
        {"{'model_type':'llama','hidden_size':64,'num_hidden_layers':2,'num_attention_heads':4,"
         "'vocab_size':100,'num_key_value_heads':8}",
         "contradict", ECO_E_CONTENT, 0},
        {"{'model_type':'llama','hidden_size':3,'num_hidden_layers':2,'num_attention_heads':4,"
         "'vocab_size':100}",
         "contradict", ECO_E_CONTENT, 0},
        {"{'model_type':'mixtral','hidden_size':64,'num_hidden_layers':2,"
         "'num_attention_heads':4,'num_key_value_heads':4,'vocab_size':100,"
         "'num_local_experts':4,'num_experts_per_tok':5}",
         "experts a token", ECO_E_CONTENT, 0},
        {"{'model_type':'deepseek_v3','hidden_size':64,'num_hidden_layers':2,"
         "'num_attention_heads':4,'vocab_size':100}",
         "'kv_lora_rank'", ECO_E_CONTENT, 0},
        {"{'model_type':'llama','num_hidden_layers':3,'layer_types':['full_attention']}",
         "as long as", ECO_E_CONTENT, 1},
        {"{'model_type':'mamba','hidden_size':64,'num_hidden_layers':2,'num_attention_heads':4,"
         "'vocab_size':100}",
         "'mamba' is not known", ECO_E_UNSUPPORTED, 0},
        {"{'model_type':'mixtral','hidden_size':1048576,'num_hidden_layers':4096,"
         "'num_attention_heads':65536,'head_dim':65536,'vocab_size':67108864,"
         "'intermediate_size':16777216,'num_local_experts':65536,'num_experts_per_tok':1}",
         "1e15", ECO_E_CONTENT, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct eco_model m, before;
        struct eco_err err = {0};
        memset(&m, 0x11, sizeof m);
        before = m;
        int rc = read_config(cases[i].text, &m, NULL, &err);
        if (rc != cases[i].code || strstr(err.message, cases[i].word) == NULL ||
            err.line != cases[i].line) {
            fail_msg("case %zu: %d line %ld '%s', wanted '%s'", i, rc, err.line, err.message,
                     cases[i].word);
        }
        assert_string_equal(err.arg, "config.json");
        assert_memory_equal(&m, &before, sizeof m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_models_exactly),
        cmocka_unit_test(test_other_families),
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
