#include "core/gp.h"

#include "core/linalg.h"

#include <math.h>
#include <string.h>

enum { MAX = ECO_GP_MAX_GROUPS };

size_t eco_gp_work_doubles(int n)
{
    return 3u * (size_t)n * (size_t)n + (size_t)n;
}

void eco_gp_work_init(struct eco_gp_work *w, int n, double *memory)
{
    size_t square = (size_t)n * (size_t)n;

    w->factor = memory;
    w->inverse = memory + square;
    w->scratch = memory + 2 * square;
    w->alpha = memory + 3 * square;
}

/* The lower triangle of K into k. */
static void fill_covariance(const struct eco_gp_problem *p, const double *variance, double *k)
{
    size_t n = (size_t)p->n;

    memset(k, 0, n * n * sizeof(*k));
    for (int j = 0; j < p->m; j++) {
        double lambda = variance[p->col_group[j]];

        for (int a = p->col_start[j]; a < p->col_start[j + 1]; a++) {
            double *row = k + (size_t)p->row[a] * n;
            double scaled = lambda * p->value[a];

            for (int b = p->col_start[j]; b <= a; b++)
                row[p->row[b]] += scaled * p->value[b];
        }
    }
    for (int i = 0; i < p->n; i++)
        k[(size_t)i * n + (size_t)i] += variance[p->noise_group[i]] * p->noise_weight[i];
}

/* d(-log likelihood)/d(log variance) of a column: lambda/2 (phi' K^-1 phi - (phi' alpha)^2). */
static double column_gradient(const struct eco_gp_problem *p, int j, double lambda,
                              const struct eco_gp_work *w)
{
    double quadratic = 0.0, projection = 0.0;
    size_t n = (size_t)p->n;

    for (int a = p->col_start[j]; a < p->col_start[j + 1]; a++) {
        const double *row = w->inverse + (size_t)p->row[a] * n;
        double cross = 0.0;

        for (int b = p->col_start[j]; b < a; b++)
            cross += row[p->row[b]] * p->value[b];
        quadratic += p->value[a] * (2.0 * cross + row[p->row[a]] * p->value[a]);
        projection += p->value[a] * w->alpha[p->row[a]];
    }
    return 0.5 * lambda * (quadratic - projection * projection);
}

static double add_prior(const struct eco_gp_problem *p, const double *theta, double *gradient)
{
    double sum = 0.0, precision = 1.0 / (p->prior_width * p->prior_width);

    for (int g = 0; g < p->n_groups; g++) {
        double off = theta[g] - p->prior_log_var[g];

        if (!p->free_group[g]) {
            gradient[g] = 0.0;
            continue;
        }
        sum += 0.5 * precision * off * off;
        gradient[g] += precision * off;
    }
    return sum;
}

int eco_gp_evaluate(const struct eco_gp_problem *p, const double *theta, struct eco_gp_work *w,
                    double *value, double *gradient)
{
    double variance[MAX];
    size_t n = (size_t)p->n;

    for (int g = 0; g < p->n_groups; g++) {
        variance[g] = exp(theta[g]);
        gradient[g] = 0.0;
    }
    fill_covariance(p, variance, w->factor);
    if (eco_linalg_cholesky(w->factor, p->n) != 0)
        return -1;
    eco_linalg_inverse(w->factor, p->n, w->scratch, w->inverse);
    memcpy(w->alpha, p->y, n * sizeof(*w->alpha));
    eco_linalg_solve(w->factor, p->n, w->alpha);
    for (int j = 0; j < p->m; j++) {
        int g = p->col_group[j];

        if (p->free_group[g])
            gradient[g] += column_gradient(p, j, variance[g], w);
    }
    for (int i = 0; i < p->n; i++) {
        double noise = variance[p->noise_group[i]] * p->noise_weight[i];

        gradient[p->noise_group[i]] +=
            0.5 * noise * (w->inverse[(size_t)i * n + (size_t)i] - w->alpha[i] * w->alpha[i]);
    }
    *value = 0.5 * eco_linalg_dot(p->y, w->alpha, p->n) + 0.5 * eco_linalg_logdet(w->factor, p->n);
    *value += add_prior(p, theta, gradient);
    return 0;
}

static double largest(const double *v, int n)
{
    double top = 0.0;

    for (int i = 0; i < n; i++) {
        if (fabs(v[i]) > top)
            top = fabs(v[i]);
    }
    return top;
}

/* The direction -H g, shortened to at most 2 in any log variance; steepest descent if uphill. */
static void set_direction(const double *h, const double *g, int n, double *d)
{
    double slope = 0.0, top;

    for (int i = 0; i < n; i++) {
        d[i] = -eco_linalg_dot(h + (size_t)i * (size_t)n, g, n);
        slope += d[i] * g[i];
    }
    if (!(slope < 0.0)) {
        for (int i = 0; i < n; i++)
            d[i] = -g[i];
    }
    top = largest(d, n);
    if (top > 2.0) {
        for (int i = 0; i < n; i++)
            d[i] *= 2.0 / top;
    }
}

/* BFGS update of the inverse Hessian (Nocedal and Wright 2006, eq. 6.17). */
static void update_hessian(double *h, const double *s, const double *y, int n)
{
    double hy[MAX], sy = 0.0, yhy = 0.0;

    for (int i = 0; i < n; i++)
        sy += s[i] * y[i];
    if (!(sy > 1e-12))
        return;
    for (int i = 0; i < n; i++) {
        hy[i] = eco_linalg_dot(h + (size_t)i * (size_t)n, y, n);
        yhy += y[i] * hy[i];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            h[(size_t)i * (size_t)n + (size_t)j] +=
                (1.0 + yhy / sy) * s[i] * s[j] / sy - (hy[i] * s[j] + s[i] * hy[j]) / sy;
    }
}

static void cold_hessian(const struct eco_gp_problem *p, double *h)
{
    size_t n = (size_t)p->n_groups;

    memset(h, 0, n * n * sizeof(*h));
    for (size_t i = 0; i < n; i++)
        h[i * n + i] = p->free_group[i] ? 0.3 : 0.0;
}

int eco_gp_minimize(const struct eco_gp_problem *p, double *theta, double *hessian_inverse,
                    bool warm, int max_evaluations, double tolerance, struct eco_gp_work *w,
                    struct eco_gp_result *out)
{
    double g[MAX], g_new[MAX], d[MAX], x[MAX], s[MAX], f, f_new = 0.0;
    int n = p->n_groups;
    bool current = true; /* w belongs to theta */

    if (!warm)
        cold_hessian(p, hessian_inverse);
    if (eco_gp_evaluate(p, theta, w, &f, g) != 0)
        return -1;
    *out = (struct eco_gp_result){.value = f, .evaluations = 1};
    while (out->evaluations < max_evaluations && largest(g, n) > tolerance) {
        double slope = 0.0, step = 1.0;
        bool down = false;

        set_direction(hessian_inverse, g, n, d);
        for (int i = 0; i < n; i++)
            slope += d[i] * g[i];
        while (!down && step > 1e-4 && out->evaluations < max_evaluations) {
            for (int i = 0; i < n; i++)
                x[i] = theta[i] + step * d[i];
            current = false;
            out->evaluations++;
            down = eco_gp_evaluate(p, x, w, &f_new, g_new) == 0 && f_new <= f + 1e-4 * step * slope;
            step *= 0.4;
        }
        if (!down)
            break;
        for (int i = 0; i < n; i++) {
            s[i] = x[i] - theta[i];
            theta[i] = x[i];
            d[i] = g_new[i] - g[i];
            g[i] = g_new[i];
        }
        update_hessian(hessian_inverse, s, d, n);
        f = f_new;
        current = true;
    }
    if (!current)
        (void)eco_gp_evaluate(p, theta, w, &f, g);
    out->value = f;
    out->gradient = largest(g, n);
    out->converged = out->gradient <= tolerance;
    return 0;
}
