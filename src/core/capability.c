/*
 * What runs where. Compute capabilities: CUDA's own requirement for the arithmetic (BF16 8.0, FP8
 * 8.9, FP4 10.0, INT8 tensor cores 7.5), bitsandbytes' and vLLM's published tables for kernels.
 */
#include "eco_capability.h"

#include <string.h>

#define ENGINE(e) (1u << ECO_ENGINE_##e)

struct need {
    enum eco_precision precision;     /* NONE: any of the family */
    enum eco_precision_family family; /* NONE: any */
    double cc;                        /* least compute capability */
    const char *why;
};

/* Every row that matches is asked. */
static const struct need needs[] = {
    {ECO_PREC_BF16, ECO_FAM_NONE, 8.0,
     "BF16 arithmetic needs compute capability 8.0 (Ampere or later): take FP16 on this card"},
    {ECO_PREC_NONE, ECO_FAM_FP8, 8.9,
     "FP8 arithmetic needs compute capability 8.9 (Ada or later): this card could only store FP8 "
     "weights and compute in 16 bit, which is another, slower path"},
    {ECO_PREC_NONE, ECO_FAM_FP4, 10.0,
     "FP4 arithmetic needs compute capability 10.0 (Blackwell): this card could only store FP4 "
     "weights and compute in 16 bit, which is another path"},
    {ECO_PREC_NONE, ECO_FAM_BNB_INT8, 7.5,
     "LLM.int8() needs INT8 tensor cores, compute capability 7.5 (Turing or later)"},
    {ECO_PREC_NONE, ECO_FAM_BNB_NF4, 6.0,
     "bitsandbytes builds its 4-bit kernels for compute capability 6.0 (Pascal) or later"},
    {ECO_PREC_AWQ_INT4, ECO_FAM_NONE, 7.5,
     "AWQ kernels need compute capability 7.5 (Turing or later)"},
    {ECO_PREC_W8A8, ECO_FAM_NONE, 7.5,
     "INT8 arithmetic on tensor cores needs compute capability 7.5 (Turing or later)"},
};

struct kernels {
    enum eco_precision_family family;
    unsigned have;    /* engines with kernels for the family */
    unsigned unclear; /* engines of which that is not known here */
    const char *why, *unknown;
};

static const struct kernels table[] = {
    {ECO_FAM_BNB_NF4, ENGINE(TRANSFORMERS) | ENGINE(VLLM), ENGINE(SGLANG) | ENGINE(BUILTIN),
     "bitsandbytes formats run in transformers or vLLM only",
     "not known whether this engine runs bitsandbytes formats: transformers and vLLM do"},
    {ECO_FAM_BNB_INT8, ENGINE(TRANSFORMERS) | ENGINE(VLLM), ENGINE(SGLANG) | ENGINE(BUILTIN),
     "bitsandbytes formats run in transformers or vLLM only",
     "not known whether this engine runs bitsandbytes formats: transformers and vLLM do"},
    {ECO_FAM_W4, ENGINE(TRANSFORMERS) | ENGINE(VLLM) | ENGINE(SGLANG) | ENGINE(TENSORRT_LLM),
     ENGINE(DEEPSPEED) | ENGINE(BUILTIN),
     "grouped 4-bit formats (GPTQ, AWQ) run in vLLM, SGLang, TensorRT-LLM, or transformers with "
     "their kernel package",
     "not known whether this engine runs GPTQ or AWQ: vLLM, SGLang and TensorRT-LLM do"},
    {ECO_FAM_W8, ENGINE(TRANSFORMERS) | ENGINE(VLLM) | ENGINE(SGLANG) | ENGINE(TENSORRT_LLM),
     ENGINE(DEEPSPEED) | ENGINE(BUILTIN),
     "8-bit formats with calibrated scales run in vLLM, SGLang, TensorRT-LLM, or transformers "
     "with their kernel package",
     "not known whether this engine runs the format: vLLM, SGLang and TensorRT-LLM do"},
    {ECO_FAM_FP8, ENGINE(TRANSFORMERS) | ENGINE(VLLM) | ENGINE(SGLANG) | ENGINE(TENSORRT_LLM),
     ENGINE(DEEPSPEED) | ENGINE(BUILTIN), "llama.cpp has no FP8 format",
     "not known whether this engine runs FP8: vLLM, SGLang and TensorRT-LLM do"},
    {ECO_FAM_FP4,
     ENGINE(TRANSFORMERS) | ENGINE(VLLM) | ENGINE(SGLANG) | ENGINE(TENSORRT_LLM) | ENGINE(LLAMACPP),
     ENGINE(DEEPSPEED) | ENGINE(BUILTIN), "this engine has no FP4 format",
     "not known whether this engine runs FP4: vLLM, SGLang and TensorRT-LLM do"},
    {ECO_FAM_BUILTIN, ENGINE(BUILTIN), 0,
     "NF4-A8 is a format of ecocompute's own engine: NF4 with FP32 activations is 'NF4'", NULL},
    {ECO_FAM_GGUF, ENGINE(LLAMACPP), ENGINE(VLLM) | ENGINE(SGLANG) | ENGINE(BUILTIN),
     "GGUF formats need llama.cpp: this engine unpacks them to 16 bit or cannot read them",
     "not known how fast this engine runs GGUF formats: they belong to llama.cpp"},
};

/* The newest chip of an architecture; 0: not known, or not numbered this way. */
static double newest_cc(enum eco_arch arch)
{
    switch (arch) {
    case ECO_ARCH_KEPLER:
        return 3.7;
    case ECO_ARCH_MAXWELL:
        return 5.3;
    case ECO_ARCH_PASCAL:
        return 6.2;
    case ECO_ARCH_VOLTA:
        return 7.2;
    case ECO_ARCH_TURING:
        return 7.5;
    case ECO_ARCH_AMPERE:
        return 8.7;
    case ECO_ARCH_ADA:
        return 8.9;
    case ECO_ARCH_HOPPER:
        return 9.0;
    default:
        return 0;
    }
}

static bool no(const char **why, const char *reason)
{
    *why = reason;
    return false;
}

static bool engine_has(enum eco_precision_family family, enum eco_engine engine, const char **why)
{
    for (size_t i = 0; engine != ECO_ENGINE_UNKNOWN && i < sizeof table / sizeof *table; i++) {
        const struct kernels *k = &table[i];
        unsigned bit = 1u << engine;
        if (k->family != family || (k->have & bit)) {
            continue;
        }
        if (!(k->unclear & bit)) {
            return no(why, k->why);
        }
        *why = k->unknown;
    }
    return true;
}

static bool card_has(enum eco_precision p, double cc, const char **why)
{
    for (size_t i = 0; cc > 0 && i < sizeof needs / sizeof *needs; i++) {
        const struct need *n = &needs[i];
        bool mine = n->precision == p ||
                    (n->precision == ECO_PREC_NONE && n->family == eco_precision_family(p));
        if (mine && cc < n->cc) {
            return no(why, n->why);
        }
    }
    return true;
}

/* Kernels outside CUDA: builds exist and change, so this says what is not known, never no. */
static bool other_vendor(enum eco_precision p, enum eco_engine engine, enum eco_arch arch,
                         const char **why)
{
    enum eco_precision_family f = eco_precision_family(p);

    if (engine == ECO_ENGINE_TENSORRT_LLM) {
        return no(why, "TensorRT-LLM runs on NVIDIA cards only");
    }
    if (f == ECO_FAM_BNB_NF4 || f == ECO_FAM_BNB_INT8) {
        *why = "not known for this card: bitsandbytes has builds for ROCm and Intel, the figures "
               "are of CUDA";
    } else if (f == ECO_FAM_W4 || f == ECO_FAM_W8) {
        *why = "not known for this card: the kernels behind the figures are written for CUDA";
    } else if (f == ECO_FAM_FP4 && arch != ECO_ARCH_CDNA4) {
        *why = "not known whether this card has FP4 units";
    } else if (f == ECO_FAM_FP8 && arch != ECO_ARCH_CDNA3 && arch != ECO_ARCH_CDNA4 &&
               arch != ECO_ARCH_RDNA4 && arch != ECO_ARCH_GAUDI) {
        *why = "not known whether this card has FP8 units";
    }
    return true;
}

bool eco_precision_runs(enum eco_precision precision, enum eco_engine engine,
                        const struct eco_gpu *gpu, enum eco_arch arch, const char **why)
{
    const char *ignored = NULL;

    why = why ? why : &ignored;
    *why = NULL;
    arch = gpu && gpu->arch != ECO_ARCH_UNKNOWN ? gpu->arch : arch;
    if (!engine_has(eco_precision_family(precision), engine, why)) {
        return false;
    }
    const char *vendor = eco_arch_vendor(arch);
    if (*vendor && strcmp(vendor, "nvidia") != 0) {
        return other_vendor(precision, engine, arch, why);
    }
    double cc = gpu && gpu->compute_capability > 0 ? gpu->compute_capability : newest_cc(arch);
    return card_has(precision, cc, why);
}
