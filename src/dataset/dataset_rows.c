/* Measured rows, pairs, batch points, runs and claims out of the generated tables. */
#include "dataset/dataset.h"
#include "eco_data.h"

#include <math.h>
#include <string.h>

static const char *text(uint32_t offset)
{
    return eco_data_text + offset;
}

/* Compares a counted name with a NUL-terminated one, as strcmp does. */
static int compare(const char *s, size_t len, const char *z)
{
    int c = strncmp(s, z, len);

    return c != 0 ? c : (z[len] == '\0' ? 0 : -1);
}

/* Idle put back into an energy printed without it; NAN where that cannot be done. */
static double gross_energy(const struct eco_row_cell *c)
{
    if (c->energy_basis == ECO_POWER_GROSS)
        return c->energy_j_per_1k;
    if (c->energy_basis == ECO_POWER_NET)
        return c->energy_j_per_1k + 1000.0 * c->idle_w / c->throughput_tok_s;
    return NAN;
}

static void fill_numbers(const struct eco_row_cell *c, struct eco_row *r)
{
    r->params_b = c->params_b;
    r->active_b = c->active_b;
    r->batch = c->batch;
    r->batch_mean = c->batch_mean;
    r->prompt_tokens = c->prompt_tokens;
    r->gen_tokens = c->gen_tokens;
    r->throughput_tok_s = c->throughput_tok_s;
    r->power_w = c->power_w;
    r->energy_j_per_1k = c->energy_j_per_1k;
    r->energy_sd = c->energy_sd;
    r->energy_gross_j_per_1k = gross_energy(c);
    r->n_trials = c->n_trials;
    r->n_iter = c->n_iter;
    r->n_devices = c->n_devices;
    r->idle_w = c->idle_w;
    r->delta_pct_published = c->delta_pct_published;
    r->delta_pct = r->delta_gross_pct = NAN;
    r->ppl = c->ppl;
    r->ppl_baseline = c->ppl_baseline;
}

static void fill_words(const struct eco_row_cell *c, struct eco_row *r)
{
    r->table = (enum eco_row_table)c->part;
    r->arch = (enum eco_arch)c->arch;
    r->precision = (enum eco_precision)c->precision;
    r->engine = (enum eco_engine)c->engine;
    r->boundary = (enum eco_boundary)c->boundary;
    r->energy_basis = (enum eco_power_basis)c->energy_basis;
    r->power_basis = (enum eco_power_basis)c->power_basis;
    r->grade = (enum eco_grade)c->grade;
    r->excluded = c->grade == ECO_GRADE_D;
    r->id = text(c->id);
    r->gpu = text(c->gpu);
    r->model = text(c->model);
    r->backend = text(c->backend);
    r->session = text(c->session);
    r->baseline_id = "";
    r->reason = text(c->reason);
    r->stack = text(c->stack);
    r->workload = text(c->workload);
    r->source = text(c->source);
    r->doi = text(c->doi);
    r->licence = text(c->licence);
}

size_t eco_dataset_row_count(void)
{
    return eco_data_rows_count;
}

bool eco_dataset_row(size_t index, struct eco_row *out)
{
    const struct eco_row_cell *c;

    if (index >= eco_data_rows_count)
        return false;
    c = &eco_data_rows[index];
    out->index = index;
    fill_words(c, out);
    fill_numbers(c, out);
    if (c->baseline != ECO_DATA_NO_ROW) {
        const struct eco_row_cell *b = &eco_data_rows[c->baseline];

        out->baseline_id = text(b->id);
        out->delta_pct = 100.0 * (c->energy_j_per_1k / b->energy_j_per_1k - 1.0);
        out->delta_gross_pct = 100.0 * (gross_energy(c) / gross_energy(b) - 1.0);
    }
    return true;
}

const uint16_t *eco_dataset_rows_of(enum eco_precision p, size_t *n)
{
    bool known = p >= ECO_PREC_NONE && p < ECO_PREC_COUNT;

    *n = known ? (size_t)(eco_data_rows_precision_at[p + 1] - eco_data_rows_precision_at[p]) : 0;
    return known ? eco_data_rows_by_precision + eco_data_rows_precision_at[p] : NULL;
}

bool eco_dataset_row_brief(size_t index, struct eco_row_brief *out)
{
    const struct eco_row_cell *c;

    if (index >= eco_data_rows_count)
        return false;
    c = &eco_data_rows[index];
    *out = (struct eco_row_brief){.gpu = text(c->gpu),
                                  .model = text(c->model),
                                  .arch = (enum eco_arch)c->arch,
                                  .engine = (enum eco_engine)c->engine,
                                  .params_b = c->params_b,
                                  .energy_gross_j_per_1k = gross_energy(c),
                                  .power_w = c->power_w,
                                  .ppl = c->ppl,
                                  .ppl_baseline = c->ppl_baseline,
                                  .batch = c->batch,
                                  .n_devices = c->n_devices,
                                  .boundary = (enum eco_boundary)c->boundary,
                                  .power_basis = (enum eco_power_basis)c->power_basis,
                                  .excluded = c->grade == ECO_GRADE_D};
    return true;
}

bool eco_dataset_row_quality(size_t index, const char *model_or_null, double *ppl, double *baseline)
{
    const struct eco_row_cell *c = index < eco_data_rows_count ? &eco_data_rows[index] : NULL;

    if (c == NULL || c->grade == ECO_GRADE_D || !(c->ppl > 0) || !(c->ppl_baseline > 0) ||
        (model_or_null != NULL && strcmp(text(c->model), model_or_null) != 0))
        return false;
    *ppl = c->ppl;
    *baseline = c->ppl_baseline;
    return true;
}

bool eco_dataset_row_by_id(const char *id, size_t len, struct eco_row *out)
{
    size_t lo = 0, hi = eco_data_rows_count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        size_t at = eco_data_rows_order[mid];
        int c = compare(id, len, text(eco_data_rows[at].id));

        if (c == 0)
            return eco_dataset_row(at, out);
        if (c > 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

size_t eco_dataset_table_count(enum eco_row_table table)
{
    size_t n = 0;

    for (size_t i = 0; i < eco_data_rows_count; i++)
        n += eco_data_rows[i].part == (uint8_t)table;
    return n;
}

size_t eco_dataset_grade_count(enum eco_row_table table, enum eco_grade grade)
{
    size_t n = 0;

    for (size_t i = 0; i < eco_data_rows_count; i++) {
        const struct eco_row_cell *c = &eco_data_rows[i];
        n += c->part == (uint8_t)table && c->grade == (uint8_t)grade;
    }
    return n;
}

/* The pool stores a text once, so equal sessions have equal offsets. Files group sessions, but an
 * external file may hold several, so every row is looked up among the rows before it. */
size_t eco_dataset_session_count(enum eco_row_table table, bool with_excluded)
{
    size_t n = 0;

    for (size_t i = 0; i < eco_data_rows_count; i++) {
        const struct eco_row_cell *c = &eco_data_rows[i];
        bool seen = false;

        if (c->part != (uint8_t)table || (c->grade == ECO_GRADE_D && !with_excluded))
            continue;
        for (size_t k = i; k-- > 0 && !seen;) {
            const struct eco_row_cell *b = &eco_data_rows[k];

            seen = b->session == c->session && b->part == c->part &&
                   (with_excluded || b->grade != ECO_GRADE_D);
        }
        n += !seen;
    }
    return n;
}

size_t eco_dataset_pair_count(void)
{
    return eco_data_pairs_count;
}

bool eco_dataset_pair(size_t index, struct eco_pair *out)
{
    const struct eco_pair_cell *c;

    if (index >= eco_data_pairs_count)
        return false;
    c = &eco_data_pairs[index];
    *out = (struct eco_pair){
        .id = text(c->id),
        .gpu = text(c->gpu),
        .arch = (enum eco_arch)c->arch,
        .model = text(c->model),
        .params_b = c->params_b,
        .precision = (enum eco_precision)c->precision,
        .engine = (enum eco_engine)c->engine,
        .backend = text(c->backend),
        .batch = c->batch,
        .n_devices = c->n_devices,
        .energy_base_j_per_1k = c->energy_base_j_per_1k,
        .energy_quant_j_per_1k = c->energy_quant_j_per_1k,
        .delta_pct = 100.0 * (c->energy_quant_j_per_1k / c->energy_base_j_per_1k - 1.0),
        .workload = text(c->workload),
        .base_id = text(eco_data_rows[c->base].id),
        .quant_id = text(eco_data_rows[c->quant].id),
        .grade = (enum eco_grade)c->grade,
        .excluded = c->grade == ECO_GRADE_D,
        .reason = text(c->reason),
        .source = text(c->source),
        .licence = text(c->licence),
    };
    return true;
}

size_t eco_dataset_batch_count(void)
{
    return eco_data_batch_scaling_count;
}

bool eco_dataset_batch(size_t index, struct eco_batch_point *out)
{
    const struct eco_batch_cell *c;

    if (index >= eco_data_batch_scaling_count)
        return false;
    c = &eco_data_batch_scaling[index];
    *out = (struct eco_batch_point){
        .id = text(c->id),
        .gpu = text(c->gpu),
        .model = text(c->model),
        .precision = (enum eco_precision)c->precision,
        .batch = c->batch,
        .prompt_tokens = c->prompt_tokens,
        .gen_tokens = c->gen_tokens,
        .n_trials = c->n_trials,
        .throughput_tok_s = c->throughput_tok_s,
        .throughput_sd = c->throughput_sd,
        .power_w = c->power_w,
        .power_sd = c->power_sd,
        .energy_j_per_1k = c->energy_j_per_1k,
        .energy_sd = c->energy_sd,
        .energy_per_request_j = c->energy_per_request_j,
        .gpu_util_pct = c->gpu_util_pct,
        .peak_memory_gb = c->peak_memory_gb,
        .grade = (enum eco_grade)c->grade,
        .excluded = c->grade == ECO_GRADE_D,
        .session = text(c->session),
        .reason = text(c->reason),
        .source = text(c->source),
    };
    return true;
}

size_t eco_dataset_raw_run_count(void)
{
    return eco_data_raw_runs_count;
}

bool eco_dataset_raw_run(size_t index, struct eco_raw_run *out)
{
    const struct eco_run_cell *c;

    if (index >= eco_data_raw_runs_count)
        return false;
    c = &eco_data_raw_runs[index];
    *out = (struct eco_raw_run){
        .row_id = text(eco_data_rows[c->row].id),
        .session = text(c->session),
        .run = c->run,
        .tokens = c->tokens,
        .throughput_tok_s = c->throughput_tok_s,
        .power_w = c->power_w,
        .energy_j_per_1k = c->energy_j_per_1k,
        .total_energy_j = c->total_energy_j,
    };
    return true;
}

size_t eco_dataset_claim_count(void)
{
    return eco_data_claims_count;
}

bool eco_dataset_claim(size_t index, struct eco_claim *out)
{
    const struct eco_claim_cell *c;

    if (index >= eco_data_claims_count)
        return false;
    c = &eco_data_claims[index];
    *out = (struct eco_claim){
        .gpu = text(c->gpu),
        .model = text(c->model),
        .precision = (enum eco_precision)c->precision,
        .batch = c->batch,
        .n_trials = c->n_trials,
        .value = c->value,
        .unit = text(c->unit),
        .date = text(c->date),
        .grade = (enum eco_grade)c->grade,
        .reason = text(c->reason),
        .source = text(c->source),
    };
    return true;
}

size_t eco_dataset_gpu_claim_count(void)
{
    return eco_data_hardware_published_count;
}

bool eco_dataset_gpu_claim(size_t index, struct eco_gpu_claim *out)
{
    const struct eco_gpu_claim_cell *c;

    if (index >= eco_data_hardware_published_count)
        return false;
    c = &eco_data_hardware_published[index];
    *out = (struct eco_gpu_claim){
        .name = text(c->name),
        .arch = (enum eco_arch)c->arch,
        .vram_gb = c->vram_gb,
        .mem_bw_gbps = c->mem_bw_gbps,
        .fp16_tflops = c->fp16_tflops,
        .tdp_w = c->tdp_w,
        .idle_w = c->idle_w,
        .source = text(c->source),
        .reason = text(c->reason),
    };
    return true;
}

const char *eco_boundary_name(enum eco_boundary b)
{
    static const char *const names[] = {"unknown", "gpu-board", "cpu-package", "wall", "wall-peak"};

    return (size_t)b < ECO_BOUNDARY_COUNT ? names[b] : "unknown";
}

const char *eco_power_basis_name(enum eco_power_basis b)
{
    return b == ECO_POWER_GROSS ? "gross" : b == ECO_POWER_NET ? "net" : "unknown";
}
