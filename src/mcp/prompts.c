/* The prompts: the five protocols, each as what to ask which tool and what to say then. */
#include "mcp_parts.h"
#include "ops/args.h"

#include <string.h>

#define MAX_ARGUMENTS 6

struct prompt_argument {
    const char *name, *help;
    bool required;
};

struct prompt {
    const char *name, *title, *about, *tool;
    struct prompt_argument argument[MAX_ARGUMENTS];
    const char *task; /* what to do; the arguments follow as a list */
};

#define MODEL                                                                                      \
    {                                                                                              \
        "model", "name, Hugging Face id or size (7B)", true                                        \
    }
#define GPU                                                                                        \
    {                                                                                              \
        "gpu", "the card: rtx4090, a100, h100 …", true                                             \
    }
#define PRECISION                                                                                  \
    {                                                                                              \
        "precision", "NF4, INT8, FP8, GPTQ-INT4 …", false                                          \
    }

/* The same words end each: what keeps an answer honest. */
#define RULES                                                                                      \
    "\n\nGive every figure with its range and its basis word as the tool returns them. Say which " \
    "alerts match before anything else. Where the tool says that data are missing, say so; do "    \
    "not fill the gap. End with the next command to run and the citation from the result."

static const struct prompt prompts[] = {
    {"optimize",
     "Recommend a configuration",
     "Which precision, batch and engine to deploy within the budgets.",
     "recommend_config",
     {MODEL,
      GPU,
      {"objective", "min_energy, min_latency, max_throughput, min_vram, min_cost", false},
      {"max_latency_ms", "time per output token that must hold", false},
      {"requests", "requests a month", false}},
     "Recommend how to deploy the model below. Call recommend_config, then estimate_cost for what "
     "it recommends. Answer in this order: recommended configuration; performance; energy and "
     "efficiency; monthly cost and carbon; why; alternatives and what they trade; pitfalls; how "
     "sure this is." RULES},
    {"diagnose",
     "Find out why a run is slow or hungry",
     "From what was seen to the likely cause and the fixes in order.",
     "diagnose",
     {MODEL,
      GPU,
      PRECISION,
      {"throughput", "tokens per second seen", false},
      {"power_w", "watts seen", false},
      {"batch", "sequences decoded together", false}},
     "Diagnose the run below. Call diagnose. Answer in this order: pattern found and how likely; "
     "evidence; root cause; fixes, the best first; expected improvement; how to check that it "
     "worked." RULES},
    {"compare",
     "Compare precisions",
     "Precisions side by side on one card.",
     "compare_precisions",
     {MODEL, GPU, {"precisions", "comma-separated; default the usual ones", false}},
     "Compare precisions for the model below. Call compare_precisions. Answer with one table "
     "ranked by energy (change with range, joules, speed, memory, basis), then which to take and "
     "when another is better." RULES},
    {"estimate",
     "Estimate energy, cost and carbon",
     "Does quantization pay here, and what does a month cost?",
     "should_i_quantize",
     {MODEL,
      GPU,
      PRECISION,
      {"requests", "requests a month", false},
      {"region", "whose electricity", false}},
     "Estimate what the model below costs. Call should_i_quantize, then estimate_cost. Answer in "
     "this order: does the precision save energy here; current against best configuration a "
     "month in kWh, money and CO2; assumptions that matter." RULES},
    {"audit",
     "Audit code for energy traps",
     "Which lines cost energy, and how to mend them.",
     "audit_code",
     {{"text", "the code; or call the tool with the file you have open", false},
      {"gpu", "the card it will run on", false},
      {"params_b", "size in billions, where the code does not name the model", false}},
     "Audit the code below. Call audit_code with its text and file name. Answer in this order: "
     "critical findings; warnings; good practices seen; for each finding the line, why it costs "
     "energy, how much, and the corrected code." RULES}};

int eco_mcp_prompts_list(struct eco_mcp_message *x, struct eco_err *err)
{
    (void)err;
    eco_jw_object(x->w);
    eco_jw_key(x->w, "prompts");
    eco_jw_array(x->w);
    for (size_t i = 0; i < ECO_COUNT(prompts); i++) {
        eco_jw_object(x->w);
        eco_jw_kv_str(x->w, "name", prompts[i].name);
        eco_jw_kv_str(x->w, "title", prompts[i].title);
        eco_jw_kv_str(x->w, "description", prompts[i].about);
        eco_jw_key(x->w, "arguments");
        eco_jw_array(x->w);
        for (size_t k = 0; k < MAX_ARGUMENTS && prompts[i].argument[k].name; k++) {
            eco_jw_object(x->w);
            eco_jw_kv_str(x->w, "name", prompts[i].argument[k].name);
            eco_jw_kv_str(x->w, "description", prompts[i].argument[k].help);
            eco_jw_kv_bool(x->w, "required", prompts[i].argument[k].required);
            eco_jw_object_end(x->w);
        }
        eco_jw_array_end(x->w);
        eco_jw_object_end(x->w);
    }
    eco_jw_array_end(x->w);
    eco_jw_object_end(x->w);
    return 0;
}

static const struct prompt_argument *argument_of(const struct prompt *p, const char *name)
{
    for (size_t k = 0; k < MAX_ARGUMENTS && p->argument[k].name; k++) {
        if (strcmp(p->argument[k].name, name) == 0) {
            return &p->argument[k];
        }
    }
    return NULL;
}

static int check_arguments(const struct prompt *p, const struct eco_json *given,
                           struct eco_err *err)
{
    for (const struct eco_json *v = given ? given->child : NULL; v; v = v->next) {
        if (!argument_of(p, v->key)) {
            return eco_err_set(err, ECO_E_UNKNOWN_PARAM, v->key,
                               "the prompt '%s' has no argument '%.60s'; see prompts/list", p->name,
                               v->key);
        }
        if (v->type != ECO_JSON_STRING) {
            return eco_err_set(err, ECO_E_INVALID, v->key, "'%.60s' must be text", v->key);
        }
    }
    for (size_t k = 0; k < MAX_ARGUMENTS && p->argument[k].name; k++) {
        if (p->argument[k].required && !eco_json_get(given, p->argument[k].name)) {
            return eco_err_set(err, ECO_E_MISSING, p->argument[k].name, "'%s' is missing: %s",
                               p->argument[k].name, p->argument[k].help);
        }
    }
    return 0;
}

static void message(struct eco_mcp_message *x, const struct prompt *p, const struct eco_json *given)
{
    struct eco_buf text = ECO_BUF_INIT;
    eco_buf_printf(&text, "%s\n", p->task);
    for (const struct eco_json *v = given ? given->child : NULL; v; v = v->next) {
        eco_buf_printf(&text, "\n- %s: ", v->key);
        eco_buf_put(&text, v->str, v->len);
    }
    eco_jw_object(x->w);
    eco_jw_kv_str(x->w, "description", p->about);
    eco_jw_key(x->w, "messages");
    eco_jw_array(x->w);
    eco_jw_object(x->w);
    eco_jw_kv_str(x->w, "role", "user");
    eco_jw_key(x->w, "content");
    eco_mcp_text_content(x->w, eco_buf_str(&text), text.len);
    eco_jw_object_end(x->w);
    eco_jw_array_end(x->w);
    eco_jw_object_end(x->w);
    eco_buf_done(&text);
}

static const struct prompt *find_prompt(const char *name, struct eco_err *err)
{
    struct eco_nearest near = eco_nearest_start(name, strlen(name));
    for (size_t i = 0; i < ECO_COUNT(prompts); i++) {
        if (strcmp(prompts[i].name, name) == 0) {
            return &prompts[i];
        }
        eco_nearest_offer(&near, prompts[i].name);
    }
    eco_err_set(err, ECO_E_UNKNOWN_NAME, "name",
                near.best ? "unknown prompt '%.60s': did you mean '%s'?"
                          : "unknown prompt '%.60s'; see prompts/list",
                name, near.best ? near.best : "");
    return NULL;
}

int eco_mcp_prompts_get(struct eco_mcp_message *x, struct eco_err *err)
{
    const char *name = eco_mcp_text_param(x, "name", err);
    const struct eco_json *given = eco_json_get(x->params, "arguments");
    const struct prompt *p = name ? find_prompt(name, err) : NULL;
    if (!p) {
        return ECO_RPC_PARAMS;
    }
    if (given && given->type != ECO_JSON_OBJECT) {
        eco_err_set(err, ECO_E_INVALID, "arguments", "'arguments' must be an object");
        return ECO_RPC_PARAMS;
    }
    if (check_arguments(p, given, err)) {
        return ECO_RPC_PARAMS;
    }
    message(x, p, given);
    return 0;
}
