#include "core/crossval.h"

#include "core/linalg.h"

#include <math.h>
#include <string.h>

static const double z50 = 0.67448975019608171, z80 = 1.2815515655446004, z95 = 1.959963984540054;

enum { HESSIAN = ECO_PG_COUNT * ECO_PG_COUNT };

size_t eco_crossval_bytes(int n_points)
{
    size_t n = n_points > 0 ? (size_t)n_points : 1;

    return eco_predict_problem_bytes(n_points) + 2 * HESSIAN * sizeof(double) +
           4 * ((n + 15u) & ~(size_t)15u);
}

struct run {
    const struct eco_predict_point *points;
    int n;
    enum eco_crossval_split split;
    const double *theta;           /* of the whole set */
    double *hessian, *hessian_all; /* scratch, and the one of the whole set */
    bool *use, *judge, *done;
    void *memory;
    size_t bytes;
};

static bool same_size(double a, double b)
{
    return fabs(log(a / b)) < 0.05;
}

/* Whether the split asks about this pair at all. */
static bool is_judged(const struct eco_predict_point *p, enum eco_crossval_split split)
{
    bool own = p->source[0] == '\0' && p->batch == 1.0;

    switch (split) {
    case ECO_CROSSVAL_ONE:
    case ECO_CROSSVAL_SIZE:
        return own && (p->fit || p->anchor);
    case ECO_CROSSVAL_SESSION:
    case ECO_CROSSVAL_CARD:
        return own && p->fit;
    default:
        return p->source[0] != '\0' && p->fit;
    }
}

/* Sources are owner/repository/path: the first two parts say who published it. */
static bool same_publisher(const char *a, const char *b)
{
    int slashes = 0;

    for (; *a == *b && *a != '\0'; a++, b++) {
        slashes += *a == '/';
        if (slashes == 2)
            return true;
    }
    return *a == *b;
}

/* Whether pair j leaves together with pair i. */
static bool is_left_out(const struct run *r, int i, int j)
{
    const struct eco_predict_point *a = &r->points[i], *b = &r->points[j];

    switch (r->split) {
    case ECO_CROSSVAL_ONE:
        return i == j;
    case ECO_CROSSVAL_SIZE:
        return same_size(a->nominal_b, b->nominal_b);
    case ECO_CROSSVAL_SESSION:
        return strcmp(a->session, b->session) == 0;
    case ECO_CROSSVAL_CARD:
        return strcmp(a->gpu, b->gpu) == 0;
    case ECO_CROSSVAL_PUBLISHER:
        return same_publisher(a->source, b->source);
    default:
        return strcmp(a->source, b->source) == 0;
    }
}

/*
 * One fold: refits without the pairs that leave with i, and answers those of them that are
 * judged. Sizes are compared with pair i, so a fold is the neighbourhood of its first pair.
 */
static int run_fold(struct run *r, int i, struct eco_crossval_row *rows, struct eco_err *err)
{
    bool fresh = r->split != ECO_CROSSVAL_ONE && r->split != ECO_CROSSVAL_SIZE;
    struct eco_predict_problem p;
    struct eco_gp_result result;
    double theta[ECO_PG_COUNT];
    int rc;

    for (int j = 0; j < r->n; j++)
        r->use[j] = !is_left_out(r, i, j);
    rc = eco_predict_problem_init(&p, r->points, r->n, r->use, r->memory, r->bytes, err);
    if (rc != 0)
        return rc;
    memcpy(theta, r->theta, sizeof(theta));
    memcpy(r->hessian, r->hessian_all, HESSIAN * sizeof(*r->hessian));
    rc = eco_predict_problem_fit(&p, theta, r->hessian, true, &result, err);
    if (rc != 0)
        return rc;
    for (int j = 0; j < r->n; j++) {
        struct eco_predict_levels l;

        if (!r->judge[j] || r->use[j] || r->done[j])
            continue;
        eco_predict_problem_levels(&p, j, &l);
        rows[j].point = j;
        eco_predict_problem_at(&p, &l, fresh, r->points[j].grade, &rows[j].mu, &rows[j].sd);
        r->done[j] = true;
    }
    return 0;
}

/* The curvature around the fit of the whole set, which every fold starts from. */
static int fit_whole(struct run *r, double theta[ECO_PG_COUNT], struct eco_err *err)
{
    struct eco_predict_problem p;
    struct eco_gp_result result;
    int rc = eco_predict_problem_init(&p, r->points, r->n, NULL, r->memory, r->bytes, err);

    if (rc != 0)
        return rc;
    eco_predict_theta_prior(theta);
    return eco_predict_problem_fit(&p, theta, r->hessian_all, false, &result, err);
}

static void carve(struct run *r, void *memory, size_t bytes)
{
    size_t flags = ((size_t)r->n + 15u) & ~(size_t)15u;
    unsigned char *at = memory;

    r->hessian = memory;
    r->hessian_all = r->hessian + HESSIAN;
    at += 2 * HESSIAN * sizeof(double);
    r->use = (bool *)at;
    r->judge = (bool *)(at + flags);
    r->done = (bool *)(at + 2 * flags);
    r->memory = at + 3 * flags;
    r->bytes = bytes - 2 * HESSIAN * sizeof(double) - 3 * flags;
}

int eco_crossval_run(const struct eco_predict_point *points, int n_points,
                     enum eco_crossval_split split, void *memory, size_t bytes,
                     struct eco_crossval_row *rows, int *n_rows,
                     void (*tick)(void *user, int done, int total), void *user, struct eco_err *err)
{
    struct run r = {.points = points, .n = n_points, .split = split};
    double start[ECO_PG_COUNT];
    int total = 0, count = 0, rc;

    if (memory == NULL || n_points < 1 || bytes < eco_crossval_bytes(n_points))
        return eco_err_set(err, ECO_E_NO_MEMORY, "memory", "the block is too small");
    carve(&r, memory, bytes);
    rc = fit_whole(&r, start, err);
    if (rc != 0)
        return rc;
    r.theta = start;
    for (int i = 0; i < n_points; i++) {
        r.judge[i] = is_judged(&points[i], split);
        r.done[i] = false;
        total += r.judge[i];
    }
    for (int i = 0; i < n_points; i++) {
        if (!r.judge[i] || r.done[i])
            continue;
        rc = run_fold(&r, i, rows, err);
        if (rc != 0)
            return rc;
        for (int j = count = 0; j < n_points; j++)
            count += r.done[j];
        if (tick != NULL)
            tick(user, count, total);
    }
    count = 0;
    for (int i = 0; i < n_points; i++) {
        if (r.done[i])
            rows[count++] = rows[i];
    }
    *n_rows = count;
    return 0;
}

static double new_card_sd(const struct eco_predict_problem *p, enum eco_precision precision,
                          enum eco_arch arch)
{
    struct eco_predict_levels l = {
        .precision = precision,
        .family = eco_precision_family(precision),
        .engine = ECO_ENGINE_TRANSFORMERS,
        .arch = arch,
        .card = -1,
        .model = -1,
        .session = -1,
        .baseline = -1,
        .x = eco_predict_effective_x(7.0, 0.0, 0),
        .batch = 1.0,
    };
    double mu, sd;

    eco_predict_problem_at(p, &l, true, ECO_GRADE_B, &mu, &sd);
    return sd;
}

int eco_crossval_prior(const struct eco_predict_point *points, int n_points,
                       enum eco_predict_group group, double factor, void *memory, size_t bytes,
                       struct eco_crossval_sensitivity *out, struct eco_err *err)
{
    double theta[ECO_PG_COUNT], prior[ECO_PG_COUNT];
    struct run r = {.points = points, .n = n_points};
    struct eco_predict_problem p;
    struct eco_gp_result result;
    int rc;

    if (memory == NULL || n_points < 1 || bytes < eco_crossval_bytes(n_points))
        return eco_err_set(err, ECO_E_NO_MEMORY, "memory", "the block is too small");
    carve(&r, memory, bytes);
    rc = eco_predict_problem_init(&p, points, n_points, NULL, r.memory, r.bytes, err);
    if (rc != 0)
        return rc;
    eco_predict_theta_prior(prior);
    prior[group] += 2.0 * log(factor);
    p.gp.prior_log_var = prior;
    eco_predict_theta_prior(theta);
    rc = eco_predict_problem_fit(&p, theta, r.hessian, false, &result, err);
    if (rc != 0)
        return rc;
    out->prior_sd = exp(0.5 * prior[group]);
    out->fitted_sd = exp(0.5 * theta[group]);
    out->nf4_new_card_sd = new_card_sd(&p, ECO_PREC_NF4, ECO_ARCH_ADA);
    out->int8_new_card_sd = new_card_sd(&p, ECO_PREC_INT8_MIXED, ECO_ARCH_ADA);
    out->nf4_new_arch_sd = new_card_sd(&p, ECO_PREC_NF4, ECO_ARCH_UNKNOWN);
    return 0;
}

void eco_crossval_binomial_range(int n, double p, int *lo, int *hi)
{
    *lo = 0;
    *hi = n;
    while (*lo < n && eco_linalg_binomial_cdf(*lo, n, p) <= 0.025)
        (*lo)++;
    while (*hi > 0 && 1.0 - eco_linalg_binomial_cdf(*hi - 1, n, p) <= 0.025)
        (*hi)--;
}

static bool is_chosen(const struct eco_predict_point *p, const struct eco_crossval_filter *f)
{
    if (f->anchors ? !p->anchor : !p->fit)
        return false;
    if (f->precision != ECO_PREC_NONE && p->precision != f->precision)
        return false;
    if (f->arch != ECO_ARCH_UNKNOWN && p->arch != f->arch)
        return false;
    return f->source == NULL || strcmp(p->source, f->source) == 0;
}

/* Error of a row in points; the k-th smallest is found by counting (n is small). */
static double row_error(const struct eco_predict_point *p, const struct eco_crossval_row *r,
                        bool anchors)
{
    double shift = anchors ? p->net_shift : 0.0;
    double truth = anchors ? p->published_pct : 100.0 * expm1(p->y);

    return fabs(truth - 100.0 * expm1(r->mu + shift));
}

static double kth_error(const struct eco_predict_point *points, const struct eco_crossval_row *rows,
                        int n_rows, const struct eco_crossval_filter *f, int k)
{
    for (int i = 0; i < n_rows; i++) {
        double e = row_error(&points[rows[i].point], &rows[i], f->anchors);
        int below = 0, equal = 0;

        if (!is_chosen(&points[rows[i].point], f))
            continue;
        for (int j = 0; j < n_rows; j++) {
            double other = row_error(&points[rows[j].point], &rows[j], f->anchors);

            if (!is_chosen(&points[rows[j].point], f))
                continue;
            below += other < e;
            equal += other == e;
        }
        if (below <= k && k < below + equal)
            return e;
    }
    return 0.0;
}

static void add_row(const struct eco_predict_point *p, const struct eco_crossval_row *r,
                    bool anchors, struct eco_crossval_score *s)
{
    double shift = anchors ? p->net_shift : 0.0;
    double truth = anchors ? p->published_pct : 100.0 * expm1(p->y);
    double y = log1p(truth / 100.0) - shift, z = fabs(y - r->mu) / r->sd;
    double lo = 100.0 * expm1(r->mu + shift - z95 * r->sd);
    double hi = 100.0 * expm1(r->mu + shift + z95 * r->sd);

    s->n++;
    s->mae += row_error(p, r, anchors);
    s->log_mae += fabs(y - r->mu);
    s->coverage50 += z <= z50;
    s->coverage80 += z <= z80;
    s->inside95 += z <= z95;
    s->interval_score += hi - lo + 40.0 * (fmax(lo - truth, 0.0) + fmax(truth - hi, 0.0));
    s->firm += lo > 0.0 || hi < 0.0;
    s->sign_ok += (lo <= 0.0 && hi >= 0.0) || (truth < 0.0) == (hi < 0.0);
}

/* Coverage by session: pairs of one session err together, so sessions are the sample. */
static void add_clusters(const struct eco_predict_point *points,
                         const struct eco_crossval_row *rows, int n_rows,
                         const struct eco_crossval_filter *f, struct eco_crossval_score *s)
{
    double sum = 0.0, squares = 0.0;

    for (int i = 0; i < n_rows; i++) {
        const struct eco_predict_point *p = &points[rows[i].point];
        struct eco_crossval_score one = {0};
        bool first = true;

        if (!is_chosen(p, f))
            continue;
        for (int j = 0; j < n_rows; j++) {
            const struct eco_predict_point *q = &points[rows[j].point];

            if (!is_chosen(q, f) || strcmp(p->session, q->session) != 0)
                continue;
            first = first && j >= i;
            add_row(q, &rows[j], f->anchors, &one);
        }
        if (first) {
            double share = (double)one.inside95 / one.n;

            s->n_sessions++;
            sum += share;
            squares += share * share;
        }
    }
    if (s->n_sessions > 0)
        s->clustered95 = sum / s->n_sessions;
    if (s->n_sessions > 1)
        s->clustered95_sd = sqrt(fmax(squares - sum * sum / s->n_sessions, 0.0) /
                                 ((s->n_sessions - 1.0) * s->n_sessions));
}

void eco_crossval_score(const struct eco_predict_point *points, const struct eco_crossval_row *rows,
                        int n_rows, const struct eco_crossval_filter *filter,
                        struct eco_crossval_score *out)
{
    struct eco_crossval_score s = {0};

    for (int i = 0; i < n_rows; i++) {
        if (is_chosen(&points[rows[i].point], filter))
            add_row(&points[rows[i].point], &rows[i], filter->anchors, &s);
    }
    if (s.n > 0) {
        s.median = 0.5 * (kth_error(points, rows, n_rows, filter, (s.n - 1) / 2) +
                          kth_error(points, rows, n_rows, filter, s.n / 2));
        s.mae /= s.n;
        s.log_mae /= s.n;
        s.coverage50 /= s.n;
        s.coverage80 /= s.n;
        s.coverage95 = (double)s.inside95 / s.n;
        s.interval_score /= s.n;
        s.sign_ok /= s.n;
        eco_crossval_binomial_range(s.n, 0.95, &s.inside_lo, &s.inside_hi);
        s.passes = s.inside95 >= s.inside_lo && s.inside95 <= s.inside_hi;
        add_clusters(points, rows, n_rows, filter, &s);
    }
    *out = s;
}
