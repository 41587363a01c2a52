/* Rules about quantization settings: what a configuration says, and which model it is for. */
#include "scan.h"

#include <string.h>

#define CALL_LOOKED 1000 /* bytes of a call that are searched for a model */

/* The settings of one BitsAndBytesConfig, or of the old keywords of from_pretrained. */
struct quant {
    struct eco_py_arg eight, four, threshold, offload, dq;
};

static struct eco_py_arg setting(struct eco_py_flow *f, const struct eco_py_val *config,
                                 const char *key, int position)
{
    struct eco_py_arg later = eco_py_set_later(f, config, key);
    if (later.have != ECO_PY_ABSENT) {
        return later;
    }
    return config->what == ECO_PYV_DICT ? eco_py_dict_item(f, config, key)
                                        : eco_py_call_arg(f, config->node, key, position);
}

static void read_quant(struct eco_py_flow *f, const struct eco_py_val *config, bool positional,
                       struct quant *q)
{
    q->eight = setting(f, config, "load_in_8bit", positional ? 0 : -1);
    q->four = setting(f, config, "load_in_4bit", positional ? 1 : -1);
    q->threshold = setting(f, config, "llm_int8_threshold", positional ? 2 : -1);
    q->offload = setting(f, config, "llm_int8_enable_fp32_cpu_offload", positional ? 4 : -1);
    q->dq = setting(f, config, "bnb_4bit_use_double_quant", positional ? 8 : -1);
}

static bool on(const struct eco_py_arg *a)
{
    enum eco_py_truth t = eco_py_truth(&a->vals);
    return a->have == ECO_PY_PRESENT && (t == ECO_PY_TRUE_ALWAYS || t == ECO_PY_TRUE_SOMETIMES);
}

static bool always(const struct eco_py_arg *a)
{
    return a->have == ECO_PY_PRESENT && eco_py_truth(&a->vals) == ECO_PY_TRUE_ALWAYS;
}

static bool off(const struct eco_py_arg *a)
{
    return a->have == ECO_PY_ABSENT ||
           (a->have == ECO_PY_PRESENT && eco_py_truth(&a->vals) == ECO_PY_FALSE_ALWAYS);
}

static bool both(const struct eco_py_arg *eight, const struct eco_py_arg *four)
{
    return on(eight) && on(four) && (always(eight) || always(four));
}

/* Default threshold, or a number other than zero. What cannot be told is not held against it. */
static bool splits(const struct eco_py_arg *threshold)
{
    if (threshold->have != ECO_PY_PRESENT) {
        return threshold->have == ECO_PY_ABSENT;
    }
    enum eco_py_truth t = eco_py_truth(&threshold->vals);
    return t == ECO_PY_TRUE_ALWAYS || t == ECO_PY_TRUE_SOMETIMES;
}

static void report_int8(struct eco_scan *s, const struct quant *q)
{
    struct eco_spot spot = eco_scan_spot(s, q->eight.at);
    const struct eco_py_node *n = &s->tree.nodes[q->eight.at];
    if (q->threshold.have == ECO_PY_ABSENT && n->kind == ECO_PY_KEYWORD && !s->line_map) {
        spot.edit = (struct eco_audit_edit){n->end, n->end, ", llm_int8_threshold=0.0"};
    }
    eco_scan_add(s, ECO_AUDIT_INT8_DEFAULT, &spot, "%s",
                 q->threshold.have == ECO_PY_ABSENT
                     ? "load_in_8bit with the default outlier threshold (6.0)"
                     : "load_in_8bit with a threshold other than 0.0 still splits outliers");
}

/* The edit that takes an argument out, with the comma after or before it. */
static struct eco_audit_edit removal(const struct eco_scan *s, uint32_t at)
{
    const struct eco_py_node *n = &s->tree.nodes[at];
    size_t from = n->start, to = n->end;
    const char *t = s->tree.text;
    if (s->line_map || n->kind != ECO_PY_KEYWORD) {
        return (struct eco_audit_edit){0, 0, NULL};
    }
    size_t after = to;
    while (after < s->tree.len && (t[after] == ' ' || t[after] == '\t')) {
        after++;
    }
    if (after < s->tree.len && t[after] == ',') {
        to = after + 1;
        while (to < s->tree.len && strchr(" \t", t[to])) {
            to++;
        }
        if (to < s->tree.len && t[to] == '\n') { /* alone on its line: the line goes */
            size_t begin = from;
            while (begin > 0 && strchr(" \t", t[begin - 1])) {
                begin--;
            }
            if (begin > 0 && t[begin - 1] == '\n') {
                from = begin;
                to++;
            }
        }
        return (struct eco_audit_edit){from, to, ""};
    }
    while (from > 0 && strchr(" \t\r\n", t[from - 1])) {
        from--;
    }
    if (from > 0 && t[from - 1] == ',') {
        return (struct eco_audit_edit){from - 1, to, ""};
    }
    return (struct eco_audit_edit){n->start, n->end, ""};
}

static void report_redundant(struct eco_scan *s, const struct eco_py_val *config,
                             const char *const *keys, const char *reason)
{
    struct eco_py_arg first = {.have = ECO_PY_ABSENT, .at = ECO_PY_NO};
    const char *named = NULL;
    int count = 0;
    for (size_t i = 0; keys[i]; i++) {
        struct eco_py_arg a = setting(&s->flow, config, keys[i], -1);
        if (a.have != ECO_PY_PRESENT || a.at == ECO_PY_NO) {
            continue;
        }
        count++;
        if (first.at == ECO_PY_NO || a.at < first.at) {
            first = a;
            named = keys[i];
        }
    }
    if (count == 0) {
        return;
    }
    struct eco_spot spot = eco_scan_spot(s, first.at);
    if (count == 1) {
        spot.edit = removal(s, first.at);
        spot.safe = true;
    }
    eco_scan_add(s, ECO_AUDIT_REDUNDANT_PARAM, &spot, "%s%s %s", named,
                 count > 1 ? " and others" : "", reason);
}

static void check_redundant(struct eco_scan *s, const struct eco_py_val *config,
                            const struct quant *q)
{
    static const char *const four_bit[] = {"bnb_4bit_compute_dtype", "bnb_4bit_quant_type",
                                           "bnb_4bit_use_double_quant", "bnb_4bit_quant_storage",
                                           NULL};
    static const char *const eight_bit[] = {"llm_int8_threshold", "llm_int8_has_fp16_weight", NULL};
    if (off(&q->four)) {
        report_redundant(s, config, four_bit,
                         on(&q->eight) ? "has no effect in an 8-bit configuration"
                                       : "has no effect without load_in_4bit=True");
    }
    if (off(&q->eight)) {
        report_redundant(s, config, eight_bit,
                         on(&q->four) ? "has no effect in a 4-bit configuration"
                                      : "has no effect without load_in_8bit=True");
    }
}

static void report_mixed(struct eco_scan *s, uint32_t at, const char *where)
{
    struct eco_spot spot = eco_scan_spot(s, at);
    eco_scan_add(s, ECO_AUDIT_MIXED_BITS, &spot,
                 "load_in_8bit and load_in_4bit are both on %s; which one wins depends on the "
                 "version",
                 where);
}

static void report_offload(struct eco_scan *s, const struct eco_py_arg *a, const char *what)
{
    struct eco_spot spot = eco_scan_spot(s, a->at);
    eco_scan_add(s, ECO_AUDIT_CPU_OFFLOAD, &spot, "%s keeps weights outside the card", what);
}

static void check_quant(struct eco_scan *s, const struct quant *q)
{
    if (both(&q->eight, &q->four)) {
        report_mixed(s, q->four.at, "in one configuration");
    } else if (on(&q->eight) && splits(&q->threshold)) {
        report_int8(s, q);
    }
    if (on(&q->offload)) {
        report_offload(s, &q->offload, "llm_int8_enable_fp32_cpu_offload");
    }
}

/* bitsandbytes' own layer: its default threshold is 0.0, which does not split. */
static void check_layer(struct eco_scan *s, uint32_t call)
{
    struct quant q = {.eight = {.at = call},
                      .threshold = eco_py_call_arg(&s->flow, call, "threshold", 4)};
    if (q.threshold.have == ECO_PY_PRESENT && splits(&q.threshold)) {
        q.eight.at = q.threshold.at;
        report_int8(s, &q);
    }
}

void eco_rule_config(struct eco_scan *s, uint32_t call, const char *callee)
{
    if (strcmp(callee, "Linear8bitLt") == 0) {
        check_layer(s, call);
        return;
    }
    if (strcmp(callee, "BitsAndBytesConfig") != 0) {
        return;
    }
    struct eco_py_val config = eco_py_held(&s->flow, call);
    struct quant q;
    read_quant(&s->flow, &config, true, &q);
    check_quant(s, &q);
    if (!(on(&q.eight) && on(&q.four))) {
        check_redundant(s, &config, &q);
    }
}

/* ---- a model and its settings ---------------------------------------------------------------- */

static const char *const id_keys[] = {"pretrained_model_name_or_path",
                                      "model_name",
                                      "model_id",
                                      "model",
                                      "model_path",
                                      "model_name_or_path",
                                      NULL};

/* The smallest model this call may load; 0: not known. */
static double smallest_model(struct eco_scan *s, uint32_t call, int position, const char **id)
{
    double least = 0;
    *id = NULL;
    struct eco_py_arg a = {.have = ECO_PY_ABSENT};
    for (size_t i = 0; id_keys[i] && a.have != ECO_PY_PRESENT; i++) {
        a = eco_py_call_arg(&s->flow, call, id_keys[i], i == 0 ? position : -1);
    }
    for (uint32_t i = 0; a.have == ECO_PY_PRESENT && i < a.vals.n; i++) {
        const struct eco_py_val *v = &a.vals.v[i];
        double b = v->what == ECO_PYV_STR ? eco_audit_model_size(v->s, v->len) : 0;
        if (b > 0 && (least == 0 || b < least)) {
            least = b;
            *id = v->s;
        }
    }
    return least;
}

static void check_small(struct eco_scan *s, uint32_t at, double params_b, const char *id)
{
    if (!(params_b > 0) || params_b >= s->a->crossover_b) {
        return;
    }
    struct eco_spot spot = eco_scan_spot(s, at);
    spot.model = id;
    spot.params_b = params_b;
    if (s->a->card) {
        eco_scan_add(s, ECO_AUDIT_SMALL_4BIT, &spot,
                     "4 bit on %.120s (%.3gB): below the crossover of %.3gB on %s", id, params_b,
                     s->a->crossover_b, s->a->card);
    } else {
        eco_scan_add(s, ECO_AUDIT_SMALL_4BIT, &spot,
                     "4 bit on %.120s (%.3gB): below the largest published crossover (%.3gB)", id,
                     params_b, s->a->crossover_b);
    }
}

static void check_double(struct eco_scan *s, const struct quant *q, double params_b, const char *id)
{
    /* Only with a card in hand can anybody say that the bits are not needed. */
    if (!s->a->card || !on(&q->four) || !on(&q->dq) || !(params_b > 0) ||
        params_b > ECO_AUDIT_DQ_FITS_B(s->a->card_gb)) {
        return;
    }
    struct eco_spot spot = eco_scan_spot(s, q->dq.at);
    spot.model = id;
    spot.params_b = params_b;
    eco_scan_add(s, ECO_AUDIT_DOUBLE_QUANT, &spot,
                 "double quantization of %.120s (%.3gB), which fits %s without it", id, params_b,
                 s->a->card);
}

static bool is_bnb(struct eco_scan *s, const struct eco_py_val *v)
{
    return v->what == ECO_PYV_DICT ||
           (v->what == ECO_PYV_CALL &&
            strcmp(eco_py_callee(&s->flow, v->node), "BitsAndBytesConfig") == 0);
}

/* The configurations a load may get, against its own keywords and its model. */
static void check_configs(struct eco_scan *s, uint32_t call, const struct quant *own,
                          double params_b, const char *id)
{
    static const char *const keys[] = {"quantization_config", "bnb_config", NULL};
    struct eco_py_arg config = {.have = ECO_PY_ABSENT};
    for (size_t i = 0; keys[i] && config.have == ECO_PY_ABSENT; i++) {
        config = eco_py_call_arg(&s->flow, call, keys[i], -1);
    }
    if (config.have == ECO_PY_ABSENT) {
        struct eco_py_arg more = eco_py_call_arg(&s->flow, call, "model_kwargs", -1);
        for (uint32_t i = 0; more.have == ECO_PY_PRESENT && i < more.vals.n; i++) {
            if (more.vals.v[i].what == ECO_PYV_DICT) {
                config = eco_py_dict_item(&s->flow, &more.vals.v[i], "quantization_config");
                struct quant q;
                read_quant(&s->flow, &more.vals.v[i], false, &q);
                check_quant(s, &q);
                if (on(&q.four) && !on(&q.eight)) {
                    check_small(s, q.four.at, params_b, id);
                }
            }
        }
    }
    for (uint32_t i = 0; config.have == ECO_PY_PRESENT && i < config.vals.n; i++) {
        const struct eco_py_val *v = &config.vals.v[i];
        struct quant q;
        if (!is_bnb(s, v)) {
            continue;
        }
        read_quant(&s->flow, v, v->what == ECO_PYV_CALL, &q);
        if (v->what == ECO_PYV_DICT) {
            check_quant(s, &q);
        }
        if (both(&own->eight, &q.four) || both(&q.eight, &own->four)) {
            report_mixed(s, on(&own->eight) ? own->eight.at : own->four.at,
                         "between the call and its configuration");
        } else if (on(&q.four) && !(on(&q.eight) && always(&q.eight))) {
            check_small(s, q.four.at, params_b, id);
            check_double(s, &q, params_b, id);
        }
    }
}

/* Keywords that no model takes although the names are the same. */
static bool is_other_call(const char *callee)
{
    static const char *const others[] = {
        "dict", "add_argument", "set_defaults", "print", "update", "BitsAndBytesConfig",
        "info", "debug",        "namedtuple",   NULL};
    for (size_t i = 0; others[i]; i++) {
        if (strcmp(callee, others[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The dotted name of the class before ".from_pretrained", or NULL. */
static const char *class_of(struct eco_scan *s, uint32_t call, bool *load)
{
    uint32_t callee = eco_py_child(&s->tree, call, ECO_PYF_FUNCTION);
    *load = false;
    if (callee == ECO_PY_NO || s->tree.nodes[callee].kind != ECO_PY_ATTRIBUTE) {
        return NULL;
    }
    uint32_t attr = eco_py_child(&s->tree, callee, ECO_PYF_ATTRIBUTE);
    *load =
        eco_py_is(&s->tree, attr, "from_pretrained") || eco_py_is(&s->tree, attr, "from_model_id");
    struct eco_py_vals v = eco_py_eval(&s->flow, eco_py_child(&s->tree, callee, ECO_PYF_OBJECT));
    for (uint32_t i = 0; i < v.n; i++) {
        if (v.v[i].what == ECO_PYV_NAME) {
            return v.v[i].s;
        }
    }
    return NULL;
}

/* def load(name, **kw): … from_pretrained(name, **kw): what the caller gives goes through. */
static bool passes_on(struct eco_scan *s, uint32_t function)
{
    const struct eco_py_node *n = s->tree.nodes;
    uint32_t params = eco_py_child(&s->tree, function, ECO_PYF_PARAMETERS);
    uint32_t c = params == ECO_PY_NO ? params : n[params].first;
    while (c != ECO_PY_NO && n[c].kind != ECO_PY_DICT_SPLAT_PATTERN) {
        c = n[c].next;
    }
    if (c == ECO_PY_NO) {
        return false;
    }
    for (uint32_t i = c; i < n[function].last && eco_py_spend(&s->flow, 1); i++) {
        uint32_t args =
            n[i].kind == ECO_PY_CALL ? eco_py_child(&s->tree, i, ECO_PYF_ARGUMENTS) : ECO_PY_NO;
        bool loads =
            args != ECO_PY_NO && eco_py_is(&s->tree, eco_scan_method(s, i), "from_pretrained");
        for (uint32_t a = loads ? n[args].first : ECO_PY_NO; a != ECO_PY_NO; a = n[a].next) {
            if (n[a].kind == ECO_PY_DICT_SPLAT) {
                return true;
            }
        }
    }
    return false;
}

/* BitsAndBytesConfig.from_dict({...}) */
static void check_from_dict(struct eco_scan *s, uint32_t call, const char *class_name)
{
    size_t n = class_name ? strlen(class_name) : 0, want = strlen("BitsAndBytesConfig");
    if (n < want || strcmp(class_name + n - want, "BitsAndBytesConfig") != 0 ||
        !eco_py_is(&s->tree, eco_scan_method(s, call), "from_dict")) {
        return;
    }
    struct eco_py_arg a = eco_py_call_arg(&s->flow, call, "config_dict", 0);
    for (uint32_t i = 0; a.have == ECO_PY_PRESENT && i < a.vals.n; i++) {
        struct quant q;
        if (a.vals.v[i].what == ECO_PYV_DICT) {
            read_quant(&s->flow, &a.vals.v[i], false, &q);
            check_quant(s, &q);
        }
    }
}

/* vLLM's bitsandbytes is 4 bit. */
static void check_vllm_bits(struct eco_scan *s, uint32_t call, double params_b, const char *id)
{
    struct eco_py_arg a = eco_py_call_arg(&s->flow, call, "quantization", -1);
    for (uint32_t i = 0; a.have == ECO_PY_PRESENT && i < a.vals.n; i++) {
        if (a.vals.v[i].what == ECO_PYV_STR && strcmp(a.vals.v[i].s, "bitsandbytes") == 0) {
            check_small(s, a.at, params_b, id);
        }
    }
}

static bool has_word(const char *s, size_t len, const char *const *words)
{
    for (size_t at = 0; at < len; at++) {
        for (size_t i = 0; words[i]; i++) {
            size_t n = strlen(words[i]);
            if (n <= len - at && eco_str_ncasecmp(s + at, words[i], n) == 0) {
                return true;
            }
        }
    }
    return false;
}

/*
 * "pcmtools.read(p, load_in_8bit=True)": the same keyword of another library. A callee whose name
 * speaks of models, an argument that is a model's id, the module of a known library make it ours.
 */
static bool is_foreign(struct eco_scan *s, uint32_t call, const struct eco_py_val *callee,
                       const char *id)
{
    static const char *const models[] = {
        "model",     "llm",          "causal",       "pipeline", "quant",      "bnb",
        "hf",        "transformers", "bitsandbytes", "peft",     "accelerate", "optimum",
        "auto_",     "trl",          "unsloth",      "vllm",     "lm_eval",    "lmeval",
        "langchain", "llama",        "sentence",     "hugging",  NULL};
    if (id || s->line_map) {
        return false;
    }
    if (callee && callee->what == ECO_PYV_NAME && has_word(callee->s, callee->len, models)) {
        return false;
    }
    const struct eco_py_node *n = &s->tree.nodes[call];
    size_t len = n->end - n->start < CALL_LOOKED ? n->end - n->start : CALL_LOOKED;
    if (!eco_py_spend(&s->flow, len) ||
        has_word(s->tree.text + n->start, len, models)) { /* partial(AutoModel.from_…, …) */
        return false;
    }
    bool imported = callee && callee->what == ECO_PYV_NAME && memchr(callee->s, '.', callee->len);
    return imported || !s->loads_models;
}

/* lm_eval.simple_evaluate(model_args="pretrained=…,load_in_8bit=True") */
static void check_model_args(struct eco_scan *s, uint32_t call)
{
    struct eco_py_arg a = eco_py_call_arg(&s->flow, call, "model_args", -1);
    for (uint32_t i = 0; a.have == ECO_PY_PRESENT && i < a.vals.n; i++) {
        const struct eco_py_val *v = &a.vals.v[i];
        if (v->what == ECO_PYV_STR && strstr(v->s, "load_in_8bit=True") &&
            !strstr(v->s, "llm_int8_threshold=0")) {
            struct eco_spot spot = eco_scan_spot(s, a.at);
            eco_scan_add(s, ECO_AUDIT_INT8_DEFAULT, &spot,
                         "load_in_8bit with the default outlier threshold (6.0)");
        }
    }
}

void eco_rule_load(struct eco_scan *s, uint32_t call, const char *callee)
{
    bool load;
    const char *class_name = class_of(s, call, &load), *id;
    struct eco_py_val self = {.what = ECO_PYV_CALL, .node = call};
    struct quant own;
    struct eco_py_vals target = eco_py_callee_vals(&s->flow, call);
    bool ours = target.n && (target.v[0].what == ECO_PYV_FUNC || target.v[0].what == ECO_PYV_CLASS);
    bool wrapper = ours && !load && target.n == 1 && target.v[0].what == ECO_PYV_FUNC &&
                   passes_on(s, target.v[0].node);
    check_from_dict(s, call, class_name);
    if (is_other_call(callee) || (ours && !load && !wrapper)) {
        return;
    }
    bool pipeline = strcmp(callee, "pipeline") == 0;
    double params_b = smallest_model(s, call, pipeline ? 1 : 0, &id);
    read_quant(&s->flow, &self, false, &own);
    bool says = own.eight.have != ECO_PY_ABSENT || own.four.have != ECO_PY_ABSENT;
    if (says && !load && !wrapper && !pipeline &&
        is_foreign(s, call, target.n ? &target.v[0] : NULL, id)) {
        return;
    }
    check_quant(s, &own);
    check_model_args(s, call);
    if (on(&own.four) && !on(&own.eight)) {
        check_small(s, own.four.at, params_b, id);
        check_double(s, &own, params_b, id);
    }
    check_configs(s, call, &own, params_b, id);
    check_vllm_bits(s, call, params_b, id);
    if (load && class_name) {
        eco_rule_device(s, call, class_name);
    }
    if (load) {
        eco_rule_fp8_load(s, call);
    }
}
