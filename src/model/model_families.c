/*
 * The architecture families: which matrices, biases and norms a layer has. Facts of the published
 * model code (transformers' modeling_*.py and configuration_*.py), one row each.
 */
#include "model_config.h"

#include <string.h>

static void set_default(int *v, int value)
{
    if (*v < 0) {
        *v = value;
    }
}

static void gemma_defaults(struct eco_config *c)
{
    set_default(&c->head_dim, 256);
}

/* Gemma 3 files of the larger models leave out what equals the configuration class. */
static void gemma3_defaults(struct eco_config *c)
{
    set_default(&c->heads, 8);
    set_default(&c->kv_heads, 4);
    set_default(&c->head_dim, 256);
    set_default(&c->vocab, 262208);
    set_default(&c->max_context, 131072);
}

static void mistral_defaults(struct eco_config *c)
{
    set_default(&c->kv_heads, 8);
}

static void gpt_oss_defaults(struct eco_config *c)
{
    set_default(&c->head_dim, 64);
}

/* Rows 0 and 1 of the position table are for padding; 350M has a narrower table. */
static void opt_adjust(const struct eco_config *c, struct eco_layout *l)
{
    l->positions = c->max_context > 0 ? c->max_context + 2 : 0;
    l->final_norm = c->norm_before != 0 && c->no_final_norm != 1;
}

static void falcon_adjust(const struct eco_config *c, struct eco_layout *l)
{
    bool grouped = c->new_decoder == 1;
    l->norms =
        grouped ? (c->parallel_norms > 0 ? c->parallel_norms : 2) : (c->parallel != 0 ? 1 : 2);
    if (!grouped) {
        l->kv_heads = c->multi_query != 0 ? 1 : l->heads;
    }
}

static void multi_query_adjust(const struct eco_config *c, struct eco_layout *l)
{
    l->kv_heads = c->multi_query != 0 ? 1 : l->heads;
}

static void stablelm_adjust(const struct eco_config *c, struct eco_layout *l)
{
    l->norms = c->parallel == 1 ? 1 : 2;
}

static void bloom_adjust(const struct eco_config *c, struct eco_layout *l)
{
    (void)c;
    l->embedding_norm = true;
}

/* Command R: q and k norms as wide as their projections, in the larger models only. */
static void cohere_adjust(const struct eco_config *c, struct eco_layout *l)
{
    l->qk_norm = c->qk_norm == 1 ? 2 : 0;
}

static void seed_adjust(const struct eco_config *c, struct eco_layout *l)
{
    l->output_bias = c->output_bias == 1;
}

#define LLAMA (ECO_F_ATTN_BIAS_KEY | ECO_F_MLP_BIAS_KEY)
#define GPT (ECO_F_BIASES | ECO_F_LAYERNORM | ECO_F_UNGATED)
#define FAMILY(name, flags_, ...)                                                                  \
    {                                                                                              \
        .type = name, .flags = (flags_), .norms = 2, __VA_ARGS__                                   \
    }

/* clang-format off: one family a line or two */
static const struct eco_family families[] = {
    FAMILY("llama", LLAMA, .window = 0),
    FAMILY("mistral", 0, .window_rule = ECO_WINDOW_ALL, .window = 4096,
           .defaults = mistral_defaults),
    FAMILY("ministral", 0, .window_rule = ECO_WINDOW_ALL, .defaults = mistral_defaults),
    FAMILY("mixtral", 0, .window_rule = ECO_WINDOW_ALL, .defaults = mistral_defaults),
    FAMILY("yi", LLAMA, .window = 0),
    FAMILY("qwen2", ECO_F_QKV_BIAS, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("qwen2_vl", ECO_F_QKV_BIAS, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("qwen2_5_vl", ECO_F_QKV_BIAS, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("qwen2_vl_text", ECO_F_QKV_BIAS, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("qwen2_5_vl_text", ECO_F_QKV_BIAS, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("qwen2_moe", ECO_F_QKV_BIAS | ECO_F_SHARED_GATE, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("qwen3", ECO_F_QK_NORM | ECO_F_ATTN_BIAS_KEY, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("qwen3_moe", ECO_F_QK_NORM | ECO_F_ATTN_BIAS_KEY, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("phi3", 0, .window_rule = ECO_WINDOW_ALL),
    {.type = "phi", .flags = GPT | ECO_F_HEAD_BIAS | ECO_F_QK_NORM_KEY, .norms = 1},
    FAMILY("gemma", ECO_F_TIED | ECO_F_ATTN_BIAS_KEY, .defaults = gemma_defaults),
    {.type = "gemma2",
     .flags = ECO_F_TIED | ECO_F_ATTN_BIAS_KEY,
     .norms = 4,
     .window_rule = ECO_WINDOW_ALTERNATE,
     .window = 4096,
     .defaults = gemma_defaults},
    {.type = "gemma3_text",
     .flags = ECO_F_TIED | ECO_F_ATTN_BIAS_KEY | ECO_F_QK_NORM,
     .norms = 4,
     .window_rule = ECO_WINDOW_PATTERN,
     .window = 4096,
     .window_pattern = 6,
     .defaults = gemma3_defaults},
    {.type = "gemma3",
     .flags = ECO_F_TIED | ECO_F_ATTN_BIAS_KEY | ECO_F_QK_NORM,
     .norms = 4,
     .window_rule = ECO_WINDOW_PATTERN,
     .window = 4096,
     .window_pattern = 6,
     .defaults = gemma3_defaults},
    FAMILY("gpt2", GPT | ECO_F_POSITIONS | ECO_F_TIED, .window = 0),
    FAMILY("gpt_bigcode", GPT | ECO_F_POSITIONS | ECO_F_TIED, .adjust = multi_query_adjust),
    FAMILY("opt", GPT | ECO_F_POSITIONS | ECO_F_TIED | ECO_F_ALL_BIAS_KEY, .adjust = opt_adjust),
    FAMILY("gpt_neox", GPT | ECO_F_ATTN_BIAS_KEY, .window = 0),
    FAMILY("gpt_neo",
           ECO_F_OUTPUT_BIAS | ECO_F_MLP_BIAS | ECO_F_LAYERNORM | ECO_F_UNGATED | ECO_F_POSITIONS |
               ECO_F_TIED,
           .window = 0),
    {.type = "gptj",
     .flags = ECO_F_MLP_BIAS | ECO_F_LAYERNORM | ECO_F_UNGATED | ECO_F_HEAD_BIAS,
     .norms = 1},
    FAMILY("falcon", ECO_F_LAYERNORM | ECO_F_UNGATED | ECO_F_TIED | ECO_F_ALL_BIAS_KEY,
           .adjust = falcon_adjust),
    FAMILY("bloom", GPT | ECO_F_TIED, .adjust = bloom_adjust),
    FAMILY("mpt", ECO_F_UNGATED | ECO_F_TIED, .window = 0),
    FAMILY("stablelm", ECO_F_LAYERNORM | ECO_F_QKV_BIAS_KEY, .adjust = stablelm_adjust),
    FAMILY("starcoder2", GPT | ECO_F_TIED | ECO_F_ALL_BIAS_KEY, .window_rule = ECO_WINDOW_ALL),
    FAMILY("olmo", ECO_F_PLAIN_NORM | ECO_F_ATTN_BIAS_KEY, .window = 0),
    FAMILY("olmo2", ECO_F_QK_NORM_WIDE | ECO_F_ATTN_BIAS_KEY, .window = 0),
    FAMILY("olmo3", ECO_F_QK_NORM_WIDE | ECO_F_ATTN_BIAS_KEY, .window_rule = ECO_WINDOW_PATTERN,
           .window_pattern = 4),
    FAMILY("olmoe", ECO_F_QK_NORM_WIDE | ECO_F_ATTN_BIAS_KEY, .window = 0),
    {.type = "cohere",
     .flags = ECO_F_TIED | ECO_F_ATTN_BIAS_KEY,
     .norms = 1,
     .adjust = cohere_adjust},
    {.type = "cohere2",
     .flags = ECO_F_TIED | ECO_F_ATTN_BIAS_KEY,
     .norms = 1,
     .window_rule = ECO_WINDOW_PATTERN,
     .window = 4096,
     .window_pattern = 4},
    FAMILY("granite", LLAMA, .window = 0),
    FAMILY("smollm3", LLAMA | ECO_F_TIED, .window_rule = ECO_WINDOW_UPPER),
    FAMILY("nemotron", ECO_F_LAYERNORM | ECO_F_UNGATED | LLAMA, .window = 0),
    FAMILY("internlm2", 0, .window = 0),
    FAMILY("baichuan", 0, .window = 0),
    FAMILY("exaone", 0, .window = 0),
    FAMILY("glm", ECO_F_QKV_BIAS_KEY, .window = 0),
    {.type = "glm4", .flags = ECO_F_QKV_BIAS_KEY, .norms = 4},
    FAMILY("glm4_moe", ECO_F_QKV_BIAS_KEY | ECO_F_QK_NORM_KEY | ECO_F_CORRECTION, .window = 0),
    FAMILY("seed_oss", ECO_F_QKV_BIAS_KEY | ECO_F_MLP_BIAS_KEY, .adjust = seed_adjust),
    FAMILY("deepseek", ECO_F_ATTN_BIAS_KEY, .window = 0),
    FAMILY("deepseek_v2", ECO_F_MLA, .window = 0),
    FAMILY("deepseek_v3", ECO_F_MLA | ECO_F_CORRECTION, .window = 0),
    FAMILY("kimi_k2", ECO_F_MLA | ECO_F_CORRECTION, .window = 0),
    FAMILY("gpt_oss", ECO_F_QKV_BIAS | ECO_F_OUTPUT_BIAS | ECO_F_EXPERT_BIAS | ECO_F_SINKS,
           .window_rule = ECO_WINDOW_ALTERNATE, .window = 128, .defaults = gpt_oss_defaults),
};
/* clang-format on */

const struct eco_family *eco_family_find(const char *type)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i].type, type) == 0) {
            return &families[i];
        }
    }
    return NULL;
}
