/*
 * Numbers as text, without locale. Reading is strict: the whole text must be one decimal number
 * (JSON grammar plus a leading '+' and ".5"/"5." when `lenient`), no spaces, no hex, no inf/nan.
 * Writing is the shortest text that reads back to the same double.
 */
#ifndef ECO_BASE_NUM_H
#define ECO_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ECO_NUM_MAX 32 /* bytes that any written number fits in, NUL included */

/** 0, or ECO_E_INVALID (not a number) / ECO_E_RANGE (over- or underflow to inf). JSON grammar. */
int eco_num_parse(const char *s, size_t len, double *out);
int eco_num_parse_lenient(const char *s, size_t len, double *out);
int eco_num_parse_i64(const char *s, size_t len, int64_t *out);
/** Shortest round trip: "7", "0.1", "1e+300", "-0" is "0". Returns the length. v must be finite. */
size_t eco_num_format(double v, char out[ECO_NUM_MAX]);
/** Fixed places, half away from zero on the decimal value of the double (JavaScript toFixed). */
size_t eco_num_fixed(double v, int places, char out[ECO_NUM_MAX + 320]);
/** v rounded as eco_num_fixed does, as the nearest double to that decimal text. */
double eco_num_round(double v, int places);

#endif
