/*
 * POST /mcp: Model Context Protocol over Streamable HTTP, without sessions and without streams of
 * our own: one message in, one JSON reply out. Pages of other sites may not use it (DNS rebinding),
 * so an Origin must be this machine's or one that the owner named.
 */
#include "mcp/mcp.h"
#include "server_parts.h"

#include <string.h>

/* "http://localhost:8080" -> "localhost"; what is no http(s) origin has none. */
static bool host_of(const char *origin, const char **host, size_t *len)
{
    const char *at = strstr(origin, "://");
    if (!at || (strncmp(origin, "http://", 7) != 0 && strncmp(origin, "https://", 8) != 0)) {
        return false;
    }
    *host = at + 3;
    *len = (*host)[0] == '[' ? strcspn(*host, "]") + 1 : strcspn(*host, ":/");
    return true;
}

static bool is_local_origin(const char *origin)
{
    static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
    const char *host;
    size_t len;
    if (!host_of(origin, &host, &len)) {
        return false;
    }
    for (size_t i = 0; i < ECO_COUNT(local); i++) {
        if (strlen(local[i]) == len && strncmp(host, local[i], len) == 0) {
            return true;
        }
    }
    return false;
}

bool eco_origin_may(const struct eco_server *s, const char *origin)
{
    if (!origin || is_local_origin(origin)) { /* not from a page, or from one of this machine */
        return true;
    }
    for (size_t i = 0; i < s->o.n_origins; i++) {
        if (eco_str_casecmp(s->o.origins[i], origin) == 0) {
            return true;
        }
    }
    return false;
}

/* A client that takes no JSON cannot be answered. */
static bool takes_json(const char *accept)
{
    return !accept || strstr(accept, "application/json") || strstr(accept, "*/*") ||
           strstr(accept, "application/*");
}

void eco_mcp_http_answer(struct eco_server *s, struct eco_server_worker *w,
                         const struct eco_http_request *q, struct eco_http_reply *r)
{
    const char *version = q->header[ECO_HTTP_MCP_VERSION];
    const char *origin = q->header[ECO_HTTP_ORIGIN];
    struct eco_mcp_call call = {.lang = eco_server_language(w)};
    if (!eco_origin_may(s, origin)) {
        eco_refuse(w, ECO_REFUSED_FORBIDDEN, "Origin", r,
                   "pages of this origin may not call /mcp: its owner can add it to --origins");
        return;
    }
    if (!takes_json(q->header[ECO_HTTP_ACCEPT])) {
        eco_refuse(w, ECO_REFUSED_NO_JSON_WANTED, "Accept", r,
                   "replies are application/json, which 'Accept' must allow");
        return;
    }
    if (version && !eco_mcp_knows_version(version)) {
        eco_refuse(w, ECO_REFUSED_VERSION, "MCP-Protocol-Version", r,
                   "this protocol version is not spoken here: one of %s", eco_mcp_versions());
        return;
    }
    eco_mcp_handle(&s->mcp, q->body ? q->body : "", q->body_len,
                   version ? version : ECO_MCP_VERSION_UNSAID, &call, &w->out, NULL);
    bool no_rpc =
        w->out.len && strncmp(eco_buf_str(&w->out), "{\"jsonrpc\":\"2.0\",\"id\":null", 26) == 0;
    eco_reply_start(r,
                    w->out.len == 0 ? 202
                    : no_rpc        ? 400
                                    : 200,
                    w->out.len ? "application/json" : NULL);
    eco_http_set(r, "Access-Control-Allow-Origin", origin ? origin : "null"); /* not every page */
    eco_http_add(r, "Vary", "Origin");
    eco_http_add(r, "Cache-Control", "no-store");
    if (w->out.len) {
        eco_reply_body(w, r);
    }
}
