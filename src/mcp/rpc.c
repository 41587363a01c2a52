/* JSON-RPC 2.0 as MCP uses it: envelope, versions, dispatch. */
#include "mcp_parts.h"
#include "ops/args.h"

#include <signal.h>
#include <string.h>

#define MESSAGE_MEMORY ((size_t)64 << 20)
#define TREE_MEMORY ((size_t)8 << 20) /* of a message once it is read */
#define MAX_BATCH 64

/* Newest first; what a client asks for is taken when it is here. */
#define VERSIONS(X, between)                                                                       \
    X("2025-11-25") between X("2025-06-18") between X("2025-03-26") between X("2024-11-05")
#define COMMA ,
#define X(version) version
static const char *const versions[] = {VERSIONS(X, COMMA)};
static const char version_list[] = VERSIONS(X, ", ");
#undef X
#define FIRST_BATCH 2 /* 2025-03-26 and older send several messages as one array */

static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                     "error", "critical", "alert",  "emergency"};
#define LEVEL_AT_FIRST 3

static int version_index(const char *name)
{
    for (size_t i = 0; name && i < ECO_COUNT(versions); i++) {
        if (strcmp(versions[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

bool eco_mcp_knows_version(const char *version)
{
    return version_index(version) >= 0;
}

const char *eco_mcp_versions(void)
{
    return version_list;
}

void eco_mcp_init(struct eco_mcp *m, const struct eco_mcp_options *o)
{
    m->o = *o;
    atomic_init(&m->version, -1);
    atomic_init(&m->level, LEVEL_AT_FIRST);
    atomic_init(&m->runs, 0);
}

void eco_mcp_cancel(struct eco_mcp_call *call)
{
    atomic_store(&call->cancelled, true);
    int child = atomic_load(&call->child);
    if (child > 0) {
        kill(child, SIGTERM);
    }
}

/* ---- helpers of methods -------------------------------------------------------------------- */

const char *eco_mcp_text_param(const struct eco_mcp_message *x, const char *name,
                               struct eco_err *err)
{
    const struct eco_json *v = eco_json_get(x->params, name);
    if (!v || v->type != ECO_JSON_STRING || strlen(v->str) != v->len) {
        eco_err_set(err, v ? ECO_E_INVALID : ECO_E_MISSING, name,
                    v ? "'%s' must be text" : "'%s' is missing", name);
        return NULL;
    }
    return v->str;
}

void eco_mcp_text_content(struct eco_json_writer *w, const char *text, size_t len)
{
    eco_jw_object(w);
    eco_jw_kv_str(w, "type", "text");
    eco_jw_key(w, "text");
    eco_jw_strn(w, text, len);
    eco_jw_object_end(w);
}

void eco_mcp_ctx(const struct eco_mcp_message *x, struct eco_ctx *ctx)
{
    *ctx = (struct eco_ctx){
        .arena = x->arena, .host_gpu = x->m->o.host_gpu, .host_gpu_name = x->m->o.host_gpu_name};
}

void eco_mcp_log(const struct eco_mcp_message *x, int level, const char *text, size_t len)
{
    struct eco_json_writer w;
    if (!x->notes || level < atomic_load(&x->m->level)) {
        return;
    }
    eco_jw_init(&w, x->notes, 0);
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "jsonrpc", "2.0");
    eco_jw_kv_str(&w, "method", "notifications/message");
    eco_jw_key(&w, "params");
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "level", levels[level]);
    eco_jw_kv_str(&w, "logger", "ecocompute");
    eco_jw_key(&w, "data");
    eco_jw_strn(&w, text, len);
    eco_jw_object_end(&w);
    eco_jw_object_end(&w);
    eco_buf_putc(x->notes, '\n');
}

/* ---- methods of the session ---------------------------------------------------------------- */

static void empty_object(struct eco_json_writer *w, const char *key)
{
    eco_jw_key(w, key);
    eco_jw_object(w);
    eco_jw_object_end(w);
}

static int initialize(struct eco_mcp_message *x, struct eco_err *err)
{
    struct eco_json_writer *w = x->w;
    const char *asked = eco_mcp_text_param(x, "protocolVersion", err);
    if (!asked) {
        return ECO_RPC_PARAMS;
    }
    int agreed = version_index(asked);
    agreed = agreed < 0 ? 0 : agreed;
    atomic_store(&x->m->version, agreed);
    eco_jw_object(w);
    eco_jw_kv_str(w, "protocolVersion", versions[agreed]);
    eco_jw_key(w, "capabilities");
    eco_jw_object(w);
    empty_object(w, "tools");
    empty_object(w, "resources");
    empty_object(w, "prompts");
    empty_object(w, "logging");
    eco_jw_object_end(w);
    eco_jw_key(w, "serverInfo");
    eco_jw_object(w);
    eco_jw_kv_str(w, "name", "ecocompute");
    eco_jw_kv_str(w, "title", "ecocompute: energy of quantized LLM inference");
    eco_jw_kv_str(w, "version", ECO_VERSION);
    eco_jw_object_end(w);
    eco_jw_kv_str(w, "instructions",
                  "Answers whether quantization lowers or raises the energy of LLM inference on a "
                  "GPU, from published measurements. Every number has a range and a basis "
                  "(measured, interpolated, extrapolated, modelled): give both with it, and never "
                  "fill in numbers that a tool did not return.");
    eco_jw_object_end(w);
    return 0;
}

static int ping(struct eco_mcp_message *x, struct eco_err *err)
{
    (void)err;
    eco_jw_object(x->w);
    eco_jw_object_end(x->w);
    return 0;
}

static int set_level(struct eco_mcp_message *x, struct eco_err *err)
{
    const char *level = eco_mcp_text_param(x, "level", err);
    for (size_t i = 0; level && i < ECO_COUNT(levels); i++) {
        if (strcmp(levels[i], level) == 0) {
            atomic_store(&x->m->level, (int)i);
            return ping(x, err);
        }
    }
    if (level) {
        eco_err_set(
            err, ECO_E_UNKNOWN_NAME, "level",
            "unknown level '%.40s': debug, info, notice, warning, error, critical, alert or "
            "emergency",
            level);
    }
    return ECO_RPC_PARAMS;
}

static const struct {
    const char *name;
    eco_mcp_method *run;
} methods[] = {{"initialize", initialize},
               {"ping", ping},
               {"logging/setLevel", set_level},
               {"tools/list", eco_mcp_tools_list},
               {"tools/call", eco_mcp_tools_call},
               {"resources/list", eco_mcp_resources_list},
               {"resources/templates/list", eco_mcp_templates_list},
               {"resources/read", eco_mcp_resources_read},
               {"prompts/list", eco_mcp_prompts_list},
               {"prompts/get", eco_mcp_prompts_get}};

/* ---- envelope ------------------------------------------------------------------------------ */

static void start_reply(struct eco_json_writer *w, const struct eco_json *id)
{
    eco_jw_object(w);
    eco_jw_kv_str(w, "jsonrpc", "2.0");
    eco_jw_key(w, "id");
    if (id) {
        eco_jw_value(w, id);
    } else {
        eco_jw_null(w);
    }
}

/* What the arguments ask for, else what the transport knows. */
static enum eco_lang language_of(const struct eco_mcp_call *call, const struct eco_json *message)
{
    const struct eco_json *params = eco_json_get(message, "params"),
                          *arguments = eco_json_get(params, "arguments"),
                          *lang = eco_json_get(arguments, "lang");
    enum eco_lang out = call->lang;
    if (lang && lang->type == ECO_JSON_STRING) {
        eco_lang_named(lang->str, lang->len, &out);
    }
    return out;
}

static void error_reply(struct eco_buf *out, enum eco_lang lang, const struct eco_json *id,
                        int code, struct eco_err *err)
{
    struct eco_json_writer w;
    eco_error_tell(lang, err);
    eco_jw_init(&w, out, 0);
    start_reply(&w, id);
    eco_jw_key(&w, "error");
    eco_jw_object(&w);
    eco_jw_kv_i64(&w, "code", code);
    eco_jw_kv_str(&w, "message", err->message);
    eco_jw_key(&w, "data");
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "code", eco_err_text(err->code));
    eco_jw_kv_str(&w, "param", err->arg[0] ? err->arg : NULL);
    eco_jw_object_end(&w);
    eco_jw_object_end(&w);
    eco_jw_object_end(&w);
}

static void refuse(struct eco_buf *out, enum eco_lang lang, const struct eco_json *id, int code,
                   const char *member, const char *message)
{
    struct eco_err err = {0};
    eco_err_set(&err, ECO_E_CONTENT, member, "%s", message);
    error_reply(out, lang, id, code, &err);
}

static bool is_id(const struct eco_json *id)
{
    return id && (id->type == ECO_JSON_STRING || (id->type == ECO_JSON_NUMBER && id->is_integer));
}

/* NULL with `err`: there is none of this name. */
static eco_mcp_method *find_method(const char *name, struct eco_err *err)
{
    struct eco_nearest near = eco_nearest_start(name, strlen(name));
    for (size_t i = 0; i < ECO_COUNT(methods); i++) {
        if (strcmp(methods[i].name, name) == 0) {
            return methods[i].run;
        }
        eco_nearest_offer(&near, methods[i].name);
    }
    eco_err_set(err, ECO_E_UNSUPPORTED, "method",
                near.best ? "there is no method '%.60s': did you mean '%s'?"
                          : "there is no method '%.60s' here",
                name, near.best ? near.best : "");
    return NULL;
}

static void run_method(struct eco_mcp *m, struct eco_mcp_call *call, const struct eco_json *request,
                       const char *name, int version, struct eco_buf *out, struct eco_buf *notes)
{
    const struct eco_json *id = eco_json_get(request, "id");
    struct eco_arena arena;
    struct eco_json_writer w;
    struct eco_err err = {0};
    size_t mark = out->len;
    enum eco_lang lang = language_of(call, request);
    int code;
    eco_arena_init(&arena, MESSAGE_MEMORY);
    eco_jw_init(&w, out, 0);
    struct eco_mcp_message x = {.m = m,
                                .call = call,
                                .arena = &arena,
                                .params = eco_json_get(request, "params"),
                                .w = &w,
                                .notes = notes,
                                .version = version,
                                .lang = lang};
    start_reply(&w, id);
    eco_jw_key(&w, "result");
    eco_mcp_method *run = find_method(name, &err);
    code = run ? run(&x, &err) : ECO_RPC_METHOD;
    eco_jw_object_end(&w);
    if (code || atomic_load(&call->cancelled)) {
        out->len = mark; /* a cancelled request gets no reply */
    }
    if (code && !atomic_load(&call->cancelled)) {
        error_reply(out, lang, id, code, &err);
    }
    eco_arena_done(&arena);
}

static void one_message(struct eco_mcp *m, struct eco_mcp_call *call,
                        const struct eco_json *message, int version, struct eco_buf *out,
                        struct eco_buf *notes)
{
    const struct eco_json *id = eco_json_get(message, "id"),
                          *method = eco_json_get(message, "method"),
                          *params = eco_json_get(message, "params"),
                          *rpc = eco_json_get(message, "jsonrpc");
    const struct eco_json *shown = is_id(id) ? id : NULL;
    enum eco_lang lang = language_of(call, message);
    if (message->type != ECO_JSON_OBJECT) {
        refuse(out, lang, NULL, ECO_RPC_REQUEST, "", "a message must be a JSON object");
    } else if (!rpc || rpc->type != ECO_JSON_STRING || strcmp(rpc->str, "2.0") != 0) {
        refuse(out, lang, shown, ECO_RPC_REQUEST, "jsonrpc", "'jsonrpc' must be \"2.0\"");
    } else if (!method) { /* a reply to a request; none was sent from here */
        if (!eco_json_get(message, "result") && !eco_json_get(message, "error")) {
            refuse(out, lang, shown, ECO_RPC_REQUEST, "method", "'method' is missing");
        }
    } else if (method->type != ECO_JSON_STRING || strlen(method->str) != method->len) {
        refuse(out, lang, shown, ECO_RPC_REQUEST, "method", "'method' must be text");
    } else if (!id) { /* a notification: none needs an answer; stdio looks at cancellations */
        return;
    } else if (!shown) {
        refuse(out, lang, NULL, ECO_RPC_REQUEST, "id", "'id' must be text or a whole number");
    } else if (params && params->type != ECO_JSON_OBJECT) {
        refuse(out, lang, shown, ECO_RPC_PARAMS, "params", "'params' must be an object");
    } else {
        run_method(m, call, message, method->str, version, out, notes);
    }
}

static void batch(struct eco_mcp *m, struct eco_mcp_call *call, const struct eco_json *array,
                  int version, struct eco_buf *out, struct eco_buf *notes)
{
    size_t start = out->len;
    if (version < FIRST_BATCH || array->count == 0 || array->count > MAX_BATCH) {
        refuse(out, call->lang, NULL, ECO_RPC_REQUEST, "",
               version < FIRST_BATCH ? "this protocol version has no batches"
                                     : "a batch has 1 to 64 messages");
        return;
    }
    eco_buf_putc(out, '[');
    for (const struct eco_json *one = array->child; one; one = one->next) {
        size_t before = out->len;
        eco_buf_puts(out, before > start + 1 ? "," : "");
        size_t mark = out->len;
        one_message(m, call, one, version, out, notes);
        if (out->len == mark) {
            out->len = before;
        }
    }
    eco_buf_putc(out, ']');
    if (out->len == start + 2) {
        out->len = start; /* notifications only */
    }
}

void eco_mcp_handle(struct eco_mcp *m, const char *text, size_t len, const char *header_version,
                    struct eco_mcp_call *call, struct eco_buf *out, struct eco_buf *notes)
{
    struct eco_json_doc doc = {.arena = {.limit = TREE_MEMORY}};
    struct eco_err err = {0};
    int version = header_version ? version_index(header_version) : atomic_load(&m->version);
    if (version < 0) {
        version = version_index(ECO_MCP_VERSION_UNSAID);
    }
    size_t mark = out->len;
    if (len > ECO_MCP_MAX_MESSAGE) {
        refuse(out, call->lang, NULL, ECO_RPC_REQUEST, "",
               "the message is larger than 1114112 bytes");
        return;
    }
    if (eco_json_reparse(&doc, text, len, &err)) {
        if (err.code == ECO_E_NO_MEMORY) {
            eco_err_set(&err, ECO_E_TOO_LARGE, "", "the message has too many values");
        }
        error_reply(out, call->lang, NULL, ECO_RPC_PARSE, &err);
        eco_json_done(&doc);
        return;
    }
    if (doc.root->type == ECO_JSON_ARRAY) {
        batch(m, call, doc.root, version, out, notes);
    } else {
        one_message(m, call, doc.root, version, out, notes);
    }
    eco_json_done(&doc);
    if (!eco_buf_ok(out)) {
        out->len = mark;
        out->failed = false;
        refuse(out, call->lang, NULL, ECO_RPC_INTERNAL, "", "out of memory");
    }
}
