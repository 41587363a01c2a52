#include "import.h"

#include "base/buf.h"
#include "dataset/dataset.h"
#include "import_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_TEXT 200

static const char *const kind_names[] = {"unknown", "llama-bench", "codecarbon", "ml-energy"};

const char *eco_import_kind_name(enum eco_import_kind kind)
{
    return (unsigned)kind < ECO_IMPORT_KIND_COUNT ? kind_names[kind] : kind_names[0];
}

enum eco_import_kind eco_import_kind_parse(const char *name)
{
    for (int k = 1; name && k < ECO_IMPORT_KIND_COUNT; k++) {
        if (strcmp(name, kind_names[k]) == 0)
            return (enum eco_import_kind)k;
    }
    return ECO_IMPORT_UNKNOWN;
}

/* ---- pieces of the readers ------------------------------------------------------------------ */

struct eco_import_run *eco_import_add(struct eco_import *im, struct eco_arena *arena,
                                      struct eco_err *err)
{
    if (im->count == ECO_IMPORT_MAX_RUNS) {
        eco_err_set(err, ECO_E_TOO_LARGE, NULL, "more than %d runs", ECO_IMPORT_MAX_RUNS);
        return NULL;
    }
    if (im->count == im->room) {
        size_t room = im->room ? 2 * im->room : 16;
        struct eco_import_run *more = eco_arena_array(arena, room, sizeof(*more));
        if (!more) {
            eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
            return NULL;
        }
        if (im->count)
            memcpy(more, im->runs, im->count * sizeof(*more));
        im->runs = more;
        im->room = room;
    }
    struct eco_import_run *r = &im->runs[im->count++];
    *r = (struct eco_import_run){.params_b = NAN,
                                 .params_total = -1,
                                 .gpus = -1,
                                 .batch = -1,
                                 .prompt_tokens = -1,
                                 .generated_tokens = -1,
                                 .duration_s = NAN,
                                 .energy_j = NAN,
                                 .j_per_token = NAN,
                                 .power_w = NAN,
                                 .tokens_per_s = NAN,
                                 .ttft_s = NAN,
                                 .tpot_mean_s = NAN,
                                 .tpot_p50_s = NAN,
                                 .tpot_p99_s = NAN,
                                 .tokens = -1};
    return r;
}

void eco_import_note(struct eco_import_run *run, const char *text)
{
    if (text && run->note_count < ECO_IMPORT_MAX_NOTES)
        run->notes[run->note_count++] = text;
}

const char *eco_import_text(struct eco_arena *arena, const struct eco_json *v)
{
    if (!v || v->type != ECO_JSON_STRING || v->len == 0)
        return NULL;
    size_t len = v->len < MAX_TEXT ? v->len : MAX_TEXT;
    while (len && len < v->len && ((unsigned char)v->str[len] & 0xc0u) == 0x80)
        len--; /* not inside a character */
    char *s = eco_arena_strdup(arena, v->str, len);
    for (size_t i = 0; s && i < len; i++)
        s[i] = (unsigned char)s[i] < 0x20 || s[i] == 0x7f ? ' ' : s[i];
    return s;
}

int eco_import_num(const struct eco_json *object, const char *key, double lo, double hi, size_t row,
                   double *out, struct eco_err *err)
{
    const struct eco_json *v = eco_json_get(object, key);
    *out = (double)NAN;
    if (!v || v->type == ECO_JSON_NULL)
        return 0;
    if (v->type != ECO_JSON_NUMBER)
        return eco_err_set_at(err, ECO_E_CONTENT, "file", v->line, v->column,
                              "run %zu: '%s' is no number", row, key);
    if (!(v->num >= lo && v->num <= hi))
        return eco_err_set_at(err, ECO_E_CONTENT, "file", v->line, v->column,
                              "run %zu: '%s' is %.40s, which cannot be true (%g to %g)", row, key,
                              v->str, lo, hi);
    *out = v->num;
    return 0;
}

int eco_import_int(const struct eco_json *object, const char *key, int64_t hi, size_t row,
                   int64_t *out, struct eco_err *err)
{
    double v;
    int rc = eco_import_num(object, key, 0, (double)hi, row, &v, err);
    *out = -1;
    if (rc == 0 && !isnan(v)) {
        if (v != floor(v))
            return eco_err_set(err, ECO_E_CONTENT, "file", "run %zu: '%s' is no whole number", row,
                               key);
        *out = (int64_t)v;
    }
    return rc;
}

/* ---- detection ------------------------------------------------------------------------------ */

static bool has(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);
    const char *end = text + len;
    for (const char *at = text; at + n <= end; at++) {
        at = memchr(at, word[0], (size_t)(end - at) - n + 1);
        if (!at)
            return false;
        if (memcmp(at, word, n) == 0)
            return true;
    }
    return false;
}

enum eco_import_kind eco_import_detect(const char *text, size_t len)
{
    const char *line = memchr(text, '\n', len);
    size_t head = line ? (size_t)(line - text) : len, blank = 0;
    while (blank < len && strchr(" \t\r\n", text[blank]) && text[blank])
        blank++;
    bool json = blank < len && (text[blank] == '{' || text[blank] == '[');
    if (!json && has(text, head, "emissions") && has(text, head, "duration") &&
        has(text, head, "energy_consumed"))
        return ECO_IMPORT_CODECARBON;
    if (json && has(text, len, "\"model_filename\"") && has(text, len, "\"avg_ts\""))
        return ECO_IMPORT_LLAMA_BENCH;
    if (json &&
        (has(text, len, "\"Energy/req (J)\"") || has(text, len, "\"energy_per_token_joules\"") ||
         has(text, len, "\"steady_state_energy_per_token\"")))
        return ECO_IMPORT_ML_ENERGY;
    return ECO_IMPORT_UNKNOWN;
}

/* JSON lines as one list: what `-o jsonl` and appended files look like. */
static void lines_as_list(const char *text, size_t len, struct eco_buf *out)
{
    bool first = true;
    eco_buf_putc(out, '[');
    for (const char *at = text, *end = text + len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (memchr(at, '{', (size_t)(stop - at))) {
            eco_buf_puts(out, first ? "" : ",\n");
            eco_buf_put(out, at, (size_t)(stop - at));
            first = false;
        }
        at = stop + (stop < end);
    }
    eco_buf_putc(out, ']');
}

static int read_json(enum eco_import_kind kind, const char *text, size_t len,
                     struct eco_arena *arena, struct eco_import *out, struct eco_err *err)
{
    struct eco_json_doc doc;
    struct eco_err first = {0};
    int rc = eco_json_parse(&doc, text, len, &first);
    if (rc != 0 && kind == ECO_IMPORT_LLAMA_BENCH) {
        struct eco_buf list = ECO_BUF_INIT;
        lines_as_list(text, len, &list);
        rc = eco_buf_ok(&list) ? eco_json_parse(&doc, list.data, list.len, NULL) : ECO_E_NO_MEMORY;
        eco_buf_done(&list);
    }
    if (rc != 0)
        return eco_err_set_at(err, first.code, "file", first.line, first.column, "%.200s",
                              first.message);
    rc = kind == ECO_IMPORT_LLAMA_BENCH ? eco_import_llama_bench(doc.root, arena, out, err)
                                        : eco_import_ml_energy(doc.root, arena, out, err);
    eco_json_done(&doc);
    return rc;
}

/* By the name of the schema, which stands near the start. */
static bool is_ours(const char *text, size_t len)
{
    static const char name[] = "\"ecocompute-energy/";
    size_t n = sizeof(name) - 1;
    for (size_t i = 0; i + n <= len && i < 4096; i++) {
        if (memcmp(text + i, name, n) == 0)
            return true;
    }
    return false;
}

int eco_import_read(enum eco_import_kind kind, const char *text, size_t len,
                    struct eco_arena *arena, struct eco_import *out, struct eco_err *err)
{
    if (len > ECO_IMPORT_MAX_BYTES)
        return eco_err_set(err, ECO_E_TOO_LARGE, "file",
                           "a file of %zu bytes is over the limit of "
                           "%zu",
                           len, ECO_IMPORT_MAX_BYTES);
    kind = kind ? kind : eco_import_detect(text, len);
    *out = (struct eco_import){.kind = kind};
    if (kind == ECO_IMPORT_UNKNOWN && is_ours(text, len))
        return eco_err_set(
            err, ECO_E_CONTENT, "file",
            "this is an energy.json already: report show, compare, share and overlay "
            "take it as it is");
    if (kind == ECO_IMPORT_UNKNOWN)
        return eco_err_set(
            err, ECO_E_CONTENT, "file",
            "this is none of the files that can be imported: llama-bench JSON, "
            "CodeCarbon's emissions.csv, ML.ENERGY JSON (--as KIND where the content "
            "does not show it)");
    int rc = kind == ECO_IMPORT_CODECARBON ? eco_import_codecarbon(text, len, arena, out, err)
                                           : read_json(kind, text, len, arena, out, err);
    if (rc == 0 && out->count == 0)
        rc = eco_err_set(err, ECO_E_CONTENT, "file", "the %s file holds no run",
                         eco_import_kind_name(kind));
    return rc;
}

/* ---- one run as a report -------------------------------------------------------------------- */

int eco_import_pick(const struct eco_import *im, const struct eco_import_more *more, size_t *index,
                    struct eco_err *err)
{
    if (more->row > im->count)
        return eco_err_set(err, ECO_E_RANGE, "row", "'row' is %zu, and the file holds %zu run%s",
                           more->row, im->count, im->count == 1 ? "" : "s");
    *index = more->row ? more->row - 1 : 0;
    for (size_t i = 0; !more->row && i < im->count; i++) {
        if (im->runs[i].preferred) {
            *index = i;
            return 0;
        }
    }
    return 0;
}

static int missing(struct eco_err *err, const char *arg, const struct eco_import_run *r,
                   const char *what)
{
    return eco_err_set(err, ECO_E_MISSING, arg,
                       "the %.40s file does not say the %s; give it by --%s", r->tool, what, arg);
}

static void fill_model(const struct eco_import_run *r, const struct eco_import_more *more,
                       struct eco_run *run)
{
    const char *name = r->model ? r->model : more->model ? more->model : "not stated";
    const struct eco_model *known = NULL;
    snprintf(run->model.name, sizeof(run->model.name), "%.120s", name);
    double size_b = !isnan(r->params_b) ? r->params_b : more->params_b;
    if (!(size_b > 0) && eco_dataset_find_model(name, strlen(name), &known, NULL) == 0 && known)
        size_b = known->params_b;
    run->model.params_b = size_b > 0 ? size_b : 0;
    run->model.params_total = r->params_total > 0 ? (uint64_t)r->params_total : 0;
    run->model.shape_basis = ECO_BASIS_UNAVAILABLE;
}

/* The file's one run is one trial; repetitions inside a process are iterations, not trials. */
static int fill_arm(const struct eco_import_run *r, const struct eco_import_more *more,
                    struct eco_arena *arena, struct eco_run *run, struct eco_err *err)
{
    struct eco_run_arm *arm = eco_arena_alloc(arena, sizeof(*arm));
    struct eco_run_trial *trial = eco_arena_alloc(arena, sizeof(*trial));
    if (!arm || !trial)
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    int64_t tokens = r->tokens > 0 ? r->tokens : more->tokens;
    bool energy = !r->energy_reason;
    eco_run_arm_init(arm);
    eco_run_trial_init(trial);
    arm->precision = r->precision ? r->precision : more->precision;
    arm->engine = r->engine;
    arm->basis = energy ? ECO_BASIS_MEASURED : ECO_BASIS_UNAVAILABLE;
    arm->level = energy ? ECO_RUN_LEVEL_L1 : ECO_RUN_LEVEL_L0;
    arm->reason = r->energy_reason;
    arm->sessions.n = energy;
    arm->tokens = tokens > 0 ? tokens : -1;
    arm->total_energy_j = r->energy_j;
    arm->j_per_token = r->j_per_token;
    if (isnan(arm->j_per_token) && tokens > 0)
        arm->j_per_token = r->energy_j / (double)tokens;
    arm->power_mean_w = r->power_w;
    arm->tokens_per_s = r->tokens_per_s;
    if (energy && isnan(arm->j_per_token))
        arm->reason = "the file has the energy of the run but not its tokens; --tokens N adds them";
    else if (energy)
        arm->reason = "measured by another tool: no baseline, no repeats and no spread in its file";
    if (isnan(arm->tokens_per_s) && tokens > 0 && r->duration_s > 0)
        arm->tokens_per_s = (double)tokens / r->duration_s;
    trial->window_s = r->duration_s;
    trial->tokens = arm->tokens;
    trial->energy_v1_j = r->energy_j;
    trial->power_mean_w = r->power_w;
    trial->tokens_per_s = arm->tokens_per_s;
    trial->ttft_s = r->ttft_s;
    trial->tpot_mean_s = r->tpot_mean_s;
    trial->tpot_p50_s = r->tpot_p50_s;
    trial->tpot_p99_s = r->tpot_p99_s;
    if (energy)
        arm->energy_stat = (struct eco_run_stat){1, arm->j_per_token, (double)NAN, (double)NAN};
    run->arms = arm;
    run->arm_count = 1;
    run->trials = trial;
    run->trial_count = 1;
    return 0;
}

static int fill_words(const struct eco_import_run *r, struct eco_arena *arena, struct eco_run *run,
                      struct eco_err *err)
{
    const char **difference = eco_arena_array(arena, 1, sizeof(*difference));
    const char **warnings = eco_arena_array(arena, ECO_IMPORT_MAX_NOTES + 3, sizeof(*warnings));
    struct eco_run_package *package = eco_arena_alloc(arena, sizeof(*package));
    size_t n = 0;
    if (!difference || !warnings || !package)
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    difference[0] = eco_arena_printf(arena, "measured by %s, by its own rules", r->tool);
    warnings[n++] = eco_arena_printf(arena,
                                     "imported from a %s file: ecocompute measured nothing "
                                     "here and cannot check its numbers",
                                     r->tool);
    if (r->at)
        warnings[n++] = eco_arena_printf(arena,
                                         "the file dates the run %s; this report's "
                                         "timestamp is that of the import",
                                         r->at);
    for (int i = 0; i < r->note_count; i++)
        warnings[n++] = r->notes[i];
    package->name = r->tool;
    package->version = r->version ? r->version : "not stated";
    run->protocol = "custom";
    run->protocol_differences = difference;
    run->protocol_difference_count = 1;
    run->warnings = warnings;
    run->warning_count = n;
    run->environment.packages = package;
    run->environment.package_count = 1;
    run->method = eco_arena_printf(arena, "as %s does; read from its file", r->tool);
    run->measurement_source = eco_arena_printf(arena, "%s%s%s, imported", r->tool,
                                               r->version ? " " : "", r->version ? r->version : "");
    for (size_t i = 0; i < n; i++) {
        if (!warnings[i])
            return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    }
    return difference[0] && run->method && run->measurement_source
               ? 0
               : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

int eco_import_fill(const struct eco_import *im, size_t index, const struct eco_import_more *more,
                    struct eco_arena *arena, struct eco_run *run, struct eco_err *err)
{
    const struct eco_import_run *r = &im->runs[index];
    const char *gpu = r->gpu ? r->gpu : more->gpu;
    if (!r->precision && !more->precision)
        return r->precision_text
                   ? eco_err_set(err, ECO_E_MISSING, "precision",
                                 "the file's precision '%.60s' is not a known one; give it by "
                                 "--precision",
                                 r->precision_text)
                   : missing(err, "precision", r, "precision");
    if (!gpu && r->boundary == ECO_RUN_BOUNDARY_GPU_BOARD)
        return missing(err, "gpu", r, "card");
    eco_run_init(run);
    run->gpu_name = gpu ? gpu : r->cpu ? r->cpu : "not stated";
    run->arch = gpu ? eco_dataset_detect_any_arch(gpu, strlen(gpu), NULL) : ECO_ARCH_UNKNOWN;
    run->accelerator_count = r->gpus > 0 ? r->gpus : 1;
    run->boundary = r->energy_reason ? ECO_RUN_BOUNDARY_NONE : r->boundary;
    run->batch = r->batch > 0 ? r->batch : 1;
    run->scenario = run->batch > 1 ? "Offline" : "SingleStream";
    run->prompt_tokens = r->prompt_tokens;
    run->generated_tokens = r->generated_tokens;
    run->environment.cpu = r->cpu;
    run->environment.host = r->host;
    run->environment.os = r->host;
    run->sample_rate_hz = 0;
    run->idle.reason = "the file does not say it";
    fill_model(r, more, run);
    int rc = fill_arm(r, more, arena, run, err);
    return rc ? rc : fill_words(r, arena, run, err);
}
