/* The published calibration, carried: same rules of strictness, the published site's numbers. */
#include "base/num.h"
#include "dataset/dataset.h"
#include "eco_published.h"
#include "runs.h"

#include <math.h>
#include <string.h>

#define MAX_SHOWN_ANCHORS 4

/* The class that answers; a card's name stands for its class, and one of them must be given. */
static int published_arch(struct eco_ctx *ctx, const struct eco_args_target *t, enum eco_arch *arch,
                          struct eco_err *err)
{
    if (!t->gpu && !t->arch && !ctx->host_gpu) {
        return eco_err_set(err, ECO_E_MISSING, "arch",
                           "'arch' is missing: the published calibration answers for a class "
                           "(turing, ampere, ada, blackwell, hopper)");
    }
    if (!t->gpu && t->arch) {
        *arch = eco_arch_parse(t->arch, strlen(t->arch));
        if (*arch != ECO_ARCH_UNKNOWN) {
            return 0;
        }
    }
    struct eco_question q;
    struct eco_args_target only_card = {.params_b = 1, .gpu = t->gpu, .arch = t->arch};
    int rc = eco_step_target(ctx, &only_card, &q, err);
    *arch = q.arch;
    return rc;
}

static int published_size(struct eco_ctx *ctx, const struct eco_args_target *t, double *params_b,
                          struct eco_err *err)
{
    if (!t->model) {
        *params_b = t->params_b;
        return t->params_b > 0 ? 0
                               : eco_err_set(err, ECO_E_MISSING, "params_b",
                                             "'params_b' is missing: the size in 1e9 parameters");
    }
    struct eco_question q;
    struct eco_args_target any_card = {.model = t->model, .params_b = t->params_b, .arch = "ada"};
    int rc = eco_step_target(ctx, &any_card, &q, err);
    *params_b = q.model.params_b;
    return rc;
}

static int published_precision(const char *text, enum eco_published_class *out, struct eco_err *err)
{
    enum eco_precision p;
    int rc = eco_step_precision(text, ECO_PREC_NF4, "precision", &p, err);
    if (rc == 0) {
        *out = eco_precision_published(p);
        if (*out != ECO_PUB_NF4 && *out != ECO_PUB_INT8) {
            rc = eco_err_set(err, ECO_E_UNSUPPORTED, "precision",
                             "the published calibration has no curve for %s, only NF4 and INT8",
                             eco_precision_name(p));
        }
    }
    return rc;
}

/* The anchors at this size, else the nearest on either side. */
static struct eco_list shown_anchors(struct eco_ctx *ctx, const struct eco_published_tables *t,
                                     const struct eco_published_query *q, enum eco_arch used)
{
    struct eco_res_anchor *rows = eco_arena_array(ctx->arena, MAX_SHOWN_ANCHORS, sizeof(*rows));
    size_t n = 0;
    double best[2] = {INFINITY, INFINITY};
    const struct eco_published_anchor *side[2] = {NULL, NULL};
    for (size_t i = 0; rows && i < t->n_anchors; i++) {
        const struct eco_published_anchor *a = &t->anchors[i];
        if (a->arch != used || a->precision != q->precision) {
            continue;
        }
        int above = a->params_b > q->params_b;
        double d = fabs(a->params_b - q->params_b);
        if (d < best[above]) {
            best[above] = d, side[above] = a;
        }
    }
    for (int s = 0; rows && s < 2; s++) {
        if (side[s] && (s == 0 || best[0] > 1e-6)) {
            rows[n++] = (struct eco_res_anchor){.gpu = side[s]->gpu,
                                                .precision = eco_published_name(side[s]->precision),
                                                .params_b = side[s]->params_b,
                                                .delta_pct = side[s]->delta_pct,
                                                .n = {side[s]->n, true}};
        }
    }
    return (struct eco_list){rows, n};
}

static void fill_published(const struct eco_published_query *q,
                           const struct eco_published_answer *a, struct eco_res_estimate *out)
{
    out->delta_pct = a->delta_pct;
    out->ci = (struct eco_span){a->ci_pct[0], a->ci_pct[1], true};
    out->basis = eco_basis_name(a->basis);
    out->confidence = eco_confidence_name(a->confidence);
    out->recommendation = eco_recommendation_name(a->recommendation);
    out->verdict = a->verdict;
    out->crossover_b = (struct eco_opt){a->crossover_b, a->have_crossover};
    out->crossover_saves = a->have_crossover ? eco_step_saving_side(true) : NULL;
    out->arch_used = eco_arch_name(a->arch_used);
    out->modelled = a->modelled;
    out->weight_gb = a->weight_gb;
    out->weight_gb_fp16 = a->weight_gb_fp16;
    out->calibration = "published";
    out->input = (struct eco_res_input){.params_b = q->params_b,
                                        .arch = eco_arch_name(q->arch),
                                        .precision = eco_published_name(q->precision),
                                        .batch = (int64_t)q->batch,
                                        .ctx = (int64_t)q->ctx};
    out->data = (struct eco_res_provenance){
        .version = ECO_VERSION,
        .data_sha256 = eco_dataset_digest_all(),
        .rows = (int64_t)a->n_anchors,
        .citation = "EcoCompute published anchors, CC BY 4.0, doi:10.5281/zenodo.19647290"};
}

int eco_step_published(struct eco_ctx *ctx, const struct eco_args_estimate *args,
                       struct eco_res_estimate *out, struct eco_err *err)
{
    static const char *const notes[] = {"the published site's numbers: its 95 % band holds 15 of "
                                        "29 anchors when they are left out; "
                                        "see docs/calibration.md",
                                        "hopper has no data: the ampere curve is borrowed"};
    const struct eco_published_tables *tables = eco_dataset_published();
    struct eco_published_query q = {.batch = (double)args->load.batch,
                                    .ctx = args->load.ctx > 0 ? (double)args->load.ctx : 2048};
    struct eco_published_answer a;
    int rc = published_size(ctx, &args->target, &q.params_b, err);
    if (rc == 0) {
        rc = published_arch(ctx, &args->target, &q.arch, err);
    }
    if (rc == 0) {
        rc = published_precision(args->precision, &q.precision, err);
    }
    if (rc == 0) {
        rc = eco_published_estimate(tables, &q, &a, err);
    }
    if (rc == 0) {
        fill_published(&q, &a, out);
        out->anchors = shown_anchors(ctx, tables, &q, a.arch_used);
        out->notes = (struct eco_strs){notes, a.borrowed ? 2 : 1};
    }
    return rc;
}
