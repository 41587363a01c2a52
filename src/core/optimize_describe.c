/* One candidate of the optimizer in full: every figure asked for exactly this configuration. */
#include "core/optimize_fill.h"

#include "core/latency.h"
#include "eco_memory.h"

#include <math.h>

static int describe_memory(const struct eco_optimize_setup *s, size_t card,
                           const struct eco_workload *w, struct eco_optimize_config *c,
                           struct eco_err *err)
{
    struct eco_memory_query q = {.model = s->model,
                                 .precision = w->precision,
                                 .batch = w->batch,
                                 .context_tokens = c->context_tokens,
                                 .engine = w->engine};
    struct eco_memory m;
    int rc = eco_memory_estimate(&q, &m, err);

    if (rc) {
        return rc;
    }
    c->memory_bytes = m.total_bytes;
    c->weights_bytes = m.weights_bytes;
    c->kv_bytes = m.kv_bytes;
    c->room_share = eco_memory_room(s->cards[card].gpu, w->n_gpus, m.total_bytes);
    return ECO_OK;
}

/* 16-bit energy, then the precision's own; without the latter no energy is known. */
static void describe_energy(const struct eco_optimize_setup *s, size_t card,
                            const struct eco_workload *w, struct eco_optimize_config *c)
{
    struct eco_predict_query q = eco_optimize_predict_query(s, card, w);
    bool base = eco_precision_family(w->precision) == ECO_FAM_FLOAT &&
                eco_precision_bits(w->precision) == 16.0;
    struct eco_energy_alone alone;
    struct eco_energy fp16;

    /* The 16-bit bands are read for 16 bit alone. */
    bool have = eco_energy_alone(s->physics, s->model, s->cards[card].gpu, w, &alone, NULL) == 0 &&
                eco_energy_batched(s->physics, s->model, s->cards[card].gpu, w, &alone, base, &fp16,
                                   NULL) == 0;
    if (base) {
        c->have_energy = have;
        c->energy = have ? fp16 : c->energy;
        return;
    }
    c->have_delta = s->predictor && eco_predict_parts(s->predictor, &q, 0, &c->delta, NULL) == 0;
    c->have_energy = have && c->have_delta &&
                     eco_energy_quantized(&fp16, c->delta.mu, c->delta.sd, &c->energy, NULL) == 0;
}

int eco_optimize_describe(const struct eco_optimize_setup *s, struct eco_optimize_label label,
                          struct eco_optimize_config *out, struct eco_err *err)
{
    struct eco_optimize_config c = {
        .cost_usd_per_month = NAN, .carbon_kg_per_month = NAN, .implied_power_w = NAN};
    struct eco_cost cost;

    if (!s->model || label.card >= s->n_cards || label.precision >= s->n_arms ||
        label.batch >= s->n_batches || label.context >= s->n_contexts) {
        return eco_err_set(err, ECO_E_INVALID, "candidate", "a candidate off the axes");
    }
    struct eco_workload w = eco_optimize_workload(
        s, label.card, label.precision, s->batches[label.batch], s->contexts[label.context]);
    c.gpu = s->cards[label.card].gpu;
    c.precision = w.precision;
    c.engine = w.engine;
    c.batch = w.batch;
    c.context_tokens = s->contexts[label.context];
    c.prompt_tokens = w.prompt_tokens;
    c.gen_tokens = w.gen_tokens;
    c.quality_loss_pct = eco_optimize_quality(&s->arms[label.precision]);
    int rc = describe_memory(s, label.card, &w, &c, err);
    if (rc == ECO_OK) {
        rc = eco_latency_predict(s->physics, s->model, c.gpu, &w, &c.latency, err);
    }
    if (rc) {
        return rc;
    }
    describe_energy(s, label.card, &w, &c);
    if (c.have_energy) {
        (void)eco_physics_reconcile(c.gpu, w.n_gpus, &c.energy, &c.latency, NULL);
        c.implied_power_w = c.energy.j_per_1k.median / 1000.0 * c.latency.tokens_per_s.median;
    }
    if (c.have_energy &&
        eco_optimize_cost_of(s, label.card, &w, c.energy.j_per_1k.median, c.energy.prefill_j_per_1k,
                             c.latency.request_s.median, &cost, NULL) == 0) {
        c.cost_usd_per_month = eco_optimize_usd(&cost);
        c.carbon_kg_per_month = cost.month.kgco2;
    }
    *out = c;
    return ECO_OK;
}
