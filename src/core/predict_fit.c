#include "core/predict_fit.h"

#include "core/linalg.h"

#include <math.h>
#include <string.h>

enum { MAX_EVALUATIONS = 120 };

void eco_predict_theta_prior(double theta[ECO_PG_COUNT])
{
    for (int g = 0; g < ECO_PG_COUNT; g++)
        theta[g] = eco_predict_group_prior_log_var(g);
}

int eco_predict_problem_fit(struct eco_predict_problem *p, double theta[ECO_PG_COUNT],
                            double *hessian_inverse, bool warm, struct eco_gp_result *out,
                            struct eco_err *err)
{
    for (int g = 0; g < ECO_PG_COUNT; g++)
        p->theta[g] = eco_predict_group_free(g) ? theta[g] : eco_predict_group_prior_log_var(g);
    if (eco_gp_minimize(&p->gp, p->theta, hessian_inverse, warm, MAX_EVALUATIONS, 1e-3, &p->work,
                        out) != 0)
        return eco_err_set(err, ECO_E_CONTENT, "points", "the pairs' covariance is singular");
    memcpy(theta, p->theta, sizeof(p->theta));
    return 0;
}

size_t eco_predict_fit_bytes(int n_points)
{
    return eco_predict_problem_bytes(n_points) + ECO_PG_COUNT * ECO_PG_COUNT * sizeof(double) + 64;
}

int eco_predict_fit(const struct eco_predict_point *points, int n_points, void *memory,
                    size_t bytes, double theta[ECO_PG_COUNT], struct eco_gp_result *out,
                    struct eco_err *err)
{
    size_t hessian = ECO_PG_COUNT * ECO_PG_COUNT * sizeof(double);
    struct eco_predict_problem p;
    double fitted[ECO_PG_COUNT];
    int rc;

    if (memory == NULL || bytes < eco_predict_fit_bytes(n_points))
        return eco_err_set(err, ECO_E_NO_MEMORY, "memory", "the block is too small");
    rc = eco_predict_problem_init(&p, points, n_points, NULL, (unsigned char *)memory + hessian,
                                  bytes - hessian, err);
    if (rc != 0)
        return rc;
    memcpy(fitted, theta, sizeof(fitted));
    rc = eco_predict_problem_fit(&p, fitted, memory, false, out, err);
    if (rc == 0)
        memcpy(theta, fitted, sizeof(fitted));
    return rc;
}

size_t eco_predict_build_bytes(int n_points)
{
    /* Points share cards, models and engines: a point brings under three columns of its own. */
    size_t n = n_points > 0 ? (size_t)n_points : 1, columns = 3 * n + 160;

    return eco_predict_problem_bytes(n_points) + columns * (sizeof(uint64_t) + sizeof(double)) +
           columns * n * sizeof(float) + columns * (columns + 1) / 2 * sizeof(double) +
           columns * sizeof(int) + 64;
}

/* Sum over the rows of column j of value times v[row]. */
static double column_dot(const struct eco_gp_problem *gp, int j, const double *v)
{
    double sum = 0.0;

    for (int a = gp->col_start[j]; a < gp->col_start[j + 1]; a++)
        sum += gp->value[a] * v[gp->row[a]];
    return sum;
}

struct tables {
    uint64_t *key;
    double *mean, *covariance;
    float *weight;
    int *column; /* of the problem */
    int n;
};

/* Takes the tables from the end of the caller's block; NULL key where they do not fit. */
static struct tables carve(const struct eco_predict_problem *p, unsigned char *at, size_t left)
{
    struct tables t = {0};
    size_t n, need, packed;

    for (int j = 0; j < p->gp.m; j++)
        t.n += !eco_predict_group_session(p->gp.col_group[j]);
    n = (size_t)t.n;
    packed = n * (n + 1) / 2;
    need = n * (sizeof(uint64_t) + sizeof(double)) + packed * sizeof(double) +
           n * (size_t)p->gp.n * sizeof(float) + n * sizeof(int);
    if (need > left)
        return (struct tables){0};
    t.key = (uint64_t *)(void *)at;
    t.mean = (double *)(void *)(at + n * sizeof(uint64_t));
    t.covariance = t.mean + n;
    t.weight = (float *)(void *)(t.covariance + packed);
    t.column = (int *)(void *)(t.weight + n * (size_t)p->gp.n);
    return t;
}

static void fill_tables(const struct eco_predict_problem *p, struct tables *t)
{
    size_t rows = (size_t)p->gp.n;
    int n = 0;

    for (int j = 0; j < p->gp.m; j++) {
        if (!eco_predict_group_session(p->gp.col_group[j]))
            t->column[n++] = j;
    }
    for (int c = 0; c < n; c++) {
        int j = t->column[c];
        double lambda = exp(p->theta[p->gp.col_group[j]]), *w = p->k;

        t->key[c] = p->key[j];
        t->mean[c] = lambda * column_dot(&p->gp, j, p->work.alpha);
        for (size_t i = 0; i < rows; i++) {
            w[i] = lambda * column_dot(&p->gp, j, p->work.inverse + i * rows);
            t->weight[(size_t)c * rows + i] = (float)w[i];
        }
        for (int d = 0; d <= c; d++) {
            int other = t->column[d];
            double shared = exp(p->theta[p->gp.col_group[other]]) * column_dot(&p->gp, other, w);

            t->covariance[(size_t)c * ((size_t)c + 1) / 2 + (size_t)d] =
                (c == d ? lambda : 0.0) - shared;
        }
    }
}

static int count_sessions(const struct eco_predict_problem *p)
{
    int count = 0;

    for (int i = 0; i < p->n_points; i++)
        count += p->session[i] == i;
    return count;
}

int eco_predict_build(const struct eco_predict_point *points, int n_points,
                      const double theta[ECO_PG_COUNT], void *memory, size_t bytes,
                      struct eco_predictor *out, struct eco_err *err)
{
    size_t front = (eco_predict_problem_bytes(n_points) + 63u) & ~(size_t)63u;
    double value, gradient[ECO_PG_COUNT];
    struct eco_predict_problem p;
    struct tables t;
    int rc = eco_predict_problem_init(&p, points, n_points, NULL, memory, bytes, err);

    if (rc != 0)
        return rc;
    memcpy(p.theta, theta, sizeof(p.theta));
    if (eco_gp_evaluate(&p.gp, p.theta, &p.work, &value, gradient) != 0)
        return eco_err_set(err, ECO_E_CONTENT, "theta", "the pairs' covariance is singular");
    if (bytes <= front)
        return eco_err_set(err, ECO_E_NO_MEMORY, "memory", "the block is too small");
    t = carve(&p, (unsigned char *)memory + front, bytes - front);
    if (t.key == NULL)
        return eco_err_set(err, ECO_E_NO_MEMORY, "memory", "the block is too small");
    fill_tables(&p, &t);
    *out = (struct eco_predictor){
        .points = points,
        .n_points = n_points,
        .n_sessions = count_sessions(&p),
        .card = p.card,
        .model = p.model,
        .n_columns = t.n,
        .key = t.key,
        .mean = t.mean,
        .covariance = t.covariance,
        .n_fit = p.gp.n,
        .fit_point = p.fit_point,
        .weight = t.weight,
    };
    memcpy(out->theta, p.theta, sizeof(out->theta));
    return 0;
}
