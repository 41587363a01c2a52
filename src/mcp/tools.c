/* The tools: every operation that has a tool name, its schemas from its tables. */
#include "mcp_parts.h"
#include "ops/args.h"
#include "ops/doc.h"
#include "ops/result.h"

#include <string.h>

#define LEVEL_WARNING 3

static bool offered(const struct eco_mcp_message *x, const struct eco_op *op)
{
    return op->tool && (!eco_mcp_is_local(op) || x->m->o.measure_program);
}

static bool takes_no_files(const struct eco_param *p)
{
    return !(p->flags & ECO_PF_NATIVE);
}

static void one_tool(const struct eco_op *op, struct eco_json_writer *w)
{
    bool local = eco_mcp_is_local(op);
    eco_jw_object(w);
    eco_jw_kv_str(w, "name", op->tool);
    eco_jw_kv_str(w, "title", op->summary);
    eco_jw_kv_str(w, "description", op->about);
    eco_jw_key(w, "inputSchema");
    eco_params_schema_of(op, local ? eco_mcp_measure_takes : takes_no_files, w);
    eco_jw_key(w, "outputSchema");
    eco_result_schema(op->result, w);
    eco_jw_key(w, "annotations");
    eco_jw_object(w);
    eco_jw_kv_bool(w, "readOnlyHint", !local);
    eco_jw_kv_bool(w, "destructiveHint", false);
    eco_jw_kv_bool(w, "idempotentHint", !local);
    eco_jw_kv_bool(w, "openWorldHint", false);
    eco_jw_object_end(w);
    eco_jw_object_end(w);
}

/* All fits one page, so no cursor was ever given out. */
static int no_cursor(const struct eco_mcp_message *x, struct eco_err *err)
{
    if (!eco_json_get(x->params, "cursor")) {
        return 0;
    }
    eco_err_set(err, ECO_E_INVALID, "cursor", "no such 'cursor': the list has one page");
    return ECO_RPC_PARAMS;
}

int eco_mcp_tools_list(struct eco_mcp_message *x, struct eco_err *err)
{
    int code = no_cursor(x, err);
    if (code) {
        return code;
    }
    eco_jw_object(x->w);
    eco_jw_key(x->w, "tools");
    eco_jw_array(x->w);
    for (size_t i = 0; i < eco_ops_count; i++) {
        if (offered(x, &eco_ops[i])) {
            one_tool(&eco_ops[i], x->w);
        }
    }
    eco_jw_array_end(x->w);
    eco_jw_object_end(x->w);
    return 0;
}

/* NULL with `err`: there is none of this name. */
static const struct eco_op *find_tool(const struct eco_mcp_message *x, const char *name,
                                      struct eco_err *err)
{
    struct eco_nearest near = eco_nearest_start(name, strlen(name));
    for (size_t i = 0; i < eco_ops_count; i++) {
        if (!offered(x, &eco_ops[i])) {
            continue;
        }
        if (strcmp(eco_ops[i].tool, name) == 0) {
            return &eco_ops[i];
        }
        eco_nearest_offer(&near, eco_ops[i].tool);
    }
    eco_err_set(err, ECO_E_UNKNOWN_NAME, "name",
                near.best ? "unknown tool '%.60s': did you mean '%s'?"
                          : "unknown tool '%.60s'; see tools/list",
                name, near.best ? near.best : "");
    return NULL;
}

/* A wrong argument is an answer that the model can read and mend, not a broken protocol. */
static void error_result(struct eco_mcp_message *x, const struct eco_err *why)
{
    struct eco_err told = *why;
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_json_writer w;
    eco_jw_init(&w, &text, 0);
    eco_error_tell(x->lang, &told);
    eco_error_json(&told, &w);
    eco_jw_object(x->w);
    eco_jw_key(x->w, "content");
    eco_jw_array(x->w);
    eco_mcp_text_content(x->w, eco_buf_str(&text), text.len);
    eco_jw_array_end(x->w);
    eco_jw_kv_bool(x->w, "isError", true);
    eco_jw_object_end(x->w);
    eco_buf_done(&text);
}

static int run_tool(struct eco_mcp_message *x, const struct eco_op *op,
                    const struct eco_json *arguments, struct eco_ctx *ctx, struct eco_buf *warnings,
                    void **result, struct eco_err *err)
{
    eco_mcp_ctx(x, ctx);
    ctx->warnings = warnings;
    void *args = eco_arena_alloc(x->arena, op->args_size);
    *result = eco_arena_alloc(x->arena, op->result->size);
    if (!args || !*result) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    int rc = eco_args_init(op, args, x->arena, err);
    if (rc == 0 && arguments) {
        rc = eco_args_set_json(op, args, x->arena, arguments, false, err);
    }
    rc = rc ? rc : eco_args_finish(op, args, err);
    return rc ? rc : op->run(ctx, args, *result, err);
}

/* Words for the model to read, and the same as data. */
static void good_result(struct eco_mcp_message *x, const struct eco_op *op,
                        const struct eco_ctx *ctx, const void *result,
                        const struct eco_buf *warnings)
{
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_doc doc;
    eco_doc_init(&doc, ECO_DOC_MARKDOWN, &text, x->arena, 100);
    doc.quiet = true;
    doc.lang = ctx->lang;
    doc.persona = ctx->persona;
    op->view(&doc, result);
    eco_doc_end(&doc);
    eco_jw_object(x->w);
    eco_jw_key(x->w, "content");
    eco_jw_array(x->w);
    eco_mcp_text_content(x->w, eco_buf_str(&text), text.len);
    if (warnings->len) {
        eco_mcp_text_content(x->w, eco_buf_str(warnings), warnings->len);
    }
    eco_jw_array_end(x->w);
    eco_jw_key(x->w, "structuredContent");
    eco_result_json(op->result, result, x->w);
    eco_jw_kv_bool(x->w, "isError", false);
    eco_jw_object_end(x->w);
    eco_buf_done(&text);
}

static void call_tool(struct eco_mcp_message *x, const struct eco_op *op,
                      const struct eco_json *arguments)
{
    struct eco_buf warnings = ECO_BUF_INIT;
    struct eco_err why = {0};
    struct eco_ctx ctx;
    void *result = NULL;
    if (run_tool(x, op, arguments, &ctx, &warnings, &result, &why)) {
        error_result(x, &why);
    } else {
        good_result(x, op, &ctx, result, &warnings);
    }
    if (warnings.len) {
        eco_mcp_log(x, LEVEL_WARNING, eco_buf_str(&warnings), warnings.len);
    }
    eco_buf_done(&warnings);
}

/* The child's JSON is the result; its verdict is the words. */
static void call_measure(struct eco_mcp_message *x, const struct eco_op *op,
                         const struct eco_json *arguments)
{
    struct eco_buf json = ECO_BUF_INIT;
    struct eco_json_doc doc = {0};
    struct eco_err why = {0};
    int rc = eco_mcp_measure(x, op, arguments, &json, &why);
    rc = rc ? rc : eco_json_parse(&doc, eco_buf_str(&json), json.len, &why);
    if (rc) {
        error_result(x, &why);
        eco_buf_done(&json);
        return;
    }
    const struct eco_json *verdict = eco_json_get(doc.root, "verdict");
    bool told = verdict && verdict->type == ECO_JSON_STRING;
    eco_jw_object(x->w);
    eco_jw_key(x->w, "content");
    eco_jw_array(x->w);
    eco_mcp_text_content(x->w, told ? verdict->str : eco_buf_str(&json),
                         told ? verdict->len : json.len);
    eco_jw_array_end(x->w);
    eco_jw_key(x->w, "structuredContent");
    eco_jw_value(x->w, doc.root);
    eco_jw_kv_bool(x->w, "isError", false);
    eco_jw_object_end(x->w);
    eco_json_done(&doc);
    eco_buf_done(&json);
}

int eco_mcp_tools_call(struct eco_mcp_message *x, struct eco_err *err)
{
    const char *name = eco_mcp_text_param(x, "name", err);
    const struct eco_json *arguments = eco_json_get(x->params, "arguments");
    if (!name) {
        return ECO_RPC_PARAMS;
    }
    const struct eco_op *op = find_tool(x, name, err);
    if (!op) {
        return ECO_RPC_PARAMS;
    }
    if (arguments && arguments->type != ECO_JSON_OBJECT) {
        eco_err_set(err, ECO_E_INVALID, "arguments", "'arguments' must be an object");
        return ECO_RPC_PARAMS;
    }
    if (eco_mcp_is_local(op)) {
        call_measure(x, op, arguments);
    } else {
        call_tool(x, op, arguments);
    }
    return 0;
}
