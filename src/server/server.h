/*
 * The HTTP server without sockets: routes from the table of operations, OpenAPI, static pages,
 * MCP over HTTP, rate limit, metrics. `eco_server_new` reads everything it will serve; after that
 * no request opens a file or a device, but for the store and power hooks it was given.
 * Threads: the server may be shared; each thread has its own worker. Errors: new() fills `err`,
 * a request always gets a reply.
 */
#ifndef ECO_SERVER_SERVER_H
#define ECO_SERVER_SERVER_H

#include "http.h"
#include "ops/op.h"

struct eco_server;
struct eco_server_store; /* store_ops.h */
struct eco_server_worker;

struct eco_server_options {
    double rate_per_min;        /* requests a minute of one client; 0: no limit */
    bool trust_proxy;           /* the client is the last address of X-Forwarded-For */
    const char *web_dir;        /* folder of the page, or NULL: / lists the addresses */
    const char *token;          /* of the owner, as Bearer; NULL: moderating is closed */
    const char *const *origins; /* may call /mcp and write, beside this machine's pages */
    size_t n_origins;
    const struct eco_server_store *store; /* NULL: nothing is stored, and requests to are refused */
    int64_t (*now_ns)(void);              /* monotonic; tests set it */
    /* Text in Prometheus format appended to /metrics (power of devices), or NULL. */
    void (*more_metrics)(void *to, struct eco_buf *out);
    void *more_metrics_to;
};

int eco_server_new(const struct eco_server_options *o, struct eco_server **out,
                   struct eco_err *err);
void eco_server_free(struct eco_server *s); /* accepts NULL */

struct eco_server_worker *eco_server_worker_new(struct eco_server *s); /* NULL: no memory */
void eco_server_worker_free(struct eco_server_worker *w);              /* accepts NULL */
/** Lets go of the last reply, and of the memory that a large request took. */
void eco_server_worker_rest(struct eco_server_worker *w);

/**
 * When the headers are there and the body is not: true, the request may go on with a body of at
 * most *body_limit bytes; false, `reply` refuses it.
 */
bool eco_server_admit(struct eco_server *s, struct eco_server_worker *w,
                      const struct eco_http_request *q, size_t *body_limit,
                      struct eco_http_reply *reply);
/** Answers a request that was admitted. The reply is valid until the worker's next call. */
void eco_server_handle(struct eco_server *s, struct eco_server_worker *w,
                       const struct eco_http_request *q, struct eco_http_reply *reply);
/** The reply to an admitted request whose body came out longer than its limit. */
void eco_server_refuse_body(struct eco_server *s, struct eco_server_worker *w,
                            const struct eco_http_request *q, struct eco_http_reply *reply);
/** Counts a request that was replied to, `seconds` after its headers were there. */
void eco_server_count(struct eco_server *s, const struct eco_http_reply *reply, double seconds);
/** Connections open now and requests being answered, for /metrics. */
void eco_server_gauge(struct eco_server *s, long connections, long busy);
/** The client a request is from, as text (proxy header honoured when trusted). */
void eco_server_client(const struct eco_server *s, const struct eco_http_request *q, char out[64]);
/** One JSON line about a request, newline included. `with_query`: also its query string. */
void eco_server_log_line(const struct eco_server *s, const struct eco_http_request *q,
                         const struct eco_http_reply *reply, int64_t unix_ms, double seconds,
                         bool with_query, struct eco_buf *out);

/** OpenAPI 3.1 of everything served. */
void eco_server_openapi(const struct eco_server *s, struct eco_buf *out);

#endif
