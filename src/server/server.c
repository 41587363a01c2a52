#include "server.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "ops/records.h"
#include "ops/result.h"
#include "server_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_MEMORY ((size_t)64 << 20) /* what one request may use */
#define KEEP_BYTES ((size_t)256 << 10)    /* a larger buffer is given back after a request */

/* ---- replies ------------------------------------------------------------------------------- */

void eco_http_add(struct eco_http_reply *r, const char *name, const char *value)
{
    if (value && r->n_headers < ECO_HTTP_REPLY_HEADERS) {
        r->header[r->n_headers].name = name;
        r->header[r->n_headers++].value = value;
    }
}

void eco_http_set(struct eco_http_reply *r, const char *name, const char *value)
{
    for (size_t i = 0; i < r->n_headers; i++) {
        if (strcmp(r->header[i].name, name) == 0) {
            r->header[i].value = value;
        }
    }
}

const char *eco_http_header_of(const struct eco_http_reply *r, const char *name)
{
    for (size_t i = 0; i < r->n_headers; i++) {
        if (strcmp(r->header[i].name, name) == 0) {
            return r->header[i].value;
        }
    }
    return NULL;
}

void eco_reply_start(struct eco_http_reply *r, int status, const char *type)
{
    unsigned route = r->route;
    *r = (struct eco_http_reply){.status = status, .body = "", .route = route};
    if (type) {
        eco_http_add(r, "Content-Type", type);
    }
    eco_http_add(r, "X-Content-Type-Options", "nosniff");
    eco_http_add(r, "Referrer-Policy", "no-referrer");
    eco_http_add(r, "Access-Control-Allow-Origin", "*");
}

/* What the worker wrote is the body. */
void eco_reply_body(struct eco_server_worker *w, struct eco_http_reply *r)
{
    if (!eco_buf_ok(&w->out)) {
        static const char text[] = "{\"error\":{\"code\":\"no_memory\",\"message\":\"out of "
                                   "memory\",\"param\":null}}\n";
        r->status = 500;
        r->body = text;
        r->len = sizeof text - 1;
        return;
    }
    r->body = eco_buf_str(&w->out);
    r->len = w->out.len;
}

/* ---- life ---------------------------------------------------------------------------------- */

/* Program version and data digest, as the operation `version` says them. */
static int identify(struct eco_server *s, struct eco_err *err)
{
    const struct eco_op *op = eco_op_find("version");
    struct eco_arena arena;
    struct eco_server_ctx ctx;
    eco_arena_init(&arena, 0);
    eco_server_ctx(s, &ctx, &arena);
    void *args = eco_arena_alloc(&arena, op->args_size);
    struct eco_res_version *v = eco_arena_alloc(&arena, op->result->size);
    int rc = args && v ? op->run(&ctx.plain, args, v, err)
                       : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    if (rc == 0) {
        struct eco_buf b = ECO_BUF_INIT;
        eco_buf_printf(&b, "%s\n%s\n", v->version, v->data_sha256);
        eco_sha256_hex(eco_buf_str(&b), b.len, s->seed);
        eco_buf_done(&b);
        snprintf(s->data_sha256, sizeof s->data_sha256, "%s", v->data_sha256);
    }
    eco_arena_done(&arena);
    return rc;
}

int eco_server_new(const struct eco_server_options *o, struct eco_server **out, struct eco_err *err)
{
    struct eco_server *s = calloc(1, sizeof(*s));
    int rc = s ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    if (rc == 0) {
        s->o = *o;
        s->o.now_ns = o->now_ns ? o->now_ns : eco_clock_mono_ns;
        s->started_ns = s->o.now_ns();
        s->n_routes = eco_routes_make(s->route);
        eco_mcp_init(&s->mcp, &(struct eco_mcp_options){0});
        s->metrics = calloc(1, sizeof(*s->metrics));
        s->limiter = o->rate_per_min > 0 ? eco_limiter_new(o->rate_per_min) : NULL;
        s->cache = eco_reply_cache_new();
        if (!s->metrics || !s->cache || (o->rate_per_min > 0 && !s->limiter)) {
            rc = eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
    }
    rc = rc ? rc : identify(s, err);
    rc = rc ? rc : eco_pages_load(&s->pages, o->web_dir, o->store != NULL, err);
    if (rc == 0) {
        char sum[65];
        eco_server_openapi(s, &s->openapi);
        eco_sha256_hex(eco_buf_str(&s->openapi), s->openapi.len, sum);
        snprintf(s->openapi_etag, sizeof s->openapi_etag, "\"%.32s\"", sum);
        if (!eco_buf_ok(&s->openapi)) {
            rc = eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
    }
    if (rc) {
        eco_server_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void eco_server_free(struct eco_server *s)
{
    if (s) {
        eco_pages_done(&s->pages);
        eco_limiter_free(s->limiter);
        eco_reply_cache_free(s->cache);
        eco_buf_done(&s->openapi);
        free(s->metrics);
        free(s);
    }
}

struct eco_server_worker *eco_server_worker_new(struct eco_server *s)
{
    struct eco_server_worker *w = calloc(1, sizeof(*w));
    if (w) {
        w->server = s;
        eco_arena_init(&w->arena, REQUEST_MEMORY);
    }
    return w;
}

void eco_server_worker_free(struct eco_server_worker *w)
{
    if (w) {
        eco_arena_done(&w->arena);
        eco_json_done(&w->doc);
        eco_buf_done(&w->out);
        free(w);
    }
}

void eco_server_worker_rest(struct eco_server_worker *w)
{
    w->request = NULL;
    w->body_read = false;
    if (w->out.cap > KEEP_BYTES || w->arena.used > KEEP_BYTES || w->doc.arena.used > KEEP_BYTES) {
        eco_buf_done(&w->out);
        eco_arena_done(&w->arena);
        eco_arena_init(&w->arena, REQUEST_MEMORY);
        eco_json_done(&w->doc);
        w->doc = (struct eco_json_doc){0};
    }
    eco_arena_reset(&w->arena);
    eco_buf_clear(&w->out);
}

/* Takes the request up with an empty reply: where it goes, and how long its path is. */
static const struct eco_route *begin(struct eco_server *s, struct eco_server_worker *w,
                                     const struct eco_http_request *q, size_t *path,
                                     struct eco_http_reply *r)
{
    const char *query;
    size_t query_len;
    eco_server_worker_rest(w);
    w->request = q;
    *path = eco_target_split(q->target, &query, &query_len);
    *r = (struct eco_http_reply){.route = eco_route_find(s, q->target, *path)};
    return &s->route[r->route];
}

/* ---- admission ----------------------------------------------------------------------------- */

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static const char *allowed(const struct eco_route *r)
{
    return r->get && r->post ? "GET, HEAD, POST, OPTIONS"
           : r->get          ? "GET, HEAD, OPTIONS"
                             : "POST, OPTIONS";
}

/* A large body takes the time of many requests; one whose size is not said may be the largest. */
static double cost_of(const struct eco_route *route, const struct eco_http_request *q)
{
    const char *length = q->header[ECO_HTTP_CONTENT_LENGTH];
    size_t most = route->post && is(q->method, "POST") ? route->body_limit : 0;
    size_t n = q->header[ECO_HTTP_TRANSFER_ENCODING] ? most
               : length                              ? (size_t)strtoull(length, NULL, 10)
                                                     : 0;
    size_t more = (n < most ? n : most) / ECO_HTTP_BODY_TOKEN;
    return 1 + (double)more;
}

static bool has_tokens(struct eco_server *s, struct eco_server_worker *w,
                       const struct eco_route *route, const struct eco_http_request *q,
                       struct eco_http_reply *r)
{
    unsigned char client[16];
    eco_server_address(s, q, client);
    double wait_s =
        s->limiter ? eco_limiter_take(s->limiter, client, cost_of(route, q), s->o.now_ns()) : 0;
    if (wait_s <= 0) {
        return true;
    }
    eco_refuse(w, ECO_REFUSED_TOO_MANY, NULL, r,
               "over %g requests a minute from this client: try again in %.0f s", s->o.rate_per_min,
               ceil(wait_s));
    eco_http_add(r, "Retry-After", eco_arena_printf(&w->arena, "%.0f", ceil(wait_s)));
    return false;
}

static bool method_fits(struct eco_server_worker *w, const struct eco_route *route,
                        const struct eco_http_request *q, struct eco_http_reply *r)
{
    bool get = is(q->method, "GET") || is(q->method, "HEAD");
    if ((get && route->get) || (is(q->method, "POST") && route->post) || is(q->method, "OPTIONS")) {
        return true;
    }
    eco_refuse(w, ECO_REFUSED_METHOD, NULL, r, "the methods of this address are %s",
               allowed(route));
    eco_http_add(r, "Allow", allowed(route));
    return false;
}

static bool is_place(struct eco_server *s, struct eco_server_worker *w,
                     const struct eco_route *route, const struct eco_http_request *q, size_t path,
                     struct eco_http_reply *r)
{
    if (route->kind != ECO_ROUTE_OTHER || eco_pages_find(&s->pages, q->target, path)) {
        return true;
    }
    const char *near = eco_place_near(s, q->target, path);
    return near ? eco_refuse(w, ECO_REFUSED_NO_PLACE, NULL, r,
                             "there is nothing at this address: did you mean '%s'?", near)
                : eco_refuse(w, ECO_REFUSED_NO_PLACE, NULL, r,
                             "there is nothing at this address: '/openapi.json' lists those there "
                             "are");
}

bool eco_server_admit(struct eco_server *s, struct eco_server_worker *w,
                      const struct eco_http_request *q, size_t *body_limit,
                      struct eco_http_reply *r)
{
    size_t path;
    const struct eco_route *route = begin(s, w, q, &path, r);
    *body_limit = route->body_limit;
    return eco_http_fits(w, q, r) && is_place(s, w, route, q, path, r) &&
           method_fits(w, route, q, r) && (!route->counted || has_tokens(s, w, route, q, r)) &&
           eco_http_fits_body(w, q, route->body_limit, r);
}

void eco_server_refuse_body(struct eco_server *s, struct eco_server_worker *w,
                            const struct eco_http_request *q, struct eco_http_reply *r)
{
    size_t path;
    eco_refuse_body(w, begin(s, w, q, &path, r)->body_limit, r);
    r->close = true;
}

/* ---- answers ------------------------------------------------------------------------------- */

/* CORS: anybody may ask from a page; nothing that identifies a user is ever looked at. */
static void preflight(const struct eco_route *route, struct eco_http_reply *r)
{
    eco_reply_start(r, 204, NULL);
    eco_http_add(r, "Allow", allowed(route));
    eco_http_add(r, "Access-Control-Allow-Methods", allowed(route));
    eco_http_add(r, "Access-Control-Allow-Headers",
                 "Authorization, Content-Type, MCP-Protocol-Version");
    eco_http_add(r, "Access-Control-Max-Age", "86400");
}

static void page(struct eco_server *s, const struct eco_http_request *q, size_t path,
                 struct eco_http_reply *r)
{
    const struct eco_page *p = eco_pages_find(&s->pages, q->target, path);
    eco_reply_start(r, 200, p->type);
    eco_http_add(r, "Content-Security-Policy", p->csp);
    eco_http_add(r, "Cross-Origin-Opener-Policy", p->csp ? "same-origin" : NULL);
    if (!eco_reply_cached(q, p->etag, "public, max-age=300", r)) {
        r->body = p->body;
        r->len = p->len;
    }
}

static void openapi(struct eco_server *s, const struct eco_http_request *q,
                    struct eco_http_reply *r)
{
    eco_reply_start(r, 200, "application/json; charset=utf-8");
    if (!eco_reply_cached(q, s->openapi_etag, "public, max-age=300, s-maxage=3600", r)) {
        r->body = eco_buf_str(&s->openapi);
        r->len = s->openapi.len;
    }
}

static void health(struct eco_server *s, struct eco_server_worker *w, struct eco_http_reply *r)
{
    struct eco_json_writer jw;
    eco_reply_start(r, 200, "application/json; charset=utf-8");
    eco_http_add(r, "Cache-Control", "no-store");
    eco_jw_init(&jw, &w->out, 0);
    eco_jw_object(&jw);
    eco_jw_kv_str(&jw, "status", "ok");
    eco_jw_kv_str(&jw, "version", ECO_VERSION);
    eco_jw_kv_str(&jw, "data_sha256", s->data_sha256);
    eco_jw_object_end(&jw);
    eco_buf_putc(&w->out, '\n');
    eco_reply_body(w, r);
}

/* Whether everything can be answered; what is in the way of the store is said. */
static void ready(struct eco_server *s, struct eco_server_worker *w, struct eco_http_reply *r)
{
    struct eco_json_writer jw;
    struct eco_err err = {0};
    if (s->o.store && s->o.store->ready(s->o.store->to, &err)) {
        eco_reply_error(w, 503, &err, r);
        return;
    }
    eco_reply_start(r, 200, "application/json; charset=utf-8");
    eco_http_add(r, "Cache-Control", "no-store");
    eco_jw_init(&jw, &w->out, 0);
    eco_jw_object(&jw);
    eco_jw_kv_str(&jw, "status", "ok");
    eco_jw_kv_str(&jw, "store", s->o.store ? "ok" : "none");
    eco_jw_object_end(&jw);
    eco_buf_putc(&w->out, '\n');
    eco_reply_body(w, r);
}

static void metrics(struct eco_server *s, struct eco_server_worker *w, struct eco_http_reply *r)
{
    eco_reply_start(r, 200, "text/plain; version=0.0.4; charset=utf-8");
    eco_http_add(r, "Cache-Control", "no-store");
    eco_metrics_text(s, &w->out);
    eco_reply_body(w, r);
}

static void answer(struct eco_server *s, struct eco_server_worker *w, const struct eco_route *route,
                   const struct eco_http_request *q, size_t path, struct eco_http_reply *r)
{
    switch (route->kind) {
    case ECO_ROUTE_OP:
        eco_rest_answer(s, w, route, q, r);
        break;
    case ECO_ROUTE_OPENAPI:
        openapi(s, q, r);
        break;
    case ECO_ROUTE_HEALTH:
        health(s, w, r);
        break;
    case ECO_ROUTE_READY:
        ready(s, w, r);
        break;
    case ECO_ROUTE_METRICS:
        metrics(s, w, r);
        break;
    case ECO_ROUTE_MCP:
        eco_mcp_http_answer(s, w, q, r);
        break;
    case ECO_ROUTE_OTHER:
        page(s, q, path, r);
        break;
    }
}

void eco_server_handle(struct eco_server *s, struct eco_server_worker *w,
                       const struct eco_http_request *q, struct eco_http_reply *r)
{
    size_t path;
    const struct eco_route *route = begin(s, w, q, &path, r);
    if (is(q->method, "OPTIONS")) {
        preflight(route, r);
        return;
    }
    /* Dense code takes 350 times its size while it is parsed. */
    bool large = q->body_len > ECO_HTTP_LARGE && route->body_limit >= ECO_HTTP_MAX_BODY_AUDIT;
    if (large && atomic_exchange(&s->large, true)) {
        eco_refuse(w, ECO_REFUSED_BUSY, NULL, r,
                   "another large body is being read: try again in a second");
        eco_http_add(r, "Retry-After", "1");
        return;
    }
    answer(s, w, route, q, path, r);
    if (large) {
        atomic_store(&s->large, false);
    }
}
