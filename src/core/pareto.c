#include "core/pareto.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define RUN 16 /* insertion sort below this */

static bool after(const struct eco_pareto_point *a, const struct eco_pareto_point *b)
{
    return a->x > b->x || (a->x == b->x && a->y > b->y);
}

static void insertion(struct eco_pareto_point *p, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct eco_pareto_point v = p[i];
        size_t j = i;
        for (; j > 0 && after(&p[j - 1], &v); j--) {
            p[j] = p[j - 1];
        }
        p[j] = v;
    }
}

static void merge(const struct eco_pareto_point *a, size_t na, const struct eco_pareto_point *b,
                  size_t nb, struct eco_pareto_point *out)
{
    size_t i = 0, j = 0, k = 0;

    while (i < na && j < nb) {
        out[k++] = after(&a[i], &b[j]) ? b[j++] : a[i++];
    }
    memcpy(out + k, a + i, (na - i) * sizeof *a);
    memcpy(out + k + na - i, b + j, (nb - j) * sizeof *b);
}

void eco_pareto_sort(struct eco_pareto_point *p, struct eco_pareto_point *scratch, size_t n)
{
    struct eco_pareto_point *from = p, *to = scratch;

    for (size_t i = 0; i < n; i += RUN) {
        insertion(p + i, n - i < RUN ? n - i : RUN);
    }
    for (size_t width = RUN; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t na = n - i < width ? n - i : width;
            size_t nb = n - i - na < width ? n - i - na : width;
            merge(from + i, na, from + i + na, nb, to + i);
        }
        struct eco_pareto_point *swap = from;
        from = to;
        to = swap;
    }
    if (from != p) {
        memcpy(p, from, n * sizeof *p);
    }
}

size_t eco_pareto_front(struct eco_pareto_point *p, struct eco_pareto_point *scratch, size_t n)
{
    size_t kept = 0;
    double best_y = INFINITY; /* of the points with a smaller x, or the same x and kept */

    eco_pareto_sort(p, scratch, n);
    for (size_t i = 0; i < n; i++) {
        bool twin = kept > 0 && p[i].x == p[kept - 1].x && p[i].y == p[kept - 1].y;
        if (twin || p[i].y < best_y) {
            best_y = p[i].y;
            p[kept++] = p[i];
        }
    }
    return kept;
}
