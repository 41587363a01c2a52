/* The resources: the data set, how the numbers come about, and how well they are known. */
#include "mcp_parts.h"
#include "ops/args.h"
#include "ops/records.h"
#include "ops/result.h"

#include <string.h>

#define ROW_PREFIX "ecocompute://data/row/"

enum resource_kind { RESOURCE_TEXT, RESOURCE_CSV, RESOURCE_FIT };

static const struct {
    const char *uri, *name, *title, *type, *about;
    enum resource_kind kind;
    const char *text;
    const size_t *len;
} resources[] = {
    {"ecocompute://data/measurements.csv", "data", "Measured data", "text/csv",
     "Every measured row with grade, source and reason; grade D is shown and never fitted.",
     RESOURCE_CSV, NULL, NULL},
    {"ecocompute://calibration", "calibration", "Calibrations", "text/markdown",
     "How both calibrations do on data that were left out.", RESOURCE_TEXT, eco_mcp_calibration,
     &eco_mcp_calibration_len},
    {"ecocompute://calibration/parameters", "parameters", "Fitted parameters", "application/json",
     "The published curves refitted, and the default predictor's hyper-parameters.", RESOURCE_FIT,
     NULL, NULL},
    {"ecocompute://methodology", "methodology", "Methodology", "text/markdown",
     "What is measured, how a prediction is made, what a basis word means.", RESOURCE_TEXT,
     eco_mcp_methodology, &eco_mcp_methodology_len}};

int eco_mcp_resources_list(struct eco_mcp_message *x, struct eco_err *err)
{
    (void)err;
    eco_jw_object(x->w);
    eco_jw_key(x->w, "resources");
    eco_jw_array(x->w);
    for (size_t i = 0; i < ECO_COUNT(resources); i++) {
        eco_jw_object(x->w);
        eco_jw_kv_str(x->w, "uri", resources[i].uri);
        eco_jw_kv_str(x->w, "name", resources[i].name);
        eco_jw_kv_str(x->w, "title", resources[i].title);
        eco_jw_kv_str(x->w, "description", resources[i].about);
        eco_jw_kv_str(x->w, "mimeType", resources[i].type);
        eco_jw_object_end(x->w);
    }
    eco_jw_array_end(x->w);
    eco_jw_object_end(x->w);
    return 0;
}

int eco_mcp_templates_list(struct eco_mcp_message *x, struct eco_err *err)
{
    (void)err;
    eco_jw_object(x->w);
    eco_jw_key(x->w, "resourceTemplates");
    eco_jw_array(x->w);
    eco_jw_object(x->w);
    eco_jw_kv_str(x->w, "uriTemplate", ROW_PREFIX "{id}");
    eco_jw_kv_str(x->w, "name", "row");
    eco_jw_kv_str(x->w, "title", "One measured row with its baseline");
    eco_jw_kv_str(x->w, "mimeType", "application/json");
    eco_jw_object_end(x->w);
    eco_jw_array_end(x->w);
    eco_jw_object_end(x->w);
    return 0;
}

static void contents(struct eco_mcp_message *x, const char *uri, const char *type, const char *text,
                     size_t len)
{
    eco_jw_object(x->w);
    eco_jw_key(x->w, "contents");
    eco_jw_array(x->w);
    eco_jw_object(x->w);
    eco_jw_kv_str(x->w, "uri", uri);
    eco_jw_kv_str(x->w, "mimeType", type);
    eco_jw_key(x->w, "text");
    eco_jw_strn(x->w, text, len);
    eco_jw_object_end(x->w);
    eco_jw_array_end(x->w);
    eco_jw_object_end(x->w);
}

/* An operation with up to two parameters, its result as JSON or its document. */
static int run_op(struct eco_mcp_message *x, const char *verb, const char *const given[][2],
                  size_t n, void **result, struct eco_err *err)
{
    const struct eco_op *op = eco_op_find(verb);
    struct eco_ctx ctx;
    eco_mcp_ctx(x, &ctx);
    void *args = eco_arena_alloc(x->arena, op->args_size);
    *result = eco_arena_alloc(x->arena, op->result->size);
    int rc = args && *result ? eco_args_init(op, args, x->arena, err)
                             : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = eco_args_set(op, args, x->arena, eco_args_find(op, given[i][0], strlen(given[i][0])),
                          given[i][1], strlen(given[i][1]), err);
    }
    return rc ? rc : op->run(&ctx, args, *result, err);
}

static int json_of(struct eco_mcp_message *x, const char *uri, const char *verb, const void *result)
{
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_json_writer w;
    eco_jw_init(&w, &text, 0);
    eco_result_json(eco_op_find(verb)->result, result, &w);
    contents(x, uri, "application/json", eco_buf_str(&text), text.len);
    eco_buf_done(&text);
    return 0;
}

static int not_there(const char *uri, struct eco_err *err)
{
    eco_err_set(err, ECO_E_NOT_FOUND, "uri", "there is no resource '%.120s'; see resources/list",
                uri);
    return ECO_RPC_NO_RESOURCE;
}

static int read_row(struct eco_mcp_message *x, const char *uri, struct eco_err *err)
{
    const char *const given[][2] = {{"action", "show"}, {"target", uri + strlen(ROW_PREFIX)}};
    void *result = NULL;
    int rc = run_op(x, "data", given, ECO_COUNT(given), &result, err);
    return rc ? not_there(uri, err) : json_of(x, uri, "data", result);
}

static int read_known(struct eco_mcp_message *x, size_t i, struct eco_err *err)
{
    static const char *const export[][2] = {{"action", "export"}};
    void *result = NULL;
    int rc = 0;
    switch (resources[i].kind) {
    case RESOURCE_TEXT:
        contents(x, resources[i].uri, resources[i].type, resources[i].text, *resources[i].len);
        break;
    case RESOURCE_FIT:
        rc = run_op(x, "fit", NULL, 0, &result, err);
        if (rc == 0) {
            json_of(x, resources[i].uri, "fit", result);
        }
        break;
    case RESOURCE_CSV:
        rc = run_op(x, "data", export, ECO_COUNT(export), &result, err);
        if (rc == 0) {
            const struct eco_res_data *d = result;
            contents(x, resources[i].uri, resources[i].type, d->document, strlen(d->document));
        }
        break;
    }
    return rc ? ECO_RPC_INTERNAL : 0;
}

int eco_mcp_resources_read(struct eco_mcp_message *x, struct eco_err *err)
{
    const char *uri = eco_mcp_text_param(x, "uri", err);
    if (!uri) {
        return ECO_RPC_PARAMS;
    }
    for (size_t i = 0; i < ECO_COUNT(resources); i++) {
        if (strcmp(resources[i].uri, uri) == 0) {
            return read_known(x, i, err);
        }
    }
    bool row = strncmp(uri, ROW_PREFIX, strlen(ROW_PREFIX)) == 0 && uri[strlen(ROW_PREFIX)];
    return row ? read_row(x, uri, err) : not_there(uri, err);
}
