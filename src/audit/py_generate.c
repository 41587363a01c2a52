/* bs1-loop and unpadded-loop: calls that generate, and the loops around them. */
#include "py_loop.h"

#include <string.h>

/* Why a call is taken for a language model's. */
struct target {
    bool generates;
    bool takes_text; /* a pipeline or vLLM: no tokenizer is needed */
};

static bool any_keyword(struct eco_scan *s, uint32_t call)
{
    static const char *const names[] = {
        "max_new_tokens",  "max_length",     "do_sample",    "temperature",       "top_p",
        "num_beams",       "pad_token_id",   "eos_token_id", "generation_config", "streamer",
        "sampling_params", "attention_mask", "input_ids",    "min_new_tokens",    "max_tokens",
        "prompt_token_ids"};
    uint32_t args = eco_py_child(&s->tree, call, ECO_PYF_ARGUMENTS);
    for (uint32_t c = args == ECO_PY_NO ? args : s->tree.nodes[args].first; c != ECO_PY_NO;
         c = s->tree.nodes[c].next) {
        uint32_t name = s->tree.nodes[c].kind == ECO_PY_KEYWORD
                            ? eco_py_child(&s->tree, c, ECO_PYF_NAME)
                            : ECO_PY_NO;
        for (size_t i = 0; name != ECO_PY_NO && i < sizeof(names) / sizeof(names[0]); i++) {
            if (eco_py_is(&s->tree, name, names[i])) {
                return true;
            }
        }
    }
    return false;
}

static bool made_by(struct eco_scan *s, const struct eco_py_vals *v, const char *const *names)
{
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t m = v->v[i].what == ECO_PYV_CALL ? eco_scan_method(s, v->v[i].node) : ECO_PY_NO;
        const char *callee =
            v->v[i].what == ECO_PYV_CALL ? eco_py_callee(&s->flow, v->v[i].node) : "";
        for (size_t k = 0; names[k]; k++) {
            if (strcmp(callee, names[k]) == 0 || eco_py_is(&s->tree, m, names[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool named_like(struct eco_scan *s, uint32_t object, const char *const *names)
{
    const char *key = object == ECO_PY_NO ? NULL : eco_py_key(&s->flow, object);
    const char *last = key ? eco_py_last(key) : "";
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(last, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static const char *const model_names[] = {"model",  "llm",        "lm",   "base_model",
                                          "_model", "peft_model", "_llm", NULL};
static const char *const pipe_names[] = {"pipe",  "pipeline",     "generator", "text_generator",
                                         "_pipe", "llm_pipeline", NULL};

/* "await engine.generate(…)", "async for out in engine.generate(…)", an engine whose class says
 * that it is asynchronous: a server, which batches what is in flight. */
static bool is_served(struct eco_scan *s, uint32_t call)
{
    static const char *const engines[] = {"AsyncLLMEngine", "AsyncLLM", "AsyncInferenceClient",
                                          "AsyncOpenAI", NULL};
    const struct eco_py_node *n = s->tree.nodes;
    uint32_t p = n[call].parent, callee = eco_py_child(&s->tree, call, ECO_PYF_FUNCTION);
    bool waits = p != ECO_PY_NO && (n[p].kind == ECO_PY_AWAIT ||
                                    ((n[p].kind == ECO_PY_FOR || n[p].kind == ECO_PY_FOR_IN) &&
                                     n[call].field == ECO_PYF_RIGHT &&
                                     strncmp(s->tree.text + n[p].start, "async", 5) == 0));
    if (waits || callee == ECO_PY_NO || n[callee].kind != ECO_PY_ATTRIBUTE) {
        return waits;
    }
    uint32_t object = eco_py_child(&s->tree, callee, ECO_PYF_OBJECT);
    struct eco_py_vals v = eco_py_eval(&s->flow, object);
    bool served = made_by(s, &v, engines);
    for (uint32_t i = 0; i < v.n && !served; i++) { /* AsyncLLMEngine.from_engine_args(…) */
        uint32_t f = v.v[i].what == ECO_PYV_CALL
                         ? eco_py_child(&s->tree, v.v[i].node, ECO_PYF_FUNCTION)
                         : ECO_PY_NO;
        for (size_t k = 0; f != ECO_PY_NO && engines[k]; k++) {
            served |= eco_py_mentions(&s->tree, f, engines[k]);
        }
    }
    return served;
}

static struct target target_of(struct eco_scan *s, uint32_t call)
{
    static const char *const loads[] = {"from_pretrained", "get_peft_model", "init_inference",
                                        "prepare",         "for_inference",  NULL};
    static const char *const vllm[] = {"LLM", NULL}, *const pipes[] = {"pipeline", NULL};
    uint32_t callee = eco_py_child(&s->tree, call, ECO_PYF_FUNCTION);
    struct target t = {false, false};
    if (callee == ECO_PY_NO || is_served(s, call)) {
        return t;
    }
    if (s->tree.nodes[callee].kind == ECO_PY_ATTRIBUTE &&
        eco_py_is(&s->tree, eco_scan_method(s, call), "generate")) {
        uint32_t object = eco_py_child(&s->tree, callee, ECO_PYF_OBJECT);
        struct eco_py_vals v = eco_py_eval(&s->flow, object);
        t.takes_text = made_by(s, &v, vllm) || eco_py_mentions(&s->tree, call, "SamplingParams") ||
                       eco_py_mentions(&s->tree, call, "sampling_params");
        t.generates = t.takes_text || made_by(s, &v, loads) || any_keyword(s, call) ||
                      named_like(s, object, model_names) ||
                      eco_py_mentions(&s->tree, call, "return_tensors");
        return t;
    }
    struct eco_py_vals v = eco_py_callee_vals(&s->flow, call);
    t.takes_text =
        made_by(s, &v, pipes) || (named_like(s, callee, pipe_names) && any_keyword(s, call) &&
                                  eco_py_callee(&s->flow, call)[0] != '\0');
    if (s->tree.nodes[callee].kind == ECO_PY_IDENTIFIER && named_like(s, callee, pipe_names) &&
        any_keyword(s, call)) {
        t.takes_text = true;
    }
    if (eco_py_is(&s->tree, callee, "pipeline") && !made_by(s, &v, pipes)) {
        t.takes_text = false; /* that makes a pipeline */
    }
    t.generates = t.takes_text;
    return t;
}

/* The inputs alone: not temperature=t. */
static bool is_input(struct eco_scan *s, uint32_t arg, uint32_t index)
{
    static const char *const names[] = {"input_ids",   "inputs", "inputs_embeds",
                                        "prompts",     "prompt", "prompt_token_ids",
                                        "text_inputs", "text",   "attention_mask"};
    uint8_t kind = s->tree.nodes[arg].kind;
    if (kind == ECO_PY_DICT_SPLAT || kind == ECO_PY_LIST_SPLAT) {
        return true;
    }
    if (kind != ECO_PY_KEYWORD) {
        return index == 0;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (eco_py_is(&s->tree, eco_py_child(&s->tree, arg, ECO_PYF_NAME), names[i])) {
            return true;
        }
    }
    return false;
}

static struct eco_use inputs_of(struct eco_scan *s, uint32_t call, const struct eco_loop *l)
{
    struct eco_use all = {.unpadded = ECO_PY_NO};
    uint32_t args = eco_py_child(&s->tree, call, ECO_PYF_ARGUMENTS), index = 0;
    for (uint32_t c = args == ECO_PY_NO ? args : s->tree.nodes[args].first; c != ECO_PY_NO;
         c = s->tree.nodes[c].next) {
        if (s->tree.nodes[c].kind == ECO_PY_COMMENT || !is_input(s, c, index++)) {
            continue;
        }
        struct eco_use u = {.unpadded = ECO_PY_NO};
        eco_loop_use(s, l, c, 0, &u);
        all.dep |= u.dep;
        all.batch |= u.dep && u.batch;
        all.text |= u.text;
        all.no_claim |= u.no_claim;
        all.target = all.target ? all.target : u.target;
        all.unpadded = all.unpadded != ECO_PY_NO ? all.unpadded : u.unpadded;
    }
    struct eco_py_arg n = eco_py_call_arg(&s->flow, call, "num_return_sequences", -1);
    bool several = n.have == ECO_PY_PRESENT &&
                   !(n.vals.n == 1 && n.vals.v[0].what == ECO_PYV_NUM && n.vals.v[0].num <= 1);
    all.batch |= several;
    return all;
}

static void report(struct eco_scan *s, uint32_t loop, const struct eco_use *u, const char *how)
{
    struct eco_spot spot = eco_scan_spot(s, loop);
    eco_scan_add(s, ECO_AUDIT_BS1_LOOP, &spot, "each turn generates for one '%.40s'%s: batch 1",
                 u->target ? u->target : "item", how);
}

/* Calls that apply their first argument to every item of the second. Workers of a pool take turns
 * on the one model: each of their calls still decodes one sequence. */
static bool maps(struct eco_scan *s, uint32_t call)
{
    static const char *const names[] = {"map", "apply", "imap", "imap_unordered", "map_async"};
    uint32_t m = eco_scan_method(s, call);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (eco_py_is(&s->tree, m, names[i])) {
            uint32_t second = i == 0 ? eco_py_call_arg(&s->flow, call, NULL, 1).at : ECO_PY_NO;
            struct eco_loop l = {.node = call};
            if (second != ECO_PY_NO) {
                eco_loop_judge(s, second, &l);
            }
            return !l.batched;
        }
    }
    return false;
}

/* A lambda or function that is applied to every item: the call that applies it. */
static uint32_t mapped_by(struct eco_scan *s, uint32_t lambda)
{
    const struct eco_py_node *n = s->tree.nodes;
    uint32_t args = n[lambda].parent;
    uint32_t call =
        args == ECO_PY_NO || n[args].kind != ECO_PY_ARGUMENTS ? ECO_PY_NO : n[args].parent;
    if (call == ECO_PY_NO || n[call].kind != ECO_PY_CALL) {
        return ECO_PY_NO;
    }
    bool batched = eco_py_call_arg(&s->flow, call, "batched", -1).have != ECO_PY_ABSENT;
    return maps(s, call) && !batched ? call : ECO_PY_NO;
}

/* The innermost loop that the inputs hang on decides. */
static bool judge_loop(struct eco_scan *s, const struct eco_loop *l, uint32_t call, uint32_t place,
                       struct target t)
{
    struct eco_use u = inputs_of(s, call, l);
    if (!u.dep) {
        return false;
    }
    if (u.batch && u.unpadded != ECO_PY_NO && !u.no_claim) {
        struct eco_spot spot = eco_scan_spot(s, u.unpadded);
        eco_scan_add(s, ECO_AUDIT_UNPADDED_LOOP, &spot,
                     "a batch is tokenized without padding=True");
    }
    if (!u.batch && !u.no_claim && (u.text || t.takes_text || l->tensors)) {
        report(s, place, &u, "");
    }
    return true;
}

static void climb(struct eco_scan *s, uint32_t call, struct target t)
{
    const struct eco_py_node *n = s->tree.nodes;
    struct eco_loop l;
    for (uint32_t i = n[call].parent; i != ECO_PY_NO; i = n[i].parent) {
        if (n[i].kind == ECO_PY_FUNCTION || !eco_py_spend(&s->flow, 1)) {
            return;
        }
        if (n[i].kind == ECO_PY_LAMBDA) {
            uint32_t map = mapped_by(s, i);
            eco_loop_of_function(s, i, &l);
            if (map == ECO_PY_NO || judge_loop(s, &l, call, map, t)) {
                return;
            }
            continue;
        }
        if (eco_loop_of(s, i, &l) && call >= l.first && call < l.last &&
            judge_loop(s, &l, call, i, t)) {
            return;
        }
    }
}

/* ---- a helper of this file that generates for one of its parameters -------------------------- */

static uint32_t param_index(struct eco_scan *s, uint32_t function, const char *name)
{
    struct eco_loop l;
    eco_loop_of_function(s, function, &l);
    for (uint32_t i = 0; i < l.n; i++) {
        if (strcmp(l.targets[i], name) == 0) {
            return i;
        }
    }
    return ECO_PY_NO;
}

/* The parameter for whose one value `function` generates, or NULL. */
static const char *generates_for(struct eco_scan *s, uint32_t function)
{
    struct eco_loop l;
    eco_loop_of_function(s, function, &l);
    for (uint32_t i = l.first; i < l.last && eco_py_spend(&s->flow, 1); i++) {
        if (s->tree.nodes[i].kind != ECO_PY_CALL) {
            continue;
        }
        struct target t = target_of(s, i);
        struct eco_use u = t.generates ? inputs_of(s, i, &l) : (struct eco_use){.dep = false};
        if (u.dep && !u.batch && !u.no_claim && u.target && (u.text || t.takes_text)) {
            return u.target;
        }
    }
    return NULL;
}

/* pool.submit(answer, p), run_in_executor(None, answer, p): the function, and how many arguments
 * stand before its own. */
struct started {
    uint32_t function;
    int before;
};

static struct started started_by(struct eco_scan *s, uint32_t call)
{
    static const struct {
        const char *name;
        int at;
    } ways[] = {{"submit", 0}, {"to_thread", 0}, {"run_in_executor", 1}};
    uint32_t m = eco_scan_method(s, call);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (eco_py_is(&s->tree, m, ways[i].name)) {
            struct eco_py_arg f = eco_py_call_arg(&s->flow, call, NULL, ways[i].at);
            return (struct started){f.have == ECO_PY_PRESENT ? f.at : ECO_PY_NO, ways[i].at + 1};
        }
    }
    return (struct started){ECO_PY_NO, 0};
}

/* `before`: arguments of the call that are not the helper's. */
static bool judge_helper(struct eco_scan *s, uint32_t call, uint32_t function, const char *param,
                         int before, const struct eco_loop *l, uint32_t place)
{
    bool method = s->tree.nodes[s->flow.scope[function]].kind == ECO_PY_CLASS;
    uint32_t index = param_index(s, function, param);
    int position = index == ECO_PY_NO ? -1 : (int)index - (method ? 1 : 0) + before;
    struct eco_py_arg a = eco_py_call_arg(&s->flow, call, param, position);
    struct eco_use u = {.unpadded = ECO_PY_NO};
    if (a.have != ECO_PY_PRESENT) {
        return false;
    }
    eco_loop_use(s, l, a.at, 0, &u);
    if (u.dep && !u.batch && !u.no_claim) {
        report(s, place, &u, ", through a helper");
    }
    return u.dep;
}

static void climb_helper(struct eco_scan *s, uint32_t call, uint32_t function, int before)
{
    const struct eco_py_node *n = s->tree.nodes;
    const char *param = NULL;
    struct eco_loop l;
    for (uint32_t i = n[call].parent; i != ECO_PY_NO && eco_py_spend(&s->flow, 1);
         i = n[i].parent) {
        if (n[i].kind == ECO_PY_FUNCTION) {
            return;
        }
        uint32_t place = i;
        if (n[i].kind == ECO_PY_LAMBDA) { /* pool.map(lambda p: answer(model, p), prompts) */
            eco_loop_of_function(s, i, &l);
            place = mapped_by(s, i);
        } else if (!eco_loop_of(s, i, &l) || call < l.first || call >= l.last) {
            continue;
        }
        param = param ? param : generates_for(s, function);
        if (!param || place == ECO_PY_NO ||
            judge_helper(s, call, function, param, before, &l, place)) {
            return;
        }
    }
}

/* map(answer, prompts), frame["q"].apply(answer) */
static void check_map(struct eco_scan *s, uint32_t call)
{
    uint32_t args = eco_py_child(&s->tree, call, ECO_PYF_ARGUMENTS);
    uint32_t first = args == ECO_PY_NO ? args : s->tree.nodes[args].first;
    if (first == ECO_PY_NO || s->tree.nodes[first].kind == ECO_PY_LAMBDA ||
        mapped_by(s, first) != call) {
        return;
    }
    struct eco_py_vals v = eco_py_eval(&s->flow, first);
    if (v.n == 1 && v.v[0].what == ECO_PYV_FUNC) {
        struct eco_use u = {.target = generates_for(s, v.v[0].node)};
        if (u.target) {
            report(s, call, &u, ", through a helper");
        }
    }
}

void eco_rule_loop(struct eco_scan *s, uint32_t call)
{
    const struct eco_py_node *n = s->tree.nodes;
    if (is_served(s, call)) {
        return;
    }
    struct target t = target_of(s, call);
    if (t.generates) {
        climb(s, call, t);
        return;
    }
    if (maps(s, call)) {
        check_map(s, call);
        return;
    }
    struct started st = started_by(s, call);
    struct eco_py_vals v = st.function == ECO_PY_NO ? eco_py_callee_vals(&s->flow, call)
                                                    : eco_py_eval(&s->flow, st.function);
    if (v.n == 1 && v.v[0].what == ECO_PYV_FUNC && n[v.v[0].node].kind == ECO_PY_FUNCTION) {
        climb_helper(s, call, v.v[0].node, st.before);
    }
}
