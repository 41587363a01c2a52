/* Powers of ten to 128 bits; see num_pow10.c. Private to base. */
#ifndef ECO_BASE_NUM_POW10_H
#define ECO_BASE_NUM_POW10_H

#include <stdint.h>

#define ECO_POW10_MIN (-292)
#define ECO_POW10_MAX 324

struct eco_pow10 {
    uint64_t high, low;
};

extern const struct eco_pow10 eco_pow10_table[ECO_POW10_MAX - ECO_POW10_MIN + 1];

#endif
