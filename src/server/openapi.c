/* OpenAPI 3.1, written from the table of operations: parameters, results, examples, errors. */
#include "op_example.h"
#include "ops/args.h"
#include "ops/result.h"
#include "server_parts.h"

#include <stdio.h>
#include <string.h>

static void key_object(struct eco_json_writer *w, const char *key)
{
    eco_jw_key(w, key);
    eco_jw_object(w);
}

static void ref(struct eco_json_writer *w, const char *key, const char *kind, const char *name)
{
    char to[128];
    snprintf(to, sizeof to, "#/components/%s/%s", kind, name);
    key_object(w, key);
    eco_jw_kv_str(w, "$ref", to);
    eco_jw_object_end(w);
}

/* A reference as a member of a list. */
static void ref_item(struct eco_json_writer *w, const char *name, const char *suffix)
{
    char to[128];
    snprintf(to, sizeof to, "#/components/schemas/%s%s", name, suffix);
    eco_jw_object(w);
    eco_jw_kv_str(w, "$ref", to);
    eco_jw_object_end(w);
}

/* ---- errors -------------------------------------------------------------------------------- */

/* X(name, status, description) */
#define REFUSALS(X)                                                                                \
    X(BadRequest, 400, "a parameter is unknown, malformed, repeated or out of range")              \
    X(Unauthorized, 401, "the owner's bearer token is missing")                                    \
    X(Forbidden, 403, "a wrong token, or an address that is closed here")                          \
    X(NotFound, 404, "nothing is at this address, or a named thing is not there")                  \
    X(MethodNotAllowed, 405, "the address has no such method; see Allow")                          \
    X(TooLarge, 413, "the body or a value is larger than its limit")                               \
    X(UriTooLong, 414, "the address is longer than 8192 bytes")                                    \
    X(UnsupportedMediaType, 415, "the body is packed, or a form and not JSON")                     \
    X(Unprocessable, 422, "the document in the request is read, and wrong")                        \
    X(TooManyRequests, 429, "too many requests of this client")                                    \
    X(HeadersTooLarge, 431, "the headers are larger than 16384 bytes")                             \
    X(Internal, 500, "a fault of the server")                                                      \
    X(Unavailable, 503, "the store is damaged, locked, full, read-only or out of reach; or busy")  \
    X(Unsupported, 501, "known, but there are no data for it or it is not built in")

static const struct {
    const char *name, *status, *text;
} refusals[] = {
#define X(name, status, text) {#name, #status, text},
    REFUSALS(X)
#undef X
};

static void error_schema(struct eco_json_writer *w)
{
    static const char schema[] =
        "{\"type\":\"object\",\"required\":[\"error\"],\"additionalProperties\":false,"
        "\"properties\":{\"error\":{\"type\":\"object\",\"required\":[\"code\",\"message\","
        "\"param\"],\"additionalProperties\":false,\"properties\":{\"code\":{\"type\":\"string\","
        "\"description\":\"one word, stable\"},\"message\":{\"type\":\"string\",\"description\":"
        "\"what is wrong, with the range or the nearest valid value\"},\"param\":{\"type\":["
        "\"string\",\"null\"],\"description\":\"the parameter it is about\"},\"line\":{\"type\":"
        "\"integer\"},\"column\":{\"type\":\"integer\"}}}}}";
    eco_jw_key(w, "Error");
    eco_jw_raw(w, schema, sizeof schema - 1);
}

static void refusal_responses(struct eco_json_writer *w)
{
    key_object(w, "responses");
    for (size_t i = 0; i < ECO_COUNT(refusals); i++) {
        key_object(w, refusals[i].name);
        eco_jw_kv_str(w, "description", refusals[i].text);
        if (strcmp(refusals[i].status, "429") == 0) {
            static const char retry[] = "{\"Retry-After\":{\"description\":\"seconds to wait\","
                                        "\"schema\":{\"type\":\"integer\",\"minimum\":1}}}";
            eco_jw_key(w, "headers");
            eco_jw_raw(w, retry, sizeof retry - 1);
        }
        key_object(w, "content");
        key_object(w, "application/json");
        ref(w, "schema", "schemas", "Error");
        eco_jw_object_end(w);
        eco_jw_object_end(w);
        eco_jw_object_end(w);
    }
    eco_jw_object_end(w);
}

static void refusal_refs(struct eco_json_writer *w)
{
    for (size_t i = 0; i < ECO_COUNT(refusals); i++) {
        ref(w, refusals[i].status, "responses", refusals[i].name);
    }
}

/* ---- an operation -------------------------------------------------------------------------- */

/* The schema of one parameter is a member of the operation's parameter schema. */
static void parameter(const struct eco_op *op, const struct eco_param *p,
                      const struct eco_json *schema, const struct eco_example *x,
                      struct eco_json_writer *w)
{
    bool list = p->type == ECO_T_LIST_F64 || p->type == ECO_T_LIST_STR;
    (void)op;
    eco_jw_object(w);
    eco_jw_kv_str(w, "name", p->name);
    eco_jw_kv_str(w, "in", "query");
    eco_jw_kv_str(w, "description", p->help);
    if (p->flags & ECO_PF_REQUIRED) {
        eco_jw_kv_bool(w, "required", true);
    }
    if (list) {
        eco_jw_kv_str(w, "style", "form");
        eco_jw_kv_bool(w, "explode", false);
    }
    eco_jw_key(w, "schema");
    eco_jw_value(w, schema);
    for (size_t i = 0; x && i < x->n; i++) {
        if (x->param[i] == p && !list) {
            eco_jw_key(w, "example");
            if (p->type == ECO_T_STR) {
                eco_jw_str(w, x->text[i]);
            } else {
                eco_jw_raw(w, x->text[i], strlen(x->text[i]));
            }
        }
    }
    eco_jw_object_end(w);
}

static void parameters(const struct eco_op *op, const struct eco_example *x,
                       struct eco_json_writer *w)
{
    struct eco_buf text = ECO_BUF_INIT;
    struct eco_json_writer tw;
    struct eco_json_doc doc = {0};
    eco_jw_init(&tw, &text, 0);
    eco_params_schema(op, false, &tw);
    eco_jw_key(w, "parameters");
    eco_jw_array(w);
    if (eco_json_parse(&doc, eco_buf_str(&text), text.len, NULL) == 0) {
        const struct eco_json *properties = eco_json_get(doc.root, "properties");
        for (size_t i = 0; i < op->n_params; i++) {
            const struct eco_json *schema = eco_json_get(properties, op->params[i].name);
            if (schema) {
                parameter(op, &op->params[i], schema, x, w);
            }
        }
        eco_json_done(&doc);
    }
    eco_jw_array_end(w);
    eco_buf_done(&text);
}

/* What 200 has: the result; beside it the receipt of a report that was there before, or a whole
 * list of rows. */
static void result_schema(const struct eco_op *op, const struct eco_route *r,
                          struct eco_json_writer *w)
{
    static const char list[] = "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}";
    bool lists = op == &eco_store_ops[ECO_STORE_LIST];
    if (!lists && !r->store_op) {
        ref(w, "schema", "schemas", op->result->name);
        return;
    }
    key_object(w, "schema");
    eco_jw_key(w, "anyOf");
    eco_jw_array(w);
    ref_item(w, op->result->name, "");
    if (lists) {
        eco_jw_raw(w, list, sizeof list - 1);
    } else {
        ref_item(w, r->store_op->result->name, "");
    }
    eco_jw_array_end(w);
    eco_jw_object_end(w);
}

static void result_response(const struct eco_op *op, const struct eco_route *r,
                            const struct eco_example *x, bool get, struct eco_json_writer *w)
{
    static const char cached[] =
        "{\"ETag\":{\"description\":\"strong: a function of program, data and question\","
        "\"schema\":{\"type\":\"string\"}}}";
    key_object(w, "200");
    eco_jw_kv_str(w, "description", op->summary);
    if (get && !r->live) {
        eco_jw_key(w, "headers");
        eco_jw_raw(w, cached, sizeof cached - 1);
    }
    key_object(w, "content");
    key_object(w, "application/json");
    result_schema(op, r, w);
    if (x) {
        eco_jw_key(w, "example");
        eco_result_json(op->result, x->result, w);
    }
    eco_jw_object_end(w);
    if (op == &eco_store_ops[ECO_STORE_LIST]) {
        static const char csv[] = "{\"schema\":{\"type\":\"string\"}}";
        eco_jw_key(w, "text/csv");
        eco_jw_raw(w, csv, sizeof csv - 1);
    }
    eco_jw_object_end(w);
    eco_jw_object_end(w);
}

static bool is_store_op(const struct eco_op *op)
{
    bool found = false;
    for (size_t i = 0; i < ECO_STORE_OPS; i++) {
        found = found || op == &eco_store_ops[i];
    }
    return found;
}

/* Nobody but the owner; or the owner for more, or where the server was started with a token. */
static void security(const struct eco_route *r, struct eco_json_writer *w)
{
    static const char owner[] = "[{\"owner\":[]}]", also[] = "[{},{\"owner\":[]}]";
    if (r->owner) {
        eco_jw_key(w, "security");
        eco_jw_raw(w, owner, sizeof owner - 1);
    } else if (r->store_op || r->op == &eco_store_ops[ECO_STORE_LIST]) {
        eco_jw_key(w, "security");
        eco_jw_raw(w, also, sizeof also - 1);
    }
}

static void method_head(const struct eco_route *r, const char *method, struct eco_json_writer *w)
{
    const struct eco_op *op = r->op;
    char id[64];
    key_object(w, strcmp(method, "get") == 0 ? "get" : "post");
    snprintf(id, sizeof id, "%s_%s", method, op->name);
    eco_jw_kv_str(w, "operationId", id);
    eco_jw_key(w, "tags");
    eco_jw_array(w);
    eco_jw_str(w, is_store_op(op) ? "store" : "operations");
    eco_jw_array_end(w);
    eco_jw_kv_str(w, "summary", op->summary);
    eco_jw_kv_str(w, "description", op->about);
    security(r, w);
}

static void get_method(const struct eco_route *r, const struct eco_example *x,
                       struct eco_json_writer *w)
{
    const struct eco_op *op = r->op;
    method_head(r, "get", w);
    parameters(op, x, w);
    key_object(w, "responses");
    result_response(op, r, x, true, w);
    if (!r->live) {
        key_object(w, "304");
        eco_jw_kv_str(w, "description", "the client has this answer already");
        eco_jw_object_end(w);
    }
    refusal_refs(w);
    eco_jw_object_end(w);
    eco_jw_object_end(w);
}

/* Beside a report as the body, the query says what to do with it. */
static const char raw_parameters[] =
    "[{\"name\":\"action\",\"in\":\"query\",\"description\":\"what to do with a report that is "
    "the body itself; validate when not "
    "said\",\"schema\":{\"type\":\"string\"}},{\"name\":\"consent\","
    "\"in\":\"query\",\"description\":\"with action=store: true, you may publish this report and "
    "want it stored and listed here\",\"schema\":{\"type\":\"boolean\"}}]";
static const char raw_schema[] =
    "{\"type\":\"object\",\"description\":\"an energy.json itself, up to 256 KiB\",\"required\":["
    "\"schema_version\"],\"properties\":{\"schema_version\":{\"type\":\"string\"}}}";

static void request_schema(const struct eco_route *r, struct eco_json_writer *w)
{
    char name[80];
    if (!r->store_op) {
        snprintf(name, sizeof name, "%sRequest", r->op->result->name);
        ref(w, "schema", "schemas", name);
        return;
    }
    key_object(w, "schema");
    eco_jw_key(w, "anyOf");
    eco_jw_array(w);
    ref_item(w, r->op->result->name, "Request");
    ref_item(w, r->store_op->result->name, "Request");
    eco_jw_raw(w, raw_schema, sizeof raw_schema - 1);
    eco_jw_array_end(w);
    eco_jw_object_end(w);
}

static void created_response(const struct eco_op *op, struct eco_json_writer *w)
{
    key_object(w, "201");
    eco_jw_kv_str(w, "description", "action=store: the report is kept; its receipt");
    key_object(w, "content");
    key_object(w, "application/json");
    ref(w, "schema", "schemas", op->result->name);
    eco_jw_object_end(w);
    eco_jw_object_end(w);
    eco_jw_object_end(w);
}

static void post_method(const struct eco_route *r, const struct eco_example *x,
                        struct eco_json_writer *w)
{
    const struct eco_op *op = r->op;
    method_head(r, "post", w);
    if (r->store_op) {
        eco_jw_key(w, "parameters");
        eco_jw_raw(w, raw_parameters, sizeof raw_parameters - 1);
    }
    key_object(w, "requestBody");
    eco_jw_kv_bool(w, "required", true);
    key_object(w, "content");
    key_object(w, "application/json");
    request_schema(r, w);
    if (x) {
        eco_jw_key(w, "example");
        eco_example_json(x, w);
    }
    eco_jw_object_end(w);
    eco_jw_object_end(w);
    eco_jw_object_end(w);
    key_object(w, "responses");
    result_response(op, r, x, false, w);
    if (r->store_op) {
        created_response(r->store_op, w);
    }
    refusal_refs(w);
    eco_jw_object_end(w);
    eco_jw_object_end(w);
}

static void op_path(const struct eco_server *s, const struct eco_route *r, struct eco_arena *arena,
                    struct eco_json_writer *w)
{
    struct eco_server_ctx ctx;
    struct eco_example x;
    eco_server_ctx(s, &ctx, arena);
    bool have = eco_example_of(r->op, &ctx.plain, &x);
    key_object(w, r->path);
    if (r->get) {
        get_method(r, have ? &x : NULL, w);
    }
    if (r->post) {
        post_method(r, have ? &x : NULL, w);
    }
    eco_jw_object_end(w);
    eco_arena_reset(arena);
}

/* ---- the document -------------------------------------------------------------------------- */

/* Clients of revision 2025-03-26 may send several messages at once. */
#define ONE_OR_BATCH                                                                               \
    "{\"anyOf\":[{\"type\":\"object\"},{\"type\":\"array\",\"items\":{\"type\":\"object\"}}]}"
#define CLIENT_ERRORS "\"4XX\":{\"$ref\":\"#/components/responses/BadRequest\"}"
#define OWN(id, line, about)                                                                       \
    "\"operationId\":\"" id "\",\"tags\":[\"service\"],\"summary\":\"" line                        \
    "\",\"description\":\"" about "\","

/* The server's own places, in OpenAPI's words. */
/* clang-format off */
static const char own_paths[] =
    "\"/openapi.json\":{\"get\":{" OWN("openapi", "this document", "Written from the same table.")
    "\"responses\":{\"200\":{\"description\":\"OpenAPI 3.1\",\"content\":{\"application/json\":"
    "{\"schema\":{\"type\":\"object\",\"required\":[\"openapi\",\"info\",\"paths\"],\"properties\":"
    "{\"openapi\":{\"type\":\"string\"},\"info\":{\"type\":\"object\"},\"paths\":{\"type\":"
    "\"object\"}}}}}},\"304\":"
    "{\"description\":\"the client has it already\"}," CLIENT_ERRORS "}}},"
    "\"/healthz\":{\"get\":{" OWN("health", "is the server up?", "Asks nothing but the process.")
    "\"responses\":{\"200\":{\"description\":\"it is\",\"content\":{\"application/json\":"
    "{\"schema\":{\"type\":\"object\",\"required\":[\"status\",\"version\",\"data_sha256\"],"
    "\"additionalProperties\":false,\"properties\":{\"status\":{\"const\":\"ok\"},"
    "\"version\":{\"type\":\"string\"},\"data_sha256\":{\"type\":\"string\","
    "\"pattern\":\"^[0-9a-f]{64}$\"}}}}}}," CLIENT_ERRORS "}}},"
    "\"/healthz/ready\":{\"get\":{"
    OWN("ready", "could it answer everything?", "The store, where there is one, must take reports.")
    "\"responses\":{\"200\":{\"description\":\"it could\","
    "\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\",\"required\":[\"status\","
    "\"store\"],\"additionalProperties\":false,\"properties\":{\"status\":{\"const\":\"ok\"},"
    "\"store\":{\"enum\":[\"ok\",\"none\"]}}}}}},"
    "\"503\":{\"$ref\":\"#/components/responses/Unavailable\"}," CLIENT_ERRORS "}}},"
    "\"/metrics\":{\"get\":{"
    OWN("metrics", "counters for Prometheus", "With --export-power, this machine's sensors too.")
    "\"responses\":{\"200\":{\"description\":\"text format 0.0.4\",\"content\":{\"text/plain\":"
    "{\"schema\":{\"type\":\"string\"}}}}," CLIENT_ERRORS "}}},"
    "\"/mcp\":{\"post\":{"
    OWN("mcp", "Model Context Protocol", "Streamable HTTP without sessions; GET is 405.")
    "\"requestBody\":{\"required\":true,\"content\":{\"application/json\":{\"schema\":" ONE_OR_BATCH
    "}}},\"responses\":{\"200\":{\"description\":\"a JSON-RPC "
    "reply\",\"content\":{\"application/json\":{\"schema\":" ONE_OR_BATCH "}}},"
    "\"202\":{\"description\":\"a notification was taken\"},"
    "\"400\":{\"description\":\"not JSON-RPC, or an unknown protocol version\",\"content\":"
    "{\"application/json\":{\"schema\":{\"type\":\"object\"}}}},\"503\":"
    "{\"$ref\":\"#/components/responses/Unavailable\"}," CLIENT_ERRORS "}}}";
/* clang-format on */

static const char tags[] =
    "[{\"name\":\"operations\",\"description\":\"what the command line has too\"},"
    "{\"name\":\"store\",\"description\":\"reports that others measured\"},"
    "{\"name\":\"service\",\"description\":\"the server itself\"}]";

static void info(struct eco_json_writer *w)
{
    eco_jw_kv_str(w, "openapi", "3.1.0");
    key_object(w, "info");
    eco_jw_kv_str(w, "title", "ecocompute");
    eco_jw_kv_str(w, "version", ECO_VERSION);
    eco_jw_kv_str(w, "description",
                  "Does quantization lower the energy of LLM inference on this GPU, or raise it? "
                  "Every number says how it is known. Parameters are strict: what is unknown, "
                  "malformed or repeated is refused with its name.");
    key_object(w, "license");
    eco_jw_kv_str(w, "name", "Apache-2.0");
    eco_jw_kv_str(w, "identifier", "Apache-2.0");
    eco_jw_object_end(w);
    eco_jw_object_end(w);
    eco_jw_key(w, "servers");
    eco_jw_array(w);
    eco_jw_object(w);
    eco_jw_kv_str(w, "url", "/");
    eco_jw_object_end(w);
    eco_jw_array_end(w);
    eco_jw_key(w, "security");
    eco_jw_array(w);
    eco_jw_array_end(w);
    eco_jw_key(w, "tags");
    eco_jw_raw(w, tags, sizeof tags - 1);
}

static void op_schemas(const struct eco_op *op, bool post, struct eco_json_writer *w)
{
    char name[80];
    if (op) {
        eco_jw_key(w, op->result->name);
        eco_result_schema(op->result, w);
    }
    if (op && post) { /* what the body holds */
        snprintf(name, sizeof name, "%sRequest", op->result->name);
        eco_jw_key(w, name);
        eco_params_schema(op, false, w);
    }
}

static const char security_schemes[] =
    "{\"owner\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"the first line of the "
    "server's --token-file\"}}";

static void components(const struct eco_server *s, struct eco_json_writer *w)
{
    key_object(w, "components");
    key_object(w, "schemas");
    error_schema(w);
    for (size_t i = 0; i < s->n_routes; i++) {
        op_schemas(s->route[i].op, s->route[i].post, w);
        op_schemas(s->route[i].store_op, true, w);
    }
    eco_jw_object_end(w);
    refusal_responses(w);
    eco_jw_key(w, "securitySchemes");
    eco_jw_raw(w, security_schemes, sizeof security_schemes - 1);
    eco_jw_object_end(w);
}

void eco_server_openapi(const struct eco_server *s, struct eco_buf *out)
{
    struct eco_json_writer w;
    struct eco_arena arena;
    eco_arena_init(&arena, 0);
    eco_jw_init(&w, out, 0);
    eco_jw_object(&w);
    info(&w);
    key_object(&w, "paths");
    for (size_t i = 0; i < s->n_routes; i++) {
        if (s->route[i].kind == ECO_ROUTE_OP) {
            op_path(s, &s->route[i], &arena, &w);
        }
    }
    eco_buf_putc(out, ',');
    eco_buf_puts(out, own_paths);
    eco_jw_object_end(&w);
    components(s, &w);
    eco_jw_object_end(&w);
    eco_buf_putc(out, '\n');
    eco_arena_done(&arena);
}
