#include "experiment/random.h"

uint64_t eco_random_next(struct eco_random *r)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

size_t eco_random_below(struct eco_random *r, size_t n)
{
    /* numbers under this one would make the first remainders likelier than the rest */
    uint64_t skip = (0 - (uint64_t)n) % n, v;
    do {
        v = eco_random_next(r);
    } while (v < skip);
    return (size_t)(v % n);
}

double eco_random_unit(struct eco_random *r)
{
    return (double)(eco_random_next(r) >> 11) * 0x1p-53;
}

void eco_random_shuffle(struct eco_random *r, int *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = eco_random_below(r, i);
        int swap = items[i - 1];
        items[i - 1] = items[j];
        items[j] = swap;
    }
}
