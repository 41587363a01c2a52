#include "core/predict_scan.h"

#include <math.h>
#include <string.h>

static const double z95 = 1.959963984540054;

enum { SIZE_STEPS = 64, BATCH_STEPS = 40 };

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

static int basis_of(const struct eco_predict_feature *f)
{
    return f->b == ECO_PB_ONE ? f->x : ECO_PX_COUNT - 1 + f->b;
}

/* Adds c to the covariance of two bases: once for each order of the pair. */
static void add_pair(double c, int i, int j, struct eco_predict_gaussian *g)
{
    if (i == j)
        c += c;
    g->covariance[i > j ? i : j][i > j ? j : i] += c;
}

/* Adds an effect that the data know: its mean, and its covariance with itself and those before. */
static void add_seen(const struct eco_predictor *p, int column, int basis, double coefficient,
                     struct eco_predict_arm *a)
{
    double own = covariance(p, column, column), with[ECO_PREDICT_BASES] = {0};

    a->all.mean[basis] += coefficient * p->mean[column];
    a->all.covariance[basis][basis] += coefficient * coefficient * own;
    for (int j = 0; j < a->n; j++)
        with[a->basis[j]] += covariance(p, column, a->column[j]) * a->coefficient[j];
    for (int j = 0; j < ECO_PREDICT_BASES; j++)
        add_pair(with[j] * coefficient, basis, j, &a->all);
    a->column[a->n] = column;
    a->basis[a->n] = (unsigned char)basis;
    a->coefficient[a->n++] = coefficient;
}

void eco_predict_arm_init(struct eco_predict_arm *a, const struct eco_predictor *p,
                          const struct eco_predict_levels *l, bool known_session, bool all_batches)
{
    struct eco_predict_feature f[ECO_PREDICT_MAX_FEATURES];
    int count = eco_predict_features(l, all_batches, f);

    memset(&a->all, 0, sizeof(a->all));
    a->all.n = ECO_PREDICT_BASES;
    a->n = 0;
    a->model = -1;
    for (int i = 0; i < count; i++) {
        bool session = eco_predict_group_session(f[i].group);
        int basis = basis_of(&f[i]), column = session ? -1 : find_column(p, f[i].key);
        double coefficient = f[i].coefficient;

        if ((known_session && session) || coefficient == 0.0)
            continue;
        if (column < 0) { /* never seen: its group's variance */
            a->all.covariance[basis][basis] +=
                coefficient * coefficient * exp(p->theta[f[i].group]);
            continue;
        }
        if (f[i].group == ECO_PG_MODEL)
            a->model = a->n;
        add_seen(p, column, basis, coefficient, a);
    }
}

void eco_predict_arm_bases(const struct eco_predict_levels *l, double out[ECO_PREDICT_BASES])
{
    double b[ECO_PB_COUNT];

    eco_predict_size_bases(l->x, out);
    eco_predict_batch_bases(l->batch, b);
    memcpy(out + ECO_PX_COUNT, b + 1, sizeof(b) - sizeof(*b));
}

/* What is known of this model becomes its prior again. */
static void forget_model(const struct eco_predictor *p, const struct eco_predict_arm *a,
                         struct eco_predict_gaussian *g)
{
    int m = a->model;

    if (m < 0)
        return;
    int column = a->column[m], basis = a->basis[m];
    double by = a->coefficient[m];

    g->mean[basis] -= by * p->mean[column];
    g->covariance[basis][basis] +=
        by * by * (exp(p->theta[ECO_PG_MODEL]) - covariance(p, column, column));
    for (int j = 0; j < a->n; j++) {
        if (j != m)
            add_pair(-by * a->coefficient[j] * covariance(p, column, a->column[j]), basis,
                     a->basis[j], g);
    }
}

/*
 * Some bases of `from` become one: those at fold[0..n_fold), weighted, are the first of the new
 * ones; those at keep[0..n_keep) stay as they are, behind it.
 */
static void fold(const struct eco_predict_gaussian *from, const int *folded, const double *weight,
                 int n_fold, const int *keep, int n_keep, struct eco_predict_gaussian *out)
{
    memset(out, 0, sizeof(*out));
    out->n = n_keep + 1;
    for (int i = 0; i < n_fold; i++) {
        double row = 0.5 * from->covariance[folded[i]][folded[i]] * weight[i];

        for (int j = 0; j < i; j++)
            row += from->covariance[folded[i]][folded[j]] * weight[j];
        out->mean[0] += from->mean[folded[i]] * weight[i];
        out->covariance[0][0] += 2.0 * row * weight[i];
    }
    for (int k = 0; k < n_keep; k++) {
        out->mean[k + 1] = from->mean[keep[k]];
        for (int i = 0; i < n_fold; i++) {
            int hi = folded[i] > keep[k] ? folded[i] : keep[k], lo = folded[i] + keep[k] - hi;
            out->covariance[k + 1][0] += from->covariance[hi][lo] * weight[i];
        }
        for (int j = 0; j <= k; j++)
            out->covariance[k + 1][j + 1] = from->covariance[keep[k]][keep[j]];
    }
}

void eco_predict_scan_init(struct eco_predict_scan *s, const struct eco_predict_arm *a,
                           const struct eco_predictor *p, const struct eco_predict_levels *l,
                           unsigned parts)
{
    static const int sizes[] = {ECO_PX_ONE, ECO_PX_SLOPE, ECO_PX_CURVE};
    static const int batches[] = {ECO_PX_ONE, ECO_PX_COUNT, ECO_PX_COUNT + 1, ECO_PX_COUNT + 2,
                                  ECO_PX_COUNT + 3};
    double bases[ECO_PREDICT_BASES], weight[ECO_PB_COUNT] = {1.0};
    struct eco_predict_gaussian all;

    eco_predict_arm_bases(l, bases);
    if (parts & ECO_PREDICT_CROSSOVER) {
        all = a->all;
        forget_model(p, a, &all);
        memcpy(weight + 1, bases + ECO_PX_COUNT, (ECO_PB_COUNT - 1) * sizeof(*bases));
        fold(&all, batches, weight, ECO_PB_COUNT, sizes + 1, ECO_PX_COUNT - 1, &s->curve);
    }
    if (parts & ECO_PREDICT_FLIP_BATCH)
        fold(&a->all, sizes, bases, ECO_PX_COUNT, batches + 1, ECO_PB_COUNT - 1, &s->batch);
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

/* The rows with the largest shares so far, the largest first. */
struct heaviest {
    int n, row[ECO_PREDICT_MAX_ANCHORS];
    float share[ECO_PREDICT_MAX_ANCHORS];
};

static void insert_row(struct heaviest *h, int row, float share)
{
    int at = h->n < ECO_PREDICT_MAX_ANCHORS ? h->n++ : h->n - 1; /* the lightest makes room */

    while (at > 0 && h->share[at - 1] < share) {
        h->share[at] = h->share[at - 1];
        h->row[at] = h->row[at - 1];
        at--;
    }
    h->share[at] = share;
    h->row[at] = row;
}

/* The share of each row's y in the answer, by size; returns their sum. */
static double row_shares(const struct eco_predict_arm *a, const struct eco_predictor *p,
                         const double bases[ECO_PREDICT_BASES], float *share)
{
    double total = 0.0;

    memset(share, 0, (size_t)p->n_fit * sizeof(*share));
    for (int i = 0; i < a->n; i++) {
        const float *w = p->weight + (size_t)a->column[i] * (size_t)p->n_fit;
        float v = (float)(a->coefficient[i] * bases[a->basis[i]]);

        if (v == 0.0F)
            continue; /* of another batch */
        for (int row = 0; row < p->n_fit; row++)
            share[row] += v * w[row];
    }
    for (int row = 0; row < p->n_fit; row++) {
        share[row] = fabsf(share[row]);
        total += share[row];
    }
    return total;
}

void eco_predict_arm_anchors(const struct eco_predict_arm *a, const struct eco_predictor *p,
                             const double bases[ECO_PREDICT_BASES], struct eco_predict_answer *out)
{
    float share[ECO_PREDICT_MAX_POINTS];
    double total = row_shares(a, p, bases, share);
    struct heaviest h = {.n = 0};

    for (int row = 0; row < p->n_fit && total > 0.0; row++) {
        if (h.n < ECO_PREDICT_MAX_ANCHORS || share[row] > h.share[ECO_PREDICT_MAX_ANCHORS - 1])
            insert_row(&h, row, share[row]);
    }
    out->n_anchors = h.n;
    for (int i = 0; i < h.n; i++) {
        const struct eco_predict_point *q = &p->points[p->fit_point[h.row[i]]];

        out->anchors[i] = (struct eco_predict_anchor){
            .row_id = q->id,
            .gpu = q->gpu,
            .model_id = q->model_id,
            .session = q->session,
            .precision = q->precision,
            .weight = h.share[i] / total,
            .delta_pct = 100.0 * expm1(q->y),
            .params_b = q->params_b,
            .batch = q->batch,
        };
    }
}

/* A family of locations and scales along one axis t (ln size or ln batch). */
struct axis {
    const struct eco_predict_scan *scan;
    double offset, shift;
    bool batch;
};

static const struct eco_predict_gaussian *gaussian_of(const struct axis *a)
{
    return a->batch ? &a->scan->batch : &a->scan->curve;
}

static void bases_at(const struct axis *a, double t, double b[ECO_PB_COUNT])
{
    if (a->batch)
        eco_predict_batch_bases(exp(t), b);
    else
        eco_predict_size_bases(t - 1.0986122886681098 + a->offset, b); /* ln 3 */
}

/* The location alone. */
static double median_of(const struct axis *a, const double b[ECO_PB_COUNT])
{
    const struct eco_predict_gaussian *g = gaussian_of(a);
    double mu = 0.0;

    for (int i = 0; i < g->n; i++)
        mu += g->mean[i] * b[i];
    return mu + a->shift;
}

static void axis_of(const struct axis *a, const double b[ECO_PB_COUNT], double *mu, double *sd)
{
    double variance;

    eco_predict_scan_at(gaussian_of(a), b, mu, &variance);
    *mu += a->shift;
    *sd = sqrt(variance);
}

/* mu + z sd at t: z = 0 the median, +-z95 the edges of the band. */
static double level_at(const struct axis *a, double t, double z)
{
    double b[ECO_PB_COUNT], mu, sd;

    bases_at(a, t, b);
    if (z == 0.0)
        return median_of(a, b);
    axis_of(a, b, &mu, &sd);
    return mu + z * sd;
}

/* Whether the 95 % band holds zero. */
static bool holds_zero(const struct axis *a, const double b[ECO_PB_COUNT])
{
    double mu, sd;

    axis_of(a, b, &mu, &sd);
    return fabs(mu) <= z95 * sd;
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
    double t[SIZE_STEPS + 1], mu[SIZE_STEPS + 1], b[SIZE_STEPS + 1][ECO_PB_COUNT];
    int n;
};

static void fill_grid(const struct axis *a, double lo, double hi, int steps, struct grid *g)
{
    g->n = steps + 1;
    for (int i = 0; i <= steps; i++) {
        g->t[i] = lo + (hi - lo) * i / steps;
        bases_at(a, g->t[i], g->b[i]);
        g->mu[i] = median_of(a, g->b[i]);
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

    while (i >= 0 && holds_zero(a, g->b[i]))
        i--;
    while (j < g->n && holds_zero(a, g->b[j]))
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
    double first, first_sd, lo, hi, one[ECO_PB_COUNT];
    int k = 0;

    memset(out, 0, sizeof(*out));
    bases_at(&a, 0.0, one);
    axis_of(&a, one, &first, &first_sd);
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
        while (k < g.n && holds_zero(&a, g.b[k]))
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
