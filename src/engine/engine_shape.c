/* Shapes from models.csv and from config.json. */
#include "engine_shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_CONTEXT 2048

struct eco_slot eco_engine_slot(const struct eco_shape *s, enum eco_role role, int layer)
{
    int q = s->heads * s->head_dim, kv = s->kv_heads * s->head_dim, h = s->hidden;
    struct eco_slot t = {role, layer, 0, 0};
    const struct {
        bool there;
        int rows, cols;
    } extents[ECO_ROLE_COUNT] = {
        [ECO_ROLE_EMBED] = {true, s->vocab, h},
        [ECO_ROLE_HEAD] = {!s->tied, s->vocab, h},
        [ECO_ROLE_Q] = {true, q, h},
        [ECO_ROLE_K] = {true, kv, h},
        [ECO_ROLE_V] = {true, kv, h},
        [ECO_ROLE_O] = {true, h, q},
        [ECO_ROLE_GATE] = {true, s->intermediate, h},
        [ECO_ROLE_UP] = {true, s->intermediate, h},
        [ECO_ROLE_DOWN] = {true, h, s->intermediate},
        [ECO_ROLE_OUT_NORM] = {true, 1, h},
        [ECO_ROLE_ATTN_NORM] = {true, 1, h},
        [ECO_ROLE_FFN_NORM] = {true, 1, h},
        [ECO_ROLE_POST_ATTN_NORM] = {s->post_norms, 1, h},
        [ECO_ROLE_POST_FFN_NORM] = {s->post_norms, 1, h},
        [ECO_ROLE_Q_BIAS] = {s->qkv_bias, 1, q},
        [ECO_ROLE_K_BIAS] = {s->qkv_bias, 1, kv},
        [ECO_ROLE_V_BIAS] = {s->qkv_bias, 1, kv},
        [ECO_ROLE_O_BIAS] = {s->out_bias, 1, h},
        [ECO_ROLE_Q_NORM] = {s->qk_norm, 1, s->head_dim},
        [ECO_ROLE_K_NORM] = {s->qk_norm, 1, s->head_dim},
    };
    if (extents[role].there) {
        t.rows = extents[role].rows;
        t.cols = extents[role].cols;
    }
    return t;
}

/* Llama 3.1: long waves are slowed by `factor`, short ones kept, a ramp between. */
static double llama3_frequency(const struct eco_rope *r, double f)
{
    const double two_pi = 6.283185307179586;
    double turns = r->original_context * f / two_pi;
    double ramp = (turns - r->low_factor) / (r->high_factor - r->low_factor);
    ramp = ramp < 0.0 ? 0.0 : ramp > 1.0 ? 1.0 : ramp;
    return (1.0 - ramp) * f / r->factor + ramp * f;
}

/* YaRN, equations 17 to 23: the pair whose wave makes `turns` turns in the original context. */
static double yarn_pair(const struct eco_rope *r, double turns)
{
    const double two_pi = 6.283185307179586;
    return r->dims * log(r->original_context / (turns * two_pi)) / (2.0 * log(r->theta));
}

/* Pairs of `beta_fast` turns and more keep their frequency, of `beta_slow` and fewer are slowed. */
static double yarn_frequency(const struct eco_rope *r, int i, double f)
{
    double low = floor(yarn_pair(r, r->beta_fast)), high = ceil(yarn_pair(r, r->beta_slow));
    low = low > 0.0 ? low : 0.0;
    high = high < r->dims - 1 ? high : r->dims - 1;
    double ramp = (i - low) / (high > low ? high - low : 0.001);
    ramp = ramp < 0.0 ? 0.0 : ramp > 1.0 ? 1.0 : ramp;
    return ramp * f / r->factor + (1.0 - ramp) * f;
}

float eco_engine_rope_magnitude(const struct eco_rope *r)
{
    double by = r->attention_factor;
    if (by > 0.0 && (r->kind == ECO_ROPE_YARN || r->kind == ECO_ROPE_LONGROPE)) {
        return (float)by;
    }
    if (r->kind == ECO_ROPE_YARN && r->factor > 1.0) {
        return (float)(0.1 * log(r->factor) + 1.0);
    }
    if (r->kind == ECO_ROPE_LONGROPE && r->factor > 1.0) {
        return (float)sqrt(1.0 + log(r->factor) / log(r->original_context));
    }
    return 1.0f;
}

void eco_engine_rope_frequencies(const struct eco_rope *r, float *inv_freq)
{
    for (int i = 0; i < r->dims / 2; i++) {
        double f = pow(r->theta, -2.0 * i / r->dims);
        if (r->kind == ECO_ROPE_LINEAR) {
            f /= r->factor;
        } else if (r->kind == ECO_ROPE_LLAMA3) {
            f = llama3_frequency(r, f);
        } else if (r->kind == ECO_ROPE_YARN) {
            f = yarn_frequency(r, i, f);
        } else if (r->kind == ECO_ROPE_LONGROPE) {
            f /= (double)(r->beyond ? r->long_factor : r->short_factor)[i];
        }
        if (r->factors) {
            float by;
            memcpy(&by, (const char *)r->factors + sizeof(by) * (size_t)i, sizeof(by));
            f /= (double)by;
        }
        inv_freq[i] = (float)f;
    }
}

static int in_range(const char *name, int v, int lo, int hi, struct eco_err *err)
{
    return v >= lo && v <= hi
               ? 0
               : eco_err_set(err, ECO_E_CONTENT, name, "'%s' is %d: the engine takes %d to %d",
                             name, v, lo, hi);
}

static int check_scaling(const struct eco_rope *r, struct eco_err *err)
{
    bool long_kind = r->kind == ECO_ROPE_YARN || r->kind == ECO_ROPE_LONGROPE;
    bool ok = !long_kind || (r->original_context > 1.0 && r->original_context < 1e9);
    if (r->kind == ECO_ROPE_YARN) {
        ok = ok && r->beta_fast > r->beta_slow && r->beta_slow > 0.0;
    }
    for (int i = 0; ok && r->kind == ECO_ROPE_LONGROPE && i < r->dims / 2; i++) {
        ok = r->dims / 2 <= ECO_LONGROPE_MAX && r->short_factor[i] > 0.0f &&
             r->long_factor[i] > 0.0f;
    }
    return ok ? 0
              : eco_err_set(err, ECO_E_CONTENT, "rope",
                            "the constants of the rope scaling are out of range");
}

int eco_engine_shape_check(struct eco_shape *s, struct eco_err *err)
{
    const struct {
        const char *name;
        int v, hi;
    } rows[] = {{"layers", s->layers, 4096},        {"hidden", s->hidden, 1 << 20},
                {"heads", s->heads, 1 << 12},       {"kv_heads", s->kv_heads, s->heads},
                {"head_dim", s->head_dim, 1 << 12}, {"intermediate", s->intermediate, 1 << 22},
                {"vocab", s->vocab, 1 << 22},       {"rope dimensions", s->rope.dims, s->head_dim}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int rc = in_range(rows[i].name, rows[i].v, 1, rows[i].hi, err);
        if (rc) {
            return rc;
        }
    }
    if (s->heads % s->kv_heads != 0 || s->rope.dims % 2 != 0) {
        return eco_err_set(err, ECO_E_CONTENT, "heads",
                           "%d heads over %d key-value heads, %d rotated dimensions: cannot be",
                           s->heads, s->kv_heads, s->rope.dims);
    }
    bool scaled = s->rope.kind != ECO_ROPE_PLAIN;
    if (!(s->rope.theta > 1.0) || !(s->norm_eps > 0.0f) || (scaled && !(s->rope.factor > 0.0)) ||
        (s->rope.kind == ECO_ROPE_LLAMA3 && !(s->rope.high_factor > s->rope.low_factor))) {
        return eco_err_set(err, ECO_E_CONTENT, "rope", "rope or norm constants are out of range");
    }
    int rc = check_scaling(&s->rope, err);
    if (rc) {
        return rc;
    }
    s->max_context = s->max_context > 0 ? s->max_context : DEFAULT_CONTEXT;
    s->window_every = s->window_every > 0 ? s->window_every : 1;
    s->embed_scale = s->embed_scale > 0 ? s->embed_scale : 1.0f;
    s->query_scale = s->query_scale > 0 ? s->query_scale : 1.0f / sqrtf((float)s->head_dim);
    return 0;
}

static void set_gemma2(struct eco_shape *s)
{
    s->post_norms = s->gelu = s->norm_plus_one = true;
    s->window_every = 2;
    s->embed_scale = sqrtf((float)s->hidden);
    s->attn_softcap = 50.0f;
    s->logit_softcap = 30.0f;
}

int eco_engine_shape_from_model(const struct eco_model *m, struct eco_shape *out,
                                struct eco_err *err)
{
    if (m->experts > 0 || m->kv_lora_rank > 0 || m->layers < 1 || m->hidden < 1) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "model",
                           "the engine runs dense Llama-family models; '%s' has %s", m->name,
                           m->experts > 0 ? "experts" : "another attention");
    }
    struct eco_shape s = {.layers = m->layers,
                          .hidden = m->hidden,
                          .heads = m->n_heads,
                          .kv_heads = m->n_kv_heads,
                          .head_dim = m->head_dim,
                          .intermediate = m->intermediate,
                          .vocab = m->vocab,
                          .max_context = m->max_context,
                          .rope = {.theta = 10000.0, .dims = m->head_dim},
                          .norm_eps = 1e-5f,
                          .window = m->sliding_window,
                          .tied = m->tied};
    /* Two norms a layer and the last one; what is left over tells biases from q/k norms. */
    uint64_t layers = (uint64_t)m->layers,
             width = (uint64_t)m->n_heads + 2 * (uint64_t)m->n_kv_heads;
    uint64_t plain = (2 * layers + 1) * (uint64_t)m->hidden;
    uint64_t left = m->params_norm - plain; /* wraps for a model with fewer: no case fits */
    snprintf(s.architecture, sizeof(s.architecture), "llama");
    if (left == layers * width * (uint64_t)m->head_dim) {
        s.qkv_bias = true;
        snprintf(s.architecture, sizeof(s.architecture), "qwen2");
    } else if (left == layers * 2 * (uint64_t)m->head_dim) {
        s.qk_norm = true;
        snprintf(s.architecture, sizeof(s.architecture), "qwen3");
    } else if (left == layers * 2 * (uint64_t)m->hidden) {
        set_gemma2(&s);
        snprintf(s.architecture, sizeof(s.architecture), "gemma2");
    } else if (left != 0) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "model",
                           "'%s' is not of the Llama family (its norms and biases do not fit)",
                           m->name);
    }
    int rc = eco_engine_shape_check(&s, err);
    if (rc == 0) {
        *out = s;
    }
    return rc;
}
