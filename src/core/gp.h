/*
 * A Bayesian mixed model with variance components: y ~ N(0, K), K = Phi diag(lambda) Phi' + D.
 * Every column of Phi belongs to a group; a group's columns share one variance. Noise variances D
 * are group variances times a weight per row. A Gaussian process with finitely many features, so
 * that marginal likelihood and its gradient are exact.
 * theta = natural log of each group's variance. Free groups have the prior
 * theta ~ N(log(prior_sd^2), width^2); fixed groups keep theta as it is (type-II MAP).
 * Memory is the caller's; nothing is kept. Patterson and Thompson 1971 (variance components),
 * Rasmussen and Williams 2006, eq. 5.8 and 5.9 (likelihood and gradient).
 */
#ifndef ECO_GP_H
#define ECO_GP_H

#include <stdbool.h>
#include <stddef.h>

#define ECO_GP_MAX_GROUPS 48

struct eco_gp_problem {
    int n, m;             /* rows, columns of Phi */
    int n_groups;         /* column groups and noise groups together */
    const double *y;      /* [n] */
    const int *col_start; /* [m + 1], into row and value; rows ascend inside a column */
    const int *row;
    const double *value;
    const unsigned char *col_group;   /* [m] */
    const unsigned char *noise_group; /* [n] */
    const double *noise_weight;       /* [n] */
    const bool *free_group;           /* [n_groups] */
    const double *prior_log_var;      /* [n_groups] */
    double prior_width;               /* of the log variance */
};

/** Scratch and results of one evaluation; arrays from the caller, see eco_gp_work_doubles. */
struct eco_gp_work {
    double *factor;  /* [n][n] Cholesky factor of K */
    double *inverse; /* [n][n] K^-1 */
    double *scratch; /* [n][n] */
    double *alpha;   /* [n] K^-1 y */
};

size_t eco_gp_work_doubles(int n); /* doubles that eco_gp_work_init needs */
void eco_gp_work_init(struct eco_gp_work *w, int n, double *memory);

/**
 * Minus the log posterior of theta (constant terms left out) into *value and its gradient
 * [n_groups] into `gradient` (0 for fixed groups); fills w. Returns 0 or -1 (K is singular).
 */
int eco_gp_evaluate(const struct eco_gp_problem *p, const double *theta, struct eco_gp_work *w,
                    double *value, double *gradient);

/** How a minimisation ended. */
struct eco_gp_result {
    double value;    /* minus log posterior */
    double gradient; /* largest absolute component */
    int evaluations;
    bool converged;
};

/**
 * BFGS from theta (in and out). `hessian_inverse` [n_groups][n_groups] is the starting guess
 * when warm, and receives the last one. On return w belongs to the returned theta.
 * Returns 0, or -1 when K is singular at the start.
 */
int eco_gp_minimize(const struct eco_gp_problem *p, double *theta, double *hessian_inverse,
                    bool warm, int max_evaluations, double tolerance, struct eco_gp_work *w,
                    struct eco_gp_result *out);

#endif
