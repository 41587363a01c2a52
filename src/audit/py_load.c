/* Rules about where a model is put and how the serving engine is set up. */
#include "scan.h"

#include <string.h>

bool eco_scan_calls(struct eco_scan *s, const char *name)
{
    uint32_t state = 0;
    return eco_py_next_call(&s->flow, name, &state) != ECO_PY_NO;
}

uint32_t eco_scan_method(const struct eco_scan *s, uint32_t call)
{
    uint32_t callee = eco_py_child(&s->tree, call, ECO_PYF_FUNCTION);
    if (callee != ECO_PY_NO && s->tree.nodes[callee].kind == ECO_PY_ATTRIBUTE) {
        return eco_py_child(&s->tree, callee, ECO_PYF_ATTRIBUTE);
    }
    return callee;
}

/* ---- no-device-map --------------------------------------------------------------------------- */

static bool has_prefix(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && strcmp(s + n - k, suffix) == 0;
}

/* A class of transformers that loads weights for a GPU. */
static bool is_model_class(const char *dotted)
{
    const char *c = eco_py_last(dotted);
    if (c != dotted && !has_prefix(dotted, "transformers.")) {
        return false;
    }
    if (has_prefix(c, "TF") || has_prefix(c, "Flax") || has_prefix(c, "OV") ||
        has_prefix(c, "ORT") || has_prefix(c, "Fast") || has_prefix(c, "Peft") ||
        strstr(c, "GPTQ") || strstr(c, "AWQ") || strstr(c, "ValueHead")) {
        return false;
    }
    return has_suffix(c, "Model") || strstr(c, "ForCausalLM") || has_prefix(c, "AutoModel") ||
           strstr(c, "ForConditionalGeneration") || strstr(c, "ForSeq") || strstr(c, "ForMasked") ||
           strstr(c, "Classification");
}

static bool given(struct eco_scan *s, uint32_t call, const char *key)
{
    struct eco_py_arg a = eco_py_call_arg(&s->flow, call, key, -1);
    bool none = a.have == ECO_PY_PRESENT && a.vals.n == 1 && a.vals.v[0].what == ECO_PYV_NONE;
    return a.have != ECO_PY_ABSENT && !none;
}

/* .to("cuda"), .to(device), .cuda(): not .to(torch.float16). */
static bool moves(struct eco_scan *s, uint32_t call)
{
    uint32_t m = eco_scan_method(s, call);
    if (eco_py_is(&s->tree, m, "cuda") || eco_py_is(&s->tree, m, "xpu") ||
        eco_py_is(&s->tree, m, "to_empty")) {
        return true;
    }
    if (!eco_py_is(&s->tree, m, "to")) {
        return false;
    }
    struct eco_py_arg a = eco_py_call_arg(&s->flow, call, "device", 0);
    for (uint32_t i = 0; i < a.vals.n; i++) {
        const struct eco_py_val *v = &a.vals.v[i];
        bool dtype = v->what == ECO_PYV_NAME &&
                     (strstr(v->s, "float") || strstr(v->s, "half") || strstr(v->s, "int"));
        if (!dtype) {
            return true;
        }
    }
    return false;
}

/* Follows model.half().cuda() outwards; true when a link moves it. */
static bool chain_moves(struct eco_scan *s, uint32_t *node)
{
    const struct eco_py_node *n = s->tree.nodes;
    for (;;) {
        uint32_t p = n[*node].parent;
        if (p == ECO_PY_NO) {
            return false;
        }
        if (n[p].kind == ECO_PY_PAREN || n[p].kind == ECO_PY_AWAIT) {
            *node = p;
            continue;
        }
        uint32_t call = n[p].parent;
        if (n[p].kind != ECO_PY_ATTRIBUTE || call == ECO_PY_NO || n[call].kind != ECO_PY_CALL ||
            n[p].field != ECO_PYF_FUNCTION) {
            return false;
        }
        if (moves(s, call)) {
            return true;
        }
        *node = call;
    }
}

static bool same_variable(struct eco_scan *s, uint32_t node, const char *key, uint32_t scope)
{
    const char *k = eco_py_key(&s->flow, node);
    return k && strcmp(k, key) == 0 && eco_py_key_scope(&s->flow, node, k) == scope;
}

static bool method_moves_it(struct eco_scan *s, const char *method, const char *key, uint32_t scope)
{
    uint32_t state = 0, call;
    while ((call = eco_py_next_call(&s->flow, method, &state)) != ECO_PY_NO) {
        uint32_t callee = eco_py_child(&s->tree, call, ECO_PYF_FUNCTION);
        uint32_t object = eco_py_child(&s->tree, callee, ECO_PYF_OBJECT);
        while (object != ECO_PY_NO && s->tree.nodes[object].kind == ECO_PY_CALL) {
            object = eco_py_child(&s->tree, eco_py_child(&s->tree, object, ECO_PYF_FUNCTION),
                                  ECO_PYF_OBJECT); /* model.eval().to(...) */
        }
        if (object != ECO_PY_NO && same_variable(s, object, key, scope) && moves(s, call)) {
            return true;
        }
    }
    return false;
}

/* Handed to something that places it, or may: anything but reading it. */
static bool placed_by(struct eco_scan *s, uint32_t call)
{
    static const char *const names[] = {"prepare",
                                        "init_inference",
                                        "initialize",
                                        "DataParallel",
                                        "dispatch_model",
                                        "DistributedDataParallel",
                                        "FullyShardedDataParallel",
                                        "load_checkpoint_and_dispatch",
                                        "FSDP",
                                        "fully_shard",
                                        "tensor_parallel",
                                        "get_peft_model",
                                        NULL};
    uint32_t m = eco_scan_method(s, call);
    for (size_t i = 0; names[i]; i++) {
        if (eco_py_is(&s->tree, m, names[i])) {
            return true;
        }
    }
    if (eco_py_mentions(&s->tree, m, "device") || eco_py_mentions(&s->tree, m, "gpu") ||
        eco_py_mentions(&s->tree, m, "cuda") || eco_py_mentions(&s->tree, m, "trainer")) {
        return true;
    }
    if (eco_py_is(&s->tree, m, "pipeline")) {
        return given(s, call, "device") || given(s, call, "device_map");
    }
    struct eco_py_vals v = eco_py_callee_vals(&s->flow, call);
    if (v.n && (v.v[0].what == ECO_PYV_FUNC || v.v[0].what == ECO_PYV_CLASS)) {
        return eco_py_mentions(&s->tree, v.v[0].node, ".to(") ||
               eco_py_mentions(&s->tree, v.v[0].node, ".cuda(");
    }
    return false;
}

static bool handed_over(struct eco_scan *s, const char *key, uint32_t scope)
{
    const struct eco_py_node *n = s->tree.nodes;
    for (uint32_t i = 0; i < s->tree.count; i++) {
        if (!eco_py_spend(&s->flow, 1)) {
            return true; /* out of work: nothing is claimed */
        }
        if ((n[i].kind != ECO_PY_IDENTIFIER && n[i].kind != ECO_PY_ATTRIBUTE) ||
            n[i].parent == ECO_PY_NO || !same_variable(s, i, key, scope)) {
            continue;
        }
        uint32_t p = n[i].parent;
        if (n[p].kind == ECO_PY_KEYWORD && n[i].field == ECO_PYF_VALUE) {
            p = n[p].parent;
        }
        if (n[p].kind == ECO_PY_RETURN || n[p].kind == ECO_PY_EXPRESSION_LIST ||
            n[p].kind == ECO_PY_TUPLE || n[p].kind == ECO_PY_YIELD) {
            return true; /* its caller may move it */
        }
        if (n[p].kind == ECO_PY_ARGUMENTS && placed_by(s, n[p].parent)) {
            return true;
        }
    }
    return false;
}

static bool in_device_context(struct eco_scan *s, uint32_t i)
{
    const struct eco_py_node *n = s->tree.nodes;
    for (i = n[i].parent; i != ECO_PY_NO; i = n[i].parent) {
        uint32_t clause = n[i].kind == ECO_PY_WITH ? n[i].first : ECO_PY_NO;
        if (clause != ECO_PY_NO && (eco_py_mentions(&s->tree, clause, "device") ||
                                    eco_py_mentions(&s->tree, clause, "empty_weights") ||
                                    eco_py_mentions(&s->tree, clause, "zero"))) {
            return true;
        }
    }
    return false;
}

/* A part of a torch module moves with its owner. */
static bool part_of_module(struct eco_scan *s, const char *key, uint32_t scope)
{
    const struct eco_py_node *n = s->tree.nodes;
    if (!has_prefix(key, "self.") || n[scope].kind != ECO_PY_CLASS) {
        return false;
    }
    for (uint32_t c = n[scope].first; c != ECO_PY_NO; c = n[c].next) {
        if (n[c].kind == ECO_PY_ARGUMENTS && eco_py_mentions(&s->tree, c, "Module")) {
            return true;
        }
    }
    return false;
}

static struct eco_audit_edit add_argument(struct eco_scan *s, uint32_t call, const char *with_comma,
                                          const char *alone)
{
    uint32_t args = eco_py_child(&s->tree, call, ECO_PYF_ARGUMENTS);
    const struct eco_py_node *n = s->tree.nodes;
    uint32_t last = ECO_PY_NO;
    for (uint32_t c = args == ECO_PY_NO ? args : n[args].first; c != ECO_PY_NO; c = n[c].next) {
        last = n[c].kind == ECO_PY_COMMENT ? last : c;
    }
    if (s->line_map || args == ECO_PY_NO) {
        return (struct eco_audit_edit){0, 0, NULL};
    }
    return last == ECO_PY_NO ? (struct eco_audit_edit){n[args].start + 1, n[args].start + 1, alone}
                             : (struct eco_audit_edit){n[last].end, n[last].end, with_comma};
}

void eco_rule_device(struct eco_scan *s, uint32_t call, const char *class_name)
{
    static const char *const settings[] = {"device_map",   "device",       "quantization_config",
                                           "load_in_8bit", "load_in_4bit", "tp_plan",
                                           "bnb_config",   "provider",     NULL};
    uint32_t top = call;
    if (s->places || !is_model_class(class_name)) {
        return;
    }
    for (size_t i = 0; settings[i]; i++) {
        if (given(s, call, settings[i])) {
            return;
        }
    }
    if (chain_moves(s, &top) || in_device_context(s, call)) {
        return;
    }
    uint32_t p = s->tree.nodes[top].parent;
    if (p == ECO_PY_NO || s->tree.nodes[p].kind != ECO_PY_ASSIGNMENT ||
        s->tree.nodes[top].field != ECO_PYF_RIGHT) {
        return;
    }
    uint32_t left = eco_py_child(&s->tree, p, ECO_PYF_LEFT);
    const char *key = eco_py_key(&s->flow, left);
    uint32_t scope = key ? eco_py_key_scope(&s->flow, left, key) : 0;
    if (!key || part_of_module(s, key, scope) || method_moves_it(s, "to", key, scope) ||
        method_moves_it(s, "cuda", key, scope) || method_moves_it(s, "xpu", key, scope) ||
        handed_over(s, key, scope)) {
        return;
    }
    struct eco_spot spot = eco_scan_spot(s, call);
    if (eco_py_call_arg(&s->flow, call, "device_map", -1).have == ECO_PY_ABSENT) {
        spot.edit = add_argument(s, call, ", device_map=\"auto\"", "device_map=\"auto\"");
        spot.safe = true;
    }
    eco_scan_add(s, ECO_AUDIT_NO_DEVICE_MAP, &spot,
                 "%.60s.from_pretrained without device_map, and '%.60s' is not moved to a device",
                 eco_py_last(class_name), key);
}

/* ---- vLLM and the key-value cache ------------------------------------------------------------ */

static bool is_on(const struct eco_py_arg *a)
{
    return a->have == ECO_PY_PRESENT && eco_py_truth(&a->vals) == ECO_PY_TRUE_ALWAYS;
}

static bool says(const struct eco_py_arg *a, const char *part)
{
    for (uint32_t i = 0; i < a->vals.n; i++) {
        if (a->vals.v[i].what == ECO_PYV_STR && strstr(a->vals.v[i].s, part)) {
            return true;
        }
    }
    return false;
}

void eco_rule_vllm(struct eco_scan *s, uint32_t call, const char *callee)
{
    struct eco_py_arg eager = eco_py_call_arg(&s->flow, call, "enforce_eager", -1);
    struct eco_py_arg seqs = eco_py_call_arg(&s->flow, call, "max_num_seqs", -1);
    struct eco_py_arg offload = eco_py_call_arg(&s->flow, call, "cpu_offload_gb", -1);
    if (strcmp(callee, "dict") == 0 || strcmp(callee, "add_argument") == 0) {
        return;
    }
    if (is_on(&eager)) {
        struct eco_spot spot = eco_scan_spot(s, eager.at);
        struct eco_py_arg quant = eco_py_call_arg(&s->flow, call, "quantization", -1);
        if (says(&quant, "fp8")) {
            eco_scan_add(s, ECO_AUDIT_FP8_EAGER, &spot,
                         "FP8 with enforce_eager=True runs without "
                         "captured graphs");
        } else {
            eco_scan_add(s, ECO_AUDIT_VLLM_EAGER, &spot, "enforce_eager=True");
        }
    }
    if (seqs.have == ECO_PY_PRESENT && seqs.vals.n == 1 && !seqs.vals.open &&
        seqs.vals.v[0].what == ECO_PYV_NUM && seqs.vals.v[0].num == 1) {
        struct eco_spot spot = eco_scan_spot(s, seqs.at);
        eco_scan_add(s, ECO_AUDIT_VLLM_ONE_SEQ, &spot, "max_num_seqs=1");
    }
    if (is_on(&offload)) {
        struct eco_spot spot = eco_scan_spot(s, offload.at);
        eco_scan_add(s, ECO_AUDIT_CPU_OFFLOAD, &spot,
                     "cpu_offload_gb keeps weights in main memory");
    }
}

void eco_rule_cache(struct eco_scan *s, uint32_t call, const char *callee)
{
    uint32_t m = eco_scan_method(s, call);
    if (!eco_py_is(&s->tree, m, "generate") && strcmp(callee, "GenerationConfig") != 0) {
        return;
    }
    struct eco_py_arg a = eco_py_call_arg(&s->flow, call, "use_cache", -1);
    if (a.have != ECO_PY_PRESENT || eco_py_truth(&a.vals) != ECO_PY_FALSE_ALWAYS ||
        a.vals.v[0].what != ECO_PYV_BOOL) {
        return;
    }
    struct eco_spot spot = eco_scan_spot(s, a.at);
    const struct eco_py_node *n = &s->tree.nodes[a.at];
    if (!s->line_map && n->kind == ECO_PY_KEYWORD) {
        spot.edit = (struct eco_audit_edit){n->start, n->end, "use_cache=True"};
        spot.safe = true;
    }
    eco_scan_add(s, ECO_AUDIT_KV_CACHE_OFF, &spot, "generation with use_cache=False");
}

/* model.config.use_cache = False, in a file that generates and does not train. */
void eco_rule_cache_config(struct eco_scan *s, uint32_t assignment)
{
    const char *key = eco_py_key(&s->flow, eco_py_child(&s->tree, assignment, ECO_PYF_LEFT));
    if (!key || !has_suffix(key, "config.use_cache") || s->trains ||
        !eco_scan_calls(s, "generate") || eco_scan_calls(s, "backward") ||
        eco_scan_calls(s, "gradient_checkpointing_enable")) {
        return;
    }
    struct eco_py_vals v = eco_py_eval(&s->flow, eco_py_child(&s->tree, assignment, ECO_PYF_RIGHT));
    if (eco_py_truth(&v) == ECO_PY_FALSE_ALWAYS && v.v[0].what == ECO_PYV_BOOL) {
        struct eco_spot spot = eco_scan_spot(s, assignment);
        eco_scan_add(s, ECO_AUDIT_KV_CACHE_OFF, &spot,
                     "%.80s is switched off and the file "
                     "generates",
                     key);
    }
}

/* ---- installs from Python -------------------------------------------------------------------- */

static void join_strings(struct eco_scan *s, uint32_t call, struct eco_buf *out)
{
    out->limit = 64 << 10;
    for (uint32_t i = call; i < s->tree.nodes[call].last; i++) {
        if (s->tree.nodes[i].kind == ECO_PY_STRING_CONTENT) {
            eco_buf_put(out, s->tree.text + s->tree.nodes[i].start,
                        s->tree.nodes[i].end - s->tree.nodes[i].start);
            eco_buf_putc(out, ' ');
        }
    }
}

static bool starts_programs(const char *callee)
{
    static const char *const names[] = {
        "run",    "call",         "check_call",  "check_output", "Popen", "popen", "getoutput",
        "system", "run_commands", "pip_install", "pip",          "main",  "sh",    NULL};
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(callee, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void check_setup(struct eco_scan *s, uint32_t call)
{
    char name[120];
    for (uint32_t i = call; i < s->tree.nodes[call].last; i++) {
        const struct eco_py_node *n = &s->tree.nodes[i];
        if (n->kind == ECO_PY_STRING_CONTENT &&
            eco_scan_nightly(s->tree.text + n->start, n->end - n->start, name, sizeof(name))) {
            struct eco_spot spot = eco_scan_spot(s, i);
            eco_scan_add(s, ECO_AUDIT_NIGHTLY_PIN, &spot, "requires %s", name);
        }
    }
}

void eco_rule_install(struct eco_scan *s, uint32_t call, const char *callee)
{
    char name[120];
    if (strcmp(callee, "setup") == 0) {
        check_setup(s, call);
        return;
    }
    if (!starts_programs(callee)) {
        return;
    }
    struct eco_buf b = ECO_BUF_INIT;
    join_strings(s, call, &b);
    const char *text = eco_buf_str(&b);
    if (eco_buf_ok(&b) && strstr(text, "install") &&
        eco_scan_nightly(text, b.len, name, sizeof(name))) {
        struct eco_spot spot = eco_scan_spot(s, call);
        eco_scan_add(s, ECO_AUDIT_NIGHTLY_PIN, &spot, "installs %s", name);
    }
    if (eco_buf_ok(&b) && (strstr(text, "vllm") || strstr(text, "--quantize "))) {
        eco_scan_command(s, text, b.len, eco_scan_spot(s, call).line);
    }
    eco_buf_done(&b);
}
