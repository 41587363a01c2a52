/* Tensors by name and dtype: which class, how many parameters, how stored. */
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

static bool ends(const char *name, const char *tail)
{
    size_t n = strlen(name), t = strlen(tail);
    return n >= t && memcmp(name + n - t, tail, t) == 0;
}

static bool any_end(const char *name, const char *const *tails)
{
    for (; *tails != NULL; tails++) {
        if (ends(name, *tails)) {
            return true;
        }
    }
    return false;
}

static bool any_part(const char *name, const char *const *parts)
{
    for (; *parts != NULL; parts++) {
        if (has(name, *parts)) {
            return true;
        }
    }
    return false;
}

/* What quantizers keep beside the codes: bitsandbytes, GPTQ, AWQ, compressed-tensors, modelopt. */
static const char *const constants[] = {".scales",
                                        ".biases",
                                        ".qzeros",
                                        ".g_idx",
                                        ".absmax",
                                        ".quant_map",
                                        ".nested_absmax",
                                        ".nested_quant_map",
                                        ".SCB",
                                        ".weight_format",
                                        ".weight_scale",
                                        ".weight_scale_2",
                                        ".weight_scale_inv",
                                        ".weight_shape",
                                        ".weight_zero_point",
                                        ".weight_g_idx",
                                        ".input_scale",
                                        ".output_scale",
                                        ".k_scale",
                                        ".v_scale",
                                        "_scales",
                                        ".input_zero_point",
                                        ".weight_global_scale",
                                        ".input_global_scale",
                                        "_scale_inv",
                                        NULL};

static const char *const buffers[] = {"inv_freq",
                                      ".masked_bias",
                                      "position_ids",
                                      "rope_freqs.weight",
                                      "rope_factors_long.weight",
                                      "rope_factors_short.weight",
                                      NULL};

static const char *const elsewhere[] = {"vision",       "visual",      "multi_modal_projector",
                                        "mm_projector", "audio_tower", "image_newline",
                                        ".nextn.",      NULL};

static const char *const tables[] = {"embed_tokens.weight",
                                     "wte.weight",
                                     "wpe.weight",
                                     "embed_positions.weight",
                                     "word_embeddings.weight",
                                     "embed_in.weight",
                                     "tok_embeddings.weight",
                                     "token_embd.weight",
                                     "position_embd.weight",
                                     NULL};

static const char *const heads[] = {"lm_head.weight", "embed_out.weight", "lm_head.linear.weight",
                                    NULL};

/** The number after "layers." or its like; -1: none. */
static int layer_of(const char *name)
{
    static const char *const words[] = {"layers.", "blk.", ".h.", "blocks."};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *at = strstr(name, words[i]);
        if (at != NULL) {
            at += strlen(words[i]);
        } else if (strncmp(name, "h.", 2) == 0) {
            at = name + 2;
        } else {
            continue;
        }
        int n = 0, digits = 0;
        for (; *at >= '0' && *at <= '9' && digits < 6; at++, digits++) {
            n = n * 10 + (*at - '0');
        }
        if (digits > 0 && *at == '.') {
            return n;
        }
    }
    return -1;
}

static bool is_buffer(const struct eco_tensor *x)
{
    bool mask = ends(x->name, "attn.bias") || ends(x->name, "attention.bias");
    return any_end(x->name, buffers) || x->dtype == ECO_DTYPE_BOOL || (mask && x->n_dims >= 3);
}

enum eco_tensor_class eco_tensor_classify(const struct eco_tensor *x, int layers)
{
    const char *name = x->name;
    if (any_end(name, constants) || has(name, "quant_state.")) {
        return ECO_TENSOR_CONSTANT;
    }
    if (is_buffer(x)) {
        return ECO_TENSOR_BUFFER;
    }
    bool beside = any_part(name, elsewhere) || strncmp(name, "mtp.", 4) == 0 ||
                  strncmp(name, "v.", 2) == 0 || strncmp(name, "mm.", 3) == 0;
    if (beside || (layers > 0 && layer_of(name) >= layers)) {
        return ECO_TENSOR_OTHER;
    }
    if (x->n_dims <= 1 || ends(name, "bias") || has(name, "norm.weight")) {
        return ECO_TENSOR_NORM;
    }
    if (any_end(name, heads) || strcmp(name, "output.weight") == 0) {
        return ECO_TENSOR_LM_HEAD;
    }
    if (any_end(name, tables)) {
        return ECO_TENSOR_EMBEDDING;
    }
    if (has(name, ".experts.") || has(name, "_exps.")) {
        return ECO_TENSOR_EXPERT;
    }
    return ECO_TENSOR_LINEAR;
}

uint64_t eco_tensor_params(const struct eco_tensor *x, int quant_bits)
{
    uint64_t per_word = 32u / (uint64_t)(quant_bits > 0 ? quant_bits : 4), factor = 1;
    bool word = x->dtype == ECO_DTYPE_I32 || x->dtype == ECO_DTYPE_U32;
    if (ends(x->name, ".qweight") || ends(x->name, ".weight_packed") || ends(x->name, ".weight") ||
        ends(x->name, "_blocks")) {
        factor = word ? per_word : x->dtype == ECO_DTYPE_U8 ? 2 : 1;
    }
    if (quant_bits == 3 && word) { /* 32 codes of 3 bits lie in 3 words */
        return x->elements <= UINT64_MAX / 32 ? x->elements * 32 / 3 : UINT64_MAX;
    }
    return x->elements <= UINT64_MAX / factor ? x->elements * factor : UINT64_MAX;
}

void eco_tally_init(struct eco_tally *t, const struct eco_config *c)
{
    memset(t, 0, sizeof *t);
    t->last_layer = -1;
    if (c != NULL) {
        t->layers = c->layers > 0 ? c->layers : 0;
        t->quant_bits = c->quant_bits;
    }
}

static void sum(struct eco_tally *t, uint64_t *to, uint64_t v)
{
    if (v > UINT64_MAX - *to) {
        t->overflow = true;
        return;
    }
    *to += v;
}

/** Widths that a shape can be told from when no config is there. */
static void learn_shape(struct eco_tally *t, const struct eco_tensor *x, enum eco_tensor_class c)
{
    uint64_t rows = x->dims[0], columns = x->dims[x->n_dims - 1];
    int layer = layer_of(x->name);
    if (c != ECO_TENSOR_OTHER && layer > t->last_layer) {
        t->last_layer = layer;
    }
    if (c == ECO_TENSOR_EMBEDDING && rows > t->vocab) {
        t->vocab = rows;
        t->hidden = columns;
    } else if (ends(x->name, "q_proj.weight")) {
        t->q_width = rows;
    } else if (ends(x->name, "k_proj.weight")) {
        t->kv_width = rows;
    } else if (ends(x->name, "mlp.up_proj.weight") || ends(x->name, "mlp.fc1.weight")) {
        t->intermediate = rows;
    }
}

void eco_tally_add(struct eco_tally *t, const struct eco_tensor *x)
{
    enum eco_tensor_class c = eco_tensor_classify(x, t->layers);
    struct eco_model_info *info = &t->info;
    info->tensors++;
    sum(t, &info->class_bytes[c], x->bytes);
    t->nf4 |= has(x->name, "quant_state.bitsandbytes__nf4");
    t->double_quant |= ends(x->name, ".nested_absmax");
    t->int8_rows |= ends(x->name, ".SCB");
    if (c == ECO_TENSOR_CONSTANT || c == ECO_TENSOR_BUFFER) {
        return;
    }
    sum(t, &info->class_params[c], eco_tensor_params(x, t->quant_bits));
    if (c == ECO_TENSOR_LINEAR || c == ECO_TENSOR_EXPERT) {
        sum(t, &t->linear_bytes[x->dtype], x->bytes);
    }
    if (x->n_dims == 2) {
        learn_shape(t, x, c);
    }
}

enum eco_precision eco_tally_precision(const struct eco_tally *t)
{
    if (t->nf4) {
        return t->double_quant ? ECO_PREC_NF4_DQ : ECO_PREC_NF4;
    }
    if (t->int8_rows) {
        return ECO_PREC_INT8_MIXED;
    }
    int most = ECO_DTYPE_NONE;
    for (int i = 0; i < ECO_DTYPE_COUNT; i++) {
        if (t->linear_bytes[i] > t->linear_bytes[most]) {
            most = i;
        }
    }
    switch (most) {
    case ECO_DTYPE_F32:
        return ECO_PREC_FP32;
    case ECO_DTYPE_F16:
        return ECO_PREC_FP16;
    case ECO_DTYPE_BF16:
        return ECO_PREC_BF16;
    case ECO_DTYPE_F8_E4M3:
    case ECO_DTYPE_F8_E5M2:
        return ECO_PREC_FP8;
    default:
        return ECO_PREC_NONE;
    }
}

/** Shape without a config: widths as the tensors have them, heads of 128 or 64. */
static int shape_by_tensors(const char *file, const struct eco_tally *t, uint64_t params,
                            struct eco_model *m, struct eco_err *err)
{
    double size = (double)params / 1e9;
    size = size < ECO_MODEL_MIN_SIZE_B ? ECO_MODEL_MIN_SIZE_B : size;
    if (params == 0 || eco_model_from_size(size, "model", m, NULL) != 0) {
        return eco_err_set(err, ECO_E_CONTENT, file,
                           "'%.100s' lists no parameters, or more than 1e15", file);
    }
    if (t->hidden > 1u << 20 || t->vocab > 1u << 26) {
        return eco_err_set(err, ECO_E_CONTENT, file,
                           "'%.100s': a token table of %llu rows of %llu is out of range", file,
                           (unsigned long long)t->vocab, (unsigned long long)t->hidden);
    }
    if (t->hidden > 0) {
        m->hidden = (int)t->hidden;
        m->vocab = (int)t->vocab;
    }
    if (t->last_layer >= 0 && t->last_layer < 4096) {
        m->layers = t->last_layer + 1;
    }
    if (t->intermediate > 0 && t->intermediate <= 1u << 24) {
        m->intermediate = (int)t->intermediate;
    }
    if (t->q_width > 0 && t->kv_width > 0 && t->q_width <= 1u << 24 && t->kv_width <= t->q_width) {
        m->head_dim = t->q_width % 128 == 0 && t->kv_width % 128 == 0 ? 128 : 64;
        uint64_t hd = (uint64_t)m->head_dim;
        m->n_heads = (int)((t->q_width + hd - 1) / hd);
        m->n_kv_heads = (int)((t->kv_width + hd - 1) / hd);
    }
    return 0;
}

/** One table for both ends: a second copy in the files is not a second table. */
static void settle_head(struct eco_tally *t, const struct eco_config *c, struct eco_model *m)
{
    struct eco_model_info *info = &t->info;
    if (c == NULL) {
        m->tied = info->class_params[ECO_TENSOR_LM_HEAD] == 0;
    } else if (m->tied) {
        sum(t, &info->class_bytes[ECO_TENSOR_BUFFER], info->class_bytes[ECO_TENSOR_LM_HEAD]);
        info->class_bytes[ECO_TENSOR_LM_HEAD] = info->class_params[ECO_TENSOR_LM_HEAD] = 0;
    } else if (info->class_params[ECO_TENSOR_LM_HEAD] == 0) {
        m->tied = true;
        snprintf(info->note, sizeof info->note,
                 "no output table in the files: the input table is taken for both");
    }
}

static void compare_with_config(const char *file, const struct eco_config *c,
                                const struct eco_model *m, struct eco_model_info *info)
{
    struct eco_model by_config = *m;
    struct eco_model_info counted;
    memset(&counted, 0, sizeof counted);
    if (info->note[0] == '\0' && eco_config_count(file, c, &by_config, &counted, NULL) == 0 &&
        counted.note[0] == '\0' &&
        by_config.params_total != m->params_total - info->class_params[ECO_TENSOR_OTHER] +
                                      counted.class_params[ECO_TENSOR_OTHER]) {
        snprintf(info->note, sizeof info->note,
                 "config.json describes %llu parameters, the tensors have %llu; the tensors count",
                 (unsigned long long)by_config.params_total, (unsigned long long)m->params_total);
    }
}

int eco_tally_finish(const char *file, struct eco_tally *t, const struct eco_config *c,
                     struct eco_model *m, struct eco_err *err)
{
    struct eco_model_info *info = &t->info;
    uint64_t params = 0;
    for (int i = 0; i < ECO_TENSOR_CLASSES; i++) {
        sum(t, &params, info->class_params[i]);
    }
    int rc =
        c != NULL ? eco_config_shape(file, c, m, err) : shape_by_tensors(file, t, params, m, err);
    if (rc) {
        return rc;
    }
    settle_head(t, c, m);
    if (m->stored == ECO_PREC_NONE || (c != NULL && c->quant_method[0] == '\0')) {
        enum eco_precision p = eco_tally_precision(t);
        m->stored = p != ECO_PREC_NONE || c == NULL ? p : m->stored;
    }
    for (int i = 0; i < ECO_TENSOR_CLASSES; i++) {
        if (i != ECO_TENSOR_BUFFER) {
            sum(t, &m->file_bytes, info->class_bytes[i]);
        }
    }
    if (t->overflow || !eco_model_total(m, info)) {
        return eco_err_set(err, ECO_E_CONTENT, file,
                           "'%.100s' lists no parameters, or more than 1e15", file);
    }
    m->shape_basis = c != NULL ? ECO_BASIS_COMPUTED : ECO_BASIS_INTERPOLATED;
    if (c != NULL) {
        memcpy(info->architecture, c->type, sizeof info->architecture);
        compare_with_config(file, c, m, info);
    } else {
        snprintf(info->note, sizeof info->note,
                 "no config.json beside the tensors: heads and context are guesses");
    }
    return 0;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct eco_range *x = a, *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

void eco_range_sort(struct eco_range *r, size_t n)
{
    if (n > 1) {
        qsort(r, n, sizeof *r, compare_ranges);
    }
}

const char *eco_tensor_class_name(enum eco_tensor_class c)
{
    static const char *const names[] = {"linear", "expert", "embedding", "lm_head",
                                        "norm",   "other",  "constant",  "buffer"};
    return (unsigned)c < ECO_TENSOR_CLASSES ? names[c] : "unknown";
}
