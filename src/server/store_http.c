/* What HTTP adds to the store: who may change it, what asks to be stored, the export. */
#include "server_parts.h"

#include <string.h>

bool eco_is_raw_report(const struct eco_json *body)
{
    /* both schemas require these; no parameter has such a name */
    return eco_json_get(body, "schema_version") || eco_json_get(body, "report_version") ||
           eco_json_get(body, "system_under_test");
}

bool eco_store_asked(struct eco_server_worker *w, const struct eco_http_request *q)
{
    size_t len = 0;
    const struct eco_json *action = eco_json_get(w->doc.root, "action");
    const char *asked = eco_query_value(&w->arena, q->target, "action", &len);
    bool body = action && action->type == ECO_JSON_STRING;
    return (body && eco_str_ieq(action->str, action->len, "store")) ||
           (asked && eco_str_ieq(asked, len, "store"));
}

/* What follows "Bearer ", or NULL. */
static const char *bearer(const struct eco_http_request *q)
{
    static const char scheme[] = "Bearer ";
    const char *given = q->header[ECO_HTTP_AUTHORIZATION];
    bool fits = given && eco_str_ncasecmp(given, scheme, sizeof scheme - 1) == 0;
    return fits ? given + sizeof scheme - 1 : NULL;
}

bool eco_store_is_owner(const struct eco_server *s, const struct eco_http_request *q)
{
    const char *token = bearer(q);
    return token && s->o.token && eco_str_same_secret(s->o.token, token);
}

/* "eco.example.org:8080": a name that its owner may point at this machine (DNS rebinding). Not an
 * address, and not a name of the local network alone. */
static bool may_be_rebound(const char *host)
{
    size_t n = strcspn(host, ":");
    return memchr(host, '.', n) && strspn(host, "0123456789.") < n;
}

/* A page of this very server: its Origin names the host the request was sent to. Over HTTPS a
 * certificate vouches for the name, behind a proxy of ours the proxy does. */
static bool same_site(const struct eco_server *s, const struct eco_http_request *q)
{
    const char *origin = q->header[ECO_HTTP_ORIGIN], *host = q->header[ECO_HTTP_HOST];
    const char *at = strstr(origin, "://");
    bool vouched = s->o.trust_proxy || strncmp(origin, "https:", 6) == 0;
    return host && at && strcmp(at + 3, host) == 0 && (vouched || !may_be_rebound(host));
}

bool eco_store_may(struct eco_server *s, struct eco_server_worker *w, const struct eco_route *route,
                   const struct eco_op *op, const struct eco_http_request *q,
                   struct eco_http_reply *r)
{
    const char *origin = q->header[ECO_HTTP_ORIGIN];
    bool submits = op == route->store_op, owner = route->owner || (submits && s->o.token);
    if (!route->write && !submits) {
        return true;
    }
    if (origin && !same_site(s, q) && !eco_origin_may(s, origin)) {
        return eco_refuse(w, ECO_REFUSED_FORBIDDEN, "Origin", r,
                          "pages of this origin may not change the store: its owner can add it to "
                          "--origins");
    }
    if (!s->o.store || !owner) { /* without a store the operation says so */
        return true;
    }
    if (!s->o.token) {
        return eco_refuse(w, ECO_REFUSED_FORBIDDEN, NULL, r,
                          "this is closed here: the server was started without --token-file");
    }
    if (!bearer(q)) {
        eco_refuse(w, ECO_REFUSED_NO_TOKEN, "Authorization", r,
                   "this wants the owner's token: send 'Authorization: Bearer TOKEN'");
        eco_http_add(r, "WWW-Authenticate", "Bearer");
        return false;
    }
    return eco_store_is_owner(s, q) || eco_refuse(w, ECO_REFUSED_FORBIDDEN, "Authorization", r,
                                                  "this is not the owner's token");
}

int eco_store_status(const struct eco_err *err)
{
    bool fault = err->code == ECO_E_CONTENT || err->code == ECO_E_IO || err->code == ECO_E_DEVICE ||
                 err->code == ECO_E_PERMISSION || err->code == ECO_E_INTERNAL;
    return fault && strcmp(err->arg, "store") == 0 ? 503 : 0;
}

bool eco_store_export_answer(struct eco_server *s, struct eco_server_worker *w,
                             const struct eco_op *op, const void *args, struct eco_server_ctx *ctx,
                             struct eco_http_reply *r)
{
    const struct eco_args_replications *a = args;
    struct eco_err err = {0};
    if (op != &eco_store_ops[ECO_STORE_LIST] || !a->export || !s->o.store) {
        return false;
    }
    bool csv = strcmp(a->export, "csv") == 0;
    int rc = eco_store_may_list(ctx, a, &err);
    rc = rc ? rc : s->o.store->export_all(s->o.store->to, a, csv, &w->out, &err);
    if (rc) {
        eco_reply_error(w, eco_store_status(&err), &err, r);
        return true;
    }
    eco_reply_start(r, 200, csv ? "text/csv; charset=utf-8" : "application/json; charset=utf-8");
    eco_http_add(r, "Cache-Control", "no-store");
    eco_http_add(r, "Content-Disposition",
                 csv ? "attachment; filename=\"replications.csv\""
                     : "attachment; filename=\"replications.json\"");
    eco_reply_body(w, r);
    return true;
}
