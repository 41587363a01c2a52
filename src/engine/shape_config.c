/* Shapes from the config.json of a Hugging Face folder. */
#include "engine_shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An architecture by its model_type: what the config does not say. */
struct family {
    const char *type;
    bool qkv_bias, qk_norm, fused, gemma2, tied;
    int window; /* where the key is absent */
};

static const struct family families[] = {
    {.type = "llama"},
    {.type = "mistral", .window = 4096},
    {.type = "qwen2", .qkv_bias = true},
    {.type = "qwen3", .qk_norm = true},
    {.type = "phi3", .fused = true},
    {.type = "gemma2", .gemma2 = true, .tied = true, .window = 4096},
};

static const struct family *find_family(const struct eco_json *type)
{
    for (size_t i = 0; type && i < sizeof(families) / sizeof(families[0]); i++) {
        if (type->type == ECO_JSON_STRING && strcmp(type->str, families[i].type) == 0) {
            return &families[i];
        }
    }
    return NULL;
}

static int get_int(const struct eco_json *o, const char *key, int otherwise)
{
    const struct eco_json *v = eco_json_get(o, key);
    if (!v || v->type != ECO_JSON_NUMBER || !v->is_integer || v->i64 < 0 || v->i64 > 1 << 30) {
        return otherwise;
    }
    return (int)v->i64;
}

static double get_num(const struct eco_json *o, const char *key, double otherwise)
{
    const struct eco_json *v = eco_json_get(o, key);
    return v && v->type == ECO_JSON_NUMBER ? v->num : otherwise;
}

static bool get_bool(const struct eco_json *o, const char *key, bool otherwise)
{
    const struct eco_json *v = eco_json_get(o, key);
    if (v && (v->type == ECO_JSON_TRUE || v->type == ECO_JSON_FALSE)) {
        return v->type == ECO_JSON_TRUE;
    }
    return otherwise;
}

/* A list of dims / 2 numbers. */
static bool read_factors(const struct eco_json *scaling, const char *key, int n, float *out)
{
    const struct eco_json *list = eco_json_get(scaling, key);
    if (!list || list->type != ECO_JSON_ARRAY || n > ECO_LONGROPE_MAX ||
        list->count != (uint32_t)n) {
        return false;
    }
    for (const struct eco_json *v = list->child; v; v = v->next) {
        *out++ = v->type == ECO_JSON_NUMBER ? (float)v->num : 0.0f; /* 0 is refused later */
    }
    return true;
}

/* Phi-3's: the original context stands beside the list, its factor is what the context grew by. */
static int read_longrope(const char *file, const struct eco_json *root,
                         const struct eco_json *scaling, struct eco_rope *r, struct eco_err *err)
{
    double context = get_num(root, "max_position_embeddings", 0.0);
    r->kind = ECO_ROPE_LONGROPE;
    r->original_context = get_num(scaling, "original_max_position_embeddings",
                                  get_num(root, "original_max_position_embeddings", context));
    r->factor =
        get_num(scaling, "factor", r->original_context > 0.0 ? context / r->original_context : 0.0);
    if (!read_factors(scaling, "short_factor", r->dims / 2, r->short_factor) ||
        !read_factors(scaling, "long_factor", r->dims / 2, r->long_factor)) {
        return eco_err_set(err, ECO_E_CONTENT, file,
                           "rope scaling 'longrope' needs lists of %d short and long factors",
                           r->dims / 2);
    }
    return 0;
}

static int read_yarn(const char *file, const struct eco_json *root, const struct eco_json *scaling,
                     struct eco_rope *r, struct eco_err *err)
{
    bool scales = get_num(scaling, "mscale", 0.0) != 0.0 &&
                  get_num(scaling, "mscale_all_dim", 0.0) != 0.0 && r->attention_factor == 0.0;
    double context = get_num(root, "max_position_embeddings", 0.0);
    r->kind = ECO_ROPE_YARN;
    r->original_context = get_num(scaling, "original_max_position_embeddings", context);
    r->beta_fast = get_num(scaling, "beta_fast", 32.0);
    r->beta_slow = get_num(scaling, "beta_slow", 1.0);
    if (scales || !get_bool(scaling, "truncate", true)) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                           "rope scaling 'yarn' with %s of its own is not built in",
                           scales ? "mscale and mscale_all_dim" : "truncate");
    }
    return 0;
}

static int read_rope(const char *file, const struct eco_json *root, struct eco_shape *s,
                     struct eco_err *err)
{
    const struct eco_json *params = eco_json_get(root, "rope_parameters"); /* transformers 5 */
    const struct eco_json *scaling = eco_json_get(root, "rope_scaling");
    struct eco_rope *r = &s->rope;
    scaling = scaling && scaling->type == ECO_JSON_OBJECT ? scaling : params;
    r->theta = get_num(root, "rope_theta", get_num(params, "rope_theta", 10000.0));
    double part = get_num(params, "partial_rotary_factor", 1.0);
    r->dims = (int)(s->head_dim * get_num(root, "partial_rotary_factor", part));
    const struct eco_json *kind = eco_json_get(scaling, "rope_type");
    kind = kind ? kind : eco_json_get(scaling, "type");
    const char *name = kind && kind->type == ECO_JSON_STRING ? kind->str : "default";
    r->factor = get_num(scaling, "factor", 1.0);
    r->attention_factor = get_num(scaling, "attention_factor", 0.0);
    r->low_factor = get_num(scaling, "low_freq_factor", 1.0);
    r->high_factor = get_num(scaling, "high_freq_factor", 4.0);
    r->original_context = get_num(scaling, "original_max_position_embeddings", 8192.0);
    if (strcmp(name, "default") == 0) {
        r->kind = ECO_ROPE_PLAIN;
    } else if (strcmp(name, "linear") == 0) {
        r->kind = ECO_ROPE_LINEAR;
    } else if (strcmp(name, "llama3") == 0) {
        r->kind = ECO_ROPE_LLAMA3;
    } else if (strcmp(name, "yarn") == 0) {
        return read_yarn(file, root, scaling, r, err);
    } else if (strcmp(name, "longrope") == 0 || strcmp(name, "su") == 0) {
        return read_longrope(file, root, scaling, r, err);
    } else {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                           "rope scaling '%.40s': the engine has default, linear, llama3, yarn and "
                           "longrope",
                           name);
    }
    return 0;
}

static int read_window(const char *file, const struct eco_json *root, const struct family *f,
                       struct eco_shape *s, struct eco_err *err)
{
    const struct eco_json *w = eco_json_get(root, "sliding_window");
    bool qwen = f->qkv_bias || f->qk_norm;
    if (qwen && get_bool(root, "use_sliding_window", false)) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                           "a sliding window on the upper layers only is not built in");
    }
    s->window = qwen ? 0 : w ? get_int(root, "sliding_window", 0) : f->window;
    s->window_every = f->gemma2 ? 2 : 1;
    return 0;
}

static void read_gemma2(const struct eco_json *root, struct eco_shape *s)
{
    s->post_norms = s->gelu = s->norm_plus_one = true;
    s->embed_scale = sqrtf((float)s->hidden);
    s->query_scale = (float)(1.0 / sqrt(get_num(root, "query_pre_attn_scalar", 256.0)));
    s->attn_softcap = (float)get_num(root, "attn_logit_softcapping", 50.0);
    s->logit_softcap = (float)get_num(root, "final_logit_softcapping", 30.0);
}

/* The family's own gate: another one would run, and give another model's text. */
static int refuse_gate(const char *file, const struct eco_json *root, const struct family *f,
                       struct eco_err *err)
{
    const char *key = f->gemma2 ? "hidden_activation" : "hidden_act";
    const char *own = f->gemma2 ? "gelu_pytorch_tanh" : "silu";
    const struct eco_json *act = eco_json_get(root, key);
    if (!act || act->type == ECO_JSON_NULL ||
        (act->type == ECO_JSON_STRING && strcmp(act->str, own) == 0)) {
        return 0;
    }
    return eco_err_set(err, ECO_E_UNSUPPORTED, file, "'%s' is '%.40s': the engine runs %s with %s",
                       key, act->type == ECO_JSON_STRING ? act->str : "no name", f->type, own);
}

static int refuse(const char *file, const struct eco_json *root, struct eco_err *err)
{
    const struct eco_json *type = eco_json_get(root, "model_type");
    if (eco_json_get(root, "quantization_config")) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                           "the weights are already quantized; the engine takes F32, F16, BF16");
    }
    if (!find_family(type)) {
        bool text = type && type->type == ECO_JSON_STRING;
        return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                           "architecture '%.40s': the engine runs llama, mistral, qwen2, qwen3, "
                           "phi3 and gemma2",
                           text ? type->str : "not said");
    }
    if (get_bool(root, "mlp_bias", false)) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file, "biases in the feed-forward part");
    }
    return refuse_gate(file, root, find_family(type), err);
}

int eco_engine_shape_from_config(const char *file, const struct eco_json *root,
                                 struct eco_shape *out, struct eco_err *err)
{
    struct eco_shape s = {0};
    int rc = refuse(file, root, err);
    if (rc) {
        return rc;
    }
    const struct family *f = find_family(eco_json_get(root, "model_type"));
    snprintf(s.architecture, sizeof(s.architecture), "%s", f->type);
    s.hidden = get_int(root, "hidden_size", 0);
    s.layers = get_int(root, "num_hidden_layers", 0);
    s.heads = get_int(root, "num_attention_heads", 0);
    s.kv_heads = get_int(root, "num_key_value_heads", s.heads);
    s.head_dim = get_int(root, "head_dim", s.heads > 0 ? s.hidden / s.heads : 0);
    s.intermediate = get_int(root, "intermediate_size", 0);
    s.vocab = get_int(root, "vocab_size", 0);
    s.max_context = get_int(root, "max_position_embeddings", 0);
    s.norm_eps = (float)get_num(root, "rms_norm_eps", 1e-6);
    s.tied = get_bool(root, "tie_word_embeddings", f->tied);
    s.qk_norm = f->qk_norm;
    s.fused = f->fused;
    s.out_bias = !f->qkv_bias && get_bool(root, "attention_bias", false);
    s.qkv_bias = f->qkv_bias || s.out_bias;
    rc = read_rope(file, root, &s, err);
    rc = rc ? rc : read_window(file, root, f, &s, err);
    if (rc == 0 && f->gemma2) {
        read_gemma2(root, &s);
    }
    rc = rc ? rc : eco_engine_shape_check(&s, err);
    if (rc == 0) {
        *out = s;
    }
    return rc;
}
