/* The words around an optimum: why it, what would change it, what not to do, how it is known. */
#include "base/num.h"
#include "optimize_parts.h"
#include "texts.h"

#include <math.h>
#include <string.h>

#define MAX_SAID 4
#define ROOMY 0.8 /* of the memory: 16 bit below it leaves nothing for fewer bits to gain */
#define USUAL_BATCH 8.0

struct said {
    const char *v[MAX_SAID];
    size_t n;
};

static void say(struct said *s, const char *text)
{
    if (text && s->n < MAX_SAID) {
        s->v[s->n++] = text;
    }
}

static struct eco_strs keep(struct eco_ctx *ctx, const struct said *s)
{
    const char **v = eco_arena_array(ctx->arena, s->n + 1, sizeof(*v));
    for (size_t i = 0; v && i < s->n; i++) {
        v[i] = s->v[i];
    }
    return (struct eco_strs){v, v ? s->n : 0};
}

/* Against the first alternative in another precision, else the first one. */
static const char *against_next(struct eco_ctx *ctx, const struct eco_res_optimize *out)
{
    const struct eco_res_config *alt = out->alternatives.items, *best = out->recommended;
    size_t i = 0;
    while (i < out->alternatives.n && strcmp(alt[i].precision, best->precision) == 0) {
        i++;
    }
    if (i == out->alternatives.n) {
        i = 0;
    }
    if (out->alternatives.n == 0 || !alt[i].vs_recommended ||
        !alt[i].vs_recommended->energy_pct.have) {
        return NULL;
    }
    double pct = alt[i].vs_recommended->energy_pct.v;
    return eco_step_fmt(ctx, TX(ctx, why_than_next), alt[i].precision, (long long)alt[i].batch,
                        eco_step_pct(ctx, pct, pct, pct + 1));
}

static const char *room(struct eco_question *q, const struct eco_answer *a,
                        const struct eco_res_optimize *out)
{
    const struct eco_res_memory *m = out->memory;
    double with16 = a->memory.total_bytes + a->memory.weights_fp16_bytes - a->memory.weights_bytes;
    if (!m || !m->card_gb.have) {
        return NULL;
    }
    const char *need = eco_step_num(q->ctx, m->total_gb, 3);
    const char *has = eco_step_num(q->ctx, m->limit_gb.v, 3);
    return eco_step_fits_bytes(q, with16) ? eco_step_fmt(q->ctx, TX(q->ctx, why_room), need, has)
                                          : eco_step_fmt(q->ctx, TX(q->ctx, why_tight), need, has);
}

static struct eco_strs reasons(struct eco_question *q, const struct eco_answer *a,
                               const struct eco_res_optimize *out)
{
    struct said s = {0};
    struct eco_ctx *ctx = q->ctx;
    say(&s, against_next(ctx, out));
    if (!a->baseline) {
        say(&s, eco_step_reason(q, a));
    }
    say(&s, room(q, a, out));
    if (a->have_latency) {
        say(&s, eco_step_fmt(ctx, TX(ctx, why_bound), eco_word(ctx->lang, out->latency->bound),
                             (long long)q->batch));
    }
    return keep(ctx, &s);
}

/* The same precision at another batch; false where the joules are not known. */
static bool at_batch(struct eco_question *q, double batch, struct eco_answer *a,
                     struct eco_opt *month_usd)
{
    struct eco_question there = *q;
    there.batch = batch;
    bool known = eco_step_answer_parts(&there, q->precision, 0, a, NULL) == 0 && a->have_energy &&
                 a->have_latency && eco_step_month_usd(&there, a, month_usd, NULL) == 0;
    q->region = there.region; /* looked up once for all */
    return known;
}

static struct eco_strs insights(struct eco_question *q, const struct eco_answer *a,
                                const struct eco_res_optimize *out)
{
    struct said s = {0};
    struct eco_ctx *ctx = q->ctx;
    struct eco_answer other;
    struct eco_opt usd;
    if (q->batch > 1 && a->have_energy && at_batch(q, 1, &other, &usd)) {
        double pct = 100.0 * (a->energy.j_per_1k.median / other.energy.j_per_1k.median - 1.0);
        say(&s, eco_step_fmt(ctx, TX(ctx, insight_batch), (long long)q->batch,
                             eco_step_pct(ctx, pct, pct, pct + 1)));
    }
    if (q->batch > USUAL_BATCH && at_batch(q, USUAL_BATCH, &other, &usd) && usd.have) {
        say(&s, eco_step_fmt(ctx, TX(ctx, insight_partial), (long long)USUAL_BATCH,
                             eco_step_num(ctx, other.energy.j_per_1k.median, 4),
                             eco_step_num(ctx, other.latency.tokens_per_s.median, 3),
                             eco_step_num(ctx, usd.v, 3)));
    }
    bool roomy = q->gpu && a->baseline &&
                 eco_memory_room(q->gpu, 1, a->memory.total_bytes) < ROOMY && out->memory &&
                 out->memory->card_gb.have;
    if (roomy) {
        say(&s, eco_step_fmt(ctx, TX(ctx, insight_16bit), eco_precision_name(a->precision),
                             eco_step_num(ctx, out->memory->total_gb, 3),
                             eco_step_num(ctx, out->memory->limit_gb.v, 3)));
    }
    return keep(ctx, &s);
}

/* Bars show energy efficiency relative to the best row, the front included. */
static void relative_efficiency(struct eco_res_optimize *out)
{
    struct eco_res_config *best = (struct eco_res_config *)(uintptr_t)out->recommended;
    struct eco_list *lists[] = {&out->alternatives, &out->pareto_energy_latency};
    double low = best->energy_j_per_1k_tokens.have ? best->energy_j_per_1k_tokens.v : INFINITY;
    for (size_t k = 0; k < ECO_COUNT(lists); k++) {
        const struct eco_res_config *c = lists[k]->items;
        for (size_t i = 0; i < lists[k]->n; i++) {
            low = c[i].energy_j_per_1k_tokens.have ? fmin(low, c[i].energy_j_per_1k_tokens.v) : low;
        }
    }
    for (size_t k = 0; k < ECO_COUNT(lists); k++) {
        struct eco_res_config *c = (struct eco_res_config *)(uintptr_t)lists[k]->items;
        for (size_t i = 0; i < lists[k]->n; i++) {
            struct eco_opt j = c[i].energy_j_per_1k_tokens;
            c[i].efficiency_pct =
                j.have ? eco_some(eco_num_round(100.0 * low / j.v, 0)) : (struct eco_opt){0};
        }
    }
    if (best->energy_j_per_1k_tokens.have) {
        best->efficiency_pct =
            eco_some(eco_num_round(100.0 * low / best->energy_j_per_1k_tokens.v, 0));
    }
}

/* Every alternative against the recommended one. */
static void moods(struct eco_question *q, const struct eco_answer *a, bool trap,
                  struct eco_res_optimize *out)
{
    struct eco_res_config *best = (struct eco_res_config *)(uintptr_t)out->recommended;
    struct eco_res_config *alt = (struct eco_res_config *)(uintptr_t)out->alternatives.items;
    bool own = eco_step_own_data(q, a);
    best->mood = out->mood = eco_step_mood(q, a->change.basis, trap, eco_some(0.0), own);
    for (size_t i = 0; i < out->alternatives.n; i++) {
        double excess =
            alt[i].energy_j_per_1k_tokens.have && best->energy_j_per_1k_tokens.have
                ? 100.0 * (alt[i].energy_j_per_1k_tokens.v / best->energy_j_per_1k_tokens.v - 1.0)
                : (double)NAN;
        alt[i].mood = eco_step_mood(q, a->change.basis, false, eco_some(fmax(excess, 0.0)), own);
    }
}

int eco_optimize_explain(struct eco_question *q, const struct eco_answer *a, bool trap,
                         struct eco_res_optimize *out, struct eco_err *err)
{
    if (!out->recommended) {
        return eco_err_set(err, ECO_E_INTERNAL, "", "nothing to explain");
    }
    out->energy = eco_step_energy(q, a);
    out->latency = eco_step_latency(q, a);
    out->memory = eco_step_memory(q, a);
    out->power_w = eco_step_implied_power(q, a);
    out->power_range_w = eco_step_power_range(q, a->precision);
    out->gpu_util_pct = eco_step_gpu_util(q, a->precision);
    relative_efficiency(out);
    moods(q, a, trap, out);
    out->why = reasons(q, a, out);
    out->insights = insights(q, a, out);
    out->pitfalls = eco_step_pitfalls(q, &out->alerts);
    enum eco_basis basis = a->have_energy ? a->energy.basis : a->change.basis;
    eco_step_transparency(q, a->precision, basis, &out->transparency);
    return 0;
}
