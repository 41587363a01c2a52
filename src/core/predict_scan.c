#include "core/predict_scan.h"

#include <math.h>
#include <string.h>

static const double z95 = 1.959963984540054;

enum { SIZE_STEPS = 64, BATCH_STEPS = 40 };

/* One effect of the question: its column (-1: never seen), bases, and coefficients in each. */
struct effect {
    int column, group, x, b;
    double by_size, by_batch; /* with the batch's and the size's basis multiplied in */
};

static int find_column(const struct eco_predictor *p, uint64_t key)
{
    int lo = 0, hi = p->n_columns;

    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;

        if (p->key[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->n_columns && p->key[lo] == key ? lo : -1;
}

static double covariance(const struct eco_predictor *p, int i, int j)
{
    size_t hi = (size_t)(i > j ? i : j), lo = (size_t)(i > j ? j : i);

    return p->covariance[hi * (hi + 1) / 2 + lo];
}

/* Adds one effect's mean and own variance; an effect never seen has its group's variance. */
static void add_effect(const struct eco_predictor *p, const struct effect *e, double coefficient,
                       int basis, struct eco_predict_gaussian *g)
{
    double variance = e->column < 0 ? exp(p->theta[e->group]) : covariance(p, e->column, e->column);

    if (e->column >= 0)
        g->mean[basis] += coefficient * p->mean[e->column];
    g->covariance[basis][basis] += coefficient * coefficient * variance;
}

/* Adds the covariance of two effects to both triangles. */
static void add_pair(double c, int i, int j, struct eco_predict_gaussian *g)
{
    g->covariance[i][j] += c;
    g->covariance[j][i] += c;
}

/* The Gaussian over the size's or the batch's bases; a coefficient of 0 adds nothing. */
static void reduce(const struct eco_predictor *p, const struct effect *e, int n, bool batch,
                   struct eco_predict_gaussian *g)
{
    const struct effect *seen[ECO_PREDICT_MAX_FEATURES];
    int n_seen = 0;

    memset(g, 0, sizeof(*g));
    g->n = batch ? ECO_PB_COUNT : ECO_PX_COUNT;
    for (int i = 0; i < n; i++) {
        double by = batch ? e[i].by_batch : e[i].by_size;
        int basis = batch ? e[i].b : e[i].x;

        if (by == 0.0)
            continue;
        add_effect(p, &e[i], by, basis, g);
        for (int j = 0; e[i].column >= 0 && j < n_seen; j++) {
            double c = covariance(p, e[i].column, seen[j]->column) * by;

            add_pair(c * (batch ? seen[j]->by_batch : seen[j]->by_size), basis,
                     batch ? seen[j]->b : seen[j]->x, g);
        }
        if (e[i].column >= 0)
            seen[n_seen++] = &e[i];
    }
}

/* The size curve of a model never seen: what is known of this model becomes its prior again. */
static void forget_model(const struct eco_predictor *p, const struct effect *e, int n,
                         struct eco_predict_scan *s)
{
    int m = 0;

    s->curve = s->size;
    while (m < n && e[m].group != ECO_PG_MODEL)
        m++;
    if (m == n || e[m].column < 0)
        return;
    s->curve.mean[e[m].x] -= e[m].by_size * p->mean[e[m].column];
    s->curve.covariance[e[m].x][e[m].x] +=
        e[m].by_size * e[m].by_size *
        (exp(p->theta[ECO_PG_MODEL]) - covariance(p, e[m].column, e[m].column));
    for (int j = 0; j < n; j++) {
        if (j != m && e[j].column >= 0)
            add_pair(-e[m].by_size * e[j].by_size * covariance(p, e[m].column, e[j].column), e[m].x,
                     e[j].x, &s->curve);
    }
}

void eco_predict_scan_init(struct eco_predict_scan *s, const struct eco_predictor *p,
                           const struct eco_predict_levels *l, bool known_session, unsigned parts)
{
    struct eco_predict_feature f[ECO_PREDICT_MAX_FEATURES];
    struct effect e[ECO_PREDICT_MAX_FEATURES] = {0};
    double x[ECO_PX_COUNT], b[ECO_PB_COUNT];
    int count = eco_predict_features(l, parts & ECO_PREDICT_FLIP_BATCH, f), n = 0;

    eco_predict_size_bases(l->x, x);
    eco_predict_batch_bases(l->batch, b);
    s->n = 0;
    for (int i = 0; i < count; i++) {
        bool session = eco_predict_group_session(f[i].group);

        if (known_session && session)
            continue;
        e[n] = (struct effect){
            .column = session ? -1 : find_column(p, f[i].key),
            .group = f[i].group,
            .x = f[i].x,
            .b = f[i].b,
            .by_size = f[i].coefficient * b[f[i].b],
            .by_batch = f[i].coefficient * x[f[i].x],
        };
        if (e[n].column >= 0 && b[f[i].b] != 0.0) {
            s->column[s->n] = e[n].column;
            s->value[s->n++] = f[i].coefficient * x[f[i].x] * b[f[i].b];
        }
        n++;
    }
    reduce(p, e, n, false, &s->size);
    if (parts & ECO_PREDICT_CROSSOVER)
        forget_model(p, e, n, s);
    if (parts & ECO_PREDICT_FLIP_BATCH)
        reduce(p, e, n, true, &s->batch);
}

void eco_predict_scan_at(const struct eco_predict_gaussian *g, const double *b, double *mu,
                         double *variance)
{
    double m = 0.0, v = 0.0;

    for (int i = 0; i < g->n; i++) {
        double row = 0.5 * g->covariance[i][i] * b[i];

        for (int j = 0; j < i; j++)
            row += g->covariance[i][j] * b[j];
        v += 2.0 * row * b[i];
        m += g->mean[i] * b[i];
    }
    *mu = m;
    *variance = v > 0.0 ? v : 0.0;
}

static void insert_anchor(const struct eco_predictor *p, int row, double weight,
                          struct eco_predict_answer *out)
{
    const struct eco_predict_point *q = &p->points[p->fit_point[row]];
    int at = out->n_anchors;

    if (at == ECO_PREDICT_MAX_ANCHORS) {
        if (!(weight > out->anchors[at - 1].weight))
            return;
        at--;
    } else {
        out->n_anchors++;
    }
    while (at > 0 && out->anchors[at - 1].weight < weight) {
        out->anchors[at] = out->anchors[at - 1];
        at--;
    }
    out->anchors[at] = (struct eco_predict_anchor){
        .row_id = q->id,
        .gpu = q->gpu,
        .model_id = q->model_id,
        .session = q->session,
        .precision = q->precision,
        .weight = weight,
        .delta_pct = 100.0 * expm1(q->y),
        .params_b = q->params_b,
        .batch = q->batch,
    };
}

void eco_predict_scan_anchors(const struct eco_predict_scan *s, const struct eco_predictor *p,
                              struct eco_predict_answer *out)
{
    float share[ECO_PREDICT_MAX_POINTS];
    double total = 0.0;

    memset(share, 0, (size_t)p->n_fit * sizeof(*share));
    for (int i = 0; i < s->n; i++) {
        const float *w = p->weight + (size_t)s->column[i] * (size_t)p->n_fit;
        float v = (float)s->value[i];

        for (int row = 0; row < p->n_fit; row++)
            share[row] += v * w[row];
    }
    for (int row = 0; row < p->n_fit; row++)
        total += fabsf(share[row]);
    out->n_anchors = 0;
    for (int row = 0; row < p->n_fit && total > 0.0; row++)
        insert_anchor(p, row, fabsf(share[row]) / total, out);
}

/* A family of locations and scales along one axis t (ln size or ln batch). */
struct axis {
    const struct eco_predict_scan *scan;
    double offset, shift;
    bool batch;
};

static void axis_at(const struct axis *a, double t, double *mu, double *sd)
{
    double b[ECO_PB_COUNT], variance;

    if (a->batch) {
        eco_predict_batch_bases(exp(t), b);
        eco_predict_scan_at(&a->scan->batch, b, mu, &variance);
    } else {
        eco_predict_size_bases(t - 1.0986122886681098 + a->offset, b); /* ln 3 */
        eco_predict_scan_at(&a->scan->curve, b, mu, &variance);
    }
    *mu += a->shift;
    *sd = sqrt(variance);
}

/* mu + z sd at t: z = 0 the median, +-z95 the edges of the band. */
static double level_at(const struct axis *a, double t, double z)
{
    double mu, sd;

    axis_at(a, t, &mu, &sd);
    return mu + z * sd;
}

/* Root of a level between lo and hi, which lie on different sides. */
static double bisect(const struct axis *a, double lo, double hi, double z)
{
    bool below = level_at(a, lo, z) < 0.0;

    for (int i = 0; i < 18; i++) { /* a grid step of 0.15 / 2^18: 6e-7 */
        double mid = 0.5 * (lo + hi);

        if ((level_at(a, mid, z) < 0.0) == below)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

struct grid {
    double t[SIZE_STEPS + 1], mu[SIZE_STEPS + 1], sd[SIZE_STEPS + 1];
    int n;
};

static void fill_grid(const struct axis *a, double lo, double hi, int steps, struct grid *g)
{
    g->n = steps + 1;
    for (int i = 0; i <= steps; i++) {
        g->t[i] = lo + (hi - lo) * i / steps;
        axis_at(a, g->t[i], &g->mu[i], &g->sd[i]);
    }
}

/*
 * The 95 % interval of a crossing between grid points k and k + 1: walk out until the band no
 * longer holds zero, on the side of the sign that the median has there (Fieller's set).
 */
static void set_interval(const struct axis *a, const struct grid *g, int k,
                         struct eco_predict_crossing *out, double *lo, double *hi)
{
    double below = g->mu[k] < 0.0 ? z95 : -z95, above = -below;
    int i = k, j = k + 1;

    while (i >= 0 && fabs(g->mu[i]) <= z95 * g->sd[i])
        i--;
    while (j < g->n && fabs(g->mu[j]) <= z95 * g->sd[j])
        j++;
    out->lo_open = i < 0;
    out->hi_open = j >= g->n;
    *lo = i < 0 ? g->t[0] : bisect(a, g->t[i], g->t[i + 1], below);
    *hi = j >= g->n ? g->t[g->n - 1] : bisect(a, g->t[j - 1], g->t[j], above);
}

void eco_predict_scan_size(const struct eco_predict_scan *s, double offset, double params_b,
                           double shift, struct eco_predict_crossing *out)
{
    struct axis a = {s, offset, shift, false};
    struct grid g;
    double at = log(params_b), best = INFINITY, lo, hi, t;
    int k = -1;

    memset(out, 0, sizeof(*out));
    fill_grid(&a, log(0.1), log(1000.0), SIZE_STEPS, &g);
    for (int i = 0; i + 1 < g.n; i++) {
        if ((g.mu[i] < 0.0) != (g.mu[i + 1] < 0.0) && fabs(g.t[i] - at) < best) {
            best = fabs(g.t[i] - at);
            k = i;
        }
    }
    if (k < 0)
        return;
    t = bisect(&a, g.t[k], g.t[k + 1], 0.0);
    set_interval(&a, &g, k, out, &lo, &hi);
    out->have = true;
    out->saves_above = g.mu[k + 1] < 0.0;
    out->median = exp(t);
    out->lo = exp(lo);
    out->hi = exp(hi);
}

void eco_predict_scan_batch(const struct eco_predict_scan *s, struct eco_predict_crossing *out)
{
    struct axis a = {s, 0.0, 0.0, true};
    struct grid g;
    double first, first_sd, lo, hi;
    int k = 0;

    memset(out, 0, sizeof(*out));
    axis_at(&a, 0.0, &first, &first_sd);
    fill_grid(&a, log(2.0), log(1024.0), BATCH_STEPS, &g);
    while (k < g.n && (g.mu[k] < 0.0) == (first < 0.0))
        k++;
    if (k == g.n)
        return;
    out->have = true;
    out->saves_above = g.mu[k] < 0.0;
    if (k == 0) { /* the kernel switch itself flips the sign: between batch 1 and 2 */
        out->median = 2.0;
        out->lo = 2.0;
        out->lo_open = fabs(first) <= z95 * first_sd;
        while (k < g.n && fabs(g.mu[k]) <= z95 * g.sd[k])
            k++;
        out->hi_open = k == g.n;
        out->hi = ceil(exp(g.t[k == g.n ? k - 1 : k]) - 1e-9);
        return;
    }
    out->median = ceil(exp(bisect(&a, g.t[k - 1], g.t[k], 0.0)));
    set_interval(&a, &g, k - 1, out, &lo, &hi);
    out->lo = floor(exp(lo) + 1e-9);
    out->hi = ceil(exp(hi) - 1e-9);
}
