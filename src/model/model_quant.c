/* How a checkpoint is stored: quantization_config of config.json, else its dtype. */
#include "model_config.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

static bool is_true(const struct eco_json *object, const char *key)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v != NULL && v->type == ECO_JSON_TRUE;
}

static const char *word(const struct eco_json *object, const char *key)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v != NULL && v->type == ECO_JSON_STRING ? v->str : "";
}

static double number(const struct eco_json *object, const char *key, double absent)
{
    const struct eco_json *v = eco_json_get(object, key);
    return v != NULL && v->type == ECO_JSON_NUMBER ? v->num : absent;
}

static enum eco_precision of_bitsandbytes(const struct eco_json *q, struct eco_config *c)
{
    if (is_true(q, "load_in_4bit") || is_true(q, "_load_in_4bit")) {
        c->quant_bits = 4;
        return is_true(q, "bnb_4bit_use_double_quant") ? ECO_PREC_NF4_DQ : ECO_PREC_NF4;
    }
    if (is_true(q, "load_in_8bit") || is_true(q, "_load_in_8bit")) {
        c->quant_bits = 8;
        return number(q, "llm_int8_threshold", 6.0) > 0.0 ? ECO_PREC_INT8_MIXED
                                                          : ECO_PREC_INT8_PURE;
    }
    return ECO_PREC_NONE;
}

/** compressed-tensors: the first group speaks for the model. */
static enum eco_precision of_groups(const struct eco_json *q, struct eco_config *c)
{
    const struct eco_json *groups = eco_json_get(q, "config_groups");
    const struct eco_json *group =
        groups != NULL && groups->type == ECO_JSON_OBJECT ? groups->child : NULL;
    const struct eco_json *weights = eco_json_get(group, "weights");
    const struct eco_json *input = eco_json_get(group, "input_activations");
    double bits = number(weights, "num_bits", 0.0);
    bool is_float = strcmp(word(weights, "type"), "float") == 0;
    bool activations = input != NULL && input->type == ECO_JSON_OBJECT;
    c->quant_bits = bits == 4.0 ? 4 : bits == 8.0 ? 8 : -1;
    if (bits == 8.0) {
        return is_float ? ECO_PREC_FP8 : activations ? ECO_PREC_W8A8 : ECO_PREC_W8A16;
    }
    if (bits == 4.0) {
        return is_float ? ECO_PREC_NVFP4 : ECO_PREC_W4A16;
    }
    return ECO_PREC_NONE;
}

static enum eco_precision of_packed(const struct eco_json *q, bool awq, struct eco_config *c)
{
    double bits = number(q, "bits", number(q, "w_bit", 4.0));
    c->quant_bits = bits == 2.0 || bits == 3.0 || bits == 8.0 ? (int)bits : 4;
    if (awq) {
        return bits == 4.0 ? ECO_PREC_AWQ_INT4 : ECO_PREC_NONE;
    }
    return bits == 4.0 ? ECO_PREC_GPTQ_INT4 : bits == 8.0 ? ECO_PREC_GPTQ_INT8 : ECO_PREC_NONE;
}

static enum eco_precision of_method(const char *method, const struct eco_json *q,
                                    struct eco_config *c)
{
    if (strncmp(method, "bitsandbytes", 12) == 0 || method[0] == '\0') {
        return of_bitsandbytes(q, c);
    }
    if (strcmp(method, "gptq") == 0 || strcmp(method, "awq") == 0) {
        return of_packed(q, method[0] == 'a', c);
    }
    if (strcmp(method, "fp8") == 0 || strcmp(method, "fbgemm_fp8") == 0) {
        c->quant_bits = 8;
        return ECO_PREC_FP8;
    }
    if (strcmp(method, "mxfp4") == 0) {
        c->quant_bits = 4;
        return ECO_PREC_MXFP4;
    }
    if (strcmp(method, "compressed-tensors") == 0) {
        return of_groups(q, c);
    }
    if (strncmp(method, "modelopt", 8) == 0) {
        const char *algo = word(q, "quant_algo");
        bool fp4 = strstr(algo, "FP4") != NULL;
        c->quant_bits = fp4 ? 4 : 8;
        return fp4 ? ECO_PREC_NVFP4 : strstr(algo, "FP8") != NULL ? ECO_PREC_FP8 : ECO_PREC_NONE;
    }
    return ECO_PREC_NONE;
}

static enum eco_precision of_dtype(const char *dtype)
{
    if (strcmp(dtype, "bfloat16") == 0) {
        return ECO_PREC_BF16;
    }
    if (strcmp(dtype, "float16") == 0) {
        return ECO_PREC_FP16;
    }
    return strcmp(dtype, "float32") == 0 ? ECO_PREC_FP32 : ECO_PREC_NONE;
}

void eco_config_precision(const struct eco_json *root, const struct eco_json *text,
                          struct eco_config *c)
{
    const struct eco_json *q = eco_json_get(root, "quantization_config");
    if (q == NULL || q->type != ECO_JSON_OBJECT) {
        q = eco_json_get(text, "quantization_config");
    }
    if (q != NULL && q->type == ECO_JSON_OBJECT) {
        snprintf(c->quant_method, sizeof c->quant_method, "%.31s", word(q, "quant_method"));
        c->quant_bits = -1;
        c->stored = of_method(c->quant_method, q, c);
        return;
    }
    double bits = number(eco_json_get(root, "quantization"), "bits", 0.0); /* MLX packs words */
    c->quant_bits = bits == 2.0 || bits == 3.0 || bits == 8.0 ? (int)bits : 0;
    const struct eco_json *places[] = {text, root};
    for (int i = 0; i < 2 && c->stored == ECO_PREC_NONE; i++) {
        c->stored = of_dtype(word(places[i], "torch_dtype"));
        if (c->stored == ECO_PREC_NONE) {
            c->stored = of_dtype(word(places[i], "dtype"));
        }
    }
}
