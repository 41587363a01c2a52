/*
 * `q`: an operation asked in words beside its parameters, as the published interface takes it. What
 * is given by name stands; the words fill the rest, and what they leave open is an error or a
 * note, never a guess.
 */
#include "args.h"
#include "ask.h"
#include "runs.h"

#include <string.h>

static int parse(struct eco_ctx *ctx, const char *text, struct eco_query *q, struct eco_err *err)
{
    void *work = eco_arena_alloc(ctx->arena, eco_query_work_size());
    int rc = work ? eco_query_parse(text, strlen(text), &eco_ask_names, work, q, err)
                  : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    if (rc == 0 && q->precision && !q->precision_exact && q->n_precisions < 2) {
        rc = eco_err_set(err, ECO_E_UNSUPPORTED, "q",
                         "there are no data for %s, and no other precision stands for it",
                         q->precision);
    }
    if (rc == 0 && q->n_sizes > 1) {
        rc = eco_err_set(err, ECO_E_INVALID, "q", "several models are named: ask for one");
    }
    return rc;
}

static int fill(struct eco_ctx *ctx, const struct eco_op *op, const struct eco_query *q, void *args,
                struct eco_err *err)
{
    struct eco_ask_params *p = eco_arena_alloc(ctx->arena, sizeof(*p));
    if (!p) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    double requests = eco_query_has(q, ECO_QUERY_REQUESTS) ? q->number[ECO_QUERY_REQUESTS] : 0;
    eco_ask_params_of(ctx, op, q, requests, p);
    for (size_t i = 0; i < p->n; i++) {
        const struct eco_param *to = eco_args_find(op, p->p[i].name, strlen(p->p[i].name));
        const char *v = p->p[i].value ? p->p[i].value : "true";
        if (!eco_args_have(op, args, to->offset)) {
            int rc = eco_args_set(op, args, ctx->arena, to, v, strlen(v), err);
            if (rc) {
                return rc;
            }
        }
    }
    return 0;
}

/* What was not understood, behind the notes of the result. */
static int add_notes(struct eco_ctx *ctx, const struct eco_op *op, const struct eco_query *q,
                     void *result, struct eco_err *err)
{
    for (size_t i = 0; q->n_missed && i < op->result->n_fields; i++) {
        const struct eco_field *f = &op->result->fields[i];
        if (f->type != ECO_F_STRS || strcmp(f->name, "notes") != 0) {
            continue;
        }
        struct eco_strs *notes = (struct eco_strs *)((char *)result + f->offset);
        const char **v = eco_arena_array(ctx->arena, notes->n + q->n_missed, sizeof(*v));
        if (!v) {
            return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
        }
        for (size_t k = 0; k < notes->n; k++) {
            v[k] = notes->v[k];
        }
        for (size_t k = 0; k < q->n_missed; k++) {
            v[notes->n + k] = eco_step_fmt(ctx, "not used of the question: '%s' (%s)",
                                           q->missed[k].text, eco_ask_reason(ctx, &q->missed[k]));
        }
        *notes = (struct eco_strs){v, notes->n + q->n_missed};
    }
    return 0;
}

int eco_run_asked(struct eco_ctx *ctx, const char *verb, const void *args, void *result,
                  struct eco_err *err)
{
    const struct eco_op *op = eco_op_find(verb);
    const struct eco_param *param = eco_args_find(op, "q", 1);
    struct eco_query *q = eco_arena_alloc(ctx->arena, sizeof(*q));
    char *filled = eco_arena_alloc(ctx->arena, op->args_size);
    if (!q || !filled) {
        return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
    }
    memcpy(filled, args, op->args_size);
    const char **text = (const char **)(void *)(filled + param->offset);
    int rc = parse(ctx, *text, q, err);
    *text = NULL; /* said; what runs now is the question in parameters */
    rc = rc ? rc : fill(ctx, op, q, filled, err);
    rc = rc ? rc : op->run(ctx, filled, result, err);
    return rc ? rc : add_notes(ctx, op, q, result, err);
}
