/* What is served where: the operations that have a path, and the server's own places. */
#include "ops/args.h"
#include "server_parts.h"

#include <string.h>

/* Places that are no operation. */
static const struct eco_route own[] = {
    {.path = "/openapi.json", .kind = ECO_ROUTE_OPENAPI, .get = true},
    {.path = "/healthz", .kind = ECO_ROUTE_HEALTH, .get = true},
    {.path = "/healthz/ready", .kind = ECO_ROUTE_READY, .get = true, .counted = true},
    {.path = "/metrics", .kind = ECO_ROUTE_METRICS, .get = true},
    {.path = "/mcp",
     .kind = ECO_ROUTE_MCP,
     .post = true,
     .counted = true,
     .body_limit = ECO_HTTP_MAX_BODY_MCP}};

/* Bodies over the usual limit, and what has no GET since its input is a document. */
static const struct {
    const char *path;
    size_t body_limit;
    bool get;
} documents[] = {{"/v1/audit", ECO_HTTP_MAX_BODY_AUDIT, true},
                 {"/v1/reports", ECO_HTTP_MAX_BODY_REPORT, false}};

static void of_op(const struct eco_op *op, struct eco_route *r)
{
    *r = (struct eco_route){.path = op->path,
                            .kind = ECO_ROUTE_OP,
                            .op = op,
                            .get = true,
                            .post = true,
                            .counted = true,
                            .body_limit = ECO_HTTP_MAX_BODY};
    for (size_t i = 0; i < ECO_COUNT(documents); i++) {
        if (strcmp(documents[i].path, op->path) == 0) {
            r->body_limit = documents[i].body_limit;
            r->get = documents[i].get;
            r->store_op = r->get ? NULL : &eco_store_ops[ECO_STORE_SUBMIT];
        }
    }
}

/* Reading the store is a GET, changing it a POST. Submitting has no place of its own: it is what
 * /v1/reports does with action=store. */
static size_t of_store(struct eco_route *r)
{
    size_t n = 0;
    for (size_t i = 0; i < ECO_STORE_OPS; i++) {
        if (i != ECO_STORE_SUBMIT) {
            of_op(&eco_store_ops[i], &r[n]);
            r[n].live = true;
            r[n].get = i == ECO_STORE_LIST;
            r[n].post = r[n].write = !r[n].get;
            r[n++].owner = i == ECO_STORE_MODERATE;
        }
    }
    return n;
}

size_t eco_routes_make(struct eco_route out[ECO_MAX_ROUTES])
{
    size_t n = 0;
    out[n++] = (struct eco_route){.path = "other", .kind = ECO_ROUTE_OTHER, .get = true};
    for (size_t i = 0; i < eco_ops_count && n < ECO_MAX_ROUTES - ECO_COUNT(own) - ECO_STORE_OPS;
         i++) {
        if (eco_ops[i].path) {
            of_op(&eco_ops[i], &out[n++]);
        }
    }
    n += of_store(&out[n]);
    for (size_t i = 0; i < ECO_COUNT(own); i++) {
        out[n++] = own[i];
    }
    return n;
}

unsigned eco_route_find(const struct eco_server *s, const char *path, size_t len)
{
    for (size_t i = 1; i < s->n_routes; i++) {
        if (strncmp(s->route[i].path, path, len) == 0 && s->route[i].path[len] == '\0') {
            return (unsigned)i;
        }
    }
    return 0;
}

/* "/v1/estimate" -> "estimate": what all addresses begin with makes none of them alike. */
static const char *word_of(const char *path, size_t *len)
{
    size_t skip = *len > 4 && strncmp(path, "/v1/", 4) == 0 ? 4 : *len > 0 && path[0] == '/';
    *len -= skip;
    return path + skip;
}

const char *eco_place_near(const struct eco_server *s, const char *path, size_t len)
{
    const char *word = word_of(path, &len), *place = NULL;
    struct eco_nearest near = eco_nearest_start(word, len);
    for (size_t i = 1; i < s->n_routes; i++) {
        const char *best = near.best;
        size_t n = strlen(s->route[i].path);
        eco_nearest_offer(&near, word_of(s->route[i].path, &n));
        place = near.best == best ? place : s->route[i].path;
    }
    return place;
}
