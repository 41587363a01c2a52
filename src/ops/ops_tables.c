/* The operations that look things up: data rows, cards, models, versions. Pure. */
#include "base/csv.h"
#include "base/num.h"
#include "dataset/audit_table.h"
#include "dataset/dataset.h"
#include "model/model.h"
#include "result.h"
#include "runs.h"
#include "steps.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static int no_memory(struct eco_err *err)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

/* ---- data ---------------------------------------------------------------------------------- */

static struct eco_opt count_or_absent(int n)
{
    return (struct eco_opt){n, n > 0};
}

static const char *text_or_null(const char *s)
{
    return s && s[0] ? s : NULL;
}

static void fill_row(const struct eco_row *r, struct eco_res_data_row *out)
{
    static const char *const grades[] = {"?", "A", "B", "C", "D"};
    *out = (struct eco_res_data_row){
        .id = r->id,
        .table = r->table == ECO_ROWS_MEASUREMENTS ? "measurements" : "external",
        .gpu = r->gpu,
        .arch = eco_arch_name(r->arch),
        .model = r->model,
        .params_b = eco_some(r->params_b),
        .precision = eco_precision_name(r->precision),
        .backend = text_or_null(r->backend),
        .batch = r->batch,
        .n_devices = r->n_devices,
        .throughput_tok_s = eco_some(r->throughput_tok_s),
        .power_w = eco_some(r->power_w),
        .energy_j_per_1k = eco_some(r->energy_j_per_1k),
        .energy_sd = eco_some(r->energy_sd),
        .n_trials = count_or_absent(r->n_trials),
        .boundary = eco_boundary_name(r->boundary),
        .energy_basis = eco_power_basis_name(r->energy_basis),
        .energy_gross_j_per_1k = eco_some(eco_step_round(r->energy_gross_j_per_1k, 6)),
        .delta_gross_pct = eco_some(eco_num_round(r->delta_gross_pct, 2)),
        .power_basis = eco_power_basis_name(r->power_basis),
        .delta_pct = eco_some(eco_num_round(r->delta_pct, 2)),
        .baseline_id = text_or_null(r->baseline_id),
        .grade = grades[r->grade <= ECO_GRADE_D ? r->grade : 0],
        .excluded = r->excluded,
        .reason = text_or_null(r->reason),
        .session = text_or_null(r->session),
        .stack = text_or_null(r->stack),
        .source = text_or_null(r->source),
        .doi = text_or_null(r->doi),
        .licence = text_or_null(r->licence)};
}

static bool contains(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; *text; text++) {
        if (eco_str_ncasecmp(text, part, n) == 0) {
            return true;
        }
    }
    return n == 0;
}

struct row_filter {
    const char *gpu, *model, *session;
    enum eco_precision precision;
    enum eco_grade grade;
    int table; /* -1: all */
};

static int make_filter(const struct eco_args_data *a, struct row_filter *f, struct eco_err *err)
{
    *f = (struct row_filter){.model = a->model, .session = a->session, .table = -1};
    int rc = eco_step_precision(a->precision, ECO_PREC_NONE, "precision", &f->precision, err);
    if (rc == 0 && a->gpu) {
        const struct eco_gpu *gpu;
        rc = eco_dataset_find_gpu(a->gpu, strlen(a->gpu), &gpu, err);
        f->gpu = rc == 0 ? gpu->name : NULL;
    }
    if (a->grade) {
        f->grade = (enum eco_grade)(toupper((unsigned char)a->grade[0]) - 'A' + ECO_GRADE_A);
    }
    if (a->table) {
        f->table = eco_str_ieq(a->table, strlen(a->table), "external") ? ECO_ROWS_EXTERNAL
                                                                       : ECO_ROWS_MEASUREMENTS;
    }
    return rc;
}

static bool passes(const struct row_filter *f, const struct eco_row *r)
{
    return (!f->gpu || strcmp(f->gpu, r->gpu) == 0) &&
           (!f->model || contains(r->model, f->model)) &&
           (!f->session || contains(r->session, f->session)) &&
           (f->precision == ECO_PREC_NONE || f->precision == r->precision) &&
           (f->grade == ECO_GRADE_NONE || f->grade == r->grade) &&
           (f->table < 0 || f->table == (int)r->table);
}

static int list_rows(struct eco_ctx *ctx, const struct row_filter *f, struct eco_res_data *out,
                     struct eco_err *err)
{
    size_t total = eco_dataset_row_count(), n = 0;
    struct eco_res_data_row *rows = eco_arena_array(ctx->arena, total, sizeof(*rows));
    if (!rows) {
        return no_memory(err);
    }
    for (size_t i = 0; i < total; i++) {
        struct eco_row r;
        if (eco_dataset_row(i, &r) && passes(f, &r)) {
            fill_row(&r, &rows[n++]);
        }
    }
    out->rows = (struct eco_list){rows, n};
    out->count = (int64_t)n;
    return 0;
}

static int unknown_row(const char *id, struct eco_err *err)
{
    const char *best = NULL;
    int nearest = 9;
    for (size_t i = 0; i < eco_dataset_row_count(); i++) {
        struct eco_row r;
        if (eco_dataset_row(i, &r)) {
            int d = eco_str_distance(id, strlen(id), r.id, strlen(r.id), 8);
            if (d < nearest) {
                nearest = d, best = r.id;
            }
        }
    }
    return eco_err_set(err, ECO_E_UNKNOWN_NAME, "target",
                       best ? "no row '%.60s': did you mean '%s'?"
                            : "no row '%.60s': see the ids with 'ecocompute data list'",
                       id, best ? best : "");
}

static int show_row(struct eco_ctx *ctx, const char *id, struct eco_res_data *out,
                    struct eco_err *err)
{
    struct eco_row r, base;
    struct eco_res_data_row *rows = eco_arena_array(ctx->arena, 2, sizeof(*rows));
    if (!rows) {
        return no_memory(err);
    }
    if (!id) {
        return eco_err_set(err, ECO_E_MISSING, "target", "say which row: data show ID");
    }
    if (!eco_dataset_row_by_id(id, strlen(id), &r)) {
        return unknown_row(id, err);
    }
    size_t n = 0;
    fill_row(&r, &rows[n++]);
    if (r.baseline_id[0] && eco_dataset_row_by_id(r.baseline_id, strlen(r.baseline_id), &base)) {
        fill_row(&base, &rows[n++]);
    }
    out->rows = (struct eco_list){rows, n};
    out->count = (int64_t)n;
    return 0;
}

static int list_files(struct eco_ctx *ctx, struct eco_res_data *out, struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    for (size_t i = 0; i < eco_dataset_digest_count(); i++) {
        const struct eco_digest *d = eco_dataset_digest(i);
        eco_buf_printf(&b, "%s  %s\n", d->sha256, d->path);
    }
    out->document = eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len);
    eco_buf_done(&b);
    out->count = (int64_t)eco_dataset_digest_count();
    out->note = "files the tables were compiled from, with their SHA-256";
    return out->document ? 0 : no_memory(err);
}

static int audit_text(struct eco_ctx *ctx, const char *name, const char *text, size_t len,
                      struct eco_res_data *out, struct eco_err *err)
{
    struct eco_table_audit audit;
    int rc = eco_dataset_audit_table(name, text, len, ctx->arena, &audit, err);
    if (rc) {
        return rc;
    }
    struct eco_res_finding *rows = eco_arena_array(ctx->arena, audit.count + 1, sizeof(*rows));
    if (!rows) {
        return no_memory(err);
    }
    for (size_t i = 0; i < audit.count; i++) {
        const struct eco_table_finding *f = &audit.findings[i];
        rows[i] = (struct eco_res_finding){f->line, eco_table_check_name(f->check),
                                           eco_table_severity_name(f->severity), f->message};
    }
    out->findings = (struct eco_list){rows, audit.count};
    out->checked = (int64_t)audit.rows;
    out->note = "physical checks: energy = power / throughput, power between idle and limit, "
                "throughput under the memory roofline, changes equal to their own energies, "
                "formula data, counts and spreads";
    return 0;
}

bool eco_data_says_no(const void *result)
{
    const struct eco_res_data *r = result;
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct eco_res_finding *f = (const struct eco_res_finding *)r->findings.items + i;
        if (strcmp(f->severity, "error") == 0) {
            return true;
        }
    }
    return false;
}

/* The rows as CSV: what `data audit` and a spreadsheet read. */
static int export_rows(struct eco_ctx *ctx, struct eco_res_data *out, struct eco_err *err)
{
    struct eco_buf b = ECO_BUF_INIT;
    eco_result_csv(&eco_rec_data, out, &b);
    out->document = eco_buf_ok(&b) ? eco_arena_strdup(ctx->arena, eco_buf_str(&b), b.len) : NULL;
    eco_buf_done(&b);
    return out->document ? 0 : no_memory(err);
}

int eco_run_data(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_data *a = args;
    struct eco_res_data *out = result;
    struct row_filter filter;
    int rc = make_filter(a, &filter, err);
    if (rc) {
        return rc;
    }
    if (eco_str_ieq(a->action, strlen(a->action), "show")) {
        return show_row(ctx, a->target, out, err);
    }
    if (eco_str_ieq(a->action, strlen(a->action), "traps")) {
        rc = eco_step_traps(ctx, &out->traps, err);
        out->count = (int64_t)out->traps.n;
        return rc;
    }
    if (eco_str_ieq(a->action, strlen(a->action), "path")) {
        return list_files(ctx, out, err);
    }
    if (eco_str_ieq(a->action, strlen(a->action), "audit")) {
        if (!ctx->read_file) {
            return eco_err_set(err, ECO_E_UNSUPPORTED, "action",
                               "'audit' reads a file: the command line has it, requests do not");
        }
        if (!a->target) {
            return eco_err_set(err, ECO_E_MISSING, "target", "say which file: data audit FILE.csv");
        }
        struct eco_str text;
        rc = ctx->read_file(ctx, a->target, &text, err);
        return rc ? rc : audit_text(ctx, a->target, text.s, text.len, out, err);
    }
    out->note = "grade D rows are shown and never fitted; 'data show ID' says why";
    rc = list_rows(ctx, &filter, out, err);
    return rc == 0 && eco_str_ieq(a->action, strlen(a->action), "export")
               ? export_rows(ctx, out, err)
               : rc;
}

/* ---- gpus ---------------------------------------------------------------------------------- */

static int pairs_on(const char *gpu)
{
    int n = 0;
    for (size_t i = 0; i < eco_dataset_row_count(); i++) {
        struct eco_row r;
        n += eco_dataset_row(i, &r) && strcmp(r.gpu, gpu) == 0 && isfinite(r.delta_pct) &&
             !r.excluded;
    }
    return n;
}

static void fill_gpu(size_t i, struct eco_res_gpu *out)
{
    const struct eco_gpu *g = eco_dataset_gpu(i);
    *out = (struct eco_res_gpu){.name = eco_dataset_gpu_short(i),
                                .gpu = g->name,
                                .arch = eco_arch_name(g->arch),
                                .vram_gb = eco_some(g->vram_gb),
                                .mem_bw_gbps = eco_some(g->mem_bw_gbps),
                                .fp16_tflops = eco_some(g->fp16_tflops),
                                .tdp_w = eco_some(g->tdp_w),
                                .idle_w = eco_some(g->idle_w),
                                .pairs = pairs_on(g->name),
                                .source = g->source};
}

int eco_run_gpus(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_gpus *a = args;
    struct eco_res_gpus *out = result;
    enum eco_arch only = ECO_ARCH_UNKNOWN;
    int rc = a->arch ? eco_step_class(a->arch, &only, err) : 0;
    if (rc) {
        return rc;
    }
    size_t total = eco_dataset_gpu_count(), n = 0;
    struct eco_res_gpu *rows = eco_arena_array(ctx->arena, total + 1, sizeof(*rows));
    if (!rows) {
        return no_memory(err);
    }
    const struct eco_gpu *found = NULL;
    if (a->detect) {
        enum eco_arch arch = eco_dataset_detect_any_arch(a->detect, strlen(a->detect), &found);
        out->arch = arch == ECO_ARCH_UNKNOWN ? NULL : eco_arch_name(arch);
        out->gpu = found ? found->name : NULL;
    }
    for (size_t i = 0; i < total; i++) {
        const struct eco_gpu *g = eco_dataset_gpu(i);
        bool wanted = a->detect ? g == found : only == ECO_ARCH_UNKNOWN || g->arch == only;
        if (wanted) {
            fill_gpu(i, &rows[n++]);
        }
    }
    out->gpus = (struct eco_list){rows, n};
    out->count = (int64_t)n;
    return 0;
}

/* ---- models -------------------------------------------------------------------------------- */

static void fill_model(const struct eco_model *m, struct eco_res_model_row *out)
{
    double gb16 = 2.0 / 1e9;
    *out = (struct eco_res_model_row){
        .id = m->name,
        .params_b = m->params_b,
        .params_total = (int64_t)m->params_total,
        .params_active = (int64_t)m->params_active,
        .layers = m->layers,
        .hidden = m->hidden,
        .n_heads = m->n_heads,
        .n_kv_heads = m->n_kv_heads,
        .vocab = m->vocab,
        .max_context = m->max_context,
        .experts = m->experts,
        .tied = m->tied,
        .embedding_gb = eco_num_round((double)m->params_embedding * gb16, 3),
        .lm_head_gb = eco_num_round((double)m->params_lm_head * gb16, 3),
        .linear_gb = eco_num_round((double)m->params_linear * gb16, 3),
        .file_gb = {eco_num_round((double)m->file_bytes / 1e9, 3), m->file_bytes > 0},
        .stored = m->stored == ECO_PREC_NONE ? NULL : eco_precision_name(m->stored),
        .weight_gb_fp16 = eco_num_round(eco_memory_weight_bytes(m, ECO_PREC_FP16) / 1e9, 3),
        .weight_gb_nf4 = eco_num_round(eco_memory_weight_bytes(m, ECO_PREC_NF4) / 1e9, 3),
        .kv_kb_per_token = eco_num_round(eco_memory_kv_bytes(m, 1.0) / 1e3, 3),
        .source = m->source};
}

int eco_run_models(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_models *a = args;
    struct eco_res_models *out = result;
    size_t total = eco_dataset_model_count(), n = 0;
    struct eco_res_model_row *rows = eco_arena_array(ctx->arena, total + 1, sizeof(*rows));
    if (!rows) {
        return no_memory(err);
    }
    for (size_t i = 0; i < total; i++) {
        const struct eco_model *m = eco_dataset_model(i);
        if (!a->name || contains(m->name, a->name)) {
            fill_model(m, &rows[n++]);
        }
    }
    if (n == 0) { /* not a part of a known name: a folder, a file, an alias */
        struct eco_model *m = eco_arena_alloc(ctx->arena, sizeof(*m));
        const struct eco_model *known = NULL;
        int rc = !m                ? no_memory(err)
                 : ctx->open_model ? ctx->open_model(a->name, m, err)
                                   : eco_dataset_find_model(a->name, strlen(a->name), &known, err);
        if (rc) {
            return rc;
        }
        fill_model(known ? known : m, &rows[n++]);
    }
    out->models = (struct eco_list){rows, n};
    out->count = (int64_t)n;
    return 0;
}

/* ---- version ------------------------------------------------------------------------------- */

int eco_run_version(struct eco_ctx *ctx, const void *args, void *result, struct eco_err *err)
{
    const struct eco_args_version *a = args;
    struct eco_res_version *out = result;
    size_t n = a->data ? eco_dataset_digest_count() : 0;
    struct eco_res_digest *files = eco_arena_array(ctx->arena, n + 1, sizeof(*files));
    if (!files) {
        return no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        const struct eco_digest *d = eco_dataset_digest(i);
        files[i] = (struct eco_res_digest){d->path, d->sha256, (int64_t)d->rows};
    }
    enum eco_row_table t = ECO_ROWS_MEASUREMENTS;
    *out = (struct eco_res_version){
        .name = "ecocompute",
        .version = ECO_VERSION,
        .data_sha256 = eco_dataset_digest_all(),
        .rows = (int64_t)eco_dataset_table_count(t),
        .pairs = (int64_t)eco_dataset_pair_count(),
        .grades = eco_step_fmt(
            ctx, "A %zu, B %zu, C %zu, D %zu (D is shown, never fitted)",
            eco_dataset_grade_count(t, ECO_GRADE_A), eco_dataset_grade_count(t, ECO_GRADE_B),
            eco_dataset_grade_count(t, ECO_GRADE_C), eco_dataset_grade_count(t, ECO_GRADE_D)),
        .files = {files, n}};
    return 0;
}
