/* Clocks: monotonic for durations, wall time only for reports. Not part of the wasm set. */
#ifndef ECO_BASE_CLOCK_H
#define ECO_BASE_CLOCK_H
#include <stddef.h>
#include <stdint.h>
int64_t eco_clock_mono_ns(void);
int64_t eco_clock_unix_ms(void);
/** "2026-11-30T09:12:31.123Z" */
void eco_clock_iso8601(int64_t unix_ms, char out[32]);
#endif
