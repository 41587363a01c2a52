/*
 * The words every part of ecocompute shares: architectures, precisions, basis, confidence, a GPU,
 * a model, a band. Plain data, no functions but the name tables. All energies are joules, powers
 * watts, times seconds, sizes bytes unless the name says otherwise (`_b` = 1e9 parameters,
 * `_gb` = 1e9 bytes, `_pct` = 0..100). A number that is not known is absent: NAN inside a struct
 * is allowed only where the field says "NAN: not known", and never leaves a module as a result.
 */
#ifndef ECO_TYPES_H
#define ECO_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, "text", vendor) — GPU classes. Curves exist for the first of them only. */
#define ECO_ARCHS(X)                                                                               \
    X(TURING, "turing", "nvidia")                                                                  \
    X(AMPERE, "ampere", "nvidia")                                                                  \
    X(ADA, "ada", "nvidia")                                                                        \
    X(BLACKWELL, "blackwell", "nvidia")                                                            \
    X(HOPPER, "hopper", "nvidia")                                                                  \
    X(VOLTA, "volta", "nvidia")                                                                    \
    X(PASCAL, "pascal", "nvidia")                                                                  \
    X(MAXWELL, "maxwell", "nvidia")                                                                \
    X(KEPLER, "kepler", "nvidia")                                                                  \
    X(CDNA1, "cdna1", "amd")                                                                       \
    X(CDNA2, "cdna2", "amd")                                                                       \
    X(CDNA3, "cdna3", "amd")                                                                       \
    X(CDNA4, "cdna4", "amd")                                                                       \
    X(RDNA2, "rdna2", "amd")                                                                       \
    X(RDNA3, "rdna3", "amd")                                                                       \
    X(RDNA4, "rdna4", "amd")                                                                       \
    X(XE_HPG, "xe-hpg", "intel")                                                                   \
    X(XE2_HPG, "xe2-hpg", "intel")                                                                 \
    X(XE_HPC, "xe-hpc", "intel")                                                                   \
    X(GAUDI, "gaudi", "intel")

enum eco_arch {
    ECO_ARCH_UNKNOWN = 0,
#define X(name, text, vendor) ECO_ARCH_##name,
    ECO_ARCHS(X)
#undef X
        ECO_ARCH_COUNT
};

/*
 * X(NAME, "canonical", PUBLISHED_CLASS, bits_per_weight, family, "aliases")
 * bits_per_weight: stored bits of one linear-layer weight with its quantization constants:
 *   NF4 4 + 32/64 = 4.5; NF4-DQ 4 + 8/64 + 32/(64*256) = 4.127; GPTQ/AWQ/W4A16 group 128 with
 *   fp16 scale and 4-bit zero 4 + 20/128 = 4.156; NVFP4 4 + 8/16 = 4.5; MXFP4 4 + 8/32 = 4.25;
 *   INT8 rows with fp32 absmax ~8; GGUF from the block layouts of ggml (Q8_0 34 B/32 = 8.5,
 *   Q6_K 210 B/256 = 6.5625, Q5_K 176/256 = 5.5, Q4_K 144/256 = 4.5, Q3_K 110/256 = 3.4375,
 *   Q2_K 84/256 = 2.625, Q4_0 18/32 = 4.5, Q5_0 22/32 = 5.5, IQ4_XS 136/256 = 4.25,
 *   IQ3_XS ~3.3, IQ2_M ~2.7); the _K_M/_K_L mixes are the mean over a 7B file.
 *   NF4-A8 is stored as NF4; its activations are int8, so that it is another arithmetic.
 * PUBLISHED_CLASS: the class of the published model it maps to (FP16, NF4, INT8) or NONE.
 */
#define ECO_PRECISIONS(X)                                                                          \
    X(FP32, "FP32", NONE, 32.0, FLOAT, "fp32 float32 f32 full")                                    \
    X(BF16, "BF16", FP16, 16.0, FLOAT, "bf16 bfloat16")                                            \
    X(FP16, "FP16", FP16, 16.0, FLOAT, "fp16 float16 f16 half 16bit gguf-f16")                     \
    X(FP8, "FP8", NONE, 8.0, FP8, "fp8 float8 fp8_e4m3 e4m3 float8weightonly w8a8-fp8")            \
    X(INT8_MIXED, "INT8-MIXED", INT8, 8.0, BNB_INT8,                                               \
      "int8-mixed int8 int-8 8-bit int8_default int8_mixed 8bit load_in_8bit llm.int8 llm.int8() " \
      "llm_int8")                                                                                  \
    X(INT8_PURE, "INT8-PURE", NONE, 8.0, BNB_INT8,                                                 \
      "int8-pure int8_pure pure-int8 int8-threshold-0")                                            \
    X(NF4, "NF4", NF4, 4.5, BNB_NF4, "nf4 4bit 4-bit load_in_4bit bnb4 bnb-nf4 bnb_4bit")          \
    X(NF4_DQ, "NF4-DQ", NONE, 4.127, BNB_NF4, "nf4-dq nf4_dq nf4dq nf4-double-quant")              \
    X(GPTQ_INT4, "GPTQ-INT4", NONE, 4.156, W4, "gptq-int4 gptq gptq_int4 gptq4")                   \
    X(GPTQ_INT8, "GPTQ-INT8", NONE, 8.156, W8, "gptq-int8 gptq_int8 gptq8")                        \
    X(AWQ_INT4, "AWQ-INT4", NONE, 4.156, W4, "awq-int4 awq awq_int4 awq4")                         \
    X(W4A16, "W4A16", NONE, 4.156, W4, "w4a16")                                                    \
    X(W8A16, "W8A16", NONE, 8.156, W8, "w8a16")                                                    \
    X(W8A8, "W8A8", NONE, 8.0, W8, "w8a8 w8a8-int8 smoothquant")                                   \
    X(NVFP4, "NVFP4", NONE, 4.5, FP4, "nvfp4")                                                     \
    X(MXFP4, "MXFP4", NONE, 4.25, FP4, "mxfp4")                                                    \
    X(GGUF_Q8_0, "GGUF-Q8_0", NONE, 8.5, GGUF, "gguf-q8_0 q8_0 gguf-q8")                           \
    X(GGUF_Q6_K, "GGUF-Q6_K", NONE, 6.5625, GGUF, "gguf-q6_k q6_k gguf-q6")                        \
    X(GGUF_Q6_K_L, "GGUF-Q6_K_L", NONE, 6.65, GGUF, "gguf-q6_k_l q6_k_l")                          \
    X(GGUF_Q5_K_M, "GGUF-Q5_K_M", NONE, 5.68, GGUF, "gguf-q5_k_m q5_k_m gguf-q5 gguf-q5_k")        \
    X(GGUF_Q5_K_S, "GGUF-Q5_K_S", NONE, 5.52, GGUF, "gguf-q5_k_s q5_k_s")                          \
    X(GGUF_Q5_K_L, "GGUF-Q5_K_L", NONE, 5.8, GGUF, "gguf-q5_k_l q5_k_l")                           \
    X(GGUF_Q5_0, "GGUF-Q5_0", NONE, 5.5, GGUF, "gguf-q5_0 q5_0")                                   \
    X(GGUF_Q4_K_M, "GGUF-Q4_K_M", NONE, 4.84, GGUF, "gguf-q4_k_m q4_k_m gguf-q4 gguf-q4_k gguf")   \
    X(GGUF_Q4_K_S, "GGUF-Q4_K_S", NONE, 4.57, GGUF, "gguf-q4_k_s q4_k_s")                          \
    X(GGUF_Q4_K_L, "GGUF-Q4_K_L", NONE, 5.0, GGUF, "gguf-q4_k_l q4_k_l")                           \
    X(GGUF_Q4_0, "GGUF-Q4_0", NONE, 4.5, GGUF, "gguf-q4_0 q4_0")                                   \
    X(GGUF_IQ4_XS, "GGUF-IQ4_XS", NONE, 4.25, GGUF, "gguf-iq4_xs iq4_xs")                          \
    X(GGUF_Q3_K_L, "GGUF-Q3_K_L", NONE, 4.22, GGUF, "gguf-q3_k_l q3_k_l")                          \
    X(GGUF_Q3_K_M, "GGUF-Q3_K_M", NONE, 3.89, GGUF, "gguf-q3_k_m q3_k_m gguf-q3 gguf-q3_k")        \
    X(GGUF_IQ3_XS, "GGUF-IQ3_XS", NONE, 3.3, GGUF, "gguf-iq3_xs iq3_xs")                           \
    X(GGUF_Q2_K, "GGUF-Q2_K", NONE, 2.96, GGUF, "gguf-q2_k q2_k gguf-q2")                          \
    X(GGUF_Q2_K_L, "GGUF-Q2_K_L", NONE, 3.1, GGUF, "gguf-q2_k_l q2_k_l")                           \
    X(GGUF_IQ2_M, "GGUF-IQ2_M", NONE, 2.7, GGUF, "gguf-iq2_m iq2_m")                               \
    X(NF4_A8, "NF4-A8", NONE, 4.5, BUILTIN, "nf4-a8 nf4_a8 nf4a8")

enum eco_precision {
    ECO_PREC_NONE = 0,
#define X(name, text, published, bits, family, aliases) ECO_PREC_##name,
    ECO_PRECISIONS(X)
#undef X
        ECO_PREC_COUNT
};

/** The kernel family of a precision: what its energy behaviour is shared by. */
enum eco_precision_family {
    ECO_FAM_NONE = 0,
    ECO_FAM_FLOAT, /* FP32, BF16, FP16: the baselines */
    ECO_FAM_FP8,
    ECO_FAM_BNB_INT8, /* LLM.int8() */
    ECO_FAM_BNB_NF4,
    ECO_FAM_W4, /* GPTQ, AWQ, W4A16: grouped 4-bit with fused kernels */
    ECO_FAM_W8,
    ECO_FAM_FP4, /* NVFP4, MXFP4 */
    ECO_FAM_GGUF,
    ECO_FAM_BUILTIN /* of the built-in engine alone: NF4 codes by int8 activations */
};

/** Classes of the published calibration. */
enum eco_published_class { ECO_PUB_NONE = 0, ECO_PUB_FP16, ECO_PUB_NF4, ECO_PUB_INT8 };

enum eco_basis {
    ECO_BASIS_UNAVAILABLE = 0,
    ECO_BASIS_MEASURED,
    ECO_BASIS_INTERPOLATED,
    ECO_BASIS_EXTRAPOLATED,
    ECO_BASIS_ESTIMATED, /* the published calibration's word for borrowed or out of range */
    ECO_BASIS_MODELLED,
    ECO_BASIS_COMPUTED
};

enum eco_confidence { ECO_CONF_NONE = 0, ECO_CONF_LOW, ECO_CONF_MEDIUM, ECO_CONF_HIGH };

enum eco_recommendation {
    ECO_REC_NONE = 0,
    ECO_REC_QUANTIZE,
    ECO_REC_DO_NOT_QUANTIZE,
    ECO_REC_DEPENDS,
    ECO_REC_BASELINE
};

/** What produces the tokens: decides the kernel path, hence batch and launch behaviour. */
enum eco_engine {
    ECO_ENGINE_UNKNOWN = 0,
    ECO_ENGINE_TRANSFORMERS, /* PyTorch eager; bitsandbytes lives here */
    ECO_ENGINE_VLLM,
    ECO_ENGINE_LLAMACPP,
    ECO_ENGINE_TENSORRT_LLM,
    ECO_ENGINE_DEEPSPEED,
    ECO_ENGINE_SGLANG,
    ECO_ENGINE_BUILTIN,
    ECO_ENGINE_COUNT
};

/** Grades of a data row: A raw or repeated, B single and consistent, C with care, D excluded. */
enum eco_grade { ECO_GRADE_NONE = 0, ECO_GRADE_A, ECO_GRADE_B, ECO_GRADE_C, ECO_GRADE_D };

const char *eco_arch_name(enum eco_arch arch);              /* "ada"; "unknown" */
const char *eco_arch_vendor(enum eco_arch arch);            /* "nvidia"; "" for unknown */
enum eco_arch eco_arch_parse(const char *text, size_t len); /* exact, case-folded, or UNKNOWN */
const char *eco_precision_name(enum eco_precision p);       /* "INT8-MIXED"; "none" */
enum eco_precision eco_precision_parse(const char *text, size_t len); /* name or alias; or NONE */
double eco_precision_bits(enum eco_precision p);
enum eco_precision_family eco_precision_family(enum eco_precision p);
enum eco_published_class eco_precision_published(enum eco_precision p);
const char *eco_published_name(enum eco_published_class c); /* "FP16", "NF4", "INT8", "none" */
const char *eco_basis_name(enum eco_basis b);               /* "measured" … */
const char *eco_confidence_name(enum eco_confidence c);     /* "high" … */
const char *eco_recommendation_name(enum eco_recommendation r);
const char *eco_engine_name(enum eco_engine e);                 /* "transformers", "vllm" … */
enum eco_engine eco_engine_parse(const char *text, size_t len); /* prefix: "vLLM 0.11.1" too */
char eco_grade_letter(enum eco_grade g);

/** One GPU, as its datasheet says; NAN: not known. Strings are static (generated tables). */
struct eco_gpu {
    const char *name; /* "RTX 4090" */
    enum eco_arch arch;
    double vram_gb;
    double mem_bw_gbps;
    double fp16_tflops;   /* dense, with the accumulation of fp16_accumulate */
    bool accumulate_fp32; /* false: the peak is with FP16 accumulation; FP32 gives half of it */
    double tdp_w;         /* never used as power */
    double idle_w;        /* published idle, NAN: not known */
    double compute_capability;
    bool datacenter;
    const char *source;
    const char *note;
};

/** Bytes on the card: vendors' "24 GB" are 24 GiB. */
static inline double eco_gpu_memory_bytes(const struct eco_gpu *gpu)
{
    return gpu->vram_gb * 1073741824.0;
}

/**
 * What a model is, by shape. Counts are parameters. Filled from a known name, config.json,
 * safetensors or GGUF headers, or interpolated by size (`shape_basis`).
 * params_total = embedding + lm_head (0 when tied) + norm + linear. norm holds biases and other
 * vectors too; experts, and what text does not read (a vision tower), are inside linear.
 */
struct eco_model {
    char name[128];         /* canonical id, or the path's last part; never empty */
    double params_b;        /* nominal size as people say it (7.0) */
    uint64_t params_total;  /* exact, tied tables once */
    uint64_t params_active; /* read per token: norm + output table (tied or not) + active linear */
    uint64_t params_embedding, params_lm_head, params_norm, params_linear;
    int layers, hidden, n_heads, n_kv_heads, head_dim, intermediate, vocab;
    int max_context;    /* 0: not known */
    int sliding_window; /* tokens, 0: none */
    int sliding_layers; /* layers with the window (all when the window is set and this is 0) */
    int kv_lora_rank, rope_head_dim; /* MLA (DeepSeek-V2/V3); 0: ordinary attention */
    int experts, experts_per_token;  /* 0: dense */
    bool tied;
    enum eco_precision stored;  /* as the files hold it; NONE: not known */
    uint64_t file_bytes;        /* sum of tensor bytes when files were read, else 0 */
    enum eco_basis shape_basis; /* COMPUTED (exact) or INTERPOLATED */
    const char *source;         /* "models.csv", "config.json", "gguf", "size" */
};

/** A quantity with its spread: median and central 50/80/95 % bands. */
struct eco_band {
    double median, lo50, hi50, lo80, hi80, lo95, hi95;
};

#ifdef __cplusplus
}
#endif
#endif
