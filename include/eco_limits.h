/*
 * The widest values of the parameters that several places check: the tables of parameters (help,
 * schemas, checks), the memory model, the question parser. Macros only; no state.
 * The published calibration takes any number above zero (ECO_ANY_MAX), as the published site does.
 */
#ifndef ECO_LIMITS_H
#define ECO_LIMITS_H

#define ECO_SIZE_MIN_B 1e-3 /* billions of parameters */
#define ECO_SIZE_MAX_B 1e6
#define ECO_BATCH_MAX 65536
#define ECO_CTX_MAX 16777216
#define ECO_TOKENS_MAX 1e7 /* of one request's prompt or answer */
#define ECO_ANY_MAX 1e15
#define ECO_PRICE_MAX 100 /* USD per kWh */
#define ECO_CARBON_MAX 5000
#define ECO_PUE_MAX 5
#define ECO_RENT_MAX 10000 /* USD per hour */
#define ECO_LATENCY_MS_MAX 1e9
#define ECO_VRAM_GB_MAX 1e6
#define ECO_THROUGHPUT_MAX 1e9
#define ECO_POWER_W_MAX 1e6
#define ECO_ENERGY_MAX 1e12 /* J per 1k tokens */

#endif
