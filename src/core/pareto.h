/*
 * The Pareto front of two costs in O(n log n), on the caller's memory: nothing allocated, no state.
 * A point is on the front when no other is <= in both costs and < in one; equal points stay.
 */
#ifndef ECO_CORE_PARETO_H
#define ECO_CORE_PARETO_H

#include <stddef.h>
#include <stdint.h>

struct eco_pareto_point {
    double x, y; /* finite */
    uint32_t index;
};

/** Stable merge sort by x, then y; `scratch` has room for n points. */
void eco_pareto_sort(struct eco_pareto_point *p, struct eco_pareto_point *scratch, size_t n);

/** Sorts p[0..n) and moves the front to its beginning, by x; returns its length. */
size_t eco_pareto_front(struct eco_pareto_point *p, struct eco_pareto_point *scratch, size_t n);

#endif
