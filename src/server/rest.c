/* An operation over HTTP: query string or JSON body -> arguments -> run -> JSON. */
#include "base/hash.h"
#include "ops/args.h"
#include "ops/result.h"
#include "server_parts.h"

#include <string.h>

#define JSON_TYPE "application/json; charset=utf-8"
#define CACHED "public, max-age=300, s-maxage=3600" /* as the published interface */

void eco_server_ctx(const struct eco_server *s, struct eco_server_ctx *ctx, struct eco_arena *arena)
{
    *ctx = (struct eco_server_ctx){.plain = {.arena = arena}, .store = s->o.store};
}

/* A strong ETag: the answer is a function of program, data and question alone. */
static const char *etag_of(struct eco_server_worker *w, const char *target)
{
    struct eco_sha256 sha;
    uint8_t sum[32];
    char *out = eco_arena_alloc(&w->arena, 40);
    if (!out) {
        return NULL;
    }
    eco_sha256_init(&sha);
    eco_sha256_update(&sha, w->server->seed, 64);
    eco_sha256_update(&sha, target, strlen(target));
    eco_sha256_final(&sha, sum);
    out[0] = '"';
    for (size_t i = 0; i < 16; i++) {
        out[1 + 2 * i] = "0123456789abcdef"[sum[i] >> 4];
        out[2 + 2 * i] = "0123456789abcdef"[sum[i] & 15];
    }
    out[33] = '"';
    out[34] = '\0';
    return out;
}

/* RFC 9110 13.1.2: a list of tags, weak ones compare by their text; "*" is any. */
static bool matches(const char *list, const char *etag)
{
    size_t n = strlen(etag);
    for (const char *at = list; at && *at;) {
        at += strspn(at, " \t,");
        if (*at == '*') {
            return true;
        }
        at += strncmp(at, "W/", 2) == 0 ? 2 : 0;
        if (strncmp(at, etag, n) == 0) {
            return true;
        }
        at += strcspn(at, ",");
    }
    return false;
}

bool eco_reply_cached(const struct eco_http_request *q, const char *etag, const char *control,
                      struct eco_http_reply *r)
{
    eco_http_add(r, "ETag", etag);
    eco_http_add(r, "Cache-Control", control);
    if (!matches(q->header[ECO_HTTP_IF_NONE_MATCH], etag)) {
        return false;
    }
    r->status = 304;
    r->body = "";
    r->len = 0;
    return true;
}

/* The body as w->doc, whatever Content-Type says: the published API did not look. */
static int read_body(struct eco_server_worker *w, const struct eco_http_request *q, int *status,
                     struct eco_err *err)
{
    w->doc.arena.limit = ECO_HTTP_MAX_TREE;
    int rc = eco_json_reparse(&w->doc, q->body ? q->body : "", q->body_len, err);
    if (rc) {
        eco_json_done(&w->doc); /* what it took until it failed */
    }
    if (rc == ECO_E_NO_MEMORY) { /* "[[],[],…": a few bytes each, and a node of a hundred */
        return eco_err_set(err, ECO_E_TOO_LARGE, NULL, "the body has too many values");
    }
    *status = rc ? 400 : 0; /* the request itself is not JSON */
    return rc;
}

/* An energy.json as the body: it is the document, and without another word it is validated. */
static int raw_args(struct eco_server_worker *w, const struct eco_op *op, void *args,
                    const struct eco_http_request *q, struct eco_err *err)
{
    const struct eco_param *document = eco_args_find(op, "document", 8);
    const struct eco_param *action = eco_args_find(op, "action", 6);
    int rc = eco_args_set(op, args, &w->arena, document, q->body, q->body_len, err);
    if (rc == 0 && !eco_args_have(op, args, action->offset)) {
        rc = eco_args_set(op, args, &w->arena, action, "validate", 8, err);
    }
    return rc;
}

static int read_args(struct eco_server_worker *w, const struct eco_route *route,
                     const struct eco_op *op, void *args, const struct eco_http_request *q,
                     struct eco_err *err)
{
    const char *query;
    size_t len;
    eco_target_split(q->target, &query, &len);
    int rc = eco_args_init(op, args, &w->arena, err);
    if (rc == 0 && query) {
        rc = eco_query_args(op, args, &w->arena, query, len, err);
    }
    if (rc == 0 && strcmp(q->method, "POST") == 0) {
        rc = route->store_op && eco_is_raw_report(w->doc.root)
                 ? raw_args(w, op, args, q, err)
                 : eco_args_set_json(op, args, &w->arena, w->doc.root, false, err);
    }
    return rc ? rc : eco_args_finish(op, args, err);
}

/* True: this very address was answered before, and the reply is that answer. */
static bool from_cache(struct eco_server *s, struct eco_server_worker *w,
                       const struct eco_http_request *q, struct eco_http_reply *r)
{
    char *etag = eco_arena_alloc(&w->arena, 40);
    if (!etag || !eco_reply_cache_get(s->cache, q->target, &w->out, etag)) {
        return false;
    }
    eco_reply_start(r, 200, JSON_TYPE);
    if (!eco_reply_cached(q, etag, CACHED, r)) {
        eco_reply_body(w, r);
    }
    return true;
}

static void write_result(struct eco_server *s, struct eco_server_worker *w, const struct eco_op *op,
                         const void *result, const struct eco_http_request *q, bool get,
                         struct eco_http_reply *r)
{
    const char *etag = get ? etag_of(w, q->target) : NULL;
    struct eco_json_writer jw;
    eco_reply_start(r, 200, JSON_TYPE);
    eco_jw_init(&jw, &w->out, 0);
    eco_result_json(op->result, result, &jw);
    eco_buf_putc(&w->out, '\n');
    if (!etag) {
        eco_http_add(r, "Cache-Control", "no-store");
    } else {
        eco_reply_cache_put(s->cache, q->target, &w->out, etag);
        if (eco_reply_cached(q, etag, CACHED, r)) {
            return;
        }
    }
    eco_reply_body(w, r);
}

/* No JSON. A form is common enough to be told what to do instead. */
static bool refuse_unread(struct eco_server_worker *w, const struct eco_http_request *q, int status,
                          const struct eco_err *err, struct eco_http_reply *r)
{
    const char *type = q->header[ECO_HTTP_CONTENT_TYPE];
    if (q->body_len && err->line == 1 && err->column == 1 && type &&
        (eco_str_ncasecmp(type, "application/x-www-form-urlencoded", 33) == 0 ||
         eco_str_ncasecmp(type, "multipart/form-data", 19) == 0)) {
        return eco_refuse(w, ECO_REFUSED_MEDIA_TYPE, "Content-Type", r,
                          "a form is not taken: send a JSON object, or the parameters in the "
                          "address");
    }
    eco_reply_error(w, status, err, r);
    return false;
}

/* Which operation a request means, once its body is read; false: `r` refuses it. */
static bool choose(struct eco_server *s, struct eco_server_worker *w, const struct eco_route *route,
                   const struct eco_http_request *q, const struct eco_op **op,
                   struct eco_http_reply *r)
{
    struct eco_err err = {0};
    int status = 0;
    *op = route->op;
    if (strcmp(q->method, "POST") == 0) {
        if (read_body(w, q, &status, &err)) {
            return refuse_unread(w, q, status, &err, r);
        }
        w->body_read = true;
        *op = route->store_op && eco_store_asked(w, q) ? route->store_op : *op;
    }
    return eco_store_may(s, w, route, *op, q, r);
}

void eco_rest_answer(struct eco_server *s, struct eco_server_worker *w,
                     const struct eco_route *route, const struct eco_http_request *q,
                     struct eco_http_reply *r)
{
    const struct eco_op *op;
    struct eco_err err = {0};
    struct eco_server_ctx ctx;
    bool get = !route->live && strcmp(q->method, "POST") != 0;
    if ((get && from_cache(s, w, q, r)) || !choose(s, w, route, q, &op, r)) {
        return;
    }
    eco_server_ctx(s, &ctx, &w->arena);
    ctx.owner = eco_store_is_owner(s, q);
    void *args = eco_arena_alloc(&w->arena, op->args_size);
    void *result = eco_arena_alloc(&w->arena, op->result->size);
    int rc = args && result ? read_args(w, route, op, args, q, &err)
                            : eco_err_set(&err, ECO_E_NO_MEMORY, "", "out of memory");
    if (rc == 0 && route->live && eco_store_export_answer(s, w, op, args, &ctx, r)) {
        return;
    }
    rc = rc ? rc : op->run(&ctx.plain, args, result, &err);
    if (rc) {
        eco_reply_error(w, eco_store_status(&err), &err, r);
    } else {
        write_result(s, w, op, result, q, get, r);
        r->status = ctx.created ? 201 : r->status;
    }
}
