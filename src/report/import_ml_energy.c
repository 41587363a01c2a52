/*
 * ML.ENERGY, three shapes: one configuration of leaderboard v2 ("Energy/req (J)"), leaderboard v3
 * ("configurations" of a task or of a model), and the benchmark's own results.json
 * ("steady_state_energy_per_token"). Energy is that of the GPU boards in steady state, summed over
 * GPUs, by generated token.
 */
#include "import_parts.h"

#include <math.h>
#include <string.h>

#define MAX_J 1e12

/* The member of the row, else that of the file around it. */
static const struct eco_json *either(const struct eco_json *o, const struct eco_json *around,
                                     const char *key)
{
    const struct eco_json *v = eco_json_get(o, key);
    return v || !around ? v : eco_json_get(around, key);
}

static int read_integers(const struct eco_json *o, const char *gpus, const char *batch, size_t row,
                         struct eco_import_run *r, struct eco_err *err)
{
    int64_t v;
    int rc = eco_import_int(o, gpus, 100000, row, &v, err);
    r->gpus = (int)v;
    rc = rc ? rc : eco_import_int(o, batch, 1 << 24, row, &v, err);
    r->batch = (int)v;
    return rc;
}

/* Milliseconds to seconds. */
static int read_ms(const struct eco_json *o, const char *key, size_t row, double *out,
                   struct eco_err *err)
{
    int rc = eco_import_num(o, key, 0, 1e9, row, out, err);
    *out /= 1000;
    return rc;
}

/* {"Model", "GPU", "TP", "PP", "Energy/req (J)", "Avg Output Tokens", …} */
static int read_v2(const struct eco_json *o, size_t row, struct eco_arena *arena,
                   struct eco_import_run *r, struct eco_err *err)
{
    double energy_j, tokens;
    int64_t tp, pp;
    int rc = eco_import_num(o, "Energy/req (J)", 0, MAX_J, row, &energy_j, err);
    rc = rc ? rc : eco_import_num(o, "Avg Output Tokens", 0, 1e9, row, &tokens, err);
    rc = rc ? rc : eco_import_num(o, "Avg TPOT (s)", 0, 1e6, row, &r->tpot_mean_s, err);
    rc = rc ? rc : eco_import_num(o, "Token tput (tok/s)", 0, 1e9, row, &r->tokens_per_s, err);
    rc = rc ? rc : eco_import_int(o, "TP", 100000, row, &tp, err);
    rc = rc ? rc : eco_import_int(o, "PP", 1000, row, &pp, err);
    rc = rc ? rc : read_integers(o, "TP", "Max BS (reqs)", row, r, err);
    if (rc != 0)
        return rc;
    r->model = eco_import_text(arena, eco_json_get(o, "Model"));
    r->gpu = eco_import_text(arena, eco_json_get(o, "GPU"));
    r->gpus = (int)((tp > 0 ? tp : 1) * (pp > 0 ? pp : 1));
    if (energy_j > 0 && tokens > 0)
        r->j_per_token = energy_j / tokens;
    eco_import_note(r, "energy of a token is the energy of an average request over its average "
                       "output; the batch is the largest allowed, not the one that ran");
    return 0;
}

static int read_v3(const struct eco_json *o, const struct eco_json *around, size_t row,
                   struct eco_arena *arena, struct eco_import_run *r, struct eco_err *err)
{
    double size_b, average;
    int rc = eco_import_num(o, "energy_per_token_joules", 0, MAX_J, row, &r->j_per_token, err);
    rc = rc ? rc : eco_import_num(o, "avg_power_watts", 0, 1e7, row, &r->power_w, err);
    rc = rc ? rc
            : eco_import_num(o, "output_throughput_tokens_per_sec", 0, 1e9, row, &r->tokens_per_s,
                             err);
    rc = rc ? rc : read_ms(o, "median_itl_ms", row, &r->tpot_p50_s, err);
    rc = rc ? rc : read_ms(o, "p99_itl_ms", row, &r->tpot_p99_s, err);
    rc = rc ? rc : eco_import_num(o, "avg_batch_size", 0, 1e9, row, &average, err);
    const struct eco_json *has_size = eco_json_get(o, "total_params_billions") ? o : around;
    rc = rc ? rc : eco_import_num(has_size, "total_params_billions", 0, 1e6, row, &size_b, err);
    rc = rc ? rc : read_integers(o, "num_gpus", "max_num_seqs", row, r, err);
    if (rc != 0)
        return rc;
    r->params_b = size_b;
    r->model = eco_import_text(arena, either(o, around, "model_id"));
    r->gpu = eco_import_text(arena, eco_json_get(o, "gpu_model"));
    r->precision_text = eco_import_text(arena, either(o, around, "weight_precision"));
    if (average > 0)
        eco_import_note(r,
                        eco_arena_printf(arena, "%.4g sequences ran together on average", average));
    return 0;
}

static int read_results(const struct eco_json *o, size_t row, struct eco_arena *arena,
                        struct eco_import_run *r, struct eco_err *err)
{
    int rc =
        eco_import_num(o, "steady_state_energy_per_token", 0, MAX_J, row, &r->j_per_token, err);
    rc = rc ? rc : eco_import_num(o, "steady_state_energy", 0, MAX_J, row, &r->energy_j, err);
    rc = rc ? rc : eco_import_num(o, "steady_state_duration", 0, 1e9, row, &r->duration_s, err);
    rc = rc ? rc : eco_import_num(o, "output_throughput", 0, 1e9, row, &r->tokens_per_s, err);
    rc = rc ? rc : read_ms(o, "mean_ttft_ms", row, &r->ttft_s, err);
    rc = rc ? rc : read_ms(o, "mean_itl_ms", row, &r->tpot_mean_s, err);
    rc = rc ? rc : read_integers(o, "num_gpus", "max_num_seqs", row, r, err);
    if (rc != 0)
        return rc;
    r->model = eco_import_text(arena, eco_json_get(o, "model_id"));
    r->gpu = eco_import_text(arena, eco_json_get(o, "gpu_model"));
    r->power_w = r->duration_s > 0 ? r->energy_j / r->duration_s : (double)NAN;
    if (r->j_per_token > 0 && r->energy_j > 0 && r->energy_j / r->j_per_token < 9e15)
        r->tokens = (int64_t)llround(r->energy_j / r->j_per_token);
    eco_import_note(r,
                    "throughput is that of the whole benchmark, energy that of its steady state");
    return 0;
}

static int read_one(const struct eco_json *o, const struct eco_json *around, size_t row,
                    struct eco_arena *arena, struct eco_import *out, struct eco_err *err)
{
    struct eco_import_run *r = eco_import_add(out, arena, err);
    int rc;
    if (!r)
        return err && err->code ? err->code : ECO_E_NO_MEMORY;
    r->tool = "ML.ENERGY";
    r->boundary = ECO_RUN_BOUNDARY_GPU_BOARD;
    r->engine = "vllm";
    if (eco_json_get(o, "Energy/req (J)"))
        rc = read_v2(o, row, arena, r, err);
    else if (eco_json_get(o, "steady_state_energy_per_token"))
        rc = read_results(o, row, arena, r, err);
    else if (eco_json_get(o, "energy_per_token_joules"))
        rc = read_v3(o, around, row, arena, r, err);
    else
        return eco_err_set_at(err, ECO_E_CONTENT, "file", o->line, o->column,
                              "run %zu has no energy by token that ML.ENERGY writes for language "
                              "models",
                              row);
    if (rc != 0)
        return rc;
    if (r->precision_text)
        r->precision = eco_precision_parse(r->precision_text, strlen(r->precision_text));
    if (!(r->j_per_token > 0)) {
        r->energy_reason = "the file has no energy by token for this run";
        r->j_per_token = r->energy_j = r->power_w = (double)NAN;
    }
    r->preferred = !r->energy_reason;
    r->what = eco_arena_printf(arena, "%s on %d x %s, batch %d", r->model ? r->model : "no model",
                               r->gpus > 0 ? r->gpus : 1, r->gpu ? r->gpu : "no card", r->batch);
    return r->what ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

int eco_import_ml_energy(const struct eco_json *root, struct eco_arena *arena,
                         struct eco_import *out, struct eco_err *err)
{
    const struct eco_json *list = eco_json_get(root, "configurations");
    const struct eco_json *around = list ? root : NULL;
    size_t row = 0;
    int rc = 0;
    list = list ? list : root;
    if (list->type == ECO_JSON_OBJECT && !around)
        return read_one(list, NULL, 1, arena, out, err);
    if (list->type != ECO_JSON_ARRAY)
        return eco_err_set(err, ECO_E_CONTENT, "file",
                           "an ML.ENERGY file is a configuration or a list of them");
    for (const struct eco_json *o = list->child; rc == 0 && o; o = o->next)
        rc = read_one(o, around, ++row, arena, out, err);
    return rc;
}
