/*
 * A request as the server sees it and the reply it makes, without any socket: what carries the
 * bytes (src/helpers/serve_mhd.c, tests, fuzz targets) fills the one and sends the other.
 * Strings of a request are borrowed; those of a reply live in the worker's arena until its next
 * request, are static, or belong to the server. Threads: one request per worker at a time.
 */
#ifndef ECO_SERVER_HTTP_H
#define ECO_SERVER_HTTP_H

#include "base/buf.h"
#include "eco_err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits on what a client may send. */
#define ECO_HTTP_MAX_URL ((size_t)8 << 10)      /* path and query: 414 */
#define ECO_HTTP_MAX_HEADERS ((size_t)16 << 10) /* all header lines together: 431 */
#define ECO_HTTP_MAX_BODY ((size_t)8 << 10)     /* 413 */
#define ECO_HTTP_MAX_BODY_AUDIT ((size_t)1 << 20)
#define ECO_HTTP_MAX_BODY_REPORT ((size_t)256 << 10)
#define ECO_HTTP_MAX_BODY_MCP (((size_t)1 << 20) + ((size_t)64 << 10))
#define ECO_HTTP_BODY_TOKEN ((size_t)32 << 10) /* each further one counts as one request more */
#define ECO_HTTP_LARGE ((size_t)64 << 10)      /* code over it is read one at a time: 503 */
#define ECO_HTTP_MAX_TREE ((size_t)8 << 20)    /* what a body takes once it is read: 413 */
#define ECO_HTTP_MAX_PAIRS 128                 /* parameters of one query string */

/* X(name, header, once): the request headers that anything here reads; `once`: no list, so that a
 * second line of it contradicts the first. */
#define ECO_HTTP_HEADERS(X)                                                                        \
    X(CONTENT_TYPE, "Content-Type", true)                                                          \
    X(CONTENT_LENGTH, "Content-Length", true)                                                      \
    X(CONTENT_ENCODING, "Content-Encoding", true)                                                  \
    X(TRANSFER_ENCODING, "Transfer-Encoding", true)                                                \
    X(EXPECT, "Expect", false)                                                                     \
    X(AUTHORIZATION, "Authorization", true)                                                        \
    X(ORIGIN, "Origin", true)                                                                      \
    X(HOST, "Host", true)                                                                          \
    X(ACCEPT, "Accept", false)                                                                     \
    X(ACCEPT_LANGUAGE, "Accept-Language", false)                                                   \
    X(IF_NONE_MATCH, "If-None-Match", false)                                                       \
    X(FORWARDED_FOR, "X-Forwarded-For", false)                                                     \
    X(MCP_VERSION, "MCP-Protocol-Version", true)

enum eco_http_header {
#define X(name, header, once) ECO_HTTP_##name,
    ECO_HTTP_HEADERS(X)
#undef X
        ECO_HTTP_HEADER_COUNT
};

struct eco_http_request {
    const char *method;
    const char *target; /* path and query as they came, nothing decoded; NUL-terminated */
    const char *header[ECO_HTTP_HEADER_COUNT]; /* NULL: absent */
    size_t header_bytes;                       /* of all header lines */
    const char *repeated_header; /* the header that came twice and may not; NULL: none */
    const char *version;         /* "HTTP/1.1"; NULL: of no matter */
    bool odd_header;             /* one has no word as its name */
    bool cut_target;             /* at a NUL */
    unsigned char peer[16];      /* IPv6, or IPv4 mapped into it */
    const char *body;            /* NULL: none */
    size_t body_len;
};

#define ECO_HTTP_REPLY_HEADERS 12

struct eco_http_reply {
    int status;
    const char *body;
    size_t len;
    struct {
        const char *name, *value;
    } header[ECO_HTTP_REPLY_HEADERS];
    size_t n_headers;
    unsigned route; /* index for metrics */
    bool close;     /* end the connection after this */
};

/** Notes one header line; both texts are kept by reference. */
void eco_http_take_header(struct eco_http_request *q, const char *name, const char *value);
/** "http://host/path?q" -> "/path?q", which means the same here (RFC 9112 3.2.2). */
const char *eco_http_origin_form(const char *target);

void eco_http_add(struct eco_http_reply *r, const char *name, const char *value);
/** Changes the value of a header that is there. */
void eco_http_set(struct eco_http_reply *r, const char *name, const char *value);
/** The value of a reply's header, or NULL. */
const char *eco_http_header_of(const struct eco_http_reply *r, const char *name);

#endif
