/*
 * Random numbers that a seed repeats: splitmix64 (Steele, Lea and Flood 2014). For the order of
 * arms and for resampling, never for secrets. State belongs to the caller; no shared state.
 */
#ifndef ECO_EXPERIMENT_RANDOM_H
#define ECO_EXPERIMENT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct eco_random {
    uint64_t state; /* any value is a seed */
};

uint64_t eco_random_next(struct eco_random *r);
/** Evenly from 0 .. n - 1, without the bias of a plain remainder; n >= 1. */
size_t eco_random_below(struct eco_random *r, size_t n);
/** Evenly from [0, 1), 53 bits. */
double eco_random_unit(struct eco_random *r);
/** Fisher and Yates. */
void eco_random_shuffle(struct eco_random *r, int *items, size_t n);

#endif
