/*
 * Dense linear algebra for small symmetric positive definite matrices (n up to about 1000), and
 * the few distribution functions the predictor needs. Row-major, memory from the caller, no state.
 */
#ifndef ECO_LINALG_H
#define ECO_LINALG_H

#include <stddef.h>

/** Sum of a[i] b[i]; four running sums, so the order of additions is fixed. */
double eco_linalg_dot(const double *a, const double *b, int n);

/**
 * Cholesky factor in place: the lower triangle of `a` [n][n] becomes L with L L' = A; the upper
 * triangle is not read. Returns 0, or -1 where A is not positive definite (a then holds rubbish).
 */
int eco_linalg_cholesky(double *a, int n);

/** Natural log of det(A) from its factor `l` [n][n]. */
double eco_linalg_logdet(const double *l, int n);

/** Solves A x = b from the factor `l` [n][n], in place in b[n]. */
void eco_linalg_solve(const double *l, int n, double *b);

/**
 * Inverse of A from its factor `l`: fills `inverse` [n][n] (both triangles). `work` [n][n].
 */
void eco_linalg_inverse(const double *l, int n, double *work, double *inverse);

/** Standard normal distribution function. */
double eco_linalg_normal_cdf(double z);

/** P(X <= k) for X binomial(n, p), summed exactly; 0 for k < 0. */
double eco_linalg_binomial_cdf(int k, int n, double p);

#endif
