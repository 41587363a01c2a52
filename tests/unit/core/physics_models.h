/* Shapes and cards that the physics tests share: written out, so that no data table is needed. */
#ifndef ECO_TEST_PHYSICS_MODELS_H
#define ECO_TEST_PHYSICS_MODELS_H

#include "eco_physics.h"

#include <math.h>
#include <string.h>

/* Mistral-7B: 32 layers, 4096 wide, 8 KV heads of 128, vocabulary 32 000, head not tied. */
static inline struct eco_model model_7b(void)
{
    struct eco_model m;
    memset(&m, 0, sizeof m);
    strcpy(m.name, "mistral-7b");
    m.params_b = 7.0;
    m.params_total = 7241732096u;
    m.params_embedding = 131072000u;
    m.params_lm_head = 131072000u;
    m.params_norm = 266240u;
    m.params_linear = m.params_total - 2 * 131072000u - 266240u;
    m.params_active = m.params_total - m.params_embedding;
    m.layers = 32;
    m.hidden = 4096;
    m.n_heads = 32;
    m.n_kv_heads = 8;
    m.head_dim = 128;
    m.intermediate = 14336;
    m.vocab = 32000;
    m.max_context = 32768;
    m.shape_basis = ECO_BASIS_COMPUTED;
    m.source = "test";
    return m;
}

/* Qwen2-0.5B: 24 layers, tied head. */
static inline struct eco_model model_small(void)
{
    struct eco_model m;
    memset(&m, 0, sizeof m);
    strcpy(m.name, "qwen2-0.5b");
    m.params_b = 0.5;
    m.params_total = 494032768u;
    m.params_embedding = 136134656u;
    m.params_norm = 44032u + 27648u;
    m.params_linear = m.params_total - m.params_embedding - m.params_norm;
    m.params_active = m.params_total; /* the tied table is read as the head */
    m.layers = 24;
    m.hidden = 896;
    m.n_heads = 14;
    m.n_kv_heads = 2;
    m.head_dim = 64;
    m.intermediate = 4864;
    m.vocab = 151936;
    m.tied = true;
    m.shape_basis = ECO_BASIS_COMPUTED;
    m.source = "test";
    return m;
}

static inline struct eco_gpu gpu_a800(void)
{
    return (struct eco_gpu){.name = "A800 SXM4 80GB",
                            .arch = ECO_ARCH_AMPERE,
                            .vram_gb = 80,
                            .mem_bw_gbps = 2039,
                            .fp16_tflops = 312,
                            .accumulate_fp32 = true,
                            .tdp_w = 400,
                            .idle_w = NAN,
                            .compute_capability = 8.0,
                            .datacenter = true,
                            .source = "test",
                            .note = ""};
}

static inline struct eco_gpu gpu_4090(void)
{
    return (struct eco_gpu){.name = "RTX 4090",
                            .arch = ECO_ARCH_ADA,
                            .vram_gb = 24,
                            .mem_bw_gbps = 1008,
                            .fp16_tflops = 330,
                            .accumulate_fp32 = false,
                            .tdp_w = 450,
                            .idle_w = NAN,
                            .compute_capability = 8.9,
                            .datacenter = false,
                            .source = "test",
                            .note = ""};
}

static inline struct eco_gpu gpu_h100(void)
{
    return (struct eco_gpu){.name = "H100 SXM",
                            .arch = ECO_ARCH_HOPPER,
                            .vram_gb = 80,
                            .mem_bw_gbps = 3350,
                            .fp16_tflops = 989,
                            .accumulate_fp32 = true,
                            .tdp_w = 700,
                            .idle_w = NAN,
                            .compute_capability = 9.0,
                            .datacenter = true,
                            .source = "test",
                            .note = ""};
}

static inline struct eco_workload work_of(enum eco_precision p, enum eco_engine e, int batch)
{
    return (struct eco_workload){
        .precision = p, .engine = e, .batch = batch, .prompt_tokens = 20, .gen_tokens = 256};
}

#endif
