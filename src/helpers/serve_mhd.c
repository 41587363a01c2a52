/* The server over libmicrohttpd: a request's bytes in, a reply's bytes out. */
#include "base/clock.h"
#include "serve_parts.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONNECTION_MEMORY ((size_t)32 << 10) /* request line and headers; more is refused */
#define MAX_DROPPED ((size_t)4 << 20)        /* of a refused body; over it the connection ends */

struct serve_http {
    struct MHD_Daemon *daemon;
    struct serve *serve;
};

/* One request, from its first line to its completion. */
struct exchange {
    struct eco_http_request q;
    char *target;    /* owned */
    const char *uri; /* where the library has it, for `was_cut`; not read through */
    size_t uri_len;
    struct eco_buf body;
    size_t body_limit;
    size_t dropped;               /* bytes of a body that nobody wants */
    struct MHD_Response *refusal; /* made when the headers came, sent when the body is read past */
    unsigned refusal_status;
    int64_t started_ns;
    bool started, too_long;
};

/* ---- request ------------------------------------------------------------------------------- */

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
    (void)cls;
    (void)connection;
    struct exchange *x = calloc(1, sizeof(*x));
    if (x && uri) {
        char *query = strchr(uri, '?');
        x->uri = uri;
        x->uri_len = strlen(uri);
        x->target = strdup(eco_http_origin_form(uri));
        x->q.target = x->target ? x->target : "";
        if (query) { /* the library would keep it too, as a list that outgrows its memory */
            query[1] = '\0';
        }
    }
    return x;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    (void)kind;
    eco_http_take_header(cls, name, value ? value : "");
    return MHD_YES;
}

static void read_peer(struct MHD_Connection *c, unsigned char out[16])
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    memset(out, 0, 16);
    if (info && info->client_addr && info->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)info->client_addr;
        out[10] = out[11] = 0xff;
        memcpy(out + 12, &v4->sin_addr, 4);
    } else if (info && info->client_addr && info->client_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)info->client_addr;
        memcpy(out, &v6->sin6_addr, 16);
    }
}

static struct serve_conn *conn_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* ---- reply --------------------------------------------------------------------------------- */

static struct MHD_Response *make_response(struct serve *s, struct exchange *x,
                                          const struct eco_http_reply *r)
{
    double seconds = (double)(eco_clock_mono_ns() - x->started_ns) / 1e9;
    /* the copy's bytes are the library's; the pointer is not written through */
    struct MHD_Response *m =
        MHD_create_response_from_buffer(r->len, (void *)(uintptr_t)r->body, MHD_RESPMEM_MUST_COPY);
    if (!m) {
        return NULL;
    }
    for (size_t i = 0; i < r->n_headers; i++) {
        MHD_add_response_header(m, r->header[i].name, r->header[i].value);
    }
    if (r->close || atomic_load(&s->draining)) {
        MHD_add_response_header(m, "Connection", "close");
    }
    eco_server_count(s->server, r, seconds);
    serve_log_add(&s->log, s->server, &x->q, r, seconds);
    return m;
}

/* Queues it and lets go of it. */
static enum MHD_Result queue(struct serve *s, struct MHD_Connection *c, unsigned status,
                             struct MHD_Response *m)
{
    if (!m) {
        return MHD_NO;
    }
    serve_conn_deadline(conn_of(c), eco_clock_mono_ns() + 2 * s->timeout_ns);
    enum MHD_Result done = MHD_queue_response(c, status, m);
    MHD_destroy_response(m);
    return done;
}

/* A client that is still sending would not read the refusal, but see its connection break: a body
 * of bearable size is read past first. */
static bool body_comes(const struct eco_http_request *q)
{
    const char *length = q->header[ECO_HTTP_CONTENT_LENGTH];
    unsigned long long n = length ? strtoull(length, NULL, 10) : 0;
    return n > 0 && n <= MAX_DROPPED && !q->header[ECO_HTTP_EXPECT]; /* which waits for us */
}

/* The version stands right behind the target in the library's memory; with a NUL inside the target
 * there is something between them. */
static bool was_cut(const struct exchange *x, const char *version)
{
    uintptr_t gap = (uintptr_t)version - (uintptr_t)x->uri;
    return gap > x->uri_len + 1 && gap < CONNECTION_MEMORY;
}

static enum MHD_Result start(struct serve *s, struct MHD_Connection *c, struct exchange *x,
                             const char *method, const char *version, struct eco_server_worker *w)
{
    struct eco_http_reply r;
    x->started_ns = eco_clock_mono_ns();
    x->q.method = method;
    x->q.version = version;
    x->q.cut_target = was_cut(x, version);
    MHD_get_connection_values(c, MHD_HEADER_KIND, on_header, &x->q);
    read_peer(c, x->q.peer);
    atomic_fetch_add(&s->busy, 1);
    x->started = true;
    serve_conn_deadline(conn_of(c), x->started_ns + s->timeout_ns);
    if (eco_server_admit(s->server, w, &x->q, &x->body_limit, &r)) {
        return MHD_YES;
    }
    struct MHD_Response *m = make_response(s, x, &r);
    if (m && !r.close && body_comes(&x->q)) {
        x->refusal = m;
        x->refusal_status = (unsigned)r.status;
        return MHD_YES;
    }
    return queue(s, c, (unsigned)r.status, m);
}

static enum MHD_Result more_body(struct exchange *x, const char *bytes, size_t *len)
{
    if (!x->refusal && x->body.len + *len <= x->body_limit) {
        eco_buf_put(&x->body, bytes, *len);
    } else {
        x->too_long = true;
        x->dropped += *len;
        eco_buf_done(&x->body);
        x->body_limit = 0;
    }
    *len = 0;
    return x->dropped <= MAX_DROPPED ? MHD_YES : MHD_NO;
}

static enum MHD_Result finish(struct serve *s, struct MHD_Connection *c, struct exchange *x,
                              struct eco_server_worker *w)
{
    struct eco_http_reply r = {0};
    if (x->refusal) {
        struct MHD_Response *m = x->refusal;
        x->refusal = NULL;
        return queue(s, c, x->refusal_status, m);
    }
    if (x->too_long || !eco_buf_ok(&x->body)) {
        eco_server_refuse_body(s->server, w, &x->q, &r);
    } else {
        x->q.body = x->body.len ? x->body.data : NULL;
        x->q.body_len = x->body.len;
        eco_server_handle(s->server, w, &x->q, &r);
    }
    return queue(s, c, (unsigned)r.status, make_response(s, x, &r));
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *bytes,
                                  size_t *len, void **con_cls)
{
    struct serve *s = cls;
    struct exchange *x = *con_cls;
    (void)url;
    struct eco_server_worker *w = x && x->target ? serve_worker_take(s) : NULL;
    if (!w) {
        return MHD_NO; /* no memory: the connection ends */
    }
    enum MHD_Result done = !x->started ? start(s, c, x, method, version, w)
                           : *len      ? more_body(x, bytes, len)
                                       : finish(s, c, x, w);
    serve_worker_give(s, w);
    return done;
}

static void on_completed(void *cls, struct MHD_Connection *c, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    struct serve *s = cls;
    struct exchange *x = *con_cls;
    (void)why;
    if (x) {
        if (x->started) {
            atomic_fetch_sub(&s->busy, 1);
        }
        if (x->refusal) {
            MHD_destroy_response(x->refusal);
        }
        eco_buf_done(&x->body);
        free(x->target);
        free(x);
        *con_cls = NULL;
    }
    serve_conn_deadline(conn_of(c), eco_clock_mono_ns() + s->timeout_ns);
}

static void on_connection(void *cls, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct serve *s = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context =
            info ? serve_conn_open(&s->conns, info->connect_fd, eco_clock_mono_ns() + s->timeout_ns)
                 : NULL;
    } else {
        serve_conn_close(&s->conns, *context);
        *context = NULL;
    }
}

/* ---- life ---------------------------------------------------------------------------------- */

/* A quarter stays for others. Behind a proxy all come from one. */
static unsigned of_one_address(const struct eco_args_serve *a)
{
    return a->trust_proxy ? 0 : (unsigned)(a->connections - a->connections / 4);
}

int serve_http_start(struct serve *s, int listen_fd, const char *cert, const char *key,
                     struct serve_http **out, struct eco_err *err)
{
    struct serve_http *h = calloc(1, sizeof(*h));
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_USE_SUPPRESS_DATE_NO_CLOCK;
    struct MHD_OptionItem more[4] = {0};
    size_t n = 0;
    if (!h) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    flags &= ~(unsigned)MHD_USE_SUPPRESS_DATE_NO_CLOCK; /* RFC 9110: a server with a clock dates */
    if (cert) {
        flags |= MHD_USE_TLS;
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)cert};
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)key};
    }
    if (s->threads > 1) {
        more[n++] =
            (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)s->threads, NULL};
    }
    more[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    if (cert && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        free(h);
        return eco_err_set(err, ECO_E_UNSUPPORTED, "tls_cert",
                           "this machine's libmicrohttpd has no TLS: put a proxy before it");
    }
    h->serve = s;
    h->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, listen_fd,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)s->args->connections, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(s->timeout_ns / 1000000000) + 1, MHD_OPTION_URI_LOG_CALLBACK, on_uri, s,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, of_one_address(s->args), MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_ARRAY, more,
        MHD_OPTION_END);
    if (!h->daemon) {
        free(h);
        return eco_err_set(err, ECO_E_DEVICE, cert ? "tls_cert" : "port",
                           cert ? "the server did not start: certificate and key must fit"
                                : "the server did not start");
    }
    *out = h;
    return 0;
}

void serve_http_quiesce(struct serve_http *h)
{
    MHD_quiesce_daemon(h->daemon);
}

void serve_http_stop(struct serve_http *h)
{
    if (h) {
        MHD_stop_daemon(h->daemon);
        free(h);
    }
}
