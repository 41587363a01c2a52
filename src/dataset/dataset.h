/*
 * The measured data and the reference tables, compiled in from data/ by tools/csv2c. Look-ups only:
 * no I/O, no allocation, no state. Every string is static and NUL-terminated ("" when the cell is
 * empty), so structs may be copied and kept. Numbers that a source does not give are NAN (`int`
 * counts: 0). Indices are stable within one build; ids are stable between builds.
 * Threads: everything is const. Errors: ECO_E_UNKNOWN_NAME with the nearest names.
 */
#ifndef ECO_DATASET_H
#define ECO_DATASET_H

#include "eco_err.h"
#include "eco_published.h"
#include "eco_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Which file family a row comes from. */
enum eco_row_table {
    ECO_ROWS_MEASUREMENTS = 0, /* data/measurements/: EcoCompute's published figures, grades A-D */
    ECO_ROWS_EXTERNAL,         /* data/external/: other projects' measurements, usable licence */
    ECO_ROWS_TABLES
};

/** What a joule in the row contains. */
enum eco_boundary {
    ECO_BOUNDARY_UNKNOWN = 0,
    ECO_BOUNDARY_GPU_BOARD,
    ECO_BOUNDARY_CPU_PACKAGE,
    ECO_BOUNDARY_WALL,      /* whole system at the plug, mean power */
    ECO_BOUNDARY_WALL_PEAK, /* whole system at the plug, peak power: an upper bound */
    ECO_BOUNDARY_COUNT
};

/** Whether idle power is inside (gross) or was subtracted (net). */
enum eco_power_basis { ECO_POWER_UNKNOWN = 0, ECO_POWER_GROSS, ECO_POWER_NET };

/** One measured configuration. Energy of prefill is inside for external rows. */
struct eco_row {
    enum eco_row_table table;
    size_t index; /* of this row, for eco_dataset_row */
    const char *id;
    const char *gpu; /* as in hardware.csv where it is there, else as the source names it */
    enum eco_arch arch;
    const char *model; /* Hugging Face id where known */
    double params_b;   /* nominal */
    double active_b;   /* active parameters of a MoE model, NAN: dense or not stated */
    enum eco_precision precision;
    enum eco_engine engine;
    const char *backend; /* "bitsandbytes 0.45.0", "vLLM 0.11.1" */
    int batch;           /* static batch or scheduler limit; 0: saturated or not stated */
    double batch_mean;   /* mean running batch where logged, else NAN */
    double prompt_tokens, gen_tokens;
    double throughput_tok_s;      /* over all devices */
    double power_w;               /* mean, over all devices, on power_basis */
    double energy_j_per_1k;       /* J per 1000 generated tokens, on energy_basis, as printed */
    double energy_sd;             /* sample standard deviation of it */
    double energy_gross_j_per_1k; /* idle put back: E + 1000 idle_w / throughput; NAN: cannot be */
    int n_trials, n_iter;
    int n_devices; /* 0: a CPU run */
    enum eco_boundary boundary;
    enum eco_power_basis energy_basis, power_basis; /* they differ in some sessions */
    double idle_w;                                  /* published idle of that card */
    const char *session;        /* rows of one session share host, day and software */
    const char *baseline_id;    /* the 16-bit row of the same session; "" when none */
    double delta_pct_published; /* as the source prints it */
    double delta_pct;           /* from the two rows' own energies, NAN without a baseline */
    double delta_gross_pct;     /* from their gross energies, NAN when one is not known */
    double ppl, ppl_baseline;   /* perplexity; texts differ between sessions */
    enum eco_grade grade;
    bool excluded;        /* grade D: shown, never fitted */
    const char *reason;   /* why D, why C, or a remark; our words */
    const char *stack;    /* software versions */
    const char *workload; /* task of an external row, "" = fixed-length generation */
    const char *source;   /* repository:path, or github:owner/repo/path@commit */
    const char *doi;
    const char *licence;
};

/** What deciding takes whether a row matters; struct eco_row says what each means. */
struct eco_row_brief {
    const char *gpu, *model;
    enum eco_arch arch;
    enum eco_engine engine;
    double params_b, energy_gross_j_per_1k, power_w, ppl, ppl_baseline;
    int batch, n_devices;
    enum eco_boundary boundary;
    enum eco_power_basis power_basis;
    bool excluded;
};

/** A 16-bit row against a quantized row, external data; energies on the rows' boundary. */
struct eco_pair {
    const char *id, *gpu;
    enum eco_arch arch;
    const char *model;
    double params_b;
    enum eco_precision precision;
    enum eco_engine engine;
    const char *backend;
    int batch, n_devices;
    double energy_base_j_per_1k, energy_quant_j_per_1k;
    double delta_pct;                          /* from the two energies */
    const char *workload, *base_id, *quant_id; /* ids of ECO_ROWS_EXTERNAL rows */
    enum eco_grade grade;
    bool excluded;
    const char *reason, *source, *licence;
};

/** Recomputed batch sweeps; `grade` D: the contradicted guide. */
struct eco_batch_point {
    const char *id, *gpu, *model;
    enum eco_precision precision;
    int batch, prompt_tokens, gen_tokens, n_trials;
    double throughput_tok_s, throughput_sd, power_w, power_sd, energy_j_per_1k, energy_sd;
    double energy_per_request_j, gpu_util_pct, peak_memory_gb;
    enum eco_grade grade;
    bool excluded;
    const char *session, *reason, *source;
};

/** One single run behind a measurement row. */
struct eco_raw_run {
    const char *row_id, *session;
    int run;
    double tokens, throughput_tok_s, power_w, energy_j_per_1k, total_energy_j;
};

/** A country or region. Carbon and price are separate facts with separate sources. */
struct eco_region {
    const char *code; /* ISO 3166 alpha-3, or a short word for a union or an average */
    const char *name;
    const char *aliases; /* space separated, lower case */
    double carbon_gco2_per_kwh;
    int carbon_year;
    const char *carbon_source, *carbon_licence;
    double price_usd_per_kwh; /* NAN: none known */
    int price_year;
    bool price_is_tariff; /* false: a rental price or an assumption, not an electricity tariff */
    const char *price_source, *note;
};

/** What a published data set says about a driver's power sensor. */
struct eco_sensor {
    const char *gpu;
    enum eco_arch arch;
    const char *driver, *field; /* field: "draw", "average", "instant" */
    double update_ms, window_ms, rise_ms, delay_ms, gain, offset_w;
    double steady_error_pct, energy_error_pct;
    const char *source, *licence;
};

/** A curve of the published calibration with what is published beside it. */
struct eco_curve {
    struct eco_published_curve curve;
    double lo_b, hi_b, crossover_b /* NAN: none */, cap_pct;
    int anchors;
};

/** A published figure that no energy backs. */
struct eco_claim {
    const char *gpu, *model;
    enum eco_precision precision; /* NONE: not stated */
    int batch, n_trials;
    double value;
    const char *unit, *date;
    enum eco_grade grade;
    const char *reason, *source;
};

/** A card's figures as some published source prints them, with what is wrong with them. */
struct eco_gpu_claim {
    const char *name;
    enum eco_arch arch;
    double vram_gb, mem_bw_gbps, fp16_tflops, tdp_w, idle_w;
    const char *source, *reason;
};

/** A column of a data table, from data/columns.def. */
struct eco_column {
    const char *table, *name, *type, *unit, *meaning;
    char required; /* 'Y', 'N', or 'D': required where the grade is D */
};

/** Provenance of one data file. */
struct eco_digest {
    const char *path;   /* "data/hardware.csv" */
    const char *sha256; /* 64 hex digits */
    size_t rows, bytes;
};

/* --- rows ------------------------------------------------------------------------------- */
size_t eco_dataset_row_count(void); /* measurements, then external rows */
size_t eco_dataset_table_count(enum eco_row_table table);
/** Fills `out`; false (out untouched) past the end. About 50 ns. */
bool eco_dataset_row(size_t index, struct eco_row *out);
/** The rows of one precision: `*n` indices in row order (NULL, 0: no such precision). */
const uint16_t *eco_dataset_rows_of(enum eco_precision p, size_t *n);
/** Fills `out`; false (out untouched) past the end. About 5 ns. */
bool eco_dataset_row_brief(size_t index, struct eco_row_brief *out);
/** Perplexities of a row that has both and is not excluded; of this model alone when named. */
bool eco_dataset_row_quality(size_t index, const char *model_or_null, double *ppl,
                             double *baseline);
/** Exact id; binary search. */
bool eco_dataset_row_by_id(const char *id, size_t len, struct eco_row *out);
size_t eco_dataset_grade_count(enum eco_row_table table, enum eco_grade grade);
size_t eco_dataset_session_count(enum eco_row_table table, bool with_excluded);

size_t eco_dataset_pair_count(void);
bool eco_dataset_pair(size_t index, struct eco_pair *out);
size_t eco_dataset_batch_count(void);
bool eco_dataset_batch(size_t index, struct eco_batch_point *out);
size_t eco_dataset_raw_run_count(void);
bool eco_dataset_raw_run(size_t index, struct eco_raw_run *out);
size_t eco_dataset_claim_count(void);
bool eco_dataset_claim(size_t index, struct eco_claim *out);
size_t eco_dataset_gpu_claim_count(void);
bool eco_dataset_gpu_claim(size_t index, struct eco_gpu_claim *out);
const char *eco_boundary_name(enum eco_boundary b);       /* "gpu-board", "unknown" */
const char *eco_power_basis_name(enum eco_power_basis b); /* "gross", "net", "unknown" */

/* --- cards ------------------------------------------------------------------------------ */
/** How a name was understood. */
enum eco_match_kind { ECO_MATCH_NONE = 0, ECO_MATCH_EXACT, ECO_MATCH_ALIAS, ECO_MATCH_DEFAULT };

struct eco_match {
    size_t index;
    enum eco_match_kind kind;
    char note[160]; /* DEFAULT: the choice made, "'h100' is taken as H100 SXM (also: H100 PCIe)" */
};

size_t eco_dataset_gpu_count(void);
const struct eco_gpu *eco_dataset_gpu(size_t index); /* NULL past the end */
const char *eco_dataset_gpu_short(size_t index);     /* "rtx4090"; "" past the end */
/**
 * Exact, short, alias or normalised name ("NVIDIA GeForce RTX 4090 D", "rtx4090d", "a100").
 * ECO_E_UNKNOWN_NAME: "unknown gpu 'rtx4900': did you mean 'rtx4090'?".
 */
int eco_dataset_find_gpu(const char *name, size_t len, const struct eco_gpu **out,
                         struct eco_err *err);
int eco_dataset_match_gpu(const char *name, size_t len, struct eco_match *out, struct eco_err *err);
/**
 * NVIDIA class of a card by the name a driver prints; UNKNOWN when no NVIDIA class can be told, as
 * for other vendors' cards. `*gpu_or_null` (may be NULL) gets the table row when this very card is
 * in hardware.csv, or NULL.
 */
enum eco_arch eco_dataset_detect_arch(const char *nvml_name, size_t len,
                                      const struct eco_gpu **gpu_or_null);
/** The same for every vendor: "AMD Instinct MI300X" is cdna3, "Intel Arc B580" is xe2-hpg. */
enum eco_arch eco_dataset_detect_any_arch(const char *name, size_t len,
                                          const struct eco_gpu **gpu_or_null);

/* --- models ----------------------------------------------------------------------------- */
/** Natural logarithms, made when the tables are; 0 where a model has no such dimension. */
struct eco_model_logs {
    double total_b, layers, hidden, intermediate, kv_width, vocab; /* total in 1e9, width: KV */
};
size_t eco_dataset_model_count(void);
const struct eco_model *eco_dataset_model(size_t index);           /* NULL past the end */
const struct eco_model_logs *eco_dataset_model_logs(size_t index); /* the same */
const char *eco_dataset_model_short(size_t index);                 /* "qwen2.5-7b" */
const char *eco_dataset_model_note(size_t index);                  /* "" when there is none */
bool eco_dataset_model_measured(size_t index); /* has rows in data/measurements */
/** HF id, its last part, short name or alias, case-folded; nearest names on a miss. */
int eco_dataset_find_model(const char *name, size_t len, const struct eco_model **out,
                           struct eco_err *err);
int eco_dataset_match_model(const char *name, size_t len, struct eco_match *out,
                            struct eco_err *err);

/* --- regions, sensors, published calibration, digests ------------------------------------ */
size_t eco_dataset_region_count(void);
const struct eco_region *eco_dataset_region(size_t index);
/** ISO alpha-2/alpha-3, English name or alias, case-folded. */
int eco_dataset_find_region(const char *name, size_t len, const struct eco_region **out,
                            struct eco_err *err);
size_t eco_dataset_sensor_count(void);
const struct eco_sensor *eco_dataset_sensor(size_t index);
/** Anchors and curves of the published calibration, in the published order. */
const struct eco_published_tables *eco_dataset_published(void);
bool eco_dataset_anchor_is_net(size_t index);           /* published net of idle */
double eco_dataset_anchor_delta_full_pct(size_t index); /* not rounded; NAN past the end */
size_t eco_dataset_curve_count(void);
/** Curve `index` of those tables with its range; false past the end. */
bool eco_dataset_curve(size_t index, struct eco_curve *out);

size_t eco_dataset_digest_count(void);
const struct eco_digest *eco_dataset_digest(size_t index); /* sorted by path */
const char *eco_dataset_digest_all(void); /* SHA-256 over "sha256  path\n" of every file */
size_t eco_dataset_column_count(void);
const struct eco_column *eco_dataset_column(size_t index);

#endif
