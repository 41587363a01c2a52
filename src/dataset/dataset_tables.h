/*
 * How the generated tables look in memory; private to src/dataset. tools/csv2c fills these structs
 * by member name from data/columns.def, so that a renamed member fails to compile. Text of the big
 * tables is an offset into eco_data_text: pointers would cost a relocation each at every start.
 */
#ifndef ECO_DATASET_TABLES_H
#define ECO_DATASET_TABLES_H

#include "dataset/dataset.h"

#include <stdint.h>

#define ECO_DATA_NO_ROW UINT32_MAX

struct eco_row_cell {
    double params_b, active_b, batch_mean, prompt_tokens, gen_tokens, throughput_tok_s, power_w,
        energy_j_per_1k, energy_sd, idle_w, delta_pct_published, ppl, ppl_baseline;
    uint32_t id, gpu, model, backend, session, reason, workload, stack, source, doi, licence;
    uint32_t baseline; /* row index, or ECO_DATA_NO_ROW */
    int32_t batch, n_trials, n_iter, n_devices;
    uint8_t part; /* which entry of the table's file list: enum eco_row_table */
    uint8_t arch, precision, engine, boundary, energy_basis, power_basis, grade;
};

struct eco_pair_cell {
    double params_b, energy_base_j_per_1k, energy_quant_j_per_1k, delta_pct;
    uint32_t id, gpu, model, backend, workload, reason, source, licence, base, quant;
    int32_t batch, n_devices;
    uint8_t part, arch, precision, engine, grade;
};

struct eco_batch_cell {
    double throughput_tok_s, throughput_sd, power_w, power_sd, energy_j_per_1k, energy_sd,
        energy_per_request_j, gpu_util_pct, peak_memory_gb;
    uint32_t id, gpu, model, session, reason, source;
    int32_t batch, prompt_tokens, gen_tokens, n_trials;
    uint8_t part, precision, grade;
};

struct eco_run_cell {
    double tokens, throughput_tok_s, power_w, energy_j_per_1k, total_energy_j;
    uint32_t row, session, source;
    int32_t run;
    uint8_t part;
};

struct eco_claim_cell {
    double value;
    uint32_t gpu, model, unit, date, reason, source;
    int32_t batch, n_trials;
    uint8_t part, precision, grade;
};

struct eco_gpu_claim_cell {
    double vram_gb, mem_bw_gbps, fp16_tflops, tdp_w, idle_w;
    uint32_t name, source, reason;
    uint8_t part, arch;
};

struct eco_hardware_extra {
    const char *short_name, *aliases, *default_of;
};

struct eco_models_extra {
    const char *short_name, *aliases, *note;
    bool measured;
};

struct eco_anchors_extra {
    double delta_pct_full;
    bool net;
};

struct eco_curves_extra {
    double lo_b, hi_b, crossover_b, cap_pct;
    int anchors;
};

#endif
