/* What the cells of the data files may say, and the C constant for it. Part of csv2c.c. */
#ifndef ECO_CSV2C_WORDS_H
#define ECO_CSV2C_WORDS_H

#include "eco_types.h"

#include <stddef.h>

/* A name in an enum list: what the CSV says, and the C constant for it. */
struct word {
    const char *text, *constant;
};
static const struct word arch_words[] = {
#define X(name, text, vendor) {text, "ECO_ARCH_" #name},
    ECO_ARCHS(X)
#undef X
        {NULL, NULL}};
static const struct word precision_words[] = {
#define X(name, text, published, bits, family, aliases) {text, "ECO_PREC_" #name},
    ECO_PRECISIONS(X)
#undef X
        {NULL, NULL}};
static const struct word engine_words[] = {{"transformers", "ECO_ENGINE_TRANSFORMERS"},
                                           {"vllm", "ECO_ENGINE_VLLM"},
                                           {"llamacpp", "ECO_ENGINE_LLAMACPP"},
                                           {"tensorrt-llm", "ECO_ENGINE_TENSORRT_LLM"},
                                           {"deepspeed", "ECO_ENGINE_DEEPSPEED"},
                                           {"sglang", "ECO_ENGINE_SGLANG"},
                                           {NULL, NULL}};
static const struct word grade_words[] = {{"A", "ECO_GRADE_A"},
                                          {"B", "ECO_GRADE_B"},
                                          {"C", "ECO_GRADE_C"},
                                          {"D", "ECO_GRADE_D"},
                                          {NULL, NULL}};
static const struct word boundary_words[] = {
    {"unknown", "ECO_BOUNDARY_UNKNOWN"},         {"gpu-board", "ECO_BOUNDARY_GPU_BOARD"},
    {"cpu-package", "ECO_BOUNDARY_CPU_PACKAGE"}, {"wall", "ECO_BOUNDARY_WALL"},
    {"wall-peak", "ECO_BOUNDARY_WALL_PEAK"},     {NULL, NULL}};
static const struct word basis_words[] = {{"unknown", "ECO_POWER_UNKNOWN"},
                                          {"gross", "ECO_POWER_GROSS"},
                                          {"net", "ECO_POWER_NET"},
                                          {NULL, NULL}};
static const struct word class_words[] = {
    {"NF4", "ECO_PUB_NF4"}, {"INT8", "ECO_PUB_INT8"}, {NULL, NULL}};
static const struct word bool_words[] = {{"yes", "true"}, {"no", "false"}, {NULL, NULL}};

#endif
