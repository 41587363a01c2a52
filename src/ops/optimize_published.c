/* The published optimizer in the result of optimize. */
#include "base/buf.h"
#include "dataset/dataset.h"
#include "eco_optimize.h"
#include "eco_published.h"
#include "optimize_parts.h"

#include <math.h>
#include <string.h>

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static void fill_published_config(const struct eco_published_config *c, struct eco_res_config *out)
{
    *out = (struct eco_res_config){
        .precision = eco_published_name(c->precision),
        .batch = (int64_t)c->batch,
        .context = (int64_t)c->context,
        .energy_j_per_1k_tokens = {c->energy_j_per_1k_tokens, c->have_energy},
        .energy_mj_per_token = {c->energy_j_per_token, c->have_energy},
        .energy_rel_fp16 = {c->energy_rel_fp16, true},
        .delta_pct_vs_fp16 = c->delta_pct,
        .latency_ms_per_token = c->latency_ms_per_token,
        .throughput_tok_s = c->throughput_tok_s,
        .bound = c->compute_bound ? "compute" : "memory",
        .vram_gb = c->vram_gb,
        .confidence = eco_confidence_name(c->confidence),
        .energy_basis =
            c->energy_basis == ECO_BASIS_UNAVAILABLE ? NULL : eco_basis_name(c->energy_basis),
        .recommendation = eco_recommendation_name(c->recommendation)};
}

static const struct eco_res_config *published_one(struct eco_ctx *ctx,
                                                  const struct eco_published_config *c)
{
    struct eco_res_config *out = eco_arena_alloc(ctx->arena, sizeof(*out));
    if (out) {
        fill_published_config(c, out);
    }
    return out;
}

static int published_lists(struct eco_ctx *ctx, const struct eco_published_optimum *o,
                           struct eco_res_optimize *out, struct eco_err *err)
{
    struct eco_res_config *alt = eco_arena_array(ctx->arena, 4, sizeof(*alt));
    struct eco_res_versus *vs = eco_arena_array(ctx->arena, 4, sizeof(*vs));
    struct eco_res_config *front = eco_arena_array(ctx->arena, o->n_front + 1, sizeof(*front));
    if (!alt || !vs || !front) {
        return no_memory(err);
    }
    for (size_t i = 0; i < o->n_alternatives; i++) {
        const struct eco_published_versus *v = &o->versus[i];
        fill_published_config(&o->alternatives[i], &alt[i]);
        vs[i] = (struct eco_res_versus){{v->energy_pct, v->have_energy},
                                        {v->latency_pct, v->have_latency},
                                        {v->throughput_pct, v->have_throughput},
                                        {v->vram_pct, v->have_vram}};
        alt[i].vs_recommended = &vs[i];
    }
    for (size_t i = 0; i < o->n_front; i++) {
        fill_published_config(&o->front[i], &front[i]);
    }
    out->alternatives = (struct eco_list){alt, o->n_alternatives};
    out->pareto_energy_latency = (struct eco_list){front, o->n_front};
    return 0;
}

static int published_grid(struct eco_ctx *ctx, const struct eco_args_optimize *a,
                          const struct eco_optimize_lists *l, struct eco_published_grid *g,
                          struct eco_err *err)
{
    enum eco_published_class *list =
        eco_arena_array(ctx->arena, l->precisions.n + 1, sizeof(*list));
    if (!list) {
        return no_memory(err);
    }
    for (size_t i = 0; i < l->precisions.n; i++) {
        enum eco_precision p;
        int rc = eco_step_precision(l->precisions.v[i], ECO_PREC_NONE, "precisions", &p, err);
        if (rc) {
            return rc;
        }
        list[i] = eco_precision_published(p);
        if (list[i] == ECO_PUB_NONE) {
            return eco_err_set(err, ECO_E_UNSUPPORTED, "precisions",
                               "the published optimizer knows FP16, NF4 and INT8, not %s",
                               eco_precision_name(p));
        }
    }
    enum eco_optimize_objective o;
    eco_optimize_objective_parse(a->objective, strlen(a->objective), &o);
    if (o > ECO_OPTIMIZE_MIN_VRAM) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "objective",
                           "the published optimizer has no objective '%s'", a->objective);
    }
    g->objective = (enum eco_published_objective)o;
    g->precisions = l->precisions.n ? list : NULL;
    g->n_precisions = l->precisions.n;
    g->batches = l->batches.n ? l->batches.v : NULL;
    g->n_batches = l->batches.n;
    g->contexts = l->contexts.n ? l->contexts.v : NULL;
    g->n_contexts = l->contexts.n;
    g->have_max_latency = a->max_latency_ms > 0, g->max_latency_ms = a->max_latency_ms;
    g->have_max_vram = a->max_vram_gb > 0, g->max_vram_gb = a->max_vram_gb;
    g->have_min_throughput = a->min_throughput > 0, g->min_throughput = a->min_throughput;
    return 0;
}

int eco_optimize_published(struct eco_ctx *ctx, const struct eco_args_optimize *a,
                           const struct eco_optimize_lists *l, struct eco_question *q,
                           struct eco_res_optimize *out, struct eco_err *err)
{
    static const char *const notes[] = {"the published optimizer, its known faults included: "
                                        "energy does not depend on the context, "
                                        "batch saves by a fixed 35 %, the card's memory is no "
                                        "limit, energy_mj_per_token is in joules"};
    const struct eco_published_tables *t = eco_dataset_published();
    struct eco_published_grid g = {.params_b = q->model.params_b, .arch = q->arch};
    struct eco_published_optimum *o = eco_arena_alloc(ctx->arena, sizeof(*o));
    int rc = o ? published_grid(ctx, a, l, &g, err) : no_memory(err);
    if (rc == 0) {
        rc = eco_published_optimize(t, &g, o, err);
    }
    if (rc == 0) {
        rc = published_lists(ctx, o, out, err);
    }
    if (rc) {
        return rc;
    }
    out->recommended = o->have_recommended ? published_one(ctx, &o->recommended) : NULL;
    out->closest_infeasible = o->have_recommended ? NULL : published_one(ctx, &o->closest);
    out->candidates = (int64_t)o->candidates;
    out->feasible_count = (int64_t)o->feasible;
    const struct eco_res_config *shown =
        out->recommended ? out->recommended : out->closest_infeasible;
    out->basis =
        (struct eco_res_optimize_basis){shown ? shown->energy_basis : NULL, "modelled", "computed"};
    out->notes = (struct eco_strs){notes, 1};
    return 0;
}
