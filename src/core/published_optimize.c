/*
 * The published optimizer, its own tables and bugs included: `--calibration published --compat`.
 * The default optimizer is optimize.c; this one only shows what the published site answers.
 */
#include "core/published.h"

#include <math.h>

#define BATCH_SHARE 0.35    /* energy(batch) = E1 (0.65 + 0.35/batch) */
#define RUNTIME_BYTES 0.8e9 /* added to every configuration */
#define WEIGHT_MARGIN 0.05
#define BW_SHARE 0.70   /* of the datasheet bandwidth that decode reaches */
#define FLOP_SHARE 0.30 /* of the datasheet throughput */
#define RANKED 4        /* the recommended one and three alternatives */

struct pair {
    double at, value;
};

struct card {
    enum eco_arch arch;
    double bw_gbps, fp16_tflops;
    struct pair fp16[5]; /* size in 1e9, J per 1 000 tokens at batch 1 */
    int n_fp16;
};

static const struct card cards[] = {
    {ECO_ARCH_TURING, 320, 65, {{1.1, 4251.21}, {1.5, 5731.8}, {3, 11267.69}, {7, 21722.65}}, 4},
    {ECO_ARCH_ADA,
     1008,
     330,
     {{0.5, 1525.33}, {1.1, 1585.71}, {1.5, 2213.4}, {3, 3368.4}, {7, 5467.88}},
     5},
    {ECO_ARCH_BLACKWELL, 1792, 419, {{1.1, 1659.0}, {1.5, 2411.09}, {3, 3382.64}, {7, 5508.56}}, 4},
    {ECO_ARCH_AMPERE, 2039, 312, {{7, 4402.43}, {9, 5445.12}, {14, 7359.98}}, 3},
    {ECO_ARCH_HOPPER, 3350, 990, {{0, 0}}, 0},
};

static const struct shape_row {
    double params_b, layers, width;
} shapes[] = {
    {0.5, 24, 896}, {1.1, 22, 2048}, {1.5, 28, 1536}, {3, 36, 2048},  {7, 32, 4096},
    {9, 48, 4096},  {14, 48, 5120},  {32, 64, 6656},  {70, 80, 8192},
};
#define N_SHAPES (sizeof shapes / sizeof shapes[0])

static const enum eco_published_class default_precisions[] = {ECO_PUB_FP16, ECO_PUB_NF4,
                                                              ECO_PUB_INT8};
static const double default_batches[] = {1, 2, 4, 8, 16, 32};
static const double default_contexts[] = {512, 1024, 2048, 4096, 8192};

/* What is the same for every configuration of one precision. */
struct arm {
    enum eco_published_class precision;
    double delta_pct, energy1_j_per_1k, weight_bytes;
    bool have_energy;
    enum eco_confidence confidence;
    enum eco_basis basis;
    enum eco_recommendation recommendation;
};

struct ranked {
    struct eco_published_config config;
    double key, excess;
};

struct search {
    const struct eco_published_grid *g;
    const struct card *card;
    double kv_bytes_per_token;
    struct ranked best[RANKED]; /* the first feasible ones in the published order */
    size_t n_best;
    struct ranked closest;
    struct eco_published_optimum out;
};

static double base_energy(const struct card *c, double params_b, enum eco_basis *basis)
{
    const struct pair *p = c->fp16;
    int last = c->n_fp16 - 1, i = 0;

    *basis =
        params_b < p[0].at || params_b > p[last].at ? ECO_BASIS_ESTIMATED : ECO_BASIS_INTERPOLATED;
    for (int k = 0; k <= last; k++) {
        if (fabs(p[k].at - params_b) < 1e-6) {
            *basis = ECO_BASIS_MEASURED;
        }
    }
    if (params_b <= p[0].at) {
        return eco_published_places(p[0].value * params_b / p[0].at, 2);
    }
    while (i < last - 1 && params_b > p[i + 1].at) {
        i++;
    }
    double t = (params_b - p[i].at) / (p[i + 1].at - p[i].at);
    return eco_published_places(p[i].value + t * (p[i + 1].value - p[i].value), 2);
}

static double kv_bytes_per_token(double params_b)
{
    size_t i = 0;

    if (params_b <= shapes[0].params_b) {
        return 4.0 * shapes[0].layers * shapes[0].width;
    }
    if (params_b >= shapes[N_SHAPES - 1].params_b) {
        return 4.0 * shapes[N_SHAPES - 1].layers * shapes[N_SHAPES - 1].width;
    }
    while (params_b > shapes[i + 1].params_b) {
        i++;
    }
    const struct shape_row *a = &shapes[i], *b = &shapes[i + 1];
    double t = (params_b - a->params_b) / (b->params_b - a->params_b);
    double layers = floor(a->layers + t * (b->layers - a->layers) + 0.5);
    double width = floor(a->width + t * (b->width - a->width) + 0.5);
    return 4.0 * layers * width;
}

/* measured, then interpolated, then estimated: the published words from best to worst. */
static enum eco_basis worse_basis(enum eco_basis a, enum eco_basis b)
{
    return a > b ? a : b;
}

static int make_arm(const struct eco_published_tables *t, const struct eco_published_grid *g,
                    const struct card *card, enum eco_published_class precision, struct arm *arm,
                    struct eco_err *err)
{
    double bytes = precision == ECO_PUB_FP16 ? 2.0 : precision == ECO_PUB_INT8 ? 1.0 : 0.5;

    *arm = (struct arm){.precision = precision,
                        .weight_bytes = g->params_b * 1e9 * bytes,
                        .confidence = ECO_CONF_HIGH,
                        .basis = ECO_BASIS_MEASURED,
                        .recommendation = ECO_REC_BASELINE};
    if (precision != ECO_PUB_FP16) {
        struct eco_published_query q = {g->params_b, g->arch, precision, 1, 2048};
        struct eco_published_answer a;
        int rc = eco_published_estimate(t, &q, &a, err);
        if (rc) {
            return rc;
        }
        arm->delta_pct = a.delta_pct;
        arm->confidence = a.confidence;
        arm->basis = a.basis;
        arm->recommendation = a.recommendation;
    }
    if (card->n_fp16 > 0) {
        enum eco_basis of_base;
        double e16 = base_energy(card, g->params_b, &of_base);
        arm->energy1_j_per_1k = e16 * (1.0 + arm->delta_pct / 100.0);
        arm->have_energy = true;
        arm->basis = worse_basis(arm->basis, of_base);
    } else if (precision == ECO_PUB_FP16) {
        arm->basis = ECO_BASIS_UNAVAILABLE;
    }
    if (arm->confidence == ECO_CONF_HIGH) {
        arm->confidence = ECO_CONF_MEDIUM; /* batch and latency are always modelled here */
    }
    return ECO_OK;
}

static struct eco_published_config configure(const struct search *s, const struct arm *arm,
                                             double batch, double context)
{
    double kv = batch * s->kv_bytes_per_token * context;
    double memory_s = (arm->weight_bytes + kv) / (BW_SHARE * s->card->bw_gbps * 1e9);
    double compute_s =
        2.0 * s->g->params_b * 1e9 * batch / (FLOP_SHARE * s->card->fp16_tflops * 1e12);
    double step_s = fmax(memory_s, compute_s);
    double vram = arm->weight_bytes + kv + RUNTIME_BYTES + WEIGHT_MARGIN * arm->weight_bytes;
    double energy = arm->energy1_j_per_1k * ((1.0 - BATCH_SHARE) + BATCH_SHARE / batch);
    struct eco_published_config c = {
        .precision = arm->precision,
        .batch = batch,
        .context = context,
        .have_energy = arm->have_energy,
        .energy_rel_fp16 = eco_published_places(1.0 + arm->delta_pct / 100.0, 3),
        .delta_pct = arm->delta_pct,
        .latency_ms_per_token = eco_published_places(step_s * 1000.0, 2),
        .throughput_tok_s = eco_published_places(batch / step_s, 1),
        .compute_bound = compute_s > memory_s,
        .vram_gb = eco_published_places(vram / 1e9, 2),
        .confidence = arm->confidence,
        .energy_basis = arm->basis,
        .recommendation = arm->recommendation,
    };
    if (c.have_energy) {
        c.energy_j_per_1k_tokens = eco_published_places(energy, 1);
        c.energy_j_per_token = eco_published_places(c.energy_j_per_1k_tokens / 1000.0, 3);
    }
    return c;
}

static double sort_key(const struct search *s, const struct eco_published_config *c)
{
    switch (s->g->objective) {
    case ECO_PUBLISHED_MIN_LATENCY:
        return c->latency_ms_per_token;
    case ECO_PUBLISHED_MAX_THROUGHPUT:
        return -c->throughput_tok_s;
    case ECO_PUBLISHED_MIN_VRAM:
        return c->vram_gb;
    default:
        return c->have_energy ? c->energy_j_per_1k_tokens : c->energy_rel_fp16 * 1e9;
    }
}

/* Strictly before in the published order; equal candidates keep the order of the grid. */
static bool before(const struct ranked *a, const struct ranked *b)
{
    const struct eco_published_config *x = &a->config, *y = &b->config;

    if (a->key != b->key) {
        return a->key < b->key;
    }
    if (x->energy_j_per_1k_tokens != y->energy_j_per_1k_tokens) {
        return x->energy_j_per_1k_tokens < y->energy_j_per_1k_tokens;
    }
    if (x->vram_gb != y->vram_gb) {
        return x->vram_gb < y->vram_gb;
    }
    return x->latency_ms_per_token < y->latency_ms_per_token;
}

static double excess(const struct eco_published_grid *g, const struct eco_published_config *c)
{
    double e = 0;

    if (g->have_max_latency) {
        e += fmax(0.0, c->latency_ms_per_token / g->max_latency_ms - 1.0);
    }
    if (g->have_max_vram) {
        e += fmax(0.0, c->vram_gb / g->max_vram_gb - 1.0);
    }
    if (g->have_min_throughput && g->min_throughput > 0) {
        e += fmax(0.0, 1.0 - c->throughput_tok_s / g->min_throughput);
    }
    return e;
}

static bool fits(const struct eco_published_grid *g, const struct eco_published_config *c)
{
    return !(g->have_max_latency && c->latency_ms_per_token > g->max_latency_ms) &&
           !(g->have_max_vram && c->vram_gb > g->max_vram_gb) &&
           !(g->have_min_throughput && c->throughput_tok_s < g->min_throughput);
}

static void rank(struct search *s, const struct ranked *r)
{
    size_t i = s->n_best;

    if (!fits(s->g, &r->config)) {
        bool nearer = s->closest.excess > r->excess ||
                      (s->closest.excess == r->excess && before(r, &s->closest));
        if (nearer) {
            s->closest = *r;
        }
        return;
    }
    s->out.feasible++;
    while (i > 0 && before(r, &s->best[i - 1])) {
        i--;
    }
    if (i == RANKED) {
        return;
    }
    s->n_best += s->n_best < RANKED;
    for (size_t j = s->n_best - 1; j > i; j--) {
        s->best[j] = s->best[j - 1];
    }
    s->best[i] = *r;
}

static bool dominates(const struct eco_published_config *a, const struct eco_published_config *b)
{
    double ea = a->energy_j_per_1k_tokens, eb = b->energy_j_per_1k_tokens;
    double la = a->latency_ms_per_token, lb = b->latency_ms_per_token;

    return ea <= eb && la <= lb && (ea < eb || la < lb);
}

/* Keeps out->front free of dominated members; false when it is full. */
static bool add_to_front(struct eco_published_optimum *o, const struct eco_published_config *c)
{
    size_t kept = 0;

    if (!c->have_energy) {
        return true;
    }
    for (size_t i = 0; i < o->n_front; i++) {
        if (dominates(&o->front[i], c)) {
            return true;
        }
    }
    for (size_t i = 0; i < o->n_front; i++) {
        if (!dominates(c, &o->front[i])) {
            o->front[kept++] = o->front[i];
        }
    }
    o->n_front = kept;
    if (kept == ECO_PUBLISHED_MAX_FRONT) {
        return false;
    }
    o->front[o->n_front++] = *c;
    return true;
}

static void sort_front(struct eco_published_optimum *o)
{
    for (size_t i = 1; i < o->n_front; i++) {
        struct eco_published_config c = o->front[i];
        size_t j = i;
        for (; j > 0 && o->front[j - 1].energy_j_per_1k_tokens > c.energy_j_per_1k_tokens; j--) {
            o->front[j] = o->front[j - 1];
        }
        o->front[j] = c;
    }
}

static bool percent(double a, double b, double *out)
{
    *out = b != 0 ? eco_published_places((a - b) / b * 100.0, 1) : 0.0;
    return b != 0;
}

static struct eco_published_versus versus(const struct eco_published_config *c,
                                          const struct eco_published_config *r)
{
    struct eco_published_versus v = {0};

    v.have_energy = c->have_energy &&
                    percent(c->energy_j_per_1k_tokens, r->energy_j_per_1k_tokens, &v.energy_pct);
    v.have_latency = percent(c->latency_ms_per_token, r->latency_ms_per_token, &v.latency_pct);
    v.have_throughput = percent(c->throughput_tok_s, r->throughput_tok_s, &v.throughput_pct);
    v.have_vram = percent(c->vram_gb, r->vram_gb, &v.vram_pct);
    return v;
}

static void finish(struct search *s)
{
    struct eco_published_optimum *o = &s->out;

    o->have_recommended = s->n_best > 0;
    if (!o->have_recommended) {
        o->closest = s->closest.config;
        o->n_front = 0;
        return;
    }
    o->recommended = s->best[0].config;
    for (size_t i = 1; i < s->n_best; i++) {
        o->alternatives[o->n_alternatives] = s->best[i].config;
        o->versus[o->n_alternatives++] = versus(&s->best[i].config, &o->recommended);
    }
    sort_front(o);
}

static int check_grid(const struct eco_published_grid *g, struct eco_err *err)
{
    if (g->n_precisions > ECO_PUBLISHED_MAX_GRID || g->n_batches > ECO_PUBLISHED_MAX_GRID ||
        g->n_contexts > ECO_PUBLISHED_MAX_GRID) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "grid", "an axis holds at most %d values",
                           ECO_PUBLISHED_MAX_GRID);
    }
    int rc = eco_published_check(g->params_b, 1, 2048, err);
    for (size_t i = 0; rc == ECO_OK && i < g->n_batches; i++) {
        rc = eco_published_check(g->params_b, g->batches[i], 2048, err);
    }
    for (size_t i = 0; rc == ECO_OK && i < g->n_contexts; i++) {
        rc = eco_published_check(g->params_b, 1, g->contexts[i], err);
    }
    if (rc) {
        return rc;
    }
    if ((g->have_max_latency && !(g->max_latency_ms > 0)) ||
        (g->have_max_vram && !(g->max_vram_gb > 0)) ||
        (g->have_min_throughput && !(g->min_throughput >= 0))) {
        return eco_err_set(err, ECO_E_RANGE, "budget",
                           "'max_latency_ms' and 'max_vram_gb' must be above 0, "
                           "'min_throughput' 0 or more");
    }
    return ECO_OK;
}

static int add_arm(struct search *s, const struct arm *arm, struct eco_err *err)
{
    const struct eco_published_grid *g = s->g;
    const double *batches = g->batches ? g->batches : default_batches;
    const double *contexts = g->contexts ? g->contexts : default_contexts;
    size_t nb = g->batches ? g->n_batches : sizeof default_batches / sizeof *default_batches;
    size_t nc = g->contexts ? g->n_contexts : sizeof default_contexts / sizeof *default_contexts;

    for (size_t b = 0; b < nb; b++) {
        for (size_t c = 0; c < nc; c++) {
            struct ranked r = {.config = configure(s, arm, batches[b], contexts[c])};
            r.key = sort_key(s, &r.config);
            r.excess = excess(g, &r.config);
            s->out.candidates++;
            rank(s, &r);
            if (!add_to_front(&s->out, &r.config)) {
                return eco_err_set(err, ECO_E_TOO_LARGE, "grid",
                                   "the front has more than %d members", ECO_PUBLISHED_MAX_FRONT);
            }
        }
    }
    return ECO_OK;
}

int eco_published_optimize(const struct eco_published_tables *t, const struct eco_published_grid *g,
                           struct eco_published_optimum *out, struct eco_err *err)
{
    struct search s = {.g = g, .closest = {.excess = INFINITY}};
    const enum eco_published_class *p = g->precisions ? g->precisions : default_precisions;
    size_t np =
        g->precisions ? g->n_precisions : sizeof default_precisions / sizeof *default_precisions;
    int rc = check_grid(g, err);

    if (rc) {
        return rc;
    }
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        s.card = cards[i].arch == g->arch ? &cards[i] : s.card;
    }
    if (!s.card) {
        return eco_err_set(err, ECO_E_UNKNOWN_NAME, "arch", "no published figures for '%s'",
                           eco_arch_name(g->arch));
    }
    s.kv_bytes_per_token = kv_bytes_per_token(g->params_b);
    for (size_t i = 0; i < np; i++) {
        struct arm arm;
        rc = p[i] == ECO_PUB_NONE ? ECO_E_UNSUPPORTED : make_arm(t, g, s.card, p[i], &arm, err);
        rc = rc == ECO_OK ? add_arm(&s, &arm, err) : rc;
        if (rc && rc != ECO_E_UNSUPPORTED) {
            return rc;
        }
    }
    if (s.out.candidates == 0) {
        return eco_err_set(err, ECO_E_UNSUPPORTED, "precisions",
                           "no precision of the grid has a published curve on '%s'",
                           eco_arch_name(g->arch));
    }
    finish(&s);
    *out = s.out;
    return ECO_OK;
}
