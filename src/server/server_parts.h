/* The inside of the server: its state, its routes, and the functions that answer each kind. */
#ifndef ECO_SERVER_SERVER_PARTS_H
#define ECO_SERVER_SERVER_PARTS_H

#include "base/json.h"
#include "mcp/mcp.h"
#include "ops/op.h"
#include "ops/voice.h"
#include "server.h"
#include "store_ops.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- routes -------------------------------------------------------------------------------- */

enum eco_route_kind {
    ECO_ROUTE_OTHER, /* static pages, and what is not there */
    ECO_ROUTE_OP,
    ECO_ROUTE_OPENAPI,
    ECO_ROUTE_HEALTH,
    ECO_ROUTE_READY,
    ECO_ROUTE_METRICS,
    ECO_ROUTE_MCP
};

struct eco_route {
    const char *path; /* "/v1/estimate"; "other" for the first one */
    enum eco_route_kind kind;
    const struct eco_op *op;
    bool get, post;
    bool counted;                  /* takes from the client's tokens */
    bool live;                     /* the answer changes: it is not kept, and has no ETag */
    bool write;                    /* changes the store: not for pages of other sites */
    bool owner;                    /* wants the owner's bearer token */
    const struct eco_op *store_op; /* of a body that asks to be stored; NULL: there is none */
    size_t body_limit;
};

#define ECO_MAX_ROUTES 48

size_t eco_routes_make(struct eco_route out[ECO_MAX_ROUTES]);
/** The route of path[0..len); the first one ("other") when none has it. */
unsigned eco_route_find(const struct eco_server *s, const char *path, size_t len);

/* ---- rate limit ---------------------------------------------------------------------------- */

struct eco_limiter;
struct eco_limiter *eco_limiter_new(double per_min); /* NULL: no memory */
void eco_limiter_free(struct eco_limiter *l);
/**
 * Takes `cost` tokens of this client: IPv4 addresses by themselves, IPv6 by /64. 0: they were
 * there, else in how many seconds they will be.
 */
double eco_limiter_take(struct eco_limiter *l, const unsigned char address[16], double cost,
                        int64_t now_ns);

/* ---- metrics ------------------------------------------------------------------------------- */

#define ECO_METRIC_BUCKETS 12

/* X(status): the statuses counted apart; anything else is counted as 599. */
#define ECO_METRIC_STATUSES(X)                                                                     \
    X(200)                                                                                         \
    X(202)                                                                                         \
    X(204)                                                                                         \
    X(304)                                                                                         \
    X(400)                                                                                         \
    X(401)                                                                                         \
    X(403)                                                                                         \
    X(404)                                                                                         \
    X(405)                                                                                         \
    X(406)                                                                                         \
    X(409)                                                                                         \
    X(413)                                                                                         \
    X(414)                                                                                         \
    X(415)                                                                                         \
    X(422)                                                                                         \
    X(429)                                                                                         \
    X(431)                                                                                         \
    X(500)                                                                                         \
    X(501)                                                                                         \
    X(503)                                                                                         \
    X(599)

enum {
#define X(status) ECO_METRIC_AT_##status,
    ECO_METRIC_STATUSES(X)
#undef X
        ECO_METRIC_STATUS_COUNT
};

struct eco_metrics {
    atomic_uint_fast64_t requests[ECO_MAX_ROUTES][ECO_METRIC_STATUS_COUNT];
    atomic_uint_fast64_t buckets[ECO_MAX_ROUTES][ECO_METRIC_BUCKETS]; /* not cumulative */
    atomic_uint_fast64_t time_ns[ECO_MAX_ROUTES];
    atomic_uint_fast64_t reply_bytes;
    atomic_long connections, busy;
};

void eco_metrics_text(struct eco_server *s, struct eco_buf *out);

/* ---- static pages -------------------------------------------------------------------------- */

struct eco_page {
    const char *path; /* "/app.js" */
    const char *type;
    const char *body;
    size_t len;
    const char *etag;
    const char *csp; /* for HTML, else NULL */
};

struct eco_pages {
    struct eco_arena arena;
    struct eco_page *page; /* sorted by path */
    size_t n, cap;
    size_t bytes;
};

/** `form`: with the page that submits a report, /submit.html. */
int eco_pages_load(struct eco_pages *p, const char *dir, bool form, struct eco_err *err);
extern const char eco_submit_page[]; /* submit_page.c */
void eco_pages_done(struct eco_pages *p);
const struct eco_page *eco_pages_find(const struct eco_pages *p, const char *path, size_t len);

/* ---- replies given before ------------------------------------------------------------------ */

struct eco_reply_cache;
struct eco_reply_cache *eco_reply_cache_new(void); /* NULL: no memory */
void eco_reply_cache_free(struct eco_reply_cache *c);
/** The body of this very address appended to `out`, and its ETag; false: not kept. */
bool eco_reply_cache_get(struct eco_reply_cache *c, const char *target, struct eco_buf *out,
                         char etag[40]);
void eco_reply_cache_put(struct eco_reply_cache *c, const char *target, const struct eco_buf *body,
                         const char *etag);

/* ---- the server ---------------------------------------------------------------------------- */

struct eco_server {
    struct eco_server_options o;
    struct eco_route route[ECO_MAX_ROUTES];
    size_t n_routes;
    struct eco_limiter *limiter; /* NULL: no limit */
    struct eco_reply_cache *cache;
    struct eco_metrics *metrics;
    struct eco_pages pages;
    struct eco_mcp mcp;
    char seed[65]; /* of ETags: SHA-256 over program version and data */
    char data_sha256[65];
    struct eco_buf openapi;
    char openapi_etag[40];
    atomic_bool large; /* a body is read that no other large one is read beside */
    int64_t started_ns;
};

struct eco_server_worker {
    struct eco_server *server;
    struct eco_arena arena;                 /* of one request */
    const struct eco_http_request *request; /* the one being answered */
    struct eco_json_doc doc;
    bool body_read; /* `doc` is the body of `request` */
    struct eco_buf out;
};

/** The context a request's operation runs in: no files, no card of this machine. */
void eco_server_ctx(const struct eco_server *s, struct eco_server_ctx *ctx,
                    struct eco_arena *arena);

/** Sets every parameter that the query string names. Strict: see the cases in docs/api.md. */
int eco_query_args(const struct eco_op *op, void *args, struct eco_arena *arena, const char *query,
                   size_t len, struct eco_err *err);
/** Undoes %XX (and '+' when `plus`) strictly; NULL with `err` for a lone '%' or bad digits. */
char *eco_query_decode(struct eco_arena *arena, const char *text, size_t len, bool plus,
                       size_t *out_len, struct eco_err *err);
/** The value of the target's first query pair of this name, decoded; NULL: there is none. */
const char *eco_query_value(struct eco_arena *arena, const char *target, const char *name,
                            size_t *len);

void eco_reply_start(struct eco_http_reply *r, int status, const char *type);
void eco_reply_body(struct eco_server_worker *w, struct eco_http_reply *r);
void eco_reply_error(struct eco_server_worker *w, int status, const struct eco_err *err,
                     struct eco_http_reply *r);

/* refuse.c */
enum eco_refusal {
#define X(name, status, code) ECO_REFUSED_##name,
#include "refusals.def"
#undef X
};
/** As eco_reply_error, of what no operation has a code for. `param`: the parameter or header it is
 * about, or NULL. Always false, so that `return eco_refuse(...)` reads well. */
bool eco_refuse(struct eco_server_worker *w, enum eco_refusal what, const char *param,
                struct eco_http_reply *r, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/** The language of errors: `lang` of the body or the query, else Accept-Language. */
enum eco_lang eco_server_language(struct eco_server_worker *w);

/** framing.c: can the request be read in one way only, and within the limits? */
bool eco_http_fits(struct eco_server_worker *w, const struct eco_http_request *q,
                   struct eco_http_reply *r);
bool eco_http_fits_body(struct eco_server_worker *w, const struct eco_http_request *q, size_t limit,
                        struct eco_http_reply *r);
bool eco_refuse_body(struct eco_server_worker *w, size_t limit, struct eco_http_reply *r);

/** Adds ETag and Cache-Control; true: the client has it already, the reply is 304. */
bool eco_reply_cached(const struct eco_http_request *q, const char *etag, const char *control,
                      struct eco_http_reply *r);
/** rest.c: an operation over GET (query) or POST (JSON body). */
void eco_rest_answer(struct eco_server *s, struct eco_server_worker *w,
                     const struct eco_route *route, const struct eco_http_request *q,
                     struct eco_http_reply *r);
/** mcp_http.c: may a page of this origin call what is not for every page? NULL: no page. */
bool eco_origin_may(const struct eco_server *s, const char *origin);
/** store_http.c: whether this request may change the store; false: `r` refuses it. */
bool eco_store_may(struct eco_server *s, struct eco_server_worker *w, const struct eco_route *route,
                   const struct eco_op *op, const struct eco_http_request *q,
                   struct eco_http_reply *r);
/** Does it carry the owner's token? */
bool eco_store_is_owner(const struct eco_server *s, const struct eco_http_request *q);
/** The body asks to be stored: action=store in the query or in the body. */
bool eco_store_asked(struct eco_server_worker *w, const struct eco_http_request *q);
/** The body is an energy.json itself, not an object of parameters. */
bool eco_is_raw_report(const struct eco_json *body);
/** The status of an error that is not as usual: a store that is damaged, locked, full, read-only or
 * gone is no fault of the request, and not of this program: 503. Else 0. */
int eco_store_status(const struct eco_err *err);
/** True: the arguments ask for every row, and `r` is the answer. */
bool eco_store_export_answer(struct eco_server *s, struct eco_server_worker *w,
                             const struct eco_op *op, const void *args, struct eco_server_ctx *ctx,
                             struct eco_http_reply *r);
/** mcp_http.c: POST /mcp, Streamable HTTP. */
void eco_mcp_http_answer(struct eco_server *s, struct eco_server_worker *w,
                         const struct eco_http_request *q, struct eco_http_reply *r);

/** client.c: whom the request counts for. */
void eco_server_address(const struct eco_server *s, const struct eco_http_request *q,
                        unsigned char out[16]);
/** The place of this path that was probably meant, or NULL. */
const char *eco_place_near(const struct eco_server *s, const char *path, size_t len);
/** The path's length in a target, and its query (NULL: none). */
size_t eco_target_split(const char *target, const char **query, size_t *query_len);

#endif
