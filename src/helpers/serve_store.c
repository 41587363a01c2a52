/* The store of submitted reports behind the server's hooks, where it was built in. */
#include "serve_parts.h"

#ifdef ECO_HAVE_STORE

#include "base/clock.h"
#include "store_port.h"

#include <math.h>
#include <string.h>

#define BUSY_MS 2000 /* a thread that waits for another process answers nobody else */

static const char *kept(struct eco_ctx *ctx, const char *s)
{
    return s && s[0] ? eco_arena_strdup(ctx->arena, s, strlen(s)) : NULL;
}

static struct eco_opt opt(double v)
{
    return (struct eco_opt){v, isfinite(v)};
}

static void fill(struct eco_ctx *ctx, const struct eco_store_row *r,
                 struct eco_res_replication *out)
{
    char received[32];
    eco_clock_iso8601(r->received_unix_ms, received);
    *out = (struct eco_res_replication){
        .id = kept(ctx, r->id),
        .received = kept(ctx, received),
        .state = eco_store_state_name(r->state),
        .replication = r->replication,
        .gpu = kept(ctx, r->gpu),
        .arch = kept(ctx, r->arch),
        .model = kept(ctx, r->model),
        .precision = kept(ctx, r->precision),
        .basis = kept(ctx, r->basis),
        .boundary = kept(ctx, r->boundary),
        .signer = kept(ctx, r->signer),
        .params_b = opt(r->params_b),
        .delta_pct = opt(r->delta_pct),
        .ci = {r->lo95_pct, r->hi95_pct, isfinite(r->lo95_pct) && isfinite(r->hi95_pct)},
        .j_per_token = opt(r->j_per_token),
        .n = {(double)r->n, r->n >= 0},
        .classified = r->classified,
        .agrees = r->classified && r->agrees,
        .curve_pct = r->classified ? opt(r->pred_pct) : (struct eco_opt){0},
        .band_pct = r->classified ? opt(r->band_pct) : (struct eco_opt){0}};
}

static void query_of(const struct eco_args_replications *a, struct eco_store_query *q)
{
    eco_store_query_init(q);
    q->gpu = a->gpu, q->arch = a->arch, q->model = a->model, q->precision = a->precision;
    q->signer = a->signer;
    q->min_params_b = a->min_params_b > 0 ? a->min_params_b : q->min_params_b;
    q->max_params_b = a->max_params_b > 0 ? a->max_params_b : q->max_params_b;
    q->replications_only = a->replications_only;
    q->signed_only = a->signed_only;
    q->limit = (size_t)a->limit;
    q->cursor = a->cursor;
    q->any_state = !eco_store_state_parse(a->state, &q->state); /* "all" */
}

static int export_all(void *to, const struct eco_args_replications *a, bool csv,
                      struct eco_buf *out, struct eco_err *err)
{
    struct eco_store_query q;
    query_of(a, &q);
    q.cursor = NULL;
    return eco_store_export(to, &q, csv, out, err);
}

static int list(void *to, struct eco_ctx *ctx, const struct eco_args_replications *a,
                struct eco_res_replications *out, struct eco_err *err)
{
    struct eco_store_query q;
    struct eco_store_page page;
    query_of(a, &q);
    int rc = eco_store_list(to, &q, ctx->arena, &page, err);
    if (rc) {
        return rc;
    }
    struct eco_res_replication *rows = eco_arena_array(ctx->arena, page.count + 1, sizeof(*rows));
    if (!rows) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    for (size_t i = 0; i < page.count; i++) {
        fill(ctx, &page.rows[i], &rows[i]);
    }
    *out = (struct eco_res_replications){page.total, kept(ctx, page.next), {rows, page.count}};
    return 0;
}

static int submit(void *to, struct eco_ctx *ctx, const struct eco_args_submissions *a,
                  struct eco_res_receipt *out, struct eco_err *err)
{
    struct eco_store_receipt r;
    int rc = eco_store_submit(to, a->document, strlen(a->document), a->consent, &r, err);
    if (rc == 0) {
        *out = (struct eco_res_receipt){kept(ctx, r.id), kept(ctx, r.token), r.duplicate,
                                        eco_store_state_name(r.state)};
    }
    return rc;
}

static int withdraw(void *to, const struct eco_args_withdrawals *a, struct eco_err *err)
{
    return eco_store_withdraw(to, a->id, a->token, err);
}

static int moderate(void *to, const struct eco_args_moderations *a, struct eco_err *err)
{
    enum eco_store_state state = ECO_STORE_PENDING;
    enum eco_store_reason reason = ECO_STORE_NO_REASON;
    eco_store_state_parse(a->state, &state); /* one of the parameter's choices */
    if (a->reason && !eco_store_reason_parse(a->reason, &reason)) {
        return eco_err_set(err, ECO_E_UNKNOWN_NAME, "reason",
                           "unknown reason '%.40s': a result is never one", a->reason);
    }
    return eco_store_moderate(to, a->id, state, reason, err);
}

static int ready(void *to, struct eco_err *err)
{
    return eco_store_ready(to, err);
}

int serve_store_open(const struct eco_args_serve *a, struct eco_server_store *out,
                     struct eco_err *err)
{
    struct eco_store *s = NULL;
    int rc = eco_store_port_open(a->store, a->auto_accept, BUSY_MS, &s, err);
    if (rc == 0) {
        *out = (struct eco_server_store){s, list, export_all, submit, withdraw, moderate, ready};
    }
    return rc;
}

void serve_store_close(struct eco_server_store *s)
{
    eco_store_close(s->to);
}

#else

int serve_store_open(const struct eco_args_serve *a, struct eco_server_store *out,
                     struct eco_err *err)
{
    (void)a, (void)out;
    return eco_err_set(err, ECO_E_UNSUPPORTED, "store",
                       "this build has no store: it needs SQLite or PostgreSQL's library");
}

void serve_store_close(struct eco_server_store *s)
{
    (void)s;
}

#endif
