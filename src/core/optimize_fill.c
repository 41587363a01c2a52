/*
 * Columns for the optimizer. Everything is asked once per card, precision and batch, at a few
 * contexts ("knots"). Between two knots memory (concave in the tokens) and step time (convex) are
 * straight lines wherever their middle lies on the chord, and asked directly elsewhere: exact. The
 * energies are nearly linear, since KV traffic is, and are interpolated. Where energy and time of a
 * candidate imply more power than the card holds, both are reconciled (eco_physics_reconcile).
 */
#include "core/optimize_fill.h"

#include "core/latency.h"
#include "core/predict_scan.h"
#include "core/reconcile.h"
#include "eco_capability.h"
#include "eco_memory.h"

#include <math.h>

#define GEN_DEFAULT 256
#define KEPT_ARMS 8      /* arms over that are prepared anew for each batch */
#define J_PER_ROW 1000.0 /* the data are J per 1 000 tokens */

bool eco_optimize_runs(enum eco_precision precision, const struct eco_gpu *gpu)
{
    return eco_precision_runs(precision, ECO_ENGINE_UNKNOWN, gpu, gpu->arch, NULL);
}

static bool is_16bit(enum eco_precision p)
{
    return eco_precision_family(p) == ECO_FAM_FLOAT && eco_precision_bits(p) == 16.0;
}

double eco_optimize_quality(const struct eco_optimize_arm *arm)
{
    return isnan(arm->quality_loss_pct) && is_16bit(arm->precision) ? 0.0 : arm->quality_loss_pct;
}

static enum eco_engine engine_of(const struct eco_optimize_arm *arm)
{
    enum eco_engine e = arm->engine ? arm->engine : eco_predict_usual_engine(arm->precision);

    return e ? e : ECO_ENGINE_TRANSFORMERS;
}

struct eco_workload eco_optimize_workload(const struct eco_optimize_setup *s, size_t card,
                                          size_t arm, double batch, double context)
{
    int tokens = (int)context, gen = s->gen_tokens ? s->gen_tokens : GEN_DEFAULT;
    int most = tokens > 1 ? tokens - 1 : 1;

    gen = gen < most ? gen : most;
    return (struct eco_workload){
        .precision = s->arms[arm].precision,
        .engine = engine_of(&s->arms[arm]),
        .batch = (int)batch,
        .prompt_tokens = tokens > gen ? tokens - gen : 0,
        .gen_tokens = gen,
        .n_gpus = s->cards[card].n_gpus ? s->cards[card].n_gpus : 1,
    };
}

static double mean_context(const struct eco_workload *w)
{
    return w->prompt_tokens + w->gen_tokens / 2.0;
}

/* One sequence in a context that nobody asked for is as in the measurements: 0 says so. */
static double told_context(const struct eco_optimize_setup *s, const struct eco_workload *w)
{
    return s->usual_context && w->batch <= 1 ? 0.0 : mean_context(w);
}

struct eco_predict_query eco_optimize_predict_query(const struct eco_optimize_setup *s, size_t card,
                                                    const struct eco_workload *w)
{
    const struct eco_model *m = s->model;
    bool known = m->shape_basis == ECO_BASIS_COMPUTED; /* a guessed shape tells nothing new */

    return (struct eco_predict_query){
        .precision = w->precision,
        .gpu = s->cards[card].gpu,
        .params_total_b = (double)m->params_total / 1e9,
        .params_active_b = m->experts > 0 ? (double)m->params_active / 1e9 : 0,
        .linear_b = known ? (double)m->params_linear / 1e9 : 0,
        .layers = known ? m->layers : 0,
        .model_id = known ? m->name : NULL,
        .engine = w->engine,
        .batch = w->batch,
        .context_tokens = told_context(s, w),
        .kv_bytes_per_token = eco_memory_kv_bytes(m, 1.0),
    };
}

int eco_optimize_cost_of(const struct eco_optimize_setup *s, size_t card,
                         const struct eco_workload *w, double j_per_1k, double prefill_j_per_1k,
                         double request_s, struct eco_cost *out, struct eco_err *err)
{
    const struct eco_optimize_card *c = &s->cards[card];
    struct eco_cost_input in;

    eco_cost_defaults(c->gpu, &in);
    in.decode_j_per_1k = j_per_1k;
    in.prefill_j_per_1k = prefill_j_per_1k;
    in.prompt_tokens = w->prompt_tokens;
    in.gen_tokens = w->gen_tokens;
    in.requests_per_month =
        s->requests_per_month > 0 ? s->requests_per_month : in.requests_per_month;
    in.pue = c->pue > 0 ? c->pue : in.pue;
    in.price_usd_per_kwh = s->price_usd_per_kwh;
    in.carbon_gco2_per_kwh = s->carbon_gco2_per_kwh;
    in.request_s = request_s / w->batch;
    in.gpu_usd_per_hour = c->gpu_usd_per_hour * w->n_gpus;
    return eco_cost_compute(&in, out, err);
}

double eco_optimize_usd(const struct eco_cost *c)
{
    if (isnan(c->month.usd)) {
        return c->month.rental_usd;
    }
    return c->month.usd + (isnan(c->month.rental_usd) ? 0.0 : c->month.rental_usd);
}

/* Figures at the knots; NAN where they are not known. */
struct knots {
    size_t n;
    double context[ECO_OPTIMIZE_KNOTS];
};

struct series {
    double at[ECO_OPTIMIZE_KNOTS];
};

struct base {
    enum eco_engine engine;
    struct series j_per_1k, prefill_j; /* 16 bit; prefill of one request, near linear in it */
    struct series sd;                  /* of ln j_per_1k */
};

/* A figure at the knots, and the segments in which it is a straight line. */
struct line {
    struct series y;
    bool straight[ECO_OPTIMIZE_KNOTS];
};

struct filler {
    const struct eco_optimize_setup *s;
    const struct eco_optimize_columns *c;
    const struct eco_physics *physics;
    struct knots k;
    struct eco_energy_alone alone[ECO_OPTIMIZE_KNOTS]; /* of the card and engine asked last */
    bool have_alone[ECO_OPTIMIZE_KNOTS];
    struct eco_predict_kept *kept; /* [KEPT_ARMS] of the card that is being filled */
    const struct eco_optimize_card *alone_card;
    enum eco_engine alone_engine;
    size_t n;
    bool want, want_money; /* energy and time are wanted together: each bounds the other */
};

/* One card, precision and batch: all that a row of contexts has in common. */
struct row {
    size_t card, arm, batch_index;
    double batch;
    double weights_bytes, limit_w;
    struct series j_per_1k;
    struct line step_s, total_bytes;
    bool kernel_switches; /* between batch 1 and this one */
    struct series sd_energy;
    double sd_time;
};

static void insert_knot(struct knots *k, double context)
{
    size_t i = k->n;

    while (i > 0 && k->context[i - 1] >= context) {
        if (k->context[i - 1] == context) {
            return;
        }
        i--;
    }
    for (size_t j = k->n; j > i; j--) {
        k->context[j] = k->context[j - 1];
    }
    k->context[i] = context;
    k->n++;
}

/* The smallest asked context that is at least `want`, so that knots are exact for it. */
static double asked_from(const double *contexts, size_t n, double want)
{
    double best = INFINITY;

    for (size_t i = 0; i < n; i++) {
        best = contexts[i] >= want * (1 - 1e-9) ? fmin(best, contexts[i]) : best;
    }
    return best;
}

/*
 * Few contexts are their own knots; many get knots in a geometric row between the ends, and one
 * where prompts begin, since the figures have a kink there.
 */
static struct knots choose_knots(const double *contexts, size_t n, double gen_tokens)
{
    struct knots k = {0};
    double lo = INFINITY, hi = 0;

    if (n <= ECO_OPTIMIZE_KNOTS) {
        for (size_t i = 0; i < n; i++) {
            insert_knot(&k, contexts[i]);
        }
        return k;
    }
    for (size_t i = 0; i < n; i++) {
        lo = fmin(lo, contexts[i]);
        hi = fmax(hi, contexts[i]);
    }
    for (int i = 0; i < ECO_OPTIMIZE_KNOTS - 1; i++) {
        double want = lo * pow(hi / lo, (double)i / (ECO_OPTIMIZE_KNOTS - 2));
        insert_knot(&k, asked_from(contexts, n, fmin(want, hi)));
    }
    insert_knot(&k, asked_from(contexts, n, fmin(hi, gen_tokens)));
    return k;
}

static size_t segment_of(const struct knots *k, double context)
{
    size_t i = 0;

    while (i + 1 < k->n && k->context[i + 1] <= context) {
        i++;
    }
    return i;
}

/* Exact at a knot, linear between two. */
static double between(const struct knots *k, const struct series *y, size_t i, double context)
{
    if (i + 1 == k->n || context == k->context[i]) {
        return y->at[i];
    }
    double t = (context - k->context[i]) / (k->context[i + 1] - k->context[i]);
    return y->at[i] + t * (y->at[i + 1] - y->at[i]);
}

/* The single sequence's energy at each knot, once for all batches. */
static void fill_alone(struct filler *f, size_t card, size_t arm, enum eco_engine engine)
{
    const struct eco_optimize_card *c = &f->s->cards[card];

    if (f->alone_card == c && f->alone_engine == engine) {
        return;
    }
    f->alone_card = c;
    f->alone_engine = engine;
    for (size_t i = 0; i < f->k.n; i++) {
        struct eco_workload w = eco_optimize_workload(f->s, card, arm, 1, f->k.context[i]);
        f->have_alone[i] = f->want && eco_energy_alone(f->physics, f->s->model, c->gpu, &w,
                                                       &f->alone[i], NULL) == 0;
    }
}

static void fill_base(struct filler *f, size_t card, size_t arm, double batch, struct base *b)
{
    b->engine = engine_of(&f->s->arms[arm]);
    fill_alone(f, card, arm, b->engine);
    for (size_t i = 0; i < f->k.n; i++) {
        struct eco_workload w = eco_optimize_workload(f->s, card, arm, batch, f->k.context[i]);
        struct eco_energy e;
        bool ok =
            f->have_alone[i] && eco_energy_batched(f->physics, f->s->model, f->s->cards[card].gpu,
                                                   &w, &f->alone[i], false, &e, NULL) == 0;
        b->j_per_1k.at[i] = ok ? e.j_per_1k.median : NAN;
        b->sd.at[i] = ok ? e.sd_ln : NAN;
        b->prefill_j.at[i] = ok ? e.prefill_j_per_1k * w.prompt_tokens / 1000.0 : NAN;
    }
}

/* ln of the energy ratio to 16 bit at each knot; NAN where it is not known. */
static void fill_delta(struct filler *f, const struct row *r, struct series *mu, struct series *sd)
{
    const struct eco_optimize_setup *s = f->s;
    struct eco_workload w = eco_optimize_workload(s, r->card, r->arm, r->batch, f->k.context[0]);
    struct eco_predict_query q = eco_optimize_predict_query(s, r->card, &w);
    double context[ECO_OPTIMIZE_KNOTS];
    bool base = is_16bit(w.precision);

    for (size_t i = 0; i < f->k.n; i++) {
        w = eco_optimize_workload(s, r->card, r->arm, r->batch, f->k.context[i]);
        context[i] = told_context(s, &w);
        mu->at[i] = base ? 0.0 : NAN;
        sd->at[i] = mu->at[i];
    }
    if (!base && f->want && s->predictor) {
        struct eco_predict_kept *kept = &f->kept[r->arm < KEPT_ARMS ? r->arm : KEPT_ARMS];

        kept->have = kept->have && r->arm < KEPT_ARMS;
        /* On an error the series stays unknown. */
        (void)eco_predict_contexts_kept(s->predictor, &q, kept, context, (int)f->k.n, mu->at,
                                        sd->at, NULL);
    }
}

static double step_at(const struct filler *f, const struct row *r, double context)
{
    struct eco_workload w = eco_optimize_workload(f->s, r->card, r->arm, r->batch, context);
    struct eco_step step;
    bool ok = f->want && eco_latency_step(f->physics, f->s->model, f->s->cards[r->card].gpu, &w,
                                          &step, NULL) == 0;

    return ok ? step.total_s : NAN;
}

static double bytes_at(const struct filler *f, const struct row *r, double context)
{
    struct eco_memory_query q = {.model = f->s->model,
                                 .precision = f->s->arms[r->arm].precision,
                                 .batch = r->batch,
                                 .context_tokens = context,
                                 .engine = engine_of(&f->s->arms[r->arm])};
    struct eco_memory m;

    return eco_memory_estimate(&q, &m, NULL) == 0 ? m.total_bytes : NAN;
}

/* A convex or concave figure whose middle lies on the chord is straight in between. */
static void probe(const struct filler *f, const struct row *r, bool curved,
                  double (*at)(const struct filler *, const struct row *, double),
                  struct line *line)
{
    const struct knots *k = &f->k;

    for (size_t i = 0; i < k->n; i++) {
        line->y.at[i] = at(f, r, k->context[i]);
        line->straight[i] = false;
    }
    if (curved || f->s->n_contexts <= ECO_OPTIMIZE_KNOTS) {
        return; /* no context lies between two knots, or a line proves nothing */
    }
    for (size_t i = 0; i + 1 < k->n; i++) {
        double middle = floor((k->context[i] + k->context[i + 1]) / 2);
        double chord = between(k, &line->y, i, middle);
        line->straight[i] = fabs(at(f, r, middle) - chord) <= 1e-12 * fabs(chord);
    }
}

static double read_line(const struct filler *f, const struct row *r,
                        double (*at)(const struct filler *, const struct row *, double),
                        const struct line *line, size_t seg, double context)
{
    bool known = seg + 1 == f->k.n || line->straight[seg] || context == f->k.context[seg];

    return known ? between(&f->k, &line->y, seg, context) : at(f, r, context);
}

static void put(const struct filler *f, enum eco_optimize_metric m, double v)
{
    if (f->c->value[m]) {
        f->c->value[m][f->n] = v;
    }
}

/* Rent is paid by time, so a rented card needs the time of a request. */
static double request_time(const struct filler *f, size_t card, const struct eco_workload *w,
                           double slower_ln)
{
    const struct eco_optimize_card *c = &f->s->cards[card];
    struct eco_latency l;
    bool ok = c->gpu_usd_per_hour > 0 &&
              eco_latency_point(f->physics, f->s->model, c->gpu, w, false, &l, NULL) == 0;

    return ok ? l.request_s.median + l.decode_s * expm1(slower_ln) : NAN;
}

static void put_money(const struct filler *f, size_t card, const struct eco_workload *w, double j,
                      double prefill_j, double slower_ln)
{
    double prefill = w->prompt_tokens > 0 ? prefill_j * 1000.0 / w->prompt_tokens : 0.0;
    struct eco_cost cost;
    bool ok =
        isfinite(j) && eco_optimize_cost_of(f->s, card, w, j, prefill,
                                            request_time(f, card, w, slower_ln), &cost, NULL) == 0;

    put(f, ECO_OPTIMIZE_COST, ok ? eco_optimize_usd(&cost) : NAN);
    put(f, ECO_OPTIMIZE_CARBON, ok ? cost.month.kgco2 : NAN);
}

struct point {
    size_t seg;
    double context, room;
    double j_per_1k, step_s;
    double slower_ln; /* by how much reconciling raised ln step_s */
};

/* Throughput and its spread where the cache of the batch does not fit; as eco_latency_predict. */
static double wave_tokens_per_s(const struct filler *f, const struct row *r, struct eco_workload w,
                                double *sd_time)
{
    const struct eco_gpu *gpu = f->s->cards[r->card].gpu;
    struct eco_step step;

    w.batch = (int)eco_latency_resident(f->s->model, gpu, &w);
    *sd_time = eco_latency_sd(f->physics, gpu, &w);
    int rc = eco_latency_step(f->physics, f->s->model, gpu, &w, &step, NULL);
    return rc == 0 ? w.batch / step.total_s : NAN;
}

/*
 * As eco_physics_reconcile. Throughput grows with the batch on one row of the engine's table, so a
 * wave is over the limit only if the whole batch would be, unless the kernel switches in between.
 */
static void reconcile(const struct filler *f, const struct row *r, const struct eco_workload *w,
                      struct point *p)
{
    double watts = p->j_per_1k / J_PER_ROW * r->batch / p->step_s, sd_time, lower_ln;
    bool wave = p->room > 1;

    if (!(watts > r->limit_w) && !(wave && r->kernel_switches && watts > 0)) {
        return; /* consistent, or not known */
    }
    sd_time = r->sd_time;
    if (wave) {
        watts = p->j_per_1k / J_PER_ROW * wave_tokens_per_s(f, r, *w, &sd_time);
    }
    double sd_energy = between(&f->k, &r->sd_energy, p->seg, p->context);
    if (eco_reconcile_split(log(watts / r->limit_w), sd_energy, sd_time, &lower_ln,
                            &p->slower_ln)) {
        p->j_per_1k *= exp(-lower_ln);
        p->step_s *= exp(p->slower_ln);
    }
}

static void put_candidate(struct filler *f, const struct row *r, size_t context_index,
                          const struct base *b)
{
    const struct eco_optimize_setup *s = f->s;
    double context = s->contexts[context_index];
    struct point p = {.seg = segment_of(&f->k, context), .context = context};
    struct eco_workload w = eco_optimize_workload(s, r->card, r->arm, r->batch, context);
    double bytes = read_line(f, r, bytes_at, &r->total_bytes, p.seg, context);

    p.j_per_1k = between(&f->k, &r->j_per_1k, p.seg, context);
    p.step_s = read_line(f, r, step_at, &r->step_s, p.seg, context);
    p.room = eco_memory_room(s->cards[r->card].gpu, w.n_gpus, bytes);
    reconcile(f, r, &w, &p);
    f->c->label[f->n] = (struct eco_optimize_label){
        (uint16_t)r->card, (uint16_t)r->arm, (uint16_t)r->batch_index, (uint16_t)context_index};
    put(f, ECO_OPTIMIZE_ENERGY, p.j_per_1k);
    put(f, ECO_OPTIMIZE_QUALITY, eco_optimize_quality(&s->arms[r->arm]));
    put(f, ECO_OPTIMIZE_LATENCY, p.step_s);
    put(f, ECO_OPTIMIZE_THROUGHPUT, r->batch / p.step_s);
    put(f, ECO_OPTIMIZE_MEMORY, bytes);
    put(f, ECO_OPTIMIZE_ROOM, p.room);
    if (f->want_money) {
        put_money(f, r->card, &w, p.j_per_1k, between(&f->k, &b->prefill_j, p.seg, context),
                  p.slower_ln);
    }
    f->n++;
}

static void set_engine(const struct filler *f, struct row *r)
{
    const struct eco_optimize_setup *s = f->s;
    struct eco_workload w = eco_optimize_workload(s, r->card, r->arm, r->batch, 1);
    const struct eco_engine_row *one = eco_latency_row(f->physics, w.engine, w.precision, 1);

    r->kernel_switches = one != eco_latency_row(f->physics, w.engine, w.precision, r->batch);
    r->sd_time = eco_latency_sd(f->physics, s->cards[r->card].gpu, &w);
}

static void fill_row(struct filler *f, struct row *r, const struct base *b)
{
    const struct eco_optimize_setup *s = f->s;
    bool window = s->model->sliding_window > 0; /* step time is then neither convex nor concave */
    struct series mu, sd;

    fill_delta(f, r, &mu, &sd);
    for (size_t i = 0; i < f->k.n; i++) {
        r->j_per_1k.at[i] = b->j_per_1k.at[i] * exp(mu.at[i]);
        r->sd_energy.at[i] = hypot(b->sd.at[i], sd.at[i]);
    }
    r->weights_bytes = eco_memory_weight_bytes(s->model, s->arms[r->arm].precision);
    set_engine(f, r);
    r->limit_w = eco_reconcile_limit_w(s->cards[r->card].gpu, s->cards[r->card].n_gpus);
    probe(f, r, window, step_at, &r->step_s);
    probe(f, r, false, bytes_at, &r->total_bytes);
    for (size_t i = 0; i < s->n_contexts; i++) {
        if (s->model->max_context <= 0 || s->contexts[i] <= s->model->max_context) {
            put_candidate(f, r, i, b);
        }
    }
}

static int check_axis(const char *name, const double *v, size_t n, double hi, struct eco_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!(v[i] >= 1 && v[i] <= hi) || v[i] != floor(v[i])) {
            return eco_err_set(err, ECO_E_RANGE, name, "'%s' must be whole numbers in 1..%.0f",
                               name, hi);
        }
    }
    return ECO_OK;
}

static int check_setup(const struct eco_optimize_setup *s, struct eco_err *err)
{
    if (!s->model || eco_optimize_count(s) == 0) {
        return eco_err_set(err, s->model ? ECO_E_TOO_LARGE : ECO_E_MISSING, "candidates",
                           "a model and 1..%u candidates are needed", ECO_OPTIMIZE_MAX_CANDIDATES);
    }
    for (size_t i = 0; i < s->n_arms; i++) {
        if (s->arms[i].precision <= ECO_PREC_NONE || s->arms[i].precision >= ECO_PREC_COUNT) {
            return eco_err_set(err, ECO_E_INVALID, "precisions", "a precision is needed");
        }
    }
    for (size_t i = 0; i < s->n_cards; i++) {
        if (!s->cards[i].gpu || !(s->cards[i].gpu->vram_gb > 0)) {
            return eco_err_set(err, ECO_E_UNSUPPORTED, "gpu", "the memory of '%s' is not known",
                               s->cards[i].gpu ? s->cards[i].gpu->name : "?");
        }
    }
    int rc = check_axis("batches", s->batches, s->n_batches, ECO_PHYSICS_BATCH_MAX, err);
    return rc ? rc
              : check_axis("contexts", s->contexts, s->n_contexts, ECO_PHYSICS_TOKENS_MAX, err);
}

size_t eco_optimize_count(const struct eco_optimize_setup *s)
{
    const size_t axis[] = {s->n_cards, s->n_arms, s->n_batches, s->n_contexts};
    size_t n = 1;

    for (size_t i = 0; i < sizeof axis / sizeof *axis; i++) {
        if (axis[i] == 0 || axis[i] > ECO_OPTIMIZE_MAX_AXIS) {
            return 0;
        }
        n *= axis[i];
        if (n > ECO_OPTIMIZE_MAX_CANDIDATES) {
            return 0;
        }
    }
    return n;
}

static void fill_card_batch(struct filler *f, size_t card, size_t batch)
{
    struct base base = {.engine = ECO_ENGINE_UNKNOWN};

    for (size_t arm = 0; arm < f->s->n_arms; arm++) {
        const struct eco_gpu *gpu = f->s->cards[card].gpu;
        if (!eco_precision_runs(f->s->arms[arm].precision, engine_of(&f->s->arms[arm]), gpu,
                                gpu->arch, NULL)) {
            continue;
        }
        /* 16-bit energy depends on the engine, not on the precision: neighbours share it. */
        if (base.engine != engine_of(&f->s->arms[arm])) {
            fill_base(f, card, arm, f->s->batches[batch], &base);
        }
        struct row row = {
            .card = card, .arm = arm, .batch_index = batch, .batch = f->s->batches[batch]};
        fill_row(f, &row, &base);
    }
}

static void forget_arms(struct eco_predict_kept kept[KEPT_ARMS + 1])
{
    for (size_t i = 0; i <= KEPT_ARMS; i++) {
        kept[i].have = false;
    }
}

int eco_optimize_fill(const struct eco_optimize_setup *s, const struct eco_optimize_columns *c,
                      size_t *n_filled, struct eco_err *err)
{
    struct eco_predict_kept kept[KEPT_ARMS + 1]; /* the last is nobody's for long */
    struct filler f = {.s = s, .c = c, .physics = s->physics, .kept = kept};
    int rc = check_setup(s, err);

    if (rc) {
        return rc;
    }
    f.physics = f.physics ? f.physics : eco_physics_default();
    f.want_money = c->value[ECO_OPTIMIZE_COST] || c->value[ECO_OPTIMIZE_CARBON];
    f.want = f.want_money || c->value[ECO_OPTIMIZE_ENERGY] || c->value[ECO_OPTIMIZE_LATENCY] ||
             c->value[ECO_OPTIMIZE_THROUGHPUT];
    f.k = choose_knots(s->contexts, s->n_contexts, s->gen_tokens ? s->gen_tokens : GEN_DEFAULT);
    for (size_t card = 0; card < s->n_cards; card++) {
        forget_arms(kept);
        for (size_t batch = 0; batch < s->n_batches; batch++) {
            fill_card_batch(&f, card, batch);
        }
    }
    *n_filled = f.n;
    return ECO_OK;
}
