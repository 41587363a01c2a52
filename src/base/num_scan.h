/*
 * The inside of num.c that the JSON reader shares: one pass over a number's text. Private to base.
 */
#ifndef ECO_BASE_NUM_SCAN_H
#define ECO_BASE_NUM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eco_num_scan {
    bool negative;
    bool plain;      /* no '.', no exponent */
    bool dropped;    /* more significant digits than `digits` holds */
    int count;       /* significant digits in `digits`, 0..19 */
    uint64_t digits; /* value = digits * 10^exp10, unless dropped */
    int64_t exp10;
};

/** Bytes at s[0..len) that are one number, as many as possible; 0 when it starts none. */
size_t eco_num_scan(const char *s, size_t len, bool lenient, struct eco_num_scan *out);
/** The nearest double to what was scanned from s[0..len): 0 or ECO_E_RANGE. */
int eco_num_scan_double(const struct eco_num_scan *n, const char *s, size_t len, double *out);
/** True, and the value, when it is plain and fits. */
bool eco_num_scan_i64(const struct eco_num_scan *n, int64_t *out);

#endif
