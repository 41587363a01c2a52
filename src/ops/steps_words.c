/* Into results and words: rounded figures, the verdict, the reason, where it comes from. */
#include "base/num.h"
#include "dataset/dataset.h"
#include "steps.h"
#include "texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Results carry what the ranges can bear, not seventeen digits. */
double eco_step_round(double v, int significant)
{
    if (!isfinite(v) || v == 0.0) {
        return v;
    }
    int places = significant - 1 - (int)floor(log10(fabs(v)));
    if (places < 0) {
        double unit = pow(10.0, -places);
        return round(v / unit) * unit;
    }
    return eco_num_round(v, places > 12 ? 12 : places);
}

const char *eco_step_num(struct eco_ctx *ctx, double v, int significant)
{
    char text[ECO_NUM_MAX];
    eco_num_format(eco_step_round(v, significant), text);
    return eco_step_fmt(ctx, "%s", text);
}

const char *eco_step_pct(struct eco_ctx *ctx, double v, double lo, double hi)
{
    int places = hi - lo < 10.0 ? 1 : 0;
    double shown = eco_num_round(fabs(v), places);
    /* U+2212: a minus that lines up with the plus */
    return eco_step_fmt(ctx, "%s%.*f", shown == 0.0 ? "" : v < 0 ? "−" : "+", places, shown);
}

const char *eco_step_where(const struct eco_question *q)
{
    if (q->gpu_name) {
        bool guess = (q->assumed & ECO_ASSUMED_GPU) != 0;
        return guess ? eco_step_fmt(q->ctx, TX(q->ctx, assumed_word), q->gpu_name) : q->gpu_name;
    }
    const char *name = eco_arch_name(q->arch);
    return strchr("aeiou", name[0]) ? eco_step_fmt(q->ctx, TX(q->ctx, class_an), name)
                                    : eco_step_fmt(q->ctx, TX(q->ctx, class_a), name);
}

static const char *what(const struct eco_question *q)
{
    if (q->known_model) {
        return q->model.name;
    }
    return eco_step_fmt(q->ctx, TX(q->ctx, model_of_size), q->model.params_b);
}

/* What nobody can run needs no firm word about its energy. */
static const char *too_big(struct eco_question *q, const struct eco_answer *a)
{
    if (a->cannot_run) {
        return eco_step_fmt(q->ctx, TX(q->ctx, cannot_run), eco_word(q->ctx->lang, a->cannot_run));
    }
    if (!q->gpu || eco_step_fits(q, a)) {
        return "";
    }
    return eco_step_fmt(q->ctx, TX(q->ctx, cannot_fit), eco_step_where(q),
                        eco_step_too_large(q, a->memory.total_bytes));
}

const char *eco_step_verdict(struct eco_question *q, const struct eco_answer *a)
{
    struct eco_ctx *ctx = q->ctx;
    const char *big = too_big(q, a);
    const char *name = eco_precision_name(a->precision);
    const struct eco_band *d = &a->change.delta_pct;
    if (a->baseline) {
        return eco_step_fmt(ctx, TX(ctx, verdict_baseline), name);
    }
    const char *mid = eco_step_pct(ctx, d->median, d->lo95, d->hi95);
    const char *lo = eco_step_pct(ctx, d->lo95, d->lo95, d->hi95);
    const char *hi = eco_step_pct(ctx, d->hi95, d->lo95, d->hi95);
    const char *place = eco_step_where(q);
    if (a->change.recommendation == ECO_REC_DEPENDS) {
        return eco_step_fmt(ctx, TX(ctx, verdict_depends), big, name, what(q), place, mid, lo, hi);
    }
    return a->change.recommendation == ECO_REC_QUANTIZE
               ? eco_step_fmt(ctx, TX(ctx, verdict_lowers), big, name, what(q), place, mid, lo, hi)
               : eco_step_fmt(ctx, TX(ctx, verdict_raises), big, name, what(q), place, mid, lo, hi);
}

/* Why a kernel family behaves as it does; physics, not a measurement. */
static const char *mechanism(enum eco_precision p, bool saves)
{
    switch (eco_precision_family(p)) {
    case ECO_FAM_BNB_NF4:
        return saves ? "reading a quarter of the weight bytes outweighs unpacking them"
                     : "unpacking 4-bit weights costs more than the saved memory traffic returns";
    case ECO_FAM_BNB_INT8:
        return p == ECO_PREC_INT8_MIXED
                   ? "LLM.int8() splits every matrix into an INT8 and a 16-bit part, which costs "
                     "launches and conversions in every layer"
                   : "INT8 arithmetic without the outlier split, still converted at every layer";
    case ECO_FAM_FP8:
        return "FP8 depends on the kernel path: compiled kernels halve the traffic, eager mode "
               "does not";
    case ECO_FAM_W4:
    case ECO_FAM_W8:
        return "fused kernels win while weight traffic limits (small batch) and lose when "
               "arithmetic "
               "does (large batch)";
    case ECO_FAM_GGUF:
        return "llama.cpp unpacks inside its kernels, so fewer bytes are less energy";
    case ECO_FAM_BUILTIN:
        return "4-bit codes by int8 activations: fewer bytes and byte products, with one rounding "
               "more";
    case ECO_FAM_FP4:
        return "4-bit floats with fused kernels: fewer bytes a token";
    case ECO_FAM_FLOAT:
    case ECO_FAM_NONE:
        break;
    }
    return "the bytes read per token decide";
}

const char *eco_step_saving_side(bool saves_above)
{
    return saves_above ? "above" : "below";
}

const char *eco_step_reason(struct eco_question *q, const struct eco_answer *a)
{
    const struct eco_predict_answer *c = &a->change;
    if (a->baseline) {
        return eco_word(q->ctx->lang, "every change is measured against 16 bit");
    }
    double size = q->known_model ? (double)q->model.params_total / 1e9 : q->model.params_b;
    const char *why = eco_word(q->ctx->lang, mechanism(a->precision, c->delta_pct.median < 0));
    bool above = size >= c->crossover.median;
    bool agrees = (above == c->crossover.saves_above) == (c->delta_pct.median < 0);
    if (c->crossover.have && agrees && c->crossover.median <= ECO_CROSSOVER_SHOWN_B) {
        const char *at = eco_step_num(q->ctx, c->crossover.median, 2);
        return c->crossover.saves_above
                   ? eco_step_fmt(q->ctx, TX(q->ctx, reason_above), at, size, why)
                   : eco_step_fmt(q->ctx, TX(q->ctx, reason_below), at, size, why);
    }
    if (c->flip_batch.have) {
        return eco_step_fmt(q->ctx, TX(q->ctx, reason_flip), c->flip_batch.median, q->batch, why);
    }
    return why;
}

struct eco_list eco_step_anchors(struct eco_question *q, const struct eco_predict_answer *p)
{
    struct eco_res_anchor *rows =
        eco_arena_array(q->ctx->arena, (size_t)p->n_anchors + 1, sizeof(*rows));
    if (!rows) {
        return (struct eco_list){NULL, 0};
    }
    for (int i = 0; i < p->n_anchors; i++) {
        const struct eco_predict_anchor *a = &p->anchors[i];
        struct eco_row row;
        bool known = eco_dataset_row_by_id(a->row_id, strlen(a->row_id), &row);
        rows[i] = (struct eco_res_anchor){.row = a->row_id,
                                          .gpu = a->gpu,
                                          .model = a->model_id,
                                          .precision = eco_precision_name(a->precision),
                                          .params_b = eco_step_round(a->params_b, 4),
                                          .batch = eco_some(a->batch),
                                          .delta_pct = eco_num_round(a->delta_pct, 1),
                                          .weight = eco_some(eco_num_round(a->weight, 3)),
                                          .session = a->session};
        if (known && row.n_trials > 0) {
            rows[i].n = eco_some(row.n_trials);
        }
    }
    return (struct eco_list){rows, (size_t)p->n_anchors};
}

const struct eco_res_band *eco_step_band(struct eco_question *q, const struct eco_band *b)
{
    struct eco_res_band *out = eco_arena_alloc(q->ctx->arena, sizeof(*out));
    if (out) {
        *out = (struct eco_res_band){eco_num_round(b->median, 1), eco_num_round(b->lo50, 1),
                                     eco_num_round(b->hi50, 1),   eco_num_round(b->lo80, 1),
                                     eco_num_round(b->hi80, 1),   eco_num_round(b->lo95, 1),
                                     eco_num_round(b->hi95, 1)};
    }
    return out;
}

const struct eco_res_energy *eco_step_energy(struct eco_question *q, const struct eco_answer *a)
{
    struct eco_res_energy *out =
        a->have_energy ? eco_arena_alloc(q->ctx->arena, sizeof(*out)) : NULL;
    if (out) {
        const struct eco_band *f = &a->fp16.j_per_1k, *e = &a->energy.j_per_1k;
        *out = (struct eco_res_energy){
            .fp16_j_per_1k = eco_step_round(f->median, 4),
            .fp16_ci = eco_span_of(eco_step_round(f->lo95, 3), eco_step_round(f->hi95, 3)),
            .j_per_1k = eco_step_round(e->median, 4),
            .ci = eco_span_of(eco_step_round(e->lo95, 3), eco_step_round(e->hi95, 3)),
            .prefill_j_per_1k = eco_some(eco_step_round(a->energy.prefill_j_per_1k, 3)),
            .tokens_per_j = eco_step_round(1000.0 / e->median, 3),
            .basis = eco_basis_name(a->energy.basis),
            .boundary = "gpu-board",
            .rows = a->fp16.n_rows,
            .sessions = a->fp16.n_sessions};
    }
    return out;
}

const struct eco_res_latency *eco_step_latency(struct eco_question *q, const struct eco_answer *a)
{
    struct eco_res_latency *out =
        a->have_latency ? eco_arena_alloc(q->ctx->arena, sizeof(*out)) : NULL;
    if (out) {
        const struct eco_latency *l = &a->latency;
        *out = (struct eco_res_latency){
            .ttft_ms = eco_step_round(l->ttft_s.median * 1e3, 3),
            .tpot_ms = eco_step_round(l->tpot_s.median * 1e3, 3),
            .tpot_ci = eco_span_of(eco_step_round(l->tpot_s.lo95 * 1e3, 3),
                                   eco_step_round(l->tpot_s.hi95 * 1e3, 3)),
            .tokens_per_s = eco_step_round(l->tokens_per_s.median, 3),
            .tokens_per_s_ci = eco_span_of(eco_step_round(l->tokens_per_s.lo95, 3),
                                           eco_step_round(l->tokens_per_s.hi95, 3)),
            .request_s = eco_step_round(l->request_s.median, 3),
            .bound = eco_bound_name(l->bound),
            .basis = eco_basis_name(l->basis)};
    }
    return out;
}

struct eco_opt eco_step_implied_power(struct eco_question *q, const struct eco_answer *a)
{
    if (!a->have_energy || !a->have_latency || !q->gpu) {
        return (struct eco_opt){0};
    }
    double w = a->energy.j_per_1k.median / 1000.0 * a->latency.tokens_per_s.median;
    if (w < q->gpu->idle_w || w > 1.01 * q->gpu->tdp_w) {
        return (struct eco_opt){0};
    }
    return eco_some(eco_step_round(w, 3));
}

const struct eco_res_memory *eco_step_memory(struct eco_question *q, const struct eco_answer *a)
{
    struct eco_res_memory *out = eco_arena_alloc(q->ctx->arena, sizeof(*out));
    if (out) {
        const struct eco_memory *m = &a->memory;
        double card = q->gpu ? eco_gpu_memory_bytes(q->gpu) : (double)NAN;
        double limit = q->gpu ? eco_memory_limit_bytes(q->gpu, 1) : (double)NAN;
        *out = (struct eco_res_memory){
            .total_gb = eco_num_round(m->total_bytes / 1e9, 2),
            .weights_gb = eco_num_round(m->weights_bytes / 1e9, 2),
            .kv_gb = eco_num_round(m->kv_bytes / 1e9, 2),
            .other_gb = eco_num_round((m->activation_bytes + m->overhead_bytes) / 1e9, 2),
            .card_gb = eco_some(eco_num_round(card / 1e9, 2)),
            .limit_gb = eco_some(eco_num_round(limit / 1e9, 2)),
            .fits = eco_step_fits(q, a),
            .basis = eco_basis_name(m->basis)};
    }
    return out;
}

void eco_step_provenance(struct eco_question *q, int n_points, int n_sessions,
                         struct eco_res_provenance *out)
{
    *out = (struct eco_res_provenance){
        .version = ECO_VERSION,
        .data_sha256 = eco_dataset_digest_all(),
        .rows = n_points,
        .sessions = n_sessions,
        .citation = eco_step_fmt(q->ctx, TX(q->ctx, citation), n_points, n_sessions)};
}
