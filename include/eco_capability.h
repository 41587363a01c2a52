/*
 * Which precision runs on which card with which engine: the one table that the optimizer, the
 * estimate and the command lines ask. Pure, static texts, no errors.
 */
#ifndef ECO_CAPABILITY_H
#define ECO_CAPABILITY_H

#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * False only where it is known that the combination does not run as arithmetic of that precision:
 * FP8 before compute capability 8.9 (weight-only FP8, as in torchao or Marlin, stores FP8 and
 * computes in 16 bit), FP4 before 10.0, BF16 before 8.0, LLM.int8() before 7.5, a format that the
 * engine has no kernels for. Unknown card, engine or vendor: true.
 * `gpu` may be NULL (then `arch`, which may be UNKNOWN, speaks for its newest chip). An UNKNOWN
 * engine: any that has the format. *why (may be NULL): with false the reason; with true NULL, or a
 * caveat that begins "not known" where nobody here can say; one plain sentence without a full stop.
 */
bool eco_precision_runs(enum eco_precision precision, enum eco_engine engine,
                        const struct eco_gpu *gpu, enum eco_arch arch, const char **why);

#ifdef __cplusplus
}
#endif
#endif
