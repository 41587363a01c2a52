/* Parameters of an architecture from its config: what a layer has, times layers, plus tables. */
#include "model_config.h"

#include <stdio.h>
#include <string.h>

/* Saturating: every count is checked against ECO_MODEL_MAX_PARAMS at the end. */
static uint64_t mul(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t u(int v)
{
    return v > 0 ? (uint64_t)v : 0;
}

static bool decide(unsigned flags, unsigned has, unsigned key, signed char said)
{
    return (flags & key) != 0 && said >= 0 ? said == 1 : (flags & has) != 0;
}

static int windowed_layers(const struct eco_config *c)
{
    if (c->layer_types >= 0) {
        return c->window_types;
    }
    const struct eco_family *f = c->family;
    int n = c->layers, window = c->window < 0 && f != NULL ? f->window : c->window;
    if (window <= 0 || f == NULL) {
        return 0;
    }
    int every = c->window_pattern > 0 ? c->window_pattern : f->window_pattern;
    switch (f->window_rule) {
    case ECO_WINDOW_ALL:
        return n;
    case ECO_WINDOW_ALTERNATE:
        return (n + 1) / 2;
    case ECO_WINDOW_PATTERN:
        return every > 0 ? n - n / every : 0;
    case ECO_WINDOW_UPPER:
        if (c->use_window != 1) {
            return 0;
        }
        return c->max_window_layers >= 0 && c->max_window_layers < n ? n - c->max_window_layers : 0;
    case ECO_WINDOW_NONE:
    default:
        return 0;
    }
}

void eco_config_layout(const struct eco_config *c, struct eco_layout *l)
{
    unsigned f = c->family != NULL ? c->family->flags : 0;
    memset(l, 0, sizeof *l);
    l->heads = c->heads;
    l->kv_heads = c->kv_heads > 0 ? c->kv_heads : c->heads;
    l->head_dim = c->head_dim > 0 ? c->head_dim : c->hidden / (c->heads > 0 ? c->heads : 1);
    uint64_t ratio = c->ff_ratio > 0 ? u(c->ff_ratio) : 4;
    l->intermediate = c->intermediate > 0 ? u(c->intermediate) : ratio * u(c->hidden);
    l->norms = c->family != NULL ? c->family->norms : 2;
    l->norm_arrays = f & ECO_F_PLAIN_NORM ? 0 : f & ECO_F_LAYERNORM ? 2 : 1;
    l->final_norm = true;
    unsigned all = f & ECO_F_ALL_BIAS_KEY;
    signed char attention = all ? c->bias : c->attention_bias;
    unsigned attention_key = ECO_F_ATTN_BIAS_KEY | all;
    l->qkv_bias = decide(f, ECO_F_QKV_BIAS, attention_key | ECO_F_QKV_BIAS_KEY, attention);
    l->output_bias = decide(f, ECO_F_OUTPUT_BIAS, attention_key, attention);
    l->mlp_bias = decide(f, ECO_F_MLP_BIAS, ECO_F_MLP_BIAS_KEY | all, all ? c->bias : c->mlp_bias);
    l->head_bias = f & ECO_F_HEAD_BIAS;
    l->router_bias = l->expert_bias = f & ECO_F_EXPERT_BIAS;
    l->gated = !(f & ECO_F_UNGATED);
    l->tied = c->tied >= 0 ? c->tied == 1 : (f & ECO_F_TIED) != 0;
    l->sinks = f & ECO_F_SINKS;
    l->correction = f & ECO_F_CORRECTION;
    l->shared_gate = f & ECO_F_SHARED_GATE;
    bool per_head = f & ECO_F_QK_NORM || (f & ECO_F_QK_NORM_KEY && c->qk_norm == 1);
    l->qk_norm = f & ECO_F_QK_NORM_WIDE ? 2 : per_head ? 1 : 0;
    l->positions = f & ECO_F_POSITIONS ? c->max_context : 0;
    if (f & ECO_F_MLA) {
        l->kv_heads = l->heads;
        l->head_dim = c->nope_dim + c->rope_dim;
    }
    l->window_layers = windowed_layers(c);
    if (c->family != NULL && c->family->adjust != NULL) {
        c->family->adjust(c, l);
    }
}

int eco_config_moe_layers(const struct eco_config *c)
{
    if (c->experts <= 1) {
        return 0;
    }
    int dense = c->first_dense > 0 ? c->first_dense : 0, step = c->moe_step > 0 ? c->moe_step : 1;
    int n = (c->layers > dense ? c->layers - dense : 0) / step - c->dense_list;
    return n > 0 ? n : 0;
}

/** Adds one attention block: matrices to linear, vectors to norm. */
static void count_attention(const struct eco_config *c, const struct eco_layout *l,
                            uint64_t *linear, uint64_t *norm)
{
    uint64_t h = u(c->hidden), heads = u(l->heads), hd = u(l->head_dim);
    uint64_t wide = mul(heads, hd), kv = mul(u(l->kv_heads), hd);
    if (c->family->flags & ECO_F_MLA) {
        uint64_t qr = u(c->q_lora_rank), kr = u(c->kv_lora_rank), v = mul(heads, u(c->v_dim));
        *linear = qr ? add(mul(h, qr), mul(qr, wide)) : mul(h, wide);
        *linear = add(*linear, mul(h, kr + u(c->rope_dim)));
        *linear = add(*linear, mul(kr, add(mul(heads, u(c->nope_dim)), v)));
        *linear = add(*linear, mul(v, h));
        *norm = qr + kr;
        return;
    }
    *linear = add(mul(2, mul(h, wide)), mul(2, mul(h, kv)));
    *norm = l->qkv_bias ? add(wide, mul(2, kv)) : 0;
    *norm = add(*norm, l->output_bias ? h : 0);
    *norm = add(*norm, l->sinks ? heads : 0);
    if (l->qk_norm) {
        *norm = add(*norm, l->qk_norm == 1 ? 2 * hd : add(wide, kv));
    }
}

static void count_mlp(const struct eco_layout *l, uint64_t h, uint64_t width, bool bias,
                      uint64_t *linear, uint64_t *norm)
{
    *linear = mul(l->gated ? 3 : 2, mul(h, width));
    *norm = bias ? add(mul(l->gated ? 2 : 1, width), h) : 0;
}

/** All layers into the classes of `info`. */
static void count_layers(const struct eco_config *c, const struct eco_layout *l, uint64_t *p)
{
    uint64_t h = u(c->hidden), layers = u(c->layers), linear, norm;
    uint64_t moe = u(eco_config_moe_layers(c)), experts = u(c->experts);
    count_attention(c, l, &linear, &norm);
    p[ECO_TENSOR_LINEAR] = mul(layers, linear);
    p[ECO_TENSOR_NORM] = mul(layers, norm);
    uint64_t norms = mul(u(l->norms) * layers + (l->final_norm ? 1 : 0), h);
    norms = add(norms, l->embedding_norm ? h : 0);
    p[ECO_TENSOR_NORM] = add(p[ECO_TENSOR_NORM], mul(u(l->norm_arrays), norms));
    count_mlp(l, h, l->intermediate, l->mlp_bias, &linear, &norm);
    p[ECO_TENSOR_LINEAR] = add(p[ECO_TENSOR_LINEAR], mul(layers - moe, linear));
    p[ECO_TENSOR_NORM] = add(p[ECO_TENSOR_NORM], mul(layers - moe, norm));
    if (moe == 0) {
        return;
    }
    uint64_t width = c->expert_intermediate > 0 ? u(c->expert_intermediate) : l->intermediate;
    uint64_t shared =
        c->shared_intermediate > 0 ? u(c->shared_intermediate) : mul(u(c->shared_experts), width);
    count_mlp(l, h, width, l->expert_bias, &linear, &norm);
    p[ECO_TENSOR_EXPERT] = mul(moe, mul(experts, linear));
    p[ECO_TENSOR_NORM] = add(p[ECO_TENSOR_NORM], mul(moe, mul(experts, norm)));
    count_mlp(l, h, shared, false, &linear, &norm);
    linear = add(linear, add(mul(h, experts), l->shared_gate ? h : 0));
    p[ECO_TENSOR_LINEAR] = add(p[ECO_TENSOR_LINEAR], mul(moe, linear));
    uint64_t vectors = (l->router_bias ? experts : 0) + (l->correction ? experts : 0);
    p[ECO_TENSOR_NORM] = add(p[ECO_TENSOR_NORM], mul(moe, vectors));
}

static void count_tables(const struct eco_config *c, const struct eco_layout *l, uint64_t *p)
{
    uint64_t h = u(c->hidden), word = c->word_dim > 0 ? u(c->word_dim) : h, vocab = u(c->vocab);
    p[ECO_TENSOR_EMBEDDING] = add(mul(vocab, word), mul(u(l->positions), h));
    if (word != h) { /* projections in and out of a narrower table */
        p[ECO_TENSOR_LINEAR] = add(p[ECO_TENSOR_LINEAR], mul(2, mul(word, h)));
    }
    if (!l->tied) {
        p[ECO_TENSOR_LM_HEAD] = mul(vocab, word);
    }
    if (l->head_bias) {
        p[ECO_TENSOR_NORM] = add(p[ECO_TENSOR_NORM], vocab);
    }
}

/** SigLIP and the projector of Gemma 3: not read for text. */
static uint64_t count_vision(const struct eco_config *c)
{
    const struct eco_vision *v = &c->vision;
    uint64_t h = u(v->hidden), ff = u(v->intermediate), side = u(v->image / v->patch);
    uint64_t patches = mul(mul(u(v->channels), mul(u(v->patch), u(v->patch))), h) + h;
    uint64_t layer = add(4 * h, add(4 * mul(h, h) + 4 * h, 2 * mul(h, ff) + ff + h));
    uint64_t tower = add(patches, add(mul(mul(side, side), h), mul(u(v->layers), layer)));
    return add(tower, 2 * h + mul(h, u(c->hidden)) + h);
}

bool eco_model_total(struct eco_model *m, const struct eco_model_info *info)
{
    const uint64_t *p = info->class_params;
    uint64_t expert = p[ECO_TENSOR_EXPERT], active = expert;
    m->params_embedding = p[ECO_TENSOR_EMBEDDING];
    m->params_lm_head = p[ECO_TENSOR_LM_HEAD];
    m->params_norm = p[ECO_TENSOR_NORM];
    m->params_linear = add(add(p[ECO_TENSOR_LINEAR], expert), p[ECO_TENSOR_OTHER]);
    m->params_total =
        add(add(m->params_embedding, m->params_lm_head), add(m->params_norm, m->params_linear));
    if (m->params_total == 0 || m->params_total > ECO_MODEL_MAX_PARAMS) {
        return false;
    }
    if (m->experts > m->experts_per_token && m->experts_per_token > 0) {
        active = expert / (uint64_t)m->experts * (uint64_t)m->experts_per_token;
    }
    uint64_t table = m->params_lm_head;
    if (m->tied) {
        table = mul(u(m->vocab), u(m->hidden));
        table = table < m->params_embedding ? table : m->params_embedding;
    }
    m->params_active = m->params_norm + p[ECO_TENSOR_LINEAR] + active + table;
    m->params_b = (double)m->params_total / 1e9;
    return true;
}

void eco_model_set_name(struct eco_model *m, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    size_t at = n;
    while (at > 0 && path[at - 1] != '/') {
        at--;
    }
    n = n - at < sizeof m->name - 1 ? n - at : sizeof m->name - 1;
    memcpy(m->name, path + at, n);
    m->name[n] = '\0';
    for (size_t i = 0; i < n; i++) { /* a name goes to terminals and reports */
        if ((unsigned char)m->name[i] < 0x20 || m->name[i] == 0x7f) {
            m->name[i] = '?';
        }
    }
    if (n == 0) {
        memcpy(m->name, "model", 6);
    }
}

static int missing(const char *file, const char *key, struct eco_err *err)
{
    return eco_err_set(err, ECO_E_CONTENT, file, "'%.100s' has no '%s'", file, key);
}

int eco_config_shape(const char *file, const struct eco_config *c, struct eco_model *m,
                     struct eco_err *err)
{
    bool mla = c->family != NULL && c->family->flags & ECO_F_MLA;
    const struct {
        const char *key;
        bool there;
    } needed[] = {
        {"hidden_size", c->hidden > 0},
        {"num_hidden_layers", c->layers > 0},
        {"num_attention_heads", c->heads > 0},
        {"vocab_size", c->vocab > 0},
        {"kv_lora_rank", !mla || c->kv_lora_rank > 0},
        {"qk_rope_head_dim", !mla || c->rope_dim > 0},
        {"qk_nope_head_dim", !mla || c->nope_dim > 0},
        {"v_head_dim", !mla || c->v_dim > 0},
        {"num_experts_per_tok", c->experts <= 1 || c->experts_per_token > 0},
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!needed[i].there) {
            return missing(file, needed[i].key, err);
        }
    }
    if (c->experts > 1 && c->experts_per_token > c->experts) {
        return eco_err_set(err, ECO_E_CONTENT, file, "'%.80s': %d experts a token of %d", file,
                           c->experts_per_token, c->experts);
    }
    struct eco_layout l;
    eco_config_layout(c, &l);
    if (l.kv_heads > l.heads || l.head_dim < 1) {
        return eco_err_set(err, ECO_E_CONTENT, file,
                           "'%.80s': %d heads, %d key-value heads and a width of %d contradict",
                           file, l.heads, l.kv_heads, c->hidden);
    }
    m->layers = c->layers;
    m->hidden = c->hidden;
    m->n_heads = l.heads;
    m->n_kv_heads = l.kv_heads;
    m->head_dim = l.head_dim;
    m->vocab = c->vocab;
    m->max_context = c->max_context > 0 ? c->max_context : 0;
    m->experts = c->experts > 1 ? c->experts : 0;
    m->experts_per_token = m->experts ? c->experts_per_token : 0;
    bool by_expert = m->experts && c->expert_intermediate > 0 && c->first_dense <= 0;
    m->intermediate = by_expert ? c->expert_intermediate : (int)l.intermediate;
    m->kv_lora_rank = mla ? c->kv_lora_rank : 0;
    m->rope_head_dim = mla ? c->rope_dim : 0;
    m->tied = l.tied;
    m->stored = c->stored;
    if (l.window_layers > 0) {
        m->sliding_window = c->window > 0 ? c->window : c->family ? c->family->window : 0;
        m->sliding_layers = l.window_layers;
    }
    return 0;
}

int eco_config_count(const char *file, const struct eco_config *c, struct eco_model *m,
                     struct eco_model_info *info, struct eco_err *err)
{
    if (c->family == NULL) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, file,
                           "'%.60s': the architecture '%.47s' is not known; give a folder with its "
                           "safetensors, or the size with --params-b",
                           file, c->type[0] ? c->type : "(none)");
    }
    struct eco_layout l;
    eco_config_layout(c, &l);
    memcpy(info->architecture, c->type, sizeof info->architecture);
    count_layers(c, &l, info->class_params);
    count_tables(c, &l, info->class_params);
    if (c->has_vision) {
        if (strncmp(c->type, "gemma3", 6) == 0) {
            info->class_params[ECO_TENSOR_OTHER] = count_vision(c);
        } else {
            snprintf(info->note, sizeof info->note,
                     "the vision part is not counted: config.json alone does not say its size");
        }
    }
    if (!eco_model_total(m, info)) {
        return eco_err_set(err, ECO_E_CONTENT, file, "'%.100s' describes more than 1e15 parameters",
                           file);
    }
    return 0;
}
