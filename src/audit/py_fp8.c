/* FP8 by torchao: whether the model that was quantized is compiled. */
#include "scan.h"

#include <string.h>

static bool says_float8(const char *name)
{
    for (const char *p = name; *p; p++) {
        if (eco_str_ncasecmp(p, "float8", 6) == 0) {
            return true;
        }
    }
    return false;
}

/* Float8WeightOnlyConfig(), float8_weight_only(), "float8_weight_only". */
static bool is_float8(struct eco_scan *s, const struct eco_py_vals *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct eco_py_val *x = &v->v[i];
        bool named = (x->what == ECO_PYV_STR || x->what == ECO_PYV_NAME) && says_float8(x->s);
        if (named || (x->what == ECO_PYV_CALL && says_float8(eco_py_callee(&s->flow, x->node)))) {
            return true;
        }
    }
    return false;
}

/* model.forward, model.model: the variable itself. */
static uint32_t root_of(const struct eco_scan *s, uint32_t node)
{
    while (node != ECO_PY_NO && s->tree.nodes[node].kind == ECO_PY_ATTRIBUTE) {
        uint32_t attr = eco_py_child(&s->tree, node, ECO_PYF_ATTRIBUTE);
        if (!eco_py_is(&s->tree, attr, "forward") && !eco_py_is(&s->tree, attr, "model") &&
            !eco_py_is(&s->tree, attr, "generate")) {
            break;
        }
        uint32_t object = eco_py_child(&s->tree, node, ECO_PYF_OBJECT);
        if (eco_py_is(&s->tree, object, "self")) {
            break;
        }
        node = object;
    }
    return node;
}

/* false only when `x` is surely another model than the one `load` makes (or `model` names). */
static bool may_be(struct eco_scan *s, uint32_t x, uint32_t load, uint32_t model)
{
    x = root_of(s, x);
    if (x == ECO_PY_NO) {
        return true;
    }
    const char *kx = eco_py_key(&s->flow, x);
    const char *km = model == ECO_PY_NO ? NULL : eco_py_key(&s->flow, root_of(s, model));
    if (kx && km && strcmp(kx, km) == 0) {
        return true;
    }
    struct eco_py_vals v = eco_py_eval(&s->flow, x);
    bool other = false;
    for (uint32_t i = 0; i < v.n; i++) {
        if (v.v[i].what != ECO_PYV_CALL) {
            continue;
        }
        if (load != ECO_PY_NO && v.v[i].node == load) {
            return true;
        }
        other |= eco_py_is(&s->tree, eco_scan_method(s, v.v[i].node), "from_pretrained");
    }
    /* a function or a layer is compiled on its own: not the model */
    bool function = v.n == 1 && v.v[0].what == ECO_PYV_FUNC;
    return !(other && (load != ECO_PY_NO || km)) && !function;
}

static bool is_torch_compile(struct eco_scan *s, uint32_t call, uint32_t *subject)
{
    struct eco_py_vals v = eco_py_callee_vals(&s->flow, call);
    uint32_t callee = eco_py_child(&s->tree, call, ECO_PYF_FUNCTION);
    const struct eco_py_node *n = s->tree.nodes;
    if (callee == ECO_PY_NO) {
        return false;
    }
    for (uint32_t i = 0; i < v.n; i++) {
        if (v.v[i].what == ECO_PYV_NAME) {
            if (strcmp(v.v[i].s, "torch.compile") == 0) {
                uint32_t args = eco_py_child(&s->tree, call, ECO_PYF_ARGUMENTS);
                *subject = args == ECO_PY_NO ? args : n[args].first;
                return true;
            }
            if (strncmp(v.v[i].s, "re.", 3) == 0 || !strchr(v.v[i].s, '.')) {
                return false;
            }
        }
    }
    if (n[callee].kind != ECO_PY_ATTRIBUTE) {
        return false;
    }
    *subject = eco_py_child(&s->tree, callee, ECO_PYF_OBJECT); /* model.compile() */
    return true;
}

static bool eager_backend(struct eco_scan *s, uint32_t call)
{
    struct eco_py_arg b = eco_py_call_arg(&s->flow, call, "backend", -1);
    struct eco_py_arg d = eco_py_call_arg(&s->flow, call, "disable", -1);
    bool eager = b.have == ECO_PY_PRESENT && b.vals.n == 1 && b.vals.v[0].what == ECO_PYV_STR &&
                 (strcmp(b.vals.v[0].s, "eager") == 0 || strcmp(b.vals.v[0].s, "aot_eager") == 0);
    return eager || (d.have == ECO_PY_PRESENT && eco_py_truth(&d.vals) == ECO_PY_TRUE_ALWAYS);
}

/* A decorator, a static cache (generate compiles by itself) or an exporter. */
static bool compiled_otherwise(struct eco_scan *s)
{
    const struct eco_py_node *n = s->tree.nodes;
    if (eco_scan_calls(s, "export") || eco_scan_calls(s, "aot_compile") ||
        eco_scan_calls(s, "aoti_compile_and_package")) {
        return true;
    }
    for (uint32_t i = 0; i < s->tree.count; i++) {
        if (n[i].kind == ECO_PY_DECORATOR && eco_py_mentions(&s->tree, i, "torch.compile")) {
            return true;
        }
        if (n[i].kind == ECO_PY_IDENTIFIER && eco_py_is(&s->tree, i, "cache_implementation")) {
            return true;
        }
    }
    return false;
}

/* `load`: the call that makes the model, or none; `model`: the node that names it, or none. */
static void judge(struct eco_scan *s, uint32_t at, uint32_t load, uint32_t model)
{
    uint32_t state = 0, call, subject, eager_at = ECO_PY_NO;
    while ((call = eco_py_next_call(&s->flow, "compile", &state)) != ECO_PY_NO) {
        if (!is_torch_compile(s, call, &subject) || !may_be(s, subject, load, model)) {
            continue;
        }
        if (!eager_backend(s, call)) {
            return;
        }
        eager_at = call;
    }
    if (compiled_otherwise(s)) {
        return;
    }
    if (eager_at != ECO_PY_NO) {
        struct eco_spot spot = eco_scan_spot(s, eager_at);
        eco_scan_add(s, ECO_AUDIT_FP8_NO_COMPILE, &spot,
                     "the FP8 model is compiled by an eager back end");
        return;
    }
    struct eco_spot spot = eco_scan_spot(s, at);
    eco_scan_add(s, ECO_AUDIT_FP8_EAGER, &spot, "FP8 by torchao, and nothing compiles this model");
}

void eco_rule_fp8(struct eco_scan *s, uint32_t call, const char *callee)
{
    if (strcmp(callee, "quantize_") != 0) {
        return;
    }
    struct eco_py_arg model = eco_py_call_arg(&s->flow, call, "model", 0);
    struct eco_py_arg config = eco_py_call_arg(&s->flow, call, "config", 1);
    if (config.have == ECO_PY_PRESENT && is_float8(s, &config.vals)) {
        uint32_t load = ECO_PY_NO;
        for (uint32_t i = 0; i < model.vals.n; i++) {
            if (model.vals.v[i].what == ECO_PYV_CALL) {
                load = model.vals.v[i].node;
            }
        }
        judge(s, call, load, model.have == ECO_PY_PRESENT ? model.at : ECO_PY_NO);
    }
}

void eco_rule_fp8_load(struct eco_scan *s, uint32_t call)
{
    struct eco_py_arg config = eco_py_call_arg(&s->flow, call, "quantization_config", -1);
    for (uint32_t i = 0; config.have == ECO_PY_PRESENT && i < config.vals.n; i++) {
        const struct eco_py_val *v = &config.vals.v[i];
        if (v->what != ECO_PYV_CALL ||
            strcmp(eco_py_callee(&s->flow, v->node), "TorchAoConfig") != 0) {
            continue;
        }
        struct eco_py_arg kind = eco_py_call_arg(&s->flow, v->node, "quant_type", 0);
        if (kind.have == ECO_PY_PRESENT && is_float8(s, &kind.vals)) {
            judge(s, v->node, call, ECO_PY_NO);
        }
    }
}
