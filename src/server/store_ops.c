#include "store_ops.h"

#include <string.h>

/* ---- tables -------------------------------------------------------------------------------- */

#define P(name, type, def, lo, hi, unit, choices, alias, flags, help)                              \
    {#name, ECO_T_##type, def, lo, hi, unit, choices, alias, flags, help, offsetof(ARGS, name)},
#define R(name, type, unit, help)                                                                  \
    {ECO_FIELD_NAME(name), ECO_F_##type, offsetof(REC, name), unit, help, NULL},
#define RL(name, sub, help)                                                                        \
    {ECO_FIELD_NAME(name), ECO_F_LIST, offsetof(REC, name), "", help, &rec_##sub},

#define ARGS struct eco_args_replications
static const struct eco_param params_replications[] = {
#include "args_replications.def"
};
#undef ARGS
#define ARGS struct eco_args_submissions
static const struct eco_param params_submissions[] = {
#include "args_submissions.def"
};
#undef ARGS
#define ARGS struct eco_args_withdrawals
static const struct eco_param params_withdrawals[] = {
#include "args_withdrawals.def"
};
#undef ARGS
#define ARGS struct eco_args_moderations
static const struct eco_param params_moderations[] = {
#include "args_moderations.def"
};
#undef ARGS

#define REC struct eco_res_replication
static const struct eco_field fields_replication[] = {
#include "rec_replication.def"
};
#undef REC
static const struct eco_record rec_replication = {"Replication", fields_replication,
                                                  ECO_COUNT(fields_replication),
                                                  sizeof(struct eco_res_replication), NULL};
#define REC struct eco_res_replications
static const struct eco_field fields_replications[] = {
#include "rec_replications.def"
};
#undef REC
static const struct eco_record rec_replications = {"Replications", fields_replications,
                                                   ECO_COUNT(fields_replications),
                                                   sizeof(struct eco_res_replications), "rows"};
#define REC struct eco_res_receipt
static const struct eco_field fields_receipt[] = {
#include "rec_receipt.def"
};
#undef REC
static const struct eco_record rec_receipt = {"Receipt", fields_receipt, ECO_COUNT(fields_receipt),
                                              sizeof(struct eco_res_receipt), NULL};
#define REC struct eco_res_changed
static const struct eco_field fields_changed[] = {
#include "rec_changed.def"
};
#undef REC
static const struct eco_record rec_changed = {"Changed", fields_changed, ECO_COUNT(fields_changed),
                                              sizeof(struct eco_res_changed), NULL};
static const struct eco_record rec_moderated = {
    "Moderated", fields_changed, ECO_COUNT(fields_changed), sizeof(struct eco_res_changed), NULL};

/* ---- runs ---------------------------------------------------------------------------------- */

static struct eco_server_ctx *server_ctx(struct eco_ctx *ctx)
{
    return (struct eco_server_ctx *)(void *)ctx;
}

/* NULL with `err`: this server has no store. */
static const struct eco_server_store *store_of(struct eco_ctx *ctx, struct eco_err *err)
{
    const struct eco_server_store *s = server_ctx(ctx)->store;
    if (!s) {
        eco_err_set(err, ECO_E_UNSUPPORTED, "store",
                    "this server keeps no reports, nothing was stored: it was started without "
                    "--store");
    }
    return s;
}

int eco_store_may_list(const struct eco_server_ctx *ctx, const struct eco_args_replications *a,
                       struct eco_err *err)
{
    if (strcmp(a->state, "accepted") != 0 && !ctx->owner) {
        return eco_err_set(err, ECO_E_PERMISSION, "state",
                           "only the owner (bearer token) sees what is not accepted");
    }
    return 0;
}

static int run_list(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_server_store *s = store_of(ctx, err);
    int rc = s ? eco_store_may_list(server_ctx(ctx), args, err) : err->code;
    return rc ? rc : s->list(s->to, ctx, args, result, err);
}

static int run_submit(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_server_store *s = store_of(ctx, err);
    struct eco_res_receipt *receipt = result;
    int rc = s ? s->submit(s->to, ctx, args, receipt, err) : err->code;
    server_ctx(ctx)->created = rc == 0 && !receipt->duplicate;
    return rc;
}

static int run_withdraw(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_server_store *s = store_of(ctx, err);
    const struct eco_args_withdrawals *a = args;
    *(struct eco_res_changed *)result = (struct eco_res_changed){a->id, "withdrawn"};
    return s ? s->withdraw(s->to, a, err) : err->code;
}

static int run_moderate(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_server_store *s = store_of(ctx, err);
    const struct eco_args_moderations *a = args;
    *(struct eco_res_changed *)result = (struct eco_res_changed){a->id, a->state};
    return s ? s->moderate(s->to, a, err) : err->code;
}

#define ROW(op, line, about_, rec, run_)                                                           \
    .name = #op, .path = "/v1/" #op, .summary = line, .about = about_, .params = params_##op,      \
    .n_params = ECO_COUNT(params_##op), .args_size = sizeof(struct eco_args_##op), .result = &rec, \
    .run = run_, .examples = ""

const struct eco_op eco_store_ops[ECO_STORE_OPS] = {
    {ROW(replications, "reports that others measured",
         "Accepted reports, newest first, each set against the published curve of its class.",
         rec_replications, run_list)},
    {ROW(submissions, "store a report of your own",
         "Takes an energy.json that holds to its schema, with your consent: POST it to /v1/reports "
         "with action=store. Keep the receipt: its "
         "token withdraws the report.",
         rec_receipt, run_submit)},
    {ROW(withdrawals, "withdraw a report",
         "Removes the report and all that was read from it, for whoever has its receipt.",
         rec_changed, run_withdraw)},
    {ROW(moderations, "list a report, or not",
         "For the owner of the server (bearer token): about format, never about results.",
         rec_moderated, run_moderate)}};
